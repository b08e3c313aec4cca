//! The laws by which single operations become simpler: one law, one match arm.
//!
//! In: an operation whose operands are resolved, and what is known of them. Out: what it becomes. Each law is exact: the
//! same bits, and no error lost or made (an operation that might fail is only rewritten where it cannot, or
//! where the new one fails alike).

mod acc;
mod array;
mod data;
mod scalar;
mod tangent;

use crate::known::Known;
use cotan_ir::{Atom, Op, Operator, TypeId};

/// What an operation becomes.
pub(crate) enum Rewrite<A> {
    /// Itself.
    Keep,
    /// Another operation with the same results.
    Op(Op<A>),
    /// Nothing: its results, one per variable, exist already.
    Values(Vec<Atom>),
}

/// The result, or none at all.
fn value<A>(atom: impl Into<Atom>) -> Rewrite<A> {
    Rewrite::Values(vec![atom.into()])
}

/// An operation without results that does nothing.
fn gone<A>() -> Rewrite<A> {
    Rewrite::Values(Vec::new())
}

/// Applies the first law that fits.
pub(crate) fn rewrite<A: Operator>(known: &Known<'_, A>, op: &Op<A>, types: &[TypeId]) -> Rewrite<A> {
    match op {
        Op::Prim(prim, args) => scalar::prim(known, *prim, args),
        Op::Map(prim, args) => scalar::map(known, *prim, args),

        Op::Copy(_)
        | Op::Tuple(_)
        | Op::Proj(..)
        | Op::Adt { .. }
        | Op::Field { .. }
        | Op::Capture { .. }
        | Op::Dispatch { .. }
        | Op::StopGradient(_)
        | Op::Equal(..)
        | Op::StrConcat(..)
        | Op::Assert { .. }
        | Op::CheckSize { .. } => data::rewrite(known, op, types),

        Op::Index { .. } | Op::Slice { .. } | Op::Dim { .. } | Op::Transpose(_) | Op::Array(_) => {
            array::rewrite(known, op, types)
        }

        Op::SpaceAdd(..)
        | Op::SpaceNeg(_)
        | Op::SpaceScale(..)
        | Op::SpaceDot(..)
        | Op::ZeroLike(_)
        | Op::Move(..)
        | Op::Inspect(..)
        | Op::Zero
        | Op::Densify { .. }
        | Op::Spread { .. }
        | Op::Sparse(_)
        | Op::TanPart { .. }
        | Op::TanUpdate { .. } => tangent::rewrite(known, op, types),

        Op::AccNew(_) | Op::AccPart { .. } | Op::AccAdd { .. } | Op::AccTake(_) => acc::rewrite(known, op),

        Op::Closure { .. }
        | Op::Call { .. }
        | Op::Attach { .. }
        | Op::If { .. }
        | Op::Switch { .. }
        | Op::For { .. }
        | Op::While { .. }
        | Op::Build { .. }
        | Op::Fill { .. }
        | Op::Update { .. }
        | Op::Reduce(..)
        | Op::ArgReduce { .. }
        | Op::Argsort(_)
        | Op::Gather { .. }
        | Op::ScatterAdd { .. }
        | Op::Concat(..)
        | Op::MatMul(..)
        | Op::TanAdt { .. }
        | Op::TanClosure { .. }
        | Op::AccNull
        | Op::ToStr(_)
        | Op::Probe { .. }
        | Op::Panic(_)
        | Op::Effect(..)
        | Op::Ad(_) => Rewrite::Keep,
    }
}
