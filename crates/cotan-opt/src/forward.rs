//! Pass `forward`: one walk that replaces operations by simpler ones or by values that exist already.
//!
//! In: a function. Out: the same, with what is known of the operands used: copies forwarded, parts of things that were
//! just made, constants folded, laws applied (`laws/`), branches on what is known resolved, loop states that never change
//! replaced by their start. Newly true: no `Copy`, except of literals that are nowhere else; definitions are where they were.

use crate::known::Known;
use crate::laws::{self, Rewrite};
use cotan_ir::{Atom, Block, FnId, Lit, Op, Operator, Program, Stmt, Type, TypeId, Var};

/// How often one operation may be rewritten in place, so that laws that undo each other cannot hang.
const REWRITES: usize = 8;

pub(crate) fn run<A: Operator>(program: &mut Program<A>, id: FnId) -> bool {
    let func = &mut program.fns[id];
    let body = std::mem::take(&mut func.body);
    let vars = std::mem::take(&mut func.vars);
    let mut walk = Walk { known: Known::new(program, vars), changed: false };
    let mut out = Vec::with_capacity(body.stmts.len());
    let results = walk.splice(body, &mut out);
    let (vars, changed) = (walk.known.vars, walk.changed);
    let func = &mut program.fns[id];
    func.body = Block { stmts: out, results };
    func.vars = vars;
    changed
}

struct Walk<'p, A> {
    known: Known<'p, A>,
    changed: bool,
}

impl<A: Operator> Walk<'_, A> {
    fn block(&mut self, block: Block<A>) -> Block<A> {
        let mut stmts = Vec::with_capacity(block.stmts.len());
        let results = self.splice(block, &mut stmts);
        Block { stmts, results }
    }

    /// Puts the statements of a block into `out`; returns its results.
    fn splice(&mut self, block: Block<A>, out: &mut Vec<Stmt<A>>) -> Vec<Atom> {
        for stmt in block.stmts {
            self.stmt(stmt, out);
        }
        let mut results = block.results;
        results.iter_mut().for_each(|a| self.known.resolve(a));
        results
    }

    fn stmt(&mut self, mut stmt: Stmt<A>, out: &mut Vec<Stmt<A>>) {
        stmt.op.map_atoms(|a| self.known.resolve(a));
        for _ in 0..REWRITES {
            let types: Vec<TypeId> = stmt.vars.iter().map(|v| self.known.vars[*v].ty).collect();
            match laws::rewrite(&self.known, &stmt.op, &types) {
                Rewrite::Keep => break,
                Rewrite::Op(op) => {
                    self.changed = true;
                    stmt.op = op;
                }
                Rewrite::Values(values) => {
                    self.replace_all(&stmt.vars, values);
                    return;
                }
            }
        }
        if stmt.op.has_blocks() {
            self.structured(stmt, out);
        } else {
            if let [v] = stmt.vars[..] {
                self.known.define(v, &stmt.op);
            }
            out.push(stmt);
        }
    }

    fn replace_all(&mut self, vars: &[Var], values: Vec<Atom>) {
        self.changed = true;
        for (v, value) in vars.iter().zip(values) {
            self.known.replace(*v, value);
        }
    }

    fn structured(&mut self, stmt: Stmt<A>, out: &mut Vec<Stmt<A>>) {
        let Stmt { vars, op, span } = stmt;
        let op = match op {
            Op::If { cond, then, otherwise } => match cond {
                Atom::Lit(Lit::Bool(c)) => {
                    let results = self.splice(if c { then } else { otherwise }, out);
                    self.replace_all(&vars, results);
                    return;
                }
                cond => {
                    let then = self.assuming(&cond, true, then);
                    let otherwise = self.assuming(&cond, false, otherwise);
                    for (i, v) in vars.iter().enumerate() {
                        self.branch_result(*v, &cond, &then.results[i], &otherwise.results[i]);
                    }
                    Op::If { cond, then, otherwise }
                }
            },
            Op::Switch { on, mut arms, mut default } => {
                if let Some(block) = self.only_arm(&on, &mut arms, &mut default) {
                    let results = self.splice(block, out);
                    self.replace_all(&vars, results);
                    return;
                }
                let mut taken = Vec::new();
                let arms: Vec<(u32, Block<A>)> = arms
                    .into_iter()
                    .map(|(variant, block)| {
                        taken.push(variant);
                        let outer = on.var().and_then(|v| self.known.assume_variant(v, Some(variant)));
                        let block = self.block(block);
                        if let Some(v) = on.var() {
                            self.known.assume_variant(v, outer);
                        }
                        (variant, block)
                    })
                    .collect();
                let default = default.map(|block| self.block(block));
                for (i, v) in vars.iter().enumerate() {
                    let mut results = arms.iter().map(|(_, b)| b).chain(&default).map(|b| &b.results[i]);
                    if let Some(first) = results.next()
                        && results.all(|r| same(r, first))
                    {
                        let value = first.clone();
                        self.replace_all(&[*v], vec![value]);
                    }
                }
                Op::Switch { on, arms, default }
            }
            Op::For { count, index, state, init, mut body } => {
                let turns = match &count {
                    Atom::Lit(Lit::I64(n)) => Some(*n),
                    _ => None,
                };
                if body.results.len() == state.len() && turns.is_some_and(|n| n <= 1) {
                    let values = if turns == Some(1) {
                        self.known.replace(index, Atom::int(0));
                        self.replace_all(&state, init);
                        self.splice(body, out)
                    } else {
                        init
                    };
                    self.replace_all(&vars, values);
                    return;
                }
                self.unchanging(&vars, &state, &init, &mut body);
                let body = self.block(body);
                Op::For { count, index, state, init, body }
            }
            Op::While { state, init, cond, mut body } => {
                self.unchanging(&vars, &state, &init, &mut body);
                let cond = self.block(cond);
                let body = self.block(body);
                Op::While { state, init, cond, body }
            }
            Op::Build { extents, indices, body } => {
                let body = self.block(body);
                Op::Build { extents, indices, body }
            }
            op => op,
        };
        for (position, v) in vars.iter().enumerate() {
            self.known.define_result(*v, &op, position);
        }
        out.push(Stmt { vars, op, span });
    }

    /// A block that runs only if `cond` has this value.
    fn assuming(&mut self, cond: &Atom, value: bool, block: Block<A>) -> Block<A> {
        let Some(v) = cond.var() else { return self.block(block) };
        self.known.assume(v, Some(Atom::Lit(Lit::Bool(value))));
        let block = self.block(block);
        self.known.assume(v, None);
        block
    }

    fn branch_result(&mut self, v: Var, cond: &Atom, then: &Atom, otherwise: &Atom) {
        let value = match (then, otherwise) {
            (a, b) if same(a, b) => a.clone(),
            (Atom::Lit(Lit::Bool(true)), Atom::Lit(Lit::Bool(false))) => cond.clone(),
            _ => return,
        };
        self.replace_all(&[v], vec![value]);
    }

    /// The arm of a switch that is certain to run.
    fn only_arm(&self, on: &Atom, arms: &mut Vec<(u32, Block<A>)>, default: &mut Option<Block<A>>) -> Option<Block<A>> {
        if arms.is_empty() {
            return default.take();
        }
        if arms.len() == 1 && default.is_none() {
            return arms.pop().map(|(_, block)| block);
        }
        let variant = self.known.variant(on)?;
        match arms.iter().position(|(v, _)| *v == variant) {
            Some(i) => Some(arms.swap_remove(i).1),
            None => default.take(),
        }
    }

    /// State that every turn hands on as it is has the value of its start, inside and after.
    fn unchanging(&mut self, vars: &[Var], state: &[Var], init: &[Atom], body: &mut Block<A>) {
        for (i, s) in state.iter().enumerate() {
            let next = &body.results[i];
            if *next == Atom::Var(*s) || same(&self.known.resolved(next), &init[i]) {
                // The position itself goes with the pass `dead`.
                body.results[i] = init[i].clone();
                self.known.replace(*s, init[i].clone());
                if !self.known.is_replaced(vars[i]) {
                    self.replace_all(&[vars[i]], vec![init[i].clone()]);
                }
            }
        }
    }
}

/// Whether two operands are the same value, bit for bit.
pub(crate) fn same(a: &Atom, b: &Atom) -> bool {
    match (a, b) {
        (Atom::Lit(Lit::F64(x)), Atom::Lit(Lit::F64(y))) => x.to_bits() == y.to_bits(),
        (Atom::Lit(Lit::F32(x)), Atom::Lit(Lit::F32(y))) => x.to_bits() == y.to_bits(),
        (a, b) => a == b,
    }
}

/// Whether values of a type are single floats.
pub(crate) fn is_float(ty: &Type) -> bool {
    matches!(ty, Type::F64 | Type::F32)
}
