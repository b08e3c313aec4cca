//! What a gradient costs, counted in operations of the evaluator.
//!
//! In: the examples. Out: for the function that each of them differentiates, the cost of value and gradient over the cost of the value. The
//! counts do not depend on the machine. With `--nocapture` the table of bench/RESULTS.md is printed.

use cotan::{Options, Session, Silent, run};
use std::fmt::Write;
use std::path::Path;

/// Imports, name of the function, the function of one argument, point.
const CASES: [(&str, &str, &str, &str); 13] = [
    (
        "use faithful; use data::faithful::{rows};",
        "faithful: log-likelihood of the mixture",
        "|c: []faithful::Component| faithful::log_likelihood(c, rows)",
        "faithful::start()",
    ),
    (
        "use lynx; use data::lynx::{rows};",
        "lynx: misfit of the integrated model",
        "|m: lynx::Model| lynx::loss(m, rows, 4)",
        "lynx::guess()",
    ),
    ("use iris;", "iris: logistic loss", "|w: []Float| iris::loss(w, iris::inputs(), iris::labels())", "zeros(5)"),
    ("use expression_tree;", "expression_tree: value", "expression_tree::value", "expression_tree::example()"),
    ("use xor;", "xor: error of the network", "xor::error", "xor::start()"),
    ("use lambda_calculus;", "lambda_calculus: likelihood", "lambda_calculus::likelihood", "[0.4, 0.6]"),
    ("use prolog;", "prolog: likelihood", "prolog::likelihood", "[0.4, 0.6]"),
    ("use cannon;", "cannon: miss", "cannon::miss", "100.0"),
    (
        "use particle; use stalingrad;",
        "particle: landing, reverse inside",
        "|w: Float| particle::landing(stalingrad::reverse_grad, w)",
        "0.0",
    ),
    (
        "use particle; use stalingrad;",
        "particle: landing, forward inside",
        "|w: Float| particle::landing(stalingrad::forward_grad, w)",
        "0.0",
    ),
    (
        "use stalingrad;",
        "saddle: inner maximum",
        "|x: []Float| stalingrad::highest(stalingrad::reverse_grad, |y: []Float| dot(x, x) - dot(y, y), x)",
        "[1.0, 1.0]",
    ),
    ("use newton;", "newton: square root by iteration", "newton::newton_sqrt", "4.0"),
    (
        "use dual_numbers;",
        "dual_numbers: particles, 100 steps",
        "|s: Float| dual_numbers::particles([((s * p.0.0, p.0.1), p.1) for p in dual_numbers::four_particles()], 100)",
        "1.0",
    ),
];

fn cost(folder: &Path, imports: &str, body: &str) -> u64 {
    let text = format!("{imports}\nfn measured() -> Float {{ {body} }}\n");
    let path = folder.join("measured_cost.cot");
    std::fs::write(&path, &text).expect("a file in a folder of ours");
    let mut session = Session::new(Options::default(), Box::new(Silent));
    if let Err(failure) = run(&mut session, &path, "measured", &[]) {
        panic!("{failure:?}\n{text}");
    }
    session.usage().expect("the program ran").cost
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder of ours");
    for entry in std::fs::read_dir(from).expect("the examples") {
        let entry = entry.expect("an entry");
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).expect("a copy");
        }
    }
}

#[test]
fn a_gradient_costs_a_small_multiple_of_the_value() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples"), folder.path());
    let mut table = String::from("| example | value | value and gradient | ratio |\n|---|--:|--:|--:|\n");
    let mut worst = (0.0, "");
    for (imports, name, function, point) in CASES {
        let given = format!("let f = {function}; let x = {point};");
        let measure = |rest: &str| cost(folder.path(), imports, &format!("{given} {rest}"));
        let base = measure("0.0");
        let value = measure("f(x)") - base;
        let both = measure("let (y, g) = value_and_grad(f)(x); y") - base;
        let ratio = both as f64 / value as f64;
        if ratio > worst.0 {
            worst = (ratio, name);
        }
        let _ = writeln!(table, "| {name} | {value} | {both} | {ratio:.2} |");
    }
    #[allow(clippy::print_stdout)]
    {
        println!("{table}");
    }
    assert!(worst.0 < 8.0, "{} costs {:.2} times its value\n{table}", worst.1, worst.0);
}
