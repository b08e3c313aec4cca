//! The program at any stage.
//!
//! In: a file, a stage, perhaps a function. Out: text. Without a function the whole file is shown; with one, what it reaches.

use crate::entry::Entry;
use crate::failure::{Failure, guard};
use crate::load::read_text;
use crate::readable;
use crate::session::Session;
use cotan_core::{FnId as CoreFn, Program as Core};
use cotan_ir::{Deriv, Derive, FnId, Never, Program, print_program};
use cotan_source::{Diagnostic, Span};
use std::path::Path;

/// A stage of the compiler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
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
    pub const ALL: [Stage; 7] =
        [Stage::Syntax, Stage::Core, Stage::Ir, Stage::Opt, Stage::Expanded, Stage::Final, Stage::Derivative];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
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

/// The program at a stage.
pub fn show(session: &mut Session, file: &Path, stage: Stage, function: Option<&str>) -> Result<String, Failure> {
    if stage == Stage::Syntax {
        return syntax(session, file);
    }
    let checked = session.check_file(file)?;
    let roots: Vec<CoreFn> = match function {
        Some(name) => vec![checked.function(name)?],
        None if stage == Stage::Derivative => {
            let message = "the derivative of which function?";
            return Err(Diagnostic::error("E0822", Span::NONE, message).hint("name it after the file").into());
        }
        None => checked.core.exports.clone(),
    };
    if stage == Stage::Core {
        return Ok(core(&checked.core, function.map(|_| roots.as_slice())));
    }
    let entries: Vec<(CoreFn, Entry)> = roots.iter().map(|id| (*id, Entry::Itself)).collect();
    let (mut program, roots) = session.lowered(checked.core, &entries)?;
    if stage == Stage::Ir {
        return Ok(print_program(&program, false));
    }
    session.simplified(&mut program)?;
    if stage == Stage::Opt {
        return Ok(print_program(&program, false));
    }
    let mut program = session.differentiated(&program)?;
    if stage == Stage::Expanded {
        return Ok(print_program(&program, false));
    }
    session.simplified(&mut program)?;
    if stage == Stage::Final {
        return Ok(print_program(&program, false));
    }
    derivative(&mut program, roots[0])
}

/// The syntax tree of a file.
fn syntax(session: &mut Session, file: &Path) -> Result<String, Failure> {
    let text = read_text(file)?;
    let id = session.sources.add(file.display().to_string(), text.clone());
    let (tree, diagnostics) = guard("parse (cotan-syntax)", || cotan_syntax::parse(id, &text))?;
    // A tree with holes is worth seeing; the errors would hide it, so they come only where there is no hole.
    if diagnostics.iter().any(Diagnostic::is_error) && tree.items.is_empty() {
        return Err(Failure::User(diagnostics));
    }
    guard("print (cotan-syntax)", || cotan_syntax::print_tree(&tree))
}

/// The typed core of the functions, or of all that the file declares.
fn core(core: &Core, only: Option<&[CoreFn]>) -> String {
    let shown: Vec<CoreFn> = only.map_or_else(|| core.exports.clone(), <[CoreFn]>::to_vec);
    let texts: Vec<String> = shown.iter().map(|id| cotan_core::print_fn(core, &core.fns[*id])).collect();
    texts.join("\n")
}

/// The function, its forward derivative, and the two halves of its reverse derivative.
fn derivative(program: &mut Program<Never>, function: FnId) -> Result<String, Failure> {
    let differentiator = cotan_ad::Differentiator::new(Some(Box::new(cotan_opt::simplify_function)))
        .with_simplify(Box::new(cotan_opt::simplify_function));
    let mut shown = vec![function];
    for which in [Deriv::Jvp, Deriv::Fwd, Deriv::Bwd] {
        let made = guard("differentiate (cotan-ad)", || differentiator.derive(program, function, which))??;
        shown.push(made);
    }
    guard("print (cotan)", || readable::print(program, &shown))
}
