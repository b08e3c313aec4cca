//! Operations without blocks.

use super::{Machine, Res, Values};
use crate::acc::{self, Which, cell};
use crate::array::{At, Data, Stack, array};
use crate::code::CStmt;
use crate::fault::{Fault, Part};
use crate::value::{Array, Value};
use crate::{prims, space};
use cotan_ir::{Atom, Effect, Op, ReduceOp, Step, Sub, Type, TypeId};
use cotan_source::Diagnostic;
use std::rc::Rc;

impl Machine {
    /// Runs an operation and fills its slots.
    #[inline(never)]
    pub(super) fn leaf(&mut self, op: &Op, s: &CStmt, base: usize) -> Res<()> {
        let out = self.values(op, s, base)?;
        self.put(&s.vars, out, base);
        Ok(())
    }

    fn values(&mut self, op: &Op, s: &CStmt, base: usize) -> Res<Values> {
        let span = s.span;
        let one = |v: Value| -> Values { smallvec::smallvec![v] };
        match op {
            Op::Call { .. } | Op::Dispatch { .. } => unreachable!("calls are run by the machine"),
            Op::If { .. } | Op::Switch { .. } | Op::For { .. } | Op::While { .. } | Op::Build { .. } => {
                unreachable!("blocks are compiled")
            }
            Op::Attach { .. } => unreachable!("rules attached to values are made closures by `expand`"),
            Op::Ad(never) => match *never {},
            Op::AccNew(start) => {
                let start = start.as_ref().map(|a| self.atom(a, base));
                self.kill(&s.kill, base);
                Ok(one(Value::Acc(Some(cell(start.map_or(acc::Cell::Zero, acc::Cell::Value))))))
            }
            Op::AccNull => Ok(one(Value::Acc(None))),
            Op::AccPart { acc, step } => {
                let whole = self.atom(acc, base);
                let which = self.which(step, &s.types, base);
                self.kill(&s.kill, base);
                let Value::Acc(whole) = whole else { unreachable!("an accumulator") };
                let part = match whole {
                    None => None,
                    Some(whole) => Some(acc::part(&whole, which).map_err(|f| f.at(&self.program, span))?),
                };
                Ok(one(Value::Acc(part)))
            }
            Op::AccAdd { acc, value } => {
                let target = self.atom(acc, base);
                let value = self.atom(value, base);
                self.kill(&s.kill, base);
                let Value::Acc(target) = target else { unreachable!("an accumulator") };
                if let Some(target) = target {
                    acc::add(&target, value).map_err(|f| f.at(&self.program, span))?;
                }
                Ok(Values::new())
            }
            Op::TanPart { tan, step } => {
                let tan = self.atom(tan, base);
                let part = match step {
                    Step::Index { subs, extents } => {
                        let at = self.subs(subs, base);
                        let extents = self.sizes(extents, base);
                        space::part(&tan, &at, &extents).map_err(|f| f.at(&self.program, span))?
                    }
                    Step::Proj(i) => match &tan {
                        Value::Tuple(vs) => vs[*i as usize].clone(),
                        _ => Value::Zero,
                    },
                    Step::Field { adt, variant, index } => match &tan {
                        Value::Adt(a) if a.variant == *variant => a.fields[*index as usize].clone(),
                        Value::Adt(a) => {
                            let name = |v: u32| Part::Variant(*adt, v);
                            return Err(Fault::Tangents(name(a.variant), name(*variant)).at(&self.program, span));
                        }
                        _ => Value::Zero,
                    },
                    Step::Capture { code, index } => {
                        let attached = self.program.attached.contains(code);
                        let part = space::capture_part(&tan, *code, attached, *index as usize);
                        part.map_err(|f| f.at(&self.program, span))?
                    }
                };
                self.kill(&s.kill, base);
                let part = self.settle(part, s.types[0]);
                Ok(one(part))
            }
            Op::Slice { array, subs } => {
                let Value::Array(a) = self.atom(array, base) else { unreachable!("an array") };
                let at = self.subs(subs, base);
                self.kill(&s.kill, base);
                let v = a.part(&at).map_err(|f| f.at(&self.program, span))?;
                self.count(&v);
                Ok(one(v))
            }
            Op::Update { array, subs, value } => {
                let a = self.atom(array, base);
                let at = self.subs(subs, base);
                let v = self.atom(value, base);
                self.kill(&s.kill, base);
                let Value::Array(mut a) = a else { unreachable!("an array") };
                if Rc::strong_count(&a) > 1 {
                    self.cost += a.data.len() as u64;
                }
                self.count(&v);
                Rc::make_mut(&mut a).set_part(&at, v).map_err(|f| f.at(&self.program, span))?;
                Ok(one(Value::Array(a)))
            }
            Op::TanUpdate { tan, subs, extents, value } => {
                let tan = self.atom(tan, base);
                let at = self.subs(subs, base);
                let extents = self.sizes(extents, base);
                let v = self.atom(value, base);
                self.kill(&s.kill, base);
                let zero = self.element_zero(s.types[0]);
                let Value::Array(mut a) = space::spread(tan, &extents, &zero).map_err(|f| f.at(&self.program, span))?
                else {
                    unreachable!("an array")
                };
                let shape = crate::array::Selection::new(&extents, &at).map_err(|f| f.at(&self.program, span))?.shape();
                let v = if shape.is_empty() {
                    v
                } else {
                    space::spread(v, &shape, &zero).map_err(|f| f.at(&self.program, span))?
                };
                if Rc::strong_count(&a) > 1 {
                    self.cost += a.data.len() as u64;
                }
                self.count(&v);
                Rc::make_mut(&mut a).set_part(&at, v).map_err(|f| f.at(&self.program, span))?;
                Ok(one(Value::Array(a)))
            }
            _ => {
                let atoms: smallvec::SmallVec<[Atom; 4]> = op.atoms().into_iter().cloned().collect();
                let args = self.take(&atoms, &s.kill, base);
                let v = self.simple(op, args, s)?;
                Ok(v)
            }
        }
    }

    /// Operations whose operands are all taken first, in order.
    fn simple(&mut self, op: &Op, mut args: Values, s: &CStmt) -> Res<Values> {
        let span = s.span;
        let arr = |v: &Value| match v {
            Value::Array(a) => a.clone(),
            other => unreachable!("{other:?} is no array"),
        };
        let v = match op {
            Op::Sparse(_) | Op::StopGradient(_) => self.settle(args.remove(0), s.types[0]),
            Op::Prim(prim, _) => prims::apply(*prim, &args).map_err(|f| f.at(&self.program, span))?,
            Op::Map(prim, _) => {
                let v = prims::map(*prim, &args).map_err(|f| f.at(&self.program, span))?;
                self.count(&v);
                v
            }
            // Others are short instructions.
            Op::Tuple(_) => Value::Unit,
            Op::Array(_) => {
                let rank = self.rank(s.types[0]);
                let mut stack = Stack::new(vec![args.len()], rank - 1);
                for v in args {
                    stack.push(v).map_err(|f| f.at(&self.program, span))?;
                }
                let v = stack.finish(rank - 1);
                self.count(&v);
                v
            }
            Op::Fill { .. } => {
                let value = args.pop().expect("a value");
                let shape = ints(&args);
                let n = self.room(&shape, s.span)?;
                let v = array(shape, Data::fill(&value, n));
                self.count(&v);
                v
            }
            Op::Index { .. } => {
                let at: smallvec::SmallVec<[At; 3]> = args[1..].iter().map(|v| At::One(int(v))).collect();
                let v = arr(&args[0]).part(&at).map_err(|f| f.at(&self.program, span))?;
                if let Value::Array(_) = v {
                    self.count(&v);
                }
                v
            }
            Op::Reduce(op, _) => {
                let a = arr(&args[0]);
                self.cost += a.data.len() as u64;
                self.reduce(*op, &a, s.types[0]).map_err(|f| f.at(&self.program, span))?
            }
            Op::ArgReduce { max, .. } => {
                let a = arr(&args[0]);
                self.cost += a.data.len() as u64;
                arg_reduce(*max, &a).map_err(|f| f.at(&self.program, span))?
            }
            Op::Argsort(_) => {
                let a = arr(&args[0]);
                self.cost += a.data.len() as u64;
                argsort(&a)
            }
            Op::Gather { .. } => {
                let positions = int_list(&arr(&args[1]));
                let width = arr(&args[0]).shape[1..].iter().product();
                self.room(&[positions.len(), width], span)?;
                let v = Value::Array(Rc::new(arr(&args[0]).gather(&positions).map_err(|f| f.at(&self.program, span))?));
                self.count(&v);
                v
            }
            Op::ScatterAdd { .. } => {
                let values = arr(&args[2]);
                let positions = int_list(&arr(&args[1]));
                if positions.len() != values.shape[0] {
                    let (left, right) = (vec![positions.len()], vec![values.shape[0]]);
                    return Err(Fault::Shapes { left, right, what: "positions and values" }.at(&self.program, span));
                }
                let target = cell(acc::Cell::Value(args.swap_remove(0)));
                let Value::Array(b) = acc::take(&target) else { unreachable!("an array") };
                let extents = b.shape.clone();
                let target = cell(acc::Cell::Value(Value::Array(b)));
                for (k, p) in positions.iter().enumerate() {
                    let v = values.part(&[At::One(k as i64)]).map_err(|f| f.at(&self.program, span))?;
                    self.cost += 1;
                    acc::add_at(&target, &[At::One(*p)], &extents, v).map_err(|f| f.at(&self.program, span))?;
                }
                acc::take(&target)
            }
            Op::Concat(..) => {
                let (a, b) = (arr(&args[0]), arr(&args[1]));
                self.room(&[a.data.len() + b.data.len()], span)?;
                let v = Value::Array(Rc::new(a.concat(&b).map_err(|f| f.at(&self.program, span))?));
                self.count(&v);
                v
            }
            Op::Transpose(_) => {
                let v = Value::Array(Rc::new(arr(&args[0]).transpose()));
                self.count(&v);
                v
            }
            Op::MatMul(..) => {
                let (a, b) = (arr(&args[0]), arr(&args[1]));
                self.cost += 2 * a.data.len() as u64 * b.shape.get(1).copied().unwrap_or(1) as u64;
                if let ([m, _], [_, n]) = (&a.shape[..], &b.shape[..]) {
                    self.room(&[*m, *n], span)?;
                }
                let zero = match self.element_zero(s.types[0]) {
                    Value::Unit => Value::I64(0),
                    zero => zero,
                };
                prims::matmul(&a, &b, &zero).map_err(|f| f.at(&self.program, span))?
            }
            Op::SpaceAdd(..) => {
                let b = args.pop().expect("two");
                let a = args.pop().expect("two");
                let v = space::add(a, b).map_err(|f| f.at(&self.program, span))?;
                self.count(&v);
                self.settle(v, s.types[0])
            }
            Op::SpaceNeg(_) => {
                let v = space::map_floats(&args[0], &|x| -x);
                self.count(&v);
                v
            }
            Op::SpaceScale(..) => {
                let c = match &args[0] {
                    Value::F64(c) => *c,
                    Value::F32(c) => f64::from(*c),
                    other => unreachable!("{other:?} is no float"),
                };
                let v = space::map_floats(&args[1], &|x| c * x);
                self.count(&v);
                v
            }
            Op::SpaceDot(..) => {
                self.count(&args[0]);
                Value::F64(space::dot(&args[0], &args[1]).map_err(|f| f.at(&self.program, span))?)
            }
            Op::ZeroLike(_) => {
                let v = space::zero_like(&args[0]);
                self.count(&v);
                v
            }
            Op::Move(..) => {
                let v = space::move_along(&args[0], &args[1]).map_err(|f| f.at(&self.program, span))?;
                self.count(&v);
                v
            }
            Op::Inspect(what, _) => {
                self.count(&args[0]);
                crate::leaves::inspect(&self.program, *what, &args).map_err(|f| f.at(&self.program, span))?
            }
            Op::Zero => self.settle(Value::Zero, s.types[0]),
            Op::Densify { .. } => {
                let v = space::densify(&args[0], &args[1]).map_err(|f| f.at(&self.program, span))?;
                self.count(&v);
                v
            }
            Op::Spread { .. } => {
                let extents = ints(&args[1..]);
                let zero = self.element_zero(s.types[0]);
                let t = args.swap_remove(0);
                if !matches!(t, Value::Array(_)) {
                    self.cost += extents.iter().product::<usize>() as u64;
                }
                space::spread(t, &extents, &zero).map_err(|f| f.at(&self.program, span))?
            }
            Op::AccTake(_) => match args.remove(0) {
                Value::Acc(Some(c)) => {
                    let v = acc::take(&c);
                    self.settle(v, s.types[0])
                }
                Value::Acc(None) => self.settle(Value::Zero, s.types[0]),
                other => unreachable!("{other:?} is no accumulator"),
            },
            Op::Equal(..) => Value::Bool(equal(&args[0], &args[1])),
            Op::ToStr(_) => {
                let text = crate::fmt::typed_text(&self.program, &args[0], s.types.get(1).copied(), true);
                Value::Str(Rc::new(text))
            }
            Op::StrConcat(..) => match (&args[0], &args[1]) {
                (Value::Str(a), Value::Str(b)) => Value::Str(Rc::new(format!("{a}{b}"))),
                other => unreachable!("{other:?} are no texts"),
            },
            Op::Probe { backward, .. } => {
                let text = match backward {
                    true => crate::fmt::tangent_text(&self.program, &args[1], false),
                    false => crate::fmt::typed_text(&self.program, &args[1], Some(s.types[0]), false),
                };
                self.host.probe(text_of(&args[0]), &text, *backward);
                args.remove(1)
            }
            Op::Assert { .. } => {
                if let Value::Bool(false) = args[0] {
                    let why = text_of(&args[1]);
                    let message =
                        if why.is_empty() { "assertion failed".into() } else { format!("assertion failed: {why}") };
                    return Err(Box::new(Diagnostic::error("E0715", span, message)));
                }
                return Ok(Values::new());
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
                return Ok(Values::new());
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
                return Ok(s.vars.iter().map(|_| Value::Unit).collect());
            }
            other => unreachable!("{other:?} is handled before"),
        };
        Ok(smallvec::smallvec![v])
    }

    /// `types`: of the part, and of the whole.
    fn which(&mut self, step: &Step, types: &[TypeId], base: usize) -> Which {
        match step {
            Step::Proj(i) => {
                let n = match self.program.ty(types[1]) {
                    Type::Acc(of) => match self.program.ty(*of) {
                        Type::Tuple(parts) => parts.len(),
                        _ => *i as usize + 1,
                    },
                    _ => *i as usize + 1,
                };
                Which::Proj(*i as usize, n)
            }
            Step::Field { adt, variant, index } => {
                let n = self.program.adts[*adt].variants[*variant as usize].fields.len();
                Which::Field(*adt, *variant, *index as usize, n)
            }
            Step::Capture { code, index } => {
                let n = self.program.fns[*code].captures.as_ref().map_or(0, Vec::len);
                Which::Capture(*code, *index as usize, n, self.program.attached.contains(code))
            }
            Step::Index { subs, extents } => {
                let cells = match self.program.ty(types[0]) {
                    Type::Acc(of) => !self.is_plain(*of),
                    _ => false,
                };
                Which::Index(self.subs(subs, base).to_vec(), self.sizes(extents, base), cells)
            }
        }
    }

    /// Whether cotangents of this type are added into an array directly: floats and arrays.
    fn is_plain(&self, ty: TypeId) -> bool {
        match self.program.ty(ty) {
            Type::F64 | Type::F32 | Type::Array { .. } => true,
            Type::Tan(of) => self.is_plain(*of),
            _ => false,
        }
    }

    fn subs(&mut self, subs: &[Sub], base: usize) -> smallvec::SmallVec<[At; 3]> {
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

    fn element_zero(&self, ty: TypeId) -> Value {
        match self.program.ty(ty) {
            Type::Array { elem, .. } => self.zero_of(*elem),
            Type::Tan(of) => self.element_zero(*of),
            _ => Value::Zero,
        }
    }

    fn zero_of(&self, ty: TypeId) -> Value {
        match self.program.ty(ty) {
            Type::F64 => Value::F64(0.0),
            Type::F32 => Value::F32(0.0),
            Type::I64 | Type::Bool | Type::Str => Value::Unit,
            Type::Tuple(parts) if parts.is_empty() => Value::Unit,
            Type::Tuple(parts) => Value::Tuple(Rc::new(parts.iter().map(|p| self.zero_of(*p)).collect())),
            _ => Value::Zero,
        }
    }

    /// A sparse value as one of its type: the zero of floats and tuples is written out.
    pub(super) fn settle(&self, v: Value, ty: TypeId) -> Value {
        match (&v, self.program.ty(ty)) {
            (Value::Zero, _) => self.zero_of(ty),
            (Value::Tuple(vs), Type::Tuple(parts)) if vs.iter().any(|v| matches!(v, Value::Zero)) => {
                Value::Tuple(Rc::new(vs.iter().zip(parts).map(|(v, ty)| self.settle(v.clone(), *ty)).collect()))
            }
            _ => v,
        }
    }

    fn count(&mut self, v: &Value) {
        let words = match v {
            Value::Array(a) => a.data.len(),
            Value::Tuple(vs) => vs.len(),
            Value::Adt(a) => a.fields.len(),
            _ => 0,
        };
        self.cost += words as u64;
        self.fresh += 8 * words;
    }

    fn reduce(&self, op: ReduceOp, a: &Array, ty: TypeId) -> Result<Value, Fault> {
        use cotan_prim::Prim;
        if a.data.is_empty() {
            return match op {
                ReduceOp::Sum => Ok(match self.program.ty(ty) {
                    Type::I64 => Value::I64(0),
                    _ => self.zero_of(ty),
                }),
                ReduceOp::Product => Ok(match self.program.ty(ty) {
                    Type::I64 => Value::I64(1),
                    Type::F32 => Value::F32(1.0),
                    _ => Value::F64(1.0),
                }),
                ReduceOp::Max => Err(Fault::Empty("maximum")),
                ReduceOp::Min => Err(Fault::Empty("minimum")),
            };
        }
        if let (ReduceOp::Sum, Data::F64(v)) = (op, &a.data) {
            return Ok(Value::F64(prims::sum_f64(v)));
        }
        let prim = match op {
            ReduceOp::Sum => Prim::Add,
            ReduceOp::Product => Prim::Mul,
            ReduceOp::Max => Prim::Max,
            ReduceOp::Min => Prim::Min,
        };
        let mut total = a.data.get(0);
        for i in 1..a.data.len() {
            total = prims::apply(prim, &[total, a.data.get(i)])?;
        }
        Ok(total)
    }
}

fn int(v: &Value) -> i64 {
    match v {
        Value::I64(i) => *i,
        other => unreachable!("{other:?} is no integer"),
    }
}

fn ints(vs: &[Value]) -> Vec<usize> {
    vs.iter().map(|v| int(v).max(0) as usize).collect()
}

fn int_list(a: &Array) -> Vec<i64> {
    match &a.data {
        Data::I64(v) => v.clone(),
        _ => Vec::new(),
    }
}

fn text_of(v: &Value) -> &str {
    match v {
        Value::Str(s) => s,
        other => unreachable!("{other:?} is no text"),
    }
}

fn as_f64(v: &Value) -> f64 {
    match v {
        Value::F64(x) => *x,
        Value::F32(x) => f64::from(*x),
        Value::I64(i) => *i as f64,
        other => unreachable!("{other:?} is no number"),
    }
}

fn arg_reduce(max: bool, a: &Array) -> Result<Value, Fault> {
    if a.data.is_empty() {
        return Err(Fault::Empty(if max { "maximum" } else { "minimum" }));
    }
    /// The first position that beats all before it.
    fn first<T: Copy>(v: &[T], beats: impl Fn(T, T) -> bool) -> usize {
        (1..v.len()).fold(0, |best, i| if beats(v[i], v[best]) { i } else { best })
    }
    fn float<T: Copy + PartialOrd>(max: bool) -> impl Fn(T, T) -> bool {
        // Only NaN differs from itself.
        #[expect(clippy::eq_op, reason = "the types have no common name for this")]
        move |x, y| (max && x > y) || (!max && x < y) || (x != x && y == y)
    }
    let best = match &a.data {
        Data::F64(v) => first(v, float(max)),
        Data::F32(v) => first(v, float(max)),
        Data::I64(v) => first(v, |x, y| if max { x > y } else { x < y }),
        Data::Bool(_) | Data::Any(_) => unreachable!("numbers"),
    };
    Ok(Value::I64(best as i64))
}

fn argsort(a: &Array) -> Value {
    let mut order: Vec<i64> = (0..a.data.len() as i64).collect();
    match &a.data {
        Data::I64(v) => order.sort_by_key(|i| v[*i as usize]),
        data => order.sort_by(|i, j| {
            let (x, y) = (as_f64(&data.get(*i as usize)), as_f64(&data.get(*j as usize)));
            x.partial_cmp(&y).unwrap_or_else(|| x.is_nan().cmp(&y.is_nan()))
        }),
    }
    Value::Array(Rc::new(Array::vector(Data::I64(order))))
}

fn equal(a: &Value, b: &Value) -> bool {
    let all = |x: &[Value], y: &[Value]| x.len() == y.len() && x.iter().zip(y).all(|(a, b)| equal(a, b));
    match (a, b) {
        (Value::F64(x), Value::F64(y)) => x == y,
        (Value::F32(x), Value::F32(y)) => x == y,
        (Value::I64(x), Value::I64(y)) => x == y,
        (Value::Bool(x), Value::Bool(y)) => x == y,
        (Value::Str(x), Value::Str(y)) => x == y,
        (Value::Tuple(x), Value::Tuple(y)) => all(x, y),
        (Value::Adt(x), Value::Adt(y)) => x.variant == y.variant && all(&x.fields, &y.fields),
        (Value::Fn(x), Value::Fn(y)) => x.code == y.code && all(&x.captures, &y.captures),
        (Value::Array(x), Value::Array(y)) => {
            x.shape == y.shape && (0..x.data.len()).all(|i| equal(&x.data.get(i), &y.data.get(i)))
        }
        (Value::Unit, Value::Unit) => true,
        _ => false,
    }
}
