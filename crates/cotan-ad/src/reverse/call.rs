//! Reverse mode through calls of known functions and of function values.

use super::Reverse;
use crate::signature::differentiable_results;
use crate::writer::Tree;
use cotan_ir::{Atom, Deriv, Op, Stmt, Type, TypeId, leaves};

impl Reverse<'_> {
    pub(super) fn call(&mut self, stmt: &Stmt) -> Vec<Stmt> {
        let operands: Vec<Atom> = match &stmt.op {
            Op::Call { args, .. } => args.clone(),
            Op::Dispatch { on, args, .. } => [on].into_iter().chain(args).cloned().collect(),
            other => unreachable!("{other:?} is no call"),
        };
        let trees: Vec<Tree> = stmt.vars.iter().map(|v| self.take(*v)).collect();
        let types: Vec<TypeId> = operands.iter().map(|a| self.w.type_of(a)).collect();
        let adds = types.iter().any(|t| matches!(self.w.ty(*t), Type::Acc(_)));
        let takes_part = adds || operands.iter().any(|a| self.takes_part(a));
        if !takes_part || (!adds && trees.iter().all(Tree::is_none)) {
            return vec![stmt.clone()];
        }

        let result_types: Vec<TypeId> = stmt.vars.iter().map(|v| self.w.vars[*v].ty).collect();
        let mut bars = Vec::new();
        for i in differentiable_results(self.w.program, &result_types) {
            let tan = self.w.tangent(result_types[i]);
            bars.push(self.w.whole(&trees[i], tan));
        }
        // Accumulators for what is no float; the floats come back as results.
        let mut float_types = Vec::new();
        let mut float_targets = Vec::new();
        for (operand, ty) in operands.iter().zip(&types) {
            if let Type::Acc(of) = *self.w.ty(*ty) {
                let tan = self.w.tangent(of);
                let reader = Tree::from(self.reader(operand));
                bars.push(self.w.whole(&reader, tan));
                continue;
            }
            for leaf in leaves(self.w.program, *ty) {
                if leaf.is_float {
                    float_types.push(leaf.ty);
                    float_targets.push((operand.clone(), leaf.path));
                } else {
                    let v = operand.var().expect("only variables hold arrays, nominal types and functions");
                    bars.push(self.acc_for(v, &leaf.path));
                }
            }
        }

        let (fwd, kept, bwd) = match &stmt.op {
            Op::Call { func, args } => {
                let fwd = crate::request(self.w.program, self.w.state, *func, Deriv::Fwd);
                let bwd = crate::request(self.w.program, self.w.state, *func, Deriv::Bwd);
                let ty = *self.w.f(fwd).results.last().expect("a forward part yields its residual");
                let kept = self.w.var(ty);
                let args_bwd = [Atom::Var(kept)].into_iter().chain(bars).collect();
                (Op::Call { func: fwd, args: args.clone() }, kept, Op::Call { func: bwd, args: args_bwd })
            }
            Op::Dispatch { on, path, args } => {
                let ty = self.w.intern(Type::Residual);
                let kept = self.w.var(ty);
                let path = path.iter().copied().chain([Deriv::Fwd]).collect();
                let fwd = Op::Dispatch { on: on.clone(), path, args: args.clone() };
                (fwd, kept, Op::Dispatch { on: kept.into(), path: vec![Deriv::Bwd], args: bars })
            }
            other => unreachable!("{other:?} is no call"),
        };
        self.define(kept);
        let floats = self.w.emit_many(bwd, &float_types);
        for ((target, mut path), float) in float_targets.into_iter().zip(floats) {
            if let Atom::Var(v) = target {
                self.give(v, &mut path, Tree::Atom(float.into()));
            }
        }
        let vars = stmt.vars.iter().copied().chain([kept]).collect();
        vec![Stmt { vars, op: fwd, span: stmt.span }]
    }
}
