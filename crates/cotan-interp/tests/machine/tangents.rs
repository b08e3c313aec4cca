//! Tangents and accumulators.

use super::{cost, int, shown, vector};

/// Parts of parts, of rows, of tuples in arrays and of closures all add to the whole.
#[test]
fn parts_add_to_the_whole() {
    let text = "
fn f0.f(%0: I64) -> Tan<[][]F64>, Tan<[](F64, []F64)> {
  %1: Acc<[][]F64> = acc_new()
  %2: Acc<F64> = acc_part[index](%1; 1, 0; 2, 2)
  acc_add(%2, 1.0)
  %3: Acc<[]F64> = acc_part[index](%1; 1; 2, 2)
  %4: Acc<F64> = acc_part[index](%3; 1; 2)
  acc_add(%4, 2.0)
  acc_add(%2, 10.0)
  %5: Acc<[]F64> = acc_part[index](%1; 0..2, 0; 2, 2)
  %6: []F64 = array(100.0, 200.0)
  %7: Tan<[]F64> = sparse(%6)
  acc_add(%5, %7)
  %8: Acc<[](F64, []F64)> = acc_new()
  %9: Acc<(F64, []F64)> = acc_part[index](%8; 1; 2)
  %10: Acc<F64> = acc_part[proj 0](%9)
  acc_add(%10, 5.0)
  %11: Acc<[]F64> = acc_part[proj 1](%9)
  acc_add(%11, %7)
  acc_add(%11, %7)
  %12: Tan<[][]F64> = acc_take(%1)
  %13: Tan<[](F64, []F64)> = acc_take(%8)
  return %12, %13
}
";
    assert_eq!(shown(text, vec![int(0)]), "[[100.0, 0.0], [211.0, 2.0]]; [0, (5.0, [200.0, 400.0])]");
}

/// A whole that is added to zero is kept, and copied only where a part is added while somebody else holds it.
#[test]
fn a_whole_is_kept_until_a_part_comes() {
    let text = "
fn f0.f(%0: []F64) -> Tan<[]F64>, Tan<[]F64>, []F64 {
  %1: Tan<[]F64> = sparse(%0)
  %2: Acc<[]F64> = acc_new()
  acc_add(%2, %1)
  %3: Acc<[]F64> = acc_new(%1)
  %4: Acc<F64> = acc_part[index](%3; 0; 2)
  acc_add(%4, 1.0)
  %5: Tan<[]F64> = acc_take(%2)
  %6: Tan<[]F64> = acc_take(%3)
  return %5, %6, %0
}
";
    assert_eq!(shown(text, vec![vector(&[1.0, 2.0])]), "[1.0, 2.0]; [2.0, 2.0]; [1.0, 2.0]");
}

#[test]
fn null_forgets() {
    let text = "
fn f0.f(%0: []F64) -> Tan<[]F64>, F64 {
  %1: Acc<[]F64> = acc_null()
  %2: Acc<F64> = acc_part[index](%1; 0; 2)
  acc_add(%2, 1.0)
  %3: Acc<F64> = acc_part[index](%1; 1; 2)
  acc_add(%3, 1.0)
  acc_add(%3, 1.0)
  %4: Tan<[]F64> = acc_take(%1)
  %5: F64 = acc_take(%3)
  return %4, %5
}
";
    assert_eq!(shown(text, vec![vector(&[1.0, 2.0])]), "0; 0.0");
}

/// The error has the place of the part.
#[test]
fn parts_are_checked() {
    let text = "
fn f0.f(%0: I64) -> Tan<[]F64> {
  %1: Acc<[]F64> = acc_new()
  %2: Acc<F64> = acc_part[index](%1; %0; 2)
  acc_add(%2, 1.0)
  %3: Tan<[]F64> = acc_take(%1)
  return %3
}
";
    assert_eq!(shown(text, vec![int(1)]), "[0.0, 1.0]");
    assert_eq!(shown(text, vec![int(2)]), "E0701: index 2 is out of range");
    assert_eq!(shown(text, vec![int(-1)]), "E0701: index -1 is out of range");
}

/// Adding to n elements of an array of n elements is linear.
#[test]
fn adding_to_an_element_costs_an_element() {
    let text = "
fn f0.f(%0: I64) -> Tan<[]F64> {
  %1: Acc<[]F64> = acc_new()
  for %2: I64 < %0 {
    %3: Acc<F64> = acc_part[index](%1; %2; %0)
    acc_add(%3, 1.0)
  }
  %4: Tan<[]F64> = acc_take(%1)
  return %4
}
";
    let (small, large) = (cost(text, vec![int(1000)]), cost(text, vec![int(10_000)]));
    assert!(large < 11 * small, "{small} and {large}");
}

const SHAPES: &str = "adt a0.T enum { A(\"0\": F64), B(\"0\": F64, \"1\": []F64) }\n";

#[test]
fn tangents_of_different_variants_do_not_add() {
    let text = format!(
        "{SHAPES}
fn f0.f(%0: I64) -> Tan<a0.T> {{
  %1: Tan<[]F64> = zero()
  %2: Tan<a0.T> = tan_adt[a0.T 0.A](1.0)
  %3: Tan<a0.T> = tan_adt[a0.T 1.B](2.0, %1)
  %4: Tan<a0.T> = zero()
  %5: Tan<a0.T> = space_add(%2, %4)
  %6: Tan<a0.T> = space_add(%5, %2)
  %7: Tan<a0.T> = space_add(%6, %3)
  return %7
}}
"
    );
    assert_eq!(shown(&text, vec![int(0)]), "E0709: tangents of different shape are combined: of `A` and of `B`");
    let text = format!(
        "{SHAPES}
fn f0.f(%0: I64) -> Tan<a0.T> {{
  %1: Acc<a0.T> = acc_new()
  %2: Acc<F64> = acc_part[field a0.T 1.B 0](%1)
  acc_add(%2, 1.0)
  %3: Tan<a0.T> = tan_adt[a0.T 0.A](1.0)
  acc_add(%1, %3)
  %4: Tan<a0.T> = acc_take(%1)
  return %4
}}
"
    );
    assert_eq!(shown(&text, vec![int(0)]), "E0709: tangents of different shape are combined: of `B` and of `A`");
}

#[test]
fn zeros_are_filled_in_by_the_point() {
    let text = format!(
        "{SHAPES}
fn f0.f(%0: []F64) -> a0.T, Tan<a0.T>, F64, Tan<a0.T>, Tan<[]F64> {{
  %1: a0.T = adt[a0.T 1.B](1.0, %0)
  %2: Tan<[]F64> = zero()
  %3: Tan<a0.T> = tan_adt[a0.T 1.B](2.0, %2)
  %4: Tan<a0.T> = densify(%3, %1)
  %5: a0.T = move(%1, %3)
  %6: F64 = space_dot(%4, %4)
  %7: Tan<a0.T> = space_scale(3.0, %4)
  %8: Tan<[]F64> = tan_update(%2; 1; 2; 7.0)
  return %5, %4, %6, %7, %8
}}
"
    );
    assert_eq!(
        shown(&text, vec![vector(&[5.0, 6.0])]),
        "B(3.0, [5.0, 6.0]); B(2.0, [0.0, 0.0]); 4.0; B(6.0, [0.0, 0.0]); [0.0, 7.0]"
    );
}
