//! The reference evaluator.
//!
//! In: a `Program<Never>` and arguments. Out: values, run-time errors with their place, and the number of operations performed. Newly true: nothing;
//! this is where the program ends.

pub mod acc;
pub mod array;
mod code;
mod fault;
pub mod fmt;
mod leaves;
mod machine;
mod prims;
mod reference;
mod space;
pub mod value;

pub use machine::{Audit, Host, Limits, Machine, Sighting, Watch};
pub use reference::Reference;
pub use value::Value;
