//! The loop of the machine.
//!
//! In: functions as lists of instructions. Out: their results. Calls of the program live in `frames` and `stack`, not on the stack of the
//! thread, so that a deep recursion costs what its variables cost.

use super::linear::{Ins, Kind, Linear, Operand, nothing_collected};
use super::{Machine, Res, Residuals, Values, called_from, too_deep, watch, wrap};
use crate::acc::{self, Which};
use crate::array::{At, Stack};
use crate::code::COp;
use crate::fault::Fault;
use crate::prims;
use crate::value::{AdtValue, Array, Closure, Value};
use cotan_ir::{Deriv, FnId};
use cotan_prim::{Prim, PrimError};
use cotan_source::{Diagnostic, Span};
use smallvec::SmallVec;
use std::rc::Rc;

/// A caller that waits.
pub(super) struct Frame {
    code: Rc<Linear>,
    /// The instruction after the call.
    pc: u32,
    /// Its first slot.
    base: usize,
    /// Which results of the call are residuals to be wrapped.
    residuals: Option<Box<Residuals>>,
    /// Whether it is the backward part of another, if somebody looks out.
    backward: bool,
}

/// A comprehension that is being made.
pub(super) struct Turns {
    shape: Vec<usize>,
    at: Vec<usize>,
    left: usize,
    stacks: Vec<Stack>,
    ranks: Vec<usize>,
}

#[inline(always)]
fn get<'v>(slots: &'v [Value], o: &'v Operand) -> &'v Value {
    match o {
        Operand::Slot(s) | Operand::Last(s) => &slots[*s as usize],
        Operand::Const(v) => v,
    }
}

/// The value of an operand, taken away if this is its last use.
#[inline(always)]
fn read(slots: &mut [Value], o: &Operand) -> Value {
    match o {
        Operand::Slot(s) => slots[*s as usize].clone(),
        Operand::Last(s) => std::mem::replace(&mut slots[*s as usize], Value::Unit),
        Operand::Const(v) => v.clone(),
    }
}

/// Gives up an operand that was only looked at.
#[inline(always)]
fn done(slots: &mut [Value], o: &Operand) {
    if let Operand::Last(s) = o {
        slots[*s as usize] = Value::Unit;
    }
}

fn int(v: &Value) -> i64 {
    match v {
        Value::I64(i) => *i,
        other => unreachable!("{other:?} is no integer"),
    }
}

#[inline(always)]
fn apply1(prim: Prim, a: &Value) -> Result<Value, Fault> {
    match (prim, a) {
        (Prim::Neg, Value::F64(x)) => Ok(Value::F64(-x)),
        (Prim::ToFloat, Value::I64(i)) => Ok(Value::F64(*i as f64)),
        (Prim::Not, Value::Bool(b)) => Ok(Value::Bool(!b)),
        _ => prims::apply(prim, std::slice::from_ref(a)),
    }
}

#[inline(always)]
fn apply2(prim: Prim, a: &Value, b: &Value) -> Result<Value, Fault> {
    let whole = |v: Option<i64>| v.map(Value::I64).ok_or(Fault::Prim(PrimError::Overflow));
    match (a, b) {
        (Value::F64(x), Value::F64(y)) => match prim {
            Prim::Add => Ok(Value::F64(x + y)),
            Prim::Sub => Ok(Value::F64(x - y)),
            Prim::Mul => Ok(Value::F64(x * y)),
            Prim::Div => Ok(Value::F64(x / y)),
            _ => prims::apply(prim, &[Value::F64(*x), Value::F64(*y)]),
        },
        (Value::I64(x), Value::I64(y)) => match prim {
            Prim::Add => whole(x.checked_add(*y)),
            Prim::Sub => whole(x.checked_sub(*y)),
            Prim::Mul => whole(x.checked_mul(*y)),
            Prim::Lt => Ok(Value::Bool(x < y)),
            Prim::Le => Ok(Value::Bool(x <= y)),
            Prim::Eq => Ok(Value::Bool(x == y)),
            _ => prims::apply(prim, &[Value::I64(*x), Value::I64(*y)]),
        },
        _ => prims::apply(prim, &[a.clone(), b.clone()]),
    }
}

/// Whether a comparison holds.
#[inline(always)]
fn holds(prim: Prim, a: &Value, b: &Value) -> Result<bool, Fault> {
    fn compare<T: PartialOrd>(prim: Prim, x: T, y: T) -> bool {
        match prim {
            Prim::Lt => x < y,
            Prim::Le => x <= y,
            Prim::Gt => x > y,
            Prim::Ge => x >= y,
            Prim::Ne => x != y,
            _ => x == y,
        }
    }
    match (a, b) {
        (Value::F64(x), Value::F64(y)) => Ok(compare(prim, *x, *y)),
        (Value::I64(x), Value::I64(y)) => Ok(compare(prim, *x, *y)),
        _ => Ok(matches!(prims::apply(prim, &[a.clone(), b.clone()])?, Value::Bool(true))),
    }
}

/// A component of a value that is not needed any more: moved out where nobody else holds it.
fn part_of_last(whole: Value, i: usize) -> Option<Value> {
    let pick = |parts: &mut Vec<Value>| std::mem::replace(&mut parts[i], Value::Unit);
    Some(match whole {
        Value::Tuple(mut t) => match Rc::get_mut(&mut t) {
            Some(parts) => pick(parts),
            None => t[i].clone(),
        },
        Value::Adt(mut a) => match Rc::get_mut(&mut a) {
            Some(a) => pick(&mut a.fields),
            None => a.fields[i].clone(),
        },
        Value::Fn(mut f) => match Rc::get_mut(&mut f) {
            Some(f) => pick(&mut f.captures),
            None => f.captures[i].clone(),
        },
        _ => return None,
    })
}

fn part_of(whole: &Value, i: usize) -> Option<Value> {
    Some(match whole {
        Value::Tuple(t) => t[i].clone(),
        Value::Adt(a) => a.fields[i].clone(),
        Value::Fn(f) => f.captures[i].clone(),
        _ => return None,
    })
}

impl Machine {
    /// Runs a function to its end.
    pub(super) fn run(&mut self, f: FnId, args: Vec<Value>) -> Res<Vec<Value>> {
        let code = self.code(f);
        self.cost += 1;
        self.stack = args;
        self.stack.resize((code.slots as usize).max(self.stack.len()), Value::Unit);
        let result = self.steps(code);
        result.map_err(|mut d| {
            for frame in self.frames.iter().rev() {
                d = called_from(d, frame.code.spans[frame.pc as usize - 1]);
            }
            d
        })
    }

    fn steps(&mut self, mut code: Rc<Linear>) -> Res<Vec<Value>> {
        let mut base = 0;
        let mut pc = 0;
        loop {
            let at = pc;
            pc += 1;
            // What went wrong, at the place of the instruction.
            macro_rules! check {
                ($result:expr) => {
                    match $result {
                        Ok(value) => value,
                        Err(fault) => return Err(self.wrong(fault, code.spans[at])),
                    }
                };
            }
            match &code.ins[at] {
                Ins::Prim1 { prim, dst, a } => {
                    self.cost += 1;
                    let slots = &mut self.stack[base..];
                    slots[*dst as usize] = check!(apply1(*prim, get(slots, a)));
                }
                Ins::Prim2 { prim, dst, a, b } => {
                    self.cost += 1;
                    let slots = &mut self.stack[base..];
                    slots[*dst as usize] = check!(apply2(*prim, get(slots, a), get(slots, b)));
                }
                Ins::Prim3 { prim, dst, args } => {
                    self.cost += 1;
                    let slots = &mut self.stack[base..];
                    let [a, b, c] = &**args;
                    let given = [get(slots, a).clone(), get(slots, b).clone(), get(slots, c).clone()];
                    slots[*dst as usize] = check!(prims::apply(*prim, &given));
                }
                Ins::Index1 { dst, array, i } => {
                    self.cost += 1;
                    let slots = &mut self.stack[base..];
                    let (Value::Array(a), Value::I64(i)) = (get(slots, array), get(slots, i)) else {
                        unreachable!("an array and a position")
                    };
                    let v = match usize::try_from(*i) {
                        Ok(i) if i < a.data.len() => a.data.get(i),
                        _ => check!(a.part(&[At::One(*i)])),
                    };
                    done(slots, array);
                    slots[*dst as usize] = v;
                }
                Ins::Index2 { dst, array, at } => {
                    self.cost += 1;
                    let slots = &mut self.stack[base..];
                    let (Value::Array(a), Value::I64(i), Value::I64(j)) =
                        (get(slots, array), get(slots, &at[0]), get(slots, &at[1]))
                    else {
                        unreachable!("an array and positions")
                    };
                    let v = check!(a.part(&[At::One(*i), At::One(*j)]));
                    done(slots, array);
                    slots[*dst as usize] = v;
                }
                Ins::Update1 { dst, array, with } => {
                    self.cost += 1;
                    let slots = &mut self.stack[base..];
                    let Value::Array(mut a) = read(slots, array) else { unreachable!("an array") };
                    let (i, v) = (int(get(slots, &with[0])), read(slots, &with[1]));
                    if Rc::strong_count(&a) > 1 {
                        self.cost += a.data.len() as u64;
                        self.fresh += 8 * a.data.len();
                    }
                    let whole = Rc::make_mut(&mut a);
                    match usize::try_from(i) {
                        Ok(i) if i < whole.data.len() => whole.data.set(i, v),
                        _ => check!(whole.set_part(&[At::One(i)], v)),
                    }
                    self.stack[base + *dst as usize] = Value::Array(a);
                    if self.fresh > Self::FRESH {
                        self.check_memory(code.spans[at])?;
                    }
                }
                Ins::Dim { dst, array, axis } => {
                    self.cost += 1;
                    let slots = &mut self.stack[base..];
                    let Value::Array(a) = get(slots, array) else { unreachable!("an array") };
                    let extent = a.shape[*axis as usize] as i64;
                    done(slots, array);
                    slots[*dst as usize] = Value::I64(extent);
                }
                Ins::Part { dst, whole, index, ty } => {
                    self.cost += 1;
                    let slots = &mut self.stack[base..];
                    let part = match whole {
                        Operand::Last(s) => {
                            let whole = std::mem::replace(&mut slots[*s as usize], Value::Unit);
                            part_of_last(whole, *index as usize)
                        }
                        whole => part_of(get(slots, whole), *index as usize),
                    };
                    // A part of the sparse zero is zero.
                    self.stack[base + *dst as usize] = part.unwrap_or_else(|| self.settle(Value::Zero, *ty));
                }
                Ins::Make { dst, kind, parts } => {
                    self.cost += 1 + parts.len() as u64;
                    let slots = &mut self.stack[base..];
                    let parts: Vec<Value> = parts.iter().map(|p| read(slots, p)).collect();
                    slots[*dst as usize] = match *kind {
                        Kind::Tuple => Value::Tuple(Rc::new(parts)),
                        Kind::Adt(adt, variant) => Value::Adt(Rc::new(AdtValue { adt, variant, fields: parts })),
                        Kind::Fn(code, attached) => Value::Fn(Rc::new(Closure { code, captures: parts, attached })),
                    };
                }
                Ins::AddAt { acc, at, value } => {
                    self.cost += 2;
                    let slots = &mut self.stack[base..];
                    if let (Value::Acc(Some(cell)), Value::F64(x)) = (get(slots, acc), get(slots, value)) {
                        let (at, extents) = at.split_at(at.len() / 2);
                        let at: SmallVec<[At; 3]> = at.iter().map(|i| At::One(int(get(slots, i)))).collect();
                        if !acc::add_float(cell, &at, *x) {
                            let extents: Vec<usize> =
                                extents.iter().map(|e| int(get(slots, e)).max(0) as usize).collect();
                            let part = check!(acc::part(cell, Which::Index(at.to_vec(), extents, false)));
                            check!(acc::add(&part, Value::F64(*x)));
                        }
                    }
                    done(slots, acc);
                }
                Ins::Move { dst, from } => {
                    let slots = &mut self.stack[base..];
                    slots[*dst as usize] = read(slots, from);
                }
                Ins::Moves(pairs) => {
                    let slots = &mut self.stack[base..];
                    let values: Values = pairs.iter().map(|(_, from)| read(slots, from)).collect();
                    for ((dst, _), v) in pairs.iter().zip(values) {
                        slots[*dst as usize] = v;
                    }
                }
                Ins::Clear(list) => {
                    for s in list {
                        self.stack[base + *s as usize] = Value::Unit;
                    }
                }
                Ins::Jump(target) => pc = *target as usize,
                Ins::Back(target) => {
                    self.cost += 1;
                    self.tick(code.spans[at])?;
                    pc = *target as usize;
                }
                Ins::Unless(cond, target) => match get(&self.stack[base..], cond) {
                    Value::Bool(true) => {}
                    _ => pc = *target as usize,
                },
                Ins::UnlessPrim { prim, a, b, target } => {
                    self.cost += 1;
                    let slots = &self.stack[base..];
                    if !check!(holds(*prim, get(slots, a), get(slots, b))) {
                        pc = *target as usize;
                    }
                }
                Ins::Switch { on, targets } => {
                    let slots = &mut self.stack[base..];
                    let Value::Adt(a) = get(slots, on) else { unreachable!("a nominal value") };
                    pc = targets[(a.variant as usize).min(targets.len() - 1)] as usize;
                    done(slots, on);
                }
                Ins::For { index, limit, exit } => {
                    let slots = &mut self.stack[base..];
                    if int(&slots[*limit as usize]) > 0 {
                        slots[*index as usize] = Value::I64(0);
                        self.cost += 1;
                    } else {
                        pc = *exit as usize;
                    }
                }
                Ins::Next { index, limit, top } => {
                    self.tick(code.spans[at])?;
                    let slots = &mut self.stack[base..];
                    let next = int(&slots[*index as usize]) + 1;
                    if next < int(&slots[*limit as usize]) {
                        slots[*index as usize] = Value::I64(next);
                        self.cost += 1;
                        pc = *top as usize;
                    }
                }
                Ins::CollectNew(slot) => self.stack[base + *slot as usize] = nothing_collected(),
                Ins::Collect { slot, from } => {
                    self.cost += 1;
                    let slots = &mut self.stack[base..];
                    let v = read(slots, from);
                    let Value::Array(a) = &mut slots[*slot as usize] else { unreachable!("an array") };
                    Rc::make_mut(a).data.push(v);
                }
                Ins::CollectEnd(slot) => {
                    let Value::Array(a) = &mut self.stack[base + *slot as usize] else { unreachable!("an array") };
                    let Array { shape, data } = Rc::make_mut(a);
                    shape[0] = data.len();
                }
                Ins::Build { extents, indices, ranks, exit } => {
                    let slots = &mut self.stack[base..];
                    let shape: Vec<usize> = extents.iter().map(|e| int(get(slots, e)).max(0) as usize).collect();
                    for slot in indices {
                        slots[*slot as usize] = Value::I64(0);
                    }
                    let n = self.room(&shape, code.spans[at])?;
                    let ranks: Vec<usize> = ranks.iter().map(|r| *r as usize).collect();
                    let stacks = ranks.iter().map(|r| Stack::new(shape.clone(), *r)).collect();
                    self.turns.push(Turns { at: vec![0; shape.len()], shape, left: n, stacks, ranks });
                    if n == 0 {
                        pc = *exit as usize;
                    } else {
                        self.cost += 1;
                    }
                }
                Ins::BuildNext { results, indices, top } => {
                    self.tick(code.spans[at])?;
                    let Some(turns) = self.turns.last_mut() else { unreachable!("a comprehension") };
                    let slots = &mut self.stack[base..];
                    for (stack, from) in turns.stacks.iter_mut().zip(results) {
                        check!(stack.push(read(slots, from)));
                    }
                    turns.left -= 1;
                    if turns.left > 0 {
                        self.cost += 1;
                        for axis in (0..turns.at.len()).rev() {
                            turns.at[axis] += 1;
                            if turns.at[axis] < turns.shape[axis] {
                                break;
                            }
                            turns.at[axis] = 0;
                        }
                        for (slot, i) in indices.iter().zip(&turns.at) {
                            slots[*slot as usize] = Value::I64(*i as i64);
                        }
                        pc = *top as usize;
                    }
                }
                Ins::BuildEnd(dsts) => {
                    let Some(turns) = self.turns.pop() else { unreachable!("a comprehension") };
                    for ((stack, rank), dst) in turns.stacks.into_iter().zip(turns.ranks).zip(dsts) {
                        let v = stack.finish(rank);
                        self.fresh += size_of_array(&v);
                        self.stack[base + *dst as usize] = v;
                    }
                }
                Ins::Call { f, args, .. } => {
                    self.cost += 1;
                    let callee = self.code(*f);
                    let first = self.stack.len();
                    for a in args {
                        let v = read(&mut self.stack[base..first], a);
                        self.stack.push(v);
                    }
                    let backward = self.backward;
                    self.enter(*f, &callee, first, code.spans[at])?;
                    let code = std::mem::replace(&mut code, callee);
                    self.frames.push(Frame { code, pc: pc as u32, base, residuals: None, backward });
                    base = first;
                    pc = 0;
                }
                Ins::Dispatch { on, path, args, .. } => {
                    self.cost += 1;
                    let first = self.stack.len();
                    let slots = &mut self.stack[base..];
                    let target = read(slots, on);
                    let given: Values = args.iter().map(|a| read(slots, a)).collect();
                    let (f, on, residuals) = self.resolve(target, path)?;
                    self.stack.push(on);
                    self.stack.extend(given);
                    let callee = self.code(f);
                    let residuals = if residuals.is_empty() { None } else { Some(Box::new(residuals)) };
                    let backward = self.backward;
                    self.enter(f, &callee, first, code.spans[at])?;
                    let code = std::mem::replace(&mut code, callee);
                    self.frames.push(Frame { code, pc: pc as u32, base, residuals, backward });
                    base = first;
                    pc = 0;
                }
                Ins::Return(results) => {
                    let slots = &mut self.stack[base..];
                    let mut out: Values = results.iter().map(|r| read(slots, r)).collect();
                    let Some(frame) = self.frames.pop() else { return Ok(out.into_vec()) };
                    self.stack.truncate(base);
                    if let Some(residuals) = frame.residuals {
                        wrap(&mut out, *residuals);
                    }
                    code = frame.code;
                    pc = frame.pc as usize;
                    base = frame.base;
                    self.backward = frame.backward;
                    let (Ins::Call { dsts, .. } | Ins::Dispatch { dsts, .. }) = &code.ins[pc - 1] else {
                        unreachable!("a call")
                    };
                    let slots = &mut self.stack[base..];
                    for (dst, v) in dsts.iter().zip(out) {
                        slots[*dst as usize] = v;
                    }
                }
                Ins::Leaf(s) => {
                    self.cost += 1;
                    let COp::Leaf(op) = &s.op else { unreachable!("blocks are jumps") };
                    match watch::arithmetic(op) {
                        Some(name) if self.watch.is_some() => self.watched(op, name, s, base)?,
                        _ => self.leaf(op, s, base)?,
                    }
                    if self.fresh > Self::FRESH {
                        self.check_memory(code.spans[at])?;
                    }
                }
            }
        }
    }

    /// Makes the frame of a function whose arguments were pushed.
    #[inline(always)]
    fn enter(&mut self, f: FnId, callee: &Linear, first: usize, span: Span) -> Res<()> {
        self.tick(span)?;
        self.cost += 1;
        let bytes = self.stack.len() * size_of::<Value>() + self.frames.len() * size_of::<Frame>();
        // Half of the memory is for values.
        if bytes > self.limits.stack.min(self.limits.memory / 2) {
            return Err(too_deep(span));
        }
        self.stack.resize(first + callee.slots as usize, Value::Unit);
        if self.audit.is_some() {
            self.note_call(f, first);
        }
        if self.watch.is_some() {
            self.backward |= self.program.fns[f].name.ends_with(".bwd");
        }
        Ok(())
    }

    #[cold]
    #[inline(never)]
    fn wrong(&self, fault: Fault, span: Span) -> Box<Diagnostic> {
        fault.at(&self.program, span)
    }

    /// The function that a dispatch calls, its first operand, and where its results hold residuals.
    fn resolve(&mut self, target: Value, path: &[Deriv]) -> Res<(FnId, Value, Residuals)> {
        let (mut f, first, rest) = match target {
            Value::Fn(c) => (c.code, Value::Fn(c), path),
            Value::Residual(r) => {
                let f = self.derive.derive(&mut self.program, r.function, path[0])?;
                (f, r.payload.clone(), &path[1..])
            }
            other => unreachable!("{other:?} is not called"),
        };
        // Later derivatives only append results.
        let mut residuals = Residuals::new();
        for d in rest {
            let of = f;
            f = self.derive.derive(&mut self.program, f, *d)?;
            if *d == Deriv::Fwd {
                residuals.push((self.program.fns[f].results.len() - 1, of));
            }
        }
        Ok((f, first, residuals))
    }
}

fn size_of_array(v: &Value) -> usize {
    match v {
        Value::Array(a) => 8 * a.data.len(),
        _ => 0,
    }
}
