//! Exhaustiveness of matches and arms that cannot be reached.
//!
//! In: finished patterns. Out: diagnostics with a case that is missing. Newly true: a match always finds an arm.
//! The method is that of matrices of patterns: a column is split by the constructors that head it.

use cotan_core::{AdtId, Arm, Expr, Lit, Pattern, PatternKind, Program, Ty};
use cotan_source::{Diagnostic, Span};
use std::borrow::Cow;
use std::cell::Cell;

/// A row: `None` matches everything.
type Row<'p> = Vec<Option<&'p Pattern>>;

/// Steps after which the question is given up as answered.
const FUEL: u32 = 200_000;

struct Matrix<'p> {
    program: &'p Program,
    fuel: Cell<u32>,
}

/// What heads a pattern.
#[derive(Clone, PartialEq, Debug)]
enum Head {
    Variant(AdtId, usize),
    Tuple(usize),
    Bool(bool),
    /// Integers from the first to the last.
    Ints(i128, i128),
    /// A single number or text among endlessly many.
    One(Lit),
    /// A range of floating-point numbers: it never helps to cover all.
    Floats,
}

/// A value of `ty` that none of `patterns` matches, as text.
pub fn missing(program: &Program, patterns: &[&Pattern], ty: &Ty) -> Option<String> {
    let matrix = Matrix { program, fuel: Cell::new(FUEL) };
    let rows: Vec<Row<'_>> = patterns.iter().map(|p| vec![open(p)]).collect();
    let found = matrix.missing(&rows, std::slice::from_ref(ty))?;
    found.into_iter().next()
}

/// Checks one match.
pub fn check_match(program: &Program, value: &Expr, arms: &[Arm], span: Span) -> Vec<Diagnostic> {
    let mut out = Vec::new();
    let matrix = Matrix { program, fuel: Cell::new(FUEL) };
    let mut rows: Vec<Row<'_>> = Vec::new();
    for arm in arms {
        let row = vec![open(&arm.pattern)];
        if !arm.pattern.span.is_none()
            && !rows.is_empty()
            && !matrix.useful(&rows, &row, std::slice::from_ref(&value.ty))
        {
            out.push(
                Diagnostic::warning("E0302", arm.pattern.span, "this arm is never reached")
                    .at("everything it matches is matched before"),
            );
        }
        if arm.guard.is_none() {
            rows.push(row);
        }
    }
    if let Some(missing) = matrix.missing(&rows, std::slice::from_ref(&value.ty)).and_then(|m| m.into_iter().next()) {
        let mut d = Diagnostic::error("E0301", span, "this match does not cover every case")
            .at(format!("`{missing}` is not covered"));
        if arms.iter().any(|a| a.guard.is_some()) {
            d = d.note("an arm with a guard may not match, so it does not count");
        }
        d = d.hint(if missing == "_" {
            "add an arm `_ => ..`".to_string()
        } else {
            format!("add an arm `{missing} => ..` or `_ => ..`")
        });
        out.push(d);
    }
    out
}

fn open(p: &Pattern) -> Option<&Pattern> {
    match &p.kind {
        PatternKind::Wildcard | PatternKind::Bind(_) => None,
        _ => Some(p),
    }
}

fn head(p: &Pattern) -> Head {
    match &p.kind {
        PatternKind::Lit(Lit::Bool(b)) => Head::Bool(*b),
        PatternKind::Lit(Lit::Int(i)) => Head::Ints(i128::from(*i), i128::from(*i)),
        PatternKind::Lit(lit) => Head::One(lit.clone()),
        PatternKind::Range { start, end, inclusive } => {
            let lo = match start {
                Some(Lit::Int(i)) => i128::from(*i),
                None => i128::from(i64::MIN),
                Some(_) => return Head::Floats,
            };
            let hi = match end {
                Some(Lit::Int(i)) => i128::from(*i) - i128::from(!*inclusive),
                None => i128::from(i64::MAX),
                Some(_) => return Head::Floats,
            };
            if matches!(p.ty, Ty::Int) { Head::Ints(lo, hi) } else { Head::Floats }
        }
        PatternKind::Tuple(parts) => Head::Tuple(parts.len()),
        PatternKind::Adt { adt, variant, .. } => Head::Variant(*adt, *variant),
        PatternKind::Wildcard | PatternKind::Bind(_) | PatternKind::Or(_) => Head::Floats,
    }
}

/// Rows with alternatives taken apart in the first column.
fn flatten<'r, 'p>(rows: &'r [Row<'p>]) -> Cow<'r, [Row<'p>]> {
    if !rows.iter().any(|r| matches!(r.first(), Some(Some(Pattern { kind: PatternKind::Or(_), .. })))) {
        return Cow::Borrowed(rows);
    }
    let mut out = Vec::with_capacity(rows.len());
    for row in rows {
        match row.first() {
            Some(Some(Pattern { kind: PatternKind::Or(parts), .. })) => {
                let split: Vec<Row<'p>> =
                    parts.iter().map(|p| std::iter::once(open(p)).chain(row[1..].iter().copied()).collect()).collect();
                out.extend(flatten(&split).iter().cloned());
            }
            _ => out.push(row.clone()),
        }
    }
    Cow::Owned(out)
}

impl<'p> Matrix<'p> {
    fn spend(&self) -> bool {
        let left = self.fuel.get();
        self.fuel.set(left.saturating_sub(1));
        left > 0
    }

    fn field_types(&self, head: &Head, ty: &Ty) -> Vec<Ty> {
        match (head, ty) {
            (Head::Variant(id, variant), Ty::Adt(_, args)) => {
                let adt = &self.program.adts[*id];
                let fields = adt.variants[*variant].fields.iter();
                fields
                    .map(|f| {
                        f.ty.substitute(self.program, &|p| {
                            adt.generics.iter().position(|g| g.id == p).and_then(|i| args.get(i).cloned())
                        })
                    })
                    .collect()
            }
            (Head::Tuple(_), Ty::Tuple(parts)) => parts.clone(),
            _ => Vec::new(),
        }
    }

    /// Rows that may match a value headed by `head`, with its parts in front.
    fn specialize(rows: &[Row<'p>], wanted: &Head, arity: usize) -> Vec<Row<'p>> {
        let mut out = Vec::new();
        for row in rows {
            let rest = row[1..].iter().copied();
            match row[0] {
                None => out.push(std::iter::repeat_n(None, arity).chain(rest).collect()),
                Some(p) => {
                    let covers = match (head(p), wanted) {
                        (Head::Ints(lo, hi), Head::Ints(a, b)) => lo <= *a && *b <= hi,
                        (Head::Floats, _) => false,
                        (own, wanted) => own == *wanted,
                    };
                    if covers {
                        let parts: Vec<Option<&'p Pattern>> = match &p.kind {
                            PatternKind::Tuple(parts) | PatternKind::Adt { fields: parts, .. } => {
                                parts.iter().map(open).collect()
                            }
                            _ => Vec::new(),
                        };
                        out.push(parts.into_iter().chain(rest).collect());
                    }
                }
            }
        }
        out
    }

    fn default(rows: &[Row<'p>]) -> Vec<Row<'p>> {
        rows.iter().filter(|r| r[0].is_none()).map(|r| r[1..].to_vec()).collect()
    }

    /// All heads that a value may have, as far as the column tells them apart, and whether others remain.
    fn heads(&self, rows: &[Row<'p>], ty: &Ty) -> (Vec<Head>, Option<String>) {
        let used: Vec<Head> = rows.iter().filter_map(|r| r[0]).map(head).collect();
        match ty {
            Ty::Adt(id, _) => {
                let adt = &self.program.adts[*id];
                let mut heads = Vec::new();
                let mut other = None;
                for (i, variant) in adt.variants.iter().enumerate() {
                    let h = Head::Variant(*id, i);
                    if used.contains(&h) {
                        heads.push(h);
                    } else if other.is_none() {
                        let parts: Vec<&str> = variant.fields.iter().map(|_| "_").collect();
                        other = Some(if variant.named {
                            format!("{} {{ .. }}", variant.name)
                        } else if parts.is_empty() {
                            variant.name.clone()
                        } else {
                            format!("{}({})", variant.name, parts.join(", "))
                        });
                    }
                }
                (heads, other)
            }
            Ty::Tuple(parts) => (vec![Head::Tuple(parts.len())], None),
            Ty::Bool => {
                let heads: Vec<Head> = [true, false].into_iter().map(Head::Bool).filter(|h| used.contains(h)).collect();
                let other = [true, false].into_iter().find(|b| !used.contains(&Head::Bool(*b))).map(|b| b.to_string());
                (heads, other)
            }
            Ty::Int => {
                let mut cuts = vec![i128::from(i64::MIN), i128::from(i64::MAX) + 1];
                for h in &used {
                    if let Head::Ints(lo, hi) = h {
                        cuts.extend([*lo, *hi + 1]);
                    }
                }
                cuts.retain(|c| *c >= i128::from(i64::MIN) && *c <= i128::from(i64::MAX) + 1);
                cuts.sort_unstable();
                cuts.dedup();
                // Small values first, so that the example that is shown is one a person would think of.
                let mut pieces: Vec<Head> = cuts.windows(2).map(|w| Head::Ints(w[0], w[1] - 1)).collect();
                pieces.sort_by_key(|h| match h {
                    Head::Ints(lo, hi) => (*lo == i128::from(i64::MIN), lo.abs().min(hi.abs())),
                    _ => (false, 0),
                });
                (pieces, None)
            }
            _ => {
                let mut heads: Vec<Head> = Vec::new();
                for h in used {
                    if !heads.contains(&h) && h != Head::Floats {
                        heads.push(h);
                    }
                }
                (heads, Some("_".to_string()))
            }
        }
    }

    /// A vector of values that no row matches.
    fn missing(&self, rows: &[Row<'p>], types: &[Ty]) -> Option<Vec<String>> {
        if !self.spend() {
            return None;
        }
        let Some((ty, rest)) = types.split_first() else {
            return if rows.is_empty() { Some(Vec::new()) } else { None };
        };
        let rows = flatten(rows);
        if rows.iter().all(|r| r[0].is_none()) {
            let mut found = self.missing(&Self::default(&rows), rest)?;
            found.insert(0, "_".to_string());
            return Some(found);
        }
        // Rows that match any first value are in play whatever it is: if they cover the rest, all is covered.
        let mut rest_missing = self.missing(&Self::default(&rows), rest)?;
        let (heads, other) = self.heads(&rows, ty);
        if let Some(other) = other {
            rest_missing.insert(0, other);
            return Some(rest_missing);
        }
        for h in heads {
            let fields = self.field_types(&h, ty);
            let arity = fields.len();
            let inner: Vec<Ty> = fields.into_iter().chain(rest.iter().cloned()).collect();
            if let Some(mut found) = self.missing(&Self::specialize(&rows, &h, arity), &inner) {
                let tail = found.split_off(arity);
                let mut out = vec![self.show(&h, found)];
                out.extend(tail);
                return Some(out);
            }
        }
        None
    }

    fn show(&self, head: &Head, parts: Vec<String>) -> String {
        match head {
            Head::Variant(id, variant) => {
                let variant = &self.program.adts[*id].variants[*variant];
                if variant.named {
                    let fields: Vec<String> =
                        variant.fields.iter().zip(parts).map(|(f, p)| format!("{}: {p}", f.name)).collect();
                    format!("{} {{ {} }}", variant.name, fields.join(", "))
                } else if parts.is_empty() {
                    variant.name.clone()
                } else {
                    format!("{}({})", variant.name, parts.join(", "))
                }
            }
            Head::Tuple(_) => format!("({})", parts.join(", ")),
            Head::Bool(b) => b.to_string(),
            Head::Ints(lo, hi) if lo == hi => lo.to_string(),
            Head::Ints(lo, hi) if *hi == i128::from(i64::MAX) => format!("{lo}.."),
            Head::Ints(lo, hi) if *lo == i128::from(i64::MIN) => format!("..={hi}"),
            Head::Ints(lo, hi) => format!("{lo}..={hi}"),
            Head::One(Lit::Str(s)) => format!("{s:?}"),
            Head::One(Lit::Float(x)) => format!("{x:?}"),
            Head::One(_) | Head::Floats => "_".to_string(),
        }
    }

    /// Whether `row` matches something that `rows` do not.
    fn useful(&self, rows: &[Row<'p>], row: &Row<'p>, types: &[Ty]) -> bool {
        if !self.spend() {
            return true;
        }
        let Some((ty, rest)) = types.split_first() else { return rows.is_empty() };
        let rows = flatten(rows);
        match row[0] {
            Some(Pattern { kind: PatternKind::Or(parts), .. }) => parts.iter().any(|p| {
                let alternative = std::iter::once(open(p)).chain(row[1..].iter().copied()).collect();
                self.useful(&rows, &alternative, types)
            }),
            Some(p) => match head(p) {
                Head::Floats => self.useful(&Self::default(&rows), &row[1..].to_vec(), rest),
                Head::Ints(lo, hi) => {
                    if lo > hi {
                        return false;
                    }
                    if lo == hi {
                        let h = Head::Ints(lo, hi);
                        return self.useful(&Self::specialize(&rows, &h, 0), &row[1..].to_vec(), rest);
                    }
                    let (pieces, _) = self.heads(&[&rows[..], std::slice::from_ref(row)].concat(), ty);
                    pieces.iter().any(|h| match h {
                        Head::Ints(a, b) if lo <= *a && *b <= hi => {
                            self.useful(&Self::specialize(&rows, h, 0), &row[1..].to_vec(), rest)
                        }
                        _ => false,
                    })
                }
                h => {
                    let fields = self.field_types(&h, ty);
                    let arity = fields.len();
                    let inner: Vec<Ty> = fields.into_iter().chain(rest.iter().cloned()).collect();
                    match Self::specialize(std::slice::from_ref(row), &h, arity).first() {
                        Some(own) => self.useful(&Self::specialize(&rows, &h, arity), own, &inner),
                        None => true,
                    }
                }
            },
            None => {
                if rows.iter().all(|r| r[0].is_none()) {
                    return self.useful(&Self::default(&rows), &row[1..].to_vec(), rest);
                }
                let (heads, other) = self.heads(&rows, ty);
                if other.is_some() && self.useful(&Self::default(&rows), &row[1..].to_vec(), rest) {
                    return true;
                }
                heads.iter().any(|h| {
                    let fields = self.field_types(h, ty);
                    let arity = fields.len();
                    let inner: Vec<Ty> = fields.into_iter().chain(rest.iter().cloned()).collect();
                    let own: Row<'p> = std::iter::repeat_n(None, arity).chain(row[1..].iter().copied()).collect();
                    self.useful(&Self::specialize(&rows, h, arity), &own, &inner)
                })
            }
        }
    }
}
