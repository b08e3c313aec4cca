//! Rules of functions that are known by value: `with_vjp(f, rule)` where both are closures made in the function at hand, and functions
//! with derivative clauses that are given such closures.
//!
//! In: a function that is about to be differentiated. Out: the same, where such calls are calls of a specialised function, which is given what the
//! closures captured. Newly true: in the specialised rule, what it calls is called at once, its pullback is code of the backward part, and
//! what that captured is kept by itself. The two parts are simplified apart, so what a rule computes on the way back stays there.

use crate::State;
use crate::signature::differentiable_results;
use crate::writer::Writer;
use cotan_ir::{
    AdtDef, AdtId, AdtKind, Atom, Block, Deriv, FnId, Func, Op, Program, Rules, Step, Type, TypeId, Var, VarInfo,
    VariantDef, leaves,
};
use cotan_source::{IndexVec, Span};
use rustc_hash::{FxHashMap, FxHashSet};

/// Specialised are functions whose parts have at most so many statements each.
const LARGEST: usize = 200;

/// So many values are handed over or kept at most.
const MOST_PARTS: usize = 24;

/// How often a forward part is looked at for derivatives of known functions.
const ROUNDS: usize = 3;

/// A value that is known in part.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Shape<P> {
    /// Anything.
    Any(P),
    /// A closure.
    Closure(FnId, TypeId, Vec<Shape<P>>),
    /// A tuple.
    Tuple(TypeId, Vec<Shape<P>>),
    /// A residual.
    Residual(AdtId, TypeId, Vec<Shape<P>>),
}

impl<P> Shape<P> {
    /// What is not known in it, in order.
    fn parts<'s>(&'s self, out: &mut Vec<&'s P>) {
        match self {
            Shape::Any(part) => out.push(part),
            Shape::Closure(_, _, parts) | Shape::Tuple(_, parts) | Shape::Residual(_, _, parts) => {
                parts.iter().for_each(|p| p.parts(out));
            }
        }
    }

    /// The same with something else for the parts, in order.
    fn map<Q>(&self, next: &mut dyn FnMut(&P) -> Q) -> Shape<Q> {
        fn all<P, Q>(parts: &[Shape<P>], next: &mut dyn FnMut(&P) -> Q) -> Vec<Shape<Q>> {
            parts.iter().map(|p| p.map(next)).collect()
        }
        match self {
            Shape::Any(part) => Shape::Any(next(part)),
            Shape::Closure(code, ty, parts) => Shape::Closure(*code, *ty, all(parts, next)),
            Shape::Tuple(ty, parts) => Shape::Tuple(*ty, all(parts, next)),
            Shape::Residual(adt, ty, parts) => Shape::Residual(*adt, *ty, all(parts, next)),
        }
    }
}

/// A part of what a rule returned.
#[derive(Clone, Debug)]
enum Kept {
    /// A field of the specialised residual.
    Field(usize),
    /// A literal.
    Literal(Atom),
}

/// The specialised functions: by the function and the shapes of its arguments, whose parts are numbered; `None` where nothing is won.
pub(crate) type Specialised = FxHashMap<Key, Option<FnId>>;

/// See [`Specialised`].
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct Key(FnId, Vec<Shape<TypeId>>);

/// Calls of functions with rules that are given closures made in `f` become calls of specialised ones.
pub(crate) fn specialise(program: &mut Program, state: &mut State, f: &mut Func) {
    if state.keep_rules || state.simplify.is_none() {
        return;
    }
    let mut closures = FxHashMap::default();
    let mut body = std::mem::take(&mut f.body);
    calls(program, state, &f.vars, &mut body, &mut closures);
    f.body = body;
}

type Closures = FxHashMap<Var, (FnId, Vec<Atom>)>;

fn calls(
    program: &mut Program,
    state: &mut State,
    vars: &IndexVec<Var, VarInfo>,
    block: &mut Block,
    closures: &mut Closures,
) {
    for stmt in &mut block.stmts {
        match &stmt.op {
            Op::Closure { code, captures } => {
                closures.insert(stmt.vars[0], (*code, captures.clone()));
            }
            Op::Call { func, args } if !program.fns[*func].rules.is_empty() => {
                let shapes: Vec<Shape<Atom>> = args.iter().map(|a| known(a, vars, closures)).collect();
                if let Some(special) = special(program, state, vars, *func, &shapes) {
                    let mut args = Vec::new();
                    shapes.iter().for_each(|s| s.parts(&mut args));
                    stmt.op = Op::Call { func: special, args: args.into_iter().cloned().collect() };
                }
            }
            _ => {}
        }
        if stmt.op.has_blocks() {
            stmt.op.for_each_block_mut(|b| calls(program, state, vars, b, closures));
        }
    }
}

/// An operand, as far as it is known.
fn known(atom: &Atom, vars: &IndexVec<Var, VarInfo>, closures: &Closures) -> Shape<Atom> {
    match atom.var().and_then(|v| Some((v, closures.get(&v)?))) {
        Some((v, (code, captures))) => {
            let captures = captures.iter().map(|c| known(c, vars, closures)).collect();
            Shape::Closure(*code, vars[v].ty, captures)
        }
        None => Shape::Any(atom.clone()),
    }
}

/// The function specialised on these arguments.
fn special(
    program: &mut Program,
    state: &mut State,
    vars: &IndexVec<Var, VarInfo>,
    func: FnId,
    shapes: &[Shape<Atom>],
) -> Option<FnId> {
    if !shapes.iter().any(|s| matches!(s, Shape::Closure(..))) {
        return None;
    }
    let mut ty = |atom: &Atom| match atom {
        Atom::Var(v) => vars[*v].ty,
        Atom::Lit(lit) => cotan_ir::lit_type(program, lit),
    };
    let types: Vec<Shape<TypeId>> = shapes.iter().map(|s| s.map(&mut ty)).collect();
    let key = Key(func, types.clone());
    if let Some(made) = state.specialised.get(&key) {
        return *made;
    }
    // Not again while it is made.
    state.specialised.insert(Key(func, types.clone()), None);
    let mut parts = Vec::new();
    types.iter().for_each(|s| s.parts(&mut parts));
    let parts: Vec<TypeId> = parts.into_iter().copied().collect();
    let small = |f: FnId| program.fns[f].body.size() <= LARGEST;
    let rules = &program.fns[func].rules;
    let all_small = small(func) && rules.jvp.is_none_or(small) && rules.vjp.is_none_or(|(a, b)| small(a) && small(b));
    let made = if all_small && parts.len() <= MOST_PARTS { make(program, state, func, &types, &parts) } else { None };
    state.specialised.insert(key, made);
    made
}

/// Writes a specialised function.
fn make(
    program: &mut Program,
    state: &mut State,
    func: FnId,
    types: &[Shape<TypeId>],
    parts: &[TypeId],
) -> Option<FnId> {
    let mut next = 0..;
    let args: Vec<Shape<usize>> =
        types.iter().map(|s| s.map(&mut |_| next.next().expect("numbers do not end"))).collect();
    let rules = program.fns[func].rules.clone();
    let vjp = match rules.vjp {
        Some((fwd, bwd)) => {
            let (first, kept, owners) = forward_part(program, state, fwd, &args, parts)?;
            Some((first, backward_part(program, state, func, bwd, first, &kept, &owners, &args, parts)?))
        }
        None => None,
    };
    let jvp = rules.jvp.map(|jvp| forward_rule(program, state, jvp, &args, parts));
    let value = {
        let w = &mut Writer::new(program, state, IndexVec::new());
        let params: Vec<Var> = parts.iter().map(|ty| w.var(*ty)).collect();
        let body = w.block(|w| {
            let given = given(w, &args, &params);
            inlined(w, func, given)
        });
        written(w, func, params, body)
    };
    simplify(program, state, value);
    program.fns[value].rules = Rules { vjp, jvp };
    Some(value)
}

/// The arguments made again from their parts.
fn given(w: &mut Writer<'_>, args: &[Shape<usize>], params: &[Var]) -> Vec<Atom> {
    args.iter().map(|a| build(w, &a.map(&mut |i| Atom::Var(params[*i])))).collect()
}

fn build(w: &mut Writer<'_>, shape: &Shape<Atom>) -> Atom {
    match shape {
        Shape::Any(atom) => atom.clone(),
        Shape::Closure(code, ty, parts) => {
            let captures = parts.iter().map(|p| build(w, p)).collect();
            w.emit(Op::Closure { code: *code, captures }, *ty)
        }
        Shape::Tuple(ty, parts) => {
            let parts = parts.iter().map(|p| build(w, p)).collect();
            w.emit(Op::Tuple(parts), *ty)
        }
        Shape::Residual(adt, ty, parts) => {
            let fields = parts.iter().map(|p| build(w, p)).collect();
            w.emit(Op::Adt { adt: *adt, variant: 0, fields }, *ty)
        }
    }
}

fn inlined(w: &mut Writer<'_>, func: FnId, args: Vec<Atom>) -> Vec<Atom> {
    let copy = w.program.fns[func].inlined(args, &mut w.vars, Span::NONE);
    w.splice(copy.stmts);
    copy.results
}

/// A function in the program, of the name and place of another.
fn written(w: &mut Writer<'_>, like: FnId, params: Vec<Var>, body: Block) -> FnId {
    let (name, span) = (w.f(like).name.clone(), w.f(like).span);
    let func = w.func(name, params, body, span);
    w.program.fns.push(func)
}

fn simplify(program: &mut Program, state: &mut State, id: FnId) {
    if let Some(pass) = state.simplify.take() {
        pass(program, id);
        state.simplify = Some(pass);
    }
}

/// The forward part; how its residual comes out of what it keeps; and whose residuals of these types are, where it calls forward
/// parts. `None` if what it returns cannot be seen, or if it still makes one of the closures.
#[allow(clippy::type_complexity)]
fn forward_part(
    program: &mut Program,
    state: &mut State,
    fwd: FnId,
    args: &[Shape<usize>],
    parts: &[TypeId],
) -> Option<(FnId, Shape<Kept>, FxHashMap<AdtId, FnId>)> {
    let first = {
        let w = &mut Writer::new(program, state, IndexVec::new());
        let params: Vec<Var> = parts.iter().map(|ty| w.var(*ty)).collect();
        let body = w.block(|w| {
            let given = given(w, args, &params);
            inlined(w, fwd, given)
        });
        written(w, fwd, params, body)
    };
    let mut owners = FxHashMap::default();
    let mut kept = Shape::Any(Atom::Lit(cotan_ir::Lit::Unit));
    for _ in 0..ROUNDS {
        simplify(program, state, first);
        let residual = program.fns[first].body.results.last()?.clone();
        kept = Defs::of(&program.fns[first]).shape(&residual, &program.adts);
        if !call_derivatives(program, state, first, &kept, &mut owners) {
            break;
        }
    }
    let mut found = Vec::new();
    kept.parts(&mut found);
    let mut fields: Vec<Var> = found.iter().filter_map(|a| a.var()).collect();
    let mut seen = FxHashSet::default();
    fields.retain(|v| seen.insert(*v));
    if matches!(kept, Shape::Any(_)) || fields.len() > MOST_PARTS {
        return None;
    }

    // A residual of its own.
    let types = fields.iter().map(|v| program.fns[first].vars[*v].ty);
    let fields_of = types.enumerate().map(|(i, ty)| (i.to_string(), ty)).collect();
    let name = format!("Residual<{}>", program.fns[fwd].name);
    let variant = VariantDef { name: name.clone(), named: false, fields: fields_of };
    let adt = program.adts.push(AdtDef { name, variants: vec![variant], kind: AdtKind::Residual });
    let ty = program.intern(Type::Adt(adt));
    let func = &mut program.fns[first];
    let v = func.vars.push(VarInfo { ty, name: None });
    let op = Op::Adt { adt, variant: 0, fields: fields.iter().map(|v| (*v).into()).collect() };
    func.body.stmts.push(cotan_ir::Stmt { vars: vec![v], op, span: func.span });
    *func.body.results.last_mut()? = v.into();
    *func.results.last_mut()? = ty;
    simplify(program, state, first);
    if makes_again(&program.fns[first].body, args) {
        return None;
    }
    let at = |a: &Atom| match a {
        Atom::Var(v) => Kept::Field(fields.iter().position(|f| f == v).expect("it is kept")),
        Atom::Lit(_) => Kept::Literal(a.clone()),
    };
    Some((first, kept.map(&mut |a| at(a)), owners))
}

/// Whether code makes a closure that its function was specialised on.
fn makes_again(body: &Block, args: &[Shape<usize>]) -> bool {
    fn codes(shape: &Shape<usize>, out: &mut FxHashSet<FnId>) {
        if let Shape::Closure(code, _, parts) = shape {
            out.insert(*code);
            parts.iter().for_each(|p| codes(p, out));
        }
    }
    let mut known = FxHashSet::default();
    args.iter().for_each(|a| codes(a, &mut known));
    let mut found = false;
    body.for_each_stmt(&mut |s| found |= matches!(&s.op, Op::Closure { code, .. } if known.contains(code)));
    found
}

/// The backward part of a specialised rule.
#[allow(clippy::too_many_arguments)]
fn backward_part(
    program: &mut Program,
    state: &mut State,
    func: FnId,
    bwd: FnId,
    first: FnId,
    kept: &Shape<Kept>,
    owners: &FxHashMap<AdtId, FnId>,
    args: &[Shape<usize>],
    parts: &[TypeId],
) -> Option<FnId> {
    let residual_ty = *program.fns[first].results.last()?;
    let Type::Adt(adt) = *program.ty(residual_ty) else { return None };
    let field_types: Vec<TypeId> = program.adts[adt].variants[0].fields.iter().map(|f| f.1).collect();
    let results = program.fns[func].results.clone();
    let w = &mut Writer::new(program, state, IndexVec::new());
    w.span = w.f(func).span;
    let residual = w.var(residual_ty);
    let mut params = vec![residual];
    let mut bars = Vec::new();
    for i in differentiable_results(w.program, &results) {
        let tan = w.tangent(results[i]);
        let bar = w.var(tan);
        params.push(bar);
        bars.push(Atom::Var(bar));
    }
    // Accumulators for what is no float, by part and leaf.
    let mut accs: FxHashMap<(usize, usize), Atom> = FxHashMap::default();
    for (p, ty) in parts.iter().enumerate() {
        for (k, leaf) in leaves(w.program, *ty).into_iter().enumerate().filter(|(_, l)| !l.is_float) {
            let acc_ty = w.acc(leaf.ty);
            let acc = w.var(acc_ty);
            params.push(acc);
            accs.insert((p, k), acc.into());
        }
    }
    let body = w.block(|w| {
        let loads: Vec<Atom> = (0..)
            .zip(&field_types)
            .map(|(index, ty)| w.emit(Op::Field { base: residual.into(), variant: 0, index }, *ty))
            .collect();
        let whole = kept.map(&mut |part| match part {
            Kept::Field(i) => loads[*i].clone(),
            Kept::Literal(atom) => atom.clone(),
        });
        let whole = build(w, &whole);
        let mut given: Vec<Atom> = [whole].into_iter().chain(bars).collect();
        let mut totals = Vec::new();
        for arg in args {
            match arg {
                Shape::Any(p) => {
                    let count = leaves(w.program, parts[*p]).len();
                    given.extend((0..count).filter_map(|k| accs.get(&(*p, k)).cloned()));
                }
                Shape::Closure(_, ty, _) => {
                    let acc_ty = w.acc(*ty);
                    let acc = w.emit(Op::AccNew(None), acc_ty);
                    given.push(acc.clone());
                    totals.push((arg, acc, *ty));
                }
                Shape::Tuple(..) | Shape::Residual(..) => unreachable!("arguments are closures or anything"),
            }
        }
        let mut out = inlined(w, bwd, given).into_iter();
        let mut floats: FxHashMap<(usize, usize), Atom> = FxHashMap::default();
        for arg in args {
            if let Shape::Any(p) = arg {
                for (k, _) in leaves(w.program, parts[*p]).into_iter().enumerate().filter(|(_, l)| l.is_float) {
                    floats.insert((*p, k), out.next().expect("one float per float leaf"));
                }
            }
        }
        for (arg, acc, ty) in totals {
            let tan = w.tangent(ty);
            let total = w.emit(Op::AccTake(acc), tan);
            hand_out(w, arg, total, &accs, &mut floats, parts);
        }
        let mut results = Vec::new();
        for (p, ty) in parts.iter().enumerate() {
            for (k, leaf) in leaves(w.program, *ty).into_iter().enumerate().filter(|(_, l)| l.is_float) {
                let zero = w.float(leaf.ty, 0.0);
                results.push(floats.remove(&(p, k)).unwrap_or(zero));
            }
        }
        results
    });
    let second = written(w, bwd, params, body);
    simplify(program, state, second);
    if !call_backward(program, state, second, owners) {
        return None;
    }
    simplify(program, state, second);
    Some(second)
}

/// Gives the cotangent of a closure to its captures.
fn hand_out(
    w: &mut Writer<'_>,
    shape: &Shape<usize>,
    total: Atom,
    accs: &FxHashMap<(usize, usize), Atom>,
    floats: &mut FxHashMap<(usize, usize), Atom>,
    parts: &[TypeId],
) {
    let Shape::Closure(code, _, captures) = shape else { unreachable!("only closures have captures") };
    for (index, capture) in (0..).zip(captures) {
        let ty = match capture {
            Shape::Any(p) => parts[*p],
            Shape::Closure(_, ty, _) | Shape::Tuple(ty, _) | Shape::Residual(_, ty, _) => *ty,
        };
        if !w.differentiable(ty) {
            continue;
        }
        let tan = w.tangent(ty);
        let step = Step::Capture { code: *code, index };
        let part = w.emit(Op::TanPart { tan: total.clone(), step }, tan);
        let Shape::Any(p) = capture else {
            hand_out(w, capture, part, accs, floats, parts);
            continue;
        };
        let tree = w.tree(part);
        for (k, leaf) in leaves(w.program, ty).into_iter().enumerate() {
            let tan = w.tangent(leaf.ty);
            let value = w.whole(&tree.at(&leaf.path), tan);
            match accs.get(&(*p, k)) {
                Some(acc) => w.run(Op::AccAdd { acc: acc.clone(), value }),
                None => {
                    floats.insert((*p, k), value);
                }
            }
        }
    }
}

/// A specialised forward rule.
fn forward_rule(program: &mut Program, state: &mut State, jvp: FnId, args: &[Shape<usize>], parts: &[TypeId]) -> FnId {
    let w = &mut Writer::new(program, state, IndexVec::new());
    let mut params: Vec<Var> = parts.iter().map(|ty| w.var(*ty)).collect();
    let dots: Vec<Option<Var>> = parts
        .iter()
        .map(|ty| {
            w.differentiable(*ty).then(|| {
                let tan = w.tangent(*ty);
                w.var(tan)
            })
        })
        .collect();
    let body = w.block(|w| {
        let mut given = given(w, args, &params);
        given.extend(args.iter().filter_map(|a| dot(w, a, &dots)));
        inlined(w, jvp, given)
    });
    params.extend(dots.iter().flatten());
    let made = written(w, jvp, params, body);
    simplify(program, state, made);
    made
}

/// The tangent of an argument, if it has one.
fn dot(w: &mut Writer<'_>, shape: &Shape<usize>, dots: &[Option<Var>]) -> Option<Atom> {
    match shape {
        Shape::Any(p) => dots[*p].map(Atom::Var),
        Shape::Closure(code, ty, parts) => {
            let unit = Atom::Lit(cotan_ir::Lit::Unit);
            let captures = parts.iter().map(|p| dot(w, p, dots).unwrap_or(unit.clone())).collect();
            let tan = w.tangent(*ty);
            Some(w.emit(Op::TanClosure { code: *code, captures }, tan))
        }
        Shape::Tuple(..) | Shape::Residual(..) => unreachable!("arguments are closures or anything"),
    }
}

/// Dispatches of forward parts of known closures whose residual is kept and used for nothing else become calls.
fn call_derivatives(
    program: &mut Program,
    state: &mut State,
    first: FnId,
    kept: &Shape<Atom>,
    owners: &mut FxHashMap<AdtId, FnId>,
) -> bool {
    let mut parts = Vec::new();
    kept.parts(&mut parts);
    let func = &program.fns[first];
    let defs = Defs::of(func);
    let mut found = Vec::new();
    for (at, stmt) in func.body.stmts.iter().enumerate() {
        if let Op::Dispatch { on, path, .. } = &stmt.op
            && let [Deriv::Fwd] = path[..]
            && let Some(residual) = stmt.vars.last()
            && parts.contains(&&Atom::Var(*residual))
            && only_put_together(func, *residual)
            && let Some(Op::Closure { code, .. }) = defs.def(on)
        {
            found.push((at, *code));
        }
    }
    let changed = !found.is_empty();
    for (at, code) in found {
        let fwd = crate::request(program, state, code, Deriv::Fwd);
        crate::write_now(program, state, fwd);
        if program.fns[fwd].is_written() {
            simplify(program, state, fwd);
        }
        let ty = *program.fns[fwd].results.last().expect("a forward part yields its residual");
        if let Type::Adt(adt) = *program.ty(ty) {
            owners.insert(adt, code);
        }
        let func = &mut program.fns[first];
        let stmt = &mut func.body.stmts[at];
        let Op::Dispatch { on, args, .. } = &stmt.op else { unreachable!("it was looked at") };
        let residual = *stmt.vars.last().expect("a residual");
        stmt.op = Op::Call { func: fwd, args: std::iter::once(on).chain(args).cloned().collect() };
        func.vars[residual].ty = ty;
    }
    changed
}

/// Dispatches of backward parts on residuals that were called for become calls. `false` if such a residual is used otherwise.
fn call_backward(program: &mut Program, state: &mut State, second: FnId, owners: &FxHashMap<AdtId, FnId>) -> bool {
    let mut func = program.fns[second].clone();
    let sound = backward_block(program, state, &mut func.body, &func.vars, owners);
    program.fns[second] = func;
    sound
}

fn backward_block(
    program: &mut Program,
    state: &mut State,
    block: &mut Block,
    vars: &IndexVec<Var, VarInfo>,
    owners: &FxHashMap<AdtId, FnId>,
) -> bool {
    let owner = |program: &Program, atom: &Atom| match program.ty(vars[atom.var()?].ty) {
        Type::Adt(adt) => owners.get(adt).copied(),
        _ => None,
    };
    let mut sound = true;
    for stmt in &mut block.stmts {
        if let Op::Dispatch { on, path, args } = &stmt.op
            && let Some(of) = owner(program, on)
        {
            if path[..] != [Deriv::Bwd] {
                return false;
            }
            let func = crate::request(program, state, of, Deriv::Bwd);
            stmt.op = Op::Call { func, args: std::iter::once(on).chain(args).cloned().collect() };
            continue;
        }
        let used = stmt.op.atoms().into_iter().any(|a| owner(program, a).is_some());
        sound &= !used || matches!(stmt.op, Op::Field { .. });
        stmt.op.for_each_block_mut(|b| sound &= backward_block(program, state, b, vars, owners));
    }
    sound && !block.results.iter().any(|a| owner(program, a).is_some())
}

/// What defines the variables of a body.
struct Defs<'f> {
    defs: FxHashMap<Var, &'f Op>,
    vars: &'f IndexVec<Var, VarInfo>,
}

impl<'f> Defs<'f> {
    fn of(func: &'f Func) -> Self {
        let defs = func.body.stmts.iter().filter_map(|s| match s.vars[..] {
            [v] => Some((v, &s.op)),
            _ => None,
        });
        Defs { defs: defs.collect(), vars: &func.vars }
    }

    fn def(&self, atom: &Atom) -> Option<&'f Op> {
        self.defs.get(&atom.var()?).copied()
    }

    fn shape(&self, atom: &Atom, adts: &IndexVec<AdtId, AdtDef>) -> Shape<Atom> {
        let (Some(op), Some(v)) = (self.def(atom), atom.var()) else { return Shape::Any(atom.clone()) };
        let ty = self.vars[v].ty;
        let all = |parts: &[Atom]| parts.iter().map(|p| self.shape(p, adts)).collect();
        match op {
            Op::Closure { code, captures } => Shape::Closure(*code, ty, all(captures)),
            Op::Tuple(items) => Shape::Tuple(ty, all(items)),
            Op::Adt { adt, variant: 0, fields }
                if adts[*adt].kind == AdtKind::Residual && adts[*adt].variants.len() == 1 =>
            {
                Shape::Residual(*adt, ty, all(fields))
            }
            _ => Shape::Any(atom.clone()),
        }
    }
}

/// Whether a variable is only put into closures, tuples and residuals.
fn only_put_together(func: &Func, v: Var) -> bool {
    let mut sound = !func.body.results.contains(&Atom::Var(v));
    for stmt in &func.body.stmts {
        if !matches!(stmt.op, Op::Closure { .. } | Op::Tuple(_) | Op::Adt { .. }) {
            stmt.op.for_each_use(&mut |u| sound &= u != v);
        }
    }
    sound
}
