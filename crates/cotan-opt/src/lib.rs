//! Simplification of the intermediate representation.
//!
//! In: a program, before or after differentiation. Out: the same program, with smaller functions that give the same bits and
//! fail where they failed before. Newly true: nothing that a later room relies on; every pass may be left out.
//!
//! The order of the passes is written here and nowhere else:
//!
//! 1. until nothing changes, at most [`ROUNDS`] times:
//!    `inline` (calls of small functions become their code, as long as the function has not grown to twice its size),
//!    `forward` (known values, laws, known branches), `accumulators` (and `forward` again if it changed something),
//!    `merge` (common subexpressions), `dead`;
//! 2. `hoist` (what does not change in a loop), and `merge` and `dead` once more if it moved something.
//!
//! Each pass takes time proportional to the size of the function.

mod accumulators;
mod dead;
mod forward;
mod hoist;
mod inline;
mod known;
mod laws;
mod merge;

use cotan_ir::{FnId, FnTraits, Op, Operator, Program, size};

/// How often the middle passes are repeated at most.
pub const ROUNDS: usize = 4;

/// Functions may be inlined into one until it has twice its size and so many statements.
const GROWTH: usize = 50;

/// How many callees are looked at to know what calls in one function may do.
const CALLEES: usize = 64;

/// A transformation of one function.
pub struct Pass<A> {
    /// Its name, for `--stage`, tests and blame.
    pub name: &'static str,
    /// Runs it; whether it changed something. The traits are those of the callees.
    pub run: fn(&mut Program<A>, FnId, &FnTraits) -> bool,
}

/// All passes by name, in the order in which they first run.
pub fn passes<A: Operator>() -> [Pass<A>; 6] {
    [
        Pass { name: "inline", run: inline::run },
        Pass { name: "forward", run: |program, f, _| forward::run(program, f) },
        Pass { name: "accumulators", run: accumulators::run },
        Pass { name: "merge", run: merge::run },
        Pass { name: "dead", run: dead::run },
        Pass { name: "hoist", run: hoist::run },
    ]
}

/// Simplifies one function.
pub fn simplify_function<A: Operator>(program: &mut Program<A>, f: FnId) {
    let fns = callees(program, f);
    simplify_with(program, f, &fns, &mut |_, _, _| {});
}

/// As [`simplify_function`]; `after` is called with the name of each pass that ran, to validate what it left.
pub fn simplify_function_observed<A: Operator>(
    program: &mut Program<A>,
    f: FnId,
    after: &mut dyn FnMut(&mut Program<A>, FnId, &'static str),
) {
    let fns = callees(program, f);
    simplify_with(program, f, &fns, after);
}

/// The function that runs in place of `f`, which is not differentiated there: small functions with derivative rules that it calls become
/// their code, as others do in [`simplify_function`]. It is `f` itself if there are none; `f` stays as it is.
pub fn running_function<A: Operator>(program: &mut Program<A>, f: FnId) -> FnId {
    let fns = callees(program, f);
    if !inline::calls_rules(program, f) {
        return f;
    }
    // Function values are of the original.
    let copy = cotan_ir::Func { captures: None, ..program.fns[f].clone() };
    let copy = program.fns.push(copy);
    let limit = 2 * size(&program.fns[f]) + GROWTH;
    for _ in 0..ROUNDS {
        if size(&program.fns[copy]) >= limit || !inline::run_with(program, copy, inline::Callees::All) {
            break;
        }
    }
    simplify_with(program, copy, &fns, &mut |_, _, _| {});
    copy
}

/// Simplifies all functions, callees before callers.
pub fn simplify<A: Operator>(program: &mut Program<A>) {
    simplify_observed(program, &mut |_, _, _| {});
}

/// As [`simplify`]; `after` is called with the name of each pass that ran, to validate what it left.
pub fn simplify_observed<A: Operator>(
    program: &mut Program<A>,
    after: &mut dyn FnMut(&mut Program<A>, FnId, &'static str),
) {
    let fns = FnTraits::of(program, program.fns.indices(), usize::MAX);
    for f in callees_first(program) {
        simplify_with(program, f, &fns, after);
    }
}

/// Runs one pass on one function, for tests.
pub fn run_pass<A: Operator>(program: &mut Program<A>, f: FnId, name: &str) -> Option<bool> {
    let fns = callees(program, f);
    let pass = passes().into_iter().find(|p| p.name == name)?;
    Some((pass.run)(program, f, &fns))
}

fn simplify_with<A: Operator>(
    program: &mut Program<A>,
    f: FnId,
    fns: &FnTraits,
    after: &mut dyn FnMut(&mut Program<A>, FnId, &'static str),
) {
    let [inline, forward, accumulators, merge, dead, hoist] = passes();
    let mut run = |program: &mut Program<A>, pass: &Pass<A>| {
        let changed = (pass.run)(program, f, fns);
        after(program, f, pass.name);
        changed
    };
    let limit = 2 * size(&program.fns[f]) + GROWTH;
    for _ in 0..ROUNDS {
        // Again for calls that came in by inlining, or whose function is known by now.
        let mut changed = size(&program.fns[f]) < limit && run(program, &inline);
        changed |= run(program, &forward);
        // What was taken from accumulators is known then.
        if run(program, &accumulators) {
            changed = true;
            run(program, &forward);
        }
        changed |= run(program, &merge);
        changed |= run(program, &dead);
        if !changed {
            break;
        }
    }
    if run(program, &hoist) {
        run(program, &merge);
        run(program, &dead);
    }
}

fn callees<A: Operator>(program: &Program<A>, f: FnId) -> FnTraits {
    let mut direct = Vec::new();
    program.fns[f].body.for_each_stmt(&mut |stmt| {
        if let Op::Call { func, .. } = &stmt.op {
            direct.push(*func);
        }
    });
    FnTraits::of(program, direct, CALLEES)
}

/// All functions, each after those that it calls (as far as they do not call it).
fn callees_first<A: Operator>(program: &Program<A>) -> Vec<FnId> {
    let mut order = Vec::new();
    let mut seen = vec![false; program.fns.len()];
    for root in program.fns.indices() {
        // `true`: all callees are done.
        let mut todo = vec![(root, false)];
        while let Some((f, done)) = todo.pop() {
            if done {
                order.push(f);
                continue;
            }
            if std::mem::replace(&mut seen[f.0 as usize], true) {
                continue;
            }
            todo.push((f, true));
            program.fns[f].body.for_each_stmt(&mut |stmt| {
                if let Op::Call { func, .. } = &stmt.op {
                    todo.push((*func, false));
                }
            });
        }
    }
    order
}
