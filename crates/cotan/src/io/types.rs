//! Types of the IR as readers and writers of values need them.
//!
//! In: a program of either kind. Out: [`Types`], a cheap view of its types, and their names in Cotan's notation.

use cotan_ir::{AdtDef, AdtId, Program, Type, TypeId, TypeTable};
use cotan_source::IndexVec;

/// The types of a program.
#[derive(Clone, Copy)]
pub struct Types<'p> {
    table: &'p TypeTable,
    adts: &'p IndexVec<AdtId, AdtDef>,
}

impl<'p, A> From<&'p Program<A>> for Types<'p> {
    fn from(program: &'p Program<A>) -> Self {
        Types { table: &program.types, adts: &program.adts }
    }
}

impl<'p> Types<'p> {
    /// The type of `id`.
    pub fn get(self, id: TypeId) -> &'p Type {
        self.table.get(id)
    }

    /// A nominal type.
    pub fn adt(self, id: AdtId) -> &'p AdtDef {
        &self.adts[id]
    }

    /// The type in Cotan's notation.
    pub fn name(self, id: TypeId) -> String {
        match self.get(id) {
            Type::F64 => "Float".into(),
            Type::F32 => "Float32".into(),
            Type::I64 => "Int".into(),
            Type::Bool => "Bool".into(),
            Type::Str => "String".into(),
            Type::Tuple(parts) => {
                let parts: Vec<String> = parts.iter().map(|p| self.name(*p)).collect();
                format!("({})", parts.join(", "))
            }
            Type::Array { rank, elem } => self.array_name(*rank, *elem),
            Type::Adt(adt) => self.adt(*adt).name.clone(),
            Type::Fn { arg, result } => match self.get(*arg) {
                Type::Tuple(_) => format!("fn{} -> {}", self.name(*arg), self.name(*result)),
                _ => format!("fn({}) -> {}", self.name(*arg), self.name(*result)),
            },
            Type::Tan(of) => format!("Tangent<{}>", self.name(*of)),
            Type::Acc(of) => format!("Accumulator<{}>", self.name(*of)),
            Type::Residual => "Residual".into(),
        }
    }

    /// An array type in Cotan's notation.
    pub fn array_name(self, rank: u32, elem: TypeId) -> String {
        format!("{}{}", "[]".repeat(rank as usize), self.name(elem))
    }

    /// A type that holds a function, if `id` does: such values cannot come from outside.
    pub fn holds_function(self, id: TypeId) -> bool {
        fn go(types: Types<'_>, id: TypeId, seen: &mut Vec<AdtId>) -> bool {
            match types.get(id) {
                Type::F64 | Type::F32 | Type::I64 | Type::Bool | Type::Str => false,
                Type::Fn { .. } | Type::Acc(_) | Type::Residual => true,
                Type::Tuple(parts) => parts.iter().any(|p| go(types, *p, seen)),
                Type::Array { elem: of, .. } | Type::Tan(of) => go(types, *of, seen),
                Type::Adt(adt) => {
                    if seen.contains(adt) {
                        return false;
                    }
                    seen.push(*adt);
                    types.adt(*adt).variants.iter().flat_map(|v| &v.fields).any(|(_, t)| go(types, *t, seen))
                }
            }
        }
        go(self, id, &mut Vec::new())
    }
}
