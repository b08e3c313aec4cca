//! Blocks and statements.
//!
//! In: statements of a block. Out: statements of the core. Newly true: only `mut` variables are assigned; a
//! closure that is bound by `let` may be generic; local functions side by side see each other.

use crate::constraints::Deferred;
use crate::context::{Checker, Entry, LocalFnState, Scheme, Want, Why};
use crate::infer::pattern::Bound;
use crate::infer::{core_op, later};
use crate::sizes::SizeTree;
use crate::types::{Node, T, hole};
use cotan_core::{BinaryOp, Expr, ExprKind, LocalFn, LocalId, Pattern, PatternKind, PlaceStep, Stmt, StmtKind};
use cotan_source::{Diagnostic, Span};
use cotan_syntax::ast;

impl<'a> Checker<'a> {
    pub fn block(&mut self, block: &'a ast::Block, want: Want) -> Expr {
        let mark = self.mark();
        let types_mark = self.body.type_names.len();
        let before = std::mem::replace(&mut self.diverges, false);
        let mut stmts = self.stmts(&block.stmts);
        let span = block.span;
        let e = match &block.result {
            Some(result) => {
                let result = self.expr(result, want);
                let t = self.type_of(&result);
                self.make(ExprKind::Block { stmts, result: Some(Box::new(result)) }, t, span)
            }
            None if self.diverges && matches!(stmts.last().map(|s| &s.kind), Some(StmtKind::Expr(_))) => {
                // The last statement never yields: it stands for a value of any type.
                match stmts.pop().map(|s| s.kind) {
                    Some(StmtKind::Expr(last)) => {
                        let t = self.type_of(&last);
                        self.end(ExprKind::Block { stmts, result: Some(Box::new(last)) }, t, span, want)
                    }
                    _ => self.error_expr(span),
                }
            }
            None => {
                if let Some((wanted, why)) = want {
                    self.empty_block(block, wanted, why);
                }
                self.make(ExprKind::Block { stmts, result: None }, T::UNIT, span)
            }
        };
        self.diverges |= before;
        self.leave(mark);
        self.body.type_names.truncate(types_mark);
        e
    }

    fn empty_block(&mut self, block: &'a ast::Block, wanted: T, why: Why) {
        let place = match block.stmts.last() {
            Some(last) => last.span,
            None => block.span,
        };
        self.equate(wanted, T::UNIT, place, Some(why));
    }

    pub fn stmts(&mut self, list: &'a [ast::Stmt]) -> Vec<Stmt> {
        let mut out = Vec::with_capacity(list.len());
        let mut i = 0;
        while i < list.len() {
            if let ast::StmtKind::Fn(_) = &list[i].kind {
                let start = i;
                while i < list.len() && matches!(list[i].kind, ast::StmtKind::Fn(_)) {
                    i += 1;
                }
                self.local_functions(&list[start..i], &mut out);
                continue;
            }
            self.stmt(&list[i], &mut out);
            i += 1;
        }
        out
    }

    fn stmt(&mut self, stmt: &'a ast::Stmt, out: &mut Vec<Stmt>) {
        let span = stmt.span;
        let kind = match &stmt.kind {
            ast::StmtKind::Let { pattern, ty, value } => self.let_stmt(pattern, ty.as_ref(), value),
            ast::StmtKind::Assign { place, op, value } => match self.assign(place, *op, value, span) {
                Some(kind) => kind,
                None => return,
            },
            ast::StmtKind::Expr(e) => StmtKind::Expr(self.expr(e, None)),
            ast::StmtKind::For { pattern, iter, body } => {
                let (iter_core, t) = self.iter(iter);
                let mark = self.mark();
                let mut bound = Bound::default();
                let pattern = self.pattern(pattern, t, Why::new("what is walked", iter.span), &mut bound);
                self.body.irrefutable.push((pattern.clone(), "a `for` loop"));
                self.bind_pattern_names(bound);
                let body = self.loop_body(body);
                self.leave(mark);
                StmtKind::For { pattern, iter: iter_core, body }
            }
            ast::StmtKind::While { cond, body } => {
                let cond = self.condition(cond);
                let body = self.loop_body(body);
                StmtKind::While { cond, body }
            }
            ast::StmtKind::Fn(_) | ast::StmtKind::Error => return,
        };
        self.refuse_large_types(span);
        out.push(Stmt { kind, span });
    }

    /// Reports a type that has grown beyond what can be worked with.
    pub fn refuse_large_types(&mut self, span: Span) {
        if std::mem::take(&mut self.types.too_large) {
            self.report(
                Diagnostic::error("E0601", span, "a type here is too large")
                    .note("it has more than 20000 parts; repeated pairing doubles a type at each step")
                    .hint("use an array or a recursive enum"),
            );
        }
    }

    fn loop_body(&mut self, body: &'a ast::Block) -> Expr {
        if let Some(frame) = self.body.frames.last_mut() {
            frame.loops.push(true);
        }
        let before = self.diverges;
        let body = self.block(body, Some((T::UNIT, Why::new("the body of a loop has no value", body.span))));
        self.diverges = before;
        if let Some(frame) = self.body.frames.last_mut() {
            frame.loops.pop();
        }
        body
    }

    fn let_stmt(&mut self, pattern: &'a ast::Pattern, ty: Option<&'a ast::TypeExpr>, value: &'a ast::Expr) -> StmtKind {
        let plain_name = match &pattern.kind {
            ast::PatternKind::Name { mutable: false, name } if self.unit_variant(name).is_none() => Some(name),
            _ => None,
        };
        let mut closure = value;
        while let ast::ExprKind::Paren(inner) = &closure.kind {
            closure = inner;
        }
        if let (Some(name), None, ast::ExprKind::Closure { params, ret, body }) = (plain_name, ty, &closure.kind) {
            return self.let_closure(name, params, ret.as_ref(), body, closure.span, pattern.span);
        }
        let mut tree = SizeTree::None;
        let value = match ty {
            Some(written) => {
                let (t, sizes) = self.written(written, true);
                tree = sizes;
                self.closure_name = plain_name.map(|n| n.name.as_str());
                let e = self.expr(value, Some((t, Why::new("declared with this type here", written.span))));
                self.closure_name = None;
                e
            }
            None => self.expr(value, None),
        };
        let t = self.type_of(&value);
        let value = self.let_sizes(value, &tree, t, pattern);
        let mut bound = Bound::default();
        let pattern = self.pattern(pattern, t, Why::new("the value has this type", value.span), &mut bound);
        if !matches!(pattern.kind, PatternKind::Bind(_)) {
            self.body.irrefutable.push((pattern.clone(), "a `let`"));
        }
        self.bind_pattern_names(bound);
        StmtKind::Let { pattern, value }
    }

    fn let_sizes(&mut self, value: Expr, tree: &SizeTree<'a>, t: T, pattern: &'a ast::Pattern) -> Expr {
        if tree.is_none() {
            return value;
        }
        let what = match &pattern.kind {
            ast::PatternKind::Name { name, .. } => format!("`{}`", name.name),
            _ => "the value".to_string(),
        };
        match self.result_sizes(tree, t, what, true) {
            Some(sizes) => self.checked(value, &sizes),
            None => value,
        }
    }

    /// `let f = |x| e;`: generic if its type leaves something open that nothing around decides.
    fn let_closure(
        &mut self,
        name: &'a ast::Ident,
        params: &'a [ast::Param],
        ret: Option<&'a ast::TypeExpr>,
        body: &'a ast::Expr,
        closure_span: Span,
        pattern_span: Span,
    ) -> StmtKind {
        self.types.level += 1;
        let constraints = self.types.deferred.len() as u32;
        let (closure, t) = self.closure(&name.name, params, ret, body, closure_span, None);
        let generics = self.generalize(&[t], constraints, false);
        self.types.level -= 1;
        self.refuse_shadowing(name);
        if generics.is_empty() {
            let value = self.make(ExprKind::Closure(Box::new(closure)), t, closure_span);
            let local = self.new_local(&name.name, t, false, name.span);
            self.bind_name(&name.name, Entry::Local(local));
            let pattern = Pattern { kind: PatternKind::Bind(local), ty: hole(t), span: pattern_span };
            return StmtKind::Let { pattern, value };
        }
        let ret = match self.types.node(t) {
            Node::Fn(_, ret, _) => *ret,
            _ => T::ERROR,
        };
        let note = self.notes.len() - 1;
        let note = self.note_of(t).unwrap_or(note);
        let id = self.body.local_fns.push(LocalFn {
            name: name.name.clone(),
            generics: self.generic_params(&generics),
            captures: Vec::new(),
            params: closure.params,
            ret: hole(ret),
            body: closure.body,
            rules: Vec::new(),
            maker: note as u32,
            span: name.span,
        });
        let depth = self.body.frames.len();
        let scheme = Scheme { params: generics, ty: t, origins: true };
        self.body.local_fn_states.push(LocalFnState { scheme, depth, note });
        self.bind_name(&name.name, Entry::LocalFn(id));
        StmtKind::LocalFn(id)
    }

    /// Who makes function values of this type, if it is one.
    pub fn note_of(&self, t: T) -> Option<usize> {
        match self.types.node(self.types.resolve(t)) {
            Node::Fn(_, _, origin) => match self.types.origins[self.types.origin(*origin).0 as usize] {
                crate::types::OriginState::Known(crate::types::Maker::Inner(note)) => Some(note),
                _ => None,
            },
            _ => None,
        }
    }

    /// The variable and the path that are assigned, with the type of the place.
    pub fn place(&mut self, place: &'a ast::Expr) -> Option<(LocalId, Vec<PlaceStep>, T)> {
        if let Some(inner) = self.adjoint_argument(place) {
            return self.place(inner);
        }
        match &place.kind {
            ast::ExprKind::Path(path) if path.len() == 1 => {
                let name = &path[0];
                match self.lookup_local(&name.name) {
                    Some(Entry::Local(local)) => Some((local, Vec::new(), self.local_type(local))),
                    Some(Entry::LocalFn(_)) => {
                        self.error("E0306", place.span, format!("the function `{}` cannot be assigned", name.name));
                        None
                    }
                    None => {
                        if self.world.value(self.body.module, &name.name).is_empty() {
                            self.unknown_value(path, place.span);
                        } else {
                            self.error(
                                "E0306",
                                place.span,
                                format!("`{}` is not a local variable, so it cannot be assigned", name.name),
                            );
                        }
                        None
                    }
                }
            }
            ast::ExprKind::Paren(inner) => self.place(inner),
            ast::ExprKind::Field { base, name } => {
                let (local, mut path, t) = self.place(base)?;
                let result = self.types.fresh(place.span);
                let constraint = Deferred::Field { base: t, name: name.name.clone(), result, span: name.span };
                let id = self.types.defer(constraint, &[]);
                self.attempt(id, false);
                self.solve_ready();
                path.push(PlaceStep::Field(later(id)));
                Some((local, path, result))
            }
            ast::ExprKind::TupleField { base, index, .. } => {
                let (local, mut path, t) = self.place(base)?;
                let result = self.types.fresh(place.span);
                let constraint = Deferred::TupleField { base: t, index: *index, result, span: place.span };
                let id = self.types.defer(constraint, &[]);
                self.attempt(id, false);
                self.solve_ready();
                path.push(PlaceStep::Field(later(id)));
                Some((local, path, result))
            }
            ast::ExprKind::Index { base, subscripts } => {
                let (local, mut path, t) = self.place(base)?;
                let (list, result) = self.subscripts(t, subscripts, base.span, place.span);
                path.push(PlaceStep::Index(list));
                Some((local, path, result))
            }
            // The parser has refused everything else.
            _ => None,
        }
    }

    fn assign(
        &mut self,
        place: &'a ast::Expr,
        op: Option<ast::BinaryOp>,
        value: &'a ast::Expr,
        span: Span,
    ) -> Option<StmtKind> {
        if let Some(kind) = self.adjoint_stmt(place, op, value, span) {
            return kind;
        }
        let Some((local, path, t)) = self.place(place) else {
            self.expr(value, None);
            return None;
        };
        self.check_assignable(local, place.span);
        let op = op.map(core_op);
        let value = match op {
            None => self.expr(value, Some((t, Why::new("the type of what is assigned", place.span)))),
            Some(op) => {
                let value = self.expr(value, None);
                let found = self.type_of(&value);
                let result = match op {
                    BinaryOp::And | BinaryOp::Or => T::BOOL,
                    _ => self.binary_type(op, t, found, (span, place.span, value.span)),
                };
                self.solve_ready();
                self.equate(t, result, span, Some(Why::new("the type of what is assigned", place.span)));
                value
            }
        };
        Some(StmtKind::Assign { local, path, op, value })
    }

    fn check_assignable(&mut self, local: LocalId, span: Span) {
        let variable = self.body.locals[local].clone();
        let depth = self.body.depths[local.0 as usize];
        if !variable.mutable {
            self.report(
                Diagnostic::error("E0306", span, format!("`{}` is not `mut`, so it cannot be assigned", variable.name))
                    .label(variable.span, "bound here")
                    .hint(format!(
                        "write `let mut {}` where it is bound; of a parameter `p`, `let mut p = p;`",
                        variable.name
                    )),
            );
        } else if depth < self.body.frames.len() {
            self.report(
                Diagnostic::error(
                    "E0307",
                    span,
                    format!("a closure cannot assign the variable `{}` around it", variable.name),
                )
                .label(variable.span, "declared as `mut` here")
                .note("closures capture by value")
                .hint("return the new value instead, or use a loop"),
            );
        } else if self.is_forward_variable(local) {
            self.report(
                Diagnostic::error("E0307", span, format!("a `with` block cannot assign `{}`", variable.name))
                    .label(variable.span, "declared as `mut` before the block")
                    .note("the block may run several times, or never")
                    .hint("use a variable of its own"),
            );
        } else if self.body.frames.last().is_some_and(|f| f.loops.contains(&false))
            && self.bound_outside_comprehension(local)
        {
            self.report(
                Diagnostic::error("E0307", span, format!("a comprehension cannot assign `{}`", variable.name))
                    .label(variable.span, "declared as `mut` here")
                    .note("the elements of a comprehension have no order: they may be computed in parallel")
                    .hint("use a `for` loop"),
            );
        }
    }

    fn bound_outside_comprehension(&self, local: LocalId) -> bool {
        self.body.comprehension_starts.last().is_some_and(|start| local.0 < *start)
    }

    /// Local functions that stand side by side.
    fn local_functions(&mut self, list: &'a [ast::Stmt], out: &mut Vec<Stmt>) {
        self.types.level += 1;
        let constraints = self.types.deferred.len() as u32;
        let mut group = Vec::new();
        for stmt in list {
            let ast::StmtKind::Fn(decl) = &stmt.kind else { continue };
            self.refuse_shadowing(&decl.name);
            let signature = self.signature(decl);
            let note = self.new_note(&decl.name.name);
            let id = self.body.local_fns.push(LocalFn {
                name: decl.name.name.clone(),
                generics: Vec::new(),
                captures: Vec::new(),
                params: Vec::new(),
                ret: hole(signature.ret),
                body: self.unit_expr(stmt.span),
                rules: Vec::new(),
                maker: note as u32,
                span: decl.name.span,
            });
            let arg_types = signature.params.iter().map(|p| p.0).collect();
            let arg = self.types.argument(arg_types);
            let t = self.types.made_function(arg, signature.ret, crate::types::Maker::Inner(note));
            let scheme = if signature.annotated {
                Scheme { params: signature.generics.clone(), ty: t, origins: false }
            } else {
                Scheme::mono(t)
            };
            let depth = self.body.frames.len();
            self.body.local_fn_states.push(LocalFnState { scheme, depth, note });
            if group.iter().any(|(_, d, ..): &(_, &ast::FnDecl, _, _)| d.name.name == decl.name.name) {
                self.error("E0103", decl.name.span, format!("`{}` is declared twice", decl.name.name));
            }
            self.bind_name(&decl.name.name, Entry::LocalFn(id));
            group.push((id, &**decl, signature, t));
        }
        for (id, decl, signature, _) in &group {
            let mentions = self.body.mentions.len();
            let note = self.body.local_fn_states[id.0 as usize].note;
            let (params, body, rules) = self.function_code(decl, signature, crate::context::FrameKind::LocalFn, note);
            for m in &mut self.body.mentions[mentions..] {
                m.owner.get_or_insert(*id);
            }
            let local_fn = &mut self.body.local_fns[*id];
            local_fn.params = params;
            local_fn.body = body;
            local_fn.rules = rules;
        }
        let types: Vec<T> = group.iter().map(|(.., t)| *t).collect();
        let fresh = self.generalize(&types, constraints, false);
        self.types.level -= 1;
        // A group that calls itself shares its parameters.
        let mut open: Vec<cotan_core::ParamId> = Vec::new();
        for (_, _, signature, _) in group.iter().filter(|(_, _, s, _)| !s.annotated) {
            open.extend(&signature.generics);
        }
        open.extend(&fresh);
        for (id, _, signature, t) in &group {
            let params = if signature.annotated { signature.generics.clone() } else { open.clone() };
            self.body.local_fns[*id].generics = self.generic_params(&params);
            self.body.local_fn_states[id.0 as usize].scheme = Scheme { params, ty: *t, origins: true };
            out.push(Stmt { kind: StmtKind::LocalFn(*id), span: self.body.local_fns[*id].span });
        }
    }
}
