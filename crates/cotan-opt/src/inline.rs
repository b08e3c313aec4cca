//! Pass `inline`: calls of small functions become their code.
//!
//! In: a function. Out: the same, with the code of small callees in place of their calls, once (what comes in by inlining is left
//! to the next run). Not inlined: functions that call themselves, and functions with derivative rules, since the rules
//! would be lost. Bounded: a function grows by no more than half its size and a little.

use cotan_ir::{Atom, Block, FnId, FnTraits, Op, Operator, Program, Stmt, Var, VarInfo};
use cotan_source::{IndexVec, Span};
use rustc_hash::FxHashMap;

/// Callees of up to so many statements are inlined.
const SMALL: usize = 16;

/// A function may grow by half its size and so many statements.
const SPARE: usize = 50;

/// Which callees become their code.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Callees {
    /// Those without derivative rules.
    WithoutRules,
    /// All.
    All,
}

pub(crate) fn run<A: Operator>(program: &mut Program<A>, id: FnId, _fns: &FnTraits) -> bool {
    run_with(program, id, Callees::WithoutRules)
}

/// Whether a function calls small ones with derivative rules.
pub(crate) fn calls_rules<A: Operator>(program: &Program<A>, id: FnId) -> bool {
    let mut found = false;
    program.fns[id].body.for_each_stmt(&mut |stmt| {
        if let Op::Call { func, .. } = &stmt.op {
            let callee = &program.fns[*func];
            found |=
                *func != id && callee.is_written() && !callee.rules.is_empty() && small(&callee.body, *func).is_some();
        }
    });
    found
}

pub(crate) fn run_with<A: Operator>(program: &mut Program<A>, id: FnId, which: Callees) -> bool {
    let mut callees: FxHashMap<FnId, usize> = FxHashMap::default();
    let func = &program.fns[id];
    func.body.for_each_stmt(&mut |stmt| {
        if let Op::Call { func, .. } = &stmt.op {
            callees.insert(*func, 0);
        }
    });
    callees.retain(|callee, size| {
        let func = &program.fns[*callee];
        *callee != id
            && func.is_written()
            && (which == Callees::All || func.rules.is_empty())
            && small(&func.body, *callee).is_some_and(|n| {
                *size = n;
                true
            })
    });
    if callees.is_empty() {
        return false;
    }
    let budget = func.body.size() / 2 + SPARE;
    let body = std::mem::take(&mut program.fns[id].body);
    let vars = std::mem::take(&mut program.fns[id].vars);
    let mut inline = Inline { program, callees, vars, budget, replaced: FxHashMap::default(), changed: false };
    let mut body = inline.block(body);
    let (vars, replaced, changed) = (inline.vars, inline.replaced, inline.changed);
    body.substitute(&replaced);
    program.fns[id].body = body;
    program.fns[id].vars = vars;
    changed
}

/// The size of a body, unless it is large or calls itself.
fn small<A: Operator>(body: &Block<A>, itself: FnId) -> Option<usize> {
    let mut n = 0;
    // Large bodies are not walked to their end.
    fn count<A: Operator>(block: &Block<A>, itself: FnId, n: &mut usize) {
        for stmt in &block.stmts {
            *n += 1;
            if matches!(&stmt.op, Op::Call { func, .. } if *func == itself) {
                *n = usize::MAX / 2;
            }
            if *n > SMALL {
                return;
            }
            stmt.op.for_each_block(|b| count(b, itself, n));
        }
    }
    count(body, itself, &mut n);
    (n <= SMALL).then_some(n)
}

struct Inline<'a, A> {
    program: &'a Program<A>,
    /// Callees to inline and their sizes.
    callees: FxHashMap<FnId, usize>,
    vars: IndexVec<Var, VarInfo>,
    budget: usize,
    replaced: FxHashMap<Var, Atom>,
    changed: bool,
}

impl<A: Operator> Inline<'_, A> {
    fn block(&mut self, block: Block<A>) -> Block<A> {
        let mut out = Vec::with_capacity(block.stmts.len());
        for mut stmt in block.stmts {
            match &stmt.op {
                Op::Call { func, args } if self.affordable(*func) => {
                    let (func, args) = (*func, args.clone());
                    self.call(func, &args, &stmt.vars, stmt.span, &mut out);
                    continue;
                }
                _ => {}
            }
            if stmt.op.has_blocks() {
                stmt.op.for_each_block_mut(|b| {
                    let block = std::mem::take(b);
                    *b = self.block(block);
                });
            }
            out.push(stmt);
        }
        Block { stmts: out, results: block.results }
    }

    fn affordable(&mut self, func: FnId) -> bool {
        match self.callees.get(&func) {
            Some(size) if *size <= self.budget => {
                self.budget -= size;
                self.changed = true;
                true
            }
            _ => false,
        }
    }

    fn call(&mut self, func: FnId, args: &[Atom], results: &[Var], span: Span, out: &mut Vec<Stmt<A>>) {
        // Arguments may be results of calls that were inlined before.
        let args = args.iter().map(|arg| arg.var().and_then(|v| self.replaced.get(&v)).unwrap_or(arg).clone());
        let copy = self.program.fns[func].inlined(args, &mut self.vars, span);
        out.extend(copy.stmts);
        for (v, value) in results.iter().zip(copy.results) {
            if let Atom::Var(new) = value
                && self.vars[new].name.is_none()
            {
                self.vars[new].name = self.vars[*v].name.clone();
            }
            self.replaced.insert(*v, value);
        }
    }
}
