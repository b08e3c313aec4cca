//! The first operation that made a NaN or an infinity.
//!
//! In: a function and its arguments. Out: a [`NanReport`]: the operation with its place and operands, on the way forward or
//! back. Functions whose result is a `Float` are run with their gradient; others only forward.

use crate::entry::{self, Entry};
use crate::failure::Failure;
use crate::inputs::{self, Given};
use crate::options::AdMode;
use crate::pipeline::Code;
use crate::run::smooth_parameters;
use crate::session::Session;
use cotan_core::Ty;
use cotan_interp::{Sighting, Watch};
use cotan_source::{Diagnostic, SourceMap, render};
use std::path::Path;

/// What was found.
#[derive(Clone, Debug)]
pub struct NanReport {
    function: String,
    /// Whether the way back was run.
    gradient: bool,
    seen: Watch,
    /// Why the run ended early, if it did.
    failure: Option<Failure>,
}

impl NanReport {
    /// Whether a number was found that is not finite.
    pub fn found(&self) -> bool {
        self.seen.nan.is_some() || self.seen.infinity.is_some()
    }

    /// The report as text, with excerpts of the source.
    pub fn text(&self, sources: &SourceMap) -> String {
        let mut out = String::new();
        for (what, sighting) in [("NaN", &self.seen.nan), ("infinity", &self.seen.infinity)] {
            if let Some(sighting) = sighting {
                out.push_str(&told(what, sighting, sources));
                out.push('\n');
            }
        }
        if !self.found() {
            let way = if self.gradient { "forward and back" } else { "forward" };
            out.push_str(&format!("`{}`: every operation, {way}, gave finite numbers\n", self.function));
        } else if !self.gradient {
            out.push_str(&format!("`{}` does not yield a Float, so only the way forward was run\n", self.function));
        }
        if let Some(Failure::User(diagnostics)) = &self.failure {
            out.push_str("the run ended early:\n");
            for diagnostic in diagnostics {
                out.push_str(&render(sources, diagnostic, false));
            }
        }
        out.trim_end().to_string()
    }
}

/// One sighting, drawn like a diagnostic.
fn told(what: &str, sighting: &Sighting, sources: &SourceMap) -> String {
    let way = if sighting.backward { "back" } else { "forward" };
    let shorten = |text: &String| {
        let mut short: String = text.chars().take(60).collect();
        if short.len() < text.len() {
            short.push_str("...");
        }
        short
    };
    let operands: Vec<String> = sighting.operands.iter().map(shorten).collect();
    let label = format!("{}({}) gives {}", sighting.operation, operands.join(", "), shorten(&sighting.result));
    let message = format!("the first {what}, on the way {way}");
    render(sources, &Diagnostic::warning("E0720", sighting.span, message).at(label), false)
}

/// Looks for the first operation that made a NaN or an infinity.
pub fn why_nan(session: &mut Session, file: &Path, function: &str, given: &[Given]) -> Result<NanReport, Failure> {
    let checked = session.check_file(file)?;
    let id = checked.function(function)?;
    let (params, ret) = entry::signature(&checked.core, id);
    let smooth = smooth_parameters(&checked.core, &params);
    let gradient = ret == Ty::Float && !smooth.is_empty();
    let entry = if gradient { Entry::Gradient(smooth) } else { Entry::Call };
    // The way back exists as code only where the program is transformed.
    session.options.ad = AdMode::Transform;
    let mut compiled = session.compile(checked.core, &[(id, entry)])?;
    let args = inputs::all(function, &compiled.params(0), given, compiled.types(), &mut session.sources)?;
    session.start(&mut compiled);
    if let Code::Machine(machine) = &mut compiled.code {
        machine.watch();
    }
    let failure = match session.call(&mut compiled, 0, args) {
        Ok(_) => None,
        Err(bug @ Failure::Bug(_)) => return Err(bug),
        Err(failure) => Some(failure),
    };
    let seen = match &compiled.code {
        Code::Machine(machine) => machine.seen().cloned().unwrap_or_default(),
        Code::Values(_) | Code::Expanded(_) | Code::Reference(_) => Watch::default(),
    };
    Ok(NanReport { function: function.to_string(), gradient, seen, failure })
}
