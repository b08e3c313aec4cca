//! Expressions: operators by precedence, and what follows an operand.
//!
//! In: tokens. Out: [`Expr`]s. Newly true: the shape of the tree is the meaning; parentheses only repeat it.

use super::Parser;
use crate::ast::{BinaryOp, Expr, ExprKind, UnaryOp};
use crate::token::{Kind, Token};
use cotan_source::{Diagnostic, Span};

/// Binding powers, weakest first.
const RANGE: u8 = 1;
pub(super) const OR: u8 = 2;
pub(super) const AND: u8 = 3;
const COMPARE: u8 = 4;
const SUM: u8 = 5;
pub(super) const PRODUCT: u8 = 6;
const UNARY: u8 = 7;
pub(super) const POWER: u8 = 8;

/// A binary operator and its power.
pub(super) fn binary(kind: Kind) -> Option<(BinaryOp, u8)> {
    Some(match kind {
        Kind::PipePipe => (BinaryOp::Or, OR),
        Kind::AmpAmp => (BinaryOp::And, AND),
        Kind::EqEq => (BinaryOp::Eq, COMPARE),
        Kind::BangEq => (BinaryOp::Ne, COMPARE),
        Kind::Lt => (BinaryOp::Lt, COMPARE),
        Kind::LtEq => (BinaryOp::Le, COMPARE),
        Kind::Gt => (BinaryOp::Gt, COMPARE),
        Kind::GtEq => (BinaryOp::Ge, COMPARE),
        Kind::Plus => (BinaryOp::Add, SUM),
        Kind::Minus => (BinaryOp::Sub, SUM),
        Kind::Star => (BinaryOp::Mul, PRODUCT),
        Kind::Slash => (BinaryOp::Div, PRODUCT),
        Kind::Percent => (BinaryOp::Rem, PRODUCT),
        Kind::At => (BinaryOp::MatMul, PRODUCT),
        Kind::StarStar => (BinaryOp::Pow, POWER),
        _ => return None,
    })
}

/// The operator of a compound assignment; `Some(None)` for `=`.
pub(super) fn assignment(kind: Kind) -> Option<Option<BinaryOp>> {
    Some(match kind {
        Kind::Eq => None,
        Kind::PlusEq => Some(BinaryOp::Add),
        Kind::MinusEq => Some(BinaryOp::Sub),
        Kind::StarEq => Some(BinaryOp::Mul),
        Kind::SlashEq => Some(BinaryOp::Div),
        Kind::PercentEq => Some(BinaryOp::Rem),
        Kind::StarStarEq => Some(BinaryOp::Pow),
        Kind::AtEq => Some(BinaryOp::MatMul),
        _ => return None,
    })
}

impl Parser<'_> {
    /// An expression.
    pub(super) fn expr(&mut self) -> Expr {
        self.expr_from(RANGE)
    }

    /// An expression inside brackets, where struct literals are allowed again.
    pub(super) fn expr_in_brackets(&mut self) -> Expr {
        let head = std::mem::replace(&mut self.in_head, false);
        let expr = self.expr();
        self.in_head = head;
        expr
    }

    /// The expression in the head of `if`, `while`, `match` or `for`: `S {` begins the body.
    pub(super) fn expr_in_head(&mut self) -> Expr {
        let head = std::mem::replace(&mut self.in_head, true);
        let mut expr = self.expr();
        if self.at(Kind::Eq) {
            expr = self.equality_in_head(expr);
        }
        self.in_head = head;
        expr
    }

    fn equality_in_head(&mut self, left: Expr) -> Expr {
        let op_span = self.here();
        let diagnostic = Diagnostic::error("E0017", op_span, "`=` assigns and has no value")
            .at("found in a condition")
            .hint("equality is written `==`");
        self.report(diagnostic);
        self.bump();
        let right = self.expr_from(COMPARE + 1);
        let span = left.span.to(right.span);
        let kind = ExprKind::Binary { op: BinaryOp::Eq, op_span, left: Box::new(left), right: Box::new(right) };
        Expr { kind, span }
    }

    /// An expression of operators that bind at least as strongly as `power`.
    fn expr_from(&mut self, power: u8) -> Expr {
        let start = self.start();
        let parsed = self.nested(|p| {
            let left = p.prefix();
            p.operators(left, power)
        });
        parsed.unwrap_or_else(|| self.error_expr(start))
    }

    pub(super) fn error_expr(&self, start: u32) -> Expr {
        Expr { kind: ExprKind::Error, span: self.span_from(start) }
    }

    /// An expression at the start of a statement: one that ends in a block is complete with it, unless `.`
    /// follows. Says whether it needs no semicolon.
    pub(super) fn expr_of_stmt(&mut self) -> (Expr, bool) {
        let start = self.start();
        let parsed = self.nested(|p| {
            if !matches!(p.kind(), Kind::If | Kind::Match | Kind::LBrace) {
                let left = p.prefix();
                return (p.operators(left, RANGE), false);
            }
            let block = p.primary();
            if p.at(Kind::Dot) {
                let left = p.postfix(block);
                return (p.operators(left, RANGE), false);
            }
            (block, true)
        });
        parsed.unwrap_or_else(|| (self.error_expr(start), true))
    }

    fn prefix(&mut self) -> Expr {
        let start = self.start();
        let op = match self.kind() {
            Kind::Minus => UnaryOp::Neg,
            Kind::Bang => UnaryOp::Not,
            Kind::DotDot | Kind::DotDotEq => {
                let op = self.bump();
                let end = self.range_end(op);
                return Expr { kind: ExprKind::Range { start: None, end }, span: self.span_from(start) };
            }
            Kind::Ident if self.slip_of_not() => UnaryOp::Not,
            _ if self.slip_before_operand() => return self.prefix_again(),
            _ => {
                let operand = self.primary();
                return self.postfix(operand);
            }
        };
        self.bump();
        let operand = Box::new(self.expr_from(UNARY));
        Expr { kind: ExprKind::Unary { op, operand }, span: self.span_from(start) }
    }

    /// After a prefix that does not exist was taken.
    fn prefix_again(&mut self) -> Expr {
        self.expr_from(UNARY)
    }

    fn operators(&mut self, mut left: Expr, power: u8) -> Expr {
        loop {
            let token = self.token();
            if matches!(token.kind, Kind::DotDot | Kind::DotDotEq) {
                if power > RANGE {
                    return left;
                }
                self.bump();
                let end = self.range_end(token);
                let span = self.span_from(left.span.start);
                left = Expr { kind: ExprKind::Range { start: Some(Box::new(left)), end }, span };
                if matches!(self.kind(), Kind::DotDot | Kind::DotDotEq) {
                    self.expected("the end of the range");
                    return left;
                }
                continue;
            }
            if self.slip_of_increment() {
                continue;
            }
            let Some((op, op_power)) = binary(token.kind).or_else(|| self.slip_of_operator(power)) else {
                if self.at(Kind::As) && self.slip_of_as() {
                    continue;
                }
                return left;
            };
            if op_power < power {
                return left;
            }
            if op_power == COMPARE {
                self.refuse_chain(&left, op, token);
            }
            self.bump();
            let op_span = self.span_of(token);
            // `**` is right-associative and takes a unary minus on its right.
            let right = self.expr_from(if op == BinaryOp::Pow { POWER } else { op_power + 1 });
            let span = left.span.to(right.span);
            left = Expr { kind: ExprKind::Binary { op, op_span, left: Box::new(left), right: Box::new(right) }, span };
            if !self.grow() {
                return left;
            }
        }
    }

    /// Comparisons do not chain.
    fn refuse_chain(&mut self, left: &Expr, op: BinaryOp, token: Token) {
        use BinaryOp::{Eq, Ge, Gt, Le, Lt, Ne};
        let ExprKind::Binary { op: Eq | Ne | Lt | Le | Gt | Ge, op_span, left: first, right: middle } = &left.kind
        else {
            return;
        };
        let (first, middle) = (self.spelling(first.span), self.spelling(middle.span));
        let (sign, second) = (self.spelling(*op_span), self.text_of(token));
        let hint = match (sign, op) {
            ("<" | "<=", Lt | Le) | (">" | ">=", Gt | Ge) if first.len() + middle.len() < 50 => {
                format!("write `{first} {sign} {middle} && {middle} {second} ..`")
            }
            _ => "use parentheses, or `&&` between two comparisons".to_string(),
        };
        let diagnostic = Diagnostic::error("E0015", self.span_of(token), "comparisons cannot be chained")
            .at("second comparison")
            .label(*op_span, "first comparison")
            .hint(hint);
        self.report(diagnostic);
    }

    fn spelling(&self, span: Span) -> &str {
        self.text.get(span.start as usize..span.end as usize).unwrap_or("")
    }

    /// What may follow `..`. `a..=b` is read as `a..b + 1`.
    fn range_end(&mut self, op: Token) -> Option<Box<Expr>> {
        let ends = self.kind().starts_expr()
            && !matches!(self.kind(), Kind::DotDot | Kind::DotDotEq)
            && !(self.in_head && self.at(Kind::LBrace));
        if !ends {
            if op.kind == Kind::DotDotEq {
                self.expected("the last number of the range");
            }
            return None;
        }
        let end = self.expr_from(RANGE + 1);
        if op.kind == Kind::DotDot {
            return Some(Box::new(end));
        }
        let span = end.span;
        let one = Expr { kind: ExprKind::Int("1".to_string()), span };
        let kind = ExprKind::Binary {
            op: BinaryOp::Add,
            op_span: self.span_of(op),
            left: Box::new(end),
            right: Box::new(one),
        };
        Some(Box::new(Expr { kind, span }))
    }

    /// Calls, fields and subscripts after an operand.
    pub(super) fn postfix(&mut self, mut base: Expr) -> Expr {
        loop {
            let start = base.span.start;
            let kind = match self.kind() {
                Kind::LParen => {
                    let open = self.bump();
                    let args = self.list(open, "an argument", Self::argument);
                    ExprKind::Call { callee: Box::new(base), args }
                }
                Kind::LBracket => {
                    let open = self.bump();
                    if self.at(Kind::RBracket) {
                        self.expected("an index");
                    }
                    let subscripts = self.list(open, "an index", Self::expr_in_brackets);
                    ExprKind::Index { base: Box::new(base), subscripts }
                }
                Kind::Dot => {
                    self.bump();
                    self.after_dot(base)
                }
                _ => return base,
            };
            base = Expr { kind, span: self.span_from(start) };
            if !self.grow() {
                return base;
            }
        }
    }

    fn after_dot(&mut self, base: Expr) -> ExprKind {
        let base = Box::new(base);
        let token = self.token();
        match token.kind {
            Kind::Int => {
                self.bump();
                let index_span = self.span_of(token);
                match self.text_of(token).parse() {
                    Ok(index) => ExprKind::TupleField { base, index, index_span },
                    Err(_) => {
                        let message = format!("`{}` is not the position of a field", self.text_of(token));
                        let diagnostic = Diagnostic::error("E0005", index_span, message)
                            .hint("fields of a tuple are `.0`, `.1` and so on; elements of an array `a[0]`");
                        self.diagnostics.push(diagnostic);
                        ExprKind::Error
                    }
                }
            }
            Kind::Ident => {
                let name = self.ident("a field");
                if !self.at(Kind::LParen) {
                    return ExprKind::Field { base, name };
                }
                let open = self.bump();
                let args = self.list(open, "an argument", Self::argument);
                ExprKind::Method { receiver: base, name, args }
            }
            _ => {
                let name = self.ident("a field or a method after `.`");
                ExprKind::Field { base, name }
            }
        }
    }

    /// An argument; `x = 1` is refused.
    pub(super) fn argument(&mut self) -> Expr {
        let argument = self.expr_in_brackets();
        if self.at(Kind::Eq) || self.at(Kind::Colon) {
            let diagnostic = self.expectation("`,` or `)`").hint("arguments have no names: they go by position");
            self.report(diagnostic);
            self.bump();
            return self.expr_in_brackets();
        }
        argument
    }
}
