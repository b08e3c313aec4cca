//! Simplification of large functions: long straight ones, and many branches.

use cotan_ir::{Atom, FnId, FuncBuilder, Never, Op, Program, Type, size};
use cotan_prim::Prim;
use cotan_source::Span;

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

#[test]
fn large_functions_are_simplified_and_do_not_grow() {
    for make in [straight, nested] {
        let mut program = make(20_000);
        let before = size(&program.fns[FnId(0)]);
        cotan_opt::simplify_function(&mut program, FnId(0));
        let after = size(&program.fns[FnId(0)]);
        assert!(after > 0 && after <= before, "{before} statements became {after}");
    }
}
