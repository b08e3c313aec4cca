//! The scalar operations of the compiler, in one table.
//!
//! In: nothing. Out: for each primitive its name, its types, its value and its partial derivatives. From here on every crate
//! means the same by `Prim::Pow`: the evaluator, both modes of differentiation, the optimiser and the documents read this table.

mod eval;
mod partial;
mod special;
mod table;
mod text;

pub use partial::{Partial, Term};
pub use table::Prim;
pub use text::derivative_table;

use std::fmt;

/// A value that a primitive takes or gives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scalar {
    /// A binary64 number.
    F64(f64),
    /// A binary32 number.
    F32(f32),
    /// A 64-bit integer.
    I64(i64),
    /// A truth value.
    Bool(bool),
}

impl Scalar {
    /// The type of the value.
    pub fn ty(self) -> ScalarType {
        match self {
            Scalar::F64(_) => ScalarType::F64,
            Scalar::F32(_) => ScalarType::F32,
            Scalar::I64(_) => ScalarType::I64,
            Scalar::Bool(_) => ScalarType::Bool,
        }
    }
}

/// The type of a [`Scalar`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ScalarType {
    /// Binary64.
    F64,
    /// Binary32.
    F32,
    /// 64-bit integers.
    I64,
    /// Truth values.
    Bool,
}

/// What an operand must be. All operands `T` of one application have the same type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ArgKind {
    /// The type that the primitive is generic in; [`Prim::class`] says what it may be.
    T,
    /// An `Int`.
    Int,
    /// A `Bool`.
    Bool,
}

/// What a primitive gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ResultKind {
    /// The type of its operands `T`.
    T,
    /// An `Int`.
    Int,
    /// A `Bool`.
    Bool,
    /// A `Float`.
    F64,
    /// A `Float32`.
    F32,
}

/// The types that `T` may stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// `Float` and `Float32`.
    Real,
    /// `Int`, `Float` and `Float32`.
    Num,
    /// Every scalar type.
    Any,
    /// No operand is a `T`.
    Fixed,
}

impl Class {
    /// Whether `T` may be `ty`.
    pub fn contains(self, ty: ScalarType) -> bool {
        match self {
            Class::Real => matches!(ty, ScalarType::F64 | ScalarType::F32),
            Class::Num => !matches!(ty, ScalarType::Bool),
            Class::Any | Class::Fixed => true,
        }
    }
}

/// Why a primitive has no value at its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PrimError {
    /// The result is no 64-bit integer.
    Overflow,
    /// An integer was divided by zero.
    DivisionByZero,
    /// A float that is not finite or out of range was converted to an integer.
    NotAnInteger,
    /// An integer was raised to a negative power.
    NegativeExponent,
}

impl fmt::Display for PrimError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            PrimError::Overflow => "integer overflow",
            PrimError::DivisionByZero => "integer division by zero",
            PrimError::NotAnInteger => "the number is not finite or does not fit in a 64-bit integer",
            PrimError::NegativeExponent => "an integer cannot be raised to a negative power",
        })
    }
}

impl std::error::Error for PrimError {}
