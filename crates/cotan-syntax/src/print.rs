//! The syntax tree as text.
//!
//! In: a [`Module`]. Out: nested lists, one statement a line, for `cotan show --stage syntax`.

use crate::ast::Module;

/// The tree of a module as nested lists.
pub fn print_tree(module: &Module) -> String {
    format!("{module:#?}")
}
