//! Float leaves of values of any type: their numbers and names, tangents made of numbers, where two values differ.
//!
//! In: values. Out: answers to [`Inspect`]. A leaf is named by its path from the whole: `.layers[2].bias`; a captured variable by
//! its name. Every walk visits the leaves in one order, so that a number stands for a leaf.

use crate::array::{Data, array};
use crate::fault::Fault;
use crate::value::{AdtValue, Closure, Value};
use cotan_ir::{Inspect, Program};
use std::fmt::Write;
use std::rc::Rc;

/// The answer to a question.
pub(crate) fn inspect<A>(program: &Program<A>, what: Inspect, args: &[Value]) -> Result<Value, Fault> {
    Ok(match (what, args) {
        (Inspect::LeafNumbers, [x]) => {
            let mut out = Vec::with_capacity(count(x));
            numbers(x, &mut out);
            array(vec![out.len()], Data::F64(out))
        }
        (Inspect::LeafName, [x, Value::I64(i)]) => {
            let n = position(x, *i)?;
            Value::Str(Rc::new(name(program, x, n)))
        }
        (Inspect::TangentFrom, [x, Value::Array(given)]) => {
            let Data::F64(given) = &given.data else { unreachable!("a vector of numbers") };
            let leaves = count(x);
            if leaves != given.len() {
                let what = "the numbers of a tangent and its leaves";
                return Err(Fault::Shapes { left: vec![given.len()], right: vec![leaves], what });
            }
            tangent(x, &mut given.iter().copied())
        }
        (Inspect::Compare, [a, b, Value::F64(rtol)]) => {
            let floor = 1e-3 * largest(a).max(largest(b));
            let mut compare = Compare { program, rtol: *rtol, floor, path: String::new() };
            Value::Str(Rc::new(compare.first(a, b).unwrap_or_default()))
        }
        (what, args) => unreachable!("{what:?} of {args:?}"),
    })
}

fn position(x: &Value, i: i64) -> Result<usize, Fault> {
    let extent = count(x);
    match usize::try_from(i) {
        Ok(n) if n < extent => Ok(n),
        _ => Err(Fault::Index { index: i, extent, axis: 0, rank: 1 }),
    }
}

/// The parts of a value, of which some may have leaves.
fn parts(v: &Value) -> Option<&[Value]> {
    match v {
        Value::Tuple(vs) => Some(vs),
        Value::Adt(a) => Some(&a.fields),
        // The leaves of a function with an attached rule are those of the function.
        Value::Fn(c) if c.attached => Some(&c.captures[..1]),
        Value::Fn(c) => Some(&c.captures),
        Value::Array(a) => match &a.data {
            Data::Any(vs) => Some(vs),
            Data::F64(_) | Data::F32(_) | Data::I64(_) | Data::Bool(_) => None,
        },
        Value::Residual(r) => Some(std::slice::from_ref(&r.payload)),
        _ => None,
    }
}

/// How many float leaves a value has.
fn count(v: &Value) -> usize {
    match v {
        Value::F64(_) | Value::F32(_) => 1,
        Value::Array(a) if !matches!(a.data, Data::Any(_)) => match &a.data {
            Data::F64(xs) => xs.len(),
            Data::F32(xs) => xs.len(),
            Data::I64(_) | Data::Bool(_) | Data::Any(_) => 0,
        },
        _ => parts(v).unwrap_or_default().iter().map(count).sum(),
    }
}

/// The float leaves of a value.
fn numbers(v: &Value, out: &mut Vec<f64>) {
    match v {
        Value::F64(x) => out.push(*x),
        Value::F32(x) => out.push(f64::from(*x)),
        Value::Array(a) if !matches!(a.data, Data::Any(_)) => match &a.data {
            Data::F64(xs) => out.extend(xs),
            Data::F32(xs) => out.extend(xs.iter().map(|x| f64::from(*x))),
            Data::I64(_) | Data::Bool(_) | Data::Any(_) => {}
        },
        _ => parts(v).unwrap_or_default().iter().for_each(|v| numbers(v, out)),
    }
}

/// The largest finite float of a value, without its sign.
fn largest(v: &Value) -> f64 {
    let size = |x: f64| if x.is_finite() { x.abs() } else { 0.0 };
    match v {
        Value::F64(x) => size(*x),
        Value::F32(x) => size(f64::from(*x)),
        Value::Array(a) if !matches!(a.data, Data::Any(_)) => match &a.data {
            Data::F64(xs) => xs.iter().fold(0.0, |m, x| m.max(size(*x))),
            Data::F32(xs) => xs.iter().fold(0.0, |m, x| m.max(size(f64::from(*x)))),
            Data::I64(_) | Data::Bool(_) | Data::Any(_) => 0.0,
        },
        _ => parts(v).unwrap_or_default().iter().fold(0.0, |m, x| m.max(largest(x))),
    }
}

/// The path to leaf `n`.
fn name<A>(program: &Program<A>, v: &Value, n: usize) -> String {
    let (mut v, mut n, mut path) = (v.clone(), n, String::new());
    loop {
        if let Value::Array(a) = &v
            && !matches!(a.data, Data::Any(_))
        {
            push_position(&mut path, &a.shape, n);
            return path;
        }
        let Some(inner) = parts(&v) else { return path };
        let mut next = None;
        for (i, part) in inner.iter().enumerate() {
            let here = count(part);
            if n < here {
                step(program, &v, i, &mut path);
                next = Some(part.clone());
                break;
            }
            n -= here;
        }
        v = next.expect("the leaf is there");
    }
}

/// The step from a value to its part `i`.
fn step<A>(program: &Program<A>, v: &Value, i: usize, path: &mut String) {
    match v {
        Value::Tuple(_) => {
            let _ = write!(path, ".{i}");
        }
        Value::Adt(a) => {
            let def = &program.adts[a.adt];
            let variant = &def.variants[a.variant as usize];
            if def.variants.len() > 1 {
                let _ = write!(path, ".{}", variant.name);
            }
            let field = variant.fields.get(i).map_or("", |(name, _)| name);
            let _ = write!(path, ".{field}");
        }
        Value::Fn(c) if c.attached => {}
        Value::Fn(c) => {
            let captures = program.fns[c.code].captures.as_deref().unwrap_or_default();
            match captures.get(i) {
                Some(capture) => {
                    let _ = write!(path, ".{}", capture.name);
                }
                None => {
                    let _ = write!(path, ".{i}");
                }
            }
        }
        Value::Array(a) => push_position(path, &a.shape, i),
        _ => {}
    }
}

fn push_position(path: &mut String, shape: &[usize], mut i: usize) {
    let mut at = vec![0; shape.len()];
    for (k, extent) in shape.iter().enumerate().rev() {
        at[k] = i % extent.max(&1);
        i /= extent.max(&1);
    }
    let at: Vec<String> = at.iter().map(usize::to_string).collect();
    let _ = write!(path, "[{}]", at.join(", "));
}

/// The tangent with the leaves that `next` gives.
fn tangent(v: &Value, next: &mut dyn Iterator<Item = f64>) -> Value {
    let all = |vs: &[Value], next: &mut dyn Iterator<Item = f64>| vs.iter().map(|v| tangent(v, next)).collect();
    match v {
        Value::F64(_) => Value::F64(next.next().unwrap_or(0.0)),
        Value::F32(_) => Value::F32(next.next().unwrap_or(0.0) as f32),
        Value::Unit | Value::I64(_) | Value::Bool(_) | Value::Str(_) => Value::Unit,
        Value::Tuple(vs) => Value::Tuple(Rc::new(all(vs, next))),
        Value::Adt(a) => Value::Adt(Rc::new(AdtValue { adt: a.adt, variant: a.variant, fields: all(&a.fields, next) })),
        Value::Fn(c) if c.attached => tangent(&c.captures[0], next),
        Value::Fn(c) => c.with(all(&c.captures, next)),
        Value::Array(a) => {
            let data = match &a.data {
                Data::F64(xs) => Data::F64(next.take(xs.len()).collect()),
                Data::F32(xs) => Data::F32(next.take(xs.len()).map(|x| x as f32).collect()),
                Data::I64(_) | Data::Bool(_) => Data::Any(vec![Value::Unit; a.data.len()]),
                Data::Any(vs) => Data::Any(all(vs, next)),
            };
            array(a.shape.clone(), data)
        }
        Value::Residual(r) => tangent(&r.payload, next),
        Value::Zero | Value::Acc(_) => Value::Zero,
    }
}

/// Looks for the first place where two values differ.
struct Compare<'p, A> {
    program: &'p Program<A>,
    rtol: f64,
    /// Smaller differences than `rtol` times this are none.
    floor: f64,
    path: String,
}

impl<A> Compare<'_, A> {
    fn first(&mut self, a: &Value, b: &Value) -> Option<String> {
        match (a, b) {
            (Value::F64(x), Value::F64(y)) => self.floats(*x, *y),
            (Value::F32(x), Value::F32(y)) => self.floats(f64::from(*x), f64::from(*y)),
            (Value::I64(x), Value::I64(y)) if x != y => self.found(&x.to_string(), &y.to_string()),
            (Value::Bool(x), Value::Bool(y)) if x != y => self.found(&x.to_string(), &y.to_string()),
            (Value::Str(x), Value::Str(y)) if x != y => self.found(&format!("{x:?}"), &format!("{y:?}")),
            (Value::Adt(x), Value::Adt(y)) if x.variant != y.variant => {
                let name = |v: &AdtValue| self.program.adts[v.adt].variants[v.variant as usize].name.clone();
                self.found(&name(x), &name(y))
            }
            (Value::Fn(x), b) if x.attached => self.first(&x.captures[0], b),
            (a, Value::Fn(y)) if y.attached => self.first(a, &y.captures[0]),
            (Value::Fn(x), Value::Fn(y)) if x.code != y.code => {
                let name = |c: &Closure| format!("the function `{}`", self.program.fns[c.code].name);
                self.found(&name(x), &name(y))
            }
            (Value::Array(x), Value::Array(y)) if x.shape != y.shape => {
                let size = |shape: &[usize]| shape.iter().map(|n| format!("[{n}]")).collect::<String>();
                self.found(&format!("size {}", size(&x.shape)), &format!("size {}", size(&y.shape)))
            }
            (Value::Array(x), Value::Array(y)) if !matches!(x.data, Data::Any(_)) => {
                for i in 0..x.data.len() {
                    let kept = self.path.len();
                    push_position(&mut self.path, &x.shape, i);
                    let found = self.first(&x.data.get(i), &y.data.get(i));
                    self.path.truncate(kept);
                    if found.is_some() {
                        return found;
                    }
                }
                None
            }
            _ => {
                let (Some(x), Some(y)) = (parts(a), parts(b)) else { return None };
                for (i, (x, y)) in x.iter().zip(y).enumerate() {
                    let kept = self.path.len();
                    step(self.program, a, i, &mut self.path);
                    let found = self.first(x, y);
                    self.path.truncate(kept);
                    if found.is_some() {
                        return found;
                    }
                }
                None
            }
        }
    }

    fn floats(&self, x: f64, y: f64) -> Option<String> {
        let same = x == y || (x.is_nan() && y.is_nan());
        let near = (x - y).abs() <= self.rtol * x.abs().max(y.abs()).max(self.floor);
        // Infinities are equal or they differ, whatever the tolerance.
        if same || (near && x.is_finite() && y.is_finite()) {
            None
        } else {
            self.found(&format!("{x:?}"), &format!("{y:?}"))
        }
    }

    fn found(&self, a: &str, b: &str) -> Option<String> {
        Some(match self.path.is_empty() {
            true => format!("{a} and {b}"),
            false => format!("at {}: {a} and {b}", self.path),
        })
    }
}
