//! Types of the core as types of the program.
//!
//! In: a type without generic parameters. Out: its interned type; structures and enums at new arguments are added to the program,
//! named like `Pair<Float, Int>`. Newly true: arrays of arrays are arrays of higher rank.

use cotan_core::{Adt, AdtId, ParamId, Program as Core, Ty};
use cotan_ir::{AdOp, AdtDef, AdtKind, Program, Type, TypeId, VariantDef};
use rustc_hash::FxHashMap;

/// Types lowered so far.
#[derive(Default)]
pub(crate) struct Types {
    known: FxHashMap<Ty, TypeId>,
    adts: FxHashMap<(AdtId, Vec<Ty>), cotan_ir::AdtId>,
    /// A nominal type that grows at each unfolding, at arguments that are too large.
    pub endless: Option<(AdtId, Ty)>,
}

/// How large the types at which something is used may grow.
pub(crate) const LARGEST_TYPES: usize = 2000;

impl Types {
    /// The type of the program for `ty`.
    pub fn lower(&mut self, core: &Core, program: &mut Program<AdOp>, ty: &Ty) -> TypeId {
        if let Some(id) = self.known.get(ty) {
            return *id;
        }
        let lowered = match ty {
            Ty::Float => Type::F64,
            Ty::Float32 => Type::F32,
            Ty::Int => Type::I64,
            Ty::Bool => Type::Bool,
            Ty::Str => Type::Str,
            Ty::Tuple(parts) => Type::Tuple(parts.iter().map(|p| self.lower(core, program, p)).collect()),
            Ty::Array(elem) => Type::Array { rank: 1, elem: self.lower(core, program, elem) },
            Ty::Adt(id, args) => Type::Adt(self.adt(core, program, *id, args)),
            Ty::Fn(arg, result) => {
                Type::Fn { arg: self.lower(core, program, arg), result: self.lower(core, program, result) }
            }
            Ty::Tangent(of) => match of.tangent(core) {
                Ty::Tangent(of) if holds_floats(core, &of) => Type::Tan(self.lower(core, program, &of)),
                Ty::Tangent(_) => Type::Tuple(Vec::new()),
                normal => {
                    let id = self.lower(core, program, &normal);
                    self.known.insert(ty.clone(), id);
                    return id;
                }
            },
            Ty::Param(p) => panic!("the generic parameter {p} is not instantiated"),
        };
        let id = program.intern(lowered);
        self.known.insert(ty.clone(), id);
        id
    }

    /// The nominal type `id` at `args`.
    pub fn adt(&mut self, core: &Core, program: &mut Program<AdOp>, id: AdtId, args: &[Ty]) -> cotan_ir::AdtId {
        let key = (id, args.to_vec());
        if let Some(found) = self.adts.get(&key) {
            return *found;
        }
        let def = &core.adts[id];
        // Known before its fields are: a type may hold itself.
        let kind = if def.is_struct { AdtKind::Struct } else { AdtKind::Enum };
        let new =
            program.adts.push(AdtDef { name: name(core, &Ty::Adt(id, args.to_vec())), variants: Vec::new(), kind });
        self.adts.insert(key, new);
        if args.iter().map(size).sum::<usize>() > LARGEST_TYPES {
            self.endless.get_or_insert_with(|| (id, Ty::Adt(id, args.to_vec())));
            return new;
        }
        let variants = def
            .variants
            .iter()
            .map(|v| VariantDef {
                name: v.name.clone(),
                named: v.named,
                fields: v
                    .fields
                    .iter()
                    .map(|f| {
                        let ty = field_type(core, def, args, &f.ty);
                        (f.name.clone(), crate::deep(|| self.lower(core, program, &ty)))
                    })
                    .collect(),
            })
            .collect();
        program.adts[new].variants = variants;
        new
    }

    /// Remembers the nominal types that a program has.
    fn recall(&mut self, core: &Core, program: &Program<AdOp>, ty: &Ty) {
        let by_name: FxHashMap<&str, cotan_ir::AdtId> =
            program.adts.iter_enumerated().map(|(id, def)| (def.name.as_str(), id)).collect();
        let mut open = vec![ty.clone()];
        while let Some(ty) = open.pop() {
            match &ty {
                Ty::Float | Ty::Float32 | Ty::Int | Ty::Bool | Ty::Str | Ty::Param(_) => {}
                Ty::Tuple(parts) => open.extend(parts.iter().cloned()),
                Ty::Array(t) | Ty::Tangent(t) => open.push((**t).clone()),
                Ty::Fn(a, b) => open.extend([(**a).clone(), (**b).clone()]),
                Ty::Adt(id, args) => {
                    let key = (*id, args.clone());
                    if self.adts.contains_key(&key) {
                        continue;
                    }
                    let Some(found) = by_name.get(name(core, &ty).as_str()) else { continue };
                    self.adts.insert(key, *found);
                    open.extend(args.iter().cloned());
                    let def = &core.adts[*id];
                    let fields = def.variants.iter().flat_map(|v| &v.fields);
                    open.extend(fields.map(|f| field_type(core, def, args, &f.ty)));
                }
            }
        }
    }
}

/// See [`lower_type`](crate::lower_type).
pub(crate) fn lower_alone(core: &Core, program: &mut Program<AdOp>, ty: &Ty) -> TypeId {
    let mut types = Types::default();
    types.recall(core, program, ty);
    types.lower(core, program, ty)
}

/// The type of a field at type arguments.
pub(crate) fn field_type(core: &Core, adt: &Adt, args: &[Ty], ty: &Ty) -> Ty {
    let map = |p: ParamId| adt.generics.iter().position(|g| g.id == p).and_then(|i| args.get(i).cloned());
    ty.substitute(core, &map)
}

/// Whether values of a type hold floats or functions.
fn holds_floats(core: &Core, ty: &Ty) -> bool {
    fn go(core: &Core, ty: &Ty, seen: &mut Vec<Ty>) -> bool {
        match ty {
            Ty::Float | Ty::Float32 | Ty::Fn(..) => true,
            Ty::Int | Ty::Bool | Ty::Str | Ty::Param(_) => false,
            Ty::Tuple(parts) => parts.iter().any(|p| go(core, p, seen)),
            Ty::Array(elem) => go(core, elem, seen),
            Ty::Tangent(of) => go(core, of, seen),
            Ty::Adt(id, args) => {
                // What grows at each unfolding shows soon what it holds.
                if seen.contains(ty) || seen.len() > 64 || size(ty) > LARGEST_TYPES {
                    return false;
                }
                seen.push(ty.clone());
                let def = &core.adts[*id];
                let mut fields = def.variants.iter().flat_map(|v| &v.fields);
                fields.any(|f| go(core, &field_type(core, def, args, &f.ty), seen))
            }
        }
    }
    go(core, ty, &mut Vec::new())
}

/// A type as written in the source.
pub(crate) fn name(core: &Core, ty: &Ty) -> String {
    let list = |tys: &[Ty]| tys.iter().map(|t| name(core, t)).collect::<Vec<_>>().join(", ");
    match ty {
        Ty::Float => "Float".into(),
        Ty::Float32 => "Float32".into(),
        Ty::Int => "Int".into(),
        Ty::Bool => "Bool".into(),
        Ty::Str => "String".into(),
        Ty::Tuple(parts) if parts.len() == 1 => format!("({},)", name(core, &parts[0])),
        Ty::Tuple(parts) => format!("({})", list(parts)),
        Ty::Array(elem) => format!("[]{}", name(core, elem)),
        Ty::Adt(id, args) if args.is_empty() => core.adts[*id].name.clone(),
        Ty::Adt(id, args) => format!("{}<{}>", core.adts[*id].name, list(args)),
        Ty::Fn(a, b) => match &**a {
            Ty::Tuple(_) => format!("fn{} -> {}", name(core, a), name(core, b)),
            _ => format!("fn({}) -> {}", name(core, a), name(core, b)),
        },
        Ty::Param(p) => p.to_string(),
        Ty::Tangent(of) => format!("Tangent<{}>", name(core, of)),
    }
}

/// How many nodes a type has.
pub(crate) fn size(ty: &Ty) -> usize {
    1 + match ty {
        Ty::Float | Ty::Float32 | Ty::Int | Ty::Bool | Ty::Str | Ty::Param(_) => 0,
        Ty::Tuple(parts) | Ty::Adt(_, parts) => parts.iter().map(size).sum(),
        Ty::Array(t) | Ty::Tangent(t) => size(t),
        Ty::Fn(a, b) => size(a) + size(b),
    }
}
