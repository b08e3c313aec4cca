//! Accumulators: cells that start as zero and take on the shape of what is added.
//!
//! In: additions to parts. Out: the sum. Adding a whole value to a cell that is still zero keeps the pointer; parts are opened up only
//! where something is added to a part, so the total work is that of the additions (the potential argument of Efficient CHAD).

use crate::array::{At, Data, Selection};
use crate::fault::{Fault, Part};
use crate::space;
use crate::value::{AdtValue, Array, Closure, Value};
use cotan_ir::{AdtId, FnId};
use std::cell::RefCell;
use std::rc::Rc;

/// A cell.
#[derive(Debug, Default)]
pub enum Cell {
    /// Nothing was added.
    #[default]
    Zero,
    /// A value.
    Value(Value),
    /// Components of a tuple.
    Tuple(Vec<CellRef>),
    /// Fields of a variant.
    Adt(AdtId, u32, Vec<CellRef>),
    /// Captures of a closure; whether they are the function and the rule of one with an attached rule.
    Fn(FnId, Vec<CellRef>, bool),
    /// Elements that are cells themselves.
    Array(Vec<usize>, Vec<CellRef>),
    /// A part of an array of floats or rows: adds go to the parent.
    Part(CellRef, Vec<At>, Vec<usize>),
}

/// A shared cell.
pub type CellRef = Rc<RefCell<Cell>>;

/// A new cell.
pub fn cell(start: Cell) -> CellRef {
    Rc::new(RefCell::new(start))
}

fn cells(n: usize) -> Vec<CellRef> {
    (0..n).map(|_| cell(Cell::Zero)).collect()
}

/// Which part of a cell.
pub enum Which {
    /// A component of a tuple of this many.
    Proj(usize, usize),
    /// A field of a variant with this many.
    Field(AdtId, u32, usize, usize),
    /// A capture of a closure over a code with this many; whether the code is one of functions with attached rules.
    Capture(FnId, usize, usize, bool),
    /// Elements of an array of these extents; `true` if the part is one element that is no float.
    Index(Vec<At>, Vec<usize>, bool),
}

/// The cell of a part.
pub fn part(whole: &CellRef, which: Which) -> Result<CellRef, Fault> {
    match which {
        Which::Index(at, extents, false) => {
            // Positions are checked now, so that an error has the right place.
            Selection::new(&extents, &at)?;
            Ok(cell(Cell::Part(whole.clone(), at, extents)))
        }
        which => {
            // A row of cells: go to the parent first.
            let flat = match &*whole.borrow() {
                Cell::Part(parent, at, extents) => Some((parent.clone(), at.clone(), extents.clone())),
                _ => None,
            };
            if let (Some((parent, mut at, extents)), Which::Index(more, _, _)) = (flat, &which) {
                at.extend_from_slice(more);
                return part(&parent, Which::Index(at, extents, true));
            }
            let mut c = whole.borrow_mut();
            open(&mut c, &which)?;
            // A capture of the function inside of one with a rule.
            if let (Cell::Fn(have, parts, true), Which::Capture(code, ..)) = (&*c, &which)
                && have != code
            {
                return part(&parts[0], which);
            }
            Ok(match (&*c, which) {
                (Cell::Tuple(parts), Which::Proj(i, _)) => parts[i].clone(),
                (Cell::Adt(_, _, parts), Which::Field(_, _, i, _)) => parts[i].clone(),
                (Cell::Fn(_, parts, _), Which::Capture(_, i, ..)) => parts[i].clone(),
                (Cell::Array(shape, parts), Which::Index(at, _, _)) => {
                    let offsets = Selection::new(shape, &at)?.offsets(shape);
                    parts[offsets[0]].clone()
                }
                (c, _) => unreachable!("{c:?} was opened"),
            })
        }
    }
}

/// Makes a cell one with cells for its parts.
fn open(c: &mut Cell, which: &Which) -> Result<(), Fault> {
    let old = std::mem::take(c);
    *c = match (old, which) {
        (Cell::Zero | Cell::Value(Value::Zero), Which::Proj(_, n)) => Cell::Tuple(cells(*n)),
        (Cell::Zero | Cell::Value(Value::Zero), Which::Field(adt, v, _, n)) => Cell::Adt(*adt, *v, cells(*n)),
        (Cell::Zero | Cell::Value(Value::Zero), Which::Capture(code, _, n, attached)) => {
            Cell::Fn(*code, cells(*n), *attached)
        }
        (Cell::Zero | Cell::Value(Value::Zero), Which::Index(_, extents, _)) => {
            Cell::Array(extents.clone(), cells(extents.iter().product()))
        }
        (Cell::Value(v), which) => {
            let inner = |vs: &[Value]| vs.iter().map(|v| cell(Cell::Value(v.clone()))).collect::<Vec<_>>();
            match (v, which) {
                (Value::Tuple(vs), Which::Proj(..)) => Cell::Tuple(inner(&vs)),
                (Value::Adt(a), Which::Field(adt, variant, _, _)) => {
                    if a.variant != *variant {
                        return Err(variants(a.adt, a.variant, *variant));
                    }
                    Cell::Adt(*adt, a.variant, inner(&a.fields))
                }
                (Value::Fn(f), Which::Capture(code, _, n, attached)) => match (f.code == *code, f.attached, attached) {
                    (true, ..) | (_, true, _) => Cell::Fn(f.code, inner(&f.captures), f.attached),
                    (.., true) => with_face(*code, Cell::Value(Value::Fn(f)), *n),
                    _ => return Err(codes(f.code, *code)),
                },
                (Value::Array(a), Which::Index(..)) => Cell::Array(a.shape.clone(), inner(&a.data.to_values())),
                (v, _) => unreachable!("{v:?} has no such part"),
            }
        }
        (Cell::Adt(adt, have, parts), Which::Field(_, variant, _, _)) => {
            if have != *variant {
                return Err(variants(adt, have, *variant));
            }
            Cell::Adt(adt, have, parts)
        }
        (Cell::Fn(have, parts, mine), Which::Capture(code, _, n, attached)) => match (have == *code, mine, attached) {
            (true, ..) | (_, true, _) => Cell::Fn(have, parts, mine),
            (.., true) => with_face(*code, Cell::Fn(have, parts, mine), *n),
            _ => return Err(codes(have, *code)),
        },
        (Cell::Part(parent, at, extents), which) => {
            // An element that is no array: its cell lives in the parent.
            let element = part(&parent, Which::Index(at, extents, true))?;
            let taken = std::mem::take(&mut *element.borrow_mut());
            let mut taken = taken;
            open(&mut taken, which)?;
            taken
        }
        (other, _) => other,
    };
    Ok(())
}

/// The cell of a function with an attached rule, where that of the function is known.
fn with_face(code: FnId, function: Cell, n: usize) -> Cell {
    let mut parts = cells(n);
    parts[0] = cell(function);
    Cell::Fn(code, parts, true)
}

fn variants(adt: AdtId, a: u32, b: u32) -> Fault {
    Fault::Tangents(Part::Variant(adt, a), Part::Variant(adt, b))
}

fn codes(a: FnId, b: FnId) -> Fault {
    Fault::Tangents(Part::Closure(a), Part::Closure(b))
}

/// Adds a sparse tangent.
pub fn add(target: &CellRef, value: Value) -> Result<(), Fault> {
    if matches!(value, Value::Zero | Value::Unit) {
        return Ok(());
    }
    let mut c = target.borrow_mut();
    match &mut *c {
        Cell::Zero => *c = Cell::Value(value),
        Cell::Value(Value::Zero) => *c = Cell::Value(value),
        Cell::Value(Value::F64(x)) => {
            let Value::F64(y) = value else { unreachable!("floats of one kind") };
            *x += y;
        }
        Cell::Value(have) => {
            let old = std::mem::replace(have, Value::Zero);
            *have = space::add(old, value)?;
        }
        Cell::Part(parent, at, extents) => add_at(parent, at, extents, value)?,
        Cell::Tuple(parts) => {
            let Value::Tuple(vs) = value else { unreachable!("a tuple") };
            parts.iter().zip(vs.iter()).try_for_each(|(p, v)| add(p, v.clone()))?;
        }
        Cell::Adt(adt, variant, parts) => {
            let Value::Adt(a) = value else { unreachable!("a nominal value") };
            if a.variant != *variant {
                return Err(variants(*adt, *variant, a.variant));
            }
            parts.iter().zip(&a.fields).try_for_each(|(p, v)| add(p, v.clone()))?;
        }
        Cell::Fn(code, parts, attached) => {
            let Value::Fn(f) = value else { unreachable!("a function") };
            if f.code != *code {
                if *attached {
                    return add(&parts[0], Value::Fn(f));
                }
                if !f.attached {
                    return Err(codes(*code, f.code));
                }
                let function = std::mem::take(&mut *c);
                *c = with_face(f.code, function, f.captures.len());
                drop(c);
                return add(target, Value::Fn(f));
            }
            parts.iter().zip(&f.captures).try_for_each(|(p, v)| add(p, v.clone()))?;
        }
        Cell::Array(shape, parts) => {
            let Value::Array(a) = value else { unreachable!("an array") };
            if a.shape != *shape {
                return Err(Fault::Shapes { left: shape.clone(), right: a.shape.clone(), what: "tangents" });
            }
            for (i, p) in parts.iter().enumerate() {
                add(p, a.data.get(i))?;
            }
        }
    }
    Ok(())
}

/// Adds to the elements `at` of an array of these extents.
pub fn add_at(whole: &CellRef, at: &[At], extents: &[usize], value: Value) -> Result<(), Fault> {
    let mut c = whole.borrow_mut();
    if let Cell::Part(parent, first, outer) = &*c {
        // A part of a part: subscripts of axes that stay are offset.
        let (parent, at, outer) = (parent.clone(), compose(first, at, outer), outer.clone());
        return add_at(&parent, &at, &outer, value);
    }
    if let Cell::Array(shape, parts) = &*c {
        let offsets = Selection::new(shape, at)?.offsets(shape);
        return match value {
            Value::Array(a) if offsets.len() != 1 || !a.shape.is_empty() => {
                offsets.into_iter().enumerate().try_for_each(|(k, o)| add(&parts[o], a.data.get(k)))
            }
            value => add(&parts[offsets[0]], value),
        };
    }
    if let Cell::Zero | Cell::Value(Value::Zero) = &*c {
        let zero = match &value {
            Value::F64(_) => Value::F64(0.0),
            Value::F32(_) => Value::F32(0.0),
            Value::Array(a) => space::zero_element(a),
            _ => Value::Zero,
        };
        let data = Data::fill(&zero, extents.iter().product());
        *c = Cell::Value(Value::Array(Rc::new(Array { shape: extents.to_vec(), data })));
    }
    let Cell::Value(Value::Array(a)) = &mut *c else { unreachable!("an array") };
    if a.shape != extents {
        return Err(Fault::Shapes { left: extents.to_vec(), right: a.shape.clone(), what: "an array and its tangent" });
    }
    let a = Rc::make_mut(a);
    let selection = Selection::new(&a.shape, at)?;
    let part_shape = selection.shape();
    let offsets = selection.offsets(&a.shape);
    let Array { data, .. } = a;
    match (data, value) {
        (Data::F64(xs), Value::F64(y)) => xs[offsets[0]] += y,
        (Data::F64(xs), Value::Array(b)) => {
            if b.shape != part_shape {
                return Err(Fault::Shapes { left: part_shape, right: b.shape.clone(), what: "tangents" });
            }
            let Data::F64(ys) = &b.data else {
                if b.data.is_empty() {
                    return Ok(());
                }
                unreachable!("floats of one kind")
            };
            offsets.into_iter().zip(ys).for_each(|(o, y)| xs[o] += y);
        }
        (data, Value::Array(b)) => {
            for (k, o) in offsets.into_iter().enumerate() {
                let sum = space::add(data.get(o), b.data.get(k))?;
                data.set(o, sum);
            }
        }
        (data, value) => {
            let sum = space::add(data.get(offsets[0]), value)?;
            data.set(offsets[0], sum);
        }
    }
    Ok(())
}

/// Adds to an element where that is simple: an array of binary64 that nobody shares. Otherwise nothing happens.
pub fn add_float(whole: &CellRef, at: &[At], x: f64) -> bool {
    let mut c = whole.borrow_mut();
    let Cell::Value(Value::Array(a)) = &mut *c else { return false };
    let Some(Array { shape, data: Data::F64(data) }) = Rc::get_mut(a) else { return false };
    let offset = match (at, &shape[..]) {
        ([At::One(i)], [n]) if (0..*n as i64).contains(i) => *i as usize,
        ([At::One(i), At::One(j)], [m, n]) if (0..*m as i64).contains(i) && (0..*n as i64).contains(j) => {
            *i as usize * n + *j as usize
        }
        _ => return false,
    };
    data[offset] += x;
    true
}

/// Subscripts into a part, as subscripts into the whole.
fn compose(first: &[At], then: &[At], extents: &[usize]) -> Vec<At> {
    let mut then = then.iter();
    let mut out = Vec::new();
    for (axis, extent) in extents.iter().enumerate() {
        match first.get(axis) {
            Some(At::One(i)) => out.push(At::One(*i)),
            other => {
                let (lo, hi) = match other {
                    Some(At::Range(lo, hi)) => (*lo, *hi),
                    _ => (0, *extent as i64),
                };
                out.push(match then.next() {
                    Some(At::One(i)) => At::One(lo + i),
                    Some(At::Range(a, b)) => At::Range(lo + a, lo + b),
                    None => At::Range(lo, hi),
                });
            }
        }
    }
    out
}

/// The sum; the cell becomes zero.
pub fn take(target: &CellRef) -> Value {
    let c = std::mem::take(&mut *target.borrow_mut());
    let all = |parts: &[CellRef]| parts.iter().map(take).collect::<Vec<_>>();
    match c {
        Cell::Zero => Value::Zero,
        Cell::Value(v) => v,
        Cell::Tuple(parts) => Value::Tuple(Rc::new(all(&parts))),
        Cell::Adt(adt, variant, parts) => Value::Adt(Rc::new(AdtValue { adt, variant, fields: all(&parts) })),
        Cell::Fn(code, parts, attached) => Value::Fn(Rc::new(Closure { code, captures: all(&parts), attached })),
        Cell::Array(shape, parts) => Value::Array(Rc::new(Array { shape, data: Data::from_values(all(&parts)) })),
        Cell::Part(..) => unreachable!("parts are not taken"),
    }
}
