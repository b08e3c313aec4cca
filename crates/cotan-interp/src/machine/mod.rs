//! The machine: runs a program without operators of differentiation.
//!
//! In: a program, something that makes derivatives, arguments. Out: values, and the cost. Newly true: everything that can go wrong at run
//! time is a diagnostic with its place.

use crate::array::{Data, Stack};
use crate::code::{CBlock, COp, CStmt, Code, compile};

use crate::prims;
use crate::value::{Array, ResidualValue, Value};
use cotan_ir::{Atom, Derive, FnId, Lit, Never, Op, Program, Type, TypeId, Var};
use cotan_source::{Diagnostic, Idx, Span};
use smallvec::SmallVec;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

mod leaf;
mod watch;

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
    /// Bytes of the stack that the machine runs on.
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
    codes: Vec<Option<Rc<Code>>>,
    stack: Vec<Value>,
    limits: Limits,
    floor: usize,
    ticks: u64,
    strings: rustc_hash::FxHashMap<Arc<str>, Value>,
    /// Who looks out for numbers that are not finite.
    watch: Option<Box<Watch>>,
    /// Whether the function at hand is the backward part of another, if somebody looks out.
    backward: bool,
}

pub(crate) fn here() -> usize {
    let x = 0u8;
    std::ptr::from_ref(&x).addr()
}

impl Machine {
    /// A machine for `program`. It must be run on the thread whose stack `limits` describes.
    pub fn new(program: Program<Never>, derive: Box<dyn Derive>, host: Box<dyn Host>, limits: Limits) -> Machine {
        Machine {
            program,
            cost: 0,
            derive,
            host,
            codes: Vec::new(),
            stack: Vec::new(),
            limits,
            floor: 0,
            ticks: 0,
            strings: rustc_hash::FxHashMap::default(),
            watch: None,
            backward: false,
        }
    }

    /// What the next call may use.
    pub fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
    }

    /// Calls a function.
    pub fn call(&mut self, function: FnId, args: Vec<Value>) -> Res<Vec<Value>> {
        // A margin for the frames of one operation and for the drop of what it leaves.
        self.floor = here().saturating_sub(self.limits.stack).saturating_add(256 << 10);
        self.stack.clear();
        Ok(self.run(function, args.into(), Span::NONE)?.into_vec())
    }

    fn code(&mut self, f: FnId) -> Rc<Code> {
        if self.codes.len() <= f.index() {
            self.codes.resize(f.index() + 1, None);
        }
        if let Some(code) = &self.codes[f.index()] {
            return code.clone();
        }
        let code = Rc::new(compile(&self.program.fns[f]));
        self.codes[f.index()] = Some(code.clone());
        code
    }

    fn run(&mut self, f: FnId, args: Values, span: Span) -> Res<Values> {
        if here() < self.floor {
            return Err(Box::new(
                Diagnostic::error("E0710", span, "the stack is used up")
                    .at("in this call")
                    .note("a recursion went too deep, or never ends")
                    .hint("raise the limit by --max-memory, or write the recursion as a loop"),
            ));
        }
        self.tick(span)?;
        self.cost += 1;
        let code = self.code(f);
        let base = self.stack.len();
        self.stack.resize(base + code.slots, Value::Unit);
        for (p, a) in code.params.iter().zip(args) {
            self.stack[base + p.index()] = a;
        }
        let outer = self.backward;
        if self.watch.is_some() {
            self.backward = outer || self.program.fns[f].name.ends_with(".bwd");
        }
        let out = self.block(&code.body, base);
        self.backward = outer;
        self.stack.truncate(base);
        out
    }

    fn tick(&mut self, span: Span) -> Res<()> {
        self.ticks += 1;
        if self.ticks & 0xfff == 0 {
            self.check_limits(span)?;
        }
        Ok(())
    }

    #[cold]
    fn check_limits(&mut self, span: Span) -> Res<()> {
        if self.limits.interrupt.load(Ordering::Relaxed) {
            return Err(Box::new(Diagnostic::error("E0713", span, "interrupted")));
        }
        if self.limits.deadline.is_some_and(|d| Instant::now() > d) {
            return Err(Box::new(Diagnostic::error("E0712", span, "the time limit is over").at("while running this")));
        }
        if self.ticks & 0xffff == 0 && resident() > self.limits.memory {
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
        match count {
            Some(n) if n <= self.limits.memory / size_of::<f64>() => Ok(n),
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

    fn block(&mut self, b: &CBlock, base: usize) -> Res<Values> {
        for s in &b.stmts {
            self.stmt(s, base)?;
        }
        let mut out = Values::with_capacity(b.results.len());
        for a in &b.results {
            let v = self.atom(a, base);
            out.push(v);
        }
        for v in &b.kill {
            self.stack[base + v.index()] = Value::Unit;
        }
        Ok(out)
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

    fn bool(&mut self, a: &Atom, base: usize) -> bool {
        match self.atom(a, base) {
            Value::Bool(b) => b,
            other => unreachable!("{other:?} is no truth value"),
        }
    }

    fn put(&mut self, vars: &[Var], values: Values, base: usize) {
        for (v, x) in vars.iter().zip(values) {
            self.stack[base + v.index()] = x;
        }
    }

    /// Runs a statement. What recursion goes through (calls and branches) is kept apart from the rest, whose frames are large.
    fn stmt(&mut self, s: &CStmt, base: usize) -> Res<()> {
        match &s.op {
            COp::Leaf(op) => {
                self.cost += 1;
                if self.watch.is_some()
                    && let Some(name) = watch::arithmetic(op)
                {
                    return self.watched(op, name, s, base);
                }
                match op {
                    // Scalar primitives are most of what runs.
                    Op::Prim(prim, args) => {
                        let args = self.take(args, &s.kill, base);
                        let y = prims::apply(*prim, &args).map_err(|f| f.at(&self.program, s.span))?;
                        self.stack[base + s.vars[0].index()] = y;
                        Ok(())
                    }
                    Op::Call { func, args } => {
                        let args = self.take(args, &s.kill, base);
                        let out = self.run(*func, args, s.span).map_err(|d| called_from(d, s.span))?;
                        self.put(&s.vars, out, base);
                        Ok(())
                    }
                    Op::Dispatch { on, path, args } => {
                        let (f, args, residuals) = self.resolve(on, path, args, &s.kill, base)?;
                        let mut out = self.run(f, args, s.span).map_err(|d| called_from(d, s.span))?;
                        wrap(&mut out, residuals);
                        self.put(&s.vars, out, base);
                        Ok(())
                    }
                    op => self.leaf(op, s, base),
                }
            }
            COp::If(cond, then, otherwise) => {
                let c = self.bool(cond, base);
                self.kill(&s.kill, base);
                let out = self.block(if c { then } else { otherwise }, base)?;
                self.put(&s.vars, out, base);
                Ok(())
            }
            COp::Switch(on, arms, default) => {
                let Value::Adt(a) = self.atom(on, base) else { unreachable!("a nominal value") };
                self.kill(&s.kill, base);
                let variant = a.variant;
                drop(a);
                let b = arms.iter().find(|(v, _)| *v == variant).map(|(_, b)| b).or(default.as_ref());
                let out = self.block(b.expect("arms cover all variants"), base)?;
                self.put(&s.vars, out, base);
                Ok(())
            }
            COp::For(..) | COp::While(..) | COp::Build(..) => self.repeat(s, base),
        }
    }

    #[inline(never)]
    fn repeat(&mut self, s: &CStmt, base: usize) -> Res<()> {
        match &s.op {
            COp::Leaf(_) | COp::If(..) | COp::Switch(..) => unreachable!("not repeated"),
            COp::For(count, index, state, init, body) => {
                let n = self.int(count, base);
                let init = self.take(init, &s.kill, base);
                self.put(state, init, base);
                let mut collected = vec![Data::Any(Vec::new()); body.results.len() - state.len()];
                for i in 0..n {
                    self.tick(s.span)?;
                    self.cost += 1;
                    self.stack[base + index.index()] = Value::I64(i);
                    let out = self.block(body, base)?;
                    self.next(out, state, &mut collected, base);
                }
                self.finish_loop(state, collected, &s.vars, base);
            }
            COp::While(state, init, cond, body) => {
                let init = self.take(init, &s.kill, base);
                self.put(state, init, base);
                let mut collected = vec![Data::Any(Vec::new()); body.results.len() - state.len()];
                loop {
                    self.tick(s.span)?;
                    self.cost += 1;
                    let c = self.block(cond, base)?;
                    let [Value::Bool(true)] = c[..] else { break };
                    let out = self.block(body, base)?;
                    self.next(out, state, &mut collected, base);
                }
                self.finish_loop(state, collected, &s.vars, base);
            }
            COp::Build(extents, indices, body) => {
                let shape: Vec<usize> = extents.iter().map(|e| self.int(e, base).max(0) as usize).collect();
                self.kill(&s.kill, base);
                let ranks: Vec<usize> = s.types.iter().map(|t| self.rank(*t) - shape.len()).collect();
                let mut stacks: Vec<Stack> = ranks.iter().map(|r| Stack::new(shape.clone(), *r)).collect();
                let n = self.room(&shape, s.span)?;
                let mut at = vec![0usize; shape.len()];
                for _ in 0..n {
                    self.tick(s.span)?;
                    self.cost += 1;
                    for (v, i) in indices.iter().zip(&at) {
                        self.stack[base + v.index()] = Value::I64(*i as i64);
                    }
                    let out = self.block(body, base)?;
                    for (stack, v) in stacks.iter_mut().zip(out) {
                        stack.push(v).map_err(|f| f.at(&self.program, s.span))?;
                    }
                    for axis in (0..at.len()).rev() {
                        at[axis] += 1;
                        if at[axis] < shape[axis] {
                            break;
                        }
                        at[axis] = 0;
                    }
                }
                let out = stacks.into_iter().zip(ranks).map(|(s, r)| s.finish(r)).collect();
                self.put(&s.vars, out, base);
            }
        }
        self.kill(&s.kill_after, base);
        Ok(())
    }

    /// Hands the next state to the next turn and keeps what is collected.
    fn next(&mut self, out: Values, state: &[Var], collected: &mut [Data], base: usize) {
        for (k, v) in out.into_iter().enumerate() {
            match state.get(k) {
                Some(s) => self.stack[base + s.index()] = v,
                None => {
                    self.cost += 1;
                    collected[k - state.len()].push(v);
                }
            }
        }
    }

    fn finish_loop(&mut self, state: &[Var], collected: Vec<Data>, vars: &[Var], base: usize) {
        for (s, v) in state.iter().zip(vars) {
            self.stack[base + v.index()] = std::mem::replace(&mut self.stack[base + s.index()], Value::Unit);
        }
        for (data, v) in collected.into_iter().zip(&vars[state.len()..]) {
            self.stack[base + v.index()] = Value::Array(Rc::new(Array::vector(data)));
        }
    }

    fn rank(&self, ty: TypeId) -> usize {
        match self.program.ty(ty) {
            Type::Array { rank, .. } => *rank as usize,
            _ => 0,
        }
    }
}

/// An error in another file, such as the library, also says where it was called from.
#[cold]
pub(crate) fn called_from(d: Box<Diagnostic>, span: Span) -> Box<Diagnostic> {
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
