//! Results to files.
//!
//! In: a value, its type, a path whose ending says the kind. Out: a file, or a diagnostic.

use super::csv;
use super::make::Elements;
use super::npy::{self, Data, Tensor};
use super::types::Types;
use super::view::{View, view};
use crate::failure::Failure;
use crate::value::Value;
use cotan_ir::{AdtKind, TypeId};
use cotan_source::{Diagnostic, Span};
use std::path::Path;

/// Writes a value; `json` is the text for a `.json` file.
pub fn write_file(
    path: &Path,
    value: &Value,
    ty: TypeId,
    types: Types<'_>,
    json: impl FnOnce() -> String,
) -> Result<(), Failure> {
    let bytes = match ending(path).as_str() {
        "json" => json().into_bytes(),
        "npy" => npy::write(&tensor(value).ok_or_else(|| refuse(path, ty, types))?),
        "csv" => table(value, types).ok_or_else(|| refuse(path, ty, types))?.into_bytes(),
        _ => return Err(unknown(path)),
    };
    put(path, &bytes)
}

/// Writes what only JSON can hold.
pub fn write_whole(path: &Path, json: impl FnOnce() -> String) -> Result<(), Failure> {
    match ending(path).as_str() {
        "json" => put(path, json().as_bytes()),
        "npy" | "csv" => {
            let message = format!("{} cannot hold a gradient with several parts", path.display());
            Err(Diagnostic::error("E0815", Span::NONE, message)
                .hint("choose one parameter with --wrt, or write .json")
                .into())
        }
        _ => Err(unknown(path)),
    }
}

fn ending(path: &Path) -> String {
    path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase()).unwrap_or_default()
}

fn unknown(path: &Path) -> Failure {
    let message = format!("the kind of the file {} is not known", path.display());
    Diagnostic::error("E0817", Span::NONE, message).hint("files end in .json, .npy or .csv").into()
}

fn refuse(path: &Path, ty: TypeId, types: Types<'_>) -> Failure {
    let message = format!("{} cannot hold a value of type {}", path.display(), types.name(ty));
    Diagnostic::error("E0815", Span::NONE, message).hint("a .json file can").into()
}

fn put(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    std::fs::write(path, bytes).map_err(|error| {
        let why = match error.kind() {
            std::io::ErrorKind::NotFound => "there is no such folder".to_string(),
            std::io::ErrorKind::PermissionDenied => "writing it is not permitted".to_string(),
            _ => error.to_string(),
        };
        Diagnostic::error("E0821", Span::NONE, format!("cannot write {}: {why}", path.display())).into()
    })
}

/// A number or an array of numbers as a tensor.
fn tensor(value: &Value) -> Option<Tensor> {
    let single = |data| Some(Tensor { shape: Vec::new(), data });
    match view(value) {
        View::F64(x) => single(Data::F64(vec![x])),
        View::F32(x) => single(Data::F32(vec![x])),
        View::I64(n) => single(Data::I64(vec![n])),
        View::Bool(b) => single(Data::Bool(vec![b])),
        View::Array(shape, elements) => {
            let data = match elements {
                Elements::F64(v) => Data::F64(v.clone()),
                Elements::F32(v) => Data::F32(v.clone()),
                Elements::I64(v) => Data::I64(v.clone()),
                Elements::Bool(v) => Data::Bool(v.clone()),
                Elements::Any(_) => return None,
            };
            Some(Tensor { shape: shape.to_vec(), data })
        }
        View::Str(_) | View::Tuple(_) | View::Adt(..) | View::Closure(..) | View::Other => None,
    }
}

/// A vector, a matrix, a structure of columns, or an array of flat structures or tuples, as a table.
fn table(value: &Value, types: Types<'_>) -> Option<String> {
    match view(value) {
        View::Array([n], Elements::Any(rows)) => {
            let header = match view(rows.first()?) {
                View::Adt(id, _, _) if types.adt(id).kind == AdtKind::Struct => {
                    Some(types.adt(id).variants[0].fields.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>())
                }
                View::Tuple(_) => None,
                _ => return None,
            };
            let mut out = Vec::with_capacity(*n);
            for row in rows {
                let parts = match view(row) {
                    View::Adt(_, _, parts) | View::Tuple(parts) => parts,
                    _ => return None,
                };
                out.push(parts.iter().map(scalar).collect::<Option<Vec<String>>>()?);
            }
            csv::write(header.as_deref(), out.into_iter()).ok()
        }
        View::Array(shape @ ([_] | [_, _]), elements) => {
            let columns = shape.get(1).copied().unwrap_or(1);
            let rows = (0..shape[0]).map(|r| (0..columns).map(|c| cell(elements, r * columns + c)).collect());
            csv::write(None, rows).ok()
        }
        View::Adt(id, _, fields) if types.adt(id).kind == AdtKind::Struct => {
            let names: Vec<String> = types.adt(id).variants[0].fields.iter().map(|(name, _)| name.clone()).collect();
            let mut columns = Vec::new();
            for field in fields {
                match view(field) {
                    View::Array([n], elements) if !matches!(elements, Elements::Any(_)) => columns.push((*n, elements)),
                    _ => return None,
                }
            }
            let rows = columns.first()?.0;
            if columns.iter().any(|(n, _)| *n != rows) {
                return None;
            }
            csv::write(Some(&names), (0..rows).map(|r| columns.iter().map(|(_, e)| cell(e, r)).collect())).ok()
        }
        _ => scalar(value).map(|text| text + "\n"),
    }
}

fn cell(elements: &Elements, at: usize) -> String {
    match elements {
        Elements::F64(v) => format!("{:?}", v[at]),
        Elements::F32(v) => format!("{:?}", v[at]),
        Elements::I64(v) => v[at].to_string(),
        Elements::Bool(v) => v[at].to_string(),
        Elements::Any(v) => scalar(&v[at]).unwrap_or_default(),
    }
}

fn scalar(value: &Value) -> Option<String> {
    Some(match view(value) {
        View::F64(x) => format!("{x:?}"),
        View::F32(x) => format!("{x:?}"),
        View::I64(n) => n.to_string(),
        View::Bool(b) => b.to_string(),
        View::Str(s) => s.to_string(),
        View::Tuple(_) | View::Adt(..) | View::Closure(..) | View::Array(..) | View::Other => return None,
    })
}
