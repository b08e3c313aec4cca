//! Pass `hoist`: what is the same in every turn of a loop is computed once, before it.
//!
//! In: a function. Out: the same, with operations that cannot fail or act and whose operands do not change in a loop moved
//! in front of it, as far out as they can go. Only from the loop's own statements, not from a branch inside, which may never run.

use cotan_ir::{Block, FnId, FnTraits, Op, Operator, Program, Stmt, Var, VarInfo, own_traits};
use cotan_source::{Idx, IndexVec};

pub(crate) fn run<A: Operator>(program: &mut Program<A>, id: FnId, fns: &FnTraits) -> bool {
    let func = &mut program.fns[id];
    let mut body = std::mem::take(&mut func.body);
    let vars = std::mem::take(&mut func.vars);
    let mut hoist = Hoist { program, fns, vars: &vars, depth: vec![0; vars.len()], now: 0, changed: false };
    hoist.block(&mut body);
    let changed = hoist.changed;
    let func = &mut program.fns[id];
    func.body = body;
    func.vars = vars;
    changed
}

struct Hoist<'a, A> {
    program: &'a Program<A>,
    fns: &'a FnTraits,
    vars: &'a IndexVec<Var, VarInfo>,
    /// How many blocks are around the place where a variable is defined.
    depth: Vec<u32>,
    /// How many blocks are around the statement at hand.
    now: u32,
    changed: bool,
}

impl<A: Operator> Hoist<'_, A> {
    fn block(&mut self, block: &mut Block<A>) {
        let stmts = std::mem::take(&mut block.stmts);
        for mut stmt in stmts {
            let looped = matches!(stmt.op, Op::For { .. } | Op::While { .. } | Op::Build { .. });
            if stmt.op.has_blocks() {
                self.now += 1;
                let now = self.now;
                stmt.op.for_each_bound(|v| self.depth[v.index()] = now);
                stmt.op.for_each_block_mut(|b| self.block(b));
                self.now -= 1;
                if looped {
                    let mut out = Vec::new();
                    stmt.op.for_each_block_mut(|b| self.take_out(b, &mut out));
                    self.changed |= !out.is_empty();
                    block.stmts.extend(out);
                }
            }
            for v in &stmt.vars {
                self.depth[v.index()] = self.now;
            }
            block.stmts.push(stmt);
        }
    }

    /// Moves statements of a loop's block that belong outside of it to `out`. Each of them is now defined one block
    /// further out, so those that depend on it may follow, and the loop around may pass it on.
    fn take_out(&mut self, block: &mut Block<A>, out: &mut Vec<Stmt<A>>) {
        block.stmts.retain(|stmt| {
            let mut depth = 0;
            stmt.op.for_each_atom(|a| {
                if let Some(v) = a.var() {
                    depth = depth.max(self.depth[v.index()]);
                }
            });
            if depth > self.now || stmt.op.has_blocks() || !self.may_move(stmt) {
                return true;
            }
            for v in &stmt.vars {
                self.depth[v.index()] = self.now;
            }
            out.push(stmt.clone());
            false
        });
    }

    fn may_move(&self, stmt: &Stmt<A>) -> bool {
        own_traits(self.program, self.vars, &stmt.op, &|f| self.fns.get(f)).may_move()
    }
}
