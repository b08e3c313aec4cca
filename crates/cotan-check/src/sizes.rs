//! Sizes written in types: names bound at the start of a body, checks of the rest.
//!
//! In: the trees of sizes in written types. Out: `BindSize` and `CheckSizes` statements, checked results.
//! Newly true: a size name is an `Int` variable of the body. Sizes that are known on both sides are compared here.

use crate::context::{Checker, Entry, Why};
use crate::types::T;
use cotan_core::{BinaryOp, Expr, ExprKind, LocalId, Pattern, PatternKind, SizeCheck, Stmt, StmtKind};
use cotan_source::{Diagnostic, Span};
use cotan_syntax::ast;
use indexmap::IndexMap;

/// The sizes in a written type.
#[derive(Clone, Debug)]
pub enum SizeTree<'a> {
    None,
    Array { size: Option<&'a ast::Expr>, elem: Box<SizeTree<'a>> },
    Tuple(Vec<SizeTree<'a>>),
}

impl SizeTree<'_> {
    pub fn is_none(&self) -> bool {
        matches!(self, SizeTree::None)
    }
}

/// A size at a place: components of tuples on the way, then an axis.
#[derive(Clone)]
struct Place<'a> {
    path: Vec<usize>,
    axis: usize,
    size: &'a ast::Expr,
}

/// Checks of a result, ready to be applied to any expression that yields it.
#[derive(Clone)]
pub struct ResultSizes {
    checks: Vec<(Vec<usize>, usize, Expr, String, Span)>,
    what: String,
    /// Sizes that are plain numbers, for comparison with literals.
    ty: T,
}

/// Where size names that are in scope already come from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum SizeNames {
    /// A function's signature has its own names.
    Own,
    /// A closure or `let` sees those around it.
    Around,
}

fn places<'a>(tree: &SizeTree<'a>) -> Vec<Place<'a>> {
    fn go<'a>(tree: &SizeTree<'a>, path: &mut Vec<usize>, axis: usize, out: &mut Vec<Place<'a>>) {
        match tree {
            SizeTree::None => {}
            SizeTree::Array { size, elem } => {
                if let Some(size) = size {
                    out.push(Place { path: path.clone(), axis, size });
                }
                if !matches!(**elem, SizeTree::Tuple(_)) {
                    go(elem, path, axis + 1, out);
                }
            }
            SizeTree::Tuple(parts) => {
                for (i, part) in parts.iter().enumerate() {
                    path.push(i);
                    go(part, path, 0, out);
                    path.pop();
                }
            }
        }
    }
    let mut out = Vec::new();
    go(tree, &mut Vec::new(), 0, &mut out);
    out
}

/// A size as it was written.
fn size_text(e: &ast::Expr) -> String {
    match &e.kind {
        ast::ExprKind::Int(text) => text.clone(),
        ast::ExprKind::Path(path) => path.iter().map(|p| p.name.as_str()).collect::<Vec<_>>().join("::"),
        ast::ExprKind::Paren(inner) => format!("({})", size_text(inner)),
        ast::ExprKind::Binary { op, left, right, .. } => {
            let symbol = crate::infer::core_op(*op).symbol();
            format!("{} {symbol} {}", size_text(left), size_text(right))
        }
        _ => "size".to_string(),
    }
}

fn bare_name(e: &ast::Expr) -> Option<&ast::Ident> {
    match &e.kind {
        ast::ExprKind::Path(path) if path.len() == 1 => path.first(),
        ast::ExprKind::Paren(inner) => bare_name(inner),
        _ => None,
    }
}

impl<'a> Checker<'a> {
    /// Binds the size names of parameters and checks what can be checked on entry. The parameters' own names
    /// must be in scope already: `n: Int` gives the size `n`.
    pub fn enter_sizes(&mut self, params: &[(LocalId, SizeTree<'a>)], names: SizeNames) -> Vec<Stmt> {
        let mut stmts = Vec::new();
        let mut all = Vec::new();
        for (local, tree) in params {
            for place in places(tree) {
                all.push((*local, place));
            }
        }
        let own: Vec<LocalId> = params.iter().map(|(l, _)| *l).collect();
        let mut bound: IndexMap<&'a str, (LocalId, usize)> = IndexMap::new();
        for (_, place) in &all {
            let Some(name) = bare_name(place.size) else { continue };
            if bound.contains_key(name.name.as_str()) {
                continue;
            }
            let known = match self.lookup_local(&name.name) {
                Some(Entry::Local(l)) if own.contains(&l) || names == SizeNames::Around => Some(l),
                _ => None,
            };
            if let Some(local) = known {
                let t = self.use_local(local, name.span);
                self.equate(T::INT, t, name.span, Some(Why::new("a size is an `Int`", name.span)));
                bound.insert(&name.name, (local, usize::MAX));
                continue;
            }
            let local = self.new_local(&name.name, T::INT, false, name.span);
            let sources: Vec<(Expr, usize)> = all
                .iter()
                .filter(|(_, p)| bare_name(p.size).is_some_and(|n| n.name == name.name))
                .map(|(l, p)| (self.place_expr(*l, &p.path, p.size.span), p.axis))
                .collect();
            bound.insert(&name.name, (local, sources.len()));
            stmts.push(Stmt { kind: StmtKind::BindSize { local, sources }, span: name.span });
            self.bind_name(&name.name, Entry::Local(local));
        }
        let mut checks = Vec::new();
        for (local, place) in &all {
            if let Some(name) = bare_name(place.size)
                && bound.get(name.name.as_str()).is_some_and(|(_, sources)| *sources == 1)
            {
                continue;
            }
            let array = self.place_expr(*local, &place.path, place.size.span);
            let Some(expected) = self.size_expr(place.size, true) else {
                // Reported; the name stands for some number from here on.
                if let Some(name) = self.unbound_size(place.size) {
                    let local = self.new_local(&name.name, T::INT, false, name.span);
                    self.bind_name(&name.name, Entry::Local(local));
                }
                continue;
            };
            let what = format!("parameter `{}`", self.body.locals[*local].name);
            checks.push(SizeCheck {
                array: Some(array),
                axis: place.axis,
                expected,
                what,
                size_text: size_text(place.size),
                span: place.size.span,
            });
        }
        if !checks.is_empty() {
            let span = checks[0].span;
            stmts.push(Stmt { kind: StmtKind::CheckSizes(checks), span });
        }
        stmts
    }

    fn place_expr(&mut self, local: LocalId, path: &[usize], span: Span) -> Expr {
        let mut t = self.local_type(local);
        let mut e = self.make(ExprKind::Local(local), t, span);
        for index in path {
            t = match self.types.node(t) {
                crate::types::Node::Tuple(parts) => parts.get(*index).copied().unwrap_or(T::ERROR),
                _ => T::ERROR,
            };
            e = self.make(ExprKind::TupleField { base: Box::new(e), index: *index }, t, span);
        }
        e
    }

    /// A size as an expression; names that are nowhere bound are reported if `strict`.
    fn size_expr(&mut self, e: &'a ast::Expr, strict: bool) -> Option<Expr> {
        if let Some(name) = self.unbound_size(e) {
            if strict {
                self.report(
                    Diagnostic::error("E0402", name.span, format!("the size `{}` is not known", name.name)).hint(
                        format!("give it by a parameter `{}: Int`, by an array of that size, or write `[]`", name.name),
                    ),
                );
            }
            return None;
        }
        Some(self.expr(e, Some((T::INT, Why::new("a size is an `Int`", e.span)))))
    }

    fn unbound_size(&self, e: &'a ast::Expr) -> Option<&'a ast::Ident> {
        match &e.kind {
            ast::ExprKind::Path(path) if path.len() == 1 => {
                let name = &path[0];
                let known = self.lookup_local(&name.name).is_some()
                    || !self.world.value(self.body.module, &name.name).is_empty();
                if known { None } else { Some(name) }
            }
            ast::ExprKind::Paren(inner) | ast::ExprKind::Unary { operand: inner, .. } => self.unbound_size(inner),
            ast::ExprKind::Binary { left, right, .. } => self.unbound_size(left).or_else(|| self.unbound_size(right)),
            _ => None,
        }
    }

    /// Prepares the checks of a result or annotated value; names must be in scope.
    pub fn result_sizes(&mut self, tree: &SizeTree<'a>, ty: T, what: String, strict: bool) -> Option<ResultSizes> {
        let mut checks = Vec::new();
        for place in places(tree) {
            let bare = bare_name(place.size);
            // A global of the same name is not a size that a signature leaves open.
            if !strict && bare.is_some_and(|n| self.lookup_local(&n.name).is_none()) {
                continue;
            }
            if let Some(expected) = self.size_expr(place.size, strict || bare.is_none()) {
                checks.push((place.path, place.axis, expected, size_text(place.size), place.size.span));
            }
        }
        if checks.is_empty() { None } else { Some(ResultSizes { checks, what, ty }) }
    }

    /// Wraps a value in the checks of its sizes.
    pub fn checked(&mut self, value: Expr, sizes: &ResultSizes) -> Expr {
        self.compare_literal(&value, sizes);
        let span = value.span;
        let direct = sizes.checks.iter().all(|(path, ..)| path.is_empty());
        let check = |array, axis: &usize, expected: &Expr, text: &String, span: &Span| SizeCheck {
            array,
            axis: *axis,
            expected: expected.clone(),
            what: sizes.what.clone(),
            size_text: text.clone(),
            span: *span,
        };
        let t = sizes.ty;
        if direct {
            let checks = sizes.checks.iter().map(|(_, axis, e, text, s)| check(None, axis, e, text, s)).collect();
            return self.make(ExprKind::CheckSizes { value: Box::new(value), checks }, t, span);
        }
        let local = self.new_local("result", t, false, span);
        let pattern = Pattern { kind: PatternKind::Bind(local), ty: crate::types::hole(t), span };
        let mut checks = Vec::new();
        for (path, axis, e, text, s) in &sizes.checks {
            let array = self.place_expr(local, path, *s);
            checks.push(check(Some(array), axis, e, text, s));
        }
        let stmts = vec![
            Stmt { kind: StmtKind::Let { pattern, value }, span },
            Stmt { kind: StmtKind::CheckSizes(checks), span },
        ];
        let result = self.make(ExprKind::Local(local), t, span);
        self.make(ExprKind::Block { stmts, result: Some(Box::new(result)) }, t, span)
    }

    /// Compares an array literal with sizes that are plain numbers.
    fn compare_literal(&mut self, value: &Expr, sizes: &ResultSizes) {
        for (path, axis, expected, _, span) in &sizes.checks {
            if !path.is_empty() {
                continue;
            }
            if let (ExprKind::Lit(cotan_core::Lit::Int(want)), Some(found)) =
                (&expected.kind, literal_extent(value, *axis))
                && *want != found
            {
                self.report(
                    Diagnostic::error("E0401", value.span, format!("expected {want} elements, found {found}"))
                        .at(format!("this has {found}"))
                        .label(*span, format!("{want} asked for here")),
                );
            }
        }
    }

    /// Compares two array literals that an operator combines.
    pub fn compare_operands(&mut self, op: BinaryOp, left: &Expr, right: &Expr) {
        let (left_axis, right_axis) = match op {
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div => (0, 0),
            BinaryOp::MatMul => (literal_rank(left).saturating_sub(1), 0),
            _ => return,
        };
        if let (Some(l), Some(r)) = (literal_extent(left, left_axis), literal_extent(right, right_axis))
            && l != r
        {
            self.report(
                Diagnostic::error(
                    "E0401",
                    left.span.to(right.span),
                    format!("arrays of {l} and {r} elements do not fit"),
                )
                .label(left.span, format!("this has {l}"))
                .label(right.span, format!("this has {r}")),
            );
        }
    }

    /// Compares literal arguments with literal sizes of a parameter.
    pub fn compare_argument(&mut self, value: &Expr, tree: &SizeTree<'a>, param: &str) {
        for place in places(tree) {
            if !place.path.is_empty() {
                continue;
            }
            if let (ast::ExprKind::Int(text), Some(found)) = (&place.size.kind, literal_extent(value, place.axis))
                && let Ok(want) = text.parse::<i64>()
                && want != found
            {
                self.report(
                    Diagnostic::error(
                        "E0401",
                        value.span,
                        format!("`{param}` has {want} elements, but {found} are given"),
                    )
                    .at(format!("this has {found}"))
                    .label(place.size.span, format!("{want} asked for here")),
                );
            }
        }
    }
}

fn literal_extent(e: &Expr, axis: usize) -> Option<i64> {
    match &e.kind {
        ExprKind::Block { result: Some(result), .. } => literal_extent(result, axis),
        ExprKind::Array(parts) if axis == 0 => i64::try_from(parts.len()).ok(),
        ExprKind::Array(parts) => literal_extent(parts.first()?, axis - 1),
        _ => None,
    }
}

fn literal_rank(e: &Expr) -> usize {
    match &e.kind {
        ExprKind::Array(parts) => 1 + parts.first().map_or(0, literal_rank),
        _ => 0,
    }
}
