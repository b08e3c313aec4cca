//! Tuples, arrays, comprehensions, subscripts and structures.
//!
//! In: literals and accesses. Out: terms of the core. Newly true: fields stand in order of declaration,
//! subscripts fit the rank.

use crate::context::{Checker, Want, Why};
use crate::infer::pattern::Bound;
use crate::modules::Value;
use crate::types::{Node, T, hole};
use cotan_core::{AdtId, Expr, ExprKind, Generator, Iter, Pattern, PatternKind, Stmt, StmtKind, Subscript};
use cotan_source::{Diagnostic, Span};
use cotan_syntax::ast;

impl<'a> Checker<'a> {
    pub fn tuple_literal(&mut self, parts: &'a [ast::Expr], span: Span, want: Want) -> Expr {
        let wanted = match want.map(|(t, why)| (self.types.node(t).clone(), why)) {
            Some((Node::Tuple(types), why)) if types.len() == parts.len() => Some((types, why)),
            _ => None,
        };
        let values: Vec<Expr> = parts
            .iter()
            .enumerate()
            .map(|(i, p)| self.expr(p, wanted.as_ref().map(|(types, why)| (types[i], *why))))
            .collect();
        if let (Some(_), Some((t, _))) = (&wanted, want) {
            return self.make(ExprKind::Tuple(values), t, span);
        }
        let types = values.iter().map(|v| self.type_of(v)).collect();
        let t = self.types.tuple(types);
        self.end(ExprKind::Tuple(values), t, span, want)
    }

    pub fn array_literal(&mut self, parts: &'a [ast::Expr], span: Span, want: Want) -> Expr {
        let wanted = match want.map(|(t, why)| (self.types.node(t).clone(), why)) {
            Some((Node::Array(elem), why)) => Some((elem, why)),
            _ => None,
        };
        let elem = wanted.map_or_else(|| self.types.fresh(span), |(t, _)| t);
        let mut values: Vec<Expr> = Vec::with_capacity(parts.len());
        for p in parts {
            let why = match (wanted, values.first()) {
                (Some((_, why)), _) => why,
                (None, Some(first)) => Why::new("the first element has this type", first.span),
                (None, None) => Why::new("an element", p.span),
            };
            values.push(self.expr(p, Some((elem, why))));
        }
        let ragged = values.iter().find_map(|v| match (&values[0].kind, &v.kind) {
            (ExprKind::Array(a), ExprKind::Array(b)) if a.len() != b.len() => Some((v.span, a.len(), b.len())),
            _ => None,
        });
        if let Some((at, first, other)) = ragged {
            self.report(
                Diagnostic::error(
                    "E0401",
                    at,
                    format!("the rows of an array have one length: {first} before, {other} here"),
                )
                .at(format!("this has {other}"))
                .label(values[0].span, format!("this has {first}")),
            );
        }
        if let (Some(_), Some((t, _))) = (wanted, want) {
            return self.make(ExprKind::Array(values), t, span);
        }
        let t = self.types.array(elem);
        self.end(ExprKind::Array(values), t, span, want)
    }

    /// What a loop or comprehension walks, and the type of what it yields.
    pub fn iter(&mut self, e: &'a ast::Expr) -> (Iter, T) {
        let inner = match &e.kind {
            ast::ExprKind::Paren(inner) => inner,
            _ => e,
        };
        if let ast::ExprKind::Range { start, end } = &inner.kind {
            let why = Why::new("a range is of `Int`s", e.span);
            let (Some(start), Some(end)) = (start, end) else {
                self.error("E0311", e.span, "a range to walk needs both ends");
                return (Iter::Array(Box::new(self.error_expr(e.span))), T::INT);
            };
            let start = self.expr(start, Some((T::INT, why)));
            let end = self.expr(end, Some((T::INT, why)));
            return (Iter::Range(Box::new(start), Box::new(end)), T::INT);
        }
        let value = self.expr(e, None);
        self.solve_ready();
        let t = self.type_of(&value);
        match self.types.node(t).clone() {
            Node::Array(elem) => (Iter::Array(Box::new(value)), elem),
            Node::Error => (Iter::Array(Box::new(value)), T::ERROR),
            Node::Var(v) if !self.types.var(v).bits.has(crate::types::Bits::NUM) => {
                let elem = self.types.fresh(e.span);
                let array = self.types.array(elem);
                self.equate(array, t, e.span, Some(Why::new("arrays and ranges can be walked", e.span)));
                (Iter::Array(Box::new(value)), elem)
            }
            _ => {
                let shown = self.types.show(t);
                let mut d =
                    Diagnostic::error("E0201", e.span, format!("expected an array or a range, found `{shown}`"));
                if shown == "Int" {
                    d = d.hint("to count, write `0..n`");
                }
                self.report(d);
                (Iter::Array(Box::new(value)), T::ERROR)
            }
        }
    }

    pub fn comprehension(
        &mut self,
        body: &'a ast::Expr,
        generators: &'a [ast::Generator],
        filter: Option<&'a ast::Expr>,
        span: Span,
        want: Want,
    ) -> Expr {
        let iters: Vec<(Iter, T)> = generators.iter().map(|g| self.iter(&g.iter)).collect();
        let mark = self.mark();
        if let Some(frame) = self.body.frames.last_mut() {
            frame.loops.push(false);
        }
        self.body.comprehension_starts.push(self.body.locals.len() as u32);
        let mut bound = Bound::default();
        let mut core = Vec::new();
        for (g, (iter, t)) in generators.iter().zip(iters) {
            let pattern = self.pattern(&g.pattern, t, Why::new("what is walked", g.iter.span), &mut bound);
            self.body.irrefutable.push((pattern.clone(), "a comprehension"));
            core.push(Generator { pattern, iter });
        }
        self.bind_pattern_names(bound);
        if filter.is_some() && generators.len() > 1 {
            self.report(
                Diagnostic::error("E0313", span, "a filter goes with one dimension only")
                    .note("what is left of several dimensions would not be rectangular"),
            );
        }
        let filter = filter.map(|f| Box::new(self.condition(f)));
        let mut elem_want = want;
        for _ in generators {
            elem_want = match elem_want.map(|(t, why)| (self.types.node(t).clone(), why)) {
                Some((Node::Array(elem), why)) => Some((elem, why)),
                _ => None,
            };
        }
        let before = self.diverges;
        let body = self.expr(body, elem_want);
        self.diverges = before;
        self.body.comprehension_starts.pop();
        if let Some(frame) = self.body.frames.last_mut() {
            frame.loops.pop();
        }
        self.leave(mark);
        let mut t = self.type_of(&body);
        let walks_array = core.iter().any(|g| matches!(g.iter, Iter::Array(_)));
        if core.len() > 1 && walks_array {
            let e = self.nested(core, body, span);
            let t = self.type_of(&e);
            return self.end(e.kind, t, span, want);
        }
        for _ in &core {
            t = self.types.array(t);
        }
        self.end(ExprKind::Comprehension { generators: core, filter, body: Box::new(body) }, t, span, want)
    }

    /// Several dimensions of which one walks an array: one comprehension in another, over values made before.
    fn nested(&mut self, generators: Vec<Generator>, body: Expr, span: Span) -> Expr {
        let mut stmts = Vec::new();
        let mut kept = Vec::new();
        for g in generators {
            let iter = match g.iter {
                Iter::Array(e) => Iter::Array(Box::new(self.named_value(*e, &mut stmts))),
                Iter::Range(a, b) => {
                    let a = self.named_value(*a, &mut stmts);
                    let b = self.named_value(*b, &mut stmts);
                    Iter::Range(Box::new(a), Box::new(b))
                }
            };
            kept.push(Generator { pattern: g.pattern, iter });
        }
        let mut e = body;
        for g in kept.into_iter().rev() {
            let elem = self.type_of(&e);
            let t = self.types.array(elem);
            e = self.make(ExprKind::Comprehension { generators: vec![g], filter: None, body: Box::new(e) }, t, span);
        }
        self.with_stmts(stmts, e)
    }

    fn named_value(&mut self, value: Expr, stmts: &mut Vec<Stmt>) -> Expr {
        if matches!(value.kind, ExprKind::Lit(_) | ExprKind::Local(_)) {
            return value;
        }
        let span = value.span;
        let t = self.type_of(&value);
        let local = self.new_local("walked", t, false, span);
        let pattern = Pattern { kind: PatternKind::Bind(local), ty: hole(t), span };
        stmts.push(Stmt { kind: StmtKind::Let { pattern, value }, span });
        self.make(ExprKind::Local(local), t, span)
    }

    pub fn index(&mut self, base: &'a ast::Expr, subscripts: &'a [ast::Expr], span: Span, want: Want) -> Expr {
        let base = self.expr(base, None);
        self.solve_ready();
        let base_type = self.type_of(&base);
        let (subscripts, t) = self.subscripts(base_type, subscripts, base.span, span);
        self.end(ExprKind::Index { base: Box::new(base), subscripts }, t, span, want)
    }

    /// Subscripts of a value of type `base`, and the type of what they select.
    pub fn subscripts(
        &mut self,
        base: T,
        written: &'a [ast::Expr],
        base_span: Span,
        span: Span,
    ) -> (Vec<Subscript>, T) {
        let why = Why::new("a position is an `Int`", span);
        let mut t = base;
        let mut kept = 0;
        let mut list = Vec::new();
        for (axis, s) in written.iter().enumerate() {
            t = match self.types.node(t).clone() {
                Node::Array(elem) => elem,
                Node::Var(_) => {
                    let elem = self.types.fresh(span);
                    let array = self.types.array(elem);
                    self.equate(array, t, base_span, Some(Why::new("it is indexed here", span)));
                    elem
                }
                Node::Error => T::ERROR,
                _ => {
                    let shown = self.types.show(base);
                    let message = if axis == 0 {
                        format!("a value of type `{shown}` cannot be indexed")
                    } else {
                        let plural = if axis == 1 { "" } else { "s" };
                        format!("`{shown}` has {axis} dimension{plural}, so it takes no subscript number {}", axis + 1)
                    };
                    self.error("E0403", s.span, message);
                    T::ERROR
                }
            };
            match &s.kind {
                ast::ExprKind::Range { start, end } => {
                    kept += 1;
                    let start = start.as_ref().map(|e| self.expr(e, Some((T::INT, why))));
                    let end = end.as_ref().map(|e| self.expr(e, Some((T::INT, why))));
                    list.push(Subscript::Range(start, end));
                }
                _ => list.push(Subscript::At(self.expr(s, Some((T::INT, why))))),
            }
        }
        if !matches!(self.types.node(t), Node::Error) {
            for _ in 0..kept {
                t = self.types.array(t);
            }
        }
        (list, t)
    }

    /// The structure or variant that a path before braces names.
    pub fn struct_path(&mut self, path: &'a [ast::Ident]) -> Option<(AdtId, usize)> {
        let module = self.body.module;
        let span = path.first()?.span.to(path.last()?.span);
        if let Some(adt) = self.world.enum_of(module, path)
            && self.program.adts[adt].is_struct
        {
            return Some((adt, 0));
        }
        let variants: Vec<(AdtId, usize)> = self
            .world
            .value_path(module, path)
            .iter()
            .filter_map(|v| match v {
                Value::Variant(adt, i) => Some((*adt, *i)),
                Value::Item(_) => None,
            })
            .collect();
        match variants[..] {
            [one] => Some(one),
            [] => {
                let shown: Vec<&str> = path.iter().map(|p| p.name.as_str()).collect();
                let mut d = Diagnostic::error(
                    "E0102",
                    span,
                    format!("there is no structure or variant `{}`", shown.join("::")),
                );
                let scopes = std::iter::once(module).chain(self.world.prelude.iter().copied());
                let names = scopes.flat_map(|m| {
                    let scope = &self.world.scopes[m];
                    scope.types.keys().copied().chain(scope.variants.keys().copied())
                });
                if let Some(close) = crate::names::suggestion(shown[shown.len() - 1], names) {
                    d = d.hint(format!("did you mean `{close}`?"));
                }
                self.report(d);
                None
            }
            _ => {
                self.error("E0109", span, format!("`{}` could be several variants", path[path.len() - 1].name));
                None
            }
        }
    }

    pub fn struct_literal(
        &mut self,
        path: &'a [ast::Ident],
        fields: &'a [(ast::Ident, ast::Expr)],
        base: Option<&'a ast::Expr>,
        span: Span,
        want: Want,
    ) -> Expr {
        let Some((adt, variant)) = self.struct_path(path) else {
            for (_, e) in fields {
                self.expr(e, None);
            }
            if let Some(base) = base {
                self.expr(base, None);
            }
            return self.error_expr(span);
        };
        let (args, t) = self.fresh_adt(adt, span);
        if let Some((wanted, _)) = want
            && let Node::Adt(id, _) = self.types.node(wanted)
            && *id == adt
        {
            self.equate(wanted, t, span, None);
        }
        let names: Vec<String> =
            self.program.adts[adt].variants[variant].fields.iter().map(|f| f.name.clone()).collect();
        let spans: Vec<Span> = self.program.adts[adt].variants[variant].fields.iter().map(|f| f.span).collect();
        let shown = self.program.adts[adt].variants[variant].name.clone();
        if !self.program.adts[adt].variants[variant].named {
            self.report(
                Diagnostic::error("E0110", span, format!("`{shown}` has no named fields")).hint(if names.is_empty() {
                    format!("write `{shown}`")
                } else {
                    format!("write `{shown}(..)`")
                }),
            );
            for (_, e) in fields {
                self.expr(e, None);
            }
            return self.error_expr(span);
        }
        let mut given: Vec<Option<Expr>> = names.iter().map(|_| None).collect();
        let mut order = Vec::new();
        for (name, e) in fields {
            let Some(i) = names.iter().position(|n| *n == name.name) else {
                let mut d = Diagnostic::error("E0106", name.span, format!("`{shown}` has no field `{}`", name.name));
                if let Some(close) = crate::names::suggestion(&name.name, names.iter().map(String::as_str)) {
                    d = d.hint(format!("there is a field `{close}`"));
                }
                self.report(d);
                self.expr(e, None);
                continue;
            };
            let field = self.field_type(adt, variant, i, &args, name.span);
            let value = self.expr(e, Some((field, Why::new("the field is declared here", spans[i]))));
            if given[i].is_some() {
                self.error("E0210", name.span, format!("the field `{}` is given twice", name.name));
                continue;
            }
            given[i] = Some(value);
            order.push(i);
        }
        if let Some(base) = base {
            if !self.program.adts[adt].is_struct {
                self.error("E0110", base.span, "only a structure can be completed by `..`");
            }
            let base = self.expr(base, Some((t, Why::new("it completes this structure", span))));
            let fields = order.iter().filter_map(|i| given[*i].take().map(|e| (*i, e))).collect();
            return self.end(ExprKind::Update { base: Box::new(base), fields }, t, span, want);
        }
        let missing: Vec<&str> =
            names.iter().zip(&given).filter(|(_, g)| g.is_none()).map(|(n, _)| n.as_str()).collect();
        if !missing.is_empty() {
            let plural = if missing.len() == 1 { "field" } else { "fields" };
            let list = crate::constraints::quoted(&missing);
            self.error("E0210", span, format!("`{shown}` lacks the {plural} {list}"));
            return self.make(ExprKind::Tuple(Vec::new()), t, span);
        }
        let fields = given.into_iter().flatten().collect();
        self.end(ExprKind::Adt { adt, variant, fields, order }, t, span, want)
    }
}
