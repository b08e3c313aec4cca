//! Loops.
//!
//! In: `for` and `while` with assignments and jumps. Out: `For` where the body never leaves the loop, else `While`; what the body
//! assigns is state, and so are the flags that say how it was left.

use crate::frame::{Flow, Frame, Slot, truth};
use crate::scan::Effects;
use cotan_core::{Expr, ExprKind, FnBody, Iter, Pattern, PatternKind};
use cotan_ir::{Atom, Op, Type, Var};
use cotan_prim::Prim;
use cotan_source::Span;

/// What a loop or comprehension walks, evaluated.
pub(crate) struct Walk {
    /// How many turns.
    pub count: Atom,
    kind: Walked,
}

enum Walked {
    /// Whole numbers from this one on.
    From(Atom),
    /// The elements of an array.
    Elements(Atom),
    /// The elements of two arrays of one length.
    Pairs(Atom, Atom),
    /// The elements of an array with their positions before them.
    Numbered(Atom),
}

impl<'c> Frame<'_, 'c> {
    /// Evaluates what is walked.
    pub fn walk(&mut self, iter: &'c Iter, span: Span) -> Flow<Walk> {
        match iter {
            Iter::Range(start, end) => {
                let start = self.value(start)?;
                let end = self.value(end)?;
                self.b.set_span(span);
                let count = match (&start, &end) {
                    (Atom::Lit(cotan_ir::Lit::I64(0)), _) => end,
                    (Atom::Lit(cotan_ir::Lit::I64(a)), Atom::Lit(cotan_ir::Lit::I64(b)))
                        if b.checked_sub(*a).is_some() =>
                    {
                        Atom::int(b - a)
                    }
                    _ => self.emit(Op::Prim(Prim::Sub, vec![end, start.clone()])),
                };
                Ok(Walk { count, kind: Walked::From(start) })
            }
            Iter::Array(e) => {
                let kind = match self.library_call(e) {
                    Some(("zip", [xs, ys])) => {
                        let xs = self.value(xs)?;
                        let ys = self.value(ys)?;
                        Walked::Pairs(xs, ys)
                    }
                    Some(("enumerate", [xs])) => Walked::Numbered(self.value(xs)?),
                    _ => Walked::Elements(self.value(e)?),
                };
                self.b.set_span(span);
                let (Walked::Elements(array) | Walked::Numbered(array) | Walked::Pairs(array, _)) = &kind else {
                    unreachable!("an array is walked")
                };
                let count = self.emit(Op::Dim { array: array.clone(), axis: 0 });
                if let Walked::Pairs(_, ys) = &kind {
                    let actual = self.emit(Op::Dim { array: ys.clone(), axis: 0 });
                    let (what, size) = ("axis 0 of parameter `ys`".into(), "n".into());
                    self.b.emit0(Op::CheckSize { actual, expected: count.clone(), what, size });
                }
                Ok(Walk { count, kind })
            }
        }
    }

    /// The name and arguments of a call of a function of the prelude.
    fn library_call(&self, e: &'c Expr) -> Option<(&'c str, &'c [Expr])> {
        let ExprKind::Call { callee, arg } = &e.kind else { return None };
        let ExprKind::Fn(id, _) = &callee.kind else { return None };
        let def = &self.s.core.fns[*id];
        if def.module != "std::prelude" || matches!(def.body, FnBody::Builtin(_)) {
            return None;
        }
        match (&arg.kind, def.params.len()) {
            (_, 1) => Some((&def.name, std::slice::from_ref(&**arg))),
            (ExprKind::Tuple(items), n) if items.len() == n => Some((&def.name, items)),
            _ => None,
        }
    }

    /// Binds the pattern to what is walked at position `index`.
    pub fn bind_turn(&mut self, walk: &Walk, index: Var, pattern: &'c Pattern) {
        let element = |f: &mut Self, array: &Atom| f.emit(Op::Index { array: array.clone(), at: vec![index.into()] });
        match &walk.kind {
            Walked::From(Atom::Lit(cotan_ir::Lit::I64(0))) => self.bind(pattern, &index.into()),
            Walked::From(start) => {
                let value = self.emit(Op::Prim(Prim::Add, vec![start.clone(), index.into()]));
                self.bind(pattern, &value);
            }
            Walked::Elements(array) => {
                if !matches!(pattern.kind, PatternKind::Wildcard) {
                    let value = element(self, array);
                    self.bind(pattern, &value);
                }
            }
            Walked::Pairs(xs, ys) => match &pattern.kind {
                PatternKind::Wildcard => {}
                PatternKind::Tuple(parts) => {
                    for (array, part) in [xs, ys].into_iter().zip(parts) {
                        if !matches!(part.kind, PatternKind::Wildcard) {
                            let value = element(self, array);
                            self.bind(part, &value);
                        }
                    }
                }
                _ => {
                    let (x, y) = (element(self, xs), element(self, ys));
                    let pair = self.emit(Op::Tuple(vec![x, y]));
                    self.bind(pattern, &pair);
                }
            },
            Walked::Numbered(array) => match &pattern.kind {
                PatternKind::Wildcard => {}
                PatternKind::Tuple(parts) => {
                    self.bind(&parts[0], &index.into());
                    if !matches!(parts[1].kind, PatternKind::Wildcard) {
                        let value = element(self, array);
                        self.bind(&parts[1], &value);
                    }
                }
                _ => {
                    let value = element(self, array);
                    let pair = self.emit(Op::Tuple(vec![index.into(), value]));
                    self.bind(pattern, &pair);
                }
            },
        }
    }

    /// A variable for the index of a loop.
    pub fn index_var(&mut self) -> Var {
        let ty = self.b.program.intern(Type::I64);
        self.b.var(ty, None)
    }

    /// State variables that begin with the current values of slots; slots hold them until the mark is rewound.
    fn begin_state(&mut self, slots: &[Slot]) -> (Vec<Var>, Vec<Atom>) {
        let init: Vec<Atom> = slots.iter().map(|s| self.get(*s)).collect();
        let mut state = Vec::new();
        for (slot, value) in slots.iter().zip(&init) {
            let ty = self.b.type_of(value);
            let name = match slot {
                Slot::Local(l) => Some(self.scope.locals[*l].name.clone()),
                Slot::Returned | Slot::ReturnValue | Slot::Broke | Slot::Continued | Slot::Tangent(_) => None,
            };
            let var = self.b.var(ty, name);
            self.set(*slot, var.into());
            state.push(var);
        }
        (state, init)
    }

    /// `for pattern in iter { body }`.
    pub fn for_loop(&mut self, pattern: &'c Pattern, iter: &'c Iter, body: &'c Expr, span: Span) -> Flow<()> {
        let walk = self.walk(iter, span)?;
        let effects = self.s.scan.expr(body);
        let kept = Effects { continues: false, diverges: false, ..(*effects).clone() };
        let slots = self.outputs(&kept);
        let leaves = kept.breaks || kept.returns;
        let mark = self.mark();
        let index = self.index_var();
        let (mut state, mut init) = self.begin_state(&slots);
        if !leaves {
            let body = self.region(false, slots.clone(), None, |f| {
                f.bind_turn(&walk, index, pattern);
                f.value(body)
            });
            self.rewind(mark);
            self.b.set_span(span);
            let results = self.b.emit_typed(Op::For { count: walk.count, index, state, init, body });
            let results: Vec<Atom> = results.into_iter().map(Atom::Var).collect();
            self.take_outputs(&slots, &results);
            return Ok(());
        }
        let cond = self.condition(&kept, |f| Ok(f.emit(Op::Prim(Prim::Lt, vec![index.into(), walk.count.clone()]))));
        let mut next = None;
        let mut block = self.region(false, slots.clone(), None, |f| {
            next = Some(f.emit(Op::Prim(Prim::Add, vec![index.into(), Atom::int(1)])));
            f.bind_turn(&walk, index, pattern);
            f.value(body)
        });
        block.results.insert(0, next.expect("the region was made"));
        state.insert(0, index);
        init.insert(0, Atom::int(0));
        self.rewind(mark);
        self.b.set_span(span);
        let results = self.b.emit_typed(Op::While { state, init, cond, body: block });
        let results: Vec<Atom> = results.into_iter().skip(1).map(Atom::Var).collect();
        self.after_loop(&slots, &results, &kept);
        Ok(())
    }

    /// The condition of a loop that may be left: not left, and `cond`.
    fn condition(
        &mut self,
        effects: &Effects,
        cond: impl FnOnce(&mut Self) -> Flow<Atom>,
    ) -> cotan_ir::Block<cotan_ir::AdOp> {
        let bool_ty = self.b.program.intern(Type::Bool);
        self.region(false, Vec::new(), Some(bool_ty), |f| {
            let flags: Vec<Slot> = [(effects.breaks, Slot::Broke), (effects.returns, Slot::Returned)]
                .into_iter()
                .filter(|(may, _)| *may)
                .map(|(_, slot)| slot)
                .collect();
            let Some(left) = f.any(&flags) else { return cond(f) };
            let then = f.b.block(|_| vec![truth(false)]);
            let otherwise = f.region(false, Vec::new(), Some(bool_ty), cond);
            Ok(f.emit(Op::If { cond: left, then, otherwise }))
        })
    }

    fn after_loop(&mut self, slots: &[Slot], results: &[Atom], effects: &Effects) {
        self.take_outputs(slots, results);
        if effects.breaks {
            self.set(Slot::Broke, truth(false));
        }
        if effects.returns {
            self.leave_if_flagged(&Effects { returns: true, ..Effects::default() });
        }
    }

    /// `while cond { body }`.
    pub fn while_loop(&mut self, cond: &'c Expr, body: &'c Expr, span: Span) -> Flow<()> {
        let of_cond = self.s.scan.expr(cond);
        let of_body = self.s.scan.expr(body);
        let mut kept = Effects::default();
        kept.add(&of_cond);
        kept.add(&of_body);
        kept.continues = false;
        // A condition that assigns or leaves is evaluated at the start of each turn, which then may break.
        let inside = !of_cond.is_pure();
        kept.breaks |= inside;
        let slots = self.outputs(&kept);
        let mark = self.mark();
        let (state, init) = self.begin_state(&slots);
        let head = self.condition(&kept, |f| if inside { Ok(truth(true)) } else { f.value(cond) });
        let block = self.region(false, slots.clone(), None, |f| {
            if inside {
                let go_on = f.value(cond)?;
                f.leave_unless(go_on, |f| f.set(Slot::Broke, truth(true)));
            }
            f.value(body)
        });
        self.rewind(mark);
        self.b.set_span(span);
        let results = self.b.emit_typed(Op::While { state, init, cond: head, body: block });
        let results: Vec<Atom> = results.into_iter().map(Atom::Var).collect();
        self.after_loop(&slots, &results, &kept);
        Ok(())
    }
}
