//! The floats of a value, as a list.
//!
//! In: a value with its type. Out: its floats in order with the paths to them; values and tangents of the same shape made of
//! other numbers. Functions inside are left alone: nothing from outside holds any.

use crate::io::view::{View, view};
use crate::io::{Elements, Types, make};
use crate::value::Value;
use cotan_ir::{AdtKind, TypeId};

/// A float inside a value.
#[derive(Clone, Debug, PartialEq)]
pub struct Leaf {
    /// Where: `x[1].bias`.
    pub path: String,
    /// The number.
    pub value: f64,
}

/// Appends the floats of a value.
pub fn of(value: &Value, ty: TypeId, types: Types<'_>, path: &str, out: &mut Vec<Leaf>) {
    let mut leaf = |path: String, value: f64| out.push(Leaf { path, value });
    match view(value) {
        View::F64(x) => leaf(path.to_string(), x),
        View::F32(x) => leaf(path.to_string(), f64::from(x)),
        View::Tuple(parts) => {
            for (i, part) in parts.iter().enumerate() {
                of(part, types.component(ty, i).unwrap_or(ty), types, &format!("{path}.{i}"), out);
            }
        }
        View::Adt(id, variant, fields) => {
            let def = types.adt(id);
            let shape = &def.variants[variant as usize];
            for (part, (name, ty)) in fields.iter().zip(&shape.fields) {
                let inner = match def.kind {
                    AdtKind::Struct => format!("{path}.{name}"),
                    AdtKind::Enum | AdtKind::Residual => format!("{path}.{}.{name}", shape.name),
                };
                of(part, *ty, types, &inner, out);
            }
        }
        View::Array(shape, elements) => match elements {
            Elements::F64(v) => v.iter().enumerate().for_each(|(i, x)| leaf(place(path, shape, i), *x)),
            Elements::F32(v) => v.iter().enumerate().for_each(|(i, x)| leaf(place(path, shape, i), f64::from(*x))),
            Elements::I64(_) | Elements::Bool(_) => {}
            Elements::Any(v) => {
                let elem = types.element(ty).unwrap_or(ty);
                for (i, part) in v.iter().enumerate() {
                    of(part, elem, types, &place(path, shape, i), out);
                }
            }
        },
        View::I64(_) | View::Bool(_) | View::Str(_) | View::Closure(..) | View::Other => {}
    }
}

/// `x[1, 2]` for the element at a position of the storage.
fn place(path: &str, shape: &[usize], mut at: usize) -> String {
    let mut index = vec![0; shape.len()];
    for (i, extent) in shape.iter().enumerate().rev() {
        index[i] = at % extent;
        at /= extent;
    }
    let texts: Vec<String> = index.iter().map(usize::to_string).collect();
    format!("{path}[{}]", texts.join(", "))
}

/// The value with its floats replaced, in order.
pub fn map(value: &Value, f: &mut dyn FnMut(f64) -> f64) -> Value {
    rebuild(value, f, false).unwrap_or_else(|| value.clone())
}

/// The tangent of a value, shaped by it, with these numbers at its floats.
pub fn tangent(value: &Value, next: &mut dyn FnMut() -> f64) -> Value {
    rebuild(value, &mut |_| next(), true).unwrap_or_else(make::unit)
}

/// A value of the same shape with other floats; `None` for what has none and is no container.
fn rebuild(value: &Value, f: &mut dyn FnMut(f64) -> f64, tangent: bool) -> Option<Value> {
    let mut inner =
        |v: &Value| rebuild(v, f, tangent).unwrap_or_else(|| if tangent { make::unit() } else { v.clone() });
    match view(value) {
        View::F64(x) => Some(make::float(f(x))),
        View::F32(x) => Some(make::float32(f(f64::from(x)) as f32)),
        View::Tuple(parts) => Some(make::tuple(parts.iter().map(&mut inner).collect())),
        View::Adt(id, variant, fields) => Some(make::adt(id, variant, fields.iter().map(&mut inner).collect())),
        View::Array(shape, elements) => {
            let elements = match elements {
                Elements::F64(v) => Elements::F64(v.iter().map(|x| f(*x)).collect()),
                Elements::F32(v) => Elements::F32(v.iter().map(|x| f(f64::from(*x)) as f32).collect()),
                Elements::I64(v) if tangent => Elements::Any(v.iter().map(|_| make::unit()).collect()),
                Elements::Bool(v) if tangent => Elements::Any(v.iter().map(|_| make::unit()).collect()),
                Elements::I64(_) | Elements::Bool(_) => return None,
                Elements::Any(v) => Elements::Any(v.iter().map(&mut inner).collect()),
            };
            Some(make::array(shape.to_vec(), elements))
        }
        View::I64(_) | View::Bool(_) | View::Str(_) | View::Closure(..) | View::Other => None,
    }
}

/// The floats of a tangent at a point, in the order of the floats of the point. A part that is missing is zero.
pub fn of_tangent(tangent: Option<&Value>, point: &Value, out: &mut Vec<f64>) {
    let tangent_view = tangent.map(view);
    match view(point) {
        View::F64(_) | View::F32(_) => out.push(match tangent_view {
            Some(View::F64(x)) => x,
            Some(View::F32(x)) => f64::from(x),
            _ => 0.0,
        }),
        View::Tuple(parts) | View::Adt(_, _, parts) => {
            let inner = match tangent_view {
                Some(View::Tuple(t) | View::Adt(_, _, t)) => t,
                _ => &[],
            };
            for (i, part) in parts.iter().enumerate() {
                of_tangent(inner.get(i), part, out);
            }
        }
        View::Array(_, elements) => match (elements, tangent_view) {
            (Elements::F64(_), Some(View::Array(_, Elements::F64(t)))) => out.extend(t),
            (Elements::F32(_), Some(View::Array(_, Elements::F32(t)))) => out.extend(t.iter().map(|x| f64::from(*x))),
            (Elements::F64(v), _) => out.extend(v.iter().map(|_| 0.0)),
            (Elements::F32(v), _) => out.extend(v.iter().map(|_| 0.0)),
            (Elements::I64(_) | Elements::Bool(_), _) => {}
            (Elements::Any(v), Some(View::Array(_, Elements::Any(t)))) => {
                for (i, part) in v.iter().enumerate() {
                    of_tangent(t.get(i), part, out);
                }
            }
            (Elements::Any(v), _) => v.iter().for_each(|part| of_tangent(None, part, out)),
        },
        View::I64(_) | View::Bool(_) | View::Str(_) | View::Closure(..) | View::Other => {}
    }
}
