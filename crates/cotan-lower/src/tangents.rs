//! Tangents of the surface language, which are dense, as sparse tangents of the program, and back.
//!
//! In: values and types. Out: operations between the two. A tangent that the source can see has all its zeros filled in; its type
//! is the structure itself where all leaves are floats, and `Tan` of the structure elsewhere.

use crate::frame::{Frame, unit};
use crate::shapes::Shape;
use cotan_ir::{AdtId, Atom, Op, Program, Step, Type, TypeId, tangent_type};
use cotan_source::{Diagnostic, Span};

impl Frame<'_, '_> {
    /// The type of dense tangents of values of type `ty`.
    pub fn dense_type(&mut self, ty: TypeId) -> TypeId {
        match self.kind(ty).clone() {
            Type::F64 | Type::F32 | Type::Tan(_) => ty,
            Type::I64 | Type::Bool | Type::Str | Type::Acc(_) => self.b.program.intern(Type::Tuple(Vec::new())),
            Type::Tuple(parts) => {
                let parts = parts.into_iter().map(|p| self.dense_type(p)).collect();
                self.b.program.intern(Type::Tuple(parts))
            }
            Type::Array { rank, elem } => {
                let elem = self.dense_type(elem);
                self.b.program.intern(Type::Array { rank, elem })
            }
            Type::Adt(_) if own_tangent(self.b.program, ty, &mut Vec::new()) => ty,
            Type::Adt(_) | Type::Fn { .. } | Type::Residual => tangent_type(self.b.program, ty),
        }
    }

    /// A dense tangent as a sparse one of type `tan`.
    pub fn sparse_as(&mut self, value: Atom, tan: TypeId) -> Atom {
        let ty = self.b.type_of(&value);
        if ty == tan {
            return value;
        }
        match (self.kind(ty).clone(), self.kind(tan).clone()) {
            (_, Type::Tuple(parts)) if parts.is_empty() => unit(),
            (Type::Tuple(_), Type::Tuple(parts)) => {
                let parts = parts
                    .into_iter()
                    .enumerate()
                    .map(|(i, p)| {
                        let part = self.proj(&value, i);
                        self.sparse_as(part, p)
                    })
                    .collect();
                self.tuple(parts)
            }
            _ => self.emit_as(Op::Sparse(value), tan),
        }
    }

    /// A sparse tangent in which no zero is left out, as the dense one of type `want`.
    pub fn dense_as(&mut self, value: Atom, want: TypeId) -> Atom {
        let ty = self.b.type_of(&value);
        if ty == want {
            return value;
        }
        match (self.kind(ty).clone(), self.kind(want).clone()) {
            (Type::Tuple(parts), Type::Tuple(wanted)) if parts.len() == wanted.len() => {
                let parts = wanted
                    .into_iter()
                    .enumerate()
                    .map(|(i, w)| {
                        let part = self.proj(&value, i);
                        self.dense_as(part, w)
                    })
                    .collect();
                self.tuple(parts)
            }
            // A tangent has its own shape.
            (Type::Tan(_), _) => self.emit_as(Op::Densify { tan: value.clone(), like: value }, want),
            _ => self.filler(want),
        }
    }

    /// A field of a tangent of a structure.
    pub fn tangent_field(&mut self, base: Atom, index: usize, want: TypeId) -> Atom {
        match self.kind_of(&base) {
            Type::Tan(of) => {
                let Type::Adt(adt) = *self.kind(of) else { unreachable!("only structures have fields") };
                let step = Step::Field { adt, variant: 0, index: index as u32 };
                let part = self.emit(Op::TanPart { tan: base, step });
                self.dense_as(part, want)
            }
            // At these types the structure is its own tangent.
            Type::Adt(_) => self.emit(Op::Field { base, variant: 0, index: index as u32 }),
            // A structure without floats.
            _ => self.filler(want),
        }
    }

    /// A captured variable's part of the tangent of a closure.
    pub fn tangent_capture(&mut self, base: Atom, name: &str, maker: u32, want: TypeId, span: Span) -> Atom {
        let code = match self.shapes.of(&base) {
            Shape::Tangent(code) => code,
            _ => match self.s.made_by(maker, &self.scope) {
                Some(code) => code,
                None => return self.unknown_closure(want, span),
            },
        };
        let captures = self.b.program.fns[code].captures.as_ref().expect("codes have captures");
        match captures.iter().position(|c| c.name == name) {
            Some(index) => {
                let step = Step::Capture { code, index: index as u32 };
                let part = self.emit(Op::TanPart { tan: base, step });
                let part = self.dense_as(part, want);
                let known = self.s.captured.get(&code).and_then(|shapes| shapes.get(index));
                if let (Some(Shape::Code(inner)), Some(v)) = (known, part.var()) {
                    self.shapes.set(v, Shape::Tangent(*inner));
                }
                part
            }
            None => self.filler(want),
        }
    }

    /// `tangent f { w: e }`.
    pub fn tangent_literal(
        &mut self,
        function: Atom,
        given: Vec<(&str, Atom)>,
        maker: Option<u32>,
        span: Span,
    ) -> Atom {
        let ty = self.b.type_of(&function);
        let ty = self.b.program.intern(Type::Tan(ty));
        let code = match self.shapes.of(&function) {
            Shape::Code(code) | Shape::Attached(code) => Some(code),
            _ => maker.and_then(|maker| self.s.made_by(maker, &self.scope)),
        };
        let code = match code {
            Some(code) => code,
            None if given.is_empty() => return self.emit_as(Op::ZeroLike(function), ty),
            None => return self.unknown_closure(ty, span),
        };
        let captures = self.b.program.fns[code].captures.clone().expect("codes have captures");
        let mut parts = Vec::new();
        for c in &captures {
            let tan = tangent_type(self.b.program, c.ty);
            let value = match given.iter().rev().find(|(name, _)| *name == c.name) {
                Some((_, value)) => value.clone(),
                None => self.emit_as(Op::Zero, tan),
            };
            parts.push(self.sparse_as(value, tan));
        }
        // The captures left out are zeros of the shape that they have here.
        let tan = self.emit(Op::TanClosure { code, captures: parts });
        let ty = self.b.type_of(&tan);
        self.emit_as(Op::Densify { tan, like: function }, ty)
    }

    fn unknown_closure(&mut self, ty: TypeId, span: Span) -> Atom {
        self.s.diagnostics.push(
            Diagnostic::error("E0602", span, "the closure whose tangent this is cannot be found")
                .at("names a captured variable")
                .note("it is one closure, but it was made by a generic function, which has one for each of its types")
                .hint("use the tangent where the closure is made, or differentiate with respect to a parameter"),
        );
        self.filler(ty)
    }
}

/// Whether the tangent space of a type is the type itself: all leaves are floats, and there is no function.
pub(crate) fn own_tangent<A>(program: &Program<A>, ty: TypeId, seen: &mut Vec<AdtId>) -> bool {
    match program.ty(ty) {
        Type::F64 | Type::F32 | Type::Tan(_) => true,
        Type::I64 | Type::Bool | Type::Str | Type::Fn { .. } | Type::Acc(_) | Type::Residual => false,
        Type::Tuple(parts) => parts.iter().all(|p| own_tangent(program, *p, seen)),
        Type::Array { elem, .. } => own_tangent(program, *elem, seen),
        Type::Adt(adt) => {
            if seen.contains(adt) {
                return true;
            }
            seen.push(*adt);
            program.adts[*adt].variants.iter().flat_map(|v| &v.fields).all(|(_, t)| own_tangent(program, *t, seen))
        }
    }
}
