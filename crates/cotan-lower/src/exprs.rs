//! Expressions.
//!
//! In: an expression of the core. Out: an operand that holds its value; the operations before it compute it, in the order in which
//! the source is read. `tail` says that the value is the function's.

use crate::frame::{Dead, Flow, Frame, Slot, text, truth, unit};
use crate::regions::On;
use cotan_core::{BinaryOp, Expr, ExprKind, Subscript};
use cotan_ir::{Atom, Lit, Op, Sub, Type, TypeId};
use std::rc::Rc;

impl<'c> Frame<'_, 'c> {
    /// The value of an expression that is not the function's value.
    pub fn value(&mut self, e: &'c Expr) -> Flow<Atom> {
        self.expr(e, false)
    }

    /// The values of expressions.
    pub fn values(&mut self, items: &'c [Expr]) -> Flow<Vec<Atom>> {
        items.iter().map(|e| self.value(e)).collect()
    }

    /// The value of an expression.
    pub fn expr(&mut self, e: &'c Expr, tail: bool) -> Flow<Atom> {
        match &e.kind {
            ExprKind::Lit(lit) => Ok(self.lit(lit, e)),
            ExprKind::Local(local) => Ok(self.get(Slot::Local(*local))),
            _ => crate::deep(|| self.compound(e, tail)),
        }
    }

    fn compound(&mut self, e: &'c Expr, tail: bool) -> Flow<Atom> {
        self.b.set_span(e.span);
        match &e.kind {
            ExprKind::Lit(lit) => Ok(self.lit(lit, e)),
            ExprKind::Local(local) => Ok(self.get(Slot::Local(*local))),
            ExprKind::Fn(id, types) => Ok(self.fn_value(*id, types)),
            ExprKind::LocalFn(id, types) => Ok(self.local_fn_value(*id, types)),
            ExprKind::Ctor(adt, variant, types) => {
                let types = self.instantiate_all(types);
                let code = self.s.ctor_of(self.b.program, *adt, *variant, &types);
                Ok(self.emit(Op::Closure { code, captures: Vec::new() }))
            }
            ExprKind::Const(id) => Ok(self.constant(*id)),
            ExprKind::Tuple(items) => {
                let items = self.values(items)?;
                self.b.set_span(e.span);
                Ok(self.tuple(items))
            }
            ExprKind::Adt { variant, fields, order, .. } => {
                let mut values: Vec<Option<Atom>> = vec![None; fields.len()];
                for i in order {
                    values[*i] = Some(self.value(&fields[*i])?);
                }
                self.b.set_span(e.span);
                let ty = self.ty(&e.ty);
                let Type::Adt(adt) = *self.kind(ty) else { unreachable!("the type of a structure is nominal") };
                let fields = values.into_iter().map(|v| v.expect("every field has a place in the order")).collect();
                Ok(self.emit(Op::Adt { adt, variant: *variant as u32, fields }))
            }
            ExprKind::Update { base, fields } => {
                let base = self.value(base)?;
                let mut new = Vec::new();
                for (i, e) in fields {
                    new.push((*i, self.value(e)?));
                }
                self.b.set_span(e.span);
                Ok(self.with_fields(&base, new))
            }
            ExprKind::Array(items) => {
                let items = self.values(items)?;
                self.b.set_span(e.span);
                if items.is_empty() {
                    let ty = self.ty(&e.ty);
                    return Ok(self.emit_as(Op::Array(items), ty));
                }
                Ok(self.emit(Op::Array(items)))
            }
            ExprKind::Comprehension { generators, filter, body } => {
                self.comprehension(generators, filter.as_deref(), body, e.span)
            }
            ExprKind::Call { callee, arg } => self.call(e, callee, arg),
            ExprKind::Binary { op: op @ (BinaryOp::And | BinaryOp::Or), left, right } => {
                let cond = self.value(left)?;
                self.b.set_span(e.span);
                self.either(cond, *op == BinaryOp::And, right)
            }
            ExprKind::Binary { op, left, right } => {
                let left = self.value(left)?;
                let right = self.value(right)?;
                self.b.set_span(e.span);
                Ok(self.binary(*op, left, right))
            }
            ExprKind::Unary { op, operand } => {
                let operand = self.value(operand)?;
                self.b.set_span(e.span);
                Ok(self.unary(*op, operand))
            }
            ExprKind::Field { base, index } => {
                let base = self.value(base)?;
                self.b.set_span(e.span);
                Ok(self.emit(Op::Field { base, variant: 0, index: *index as u32 }))
            }
            ExprKind::TupleField { base, index } => {
                let base = self.value(base)?;
                self.b.set_span(e.span);
                Ok(self.proj(&base, *index))
            }
            ExprKind::TangentField { base, index } => {
                let base = self.value(base)?;
                self.b.set_span(e.span);
                let want = self.ty(&e.ty);
                Ok(self.tangent_field(base, *index, want))
            }
            ExprKind::TangentCapture { base, name, maker } => {
                let base = self.value(base)?;
                self.b.set_span(e.span);
                let want = self.ty(&e.ty);
                Ok(self.tangent_capture(base, name, *maker, want, e.span))
            }
            ExprKind::TangentLiteral { function, fields, maker } => {
                let function = self.value(function)?;
                let mut given = Vec::new();
                for (name, value) in fields {
                    given.push((name.as_str(), self.value(value)?));
                }
                self.b.set_span(e.span);
                Ok(self.tangent_literal(function, given, *maker, e.span))
            }
            ExprKind::TangentOf(local) => Ok(self.get(Slot::Tangent(*local))),
            ExprKind::Index { base, subscripts } => {
                let array = self.value(base)?;
                let subs = self.subscripts(&array, subscripts, 0)?;
                self.b.set_span(e.span);
                Ok(self.part(array, subs))
            }
            ExprKind::If { cond, then, otherwise } => {
                let cond = self.value(cond)?;
                self.b.set_span(e.span);
                let ty = self.ty(&e.ty);
                let effects = [self.s.scan.expr(then), self.s.scan.expr(otherwise)];
                let mut arm = |f: &mut Self, i: usize, tail: bool| f.expr(if i == 0 { then } else { otherwise }, tail);
                self.choose(On::Cond(cond), ty, tail, &effects, &mut arm)
            }
            ExprKind::Match { value, arms } => {
                let value = self.value(value)?;
                self.b.set_span(e.span);
                let ty = self.ty(&e.ty);
                self.matching(value, arms, ty, tail)
            }
            ExprKind::Block { stmts, result } => {
                for stmt in stmts {
                    self.stmt(stmt)?;
                }
                match result {
                    Some(result) => self.expr(result, tail),
                    None => Ok(unit()),
                }
            }
            ExprKind::Closure(closure) => Ok(self.closure(closure, e)),
            ExprKind::Return(value) => {
                let in_tail = tail && self.returns_here();
                if in_tail {
                    return self.expr(value, true);
                }
                let value = self.value(value)?;
                self.set(Slot::ReturnValue, value);
                self.set(Slot::Returned, truth(true));
                Err(Dead)
            }
            ExprKind::Break => {
                self.set(Slot::Broke, truth(true));
                Err(Dead)
            }
            ExprKind::Continue => {
                self.set(Slot::Continued, truth(true));
                Err(Dead)
            }
            ExprKind::CheckSizes { value, checks } => {
                let value = self.value(value)?;
                self.check_sizes(checks, Some(&value))?;
                Ok(value)
            }
        }
    }

    /// `cond && right` (`and`) or `cond || right`.
    pub fn either(&mut self, cond: Atom, and: bool, right: &'c Expr) -> Flow<Atom> {
        let ty = self.b.program.intern(Type::Bool);
        let none = Rc::default();
        let some = self.s.scan.expr(right);
        let effects = if and { [some, none] } else { [none, some] };
        let mut arm = |f: &mut Self, i: usize, _: bool| {
            if (i == 0) == and { f.value(right) } else { Ok(truth(!and)) }
        };
        self.choose(On::Cond(cond), ty, false, &effects, &mut arm)
    }

    /// A structure with some of its fields replaced. The replaced ones are not read: nothing else may hold on to them.
    pub fn with_fields(&mut self, base: &Atom, new: Vec<(usize, Atom)>) -> Atom {
        let Type::Adt(adt) = self.kind_of(base) else { unreachable!("only structures have fields") };
        let count = self.b.program.adts[adt].variants[0].fields.len();
        let fields = (0..count)
            .map(|i| match new.iter().rev().find(|(j, _)| *j == i) {
                Some((_, value)) => value.clone(),
                None => self.emit(Op::Field { base: base.clone(), variant: 0, index: i as u32 }),
            })
            .collect();
        self.emit(Op::Adt { adt, variant: 0, fields })
    }

    /// The subscripts of an array; `axis` axes of it were passed before.
    pub fn subscripts(&mut self, array: &Atom, subs: &'c [Subscript], axis: usize) -> Flow<Vec<Sub>> {
        let mut out = Vec::new();
        for (i, sub) in subs.iter().enumerate() {
            out.push(match sub {
                Subscript::At(e) => Sub::At(self.value(e)?),
                Subscript::Range(lo, hi) => {
                    let lo = match lo {
                        Some(e) => self.value(e)?,
                        None => Atom::int(0),
                    };
                    let hi = match hi {
                        Some(e) => self.value(e)?,
                        None => self.emit(Op::Dim { array: array.clone(), axis: (axis + i) as u32 }),
                    };
                    Sub::Range(lo, hi)
                }
            });
        }
        Ok(out)
    }

    /// The part of an array that subscripts select.
    pub fn part(&mut self, array: Atom, subs: Vec<Sub>) -> Atom {
        let at: Option<Vec<Atom>> = subs
            .iter()
            .map(|s| match s {
                Sub::At(a) => Some(a.clone()),
                Sub::Range(..) => None,
            })
            .collect();
        match at {
            Some(at) => self.emit(Op::Index { array, at }),
            None => self.emit(Op::Slice { array, subs }),
        }
    }

    /// A literal at the type of the expression.
    pub fn lit(&mut self, lit: &cotan_core::Lit, e: &Expr) -> Atom {
        let ty = self.ty(&e.ty);
        self.lit_as(lit, ty)
    }

    /// A literal at a type.
    pub fn lit_as(&mut self, lit: &cotan_core::Lit, ty: TypeId) -> Atom {
        match (lit, self.kind(ty)) {
            (cotan_core::Lit::Int(i), Type::F64) => Atom::f64(*i as f64),
            (cotan_core::Lit::Int(i), Type::F32) => Atom::Lit(Lit::F32(*i as f32)),
            (cotan_core::Lit::Int(i), _) => Atom::int(*i),
            (cotan_core::Lit::Float(x), Type::F32) => Atom::Lit(Lit::F32(*x as f32)),
            (cotan_core::Lit::Float(x), _) => Atom::f64(*x),
            (cotan_core::Lit::Bool(b), _) => truth(*b),
            (cotan_core::Lit::Str(s), _) => text(s),
        }
    }
}
