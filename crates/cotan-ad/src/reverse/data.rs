//! Reverse mode through scalars, tuples, nominal types and closures.

use super::Reverse;
use crate::partial::{sum_all, times_partial};
use crate::writer::Tree;
use cotan_ir::{Atom, Op, Step, Stmt, Type, Var};

impl Reverse<'_> {
    pub(super) fn data(&mut self, stmt: &Stmt) {
        let y = stmt.vars[0];
        let tree = self.take(y);
        if tree.is_none() {
            return;
        }
        match &stmt.op {
            Op::Copy(a) => self.contribute(a, tree),
            Op::Prim(prim, args) => {
                let Tree::Atom(y_bar) = tree else { unreachable!("a scalar") };
                for (i, arg) in args.iter().enumerate() {
                    if self.takes_part(arg)
                        && let Some(term) = times_partial(&mut self.w, &y_bar, *prim, i, args, &y.into())
                    {
                        self.contribute_atom(arg, term);
                    }
                }
            }
            Op::Map(prim, args) => {
                let Tree::Atom(y_bar) = tree else { unreachable!("an array") };
                let y_bar = self.spread(y_bar, y);
                for (i, arg) in args.iter().enumerate() {
                    if !self.takes_part(arg) {
                        continue;
                    }
                    let Some(term) = times_partial(&mut self.w, &y_bar, *prim, i, args, &y.into()) else { continue };
                    let ty = self.w.type_of(arg);
                    let term = if self.w.array(ty).is_some() { term } else { sum_all(&mut self.w, term) };
                    self.contribute_atom(arg, term);
                }
            }
            Op::Tuple(parts) => {
                for (i, part) in (0..).zip(parts) {
                    self.contribute(part, tree.clone().part(i));
                }
            }
            Op::Proj(a, i) => {
                if let Atom::Var(v) = a {
                    self.give(*v, &mut vec![*i], tree);
                }
            }
            Op::Adt { adt, variant, fields } => {
                let Tree::Atom(tan) = tree else { unreachable!("a nominal value") };
                for (index, field) in (0..).zip(fields) {
                    self.give_part(field, &tan, Step::Field { adt: *adt, variant: *variant, index });
                }
            }
            Op::Closure { code, captures } => {
                let Tree::Atom(tan) = tree else { unreachable!("a function value") };
                for (index, capture) in (0..).zip(captures) {
                    self.give_part(capture, &tan, Step::Capture { code: *code, index });
                }
            }
            Op::Field { .. } | Op::Capture { .. } => self.give_to_base(y, tree),
            Op::Probe { label, value, backward } => {
                let tan = self.w.tangent(self.w.vars[y].ty);
                let bar = self.w.whole(&tree, tan);
                let bar = if *backward {
                    bar
                } else {
                    self.w.emit(Op::Probe { label: label.clone(), value: bar, backward: true }, tan)
                };
                self.contribute_atom(value, bar);
            }
            other => unreachable!("{other:?} is no statement on data"),
        }
    }

    /// Whether an operand is a variable that holds floats.
    pub(super) fn takes_part(&mut self, atom: &Atom) -> bool {
        match atom {
            Atom::Var(v) => !self.constants.contains(v) && self.w.differentiable(self.w.vars[*v].ty),
            Atom::Lit(_) => false,
        }
    }

    /// Hands the part `step` of the tangent `tan` to `target`.
    pub(super) fn give_part(&mut self, target: &Atom, tan: &Atom, step: Step) {
        if !self.takes_part(target) {
            return;
        }
        let ty = self.w.type_of(target);
        let part_ty = self.w.tangent(ty);
        let part = self.w.emit(Op::TanPart { tan: tan.clone(), step }, part_ty);
        self.contribute_atom(target, part);
    }

    /// `y` is a part of another variable (see [`View`](super::View)): adds its cotangent to that part.
    pub(super) fn give_to_base(&mut self, y: Var, tree: Tree) {
        let view = self.views.get(&y).cloned().expect("a part of another variable");
        let (base, step) = self.step_of(view);
        if !self.takes_part(&base) {
            return;
        }
        let acc = self.acc_of(&base);
        let ty = self.w.vars[y].ty;
        let tan = self.w.tangent(ty);
        let value = self.w.whole(&tree, tan);
        let acc_ty = self.w.acc(ty);
        let part = self.w.emit(Op::AccPart { acc, step }, acc_ty);
        self.w.run(Op::AccAdd { acc: part, value });
    }

    /// The sparse cotangent of the array `y` as an array.
    pub(super) fn spread(&mut self, bar: Atom, y: Var) -> Atom {
        let have = self.w.type_of(&bar);
        if matches!(self.w.ty(have), Type::Array { .. }) {
            return bar;
        }
        let (rank, elem) = self.w.array(self.w.vars[y].ty).expect("an array");
        let elem = self.w.tangent(elem);
        let ty = self.w.intern(Type::Array { rank, elem });
        let extents = self.extents_of(&y.into());
        self.w.emit(Op::Spread { tan: bar, extents }, ty)
    }
}
