//! From one extension of the IR to another.
//!
//! In: an operation that is no operator of differentiation. Out: the same operation in a program of another extension, its blocks
//! converted by the caller.

use crate::{Block, Op, Operator};

/// The operation with its blocks converted by `block`.
///
/// # Panics
/// For [`Op::Ad`]: the caller removes these before.
pub fn visit_convert<A: Operator, B>(op: &Op<A>, block: &mut dyn FnMut(&Block<A>) -> Block<B>) -> Op<B> {
    match op.clone() {
        Op::If { cond, then, otherwise } => Op::If { cond, then: block(&then), otherwise: block(&otherwise) },
        Op::Switch { on, arms, default } => Op::Switch {
            on,
            arms: arms.iter().map(|(v, b)| (*v, block(b))).collect(),
            default: default.as_ref().map(block),
        },
        Op::For { count, index, state, init, body } => Op::For { count, index, state, init, body: block(&body) },
        Op::While { state, init, cond, body } => Op::While { state, init, cond: block(&cond), body: block(&body) },
        Op::Build { extents, indices, body } => Op::Build { extents, indices, body: block(&body) },
        Op::Ad(op) => panic!("{op:?} is removed before the conversion"),
        Op::Copy(a) => Op::Copy(a),
        Op::Prim(p, args) => Op::Prim(p, args),
        Op::Map(p, args) => Op::Map(p, args),
        Op::Tuple(parts) => Op::Tuple(parts),
        Op::Proj(a, i) => Op::Proj(a, i),
        Op::Adt { adt, variant, fields } => Op::Adt { adt, variant, fields },
        Op::Field { base, variant, index } => Op::Field { base, variant, index },
        Op::Closure { code, captures } => Op::Closure { code, captures },
        Op::Capture { base, code, index } => Op::Capture { base, code, index },
        Op::Call { func, args } => Op::Call { func, args },
        Op::Dispatch { on, path, args } => Op::Dispatch { on, path, args },
        Op::Attach { forward, f, rule } => Op::Attach { forward, f, rule },
        Op::Array(parts) => Op::Array(parts),
        Op::Fill { extents, value } => Op::Fill { extents, value },
        Op::Index { array, at } => Op::Index { array, at },
        Op::Slice { array, subs } => Op::Slice { array, subs },
        Op::Update { array, subs, value } => Op::Update { array, subs, value },
        Op::Dim { array, axis } => Op::Dim { array, axis },
        Op::Reduce(op, a) => Op::Reduce(op, a),
        Op::ArgReduce { max, array } => Op::ArgReduce { max, array },
        Op::Argsort(a) => Op::Argsort(a),
        Op::Gather { array, positions } => Op::Gather { array, positions },
        Op::ScatterAdd { base, positions, values } => Op::ScatterAdd { base, positions, values },
        Op::Concat(a, b) => Op::Concat(a, b),
        Op::Transpose(a) => Op::Transpose(a),
        Op::MatMul(a, b) => Op::MatMul(a, b),
        Op::SpaceAdd(a, b) => Op::SpaceAdd(a, b),
        Op::SpaceNeg(a) => Op::SpaceNeg(a),
        Op::SpaceScale(s, a) => Op::SpaceScale(s, a),
        Op::SpaceDot(a, b) => Op::SpaceDot(a, b),
        Op::ZeroLike(a) => Op::ZeroLike(a),
        Op::Move(x, dx) => Op::Move(x, dx),
        Op::Inspect(what, args) => Op::Inspect(what, args),
        Op::Zero => Op::Zero,
        Op::Densify { tan, like } => Op::Densify { tan, like },
        Op::Spread { tan, extents } => Op::Spread { tan, extents },
        Op::Sparse(a) => Op::Sparse(a),
        Op::TanPart { tan, step } => Op::TanPart { tan, step },
        Op::TanAdt { adt, variant, fields } => Op::TanAdt { adt, variant, fields },
        Op::TanClosure { code, captures } => Op::TanClosure { code, captures },
        Op::TanUpdate { tan, subs, extents, value } => Op::TanUpdate { tan, subs, extents, value },
        Op::AccNew(start) => Op::AccNew(start),
        Op::AccNull => Op::AccNull,
        Op::AccPart { acc, step } => Op::AccPart { acc, step },
        Op::AccAdd { acc, value } => Op::AccAdd { acc, value },
        Op::AccTake(acc) => Op::AccTake(acc),
        Op::Equal(a, b) => Op::Equal(a, b),
        Op::ToStr(a) => Op::ToStr(a),
        Op::StrConcat(a, b) => Op::StrConcat(a, b),
        Op::StopGradient(a) => Op::StopGradient(a),
        Op::Probe { label, value, backward } => Op::Probe { label, value, backward },
        Op::Assert { cond, message } => Op::Assert { cond, message },
        Op::Panic(a) => Op::Panic(a),
        Op::CheckSize { actual, expected, what, size } => Op::CheckSize { actual, expected, what, size },
        Op::Effect(effect, args) => Op::Effect(effect, args),
    }
}
