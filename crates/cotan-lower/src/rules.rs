//! Derivative clauses.
//!
//! In: the rules of a function. Out: the functions that the program keeps for them (`cotan_ir::Rules`), with the signatures of
//! `cotan_ir::Derive`: a `vjp` clause becomes a forward part, which keeps what the backward part uses, and a backward part; a
//! `jvp` clause becomes a function of values and tangents. Tangents are dense inside the clauses and sparse outside.

use crate::adjoints::{Adjoint, uses};
use crate::frame::{Frame, Slot, unit};
use crate::instances::{Code, Scope, Shared};
use crate::shapes::Shape;
use cotan_core::{Expr, ExprKind, LocalId, Pattern, Rule, Stmt};
use cotan_ir::{
    AdOp, AdtDef, AdtId, AdtKind, Atom, Block, FnId, Func, Op, Program, Rules, Step, Type, TypeId, Var, VariantDef,
    differentiable, tangent_type,
};
use cotan_source::{IndexVec, Span};

/// The function whose rules these are.
pub(crate) struct Target<'t, 'c> {
    pub id: FnId,
    pub scope: &'t Scope<'c>,
    pub name: &'c str,
    pub params: &'c [LocalId],
    pub body: &'c Expr,
    /// For a local function.
    pub code: Option<&'t Code<'c>>,
}

/// What the backward part is given by the forward part.
pub(crate) struct Kept {
    pub residual: AdtId,
    /// The variable of each field.
    fields: Vec<(LocalId, Shape)>,
    /// Variables whose values are literals.
    literals: Vec<(LocalId, Atom)>,
    /// The position of the result.
    result: Option<u32>,
    /// The position of the pullback of the parameters that are not linear.
    pub pullback: Option<u32>,
}

/// Lowers the rules of a function.
pub(crate) fn lower<'c>(
    shared: &mut Shared<'c>,
    program: &mut Program<AdOp>,
    target: &Target<'_, 'c>,
    rules: &'c [Rule],
) {
    for rule in rules {
        match rule {
            Rule::Vjp { forward, value, dy, backward, span } => {
                let (fwd, kept) = forward_part(shared, program, target, forward, value.as_ref(), backward, None, *span);
                let bwd = backward_part(shared, program, target, dy, backward, &kept, None, *span);
                program.fns[target.id].rules.vjp = Some((fwd, bwd));
            }
            Rule::Jvp { stmts, value, tangent, span } => {
                let jvp = jvp(shared, program, target, stmts, value.as_ref(), tangent, *span);
                program.fns[target.id].rules.jvp = Some(jvp);
            }
            Rule::Transpose { linear, forward, dy, backward, span } => {
                let part = crate::transposes::Part::new(shared, program, target, linear, *span);
                let (fwd, kept) = forward_part(shared, program, target, forward, None, backward, Some(&part), *span);
                let bwd = backward_part(shared, program, target, dy, backward, &kept, Some(&part), *span);
                let jvp = crate::transposes::jvp(shared, program, target, &part, *span);
                program.fns[target.id].rules = Rules { vjp: Some((fwd, bwd)), jvp: Some(jvp) };
            }
        }
    }
}

/// A place in the table for a function that is about to be written.
pub(crate) fn reserve(program: &mut Program<AdOp>, name: &str, results: Vec<TypeId>, span: Span) -> FnId {
    program.fns.push(Func {
        name: name.to_string(),
        params: Vec::new(),
        results,
        body: Block::default(),
        vars: IndexVec::new(),
        captures: None,
        rules: Rules::default(),
        span,
    })
}

impl<'c> Frame<'_, 'c> {
    /// Makes and binds the parameters of the function whose rules these are. The operands are those of the function.
    pub fn enter(&mut self, target: &Target<'_, 'c>) -> Vec<Atom> {
        match target.code {
            None => {
                self.top_params(target.params);
                target.params.iter().map(|p| self.get(Slot::Local(*p))).collect()
            }
            Some(code) => {
                let (this, arg) = self.code_params(code);
                vec![this.into(), arg.into()]
            }
        }
    }

    /// Statements of a clause, none of which leaves: the checker lets a clause return at its end only.
    fn clause_stmts(&mut self, stmts: &'c [Stmt]) {
        for stmt in stmts {
            self.stmt(stmt).expect("clauses do not leave");
        }
    }

    /// The value of an expression in a region of its own.
    fn clause_value(&mut self, e: &'c Expr) -> Atom {
        let ty = self.ty(&e.ty);
        let block = self.region(false, Vec::new(), Some(ty), |f| f.value(e));
        block.stmts.into_iter().for_each(|s| self.b.push(s));
        block.results.into_iter().next().expect("the region has a value")
    }
}

#[allow(clippy::too_many_arguments)]
fn forward_part<'c>(
    shared: &mut Shared<'c>,
    program: &mut Program<AdOp>,
    target: &Target<'_, 'c>,
    forward: &'c [Stmt],
    value: Option<&'c Expr>,
    backward: &'c Expr,
    transposed: Option<&crate::transposes::Part>,
    span: Span,
) -> (FnId, Kept) {
    let ret = program.fns[target.id].results[0];
    let residual = program.adts.push(AdtDef {
        name: format!("Residual<{}>", target.name),
        variants: Vec::new(),
        kind: AdtKind::Residual,
    });
    let residual_ty = program.intern(Type::Adt(residual));
    let name = format!("{}.fwd", target.name);
    let id = reserve(program, &name, vec![ret, residual_ty], span);
    let mut f = Frame::new(shared, program, target.scope.clone(), &name, id);
    f.b.set_span(span);
    let args = f.enter(target);
    f.clause_stmts(forward);
    f.b.set_span(span);
    let mut pullback = None;
    let value = match (value, transposed) {
        (Some(value), _) => f.clause_value(value),
        (None, Some(part)) if part.has_others() => {
            let (y, pb) = part.forward(&mut f, &args);
            pullback = Some(pb);
            y
        }
        (None, _) => f.emit(Op::Call { func: target.id, args }),
    };
    let mut kept = Kept { residual, fields: Vec::new(), literals: Vec::new(), result: None, pullback: None };
    let mut fields = Vec::new();
    let mut types = Vec::new();
    for local in uses(target.scope, backward) {
        if !f.has(Slot::Local(local)) {
            continue;
        }
        match f.get(Slot::Local(local)) {
            literal @ Atom::Lit(_) => kept.literals.push((local, literal)),
            atom => {
                kept.fields.push((local, f.shapes.of(&atom)));
                types.push((target.scope.locals[local].name.clone(), f.b.type_of(&atom)));
                fields.push(atom);
            }
        }
    }
    if f.needs_point(ret) {
        kept.result = Some(fields.len() as u32);
        types.push(("result".into(), ret));
        fields.push(value.clone());
    }
    if let Some(pb) = pullback {
        kept.pullback = Some(fields.len() as u32);
        types.push(("pullback".into(), f.b.type_of(&pb)));
        fields.push(pb);
    }
    let title = f.b.program.adts[residual].name.clone();
    f.b.program.adts[residual].variants = vec![VariantDef { name: title, named: true, fields: types }];
    let made = f.emit(Op::Adt { adt: residual, variant: 0, fields });
    let func = f.b.finish(vec![value, made], span);
    program.fns[id] = func;
    (id, kept)
}

impl Frame<'_, '_> {
    /// Whether a cotangent of this type cannot be made dense without the point.
    fn needs_point(&mut self, ty: TypeId) -> bool {
        let dense = self.dense_type(ty);
        !self.is_unit(dense) && (!differentiable(self.b.program, ty) || tangent_type(self.b.program, ty) != dense)
    }
}

#[allow(clippy::too_many_arguments)]
fn backward_part<'c>(
    shared: &mut Shared<'c>,
    program: &mut Program<AdOp>,
    target: &Target<'_, 'c>,
    dy: &'c Pattern,
    backward: &'c Expr,
    kept: &Kept,
    transposed: Option<&crate::transposes::Part>,
    span: Span,
) -> FnId {
    let of = &program.fns[target.id];
    let params: Vec<TypeId> = of.params.iter().map(|p| of.vars[*p].ty).collect();
    let ret = of.results[0];
    let name = format!("{}.bwd", target.name);
    let unit_ty = program.intern(Type::Tuple(Vec::new()));
    let id = reserve(program, &name, vec![unit_ty], span);
    let mut f = Frame::new(shared, program, target.scope.clone(), &name, id);
    f.b.set_span(span);
    let residual_ty = f.b.program.intern(Type::Adt(kept.residual));
    let residual: Atom = f.b.param(residual_ty, None).into();
    let y_bar = differentiable(f.b.program, ret).then(|| {
        let tan = tangent_type(f.b.program, ret);
        Atom::Var(f.b.param(tan, None))
    });
    let mut floats: Vec<Var> = Vec::new();
    let adjoints: Vec<Adjoint> = params.iter().map(|ty| f.adjoint_params(*ty, &mut floats)).collect();
    let field = |f: &mut Frame<'_, 'c>, i: u32| f.emit(Op::Field { base: residual.clone(), variant: 0, index: i });
    for (i, (local, shape)) in (0..).zip(&kept.fields) {
        let value = field(&mut f, i);
        f.shapes.set(value.var().expect("a field is a variable"), shape.clone());
        f.bind_local(*local, value);
    }
    for (local, literal) in &kept.literals {
        f.bind_local(*local, literal.clone());
    }
    match target.code {
        None => f.adjoints.extend(target.params.iter().copied().zip(adjoints.iter().cloned())),
        Some(code) => {
            for (i, local) in code.captures.iter().enumerate() {
                let part = f.adjoint_step(adjoints[0].clone(), Step::Capture { code: code.id, index: i as u32 });
                f.adjoints.insert(*local, part);
            }
            match (code.params, &adjoints[1]) {
                ([one], whole) => {
                    f.adjoints.insert(*one, whole.clone());
                }
                (several, Adjoint::Tuple(parts)) => {
                    f.adjoints.extend(several.iter().copied().zip(parts.iter().cloned()))
                }
                (several, _) => f.adjoints.extend(several.iter().map(|p| (*p, Adjoint::Nothing))),
            }
        }
    }
    let dense = f.dense_type(ret);
    let bar = match (kept.result, y_bar) {
        (Some(i), Some(bar)) => {
            let like = field(&mut f, i);
            f.emit_as(Op::Densify { tan: bar, like }, dense)
        }
        (Some(i), None) => {
            let point = field(&mut f, i);
            f.emit_as(Op::ZeroLike(point), dense)
        }
        (None, Some(bar)) => bar,
        (None, None) => f.filler(dense),
    };
    f.bind(dy, &bar);
    let block = f.region(false, Vec::new(), None, |f| f.value(backward));
    block.stmts.into_iter().for_each(|s| f.b.push(s));
    f.b.set_span(span);
    if let (Some(part), Some(i)) = (transposed, kept.pullback) {
        let pb = field(&mut f, i);
        part.backward(&mut f, pb, bar, &adjoints);
    }
    let mut results = Vec::new();
    for acc in floats {
        results.push(f.emit(Op::AccTake(acc.into())));
    }
    let func = f.b.finish(results, span);
    program.fns[id] = func;
    id
}

fn jvp<'c>(
    shared: &mut Shared<'c>,
    program: &mut Program<AdOp>,
    target: &Target<'_, 'c>,
    stmts: &'c [Stmt],
    value: Option<&'c Expr>,
    tangent: &'c Expr,
    span: Span,
) -> FnId {
    let ret = program.fns[target.id].results[0];
    let name = format!("{}.jvp", target.name);
    let id = reserve(program, &name, vec![ret], span);
    let mut f = Frame::new(shared, program, target.scope.clone(), &name, id);
    f.b.set_span(span);
    let args = f.enter(target);
    let dots = f.tangent_params(&args);
    let mut named = Vec::new();
    let mut note = |e: &'c Expr| {
        if let ExprKind::TangentOf(local) = &e.kind
            && !named.contains(local)
        {
            named.push(*local);
        }
    };
    for stmt in stmts {
        crate::walk::stmt(stmt, &mut note, &mut |_| {});
    }
    value.iter().for_each(|e| crate::walk::expr(e, &mut note, &mut |_| {}));
    crate::walk::expr(tangent, &mut note, &mut |_| {});
    for local in named {
        let dot = f.tangent_of(target, local, &dots);
        f.set(Slot::Tangent(local), dot);
    }
    f.clause_stmts(stmts);
    let value = match value {
        Some(value) => f.clause_value(value),
        None => f.emit(Op::Call { func: target.id, args }),
    };
    let dot = f.clause_value(tangent);
    let mut results = vec![value];
    if differentiable(f.b.program, ret) {
        let tan = tangent_type(f.b.program, ret);
        let dot = f.sparse_as(dot, tan);
        if !matches!(f.kind(ret), Type::F64 | Type::F32) {
            // For its check: filling in zeros fails where the shapes differ.
            let dense = f.dense_type(ret);
            f.b.set_span(tangent.span);
            f.emit_as(Op::Densify { tan: dot.clone(), like: results[0].clone() }, dense);
        }
        results.push(dot);
    }
    let func = f.b.finish(results, span);
    program.fns[id] = func;
    id
}

impl<'c> Frame<'_, 'c> {
    /// Parameters for the tangents of the differentiable ones among `args`, which are all parameters.
    pub fn tangent_params(&mut self, args: &[Atom]) -> Vec<Option<Atom>> {
        let dot = |a: &Atom| {
            let ty = self.b.type_of(a);
            if !differentiable(self.b.program, ty) {
                return None;
            }
            let tan = tangent_type(self.b.program, ty);
            let name = a.var().and_then(|v| self.b.var_info(v).name.clone()).map(|n| format!("{n}_dot"));
            Some(Atom::Var(self.b.param(tan, name)))
        };
        args.iter().map(dot).collect()
    }

    /// The dense tangent of a parameter or captured variable; `dots` are those of the function's parameters.
    fn tangent_of(&mut self, target: &Target<'_, 'c>, local: LocalId, dots: &[Option<Atom>]) -> Atom {
        let value = self.get(Slot::Local(local));
        let ty = self.b.type_of(&value);
        let dot = match target.code {
            None => target.params.iter().position(|p| *p == local).and_then(|i| dots[i].clone()),
            Some(code) => match (code.captures.iter().position(|l| *l == local), &dots[0], &dots[1]) {
                (Some(index), Some(this), _) => {
                    let step = Step::Capture { code: code.id, index: index as u32 };
                    Some(self.emit(Op::TanPart { tan: this.clone(), step }))
                }
                (_, _, Some(arg)) if code.params.len() == 1 => Some(arg.clone()),
                (_, _, Some(arg)) => code.params.iter().position(|p| *p == local).map(|i| self.proj(&arg.clone(), i)),
                _ => None,
            },
        };
        self.densify(dot, &value, ty)
    }

    /// A sparse tangent (none: zero) of a value as a dense one.
    pub fn densify(&mut self, dot: Option<Atom>, value: &Atom, ty: TypeId) -> Atom {
        let dense = self.dense_type(ty);
        match dot {
            Some(dot) if self.b.type_of(&dot) == dense => dot,
            _ if self.is_unit(dense) => unit(),
            Some(dot) => self.emit_as(Op::Densify { tan: dot, like: value.clone() }, dense),
            None => self.emit_as(Op::ZeroLike(value.clone()), dense),
        }
    }
}
