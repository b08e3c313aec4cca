//! Branches, matches, and ways to leave.
//!
//! In: conditions and sides. Out: `If`, `Match`, `Return`, `Break`, `Continue`. Newly true: all sides agree in
//! type; leaving happens only where there is something to leave.

use crate::context::{Checker, FrameKind, Want, Why};
use crate::infer::pattern::Bound;
use crate::types::T;
use cotan_core::{Arm, Expr, ExprKind, Pattern, PatternKind};
use cotan_source::{Diagnostic, Span};
use cotan_syntax::ast;

impl<'a> Checker<'a> {
    /// Evaluates `side`; says whether it never yields, without touching what was known before.
    fn side(&mut self, side: impl FnOnce(&mut Self) -> Expr) -> (Expr, bool) {
        let before = std::mem::replace(&mut self.diverges, false);
        let e = side(self);
        let diverges = std::mem::replace(&mut self.diverges, before);
        (e, diverges)
    }

    pub fn condition(&mut self, cond: &'a ast::Expr) -> Expr {
        self.expr(cond, Some((T::BOOL, Why::new("a condition is a `Bool`", cond.span))))
    }

    pub fn if_else(
        &mut self,
        cond: &'a ast::Expr,
        then: &'a ast::Block,
        otherwise: Option<&'a ast::Expr>,
        span: Span,
        want: Want,
    ) -> Expr {
        let cond = self.condition(cond);
        let Some(otherwise) = otherwise else {
            let (then, _) = self.no_else(then, span, want);
            let otherwise = self.unit_expr(span);
            let kind = ExprKind::If { cond: Box::new(cond), then: Box::new(then), otherwise: Box::new(otherwise) };
            let reported = want.is_some_and(|(t, _)| !self.is_open_or_unit(t));
            return self.end(kind, T::UNIT, span, want.filter(|_| !reported));
        };
        let (then, then_leaves) = self.side(|c| c.block(then, want));
        let t = self.type_of(&then);
        let side_want = want.or(Some((t, Why::new("the other side has this type", then.span))));
        let (otherwise, else_leaves) = self.side(|c| c.expr(otherwise, side_want));
        self.diverges |= then_leaves && else_leaves;
        let t = want.map_or(t, |(t, _)| t);
        self.make(ExprKind::If { cond: Box::new(cond), then: Box::new(then), otherwise: Box::new(otherwise) }, t, span)
    }

    /// The side of an `if` that has no other side, so that no value can come from it.
    fn no_else(&mut self, then: &'a ast::Block, span: Span, want: Want) -> (Expr, bool) {
        let Some((wanted, why)) = want.filter(|(t, _)| !self.is_open_or_unit(*t)) else {
            let why = Why::new("an `if` without `else` has no value", span);
            return self.side(|c| c.block(then, Some((T::UNIT, why))));
        };
        let shown = self.types.show(wanted);
        self.report(
            Diagnostic::error("E0201", span, format!("expected `{shown}`, found an `if` without `else`"))
                .at("this has no value where the condition is false")
                .label(why.span, why.text)
                .hint("add `else { .. }`"),
        );
        let (then, leaves) = self.side(|c| c.block(then, Some((wanted, why))));
        let t = T::UNIT;
        (Expr { ty: crate::types::hole(t), ..then }, leaves)
    }

    fn is_open_or_unit(&self, t: T) -> bool {
        match self.types.node(t) {
            crate::types::Node::Var(_) | crate::types::Node::Error => true,
            crate::types::Node::Tuple(parts) => parts.is_empty(),
            _ => false,
        }
    }

    pub fn if_let(
        &mut self,
        pattern: &'a ast::Pattern,
        value: &'a ast::Expr,
        then: &'a ast::Block,
        otherwise: Option<&'a ast::Expr>,
        span: Span,
        want: Want,
    ) -> Expr {
        let value = self.expr(value, None);
        let value_type = self.type_of(&value);
        let mark = self.mark();
        let mut bound = Bound::default();
        let pattern = self.pattern(pattern, value_type, Why::new("the value that is matched", value.span), &mut bound);
        self.bind_pattern_names(bound);
        let (then, then_leaves) = match otherwise {
            Some(_) => self.side(|c| c.block(then, want)),
            None => self.no_else(then, span, want),
        };
        self.leave(mark);
        let t = self.type_of(&then);
        let (other, else_leaves) = match otherwise {
            Some(e) => {
                let side_want = want.or(Some((t, Why::new("the other side has this type", then.span))));
                self.side(|c| c.expr(e, side_want))
            }
            None => (self.unit_expr(span), false),
        };
        let reported = otherwise.is_none() && want.is_some_and(|(t, _)| !self.is_open_or_unit(t));
        let want = want.filter(|_| !reported);
        self.diverges |= then_leaves && else_leaves;
        let rest = Pattern { kind: PatternKind::Wildcard, ty: crate::types::hole(value_type), span: Span::NONE };
        let arms = vec![Arm { pattern, guard: None, body: then }, Arm { pattern: rest, guard: None, body: other }];
        let kind = ExprKind::Match { value: Box::new(value), arms };
        if otherwise.is_none() {
            return self.end(kind, T::UNIT, span, want);
        }
        self.make(kind, want.map_or(t, |(t, _)| t), span)
    }

    pub fn match_arms(&mut self, value: &'a ast::Expr, arms: &'a [ast::Arm], span: Span, want: Want) -> Expr {
        let value = self.expr(value, None);
        let value_type = self.type_of(&value);
        let mut typed = Vec::new();
        let mut want_arm = want;
        let mut all_leave = !arms.is_empty();
        for arm in arms {
            let mark = self.mark();
            let mut bound = Bound::default();
            let why = Why::new("the value that is matched", value.span);
            let pattern = self.pattern(&arm.pattern, value_type, why, &mut bound);
            self.bind_pattern_names(bound);
            let guard = arm.guard.as_ref().map(|g| self.condition(g));
            let (body, leaves) = self.side(|c| c.expr(&arm.body, want_arm));
            all_leave &= leaves;
            self.leave(mark);
            if want_arm.is_none() {
                want_arm = Some((self.type_of(&body), Why::new("an arm before has this type", body.span)));
            }
            typed.push(Arm { pattern, guard, body });
        }
        self.diverges |= all_leave;
        let t = match want_arm {
            Some((t, _)) => t,
            None => self.types.fresh(span),
        };
        self.make(ExprKind::Match { value: Box::new(value), arms: typed }, t, span)
    }

    pub fn return_expr(&mut self, value: Option<&'a ast::Expr>, span: Span, want: Want) -> Expr {
        let place = self.body.frames.last().map(|f| (f.ret, f.ret_why, f.loops.contains(&false)));
        let in_clause = self.in_clause_frame();
        let Some((ret, why, in_comprehension)) = place.filter(|_| !in_clause) else {
            let text = if in_clause {
                "a derivative clause ends in `return .. with ..`"
            } else {
                "there is no function to return from"
            };
            self.error("E0309", span, text);
            if let Some(e) = value {
                self.expr(e, None);
            }
            return self.error_expr(span);
        };
        if in_comprehension {
            self.report(
                Diagnostic::error("E0309", span, "a comprehension cannot be left by `return`")
                    .note("its elements have no order: they may be computed in parallel")
                    .hint("use a `for` loop"),
            );
        }
        let mut value = match value {
            Some(e) => self.expr(e, Some((ret, why))),
            None => {
                self.equate(ret, T::UNIT, span, Some(why));
                self.unit_expr(span)
            }
        };
        let sizes = self.body.frames.last().and_then(|f| f.result_sizes.clone());
        if let Some(sizes) = sizes {
            value = self.checked(value, &sizes);
        }
        self.diverges = true;
        let t = want.map_or_else(|| self.types.fresh(span), |(t, _)| t);
        self.make(ExprKind::Return(Box::new(value)), t, span)
    }

    pub fn in_clause_frame(&self) -> bool {
        self.body.clause.as_ref().is_some_and(|c| c.depth == self.body.frames.len())
    }

    pub fn leave_loop(&mut self, kind: ExprKind, word: &'static str, span: Span, want: Want) -> Expr {
        let frame = self.body.frames.last();
        match frame.and_then(|f| f.loops.last()) {
            Some(true) => {}
            Some(false) => {
                self.report(
                    Diagnostic::error("E0308", span, format!("a comprehension cannot be left by `{word}`"))
                        .note("its elements have no order: they may be computed in parallel")
                        .hint("use a `for` loop, or a filter: `[e for x in xs if c]`"),
                );
            }
            None => {
                let inside = frame.is_some_and(|f| f.kind != FrameKind::Function);
                let mut d = Diagnostic::error("E0308", span, format!("`{word}` outside of a loop"));
                if inside {
                    d = d.note("a closure or local function cannot leave a loop around it");
                }
                self.report(d);
            }
        }
        self.diverges = true;
        let t = want.map_or_else(|| self.types.fresh(span), |(t, _)| t);
        self.make(kind, t, span)
    }
}
