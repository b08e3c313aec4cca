//! Tangent types, the differentiable leaves of a type, and the signatures of derivatives.

use crate::{AdtId, AdtKind, Deriv, Program, Type, TypeId};

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

/// Parameter and result types.
pub(crate) type Signature = (Vec<TypeId>, Vec<TypeId>);

/// Parameter and result types of a derivative `path` of a function of type `A -> B` whose code is unknown: its
/// first parameter is the function value. `None` where the path starts with `Bwd`: what the residual belongs to is unknown.
pub(crate) fn dispatch_signature<A>(
    program: &mut Program<A>,
    on: TypeId,
    path: &[Deriv],
) -> Result<Option<Signature>, String> {
    if path.first() == Some(&Deriv::Bwd) {
        return match program.ty(on) {
            Type::Residual => Ok(None),
            _ => Err("dispatch of a backward part on something that is no residual".into()),
        };
    }
    let Type::Fn { arg, result } = *program.ty(on) else {
        return Err("dispatch on something that is no function".into());
    };
    let mut params = vec![on, arg];
    let mut results = vec![result];
    for step in path {
        (params, results) = derivative_signature(program, &params, &results, *step);
    }
    Ok(Some((params, results)))
}

/// The signature of a derivative (see [`Derive`](crate::Derive)) of a function with these parameters and results;
/// the residual is the one of an unknown function.
pub fn derivative_signature<A>(
    program: &mut Program<A>,
    params: &[TypeId],
    results: &[TypeId],
    which: Deriv,
) -> Signature {
    let differentiable = |program: &Program<A>, ty: &TypeId| crate::differentiable(program, *ty);
    match which {
        Deriv::Body => (params.to_vec(), results.to_vec()),
        Deriv::Jvp => {
            let mut all = params.to_vec();
            for p in params {
                if matches!(program.ty(*p), Type::Acc(_)) {
                    all.push(*p);
                } else if differentiable(program, p) {
                    all.push(tangent_type(program, *p));
                }
            }
            let mut out = results.to_vec();
            for r in results {
                if differentiable(program, r) {
                    out.push(tangent_type(program, *r));
                }
            }
            (all, out)
        }
        Deriv::Fwd => {
            let mut out = results.to_vec();
            out.push(program.intern(Type::Residual));
            (params.to_vec(), out)
        }
        Deriv::Bwd => {
            let mut all = vec![program.intern(Type::Residual)];
            for r in results {
                if differentiable(program, r) {
                    all.push(tangent_type(program, *r));
                }
            }
            let mut out = Vec::new();
            for p in params {
                if let Type::Acc(of) = *program.ty(*p) {
                    all.push(tangent_type(program, of));
                    continue;
                }
                for leaf in leaves(program, *p) {
                    if leaf.is_float {
                        out.push(leaf.ty);
                    } else {
                        all.push(program.intern(Type::Acc(leaf.ty)));
                    }
                }
            }
            (all, out)
        }
    }
}
