//! The types that inference works with: an arena of nodes, variables, generic parameters and origins.
//!
//! In: nothing. Out: [`Types`], the store that unification changes. Newly true: nothing yet; a type may
//! still be a variable. [`hole`] lets the core's own trees carry such types until they are finished.

use crate::constraints::Deferred;
use cotan_core::{AdtId, Constraint, FnId, ParamId, Ty};
use cotan_source::Span;
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// A type in the arena.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct T(pub u32);

impl T {
    pub const FLOAT: T = T(0);
    pub const FLOAT32: T = T(1);
    pub const INT: T = T(2);
    pub const BOOL: T = T(3);
    pub const STR: T = T(4);
    pub const UNIT: T = T(5);
    pub const ERROR: T = T(6);
}

/// One layer of a type.
#[derive(Clone, Debug)]
pub enum Node {
    Float,
    Float32,
    Int,
    Bool,
    Str,
    /// After an error: equal to everything.
    Error,
    Tuple(Rc<[T]>),
    Array(T),
    Adt(AdtId, Rc<[T]>),
    /// Argument, result and which function it is.
    Fn(T, T, Origin),
    /// A rigid parameter.
    Param(ParamId),
    /// The tangent of a rigid parameter, a function, or a data type that is not its own tangent.
    Tangent(T),
    Var(Var),
}

/// An inference variable.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Var(pub u32);

/// Which function a function type stands for, as far as is known: a variable of its own kind.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Origin(pub u32);

/// The maker of a function value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Maker {
    /// A closure or local function: an index into what the checker noted of their captures.
    Inner(usize),
    /// A top-level function.
    Fn(FnId),
}

/// What is known of an origin.
#[derive(Clone, Copy, Debug)]
pub enum OriginState {
    Unknown {
        level: u32,
    },
    Known(Maker),
    /// Several functions meet here.
    Many,
    Same(Origin),
}

/// What is asked of a variable or parameter; `Num` and `Space` together are `Real`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Bits(pub u8);

impl Bits {
    pub const NONE: Bits = Bits(0);
    pub const NUM: Bits = Bits(1);
    pub const SPACE: Bits = Bits(2);
    pub const REAL: Bits = Bits(3);

    pub fn has(self, other: Bits) -> bool {
        self.0 & other.0 == other.0
    }

    pub fn with(self, other: Bits) -> Bits {
        Bits(self.0 | other.0)
    }

    pub fn constraint(self) -> Constraint {
        match self.0 {
            0 => Constraint::Any,
            1 => Constraint::Num,
            2 => Constraint::Space,
            _ => Constraint::Real,
        }
    }

    pub fn of(constraint: Constraint) -> Bits {
        match constraint {
            Constraint::Any => Bits::NONE,
            Constraint::Num => Bits::NUM,
            Constraint::Space => Bits::SPACE,
            Constraint::Real => Bits::REAL,
        }
    }
}

/// The literal that a variable stands for, which decides its default.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Literal {
    None,
    Int,
    Float,
}

/// The state of a variable.
#[derive(Clone, Debug)]
pub struct VarState {
    pub link: Option<T>,
    pub level: u32,
    pub bits: Bits,
    pub literal: Literal,
    /// The tangent of this variable, if anything asked for it.
    pub tangent: Option<T>,
    /// The type whose tangent this variable is.
    pub point: Option<T>,
    /// Deferred constraints to look at again when this variable is bound.
    pub watchers: Vec<u32>,
    /// Height of the tree of variables that are bound to this one.
    pub rank: u32,
    pub span: Span,
}

/// A rigid parameter.
#[derive(Clone, Debug)]
pub struct ParamState {
    pub name: String,
    pub bits: Bits,
    /// The programmer wrote a constraint: nothing may be added to it.
    pub declared: bool,
    pub level: u32,
    pub span: Span,
}

/// Which arguments of a data type must be spaces for it to be one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AdtSpace {
    /// It holds something that is not its own tangent, whatever its arguments are.
    pub never: bool,
    /// Positions of the arguments that must be spaces.
    pub needs: Vec<usize>,
}

/// Layers of the largest type that is worked with: repeated pairing doubles a type at each step.
const LARGEST: u32 = 20_000;

/// The store.
pub struct Types {
    pub nodes: Vec<Node>,
    /// How many layers each type had when it was made.
    sizes: Vec<u32>,
    /// Whether a type has become larger than can be worked with since this was last reported.
    pub too_large: bool,
    pub vars: Vec<VarState>,
    pub origins: Vec<OriginState>,
    pub params: Vec<ParamState>,
    pub adt_names: Vec<String>,
    pub adt_spaces: Vec<AdtSpace>,
    pub level: u32,
    pub deferred: Vec<Option<Deferred>>,
    pub ready: Vec<u32>,
    /// Constraints and the variables that they watch.
    pub watched: FxHashSet<(u32, Var)>,
    /// Whether `ready` is being worked off.
    pub solving: bool,
    /// Variables of literals, for defaults.
    pub literals: Vec<T>,
    /// Variables whose tangents were asked for.
    pub points: Vec<T>,
    pub(crate) work: Vec<(T, T)>,
}

impl Types {
    pub fn new() -> Self {
        let nodes =
            vec![Node::Float, Node::Float32, Node::Int, Node::Bool, Node::Str, Node::Tuple(Rc::from([])), Node::Error];
        Types {
            sizes: vec![1; nodes.len()],
            too_large: false,
            nodes,
            vars: Vec::new(),
            origins: Vec::new(),
            params: Vec::new(),
            adt_names: Vec::new(),
            adt_spaces: Vec::new(),
            level: 0,
            deferred: Vec::new(),
            ready: Vec::new(),
            watched: FxHashSet::default(),
            solving: false,
            literals: Vec::new(),
            points: Vec::new(),
            work: Vec::new(),
        }
    }

    pub fn add(&mut self, node: Node) -> T {
        let part = |t: &T| self.sizes[self.resolve(*t).0 as usize];
        let size: u64 = match &node {
            Node::Tuple(parts) | Node::Adt(_, parts) => parts.iter().map(|p| u64::from(part(p))).sum(),
            Node::Array(inner) | Node::Tangent(inner) => u64::from(part(inner)),
            Node::Fn(arg, ret, _) => u64::from(part(arg)) + u64::from(part(ret)),
            _ => 0,
        };
        let size = match u32::try_from(size + 1) {
            Ok(size) if size <= LARGEST => size,
            _ => {
                self.too_large = true;
                return T::ERROR;
            }
        };
        let id = T(self.nodes.len() as u32);
        self.nodes.push(node);
        self.sizes.push(size);
        id
    }

    pub fn tuple(&mut self, parts: Vec<T>) -> T {
        if parts.is_empty() { T::UNIT } else { self.add(Node::Tuple(parts.into())) }
    }

    /// The single argument that stands for several.
    pub fn argument(&mut self, mut parts: Vec<T>) -> T {
        if parts.len() == 1 { parts.remove(0) } else { self.tuple(parts) }
    }

    pub fn array(&mut self, elem: T) -> T {
        self.add(Node::Array(elem))
    }

    pub fn function(&mut self, arg: T, ret: T) -> T {
        let origin = self.fresh_origin();
        self.add(Node::Fn(arg, ret, origin))
    }

    pub fn made_function(&mut self, arg: T, ret: T, maker: Maker) -> T {
        let origin = Origin(self.origins.len() as u32);
        self.origins.push(OriginState::Known(maker));
        self.add(Node::Fn(arg, ret, origin))
    }

    pub fn fresh_origin(&mut self) -> Origin {
        self.origins.push(OriginState::Unknown { level: self.level });
        Origin(self.origins.len() as u32 - 1)
    }

    pub fn fresh(&mut self, span: Span) -> T {
        self.fresh_at(self.level, Bits::NONE, Literal::None, span)
    }

    pub fn fresh_bits(&mut self, bits: Bits, span: Span) -> T {
        self.fresh_at(self.level, bits, Literal::None, span)
    }

    pub fn fresh_literal(&mut self, literal: Literal, span: Span) -> T {
        let bits = if literal == Literal::Float { Bits::REAL } else { Bits::NUM };
        let t = self.fresh_at(self.level, bits, literal, span);
        self.literals.push(t);
        t
    }

    pub fn fresh_at(&mut self, level: u32, bits: Bits, literal: Literal, span: Span) -> T {
        let var = Var(self.vars.len() as u32);
        self.vars.push(VarState {
            link: None,
            level,
            bits,
            literal,
            tangent: None,
            point: None,
            watchers: Vec::new(),
            rank: 0,
            span,
        });
        self.add(Node::Var(var))
    }

    pub fn new_param(&mut self, name: &str, bits: Bits, declared: bool, span: Span) -> ParamId {
        let id = ParamId(self.params.len() as u32);
        self.params.push(ParamState { name: name.to_string(), bits, declared, level: self.level, span });
        id
    }

    pub fn param(&mut self, id: ParamId) -> T {
        self.add(Node::Param(id))
    }

    /// The representative of `t`: never a bound variable, never a tangent that can be normalised away.
    pub fn resolve(&self, mut t: T) -> T {
        loop {
            match &self.nodes[t.0 as usize] {
                Node::Var(v) => match self.vars[v.0 as usize].link {
                    Some(next) => t = next,
                    None => return t,
                },
                Node::Tangent(inner) => {
                    let inner = self.resolve(*inner);
                    match self.own(inner) {
                        Own::Yes => return inner,
                        Own::No | Own::Unknown(_) => return t,
                    }
                }
                _ => return t,
            }
        }
    }

    /// The top layer of `t`.
    pub fn node(&self, t: T) -> &Node {
        &self.nodes[self.resolve(t).0 as usize]
    }

    pub fn var_of(&self, t: T) -> Option<Var> {
        match self.node(t) {
            Node::Var(v) => Some(*v),
            _ => None,
        }
    }

    pub fn var(&self, v: Var) -> &VarState {
        &self.vars[v.0 as usize]
    }

    pub fn var_mut(&mut self, v: Var) -> &mut VarState {
        &mut self.vars[v.0 as usize]
    }

    pub fn origin(&self, mut o: Origin) -> Origin {
        while let OriginState::Same(next) = self.origins[o.0 as usize] {
            o = next;
        }
        o
    }

    /// Whether `t` is its own tangent, as far as is known.
    pub fn own(&self, t: T) -> Own {
        match &self.nodes[self.link(t).0 as usize] {
            Node::Float | Node::Float32 | Node::Error => Own::Yes,
            Node::Tangent(_) => Own::Yes,
            Node::Int | Node::Bool | Node::Str | Node::Fn(..) => Own::No,
            Node::Param(p) => {
                if self.params[p.0 as usize].bits.has(Bits::SPACE) {
                    Own::Yes
                } else {
                    Own::No
                }
            }
            Node::Var(v) => {
                if self.var(*v).bits.has(Bits::SPACE) {
                    Own::Yes
                } else {
                    Own::Unknown(*v)
                }
            }
            Node::Array(elem) => self.own(*elem),
            Node::Tuple(parts) => self.own_all(parts.iter().copied()),
            Node::Adt(id, args) => {
                let space = &self.adt_spaces[id.0 as usize];
                if space.never {
                    Own::No
                } else {
                    self.own_all(space.needs.iter().filter_map(|i| args.get(*i).copied()))
                }
            }
        }
    }

    fn own_all(&self, parts: impl Iterator<Item = T>) -> Own {
        let mut result = Own::Yes;
        for part in parts {
            match self.own(part) {
                Own::No => return Own::No,
                Own::Unknown(v) => result = Own::Unknown(v),
                Own::Yes => {}
            }
        }
        result
    }

    fn link(&self, mut t: T) -> T {
        while let Node::Var(v) = &self.nodes[t.0 as usize] {
            match self.vars[v.0 as usize].link {
                Some(next) => t = next,
                None => break,
            }
        }
        t
    }

    /// The type as text for messages.
    pub fn show(&self, t: T) -> String {
        let mut out = String::new();
        self.show_into(t, &mut out, 0);
        out
    }

    fn show_list(&self, parts: &[T], out: &mut String, depth: u32) {
        for (i, part) in parts.iter().enumerate() {
            if i > 0 {
                out.push_str(", ");
            }
            if i == 12 && parts.len() > 14 {
                out.push_str("...");
                return;
            }
            self.show_into(*part, out, depth + 1);
        }
    }

    fn show_into(&self, t: T, out: &mut String, depth: u32) {
        if depth > 12 {
            out.push_str("...");
            return;
        }
        match self.node(t) {
            Node::Float => out.push_str("Float"),
            Node::Float32 => out.push_str("Float32"),
            Node::Int => out.push_str("Int"),
            Node::Bool => out.push_str("Bool"),
            Node::Str => out.push_str("String"),
            Node::Error => out.push('_'),
            Node::Tuple(parts) => {
                out.push('(');
                self.show_list(parts, out, depth);
                out.push(')');
            }
            Node::Array(elem) => {
                out.push_str("[]");
                self.show_into(*elem, out, depth + 1);
            }
            Node::Adt(id, args) => {
                out.push_str(&self.adt_names[id.0 as usize]);
                if !args.is_empty() {
                    out.push('<');
                    self.show_list(args, out, depth);
                    out.push('>');
                }
            }
            Node::Fn(arg, ret, _) => {
                out.push_str("fn(");
                match self.node(*arg) {
                    Node::Tuple(parts) => self.show_list(parts, out, depth),
                    _ => self.show_into(*arg, out, depth + 1),
                }
                out.push_str(") -> ");
                self.show_into(*ret, out, depth + 1);
            }
            Node::Param(p) => out.push_str(&self.params[p.0 as usize].name),
            Node::Tangent(inner) => {
                out.push_str("Tangent<");
                self.show_into(*inner, out, depth + 1);
                out.push('>');
            }
            Node::Var(v) => match (self.var(*v).literal, self.var(*v).bits) {
                (Literal::Int, bits) if !bits.has(Bits::SPACE) => out.push_str("Int"),
                (Literal::Int | Literal::Float, _) => out.push_str("Float"),
                (Literal::None, _) => match self.var(*v).point {
                    Some(point) if self.var_of(point).is_none_or(|p| p != *v) => {
                        out.push_str("Tangent<");
                        self.show_into(point, out, depth + 1);
                        out.push('>');
                    }
                    _ => out.push('_'),
                },
            },
        }
    }

    /// The finished type. What nothing decided is `()`.
    pub fn finish(&mut self, t: T, memo: &mut FxHashMap<T, Ty>) -> Ty {
        let t = self.resolve(t);
        if let Some(ty) = memo.get(&t) {
            return ty.clone();
        }
        let ty = match self.nodes[t.0 as usize].clone() {
            Node::Float => Ty::Float,
            Node::Float32 => Ty::Float32,
            Node::Int => Ty::Int,
            Node::Bool => Ty::Bool,
            Node::Str => Ty::Str,
            Node::Error => Ty::unit(),
            Node::Tuple(parts) => Ty::Tuple(parts.iter().map(|p| self.finish(*p, memo)).collect()),
            Node::Array(elem) => Ty::Array(Box::new(self.finish(elem, memo))),
            Node::Adt(id, args) => Ty::Adt(id, args.iter().map(|a| self.finish(*a, memo)).collect()),
            Node::Fn(arg, ret, _) => Ty::Fn(Box::new(self.finish(arg, memo)), Box::new(self.finish(ret, memo))),
            Node::Param(p) => Ty::Param(p),
            Node::Tangent(inner) => Ty::Tangent(Box::new(self.finish(inner, memo))),
            Node::Var(v) => {
                let state = self.var(v);
                let default = if state.literal == Literal::Float || state.bits == Bits::REAL {
                    T::FLOAT
                } else if state.bits.has(Bits::NUM) {
                    T::INT
                } else {
                    T::UNIT
                };
                self.var_mut(v).link = Some(default);
                return self.finish(default, memo);
            }
        };
        memo.insert(t, ty.clone());
        ty
    }
}

/// Whether a type is its own tangent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Own {
    Yes,
    No,
    /// Not known before this variable is.
    Unknown(Var),
}

const HOLE: u32 = 1 << 31;

/// The core type that stands for `t` until [`as_hole`] is replaced by its finished form.
pub fn hole(t: T) -> Ty {
    Ty::Param(ParamId(HOLE | t.0))
}

/// The inference type behind a placeholder made by [`hole`].
pub fn as_hole(ty: &Ty) -> Option<T> {
    match ty {
        Ty::Param(ParamId(id)) if id & HOLE != 0 => Some(T(id & !HOLE)),
        _ => None,
    }
}
