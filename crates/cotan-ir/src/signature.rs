//! Tangent types and the differentiable leaves of a type.

use crate::{AdtId, AdtKind, Program, Type, TypeId};

/// A differentiable component of a type below its tuples.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leaf {
    /// Positions from the outside inwards.
    pub path: Vec<u32>,
    /// Its type.
    pub ty: TypeId,
    /// Whether it is a float, else it is an array, nominal type, function, residual or tangent.
    pub is_float: bool,
}

/// The differentiable leaves of `ty`, from left to right.
pub fn leaves<A>(program: &Program<A>, ty: TypeId) -> Vec<Leaf> {
    fn go<A>(program: &Program<A>, ty: TypeId, path: &mut Vec<u32>, out: &mut Vec<Leaf>) {
        match program.ty(ty) {
            Type::Tuple(parts) => {
                for (i, part) in parts.iter().enumerate() {
                    path.push(i as u32);
                    go(program, *part, path, out);
                    path.pop();
                }
            }
            Type::F64 | Type::F32 => out.push(Leaf { path: path.clone(), ty, is_float: true }),
            Type::I64 | Type::Bool | Type::Str | Type::Acc(_) => {}
            Type::Array { .. } | Type::Adt(_) | Type::Fn { .. } | Type::Tan(_) | Type::Residual => {
                if differentiable(program, ty) {
                    out.push(Leaf { path: path.clone(), ty, is_float: false });
                }
            }
        }
    }
    let mut out = Vec::new();
    go(program, ty, &mut Vec::new(), &mut out);
    out
}

/// Whether values of this type hold floats or functions. Accumulators do not count (they are handled by name); residuals
/// always do, since what they will hold may not be known yet.
pub fn differentiable<A>(program: &Program<A>, ty: TypeId) -> bool {
    fn go<A>(program: &Program<A>, ty: TypeId, seen: &mut Vec<AdtId>) -> bool {
        match program.ty(ty) {
            Type::F64 | Type::F32 | Type::Fn { .. } | Type::Residual => true,
            Type::I64 | Type::Bool | Type::Str | Type::Acc(_) => false,
            Type::Tuple(parts) => parts.iter().any(|p| go(program, *p, seen)),
            Type::Array { elem, .. } => go(program, *elem, seen),
            Type::Tan(of) => go(program, *of, seen),
            Type::Adt(id) => {
                if program.adts[*id].kind == AdtKind::Residual {
                    return true;
                }
                if seen.contains(id) {
                    return false;
                }
                seen.push(*id);
                program.adts[*id].variants.iter().flat_map(|v| &v.fields).any(|(_, t)| go(program, *t, seen))
            }
        }
    }
    go(program, ty, &mut Vec::new())
}

/// `Tan(ty)`: the type of sparse tangents (and cotangents). Floats are their own; what holds no floats has `()`; tuples are
/// componentwise; arrays, nominal types, functions and residuals have `Type::Tan`, which is its own tangent.
pub fn tangent_type<A>(program: &mut Program<A>, ty: TypeId) -> TypeId {
    match program.ty(ty).clone() {
        Type::F64 | Type::F32 | Type::Tan(_) => ty,
        Type::I64 | Type::Bool | Type::Str | Type::Acc(_) => program.intern(Type::Tuple(Vec::new())),
        Type::Tuple(parts) => {
            let parts = parts.iter().map(|p| tangent_type(program, *p)).collect();
            program.intern(Type::Tuple(parts))
        }
        Type::Array { .. } | Type::Adt(_) | Type::Fn { .. } | Type::Residual => {
            if differentiable(program, ty) {
                program.intern(Type::Tan(ty))
            } else {
                program.intern(Type::Tuple(Vec::new()))
            }
        }
    }
}
