//! What can go wrong at run time, before its place is known.

use cotan_ir::{AdtId, FnId, Program};
use cotan_prim::PrimError;
use cotan_source::{Diagnostic, Span};

/// What a tangent is a tangent of, where two of them do not fit.
#[derive(Clone, Debug)]
pub enum Part {
    /// A variant of a nominal type.
    Variant(AdtId, u32),
    /// A closure over a code.
    Closure(FnId),
    /// Anything else, in words.
    Other(&'static str),
}

impl Part {
    fn text<A>(&self, program: &Program<A>) -> String {
        match self {
            Part::Variant(adt, v) => {
                let name = program.adts.get(*adt).and_then(|d| d.variants.get(*v as usize)).map(|v| v.name.as_str());
                format!("`{}`", name.unwrap_or("?"))
            }
            Part::Closure(code) => {
                let name = program.fns.get(*code).map_or("?", |f| f.name.as_str());
                format!("the function value `{name}`")
            }
            Part::Other(text) => (*text).into(),
        }
    }
}

/// A run-time error without a place.
#[derive(Clone, Debug)]
pub enum Fault {
    /// A position outside an array.
    Index {
        /// Position.
        index: i64,
        /// Extent.
        extent: usize,
        /// Axis.
        axis: usize,
        /// Number of axes.
        rank: usize,
    },
    /// A range outside an array.
    Slice {
        /// First.
        lo: i64,
        /// One past the last.
        hi: i64,
        /// Extent.
        extent: usize,
        /// Axis.
        axis: usize,
    },
    /// Two shapes that differ.
    Shapes {
        /// One.
        left: Vec<usize>,
        /// The other.
        right: Vec<usize>,
        /// Of what.
        what: &'static str,
    },
    /// A primitive that has no value.
    Prim(PrimError),
    /// Largest or smallest of nothing.
    Empty(&'static str),
    /// Tangents of different variants or closures.
    Tangents(Part, Part),
    /// Anything else: code, message.
    Other(&'static str, String),
}

/// Where tangents that do not fit come from: those that the compiler makes do.
const GIVEN: &str = "one of them was written: by a derivative rule, or as an argument of a derivative";

fn shape_text(shape: &[usize]) -> String {
    format!("[{}]", shape.iter().map(usize::to_string).collect::<Vec<_>>().join("]["))
}

impl Fault {
    /// The message at its place; `program` knows the names.
    pub fn at<A>(self, program: &Program<A>, span: Span) -> Box<Diagnostic> {
        Box::new(match self {
            Fault::Index { index, extent, axis, rank } => {
                let along = if rank > 1 { format!(" along axis {axis}") } else { String::new() };
                let d = Diagnostic::error("E0701", span, format!("index {index} is out of range"))
                    .at(format!("the array has {extent} elements{along}"));
                if extent == 0 { d } else { d.note(format!("positions go from 0 to {}", extent - 1)) }
            }
            Fault::Slice { lo, hi, extent, axis } => {
                Diagnostic::error("E0702", span, format!("slice {lo}..{hi} is out of range"))
                    .at(format!("the array has {extent} elements along axis {axis}"))
            }
            Fault::Shapes { left, right, what } => {
                let d = Diagnostic::error(
                    "E0703",
                    span,
                    format!("sizes differ: {} and {}", shape_text(&left), shape_text(&right)),
                )
                .at(format!("{what} must have one shape"));
                if what.contains("tangent") { d.note(GIVEN) } else { d }
            }
            Fault::Prim(e) => {
                let code = match e {
                    PrimError::Overflow => "E0704",
                    PrimError::DivisionByZero => "E0705",
                    PrimError::NotAnInteger => "E0706",
                    PrimError::NegativeExponent => "E0707",
                };
                Diagnostic::error(code, span, e.to_string())
            }
            Fault::Empty(what) => Diagnostic::error("E0708", span, format!("the {what} of an empty array")),
            Fault::Tangents(a, b) => {
                let message = format!(
                    "tangents of different shape are combined: of {} and of {}",
                    a.text(program),
                    b.text(program)
                );
                let mut d = Diagnostic::error("E0709", span, message).note(GIVEN);
                for (part, text) in [(a, "one of them is of this function"), (b, "the other one of this")] {
                    if let Part::Closure(code) = part
                        && let Some(f) = program.fns.get(code)
                        && !f.span.is_none()
                        && f.span.file == span.file
                    {
                        d = d.label(f.span, text);
                    }
                }
                d
            }
            Fault::Other(code, message) => Diagnostic::error(code, span, message),
        })
    }
}
