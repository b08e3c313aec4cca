//! Forward mode through branches, loops and comprehensions: tangents travel beside the values.

use super::Forward;
use crate::signature::differentiable_results;
use cotan_ir::{Atom, Block, Op, Stmt, TypeId, Var};

impl Forward<'_> {
    pub(super) fn control(&mut self, stmt: &Stmt) {
        let types: Vec<TypeId> = stmt.vars.iter().map(|v| self.w.vars[*v].ty).collect();
        match &stmt.op {
            Op::If { cond, then, otherwise } => {
                let then = self.branch(then, &types);
                let otherwise = self.branch(otherwise, &types);
                self.with_result_dots(stmt, Op::If { cond: cond.clone(), then, otherwise });
            }
            Op::Switch { on, arms, default } => {
                let arms = arms.iter().map(|(v, b)| (*v, self.branch(b, &types))).collect();
                let default = default.as_ref().map(|b| self.branch(b, &types));
                self.with_result_dots(stmt, Op::Switch { on: on.clone(), arms, default });
            }
            Op::For { count, index, state, init, body } => {
                let (state2, init2) = self.carry(state, init);
                let body = self.turn(body, state, &state2, &types);
                let op = Op::For { count: count.clone(), index: *index, state: state2, init: init2, body };
                self.loop_results(stmt, state, &types, op);
            }
            Op::While { state, init, cond, body } => {
                let (state2, init2) = self.carry(state, init);
                // The condition is evaluated as it is: its value has no tangent.
                let cond = cond.clone();
                let body = self.turn(body, state, &state2, &types);
                self.loop_results(stmt, state, &types, Op::While { state: state2, init: init2, cond, body });
            }
            Op::Build { extents, indices, body } => {
                let body = self.build_body(body);
                let op = Op::Build { extents: extents.clone(), indices: indices.clone(), body };
                let active = differentiable_results(self.w.program, &types);
                let mut vars = stmt.vars.clone();
                for i in &active {
                    // An array whose elements are tangents; the tangent of the array is this array, seen as sparse.
                    let (rank, elem) = self.w.array(types[*i]).expect("an array");
                    let elem = self.w.tangent(elem);
                    let ty = self.w.intern(cotan_ir::Type::Array { rank, elem });
                    vars.push(self.w.var(ty));
                }
                let dots = vars[stmt.vars.len()..].to_vec();
                self.w.push(vars, op);
                for (i, dot) in active.into_iter().zip(dots) {
                    self.set_atom(stmt.vars[i], dot.into());
                }
            }
            other => unreachable!("{other:?} is no control"),
        }
    }

    /// A block that also yields the tangents of its differentiable results.
    fn branch(&mut self, block: &Block, types: &[TypeId]) -> Block {
        self.w.open_block();
        self.stmts(block);
        let mut results = block.results.clone();
        for i in differentiable_results(self.w.program, types) {
            let dot = self.whole_dot(&block.results[i], types[i]);
            results.push(dot);
        }
        Block { stmts: self.w.close_block(), results }
    }

    /// State and start of a loop with the tangents of the differentiable state after it.
    fn carry(&mut self, state: &[Var], init: &[Atom]) -> (Vec<Var>, Vec<Atom>) {
        let types: Vec<TypeId> = state.iter().map(|v| self.w.vars[*v].ty).collect();
        let (mut state2, mut init2) = (state.to_vec(), init.to_vec());
        for i in differentiable_results(self.w.program, &types) {
            let tan = self.w.tangent(types[i]);
            state2.push(self.w.var_like(tan, state[i], "_dot"));
            let dot = self.whole_dot(&init[i], types[i]);
            init2.push(dot);
        }
        (state2, init2)
    }

    /// The body of a loop: yields next state, its tangents, collected values, their tangents.
    fn turn(&mut self, body: &Block, state: &[Var], state2: &[Var], result_types: &[TypeId]) -> Block {
        let types: Vec<TypeId> = state.iter().map(|v| self.w.vars[*v].ty).collect();
        let active = differentiable_results(self.w.program, &types);
        self.w.open_block();
        for (i, dot) in active.iter().zip(&state2[state.len()..]) {
            let tree = self.w.tree((*dot).into());
            self.dots.insert(state[*i], tree);
        }
        self.stmts(body);
        let (next, collected) = body.results.split_at(state.len());
        let mut results = next.to_vec();
        for i in active {
            let dot = self.whole_dot(&next[i], types[i]);
            results.push(dot);
        }
        results.extend_from_slice(collected);
        for i in differentiable_results(self.w.program, &result_types[state.len()..]) {
            let ty = self.w.type_of(&collected[i]);
            let dot = self.whole_dot(&collected[i], ty);
            results.push(dot);
        }
        Block { stmts: self.w.close_block(), results }
    }

    /// Binds the results of a loop with tangents, in the order of [`turn`](Self::turn).
    fn loop_results(&mut self, stmt: &Stmt, state: &[Var], types: &[TypeId], op: Op) {
        let (finals, collected) = stmt.vars.split_at(state.len());
        let active = differentiable_results(self.w.program, &types[..state.len()]);
        let mut vars = finals.to_vec();
        let mut dots = Vec::new();
        for i in active {
            let tan = self.w.tangent(types[i]);
            let dot = self.w.var_like(tan, finals[i], "_dot");
            vars.push(dot);
            dots.push((finals[i], dot));
        }
        vars.extend_from_slice(collected);
        for i in differentiable_results(self.w.program, &types[state.len()..]) {
            let (rank, elem) = self.w.array(types[state.len() + i]).expect("collected values form an array");
            let elem = self.w.tangent(elem);
            let ty = self.w.intern(cotan_ir::Type::Array { rank, elem });
            let dot = self.w.var(ty);
            vars.push(dot);
            dots.push((collected[i], dot));
        }
        self.w.push(vars, op);
        for (v, dot) in dots {
            self.set_atom(v, dot.into());
        }
    }

    /// The body of a comprehension: yields elements and their tangents; tangents of array elements are arrays.
    fn build_body(&mut self, body: &Block) -> Block {
        self.w.open_block();
        self.stmts(body);
        let types: Vec<TypeId> = body.results.iter().map(|a| self.w.type_of(a)).collect();
        let mut results = body.results.clone();
        for i in differentiable_results(self.w.program, &types) {
            let dot = self.whole_dot(&body.results[i], types[i]);
            let dot = self.spread(dot, &body.results[i]);
            results.push(dot);
        }
        Block { stmts: self.w.close_block(), results }
    }
}
