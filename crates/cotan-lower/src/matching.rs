//! `match`.
//!
//! In: a value and arms. Out: a `Switch` over the variants where every arm belongs to one of them (or to all the others), else the arms'
//! tests one after the other. Each arm's body is lowered once.

use crate::frame::{Flow, Frame, truth};
use crate::regions::On;
use crate::scan::Effects;
use cotan_core::{Arm, PatternKind};
use cotan_ir::{Atom, Type, TypeId};
use std::rc::Rc;

/// The arms that may apply where some were ruled out, with what they and those after them do.
struct Chain<'c> {
    arms: Vec<(&'c Arm, Rc<Effects>)>,
    /// What the arms from each position on do together.
    after: Vec<Rc<Effects>>,
}

impl<'c> Frame<'_, 'c> {
    /// The value of the first arm that matches.
    pub fn matching(&mut self, value: Atom, arms: &'c [Arm], ty: TypeId, tail: bool) -> Flow<Atom> {
        if arms.is_empty() {
            // Nothing to tell apart: the value's type has no values.
            let why = crate::frame::text("a value of a type without values");
            return Ok(self.emit_as(cotan_ir::Op::Panic(why), ty));
        }
        match self.by_variant(&value, arms) {
            Some(groups) => {
                let labels = groups.iter().map(|(label, _)| *label).collect::<Vec<_>>();
                let chains: Vec<Chain<'c>> = groups
                    .into_iter()
                    .map(|(_, members)| self.chain_of(members.into_iter().map(|i| &arms[i])))
                    .collect();
                let effects: Vec<Rc<Effects>> = chains.iter().map(|c| c.after[0].clone()).collect();
                let on = On::Variant(value.clone(), labels.iter().map(|l| l.map(|v| v as u32)).collect());
                let mut arm = |f: &mut Self, i: usize, tail: bool| f.chain(&value, labels[i], &chains[i], 0, ty, tail);
                self.choose(on, ty, tail, &effects, &mut arm)
            }
            None => {
                let chain = self.chain_of(arms);
                self.chain(&value, None, &chain, 0, ty, tail)
            }
        }
    }

    /// For each variant the arms that may match it, then those for all other variants; `None` where an arm would be in two groups.
    #[allow(clippy::type_complexity)]
    fn by_variant(&mut self, value: &Atom, arms: &[Arm]) -> Option<Vec<(Option<usize>, Vec<usize>)>> {
        let Type::Adt(adt) = self.kind_of(value) else { return None };
        let count = self.b.program.adts[adt].variants.len();
        if count < 2 {
            return None;
        }
        // A variant is asked for by its own arms; the others go together.
        let mut named = vec![false; count];
        for arm in arms {
            match &arm.pattern.kind {
                PatternKind::Adt { variant, .. } => named[*variant] = true,
                PatternKind::Wildcard | PatternKind::Bind(_) => {}
                _ => return None,
            }
        }
        let mut used = vec![false; arms.len()];
        let mut groups = Vec::new();
        let others = (named.iter().any(|n| !n)).then_some(None);
        let labels = (0..count).filter(|v| named[*v]).map(Some).chain(others).collect::<Vec<_>>();
        for label in labels {
            let mut members = Vec::new();
            for (i, arm) in arms.iter().enumerate() {
                let closes = match &arm.pattern.kind {
                    PatternKind::Adt { variant, fields, .. } if Some(*variant) == label => {
                        fields.iter().all(|f| self.irrefutable(f))
                    }
                    PatternKind::Adt { .. } => continue,
                    _ => true,
                };
                if std::mem::replace(&mut used[i], true) {
                    return None;
                }
                members.push(i);
                if closes && arm.guard.is_none() {
                    break;
                }
            }
            if members.is_empty() {
                return None;
            }
            groups.push((label, members));
        }
        Some(groups)
    }

    fn chain_of(&mut self, arms: impl IntoIterator<Item = &'c Arm>) -> Chain<'c> {
        let arms: Vec<_> = arms.into_iter().map(|a| (a, self.s.scan.expr(&a.body))).collect();
        let mut after: Vec<Rc<Effects>> = Vec::new();
        for (arm, effects) in arms.iter().rev() {
            let mut all = (**effects).clone();
            if let Some(guard) = &arm.guard {
                let guard = self.s.scan.expr(guard);
                all.add(&guard);
            }
            if let Some(later) = after.last() {
                all.diverges &= later.diverges;
                all.add(later);
            }
            after.push(Rc::new(all));
        }
        after.reverse();
        Chain { arms, after }
    }

    fn chain(
        &mut self,
        value: &Atom,
        known: Option<usize>,
        chain: &Chain<'c>,
        at: usize,
        ty: TypeId,
        tail: bool,
    ) -> Flow<Atom> {
        let (arm, effects) = &chain.arms[at];
        self.b.set_span(arm.pattern.span);
        let last = at + 1 == chain.arms.len();
        let test = match (last, &arm.guard) {
            // The match is exhaustive.
            (true, None) => None,
            _ => self.test(&arm.pattern, value, known),
        };
        let cond = match (&arm.guard, test) {
            (None, None) => {
                self.bind(&arm.pattern, value);
                return crate::deep(|| self.expr(&arm.body, tail));
            }
            (None, Some(test)) => test,
            (Some(guard), test) => {
                let bool_ty = self.b.program.intern(Type::Bool);
                let effects = [self.s.scan.expr(guard), Rc::default()];
                let mut part = |f: &mut Self, i: usize, _: bool| {
                    if i == 1 {
                        return Ok(truth(false));
                    }
                    f.bind(&arm.pattern, value);
                    f.value(guard)
                };
                self.choose(On::Cond(test.unwrap_or(truth(true))), bool_ty, false, &effects, &mut part)?
            }
        };
        if last {
            // The checker knows that this arm matches.
            self.bind(&arm.pattern, value);
            return self.expr(&arm.body, tail);
        }
        let effects = [effects.clone(), chain.after[at + 1].clone()];
        let mut part = |f: &mut Self, i: usize, tail: bool| {
            if i == 0 {
                f.bind(&arm.pattern, value);
                f.expr(&arm.body, tail)
            } else {
                crate::deep(|| f.chain(value, known, chain, at + 1, ty, tail))
            }
        };
        self.choose(On::Cond(cond), ty, tail, &effects, &mut part)
    }
}
