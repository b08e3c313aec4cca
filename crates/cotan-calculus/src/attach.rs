//! Attached derivatives, and the two readings of their rules.
//!
//! In: `v1 <-J v2`. Out: what calling, `J`, `Jinv` and `0` make of it. Most of the rules are arms of the matches in `reverse.rs`
//! and `sum.rs`; here is what they share.
//!
//! As printed, `J (v1 <-J v2) = v2`, `0 (v1 <-J v2) = 0 v1`, and `attach^` returns `(y_, J y_)`: whatever comes back through an
//! attached value is counted for the captures of `v1` and once more for those of `v2`. Corrected, an attached value has two faces,
//! for it can be called or differentiated: its cotangent is the pair of a cotangent of `v1` and one of `v2`. What a rule says about
//! captures is shaped like those of `v1` and goes to the first; the second receives something only where `J` itself is
//! differentiated, at the next order.

use crate::lambda::{Lambda, Rhs};
use crate::machine::Machine;
use crate::value::Value;
use cotan_source::FileId;
use std::rc::Rc;

/// Which reading of the rules of attached values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Rules {
    /// As printed, but with a `J v` that remembers `v`; without that no second derivative through an attached value is defined.
    Printed,
    /// With two faces.
    #[default]
    Corrected,
}

/// The corrected `J (v1 <-J v2)` as a function of `y = v1 <-J v2`: it does what `v2` does, and what `v2` says about captures goes
/// to the first face of `y`.
const REVERSE: &str = "\\y. \\(J x). let r = %rule y in let q = r (J x) in \
    (fst q, \\s. let t = (snd q) s in ((fst t, snd (zero y)), snd t))";

/// The code of the corrected `J (v1 <-J v2)`; it captures `v1 <-J v2`.
pub(crate) fn reverse_code() -> Rc<Lambda> {
    inner(&inner(&compile(REVERSE)))
}

/// A lambda of the calculus, from text of this crate; nothing that a user writes comes here.
pub(crate) fn compile(text: &str) -> Rc<Lambda> {
    let converted = crate::parse::parse_own(FileId(u32::MAX), text).and_then(|term| crate::anf::convert(&term));
    converted.unwrap_or_else(|error| unreachable!("{text}: {}", error.message))
}

/// The lambda that is the value of a lambda's body.
pub(crate) fn inner(outer: &Lambda) -> Rc<Lambda> {
    match outer.bindings.last().map(|b| &b.rhs) {
        Some(Rhs::Lambda(_, inner, _)) => Rc::clone(inner),
        _ => unreachable!("the text is a lambda"),
    }
}

impl Machine<'_> {
    /// The closure that the corrected `J` makes of the attached value `y`; `reverse` is the `J y` that remembers it.
    pub(crate) fn attached_reverse(&mut self, reverse: u32, y: Value) -> u32 {
        if let Some(Value::Node(known)) = self.cells[reverse as usize].known {
            return known;
        }
        let code = Rc::clone(&self.attached);
        let closure = self.closure(code, &[y]);
        self.cells[reverse as usize].known = Some(closure);
        match closure {
            Value::Node(id) => id,
            _ => unreachable!("closures live in the store"),
        }
    }
}
