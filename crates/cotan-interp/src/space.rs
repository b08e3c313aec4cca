//! Tangent spaces of all types: sums, multiples, inner products, zeros, parts.
//!
//! In: tangents, dense or sparse. Out: tangents. `Zero` stands for the zero of any space and costs nothing.

use crate::array::{At, Data, array};
use crate::fault::{Fault, Part};
use crate::value::{AdtValue, Array, ResidualValue, Value};
use cotan_ir::FnId;
use std::rc::Rc;

/// The zero that fits where an element of this array stands.
pub fn zero_element(a: &Array) -> Value {
    match &a.data {
        Data::F64(_) => Value::F64(0.0),
        Data::F32(_) => Value::F32(0.0),
        Data::Any(v) if v.is_empty() => Value::Zero,
        Data::Any(_) | Data::I64(_) | Data::Bool(_) => Value::Zero,
    }
}

/// The sum.
pub fn add(a: Value, b: Value) -> Result<Value, Fault> {
    Ok(match (a, b) {
        (Value::Zero, x) | (x, Value::Zero) => x,
        (Value::Unit, _) | (_, Value::Unit) => Value::Unit,
        (Value::F64(x), Value::F64(y)) => Value::F64(x + y),
        (Value::F32(x), Value::F32(y)) => Value::F32(x + y),
        (Value::I64(x), Value::I64(y)) => {
            Value::I64(x.checked_add(y).ok_or(Fault::Prim(cotan_prim::PrimError::Overflow))?)
        }
        (Value::Tuple(x), Value::Tuple(y)) => Value::Tuple(Rc::new(add_all(&x, &y)?)),
        (Value::Adt(x), Value::Adt(y)) => {
            if x.variant != y.variant {
                let name = |v: u32| Part::Variant(x.adt, v);
                return Err(Fault::Tangents(name(x.variant), name(y.variant)));
            }
            let fields = add_all(&x.fields, &y.fields)?;
            Value::Adt(Rc::new(AdtValue { adt: x.adt, variant: x.variant, fields }))
        }
        (Value::Fn(x), Value::Fn(y)) => {
            if x.code == y.code {
                return Ok(x.with(add_all(&x.captures, &y.captures)?));
            }
            // A tangent of a function is one of the function with a rule attached, with no part for the rule.
            let (whole, face) = match (x.attached, y.attached) {
                (true, _) => (x, y),
                (_, true) => (y, x),
                _ => return Err(Fault::Tangents(Part::Closure(x.code), Part::Closure(y.code))),
            };
            let face = add(whole.captures[0].clone(), Value::Fn(face))?;
            whole.with(vec![face, whole.captures[1].clone()])
        }
        (Value::Array(x), Value::Array(y)) => {
            if x.shape != y.shape {
                let (left, right) = (x.shape.clone(), y.shape.clone());
                return Err(Fault::Shapes { left, right, what: "two tangents that are added" });
            }
            let mut x = x;
            match (&mut Rc::make_mut(&mut x).data, &y.data) {
                (Data::F64(v), Data::F64(w)) => v.iter_mut().zip(w).for_each(|(a, b)| *a += b),
                (Data::F32(v), Data::F32(w)) => v.iter_mut().zip(w).for_each(|(a, b)| *a += b),
                (data, other) => {
                    for i in 0..other.len() {
                        let sum = add(data.get(i), other.get(i))?;
                        data.set(i, sum);
                    }
                }
            }
            Value::Array(x)
        }
        (x, y) => return Err(Fault::Tangents(Part::Other(kind(&x)), Part::Other(kind(&y)))),
    })
}

fn add_all(x: &[Value], y: &[Value]) -> Result<Vec<Value>, Fault> {
    x.iter().zip(y).map(|(a, b)| add(a.clone(), b.clone())).collect()
}

fn kind(v: &Value) -> &'static str {
    match v {
        Value::Unit => "no float",
        Value::F64(_) => "a Float",
        Value::F32(_) => "a Float32",
        Value::I64(_) => "an Int",
        Value::Bool(_) => "a Bool",
        Value::Str(_) => "a String",
        Value::Tuple(_) => "a tuple",
        Value::Adt(_) => "a structure or variant",
        Value::Array(_) => "an array",
        Value::Fn(_) => "a function",
        Value::Residual(_) => "a residual",
        Value::Zero => "zero",
        Value::Acc(_) => "an accumulator",
    }
}

/// Every float replaced.
pub fn map_floats(v: &Value, f: &dyn Fn(f64) -> f64) -> Value {
    let all = |vs: &[Value]| vs.iter().map(|v| map_floats(v, f)).collect::<Vec<_>>();
    match v {
        Value::F64(x) => Value::F64(f(*x)),
        Value::F32(x) => Value::F32(f(f64::from(*x)) as f32),
        Value::Tuple(vs) => Value::Tuple(Rc::new(all(vs))),
        Value::Adt(a) => Value::Adt(Rc::new(AdtValue { adt: a.adt, variant: a.variant, fields: all(&a.fields) })),
        Value::Fn(c) => c.with(all(&c.captures)),
        Value::Array(a) => {
            let data = match &a.data {
                Data::F64(v) => Data::F64(v.iter().map(|x| f(*x)).collect()),
                Data::F32(v) => Data::F32(v.iter().map(|x| f(f64::from(*x)) as f32).collect()),
                Data::Any(v) => Data::Any(all(v)),
                other => other.clone(),
            };
            array(a.shape.clone(), data)
        }
        other => other.clone(),
    }
}

/// The inner product.
pub fn dot(a: &Value, b: &Value) -> Result<f64, Fault> {
    let all = |x: &[Value], y: &[Value]| -> Result<f64, Fault> {
        let mut sum = 0.0;
        for (a, b) in x.iter().zip(y) {
            sum += dot(a, b)?;
        }
        Ok(sum)
    };
    match (a, b) {
        (Value::F64(x), Value::F64(y)) => Ok(x * y),
        (Value::F32(x), Value::F32(y)) => Ok(f64::from(*x) * f64::from(*y)),
        (Value::Tuple(x), Value::Tuple(y)) => all(x, y),
        (Value::Adt(x), Value::Adt(y)) => {
            if x.variant != y.variant {
                let name = |v: u32| Part::Variant(x.adt, v);
                return Err(Fault::Tangents(name(x.variant), name(y.variant)));
            }
            all(&x.fields, &y.fields)
        }
        (Value::Fn(x), Value::Fn(y)) => {
            if x.code == y.code {
                return all(&x.captures, &y.captures);
            }
            match (x.attached, y.attached) {
                (true, _) => dot(&x.captures[0], b),
                (_, true) => dot(a, &y.captures[0]),
                _ => Err(Fault::Tangents(Part::Closure(x.code), Part::Closure(y.code))),
            }
        }
        (Value::Array(x), Value::Array(y)) => {
            if x.shape != y.shape {
                let (left, right) = (x.shape.clone(), y.shape.clone());
                return Err(Fault::Shapes { left, right, what: "the two sides of an inner product" });
            }
            match (&x.data, &y.data) {
                (Data::F64(v), Data::F64(w)) => {
                    let products: Vec<f64> = v.iter().zip(w).map(|(a, b)| a * b).collect();
                    Ok(crate::prims::sum_f64(&products))
                }
                (v, w) => all(&v.to_values(), &w.to_values()),
            }
        }
        _ => Ok(0.0),
    }
}

/// The dense zero tangent of a value.
pub fn zero_like(v: &Value) -> Value {
    let all = |vs: &[Value]| vs.iter().map(zero_like).collect::<Vec<_>>();
    match v {
        Value::F64(_) => Value::F64(0.0),
        Value::F32(_) => Value::F32(0.0),
        Value::Unit | Value::I64(_) | Value::Bool(_) | Value::Str(_) => Value::Unit,
        Value::Tuple(vs) => Value::Tuple(Rc::new(all(vs))),
        Value::Adt(a) => Value::Adt(Rc::new(AdtValue { adt: a.adt, variant: a.variant, fields: all(&a.fields) })),
        Value::Fn(c) if c.attached => zero_like(&c.captures[0]),
        Value::Fn(c) => c.with(all(&c.captures)),
        Value::Array(a) => {
            let data = match &a.data {
                Data::F64(v) => Data::F64(vec![0.0; v.len()]),
                Data::F32(v) => Data::F32(vec![0.0; v.len()]),
                Data::I64(_) | Data::Bool(_) => Data::Any(vec![Value::Unit; a.data.len()]),
                Data::Any(v) => Data::Any(all(v)),
            };
            array(a.shape.clone(), data)
        }
        Value::Residual(r) => zero_like(&r.payload),
        Value::Zero | Value::Acc(_) => Value::Zero,
    }
}

/// A sparse tangent with zeros filled in, shaped by the point.
pub fn densify(t: &Value, like: &Value) -> Result<Value, Fault> {
    let all = |ts: &[Value], vs: &[Value]| -> Result<Vec<Value>, Fault> {
        ts.iter().zip(vs).map(|(t, v)| densify(t, v)).collect()
    };
    Ok(match (t, like) {
        (Value::Zero | Value::Unit, v) => zero_like(v),
        (t @ (Value::F64(_) | Value::F32(_)), _) => t.clone(),
        (Value::Tuple(ts), Value::Tuple(vs)) => Value::Tuple(Rc::new(all(ts, vs)?)),
        (Value::Adt(t), Value::Adt(v)) => {
            if t.variant != v.variant {
                let name = |x: u32| Part::Variant(v.adt, x);
                return Err(Fault::Tangents(name(t.variant), name(v.variant)));
            }
            let fields = all(&t.fields, &v.fields)?;
            Value::Adt(Rc::new(AdtValue { adt: v.adt, variant: v.variant, fields }))
        }
        (Value::Fn(t), Value::Fn(v)) => {
            match (t.code == v.code, v.attached) {
                // Without a part for the rule it is a tangent of the function.
                (true, true) if is_zero(&t.captures[1]) => densify(&t.captures[0], &v.captures[0])?,
                (true, _) => v.with(all(&t.captures, &v.captures)?),
                (false, true) => densify(&Value::Fn(t.clone()), &v.captures[0])?,
                // The function has no part for the rule.
                (false, false) if t.attached => densify(&t.captures[0], &Value::Fn(v.clone()))?,
                (false, false) => return Err(Fault::Tangents(Part::Closure(t.code), Part::Closure(v.code))),
            }
        }
        (Value::Array(t), Value::Array(v)) => {
            if t.shape != v.shape {
                let (left, right) = (t.shape.clone(), v.shape.clone());
                return Err(Fault::Shapes { left, right, what: "a tangent and its point" });
            }
            match (&t.data, &v.data) {
                (Data::F64(_) | Data::F32(_), _) => Value::Array(t.clone()),
                (ts, vs) => {
                    let data = Data::from_values(all(&ts.to_values(), &vs.to_values())?);
                    array(t.shape.clone(), data)
                }
            }
        }
        (t, Value::Residual(r)) => densify(t, &r.payload)?,
        (t, _) => t.clone(),
    })
}

/// Whether a tangent is zero everywhere.
fn is_zero(t: &Value) -> bool {
    match t {
        Value::F64(x) => *x == 0.0,
        Value::F32(x) => *x == 0.0,
        Value::Tuple(vs) => vs.iter().all(is_zero),
        Value::Adt(a) => a.fields.iter().all(is_zero),
        Value::Fn(c) => c.captures.iter().all(is_zero),
        Value::Array(a) => match &a.data {
            Data::F64(v) => v.iter().all(|x| *x == 0.0),
            Data::F32(v) => v.iter().all(|x| *x == 0.0),
            Data::Any(v) => v.iter().all(is_zero),
            Data::I64(_) | Data::Bool(_) => true,
        },
        _ => true,
    }
}

/// A captured variable's part of a tangent of a function; `attached`: the code is one of functions with rules.
pub fn capture_part(t: &Value, code: FnId, attached: bool, index: usize) -> Result<Value, Fault> {
    match t {
        Value::Fn(c) if c.code == code => Ok(c.captures[index].clone()),
        Value::Fn(c) if c.attached => capture_part(&c.captures[0], code, attached, index),
        Value::Fn(_) if attached && index == 0 => Ok(t.clone()),
        Value::Fn(_) if attached => Ok(Value::Zero),
        Value::Fn(c) => Err(Fault::Tangents(Part::Closure(c.code), Part::Closure(code))),
        _ => Ok(Value::Zero),
    }
}

/// The point along a tangent; parts without floats stay.
pub fn move_along(x: &Value, dx: &Value) -> Result<Value, Fault> {
    let all = |xs: &[Value], ds: &[Value]| -> Result<Vec<Value>, Fault> {
        xs.iter().zip(ds).map(|(x, d)| move_along(x, d)).collect()
    };
    Ok(match (x, dx) {
        (x, Value::Zero | Value::Unit) => x.clone(),
        (Value::F64(_) | Value::F32(_), d) => add(x.clone(), d.clone())?,
        (Value::Tuple(xs), Value::Tuple(ds)) => Value::Tuple(Rc::new(all(xs, ds)?)),
        (Value::Adt(x), Value::Adt(d)) => {
            if x.variant != d.variant {
                let name = |v: u32| Part::Variant(x.adt, v);
                return Err(Fault::Tangents(name(x.variant), name(d.variant)));
            }
            let fields = all(&x.fields, &d.fields)?;
            Value::Adt(Rc::new(AdtValue { adt: x.adt, variant: x.variant, fields }))
        }
        (Value::Fn(x), Value::Fn(d)) => match (x.code == d.code, x.attached) {
            (true, _) => x.with(all(&x.captures, &d.captures)?),
            (false, true) => {
                let function = move_along(&x.captures[0], &Value::Fn(d.clone()))?;
                x.with(vec![function, x.captures[1].clone()])
            }
            (false, false) if d.attached => move_along(&Value::Fn(x.clone()), &d.captures[0])?,
            (false, false) => return Err(Fault::Tangents(Part::Closure(x.code), Part::Closure(d.code))),
        },
        (Value::Array(x), Value::Array(d)) => {
            if x.shape != d.shape {
                let (left, right) = (x.shape.clone(), d.shape.clone());
                return Err(Fault::Shapes { left, right, what: "a point and its tangent" });
            }
            match (&x.data, &d.data) {
                (Data::F64(_), Data::F64(_)) | (Data::F32(_), Data::F32(_)) => {
                    add(Value::Array(x.clone()), Value::Array(d.clone()))?
                }
                (Data::I64(_) | Data::Bool(_), _) => Value::Array(x.clone()),
                (xs, ds) => array(x.shape.clone(), Data::from_values(all(&xs.to_values(), &ds.to_values())?)),
            }
        }
        (Value::Residual(r), d) => {
            let payload = move_along(&r.payload, d)?;
            Value::Residual(Rc::new(ResidualValue { function: r.function, payload }))
        }
        (x, _) => x.clone(),
    })
}

/// A sparse tangent of an array as an array of these extents.
pub fn spread(t: Value, extents: &[usize], zero: &Value) -> Result<Value, Fault> {
    match t {
        Value::Array(a) => {
            if a.shape != extents {
                let (left, right) = (a.shape.clone(), extents.to_vec());
                return Err(Fault::Shapes { left, right, what: "a tangent and its array" });
            }
            Ok(Value::Array(a))
        }
        _ => Ok(array(extents.to_vec(), Data::fill(zero, extents.iter().product()))),
    }
}

/// The selected part of a sparse tangent of an array.
pub fn part(t: &Value, at: &[At], extents: &[usize]) -> Result<Value, Fault> {
    match t {
        Value::Array(a) => {
            if a.shape != extents {
                let (left, right) = (extents.to_vec(), a.shape.clone());
                return Err(Fault::Shapes { left, right, what: "an array and its tangent" });
            }
            a.part(at)
        }
        _ => {
            crate::array::Selection::new(extents, at)?;
            Ok(Value::Zero)
        }
    }
}
