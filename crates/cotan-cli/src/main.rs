//! The `cotan` command: the only room that prints and exits.
//!
//! In: words, files. Out: data on stdout, messages on stderr, an exit code: 0 fine, 1 the user's error, 2 usage, 70 our bug.

#![allow(clippy::print_stdout, clippy::print_stderr, clippy::exit, reason = "this is the command line")]

mod args;
mod commands;
mod console;
mod progress;

use clap::Parser;
use console::Console;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

/// Something of ours is broken.
const OUR_BUG: u8 = 70;

fn main() -> ExitCode {
    let cli = Arc::new(args::Cli::parse());
    let stack = usize::try_from(cli.command.max_memory()).unwrap_or(usize::MAX).clamp(64 << 20, 1 << 40);
    // A panic is told by whoever catches it, with its place; the default report would be printed twice.
    let place = Arc::new(Mutex::new(String::new()));
    let told = Arc::clone(&place);
    std::panic::set_hook(Box::new(move |info| {
        let text = info.location().map(ToString::to_string).unwrap_or_default();
        *told.lock().unwrap_or_else(PoisonError::into_inner) = text;
    }));
    let work = move |stack| {
        let console = Console::new(place, stack);
        match catch_unwind(AssertUnwindSafe(|| commands::run(&cli.command, &console))) {
            Ok(code) => code,
            Err(_) => {
                console.bug(&cotan::Bug { pass: "the command line", message: "a panic outside every pass".into() });
                OUR_BUG
            }
        }
    };
    match cotan::on_large_stack(stack, work) {
        Ok(code) => ExitCode::from(code),
        Err(_) => ExitCode::from(OUR_BUG),
    }
}
