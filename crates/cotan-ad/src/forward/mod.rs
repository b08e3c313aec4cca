//! Forward mode: `g.Jvp`.
//!
//! In: a function. Out: the function that also carries tangents. Newly true: each value has a tangent beside it, or a tangent
//! that is known to be zero. Statements keep their order; each is followed by the one for its tangent.

mod array;
mod control;
mod linear;

use crate::State;
use crate::partial::partial_times;
use crate::signature::differentiable_results;
use crate::writer::{Tree, Writer};
use cotan_ir::{Atom, Block, Deriv, FnId, Func, Op, Program, Step, Stmt, Type, TypeId, Var};
use rustc_hash::FxHashMap;

/// Makes `function.Jvp` (see [`Derive`](cotan_ir::Derive)).
pub(crate) fn jvp(program: &mut Program, state: &mut State, function: FnId) -> Func {
    let mut f = program.fns[function].clone();
    crate::known::specialise(program, state, &mut f);
    let mut fwd = Forward { w: Writer::new(program, state, f.vars.clone()), dots: FxHashMap::default() };
    fwd.w.span = f.span;
    let mut params = f.params.clone();
    for p in &f.params {
        let ty = fwd.w.vars[*p].ty;
        if let Type::Acc(_) = fwd.w.ty(ty) {
            let dot = fwd.w.var_like(ty, *p, "_dot");
            fwd.dots.insert(*p, Tree::Atom(dot.into()));
            params.push(dot);
        } else if fwd.w.differentiable(ty) {
            let tan = fwd.w.tangent(ty);
            let dot = fwd.w.var_like(tan, *p, "_dot");
            params.push(dot);
        }
    }
    let mut dots = params[f.params.len()..].iter();
    let body = {
        fwd.w.open_block();
        for p in &f.params {
            let ty = fwd.w.vars[*p].ty;
            if matches!(fwd.w.ty(ty), Type::Acc(_)) {
                dots.next();
            } else if fwd.w.differentiable(ty) {
                let dot = *dots.next().expect("one tangent per differentiable parameter");
                let tree = fwd.w.tree(dot.into());
                fwd.dots.insert(*p, tree);
            }
        }
        fwd.stmts(&f.body);
        let mut results = f.body.results.clone();
        for i in differentiable_results(fwd.w.program, &f.results) {
            let dot = fwd.whole_dot(&f.body.results[i], f.results[i]);
            results.push(dot);
        }
        Block { stmts: fwd.w.close_block(), results }
    };
    fwd.w.func(format!("{}.jvp", f.name), params, body, f.span)
}

/// The state of the walk.
pub(crate) struct Forward<'p> {
    w: Writer<'p>,
    /// Tangents; a variable that is missing has tangent zero. For accumulators: their second accumulator.
    dots: FxHashMap<Var, Tree>,
}

impl Forward<'_> {
    fn stmts(&mut self, block: &Block) {
        for stmt in &block.stmts {
            self.w.span = stmt.span;
            self.stmt(stmt);
        }
    }

    /// The tangent of an operand.
    fn dot(&self, atom: &Atom) -> Tree {
        match atom {
            Atom::Var(v) => self.dots.get(v).cloned().unwrap_or_default(),
            Atom::Lit(_) => Tree::None,
        }
    }

    /// The tangent of an operand of (primal) type `ty` as one value.
    fn whole_dot(&mut self, atom: &Atom, ty: TypeId) -> Atom {
        let tan = self.w.tangent(ty);
        let tree = self.dot(atom);
        self.w.whole(&tree, tan)
    }

    /// The tangent of an operand that is no tuple; `None` where it is known to be zero.
    fn leaf(&self, atom: &Atom) -> Option<Atom> {
        match self.dot(atom) {
            Tree::None => None,
            Tree::Atom(a) => Some(a),
            Tree::Tuple(_) => unreachable!("no tuple stands here"),
        }
    }

    /// The tangent of an operand that is no tuple, zero written out.
    fn leaf_or_zero(&mut self, atom: &Atom) -> Atom {
        let ty = self.w.type_of(atom);
        self.whole_dot(atom, ty)
    }

    fn set(&mut self, var: Var, tree: Tree) {
        if !tree.is_none() {
            self.dots.insert(var, tree);
        }
    }

    /// Gives `var` the tangent `atom`, seen as a value of the tangent type of `var`.
    fn set_atom(&mut self, var: Var, atom: Atom) {
        let tan = self.w.tangent(self.w.vars[var].ty);
        if self.w.is_trivial(tan) {
            return;
        }
        let atom = self.w.coerce(atom, tan);
        let tree = self.w.tree(atom);
        self.set(var, tree);
    }

    /// Gives `var` the tangent that `op` computes.
    fn set_op(&mut self, var: Var, op: Op) {
        let tan = self.w.tangent(self.w.vars[var].ty);
        if self.w.is_trivial(tan) {
            return;
        }
        let atom = self.w.emit(op, tan);
        let tree = self.w.tree(atom);
        self.set(var, tree);
    }

    /// Writes the statement itself.
    fn primal(&mut self, stmt: &Stmt) {
        self.w.push(stmt.vars.clone(), stmt.op.clone());
    }

    /// The statement and its tangent.
    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.op {
            Op::If { .. } | Op::Switch { .. } | Op::For { .. } | Op::While { .. } | Op::Build { .. } => {
                self.control(stmt)
            }
            Op::Call { func, args } => self.call(stmt, *func, args),
            Op::Dispatch { on, path, args } => self.dispatch(stmt, on, path, args),

            Op::Copy(a) => {
                self.primal(stmt);
                let dot = self.dot(a);
                self.set(stmt.vars[0], dot);
            }
            Op::Prim(prim, args) | Op::Map(prim, args) => {
                self.primal(stmt);
                let y = stmt.vars[0];
                if !self.w.differentiable(self.w.vars[y].ty) || args.iter().all(|a| self.leaf(a).is_none()) {
                    return;
                }
                let mut sum: Option<Atom> = None;
                for (i, arg) in args.iter().enumerate() {
                    let Some(dot) = self.leaf(arg) else { continue };
                    let dot = self.spread(dot, arg);
                    let Some(term) = partial_times(&mut self.w, &dot, *prim, i, args, &y.into()) else { continue };
                    sum = Some(match sum {
                        None => term,
                        Some(s) => self.w.prim(cotan_prim::Prim::Add, vec![s, term]),
                    });
                }
                if let Some(sum) = sum {
                    let sum = self.broadcast_like(sum, y);
                    self.set_atom(y, sum);
                }
            }

            Op::Tuple(parts) => {
                self.primal(stmt);
                let trees = parts.iter().map(|p| self.dot(p)).collect();
                self.set(stmt.vars[0], Tree::Tuple(trees));
            }
            Op::Proj(a, i) => {
                self.primal(stmt);
                let dot = self.dot(a).part(*i);
                self.set(stmt.vars[0], dot);
            }
            Op::Adt { adt, variant, fields } => {
                self.primal(stmt);
                if fields.iter().any(|f| !self.dot(f).is_none()) {
                    let fields = self.whole_dots(fields);
                    self.set_op(stmt.vars[0], Op::TanAdt { adt: *adt, variant: *variant, fields });
                }
            }
            Op::Closure { code, captures } => {
                self.primal(stmt);
                if captures.iter().any(|c| !self.dot(c).is_none()) {
                    let captures = self.whole_dots(captures);
                    self.set_op(stmt.vars[0], Op::TanClosure { code: *code, captures });
                }
            }
            Op::Field { base, variant, index } => {
                self.primal(stmt);
                let ty = self.w.type_of(base);
                let Type::Adt(adt) = *self.w.ty(ty) else { unreachable!("a field has a nominal type around it") };
                self.part(stmt.vars[0], base, Step::Field { adt, variant: *variant, index: *index });
            }
            Op::Capture { base, code, index } => {
                self.primal(stmt);
                self.part(stmt.vars[0], base, Step::Capture { code: *code, index: *index });
            }

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

            Op::Probe { value, .. } => {
                self.primal(stmt);
                let dot = self.dot(value);
                self.set(stmt.vars[0], dot);
            }
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
            | Op::Effect(..) => self.primal(stmt),
            Op::Ad(never) => match *never {},
        }
    }

    fn whole_dots(&mut self, atoms: &[Atom]) -> Vec<Atom> {
        atoms
            .iter()
            .map(|a| {
                let ty = self.w.type_of(a);
                self.whole_dot(a, ty)
            })
            .collect()
    }

    /// `var` is the part `step` of `base`.
    fn part(&mut self, var: Var, base: &Atom, step: Step) {
        if let Some(tan) = self.leaf(base) {
            self.set_op(var, Op::TanPart { tan, step });
        }
    }

    /// Operands and tangents for a call: one tangent per differentiable operand, one accumulator per accumulator.
    fn with_dots(&mut self, args: &[Atom]) -> Vec<Atom> {
        let mut all = args.to_vec();
        for arg in args {
            let ty = self.w.type_of(arg);
            if matches!(self.w.ty(ty), Type::Acc(_)) {
                all.push(self.leaf(arg).expect("an accumulator has a second one"));
            } else if self.w.differentiable(ty) {
                all.push(self.whole_dot(arg, ty));
            }
        }
        all
    }

    fn call(&mut self, stmt: &Stmt, func: FnId, args: &[Atom]) {
        if args.iter().all(|a| self.dot(a).is_none()) {
            return self.primal(stmt);
        }
        let jvp = crate::request(self.w.program, self.w.state, func, Deriv::Jvp);
        let args = self.with_dots(args);
        self.with_result_dots(stmt, Op::Call { func: jvp, args });
    }

    fn dispatch(&mut self, stmt: &Stmt, on: &Atom, path: &[Deriv], args: &[Atom]) {
        if self.dot(on).is_none() && args.iter().all(|a| self.dot(a).is_none()) {
            return self.primal(stmt);
        }
        let mut operands = vec![on.clone()];
        operands.extend_from_slice(args);
        let mut args = self.with_dots(&operands);
        let on = args.remove(0);
        let path = path.iter().copied().chain([Deriv::Jvp]).collect();
        self.with_result_dots(stmt, Op::Dispatch { on, path, args });
    }

    /// Writes an operation that yields the results of `stmt` and then the tangents of the differentiable ones.
    fn with_result_dots(&mut self, stmt: &Stmt, op: Op) {
        let types: Vec<TypeId> = stmt.vars.iter().map(|v| self.w.vars[*v].ty).collect();
        let mut vars = stmt.vars.clone();
        let active = differentiable_results(self.w.program, &types);
        for i in &active {
            let tan = self.w.tangent(types[*i]);
            vars.push(self.w.var_like(tan, stmt.vars[*i], "_dot"));
        }
        let dots = vars[stmt.vars.len()..].to_vec();
        self.w.push(vars, op);
        for (i, dot) in active.into_iter().zip(dots) {
            let tree = self.w.tree(dot.into());
            self.set(stmt.vars[i], tree);
        }
    }
}
