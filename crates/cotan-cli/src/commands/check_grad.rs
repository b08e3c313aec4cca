//! `cotan check-grad`: forward mode, reverse mode and differences side by side.

use crate::args::CheckGradCommand;
use crate::console::Console;
use std::time::Instant;

/// Runs the command.
pub fn run(command: &CheckGradCommand, console: &Console) -> u8 {
    let start = Instant::now();
    let mut session = super::session(&command.engine, console);
    let (file, function, given) = (&command.file, &command.function, &command.given.args);
    let result = if command.rules {
        cotan::check_rules(&mut session, file, function, given, command.library).map(|report| {
            console.data(&format!("{}\n", report.text(&session.sources)));
            u8::from(!report.agrees())
        })
    } else {
        cotan::check_gradient(&mut session, file, function, given, command.tolerance).map(|report| {
            console.data(&format!("{report}\n"));
            u8::from(!report.agrees())
        })
    };
    super::times(&session, &command.engine, start, console);
    super::finish(&session, result, console)
}
