//! Laws of scalar primitives, alone and elementwise.
//!
//! Exact in IEEE arithmetic: `x - 0` and `x + -0` are `x`, but `x + 0` is not (it makes 0 of -0); `x * 0` is not 0. For
//! integers the usual laws hold; an operation that would be an error is never folded.

use super::{Rewrite, value};
use crate::forward::same;
use crate::known::Known;
use cotan_ir::{Atom, Lit, Op, Operator, Type};
use cotan_prim::{Prim, Scalar, ScalarType};

/// A primitive of scalars.
pub(super) fn prim<A: Operator>(known: &Known<'_, A>, prim: Prim, args: &[Atom]) -> Rewrite<A> {
    if let Some(folded) = fold(prim, args) {
        return value(folded);
    }
    if let Some(position) = identity(known, prim, args) {
        return value(args[position].clone());
    }
    let int = args.first().is_some_and(|a| kind(known, a) == Some(ScalarType::I64));
    let inner = |a: &Atom, want: Prim| match known.def(a) {
        Some(Op::Prim(p, args)) if *p == want => Some(args[0].clone()),
        _ => None,
    };
    let op = |prim: Prim, args: &[&Atom]| Rewrite::Op(Op::Prim(prim, args.iter().map(|a| (*a).clone()).collect()));
    match (prim, args) {
        // x + -y = x - y
        (Prim::Add, [x, y]) if !int && inner(y, Prim::Neg).is_some() => {
            inner(y, Prim::Neg).map_or(Rewrite::Keep, |y| op(Prim::Sub, &[x, &y]))
        }
        // -x + y = y - x
        (Prim::Add, [x, y]) if !int => inner(x, Prim::Neg).map_or(Rewrite::Keep, |x| op(Prim::Sub, &[y, &x])),
        // x - -y = x + y
        (Prim::Sub, [x, y]) if !int => inner(y, Prim::Neg).map_or(Rewrite::Keep, |y| op(Prim::Add, &[x, &y])),
        // n - n = 0
        (Prim::Sub, [x, y]) if same(x, y) => value(Atom::int(0)),
        // n * 0 = 0
        (Prim::Mul, [_, zero @ Atom::Lit(Lit::I64(0))] | [zero @ Atom::Lit(Lit::I64(0)), _]) => value(zero.clone()),
        // -x * -y = x * y
        (Prim::Mul, [x, y]) if !int => match (inner(x, Prim::Neg), inner(y, Prim::Neg)) {
            (Some(x), Some(y)) => op(Prim::Mul, &[&x, &y]),
            _ => Rewrite::Keep,
        },
        // 0 annihilates, anything else multiplies
        (Prim::AMul, [Atom::Lit(Lit::F64(x)), _]) if *x == 0.0 => value(Atom::f64(0.0)),
        (Prim::AMul, [Atom::Lit(Lit::F32(x)), _]) if *x == 0.0 => value(Atom::Lit(Lit::F32(0.0))),
        (Prim::AMul, [x @ Atom::Lit(_), y]) => op(Prim::Mul, &[x, y]),
        // an integer factor that is known is a float
        (Prim::IMul, [Atom::Lit(Lit::I64(n)), y]) => match kind(known, y) {
            Some(ScalarType::F64) => op(Prim::Mul, &[&Atom::f64(*n as f64), y]),
            _ => Rewrite::Keep,
        },
        // x ** 2 = x * x, as in the definition
        (Prim::PowI, [x, Atom::Lit(Lit::I64(2))]) => op(Prim::Mul, &[x, x]),
        // x ** 0 = 1
        (Prim::PowI, [x, Atom::Lit(Lit::I64(0))]) => match kind(known, x) {
            Some(ScalarType::F64) => value(Atom::f64(1.0)),
            Some(ScalarType::F32) => value(Atom::Lit(Lit::F32(1.0))),
            Some(ScalarType::I64) => value(Atom::int(1)),
            Some(ScalarType::Bool) | None => Rewrite::Keep,
        },
        // |-x| = |x|
        (Prim::Abs, [x]) if !int => inner(x, Prim::Neg).map_or(Rewrite::Keep, |x| op(Prim::Abs, &[&x])),
        // --x = x
        (Prim::Neg, [x]) => inner(x, Prim::Neg).map_or(Rewrite::Keep, value),

        // !!c = c, !(x == y) = x != y
        (Prim::Not, [c]) => match known.def(c) {
            Some(Op::Prim(Prim::Not, args)) => value(args[0].clone()),
            Some(Op::Prim(Prim::Eq, args)) => Rewrite::Op(Op::Prim(Prim::Ne, args.clone())),
            Some(Op::Prim(Prim::Ne, args)) => Rewrite::Op(Op::Prim(Prim::Eq, args.clone())),
            _ => Rewrite::Keep,
        },
        // if !c { x } else { y } = if c { y } else { x }
        (Prim::Select, [c, x, y]) => inner(c, Prim::Not).map_or(Rewrite::Keep, |c| op(Prim::Select, &[&c, y, x])),
        (Prim::And, [Atom::Lit(Lit::Bool(false)), _] | [_, Atom::Lit(Lit::Bool(false))]) => bool_value(false),
        (Prim::Or, [Atom::Lit(Lit::Bool(true)), _] | [_, Atom::Lit(Lit::Bool(true))]) => bool_value(true),
        // x < x never, whatever x is
        (Prim::Lt | Prim::Gt, [x, y]) if same(x, y) => bool_value(false),
        // n == n, but not NaN
        (Prim::Eq | Prim::Le | Prim::Ge, [x, y]) if same(x, y) && is_exact(known, x) => bool_value(true),
        (Prim::Ne, [x, y]) if same(x, y) && is_exact(known, x) => bool_value(false),
        _ => Rewrite::Keep,
    }
}

/// A primitive on every element.
pub(super) fn map<A: Operator>(known: &Known<'_, A>, prim: Prim, args: &[Atom]) -> Rewrite<A> {
    if let Some(position) = identity(known, prim, args)
        && matches!(known.ty(&args[position]), Some(Type::Array { .. }))
        && args.iter().enumerate().all(|(i, a)| i == position || matches!(a, Atom::Lit(_)))
    {
        return value(args[position].clone());
    }
    match (prim, args) {
        // --x = x
        (Prim::Neg, [x]) => match known.def(x) {
            Some(Op::Map(Prim::Neg, args)) => value(args[0].clone()),
            _ => Rewrite::Keep,
        },
        _ => Rewrite::Keep,
    }
}

/// The position of the operand that is the result.
fn identity<A: Operator>(known: &Known<'_, A>, prim: Prim, args: &[Atom]) -> Option<usize> {
    match (prim, args) {
        // x + -0 = x, n + 0 = n
        (Prim::Add, [_, Atom::Lit(lit)]) if is_minus_zero(lit) => Some(0),
        (Prim::Add, [Atom::Lit(lit), _]) if is_minus_zero(lit) => Some(1),
        // x - 0 = x
        (Prim::Sub, [_, Atom::Lit(lit)]) if is_plus_zero(lit) => Some(0),
        // x * 1 = x, x / 1 = x, x ** 1 = x
        (Prim::Mul | Prim::Div | Prim::PowI, [_, Atom::Lit(lit)]) if is_one(lit) => Some(0),
        (Prim::Mul, [Atom::Lit(lit), _]) if is_one(lit) => Some(1),
        (Prim::IMul, [Atom::Lit(Lit::I64(1)), _]) => Some(1),
        (Prim::Max | Prim::Min | Prim::And | Prim::Or, [x, y]) if same(x, y) => Some(0),
        // if true { x } else { y } = x
        (Prim::Select, [Atom::Lit(Lit::Bool(c)), ..]) => Some(if *c { 1 } else { 2 }),
        (Prim::Select, [_, x, y]) if same(x, y) => Some(1),
        (Prim::And, [Atom::Lit(Lit::Bool(true)), _]) | (Prim::Or, [Atom::Lit(Lit::Bool(false)), _]) => Some(1),
        (Prim::And, [_, Atom::Lit(Lit::Bool(true))]) | (Prim::Or, [_, Atom::Lit(Lit::Bool(false))]) => Some(0),
        // conversions to the type that it is
        (Prim::ToFloat, [x]) if kind(known, x) == Some(ScalarType::F64) => Some(0),
        (Prim::ToFloat32, [x]) if kind(known, x) == Some(ScalarType::F32) => Some(0),
        (Prim::ToInt, [x]) if kind(known, x) == Some(ScalarType::I64) => Some(0),
        _ => None,
    }
}

/// The value of a primitive of literals, unless it is an error.
fn fold(prim: Prim, args: &[Atom]) -> Option<Atom> {
    let args: Option<Vec<Scalar>> = args.iter().map(scalar).collect();
    Some(Atom::Lit(match prim.eval(&args?).ok()? {
        Scalar::F64(x) => Lit::F64(x),
        Scalar::F32(x) => Lit::F32(x),
        Scalar::I64(x) => Lit::I64(x),
        Scalar::Bool(x) => Lit::Bool(x),
    }))
}

fn scalar(atom: &Atom) -> Option<Scalar> {
    match atom {
        Atom::Lit(Lit::F64(x)) => Some(Scalar::F64(*x)),
        Atom::Lit(Lit::F32(x)) => Some(Scalar::F32(*x)),
        Atom::Lit(Lit::I64(x)) => Some(Scalar::I64(*x)),
        Atom::Lit(Lit::Bool(x)) => Some(Scalar::Bool(*x)),
        Atom::Lit(Lit::Str(_) | Lit::Unit) | Atom::Var(_) => None,
    }
}

/// The scalar type of an operand, or of the elements of an array.
fn kind<A: Operator>(known: &Known<'_, A>, atom: &Atom) -> Option<ScalarType> {
    match known.ty(atom) {
        None => scalar(atom).map(Scalar::ty),
        Some(Type::Array { elem, .. }) => cotan_ir::scalar_type(known.program.ty(*elem)),
        Some(ty) => cotan_ir::scalar_type(ty),
    }
}

/// Whether equality of values of its type means that they are the same.
fn is_exact<A: Operator>(known: &Known<'_, A>, atom: &Atom) -> bool {
    matches!(kind(known, atom), Some(ScalarType::I64 | ScalarType::Bool))
}

/// Whether an operand has exactly this scalar type.
pub(super) fn has_type<A: Operator>(known: &Known<'_, A>, atom: &Atom, ty: &Type) -> bool {
    match known.ty(atom) {
        Some(found) => found == ty,
        None => kind(known, atom) == cotan_ir::scalar_type(ty),
    }
}

fn is_minus_zero(lit: &Lit) -> bool {
    match lit {
        Lit::F64(x) => *x == 0.0 && x.is_sign_negative(),
        Lit::F32(x) => *x == 0.0 && x.is_sign_negative(),
        Lit::I64(x) => *x == 0,
        Lit::Bool(_) | Lit::Str(_) | Lit::Unit => false,
    }
}

fn is_plus_zero(lit: &Lit) -> bool {
    match lit {
        Lit::F64(x) => *x == 0.0 && x.is_sign_positive(),
        Lit::F32(x) => *x == 0.0 && x.is_sign_positive(),
        Lit::I64(x) => *x == 0,
        Lit::Bool(_) | Lit::Str(_) | Lit::Unit => false,
    }
}

fn is_one(lit: &Lit) -> bool {
    match lit {
        Lit::F64(x) => *x == 1.0,
        Lit::F32(x) => *x == 1.0,
        Lit::I64(x) => *x == 1,
        Lit::Bool(_) | Lit::Str(_) | Lit::Unit => false,
    }
}

fn bool_value<A>(c: bool) -> Rewrite<A> {
    value(Atom::Lit(Lit::Bool(c)))
}

/// The sum of two scalars.
pub(super) fn add<A>(a: &Atom, b: &Atom) -> Rewrite<A> {
    Rewrite::Op(Op::Prim(Prim::Add, vec![a.clone(), b.clone()]))
}

/// The product of two scalars.
pub(super) fn mul<A>(a: &Atom, b: &Atom) -> Rewrite<A> {
    Rewrite::Op(Op::Prim(Prim::Mul, vec![a.clone(), b.clone()]))
}

/// A scalar's negation.
pub(super) fn neg<A>(a: &Atom) -> Rewrite<A> {
    Rewrite::Op(Op::Prim(Prim::Neg, vec![a.clone()]))
}
