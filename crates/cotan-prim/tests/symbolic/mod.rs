//! Derivatives of formulas as formulas, in both modes.
//!
//! In: a primitive and the operands to differentiate in, one after the other. Out: a formula of its higher derivative, built from
//! nothing but `Prim::partial`, in the way the compiler does it: products with slopes that may not be finite annihilate.

use cotan_prim::{Partial, Prim, Scalar, ScalarType, Term};

/// In which order products are built.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Mode {
    Forward,
    Reverse,
}

/// The value of the derivative of `prim` in the operands `wrt`; the outermost derivative is multiplied by `seed`.
pub fn derivative(mode: Mode, prim: Prim, wrt: &[usize], args: &[Scalar], seed: f64) -> f64 {
    let term = wrt.iter().enumerate().fold(Term::Result, |term, (order, &arg)| {
        let seed = Term::Const(if order + 1 == wrt.len() { seed } else { 1.0 });
        match mode {
            Mode::Forward => tangent(prim, &term, arg, &seed).unwrap_or(Term::Const(0.0)),
            Mode::Reverse => {
                let mut parts = Vec::new();
                cotangent(prim, &term, arg, seed, &mut parts);
                parts.into_iter().reduce(add).unwrap_or(Term::Const(0.0))
            }
        }
    });
    value(&term, prim, args)
}

/// The value of a formula that belongs to `prim`.
pub fn value(term: &Term, prim: Prim, args: &[Scalar]) -> f64 {
    let result = prim.eval(args).expect("the operands are in range");
    match term.eval(args, result, ScalarType::F64).expect("the operands are in range") {
        Scalar::F64(x) => x,
        other => panic!("a slope of type {:?}", other.ty()),
    }
}

fn add(x: Term, y: Term) -> Term {
    Term::Op(Prim::Add, vec![x, y])
}

fn tangent(prim: Prim, term: &Term, wrt: usize, seed: &Term) -> Option<Term> {
    match term {
        Term::Arg(i) => (*i == wrt).then(|| seed.clone()),
        Term::Const(_) | Term::Int(_) => None,
        Term::Result => {
            let args: Vec<_> = (0..prim.args().len()).map(Term::Arg).collect();
            times(seed.clone(), prim, wrt, &args, &Term::Result)
        }
        Term::Op(op, parts) => parts
            .iter()
            .enumerate()
            .filter_map(|(k, part)| times(tangent(prim, part, wrt, seed)?, *op, k, parts, term))
            .reduce(add),
    }
}

fn cotangent(prim: Prim, term: &Term, wrt: usize, bar: Term, out: &mut Vec<Term>) {
    match term {
        Term::Arg(i) if *i == wrt => out.push(bar),
        Term::Arg(_) | Term::Const(_) | Term::Int(_) => {}
        Term::Result => {
            let args: Vec<_> = (0..prim.args().len()).map(Term::Arg).collect();
            out.extend(times(bar, prim, wrt, &args, &Term::Result));
        }
        Term::Op(op, parts) => {
            for (k, part) in parts.iter().enumerate() {
                if let Some(bar) = times(bar.clone(), *op, k, parts, term) {
                    cotangent(prim, part, wrt, bar, out);
                }
            }
        }
    }
}

/// `t` times the slope of `prim` in its operand `arg`.
fn times(t: Term, prim: Prim, arg: usize, args: &[Term], result: &Term) -> Option<Term> {
    if prim == Prim::Select {
        let zero = Term::Const(0.0);
        return match arg {
            1 => Some(Term::Op(prim, vec![args[0].clone(), t, zero])),
            2 => Some(Term::Op(prim, vec![args[0].clone(), zero, t])),
            _ => None,
        };
    }
    Some(match prim.partial(arg) {
        Partial::Zero => return None,
        Partial::One => t,
        Partial::MinusOne => Term::Op(Prim::Neg, vec![t]),
        Partial::Formula { term, may_be_non_finite } => {
            let product = if may_be_non_finite { Prim::AMul } else { Prim::Mul };
            Term::Op(product, vec![t, substitute(&term, args, result)])
        }
    })
}

fn substitute(term: &Term, args: &[Term], result: &Term) -> Term {
    match term {
        Term::Arg(i) => args[*i].clone(),
        Term::Result => result.clone(),
        Term::Const(_) | Term::Int(_) => term.clone(),
        Term::Op(prim, parts) => Term::Op(*prim, parts.iter().map(|p| substitute(p, args, result)).collect()),
    }
}
