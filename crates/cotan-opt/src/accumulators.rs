//! Pass `accumulators`: accumulators that are not needed as such.
//!
//! In: a function. Out: the same, where an accumulator whose sum nobody takes forgets what is added, and one that is made, added to
//! and taken in one block, as a whole or by parts, is replaced by the sums of what is added.
//! The first that is added to an accumulator becomes its sum as it is, so the bits stay.

use crate::forward::is_float;
use cotan_ir::{
    Atom, Block, FnId, FnTraits, Lit, Op, Operator, Program, Step, Stmt, Type, TypeId, Var, VarInfo, tangent_type,
};
use cotan_prim::Prim;
use cotan_source::{Idx, IndexVec, Span};
use rustc_hash::{FxHashMap, FxHashSet};

pub(crate) fn run<A: Operator>(program: &mut Program<A>, id: FnId, _fns: &FnTraits) -> bool {
    let func = &program.fns[id];
    let mut uses = Uses {
        of: vec![Use::default(); func.vars.len()],
        root: FxHashMap::default(),
        stuck: FxHashSet::default(),
        blocks: 0,
    };
    uses.block(&func.body);
    if uses.root.is_empty() {
        return false;
    }
    uses.judge();
    let mut body = std::mem::take(&mut program.fns[id].body);
    let vars = std::mem::take(&mut program.fns[id].vars);
    let (held, sums) = (FxHashMap::default(), FxHashMap::default());
    let mut settle = Settle { program, vars, uses: &uses, nodes: Vec::new(), held, sums, changed: false };
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
    /// Parts that were named.
    parts: Vec<Step>,
    /// Calls, results: anything else.
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
    /// Those made here that stay accumulators.
    stuck: FxHashSet<Var>,
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
                    if let Some(start) = start {
                        self.of[v.index()].adds += 1;
                        self.other(start);
                    }
                }
                (Op::AccAdd { acc, value }, _) => {
                    self.at(acc, here, |u| u.adds += 1);
                    self.other(value);
                }
                (Op::AccTake(acc), _) => {
                    self.at(acc, here, |u| u.takes += 1);
                    self.root_of(acc, |u| u.taken = true);
                }
                (Op::AccPart { acc, step }, [v]) => {
                    self.at(acc, here, |u| {
                        if u.parts.iter().any(|of| of == step || !same_kind(of, step))
                            || matches!(step, Step::Index { .. })
                        {
                            u.others += 1;
                        } else {
                            u.parts.push(step.clone());
                        }
                    });
                    self.of[v.index()].block = here;
                    if let Some(root) = acc.var().and_then(|a| self.root.get(&a).copied()) {
                        self.root.insert(*v, root);
                    }
                    if let Step::Index { subs, extents } = step {
                        extents.iter().for_each(|a| self.other(a));
                        for sub in subs {
                            match sub {
                                cotan_ir::Sub::At(a) => self.other(a),
                                cotan_ir::Sub::Range(a, b) => [a, b].into_iter().for_each(|a| self.other(a)),
                            }
                        }
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

    /// Decides which accumulators stay: those that are not made, added to and taken once in one block, and those that are added to
    /// as a whole and by parts.
    fn judge(&mut self) {
        for (v, root) in &self.root {
            let used = &self.of[v.index()];
            let whole = v == root;
            if used.elsewhere
                || used.others > 0
                || (whole && used.takes != 1)
                || (!used.parts.is_empty() && used.adds > 0)
                || self.of[root.index()].block != used.block
            {
                self.stuck.insert(*root);
            }
        }
    }

    fn never_taken(&self, v: Var) -> bool {
        let used = &self.of[v.index()];
        used.block != 0 && !used.taken
    }
}

/// Whether two parts are of the same kind of whole.
fn same_kind(a: &Step, b: &Step) -> bool {
    match (a, b) {
        (Step::Proj(_), Step::Proj(_)) => true,
        (Step::Field { adt, variant, .. }, Step::Field { adt: b, variant: w, .. }) => adt == b && variant == w,
        (Step::Capture { code, .. }, Step::Capture { code: b, .. }) => code == b,
        _ => false,
    }
}

/// What an accumulator that goes away holds: a sum, or sums by parts.
#[derive(Default)]
struct Node {
    sum: Option<Atom>,
    parts: Vec<(Step, usize)>,
    /// The type that it accumulates for.
    ty: Option<TypeId>,
}

struct Settle<'a, A> {
    program: &'a mut Program<A>,
    vars: IndexVec<Var, VarInfo>,
    uses: &'a Uses,
    nodes: Vec<Node>,
    /// Accumulators that go away.
    held: FxHashMap<Var, usize>,
    /// Sums that exist already.
    sums: FxHashMap<Var, Atom>,
    changed: bool,
}

impl<A: Operator> Settle<'_, A> {
    fn block(&mut self, block: &mut Block<A>) {
        let mut out = Vec::with_capacity(block.stmts.len());
        for mut stmt in std::mem::take(&mut block.stmts) {
            if self.stmt(&mut stmt, &mut out) {
                stmt.op.for_each_block_mut(|b| self.block(b));
                out.push(stmt);
            }
        }
        block.stmts = out;
    }

    /// Whether the statement stays. What comes before it goes into `out`.
    fn stmt(&mut self, stmt: &mut Stmt<A>, out: &mut Vec<Stmt<A>>) -> bool {
        match (&stmt.op, &stmt.vars[..]) {
            (Op::AccNew(_), [v]) if self.uses.never_taken(*v) => {
                self.changed = true;
                stmt.op = Op::AccNull;
            }
            (Op::AccNew(start), [v]) if !self.uses.stuck.contains(v) => {
                self.changed = true;
                let ty = self.accumulated(*v);
                self.nodes.push(Node { sum: start.clone(), parts: Vec::new(), ty });
                self.held.insert(*v, self.nodes.len() - 1);
                return false;
            }
            (Op::AccPart { acc: Atom::Var(acc), step }, [v]) => {
                let Some(at) = self.held.get(acc).copied() else { return true };
                let ty = self.accumulated(*v);
                self.nodes.push(Node { ty, ..Node::default() });
                let part = self.nodes.len() - 1;
                self.nodes[at].parts.push((step.clone(), part));
                self.held.insert(*v, part);
                return false;
            }
            (Op::AccAdd { acc: Atom::Var(acc), value }, _) => {
                let Some(at) = self.held.get(acc).copied() else { return true };
                let Some(sum) = self.nodes[at].sum.take() else {
                    self.nodes[at].sum = Some(value.clone());
                    return false;
                };
                let of = self.nodes[at].ty.expect("an accumulator has its type");
                let op = if is_float(self.program.ty(of)) {
                    Op::Prim(Prim::Add, vec![sum, value.clone()])
                } else {
                    Op::SpaceAdd(sum, value.clone())
                };
                let ty = tangent_type(self.program, of);
                let name = self.vars[*acc].name.clone();
                let new = self.vars.push(VarInfo { ty, name });
                self.nodes[at].sum = Some(new.into());
                stmt.vars = vec![new];
                stmt.op = op;
            }
            (Op::AccTake(Atom::Var(acc)), [v]) => {
                let Some(at) = self.held.get(acc).copied() else { return true };
                let sum = self.sum(at, stmt.span, out);
                self.sums.insert(*v, sum);
                return false;
            }
            _ => {}
        }
        true
    }

    fn accumulated(&self, acc: Var) -> Option<TypeId> {
        match self.program.ty(self.vars[acc].ty) {
            Type::Acc(of) => Some(*of),
            _ => None,
        }
    }

    /// What an accumulator holds, as one value.
    fn sum(&mut self, at: usize, span: Span, out: &mut Vec<Stmt<A>>) -> Atom {
        let ty = self.nodes[at].ty.expect("an accumulator has its type");
        let tan = tangent_type(self.program, ty);
        if let Some(sum) = &self.nodes[at].sum {
            return sum.clone();
        }
        let parts = std::mem::take(&mut self.nodes[at].parts);
        let op = match parts.first() {
            None => Op::Zero,
            Some((Step::Capture { code, .. }, _)) => {
                let code = *code;
                let types = self.program.fns[code].captures.iter().flatten().map(|c| c.ty).collect();
                let captures = self.sums(types, &parts, span, out);
                Op::TanClosure { code, captures }
            }
            Some((Step::Field { adt, variant, .. }, _)) => {
                let (adt, variant) = (*adt, *variant);
                let types = self.program.adts[adt].variants[variant as usize].fields.iter().map(|f| f.1).collect();
                let fields = self.sums(types, &parts, span, out);
                Op::TanAdt { adt, variant, fields }
            }
            Some((Step::Proj(_), _)) => {
                let Type::Tuple(types) = self.program.ty(ty).clone() else {
                    unreachable!("only tuples have components")
                };
                Op::Tuple(self.sums(types, &parts, span, out))
            }
            Some((Step::Index { .. }, _)) => unreachable!("accumulators with elements stay"),
        };
        self.emit(op, tan, span, out)
    }

    /// The sums of all parts, zero for those that were not named.
    fn sums(&mut self, types: Vec<TypeId>, parts: &[(Step, usize)], span: Span, out: &mut Vec<Stmt<A>>) -> Vec<Atom> {
        let position = |step: &Step| match step {
            Step::Proj(index) | Step::Field { index, .. } | Step::Capture { index, .. } => *index as usize,
            Step::Index { .. } => unreachable!("accumulators with elements stay"),
        };
        let mut atoms = Vec::with_capacity(types.len());
        for (i, ty) in types.into_iter().enumerate() {
            let tan = tangent_type(self.program, ty);
            let part = parts.iter().find(|(step, _)| position(step) == i).map(|(_, node)| *node);
            let unit = matches!(self.program.ty(tan), Type::Tuple(parts) if parts.is_empty());
            atoms.push(match part {
                Some(node) => self.sum(node, span, out),
                None if unit => Atom::Lit(Lit::Unit),
                None => self.emit(Op::Zero, tan, span, out),
            });
        }
        atoms
    }

    fn emit(&mut self, op: Op<A>, ty: TypeId, span: Span, out: &mut Vec<Stmt<A>>) -> Atom {
        let v = self.vars.push(VarInfo { ty, name: None });
        out.push(Stmt { vars: vec![v], op, span });
        v.into()
    }
}
