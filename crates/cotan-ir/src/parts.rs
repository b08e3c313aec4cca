//! Types of parts: components, fields, captures, elements.
//!
//! In: a type and a way into its values. Out: the type of what is there, or why there is nothing.

use crate::{AdtId, FnId, Program, Step, Sub, Type, TypeId, tangent_type};

/// The type of the part of a value of type `ty` that `step` leads to. The parts of a sparse tangent are the tangents
/// of the parts.
pub fn part_type<A>(program: &mut Program<A>, ty: TypeId, step: &Step) -> Result<TypeId, String> {
    if let Type::Tan(of) = *program.ty(ty) {
        let part = part_type(program, of, step)?;
        return Ok(tangent_type(program, part));
    }
    match step {
        Step::Proj(i) => match program.ty(ty) {
            Type::Tuple(parts) if (*i as usize) < parts.len() => Ok(parts[*i as usize]),
            _ => Err(format!("no component {i}")),
        },
        Step::Field { adt, variant, index } => {
            if *program.ty(ty) != Type::Adt(*adt) {
                return Err(format!("a part of {adt} in another type"));
            }
            field_type(program, *adt, *variant, *index)
        }
        Step::Capture { code, index } => {
            if *program.ty(ty) != closure_type(program, *code)? {
                return Err(format!("a capture of {code} in another type"));
            }
            capture_type(program, *code, *index)
        }
        Step::Index { subs, extents } => match program.ty(ty) {
            Type::Array { rank, .. } if *rank as usize != extents.len() => {
                Err(format!("{} extents for rank {rank}", extents.len()))
            }
            _ => sub_type(program, ty, subs),
        },
    }
}

/// The type of an array under subscripts.
pub fn sub_type<A>(program: &mut Program<A>, ty: TypeId, subs: &[Sub]) -> Result<TypeId, String> {
    let at = subs.iter().filter(|s| matches!(s, Sub::At(_))).count();
    match *program.ty(ty) {
        Type::Array { rank, elem } if subs.len() <= rank as usize => Ok(array_type(program, rank - at as u32, elem)),
        _ => Err(format!("{} subscripts on a value of another rank", subs.len())),
    }
}

/// An array type; rank 0 is the element itself.
pub fn array_type<A>(program: &mut Program<A>, rank: u32, elem: TypeId) -> TypeId {
    if rank == 0 { elem } else { program.intern(Type::Array { rank, elem }) }
}

/// The function type of closures over `code`.
pub fn closure_type<A>(program: &Program<A>, code: FnId) -> Result<Type, String> {
    let func = program.fns.get(code).ok_or_else(|| format!("no function {code}"))?;
    match (&func.captures, &func.params[..], &func.results[..]) {
        (Some(_), [_, arg], [result]) => Ok(Type::Fn { arg: func.vars[*arg].ty, result: *result }),
        _ => Err(format!("{code} is not the code of a closure")),
    }
}

pub(crate) fn capture_type<A>(program: &Program<A>, code: FnId, index: u32) -> Result<TypeId, String> {
    let captures = program.fns.get(code).and_then(|f| f.captures.as_ref());
    match captures.and_then(|c| c.get(index as usize)) {
        Some(capture) => Ok(capture.ty),
        None => Err(format!("{code} has no capture {index}")),
    }
}

pub(crate) fn field_type<A>(program: &Program<A>, adt: AdtId, variant: u32, index: u32) -> Result<TypeId, String> {
    let variant_def = program.adts.get(adt).and_then(|d| d.variants.get(variant as usize));
    match variant_def.and_then(|v| v.fields.get(index as usize)) {
        Some((_, ty)) => Ok(*ty),
        None => Err(format!("{adt} has no field {variant}.{index}")),
    }
}
