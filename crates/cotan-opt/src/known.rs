//! What is known of the variables of a function while it is walked from the top.
//!
//! In: definitions, as they come by. Out: the defining operation, type, variant or replacement of a variable. A fact is
//! recorded when its definition was passed, so it holds wherever the variable is in scope.

use cotan_ir::{Atom, FnId, Op, Operator, Program, Type, Var, VarInfo};
use cotan_source::{Idx, IndexVec};
use rustc_hash::FxHashMap;

pub(crate) struct Known<'p, A> {
    pub(crate) program: &'p Program<A>,
    pub(crate) vars: IndexVec<Var, VarInfo>,
    /// Operations without blocks, and what is left of those with them (see `define_result`).
    defs: Vec<Option<Op<A>>>,
    replaced: Vec<Option<Atom>>,
    /// Values of conditions inside their branches.
    assumed: FxHashMap<Var, Atom>,
    variants: FxHashMap<Var, u32>,
}

impl<'p, A: Operator> Known<'p, A> {
    pub(crate) fn new(program: &'p Program<A>, vars: IndexVec<Var, VarInfo>) -> Self {
        let n = vars.len();
        Known {
            program,
            vars,
            defs: vec![None; n],
            replaced: vec![None; n],
            assumed: FxHashMap::default(),
            variants: FxHashMap::default(),
        }
    }

    /// The operation that defines an operand.
    pub(crate) fn def(&self, atom: &Atom) -> Option<&Op<A>> {
        self.defs.get(atom.var()?.index())?.as_ref()
    }

    /// The type of an operand, unless it is a literal.
    pub(crate) fn ty(&self, atom: &Atom) -> Option<&'p Type> {
        Some(self.program.ty(self.vars[atom.var()?].ty))
    }

    /// The code of a closure that is known here.
    pub(crate) fn code(&self, atom: &Atom) -> Option<(FnId, &[Atom])> {
        match self.def(atom)? {
            Op::Closure { code, captures } => Some((*code, captures)),
            _ => None,
        }
    }

    /// The variant of a value.
    pub(crate) fn variant(&self, atom: &Atom) -> Option<u32> {
        match self.def(atom) {
            Some(Op::Adt { variant, .. }) => Some(*variant),
            _ => self.variants.get(&atom.var()?).copied(),
        }
    }

    /// Sets or forgets the variant of a variable; the one before.
    pub(crate) fn assume_variant(&mut self, v: Var, variant: Option<u32>) -> Option<u32> {
        match variant {
            Some(variant) => self.variants.insert(v, variant),
            None => self.variants.remove(&v),
        }
    }

    /// Sets or forgets the value of a condition.
    pub(crate) fn assume(&mut self, v: Var, value: Option<Atom>) {
        match value {
            Some(value) => self.assumed.insert(v, value),
            None => self.assumed.remove(&v),
        };
    }

    pub(crate) fn define(&mut self, v: Var, op: &Op<A>) {
        self.defs[v.index()] = Some(op.clone());
    }

    /// Results of operations with blocks: of a comprehension, its extents are known.
    pub(crate) fn define_result(&mut self, v: Var, op: &Op<A>, _position: usize) {
        if let Op::Build { extents, indices, .. } = op {
            let body = cotan_ir::Block::default();
            self.defs[v.index()] = Some(Op::Build { extents: extents.clone(), indices: indices.clone(), body });
        }
    }

    /// From here on, `value` stands for `v`.
    pub(crate) fn replace(&mut self, v: Var, value: Atom) {
        if let Atom::Var(new) = value
            && self.vars[new].name.is_none()
        {
            self.vars[new].name = self.vars[v].name.take();
        }
        self.replaced[v.index()] = Some(value);
    }

    pub(crate) fn is_replaced(&self, v: Var) -> bool {
        self.replaced[v.index()].is_some()
    }

    /// Puts the replacement of a variable in its place. Values were resolved when they became replacements, so one
    /// step is enough; only conditions learn more later.
    pub(crate) fn resolve(&self, atom: &mut Atom) {
        if let Atom::Var(v) = atom
            && let Some(new) = &self.replaced[v.index()]
        {
            *atom = new.clone();
        }
        if let Atom::Var(v) = atom
            && let Some(new) = self.assumed.get(v)
        {
            *atom = new.clone();
        }
    }

    pub(crate) fn resolved(&self, atom: &Atom) -> Atom {
        let mut atom = atom.clone();
        self.resolve(&mut atom);
        atom
    }
}
