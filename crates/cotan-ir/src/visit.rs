//! Walking over operations: operands, nested blocks, bound and free variables; fresh copies and substitution.
//!
//! In: operations and blocks. Out: their parts, one exhaustive match for each question, so that a new operation is a
//! compile error here and nowhere silently forgotten. Operands are visited in the order in which they are written.

use crate::{AdOp, Atom, Block, Func, Op, Operator, Step, Stmt, Sub, Var};
use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

/// The operands of an operation, by reference or by mutable reference: match ergonomics give both from one text.
macro_rules! walk_atoms {
    ($op:expr, $f:ident, $ad:ident) => {
        match $op {
            Op::Copy(a)
            | Op::Proj(a, _)
            | Op::Field { base: a, .. }
            | Op::Capture { base: a, .. }
            | Op::Dim { array: a, .. }
            | Op::Reduce(_, a)
            | Op::ArgReduce { array: a, .. }
            | Op::Argsort(a)
            | Op::Transpose(a)
            | Op::SpaceNeg(a)
            | Op::ZeroLike(a)
            | Op::Sparse(a)
            | Op::AccNew(Some(a))
            | Op::AccTake(a)
            | Op::ToStr(a)
            | Op::StopGradient(a)
            | Op::Panic(a)
            | Op::If { cond: a, .. }
            | Op::Switch { on: a, .. } => $f(a),
            Op::Prim(_, items)
            | Op::Map(_, items)
            | Op::Tuple(items)
            | Op::Adt { fields: items, .. }
            | Op::Closure { captures: items, .. }
            | Op::Call { args: items, .. }
            | Op::Array(items)
            | Op::TanAdt { fields: items, .. }
            | Op::TanClosure { captures: items, .. }
            | Op::Effect(_, items)
            | Op::Inspect(_, items)
            | Op::While { init: items, .. }
            | Op::Build { extents: items, .. } => {
                for a in items {
                    $f(a);
                }
            }
            Op::Dispatch { on: first, args: rest, .. }
            | Op::For { count: first, init: rest, .. }
            | Op::Index { array: first, at: rest }
            | Op::Spread { tan: first, extents: rest } => {
                $f(first);
                for a in rest {
                    $f(a);
                }
            }
            Op::Fill { extents, value } => {
                for a in extents {
                    $f(a);
                }
                $f(value);
            }
            Op::Attach { f: a, rule: b, .. }
            | Op::Gather { array: a, positions: b }
            | Op::Concat(a, b)
            | Op::MatMul(a, b)
            | Op::SpaceAdd(a, b)
            | Op::SpaceScale(a, b)
            | Op::SpaceDot(a, b)
            | Op::Move(a, b)
            | Op::Densify { tan: a, like: b }
            | Op::AccAdd { acc: a, value: b }
            | Op::Equal(a, b)
            | Op::StrConcat(a, b)
            | Op::Probe { label: a, value: b, .. }
            | Op::Assert { cond: a, message: b }
            | Op::CheckSize { actual: a, expected: b, .. } => {
                $f(a);
                $f(b);
            }
            Op::ScatterAdd { base, positions, values } => {
                $f(base);
                $f(positions);
                $f(values);
            }
            Op::Slice { array, subs } => {
                $f(array);
                walk_subs!(subs, $f);
            }
            Op::Update { array, subs, value } => {
                $f(array);
                walk_subs!(subs, $f);
                $f(value);
            }
            Op::TanUpdate { tan, subs, extents, value } => {
                $f(tan);
                walk_subs!(subs, $f);
                for a in extents {
                    $f(a);
                }
                $f(value);
            }
            Op::TanPart { tan: a, step } | Op::AccPart { acc: a, step } => {
                $f(a);
                match step {
                    Step::Proj(_) | Step::Field { .. } | Step::Capture { .. } => {}
                    Step::Index { subs, extents } => {
                        walk_subs!(subs, $f);
                        for a in extents {
                            $f(a);
                        }
                    }
                }
            }
            Op::Zero | Op::AccNew(None) | Op::AccNull => {}
            Op::Ad(op) => match op.$ad() {
                AdOp::Jvp { f, x, dx } => {
                    $f(f);
                    $f(x);
                    $f(dx);
                }
                AdOp::Vjp { f, x } | AdOp::Pullback { f, x } => {
                    $f(f);
                    $f(x);
                }
            },
        }
    };
}

macro_rules! walk_subs {
    ($subs:expr, $f:ident) => {
        for sub in $subs {
            match sub {
                Sub::At(a) => $f(a),
                Sub::Range(lo, hi) => {
                    $f(lo);
                    $f(hi);
                }
            }
        }
    };
}

/// The nested blocks of an operation.
macro_rules! walk_blocks {
    ($op:expr, $f:ident) => {
        match $op {
            Op::If { then, otherwise, .. } => {
                $f(then);
                $f(otherwise);
            }
            Op::Switch { arms, default, .. } => {
                for (_, block) in arms {
                    $f(block);
                }
                if let Some(block) = default {
                    $f(block);
                }
            }
            Op::While { cond, body, .. } => {
                $f(cond);
                $f(body);
            }
            Op::For { body, .. } | Op::Build { body, .. } => $f(body),
            no_blocks!() => {}
        }
    };
}

/// The variables that an operation binds in its nested blocks.
macro_rules! walk_bound {
    ($op:expr, $f:ident) => {
        match $op {
            Op::For { index, state, .. } => {
                $f(index);
                for v in state {
                    $f(v);
                }
            }
            Op::While { state: vars, .. } | Op::Build { indices: vars, .. } => {
                for v in vars {
                    $f(v);
                }
            }
            Op::If { .. } | Op::Switch { .. } | no_blocks!() => {}
        }
    };
}

/// The operations without nested blocks.
macro_rules! no_blocks {
    () => {
        Op::Copy(_)
            | Op::Prim(..)
            | Op::Map(..)
            | Op::Tuple(_)
            | Op::Proj(..)
            | Op::Adt { .. }
            | Op::Field { .. }
            | Op::Closure { .. }
            | Op::Capture { .. }
            | Op::Call { .. }
            | Op::Dispatch { .. }
            | Op::Attach { .. }
            | Op::Array(_)
            | Op::Fill { .. }
            | Op::Index { .. }
            | Op::Slice { .. }
            | Op::Update { .. }
            | Op::Dim { .. }
            | Op::Reduce(..)
            | Op::ArgReduce { .. }
            | Op::Argsort(_)
            | Op::Gather { .. }
            | Op::ScatterAdd { .. }
            | Op::Concat(..)
            | Op::Transpose(_)
            | Op::MatMul(..)
            | Op::SpaceAdd(..)
            | Op::SpaceNeg(_)
            | Op::SpaceScale(..)
            | Op::SpaceDot(..)
            | Op::ZeroLike(_)
            | Op::Move(..)
            | Op::Inspect(..)
            | Op::Zero
            | Op::Densify { .. }
            | Op::Spread { .. }
            | Op::Sparse(_)
            | Op::TanPart { .. }
            | Op::TanAdt { .. }
            | Op::TanClosure { .. }
            | Op::TanUpdate { .. }
            | Op::AccNew(_)
            | Op::AccNull
            | Op::AccPart { .. }
            | Op::AccAdd { .. }
            | Op::AccTake(_)
            | Op::Equal(..)
            | Op::ToStr(_)
            | Op::StrConcat(..)
            | Op::StopGradient(_)
            | Op::Probe { .. }
            | Op::Assert { .. }
            | Op::Panic(_)
            | Op::CheckSize { .. }
            | Op::Effect(..)
            | Op::Ad(_)
    };
}

impl<A: Operator> Op<A> {
    /// Calls `f` on each operand of the operation itself, nested blocks left out.
    pub fn for_each_atom<'a>(&'a self, mut f: impl FnMut(&'a Atom)) {
        walk_atoms!(self, f, ad)
    }

    /// As [`for_each_atom`](Self::for_each_atom), for change.
    pub fn map_atoms(&mut self, mut f: impl FnMut(&mut Atom)) {
        walk_atoms!(self, f, ad_mut)
    }

    /// The operands of the operation itself.
    pub fn atoms(&self) -> Vec<&Atom> {
        let mut out = Vec::new();
        self.for_each_atom(|a| out.push(a));
        out
    }

    /// Calls `f` on each nested block.
    pub fn for_each_block<'a>(&'a self, mut f: impl FnMut(&'a Block<A>)) {
        walk_blocks!(self, f)
    }

    /// Calls `f` on each nested block, for change.
    pub fn for_each_block_mut<'a>(&'a mut self, mut f: impl FnMut(&'a mut Block<A>)) {
        walk_blocks!(self, f)
    }

    /// Whether there are nested blocks.
    pub fn has_blocks(&self) -> bool {
        !matches!(self, no_blocks!())
    }

    /// Calls `f` on each variable that the operation binds in its nested blocks (index, state, indices).
    pub fn for_each_bound(&self, mut f: impl FnMut(&Var)) {
        walk_bound!(self, f)
    }

    /// As [`for_each_bound`](Self::for_each_bound), for change.
    pub fn for_each_bound_mut(&mut self, mut f: impl FnMut(&mut Var)) {
        walk_bound!(self, f)
    }

    /// Calls `f` on each variable that is used, in nested blocks too (also those that are bound there).
    pub fn for_each_use(&self, f: &mut impl FnMut(Var)) {
        self.for_each_atom(|a| {
            if let Atom::Var(v) = a {
                f(*v);
            }
        });
        self.for_each_block(|b| b.for_each_use(f));
    }

    /// The operation with all operands, also in nested blocks, replaced where `map` says so.
    pub fn substitute(&mut self, map: &FxHashMap<Var, Atom>) {
        self.map_atoms(|a| replace(a, map));
        self.for_each_block_mut(|b| b.substitute(map));
    }
}

impl<A: Operator> Block<A> {
    /// Calls `f` on each variable that is used in the block, nested ones included.
    pub fn for_each_use(&self, f: &mut impl FnMut(Var)) {
        for stmt in &self.stmts {
            stmt.op.for_each_use(f);
        }
        for atom in &self.results {
            if let Atom::Var(v) = atom {
                f(*v);
            }
        }
    }

    /// Calls `f` on each statement, those of nested blocks after the one that holds them.
    pub fn for_each_stmt<'a>(&'a self, f: &mut impl FnMut(&'a Stmt<A>)) {
        for stmt in &self.stmts {
            f(stmt);
            stmt.op.for_each_block(|b| b.for_each_stmt(f));
        }
    }

    /// Calls `f` on each variable that is defined or bound in the block, nested ones included.
    pub fn for_each_def(&self, f: &mut impl FnMut(Var)) {
        for stmt in &self.stmts {
            stmt.op.for_each_bound(|v| f(*v));
            stmt.op.for_each_block(|b| b.for_each_def(f));
            stmt.vars.iter().for_each(|v| f(*v));
        }
    }

    /// The variables that are used but not defined in the block, in order of first use. Variables that the operation
    /// around the block binds count as free.
    pub fn free_vars(&self) -> Vec<Var> {
        let mut defined = FxHashSet::default();
        self.for_each_def(&mut |v| {
            defined.insert(v);
        });
        let mut free: IndexSet<Var, FxBuildHasher> = IndexSet::default();
        self.for_each_use(&mut |v| {
            if !defined.contains(&v) {
                free.insert(v);
            }
        });
        free.into_iter().collect()
    }

    /// Replaces operands where `map` says so.
    pub fn substitute(&mut self, map: &FxHashMap<Var, Atom>) {
        for stmt in &mut self.stmts {
            stmt.op.substitute(map);
        }
        for atom in &mut self.results {
            replace(atom, map);
        }
    }

    /// A copy in which every variable defined inside is new: `fresh` makes the new one for an old one. `map` holds
    /// what outer variables become (those not in it stay) and, afterwards, also what the inner ones became.
    pub fn fresh_copy(&self, map: &mut FxHashMap<Var, Atom>, fresh: &mut impl FnMut(Var) -> Var) -> Block<A> {
        let mut copy = self.clone();
        copy.refresh(map, fresh);
        copy
    }

    /// As [`fresh_copy`](Self::fresh_copy), in place.
    pub fn refresh(&mut self, map: &mut FxHashMap<Var, Atom>, fresh: &mut impl FnMut(Var) -> Var) {
        fn rename(v: &mut Var, map: &mut FxHashMap<Var, Atom>, fresh: &mut impl FnMut(Var) -> Var) {
            let new = fresh(*v);
            map.insert(*v, Atom::Var(new));
            *v = new;
        }
        for stmt in &mut self.stmts {
            stmt.op.map_atoms(|a| replace(a, map));
            stmt.op.for_each_bound_mut(|v| rename(v, map, fresh));
            stmt.op.for_each_block_mut(|b| b.refresh(map, fresh));
            stmt.vars.iter_mut().for_each(|v| rename(v, map, fresh));
        }
        for atom in &mut self.results {
            replace(atom, map);
        }
    }

    /// The number of statements, nested ones included.
    pub fn size(&self) -> usize {
        let mut n = 0;
        self.for_each_stmt(&mut |_| n += 1);
        n
    }
}

fn replace(atom: &mut Atom, map: &FxHashMap<Var, Atom>) {
    if let Atom::Var(v) = atom
        && let Some(new) = map.get(v)
    {
        *atom = new.clone();
    }
}

/// The number of statements of a function, nested ones included.
pub fn size<A: Operator>(func: &Func<A>) -> usize {
    func.body.size()
}
