//! What a reverse pass costs.
//!
//! In: the families of `families.rs`. Out: with memory, a reverse pass takes at most [`BOUND`] times the steps of the program, at
//! every size, and a pass through the pass at most [`BOUND`] times those; without memory, and with sums taken at once, the ratio
//! grows with the size exactly where the paper warns that it does.

use cotan_calculus::Strategy;
use families::{FAMILIES, Family, ratio, steps};

mod families;

/// The constant. A binding becomes three in the transform and at most fifteen in the backpropagator: two for the zero, and per
/// variable that it uses a projection, a pair and a sum; the transform of a primitive adds its own.
const BOUND: f64 = 24.0;

fn at(family: &Family, n: usize, strategy: Strategy) -> Option<f64> {
    steps(family, n, strategy, 1).map(|steps| ratio(&steps))
}

#[test]
fn a_reverse_pass_costs_a_constant_times_the_program() {
    for family in &FAMILIES {
        let mut before = f64::INFINITY;
        for n in [8, 32, 128, 256] {
            let found = at(family, n, Strategy::Memoised).expect("few steps");
            assert!(found < BOUND, "{} ({}): {found} at {n}", family.name, family.meaning);
            // Small programs are dominated by what is there once; from there on the ratio settles.
            assert!(n < 128 || found < 1.1 * before, "{}: {before}, then {found} at {n}", family.name);
            before = found;
        }
    }
}

#[test]
fn so_does_a_pass_through_the_pass() {
    for family in &FAMILIES {
        for n in [4, 16, 64] {
            let found = ratio(&steps(family, n, Strategy::Memoised, 2).expect("few steps"));
            assert!(found < BOUND, "{}: {found} at {n}", family.name);
        }
    }
}

#[test]
fn without_memory_structures_cost_more_the_larger_they_are() {
    for strategy in [Strategy::Forgetful, Strategy::Eager] {
        for family in &FAMILIES {
            let ratios: Vec<f64> = [4, 16, 64].iter().map_while(|n| at(family, *n, strategy)).collect();
            if family.needs_memory {
                // Either it grows by half for each fourfold size, or there are more steps than anyone waits for.
                let grows = ratios.windows(2).all(|w| w[1] > 1.5 * w[0] || w[0] < BOUND);
                let far = ratios.len() < 3 || ratios[2] > 1.4 * BOUND;
                assert!(grows && far, "{} {strategy:?}: {ratios:?}", family.name);
            } else {
                assert!(ratios.len() == 3 && ratios[2] < BOUND, "{} {strategy:?}: {ratios:?}", family.name);
            }
        }
    }
}

#[test]
fn doubling_a_shared_value_doubles_the_cost_of_forgetting() {
    let family = FAMILIES.iter().find(|f| f.name == "shared values").expect("it is there");
    let forgetful = |n| steps(family, n, Strategy::Forgetful, 1).expect("few steps")[1] as f64;
    for n in [6, 8, 10, 12] {
        assert!(forgetful(n + 1) > 1.9 * forgetful(n), "at {n}");
    }
}
