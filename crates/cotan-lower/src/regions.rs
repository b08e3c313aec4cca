//! Branches and jumps.
//!
//! In: a choice between parts of the program that may assign variables or leave. Out: `If` and `Switch` that yield the variables
//! assigned. Newly true: there are no jumps. A part that leaves becomes the other branch of everything that follows in its region
//! (a *guard*): where exactly one branch goes on, the rest of the region is put inside it; where more may go on, flags say
//! whether it is run. Nothing is written twice.

use crate::frame::{Dead, Flow, Frame, Slot, truth, unit};
use crate::scan::Effects;
use cotan_ir::{AdOp, Atom, Block, Op, TypeId};
use cotan_prim::Prim;
use std::rc::Rc;

/// A block of the program that yields a value and slots.
pub(crate) struct Region {
    /// Whether its value is the function's.
    tail: bool,
    /// What it yields after the value.
    outputs: Vec<Slot>,
    /// The type of the value, if it yields one.
    value: Option<TypeId>,
    guards: Vec<Guard>,
}

/// A choice whose one open arm is the rest of the region.
struct Guard {
    on: On,
    arms: Vec<Option<Block<AdOp>>>,
}

/// What decides a choice.
#[derive(Clone)]
pub(crate) enum On {
    /// Two arms: where it holds, else.
    Cond(Atom),
    /// An arm for each of these variants; `None`, the last, for all others.
    Variant(Atom, Vec<Option<u32>>),
}

impl On {
    fn op(self, arms: Vec<Block<AdOp>>) -> Op<AdOp> {
        match self {
            On::Cond(cond) => {
                let [then, otherwise] = <[_; 2]>::try_from(arms).expect("a condition has two arms");
                Op::If { cond, then, otherwise }
            }
            On::Variant(on, labels) => {
                let mut default = None;
                let mut cases = Vec::new();
                for (label, block) in labels.into_iter().zip(arms) {
                    match label {
                        Some(variant) => cases.push((variant, block)),
                        None => default = Some(block),
                    }
                }
                Op::Switch { on, arms: cases, default }
            }
        }
    }
}

impl<'c> Frame<'_, 'c> {
    /// A block that yields the value of `body` and slots. Slots are afterwards as they were before.
    pub fn region(
        &mut self,
        tail: bool,
        outputs: Vec<Slot>,
        value: Option<TypeId>,
        body: impl FnOnce(&mut Self) -> Flow<Atom>,
    ) -> Block<AdOp> {
        let mark = self.mark();
        self.b.begin_block();
        self.regions.push(Region { tail, outputs, value, guards: Vec::new() });
        let outcome = body(self);
        let results = self.region_results(outcome);
        let mut block = self.b.end_block(results);
        let region = self.regions.pop().expect("the region is open");
        for guard in region.guards.into_iter().rev() {
            let mut rest = Some(block);
            let arms = guard.arms.into_iter().map(|a| a.or_else(|| rest.take()).expect("one arm is open")).collect();
            let results = self.b.emit_typed(guard.on.op(arms));
            block = self.b.end_block(results.into_iter().map(Atom::Var).collect());
        }
        self.rewind(mark);
        block
    }

    fn region_results(&mut self, outcome: Flow<Atom>) -> Vec<Atom> {
        let region = self.regions.last().expect("a region is open");
        let (tail, outputs, value) = (region.tail, region.outputs.clone(), region.value);
        let mut results = Vec::new();
        if let Some(ty) = value {
            results.push(match outcome {
                Ok(atom) => atom,
                Err(Dead) if tail => self.get(Slot::ReturnValue),
                Err(Dead) => self.filler(ty),
            });
        }
        for slot in outputs {
            let value = self.get(slot);
            results.push(value);
        }
        results
    }

    /// The variables that a part assigns and the flags that it may set, as far as they are visible here.
    pub fn outputs(&mut self, effects: &Effects) -> Vec<Slot> {
        let assigned = effects.assigned.iter().map(|l| Slot::Local(*l));
        let mut outputs: Vec<Slot> = assigned.filter(|s| self.has(*s)).collect();
        if effects.returns {
            outputs.extend([Slot::Returned, Slot::ReturnValue]);
        }
        if effects.breaks {
            outputs.push(Slot::Broke);
        }
        if effects.continues {
            outputs.push(Slot::Continued);
        }
        outputs
    }

    /// Sets slots to the results of an operation.
    pub fn take_outputs(&mut self, outputs: &[Slot], values: &[Atom]) {
        for (slot, value) in outputs.iter().zip(values) {
            match (slot, value) {
                (Slot::Local(local), value) => self.bind_local(*local, value.clone()),
                (slot, value) => self.set(*slot, value.clone()),
            }
        }
    }

    /// The value of one of several arms. `arm(frame, i, tail)` lowers the arm `i`; `effects` are those of the arms.
    pub fn choose(
        &mut self,
        on: On,
        ty: TypeId,
        tail: bool,
        effects: &[Rc<Effects>],
        arm: &mut dyn FnMut(&mut Self, usize, bool) -> Flow<Atom>,
    ) -> Flow<Atom> {
        let span = self.b.span();
        if tail {
            let ret = self.ret;
            let arms =
                (0..effects.len()).map(|i| self.region(true, Vec::new(), Some(ret), |f| arm(f, i, true))).collect();
            self.b.set_span(span);
            return Ok(self.emit(on.op(arms)));
        }
        let mut all = Effects::default();
        effects.iter().for_each(|e| all.add(e));
        let going_on: Vec<usize> = (0..effects.len()).filter(|i| !effects[*i].diverges).collect();
        if all.exits() && going_on.len() <= 1 {
            // The rest of the region stands in the one arm that goes on (in the last, if none does).
            let open = going_on.first().copied().unwrap_or(effects.len() - 1);
            let region = self.regions.last().expect("a region is open");
            let (in_tail, outputs, value) = (region.tail, region.outputs.clone(), region.value);
            let arms = (0..effects.len())
                .map(|i| (i != open).then(|| self.region(in_tail, outputs.clone(), value, |f| arm(f, i, in_tail))))
                .collect();
            self.b.set_span(span);
            self.regions.last_mut().expect("a region is open").guards.push(Guard { on, arms });
            self.b.begin_block();
            return arm(self, open, false);
        }
        let outputs = self.outputs(&all);
        let value = (!self.is_unit(ty)).then_some(ty);
        let arms =
            (0..effects.len()).map(|i| self.region(false, outputs.clone(), value, |f| arm(f, i, false))).collect();
        self.b.set_span(span);
        let op = on.op(arms);
        let mut results: Vec<Atom> = if value.is_some() || !outputs.is_empty() {
            let vars = self.b.emit_typed(op.clone());
            if value.is_some() {
                self.shapes.note(vars[0], &op);
            }
            vars.into_iter().map(Atom::Var).collect()
        } else {
            self.b.emit0(op);
            Vec::new()
        };
        let value = if value.is_some() { results.remove(0) } else { unit() };
        self.take_outputs(&outputs, &results);
        if all.exits() {
            self.leave_if_flagged(&all);
        }
        Ok(value)
    }

    /// What follows in the region runs only if no flag that `effects` may have set is set.
    pub fn leave_if_flagged(&mut self, effects: &Effects) {
        let flags =
            [(effects.returns, Slot::Returned), (effects.breaks, Slot::Broke), (effects.continues, Slot::Continued)];
        let flags: Vec<Slot> = flags.into_iter().filter(|(may, _)| *may).map(|(_, slot)| slot).collect();
        let Some(left) = self.any(&flags) else { return };
        let region = self.regions.last().expect("a region is open");
        let (in_tail, outputs, value) = (region.tail, region.outputs.clone(), region.value);
        let exit = self.region(in_tail, outputs, value, |_| Err(Dead));
        let guard = Guard { on: On::Cond(left), arms: vec![Some(exit), None] };
        self.regions.last_mut().expect("a region is open").guards.push(guard);
        self.b.begin_block();
        flags.into_iter().for_each(|slot| self.set(slot, truth(false)));
    }

    /// Leaves the region where `cond` does not hold, after `exit` has set the flags.
    pub fn leave_unless(&mut self, cond: Atom, exit: impl FnOnce(&mut Self)) {
        let region = self.regions.last().expect("a region is open");
        let (in_tail, outputs, value) = (region.tail, region.outputs.clone(), region.value);
        let exit = self.region(in_tail, outputs, value, |f| {
            exit(f);
            Err(Dead)
        });
        let guard = Guard { on: On::Cond(cond), arms: vec![None, Some(exit)] };
        self.regions.last_mut().expect("a region is open").guards.push(guard);
        self.b.begin_block();
    }

    /// Whether one of the flags is set.
    pub fn any(&mut self, flags: &[Slot]) -> Option<Atom> {
        let mut left: Option<Atom> = None;
        for flag in flags {
            let flag = self.get(*flag);
            left = Some(match left {
                None => flag,
                Some(other) => self.emit(Op::Prim(Prim::Or, vec![other, flag])),
            });
        }
        left
    }

    /// Whether what is returned here is the function's value.
    pub fn returns_here(&self) -> bool {
        self.regions.last().is_some_and(|r| r.tail)
    }

    /// Whether the type is `()`.
    pub fn is_unit(&self, ty: TypeId) -> bool {
        matches!(self.kind(ty), cotan_ir::Type::Tuple(parts) if parts.is_empty())
    }
}
