//! Lowering: the typed core to the intermediate representation.
//!
//! In: [`cotan_core::Program`], generic, with patterns, mutation and jumps. Out: `cotan_ir::Program<AdOp>`: what is
//! reachable from the roots. Newly true: no type variables (every function is instantiated at the types it is used
//! with), no mutation (loops carry state), no patterns, no jumps (`break`, `continue` and `return` are flags or the
//! other branch), every function value is a closure over a known code with named captures.

mod adjoints;
mod builtins;
mod calls;
mod comprehensions;
mod constants;
mod exprs;
mod fillers;
mod frame;
mod instances;
mod leafwise;
mod loops;
mod matching;
mod operators;
mod patterns;
mod places;
mod regions;
mod rules;
mod scan;
mod shapes;
mod sizes;
mod statements;
mod tangents;
mod transposes;
mod types;
mod walk;

pub use builtins::Builtin;

use cotan_core::Ty;
use cotan_ir::{AdOp, FnId, Program, TypeId};
use cotan_source::Diagnostic;
use rustc_hash::FxHashMap;

/// A function that must be there, with the types that its generic parameters stand for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root {
    /// The function.
    pub function: cotan_core::FnId,
    /// One type for each generic parameter; none of them holds a parameter.
    pub types: Vec<Ty>,
}

impl From<cotan_core::FnId> for Root {
    fn from(function: cotan_core::FnId) -> Root {
        Root { function, types: Vec::new() }
    }
}

/// A program with its roots, and what checks the rules in it.
#[derive(Debug, Default)]
pub struct Lowered {
    /// The program.
    pub program: Program<AdOp>,
    /// The functions of the roots.
    pub roots: Vec<FnId>,
    /// How rules are checked, if that was asked for.
    pub checks: RuleChecks,
}

/// How the rules that a program reaches are checked.
#[derive(Clone, Debug, Default)]
pub struct RuleChecks {
    /// The checking function for function values of a type: of the function value and a point.
    pub by_type: FxHashMap<TypeId, FnId>,
    /// The code of the function value of a top-level function with rules.
    pub values: FxHashMap<FnId, FnId>,
}

/// As [`lower`], with an instance of the generic function `checker: fn(fn(A) -> B, A) -> ()` for every type of function that
/// has a rule.
pub fn lower_with_checks(
    core: &cotan_core::Program,
    roots: &[Root],
    checker: cotan_core::FnId,
) -> Result<Lowered, Vec<Diagnostic>> {
    instances::run(core, roots, Some(checker))
}

/// Lowers what the roots reach. The functions returned are those of the roots, in their order; a function has the
/// parameters of its declaration (with their names) and one result.
pub fn lower(core: &cotan_core::Program, roots: &[Root]) -> Result<(Program<AdOp>, Vec<FnId>), Vec<Diagnostic>> {
    let lowered = instances::run(core, roots, None)?;
    Ok((lowered.program, lowered.roots))
}

/// The type of the program that stands for a type of the core without generic parameters; nominal types are added
/// where they are new to the program and not among `known`.
pub fn lower_type(core: &cotan_core::Program, program: &mut Program<AdOp>, ty: &Ty) -> TypeId {
    types::lower_alone(core, program, ty)
}

/// Runs `f` on a stack that has room for it: programs may be nested as deeply as memory allows.
pub(crate) fn deep<R>(f: impl FnOnce() -> R) -> R {
    stacker::maybe_grow(128 * 1024, 4 * 1024 * 1024, f)
}
