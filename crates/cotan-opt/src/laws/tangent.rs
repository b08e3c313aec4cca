//! Laws of tangent spaces and sparse tangents.

use super::array::has_extents;
use super::{Rewrite, scalar, value};
use crate::forward::is_float;
use crate::known::Known;
use cotan_ir::{AdtKind, Atom, Lit, Op, Operator, Program, Step, Sub, Type, TypeId};

pub(super) fn rewrite<A: Operator>(known: &Known<'_, A>, op: &Op<A>, types: &[TypeId]) -> Rewrite<A> {
    let ty = known.program.ty(types[0]);
    match op {
        // zeros of scalars
        Op::Zero => zero_of(ty).map_or(Rewrite::Keep, value),
        Op::ZeroLike(_) => zero_of(ty).map_or(Rewrite::Keep, value),

        // u + v of scalars is the sum
        Op::SpaceAdd(a, b) if is_float(ty) => scalar::add(a, b),
        // 0 + v = v
        Op::SpaceAdd(a, b) if is_zero(known, a) => value(b.clone()),
        // u + 0 = u
        Op::SpaceAdd(a, b) if is_zero(known, b) => value(a.clone()),

        Op::SpaceNeg(a) if is_float(ty) => scalar::neg(a),
        // -0 = 0
        Op::SpaceNeg(a) if is_zero(known, a) => value(a.clone()),
        // -(-v) = v
        Op::SpaceNeg(a) => match known.def(a) {
            Some(Op::SpaceNeg(b)) => value(b.clone()),
            _ => Rewrite::Keep,
        },

        // c * v of scalars of one type is the product
        Op::SpaceScale(c, a) if is_float(ty) && scalar::has_type(known, c, ty) => scalar::mul(c, a),
        // c * 0 = 0
        Op::SpaceScale(_, a) if is_zero(known, a) => value(a.clone()),
        // 1 * v = v
        Op::SpaceScale(Atom::Lit(Lit::F64(1.0) | Lit::F32(1.0)), a) => value(a.clone()),

        // the inner product of scalars is the product
        Op::SpaceDot(a, b) if scalar::has_type(known, a, &Type::F64) => scalar::mul(a, b),

        // a point along a scalar tangent is the sum
        Op::Move(x, dx) if is_float(ty) && scalar::has_type(known, dx, ty) => scalar::add(x, dx),
        // a point along zero is itself
        Op::Move(x, dx) if is_zero(known, dx) => value(x.clone()),

        // scalars have no zeros to fill in
        Op::Densify { tan, .. } if is_float(ty) => value(tan.clone()),
        Op::Densify { .. } if *ty == Type::Tuple(Vec::new()) => value(Atom::Lit(Lit::Unit)),
        Op::Densify { tan, like } => match known.def(tan) {
            // densify(zero, x) = zero_like(x)
            Some(Op::Zero) => Rewrite::Op(Op::ZeroLike(like.clone())),
            // a tangent of a function with a rule attached, without a part for the rule, is one of the function
            Some(Op::TanClosure { code, captures }) if known.program.attached.contains(code) => {
                match (&captures[..], known.code(like)) {
                    ([face, rule], Some((of, [f, _]))) if of == *code && is_zero(known, rule) => {
                        Rewrite::Op(Op::Densify { tan: face.clone(), like: f.clone() })
                    }
                    _ => Rewrite::Keep,
                }
            }
            Some(Op::TanClosure { code, captures }) => match known.code(like) {
                // there are no zeros to fill in between floats
                Some((of, _)) if of == *code && captures.iter().all(|c| is_dense(known, c)) => value(tan.clone()),
                // a tangent of a function is one of the function with a rule attached
                Some((of, [f, _])) if known.program.attached.contains(&of) => {
                    Rewrite::Op(Op::Densify { tan: tan.clone(), like: f.clone() })
                }
                _ => Rewrite::Keep,
            },
            // densify(sparse(v), _) = v where all values of the type have one shape
            Some(Op::Sparse(v)) if has_id(known, v, types[0]) && rigid(known.program, types[0]) => value(v.clone()),
            _ => Rewrite::Keep,
        },

        // sparse(v) = v where it is sparse already
        Op::Sparse(a) if has_id(known, a, types[0]) => value(a.clone()),
        Op::Sparse(a) => match known.def(a) {
            // sparse(spread(t)) = t, sparse(densify(t, _)) = t
            Some(Op::Spread { tan, .. } | Op::Densify { tan, .. }) if has_id(known, tan, types[0]) => {
                value(tan.clone())
            }
            // sparse(zero_like(_)) = zero
            Some(Op::ZeroLike(_)) => Rewrite::Op(Op::Zero),
            _ => Rewrite::Keep,
        },

        Op::Spread { tan, extents } => match (known.def(tan), ty) {
            // spread(sparse(a)) = a
            (Some(Op::Sparse(a)), _) if has_id(known, a, types[0]) && has_extents(known, a, extents) => {
                value(a.clone())
            }
            // spread(zero) of floats is an array of zeros
            (Some(Op::Zero), Type::Array { elem, .. }) => match zero_of(known.program.ty(*elem)) {
                Some(value) => Rewrite::Op(Op::Fill { extents: extents.clone(), value }),
                None => Rewrite::Keep,
            },
            _ => Rewrite::Keep,
        },

        Op::TanPart { tan, step } => match (known.def(tan), step) {
            // a part of zero is zero
            (Some(Op::Zero), _) => Rewrite::Op(Op::Zero),
            // parts of what was just made
            (Some(Op::TanAdt { variant: made, fields, .. }), Step::Field { variant, index, .. }) if made == variant => {
                value(fields[*index as usize].clone())
            }
            (Some(Op::TanClosure { code: made, captures }), Step::Capture { code, index }) if made == code => {
                value(captures[*index as usize].clone())
            }
            // of a function inside of one with a rule attached
            (Some(Op::TanClosure { code: made, captures }), Step::Capture { .. })
                if known.program.attached.contains(made) =>
            {
                Rewrite::Op(Op::TanPart { tan: captures[0].clone(), step: step.clone() })
            }
            // a float is the same, whatever is filled in beside it
            (Some(Op::Densify { tan, .. }), Step::Capture { .. }) if is_float(ty) => {
                Rewrite::Op(Op::TanPart { tan: tan.clone(), step: step.clone() })
            }
            (Some(Op::TanUpdate { subs: made, value: new, .. }), Step::Index { subs, .. })
                if made == subs && subs.iter().all(|s| matches!(s, Sub::At(_))) =>
            {
                value(new.clone())
            }
            // an element of an array of tangents
            (Some(Op::Sparse(array)), Step::Index { subs, extents }) => match (known.ty(array), positions(subs)) {
                (Some(Type::Array { rank, elem }), Some(at))
                    if at.len() == *rank as usize && *elem == types[0] && has_extents(known, array, extents) =>
                {
                    Rewrite::Op(Op::Index { array: array.clone(), at })
                }
                _ => Rewrite::Keep,
            },
            _ => Rewrite::Keep,
        },

        // zero with a part set to zero is zero
        Op::TanUpdate { tan, value: new, .. } if is_zero(known, tan) && is_zero(known, new) => value(tan.clone()),
        _ => Rewrite::Keep,
    }
}

/// The literal that is the zero of a type.
fn zero_of(ty: &Type) -> Option<Atom> {
    match ty {
        Type::F64 => Some(Atom::f64(0.0)),
        Type::F32 => Some(Atom::Lit(Lit::F32(0.0))),
        Type::Tuple(parts) if parts.is_empty() => Some(Atom::Lit(Lit::Unit)),
        _ => None,
    }
}

/// Whether a tangent is the neutral zero (a float zero is not: it turns -0 into 0).
pub(super) fn is_zero<A: Operator>(known: &Known<'_, A>, atom: &Atom) -> bool {
    match atom {
        Atom::Lit(lit) => *lit == Lit::Unit,
        Atom::Var(_) => matches!(known.def(atom), Some(Op::Zero)) && matches!(known.ty(atom), Some(Type::Tan(_))),
    }
}

/// Whether a tangent holds no zero that could be filled in.
fn is_dense<A: Operator>(known: &Known<'_, A>, atom: &Atom) -> bool {
    matches!(atom, Atom::Lit(_)) || known.ty(atom).is_some_and(is_float)
}

fn has_id<A: Operator>(known: &Known<'_, A>, atom: &Atom, ty: TypeId) -> bool {
    atom.var().is_some_and(|v| known.vars[v].ty == ty)
}

fn positions(subs: &[Sub]) -> Option<Vec<Atom>> {
    subs.iter()
        .map(|s| match s {
            Sub::At(a) => Some(a.clone()),
            Sub::Range(..) => None,
        })
        .collect()
}

/// Whether all values of a type have one shape: floats, tuples and structures of them.
fn rigid<A>(program: &Program<A>, ty: TypeId) -> bool {
    match program.ty(ty) {
        Type::F64 | Type::F32 => true,
        Type::Tuple(parts) => parts.iter().all(|p| rigid(program, *p)),
        Type::Adt(id) => {
            let def = &program.adts[*id];
            // A structure cannot hold itself without an enum in between, so this ends.
            def.kind == AdtKind::Struct && def.variants.iter().flat_map(|v| &v.fields).all(|(_, t)| rigid(program, *t))
        }
        _ => false,
    }
}
