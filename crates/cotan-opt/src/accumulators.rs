//! Pass `accumulators`: accumulators that are not needed as such.
//!
//! In: a function. Out: the same, where an accumulator whose sum nobody takes forgets what is added, and one that is added
//! to at most once, in the block where it is made and taken, is replaced by what is added.

use cotan_ir::{Atom, Block, FnId, FnTraits, Op, Operator, Program, Stmt, Type, Var};
use cotan_source::Idx;
use rustc_hash::FxHashMap;

pub(crate) fn run<A: Operator>(program: &mut Program<A>, id: FnId, _fns: &FnTraits) -> bool {
    let func = &program.fns[id];
    let mut uses = Uses { of: vec![Use::default(); func.vars.len()], root: FxHashMap::default(), blocks: 0 };
    uses.block(&func.body);
    if uses.root.is_empty() {
        return false;
    }
    let mut body = std::mem::take(&mut program.fns[id].body);
    let mut settle =
        Settle { program, id, uses: &uses, held: FxHashMap::default(), sums: FxHashMap::default(), changed: false };
    settle.block(&mut body);
    let (changed, sums) = (settle.changed, settle.sums);
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

    /// Made, added to at most once and taken once, all in one block.
    fn is_simple(&self, v: Var) -> bool {
        let used = &self.of[v.index()];
        used.block != 0 && used.takes == 1 && used.adds <= 1 && used.others == 0 && !used.elsewhere
    }
}

/// Start of a simple accumulator and what was added.
type Held = (Option<Atom>, Option<Atom>);

struct Settle<'a, A> {
    program: &'a Program<A>,
    id: FnId,
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
            (Op::AccNew(start), [v]) if self.uses.is_simple(*v) && self.is_sparse(*v) => {
                self.changed = true;
                self.held.insert(*v, (start.clone(), None));
                return false;
            }
            (Op::AccAdd { acc: Atom::Var(acc), value }, _) => {
                if let Some(held) = self.held.get_mut(acc) {
                    held.1 = Some(value.clone());
                    return false;
                }
            }
            (Op::AccTake(Atom::Var(acc)), [v]) => match self.held.remove(acc) {
                Some((None, None)) => stmt.op = Op::Zero,
                Some((Some(only), None) | (None, Some(only))) => {
                    self.sums.insert(*v, only);
                    return false;
                }
                Some((Some(start), Some(added))) => stmt.op = Op::SpaceAdd(start, added),
                None => {}
            },
            _ => {}
        }
        stmt.op.for_each_block_mut(|b| self.block(b));
        true
    }

    /// Whether the zero that an accumulator starts from is neutral (that of a float is not: it turns -0 into 0).
    fn is_sparse(&self, acc: Var) -> bool {
        match self.program.ty(self.program.fns[self.id].vars[acc].ty) {
            Type::Acc(of) => match self.program.ty(*of) {
                Type::Array { .. } | Type::Adt(_) | Type::Fn { .. } | Type::Tan(_) | Type::Residual => true,
                Type::F64 | Type::F32 | Type::I64 | Type::Bool | Type::Str | Type::Tuple(_) | Type::Acc(_) => false,
            },
            _ => false,
        }
    }
}
