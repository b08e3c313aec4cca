//! The values of the primitives.
//!
//! In: a primitive and its operands. Out: its value, or why there is none. Elementary functions come from `libm`, so that they
//! have the same bits on every machine. A `Float32` is computed in binary64 and rounded once, which for `+ - * /` and the square
//! root is the correctly rounded result.

use crate::special;
use crate::{Prim, PrimError, Scalar};

impl Prim {
    /// The value at `args`.
    ///
    /// # Errors
    /// Integer arithmetic out of range, and the conversion of a float that is no integer's neighbour.
    ///
    /// # Panics
    /// The operands are not of the kinds that [`Prim::args`] and [`Prim::class`] demand; the compiler never lets that happen.
    #[inline]
    pub fn eval(self, args: &[Scalar]) -> Result<Scalar, PrimError> {
        match *args {
            [Scalar::F64(x)] => {
                if let Some(value) = self.eval1_f64(x) {
                    return Ok(Scalar::F64(value));
                }
            }
            [Scalar::F64(x), Scalar::F64(y)] => {
                if let Some(value) = self.eval2_f64(x, y) {
                    return Ok(Scalar::F64(value));
                }
            }
            [Scalar::F32(x)] => {
                if let Some(value) = self.eval1_f64(f64::from(x)) {
                    return Ok(Scalar::F32(value as f32));
                }
            }
            [Scalar::F32(x), Scalar::F32(y)] => {
                if let Some(value) = self.eval2_f64(f64::from(x), f64::from(y)) {
                    return Ok(Scalar::F32(value as f32));
                }
            }
            _ => {}
        }
        self.eval_mixed(args)
    }

    /// The value of a primitive from one float to a float; `None` for every other primitive.
    #[inline]
    pub fn eval1_f64(self, x: f64) -> Option<f64> {
        Some(match self {
            Prim::Neg => -x,
            Prim::Abs => x.abs(),
            Prim::Sign => sign(x),
            Prim::Sqrt => x.sqrt(),
            Prim::Cbrt => libm::cbrt(x),
            Prim::Exp => libm::exp(x),
            Prim::Exp2 => libm::exp2(x),
            Prim::Expm1 => libm::expm1(x),
            Prim::Log => libm::log(x),
            Prim::Log2 => libm::log2(x),
            Prim::Log10 => libm::log10(x),
            Prim::Log1p => libm::log1p(x),
            Prim::Sin => libm::sin(x),
            Prim::Cos => libm::cos(x),
            Prim::Tan => libm::tan(x),
            Prim::Asin => libm::asin(x),
            Prim::Acos => libm::acos(x),
            Prim::Atan => libm::atan(x),
            Prim::Sinh => libm::sinh(x),
            Prim::Cosh => libm::cosh(x),
            Prim::Tanh => libm::tanh(x),
            Prim::Asinh => libm::asinh(x),
            Prim::Acosh => libm::acosh(x),
            Prim::Atanh => libm::atanh(x),
            Prim::Erf => libm::erf(x),
            Prim::Erfc => libm::erfc(x),
            Prim::Lgamma => libm::lgamma(x),
            Prim::Digamma => special::digamma(x),
            Prim::Sigmoid => sigmoid(x),
            Prim::Softplus => softplus(x),
            Prim::Floor => x.floor(),
            Prim::Ceil => x.ceil(),
            Prim::Round => x.round_ties_even(),
            Prim::Trunc => x.trunc(),
            _ => return None,
        })
    }

    /// The value of a primitive from two floats to a float; `None` for every other primitive.
    #[inline]
    pub fn eval2_f64(self, x: f64, y: f64) -> Option<f64> {
        Some(match self {
            Prim::Add => x + y,
            Prim::Sub => x - y,
            Prim::Mul => x * y,
            Prim::Div => x / y,
            Prim::Rem => x % y,
            Prim::AMul => {
                if x == 0.0 {
                    0.0
                } else {
                    x * y
                }
            }
            Prim::Pow => libm::pow(x, y),
            Prim::Max => max(x, y),
            Prim::Min => -max(-x, -y),
            Prim::Atan2 => libm::atan2(x, y),
            Prim::Hypot => hypot(x, y),
            _ => return None,
        })
    }

    /// Everything that is not from floats to a float of the same type.
    fn eval_mixed(self, args: &[Scalar]) -> Result<Scalar, PrimError> {
        use Scalar::{Bool, F32, F64, I64};
        Ok(match (self, args) {
            (Prim::PowI, &[F64(x), I64(n)]) => F64(powi(x, n)),
            (Prim::PowI, &[F32(x), I64(n)]) => F32(powi(f64::from(x), n) as f32),
            (Prim::IMul, &[I64(n), F64(x)]) => F64(n as f64 * x),
            (Prim::IMul, &[I64(n), F32(x)]) => F32((n as f64 * f64::from(x)) as f32),
            (Prim::Polygamma, &[I64(n), F64(x)]) => F64(special::polygamma(n, x)),
            (Prim::Polygamma, &[I64(n), F32(x)]) => F32(special::polygamma(n, f64::from(x)) as f32),
            (Prim::Select, &[Bool(c), yes, no]) if yes.ty() == no.ty() => {
                if c {
                    yes
                } else {
                    no
                }
            }
            (Prim::And, &[Bool(x), Bool(y)]) => Bool(x && y),
            (Prim::Or, &[Bool(x), Bool(y)]) => Bool(x || y),
            (Prim::Not, &[Bool(x)]) => Bool(!x),
            (Prim::IsNan, &[F64(x)]) => Bool(x.is_nan()),
            (Prim::IsNan, &[F32(x)]) => Bool(x.is_nan()),
            (Prim::IsFinite, &[F64(x)]) => Bool(x.is_finite()),
            (Prim::IsFinite, &[F32(x)]) => Bool(x.is_finite()),
            (Prim::ToFloat, &[F64(x)]) => F64(x),
            (Prim::ToFloat, &[F32(x)]) => F64(f64::from(x)),
            (Prim::ToFloat, &[I64(x)]) => F64(x as f64),
            (Prim::ToFloat32, &[F64(x)]) => F32(x as f32),
            (Prim::ToFloat32, &[F32(x)]) => F32(x),
            (Prim::ToFloat32, &[I64(x)]) => F32(x as f32),
            (Prim::ToInt, &[F64(x)]) => I64(to_int(x)?),
            (Prim::ToInt, &[F32(x)]) => I64(to_int(f64::from(x))?),
            (Prim::ToInt, &[I64(x)]) => I64(x),
            (_, &[F64(x), F64(y)]) => Bool(self.compare(&x, &y).unwrap_or_else(|| self.mistyped(args))),
            (_, &[F32(x), F32(y)]) => Bool(self.compare(&x, &y).unwrap_or_else(|| self.mistyped(args))),
            (Prim::Eq, &[Bool(x), Bool(y)]) => Bool(x == y),
            (Prim::Ne, &[Bool(x), Bool(y)]) => Bool(x != y),
            (_, &[I64(x)]) => I64(self.eval1_i64(x).unwrap_or_else(|| self.mistyped(args))?),
            (_, &[I64(x), I64(y)]) => match self.compare(&x, &y) {
                Some(holds) => Bool(holds),
                None => I64(self.eval2_i64(x, y).unwrap_or_else(|| self.mistyped(args))?),
            },
            _ => self.mistyped(args),
        })
    }

    fn compare<V: PartialOrd>(self, x: &V, y: &V) -> Option<bool> {
        Some(match self {
            Prim::Eq => x == y,
            Prim::Ne => x != y,
            Prim::Lt => x < y,
            Prim::Le => x <= y,
            Prim::Gt => x > y,
            Prim::Ge => x >= y,
            _ => return None,
        })
    }

    fn eval1_i64(self, x: i64) -> Option<Result<i64, PrimError>> {
        Some(match self {
            Prim::Neg => x.checked_neg().ok_or(PrimError::Overflow),
            Prim::Abs => x.checked_abs().ok_or(PrimError::Overflow),
            Prim::Sign => Ok(x.signum()),
            _ => return None,
        })
    }

    fn eval2_i64(self, x: i64, y: i64) -> Option<Result<i64, PrimError>> {
        let divided = |value: Option<i64>| {
            if y == 0 { Err(PrimError::DivisionByZero) } else { value.ok_or(PrimError::Overflow) }
        };
        Some(match self {
            Prim::Add => x.checked_add(y).ok_or(PrimError::Overflow),
            Prim::Sub => x.checked_sub(y).ok_or(PrimError::Overflow),
            Prim::Mul => x.checked_mul(y).ok_or(PrimError::Overflow),
            Prim::Div => divided(x.checked_div(y)),
            Prim::Rem => divided(x.checked_rem(y)),
            Prim::PowI => powi_int(x, y),
            Prim::Max => Ok(x.max(y)),
            Prim::Min => Ok(x.min(y)),
            _ => return None,
        })
    }

    /// A caller's mistake, not a user's: programs are typed before they are evaluated.
    #[cold]
    fn mistyped(self, args: &[Scalar]) -> ! {
        panic!("primitive `{}` applied to {args:?}", self.name())
    }
}

fn sign(x: f64) -> f64 {
    if x > 0.0 {
        1.0
    } else if x < 0.0 {
        -1.0
    } else {
        // A zero keeps its sign, NaN stays.
        x
    }
}

/// The larger number; NaN if one is, and the positive one of two zeros.
fn max(x: f64, y: f64) -> f64 {
    if x > y || (x == y && x.is_sign_positive()) || x.is_nan() { x } else { y }
}

fn sigmoid(x: f64) -> f64 {
    // Of the two forms, the one whose exponential cannot overflow.
    if x < 0.0 {
        let e = libm::exp(x);
        e / (1.0 + e)
    } else {
        1.0 / (1.0 + libm::exp(-x))
    }
}

fn softplus(x: f64) -> f64 {
    if x > 0.0 { x + libm::log1p(libm::exp(-x)) } else { libm::log1p(libm::exp(x)) }
}

fn hypot(x: f64, y: f64) -> f64 {
    // NaN wins over infinity here, as everywhere in the table.
    if x.is_nan() || y.is_nan() { f64::NAN } else { libm::hypot(x, y) }
}

/// Small powers are products, so that `x ** 2` is `x * x` to the last bit; large ones would gather rounding errors.
fn powi(x: f64, n: i64) -> f64 {
    let size = n.unsigned_abs();
    if size > 8 {
        let value = libm::pow(x.abs(), n as f64);
        return if x.is_sign_negative() && size % 2 == 1 { -value } else { value };
    }
    let x2 = x * x;
    let value = match size {
        0 => 1.0,
        1 => x,
        2 => x2,
        3 => x2 * x,
        4 => x2 * x2,
        5 => x2 * x2 * x,
        6 => x2 * x2 * x2,
        7 => x2 * x2 * x2 * x,
        _ => (x2 * x2) * (x2 * x2),
    };
    if n < 0 { 1.0 / value } else { value }
}

fn powi_int(x: i64, n: i64) -> Result<i64, PrimError> {
    if n < 0 {
        return Err(PrimError::NegativeExponent);
    }
    match (x, u32::try_from(n)) {
        (_, Ok(n)) => x.checked_pow(n).ok_or(PrimError::Overflow),
        (0 | 1, Err(_)) => Ok(x),
        (-1, Err(_)) => Ok(if n % 2 == 0 { 1 } else { -1 }),
        (_, Err(_)) => Err(PrimError::Overflow),
    }
}

fn to_int(x: f64) -> Result<i64, PrimError> {
    // 2**63 is the first float that is too large; NaN is in no range.
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    if (-LIMIT..LIMIT).contains(&x) { Ok(x as i64) } else { Err(PrimError::NotAnInteger) }
}
