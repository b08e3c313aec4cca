//! Arrays of values that know their derivatives: parts, updates, stacking, products.
//!
//! In: arrays and subscripts that may be wrong. Out: parts, or what is wrong. Structure only; the arithmetic is elsewhere.

use super::tape::Tapes;
use super::value::{Arr, Val, array};
use crate::array::{At, Selection};
use crate::fault::Fault;

impl Arr {
    /// The part at these subscripts.
    pub fn part(&self, at: &[At]) -> Result<Val, Fault> {
        let selection = Selection::new(&self.shape, at)?;
        let shape = selection.shape();
        let offsets = selection.offsets(&self.shape);
        if shape.is_empty() {
            return Ok(self.data[offsets[0]].clone());
        }
        Ok(array(shape, offsets.into_iter().map(|o| self.data[o].clone()).collect()))
    }

    /// Replaces the part at these subscripts.
    pub fn set_part(&mut self, at: &[At], value: Val) -> Result<(), Fault> {
        if let ([At::One(i)], [n]) = (at, &self.shape[..])
            && *i >= 0
            && (*i as usize) < *n
        {
            self.data[*i as usize] = value;
            return Ok(());
        }
        let selection = Selection::new(&self.shape, at)?;
        let shape = selection.shape();
        let offsets = selection.offsets(&self.shape);
        if shape.is_empty() {
            self.data[offsets[0]] = value;
            return Ok(());
        }
        let Val::Array(part) = value else { unreachable!("a part with axes is an array") };
        if part.shape != shape {
            return Err(Fault::Shapes { left: shape, right: part.shape.clone(), what: "the part and its new value" });
        }
        for (o, v) in offsets.into_iter().zip(&part.data) {
            self.data[o] = v.clone();
        }
        Ok(())
    }

    fn width(&self) -> usize {
        self.shape[1..].iter().product()
    }

    /// Rows at these positions.
    pub fn gather(&self, positions: &[i64]) -> Result<Val, Fault> {
        let (rows, width) = (self.shape[0], self.width());
        let mut data = Vec::with_capacity(positions.len() * width);
        for p in positions {
            if *p < 0 || *p as usize >= rows {
                return Err(Fault::Index { index: *p, extent: rows, axis: 0, rank: self.shape.len() });
            }
            let from = *p as usize * width;
            data.extend_from_slice(&self.data[from..from + width]);
        }
        let mut shape = self.shape.clone();
        shape[0] = positions.len();
        Ok(array(shape, data))
    }

    /// Two arrays one after the other.
    pub fn concat(&self, other: &Arr) -> Result<Val, Fault> {
        if self.shape[1..] != other.shape[1..] {
            if self.shape[0] == 0 {
                return Ok(array(other.shape.clone(), other.data.clone()));
            }
            if other.shape[0] == 0 {
                return Ok(array(self.shape.clone(), self.data.clone()));
            }
            let (left, right) = (self.shape.clone(), other.shape.clone());
            return Err(Fault::Shapes { left, right, what: "the arrays to be joined" });
        }
        let mut shape = self.shape.clone();
        shape[0] += other.shape[0];
        Ok(array(shape, self.data.iter().chain(&other.data).cloned().collect()))
    }

    /// First two axes swapped.
    pub fn transpose(&self) -> Val {
        let (m, n) = (self.shape[0], self.shape[1]);
        let width: usize = self.shape[2..].iter().product();
        let mut data = Vec::with_capacity(self.data.len());
        for j in 0..n {
            for i in 0..m {
                let from = (i * n + j) * width;
                data.extend_from_slice(&self.data[from..from + width]);
            }
        }
        let mut shape = self.shape.clone();
        shape.swap(0, 1);
        array(shape, data)
    }
}

/// Collects elements, stacking them where they are arrays.
pub(super) struct Stack {
    shape: Vec<usize>,
    rank: usize,
    inner: Option<Vec<usize>>,
    data: Vec<Val>,
}

impl Stack {
    /// Room for elements with `rank` axes in this outer shape.
    pub fn new(shape: Vec<usize>, rank: usize) -> Stack {
        Stack { shape, rank, inner: None, data: Vec::new() }
    }

    /// Counts an element of a vector whose length is not known before.
    pub fn grow(&mut self) {
        self.shape[0] += 1;
    }

    /// Adds an element.
    pub fn push(&mut self, value: Val) -> Result<(), Fault> {
        if self.rank == 0 {
            self.data.push(value);
            return Ok(());
        }
        let Val::Array(part) = value else { unreachable!("{value:?} is not of the rank of its siblings") };
        match &self.inner {
            Some(inner) if *inner != part.shape => {
                let (left, right) = (inner.clone(), part.shape.clone());
                return Err(Fault::Shapes { left, right, what: "the rows" });
            }
            Some(_) => {}
            None => self.inner = Some(part.shape.clone()),
        }
        self.data.extend_from_slice(&part.data);
        Ok(())
    }

    /// The array.
    pub fn finish(self) -> Val {
        let mut shape = self.shape;
        shape.extend(self.inner.unwrap_or_else(|| vec![0; self.rank]));
        array(shape, self.data)
    }
}

impl Tapes {
    /// The matrix product; `zero` is that of the elements.
    pub fn matmul(&mut self, a: &Arr, b: &Arr, zero: &Val) -> Result<Val, Fault> {
        let (m, k, k2, n, shape) = match (&a.shape[..], &b.shape[..]) {
            ([m, k], [k2, n]) => (*m, *k, *k2, *n, vec![*m, *n]),
            ([m, k], [k2]) => (*m, *k, *k2, 1, vec![*m]),
            ([k], [k2, n]) => (1, *k, *k2, *n, vec![*n]),
            _ => unreachable!("ranks are checked before"),
        };
        if k != k2 {
            let (left, right) = (a.shape.clone(), b.shape.clone());
            return Err(Fault::Shapes { left, right, what: "the inner extents of a matrix product" });
        }
        let columns: Vec<Vec<Val>> = (0..n).map(|j| (0..k).map(|l| b.data[l * n + j].clone()).collect()).collect();
        let mut data = Vec::with_capacity(m * n);
        for i in 0..m {
            for column in &columns {
                data.push(self.inner(&a.data[i * k..(i + 1) * k], column, zero)?);
            }
        }
        Ok(array(shape, data))
    }

    /// A primitive on every element.
    pub fn map(&mut self, prim: cotan_prim::Prim, args: &[Val]) -> Result<Val, Fault> {
        let mut shape: Option<&Vec<usize>> = None;
        for a in args {
            if let Val::Array(a) = a {
                match shape {
                    Some(s) if *s != a.shape => {
                        let (left, right) = (s.clone(), a.shape.clone());
                        let what = "arrays that are combined element by element";
                        return Err(Fault::Shapes { left, right, what });
                    }
                    _ => shape = Some(&a.shape),
                }
            }
        }
        let Some(shape) = shape.cloned() else { return self.apply(prim, args) };
        let n: usize = shape.iter().product();
        let mut data = Vec::with_capacity(n);
        for i in 0..n {
            let items: smallvec::SmallVec<[Val; 3]> = args
                .iter()
                .map(|a| match a {
                    Val::Array(a) => a.data[i].clone(),
                    other => other.clone(),
                })
                .collect();
            data.push(self.apply(prim, &items)?);
        }
        Ok(array(shape, data))
    }
}

/// Whether two values without functions are the same.
pub(super) fn equal(a: &Val, b: &Val) -> bool {
    let all = |x: &[Val], y: &[Val]| x.len() == y.len() && x.iter().zip(y).all(|(a, b)| equal(a, b));
    match (a.plain(), b.plain()) {
        (Val::F64(x), Val::F64(y)) => x == y,
        (Val::F32(x), Val::F32(y)) => x == y,
        (Val::I64(x), Val::I64(y)) => x == y,
        (Val::Bool(x), Val::Bool(y)) => x == y,
        (Val::Str(x), Val::Str(y)) => x == y,
        (Val::Tuple(x), Val::Tuple(y)) => all(x, y),
        (Val::Adt(x), Val::Adt(y)) => x.variant == y.variant && all(&x.fields, &y.fields),
        (Val::Fn(x), Val::Fn(y)) => x.code == y.code && all(&x.captures, &y.captures),
        (Val::Array(x), Val::Array(y)) => x.shape == y.shape && all(&x.data, &y.data),
        (Val::Unit, Val::Unit) => true,
        _ => false,
    }
}

fn as_f64(v: &Val) -> f64 {
    match v.plain() {
        Val::F64(x) => *x,
        Val::F32(x) => f64::from(*x),
        Val::I64(i) => *i as f64,
        other => unreachable!("{other:?} is no number"),
    }
}

/// The position of the first largest or smallest element.
pub(super) fn arg_reduce(max: bool, a: &Arr) -> Result<Val, Fault> {
    if a.data.is_empty() {
        return Err(Fault::Empty(if max { "maximum" } else { "minimum" }));
    }
    let mut best = 0;
    for i in 1..a.data.len() {
        let better = match (a.data[i].plain(), a.data[best].plain()) {
            (Val::I64(x), Val::I64(y)) => {
                if max {
                    x > y
                } else {
                    x < y
                }
            }
            (x, y) => {
                let (x, y) = (as_f64(x), as_f64(y));
                (max && x > y) || (!max && x < y) || (x.is_nan() && !y.is_nan())
            }
        };
        if better {
            best = i;
        }
    }
    Ok(Val::I64(best as i64))
}

/// The stable ascending permutation, NaN last.
pub(super) fn argsort(a: &Arr) -> Val {
    let mut order: Vec<usize> = (0..a.data.len()).collect();
    order.sort_by(|i, j| match (a.data[*i].plain(), a.data[*j].plain()) {
        (Val::I64(x), Val::I64(y)) => x.cmp(y),
        (x, y) => {
            let (x, y) = (as_f64(x), as_f64(y));
            x.partial_cmp(&y).unwrap_or_else(|| x.is_nan().cmp(&y.is_nan()))
        }
    });
    array(vec![order.len()], order.into_iter().map(|i| Val::I64(i as i64)).collect())
}
