//! Text to syntax tree.
//!
//! In: a text. Out: a [`ast::Module`] and diagnostics. Newly true: nothing is lost, errors are nodes.

pub mod ast;
