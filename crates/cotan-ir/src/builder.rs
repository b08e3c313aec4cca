//! Making functions.
//!
//! In: operations one after the other. Out: a [`Func`] whose variables all have types. Newly true: every statement has
//! a span (the current one) and as many variables as the operation has results.

use crate::infer::{atom_type, result_types};
use crate::{Atom, Block, Capture, Func, Op, Operator, Program, Rules, Stmt, TypeId, Var, VarInfo};
use cotan_source::{IndexVec, Span};

/// A function that is being made. The program stays reachable for types and other functions.
pub struct FuncBuilder<'p, A> {
    /// The program that the function will belong to.
    pub program: &'p mut Program<A>,
    name: String,
    params: Vec<Var>,
    vars: IndexVec<Var, VarInfo>,
    captures: Option<Vec<Capture>>,
    span: Span,
    /// Statements of the open blocks, the innermost last; never empty.
    open: Vec<Vec<Stmt<A>>>,
}

impl<'p, A: Operator> FuncBuilder<'p, A> {
    /// A function without parameters and statements.
    pub fn new(program: &'p mut Program<A>, name: impl Into<String>) -> Self {
        FuncBuilder {
            program,
            name: name.into(),
            params: Vec::new(),
            vars: IndexVec::new(),
            captures: None,
            span: Span::NONE,
            open: vec![Vec::new()],
        }
    }

    /// The span of the statements from here on.
    pub fn set_span(&mut self, span: Span) {
        self.span = span;
    }

    /// The current span.
    pub fn span(&self) -> Span {
        self.span
    }

    /// Says that this is the code of a closure; its first parameter is the closure.
    pub fn set_captures(&mut self, captures: Vec<Capture>) {
        self.captures = Some(captures);
    }

    /// Adds a parameter.
    pub fn param(&mut self, ty: TypeId, name: Option<String>) -> Var {
        let v = self.var(ty, name);
        self.params.push(v);
        v
    }

    /// A new variable, to be bound by an operation.
    pub fn var(&mut self, ty: TypeId, name: Option<String>) -> Var {
        self.vars.push(VarInfo { ty, name })
    }

    /// Gives a variable the user's name unless it has one.
    pub fn name_var(&mut self, var: Var, name: &str) {
        self.vars[var].name.get_or_insert_with(|| name.to_string());
    }

    /// The type of a variable.
    pub fn var_type(&self, var: Var) -> TypeId {
        self.vars[var].ty
    }

    /// What is known of a variable.
    pub fn var_info(&self, var: Var) -> &VarInfo {
        &self.vars[var]
    }

    /// The type of an operand.
    pub fn type_of(&mut self, atom: &Atom) -> TypeId {
        atom_type(self.program, &self.vars, atom)
    }

    /// Adds a statement whose results have these types.
    pub fn emit(&mut self, op: Op<A>, types: &[TypeId]) -> Vec<Var> {
        let vars: Vec<Var> = types.iter().map(|ty| self.vars.push(VarInfo { ty: *ty, name: None })).collect();
        self.push(Stmt { vars: vars.clone(), op, span: self.span });
        vars
    }

    /// Adds a statement with one result.
    pub fn emit1(&mut self, op: Op<A>, ty: TypeId) -> Var {
        let var = self.vars.push(VarInfo { ty, name: None });
        self.push(Stmt { vars: vec![var], op, span: self.span });
        var
    }

    /// Adds a statement without results.
    pub fn emit0(&mut self, op: Op<A>) {
        self.push(Stmt { vars: Vec::new(), op, span: self.span });
    }

    /// Adds a statement whose result types follow from the operation (see [`result_types`]).
    ///
    /// # Panics
    /// Where they do not follow or the operation is ill-typed: a mistake of the calling pass.
    pub fn emit_typed(&mut self, op: Op<A>) -> Vec<Var> {
        match result_types(self.program, &self.vars, &op) {
            Ok(Some(types)) => self.emit(op, &types),
            Ok(None) => panic!("result type of {op:?} does not follow from its operands"),
            Err(fault) => panic!("{fault} in {op:?}"),
        }
    }

    /// As [`emit_typed`](Self::emit_typed), for an operation with one result.
    pub fn emit_typed1(&mut self, op: Op<A>) -> Var {
        self.emit_typed(op)[0]
    }

    /// Adds a finished statement.
    pub fn push(&mut self, stmt: Stmt<A>) {
        self.open.last_mut().expect("a block is open").push(stmt);
    }

    /// Opens a nested block: statements go there until [`end_block`](Self::end_block).
    pub fn begin_block(&mut self) {
        self.open.push(Vec::new());
    }

    /// Closes the innermost block.
    pub fn end_block(&mut self, results: Vec<Atom>) -> Block<A> {
        assert!(self.open.len() > 1, "end_block without begin_block");
        Block { stmts: self.open.pop().expect("a block is open"), results }
    }

    /// A nested block made by `body`, which returns the results.
    pub fn block(&mut self, body: impl FnOnce(&mut Self) -> Vec<Atom>) -> Block<A> {
        self.begin_block();
        let results = body(self);
        self.end_block(results)
    }

    /// The function, to be put into the program.
    pub fn finish(mut self, results: Vec<Atom>, span: Span) -> Func<A> {
        assert!(self.open.len() == 1, "a nested block is open");
        let types = results.iter().map(|a| atom_type(self.program, &self.vars, a)).collect();
        Func {
            name: self.name,
            params: self.params,
            results: types,
            body: Block { stmts: self.open.pop().expect("a block is open"), results },
            vars: self.vars,
            captures: self.captures,
            rules: Rules::default(),
            span,
        }
    }
}
