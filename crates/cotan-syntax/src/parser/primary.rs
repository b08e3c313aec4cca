//! Operands: literals, names, brackets, `if`, `match`, closures.
//!
//! In: tokens. Out: [`Expr`]s.

use super::Parser;
use crate::ast::{Arm, Block, Expr, ExprKind, Generator, Ident, Param, Stmt, StmtKind};
use crate::token::Kind;
use cotan_source::Diagnostic;

impl Parser<'_> {
    /// An operand, without what follows it.
    pub(super) fn primary(&mut self) -> Expr {
        let start = self.start();
        let kind = match self.kind() {
            Kind::Int | Kind::Float | Kind::Str | Kind::True | Kind::False => return self.literal(),
            Kind::Ident => return self.name_expr(),
            Kind::LParen => self.parenthesis(),
            Kind::LBracket => self.array(),
            Kind::LBrace => {
                let head = std::mem::replace(&mut self.in_head, false);
                let block = self.block();
                self.in_head = head;
                ExprKind::Block(block)
            }
            Kind::If => return self.if_expr(),
            Kind::Match => self.match_expr(),
            Kind::Pipe | Kind::PipePipe => self.closure(),
            Kind::Return => self.return_expr(),
            Kind::Break => {
                self.bump();
                ExprKind::Break
            }
            Kind::Continue => {
                self.bump();
                ExprKind::Continue
            }
            _ => {
                self.expected("an expression");
                ExprKind::Error
            }
        };
        Expr { kind, span: self.span_from(start) }
    }

    /// A literal without a sign.
    pub(super) fn literal(&mut self) -> Expr {
        let token = self.bump();
        let written = self.text_of(token);
        let kind = match token.kind {
            Kind::Int => {
                let digits: String = written.chars().filter(char::is_ascii_digit).collect();
                ExprKind::Int(digits)
            }
            Kind::Float if written.contains('_') => ExprKind::Float(written.replace('_', "").parse().unwrap_or(0.0)),
            // What could not be a number (`1.0f32`) was complained of when it was read.
            Kind::Float => ExprKind::Float(written.parse().unwrap_or(0.0)),
            Kind::Str => ExprKind::Str(self.string_before()),
            Kind::True => ExprKind::Bool(true),
            _ => ExprKind::Bool(false),
        };
        Expr { kind, span: self.span_of(token) }
    }

    fn name_expr(&mut self) -> Expr {
        let start = self.start();
        if self.at_word("tangent") && self.nth(1) == Kind::Ident && self.nth(2) == Kind::LBrace && !self.in_head {
            self.bump();
            let function = self.ident("the name of a closure");
            let open = self.bump();
            let fields = self.list(open, "a captured variable", Self::field_value);
            return Expr { kind: ExprKind::TangentLiteral { function, fields }, span: self.span_from(start) };
        }
        let path = self.path();
        if self.at(Kind::ColonColon) {
            let diagnostic = self.expectation("a name after `::`");
            let diagnostic = match self.nth(1) {
                Kind::Lt => diagnostic.hint("type arguments are inferred; give the type at a `let`"),
                _ => diagnostic,
            };
            self.report(diagnostic);
            self.bump();
            if self.at(Kind::Lt) {
                self.type_args();
            }
        }
        if self.at(Kind::LBrace) {
            if !self.in_head {
                return self.struct_literal(start, path);
            }
            // No block begins with `name:`, so this is a struct literal for certain.
            if self.nth(1) == Kind::Ident && self.nth(2) == Kind::Colon {
                let literal = self.struct_literal(start, path);
                let diagnostic = Diagnostic::error("E0019", literal.span, "a struct literal here needs parentheses")
                    .at("the `{` would begin the body")
                    .hint("write `(S { a: 1.0 })`");
                self.error_at = None;
                self.report(diagnostic);
                return literal;
            }
        }
        Expr { kind: ExprKind::Path(path), span: self.span_from(start) }
    }

    fn struct_literal(&mut self, start: u32, path: Vec<Ident>) -> Expr {
        let open = self.bump();
        let mut base = None;
        let fields = self.list(open, "a field", |p| {
            if p.at(Kind::DotDot) {
                p.bump();
                let value = p.expr_in_brackets();
                if p.at(Kind::Comma) && p.nth(1) != Kind::RBrace {
                    let diagnostic = p.expectation("`}`").hint("`..base` comes last");
                    p.report(diagnostic);
                }
                base = Some(Box::new(value));
                return None;
            }
            Some(p.field_value())
        });
        let fields = fields.into_iter().flatten().collect();
        Expr { kind: ExprKind::Struct { path, fields, base }, span: self.span_from(start) }
    }

    /// `a: e`, or `a` for `a: a`.
    fn field_value(&mut self) -> (Ident, Expr) {
        let name = self.ident("a field");
        if self.at(Kind::Eq) {
            let diagnostic = self.expectation("`:`").hint("fields are given as `name: value`");
            self.report(diagnostic);
        }
        if self.eat(Kind::Colon) || self.eat(Kind::Eq) {
            return (name, self.expr_in_brackets());
        }
        let value = Expr { kind: ExprKind::Path(vec![name.clone()]), span: name.span };
        (name, value)
    }

    fn parenthesis(&mut self) -> ExprKind {
        let open = self.bump();
        let mut parts = self.list(open, "an expression", |p| {
            let part = p.expr_in_brackets();
            p.refuse_ascription();
            part
        });
        if parts.len() == 1
            && let Some(only) = parts.pop()
        {
            return ExprKind::Paren(Box::new(only));
        }
        ExprKind::Tuple(parts)
    }

    /// `(e: T)` is not part of the language.
    fn refuse_ascription(&mut self) {
        if self.at(Kind::Colon) {
            let diagnostic = self.expectation("`,` or `)`").hint("give the type at a `let`: `let x: T = e;`");
            self.report(diagnostic);
            self.bump();
            self.ty();
        }
    }

    fn array(&mut self) -> ExprKind {
        let open = self.bump();
        if self.eat(Kind::RBracket) {
            return ExprKind::Array(Vec::new());
        }
        let first = self.expr_in_brackets();
        if self.at(Kind::For) {
            return self.comprehension(open, first);
        }
        if self.at(Kind::Semi) {
            let diagnostic =
                self.expectation("`,` or `]`").hint("an array of equal elements is written `[e for _ in 0..n]`");
            self.report(diagnostic);
            self.bump();
            self.expr_in_brackets();
            self.close(open, "`]`");
            return ExprKind::Array(vec![first]);
        }
        let mut elements = vec![first];
        if self.eat(Kind::Comma) {
            elements.extend(self.list(open, "an element", Self::expr_in_brackets));
        } else if self.kind().starts_expr() && !self.kind_is_word() && !self.at(Kind::LBrace) {
            let diagnostic = self.expectation("`,`, `for` or `]`").label(self.span_of(open), "in what is opened here");
            self.report(diagnostic);
            elements.extend(self.list(open, "an element", Self::expr_in_brackets));
        } else {
            self.close(open, "`,`, `for` or `]`");
        }
        ExprKind::Array(elements)
    }

    fn comprehension(&mut self, open: crate::token::Token, body: Expr) -> ExprKind {
        let head = std::mem::replace(&mut self.in_head, false);
        self.bump();
        let mut generators = Vec::new();
        let mut filter = None;
        loop {
            let pattern = self.pattern();
            self.expect_in();
            let iter = self.expr();
            generators.push(Generator { pattern, iter });
            if self.at(Kind::For) {
                let diagnostic = Diagnostic::error("E0016", self.here(), "a second dimension has no `for` of its own")
                    .hint("write `[e for i in 0..m, j in 0..n]`");
                self.report(diagnostic);
                self.bump();
                continue;
            }
            if self.eat(Kind::If) {
                filter = Some(Box::new(self.expr()));
            }
            if self.at(Kind::Comma) && self.nth(1) != Kind::RBracket && filter.is_none() {
                self.bump();
                continue;
            }
            self.eat(Kind::Comma);
            break;
        }
        self.close(open, "`,`, `if` or `]`");
        self.in_head = head;
        ExprKind::Comprehension { body: Box::new(body), generators, filter }
    }

    /// `in`, for which `=` or `:` may stand by mistake.
    pub(super) fn expect_in(&mut self) {
        if self.eat(Kind::In) {
            return;
        }
        let instead = matches!(self.kind(), Kind::Eq | Kind::Colon) || self.at_word("of");
        let found = self.found();
        let diagnostic = Diagnostic::error("E0010", self.here(), format!("expected `in`, found {found}"))
            .at("expected `in`")
            .hint("write `for i in 0..n` or `for x in xs`");
        self.report(diagnostic);
        if instead {
            self.bump();
        }
    }

    /// `if`, with its chain of `else if`s read in a loop: such chains may be long.
    pub(super) fn if_expr(&mut self) -> Expr {
        let mut links = Vec::new();
        let mut last = None;
        loop {
            let start = self.start();
            self.bump();
            let condition = self.if_condition();
            let then = self.block_after_head();
            links.push((start, condition, then));
            if !self.grow() {
                break;
            }
            if self.slip_of_elif() {
                continue;
            }
            if !self.eat(Kind::Else) {
                break;
            }
            if self.at(Kind::If) {
                continue;
            }
            let start = self.start();
            let head = std::mem::replace(&mut self.in_head, false);
            let block = self.block_after_head();
            self.in_head = head;
            last = Some(Box::new(Expr { kind: ExprKind::Block(block), span: self.span_from(start) }));
            break;
        }
        let end = self.prev_end();
        let mut chain: Option<Box<Expr>> = last;
        while let Some((start, (pattern, cond), then)) = links.pop() {
            let (cond, otherwise) = (Box::new(cond), chain.take());
            let kind = match pattern {
                Some(pattern) => ExprKind::IfLet { pattern, value: cond, then, otherwise },
                None => ExprKind::If { cond, then, otherwise },
            };
            let span = cotan_source::Span::new(self.file, start, end.max(start));
            chain = Some(Box::new(Expr { kind, span }));
        }
        match chain {
            Some(chain) => *chain,
            None => self.error_expr(end),
        }
    }

    fn if_condition(&mut self) -> (Option<crate::ast::Pattern>, Expr) {
        if !self.eat(Kind::Let) {
            return (None, self.expr_in_head());
        }
        let pattern = self.pattern();
        self.expect(Kind::Eq);
        let value = self.expr_in_head();
        (Some(pattern), value)
    }

    fn match_expr(&mut self) -> ExprKind {
        self.bump();
        let value = Box::new(self.expr_in_head());
        let head = std::mem::replace(&mut self.in_head, false);
        let mut arms = Vec::new();
        let open = self.token();
        if !self.expect(Kind::LBrace) {
            self.in_head = head;
            return ExprKind::Match { value, arms };
        }
        while !self.at(Kind::RBrace) && !self.at(Kind::Eof) {
            let before = self.pos;
            let (arm, ended) = self.arm();
            arms.push(arm);
            if self.eat(Kind::Comma) || self.at(Kind::RBrace) || ended {
                continue;
            }
            if self.at(Kind::Semi) {
                let diagnostic = self.expectation("`,` or `}`").hint("arms are separated with commas");
                self.report(diagnostic);
                self.bump();
                continue;
            }
            let diagnostic = self.expectation("`,` or `}` after the arm");
            self.report(diagnostic);
            if self.on_new_line() && self.pos > before && !self.kind_is_word() {
                continue;
            }
            if !self.skip_to(Kind::RBrace, true) {
                break;
            }
            self.eat(Kind::Comma);
        }
        self.close(open, "an arm or `}`");
        self.in_head = head;
        ExprKind::Match { value, arms }
    }

    /// An arm, and whether it ended in a block, after which no comma is needed.
    fn arm(&mut self) -> (Arm, bool) {
        let pattern = self.pattern();
        let guard = if self.eat(Kind::If) { Some(self.expr()) } else { None };
        if !self.eat(Kind::FatArrow) {
            let diagnostic = self.expectation("`=>`");
            let diagnostic = match self.kind() {
                Kind::Arrow | Kind::Eq | Kind::Colon | Kind::LBrace => {
                    diagnostic.hint("an arm is written `pattern => value`")
                }
                _ => diagnostic,
            };
            self.report(diagnostic);
            if matches!(self.kind(), Kind::Arrow | Kind::Eq | Kind::Colon | Kind::ColonEq) {
                self.bump();
            }
        }
        let (body, ended) = self.expr_of_stmt();
        // `K => x += 1` assigns: the same as in braces.
        let Some((value, op, span)) = self.assigned(&body) else {
            return (Arm { pattern, guard, body }, ended);
        };
        let stmt = Stmt { kind: StmtKind::Assign { place: body, op, value }, span };
        let body = Expr { kind: ExprKind::Block(Block { stmts: vec![stmt], result: None, span }), span };
        (Arm { pattern, guard, body }, false)
    }

    fn closure(&mut self) -> ExprKind {
        let params = self.closure_params();
        let mut ret = None;
        if self.eat(Kind::Arrow) {
            ret = Some(self.ty());
            if !self.at(Kind::LBrace) {
                let diagnostic = self.expectation("`{`").hint("a closure with a result type has its body in braces");
                self.report(diagnostic);
            }
        } else if self.at(Kind::FatArrow) || self.at(Kind::Colon) {
            let diagnostic =
                self.expectation("the body of the closure").hint("the body follows at once: `|x| x + 1.0`");
            self.report(diagnostic);
            self.bump();
        }
        let body = Box::new(self.expr());
        ExprKind::Closure { params, ret, body }
    }

    fn closure_params(&mut self) -> Vec<Param> {
        let open = self.here();
        let mut params = Vec::new();
        if self.bump().kind == Kind::PipePipe {
            return params;
        }
        while !self.at(Kind::Pipe) && !self.at(Kind::Eof) {
            let before = self.pos;
            params.push(self.param());
            if !self.eat(Kind::Comma) || self.pos == before {
                break;
            }
        }
        if !self.eat(Kind::Pipe) {
            let diagnostic = self.expectation("`,` or `|`").label(open, "the parameters begin here");
            self.report(diagnostic);
        }
        params
    }

    fn return_expr(&mut self) -> ExprKind {
        self.bump();
        if self.at_word("with") && self.with_begins_rule() {
            self.bump();
            return ExprKind::ReturnWith { value: None, with: Box::new(self.expr()) };
        }
        if !self.kind().starts_expr() || (self.in_head && self.at(Kind::LBrace)) {
            return ExprKind::Return(None);
        }
        let value = Box::new(self.expr());
        if self.at_word("with") {
            self.bump();
            return ExprKind::ReturnWith { value: Some(value), with: Box::new(self.expr()) };
        }
        ExprKind::Return(Some(value))
    }

    /// Whether `with` after `return` is the word of a rule and not a variable of this name.
    fn with_begins_rule(&self) -> bool {
        self.nth(1).starts_expr() && !matches!(self.nth(1), Kind::DotDot | Kind::DotDotEq)
    }
}
