//! Cotan as a library.
//!
//! In: files and arguments. Out: values, gradients, reports, or a [`Failure`]. Newly true: nothing panics, nothing prints.

mod entry;
mod failure;
mod load;
mod options;
mod session;
mod suggest;

pub use cotan_source::{Diagnostic, Severity, SourceMap, Span, all_codes, explain, render};
pub use failure::{Bug, Failure};
pub use options::{AdMode, Engine, Options};
pub use session::{Checked, Outside, Session, Silent, Usage};
