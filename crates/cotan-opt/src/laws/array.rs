//! Laws of arrays.

use super::{Rewrite, value};
use crate::forward::same;
use crate::known::Known;
use cotan_ir::{Atom, Lit, Op, Operator, Sub, Type, TypeId};

pub(super) fn rewrite<A: Operator>(known: &Known<'_, A>, op: &Op<A>, _types: &[TypeId]) -> Rewrite<A> {
    match op {
        // a[] = a
        Op::Index { array, at } if at.is_empty() => value(array.clone()),
        Op::Index { array, at } => match known.def(array) {
            // [x0 .. xn][i] = xi
            Some(Op::Array(items)) => match (&at[0], at.len()) {
                (Atom::Lit(Lit::I64(i)), 1) => match usize::try_from(*i).ok().and_then(|i| items.get(i)) {
                    Some(item) => value(item.clone()),
                    None => Rewrite::Keep,
                },
                _ => Rewrite::Keep,
            },
            // (a with a[i] = x)[i] = x
            Some(Op::Update { subs, value: new, .. }) if same_place(subs, at) => value(new.clone()),
            _ => Rewrite::Keep,
        },

        // a[..] = a
        Op::Slice { array, subs } if subs.is_empty() => value(array.clone()),

        // transpose(transpose(a)) = a
        Op::Transpose(a) => match known.def(a) {
            Some(Op::Transpose(b)) => value(b.clone()),
            _ => Rewrite::Keep,
        },

        Op::Dim { array, axis } => dim(known, array, *axis),
        _ => Rewrite::Keep,
    }
}

/// Whether an update at `subs` replaced exactly the element or part at `at`.
fn same_place(subs: &[Sub], at: &[Atom]) -> bool {
    subs.len() == at.len()
        && subs.iter().zip(at).all(|(sub, a)| match sub {
            Sub::At(b) => same(a, b),
            Sub::Range(..) => false,
        })
}

fn rank<A: Operator>(known: &Known<'_, A>, array: &Atom) -> Option<u32> {
    match known.ty(array)? {
        Type::Array { rank, .. } => Some(*rank),
        _ => None,
    }
}

/// An extent that was asked for, given that it is not negative.
fn extent<A: Operator>(known: &Known<'_, A>, extents: &[Atom], axis: u32) -> Option<Atom> {
    let extent = extents.get(axis as usize)?;
    match extent {
        Atom::Lit(Lit::I64(n)) => Some(Atom::int((*n).max(0))),
        Atom::Lit(_) => None,
        Atom::Var(_) => matches!(known.def(extent), Some(Op::Dim { .. })).then(|| extent.clone()),
    }
}

fn dim<A: Operator>(known: &Known<'_, A>, array: &Atom, axis: u32) -> Rewrite<A> {
    let of = |array: &Atom, axis: u32| Rewrite::Op(Op::Dim { array: array.clone(), axis });
    let Some(def) = known.def(array) else { return Rewrite::Keep };
    match def {
        // extents of what was made with extents
        Op::Fill { extents, .. } | Op::Build { extents, .. } | Op::Spread { extents, .. } => {
            extent(known, extents, axis).map_or(Rewrite::Keep, value)
        }
        Op::Array(items) if axis == 0 => value(Atom::int(items.len() as i64)),

        // what keeps the shape
        Op::Update { array: a, .. }
        | Op::ScatterAdd { base: a, .. }
        | Op::Argsort(a)
        | Op::StopGradient(a)
        | Op::Probe { value: a, .. }
        | Op::SpaceNeg(a)
        | Op::SpaceScale(_, a)
        | Op::SpaceAdd(a, _) => of(a, axis),
        Op::Map(_, args) => match args.iter().find(|a| rank(known, a).is_some()) {
            Some(a) => of(a, axis),
            None => Rewrite::Keep,
        },

        // what rearranges axes
        Op::Gather { positions, .. } if axis == 0 => of(positions, 0),
        Op::Gather { array: a, .. } => of(a, axis),
        Op::Index { array: a, at } => of(a, axis + at.len() as u32),
        Op::Transpose(a) => of(a, [1, 0].get(axis as usize).copied().unwrap_or(axis)),
        Op::MatMul(a, b) => match (rank(known, a), rank(known, b)) {
            (Some(2), _) if axis == 0 => of(a, 0),
            (Some(_), Some(2)) => of(b, 1),
            _ => Rewrite::Keep,
        },
        _ => Rewrite::Keep,
    }
}

/// Whether an array certainly has these extents.
pub(super) fn has_extents<A: Operator>(known: &Known<'_, A>, array: &Atom, extents: &[Atom]) -> bool {
    extents.iter().enumerate().all(|(axis, want)| {
        if let Some(Op::Dim { array: of, axis: at }) = known.def(want)
            && of == array
            && *at == axis as u32
        {
            return true;
        }
        match known.def(array) {
            Some(Op::Fill { extents, .. } | Op::Build { extents, .. } | Op::Spread { extents, .. }) => {
                extents.get(axis).is_some_and(|e| same(e, want))
            }
            _ => false,
        }
    })
}
