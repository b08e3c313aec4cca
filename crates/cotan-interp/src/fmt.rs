//! Values in Cotan's notation.

use crate::array::Data;
use crate::value::{Array, Value};
use cotan_ir::{Program, Type, TypeId};
use std::fmt::Write;

/// A value of unknown type as text; arrays of more than a screenful are shortened unless `full`.
pub fn text<A>(program: &Program<A>, v: &Value, full: bool) -> String {
    typed_text(program, v, None, full)
}

/// A value as text. The type tells closures from tangents of closures.
pub fn typed_text<A>(program: &Program<A>, v: &Value, ty: Option<TypeId>, full: bool) -> String {
    let mut out = String::new();
    Printer { program, full, tangent: false, out: &mut out }.value(v, ty);
    out
}

/// A tangent as text; closures in it print the tangents of their captured variables.
pub fn tangent_text<A>(program: &Program<A>, v: &Value, full: bool) -> String {
    let mut out = String::new();
    Printer { program, full, tangent: true, out: &mut out }.value(v, None);
    out
}

/// The shortest text that reads back as the same number, always with a point, exponent or name.
pub fn float(x: f64) -> String {
    if x.is_nan() {
        "nan".into()
    } else if x.is_infinite() {
        if x > 0.0 { "inf".into() } else { "-inf".into() }
    } else {
        format!("{x:?}")
    }
}

struct Printer<'a, A> {
    program: &'a Program<A>,
    full: bool,
    /// Whether what is printed is part of a tangent that is no value of its own type.
    tangent: bool,
    out: &'a mut String,
}

const SCREENFUL: usize = 200;

impl<A> Printer<'_, A> {
    fn value(&mut self, v: &Value, ty: Option<TypeId>) {
        let kind = ty.map(|t| self.program.ty(t).clone());
        if let (Some(Type::Tan(_)), false) = (&kind, self.tangent) {
            self.tangent = true;
            self.value(v, None);
            self.tangent = false;
            return;
        }
        match v {
            Value::Unit => self.out.push_str("()"),
            Value::Zero => self.out.push('0'),
            Value::F64(x) => self.out.push_str(&float(*x)),
            Value::F32(x) if x.is_finite() => {
                let _ = write!(self.out, "{x:?}");
            }
            Value::F32(x) => self.out.push_str(&float(f64::from(*x))),
            Value::I64(i) => {
                let _ = write!(self.out, "{i}");
            }
            Value::Bool(b) => {
                let _ = write!(self.out, "{b}");
            }
            Value::Str(s) => {
                let _ = write!(self.out, "{s:?}");
            }
            Value::Tuple(vs) => {
                let parts = match kind {
                    Some(Type::Tuple(parts)) => parts.into_iter().map(Some).collect(),
                    _ => vec![None; vs.len()],
                };
                self.list("(", ")", vs.iter().zip(parts));
            }
            Value::Adt(a) => {
                let Some(variant) = self.program.adts[a.adt].variants.get(a.variant as usize) else { return };
                let tangent = self.tangent;
                self.out.push_str(&variant.name);
                let fields = variant.fields.iter().map(|(_, t)| if tangent { None } else { Some(*t) });
                if variant.named {
                    self.out.push_str(" { ");
                    for (i, (v, (name, ty))) in a.fields.iter().zip(&variant.fields).enumerate() {
                        if i > 0 {
                            self.out.push_str(", ");
                        }
                        let _ = write!(self.out, "{name}: ");
                        self.value(v, if tangent { None } else { Some(*ty) });
                    }
                    self.out.push_str(" }");
                } else if !a.fields.is_empty() {
                    self.list("(", ")", a.fields.iter().zip(fields));
                }
            }
            Value::Fn(c) => {
                let f = &self.program.fns[c.code];
                let names: Vec<_> = f.captures.iter().flatten().map(|c| (c.name.clone(), c.ty)).collect();
                let tangent = self.tangent;
                if !tangent {
                    let _ = write!(self.out, "<fn {}", f.name);
                }
                if tangent || !names.is_empty() {
                    self.out.push_str(if tangent { "{ " } else { " { " });
                    for (i, ((name, ty), v)) in names.iter().zip(&c.captures).enumerate() {
                        if i > 0 {
                            self.out.push_str(", ");
                        }
                        let _ = write!(self.out, "{name}: ");
                        self.value(v, if tangent { None } else { Some(*ty) });
                    }
                    self.out.push_str(" }");
                }
                if !tangent {
                    self.out.push('>');
                }
            }
            Value::Array(a) => self.array(a, ty),
            Value::Residual(_) => self.out.push_str("<residual>"),
            Value::Acc(_) => self.out.push_str("<accumulator>"),
        }
    }

    fn list<'v>(&mut self, open: &str, close: &str, items: impl Iterator<Item = (&'v Value, Option<TypeId>)>) {
        self.out.push_str(open);
        for (i, (v, ty)) in items.enumerate() {
            if i > 0 {
                self.out.push_str(", ");
            }
            self.value(v, ty);
        }
        self.out.push_str(close);
    }

    fn array(&mut self, a: &Array, ty: Option<TypeId>) {
        let elem = match ty.map(|t| self.program.ty(t)) {
            Some(Type::Array { elem, .. }) => Some(*elem),
            _ => None,
        };
        self.rows(&a.shape, &a.data, 0, elem);
    }

    fn rows(&mut self, shape: &[usize], data: &Data, offset: usize, elem: Option<TypeId>) {
        self.out.push('[');
        let stride: usize = shape[1..].iter().product();
        let n = shape[0];
        let cut = !self.full && n > SCREENFUL;
        for i in 0..n {
            if cut && i == SCREENFUL / 2 {
                let _ = write!(self.out, ", ... {} more ...", n - SCREENFUL);
            }
            if cut && i >= SCREENFUL / 2 && i < n - SCREENFUL / 2 {
                continue;
            }
            if i > 0 {
                self.out.push_str(", ");
            }
            if shape.len() == 1 {
                self.value(&data.get(offset + i), elem);
            } else {
                self.rows(&shape[1..], data, offset + i * stride, elem);
            }
        }
        self.out.push(']');
    }
}
