//! Names, type inference, exhaustiveness, sizes: from syntax trees to the typed core.
//!
//! In: parsed modules. Out: a [`Program`] and diagnostics. Newly true: one meaning per name, one type per
//! term; this is the last room that finds errors of the user.

mod captures;
mod constraints;
mod context;
mod declare;
mod dependencies;
mod elaborate;
mod exhaustive;
mod infer;
mod items;
mod linear;
mod modules;
mod names;
mod operators;
mod report;
mod rules;
mod sizes;
mod types;
mod unify;

use cotan_core::Program;
use cotan_source::Diagnostic;
use cotan_syntax::ast;

pub use modules::Resolver;

/// What is checked together.
pub struct CheckInput<'i> {
    /// The prelude, name and tree of each file: names that every file sees unless it has its own.
    pub prelude: Vec<(String, ast::Module)>,
    /// The files given, name and tree of each.
    pub roots: Vec<(String, ast::Module)>,
    /// Finds the module of a `use` path: its name (unique per module, and that of the root if it is one) and
    /// its tree. Which of a file beside the root and a module of the library wins is decided here.
    pub resolve: &'i mut Resolver<'i>,
}

/// Checks a program. It may be used only if no diagnostic is an error; it holds the roots' functions and
/// everything that they reach.
pub fn check(input: CheckInput<'_>) -> (Program, Vec<Diagnostic>) {
    let library = modules::Library::load(input.prelude, input.roots, input.resolve);
    let mut diagnostics = Vec::new();
    let world = modules::World::new(&library, &mut diagnostics);
    let mut checker = items::checker(world, diagnostics);
    checker.check_all();
    let mut diagnostics = checker.diagnostics;
    if !diagnostics.iter().any(Diagnostic::is_error) {
        linear::check(&checker.program, &mut diagnostics);
    }
    diagnostics.sort_by_key(|d| (d.primary.span.file, d.primary.span.start, d.primary.span.end, d.code));
    diagnostics.dedup_by(|a, b| a.primary.span == b.primary.span && a.code == b.code && a.message == b.message);
    (checker.program, diagnostics)
}
