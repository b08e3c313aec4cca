//! Every scalar operation, differentiated.
//!
//! In: the table of `cotan-prim`, points where its slopes are finite. Out: the transforms that the calculus makes of its rows agree
//! with the table at first order, and with central differences of the first order at second.

use cotan_calculus::{Options, Rules, Tree, evaluate, parse};
use cotan_prim::{ArgKind, Partial, Prim, ResultKind, Scalar, ScalarType};
use cotan_source::FileId;

fn real(text: &str) -> f64 {
    let term = parse(FileId(0), text).unwrap_or_else(|e| panic!("{text}: {}", e.message));
    match evaluate(&term, Options::default()) {
        Ok(outcome) => match outcome.value {
            Tree::Real(r) => r,
            other => panic!("{text} is {other}"),
        },
        Err(e) => panic!("{text}: {} {:?}", e.message, e.notes),
    }
}

/// The operations of the table that work on reals.
fn operations() -> Vec<Prim> {
    let known = |prim: &Prim| {
        let term = parse(FileId(0), prim.name()).expect("a name is a term");
        evaluate(&term, Options::default()).is_ok()
    };
    Prim::ALL.iter().copied().filter(known).collect()
}

fn is_integer(prim: Prim, arg: usize) -> bool {
    prim.args()[arg] == ArgKind::Int
}

/// Operands where nothing is at an edge.
fn points(prim: Prim) -> Vec<Vec<f64>> {
    let base: &[f64] = match prim {
        Prim::Acosh => &[1.3, 2.7],
        Prim::Rem => &[0.7, 0.4],
        _ => &[0.35, 0.8],
    };
    let at = |x: f64, arg: usize| if is_integer(prim, arg) { 2.0 } else { x };
    if prim.args().len() == 1 {
        base.iter().map(|x| vec![at(*x, 0)]).collect()
    } else {
        vec![vec![at(base[0], 0), at(base[1], 1)], vec![at(base[1], 0), at(base[0], 1)]]
    }
}

fn tuple(operands: &[f64]) -> String {
    match operands {
        [x] => format!("({x:?})"),
        [x, y] => format!("({x:?}, {y:?})"),
        _ => unreachable!("operations take one or two operands"),
    }
}

fn slope_of(partial: &Partial, prim: Prim, operands: &[f64]) -> f64 {
    let scalar = |(i, x): (usize, &f64)| if is_integer(prim, i) { Scalar::I64(*x as i64) } else { Scalar::F64(*x) };
    match partial {
        Partial::Zero => 0.0,
        Partial::One => 1.0,
        Partial::MinusOne => -1.0,
        Partial::Formula { term, .. } => {
            let args: Vec<Scalar> = operands.iter().enumerate().map(scalar).collect();
            let result = prim.eval(&args).expect("a value");
            match term.eval(&args, result, ScalarType::F64).expect("a slope") {
                Scalar::F64(slope) => slope,
                other => panic!("{} has the slope {other:?}", prim.name()),
            }
        }
    }
}

/// The text of the slope in operand `arg` as a function of the operands.
fn gradient(prim: Prim, arg: usize) -> String {
    let part = match (prim.args().len(), arg) {
        (1, _) => "",
        (_, 0) => "fst ",
        _ => "snd ",
    };
    format!("(\\p. {part}(snd ((snd ((J {}) (J p))) 1)))", prim.name())
}

#[test]
fn the_calculus_knows_the_table() {
    let found = operations();
    let missing: Vec<&str> = Prim::ALL.iter().filter(|p| !found.contains(p)).map(|p| p.name()).collect();
    // Truth values are lambdas, and there is one type of numbers.
    assert_eq!(missing, ["and", "or", "not", "select", "float32"]);
}

#[test]
fn slopes_are_those_of_the_table() {
    for prim in operations().into_iter().filter(|p| p.result() != ResultKind::Bool) {
        for operands in points(prim) {
            for arg in (0..operands.len()).filter(|arg| !is_integer(prim, *arg)) {
                let found = real(&format!("{} {}", gradient(prim, arg), tuple(&operands)));
                let expected = slope_of(&prim.partial(arg), prim, &operands);
                let close = (found - expected).abs() <= 1e-13 * expected.abs().max(1.0);
                assert!(close, "{} in operand {arg} at {operands:?}: {found}, not {expected}", prim.name());
            }
        }
    }
}

#[test]
fn second_slopes_agree_with_differences() {
    for prim in operations().into_iter().filter(|p| p.result() != ResultKind::Bool) {
        for operands in points(prim) {
            for arg in (0..operands.len()).filter(|arg| !is_integer(prim, *arg)) {
                let along = |by: f64| {
                    let mut moved = operands.clone();
                    moved[arg] += by;
                    real(&format!("{} {}", gradient(prim, arg), tuple(&moved)))
                };
                let expected = (along(1e-5) - along(-1e-5)) / 2e-5;
                let part = ["fst ", "snd "][arg];
                let part = if operands.len() == 1 { "" } else { part };
                let slope = gradient(prim, arg);
                let found = real(&format!("{part}(snd ((snd ((J {slope}) (J {}))) 1))", tuple(&operands)));
                let close = (found - expected).abs() <= 1e-5 * expected.abs().max(1.0);
                assert!(close, "{} in operand {arg} at {operands:?}: {found}, not {expected}", prim.name());
            }
        }
    }
}

#[test]
fn predicates_have_no_slope() {
    for prim in operations().into_iter().filter(|p| p.result() == ResultKind::Bool) {
        let (body, at) = match prim.args().len() {
            1 => (format!("if {} x then x * x else 3 * x", prim.name()), "2.0"),
            _ => (format!("if {} (x, 2.5) then x * x else x * x", prim.name()), "2.0"),
        };
        let found = real(&format!("snd ((snd ((J (\\x. {body})) (J {at}))) 1)"));
        let three = prim == Prim::IsNan;
        assert_eq!(found, if three { 3.0 } else { 4.0 }, "{}", prim.name());
    }
}

/// `t^` of the primitives that are no scalar operations: the value, and what comes back for the argument.
#[test]
fn the_other_primitives_have_transforms() {
    for (t, argument, cotangent, value, back) in [
        ("fst", "(1, 2)", "5", "1", "(5, 0)"),
        ("snd", "(1, 2)", "5", "2", "(0, 5)"),
        ("null", "[1]", "[]", "false", "[0]"),
        ("zero", "(1, [2])", "(3, [4])", "[0, 0]", "[0, 0]"),
        ("plus", "((1, 2), (3, 4))", "(5, 6)", "(4, 6)", "((5, 6), (5, 6))"),
        ("J", "(1, 2)", "J (3, 4)", "J (1, 2)", "(3, 4)"),
        ("Jinv", "J (1, 2)", "(3, 4)", "(1, 2)", "J (3, 4)"),
    ] {
        for rules in [Rules::Printed, Rules::Corrected] {
            let text = format!("let (y, back) = (J {t}) (J ({argument})) in (Jinv y, back ({cotangent}))");
            let term = parse(FileId(0), &text).unwrap_or_else(|e| panic!("{text}: {}", e.message));
            let found = evaluate(&term, Options { rules, ..Options::default() }).map(|o| o.value.to_string());
            let expected = parse(FileId(0), &format!("({value}, ([], {back}))")).expect("a term");
            let expected = evaluate(&expected, Options::default()).map(|o| o.value.to_string());
            assert_eq!(found, expected, "{t}");
        }
    }
}
