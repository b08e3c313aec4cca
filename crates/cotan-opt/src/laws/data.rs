//! Laws of tuples, nominal types, closures, texts and checks.

use super::{Rewrite, gone, value};
use crate::forward::same;
use crate::known::Known;
use cotan_ir::{Atom, Lit, Op, Operator, Type, TypeId, differentiable};

pub(super) fn rewrite<A: Operator>(known: &Known<'_, A>, op: &Op<A>, types: &[TypeId]) -> Rewrite<A> {
    match op {
        // copy(x) = x
        Op::Copy(a) => value(a.clone()),

        // proj[i](tuple(x0 .. xn)) = xi
        Op::Proj(t, i) => match known.def(t) {
            Some(Op::Tuple(items)) => value(items[*i as usize].clone()),
            // a component of the zero of a tuple
            Some(Op::Zero) => Rewrite::Op(Op::Zero),
            _ => Rewrite::Keep,
        },
        // tuple(proj[0](t) .. proj[n](t)) = t
        Op::Tuple(items) => match whole_tuple(known, items, types[0]) {
            Some(t) => value(t),
            None if items.is_empty() => value(Atom::Lit(Lit::Unit)),
            None => Rewrite::Keep,
        },

        // field[v i](adt[t v](x0 .. xn)) = xi
        Op::Field { base, variant, index } => match known.def(base) {
            Some(Op::Adt { variant: made, fields, .. }) if made == variant => value(fields[*index as usize].clone()),
            _ => Rewrite::Keep,
        },
        // adt[t v](field[v 0](x) .. field[v n](x)) = x
        Op::Adt { variant, fields, .. } => match whole_adt(known, *variant, fields, types[0]) {
            Some(base) => value(base),
            None => Rewrite::Keep,
        },

        // capture[f i](closure[f](x0 .. xn)) = xi
        Op::Capture { base, code, index } => match known.code(base) {
            Some((made, captures)) if made == *code => value(captures[*index as usize].clone()),
            _ => Rewrite::Keep,
        },
        // dispatch[](closure[f](..); x) = call[f](closure[f](..), x)
        Op::Dispatch { on, path, args } if path.is_empty() => match known.code(on) {
            Some((func, _)) => Rewrite::Op(Op::Call { func, args: std::iter::once(on).chain(args).cloned().collect() }),
            None => Rewrite::Keep,
        },

        // stop_gradient(x) = x where there is no gradient
        Op::StopGradient(a) => match a.var() {
            Some(v) if differentiable(known.program, known.vars[v].ty) => Rewrite::Keep,
            _ => value(a.clone()),
        },

        // equal(a, b) of literals without NaN
        Op::Equal(Atom::Lit(a @ (Lit::I64(_) | Lit::Bool(_) | Lit::Str(_))), Atom::Lit(b)) => {
            value(Atom::Lit(Lit::Bool(a == b)))
        }
        // "a" + "b" = "ab"
        Op::StrConcat(Atom::Lit(Lit::Str(a)), Atom::Lit(Lit::Str(b))) => {
            value(Atom::Lit(Lit::Str(format!("{a}{b}").into())))
        }
        // "" + x = x
        Op::StrConcat(Atom::Lit(Lit::Str(a)), b) if a.is_empty() => value(b.clone()),
        // x + "" = x
        Op::StrConcat(a, Atom::Lit(Lit::Str(b))) if b.is_empty() => value(a.clone()),

        // assert(true, _) holds
        Op::Assert { cond: Atom::Lit(Lit::Bool(true)), .. } => gone(),
        // a size is itself
        Op::CheckSize { actual, expected, .. } if same(actual, expected) => gone(),
        _ => Rewrite::Keep,
    }
}

fn whole_tuple<A: Operator>(known: &Known<'_, A>, items: &[Atom], ty: TypeId) -> Option<Atom> {
    let part = |a: &Atom| match known.def(a) {
        Some(Op::Proj(Atom::Var(t), i)) => Some((*t, *i)),
        _ => None,
    };
    let (t, _) = part(items.first()?)?;
    let all = items.iter().enumerate().all(|(i, a)| part(a) == Some((t, i as u32)));
    // The same type means as many components.
    (all && known.vars[t].ty == ty).then_some(Atom::Var(t))
}

fn whole_adt<A: Operator>(known: &Known<'_, A>, variant: u32, fields: &[Atom], ty: TypeId) -> Option<Atom> {
    let part = |a: &Atom| match known.def(a) {
        Some(Op::Field { base: Atom::Var(base), variant, index }) => Some((*base, *variant, *index)),
        _ => None,
    };
    let (base, ..) = part(fields.first()?)?;
    let all = fields.iter().enumerate().all(|(i, a)| part(a) == Some((base, variant, i as u32)));
    let Type::Adt(_) = known.program.ty(ty) else { return None };
    (all && known.vars[base].ty == ty).then_some(Atom::Var(base))
}
