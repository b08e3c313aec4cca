//! Depth, memory, time, interruption; errors with their places.

use super::{int, limits, machine, run, vector};
use cotan_interp::{Limits, Value};
use cotan_ir::FnId;
use cotan_source::Diagnostic;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

const DEPTH: &str = "
fn f0.depth(%0: I64) -> I64 {
  %1: Bool = eq(%0, 0)
  %2: I64 = if %1 {
    yield 0
  } else {
    %3: I64 = sub(%0, 1)
    %4: I64 = call[f0.depth](%3)
    %5: I64 = add(%4, 1)
    yield %5
  }
  return %2
}
";

const FOREVER: &str = "
fn f0.forever(%0: I64) -> I64 {
  %1: I64 = while with %2: I64 = %0 {
    yield true
  } do {
    %3: I64 = sub(1, %2)
    yield %3
  }
  return %1
}
";

const LIST: &str = "
adt a0.List enum { Nil(), Cons(\"0\": F64, \"1\": a0.List) }
fn f0.list(%0: I64) -> a0.List {
  %1: a0.List = adt[a0.List 0.Nil]()
  %2: a0.List = for %3: I64 < %0 with %4: a0.List = %1 {
    %5: F64 = float(%3)
    %6: a0.List = adt[a0.List 1.Cons](%5, %4)
    yield %6
  }
  return %2
}
";

fn fault(text: &str, limits: Limits, args: Vec<Value>) -> Box<Diagnostic> {
    machine(text, limits).0.call(FnId(0), args).expect_err("an error")
}

/// A million calls, on the small stack of a test.
#[test]
fn a_million_calls_fit() {
    let limits = Limits { stack: 128 << 20, ..limits() };
    let out = machine(DEPTH, limits).0.call(FnId(0), vec![int(1_000_000)]);
    assert!(matches!(out.as_deref(), Ok([Value::I64(1_000_000)])), "{out:?}");
}

#[test]
fn endless_recursion_is_reported() {
    assert_eq!(fault(DEPTH, Limits { stack: 64 << 20, ..limits() }, vec![int(-1)]).code, "E0710");
    // The machine is as good as new.
    let (mut machine, _) = machine(DEPTH, Limits { stack: 1 << 20, ..limits() });
    assert!(machine.call(FnId(0), vec![int(-1)]).is_err());
    assert!(machine.call(FnId(0), vec![int(10)]).is_ok());
}

/// Long lists are dropped on the small stack of a test.
#[test]
fn long_lists_are_dropped() {
    let out = run(LIST, vec![int(3_000_000)]);
    assert!(out.is_ok());
    drop(out);
}

#[test]
fn time_and_interruption_end_a_run() {
    let soon = Limits { deadline: Some(Instant::now() + Duration::from_millis(20)), ..limits() };
    assert_eq!(fault(FOREVER, soon, vec![int(0)]).code, "E0712");
    let interrupt = Arc::new(AtomicBool::new(true));
    assert_eq!(fault(FOREVER, Limits { interrupt, ..limits() }, vec![int(0)]).code, "E0713");
}

#[test]
fn arrays_that_do_not_fit_are_refused() {
    let text = "
fn f0.f(%0: I64) -> []F64 {
  %1: []F64 = fill(%0; 0.0)
  return %1
}
";
    let small = Limits { memory: 1 << 30, ..limits() };
    assert_eq!(fault(text, small.clone(), vec![int(1 << 40)]).code, "E0711");
    assert_eq!(fault(text, small.clone(), vec![int(i64::MAX)]).code, "E0711");
    let text = "
fn f0.f(%0: I64) -> [][]F64 {
  %1: [][]F64 = fill(%0, 1; 0.0)
  %2: [][]F64 = fill(1, %0; 0.0)
  %3: [][]F64 = matmul(%1, %2)
  return %3
}
";
    assert_eq!(fault(text, small, vec![int(100_000)]).code, "E0711");
}

/// Many arrays of moderate size, none of which is large on its own.
#[test]
fn memory_is_counted_while_it_grows() {
    let text = "
adt a0.List enum { Nil(), Cons(\"0\": []F64, \"1\": a0.List) }
fn f0.f(%0: I64) -> a0.List {
  %1: a0.List = adt[a0.List 0.Nil]()
  %2: a0.List = while with %3: a0.List = %1 {
    yield true
  } do {
    %4: []F64 = fill(%0; 1.0)
    %5: a0.List = adt[a0.List 1.Cons](%4, %3)
    yield %5
  }
  return %2
}
";
    assert_eq!(fault(text, Limits { memory: 1 << 30, ..limits() }, vec![int(1 << 17)]).code, "E0711");
}

/// The place of an error is that of its statement, and says where the library was called from.
#[test]
fn errors_have_places() {
    let mut program: cotan_ir::Program<cotan_ir::Never> = cotan_ir::read_program(
        cotan_source::FileId(0),
        "
fn f0.f(%0: []F64) -> F64 {
  %1: F64 = call[f1.g](%0)
  return %1
}
fn f1.g(%0: []F64) -> F64 {
  %1: F64 = index(%0; 2)
  return %1
}
",
    )
    .expect("a program");
    let place = |file, start| cotan_source::Span::new(cotan_source::FileId(file), start, start + 1);
    program.fns[FnId(0)].body.stmts[0].span = place(7, 10);
    program.fns[FnId(1)].body.stmts[0].span = place(8, 20);
    let mut machine =
        cotan_interp::Machine::new(program, Box::new(super::Made), Box::new(super::Told::default()), limits());
    let d = machine.call(FnId(0), vec![vector(&[1.0, 2.0])]).expect_err("out of range");
    assert_eq!((d.code, d.primary.span), ("E0701", place(8, 20)));
    assert_eq!(d.labels.iter().map(|l| l.span).collect::<Vec<_>>(), [place(7, 10)]);
}
