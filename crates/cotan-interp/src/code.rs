//! Functions in the form that runs.
//!
//! In: a function of the IR. Out: the same statements, with the variables whose value is used for the last time. Newly true: a value is handed
//! over, not shared, at its last use, so that an update of an array that nobody else holds happens in place.

use cotan_ir::{Atom, Block, Func, Never, Op, Operator, TypeId, Var, VarInfo};
use cotan_source::{IndexVec, Span};
use rustc_hash::FxHashSet;

/// A function.
#[derive(Debug)]
pub struct Code<A = Never> {
    /// Number of slots.
    pub slots: usize,
    /// Slots of the parameters.
    pub params: Vec<Var>,
    /// Parameters that nobody reads.
    pub unused: Vec<Var>,
    /// The code.
    pub body: CBlock<A>,
}

/// A block.
#[derive(Debug)]
pub struct CBlock<A = Never> {
    /// Statements.
    pub stmts: Vec<CStmt<A>>,
    /// Results.
    pub results: Vec<Atom>,
    /// Slots that are emptied when the results are taken.
    pub kill: Vec<Var>,
    /// Of one side of a branch: slots that only the other sides read.
    pub unused: Vec<Var>,
}

/// A statement.
#[derive(Debug)]
pub struct CStmt<A = Never> {
    /// Slots that it fills.
    pub vars: Vec<Var>,
    /// Their types.
    pub types: Vec<TypeId>,
    /// What it does.
    pub op: COp<A>,
    /// Its place.
    pub span: Span,
    /// Slots that are emptied when the operands are taken.
    pub kill: Vec<Var>,
    /// Slots that are emptied afterwards.
    pub kill_after: Vec<Var>,
    /// Those of `vars` that nobody reads.
    pub unused: Vec<Var>,
}

/// What a statement does.
#[derive(Debug)]
pub enum COp<A = Never> {
    /// An operation without blocks.
    Leaf(Op<A>),
    /// A branch.
    If(Atom, CBlock<A>, CBlock<A>),
    /// A branch by variant.
    Switch(Atom, Vec<(u32, CBlock<A>)>, Option<CBlock<A>>),
    /// A counted loop: count, index, state, start, body.
    For(Atom, Var, Vec<Var>, Vec<Atom>, CBlock<A>),
    /// A loop with a condition: state, start, condition, body.
    While(Vec<Var>, Vec<Atom>, CBlock<A>, CBlock<A>),
    /// A comprehension: extents, indices, body, number of axes of each result's elements.
    Build(Vec<Atom>, Vec<Var>, CBlock<A>),
}

type Live = FxHashSet<Var>;
type Vars = IndexVec<Var, VarInfo>;

/// Makes the form that runs.
pub fn compile<A: Operator>(func: &Func<A>) -> Code<A> {
    let mut live = Live::default();
    let body = block(&func.body, &mut live, &func.vars);
    let unused = func.params.iter().copied().filter(|p| !live.contains(p)).collect();
    Code { slots: func.vars.len(), params: func.params.clone(), unused, body }
}

fn last_uses(atoms: &[&Atom], live: &mut Live) -> Vec<Var> {
    atoms.iter().filter_map(|a| a.var()).filter(|v| live.insert(*v)).collect()
}

/// What is in `a` but not in `b`, in order.
fn difference(a: &Live, b: &Live) -> Vec<Var> {
    let mut out: Vec<Var> = a.iter().copied().filter(|v| !b.contains(v)).collect();
    out.sort_unstable();
    out
}

/// `live` holds what is needed after the block; afterwards, what is needed before it.
fn block<A: Operator>(b: &Block<A>, live: &mut Live, vars: &Vars) -> CBlock<A> {
    let results: Vec<&Atom> = b.results.iter().collect();
    let kill = last_uses(&results, live);
    let mut stmts: Vec<CStmt<A>> = Vec::with_capacity(b.stmts.len());
    for stmt in b.stmts.iter().rev() {
        let unused = stmt.vars.iter().copied().filter(|v| !live.remove(v)).collect();
        let mut kill_after = Vec::new();
        let op;
        let kill;
        match &stmt.op {
            Op::If { cond, then, otherwise } => {
                let mut other = live.clone();
                let mut then = block(then, live, vars);
                let mut otherwise = block(otherwise, &mut other, vars);
                then.unused = difference(&other, live);
                otherwise.unused = difference(live, &other);
                live.extend(other);
                kill = last_uses(&[cond], live);
                op = COp::If(cond.clone(), then, otherwise);
            }
            Op::Switch { on, arms, default } => {
                let after = live.clone();
                let mut before = Vec::new();
                let mut run = |b: &Block<A>| {
                    let mut mine = after.clone();
                    let out = block(b, &mut mine, vars);
                    live.extend(mine.iter().copied());
                    before.push(mine);
                    out
                };
                let mut arms: Vec<_> = arms.iter().map(|(v, b)| (*v, run(b))).collect();
                let mut default = default.as_ref().map(&mut run);
                let blocks = arms.iter_mut().map(|(_, b)| b).chain(&mut default);
                blocks.zip(before).for_each(|(b, mine)| b.unused = difference(live, &mine));
                kill = last_uses(&[on], live);
                op = COp::Switch(on.clone(), arms, default);
            }
            Op::For { count, index, state, init, body } => {
                let body = repeated(&[body], state, Some(*index), live, &mut kill_after, vars).remove(0);
                let atoms: Vec<&Atom> = [count].into_iter().chain(init).collect();
                kill = last_uses(&atoms, live);
                op = COp::For(count.clone(), *index, state.clone(), init.clone(), body);
            }
            Op::While { state, init, cond, body } => {
                let mut blocks = repeated(&[cond, body], state, None, live, &mut kill_after, vars);
                let (body, cond) = (blocks.remove(1), blocks.remove(0));
                let atoms: Vec<&Atom> = init.iter().collect();
                kill = last_uses(&atoms, live);
                op = COp::While(state.clone(), init.clone(), cond, body);
            }
            Op::Build { extents, indices, body } => {
                let body = repeated(&[body], indices, None, live, &mut kill_after, vars).remove(0);
                let atoms: Vec<&Atom> = extents.iter().collect();
                kill = last_uses(&atoms, live);
                op = COp::Build(extents.clone(), indices.clone(), body);
            }
            leaf => {
                kill = last_uses(&leaf.atoms(), live);
                op = COp::Leaf(leaf.clone());
            }
        }
        let mut types: Vec<TypeId> = stmt.vars.iter().map(|v| vars[*v].ty).collect();
        // A text tells closures from their tangents.
        if let Op::ToStr(Atom::Var(v)) = &stmt.op {
            types.push(vars[*v].ty);
        }
        stmts.push(CStmt { vars: stmt.vars.clone(), types, op, span: stmt.span, kill, kill_after, unused });
    }
    stmts.reverse();
    CBlock { stmts, results: b.results.clone(), kill, unused: Vec::new() }
}

/// Blocks that run many times: what they use from outside stays until the end.
fn repeated<A: Operator>(
    blocks: &[&Block<A>],
    bound: &[Var],
    index: Option<Var>,
    live: &mut Live,
    kill_after: &mut Vec<Var>,
    vars: &Vars,
) -> Vec<CBlock<A>> {
    let mut outer: Vec<Var> = Vec::new();
    let mut seen = Live::default();
    for b in blocks {
        for v in b.free_vars() {
            if !bound.contains(&v) && index != Some(v) && seen.insert(v) {
                outer.push(v);
            }
        }
    }
    kill_after.extend(outer.iter().copied().filter(|v| !live.contains(v)));
    live.extend(outer.iter().copied());
    let mut out = Vec::new();
    // The condition of a loop reads the state that the body needs too.
    for (i, b) in blocks.iter().enumerate() {
        let mut mine = live.clone();
        if blocks.len() == 2 && i == 0 {
            mine.extend(bound.iter().copied());
        }
        out.push(block(b, &mut mine, vars));
    }
    out
}
