//! What can go wrong: the user's mistakes and ours.
//!
//! In: a pass that may panic. Out: its result or a [`Failure`]. Newly true: no panic leaves this crate.

use cotan_source::Diagnostic;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Why there is no result.
#[derive(Clone, Debug)]
pub enum Failure {
    /// The user can mend it. Never empty.
    User(Vec<Diagnostic>),
    /// We must mend it.
    Bug(Bug),
}

/// A broken invariant of the compiler.
#[derive(Clone, Debug)]
pub struct Bug {
    /// The pass to blame.
    pub pass: &'static str,
    /// What happened.
    pub message: String,
}

impl From<Diagnostic> for Failure {
    fn from(diagnostic: Diagnostic) -> Self {
        Failure::User(vec![diagnostic])
    }
}

impl From<Box<Diagnostic>> for Failure {
    fn from(diagnostic: Box<Diagnostic>) -> Self {
        Failure::User(vec![*diagnostic])
    }
}

impl Failure {
    /// A broken invariant found by `pass`.
    pub fn bug(pass: &'static str, message: impl Into<String>) -> Self {
        Failure::Bug(Bug { pass, message: message.into() })
    }
}

/// Runs a pass; its panic becomes a [`Bug`] with its name.
pub fn guard<T>(pass: &'static str, run: impl FnOnce() -> T) -> Result<T, Failure> {
    // What the closure may have left half done is dropped with the failure.
    catch_unwind(AssertUnwindSafe(run)).map_err(|payload| Failure::bug(pass, panic_text(&*payload)))
}

/// Runs `work` on a thread with a stack of so many bytes, or half, a quarter and so on where the machine refuses; `work` is told
/// how many there are. Trees and values nest deeply, and recursion of a program may use all the memory that it is allowed;
/// pages are used only when touched.
pub fn on_large_stack<T: Send + 'static>(
    bytes: usize,
    work: impl FnOnce(usize) -> T + Clone + Send + 'static,
) -> std::thread::Result<T> {
    let thread = (0..10).map(|halvings| bytes >> halvings).find_map(|size| {
        let work = work.clone();
        std::thread::Builder::new().name("cotan".into()).stack_size(size).spawn(move || work(size)).ok()
    });
    match thread {
        Some(thread) => thread.join(),
        None => Ok(work(1 << 20)),
    }
}

/// The text of a panic.
fn panic_text(payload: &(dyn Any + Send)) -> String {
    payload
        .downcast_ref::<&str>()
        .map(|s| (*s).to_string())
        .or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without a message".into())
}
