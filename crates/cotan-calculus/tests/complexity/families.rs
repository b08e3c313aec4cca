//! Families of growing programs, and what their reverse passes cost.
//!
//! In: a family and a size. Out: a term that is a function of a real; the steps of calling it, and of calling it and its
//! backpropagator. Both the test and the report are made from these.

use cotan_calculus::{Options, Strategy, evaluate, parse};
use cotan_source::FileId;
use std::fmt::Write;

/// A family of functions of one real.
pub struct Family {
    /// Its name.
    pub name: &'static str,
    /// What it is.
    pub meaning: &'static str,
    /// The member of a size.
    pub term: fn(usize) -> String,
    /// Whether the ratio grows without bound where zeros and sums are worked out again each time, or at once: it does where
    /// cotangents are structures that nobody looks into, or that many look into.
    pub needs_memory: bool,
}

/// All families.
pub const FAMILIES: [Family; 7] = [
    Family {
        name: "chain",
        meaning: "n sines, one after the other",
        term: |n| {
            let mut text = String::from("\\x0. ");
            for i in 1..=n {
                let _ = write!(text, "let x{i} = sin x{} in ", i - 1);
            }
            text + &format!("x{n}")
        },
        needs_memory: false,
    },
    Family {
        name: "recursion",
        meaning: "n calls by recursion through a fixed point combinator",
        term: |n| {
            format!(
                "\\x. (\\f. (\\x. f (\\v. x x v)) (\\x. f (\\v. x x v))) \
                 (\\go. \\(n, x). if n < 1 then x else go (n - 1, sin x)) ({n}, x)"
            )
        },
        needs_memory: false,
    },
    Family {
        name: "shared values",
        meaning: "p1 = (x, x), p2 = (p1, p1) and so on n times, and back by n projections",
        term: |n| {
            let mut text = String::from("\\x. let p0 = x in ");
            for i in 1..=n {
                let _ = write!(text, "let p{i} = (p{0}, p{0}) in ", i - 1);
            }
            let _ = write!(text, "let q{n} = p{n} in ");
            for i in (1..=n).rev() {
                let _ = write!(text, "let q{} = fst q{i} in ", i - 1);
            }
            text + "q0"
        },
        needs_memory: true,
    },
    Family {
        name: "captures",
        meaning: "a closure with n captures, called n times",
        term: |n| {
            let mut text = String::from("\\x. ");
            for i in 0..n {
                let _ = write!(text, "let c{i} = x * {} in ", 1.0 / (1 + i) as f64);
            }
            text += "let f = \\y. y";
            for i in 0..n {
                let _ = write!(text, " + c{i}");
            }
            text += " in let y0 = x in ";
            for i in 1..=n {
                let _ = write!(text, "let y{i} = f y{} in ", i - 1);
            }
            text + &format!("y{n}")
        },
        needs_memory: false,
    },
    Family {
        name: "passed along",
        meaning: "a closure with n captures, captured by a closure that is called n times and does not call it",
        term: |n| {
            let mut text = String::from("\\x. ");
            for i in 0..n {
                let _ = write!(text, "let c{i} = x * {} in ", 1.0 / (1 + i) as f64);
            }
            text += "let f = \\y. y";
            for i in 0..n {
                let _ = write!(text, " + c{i}");
            }
            text += " in let g = \\y. (\\h. sin y) f in let y0 = f x in ";
            for i in 1..=n {
                let _ = write!(text, "let y{i} = g y{} in ", i - 1);
            }
            text + &format!("y{n}")
        },
        needs_memory: true,
    },
    Family {
        name: "deep pairs",
        meaning: "a list of n numbers, walked once",
        term: |n| {
            let mut text = String::from("\\x. let s0 = []");
            for i in 1..=n {
                let _ = write!(text, " in let s{i} = (x, s{})", i - 1);
            }
            let _ = write!(text, " in let r0 = s{n} in let t0 = 0 in ");
            for i in 1..=n {
                let _ = write!(text, "let t{i} = t{0} + fst r{0} in let r{i} = snd r{0} in ", i - 1);
            }
            text + &format!("t{n}")
        },
        needs_memory: true,
    },
    Family {
        name: "deep pairs, read at the top",
        meaning: "a list of n numbers whose first is read n times",
        term: |n| {
            let mut text = String::from("\\x. let s0 = []");
            for i in 1..=n {
                let _ = write!(text, " in let s{i} = (x, s{})", i - 1);
            }
            text += " in let t0 = 0 in ";
            for i in 1..=n {
                let _ = write!(text, "let t{i} = t{} + fst s{n} in ", i - 1);
            }
            text + &format!("t{n}")
        },
        needs_memory: true,
    },
];

/// The steps of the function, of its value and derivative by a reverse pass, and of a reverse pass through that pass, as far as
/// `order` goes. `None`: too many.
pub fn steps(family: &Family, n: usize, strategy: Strategy, order: usize) -> Option<Vec<u64>> {
    const PASS: &str = "let pass = \\f. \\x. (\\(y, back). snd (back 1)) ((J f) (J x)) in";
    let member = (family.term)(n);
    let run = |order: usize| {
        let function = (0..order).fold("f".to_string(), |f, _| format!("(pass {f})"));
        let text = format!("{PASS} let f = {member} in {function} 0.7");
        let term = parse(FileId(0), &text).unwrap_or_else(|e| panic!("{}: {text}", e.message));
        let options = Options { strategy, max_steps: 20_000_000, ..Options::default() };
        evaluate(&term, options).ok().map(|outcome| outcome.steps)
    };
    (0..=order).map(run).collect()
}

/// How many times as many steps the last order takes as the one before.
pub fn ratio(steps: &[u64]) -> f64 {
    match steps {
        [.., before, last] => *last as f64 / *before as f64,
        _ => 0.0,
    }
}
