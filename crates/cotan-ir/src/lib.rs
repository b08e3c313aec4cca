//! The intermediate representation: typed, monomorphic, structured, in A-normal form.
//!
//! In: nothing (data only). Out: [`Program`], written by `cotan-lower`, rewritten by `cotan-opt` and
//! `cotan-ad`, run by `cotan-interp`. Newly true: no type variables, no mutation, no patterns; function
//! values are closures over a known code with named captures.
//!
//! `Program<AdOp>` may hold the operators of differentiation; `Program<Never>` cannot, by type.

mod builder;
mod convert;
mod effects;
mod func;
mod infer;
mod op;
mod operator;
mod parts;
mod print;
mod program;
mod read;
mod signature;
mod types;
mod validate;
mod visit;

pub use builder::FuncBuilder;
pub use convert::visit_convert;
pub use effects::{FnTraits, Traits, own_traits, prim_fails, traits};
pub use func::{Block, Capture, Func, Rules, Stmt, VarInfo};
pub use infer::{atom_type, lit_type, result_types, scalar_type};
pub use op::{AdOp, Atom, Deriv, Effect, Inspect, Lit, Never, Op, ReduceOp, Step, Sub};
pub use operator::Operator;
pub use parts::{array_type, closure_type, part_type, sub_type};
pub use print::{print_func, print_function, print_lit, print_program, print_type};
pub use program::{AdtDef, AdtKind, Derive, Program, VariantDef, derivatives_without_end};
pub use read::read_program;
pub use signature::{Leaf, derivative_signature, differentiable, leaves, tangent_type};
pub use types::{Type, TypeTable};
pub use validate::{validate, validate_function};
pub use visit::size;

use cotan_source::define_index;

define_index!(
    /// A value of a function, defined once.
    Var,
    "%"
);
define_index!(
    /// An interned type.
    TypeId,
    "t"
);
define_index!(
    /// A function.
    FnId,
    "f"
);
define_index!(
    /// A nominal type: a structure or enum at given type arguments, or a residual.
    AdtId,
    "a"
);
