//! `J` and its inverse.
//!
//! In: values. Out: `J v`, a box that remembers `v`; `Jinv v`; the transformed closure of a function, `J <s, e> = <s^, e^>` with
//! `s^ x^ = J (s x)`, made when the function is first called and then remembered; and the two maps between the cotangents of `v`
//! and of `J v`, which are `Jinv` and `J` as long as no attached value hides inside `v`.

use crate::error::Stuck;
use crate::lambda::Part;
use crate::machine::{Machine, Strategy};
use crate::value::{Head, Lazy, Node, Value};
use std::rc::Rc;

impl Machine<'_> {
    /// `J v`
    pub(crate) fn reverse(&mut self, v: Value) -> Value {
        let Value::Node(id) = v else { return self.alloc(Node::Reverse(v)) };
        if let (Some(known), Strategy::Memoised) = (self.cells[id as usize].reverse, self.options.strategy) {
            return known;
        }
        let reverse = self.alloc(Node::Reverse(v));
        self.cells[id as usize].reverse = Some(reverse);
        reverse
    }

    /// `J (J ... v)`
    pub(crate) fn reverse_times(&mut self, times: u32, v: Value) -> Value {
        (0..times).fold(v, |v, _| self.reverse(v))
    }

    /// `Jinv v`
    ///
    /// # Errors
    /// `v` bears no tag; where it is suspended this shows when the result is looked at.
    pub(crate) fn inverse(&mut self, v: Value) -> Result<Value, Stuck> {
        let Value::Node(id) = v else { return Err(self.no_inverse(v)) };
        match self.cells[id as usize].node {
            Node::Reverse(inner) => Ok(inner),
            _ => self.suspend(Lazy::Jinv(v)),
        }
    }

    /// The rules of `Jinv`.
    pub(crate) fn inverse_of(&mut self, v: Value) -> Result<Value, Stuck> {
        let forced = self.force(v)?;
        let Value::Node(id) = forced else { return Err(self.no_inverse(v)) };
        match self.cells[id as usize].node {
            Node::Reverse(inner) => self.force(inner),
            Node::Pair(level, a, b) if level > 0 => {
                let (a, b) = (self.inverse(a)?, self.inverse(b)?);
                Ok(self.pair(level - 1, a, b))
            }
            Node::Attached(v1, _) => {
                let inverse = self.inverse(v1)?;
                Ok(self.alloc(Node::Attached(inverse, forced)))
            }
            _ => Err(self.no_inverse(v)),
        }
    }

    /// The closure behind a function: of `J <s, e>` it is `<s^, e^>`, of `t^` the transform of the primitive. `None` for a primitive
    /// as it is.
    ///
    /// # Errors
    /// `f` is no function.
    pub(crate) fn callable(&mut self, f: Value) -> Result<Option<u32>, Stuck> {
        let forced = self.force(f)?;
        if let Value::Node(id) = forced {
            let cell = &self.cells[id as usize];
            match (&cell.node, cell.known, self.options.strategy) {
                (Node::Closure(..), ..) => return Ok(Some(id)),
                (Node::Reverse(_), Some(Value::Node(known)), Strategy::Memoised) => return Ok(Some(known)),
                _ => {}
            }
        }
        let closure = match self.head(forced)? {
            Head::Primitive(0, _) => return Ok(None),
            Head::Primitive(k, t) => {
                let code = self.primitive_transform(t, k)?;
                self.closure(code, &[])
            }
            Head::Closure(0, c) => return Ok(Some(c)),
            Head::Closure(k, c) => {
                let (mut code, captured) = self.parts(c);
                self.tick(captured.len() as u64)?;
                for _ in 0..k {
                    code = self.transformed(&code);
                }
                let captured: Vec<Value> = captured.into_iter().map(|v| self.reverse_times(k, v)).collect();
                self.closure(code, &captured)
            }
            Head::Attached(v1, _) => return self.deeper(|m| m.callable(v1)),
            Head::Nil(_) | Head::Real(..) | Head::Pair(..) => return Err(self.no_function(f)),
        };
        if let Value::Node(id) = forced {
            self.cells[id as usize].known = Some(closure);
        }
        match closure {
            Value::Node(id) => Ok(Some(id)),
            _ => unreachable!("closures live in the store"),
        }
    }

    /// `unJ (v, s)`: the cotangent of `v` that belongs to the cotangent `s` of `J v`.
    pub(crate) fn un_j(&mut self, v: Value, s: Value) -> Result<Value, Stuck> {
        match v {
            Value::Node(_) if self.is_zero(s).is_some() && self.options.strategy == Strategy::Memoised => self.zero(v),
            Value::Node(_) => self.suspend(Lazy::UnJ(v, s)),
            _ => self.inverse(s),
        }
    }

    /// The rules of `unJ`, by the outermost form of `v`.
    pub(crate) fn un_j_of(&mut self, v: Value, s: Value) -> Result<Value, Stuck> {
        match self.head(v)? {
            Head::Nil(_) | Head::Real(..) | Head::Primitive(..) => {
                let inner = self.inverse(s)?;
                self.force(inner)
            }
            Head::Pair(level, a, b) => {
                let first = self.part(level + 1, Part::First, s)?;
                let second = self.part(level + 1, Part::Second, s)?;
                let (first, second) = (self.un_j(a, first)?, self.un_j(b, second)?);
                Ok(self.pair(level, first, second))
            }
            Head::Closure(k, c) => self.map_captures(k, c, s, 1, 0),
            Head::Attached(..) => {
                // J of an attached value captures that value.
                let whole = self.part(1, Part::First, s)?;
                self.force(whole)
            }
        }
    }

    /// `reJ (v, s)`: the cotangent of `J v` that belongs to the cotangent `s` of `v`.
    pub(crate) fn re_j(&mut self, v: Value, s: Value) -> Result<Value, Stuck> {
        match v {
            Value::Node(_) if self.is_zero(s).is_some() && self.options.strategy == Strategy::Memoised => {
                let v = self.reverse(v);
                self.zero(v)
            }
            Value::Node(_) => self.suspend(Lazy::ReJ(v, s)),
            _ => Ok(self.reverse(s)),
        }
    }

    /// The rules of `reJ`, by the outermost form of `v`.
    pub(crate) fn re_j_of(&mut self, v: Value, s: Value) -> Result<Value, Stuck> {
        match self.head(v)? {
            Head::Nil(_) | Head::Real(..) | Head::Primitive(..) => Ok(self.reverse(s)),
            Head::Pair(level, a, b) => {
                let (first, second) = (self.part(level, Part::First, s)?, self.part(level, Part::Second, s)?);
                let (first, second) = (self.re_j(a, first)?, self.re_j(b, second)?);
                Ok(self.pair(level + 1, first, second))
            }
            Head::Closure(k, c) => self.map_captures(k, c, s, 0, 1),
            Head::Attached(..) => Ok(self.list(1, &[s])),
        }
    }

    /// Takes the cotangent `s` of a closure with `from` further tags to one with `to` further tags, capture by capture.
    fn map_captures(&mut self, k: u32, closure: u32, s: Value, from: u32, to: u32) -> Result<Value, Stuck> {
        let (lambda, captured) = self.parts(closure);
        self.tick(captured.len() as u64)?;
        let level = lambda.level + k;
        let mut items = self.items(level + from, s, captured.len())?;
        for (item, v) in items.iter_mut().zip(captured) {
            let v = self.reverse_times(k, v);
            *item = if from > to { self.un_j(v, *item)? } else { self.re_j(v, *item)? };
        }
        Ok(self.list(level + to, &items))
    }

    /// `e^`, told to who follows the run when it is made.
    pub(crate) fn transformed(&mut self, lambda: &Rc<crate::lambda::Lambda>) -> Rc<crate::lambda::Lambda> {
        if lambda.transformed.get().is_none() && self.options.trace.is_some() {
            let text = format!("{lambda}\n\nbecomes\n\n{}\n", crate::transform::transform(lambda));
            if let Some(trace) = &mut self.options.trace {
                trace(&text);
            }
        }
        crate::transform::transform(lambda)
    }
}
