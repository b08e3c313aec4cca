//! Sizes.
//!
//! In: which extents give a size variable, and which must agree with one. Out: reads of extents and checks. An extent behind an
//! empty dimension says nothing and is skipped.

use crate::frame::{Flow, Frame, Slot};
use cotan_core::{Expr, LocalId, SizeCheck};
use cotan_ir::{Atom, Op};
use cotan_prim::Prim;

impl<'c> Frame<'_, 'c> {
    /// Binds a size variable to the first extent that says something, else 0.
    pub fn bind_size(&mut self, local: LocalId, sources: &'c [(Expr, usize)]) -> Flow<()> {
        let size = self.first_size(sources)?;
        self.bind_local(local, size);
        Ok(())
    }

    fn first_size(&mut self, sources: &'c [(Expr, usize)]) -> Flow<Atom> {
        let Some(((array, axis), rest)) = sources.split_first() else { return Ok(Atom::int(0)) };
        let array = self.value(array)?;
        let Some(cond) = self.outer_extents(&array, *axis) else {
            return Ok(self.emit(Op::Dim { array, axis: *axis as u32 }));
        };
        self.b.begin_block();
        let found = self.emit(Op::Dim { array, axis: *axis as u32 });
        let then = self.b.end_block(vec![found]);
        let int = self.b.program.intern(cotan_ir::Type::I64);
        let otherwise = self.region(false, Vec::new(), Some(int), |f| f.first_size(rest));
        Ok(self.emit(Op::If { cond, then, otherwise }))
    }

    /// Whether no dimension outside of `axis` is empty; `None` if there is none.
    fn outer_extents(&mut self, array: &Atom, axis: usize) -> Option<Atom> {
        let mut all: Option<Atom> = None;
        for outer in 0..axis {
            let extent = self.emit(Op::Dim { array: array.clone(), axis: outer as u32 });
            let some = self.emit(Op::Prim(Prim::Gt, vec![extent, Atom::int(0)]));
            all = Some(match all {
                None => some,
                Some(before) => self.emit(Op::Prim(Prim::And, vec![before, some])),
            });
        }
        all
    }

    /// Checks of sizes; `value` is the array of the checks that name none.
    pub fn check_sizes(&mut self, checks: &'c [SizeCheck], value: Option<&Atom>) -> Flow<()> {
        for check in checks {
            let array = match (&check.array, value) {
                (Some(array), _) => self.value(array)?,
                (None, Some(value)) => value.clone(),
                (None, None) => self.get(Slot::ReturnValue),
            };
            self.b.set_span(check.span);
            match self.outer_extents(&array, check.axis) {
                None => self.check(check, array)?,
                Some(cond) => {
                    let mut outcome = Ok(());
                    let then = self.region(false, Vec::new(), None, |f| {
                        outcome = f.check(check, array);
                        Ok(crate::frame::unit())
                    });
                    outcome?;
                    let otherwise = self.b.block(|_| Vec::new());
                    self.b.emit0(Op::If { cond, then, otherwise });
                }
            }
        }
        Ok(())
    }

    fn check(&mut self, check: &'c SizeCheck, array: Atom) -> Flow<()> {
        let actual = self.emit(Op::Dim { array, axis: check.axis as u32 });
        let expected = self.value(&check.expected)?;
        self.b.set_span(check.span);
        let what = format!("axis {} of {}", check.axis, check.what).into();
        let size = check.size_text.as_str().into();
        self.b.emit0(Op::CheckSize { actual, expected, what, size });
        Ok(())
    }
}
