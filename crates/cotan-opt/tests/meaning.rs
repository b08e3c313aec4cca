//! Passes keep the meaning of generated programs: the same bits, the same errors, and a valid program after each.

mod evaluate;
#[path = "../../cotan-ir/tests/generate/mod.rs"]
mod generate;

use cotan_ir::{AdOp, FnId, Program, print_program, size, validate};
use evaluate::{Value, call, float, int};

const MAIN: FnId = FnId(0);

fn arguments() -> Vec<Vec<Value>> {
    let truth = |b| Value::Scalar(cotan_prim::Scalar::Bool(b));
    let nil = Value::Adt(0, Vec::new());
    let array = |xs: &[f64]| Value::Array(xs.iter().map(|x| float(*x)).collect());
    vec![
        vec![float(1.5), int(2), truth(true), array(&[1.0, -2.0, 0.5]), Value::Adt(1, vec![float(3.0), nil.clone()])],
        vec![float(-0.0), int(0), truth(false), array(&[f64::NAN, 0.0, -0.0]), nil.clone()],
        vec![float(f64::INFINITY), int(-1), truth(true), array(&[1.0]), nil],
    ]
}

fn values(program: &Program<AdOp>) -> Vec<Result<Vec<Value>, String>> {
    arguments().into_iter().map(|args| call(program, MAIN, args)).collect()
}

fn compare(seed: u64, before: &Program<AdOp>, after: &Program<AdOp>, pass: &str) {
    assert_eq!(
        values(before),
        values(after),
        "seed {seed}: `{pass}` changed the meaning of\n{}\nto\n{}",
        print_program(before, false),
        print_program(after, false)
    );
}

fn check(program: &mut Program<AdOp>, seed: u64, pass: &str) {
    let faults = validate(program);
    assert!(faults.is_empty(), "seed {seed}, after `{pass}`: {faults:#?}\n{}", print_program(program, false));
}

#[test]
fn each_pass_alone_keeps_the_meaning() {
    for seed in 0..400 {
        let before = generate::program(seed, 14);
        for pass in cotan_opt::passes::<AdOp>() {
            let mut after = before.clone();
            for f in [FnId(1), FnId(2), MAIN] {
                cotan_opt::run_pass(&mut after, f, pass.name);
            }
            check(&mut after, seed, pass.name);
            compare(seed, &before, &after, pass.name);
        }
    }
}

#[test]
fn all_passes_together_keep_the_meaning() {
    for seed in 1000..1600 {
        let before = generate::program(seed, 20);
        let mut after = before.clone();
        cotan_opt::simplify_observed(&mut after, &mut |program, _, pass| check(program, seed, pass));
        compare(seed, &before, &after, "simplify");
        let (small, large) = (size(&after.fns[MAIN]), size(&before.fns[MAIN]));
        assert!(small <= 3 * large + 100, "seed {seed}: {large} statements became {small}");
    }
}

/// Simplifying twice is hardly different from once: the result is small already.
#[test]
fn simplified_programs_stay_small() {
    for seed in 2000..2100 {
        let mut once = generate::program(seed, 20);
        cotan_opt::simplify(&mut once);
        let mut twice = once.clone();
        cotan_opt::simplify(&mut twice);
        assert!(size(&twice.fns[MAIN]) <= size(&once.fns[MAIN]) + 50, "seed {seed}");
        compare(seed, &once, &twice, "simplify again");
    }
}
