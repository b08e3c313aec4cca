//! Reverse mode: `g.Fwd` and `g.Bwd`.
//!
//! In: a function. Out: a forward part that also yields what the backward part needs (the residual), and the backward part.
//! Newly true: cotangents flow against the statements. Cotangents of floats are values that are summed; those of arrays, nominal
//! types and functions are accumulators wherever a part is touched, a branch or loop is entered or a call is made, so that reading one
//! element costs one element backwards (Efficient CHAD's accumulation, with cells instead of state).
//!
//! The backward part is written first, statement by statement from the end, naming values of the function as if they were still there;
//! what it named is what the forward part keeps. Each block has a [`Region`]; see `region.rs` for how cotangents cross from an inner
//! block to an outer variable, `control.rs` for branches and loops, `data.rs`, `array.rs`, `linear.rs` for the statements.
//!
//! Differentiating code with accumulators: what was taken from an accumulator has a cotangent, which is known before (in reverse) any
//! "add v to a part" is met; the cotangent of v is that part of it. This is the accumulator's *reader*.

mod array;
mod call;
mod control;
mod data;
mod linear;
mod region;

use crate::State;
use crate::signature::differentiable_results;
use crate::writer::{Tree, Writer};
use cotan_ir::{AdtId, Atom, Block, FnId, Func, Op, Program, Step, Stmt, Type, TypeId, Var, VariantDef, leaves};
use cotan_source::Idx;
use region::{Kind, Leaf, Region};
use rustc_hash::{FxHashMap, FxHashSet};

/// Makes `function.Fwd` and `function.Bwd` (see [`Derive`](cotan_ir::Derive)) and defines the residual type. The first `frozen`
/// parameters are taken as constants: the backward part has neither accumulators nor floats for them.
pub(crate) fn reverse(
    program: &mut Program,
    state: &mut State,
    function: FnId,
    residual: AdtId,
    frozen: usize,
) -> (Func, Func) {
    let mut f = program.fns[function].clone();
    crate::known::specialise(program, state, &mut f);
    let mut rev = Reverse {
        w: Writer::new(program, state, f.vars.clone()),
        regions: Vec::new(),
        region_of: Vec::new(),
        views: FxHashMap::default(),
        extents: FxHashMap::default(),
        same_shape: FxHashMap::default(),
        acc_parts: FxHashMap::default(),
        readers: FxHashMap::default(),
        has_accumulators: false,
        constants: FxHashSet::default(),
        closures: FxHashMap::default(),
        handed: FxHashMap::default(),
    };
    rev.has_accumulators = f.vars.iter().any(|v| matches!(rev.w.ty(v.ty), Type::Acc(_)));
    rev.w.span = f.span;

    let residual_ty = rev.w.intern(Type::Adt(residual));
    let kept = rev.w.var(residual_ty);
    let mut params = vec![kept];
    let active = differentiable_results(rev.w.program, &f.results);
    let mut result_bars = vec![None; f.results.len()];
    for i in active {
        let tan = rev.w.tangent(f.results[i]);
        let bar = rev.w.var(tan);
        params.push(bar);
        result_bars[i] = Some(bar);
    }
    let mut given = Vec::new();
    rev.constants.extend(f.params[..frozen].iter().copied());
    for p in &f.params[frozen..] {
        let ty = rev.w.vars[*p].ty;
        if let Type::Acc(of) = *rev.w.ty(ty) {
            let tan = rev.w.tangent(of);
            let reader = rev.w.var_like(tan, *p, "_bar");
            params.push(reader);
            rev.readers.insert(*p, Some(reader.into()));
            continue;
        }
        for leaf in leaves(rev.w.program, ty).into_iter().filter(|l| !l.is_float) {
            let acc_ty = rev.w.acc(leaf.ty);
            let acc = rev.w.var_like(acc_ty, *p, "_bar");
            params.push(acc);
            given.push((*p, leaf.path, acc));
        }
    }

    let out = rev.region(
        Kind::Branch,
        &f.params,
        &f.body,
        |rev| {
            for (p, path, acc) in given {
                *rev.leaf_mut(p, &path) = Leaf::Acc(acc.into());
            }
            result_bars.iter().map(|bar| bar.map_or(Tree::None, |b| rev.w.tree(b.into()))).collect()
        },
        |rev| {
            let mut floats = Vec::new();
            for p in &f.params[frozen..] {
                let ty = rev.w.vars[*p].ty;
                for leaf in leaves(rev.w.program, ty).into_iter().filter(|l| l.is_float) {
                    let zero = rev.w.float(leaf.ty, 0.0);
                    floats.push(rev.float_at(*p, &leaf.path).unwrap_or(zero));
                }
            }
            floats
        },
    );

    let fields: Vec<(String, TypeId)> = out
        .saved
        .iter()
        .enumerate()
        .map(|(i, v)| {
            let info = &rev.w.vars[*v];
            (info.name.clone().map_or(format!("{i}"), |n| format!("{n}.{i}")), info.ty)
        })
        .collect();
    let name = rev.w.program.adts[residual].name.clone();
    rev.w.program.adts[residual].variants = vec![VariantDef { name, named: false, fields }];

    let loads = out.saved.iter().enumerate().map(|(i, v)| Stmt {
        vars: vec![*v],
        op: Op::Field { base: kept.into(), variant: 0, index: i as u32 },
        span: f.span,
    });
    let mut bwd = out.bwd;
    bwd.stmts = loads.chain(std::mem::take(&mut bwd.stmts)).collect();

    let mut fwd = Block { stmts: out.fwd, results: f.body.results.clone() };
    let keep = rev.w.var(residual_ty);
    fwd.stmts.push(Stmt {
        vars: vec![keep],
        op: Op::Adt { adt: residual, variant: 0, fields: out.saved.iter().map(|v| (*v).into()).collect() },
        span: f.span,
    });
    fwd.results.push(keep.into());
    let fwd = rev.w.func(format!("{}.fwd", f.name), f.params.clone(), fwd, f.span);
    let bwd = rev.w.func(format!("{}.bwd", f.name), params, bwd, f.span);
    (fwd, bwd)
}

/// The state of the walk.
pub(crate) struct Reverse<'p> {
    w: Writer<'p>,
    /// One per open block, the outermost first; the writer's open block at the same depth takes its backward statements.
    regions: Vec<Region>,
    /// The region in which a value of the forward part is defined, by variable.
    region_of: Vec<u32>,
    /// Variables that are a part of another: their accumulator is a part of its accumulator.
    views: FxHashMap<Var, View>,
    /// Extents of arrays that are known as operands.
    extents: FxHashMap<Var, Vec<Atom>>,
    /// Arrays that have the shape of another.
    same_shape: FxHashMap<Var, Var>,
    /// Accumulators that are a part of another.
    acc_parts: FxHashMap<Var, (Atom, Step)>,
    /// What was taken from an accumulator has this cotangent (`None`: zero).
    readers: FxHashMap<Var, Option<Atom>>,
    /// Whether the function holds accumulators at all.
    has_accumulators: bool,
    /// Variables that depend on no parameter: nobody asks for their cotangents.
    constants: FxHashSet<Var>,
    /// Codes and captures of the closures that are made here.
    closures: FxHashMap<Var, (FnId, Vec<Atom>)>,
    /// Where forward rules stand in place of calls: the cotangent of a variable is that of the operand, whatever defines it.
    handed: FxHashMap<Var, Atom>,
}

/// How a variable is a part of another.
#[derive(Clone)]
pub(crate) enum View {
    /// A field, capture, or part of a tangent.
    Step(Atom, Step),
    /// A slice of an array, whose extents are those of the array.
    Slice(Atom, Vec<cotan_ir::Sub>),
}

const NOWHERE: u32 = u32::MAX;

impl Reverse<'_> {
    /// Says that `v` is a value of the forward part defined in the region at `depth`.
    fn define_at(&mut self, depth: usize, v: Var) {
        if self.region_of.len() <= v.index() {
            self.region_of.resize(v.index() + 1, NOWHERE);
        }
        self.region_of[v.index()] = depth as u32;
        self.regions[depth].defined.push(v);
    }

    /// Says that `v` is a value of the forward part of the current region.
    fn define(&mut self, v: Var) {
        self.define_at(self.regions.len() - 1, v);
    }

    fn depth_of(&self, v: Var) -> usize {
        let depth = self.region_of[v.index()];
        debug_assert_ne!(depth, NOWHERE, "{v} is a value of the forward part");
        depth as usize
    }

    /// Looks at the statements of a block before they are walked backwards.
    fn prepare(&mut self, stmt: &Stmt) {
        let Some(v) = stmt.vars.first().copied() else { return };
        if !self.handed.contains_key(&v) && self.is_constant(&stmt.op) {
            self.constants.extend(stmt.vars.iter().copied());
        }
        match &stmt.op {
            Op::Field { base, variant, index } => {
                let ty = self.w.type_of(base);
                if let Type::Adt(adt) = *self.w.ty(ty) {
                    let step = Step::Field { adt, variant: *variant, index: *index };
                    self.views.insert(v, View::Step(base.clone(), step));
                }
            }
            Op::Capture { base, code, index } => {
                self.views.insert(v, View::Step(base.clone(), Step::Capture { code: *code, index: *index }));
            }
            Op::Closure { code, captures } => {
                self.closures.insert(v, (*code, captures.clone()));
            }
            Op::TanPart { tan, step } => {
                self.views.insert(v, View::Step(tan.clone(), step.clone()));
            }
            Op::Index { array, at } => {
                let subs = at.iter().cloned().map(cotan_ir::Sub::At).collect();
                self.views.insert(v, View::Slice(array.clone(), subs));
            }
            Op::Slice { array, subs } => {
                self.views.insert(v, View::Slice(array.clone(), subs.clone()));
            }
            Op::Build { extents, body, .. } => {
                for (v, result) in stmt.vars.iter().zip(&body.results) {
                    let ty = self.w.type_of(result);
                    if self.w.array(ty).is_none() {
                        self.extents.insert(*v, extents.clone());
                    }
                }
            }
            Op::Fill { extents, .. } => {
                self.extents.insert(v, extents.clone());
            }
            // Arrays of the shape of an operand: one set of extents serves a whole chain.
            Op::Map(_, args) => {
                let operand = args
                    .iter()
                    .filter_map(Atom::var)
                    .find(|a| matches!(self.w.ty(self.w.vars[*a].ty), Type::Array { .. }));
                self.has_shape_of(v, operand);
            }
            Op::Update { array: a, .. } | Op::Copy(a) => self.has_shape_of(v, a.var()),
            Op::AccPart { acc, step } => {
                self.acc_parts.insert(v, (acc.clone(), step.clone()));
            }
            _ => {}
        }
    }

    fn has_shape_of(&mut self, v: Var, operand: Option<Var>) {
        // The first of a chain stands for all, so that none is walked twice.
        if let Some(a) = operand {
            let first = self.same_shape.get(&a).copied().unwrap_or(a);
            self.same_shape.insert(v, first);
        }
    }

    /// Whether the results of an operation depend on no parameter. (What blocks yield is taken to depend.)
    fn is_constant(&self, op: &Op) -> bool {
        match op {
            Op::ZeroLike(_) | Op::Inspect(..) | Op::StopGradient(_) => true,
            Op::AccNew(_) | Op::AccNull | Op::AccPart { .. } | Op::AccTake(_) => false,
            op if op.has_blocks() => false,
            op => op.atoms().into_iter().filter_map(Atom::var).all(|v| self.constants.contains(&v)),
        }
    }

    /// Walks a statement backwards: writes the backward part and returns the forward part.
    fn stmt(&mut self, stmt: &Stmt) -> Vec<Stmt> {
        if let [v] = stmt.vars[..]
            && let Some(to) = self.handed.get(&v).cloned()
        {
            let tree = self.take(v);
            self.contribute(&to, tree);
            return vec![stmt.clone()];
        }
        match &stmt.op {
            Op::If { .. } | Op::Switch { .. } | Op::For { .. } | Op::While { .. } | Op::Build { .. } => {
                return self.control(stmt);
            }
            Op::Call { .. } | Op::Dispatch { .. } => return self.call(stmt),

            Op::Copy(_)
            | Op::Prim(..)
            | Op::Map(..)
            | Op::Tuple(_)
            | Op::Proj(..)
            | Op::Adt { .. }
            | Op::Field { .. }
            | Op::Closure { .. }
            | Op::Capture { .. }
            | Op::Probe { .. } => self.data(stmt),

            Op::Array(_)
            | Op::Fill { .. }
            | Op::Index { .. }
            | Op::Slice { .. }
            | Op::Update { .. }
            | Op::Reduce(..)
            | Op::Gather { .. }
            | Op::ScatterAdd { .. }
            | Op::Concat(..)
            | Op::Transpose(_)
            | Op::MatMul(..) => self.array(stmt),

            Op::SpaceAdd(..)
            | Op::SpaceNeg(_)
            | Op::SpaceScale(..)
            | Op::SpaceDot(..)
            | Op::Move(..)
            | Op::Densify { .. }
            | Op::Spread { .. }
            | Op::Sparse(_)
            | Op::TanPart { .. }
            | Op::TanAdt { .. }
            | Op::TanClosure { .. }
            | Op::TanUpdate { .. }
            | Op::AccNew(_)
            | Op::AccNull
            | Op::AccPart { .. }
            | Op::AccAdd { .. }
            | Op::AccTake(_) => self.linear(stmt),

            Op::Attach { .. } => unreachable!("rules attached to values are made closures by `expand`"),
            // Locally constant, or without a float in the result.
            Op::Dim { .. }
            | Op::ArgReduce { .. }
            | Op::Argsort(_)
            | Op::ZeroLike(_)
            | Op::Inspect(..)
            | Op::Zero
            | Op::Equal(..)
            | Op::ToStr(_)
            | Op::StrConcat(..)
            | Op::StopGradient(_)
            | Op::Assert { .. }
            | Op::Panic(_)
            | Op::CheckSize { .. }
            | Op::Effect(..) => {}
            Op::Ad(never) => match *never {},
        }
        vec![stmt.clone()]
    }

    /// The cotangent of what is taken from an accumulator; `None` where it is zero.
    fn reader(&mut self, acc: &Atom) -> Option<Atom> {
        let v = acc.var().expect("accumulators are variables");
        if let Some(known) = self.readers.get(&v) {
            return known.clone();
        }
        let (whole, step) = self.acc_parts.get(&v).cloned()?;
        let tan = self.reader(&whole)?;
        let Type::Acc(of) = *self.w.ty(self.w.vars[v].ty) else { unreachable!("an accumulator has its type") };
        let ty = self.w.tangent(of);
        Some(self.w.emit(Op::TanPart { tan, step }, ty))
    }
}
