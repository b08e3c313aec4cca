//! Values to JSON.
//!
//! In: values with their types. Out: text. Numbers are the shortest that read back as the same; NaN and infinities are strings.

use super::make::Elements;
use super::types::Types;
use super::view::{View, view};
use crate::value::Value;
use cotan_ir::{AdtId, AdtKind, FnId, TypeId};
use std::fmt::Write;

/// A piece of a JSON text.
pub enum Piece<'v> {
    /// JSON as it is.
    Text(&'static str),
    /// A string.
    Name(&'v str),
    /// A value.
    Value(&'v Value, TypeId),
}

/// The pieces one after the other.
pub fn json(pieces: &[Piece<'_>], types: Types<'_>) -> String {
    let mut writer = Writer { types, out: String::new() };
    for piece in pieces {
        match piece {
            Piece::Text(text) => writer.out.push_str(text),
            Piece::Name(name) => string(&mut writer.out, name),
            Piece::Value(value, ty) => writer.value(value, *ty, false),
        }
    }
    writer.out
}

struct Writer<'p> {
    types: Types<'p>,
    out: String,
}

impl Writer<'_> {
    /// A value of a type, or of its tangent space.
    fn value(&mut self, value: &Value, ty: TypeId, tangent: bool) {
        let (ty, inside) = self.types.primal(ty);
        let tangent = tangent || inside;
        match view(value) {
            View::F64(x) => float(&mut self.out, x),
            View::F32(x) => float32(&mut self.out, x),
            View::I64(n) => integer(&mut self.out, n),
            View::Bool(b) => self.out.push_str(if b { "true" } else { "false" }),
            View::Str(s) => string(&mut self.out, s),
            View::Tuple([]) | View::Other => self.out.push_str("null"),
            View::Tuple(parts) => {
                let types = self.types;
                self.list(parts, |i| types.component(ty, i).unwrap_or(ty), tangent);
            }
            View::Adt(id, variant, fields) => self.adt(id, variant, fields, tangent),
            View::Closure(code, captures) => self.closure(code, captures, tangent),
            View::Array(shape, elements) => {
                let elem = self.types.element(ty).unwrap_or(ty);
                self.array(shape, elements, 0, elem, tangent);
            }
        }
    }

    fn list(&mut self, parts: &[Value], ty: impl Fn(usize) -> TypeId, tangent: bool) {
        self.out.push('[');
        for (i, part) in parts.iter().enumerate() {
            if i > 0 {
                self.out.push(',');
            }
            self.value(part, ty(i), tangent);
        }
        self.out.push(']');
    }

    fn fields<'n>(&mut self, fields: impl Iterator<Item = (&'n str, TypeId)>, values: &[Value], tangent: bool) {
        self.out.push('{');
        for (i, ((name, ty), value)) in fields.zip(values).enumerate() {
            if i > 0 {
                self.out.push(',');
            }
            string(&mut self.out, name);
            self.out.push(':');
            self.value(value, ty, tangent);
        }
        self.out.push('}');
    }

    fn adt(&mut self, id: AdtId, variant: u32, values: &[Value], tangent: bool) {
        let def = self.types.adt(id);
        let shape = &def.variants[variant as usize];
        let fields = shape.fields.iter().map(|(n, t)| (n.as_str(), *t));
        if def.kind == AdtKind::Struct {
            return self.fields(fields, values, tangent);
        }
        if values.is_empty() {
            return string(&mut self.out, &shape.name);
        }
        self.out.push('{');
        string(&mut self.out, &shape.name);
        self.out.push(':');
        if shape.named {
            self.fields(fields, values, tangent);
        } else {
            self.list(values, |i| shape.fields[i].1, tangent);
        }
        self.out.push('}');
    }

    fn closure(&mut self, code: FnId, values: &[Value], tangent: bool) {
        let types = self.types;
        let captures = types.captures(code).iter().map(|c| (c.name.as_str(), c.ty));
        if tangent {
            return self.fields(captures, values, true);
        }
        self.out.push_str("{\"fn\":");
        string(&mut self.out, types.function_name(code));
        self.out.push_str(",\"captures\":");
        self.fields(captures, values, false);
        self.out.push('}');
    }

    fn array(&mut self, shape: &[usize], elements: &Elements, start: usize, elem: TypeId, tangent: bool) {
        self.out.push('[');
        let below: usize = shape[1..].iter().product();
        for i in 0..shape[0] {
            if i > 0 {
                self.out.push(',');
            }
            let at = start + i * below;
            if shape.len() > 1 {
                self.array(&shape[1..], elements, at, elem, tangent);
                continue;
            }
            match elements {
                Elements::F64(v) => float(&mut self.out, v[at]),
                Elements::F32(v) => float32(&mut self.out, v[at]),
                Elements::I64(v) => integer(&mut self.out, v[at]),
                Elements::Bool(v) => self.out.push_str(if v[at] { "true" } else { "false" }),
                Elements::Any(v) => self.value(&v[at], elem, tangent),
            }
        }
        self.out.push(']');
    }
}

fn float(out: &mut String, x: f64) {
    // A string takes any text.
    let _ = match x {
        x if x.is_finite() => write!(out, "{x:?}"),
        x if x.is_nan() => write!(out, "\"NaN\""),
        x => write!(out, "\"{}Infinity\"", if x > 0.0 { "" } else { "-" }),
    };
}

fn float32(out: &mut String, x: f32) {
    if x.is_finite() {
        let _ = write!(out, "{x:?}");
    } else {
        float(out, f64::from(x));
    }
}

fn integer(out: &mut String, n: i64) {
    let _ = write!(out, "{n}");
}

fn string(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if (c as u32) < 0x20 => {
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
}
