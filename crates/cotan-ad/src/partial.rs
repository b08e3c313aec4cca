//! Partial derivatives of scalar primitives as code.
//!
//! In: a primitive, its operands and result (scalars, or arrays of one shape for `Map`). Out: the product of a cotangent or
//! tangent with a partial derivative. The formulas are those of the table in `cotan-prim`, so they have derivatives again.

use crate::writer::Writer;
use cotan_ir::{Atom, Lit, Op, Type, TypeId};
use cotan_prim::{Partial, Prim, Term};

/// `t * (partial of prim in its operand arg)`, elementwise for arrays; `None` where that is zero. Written so that a zero `t` gives
/// zero also where the partial derivative is not finite ("zero annihilates").
pub(crate) fn times_partial(
    w: &mut Writer<'_>,
    t: &Atom,
    prim: Prim,
    arg: usize,
    args: &[Atom],
    result: &Atom,
) -> Option<Atom> {
    // A choice hands its cotangent to one side and nothing, not zero times something, to the other.
    if prim == Prim::Select {
        let zero = zero_of(w, t);
        return match arg {
            1 => Some(w.prim(Prim::Select, vec![args[0].clone(), t.clone(), zero])),
            2 => Some(w.prim(Prim::Select, vec![args[0].clone(), zero, t.clone()])),
            _ => None,
        };
    }
    let float = float_of(w, &args[arg]);
    let product = match prim.partial(arg) {
        Partial::Zero => return None,
        Partial::One => t.clone(),
        Partial::MinusOne => w.prim(Prim::Neg, vec![t.clone()]),
        Partial::Formula { term, may_be_non_finite } => {
            let p = emit_term(w, &term, args, result, float);
            w.prim(if may_be_non_finite { Prim::AMul } else { Prim::Mul }, vec![t.clone(), p])
        }
    };
    Some(convert(w, product, float))
}

/// As [`times_partial`] for a tangent `t` of the operand: the result is a tangent of the result.
pub(crate) fn partial_times(
    w: &mut Writer<'_>,
    t: &Atom,
    prim: Prim,
    arg: usize,
    args: &[Atom],
    result: &Atom,
) -> Option<Atom> {
    let out = float_of(w, result);
    let product = times_partial(w, t, prim, arg, args, result)?;
    Some(convert(w, product, out))
}

/// The float type of a scalar or of the elements of an array.
fn float_of(w: &mut Writer<'_>, atom: &Atom) -> TypeId {
    let ty = w.type_of(atom);
    match w.array(ty) {
        Some((_, elem)) => elem,
        None => ty,
    }
}

fn zero_of(w: &mut Writer<'_>, t: &Atom) -> Atom {
    let ty = float_of(w, t);
    w.float(ty, 0.0)
}

/// A cotangent that crossed a conversion between binary64 and binary32.
fn convert(w: &mut Writer<'_>, atom: Atom, to: TypeId) -> Atom {
    if float_of(w, &atom) == to {
        return atom;
    }
    let prim = if matches!(w.ty(to), Type::F32) { Prim::ToFloat32 } else { Prim::ToFloat };
    w.prim(prim, vec![atom])
}

fn emit_term(w: &mut Writer<'_>, term: &Term, args: &[Atom], result: &Atom, float: TypeId) -> Atom {
    match term {
        Term::Arg(i) => args[*i].clone(),
        Term::Result => result.clone(),
        Term::Const(c) => w.float(float, *c),
        Term::Int(i) => Atom::Lit(Lit::I64(*i)),
        Term::Op(prim, parts) => {
            let parts = parts.iter().map(|p| emit_term(w, p, args, result, float)).collect();
            w.prim(*prim, parts)
        }
    }
}

/// The sum of all elements of an array of floats.
pub(crate) fn sum_all(w: &mut Writer<'_>, array: Atom) -> Atom {
    let elem = float_of(w, &array);
    w.emit(Op::Reduce(cotan_ir::ReduceOp::Sum, array), elem)
}
