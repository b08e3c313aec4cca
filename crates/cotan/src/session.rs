//! A session: texts, options, and the way from files to a program that can be called.
//!
//! In: paths. Out: [`Checked`] (the typed core), then [`Compiled`](crate::pipeline::Compiled). Newly true: after
//! [`Session::check_file`] the user has made no mistake that can be seen without running.

use crate::failure::{Bug, Failure, guard};
use crate::load::{Loader, Modules};
use crate::options::Options;
use crate::suggest::nearest;
use cotan_core::{FnId, Program};
use cotan_source::{Diagnostic, SourceMap, Span};
use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

/// What a running program tells the outside.
pub trait Outside {
    /// `done` of `total` steps of `label` are made.
    fn progress(&mut self, label: &str, done: i64, total: i64);
    /// A line of `probe`.
    fn probe(&mut self, text: &str);
}

/// Nobody listens.
pub struct Silent;

impl Outside for Silent {
    fn progress(&mut self, _: &str, _: i64, _: i64) {}
    fn probe(&mut self, _: &str) {}
}

/// Texts and options.
pub struct Session {
    /// All texts that diagnostics may point at.
    pub sources: SourceMap,
    /// How programs are compiled and run.
    pub options: Options,
    /// Who listens to the running program.
    pub(crate) outside: Rc<RefCell<Box<dyn Outside>>>,
    /// What the passes took.
    pub(crate) times: Vec<(&'static str, Duration)>,
    /// The cost and the peak of memory of the last run.
    pub(crate) usage: Option<Usage>,
}

/// What a run used.
#[derive(Clone, Copy, Debug, Default)]
pub struct Usage {
    /// Operations of the evaluator; 0 where it does not count them (derivatives by values).
    pub cost: u64,
    /// Bytes at the peak.
    pub peak: u64,
}

/// A program without mistakes.
pub struct Checked {
    /// The typed core.
    pub core: Program,
    /// What is hardly meant.
    pub warnings: Vec<Diagnostic>,
}

impl Session {
    /// A session without texts.
    pub fn new(options: Options, outside: Box<dyn Outside>) -> Self {
        Session {
            sources: SourceMap::new(),
            options,
            outside: Rc::new(RefCell::new(outside)),
            times: Vec::new(),
            usage: None,
        }
    }

    /// What the last run used.
    pub fn usage(&self) -> Option<Usage> {
        self.usage
    }

    /// Reads and checks a file and everything that it uses.
    pub fn check_file(&mut self, path: &Path) -> Result<Checked, Failure> {
        self.check_with(|loader| Ok(vec![loader.root(path)?]))
    }

    /// As [`check_file`](Self::check_file), with a module of our own beside it.
    pub(crate) fn check_file_beside(&mut self, path: &Path, shown: &str, text: &str) -> Result<Checked, Failure> {
        self.check_with(|loader| Ok(vec![loader.root(path)?, loader.root_text(shown, text.to_string())]))
    }

    /// Checks a text; `shown` is its name in messages.
    pub fn check_text(&mut self, shown: &str, text: &str) -> Result<Checked, Failure> {
        self.check_with(|loader| Ok(vec![loader.root_text(shown, text.to_string())]))
    }

    fn check_with(&mut self, roots: impl FnOnce(&mut Loader) -> Result<Modules, Failure>) -> Result<Checked, Failure> {
        let mut loader = Loader { sources: std::mem::take(&mut self.sources), ..Loader::default() };
        let result = self.timed("parse and check", || {
            let prelude = loader.prelude();
            let roots = roots(&mut loader)?;
            guard("check (cotan-check)", || {
                let mut resolve = |path: &[String]| loader.resolve(path);
                cotan_check::check(cotan_check::CheckInput { prelude, roots, resolve: &mut resolve })
            })
        });
        self.sources = loader.sources;
        let (core, found) = result?;
        if let Some(bug) = loader.bug {
            return Err(bug);
        }
        let mut diagnostics = loader.diagnostics;
        // What the parser could not read is a hole in the tree: what the checker says about it is of no use.
        if !diagnostics.iter().any(Diagnostic::is_error) {
            diagnostics.extend(found);
        }
        if diagnostics.iter().any(Diagnostic::is_error) {
            return Err(Failure::User(diagnostics));
        }
        Ok(Checked { core, warnings: diagnostics })
    }

    /// Runs a part of the work and remembers how long it took.
    pub(crate) fn timed<T>(&mut self, what: &'static str, work: impl FnOnce() -> T) -> T {
        let start = std::time::Instant::now();
        let out = work();
        self.times.push((what, start.elapsed()));
        out
    }

    /// Lines for `--time`.
    pub fn report(&self, all: Duration) -> Vec<String> {
        let mut lines: Vec<String> =
            self.times.iter().map(|(what, time)| format!("{what:<20} {:>10.3} ms", time.as_secs_f64() * 1e3)).collect();
        lines.push(format!("{:<20} {:>10.3} ms", "all", all.as_secs_f64() * 1e3));
        if let Some(usage) = self.usage {
            if usage.cost > 0 {
                lines.push(format!("{:<20} {:>10}", "operations", usage.cost));
            }
            lines.push(format!("{:<20} {:>10.1} MiB", "peak memory", usage.peak as f64 / f64::from(1 << 20)));
        }
        lines
    }
}

impl Checked {
    /// The function called `name` in the root file.
    pub fn function(&self, name: &str) -> Result<FnId, Failure> {
        let exports = &self.core.exports;
        if let Some(id) = exports.iter().find(|id| self.core.fns[**id].name == name) {
            return Ok(*id);
        }
        let mut out = Diagnostic::error("E0813", Span::NONE, format!("there is no function `{name}` in the file"));
        let names: Vec<&str> = exports.iter().map(|id| self.core.fns[*id].name.as_str()).collect();
        if let Some(near) = nearest(name, names.iter().copied()) {
            out = out.hint(format!("did you mean `{near}`?"));
        } else if names.is_empty() {
            out = out.note("the file has no functions");
        } else {
            let shown: Vec<String> = names.iter().take(12).map(|n| format!("`{n}`")).collect();
            let more = if names.len() > shown.len() { ", ..." } else { "" };
            out = out.note(format!("its functions are {}{more}", shown.join(", ")));
        }
        Err(out.into())
    }
}

/// Faults of the validator as a bug of `pass`.
pub(crate) fn blame(pass: &'static str, faults: Vec<String>) -> Result<(), Failure> {
    if faults.is_empty() {
        return Ok(());
    }
    Err(Failure::Bug(Bug { pass, message: faults.join("\n") }))
}
