//! Values in Cotan's notation.
//!
//! In: a value with its type. Out: text, on one line or laid out; large arrays are shortened unless all is asked for.

use super::layout::Doc;
use super::make::Elements;
use super::types::Types;
use super::view::{View, view};
use crate::value::Value;
use cotan_ir::{AdtId, AdtKind, FnId, TypeId};

/// The value, laid out in lines.
pub fn text(value: &Value, ty: TypeId, types: Types<'_>, full: bool) -> String {
    Shower { types, limit: if full { usize::MAX } else { SHOWN } }.value(value, ty, false).lines()
}

/// The whole value on one line.
pub fn line(value: &Value, ty: TypeId, types: Types<'_>) -> String {
    Shower { types, limit: usize::MAX }.value(value, ty, false).line()
}

/// The value on one line, shortened more.
pub fn short_text(value: &Value, ty: TypeId, types: Types<'_>) -> String {
    Shower { types, limit: 24 }.value(value, ty, false).line()
}

/// Arrays of more elements are shortened.
const SHOWN: usize = 200;
/// So many elements at the beginning and at the end of an axis stay.
const FIRST: usize = 4;
const LAST: usize = 3;

struct Shower<'p> {
    types: Types<'p>,
    limit: usize,
}

impl Shower<'_> {
    fn value(&self, value: &Value, ty: TypeId, tangent: bool) -> Doc {
        let (ty, inside) = self.types.primal(ty);
        let tangent = tangent || inside;
        match view(value) {
            View::F64(x) => Doc::Word(float(x)),
            View::F32(x) => Doc::Word(float32(x)),
            View::I64(n) => Doc::Word(n.to_string()),
            View::Bool(b) => Doc::Word(b.to_string()),
            View::Str(s) => Doc::Word(string(s)),
            View::Tuple(parts) => {
                let items = parts
                    .iter()
                    .enumerate()
                    .map(|(i, p)| self.value(p, self.types.component(ty, i).unwrap_or(ty), tangent));
                Doc::Group { open: "(".into(), items: items.collect(), close: ")" }
            }
            View::Adt(id, variant, fields) => self.adt(id, variant, fields, tangent),
            View::Closure(code, captures) => self.closure(code, captures, tangent),
            View::Array(shape, elements) => {
                let count: usize = shape.iter().product();
                self.array((shape, elements), 0, self.types.element(ty).unwrap_or(ty), tangent, count > self.limit)
            }
            View::Other => Doc::Word("()".into()),
        }
    }

    fn adt(&self, id: AdtId, variant: u32, values: &[Value], tangent: bool) -> Doc {
        let types = self.types;
        let def = types.adt(id);
        let shape = &def.variants[variant as usize];
        let name = match def.kind {
            AdtKind::Struct => def.name.split('<').next().unwrap_or(&def.name),
            AdtKind::Enum | AdtKind::Residual => &shape.name,
        };
        if values.is_empty() {
            return Doc::Word(name.to_string());
        }
        let items = values.iter().zip(&shape.fields).map(|(value, (field, ty))| {
            let doc = self.value(value, *ty, tangent);
            if shape.named || def.kind == AdtKind::Struct { Doc::Named(field.clone(), Box::new(doc)) } else { doc }
        });
        let items = items.collect();
        if shape.named || def.kind == AdtKind::Struct {
            Doc::Group { open: format!("{name} {{"), items, close: "}" }
        } else {
            Doc::Group { open: format!("{name}("), items, close: ")" }
        }
    }

    /// `<fn name { w: 3.0 }>`, the tangent `{ w: 2.0 }`.
    fn closure(&self, code: FnId, values: &[Value], tangent: bool) -> Doc {
        let types = self.types;
        let items =
            types.captures(code).iter().zip(values).map(|(capture, value)| {
                Doc::Named(capture.name.clone(), Box::new(self.value(value, capture.ty, tangent)))
            });
        let items: Vec<Doc> = items.collect();
        let name = types.function_name(code);
        match (tangent, items.is_empty()) {
            (true, _) => Doc::Group { open: "{".into(), items, close: "}" },
            (false, true) => Doc::Word(format!("<fn {name}>")),
            (false, false) => Doc::Group { open: format!("<fn {name} {{"), items, close: "}>" },
        }
    }

    fn array(
        &self,
        (shape, elements): (&[usize], &Elements),
        start: usize,
        elem: TypeId,
        tangent: bool,
        shorten: bool,
    ) -> Doc {
        let below: usize = shape[1..].iter().product();
        let extent = shape[0];
        let mut items = Vec::new();
        let mut i = 0;
        while i < extent {
            if shorten && i == FIRST && extent > FIRST + LAST + 1 {
                items.push(Doc::Word("...".into()));
                i = extent - LAST;
            }
            let at = start + i * below;
            items.push(if shape.len() > 1 {
                self.array((&shape[1..], elements), at, elem, tangent, shorten)
            } else {
                match elements {
                    Elements::F64(v) => Doc::Word(float(v[at])),
                    Elements::F32(v) => Doc::Word(float32(v[at])),
                    Elements::I64(v) => Doc::Word(v[at].to_string()),
                    Elements::Bool(v) => Doc::Word(v[at].to_string()),
                    Elements::Any(v) => self.value(&v[at], elem, tangent),
                }
            });
            i += 1;
        }
        Doc::Group { open: "[".into(), items, close: "]" }
    }
}

fn float(x: f64) -> String {
    // The sign of a NaN means nothing.
    if x.is_nan() { "nan".into() } else { format!("{x:?}") }
}

fn float32(x: f32) -> String {
    if x.is_nan() { "nan".into() } else { format!("{x:?}") }
}

fn string(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\0' => out.push_str("\\0"),
            c if c.is_control() => out.push_str(&format!("\\u{{{:x}}}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
