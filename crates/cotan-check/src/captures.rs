//! Captures of closures and local functions.
//!
//! In: a finished body. Out: the same with `captures` filled in. Newly true: a closure lists every variable
//! from outside that it or a local function it calls uses, in order of first use.

use cotan_core::{
    Expr, ExprKind, LocalFn, LocalFnId, LocalId, Pattern, PatternKind, Rule, Stmt, StmtKind, Visitor, walk_expr,
    walk_pattern, walk_rule, walk_stmt,
};
use cotan_source::{Idx, IndexVec};
use indexmap::IndexSet;
use rustc_hash::FxHashSet;

/// What the code of one closure or local function uses and binds.
#[derive(Default, Clone)]
struct Frame {
    used: IndexSet<LocalId>,
    fns: IndexSet<LocalFnId>,
    bound: FxHashSet<LocalId>,
}

/// Fills in the captures of all closures and local functions of one body.
pub fn fill(body: &mut Expr, rules: &mut [Rule], local_fns: &mut IndexVec<LocalFnId, LocalFn>) {
    let count = local_fns.len();
    // First what each local function uses itself, then what it uses through others.
    let mut frames: Vec<Frame> = Vec::with_capacity(count);
    for i in 0..count {
        let f = &mut local_fns[LocalFnId::new(i)];
        let mut walk = Walk { stack: vec![Frame::default()], known: None };
        walk.top().bound.extend(f.params.iter().copied());
        walk.expr(&mut f.body);
        for rule in &mut f.rules {
            walk_rule(&mut walk, rule);
        }
        frames.push(walk.stack.remove(0));
    }
    let mut captures: Vec<IndexSet<LocalId>> =
        frames.iter().map(|f| f.used.iter().copied().filter(|l| !f.bound.contains(l)).collect()).collect();
    loop {
        let mut changed = false;
        for i in 0..count {
            for g in frames[i].fns.clone() {
                for local in captures[g.index()].clone() {
                    if !frames[i].bound.contains(&local) && captures[i].insert(local) {
                        changed = true;
                    }
                }
            }
        }
        if !changed {
            break;
        }
    }
    for i in 0..count {
        let f = &mut local_fns[LocalFnId::new(i)];
        let mut walk = Walk { stack: vec![Frame::default()], known: Some(&captures) };
        walk.expr(&mut f.body);
        for rule in &mut f.rules {
            walk_rule(&mut walk, rule);
        }
        f.captures = captures[i].iter().copied().collect();
    }
    let mut walk = Walk { stack: vec![Frame::default()], known: Some(&captures) };
    walk.expr(body);
    for rule in rules {
        walk_rule(&mut walk, rule);
    }
}

struct Walk<'c> {
    stack: Vec<Frame>,
    /// Captures of local functions, once they are known.
    known: Option<&'c [IndexSet<LocalId>]>,
}

impl Walk<'_> {
    fn top(&mut self) -> &mut Frame {
        if self.stack.is_empty() {
            self.stack.push(Frame::default());
        }
        let last = self.stack.len() - 1;
        &mut self.stack[last]
    }

    fn use_fn(&mut self, id: LocalFnId) {
        match self.known {
            Some(known) => {
                let locals = &known[id.index()];
                self.top().used.extend(locals.iter().copied());
            }
            None => {
                self.top().fns.insert(id);
            }
        }
    }
}

impl Visitor for Walk<'_> {
    fn expr(&mut self, e: &mut Expr) {
        match &mut e.kind {
            ExprKind::Local(id) | ExprKind::TangentOf(id) => {
                self.top().used.insert(*id);
            }
            ExprKind::LocalFn(id, _) => self.use_fn(*id),
            ExprKind::Closure(closure) => {
                self.stack.push(Frame::default());
                self.top().bound.extend(closure.params.iter().copied());
                self.expr(&mut closure.body);
                let frame = self.stack.pop().unwrap_or_default();
                let captures: Vec<LocalId> = frame.used.iter().copied().filter(|l| !frame.bound.contains(l)).collect();
                let known = self.known.is_some();
                let outer = self.top();
                outer.used.extend(captures.iter().copied());
                outer.fns.extend(frame.fns);
                if known {
                    closure.captures = captures;
                } else {
                    // Local functions inside may use what this closure binds; that is not free outside either.
                    outer.bound.extend(frame.bound);
                }
            }
            _ => walk_expr(self, e),
        }
    }

    fn pattern(&mut self, p: &mut Pattern) {
        if let PatternKind::Bind(id) = &p.kind {
            self.top().bound.insert(*id);
        }
        walk_pattern(self, p);
    }

    fn stmt(&mut self, s: &mut Stmt) {
        match &s.kind {
            StmtKind::LocalFn(id) => self.use_fn(*id),
            StmtKind::Assign { local, .. } | StmtKind::Adjoint { local, .. } => {
                self.top().used.insert(*local);
            }
            StmtKind::BindSize { local, .. } => {
                self.top().bound.insert(*local);
            }
            _ => {}
        }
        walk_stmt(self, s);
    }
}
