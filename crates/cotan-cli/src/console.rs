//! What the user sees.
//!
//! In: data, diagnostics, bugs. Out: bytes on stdout and stderr. Newly true: a reader that went away is no error.

use cotan::{Bug, Diagnostic, Failure, Severity, SourceMap};
use std::io::{IsTerminal, Write};
use std::sync::{Arc, Mutex, PoisonError};

/// The two streams.
#[derive(Clone)]
pub struct Console {
    color: bool,
    /// Whether stderr is a terminal.
    pub terminal: bool,
    /// Bytes of the stack of the thread that works.
    pub stack: usize,
    /// Where the last panic was.
    panic_place: Arc<Mutex<String>>,
}

impl Console {
    /// The streams of the process.
    pub fn new(panic_place: Arc<Mutex<String>>, stack: usize) -> Self {
        let terminal = std::io::stderr().is_terminal();
        let color = terminal && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty());
        Console { color, terminal, stack, panic_place }
    }

    /// Prints data on stdout. A closed pipe ends the process: nobody reads on.
    pub fn data(&self, text: &str) {
        let mut out = std::io::stdout().lock();
        if out.write_all(text.as_bytes()).and_then(|()| out.flush()).is_err() {
            std::process::exit(0);
        }
    }

    /// Prints a message on stderr.
    pub fn message(&self, text: &str) {
        // If stderr is gone there is nobody to tell.
        let _ = writeln!(std::io::stderr().lock(), "{text}");
    }

    /// Prints diagnostics, sorted by their place.
    pub fn diagnostics(&self, sources: &SourceMap, diagnostics: &[Diagnostic]) {
        let mut sorted: Vec<&Diagnostic> = diagnostics.iter().collect();
        sorted.sort_by_key(|d| (d.primary.span.file, d.primary.span.start, d.code));
        sorted.dedup();
        for diagnostic in &sorted {
            self.message(cotan::render(sources, diagnostic, self.color).trim_end());
            self.message("");
        }
        let errors = sorted.iter().filter(|d| d.severity == Severity::Error).count();
        if errors > 1 {
            self.message(&format!("{errors} errors"));
        }
    }

    /// Prints a failure and says which exit code it means.
    pub fn failure(&self, sources: &SourceMap, failure: &Failure) -> u8 {
        match failure {
            Failure::User(diagnostics) => {
                self.diagnostics(sources, diagnostics);
                1
            }
            Failure::Bug(bug) => {
                self.bug(bug);
                crate::OUR_BUG
            }
        }
    }

    /// Prints a bug of ours.
    pub fn bug(&self, bug: &Bug) {
        let place = self.panic_place.lock().unwrap_or_else(PoisonError::into_inner).clone();
        self.message(&format!("error: a bug in cotan {}, pass `{}`", env!("CARGO_PKG_VERSION"), bug.pass));
        self.message(&format!("  {}", bug.message.trim_end().replace('\n', "\n  ")));
        if !place.is_empty() {
            self.message(&format!("  at {place}"));
        }
        self.message("This is no fault of your program. Please report it: the program, the command, and this message.");
    }
}
