//! `cotan why-nan`: the first operation that made a NaN or an infinity.

use crate::args::WhyNanCommand;
use crate::console::Console;
use std::time::Instant;

/// Runs the command.
pub fn run(command: &WhyNanCommand, console: &Console) -> u8 {
    let start = Instant::now();
    let mut session = super::session(&command.engine, console);
    let result = cotan::why_nan(&mut session, &command.file, &command.function, &command.given.args).map(|report| {
        console.data(&format!("{}\n", report.text(&session.sources)));
        0
    });
    super::times(&session, &command.engine, start, console);
    super::finish(&session, result, console)
}
