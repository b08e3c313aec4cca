//! Interned types.

use crate::{AdtId, TypeId};
use cotan_source::Idx;
use indexmap::IndexSet;

/// A type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// binary64.
    F64,
    /// binary32.
    F32,
    /// 64-bit integer.
    I64,
    /// Truth value.
    Bool,
    /// Text.
    Str,
    /// A tuple; `()` is the empty one.
    Tuple(Vec<TypeId>),
    /// A rectangular array; `elem` is never an array (rank two is `rank: 2`).
    Array {
        /// Number of axes, at least 1.
        rank: u32,
        /// Element type, no array.
        elem: TypeId,
    },
    /// A structure, enum or residual.
    Adt(AdtId),
    /// A function value.
    Fn {
        /// Its one argument.
        arg: TypeId,
        /// Its result.
        result: TypeId,
    },
    /// The sparse tangent of an array, nominal type, function or residual: `Zero`, or a value shaped like it
    /// (elements, payloads and captures are again sparse tangents). Tangents of scalars and tuples are
    /// structural, see [`tangent_type`](crate::tangent_type).
    Tan(TypeId),
    /// An accumulator of cotangents of values of this (primal) type. Adding to it is the only effect.
    Acc(TypeId),
    /// What the forward part of an unknown function keeps for its backward part.
    Residual,
}

/// The table of interned types.
#[derive(Clone, Debug, Default)]
pub struct TypeTable {
    set: IndexSet<Type, rustc_hash::FxBuildHasher>,
}

impl TypeTable {
    /// The id of `ty`. Arrays of arrays are folded into one of higher rank.
    pub fn intern(&mut self, ty: Type) -> TypeId {
        let ty = match ty {
            Type::Array { rank, elem } => match *self.get(elem) {
                Type::Array { rank: inner, elem } => Type::Array { rank: rank + inner, elem },
                _ => Type::Array { rank, elem },
            },
            ty => ty,
        };
        TypeId::new(self.set.insert_full(ty).0)
    }

    /// The id of `ty` if it was interned before.
    pub fn find(&self, ty: &Type) -> Option<TypeId> {
        self.set.get_index_of(ty).map(TypeId::new)
    }

    /// The type of `id`.
    pub fn get(&self, id: TypeId) -> &Type {
        &self.set[id.index()]
    }

    /// How many types there are.
    pub fn len(&self) -> usize {
        self.set.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.set.is_empty()
    }
}
