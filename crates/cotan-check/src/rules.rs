//! Derivative clauses.
//!
//! In: the clauses after a function's body. Out: the core's rules. Newly true: a rule accumulates into
//! parameters and captured variables only, and mentions each that has a tangent.

use crate::context::{Checker, Want};
use crate::infer::Signature;
use cotan_core::{Expr, LocalId, Rule, StmtKind};
use cotan_source::Span;
use cotan_syntax::ast;

/// The clause whose code is being checked.
pub struct ClauseState {
    /// Number of frames around, the function's own included.
    pub depth: usize,
}

impl<'a> Checker<'a> {
    pub fn rules(&mut self, decl: &'a ast::FnDecl, signature: &Signature<'a>, params: &[LocalId]) -> Vec<Rule> {
        let _ = (signature, params);
        for clause in &decl.clauses {
            self.error("E0503", clause.span, "derivative clauses are not supported yet");
        }
        Vec::new()
    }

    /// `tangent(p)` in a `jvp` clause.
    pub fn tangent_of_call(
        &mut self,
        callee: &'a ast::Expr,
        args: &'a [ast::Expr],
        span: Span,
        want: Want,
    ) -> Option<Expr> {
        let _ = (callee, args, span, want);
        None
    }

    /// `adjoint(p) += e;`.
    pub fn adjoint_stmt(
        &mut self,
        place: &'a ast::Expr,
        op: Option<ast::BinaryOp>,
        value: &'a ast::Expr,
        span: Span,
    ) -> Option<Option<StmtKind>> {
        let _ = (place, op, value, span);
        None
    }

    pub fn refuse_shadowing(&mut self, name: &'a ast::Ident) {
        let _ = name;
    }
}
