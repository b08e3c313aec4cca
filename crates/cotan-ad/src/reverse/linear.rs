//! Reverse mode through operations of tangent spaces and accumulators.

use super::Reverse;
use crate::writer::Tree;
use cotan_ir::{Atom, Op, Step, Stmt, Type, TypeId};

impl Reverse<'_> {
    pub(super) fn linear(&mut self, stmt: &Stmt) {
        match &stmt.op {
            Op::AccNew(start) => {
                if let Some(start) = start
                    && let Some(bar) = self.reader(&stmt.vars[0].into())
                {
                    self.contribute_atom(start, bar);
                }
                return;
            }
            Op::AccNull | Op::AccPart { .. } => return,
            Op::AccAdd { acc, value } => {
                if self.takes_part(value)
                    && let Some(bar) = self.reader(acc)
                {
                    self.contribute_atom(value, bar);
                }
                return;
            }
            Op::AccTake(acc) => {
                let y = stmt.vars[0];
                let tree = self.take(y);
                let tan = self.w.tangent(self.w.vars[y].ty);
                let bar = if tree.is_none() { None } else { Some(self.w.whole(&tree, tan)) };
                self.readers.insert(acc.var().expect("accumulators are variables"), bar);
                return;
            }
            _ => {}
        }
        let y = stmt.vars[0];
        let tree = self.take(y);
        if tree.is_none() {
            return;
        }
        let ty = self.w.vars[y].ty;
        let tan = self.w.tangent(ty);
        match &stmt.op {
            Op::SpaceAdd(a, b) | Op::Move(a, b) => {
                self.contribute_as(a, tree.clone(), tan);
                self.contribute_as(b, tree, tan);
            }
            Op::SpaceNeg(a) => {
                let bar = self.w.whole(&tree, tan);
                let bar = self.w.emit(Op::SpaceNeg(bar), tan);
                self.contribute_as(a, Tree::Atom(bar), tan);
            }
            Op::SpaceScale(s, a) => {
                let bar = self.w.whole(&tree, tan);
                if self.takes_part(s) {
                    let f64 = self.w.intern(Type::F64);
                    let of_a = self.w.coerce(a.clone(), tan);
                    let s_bar = self.w.emit(Op::SpaceDot(bar.clone(), of_a), f64);
                    let st = self.w.type_of(s);
                    let s_bar = if st == f64 { s_bar } else { self.w.prim(cotan_prim::Prim::ToFloat32, vec![s_bar]) };
                    self.contribute_atom(s, s_bar);
                }
                if self.takes_part(a) {
                    let bar = self.w.emit(Op::SpaceScale(s.clone(), bar), tan);
                    self.contribute_as(a, Tree::Atom(bar), tan);
                }
            }
            Op::SpaceDot(a, b) => {
                let bar = self.w.whole(&tree, tan);
                for (x, other) in [(a, b), (b, a)] {
                    if self.takes_part(x) {
                        let xt = self.w.type_of(x);
                        let x_tan = self.w.tangent(xt);
                        let other = self.w.coerce(other.clone(), x_tan);
                        let x_bar = self.w.emit(Op::SpaceScale(bar.clone(), other), x_tan);
                        self.contribute_as(x, Tree::Atom(x_bar), x_tan);
                    }
                }
            }
            Op::Densify { tan: a, .. } | Op::Spread { tan: a, .. } | Op::Sparse(a) => self.contribute_as(a, tree, tan),
            Op::TanPart { .. } => self.give_to_base(y, tree),
            Op::TanAdt { adt, variant, fields } => {
                let bar = self.w.whole(&tree, tan);
                for (index, field) in (0..).zip(fields) {
                    self.give_part(field, &bar, Step::Field { adt: *adt, variant: *variant, index });
                }
            }
            Op::TanClosure { code, captures } => {
                let bar = self.w.whole(&tree, tan);
                for (index, capture) in (0..).zip(captures) {
                    self.give_part(capture, &bar, Step::Capture { code: *code, index });
                }
            }
            Op::TanUpdate { tan: base, subs, extents, value } => {
                let bar = self.w.whole(&tree, tan);
                let step = Step::Index { subs: subs.clone(), extents: extents.clone() };
                self.give_part(value, &bar, step);
                if self.takes_part(base) {
                    let vt = self.w.type_of(value);
                    let part_ty = self.w.tangent(vt);
                    let zero = self.w.whole(&Tree::None, part_ty);
                    let (subs, extents) = (subs.clone(), extents.clone());
                    let rest = self.w.emit(Op::TanUpdate { tan: bar, subs, extents, value: zero }, tan);
                    self.contribute_atom(base, rest);
                }
            }
            other => unreachable!("{other:?} is not linear"),
        }
    }

    /// Adds a cotangent of tangent type `tan` to an operand whose tangent type may only differ in how dense it is.
    fn contribute_as(&mut self, target: &Atom, tree: Tree, tan: TypeId) {
        if !self.takes_part(target) {
            return;
        }
        let ty = self.w.type_of(target);
        let wanted = self.w.tangent(ty);
        if wanted == tan {
            return self.contribute(target, tree);
        }
        let whole: Atom = self.w.whole(&tree, tan);
        let whole = self.w.coerce(whole, wanted);
        let tree = self.w.tree(whole);
        self.contribute(target, tree);
    }
}
