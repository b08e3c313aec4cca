//! Functions: signatures, bodies, generalisation.
//!
//! In: declarations. Out: parameters, code and rules of the core; generic parameters. Newly true: what a
//! function's type leaves open is a generic parameter, and nothing inside is left to decide.

use crate::context::{Checker, Frame, FrameKind, Why};
use crate::sizes::{SizeNames, SizeTree};
use crate::types::{Bits, Literal, Node, OriginState, T};
use cotan_core::{Constraint, Expr, GenericParam, LocalId, ParamId, Rule};
use cotan_syntax::ast;

/// The meaning of a function's head.
#[derive(Clone)]
pub struct Signature<'a> {
    pub generics: Vec<ParamId>,
    pub names: Vec<(&'a str, T)>,
    /// Type, sizes and name of each parameter.
    pub params: Vec<(T, SizeTree<'a>, String)>,
    pub ret: T,
    pub ret_tree: SizeTree<'a>,
    /// Whether everything is written, so that recursion may be polymorphic.
    pub annotated: bool,
}

fn complete(ty: &ast::TypeExpr) -> bool {
    match &ty.kind {
        ast::TypeExprKind::Path { args, .. } => args.iter().all(complete),
        ast::TypeExprKind::Tuple(parts) => parts.iter().all(complete),
        ast::TypeExprKind::Array { elem, .. } => complete(elem),
        ast::TypeExprKind::Fn { params, ret } => params.iter().all(complete) && complete(ret),
        ast::TypeExprKind::Infer | ast::TypeExprKind::Error => false,
    }
}

impl<'a> Checker<'a> {
    /// Reads a head. Its generic parameters belong to the present level.
    pub fn signature(&mut self, decl: &'a ast::FnDecl) -> Signature<'a> {
        let mut generics = Vec::new();
        let mut names: Vec<(&'a str, T)> = Vec::new();
        for g in &decl.generics {
            let constraint = self.written_constraint(g).unwrap_or(Constraint::Any);
            if names.iter().any(|(n, _)| *n == g.name.name) {
                self.error("E0103", g.name.span, format!("`{}` is declared twice", g.name.name));
            }
            let id = self.types.new_param(&g.name.name, Bits::of(constraint), g.constraint.is_some(), g.name.span);
            generics.push(id);
            let t = self.types.param(id);
            names.push((&g.name.name, t));
        }
        let mark = self.body.type_names.len();
        self.body.type_names.extend(names.iter().copied());
        let mut params = Vec::new();
        for p in &decl.params {
            let (t, tree) = match &p.ty {
                Some(written) => self.written(written, true),
                None => (self.types.fresh(p.pattern.span), SizeTree::None),
            };
            let name = match &p.pattern.kind {
                ast::PatternKind::Name { name, .. } => name.name.clone(),
                _ => "argument".to_string(),
            };
            params.push((t, tree, name));
        }
        let (ret, ret_tree) = match &decl.ret {
            Some(written) => self.written(written, true),
            None => (self.types.fresh(decl.name.span), SizeTree::None),
        };
        self.body.type_names.truncate(mark);
        let param_types: Vec<T> = params.iter().map(|p| p.0).collect();
        for t in param_types.iter().copied().chain([ret]) {
            self.share_origins(&param_types, t);
        }
        let annotated =
            decl.ret.as_ref().is_some_and(complete) && decl.params.iter().all(|p| p.ty.as_ref().is_some_and(complete));
        Signature { generics, names, params, ret, ret_tree, annotated }
    }

    /// Checks a body and its clauses.
    pub fn function_code(
        &mut self,
        decl: &'a ast::FnDecl,
        signature: &Signature<'a>,
        kind: FrameKind,
        note: usize,
    ) -> (Vec<LocalId>, Expr, Vec<Rule>) {
        let types_mark = self.body.type_names.len();
        self.body.type_names.extend(signature.names.iter().copied());
        let mark = self.mark();
        let ret_why = match &decl.ret {
            Some(written) => Why::new("declared as the result here", written.span),
            None => Why::new("the result of this function", decl.name.span),
        };
        self.body.frames.push(Frame { kind, ret: signature.ret, ret_why, loops: Vec::new(), note, result_sizes: None });
        let outer_clause = self.body.clause.take();
        let typed = signature.params.iter().map(|(t, tree, _)| (*t, tree.clone())).collect();
        let (locals, _, stmts) = self.bind_parameters(&decl.params, typed, SizeNames::Own);
        let sizes = if signature.ret_tree.is_none() {
            None
        } else {
            self.result_sizes(&signature.ret_tree, signature.ret, format!("the result of `{}`", decl.name.name), false)
        };
        if let Some(frame) = self.body.frames.last_mut() {
            frame.result_sizes = sizes.clone();
        }
        let outer = std::mem::replace(&mut self.diverges, false);
        let mut body = match &decl.body {
            Some(block) => self.block(block, Some((signature.ret, ret_why))),
            None => self.unit_expr(decl.span),
        };
        self.diverges = outer;
        if let Some(sizes) = sizes {
            body = self.checked(body, &sizes);
        }
        let body = self.with_stmts(stmts, body);
        self.leave(mark);
        let rules = self.rules(decl, signature, &locals);
        self.body.clause = outer_clause;
        self.body.frames.pop();
        self.body.type_names.truncate(types_mark);
        (locals, body, rules)
    }

    /// Turns what `types` leave open, above the level around, into new generic parameters.
    pub fn generalize(&mut self, types: &[T], constraints: u32, all: bool) -> Vec<ParamId> {
        let outer = self.types.level - 1;
        self.settle(constraints, outer, all);
        self.default_literals();
        self.solve_ready();
        self.default_results(types, outer);
        let mut generics = Vec::new();
        // Tangents of unknown types follow from the types, so those come first.
        for tangents in [false, true] {
            let mut vars = Vec::new();
            for t in types {
                self.open_vars(*t, outer, tangents, &mut vars);
            }
            for t in vars {
                let Some(v) = self.types.var_of(t) else { continue };
                let state = self.types.var(v).clone();
                if state.literal == Literal::Float {
                    let _ = self.types.unify(t, T::FLOAT);
                    continue;
                }
                if self.refuse_undecided_point(t) {
                    continue;
                }
                let name = self.new_generic_name(generics.len());
                let id = self.types.new_param(&name, state.bits, false, state.span);
                let param = self.types.param(id);
                if self.types.unify(t, param).is_ok() {
                    generics.push(id);
                }
                self.solve_ready();
            }
        }
        for t in types {
            self.open_origins(*t, outer);
        }
        generics
    }

    /// Reports a type that is open while its tangent is decided; whether it was so.
    pub fn refuse_undecided_point(&mut self, point: T) -> bool {
        let Some(v) = self.types.var_of(point) else { return false };
        let state = self.types.var(v).clone();
        let Some(tangent) = state.tangent.filter(|t| self.types.var_of(*t).is_none()) else { return false };
        if !matches!(self.types.node(tangent), Node::Error) {
            let shown = self.types.show(tangent);
            self.report(
                cotan_source::Diagnostic::error(
                    "E0211",
                    state.span,
                    "the type of a point of differentiation is not known",
                )
                .at(format!("its tangent is `{shown}`, but several types have that tangent"))
                .hint("annotate the parameter or variable that the derivative is taken at, or the function's result"),
            );
        }
        let _ = self.types.unify(point, T::ERROR);
        true
    }

    /// Integer literals that only the results share are `Int`s.
    fn default_results(&mut self, types: &[T], outer: u32) {
        let mut given = Vec::new();
        let mut all = Vec::new();
        for t in types {
            self.open_vars(*t, outer, true, &mut all);
            if let Node::Fn(arg, _, _) = self.types.node(*t).clone() {
                self.open_vars(arg, outer, true, &mut given);
            }
        }
        for t in all {
            let Some(v) = self.types.var_of(t) else { continue };
            if self.types.var(v).literal == Literal::Int && !given.contains(&t) {
                let float = self.types.var(v).bits.has(Bits::SPACE);
                let _ = self.types.unify(t, if float { T::FLOAT } else { T::INT });
            }
        }
        self.solve_ready();
    }

    /// A tangent of a function type in a signature is that of the parameter with this type, if there is one.
    fn share_origins(&mut self, params: &[T], t: T) {
        let t = self.types.resolve(t);
        match self.types.node(t).clone() {
            Node::Tuple(parts) | Node::Adt(_, parts) => parts.iter().for_each(|p| self.share_origins(params, *p)),
            Node::Array(inner) => self.share_origins(params, inner),
            Node::Fn(arg, ret, _) => {
                self.share_origins(params, arg);
                self.share_origins(params, ret);
            }
            Node::Tangent(point) => {
                if let Node::Fn(..) = self.types.node(point) {
                    let same: Vec<T> = params.iter().copied().filter(|p| self.same_type(*p, point)).collect();
                    if let [param] = same[..] {
                        let _ = self.types.unify(param, point);
                    }
                }
            }
            _ => {}
        }
    }

    fn same_type(&self, a: T, b: T) -> bool {
        let (a, b) = (self.types.resolve(a), self.types.resolve(b));
        match (self.types.node(a), self.types.node(b)) {
            _ if a == b => true,
            (Node::Param(p), Node::Param(q)) => p == q,
            (Node::Tuple(xs), Node::Tuple(ys)) => {
                xs.len() == ys.len() && xs.iter().zip(ys.iter()).all(|(x, y)| self.same_type(*x, *y))
            }
            (Node::Adt(i, xs), Node::Adt(j, ys)) => {
                i == j && xs.iter().zip(ys.iter()).all(|(x, y)| self.same_type(*x, *y))
            }
            (Node::Array(x), Node::Array(y)) | (Node::Tangent(x), Node::Tangent(y)) => self.same_type(*x, *y),
            (Node::Fn(a1, r1, _), Node::Fn(a2, r2, _)) => self.same_type(*a1, *a2) && self.same_type(*r1, *r2),
            _ => false,
        }
    }

    fn new_generic_name(&self, index: usize) -> String {
        let mut names = (0..).map(|i: usize| {
            let letter = char::from(b'A' + (i % 26) as u8);
            if i < 26 { letter.to_string() } else { format!("{letter}{}", i / 26) }
        });
        let used = |n: &String| self.body.type_names.iter().any(|(t, _)| t == n);
        names.by_ref().filter(|n| !used(n)).nth(index).unwrap_or_default()
    }

    fn open_vars(&self, t: T, outer: u32, tangents: bool, out: &mut Vec<T>) {
        let t = self.types.resolve(t);
        match self.types.node(t) {
            Node::Var(v) => {
                let state = self.types.var(*v);
                if state.level <= outer {
                    return;
                }
                match state.point {
                    Some(point) if !tangents && self.types.resolve(point) != t => {
                        self.open_vars(point, outer, false, out)
                    }
                    _ => out.push(t),
                }
            }
            Node::Tuple(parts) | Node::Adt(_, parts) => {
                parts.iter().for_each(|p| self.open_vars(*p, outer, tangents, out))
            }
            Node::Array(inner) | Node::Tangent(inner) => self.open_vars(*inner, outer, tangents, out),
            Node::Fn(arg, ret, _) => {
                self.open_vars(*arg, outer, tangents, out);
                self.open_vars(*ret, outer, tangents, out);
            }
            Node::Float | Node::Float32 | Node::Int | Node::Bool | Node::Str | Node::Error | Node::Param(_) => {}
        }
    }

    pub fn open_origins(&mut self, t: T, outer: u32) {
        let t = self.types.resolve(t);
        match self.types.node(t).clone() {
            Node::Tuple(parts) | Node::Adt(_, parts) => parts.iter().for_each(|p| self.open_origins(*p, outer)),
            Node::Array(inner) | Node::Tangent(inner) => self.open_origins(inner, outer),
            Node::Fn(arg, ret, origin) => {
                let root = self.types.origin(origin);
                if let OriginState::Unknown { level } = &mut self.types.origins[root.0 as usize]
                    && *level > outer
                {
                    *level = u32::MAX;
                }
                self.open_origins(arg, outer);
                self.open_origins(ret, outer);
            }
            _ => {}
        }
    }

    /// Generic parameters with what is asked of them by now.
    pub fn generic_params(&self, ids: &[ParamId]) -> Vec<GenericParam> {
        let param = |id: &ParamId| {
            let state = &self.types.params[id.0 as usize];
            GenericParam { id: *id, name: state.name.clone(), constraint: state.bits.constraint() }
        };
        ids.iter().map(param).collect()
    }
}
