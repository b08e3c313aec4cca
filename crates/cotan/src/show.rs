//! The program at any stage.
//!
//! In: a file, a stage, perhaps a function. Out: text.

use crate::entry::{self, Entry};
use crate::failure::Failure;
use crate::readable;
use crate::session::Session;
use cotan_core::{FnId, Ty};
use cotan_source::{Diagnostic, Span};
use std::path::Path;

/// A stage of the compiler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Tokens.
    Tokens,
    /// Syntax tree.
    Syntax,
    /// Typed core.
    Core,
    /// IR as lowered.
    Ir,
    /// IR, simplified.
    Opt,
    /// IR after differentiation.
    Expanded,
    /// IR as it runs.
    Final,
    /// The derivative, readable.
    Derivative,
}

impl Stage {
    /// All stages in the order of the walk.
    pub const ALL: [Stage; 8] = [
        Stage::Tokens,
        Stage::Syntax,
        Stage::Core,
        Stage::Ir,
        Stage::Opt,
        Stage::Expanded,
        Stage::Final,
        Stage::Derivative,
    ];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Tokens => "tokens",
            Stage::Syntax => "syntax",
            Stage::Core => "core",
            Stage::Ir => "ir",
            Stage::Opt => "opt",
            Stage::Expanded => "expanded",
            Stage::Final => "final",
            Stage::Derivative => "derivative",
        }
    }
}
