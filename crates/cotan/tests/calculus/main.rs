//! The compiler against the reference calculus.
//!
//! In: random programs (`generate.rs`). Out: each is run by the compiler in both modes, and translated (`translate.rs`) and run by the calculus,
//! which shares no code with it but the table of scalar operations; values, gradients, second derivatives and the cotangents of
//! captured variables agree. `COTAN_CALCULUS` sets the number of programs, `COTAN_SEED` the first one.

mod generate;
mod translate;

use cotan::{AdMode, Failure, Options, Session, Silent, render, run};
use cotan_calculus::{Tree, evaluate};

/// The numbers of `checks`, by the compiler.
fn compiled(text: &str, ad: AdMode) -> Result<Vec<f64>, String> {
    let dir = tempfile::tempdir().map_err(|e| e.to_string())?;
    let path = dir.path().join("generated.cot");
    std::fs::write(&path, text).map_err(|e| e.to_string())?;
    let mut session = Session::new(Options { ad, ..Options::default() }, Box::new(Silent));
    let answer = run(&mut session, &path, "checks", &[]).map_err(|failure| told(&session, &failure))?;
    let json = answer.json();
    json.split(|c: char| !(c.is_alphanumeric() || "+-.".contains(c)))
        .filter(|s| !s.is_empty())
        .map(|s| s.parse().map_err(|_| format!("`{s}` is no number")))
        .collect()
}

/// The numbers of `checks`, by the calculus; `None` where they take too many steps: each order of derivatives multiplies them.
fn calculated(text: &str) -> Result<Option<Vec<f64>>, String> {
    let mut session = Session::new(Options::default(), Box::new(Silent));
    let checked = session.check_text("generated.cot", text).map_err(|failure| told(&session, &failure))?;
    let root = checked.core.exports.iter().find(|id| checked.core.fns[**id].name == "checks").ok_or("no checks")?;
    let term = translate::translate(&checked.core, *root)?;
    let options = cotan_calculus::Options { max_steps: 50_000_000, ..cotan_calculus::Options::default() };
    let outcome = match evaluate(&term, options) {
        Ok(outcome) => outcome,
        Err(e) if e.code == "E0906" => return Ok(None),
        Err(e) => return Err(format!("{}\n{:?}\n{term}", e.message, e.notes)),
    };
    let mut out = Vec::new();
    numbers(&outcome.value, &mut out)?;
    Ok(Some(out))
}

fn numbers(tree: &Tree, out: &mut Vec<f64>) -> Result<(), String> {
    match tree {
        Tree::Real(r) => out.push(*r),
        Tree::Pair(a, b) => {
            numbers(a, out)?;
            numbers(b, out)?;
        }
        Tree::List(items) => items.iter().try_for_each(|t| numbers(t, out))?,
        other => return Err(format!("{other} is no number")),
    }
    Ok(())
}

fn told(session: &Session, failure: &Failure) -> String {
    match failure {
        Failure::User(found) => found.iter().map(|d| render(&session.sources, d, false)).collect(),
        Failure::Bug(bug) => format!("{bug:?}"),
    }
}

/// What disagrees in one program, if anything does; whether it was too costly to say is counted.
fn fault(text: &str, costly: &mut u64) -> Option<String> {
    let calculated = match calculated(text) {
        Ok(Some(numbers)) => numbers,
        Ok(None) => {
            *costly += 1;
            return None;
        }
        Err(why) => return Some(format!("the calculus: {why}\n{text}")),
    };
    let close = |a: &f64, b: &f64| (a - b).abs() <= 1e-9 * (1.0 + a.abs().max(b.abs())) || (a.is_nan() && b.is_nan());
    [AdMode::Transform, AdMode::Values].into_iter().find_map(|ad| {
        let compiled = match compiled(text, ad) {
            Ok(numbers) => numbers,
            Err(why) => return Some(format!("the compiler, {ad:?}: {why}\n{text}")),
        };
        let same = compiled.len() == calculated.len() && compiled.iter().zip(&calculated).all(|(a, b)| close(a, b));
        (!same).then(|| format!("compiled, {ad:?}: {compiled:?}\ncalculated: {calculated:?}\n{text}"))
    })
}

#[test]
fn the_compiler_agrees_with_the_calculus() {
    let number =
        |name: &str, otherwise: u64| std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(otherwise);
    let (count, first) = (number("COTAN_CALCULUS", 40), number("COTAN_SEED", 1));
    let mut costly = 0;
    let faults: Vec<String> = (first..first + count)
        .filter_map(|seed| fault(&generate::program(seed), &mut costly).map(|why| format!("seed {seed}: {why}")))
        .collect();
    assert!(faults.is_empty(), "{} of {count} programs; the first:\n{}", faults.len(), faults[0]);
    assert!(costly <= count / 20, "{costly} of {count} programs are too costly");
}

/// One program by hand, with known answers.
#[test]
fn captured_variables_through_local_functions() {
    let text = "
        fn checks() -> (Float, Float, Float, Float) {
            let a = 2.0;
            let b = 3.0;
            fn go(n: Float, x: Float) -> Float { if n < 0.5 { x } else { go(n - 1.0, x * a) } }
            fn h(x: Float) -> Float { x * b } vjp {
                return h(x) with |dy| { adjoint(x) += dy * b; adjoint(b) += dy * x; };
            }
            let g = |t: Float| a * go(2.0, t) + h(t);
            let (y, back) = pullback(g, 1.5);
            let (dg, dt) = back(1.0);
            (y, dg.a, dg.b, dt)
        }";
    // y = a^3 t + b t.
    let expected = vec![16.5, 18.0, 1.5, 11.0];
    assert_eq!(compiled(text, AdMode::Transform).expect("it runs"), expected);
    assert_eq!(calculated(text).expect("it runs"), Some(expected));
}
