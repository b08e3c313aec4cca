//! Blocks and statements.
//!
//! In: tokens. Out: [`Block`]s. Newly true: the places that are assigned are paths of fields and indices.

use super::Parser;
use super::exprs::assignment;
use crate::ast::{BinaryOp, Block, Expr, ExprKind, Stmt, StmtKind};
use crate::token::Kind;
use cotan_source::{Diagnostic, Span};

impl Parser<'_> {
    /// A block where one must stand; with hints for heads written as in other languages.
    pub(super) fn block_after_head(&mut self) -> Block {
        if !self.at(Kind::LBrace) {
            let diagnostic = self.expectation("`{`");
            let diagnostic = match self.kind() {
                Kind::Colon | Kind::FatArrow => diagnostic.hint("bodies are written in braces `{ .. }`"),
                _ => diagnostic,
            };
            self.report(diagnostic);
            let skip = matches!(self.kind(), Kind::Colon | Kind::FatArrow | Kind::Eq)
                || self.at_word("then")
                || self.at_word("do");
            if skip {
                self.bump();
            }
            if !self.at(Kind::LBrace) {
                let at = self.start();
                // A body without braces: its value is the block's.
                let result = if skip && self.kind().starts_expr() { Some(Box::new(self.expr())) } else { None };
                return Block { stmts: Vec::new(), result, span: self.span_from(at) };
            }
        }
        let head = std::mem::replace(&mut self.in_head, false);
        let block = self.block();
        self.in_head = head;
        block
    }

    /// `{ .. }`; the next token is the brace.
    pub(super) fn block(&mut self) -> Block {
        let start = self.start();
        match self.nested(Self::block_inside) {
            Some(block) => block,
            None => Block { stmts: Vec::new(), result: None, span: self.span_from(start) },
        }
    }

    fn block_inside(&mut self) -> Block {
        let open = self.bump();
        let mut stmts = Vec::new();
        let mut result = None;
        while !self.at(Kind::RBrace) && !self.at(Kind::Eof) {
            if self.eat(Kind::Semi) {
                continue;
            }
            let before = self.pos;
            match self.stmt() {
                Ok(stmt) => stmts.push(stmt),
                Err(value) => {
                    result = Some(value);
                    break;
                }
            }
            if self.pos == before {
                let start = self.start();
                self.expected("a statement");
                self.skip_stmt();
                stmts.push(Stmt { kind: StmtKind::Error, span: self.span_from(start) });
            }
        }
        self.close(open, "`;` or `}`");
        Block { stmts, result, span: self.span_from(open.start) }
    }

    /// Skips at least one token, to the end of a statement.
    fn skip_stmt(&mut self) {
        if self.at(Kind::RBrace) {
            return;
        }
        if let Some(closer) = self.kind().closer() {
            self.bump();
            if self.skip_to(closer, false) {
                self.bump();
            }
        } else {
            self.bump();
        }
        while !matches!(self.kind(), Kind::RBrace | Kind::Eof) {
            if self.eat(Kind::Semi) || (self.on_new_line() && !self.kind().is_closer()) {
                break;
            }
            self.bump();
        }
    }

    /// A statement, or the expression that is the value of the block.
    fn stmt(&mut self) -> Result<Stmt, Box<Expr>> {
        let start = self.start();
        self.slip_before_stmt();
        let kind = match self.kind() {
            Kind::Let => self.let_stmt(),
            Kind::Fn if self.nth(1) == Kind::Ident => {
                let decl = self.fn_decl();
                if decl.body.is_none() {
                    self.refuse_missing_body(decl.head_span);
                }
                StmtKind::Fn(Box::new(decl))
            }
            Kind::For => self.for_stmt(),
            Kind::While => self.while_stmt(),
            Kind::Struct | Kind::Enum | Kind::Use | Kind::Type => {
                let message = format!("{} inside a function", self.kind().describe());
                let diagnostic = Diagnostic::error("E0018", self.here(), message)
                    .at("declarations stand at the top level")
                    .hint("move it out of the function, or close the function's `{`");
                self.report(diagnostic);
                self.item();
                StmtKind::Error
            }
            _ => return self.expr_stmt(start),
        };
        Ok(Stmt { kind, span: self.span_from(start) })
    }

    fn let_stmt(&mut self) -> StmtKind {
        self.bump();
        let pattern = self.pattern();
        let (ty, value) = self.let_rest();
        self.end_of_stmt();
        StmtKind::Let { pattern, ty, value }
    }

    /// `: T = e` of a `let`.
    pub(super) fn let_rest(&mut self) -> (Option<crate::ast::TypeExpr>, Expr) {
        if self.at(Kind::Mut) {
            let diagnostic =
                Diagnostic::error("E0020", self.here(), "`mut` stands before the name").hint("write `let mut x = ..;`");
            self.report(diagnostic);
            self.bump();
        }
        let ty = if self.eat(Kind::Colon) { Some(self.ty()) } else { None };
        let at = self.start();
        if self.at(Kind::Semi) {
            let diagnostic = Diagnostic::error("E0021", self.here(), "a `let` needs a value")
                .at("expected `=` and a value")
                .hint("give the value at once, if need be with `if` or `match`: `let x = if c { 1.0 } else { 2.0 };`");
            self.report(diagnostic);
            return (ty, self.error_expr(at));
        }
        if self.at(Kind::ColonEq) || self.at(Kind::EqEq) {
            let message = format!("a `let` has `=`, not {}", self.kind().describe());
            let diagnostic = Diagnostic::error("E0016", self.here(), message).hint("write `let x = e;`");
            self.report(diagnostic);
            self.bump();
        } else if !self.expect(Kind::Eq) && !self.kind().starts_expr() {
            return (ty, self.error_expr(at));
        }
        let value = self.expr();
        if self.at(Kind::Else) {
            let diagnostic =
                Diagnostic::error("E0010", self.here(), "there is no `let .. else`").hint("use `match` or `if let`");
            self.report(diagnostic);
            self.bump();
            if self.at(Kind::LBrace) {
                self.block();
            }
        }
        (ty, value)
    }

    fn for_stmt(&mut self) -> StmtKind {
        self.bump();
        let pattern = self.pattern();
        self.expect_in();
        let iter = self.expr_in_head();
        let body = self.block_after_head();
        StmtKind::For { pattern, iter, body }
    }

    fn while_stmt(&mut self) -> StmtKind {
        self.bump();
        if self.at(Kind::Let) {
            let diagnostic = Diagnostic::error("E0010", self.here(), "there is no `while let`")
                .hint("write `while true { if let p = e { .. } else { break; } }`");
            self.report(diagnostic);
            self.bump();
            self.pattern();
            self.eat(Kind::Eq);
        }
        let cond = self.expr_in_head();
        let body = self.block_after_head();
        StmtKind::While { cond, body }
    }

    fn expr_stmt(&mut self, start: u32) -> Result<Stmt, Box<Expr>> {
        let before = self.pos;
        if self.kind().is_closer() {
            self.refuse_closer();
            self.bump();
            return Ok(Stmt { kind: StmtKind::Error, span: self.span_from(start) });
        }
        let (expr, ended) = self.expr_of_stmt();
        if self.pos == before {
            return Ok(Stmt { kind: StmtKind::Error, span: self.span_from(start) });
        }
        if let Some((value, op, _)) = self.assigned(&expr) {
            // The last assignment of a block may go without its semicolon, as in `if c { x = 1.0 }`.
            if !self.at(Kind::RBrace) {
                self.end_of_stmt();
            }
            return Ok(Stmt { kind: StmtKind::Assign { place: expr, op, value }, span: self.span_from(start) });
        }
        if self.at(Kind::RBrace) {
            return Err(Box::new(expr));
        }
        if !ended || self.at(Kind::Semi) {
            self.end_of_stmt();
        }
        Ok(Stmt { kind: StmtKind::Expr(expr), span: self.span_from(start) })
    }

    /// `= e` or `+= e` after `place`, if it is there; the span is the whole assignment's.
    pub(super) fn assigned(&mut self, place: &Expr) -> Option<(Expr, Option<BinaryOp>, Span)> {
        let op = match assignment(self.kind()) {
            Some(op) => op,
            None if self.at(Kind::ColonEq) => {
                let diagnostic = Diagnostic::error("E0016", self.here(), "`:=` has no meaning")
                    .hint("write `let x = e;` for a new name, `x = e;` for one that is `mut`");
                self.report(diagnostic);
                None
            }
            None => return None,
        };
        if !is_place(place) {
            let diagnostic = Diagnostic::error("E0024", place.span, "this cannot be assigned to")
                .hint("a place is a name with fields and indices: `x`, `s.x`, `a[i, j]`, `a[i..j]`");
            let diagnostic = match place.kind {
                ExprKind::Binary { .. } | ExprKind::Unary { .. } if op.is_none() => {
                    diagnostic.hint("equality is written `==`")
                }
                _ => diagnostic,
            };
            self.report(diagnostic);
        }
        self.bump();
        let value = self.expr();
        if assignment(self.kind()).is_some() {
            let diagnostic = Diagnostic::error("E0017", self.here(), "assignments have no value")
                .hint("assign one after the other; equality is written `==`");
            self.report(diagnostic);
            self.bump();
            self.expr();
        }
        let span = place.span.to(value.span);
        Some((value, op, span))
    }

    /// The semicolon. Where it is missing, the place after the last token is shown.
    pub(super) fn end_of_stmt(&mut self) {
        if self.eat(Kind::Semi) || self.aborted {
            return;
        }
        let end = self.prev_end();
        let continues = !self.at(Kind::RBrace) && !self.on_new_line() || self.slip().is_some();
        if self.starts_stmt() || !continues {
            let width = self.text[..end as usize].chars().next_back().map_or(0, char::len_utf8) as u32;
            let span = Span::new(self.file, end - width, end);
            let diagnostic = Diagnostic::error("E0011", span, "`;` is missing")
                .at("expected `;` after this")
                .hint("statements end with `;`; only the value of a block goes without");
            self.report(diagnostic);
            return;
        }
        if self.at(Kind::Eq) {
            let diagnostic = Diagnostic::error("E0017", self.here(), "assignments have no value")
                .hint("assign one after the other; equality is written `==`");
            self.report(diagnostic);
        }
        self.expected("`;` or an operator");
        // Go over the rest of the statement.
        while !matches!(self.kind(), Kind::RBrace | Kind::Eof) {
            if self.eat(Kind::Semi) || self.starts_stmt() {
                break;
            }
            match self.kind().closer() {
                Some(closer) => {
                    self.bump();
                    if self.skip_to(closer, false) {
                        self.bump();
                    }
                }
                None => {
                    self.bump();
                }
            }
            if self.on_new_line() && !self.kind().is_closer() && !self.at(Kind::Semi) {
                break;
            }
        }
    }

    /// Whether a reserved word that begins a statement comes next.
    fn starts_stmt(&self) -> bool {
        match self.kind() {
            Kind::Let | Kind::For | Kind::While | Kind::Return | Kind::Break | Kind::Continue => true,
            Kind::Fn => self.nth(1) == Kind::Ident,
            _ => false,
        }
    }
}

/// Whether `expr` is a path of fields, indices and slices from a name or from `adjoint(..)`.
fn is_place(mut expr: &Expr) -> bool {
    loop {
        match &expr.kind {
            ExprKind::Field { base, .. } | ExprKind::TupleField { base, .. } | ExprKind::Index { base, .. } => {
                expr = base;
            }
            ExprKind::Path(path) => return path.len() == 1,
            ExprKind::Call { callee, .. } => {
                return matches!(&callee.kind, ExprKind::Path(path) if path.len() == 1 && path[0].name == "adjoint");
            }
            ExprKind::Error => return true,
            _ => return false,
        }
    }
}
