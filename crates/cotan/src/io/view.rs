//! Values as readers of them want them.
//!
//! In: a value of the evaluator. Out: a [`View`], one level deep. Newly true: the rest of this crate does not know how the
//! evaluator stores things.

use super::make::Elements;
use crate::value::Value;
use cotan_ir::{AdtId, FnId};

/// One level of a value.
pub enum View<'v> {
    /// A binary64.
    F64(f64),
    /// A binary32.
    F32(f32),
    /// An integer.
    I64(i64),
    /// A truth value.
    Bool(bool),
    /// A text.
    Str(&'v str),
    /// A tuple.
    Tuple(&'v [Value]),
    /// A structure or variant, or the tangent of one.
    Adt(AdtId, u32, &'v [Value]),
    /// A closure, or the tangent of one.
    Closure(FnId, &'v [Value]),
    /// An array: extents and elements.
    Array(&'v [usize], &'v Elements),
    /// A sparse zero, an accumulator, a residual: nothing that has a notation.
    Other,
}

/// One level of a value.
pub fn view(value: &Value) -> View<'_> {
    match value {
        Value::Unit => View::Tuple(&[]),
        Value::F64(x) => View::F64(*x),
        Value::F32(x) => View::F32(*x),
        Value::I64(n) => View::I64(*n),
        Value::Bool(b) => View::Bool(*b),
        Value::Str(text) => View::Str(text),
        Value::Tuple(parts) => View::Tuple(parts),
        Value::Adt(a) => View::Adt(a.adt, a.variant, &a.fields),
        Value::Fn(f) => View::Closure(f.code, &f.captures),
        Value::Array(a) => View::Array(&a.shape, &a.data),
        Value::Residual(_) | Value::Zero | Value::Acc(_) => View::Other,
    }
}
