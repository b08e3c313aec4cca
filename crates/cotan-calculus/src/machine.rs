//! Evaluation: call by value, with an explicit stack of calls.
//!
//! In: a lambda in A-normal form. Out: the value of its body, or the [`Stuck`] redex; and the number of steps. A step is a binding, a
//! captured value when a closure is made or transformed, or a look into a suspended sum or zero. A call in the last binding leaves
//! nothing behind, so a loop does not pile up calls, and no depth of recursion can overflow the stack of the thread.

use crate::attach::Rules;
use crate::error::Stuck;
use crate::lambda::{Binding, Constant, Lambda, Part, Rhs};
use crate::primitive::{Computed, Primitive, compute};
use crate::value::{Cell, Head, Lazy, Node, Value};
use cotan_source::Span;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// When `0`, `+`, `J` and `Jinv` are worked out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Strategy {
    /// When looked at, and once.
    #[default]
    Memoised,
    /// When looked at, and again each time.
    Forgetful,
    /// At once, to the last part.
    Eager,
}

/// Is told a lambda and its transform, as text.
pub type Trace<'a> = Box<dyn FnMut(&str) + 'a>;

/// How a term is evaluated.
pub struct Options<'a> {
    /// The reading of the rules of attached values.
    pub rules: Rules,
    /// When the lazy primitives are worked out.
    pub strategy: Strategy,
    /// Stop with `E0906` after so many steps.
    pub max_steps: u64,
    /// Stop with `E0906` when values and calls take so many bytes.
    pub max_memory: u64,
    /// Stop with `E0906` after this time.
    pub time_limit: Option<Duration>,
    /// Stop with `E0906` when this is set.
    pub interrupt: Arc<AtomicBool>,
    /// Is told each lambda that is transformed, and its transform.
    pub trace: Option<Trace<'a>>,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Options {
            rules: Rules::default(),
            strategy: Strategy::default(),
            max_steps: 1_000_000_000,
            max_memory: 8 << 30,
            time_limit: None,
            interrupt: Arc::default(),
            trace: None,
        }
    }
}

/// The state of evaluation.
pub(crate) struct Machine<'a> {
    pub(crate) options: Options<'a>,
    pub(crate) cells: Vec<Cell>,
    /// The captured values of all closures.
    pub(crate) environments: Vec<Value>,
    /// The code of the corrected `J (v1 <-J v2)`.
    pub(crate) attached: Rc<Lambda>,
    /// The binding at work.
    pub(crate) here: Span,
    /// What a function is being applied to.
    pub(crate) argument: Option<Value>,
    pub(crate) steps: u64,
    /// `\x. \y. y` and `\x. \y. x`.
    pub(crate) truths: [Value; 2],
    primitives: HashMap<Primitive, Rc<Lambda>>,
    calls: Vec<Call>,
    /// The values of all variables of all calls that are not finished.
    slots: Vec<Value>,
    next_check: u64,
    start: Instant,
}

/// A call that is not finished.
struct Call {
    code: Rc<Lambda>,
    /// The next binding.
    at: usize,
    /// Where its variables begin.
    base: usize,
}

/// Limits other than that of steps are looked at once in so many steps.
const BETWEEN_CHECKS: u64 = 4096;

impl<'a> Machine<'a> {
    pub(crate) fn new(options: Options<'a>) -> Self {
        let mut machine = Machine {
            options,
            cells: Vec::new(),
            environments: Vec::new(),
            attached: crate::attach::reverse_code(),
            here: Span::NONE,
            argument: None,
            steps: 0,
            truths: [Value::Nil; 2],
            primitives: HashMap::new(),
            calls: Vec::new(),
            slots: Vec::new(),
            next_check: 0,
            start: Instant::now(),
        };
        for (i, text) in ["\\x. \\y. y", "\\x. \\y. x"].into_iter().enumerate() {
            let code = crate::attach::inner(&crate::attach::compile(text));
            machine.truths[i] = machine.closure(code, &[]);
        }
        machine
    }

    /// Counts steps.
    pub(crate) fn tick(&mut self, steps: u64) -> Result<(), Stuck> {
        self.steps += steps;
        if self.steps < self.next_check {
            return Ok(());
        }
        self.next_check = (self.steps + BETWEEN_CHECKS).min(self.options.max_steps.saturating_add(1));
        if self.steps > self.options.max_steps {
            return Err(self.limit(format!("{} steps were not enough", self.options.max_steps)));
        }
        if let Some(limit) = self.options.time_limit.filter(|limit| self.start.elapsed() >= *limit) {
            return Err(self.limit(format!("the time limit of {} s is reached", limit.as_secs_f64())));
        }
        let bytes = self.cells.capacity() * size_of::<Cell>()
            + (self.environments.capacity() + self.slots.capacity()) * size_of::<Value>()
            + self.calls.capacity() * size_of::<Call>();
        // Tables double when they are full, and values are numbered by 32 bits.
        if 2 * bytes as u64 > self.options.max_memory || self.cells.len() > (u32::MAX / 2) as usize {
            return Err(self.limit(format!("the limit of {} MiB of memory is reached", self.options.max_memory >> 20)));
        }
        if self.options.interrupt.load(Ordering::Relaxed) {
            return Err(self.interrupted("evaluation was interrupted".into()));
        }
        Ok(())
    }

    /// Recursion that the depth of values may drive.
    pub(crate) fn deeper<T>(&mut self, f: impl FnOnce(&mut Self) -> T) -> T {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || f(self))
    }

    /// The value of the body of `code`, which captures nothing and does not use its parameter.
    pub(crate) fn run(&mut self, code: &Rc<Lambda>) -> Result<Value, Stuck> {
        self.enter(Rc::clone(code), &[], Value::Nil);
        while let Some(call) = self.calls.last() {
            if call.at == call.code.bindings.len() {
                // The last variable is the result, and the next one of whoever called.
                let result = self.slots[self.slots.len() - 1];
                self.slots.truncate(call.base);
                self.calls.pop();
                self.slots.push(result);
            } else {
                self.step()?;
            }
        }
        Ok(self.slots.pop().unwrap_or(Value::Nil))
    }

    /// Begins a call.
    fn enter(&mut self, code: Rc<Lambda>, captured: &[Value], argument: Value) {
        let base = self.slots.len();
        self.slots.extend_from_slice(captured);
        self.slots.push(argument);
        self.calls.push(Call { code, at: 0, base });
    }

    /// Evaluates the next binding of the innermost call.
    fn step(&mut self) -> Result<(), Stuck> {
        let at = self.calls.len() - 1;
        let code = Rc::clone(&self.calls[at].code);
        let Binding { rhs, span } = &code.bindings[self.calls[at].at];
        self.calls[at].at += 1;
        // The transforms of primitives are text of this crate: their place is that of the call.
        if !span.is_none() {
            self.here = *span;
        }
        self.tick(1)?;
        let base = self.calls[at].base;
        let get = |m: &Self, slot: u32| m.slots[base + slot as usize];
        let value = match rhs {
            Rhs::Var(a) => get(self, *a),
            Rhs::Apply(f, x) => {
                let (f, x) = (get(self, *f), get(self, *x));
                return self.apply(f, x);
            }
            Rhs::Primitive(0, t, x) => {
                let x = get(self, *x);
                self.primitive(*t, x)?
            }
            Rhs::Primitive(level, t, x) => {
                let x = get(self, *x);
                let code = self.primitive_transform(*t, *level)?;
                self.leave_if_last();
                self.enter(code, &[], x);
                return Ok(());
            }
            Rhs::Pair(level, a, b) => {
                let (a, b) = (get(self, *a), get(self, *b));
                self.pair(*level, a, b)
            }
            Rhs::Part(level, part, a) => {
                let a = get(self, *a);
                self.part(*level, *part, a)?
            }
            Rhs::Lambda(level, inner, captured) => {
                self.tick(captured.len() as u64)?;
                let mut values: Vec<Value> = captured.iter().map(|slot| get(self, *slot)).collect();
                for _ in 0..*level {
                    for v in &mut values {
                        *v = self.inverse(*v)?;
                    }
                }
                let closure = self.closure(Rc::clone(inner), &values);
                self.reverse_times(*level, closure)
            }
            Rhs::Constant(level, c) => {
                let value = match c {
                    Constant::Nil => Value::Nil,
                    Constant::Real(r) => Value::Real(*r),
                    Constant::Primitive(t) => Value::Primitive(*t),
                    Constant::Truth(b) => self.truths[usize::from(*b)],
                };
                self.reverse_times(*level, value)
            }
        };
        self.slots.push(value);
        Ok(())
    }

    /// `f x`
    fn apply(&mut self, f: Value, x: Value) -> Result<(), Stuck> {
        self.argument = Some(x);
        match self.callable(f)? {
            Some(closure) => {
                let (code, captured) = self.parts(closure);
                self.leave_if_last();
                self.enter(code, &captured, x);
            }
            None => {
                let Head::Primitive(_, t) = self.head(f)? else { return Err(self.no_function(f)) };
                let value = self.primitive(t, x)?;
                self.slots.push(value);
            }
        }
        Ok(())
    }

    /// Forgets the innermost call, if nothing but its result is to come.
    fn leave_if_last(&mut self) {
        if let Some(call) = self.calls.last()
            && call.at == call.code.bindings.len()
        {
            self.slots.truncate(call.base);
            self.calls.pop();
        }
    }

    /// The code of `t` with `level` tags, one or more.
    pub(crate) fn primitive_transform(&mut self, t: Primitive, level: u32) -> Result<Rc<Lambda>, Stuck> {
        let mut code = match self.primitives.get(&t) {
            Some(code) => Rc::clone(code),
            None => {
                let code = crate::attach::inner(&crate::attach::compile(&t.transform(self.options.rules)));
                self.primitives.insert(t, Rc::clone(&code));
                code
            }
        };
        for _ in 1..level {
            code = self.transformed(&code);
        }
        Ok(code)
    }

    /// `t x`
    fn primitive(&mut self, t: Primitive, x: Value) -> Result<Value, Stuck> {
        match t {
            Primitive::Scalar(prim) => {
                let computed = if prim.args().len() == 1 {
                    let Head::Real(0, r) = self.head(x)? else { return Err(self.no_operand(t, x, "a real")) };
                    compute(prim, &[r])
                } else {
                    let Some((a, b)) = self.two_reals(x)? else {
                        return Err(self.no_operand(t, x, "a pair of reals"));
                    };
                    compute(prim, &[a, b])
                };
                match computed {
                    Ok(Computed::Real(r)) => Ok(Value::Real(r)),
                    Ok(Computed::Truth(b)) => Ok(self.truths[usize::from(b)]),
                    Err(why) => Err(self.no_value(t, x, &why)),
                }
            }
            Primitive::First => self.part(0, Part::First, x),
            Primitive::Second => self.part(0, Part::Second, x),
            Primitive::Null => {
                let null = matches!(self.head(x)?, Head::Nil(0));
                Ok(self.truths[usize::from(null)])
            }
            Primitive::Zero => self.zero(x),
            Primitive::J => Ok(self.reverse(x)),
            Primitive::Jinv => self.inverse(x),
            Primitive::Rule => match self.head(x)? {
                Head::Attached(_, v2) => Ok(v2),
                _ => Err(self.no_operand(t, x, "a value with an attached derivative")),
            },
            Primitive::Plus | Primitive::Attach | Primitive::UnJ | Primitive::ReJ => {
                let Head::Pair(0, a, b) = self.head(x)? else { return Err(self.no_operand(t, x, "a pair")) };
                match t {
                    Primitive::Plus => self.plus(a, b),
                    Primitive::Attach => Ok(self.alloc(Node::Attached(a, b))),
                    Primitive::UnJ => self.un_j(a, b),
                    _ => self.re_j(a, b),
                }
            }
        }
    }

    fn two_reals(&mut self, x: Value) -> Result<Option<(f64, f64)>, Stuck> {
        let Head::Pair(0, a, b) = self.head(x)? else { return Ok(None) };
        let (Head::Real(0, a), Head::Real(0, b)) = (self.head(a)?, self.head(b)?) else { return Ok(None) };
        Ok(Some((a, b)))
    }

    /// Suspends an application, or works it out where the strategy wants that.
    pub(crate) fn suspend(&mut self, lazy: Lazy) -> Result<Value, Stuck> {
        if self.options.strategy == Strategy::Eager {
            return self.work_out(lazy);
        }
        Ok(self.alloc(Node::Lazy(lazy, self.here)))
    }

    /// `v` itself, or what the suspended application `v` comes to.
    ///
    /// # Errors
    /// It is stuck.
    pub(crate) fn force(&mut self, v: Value) -> Result<Value, Stuck> {
        let Value::Node(id) = v else { return Ok(v) };
        let cell = &self.cells[id as usize];
        let Node::Lazy(lazy, place) = cell.node else { return Ok(v) };
        if let (Some(known), Strategy::Memoised) = (cell.known, self.options.strategy) {
            return Ok(known);
        }
        let looked_at = std::mem::replace(&mut self.here, place);
        let result = self.work_out(lazy).map_err(|error| {
            if error.labels.is_empty() && looked_at != error.primary.span && !looked_at.is_none() {
                Box::new(error.label(looked_at, "needed here"))
            } else {
                error
            }
        })?;
        self.here = looked_at;
        self.cells[id as usize].known = Some(result);
        Ok(result)
    }

    fn work_out(&mut self, lazy: Lazy) -> Result<Value, Stuck> {
        self.tick(1)?;
        self.deeper(|m| match lazy {
            Lazy::Zero(v) => m.zero_of(v),
            Lazy::Sum(a, b) => m.sum_of(a, b),
            Lazy::Jinv(v) => m.inverse_of(v),
            Lazy::UnJ(v, s) => m.un_j_of(v, s),
            Lazy::ReJ(v, s) => m.re_j_of(v, s),
        })
    }
}
