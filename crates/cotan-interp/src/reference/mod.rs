//! The independent oracle of differentiation: an evaluator that differentiates by values.
//!
//! In: a `Program<AdOp>` and arguments. Out: values. Forward mode is dual numbers, reverse mode a tape; tags tell the derivatives that
//! are being taken from each other. Nothing is shared with the transformation of programs, so that where the two agree, both are right.

mod array;
mod cell;
mod derive;
mod leaf;
mod space;
mod tape;
#[cfg(test)]
mod tests;
mod value;

use crate::code::{CBlock, COp, CStmt, Code, compile};
use crate::machine::{called_from, here, resident, too_deep};
use crate::{Host, Limits, Value};
use array::Stack;
use cotan_ir::{AdOp, Atom, Block, Capture, Deriv, FnId, Func, Lit, Op, Program, Rules, Type, TypeId, Var};
use cotan_source::{Diagnostic, Idx, IndexVec, Span};
use smallvec::SmallVec;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;
use tape::Tapes;
use value::{Names, Val, top_tag};

/// Derivatives inside of each other, and function values in the point of the innermost, from which on a chain is taken to be endless.
const DEEP: u32 = 12;
const MANY: usize = 1 << 14;

type Res<T> = Result<T, Box<Diagnostic>>;
type Vals = SmallVec<[Val; 4]>;

/// An evaluator in which numbers know their derivatives.
pub struct Reference {
    program: Program<AdOp>,
    host: Box<dyn Host>,
    limits: Limits,
    codes: Vec<Option<Rc<Code<AdOp>>>>,
    stack: Vec<Val>,
    tapes: Tapes,
    names: Names,
    floor: usize,
    ticks: u64,
    /// How many derivatives are being taken inside of each other.
    nested: u32,
    strings: rustc_hash::FxHashMap<Arc<str>, Val>,
}

impl Reference {
    /// An evaluator for `program`. It must be run on the thread whose stack `limits` describes.
    pub fn new(mut program: Program<AdOp>, host: Box<dyn Host>, limits: Limits) -> Reference {
        let unit = program.intern(Type::Tuple(Vec::new()));
        let mut name = |name: &str, captures: &[&str]| {
            program.fns.push(Func {
                name: name.into(),
                params: Vec::new(),
                results: Vec::new(),
                body: Block::default(),
                vars: IndexVec::new(),
                captures: Some(captures.iter().map(|c| Capture { name: (*c).into(), ty: unit }).collect()),
                rules: Rules::default(),
                span: Span::NONE,
            })
        };
        let names = Names { pullback: name("pullback", &[]), attached: name("attached", &["function", "rule"]) };
        Reference {
            program,
            host,
            limits,
            codes: Vec::new(),
            stack: Vec::new(),
            tapes: Tapes::default(),
            names,
            floor: 0,
            ticks: 0,
            nested: 0,
            strings: rustc_hash::FxHashMap::default(),
        }
    }

    /// The program, with names for the function values that only this evaluator has.
    pub fn program(&self) -> &Program<AdOp> {
        &self.program
    }

    /// What the next call may use.
    pub fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
    }

    /// Calls a function.
    pub fn call(&mut self, function: FnId, args: Vec<Value>) -> Res<Vec<Value>> {
        // A margin for walks through values that were built by a recursion of this depth, and for their drop.
        let margin = (256 << 10) + self.limits.stack / 8;
        self.floor = here().saturating_sub(self.limits.stack).saturating_add(margin);
        self.stack.clear();
        self.tapes.clear();
        self.nested = 0;
        let args = args.iter().map(Val::enter).collect();
        let out = self.run(function, args, Span::NONE)?;
        Ok(out.iter().map(|v| v.leave(self.names)).collect())
    }

    fn code(&mut self, f: FnId) -> Rc<Code<AdOp>> {
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

    /// Calls a function, by its rule where it has one and the operands have derivatives.
    fn run(&mut self, f: FnId, args: Vals, span: Span) -> Res<Vals> {
        let rules = &self.program.fns[f].rules;
        if rules.vjp.is_some() || rules.jvp.is_some() {
            return self.run_by_rule(f, args, span);
        }
        self.run_body(f, args, span)
    }

    fn run_by_rule(&mut self, f: FnId, args: Vals, span: Span) -> Res<Vals> {
        let tag = args.iter().map(top_tag).max().unwrap_or(0);
        if tag == 0 {
            return self.run_body(f, args, span);
        }
        let args = Val::Tuple(Rc::new(args.into_vec()));
        let out = self.ruled(f, &args, tag, span)?;
        Ok(out.parts().iter().cloned().collect())
    }

    fn run_body(&mut self, f: FnId, args: Vals, span: Span) -> Res<Vals> {
        if here() < self.floor {
            return Err(too_deep(span));
        }
        self.tick(span)?;
        let code = self.code(f);
        let base = self.stack.len();
        self.stack.resize(base + code.slots, Val::Unit);
        for (p, a) in code.params.iter().zip(args) {
            self.stack[base + p.index()] = a;
        }
        let out = self.block(&code.body, base);
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

    /// One more derivative, inside of those that are being taken. A rule that needs itself on a closure around its own function makes closures
    /// that double each time: such a chain is told from a long recursion by them.
    fn nest(&mut self, x: &Val, span: Span) -> Res<()> {
        self.nested += 1;
        if self.nested > DEEP && value::holds_functions(x, MANY) {
            return Err(Box::new(cotan_ir::derivatives_without_end(span, "a function")));
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

    fn atom(&mut self, a: &Atom, base: usize) -> Val {
        match a {
            Atom::Var(v) => self.stack[base + v.index()].clone(),
            Atom::Lit(lit) => self.lit(lit),
        }
    }

    fn lit(&mut self, lit: &Lit) -> Val {
        match lit {
            Lit::F64(x) => Val::F64(*x),
            Lit::F32(x) => Val::F32(*x),
            Lit::I64(x) => Val::I64(*x),
            Lit::Bool(x) => Val::Bool(*x),
            Lit::Unit => Val::Unit,
            Lit::Str(s) => self.strings.entry(s.clone()).or_insert_with(|| Val::Str(Rc::new(s.to_string()))).clone(),
        }
    }

    fn take(&mut self, atoms: &[Atom], kill: &[Var], base: usize) -> Vals {
        let mut out = Vals::with_capacity(atoms.len());
        for a in atoms {
            let v = self.atom(a, base);
            out.push(v);
        }
        self.kill(kill, base);
        out
    }

    fn kill(&mut self, vars: &[Var], base: usize) {
        for v in vars {
            self.stack[base + v.index()] = Val::Unit;
        }
    }

    fn int(&mut self, a: &Atom, base: usize) -> i64 {
        match self.atom(a, base) {
            Val::I64(i) => i,
            other => unreachable!("{other:?} is no integer"),
        }
    }

    fn put(&mut self, vars: &[Var], values: Vals, base: usize) {
        for (v, x) in vars.iter().zip(values) {
            self.stack[base + v.index()] = x;
        }
    }

    fn block(&mut self, b: &CBlock<AdOp>, base: usize) -> Res<Vals> {
        for s in &b.stmts {
            match &s.op {
                // What recursion goes through has small frames.
                COp::Leaf(Op::Call { func, args }) => {
                    let args = self.take(args, &s.kill, base);
                    let out = self.run(*func, args, s.span).map_err(|d| called_from(d, s.span))?;
                    self.put(&s.vars, out, base);
                }
                COp::Leaf(Op::Dispatch { .. }) => self.dispatch(s, base).map_err(|d| called_from(d, s.span))?,
                COp::Leaf(Op::Ad(op)) => self.operator(op, s, base).map_err(|d| called_from(d, s.span))?,
                COp::Leaf(op) => {
                    let out = self.leaf(op, s, base)?;
                    self.put(&s.vars, out, base);
                }
                COp::If(cond, then, otherwise) => {
                    let Val::Bool(c) = self.atom(cond, base) else { unreachable!("a truth value") };
                    self.kill(&s.kill, base);
                    let out = self.block(if c { then } else { otherwise }, base)?;
                    self.put(&s.vars, out, base);
                    self.kill(&s.kill_after, base);
                }
                COp::Switch(on, arms, default) => {
                    let Val::Adt(a) = self.atom(on, base) else { unreachable!("a nominal value") };
                    self.kill(&s.kill, base);
                    let variant = a.variant;
                    drop(a);
                    let b = arms.iter().find(|(v, _)| *v == variant).map(|(_, b)| b).or(default.as_ref());
                    let out = self.block(b.expect("arms cover all variants"), base)?;
                    self.put(&s.vars, out, base);
                    self.kill(&s.kill_after, base);
                }
                COp::For(..) | COp::While(..) | COp::Build(..) => {
                    self.repeat(s, base)?;
                    self.kill(&s.kill_after, base);
                }
            }
        }
        let mut out = Vals::with_capacity(b.results.len());
        for a in &b.results {
            let v = self.atom(a, base);
            out.push(v);
        }
        self.kill(&b.kill, base);
        Ok(out)
    }

    fn dispatch(&mut self, s: &CStmt<AdOp>, base: usize) -> Res<()> {
        let COp::Leaf(Op::Dispatch { on, path, args }) = &s.op else { unreachable!("a dispatch") };
        let f = self.atom(on, base);
        let mut args = self.take(args, &s.kill, base);
        let x = args.pop().expect("a function value takes one argument");
        let y = match path[..] {
            [] => self.apply(f, x, s.span)?,
            [Deriv::Body] => self.apply_body(f, x, s.span)?,
            _ => unreachable!("derivatives are made by values here"),
        };
        self.stack[base + s.vars[0].index()] = y;
        Ok(())
    }

    fn operator(&mut self, op: &AdOp, s: &CStmt<AdOp>, base: usize) -> Res<()> {
        let y = match op {
            AdOp::Jvp { f, x, dx } => {
                let (f, x, dx) = (self.atom(f, base), self.atom(x, base), self.atom(dx, base));
                self.kill(&s.kill, base);
                self.jvp(f, &x, &dx, s.span)?
            }
            AdOp::Vjp { f, x } => {
                let (f, x) = (self.atom(f, base), self.atom(x, base));
                self.kill(&s.kill, base);
                self.vjp(&f, x, s.span)?
            }
            AdOp::Pullback { f, x } => {
                let (f, x) = (self.atom(f, base), self.atom(x, base));
                self.kill(&s.kill, base);
                self.pullback(f, x, s.span)?
            }
        };
        self.stack[base + s.vars[0].index()] = y;
        Ok(())
    }

    fn repeat(&mut self, s: &CStmt<AdOp>, base: usize) -> Res<()> {
        match &s.op {
            COp::For(count, index, state, init, body) => {
                let n = self.int(count, base);
                let init = self.take(init, &s.kill, base);
                self.put(state, init, base);
                let mut collected = self.collectors(s, state.len());
                for i in 0..n {
                    self.tick(s.span)?;
                    self.stack[base + index.index()] = Val::I64(i);
                    let out = self.block(body, base)?;
                    self.next(out, state, &mut collected, s, base)?;
                }
                self.finish(state, collected, s, base);
            }
            COp::While(state, init, cond, body) => {
                let init = self.take(init, &s.kill, base);
                self.put(state, init, base);
                let mut collected = self.collectors(s, state.len());
                loop {
                    self.tick(s.span)?;
                    let c = self.block(cond, base)?;
                    let [Val::Bool(true)] = c[..] else { break };
                    let out = self.block(body, base)?;
                    self.next(out, state, &mut collected, s, base)?;
                }
                self.finish(state, collected, s, base);
            }
            COp::Build(extents, indices, body) => {
                let shape: Vec<usize> = extents.iter().map(|e| self.int(e, base).max(0) as usize).collect();
                self.kill(&s.kill, base);
                let ranks = s.types.iter().map(|t| self.rank(*t) - shape.len());
                let mut stacks: Vec<Stack> = ranks.map(|r| Stack::new(shape.clone(), r)).collect();
                let mut at = vec![0usize; shape.len()];
                for _ in 0..self.room(&shape, s.span)? {
                    self.tick(s.span)?;
                    for (v, i) in indices.iter().zip(&at) {
                        self.stack[base + v.index()] = Val::I64(*i as i64);
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
                let out = stacks.into_iter().map(Stack::finish).collect();
                self.put(&s.vars, out, base);
            }
            COp::Leaf(_) | COp::If(..) | COp::Switch(..) => unreachable!("not repeated"),
        }
        Ok(())
    }

    /// How many elements an array of this shape has; an error if they cannot fit into the memory allowed.
    fn room(&self, shape: &[usize], span: Span) -> Res<usize> {
        let count = shape.iter().try_fold(1usize, |n, extent| n.checked_mul(*extent));
        match count {
            Some(n) if n <= self.limits.memory / size_of::<Val>() => Ok(n),
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

    /// One for each value that the turns of a loop yield besides the state.
    fn collectors(&self, s: &CStmt<AdOp>, states: usize) -> Vec<Stack> {
        s.types[states..].iter().map(|t| Stack::new(vec![0], self.rank(*t) - 1)).collect()
    }

    /// Hands the next state to the next turn and keeps what is collected.
    fn next(&mut self, out: Vals, state: &[Var], collected: &mut [Stack], s: &CStmt<AdOp>, base: usize) -> Res<()> {
        for (k, v) in out.into_iter().enumerate() {
            match state.get(k) {
                Some(s) => self.stack[base + s.index()] = v,
                None => {
                    let stack = &mut collected[k - state.len()];
                    stack.grow();
                    stack.push(v).map_err(|f| f.at(&self.program, s.span))?;
                }
            }
        }
        Ok(())
    }

    fn finish(&mut self, state: &[Var], collected: Vec<Stack>, s: &CStmt<AdOp>, base: usize) {
        for (x, v) in state.iter().zip(&s.vars) {
            self.stack[base + v.index()] = std::mem::replace(&mut self.stack[base + x.index()], Val::Unit);
        }
        for (stack, v) in collected.into_iter().zip(&s.vars[state.len()..]) {
            self.stack[base + v.index()] = stack.finish();
        }
    }

    fn rank(&self, ty: TypeId) -> usize {
        match self.program.ty(ty) {
            Type::Array { rank, .. } => *rank as usize,
            _ => 0,
        }
    }
}
