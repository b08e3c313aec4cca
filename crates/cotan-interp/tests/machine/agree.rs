//! The machine and the evaluator that differentiates by values run the same programs to the same end.
//!
//! They share the last uses of variables, but neither the instructions nor the slots nor the operations.

#[path = "../../../cotan-ir/tests/generate/mod.rs"]
mod generate;

use super::{Made, Told, limits};
use cotan_interp::value::{Array, Data};
use cotan_interp::{Limits, Machine, Reference, Value, fmt};
use cotan_ir::{AdOp, AdtId, FnId, Never, Program, print_program, read_program};
use cotan_source::{Diagnostic, FileId};
use std::rc::Rc;

fn arguments() -> Vec<Vec<Value>> {
    let floats = |v: &[f64]| Value::Array(Rc::new(Array::vector(Data::F64(v.to_vec()))));
    let node = |variant, fields| Value::Adt(Rc::new(cotan_interp::value::AdtValue { adt: AdtId(0), variant, fields }));
    let nil = || node(0, vec![]);
    vec![
        vec![
            Value::F64(1.5),
            Value::I64(2),
            Value::Bool(true),
            floats(&[1.0, -2.0, 0.5]),
            node(1, vec![Value::F64(3.0), nil()]),
        ],
        vec![Value::F64(-0.0), Value::I64(0), Value::Bool(false), floats(&[f64::NAN, 0.0, -0.0]), nil()],
        vec![Value::F64(f64::INFINITY), Value::I64(-1), Value::Bool(true), floats(&[1.0]), nil()],
    ]
}

fn told(program: &Program<Never>, result: Result<Vec<Value>, Box<Diagnostic>>) -> String {
    match result {
        Ok(values) => {
            values.iter().map(|v| fmt::text(program, v, true)).collect::<Vec<_>>().join("; ").replace("-nan", "nan")
        }
        Err(d) => format!("{} at {:?}: {}", d.code, d.primary.span, d.message),
    }
}

#[test]
fn generated_programs_run_to_the_same_end() {
    for seed in 0..1500 {
        let program = generate::program(seed, 8 + seed as usize % 20);
        let text = print_program(&program, false);
        let plain: Program<Never> = read_program(FileId(0), &text).expect("no operators of differentiation");
        for args in arguments() {
            let small = Limits { stack: 512 << 10, ..limits() };
            let mut machine = Machine::new(plain.clone(), Box::new(Made), Box::new(Told::default()), small.clone());
            let mut watched = Machine::new(plain.clone(), Box::new(Made), Box::new(Told::default()), small.clone());
            watched.watch();
            let values: Program<AdOp> = read_program(FileId(0), &text).expect("a program");
            let mut reference = Reference::new(values, Box::new(Told::default()), small);
            let expected = told(&plain, reference.call(FnId(0), args.clone()));
            assert_eq!(told(&plain, machine.call(FnId(0), args.clone())), expected, "seed {seed}, {args:?}\n{text}");
            assert_eq!(told(&plain, watched.call(FnId(0), args)), expected, "watched, seed {seed}\n{text}");
        }
    }
}
