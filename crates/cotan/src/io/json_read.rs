//! JSON to values.
//!
//! In: a text and the type that it must have. Out: the value, or a [`Fault`] with the path to the wrong part. Arrays of
//! numbers go straight into their storage.

use super::fault::Fault;
use super::json_reader::{self, Reader, Token};
use super::make::{self, Elements};
use super::types::Types;
use crate::suggest::nearest;
use crate::value::Value;
use cotan_ir::{AdtId, AdtKind, Type, TypeId, VariantDef};

/// Deeper values are refused: what walks a value by recursion has a stack for as many levels.
const DEEPEST: usize = 100_000;

/// Reads `text` as a value of type `ty`.
pub fn read(text: &str, ty: TypeId, types: Types<'_>) -> Result<Value, Fault> {
    let mut decoder = Decoder { reader: Reader::new(text), types, depth: 0, tangent: false };
    let value = decoder.value(ty)?;
    decoder.reader.end().map_err(syntax)?;
    Ok(value)
}

/// A text that is not JSON.
fn syntax(fault: json_reader::Fault) -> Fault {
    if fault.non_finite {
        let hint = "write \"NaN\", \"Infinity\" or \"-Infinity\" with quotes";
        return Fault::new("E0816", fault.message).at(fault.at).hint(hint);
    }
    Fault::new("E0804", format!("not JSON: {}", fault.message)).at(fault.at)
}

struct Decoder<'t, 'p> {
    reader: Reader<'t>,
    types: Types<'p>,
    depth: usize,
    /// Whether the types are those of points and the values are tangents at them.
    tangent: bool,
}

impl Decoder<'_, '_> {
    fn peek(&mut self) -> Result<Token, Fault> {
        self.reader.peek().map_err(syntax)
    }

    /// The next value is not what `expected` says.
    fn mismatch<T>(&mut self, expected: &str) -> Result<T, Fault> {
        // A text that is no JSON at all is worse than one of the wrong type.
        self.peek()?;
        let at = self.reader.position();
        let found = self.reader.excerpt();
        Err(Fault::new("E0805", format!("expected {expected}, found {found}")).at(at))
    }

    fn value(&mut self, ty: TypeId) -> Result<Value, Fault> {
        self.depth += 1;
        if self.depth > DEEPEST {
            let at = self.reader.position();
            return Err(Fault::new("E0809", format!("nested more than {DEEPEST} levels deep")).at(at));
        }
        let value = match self.types.get(ty).clone() {
            Type::F64 => make::float(self.float()?),
            Type::F32 => make::float32(self.float32()?),
            Type::I64 | Type::Bool | Type::Str if self.tangent => self.unit()?,
            Type::I64 => make::int(self.int()?),
            Type::Bool => make::bool(self.bool()?),
            Type::Str => {
                if self.peek()? != Token::String {
                    return self.mismatch("String");
                }
                make::string(&self.reader.string().map_err(syntax)?)
            }
            Type::Tuple(parts) if parts.is_empty() => self.unit()?,
            Type::Tuple(parts) => make::tuple(self.list(&parts, &|types| types.name(ty))?),
            Type::Array { rank, elem } => self.array(rank, elem)?,
            Type::Adt(adt) => self.adt(adt)?,
            Type::Tan(of) => {
                let outer = std::mem::replace(&mut self.tangent, true);
                let value = self.value(of)?;
                self.tangent = outer;
                value
            }
            Type::Fn { .. } | Type::Acc(_) | Type::Residual => {
                let message = format!("a value of type {} cannot come from outside", self.types.name(ty));
                return Err(Fault::new("E0814", message));
            }
        };
        self.depth -= 1;
        Ok(value)
    }

    fn unit(&mut self) -> Result<Value, Fault> {
        if self.peek()? != Token::Null {
            return self.mismatch("null");
        }
        self.reader.null().map_err(syntax)?;
        Ok(make::unit())
    }

    fn bool(&mut self) -> Result<bool, Fault> {
        if self.peek()? != Token::Bool {
            return self.mismatch("Bool");
        }
        self.reader.bool().map_err(syntax)
    }

    /// A float: a number, or the name of one that JSON lacks.
    fn float(&mut self) -> Result<f64, Fault> {
        match self.peek()? {
            Token::Number => {
                let at = self.reader.position();
                let text = self.reader.number().map_err(syntax)?;
                match text.parse::<f64>() {
                    Ok(x) if x.is_finite() => Ok(x),
                    _ => Err(Fault::new("E0807", format!("{text} is out of the range of Float")).at(at)),
                }
            }
            Token::String => match self.non_finite()? {
                Some(x) => Ok(x),
                None => self.mismatch("Float"),
            },
            Token::Null | Token::Bool | Token::Array | Token::Object => self.mismatch("Float"),
        }
    }

    fn float32(&mut self) -> Result<f32, Fault> {
        match self.peek()? {
            Token::Number => {
                let at = self.reader.position();
                let text = self.reader.number().map_err(syntax)?;
                match text.parse::<f32>() {
                    Ok(x) if x.is_finite() => Ok(x),
                    _ => Err(Fault::new("E0807", format!("{text} is out of the range of Float32")).at(at)),
                }
            }
            Token::String => match self.non_finite()? {
                Some(x) => Ok(x as f32),
                None => self.mismatch("Float32"),
            },
            Token::Null | Token::Bool | Token::Array | Token::Object => self.mismatch("Float32"),
        }
    }

    /// `"NaN"` and its like; the position stays where it is something else.
    fn non_finite(&mut self) -> Result<Option<f64>, Fault> {
        let word = match self.reader.excerpt().trim_matches('"') {
            "NaN" => f64::NAN,
            "Infinity" => f64::INFINITY,
            "-Infinity" => f64::NEG_INFINITY,
            _ => return Ok(None),
        };
        self.reader.string().map_err(syntax)?;
        Ok(Some(word))
    }

    fn int(&mut self) -> Result<i64, Fault> {
        if self.peek()? != Token::Number {
            return self.mismatch("Int");
        }
        let at = self.reader.position();
        let text = self.reader.number().map_err(syntax)?;
        if let Ok(n) = text.parse() {
            return Ok(n);
        }
        if !text.contains(['.', 'e', 'E']) {
            return Err(Fault::new("E0807", format!("{text} is out of the range of Int")).at(at));
        }
        // `3.0` and `1e3` are whole numbers all the same, as far as a binary64 is exact.
        match text.parse::<f64>() {
            Ok(x) if x.fract() == 0.0 && x.abs() <= 9_007_199_254_740_992.0 => Ok(x as i64),
            _ => Err(Fault::new("E0805", format!("expected Int, found {text}")).at(at)),
        }
    }

    /// A list of as many values as there are types.
    fn list(&mut self, parts: &[TypeId], name: &dyn Fn(Types<'_>) -> String) -> Result<Vec<Value>, Fault> {
        if self.peek()? != Token::Array {
            let expected = name(self.types);
            return self.mismatch(&format!("{expected} as a list"));
        }
        let at = self.reader.position();
        self.reader.open();
        let mut values = Vec::with_capacity(parts.len());
        let mut first = true;
        while self.reader.more(&mut first, b']').map_err(syntax)? {
            let Some(part) = parts.get(values.len()) else {
                let message = format!("expected {} values for {}, found more", parts.len(), name(self.types));
                return Err(Fault::new("E0805", message).at(at));
            };
            let position = values.len();
            values.push(self.value(*part).map_err(|f| f.inside(position))?);
        }
        if values.len() < parts.len() {
            let message = format!("expected {} values for {}, found {}", parts.len(), name(self.types), values.len());
            return Err(Fault::new("E0805", message).at(at));
        }
        Ok(values)
    }

    fn array(&mut self, rank: u32, elem: TypeId) -> Result<Value, Fault> {
        let mut shape = vec![None; rank as usize];
        let elements = match self.types.get(elem) {
            Type::F64 => {
                let mut out = Vec::new();
                self.level(&mut shape, 0, elem, &mut |d| d.float().map(|x| out.push(x)))?;
                Elements::F64(out)
            }
            Type::F32 => {
                let mut out = Vec::new();
                self.level(&mut shape, 0, elem, &mut |d| d.float32().map(|x| out.push(x)))?;
                Elements::F32(out)
            }
            Type::I64 if !self.tangent => {
                let mut out = Vec::new();
                self.level(&mut shape, 0, elem, &mut |d| d.int().map(|x| out.push(x)))?;
                Elements::I64(out)
            }
            Type::Bool if !self.tangent => {
                let mut out = Vec::new();
                self.level(&mut shape, 0, elem, &mut |d| d.bool().map(|x| out.push(x)))?;
                Elements::Bool(out)
            }
            Type::I64
            | Type::Bool
            | Type::Str
            | Type::Tuple(_)
            | Type::Array { .. }
            | Type::Adt(_)
            | Type::Fn { .. }
            | Type::Tan(_)
            | Type::Acc(_)
            | Type::Residual => {
                let mut out = Vec::new();
                self.level(&mut shape, 0, elem, &mut |d| d.value(elem).map(|x| out.push(x)))?;
                Elements::Any(out)
            }
        };
        Ok(make::array(shape.into_iter().map(|d| d.unwrap_or(0)).collect(), elements))
    }

    /// One level of brackets of an array; `push` reads an element.
    fn level(
        &mut self,
        shape: &mut [Option<usize>],
        axis: usize,
        elem: TypeId,
        push: &mut dyn FnMut(&mut Self) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        if self.peek()? != Token::Array {
            let expected = self.types.array_name((shape.len() - axis) as u32, elem);
            return self.mismatch(&expected);
        }
        let at = self.reader.position();
        self.reader.open();
        let innermost = axis + 1 == shape.len();
        let (mut first, mut count) = (true, 0);
        while self.reader.more(&mut first, b']').map_err(syntax)? {
            if innermost { push(self) } else { self.level(shape, axis + 1, elem, push) }
                .map_err(|f| f.inside(count))?;
            count += 1;
        }
        match shape[axis] {
            None => shape[axis] = Some(count),
            Some(extent) if extent != count => {
                let message = format!("this row has {count} elements, the rows before it have {extent}");
                return Err(Fault::new("E0806", message).at(at));
            }
            Some(_) => {}
        }
        Ok(())
    }

    fn adt(&mut self, id: AdtId) -> Result<Value, Fault> {
        let def = self.types.adt(id);
        if def.kind == AdtKind::Struct {
            let fields = self.fields(&def.variants[0], &def.name)?;
            return Ok(make::adt(id, 0, fields));
        }
        let names = || def.variants.iter().map(|v| v.name.as_str());
        let at = self.reader.position();
        match self.peek()? {
            Token::String => {
                let name = self.reader.string().map_err(syntax)?.into_owned();
                match def.variants.iter().position(|v| v.name == name) {
                    Some(i) if def.variants[i].fields.is_empty() => Ok(make::adt(id, i as u32, Vec::new())),
                    Some(i) => {
                        let message = format!("variant `{name}` of {} needs its payload", def.name);
                        Err(Fault::new("E0805", message).at(at).hint(form(&def.variants[i])))
                    }
                    None => Err(no_variant(&name, &def.name, names()).at(at)),
                }
            }
            Token::Object => {
                self.reader.open();
                let mut first = true;
                if !self.reader.more(&mut first, b'}').map_err(syntax)? {
                    return Err(Fault::new(
                        "E0805",
                        format!("expected a variant of {}, found an empty object", def.name),
                    )
                    .at(at));
                }
                let at_key = self.reader.position();
                let name = self.reader.key().map_err(syntax)?.into_owned();
                let Some(i) = def.variants.iter().position(|v| v.name == name) else {
                    return Err(no_variant(&name, &def.name, names()).at(at_key));
                };
                let variant = &def.variants[i];
                let fields = if variant.named {
                    self.fields(variant, &name)
                } else {
                    let parts: Vec<TypeId> = variant.fields.iter().map(|(_, t)| *t).collect();
                    self.list(&parts, &|_| format!("the payload of `{name}`"))
                };
                let fields = fields.map_err(|f| f.inside_name(&name))?;
                let at_next = self.reader.position();
                if self.reader.more(&mut first, b'}').map_err(syntax)? {
                    return Err(Fault::new(
                        "E0805",
                        format!("expected one variant of {}, found another key", def.name),
                    )
                    .at(at_next));
                }
                Ok(make::adt(id, i as u32, fields))
            }
            Token::Null | Token::Bool | Token::Number | Token::Array => {
                self.mismatch(&format!("a variant of {}", def.name))
            }
        }
    }

    /// The named fields of a structure or variant, in any order.
    fn fields(&mut self, variant: &VariantDef, name: &str) -> Result<Vec<Value>, Fault> {
        if self.peek()? != Token::Object {
            return self.mismatch(&format!("{name} as an object"));
        }
        let at = self.reader.position();
        self.reader.open();
        let mut values: Vec<Option<Value>> = vec![None; variant.fields.len()];
        let mut first = true;
        while self.reader.more(&mut first, b'}').map_err(syntax)? {
            let at_key = self.reader.position();
            let key = self.reader.key().map_err(syntax)?.into_owned();
            let Some(i) = variant.fields.iter().position(|(n, _)| *n == key) else {
                let mut fault = Fault::new("E0808", format!("{name} has no field `{key}`")).at(at_key);
                if let Some(near) = nearest(&key, variant.fields.iter().map(|(n, _)| n.as_str())) {
                    fault = fault.hint(format!("did you mean `{near}`?"));
                }
                return Err(fault);
            };
            if values[i].is_some() {
                return Err(Fault::new("E0808", format!("field `{key}` is given twice")).at(at_key));
            }
            values[i] = Some(self.value(variant.fields[i].1).map_err(|f| f.inside_name(&key))?);
        }
        let mut out = Vec::with_capacity(values.len());
        for (value, (field, ty)) in values.into_iter().zip(&variant.fields) {
            match value {
                Some(value) => out.push(value),
                None => {
                    let message = format!("field `{field}` of {name} is missing, of type {}", self.types.name(*ty));
                    return Err(Fault::new("E0808", message).at(at));
                }
            }
        }
        Ok(out)
    }
}

fn no_variant<'a>(name: &str, of: &str, names: impl Iterator<Item = &'a str> + Clone) -> Fault {
    let fault = Fault::new("E0808", format!("{of} has no variant `{name}`"));
    match nearest(name, names.clone()) {
        Some(near) => fault.hint(format!("did you mean `{near}`?")),
        None => {
            fault.hint(format!("the variants are {}", names.map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ")))
        }
    }
}

/// How a variant with a payload is written.
fn form(variant: &VariantDef) -> String {
    let fields: Vec<String> = variant
        .fields
        .iter()
        .map(|(name, _)| if variant.named { format!("\"{name}\": ...") } else { "...".into() })
        .collect();
    let (open, close) = if variant.named { ('{', '}') } else { ('[', ']') };
    format!("write {{\"{}\": {open}{}{close}}}", variant.name, fields.join(", "))
}
