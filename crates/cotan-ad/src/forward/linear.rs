//! Forward mode through operations of tangent spaces and accumulators: all linear (or bilinear), so the tangent is the same
//! operation on tangents.

use super::Forward;
use crate::writer::Tree;
use cotan_ir::{Atom, Op, Stmt, Type};

impl Forward<'_> {
    pub(super) fn linear(&mut self, stmt: &Stmt) {
        self.primal(stmt);
        match &stmt.op {
            Op::SpaceAdd(a, b) | Op::Move(a, b) => {
                let y = stmt.vars[0];
                let tan = self.w.tangent(self.w.vars[y].ty);
                let a = self.dot_as(a, tan);
                let b = self.dot_as(b, tan);
                let sum = self.w.add(a, b, tan);
                self.set(y, sum);
            }
            Op::SpaceNeg(a) => {
                if !self.dot(a).is_none() {
                    let ty = self.w.type_of(a);
                    let dot = self.whole_dot(a, ty);
                    self.set_op(stmt.vars[0], Op::SpaceNeg(dot));
                }
            }
            Op::SpaceScale(s, a) => {
                let y = stmt.vars[0];
                let tan = self.w.tangent(self.w.vars[y].ty);
                if self.w.is_trivial(tan) {
                    return;
                }
                let mut sum = Tree::None;
                if let Some(s_dot) = self.leaf(s) {
                    let a = self.w.coerce(a.clone(), tan);
                    let term = self.w.emit(Op::SpaceScale(s_dot, a), tan);
                    sum = self.w.tree(term);
                }
                if !self.dot(a).is_none() {
                    let ty = self.w.type_of(a);
                    let dot = self.whole_dot(a, ty);
                    let term = self.w.emit(Op::SpaceScale(s.clone(), dot), tan);
                    let term = self.w.tree(term);
                    sum = self.w.add(sum, term, tan);
                }
                self.set(y, sum);
            }
            Op::SpaceDot(a, b) => {
                let y = stmt.vars[0];
                let ty = self.w.vars[y].ty;
                let mut sum = Tree::None;
                for (x, other) in [(a, b), (b, a)] {
                    if !self.dot(x).is_none() {
                        let xt = self.w.type_of(x);
                        let dot = self.whole_dot(x, xt);
                        let tan = self.w.tangent(xt);
                        let other = self.w.coerce(other.clone(), tan);
                        let term = self.w.emit(Op::SpaceDot(dot, other), ty);
                        sum = self.w.add(sum, Tree::Atom(term), ty);
                    }
                }
                self.set(y, sum);
            }
            Op::Densify { tan, .. } | Op::Spread { tan, .. } | Op::Sparse(tan) => {
                if !self.dot(tan).is_none() {
                    let ty = self.w.type_of(tan);
                    let dot = self.whole_dot(tan, ty);
                    self.set_atom(stmt.vars[0], dot);
                }
            }
            Op::TanPart { tan, step } => self.part(stmt.vars[0], tan, step.clone()),
            Op::TanAdt { adt, variant, fields } => {
                if fields.iter().any(|f| !self.dot(f).is_none()) {
                    let fields = self.whole_dots(fields);
                    self.set_op(stmt.vars[0], Op::TanAdt { adt: *adt, variant: *variant, fields });
                }
            }
            Op::TanClosure { code, captures } => {
                if captures.iter().any(|c| !self.dot(c).is_none()) {
                    let captures = self.whole_dots(captures);
                    self.set_op(stmt.vars[0], Op::TanClosure { code: *code, captures });
                }
            }
            Op::TanUpdate { tan, subs, extents, value } => {
                if !self.dot(tan).is_none() || !self.dot(value).is_none() {
                    let tan = self.leaf_or_zero(tan);
                    let vt = self.w.type_of(value);
                    let value = self.whole_dot(value, vt);
                    let (subs, extents) = (subs.clone(), extents.clone());
                    self.set_op(stmt.vars[0], Op::TanUpdate { tan, subs, extents, value });
                }
            }
            Op::AccNew(start) => {
                let start = match start {
                    Some(s) if !self.dot(s).is_none() => {
                        let ty = self.w.type_of(s);
                        Some(self.whole_dot(s, ty))
                    }
                    _ => None,
                };
                self.second(stmt, Op::AccNew(start));
            }
            Op::AccNull => self.second(stmt, Op::AccNull),
            Op::AccPart { acc, step } => {
                let acc = self.second_of(acc);
                self.second(stmt, Op::AccPart { acc, step: step.clone() });
            }
            Op::AccAdd { acc, value } => {
                if !self.dot(value).is_none() {
                    let acc = self.second_of(acc);
                    let ty = self.w.type_of(value);
                    let value = self.whole_dot(value, ty);
                    self.w.run(Op::AccAdd { acc, value });
                }
            }
            Op::AccTake(acc) => {
                let acc = self.second_of(acc);
                self.set_op(stmt.vars[0], Op::AccTake(acc));
            }
            other => unreachable!("{other:?} is not linear"),
        }
    }

    /// The tangent of `atom` as a tree of tangent type `tan` (which may only differ in how dense it is).
    fn dot_as(&mut self, atom: &Atom, tan: cotan_ir::TypeId) -> Tree {
        if self.dot(atom).is_none() {
            return Tree::None;
        }
        let ty = self.w.type_of(atom);
        let dot = self.whole_dot(atom, ty);
        let dot = self.w.coerce(dot, tan);
        self.w.tree(dot)
    }

    /// The accumulator of tangents beside an accumulator.
    fn second_of(&mut self, acc: &Atom) -> Atom {
        self.leaf(acc).expect("an accumulator has a second one")
    }

    /// Makes the accumulator beside the one that `stmt` makes.
    fn second(&mut self, stmt: &Stmt, op: Op) {
        let v = stmt.vars[0];
        let ty = self.w.vars[v].ty;
        debug_assert!(matches!(self.w.ty(ty), Type::Acc(_)));
        let second = self.w.emit(op, ty);
        self.dots.insert(v, Tree::Atom(second));
    }
}
