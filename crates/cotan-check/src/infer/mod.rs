//! Inference of expressions: the dispatch, and the small kinds.
//!
//! In: a tree of expressions and the type its context wants. Out: a term of the core whose types are holes.
//! Newly true: every name in it is resolved, and its types satisfy the rules or were reported.

mod call;
mod closure;
mod control;
mod data;
mod function;
mod paths;
mod pattern;
mod stmt;

pub use function::Signature;
pub use pattern::Bound;

use crate::constraints::Deferred;
use crate::context::{Checker, Want, Why};
use crate::types::{Literal, Node, T};
use cotan_core::{BinaryOp, Expr, ExprKind, Lit, UnaryOp};
use cotan_source::{Diagnostic, Span};
use cotan_syntax::ast;

/// The core's operator for a written one.
pub fn core_op(op: ast::BinaryOp) -> BinaryOp {
    match op {
        ast::BinaryOp::Add => BinaryOp::Add,
        ast::BinaryOp::Sub => BinaryOp::Sub,
        ast::BinaryOp::Mul => BinaryOp::Mul,
        ast::BinaryOp::Div => BinaryOp::Div,
        ast::BinaryOp::Rem => BinaryOp::Rem,
        ast::BinaryOp::Pow => BinaryOp::Pow,
        ast::BinaryOp::MatMul => BinaryOp::MatMul,
        ast::BinaryOp::Eq => BinaryOp::Eq,
        ast::BinaryOp::Ne => BinaryOp::Ne,
        ast::BinaryOp::Lt => BinaryOp::Lt,
        ast::BinaryOp::Le => BinaryOp::Le,
        ast::BinaryOp::Gt => BinaryOp::Gt,
        ast::BinaryOp::Ge => BinaryOp::Ge,
        ast::BinaryOp::And => BinaryOp::And,
        ast::BinaryOp::Or => BinaryOp::Or,
    }
}

/// Runs `f` with enough stack for a few more levels: a sum of ten thousand terms is that deep.
pub fn deeper<R>(f: impl FnOnce() -> R) -> R {
    stacker::maybe_grow(128 * 1024, 4 * 1024 * 1024, f)
}

impl<'a> Checker<'a> {
    /// Ends an expression: what it is, its type, and that the context wants another.
    pub fn end(&mut self, kind: ExprKind, t: T, span: Span, want: Want) -> Expr {
        if let Some((wanted, why)) = want {
            self.equate(wanted, t, span, Some(why));
        }
        self.make(kind, t, span)
    }

    /// Infers an expression.
    pub fn expr(&mut self, e: &'a ast::Expr, want: Want) -> Expr {
        deeper(|| self.expr_here(e, want))
    }

    fn expr_here(&mut self, e: &'a ast::Expr, want: Want) -> Expr {
        let span = e.span;
        match &e.kind {
            ast::ExprKind::Int(text) => self.int_literal(text, false, span, want),
            ast::ExprKind::Float(value) => {
                let t = match want.map(|(t, _)| self.types.node(t)) {
                    Some(Node::Float) => T::FLOAT,
                    _ => self.types.fresh_literal(Literal::Float, span),
                };
                self.end(ExprKind::Lit(Lit::Float(*value)), t, span, want)
            }
            ast::ExprKind::Bool(value) => self.end(ExprKind::Lit(Lit::Bool(*value)), T::BOOL, span, want),
            ast::ExprKind::Str(text) => self.end(ExprKind::Lit(Lit::Str(text.clone())), T::STR, span, want),
            ast::ExprKind::Path(path) => self.path(path, span, want),
            ast::ExprKind::Tuple(parts) => self.tuple_literal(parts, span, want),
            ast::ExprKind::Paren(inner) => self.expr(inner, want),
            ast::ExprKind::Array(parts) => self.array_literal(parts, span, want),
            ast::ExprKind::Comprehension { body, generators, filter } => {
                self.comprehension(body, generators, filter.as_deref(), span, want)
            }
            ast::ExprKind::Struct { path, fields, base } => {
                self.struct_literal(path, fields, base.as_deref(), span, want)
            }
            ast::ExprKind::Call { callee, args } => self.call(callee, args, span, want),
            ast::ExprKind::Method { receiver, name, args } => self.method(receiver, name, args, span, want),
            ast::ExprKind::Field { base, name } => self.field_access(base, name, span, want),
            ast::ExprKind::TupleField { base, index, .. } => self.tuple_field(base, *index, span, want),
            ast::ExprKind::Index { base, subscripts } => self.index(base, subscripts, span, want),
            ast::ExprKind::Range { start, end } => {
                for e in start.iter().chain(end) {
                    self.expr(e, None);
                }
                self.report(
                    Diagnostic::error("E0311", span, "a range is not a value")
                        .note("ranges stand in `for`, comprehensions, subscripts and patterns")
                        .hint("an array of the numbers is `[i for i in a..b]`"),
                );
                self.error_expr(span)
            }
            ast::ExprKind::Unary { op, operand } => self.unary(*op, operand, span, want),
            ast::ExprKind::Binary { op, left, right, .. } => self.binary(core_op(*op), left, right, span, want),
            ast::ExprKind::If { cond, then, otherwise } => self.if_else(cond, then, otherwise.as_deref(), span, want),
            ast::ExprKind::IfLet { pattern, value, then, otherwise } => {
                self.if_let(pattern, value, then, otherwise.as_deref(), span, want)
            }
            ast::ExprKind::Match { value, arms } => self.match_arms(value, arms, span, want),
            ast::ExprKind::Block(block) => self.block(block, want),
            ast::ExprKind::Closure { params, ret, body } => self.closure_expr(params, ret.as_ref(), body, span, want),
            ast::ExprKind::Return(value) => self.return_expr(value.as_deref(), span, want),
            ast::ExprKind::ReturnWith { value, with } => {
                self.report(
                    Diagnostic::error(
                        "E0503",
                        span,
                        "`return .. with ..` ends a derivative clause and can stand only there",
                    )
                    .hint("in a function, write `return value;`"),
                );
                let _ = (value, with);
                self.error_expr(span)
            }
            ast::ExprKind::Break => self.leave_loop(ExprKind::Break, "break", span, want),
            ast::ExprKind::Continue => self.leave_loop(ExprKind::Continue, "continue", span, want),
            ast::ExprKind::TangentLiteral { function, fields } => self.tangent_literal(function, fields, span, want),
            ast::ExprKind::Error => self.error_expr(span),
        }
    }

    fn int_literal(&mut self, text: &str, negative: bool, span: Span, want: Want) -> Expr {
        let signed = if negative { format!("-{text}") } else { text.to_string() };
        let t = match want.map(|(t, _)| self.types.node(t)) {
            Some(Node::Float) => T::FLOAT,
            Some(Node::Int) => T::INT,
            _ => self.types.fresh_literal(Literal::Int, span),
        };
        match signed.parse::<i64>() {
            Ok(value) => self.end(ExprKind::Lit(Lit::Int(value)), t, span, want),
            Err(_) => {
                self.report(
                    Diagnostic::error("E0213", span, "this number does not fit in an `Int`")
                        .note("an `Int` has 64 bits: from -9223372036854775808 to 9223372036854775807")
                        .hint(format!("as a `Float` it is written `{signed}.0`")),
                );
                self.error_expr(span)
            }
        }
    }

    fn unary(&mut self, op: ast::UnaryOp, operand: &'a ast::Expr, span: Span, want: Want) -> Expr {
        match op {
            ast::UnaryOp::Neg => {
                if let ast::ExprKind::Int(text) = &operand.kind {
                    return self.int_literal(text, true, span, want);
                }
                let wanted = want.filter(|(t, _)| self.types.var_of(*t).is_none());
                let operand = self.expr(operand, wanted);
                let t = self.type_of(&operand);
                self.negated(t, span);
                let kind = ExprKind::Unary { op: UnaryOp::Neg, operand: Box::new(operand) };
                if wanted.is_some() { self.make(kind, t, span) } else { self.end(kind, t, span, want) }
            }
            ast::UnaryOp::Not => {
                let operand = self.expr(operand, Some((T::BOOL, Why::new("`!` is of a `Bool`", span))));
                self.end(ExprKind::Unary { op: UnaryOp::Not, operand: Box::new(operand) }, T::BOOL, span, want)
            }
        }
    }

    fn binary(&mut self, op: BinaryOp, left: &'a ast::Expr, right: &'a ast::Expr, span: Span, want: Want) -> Expr {
        if matches!(op, BinaryOp::And | BinaryOp::Or) {
            let why = Why::new("`&&` and `||` are of `Bool`s", span);
            let left = self.expr(left, Some((T::BOOL, why)));
            let before = self.diverges;
            let right = self.expr(right, Some((T::BOOL, why)));
            self.diverges = before;
            let kind = ExprKind::Binary { op, left: Box::new(left), right: Box::new(right) };
            return self.end(kind, T::BOOL, span, want);
        }
        let left = self.expr(left, None);
        let right = self.expr(right, None);
        let (l, r) = (self.type_of(&left), self.type_of(&right));
        let t = self.binary_type(op, l, r, (span, left.span, right.span));
        self.solve_ready();
        self.compare_operands(op, &left, &right);
        self.end(ExprKind::Binary { op, left: Box::new(left), right: Box::new(right) }, t, span, want)
    }

    fn field_access(&mut self, base: &'a ast::Expr, name: &'a ast::Ident, span: Span, want: Want) -> Expr {
        let base = self.expr(base, None);
        let base_type = self.type_of(&base);
        let result = self.types.fresh(span);
        let id = self
            .types
            .defer(Deferred::Field { base: base_type, name: name.name.clone(), result, span: name.span }, &[]);
        self.attempt(id, false);
        self.solve_ready();
        self.end(ExprKind::Field { base: Box::new(base), index: later(id) }, result, span, want)
    }

    fn tuple_field(&mut self, base: &'a ast::Expr, index: u32, span: Span, want: Want) -> Expr {
        let base = self.expr(base, None);
        let base_type = self.type_of(&base);
        let result = self.types.fresh(span);
        let id = self.types.defer(Deferred::TupleField { base: base_type, index, result, span }, &[]);
        self.attempt(id, false);
        self.solve_ready();
        self.end(ExprKind::Field { base: Box::new(base), index: later(id) }, result, span, want)
    }
}

const LATER: usize = 1 << 40;

/// The position of a field that is still to be found by a deferred constraint.
pub fn later(id: u32) -> usize {
    LATER + id as usize
}

/// The constraint behind such a position.
pub fn as_later(index: usize) -> Option<u32> {
    if index >= LATER { u32::try_from(index - LATER).ok() } else { None }
}
