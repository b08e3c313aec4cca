//! `cotan grad`: the value of a function and its gradient.

use crate::args::GradCommand;
use crate::console::Console;
use std::time::Instant;

/// Runs the command.
pub fn run(command: &GradCommand, console: &Console) -> u8 {
    let start = Instant::now();
    let mut session = super::session(&command.engine, console);
    let result = cotan::gradient(&mut session, &command.file, &command.function, &command.wrt, &command.given.args)
        .and_then(|answer| super::deliver(&answer, &command.output, console))
        .map(|()| 0);
    super::times(&session, &command.engine, start, console);
    super::finish(&session, result, console)
}
