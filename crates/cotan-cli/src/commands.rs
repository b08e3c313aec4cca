//! The commands, one file each.
//!
//! In: the command line. Out: an exit code. Newly true: options of the command line are options of a [`Session`].

mod calculus;
mod check;
mod check_grad;
mod explain;
mod grad;
mod run;
mod show;
mod test;
mod why_nan;

use crate::args::{Ad, Command, Engine, EngineOptions, Format, Output};
use crate::console::Console;
use crate::progress::Progress;
use cotan::{AdMode, Answer, Failure, Options, Outside, Session};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

/// Runs a command.
pub fn run(command: &Command, console: &Console) -> u8 {
    match command {
        Command::Run(c) => run::run(c, console),
        Command::Grad(c) => grad::run(c, console),
        Command::Check(c) => check::run(c, console),
        Command::Test(c) => test::run(c, console),
        Command::CheckGrad(c) => check_grad::run(c, console),
        Command::WhyNan(c) => why_nan::run(c, console),
        Command::Show(c) => show::run(c, console),
        Command::Explain(c) => explain::run(c, console),
        Command::Calculus(c) => calculus::run(c, console),
    }
}

/// A session with these options.
fn session(engine: &EngineOptions, console: &Console) -> Session {
    let defaults = Options::default();
    let options = Options {
        engine: match engine.engine {
            Engine::Interp => cotan::Engine::Interp,
            Engine::Jit => cotan::Engine::Jit,
            Engine::Native => cotan::Engine::Native,
        },
        ad: match engine.ad {
            Ad::Transform => AdMode::Transform,
            Ad::Values => AdMode::Values,
        },
        threads: engine.threads,
        max_memory: engine.max_memory.unwrap_or(defaults.max_memory),
        stack: console.stack,
        time_limit: engine.time_limit,
        seed: engine.seed,
        probe: engine.probe,
        interrupt: interrupt(console),
        ..defaults
    };
    Session::new(options, Box::new(Terminal { console: console.clone(), progress: Progress::default() }))
}

/// A flag that Ctrl-C sets: the run ends with a message. A second Ctrl-C ends the process at once.
/// One flag serves all sessions of the process.
fn interrupt(console: &Console) -> Arc<AtomicBool> {
    static FLAG: OnceLock<Arc<AtomicBool>> = OnceLock::new();
    let flag = FLAG.get_or_init(|| {
        let flag = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&flag);
        let handler = move || {
            if seen.swap(true, Ordering::SeqCst) {
                std::process::exit(130);
            }
        };
        if ctrlc::set_handler(handler).is_err() {
            console.message("note: Ctrl-C will end the process without a message");
        }
        flag
    });
    Arc::clone(flag)
}

/// What a running program reports.
struct Terminal {
    console: Console,
    progress: Progress,
}

impl Outside for Terminal {
    fn progress(&mut self, label: &str, done: i64, total: i64) {
        if self.console.terminal {
            self.progress.report(label, done.max(0) as u64, total.max(0) as u64);
        }
    }

    fn probe(&mut self, text: &str) {
        self.progress.finish();
        self.console.message(text);
    }
}

/// Reports times on stderr if they were asked for.
fn times(session: &Session, engine: &EngineOptions, start: Instant, console: &Console) {
    if engine.time {
        for line in session.report(start.elapsed()) {
            console.message(&line);
        }
    }
}

/// Prints or writes an answer.
fn deliver(answer: &Answer, output: &Output, console: &Console) -> Result<(), Failure> {
    if let Some(path) = &output.out {
        return answer.write(path);
    }
    match output.format {
        Format::Json => console.data(&format!("{}\n", answer.json())),
        Format::Cotan => console.data(&format!("{}\n", answer.text(output.full))),
    }
    Ok(())
}

/// The exit code of a command whose result is delivered.
fn finish(session: &Session, result: Result<u8, Failure>, console: &Console) -> u8 {
    match result {
        Ok(code) => code,
        Err(failure) => console.failure(&session.sources, &failure),
    }
}
