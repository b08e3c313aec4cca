//! Reverse mode through calls of known functions and of function values.

use super::Reverse;
use crate::signature::differentiable_results;
use crate::writer::Tree;
use cotan_ir::{Atom, Block, Deriv, FnId, Lit, Op, Stmt, Type, TypeId, Var, leaves};
use rustc_hash::FxHashMap;
use std::borrow::Cow;

/// The code of a rule of up to so many statements, both parts together, stands where its function is called.
const SMALL: usize = 64;

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

        if let Op::Call { func, args } = &stmt.op
            && let Some((fwd, bwd)) = self.small_rule(*func)
        {
            let (fwd, floats) = self.rule_in_place(stmt, args, (fwd, bwd), bars);
            self.give_floats(float_targets, floats);
            return fwd;
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
        self.give_floats(float_targets, floats.into_iter().map(Atom::Var));
        let vars = stmt.vars.iter().copied().chain([kept]).collect();
        vec![Stmt { vars, op: fwd, span: stmt.span }]
    }

    fn give_floats(&mut self, targets: Vec<(Atom, Vec<u32>)>, floats: impl IntoIterator<Item = Atom>) {
        for ((target, mut path), float) in targets.into_iter().zip(floats) {
            let nothing = matches!(float, Atom::Lit(Lit::F64(0.0) | Lit::F32(0.0)));
            if let (Atom::Var(v), false) = (target, nothing) {
                self.give(v, &mut path, Tree::Atom(float));
            }
        }
    }

    /// Puts small forward rules in place of calls of functions that have no other. The rule's point is constant to this walk and its
    /// tangents are zero; the cotangent of a result is that of the tangent that the rule yields, and the cotangent of a tangent
    /// that of the operand: the walk over the rule transposes it.
    pub(super) fn forward_rules_in_place<'s>(&mut self, stmts: &'s [Stmt]) -> Cow<'s, [Stmt]> {
        if !stmts.iter().any(|s| self.small_forward_rule(s).is_some()) {
            return Cow::Borrowed(stmts);
        }
        let mut out = Vec::with_capacity(stmts.len());
        for stmt in stmts {
            let (Some(rule), Op::Call { args, .. }) = (self.small_forward_rule(stmt), &stmt.op) else {
                out.push(stmt.clone());
                continue;
            };
            let (mut given, mut dots) = (Vec::new(), Vec::new());
            for arg in args {
                let ty = self.w.type_of(arg);
                let point = match arg.var() {
                    Some(v) => {
                        let point = self.w.var_like(ty, v, "");
                        self.constants.insert(point);
                        self.w.alias.insert(point, self.w.resolved(arg.clone()));
                        out.push(Stmt { vars: vec![point], op: Op::Copy(arg.clone()), span: stmt.span });
                        point.into()
                    }
                    None => arg.clone(),
                };
                given.push(point);
                if self.w.differentiable(ty) {
                    let tan = self.w.tangent(ty);
                    let dot = self.w.var(tan);
                    self.handed.insert(dot, arg.clone());
                    out.push(Stmt { vars: vec![dot], op: Op::Zero, span: stmt.span });
                    dots.push(Atom::Var(dot));
                }
            }
            let copy = self.w.program.fns[rule].inlined(given.into_iter().chain(dots), &mut self.w.vars, stmt.span);
            out.extend(copy.stmts);
            let (values, tangents) = copy.results.split_at(stmt.vars.len());
            let mut tangents = tangents.iter();
            for (v, value) in stmt.vars.iter().zip(values) {
                if self.w.differentiable(self.w.vars[*v].ty) {
                    self.handed.insert(*v, tangents.next().expect("a tangent per result").clone());
                }
                out.push(Stmt { vars: vec![*v], op: Op::Copy(value.clone()), span: stmt.span });
            }
        }
        Cow::Owned(out)
    }

    /// The `jvp` rule of the function that is called, if it is small and there is no other.
    fn small_forward_rule(&mut self, stmt: &Stmt) -> Option<FnId> {
        let Op::Call { func, args } = &stmt.op else { return None };
        let rules = &self.w.f(*func).rules;
        let rule = rules.jvp.filter(|_| rules.vjp.is_none() && !self.w.state.keep_rules)?;
        if self.w.f(rule).body.size() > SMALL {
            return None;
        }
        let types: Vec<TypeId> = args.iter().map(|a| self.w.type_of(a)).collect();
        types.iter().all(|ty| !matches!(self.w.ty(*ty), Type::Acc(_))).then_some(rule)
    }

    /// Both parts of the `vjp` rule of a function, if they are small and the backward part takes what it was kept apart at once.
    fn small_rule(&self, func: FnId) -> Option<(FnId, FnId)> {
        let (fwd, bwd) = self.w.f(func).rules.vjp.filter(|_| !self.w.state.keep_rules)?;
        let (first, second) = (self.w.f(fwd), self.w.f(bwd));
        let small = first.body.size() + second.body.size() <= SMALL;
        (small && residual_at(&first.body).is_some() && only_fields(&second.body, second.params[0]))
            .then_some((fwd, bwd))
    }

    /// Puts the code of a rule in place of a call: no residual is made, and what the backward part needs is kept as if it had been
    /// written here. The statements of the forward part, and the floats that the backward part yields.
    fn rule_in_place(
        &mut self,
        stmt: &Stmt,
        args: &[Atom],
        (fwd, bwd): (FnId, FnId),
        bars: Vec<Atom>,
    ) -> (Vec<Stmt>, Vec<Atom>) {
        let mut first = self.w.program.fns[fwd].inlined(args.iter().cloned(), &mut self.w.vars, stmt.span);
        let mut parts = FxHashMap::default();
        for arg in args.iter().filter_map(Atom::var) {
            if let Some((_, captures)) = self.closures.get(&arg) {
                take_parts(&mut first, arg, captures, &mut parts);
            }
        }
        first.substitute(&parts);
        let at = residual_at(&first).expect("the rule was looked at");
        let made = first.stmts.remove(at);
        let Op::Adt { fields, .. } = made.op else { unreachable!("a residual is a nominal value") };
        let residual = made.vars[0];
        for (v, value) in stmt.vars.iter().zip(first.results) {
            first.stmts.push(Stmt { vars: vec![*v], op: Op::Copy(value), span: stmt.span });
        }
        for made in &first.stmts {
            made.vars.iter().filter(|v| !stmt.vars.contains(v)).for_each(|v| self.define(*v));
        }
        let given = [Atom::Var(residual)].into_iter().chain(bars);
        let mut second = self.w.program.fns[bwd].inlined(given, &mut self.w.vars, stmt.span);
        let mut parts = FxHashMap::default();
        take_parts(&mut second, residual, &fields, &mut parts);
        second.substitute(&parts);
        self.w.splice(second.stmts);
        (first.stmts, second.results)
    }
}

/// Where a forward part makes its residual, if it does so at once and for nothing else.
fn residual_at(body: &Block) -> Option<usize> {
    let residual = body.results.last()?.var()?;
    let mut uses = 0;
    body.for_each_use(&mut |v| uses += usize::from(v == residual));
    let at = body.stmts.iter().position(|s| s.vars == [residual])?;
    (uses == 1 && matches!(body.stmts[at].op, Op::Adt { .. })).then_some(at)
}

/// Whether a value is used for its fields only.
fn only_fields(body: &Block, base: Var) -> bool {
    let (mut uses, mut fields) = (0, 0);
    body.for_each_use(&mut |v| uses += usize::from(v == base));
    body.for_each_stmt(&mut |s| {
        fields += usize::from(matches!(&s.op, Op::Field { base: Atom::Var(b), .. } if *b == base))
    });
    uses == fields
}

/// Removes the statements that read a field or capture of `base`; what they yielded goes into `found`.
fn take_parts(block: &mut Block, base: Var, parts: &[Atom], found: &mut FxHashMap<Var, Atom>) {
    block.stmts.retain_mut(|stmt| match &stmt.op {
        Op::Field { base: Atom::Var(b), index, .. } | Op::Capture { base: Atom::Var(b), index, .. } if *b == base => {
            found.insert(stmt.vars[0], parts[*index as usize].clone());
            false
        }
        _ => {
            stmt.op.for_each_block_mut(|b| take_parts(b, base, parts, found));
            true
        }
    });
}
