//! Arguments: JSON, or `@path` of a file.
//!
//! In: the text after `NAME=` and the type of the parameter. Out: the value, or a diagnostic that names the wrong part.

use super::csv::{self, Table};
use super::fault::Fault;
use super::json_read;
use super::make::{self, Elements};
use super::npy::{self, Data, Tensor};
use super::types::Types;
use crate::failure::Failure;
use crate::load::{read_bytes, read_text};
use crate::value::Value;
use cotan_ir::{AdtId, AdtKind, Type, TypeId};
use cotan_source::{Diagnostic, SourceMap, Span};
use std::path::Path;

/// Reads the argument `name`.
pub fn read_argument(
    name: &str,
    text: &str,
    ty: TypeId,
    types: Types<'_>,
    sources: &mut SourceMap,
) -> Result<Value, Failure> {
    let Some(path) = text.strip_prefix('@') else {
        let shown = format!("--arg {name}");
        return json_read::read(text, ty, types)
            .map_err(|fault| fault.diagnostic(name, Some((&shown, text)), sources).into());
    };
    let file = Path::new(path);
    let ending = file.extension().map(|e| e.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
    let result = match ending.as_str() {
        "json" => {
            let text = read_text(file)?;
            return json_read::read(&text, ty, types)
                .map_err(|fault| fault.diagnostic(name, Some((path, &text)), sources).into());
        }
        "csv" => {
            let text = read_text(file)?;
            csv::read(&text).map_err(|m| Fault::new("E0811", m)).and_then(|t| from_table(&t, ty, types))
        }
        "npy" => {
            let bytes = read_bytes(file)?;
            npy::read(&bytes).map_err(|m| Fault::new("E0812", m)).and_then(|t| from_tensor(t, ty, types))
        }
        "npz" => {
            let bytes = read_bytes(file)?;
            npy::read_npz(&bytes).map_err(|m| Fault::new("E0812", m)).and_then(|a| from_archive(a, ty, types))
        }
        _ => {
            let message = format!("`{name}`: the kind of the file {path} is not known");
            let hint = "files end in .json, .csv, .npy or .npz";
            return Err(Diagnostic::error("E0817", Span::NONE, message).hint(hint).into());
        }
    };
    result.map_err(|fault| fault.diagnostic(name, None, sources).note(format!("in {path}")).into())
}

/// An array of a NumPy file.
fn from_tensor(tensor: Tensor, ty: TypeId, types: Types<'_>) -> Result<Value, Fault> {
    let (rank, elem) = match types.get(ty) {
        Type::Array { rank, elem } => (*rank as usize, *elem),
        Type::F64 | Type::F32 | Type::I64 | Type::Bool => (0, ty),
        Type::Str | Type::Tuple(_) | Type::Adt(_) | Type::Fn { .. } | Type::Tan(_) | Type::Acc(_) | Type::Residual => {
            return Err(Fault::new("E0812", format!("expected {}, found an array of numbers", types.name(ty))));
        }
    };
    if tensor.shape.len() != rank {
        let message = format!(
            "expected {}, which has {rank} {}, found an array with {} (shape {:?})",
            types.name(ty),
            if rank == 1 { "axis" } else { "axes" },
            tensor.shape.len(),
            tensor.shape
        );
        return Err(Fault::new("E0812", message));
    }
    let elements = convert(tensor.data, elem, types)?;
    if rank > 0 {
        return Ok(make::array(tensor.shape, elements));
    }
    Ok(match elements {
        Elements::F64(v) => make::float(v[0]),
        Elements::F32(v) => make::float32(v[0]),
        Elements::I64(v) => make::int(v[0]),
        Elements::Bool(v) => make::bool(v[0]),
        Elements::Any(mut v) => v.remove(0),
    })
}

/// Elements of a file as elements of the type asked for: whole numbers and binary32 widen, nothing is rounded silently
/// but binary64 to binary32 where `Float32` is asked for.
fn convert(data: Data, elem: TypeId, types: Types<'_>) -> Result<Elements, Fault> {
    let found = match data {
        Data::F64(_) => "f8",
        Data::F32(_) => "f4",
        Data::I64(_) => "integers",
        Data::Bool(_) => "truth values",
    };
    match (types.get(elem), data) {
        (Type::F64, Data::F64(v)) => Ok(Elements::F64(v)),
        (Type::F64, Data::F32(v)) => Ok(Elements::F64(v.into_iter().map(f64::from).collect())),
        (Type::F64, Data::I64(v)) => Ok(Elements::F64(v.into_iter().map(|x| x as f64).collect())),
        (Type::F32, Data::F32(v)) => Ok(Elements::F32(v)),
        (Type::F32, Data::F64(v)) => Ok(Elements::F32(v.into_iter().map(|x| x as f32).collect())),
        (Type::F32, Data::I64(v)) => Ok(Elements::F32(v.into_iter().map(|x| x as f32).collect())),
        (Type::I64, Data::I64(v)) => Ok(Elements::I64(v)),
        (Type::Bool, Data::Bool(v)) => Ok(Elements::Bool(v)),
        _ => Err(Fault::new("E0812", format!("expected elements of type {}, found {found}", types.name(elem)))),
    }
}

/// The arrays of an archive: the fields of a structure by name, or one array.
fn from_archive(mut arrays: Vec<(String, Tensor)>, ty: TypeId, types: Types<'_>) -> Result<Value, Fault> {
    if let Some((id, fields)) = structure(ty, types) {
        let mut values = Vec::with_capacity(fields.len());
        for (name, field) in fields {
            let Some(i) = arrays.iter().position(|(n, _)| n == name) else {
                let names: Vec<&str> = arrays.iter().map(|(n, _)| n.as_str()).collect();
                let message = format!("the archive has no array `{name}` (it has {})", names.join(", "));
                return Err(Fault::new("E0812", message));
            };
            let (_, tensor) = arrays.swap_remove(i);
            values.push(from_tensor(tensor, *field, types).map_err(|f| f.inside_name(name))?);
        }
        return Ok(make::adt(id, 0, values));
    }
    match arrays.len() {
        1 => from_tensor(arrays.remove(0).1, ty, types),
        n => Err(Fault::new("E0812", format!("the archive holds {n} arrays, {} needs one", types.name(ty)))),
    }
}

/// The fields of `ty` if it is a structure.
fn structure<'p>(ty: TypeId, types: Types<'p>) -> Option<(AdtId, &'p [(String, TypeId)])> {
    match types.get(ty) {
        Type::Adt(id) if types.adt(*id).kind == AdtKind::Struct => Some((*id, &types.adt(*id).variants[0].fields)),
        _ => None,
    }
}

/// A table as an array of rows, a vector, an array of structures or tuples, or a structure of columns.
fn from_table(table: &Table, ty: TypeId, types: Types<'_>) -> Result<Value, Fault> {
    if let Some((id, fields)) = structure(ty, types) {
        let mut values = Vec::with_capacity(fields.len());
        for (name, field) in fields {
            let column = named_column(table, name)?;
            let Type::Array { rank: 1, elem } = types.get(*field) else {
                let message = format!("a column is an array of numbers, the field has type {}", types.name(*field));
                return Err(Fault::new("E0811", message).inside_name(name));
            };
            values.push(vector(table, column, *elem, types).map_err(|f| f.inside_name(name))?);
        }
        return Ok(make::adt(id, 0, values));
    }
    let wrong = || Err(Fault::new("E0811", format!("expected {}, found a table", types.name(ty))));
    let Type::Array { rank, elem } = types.get(ty) else { return wrong() };
    match (rank, types.get(*elem)) {
        (2, Type::F64 | Type::F32 | Type::I64 | Type::Bool | Type::Str) => {
            let places = (0..table.rows.len()).flat_map(|r| (0..table.columns).map(move |c| (r, c)));
            let elements = cells(table, places, *elem, types)?;
            Ok(make::array(vec![table.rows.len(), table.columns], elements))
        }
        (1, Type::F64 | Type::F32 | Type::I64 | Type::Bool | Type::Str) => {
            if table.columns > 1 {
                let message = format!("expected {}, found a table with {} columns", types.name(ty), table.columns);
                return Err(Fault::new("E0811", message).hint("an array of rows has type `[][]Float`"));
            }
            vector(table, 0, *elem, types)
        }
        (1, Type::Adt(_)) if structure(*elem, types).is_some() => {
            let Some((id, fields)) = structure(*elem, types) else { return wrong() };
            let columns = fields.iter().map(|(name, _)| named_column(table, name)).collect::<Result<Vec<_>, _>>()?;
            let tys: Vec<TypeId> = fields.iter().map(|(_, t)| *t).collect();
            rows(table, &columns, &tys, types, |values| make::adt(id, 0, values))
        }
        (1, Type::Tuple(parts)) => {
            if parts.len() != table.columns {
                let message = format!("expected {} columns, found {}", parts.len(), table.columns);
                return Err(Fault::new("E0811", message));
            }
            let columns: Vec<usize> = (0..parts.len()).collect();
            rows(table, &columns, parts, types, make::tuple)
        }
        _ => wrong(),
    }
}

fn named_column(table: &Table, name: &str) -> Result<usize, Fault> {
    let Some(header) = &table.header else {
        let message = format!("the first line does not name the columns, and column `{name}` is asked for");
        return Err(Fault::new("E0811", message));
    };
    header.iter().position(|h| h == name).ok_or_else(|| {
        let fault = Fault::new("E0811", format!("there is no column `{name}` (there are {})", header.join(", ")));
        match crate::suggest::nearest(name, header.iter().map(String::as_str)) {
            Some(near) => fault.hint(format!("did you mean `{near}`?")),
            None => fault,
        }
    })
}

/// An array of one value per row, made of some of its cells.
fn rows(
    table: &Table,
    columns: &[usize],
    tys: &[TypeId],
    types: Types<'_>,
    make_row: impl Fn(Vec<Value>) -> Value,
) -> Result<Value, Fault> {
    let mut out = Vec::with_capacity(table.rows.len());
    for row in 0..table.rows.len() {
        let mut values = Vec::with_capacity(tys.len());
        for (column, ty) in columns.iter().zip(tys) {
            values.push(match cells(table, std::iter::once((row, *column)), *ty, types)? {
                Elements::F64(v) => make::float(v[0]),
                Elements::F32(v) => make::float32(v[0]),
                Elements::I64(v) => make::int(v[0]),
                Elements::Bool(v) => make::bool(v[0]),
                Elements::Any(mut v) => v.remove(0),
            });
        }
        out.push(make_row(values));
    }
    Ok(make::array(vec![out.len()], Elements::Any(out)))
}

fn vector(table: &Table, column: usize, elem: TypeId, types: Types<'_>) -> Result<Value, Fault> {
    let elements = cells(table, (0..table.rows.len()).map(|r| (r, column)), elem, types)?;
    Ok(make::array(vec![table.rows.len()], elements))
}

/// The cells at these places as elements of one type.
fn cells(
    table: &Table,
    places: impl Iterator<Item = (usize, usize)>,
    elem: TypeId,
    types: Types<'_>,
) -> Result<Elements, Fault> {
    fn all<T>(
        table: &Table,
        places: impl Iterator<Item = (usize, usize)>,
        expected: &str,
        read: impl Fn(&str) -> Option<T>,
    ) -> Result<Vec<T>, Fault> {
        places
            .map(|(row, column)| {
                let cell = table.cell(row, column);
                read(cell).ok_or_else(|| {
                    let found = if cell.is_empty() { "an empty cell".to_string() } else { format!("{cell:?}") };
                    let place = format!("line {}, {}", table.line(row), table.column_name(column));
                    Fault::new("E0811", format!("{place}: expected {expected}, found {found}"))
                })
            })
            .collect()
    }
    Ok(match types.get(elem) {
        Type::F64 => Elements::F64(all(table, places, "Float", csv::number)?),
        Type::F32 => Elements::F32(all(table, places, "Float32", |c| csv::number(c).map(|x| x as f32))?),
        Type::I64 => Elements::I64(all(table, places, "Int", |c| c.parse().ok())?),
        Type::Bool => Elements::Bool(all(table, places, "Bool", |c| match c.to_ascii_lowercase().as_str() {
            "true" | "1" => Some(true),
            "false" | "0" => Some(false),
            _ => None,
        })?),
        Type::Str => Elements::Any(all(table, places, "String", |c| Some(make::string(c)))?),
        Type::Tuple(_)
        | Type::Array { .. }
        | Type::Adt(_)
        | Type::Fn { .. }
        | Type::Tan(_)
        | Type::Acc(_)
        | Type::Residual => {
            return Err(Fault::new("E0811", format!("a cell cannot be of type {}", types.name(elem))));
        }
    })
}
