//! Where the first NaN and the first infinity come from.
//!
//! In: operations as they run. Out: [`Sighting`]s: the first operation of arithmetic that made a NaN (an infinity) of operands
//! that held neither. Newly true: nothing; the run goes on.

use super::{Machine, Res};
use crate::array::Data;
use crate::code::CStmt;
use crate::fmt::text;
use crate::prims;
use crate::value::Value;
use cotan_ir::Op;
use cotan_source::{Idx, Span};

/// An operation that made a number that is not finite.
#[derive(Clone, Debug)]
pub struct Sighting {
    /// The user's line.
    pub span: Span,
    /// The operation.
    pub operation: &'static str,
    /// Its operands.
    pub operands: Vec<String>,
    /// What it gave.
    pub result: String,
    /// Whether it ran on the way back.
    pub backward: bool,
}

/// What was seen so far.
#[derive(Clone, Debug, Default)]
pub struct Watch {
    /// The first NaN.
    pub nan: Option<Sighting>,
    /// The first infinity.
    pub infinity: Option<Sighting>,
}

/// Numbers of a value that are not finite.
#[derive(Clone, Copy, Default)]
struct Odd {
    nan: bool,
    infinity: bool,
}

/// The name of an operation that computes numbers; others only move them.
pub(super) fn arithmetic(op: &Op) -> Option<&'static str> {
    Some(match op {
        Op::Prim(prim, _) | Op::Map(prim, _) => prim.name(),
        Op::Reduce(..) => "a reduction",
        Op::MatMul(..) => "a matrix product",
        Op::SpaceAdd(..) => "a sum of tangents",
        Op::SpaceScale(..) => "a multiple of a tangent",
        Op::SpaceDot(..) => "an inner product",
        Op::Move(..) => "move",
        _ => return None,
    })
}

impl Machine {
    /// From here on, numbers that are not finite are looked out for.
    pub fn watch(&mut self) {
        self.watch = Some(Box::default());
        // Arithmetic is compiled in the form that can be watched.
        self.codes.clear();
    }

    /// What was seen.
    pub fn seen(&self) -> Option<&Watch> {
        self.watch.as_deref()
    }

    /// Runs an operation of arithmetic and looks at what it gives.
    #[cold]
    pub(super) fn watched(&mut self, op: &Op, name: &'static str, s: &CStmt, base: usize) -> Res<()> {
        let operands: Vec<Value> = op.atoms().into_iter().map(|a| self.atom(a, base)).collect();
        if let Op::Prim(prim, args) = op {
            let args = self.take(args, &s.kill, base);
            let y = prims::apply(*prim, &args).map_err(|f| f.at(&self.program, s.span))?;
            self.put(&s.vars, smallvec::smallvec![y], base);
        } else {
            self.leaf(op, s, base)?;
        }
        let result = s.vars.first().map(|v| self.stack[base + v.index()].clone()).unwrap_or(Value::Unit);
        let (before, after) = (operands.iter().fold(Odd::default(), |o, v| o.with(v)), Odd::default().with(&result));
        let first_nan = after.nan && !before.nan && self.watch.as_ref().is_some_and(|w| w.nan.is_none());
        let first_infinity = after.infinity
            && !before.nan
            && !before.infinity
            && self.watch.as_ref().is_some_and(|w| w.infinity.is_none());
        if first_nan || first_infinity {
            let sighting = Sighting {
                span: s.span,
                operation: name,
                operands: operands.iter().map(|v| text(&self.program, v, false)).collect(),
                result: text(&self.program, &result, false),
                backward: self.backward,
            };
            if let Some(watch) = &mut self.watch {
                if first_nan {
                    watch.nan = Some(sighting.clone());
                }
                if first_infinity {
                    watch.infinity = Some(sighting);
                }
            }
        }
        Ok(())
    }
}

impl Odd {
    fn number(&mut self, x: f64) {
        self.nan |= x.is_nan();
        self.infinity |= x.is_infinite();
    }

    fn with(mut self, value: &Value) -> Odd {
        match value {
            Value::F64(x) => self.number(*x),
            Value::F32(x) => self.number(f64::from(*x)),
            Value::Tuple(parts) => return parts.iter().fold(self, |o, v| o.with(v)),
            Value::Adt(a) => return a.fields.iter().fold(self, |o, v| o.with(v)),
            Value::Fn(f) => return f.captures.iter().fold(self, |o, v| o.with(v)),
            Value::Array(a) => match &a.data {
                Data::F64(v) => v.iter().for_each(|x| self.number(*x)),
                Data::F32(v) => v.iter().for_each(|x| self.number(f64::from(*x))),
                Data::I64(_) | Data::Bool(_) => {}
                Data::Any(v) => return v.iter().fold(self, |o, v| o.with(v)),
            },
            Value::Unit
            | Value::I64(_)
            | Value::Bool(_)
            | Value::Str(_)
            | Value::Residual(_)
            | Value::Zero
            | Value::Acc(_) => {}
        }
        self
    }
}
