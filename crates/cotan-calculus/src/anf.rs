//! A-normal form: terms to lambdas.
//!
//! In: a [`Term`]. Out: a [`Lambda`] whose parameter is never used, or `E0902` where a variable is bound nowhere. Newly true:
//! every subterm has a name; a lambda captures its free variables and no more, in the fixed total order, which is that of their
//! names as text. Sugar is gone: `if` is an application of a truth value, an operator that of a primitive to a pair, a list is
//! made of pairs, a pattern of projections.

use crate::lambda::{Binding, Constant, Lambda, Part, Rhs, Slot};
use crate::primitive::Primitive;
use crate::term::{Infix, Kind, Name, Pattern, Term};
use cotan_source::{Diagnostic, Span};
use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::rc::Rc;

type Converted<T> = Result<T, Box<Diagnostic>>;

/// A term as the body of a lambda whose parameter it does not use.
///
/// # Errors
/// `E0902`: a variable is bound nowhere and is not the name of a primitive.
pub fn convert(term: &Term) -> Converted<Rc<Lambda>> {
    lambda(&Pattern::Any, term, &[])
}

/// `\pattern. body` where the variables `outer` are in scope.
fn lambda(pattern: &Pattern, body: &Term, outer: &[(Name, Slot)]) -> Converted<Rc<Lambda>> {
    let mut free = BTreeSet::new();
    free_variables(body, &mut bound_by(pattern), &mut free);
    // Names that are not in scope are those of primitives, or mistakes.
    let captures: Vec<Name> = free.into_iter().filter(|n| outer.iter().any(|(o, _)| o == n)).collect();
    let mut level = 0;
    let mut inner = pattern;
    while let Pattern::Reverse(p) = inner {
        level += 1;
        inner = p;
    }
    let mut builder = Builder { names: captures.clone(), bindings: Vec::new(), scope: Vec::new() };
    for (i, name) in captures.iter().enumerate() {
        builder.scope.push((name.clone(), i as Slot));
    }
    let param = builder.names.len() as Slot;
    builder.names.push(parameter_name(pattern));
    builder.bind(pattern, param, body.span);
    let result = builder.term(body, None)?;
    if builder.bindings.is_empty() || result as usize != builder.names.len() - 1 {
        builder.push("r", Rhs::Var(result), body.span);
    }
    Ok(Rc::new(Lambda {
        names: builder.names,
        captures: captures.len(),
        level,
        bindings: builder.bindings,
        transformed: OnceCell::new(),
    }))
}

/// The parameter is called what the pattern calls it.
fn parameter_name(pattern: &Pattern) -> Name {
    match pattern {
        Pattern::Name(name) => name.clone(),
        Pattern::Any => "_".into(),
        Pattern::Pair(..) => "p".into(),
        Pattern::Reverse(inner) => format!("{}^", parameter_name(inner)).into(),
    }
}

/// The variables that a pattern binds.
fn bound_by(pattern: &Pattern) -> Vec<Name> {
    match pattern {
        Pattern::Name(name) => vec![name.clone()],
        Pattern::Any => Vec::new(),
        Pattern::Pair(a, b) => [bound_by(a), bound_by(b)].concat(),
        Pattern::Reverse(p) => bound_by(p),
    }
}

/// The names that occur in `term` and are not in `bound`, added to `free`.
fn free_variables(term: &Term, bound: &mut Vec<Name>, free: &mut BTreeSet<Name>) {
    let mut go = |t: &Term, bound: &mut Vec<Name>| deeper(|| free_variables(t, bound, free));
    let before = bound.len();
    match &term.kind {
        Kind::Name(name) => {
            if !bound.contains(name) {
                free.insert(name.clone());
            }
        }
        Kind::Real(_) => {}
        Kind::Lambda(p, body) => {
            bound.extend(bound_by(p));
            go(body, bound);
        }
        Kind::Let(bindings, body) => {
            for (p, value) in bindings {
                go(value, bound);
                bound.extend(bound_by(p));
            }
            go(body, bound);
        }
        Kind::Apply(a, b) | Kind::Pair(a, b) | Kind::Infix(_, a, b) => {
            go(a, bound);
            go(b, bound);
        }
        Kind::List(items) => items.iter().for_each(|t| go(t, bound)),
        Kind::If(a, b, c) => [a, b, c].into_iter().for_each(|t| go(t, bound)),
        Kind::Minus(a) => go(a, bound),
    }
    bound.truncate(before);
}

fn deeper<T>(f: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(64 * 1024, 1024 * 1024, f)
}

/// The bindings of one lambda so far.
struct Builder {
    names: Vec<Name>,
    bindings: Vec<Binding>,
    /// Variables in scope, innermost last.
    scope: Vec<(Name, Slot)>,
}

impl Builder {
    fn push(&mut self, name: impl Into<Name>, rhs: Rhs, span: Span) -> Slot {
        let slot = self.names.len() as Slot;
        self.names.push(name.into());
        self.bindings.push(Binding { rhs, span });
        slot
    }

    /// A name for what has none.
    fn fresh(&self) -> String {
        format!("t{}", self.bindings.len() + 1)
    }

    fn unnamed(&mut self, rhs: Rhs, span: Span) -> Slot {
        self.push(self.fresh(), rhs, span)
    }

    /// Brings the variables of a pattern into scope.
    fn bind(&mut self, pattern: &Pattern, value: Slot, span: Span) {
        match pattern {
            Pattern::Name(name) => self.scope.push((name.clone(), value)),
            Pattern::Any => {}
            Pattern::Pair(a, b) => {
                let first = self.push(self.pattern_name(a), Rhs::Part(0, Part::First, value), span);
                self.bind(a, first, span);
                let second = self.push(self.pattern_name(b), Rhs::Part(0, Part::Second, value), span);
                self.bind(b, second, span);
            }
            Pattern::Reverse(p) => {
                let inner = self.push(self.pattern_name(p), Rhs::Primitive(0, Primitive::Jinv, value), span);
                self.bind(p, inner, span);
            }
        }
    }

    fn pattern_name(&self, pattern: &Pattern) -> String {
        match pattern {
            Pattern::Name(name) => name.to_string(),
            _ => self.fresh(),
        }
    }

    /// The variable that holds the value of `term`, called `name` if it is bound here.
    fn term(&mut self, term: &Term, name: Option<&str>) -> Converted<Slot> {
        deeper(|| self.term_here(term, name))
    }

    fn term_here(&mut self, term: &Term, name: Option<&str>) -> Converted<Slot> {
        let span = term.span;
        let rhs = match &term.kind {
            Kind::Name(text) => match self.scope.iter().rev().find(|(n, _)| n == text) {
                Some((_, slot)) if name.is_none() => return Ok(*slot),
                Some((_, slot)) => Rhs::Var(*slot),
                None => Rhs::Constant(0, constant(text, span)?),
            },
            Kind::Real(r) => Rhs::Constant(0, Constant::Real(*r)),
            Kind::Lambda(p, body) => {
                let inner = lambda(p, body, &self.scope)?;
                let captured = inner.names[..inner.captures].iter().map(|n| self.lookup(n)).collect();
                Rhs::Lambda(0, inner, captured)
            }
            Kind::Apply(f, x) => {
                if let Some(t) = self.primitive(f) {
                    let x = self.term(x, None)?;
                    Rhs::Primitive(0, t, x)
                } else {
                    let f = self.term(f, None)?;
                    let x = self.term(x, None)?;
                    Rhs::Apply(f, x)
                }
            }
            Kind::Let(bindings, body) => {
                let before = self.scope.len();
                for (p, value) in bindings {
                    let name = if let Pattern::Name(name) = p { Some(&**name) } else { None };
                    let slot = self.term(value, name)?;
                    self.bind(p, slot, value.span);
                }
                let result = self.term(body, name)?;
                self.scope.truncate(before);
                return Ok(result);
            }
            Kind::Pair(a, b) => {
                let a = self.term(a, None)?;
                let b = self.term(b, None)?;
                Rhs::Pair(0, a, b)
            }
            Kind::List(items) => {
                let slots = items.iter().map(|t| self.term(t, None)).collect::<Converted<Vec<_>>>()?;
                let mut rhs = Rhs::Constant(0, Constant::Nil);
                for slot in slots.into_iter().rev() {
                    let rest = self.unnamed(rhs, span);
                    rhs = Rhs::Pair(0, slot, rest);
                }
                rhs
            }
            Kind::If(c, a, b) => {
                let choice = Term::choice((**c).clone(), (**a).clone(), (**b).clone(), span);
                return self.term(&choice, name);
            }
            Kind::Infix(op, a, b) => match op {
                Infix::Scalar(prim) => {
                    let a = self.term(a, None)?;
                    let b = self.term(b, None)?;
                    let pair = self.unnamed(Rhs::Pair(0, a, b), span);
                    Rhs::Primitive(0, Primitive::Scalar(*prim), pair)
                }
                Infix::And | Infix::Or => {
                    let (a, b) = ((**a).clone(), (**b).clone());
                    let choice = match op {
                        Infix::And => Term::choice(a, b, truth(false, span), span),
                        _ => Term::choice(a, truth(true, span), b, span),
                    };
                    return self.term(&choice, name);
                }
            },
            Kind::Minus(a) => {
                let a = self.term(a, None)?;
                Rhs::Primitive(0, Primitive::Scalar(cotan_prim::Prim::Neg), a)
            }
        };
        Ok(match name {
            Some(name) => self.push(name, rhs, span),
            None => self.unnamed(rhs, span),
        })
    }

    /// The primitive that `f` names, unless a variable of the name is in scope.
    fn primitive(&self, f: &Term) -> Option<Primitive> {
        match &f.kind {
            Kind::Name(text) if !self.scope.iter().any(|(n, _)| n == text) => Primitive::from_name(text),
            _ => None,
        }
    }

    /// The innermost variable of a name that is in scope.
    fn lookup(&self, name: &Name) -> Slot {
        self.scope.iter().rev().find(|(n, _)| n == name).map_or(0, |(_, slot)| *slot)
    }
}

fn truth(value: bool, span: Span) -> Term {
    Term::name(if value { "true" } else { "false" }, span)
}

/// What a name means in the initial environment.
fn constant(text: &str, span: Span) -> Converted<Constant> {
    match text {
        "true" => Ok(Constant::Truth(true)),
        "false" => Ok(Constant::Truth(false)),
        _ => Primitive::from_name(text).map(Constant::Primitive).ok_or_else(|| {
            let message = format!("the term is open: `{text}` is bound nowhere");
            let mut error = Diagnostic::error("E0902", span, message).at("a free variable");
            error = error.note("rule: F(e) = {} for a program; a variable is bound by `\\x. e` or `let x = e in e`");
            if let Some(near) = Primitive::nearest(text) {
                error = error.hint(format!("did you mean the primitive `{near}`?"));
            }
            Box::new(error)
        }),
    }
}
