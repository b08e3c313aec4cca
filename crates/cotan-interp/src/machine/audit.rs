//! Which functions with rules a run calls, and on what.
//!
//! In: a run. Out: the first few calls of each function that has a rule of its own. Newly true: nothing; the run is as without.

use super::Machine;
use crate::value::Value;
use cotan_ir::FnId;
use indexmap::IndexMap;

/// The calls that were noted.
#[derive(Clone, Debug, Default)]
pub struct Audit {
    /// Arguments of calls, in the order of first calls: by function, and by the code of the rule where that was attached as
    /// a value (all attached functions of one type share their code).
    pub calls: IndexMap<(FnId, Option<FnId>), Vec<Vec<Value>>>,
    /// How many calls of a function are noted.
    pub most: usize,
}

impl Machine {
    /// From here on, calls of functions with rules are noted, at most so many of each.
    pub fn audit(&mut self, most: usize) {
        self.audit = Some(Box::new(Audit { calls: IndexMap::new(), most }));
    }

    /// Ends the audit; what was noted.
    pub fn audited(&mut self) -> Audit {
        self.audit.take().map(|a| *a).unwrap_or_default()
    }

    /// Notes a call whose arguments are the top of the stack.
    #[cold]
    pub(super) fn note_call(&mut self, f: FnId, first: usize) {
        let func = &self.program.fns[f];
        if func.rules.is_empty() {
            return;
        }
        let count = func.params.len();
        let Some(audit) = &mut self.audit else { return };
        let rule = func.captures.iter().flatten().position(|c| c.name == "rule");
        let attached = match (&self.stack[first], rule) {
            (Value::Fn(c), Some(i)) => match &c.captures[i] {
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
