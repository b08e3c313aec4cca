//! Values that stand where none is needed: results of a branch that left, and return values before there is one.
//!
//! In: a type. Out: some value of it that is cheap to make. Nothing looks at these values; they are zero where there is a zero, so
//! that they add nothing to derivatives.

use crate::frame::{Frame, truth, unit};
use cotan_ir::{AdtId, Atom, Lit, Op, Program, Type, TypeId};
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

impl Frame<'_, '_> {
    /// Some value of type `ty`.
    pub fn filler(&mut self, ty: TypeId) -> Atom {
        match self.kind(ty).clone() {
            Type::F64 => Atom::f64(0.0),
            Type::F32 => Atom::Lit(Lit::F32(0.0)),
            Type::I64 => Atom::int(0),
            Type::Bool => truth(false),
            Type::Str => Atom::Lit(Lit::Str("".into())),
            Type::Tuple(parts) if parts.is_empty() => unit(),
            Type::Tuple(parts) => {
                let parts = parts.into_iter().map(|p| self.filler(p)).collect();
                self.emit(Op::Tuple(parts))
            }
            Type::Array { .. } => self.emit_as(Op::Array(Vec::new()), ty),
            Type::Adt(adt) => {
                let variant = match self.s.easy.get(&adt) {
                    Some(known) => *known,
                    None => {
                        self.s.easy.extend(easy_variants(self.b.program, adt));
                        self.s.easy[&adt]
                    }
                };
                let Some(variant) = variant else {
                    // A type without values: no code that needs one is ever reached.
                    return self.emit_as(Op::Panic(Atom::Lit(Lit::Str("a type without values".into()))), ty);
                };
                let fields = self.b.program.adts[adt].variants[variant].fields.clone();
                let fields = fields.into_iter().map(|(_, t)| self.filler(t)).collect();
                self.emit(Op::Adt { adt, variant: variant as u32, fields })
            }
            Type::Fn { .. } => {
                let code = self.s.filler_of(self.b.program, ty);
                self.emit(Op::Closure { code, captures: Vec::new() })
            }
            Type::Tan(_) => self.emit_as(Op::Zero, ty),
            Type::Acc(_) => self.emit_as(Op::AccNull, ty),
            Type::Residual => unreachable!("residuals come later"),
        }
    }
}

/// For the nominal types below `adt`, the variant whose values are the least deep; `None` for types without values.
fn easy_variants<A>(program: &Program<A>, adt: AdtId) -> Vec<(AdtId, Option<usize>)> {
    let mut below: IndexMap<AdtId, Option<(usize, usize)>, FxBuildHasher> = IndexMap::default();
    below.insert(adt, None);
    let mut next = 0;
    while let Some((adt, _)) = below.get_index(next) {
        let mut found = Vec::new();
        for (_, ty) in program.adts[*adt].variants.iter().flat_map(|v| &v.fields) {
            nominal_parts(program, *ty, &mut found);
        }
        found.into_iter().for_each(|adt| {
            below.entry(adt).or_insert(None);
        });
        next += 1;
    }
    // Each round finds the types whose least deep values are one deeper than those of the round before.
    for depth in 0.. {
        let mut now = Vec::new();
        for (adt, _) in below.iter().filter(|(_, found)| found.is_none()) {
            let made = |fields: &Vec<(String, TypeId)>| {
                let mut parts = Vec::new();
                fields.iter().for_each(|(_, ty)| nominal_parts(program, *ty, &mut parts));
                parts.iter().all(|p| below.get(p).is_some_and(|found| found.is_some()))
            };
            let variants = program.adts[*adt].variants.iter().enumerate().filter(|(_, v)| made(&v.fields));
            if let Some((variant, _)) = variants.min_by_key(|(_, v)| v.fields.len()) {
                now.push((*adt, variant));
            }
        }
        if now.is_empty() {
            break;
        }
        now.into_iter().for_each(|(adt, variant)| {
            below.insert(adt, Some((depth, variant)));
        });
    }
    below.into_iter().map(|(adt, found)| (adt, found.map(|(_, variant)| variant))).collect()
}

/// The nominal types of which a value of type `ty` holds a value for sure.
fn nominal_parts<A>(program: &Program<A>, ty: TypeId, out: &mut Vec<AdtId>) {
    match program.ty(ty) {
        Type::Tuple(parts) => parts.iter().for_each(|p| nominal_parts(program, *p, out)),
        Type::Adt(adt) => out.push(*adt),
        Type::F64 | Type::F32 | Type::I64 | Type::Bool | Type::Str | Type::Array { .. } | Type::Fn { .. } => {}
        Type::Tan(_) | Type::Acc(_) | Type::Residual => {}
    }
}
