//! The table as a document.
//!
//! In: the table. Out: the text of `docs/derivative-table.md`, where formulas are written as in Cotan.

use crate::{ArgKind, Class, Partial, Prim, ResultKind, Term};

const HEAD: &str = "# Primitives and their slopes

Generated from the table in the crate `cotan-prim`; a test compares it, and `COTAN_BLESS=1 cargo test -p cotan-prim` writes it anew.

`x`, `y`, `z` are the operands, `r` is the value. `T` is the operands' common type: a *real* is `Float` or `Float32`, a *num* may
also be `Int`, *any* may also be `Bool`. A slope in an integer or a truth value does not exist and is left out. In formulas,
`if c { a } else { b }` chooses between two values, and `amul(a, b)` is `a * b`, but 0 where `a` is 0.

A slope marked `*` can be infinite or NaN at a finite point. There a cotangent or tangent that is exactly 0 contributes exactly 0.
Formulas consist of primitives, so higher derivatives follow from the same table.

| name | operands | value | slopes | at the edges |
|---|---|---|---|---|
";

/// The page that lists every primitive with its slopes.
pub fn derivative_table() -> String {
    let mut page = String::from(HEAD);
    for &prim in Prim::ALL {
        let cells = [format!("`{}`", prim.name()), signature(prim), prim.meaning().into(), slopes(prim), edges(prim)];
        page.push_str(&format!("| {} |\n", cells.join(" | ")));
    }
    page
}

fn edges(prim: Prim) -> String {
    // A table cell of its own for "nothing to say" reads better than an empty one.
    if prim.edges().is_empty() { "-".into() } else { prim.edges().into() }
}

fn signature(prim: Prim) -> String {
    let args: Vec<_> = prim
        .args()
        .iter()
        .map(|arg| match arg {
            ArgKind::T => class_name(prim.class()),
            ArgKind::Int => "Int",
            ArgKind::Bool => "Bool",
        })
        .collect();
    let result = match prim.result() {
        ResultKind::T => "T",
        ResultKind::Int => "Int",
        ResultKind::Bool => "Bool",
        ResultKind::F64 => "Float",
        ResultKind::F32 => "Float32",
    };
    format!("{} -> {result}", args.join(", "))
}

fn class_name(class: Class) -> &'static str {
    match class {
        Class::Real => "real",
        Class::Num => "num",
        Class::Any | Class::Fixed => "any",
    }
}

fn slopes(prim: Prim) -> String {
    let differentiable = matches!(prim.result(), ResultKind::T | ResultKind::F64 | ResultKind::F32);
    let slopes: Vec<_> = prim
        .args()
        .iter()
        .enumerate()
        .filter(|(_, kind)| differentiable && **kind == ArgKind::T)
        .map(|(arg, _)| format!("in `{}`: {}", operand(arg), slope(&prim.partial(arg))))
        .collect();
    if slopes.is_empty() { "none".into() } else { slopes.join("<br>") }
}

fn slope(partial: &Partial) -> String {
    match partial {
        Partial::Zero => "`0`".into(),
        Partial::One => "`1`".into(),
        Partial::MinusOne => "`-1`".into(),
        Partial::Formula { term, may_be_non_finite } => {
            format!("`{}`{}", write_term(term).0, if *may_be_non_finite { " *" } else { "" })
        }
    }
}

fn operand(arg: usize) -> &'static str {
    ["x", "y", "z"][arg]
}

/// How tightly a piece of text binds; an operand that binds less than its place is put in parentheses.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Tie {
    Choice,
    And,
    Compare,
    Sum,
    Product,
    Minus,
    Power,
    Atom,
}

fn write_term(term: &Term) -> (String, Tie) {
    match term {
        Term::Arg(i) => (operand(*i).into(), Tie::Atom),
        Term::Result => ("r".into(), Tie::Atom),
        Term::Const(c) => (format!("{c:?}"), if *c < 0.0 { Tie::Minus } else { Tie::Atom }),
        Term::Int(i) => (i.to_string(), if *i < 0 { Tie::Minus } else { Tie::Atom }),
        Term::Op(prim, parts) => write_op(*prim, parts),
    }
}

fn write_op(prim: Prim, parts: &[Term]) -> (String, Tie) {
    let (sign, tie, left, right) = match prim {
        Prim::Add => ("+", Tie::Sum, Tie::Sum, Tie::Product),
        Prim::Sub => ("-", Tie::Sum, Tie::Sum, Tie::Product),
        Prim::Mul | Prim::IMul => ("*", Tie::Product, Tie::Product, Tie::Minus),
        Prim::Div => ("/", Tie::Product, Tie::Product, Tie::Minus),
        Prim::Pow | Prim::PowI => ("**", Tie::Power, Tie::Atom, Tie::Minus),
        Prim::And => ("&&", Tie::And, Tie::And, Tie::Compare),
        Prim::Eq => ("==", Tie::Compare, Tie::Sum, Tie::Sum),
        Prim::Lt => ("<", Tie::Compare, Tie::Sum, Tie::Sum),
        Prim::Le => ("<=", Tie::Compare, Tie::Sum, Tie::Sum),
        Prim::Gt => (">", Tie::Compare, Tie::Sum, Tie::Sum),
        Prim::Neg => return (format!("-{}", at_least(&parts[0], Tie::Minus)), Tie::Minus),
        Prim::Select => {
            let [c, yes, no] = [0, 1, 2].map(|i| write_term(&parts[i]).0);
            let chained = matches!(parts[2], Term::Op(Prim::Select, _));
            let no = if chained { no } else { format!("{{ {no} }}") };
            return (format!("if {c} {{ {yes} }} else {no}"), Tie::Choice);
        }
        _ => {
            let parts: Vec<_> = parts.iter().map(|part| write_term(part).0).collect();
            return (format!("{}({})", prim.name(), parts.join(", ")), Tie::Atom);
        }
    };
    (format!("{} {sign} {}", at_least(&parts[0], left), at_least(&parts[1], right)), tie)
}

fn at_least(term: &Term, place: Tie) -> String {
    let (text, tie) = write_term(term);
    if tie < place { format!("({text})") } else { text }
}
