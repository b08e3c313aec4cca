//! Written types.
//!
//! In: tokens. Out: [`TypeExpr`]s and generic parameters.

use super::Parser;
use crate::ast::{Expr, ExprKind, Generic, Ident, TypeExpr, TypeExprKind};
use crate::token::Kind;
use cotan_source::{Diagnostic, Span};

impl Parser<'_> {
    /// A type.
    pub(super) fn ty(&mut self) -> TypeExpr {
        let start = self.start();
        match self.nested(Self::ty_inside) {
            Some(ty) => ty,
            None => TypeExpr { kind: TypeExprKind::Error, span: self.span_from(start) },
        }
    }

    fn ty_inside(&mut self) -> TypeExpr {
        let start = self.start();
        let kind = match self.kind() {
            Kind::Ident => {
                let path = self.path();
                let args = if self.at(Kind::Lt) { self.type_args() } else { Vec::new() };
                TypeExprKind::Path { path, args }
            }
            Kind::LParen => {
                let open = self.bump();
                let mut parts = self.list(open, "a type", Self::ty);
                if parts.len() == 1
                    && let Some(only) = parts.pop()
                {
                    return TypeExpr { kind: only.kind, span: self.span_from(start) };
                }
                TypeExprKind::Tuple(parts)
            }
            Kind::LBracket => {
                let open = self.bump();
                let size = if self.at(Kind::RBracket) { None } else { Some(Box::new(self.expr_in_brackets())) };
                if self.at(Kind::Semi) {
                    let diagnostic = self
                        .expectation("`]`")
                        .hint("the size stands in front: `[n]Float`, and `[]Float` for any size");
                    self.report(diagnostic);
                    self.skip_array_of_rust();
                    let elem = self.type_of_expr(size);
                    return TypeExpr {
                        kind: TypeExprKind::Array { size: None, elem: Box::new(elem) },
                        span: self.span_from(start),
                    };
                }
                self.close(open, "`]`");
                if !self.starts_type() && size.is_some() {
                    let diagnostic = self
                        .expectation("the type of the elements")
                        .hint("an array of `T` is written `[]T`, or `[n]T` where `n` is its size");
                    self.report(diagnostic);
                    let elem = self.type_of_expr(size);
                    return TypeExpr {
                        kind: TypeExprKind::Array { size: None, elem: Box::new(elem) },
                        span: self.span_from(start),
                    };
                }
                TypeExprKind::Array { size, elem: Box::new(self.ty()) }
            }
            Kind::Fn => {
                self.bump();
                let open = self.token();
                let params = if self.expect(Kind::LParen) { self.list(open, "a type", Self::ty) } else { Vec::new() };
                let ret = if self.eat(Kind::Arrow) {
                    self.ty()
                } else {
                    TypeExpr { kind: TypeExprKind::Tuple(Vec::new()), span: self.span_from(self.prev_end()) }
                };
                TypeExprKind::Fn { params, ret: Box::new(ret) }
            }
            Kind::Underscore => {
                self.bump();
                TypeExprKind::Infer
            }
            Kind::Amp => {
                let diagnostic = Diagnostic::error("E0016", self.here(), "there are no references")
                    .hint("write the type alone: values are never changed by whom they are given to");
                self.report(diagnostic);
                self.bump();
                if self.at(Kind::Mut) {
                    self.bump();
                }
                return self.ty();
            }
            Kind::Mut => {
                let diagnostic = Diagnostic::error("E0020", self.here(), "`mut` does not belong to a type")
                    .hint("it stands before the name: `let mut x: Float = 0.0;`");
                self.report(diagnostic);
                self.bump();
                return self.ty();
            }
            _ => {
                self.expected("a type");
                TypeExprKind::Error
            }
        };
        if self.at(Kind::Arrow) && self.nesting_is_fn_arrow(&kind) {
            return self.arrow_type(start, kind);
        }
        TypeExpr { kind, span: self.span_from(start) }
    }

    pub(super) fn starts_type(&self) -> bool {
        matches!(
            self.kind(),
            Kind::Ident | Kind::LParen | Kind::LBracket | Kind::Fn | Kind::Underscore | Kind::Amp | Kind::Mut
        )
    }

    /// Whether `T ->` is a function type of another language: only inside brackets or after `:` may we
    /// tell, and a parenthesis is the sure sign.
    fn nesting_is_fn_arrow(&self, kind: &TypeExprKind) -> bool {
        matches!(kind, TypeExprKind::Tuple(_)) && self.nth(1) != Kind::LBrace
    }

    fn arrow_type(&mut self, start: u32, kind: TypeExprKind) -> TypeExpr {
        let diagnostic =
            Diagnostic::error("E0016", self.here(), "a function type begins with `fn`").hint("write `fn(A, B) -> C`");
        self.report(diagnostic);
        self.bump();
        let ret = Box::new(self.ty());
        let params = match kind {
            TypeExprKind::Tuple(params) => params,
            _ => Vec::new(),
        };
        TypeExpr { kind: TypeExprKind::Fn { params, ret }, span: self.span_from(start) }
    }

    /// Goes over `; 3]` of `[T; 3]`.
    fn skip_array_of_rust(&mut self) {
        self.bump();
        if !self.at(Kind::RBracket) {
            self.expr_in_brackets();
        }
        self.eat(Kind::RBracket);
    }

    /// The type that stood where a size belongs, as in `[Float]`.
    fn type_of_expr(&self, size: Option<Box<Expr>>) -> TypeExpr {
        match size.map(|e| (e.span, e.kind)) {
            Some((span, ExprKind::Path(path))) => {
                TypeExpr { kind: TypeExprKind::Path { path, args: Vec::new() }, span }
            }
            Some((span, _)) => TypeExpr { kind: TypeExprKind::Error, span },
            None => TypeExpr { kind: TypeExprKind::Error, span: self.span_from(self.prev_end()) },
        }
    }

    /// `<A, B>` of a type.
    pub(super) fn type_args(&mut self) -> Vec<TypeExpr> {
        let open = self.here();
        self.bump();
        let mut args = Vec::new();
        while !self.at_closing_angle() && !self.at(Kind::Eof) {
            let before = self.pos;
            args.push(self.ty());
            if !self.eat(Kind::Comma) || self.pos == before {
                break;
            }
        }
        self.closing_angle(open);
        args
    }

    fn at_closing_angle(&self) -> bool {
        matches!(self.kind(), Kind::Gt | Kind::GtEq)
    }

    /// Takes `>`, also the first half of `>=` as in `let p: Pair<A, B>= q;`.
    fn closing_angle(&mut self, open: Span) {
        if self.at(Kind::GtEq) {
            let token = &mut self.tokens[self.pos];
            token.kind = Kind::Eq;
            token.start += 1;
        } else if !self.eat(Kind::Gt) {
            let diagnostic = self.expectation("`,` or `>`").label(open, "opened here");
            self.report(diagnostic);
        }
    }

    /// `<A, B: Num>` of a declaration, if it is there.
    pub(super) fn generics(&mut self) -> Vec<Generic> {
        let open = self.here();
        if !self.eat(Kind::Lt) {
            return Vec::new();
        }
        let mut generics = Vec::new();
        while !self.at_closing_angle() && !self.at(Kind::Eof) {
            let name = self.ident("the name of a type parameter");
            let constraint = if self.eat(Kind::Colon) { Some(self.ident("a constraint")) } else { None };
            generics.push(Generic { name, constraint });
            if self.at(Kind::Plus) {
                let diagnostic = Diagnostic::error("E0010", self.here(), "a type parameter has one constraint")
                    .hint("`Space` and `Num` are the constraints there are");
                self.report(diagnostic);
                while self.eat(Kind::Plus) {
                    self.ident("a constraint");
                }
            }
            if !self.eat(Kind::Comma) {
                break;
            }
        }
        self.closing_angle(open);
        generics
    }

    /// `a::b::c`; at least one name.
    pub(super) fn path(&mut self) -> Vec<Ident> {
        let mut path = vec![self.ident("a name")];
        while self.at(Kind::ColonColon) && self.nth(1) == Kind::Ident {
            self.bump();
            path.push(self.ident("a name"));
        }
        path
    }
}
