//! Differentiation: `Program<AdOp>` to `Program<Never>`, and derivatives of functions on demand.
//!
//! In: a program with the operators of differentiation. Out: a program without them ([`expand`]), whose function values are
//! asked for their derivatives by `Dispatch`; and [`Differentiator`], which makes `g.Jvp`, `g.Fwd` and `g.Bwd` of a function
//! when they are first needed. Newly true: no derivative is left to take, by type.
//!
//! Each derivative is ordinary IR again and can be differentiated in turn, accumulators included: the cotangent of
//! "add v to a part" is "read the part" (see `reverse`). Since function values carry their code, nothing has to be known
//! about which functions reach a place: a derivative is made for the code at hand, once, and remembered.

mod arrays;
mod cross;
mod expand;
mod forward;
mod known;
mod partial;
mod reverse;
mod signature;
mod writer;

pub use expand::expand;

use cotan_ir::{
    AdtDef, AdtId, AdtKind, Block, Deriv, Derive, FnId, Func, Never, Op, Program, Rules, Type, TypeId, VariantDef,
};
use cotan_ir::{derivatives_without_end, leaves, tangent_type};
use cotan_source::{Diagnostic, IndexVec};
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::collections::VecDeque;

/// A pass over a function that was just made, such as the optimiser.
pub type Post = Box<dyn Fn(&mut Program<Never>, FnId)>;

/// Makes of a function the one that runs in its place (see [`Derive::running`]).
pub type Running = Box<dyn Fn(&mut Program<Never>, FnId) -> FnId>;

/// Makes derivatives on demand.
pub struct Differentiator {
    state: RefCell<State>,
    post: Option<Post>,
    running: Option<Running>,
}

/// Derivatives above this order that are larger than so many statements are taken for the start of an endless chain, where functions
/// with rules of their own are differentiated.
const HIGH: u32 = 6;
const LARGE: usize = 1_000_000;

/// What is remembered between requests.
#[derive(Default)]
pub(crate) struct State {
    /// Functions that were named and are yet to be written.
    queue: VecDeque<Work>,
    /// Whether rules are called as they are and what is made is left as it is, so that their calls can be seen.
    keep_rules: bool,
    /// How often functions were differentiated, and what they are derivatives of.
    orders: FxHashMap<FnId, u32>,
    bases: FxHashMap<FnId, FnId>,
    /// Functions that were written since they were last asked for.
    made: Vec<FnId>,
    /// Functions with rules that were specialised on closures.
    specialised: known::Specialised,
    /// The optimiser, for pieces of code that are looked at before they are used.
    simplify: Option<Post>,
    /// One-field boxes in which arrays are kept per turn of a loop, by type.
    boxes: FxHashMap<TypeId, AdtId>,
}

impl State {
    /// Notes that functions are derivatives of `function`.
    fn note_order(&mut self, function: FnId, derivatives: &[FnId]) {
        let order = self.orders.get(&function).copied().unwrap_or(0) + 1;
        let base = self.bases.get(&function).copied().unwrap_or(function);
        for f in derivatives {
            self.orders.insert(*f, order);
            self.bases.insert(*f, base);
        }
    }

    /// The function with a rule that was differentiated most often.
    fn endless(&self, program: &Program<Never>) -> Option<FnId> {
        let rules = self.bases.iter().filter(|(_, base)| !program.fns[**base].rules.is_empty());
        rules.max_by_key(|(f, base)| (self.orders.get(f), std::cmp::Reverse(**base))).map(|(_, base)| *base)
    }
}

enum Work {
    Jvp {
        function: FnId,
        jvp: FnId,
    },
    /// The first `frozen` parameters are constants.
    Reverse {
        function: FnId,
        fwd: FnId,
        bwd: FnId,
        residual: AdtId,
        frozen: usize,
    },
}

impl Differentiator {
    /// `post` is run on each function made (the optimiser; tests leave it out).
    pub fn new(post: Option<Post>) -> Self {
        Differentiator { state: RefCell::new(State::default()), post, running: None }
    }

    /// With an optimiser for pieces of code on the way. Without one, rules of functions that are known by value are called as unknown ones.
    pub fn with_simplify(self, simplify: Post) -> Self {
        self.state.borrow_mut().simplify = Some(simplify);
        self
    }

    /// With a pass that makes the functions that run, such as the optimiser's.
    pub fn with_running(self, running: Running) -> Self {
        Differentiator { running: Some(running), ..self }
    }
}

impl Derive for Differentiator {
    fn derive(&self, program: &mut Program<Never>, function: FnId, which: Deriv) -> Result<FnId, Box<Diagnostic>> {
        let state = &mut *self.state.borrow_mut();
        let id = request(program, state, function, which);
        while let Some(work) = state.queue.pop_front() {
            write(program, state, work);
        }
        let made = std::mem::take(&mut state.made);
        for f in &made {
            let func = &program.fns[*f];
            let order = state.orders.get(f).copied().unwrap_or(0);
            if order > HIGH
                && cotan_ir::size(func) > LARGE
                && let Some(blamed) = state.endless(program)
            {
                let func = &program.fns[blamed];
                return Err(Box::new(derivatives_without_end(func.span, &format!("`{}`", func.name))));
            }
        }
        if let Some(post) = &self.post
            && !state.keep_rules
        {
            made.into_iter().for_each(|f| post(program, f));
        }
        Ok(id)
    }

    fn running(&self, program: &mut Program<Never>, function: FnId) -> FnId {
        match &self.running {
            Some(running) if !self.state.borrow().keep_rules => running(program, function),
            _ => function,
        }
    }

    fn keep_rules(&self) {
        self.state.borrow_mut().keep_rules = true;
    }
}

/// Writes functions that were named.
fn write(program: &mut Program<Never>, state: &mut State, work: Work) {
    match work {
        Work::Jvp { function, jvp } => {
            let func = match program.fns[function].rules.vjp {
                Some((fwd, bwd)) => cross::jvp_from_vjp(program, state, function, fwd, bwd),
                None => forward::jvp(program, state, function),
            };
            program.fns[jvp] = func;
            state.made.push(jvp);
        }
        Work::Reverse { function, fwd, bwd, residual, frozen } => {
            let (f, b) = match program.fns[function].rules.jvp {
                Some(jvp) => cross::reverse_from_jvp(program, state, function, jvp, residual),
                None => reverse::reverse(program, state, function, residual, frozen),
            };
            program.fns[fwd] = f;
            program.fns[bwd] = b;
            state.made.extend([fwd, bwd]);
        }
    }
}

/// Writes a forward part that was named, with its backward part, now, unless it is being written already.
pub(crate) fn write_now(program: &mut Program<Never>, state: &mut State, id: FnId) {
    let is_it = |work: &Work| matches!(work, Work::Reverse { fwd, .. } if *fwd == id);
    if let Some(work) = state.queue.iter().position(is_it).and_then(|at| state.queue.remove(at)) {
        write(program, state, work);
    }
}

/// The derivative `which` of `function`; if it does not exist yet it is declared, with its result types, and queued.
pub(crate) fn request(program: &mut Program<Never>, state: &mut State, function: FnId, which: Deriv) -> FnId {
    if let Some(id) = program.derived.get(&(function, which)) {
        return *id;
    }
    let rules = program.fns[function].rules.clone();
    if which == Deriv::Body {
        let mut body = Func { rules: Rules::default(), ..program.fns[function].clone() };
        match program.named_function(function) {
            Some(callee) => {
                let callee = request(program, state, callee, Deriv::Body);
                if let Some(Op::Call { func, .. }) = body.body.stmts.last_mut().map(|s| &mut s.op) {
                    *func = callee;
                }
            }
            None if rules.is_empty() => return function,
            None => {}
        }
        let body = program.fns.push(body);
        program.derived.insert((function, Deriv::Body), body);
        return body;
    }
    match (which, rules.vjp, rules.jvp) {
        (Deriv::Fwd, Some((fwd, _)), _) => return fwd,
        (Deriv::Bwd, Some((_, bwd)), _) => return bwd,
        (Deriv::Jvp, _, Some(jvp)) => return jvp,
        _ => {}
    }
    let results = program.fns[function].results.clone();
    match which {
        Deriv::Jvp => {
            let mut types = results.clone();
            for i in signature::differentiable_results(program, &results) {
                types.push(tangent_type(program, results[i]));
            }
            let jvp = declare(program, function, "jvp", types);
            state.note_order(function, &[jvp]);
            program.derived.insert((function, Deriv::Jvp), jvp);
            state.queue.push_back(Work::Jvp { function, jvp });
            jvp
        }
        Deriv::Fwd | Deriv::Bwd => {
            let (fwd, bwd) = declare_reverse(program, state, function, 0);
            program.derived.insert((function, Deriv::Fwd), fwd);
            program.derived.insert((function, Deriv::Bwd), bwd);
            if which == Deriv::Fwd { fwd } else { bwd }
        }
        Deriv::Body => unreachable!("answered before"),
    }
}

/// Declares and queues forward and backward part of a function whose first `frozen` parameters are constants.
pub(crate) fn declare_reverse(
    program: &mut Program<Never>,
    state: &mut State,
    function: FnId,
    frozen: usize,
) -> (FnId, FnId) {
    let f = &program.fns[function];
    let name = f.name.clone();
    let params: Vec<TypeId> = f.params[frozen..].iter().map(|p| f.vars[*p].ty).collect();
    let mut types = f.results.clone();
    let residual =
        program.adts.push(AdtDef { name: format!("Residual<{name}>"), variants: Vec::new(), kind: AdtKind::Residual });
    if frozen == 0 {
        program.residuals.insert(function, residual);
    }
    types.push(program.intern(Type::Adt(residual)));
    let fwd = declare(program, function, "fwd", types);
    let floats =
        params.iter().flat_map(|ty| leaves(program, *ty)).filter(|leaf| leaf.is_float).map(|leaf| leaf.ty).collect();
    let bwd = declare(program, function, "bwd", floats);
    state.note_order(function, &[fwd, bwd]);
    state.queue.push_back(Work::Reverse { function, fwd, bwd, residual, frozen });
    (fwd, bwd)
}

/// A place in the table for a function that is going to be made.
fn declare(program: &mut Program<Never>, of: FnId, suffix: &str, results: Vec<TypeId>) -> FnId {
    let f = &program.fns[of];
    let func = Func {
        name: format!("{}.{suffix}", f.name),
        params: Vec::new(),
        results,
        body: Block::default(),
        vars: IndexVec::new(),
        captures: None,
        rules: Rules::default(),
        span: f.span,
    };
    program.fns.push(func)
}

/// The one-field box in which a value of type `ty` is kept per turn of a loop.
pub(crate) fn box_of(program: &mut Program<Never>, state: &mut State, ty: TypeId) -> AdtId {
    *state.boxes.entry(ty).or_insert_with(|| {
        program.adts.push(AdtDef {
            name: "Saved".into(),
            variants: vec![VariantDef { name: "Saved".into(), named: false, fields: vec![("0".into(), ty)] }],
            kind: AdtKind::Residual,
        })
    })
}
