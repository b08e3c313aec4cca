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
