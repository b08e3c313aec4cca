//! What reverse passes cost, as data for the plots of `docs/calculus.md`.
//!
//! In: the families of the test `complexity`. Out, on stdout: JSON, a list of structures with the name of a family, the strategy, and
//! pairs of a size and the steps of a reverse pass over those of the program.

#![allow(clippy::print_stdout, reason = "this is a program")]

use cotan_calculus::Strategy;
use families::{FAMILIES, Family, ratio, steps};

#[path = "../tests/complexity/families.rs"]
mod families;

fn main() {
    let mut curves = Vec::new();
    for family in &FAMILIES {
        for strategy in [Strategy::Memoised, Strategy::Forgetful, Strategy::Eager] {
            curves.push(curve(family, strategy));
        }
    }
    println!("[\n{}\n]", curves.join(",\n"));
}

/// One curve; it ends where there are more steps than anyone waits for.
fn curve(family: &Family, strategy: Strategy) -> String {
    let points: Vec<String> = (1..=9)
        .map(|k| 1 << k)
        .map_while(|n| Some(format!("[{n}, {:.4}]", ratio(&steps(family, n, strategy, 1)?))))
        .collect();
    let word = format!("{strategy:?}").to_lowercase();
    format!(
        "{{\"family\": {:?}, \"meaning\": {:?}, \"strategy\": {word:?}, \"grows\": {}, \"points\": [{}]}}",
        family.name,
        family.meaning,
        family.needs_memory && strategy != Strategy::Memoised,
        points.join(", ")
    )
}
