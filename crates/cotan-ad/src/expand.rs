//! Removes the operators of differentiation.
//!
//! In: `Program<AdOp>`. Out: `Program<Never>` with the same functions under the same ids, and the codes of the closures that the
//! operators return. Newly true: `jvp`, `vjp` and `pullback` are calls of a derivative of the function value at hand (`Dispatch`), a
//! statement-by-statement rewriting that needs no knowledge of which function that is; a rule attached to a value (`Attach`) is a
//! closure over a code that has this rule.

use crate::State;
use crate::writer::{Tree, Writer};
use cotan_ir::{
    AdOp, AdtDef, AdtKind, Atom, Block, Capture, Deriv, FnId, Func, Never, Op, Program, Rules, Step, Stmt, Type,
    TypeId, Var, VariantDef, leaves, visit_convert,
};
use cotan_source::{IndexVec, Span};
use rustc_hash::FxHashMap;

/// Removes the operators of differentiation from a program.
pub fn expand(program: &Program<AdOp>) -> Program<Never> {
    let mut out = Program::<Never> {
        types: program.types.clone(),
        adts: program.adts.clone(),
        fns: IndexVec::new(),
        derived: program.derived.clone(),
        residuals: program.residuals.clone(),
        attached: program.attached.clone(),
    };
    // The ids of all functions stay; codes of closures come behind them.
    for f in &program.fns {
        out.fns.push(Func {
            name: f.name.clone(),
            params: f.params.clone(),
            results: f.results.clone(),
            body: Block::default(),
            vars: f.vars.clone(),
            captures: f.captures.clone(),
            rules: f.rules.clone(),
            span: f.span,
        });
    }
    let mut codes = FxHashMap::default();
    for (id, f) in program.fns.iter_enumerated() {
        let mut state = State::default();
        let mut expander = Expander { w: Writer::new(&mut out, &mut state, f.vars.clone()), codes: &mut codes };
        let body = expander.block(&f.body);
        let vars = std::mem::take(&mut expander.w.vars);
        out.fns[id].body = body;
        out.fns[id].vars = vars;
    }
    out
}

/// Which closure code: the operator, the type of the function and the type of the closure.
type CodeKey = (Kind, TypeId, TypeId);

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    Vjp,
    Pullback,
    AttachedVjp,
    AttachedJvp,
}

struct Expander<'a, 'p> {
    w: Writer<'p>,
    codes: &'a mut FxHashMap<CodeKey, FnId>,
}

impl Expander<'_, '_> {
    fn block(&mut self, block: &Block<AdOp>) -> Block {
        self.w.open_block();
        for stmt in &block.stmts {
            self.w.span = stmt.span;
            match &stmt.op {
                Op::Ad(op) => self.operator(stmt.vars[0], op),
                Op::Attach { forward, f, rule } => self.attach(stmt.vars[0], *forward, f, rule),
                op => {
                    let op = visit_convert(op, &mut |b| self.block(b));
                    self.w.push_at(self.w.depth(), Stmt { vars: stmt.vars.clone(), op, span: stmt.span });
                }
            }
        }
        Block { stmts: self.w.close_block(), results: block.results.clone() }
    }

    fn operator(&mut self, result: Var, op: &AdOp) {
        let Type::Tuple(parts) = self.w.ty(self.w.vars[result].ty).clone() else {
            unreachable!("operators of differentiation yield pairs")
        };
        let (f, x) = match op {
            AdOp::Jvp { f, x, .. } | AdOp::Vjp { f, x } | AdOp::Pullback { f, x } => (f, x),
        };
        let f_ty = self.w.type_of(f);
        let Type::Fn { arg, result: res } = *self.w.ty(f_ty) else { unreachable!("the operand is a function") };
        match op {
            AdOp::Jvp { dx, .. } => {
                let f_tan = self.w.tangent(f_ty);
                let mut args = vec![x.clone(), self.w.emit(Op::Zero, f_tan)];
                if self.w.differentiable(arg) {
                    args.push(fitting(&mut self.w, dx.clone(), x.clone()));
                }
                let mut types = vec![res];
                let active = self.w.differentiable(res);
                if active {
                    types.push(self.w.tangent(res));
                }
                let out = self.w.emit_many(Op::Dispatch { on: f.clone(), path: vec![Deriv::Jvp], args }, &types);
                let y = Atom::Var(out[0]);
                let dy = match out.get(1) {
                    Some(dot) => self.w.emit(Op::Densify { tan: (*dot).into(), like: y.clone() }, parts[1]),
                    None => self.w.emit(Op::ZeroLike(y.clone()), parts[1]),
                };
                self.w.push(vec![result], Op::Tuple(vec![y, dy]));
            }
            AdOp::Vjp { .. } | AdOp::Pullback { .. } => {
                let kind = if matches!(op, AdOp::Vjp { .. }) { Kind::Vjp } else { Kind::Pullback };
                let residual = self.w.intern(Type::Residual);
                let out = self.w.emit_many(
                    Op::Dispatch { on: f.clone(), path: vec![Deriv::Fwd], args: vec![x.clone()] },
                    &[res, residual],
                );
                let code = self.code(kind, f_ty, parts[1]);
                let mut captures = vec![out[1].into(), x.clone(), out[0].into()];
                if kind == Kind::Pullback {
                    captures.push(f.clone());
                }
                let pb = self.w.emit(Op::Closure { code, captures }, parts[1]);
                self.w.push(vec![result], Op::Tuple(vec![out[0].into(), pb]));
            }
        }
    }

    fn attach(&mut self, result: Var, forward: bool, f: &Atom, rule: &Atom) {
        let kind = if forward { Kind::AttachedJvp } else { Kind::AttachedVjp };
        let (f_ty, rule_ty) = (self.w.type_of(f), self.w.type_of(rule));
        let code = self.code(kind, f_ty, rule_ty);
        self.w.push(vec![result], Op::Closure { code, captures: vec![f.clone(), rule.clone()] });
    }

    fn code(&mut self, kind: Kind, f_ty: TypeId, other: TypeId) -> FnId {
        let key = (kind, f_ty, other);
        if let Some(id) = self.codes.get(&key) {
            return *id;
        }
        let program = &mut *self.w.program;
        let id = match kind {
            Kind::Vjp | Kind::Pullback => pullback_code(program, kind, f_ty, other),
            Kind::AttachedVjp | Kind::AttachedJvp => attached_code(program, kind, f_ty, other),
        };
        self.codes.insert(key, id);
        id
    }
}

fn capture(w: &mut Writer<'_>, base: Var, code: FnId, index: u32, ty: TypeId) -> Atom {
    w.emit(Op::Capture { base: base.into(), code, index }, ty)
}

/// A dense tangent that a user gave as a sparse one; sizes and variants are checked against its point.
fn fitting(w: &mut Writer<'_>, given: Atom, point: Atom) -> Atom {
    let (ty, of) = (w.type_of(&given), w.type_of(&point));
    let tan = w.tangent(of);
    let sparse = w.coerce(given, tan);
    if !w.is_float(ty) {
        // For its check: filling in zeros fails where the shapes differ.
        w.emit(Op::Densify { tan: sparse.clone(), like: point }, ty);
    }
    sparse
}

fn captures(list: &[(&str, TypeId)]) -> Option<Vec<Capture>> {
    Some(list.iter().map(|(name, ty)| Capture { name: (*name).into(), ty: *ty }).collect())
}

/// An empty function, so that its id is known to its own code.
fn reserve(program: &mut Program<Never>) -> FnId {
    program.fns.push(Func {
        name: String::new(),
        params: Vec::new(),
        results: Vec::new(),
        body: Block::default(),
        vars: IndexVec::new(),
        captures: None,
        rules: Rules::default(),
        span: Span::NONE,
    })
}

/// The code of the closure that `vjp` and `pullback` return: dense cotangent of the result in, dense cotangents out.
fn pullback_code(program: &mut Program<Never>, kind: Kind, f_ty: TypeId, pb_ty: TypeId) -> FnId {
    let (Type::Fn { arg, result: res }, Type::Fn { arg: dy_ty, result: out_ty }) =
        (program.ty(f_ty).clone(), program.ty(pb_ty).clone())
    else {
        unreachable!("functions have function types")
    };
    let id = reserve(program);
    let mut state = State::default();
    let w = &mut Writer::new(program, &mut state, IndexVec::new());
    let residual_ty = w.intern(Type::Residual);
    let (this, dy) = (w.var(pb_ty), w.var(dy_ty));
    let body = w.block(|w| {
        let residual = capture(w, this, id, 0, residual_ty);
        let x = capture(w, this, id, 1, arg);
        let mut args = Vec::new();
        if w.differentiable(res) {
            let y = capture(w, this, id, 2, res);
            args.push(fitting(w, dy.into(), y));
        }
        let acc_ty = w.acc(f_ty);
        let acc_f = w.emit(if kind == Kind::Pullback { Op::AccNew(None) } else { Op::AccNull }, acc_ty);
        args.push(acc_f.clone());
        let bars = Bars::new(w, arg);
        args.extend(bars.accs.iter().cloned());
        let floats = w.emit_many(Op::Dispatch { on: residual, path: vec![Deriv::Bwd], args }, &bars.float_types);
        let dx = bars.collect(w, arg, &floats);
        let dense = |w: &mut Writer<'_>, ty: TypeId| match dx {
            Some(dx) => w.emit(Op::Densify { tan: dx, like: x }, ty),
            None => w.emit(Op::ZeroLike(x), ty),
        };
        if kind == Kind::Vjp {
            return vec![dense(w, out_ty)];
        }
        let Type::Tuple(parts) = w.ty(out_ty).clone() else { unreachable!("a pullback yields a pair") };
        let f = capture(w, this, id, 3, f_ty);
        let f_tan = w.tangent(f_ty);
        let df = w.emit(Op::AccTake(acc_f), f_tan);
        let df = w.emit(Op::Densify { tan: df, like: f }, parts[0]);
        let dx = dense(w, parts[1]);
        vec![w.emit(Op::Tuple(vec![df, dx]), out_ty)]
    });
    let mut func = w.func("pullback".into(), vec![this, dy], body, Span::NONE);
    let mut list = vec![("residual", residual_ty), ("point", arg), ("value", res)];
    if kind == Kind::Pullback {
        list.push(("function", f_ty));
    }
    func.captures = captures(&list);
    program.fns[id] = func;
    id
}

/// Cotangents of a value of some type, as a backward part gives them: accumulators for leaves that are no floats.
struct Bars {
    leaves: Vec<cotan_ir::Leaf>,
    accs: Vec<Atom>,
    float_types: Vec<TypeId>,
}

impl Bars {
    fn new(w: &mut Writer<'_>, ty: TypeId) -> Bars {
        let leaves = leaves(w.program, ty);
        let mut accs = Vec::new();
        for leaf in leaves.iter().filter(|l| !l.is_float) {
            let acc_ty = w.acc(leaf.ty);
            accs.push(w.emit(Op::AccNew(None), acc_ty));
        }
        let float_types = leaves.iter().filter(|l| l.is_float).map(|l| l.ty).collect();
        Bars { leaves, accs, float_types }
    }

    /// The cotangent as one sparse value; `None` if the type has none.
    fn collect(&self, w: &mut Writer<'_>, ty: TypeId, floats: &[Var]) -> Option<Atom> {
        if !w.differentiable(ty) {
            return None;
        }
        let (mut accs, mut floats) = (self.accs.iter(), floats.iter());
        let mut parts = Vec::new();
        for leaf in &self.leaves {
            let atom = if leaf.is_float {
                Atom::Var(*floats.next().expect("one float per float leaf"))
            } else {
                let tan = w.tangent(leaf.ty);
                w.emit(Op::AccTake(accs.next().expect("one accumulator per leaf").clone()), tan)
            };
            parts.push((leaf.path.clone(), atom));
        }
        let tree = tree_from(w, ty, &mut Vec::new(), &parts);
        let tan = w.tangent(ty);
        Some(w.whole(&tree, tan))
    }
}

/// The tree of a value from its leaves.
pub(crate) fn tree_from(w: &Writer<'_>, ty: TypeId, path: &mut Vec<u32>, leaves: &[(Vec<u32>, Atom)]) -> Tree {
    match w.ty(ty) {
        Type::Tuple(parts) => Tree::Tuple(
            (0..)
                .zip(parts)
                .map(|(i, part)| {
                    path.push(i);
                    let tree = tree_from(w, *part, path, leaves);
                    path.pop();
                    tree
                })
                .collect(),
        ),
        _ => leaves.iter().find(|(p, _)| p == path).map_or(Tree::None, |(_, atom)| Tree::Atom(atom.clone())),
    }
}

/// The code of a function value with an attached rule: captures the function and the rule; its value is the function's, its
/// derivative the rule's. The cotangent of an attached value has a part for each face: calling it reaches the captures of the function
/// (through the rule), differentiating it reaches those of the rule.
fn attached_code(program: &mut Program<Never>, kind: Kind, f_ty: TypeId, rule_ty: TypeId) -> FnId {
    let (Type::Fn { arg, result: res }, Type::Fn { result: rule_out, arg: rule_arg }) =
        (program.ty(f_ty).clone(), program.ty(rule_ty).clone())
    else {
        unreachable!("functions have function types")
    };
    let id = reserve(program);
    program.attached.insert(id);
    let mut state = State::default();
    let mut value = {
        let w = &mut Writer::new(program, &mut state, IndexVec::new());
        let (this, x) = (w.var(f_ty), w.var(arg));
        let body = w.block(|w| {
            let f = capture(w, this, id, 0, f_ty);
            vec![w.emit(Op::Dispatch { on: f, path: vec![], args: vec![x.into()] }, res)]
        });
        w.func("attached".into(), vec![this, x], body, Span::NONE)
    };
    value.captures = captures(&[("function", f_ty), ("rule", rule_ty)]);
    let Type::Tuple(out_parts) = program.ty(rule_out).clone() else { unreachable!("a rule yields a pair") };
    if kind == Kind::AttachedJvp {
        let w = &mut Writer::new(program, &mut state, IndexVec::new());
        let f_tan = w.tangent(f_ty);
        let (this, x, this_dot) = (w.var(f_ty), w.var(arg), w.var(f_tan));
        let mut params = vec![this, x, this_dot];
        let x_dot = w.differentiable(arg).then(|| {
            let tan = w.tangent(arg);
            w.var(tan)
        });
        params.extend(x_dot);
        let Type::Tuple(arg_parts) = w.ty(rule_arg).clone() else {
            unreachable!("a forward rule takes three arguments")
        };
        let body = w.block(|w| {
            let f = capture(w, this, id, 0, f_ty);
            let rule = capture(w, this, id, 1, rule_ty);
            let step = Step::Capture { code: id, index: 0 };
            let df = w.emit(Op::TanPart { tan: this_dot.into(), step }, f_tan);
            let df = w.emit(Op::Densify { tan: df, like: f }, arg_parts[1]);
            let dx = match x_dot {
                Some(dot) => w.emit(Op::Densify { tan: dot.into(), like: x.into() }, arg_parts[2]),
                None => w.emit(Op::ZeroLike(x.into()), arg_parts[2]),
            };
            let given = w.emit(Op::Tuple(vec![x.into(), df, dx]), rule_arg);
            let out = w.emit(Op::Dispatch { on: rule, path: vec![], args: vec![given] }, rule_out);
            let mut results = vec![w.emit(Op::Proj(out.clone(), 0), res)];
            if w.differentiable(res) {
                let dy = w.emit(Op::Proj(out, 1), out_parts[1]);
                let y = results[0].clone();
                results.push(fitting(w, dy, y));
            }
            results
        });
        let jvp = w.func("attached.jvp".into(), params, body, Span::NONE);
        let jvp = program.fns.push(jvp);
        value.rules.jvp = Some(jvp);
    } else {
        let (fwd, bwd) = attached_vjp(program, id, f_ty, rule_ty, arg, res, rule_out, &out_parts);
        value.rules.vjp = Some((fwd, bwd));
    }
    program.fns[id] = value;
    id
}

#[allow(clippy::too_many_arguments)]
fn attached_vjp(
    program: &mut Program<Never>,
    id: FnId,
    f_ty: TypeId,
    rule_ty: TypeId,
    arg: TypeId,
    res: TypeId,
    rule_out: TypeId,
    out_parts: &[TypeId],
) -> (FnId, FnId) {
    let pb_ty = out_parts[1];
    let Type::Fn { arg: dy_ty, result: pair_ty } = *program.ty(pb_ty) else { unreachable!("a rule yields a pullback") };
    let fields = vec![("pullback".to_string(), pb_ty), ("value".to_string(), res)];
    let adt = program.adts.push(AdtDef {
        name: "Residual<attached>".into(),
        variants: vec![VariantDef { name: "Residual<attached>".into(), named: true, fields }],
        kind: AdtKind::Residual,
    });
    let mut state = State::default();
    let fwd = {
        let w = &mut Writer::new(program, &mut state, IndexVec::new());
        let (this, x) = (w.var(f_ty), w.var(arg));
        let kept_ty = w.intern(Type::Adt(adt));
        let body = w.block(|w| {
            let rule = capture(w, this, id, 1, rule_ty);
            let out = w.emit(Op::Dispatch { on: rule, path: vec![], args: vec![x.into()] }, rule_out);
            let y = w.emit(Op::Proj(out.clone(), 0), res);
            let pb = w.emit(Op::Proj(out, 1), pb_ty);
            let kept = w.emit(Op::Adt { adt, variant: 0, fields: vec![pb, y.clone()] }, kept_ty);
            vec![y, kept]
        });
        w.func("attached.fwd".into(), vec![this, x], body, Span::NONE)
    };
    let fwd = program.fns.push(fwd);
    let bwd = {
        let w = &mut Writer::new(program, &mut state, IndexVec::new());
        let kept_ty = w.intern(Type::Adt(adt));
        let kept = w.var(kept_ty);
        let mut params = vec![kept];
        let y_bar = w.differentiable(res).then(|| {
            let tan = w.tangent(res);
            w.var(tan)
        });
        params.extend(y_bar);
        let acc_ty = w.acc(f_ty);
        let acc_this = w.var(acc_ty);
        params.push(acc_this);
        let mut leaf_accs = Vec::new();
        for leaf in leaves(w.program, arg).into_iter().filter(|l| !l.is_float) {
            let ty = w.acc(leaf.ty);
            let acc = w.var(ty);
            params.push(acc);
            leaf_accs.push(acc);
        }
        let body = w.block(|w| {
            let pb = w.emit(Op::Field { base: kept.into(), variant: 0, index: 0 }, pb_ty);
            let y = w.emit(Op::Field { base: kept.into(), variant: 0, index: 1 }, res);
            let dy = match y_bar {
                Some(bar) => w.emit(Op::Densify { tan: bar.into(), like: y }, dy_ty),
                None => w.emit(Op::ZeroLike(y), dy_ty),
            };
            let out = w.emit(Op::Dispatch { on: pb, path: vec![], args: vec![dy] }, pair_ty);
            let Type::Tuple(parts) = w.ty(pair_ty).clone() else { unreachable!("a pullback yields a pair") };
            let df = w.emit(Op::Proj(out.clone(), 0), parts[0]);
            let f_tan = w.tangent(f_ty);
            let df = w.coerce(df, f_tan);
            let step = Step::Capture { code: id, index: 0 };
            let part = w.emit(Op::AccPart { acc: acc_this.into(), step }, acc_ty);
            w.run(Op::AccAdd { acc: part, value: df });
            if !w.differentiable(arg) {
                return Vec::new();
            }
            let dx = w.emit(Op::Proj(out, 1), parts[1]);
            let tan = w.tangent(arg);
            let dx = w.coerce(dx, tan);
            let tree = w.tree(dx);
            let mut floats = Vec::new();
            let mut accs = leaf_accs.iter();
            for leaf in leaves(w.program, arg) {
                let tan = w.tangent(leaf.ty);
                let part = w.whole(&tree.at(&leaf.path), tan);
                if leaf.is_float {
                    floats.push(part);
                } else {
                    let acc = Atom::Var(*accs.next().expect("one accumulator per leaf"));
                    w.run(Op::AccAdd { acc, value: part });
                }
            }
            floats
        });
        w.func("attached.bwd".into(), params, body, Span::NONE)
    };
    let bwd = program.fns.push(bwd);
    (fwd, bwd)
}
