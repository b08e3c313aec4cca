//! Laws of accumulators.

use super::tangent::is_zero;
use super::{Rewrite, gone};
use crate::known::Known;
use cotan_ir::{Op, Operator};

pub(super) fn rewrite<A: Operator>(known: &Known<'_, A>, op: &Op<A>) -> Rewrite<A> {
    match op {
        // starting from zero is starting
        Op::AccNew(Some(start)) if is_zero(known, start) => Rewrite::Op(Op::AccNew(None)),
        // a part of what forgets forgets
        Op::AccPart { acc, .. } if matches!(known.def(acc), Some(Op::AccNull)) => Rewrite::Op(Op::AccNull),
        // adding to what forgets
        Op::AccAdd { acc, .. } if matches!(known.def(acc), Some(Op::AccNull)) => gone(),
        // adding zero
        Op::AccAdd { value, .. } if is_zero(known, value) => gone(),
        // nothing was kept
        Op::AccTake(acc) if matches!(known.def(acc), Some(Op::AccNull)) => Rewrite::Op(Op::Zero),
        _ => Rewrite::Keep,
    }
}
