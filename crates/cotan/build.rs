//! Tells cargo that the library in Cotan is part of the crate.
//!
//! In: nothing. Out: a rebuild whenever a file of `std/` changes, comes or goes.

fn main() {
    println!("cargo:rerun-if-changed=../../std");
}
