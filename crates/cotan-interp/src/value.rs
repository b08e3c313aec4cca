//! Values at run time.
//!
//! In: nothing. Out: [`Value`], one word of data beside its kind; everything larger is shared by reference count. No cycles can be made, so
//! counting is enough, and a count of one means that a value may be changed in place.

use cotan_ir::{AdtId, FnId};
use std::cell::RefCell;
use std::rc::Rc;

/// A value.
#[derive(Clone, Debug)]
pub enum Value {
    /// `()`; also the content of an empty slot.
    Unit,
    /// binary64.
    F64(f64),
    /// binary32.
    F32(f32),
    /// Integer.
    I64(i64),
    /// Truth value.
    Bool(bool),
    /// Text.
    Str(Rc<String>),
    /// A tuple of two or more.
    Tuple(Rc<Vec<Value>>),
    /// A structure, variant or residual, or the sparse tangent of one.
    Adt(Rc<AdtValue>),
    /// An array.
    Array(Rc<Array>),
    /// A function value, or the sparse tangent of one.
    Fn(Rc<Closure>),
    /// What a forward part of an unknown function kept.
    Residual(Rc<ResidualValue>),
    /// The sparse zero of any tangent space that is not made of floats and tuples.
    Zero,
    /// An accumulator.
    Acc(AccRef),
}

/// The payload of a nominal type.
#[derive(Clone, Debug)]
pub struct AdtValue {
    /// Type.
    pub adt: AdtId,
    /// Variant.
    pub variant: u32,
    /// Fields.
    pub fields: Vec<Value>,
}

/// A function value.
#[derive(Clone, Debug)]
pub struct Closure {
    /// Code.
    pub code: FnId,
    /// Captured values (of a tangent: their tangents).
    pub captures: Vec<Value>,
    /// Whether it is a function with an attached rule, or a tangent of one: the captures are the function and the rule.
    pub attached: bool,
}

impl Closure {
    /// A function value, or tangent, of the same code.
    pub(crate) fn with(&self, captures: Vec<Value>) -> Value {
        Value::Fn(Rc::new(Closure { code: self.code, captures, attached: self.attached }))
    }
}

/// A residual and whose it is.
#[derive(Clone, Debug)]
pub struct ResidualValue {
    /// The function whose forward part made it.
    pub function: FnId,
    /// What it made.
    pub payload: Value,
}

/// A rectangular array, row by row.
#[derive(Clone, Debug)]
pub struct Array {
    /// Extents.
    pub shape: Vec<usize>,
    /// Elements.
    pub data: Data,
}

/// The elements of an array.
#[derive(Clone, Debug)]
pub enum Data {
    /// binary64.
    F64(Vec<f64>),
    /// binary32.
    F32(Vec<f32>),
    /// Integers.
    I64(Vec<i64>),
    /// Truth values.
    Bool(Vec<bool>),
    /// Anything else.
    Any(Vec<Value>),
}

/// A shared accumulator cell.
pub type AccRef = Option<Rc<RefCell<crate::acc::Cell>>>;

impl Drop for AdtValue {
    fn drop(&mut self) {
        dismantle(&mut self.fields);
    }
}

impl Drop for Closure {
    fn drop(&mut self) {
        dismantle(&mut self.captures);
    }
}

/// Values inside a value that nobody else holds.
fn own_parts(v: &mut Value) -> Option<&mut Vec<Value>> {
    match v {
        Value::Tuple(parts) => Rc::get_mut(parts),
        Value::Adt(a) => Rc::get_mut(a).map(|a| &mut a.fields),
        Value::Fn(f) => Rc::get_mut(f).map(|f| &mut f.captures),
        Value::Array(a) => match Rc::get_mut(a).map(|a| &mut a.data) {
            Some(Data::Any(parts)) => Some(parts),
            _ => None,
        },
        Value::Residual(r) => Rc::get_mut(r).and_then(|r| own_parts(&mut r.payload)),
        Value::Unit
        | Value::F64(_)
        | Value::F32(_)
        | Value::I64(_)
        | Value::Bool(_)
        | Value::Str(_)
        | Value::Zero
        | Value::Acc(_) => None,
    }
}

fn has_parts(v: &Value) -> bool {
    match v {
        Value::Tuple(_) | Value::Adt(_) | Value::Fn(_) | Value::Residual(_) => true,
        Value::Array(a) => matches!(a.data, Data::Any(_)),
        _ => false,
    }
}

/// Takes apart what is nested deeply, such as a list of a million elements, whose drop would recurse as often.
fn dismantle(parts: &mut [Value]) {
    let mut work: Vec<Value> = Vec::new();
    let collect = |parts: &mut [Value], work: &mut Vec<Value>| {
        for v in parts {
            if has_parts(v) && own_parts(v).is_some_and(|inner| inner.iter().any(has_parts)) {
                work.push(std::mem::replace(v, Value::Unit));
            }
        }
    };
    collect(parts, &mut work);
    while let Some(mut v) = work.pop() {
        if let Some(inner) = own_parts(&mut v) {
            collect(inner, &mut work);
        }
    }
}
