//! Small programs, by values.

use super::Reference;
use crate::{Host, Limits, Value};
use cotan_ir::{FnId, read_program};
use cotan_source::{Diagnostic, FileId};

struct Silent;

impl Host for Silent {
    fn probe(&mut self, _: &str, _: &str, _: bool) {}
    fn progress(&mut self, _: &str, _: i64, _: i64) {}
    fn write_text(&mut self, _: &str, _: &str) -> Result<(), String> {
        Ok(())
    }
}

/// Numbers the variables, as the text demands: `%x` becomes `%x.0`.
fn numbered(text: &str) -> String {
    let mut out = String::new();
    let mut seen: Vec<&str> = Vec::new();
    for line in text.split_inclusive('\n') {
        if line.starts_with("fn ") {
            seen.clear();
        }
        let mut parts = line.split('%');
        out.push_str(parts.next().expect("a line has a start"));
        for part in parts {
            let end = part.find(|c: char| !c.is_alphanumeric()).unwrap_or(part.len());
            let (name, rest) = part.split_at(end);
            let at = seen.iter().position(|n| *n == name).unwrap_or_else(|| {
                seen.push(name);
                seen.len() - 1
            });
            out.push_str(&format!("%{name}.{at}{rest}"));
        }
    }
    out
}

fn try_run(text: &str, x: f64) -> Result<Value, Box<Diagnostic>> {
    let program = read_program(FileId(0), &numbered(text)).expect("a program");
    let limits = Limits { stack: 1 << 20, memory: 1 << 32, deadline: None, interrupt: Default::default() };
    let mut reference = Reference::new(program, Box::new(Silent), limits);
    Ok(reference.call(FnId(0), vec![Value::F64(x)])?.remove(0))
}

fn run(text: &str, x: f64) -> f64 {
    match try_run(text, x) {
        Ok(Value::F64(y)) => y,
        other => panic!("{other:?}"),
    }
}

/// `f0`: the derivative of `f1`, in the mode that is named.
fn derivative(mode: &str, of: &str) -> String {
    let back = "%p: fn(F64) -> F64 = proj[1](%r)\n  %d: F64 = dispatch[](%p; 1.0)";
    let (op, rest) = match mode {
        "forward" => ("ad_jvp(%f, %x, 1.0)", "%d: F64 = proj[1](%r)"),
        _ => ("ad_vjp(%f, %x)", back),
    };
    let second = if mode == "forward" { "F64" } else { "fn(F64) -> F64" };
    format!(
        "fn f0.main(%x: F64) -> F64 {{\n  %f: fn(F64) -> F64 = closure[f1.g]()\n  %r: (F64, {second}) = {op}\n  {rest}\n  \
         return %d\n}}\n\n{of}"
    )
}

/// d/dx of x * d/dy (x + y) at y = x: 1, and 2 where the two derivatives are confused.
fn confusing(inner: &str) -> String {
    let body = derivative(inner, "");
    let inner_body = body
        .replace("fn f0.main(%x: F64)", "fn f1.g(%this: fn(F64) -> F64, %x: F64)")
        .replace("-> F64 {\n  %f", "-> F64 captures() {\n  %f")
        .replace("closure[f1.g]()", "closure[f2.h](%x)")
        .replace("return %d", "%m: F64 = mul(%x, %d)\n  return %m");
    format!(
        "{inner_body}fn f2.h(%this: fn(F64) -> F64, %y: F64) -> F64 captures(x: F64) {{\n  \
         %x: F64 = capture[f2.h 0.x](%this)\n  %s: F64 = add(%x, %y)\n  return %s\n}}\n"
    )
}

#[test]
fn perturbations_are_not_confused() {
    for outer in ["forward", "backward"] {
        for inner in ["forward", "backward"] {
            assert_eq!(run(&derivative(outer, &confusing(inner)), 1.0), 1.0, "{outer} over {inner}");
        }
    }
}

#[test]
fn zero_annihilates() {
    // 0 * sqrt(0 * x) + x at 0: the slope of the root is infinite, and what comes to it is 0 from both sides.
    let g = "fn f1.g(%this: fn(F64) -> F64, %x: F64) -> F64 captures() {\n  %n: F64 = mul(0.0, %x)\n  %r: F64 = sqrt(%n)\n  \
             %p: F64 = mul(%r, 0.0)\n  %s: F64 = add(%p, %x)\n  return %s\n}\n";
    for mode in ["forward", "backward"] {
        assert_eq!(run(&derivative(mode, g), 0.0), 1.0, "{mode}");
    }
}

#[test]
fn endless_recursion_is_reported() {
    let g = "fn f1.g(%this: fn(F64) -> F64, %x: F64) -> F64 captures() {\n  %r: F64 = dispatch[](%this; %x)\n  return %r\n}\n";
    for mode in ["forward", "backward"] {
        let found = try_run(&derivative(mode, g), 0.0);
        assert_eq!(found.expect_err("an error").code, "E0710");
    }
}

#[test]
fn a_pullback_leaves_without_numbers_of_its_tape() {
    let g = "fn f1.g(%this: fn(F64) -> F64, %x: F64) -> F64 captures() {\n  %r: F64 = mul(%x, %x)\n  return %r\n}\n";
    let text = derivative("backward", g).replace("-> F64 {", "-> fn(F64) -> F64 {").replace("return %d", "return %p");
    assert!(matches!(try_run(&text, 3.0), Ok(Value::Fn(_))));
}
