//! Walking over the core.
//!
//! In: an expression, statement or rule. Out: every expression and statement inside, closures included, each before its parts;
//! the bodies of local functions are not inside (they stand in a table of their own).

use cotan_core::{Expr, ExprKind, Iter, PlaceStep, Rule, Stmt, StmtKind, Subscript};

type OnExpr<'f, 'e> = &'f mut dyn FnMut(&'e Expr);
type OnStmt<'f, 'e> = &'f mut dyn FnMut(&'e Stmt);

/// Walks over an expression.
pub(crate) fn expr<'e>(e: &'e Expr, f: OnExpr<'_, 'e>, s: OnStmt<'_, 'e>) {
    crate::deep(|| {
        f(e);
        match &e.kind {
            ExprKind::Lit(_)
            | ExprKind::Local(_)
            | ExprKind::Fn(..)
            | ExprKind::LocalFn(..)
            | ExprKind::Const(_)
            | ExprKind::Ctor(..)
            | ExprKind::TangentOf(_)
            | ExprKind::Break
            | ExprKind::Continue => {}
            ExprKind::Tuple(items) | ExprKind::Array(items) | ExprKind::Adt { fields: items, .. } => {
                items.iter().for_each(|e| expr(e, f, s));
            }
            ExprKind::Update { base, fields } => {
                expr(base, f, s);
                fields.iter().for_each(|(_, e)| expr(e, f, s));
            }
            ExprKind::Comprehension { generators, filter, body } => {
                generators.iter().for_each(|g| iter(&g.iter, f, s));
                filter.iter().for_each(|e| expr(e, f, s));
                expr(body, f, s);
            }
            ExprKind::Call { callee: a, arg: b } | ExprKind::Binary { left: a, right: b, .. } => {
                expr(a, f, s);
                expr(b, f, s);
            }
            ExprKind::Unary { operand: e, .. }
            | ExprKind::Field { base: e, .. }
            | ExprKind::TupleField { base: e, .. }
            | ExprKind::TangentField { base: e, .. }
            | ExprKind::TangentCapture { base: e, .. }
            | ExprKind::Return(e) => expr(e, f, s),
            ExprKind::TangentLiteral { function, fields, .. } => {
                expr(function, f, s);
                fields.iter().for_each(|(_, e)| expr(e, f, s));
            }
            ExprKind::Index { base, subscripts: subs } => {
                expr(base, f, s);
                subscripts(subs, f, s);
            }
            ExprKind::If { cond, then, otherwise } => {
                expr(cond, f, s);
                expr(then, f, s);
                expr(otherwise, f, s);
            }
            ExprKind::Match { value, arms } => {
                expr(value, f, s);
                for arm in arms {
                    arm.guard.iter().for_each(|e| expr(e, f, s));
                    expr(&arm.body, f, s);
                }
            }
            ExprKind::Block { stmts, result } => {
                stmts.iter().for_each(|stmt_| stmt(stmt_, f, s));
                result.iter().for_each(|e| expr(e, f, s));
            }
            ExprKind::Closure(closure) => expr(&closure.body, f, s),
            ExprKind::CheckSizes { value, checks } => {
                expr(value, f, s);
                checks.iter().flat_map(|c| c.array.iter().chain([&c.expected])).for_each(|e| expr(e, f, s));
            }
        }
    });
}

/// Walks over a statement.
pub(crate) fn stmt<'e>(statement: &'e Stmt, f: OnExpr<'_, 'e>, s: OnStmt<'_, 'e>) {
    s(statement);
    match &statement.kind {
        StmtKind::Let { value, .. } | StmtKind::Expr(value) => expr(value, f, s),
        StmtKind::LocalFn(_) => {}
        StmtKind::Assign { path, value, .. } | StmtKind::Adjoint { path, value, .. } => {
            for step in path {
                match step {
                    PlaceStep::Field(_) | PlaceStep::TupleField(_) => {}
                    PlaceStep::Index(subs) => subscripts(subs, f, s),
                }
            }
            expr(value, f, s);
        }
        StmtKind::For { iter: walked, body, .. } => {
            iter(walked, f, s);
            expr(body, f, s);
        }
        StmtKind::While { cond, body } => {
            expr(cond, f, s);
            expr(body, f, s);
        }
        StmtKind::BindSize { sources, .. } => sources.iter().for_each(|(e, _)| expr(e, f, s)),
        StmtKind::CheckSizes(checks) => {
            checks.iter().flat_map(|c| c.array.iter().chain([&c.expected])).for_each(|e| expr(e, f, s));
        }
    }
}

/// Walks over a rule.
pub(crate) fn rule<'e>(rule: &'e Rule, f: OnExpr<'_, 'e>, s: OnStmt<'_, 'e>) {
    match rule {
        Rule::Vjp { forward, value, backward, .. } => {
            forward.iter().for_each(|stmt_| stmt(stmt_, f, s));
            value.iter().for_each(|e| expr(e, f, s));
            expr(backward, f, s);
        }
        Rule::Jvp { stmts, value, tangent, .. } => {
            stmts.iter().for_each(|stmt_| stmt(stmt_, f, s));
            value.iter().for_each(|e| expr(e, f, s));
            expr(tangent, f, s);
        }
        Rule::Transpose { forward, backward, .. } => {
            forward.iter().for_each(|stmt_| stmt(stmt_, f, s));
            expr(backward, f, s);
        }
    }
}

fn subscripts<'e>(subs: &'e [Subscript], f: OnExpr<'_, 'e>, s: OnStmt<'_, 'e>) {
    for sub in subs {
        match sub {
            Subscript::At(e) => expr(e, f, s),
            Subscript::Range(a, b) => a.iter().chain(b).for_each(|e| expr(e, f, s)),
        }
    }
}

fn iter<'e>(iter: &'e Iter, f: OnExpr<'_, 'e>, s: OnStmt<'_, 'e>) {
    match iter {
        Iter::Range(a, b) => {
            expr(a, f, s);
            expr(b, f, s);
        }
        Iter::Array(e) => expr(e, f, s),
    }
}
