//! The values of the primitives and the shape of the table.
//!
//! In: operands of every type. Newly true: every primitive has a value of the promised type for all operands of its kinds, the
//! functions written here have the digits that they should, and integers never wrap around.

use Scalar::{Bool, F32, F64, I64};
use cotan_prim::{ArgKind, Class, Prim, PrimError, Scalar, ScalarType};

const TYPES: [ScalarType; 4] = [ScalarType::F64, ScalarType::F32, ScalarType::I64, ScalarType::Bool];

fn samples(ty: ScalarType) -> Vec<Scalar> {
    let floats = [0.0, -0.0, 1.0, -1.0, 0.5, 2.5, -3.0, 1e300, 5e-324, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
    match ty {
        ScalarType::F64 => floats.map(F64).to_vec(),
        ScalarType::F32 => floats.map(|x| F32(x as f32)).to_vec(),
        ScalarType::I64 => [0, 1, -1, 2, 7, 40, -3, i64::MAX, i64::MIN].map(I64).to_vec(),
        ScalarType::Bool => [true, false].map(Bool).to_vec(),
    }
}

/// Every list of sample operands of a primitive.
fn operands(prim: Prim, t: ScalarType) -> Vec<Vec<Scalar>> {
    let mut all = vec![Vec::new()];
    for kind in prim.args() {
        let samples = samples(match kind {
            ArgKind::T => t,
            ArgKind::Int => ScalarType::I64,
            ArgKind::Bool => ScalarType::Bool,
        });
        all = all.iter().flat_map(|args| samples.iter().map(move |s| [args.as_slice(), &[*s]].concat())).collect();
    }
    all
}

fn is_nan(value: Scalar) -> bool {
    matches!(value, F64(x) if x.is_nan()) || matches!(value, F32(x) if x.is_nan())
}

fn value(prim: Prim, args: &[Scalar]) -> Scalar {
    prim.eval(args).unwrap_or_else(|error| panic!("{prim:?} {args:?}: {error}"))
}

#[test]
fn names_go_round() {
    for (i, &prim) in Prim::ALL.iter().enumerate() {
        assert_eq!(Prim::from_name(prim.name()), Some(prim));
        assert!(!Prim::ALL[..i].contains(&prim));
    }
    assert_eq!(Prim::from_name("nonsense"), None);
}

#[test]
fn the_table_is_total() {
    for &prim in Prim::ALL {
        for t in TYPES.into_iter().filter(|&t| prim.class().contains(t)) {
            for args in operands(prim, t) {
                if let Ok(value) = prim.eval(&args) {
                    assert_eq!(value.ty(), prim.result_type(t), "{prim:?} {args:?}");
                }
            }
        }
        assert_eq!(prim.class() == Class::Fixed, !prim.args().contains(&ArgKind::T), "{prim:?}");
        assert!(!prim.meaning().is_empty());
    }
}

#[test]
fn nan_stays_nan() {
    for &prim in Prim::ALL {
        for t in [ScalarType::F64, ScalarType::F32] {
            for args in operands(prim, t) {
                let one = |x: Scalar| matches!(x, F64(x) if x == 1.0) || matches!(x, F32(x) if x == 1.0);
                // As in IEEE: what holds for every number holds for NaN. And a first factor 0 annihilates.
                let absorbed = match prim {
                    Prim::Pow => matches!(args[1], F64(0.0) | F32(0.0)) || one(args[0]),
                    Prim::PowI => args[1] == I64(0),
                    Prim::AMul => matches!(args[0], F64(0.0) | F32(0.0)),
                    Prim::Select => true,
                    _ => false,
                };
                if args.iter().any(|&x| is_nan(x)) && !absorbed {
                    match prim.eval(&args) {
                        Ok(value @ (F64(_) | F32(_))) => assert!(is_nan(value), "{prim:?} {args:?}: {value:?}"),
                        Ok(Bool(holds)) => assert_eq!(holds, matches!(prim, Prim::IsNan | Prim::Ne), "{prim:?}"),
                        Ok(I64(value)) => panic!("{prim:?} {args:?}: {value}"),
                        Err(error) => assert_eq!(error, PrimError::NotAnInteger),
                    }
                }
            }
        }
    }
}

fn close(found: f64, expected: f64, digits: f64, what: &str) {
    assert!((found - expected).abs() <= digits * expected.abs(), "{what}: {found:e}, not {expected:e}");
}

#[test]
fn digamma_has_its_digits() {
    for (x, expected) in [
        (1e-10_f64, -1.0000000000577215e10_f64),
        (0.1, -1.0423754940411076e1),
        (0.5, -1.9635100260214235),
        (1.0, -5.772156649015329e-1),
        (1.5, 3.648997397857652e-2),
        (2.0, 4.2278433509846713e-1),
        (3.7, 1.1671535393615113),
        (11.5, 2.3982391295357814),
        (12.0, 2.442661679975812),
        (100.0, 4.600161852738087),
        (1e8, 1.8420680738952363e1),
        (-0.1, 9.245073050052948),
        (-0.5, 3.648997397857652e-2),
        (-1.5, 7.031566406452432e-1),
        (-3.25, 4.46627587235028),
        (-10.7, 1.3374481244706443e-1),
        (-100.3, 6.895643124860435),
        (-1e-5, 9.999942276788563e+4),
        (-10000.375, 1.0511718153133447e1),
    ] {
        // Near a zero the digits are those of the terms that cancel.
        let digits = if expected.abs() < 0.5 { 2e-13 } else { 2e-15 };
        close(Prim::Digamma.eval1_f64(x).unwrap(), expected, digits, &format!("digamma({x})"));
    }
}

#[test]
fn polygamma_has_its_digits() {
    for (n, x, expected) in [
        (0, 3.7, 1.1671535393615113),
        (1, 0.001, 1.0000016425331958e6),
        (1, 0.5, 4.934802200544679),
        (1, 1.0, 1.6449340668482264),
        (1, 2.5, 4.9035775610023485e-1),
        (1, 30.0, 3.3895060357739946e-2),
        (1, 1e6, 1.0000005000001667e-6),
        (1, -0.5, 8.93480220054468),
        (1, -2.3, 1.4725912160961292e1),
        (1, -50.7, 1.505988307360138e1),
        (2, 0.1, -2.0018614573783436e3),
        (2, 1.0, -2.4041138063191885),
        (2, 7.25, -2.182895229519774e-2),
        (2, -0.5, -8.2879664423432e-1),
        (2, -1.75, -1.2421382135423057e2),
        (3, 0.7, 2.587914967842774e+1),
        (3, 4.0, 4.486532819275507e-2),
        (3, -0.3, 7.666198904191667e+2),
        (4, 1.25, -8.375388637933734),
        (4, -3.6, -2.0374187914021677e3),
        (5, 2.5, 5.785691785671835e-1),
        (10, 0.3, -2.0484684241780745e12),
        (10, 20.0, -4.510377054981843e-8),
        (10, -1.4, 8.551717424113399e10),
        (20, 5.5, -7.112145883656207e2),
        (20, -2.25, 1.0700016187896298e31),
        (21, -2.25, 8.988013598978536e+32),
        (22, -2.25, 7.909451966765048e+34),
        (22, -0.6, -1.5971587770469613e30),
        (25, -0.25, 6.98562797712384e+40),
        (30, 3.5, -3.611857616302858e15),
        (30, -7.7, -4.2943869916848365e48),
        (100, 2.5, -5.998777844943402e117),
        (150, 60.5, -5.625300216573757e-7),
    ] {
        let F64(found) = value(Prim::Polygamma, &[I64(n), F64(x)]) else { panic!("a float") };
        close(found, expected, 1e-13, &format!("polygamma({n}, {x})"));
    }
    for (n, x, expected) in [
        (1, 0.0, f64::INFINITY),
        (1, -3.0, f64::INFINITY),
        (2, 0.0, f64::NEG_INFINITY),
        (2, -0.0, f64::INFINITY),
        (1, f64::INFINITY, 0.0),
        (i64::MAX, 1.5, f64::INFINITY),
    ] {
        assert_eq!(value(Prim::Polygamma, &[I64(n), F64(x)]), F64(expected), "polygamma({n}, {x})");
    }
    assert!(is_nan(value(Prim::Polygamma, &[I64(2), F64(-3.0)])));
    assert!(is_nan(value(Prim::Polygamma, &[I64(-1), F64(3.0)])));
}

#[test]
fn values_of_the_rest() {
    for (prim, x, expected) in [
        (Prim::Round, 0.5, 0.0),
        (Prim::Round, 1.5, 2.0),
        (Prim::Round, 2.5, 2.0),
        (Prim::Round, -2.5, -2.0),
        (Prim::Trunc, -2.7, -2.0),
        (Prim::Floor, -2.2, -3.0),
        (Prim::Ceil, -2.2, -2.0),
        (Prim::Sign, -3.0, -1.0),
        (Prim::Sign, 0.0, 0.0),
        (Prim::Sigmoid, 0.0, 0.5),
        (Prim::Sigmoid, 1000.0, 1.0),
        (Prim::Sigmoid, -1000.0, 0.0),
        (Prim::Softplus, 1000.0, 1000.0),
        (Prim::Softplus, -1000.0, 0.0),
        (Prim::Softplus, 0.0, std::f64::consts::LN_2),
        (Prim::Lgamma, 5.0, 3.1780538303479458),
        (Prim::Lgamma, -0.5, 1.2655121234846454),
        (Prim::Lgamma, -2.0, f64::INFINITY),
        (Prim::Erf, 0.5, 0.5204998778130465),
        (Prim::Erfc, 5.0, 1.537459794428035e-12),
        (Prim::Digamma, 0.0, f64::NEG_INFINITY),
        (Prim::Digamma, -0.0, f64::INFINITY),
    ] {
        let found = prim.eval1_f64(x).unwrap();
        assert!(found == expected || (found - expected).abs() <= 1e-15 * expected.abs(), "{prim:?} {x}: {found:?}");
    }
    for (prim, x, y, expected) in [
        (Prim::Max, -0.0, 0.0, 0.0),
        (Prim::Max, 3.0, -1.0, 3.0),
        (Prim::Min, 3.0, -1.0, -1.0),
        (Prim::Rem, -5.5, 2.0, -1.5),
        (Prim::Pow, 0.0, 0.0, 1.0),
        (Prim::AMul, 0.0, f64::INFINITY, 0.0),
        (Prim::AMul, 0.0, f64::NAN, 0.0),
        (Prim::AMul, 2.0, 3.0, 6.0),
        (Prim::Atan2, 1.0, -1.0, 2.356194490192345),
        (Prim::Hypot, 3e200, 4e200, 5e200),
    ] {
        let found = prim.eval2_f64(x, y).unwrap();
        assert!((found - expected).abs() <= 2e-16 * expected.abs(), "{prim:?} {x:e} {y:e}: {found:e}");
    }
    assert!(Prim::Max.eval2_f64(0.0, -0.0).unwrap().is_sign_positive());
    assert!(Prim::Min.eval2_f64(0.0, -0.0).unwrap().is_sign_negative());
    assert_eq!(value(Prim::PowI, &[F64(1.1), I64(2)]), F64(1.1 * 1.1));
    assert_eq!(value(Prim::PowI, &[F64(-1.0), I64((1 << 60) + 1)]), F64(-1.0));
    assert_eq!(value(Prim::PowI, &[F64(2.0), I64(-20)]), F64(0.5f64.powi(20)));
}

#[test]
fn integers_are_checked() {
    for (prim, x, y, expected) in [
        (Prim::Add, i64::MAX, 1, Err(PrimError::Overflow)),
        (Prim::Sub, i64::MIN, 1, Err(PrimError::Overflow)),
        (Prim::Mul, i64::MAX, 2, Err(PrimError::Overflow)),
        (Prim::Div, 1, 0, Err(PrimError::DivisionByZero)),
        (Prim::Div, i64::MIN, -1, Err(PrimError::Overflow)),
        (Prim::Div, -7, 2, Ok(-3)),
        (Prim::Rem, -7, 2, Ok(-1)),
        (Prim::Rem, 1, 0, Err(PrimError::DivisionByZero)),
        (Prim::Rem, i64::MIN, -1, Err(PrimError::Overflow)),
        (Prim::PowI, 2, 62, Ok(1 << 62)),
        (Prim::PowI, 2, 63, Err(PrimError::Overflow)),
        (Prim::PowI, -2, 63, Ok(i64::MIN)),
        (Prim::PowI, 0, 0, Ok(1)),
        (Prim::PowI, -1, i64::MAX, Ok(-1)),
        (Prim::PowI, 3, i64::MAX, Err(PrimError::Overflow)),
        (Prim::PowI, 1, -1, Err(PrimError::NegativeExponent)),
        (Prim::Max, -3, 2, Ok(2)),
    ] {
        assert_eq!(prim.eval(&[I64(x), I64(y)]), expected.map(I64), "{prim:?} {x} {y}");
    }
    assert_eq!(Prim::Neg.eval(&[I64(i64::MIN)]), Err(PrimError::Overflow));
    assert_eq!(Prim::Abs.eval(&[I64(i64::MIN)]), Err(PrimError::Overflow));
    assert_eq!(value(Prim::ToInt, &[F64(-2.7)]), I64(-2));
    assert_eq!(value(Prim::ToInt, &[F64(-9_223_372_036_854_775_808.0)]), I64(i64::MIN));
    for x in [f64::NAN, f64::INFINITY, 9_223_372_036_854_775_808.0] {
        assert_eq!(Prim::ToInt.eval(&[F64(x)]), Err(PrimError::NotAnInteger));
    }
}

#[test]
fn binary32_is_rounded_once() {
    for (x, y) in [(1.1f32, 2.3f32), (1e-40, 3.0), (3.4e38, 1.5), (-7.7, 0.3)] {
        for (prim, expected) in
            [(Prim::Add, x + y), (Prim::Sub, x - y), (Prim::Mul, x * y), (Prim::Div, x / y), (Prim::Rem, x % y)]
        {
            assert_eq!(value(prim, &[F32(x), F32(y)]), F32(expected), "{prim:?} {x} {y}");
        }
        assert_eq!(value(Prim::Sqrt, &[F32(y)]), F32(y.sqrt()));
        assert_eq!(value(Prim::Exp, &[F32(y)]), F32(libm::exp(f64::from(y)) as f32));
    }
    assert_eq!(value(Prim::ToFloat32, &[F64(0.1)]), F32(0.1));
    assert_eq!(value(Prim::ToFloat, &[F32(0.5)]), F64(0.5));
    assert_eq!(value(Prim::IMul, &[I64(3), F32(0.5)]), F32(1.5));
}
