//! Texts, spans, diagnostics and typed indices: the ground floor.
//!
//! In: nothing. Out: the vocabulary in which every later room speaks of places in the source
//! ([`Span`]), of what went wrong there ([`Diagnostic`]) and of tables of things ([`IndexVec`]).

mod codes;
mod diagnostic;
mod distance;
mod index;
mod render;
mod source;

pub use codes::{all_codes, explain};
pub use diagnostic::{Diagnostic, Label, Severity};
pub use distance::edit_distance;
pub use index::{Idx, IndexVec};
pub use render::render;
pub use source::{FileId, Source, SourceMap, Span, Spanned};
