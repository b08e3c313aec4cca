//! stand-in
use crate::value::Value;
use cotan_ir::AdtId;
use std::sync::Arc;
/// Elements.
#[derive(Clone, Debug, PartialEq)]
pub enum Elements {
    F64(Vec<f64>),
    F32(Vec<f32>),
    I64(Vec<i64>),
    Bool(Vec<bool>),
    Values(Vec<Value>),
}
pub fn float(x: f64) -> Value {
    Value::F64(x)
}
pub fn float32(x: f32) -> Value {
    Value::F32(x)
}
pub fn int(x: i64) -> Value {
    Value::I64(x)
}
pub fn bool(x: bool) -> Value {
    Value::Bool(x)
}
pub fn string(x: &str) -> Value {
    Value::Str(x.into())
}
pub fn unit() -> Value {
    Value::Tuple(Arc::new(vec![]))
}
pub fn tuple(x: Vec<Value>) -> Value {
    Value::Tuple(Arc::new(x))
}
pub fn adt(a: AdtId, v: u32, x: Vec<Value>) -> Value {
    Value::Adt(a, v, Arc::new(x))
}
pub fn array(shape: Vec<usize>, e: Elements) -> Value {
    Value::Array(shape, Arc::new(e))
}
pub fn as_int(v: &Value) -> Option<i64> {
    match v {
        Value::I64(n) => Some(*n),
        _ => None,
    }
}
pub fn extent(v: &Value, axis: usize) -> Option<i64> {
    match v {
        Value::Array(s, _) => s.get(axis).map(|n| *n as i64),
        _ => None,
    }
}
pub fn part<'v>(v: &'v Value, path: &[usize]) -> Option<&'v Value> {
    let mut v = v;
    for i in path {
        v = match v {
            Value::Tuple(p) | Value::Adt(_, _, p) => p.get(*i)?,
            _ => return None,
        };
    }
    Some(v)
}
