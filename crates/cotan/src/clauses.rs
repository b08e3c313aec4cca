//! Which derivative clause a place of the source belongs to.
//!
//! In: the core. Out: the places of all clauses. Newly true: an error of the running program inside of a clause names the clause and its function.

use cotan_core::{LocalFn, Program as Core, Rule};
use cotan_source::{Diagnostic, Span};

/// The clauses of a program: their places, and what to call them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clauses(Vec<(Span, String)>);

impl Clauses {
    /// The clauses of all functions.
    pub(crate) fn of(core: &Core) -> Clauses {
        let mut found = Vec::new();
        let mut add = |name: &str, rules: &[Rule]| {
            for rule in rules {
                let (kind, span) = match rule {
                    Rule::Vjp { span, .. } => ("vjp", *span),
                    Rule::Jvp { span, .. } => ("jvp", *span),
                    Rule::Transpose { span, .. } => ("transpose", *span),
                };
                found.push((span, format!("the `{kind}` clause of `{name}`")));
            }
        };
        let mut local = |fns: &mut dyn Iterator<Item = &LocalFn>| fns.for_each(|f| add(&f.name, &f.rules));
        for f in &core.fns {
            local(&mut f.local_fns.iter());
        }
        for c in &core.consts {
            local(&mut c.local_fns.iter());
        }
        for f in &core.fns {
            add(&f.name, &f.rules);
        }
        Clauses(found)
    }

    /// The error, with the clause that it happened in.
    pub(crate) fn named(&self, d: Diagnostic) -> Diagnostic {
        let at = d.primary.span;
        let inside = |s: &Span| !at.is_none() && s.file == at.file && s.start <= at.start && at.end <= s.end;
        let innermost = self.0.iter().filter(|(s, _)| inside(s)).min_by_key(|(s, _)| s.end - s.start);
        match innermost {
            Some((_, what)) => d.note(format!("this is in {what}")),
            None => d,
        }
    }
}
