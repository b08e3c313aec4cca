//! Derivative clauses.
//!
//! In: the rules of a function. Out: the functions that a program keeps for them (`cotan_ir::Rules`).

use crate::frame::{Flow, Frame};
use crate::instances::{Code, Scope, Shared};
use cotan_core::{Expr, LocalId, PlaceStep, Rule};
use cotan_ir::{AdOp, FnId, Program};
use cotan_source::Span;

/// The rules of a top-level function.
pub(crate) fn top<'c>(
    _shared: &mut Shared<'c>,
    _program: &mut Program<AdOp>,
    _id: FnId,
    _scope: &Scope<'c>,
    _params: &'c [LocalId],
    _body: &'c Expr,
    _rules: &'c [Rule],
) {
}

/// The rules of a local function.
pub(crate) fn code<'c>(_shared: &mut Shared<'c>, _program: &mut Program<AdOp>, _code: &Code<'c>) {}

impl<'c> Frame<'_, 'c> {
    /// `adjoint(local).path += value`.
    pub fn accumulate(&mut self, _: LocalId, _: &'c [PlaceStep], _: &'c Expr, _: Span) -> Flow<()> {
        Ok(())
    }
}
