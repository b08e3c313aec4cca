//! Small pieces of array code that both modes use.

use crate::writer::Writer;
use cotan_ir::{Atom, Op, Type, Var};
use cotan_prim::Prim;

/// The extents of an array, one `Dim` per axis.
pub(crate) fn extents(w: &mut Writer<'_>, array: &Atom) -> Vec<Atom> {
    let ty = w.type_of(array);
    let (rank, _) = w.array(ty).expect("an array");
    let int = w.intern(Type::I64);
    (0..rank).map(|axis| w.emit(Op::Dim { array: array.clone(), axis }, int)).collect()
}

/// The partial derivatives of the product of a vector: the product of all others, right with no, one and several zeros.
pub(crate) fn product_weights(w: &mut Writer<'_>, array: &Atom) -> Atom {
    let ty = w.type_of(array);
    let (_, elem) = w.array(ty).expect("an array");
    let n = extents(w, array).remove(0);
    let before = running_products(w, array, &n, elem, ty, false);
    let after = running_products(w, array, &n, elem, ty, true);
    let int = w.intern(Type::I64);
    let i = w.var(int);
    let body = w.block(|w| {
        let last = w.emit(Op::Prim(Prim::Sub, vec![n.clone(), Atom::int(1)]), int);
        let mirrored = w.emit(Op::Prim(Prim::Sub, vec![last, i.into()]), int);
        let left = w.emit(Op::Index { array: before, at: vec![i.into()] }, elem);
        let right = w.emit(Op::Index { array: after, at: vec![mirrored] }, elem);
        vec![w.emit(Op::Prim(Prim::Mul, vec![left, right]), elem)]
    });
    w.emit(Op::Build { extents: vec![n], indices: vec![i], body }, ty)
}

/// `[product of the elements before i]`, from the right end if `reversed` (then entry i belongs to element n-1-i).
fn running_products(
    w: &mut Writer<'_>,
    array: &Atom,
    n: &Atom,
    elem: cotan_ir::TypeId,
    ty: cotan_ir::TypeId,
    reversed: bool,
) -> Atom {
    let int = w.intern(Type::I64);
    let i = w.var(int);
    let p = w.var(elem);
    let body = w.block(|w| {
        let at = if reversed {
            let last = w.emit(Op::Prim(Prim::Sub, vec![n.clone(), Atom::int(1)]), int);
            w.emit(Op::Prim(Prim::Sub, vec![last, i.into()]), int)
        } else {
            i.into()
        };
        let x = w.emit(Op::Index { array: array.clone(), at: vec![at] }, elem);
        let next = w.emit(Op::Prim(Prim::Mul, vec![p.into(), x]), elem);
        vec![next, p.into()]
    });
    let one = w.float(elem, 1.0);
    let results: Vec<Var> =
        w.emit_many(Op::For { count: n.clone(), index: i, state: vec![p], init: vec![one], body }, &[elem, ty]);
    results[1].into()
}

/// The partial derivatives of the largest (or smallest) element `extreme` of a vector: shared evenly between ties.
pub(crate) fn max_weights(w: &mut Writer<'_>, array: &Atom, extreme: &Atom) -> Atom {
    let ty = w.type_of(array);
    let (_, elem) = w.array(ty).expect("an array");
    let (one, zero) = (w.float(elem, 1.0), w.float(elem, 0.0));
    let hit = w.prim(Prim::Eq, vec![array.clone(), extreme.clone()]);
    let mask = w.prim(Prim::Select, vec![hit, one, zero]);
    let count = w.emit(Op::Reduce(cotan_ir::ReduceOp::Sum, mask.clone()), elem);
    w.prim(Prim::Div, vec![mask, count])
}
