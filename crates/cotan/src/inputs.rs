//! From the words after `--arg` to values.
//!
//! In: parameters with their types, and `NAME=VALUE` pairs as the user gave them. Out: one value per parameter, in order.
//! Newly true: every argument names a parameter, once; missing ones are reported all at once.

use crate::failure::Failure;
use crate::io::{Types, read_argument};
use crate::suggest::nearest;
use crate::value::Value;
use cotan_ir::TypeId;
use cotan_source::{Diagnostic, SourceMap, Span};

/// A parameter of an entry point.
#[derive(Clone, Debug)]
pub struct Param {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: TypeId,
}

/// An argument as given: name and text.
pub type Given = (String, String);

/// Values for the parameters; `None` where no argument was given.
pub fn optional(
    function: &str,
    params: &[Param],
    given: &[Given],
    types: Types<'_>,
    sources: &mut SourceMap,
) -> Result<Vec<Option<Value>>, Failure> {
    let mut texts: Vec<Option<&str>> = vec![None; params.len()];
    let mut diagnostics = Vec::new();
    for (name, text) in given {
        match params.iter().position(|p| p.name == *name) {
            None => diagnostics.push(unknown(function, name, params)),
            Some(i) if texts[i].is_some() => {
                let message = format!("argument `{name}` is given twice");
                diagnostics.push(Diagnostic::error("E0803", Span::NONE, message));
            }
            Some(i) => texts[i] = Some(text),
        }
    }
    if !diagnostics.is_empty() {
        return Err(Failure::User(diagnostics));
    }
    let mut values = Vec::with_capacity(params.len());
    for (param, text) in params.iter().zip(texts) {
        let value = match text {
            None => Ok(None),
            Some(text) => read_argument(&param.name, text, param.ty, types, sources).map(Some),
        };
        match value {
            Ok(value) => values.push(value),
            Err(Failure::User(found)) => diagnostics.extend(found),
            Err(bug) => return Err(bug),
        }
    }
    if diagnostics.is_empty() { Ok(values) } else { Err(Failure::User(diagnostics)) }
}

/// Values for the parameters; each must be given.
pub fn all(
    function: &str,
    params: &[Param],
    given: &[Given],
    types: Types<'_>,
    sources: &mut SourceMap,
) -> Result<Vec<Value>, Failure> {
    let values = optional(function, params, given, types, sources)?;
    let mut out = Vec::with_capacity(values.len());
    let mut missing = Vec::new();
    for (param, value) in params.iter().zip(values) {
        match value {
            Some(value) => out.push(value),
            None => missing.push(param),
        }
    }
    if missing.is_empty() {
        return Ok(out);
    }
    let diagnostics = missing
        .into_iter()
        .map(|p| {
            if types.holds_function(p.ty) {
                return outside(function, p, types);
            }
            let message = format!("`{function}` needs a value for `{}`, of type {}", p.name, types.name(p.ty));
            Diagnostic::error("E0801", Span::NONE, message).hint(format!("add --arg {}=...", p.name))
        })
        .collect();
    Err(Failure::User(diagnostics))
}

/// A parameter whose values cannot be given.
pub fn outside(function: &str, param: &Param, types: Types<'_>) -> Diagnostic {
    let message = format!(
        "parameter `{}` of `{function}` has type {}, which cannot come from outside",
        param.name,
        types.name(param.ty)
    );
    Diagnostic::error("E0814", Span::NONE, message)
        .hint(format!("write a function without such a parameter that calls `{function}`"))
}

fn unknown(function: &str, name: &str, params: &[Param]) -> Diagnostic {
    let out = Diagnostic::error("E0802", Span::NONE, format!("`{function}` has no parameter `{name}`"));
    if let Some(near) = nearest(name, params.iter().map(|p| p.name.as_str())) {
        return out.hint(format!("did you mean `{near}`?"));
    }
    if params.is_empty() {
        return out.note(format!("`{function}` has no parameters"));
    }
    let names: Vec<String> = params.iter().map(|p| format!("`{}`", p.name)).collect();
    out.note(format!("its parameters are {}", names.join(", ")))
}
