//! Pass `accumulators`: accumulators that are not needed as such.
//!
//! In: a function. Out: the same, where an accumulator whose sum nobody takes forgets what is added, and one that is made, added to
//! and taken in one block is replaced by what is added: any number of floats by their sum, anything else if it is added once.
//! The first that is added to an accumulator becomes its sum as it is, so the bits stay.

use crate::forward::is_float;
use cotan_ir::{Atom, Block, FnId, FnTraits, Op, Operator, Program, Stmt, Type, TypeId, Var, VarInfo};
use cotan_prim::Prim;
use cotan_source::{Idx, IndexVec};
use rustc_hash::FxHashMap;

pub(crate) fn run<A: Operator>(program: &mut Program<A>, id: FnId, _fns: &FnTraits) -> bool {
    let func = &program.fns[id];
    let mut uses = Uses { of: vec![Use::default(); func.vars.len()], root: FxHashMap::default(), blocks: 0 };
    uses.block(&func.body);
    if uses.root.is_empty() {
        return false;
    }
    let mut body = std::mem::take(&mut program.fns[id].body);
    let vars = std::mem::take(&mut program.fns[id].vars);
    let (held, sums) = (FxHashMap::default(), FxHashMap::default());
    let mut settle = Settle { program, vars, uses: &uses, held, sums, changed: false };
    settle.block(&mut body);
    let (vars, changed, sums) = (settle.vars, settle.changed, settle.sums);
    // A sum may be what was added to another accumulator: follow the chain to its end.
    let end = |a: &Atom| {
        let mut a = a;
        while let Atom::Var(v) = a
            && let Some(next) = sums.get(v)
        {
            a = next;
        }
        a.clone()
    };
    if !sums.is_empty() {
        let all: FxHashMap<Var, Atom> = sums.keys().map(|v| (*v, end(&Atom::Var(*v)))).collect();
        body.substitute(&all);
    }
    program.fns[id].body = body;
    program.fns[id].vars = vars;
    changed
}

/// How a variable is used as an accumulator.
#[derive(Clone, Default)]
struct Use {
    adds: u32,
    takes: u32,
    /// Parts, calls, results: anything else.
    others: u32,
    /// The block in which it is made; 0 if it is no accumulator made here.
    block: u32,
    /// Whether it is used in another block than that.
    elsewhere: bool,
    /// Whether the sum of it or of its parts may be taken, here or out of sight.
    taken: bool,
}

struct Uses {
    of: Vec<Use>,
    /// The accumulator that a part belongs to, itself for one made here.
    root: FxHashMap<Var, Var>,
    blocks: u32,
}

impl Uses {
    fn block<A: Operator>(&mut self, block: &Block<A>) {
        self.blocks += 1;
        let here = self.blocks;
        for stmt in &block.stmts {
            match (&stmt.op, &stmt.vars[..]) {
                (Op::AccNew(start), [v]) => {
                    self.of[v.index()].block = here;
                    self.root.insert(*v, *v);
                    start.iter().for_each(|a| self.other(a));
                }
                (Op::AccAdd { acc, value }, _) => {
                    self.at(acc, here, |u| u.adds += 1);
                    self.other(value);
                }
                (Op::AccTake(acc), _) => {
                    self.at(acc, here, |u| u.takes += 1);
                    self.root_of(acc, |u| u.taken = true);
                }
                (Op::AccPart { acc, .. }, [v]) => {
                    self.at(acc, here, |u| u.others += 1);
                    if let Some(root) = acc.var().and_then(|a| self.root.get(&a).copied()) {
                        self.root.insert(*v, root);
                    }
                }
                (op, _) => op.for_each_atom(|a| self.other(a)),
            }
            stmt.op.for_each_block(|b| self.block(b));
        }
        block.results.iter().for_each(|a| self.other(a));
    }

    fn at(&mut self, acc: &Atom, here: u32, f: impl FnOnce(&mut Use)) {
        if let Some(v) = acc.var() {
            let used = &mut self.of[v.index()];
            used.elsewhere |= used.block != here;
            f(used);
        }
    }

    fn root_of(&mut self, acc: &Atom, f: impl FnOnce(&mut Use)) {
        if let Some(root) = acc.var().and_then(|v| self.root.get(&v)) {
            f(&mut self.of[root.index()]);
        }
    }

    /// Any other use: an accumulator goes where it cannot be followed.
    fn other(&mut self, atom: &Atom) {
        if let Some(v) = atom.var() {
            self.of[v.index()].others += 1;
            self.root_of(atom, |u| u.taken = true);
        }
    }

    fn never_taken(&self, v: Var) -> bool {
        let used = &self.of[v.index()];
        used.block != 0 && !used.taken
    }

    /// Made, added to and taken once, all in one block; added to so often at most.
    fn is_simple(&self, v: Var, adds: u32) -> bool {
        let used = &self.of[v.index()];
        used.block != 0 && used.takes == 1 && used.adds <= adds && used.others == 0 && !used.elsewhere
    }
}

/// What a simple accumulator holds: the start or the sum, and what was added last if that is yet to be done.
struct Held {
    sum: Option<Atom>,
    last: Option<Atom>,
}

struct Settle<'a, A> {
    program: &'a Program<A>,
    vars: IndexVec<Var, VarInfo>,
    uses: &'a Uses,
    /// What simple accumulators hold so far.
    held: FxHashMap<Var, Held>,
    /// Sums that exist already.
    sums: FxHashMap<Var, Atom>,
    changed: bool,
}

impl<A: Operator> Settle<'_, A> {
    fn block(&mut self, block: &mut Block<A>) {
        block.stmts.retain_mut(|stmt| self.stmt(stmt));
    }

    /// Whether the statement stays.
    fn stmt(&mut self, stmt: &mut Stmt<A>) -> bool {
        match (&stmt.op, &stmt.vars[..]) {
            (Op::AccNew(_), [v]) if self.uses.never_taken(*v) => {
                self.changed = true;
                stmt.op = Op::AccNull;
            }
            (Op::AccNew(start), [v]) if self.uses.is_simple(*v, self.most_adds(*v)) => {
                self.changed = true;
                self.held.insert(*v, Held { sum: start.clone(), last: None });
                return false;
            }
            (Op::AccAdd { acc: Atom::Var(acc), value }, _) => {
                let Some(held) = self.held.get_mut(acc) else { return true };
                let Some(sum) = held.sum.take() else {
                    held.sum = Some(value.clone());
                    return false;
                };
                let Some(float) = self.float_of(*acc) else {
                    // The sum is made where it is taken.
                    *self.held.get_mut(acc).expect("it is held") = Held { sum: Some(sum), last: Some(value.clone()) };
                    return false;
                };
                let name = self.vars[*acc].name.clone();
                let new = self.vars.push(VarInfo { ty: float, name });
                self.held.get_mut(acc).expect("it is held").sum = Some(new.into());
                stmt.vars = vec![new];
                stmt.op = Op::Prim(Prim::Add, vec![sum, value.clone()]);
            }
            (Op::AccTake(Atom::Var(acc)), [v]) => match self.held.remove(acc) {
                Some(Held { sum: None, .. }) => stmt.op = Op::Zero,
                Some(Held { sum: Some(sum), last: None }) => {
                    self.sums.insert(*v, sum);
                    return false;
                }
                Some(Held { sum: Some(sum), last: Some(last) }) => stmt.op = Op::SpaceAdd(sum, last),
                None => {}
            },
            _ => {}
        }
        stmt.op.for_each_block_mut(|b| self.block(b));
        true
    }

    /// How often may be added to an accumulator that is replaced by a sum.
    fn most_adds(&self, acc: Var) -> u32 {
        if self.float_of(acc).is_some() { u32::MAX } else { 1 }
    }

    /// The type of the sum if it is a float.
    fn float_of(&self, acc: Var) -> Option<TypeId> {
        match self.program.ty(self.vars[acc].ty) {
            Type::Acc(of) if is_float(self.program.ty(*of)) => Some(*of),
            _ => None,
        }
    }
}
