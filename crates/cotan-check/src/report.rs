//! Equating types with words for what went wrong.
//!
//! In: the type that the context wants and why, and the type found. Out: unified types or a diagnostic that
//! shows both and where each came from.

use crate::context::{Checker, Why};
use crate::types::{Bits, Node, T};
use crate::unify::Clash;
use cotan_source::{Diagnostic, Span};

impl Checker<'_> {
    /// Makes `found` equal to `want`, reporting at `span` if it cannot be.
    pub fn equate(&mut self, want: T, found: T, span: Span, why: Option<Why>) {
        let clash = match self.types.unify(found, want) {
            Ok(()) => {
                self.solve_ready();
                return;
            }
            Err(clash) => clash,
        };
        let d = self.clash(clash, want, found, span, why);
        self.report(d);
        self.solve_ready();
    }

    fn clash(&mut self, clash: Clash, want: T, found: T, span: Span, why: Option<Why>) -> Diagnostic {
        let shown_want = self.types.show(want);
        let shown_found = self.types.show(found);
        let because = |mut d: Diagnostic| {
            if let Some(why) = why
                && !why.span.is_none()
                && why.span != span
            {
                d = d.label(why.span, why.text.to_string());
            }
            d
        };
        match clash {
            Clash::Mismatch | Clash::Literal => {
                let mut d = Diagnostic::error("E0201", span, format!("expected `{shown_want}`, found `{shown_found}`"))
                    .at(format!("this is `{shown_found}`"));
                d = because(d);
                if let Some(hint) = self.mismatch_hint(want, found) {
                    d = d.hint(hint);
                }
                d
            }
            Clash::Infinite => because(
                Diagnostic::error("E0202", span, "a type would have to contain itself")
                    .at(format!("`{shown_found}` would have to equal `{shown_want}`")),
            ),
            Clash::Constraint(t, bits) => {
                let shown = self.types.show(t);
                if matches!(self.types.node(want), Node::Error) || shown_want == shown_found {
                    return because(
                        Diagnostic::error("E0208", span, format!("`{shown}` is not {}", kind_of(bits)))
                            .at(format!("needs {}", kind_of(bits))),
                    );
                }
                because(
                    Diagnostic::error("E0208", span, format!("`{shown}` is not {}", kind_of(bits)))
                        .at(format!("found `{shown_found}` where `{shown_want}` is expected")),
                )
            }
            Clash::Declared(p, bits) => {
                let state = self.types.params[p.0 as usize].clone();
                because(
                    Diagnostic::error("E0208", span, format!("`{}` is used as {}", state.name, kind_of(bits)))
                        .label(state.span, format!("`{}` is declared with less", state.name))
                        .hint(format!("write `{}: {}`", state.name, bits_name(state.bits.with(bits)))),
                )
            }
            Clash::Escape(p) => {
                let state = self.types.params[p.0 as usize].clone();
                because(
                    Diagnostic::error(
                        "E0209",
                        span,
                        format!("`{}` stands for any type here, so it cannot be one from outside", state.name),
                    )
                    .label(state.span, "this parameter belongs to an inner function"),
                )
            }
        }
    }

    fn mismatch_hint(&self, want: T, found: T) -> Option<String> {
        let want = self.types.node(want);
        let found = self.types.node(found);
        match (want, found) {
            (Node::Float, Node::Int) => Some("convert it: `float(..)`".to_string()),
            (Node::Int, Node::Float) => Some("convert it: `int(..)`, or `int(round(..))`".to_string()),
            (Node::Float32, Node::Float) => Some("convert it: `float32(..)`".to_string()),
            (Node::Float, Node::Float32) => Some("convert it: `float(..)`".to_string()),
            (Node::Str, Node::Int | Node::Float | Node::Bool) => Some("make a text of it: `str(..)`".to_string()),
            (_, Node::Tuple(parts)) if parts.is_empty() => {
                Some("a block whose last expression ends in `;` has the value `()`".to_string())
            }
            (Node::Param(p), _) | (_, Node::Param(p)) => {
                Some(format!("`{}` stands for any type that the caller chooses", self.types.params[p.0 as usize].name))
            }
            _ => None,
        }
    }

    /// Demands that a type is a number or a space.
    pub fn require(&mut self, t: T, bits: Bits, span: Span, why: Option<Why>) {
        if let Err(clash) = self.types.require(t, bits) {
            let d = self.clash(clash, T::ERROR, t, span, why);
            self.report(d);
        }
        self.solve_ready();
    }
}

/// What a constraint asks for, in words.
pub fn kind_of(bits: Bits) -> &'static str {
    match (bits.has(Bits::NUM), bits.has(Bits::SPACE)) {
        (true, true) => "a floating-point number",
        (true, false) => "a number",
        _ => "a type that is its own tangent space",
    }
}

fn bits_name(bits: Bits) -> &'static str {
    match (bits.has(Bits::NUM), bits.has(Bits::SPACE)) {
        (true, true) => "Real",
        (true, false) => "Num",
        _ => "Space",
    }
}
