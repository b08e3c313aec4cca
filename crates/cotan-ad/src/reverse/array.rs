//! Reverse mode through operations on arrays.

use super::Reverse;
use crate::arrays::{max_weights, product_weights};
use crate::partial::sum_all;
use crate::writer::Tree;
use cotan_ir::{Atom, Op, ReduceOp, Step, Stmt, Sub, Type, TypeId};
use cotan_prim::Prim;

impl Reverse<'_> {
    pub(super) fn array(&mut self, stmt: &Stmt) {
        let y = stmt.vars[0];
        let tree = self.take(y);
        if tree.is_none() {
            return;
        }
        match &stmt.op {
            Op::Index { .. } | Op::Slice { .. } => self.give_to_base(y, tree),
            Op::Array(parts) => {
                let Tree::Atom(tan) = tree else { unreachable!("an array") };
                let extents = self.extents_of(&y.into());
                for (i, part) in (0..).zip(parts) {
                    let step = Step::Index { subs: vec![Sub::At(Atom::int(i))], extents: extents.clone() };
                    self.give_part(part, &tan, step);
                }
            }
            Op::Fill { extents, value } => self.fill(y, tree, extents, value),
            Op::Update { array, subs, value } => {
                let Tree::Atom(tan) = tree else { unreachable!("an array") };
                let extents = self.extents_of(&y.into());
                self.give_part(value, &tan, Step::Index { subs: subs.clone(), extents: extents.clone() });
                let vt = self.w.type_of(value);
                let part_ty = self.w.tangent(vt);
                let zero = self.w.whole(&Tree::None, part_ty);
                let tan_ty = self.w.type_of(&tan);
                let op = Op::TanUpdate { tan, subs: subs.clone(), extents, value: zero };
                let rest = self.w.emit(op, tan_ty);
                self.contribute_atom(array, rest);
            }
            Op::Reduce(op, array) => {
                let Tree::Atom(bar) = tree else { unreachable!("a number") };
                let weights = match op {
                    ReduceOp::Sum => {
                        let extents = self.extents_of(array);
                        let ty = self.dense_of(array);
                        let bar = self.w.emit(Op::Fill { extents, value: bar }, ty);
                        return self.contribute_atom(array, bar);
                    }
                    ReduceOp::Product => product_weights(&mut self.w, array),
                    ReduceOp::Max | ReduceOp::Min => max_weights(&mut self.w, array, &y.into()),
                };
                let bar = self.w.prim(Prim::AMul, vec![bar, weights]);
                self.contribute_atom(array, bar);
            }
            Op::Gather { array, positions } => self.gather(tree, array, positions),
            Op::ScatterAdd { base, positions, values } => {
                let Tree::Atom(tan) = tree else { unreachable!("an array") };
                let dense = self.spread(tan.clone(), y);
                let ty = self.dense_of(values);
                let bar = self.w.emit(Op::Gather { array: dense, positions: positions.clone() }, ty);
                self.contribute_atom(values, bar);
                self.contribute_atom(base, tan);
            }
            Op::Concat(a, b) => {
                let Tree::Atom(tan) = tree else { unreachable!("an array") };
                let extents = self.extents_of(&y.into());
                let middle = self.extents_of(a).remove(0);
                let sides = [(a, Atom::int(0), middle.clone()), (b, middle, extents[0].clone())];
                for (side, lo, hi) in sides {
                    let step = Step::Index { subs: vec![Sub::Range(lo, hi)], extents: extents.clone() };
                    self.give_part(side, &tan, step);
                }
            }
            Op::Transpose(a) => {
                let Tree::Atom(tan) = tree else { unreachable!("an array") };
                let dense = self.spread(tan, y);
                let ty = self.w.type_of(&dense);
                let bar = self.w.emit(Op::Transpose(dense), ty);
                self.contribute_atom(a, bar);
            }
            Op::MatMul(a, b) => {
                let Tree::Atom(tan) = tree else { unreachable!("an array") };
                let bar = self.spread(tan, y);
                let (at, bt) = (self.w.type_of(a), self.w.type_of(b));
                let rank = |this: &Self, ty| this.w.array(ty).expect("an array").0;
                let (ra, rb) = (rank(self, at), rank(self, bt));
                if self.takes_part(a) {
                    let a_bar = match (ra, rb) {
                        (_, 1) => self.outer(bar.clone(), b.clone(), a, at),
                        _ => {
                            let bt = self.w.emit(Op::Transpose(b.clone()), bt);
                            self.w.emit(
                                if ra == 1 { Op::MatMul(b.clone(), bar.clone()) } else { Op::MatMul(bar.clone(), bt) },
                                at,
                            )
                        }
                    };
                    self.contribute_atom(a, a_bar);
                }
                if self.takes_part(b) {
                    let b_bar = if ra == 1 {
                        self.outer(a.clone(), bar, b, bt)
                    } else {
                        let transposed = self.w.emit(Op::Transpose(a.clone()), at);
                        self.w.emit(Op::MatMul(transposed, bar), bt)
                    };
                    self.contribute_atom(b, b_bar);
                }
            }
            other => unreachable!("{other:?} is no operation on arrays"),
        }
    }

    /// The type of an array of tangents of the elements of `array`.
    fn dense_of(&mut self, array: &Atom) -> TypeId {
        let ty = self.w.type_of(array);
        let (rank, elem) = self.w.array(ty).expect("an array");
        let elem = self.w.tangent(elem);
        self.w.intern(Type::Array { rank, elem })
    }

    /// The matrix of products of the elements of two vectors, shaped like `like`.
    fn outer(&mut self, left: Atom, right: Atom, like: &Atom, ty: TypeId) -> Atom {
        let extents = self.extents_of(like);
        let int = self.w.intern(Type::I64);
        let (_, elem) = self.w.array(ty).expect("an array");
        let (i, j) = (self.w.var(int), self.w.var(int));
        let body = self.w.block(|w| {
            let x = w.emit(Op::Index { array: left, at: vec![i.into()] }, elem);
            let y = w.emit(Op::Index { array: right, at: vec![j.into()] }, elem);
            vec![w.emit(Op::Prim(Prim::Mul, vec![x, y]), elem)]
        });
        self.w.emit(Op::Build { extents, indices: vec![i, j], body }, ty)
    }

    fn fill(&mut self, y: cotan_ir::Var, tree: Tree, extents: &[Atom], value: &Atom) {
        if !self.takes_part(value) {
            return;
        }
        let Tree::Atom(tan) = tree else { unreachable!("an array") };
        let dense = self.spread(tan, y);
        let ty = self.w.type_of(value);
        if self.w.is_float(ty) {
            let bar = sum_all(&mut self.w, dense);
            return self.contribute_atom(value, bar);
        }
        // Elements that are no floats: their cotangents meet in an accumulator.
        let int = self.w.intern(Type::I64);
        let (acc_ty, tan_ty) = (self.w.acc(ty), self.w.tangent(ty));
        let acc = self.w.emit(Op::AccNew(None), acc_ty);
        let indices: Vec<_> = extents.iter().map(|_| self.w.var(int)).collect();
        let body = self.w.block(|w| {
            let part = w.emit(Op::Index { array: dense, at: indices.iter().map(|i| (*i).into()).collect() }, tan_ty);
            w.run(Op::AccAdd { acc: acc.clone(), value: part });
            Vec::new()
        });
        self.w.push(Vec::new(), Op::Build { extents: extents.to_vec(), indices, body });
        let bar = self.w.emit(Op::AccTake(acc), tan_ty);
        self.contribute_atom(value, bar);
    }

    /// Each element that was picked takes its cotangent at its place: as much work as was picked, not as the array is long.
    fn gather(&mut self, tree: Tree, array: &Atom, positions: &Atom) {
        if !self.takes_part(array) {
            return;
        }
        let Tree::Atom(tan) = tree else { unreachable!("an array") };
        let extents = self.extents_of(array);
        let count = self.extents_of(positions).remove(0);
        let acc = self.acc_of(array);
        let ty = self.w.type_of(array);
        let (rank, elem) = self.w.array(ty).expect("an array");
        let row = if rank == 1 { elem } else { self.w.intern(Type::Array { rank: rank - 1, elem }) };
        let (row_acc, row_tan) = (self.w.acc(row), self.w.tangent(row));
        let int = self.w.intern(Type::I64);
        let i = self.w.var(int);
        let body = self.w.block(|w| {
            let mut of_result = extents.clone();
            of_result[0] = count.clone();
            let step = Step::Index { subs: vec![Sub::At(i.into())], extents: of_result };
            let value = w.emit(Op::TanPart { tan, step }, row_tan);
            let at = w.emit(Op::Index { array: positions.clone(), at: vec![i.into()] }, int);
            let step = Step::Index { subs: vec![Sub::At(at)], extents };
            let part = w.emit(Op::AccPart { acc, step }, row_acc);
            w.run(Op::AccAdd { acc: part, value });
            Vec::new()
        });
        self.w.push(Vec::new(), Op::Build { extents: vec![count], indices: vec![i], body });
    }
}
