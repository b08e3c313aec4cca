//! Text to syntax tree.
//!
//! In: a text. Out: a [`ast::Module`] and diagnostics. Newly true: nothing is lost, errors are nodes.

pub mod ast;
mod lexer;
mod parser;
mod print;
mod token;

use cotan_source::{Diagnostic, FileId};

pub use print::print_tree;

/// The deepest tree that [`parse`] builds: what walks a tree by recursion needs a stack for this many levels.
pub const MAX_HEIGHT: usize = 12_000;

/// Parses a file. Always gives a tree; where the text is wrong, the tree holds error nodes and the
/// diagnostics (in the order of the text) say why.
pub fn parse(file: FileId, text: &str) -> (ast::Module, Vec<Diagnostic>) {
    parser::Parser::new(file, text).module()
}

/// Parses a text that is one expression, such as the value of an argument.
pub fn parse_expr(file: FileId, text: &str) -> (ast::Expr, Vec<Diagnostic>) {
    parser::Parser::new(file, text).lone_expr()
}
