//! Tangent spaces: sums, multiples, inner products, zeros.
//!
//! In: tangents, dense or with `Zero` for what is left out. Out: tangents.

use super::tape::{Tapes, dual};
use super::value::{Adt, Code, Val, along, array, differ, faces, function, map_floats};
use crate::fault::Fault;
use cotan_prim::{Prim, PrimError};
use std::rc::Rc;

/// The dense zero tangent of a value.
pub(super) fn zero_like(v: &Val) -> Val {
    along(v, None, true, &mut |x, _| Ok(x.float_zero())).expect("nothing can differ from nothing")
}

/// A tangent with its zeros filled in, shaped by the point.
pub(super) fn densify(d: &Val, like: &Val) -> Result<Val, Fault> {
    along(like, Some(d), true, &mut |x, d| Ok(d.cloned().unwrap_or_else(|| x.float_zero())))
}

/// The value as dual numbers.
pub(super) fn lift_dual(tag: u64, v: &Val, d: &Val) -> Result<Val, Fault> {
    along(v, Some(d), false, &mut |x, d| Ok(dual(tag, x.clone(), d.cloned().unwrap_or_else(|| x.float_zero()))))
}

/// The tangent at `tag`.
pub(super) fn tangent(tag: u64, v: &Val) -> Val {
    let out = along(v, None, true, &mut |x, _| Ok(x.dot(tag).cloned().unwrap_or_else(|| x.float_zero())));
    out.expect("nothing can differ from nothing")
}

/// The dense tangent with these leaves.
pub(super) fn tangent_from(v: &Val, numbers: &[Val]) -> Result<Val, Fault> {
    let mut at = 0;
    let v = &faces(v);
    let out = along(v, None, true, &mut |x, _| {
        let number = numbers.get(at).map_or(0.0, |n| match n.plain() {
            Val::F64(x) => *x,
            _ => 0.0,
        });
        at += 1;
        Ok(match x.float_zero() {
            Val::F32(_) => Val::F32(number as f32),
            _ => Val::F64(number),
        })
    });
    if at != numbers.len() {
        let what = "the numbers of a tangent and its leaves";
        return Err(Fault::Shapes { left: vec![numbers.len()], right: vec![at], what });
    }
    out
}

impl Tapes {
    /// The point along a tangent.
    pub fn move_along(&mut self, v: &Val, d: &Val) -> Result<Val, Fault> {
        along(v, Some(d), false, &mut |x, d| match d {
            None => Ok(x.clone()),
            Some(d) => self.apply(Prim::Add, &[x.clone(), d.clone()]),
        })
    }

    /// The sum.
    pub fn add(&mut self, a: Val, b: Val) -> Result<Val, Fault> {
        Ok(match (a, b) {
            (Val::Zero, x) | (x, Val::Zero) => x,
            (Val::Unit, _) | (_, Val::Unit) => Val::Unit,
            (Val::I64(x), Val::I64(y)) => Val::I64(x.checked_add(y).ok_or(Fault::Prim(PrimError::Overflow))?),
            (Val::Tuple(x), Val::Tuple(y)) => Val::Tuple(Rc::new(self.add_all(&x, &y)?)),
            (Val::Adt(x), Val::Adt(y)) if x.variant == y.variant => {
                let fields = self.add_all(&x.fields, &y.fields)?;
                Val::Adt(Rc::new(Adt { adt: x.adt, variant: x.variant, fields }))
            }
            (Val::Fn(x), Val::Fn(y)) if x.code == y.code => {
                function(x.code.clone(), self.add_all(&x.captures, &y.captures)?)
            }
            (Val::Fn(x), other @ Val::Fn(_)) | (other @ Val::Fn(_), Val::Fn(x)) if is_attached(&x) => {
                let face = self.add(x.captures[0].clone(), other)?;
                function(x.code.clone(), vec![face, x.captures[1].clone()])
            }
            (Val::Array(mut x), Val::Array(y)) => {
                if x.shape != y.shape {
                    let (left, right) = (x.shape.clone(), y.shape.clone());
                    return Err(Fault::Shapes { left, right, what: "two tangents that are added" });
                }
                for (a, b) in Rc::make_mut(&mut x).data.iter_mut().zip(&y.data) {
                    *a = self.add(std::mem::replace(a, Val::Zero), b.clone())?;
                }
                Val::Array(x)
            }
            (x, y) if x.is_float() && y.is_float() => self.apply(Prim::Add, &[x, y])?,
            (x, y) => return Err(differ(&x, &y)),
        })
    }

    fn add_all(&mut self, x: &[Val], y: &[Val]) -> Result<Vec<Val>, Fault> {
        x.iter().zip(y).map(|(a, b)| self.add(a.clone(), b.clone())).collect()
    }

    /// The negative.
    pub fn negate(&mut self, v: &Val) -> Result<Val, Fault> {
        self.try_map(v, &mut |tapes, x| tapes.apply(Prim::Neg, std::slice::from_ref(x)))
    }

    /// A multiple.
    pub fn scale(&mut self, c: &Val, v: &Val) -> Result<Val, Fault> {
        self.try_map(v, &mut |tapes, x| match (c.plain(), x.plain()) {
            (Val::F64(_), Val::F64(_)) | (Val::F32(_), Val::F32(_)) => tapes.apply(Prim::Mul, &[c.clone(), x.clone()]),
            // Of different kinds: computed in binary64.
            (_, x_plain) => {
                let wide = [c, x].map(|v| tapes.apply(Prim::ToFloat, std::slice::from_ref(v)));
                let [c, y] = wide;
                let product = tapes.apply(Prim::Mul, &[c?, y?])?;
                match x_plain {
                    Val::F32(_) => tapes.apply(Prim::ToFloat32, &[product]),
                    _ => Ok(product),
                }
            }
        })
    }

    fn try_map(&mut self, v: &Val, f: &mut dyn FnMut(&mut Tapes, &Val) -> Result<Val, Fault>) -> Result<Val, Fault> {
        let mut fault = None;
        let out = map_floats(v, &mut |x| match f(self, x) {
            Ok(y) => Some(y),
            Err(e) => {
                fault.get_or_insert(e);
                None
            }
        });
        fault.map_or(Ok(out), Err)
    }

    /// The inner product.
    pub fn dot(&mut self, a: &Val, b: &Val) -> Result<Val, Fault> {
        match (a, b) {
            (Val::Tuple(x), Val::Tuple(y)) => self.dot_all(x, y),
            (Val::Adt(x), Val::Adt(y)) if x.variant == y.variant => self.dot_all(&x.fields, &y.fields),
            (Val::Fn(x), Val::Fn(y)) if x.code == y.code => self.dot_all(&x.captures, &y.captures),
            (Val::Fn(x), other @ Val::Fn(_)) | (other @ Val::Fn(_), Val::Fn(x)) if is_attached(x) => {
                self.dot(&x.captures[0], other)
            }
            (Val::Array(x), Val::Array(y)) => {
                if x.shape != y.shape {
                    let (left, right) = (x.shape.clone(), y.shape.clone());
                    return Err(Fault::Shapes { left, right, what: "the two sides of an inner product" });
                }
                if let (Some(Val::F64(_)), Some(Val::F64(_))) =
                    (x.data.first().map(Val::plain), y.data.first().map(Val::plain))
                {
                    let mut products = Vec::with_capacity(x.data.len());
                    for (a, b) in x.data.iter().zip(&y.data) {
                        products.push(self.apply(Prim::Mul, &[a.clone(), b.clone()])?);
                    }
                    return self.sum(&products, &Val::F64(0.0));
                }
                self.dot_all(&x.data, &y.data)
            }
            (x, y) if x.is_float() && y.is_float() => {
                let x = self.apply(Prim::ToFloat, std::slice::from_ref(x))?;
                let y = self.apply(Prim::ToFloat, std::slice::from_ref(y))?;
                self.apply(Prim::Mul, &[x, y])
            }
            (Val::Adt(_), Val::Adt(_)) | (Val::Fn(_), Val::Fn(_)) => Err(differ(a, b)),
            _ => Ok(Val::F64(0.0)),
        }
    }

    fn dot_all(&mut self, x: &[Val], y: &[Val]) -> Result<Val, Fault> {
        let mut sum = Val::F64(0.0);
        for (a, b) in x.iter().zip(y) {
            let part = self.dot(a, b)?;
            sum = self.apply(Prim::Add, &[sum, part])?;
        }
        Ok(sum)
    }
}

/// Whether it is a tangent of a function with an attached rule: one of the function itself meets its first part.
fn is_attached(f: &super::value::Fun) -> bool {
    matches!(f.code, Code::Attached(_))
}

/// A sparse tangent of an array as an array of these extents.
pub(super) fn spread(t: Val, extents: &[usize], zero: &Val) -> Result<Val, Fault> {
    match t {
        Val::Array(a) => {
            if a.shape != extents {
                let (left, right) = (a.shape.clone(), extents.to_vec());
                return Err(Fault::Shapes { left, right, what: "a tangent and its array" });
            }
            Ok(Val::Array(a))
        }
        _ => Ok(array(extents.to_vec(), vec![zero.clone(); extents.iter().product()])),
    }
}
