//! Patterns.
//!
//! In: tokens. Out: [`Pattern`]s and parameters.

use super::Parser;
use crate::ast::{Expr, ExprKind, Ident, Param, Pattern, PatternKind, UnaryOp};
use crate::token::Kind;
use cotan_source::Diagnostic;

impl Parser<'_> {
    /// A pattern with alternatives: `A | B`.
    pub(super) fn pattern(&mut self) -> Pattern {
        let start = self.start();
        let leading = self.eat(Kind::Pipe);
        let first = self.pattern_one();
        if !self.at(Kind::Pipe) && !self.at(Kind::PipePipe) {
            return first;
        }
        let start = if leading { start } else { first.span.start };
        let mut alternatives = vec![first];
        loop {
            if self.at(Kind::PipePipe) {
                let diagnostic =
                    Diagnostic::error("E0016", self.here(), "alternatives are separated by `|`").hint("write `A | B`");
                self.report(diagnostic);
                self.bump();
            } else if !self.eat(Kind::Pipe) {
                break;
            }
            alternatives.push(self.pattern_one());
        }
        Pattern { kind: PatternKind::Or(alternatives), span: self.span_from(start) }
    }

    /// A pattern without alternatives at the top, as in the parameters of `|p, q| e`.
    pub(super) fn pattern_one(&mut self) -> Pattern {
        let start = self.start();
        match self.nested(Self::pattern_inside) {
            Some(pattern) => pattern,
            None => Pattern { kind: PatternKind::Error, span: self.span_from(start) },
        }
    }

    fn pattern_inside(&mut self) -> Pattern {
        let start = self.start();
        let kind = match self.kind() {
            Kind::Underscore => {
                self.bump();
                PatternKind::Wildcard
            }
            Kind::Mut => return self.pattern_mut(),
            Kind::Ident if self.at_word("ref") && self.nth(1) == Kind::Ident => {
                self.no_references();
                self.bump();
                return self.pattern_one();
            }
            Kind::Ident => self.pattern_of_path(),
            Kind::LParen => {
                let open = self.bump();
                let mut parts = self.list(open, "a pattern", Self::pattern);
                if parts.len() == 1
                    && let Some(only) = parts.pop()
                {
                    return Pattern { kind: only.kind, span: self.span_from(start) };
                }
                PatternKind::Tuple(parts)
            }
            Kind::Int | Kind::Float | Kind::Str | Kind::True | Kind::False | Kind::Minus => {
                let literal = self.pattern_literal();
                match self.kind() {
                    Kind::DotDot | Kind::DotDotEq => self.pattern_range(Some(Box::new(literal))),
                    _ => PatternKind::Literal(Box::new(literal)),
                }
            }
            Kind::DotDot | Kind::DotDotEq => self.pattern_range(None),
            Kind::Amp => {
                self.no_references();
                self.bump();
                return self.pattern_one();
            }
            Kind::LBracket => {
                let diagnostic = Diagnostic::error("E0010", self.here(), "there are no patterns for arrays")
                    .hint("give the array a name and look at `len(a)` and `a[i]`");
                self.report(diagnostic);
                let open = self.bump();
                self.list(open, "a pattern", Self::pattern);
                PatternKind::Error
            }
            _ => {
                let name = matches!(self.nth(1), Kind::Eq | Kind::Colon | Kind::Comma | Kind::RParen | Kind::In);
                if !(name && self.reserved_as_name("a pattern")) {
                    self.expected("a pattern");
                }
                PatternKind::Error
            }
        };
        if self.at(Kind::At) && matches!(kind, PatternKind::Name { .. }) {
            let diagnostic = Diagnostic::error("E0010", self.here(), "a pattern cannot be named with `@`")
                .hint("match on a name first and take it apart with another `match` or `let`");
            self.report(diagnostic);
            self.bump();
            return self.pattern_one();
        }
        Pattern { kind, span: self.span_from(start) }
    }

    fn no_references(&mut self) {
        let diagnostic = Diagnostic::error("E0016", self.here(), "there are no references")
            .hint("write the name alone: values are never changed by whom they are given to");
        self.report(diagnostic);
    }

    fn pattern_mut(&mut self) -> Pattern {
        let start = self.start();
        let word = self.bump();
        if self.at(Kind::Ident) {
            let name = self.ident("a name");
            return Pattern { kind: PatternKind::Name { mutable: true, name }, span: self.span_from(start) };
        }
        if matches!(self.kind(), Kind::LParen | Kind::Underscore) {
            let diagnostic = Diagnostic::error("E0020", self.span_of(word), "`mut` belongs to each name of a pattern")
                .hint("write `(mut a, mut b)`");
            self.report(diagnostic);
            let mut pattern = self.pattern_one();
            make_mutable(&mut pattern);
            return pattern;
        }
        self.expected("a name after `mut`");
        Pattern { kind: PatternKind::Error, span: self.span_from(start) }
    }

    fn pattern_of_path(&mut self) -> PatternKind {
        let mut path = self.path();
        match self.kind() {
            Kind::LParen => {
                let open = self.bump();
                PatternKind::Variant { path, args: self.list(open, "a pattern", Self::pattern) }
            }
            Kind::LBrace => self.pattern_struct(path),
            _ if path.len() == 1 => match path.pop() {
                Some(name) => PatternKind::Name { mutable: false, name },
                None => PatternKind::Error,
            },
            _ => PatternKind::Variant { path, args: Vec::new() },
        }
    }

    fn pattern_struct(&mut self, path: Vec<Ident>) -> PatternKind {
        let open = self.bump();
        let mut rest = false;
        let fields = self.list(open, "a field", |p| {
            if p.at(Kind::DotDot) {
                p.bump();
                rest = true;
                return None;
            }
            let mutable = p.at(Kind::Mut) && p.nth(1) == Kind::Ident;
            if mutable {
                p.bump();
            }
            let name = p.ident("a field");
            let pattern = if p.eat(Kind::Colon) {
                p.pattern()
            } else {
                let span = name.span;
                Pattern { kind: PatternKind::Name { mutable, name: name.clone() }, span }
            };
            Some((name, pattern))
        });
        PatternKind::Struct { path, fields: fields.into_iter().flatten().collect(), rest }
    }

    fn pattern_literal(&mut self) -> Expr {
        let start = self.start();
        if self.eat(Kind::Minus) {
            let operand = if matches!(self.kind(), Kind::Int | Kind::Float) {
                self.literal()
            } else {
                self.expected("a number");
                Expr { kind: ExprKind::Error, span: self.span_from(start) }
            };
            let kind = ExprKind::Unary { op: UnaryOp::Neg, operand: Box::new(operand) };
            return Expr { kind, span: self.span_from(start) };
        }
        self.literal()
    }

    fn pattern_range(&mut self, start: Option<Box<Expr>>) -> PatternKind {
        let inclusive = self.bump().kind == Kind::DotDotEq;
        let ends = matches!(self.kind(), Kind::Int | Kind::Float | Kind::Minus);
        let end = if ends { Some(Box::new(self.pattern_literal())) } else { None };
        if end.is_none() && (inclusive || start.is_none()) {
            self.expected("the last number of the range");
        }
        PatternKind::Range { start, end, inclusive }
    }

    /// `p` or `p: T`.
    pub(super) fn param(&mut self) -> Param {
        let pattern = self.pattern_one();
        let ty = if self.eat(Kind::Colon) { Some(self.ty()) } else { None };
        if self.at(Kind::Eq) {
            let diagnostic = Diagnostic::error("E0010", self.here(), "parameters have no default values")
                .hint("write a second function that calls this one");
            self.report(diagnostic);
            self.bump();
            self.expr_in_brackets();
        }
        Param { pattern, ty }
    }
}

/// Puts `mut` on all names of `pattern`.
fn make_mutable(pattern: &mut Pattern) {
    match &mut pattern.kind {
        PatternKind::Name { mutable, .. } => *mutable = true,
        PatternKind::Tuple(parts) | PatternKind::Or(parts) | PatternKind::Variant { args: parts, .. } => {
            parts.iter_mut().for_each(make_mutable);
        }
        PatternKind::Struct { fields, .. } => fields.iter_mut().for_each(|(_, p)| make_mutable(p)),
        PatternKind::Wildcard | PatternKind::Literal(_) | PatternKind::Range { .. } | PatternKind::Error => {}
    }
}
