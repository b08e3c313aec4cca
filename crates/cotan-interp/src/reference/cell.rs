//! Accumulators of the backward parts of rules: a cell that starts as zero, and paths to parts of it.
//!
//! In: additions to parts. Out: the sum, in which parts that nothing was added to are `Zero`.

use super::tape::Tapes;
use super::value::{Adt, Code, Val, array, differ, function};
use crate::array::{At, Selection};
use crate::fault::Fault;
use cotan_ir::{AdtId, FnId};
use std::cell::RefCell;
use std::rc::Rc;

/// An accumulator.
#[derive(Debug)]
pub(super) enum Cell {
    /// All of it.
    Whole(RefCell<Val>),
    /// A part.
    Part(Rc<Cell>, Which),
}

/// Which part.
#[derive(Clone, Debug)]
pub(super) enum Which {
    /// A component of a tuple of this many.
    Proj(usize, usize),
    /// A field of a variant with this many.
    Field(AdtId, u32, usize, usize),
    /// A capture of a closure with this many.
    Capture(FnId, usize, usize),
    /// Elements of an array of these extents.
    Index(Vec<At>, Vec<usize>),
}

/// A new accumulator.
pub(super) fn new(start: Val) -> Rc<Cell> {
    Rc::new(Cell::Whole(RefCell::new(start)))
}

/// Takes what was added.
pub(super) fn take(cell: &Cell) -> Val {
    match cell {
        Cell::Whole(v) => v.replace(Val::Zero),
        Cell::Part(..) => unreachable!("parts are not taken"),
    }
}

impl Tapes {
    /// Adds a tangent.
    pub fn accumulate(&mut self, cell: &Cell, value: Val) -> Result<(), Fault> {
        let mut path = Vec::new();
        let mut at = cell;
        loop {
            match at {
                Cell::Part(whole, which) => {
                    path.push(which);
                    at = whole;
                }
                Cell::Whole(v) => {
                    path.reverse();
                    return self.add_at(&mut v.borrow_mut(), &path, value);
                }
            }
        }
    }

    fn add_at(&mut self, target: &mut Val, path: &[&Which], value: Val) -> Result<(), Fault> {
        let Some((which, rest)) = path.split_first() else {
            *target = self.add(std::mem::replace(target, Val::Zero), value)?;
            return Ok(());
        };
        if matches!(target, Val::Zero | Val::Unit) {
            *target = which.opened();
        }
        match (target, which) {
            (Val::Tuple(vs), Which::Proj(i, _)) => self.add_at(&mut Rc::make_mut(vs)[*i], rest, value),
            (Val::Adt(a), Which::Field(_, variant, i, _)) if a.variant == *variant => {
                self.add_at(&mut Rc::make_mut(a).fields[*i], rest, value)
            }
            (Val::Fn(f), Which::Capture(code, i, _)) if f.code == Code::Fn(*code) => {
                self.add_at(&mut Rc::make_mut(f).captures[*i], rest, value)
            }
            (Val::Fn(f), Which::Capture(..)) if matches!(f.code, Code::Attached(_)) => {
                self.add_at(&mut Rc::make_mut(f).captures[0], path, value)
            }
            (Val::Array(a), Which::Index(at, _)) => {
                let a = Rc::make_mut(a);
                let selection = Selection::new(&a.shape, at)?;
                let shape = selection.shape();
                let offsets = selection.offsets(&a.shape);
                if shape.is_empty() {
                    return self.add_at(&mut a.data[offsets[0]], rest, value);
                }
                // What is there goes out and in again, so that a part of a part needs no case of its own.
                let taken = offsets.iter().map(|o| std::mem::replace(&mut a.data[*o], Val::Zero)).collect();
                let mut part = array(shape, taken);
                self.add_at(&mut part, rest, value)?;
                let Val::Array(part) = part else { unreachable!("a sum of arrays is an array") };
                for (o, v) in offsets.into_iter().zip(&part.data) {
                    a.data[o] = v.clone();
                }
                Ok(())
            }
            (target, which) => Err(differ(target, &which.opened())),
        }
    }
}

impl Which {
    /// A zero that has such a part.
    fn opened(&self) -> Val {
        match self {
            Which::Proj(_, n) => Val::Tuple(Rc::new(vec![Val::Zero; *n])),
            Which::Field(adt, variant, _, n) => {
                Val::Adt(Rc::new(Adt { adt: *adt, variant: *variant, fields: vec![Val::Zero; *n] }))
            }
            Which::Capture(code, _, n) => function(Code::Fn(*code), vec![Val::Zero; *n]),
            Which::Index(_, extents) => array(extents.clone(), vec![Val::Zero; extents.iter().product()]),
        }
    }
}
