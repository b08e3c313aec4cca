//! Comprehensions.
//!
//! In: `[e for i in a..b, j in c..d]`, `[e for x in xs if c]`. Out: `Build`; with a filter, the positions of the elements that
//! stay are found first, so that the element is evaluated for these only, in parallel.

use crate::frame::{Flow, Frame};
use crate::loops::Walk;
use cotan_core::{Expr, Generator};
use cotan_ir::{Atom, Op, ReduceOp, Sub, Type};
use cotan_prim::Prim;
use cotan_source::Span;

impl<'c> Frame<'_, 'c> {
    /// A comprehension.
    pub fn comprehension(
        &mut self,
        generators: &'c [Generator],
        filter: Option<&'c Expr>,
        body: &'c Expr,
        span: Span,
    ) -> Flow<Atom> {
        let mut walks = Vec::new();
        for g in generators {
            walks.push(self.walk(&g.iter, span)?);
        }
        if let (Some(filter), [walk], [generator]) = (filter, &walks[..], generators) {
            return self.filtered(walk, generator, filter, body, span);
        }
        let indices: Vec<_> = walks.iter().map(|_| self.index_var()).collect();
        let ty = self.ty(&body.ty);
        let block = self.region(false, Vec::new(), Some(ty), |f| {
            for ((walk, index), generator) in walks.iter().zip(&indices).zip(generators) {
                f.bind_turn(walk, *index, &generator.pattern);
            }
            f.value(body)
        });
        self.b.set_span(span);
        let extents = walks.into_iter().map(|w| w.count).collect();
        Ok(self.emit(Op::Build { extents, indices, body: block }))
    }

    fn filtered(
        &mut self,
        walk: &Walk,
        generator: &'c Generator,
        filter: &'c Expr,
        body: &'c Expr,
        span: Span,
    ) -> Flow<Atom> {
        let int = self.b.program.intern(Type::I64);
        // 1 where the element stays.
        let index = self.index_var();
        let block = self.region(false, Vec::new(), Some(int), |f| {
            f.bind_turn(walk, index, &generator.pattern);
            let keep = f.value(filter)?;
            f.b.set_span(span);
            Ok(f.emit(Op::Prim(Prim::Select, vec![keep, Atom::int(1), Atom::int(0)])))
        });
        self.b.set_span(span);
        let keep = self.emit(Op::Build { extents: vec![walk.count.clone()], indices: vec![index], body: block });
        let kept = self.emit(Op::Reduce(ReduceOp::Sum, keep.clone()));
        // Where the elements that stay are.
        let empty = self.emit(Op::Fill { extents: vec![kept.clone()], value: Atom::int(0) });
        let positions_ty = self.b.type_of(&empty);
        let index = self.index_var();
        let state = vec![self.b.var(positions_ty, None), self.index_var()];
        let init = vec![empty, Atom::int(0)];
        self.b.begin_block();
        let one = self.emit(Op::Index { array: keep, at: vec![index.into()] });
        let stays = self.emit(Op::Prim(Prim::Eq, vec![one.clone(), Atom::int(1)]));
        self.b.begin_block();
        let subs = vec![Sub::At(state[1].into())];
        let set = self.emit(Op::Update { array: state[0].into(), subs, value: index.into() });
        let next = self.emit(Op::Prim(Prim::Add, vec![state[1].into(), Atom::int(1)]));
        let then = self.b.end_block(vec![set, next]);
        let otherwise = self.b.block(|_| vec![state[0].into(), state[1].into()]);
        let results = self.b.emit_typed(Op::If { cond: stays, then, otherwise });
        let block = self.b.end_block(results.into_iter().map(Atom::Var).collect());
        let found = self.b.emit_typed(Op::For { count: walk.count.clone(), index, state, init, body: block });
        let positions: Atom = found[0].into();
        // The elements.
        let at = self.index_var();
        let ty = self.ty(&body.ty);
        let block = self.region(false, Vec::new(), Some(ty), |f| {
            let position = f.emit(Op::Index { array: positions, at: vec![at.into()] });
            let position = position.var().expect("an operation yields a variable");
            f.bind_turn(walk, position, &generator.pattern);
            f.value(body)
        });
        self.b.set_span(span);
        Ok(self.emit(Op::Build { extents: vec![kept], indices: vec![at], body: block }))
    }
}
