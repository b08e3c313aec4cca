//! Cotangents of the variables of a block, and how an inner block reaches the variables of an outer one.
//!
//! A float of the block itself has a running sum. A float of an outer block is, from inside a branch, a result of the backward
//! branch, and from inside a loop, an accumulator that lives around the loop. Everything else from outside is an accumulator of the
//! block that defines it.

use super::{Reverse, View};
use crate::writer::Tree;
use cotan_ir::{Atom, Block, Op, Step, Stmt, Type, TypeId, Var};
use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashMap};

/// How often a block runs when the block around it runs once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// At most once.
    Branch,
    /// Any number of times.
    Loop,
}

/// A block that is being walked.
pub(crate) struct Region {
    kind: Kind,
    /// Values of the forward part, in order.
    pub(crate) defined: Vec<Var>,
    nodes: FxHashMap<Var, Node>,
    /// Statements that the forward part needs right behind a variable (its extents).
    after: FxHashMap<Var, Vec<Stmt>>,
    /// Floats of outer blocks, by variable and path: sums in a branch, accumulators in a loop.
    outer: IndexMap<(Var, Vec<u32>), Atom, FxBuildHasher>,
}

/// The cotangent of a variable so far.
#[derive(Debug)]
pub(crate) enum Node {
    /// Holds no float.
    Nothing,
    /// A sum.
    Float(Option<Atom>),
    /// Anything else that is no tuple.
    Leaf(Leaf),
    /// Componentwise.
    Tuple(Vec<Node>),
}

/// The cotangent of a non-float.
#[derive(Clone, Debug)]
pub(crate) enum Leaf {
    /// Zero.
    None,
    /// A sparse tangent.
    Value(Atom),
    /// Its own accumulator.
    Acc(Atom),
    /// A part of the accumulator of another variable: nothing is left to do where the variable is defined.
    View(Atom),
}

/// A block walked to its start.
pub(crate) struct Walked {
    /// The statements of the forward part.
    pub(crate) fwd: Vec<Stmt>,
    /// Values of the forward part of this block that the backward part uses.
    pub(crate) saved: Vec<Var>,
    /// The backward part.
    pub(crate) bwd: Block,
    /// See [`Region::outer`].
    pub(crate) outer: IndexMap<(Var, Vec<u32>), Atom, FxBuildHasher>,
}

impl Reverse<'_> {
    /// Walks a block backwards. `start` gives the cotangents of its results, `finish` the results of the backward block.
    pub(super) fn region(
        &mut self,
        kind: Kind,
        params: &[Var],
        block: &Block,
        start: impl FnOnce(&mut Self) -> Vec<Tree>,
        finish: impl FnOnce(&mut Self) -> Vec<Atom>,
    ) -> Walked {
        if !self.regions.is_empty() {
            self.w.open_block();
        }
        self.regions.push(Region {
            kind,
            defined: Vec::new(),
            nodes: FxHashMap::default(),
            after: FxHashMap::default(),
            outer: IndexMap::default(),
        });
        params.iter().for_each(|p| self.define(*p));
        let stmts = self.forward_rules_in_place(&block.stmts);
        for stmt in stmts.iter() {
            stmt.vars.iter().for_each(|v| self.define(*v));
            self.prepare(stmt);
        }
        let trees = start(self);
        for (atom, tree) in block.results.iter().zip(trees) {
            self.contribute(atom, tree);
        }
        let mut reversed: Vec<Stmt> = Vec::new();
        for stmt in stmts.iter().rev() {
            self.w.span = stmt.span;
            let fwd = self.stmt(stmt);
            reversed.extend(fwd.into_iter().rev());
        }
        let results: Vec<Atom> = finish(self).into_iter().map(|a| self.w.resolved(a)).collect();
        results.iter().for_each(|a| self.w.mark(a));
        let mut region = self.regions.pop().expect("the region was pushed");
        let stmts = if self.regions.is_empty() { self.w.take_outermost() } else { self.w.close_block() };
        let saved: Vec<Var> = region.defined.iter().copied().filter(|v| self.w.is_used(*v)).collect();

        let mut fwd = Vec::with_capacity(reversed.len());
        for p in params {
            fwd.extend(region.after.remove(p).unwrap_or_default());
        }
        for stmt in reversed.into_iter().rev() {
            let vars = stmt.vars.clone();
            fwd.push(stmt);
            for v in vars {
                fwd.extend(region.after.remove(&v).unwrap_or_default());
            }
        }
        debug_assert!(region.after.is_empty());
        Walked { fwd, saved, bwd: Block { stmts, results }, outer: region.outer }
    }

    fn top(&self) -> usize {
        self.regions.len() - 1
    }

    fn new_node(&mut self, ty: TypeId) -> Node {
        match self.w.ty(ty).clone() {
            Type::F64 | Type::F32 => Node::Float(None),
            Type::Tuple(parts) => Node::Tuple(parts.into_iter().map(|p| self.new_node(p)).collect()),
            _ if self.w.differentiable(ty) => Node::Leaf(Leaf::None),
            _ => Node::Nothing,
        }
    }

    fn node_mut(&mut self, v: Var, path: &[u32]) -> &mut Node {
        let depth = self.depth_of(v);
        if !self.regions[depth].nodes.contains_key(&v) {
            let node = self.new_node(self.w.vars[v].ty);
            self.regions[depth].nodes.insert(v, node);
        }
        let mut node = self.regions[depth].nodes.get_mut(&v).expect("just made");
        for i in path {
            let Node::Tuple(parts) = node else { unreachable!("paths go through tuples") };
            node = &mut parts[*i as usize];
        }
        node
    }

    pub(super) fn leaf_mut(&mut self, v: Var, path: &[u32]) -> &mut Leaf {
        match self.node_mut(v, path) {
            Node::Leaf(leaf) => leaf,
            other => unreachable!("{other:?} is no leaf"),
        }
    }

    /// The sum of a float of the current region.
    pub(super) fn float_at(&mut self, v: Var, path: &[u32]) -> Option<Atom> {
        match self.node_mut(v, path) {
            Node::Float(sum) => sum.clone(),
            other => unreachable!("{other:?} is no float"),
        }
    }

    /// The type of a component of a variable.
    fn type_at(&self, v: Var, path: &[u32]) -> TypeId {
        let mut ty = self.w.vars[v].ty;
        for i in path {
            let Type::Tuple(parts) = self.w.ty(ty) else { unreachable!("paths go through tuples") };
            ty = parts[*i as usize];
        }
        ty
    }

    /// Adds a cotangent to an operand.
    pub(super) fn contribute(&mut self, target: &Atom, tree: Tree) {
        if let Atom::Var(v) = target {
            self.give(*v, &mut Vec::new(), tree);
        }
    }

    /// Adds a cotangent, one value, to an operand.
    pub(super) fn contribute_atom(&mut self, target: &Atom, atom: Atom) {
        self.contribute(target, Tree::Atom(atom));
    }

    /// Adds a cotangent to a component of a variable.
    pub(super) fn give(&mut self, v: Var, path: &mut Vec<u32>, tree: Tree) {
        if self.constants.contains(&v) {
            return;
        }
        match tree {
            Tree::None => {}
            Tree::Tuple(parts) => {
                for (i, part) in (0..).zip(parts) {
                    path.push(i);
                    self.give(v, path, part);
                    path.pop();
                }
            }
            Tree::Atom(atom) => {
                let atom = self.w.resolved(atom);
                let ty = self.type_at(v, path);
                match self.w.ty(ty) {
                    Type::Tuple(_) => {
                        let tan = self.w.tangent(ty);
                        let atom = self.w.coerce(atom, tan);
                        let tree = self.w.tree(atom);
                        self.give(v, path, tree);
                    }
                    Type::F64 | Type::F32 => self.give_float(v, path, atom),
                    _ if self.w.differentiable(ty) => {
                        let tan = self.w.tangent(ty);
                        let atom = self.w.coerce(atom, tan);
                        self.give_leaf(v, path, atom, tan);
                    }
                    _ => {}
                }
            }
        }
    }

    fn give_float(&mut self, v: Var, path: &[u32], atom: Atom) {
        let top = self.top();
        let ty = self.type_at(v, path);
        if self.depth_of(v) == top {
            let old = self.float_at(v, path);
            let sum = self.w.add(Tree::from(old), Tree::Atom(atom), ty);
            *self.node_mut(v, path) = Node::Float(sum.atom());
            return;
        }
        let key = (v, path.to_vec());
        match self.regions[top].kind {
            Kind::Branch => {
                let old = self.regions[top].outer.get(&key).cloned();
                let sum = self.w.add(Tree::from(old), Tree::Atom(atom), ty).atom().expect("a sum");
                self.regions[top].outer.insert(key, sum);
            }
            Kind::Loop => {
                let acc = match self.regions[top].outer.get(&key) {
                    Some(acc) => acc.clone(),
                    None => {
                        let acc_ty = self.w.acc(ty);
                        let acc = Atom::Var(self.w.emit_at(top - 1, Op::AccNew(None), acc_ty));
                        self.regions[top].outer.insert(key, acc.clone());
                        acc
                    }
                };
                self.w.run(Op::AccAdd { acc, value: atom });
            }
        }
    }

    fn give_leaf(&mut self, v: Var, path: &[u32], atom: Atom, tan: TypeId) {
        if self.depth_of(v) < self.top() {
            let acc = self.acc_for(v, path);
            self.w.run(Op::AccAdd { acc, value: atom });
            return;
        }
        match self.leaf_mut(v, path).clone() {
            Leaf::None => *self.leaf_mut(v, path) = Leaf::Value(atom),
            Leaf::Value(old) => {
                let sum = self.w.emit(Op::SpaceAdd(old, atom), tan);
                *self.leaf_mut(v, path) = Leaf::Value(sum);
            }
            Leaf::Acc(acc) | Leaf::View(acc) => self.w.run(Op::AccAdd { acc, value: atom }),
        }
    }

    /// The accumulator of a non-float component of a variable, made now if there is none yet.
    pub(super) fn acc_for(&mut self, v: Var, path: &[u32]) -> Atom {
        let depth = self.depth_of(v);
        let start = match self.leaf_mut(v, path).clone() {
            Leaf::Acc(acc) | Leaf::View(acc) => return acc,
            Leaf::Value(value) => Some(value),
            Leaf::None => None,
        };
        let acc_ty = {
            let ty = self.type_at(v, path);
            self.w.acc(ty)
        };
        if self.constants.contains(&v) {
            let null = Atom::Var(self.w.emit_at(depth, Op::AccNull, acc_ty));
            *self.leaf_mut(v, path) = Leaf::View(null.clone());
            return null;
        }
        let view = if path.is_empty() { self.views.get(&v).cloned() } else { None };
        let (acc, leaf) = match view {
            Some(view) => {
                let (base, step) = self.step_of(view);
                let whole = self.acc_of(&base);
                let part = Atom::Var(self.w.emit_at(depth, Op::AccPart { acc: whole, step }, acc_ty));
                if let Some(value) = start {
                    let span = self.w.span;
                    self.w.push_at(depth, Stmt { vars: vec![], op: Op::AccAdd { acc: part.clone(), value }, span });
                }
                (part.clone(), Leaf::View(part))
            }
            None => {
                let acc = Atom::Var(self.w.emit_at(depth, Op::AccNew(start), acc_ty));
                (acc.clone(), Leaf::Acc(acc))
            }
        };
        *self.leaf_mut(v, path) = leaf;
        acc
    }

    /// The accumulator of an operand that is no tuple and no float.
    pub(super) fn acc_of(&mut self, atom: &Atom) -> Atom {
        let v = atom.var().expect("only variables hold arrays, nominal types and functions");
        self.acc_for(v, &[])
    }

    /// A view as base and step.
    pub(super) fn step_of(&mut self, view: View) -> (Atom, Step) {
        match view {
            View::Step(base, step) => (base, step),
            View::Slice(array, subs) => {
                let extents = self.extents_of(&array);
                (array, Step::Index { subs, extents })
            }
        }
    }

    /// Takes the cotangent of a variable of the current region where it is defined.
    pub(super) fn take(&mut self, v: Var) -> Tree {
        let depth = self.top();
        debug_assert_eq!(self.depth_of(v), depth);
        match self.regions[depth].nodes.remove(&v) {
            None => Tree::None,
            Some(node) => {
                let ty = self.w.vars[v].ty;
                self.take_node(node, ty)
            }
        }
    }

    fn take_node(&mut self, node: Node, ty: TypeId) -> Tree {
        match node {
            Node::Nothing | Node::Float(None) | Node::Leaf(Leaf::None | Leaf::View(_)) => Tree::None,
            Node::Float(Some(a)) | Node::Leaf(Leaf::Value(a)) => Tree::Atom(a),
            Node::Leaf(Leaf::Acc(acc)) => {
                let tan = self.w.tangent(ty);
                Tree::Atom(self.w.emit(Op::AccTake(acc), tan))
            }
            Node::Tuple(nodes) => {
                let Type::Tuple(parts) = self.w.ty(ty).clone() else { unreachable!("a tuple has a tuple type") };
                Tree::Tuple(nodes.into_iter().zip(parts).map(|(n, ty)| self.take_node(n, ty)).collect())
            }
        }
    }

    /// The extents of an array of the forward part, as operands that the backward part may use.
    pub(super) fn extents_of(&mut self, array: &Atom) -> Vec<Atom> {
        let v = array.var().expect("arrays are variables");
        let v = self.same_shape.get(&v).copied().unwrap_or(v);
        if let Some(known) = self.extents.get(&v) {
            return known.clone();
        }
        let depth = self.depth_of(v);
        let (rank, _) = self.w.array(self.w.vars[v].ty).expect("an array");
        let int = self.w.intern(Type::I64);
        let mut atoms = Vec::new();
        for axis in 0..rank {
            let dim = self.w.var(int);
            self.define_at(depth, dim);
            let stmt = Stmt { vars: vec![dim], op: Op::Dim { array: v.into(), axis }, span: self.w.span };
            self.regions[depth].after.entry(v).or_default().push(stmt);
            atoms.push(Atom::Var(dim));
        }
        self.extents.insert(v, atoms.clone());
        atoms
    }
}
