//! Assignment to parts.
//!
//! In: `s.a[i].x += e`. Out: a new value of `s`: the way down is read, the part replaced, the way up rebuilt. Newly true: no
//! mutation. An array is never held by anything else when a part of it is replaced, so that the evaluator can do it in place:
//! the other fields of a structure are read before the one that changes, and an element that is changed in turn is first
//! taken out of its array.

use crate::frame::{Flow, Frame, Slot};
use cotan_core::{BinaryOp, Expr, LocalId, PlaceStep, Subscript};
use cotan_ir::{Atom, Op, Sub, Type};
use cotan_source::Span;

/// A step whose subscripts are evaluated.
enum Place {
    Field(usize),
    Component(usize),
    Part(Vec<Sub>),
}

impl<'c> Frame<'_, 'c> {
    /// `local.path = value`, or with an operator.
    pub fn assign(
        &mut self,
        local: LocalId,
        path: &'c [PlaceStep],
        op: Option<BinaryOp>,
        value: &'c Expr,
        span: Span,
    ) -> Flow<()> {
        if path.is_empty() {
            let mut new = self.value(value)?;
            self.b.set_span(span);
            if let Some(op) = op {
                let old = self.get(Slot::Local(local));
                new = self.binary(op, old, new);
            }
            self.bind_local(local, new);
            return Ok(());
        }
        let base = self.get(Slot::Local(local));
        let places = self.places(&base, path)?;
        let value = self.value(value)?;
        self.b.set_span(span);
        let base = self.get(Slot::Local(local));
        let new = self.replace(base, &places, op, value);
        self.bind_local(local, new);
        Ok(())
    }

    /// The steps of a path, evaluated from left to right; steps into one array are one.
    fn places(&mut self, base: &Atom, path: &'c [PlaceStep]) -> Flow<Vec<Place>> {
        let mut places: Vec<Place> = Vec::new();
        for step in path {
            let place = match step {
                PlaceStep::Field(i) => Place::Field(*i),
                PlaceStep::TupleField(i) => Place::Component(*i),
                PlaceStep::Index(subs) => {
                    let all_at = |subs: &[Sub]| subs.iter().all(|s| matches!(s, Sub::At(_)));
                    let passed = match places.last() {
                        Some(Place::Part(before)) if all_at(before) => before.len(),
                        _ => 0,
                    };
                    let open = subs.iter().any(|s| matches!(s, Subscript::Range(_, None)));
                    let array = match open {
                        true => {
                            let whole = if passed > 0 { places.len() - 1 } else { places.len() };
                            self.read(base.clone(), &places[..whole])
                        }
                        false => base.clone(),
                    };
                    let subs = self.subscripts(&array, subs, passed)?;
                    if passed > 0 {
                        let Some(Place::Part(before)) = places.last_mut() else {
                            unreachable!("the last step is a part")
                        };
                        before.extend(subs);
                        continue;
                    }
                    Place::Part(subs)
                }
            };
            places.push(place);
        }
        Ok(places)
    }

    fn read(&mut self, mut value: Atom, places: &[Place]) -> Atom {
        for place in places {
            value = match place {
                Place::Field(i) => self.emit(Op::Field { base: value, variant: 0, index: *i as u32 }),
                Place::Component(i) => self.proj(&value, *i),
                Place::Part(subs) => self.part(value, subs.clone()),
            };
        }
        value
    }

    fn replace(&mut self, base: Atom, places: &[Place], op: Option<BinaryOp>, value: Atom) -> Atom {
        let Some((place, rest)) = places.split_first() else {
            return match op {
                Some(op) => self.binary(op, base, value),
                None => value,
            };
        };
        match place {
            Place::Field(index) => {
                let Type::Adt(adt) = self.kind_of(&base) else { unreachable!("only structures have fields") };
                let count = self.b.program.adts[adt].variants[0].fields.len();
                let read =
                    |f: &mut Self, i: usize| f.emit(Op::Field { base: base.clone(), variant: 0, index: i as u32 });
                let mut fields: Vec<Option<Atom>> = (0..count).map(|i| (i != *index).then(|| read(self, i))).collect();
                let new = self.replace_part(&|f| read(f, *index), rest, op, value);
                fields[*index] = Some(new);
                let fields = fields.into_iter().map(|f| f.expect("all fields are set")).collect();
                self.emit(Op::Adt { adt, variant: 0, fields })
            }
            Place::Component(index) => {
                let Type::Tuple(parts) = self.kind_of(&base) else { unreachable!("only tuples have components") };
                let mut items: Vec<Option<Atom>> =
                    (0..parts.len()).map(|i| (i != *index).then(|| self.proj(&base, i))).collect();
                let new = self.replace_part(&|f| f.proj(&base, *index), rest, op, value);
                items[*index] = Some(new);
                let items = items.into_iter().map(|f| f.expect("all components are set")).collect();
                self.emit(Op::Tuple(items))
            }
            Place::Part(subs) => {
                let mut array = base.clone();
                let new = if rest.iter().any(|p| matches!(p, Place::Part(_))) {
                    // The element holds arrays that are changed in turn: it must not stay in its array meanwhile.
                    let old = self.part(base, subs.clone());
                    let ty = self.b.type_of(&old);
                    if !matches!(self.kind(ty), Type::Array { .. }) {
                        let filler = self.filler(ty);
                        array = self.emit(Op::Update { array, subs: subs.clone(), value: filler });
                    }
                    self.replace(old, rest, op, value)
                } else {
                    self.replace_part(&|f| f.part(base.clone(), subs.clone()), rest, op, value)
                };
                self.emit(Op::Update { array, subs: subs.clone(), value: new })
            }
        }
    }

    /// As [`replace`](Self::replace); the old value is read only where it is needed.
    fn replace_part(
        &mut self,
        old: &dyn Fn(&mut Self) -> Atom,
        rest: &[Place],
        op: Option<BinaryOp>,
        value: Atom,
    ) -> Atom {
        if rest.is_empty() && op.is_none() {
            return value;
        }
        let old = old(self);
        self.replace(old, rest, op, value)
    }
}
