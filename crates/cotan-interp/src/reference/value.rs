//! Values whose numbers know their derivatives.
//!
//! In: values of the crate. Out: values in which every float may be a dual number or a node of a tape, nested in any mixture. A number
//! of a tag holds a primal of lower tags only, so the outermost derivative is the innermost part.

use crate::array::Data;
use crate::fault::{Fault, Part};
use crate::value::{AdtValue, Array, Closure, Value};
use cotan_ir::{AdtId, FnId};
use std::rc::Rc;

/// A value.
#[derive(Clone, Debug)]
pub(super) enum Val {
    /// `()`; also the content of an empty slot.
    Unit,
    /// binary64 without derivative.
    F64(f64),
    /// binary32 without derivative.
    F32(f32),
    /// A float of either kind with a derivative.
    Num(Rc<Num>),
    /// Integer.
    I64(i64),
    /// Truth value.
    Bool(bool),
    /// Text.
    Str(Rc<String>),
    /// A tuple.
    Tuple(Rc<Vec<Val>>),
    /// A structure, variant, residual, or a tangent of one.
    Adt(Rc<Adt>),
    /// An array.
    Array(Rc<Arr>),
    /// A function value or a tangent of one.
    Fn(Rc<Fun>),
    /// The zero of any tangent space.
    Zero,
    /// An accumulator; none forgets.
    Acc(Option<Rc<super::cell::Cell>>),
}

/// A number with a derivative at one tag.
#[derive(Debug)]
pub(super) struct Num {
    /// Which derivative; unique, and higher further inside.
    pub tag: u64,
    /// The number without it.
    pub primal: Val,
    /// The derivative.
    pub along: Along,
}

/// How a number depends on the variable of a tag.
#[derive(Debug)]
pub(super) enum Along {
    /// Its tangent.
    Dual(Val),
    /// Its node on the tape.
    Node(u32),
}

/// The payload of a nominal type.
#[derive(Clone, Debug)]
pub(super) struct Adt {
    pub adt: AdtId,
    pub variant: u32,
    pub fields: Vec<Val>,
}

/// A rectangular array, row by row.
#[derive(Clone, Debug)]
pub(super) struct Arr {
    pub shape: Vec<usize>,
    pub data: Vec<Val>,
}

/// A function value.
#[derive(Clone, Debug)]
pub(super) struct Fun {
    pub code: Code,
    pub captures: Vec<Val>,
}

/// What a function value runs.
#[derive(Clone, Debug)]
pub(super) enum Code {
    /// A function of the program.
    Fn(FnId),
    /// The way back along a tape; captures are the value, the point, and the partial derivatives.
    Pullback(Rc<super::tape::Skeleton>),
    /// A function with a rule of forward mode (`true`) or reverse mode; captures are the two.
    Attached(bool),
}

impl PartialEq for Code {
    fn eq(&self, other: &Code) -> bool {
        match (self, other) {
            (Code::Fn(a), Code::Fn(b)) => a == b,
            (Code::Pullback(a), Code::Pullback(b)) => Rc::ptr_eq(a, b),
            (Code::Attached(a), Code::Attached(b)) => a == b,
            _ => false,
        }
    }
}

/// The functions of the program that stand for codes that are none, when a value leaves.
#[derive(Clone, Copy, Debug)]
pub(super) struct Names {
    pub pullback: FnId,
    pub attached: FnId,
}

pub(super) fn tuple(parts: Vec<Val>) -> Val {
    if parts.is_empty() { Val::Unit } else { Val::Tuple(Rc::new(parts)) }
}

pub(super) fn array(shape: Vec<usize>, data: Vec<Val>) -> Val {
    Val::Array(Rc::new(Arr { shape, data }))
}

pub(super) fn function(code: Code, captures: Vec<Val>) -> Val {
    Val::Fn(Rc::new(Fun { code, captures }))
}

impl Val {
    /// A value from outside.
    pub fn enter(v: &Value) -> Val {
        let all = |vs: &[Value]| vs.iter().map(Val::enter).collect::<Vec<_>>();
        match v {
            Value::Unit => Val::Unit,
            Value::F64(x) => Val::F64(*x),
            Value::F32(x) => Val::F32(*x),
            Value::I64(i) => Val::I64(*i),
            Value::Bool(b) => Val::Bool(*b),
            Value::Str(s) => Val::Str(s.clone()),
            Value::Tuple(vs) => tuple(all(vs)),
            Value::Adt(a) => Val::Adt(Rc::new(Adt { adt: a.adt, variant: a.variant, fields: all(&a.fields) })),
            Value::Array(a) => array(a.shape.clone(), all(&a.data.to_values())),
            Value::Fn(c) => function(Code::Fn(c.code), all(&c.captures)),
            Value::Zero | Value::Residual(_) | Value::Acc(_) => Val::Zero,
        }
    }

    /// The value for the outside, without derivatives.
    pub fn leave(&self, names: Names) -> Value {
        let all = |vs: &[Val]| vs.iter().map(|v| v.leave(names)).collect::<Vec<_>>();
        match self {
            Val::Unit => Value::Unit,
            Val::F64(x) => Value::F64(*x),
            Val::F32(x) => Value::F32(*x),
            Val::Num(n) => n.primal.leave(names),
            Val::I64(i) => Value::I64(*i),
            Val::Bool(b) => Value::Bool(*b),
            Val::Str(s) => Value::Str(s.clone()),
            Val::Tuple(vs) => Value::Tuple(Rc::new(all(vs))),
            Val::Adt(a) => Value::Adt(Rc::new(AdtValue { adt: a.adt, variant: a.variant, fields: all(&a.fields) })),
            Val::Array(a) => Value::Array(Rc::new(Array {
                shape: a.shape.clone(),
                data: Data::from_values(a.data.iter().map(|v| v.leave(names))),
            })),
            Val::Fn(f) => Value::Fn(Rc::new(match &f.code {
                Code::Fn(code) => Closure { code: *code, captures: all(&f.captures), attached: false },
                Code::Pullback(_) => Closure { code: names.pullback, captures: Vec::new(), attached: false },
                Code::Attached(_) => Closure { code: names.attached, captures: all(&f.captures), attached: true },
            })),
            Val::Zero | Val::Acc(_) => Value::Zero,
        }
    }

    /// The highest tag of a float, 0 if it has none.
    pub fn tag(&self) -> u64 {
        match self {
            Val::Num(n) => n.tag,
            _ => 0,
        }
    }

    /// A float without its derivative at `tag`.
    pub fn primal(&self, tag: u64) -> &Val {
        match self {
            Val::Num(n) if n.tag == tag => &n.primal,
            v => v,
        }
    }

    /// A float without derivatives.
    pub fn plain(&self) -> &Val {
        match self {
            Val::Num(n) => n.primal.plain(),
            v => v,
        }
    }

    /// Its node on the tape of `tag`.
    pub fn node(&self, tag: u64) -> Option<u32> {
        match self {
            Val::Num(n) if n.tag == tag => match n.along {
                Along::Node(node) => Some(node),
                Along::Dual(_) => None,
            },
            _ => None,
        }
    }

    /// Its tangent at `tag`, if it has one.
    pub fn dot(&self, tag: u64) -> Option<&Val> {
        match self {
            Val::Num(n) if n.tag == tag => match &n.along {
                Along::Dual(dot) => Some(dot),
                Along::Node(_) => None,
            },
            _ => None,
        }
    }

    pub fn is_float(&self) -> bool {
        matches!(self, Val::F64(_) | Val::F32(_) | Val::Num(_))
    }

    /// The zero of a float's type.
    pub fn float_zero(&self) -> Val {
        match self.plain() {
            Val::F32(_) => Val::F32(0.0),
            _ => Val::F64(0.0),
        }
    }

    /// The components of a tuple.
    pub fn parts(&self) -> &[Val] {
        match self {
            Val::Tuple(vs) => vs,
            _ => &[],
        }
    }
}

/// Visits the floats of a value from left to right.
pub(super) fn each_float(v: &Val, f: &mut dyn FnMut(&Val)) {
    match v {
        Val::F64(_) | Val::F32(_) | Val::Num(_) => f(v),
        Val::Tuple(vs) => vs.iter().for_each(|v| each_float(v, f)),
        Val::Adt(a) => a.fields.iter().for_each(|v| each_float(v, f)),
        Val::Fn(c) => c.captures.iter().for_each(|v| each_float(v, f)),
        Val::Array(a) => a.data.iter().for_each(|v| each_float(v, f)),
        Val::Unit | Val::I64(_) | Val::Bool(_) | Val::Str(_) | Val::Zero | Val::Acc(_) => {}
    }
}

/// Whether there are as many function values in a value, each counted as often as it is reached.
pub(super) fn holds_functions(v: &Val, many: usize) -> bool {
    fn count(v: &Val, left: &mut usize) {
        let parts: &[Val] = match v {
            Val::Tuple(vs) => vs,
            Val::Adt(a) => &a.fields,
            // Of numbers there may be many.
            Val::Array(a) if !a.data.first().is_some_and(Val::is_float) => &a.data,
            Val::Fn(c) => {
                *left = left.saturating_sub(1);
                &c.captures
            }
            _ => &[],
        };
        for part in parts {
            if *left == 0 {
                return;
            }
            count(part, left);
        }
    }
    let mut left = many;
    count(v, &mut left);
    left == 0
}

/// The highest tag in a value, 0 if there is none.
pub(super) fn top_tag(v: &Val) -> u64 {
    let mut top = 0;
    each_float(v, &mut |x| top = top.max(x.tag()));
    top
}

/// The value with its floats changed, those for which `f` has an answer. Parts without change stay shared.
pub(super) fn map_floats(v: &Val, f: &mut dyn FnMut(&Val) -> Option<Val>) -> Val {
    changed(v, f).unwrap_or_else(|| v.clone())
}

fn changed(v: &Val, f: &mut dyn FnMut(&Val) -> Option<Val>) -> Option<Val> {
    match v {
        Val::F64(_) | Val::F32(_) | Val::Num(_) => f(v),
        Val::Tuple(vs) => Some(Val::Tuple(Rc::new(changed_list(vs, f)?))),
        Val::Adt(a) => {
            let fields = changed_list(&a.fields, f)?;
            Some(Val::Adt(Rc::new(Adt { adt: a.adt, variant: a.variant, fields })))
        }
        Val::Fn(c) => Some(function(c.code.clone(), changed_list(&c.captures, f)?)),
        Val::Array(a) => Some(array(a.shape.clone(), changed_list(&a.data, f)?)),
        Val::Unit | Val::I64(_) | Val::Bool(_) | Val::Str(_) | Val::Zero | Val::Acc(_) => None,
    }
}

fn changed_list(vs: &[Val], f: &mut dyn FnMut(&Val) -> Option<Val>) -> Option<Vec<Val>> {
    let mut out: Option<Vec<Val>> = None;
    for (i, v) in vs.iter().enumerate() {
        match (changed(v, f), &mut out) {
            (None, None) => {}
            (None, Some(out)) => out.push(v.clone()),
            (Some(new), Some(out)) => out.push(new),
            (Some(new), None) => {
                let mut all = Vec::with_capacity(vs.len());
                all.extend_from_slice(&vs[..i]);
                all.push(new);
                out = Some(all);
            }
        }
    }
    out
}

/// The value without derivatives at `tag`.
pub(super) fn primal(tag: u64, v: &Val) -> Val {
    map_floats(v, &mut |x| {
        debug_assert!(x.tag() <= tag, "a number of a derivative that is finished");
        if x.tag() == tag { Some(x.primal(tag).clone()) } else { None }
    })
}

/// The value without any derivatives.
pub(super) fn stop(v: &Val) -> Val {
    map_floats(v, &mut |x| if x.tag() == 0 { None } else { Some(x.plain().clone()) })
}

/// What is made of a float and the tangent there.
pub(super) type OnFloat<'a> = &'a mut dyn FnMut(&Val, Option<&Val>) -> Result<Val, Fault>;

/// Goes along a value and a tangent of it (sparse: what is left out is `None`). Out: the value (or, if `tangent`, a tangent of
/// it: what has no derivative becomes `()`) with its floats replaced by what `f` answers.
pub(super) fn along(v: &Val, d: Option<&Val>, tangent: bool, f: OnFloat<'_>) -> Result<Val, Fault> {
    let d = d.filter(|d| !matches!(d, Val::Zero | Val::Unit));
    let list = |vs: &[Val], ds: Option<&[Val]>, f: OnFloat<'_>| -> Result<Vec<Val>, Fault> {
        vs.iter().enumerate().map(|(i, v)| along(v, ds.and_then(|ds| ds.get(i)), tangent, f)).collect()
    };
    Ok(match v {
        Val::F64(_) | Val::F32(_) | Val::Num(_) => f(v, d)?,
        Val::Unit | Val::I64(_) | Val::Bool(_) | Val::Str(_) if tangent => Val::Unit,
        Val::Unit | Val::I64(_) | Val::Bool(_) | Val::Str(_) => v.clone(),
        Val::Tuple(vs) => {
            let ds = match d {
                Some(Val::Tuple(ds)) => Some(&ds[..]),
                None => None,
                Some(other) => return Err(differ(v, other)),
            };
            Val::Tuple(Rc::new(list(vs, ds, f)?))
        }
        Val::Adt(a) => {
            let ds = match d {
                Some(Val::Adt(d)) if d.variant == a.variant => Some(&d.fields[..]),
                None => None,
                Some(other) => return Err(differ(v, other)),
            };
            let fields = list(&a.fields, ds, f)?;
            Val::Adt(Rc::new(Adt { adt: a.adt, variant: a.variant, fields }))
        }
        Val::Fn(c) => {
            let attached = matches!(c.code, Code::Attached(_));
            let ds = match d {
                Some(Val::Fn(d)) if d.code == c.code => Some(&d.captures[..]),
                None => None,
                // A tangent of the function is one of the function with a rule.
                Some(function) if attached => Some(std::slice::from_ref(function)),
                // And the function has no part for a rule.
                Some(Val::Fn(d)) if matches!(d.code, Code::Attached(_)) => {
                    return along(v, Some(&d.captures[0]), tangent, f);
                }
                Some(other) => return Err(differ(v, other)),
            };
            let mut captures = list(&c.captures, ds, f)?;
            // And without a part for the rule it is that.
            if attached && tangent && is_zero(&captures[1]) {
                return Ok(captures.swap_remove(0));
            }
            function(c.code.clone(), captures)
        }
        Val::Array(a) => {
            let ds = match d {
                Some(Val::Array(d)) if d.shape == a.shape => Some(&d.data[..]),
                None => None,
                Some(Val::Array(d)) => {
                    let (left, right) = (d.shape.clone(), a.shape.clone());
                    return Err(Fault::Shapes { left, right, what: "a tangent and its point" });
                }
                Some(other) => return Err(differ(v, other)),
            };
            array(a.shape.clone(), list(&a.data, ds, f)?)
        }
        Val::Zero => match d {
            Some(d) => along(&super::space::zero_like(d), Some(d), tangent, f)?,
            None => Val::Zero,
        },
        Val::Acc(_) => Val::Zero,
    })
}

/// Whether a tangent is zero everywhere, now and in whatever it depends on.
fn is_zero(d: &Val) -> bool {
    let mut zero = true;
    each_float(d, &mut |x| zero &= matches!(x, Val::F64(0.0)) || matches!(x, Val::F32(0.0)));
    zero
}

/// A value in which functions with attached rules are the functions: its leaves are those of its tangents without parts for rules.
pub(super) fn faces(v: &Val) -> Val {
    let all = |vs: &[Val]| vs.iter().map(faces).collect::<Vec<_>>();
    match v {
        Val::Tuple(vs) => Val::Tuple(Rc::new(all(vs))),
        Val::Adt(a) => Val::Adt(Rc::new(Adt { adt: a.adt, variant: a.variant, fields: all(&a.fields) })),
        Val::Fn(c) if matches!(c.code, Code::Attached(_)) => faces(&c.captures[0]),
        Val::Fn(c) => function(c.code.clone(), all(&c.captures)),
        Val::Array(a) => array(a.shape.clone(), all(&a.data)),
        other => other.clone(),
    }
}

/// Two tangents of different structure.
pub(super) fn differ(a: &Val, b: &Val) -> Fault {
    let part = |v: &Val| match v {
        Val::Adt(a) => Part::Variant(a.adt, a.variant),
        Val::Fn(c) => match &c.code {
            Code::Fn(code) => Part::Closure(*code),
            Code::Pullback(_) => Part::Other("a pullback"),
            Code::Attached(_) => Part::Other("a function with a rule"),
        },
        Val::Tuple(_) => Part::Other("a tuple"),
        Val::Array(_) => Part::Other("an array"),
        _ => Part::Other("a scalar"),
    };
    Fault::Tangents(part(a), part(b))
}
