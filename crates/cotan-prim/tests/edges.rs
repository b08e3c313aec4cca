//! The slopes at kinks, poles and in the tails.
//!
//! In: points where a formula could go wrong. Newly true: derivatives have the promised values there, to the order that is
//! promised and in both modes, and a masked point never poisons anything.

mod symbolic;

use cotan_prim::{Prim, Scalar};
use symbolic::{Mode, derivative};

const INF: f64 = f64::INFINITY;

fn floats(xs: &[f64]) -> Vec<Scalar> {
    xs.iter().map(|&x| Scalar::F64(x)).collect()
}

fn check(prim: Prim, args: &[Scalar], wrt: &[usize], expected: f64) {
    for mode in [Mode::Forward, Mode::Reverse] {
        let found = derivative(mode, prim, wrt, args, 1.0);
        let close = (found - expected).abs() <= 4e-15 * expected.abs() || found == expected;
        assert!(close, "{prim:?} {mode:?} in {wrt:?} at {args:?}: {found:e}, not {expected:e}");
    }
}

#[test]
fn kinks_of_one_operand() {
    for (prim, x, wrt, expected) in [
        (Prim::Abs, 0.0, 1, 0.0),
        (Prim::Abs, -0.0, 1, 0.0),
        (Prim::Abs, 0.0, 2, 0.0),
        (Prim::Sign, 0.0, 1, 0.0),
        (Prim::Floor, 1.0, 1, 0.0),
        (Prim::Round, 0.5, 1, 0.0),
        (Prim::Sqrt, 0.0, 1, INF),
        (Prim::Sqrt, 0.0, 2, -INF),
        (Prim::Cbrt, 0.0, 1, INF),
        (Prim::Log, 0.0, 1, INF),
        (Prim::Log2, 0.0, 1, INF),
        (Prim::Log10, 0.0, 1, INF),
        (Prim::Log1p, -1.0, 1, INF),
        (Prim::Asin, 1.0, 1, INF),
        (Prim::Asin, -1.0, 1, INF),
        (Prim::Acos, 1.0, 1, -INF),
        (Prim::Acos, -1.0, 1, -INF),
        (Prim::Acosh, 1.0, 1, INF),
        (Prim::Acosh, 1.0, 2, -INF),
        (Prim::Atanh, 1.0, 1, INF),
        (Prim::Atanh, -1.0, 1, INF),
        (Prim::Lgamma, 0.0, 1, -INF),
        (Prim::Tanh, 0.0, 1, 1.0),
        (Prim::Tanh, 0.0, 2, 0.0),
        (Prim::Tanh, 0.0, 3, -2.0),
        (Prim::Sigmoid, 0.0, 1, 0.25),
        (Prim::Sigmoid, 0.0, 3, -0.125),
    ] {
        check(prim, &floats(&[x]), &[0, 0, 0][..wrt], expected);
    }
}

#[test]
fn tails() {
    let e = libm::exp;
    for (prim, x, expected) in [
        (Prim::Sigmoid, -700.0, e(-700.0)),
        (Prim::Sigmoid, 700.0, e(-700.0)),
        (Prim::Sigmoid, 40.0, e(-40.0)),
        (Prim::Softplus, -700.0, e(-700.0)),
        (Prim::Softplus, 700.0, 1.0),
        (Prim::Softplus, 1e300, 1.0),
        (Prim::Tanh, 300.0, 4.0 * e(-600.0)),
        (Prim::Tanh, -300.0, 4.0 * e(-600.0)),
        (Prim::Tanh, 1e300, 0.0),
        (Prim::Expm1, -40.0, e(-40.0)),
        (Prim::Log1p, 1e300, 1e-300),
        (Prim::Log1p, 1e-300, 1.0),
        (Prim::Erf, 20.0, std::f64::consts::FRAC_2_SQRT_PI * e(-400.0)),
        (Prim::Erfc, -20.0, -std::f64::consts::FRAC_2_SQRT_PI * e(-400.0)),
        (Prim::Asinh, 1e300, 1e-300),
        (Prim::Acosh, 1e300, 1e-300),
        (Prim::Atan, 1e300, 0.0),
    ] {
        check(prim, &floats(&[x]), &[0], expected);
    }
    // Higher derivatives stay finite where the first is 0.
    for prim in [Prim::Sigmoid, Prim::Softplus, Prim::Tanh, Prim::Erf, Prim::Erfc, Prim::Atan, Prim::Asinh] {
        for x in [-1e300, -1e4, 1e4, 1e300] {
            for mode in [Mode::Forward, Mode::Reverse] {
                for wrt in [&[0, 0][..], &[0, 0, 0]] {
                    let found = derivative(mode, prim, wrt, &floats(&[x]), 1.0);
                    assert!(found.abs() <= 1e-7, "{prim:?} {mode:?} of order {} at {x}: {found}", wrt.len());
                }
            }
        }
    }
}

#[test]
fn kinks_of_two_operands() {
    for (prim, x, y, wrt, expected) in [
        (Prim::Max, 2.0, 2.0, &[0][..], 0.5),
        (Prim::Max, 2.0, 2.0, &[1], 0.5),
        (Prim::Max, 3.0, 2.0, &[0], 1.0),
        (Prim::Max, 3.0, 2.0, &[1], 0.0),
        (Prim::Max, INF, INF, &[1], 0.5),
        (Prim::Min, 2.0, 2.0, &[0], 0.5),
        (Prim::Min, 3.0, 2.0, &[0], 0.0),
        (Prim::Min, 0.0, -0.0, &[1], 0.5),
        (Prim::Hypot, 0.0, 0.0, &[0], 0.0),
        (Prim::Hypot, 0.0, 0.0, &[1], 0.0),
        (Prim::Hypot, 0.0, 0.0, &[0, 0], 0.0),
        (Prim::Hypot, 3e300, 4e300, &[0], 0.6),
        (Prim::Hypot, 3e-300, 4e-300, &[1], 0.8),
        (Prim::Atan2, 0.0, 0.0, &[0], 0.0),
        (Prim::Atan2, 0.0, 0.0, &[1], 0.0),
        (Prim::Atan2, 0.0, 0.0, &[1, 0], 0.0),
        (Prim::Atan2, 0.0, -2.0, &[0], -0.5),
        (Prim::Atan2, 3e200, 4e200, &[1], -1.2e-201),
        (Prim::Rem, 5.5, 2.0, &[0], 1.0),
        (Prim::Rem, 5.5, 2.0, &[1], -2.0),
        (Prim::Rem, -5.5, 2.0, &[1], 2.0),
        (Prim::Rem, 6.0, 2.0, &[1], -3.0),
        // 1 / 0.1 rounds up to 10, but 0.1 goes into 1 only 9 times.
        (Prim::Rem, 1.0, 0.1, &[1], -9.0),
        (Prim::Pow, 0.0, 0.0, &[0], 0.0),
        (Prim::Pow, 0.0, 0.0, &[0, 0], 0.0),
        (Prim::Pow, 0.0, 0.0, &[1], 0.0),
        (Prim::Pow, 0.0, 1.0, &[0], 1.0),
        (Prim::Pow, 0.0, 1.0, &[0, 0], 0.0),
        (Prim::Pow, 0.0, 1.0, &[0, 0, 0], 0.0),
        (Prim::Pow, 0.0, 2.0, &[0], 0.0),
        (Prim::Pow, 0.0, 2.0, &[0, 0], 2.0),
        (Prim::Pow, 0.0, 2.0, &[0, 0, 0], 0.0),
        (Prim::Pow, 0.0, 3.0, &[0, 0, 0], 6.0),
        (Prim::Pow, 0.0, 2.0, &[1], 0.0),
        (Prim::Pow, 0.0, 2.0, &[1, 1], 0.0),
        (Prim::Pow, 0.0, 2.0, &[1, 0], 0.0),
        (Prim::Pow, 0.0, 2.0, &[0, 1], 0.0),
        (Prim::Pow, 0.0, 0.5, &[0], INF),
        (Prim::Pow, 0.0, -1.0, &[0], -INF),
        (Prim::Pow, 0.0, -1.0, &[1], 0.0),
        (Prim::Pow, 5.0, 0.0, &[0], 0.0),
        (Prim::Pow, 5.0, 0.0, &[0, 0], 0.0),
        (Prim::Pow, 5.0, 0.0, &[0, 1], 0.2),
        (Prim::Pow, 5.0, 0.0, &[1, 0], 0.2),
        (Prim::Pow, 1e-320, 0.0, &[0], 0.0),
        (Prim::Pow, -3.0, 2.0, &[0], -6.0),
        (Prim::Pow, -3.0, 2.0, &[0, 0], 2.0),
        (Prim::Pow, -3.0, 2.0, &[1], 0.0),
        (Prim::Pow, -3.0, 0.0, &[0], 0.0),
        (Prim::Div, 1.0, 0.0, &[0], INF),
        (Prim::Div, 1.0, 0.0, &[1], -INF),
        (Prim::Div, 1e300, 1e200, &[1], -1e-100),
        (Prim::AMul, 0.0, 3.0, &[0], 3.0),
        (Prim::AMul, 0.0, 3.0, &[1], 0.0),
        (Prim::AMul, 0.0, 3.0, &[0, 1], 1.0),
    ] {
        check(prim, &floats(&[x, y]), wrt, expected);
    }
}

#[test]
fn integer_powers_follow_the_polynomial_rule() {
    for (x, n, order, expected) in [
        (0.0, 0, 1, 0.0),
        (0.0, 0, 2, 0.0),
        (0.0, 1, 1, 1.0),
        (0.0, 1, 2, 0.0),
        (0.0, 1, 3, 0.0),
        (0.0, 2, 1, 0.0),
        (0.0, 2, 2, 2.0),
        (0.0, 2, 3, 0.0),
        (0.0, 3, 3, 6.0),
        (-2.0, 3, 1, 12.0),
        (-2.0, 9, 1, 2304.0),
        (0.0, -1, 1, -INF),
        (2.0, -1, 1, -0.25),
    ] {
        check(Prim::PowI, &[Scalar::F64(x), Scalar::I64(n)], &[0, 0, 0][..order], expected);
    }
}

/// Points where some slope of some order is not finite.
fn poles() -> Vec<(Prim, Vec<Scalar>)> {
    let one: Vec<(Prim, &[f64])> = vec![
        (Prim::Sqrt, &[0.0, -1.0]),
        (Prim::Cbrt, &[0.0]),
        (Prim::Exp, &[1000.0]),
        (Prim::Exp2, &[2000.0]),
        (Prim::Expm1, &[1000.0]),
        (Prim::Log, &[0.0, -1.0]),
        (Prim::Log2, &[0.0]),
        (Prim::Log10, &[0.0]),
        (Prim::Log1p, &[-1.0, -2.0]),
        (Prim::Tan, &[std::f64::consts::FRAC_PI_2]),
        (Prim::Asin, &[1.0, -1.0, 2.0]),
        (Prim::Acos, &[1.0, -1.0, 2.0]),
        (Prim::Atan, &[1e300]),
        (Prim::Sinh, &[1000.0]),
        (Prim::Cosh, &[1000.0]),
        (Prim::Asinh, &[1e300]),
        (Prim::Acosh, &[1.0, 0.0]),
        (Prim::Atanh, &[1.0, -1.0, 2.0]),
        (Prim::Erf, &[1e300]),
        (Prim::Lgamma, &[0.0, -1.0, -2.0]),
        (Prim::Digamma, &[0.0, -1.0, -2.0]),
    ];
    let two: Vec<(Prim, &[(f64, f64)])> = vec![
        (Prim::Div, &[(1.0, 0.0), (0.0, 0.0)]),
        (Prim::Rem, &[(1.0, 0.0)]),
        (Prim::Pow, &[(0.0, 0.0), (0.0, 0.5), (0.0, -1.0), (-1.0, 0.5), (1e300, 2.0), (1e300, 1.0)]),
        (Prim::Atan2, &[(0.0, 0.0), (5e-324, 0.0)]),
        (Prim::Hypot, &[(0.0, 0.0), (5e-324, 0.0)]),
    ];
    let ones = one.into_iter().flat_map(|(prim, xs)| xs.iter().map(move |&x| (prim, floats(&[x]))));
    let twos = two.into_iter().flat_map(|(prim, xs)| xs.iter().map(move |&(x, y)| (prim, floats(&[x, y]))));
    let powers =
        [(0.0, -1), (0.0, 0), (1e300, 2), (1e300, 9)].map(|(x, n)| (Prim::PowI, vec![Scalar::F64(x), Scalar::I64(n)]));
    let gammas = [(1, 0.0), (2, -1.0)].map(|(n, x)| (Prim::Polygamma, vec![Scalar::I64(n), Scalar::F64(x)]));
    ones.chain(twos).chain(powers).chain(gammas).collect()
}

#[test]
fn zero_annihilates() {
    for (prim, args) in poles() {
        let floats = (0..args.len()).filter(|&i| matches!(args[i], Scalar::F64(_)));
        for arg in floats {
            for wrt in [&[arg][..], &[arg, arg]] {
                for mode in [Mode::Forward, Mode::Reverse] {
                    let found = derivative(mode, prim, wrt, &args, 0.0);
                    assert!(found == 0.0, "{prim:?} {mode:?} of order {} at {args:?}: {found}", wrt.len());
                }
            }
        }
    }
}
