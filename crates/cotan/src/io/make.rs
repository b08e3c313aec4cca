//! Values for the evaluator.
//!
//! In: numbers, texts, parts. Out: values. Newly true: with [`view`](super::view) this is the only place that knows how the
//! evaluator stores things.

use super::view::{View, view};
use crate::value::Value;
use cotan_interp::value::{AdtValue, Array};
use cotan_ir::AdtId;
use std::rc::Rc;

pub use cotan_interp::value::Data as Elements;

/// A binary64.
pub fn float(x: f64) -> Value {
    Value::F64(x)
}

/// A binary32.
pub fn float32(x: f32) -> Value {
    Value::F32(x)
}

/// An integer.
pub fn int(n: i64) -> Value {
    Value::I64(n)
}

/// A truth value.
pub fn bool(b: bool) -> Value {
    Value::Bool(b)
}

/// A text.
pub fn string(text: &str) -> Value {
    Value::Str(Rc::new(text.to_string()))
}

/// `()`.
pub fn unit() -> Value {
    Value::Unit
}

/// A tuple.
pub fn tuple(parts: Vec<Value>) -> Value {
    if parts.is_empty() { Value::Unit } else { Value::Tuple(Rc::new(parts)) }
}

/// A structure or variant.
pub fn adt(adt: AdtId, variant: u32, fields: Vec<Value>) -> Value {
    Value::Adt(Rc::new(AdtValue { adt, variant, fields }))
}

/// An array.
pub fn array(shape: Vec<usize>, data: Elements) -> Value {
    Value::Array(Rc::new(Array { shape, data }))
}

/// The integer that a value is.
pub fn as_int(value: &Value) -> Option<i64> {
    match view(value) {
        View::I64(n) => Some(n),
        _ => None,
    }
}

/// The extent of an array along an axis.
pub fn extent(value: &Value, axis: usize) -> Option<i64> {
    match view(value) {
        View::Array(shape, _) => shape.get(axis).map(|n| *n as i64),
        _ => None,
    }
}

/// The part of a value behind fields and components.
pub fn part<'v>(value: &'v Value, path: &[usize]) -> Option<&'v Value> {
    path.iter().try_fold(value, |value, i| match view(value) {
        View::Tuple(parts) | View::Adt(_, _, parts) => parts.get(*i),
        _ => None,
    })
}
