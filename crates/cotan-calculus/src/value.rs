//! Values.
//!
//! In: nothing. Out: [`Value`], the store in which compound values live, and [`Head`], the outermost form of a value, by which
//! every rule of the system is chosen. Values are never freed before the machine is: so a value may be as deep as memory is large,
//! and what was computed from a value is remembered beside it.

use crate::attach::Rules;
use crate::error::Stuck;
use crate::lambda::{Lambda, Part};
use crate::machine::Machine;
use crate::primitive::Primitive;
use cotan_source::Span;
use std::rc::Rc;

/// A value: `[]`, a real, a primitive, or something in the store.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// `[]`
    Nil,
    /// A real.
    Real(f64),
    /// `t`
    Primitive(Primitive),
    /// Anything else.
    Node(u32),
}

/// What the store holds.
#[derive(Clone, Debug)]
pub enum Node {
    /// `(v1, v2)`; at level `n` the pair that bears `n` tags, of components that bear them.
    Pair(u32, Value, Value),
    /// `<s, \x. e>`: the code, and where the values of its captures begin.
    Closure(Rc<Lambda>, usize),
    /// `v^`, that is `J v`. It remembers `v`: what `v` looks like transformed is worked out when asked for.
    Reverse(Value),
    /// `v1 <-J v2`
    Attached(Value, Value),
    /// What was not worked out yet, and where it was asked for.
    Lazy(Lazy, Span),
}

/// Suspended applications of the lazy primitives.
#[derive(Clone, Copy, Debug)]
pub enum Lazy {
    /// `0 v`
    Zero(Value),
    /// `v1 + v2`
    Sum(Value, Value),
    /// `Jinv v`
    Jinv(Value),
    /// `unJ (v, s)`
    UnJ(Value, Value),
    /// `reJ (v, s)`
    ReJ(Value, Value),
}

/// A node and what is remembered about it.
#[derive(Debug)]
pub struct Cell {
    /// The node.
    pub node: Node,
    /// `J` of it.
    pub reverse: Option<Value>,
    /// `0` of it.
    pub zero: Option<Value>,
    /// A suspended application: its value. A transformed function: its closure.
    pub known: Option<Value>,
}

/// The outermost form of a value; the number says how many `^` it bears.
#[derive(Clone, Copy, Debug)]
pub enum Head {
    /// `[]`
    Nil(u32),
    /// A real.
    Real(u32, f64),
    /// `t`
    Primitive(u32, Primitive),
    /// A pair of components that bear as many tags.
    Pair(u32, Value, Value),
    /// A closure in the store.
    Closure(u32, u32),
    /// `v1 <-J v2`
    Attached(Value, Value),
}

impl Machine<'_> {
    /// Puts a node into the store.
    pub(crate) fn alloc(&mut self, node: Node) -> Value {
        self.cells.push(Cell { node, reverse: None, zero: None, known: None });
        Value::Node((self.cells.len() - 1) as u32)
    }

    /// `(a, b)` with `level` tags.
    pub(crate) fn pair(&mut self, level: u32, a: Value, b: Value) -> Value {
        self.alloc(Node::Pair(level, a, b))
    }

    /// The list of `items`, made of pairs with `level` tags.
    pub(crate) fn list(&mut self, level: u32, items: &[Value]) -> Value {
        let mut list = self.reverse_times(level, Value::Nil);
        for item in items.iter().rev() {
            list = self.pair(level, *item, list);
        }
        list
    }

    /// `<s, lambda>` with the values of the captures in `s`.
    pub(crate) fn closure(&mut self, lambda: Rc<Lambda>, captured: &[Value]) -> Value {
        let start = self.environments.len();
        self.environments.extend_from_slice(captured);
        self.alloc(Node::Closure(lambda, start))
    }

    /// The code and the captured values of a closure in the store.
    pub(crate) fn parts(&self, closure: u32) -> (Rc<Lambda>, Vec<Value>) {
        match &self.cells[closure as usize].node {
            Node::Closure(lambda, start) => {
                (Rc::clone(lambda), self.environments[*start..*start + lambda.captures].to_vec())
            }
            _ => unreachable!("only closures are called so"),
        }
    }

    /// The outermost form of `v`.
    ///
    /// # Errors
    /// Something that has to be worked out for it is stuck.
    pub(crate) fn head(&mut self, v: Value) -> Result<Head, Stuck> {
        let id = match self.force(v)? {
            Value::Nil => return Ok(Head::Nil(0)),
            Value::Real(r) => return Ok(Head::Real(0, r)),
            Value::Primitive(t) => return Ok(Head::Primitive(0, t)),
            Value::Node(id) => id,
        };
        match self.cells[id as usize].node {
            Node::Pair(level, a, b) => Ok(Head::Pair(level, a, b)),
            Node::Closure(..) => Ok(Head::Closure(0, id)),
            Node::Attached(v1, v2) => Ok(Head::Attached(v1, v2)),
            Node::Reverse(w) => Ok(match self.deeper(|m| m.head(w))? {
                Head::Nil(k) => Head::Nil(k + 1),
                Head::Real(k, r) => Head::Real(k + 1, r),
                Head::Primitive(k, t) => Head::Primitive(k + 1, t),
                Head::Pair(level, a, b) => {
                    self.tick(1)?;
                    Head::Pair(level + 1, self.reverse(a), self.reverse(b))
                }
                Head::Closure(k, c) => Head::Closure(k + 1, c),
                Head::Attached(_, v2) => match self.options.rules {
                    Rules::Printed => self.head(v2)?,
                    Rules::Corrected => Head::Closure(0, self.attached_reverse(id, w)),
                },
            }),
            Node::Lazy(..) => unreachable!("forced"),
        }
    }

    /// A component of a pair with `level` tags.
    ///
    /// # Errors
    /// `v` is no such pair.
    pub(crate) fn part(&mut self, level: u32, part: Part, v: Value) -> Result<Value, Stuck> {
        match self.head(v)? {
            Head::Pair(n, a, b) if n == level => Ok(if part == Part::First { a } else { b }),
            _ => Err(self.no_pair(level, part, v)),
        }
    }

    /// The items of a list of `count` items with `level` tags.
    ///
    /// # Errors
    /// `v` is no such list.
    pub(crate) fn items(&mut self, level: u32, v: Value, count: usize) -> Result<Vec<Value>, Stuck> {
        let mut items = Vec::with_capacity(count);
        let mut rest = v;
        for _ in 0..count {
            items.push(self.part(level, Part::First, rest)?);
            rest = self.part(level, Part::Second, rest)?;
        }
        Ok(items)
    }
}
