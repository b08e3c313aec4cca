//! Simplification takes time in proportion to the size: long straight functions, wide tuples, deep nests.

use cotan_ir::{Atom, FnId, FuncBuilder, Never, Op, Program, Type, size};
use cotan_prim::Prim;
use cotan_source::Span;
use std::time::{Duration, Instant};

/// A long chain of arithmetic, every tenth step of it through a tuple, some of it repeated or unused.
fn straight(n: usize) -> Program<Never> {
    let mut program = Program::default();
    let f64 = program.intern(Type::F64);
    let mut b = FuncBuilder::new(&mut program, "straight");
    let x = b.param(f64, Some("x".into()));
    let mut last = Atom::Var(x);
    for i in 0..n {
        last = match i % 10 {
            0 => {
                let pair = b.emit_typed1(Op::Tuple(vec![last, x.into()]));
                b.emit_typed1(Op::Proj(pair.into(), 0)).into()
            }
            1 => b.emit_typed1(Op::Prim(Prim::Mul, vec![last, Atom::f64(1.0)])).into(),
            2 => {
                b.emit_typed1(Op::Prim(Prim::Exp, vec![last.clone()]));
                last
            }
            3 => b.emit_typed1(Op::Prim(Prim::Sin, vec![last])).into(),
            _ => b.emit_typed1(Op::Prim(Prim::Add, vec![last, x.into()])).into(),
        };
    }
    let func = b.finish(vec![last], Span::NONE);
    program.fns.push(func);
    program
}

/// Conditionals in conditionals.
fn nested(n: usize) -> Program<Never> {
    let mut program = Program::default();
    let f64 = program.intern(Type::F64);
    let bool_type = program.intern(Type::Bool);
    let mut b = FuncBuilder::new(&mut program, "nested");
    let c = b.param(bool_type, None);
    let x = b.param(f64, None);
    let mut last = Atom::Var(x);
    for _ in 0..n {
        b.begin_block();
        let y = b.emit_typed1(Op::Prim(Prim::Sin, vec![last.clone()]));
        let then = b.end_block(vec![y.into()]);
        b.begin_block();
        let otherwise = b.end_block(vec![last]);
        last = b.emit_typed1(Op::If { cond: c.into(), then, otherwise }).into();
    }
    let func = b.finish(vec![last], Span::NONE);
    program.fns.push(func);
    program
}

fn time(mut program: Program<Never>) -> Duration {
    let start = Instant::now();
    cotan_opt::simplify_function(&mut program, FnId(0));
    let took = start.elapsed();
    assert!(size(&program.fns[FnId(0)]) > 0);
    took
}

#[test]
fn time_grows_with_the_size() {
    for make in [straight, nested] {
        time(make(1_000));
        let small = time(make(10_000));
        let large = time(make(80_000));
        // Eight times the size; quadratic time would be 64 times.
        assert!(large < small * 30 + Duration::from_millis(50), "{small:?} for 10,000, {large:?} for 80,000");
        assert!(small < Duration::from_millis(1_000), "{small:?} for 10,000 statements");
    }
}
