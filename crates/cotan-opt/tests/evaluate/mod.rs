//! A small evaluator of the operations that generated programs use, independent of the real one.
//!
//! In: a program, a function and arguments. Out: the values, or the message of the error that ended the run.

use cotan_ir::{Atom, Block, FnId, Lit, Op, Operator, Program, ReduceOp, Step, Sub, Type, Var};
use cotan_prim::Scalar;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// A value. Floats are compared by their bits, NaN apart.
#[derive(Clone, Debug)]
pub enum Value {
    Scalar(Scalar),
    Str(String),
    Tuple(Vec<Value>),
    Adt(u32, Vec<Value>),
    Closure(FnId, Vec<Value>),
    Array(Vec<Value>),
    Zero,
    Acc(Rc<RefCell<Value>>),
    /// An element of an accumulator, or of nothing.
    Part(Option<(Rc<RefCell<Value>>, usize)>),
}

impl PartialEq for Value {
    fn eq(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Scalar(Scalar::F64(x)), Value::Scalar(Scalar::F64(y))) => {
                x.to_bits() == y.to_bits() || (x.is_nan() && y.is_nan())
            }
            (Value::Scalar(x), Value::Scalar(y)) => x == y,
            (Value::Str(x), Value::Str(y)) => x == y,
            (Value::Tuple(x), Value::Tuple(y)) | (Value::Array(x), Value::Array(y)) => x == y,
            (Value::Adt(v, x), Value::Adt(w, y)) => v == w && x == y,
            (Value::Zero, Value::Zero) => true,
            _ => false,
        }
    }
}

type Res<T> = Result<T, String>;

pub fn float(x: f64) -> Value {
    Value::Scalar(Scalar::F64(x))
}

pub fn int(x: i64) -> Value {
    Value::Scalar(Scalar::I64(x))
}

/// Calls a function.
pub fn call<A: Operator>(program: &Program<A>, f: FnId, args: Vec<Value>) -> Res<Vec<Value>> {
    let func = &program.fns[f];
    let mut env = Env { program, f, vars: func.params.iter().copied().zip(args).collect() };
    env.block(&func.body)
}

struct Env<'p, A> {
    program: &'p Program<A>,
    f: FnId,
    vars: HashMap<Var, Value>,
}

fn as_int(value: &Value) -> i64 {
    match value {
        Value::Scalar(Scalar::I64(i)) => *i,
        other => panic!("{other:?} is no integer"),
    }
}

fn as_bool(value: &Value) -> bool {
    match value {
        Value::Scalar(Scalar::Bool(b)) => *b,
        other => panic!("{other:?} is no truth value"),
    }
}

fn position(index: &Value, len: usize) -> Res<usize> {
    usize::try_from(as_int(index)).ok().filter(|i| *i < len).ok_or_else(|| "index out of range".to_string())
}

fn prim(prim: cotan_prim::Prim, args: &[Value]) -> Res<Value> {
    let args: Vec<Scalar> = args
        .iter()
        .map(|a| match a {
            Value::Scalar(s) => *s,
            other => panic!("{other:?} is no scalar"),
        })
        .collect();
    prim.eval(&args).map(Value::Scalar).map_err(|e| e.to_string())
}

fn add(a: Value, b: Value) -> Res<Value> {
    match (a, b) {
        (Value::Zero, x) | (x, Value::Zero) => Ok(x),
        (Value::Array(x), Value::Array(y)) if x.len() == y.len() => {
            Ok(Value::Array(x.into_iter().zip(y).map(|(a, b)| add(a, b)).collect::<Res<_>>()?))
        }
        (Value::Array(_), Value::Array(_)) => Err("different sizes".into()),
        (x, y) => prim(cotan_prim::Prim::Add, &[x, y]),
    }
}

impl<A: Operator> Env<'_, A> {
    fn get(&self, atom: &Atom) -> Value {
        match atom {
            Atom::Var(v) => self.vars[v].clone(),
            Atom::Lit(Lit::F64(x)) => float(*x),
            Atom::Lit(Lit::F32(x)) => Value::Scalar(Scalar::F32(*x)),
            Atom::Lit(Lit::I64(x)) => int(*x),
            Atom::Lit(Lit::Bool(x)) => Value::Scalar(Scalar::Bool(*x)),
            Atom::Lit(Lit::Str(x)) => Value::Str(x.to_string()),
            Atom::Lit(Lit::Unit) => Value::Tuple(Vec::new()),
        }
    }

    fn all(&self, atoms: &[Atom]) -> Vec<Value> {
        atoms.iter().map(|a| self.get(a)).collect()
    }

    fn array(&self, atom: &Atom) -> Vec<Value> {
        match self.get(atom) {
            Value::Array(items) => items,
            other => panic!("{other:?} is no array"),
        }
    }

    fn block(&mut self, block: &Block<A>) -> Res<Vec<Value>> {
        for stmt in &block.stmts {
            let ty = stmt.vars.first().map(|v| self.program.ty(self.program.fns[self.f].vars[*v].ty).clone());
            let values = self.op(&stmt.op, ty)?;
            assert_eq!(values.len(), stmt.vars.len());
            self.vars.extend(stmt.vars.iter().copied().zip(values));
        }
        Ok(self.all(&block.results))
    }

    fn turns(&mut self, state: &[Var], values: Vec<Value>) {
        self.vars.extend(state.iter().copied().zip(values));
    }

    fn op(&mut self, op: &Op<A>, ty: Option<Type>) -> Res<Vec<Value>> {
        let one = |v: Value| Ok(vec![v]);
        match op {
            Op::Copy(a) => one(self.get(a)),
            Op::Prim(p, args) => one(prim(*p, &self.all(args))?),
            Op::Map(p, args) => {
                let args = self.all(args);
                let sizes: Vec<usize> =
                    args.iter().filter_map(|a| if let Value::Array(x) = a { Some(x.len()) } else { None }).collect();
                if sizes.iter().any(|n| *n != sizes[0]) {
                    return Err("different shapes".into());
                }
                let at = |i: usize| -> Vec<Value> {
                    args.iter().map(|a| if let Value::Array(x) = a { x[i].clone() } else { a.clone() }).collect()
                };
                one(Value::Array((0..sizes[0]).map(|i| prim(*p, &at(i))).collect::<Res<_>>()?))
            }
            Op::Tuple(items) => one(Value::Tuple(self.all(items))),
            Op::Proj(t, i) => match self.get(t) {
                Value::Tuple(items) => one(items[*i as usize].clone()),
                other => panic!("{other:?} is no tuple"),
            },
            Op::Adt { variant, fields, .. } => one(Value::Adt(*variant, self.all(fields))),
            Op::Field { base, variant, index } => match self.get(base) {
                Value::Adt(v, fields) if v == *variant => one(fields[*index as usize].clone()),
                other => panic!("{other:?} is not of variant {variant}"),
            },
            Op::Closure { code, captures } => one(Value::Closure(*code, self.all(captures))),
            Op::Capture { base, index, .. } => match self.get(base) {
                Value::Closure(_, captures) => one(captures[*index as usize].clone()),
                other => panic!("{other:?} is no closure"),
            },
            Op::Call { func, args } => call(self.program, *func, self.all(args)),
            Op::Dispatch { on, path, args } if path.is_empty() => {
                let on = self.get(on);
                let Value::Closure(code, _) = on else { panic!("{on:?} is no closure") };
                let args = std::iter::once(on).chain(self.all(args)).collect();
                call(self.program, code, args)
            }
            Op::If { cond, then, otherwise } => {
                let cond = as_bool(&self.get(cond));
                self.block(if cond { then } else { otherwise })
            }
            Op::Switch { on, arms, default } => {
                let Value::Adt(variant, _) = self.get(on) else { panic!("no variant") };
                let arm = arms.iter().find(|(v, _)| *v == variant).map(|(_, b)| b).or(default.as_ref());
                self.block(arm.expect("arms cover all variants"))
            }
            Op::For { count, index, state, init, body } => {
                let mut values = self.all(init);
                let mut collected = vec![Vec::new(); body.results.len() - state.len()];
                for i in 0..as_int(&self.get(count)).max(0) {
                    self.vars.insert(*index, int(i));
                    self.turns(state, values);
                    values = self.block(body)?;
                    let rest = values.split_off(state.len());
                    collected.iter_mut().zip(rest).for_each(|(c, v)| c.push(v));
                }
                values.extend(collected.into_iter().map(Value::Array));
                Ok(values)
            }
            Op::While { state, init, cond, body } => {
                let mut values = self.all(init);
                loop {
                    self.turns(state, values.clone());
                    if !as_bool(&self.block(cond)?[0]) {
                        return Ok(values);
                    }
                    values = self.block(body)?;
                }
            }
            Op::Build { extents, indices, body } => {
                let mut out = vec![Vec::new(); body.results.len()];
                for i in 0..as_int(&self.get(&extents[0])).max(0) {
                    self.vars.insert(indices[0], int(i));
                    let values = self.block(body)?;
                    out.iter_mut().zip(values).for_each(|(c, v)| c.push(v));
                }
                Ok(out.into_iter().map(Value::Array).collect())
            }
            Op::Array(items) => one(Value::Array(self.all(items))),
            Op::Fill { extents, value } => {
                one(Value::Array(vec![self.get(value); as_int(&self.get(&extents[0])).max(0) as usize]))
            }
            Op::Index { array, at } => {
                let items = self.array(array);
                one(items[position(&self.get(&at[0]), items.len())?].clone())
            }
            Op::Update { array, subs, value } => {
                let mut items = self.array(array);
                let [Sub::At(at)] = &subs[..] else { panic!("one position only") };
                let i = position(&self.get(at), items.len())?;
                items[i] = self.get(value);
                one(Value::Array(items))
            }
            Op::Dim { array, .. } => one(int(self.array(array).len() as i64)),
            Op::Reduce(op, array) => {
                let items = self.array(array);
                let (p, start) = match op {
                    ReduceOp::Sum => (cotan_prim::Prim::Add, 0.0),
                    ReduceOp::Product => (cotan_prim::Prim::Mul, 1.0),
                    ReduceOp::Max if items.is_empty() => return Err("empty".into()),
                    ReduceOp::Max => (cotan_prim::Prim::Max, f64::NEG_INFINITY),
                    ReduceOp::Min => (cotan_prim::Prim::Min, f64::INFINITY),
                };
                one(items.iter().try_fold(float(start), |a, x| prim(p, &[a, x.clone()]))?)
            }
            Op::SpaceAdd(a, b) => one(add(self.get(a), self.get(b))?),
            Op::Zero => one(match ty {
                Some(Type::F64) => float(0.0),
                _ => Value::Zero,
            }),
            Op::Sparse(a) => one(self.get(a)),
            Op::Spread { tan, extents } => one(match self.get(tan) {
                Value::Zero => Value::Array(vec![float(0.0); as_int(&self.get(&extents[0])) as usize]),
                other => other,
            }),
            Op::AccNew(start) => {
                let start = start.as_ref().map_or(Value::Zero, |a| self.get(a));
                let float_zero = matches!(ty, Some(Type::Acc(of)) if *self.program.ty(of) == Type::F64);
                let start = if float_zero && start == Value::Zero { float(0.0) } else { start };
                one(Value::Acc(Rc::new(RefCell::new(start))))
            }
            Op::AccNull => one(Value::Part(None)),
            Op::AccPart { acc, step } => {
                let Step::Index { .. } = step else { panic!("elements only") };
                one(Value::Part(match self.get(acc) {
                    Value::Acc(whole) => Some((whole, 0)),
                    _ => None,
                }))
            }
            Op::AccAdd { acc, value } => {
                let value = self.get(value);
                match self.get(acc) {
                    Value::Acc(sum) => {
                        let new = add(sum.borrow().clone(), value)?;
                        *sum.borrow_mut() = new;
                    }
                    Value::Part(Some((whole, i))) => {
                        let mut whole = whole.borrow_mut();
                        if *whole == Value::Zero {
                            *whole = Value::Array(vec![float(0.0); 3]);
                        }
                        if let Value::Array(items) = &mut *whole {
                            if i >= items.len() {
                                return Err("different sizes".into());
                            }
                            items[i] = add(items[i].clone(), value)?;
                        }
                    }
                    Value::Part(None) => {}
                    other => panic!("{other:?} is no accumulator"),
                }
                Ok(Vec::new())
            }
            Op::AccTake(acc) => one(match self.get(acc) {
                Value::Acc(sum) => sum.borrow().clone(),
                _ => Value::Zero,
            }),
            Op::Assert { cond, message } => match (as_bool(&self.get(cond)), self.get(message)) {
                (true, _) => Ok(Vec::new()),
                (false, Value::Str(message)) => Err(message),
                (false, other) => panic!("{other:?} is no text"),
            },
            Op::CheckSize { actual, expected, .. } if self.get(actual) == self.get(expected) => Ok(Vec::new()),
            Op::CheckSize { .. } => Err("size mismatch".into()),
            other => panic!("generated programs have no {other:?}"),
        }
    }
}
