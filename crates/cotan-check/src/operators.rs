//! What an operator means for its operand types.
//!
//! In: an operator and two types. Out: the type of the result, or the variables to wait for. Newly true:
//! the operands are two scalars, arrays, a scalar and an array, or elements of one tangent space.

use crate::constraints::Deferred;
use crate::context::Checker;
use crate::types::{Bits, Literal, Node, T, Var};
use cotan_core::BinaryOp;
use cotan_source::{Diagnostic, Span};

/// Whether an operator's meaning is known.
pub enum Decision {
    Done(T),
    Wait(Vec<Var>),
}

/// What kind of operand a type is.
#[derive(Clone, Copy)]
enum Shape {
    Error,
    Scalar,
    Array(T),
    /// A tangent space that is neither a scalar nor an array.
    Space,
    /// A parameter of which nothing is known.
    Bare,
    Str,
    Unknown(Var),
    Other,
}

impl Checker<'_> {
    /// The result type of `left op right`, deferred if need be. Spans: the whole, left, right.
    pub fn binary_type(&mut self, op: BinaryOp, left: T, right: T, spans: (Span, Span, Span)) -> T {
        match self.decide_binary(op, left, right, None, false, spans) {
            Decision::Done(t) => t,
            Decision::Wait(mut vars) => {
                let result = self.known_result(op, left, right).unwrap_or_else(|| self.types.fresh(spans.0));
                vars.extend(self.types.var_of(result));
                let (span, left_span, right_span) = spans;
                self.types.defer(Deferred::Binary { op, left, right, result, span, left_span, right_span }, &vars);
                result
            }
        }
    }

    /// A result that is known before both operands are: an array stays an array.
    fn known_result(&self, op: BinaryOp, left: T, right: T) -> Option<T> {
        match op {
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div => {
                match (self.shape(left), self.shape(right)) {
                    (Shape::Array(_), _) => Some(left),
                    (_, Shape::Array(_)) => Some(right),
                    _ => None,
                }
            }
            BinaryOp::Pow => Some(left),
            _ => None,
        }
    }

    fn shape(&self, t: T) -> Shape {
        match self.types.node(t) {
            Node::Error => Shape::Error,
            Node::Float | Node::Float32 | Node::Int => Shape::Scalar,
            Node::Str => Shape::Str,
            Node::Array(elem) => {
                let mut elem = *elem;
                while let Node::Array(inner) = self.types.node(elem) {
                    elem = *inner;
                }
                Shape::Array(self.types.resolve(elem))
            }
            Node::Param(p) => {
                let bits = self.types.params[p.0 as usize].bits;
                if bits.has(Bits::NUM) {
                    Shape::Scalar
                } else if bits.has(Bits::SPACE) {
                    Shape::Space
                } else {
                    Shape::Bare
                }
            }
            Node::Tuple(_) | Node::Adt(..) | Node::Tangent(_) => Shape::Space,
            Node::Var(v) => {
                if self.types.var(*v).bits.has(Bits::NUM) {
                    Shape::Scalar
                } else {
                    Shape::Unknown(*v)
                }
            }
            Node::Bool | Node::Fn(..) => Shape::Other,
        }
    }

    /// Decides an operator; `force` makes both sides equal where nothing else is known.
    pub fn decide_binary(
        &mut self,
        op: BinaryOp,
        left: T,
        right: T,
        result: Option<T>,
        force: bool,
        spans: (Span, Span, Span),
    ) -> Decision {
        let l = self.shape(left);
        let r = self.shape(right);
        if matches!(l, Shape::Error) || matches!(r, Shape::Error) {
            let done = match op {
                BinaryOp::Add
                | BinaryOp::Sub
                | BinaryOp::Mul
                | BinaryOp::Div
                | BinaryOp::Rem
                | BinaryOp::Pow
                | BinaryOp::MatMul => T::ERROR,
                _ => T::BOOL,
            };
            return Decision::Done(done);
        }
        match op {
            BinaryOp::Add | BinaryOp::Sub => self.decide_sum(op, (left, l), (right, r), result, force, spans),
            BinaryOp::Mul | BinaryOp::Div => self.decide_product(op, (left, l), (right, r), result, force, spans),
            BinaryOp::Rem => {
                let ok = self.numbers(left, right);
                self.done(op, ok, left, (left, right), spans)
            }
            BinaryOp::Pow => self.decide_power((left, l), (right, r), force, spans),
            BinaryOp::MatMul => self.decide_matmul(left, right, force, spans),
            BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => {
                let ok = self.numbers(left, right);
                self.done(op, ok, T::BOOL, (left, right), spans)
            }
            BinaryOp::Eq | BinaryOp::Ne => {
                let ok = self.types.unify(left, right).is_ok();
                self.body.equalities.push((left, spans.0));
                self.done(op, ok, T::BOOL, (left, right), spans)
            }
            BinaryOp::And | BinaryOp::Or => {
                let ok = self.types.unify(left, T::BOOL).is_ok() && self.types.unify(right, T::BOOL).is_ok();
                self.done(op, ok, T::BOOL, (left, right), spans)
            }
        }
    }

    fn numbers(&mut self, left: T, right: T) -> bool {
        self.types.unify(left, right).is_ok() && self.types.require(left, Bits::NUM).is_ok()
    }

    fn done(&mut self, op: BinaryOp, ok: bool, t: T, operands: (T, T), spans: (Span, Span, Span)) -> Decision {
        if ok {
            return Decision::Done(t);
        }
        let (left, right) = operands;
        let error = |c: &Self, t: T| matches!(c.types.node(t), Node::Error);
        if !(error(self, left) || error(self, right)) {
            let (shown_left, shown_right) = (self.types.show(left), self.types.show(right));
            let mut d = Diagnostic::error(
                "E0203",
                spans.0,
                format!("`{}` cannot be applied to `{shown_left}` and `{shown_right}`", op.symbol()),
            )
            .label(spans.1, format!("this is `{shown_left}`"))
            .label(spans.2, format!("this is `{shown_right}`"));
            if let Some(hint) = self.operator_hint(op, left, right) {
                d = d.hint(hint);
            }
            self.report(d);
        }
        Decision::Done(match op {
            BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => T::BOOL,
            BinaryOp::And | BinaryOp::Or => T::BOOL,
            _ => T::ERROR,
        })
    }

    fn operator_hint(&self, op: BinaryOp, left: T, right: T) -> Option<&'static str> {
        let l = self.types.node(left);
        let r = self.types.node(right);
        let float = |n: &Node| matches!(n, Node::Float | Node::Float32);
        match (op, l, r) {
            (BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem, Node::Int, other)
            | (BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem, other, Node::Int)
                if float(other) =>
            {
                Some("numbers are never converted silently: use `float(..)` on the `Int`")
            }
            (
                BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge | BinaryOp::Eq | BinaryOp::Ne,
                Node::Int,
                other,
            )
            | (
                BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge | BinaryOp::Eq | BinaryOp::Ne,
                other,
                Node::Int,
            ) if float(other) => Some("numbers are never converted silently: use `float(..)` on the `Int`"),
            (BinaryOp::Pow, Node::Array(_), _) => Some("powers are of numbers: write `[x ** p for x in xs]`"),
            (BinaryOp::MatMul, Node::Array(_), Node::Array(_)) => {
                Some("use `dot(u, v)` for the product of two vectors")
            }
            (BinaryOp::Add, Node::Str, _) | (BinaryOp::Add, _, Node::Str) => {
                Some("use `str(x)` to make a text of a value")
            }
            (BinaryOp::Add, Node::Array(_), Node::Array(_)) => Some("use `concat(xs, ys)` to join arrays"),
            _ => None,
        }
    }

    fn decide_sum(
        &mut self,
        op: BinaryOp,
        (left, l): (T, Shape),
        (right, r): (T, Shape),
        result: Option<T>,
        force: bool,
        spans: (Span, Span, Span),
    ) -> Decision {
        let both = (left, right);
        match (l, r) {
            (Shape::Scalar, Shape::Scalar) => {
                let ok = self.types.unify(left, right).is_ok();
                self.done(op, ok, left, both, spans)
            }
            (Shape::Str, Shape::Str | Shape::Unknown(_)) | (Shape::Unknown(_), Shape::Str) if op == BinaryOp::Add => {
                let ok = self.types.unify(left, right).is_ok();
                self.done(op, ok, T::STR, both, spans)
            }
            (Shape::Array(elem), Shape::Array(_)) => {
                let ok = self.types.unify(left, right).is_ok();
                if ok {
                    self.additive(elem, spans.0, op.symbol());
                }
                self.done(op, ok, left, both, spans)
            }
            (Shape::Scalar, Shape::Array(elem)) => self.broadcast(op, left, elem, right, both, force, spans),
            (Shape::Array(elem), Shape::Scalar) => self.broadcast(op, right, elem, left, both, force, spans),
            (Shape::Space | Shape::Bare, Shape::Space | Shape::Bare | Shape::Unknown(_))
            | (Shape::Unknown(_), Shape::Space | Shape::Bare) => {
                let mut ok = self.types.unify(left, right).is_ok();
                if ok {
                    let bits = if matches!(self.shape(left), Shape::Bare) { Bits::NUM } else { Bits::SPACE };
                    ok = matches!(self.shape(left), Shape::Scalar) || self.types.require(left, bits).is_ok();
                }
                self.done(op, ok, left, both, spans)
            }
            (Shape::Unknown(_) | Shape::Scalar | Shape::Array(_), Shape::Unknown(_)) | (Shape::Unknown(_), _) => {
                let scalar_result = result.is_some_and(|t| matches!(self.shape(t), Shape::Scalar));
                if force || scalar_result {
                    let ok = self.types.unify(left, right).is_ok();
                    if ok {
                        self.additive(left, spans.0, op.symbol());
                    }
                    return self.done(op, ok, left, both, spans);
                }
                self.wait(&[left, right])
            }
            // A number and a parameter without constraint: they are the same kind of number.
            (Shape::Scalar, Shape::Bare) | (Shape::Bare, Shape::Scalar) => {
                let ok = self.types.unify(left, right).is_ok();
                self.done(op, ok, left, both, spans)
            }
            _ => self.done(op, false, left, both, spans),
        }
    }

    fn additive(&mut self, t: T, span: Span, op: &'static str) {
        let id = self.types.defer(Deferred::Additive { ty: t, span, op }, &[]);
        self.attempt(id, false);
    }

    /// Unary minus.
    pub fn negated(&mut self, t: T, span: Span) {
        self.additive(t, span, "-");
    }

    fn wait(&self, operands: &[T]) -> Decision {
        let mut vars = Vec::new();
        for t in operands {
            let mut t = *t;
            while let Node::Array(elem) = self.types.node(t) {
                t = *elem;
            }
            vars.extend(self.types.var_of(t));
        }
        Decision::Wait(vars)
    }

    /// A scalar with each element of an array.
    #[expect(clippy::too_many_arguments, reason = "the parts of one operation")]
    fn broadcast(
        &mut self,
        op: BinaryOp,
        scalar: T,
        elem: T,
        array: T,
        both: (T, T),
        force: bool,
        spans: (Span, Span, Span),
    ) -> Decision {
        let scales = matches!(op, BinaryOp::Mul | BinaryOp::Div);
        let ok = match self.shape(elem) {
            Shape::Scalar | Shape::Error => self.types.unify(scalar, elem).is_ok(),
            Shape::Unknown(_) if !force => return self.wait(&[elem, scalar]),
            Shape::Unknown(_) => self.types.unify(scalar, elem).is_ok(),
            Shape::Bare => self.scale_bare(scalar, elem),
            Shape::Space if scales => {
                self.types.unify(scalar, T::FLOAT).is_ok() && self.types.require(elem, Bits::SPACE).is_ok()
            }
            Shape::Space | Shape::Array(_) | Shape::Str | Shape::Other => false,
        };
        self.done(op, ok, array, both, spans)
    }

    /// A scalar times a value of a parameter type without constraint: a number if the scalar is an `Int`
    /// literal or of that type, else an element of a space.
    fn scale_bare(&mut self, scalar: T, bare: T) -> bool {
        let int_literal = self.types.var_of(scalar).is_some_and(|v| self.types.var(v).literal == Literal::Int);
        if int_literal {
            return self.types.unify(scalar, bare).is_ok();
        }
        self.types.unify(scalar, T::FLOAT).is_ok() && self.types.require(bare, Bits::SPACE).is_ok()
    }

    fn decide_product(
        &mut self,
        op: BinaryOp,
        (left, l): (T, Shape),
        (right, r): (T, Shape),
        result: Option<T>,
        force: bool,
        spans: (Span, Span, Span),
    ) -> Decision {
        let both = (left, right);
        let times = op == BinaryOp::Mul;
        match (l, r) {
            (Shape::Scalar, Shape::Scalar) => {
                let ok = self.types.unify(left, right).is_ok();
                self.done(op, ok, left, both, spans)
            }
            (Shape::Array(elem), Shape::Array(_)) => {
                let ok = self.types.unify(left, right).is_ok() && self.types.require(elem, Bits::NUM).is_ok();
                self.done(op, ok, left, both, spans)
            }
            (Shape::Scalar, Shape::Array(elem)) => self.broadcast(op, left, elem, right, both, force, spans),
            (Shape::Array(elem), Shape::Scalar) => self.broadcast(op, right, elem, left, both, force, spans),
            (Shape::Scalar | Shape::Unknown(_), Shape::Space) if times => {
                let ok = self.types.unify(left, T::FLOAT).is_ok() && self.types.require(right, Bits::SPACE).is_ok();
                self.done(op, ok, right, both, spans)
            }
            (Shape::Space, Shape::Scalar | Shape::Unknown(_)) => {
                let ok = self.types.unify(right, T::FLOAT).is_ok() && self.types.require(left, Bits::SPACE).is_ok();
                self.done(op, ok, left, both, spans)
            }
            (Shape::Scalar, Shape::Bare) if times => {
                let ok = self.scale_bare(left, right);
                self.done(op, ok, right, both, spans)
            }
            (Shape::Bare, Shape::Scalar) => {
                let ok = self.scale_bare(right, left);
                self.done(op, ok, left, both, spans)
            }
            (Shape::Bare, Shape::Bare) => {
                let ok = self.numbers(left, right);
                self.done(op, ok, left, both, spans)
            }
            (Shape::Scalar, Shape::Unknown(v)) | (Shape::Unknown(v), Shape::Scalar) => {
                let scalar_result = result.is_some_and(|t| matches!(self.shape(t), Shape::Scalar));
                let scalar_left = matches!(l, Shape::Scalar);
                if force && self.types.var(v).bits.has(Bits::SPACE) && (times || !scalar_left) {
                    let (scalar, space) = if scalar_left { both } else { (right, left) };
                    let ok = self.types.unify(scalar, T::FLOAT).is_ok();
                    return self.done(op, ok, space, both, spans);
                }
                if force || scalar_result {
                    let ok = self.numbers(left, right);
                    return self.done(op, ok, left, both, spans);
                }
                self.wait(&[left, right])
            }
            (Shape::Unknown(_), _) | (_, Shape::Unknown(_)) => {
                if force {
                    let mut ok = self.types.unify(left, right).is_ok();
                    if ok {
                        let inner = match self.shape(left) {
                            Shape::Array(elem) => elem,
                            _ => left,
                        };
                        ok = self.types.require(inner, Bits::NUM).is_ok();
                    }
                    return self.done(op, ok, left, both, spans);
                }
                self.wait(&[left, right])
            }
            _ => self.done(op, false, left, both, spans),
        }
    }

    fn decide_power(
        &mut self,
        (left, l): (T, Shape),
        (right, r): (T, Shape),
        force: bool,
        spans: (Span, Span, Span),
    ) -> Decision {
        let both = (left, right);
        let op = BinaryOp::Pow;
        if matches!(l, Shape::Array(_) | Shape::Space | Shape::Str | Shape::Other)
            || matches!(r, Shape::Array(_) | Shape::Space | Shape::Str | Shape::Other)
        {
            return self.done(op, false, left, both, spans);
        }
        if self.types.require(left, Bits::NUM).is_err() || self.types.require(right, Bits::NUM).is_err() {
            return self.done(op, false, left, both, spans);
        }
        let exponent = self.types.resolve(right);
        let ok = match self.types.node(exponent).clone() {
            Node::Int => true,
            Node::Float | Node::Float32 | Node::Param(_) => self.types.unify(left, right).is_ok(),
            Node::Var(v) if self.types.var(v).literal == Literal::Int => self.types.unify(right, T::INT).is_ok(),
            Node::Var(v) if self.types.var(v).literal == Literal::Float => self.types.unify(left, right).is_ok(),
            _ if matches!(self.types.node(left), Node::Int) => self.types.unify(right, T::INT).is_ok(),
            _ if force => self.types.unify(left, right).is_ok(),
            _ => return self.wait(&[left, right]),
        };
        self.done(op, ok, left, both, spans)
    }

    fn decide_matmul(&mut self, left: T, right: T, force: bool, spans: (Span, Span, Span)) -> Decision {
        let op = BinaryOp::MatMul;
        let both = (left, right);
        let (Some(l), Some(r)) = (self.rank(left), self.rank(right)) else {
            return self.done(op, false, left, both, spans);
        };
        match (l, r) {
            (Rank::Known(1, x), Rank::Known(2, y)) | (Rank::Known(2, x), Rank::Known(1, y)) => {
                let ok = self.numbers(x, y);
                let t = self.types.array(x);
                self.done(op, ok, t, both, spans)
            }
            (Rank::Known(2, x), Rank::Known(2, y)) => {
                let ok = self.numbers(x, y);
                self.done(op, ok, left, both, spans)
            }
            (Rank::Known(..), Rank::Known(..)) => self.done(op, false, left, both, spans),
            _ if force => {
                let elem = self.types.fresh_bits(Bits::NUM, spans.0);
                let row = self.types.array(elem);
                let matrix = self.types.array(row);
                let known_vector = |r: &Rank| matches!(r, Rank::Known(1, _));
                let (vl, vr) = (known_vector(&l), known_vector(&r));
                let ok = self.types.unify(left, if vl { row } else { matrix }).is_ok()
                    && self.types.unify(right, if vr { row } else { matrix }).is_ok();
                self.done(op, ok, if vl || vr { row } else { matrix }, both, spans)
            }
            _ => self.wait(&[left, right]),
        }
    }

    /// Rank and element of an array of numbers; `None` if it is none of rank one or two.
    fn rank(&self, t: T) -> Option<Rank> {
        let mut rank = 0;
        let mut t = t;
        loop {
            match self.types.node(t) {
                Node::Array(elem) => {
                    rank += 1;
                    t = *elem;
                }
                Node::Var(v) if !self.types.var(*v).bits.has(Bits::NUM) => {
                    return if rank == 2 { Some(Rank::Known(2, t)) } else { Some(Rank::Unknown) };
                }
                _ => return if rank == 1 || rank == 2 { Some(Rank::Known(rank, t)) } else { None },
            }
        }
    }
}

#[derive(Clone, Copy)]
enum Rank {
    Known(u32, T),
    Unknown,
}
