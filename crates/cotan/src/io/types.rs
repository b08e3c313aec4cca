//! Types of the IR as readers and writers of values need them.
//!
//! In: a program of either kind. Out: [`Types`], a cheap view of its types, and their names in Cotan's notation.

use cotan_ir::{AdtDef, AdtId, Capture, FnId, Func, Program, Type, TypeId, TypeTable};
use cotan_source::IndexVec;

/// The types of a program.
#[derive(Clone, Copy)]
pub struct Types<'p> {
    table: &'p TypeTable,
    adts: &'p IndexVec<AdtId, AdtDef>,
    fns: &'p dyn Functions,
}

/// Names and captures of functions, of either kind of program.
trait Functions {
    fn name(&self, id: FnId) -> &str;
    fn captures(&self, id: FnId) -> &[Capture];
}

impl<A> Functions for IndexVec<FnId, Func<A>> {
    fn name(&self, id: FnId) -> &str {
        &self[id].name
    }
    fn captures(&self, id: FnId) -> &[Capture] {
        self[id].captures.as_deref().unwrap_or_default()
    }
}

impl<'p, A: 'static> From<&'p Program<A>> for Types<'p> {
    fn from(program: &'p Program<A>) -> Self {
        Types { table: &program.types, adts: &program.adts, fns: &program.fns }
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

    /// The name of a function.
    pub fn function_name(self, id: FnId) -> &'p str {
        self.fns.name(id)
    }

    /// The captured variables of a closure's code.
    pub fn captures(self, id: FnId) -> &'p [Capture] {
        self.fns.captures(id)
    }

    /// The type of a component of a tuple.
    pub fn component(self, id: TypeId, index: usize) -> Option<TypeId> {
        match self.get(id) {
            Type::Tuple(parts) => parts.get(index).copied(),
            _ => None,
        }
    }

    /// The type of the elements of an array.
    pub fn element(self, id: TypeId) -> Option<TypeId> {
        match self.get(id) {
            Type::Array { elem, .. } => Some(*elem),
            _ => None,
        }
    }

    /// The type itself, or the type whose tangent it is; and whether it is a tangent.
    pub fn primal(self, id: TypeId) -> (TypeId, bool) {
        match self.get(id) {
            Type::Tan(of) => (*of, true),
            _ => (id, false),
        }
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
