//! Terms as they are written.
//!
//! In: nothing (data only). Out: [`Term`], what the parser writes, the printer shows and A-normal form starts from.

use cotan_source::Span;
use std::rc::Rc;

/// A name.
pub type Name = Rc<str>;

/// A term and its place.
#[derive(Clone, Debug)]
pub struct Term {
    /// What it is.
    pub kind: Kind,
    /// Where it stands.
    pub span: Span,
}

/// Kinds of terms.
#[derive(Clone, Debug)]
pub enum Kind {
    /// A variable, or a primitive where no variable of the name is in scope.
    Name(Name),
    /// A real number.
    Real(f64),
    /// `\p. e`
    Lambda(Pattern, Box<Term>),
    /// `f x`
    Apply(Box<Term>, Box<Term>),
    /// `let p = e in` ... `in body`: a chain of bindings is one term, however long.
    Let(Vec<(Pattern, Term)>, Box<Term>),
    /// `(a, b)`
    Pair(Box<Term>, Box<Term>),
    /// `[a, b, c]`: pairs that end in `[]`.
    List(Vec<Term>),
    /// `if c then a else b`
    If(Box<Term>, Box<Term>, Box<Term>),
    /// `a + b`
    Infix(Infix, Box<Term>, Box<Term>),
    /// `-a`, where `a` is no number without a sign: the minus before a number is part of it.
    Minus(Box<Term>),
}

/// What a lambda or a `let` binds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// A variable.
    Name(Name),
    /// Nothing: `_`.
    Any,
    /// The components of a pair.
    Pair(Box<Pattern>, Box<Pattern>),
    /// `J p`: binds `p` to `Jinv` of the argument.
    Reverse(Box<Pattern>),
}

/// Infix operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Infix {
    /// A scalar primitive of two reals.
    Scalar(cotan_prim::Prim),
    /// `a && b`, which is `if a then b else false`.
    And,
    /// `a || b`, which is `if a then true else b`.
    Or,
}

impl Infix {
    /// All of them, with their spelling and how tightly they bind (higher is tighter).
    pub const ALL: [(Infix, &'static str, u8); 12] = {
        use cotan_prim::Prim;
        [
            (Infix::Or, "||", 1),
            (Infix::And, "&&", 2),
            (Infix::Scalar(Prim::Eq), "==", 3),
            (Infix::Scalar(Prim::Ne), "!=", 3),
            (Infix::Scalar(Prim::Le), "<=", 3),
            (Infix::Scalar(Prim::Ge), ">=", 3),
            (Infix::Scalar(Prim::Lt), "<", 3),
            (Infix::Scalar(Prim::Gt), ">", 3),
            (Infix::Scalar(Prim::Add), "+", 4),
            (Infix::Scalar(Prim::Sub), "-", 4),
            (Infix::Scalar(Prim::Mul), "*", 5),
            (Infix::Scalar(Prim::Div), "/", 5),
        ]
    };

    /// The spelling and the tightness.
    pub fn row(self) -> (&'static str, u8) {
        let row = Infix::ALL.iter().find(|row| row.0 == self);
        row.map_or(("?", 0), |row| (row.1, row.2))
    }
}

impl Term {
    /// A term at a place.
    pub fn new(kind: Kind, span: Span) -> Self {
        Term { kind, span }
    }

    /// `f x`
    pub fn apply(f: Term, x: Term) -> Self {
        let span = f.span.to(x.span);
        Term::new(Kind::Apply(Box::new(f), Box::new(x)), span)
    }

    /// A variable or primitive.
    pub fn name(name: &str, span: Span) -> Self {
        Term::new(Kind::Name(name.into()), span)
    }

    /// `\p. body`
    pub fn lambda(p: Pattern, body: Term) -> Self {
        let span = body.span;
        Term::new(Kind::Lambda(p, Box::new(body)), span)
    }

    /// `if c then a else b` without `if`: truth is `\x. \y. x`, falsity `\x. \y. y`, and the side that is not chosen stays
    /// behind a lambda.
    pub fn choice(c: Term, a: Term, b: Term, span: Span) -> Self {
        let nil = Term::new(Kind::List(Vec::new()), span);
        Term::apply(Term::apply(Term::apply(c, Term::lambda(Pattern::Any, a)), Term::lambda(Pattern::Any, b)), nil)
    }
}

impl PartialEq for Term {
    /// Equality of what was written, wherever it stands; numbers are compared by their bits.
    fn eq(&self, other: &Self) -> bool {
        match (&self.kind, &other.kind) {
            (Kind::Name(a), Kind::Name(b)) => a == b,
            (Kind::Real(a), Kind::Real(b)) => a.to_bits() == b.to_bits(),
            (Kind::Lambda(p, a), Kind::Lambda(q, b)) => p == q && a == b,
            (Kind::Apply(f, x), Kind::Apply(g, y)) => f == g && x == y,
            (Kind::Let(bs, a), Kind::Let(cs, b)) => bs == cs && a == b,
            (Kind::Pair(a, b), Kind::Pair(c, d)) => a == c && b == d,
            (Kind::List(a), Kind::List(b)) => a == b,
            (Kind::If(a, b, c), Kind::If(d, e, f)) => a == d && b == e && c == f,
            (Kind::Infix(o, a, b), Kind::Infix(p, c, d)) => o == p && a == c && b == d,
            (Kind::Minus(a), Kind::Minus(b)) => a == b,
            _ => false,
        }
    }
}
