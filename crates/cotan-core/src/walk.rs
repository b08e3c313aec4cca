//! Walking over terms, for passes that change them in place.
//!
//! In: a term. Out: the same term, changed by a [`Visitor`] that sees every expression, pattern, statement
//! and place. The bodies of local functions stand in a table of their own and are not entered.

use crate::{Arm, Expr, ExprKind, Iter, Pattern, PatternKind, PlaceStep, Rule, SizeCheck, Stmt, StmtKind, Subscript};

/// What a pass does at each node; by default it goes on to the parts.
pub trait Visitor {
    /// At an expression.
    fn expr(&mut self, e: &mut Expr) {
        walk_expr(self, e);
    }

    /// At a pattern.
    fn pattern(&mut self, p: &mut Pattern) {
        walk_pattern(self, p);
    }

    /// At a statement.
    fn stmt(&mut self, s: &mut Stmt) {
        walk_stmt(self, s);
    }

    /// At a step into a place.
    fn place_step(&mut self, step: &mut PlaceStep) {
        walk_place_step(self, step);
    }
}

/// Goes to the parts of an expression, in order of evaluation. The stack grows as needed: a sum of ten
/// thousand terms is that deep.
pub fn walk_expr<V: Visitor + ?Sized>(v: &mut V, e: &mut Expr) {
    stacker::maybe_grow(128 * 1024, 4 * 1024 * 1024, || walk_parts(v, e));
}

fn walk_parts<V: Visitor + ?Sized>(v: &mut V, e: &mut Expr) {
    match &mut e.kind {
        ExprKind::Lit(_)
        | ExprKind::Local(_)
        | ExprKind::Fn(..)
        | ExprKind::LocalFn(..)
        | ExprKind::Const(_)
        | ExprKind::Ctor(..)
        | ExprKind::TangentOf(_)
        | ExprKind::Break
        | ExprKind::Continue => {}
        ExprKind::Tuple(parts) | ExprKind::Array(parts) => parts.iter_mut().for_each(|p| v.expr(p)),
        ExprKind::Adt { fields, .. } => fields.iter_mut().for_each(|f| v.expr(f)),
        ExprKind::Update { base, fields } => {
            fields.iter_mut().for_each(|(_, f)| v.expr(f));
            v.expr(base);
        }
        ExprKind::Comprehension { generators, filter, body } => {
            for g in generators.iter_mut() {
                walk_iter(v, &mut g.iter);
            }
            for g in generators.iter_mut() {
                v.pattern(&mut g.pattern);
            }
            if let Some(filter) = filter {
                v.expr(filter);
            }
            v.expr(body);
        }
        ExprKind::Call { callee, arg } => {
            v.expr(callee);
            v.expr(arg);
        }
        ExprKind::Binary { left, right, .. } => {
            v.expr(left);
            v.expr(right);
        }
        ExprKind::Unary { operand: inner, .. } | ExprKind::Return(inner) => v.expr(inner),
        ExprKind::Field { base, .. }
        | ExprKind::TupleField { base, .. }
        | ExprKind::TangentField { base, .. }
        | ExprKind::TangentCapture { base, .. } => v.expr(base),
        ExprKind::TangentLiteral { function, fields, .. } => {
            v.expr(function);
            fields.iter_mut().for_each(|(_, f)| v.expr(f));
        }
        ExprKind::Index { base, subscripts } => {
            v.expr(base);
            subscripts.iter_mut().for_each(|s| walk_subscript(v, s));
        }
        ExprKind::If { cond, then, otherwise } => {
            v.expr(cond);
            v.expr(then);
            v.expr(otherwise);
        }
        ExprKind::Match { value, arms } => {
            v.expr(value);
            for Arm { pattern, guard, body } in arms {
                v.pattern(pattern);
                if let Some(guard) = guard {
                    v.expr(guard);
                }
                v.expr(body);
            }
        }
        ExprKind::Block { stmts, result } => {
            stmts.iter_mut().for_each(|s| v.stmt(s));
            if let Some(result) = result {
                v.expr(result);
            }
        }
        ExprKind::Closure(closure) => v.expr(&mut closure.body),
        ExprKind::CheckSizes { value, checks } => {
            v.expr(value);
            checks.iter_mut().for_each(|c| walk_check(v, c));
        }
    }
}

/// Goes to the parts of a pattern.
pub fn walk_pattern<V: Visitor + ?Sized>(v: &mut V, p: &mut Pattern) {
    match &mut p.kind {
        PatternKind::Wildcard | PatternKind::Bind(_) | PatternKind::Lit(_) | PatternKind::Range { .. } => {}
        PatternKind::Tuple(parts) | PatternKind::Adt { fields: parts, .. } | PatternKind::Or(parts) => {
            parts.iter_mut().for_each(|p| v.pattern(p));
        }
    }
}

/// Goes to the parts of a statement.
pub fn walk_stmt<V: Visitor + ?Sized>(v: &mut V, s: &mut Stmt) {
    match &mut s.kind {
        StmtKind::Let { pattern, value } => {
            v.expr(value);
            v.pattern(pattern);
        }
        StmtKind::LocalFn(_) => {}
        StmtKind::Assign { path, value, .. } | StmtKind::Adjoint { path, value, .. } => {
            path.iter_mut().for_each(|s| v.place_step(s));
            v.expr(value);
        }
        StmtKind::Expr(e) => v.expr(e),
        StmtKind::For { pattern, iter, body } => {
            walk_iter(v, iter);
            v.pattern(pattern);
            v.expr(body);
        }
        StmtKind::While { cond, body } => {
            v.expr(cond);
            v.expr(body);
        }
        StmtKind::BindSize { sources, .. } => sources.iter_mut().for_each(|(e, _)| v.expr(e)),
        StmtKind::CheckSizes(checks) => checks.iter_mut().for_each(|c| walk_check(v, c)),
    }
}

/// Goes to the parts of a step into a place.
pub fn walk_place_step<V: Visitor + ?Sized>(v: &mut V, step: &mut PlaceStep) {
    match step {
        PlaceStep::Field(_) | PlaceStep::TupleField(_) => {}
        PlaceStep::Index(subscripts) => subscripts.iter_mut().for_each(|s| walk_subscript(v, s)),
    }
}

/// Goes to the parts of a rule.
pub fn walk_rule<V: Visitor + ?Sized>(v: &mut V, rule: &mut Rule) {
    match rule {
        Rule::Vjp { forward, value, dy, backward, .. } => {
            forward.iter_mut().for_each(|s| v.stmt(s));
            if let Some(value) = value {
                v.expr(value);
            }
            v.pattern(dy);
            v.expr(backward);
        }
        Rule::Jvp { stmts, value, tangent, .. } => {
            stmts.iter_mut().for_each(|s| v.stmt(s));
            if let Some(value) = value {
                v.expr(value);
            }
            v.expr(tangent);
        }
        Rule::Transpose { forward, dy, backward, .. } => {
            forward.iter_mut().for_each(|s| v.stmt(s));
            v.pattern(dy);
            v.expr(backward);
        }
    }
}

fn walk_iter<V: Visitor + ?Sized>(v: &mut V, iter: &mut Iter) {
    match iter {
        Iter::Range(a, b) => {
            v.expr(a);
            v.expr(b);
        }
        Iter::Array(e) => v.expr(e),
    }
}

fn walk_subscript<V: Visitor + ?Sized>(v: &mut V, s: &mut Subscript) {
    match s {
        Subscript::At(e) => v.expr(e),
        Subscript::Range(a, b) => {
            a.iter_mut().for_each(|e| v.expr(e));
            b.iter_mut().for_each(|e| v.expr(e));
        }
    }
}

fn walk_check<V: Visitor + ?Sized>(v: &mut V, c: &mut SizeCheck) {
    if let Some(array) = &mut c.array {
        v.expr(array);
    }
    v.expr(&mut c.expected);
}
