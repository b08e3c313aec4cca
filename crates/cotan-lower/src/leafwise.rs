//! Operations on every float of a value of any type.
//!
//! In: a value and bounds. Out: the value with each of its floats brought between them. Nominal types have a function each, so
//! that types which hold themselves end.

use crate::frame::Frame;
use crate::rules::reserve;
use cotan_ir::{AdOp, AdtId, Atom, FnId, FuncBuilder, Op, Program, Type, TypeId, Var};
use cotan_prim::Prim;
use cotan_source::Span;
use rustc_hash::FxHashMap;

/// The functions that clamp the values of nominal types.
pub(crate) type Clamps = FxHashMap<AdtId, FnId>;

impl Frame<'_, '_> {
    /// The value with each float below `low` replaced by `low` and each above `high` by `high`; the derivative of a float that was
    /// replaced is that of the bound.
    pub fn clamp_leaves(&mut self, value: Atom, low: Atom, high: Atom) -> Atom {
        clamp(&mut self.b, &mut self.s.clamps, value, &low, &high)
    }
}

fn clamp(b: &mut FuncBuilder<'_, AdOp>, made: &mut Clamps, value: Atom, low: &Atom, high: &Atom) -> Atom {
    let ty = b.type_of(&value);
    let one = |b: &mut FuncBuilder<'_, AdOp>, op: Op<AdOp>| Atom::Var(b.emit_typed1(op));
    match b.program.ty(ty).clone() {
        Type::F64 | Type::F32 => {
            let (low, high) = bounds(b, ty, low, high);
            let below = one(b, Op::Prim(Prim::Lt, vec![value.clone(), low.clone()]));
            let above = one(b, Op::Prim(Prim::Lt, vec![high.clone(), value.clone()]));
            let upper = one(b, Op::Prim(Prim::Select, vec![above, high, value]));
            one(b, Op::Prim(Prim::Select, vec![below, low, upper]))
        }
        Type::Array { elem, .. } if matches!(b.program.ty(elem), Type::F64 | Type::F32) => {
            let (low, high) = bounds(b, elem, low, high);
            let below = one(b, Op::Map(Prim::Lt, vec![value.clone(), low.clone()]));
            let above = one(b, Op::Map(Prim::Lt, vec![high.clone(), value.clone()]));
            let upper = one(b, Op::Map(Prim::Select, vec![above, high, value]));
            one(b, Op::Map(Prim::Select, vec![below, low, upper]))
        }
        Type::Array { rank, .. } => {
            let extents: Vec<Atom> = (0..rank).map(|axis| one(b, Op::Dim { array: value.clone(), axis })).collect();
            let int = b.program.intern(Type::I64);
            let indices: Vec<Var> = (0..rank).map(|_| b.var(int, None)).collect();
            let at = indices.iter().map(|i| (*i).into()).collect();
            b.begin_block();
            let element = one(b, Op::Index { array: value, at });
            let element = clamp(b, made, element, low, high);
            let body = b.end_block(vec![element]);
            Atom::Var(b.emit1(Op::Build { extents, indices, body }, ty))
        }
        Type::Tuple(parts) => {
            let parts = (0..parts.len())
                .map(|i| {
                    let part = one(b, Op::Proj(value.clone(), i as u32));
                    clamp(b, made, part, low, high)
                })
                .collect();
            Atom::Var(b.emit1(Op::Tuple(parts), ty))
        }
        Type::Adt(adt) => {
            let func = function(b.program, made, adt, ty);
            Atom::Var(b.emit1(Op::Call { func, args: vec![value, low.clone(), high.clone()] }, ty))
        }
        // No floats in it that are a tangent of themselves.
        _ => value,
    }
}

/// The bounds as numbers of a float type.
fn bounds(b: &mut FuncBuilder<'_, AdOp>, ty: TypeId, low: &Atom, high: &Atom) -> (Atom, Atom) {
    match b.program.ty(ty) {
        Type::F32 => {
            let mut narrow = |x: &Atom| Atom::Var(b.emit_typed1(Op::Prim(Prim::ToFloat32, vec![x.clone()])));
            (narrow(low), narrow(high))
        }
        _ => (low.clone(), high.clone()),
    }
}

/// The function that clamps the values of a nominal type.
fn function(program: &mut Program<AdOp>, made: &mut Clamps, adt: AdtId, ty: TypeId) -> FnId {
    if let Some(id) = made.get(&adt) {
        return *id;
    }
    let id = reserve(program, "clamp", vec![ty], Span::NONE);
    made.insert(adt, id);
    let float = program.intern(Type::F64);
    let mut b = FuncBuilder::new(program, "clamp");
    let value = Atom::Var(b.param(ty, None));
    let low = Atom::Var(b.param(float, None));
    let high = Atom::Var(b.param(float, None));
    let mut arms = Vec::new();
    for variant in 0..b.program.adts[adt].variants.len() as u32 {
        b.begin_block();
        let count = b.program.adts[adt].variants[variant as usize].fields.len() as u32;
        let fields = (0..count)
            .map(|index| {
                let field = Atom::Var(b.emit_typed1(Op::Field { base: value.clone(), variant, index }));
                clamp(&mut b, made, field, &low, &high)
            })
            .collect();
        let whole = Atom::Var(b.emit1(Op::Adt { adt, variant, fields }, ty));
        arms.push((variant, b.end_block(vec![whole])));
    }
    let result = Atom::Var(b.emit1(Op::Switch { on: value, arms, default: None }, ty));
    let func = b.finish(vec![result], Span::NONE);
    program.fns[id] = func;
    id
}
