//! The printer: terms to text that parses to the same term.
//!
//! In: a [`Term`]. Out: one line of text, with no more parentheses than the parser needs.

use crate::term::{Infix, Kind, Pattern, Term};
use std::fmt;

/// How tightly the place binds in which a term is printed.
mod place {
    /// Anything may stand here.
    pub const TERM: u8 = 0;
    /// The tightest infix operators; unary minus is above them.
    pub const UNARY: u8 = 6;
    /// The function of an application.
    pub const FUNCTION: u8 = 7;
    /// The argument of an application.
    pub const ATOM: u8 = 8;
}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_term(f, self, place::TERM)
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Pattern::Name(name) => f.write_str(name),
            Pattern::Any => f.write_str("_"),
            Pattern::Pair(a, b) => write!(f, "({a}, {b})"),
            Pattern::Reverse(p) => write!(f, "(J {p})"),
        }
    }
}

fn write_term(f: &mut fmt::Formatter<'_>, term: &Term, least: u8) -> fmt::Result {
    let tight = match &term.kind {
        Kind::Lambda(..) | Kind::Let(..) | Kind::If(..) => place::TERM,
        Kind::Infix(op, ..) => op.row().1,
        Kind::Minus(_) => place::UNARY,
        Kind::Real(r) if r.is_sign_negative() => place::UNARY,
        Kind::Apply(..) => place::FUNCTION,
        Kind::Name(_) | Kind::Real(_) | Kind::Pair(..) | Kind::List(_) => place::ATOM,
    };
    if tight < least {
        f.write_str("(")?;
    }
    match &term.kind {
        Kind::Name(name) => f.write_str(name)?,
        Kind::Real(r) => write!(f, "{}", real(*r))?,
        Kind::Lambda(p, body) => {
            write!(f, "\\{p}. ")?;
            write_term(f, body, place::TERM)?;
        }
        Kind::Apply(function, argument) => {
            write_term(f, function, place::FUNCTION)?;
            f.write_str(" ")?;
            write_term(f, argument, place::ATOM)?;
        }
        Kind::Let(bindings, body) => {
            for (p, value) in bindings {
                write!(f, "let {p} = ")?;
                write_term(f, value, place::TERM)?;
                f.write_str(" in ")?;
            }
            // A chain of bindings is one term: what is a term of its own keeps its parentheses.
            let inner = if matches!(body.kind, Kind::Let(..)) { place::ATOM } else { place::TERM };
            write_term(f, body, inner)?;
        }
        Kind::Pair(a, b) => {
            f.write_str("(")?;
            write_term(f, a, place::TERM)?;
            f.write_str(", ")?;
            write_term(f, b, place::TERM)?;
            f.write_str(")")?;
        }
        Kind::List(items) => {
            f.write_str("[")?;
            for (i, item) in items.iter().enumerate() {
                f.write_str(if i == 0 { "" } else { ", " })?;
                write_term(f, item, place::TERM)?;
            }
            f.write_str("]")?;
        }
        Kind::If(c, a, b) => {
            f.write_str("if ")?;
            write_term(f, c, place::TERM)?;
            f.write_str(" then ")?;
            write_term(f, a, place::TERM)?;
            f.write_str(" else ")?;
            write_term(f, b, place::TERM)?;
        }
        Kind::Infix(op, a, b) => {
            let (text, tight) = Infix::row(*op);
            write_term(f, a, tight)?;
            write!(f, " {text} ")?;
            write_term(f, b, tight + 1)?;
        }
        Kind::Minus(a) => {
            f.write_str("-")?;
            write_term(f, a, place::UNARY)?;
        }
    }
    if tight < least {
        f.write_str(")")?;
    }
    Ok(())
}

/// A number so that it reads back to the same bits.
pub fn real(r: f64) -> String {
    let text = format!("{r:?}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_string)
}
