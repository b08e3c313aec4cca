//! Statements.
//!
//! In: a statement of the core. Out: the operations that it makes, and new values of the variables that it assigns.

use crate::frame::{Flow, Frame};
use cotan_core::{Stmt, StmtKind};

impl<'c> Frame<'_, 'c> {
    /// A statement.
    pub fn stmt(&mut self, stmt: &'c Stmt) -> Flow<()> {
        self.b.set_span(stmt.span);
        match &stmt.kind {
            StmtKind::Let { pattern, value } => {
                let value = self.value(value)?;
                self.b.set_span(stmt.span);
                self.bind(pattern, &value);
                Ok(())
            }
            StmtKind::LocalFn(id) => {
                self.declare_local_fn(*id);
                Ok(())
            }
            StmtKind::Assign { local, path, op, value } => self.assign(*local, path, *op, value, stmt.span),
            StmtKind::Adjoint { local, path, value } => self.accumulate(*local, path, value, stmt.span),
            StmtKind::Expr(e) => {
                self.value(e)?;
                Ok(())
            }
            StmtKind::For { pattern, iter, body } => self.for_loop(pattern, iter, body, stmt.span),
            StmtKind::While { cond, body } => self.while_loop(cond, body, stmt.span),
            StmtKind::BindSize { local, sources } => self.bind_size(*local, sources),
            StmtKind::CheckSizes(checks) => self.check_sizes(checks, None),
        }
    }
}
