//! Functions in the form that the machine runs: one list of instructions over the slots of a frame.
//!
//! In: a function with the last uses of its variables. Out: [`Linear`]. Newly true: branches and loops are jumps, so that calls of the program
//! need no stack of the machine's own; variables that do not live at the same time share a slot, so that frames are small; an operand
//! that is used for the last time is handed over.

use crate::code::{CBlock, COp, CStmt, Code};
use crate::value::{Array, Value};
use cotan_ir::{AdtId, Atom, Deriv, FnId, Lit, Op, Program, Step, Sub, Type, TypeId, Var, VarInfo};
use cotan_prim::Prim;
use cotan_source::{Idx, IndexVec, Span};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// Where an operand comes from.
#[derive(Clone, Debug)]
pub(super) enum Operand {
    /// A slot that keeps its value.
    Slot(u32),
    /// A slot that gives its value away.
    Last(u32),
    /// A literal.
    Const(Value),
}

/// An instruction. Slots are relative to the frame, targets are positions in the list.
#[derive(Debug)]
pub(super) enum Ins {
    /// A primitive of one operand.
    Prim1 { prim: Prim, dst: u32, a: Operand },
    /// A primitive of two operands.
    Prim2 { prim: Prim, dst: u32, a: Operand, b: Operand },
    /// A primitive of three operands.
    Prim3 { prim: Prim, dst: u32, args: Box<[Operand; 3]> },
    /// An element of a vector.
    Index1 { dst: u32, array: Operand, i: Operand },
    /// An element of a matrix.
    Index2 { dst: u32, array: Operand, at: Box<[Operand; 2]> },
    /// An element of a vector is replaced.
    Update1 { dst: u32, array: Operand, with: Box<[Operand; 2]> },
    /// An extent.
    Dim { dst: u32, array: Operand, axis: u32 },
    /// A component, field or capture, of this type.
    Part { dst: u32, whole: Operand, index: u32, ty: TypeId },
    /// A tuple, nominal value or closure of these parts.
    Make { dst: u32, kind: Kind, parts: Box<[Operand]> },
    /// Adds to an element of an accumulated array of floats: positions, then extents.
    AddAt { acc: Operand, at: Box<[Operand]>, value: Operand },
    /// One value into another slot.
    Move { dst: u32, from: Operand },
    /// Values into other slots, all read before one is written.
    Moves(Box<[(u32, Operand)]>),
    /// Slots are emptied.
    Clear(Box<[u32]>),
    /// On at another place.
    Jump(u32),
    /// Back to the condition of a loop.
    Back(u32),
    /// On at another place unless the condition holds.
    Unless(Operand, u32),
    /// On at another place unless the comparison holds.
    UnlessPrim { prim: Prim, a: Operand, b: Operand, target: u32 },
    /// On at the place of the variant.
    Switch { on: Operand, targets: Box<[u32]> },
    /// Starts a counted loop, or leaves it at once.
    For { index: u32, limit: u32, exit: u32 },
    /// The next turn of a counted loop.
    Next { index: u32, limit: u32, top: u32 },
    /// An empty vector to collect in.
    CollectNew(u32),
    /// Appends to it.
    Collect { slot: u32, from: Operand },
    /// Makes it an array.
    CollectEnd(u32),
    /// Starts a comprehension, or leaves it at once.
    Build { extents: Box<[Operand]>, indices: Box<[u32]>, ranks: Box<[u32]>, exit: u32 },
    /// Keeps the elements and goes on with the next.
    BuildNext { results: Box<[Operand]>, indices: Box<[u32]>, top: u32 },
    /// The finished arrays.
    BuildEnd(Box<[u32]>),
    /// Calls a function.
    Call { f: FnId, args: Box<[Operand]>, dsts: Box<[u32]> },
    /// Calls a derivative of a function value.
    Dispatch { on: Operand, path: Box<[Deriv]>, args: Box<[Operand]>, dsts: Box<[u32]> },
    /// Back to the caller.
    Return(Box<[Operand]>),
    /// Any other operation.
    Leaf(Box<CStmt>),
}

/// What is made of parts.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    /// A tuple.
    Tuple,
    /// A variant, or its tangent.
    Adt(AdtId, u32),
    /// A closure, or its tangent.
    /// Whether it has a rule attached.
    Fn(FnId, bool),
}

/// A function.
#[derive(Debug)]
pub(super) struct Linear {
    /// Size of the frame; parameters come first.
    pub slots: u32,
    /// The instructions.
    pub ins: Vec<Ins>,
    /// Their places.
    pub spans: Vec<Span>,
}

/// Makes the list. With `plain`, arithmetic stays in the general form.
pub(super) fn linear(program: &Program, code: &Code, vars: &IndexVec<Var, VarInfo>, plain: bool) -> Linear {
    let mut maker = Maker {
        program,
        vars,
        plain,
        slot_of: FxHashMap::default(),
        used: Vec::new(),
        first_free: 0,
        freed: Vec::new(),
        pinned: Vec::new(),
        ins: Vec::new(),
        spans: Vec::new(),
        span: Span::NONE,
    };
    for p in &code.params {
        maker.bind(*p, None);
    }
    maker.drop_vars(&code.unused);
    maker.stmts(&code.body);
    let results = maker.operands(&code.body.results.iter().collect::<Vec<_>>(), &code.body.kill);
    maker.push(Ins::Return(results));
    Linear { slots: maker.used.len() as u32, ins: maker.ins, spans: maker.spans }
}

struct Maker<'a> {
    program: &'a Program,
    vars: &'a IndexVec<Var, VarInfo>,
    plain: bool,
    slot_of: FxHashMap<Var, u32>,
    /// Which slots hold a value that is still needed.
    used: Vec<bool>,
    /// No slot below this one is free.
    first_free: usize,
    /// Slots that became free since the start of the branch at hand.
    freed: Vec<u32>,
    /// Slots that stay as they are until their loop ends.
    pinned: Vec<u32>,
    ins: Vec<Ins>,
    spans: Vec<Span>,
    span: Span,
}

impl Maker<'_> {
    fn push(&mut self, ins: Ins) -> usize {
        self.ins.push(ins);
        self.spans.push(self.span);
        self.ins.len() - 1
    }

    fn here(&self) -> u32 {
        self.ins.len() as u32
    }

    /// Whether values of a variable hold no memory: their slots need not be emptied.
    fn is_scalar(&self, v: Var) -> bool {
        match self.program.ty(self.vars[v].ty) {
            Type::F64 | Type::F32 | Type::I64 | Type::Bool => true,
            Type::Tuple(parts) => parts.is_empty(),
            _ => false,
        }
    }

    fn slot(&self, v: Var) -> u32 {
        self.slot_of[&v]
    }

    /// A free slot, the wanted one if it is.
    fn take_slot(&mut self, wanted: Option<u32>) -> u32 {
        let free = match wanted {
            Some(s) if !self.used[s as usize] => Some(s as usize),
            _ => {
                let free = self.used[self.first_free..].iter().position(|used| !used).map(|i| self.first_free + i);
                self.first_free = free.map_or(self.used.len(), |slot| slot) + 1;
                free
            }
        };
        let slot = free.unwrap_or_else(|| {
            self.used.push(false);
            self.used.len() - 1
        });
        self.used[slot] = true;
        slot as u32
    }

    fn bind(&mut self, v: Var, wanted: Option<u32>) -> u32 {
        let slot = self.take_slot(wanted);
        self.slot_of.insert(v, slot);
        slot
    }

    fn release(&mut self, slot: u32) {
        if !self.pinned.contains(&slot) {
            self.used[slot as usize] = false;
            self.first_free = self.first_free.min(slot as usize);
            self.freed.push(slot);
        }
    }

    fn release_vars(&mut self, vars: &[Var]) {
        for v in vars {
            self.release(self.slot(*v));
        }
    }

    /// Empties and frees the slots of variables that nobody reads any more.
    fn drop_vars(&mut self, vars: &[Var]) {
        let slots: Box<[u32]> = vars.iter().filter(|v| !self.is_scalar(**v)).map(|v| self.slot(*v)).collect();
        if !slots.is_empty() {
            self.push(Ins::Clear(slots));
        }
        self.release_vars(vars);
    }

    /// Operands that are read in this order, after which the slots of `kill` are free.
    fn operands(&mut self, atoms: &[&Atom], kill: &[Var]) -> Box<[Operand]> {
        let mut out = Vec::with_capacity(atoms.len());
        // Residuals have as many operands as the function has values: no search within a search.
        let killed: FxHashSet<Var> = kill.iter().copied().filter(|v| !self.is_scalar(*v)).collect();
        let last: FxHashMap<Var, usize> = if killed.is_empty() {
            FxHashMap::default()
        } else {
            atoms.iter().enumerate().filter_map(|(i, a)| Some((a.var()?, i))).collect()
        };
        for (i, a) in atoms.iter().enumerate() {
            out.push(match a {
                Atom::Var(v) => {
                    let slot = self.slot(*v);
                    if killed.contains(v) && last.get(v) == Some(&i) {
                        Operand::Last(slot)
                    } else {
                        Operand::Slot(slot)
                    }
                }
                Atom::Lit(lit) => Operand::Const(match lit {
                    Lit::F64(x) => Value::F64(*x),
                    Lit::F32(x) => Value::F32(*x),
                    Lit::I64(x) => Value::I64(*x),
                    Lit::Bool(x) => Value::Bool(*x),
                    Lit::Unit => Value::Unit,
                    Lit::Str(s) => Value::Str(Rc::new(s.to_string())),
                }),
            });
        }
        self.release_vars(kill);
        out.into()
    }

    /// Values into slots, without those that are there already.
    fn moves(mut pairs: Vec<(u32, Operand)>) -> Vec<(u32, Operand)> {
        let stays = |(dst, from): &(u32, Operand)| matches!(from, Operand::Slot(s) | Operand::Last(s) if s == dst);
        let staying: Vec<u32> = pairs.iter().filter(|p| stays(p)).map(|p| p.0).collect();
        pairs.retain(|p| !stays(p));
        // What stays is not given away to another.
        for (_, from) in &mut pairs {
            if let Operand::Last(s) = *from
                && staying.contains(&s)
            {
                *from = Operand::Slot(s);
            }
        }
        pairs
    }

    fn move_ins(pairs: Vec<(u32, Operand)>) -> Ins {
        match <[(u32, Operand); 1]>::try_from(pairs) {
            Ok([(dst, from)]) => Ins::Move { dst, from },
            Err(pairs) => Ins::Moves(pairs.into()),
        }
    }

    fn stmts(&mut self, b: &CBlock) {
        let mut stmts = b.stmts.iter().peekable();
        while let Some(s) = stmts.next() {
            self.span = s.span;
            if let Some(add) = stmts.peek()
                && self.add_at(s, add)
            {
                stmts.next();
                continue;
            }
            self.stmt(s);
            self.span = s.span;
            self.drop_vars(&s.unused);
        }
    }

    /// Two statements as one: an element of an accumulator, and a float that is added to it.
    fn add_at(&mut self, part: &CStmt, add: &CStmt) -> bool {
        let (
            COp::Leaf(Op::AccPart { acc, step: Step::Index { subs, extents } }),
            COp::Leaf(Op::AccAdd { acc: to, value }),
        ) = (&part.op, &add.op)
        else {
            return false;
        };
        let element = part.vars[0];
        let float = match self.program.ty(self.vars[element].ty) {
            Type::Acc(of) => *self.program.ty(*of) == Type::F64,
            _ => false,
        };
        let again = value.var() == Some(element);
        if !float || again || to.var() != Some(element) || !add.kill.contains(&element) || subs.len() != extents.len() {
            return false;
        }
        let mut atoms = vec![acc, value];
        for sub in subs {
            match sub {
                Sub::At(i) => atoms.push(i),
                Sub::Range(..) => return false,
            }
        }
        atoms.extend(extents);
        let kill: Vec<Var> = part.kill.iter().chain(&add.kill).copied().filter(|v| *v != element).collect();
        let mut operands = self.operands(&atoms, &kill).into_vec();
        let at = operands.split_off(2).into();
        let value = operands.pop().expect("the value");
        let acc = operands.pop().expect("the accumulator");
        self.push(Ins::AddAt { acc, at, value });
        true
    }

    /// Binds the results of a statement.
    fn results(&mut self, vars: &[Var]) -> Box<[u32]> {
        vars.iter().map(|v| self.bind(*v, None)).collect()
    }

    fn stmt(&mut self, s: &CStmt) {
        match &s.op {
            COp::Leaf(op) => self.leaf(op, s),
            COp::If(cond, then, otherwise) => {
                let unless = self.unless(cond, &s.kill);
                self.branches(s, &[then, otherwise], |maker, k, at| {
                    if k == 1 {
                        maker.aim(unless, at);
                    }
                });
            }
            COp::Switch(on, arms, default) => {
                let on = self.operands(&[on], &s.kill)[0].clone();
                let top = arms.iter().map(|(v, _)| *v as usize + 1).max().unwrap_or(0);
                let blocks: Vec<&CBlock> = arms.iter().map(|(_, b)| b).chain(default).collect();
                // One target more than the arms know, for all other variants.
                let switch = self.push(Ins::Switch { on, targets: vec![0; top + 1].into() });
                self.branches(s, &blocks, |maker, k, at| {
                    let Ins::Switch { targets, .. } = &mut maker.ins[switch] else { unreachable!("a switch") };
                    match arms.get(k) {
                        Some((v, _)) => targets[*v as usize] = at,
                        None => {
                            let known = |v: usize| arms.iter().any(|(a, _)| *a as usize == v);
                            (0..=top).filter(|v| !known(*v)).for_each(|v| targets[v] = at);
                        }
                    }
                });
            }
            COp::For(count, index, state, init, body) => {
                let pins = self.pinned.len();
                // The count is put aside before the state, which may take over its slot.
                let limit = self.take_slot(None);
                self.pinned.push(limit);
                let atoms: Vec<&Atom> = [count].into_iter().chain(init).collect();
                let mut operands = self.operands(&atoms, &s.kill).into_vec();
                let from = operands.remove(0);
                self.push(Ins::Move { dst: limit, from });
                let (slots, collected) = self.start_loop(state, operands, body);
                let index = self.bind(*index, None);
                self.pinned.push(index);
                let start = self.push(Ins::For { index, limit, exit: 0 });
                let top = self.here();
                self.turn(body, &slots, &collected);
                self.span = s.span;
                self.push(Ins::Next { index, limit, top });
                let exit = self.here();
                self.aim(start, exit);
                self.pinned.truncate(pins);
                self.release(limit);
                self.release(index);
                self.finish_loop(s, &slots, &collected);
            }
            COp::While(state, init, cond, body) => {
                let pins = self.pinned.len();
                let operands = self.operands(&init.iter().collect::<Vec<_>>(), &s.kill).into_vec();
                let (slots, collected) = self.start_loop(state, operands, body);
                let top = self.here();
                let used = self.used.clone();
                self.stmts(cond);
                let unless = self.unless(&cond.results[0], &cond.kill);
                self.restore(&used);
                self.turn(body, &slots, &collected);
                self.span = s.span;
                self.push(Ins::Back(top));
                let exit = self.here();
                self.aim(unless, exit);
                self.pinned.truncate(pins);
                self.finish_loop(s, &slots, &collected);
            }
            COp::Build(extents, indices, body) => {
                let extents = self.operands(&extents.iter().collect::<Vec<_>>(), &s.kill);
                let outer = extents.len() as u32;
                let ranks = s.types.iter().map(|t| self.rank(*t) - outer).collect();
                let indices: Box<[u32]> = indices.iter().map(|v| self.bind(*v, None)).collect();
                let start = self.push(Ins::Build { extents, indices: indices.clone(), ranks, exit: 0 });
                let top = self.here();
                let used = self.used.clone();
                self.stmts(body);
                let results = self.operands(&body.results.iter().collect::<Vec<_>>(), &body.kill);
                self.restore(&used);
                self.span = s.span;
                self.push(Ins::BuildNext { results, indices: indices.clone(), top });
                let exit = self.here();
                self.aim(start, exit);
                indices.iter().for_each(|slot| self.release(*slot));
                self.drop_vars(&s.kill_after);
                let dsts = self.results(&s.vars);
                self.push(Ins::BuildEnd(dsts));
            }
        }
    }

    fn rank(&self, ty: TypeId) -> u32 {
        match self.program.ty(ty) {
            Type::Array { rank, .. } => *rank,
            _ => 0,
        }
    }

    /// Slots as they were when a repeated block began.
    fn restore(&mut self, used: &[bool]) {
        self.first_free = 0;
        self.used[..used.len()].copy_from_slice(used);
        self.used[used.len()..].fill(false);
    }

    /// Sets the target of a jump.
    fn aim(&mut self, at: usize, target: u32) {
        match &mut self.ins[at] {
            Ins::Jump(t) | Ins::Unless(_, t) | Ins::UnlessPrim { target: t, .. } => *t = target,
            Ins::For { exit, .. } | Ins::Build { exit, .. } => *exit = target,
            other => unreachable!("{other:?} does not jump"),
        }
    }

    /// A jump unless a condition holds; the comparison before it is drawn into it if nobody else wants its result.
    fn unless(&mut self, cond: &Atom, kill: &[Var]) -> usize {
        let last = cond.var().is_some_and(|v| kill.contains(&v));
        let cond = self.operands(&[cond], kill)[0].clone();
        if let (true, Operand::Slot(slot), Some(Ins::Prim2 { prim, dst, a, b })) = (last, &cond, self.ins.last())
            && slot == dst
            && matches!(prim, Prim::Lt | Prim::Le | Prim::Gt | Prim::Ge | Prim::Eq | Prim::Ne)
        {
            let ins = Ins::UnlessPrim { prim: *prim, a: a.clone(), b: b.clone(), target: 0 };
            let at = self.ins.len() - 1;
            self.ins[at] = ins;
            return at;
        }
        self.push(Ins::Unless(cond, 0))
    }

    /// The sides of a branch. `enter` is told where each begins.
    fn branches(&mut self, s: &CStmt, blocks: &[&CBlock], mut enter: impl FnMut(&mut Self, usize, u32)) {
        let used = self.used.clone();
        let outer = std::mem::take(&mut self.freed);
        let mut ends = Vec::new();
        for (k, b) in blocks.iter().enumerate() {
            self.restore(&used);
            let at = self.here();
            enter(self, k, at);
            self.drop_vars(&b.unused);
            self.stmts(b);
            self.span = s.span;
            let results = self.operands(&b.results.iter().collect::<Vec<_>>(), &b.kill);
            // The moves are filled in when it is known where the results live.
            let moves = self.push(Ins::Moves(Box::default()));
            let jump = (k + 1 < blocks.len()).then(|| self.push(Ins::Jump(0)));
            ends.push((moves, jump, results));
        }
        let after = self.here();
        self.restore(&used);
        for slot in std::mem::replace(&mut self.freed, outer) {
            if used.get(slot as usize) == Some(&true) {
                self.release(slot);
            }
        }
        let mut dsts = Vec::new();
        for (i, v) in s.vars.iter().enumerate() {
            let wanted = ends.iter().find_map(|(_, _, results)| match results[i] {
                Operand::Slot(slot) | Operand::Last(slot) if !self.used[slot as usize] => Some(slot),
                _ => None,
            });
            dsts.push(self.bind(*v, wanted));
        }
        for (at, jump, results) in ends {
            let pairs = Self::moves(dsts.iter().copied().zip(results).collect());
            match jump {
                // Nothing to move: the jump at once.
                Some(jump) if pairs.is_empty() => {
                    self.ins[at] = Ins::Jump(after);
                    self.ins[jump] = Ins::Jump(after);
                }
                Some(jump) => {
                    self.ins[at] = Self::move_ins(pairs);
                    self.ins[jump] = Ins::Jump(after);
                }
                None => self.ins[at] = Self::move_ins(pairs),
            }
        }
    }

    /// The state of a loop in its slots, and slots for what is collected.
    fn start_loop(&mut self, state: &[Var], init: Vec<Operand>, body: &CBlock) -> (Vec<u32>, Vec<u32>) {
        let mut slots = Vec::new();
        for (v, from) in state.iter().zip(&init) {
            let wanted = match from {
                Operand::Slot(s) | Operand::Last(s) => Some(*s),
                Operand::Const(_) => None,
            };
            slots.push(self.bind(*v, wanted));
        }
        let pairs = Self::moves(slots.iter().copied().zip(init).collect());
        if !pairs.is_empty() {
            self.push(Self::move_ins(pairs));
        }
        let collected: Vec<u32> = (state.len()..body.results.len()).map(|_| self.take_slot(None)).collect();
        for slot in &collected {
            self.pinned.push(*slot);
            self.push(Ins::CollectNew(*slot));
        }
        (slots, collected)
    }

    /// One turn: the body, what is collected, and the next state.
    fn turn(&mut self, body: &CBlock, slots: &[u32], collected: &[u32]) {
        let used = self.used.clone();
        self.stmts(body);
        // What is collected is read first.
        let (state, kept) = body.results.split_at(slots.len());
        let mut kept = self.operands(&kept.iter().chain(state).collect::<Vec<_>>(), &body.kill).into_vec();
        let results = kept.split_off(collected.len());
        self.restore(&used);
        for (slot, from) in collected.iter().zip(kept) {
            self.push(Ins::Collect { slot: *slot, from });
        }
        let pairs = Self::moves(slots.iter().copied().zip(results).collect());
        if !pairs.is_empty() {
            self.push(Self::move_ins(pairs));
        }
    }

    /// After a loop, the state is the result.
    fn finish_loop(&mut self, s: &CStmt, slots: &[u32], collected: &[u32]) {
        self.span = s.span;
        for slot in collected {
            self.push(Ins::CollectEnd(*slot));
        }
        self.drop_vars(&s.kill_after);
        for (v, slot) in s.vars.iter().zip(slots.iter().chain(collected)) {
            self.slot_of.insert(*v, *slot);
        }
    }

    fn leaf(&mut self, op: &Op, s: &CStmt) {
        if let Some(ins) = self.quick(op, s) {
            self.push(ins);
            return;
        }
        let mut op = op.clone();
        op.map_atoms(|a| {
            if let Atom::Var(v) = a {
                *v = Var::new(self.slot(*v) as usize);
            }
        });
        let kill = s.kill.iter().filter(|v| !self.is_scalar(**v)).map(|v| Var::new(self.slot(*v) as usize)).collect();
        self.release_vars(&s.kill);
        let vars = self.results(&s.vars).iter().map(|slot| Var::new(*slot as usize)).collect();
        let mut types = s.types.clone();
        if let COp::Leaf(Op::AccPart { acc: Atom::Var(acc), .. }) = &s.op {
            // The type of the whole says how many parts there are.
            types.push(self.vars[*acc].ty);
        }
        self.push(Ins::Leaf(Box::new(CStmt {
            vars,
            types,
            op: COp::Leaf(op),
            span: s.span,
            kill,
            kill_after: Vec::new(),
            unused: Vec::new(),
        })));
    }

    /// The short form of an operation that has one.
    fn quick(&mut self, op: &Op, s: &CStmt) -> Option<Ins> {
        let element = |maker: &Self| maker.rank(s.types[0]) == 0;
        let atoms: Vec<&Atom> = match op {
            Op::Call { args, .. } => args.iter().collect(),
            Op::Dispatch { on, args, .. } => [on].into_iter().chain(args).collect(),
            Op::Prim(_, args) if !self.plain => args.iter().collect(),
            Op::Copy(a) => vec![a],
            Op::Index { array, at } if at.len() <= 2 && element(self) => [array].into_iter().chain(at).collect(),
            Op::Update { array, subs, value } => match &subs[..] {
                [Sub::At(i)] if self.rank(s.types[0]) == 1 => vec![array, i, value],
                _ => return None,
            },
            Op::Dim { array, .. } => vec![array],
            Op::Tuple(parts) if !parts.is_empty() => parts.iter().collect(),
            Op::Adt { fields, .. } | Op::TanAdt { fields, .. } => fields.iter().collect(),
            Op::Closure { captures, .. } | Op::TanClosure { captures, .. } => captures.iter().collect(),
            Op::Proj(base, _) | Op::Field { base, .. } | Op::Capture { base, .. } => vec![base],
            _ => return None,
        };
        let args = self.operands(&atoms, &s.kill);
        let dsts = self.results(&s.vars);
        let mut args = args.into_vec().into_iter();
        let mut next = || args.next().expect("as many operands as the operation has");
        Some(match op {
            Op::Call { func, .. } => Ins::Call { f: *func, args: args.collect(), dsts },
            Op::Dispatch { path, .. } => {
                Ins::Dispatch { on: next(), path: path.as_slice().into(), args: args.collect(), dsts }
            }
            Op::Prim(prim, atoms) => match atoms.len() {
                1 => Ins::Prim1 { prim: *prim, dst: dsts[0], a: next() },
                2 => Ins::Prim2 { prim: *prim, dst: dsts[0], a: next(), b: next() },
                _ => Ins::Prim3 { prim: *prim, dst: dsts[0], args: Box::new([next(), next(), next()]) },
            },
            Op::Copy(_) => Ins::Move { dst: dsts[0], from: next() },
            Op::Index { at, .. } if at.len() == 1 => Ins::Index1 { dst: dsts[0], array: next(), i: next() },
            Op::Index { .. } => Ins::Index2 { dst: dsts[0], array: next(), at: Box::new([next(), next()]) },
            Op::Update { .. } => Ins::Update1 { dst: dsts[0], array: next(), with: Box::new([next(), next()]) },
            Op::Dim { axis, .. } => Ins::Dim { dst: dsts[0], array: next(), axis: *axis },
            Op::Tuple(_) => Ins::Make { dst: dsts[0], kind: Kind::Tuple, parts: args.collect() },
            Op::Adt { adt, variant, .. } | Op::TanAdt { adt, variant, .. } => {
                Ins::Make { dst: dsts[0], kind: Kind::Adt(*adt, *variant), parts: args.collect() }
            }
            Op::Closure { code, .. } | Op::TanClosure { code, .. } => Ins::Make {
                dst: dsts[0],
                kind: Kind::Fn(*code, self.program.attached.contains(code)),
                parts: args.collect(),
            },
            Op::Proj(_, index) | Op::Field { index, .. } | Op::Capture { index, .. } => {
                Ins::Part { dst: dsts[0], whole: next(), index: *index, ty: s.types[0] }
            }
            other => unreachable!("{other:?} has no short form"),
        })
    }
}

/// An empty vector.
pub(super) fn nothing_collected() -> Value {
    Value::Array(Rc::new(Array::vector(crate::array::Data::Any(Vec::new()))))
}
