//! Values in and out.
//!
//! In: texts and files of the user, with the types that they must have; or values. Out: values; or texts and files. Each
//! format has its file; [`make`] and [`view`] are the only places that know how the evaluator stores values.

mod csv;
mod fault;
mod from_file;
mod json_read;
mod json_reader;
mod json_write;
mod layout;
pub(crate) mod make;
mod npy;
#[cfg(test)]
mod tests;
mod text;
mod to_file;
mod types;
pub(crate) mod view;

pub(crate) use from_file::read_argument;
pub(crate) use json_write::{Piece, json};
pub(crate) use make::Elements;
pub(crate) use text::{line, short_text, text};
pub(crate) use to_file::{write_file, write_whole};
pub(crate) use types::Types;
