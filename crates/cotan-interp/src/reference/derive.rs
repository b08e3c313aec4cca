//! The operators of differentiation, by values.
//!
//! In: function values, points, tangents. Out: values and tangents, or values and pullbacks. Newly true: nothing that leaves here holds a
//! number of the tag that was used inside. A function with a rule is run by its rule at the outermost tag that its operands have;
//! the other tags flow through the code of the rule.

use super::Reference;
use super::cell;
use super::space::{densify, lift_dual, tangent, zero_like};
use super::tape::{Group, GroupKind, Node, Skeleton};
use super::value::{Along, Code, Val, along, each_float, function, map_floats, primal, top_tag, tuple};
use cotan_ir::{FnId, Type, TypeId, differentiable, leaves};
use cotan_source::{Diagnostic, Span};
use std::rc::Rc;

type Res<T> = Result<T, Box<Diagnostic>>;

/// A computation whose input is lifted.
type Run<'a> = &'a mut dyn FnMut(&mut Reference, Val) -> Res<Val>;

impl Reference {
    /// Value and tangent.
    pub(super) fn jvp(&mut self, f: Val, x: &Val, dx: &Val, span: Span) -> Res<Val> {
        let tag = self.tapes.fresh();
        let x = lift_dual(tag, x, dx).map_err(|e| e.at(&self.program, span))?;
        self.nest(&x, span)?;
        let y = self.apply(f, x, span)?;
        self.nested -= 1;
        Ok(tuple(vec![primal(tag, &y), tangent(tag, &y)]))
    }

    /// Value and pullback.
    pub(super) fn vjp(&mut self, f: &Val, x: Val, span: Span) -> Res<Val> {
        let (y, pb) = self.reverse(x, span, &mut |m, x| m.apply(f.clone(), x, span))?;
        Ok(tuple(vec![y, pb]))
    }

    /// Value and pullback, which also gives the cotangent of the function.
    pub(super) fn pullback(&mut self, f: Val, x: Val, span: Span) -> Res<Val> {
        let both = tuple(vec![f, x]);
        let (y, pb) = self.reverse(both, span, &mut |m, both| {
            let parts = both.parts();
            m.apply(parts[0].clone(), parts[1].clone(), span)
        })?;
        Ok(tuple(vec![y, pb]))
    }

    /// Runs a computation on a new tape: its value, and the way back as a function value.
    fn reverse(&mut self, x: Val, span: Span, run: Run<'_>) -> Res<(Val, Val)> {
        self.nest(&x, span)?;
        let tag = self.tapes.open();
        let lifted = self.tapes.lift(tag, &x);
        let inputs = self.tapes.tape(tag).expect("just opened").nodes.len();
        let y = run(self, lifted)?;
        let tape = self.tapes.close();
        self.nested -= 1;
        let mut outputs = Vec::new();
        each_float(&y, &mut |v| outputs.push(v.node(tag)));
        let y = primal(tag, &y);
        let mut captures = vec![y.clone(), x];
        captures.extend(tape.kept);
        let code = Code::Pullback(Rc::new(Skeleton { nodes: tape.nodes, inputs, outputs }));
        Ok((y, function(code, captures)))
    }

    /// Calls a function value.
    pub(super) fn apply(&mut self, f: Val, x: Val, span: Span) -> Res<Val> {
        let Val::Fn(fun) = &f else { unreachable!("{f:?} is not called") };
        match &fun.code {
            Code::Fn(code) => {
                let code = *code;
                let out = self.run(code, smallvec::smallvec![f, x], span)?;
                Ok(out.into_iter().next().expect("a function value has one result"))
            }
            Code::Pullback(skeleton) => self.pull(skeleton, &fun.captures, &x, span),
            Code::Attached(forward) => {
                let (forward, inner, rule) = (*forward, fun.captures[0].clone(), fun.captures[1].clone());
                self.attached(forward, inner, rule, x, span)
            }
        }
    }

    /// Calls a function value without its own rule.
    pub(super) fn apply_body(&mut self, f: Val, x: Val, span: Span) -> Res<Val> {
        let Val::Fn(fun) = &f else { unreachable!("{f:?} is not called") };
        match &fun.code {
            Code::Fn(code) => {
                let code = *code;
                let args = match self.program.named_function(code) {
                    // The function's rule is not the one of the value.
                    Some(callee) => {
                        let args =
                            if self.program.fns[callee].params.len() == 1 { vec![x] } else { x.parts().to_vec() };
                        return Ok(self.run_body(callee, args.into(), span)?.remove(0));
                    }
                    None => smallvec::smallvec![f, x],
                };
                let out = self.run_body(code, args, span)?;
                Ok(out.into_iter().next().expect("a function value has one result"))
            }
            Code::Pullback(_) => self.apply(f, x, span),
            Code::Attached(_) => self.apply(fun.captures[0].clone(), x, span),
        }
    }

    /// The way back along a tape.
    fn pull(&mut self, skeleton: &Skeleton, captures: &[Val], dy: &Val, span: Span) -> Res<Val> {
        let (y, x, kept) = (&captures[0], &captures[1], &captures[2..]);
        let mut bars = vec![Val::Zero; skeleton.nodes.len()];
        let mut outputs = skeleton.outputs.iter();
        let seeded = along(y, Some(dy), true, &mut |_, d| {
            if let (Some(node), Some(d)) = (outputs.next().copied().flatten(), d) {
                let bar = &mut bars[node as usize];
                *bar = self.tapes.add(std::mem::replace(bar, Val::Zero), d.clone())?;
            }
            Ok(Val::Zero)
        });
        seeded.map_err(|e| e.at(&self.program, span))?;
        for at in (skeleton.inputs..skeleton.nodes.len()).rev() {
            self.tick(span)?;
            let parents: &[(u32, super::tape::Weight)] = match &skeleton.nodes[at] {
                Node::Leaf => continue,
                Node::Group(group) => {
                    self.pull_group(group, at, kept, &mut bars)?;
                    continue;
                }
                Node::One(p, w) => &[(*p, *w)],
                Node::Two(parents) => parents,
                Node::Many(parents) => parents,
            };
            let bar = std::mem::replace(&mut bars[at], Val::Zero);
            if matches!(bar, Val::Zero) {
                continue;
            }
            for (parent, weight) in parents {
                let part = self.tapes.pass(&bar, *weight, kept).map_err(|e| e.at(&self.program, span))?;
                let to = &mut bars[*parent as usize];
                *to = self.tapes.add(std::mem::replace(to, Val::Zero), part).map_err(|e| e.at(&self.program, span))?;
            }
        }
        let mut inputs = bars.into_iter();
        let dx = along(x, None, true, &mut |x, _| {
            Ok(match inputs.next() {
                Some(bar) if !matches!(bar, Val::Zero) => bar,
                _ => x.float_zero(),
            })
        });
        dx.map_err(|e| e.at(&self.program, span))
    }

    /// The way back through a group.
    fn pull_group(&mut self, group: &Group, at: usize, kept: &[Val], bars: &mut [Val]) -> Res<()> {
        let span = group.span;
        let [args, results, extra] = &kept[group.kept as usize..group.kept as usize + 3] else {
            unreachable!("groups keep three values")
        };
        let mut next = at + 1;
        let dy = along(results, None, true, &mut |y, _| {
            let bar = std::mem::replace(&mut bars[next], Val::Zero);
            next += 1;
            Ok(if matches!(bar, Val::Zero) { y.float_zero() } else { bar })
        });
        let dy = dy.map_err(|e| e.at(&self.program, span))?;
        let dx = match group.kind {
            GroupKind::Rule(function, bwd) => self.backward(function, bwd, extra, &dy, args, span)?,
            GroupKind::Attached => self.apply(extra.clone(), dy, span)?,
            GroupKind::Linear => self.apply(extra.clone(), tuple(vec![Val::Zero, dy]), span)?,
            GroupKind::Probe => {
                self.show(extra, &dy, None, true);
                dy
            }
        };
        let mut inputs = group.inputs.iter();
        let added = along(args, Some(&dx), true, &mut |_, d| {
            if let (Some(node), Some(d)) = (inputs.next().copied().flatten(), d) {
                let bar = &mut bars[node as usize];
                *bar = self.tapes.add(std::mem::replace(bar, Val::Zero), d.clone())?;
            }
            Ok(Val::Zero)
        });
        added.map_err(|e| e.at(&self.program, span))?;
        Ok(())
    }

    /// Writes a group on the tape of `tag`: the results with their new nodes.
    fn record(&mut self, tag: u64, kind: GroupKind, args: &Val, results: &Val, extra: Val, span: Span) -> Val {
        let mut inputs = Vec::new();
        each_float(args, &mut |v| inputs.push(v.node(tag)));
        let args = primal(tag, args);
        let tape = self.tapes.tape(tag).expect("the tape is being written");
        let kept = tape.keep(args);
        tape.keep(results.clone());
        tape.keep(extra);
        tape.nodes.push(Node::Group(Box::new(Group { kind, inputs, kept, span })));
        self.tapes.lift(tag, results)
    }

    /// Calls a function with a rule at the tag `tag`, the outermost of its operands.
    pub(super) fn ruled(&mut self, id: FnId, args: &Val, tag: u64, span: Span) -> Res<Val> {
        let rules = self.program.fns[id].rules.clone();
        let point = primal(tag, args);
        let reverse = self.tapes.tape(tag).is_some();
        match (reverse, rules.vjp, rules.jvp) {
            (false, _, Some(jvp)) => {
                let (y, dy) = self.forward(id, jvp, &point, &tangent(tag, args), span)?;
                lift_dual(tag, &y, &dy).map_err(|e| e.at(&self.program, span))
            }
            (true, Some((fwd, bwd)), _) => {
                let (y, residual) = self.forward_part(fwd, &point, span)?;
                Ok(self.record(tag, GroupKind::Rule(id, bwd), args, &y, residual, span))
            }
            // The transpose of the backward part: its pullback, at cotangent zero.
            (false, Some((fwd, bwd)), None) => {
                let (y, residual) = self.forward_part(fwd, &point, span)?;
                let (_, transposed) =
                    self.reverse(zero_like(&y), span, &mut |m, dy| m.backward(id, bwd, &residual, &dy, &point, span))?;
                let dy = self.apply(transposed, tangent(tag, args), span)?;
                lift_dual(tag, &y, &dy).map_err(|e| e.at(&self.program, span))
            }
            // The transpose of the forward rule: its pullback in the tangents.
            (true, None, Some(jvp)) => {
                let (both, transposed) = self.reverse(zero_like(&point), span, &mut |m, dots| {
                    let (y, dy) = m.forward(id, jvp, &point, &dots, span)?;
                    Ok(tuple(vec![y, dy]))
                })?;
                let y = both.parts()[0].clone();
                Ok(self.record(tag, GroupKind::Linear, args, &y, transposed, span))
            }
            (_, None, None) => unreachable!("only functions with rules are called by them"),
        }
    }

    /// The forward rule: values and dense tangents of all results.
    fn forward(&mut self, id: FnId, jvp: FnId, point: &Val, dots: &Val, span: Span) -> Res<(Val, Val)> {
        let (params, results) = self.signature(id);
        let mut args: super::Vals = point.parts().iter().cloned().collect();
        for (ty, dot) in params.iter().zip(dots.parts()) {
            if differentiable(&self.program, *ty) {
                args.push(dot.clone());
            }
        }
        let out = self.run(jvp, args, span)?;
        let y = Val::Tuple(Rc::new(out[..results.len()].to_vec()));
        let mut given = out[results.len()..].iter();
        let mut dots = Vec::new();
        for ty in &results {
            dots.push(if differentiable(&self.program, *ty) {
                given.next().expect("a tangent for each differentiable result").clone()
            } else {
                Val::Zero
            });
        }
        let dy = densify(&Val::Tuple(Rc::new(dots)), &y).map_err(|e| e.at(&self.program, span))?;
        Ok((y, dy))
    }

    /// The forward part of a rule: values and residual.
    fn forward_part(&mut self, fwd: FnId, point: &Val, span: Span) -> Res<(Val, Val)> {
        let mut out = self.run(fwd, point.parts().iter().cloned().collect(), span)?;
        let residual = out.pop().expect("a forward part yields its residual");
        Ok((Val::Tuple(Rc::new(out.into_vec())), residual))
    }

    /// The backward part of a rule: dense cotangents of all operands.
    fn backward(&mut self, id: FnId, bwd: FnId, residual: &Val, dy: &Val, point: &Val, span: Span) -> Res<Val> {
        let (params, results) = self.signature(id);
        let mut args: super::Vals = smallvec::smallvec![residual.clone()];
        for (ty, bar) in results.iter().zip(dy.parts()) {
            if differentiable(&self.program, *ty) {
                args.push(bar.clone());
            }
        }
        let mut cells = Vec::new();
        for ty in &params {
            for leaf in leaves(&self.program, *ty) {
                if !leaf.is_float {
                    let cell = cell::new(Val::Zero);
                    args.push(Val::Acc(Some(cell.clone())));
                    cells.push(cell);
                }
            }
        }
        let floats = self.run(bwd, args, span)?;
        let (mut cells, mut floats) = (cells.iter().map(|c| cell::take(c)), floats.into_iter());
        let bars = params.iter().map(|ty| self.assemble(*ty, &mut floats, &mut cells)).collect();
        densify(&Val::Tuple(Rc::new(bars)), point).map_err(|e| e.at(&self.program, span))
    }

    /// The cotangent of a parameter from those of its leaves.
    fn assemble(&self, ty: TypeId, floats: &mut dyn Iterator<Item = Val>, cells: &mut dyn Iterator<Item = Val>) -> Val {
        match self.program.ty(ty) {
            Type::Tuple(parts) => tuple(parts.iter().map(|p| self.assemble(*p, floats, cells)).collect()),
            Type::F64 | Type::F32 => floats.next().expect("one float per float leaf"),
            _ if differentiable(&self.program, ty) => cells.next().expect("one accumulator per leaf"),
            _ => Val::Unit,
        }
    }

    fn signature(&self, id: FnId) -> (Vec<TypeId>, Vec<TypeId>) {
        let f = &self.program.fns[id];
        (f.params.iter().map(|p| f.vars[*p].ty).collect(), f.results.clone())
    }

    /// Calls a function value with a rule attached.
    fn attached(&mut self, forward: bool, f: Val, rule: Val, x: Val, span: Span) -> Res<Val> {
        let both = tuple(vec![f, x]);
        let (mine, tag) = (top_tag(&both), top_tag(&both).max(top_tag(&rule)));
        let parts = both.parts();
        if tag == 0 {
            return self.apply(parts[0].clone(), parts[1].clone(), span);
        }
        let rule = primal(tag, &rule);
        if mine < tag {
            // Only the rule depends on this variable, and the value does not depend on the rule.
            return self.attached(forward, parts[0].clone(), rule, parts[1].clone(), span);
        }
        let point = primal(tag, &both);
        let [_, x] = point.parts() else { unreachable!("a pair") };
        let reverse = self.tapes.tape(tag).is_some();
        let rule_jvp = |m: &mut Reference, dots: &Val| -> Res<Val> {
            let dots = dots.parts();
            m.apply(rule.clone(), tuple(vec![x.clone(), dots[0].clone(), dots[1].clone()]), span)
        };
        let (y, dy) = match (forward, reverse) {
            (true, false) => {
                let out = rule_jvp(self, &tangent(tag, &both))?;
                (out.parts()[0].clone(), out.parts()[1].clone())
            }
            (true, true) => {
                let (out, transposed) = self.reverse(zero_like(&point), span, &mut |m, dots| rule_jvp(m, &dots))?;
                let y = out.parts()[0].clone();
                return Ok(self.record(tag, GroupKind::Linear, &both, &y, transposed, span));
            }
            (false, true) => {
                let out = self.apply(rule.clone(), x.clone(), span)?;
                let [y, pb] = out.parts() else { unreachable!("a rule yields a pair") };
                return Ok(self.record(tag, GroupKind::Attached, &both, y, pb.clone(), span));
            }
            (false, false) => {
                let out = self.apply(rule.clone(), x.clone(), span)?;
                let [y, pb] = out.parts() else { unreachable!("a rule yields a pair") };
                let (_, transposed) = self.reverse(zero_like(y), span, &mut |m, dy| {
                    let bars = m.apply(pb.clone(), dy, span)?;
                    densify(&bars, &point).map_err(|e| e.at(&m.program, span))
                })?;
                (y.clone(), self.apply(transposed, tangent(tag, &both), span)?)
            }
        };
        lift_dual(tag, &y, &dy).map_err(|e| e.at(&self.program, span))
    }

    /// Shows a value, and its adjoint on every tape that it is on.
    pub(super) fn probe(&mut self, label: &Val, v: Val, span: Span) -> Val {
        let tag = top_tag(&v);
        if tag == 0 {
            return v;
        }
        let inner = self.probe(label, primal(tag, &v), span);
        if self.tapes.tape(tag).is_some() {
            return self.record(tag, GroupKind::Probe, &v, &inner, label.clone(), span);
        }
        let mut dots = Vec::new();
        each_float(&v, &mut |x| dots.push(x.dot(tag).cloned()));
        let mut dots = dots.into_iter();
        map_floats(&inner, &mut |x| {
            let dot = dots.next().flatten()?;
            Some(Val::Num(Rc::new(super::value::Num { tag, primal: x.clone(), along: Along::Dual(dot) })))
        })
    }
}
