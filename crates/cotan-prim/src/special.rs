//! The digamma and polygamma functions.
//!
//! In: a float, and the order of the derivative. Out: the value to about fifteen digits of the largest term. Positive arguments
//! are moved up to where the asymptotic series converges, negative ones are reflected at 1/2.

use std::f64::consts::PI;

/// The Bernoulli numbers B2, B4, ..., B24.
const BERNOULLI: [f64; 12] = [
    1.0 / 6.0,
    -1.0 / 30.0,
    1.0 / 42.0,
    -1.0 / 30.0,
    5.0 / 66.0,
    -691.0 / 2730.0,
    7.0 / 6.0,
    -3617.0 / 510.0,
    43867.0 / 798.0,
    -174_611.0 / 330.0,
    854_513.0 / 138.0,
    -236_364_091.0 / 2730.0,
];

/// The logarithmic derivative of the gamma function.
pub(crate) fn digamma(x: f64) -> f64 {
    if x == 0.0 {
        return -1.0 / x;
    }
    if x < 0.0 {
        let rest = x - x.round_ties_even();
        // Poles; minus infinity is one as well.
        if rest == 0.0 || rest.is_nan() {
            return f64::NAN;
        }
        return digamma_positive(1.0 - x) - PI / libm::tan(PI * rest);
    }
    digamma_positive(x)
}

fn digamma_positive(x: f64) -> f64 {
    if x == f64::INFINITY {
        return x;
    }
    let mut x = x;
    let mut below = 0.0;
    while x < 12.0 {
        below += 1.0 / x;
        x += 1.0;
    }
    let square = 1.0 / (x * x);
    let mut power = 1.0;
    let mut series = 0.0;
    for (j, b) in BERNOULLI.iter().enumerate() {
        power *= square;
        series += b / (2.0 * (j as f64 + 1.0)) * power;
    }
    libm::log(x) - 0.5 / x - series - below
}

/// The derivative of order `n` of [`digamma`]; NaN for negative `n`.
pub(crate) fn polygamma(n: i64, x: f64) -> f64 {
    if n < 0 || x.is_nan() || x == f64::NEG_INFINITY {
        return f64::NAN;
    }
    if n == 0 {
        return digamma(x);
    }
    if x == f64::INFINITY {
        return 0.0;
    }
    let odd = n % 2 == 1;
    if x > 0.0 {
        let value = factorial_over_power(n, x) * hurwitz_ratio(n, x);
        return if odd { value } else { -value };
    }
    let rest = x - x.round_ties_even();
    if rest == 0.0 {
        return match (odd, x == 0.0) {
            (true, _) => f64::INFINITY,
            (false, true) => f64::NEG_INFINITY.copysign(-1.0 / x),
            // The two sides of the pole differ in sign.
            (false, false) => f64::NAN,
        };
    }
    if n <= 20 {
        let reflected = polygamma(n, 1.0 - x);
        return if odd { -reflected } else { reflected } - cotangent_derivative(n, rest);
    }
    near_poles(n, x, rest)
}

/// `n! / x ** (n + 1)`, without the overflow of either part.
fn factorial_over_power(n: i64, x: f64) -> f64 {
    if n > 1000 {
        let n = n as f64;
        return libm::exp(libm::lgamma(n + 1.0) - (n + 1.0) * libm::log(x.abs()));
    }
    (1..=n).fold(1.0 / x.abs(), |value, k| value * (k as f64 / x.abs()))
}

/// `zeta(n + 1, x) * x ** (n + 1)` for positive `x`, by the formula of Euler and Maclaurin.
fn hurwitz_ratio(n: i64, x: f64) -> f64 {
    let s = n as f64 + 1.0;
    let mut sum = 0.0;
    let mut at = x;
    // The series needs a start above the order. For large orders the terms vanish long before.
    while at < s + 12.0 {
        let term = libm::pow(x / at, s);
        sum += term;
        if term < 1e-18 * sum {
            return sum;
        }
        at += 1.0;
    }
    let power = libm::pow(x / at, s);
    sum += power * (at / (s - 1.0) + 0.5);
    // rising is s (s + 1) ... (s + 2 j - 2) / (2 j)! / at ** (2 j - 1)
    let mut rising = s / (2.0 * at);
    for (j, b) in BERNOULLI.iter().enumerate() {
        sum += power * b * rising;
        let k = 2.0 * (j as f64 + 1.0);
        rising *= (s + k - 1.0) / (k + 1.0) * ((s + k) / (k + 2.0)) / (at * at);
    }
    sum
}

/// The derivative of order `n` of `pi * cot(pi * x)`, as a polynomial in the cotangent.
fn cotangent_derivative(n: i64, x: f64) -> f64 {
    let c = 1.0 / libm::tan(PI * x);
    let mut coefficients = vec![0.0, 1.0];
    let mut scale = PI;
    for _ in 0..n {
        // d/dx p(cot(pi x)) = -pi (1 + cot**2) p'(cot)
        let mut next = vec![0.0; coefficients.len() + 1];
        for (k, a) in coefficients.iter().enumerate().skip(1) {
            let slope = -a * k as f64;
            next[k - 1] += slope;
            next[k + 1] += slope;
        }
        coefficients = next;
        scale *= PI;
    }
    scale * coefficients.iter().rev().fold(0.0, |value, a| value * c + a)
}

/// The value at negative `x` for large orders, where only the poles close by count; `rest` is the way to the nearest.
fn near_poles(n: i64, x: f64, rest: f64) -> f64 {
    let s = n as f64 + 1.0;
    let nearest = x.round_ties_even();
    let mut sum = 0.0;
    for j in -8i32..=8 {
        let step = f64::from(j);
        if step < nearest {
            // The poles end at 0.
            continue;
        }
        let ratio = rest / (rest + step);
        let term = libm::pow(ratio.abs(), s);
        sum += if ratio < 0.0 && n % 2 == 0 { -term } else { term };
    }
    // The sign is that of (-1) ** (n + 1) / rest ** (n + 1).
    let value = factorial_over_power(n, rest) * sum;
    if n % 2 == 1 || rest < 0.0 { value } else { -value }
}
