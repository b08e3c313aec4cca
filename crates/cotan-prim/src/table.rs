//! The table itself: one row for each primitive.
//!
//! In: nothing. Out: the type [`Prim`] with names, operand kinds, result kinds, classes, meanings and what holds at the edges.
//! A primitive that is not in the table does not exist; one that is has all of these.

use crate::{ArgKind, Class, ResultKind, ScalarType};

macro_rules! primitives {
    ($($prim:ident $name:literal ($($arg:ident),+) -> $result:ident, $class:ident, $meaning:literal, $edges:literal;)+) => {
        /// A scalar operation.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Prim {
            $(#[doc = $meaning] $prim,)+
        }

        impl Prim {
            /// Every primitive, in the order of the table.
            pub const ALL: &[Prim] = &[$(Prim::$prim,)+];

            /// The name: that of the builtin in the prelude where there is one.
            pub fn name(self) -> &'static str {
                match self { $(Prim::$prim => $name,)+ }
            }

            /// The primitive of a name.
            pub fn from_name(name: &str) -> Option<Prim> {
                match name { $($name => Some(Prim::$prim),)+ _ => None }
            }

            /// What the operands are.
            pub fn args(self) -> &'static [ArgKind] {
                match self { $(Prim::$prim => &[$(ArgKind::$arg),+],)+ }
            }

            /// What the result is.
            pub fn result(self) -> ResultKind {
                match self { $(Prim::$prim => ResultKind::$result,)+ }
            }

            /// Which types the operands `T` may have.
            pub fn class(self) -> Class {
                match self { $(Prim::$prim => Class::$class,)+ }
            }

            /// The value in words, in terms of the operands `x`, `y`, `z`.
            pub fn meaning(self) -> &'static str {
                match self { $(Prim::$prim => $meaning,)+ }
            }

            /// What value and slope are at kinks, poles and ends; empty where there are none.
            pub fn edges(self) -> &'static str {
                match self { $(Prim::$prim => $edges,)+ }
            }
        }
    };
}

primitives! {
    Add "add" (T, T) -> T, Num, "`x + y`", "";
    Sub "sub" (T, T) -> T, Num, "`x - y`", "";
    Mul "mul" (T, T) -> T, Num, "`x * y`", "";
    Div "div" (T, T) -> T, Num, "`x / y`; truncated for integers", "`y = 0`: infinite or NaN, as the value is";
    Rem "rem" (T, T) -> T, Num, "`x % y`: the rest of the truncated division, with the sign of `x`", "at the jumps: the slopes of the side that the value belongs to";
    Neg "neg" (T) -> T, Num, "`-x`", "";
    Pow "pow" (T, T) -> T, Real, "`x ** y` with a float exponent", "in `x` at 0: 0 for `y = 0`, 1 for `y = 1`, and so on for all orders; in `y`: 0 where `x <= 0`";
    PowI "powi" (T, Int) -> T, Num, "`x ** y` with an integer exponent", "`x ** 0` is 1 with slope 0 and `x ** 1` has slope 1, also at 0";
    IMul "imul" (Int, T) -> T, Real, "the integer `x` times the float `y`", "";
    AMul "amul" (T, T) -> T, Real, "`x * y`, but 0 where `x` is 0, whatever `y` is", "linear in `x` and `y` also at 0";
    Abs "abs" (T) -> T, Num, "the distance of `x` from 0", "0: slope 0";
    Sign "sign" (T) -> T, Num, "-1, 0 or 1", "slope 0, also at the jump";
    Max "max" (T, T) -> T, Num, "the larger of `x` and `y`; NaN if one is", "ties: half to each";
    Min "min" (T, T) -> T, Num, "the smaller of `x` and `y`; NaN if one is", "ties: half to each";
    Sqrt "sqrt" (T) -> T, Real, "the square root", "0: slope infinity";
    Cbrt "cbrt" (T) -> T, Real, "the cube root", "0: slope infinity";
    Exp "exp" (T) -> T, Real, "e to the power `x`", "";
    Exp2 "exp2" (T) -> T, Real, "2 to the power `x`", "";
    Expm1 "expm1" (T) -> T, Real, "`exp(x) - 1` without cancellation", "";
    Log "log" (T) -> T, Real, "the natural logarithm", "0: slope infinity";
    Log2 "log2" (T) -> T, Real, "the logarithm to base 2", "0: slope infinity";
    Log10 "log10" (T) -> T, Real, "the logarithm to base 10", "0: slope infinity";
    Log1p "log1p" (T) -> T, Real, "`log(1 + x)` without cancellation", "-1: slope infinity";
    Sin "sin" (T) -> T, Real, "the sine", "";
    Cos "cos" (T) -> T, Real, "the cosine", "";
    Tan "tan" (T) -> T, Real, "the tangent", "";
    Asin "asin" (T) -> T, Real, "the inverse sine", "-1 and 1: slope infinity";
    Acos "acos" (T) -> T, Real, "the inverse cosine", "-1 and 1: slope minus infinity";
    Atan "atan" (T) -> T, Real, "the inverse tangent", "";
    Sinh "sinh" (T) -> T, Real, "the hyperbolic sine", "";
    Cosh "cosh" (T) -> T, Real, "the hyperbolic cosine", "";
    Tanh "tanh" (T) -> T, Real, "the hyperbolic tangent", "";
    Asinh "asinh" (T) -> T, Real, "the inverse hyperbolic sine", "";
    Acosh "acosh" (T) -> T, Real, "the inverse hyperbolic cosine", "1: slope infinity";
    Atanh "atanh" (T) -> T, Real, "the inverse hyperbolic tangent", "-1 and 1: slope infinity";
    Erf "erf" (T) -> T, Real, "the error function", "";
    Erfc "erfc" (T) -> T, Real, "`1 - erf(x)` without cancellation", "";
    Lgamma "lgamma" (T) -> T, Real, "the logarithm of the absolute value of the gamma function", "0, -1, -2, ...: poles, value infinity; slope minus infinity at 0, NaN at the others";
    Digamma "digamma" (T) -> T, Real, "the slope of `lgamma`", "0: minus infinity; -1, -2, ...: NaN";
    Polygamma "polygamma" (Int, T) -> T, Real, "the derivative of order `x` of `digamma` at `y`; NaN for a negative order", "0, -1, -2, ...: infinity for odd orders";
    Sigmoid "sigmoid" (T) -> T, Real, "the logistic function `1 / (1 + exp(-x))`", "";
    Softplus "softplus" (T) -> T, Real, "`log(1 + exp(x))` without overflow", "";
    Floor "floor" (T) -> T, Real, "rounded down", "slope 0, also at the jumps";
    Ceil "ceil" (T) -> T, Real, "rounded up", "slope 0, also at the jumps";
    Round "round" (T) -> T, Real, "rounded to the nearest whole number, half to even", "slope 0, also at the jumps";
    Trunc "trunc" (T) -> T, Real, "rounded towards 0", "slope 0, also at the jumps";
    Atan2 "atan2" (T, T) -> T, Real, "the angle of the point with ordinate `x` and abscissa `y`", "origin: slope 0; on the cut: that of the angle";
    Hypot "hypot" (T, T) -> T, Real, "the length of the vector `(x, y)`, without overflow on the way", "origin: slope 0";
    Eq "eq" (T, T) -> Bool, Any, "`x == y`", "";
    Ne "ne" (T, T) -> Bool, Any, "`x != y`", "";
    Lt "lt" (T, T) -> Bool, Num, "`x < y`", "";
    Le "le" (T, T) -> Bool, Num, "`x <= y`", "";
    Gt "gt" (T, T) -> Bool, Num, "`x > y`", "";
    Ge "ge" (T, T) -> Bool, Num, "`x >= y`", "";
    And "and" (Bool, Bool) -> Bool, Fixed, "`x && y` of two values", "";
    Or "or" (Bool, Bool) -> Bool, Fixed, "`x \\|\\| y` of two values", "";
    Not "not" (Bool) -> Bool, Fixed, "`!x`", "";
    Select "select" (Bool, T, T) -> T, Any, "`y` where `x` holds, else `z`", "";
    IsNan "is_nan" (T) -> Bool, Real, "whether `x` is NaN", "";
    IsFinite "is_finite" (T) -> Bool, Real, "whether `x` is neither NaN nor infinite", "";
    ToFloat "float" (T) -> F64, Num, "`x` as `Float`", "";
    ToFloat32 "float32" (T) -> F32, Num, "`x` rounded to `Float32`", "slope 1, that of what it rounds";
    ToInt "int" (T) -> Int, Num, "`x` truncated to an integer", "";
}

impl Prim {
    /// The type of the result where the operands `T` have type `t`.
    pub fn result_type(self, t: ScalarType) -> ScalarType {
        match self.result() {
            ResultKind::T => t,
            ResultKind::Int => ScalarType::I64,
            ResultKind::Bool => ScalarType::Bool,
            ResultKind::F64 => ScalarType::F64,
            ResultKind::F32 => ScalarType::F32,
        }
    }

    /// What one application counts in the cost model, where every operation counts the same.
    pub fn cost(self) -> u32 {
        1
    }
}
