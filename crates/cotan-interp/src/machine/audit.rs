//! Which functions with rules a run calls, and on what.
//!
//! In: a run. Out: the first few calls of each function that has a rule of its own. Newly true: nothing; the run is as without.

use super::Machine;
use crate::value::Value;
use cotan_ir::FnId;
use indexmap::IndexMap;
use rustc_hash::FxHashMap;

/// The calls that were noted.
#[derive(Clone, Debug, Default)]
pub struct Audit {
    /// Arguments of calls, in the order of first calls: by function, and by the code of the rule where that was attached as
    /// a value (all attached functions of one type share their code).
    pub calls: IndexMap<(FnId, Option<FnId>), Vec<Vec<Value>>>,
    /// How many calls of a function are noted.
    pub most: usize,
    /// The functions that rules belong to.
    owners: FxHashMap<FnId, FnId>,
}

impl Machine {
    /// Prepares for an audit, before anything runs: rules are called, and do not become a part of their callers.
    pub fn keep_rules(&mut self) {
        self.derive.keep_rules();
    }

    /// From here on, calls of functions with rules are noted, at most so many of each.
    pub fn audit(&mut self, most: usize) {
        let mut owners = FxHashMap::default();
        for (id, func) in self.program.fns.iter_enumerated() {
            owners.extend(func.rules.vjp.map(|(fwd, _)| (fwd, id)));
            owners.extend(func.rules.jvp.map(|jvp| (jvp, id)));
        }
        self.audit = Some(Box::new(Audit { calls: IndexMap::new(), most, owners }));
    }

    /// Ends the audit; what was noted.
    pub fn audited(&mut self) -> Audit {
        self.audit.take().map(|a| *a).unwrap_or_default()
    }

    /// Notes a call whose arguments are the top of the stack.
    #[cold]
    pub(super) fn note_call(&mut self, f: FnId, first: usize) {
        let Some(audit) = &mut self.audit else { return };
        // A rule that answers in a derivative is given the arguments of its function first.
        let f = audit.owners.get(&f).copied().unwrap_or(f);
        let func = &self.program.fns[f];
        if func.rules.is_empty() {
            return;
        }
        let count = func.params.len();
        let attached = match &self.stack[first] {
            Value::Fn(c) if c.attached => match &c.captures[1] {
                Value::Fn(rule) => Some(rule.code),
                _ => None,
            },
            _ => None,
        };
        let calls = audit.calls.entry((f, attached)).or_default();
        if calls.len() < audit.most {
            calls.push(self.stack[first..first + count].to_vec());
        }
    }
}
