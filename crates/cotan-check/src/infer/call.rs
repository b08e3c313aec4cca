//! Calls, methods and tangents of known closures.
//!
//! In: a function and the arguments written. Out: a call with one argument. Newly true: the argument has the
//! type that the function takes; several arguments have become a tuple.

use crate::constraints::Deferred;
use crate::context::{Checker, Want, Why};
use crate::infer::later;
use crate::types::{Bits, Node, T};
use cotan_core::{Expr, ExprKind, FnBody, Lit};
use cotan_source::{Diagnostic, Span};
use cotan_syntax::ast;

impl<'a> Checker<'a> {
    pub fn call(&mut self, callee: &'a ast::Expr, args: &'a [ast::Expr], span: Span, want: Want) -> Expr {
        if let Some(e) = self.tangent_of_call(callee, args, span, want) {
            return e;
        }
        let callee = self.expr(callee, None);
        self.solve_ready();
        let callee_type = self.type_of(&callee);
        match self.types.node(callee_type).clone() {
            Node::Fn(arg_type, ret, _) => {
                let builtin = self.builtin_of(&callee);
                let arg = if builtin.as_deref() == Some("assert") && args.len() == 1 {
                    self.assert_argument(&args[0], arg_type)
                } else {
                    self.arguments(&callee, args, arg_type, span)
                };
                if builtin.as_deref() == Some("panic") {
                    self.diverges = true;
                }
                self.compare_call(&callee, &arg);
                let kind = self.apply(callee, arg, args.len());
                self.end(kind, ret, span, want)
            }
            Node::Var(v) if !self.types.var(v).bits.has(Bits::NUM) => {
                let arg = self.free_arguments(args, span);
                let arg_type = self.type_of(&arg);
                let ret = self.types.fresh(span);
                let function = self.types.function(arg_type, ret);
                self.equate(function, callee_type, callee.span, Some(Why::new("it is called here", span)));
                self.end(ExprKind::Call { callee: Box::new(callee), arg: Box::new(arg) }, ret, span, want)
            }
            Node::Error => {
                self.free_arguments(args, span);
                self.error_expr(span)
            }
            _ => {
                let shown = self.types.show(callee_type);
                self.report(
                    Diagnostic::error("E0205", callee.span, format!("`{shown}` is not a function"))
                        .at("called like one")
                        .label(span, "in this call"),
                );
                self.free_arguments(args, span);
                self.error_expr(span)
            }
        }
    }

    fn builtin_of(&self, callee: &Expr) -> Option<String> {
        let ExprKind::Fn(id, _) = &callee.kind else { return None };
        match &self.program.fns[*id].body {
            FnBody::Builtin(name) => Some(name.clone()),
            FnBody::Code(_) => None,
        }
    }

    fn callee_name(&self, callee: &Expr) -> String {
        match &callee.kind {
            ExprKind::Fn(id, _) => format!("`{}`", self.program.fns[*id].name),
            ExprKind::LocalFn(id, _) => format!("`{}`", self.body.local_fns[*id].name),
            ExprKind::Local(id) => format!("`{}`", self.body.locals[*id].name),
            ExprKind::Ctor(adt, variant, _) => format!("`{}`", self.program.adts[*adt].variants[*variant].name),
            _ => "this function".to_string(),
        }
    }

    fn assert_argument(&mut self, condition: &'a ast::Expr, arg_type: T) -> Expr {
        let span = condition.span;
        let condition = self.expr(condition, Some((T::BOOL, Why::new("`assert` takes a `Bool`", span))));
        let why = self.make(ExprKind::Lit(Lit::Str(String::new())), T::STR, span);
        self.make(ExprKind::Tuple(vec![condition, why]), arg_type, span)
    }

    /// Arguments that nothing is known of.
    fn free_arguments(&mut self, args: &'a [ast::Expr], span: Span) -> Expr {
        let mut parts: Vec<Expr> = args.iter().map(|a| self.expr(a, None)).collect();
        if parts.len() == 1 {
            return parts.remove(0);
        }
        let types = parts.iter().map(|p| self.type_of(p)).collect();
        let t = self.types.tuple(types);
        self.make(ExprKind::Tuple(parts), t, span)
    }

    /// The argument of a function that takes `wanted`.
    fn arguments(&mut self, callee: &Expr, args: &'a [ast::Expr], wanted: T, span: Span) -> Expr {
        let why = Why::new("this function is called", callee.span);
        match self.types.node(wanted).clone() {
            Node::Tuple(parts) if parts.len() == args.len() && args.len() != 1 => {
                let values = args.iter().zip(parts.iter()).map(|(a, t)| self.expr(a, Some((*t, why)))).collect();
                self.make(ExprKind::Tuple(values), wanted, span)
            }
            Node::Tuple(parts) if args.len() == 1 => {
                let whole = matches!(args[0].kind, ast::ExprKind::Tuple(_));
                let value = self.expr(&args[0], if whole { Some((wanted, why)) } else { None });
                if whole {
                    return value;
                }
                let t = self.type_of(&value);
                let number = self.types.var_of(t).is_some_and(|v| self.types.var(v).bits.has(Bits::NUM));
                if !number && matches!(self.types.node(t), Node::Tuple(_) | Node::Var(_) | Node::Error) {
                    self.equate(wanted, t, args[0].span, Some(why));
                    return value;
                }
                self.count_error(callee, parts.len(), 1, span);
                self.error_expr(span)
            }
            Node::Tuple(parts) => {
                self.free_arguments(args, span);
                self.count_error(callee, parts.len(), args.len(), span);
                self.error_expr(span)
            }
            _ if args.len() == 1 => self.expr(&args[0], Some((wanted, why))),
            Node::Var(_) | Node::Error => {
                let value = self.free_arguments(args, span);
                let t = self.type_of(&value);
                self.equate(wanted, t, span, Some(why));
                value
            }
            _ => {
                self.free_arguments(args, span);
                self.count_error(callee, 1, args.len(), span);
                self.error_expr(span)
            }
        }
    }

    fn count_error(&mut self, callee: &Expr, wanted: usize, given: usize, span: Span) {
        let name = self.callee_name(callee);
        let plural = if wanted == 1 { "argument" } else { "arguments" };
        let mut d = Diagnostic::error("E0204", span, format!("{name} takes {wanted} {plural}, but {given} are given"));
        let declared = match &callee.kind {
            ExprKind::Fn(id, _) => Some(self.program.fns[*id].span),
            ExprKind::LocalFn(id, _) => Some(self.body.local_fns[*id].span),
            _ => None,
        };
        if let Some(declared) = declared.filter(|s| !s.is_none()) {
            d = d.label(declared, "declared here");
        }
        if given == 1 {
            d.message = d.message.replace("1 are given", "1 is given");
        }
        self.report(d);
    }

    /// Compares array literals with literal sizes in the signature of a top-level function.
    fn compare_call(&mut self, callee: &Expr, arg: &Expr) {
        let ExprKind::Fn(id, _) = &callee.kind else { return };
        let Some(item) = self.fn_ids.iter().position(|f| *f == Some(*id)).filter(|_| has_literal_array(arg)) else {
            return;
        };
        let Some(signature) = self.signatures.get(&item).cloned() else { return };
        let parts: Vec<&Expr> = match &arg.kind {
            ExprKind::Tuple(parts) if signature.params.len() != 1 => parts.iter().collect(),
            _ => vec![arg],
        };
        if parts.len() == signature.params.len() {
            for (part, (_, tree, name)) in parts.iter().zip(&signature.params) {
                self.compare_argument(part, tree, name);
            }
        }
    }

    pub fn method(
        &mut self,
        receiver: &'a ast::Expr,
        name: &'a ast::Ident,
        args: &'a [ast::Expr],
        span: Span,
        want: Want,
    ) -> Expr {
        let receiver = self.expr(receiver, None);
        self.solve_ready();
        let receiver_type = self.type_of(&receiver);
        let known =
            self.lookup_local(&name.name).is_some() || !self.world.value(self.body.module, &name.name).is_empty();
        let is_field = self.world.field_names.contains(name.name.as_str());
        let function = if known {
            self.resolve_value(std::slice::from_ref(name), name.span).map(|(kind, t)| self.make(kind, t, name.span))
        } else {
            None
        };
        if !is_field && !matches!(self.types.node(receiver_type), Node::Tangent(_)) {
            let Some(function) = function else {
                if !known && !matches!(self.types.node(receiver_type), Node::Error) {
                    self.unknown_method(name);
                }
                self.free_arguments(args, span);
                return self.error_expr(span);
            };
            return self.call_with_receiver(function, receiver, args, span, want);
        }
        if let (Node::Adt(..), Some(f)) = (self.types.node(receiver_type).clone(), &function)
            && matches!(
                self.find_field(receiver_type, &name.name, name.span, false, false),
                crate::constraints::Found::No
            )
        {
            return self.call_with_receiver(f.clone(), receiver, args, span, want);
        }
        let rest: Vec<Expr> = args.iter().map(|a| self.expr(a, None)).collect();
        let rest_types: Vec<T> = rest.iter().map(|e| self.type_of(e)).collect();
        let result = self.types.fresh(span);
        let constraint = Deferred::Method {
            receiver: receiver_type,
            receiver_span: receiver.span,
            name: name.name.clone(),
            rest: rest_types.clone(),
            result,
            span,
            name_span: name.span,
            function: function.map(Box::new),
        };
        let id = self.types.defer(constraint, &[]);
        self.methods.insert(id);
        self.attempt(id, false);
        self.solve_ready();
        let arg_type = self.types.tuple(rest_types);
        let arg = self.make(ExprKind::Tuple(rest), arg_type, span);
        // Until it is resolved: a call of a field, whose argument is a tuple of what follows the receiver.
        let field = self.make(ExprKind::Field { base: Box::new(receiver), index: later(id) }, result, name.span);
        self.end(ExprKind::Call { callee: Box::new(field), arg: Box::new(arg) }, result, span, want)
    }

    fn unknown_method(&mut self, name: &'a ast::Ident) {
        let fields = self.world.field_names.iter().copied();
        let scopes = std::iter::once(self.body.module).chain(self.world.prelude.iter().copied());
        let functions = scopes.flat_map(|m| self.world.scopes[m].values.keys().copied());
        let close = crate::names::suggestion(&name.name, fields.chain(functions));
        let mut d = Diagnostic::error("E0106", name.span, format!("there is no field or function `{}`", name.name))
            .note("`x.f(y)` means `f(x, y)` where `x` has no field `f`");
        if let Some(close) = close {
            d = d.hint(format!("did you mean `{close}`?"));
        }
        self.report(d);
    }

    fn call_with_receiver(
        &mut self,
        function: Expr,
        receiver: Expr,
        args: &'a [ast::Expr],
        span: Span,
        want: Want,
    ) -> Expr {
        let function_type = self.type_of(&function);
        let count = args.len() + 1;
        let receiver_type = self.type_of(&receiver);
        let why = Why::new("called with the value before the dot as its first argument", function.span);
        if let Node::Fn(wanted, ret, _) = self.types.node(function_type).clone() {
            let parts = match self.types.node(wanted).clone() {
                Node::Tuple(parts) if count > 1 => parts.to_vec(),
                _ => vec![wanted],
            };
            if parts.len() == count {
                self.equate(parts[0], receiver_type, receiver.span, Some(why));
                let mut values = vec![receiver];
                for (a, t) in args.iter().zip(&parts[1..]) {
                    values.push(self.expr(a, Some((*t, why))));
                }
                let arg = if count == 1 { values.remove(0) } else { self.make(ExprKind::Tuple(values), wanted, span) };
                if self.builtin_of(&function).as_deref() == Some("panic") {
                    self.diverges = true;
                }
                return {
                    let kind = self.apply(function, arg, count);
                    self.end(kind, ret, span, want)
                };
            }
            if self.types.var_of(wanted).is_none() {
                self.free_arguments(args, span);
                self.count_error(&function, parts.len(), count, span);
                return self.error_expr(span);
            }
        }
        let mut values = vec![receiver];
        values.extend(args.iter().map(|a| self.expr(a, None)));
        let types = values.iter().map(|v| self.type_of(v)).collect();
        let arg_type = self.types.argument(types);
        let ret = self.types.fresh(span);
        let wanted = self.types.function(arg_type, ret);
        self.equate(wanted, function_type, function.span, Some(Why::new("it is called here", span)));
        let arg = if count == 1 { values.remove(0) } else { self.make(ExprKind::Tuple(values), arg_type, span) };
        {
            let kind = self.apply(function, arg, count);
            self.end(kind, ret, span, want)
        }
    }

    /// `tangent f { w: e }`.
    pub fn tangent_literal(
        &mut self,
        function: &'a ast::Ident,
        fields: &'a [(ast::Ident, ast::Expr)],
        span: Span,
        want: Want,
    ) -> Expr {
        let Some((kind, t)) = self.resolve_value(std::slice::from_ref(function), function.span) else {
            for (_, e) in fields {
                self.expr(e, None);
            }
            return self.error_expr(span);
        };
        let function_expr = self.make(kind, t, function.span);
        let whole = self.types.tangent_of(t, span);
        let mut values = Vec::new();
        for (name, e) in fields {
            let field = self.types.fresh(e.span);
            let value = self.expr(e, Some((field, Why::new("the tangent of this captured variable", name.span))));
            if !matches!(self.types.node(t), Node::Fn(..)) {
                self.report(
                    Diagnostic::error(
                        "E0504",
                        function.span,
                        format!("`{}` is not known to be a closure here", function.name),
                    )
                    .note("`tangent f { .. }` names the variables that the closure `f` captures"),
                );
                break;
            }
            let constraint = Deferred::Field { base: whole, name: name.name.clone(), result: field, span: name.span };
            let id = self.types.defer(constraint, &[]);
            self.attempt(id, false);
            if values.iter().any(|(n, _): &(String, Expr)| *n == name.name) {
                self.error("E0210", name.span, format!("`{}` is given twice", name.name));
            }
            values.push((name.name.clone(), value));
        }
        self.solve_ready();
        self.end(
            ExprKind::TangentLiteral { function: Box::new(function_expr), fields: values, maker: None },
            whole,
            span,
            want,
        )
    }
}

fn has_literal_array(arg: &Expr) -> bool {
    match &arg.kind {
        ExprKind::Array(_) => true,
        ExprKind::Tuple(parts) => parts.iter().any(|p| matches!(p.kind, ExprKind::Array(_))),
        _ => false,
    }
}

impl Checker<'_> {
    /// A call; a variant with all its fields is built at once.
    fn apply(&self, callee: Expr, arg: Expr, written: usize) -> ExprKind {
        if let ExprKind::Ctor(adt, variant, _) = callee.kind
            && self.program.adts[adt].variants[variant].fields.len() == written
        {
            let fields = match arg.kind {
                ExprKind::Tuple(fields) if written > 1 => fields,
                kind => vec![Expr { kind, ty: arg.ty, span: arg.span }],
            };
            return ExprKind::Adt { adt, variant, order: (0..fields.len()).collect(), fields };
        }
        ExprKind::Call { callee: Box::new(callee), arg: Box::new(arg) }
    }
}
