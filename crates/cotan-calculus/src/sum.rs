//! The space of cotangents: zero and the conformant sum.
//!
//! In: values. Out: `0 v` and `v1 + v2`, both worked out when they are looked at and then remembered. The cotangent of a closure
//! is the list of the cotangents of its captures, so a zero may be large, and a sum of two large values costs much if it is taken
//! at once. A zero that nobody looked into is added at the price of comparing the outermost forms.

use crate::attach::Rules;
use crate::error::Stuck;
use crate::machine::{Machine, Strategy};
use crate::value::{Head, Lazy, Node, Value};

/// The outermost form of a cotangent.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    Nil(u32),
    Real(u32),
    Pair(u32),
    /// A function, which is a cotangent of nothing but may be added to itself.
    Other,
}

impl Machine<'_> {
    /// `0 v`
    ///
    /// # Errors
    /// Only where it is worked out at once, by the strategy.
    pub(crate) fn zero(&mut self, v: Value) -> Result<Value, Stuck> {
        let id = match v {
            Value::Real(_) => return Ok(Value::Real(0.0)),
            Value::Nil | Value::Primitive(_) => return Ok(Value::Nil),
            Value::Node(id) => id as usize,
        };
        if let (Some(known), Strategy::Memoised) = (self.cells[id].zero, self.options.strategy) {
            return Ok(known);
        }
        let zero = self.suspend(Lazy::Zero(v))?;
        self.cells[id].zero = Some(zero);
        Ok(zero)
    }

    /// The rules of `0`, by the outermost form of `v`.
    pub(crate) fn zero_of(&mut self, v: Value) -> Result<Value, Stuck> {
        match self.head(v)? {
            // A primitive counts as tagged as often as it was transformed, so that its zero conforms with what its transform returns.
            Head::Nil(k) | Head::Primitive(k, _) => Ok(self.reverse_times(k, Value::Nil)),
            Head::Real(k, _) => Ok(self.reverse_times(k, Value::Real(0.0))),
            Head::Pair(level, a, b) => {
                let (a, b) = (self.zero(a)?, self.zero(b)?);
                Ok(self.pair(level, a, b))
            }
            Head::Closure(k, c) => {
                let (lambda, captured) = self.parts(c);
                self.tick(captured.len() as u64)?;
                let mut zeros = Vec::with_capacity(captured.len());
                for v in captured {
                    let v = self.reverse_times(k, v);
                    zeros.push(self.zero(v)?);
                }
                Ok(self.list(lambda.level + k, &zeros))
            }
            Head::Attached(v1, v2) => match self.options.rules {
                Rules::Printed => {
                    let zero = self.zero(v1)?;
                    self.force(zero)
                }
                Rules::Corrected => {
                    let (zero1, zero2) = (self.zero(v1)?, self.zero(v2)?);
                    Ok(self.pair(0, zero1, zero2))
                }
            },
        }
    }

    /// `a + b`
    ///
    /// # Errors
    /// The two do not conform; where either is suspended this shows when the sum is looked at.
    pub(crate) fn plus(&mut self, a: Value, b: Value) -> Result<Value, Stuck> {
        match (a, b) {
            (Value::Real(x), Value::Real(y)) => return Ok(Value::Real(x + y)),
            (Value::Nil, Value::Nil) => return Ok(Value::Nil),
            _ => {}
        }
        if let Some(sum) = self.plus_zero(a, b, false)? {
            return Ok(sum);
        }
        self.suspend(Lazy::Sum(a, b))
    }

    /// `a + b` where one is a zero that nobody looked into: the other one. `force`: look at the other, if it is suspended.
    fn plus_zero(&mut self, a: Value, b: Value, force: bool) -> Result<Option<Value>, Stuck> {
        if self.options.strategy != Strategy::Memoised {
            return Ok(None);
        }
        for (zero, other) in [(a, b), (b, a)] {
            let Some(v) = self.is_zero(zero) else { continue };
            let shape = match (self.is_zero(other), self.is_suspended(other)) {
                (Some(w), _) => self.shape_of_zero(w)?,
                (None, true) if !force => continue,
                (None, _) => self.shape(other)?,
            };
            if self.shape_of_zero(v)? != shape {
                return Err(self.non_conformant(a, b));
            }
            return Ok(Some(other));
        }
        Ok(None)
    }

    /// The rules of `+`, by the outermost forms.
    pub(crate) fn sum_of(&mut self, a: Value, b: Value) -> Result<Value, Stuck> {
        if let Some(sum) = self.plus_zero(a, b, true)? {
            return self.force(sum);
        }
        match (self.head(a)?, self.head(b)?) {
            (Head::Nil(k), Head::Nil(l)) if k == l => Ok(self.reverse_times(k, Value::Nil)),
            (Head::Real(k, x), Head::Real(l, y)) if k == l => Ok(self.reverse_times(k, Value::Real(x + y))),
            (Head::Pair(k, a1, a2), Head::Pair(l, b1, b2)) if k == l => {
                let (first, second) = (self.plus(a1, b1)?, self.plus(a2, b2)?);
                Ok(self.pair(k, first, second))
            }
            (Head::Attached(v1, _), _) => self.deeper(|m| m.sum_of(v1, b)),
            (_, Head::Attached(v1, _)) => self.deeper(|m| m.sum_of(a, v1)),
            (Head::Primitive(k, t), Head::Primitive(l, u)) if k == l && t == u => Ok(a),
            (Head::Closure(k, c), Head::Closure(l, d)) if k == l => {
                let ((lambda, left), (other, right)) = (self.parts(c), self.parts(d));
                if !std::rc::Rc::ptr_eq(&lambda, &other) {
                    return Err(self.non_conformant(a, b));
                }
                self.tick(left.len() as u64)?;
                let sums = left.iter().zip(&right).map(|(x, y)| self.plus(*x, *y)).collect::<Result<Vec<_>, _>>()?;
                let sum = self.closure(lambda, &sums);
                Ok(self.reverse_times(k, sum))
            }
            _ => Err(self.non_conformant(a, b)),
        }
    }

    /// What `v` is the zero of, if it is one.
    pub(crate) fn is_zero(&self, v: Value) -> Option<Value> {
        let Value::Node(id) = v else { return None };
        match self.cells[id as usize].node {
            Node::Lazy(Lazy::Zero(of), _) => Some(of),
            _ => None,
        }
    }

    fn is_suspended(&self, v: Value) -> bool {
        let Value::Node(id) = v else { return false };
        let cell = &self.cells[id as usize];
        match cell.node {
            Node::Lazy(..) => cell.known.is_none(),
            Node::Reverse(inner) => self.is_suspended(inner),
            _ => false,
        }
    }

    fn shape(&mut self, v: Value) -> Result<Shape, Stuck> {
        Ok(match self.head(v)? {
            Head::Nil(k) => Shape::Nil(k),
            Head::Real(k, _) => Shape::Real(k),
            Head::Pair(k, ..) => Shape::Pair(k),
            _ => Shape::Other,
        })
    }

    /// The shape of `0 v`.
    fn shape_of_zero(&mut self, v: Value) -> Result<Shape, Stuck> {
        Ok(match self.head(v)? {
            Head::Nil(k) | Head::Primitive(k, _) => Shape::Nil(k),
            Head::Real(k, _) => Shape::Real(k),
            Head::Pair(k, ..) => Shape::Pair(k),
            Head::Closure(k, c) => {
                let (lambda, _) = self.parts(c);
                let level = lambda.level + k;
                if lambda.captures == 0 { Shape::Nil(level) } else { Shape::Pair(level) }
            }
            Head::Attached(v1, _) => match self.options.rules {
                Rules::Printed => self.shape_of_zero(v1)?,
                Rules::Corrected => Shape::Pair(0),
            },
        })
    }
}
