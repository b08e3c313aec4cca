//! `transpose` clauses.
//!
//! In: a function that is linear in some of its parameters, and the transpose of that. Out: its rules in both modes. Derivatives
//! in the other parameters, and in what the function captured, come from its body: from a copy of it that has no rules.

use crate::adjoints::Adjoint;
use crate::frame::{Frame, unit};
use crate::instances::Shared;
use crate::rules::{Target, reserve};
use cotan_core::LocalId;
use cotan_ir::{
    AdOp, Atom, Capture, FnId, FuncBuilder, Op, Program, Type, TypeId, VarInfo, differentiable, tangent_type,
};
use cotan_source::Span;

/// A parameter as the source sees it (or the closure itself): which of the function's operands, and which component of that.
#[derive(Clone, Copy)]
struct Place {
    operand: usize,
    component: Option<usize>,
    ty: TypeId,
}

/// The part of the derivative that comes from the body.
pub(crate) struct Part {
    linear: Vec<Place>,
    others: Vec<Place>,
    /// How many operands the function has.
    operands: usize,
    /// The code of the function of the others, with the linear ones captured.
    code: FnId,
}

/// The operands of the function from values for its places; `tuple` makes a tuple.
fn operands(count: usize, mut parts: Vec<(Place, Atom)>, mut tuple: impl FnMut(Vec<Atom>) -> Atom) -> Vec<Atom> {
    parts.sort_by_key(|(p, _)| (p.operand, p.component));
    let mut out = Vec::new();
    for operand in 0..count {
        let mut of: Vec<_> = parts.iter().filter(|(p, _)| p.operand == operand).cloned().collect();
        out.push(match &of[..] {
            [] => unit(),
            [(place, _)] if place.component.is_none() => of.remove(0).1,
            _ => tuple(of.into_iter().map(|(_, value)| value).collect()),
        });
    }
    out
}

impl Part {
    /// Makes the copy without rules and the function of the others.
    pub fn new<'c>(
        shared: &mut Shared<'c>,
        program: &mut Program<AdOp>,
        target: &Target<'_, 'c>,
        linear: &[LocalId],
        span: Span,
    ) -> Part {
        let ret = program.fns[target.id].results[0];
        let name = format!("{}.body", target.name);
        let base = reserve(program, &name, vec![ret], span);
        let mut f = Frame::new(shared, program, target.scope.clone(), &name, base);
        f.b.set_span(span);
        f.enter(target);
        let value = f.body(target.body);
        let func = f.b.finish(vec![value], span);
        program.fns[base] = func;

        let types: Vec<TypeId> =
            program.fns[target.id].params.iter().map(|p| program.fns[target.id].vars[*p].ty).collect();
        let mut part = Part { linear: Vec::new(), others: Vec::new(), operands: types.len(), code: base };
        if target.code.is_some() {
            part.others.push(Place { operand: 0, component: None, ty: types[0] });
        }
        for (i, p) in target.params.iter().enumerate() {
            let place = match (target.code, target.params.len()) {
                (None, _) => Place { operand: i, component: None, ty: types[i] },
                (Some(_), 1) => Place { operand: 1, component: None, ty: types[1] },
                (Some(_), _) => {
                    let Type::Tuple(parts) = program.ty(types[1]) else {
                        unreachable!("several parameters are a tuple")
                    };
                    Place { operand: 1, component: Some(i), ty: parts[i] }
                }
            };
            if linear.contains(p) { part.linear.push(place) } else { part.others.push(place) }
        }
        part.code = part.function_of_others(program, base, target.name, ret, span);
        part
    }

    fn function_of_others(&self, program: &mut Program<AdOp>, base: FnId, of: &str, ret: TypeId, span: Span) -> FnId {
        let arg = match &self.others[..] {
            [one] => one.ty,
            several => program.intern(Type::Tuple(several.iter().map(|p| p.ty).collect())),
        };
        let this_ty = program.intern(Type::Fn { arg, result: ret });
        let name = format!("{of}.others");
        let code = reserve(program, &name, vec![ret], span);
        let captures: Vec<Capture> =
            self.linear.iter().enumerate().map(|(i, p)| Capture { name: format!("linear{i}"), ty: p.ty }).collect();
        // Declared before it is written: it reads captured variables of itself.
        let func = &mut program.fns[code];
        let this = func.vars.push(VarInfo { ty: this_ty, name: None });
        let x = func.vars.push(VarInfo { ty: arg, name: None });
        func.params = vec![this, x];
        func.captures = Some(captures.clone());
        let mut b = FuncBuilder::new(program, name);
        b.set_span(span);
        b.set_captures(captures);
        let this = b.param(this_ty, None);
        let x = b.param(arg, None);
        let mut parts = Vec::new();
        for (i, place) in (0..).zip(&self.linear) {
            let value = b.emit_typed1(Op::Capture { base: this.into(), code, index: i });
            parts.push((*place, value.into()));
        }
        for (i, place) in (0..).zip(&self.others) {
            let value = if self.others.len() == 1 { x } else { b.emit_typed1(Op::Proj(x.into(), i)) };
            parts.push((*place, value.into()));
        }
        let args = operands(self.operands, parts, |items| b.emit_typed1(Op::Tuple(items)).into());
        let y = b.emit_typed1(Op::Call { func: base, args });
        let func = b.finish(vec![y.into()], span);
        program.fns[code] = func;
        code
    }

    /// Whether the function has other parameters or captured variables.
    pub fn has_others(&self) -> bool {
        !self.others.is_empty()
    }

    /// The function of the others, and its argument.
    fn applied(&self, f: &mut Frame<'_, '_>, args: &[Atom]) -> (Atom, Atom) {
        let captures = self.linear.iter().map(|p| p.of(f, args)).collect();
        let function = f.emit(Op::Closure { code: self.code, captures });
        let mut values: Vec<Atom> = self.others.iter().map(|p| p.of(f, args)).collect();
        let x = if values.len() == 1 { values.remove(0) } else { f.tuple(values) };
        (function, x)
    }

    /// The value and the pullback of the others.
    pub fn forward(&self, f: &mut Frame<'_, '_>, args: &[Atom]) -> (Atom, Atom) {
        let (function, x) = self.applied(f, args);
        let (ret, x_ty) = (f.ret, f.b.type_of(&x));
        let (arg, result) = (f.dense_type(ret), f.dense_type(x_ty));
        let pb = f.b.program.intern(Type::Fn { arg, result });
        let ty = f.b.program.intern(Type::Tuple(vec![ret, pb]));
        let both = f.emit_as(Op::Ad(AdOp::Vjp { f: function, x }), ty);
        (f.proj(&both, 0), f.proj(&both, 1))
    }

    /// Adds the cotangents of the others.
    pub fn backward(&self, f: &mut Frame<'_, '_>, pullback: Atom, bar: Atom, adjoints: &[Adjoint]) {
        let dx = f.emit(Op::Dispatch { on: pullback, path: Vec::new(), args: vec![bar] });
        for (i, place) in self.others.iter().enumerate() {
            let part = if self.others.len() == 1 { dx.clone() } else { f.proj(&dx, i) };
            let to = match (place.component, &adjoints[place.operand]) {
                (Some(i), Adjoint::Tuple(parts)) => parts[i].clone(),
                (_, whole) => whole.clone(),
            };
            f.adjoint_add(&to, part);
        }
    }
}

impl Place {
    fn of(self, f: &mut Frame<'_, '_>, args: &[Atom]) -> Atom {
        match self.component {
            Some(i) => f.proj(&args[self.operand].clone(), i),
            None => args[self.operand].clone(),
        }
    }

    /// The dense tangent.
    fn dense(self, f: &mut Frame<'_, '_>, args: &[Atom], dots: &[Option<Atom>]) -> Atom {
        let value = self.of(f, args);
        let dot = match (&dots[self.operand], self.component) {
            (Some(dot), Some(i)) => Some(f.proj(&dot.clone(), i)),
            (dot, _) => dot.clone(),
        };
        f.densify(dot, &value, self.ty)
    }
}

/// The forward rule: the function itself of the tangents of the linear parameters, plus the derivative of its body in the others.
pub(crate) fn jvp<'c>(
    shared: &mut Shared<'c>,
    program: &mut Program<AdOp>,
    target: &Target<'_, 'c>,
    part: &Part,
    span: Span,
) -> FnId {
    let ret = program.fns[target.id].results[0];
    let name = format!("{}.jvp", target.name);
    let id = reserve(program, &name, vec![ret], span);
    let mut f = Frame::new(shared, program, target.scope.clone(), &name, id);
    f.b.set_span(span);
    let args = f.enter(target);
    let dots = f.tangent_params(&args);
    let mut parts = Vec::new();
    for place in &part.linear {
        parts.push((*place, place.dense(&mut f, &args, &dots)));
    }
    for place in &part.others {
        parts.push((*place, place.of(&mut f, &args)));
    }
    let moved = operands(part.operands, parts, |items| f.emit(Op::Tuple(items)));
    let mut dot = f.emit(Op::Call { func: target.id, args: moved });
    let value = if part.has_others() {
        let (function, x) = part.applied(&mut f, &args);
        let mut dx: Vec<Atom> = part.others.iter().map(|p| p.dense(&mut f, &args, &dots)).collect();
        let dx = if dx.len() == 1 { dx.remove(0) } else { f.tuple(dx) };
        let dense = f.dense_type(ret);
        let ty = f.b.program.intern(Type::Tuple(vec![ret, dense]));
        let both = f.emit_as(Op::Ad(AdOp::Jvp { f: function, x, dx }), ty);
        let along = f.proj(&both, 1);
        dot = f.emit(Op::SpaceAdd(dot, along));
        f.proj(&both, 0)
    } else {
        f.emit(Op::Call { func: target.id, args })
    };
    let mut results = vec![value];
    if differentiable(f.b.program, ret) {
        let tan = tangent_type(f.b.program, ret);
        results.push(f.sparse_as(dot, tan));
    }
    let func = f.b.finish(results, span);
    program.fns[id] = func;
    id
}
