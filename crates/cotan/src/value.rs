//! stand-in until cotan-interp lands
use cotan_ir::AdtId;
use std::sync::Arc;
/// Value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    F64(f64),
    F32(f32),
    I64(i64),
    Bool(bool),
    Str(Arc<str>),
    Tuple(Arc<Vec<Value>>),
    Adt(AdtId, u32, Arc<Vec<Value>>),
    Array(Vec<usize>, Arc<crate::io::Elements>),
}
