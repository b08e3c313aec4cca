//! From terms with holes to finished terms.
//!
//! In: the core as inference left it. Out: the same with final types, resolved fields and methods, literals of
//! the type that was demanded. Newly true: no hole is left; every match is exhaustive or was reported.

use crate::context::{Body, Checker, Resolution};
use crate::infer::as_later;
use crate::types::{T, as_hole};
use cotan_core::{
    Expr, ExprKind, Lit, LocalFn, LocalFnId, Pattern, PatternKind, PlaceStep, Rule, Ty, Visitor, argument_ty,
    walk_expr, walk_pattern, walk_place_step, walk_rule,
};
use cotan_source::{Diagnostic, IndexVec};
use rustc_hash::FxHashMap;

/// Finishes terms.
pub struct Elaborate<'c, 'a> {
    checker: &'c mut Checker<'a>,
    memo: FxHashMap<T, Ty>,
    local_generics: Vec<Vec<Ty>>,
    /// Whether patterns can be trusted to fit their types.
    sound: bool,
}

impl<'a> Checker<'a> {
    /// Finishes the code of a body; `sound` if no error was found in it.
    pub fn finish_body(&mut self, body: &mut Body<'a>, code: &mut Expr, rules: &mut [Rule], sound: bool) {
        for f in body.local_fns.iter_mut() {
            let ids: Vec<_> = f.generics.iter().map(|g| g.id).collect();
            f.generics = self.generic_params(&ids);
        }
        let local_generics =
            body.local_fns.iter().map(|f| f.generics.iter().map(|g| Ty::Param(g.id)).collect()).collect();
        let mut e = Elaborate { checker: self, memo: FxHashMap::default(), local_generics, sound };
        for local in body.locals.iter_mut() {
            e.ty(&mut local.ty);
        }
        let mut local_fns: IndexVec<LocalFnId, LocalFn> = std::mem::take(&mut body.local_fns);
        for f in local_fns.iter_mut() {
            e.ty(&mut f.ret);
            e.expr(&mut f.body);
            f.rules.iter_mut().for_each(|r| walk_rule(&mut e, r));
        }
        e.expr(code);
        rules.iter_mut().for_each(|r| walk_rule(&mut e, r));
        for (mut pattern, what) in std::mem::take(&mut body.irrefutable) {
            e.pattern(&mut pattern);
            if e.sound {
                e.irrefutable(&pattern, what);
            }
        }
        for (t, span) in std::mem::take(&mut body.equalities) {
            let ty = e.finished(t);
            if e.holds_function(&ty, 0) {
                let shown = e.checker.types.show(t);
                e.checker.report(
                    Diagnostic::error("E0212", span, format!("`{shown}` holds functions, which cannot be compared"))
                        .hint("compare what the functions yield"),
                );
            }
        }
        crate::captures::fill(code, rules, &mut local_fns);
        if sound {
            self.check_mentions(body, &local_fns);
        }
        body.local_fns = local_fns;
    }
}

impl Elaborate<'_, '_> {
    fn finished(&mut self, t: T) -> Ty {
        self.checker.types.finish(t, &mut self.memo)
    }

    fn ty(&mut self, ty: &mut Ty) {
        if let Some(t) = as_hole(ty) {
            *ty = self.finished(t);
        }
    }

    fn holds_function(&self, ty: &Ty, depth: u32) -> bool {
        match ty {
            Ty::Fn(..) => true,
            Ty::Tuple(parts) => parts.iter().any(|p| self.holds_function(p, depth)),
            Ty::Array(elem) => self.holds_function(elem, depth),
            Ty::Adt(id, args) => {
                if depth > 6 {
                    return false;
                }
                let fields = self.checker.program.adts[*id].variants.iter().flat_map(|v| &v.fields);
                fields.into_iter().any(|f| self.holds_function(&f.ty, depth + 1))
                    || args.iter().any(|a| self.holds_function(a, depth))
            }
            Ty::Tangent(_) | Ty::Float | Ty::Float32 | Ty::Int | Ty::Bool | Ty::Str | Ty::Param(_) => false,
        }
    }

    fn irrefutable(&mut self, pattern: &Pattern, what: &str) {
        if let Some(missing) = crate::exhaustive::missing(&self.checker.program, &[pattern], &pattern.ty) {
            self.checker.report(
                Diagnostic::error("E0303", pattern.span, format!("the pattern of {what} must match every value"))
                    .at(format!("`{missing}` is not matched"))
                    .hint("use `match` or `if let`"),
            );
        }
    }

    fn literal(&mut self, lit: &mut Lit, ty: &Ty) {
        if let (Lit::Int(value), Ty::Float | Ty::Float32) = (&*lit, ty) {
            *lit = Lit::Float(*value as f64);
        }
    }

    /// A field or method that was found late.
    fn resolve_field(&mut self, e: &mut Expr) {
        if let ExprKind::Call { callee, arg } = &mut e.kind
            && let ExprKind::Field { base, index } = &mut callee.kind
            && let Some(id) = as_later(*index)
            && let ExprKind::Tuple(rest) = &mut arg.kind
            && self.checker.methods.contains(&id)
        {
            let mut args = std::mem::take(rest);
            if let Some(Resolution::Function(function)) = self.checker.resolutions.get(&id) {
                let receiver =
                    std::mem::replace(&mut **base, Expr { kind: ExprKind::Break, ty: Ty::unit(), span: e.span });
                args.insert(0, receiver);
                **callee = (**function).clone();
            }
            **arg = if args.len() == 1 {
                args.remove(0)
            } else {
                Expr { kind: ExprKind::Tuple(args), ty: Ty::unit(), span: arg.span }
            };
            self.expr(callee);
            self.expr(arg);
            // The tuple of arguments gets its type from its parts.
            if let ExprKind::Tuple(parts) = &arg.kind
                && arg.ty.is_unit()
            {
                arg.ty = argument_ty(parts.iter().map(|p| p.ty.clone()).collect());
            }
            if let ExprKind::Field { .. } = &callee.kind {
                callee.ty = Ty::Fn(Box::new(arg.ty.clone()), Box::new(e.ty.clone()));
            }
            return;
        }
        walk_expr(self, e);
        if let ExprKind::Field { base, index } = &mut e.kind
            && let Some(id) = as_later(*index)
        {
            let empty = Expr { kind: ExprKind::Break, ty: Ty::unit(), span: e.span };
            let base = std::mem::replace(base, Box::new(empty));
            e.kind = match self.checker.resolutions.get(&id) {
                Some(Resolution::Field(index)) => ExprKind::Field { base, index: *index },
                Some(Resolution::TupleField(index)) => ExprKind::TupleField { base, index: *index },
                Some(Resolution::TangentField(index)) => ExprKind::TangentField { base, index: *index },
                Some(Resolution::TangentCapture(name, maker)) => {
                    ExprKind::TangentCapture { base, name: name.clone(), maker: *maker }
                }
                Some(Resolution::Function(_) | Resolution::Failed) | None => ExprKind::Field { base, index: 0 },
            };
        }
    }
}

impl Visitor for Elaborate<'_, '_> {
    fn expr(&mut self, e: &mut Expr) {
        if let ExprKind::TangentLiteral { function, maker, .. } = &mut e.kind {
            *maker = as_hole(&function.ty).and_then(|t| self.checker.note_of(t)).map(|note| note as u32);
        }
        self.ty(&mut e.ty);
        match &mut e.kind {
            ExprKind::Lit(lit) => self.literal(lit, &e.ty),
            ExprKind::Fn(id, args) => {
                args.iter_mut().for_each(|a| self.ty(a));
                // A call inside of a group, made before it was generic: at its own parameters.
                if args.is_empty() {
                    *args = self.checker.program.fns[*id].generics.iter().map(|g| Ty::Param(g.id)).collect();
                }
            }
            ExprKind::LocalFn(id, args) => {
                args.iter_mut().for_each(|a| self.ty(a));
                if args.is_empty() {
                    *args = self.local_generics[id.0 as usize].clone();
                }
            }
            ExprKind::Ctor(_, _, args) => args.iter_mut().for_each(|a| self.ty(a)),
            _ => self.resolve_field(e),
        }
        if let ExprKind::Match { arms, value } = &e.kind
            && self.sound
        {
            let found = crate::exhaustive::check_match(&self.checker.program, value, arms, e.span);
            self.checker.diagnostics.extend(found);
        }
    }

    fn pattern(&mut self, p: &mut Pattern) {
        self.ty(&mut p.ty);
        match &mut p.kind {
            PatternKind::Lit(lit) => self.literal(lit, &p.ty),
            PatternKind::Range { start, end, .. } => {
                start.iter_mut().for_each(|l| self.literal(l, &p.ty));
                end.iter_mut().for_each(|l| self.literal(l, &p.ty));
            }
            _ => {}
        }
        walk_pattern(self, p);
    }

    fn place_step(&mut self, step: &mut PlaceStep) {
        if let PlaceStep::Field(index) = step
            && let Some(id) = as_later(*index)
        {
            match self.checker.resolutions.get(&id) {
                Some(Resolution::Field(i) | Resolution::TangentField(i)) => *index = *i,
                Some(Resolution::TupleField(i)) => {
                    let i = *i;
                    *step = PlaceStep::TupleField(i);
                }
                Some(Resolution::TangentCapture(..) | Resolution::Function(_) | Resolution::Failed) | None => {
                    *index = 0
                }
            }
        }
        walk_place_step(self, step);
    }
}
