//! Derivative clauses.
//!
//! In: the clauses after a function's body. Out: the core's rules. Newly true: a rule accumulates into
//! parameters and captured variables only, and mentions each whose type may have a tangent.

use crate::constraints::Deferred;
use crate::context::{Body, Checker, Entry, Want, Why};
use crate::infer::{Signature, later};
use crate::sizes::SizeNames;
use crate::types::T;
use cotan_core::{Expr, ExprKind, LocalFn, LocalFnId, LocalId, Pattern, Program, Rule, Stmt, StmtKind, Ty};
use cotan_source::{Diagnostic, IndexVec, Span};
use cotan_syntax::ast::{self, ClauseKind};
use indexmap::IndexSet;

/// The clause whose code is being checked.
pub struct ClauseState {
    /// Number of frames around, the function's own included.
    pub depth: usize,
    kind: ClauseKind,
    params: Vec<LocalId>,
    linear: Vec<LocalId>,
    mentioned: IndexSet<LocalId>,
    /// In the `with` block: the number of variables bound before.
    backward: Option<u32>,
}

/// What a clause must mention, checked when types are known.
pub struct Mentions {
    /// The local function, or none for a top-level one.
    pub owner: Option<LocalFnId>,
    params: Vec<LocalId>,
    mentioned: IndexSet<LocalId>,
    kind: ClauseKind,
    /// The name of the function.
    of: String,
    span: Span,
}

impl<'a> Checker<'a> {
    /// Checks the clauses of a function whose frame is still there.
    pub fn rules(&mut self, decl: &'a ast::FnDecl, signature: &Signature<'a>, params: &[LocalId]) -> Vec<Rule> {
        let mut rules = Vec::new();
        for (i, clause) in decl.clauses.iter().enumerate() {
            if let Some(first) = decl.clauses[..i].iter().find(|c| c.kind == clause.kind) {
                self.report(
                    Diagnostic::error(
                        "E0503",
                        clause.span,
                        format!("a second `{}` clause of `{}`", word(clause.kind), decl.name.name),
                    )
                    .label(first.span, "the first is here"),
                );
            }
            if clause.kind == ClauseKind::Transpose
                && let Some(other) = decl.clauses.iter().find(|c| c.kind != ClauseKind::Transpose)
            {
                self.report(
                    Diagnostic::error(
                        "E0503",
                        clause.span,
                        format!(
                            "`{}` has a `transpose` and a `{}` clause, and both say how it is differentiated",
                            decl.name.name,
                            word(other.kind)
                        ),
                    )
                    .label(other.span, "the other one is here")
                    .note(
                        "a `transpose` clause gives both modes: the function is linear in the parameters that it names",
                    ),
                );
            }
            rules.extend(self.rule(decl, clause, signature, params));
        }
        rules
    }

    fn rule(
        &mut self,
        decl: &'a ast::FnDecl,
        clause: &'a ast::Clause,
        signature: &Signature<'a>,
        params: &[LocalId],
    ) -> Option<Rule> {
        let mark = self.mark();
        let mut sized = Vec::new();
        for ((p, local), (_, tree, _)) in decl.params.iter().zip(params).zip(&signature.params) {
            match &p.pattern.kind {
                ast::PatternKind::Name { name, .. } if self.unit_variant(name).is_none() => {
                    self.bind_name(&name.name, Entry::Local(*local));
                }
                _ => {
                    self.report(
                        Diagnostic::error(
                            "E0503",
                            p.pattern.span,
                            "a function with a derivative clause names its parameters",
                        )
                        .label(clause.span, "this clause speaks of parameters by name")
                        .hint("give the parameter a name and take it apart by `let`"),
                    );
                }
            }
            sized.push((*local, tree.clone()));
        }
        let linear = self.linear_params(decl, clause, params);
        self.body.clause = Some(ClauseState {
            depth: self.body.frames.len(),
            kind: clause.kind,
            params: params.to_vec(),
            linear,
            mentioned: IndexSet::new(),
            backward: None,
        });
        let mut stmts = self.enter_sizes(&sized, SizeNames::Own);
        let rule = self.clause_code(decl, clause, signature, &mut stmts);
        self.leave(mark);
        let state = self.body.clause.take()?;
        let wanted = match clause.kind {
            ClauseKind::Transpose => state.linear.clone(),
            ClauseKind::Vjp | ClauseKind::Jvp => params.to_vec(),
        };
        self.body.mentions.push(Mentions {
            owner: None,
            params: wanted,
            mentioned: state.mentioned,
            kind: clause.kind,
            of: decl.name.name.clone(),
            span: clause.span,
        });
        rule
    }

    fn linear_params(&mut self, decl: &'a ast::FnDecl, clause: &'a ast::Clause, params: &[LocalId]) -> Vec<LocalId> {
        let mut out = Vec::new();
        for name in &clause.linear {
            let position = decl
                .params
                .iter()
                .position(|p| matches!(&p.pattern.kind, ast::PatternKind::Name { name: n, .. } if n.name == name.name));
            match position {
                Some(i) if out.contains(&params[i]) => {
                    self.error("E0502", name.span, format!("`{}` is named twice", name.name));
                }
                Some(i) => out.push(params[i]),
                None => {
                    let mut d = Diagnostic::error(
                        "E0502",
                        name.span,
                        format!("`{}` has no parameter `{}`", decl.name.name, name.name),
                    );
                    let names = decl.params.iter().filter_map(|p| match &p.pattern.kind {
                        ast::PatternKind::Name { name, .. } => Some(name.name.as_str()),
                        _ => None,
                    });
                    if let Some(close) = crate::names::suggestion(&name.name, names) {
                        d = d.hint(format!("did you mean `{close}`?"));
                    } else if matches!(self.lookup_local(&name.name), Some(Entry::Local(_))) {
                        d = d.note(format!("`{}` is captured; a function is linear in parameters", name.name));
                    }
                    self.report(d);
                }
            }
        }
        if clause.kind == ClauseKind::Transpose && clause.linear.is_empty() {
            self.report(
                Diagnostic::error("E0503", clause.span, "a `transpose` clause names the parameters it is linear in")
                    .hint("write `transpose(v) { .. }`"),
            );
        }
        out
    }

    fn clause_code(
        &mut self,
        decl: &'a ast::FnDecl,
        clause: &'a ast::Clause,
        signature: &Signature<'a>,
        stmts: &mut Vec<Stmt>,
    ) -> Option<Rule> {
        let block = &clause.body;
        let (before, last) = match &block.result {
            Some(result) => (&block.stmts[..], Some(&**result)),
            None => match block.stmts.split_last() {
                Some((ast::Stmt { kind: ast::StmtKind::Expr(e), .. }, before)) => (before, Some(e)),
                _ => (&block.stmts[..], None),
            },
        };
        stmts.extend(self.stmts(before));
        let Some(ast::Expr { kind: ast::ExprKind::ReturnWith { value, with }, span }) = last else {
            let end = last.map_or(block.span, |e| e.span);
            self.report(
                Diagnostic::error(
                    "E0503",
                    end,
                    format!("a `{}` clause ends in `return .. with ..`", word(clause.kind)),
                )
                .hint(match clause.kind {
                    ClauseKind::Vjp => "such as `return y with |dy| { adjoint(x) += dy; };`",
                    ClauseKind::Jvp => "such as `return y with tangent(x);`",
                    ClauseKind::Transpose => "such as `return with |y| { adjoint(v) += y; };`",
                }),
            );
            return None;
        };
        let why = Why::new("the result of the function", block.span);
        let value = value.as_ref().map(|v| {
            let e = self.expr(v, Some((signature.ret, why)));
            if signature.ret_tree.is_none() {
                return e;
            }
            let what = format!("the value of the `{}` clause of `{}`", word(clause.kind), decl.name.name);
            match self.result_sizes(&signature.ret_tree, signature.ret, what, false) {
                Some(sizes) => self.checked(e, &sizes),
                None => e,
            }
        });
        let tangent = self.types.tangent_of(signature.ret, *span);
        let stmts = std::mem::take(stmts);
        match clause.kind {
            ClauseKind::Jvp => {
                if matches!(with.kind, ast::ExprKind::Closure { .. }) {
                    self.report(
                        Diagnostic::error("E0503", with.span, "a `jvp` clause returns a tangent, not a closure")
                            .hint("write the tangent itself: `return y with tangent(x) * slope;`"),
                    );
                    return None;
                }
                let why = Why::new("the tangent of the result", clause.span);
                let tangent = self.expr(with, Some((tangent, why)));
                Some(Rule::Jvp { stmts, value, tangent, span: clause.span })
            }
            ClauseKind::Vjp | ClauseKind::Transpose => {
                let (dy, backward) = self.backward(with, tangent, clause)?;
                if clause.kind == ClauseKind::Transpose {
                    if let Some(value) = &value {
                        self.error(
                            "E0503",
                            value.span,
                            "a `transpose` clause has no value: write `return with |y| { .. }`",
                        );
                    }
                    let linear = self.body.clause.as_ref().map(|c| c.linear.clone()).unwrap_or_default();
                    return Some(Rule::Transpose { linear, forward: stmts, dy, backward, span: clause.span });
                }
                Some(Rule::Vjp { forward: stmts, value, dy, backward, span: clause.span })
            }
        }
    }

    fn backward(&mut self, with: &'a ast::Expr, tangent: T, clause: &'a ast::Clause) -> Option<(Pattern, Expr)> {
        let ast::ExprKind::Closure { params, body, .. } = &with.kind else {
            self.report(
                Diagnostic::error(
                    "E0503",
                    with.span,
                    format!("after `with`, a `{}` clause has a block that is given the cotangent", word(clause.kind)),
                )
                .hint("write `with |dy| { adjoint(x) += ..; }`"),
            );
            return None;
        };
        let start = self.body.locals.len() as u32;
        if let Some(state) = &mut self.body.clause {
            state.backward = Some(start);
        }
        let results = match self.types.node(tangent) {
            crate::types::Node::Tuple(parts) => parts.len(),
            _ => 1,
        };
        if params.len() != 1 && params.len() != results {
            let found = if params.is_empty() { "none".to_string() } else { params.len().to_string() };
            self.report(
                Diagnostic::error(
                    "E0503",
                    with.span,
                    format!(
                        "the `with` block is given one cotangent for {} and has {found}",
                        match results {
                            1 => "the result".to_string(),
                            n => format!("each of the {n} results"),
                        }
                    ),
                )
                .hint("write `with |dy| { .. }`"),
            );
            return None;
        }
        let why = Why::new("the cotangent of the result has this type", clause.span);
        let mut bound = crate::infer::Bound::default();
        let mut types = Vec::new();
        let mut patterns = Vec::new();
        let whole = match self.types.node(tangent).clone() {
            crate::types::Node::Tuple(parts) if params.len() != 1 && parts.len() == params.len() => Some(parts),
            _ => None,
        };
        for (i, p) in params.iter().enumerate() {
            let t = match &whole {
                Some(parts) => parts[i],
                None if params.len() == 1 => tangent,
                None => self.types.fresh(p.pattern.span),
            };
            if let Some(written) = &p.ty {
                let (declared, _) = self.written(written, true);
                self.equate(t, declared, written.span, Some(why));
            }
            patterns.push(self.pattern(&p.pattern, t, why, &mut bound));
            types.push(t);
        }
        let dy = if patterns.len() == 1 {
            patterns.remove(0)
        } else {
            let t = self.types.tuple(types);
            self.equate(tangent, t, with.span, Some(why));
            Pattern { kind: cotan_core::PatternKind::Tuple(patterns), ty: crate::types::hole(t), span: with.span }
        };
        self.body.irrefutable.push((dy.clone(), "the cotangent"));
        self.bind_pattern_names(bound);
        let backward = self.expr(
            body,
            Some((T::UNIT, Why::new("the `with` block has no value: it accumulates by `adjoint(..) +=`", with.span))),
        );
        Some((dy, backward))
    }

    /// `tangent(p)` in a `jvp` clause.
    pub fn tangent_of_call(
        &mut self,
        callee: &'a ast::Expr,
        args: &'a [ast::Expr],
        span: Span,
        want: Want,
    ) -> Option<Expr> {
        if !self.is_word(callee, "tangent") {
            return None;
        }
        let state = self.body.clause.as_ref();
        let depth = self.body.frames.len();
        let ok = state.is_some_and(|c| c.kind == ClauseKind::Jvp && c.depth == depth);
        if !ok {
            let mut d = Diagnostic::error("E0502", span, "`tangent(..)` can stand only in a `jvp` clause");
            if state.is_some_and(|c| c.kind == ClauseKind::Jvp) {
                d = d.note("not inside of a closure").hint("write `let dx = tangent(x);` before the closure");
            }
            self.report(d);
            return Some(self.error_expr(span));
        }
        let [arg] = args else {
            self.error("E0204", span, "`tangent` takes one parameter or captured variable");
            return Some(self.error_expr(span));
        };
        let e = self.tangent_part(arg)?;
        let t = self.type_of(&e);
        Some(self.end(e.kind, t, span, want))
    }

    /// The tangent of a variable or of a part of it.
    fn tangent_part(&mut self, e: &'a ast::Expr) -> Option<Expr> {
        match &e.kind {
            ast::ExprKind::Path(path) if path.len() == 1 => {
                let name = &path[0];
                let local = match self.lookup_local(&name.name) {
                    Some(Entry::Local(local)) => Some(local),
                    _ => None,
                };
                let Some(local) = local.filter(|l| self.is_target(*l)) else {
                    self.not_a_target(name, "tangent", local);
                    return Some(self.error_expr(e.span));
                };
                self.mention(local);
                let t = self.use_local(local, e.span);
                let t = self.types.tangent_of(t, e.span);
                Some(self.make(ExprKind::TangentOf(local), t, e.span))
            }
            ast::ExprKind::Paren(inner) => self.tangent_part(inner),
            ast::ExprKind::Field { base, name } => {
                let base = self.tangent_part(base)?;
                let base_type = self.type_of(&base);
                let result = self.types.fresh(e.span);
                let constraint = Deferred::Field { base: base_type, name: name.name.clone(), result, span: name.span };
                let id = self.types.defer(constraint, &[]);
                self.attempt(id, false);
                Some(self.make(ExprKind::Field { base: Box::new(base), index: later(id) }, result, e.span))
            }
            ast::ExprKind::TupleField { base, index, .. } => {
                let base = self.tangent_part(base)?;
                let base_type = self.type_of(&base);
                let result = self.types.fresh(e.span);
                let id = self
                    .types
                    .defer(Deferred::TupleField { base: base_type, index: *index, result, span: e.span }, &[]);
                self.attempt(id, false);
                Some(self.make(ExprKind::Field { base: Box::new(base), index: later(id) }, result, e.span))
            }
            ast::ExprKind::Index { base, subscripts } => {
                let base = self.tangent_part(base)?;
                let base_type = self.type_of(&base);
                let (subscripts, t) = self.subscripts(base_type, subscripts, base.span, e.span);
                Some(self.make(ExprKind::Index { base: Box::new(base), subscripts }, t, e.span))
            }
            _ => {
                self.error("E0502", e.span, "`tangent` is of a parameter or captured variable, or of a part of one");
                Some(self.error_expr(e.span))
            }
        }
    }

    fn is_word(&self, callee: &ast::Expr, word: &str) -> bool {
        match &callee.kind {
            ast::ExprKind::Path(path) if path.len() == 1 && path[0].name == word => {
                self.lookup_local(word).is_none() && self.world.value(self.body.module, word).is_empty()
            }
            _ => false,
        }
    }

    /// Whether a variable is a parameter of the function, or captured by it.
    fn is_target(&self, local: LocalId) -> bool {
        self.body
            .clause
            .as_ref()
            .is_some_and(|c| c.params.contains(&local) || self.body.depths[local.0 as usize] < c.depth)
    }

    fn mention(&mut self, local: LocalId) {
        if let Some(state) = &mut self.body.clause {
            state.mentioned.insert(local);
        }
    }

    fn not_a_target(&mut self, name: &'a ast::Ident, word: &str, local: Option<LocalId>) {
        let mut d = Diagnostic::error(
            "E0502",
            name.span,
            format!("`{word}` is of a parameter or a captured variable, and `{}` is neither", name.name),
        );
        if let Some(state) = &self.body.clause {
            let names: Vec<&str> = state.params.iter().map(|l| self.body.locals[*l].name.as_str()).collect();
            if let Some(close) = crate::names::suggestion(&name.name, names.iter().copied()) {
                d = d.hint(format!("did you mean `{close}`?"));
            }
        }
        if let Some(local) = local {
            d = self.hidden_parameter(d, local, &name.name);
        }
        if matches!(self.lookup_local(&name.name), Some(Entry::LocalFn(_))) {
            d = d.note(format!(
                "what flows into the function `{}` belongs to the variables that it captures",
                name.name
            ));
        }
        self.report(d);
    }

    /// What `adjoint(p)` stands for as a place: `p` itself.
    pub fn adjoint_argument(&self, place: &'a ast::Expr) -> Option<&'a ast::Expr> {
        match &place.kind {
            ast::ExprKind::Call { callee, args } if args.len() == 1 && self.is_word(callee, "adjoint") => args.first(),
            _ => None,
        }
    }

    /// `adjoint(p) += e;`: outer `None` if it is not one, inner `None` if it yields no statement.
    pub fn adjoint_stmt(
        &mut self,
        place: &'a ast::Expr,
        op: Option<ast::BinaryOp>,
        value: &'a ast::Expr,
        span: Span,
    ) -> Option<Option<StmtKind>> {
        self.adjoint_root_call(place)?;
        let depth = self.body.frames.len();
        let state = self.body.clause.as_ref();
        let ok = state.is_some_and(|c| c.backward.is_some() && c.depth == depth);
        if !ok {
            let mut d = Diagnostic::error(
                "E0502",
                place.span,
                "`adjoint(..)` can stand only in the `with` block of a `vjp` or `transpose` clause",
            );
            if state.is_some_and(|c| c.backward.is_some()) {
                d = d.note("not inside of a closure").hint("use a loop");
            }
            self.report(d);
            self.expr(value, None);
            return Some(None);
        }
        if op != Some(ast::BinaryOp::Add) {
            self.report(
                Diagnostic::error("E0502", span, "an adjoint is accumulated by `+=`, and changed by nothing else")
                    .note("a variable that is used several times gets the sum of what flows into it"),
            );
        }
        let Some((local, path, t)) = self.adjoint_place(place) else {
            self.expr(value, None);
            return Some(None);
        };
        let allowed = self.is_target(local)
            && self.body.clause.as_ref().is_none_or(|c| c.kind != ClauseKind::Transpose || c.linear.contains(&local));
        if !allowed {
            let name = self.body.locals[local].name.clone();
            let transpose = self.body.clause.as_ref().is_some_and(|c| c.kind == ClauseKind::Transpose);
            let what =
                if transpose { "a linear parameter of this clause" } else { "a parameter or a captured variable" };
            let d = Diagnostic::error("E0502", place.span, format!("`{name}` is not {what}"));
            let d = self.hidden_parameter(d, local, &name);
            self.report(d);
            self.expr(value, None);
            return Some(None);
        }
        self.note_capture(local);
        self.mention(local);
        if is_zero(value) {
            return Some(None);
        }
        let tangent = self.types.tangent_of(t, place.span);
        let value = self.expr(value, Some((tangent, Why::new("the tangent of what is accumulated into", place.span))));
        Some(Some(StmtKind::Adjoint { local, path, value }))
    }

    /// Says that a variable hides a parameter or captured variable, if it does.
    fn hidden_parameter(&self, d: Diagnostic, local: LocalId, name: &str) -> Diagnostic {
        let Some(state) = &self.body.clause else { return d };
        if state.params.contains(&local) {
            return d;
        }
        let same = |l: &LocalId| *l != local && self.body.locals[*l].name == name;
        let outer = |l: &LocalId| self.body.depths[l.0 as usize] < state.depth;
        let what = if state.params.iter().any(same) {
            "parameter"
        } else if self.body.locals.indices().any(|l| same(&l) && outer(&l)) {
            "captured variable"
        } else {
            return d;
        };
        d.label(self.body.locals[local].span, format!("this `{name}` hides the {what}"))
    }

    /// The place that an adjoint is of; whatever is wrong with it is reported.
    fn adjoint_place(&mut self, place: &'a ast::Expr) -> Option<(LocalId, Vec<cotan_core::PlaceStep>, T)> {
        let inner = self.adjoint_root_call(place);
        match inner {
            Some((args, span)) if args.len() != 1 => {
                self.error("E0502", span, "`adjoint` is of one parameter or captured variable, or of a part of one");
                return None;
            }
            Some((args, _)) if !is_place(&args[0]) => {
                self.report(
                    Diagnostic::error(
                        "E0502",
                        args[0].span,
                        "`adjoint` is of a parameter or captured variable, or of a part of one",
                    )
                    .at("this is a value that was computed"),
                );
                return None;
            }
            _ => {}
        }
        if let Some(name) = inner.and_then(|(args, _)| root_name(&args[0]))
            && !matches!(self.lookup_local(&name.name), Some(Entry::Local(_)))
        {
            self.not_a_target(name, "adjoint", None);
            return None;
        }
        self.place(place)
    }

    /// The arguments of the `adjoint(..)` at the root of a place.
    fn adjoint_root_call(&self, place: &'a ast::Expr) -> Option<(&'a [ast::Expr], Span)> {
        match &place.kind {
            ast::ExprKind::Call { callee, args } if self.is_word(callee, "adjoint") => Some((args, place.span)),
            ast::ExprKind::Paren(base)
            | ast::ExprKind::Field { base, .. }
            | ast::ExprKind::TupleField { base, .. }
            | ast::ExprKind::Index { base, .. } => self.adjoint_root_call(base),
            _ => None,
        }
    }

    /// In a `with` block, a name must not hide a parameter that `adjoint` may speak of.
    pub fn refuse_shadowing(&mut self, name: &'a ast::Ident) {
        let Some(state) = &self.body.clause else { return };
        if state.backward.is_none() {
            return;
        }
        if let Some(hidden) = state.params.iter().find(|l| self.body.locals[**l].name == name.name) {
            let span = self.body.locals[*hidden].span;
            self.report(
                Diagnostic::error("E0505", name.span, format!("`{}` hides a parameter in the `with` block", name.name))
                    .label(span, "the parameter")
                    .note("there, `adjoint(..)` speaks of parameters by their names"),
            );
        }
    }

    /// Whether an assignment in a `with` block would change what was bound before it.
    pub fn is_forward_variable(&self, local: LocalId) -> bool {
        self.body.clause.as_ref().is_some_and(|c| c.backward.is_some_and(|start| local.0 < start))
    }

    /// Refuses the value of a linear parameter in a `transpose` clause.
    pub fn refuse_linear_value(&mut self, local: LocalId, span: Span) {
        let linear = self.body.clause.as_ref().is_some_and(|c| c.linear.contains(&local));
        if linear {
            let name = self.body.locals[local].name.clone();
            self.report(
                Diagnostic::error("E0506", span, format!("the value of `{name}` is not known in its transpose"))
                    .note("a linear function's transpose depends on the other parameters only"),
            );
        }
    }

    /// Reports what the clauses of a finished body fail to mention.
    pub fn check_mentions(&mut self, body: &mut Body<'a>, local_fns: &IndexVec<LocalFnId, LocalFn>) {
        for m in std::mem::take(&mut body.mentions) {
            let captures = match m.owner {
                Some(id) if m.kind != ClauseKind::Transpose => local_fns[id].captures.clone(),
                _ => Vec::new(),
            };
            let missing: Vec<String> = m
                .params
                .iter()
                .chain(&captures)
                .filter(|l| {
                    !m.mentioned.contains(*l) && has_tangent(&self.program, &body.locals[**l].ty, &mut Vec::new())
                })
                .map(|l| body.locals[*l].name.clone())
                .collect();
            if missing.is_empty() {
                continue;
            }
            let names: Vec<&str> = missing.iter().map(String::as_str).collect();
            let first = names[0];
            let hint = match m.kind {
                ClauseKind::Jvp => format!("if nothing flows from it on purpose, write `let _ = tangent({first});`"),
                ClauseKind::Vjp | ClauseKind::Transpose => {
                    format!("if nothing flows into it on purpose, write `adjoint({first}) += 0;`")
                }
            };
            self.report(
                Diagnostic::error(
                    "E0501",
                    m.span,
                    format!(
                        "the `{}` clause of `{}` does not mention {}",
                        word(m.kind),
                        m.of,
                        crate::constraints::quoted(&names)
                    ),
                )
                .at("every parameter and captured variable that may have a derivative must be mentioned")
                .hint(hint),
            );
        }
    }
}

/// Whether an expression is a variable or a part of one.
fn is_place(e: &ast::Expr) -> bool {
    root_name(e).is_some()
}

/// The variable that a place is a part of.
fn root_name(e: &ast::Expr) -> Option<&ast::Ident> {
    match &e.kind {
        ast::ExprKind::Path(path) if path.len() == 1 => path.first(),
        ast::ExprKind::Paren(base)
        | ast::ExprKind::Field { base, .. }
        | ast::ExprKind::TupleField { base, .. }
        | ast::ExprKind::Index { base, .. } => root_name(base),
        _ => None,
    }
}

fn word(kind: ClauseKind) -> &'static str {
    match kind {
        ClauseKind::Vjp => "vjp",
        ClauseKind::Jvp => "jvp",
        ClauseKind::Transpose => "transpose",
    }
}

fn is_zero(e: &ast::Expr) -> bool {
    match &e.kind {
        ast::ExprKind::Int(text) => text == "0",
        ast::ExprKind::Paren(inner) => is_zero(inner),
        _ => false,
    }
}

/// Whether a type may hold a float or a function.
fn has_tangent(program: &Program, ty: &Ty, seen: &mut Vec<cotan_core::AdtId>) -> bool {
    match ty {
        Ty::Float | Ty::Float32 | Ty::Fn(..) | Ty::Param(_) | Ty::Tangent(_) => true,
        Ty::Int | Ty::Bool | Ty::Str => false,
        Ty::Tuple(parts) => parts.iter().any(|p| has_tangent(program, p, seen)),
        Ty::Array(elem) => has_tangent(program, elem, seen),
        Ty::Adt(id, args) => {
            if seen.contains(id) {
                return false;
            }
            seen.push(*id);
            let adt = &program.adts[*id];
            adt.variants.iter().flat_map(|v| &v.fields).any(|f| match &f.ty {
                Ty::Param(p) => {
                    let arg = adt.generics.iter().position(|g| g.id == *p).and_then(|i| args.get(i));
                    arg.is_none_or(|a| has_tangent(program, a, seen))
                }
                other => {
                    let filled = other.substitute(program, &|p| {
                        adt.generics.iter().position(|g| g.id == p).and_then(|i| args.get(i).cloned())
                    });
                    has_tangent(program, &filled, seen)
                }
            })
        }
    }
}
