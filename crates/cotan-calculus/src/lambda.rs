//! Lambdas in A-normal form.
//!
//! In: nothing (data only). Out: [`Lambda`], `\x0. let x1 = e1 in ... let xn = en in xn`, what evaluation runs and what the
//! reverse transformation reads and writes. Variables are positions: first the captured ones, then `x0`, then `x1` to `xn`, so
//! names are unique by construction, whatever they are called.

use crate::primitive::Primitive;
use crate::term::Name;
use cotan_source::Span;
use std::cell::OnceCell;
use std::fmt;
use std::rc::Rc;

/// A variable: its position among captures, parameter and bindings.
pub type Slot = u32;

/// A lambda.
#[derive(Debug)]
pub struct Lambda {
    /// The names of all variables in order: captures, parameter, bindings. Names are for readers only.
    pub names: Vec<Name>,
    /// How many variables are captured: the free variables, in the fixed total order of names.
    pub captures: usize,
    /// How many `^` the parameter bears, which is how often a list of cotangents of the captures is tagged.
    pub level: u32,
    /// `x1 = e1` to `xn = en`; there is at least one, and the last is the result.
    pub bindings: Vec<Binding>,
    /// The reverse transform, once it was asked for.
    pub transformed: OnceCell<Rc<Lambda>>,
}

/// The right side of `xi = ei`.
#[derive(Debug)]
pub struct Binding {
    /// The expression.
    pub rhs: Rhs,
    /// Where the source says so; a transformed binding has the place of what it comes from.
    pub span: Span,
}

/// Expressions of A-normal form. A number in front says how often a form was transformed: `(a, b)` at level 1 is the tagged
/// pair of tagged components.
#[derive(Clone, Debug)]
pub enum Rhs {
    /// `xj`
    Var(Slot),
    /// `xj xk`
    Apply(Slot, Slot),
    /// `t xk` for a primitive.
    Primitive(u32, Primitive, Slot),
    /// `(xj, xk)`: pairs are primitive, for the zero of a Church pair is a list, but backpropagators return pairs.
    Pair(u32, Slot, Slot),
    /// The first or second component of `xj`.
    Part(u32, Part, Slot),
    /// `\x. e` and what it captures.
    Lambda(u32, Rc<Lambda>, Vec<Slot>),
    /// `[]`, a number, a primitive, a truth value.
    Constant(u32, Constant),
}

/// Which component of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// The first.
    First,
    /// The second.
    Second,
}

/// What the initial environment knows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Constant {
    /// `[]`
    Nil,
    /// A real number.
    Real(f64),
    /// A primitive.
    Primitive(Primitive),
    /// `\x. \y. x` or `\x. \y. y`.
    Truth(bool),
}

impl Lambda {
    /// The position of the parameter.
    pub fn param(&self) -> Slot {
        self.captures as Slot
    }

    /// The position of the `i`th binding, counted from 0.
    pub fn slot(&self, i: usize) -> Slot {
        (self.captures + 1 + i) as Slot
    }

    /// The place of the first binding.
    pub fn span(&self) -> Span {
        self.bindings.first().map_or(Span::NONE, |b| b.span)
    }

    fn name(&self, slot: Slot) -> &str {
        &self.names[slot as usize]
    }

    fn write(&self, f: &mut fmt::Formatter<'_>, indent: usize) -> fmt::Result {
        let pad = "    ".repeat(indent + 1);
        write!(f, "\\{}.", self.name(self.param()))?;
        let mut i = 0;
        while let Some(binding) = self.bindings.get(i) {
            let slot = self.slot(i);
            let last = self.bindings.len() - 1;
            let next = |ahead: usize| if i + ahead < last { Some(&self.bindings[i + ahead].rhs) } else { None };
            // Two idioms of the transform, as the paper writes them: (xi^, xi~) = e, and xj_ = xj_ + e. The result has no name.
            match (&binding.rhs, next(1), next(2)) {
                (rhs, Some(Rhs::Part(0, Part::First, a)), Some(Rhs::Part(0, Part::Second, b)))
                    if *a == slot && *b == slot =>
                {
                    write!(f, "\n{pad}let ({}, {}) = ", self.name(slot + 1), self.name(slot + 2))?;
                    self.write_rhs(f, rhs, indent)?;
                    i += 3;
                }
                (Rhs::Pair(0, a, b), Some(Rhs::Primitive(0, Primitive::Plus, both)), _) if *both == slot => {
                    write!(f, "\n{pad}let {} = {} + {}", self.name(slot + 1), self.name(*a), self.name(*b))?;
                    i += 2;
                }
                (rhs, ..) => {
                    match i == last {
                        true => write!(f, "\n{pad}in  ")?,
                        false => write!(f, "\n{pad}let {} = ", self.name(slot))?,
                    }
                    self.write_rhs(f, rhs, indent)?;
                    i += 1;
                }
            }
        }
        Ok(())
    }

    fn write_rhs(&self, f: &mut fmt::Formatter<'_>, rhs: &Rhs, indent: usize) -> fmt::Result {
        match rhs {
            Rhs::Var(a) => write!(f, "{}", self.name(*a)),
            Rhs::Apply(a, b) => write!(f, "{} {}", self.name(*a), self.name(*b)),
            Rhs::Primitive(level, t, a) => write!(f, "{t}{} {}", hats(*level), self.name(*a)),
            Rhs::Pair(level, a, b) => write!(f, "({}, {}){}", self.name(*a), self.name(*b), hats(*level)),
            Rhs::Part(level, part, a) => {
                let word = if *part == Part::First { "fst" } else { "snd" };
                write!(f, "{word}{} {}", hats(*level), self.name(*a))
            }
            Rhs::Lambda(level, lambda, _) => {
                let mut inner = Rc::clone(lambda);
                for _ in 0..*level {
                    inner = crate::transform::transform(&inner);
                }
                inner.write(f, indent + 1)
            }
            Rhs::Constant(level, c) => write!(f, "{c}{}", hats(*level)),
        }
    }
}

/// The tags of a form.
pub fn hats(level: u32) -> String {
    "^".repeat(level as usize)
}

impl fmt::Display for Lambda {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, 0)
    }
}

impl fmt::Display for Constant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Constant::Nil => f.write_str("[]"),
            Constant::Real(r) => f.write_str(&crate::print::real(*r)),
            Constant::Primitive(t) => write!(f, "{t}"),
            Constant::Truth(b) => write!(f, "{b}"),
        }
    }
}
