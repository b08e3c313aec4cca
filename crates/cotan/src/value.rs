//! The values of the evaluator, which are those of this library.

pub use cotan_interp::Value;
