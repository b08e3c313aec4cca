//! `run`, `grad` and `test`: from a file and words to answers.
//!
//! In: a session, a file, the name of a function, arguments as words. Out: an [`Answer`], which can be printed or written.

use crate::entry::{self, Entry};
use crate::failure::Failure;
use crate::inputs::{self, Given};
use crate::io::{self, Piece};
use crate::pipeline::Compiled;
use crate::session::Session;
use crate::suggest::nearest;
use crate::value::Value;
use cotan_core::{Program, Ty};
use cotan_ir::TypeId;
use cotan_source::{Diagnostic, Span};
use std::path::Path;

/// A result with what is needed to print it.
pub struct Answer {
    compiled: Compiled,
    content: Content,
}

enum Content {
    /// A value.
    Value(Value, TypeId),
    /// A value and its gradient by parameter.
    Gradient { value: (Value, TypeId), parts: Vec<(String, Value, TypeId)> },
}

impl Answer {
    /// The answer in Cotan's notation; large arrays are shortened unless `full`.
    pub fn text(&self, full: bool) -> String {
        let types = self.compiled.types();
        match &self.content {
            Content::Value(value, ty) => io::text(value, *ty, types, full),
            Content::Gradient { value: (value, ty), parts } => {
                let mut out = format!("value: {}\ngradient:", io::text(value, *ty, types, full));
                for (name, value, ty) in parts {
                    let text = io::text(value, *ty, types, full).replace('\n', "\n    ");
                    out.push_str(&format!("\n    {name}: {text}"));
                }
                out
            }
        }
    }

    /// The answer in Cotan's notation, whole and on one line.
    pub fn line(&self) -> String {
        match &self.content {
            Content::Value(value, ty) => io::line(value, *ty, self.compiled.types()),
            Content::Gradient { .. } => self.text(true),
        }
    }

    /// The answer as JSON.
    pub fn json(&self) -> String {
        let types = self.compiled.types();
        match &self.content {
            Content::Value(value, ty) => io::json(&[Piece::Value(value, *ty)], types),
            Content::Gradient { value: (value, ty), parts } => {
                let mut pieces =
                    vec![Piece::Text("{\"value\":"), Piece::Value(value, *ty), Piece::Text(",\"gradient\":{")];
                for (i, (name, value, ty)) in parts.iter().enumerate() {
                    pieces.push(Piece::Text(if i > 0 { "," } else { "" }));
                    pieces.push(Piece::Name(name));
                    pieces.push(Piece::Text(":"));
                    pieces.push(Piece::Value(value, *ty));
                }
                pieces.push(Piece::Text("}}"));
                io::json(&pieces, types)
            }
        }
    }

    /// Writes the answer to a file, by the ending of its name. A gradient goes to `.npy` and `.csv` without the value,
    /// and only where it is that of one parameter.
    pub fn write(&self, path: &Path) -> Result<(), Failure> {
        let types = self.compiled.types();
        match &self.content {
            Content::Value(value, ty) => io::write_file(path, value, *ty, types, || self.json()),
            Content::Gradient { parts, .. } => match parts.as_slice() {
                [(_, value, ty)] => io::write_file(path, value, *ty, types, || self.json()),
                _ => io::write_whole(path, || self.json()),
            },
        }
    }
}

/// The value of a function.
pub fn run(session: &mut Session, file: &Path, function: &str, given: &[Given]) -> Result<Answer, Failure> {
    let checked = session.check_file(file)?;
    let id = checked.function(function)?;
    let mut compiled = session.compile(checked.core, &[(id, Entry::Call)])?;
    let args = inputs::all(function, &compiled.params(0), given, compiled.types(), &mut session.sources)?;
    let value = session.call(&mut compiled, 0, args)?;
    let ty = compiled.result(0);
    Ok(Answer { compiled, content: Content::Value(value, ty) })
}

/// The value of a function and its gradient with respect to the parameters `wrt`, or all that hold floats.
pub fn gradient(
    session: &mut Session,
    file: &Path,
    function: &str,
    wrt: &[String],
    given: &[Given],
) -> Result<Answer, Failure> {
    let checked = session.check_file(file)?;
    let id = checked.function(function)?;
    let (params, ret) = entry::signature(&checked.core, id);
    let def = &checked.core.fns[id];
    let names: Vec<String> = def.params.iter().map(|p| def.locals[*p].name.clone()).collect();
    if ret != Ty::Float {
        let message = format!(
            "`{function}` has no gradient: its result is {}, not Float",
            cotan_core::print_type(&checked.core, &[], &ret)
        );
        return Err(Diagnostic::error("E0818", def.span, message).hint("make a Float of the result").into());
    }
    let chosen = choose(&checked.core, function, &names, &params, wrt)?;
    let mut compiled = session.compile(checked.core, &[(id, Entry::Gradient(chosen.clone()))])?;
    let args = inputs::all(function, &compiled.params(0), given, compiled.types(), &mut session.sources)?;
    let pair = session.call(&mut compiled, 0, args)?;
    let result = compiled.result(0);
    let types = compiled.types();
    let part =
        |value: &Value, ty: TypeId, i: usize| Some((io::make::part(value, &[i])?.clone(), types.component(ty, i)?));
    let broken = || Failure::bug("entry points", "a gradient that is no pair");
    let value = part(&pair, result, 0).ok_or_else(broken)?;
    let (whole, whole_ty) = part(&pair, result, 1).ok_or_else(broken)?;
    let mut parts = Vec::new();
    for (i, position) in chosen.iter().enumerate() {
        let (value, ty) =
            if chosen.len() == 1 { (whole.clone(), whole_ty) } else { part(&whole, whole_ty, i).ok_or_else(broken)? };
        parts.push((names[*position].clone(), value, ty));
    }
    Ok(Answer { compiled, content: Content::Gradient { value, parts } })
}

/// The positions of the parameters to differentiate.
fn choose(
    core: &Program,
    function: &str,
    names: &[String],
    params: &[Ty],
    wrt: &[String],
) -> Result<Vec<usize>, Failure> {
    let all = smooth_parameters(core, params);
    if wrt.is_empty() {
        if all.is_empty() {
            let message = format!("no parameter of `{function}` holds a float");
            return Err(Diagnostic::error("E0819", Span::NONE, message).into());
        }
        return Ok(all);
    }
    let mut out = Vec::new();
    for name in wrt {
        let Some(i) = names.iter().position(|n| n == name) else {
            let out = Diagnostic::error("E0819", Span::NONE, format!("`{function}` has no parameter `{name}`"));
            return Err(match nearest(name, names.iter().map(String::as_str)) {
                Some(near) => out.hint(format!("did you mean `{near}`?")).into(),
                None => out.into(),
            });
        };
        if !all.contains(&i) {
            let ty = cotan_core::print_type(core, &[], &params[i]);
            let message = format!("parameter `{name}` of `{function}` is of type {ty} and has no derivative");
            return Err(Diagnostic::error("E0819", Span::NONE, message).into());
        }
        if !out.contains(&i) {
            out.push(i);
        }
    }
    Ok(out)
}

/// The positions of the parameters that hold floats.
pub(crate) fn smooth_parameters(core: &Program, params: &[Ty]) -> Vec<usize> {
    (0..params.len()).filter(|i| !zero_space(&params[*i].tangent(core))).collect()
}

/// Whether a tangent space holds nothing but `()`.
fn zero_space(tangent: &Ty) -> bool {
    match tangent {
        Ty::Tuple(parts) => parts.iter().all(zero_space),
        Ty::Array(elem) => zero_space(elem),
        Ty::Float | Ty::Float32 | Ty::Int | Ty::Bool | Ty::Str => false,
        Ty::Adt(..) | Ty::Fn(..) | Ty::Param(_) | Ty::Tangent(_) => false,
    }
}

/// What became of a `test` block.
pub struct TestResult {
    /// Its title.
    pub title: String,
    /// Why it failed, if it did.
    pub failure: Option<Failure>,
}

/// Runs the `test` blocks of a file whose titles hold `filter`.
pub fn run_tests(session: &mut Session, file: &Path, filter: Option<&str>) -> Result<Vec<TestResult>, Failure> {
    let checked = session.check_file(file)?;
    let tests: Vec<_> = checked
        .core
        .tests
        .iter()
        .filter(|t| filter.is_none_or(|f| t.title.contains(f)))
        .map(|t| (t.title.clone(), (t.function, Entry::Call)))
        .collect();
    if tests.is_empty() {
        return Ok(Vec::new());
    }
    let roots: Vec<_> = tests.iter().map(|(_, root)| root.clone()).collect();
    let mut compiled = session.compile(checked.core, &roots)?;
    let mut out = Vec::with_capacity(tests.len());
    for (i, (title, _)) in tests.into_iter().enumerate() {
        let failure = session.call(&mut compiled, i, Vec::new()).err();
        out.push(TestResult { title, failure });
    }
    Ok(out)
}
