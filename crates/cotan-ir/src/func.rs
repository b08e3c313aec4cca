//! Functions, blocks and statements.

use crate::{Atom, FnId, Never, Op, Operator, TypeId, Var};
use cotan_source::{IndexVec, Span};
use rustc_hash::FxHashMap;

/// A function. Names of variables are unique in it; nested blocks see the variables of the outer ones.
#[derive(Clone, Debug, PartialEq)]
pub struct Func<A = Never> {
    /// A readable name, not unique.
    pub name: String,
    /// Parameters. The code of a closure has two: the closure itself and the argument.
    pub params: Vec<Var>,
    /// Result types.
    pub results: Vec<TypeId>,
    /// The code.
    pub body: Block<A>,
    /// All variables.
    pub vars: IndexVec<Var, VarInfo>,
    /// For the code of a closure: the captured variables.
    pub captures: Option<Vec<Capture>>,
    /// Derivatives given by the program.
    pub rules: Rules,
    /// Its place.
    pub span: Span,
}

/// A captured variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capture {
    /// Name in the source.
    pub name: String,
    /// Type.
    pub ty: TypeId,
}

/// Derivatives given by the program instead of made, with the signatures of [`Derive`](crate::Derive).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// `Fwd` and `Bwd`.
    pub vjp: Option<(FnId, FnId)>,
    /// `Jvp`.
    pub jvp: Option<FnId>,
}

impl Rules {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.vjp.is_none() && self.jvp.is_none()
    }
}

/// A variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VarInfo {
    /// Type.
    pub ty: TypeId,
    /// The user's name, if there is one.
    pub name: Option<String>,
}

/// Statements and results.
#[derive(Clone, Debug, PartialEq)]
pub struct Block<A = Never> {
    /// Statements in order.
    pub stmts: Vec<Stmt<A>>,
    /// Results.
    pub results: Vec<Atom>,
}

impl<A> Default for Block<A> {
    fn default() -> Self {
        Block { stmts: Vec::new(), results: Vec::new() }
    }
}

/// A statement.
#[derive(Clone, Debug, PartialEq)]
pub struct Stmt<A = Never> {
    /// The variables that it defines, one per result.
    pub vars: Vec<Var>,
    /// The operation.
    pub op: Op<A>,
    /// The user's line, also through differentiation.
    pub span: Span,
}

impl<A: Operator> Func<A> {
    /// Whether the code is there; a function that was only declared has none yet.
    pub fn is_written(&self) -> bool {
        self.body.results.len() == self.results.len() && !(self.params.is_empty() && self.vars.is_empty())
    }

    /// The code of the function with `args` for its parameters and new variables from `vars`, to stand in place of a call at `span`.
    ///
    /// What goes wrong in a function of another file shall name the line that called it, which is gone then: such statements get
    /// the place of the call.
    pub fn inlined(
        &self,
        args: impl IntoIterator<Item = Atom>,
        vars: &mut IndexVec<Var, VarInfo>,
        span: Span,
    ) -> Block<A> {
        let mut map: FxHashMap<Var, Atom> = self.params.iter().copied().zip(args).collect();
        let mut copy = self.body.fresh_copy(&mut map, &mut |v| vars.push(self.vars[v].clone()));
        if !span.is_none() && self.span.file != span.file {
            copy.stmts.iter_mut().for_each(|stmt| move_here(stmt, span));
        }
        copy
    }
}

/// Gives a statement and what is inside of it the place `span`, but for what is of that file already.
fn move_here<A: Operator>(stmt: &mut Stmt<A>, span: Span) {
    if stmt.span.file != span.file {
        stmt.span = span;
    }
    stmt.op.for_each_block_mut(|block| block.stmts.iter_mut().for_each(|stmt| move_here(stmt, span)));
}
