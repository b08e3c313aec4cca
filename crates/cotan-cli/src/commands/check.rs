//! `cotan check`: diagnostics of files, nothing is run.

use crate::args::CheckCommand;
use crate::console::Console;
use cotan::{Options, Session};
use std::time::Instant;

/// Runs the command.
pub fn run(command: &CheckCommand, console: &Console) -> u8 {
    let mut worst = 0;
    for file in &command.files {
        let start = Instant::now();
        let mut session = Session::new(Options::default(), Box::new(cotan::Silent));
        let code = match session.check_file(file) {
            Ok(checked) => {
                console.diagnostics(&session.sources, &checked.warnings);
                0
            }
            Err(failure) => console.failure(&session.sources, &failure),
        };
        if command.time {
            console.message(&format!("{}: {:.1} ms", file.display(), start.elapsed().as_secs_f64() * 1e3));
        }
        worst = worst.max(code);
    }
    worst
}
