//! `cotan check-grad`: forward mode, reverse mode and differences side by side.

use crate::args::CheckGradCommand;
use crate::console::Console;
use std::time::Instant;

/// Runs the command.
pub fn run(command: &CheckGradCommand, console: &Console) -> u8 {
    let start = Instant::now();
    let mut session = super::session(&command.engine, console);
    let result =
        cotan::check_gradient(&mut session, &command.file, &command.function, &command.given.args, command.tolerance)
            .map(|report| {
                console.data(&format!("{report}\n"));
                u8::from(!report.agrees())
            });
    super::times(&session, &command.engine, start, console);
    super::finish(&session, result, console)
}
