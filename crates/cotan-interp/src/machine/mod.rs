//! The machine: runs a program without operators of differentiation.
//!
//! In: a program, something that makes derivatives, arguments. Out: values, and the cost. Newly true: everything that can go wrong at run
//! time is a diagnostic with its place.

use crate::code::compile;
use crate::value::{ResidualValue, Value};
use cotan_ir::{Atom, Derive, FnId, Lit, Never, Program, Type, TypeId, Var};
use cotan_source::{Diagnostic, Idx, Span};
use smallvec::SmallVec;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

mod audit;
mod leaf;
mod linear;
mod run;
mod watch;

use linear::Linear;
use run::{Frame, Turns};

pub use audit::Audit;
pub use watch::{Sighting, Watch};

type Res<T> = Result<T, Box<Diagnostic>>;
type Values = SmallVec<[Value; 4]>;
/// Positions of residuals among results, and whose they are.
type Residuals = SmallVec<[(usize, FnId); 2]>;

/// What a program may tell the outside.
pub trait Host {
    /// A probe saw a value going forward, or an adjoint coming back.
    fn probe(&mut self, label: &str, value: &str, backward: bool);
    /// How far a long run has come.
    fn progress(&mut self, label: &str, done: i64, total: i64);
    /// Writes a text file; an error message if that fails.
    fn write_text(&mut self, path: &str, text: &str) -> Result<(), String>;
}

/// What a run may use.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Bytes for calls that have not returned. The oracle needs a thread with a stack of this size.
    pub stack: usize,
    /// Bytes of memory.
    pub memory: usize,
    /// When to stop.
    pub deadline: Option<Instant>,
    /// Set from outside to stop.
    pub interrupt: Arc<AtomicBool>,
}

/// The machine.
pub struct Machine {
    /// The program; derivatives are added to it.
    pub program: Program<Never>,
    /// Operations performed so far.
    pub cost: u64,
    derive: Box<dyn Derive>,
    host: Box<dyn Host>,
    codes: Vec<Option<Rc<Linear>>>,
    /// The slots of all frames.
    stack: Vec<Value>,
    /// The callers of the function at hand.
    frames: Vec<Frame>,
    /// The comprehensions that are being made.
    turns: Vec<Turns>,
    limits: Limits,
    ticks: u64,
    /// Bytes of large values made since the memory was looked at.
    fresh: usize,
    strings: rustc_hash::FxHashMap<Arc<str>, Value>,
    /// Who looks out for numbers that are not finite.
    watch: Option<Box<Watch>>,
    /// Who notes calls of functions with rules.
    audit: Option<Box<Audit>>,
    /// Whether the function at hand is the backward part of another, if somebody looks out.
    backward: bool,
}

pub(crate) fn here() -> usize {
    let x = 0u8;
    std::ptr::from_ref(&x).addr()
}

impl Machine {
    /// A machine for `program`.
    pub fn new(program: Program<Never>, derive: Box<dyn Derive>, host: Box<dyn Host>, limits: Limits) -> Machine {
        Machine {
            program,
            cost: 0,
            derive,
            host,
            codes: Vec::new(),
            stack: Vec::new(),
            frames: Vec::new(),
            turns: Vec::new(),
            limits,
            ticks: 0,
            fresh: 0,
            strings: rustc_hash::FxHashMap::default(),
            watch: None,
            audit: None,
            backward: false,
        }
    }

    /// What the next call may use.
    pub fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
    }

    /// Calls a function.
    pub fn call(&mut self, function: FnId, args: Vec<Value>) -> Res<Vec<Value>> {
        let result = self.run(function, args);
        self.stack = Vec::new();
        self.frames = Vec::new();
        self.turns.clear();
        self.backward = false;
        result
    }

    fn code(&mut self, f: FnId) -> Rc<Linear> {
        if let Some(Some(code)) = self.codes.get(f.index()) {
            return code.clone();
        }
        if self.codes.len() <= f.index() {
            self.codes.resize(f.index() + 1, None);
        }
        let running = self.derive.running(&mut self.program, f);
        let func = &self.program.fns[running];
        let code = Rc::new(linear::linear(&self.program, &compile(func), &func.vars, self.watch.is_some()));
        self.codes[f.index()] = Some(code.clone());
        code
    }

    /// Looks at time and memory, now and then.
    #[inline]
    fn tick(&mut self, span: Span) -> Res<()> {
        self.ticks += 1;
        if self.ticks & 0xfff == 0 { self.check_limits(span) } else { Ok(()) }
    }

    #[cold]
    fn check_limits(&mut self, span: Span) -> Res<()> {
        if self.limits.interrupt.load(Ordering::Relaxed) {
            return Err(Box::new(Diagnostic::error("E0713", span, "interrupted")));
        }
        if self.limits.deadline.is_some_and(|d| Instant::now() > d) {
            return Err(Box::new(Diagnostic::error("E0712", span, "the time limit is over").at("while running this")));
        }
        if self.ticks & 0xffff == 0 { self.check_memory(span) } else { Ok(()) }
    }

    /// Looks at the memory after so many bytes of large values.
    const FRESH: usize = 64 << 20;

    #[cold]
    fn check_memory(&mut self, span: Span) -> Res<()> {
        self.fresh = 0;
        if resident() > self.limits.memory {
            return Err(Box::new(
                Diagnostic::error("E0711", span, "the memory limit is reached")
                    .at("while running this")
                    .hint("raise it by --max-memory"),
            ));
        }
        Ok(())
    }

    /// How many elements an array of this shape has; an error if they cannot fit into the memory allowed.
    fn room(&self, shape: &[usize], span: Span) -> Res<usize> {
        let count = shape.iter().try_fold(1usize, |n, extent| n.checked_mul(*extent));
        let limit = self.limits.memory / size_of::<f64>();
        // What is large counts together with what is there.
        let fits = |n: usize| n <= limit / 16 || n <= limit.saturating_sub(resident() / size_of::<f64>());
        match count {
            Some(n) if fits(n) => Ok(n),
            _ => {
                let extents: Vec<String> = shape.iter().map(usize::to_string).collect();
                Err(Box::new(
                    Diagnostic::error("E0711", span, "the memory limit is reached")
                        .at(format!("an array of {} elements does not fit", extents.join(" x ")))
                        .hint("raise it by --max-memory"),
                ))
            }
        }
    }

    fn atom(&mut self, a: &Atom, base: usize) -> Value {
        match a {
            Atom::Var(v) => self.stack[base + v.index()].clone(),
            Atom::Lit(lit) => self.lit(lit),
        }
    }

    fn lit(&mut self, lit: &Lit) -> Value {
        match lit {
            Lit::F64(x) => Value::F64(*x),
            Lit::F32(x) => Value::F32(*x),
            Lit::I64(x) => Value::I64(*x),
            Lit::Bool(x) => Value::Bool(*x),
            Lit::Unit => Value::Unit,
            Lit::Str(s) => self.strings.entry(s.clone()).or_insert_with(|| Value::Str(Rc::new(s.to_string()))).clone(),
        }
    }

    fn take(&mut self, atoms: &[Atom], kill: &[Var], base: usize) -> Values {
        let mut out = Values::with_capacity(atoms.len());
        for a in atoms {
            let v = self.atom(a, base);
            out.push(v);
        }
        self.kill(kill, base);
        out
    }

    fn kill(&mut self, vars: &[Var], base: usize) {
        for v in vars {
            self.stack[base + v.index()] = Value::Unit;
        }
    }

    fn int(&mut self, a: &Atom, base: usize) -> i64 {
        match a {
            Atom::Lit(Lit::I64(i)) => *i,
            Atom::Var(v) => match &self.stack[base + v.index()] {
                Value::I64(i) => *i,
                other => unreachable!("{other:?} is no integer"),
            },
            Atom::Lit(other) => unreachable!("{other:?} is no integer"),
        }
    }

    fn put(&mut self, vars: &[Var], values: Values, base: usize) {
        for (v, x) in vars.iter().zip(values) {
            self.stack[base + v.index()] = x;
        }
    }

    fn rank(&self, ty: TypeId) -> usize {
        match self.program.ty(ty) {
            Type::Array { rank, .. } => *rank as usize,
            _ => 0,
        }
    }
}

/// The stack is used up.
#[cold]
pub(crate) fn too_deep(span: Span) -> Box<Diagnostic> {
    Box::new(
        Diagnostic::error("E0710", span, "the stack is used up")
            .at("in this call")
            .note("a recursion went too deep, or never ends")
            .hint("raise the limit by --max-memory, or write the recursion as a loop"),
    )
}

/// An error in another file, such as the library, also says where it was called from; one in code that the compiler made is where that was called.
#[cold]
pub(crate) fn called_from(mut d: Box<Diagnostic>, span: Span) -> Box<Diagnostic> {
    if d.primary.span.is_none() {
        d.primary.span = span;
        return d;
    }
    if d.labels.is_empty() && !span.is_none() && !d.primary.span.is_none() && d.primary.span.file != span.file {
        return Box::new(d.label(span, "called from here"));
    }
    d
}

/// Wraps the residuals among the results of a derivative with whose they are.
fn wrap(out: &mut Values, residuals: Residuals) {
    for (i, function) in residuals {
        let payload = std::mem::replace(&mut out[i], Value::Unit);
        out[i] = Value::Residual(Rc::new(ResidualValue { function, payload }));
    }
}

/// Bytes of memory that the process holds.
pub(crate) fn resident() -> usize {
    std::fs::read_to_string("/proc/self/statm")
        .ok()
        .and_then(|s| s.split_whitespace().nth(1)?.parse::<usize>().ok())
        .map_or(0, |pages| pages * 4096)
}
