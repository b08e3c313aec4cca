//! Terms that are stuck: what no rule applies to.
//!
//! In: the redex. Out: a diagnostic that shows it, the rule that does not apply, and the place.

use crate::lambda::{Part, hats};
use crate::machine::Machine;
use crate::primitive::Primitive;
use crate::value::Value;
use cotan_source::Diagnostic;

/// Why evaluation stops.
pub type Stuck = Box<Diagnostic>;

impl Machine<'_> {
    fn stuck(&self, code: &'static str, message: String, redex: &str, rule: &str) -> Stuck {
        Box::new(
            Diagnostic::error(code, self.here, message)
                .at("stuck here")
                .note(format!("redex: {redex}"))
                .note(format!("rule: {rule}")),
        )
    }

    /// A value that is no function was called.
    pub(crate) fn no_function(&mut self, f: Value) -> Stuck {
        let f = self.brief(f);
        let argument = self.argument.map(|x| self.brief(x)).unwrap_or_default();
        self.stuck(
            "E0903",
            format!("`{f}` is called, but is no function"),
            &format!("{} {}", grouped(&f), grouped(&argument)),
            "`v v'` needs a closure, a primitive, `J` of one of these, or a function with an attached derivative",
        )
    }

    /// Two values have no sum.
    pub(crate) fn non_conformant(&mut self, a: Value, b: Value) -> Stuck {
        let (a, b) = (self.brief(a), self.brief(b));
        self.stuck(
            "E0904",
            format!("`{a}` and `{b}` do not conform"),
            &format!("{a} + {b}"),
            "`+` adds `[]` to `[]`, reals to reals, pairs to pairs, closures to closures over the same lambda, and what bears a \
             tag to what bears one",
        )
    }

    /// `Jinv` of a value without a tag.
    pub(crate) fn no_inverse(&mut self, v: Value) -> Stuck {
        let v = self.brief(v);
        self.stuck(
            "E0905",
            format!("`{v}` bears no tag that `Jinv` could take away"),
            &format!("Jinv {}", grouped(&v)),
            "`Jinv (J v) = v`; the arguments of a transformed function are made by `J`",
        )
    }

    /// A component of what is no pair.
    pub(crate) fn no_pair(&mut self, level: u32, part: Part, v: Value) -> Stuck {
        let word = if part == Part::First { "fst" } else { "snd" };
        let v = self.brief(v);
        let tags = match level {
            0 => "without tags".to_string(),
            1 => "with one tag".to_string(),
            n => format!("with {n} tags"),
        };
        self.stuck(
            "E0905",
            format!("`{v}` is no pair {tags}"),
            &format!("{word}{} {}", hats(level), grouped(&v)),
            "`fst (a, b) = a` and `snd (a, b) = b`; lists are pairs that end in `[]`, and a rule returns `(value, backpropagator)`",
        )
    }

    /// A primitive was applied to something that it is not defined on.
    pub(crate) fn no_operand(&mut self, t: Primitive, x: Value, needs: &str) -> Stuck {
        let x = self.brief(x);
        self.stuck(
            "E0905",
            format!("`{t}` is not defined on `{x}`"),
            &format!("{t} {}", grouped(&x)),
            &format!("`{t}` takes {needs}"),
        )
    }

    /// A scalar operation has no value at its operands.
    pub(crate) fn no_value(&mut self, t: Primitive, x: Value, why: &str) -> Stuck {
        let x = self.brief(x);
        self.stuck("E0905", format!("`{t}` has no value at `{x}`"), &format!("{t} {}", grouped(&x)), why)
    }

    /// The run takes too long or too much.
    pub(crate) fn limit(&self, message: String) -> Stuck {
        let hint = "raise it by --max-steps, --time-limit or --max-memory, if the program ends at all";
        Box::new((*self.interrupted(message)).hint(hint))
    }

    /// The run is ended from outside.
    pub(crate) fn interrupted(&self, message: String) -> Stuck {
        Box::new(Diagnostic::error("E0906", self.here, message).at("evaluation was here"))
    }
}

/// A text that may stand as an argument.
fn grouped(text: &str) -> String {
    let bracketed = text.starts_with(['(', '[', '<']) && !text.contains("<-J") && !text.ends_with("...");
    if bracketed || !text.contains([' ', '-']) { text.to_string() } else { format!("({text})") }
}
