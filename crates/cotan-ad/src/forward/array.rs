//! Forward mode through operations on arrays.

use super::Forward;
use crate::arrays::{extents, max_weights, product_weights};
use crate::partial::sum_all;
use cotan_ir::{Atom, Op, ReduceOp, Step, Stmt, Sub, Type, Var};
use cotan_prim::Prim;

impl Forward<'_> {
    /// The sparse tangent `dot` of the array `of` as an array; other tangents stay.
    pub(super) fn spread(&mut self, dot: Atom, of: &Atom) -> Atom {
        let ty = self.w.type_of(of);
        let Some((rank, elem)) = self.w.array(ty) else { return dot };
        let have = self.w.type_of(&dot);
        if matches!(self.w.ty(have), Type::Array { .. }) {
            return dot;
        }
        let elem = self.w.tangent(elem);
        let ty = self.w.intern(Type::Array { rank, elem });
        let extents = extents(&mut self.w, of);
        self.w.emit(Op::Spread { tan: dot, extents }, ty)
    }

    /// The tangent of an array as array, zeros written out.
    fn spread_or_zero(&mut self, of: &Atom) -> Atom {
        let dot = self.leaf_or_zero(of);
        self.spread(dot, of)
    }

    /// A scalar tangent of an array-valued `Map` (all array operands were constant) as an array.
    pub(super) fn broadcast_like(&mut self, atom: Atom, y: Var) -> Atom {
        let have = self.w.type_of(&atom);
        if self.w.array(self.w.vars[y].ty).is_none() || self.w.array(have).is_some() {
            return atom;
        }
        let (rank, _) = self.w.array(self.w.vars[y].ty).expect("an array");
        let extents = extents(&mut self.w, &y.into());
        let ty = self.w.intern(Type::Array { rank, elem: have });
        self.w.emit(Op::Fill { extents, value: atom }, ty)
    }

    pub(super) fn array(&mut self, stmt: &Stmt) {
        self.primal(stmt);
        let y = stmt.vars[0];
        let ty = self.w.vars[y].ty;
        let mut active = false;
        stmt.op.for_each_atom(|a| active |= !self.dot(a).is_none());
        if !active || !self.w.differentiable(ty) {
            return;
        }
        // The array type with tangents as elements.
        let dense = |this: &mut Self| {
            let (rank, elem) = this.w.array(ty).expect("an array");
            let elem = this.w.tangent(elem);
            this.w.intern(Type::Array { rank, elem })
        };
        match &stmt.op {
            Op::Array(parts) => {
                let parts = parts
                    .iter()
                    .map(|p| {
                        let ty = self.w.type_of(p);
                        let dot = self.whole_dot(p, ty);
                        self.spread(dot, p)
                    })
                    .collect();
                let ty = dense(self);
                let dot = self.w.emit(Op::Array(parts), ty);
                self.set_atom(y, dot);
            }
            Op::Fill { extents, value } => {
                let vt = self.w.type_of(value);
                let value = self.whole_dot(value, vt);
                let ty = dense(self);
                let dot = self.w.emit(Op::Fill { extents: extents.clone(), value }, ty);
                self.set_atom(y, dot);
            }
            Op::Index { array, at } => {
                let subs = at.iter().cloned().map(Sub::At).collect();
                let extents = extents(&mut self.w, array);
                self.part(y, array, Step::Index { subs, extents });
            }
            Op::Slice { array, subs } => {
                let extents = extents(&mut self.w, array);
                self.part(y, array, Step::Index { subs: subs.clone(), extents });
            }
            Op::Update { array, subs, value } => {
                let extents = extents(&mut self.w, &y.into());
                let tan = self.leaf_or_zero(array);
                let vt = self.w.type_of(value);
                let value = self.whole_dot(value, vt);
                self.set_op(y, Op::TanUpdate { tan, subs: subs.clone(), extents, value });
            }
            Op::Reduce(op, array) => {
                let dot = self.spread_or_zero(array);
                let weighted = match op {
                    ReduceOp::Sum => dot,
                    ReduceOp::Product => {
                        let weights = product_weights(&mut self.w, array);
                        self.w.prim(Prim::AMul, vec![dot, weights])
                    }
                    ReduceOp::Max | ReduceOp::Min => {
                        let weights = max_weights(&mut self.w, array, &y.into());
                        self.w.prim(Prim::AMul, vec![dot, weights])
                    }
                };
                let dot = sum_all(&mut self.w, weighted);
                self.set_atom(y, dot);
            }
            Op::Gather { array, positions } => {
                let array = self.spread_or_zero(array);
                let ty = dense(self);
                let dot = self.w.emit(Op::Gather { array, positions: positions.clone() }, ty);
                self.set_atom(y, dot);
            }
            Op::ScatterAdd { base, positions, values } => {
                let base = self.spread_or_zero(base);
                let values = self.spread_or_zero(values);
                let ty = dense(self);
                let dot = self.w.emit(Op::ScatterAdd { base, positions: positions.clone(), values }, ty);
                self.set_atom(y, dot);
            }
            Op::Concat(a, b) => {
                let (a, b) = (self.spread_or_zero(a), self.spread_or_zero(b));
                let ty = dense(self);
                let dot = self.w.emit(Op::Concat(a, b), ty);
                self.set_atom(y, dot);
            }
            Op::Transpose(a) => {
                let a = self.spread_or_zero(a);
                let ty = dense(self);
                let dot = self.w.emit(Op::Transpose(a), ty);
                self.set_atom(y, dot);
            }
            Op::MatMul(a, b) => {
                let mut sum: Option<Atom> = None;
                for (x, is_left) in [(a, true), (b, false)] {
                    if self.leaf(x).is_none() {
                        continue;
                    }
                    let dot = self.spread_or_zero(x);
                    let op = if is_left { Op::MatMul(dot, b.clone()) } else { Op::MatMul(a.clone(), dot) };
                    let term = self.w.emit(op, ty);
                    sum = Some(match sum {
                        None => term,
                        Some(s) => self.w.prim(Prim::Add, vec![s, term]),
                    });
                }
                if let Some(sum) = sum {
                    self.set_atom(y, sum);
                }
            }
            other => unreachable!("{other:?} is no operation on arrays"),
        }
    }
}
