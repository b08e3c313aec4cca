//! Derivatives of all constructs, to order three in all mixtures, are valid IR.

use cotan_ad::Differentiator;
use cotan_ir::{Deriv, Derive, FnId, Never, Program, read_program, validate};
use cotan_source::FileId;

const PROGRAM: &str = r#"
adt a0.List enum { Nil(), Cons("0": F64, "1": a0) }
adt a1.Point struct { Point{x: F64, v: []F64} }

fn f0.scalar(%x.0: F64, %y.1: F64) -> F64 {
  %2: F64 = mul(%0, %1)
  %3: Bool = gt(%2, 0.0)
  %4: F64 = if %3 {
    %5: F64 = sin(%2)
    %6: F64 = mul(%5, %1)
    yield %6
  } else {
    %7: F64 = div(%0, %1)
    yield %7
  }
  %8: F64 = add(%4, %2)
  return %8
}

fn f1.total(%l.0: a0) -> F64 {
  %1: F64 = switch %0 {
    0 => {
      yield 0.0
    }
    1 => {
      %2: F64 = field[1 0](%0)
      %3: a0 = field[1 1](%0)
      %4: F64 = call[f1](%3)
      %5: F64 = mul(%2, %4)
      %6: F64 = add(%5, %2)
      yield %6
    }
  }
  return %1
}

fn f2.loops(%n.0: I64, %a.1: []F64, %s.2: F64) -> F64, []F64 {
  %3: F64, %4: []F64 = for %i.5: I64 < %0 with %t.6: F64 = 1.0, %b.7: []F64 = %1 {
    %8: F64 = index(%7; %5)
    %9: F64 = mul(%8, %6)
    %10: F64 = mul(%9, %2)
    %11: []F64 = update(%7; %5; %10)
    yield %9, %11
  }
  %12: F64, %13: I64 = while with %u.14: F64 = %3, %k.15: I64 = 0 {
    %16: Bool = lt(%14, 10.0)
    yield %16
  } do {
    %17: F64 = mul(%14, %14)
    %18: I64 = add(%15, 1)
    yield %17, %18
  }
  %19: F64 = reduce[sum](%4)
  %20: F64 = add(%12, %19)
  return %20, %4
}

fn f3.arrays(%a.0: [][]F64, %x.1: []F64, %p.2: []I64) -> F64 {
  %3: []F64 = matmul(%0, %1)
  %4: I64 = dim[0](%0)
  %5: [][]F64 = build %i.6: I64 < %4, %j.7: I64 < %4 {
    %8: F64 = index(%3; %6)
    %9: F64 = index(%3; %7)
    %10: F64 = mul(%8, %9)
    yield %10
  }
  %11: [][]F64 = build %i.12: I64 < %4 {
    %13: []F64 = index(%5; %12)
    %14: []F64 = map[mul](%13, %13)
    yield %14
  }
  %15: [][]F64 = matmul(%5, %11)
  %16: []F64 = index(%15; 0)
  %17: []F64 = gather(%16, %2)
  %18: []F64 = slice(%17; 1..2)
  %19: []F64 = concat(%18, %16)
  %20: F64 = reduce[product](%19)
  %21: F64 = reduce[max](%19)
  %22: F64 = mul(%20, %21)
  %23: []F64 = map[mul](%19, %22)
  %24: F64 = reduce[sum](%23)
  return %24
}

fn f4.point(%p.0: a1, %q.1: (F64, []F64)) -> (F64, a1) {
  %2: F64 = field[0 0](%0)
  %3: []F64 = field[0 1](%0)
  %4: []F64 = proj[1](%1)
  %5: F64 = proj[0](%1)
  %6: []F64 = map[add](%3, %4)
  %7: F64 = mul(%2, %5)
  %8: a1 = adt[a1 0](%7, %6)
  %9: (F64, a1) = tuple(%7, %8)
  return %9
}

fn f5.code(%self.0: fn(F64) -> F64, %x.1: F64) -> F64 captures(w: F64, g: fn(F64) -> F64) {
  %2: F64 = capture[f5 0](%0)
  %3: fn(F64) -> F64 = capture[f5 1](%0)
  %4: F64 = dispatch[](%3; %1)
  %5: F64 = mul(%2, %4)
  return %5
}

fn f6.make(%w.0: F64, %g.1: fn(F64) -> F64) -> F64 {
  %2: fn(F64) -> F64 = closure[f5](%0, %1)
  %3: F64 = dispatch[](%2; %0)
  %4: F64 = dispatch[](%2; %3)
  return %4
}
"#;

#[test]
fn derivatives_are_valid_to_order_three() {
    let mut program: Program<Never> = read_program(FileId(0), PROGRAM).expect("the program reads");
    assert_eq!(validate(&mut program), Vec::<String>::new());
    let ad = Differentiator::new(None);
    let mut frontier: Vec<FnId> = program.fns.indices().collect();
    for order in 1..=3 {
        let mut next = Vec::new();
        for f in frontier {
            for which in [Deriv::Jvp, Deriv::Fwd, Deriv::Bwd] {
                next.push(ad.derive(&mut program, f, which).expect("a derivative"));
            }
        }
        let faults = validate(&mut program);
        assert!(
            faults.is_empty(),
            "order {order}: {} faults, first {:#?}",
            faults.len(),
            &faults[..faults.len().min(5)]
        );
        frontier = next;
    }
}
