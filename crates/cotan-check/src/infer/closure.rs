//! Closures.
//!
//! In: parameters and a body. Out: a closure of the core, whose captures are filled in later. Newly true: its
//! type carries its origin.

use crate::context::{Checker, Frame, FrameKind, Want, Why};
use crate::sizes::{SizeNames, SizeTree};
use crate::types::{Maker, Node, T};
use cotan_core::{Closure, Expr, ExprKind, LocalId, Stmt};
use cotan_source::Span;
use cotan_syntax::ast;

impl<'a> Checker<'a> {
    pub fn closure_expr(
        &mut self,
        params: &'a [ast::Param],
        ret: Option<&'a ast::TypeExpr>,
        body: &'a ast::Expr,
        span: Span,
        want: Want,
    ) -> Expr {
        let name = self.closure_name.take().unwrap_or("closure");
        let (closure, t) = self.closure(name, params, ret, body, span, want);
        self.end(ExprKind::Closure(Box::new(closure)), t, span, want)
    }

    /// A closure and its type.
    pub fn closure(
        &mut self,
        name: &str,
        params: &'a [ast::Param],
        ret: Option<&'a ast::TypeExpr>,
        body: &'a ast::Expr,
        span: Span,
        want: Want,
    ) -> (Closure, T) {
        let note = self.new_note(name);
        let expected = match want.map(|(t, _)| self.types.node(t).clone()) {
            Some(Node::Fn(arg, ret, _)) => Some((arg, ret)),
            _ => None,
        };
        let result = self.types.fresh(body.span);
        let mut ret_why = Why::new("the result of this closure", span);
        let mut ret_tree = SizeTree::None;
        if let Some(ret) = ret {
            let (t, tree) = self.written(ret, true);
            self.equate(result, t, ret.span, None);
            ret_tree = tree;
            ret_why = Why::new("declared as the result here", ret.span);
        } else if let Some((_, r)) = expected {
            self.equate(result, r, span, None);
            if let Some((_, why)) = want {
                ret_why = why;
            }
        }
        let mark = self.mark();
        self.body.frames.push(Frame {
            kind: FrameKind::Closure,
            ret: result,
            ret_why,
            loops: Vec::new(),
            note,
            result_sizes: None,
        });
        let expected_parts = match expected.map(|(arg, _)| self.types.node(arg).clone()) {
            Some(Node::Tuple(parts)) if params.len() != 1 && parts.len() == params.len() => parts.to_vec(),
            Some(_) if params.len() == 1 => expected.map(|(arg, _)| vec![arg]).unwrap_or_default(),
            _ => Vec::new(),
        };
        let (locals, types, mut stmts) = self.parameters(params, &expected_parts, SizeNames::Around);
        if !ret_tree.is_none() {
            let sizes = self.result_sizes(&ret_tree, result, format!("the result of `{name}`"), false);
            if let Some(frame) = self.body.frames.last_mut() {
                frame.result_sizes = sizes;
            }
        }
        let outer = std::mem::replace(&mut self.diverges, false);
        let mut value = self.expr(body, Some((result, ret_why)));
        self.diverges = outer;
        let sizes = self.body.frames.last().and_then(|f| f.result_sizes.clone());
        if let Some(sizes) = sizes {
            value = self.checked(value, &sizes);
        }
        self.body.frames.pop();
        self.leave(mark);
        let arg = self.types.argument(types);
        let t = self.types.made_function(arg, result, Maker::Inner(note));
        let body = self.with_stmts(std::mem::take(&mut stmts), value);
        let maker = note as u32;
        (Closure { captures: Vec::new(), params: locals, body, name: name.to_string(), maker }, t)
    }

    /// Puts statements before a value.
    pub fn with_stmts(&mut self, stmts: Vec<Stmt>, value: Expr) -> Expr {
        if stmts.is_empty() {
            return value;
        }
        let t = self.type_of(&value);
        let span = value.span;
        self.make(ExprKind::Block { stmts, result: Some(Box::new(value)) }, t, span)
    }

    /// Binds parameters: their variables, types, and the statements at the start of the body that take
    /// patterns apart and deal with sizes.
    pub fn parameters(
        &mut self,
        params: &'a [ast::Param],
        expected: &[T],
        names: SizeNames,
    ) -> (Vec<LocalId>, Vec<T>, Vec<Stmt>) {
        let mut typed = Vec::new();
        for (i, p) in params.iter().enumerate() {
            let t = expected.get(i).copied().unwrap_or_else(|| self.types.fresh(p.pattern.span));
            let mut tree = SizeTree::None;
            if let Some(written) = &p.ty {
                let (declared, sizes) = self.written(written, true);
                self.equate(t, declared, written.span, None);
                tree = sizes;
            }
            typed.push((t, tree));
        }
        self.bind_parameters(params, typed, names)
    }

    /// Like [`Checker::parameters`], with the types known already.
    pub fn bind_parameters(
        &mut self,
        params: &'a [ast::Param],
        typed: Vec<(T, SizeTree<'a>)>,
        names: SizeNames,
    ) -> (Vec<LocalId>, Vec<T>, Vec<Stmt>) {
        let mut locals = Vec::new();
        let mut types = Vec::new();
        let mut sized = Vec::new();
        let mut stmts = Vec::new();
        let mut bound = crate::infer::pattern::Bound::default();
        for (p, (t, tree)) in params.iter().zip(typed) {
            let local = self.parameter(p, t, &mut bound, &mut stmts);
            locals.push(local);
            types.push(t);
            sized.push((local, tree));
        }
        self.bind_pattern_names(bound);
        let mut all = self.enter_sizes(&sized, names);
        all.append(&mut stmts);
        (locals, types, all)
    }

    fn parameter(
        &mut self,
        p: &'a ast::Param,
        t: T,
        bound: &mut crate::infer::pattern::Bound<'a>,
        stmts: &mut Vec<Stmt>,
    ) -> LocalId {
        let span = p.pattern.span;
        if let ast::PatternKind::Name { mutable: false, name } = &p.pattern.kind
            && self.unit_variant(name).is_none()
        {
            return self.bind_one(name, false, t, bound);
        }
        let local = self.new_local("argument", t, false, span);
        let pattern = self.pattern(&p.pattern, t, Why::new("the parameter", span), bound);
        self.body.irrefutable.push((pattern.clone(), "a parameter"));
        let value = self.make(ExprKind::Local(local), t, span);
        stmts.push(Stmt { kind: cotan_core::StmtKind::Let { pattern, value }, span });
        local
    }
}
