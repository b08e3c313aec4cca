//! Whether a program is well-formed.
//!
//! In: a program, as a pass left it. Out: what is wrong with it, naming function and statement; nothing if it is sound.
//! Run after every pass in tests and debug builds; a fault is a mistake of the pass before it, never of the user.
//!
//! Checked:
//! - every variable is in the table, defined once, and used only after its definition and inside the block that defines it;
//! - the operands of every operation have the types that it wants, the results those that follow (`infer.rs`);
//! - blocks, loops and functions yield as many results, of the types, that are announced; collected values become arrays;
//! - every type, nominal type and function that is named exists; a structure has one variant;
//! - `Switch` has ascending arms that cover all variants; a `Field` does not contradict the arm it stands in, nor the
//!   constructor of its base;
//! - `Capture` of the code's own first parameter, or of a visible closure, names that code; only code has captures, and
//!   takes closure and argument to one result;
//! - accumulators are variables only: not in tuples, arrays, fields, captures, or the types of function values; nothing
//!   is done with an accumulator after its sum was taken;
//! - derivatives and rules have the signatures of [`Derive`](crate::Derive); the last result of a forward part and the first
//!   parameter of its backward part is the residual of the function, and `Type::Residual` comes only from dispatch.

use crate::infer::{atom_type, result_types};
use crate::print::{print_stmt_head, print_type};
use crate::{
    AdOp, AdtKind, Atom, Block, Deriv, FnId, Func, Op, Operator, Program, Stmt, Type, TypeId, Var, VarInfo,
    derivative_signature, tangent_type,
};
use cotan_source::{Idx, IndexVec};
use rustc_hash::FxHashMap;

/// All faults of a program. (The program is borrowed mutably because checking interns types; it is not changed.)
pub fn validate<A: Operator>(program: &mut Program<A>) -> Vec<String> {
    let mut faults = Vec::new();
    nominal_types(program, &mut faults);
    if !faults.is_empty() {
        return faults;
    }
    for id in program.fns.indices() {
        faults.extend(validate_function(program, id));
    }
    derivatives(program, &mut faults);
    faults
}

/// All faults of one function.
pub fn validate_function<A: Operator>(program: &mut Program<A>, id: FnId) -> Vec<String> {
    let vars = program.fns[id].vars.clone();
    if let Some(v) = vars.indices().find(|v| vars[*v].ty.index() >= program.types.len()) {
        return vec![format!("{id}: variable {v} has an unknown type")];
    }
    let body = std::mem::take(&mut program.fns[id].body);
    let mut checker = Checker {
        id,
        state: vec![State::Unknown; vars.len()],
        vars: &vars,
        known: FxHashMap::default(),
        taken: Vec::new(),
        faults: Vec::new(),
        program,
    };
    checker.function(&body);
    let faults = checker.faults;
    let func = &mut program.fns[id];
    func.body = body;
    let name = format!("{id}.{}", func.name);
    faults.into_iter().map(|f| format!("{name}: {f}")).collect()
}

fn nominal_types<A>(program: &Program<A>, faults: &mut Vec<String>) {
    for (id, def) in program.adts.iter_enumerated() {
        if def.kind == AdtKind::Struct && def.variants.len() != 1 {
            faults.push(format!("{id}.{}: a structure with {} variants", def.name, def.variants.len()));
        }
        for (name, ty) in def.variants.iter().flat_map(|v| &v.fields) {
            if ty.index() >= program.types.len() {
                faults.push(format!("{id}.{}: field {name} has an unknown type", def.name));
            } else if holds_acc(program, *ty) {
                faults.push(format!("{id}.{}: field {name} holds an accumulator", def.name));
            }
        }
    }
    for (of, is) in &program.residuals {
        if program.adts.get(*is).is_none_or(|d| d.kind != AdtKind::Residual) {
            faults.push(format!("the residual {is} of {of} is no residual type"));
        }
    }
    let mut i = 0;
    while i < program.types.len() {
        let unknown = match program.ty(TypeId::new(i)) {
            Type::Adt(id) => program.adts.get(*id).is_none(),
            Type::F64 | Type::F32 | Type::I64 | Type::Bool | Type::Str | Type::Residual => false,
            Type::Tuple(_) | Type::Array { .. } | Type::Fn { .. } | Type::Tan(_) | Type::Acc(_) => false,
        };
        if unknown {
            faults.push(format!("a type names an unknown nominal type: {}", print_type(program, TypeId::new(i))));
        }
        i += 1;
    }
    faults.sort_unstable();
}

/// Whether a value of this type is or holds an accumulator (fields of nominal types are checked where they are declared).
fn holds_acc<A>(program: &Program<A>, ty: TypeId) -> bool {
    match program.ty(ty) {
        Type::Acc(_) => true,
        Type::F64 | Type::F32 | Type::I64 | Type::Bool | Type::Str | Type::Residual | Type::Adt(_) => false,
        Type::Tuple(parts) => parts.iter().any(|p| holds_acc(program, *p)),
        Type::Array { elem: of, .. } | Type::Tan(of) => holds_acc(program, *of),
        Type::Fn { arg, result } => holds_acc(program, *arg) || holds_acc(program, *result),
    }
}

/// Signatures of derivatives and rules.
fn derivatives<A: Operator>(program: &mut Program<A>, faults: &mut Vec<String>) {
    let mut made: Vec<_> = program.derived.iter().map(|((of, which), is)| (*of, *which, *is)).collect();
    for (of, func) in program.fns.iter_enumerated() {
        if let Some((fwd, bwd)) = func.rules.vjp {
            made.extend([(of, Deriv::Fwd, fwd), (of, Deriv::Bwd, bwd)]);
        }
        made.extend(func.rules.jvp.map(|jvp| (of, Deriv::Jvp, jvp)));
    }
    made.sort_unstable();
    made.dedup();
    for (of, which, is) in made {
        let (Some(base), Some(found)) = (program.fns.get(of), program.fns.get(is)) else {
            faults.push(format!("{is}, {which:?} of {of}: no such function"));
            continue;
        };
        let params: Vec<TypeId> = base.params.iter().map(|p| base.vars[*p].ty).collect();
        let results = base.results.clone();
        let found_params: Vec<TypeId> = found.params.iter().map(|p| found.vars[*p].ty).collect();
        let found_results = found.results.clone();
        let (mut want_params, mut want_results) = derivative_signature(program, &params, &results, which);
        // The residual of a known function is its own nominal type, or, under a rule, whatever the rule keeps.
        let own = program.residuals.get(&of).copied().map(|id| program.intern(Type::Adt(id)));
        match which {
            Deriv::Jvp | Deriv::Body => {}
            Deriv::Fwd => {
                if let (Some(want), Some(found)) = (want_results.last_mut(), found_results.last()) {
                    *want = own.unwrap_or(*found);
                }
            }
            Deriv::Bwd => {
                if let (Some(want), Some(found)) = (want_params.first_mut(), found_params.first()) {
                    *want = own.unwrap_or(*found);
                }
            }
        }
        if want_params != found_params || want_results != found_results {
            let show = |types: &[TypeId]| types.iter().map(|t| print_type(program, *t)).collect::<Vec<_>>().join(", ");
            faults.push(format!(
                "{is}.{}, {which:?} of {of}.{}: has the type ({}) -> ({}), not ({}) -> ({})",
                program.fns[is].name,
                program.fns[of].name,
                show(&found_params),
                show(&found_results),
                show(&want_params),
                show(&want_results),
            ));
        }
    }
}

/// Where a variable stands while its function is walked.
#[derive(Clone, Copy, PartialEq)]
enum State {
    Unknown,
    InScope,
    Gone,
}

/// What is known of the variant of a variable.
enum Known {
    /// Its switch arm or constructor.
    Variants(Vec<u32>),
    /// A closure over this code.
    Code(FnId),
}

struct Checker<'a, A> {
    program: &'a mut Program<A>,
    id: FnId,
    vars: &'a IndexVec<Var, VarInfo>,
    state: Vec<State>,
    known: FxHashMap<Var, Known>,
    taken: Vec<Var>,
    faults: Vec<String>,
}

impl<A: Operator> Checker<'_, A> {
    fn func(&self) -> &Func<A> {
        &self.program.fns[self.id]
    }

    fn function(&mut self, body: &Block<A>) {
        let func = self.func();
        let (params, results, captures) = (func.params.clone(), func.results.clone(), func.captures.clone());
        for v in &params {
            self.define(*v, "a parameter");
        }
        if let Some(captures) = captures {
            if params.len() != 2 || results.len() != 1 {
                self.faults.push("code of a closure does not take closure and argument to one result".into());
            } else if let Type::Fn { arg, result } = *self.program.ty(self.vars[params[0]].ty) {
                if arg != self.vars[params[1]].ty || result != results[0] {
                    self.faults.push("the first parameter of the code of a closure has another function type".into());
                }
            } else {
                self.faults.push("the first parameter of the code of a closure is no function value".into());
            }
            for c in captures {
                if holds_acc(self.program, c.ty) {
                    self.faults.push(format!("capture {} holds an accumulator", c.name));
                }
            }
        }
        self.block(body);
        self.results(body, &results, "the function's results");
    }

    fn results(&mut self, block: &Block<A>, types: &[TypeId], what: &str) {
        if block.results.len() != types.len() {
            self.faults.push(format!("{what}: {} of them, not {}", block.results.len(), types.len()));
        }
        for (i, (atom, want)) in block.results.iter().zip(types).enumerate() {
            if self.known_var(atom) {
                let found = atom_type(self.program, self.vars, atom);
                if found != *want {
                    let (found, want) = (print_type(self.program, found), print_type(self.program, *want));
                    self.faults.push(format!("{what}: number {i} has type {found}, not {want}"));
                }
            }
        }
    }

    fn known_var(&self, atom: &Atom) -> bool {
        atom.var().is_none_or(|v| v.index() < self.vars.len())
    }

    fn define(&mut self, v: Var, place: &str) {
        let Some(state) = self.state.get_mut(v.index()) else {
            self.faults.push(format!("{place}: variable {v} is not in the table"));
            return;
        };
        if *state != State::Unknown {
            self.faults.push(format!("{place}: variable {v} is defined twice"));
        }
        *state = State::InScope;
        let ty = self.vars[v].ty;
        if holds_acc(self.program, ty) && !matches!(self.program.ty(ty), Type::Acc(_)) {
            self.faults.push(format!("{place}: variable {v} holds an accumulator"));
        }
    }

    fn use_atom(&mut self, atom: &Atom, place: &dyn Fn(&Self) -> String) {
        let Some(v) = atom.var() else { return };
        let fault = match self.state.get(v.index()) {
            None => "is not in the table",
            Some(State::Unknown) => "is used before its definition",
            Some(State::Gone) => "is used outside of its block",
            Some(State::InScope) if self.taken.contains(&v) => "is an accumulator whose sum was taken",
            Some(State::InScope) => return,
        };
        let place = place(self);
        self.faults.push(format!("{place}: variable {v} {fault}"));
    }

    /// A nested block with the variables bound by its operation; they go out of scope with it.
    fn nested(&mut self, bound: &[Var], block: &Block<A>, place: &str) {
        for v in bound {
            self.define(*v, place);
        }
        self.block(block);
        self.leave(bound, block);
    }

    fn leave(&mut self, bound: &[Var], block: &Block<A>) {
        let defined = bound.iter().chain(block.stmts.iter().flat_map(|s| &s.vars));
        for v in defined {
            if let Some(state) = self.state.get_mut(v.index()) {
                *state = State::Gone;
            }
        }
    }

    fn block(&mut self, block: &Block<A>) {
        for stmt in &block.stmts {
            self.stmt(stmt);
        }
        for atom in &block.results {
            self.use_atom(atom, &|_| "results of a block".into());
        }
    }

    /// A block of a branch: what is taken in it is not taken in its sisters.
    fn branch(&mut self, block: &Block<A>, place: &str, taken: &mut Vec<Var>) {
        let before = self.taken.len();
        self.nested(&[], block, place);
        taken.extend(self.taken.drain(before..));
    }

    fn stmt(&mut self, stmt: &Stmt<A>) {
        let before = self.faults.len();
        let place = |this: &Self| print_stmt_head(this.program, this.vars, stmt);
        stmt.op.for_each_atom(|a| self.use_atom(a, &place));
        if self.faults.len() == before {
            self.nested_blocks(stmt);
            let mut complete = true;
            stmt.op.for_each_block(|b| complete &= b.results.iter().all(|a| self.known_var(a)));
            stmt.op.for_each_bound(|v| complete &= v.index() < self.vars.len());
            if complete && stmt.vars.iter().all(|v| v.index() < self.vars.len()) {
                self.types(stmt);
            }
        }
        for v in &stmt.vars {
            if self.state.get(v.index()) != Some(&State::Unknown) {
                let place = place(self);
                self.define(*v, &place);
            } else {
                self.define(*v, "");
            }
        }
        match (&stmt.op, &stmt.vars[..]) {
            (Op::Adt { variant, .. }, [v]) => {
                self.known.insert(*v, Known::Variants(vec![*variant]));
            }
            (Op::Closure { code, .. }, [v]) => {
                self.known.insert(*v, Known::Code(*code));
            }
            (Op::AccTake(Atom::Var(acc)), _) => self.taken.push(*acc),
            _ => {}
        }
    }

    fn nested_blocks(&mut self, stmt: &Stmt<A>) {
        let place = || "an operation's own variables";
        match &stmt.op {
            Op::If { then, otherwise, .. } => {
                let mut taken = Vec::new();
                self.branch(then, place(), &mut taken);
                self.branch(otherwise, place(), &mut taken);
                self.taken.extend(taken);
            }
            Op::Switch { on, arms, default } => self.switch(stmt, on, arms, default.as_ref()),
            Op::For { index, state, body, .. } => {
                let bound: Vec<Var> = std::iter::once(*index).chain(state.iter().copied()).collect();
                self.nested(&bound, body, place());
            }
            Op::While { state, cond, body, .. } => {
                for v in state {
                    self.define(*v, place());
                }
                self.block(cond);
                self.leave(&[], cond);
                self.block(body);
                self.leave(state, body);
            }
            Op::Build { indices, body, .. } => self.nested(indices, body, place()),
            _ => {}
        }
    }

    fn switch(&mut self, stmt: &Stmt<A>, on: &Atom, arms: &[(u32, Block<A>)], default: Option<&Block<A>>) {
        let ty = atom_type(self.program, self.vars, on);
        let Type::Adt(adt) = *self.program.ty(ty) else { return };
        let variants = self.program.adts[adt].variants.len() as u32;
        let fault = if !arms.windows(2).all(|w| w[0].0 < w[1].0) {
            Some("arms are not ascending")
        } else if arms.iter().any(|(v, _)| *v >= variants) {
            Some("an arm for a variant that does not exist")
        } else if default.is_none() && arms.len() as u32 != variants {
            Some("not all variants are covered")
        } else {
            None
        };
        if let Some(fault) = fault {
            let head = print_stmt_head(self.program, self.vars, stmt);
            self.faults.push(format!("{head}: {fault}"));
        }
        let others: Vec<u32> = (0..variants).filter(|v| arms.iter().all(|(a, _)| a != v)).collect();
        let mut taken = Vec::new();
        let blocks = arms.iter().map(|(v, b)| (vec![*v], b)).chain(default.map(|b| (others, b)));
        for (variants, block) in blocks {
            let outer = on.var().and_then(|v| self.known.insert(v, Known::Variants(variants)));
            self.branch(block, "an arm", &mut taken);
            if let Some(v) = on.var() {
                match outer {
                    Some(known) => self.known.insert(v, known),
                    None => self.known.remove(&v),
                };
            }
        }
        self.taken.extend(taken);
    }

    fn types(&mut self, stmt: &Stmt<A>) {
        let fault = match result_types(self.program, self.vars, &stmt.op) {
            Err(fault) => Some(fault),
            Ok(Some(types)) => self.compare(stmt, &types),
            Ok(None) => self.given(stmt),
        };
        if let Some(fault) = fault.or_else(|| self.contradiction(&stmt.op)) {
            let head = print_stmt_head(self.program, self.vars, stmt);
            self.faults.push(format!("{head}: {fault}"));
        }
    }

    fn compare(&self, stmt: &Stmt<A>, types: &[TypeId]) -> Option<String> {
        if stmt.vars.len() != types.len() {
            return Some(format!("{} results, not {}", stmt.vars.len(), types.len()));
        }
        let wrong = stmt.vars.iter().zip(types).find(|(v, t)| self.vars[**v].ty != **t);
        wrong.map(|(v, t)| {
            let (found, want) = (print_type(self.program, self.vars[*v].ty), print_type(self.program, *t));
            format!("{v} has type {found}, not {want}")
        })
    }

    /// Operations whose result type is given, not computed.
    fn given(&mut self, stmt: &Stmt<A>) -> Option<String> {
        let types: Vec<TypeId> = stmt.vars.iter().map(|v| self.vars[*v].ty).collect();
        if let Op::Dispatch { path, .. } = &stmt.op {
            // The signature of a derivative of a backward part depends on the residual, which is not known here.
            if path.len() > 1 {
                return None;
            }
            let floats = types.iter().all(|t| matches!(self.program.ty(*t), Type::F64 | Type::F32));
            return (!floats).then(|| "results of a backward part that are no floats".into());
        }
        let [result] = types[..] else {
            return Some(format!("{} results, not 1", types.len()));
        };
        let kind = self.program.ty(result).clone();
        match &stmt.op {
            Op::AccNew(start) => {
                let Type::Acc(of) = kind else { return Some("the result is no accumulator".into()) };
                let start = atom_type(self.program, self.vars, start.as_ref()?);
                (start != tangent_type(self.program, of)).then(|| "the start has another type".into())
            }
            Op::AccNull => (!matches!(kind, Type::Acc(_))).then(|| "the result is no accumulator".into()),
            Op::Array(_) => (!matches!(kind, Type::Array { .. })).then(|| "the result is no array".into()),
            Op::Sparse(_) => {
                (!matches!(kind, Type::Tan(_) | Type::Tuple(_))).then(|| "the result is no sparse tangent".into())
            }
            Op::Densify { tan, like } => {
                let like = atom_type(self.program, self.vars, like);
                let tan = atom_type(self.program, self.vars, tan);
                (tan != tangent_type(self.program, like)).then(|| "a tangent of another type".into())
            }
            Op::Ad(op) => match op.ad() {
                AdOp::Jvp { .. } | AdOp::Vjp { .. } | AdOp::Pullback { .. } => match kind {
                    Type::Tuple(parts) if parts.len() == 2 => None,
                    _ => Some("the result is no pair".into()),
                },
            },
            _ => matches!(kind, Type::Residual).then(|| "makes a residual".into()),
        }
    }

    /// Fields and captures against what is known of their base.
    fn contradiction(&self, op: &Op<A>) -> Option<String> {
        match op {
            Op::Field { base, variant, .. } => match self.known.get(&base.var()?)? {
                Known::Variants(variants) if !variants.contains(variant) => {
                    Some(format!("a field of variant {variant} where the value is of variant {variants:?}"))
                }
                Known::Variants(_) | Known::Code(_) => None,
            },
            Op::Capture { base, code, .. } => {
                let base = base.var()?;
                let own = match self.known.get(&base) {
                    Some(Known::Code(code)) => *code,
                    Some(Known::Variants(_)) => return None,
                    None if self.func().captures.is_some() && self.func().params.first() == Some(&base) => self.id,
                    None => return None,
                };
                (own != *code).then(|| format!("a capture of {code} from a closure over {own}"))
            }
            _ => None,
        }
    }
}
