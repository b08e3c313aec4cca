//! Which closure a function value or a tangent is.
//!
//! In: operations as they are emitted. Out: for some variables a [`Shape`]. It is needed where the source names a captured variable
//! of a tangent (`df.w`): the checker knows that the closure is known, this finds its code.

use cotan_ir::{AdOp, Atom, FnId, Op, Step, Var};
use rustc_hash::FxHashMap;

/// What is known of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Nothing.
    Unknown,
    /// A closure over this code.
    Code(FnId),
    /// Such a closure with a rule attached: calls do not reach the code at once, but its tangents are those of the closure.
    Attached(FnId),
    /// A tangent of a closure over this code.
    Tangent(FnId),
    /// A tuple.
    Tuple(Vec<Shape>),
    /// What `pullback` returned for a closure over this code.
    Pullback(FnId),
    /// An array of such values.
    Array(Box<Shape>),
}

/// What is known of the variables of a function.
#[derive(Default)]
pub(crate) struct Shapes {
    known: FxHashMap<Var, Shape>,
}

impl Shapes {
    /// What is known of an operand.
    pub fn of(&self, atom: &Atom) -> Shape {
        atom.var().and_then(|v| self.known.get(&v).cloned()).unwrap_or(Shape::Unknown)
    }

    /// Notes what is known of a variable.
    pub fn set(&mut self, var: Var, shape: Shape) {
        if shape != Shape::Unknown {
            self.known.insert(var, shape);
        }
    }

    /// The code of a function value.
    pub fn code(&self, atom: &Atom) -> Option<FnId> {
        match self.known.get(&atom.var()?)? {
            Shape::Code(code) => Some(*code),
            Shape::Unknown
            | Shape::Attached(_)
            | Shape::Tangent(_)
            | Shape::Tuple(_)
            | Shape::Pullback(_)
            | Shape::Array(_) => None,
        }
    }

    /// Notes what is known of the first result of an operation.
    pub fn note(&mut self, var: Var, op: &Op<AdOp>) {
        let shape = match op {
            Op::Copy(a) | Op::SpaceNeg(a) | Op::SpaceScale(_, a) | Op::SpaceAdd(a, _) | Op::StopGradient(a) => {
                self.of(a)
            }
            Op::Densify { tan, .. } => self.of(tan),
            Op::Attach { f, .. } => match self.of(f) {
                Shape::Code(code) => Shape::Attached(code),
                other => other,
            },
            Op::Closure { code, .. } => Shape::Code(*code),
            Op::TanClosure { code, .. } => Shape::Tangent(*code),
            Op::Tuple(items) => {
                let parts: Vec<Shape> = items.iter().map(|a| self.of(a)).collect();
                match parts.iter().all(|s| *s == Shape::Unknown) {
                    true => Shape::Unknown,
                    false => Shape::Tuple(parts),
                }
            }
            Op::Proj(a, i) => match self.of(a) {
                Shape::Tuple(parts) => parts.into_iter().nth(*i as usize).unwrap_or(Shape::Unknown),
                _ => Shape::Unknown,
            },
            Op::Array(items) => match items.first().map(|a| self.of(a)) {
                Some(first) if first != Shape::Unknown && items.iter().all(|a| self.of(a) == first) => {
                    Shape::Array(Box::new(first))
                }
                _ => Shape::Unknown,
            },
            Op::Build { body, .. } => match body.results.first().map(|a| self.of(a)) {
                Some(elem) if elem != Shape::Unknown => Shape::Array(Box::new(elem)),
                _ => Shape::Unknown,
            },
            Op::Index { array, .. } => match self.of(array) {
                Shape::Array(elem) => *elem,
                _ => Shape::Unknown,
            },
            Op::TanPart { step: Step::Capture { .. }, .. } => Shape::Unknown,
            Op::ZeroLike(a) => self.tangent(a),
            Op::Ad(AdOp::Pullback { f, .. }) => match self.of(f) {
                Shape::Code(code) | Shape::Attached(code) => Shape::Tuple(vec![Shape::Unknown, Shape::Pullback(code)]),
                _ => Shape::Unknown,
            },
            Op::Dispatch { on, path, .. } if path.is_empty() => match self.of(on) {
                Shape::Pullback(code) => Shape::Tuple(vec![Shape::Tangent(code), Shape::Unknown]),
                _ => Shape::Unknown,
            },
            Op::If { then, otherwise, .. } => match (&then.results[..], &otherwise.results[..]) {
                ([a, ..], [b, ..]) if self.of(a) == self.of(b) => self.of(a),
                _ => Shape::Unknown,
            },
            _ => Shape::Unknown,
        };
        self.set(var, shape);
    }

    fn tangent(&self, atom: &Atom) -> Shape {
        match self.of(atom) {
            Shape::Code(code) | Shape::Attached(code) => Shape::Tangent(code),
            _ => Shape::Unknown,
        }
    }
}
