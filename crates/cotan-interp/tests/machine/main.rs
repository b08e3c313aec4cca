//! The machine on programs in the text of the intermediate representation.
//!
//! In: programs and arguments. Out: values, errors and costs as they must be.

mod agree;
mod arrays;
mod control;
mod limits;
mod tangents;

use cotan_interp::value::{AdtValue, Array, Data};
use cotan_interp::{Host, Limits, Machine, Value, fmt};
use cotan_ir::{AdtId, Deriv, Derive, FnId, Never, Program, read_program, validate};
use cotan_source::{Diagnostic, FileId, Span};
use std::cell::RefCell;
use std::rc::Rc;

/// What a program told the outside.
#[derive(Default)]
struct Told(Rc<RefCell<Vec<String>>>);

impl Host for Told {
    fn probe(&mut self, label: &str, value: &str, backward: bool) {
        self.0.borrow_mut().push(format!("{label} {} {value}", if backward { "<-" } else { "->" }));
    }
    fn progress(&mut self, label: &str, done: i64, total: i64) {
        self.0.borrow_mut().push(format!("{label} {done}/{total}"));
    }
    fn write_text(&mut self, path: &str, text: &str) -> Result<(), String> {
        if path.is_empty() {
            return Err("no such place".into());
        }
        self.0.borrow_mut().push(format!("{path}: {text}"));
        Ok(())
    }
}

/// Derivatives that the program already holds.
struct Made;

impl Derive for Made {
    fn derive(&self, program: &mut Program<Never>, f: FnId, which: Deriv) -> Result<FnId, Box<Diagnostic>> {
        let name = format!("{}.{which:?}", program.fns[f].name).to_lowercase();
        let found = program.fns.iter_enumerated().find(|(_, f)| f.name == name).map(|(id, _)| id);
        found.ok_or_else(|| Box::new(Diagnostic::error("E0601", Span::NONE, format!("no {name}"))))
    }
}

fn limits() -> Limits {
    Limits { stack: 1 << 30, memory: 4 << 30, deadline: None, interrupt: Default::default() }
}

fn machine(text: &str, limits: Limits) -> (Machine, Rc<RefCell<Vec<String>>>) {
    let mut program: Program<Never> =
        read_program(FileId(0), text).unwrap_or_else(|d| panic!("{} {}", d.message, d.primary.text));
    let faults = validate(&mut program);
    assert!(faults.is_empty(), "{faults:#?}");
    let told = Rc::new(RefCell::new(Vec::new()));
    (Machine::new(program, Box::new(Made), Box::new(Told(told.clone())), limits), told)
}

/// The results of the first function.
fn run(text: &str, args: Vec<Value>) -> Result<Vec<Value>, Box<Diagnostic>> {
    machine(text, limits()).0.call(FnId(0), args)
}

/// The same as text.
fn shown(text: &str, args: Vec<Value>) -> String {
    let (mut machine, _) = machine(text, limits());
    match machine.call(FnId(0), args) {
        Ok(values) => {
            let all: Vec<String> = values.iter().map(|v| fmt::text(&machine.program, v, true)).collect();
            all.join("; ")
        }
        Err(d) => format!("{}: {}", d.code, d.message),
    }
}

/// The operations that the first function takes.
fn cost(text: &str, args: Vec<Value>) -> u64 {
    let (mut machine, _) = machine(text, limits());
    machine.call(FnId(0), args).expect("the program runs");
    machine.cost
}

fn int(i: i64) -> Value {
    Value::I64(i)
}

fn float(x: f64) -> Value {
    Value::F64(x)
}

fn vector(v: &[f64]) -> Value {
    Value::Array(Rc::new(Array::vector(Data::F64(v.to_vec()))))
}

fn matrix(rows: usize, v: &[f64]) -> Value {
    Value::Array(Rc::new(Array { shape: vec![rows, v.len() / rows], data: Data::F64(v.to_vec()) }))
}

fn variant(variant: u32, fields: Vec<Value>) -> Value {
    Value::Adt(Rc::new(AdtValue { adt: AdtId(0), variant, fields }))
}
