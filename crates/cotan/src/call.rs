//! Calling a compiled program.
//!
//! In: a [`Compiled`] program, an entry point, values. Out: the value, or a run-time error with its place. The evaluator
//! makes derivatives of function values on demand, through `cotan-ad` with the simplifier behind it.

use crate::failure::{Failure, guard};
use crate::pipeline::{Code, Compiled};
use crate::session::{Outside, Session, Usage};
use crate::value::Value;
use cotan_ad::Differentiator;
use cotan_interp::{Host, Limits, Machine, Reference};
use cotan_ir::{FnId, Never, Program, validate_function};
use cotan_source::{Diagnostic, SourceMap, Span};
use std::cell::RefCell;
use std::rc::Rc;
use std::time::Instant;

impl Session {
    /// Calls an entry point.
    pub fn call(&mut self, compiled: &mut Compiled, root: usize, args: Vec<Value>) -> Result<Value, Failure> {
        self.start(compiled);
        let function = compiled.roots[root];
        let limits = self.limits();
        let pass = "run (cotan-interp)";
        let (result, cost) = match &mut compiled.code {
            Code::Machine(machine) => {
                machine.set_limits(limits);
                let before = machine.cost;
                let result = self.timed("run", || guard(pass, || machine.call(function, args)));
                (result, machine.cost - before)
            }
            Code::Reference(reference) => {
                reference.set_limits(limits);
                (self.timed("run", || guard(pass, || reference.call(function, args))), 0)
            }
            Code::Values(_) | Code::Expanded(_) => return Err(Failure::bug(pass, "the program was not started")),
        };
        self.usage = Some(Usage { cost, peak: peak() });
        let named = |d: Diagnostic| user_first(compiled.clauses.named(d), &self.sources);
        let mut values = result?.map_err(|d| Failure::User(vec![named(*d)]))?;
        match values.len() {
            1 => Ok(values.remove(0)),
            n => Err(Failure::bug(pass, format!("an entry point gave {n} results"))),
        }
    }

    /// Puts the program into its evaluator.
    pub(crate) fn start(&self, compiled: &mut Compiled) {
        let host = Box::new(Door { outside: Rc::clone(&self.outside), probing: self.options.probe });
        let limits = self.limits();
        match &mut compiled.code {
            Code::Expanded(program) => {
                let derive = Differentiator::new(Some(Box::new(post(self.options.validate))));
                let derive = derive.with_simplify(Box::new(cotan_opt::simplify_function));
                let derive = Box::new(derive.with_running(Box::new(running(self.options.validate))));
                let machine = Machine::new(std::mem::take(program), derive, host, limits);
                compiled.code = Code::Machine(Box::new(machine));
            }
            Code::Values(program) => {
                let reference = Reference::new(std::mem::take(program), host, limits);
                compiled.code = Code::Reference(Box::new(reference));
            }
            Code::Machine(_) | Code::Reference(_) => {}
        }
    }

    fn limits(&self) -> Limits {
        Limits {
            stack: self.options.stack,
            memory: usize::try_from(self.options.max_memory).unwrap_or(usize::MAX),
            deadline: self.options.time_limit.and_then(|limit| Instant::now().checked_add(limit)),
            interrupt: self.options.interrupt.clone(),
        }
    }
}

/// An error inside the library that knows the user's line which led there points at that line first.
fn user_first(mut diagnostic: Diagnostic, sources: &SourceMap) -> Diagnostic {
    let inside = |span: Span| sources.get(span.file).is_some_and(|s| s.name.starts_with("std/"));
    if !inside(diagnostic.primary.span) {
        return diagnostic;
    }
    let caller = diagnostic.labels.iter().position(|l| !l.span.is_none() && !inside(l.span));
    if let Some(position) = caller {
        let label = &mut diagnostic.labels[position];
        std::mem::swap(&mut label.span, &mut diagnostic.primary.span);
        let what = std::mem::take(&mut diagnostic.primary.text);
        label.text = if what.is_empty() { "in here".into() } else { format!("in here: {what}") };
        diagnostic.primary.text = "in this call".into();
    }
    diagnostic
}

/// What happens to each derivative made on demand.
fn post(validating: bool) -> impl Fn(&mut Program<Never>, FnId) {
    move |program, function| {
        let check = |program: &mut Program<Never>, pass: &str| {
            if validating {
                let faults = validate_function(program, function);
                let name = &program.fns[function].name;
                assert!(faults.is_empty(), "{pass} made `{name}` wrongly: {}", faults.join("\n"));
            }
        };
        check(program, "cotan-ad");
        cotan_opt::simplify_function(program, function);
        check(program, "cotan-opt");
    }
}

/// What runs in place of a function.
fn running(validating: bool) -> impl Fn(&mut Program<Never>, FnId) -> FnId {
    move |program, function| {
        let made = cotan_opt::running_function(program, function);
        if validating && made != function {
            let faults = validate_function(program, made);
            let name = &program.fns[function].name;
            assert!(faults.is_empty(), "cotan-opt made the running `{name}` wrongly: {}", faults.join("\n"));
        }
        made
    }
}

/// What the running program reaches of the outside.
struct Door {
    outside: Rc<RefCell<Box<dyn Outside>>>,
    probing: bool,
}

impl Host for Door {
    fn probe(&mut self, label: &str, value: &str, backward: bool) {
        if self.probing {
            let arrow = if backward { "<-" } else { "->" };
            self.outside.borrow_mut().probe(&format!("probe {label} {arrow} {value}"));
        }
    }

    fn progress(&mut self, label: &str, done: i64, total: i64) {
        self.outside.borrow_mut().progress(label, done, total);
    }

    fn write_text(&mut self, path: &str, text: &str) -> Result<(), String> {
        std::fs::write(path, text).map_err(|error| error.to_string())
    }
}

/// Bytes of memory that the process held at most, where the system tells.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"));
    line.and_then(|l| l.split_whitespace().next()?.parse::<u64>().ok()).map_or(0, |kib| kib * 1024)
}
