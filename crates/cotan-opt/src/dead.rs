//! Pass `dead`: what nobody needs goes.
//!
//! In: a function. Out: the same without statements whose results are not used and that cannot fail or act, and without
//! positions of block results and loop states that are not used. Parameters stay: callers give them.
//!
//! One graph over variables and statements, from every user to what it needs; what cannot be reached from the function's results
//! and from the statements that must run is dead. A loop state that only feeds itself is dead by the same token.

use cotan_ir::{Atom, Block, FnId, FnTraits, Op, Operator, Program, Stmt, Var, own_traits};
use cotan_source::Idx;

pub(crate) fn run<A: Operator>(program: &mut Program<A>, id: FnId, fns: &FnTraits) -> bool {
    let func = &program.fns[id];
    let mut graph = Graph { nodes: func.vars.len(), edges: Vec::new(), roots: Vec::new() };
    let mut build = Build { program, id, fns, graph: &mut graph, around: None };
    build.block(&func.body);
    for atom in &func.body.results {
        graph.roots.extend(atom.var().map(Idx::index));
    }
    let live = graph.reach();
    let func = &mut program.fns[id];
    let mut sweep = Sweep { live: &live, next: func.vars.len(), changed: false };
    sweep.block(&mut func.body);
    sweep.changed
}

/// Nodes are variables, then statements in order, the outer ones first.
struct Graph {
    nodes: usize,
    edges: Vec<(usize, usize)>,
    roots: Vec<usize>,
}

impl Graph {
    /// Which nodes are needed.
    fn reach(self) -> Vec<bool> {
        // Edges sorted by their start, without comparing them: `first[n]..first[n + 1]` are those of `n`.
        let mut first = vec![0; self.nodes + 2];
        for (from, _) in &self.edges {
            first[from + 2] += 1;
        }
        for i in 2..first.len() {
            first[i] += first[i - 1];
        }
        let mut to = vec![0; self.edges.len()];
        for (from, target) in self.edges {
            to[first[from + 1]] = target;
            first[from + 1] += 1;
        }
        let mut live = vec![false; self.nodes];
        let mut todo = self.roots;
        while let Some(n) = todo.pop() {
            if !std::mem::replace(&mut live[n], true) {
                todo.extend(to[first[n]..first[n + 1]].iter().filter(|t| !live[**t]));
            }
        }
        live
    }
}

struct Build<'a, A> {
    program: &'a Program<A>,
    id: FnId,
    fns: &'a FnTraits,
    graph: &'a mut Graph,
    /// The statement whose block is walked.
    around: Option<usize>,
}

impl<A: Operator> Build<'_, A> {
    fn edge(&mut self, from: usize, to: usize) {
        self.graph.edges.push((from, to));
    }

    fn need(&mut self, from: usize, atom: &Atom) {
        if let Atom::Var(v) = atom {
            self.edge(from, v.index());
        }
    }

    fn block(&mut self, block: &Block<A>) {
        for stmt in &block.stmts {
            self.stmt(stmt);
        }
    }

    fn stmt(&mut self, stmt: &Stmt<A>) {
        let node = self.graph.nodes;
        self.graph.nodes += 1;
        if let Some(around) = self.around {
            self.edge(node, around);
        }
        for v in &stmt.vars {
            self.edge(v.index(), node);
        }
        let vars = &self.program.fns[self.id].vars;
        if own_traits(self.program, vars, &stmt.op, &|f| self.fns.get(f)).must_run() {
            self.graph.roots.push(node);
        }
        match &stmt.op {
            Op::If { cond, .. } => self.need(node, cond),
            Op::Switch { on, .. } => self.need(node, on),
            Op::For { count, state, init, body, .. } => {
                self.need(node, count);
                self.state(stmt, state, init, body);
            }
            Op::While { state, init, cond, body } => {
                // A state of a loop without results is still needed for its condition.
                for atom in &cond.results {
                    self.need(node, atom);
                }
                self.state(stmt, state, init, body);
            }
            Op::Build { extents, .. } => extents.iter().for_each(|a| self.need(node, a)),
            op => op.for_each_atom(|a| self.need(node, a)),
        }
        let around = self.around.replace(node);
        stmt.op.for_each_block(|block| {
            self.block(block);
            if !matches!(stmt.op, Op::For { .. } | Op::While { .. }) {
                for (v, atom) in stmt.vars.iter().zip(&block.results) {
                    self.need(v.index(), atom);
                }
            }
        });
        self.around = around;
        // What a loop binds is there only while it runs.
        stmt.op.for_each_bound(|v| self.edge(v.index(), node));
    }

    fn state(&mut self, stmt: &Stmt<A>, state: &[Var], init: &[Atom], body: &Block<A>) {
        for (i, atom) in body.results.iter().enumerate() {
            self.need(stmt.vars[i].index(), atom);
            if let Some(s) = state.get(i) {
                self.need(stmt.vars[i].index(), &init[i]);
                self.need(s.index(), &init[i]);
                self.need(s.index(), atom);
            }
        }
    }
}

struct Sweep<'a> {
    live: &'a [bool],
    /// The node of the next statement.
    next: usize,
    changed: bool,
}

impl Sweep<'_> {
    fn block<A: Operator>(&mut self, block: &mut Block<A>) {
        let before = block.stmts.len();
        block.stmts.retain_mut(|stmt| self.stmt(stmt));
        self.changed |= block.stmts.len() != before;
    }

    fn stmt<A: Operator>(&mut self, stmt: &mut Stmt<A>) -> bool {
        let node = self.next;
        self.next += 1;
        if !self.live[node] {
            self.next += stmt_count(&stmt.op);
            return false;
        }
        let live = |v: &Var| self.live[v.index()];
        // Which results stay: all of an operation without blocks, where any does.
        let mut keep: Vec<bool> = stmt.vars.iter().map(live).collect();
        match &mut stmt.op {
            Op::If { then, otherwise, .. } => {
                retain(&mut then.results, &keep);
                retain(&mut otherwise.results, &keep);
            }
            Op::Switch { arms, default, .. } => {
                for block in arms.iter_mut().map(|(_, b)| b).chain(default) {
                    retain(&mut block.results, &keep);
                }
            }
            Op::Build { body, .. } => retain(&mut body.results, &keep),
            Op::For { state, init, body, .. } | Op::While { state, init, body, .. } => {
                for (keep, s) in keep.iter_mut().zip(state.iter()) {
                    *keep |= live(s);
                }
                retain(&mut body.results, &keep);
                keep_first(init, &keep);
                keep_first(state, &keep);
            }
            _ => keep.fill(true),
        }
        self.changed |= keep.contains(&false);
        retain(&mut stmt.vars, &keep);
        stmt.op.for_each_block_mut(|b| self.block(b));
        true
    }
}

/// How many statements are nested in an operation.
fn stmt_count<A: Operator>(op: &Op<A>) -> usize {
    let mut n = 0;
    op.for_each_block(|b| n += b.size());
    n
}

fn retain<T>(items: &mut Vec<T>, keep: &[bool]) {
    let mut keep = keep.iter();
    items.retain(|_| *keep.next().unwrap_or(&true));
}

/// As [`retain`], where `keep` goes on for others.
fn keep_first<T>(items: &mut Vec<T>, keep: &[bool]) {
    retain(items, &keep[..items.len()]);
}
