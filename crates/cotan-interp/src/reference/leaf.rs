//! Operations without blocks, on values that know their derivatives.

use super::array::{Stack, arg_reduce, argsort, equal};
use super::cell::{self, Cell, Which};
use super::space::{densify, spread, tangent_from, zero_like};
use super::value::{Adt, Arr, Code, Val, array, differ, function, stop, tuple};
use super::{Reference, Res, Vals};
use crate::array::{At, Selection};
use crate::code::CStmt;
use crate::fault::{Fault, Part};
use cotan_ir::{AdOp, Atom, Effect, Inspect, Op, ReduceOp, Step, Sub, Type, TypeId};
use cotan_prim::Prim;
use cotan_source::Diagnostic;
use std::rc::Rc;

type Subs = smallvec::SmallVec<[At; 3]>;

impl Reference {
    pub(super) fn leaf(&mut self, op: &Op<AdOp>, s: &CStmt<AdOp>, base: usize) -> Res<Vals> {
        let span = s.span;
        let v = match op {
            Op::Call { .. } | Op::Dispatch { .. } | Op::Ad(_) => unreachable!("calls are handled before"),
            Op::If { .. } | Op::Switch { .. } | Op::For { .. } | Op::While { .. } | Op::Build { .. } => {
                unreachable!("blocks are compiled")
            }
            Op::Prim(prim, args) => {
                let args = self.take(args, &s.kill, base);
                self.tapes.apply(*prim, &args).map_err(|f| f.at(&self.program, span))?
            }
            Op::AccNew(start) => {
                let start = start.as_ref().map_or(Val::Zero, |a| self.atom(a, base));
                self.kill(&s.kill, base);
                Val::Acc(Some(cell::new(start)))
            }
            Op::AccNull => Val::Acc(None),
            Op::AccPart { acc, step } => {
                let Val::Acc(whole) = self.atom(acc, base) else { unreachable!("an accumulator") };
                let which = self.which(step, base);
                self.kill(&s.kill, base);
                if let Which::Index(at, extents) = &which {
                    // Positions are checked now, so that an error has the right place.
                    Selection::new(extents, at).map_err(|f| f.at(&self.program, span))?;
                }
                Val::Acc(whole.map(|whole| Rc::new(Cell::Part(whole, which))))
            }
            Op::AccAdd { acc, value } => {
                let Val::Acc(target) = self.atom(acc, base) else { unreachable!("an accumulator") };
                let value = self.atom(value, base);
                self.kill(&s.kill, base);
                if let Some(target) = target {
                    self.tapes.accumulate(&target, value).map_err(|f| f.at(&self.program, span))?;
                }
                return Ok(Vals::new());
            }
            Op::TanPart { tan, step } => {
                let tan = self.atom(tan, base);
                let part = self.tan_part(&tan, step, base).map_err(|f| f.at(&self.program, span))?;
                self.kill(&s.kill, base);
                self.settle(part, s.types[0])
            }
            Op::Slice { array, subs } => {
                let Val::Array(a) = self.atom(array, base) else { unreachable!("an array") };
                let at = self.subs(subs, base);
                self.kill(&s.kill, base);
                a.part(&at).map_err(|f| f.at(&self.program, span))?
            }
            Op::Update { array, subs, value } => {
                let Val::Array(mut a) = self.atom(array, base) else { unreachable!("an array") };
                let at = self.subs(subs, base);
                let v = self.atom(value, base);
                self.kill(&s.kill, base);
                Rc::make_mut(&mut a).set_part(&at, v).map_err(|f| f.at(&self.program, span))?;
                Val::Array(a)
            }
            Op::TanUpdate { tan, subs, extents, value } => {
                let tan = self.atom(tan, base);
                let at = self.subs(subs, base);
                let extents = self.sizes(extents, base);
                let v = self.atom(value, base);
                self.kill(&s.kill, base);
                let zero = self.element_zero(s.types[0]);
                let Val::Array(mut a) = spread(tan, &extents, &zero).map_err(|f| f.at(&self.program, span))? else {
                    unreachable!("an array")
                };
                let shape = Selection::new(&extents, &at).map_err(|f| f.at(&self.program, span))?.shape();
                let v = if shape.is_empty() {
                    v
                } else {
                    spread(v, &shape, &zero).map_err(|f| f.at(&self.program, span))?
                };
                Rc::make_mut(&mut a).set_part(&at, v).map_err(|f| f.at(&self.program, span))?;
                Val::Array(a)
            }
            _ => {
                let atoms: smallvec::SmallVec<[Atom; 4]> = op.atoms().into_iter().cloned().collect();
                let args = self.take(&atoms, &s.kill, base);
                return self.simple(op, args, s);
            }
        };
        Ok(smallvec::smallvec![v])
    }

    /// Operations whose operands are all taken first, in order.
    fn simple(&mut self, op: &Op<AdOp>, mut args: Vals, s: &CStmt<AdOp>) -> Res<Vals> {
        let span = s.span;
        let v = match op {
            Op::Copy(_) | Op::Sparse(_) => self.settle(args.remove(0), s.types[0]),
            Op::StopGradient(_) => stop(&args[0]),
            Op::Map(prim, _) => self.tapes.map(*prim, &args).map_err(|f| f.at(&self.program, span))?,
            Op::Tuple(_) => tuple(args.into_vec()),
            Op::Proj(_, i) => match &args[0] {
                Val::Tuple(vs) => vs[*i as usize].clone(),
                Val::Zero | Val::Unit => self.settle(Val::Zero, s.types[0]),
                other => unreachable!("{other:?} is no tuple"),
            },
            Op::Adt { adt, variant, .. } | Op::TanAdt { adt, variant, .. } => {
                Val::Adt(Rc::new(Adt { adt: *adt, variant: *variant, fields: args.into_vec() }))
            }
            Op::Field { index, .. } => match &args[0] {
                Val::Adt(a) => a.fields[*index as usize].clone(),
                other => unreachable!("{other:?} is no nominal value"),
            },
            Op::Closure { code, .. } | Op::TanClosure { code, .. } => function(Code::Fn(*code), args.into_vec()),
            Op::Attach { forward, .. } => function(Code::Attached(*forward), args.into_vec()),
            Op::Capture { index, .. } => match &args[0] {
                Val::Fn(c) => c.captures[*index as usize].clone(),
                other => unreachable!("{other:?} is no closure"),
            },
            Op::Array(_) => {
                let mut stack = Stack::new(vec![args.len()], self.rank(s.types[0]) - 1);
                for v in args {
                    stack.push(v).map_err(|f| f.at(&self.program, span))?;
                }
                stack.finish()
            }
            Op::Fill { .. } => {
                let value = args.pop().expect("a value");
                let shape = ints(&args);
                let n = self.room(&shape, span)?;
                array(shape, vec![value; n])
            }
            Op::Index { .. } => {
                let at: Subs = args[1..].iter().map(|v| At::One(int(v))).collect();
                let a = arr(&args[0]);
                match (&at[..], &a.shape[..]) {
                    // The most common case first.
                    ([At::One(i)], [n]) if *i >= 0 && (*i as usize) < *n => a.data[*i as usize].clone(),
                    _ => a.part(&at).map_err(|f| f.at(&self.program, span))?,
                }
            }
            Op::Dim { axis, .. } => Val::I64(arr(&args[0]).shape[*axis as usize] as i64),
            Op::Reduce(op, _) => self.reduce(*op, arr(&args[0]), s.types[0]).map_err(|f| f.at(&self.program, span))?,
            Op::ArgReduce { max, .. } => arg_reduce(*max, arr(&args[0])).map_err(|f| f.at(&self.program, span))?,
            Op::Argsort(_) => argsort(arr(&args[0])),
            Op::Gather { .. } => arr(&args[0]).gather(&int_list(&args[1])).map_err(|f| f.at(&self.program, span))?,
            Op::ScatterAdd { .. } => {
                let positions = int_list(&args[1]);
                let values = arr(&args[2]);
                if positions.len() != values.shape[0] {
                    let (left, right) = (vec![positions.len()], vec![values.shape[0]]);
                    let fault = Fault::Shapes { left, right, what: "positions and values" };
                    return Err(fault.at(&self.program, span));
                }
                let mut out: Arr = arr(&args[0]).clone();
                for (k, p) in positions.iter().enumerate() {
                    let old = out.part(&[At::One(*p)]).map_err(|f| f.at(&self.program, span))?;
                    let v = values.part(&[At::One(k as i64)]).map_err(|f| f.at(&self.program, span))?;
                    let sum = self.tapes.add(old, v).map_err(|f| f.at(&self.program, span))?;
                    out.set_part(&[At::One(*p)], sum).map_err(|f| f.at(&self.program, span))?;
                }
                Val::Array(Rc::new(out))
            }
            Op::Concat(..) => arr(&args[0]).concat(arr(&args[1])).map_err(|f| f.at(&self.program, span))?,
            Op::Transpose(_) => arr(&args[0]).transpose(),
            Op::MatMul(..) => {
                let zero = match self.program.ty(s.types[0]) {
                    Type::Array { elem, .. } => self.number_zero(*elem),
                    _ => Val::F64(0.0),
                };
                self.tapes.matmul(arr(&args[0]), arr(&args[1]), &zero).map_err(|f| f.at(&self.program, span))?
            }
            Op::SpaceAdd(..) => {
                let b = args.pop().expect("two");
                let a = args.pop().expect("two");
                let v = self.tapes.add(a, b).map_err(|f| f.at(&self.program, span))?;
                self.settle(v, s.types[0])
            }
            Op::SpaceNeg(_) => self.tapes.negate(&args[0]).map_err(|f| f.at(&self.program, span))?,
            Op::SpaceScale(..) => self.tapes.scale(&args[0], &args[1]).map_err(|f| f.at(&self.program, span))?,
            Op::SpaceDot(..) => self.tapes.dot(&args[0], &args[1]).map_err(|f| f.at(&self.program, span))?,
            Op::ZeroLike(_) => zero_like(&args[0]),
            Op::Move(..) => self.tapes.move_along(&args[0], &args[1]).map_err(|f| f.at(&self.program, span))?,
            Op::Inspect(Inspect::TangentFrom, _) => {
                tangent_from(&args[0], &arr(&args[1]).data).map_err(|f| f.at(&self.program, span))?
            }
            Op::Inspect(what, _) => {
                let given: Vec<crate::Value> = args.iter().map(|v| v.leave(self.names)).collect();
                let out = crate::leaves::inspect(&self.program, *what, &given);
                Val::enter(&out.map_err(|f| f.at(&self.program, span))?)
            }
            Op::Zero => self.settle(Val::Zero, s.types[0]),
            Op::Densify { .. } => densify(&args[0], &args[1]).map_err(|f| f.at(&self.program, span))?,
            Op::Spread { .. } => {
                let extents = ints(&args[1..]);
                let zero = self.element_zero(s.types[0]);
                spread(args.swap_remove(0), &extents, &zero).map_err(|f| f.at(&self.program, span))?
            }
            Op::AccTake(_) => match args.remove(0) {
                Val::Acc(Some(c)) => self.settle(cell::take(&c), s.types[0]),
                Val::Acc(None) => self.settle(Val::Zero, s.types[0]),
                other => unreachable!("{other:?} is no accumulator"),
            },
            Op::Equal(..) => Val::Bool(equal(&args[0], &args[1])),
            Op::ToStr(_) => {
                let v = args[0].leave(self.names);
                let text = crate::fmt::typed_text(&self.program, &v, s.types.get(1).copied(), true);
                Val::Str(Rc::new(text))
            }
            Op::StrConcat(..) => Val::Str(Rc::new(format!("{}{}", text_of(&args[0]), text_of(&args[1])))),
            Op::Probe { backward, .. } => {
                self.show(&args[0], &args[1], Some(s.types[0]), *backward);
                let v = args.remove(1);
                if *backward { v } else { self.probe(&args[0], v, span) }
            }
            Op::Assert { .. } => {
                if let Val::Bool(false) = args[0] {
                    let why = text_of(&args[1]);
                    let message =
                        if why.is_empty() { "assertion failed".into() } else { format!("assertion failed: {why}") };
                    return Err(Box::new(Diagnostic::error("E0715", span, message)));
                }
                return Ok(Vals::new());
            }
            Op::Panic(_) => {
                return Err(Box::new(Diagnostic::error("E0714", span, format!("panic: {}", text_of(&args[0])))));
            }
            Op::CheckSize { what, size, .. } => {
                let (a, e) = (int(&args[0]), int(&args[1]));
                if a != e {
                    return Err(Box::new(
                        Diagnostic::error("E0716", span, format!("{what} has size {a}, but `{size}` is {e}"))
                            .at(format!("`{size}` is declared here")),
                    ));
                }
                return Ok(Vals::new());
            }
            Op::Effect(effect, _) => {
                match effect {
                    Effect::Progress => self.host.progress(text_of(&args[0]), int(&args[1]), int(&args[2])),
                    Effect::WriteText => {
                        if let Err(why) = self.host.write_text(text_of(&args[0]), text_of(&args[1])) {
                            let m = format!("cannot write `{}`: {why}", text_of(&args[0]));
                            return Err(Box::new(Diagnostic::error("E0717", span, m)));
                        }
                    }
                }
                return Ok(s.vars.iter().map(|_| Val::Unit).collect());
            }
            other => unreachable!("{other:?} is handled before"),
        };
        Ok(smallvec::smallvec![v])
    }

    /// Tells the outside what a probe saw.
    pub(super) fn show(&mut self, label: &Val, v: &Val, ty: Option<TypeId>, backward: bool) {
        let v = v.leave(self.names);
        let text = match backward {
            true => crate::fmt::tangent_text(&self.program, &v, false),
            false => crate::fmt::typed_text(&self.program, &v, ty, false),
        };
        self.host.probe(text_of(label), &text, backward);
    }

    fn tan_part(&mut self, tan: &Val, step: &Step, base: usize) -> Result<Val, Fault> {
        Ok(match step {
            Step::Index { subs, extents } => {
                let at = self.subs(subs, base);
                let extents = self.sizes(extents, base);
                match tan {
                    Val::Array(a) => a.part(&at)?,
                    _ => {
                        Selection::new(&extents, &at)?;
                        Val::Zero
                    }
                }
            }
            Step::Proj(i) => tan.parts().get(*i as usize).cloned().unwrap_or(Val::Zero),
            Step::Field { adt, variant, index } => match tan {
                Val::Adt(a) if a.variant == *variant => a.fields[*index as usize].clone(),
                Val::Adt(a) => {
                    return Err(Fault::Tangents(Part::Variant(*adt, a.variant), Part::Variant(*adt, *variant)));
                }
                _ => Val::Zero,
            },
            Step::Capture { code, index } => match tan {
                Val::Fn(c) if c.code == Code::Fn(*code) => c.captures[*index as usize].clone(),
                Val::Fn(c) if matches!(c.code, Code::Attached(_)) => return self.tan_part(&c.captures[0], step, base),
                Val::Fn(_) => return Err(differ(tan, &function(Code::Fn(*code), Vec::new()))),
                _ => Val::Zero,
            },
        })
    }

    fn which(&mut self, step: &Step, base: usize) -> Which {
        match step {
            Step::Proj(i) => Which::Proj(*i as usize, *i as usize + 1),
            Step::Field { adt, variant, index } => {
                let n = self.program.adts[*adt].variants[*variant as usize].fields.len();
                Which::Field(*adt, *variant, *index as usize, n)
            }
            Step::Capture { code, index } => {
                let n = self.program.fns[*code].captures.as_ref().map_or(0, Vec::len);
                Which::Capture(*code, *index as usize, n)
            }
            Step::Index { subs, extents } => Which::Index(self.subs(subs, base).to_vec(), self.sizes(extents, base)),
        }
    }

    fn subs(&mut self, subs: &[Sub], base: usize) -> Subs {
        subs.iter()
            .map(|s| match s {
                Sub::At(a) => At::One(self.int(a, base)),
                Sub::Range(lo, hi) => At::Range(self.int(lo, base), self.int(hi, base)),
            })
            .collect()
    }

    fn sizes(&mut self, extents: &[Atom], base: usize) -> Vec<usize> {
        extents.iter().map(|e| self.int(e, base).max(0) as usize).collect()
    }

    fn element_zero(&self, ty: TypeId) -> Val {
        match self.program.ty(ty) {
            Type::Array { elem, .. } => self.zero_of(*elem),
            Type::Tan(of) => self.element_zero(*of),
            _ => Val::Zero,
        }
    }

    /// The zero of a type of numbers, integers among them.
    fn number_zero(&self, ty: TypeId) -> Val {
        match self.program.ty(ty) {
            Type::I64 => Val::I64(0),
            Type::F32 => Val::F32(0.0),
            _ => Val::F64(0.0),
        }
    }

    fn zero_of(&self, ty: TypeId) -> Val {
        match self.program.ty(ty) {
            Type::F64 => Val::F64(0.0),
            Type::F32 => Val::F32(0.0),
            Type::I64 | Type::Bool | Type::Str => Val::Unit,
            Type::Tuple(parts) => tuple(parts.iter().map(|p| self.zero_of(*p)).collect()),
            _ => Val::Zero,
        }
    }

    /// A sparse value as one of its type: the zero of floats and tuples is written out.
    fn settle(&self, v: Val, ty: TypeId) -> Val {
        match (&v, self.program.ty(ty)) {
            (Val::Zero, _) => self.zero_of(ty),
            (Val::Tuple(vs), Type::Tuple(parts)) if vs.iter().any(|v| matches!(v, Val::Zero)) => {
                tuple(vs.iter().zip(parts).map(|(v, ty)| self.settle(v.clone(), *ty)).collect())
            }
            _ => v,
        }
    }

    fn reduce(&mut self, op: ReduceOp, a: &Arr, ty: TypeId) -> Result<Val, Fault> {
        match op {
            ReduceOp::Sum => self.tapes.sum(&a.data, &self.number_zero(ty)),
            ReduceOp::Product if a.data.is_empty() => Ok(match self.program.ty(ty) {
                Type::I64 => Val::I64(1),
                Type::F32 => Val::F32(1.0),
                _ => Val::F64(1.0),
            }),
            ReduceOp::Product => self.tapes.product(&a.data),
            ReduceOp::Max if a.data.is_empty() => Err(Fault::Empty("maximum")),
            ReduceOp::Min if a.data.is_empty() => Err(Fault::Empty("minimum")),
            ReduceOp::Max => self.tapes.extremum(Prim::Max, &a.data),
            ReduceOp::Min => self.tapes.extremum(Prim::Min, &a.data),
        }
    }
}

fn arr(v: &Val) -> &Arr {
    match v {
        Val::Array(a) => a,
        other => unreachable!("{other:?} is no array"),
    }
}

fn int(v: &Val) -> i64 {
    match v {
        Val::I64(i) => *i,
        other => unreachable!("{other:?} is no integer"),
    }
}

fn ints(vs: &[Val]) -> Vec<usize> {
    vs.iter().map(|v| int(v).max(0) as usize).collect()
}

fn int_list(v: &Val) -> Vec<i64> {
    arr(v).data.iter().map(int).collect()
}

fn text_of(v: &Val) -> &str {
    match v {
        Val::Str(s) => s,
        other => unreachable!("{other:?} is no text"),
    }
}
