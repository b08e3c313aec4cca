//! Writing the code of a derivative: open blocks, typed variables, tangent trees.
//!
//! In: operations. Out: statements with types and the current span. Newly true: each operand that was written is marked
//! as used, which is how the reverse mode finds out what its forward part has to keep.

use crate::State;
use cotan_ir::{
    Atom, Block, FnId, Func, Lit, Never, Op, Program, Rules, Stmt, Type, TypeId, Var, VarInfo, tangent_type,
};
use cotan_prim::{ArgKind, Prim, ScalarType};
use cotan_source::{Idx, IndexVec, Span};
use rustc_hash::FxHashMap;

/// A tangent or cotangent whose zeros are known where they are: `None` is zero; tuples are taken apart.
#[derive(Clone, Debug, Default)]
pub(crate) enum Tree {
    /// Zero.
    #[default]
    None,
    /// A value of the tangent type.
    Atom(Atom),
    /// Componentwise.
    Tuple(Vec<Tree>),
}

impl Tree {
    /// Whether it is known to be zero.
    pub(crate) fn is_none(&self) -> bool {
        match self {
            Tree::None => true,
            Tree::Atom(_) => false,
            Tree::Tuple(parts) => parts.iter().all(Tree::is_none),
        }
    }

    /// The part at a component of a tuple.
    pub(crate) fn part(self, index: u32) -> Tree {
        match self {
            Tree::None => Tree::None,
            Tree::Tuple(mut parts) => std::mem::take(&mut parts[index as usize]),
            Tree::Atom(_) => unreachable!("tuples are kept apart"),
        }
    }
}

impl Tree {
    /// The value, if it is one.
    pub(crate) fn atom(self) -> Option<Atom> {
        match self {
            Tree::Atom(a) => Some(a),
            Tree::None | Tree::Tuple(_) => None,
        }
    }

    /// The part at the end of a path through tuples.
    pub(crate) fn at(&self, path: &[u32]) -> Tree {
        path.iter().fold(self.clone(), |tree, i| tree.part(*i))
    }
}

impl From<Option<Atom>> for Tree {
    fn from(atom: Option<Atom>) -> Tree {
        atom.map_or(Tree::None, Tree::Atom)
    }
}

/// The writer. Variables of the function that is differentiated keep their numbers.
pub(crate) struct Writer<'p> {
    /// The program.
    pub(crate) program: &'p mut Program<Never>,
    /// What the differentiator remembers.
    pub(crate) state: &'p mut State,
    /// Variables, old ones first.
    pub(crate) vars: IndexVec<Var, VarInfo>,
    /// The place of the statements that are written.
    pub(crate) span: Span,
    /// Variables for which others are written.
    pub(crate) alias: FxHashMap<Var, Atom>,
    open: Vec<Vec<Stmt>>,
    used: Vec<bool>,
}

impl<'p> Writer<'p> {
    pub(crate) fn new(program: &'p mut Program<Never>, state: &'p mut State, vars: IndexVec<Var, VarInfo>) -> Self {
        Writer {
            program,
            state,
            vars,
            span: Span::NONE,
            alias: FxHashMap::default(),
            open: vec![Vec::new()],
            used: Vec::new(),
        }
    }

    /// A new variable.
    pub(crate) fn var(&mut self, ty: TypeId) -> Var {
        self.vars.push(VarInfo { ty, name: None })
    }

    /// A new variable named after another.
    pub(crate) fn var_like(&mut self, ty: TypeId, of: Var, suffix: &str) -> Var {
        let name = self.vars[of].name.as_ref().map(|n| format!("{n}{suffix}"));
        self.vars.push(VarInfo { ty, name })
    }

    /// How many blocks are open.
    pub(crate) fn depth(&self) -> usize {
        self.open.len() - 1
    }

    pub(crate) fn open_block(&mut self) {
        self.open.push(Vec::new());
    }

    pub(crate) fn close_block(&mut self) -> Vec<Stmt> {
        self.open.pop().expect("a block is open")
    }

    /// The statements of the outermost block.
    pub(crate) fn take_outermost(&mut self) -> Vec<Stmt> {
        std::mem::take(&mut self.open[0])
    }

    /// Adds a statement to the open block at `depth`.
    pub(crate) fn push_at(&mut self, depth: usize, mut stmt: Stmt) {
        if !self.alias.is_empty() {
            stmt.op.substitute(&self.alias);
        }
        stmt.op.for_each_atom(|a| {
            if let Atom::Var(v) = a {
                mark(&mut self.used, *v);
            }
        });
        self.open[depth].push(stmt);
    }

    /// Says that `atom` is used, as a result of a block.
    pub(crate) fn mark(&mut self, atom: &Atom) {
        if let Atom::Var(v) = atom {
            mark(&mut self.used, *v);
        }
    }

    /// The operand that is written for `atom`.
    pub(crate) fn resolved(&self, atom: Atom) -> Atom {
        atom.var().and_then(|v| self.alias.get(&v).cloned()).unwrap_or(atom)
    }

    /// Whether `v` was used by a statement written.
    pub(crate) fn is_used(&self, v: Var) -> bool {
        self.used.get(v.index()).copied().unwrap_or(false)
    }

    /// Adds statements that were written elsewhere.
    pub(crate) fn splice(&mut self, stmts: Vec<Stmt>) {
        for stmt in stmts {
            stmt.op.for_each_block(|b| b.for_each_use(&mut |v| mark(&mut self.used, v)));
            self.push_at(self.depth(), stmt);
        }
    }

    pub(crate) fn push(&mut self, vars: Vec<Var>, op: Op) {
        let span = self.span;
        self.push_at(self.depth(), Stmt { vars, op, span });
    }

    /// Adds a statement at `depth` with one new variable.
    pub(crate) fn emit_at(&mut self, depth: usize, op: Op, ty: TypeId) -> Var {
        let v = self.var(ty);
        let span = self.span;
        self.push_at(depth, Stmt { vars: vec![v], op, span });
        v
    }

    /// Adds a statement with one new variable.
    pub(crate) fn emit(&mut self, op: Op, ty: TypeId) -> Atom {
        Atom::Var(self.emit_at(self.depth(), op, ty))
    }

    /// Adds a statement with new variables of these types.
    pub(crate) fn emit_many(&mut self, op: Op, types: &[TypeId]) -> Vec<Var> {
        let vars: Vec<Var> = types.iter().map(|t| self.var(*t)).collect();
        self.push(vars.clone(), op);
        vars
    }

    /// Adds a statement without results.
    pub(crate) fn run(&mut self, op: Op) {
        self.push(Vec::new(), op);
    }

    /// A nested block written by `body`, which returns its results.
    pub(crate) fn block(&mut self, body: impl FnOnce(&mut Self) -> Vec<Atom>) -> Block {
        self.open_block();
        let results: Vec<Atom> = body(self).into_iter().map(|a| self.resolved(a)).collect();
        results.iter().for_each(|a| self.mark(a));
        Block { stmts: self.close_block(), results }
    }

    /// The finished function, its variables renumbered densely.
    pub(crate) fn func(&mut self, name: String, params: Vec<Var>, body: Block, span: Span) -> Func {
        let results = body.results.iter().map(|a| self.type_of(a)).collect();
        let mut func = Func {
            name,
            params,
            results,
            body,
            vars: self.vars.clone(),
            captures: None,
            rules: Rules::default(),
            span,
        };
        compact(&mut func);
        func
    }

    // Types.

    pub(crate) fn intern(&mut self, ty: Type) -> TypeId {
        self.program.intern(ty)
    }

    pub(crate) fn ty(&self, id: TypeId) -> &Type {
        self.program.ty(id)
    }

    pub(crate) fn type_of(&mut self, atom: &Atom) -> TypeId {
        match atom {
            Atom::Var(v) => self.vars[*v].ty,
            Atom::Lit(lit) => {
                let ty = match lit {
                    Lit::F64(_) => Type::F64,
                    Lit::F32(_) => Type::F32,
                    Lit::I64(_) => Type::I64,
                    Lit::Bool(_) => Type::Bool,
                    Lit::Str(_) => Type::Str,
                    Lit::Unit => Type::Tuple(Vec::new()),
                };
                self.intern(ty)
            }
        }
    }

    pub(crate) fn tangent(&mut self, ty: TypeId) -> TypeId {
        tangent_type(self.program, ty)
    }

    pub(crate) fn acc(&mut self, ty: TypeId) -> TypeId {
        self.intern(Type::Acc(ty))
    }

    pub(crate) fn is_float(&self, ty: TypeId) -> bool {
        matches!(self.ty(ty), Type::F64 | Type::F32)
    }

    /// Whether `ty` is `()` or tuples of it only.
    pub(crate) fn is_trivial(&self, ty: TypeId) -> bool {
        match self.ty(ty) {
            Type::Tuple(parts) => parts.iter().all(|p| self.is_trivial(*p)),
            _ => false,
        }
    }

    pub(crate) fn differentiable(&self, ty: TypeId) -> bool {
        cotan_ir::differentiable(self.program, ty)
    }

    /// Rank and element type of an array, or of the array that a sparse tangent belongs to.
    pub(crate) fn array(&self, ty: TypeId) -> Option<(u32, TypeId)> {
        match self.ty(ty) {
            Type::Array { rank, elem } => Some((*rank, *elem)),
            Type::Tan(of) => self.array(*of),
            _ => None,
        }
    }

    /// The literal `value` of a float type.
    pub(crate) fn float(&self, ty: TypeId, value: f64) -> Atom {
        match self.ty(ty) {
            Type::F32 => Atom::Lit(Lit::F32(value as f32)),
            _ => Atom::Lit(Lit::F64(value)),
        }
    }

    pub(crate) fn f(&self, id: FnId) -> &Func {
        &self.program.fns[id]
    }

    // Tangent trees.

    /// A tree as one value of the tangent type `ty`.
    pub(crate) fn whole(&mut self, tree: &Tree, ty: TypeId) -> Atom {
        match tree {
            Tree::Atom(a) => a.clone(),
            Tree::None if self.is_float(ty) => self.float(ty, 0.0),
            Tree::None => match self.ty(ty).clone() {
                Type::Tuple(parts) if parts.is_empty() => Atom::Lit(Lit::Unit),
                _ => self.emit(Op::Zero, ty),
            },
            Tree::Tuple(trees) => {
                let Type::Tuple(parts) = self.ty(ty).clone() else { unreachable!("a tuple has a tuple type") };
                let atoms = trees.iter().zip(parts).map(|(t, ty)| self.whole(t, ty)).collect();
                self.emit(Op::Tuple(atoms), ty)
            }
        }
    }

    /// A value of a tangent type as tree.
    pub(crate) fn tree(&mut self, atom: Atom) -> Tree {
        let ty = self.type_of(&atom);
        match self.ty(ty).clone() {
            Type::Tuple(_) if self.is_trivial(ty) => Tree::None,
            Type::Tuple(parts) => Tree::Tuple(
                (0..)
                    .zip(parts)
                    .map(|(i, part)| {
                        if self.is_trivial(part) {
                            return Tree::None;
                        }
                        let atom = self.emit(Op::Proj(atom.clone(), i), part);
                        self.tree(atom)
                    })
                    .collect(),
            ),
            _ => Tree::Atom(atom),
        }
    }

    /// A tangent value as a value of the tangent type `ty`: the same if it has it, else seen as sparse.
    pub(crate) fn coerce(&mut self, atom: Atom, ty: TypeId) -> Atom {
        if self.type_of(&atom) == ty { atom } else { self.emit(Op::Sparse(atom), ty) }
    }

    /// The sum of two trees of tangent type `ty`.
    pub(crate) fn add(&mut self, a: Tree, b: Tree, ty: TypeId) -> Tree {
        match (a, b) {
            (Tree::None, t) | (t, Tree::None) => t,
            (Tree::Tuple(xs), Tree::Tuple(ys)) => {
                let Type::Tuple(parts) = self.ty(ty).clone() else { unreachable!("a tuple has a tuple type") };
                Tree::Tuple(xs.into_iter().zip(ys).zip(parts).map(|((x, y), ty)| self.add(x, y, ty)).collect())
            }
            (Tree::Atom(x), Tree::Atom(y)) if self.is_float(ty) => {
                Tree::Atom(self.emit(Op::Prim(Prim::Add, vec![x, y]), ty))
            }
            (Tree::Atom(x), Tree::Atom(y)) => Tree::Atom(self.emit(Op::SpaceAdd(x, y), ty)),
            (Tree::Atom(_), Tree::Tuple(_)) | (Tree::Tuple(_), Tree::Atom(_)) => unreachable!("tuples are kept apart"),
        }
    }

    // Scalar primitives, also over arrays.

    /// A primitive of operands that may be arrays of one shape.
    pub(crate) fn prim(&mut self, prim: Prim, args: Vec<Atom>) -> Atom {
        let mut rank = None;
        let mut operand = ScalarType::F64;
        for (kind, arg) in prim.args().iter().zip(&args) {
            let ty = self.type_of(arg);
            let scalar = match *self.ty(ty) {
                Type::Array { rank: r, elem } => {
                    rank = Some(r);
                    elem
                }
                _ => ty,
            };
            if *kind == ArgKind::T {
                operand = self.scalar_type(scalar);
            }
        }
        let elem = match prim.result_type(operand) {
            ScalarType::F64 => Type::F64,
            ScalarType::F32 => Type::F32,
            ScalarType::I64 => Type::I64,
            ScalarType::Bool => Type::Bool,
        };
        let elem = self.intern(elem);
        match rank {
            None => self.emit(Op::Prim(prim, args), elem),
            Some(rank) => {
                let ty = self.intern(Type::Array { rank, elem });
                self.emit(Op::Map(prim, args), ty)
            }
        }
    }

    fn scalar_type(&self, ty: TypeId) -> ScalarType {
        match self.ty(ty) {
            Type::F64 => ScalarType::F64,
            Type::F32 => ScalarType::F32,
            Type::I64 => ScalarType::I64,
            Type::Bool => ScalarType::Bool,
            other => unreachable!("{other:?} is no scalar"),
        }
    }
}

fn mark(used: &mut Vec<bool>, v: Var) {
    if used.len() <= v.index() {
        used.resize(v.index() + 1, false);
    }
    used[v.index()] = true;
}

/// Renumbers the variables of a function so that there are no others than its own.
fn compact(func: &mut Func) {
    let old = std::mem::take(&mut func.vars);
    let mut map = FxHashMap::default();
    for p in &mut func.params {
        let new = func.vars.push(old[*p].clone());
        map.insert(*p, Atom::Var(new));
        *p = new;
    }
    let vars = &mut func.vars;
    func.body.refresh(&mut map, &mut |v| vars.push(old[v].clone()));
}
