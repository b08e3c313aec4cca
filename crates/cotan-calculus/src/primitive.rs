//! Primitives: their names, their values on reals, and their transforms as terms.
//!
//! In: the table of scalar operations (`cotan-prim`). Out: [`Primitive`], and for each the text of `t^`, a lambda whose parameter
//! is written `J x`. A scalar operation has its derivatives from the table, so those of the table are all that there are.

use crate::attach::Rules;
use cotan_prim::{ArgKind, Partial, Prim, ResultKind, Scalar, Term as Formula};
use std::fmt;

/// A primitive function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Primitive {
    /// A function of one real, or of a pair of reals: `u`, `b`, and the predicates `p`, `q`.
    Scalar(Prim),
    /// The first component of a pair.
    First,
    /// The second component of a pair.
    Second,
    /// Whether a value is `[]`, the end of a list.
    Null,
    /// `0`
    Zero,
    /// The conformant sum of the components of a pair.
    Plus,
    /// `J`
    J,
    /// Its inverse.
    Jinv,
    /// `attach (v1, v2)` is `v1 <-J v2`.
    Attach,
    /// `rule (v1 <-J v2)` is `v2`. Not a word of the language: the corrected `J (v1 <-J v2)` uses it.
    Rule,
    /// `unJ (v, s)`: the cotangent of `v` that a cotangent `s` of `J v` stands for. Not a word of the language.
    UnJ,
    /// `reJ (v, s)`: the cotangent of `J v` that a cotangent `s` of `v` stands for. Not a word of the language.
    ReJ,
}

/// Those that are no scalar operations, by name.
const OWN: [(&str, Primitive); 11] = [
    ("fst", Primitive::First),
    ("snd", Primitive::Second),
    ("null", Primitive::Null),
    ("zero", Primitive::Zero),
    ("plus", Primitive::Plus),
    ("J", Primitive::J),
    ("Jinv", Primitive::Jinv),
    ("attach", Primitive::Attach),
    ("%rule", Primitive::Rule),
    ("%unJ", Primitive::UnJ),
    ("%reJ", Primitive::ReJ),
];

impl Primitive {
    /// The primitive of a name. Names with `%` cannot be written by users.
    pub fn from_name(name: &str) -> Option<Primitive> {
        let own = OWN.iter().find(|row| row.0 == name).map(|row| row.1);
        own.or_else(|| Prim::from_name(name).filter(|p| is_real(*p)).map(Primitive::Scalar))
    }

    /// The name.
    pub fn name(self) -> &'static str {
        match self {
            Primitive::Scalar(prim) => prim.name(),
            _ => OWN.iter().find(|row| row.1 == self).map_or("?", |row| row.0),
        }
    }

    /// A primitive whose name is near to `text`.
    pub fn nearest(text: &str) -> Option<&'static str> {
        let words = OWN.iter().map(|row| row.0).filter(|n| !n.starts_with('%'));
        let scalars = Prim::ALL.iter().filter(|p| is_real(**p)).map(|p| p.name());
        let near = |name: &&str| cotan_source::edit_distance(text, name) <= 1 + text.len() / 4 && text.len() > 1;
        words.chain(scalars).filter(near).min_by_key(|name| cotan_source::edit_distance(text, name))
    }

    /// The text of `t^`.
    pub fn transform(self, rules: Rules) -> String {
        let back = match (self, rules) {
            (Primitive::Scalar(prim), _) => scalar_back(prim),
            (Primitive::First, _) => "(y, zero (snd x))".into(),
            (Primitive::Second, _) => "(zero (fst x), y)".into(),
            (Primitive::Zero | Primitive::Null, _) => "zero x".into(),
            (Primitive::Plus, _) => "(y, y)".into(),
            (Primitive::J, Rules::Printed) => "Jinv y".into(),
            (Primitive::Jinv, Rules::Printed) => "J y".into(),
            (Primitive::Attach, Rules::Printed) => "(y, J y)".into(),
            (Primitive::J, Rules::Corrected) => "%unJ (x, y)".into(),
            (Primitive::Jinv, Rules::Corrected) => "%reJ (Jinv x, y)".into(),
            (Primitive::Attach, Rules::Corrected) => "y".into(),
            (Primitive::Rule, _) => "(fst (zero x), y)".into(),
            (Primitive::UnJ, _) => "(zero (fst x), %reJ (fst x, y))".into(),
            (Primitive::ReJ, _) => "(zero (fst x), %unJ (fst x, y))".into(),
        };
        format!("\\(J x). (J ({} x), \\y. ([], {back}))", self.name())
    }
}

/// Whether an operation works on reals only; an integer operand or result is a real that is whole. Truth values are lambdas here,
/// not operands.
fn is_real(prim: Prim) -> bool {
    !prim.args().contains(&ArgKind::Bool) && prim.args().len() <= 2 && prim.result() != ResultKind::F32
}

/// `D u x * y`, or the pair of `D1 b x * y` and `D2 b x * y`, or `zero x` for what is constant between jumps.
fn scalar_back(prim: Prim) -> String {
    let arity = prim.args().len();
    let parts: Vec<Partial> = (0..arity).map(|i| prim.partial(i)).collect();
    // An integer has no slope, though the table answers 1 for the conversion of one.
    if prim.result() == ResultKind::Bool || parts.iter().all(|p| *p == Partial::Zero) {
        return "zero x".into();
    }
    let texts: Vec<String> = parts
        .iter()
        .map(|partial| match partial {
            Partial::Zero => "0".into(),
            Partial::One => "y".into(),
            Partial::MinusOne => "-y".into(),
            Partial::Formula { term, may_be_non_finite } => {
                let slope = formula(term, prim, arity);
                if *may_be_non_finite { format!("amul (y, {slope})") } else { format!("y * {slope}") }
            }
        })
        .collect();
    if arity == 1 { texts[0].clone() } else { format!("({}, {})", texts[0], texts[1]) }
}

/// A formula of the table as a term over `x`.
fn formula(term: &Formula, prim: Prim, arity: usize) -> String {
    let go = |t: &Formula| formula(t, prim, arity);
    match term {
        Formula::Arg(_) if arity == 1 => "x".into(),
        Formula::Arg(0) => "(fst x)".into(),
        Formula::Arg(_) => "(snd x)".into(),
        Formula::Result => format!("({} x)", prim.name()),
        Formula::Const(c) if *c < 0.0 => format!("(-{:?})", -c),
        Formula::Const(c) => format!("{c:?}"),
        Formula::Int(i) if *i < 0 => format!("(-{})", i.unsigned_abs()),
        Formula::Int(i) => i.to_string(),
        Formula::Op(Prim::Select, parts) => {
            format!("(if {} then {} else {})", go(&parts[0]), go(&parts[1]), go(&parts[2]))
        }
        Formula::Op(Prim::And, parts) => format!("({} && {})", go(&parts[0]), go(&parts[1])),
        Formula::Op(Prim::Or, parts) => format!("({} || {})", go(&parts[0]), go(&parts[1])),
        Formula::Op(Prim::Not, parts) => format!("(if {} then false else true)", go(&parts[0])),
        Formula::Op(op, parts) => match parts.as_slice() {
            [a] => format!("({} {})", op.name(), go(a)),
            [a, b] => format!("({} ({}, {}))", op.name(), go(a), go(b)),
            _ => format!("({} {})", op.name(), parts.iter().map(go).collect::<Vec<_>>().join(" ")),
        },
    }
}

/// The result of a scalar operation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Computed {
    /// A real.
    Real(f64),
    /// A truth value.
    Truth(bool),
}

/// The value of a scalar operation at reals; what the table takes as integers must be whole.
///
/// # Errors
/// Why there is no value.
pub fn compute(prim: Prim, args: &[f64]) -> Result<Computed, String> {
    let scalars = args.iter().zip(prim.args()).map(|(r, kind)| match kind {
        ArgKind::Int if r.trunc() == *r && r.abs() < 9.0e15 => Ok(Scalar::I64(*r as i64)),
        ArgKind::Int => Err(format!("`{}` takes a whole number here, not {}", prim.name(), crate::print::real(*r))),
        _ => Ok(Scalar::F64(*r)),
    });
    let scalars = scalars.collect::<Result<Vec<_>, _>>()?;
    match prim.eval(&scalars).map_err(|e| e.to_string())? {
        Scalar::F64(r) => Ok(Computed::Real(r)),
        Scalar::F32(r) => Ok(Computed::Real(f64::from(r))),
        Scalar::I64(i) => Ok(Computed::Real(i as f64)),
        Scalar::Bool(b) => Ok(Computed::Truth(b)),
    }
}

impl fmt::Display for Primitive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name().trim_start_matches('%'))
    }
}
