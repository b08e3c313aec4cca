//! What an expression may do to the control around it.
//!
//! In: an expression of the core. Out: its [`Effects`]: which variables it assigns, whether it may leave the function or
//! the loop, and whether it never comes to its end. Branches and loops are translated by what this says, so that one
//! that only computes a value stays one that only computes a value.

use cotan_core::{BinaryOp, Pattern};
use cotan_core::{Expr, ExprKind, Iter, LocalId, PatternKind, PlaceStep, Stmt, StmtKind, Subscript};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// What an expression may do besides having a value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Effects {
    /// Variables that it assigns, ascending.
    pub assigned: Vec<LocalId>,
    /// Whether it may `return`.
    pub returns: bool,
    /// Whether it may `break` a loop around it.
    pub breaks: bool,
    /// Whether it may `continue` a loop around it.
    pub continues: bool,
    /// Whether it always leaves.
    pub diverges: bool,
}

impl Effects {
    /// Whether it may leave.
    pub fn exits(&self) -> bool {
        self.returns || self.breaks || self.continues
    }

    /// Whether it does nothing but have a value.
    pub fn is_pure(&self) -> bool {
        self.assigned.is_empty() && !self.exits()
    }

    /// Adds what `other` may do.
    pub fn add(&mut self, other: &Effects) {
        self.returns |= other.returns;
        self.breaks |= other.breaks;
        self.continues |= other.continues;
        if !other.assigned.is_empty() {
            self.assigned.extend_from_slice(&other.assigned);
            self.assigned.sort_unstable();
            self.assigned.dedup();
        }
    }

    /// Adds what `other`, which is always evaluated, does.
    fn then(&mut self, other: &Effects) {
        self.add(other);
        self.diverges |= other.diverges;
    }
}

/// Remembers what was found, so that nested constructs are looked at once.
#[derive(Default)]
pub(crate) struct Scan {
    known: FxHashMap<*const Expr, Rc<Effects>>,
}

impl Scan {
    /// The effects of an expression.
    pub fn expr(&mut self, e: &Expr) -> Rc<Effects> {
        if let Some(found) = self.known.get(&std::ptr::from_ref(e)) {
            return found.clone();
        }
        let mut out = Effects::default();
        crate::deep(|| self.kind(&e.kind, &mut out));
        let out = Rc::new(out);
        let compound = matches!(
            e.kind,
            ExprKind::If { .. } | ExprKind::Match { .. } | ExprKind::Block { .. } | ExprKind::Binary { .. }
        );
        if compound {
            self.known.insert(std::ptr::from_ref(e), out.clone());
        }
        out
    }

    fn into(&mut self, e: &Expr, out: &mut Effects) {
        // Small expressions need no set of their own.
        match &e.kind {
            ExprKind::Lit(_) | ExprKind::Local(_) | ExprKind::Fn(..) | ExprKind::LocalFn(..) => {}
            _ => out.then(&self.expr(e)),
        }
    }

    fn all<'e>(&mut self, items: impl IntoIterator<Item = &'e Expr>, out: &mut Effects) {
        for e in items {
            self.into(e, out);
        }
    }

    fn maybe(&mut self, e: &Expr, out: &mut Effects) {
        let found = self.expr(e);
        out.add(&found);
    }

    fn kind(&mut self, kind: &ExprKind, out: &mut Effects) {
        match kind {
            ExprKind::Lit(_)
            | ExprKind::Local(_)
            | ExprKind::Fn(..)
            | ExprKind::LocalFn(..)
            | ExprKind::Const(_)
            | ExprKind::Ctor(..)
            | ExprKind::TangentOf(_)
            | ExprKind::Closure(_) => {}
            ExprKind::Tuple(items) | ExprKind::Array(items) => self.all(items, out),
            ExprKind::Adt { fields, .. } => self.all(fields, out),
            ExprKind::Update { base, fields } => {
                self.into(base, out);
                self.all(fields.iter().map(|(_, e)| e), out);
            }
            ExprKind::Comprehension { generators, filter, body } => {
                for g in generators {
                    self.iter(&g.iter, out);
                }
                if let Some(filter) = filter {
                    self.maybe(filter, out);
                }
                self.maybe(body, out);
            }
            ExprKind::Call { callee, arg } => {
                self.into(callee, out);
                self.into(arg, out);
            }
            ExprKind::Binary { op: BinaryOp::And | BinaryOp::Or, left, right } => {
                self.into(left, out);
                self.maybe(right, out);
            }
            ExprKind::Binary { left, right, .. } => {
                self.into(left, out);
                self.into(right, out);
            }
            ExprKind::Unary { operand: e, .. }
            | ExprKind::Field { base: e, .. }
            | ExprKind::TupleField { base: e, .. }
            | ExprKind::TangentField { base: e, .. }
            | ExprKind::TangentCapture { base: e, .. } => self.into(e, out),
            ExprKind::TangentLiteral { function, fields, .. } => {
                self.into(function, out);
                self.all(fields.iter().map(|(_, e)| e), out);
            }
            ExprKind::Index { base, subscripts } => {
                self.into(base, out);
                self.subscripts(subscripts, out);
            }
            ExprKind::If { cond, then, otherwise } => {
                self.into(cond, out);
                let (a, b) = (self.expr(then), self.expr(otherwise));
                out.add(&a);
                out.add(&b);
                out.diverges |= a.diverges && b.diverges;
            }
            ExprKind::Match { value, arms } => {
                self.into(value, out);
                let mut all = !arms.is_empty();
                for arm in arms {
                    if let Some(guard) = &arm.guard {
                        self.maybe(guard, out);
                    }
                    let found = self.expr(&arm.body);
                    out.add(&found);
                    all &= found.diverges;
                }
                out.diverges |= all;
            }
            ExprKind::Block { stmts, result } => {
                for stmt in stmts {
                    self.stmt(stmt, out);
                }
                if let Some(result) = result {
                    self.into(result, out);
                }
                for stmt in stmts {
                    if let StmtKind::Let { pattern, .. } = &stmt.kind
                        && !out.assigned.is_empty()
                    {
                        forget(pattern, &mut out.assigned);
                    }
                }
            }
            ExprKind::Return(e) => {
                self.into(e, out);
                out.returns = true;
                out.diverges = true;
            }
            ExprKind::Break => {
                out.breaks = true;
                out.diverges = true;
            }
            ExprKind::Continue => {
                out.continues = true;
                out.diverges = true;
            }
            ExprKind::CheckSizes { value, checks } => {
                self.into(value, out);
                for check in checks {
                    self.all(check.array.iter().chain([&check.expected]), out);
                }
            }
        }
    }

    fn stmt(&mut self, stmt: &Stmt, out: &mut Effects) {
        match &stmt.kind {
            StmtKind::Let { value, .. } => self.into(value, out),
            StmtKind::LocalFn(_) => {}
            StmtKind::Assign { local, path, value, .. } => {
                self.path(path, out);
                self.into(value, out);
                if let Err(at) = out.assigned.binary_search(local) {
                    out.assigned.insert(at, *local);
                }
            }
            StmtKind::Adjoint { path, value, .. } => {
                self.path(path, out);
                self.into(value, out);
            }
            StmtKind::Expr(e) => self.into(e, out),
            StmtKind::For { iter, body, .. } => {
                self.iter(iter, out);
                self.turn(body, out);
            }
            StmtKind::While { cond, body } => {
                self.turn(cond, out);
                self.turn(body, out);
            }
            StmtKind::BindSize { sources, .. } => self.all(sources.iter().map(|(e, _)| e), out),
            StmtKind::CheckSizes(checks) => {
                for check in checks {
                    self.all(check.array.iter().chain([&check.expected]), out);
                }
            }
        }
    }

    /// The body of a loop: what leaves the loop does not leave what is around it.
    fn turn(&mut self, body: &Expr, out: &mut Effects) {
        let mut found = (*self.expr(body)).clone();
        found.breaks = false;
        found.continues = false;
        out.add(&found);
    }

    fn path(&mut self, path: &[PlaceStep], out: &mut Effects) {
        for step in path {
            match step {
                PlaceStep::Field(_) | PlaceStep::TupleField(_) => {}
                PlaceStep::Index(subs) => self.subscripts(subs, out),
            }
        }
    }

    fn subscripts(&mut self, subs: &[Subscript], out: &mut Effects) {
        for sub in subs {
            match sub {
                Subscript::At(e) => self.into(e, out),
                Subscript::Range(a, b) => self.all(a.iter().chain(b), out),
            }
        }
    }

    fn iter(&mut self, iter: &Iter, out: &mut Effects) {
        match iter {
            Iter::Range(a, b) => {
                self.into(a, out);
                self.into(b, out);
            }
            Iter::Array(e) => self.into(e, out),
        }
    }
}

/// Removes the variables that a pattern binds.
fn forget(pattern: &Pattern, from: &mut Vec<LocalId>) {
    match &pattern.kind {
        PatternKind::Bind(local) => from.retain(|l| l != local),
        PatternKind::Tuple(parts) | PatternKind::Adt { fields: parts, .. } | PatternKind::Or(parts) => {
            parts.iter().for_each(|p| forget(p, from));
        }
        PatternKind::Wildcard | PatternKind::Lit(_) | PatternKind::Range { .. } => {}
    }
}
