//! Types of the core, substitution, and the tangent space of a type.

use crate::{AdtId, Program};
use cotan_source::define_index;

define_index!(
    /// A generic parameter, unique in its function (those of local functions included) or structure.
    ParamId,
    "T"
);

/// A generic parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GenericParam {
    /// Its id.
    pub id: ParamId,
    /// Its name as written or made up.
    pub name: String,
    /// What is asked of it.
    pub constraint: Constraint,
}

/// What is asked of a generic parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Constraint {
    /// Nothing.
    Any,
    /// `Int`, `Float`, `Float32`.
    Num,
    /// `Float`, `Float32`; `Real` in the library's signatures.
    Real,
    /// A type that is its own tangent.
    Space,
}

/// A type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Ty {
    /// binary64.
    Float,
    /// binary32.
    Float32,
    /// 64-bit integers.
    Int,
    /// Truth values.
    Bool,
    /// Text.
    Str,
    /// Tuples; the empty one is `()`.
    Tuple(Vec<Ty>),
    /// `[]T`; rank two is `Array(Array(T))` and rectangular.
    Array(Box<Ty>),
    /// A structure or enum with its arguments.
    Adt(AdtId, Vec<Ty>),
    /// `fn(A) -> B`.
    Fn(Box<Ty>, Box<Ty>),
    /// A generic parameter.
    Param(ParamId),
    /// The tangent space of a parameter, of a structure or enum that is not its own tangent, or of a function.
    Tangent(Box<Ty>),
}

impl Ty {
    /// `()`.
    pub fn unit() -> Ty {
        Ty::Tuple(Vec::new())
    }

    /// Whether this is `()`.
    pub fn is_unit(&self) -> bool {
        matches!(self, Ty::Tuple(parts) if parts.is_empty())
    }

    /// Replaces parameters by `map`, and normalises tangents.
    pub fn substitute(&self, program: &Program, map: &dyn Fn(ParamId) -> Option<Ty>) -> Ty {
        let go = |t: &Ty| t.substitute(program, map);
        match self {
            Ty::Float | Ty::Float32 | Ty::Int | Ty::Bool | Ty::Str => self.clone(),
            Ty::Tuple(parts) => Ty::Tuple(parts.iter().map(go).collect()),
            Ty::Array(elem) => Ty::Array(Box::new(go(elem))),
            Ty::Adt(id, args) => Ty::Adt(*id, args.iter().map(go).collect()),
            Ty::Fn(a, b) => Ty::Fn(Box::new(go(a)), Box::new(go(b))),
            Ty::Param(p) => map(*p).unwrap_or_else(|| self.clone()),
            Ty::Tangent(t) => go(t).tangent(program),
        }
    }

    /// `Tangent<self>`, normalised: `()` for types without floats, the type itself where all leaves are
    /// floats and it holds no function, componentwise for tuples and arrays, else `Ty::Tangent`.
    pub fn tangent(&self, program: &Program) -> Ty {
        match self {
            Ty::Float | Ty::Float32 => self.clone(),
            Ty::Int | Ty::Bool | Ty::Str => Ty::unit(),
            Ty::Tuple(parts) => Ty::Tuple(parts.iter().map(|t| t.tangent(program)).collect()),
            Ty::Array(elem) => Ty::Array(Box::new(elem.tangent(program))),
            Ty::Adt(..) if self.is_own_tangent(program) => self.clone(),
            Ty::Tangent(_) => self.clone(),
            Ty::Adt(..) | Ty::Fn(..) | Ty::Param(_) => Ty::Tangent(Box::new(self.clone())),
        }
    }

    /// Whether `Tangent<T>` is `T`: all leaves are floats and there is no function inside.
    /// A parameter is not (a `Space` constraint is the checker's business).
    pub fn is_own_tangent(&self, program: &Program) -> bool {
        fn go(t: &Ty, program: &Program, seen: &mut Vec<Ty>) -> bool {
            match t {
                Ty::Float | Ty::Float32 | Ty::Tangent(_) => true,
                Ty::Int | Ty::Bool | Ty::Str | Ty::Fn(..) | Ty::Param(_) => false,
                Ty::Tuple(parts) => parts.iter().all(|t| go(t, program, seen)),
                Ty::Array(elem) => go(elem, program, seen),
                Ty::Adt(id, args) => {
                    if seen.contains(t) {
                        return true;
                    }
                    // A type that grows at each unfolding (polymorphic recursion) is not its own tangent.
                    if seen.len() > 64 {
                        return false;
                    }
                    seen.push(t.clone());
                    let adt = &program.adts[*id];
                    adt.variants.iter().flat_map(|v| &v.fields).all(|f| {
                        let ty = f.ty.substitute(program, &|p| {
                            adt.generics.iter().position(|g| g.id == p).and_then(|i| args.get(i).cloned())
                        });
                        go(&ty, program, seen)
                    })
                }
            }
        }
        go(self, program, &mut Vec::new())
    }
}
