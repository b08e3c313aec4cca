//! The calculus with attached derivatives, executed to the letter.
//!
//! In: a text. Out: the value of the term in it, and how many steps that took. This is the reference for what differentiation means
//! in Cotan: an untyped lambda calculus in which `J`, its inverse, `0`, the conformant sum and `attach` are primitives, so that
//! derivatives are taken, replaced and differentiated again inside the language. It is slow on purpose and shares no code with the
//! compiler but texts, diagnostics and the table of scalar operations.
//!
//! Read it in this order: `term.rs`, `parse.rs`, `print.rs` (what is written); `lambda.rs`, `anf.rs` (A-normal form); `value.rs`,
//! `machine.rs` (evaluation); `sum.rs` (cotangents); `primitive.rs`, `reverse.rs`, `transform.rs` (differentiation); `attach.rs`
//! (attached derivatives); `show.rs`, `error.rs`.

mod anf;
mod attach;
mod error;
mod lambda;
mod machine;
mod parse;
mod primitive;
mod print;
mod reverse;
mod show;
mod sum;
mod term;
mod transform;
mod value;

pub use attach::Rules;
pub use error::Stuck;
pub use machine::{Options, Strategy, Trace};
pub use parse::parse;
pub use show::Tree;
pub use term::{Infix, Kind, Name, Pattern, Term};

/// What a term came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Its value.
    pub value: Tree,
    /// The steps it took, those of working the value out included.
    pub steps: u64,
}

/// Evaluates a closed term.
///
/// # Errors
/// `E0902` for an open term; `E0903`, `E0904`, `E0905` for one that is stuck, with the redex and the rule that does not apply;
/// `E0906` for one that exceeds a limit.
pub fn evaluate(term: &Term, options: Options<'_>) -> Result<Outcome, Stuck> {
    let code = anf::convert(term)?;
    let mut machine = machine::Machine::new(options);
    let value = machine.run(&code)?;
    let value = machine.tree(value, show::MOST_DEPTH)?;
    Ok(Outcome { value, steps: machine.steps })
}
