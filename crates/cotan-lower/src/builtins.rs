//! The builtins: operations of the compiler that the library declares by `@builtin("name")`.
//!
//! In: a name. Out: what it is lowered to. A name of the library that is not in this table is an internal error, which
//! a test finds.

use crate::frame::{Frame, unit};
use cotan_ir::{AdOp, Atom, Deriv, Effect, Inspect, Op, ReduceOp, TypeId};
use cotan_prim::Prim;

/// A builtin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Builtin {
    /// A scalar operation.
    Prim(Prim),
    /// The length of the first axis.
    Len,
    /// A reduction.
    Reduce(ReduceOp),
    /// The position of the largest (`true`) or smallest element.
    ArgReduce(bool),
    /// The permutation that sorts.
    Argsort,
    /// Two arrays one after the other.
    Concat,
    /// The first two axes swapped.
    Transposed,
    /// Forward mode.
    Jvp,
    /// Reverse mode.
    Vjp,
    /// Reverse mode, with the cotangent of the function.
    Pullback,
    /// A function value with a rule, of forward mode (`true`) or reverse mode.
    With(bool),
    /// The value, without derivative.
    StopGradient,
    /// The zero of the tangent space at a point.
    ZeroLike,
    /// A point along a tangent.
    Move,
    /// A question about the leaves of a value.
    Inspect(Inspect),
    /// A function applied without its rule.
    CallBody,
    /// Each float brought between two bounds.
    ClampLeaves,
    /// The inner product.
    Dot,
    /// The value, shown.
    Probe,
    /// The value as text.
    Str,
    /// The end of the run.
    Panic,
    /// The end of the run unless a condition holds.
    Assert,
    /// A report to the outside.
    Effect(Effect),
}

impl Builtin {
    /// The builtin of a name.
    pub fn from_name(name: &str) -> Option<Builtin> {
        Some(match name {
            "len" => Builtin::Len,
            "sum" => Builtin::Reduce(ReduceOp::Sum),
            "product" => Builtin::Reduce(ReduceOp::Product),
            "maximum" => Builtin::Reduce(ReduceOp::Max),
            "minimum" => Builtin::Reduce(ReduceOp::Min),
            "argmax" => Builtin::ArgReduce(true),
            "argmin" => Builtin::ArgReduce(false),
            "argsort" => Builtin::Argsort,
            "concat" => Builtin::Concat,
            "transposed" => Builtin::Transposed,
            "jvp" => Builtin::Jvp,
            "vjp" => Builtin::Vjp,
            "pullback" => Builtin::Pullback,
            "with_vjp" => Builtin::With(false),
            "with_jvp" => Builtin::With(true),
            "stop_gradient" => Builtin::StopGradient,
            "zero_like" => Builtin::ZeroLike,
            "move" => Builtin::Move,
            "leaf_numbers" => Builtin::Inspect(Inspect::LeafNumbers),
            "leaf_name" => Builtin::Inspect(Inspect::LeafName),
            "tangent_from" => Builtin::Inspect(Inspect::TangentFrom),
            "compare" => Builtin::Inspect(Inspect::Compare),
            "call_body" => Builtin::CallBody,
            "clamp_leaves" => Builtin::ClampLeaves,
            "dot" => Builtin::Dot,
            "probe" => Builtin::Probe,
            "str" => Builtin::Str,
            "panic" => Builtin::Panic,
            "assert" => Builtin::Assert,
            "progress" => Builtin::Effect(Effect::Progress),
            "write_text" => Builtin::Effect(Effect::WriteText),
            // The scalar operations are called what the table of primitives calls them.
            _ => Builtin::Prim(Prim::from_name(name)?),
        })
    }
}

impl Frame<'_, '_> {
    /// A builtin applied to its arguments; `ty` is the type of the result.
    pub fn builtin(&mut self, builtin: Builtin, args: Vec<Atom>, ty: TypeId) -> Atom {
        let mut args = args.into_iter();
        let mut next = || args.next().expect("the checker counted the arguments");
        match builtin {
            Builtin::Prim(prim) => self.emit(Op::Prim(prim, args.collect())),
            Builtin::Len => self.emit(Op::Dim { array: next(), axis: 0 }),
            Builtin::Reduce(op) => self.emit(Op::Reduce(op, next())),
            Builtin::ArgReduce(max) => self.emit(Op::ArgReduce { max, array: next() }),
            Builtin::Argsort => self.emit(Op::Argsort(next())),
            Builtin::Concat => self.emit(Op::Concat(next(), next())),
            Builtin::Transposed => self.emit(Op::Transpose(next())),
            Builtin::Jvp => self.emit_as(Op::Ad(AdOp::Jvp { f: next(), x: next(), dx: next() }), ty),
            Builtin::Vjp => self.emit_as(Op::Ad(AdOp::Vjp { f: next(), x: next() }), ty),
            Builtin::Pullback => self.emit_as(Op::Ad(AdOp::Pullback { f: next(), x: next() }), ty),
            Builtin::With(forward) => self.emit(Op::Attach { forward, f: next(), rule: next() }),
            Builtin::StopGradient => self.emit(Op::StopGradient(next())),
            Builtin::ZeroLike => self.emit_as(Op::ZeroLike(next()), ty),
            Builtin::Move => self.emit(Op::Move(next(), next())),
            Builtin::Inspect(what) => self.emit_as(Op::Inspect(what, args.collect()), ty),
            Builtin::CallBody => self.emit(Op::Dispatch { on: next(), path: vec![Deriv::Body], args: vec![next()] }),
            Builtin::ClampLeaves => self.clamp_leaves(next(), next(), next()),
            Builtin::Dot => self.emit(Op::SpaceDot(next(), next())),
            Builtin::Probe => self.emit(Op::Probe { label: next(), value: next(), backward: false }),
            Builtin::Str => self.emit(Op::ToStr(next())),
            Builtin::Panic => self.emit_as(Op::Panic(next()), ty),
            Builtin::Assert => {
                self.b.emit0(Op::Assert { cond: next(), message: next() });
                unit()
            }
            Builtin::Effect(effect) => {
                self.b.emit0(Op::Effect(effect, args.collect()));
                unit()
            }
        }
    }
}
