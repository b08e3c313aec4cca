//! Pass `merge`: operations that were computed before are not computed again (common subexpressions).
//!
//! In: a function. Out: the same, where an operation with the same operands and result types as one before it, in the same
//! block or around it, is replaced by the results of that one. Only operations without blocks and without effects; one that can
//! fail may be merged, since its twin would have failed before it. Zeros stay apart.

use crate::forward::same;
use cotan_ir::{
    Atom, Block, FnId, FnTraits, Lit, Op, Operator, Program, Step, Stmt, Sub, TypeId, Var, VarInfo, own_traits,
};
use cotan_source::{Idx, IndexVec};
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::{Hash, Hasher};

pub(crate) fn run<A: Operator>(program: &mut Program<A>, id: FnId, fns: &FnTraits) -> bool {
    let func = &mut program.fns[id];
    let mut body = std::mem::take(&mut func.body);
    let mut vars = std::mem::take(&mut func.vars);
    let mut names = Vec::new();
    let mut merge = Merge {
        program,
        fns,
        vars: &vars,
        table: FxHashMap::default(),
        replaced: vec![None; vars.len()],
        names: &mut names,
    };
    merge.block(&mut body);
    for (old, new) in &names {
        if vars[*new].name.is_none() {
            vars[*new].name = vars[*old].name.take();
        }
    }
    let func = &mut program.fns[id];
    func.body = body;
    func.vars = vars;
    !names.is_empty()
}

/// An operation and its results.
type Seen<A> = (Op<A>, Vec<Var>);

struct Merge<'a, A> {
    program: &'a Program<A>,
    fns: &'a FnTraits,
    vars: &'a IndexVec<Var, VarInfo>,
    /// Operations in scope by their hash.
    table: FxHashMap<u64, Vec<Seen<A>>>,
    replaced: Vec<Option<Var>>,
    names: &'a mut Vec<(Var, Var)>,
}

impl<A: Operator> Merge<'_, A> {
    fn resolve(&self, atom: &mut Atom) {
        if let Atom::Var(v) = atom
            && let Some(new) = self.replaced[v.index()]
        {
            *v = new;
        }
    }

    fn block(&mut self, block: &mut Block<A>) {
        let mut scope = Vec::new();
        block.stmts.retain_mut(|stmt| self.stmt(stmt, &mut scope));
        block.results.iter_mut().for_each(|a| self.resolve(a));
        for hash in scope.into_iter().rev() {
            if let Some(bucket) = self.table.get_mut(&hash) {
                bucket.pop();
            }
        }
    }

    fn stmt(&mut self, stmt: &mut Stmt<A>, scope: &mut Vec<u64>) -> bool {
        stmt.op.map_atoms(|a| self.resolve(a));
        if stmt.op.has_blocks() {
            stmt.op.for_each_block_mut(|b| self.block(b));
            return true;
        }
        if stmt.vars.is_empty() && !matches!(stmt.op, Op::Assert { .. } | Op::CheckSize { .. }) {
            return true;
        }
        // The zeros of two spaces of one type need not be the same: tangents of closures over different codes. One variable
        // for both would have one cotangent for both. They cost nothing.
        if matches!(stmt.op, Op::Zero | Op::AccNull) {
            return true;
        }
        if !own_traits(self.program, self.vars, &stmt.op, &|f| self.fns.get(f)).may_merge() {
            return true;
        }
        let types: Vec<TypeId> = stmt.vars.iter().map(|v| self.vars[*v].ty).collect();
        let hash = hash_op(&stmt.op, &types);
        let bucket = self.table.entry(hash).or_default();
        let twin = bucket.iter().find(|(op, vars)| {
            vars.len() == types.len()
                && vars.iter().zip(&types).all(|(v, t)| self.vars[*v].ty == *t)
                && same_op(op, &stmt.op)
        });
        if let Some((_, vars)) = twin {
            for (old, new) in stmt.vars.iter().zip(vars) {
                self.replaced[old.index()] = Some(*new);
                self.names.push((*old, *new));
            }
            return false;
        }
        bucket.push((stmt.op.clone(), stmt.vars.clone()));
        scope.push(hash);
        true
    }
}

/// Whether two operations are the same, literals bit for bit.
fn same_op<A: Operator>(a: &Op<A>, b: &Op<A>) -> bool {
    // Equality of operations takes 0 and -0 for the same and NaN for different from itself; the former matters.
    a == b && a.atoms().iter().zip(b.atoms()).all(|(x, y)| same(x, y))
}

fn hash_op<A: Operator>(op: &Op<A>, types: &[TypeId]) -> u64 {
    let mut h = FxHasher::default();
    std::mem::discriminant(op).hash(&mut h);
    types.hash(&mut h);
    // Attributes only make the hash better: equality is checked anyway.
    match op {
        Op::Prim(prim, _) | Op::Map(prim, _) => prim.hash(&mut h),
        Op::Proj(_, i) | Op::Dim { axis: i, .. } => i.hash(&mut h),
        Op::Field { variant, index, .. } => (variant, index).hash(&mut h),
        Op::Capture { index, .. } => index.hash(&mut h),
        Op::Adt { adt, variant, .. } | Op::TanAdt { adt, variant, .. } => (adt, variant).hash(&mut h),
        Op::Closure { code: f, .. } | Op::Call { func: f, .. } => f.hash(&mut h),
        Op::TanPart { step, .. } | Op::AccPart { step, .. } => match step {
            Step::Proj(i) | Step::Field { index: i, .. } | Step::Capture { index: i, .. } => i.hash(&mut h),
            Step::Index { subs, .. } => subs.iter().for_each(|s| matches!(s, Sub::At(_)).hash(&mut h)),
        },
        _ => {}
    }
    op.for_each_atom(|a| match a {
        Atom::Var(v) => v.hash(&mut h),
        Atom::Lit(Lit::F64(x)) => x.to_bits().hash(&mut h),
        Atom::Lit(Lit::F32(x)) => x.to_bits().hash(&mut h),
        Atom::Lit(Lit::I64(x)) => x.hash(&mut h),
        Atom::Lit(Lit::Bool(x)) => x.hash(&mut h),
        Atom::Lit(Lit::Str(x)) => x.hash(&mut h),
        Atom::Lit(Lit::Unit) => {}
    });
    h.finish()
}
