//! Top-level items, functions and their derivative clauses.
//!
//! In: tokens. Out: [`Item`]s and [`FnDecl`]s.

use super::Parser;
use crate::ast::{
    AliasDecl, Attribute, Block, BlockDecl, Clause, ClauseKind, ConstDecl, EnumDecl, FieldDecl, FnDecl, Ident, Item,
    ItemKind, PatternKind, StructDecl, UseDecl, UseName, VariantDecl, VariantFields,
};
use crate::token::Kind;
use cotan_source::{Diagnostic, Span};

impl Parser<'_> {
    /// All items of a file.
    pub(super) fn items(&mut self) -> Vec<Item> {
        let mut items = Vec::new();
        while !self.at(Kind::Eof) {
            if self.eat(Kind::Semi) {
                continue;
            }
            let before = self.pos;
            items.push(self.item());
            if self.pos == before {
                self.bump();
                self.skip_to_item();
            }
        }
        items
    }

    fn starts_item(&self) -> bool {
        match self.kind() {
            Kind::Fn | Kind::Struct | Kind::Enum | Kind::Type | Kind::Let | Kind::Use | Kind::At => true,
            Kind::Ident => {
                let word = self.word_at(0);
                (matches!(word, "test" | "bench") && self.nth(1) == Kind::Str)
                    || (word == "pub" && self.nth(1) != Kind::LParen)
            }
            _ => false,
        }
    }

    /// Goes over tokens, bracket by bracket, to a line that begins an item.
    fn skip_to_item(&mut self) {
        while !(self.at(Kind::Eof) || self.on_new_line() && self.starts_item()) {
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
        }
    }

    /// An item with its docs and attributes.
    pub(super) fn item(&mut self) -> Item {
        let docs = self.take_docs();
        let start = self.start();
        let mut attributes = Vec::new();
        while self.at(Kind::At) {
            attributes.push(self.attribute());
        }
        self.slip_before_item();
        let kind = match self.kind() {
            Kind::Fn => {
                let decl = self.fn_decl();
                if decl.body.is_none() && !attributes.iter().any(|a| a.name.name == "builtin") {
                    self.refuse_missing_body(decl.head_span);
                }
                ItemKind::Fn(decl)
            }
            Kind::Struct => self.struct_decl(),
            Kind::Enum => self.enum_decl(),
            Kind::Type => self.alias_decl(),
            Kind::Let => self.const_decl(),
            Kind::Use => self.use_decl(),
            Kind::Ident if self.nth(1) == Kind::Str && self.at_word("test") => ItemKind::Test(self.titled_block()),
            Kind::Ident if self.nth(1) == Kind::Str && self.at_word("bench") => ItemKind::Bench(self.titled_block()),
            _ => {
                self.no_item();
                ItemKind::Error
            }
        };
        Item { docs, attributes, kind, span: self.span_from(start) }
    }

    fn no_item(&mut self) {
        if self.kind().is_closer() {
            return self.refuse_closer();
        }
        let found = self.found();
        let slip = self.slip();
        let diagnostic = Diagnostic::error("E0018", self.here(), format!("{found} does not begin an item"))
            .at("expected `fn`, `struct`, `enum`, `type`, `let`, `use`, `test` or `bench`");
        let diagnostic = match slip {
            Some(hint) => diagnostic.hint(hint),
            None if self.kind().starts_expr() || matches!(self.kind(), Kind::For | Kind::While) => {
                diagnostic.hint("statements stand inside of functions: `fn main() { .. }`")
            }
            None => diagnostic,
        };
        self.report(diagnostic);
    }

    fn attribute(&mut self) -> Attribute {
        self.bump();
        let name = self.ident("the name of an attribute");
        let open = self.token();
        let args = if self.eat(Kind::LParen) { self.list(open, "an argument", Self::argument) } else { Vec::new() };
        Attribute { name, args }
    }

    pub(super) fn refuse_missing_body(&mut self, head: Span) {
        // The semicolon was taken: this error is about tokens already passed.
        self.diagnostics.push(
            Diagnostic::error("E0022", head, "the function has no body")
                .at("expected a body after this")
                .hint("write the body in braces: `fn f(x: Float) -> Float { .. }`"),
        );
    }

    /// `fn` and all that belongs to it; the next token is `fn`.
    pub(super) fn fn_decl(&mut self) -> FnDecl {
        let start = self.start();
        self.bump();
        let name = self.ident("the name of the function");
        let generics = self.generics();
        let open = self.token();
        let params = if self.expect(Kind::LParen) { self.list(open, "a parameter", Self::param) } else { Vec::new() };
        let mut ret = None;
        if self.at(Kind::Colon) {
            let diagnostic = self.expectation("`->` or `{`").hint("the result type follows `->`");
            self.report(diagnostic);
            self.bump();
            if !self.at(Kind::LBrace) {
                ret = Some(self.ty());
            }
        } else if self.eat(Kind::Arrow) {
            ret = Some(self.ty());
        }
        let head_span = self.span_from(start);
        if self.at_word("where") {
            let diagnostic = self.expectation("`{`").hint("constraints stand with the parameter: `fn f<A: Num>(x: A)`");
            self.report(diagnostic);
            while !matches!(self.kind(), Kind::LBrace | Kind::Semi | Kind::RBrace | Kind::Eof) {
                self.bump();
            }
        }
        let body = match self.kind() {
            Kind::Semi => {
                self.bump();
                None
            }
            Kind::Eq | Kind::FatArrow => {
                let diagnostic =
                    self.expectation("`{`").hint("the body stands in braces: `fn f(x: Float) -> Float { x }`");
                self.report(diagnostic);
                self.bump();
                let value = self.expr();
                let span = value.span;
                self.eat(Kind::Semi);
                Some(Block { stmts: Vec::new(), result: Some(Box::new(value)), span })
            }
            _ => Some(self.block_after_head()),
        };
        let clauses = self.clauses();
        FnDecl { name, generics, params, ret, body, clauses, span: self.span_from(start), head_span }
    }

    fn clauses(&mut self) -> Vec<Clause> {
        let mut clauses = Vec::new();
        while let Some(kind) = self.clause_ahead() {
            let start = self.start();
            self.bump();
            let mut linear = Vec::new();
            if kind == ClauseKind::Transpose {
                let open = self.token();
                if self.eat(Kind::LParen) {
                    linear = self.list(open, "a parameter", |p| p.ident("the name of a linear parameter"));
                } else {
                    let diagnostic = self
                        .expectation("`(`")
                        .hint("name the parameters in which the function is linear: `transpose(v) { .. }`");
                    self.report(diagnostic);
                }
            }
            let body = self.block_after_head();
            clauses.push(Clause { kind, linear, body, span: self.span_from(start) });
        }
        clauses
    }

    /// Whether a clause comes next: only a brace tells it from an expression that begins with a function
    /// of the same name.
    fn clause_ahead(&self) -> Option<ClauseKind> {
        let block_follows = self.nth(1) == Kind::LBrace;
        match self.word_at(0) {
            "vjp" if block_follows => Some(ClauseKind::Vjp),
            "jvp" if block_follows => Some(ClauseKind::Jvp),
            "transpose" if block_follows => Some(ClauseKind::Transpose),
            "transpose" if self.nth(1) == Kind::LParen => {
                let mut ahead = 2;
                while matches!(self.nth(ahead), Kind::Ident | Kind::Comma) {
                    ahead += 1;
                }
                let ends = self.nth(ahead) == Kind::RParen && self.nth(ahead + 1) == Kind::LBrace;
                ends.then_some(ClauseKind::Transpose)
            }
            _ => None,
        }
    }

    fn struct_decl(&mut self) -> ItemKind {
        self.bump();
        let name = self.ident("the name of the structure");
        let generics = self.generics();
        let fields = match self.kind() {
            Kind::Semi => {
                self.bump();
                Vec::new()
            }
            Kind::LParen => {
                let diagnostic =
                    self.expectation("`{`").hint("the fields of a structure have names: `struct S { a: Float }`");
                self.report(diagnostic);
                let open = self.bump();
                self.list(open, "a type", Self::ty);
                self.eat(Kind::Semi);
                Vec::new()
            }
            _ => self.field_decls(),
        };
        ItemKind::Struct(StructDecl { name, generics, fields })
    }

    fn field_decls(&mut self) -> Vec<FieldDecl> {
        let open = self.token();
        if !self.expect(Kind::LBrace) {
            return Vec::new();
        }
        self.list(open, "a field", |p| {
            let docs = p.take_docs();
            if p.at_word("pub") && p.nth(1) == Kind::Ident {
                p.everything_is_public();
            }
            let name = p.ident("a field");
            let ty = if p.expect(Kind::Colon) || (p.starts_type() && !p.on_new_line()) {
                p.ty()
            } else {
                crate::ast::TypeExpr { kind: crate::ast::TypeExprKind::Error, span: name.span }
            };
            FieldDecl { docs, name, ty }
        })
    }

    fn enum_decl(&mut self) -> ItemKind {
        self.bump();
        let name = self.ident("the name of the enumeration");
        let generics = self.generics();
        let open = self.token();
        let mut variants = Vec::new();
        if self.expect(Kind::LBrace) {
            variants = self.list(open, "a variant", |p| {
                let docs = p.take_docs();
                let name = p.ident("a variant");
                let fields = match p.kind() {
                    Kind::LParen => {
                        let open = p.bump();
                        VariantFields::Tuple(p.list(open, "a type", Self::ty))
                    }
                    Kind::LBrace => VariantFields::Struct(p.field_decls()),
                    _ => VariantFields::Unit,
                };
                VariantDecl { docs, name, fields }
            });
        }
        ItemKind::Enum(EnumDecl { name, generics, variants })
    }

    fn alias_decl(&mut self) -> ItemKind {
        self.bump();
        let name = self.ident("the name of the type");
        let generics = self.generics();
        self.expect(Kind::Eq);
        let ty = self.ty();
        self.end_of_item();
        ItemKind::Alias(AliasDecl { name, generics, ty })
    }

    fn const_decl(&mut self) -> ItemKind {
        self.bump();
        let pattern = self.pattern();
        let name = match pattern.kind {
            PatternKind::Name { mutable, name } => {
                if mutable {
                    self.diagnostics.push(
                        Diagnostic::error("E0020", pattern.span, "a constant cannot be `mut`")
                            .hint("there are no global variables: pass the value to functions and return the new one"),
                    );
                }
                name
            }
            PatternKind::Error => Ident { name: String::new(), span: pattern.span },
            _ => {
                self.diagnostics.push(
                    Diagnostic::error("E0018", pattern.span, "a constant has a single name")
                        .hint("write one `let` for each name"),
                );
                Ident { name: String::new(), span: pattern.span }
            }
        };
        let (ty, value) = self.let_rest();
        self.end_of_item();
        ItemKind::Const(ConstDecl { name, ty, value })
    }

    fn use_decl(&mut self) -> ItemKind {
        self.bump();
        let mut path = vec![self.ident("the name of a module")];
        let mut names = None;
        while self.at(Kind::ColonColon) || self.at(Kind::Dot) {
            if self.at(Kind::Dot) {
                let diagnostic = self.expectation("`::` or `;`").hint("write `use geometry::shapes;`");
                self.report(diagnostic);
            }
            self.bump();
            if self.at(Kind::Star) {
                let diagnostic = Diagnostic::error("E0010", self.here(), "names are not imported all at once")
                    .hint("list them: `use linalg::{solve, cholesky};`");
                self.report(diagnostic);
                self.bump();
            } else if self.at(Kind::LBrace) {
                let open = self.bump();
                names = Some(self.list(open, "a name", |p| {
                    let name = p.ident("a name");
                    let rename = if p.eat(Kind::As) { Some(p.ident("the new name")) } else { None };
                    UseName { name, rename }
                }));
                break;
            } else {
                path.push(self.ident("a name"));
            }
        }
        if self.eat(Kind::As) {
            let rename = Some(self.ident("the new name"));
            if path.len() > 1
                && names.is_none()
                && let Some(name) = path.pop()
            {
                names = Some(vec![UseName { name, rename }]);
            } else {
                self.diagnostics.push(
                    Diagnostic::error("E0010", self.span_from(self.prev_end()), "a module keeps its name")
                        .hint("rename what it holds: `use linalg::{solve as linear_solve};`"),
                );
            }
        }
        self.end_of_item();
        ItemKind::Use(UseDecl { path, names })
    }

    fn end_of_item(&mut self) {
        // An item on the next line means that only the semicolon is missing.
        self.end_of_stmt();
    }

    fn titled_block(&mut self) -> BlockDecl {
        self.bump();
        let token = self.bump();
        let title = Ident { name: self.string_before(), span: self.span_of(token) };
        BlockDecl { title, body: self.block_after_head() }
    }
}
