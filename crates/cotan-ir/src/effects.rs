//! What an operation may do besides computing its results.
//!
//! In: an operation, and what is known of the functions that it calls. Out: its [`Traits`], by which a pass decides
//! whether it may be removed, merged with another or moved. Running long or deep is not counted: what nobody needs need not run.

use crate::{Atom, FnId, Inspect, Lit, Op, Operator, Program, ReduceOp, Step, Type, Var, VarInfo};
use cotan_prim::Prim;
use cotan_source::IndexVec;
use rustc_hash::FxHashMap;

/// What an operation or function may do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traits {
    /// End the run with an error.
    pub fails: bool,
    /// Change something outside: add to an accumulator, print, report.
    pub acts: bool,
    /// Have another result when run again: a new accumulator, or what one holds by then.
    pub varies: bool,
}

impl Traits {
    /// Everything.
    pub const ANY: Traits = Traits { fails: true, acts: true, varies: true };

    /// Whether it must run even if its results are not used.
    pub fn must_run(self) -> bool {
        self.fails || self.acts
    }

    /// Whether two of it with the same operands are as good as one.
    pub fn may_merge(self) -> bool {
        !self.acts && !self.varies
    }

    /// Whether it may run earlier, more often or not at all.
    pub fn may_move(self) -> bool {
        !self.fails && !self.acts && !self.varies
    }

    fn or(self, other: Traits) -> Traits {
        Traits { fails: self.fails || other.fails, acts: self.acts || other.acts, varies: self.varies || other.varies }
    }
}

const PURE: Traits = Traits { fails: false, acts: false, varies: false };
const FAILS: Traits = Traits { fails: true, acts: false, varies: false };
const ACTS: Traits = Traits { fails: false, acts: true, varies: false };
const VARIES: Traits = Traits { fails: false, acts: false, varies: true };

fn fails_if(fails: bool) -> Traits {
    if fails { FAILS } else { PURE }
}

/// The traits of an operation, those of its nested blocks included. `callee` knows the functions.
pub fn traits<A: Operator>(
    program: &Program<A>,
    vars: &IndexVec<Var, VarInfo>,
    op: &Op<A>,
    callee: &dyn Fn(FnId) -> Traits,
) -> Traits {
    let mut all = own_traits(program, vars, op, callee);
    op.for_each_block(|block| {
        for stmt in &block.stmts {
            if all != Traits::ANY {
                all = all.or(traits(program, vars, &stmt.op, callee));
            }
        }
    });
    all
}

/// The traits of an operation itself, those of its nested blocks left out.
pub fn own_traits<A: Operator>(
    program: &Program<A>,
    vars: &IndexVec<Var, VarInfo>,
    op: &Op<A>,
    callee: &dyn Fn(FnId) -> Traits,
) -> Traits {
    let ty = |a: &Atom| a.var().map(|v| program.ty(vars[v].ty));
    let is_array = |a: &Atom| matches!(ty(a), Some(Type::Array { .. }));
    let is_scalar = |a: &Atom| matches!(ty(a), None | Some(Type::F64 | Type::F32));
    match op {
        Op::Copy(_)
        | Op::Tuple(_)
        | Op::Proj(..)
        | Op::Adt { .. }
        | Op::Field { .. }
        | Op::Closure { .. }
        | Op::Capture { .. }
        | Op::Attach { .. }
        | Op::If { .. }
        | Op::Switch { .. }
        | Op::For { .. }
        | Op::Fill { .. }
        | Op::Dim { .. }
        | Op::Argsort(_)
        | Op::Transpose(_)
        | Op::SpaceNeg(_)
        | Op::SpaceScale(..)
        | Op::ZeroLike(_)
        | Op::Zero
        | Op::Sparse(_)
        | Op::TanAdt { .. }
        | Op::TanClosure { .. }
        | Op::AccNull
        | Op::AccPart { .. }
        | Op::Equal(..)
        | Op::ToStr(_)
        | Op::StrConcat(..)
        | Op::StopGradient(_) => PURE,

        Op::Prim(prim, args) => fails_if(prim_fails(*prim, operand_type(program, vars, args).as_ref())),
        Op::Map(prim, args) => {
            // Different shapes are an error.
            let mut arrays = args.iter().filter(|a| is_array(a));
            let first = arrays.next();
            let differ = arrays.any(|a| Some(a) != first);
            fails_if(differ || prim_fails(*prim, operand_type(program, vars, args).as_ref()))
        }
        // Elements that are arrays must have one shape.
        Op::Build { body, .. } => fails_if(body.results.iter().any(is_array)),
        Op::Array(items) => fails_if(items.len() > 1 && items.iter().any(is_array)),
        Op::Concat(a, _) => fails_if(!matches!(ty(a), Some(Type::Array { rank: 1, .. }))),
        Op::Reduce(op, a) => match op {
            ReduceOp::Max | ReduceOp::Min => FAILS,
            ReduceOp::Sum | ReduceOp::Product => match ty(a) {
                Some(Type::Array { elem, .. }) => fails_if(*program.ty(*elem) == Type::I64),
                _ => FAILS,
            },
        },
        Op::SpaceAdd(a, b)
        | Op::SpaceDot(a, b)
        | Op::Move(a, b)
        | Op::Densify { tan: a, like: b } => {
            fails_if(!(is_scalar(a) && is_scalar(b)))
        }
        Op::Inspect(what, _) => match what {
            Inspect::LeafNumbers | Inspect::Compare => PURE,
            Inspect::LeafName | Inspect::TangentFrom => FAILS,
        },
        Op::TanPart { step, .. } => match step {
            Step::Proj(_) => PURE,
            Step::Field { .. } | Step::Capture { .. } | Step::Index { .. } => FAILS,
        },
        // It may never end, which counts as failing: a loop is not removed because nobody reads what it makes.
        Op::While { .. }
        | Op::Index { .. }
        | Op::Slice { .. }
        | Op::Update { .. }
        | Op::ArgReduce { .. }
        | Op::Gather { .. }
        | Op::ScatterAdd { .. }
        | Op::MatMul(..)
        // A tangent of another shape.
        | Op::Spread { .. }
        | Op::TanUpdate { .. }
        | Op::Assert { .. }
        | Op::Panic(_)
        | Op::CheckSize { .. } => FAILS,

        Op::AccNew(_) | Op::AccTake(_) => VARIES,
        // A sum of different variants is an error.
        Op::AccAdd { .. } => Traits { fails: true, ..ACTS },
        Op::Probe { .. } | Op::Effect(..) => ACTS,
        Op::Call { func, .. } => callee(*func),
        Op::Dispatch { .. } | Op::Ad(_) => Traits::ANY,
    }
}

/// The traits of functions, as far as they were looked at.
#[derive(Clone, Debug, Default)]
pub struct FnTraits {
    known: FxHashMap<FnId, Traits>,
}

impl FnTraits {
    /// Looks at the functions that can be reached from `roots`, at most `budget` of them.
    pub fn of<A: Operator>(program: &Program<A>, roots: impl IntoIterator<Item = FnId>, budget: usize) -> FnTraits {
        // Least fixed point: every function starts as harmless and learns what its callees may do.
        let mut order: Vec<FnId> = Vec::new();
        let mut callers: FxHashMap<FnId, Vec<FnId>> = FxHashMap::default();
        let mut todo: Vec<FnId> = roots.into_iter().collect();
        let mut known: FxHashMap<FnId, Traits> = FxHashMap::default();
        while let Some(id) = todo.pop() {
            if known.contains_key(&id) || order.len() >= budget {
                continue;
            }
            order.push(id);
            known.insert(id, PURE);
            let Some(func) = program.fns.get(id) else { continue };
            func.body.for_each_stmt(&mut |stmt| {
                if let Op::Call { func: callee, .. } = &stmt.op {
                    callers.entry(*callee).or_default().push(id);
                    todo.push(*callee);
                }
            });
        }
        let mut todo = order;
        while let Some(id) = todo.pop() {
            let Some(func) = program.fns.get(id) else { continue };
            let callee = |f| known.get(&f).copied().unwrap_or(Traits::ANY);
            let mut all = if func.is_written() { PURE } else { Traits::ANY };
            func.body.for_each_stmt(&mut |stmt| {
                if all != Traits::ANY {
                    all = all.or(own_traits(program, &func.vars, &stmt.op, &callee));
                }
            });
            if known.insert(id, all) != Some(all) {
                todo.extend(callers.get(&id).into_iter().flatten().filter(|c| known.contains_key(c)));
            }
        }
        FnTraits { known }
    }

    /// What is known of a function.
    pub fn get(&self, id: FnId) -> Traits {
        self.known.get(&id).copied().unwrap_or(Traits::ANY)
    }
}

/// The scalar type of the first operand, which is what all generic primitives that can fail are generic in.
fn operand_type<A>(program: &Program<A>, vars: &IndexVec<Var, VarInfo>, args: &[Atom]) -> Option<Type> {
    let ty = match args.first()? {
        Atom::Lit(lit) => return Some(lit_kind(lit)),
        Atom::Var(v) => program.ty(vars[*v].ty),
    };
    match ty {
        Type::Array { elem, .. } => Some(program.ty(*elem).clone()),
        ty => Some(ty.clone()),
    }
}

fn lit_kind(lit: &Lit) -> Type {
    match lit {
        Lit::F64(_) => Type::F64,
        Lit::F32(_) => Type::F32,
        Lit::I64(_) => Type::I64,
        Lit::Bool(_) => Type::Bool,
        Lit::Str(_) => Type::Str,
        Lit::Unit => Type::Tuple(Vec::new()),
    }
}

/// Whether a scalar primitive can end the run on operands of these types.
pub fn prim_fails(prim: Prim, operand: Option<&Type>) -> bool {
    match prim {
        Prim::Add | Prim::Sub | Prim::Mul | Prim::Div | Prim::Rem | Prim::Neg | Prim::Abs | Prim::PowI => {
            operand.is_none_or(|ty| *ty == Type::I64)
        }
        Prim::ToInt => operand.is_none_or(|ty| *ty != Type::I64),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::prim_fails;
    use crate::Type;
    use cotan_prim::{ArgKind, Prim, Scalar, ScalarType};

    /// No primitive fails that is said not to, tried on all mixtures of awkward operands.
    #[test]
    fn failing_primitives_are_known() {
        let ints = [i64::MIN, -1, 0, 1, 3, i64::MAX].map(Scalar::I64);
        let floats = [f64::NEG_INFINITY, -1e300, -0.5, 0.0, 2.0, f64::INFINITY, f64::NAN].map(Scalar::F64);
        let small = floats.map(|x| if let Scalar::F64(x) = x { Scalar::F32(x as f32) } else { x });
        let bools = [false, true].map(Scalar::Bool);
        for &prim in Prim::ALL {
            for (t, values, ty) in [
                (ScalarType::I64, &ints[..], Type::I64),
                (ScalarType::F64, &floats[..], Type::F64),
                (ScalarType::F32, &small[..], Type::F32),
                (ScalarType::Bool, &bools[..], Type::Bool),
            ] {
                if !prim.class().contains(t) {
                    continue;
                }
                let choices: Vec<&[Scalar]> = prim
                    .args()
                    .iter()
                    .map(|kind| match kind {
                        ArgKind::T => values,
                        ArgKind::Int => &ints[..],
                        ArgKind::Bool => &bools[..],
                    })
                    .collect();
                let first = match prim.args()[0] {
                    ArgKind::T => &ty,
                    ArgKind::Int => &Type::I64,
                    ArgKind::Bool => &Type::Bool,
                };
                let mut mixtures = vec![Vec::new()];
                for values in choices {
                    mixtures =
                        mixtures.iter().flat_map(|m| values.iter().map(move |v| [&m[..], &[*v]].concat())).collect();
                }
                let fails = mixtures.iter().any(|args| prim.eval(args).is_err());
                assert!(!fails || prim_fails(prim, Some(first)), "{prim:?} on {ty:?} fails");
            }
        }
    }
}
