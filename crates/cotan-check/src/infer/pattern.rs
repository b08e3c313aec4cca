//! Patterns.
//!
//! In: a pattern and the type of what it matches. Out: a pattern of the core and the names it binds. Newly
//! true: a bare name is a variable or a unit variant; no name is bound twice; `p | q` bind the same names.

use crate::context::{Checker, Entry, Why};
use crate::modules::Value;
use crate::types::{Literal, T, hole};
use cotan_core::{AdtId, Lit, LocalId, Pattern, PatternKind};
use cotan_source::{Diagnostic, Span};
use cotan_syntax::ast;
use indexmap::IndexMap;

/// The names that a pattern binds, before they come into scope.
#[derive(Default)]
pub struct Bound<'a> {
    names: IndexMap<&'a str, LocalId>,
    /// In a later alternative of `p | q`: the variables of the first.
    reuse: Option<IndexMap<&'a str, LocalId>>,
}

impl<'a> Checker<'a> {
    /// Brings the names of a pattern into scope.
    pub fn bind_pattern_names(&mut self, bound: Bound<'a>) {
        for (name, local) in bound.names {
            self.bind_name(name, Entry::Local(local));
        }
    }

    /// Binds one name in a pattern.
    pub fn bind_one(&mut self, name: &'a ast::Ident, mutable: bool, t: T, bound: &mut Bound<'a>) -> LocalId {
        self.refuse_shadowing(name);
        if let Some(first) = bound.names.get(name.name.as_str()) {
            let first = self.body.locals[*first].span;
            self.report(
                Diagnostic::error("E0305", name.span, format!("`{}` is bound twice in one pattern", name.name))
                    .label(first, "first bound here"),
            );
        }
        let reused = bound.reuse.as_ref().and_then(|r| r.get(name.name.as_str())).copied();
        let local = match reused {
            Some(local) => {
                let first = self.local_type(local);
                let span = self.body.locals[local].span;
                self.equate(first, t, name.span, Some(Why::new("bound with this type by the first alternative", span)));
                local
            }
            None => self.new_local(&name.name, t, mutable, name.span),
        };
        bound.names.insert(&name.name, local);
        local
    }

    /// The unit variant that a bare name in a pattern means, if it does.
    pub fn unit_variant(&self, name: &ast::Ident) -> Option<(AdtId, usize)> {
        match self.world.value(self.body.module, &name.name)[..] {
            [Value::Variant(adt, i)] => {
                let variant = &self.program.adts[adt].variants[i];
                if variant.fields.is_empty() && !variant.named { Some((adt, i)) } else { None }
            }
            _ => None,
        }
    }

    fn wildcard(&self, t: T, span: Span) -> Pattern {
        Pattern { kind: PatternKind::Wildcard, ty: hole(t), span }
    }

    pub fn pattern(&mut self, p: &'a ast::Pattern, t: T, why: Why, bound: &mut Bound<'a>) -> Pattern {
        let span = p.span;
        let kind = match &p.kind {
            ast::PatternKind::Wildcard | ast::PatternKind::Error => PatternKind::Wildcard,
            ast::PatternKind::Name { mutable, name } => match self.unit_variant(name) {
                Some((adt, variant)) if !*mutable => {
                    let (_, adt_type) = self.fresh_adt(adt, span);
                    self.equate(t, adt_type, span, Some(why));
                    PatternKind::Adt { adt, variant, fields: Vec::new() }
                }
                _ => PatternKind::Bind(self.bind_one(name, *mutable, t, bound)),
            },
            ast::PatternKind::Literal(e) => match self.pattern_literal(e, t, why) {
                Some(lit) => PatternKind::Lit(lit),
                None => PatternKind::Wildcard,
            },
            ast::PatternKind::Range { start, end, inclusive } => {
                let lo = start.as_ref().and_then(|e| self.pattern_literal(e, t, why));
                let hi = end.as_ref().and_then(|e| self.pattern_literal(e, t, why));
                for (lit, e) in [(&lo, start), (&hi, end)] {
                    if let (Some(Lit::Bool(_) | Lit::Str(_)), Some(e)) = (lit, e) {
                        self.error("E0312", e.span, "a range pattern has numbers at its ends");
                    }
                }
                PatternKind::Range { start: lo, end: hi, inclusive: *inclusive }
            }
            ast::PatternKind::Tuple(parts) => {
                let known = match self.types.node(t).clone() {
                    crate::types::Node::Tuple(types) if types.len() == parts.len() => Some(types.to_vec()),
                    _ => None,
                };
                let types = known.unwrap_or_else(|| {
                    let types: Vec<T> = parts.iter().map(|p| self.types.fresh(p.span)).collect();
                    let tuple = self.types.tuple(types.clone());
                    self.equate(t, tuple, span, Some(why));
                    types
                });
                let parts = parts.iter().zip(types).map(|(p, t)| self.pattern(p, t, why, bound)).collect();
                PatternKind::Tuple(parts)
            }
            ast::PatternKind::Variant { path, args } => return self.variant_pattern(path, args, t, span, why, bound),
            ast::PatternKind::Struct { path, fields, rest } => {
                return self.struct_pattern(path, fields, *rest, t, span, why, bound);
            }
            ast::PatternKind::Or(alternatives) => PatternKind::Or(self.alternatives(alternatives, t, why, bound)),
        };
        Pattern { kind, ty: hole(t), span }
    }

    fn pattern_literal(&mut self, e: &'a ast::Expr, t: T, why: Why) -> Option<Lit> {
        let (e, negative) = match &e.kind {
            ast::ExprKind::Unary { op: ast::UnaryOp::Neg, operand } => (&**operand, true),
            _ => (e, false),
        };
        let (lit, found) = match &e.kind {
            ast::ExprKind::Int(text) => {
                let signed = if negative { format!("-{text}") } else { text.clone() };
                let Ok(value) = signed.parse() else {
                    self.error("E0213", e.span, "this number does not fit in an `Int`");
                    return None;
                };
                (Lit::Int(value), self.types.fresh_literal(Literal::Int, e.span))
            }
            ast::ExprKind::Float(value) => {
                (Lit::Float(if negative { -value } else { *value }), self.types.fresh_literal(Literal::Float, e.span))
            }
            ast::ExprKind::Bool(value) => (Lit::Bool(*value), T::BOOL),
            ast::ExprKind::Str(text) => (Lit::Str(text.clone()), T::STR),
            _ => {
                self.error("E0312", e.span, "only literals can stand in a pattern");
                return None;
            }
        };
        self.equate(t, found, e.span, Some(why));
        Some(lit)
    }

    fn alternatives(&mut self, list: &'a [ast::Pattern], t: T, why: Why, bound: &mut Bound<'a>) -> Vec<Pattern> {
        let outer = std::mem::take(&mut bound.names);
        let outer_reuse = bound.reuse.clone();
        let mut first: Option<IndexMap<&'a str, LocalId>> = None;
        let mut out = Vec::new();
        for p in list {
            bound.names.clear();
            bound.reuse = first.clone().or_else(|| outer_reuse.clone());
            out.push(self.pattern(p, t, why, bound));
            let names = std::mem::take(&mut bound.names);
            match &first {
                None => first = Some(names),
                Some(first) => {
                    let missing = first.keys().find(|n| !names.contains_key(*n));
                    let extra = names.keys().find(|n| !first.contains_key(*n));
                    if let Some(name) = missing.or(extra) {
                        self.report(
                            Diagnostic::error("E0304", p.span, format!("`{name}` is not bound in all alternatives"))
                                .note("each alternative of a pattern binds the same names"),
                        );
                    }
                }
            }
        }
        bound.reuse = outer_reuse;
        bound.names = outer;
        for (name, local) in first.unwrap_or_default() {
            if bound.names.insert(name, local).is_some() {
                let span = self.body.locals[local].span;
                self.error("E0305", span, format!("`{name}` is bound twice in one pattern"));
            }
        }
        out
    }

    fn bind_all(&mut self, patterns: impl Iterator<Item = &'a ast::Pattern>, why: Why, bound: &mut Bound<'a>) {
        for p in patterns {
            self.pattern(p, T::ERROR, why, bound);
        }
    }

    fn variant_pattern(
        &mut self,
        path: &'a [ast::Ident],
        args: &'a [ast::Pattern],
        t: T,
        span: Span,
        why: Why,
        bound: &mut Bound<'a>,
    ) -> Pattern {
        let values = self.world.value_path(self.body.module, path);
        let (adt, variant) = match values[..] {
            [Value::Variant(adt, variant)] => (adt, variant),
            [Value::Item(_)] => {
                self.error("E0110", span, format!("`{}` is not a variant", path[path.len() - 1].name));
                self.bind_all(args.iter(), why, bound);
                return self.wildcard(t, span);
            }
            [] => {
                self.unknown_value(path, path[0].span.to(path[path.len() - 1].span));
                self.bind_all(args.iter(), why, bound);
                return self.wildcard(t, span);
            }
            _ => {
                self.error("E0109", span, format!("`{}` could be several variants", path[path.len() - 1].name));
                self.bind_all(args.iter(), why, bound);
                return self.wildcard(t, span);
            }
        };
        let (type_args, adt_type) = self.fresh_adt(adt, span);
        self.equate(t, adt_type, span, Some(why));
        let shape = &self.program.adts[adt].variants[variant];
        let (count, named, name) = (shape.fields.len(), shape.named, shape.name.clone());
        if named {
            self.report(
                Diagnostic::error("E0312", span, format!("`{name}` has named fields"))
                    .hint(format!("write `{name} {{ {} }}`", self.field_list(adt, variant).replace(": ..", ""))),
            );
            self.bind_all(args.iter(), why, bound);
            return self.wildcard(t, span);
        }
        let types: Vec<T> = (0..count).map(|i| self.field_type(adt, variant, i, &type_args, span)).collect();
        if count != args.len() {
            // One pattern for the tuple of several payloads, as constructors are functions of one argument.
            if args.len() == 1 && count > 1 && matches!(args[0].kind, ast::PatternKind::Wildcard) {
                let fields = types.iter().map(|t| self.wildcard(*t, args[0].span)).collect();
                return Pattern { kind: PatternKind::Adt { adt, variant, fields }, ty: hole(t), span };
            }
            let declared = self.program.adts[adt].variants[variant].span;
            let plural = if count == 1 { "value" } else { "values" };
            self.report(
                Diagnostic::error(
                    "E0312",
                    span,
                    format!("`{name}` holds {count} {plural}, but the pattern has {}", args.len()),
                )
                .label(declared, "declared here"),
            );
            self.bind_all(args.iter(), why, bound);
            return self.wildcard(t, span);
        }
        let fields = args.iter().zip(types).map(|(p, t)| self.pattern(p, t, why, bound)).collect();
        Pattern { kind: PatternKind::Adt { adt, variant, fields }, ty: hole(t), span }
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of one pattern")]
    fn struct_pattern(
        &mut self,
        path: &'a [ast::Ident],
        fields: &'a [(ast::Ident, ast::Pattern)],
        rest: bool,
        t: T,
        span: Span,
        why: Why,
        bound: &mut Bound<'a>,
    ) -> Pattern {
        let Some((adt, variant)) = self.struct_path(path) else {
            self.bind_all(fields.iter().map(|(_, p)| p), why, bound);
            return self.wildcard(t, span);
        };
        let (type_args, adt_type) = self.fresh_adt(adt, span);
        self.equate(t, adt_type, span, Some(why));
        let shape = self.program.adts[adt].variants[variant].clone();
        let mut found: Vec<Option<Pattern>> = shape.fields.iter().map(|_| None).collect();
        for (name, p) in fields {
            let Some(i) = shape.fields.iter().position(|f| f.name == name.name) else {
                let mut d =
                    Diagnostic::error("E0106", name.span, format!("`{}` has no field `{}`", shape.name, name.name));
                if let Some(close) = crate::names::suggestion(&name.name, shape.fields.iter().map(|f| f.name.as_str()))
                {
                    d = d.hint(format!("there is a field `{close}`"));
                }
                self.report(d);
                self.pattern(p, T::ERROR, why, bound);
                continue;
            };
            let field = self.field_type(adt, variant, i, &type_args, name.span);
            let pattern = self.pattern(p, field, Why::new("the field is declared here", shape.fields[i].span), bound);
            if found[i].is_some() {
                self.error("E0210", name.span, format!("the field `{}` is given twice", name.name));
            }
            found[i] = Some(pattern);
        }
        let missing: Vec<&str> =
            shape.fields.iter().zip(&found).filter(|(_, p)| p.is_none()).map(|(f, _)| f.name.as_str()).collect();
        if !missing.is_empty() && !rest {
            let list = crate::constraints::quoted(&missing);
            self.report(
                Diagnostic::error("E0210", span, format!("the pattern does not mention {list}"))
                    .hint("write `..` to leave out the rest"),
            );
        }
        let fields = found
            .into_iter()
            .enumerate()
            .map(|(i, p)| {
                p.unwrap_or_else(|| {
                    let field = self.field_type(adt, variant, i, &type_args, span);
                    self.wildcard(field, span)
                })
            })
            .collect();
        Pattern { kind: PatternKind::Adt { adt, variant, fields }, ty: hole(t), span }
    }
}
