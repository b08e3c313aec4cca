//! The slopes of the whole table against differences.
//!
//! In: for each primitive some points where it is smooth. Newly true: first, second and third derivatives in every operand and
//! every mixture of operands agree with extrapolated central differences of one order less, in both modes.

mod symbolic;

use cotan_prim::{ArgKind, Partial, Prim, ResultKind, Scalar};
use symbolic::{Mode, derivative};

fn reals(xs: &[f64]) -> Vec<Vec<Scalar>> {
    xs.iter().map(|&x| vec![Scalar::F64(x)]).collect()
}

fn pairs(xs: &[(f64, f64)]) -> Vec<Vec<Scalar>> {
    xs.iter().map(|&(x, y)| vec![Scalar::F64(x), Scalar::F64(y)]).collect()
}

fn int_first(xs: &[(i64, f64)]) -> Vec<Vec<Scalar>> {
    xs.iter().map(|&(n, x)| vec![Scalar::I64(n), Scalar::F64(x)]).collect()
}

/// Points away from kinks, jumps and poles; none for what has no slope.
fn points(prim: Prim) -> Vec<Vec<Scalar>> {
    let around = [(1.3, 2.1), (-0.7, 1.9), (2.5, -0.4), (-1.1, -2.2), (0.3, 5.0)];
    match prim {
        Prim::Add | Prim::Sub | Prim::Mul | Prim::AMul | Prim::Div | Prim::Max | Prim::Min => pairs(&around),
        Prim::Atan2 | Prim::Hypot => pairs(&around),
        Prim::Rem => pairs(&[(5.3, 2.0), (-5.3, 2.0), (5.3, -0.9), (0.4, 3.0)]),
        Prim::Pow => pairs(&[(1.3, 2.1), (0.4, -1.7), (2.5, 0.5), (3.0, 1.0), (0.8, 0.0), (1.0, 4.0)]),
        Prim::PowI => [(1.3, 2), (-0.7, 3), (2.5, 0), (1.5, 1), (-1.2, -2), (0.9, 11), (1.1, -13)]
            .map(|(x, n)| vec![Scalar::F64(x), Scalar::I64(n)])
            .to_vec(),
        Prim::IMul => int_first(&[(3, 1.5), (-2, 0.3), (0, 1.0)]),
        Prim::Polygamma => int_first(&[(0, 1.5), (1, 0.8), (2, 3.3), (3, 14.0), (1, -0.6), (2, -2.3)]),
        Prim::Neg | Prim::Abs | Prim::Sin | Prim::Cos | Prim::Exp | Prim::Exp2 | Prim::Expm1 | Prim::Atan => {
            reals(&[-2.3, -0.4, 0.7, 3.1])
        }
        Prim::Sinh | Prim::Cosh | Prim::Tanh | Prim::Asinh | Prim::Sigmoid | Prim::Softplus => {
            reals(&[-4.2, -0.4, 0.0, 0.7, 3.1])
        }
        Prim::Tan => reals(&[-1.1, 0.2, 0.9, 2.4]),
        Prim::Sqrt | Prim::Log | Prim::Log2 | Prim::Log10 => reals(&[0.3, 1.0, 7.5]),
        Prim::Cbrt => reals(&[-5.0, -0.4, 0.3, 7.5]),
        Prim::Log1p => reals(&[-0.6, 0.0, 0.3, 7.5]),
        Prim::Asin | Prim::Acos | Prim::Atanh => reals(&[-0.6, 0.0, 0.3, 0.7]),
        Prim::Acosh => reals(&[1.4, 2.0, 9.0]),
        Prim::Erf | Prim::Erfc => reals(&[-1.4, -0.2, 0.0, 0.8, 2.1]),
        Prim::Lgamma | Prim::Digamma => reals(&[0.4, 1.7, 6.5, 20.0, -0.6, -2.4]),
        Prim::Sign | Prim::Floor | Prim::Ceil | Prim::Round | Prim::Trunc => reals(&[-1.7, 0.3, 2.2]),
        Prim::Select => [true, false].map(|c| vec![Scalar::Bool(c), Scalar::F64(1.5), Scalar::F64(-2.0)]).to_vec(),
        Prim::ToFloat => reals(&[-1.5, 2.0]),
        // The rounding to binary32 is what differences would see.
        Prim::ToFloat32 | Prim::ToInt | Prim::IsNan | Prim::IsFinite => Vec::new(),
        Prim::Eq | Prim::Ne | Prim::Lt | Prim::Le | Prim::Gt | Prim::Ge => Vec::new(),
        Prim::And | Prim::Or | Prim::Not => Vec::new(),
    }
}

/// Every list of float operands of a length up to three.
fn operands(prim: Prim) -> Vec<Vec<usize>> {
    let floats: Vec<usize> = (0..prim.args().len()).filter(|&i| prim.args()[i] == ArgKind::T).collect();
    let mut all = Vec::new();
    let mut last: Vec<Vec<usize>> = vec![Vec::new()];
    for _ in 0..3 {
        last = last.iter().flat_map(|w| floats.iter().map(move |&i| [w.as_slice(), &[i]].concat())).collect();
        all.extend(last.iter().cloned());
    }
    all
}

/// The central difference, extrapolated twice to step 0.
fn difference(f: impl Fn(f64) -> f64, x: f64) -> f64 {
    let central = |h: f64| (f(x + h) - f(x - h)) / ((x + h) - (x - h));
    let h = 0.01 * x.abs().clamp(0.3, 1.0);
    let [a, b, c] = [h, h / 2.0, h / 4.0].map(central);
    let [ab, bc] = [(4.0 * b - a) / 3.0, (4.0 * c - b) / 3.0];
    (16.0 * bc - ab) / 15.0
}

#[test]
fn derivatives_agree_with_differences() {
    for &prim in Prim::ALL {
        for wrt in operands(prim) {
            for args in points(prim) {
                let (&last, before) = wrt.split_last().expect("at least one operand");
                let Scalar::F64(x) = args[last] else { panic!("{prim:?}: operand {last} is no float") };
                let [forward, reverse] =
                    [Mode::Forward, Mode::Reverse].map(|mode| derivative(mode, prim, &wrt, &args, 1.0));
                let moved = |x| {
                    let mut args = args.clone();
                    args[last] = Scalar::F64(x);
                    derivative(Mode::Forward, prim, before, &args, 1.0)
                };
                let expected = difference(moved, x);
                // What the differences lose grows with the values that they subtract.
                let size = 1.0 + expected.abs() + moved(x).abs();
                for (mode, found) in [("forward", forward), ("reverse", reverse)] {
                    assert!(
                        (found - expected).abs() <= 1e-8 * size,
                        "{prim:?} {mode} in {wrt:?} at {args:?}: {found:e}, differences {expected:e}"
                    );
                }
            }
        }
    }
}

#[test]
fn every_slope_is_well_formed() {
    for &prim in Prim::ALL {
        for (arg, kind) in prim.args().iter().enumerate() {
            let partial = prim.partial(arg);
            let smooth = matches!(prim.result(), ResultKind::T | ResultKind::F64 | ResultKind::F32);
            if *kind != ArgKind::T || !smooth {
                assert_eq!(partial, Partial::Zero, "{prim:?} in operand {arg}");
            }
        }
    }
}

#[test]
fn what_is_called_bounded_is_finite() {
    let values = [-1e300, -710.5, -1.0, -5e-324, -0.0, 0.0, 5e-324, 1e-160, 0.5, 1.0, 3.0, 710.5, 1e160, f64::MAX];
    for &prim in Prim::ALL {
        let all: Vec<Vec<Scalar>> = match prim.args() {
            [ArgKind::T] => reals(&values),
            [ArgKind::T, ArgKind::T] => {
                values.iter().flat_map(|&x| values.map(|y| vec![Scalar::F64(x), Scalar::F64(y)])).collect()
            }
            [ArgKind::Int, ArgKind::T] => int_first(&values.map(|x| (3, x))),
            _ => continue,
        };
        for arg in 0..prim.args().len() {
            if let Partial::Formula { term, may_be_non_finite: false } = prim.partial(arg) {
                for args in &all {
                    let slope = symbolic::value(&term, prim, args);
                    // Where the function itself has no finite value, there is nothing to promise.
                    let finite = matches!(prim.eval(args), Ok(Scalar::F64(y)) if y.is_finite());
                    assert!(slope.is_finite() || !finite, "{prim:?} in operand {arg} at {args:?}: {slope}");
                }
            }
        }
    }
}
