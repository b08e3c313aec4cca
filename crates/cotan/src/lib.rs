//! Cotan as a library.
//!
//! In: files and arguments. Out: values, gradients, reports, or a [`Failure`]. Newly true: nothing panics, nothing prints.

mod call;
mod check_grad;
mod clauses;
mod differences;
mod entry;
mod failure;
mod inputs;
mod io;
mod leaves;
mod load;
mod options;
mod pipeline;
mod points;
mod random;
mod readable;
mod rule_report;
mod run;
mod session;
mod show;
mod suggest;
mod value;
mod why_nan;

pub use check_grad::{GradientReport, check_gradient};
pub use cotan_source::{Diagnostic, Severity, SourceMap, Span, all_codes, explain, render};
pub use failure::{Bug, Failure, on_large_stack};
pub use load::read_text;
pub use options::{AdMode, DEFAULT_MEMORY, Engine, Options};
pub use pipeline::Compiled;
pub use rule_report::{RuleReport, Verdict, check_rules};
pub use run::{Answer, TestResult, gradient, run, run_tests};
pub use session::{Checked, Outside, Session, Silent, Usage};
pub use show::{Stage, show};
pub use why_nan::{NanReport, why_nan};
