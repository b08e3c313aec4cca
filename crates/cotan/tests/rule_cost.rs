//! What a derivative rule costs, counted in operations of the evaluator.
//!
//! In: functions with rules that equal what differentiation of the body would do, and the same functions without them. Out: gradients,
//! their gradients and tangents through the rules cost within 5 % of those without (issue 3 of the plan). The counts do not depend on the machine.

use cotan::{Options, Session, Silent, run};
use std::path::PathBuf;

const PLAIN: &str = "
fn cell(x: Float, w: Float) -> Float { let s = sin(x); s * w }
fn weigh(v: [n]Float, w: Float) -> Float { let s = dot(v, v); s * w }
fn total(w: Float) -> Float { let mut t = 0.0; for i in 0..100 { t += cell(float(i) * w, w); } t }
fn branching(w: Float) -> Float { let mut t = 0.0; for i in 0..100 { t += if i % 2 == 0 { cell(float(i) * w, w) } else { w }; } t }
fn local(w: Float) -> Float {
    fn f(x: Float) -> Float { let s = sin(x); s * w }
    let mut t = 0.0;
    for i in 0..100 { t += f(float(i) * w); }
    t
}
fn vectors(w: Float) -> Float {
    let mut t = 0.0;
    for i in 0..20 { t += weigh([w * float(j + i) for j in 0..20], w); }
    t
}
";

const RULES: &str = "
fn cell(x: Float, w: Float) -> Float { let s = sin(x); s * w } vjp {
    let s = sin(x);
    return s * w with |d| { adjoint(x) += d * w * cos(x); adjoint(w) += d * s; };
}
fn weigh(v: [n]Float, w: Float) -> Float { let s = dot(v, v); s * w } vjp {
    let s = dot(v, v);
    return s * w with |d| { let e = d * w; adjoint(v) += e * v; adjoint(v) += e * v; adjoint(w) += d * s; };
}
fn total(w: Float) -> Float { let mut t = 0.0; for i in 0..100 { t += cell(float(i) * w, w); } t }
fn branching(w: Float) -> Float { let mut t = 0.0; for i in 0..100 { t += if i % 2 == 0 { cell(float(i) * w, w) } else { w }; } t }
fn local(w: Float) -> Float {
    fn f(x: Float) -> Float { let s = sin(x); s * w } vjp {
        let s = sin(x);
        return s * w with |d| { adjoint(x) += d * w * cos(x); adjoint(w) += d * s; };
    }
    let mut t = 0.0;
    for i in 0..100 { t += f(float(i) * w); }
    t
}
fn vectors(w: Float) -> Float {
    let mut t = 0.0;
    for i in 0..20 { t += weigh([w * float(j + i) for j in 0..20], w); }
    t
}
";

/// Rules as values, each of whose functions is known where it is used.
const ATTACHED: &str = "
fn cell(x: Float, w: Float) -> Float { let s = sin(x); s * w }
fn total(w: Float) -> Float {
    let g = |x: Float| cell(x, w);
    let f = with_vjp(g, |x| pullback(g, x));
    let mut t = 0.0;
    for i in 0..100 { t += f(float(i) * w); }
    t
}
fn local(w: Float) -> Float {
    let g = |x: Float| cell(x, w);
    let f = with_vjp(g, |x| {
        let s = sin(x);
        (s * w, |dy: Float| (tangent g { w: dy * s }, dy * w * cos(x)))
    });
    let mut t = 0.0;
    for i in 0..100 { t += f(float(i) * w); }
    t
}
fn branching(w: Float) -> Float {
    let g = |x: Float| cell(x, w);
    let f = with_jvp(g, |x, dg, dx| (sin(x) * w, dg.w * sin(x) + w * (cos(x) * dx)));
    let mut t = 0.0;
    for i in 0..100 { t += if i % 2 == 0 { f(float(i) * w) } else { w }; }
    t
}
";

const FORWARD: &str = "
fn cell(x: Float, w: Float) -> Float { let s = sin(x); s * w } jvp {
    let s = sin(x);
    return s * w with tangent(w) * s + tangent(x) * cos(x) * w;
}
fn total(w: Float) -> Float { let mut t = 0.0; for i in 0..100 { t += cell(float(i) * w, w); } t }
";

fn cost(program: &str, body: &str) -> u64 {
    let folder = tempfile::tempdir().expect("a folder of ours");
    let path: PathBuf = folder.path().join("rule_cost.cot");
    let text = format!("{program}\nfn measured() -> Float {{ {body} }}\n");
    std::fs::write(&path, &text).expect("a file in a folder of ours");
    let mut session = Session::new(Options::default(), Box::new(Silent));
    if let Err(failure) = run(&mut session, &path, "measured", &[]) {
        panic!("{failure:?}\n{text}");
    }
    session.usage().expect("the program ran").cost
}

fn check(rules: &str, names: &[&str], bodies: &[&str]) {
    for name in names {
        for body in bodies {
            let body = body.replace("FUNCTION", name);
            let (plain, with) = (cost(PLAIN, &body), cost(rules, &body));

            assert!(
                with as f64 <= 1.05 * plain as f64,
                "{name}, {body}: {with} operations with rules, {plain} without"
            );
        }
    }
}

#[test]
fn clauses_of_reverse_mode_cost_what_the_body_costs() {
    let names = ["total", "branching", "local", "vectors"];
    check(RULES, &names, &["FUNCTION(2.0)", "grad(FUNCTION)(2.0)", "value_and_grad(FUNCTION)(2.0).1"]);
}

#[test]
fn clauses_of_reverse_mode_cost_little_at_order_two() {
    check(RULES, &["total", "local"], &["grad(grad(FUNCTION))(2.0)", "jvp(grad(FUNCTION), 2.0, 1.0).1"]);
}

#[test]
fn rules_as_values_leave_no_trace_where_the_function_is_known() {
    check(
        ATTACHED,
        &["total", "local", "branching"],
        &["FUNCTION(2.0)", "grad(FUNCTION)(2.0)", "jvp(FUNCTION, 2.0, 1.0).1", "jvp(grad(FUNCTION), 2.0, 1.0).1"],
    );
}

#[test]
fn clauses_of_forward_mode_cost_what_the_body_costs() {
    check(FORWARD, &["total"], &["FUNCTION(2.0)", "jvp(FUNCTION, 2.0, 1.0).1", "grad(FUNCTION)(2.0)"]);
}

/// What the gradient costs beyond the value.
fn extra(program: &str, name: &str, at: &str) -> u64 {
    cost(program, &format!("grad({name})({at})")) - cost(program, &format!("{name}({at})"))
}

#[test]
fn implicit_derivatives_do_not_depend_on_the_iterations() {
    // The slope 1 - 1/k at the fixed point a makes about 30 k iterations.
    let program = |k: u32| {
        format!(
            "fn point(a: Float) -> Float {{ fixed_point(|x: Float| x + (a - x) / {k}.0, 0.0) }}
fn zero(a: Float) -> Float {{ root(|x: Float| x ** 3 - a, {k}.0) }}
fn lowest(a: Float) -> Float {{ argmin(|x: Float| (x - a) ** 4 + (x - a) ** 2, {k}.0) }}
"
        )
    };
    let few = extra(&program(2), "point", "3.0");
    for k in [30, 300] {
        let many = extra(&program(k), "point", "3.0");
        assert!(
            many <= few + few / 10,
            "the derivative costs {many} where 1/{k} of the way is made, {few} where 1/2 is"
        );
        let value = cost(&program(k), "point(3.0)");
        assert!(value > 100 * u64::from(k), "{value} operations are no iteration");
    }
    for name in ["zero", "lowest"] {
        let (near, far) = (extra(&program(2), name, "3.0"), extra(&program(1000), name, "3.0"));
        assert!(far <= near + near / 10, "{name}: {far} from far away, {near} from nearby");
    }
}

#[test]
fn a_checkpointed_loop_costs_less_than_three_times_the_loop() {
    let program = "
fn step(a: Float) -> fn(Float, Int) -> Float { |x: Float, i: Int| x + 1e-6 * (a * sin(x) + 0.1) }
fn plain(a: Float) -> Float { let f = step(a); let mut x = 0.5; for i in 0..20000 { x = f(x, i); } x }
fn saved(a: Float) -> Float { checkpointed_loop(step(a), 0.5, 20000) }
";
    let (plain, saved) = (cost(program, "grad(plain)(0.7)"), cost(program, "grad(saved)(0.7)"));
    assert!(saved <= 3 * plain, "{saved} operations with checkpoints, {plain} without");
    let (value, same) = (cost(program, "plain(0.7)"), cost(program, "saved(0.7)"));
    assert!(same <= 3 * value, "{same} operations for the value, {value} in a plain loop");
}
