//! Values in and out.
//!
//! In: texts and files of the user, with the types that they must have; or values. Out: values; or texts and files. Each
//! format has its file; [`make`] is the one place that knows how values are stored.

mod csv;
mod fault;
mod from_file;
mod json_read;
mod json_reader;

pub mod make;
mod npy;

mod types;

pub use from_file::read_argument;


pub use make::Elements;
pub use types::Types;
