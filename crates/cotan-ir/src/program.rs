//! A program and the interface through which derivatives are made on demand.

use crate::{AdtId, Atom, Deriv, FnId, Func, Never, Op, Operator, Type, TypeId, TypeTable};
use cotan_source::{Diagnostic, IndexVec, Span};
use rustc_hash::{FxHashMap, FxHashSet};

/// A program: types, nominal types, functions.
#[derive(Clone, Debug)]
pub struct Program<A = Never> {
    /// Interned types.
    pub types: TypeTable,
    /// Nominal types.
    pub adts: IndexVec<AdtId, AdtDef>,
    /// Functions.
    pub fns: IndexVec<FnId, Func<A>>,
    /// Derivatives made so far.
    pub derived: FxHashMap<(FnId, Deriv), FnId>,
    /// The nominal type of the residual of a function, declared when first named, defined with its `Fwd`.
    pub residuals: FxHashMap<FnId, AdtId>,
    /// Codes of function values with a rule attached at run time; they capture the function and the rule.
    pub attached: FxHashSet<FnId>,
}

impl<A> Default for Program<A> {
    fn default() -> Self {
        Program {
            types: TypeTable::default(),
            adts: IndexVec::new(),
            fns: IndexVec::new(),
            derived: FxHashMap::default(),
            residuals: FxHashMap::default(),
            attached: FxHashSet::default(),
        }
    }
}

impl<A> Program<A> {
    /// The type of `id`.
    pub fn ty(&self, id: TypeId) -> &Type {
        self.types.get(id)
    }

    /// The top-level function that a function value stands for, if `code` is that of such a value: it only calls the function.
    pub fn named_function(&self, code: FnId) -> Option<FnId>
    where
        A: Operator,
    {
        let f = &self.fns[code];
        if f.captures.as_ref().is_none_or(|c| !c.is_empty()) {
            return None;
        }
        let (last, before) = f.body.stmts.split_last()?;
        let Op::Call { func, .. } = &last.op else { return None };
        let passes_on = before.iter().all(|s| matches!(s.op, Op::Proj(..)))
            && f.body.results.iter().map(Atom::var).eq(last.vars.iter().copied().map(Some));
        // A closure that does no more than call the function is a function of its own.
        let same = self.fns[*func].span == f.span && self.fns[*func].name == f.name;
        (passes_on && same).then_some(*func)
    }

    /// Interns a type.
    pub fn intern(&mut self, ty: Type) -> TypeId {
        self.types.intern(ty)
    }
}

/// A nominal type at given arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdtDef {
    /// Name, with type arguments: `List<Float>`.
    pub name: String,
    /// Variants; a structure has one.
    pub variants: Vec<VariantDef>,
    /// What it is.
    pub kind: AdtKind,
}

/// A variant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VariantDef {
    /// Name.
    pub name: String,
    /// Whether the fields are named in the source.
    pub named: bool,
    /// Names and types of the fields.
    pub fields: Vec<(String, TypeId)>,
}

/// Kinds of nominal types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AdtKind {
    /// Declared by `struct`.
    Struct,
    /// Declared by `enum`.
    Enum,
    /// What a forward part keeps; one variant per way through a branch.
    Residual,
}

/// The error for derivatives of derivatives that do not come to an end.
pub fn derivatives_without_end(span: Span, of: &str) -> Diagnostic {
    Diagnostic::error("E0718", span, format!("derivatives of derivatives of {of} nest without end"))
        .at("this is differentiated again and again")
        .note("a derivative clause that calls its own function under a derivative uses itself again, at the next order")
        .hint("move the body into a function without a clause, and call that one in the clause")
}

/// Makes derivatives on demand. `cotan-ad` implements it (with the optimiser in between); the evaluator calls it when a
/// function value meets a derivative that was not made yet.
///
/// Signatures, for `g(p1 .. pn) -> (r1 .. rm)`. `Tan` is [`tangent_type`](crate::tangent_type); `leaves` are the
/// differentiable components of a type below its tuples ([`leaves`](crate::leaves)):
/// - `g.Jvp(p1 .. pn, then Tan(pi) for each differentiable pi that is not an accumulator, and for each parameter of type
///   `Acc<T>` a second accumulator) -> (r1 .. rm, then Tan(rj) for each differentiable rj)`;
/// - `g.Fwd(p1 .. pn) -> (r1 .. rm, residual)`: the residual is a nominal type of `g` (`residuals`);
/// - `g.Bwd(residual, then Tan(rj) for each differentiable rj, then for each parameter and each of its leaves: nothing if it is
///   a float, an accumulator `Acc<leaf>` if it is not; for a parameter of type `Acc<T>`: what was taken from it, a `Tan(T)`)
///   -> (one float per float leaf of the parameters, in order)`.
pub trait Derive {
    /// The function that is the derivative `which` of `function`, made now if it was not before.
    fn derive(&self, program: &mut Program<Never>, function: FnId, which: Deriv) -> Result<FnId, Box<Diagnostic>>;

    /// The function whose code runs in place of `function`'s. The rules of what it calls matter where it is differentiated; where
    /// it runs, derivatives of it were taken already.
    fn running(&self, _program: &mut Program<Never>, function: FnId) -> FnId {
        function
    }

    /// From now on rules are called, and do not become a part of their callers.
    fn keep_rules(&self) {}
}
