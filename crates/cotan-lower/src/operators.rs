//! Operators, by the types of their operands.
//!
//! In: an operator and operands. Out: a scalar primitive, an elementwise one, or an operation of a tangent space.

use crate::frame::Frame;
use cotan_core::{BinaryOp, UnaryOp};
use cotan_ir::{Atom, Lit, Op, Type, TypeId};
use cotan_prim::Prim;
use cotan_source::Diagnostic;

/// What an operand is to an operator.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A number or truth value.
    Scalar,
    /// An array of numbers or truth values.
    Numbers,
    /// A text.
    Text,
    /// Any other element of a tangent space.
    Space,
}

impl Frame<'_, '_> {
    fn operand_kind(&self, ty: TypeId) -> Kind {
        match self.kind(ty) {
            Type::F64 | Type::F32 | Type::I64 | Type::Bool => Kind::Scalar,
            Type::Str => Kind::Text,
            Type::Array { elem, .. } if self.operand_kind(*elem) == Kind::Scalar => Kind::Numbers,
            Type::Array { .. } | Type::Tuple(_) | Type::Adt(_) | Type::Tan(_) => Kind::Space,
            Type::Fn { .. } | Type::Acc(_) | Type::Residual => Kind::Space,
        }
    }

    fn holds_function(&self, ty: TypeId, seen: &mut Vec<TypeId>) -> bool {
        if seen.contains(&ty) {
            return false;
        }
        seen.push(ty);
        match self.kind(ty).clone() {
            Type::Fn { .. } | Type::Residual | Type::Acc(_) => true,
            Type::Array { elem, .. } => self.holds_function(elem, seen),
            Type::Tuple(parts) => parts.iter().any(|p| self.holds_function(*p, seen)),
            Type::Adt(id) => {
                let fields: Vec<TypeId> =
                    self.b.program.adts[id].variants.iter().flat_map(|v| &v.fields).map(|f| f.1).collect();
                fields.into_iter().any(|f| self.holds_function(f, seen))
            }
            Type::F64 | Type::F32 | Type::I64 | Type::Bool | Type::Str | Type::Tan(_) => false,
        }
    }

    /// The checker cannot know for generic code: `==` between values that turn out to hold functions.
    fn refuse_comparison(&mut self) {
        let span = self.b.span();
        let repeated = self.s.diagnostics.iter().any(|d| d.code == "E0605" && d.primary.span == span);
        if !repeated {
            self.s.diagnostics.push(
                Diagnostic::error("E0605", span, "functions cannot be compared")
                    .at("compared here, in generic code that is used at a type with a function inside")
                    .hint("compare what the functions were made from"),
            );
        }
    }

    /// A binary operator, except `&&` and `||`.
    pub fn binary(&mut self, op: BinaryOp, left: Atom, right: Atom) -> Atom {
        let (lt, rt) = (self.b.type_of(&left), self.b.type_of(&right));
        let (lk, rk) = (self.operand_kind(lt), self.operand_kind(rt));
        let prim = match op {
            BinaryOp::Add => Prim::Add,
            BinaryOp::Sub => Prim::Sub,
            BinaryOp::Mul => Prim::Mul,
            BinaryOp::Div => Prim::Div,
            BinaryOp::Rem => Prim::Rem,
            BinaryOp::Pow => self.power(rt),
            BinaryOp::MatMul => return self.emit(Op::MatMul(left, right)),
            BinaryOp::Eq | BinaryOp::Ne => {
                if lk == Kind::Space && self.holds_function(lt, &mut Vec::new()) {
                    self.refuse_comparison();
                }
                let (scalar, ne) = (lk == Kind::Scalar, op == BinaryOp::Ne);
                return match (scalar, ne) {
                    (true, false) => self.emit(Op::Prim(Prim::Eq, vec![left, right])),
                    (true, true) => self.emit(Op::Prim(Prim::Ne, vec![left, right])),
                    (false, false) => self.emit(Op::Equal(left, right)),
                    (false, true) => {
                        let same = self.emit(Op::Equal(left, right));
                        self.emit(Op::Prim(Prim::Not, vec![same]))
                    }
                };
            }
            BinaryOp::Lt => Prim::Lt,
            BinaryOp::Le => Prim::Le,
            BinaryOp::Gt => Prim::Gt,
            BinaryOp::Ge => Prim::Ge,
            BinaryOp::And => Prim::And,
            BinaryOp::Or => Prim::Or,
        };
        match (lk, rk) {
            (Kind::Scalar, Kind::Scalar) => self.emit(Op::Prim(prim, vec![left, right])),
            (Kind::Numbers, Kind::Numbers | Kind::Scalar) | (Kind::Scalar, Kind::Numbers) => {
                self.emit(Op::Map(prim, vec![left, right]))
            }
            (Kind::Text, _) | (_, Kind::Text) => self.emit(Op::StrConcat(left, right)),
            (Kind::Space, Kind::Scalar) => match prim {
                Prim::Div => self.divide(left, right),
                _ => self.emit(Op::SpaceScale(right, left)),
            },
            (Kind::Scalar, Kind::Space) => self.emit(Op::SpaceScale(left, right)),
            (Kind::Space, _) | (_, Kind::Space) => match prim {
                Prim::Sub => {
                    let right = self.emit(Op::SpaceNeg(right));
                    self.emit(Op::SpaceAdd(left, right))
                }
                _ => self.emit(Op::SpaceAdd(left, right)),
            },
        }
    }

    fn power(&self, exponent: TypeId) -> Prim {
        match self.kind(exponent) {
            Type::I64 => Prim::PowI,
            Type::Array { elem, .. } if *self.kind(*elem) == Type::I64 => Prim::PowI,
            _ => Prim::Pow,
        }
    }

    /// An element of a tangent space divided by a number: leaf by leaf as far as the structure is known, so that
    /// it is rounded once.
    fn divide(&mut self, value: Atom, by: Atom) -> Atom {
        let ty = self.b.type_of(&value);
        match (self.operand_kind(ty), self.kind(ty).clone()) {
            (Kind::Scalar, _) => self.emit(Op::Prim(Prim::Div, vec![value, by])),
            (Kind::Numbers, _) => self.emit(Op::Map(Prim::Div, vec![value, by])),
            (_, Type::Tuple(parts)) => {
                let parts = (0..parts.len())
                    .map(|i| {
                        let part = self.proj(&value, i);
                        self.divide(part, by.clone())
                    })
                    .collect();
                self.tuple(parts)
            }
            (_, Type::Adt(adt)) if self.b.program.adts[adt].kind == cotan_ir::AdtKind::Struct => {
                let count = self.b.program.adts[adt].variants[0].fields.len();
                let fields = (0..count)
                    .map(|i| {
                        let part = self.emit(Op::Field { base: value.clone(), variant: 0, index: i as u32 });
                        self.divide(part, by.clone())
                    })
                    .collect();
                self.emit(Op::Adt { adt, variant: 0, fields })
            }
            _ => {
                let one = match self.kind_of(&by) {
                    Type::F32 => Atom::Lit(Lit::F32(1.0)),
                    _ => Atom::f64(1.0),
                };
                let factor = self.emit(Op::Prim(Prim::Div, vec![one, by]));
                self.emit(Op::SpaceScale(factor, value))
            }
        }
    }

    /// A unary operator.
    pub fn unary(&mut self, op: UnaryOp, operand: Atom) -> Atom {
        match (op, &operand) {
            (UnaryOp::Neg, Atom::Lit(Lit::F64(x))) => return Atom::f64(-x),
            (UnaryOp::Neg, Atom::Lit(Lit::F32(x))) => return Atom::Lit(Lit::F32(-x)),
            (UnaryOp::Neg, Atom::Lit(Lit::I64(i))) => {
                if let Some(i) = i.checked_neg() {
                    return Atom::int(i);
                }
            }
            _ => {}
        }
        let prim = match op {
            UnaryOp::Neg => Prim::Neg,
            UnaryOp::Not => Prim::Not,
        };
        let ty = self.b.type_of(&operand);
        match self.operand_kind(ty) {
            Kind::Scalar => self.emit(Op::Prim(prim, vec![operand])),
            Kind::Numbers => self.emit(Op::Map(prim, vec![operand])),
            Kind::Text | Kind::Space => self.emit(Op::SpaceNeg(operand)),
        }
    }
}
