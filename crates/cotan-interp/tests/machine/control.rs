//! Branches, loops, calls, slots.

use super::{cost, float, int, machine, run, shown, variant, vector};
use cotan_interp::Value;
use cotan_ir::FnId;

/// The states of a loop change places: all are read before one is written.
#[test]
fn states_change_places() {
    let text = "
fn f0.f(%0: I64) -> I64, I64, I64, []I64 {
  %1: I64, %2: I64, %3: I64, %4: []I64 = for %5: I64 < %0 with %6: I64 = 1, %7: I64 = 2, %8: I64 = 3 {
    yield %7, %8, %6, %6
  }
  return %1, %2, %3, %4
}
";
    assert_eq!(shown(text, vec![int(4)]), "2; 3; 1; [1, 2, 3, 1]");
    assert_eq!(shown(text, vec![int(0)]), "1; 2; 3; []");
    assert_eq!(shown(text, vec![int(-3)]), "1; 2; 3; []");
}

/// A value that is both the next state and collected is not taken from one of them.
#[test]
fn a_state_may_be_collected() {
    let text = "
fn f0.f(%0: I64, %1: []F64) -> []F64, [][]F64 {
  %2: []F64, %3: [][]F64 = for %4: I64 < %0 with %5: []F64 = %1 {
    %6: []F64 = map[add](%5, 1.0)
    yield %6, %6
  }
  return %2, %3
}
";
    assert_eq!(shown(text, vec![int(2), vector(&[0.0])]), "[2.0]; [[1.0], [2.0]]");
}

#[test]
fn while_reads_its_state_twice() {
    let text = "
fn f0.f(%0: []F64, %1: F64) -> []F64, F64 {
  %2: []F64, %3: F64 = while with %4: []F64 = %0, %5: F64 = %1 {
    %6: F64 = index(%4; 0)
    %7: Bool = lt(%6, 100.0)
    yield %7
  } do {
    %8: F64 = index(%4; 0)
    %9: F64 = mul(%8, 3.0)
    %10: []F64 = update(%4; 0; %9)
    %11: F64 = add(%5, %8)
    yield %10, %11
  }
  return %2, %3
}
";
    assert_eq!(shown(text, vec![vector(&[1.0, 7.0]), float(0.5)]), "[243.0, 7.0]; 121.5");
}

#[test]
fn branches_by_variant() {
    let text = "
adt a0.T enum { A(), B(\"0\": I64), C(\"0\": I64, \"1\": I64), D() }
fn f0.f(%0: a0.T) -> I64 {
  %1: I64 = switch %0 {
    1.B => {
      %2: I64 = field[1.B 0](%0)
      yield %2
    }
    2.C => {
      %3: I64 = field[2.C 0](%0)
      %4: I64 = field[2.C 1](%0)
      %5: I64 = sub(%3, %4)
      yield %5
    }
    else => {
      yield -1
    }
  }
  return %1
}
";
    assert_eq!(shown(text, vec![variant(0, vec![])]), "-1");
    assert_eq!(shown(text, vec![variant(1, vec![int(7)])]), "7");
    assert_eq!(shown(text, vec![variant(2, vec![int(7), int(5)])]), "2");
    assert_eq!(shown(text, vec![variant(3, vec![])]), "-1");
}

#[test]
fn calls_return_several_results() {
    let text = "
fn f0.f(%0: I64) -> I64, []F64, I64 {
  %1: I64, %2: []F64 = call[f1.g](%0, 1.5)
  return %0, %2, %1
}
fn f1.g(%1: I64, %0: F64) -> I64, []F64 {
  %2: []F64 = fill(%1; %0)
  %3: I64 = add(%1, %1)
  return %3, %2
}
";
    assert_eq!(shown(text, vec![int(2)]), "2; [1.5, 1.5]; 4");
}

/// A closure, its derivative by name, and the residual that finds its way back.
#[test]
fn dispatch_finds_derivatives() {
    let text = "
adt a0.\"res\" residual { R{w: F64, y: F64} }
fn f0.f(%0: F64) -> F64, F64, F64, F64 {
  %1: fn(F64) -> F64 = closure[f1.code](%0)
  %2: F64 = dispatch[](%1; 5.0)
  %3: F64, %4: Residual = dispatch[fwd](%1; 5.0)
  %5: Acc<fn(F64) -> F64> = acc_new()
  %6: F64 = dispatch[bwd](%4; 2.0, %5)
  %7: Tan<fn(F64) -> F64> = acc_take(%5)
  %8: F64 = tan_part[capture f1.code 0.w](%7)
  return %2, %3, %6, %8
}
fn f1.code(%0: fn(F64) -> F64, %1: F64) -> F64 captures(w: F64) {
  %2: F64 = capture[f1.code 0.w](%0)
  %3: F64 = mul(%2, %1)
  return %3
}
fn f2.\"code.fwd\"(%0: fn(F64) -> F64, %1: F64) -> F64, a0.res {
  %2: F64 = capture[f1.code 0.w](%0)
  %3: F64 = mul(%2, %1)
  %4: a0.res = adt[a0.res 0.R](%2, %1)
  return %3, %4
}
fn f3.\"code.bwd\"(%0: a0.res, %1: F64, %2: Acc<fn(F64) -> F64>) -> F64 {
  %3: F64 = field[0.R 0.w](%0)
  %4: F64 = field[0.R 1.y](%0)
  %5: F64 = mul(%1, %4)
  %6: Acc<F64> = acc_part[capture f1.code 0.w](%2)
  acc_add(%6, %5)
  %7: F64 = mul(%1, %3)
  return %7
}
residual f1.code a0.res
";
    assert_eq!(shown(text, vec![float(3.0)]), "15.0; 15.0; 6.0; 10.0");
}

/// One array, carried through a loop, a call, a branch and a tuple: no copy is ever made.
#[test]
fn updates_are_in_place() {
    let text = "
fn f0.f(%0: I64) -> []F64 {
  %1: []F64 = fill(%0; 0.0)
  %2: []F64 = for %3: I64 < %0 with %4: []F64 = %1 {
    %5: []F64 = call[f1.set](%4, %3)
    %6: Bool = lt(%3, 5)
    %7: []F64 = if %6 {
      %8: []F64 = update(%5; %3; 1.0)
      yield %8
    } else {
      %9: ([]F64, I64) = tuple(%5, %3)
      %10: []F64 = proj[0](%9)
      %11: I64 = proj[1](%9)
      %12: []F64 = update(%10; %11; 2.0)
      yield %12
    }
    yield %7
  }
  return %2
}
fn f1.set(%0: []F64, %1: I64) -> []F64 {
  %2: []F64 = update(%0; %1; 7.0)
  return %2
}
";
    let (small, large) = (cost(text, vec![int(1000)]), cost(text, vec![int(10_000)]));
    assert!(large < 11 * small, "{small} and {large}");
    // A caller's array is not touched.
    let mine = vector(&[1.0, 2.0]);
    let text = "
fn f0.f(%0: []F64) -> []F64 {
  %1: []F64 = update(%0; 0; 5.0)
  return %1
}
";
    assert!(run(text, vec![mine.clone()]).is_ok());
    assert_eq!(shown(text, vec![mine.clone()]), "[5.0, 2.0]");
    let Value::Array(a) = mine else { panic!("an array") };
    assert_eq!(a.data.get(0).to_string_of_float(), "1.0");
}

/// What is used later is copied first.
#[test]
fn what_is_shared_is_copied() {
    let text = "
fn f0.f(%0: []F64) -> []F64, []F64 {
  %1: []F64 = copy(%0)
  %2: []F64 = update(%0; 0; 5.0)
  return %1, %2
}
";
    assert_eq!(shown(text, vec![vector(&[1.0, 2.0])]), "[1.0, 2.0]; [5.0, 2.0]");
}

#[test]
fn reports_go_out_in_order() {
    let text = "
fn f0.f(%0: F64) -> F64 {
  %1: F64 = probe(\"x\", %0)
  effect[progress](\"step\", 1, 10)
  %2: F64 = probe_backward(\"x\", 2.0)
  %3: Str = to_str(%1)
  %4: Str = str_concat(%3, \"!\")
  effect[write_text](\"out.txt\", %4)
  return %1
}
";
    let (mut machine, told) = machine(text, super::limits());
    machine.call(FnId(0), vec![float(1.5)]).expect("it runs");
    assert_eq!(*told.borrow(), ["x -> 1.5", "step 1/10", "x <- 2.0", "out.txt: 1.5!"]);
}

trait FloatText {
    fn to_string_of_float(&self) -> String;
}

impl FloatText for Value {
    fn to_string_of_float(&self) -> String {
        match self {
            Value::F64(x) => cotan_interp::fmt::float(*x),
            other => format!("{other:?}"),
        }
    }
}
