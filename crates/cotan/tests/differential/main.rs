//! Generated programs, differentiated in every way.
//!
//! In: random well-typed programs (`generate.rs`). Out: for each, the gradient in reverse and forward mode, the product of its second derivative with a
//! vector in all four mixtures, and its third derivative in four mixtures must agree with each other, under differentiation by
//! transformation and by values, and the gradient with central differences. `COTAN_DIFFERENTIAL` sets the number of programs.

mod generate;

use cotan::{AdMode, Failure, Options, Session, Silent, render, run};
use generate::{Generator, KNOWN, NO_RULES, RULES, Rng};
use std::fmt::Write;

/// Rows of four numbers: see `LABELS`.
const QUERIES: &str = "
fn checks() -> [][]Float {
    let x = POINT;
    let v = DIRECTION;
    let first = grad(f)(x);
    let at = |y: []Float| jvp(f, y, v).1;
    let up = |y: []Float| dot(grad(f)(y), v);
    [
        first,
        [jvp(f, x, basis(4, i)).1 for i in 0..4],
        grad(up)(x),
        jvp(grad(f), x, v).1,
        grad(at)(x),
        [jvp(at, x, basis(4, i)).1 for i in 0..4],
        [
            dot(grad(|y: []Float| dot(grad(up)(y), v))(x), v),
            jvp(|y: []Float| jvp(at, y, v).1, x, v).1,
            jvp(|y: []Float| dot(grad(at)(y), v), x, v).1,
            dot(grad(|y: []Float| dot(jvp(grad(f), y, v).1, v))(x), v),
        ],
        [(f(x + 1e-6 * basis(4, i)) - f(x - 1e-6 * basis(4, i))) / 2e-6 for i in 0..4],
        [(f(x + 5e-7 * basis(4, i)) - f(x - 5e-7 * basis(4, i))) / 1e-6 for i in 0..4],
    ]
}
";

const LABELS: [&str; 9] = [
    "gradient, reverse",
    "gradient, forward",
    "second, reverse over reverse",
    "second, forward over reverse",
    "second, reverse over forward",
    "second, forward over forward",
    "third, four mixtures",
    "gradient, differences",
    "gradient, differences with half the step",
];

fn vector(rng: &mut Rng, from: f64, to: f64) -> String {
    let items: Vec<String> = (0..4).map(|_| format!("{:?}", from + (to - from) * rng.float())).collect();
    format!("[{}]", items.join(", "))
}

fn rows(text: &str, ad: AdMode) -> Result<Vec<Vec<f64>>, String> {
    let dir = tempfile::tempdir().map_err(|e| e.to_string())?;
    let path = dir.path().join("generated.cot");
    std::fs::write(&path, text).map_err(|e| e.to_string())?;
    let options = Options { ad, ..Options::default() };
    let mut session = Session::new(options, Box::new(Silent));
    let answer = match run(&mut session, &path, "checks", &[]) {
        Ok(answer) => answer,
        Err(Failure::User(found)) => {
            return Err(found.iter().map(|d| render(&session.sources, d, false)).collect());
        }
        Err(failure) => return Err(format!("{failure:?}")),
    };
    let numbers: Vec<f64> = answer
        .json()
        .split(|c: char| !(c.is_alphanumeric() || "+-.".contains(c)))
        .filter(|s| !s.is_empty())
        .map(|s| s.parse().map_err(|_| format!("`{s}` is no number")))
        .collect::<Result<_, String>>()?;
    Ok(numbers.chunks(4).map(<[f64]>::to_vec).collect())
}

/// Whether two rows agree up to `tolerance` times their largest entry (or one).
fn close(a: &[f64], b: &[f64], tolerance: f64) -> bool {
    let size = a.iter().chain(b).fold(1.0f64, |m, x| m.max(x.abs()));
    a.len() == b.len() && a.iter().zip(b).all(|(x, y)| (x - y).abs() <= tolerance * size)
}

/// What disagrees in one program, if anything does.
fn fault(seed: u64) -> Option<String> {
    let mut rng = Rng::new(seed ^ 0x5eed);
    let program = Generator::new(seed, 60).program();
    let queries =
        QUERIES.replace("POINT", &vector(&mut rng, 0.2, 1.2)).replace("DIRECTION", &vector(&mut rng, -1.0, 1.0));
    let text = format!("{program}{queries}");
    let report = |why: String| Some(format!("seed {seed}: {why}\n{text}"));
    let transform = match rows(&text, AdMode::Transform) {
        Ok(rows) => rows,
        Err(why) => return report(format!("by transformation: {why}")),
    };
    let values = match rows(&text, AdMode::Values) {
        Ok(rows) => rows,
        Err(why) => return report(format!("by values: {why}")),
    };
    let plain = text.replace(RULES, NO_RULES).replace(KNOWN, "k");
    let plain = match rows(&plain, AdMode::Transform) {
        Ok(rows) => rows,
        Err(why) => return report(format!("without rules: {why}")),
    };
    let mut wrong = String::new();
    let mut compare = |what: &str, a: &[f64], b: &[f64], tolerance: f64| {
        if !close(a, b, tolerance) {
            let _ = writeln!(wrong, "{what}: {a:?} and {b:?}");
        }
    };
    for (i, label) in LABELS.iter().enumerate() {
        compare(&format!("{label}: by transformation and by values"), &transform[i], &values[i], 1e-9);
    }
    // Rules that are right change nothing.
    for (i, label) in LABELS.iter().enumerate().take(7) {
        compare(&format!("{label}: with rules and without"), &transform[i], &plain[i], 1e-8);
    }
    compare("reverse and forward", &transform[0], &transform[1], 1e-9);
    for i in 3..6 {
        compare(&format!("{} and {}", LABELS[2], LABELS[i]), &transform[2], &transform[i], 1e-8);
    }
    let third = &transform[6];
    compare("third derivatives", third, &[third[0]; 4], 1e-7);
    // Differences are as good as they change with the step: less where the function bends strongly, or near a kink.
    for i in 0..4 {
        let (wide, narrow) = (transform[7][i], transform[8][i]);
        let error = 20.0 * (wide - narrow).abs() + 1e-6 * (1.0 + wide.abs());
        if (transform[0][i] - wide).abs() > error {
            compare("gradient and differences", &transform[0], &transform[7], 0.0);
        }
    }
    if wrong.is_empty() { None } else { report(wrong) }
}

#[test]
fn all_ways_to_differentiate_agree() {
    let count: u64 = std::env::var("COTAN_DIFFERENTIAL").ok().and_then(|n| n.parse().ok()).unwrap_or(60);
    let first: u64 = std::env::var("COTAN_SEED").ok().and_then(|n| n.parse().ok()).unwrap_or(1);
    let faults: Vec<String> = (first..first + count).filter_map(fault).collect();
    assert!(faults.is_empty(), "{} of {count} programs; the first:\n{}", faults.len(), faults[0]);
}
