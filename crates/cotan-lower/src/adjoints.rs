//! `adjoint(p).f[i] += e`.
//!
//! In: the parameters of a backward part. Out: for each parameter and captured variable its accumulators: those that were handed in for
//! arrays, data and functions, new ones for floats; a part is added to at the cost of that part.

use crate::frame::{Flow, Frame, Slot};
use crate::instances::Scope;
use cotan_core::{Expr, ExprKind, LocalId, PlaceStep, StmtKind};
use cotan_ir::{Atom, Op, Step, Type, TypeId, Var, differentiable, tangent_type};
use cotan_source::Span;
use std::collections::BTreeSet;

/// Where the cotangent of a value is accumulated.
#[derive(Clone, Debug)]
pub(crate) enum Adjoint {
    /// Nowhere: it has none.
    Nothing,
    /// One accumulator.
    Acc(Atom),
    /// Component by component.
    Tuple(Vec<Adjoint>),
}

/// The variables that the backward part of a rule uses: their values, or the extents of arrays.
pub(crate) fn uses(scope: &Scope<'_>, backward: &Expr) -> Vec<LocalId> {
    // Both walks collect.
    let found = std::cell::RefCell::new(BTreeSet::new());
    let mut on_expr = |e: &Expr| {
        let mut found = found.borrow_mut();
        match &e.kind {
            ExprKind::Local(local) => {
                found.insert(*local);
            }
            ExprKind::LocalFn(id, _) => found.extend(scope.local_fns[*id].captures.iter().copied()),
            ExprKind::Closure(closure) => found.extend(closure.captures.iter().copied()),
            _ => {}
        }
    };
    let mut on_stmt = |s: &cotan_core::Stmt| {
        let mut found = found.borrow_mut();
        match &s.kind {
            StmtKind::Assign { local, .. } => {
                found.insert(*local);
            }
            StmtKind::Adjoint { local, path, .. } if path.iter().any(|s| matches!(s, PlaceStep::Index(_))) => {
                found.insert(*local);
            }
            StmtKind::LocalFn(id) => found.extend(scope.local_fns[*id].captures.iter().copied()),
            _ => {}
        }
    };
    crate::walk::expr(backward, &mut on_expr, &mut on_stmt);
    found.into_inner().into_iter().collect()
}

impl<'c> Frame<'_, 'c> {
    /// The accumulators of a parameter of this type in a backward part; those of its floats are new and noted in `floats`.
    pub fn adjoint_params(&mut self, ty: TypeId, floats: &mut Vec<Var>) -> Adjoint {
        match self.kind(ty).clone() {
            Type::Tuple(parts) => Adjoint::Tuple(parts.into_iter().map(|p| self.adjoint_params(p, floats)).collect()),
            Type::F64 | Type::F32 => {
                let acc = self.b.program.intern(Type::Acc(ty));
                let acc = self.b.emit1(Op::AccNew(None), acc);
                floats.push(acc);
                Adjoint::Acc(acc.into())
            }
            _ if differentiable(self.b.program, ty) => {
                let acc = self.b.program.intern(Type::Acc(ty));
                Adjoint::Acc(self.b.param(acc, None).into())
            }
            _ => Adjoint::Nothing,
        }
    }

    /// The accumulators of a part.
    pub fn adjoint_step(&mut self, of: Adjoint, step: Step) -> Adjoint {
        match (of, step) {
            (Adjoint::Nothing, _) => Adjoint::Nothing,
            (Adjoint::Tuple(parts), Step::Proj(i)) => parts[i as usize].clone(),
            (Adjoint::Tuple(_), step) => unreachable!("{step:?} leads to no part of a tuple"),
            (Adjoint::Acc(acc), step) => {
                let part = self.emit(Op::AccPart { acc, step });
                let Type::Acc(of) = self.kind_of(&part) else { unreachable!("a part of an accumulator is one") };
                if differentiable(self.b.program, of) { Adjoint::Acc(part) } else { Adjoint::Nothing }
            }
        }
    }

    /// Adds a dense cotangent.
    pub fn adjoint_add(&mut self, to: &Adjoint, value: Atom) {
        match to {
            Adjoint::Nothing => {}
            Adjoint::Tuple(parts) => {
                for (i, part) in parts.iter().enumerate() {
                    let value = self.proj(&value, i);
                    self.adjoint_add(part, value);
                }
            }
            Adjoint::Acc(acc) => {
                let Type::Acc(of) = self.kind_of(acc) else { unreachable!("an accumulator is one") };
                let tan = tangent_type(self.b.program, of);
                let value = self.sparse_as(value, tan);
                self.b.emit0(Op::AccAdd { acc: acc.clone(), value });
            }
        }
    }

    /// `adjoint(local).path += value`.
    pub fn accumulate(&mut self, local: LocalId, path: &'c [PlaceStep], value: &'c Expr, span: Span) -> Flow<()> {
        let mut to = self.adjoints.get(&local).cloned().expect("the checker knows what has an adjoint");
        // The value itself, as long as extents of it may be needed.
        let mut point = self.has(Slot::Local(local)).then(|| self.get(Slot::Local(local)));
        for (at, step) in path.iter().enumerate() {
            let more = path[at + 1..].iter().any(|s| matches!(s, PlaceStep::Index(_)));
            match step {
                PlaceStep::TupleField(i) => {
                    point = if more { point.map(|p| self.proj(&p, *i)) } else { None };
                    to = self.adjoint_step(to, Step::Proj(*i as u32));
                }
                PlaceStep::Field(i) => {
                    let index = *i as u32;
                    if let Adjoint::Acc(acc) = &to
                        && let Type::Acc(of) = self.kind_of(acc)
                        && let Type::Adt(adt) = *self.kind(of)
                    {
                        to = self.adjoint_step(to, Step::Field { adt, variant: 0, index });
                    }
                    point = match point {
                        Some(base) if more => Some(self.emit(Op::Field { base, variant: 0, index })),
                        _ => None,
                    };
                }
                PlaceStep::Index(subs) => {
                    let array = point.clone().expect("the value is kept where its extents are needed");
                    let subs = self.subscripts(&array, subs, 0)?;
                    self.b.set_span(span);
                    if let Adjoint::Acc(_) = &to {
                        let Type::Array { rank, .. } = self.kind_of(&array) else { unreachable!("arrays have axes") };
                        let extents = (0..rank).map(|axis| self.emit(Op::Dim { array: array.clone(), axis })).collect();
                        to = self.adjoint_step(to, Step::Index { subs: subs.clone(), extents });
                    }
                    point = more.then(|| self.part(array, subs));
                }
            }
        }
        let value = self.value(value)?;
        self.b.set_span(span);
        self.adjoint_add(&to, value);
        Ok(())
    }
}
