//! Arrays: every operation, at its edges too.

use super::{float, int, matrix, shown, vector};
use cotan_interp::Value;
use cotan_interp::value::{Array, Data};
use std::rc::Rc;

/// One operation on `%0` (and `%1`).
fn one(params: &str, op: &str, result: &str, args: Vec<Value>) -> String {
    let n = params.matches('%').count();
    shown(&format!("fn f0.f({params}) -> {result} {{\n  %{n}: {result} = {op}\n  return %{n}\n}}\n"), args)
}

fn ints(v: &[i64]) -> Value {
    Value::Array(Rc::new(Array::vector(Data::I64(v.to_vec()))))
}

#[test]
fn parts() {
    let m = || matrix(2, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let at = |op: &str, result: &str| one("%0: [][]F64", op, result, vec![m()]);
    assert_eq!(at("index(%0; 1, 2)", "F64"), "6.0");
    assert_eq!(at("index(%0; 1)", "[]F64"), "[4.0, 5.0, 6.0]");
    assert_eq!(at("index(%0; 2)", "[]F64"), "E0701: index 2 is out of range");
    assert_eq!(at("index(%0; 0, 3)", "F64"), "E0701: index 3 is out of range");
    assert_eq!(at("index(%0; -1, 0)", "F64"), "E0701: index -1 is out of range");
    assert_eq!(at("slice(%0; 0..2, 1)", "[]F64"), "[2.0, 5.0]");
    assert_eq!(at("slice(%0; 0..2, 1..3)", "[][]F64"), "[[2.0, 3.0], [5.0, 6.0]]");
    assert_eq!(at("slice(%0; 1..1)", "[][]F64"), "[]");
    assert_eq!(at("slice(%0; 2..1)", "[][]F64"), "E0702: slice 2..1 is out of range");
    assert_eq!(at("slice(%0; 0..3)", "[][]F64"), "E0702: slice 0..3 is out of range");
    assert_eq!(at("update(%0; 1, 0; 9.0)", "[][]F64"), "[[1.0, 2.0, 3.0], [9.0, 5.0, 6.0]]");
    assert_eq!(at("transpose(%0)", "[][]F64"), "[[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]]");
    assert_eq!(at("dim[1](%0)", "I64"), "3");
    assert_eq!(at("reduce[sum](%0)", "F64"), "21.0");
    let with = |op: &str, v: &[f64]| one("%0: [][]F64, %1: []F64", op, "[][]F64", vec![m(), vector(v)]);
    assert_eq!(with("update(%0; 0..2, 1; %1)", &[7.0, 8.0]), "[[1.0, 7.0, 3.0], [4.0, 8.0, 6.0]]");
    assert_eq!(with("update(%0; 0; %1)", &[7.0]), "E0703: sizes differ: [3] and [1]");
}

#[test]
fn whole_arrays() {
    let v = |op: &str, result: &str, v: &[f64]| one("%0: []F64", op, result, vec![vector(v)]);
    assert_eq!(v("reduce[product](%0)", "F64", &[2.0, 3.0]), "6.0");
    assert_eq!(v("reduce[product](%0)", "F64", &[]), "1.0");
    assert_eq!(v("reduce[sum](%0)", "F64", &[]), "0.0");
    assert_eq!(v("reduce[max](%0)", "F64", &[1.0, f64::NAN, 2.0]), "nan");
    assert_eq!(v("reduce[min](%0)", "F64", &[1.0, -0.0, 0.0]), "-0.0");
    assert_eq!(v("reduce[max](%0)", "F64", &[]), "E0708: the maximum of an empty array");
    assert_eq!(v("arg_max(%0)", "I64", &[1.0, 3.0, 3.0]), "1");
    assert_eq!(v("arg_min(%0)", "I64", &[1.0, f64::NAN, -3.0, f64::NAN]), "1");
    assert_eq!(v("arg_min(%0)", "I64", &[]), "E0708: the minimum of an empty array");
    assert_eq!(v("argsort(%0)", "[]I64", &[2.0, f64::NAN, 1.0, 2.0, f64::NEG_INFINITY]), "[4, 2, 0, 3, 1]");
    assert_eq!(v("map[sqrt](%0)", "[]F64", &[4.0, 9.0]), "[2.0, 3.0]");
    assert_eq!(v("map[lt](%0, 1.5)", "[]Bool", &[1.0, 2.0]), "[true, false]");
    assert_eq!(v("map[lt](%0, 1.5)", "[]Bool", &[]), "[]");
    assert_eq!(v("fill(2, 1; 0.5)", "[][]F64", &[]), "[[0.5], [0.5]]");
    assert_eq!(v("fill(-2; 0.5)", "[]F64", &[]), "[]");
    let two = |op: &str, result: &str, a: &[f64], b: &[f64]| {
        one("%0: []F64, %1: []F64", op, result, vec![vector(a), vector(b)])
    };
    assert_eq!(two("concat(%0, %1)", "[]F64", &[1.0], &[2.0, 3.0]), "[1.0, 2.0, 3.0]");
    assert_eq!(two("map[sub](%0, %1)", "[]F64", &[1.0], &[2.0, 3.0]), "E0703: sizes differ: [1] and [2]");
    assert_eq!(two("array(%0, %1)", "[][]F64", &[1.0], &[2.0]), "[[1.0], [2.0]]");
    assert_eq!(two("array(%0, %1)", "[][]F64", &[1.0], &[2.0, 3.0]), "E0703: sizes differ: [1] and [2]");
    assert_eq!(two("equal(%0, %1)", "Bool", &[1.0], &[1.0]), "true");
    assert_eq!(two("equal(%0, %1)", "Bool", &[1.0], &[1.0, 1.0]), "false");
    let at = |op: &str, p: &[i64]| one("%0: []F64, %1: []I64", op, "[]F64", vec![vector(&[1.0, 2.0, 3.0]), ints(p)]);
    assert_eq!(at("gather(%0, %1)", &[2, 0, 2]), "[3.0, 1.0, 3.0]");
    assert_eq!(at("gather(%0, %1)", &[3]), "E0701: index 3 is out of range");
    assert_eq!(at("scatter_add(%0, %1, %0)", &[0, 0, 2]), "[4.0, 2.0, 6.0]");
    assert_eq!(at("scatter_add(%0, %1, %0)", &[0, 0, -1]), "E0701: index -1 is out of range");
    assert_eq!(at("scatter_add(%0, %1, %0)", &[0]), "E0703: sizes differ: [1] and [3]");
}

#[test]
fn integers_are_exact() {
    let v = |op: &str, result: &str, v: &[i64]| one("%0: []I64", op, result, vec![ints(v)]);
    assert_eq!(v("reduce[sum](%0)", "I64", &[i64::MAX, 1]), "E0704: integer overflow");
    assert_eq!(v("reduce[product](%0)", "I64", &[]), "1");
    assert_eq!(v("arg_max(%0)", "I64", &[i64::MAX - 1, i64::MAX]), "1");
    assert_eq!(v("argsort(%0)", "[]I64", &[i64::MAX, i64::MAX - 1]), "[1, 0]");
    let m = |op: &str, a: &[i64]| {
        let a = Value::Array(Rc::new(Array { shape: vec![2, 2], data: Data::I64(a.to_vec()) }));
        one("%0: [][]I64", op, "[][]I64", vec![a])
    };
    assert_eq!(m("matmul(%0, %0)", &[1, 2, 3, 4]), "[[7, 10], [15, 22]]");
    assert_eq!(m("matmul(%0, %0)", &[i64::MAX, 0, 0, 1]), "E0704: integer overflow");
    let p = |op: &str, i: i64| one("%0: I64", op, "I64", vec![int(i)]);
    assert_eq!(p("mul(%0, %0)", 1 << 40), "E0704: integer overflow");
    assert_eq!(p("div(1, %0)", 0), "E0705: integer division by zero");
    assert_eq!(p("rem(-7, %0)", 4), "-3");
    assert_eq!(p("neg(%0)", i64::MIN), "E0704: integer overflow");
    assert_eq!(one("%0: F64", "int(%0)", "I64", vec![float(f64::NAN)]).split(':').next(), Some("E0706"));
    assert_eq!(p("powi(2, %0)", -1).split(':').next(), Some("E0707"));
}

#[test]
fn products_of_matrices() {
    let m = || matrix(2, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let with = |op: &str, result: &str, v: &[f64]| one("%0: [][]F64, %1: []F64", op, result, vec![m(), vector(v)]);
    assert_eq!(with("matmul(%0, %1)", "[]F64", &[1.0, 0.0, 1.0]), "[4.0, 10.0]");
    assert_eq!(with("matmul(%1, %0)", "[]F64", &[1.0, 1.0]), "[5.0, 7.0, 9.0]");
    assert_eq!(with("matmul(%0, %1)", "[]F64", &[1.0]), "E0703: sizes differ: [2][3] and [1]");
    // An empty sum is a zero of the right type.
    let text = "
fn f0.f(%0: I64) -> [][]F32, [][]I64 {
  %1: [][]F32 = build %2: I64 < 2, %3: I64 < %0 {
    yield 1.0_f32
  }
  %4: [][]F32 = build %5: I64 < %0, %6: I64 < 1 {
    yield 1.0_f32
  }
  %7: [][]F32 = matmul(%1, %4)
  %8: [][]F32 = map[add](%7, 0.5_f32)
  %9: [][]I64 = fill(1, %0; 1)
  %10: [][]I64 = transpose(%9)
  %11: [][]I64 = matmul(%9, %10)
  return %8, %11
}
";
    assert_eq!(shown(text, vec![int(0)]), "[[0.5], [0.5]]; [[0]]");
    assert_eq!(shown(text, vec![int(2)]), "[[2.5], [2.5]]; [[2]]");
}

/// The order of a sum, by the book.
#[test]
fn sums_have_an_order() {
    fn block(v: &[f64]) -> f64 {
        let lane = |k: usize| v.iter().skip(k).step_by(8).fold(0.0, |s, x| s + x);
        let l: Vec<f64> = (0..8).map(lane).collect();
        ((l[0] + l[4]) + (l[2] + l[6])) + ((l[1] + l[5]) + (l[3] + l[7]))
    }
    fn sum(v: &[f64]) -> f64 {
        if v.len() <= 4096 { block(v) } else { sum(&v.chunks(4096).map(block).collect::<Vec<_>>()) }
    }
    let mut x = 0.1f64;
    for n in [0, 1, 7, 8, 9, 100, 4096, 4097, 10_000] {
        let v: Vec<f64> = (0..n)
            .map(|_| {
                x = (x * 77.7).fract() + 1e-3;
                x * 1e10f64.powf(x - 0.5)
            })
            .collect();
        assert_eq!(one("%0: []F64", "reduce[sum](%0)", "F64", vec![vector(&v)]), format!("{:?}", sum(&v)), "{n}");
    }
}

#[test]
fn comprehensions_stack() {
    let text = "
fn f0.f(%0: I64, %1: I64) -> [][]F64, [][][]I64 {
  %2: [][]F64, %3: [][][]I64 = build %4: I64 < %0, %5: I64 < %1 {
    %6: F64 = float(%5)
    %7: []I64 = array(%4, %5)
    yield %6, %7
  }
  return %2, %3
}
";
    assert_eq!(shown(text, vec![int(2), int(2)]), "[[0.0, 1.0], [0.0, 1.0]]; [[[0, 0], [0, 1]], [[1, 0], [1, 1]]]");
    assert_eq!(shown(text, vec![int(2), int(0)]), "[[], []]; [[], []]");
    assert_eq!(shown(text, vec![int(-1), int(5)]), "[]; []");
    let text = "
fn f0.f(%0: I64) -> [][]F64 {
  %1: [][]F64 = build %2: I64 < %0 {
    %3: []F64 = fill(%2; 1.0)
    yield %3
  }
  return %1
}
";
    assert_eq!(shown(text, vec![int(2)]), "E0703: sizes differ: [0] and [1]");
}
