//! The partial derivatives of the primitives.
//!
//! In: a primitive and the position of an operand. Out: the slope in that operand, as a formula over primitives. Since every
//! primitive has an entry, a formula can be differentiated again, to any order. Formulas are written so that no step on the way
//! overflows or cancels where the slope itself does not, and so that higher derivatives keep the values promised at the edges.

use crate::{Prim, PrimError, Scalar, ScalarType};
use std::f64::consts;

/// The slope of a primitive in one of its operands.
#[derive(Clone, Debug, PartialEq)]
pub enum Partial {
    /// No dependence: integers, truth values, and what is constant between jumps.
    Zero,
    /// The slope is 1.
    One,
    /// The slope is -1.
    MinusOne,
    /// The slope is the value of a formula.
    Formula {
        /// The formula.
        term: Term,
        /// Whether it can be infinite or NaN at finite operands, so that a product with a zero cotangent needs [`Prim::AMul`].
        may_be_non_finite: bool,
    },
}

/// A formula over primitives.
#[derive(Clone, Debug, PartialEq)]
pub enum Term {
    /// The operand at a position.
    Arg(usize),
    /// The value of the primitive whose slope this is.
    Result,
    /// A number of the type of the operands `T`.
    Const(f64),
    /// An integer.
    Int(i64),
    /// An application.
    Op(Prim, Vec<Term>),
}

impl Term {
    /// The value of the formula, given the operands, the primitive's value, and the type of its operands `T`.
    ///
    /// # Errors
    /// Integer arithmetic on the exponent or order overflows.
    pub fn eval(&self, args: &[Scalar], result: Scalar, t: ScalarType) -> Result<Scalar, PrimError> {
        match self {
            Term::Arg(i) => Ok(args[*i]),
            Term::Result => Ok(result),
            Term::Const(c) => Ok(if t == ScalarType::F32 { Scalar::F32(*c as f32) } else { Scalar::F64(*c) }),
            Term::Int(i) => Ok(Scalar::I64(*i)),
            Term::Op(prim, parts) => {
                // No primitive has more than three operands.
                let mut values = [Scalar::Bool(false); 3];
                for (value, part) in values.iter_mut().zip(parts) {
                    *value = part.eval(args, result, t)?;
                }
                prim.eval(&values[..parts.len()])
            }
        }
    }
}

const X: Term = Term::Arg(0);
const Y: Term = Term::Arg(1);
const R: Term = Term::Result;

fn num(c: f64) -> Term {
    Term::Const(c)
}

fn op1(prim: Prim, x: Term) -> Term {
    Term::Op(prim, vec![x])
}

fn op2(prim: Prim, x: Term, y: Term) -> Term {
    Term::Op(prim, vec![x, y])
}

fn mul(x: Term, y: Term) -> Term {
    op2(Prim::Mul, x, y)
}

fn div(x: Term, y: Term) -> Term {
    op2(Prim::Div, x, y)
}

fn neg(x: Term) -> Term {
    op1(Prim::Neg, x)
}

fn select(condition: Term, yes: Term, no: Term) -> Term {
    Term::Op(Prim::Select, vec![condition, yes, no])
}

/// A slope that is finite whatever the operands are, infinities included.
fn bounded(term: Term) -> Partial {
    Partial::Formula { term, may_be_non_finite: false }
}

/// A slope that has poles or overflows, or is infinite or NaN where an operand is.
fn unbounded(term: Term) -> Partial {
    Partial::Formula { term, may_be_non_finite: true }
}

/// `term`, but 0 where the length `length` is 0.
fn unless_origin(length: Term, term: Term) -> Term {
    select(op2(Prim::Eq, length, num(0.0)), num(0.0), term)
}

/// `c / sqrt((1 - x) * (1 + x))`: the factors lose nothing near the ends, as `1 - x * x` would.
fn over_circle(c: f64) -> Term {
    div(num(c), op1(Prim::Sqrt, unit_gap()))
}

fn unit_gap() -> Term {
    mul(op2(Prim::Sub, num(1.0), X), op2(Prim::Add, num(1.0), X))
}

/// The bell curve `c * exp(-x * x)`.
fn bell(c: f64) -> Term {
    mul(num(c), op1(Prim::Exp, neg(mul(X, X))))
}

/// 1 where `first` is the chosen one, 0 where `second` is, a half at ties (and for NaN).
fn share(first: Term, order: Prim, second: Term) -> Term {
    select(op2(order, first.clone(), second.clone()), num(1.0), select(op2(order, second, first), num(0.0), num(0.5)))
}

/// `y * x ** (y - 1)`. At `x = y = 0` the exponent is replaced: the factor `y` is 0 there, and the second factor must not bring an
/// infinity, in this formula nor in its derivatives.
fn pow_in_base() -> Term {
    let is_zero = |t| op2(Prim::Eq, t, num(0.0));
    let exponent = select(op2(Prim::And, is_zero(X), is_zero(Y)), num(1.0), op2(Prim::Sub, Y, num(1.0)));
    op2(Prim::AMul, Y, op2(Prim::Pow, X, exponent))
}

/// `x ** y * log(x)` where `x` is positive. The logarithm is taken of 1 elsewhere, so that what is not chosen stays finite.
fn pow_in_exponent() -> Term {
    let outside = op2(Prim::Le, X, num(0.0));
    let positive = select(outside.clone(), num(1.0), X);
    select(outside, num(0.0), mul(R, op1(Prim::Log, positive)))
}

/// `y * x ** (y - 1)` for integer `y`; `x ** 0` has a constant slope rather than `0 * x ** -1`.
fn powi_in_base() -> Term {
    let exponent = select(op2(Prim::Eq, Y, Term::Int(0)), Term::Int(0), op2(Prim::Sub, Y, Term::Int(1)));
    op2(Prim::IMul, Y, op2(Prim::PowI, X, exponent))
}

impl Prim {
    /// The slope in the operand at position `arg`.
    ///
    /// [`Prim::ToFloat`] and [`Prim::ToFloat32`] answer 1, which is meant for floats: an integer has no tangent to multiply.
    ///
    /// # Panics
    /// There is no such operand.
    pub fn partial(self, arg: usize) -> Partial {
        assert!(arg < self.args().len(), "{} has no operand {arg}", self.name());
        let first = arg == 0;
        match self {
            Prim::Add => Partial::One,
            Prim::Sub => {
                if first {
                    Partial::One
                } else {
                    Partial::MinusOne
                }
            }
            Prim::Neg => Partial::MinusOne,
            Prim::Mul => unbounded(if first { Y } else { X }),
            // A product that annihilates is there because a factor may be infinite.
            Prim::AMul => unbounded(if first { Y } else { X }),
            Prim::Div => unbounded(if first { div(num(1.0), Y) } else { neg(div(R, Y)) }),
            Prim::Rem => {
                if first {
                    Partial::One
                } else {
                    // Minus the quotient, from the rest: x / y may round up to the next whole number.
                    unbounded(op1(Prim::Round, div(op2(Prim::Sub, R, X), Y)))
                }
            }
            Prim::Pow => unbounded(if first { pow_in_base() } else { pow_in_exponent() }),
            Prim::PowI => {
                if first {
                    unbounded(powi_in_base())
                } else {
                    Partial::Zero
                }
            }
            Prim::IMul => {
                if first {
                    Partial::Zero
                } else {
                    bounded(op2(Prim::IMul, X, num(1.0)))
                }
            }
            Prim::Abs => bounded(op1(Prim::Sign, X)),
            Prim::Max => bounded(if first { share(X, Prim::Gt, Y) } else { share(Y, Prim::Gt, X) }),
            Prim::Min => bounded(if first { share(X, Prim::Lt, Y) } else { share(Y, Prim::Lt, X) }),
            Prim::Sqrt => unbounded(div(num(0.5), R)),
            Prim::Cbrt => unbounded(div(div(num(1.0 / 3.0), R), R)),
            Prim::Exp => unbounded(R),
            Prim::Exp2 => unbounded(mul(num(consts::LN_2), R)),
            Prim::Expm1 => unbounded(op1(Prim::Exp, X)),
            Prim::Log => unbounded(div(num(1.0), X)),
            Prim::Log2 => unbounded(div(num(consts::LOG2_E), X)),
            Prim::Log10 => unbounded(div(num(consts::LOG10_E), X)),
            Prim::Log1p => unbounded(div(num(1.0), op2(Prim::Add, num(1.0), X))),
            Prim::Sin => unbounded(op1(Prim::Cos, X)),
            Prim::Cos => unbounded(neg(op1(Prim::Sin, X))),
            Prim::Tan => unbounded(op2(Prim::Add, num(1.0), mul(R, R))),
            Prim::Asin => unbounded(over_circle(1.0)),
            Prim::Acos => unbounded(over_circle(-1.0)),
            Prim::Atan => unbounded(div(num(1.0), op2(Prim::Add, num(1.0), mul(X, X)))),
            Prim::Sinh => unbounded(op1(Prim::Cosh, X)),
            Prim::Cosh => unbounded(op1(Prim::Sinh, X)),
            // 1 - tanh(x)**2 would cancel in both tails, 1 / cosh(x)**2 brings an infinity into higher derivatives.
            Prim::Tanh => {
                let twice = |c| op1(Prim::Sigmoid, mul(num(c), X));
                unbounded(mul(num(4.0), mul(twice(2.0), twice(-2.0))))
            }
            Prim::Asinh => unbounded(div(num(1.0), op2(Prim::Hypot, num(1.0), X))),
            Prim::Acosh => {
                let below = op1(Prim::Sqrt, op2(Prim::Sub, X, num(1.0)));
                let above = op1(Prim::Sqrt, op2(Prim::Add, X, num(1.0)));
                // Quotients, unlike a product, annihilate also where a root is NaN.
                unbounded(div(div(num(1.0), below), above))
            }
            Prim::Atanh => unbounded(div(num(1.0), unit_gap())),
            Prim::Erf => unbounded(bell(consts::FRAC_2_SQRT_PI)),
            Prim::Erfc => unbounded(bell(-consts::FRAC_2_SQRT_PI)),
            Prim::Lgamma => unbounded(op1(Prim::Digamma, X)),
            Prim::Digamma => unbounded(op2(Prim::Polygamma, Term::Int(1), X)),
            Prim::Polygamma => {
                if first {
                    Partial::Zero
                } else {
                    unbounded(op2(Prim::Polygamma, op2(Prim::Add, X, Term::Int(1)), Y))
                }
            }
            // 1 - sigmoid(x) would cancel in the right tail.
            Prim::Sigmoid => unbounded(mul(R, op1(Prim::Sigmoid, neg(X)))),
            Prim::Softplus => unbounded(op1(Prim::Sigmoid, X)),
            Prim::Atan2 => {
                let length = op2(Prim::Hypot, X, Y);
                let over = |t| unless_origin(length.clone(), div(div(t, length.clone()), length.clone()));
                unbounded(if first { over(Y) } else { over(neg(X)) })
            }
            Prim::Hypot => unbounded(unless_origin(R, div(if first { X } else { Y }, R))),
            Prim::Select => match arg {
                0 => Partial::Zero,
                1 => unbounded(select(X, num(1.0), num(0.0))),
                _ => unbounded(select(X, num(0.0), num(1.0))),
            },
            Prim::ToFloat | Prim::ToFloat32 => Partial::One,
            Prim::Sign | Prim::Floor | Prim::Ceil | Prim::Round | Prim::Trunc | Prim::ToInt => Partial::Zero,
            Prim::Eq | Prim::Ne | Prim::Lt | Prim::Le | Prim::Gt | Prim::Ge => Partial::Zero,
            Prim::And | Prim::Or | Prim::Not | Prim::IsNan | Prim::IsFinite => Partial::Zero,
        }
    }
}
