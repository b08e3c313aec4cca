//! Arrays: parts, updates, stacking.
//!
//! In: arrays and subscripts that may be wrong. Out: parts, or what is wrong as a [`Fault`] (the place is added by the machine).

use crate::fault::Fault;
pub use crate::value::Data;
use crate::value::{Array, Value};
use std::rc::Rc;

/// Runs the same code over each kind of element.
macro_rules! each_data {
    ($data:expr, $v:ident => $body:expr) => {
        match $data {
            Data::F64($v) => Data::F64($body),
            Data::F32($v) => Data::F32($body),
            Data::I64($v) => Data::I64($body),
            Data::Bool($v) => Data::Bool($body),
            Data::Any($v) => Data::Any($body),
        }
    };
}

impl Data {
    /// How many elements.
    pub fn len(&self) -> usize {
        match self {
            Data::F64(v) => v.len(),
            Data::F32(v) => v.len(),
            Data::I64(v) => v.len(),
            Data::Bool(v) => v.len(),
            Data::Any(v) => v.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// An element.
    pub fn get(&self, i: usize) -> Value {
        match self {
            Data::F64(v) => Value::F64(v[i]),
            Data::F32(v) => Value::F32(v[i]),
            Data::I64(v) => Value::I64(v[i]),
            Data::Bool(v) => Value::Bool(v[i]),
            Data::Any(v) => v[i].clone(),
        }
    }

    /// Replaces an element; elements of another kind make the data general.
    pub fn set(&mut self, i: usize, value: Value) {
        match (&mut *self, value) {
            (Data::F64(v), Value::F64(x)) => v[i] = x,
            (Data::F32(v), Value::F32(x)) => v[i] = x,
            (Data::I64(v), Value::I64(x)) => v[i] = x,
            (Data::Bool(v), Value::Bool(x)) => v[i] = x,
            (Data::Any(v), x) => v[i] = x,
            (_, x) => {
                let mut all = self.to_values();
                all[i] = x;
                *self = Data::Any(all);
            }
        }
    }

    /// Appends an element; the first one decides the kind.
    pub fn push(&mut self, value: Value) {
        match (&mut *self, value) {
            (Data::F64(v), Value::F64(x)) => v.push(x),
            (Data::F32(v), Value::F32(x)) => v.push(x),
            (Data::I64(v), Value::I64(x)) => v.push(x),
            (Data::Bool(v), Value::Bool(x)) => v.push(x),
            (Data::Any(v), x) if !v.is_empty() => v.push(x),
            (data, x) if data.is_empty() => *self = Data::of_one(x),
            (_, x) => {
                let mut all = self.to_values();
                all.push(x);
                *self = Data::Any(all);
            }
        }
    }

    /// One element.
    pub fn of_one(value: Value) -> Data {
        match value {
            Value::F64(x) => Data::F64(vec![x]),
            Value::F32(x) => Data::F32(vec![x]),
            Value::I64(x) => Data::I64(vec![x]),
            Value::Bool(x) => Data::Bool(vec![x]),
            x => Data::Any(vec![x]),
        }
    }

    /// Elements from values.
    pub fn from_values(values: impl IntoIterator<Item = Value>) -> Data {
        let mut data = Data::Any(Vec::new());
        values.into_iter().for_each(|v| data.push(v));
        data
    }

    /// `n` times the same element.
    pub fn fill(value: &Value, n: usize) -> Data {
        match value {
            Value::F64(x) => Data::F64(vec![*x; n]),
            Value::F32(x) => Data::F32(vec![*x; n]),
            Value::I64(x) => Data::I64(vec![*x; n]),
            Value::Bool(x) => Data::Bool(vec![*x; n]),
            x => Data::Any(vec![x.clone(); n]),
        }
    }

    /// All elements as values.
    pub fn to_values(&self) -> Vec<Value> {
        (0..self.len()).map(|i| self.get(i)).collect()
    }

    fn range(&self, from: usize, to: usize) -> Data {
        each_data!(self, v => v[from..to].to_vec())
    }

    /// A copy that can take so many more without moving.
    fn with_room(&self, more: usize) -> Data {
        each_data!(self, v => {
            let mut out = Vec::with_capacity(v.len() + more);
            out.extend_from_slice(v);
            out
        })
    }

    fn extend(&mut self, other: &Data) {
        match (&mut *self, other) {
            (Data::F64(v), Data::F64(w)) => v.extend_from_slice(w),
            (Data::F32(v), Data::F32(w)) => v.extend_from_slice(w),
            (Data::I64(v), Data::I64(w)) => v.extend_from_slice(w),
            (Data::Bool(v), Data::Bool(w)) => v.extend_from_slice(w),
            (Data::Any(v), Data::Any(w)) => v.extend_from_slice(w),
            (data, other) if data.is_empty() => *data = other.clone(),
            (_, other) => (0..other.len()).for_each(|i| self.push(other.get(i))),
        }
    }

    #[expect(clippy::clone_on_copy, reason = "one text for all kinds of elements")]
    fn pick(&self, offsets: impl Iterator<Item = usize>) -> Data {
        each_data!(self, v => offsets.map(|i| v[i].clone()).collect())
    }
}

/// A subscript whose operands are known.
#[derive(Clone, Copy, Debug)]
pub enum At {
    /// One position.
    One(i64),
    /// A range.
    Range(i64, i64),
}

/// The selected part of a shape: per axis first position, count, and whether the axis stays.
pub struct Selection {
    axes: Vec<(usize, usize, bool)>,
}

impl Selection {
    /// Checks subscripts against a shape.
    pub fn new(shape: &[usize], subs: &[At]) -> Result<Selection, Fault> {
        let mut axes = Vec::with_capacity(shape.len());
        for (axis, extent) in shape.iter().enumerate() {
            axes.push(match subs.get(axis) {
                None => (0, *extent, true),
                Some(At::One(i)) => {
                    if *i < 0 || *i as usize >= *extent {
                        return Err(Fault::Index { index: *i, extent: *extent, axis, rank: shape.len() });
                    }
                    (*i as usize, 1, false)
                }
                Some(At::Range(lo, hi)) => {
                    if *lo < 0 || lo > hi || *hi as usize > *extent {
                        return Err(Fault::Slice { lo: *lo, hi: *hi, extent: *extent, axis });
                    }
                    (*lo as usize, (*hi - *lo) as usize, true)
                }
            });
        }
        Ok(Selection { axes })
    }

    /// The shape of the part; empty for one element.
    pub fn shape(&self) -> Vec<usize> {
        self.axes.iter().filter(|a| a.2).map(|a| a.1).collect()
    }

    /// Offset and length where the part is one piece.
    fn piece(&self, shape: &[usize]) -> Option<(usize, usize)> {
        let (mut offset, mut stride) = (0, shape.iter().product::<usize>());
        let mut length = 1;
        let mut whole_from_here = false;
        for ((first, count, _), extent) in self.axes.iter().zip(shape) {
            if *extent == 0 {
                return Some((0, 0));
            }
            stride /= extent;
            offset += first * stride;
            if whole_from_here && count != extent {
                return None;
            }
            if *count != 1 {
                whole_from_here = true;
            }
            length *= count;
        }
        Some((offset, length))
    }

    /// Offsets of the elements, row by row.
    pub fn offsets(&self, shape: &[usize]) -> Vec<usize> {
        if let Some((offset, length)) = self.piece(shape) {
            return (offset..offset + length).collect();
        }
        let mut offsets = vec![0];
        let mut stride = shape.iter().product::<usize>();
        for ((first, count, _), extent) in self.axes.iter().zip(shape) {
            stride /= extent;
            offsets = offsets.into_iter().flat_map(|o| (0..*count).map(move |i| o + (first + i) * stride)).collect();
        }
        offsets
    }
}

impl Array {
    /// A vector.
    pub fn vector(data: Data) -> Array {
        Array { shape: vec![data.len()], data }
    }

    /// The part at these subscripts: an element or an array.
    pub fn part(&self, subs: &[At]) -> Result<Value, Fault> {
        // The common cases first: one element of a vector or matrix.
        match (subs, &self.shape[..]) {
            ([At::One(i)], [n]) if *i >= 0 && (*i as usize) < *n => return Ok(self.data.get(*i as usize)),
            ([At::One(i), At::One(j)], [m, n]) if *i >= 0 && (*i as usize) < *m && *j >= 0 && (*j as usize) < *n => {
                return Ok(self.data.get(*i as usize * n + *j as usize));
            }
            _ => {}
        }
        let selection = Selection::new(&self.shape, subs)?;
        let shape = selection.shape();
        match selection.piece(&self.shape) {
            Some((offset, _)) if shape.is_empty() => Ok(self.data.get(offset)),
            Some((offset, length)) => Ok(array(shape, self.data.range(offset, offset + length))),
            None => Ok(array(shape, self.data.pick(selection.offsets(&self.shape).into_iter()))),
        }
    }

    /// Replaces the part at these subscripts.
    pub fn set_part(&mut self, subs: &[At], value: Value) -> Result<(), Fault> {
        match (subs, &self.shape[..]) {
            ([At::One(i)], [n]) if *i >= 0 && (*i as usize) < *n => {
                self.data.set(*i as usize, value);
                return Ok(());
            }
            ([At::One(i), At::One(j)], [m, n]) if *i >= 0 && (*i as usize) < *m && *j >= 0 && (*j as usize) < *n => {
                self.data.set(*i as usize * n + *j as usize, value);
                return Ok(());
            }
            _ => {}
        }
        let selection = Selection::new(&self.shape, subs)?;
        let shape = selection.shape();
        let offsets = selection.offsets(&self.shape);
        if shape.is_empty() {
            self.data.set(offsets[0], value);
            return Ok(());
        }
        let Value::Array(part) = value else { unreachable!("a part with axes is an array") };
        if part.shape != shape {
            return Err(Fault::Shapes { left: shape, right: part.shape.clone(), what: "the part and its new value" });
        }
        for (k, offset) in offsets.into_iter().enumerate() {
            self.data.set(offset, part.data.get(k));
        }
        Ok(())
    }

    /// Rows at these positions.
    pub fn gather(&self, positions: &[i64]) -> Result<Array, Fault> {
        let rows = self.shape[0];
        let width: usize = self.shape[1..].iter().product();
        let mut offsets = Vec::with_capacity(positions.len() * width);
        for p in positions {
            if *p < 0 || *p as usize >= rows {
                return Err(Fault::Index { index: *p, extent: rows, axis: 0, rank: self.shape.len() });
            }
            offsets.extend((0..width).map(|k| *p as usize * width + k));
        }
        let mut shape = self.shape.clone();
        shape[0] = positions.len();
        Ok(Array { shape, data: self.data.pick(offsets.into_iter()) })
    }

    /// Two arrays one after the other.
    pub fn concat(&self, other: &Array) -> Result<Array, Fault> {
        if self.shape[1..] != other.shape[1..] {
            if self.shape[0] == 0 {
                return Ok(other.clone());
            }
            if other.shape[0] == 0 {
                return Ok(self.clone());
            }
            let (left, right) = (self.shape.clone(), other.shape.clone());
            return Err(Fault::Shapes { left, right, what: "the arrays to be joined" });
        }
        let mut shape = self.shape.clone();
        shape[0] += other.shape[0];
        let mut data = self.data.with_room(other.data.len());
        data.extend(&other.data);
        Ok(Array { shape, data })
    }

    /// First two axes swapped.
    pub fn transpose(&self) -> Array {
        let (m, n) = (self.shape[0], self.shape[1]);
        let width: usize = self.shape[2..].iter().product();
        let offsets = (0..n).flat_map(|j| (0..m).flat_map(move |i| (0..width).map(move |k| (i * n + j) * width + k)));
        let mut shape = self.shape.clone();
        shape.swap(0, 1);
        Array { shape, data: self.data.pick(offsets) }
    }
}

/// An array value.
pub fn array(shape: Vec<usize>, data: Data) -> Value {
    Value::Array(Rc::new(Array { shape, data }))
}

/// Collects elements, stacking them where they are arrays.
pub struct Stack {
    shape: Vec<usize>,
    inner: Option<Vec<usize>>,
    data: Data,
}

impl Stack {
    /// Room for elements in this outer shape; `inner_rank` is the number of axes of an element.
    pub fn new(shape: Vec<usize>, inner_rank: usize) -> Stack {
        let inner = if inner_rank == 0 { Some(Vec::new()) } else { None };
        Stack { shape, inner, data: Data::Any(Vec::new()) }
    }

    /// Adds an element.
    pub fn push(&mut self, value: Value) -> Result<(), Fault> {
        match (&self.inner, value) {
            (Some(inner), value) if inner.is_empty() => self.data.push(value),
            (inner, Value::Array(part)) => {
                if let Some(inner) = inner
                    && *inner != part.shape
                {
                    let (left, right) = (inner.clone(), part.shape.clone());
                    return Err(Fault::Shapes { left, right, what: "the rows" });
                }
                self.inner.get_or_insert_with(|| part.shape.clone());
                self.data.extend(&part.data);
            }
            (_, value) => unreachable!("{value:?} is not of the rank of its siblings"),
        }
        Ok(())
    }

    /// The array; `inner_rank` as before.
    pub fn finish(self, inner_rank: usize) -> Value {
        let mut shape = self.shape;
        shape.extend(self.inner.unwrap_or_else(|| vec![0; inner_rank]));
        array(shape, self.data)
    }
}
