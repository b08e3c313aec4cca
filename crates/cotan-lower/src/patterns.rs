//! Patterns: tests and bindings.
//!
//! In: a pattern and the value it is held against. Out: a truth value, and the parts of the value under the names of the source.
//! Parts of a variant are read only where the variant was tested.

use crate::frame::{Frame, Slot, truth};
use cotan_core::{Lit, LocalId, Pattern, PatternKind};
use cotan_ir::{Atom, Op, Type, TypeId};
use cotan_prim::Prim;

/// The way from a value to a part.
#[derive(Clone, Copy)]
enum Part {
    Component(usize),
    Field(usize, usize),
}

impl<'c> Frame<'_, 'c> {
    /// Whether a pattern matches everything of its type.
    pub fn irrefutable(&self, pattern: &Pattern) -> bool {
        match &pattern.kind {
            PatternKind::Wildcard | PatternKind::Bind(_) => true,
            PatternKind::Lit(_) | PatternKind::Range { .. } => false,
            PatternKind::Tuple(parts) => parts.iter().all(|p| self.irrefutable(p)),
            PatternKind::Adt { adt, fields, .. } => {
                self.s.core.adts[*adt].variants.len() == 1 && fields.iter().all(|p| self.irrefutable(p))
            }
            PatternKind::Or(parts) => parts.iter().any(|p| self.irrefutable(p)),
        }
    }

    /// Whether a value matches; `None` if it surely does. `known` is its variant, where that was tested before.
    pub fn test(&mut self, pattern: &'c Pattern, value: &Atom, known: Option<usize>) -> Option<Atom> {
        if self.irrefutable(pattern) {
            return None;
        }
        match &pattern.kind {
            PatternKind::Wildcard | PatternKind::Bind(_) => None,
            PatternKind::Lit(lit) => {
                let ty = self.b.type_of(value);
                let lit = self.lit_as(lit, ty);
                Some(match self.kind(ty) {
                    Type::Str => self.emit(Op::Equal(value.clone(), lit)),
                    _ => self.emit(Op::Prim(Prim::Eq, vec![value.clone(), lit])),
                })
            }
            PatternKind::Range { start, end, inclusive } => {
                let last = if *inclusive { Prim::Le } else { Prim::Lt };
                let low = start.as_ref().map(|lit| self.compare(Prim::Ge, value, lit));
                let high = end.as_ref().map(|lit| self.compare(last, value, lit));
                match (low, high) {
                    (Some(low), Some(high)) => Some(self.emit(Op::Prim(Prim::And, vec![low, high]))),
                    (one, other) => one.or(other),
                }
            }
            PatternKind::Tuple(parts) => {
                let parts: Vec<_> = parts.iter().enumerate().map(|(i, p)| (Part::Component(i), p)).collect();
                self.test_all(&parts, value)
            }
            PatternKind::Adt { adt, variant, fields } => {
                let parts: Vec<_> = fields.iter().enumerate().map(|(i, p)| (Part::Field(*variant, i), p)).collect();
                if self.s.core.adts[*adt].variants.len() == 1 || known == Some(*variant) {
                    return self.test_all(&parts, value);
                }
                self.b.begin_block();
                let inner = self.test_all(&parts, value).unwrap_or(truth(true));
                let yes = self.b.end_block(vec![inner]);
                let no = self.b.block(|_| vec![truth(false)]);
                Some(self.emit(Op::Switch { on: value.clone(), arms: vec![(*variant as u32, yes)], default: Some(no) }))
            }
            PatternKind::Or(parts) => self.test_any(parts, value, known),
        }
    }

    fn compare(&mut self, prim: Prim, value: &Atom, lit: &Lit) -> Atom {
        let ty = self.b.type_of(value);
        let lit = self.lit_as(lit, ty);
        self.emit(Op::Prim(prim, vec![value.clone(), lit]))
    }

    fn get_part(&mut self, value: &Atom, part: Part) -> Atom {
        match part {
            Part::Component(i) => self.proj(value, i),
            Part::Field(variant, index) => {
                self.emit(Op::Field { base: value.clone(), variant: variant as u32, index: index as u32 })
            }
        }
    }

    /// Whether all parts match; later ones are looked at only if the earlier ones do.
    fn test_all(&mut self, parts: &[(Part, &'c Pattern)], value: &Atom) -> Option<Atom> {
        let (at, (part, pattern)) =
            parts.iter().enumerate().find(|(_, (_, pattern))| !self.irrefutable(pattern)).map(|(i, p)| (i, *p))?;
        let inner = self.get_part(value, part);
        let first = crate::deep(|| self.test(pattern, &inner, None));
        let rest = &parts[at + 1..];
        if rest.iter().all(|(_, p)| self.irrefutable(p)) {
            return first;
        }
        let Some(first) = first else { return self.test_all(rest, value) };
        self.b.begin_block();
        let others = self.test_all(rest, value).unwrap_or(truth(true));
        let then = self.b.end_block(vec![others]);
        let otherwise = self.b.block(|_| vec![truth(false)]);
        Some(self.emit(Op::If { cond: first, then, otherwise }))
    }

    fn test_any(&mut self, parts: &'c [Pattern], value: &Atom, known: Option<usize>) -> Option<Atom> {
        let (first, rest) = parts.split_first().expect("an alternative");
        let first = self.test(first, value, known)?;
        if rest.is_empty() {
            return Some(first);
        }
        let then = self.b.block(|_| vec![truth(true)]);
        self.b.begin_block();
        let others = self.test_any(rest, value, known).unwrap_or(truth(true));
        let otherwise = self.b.end_block(vec![others]);
        Some(self.emit(Op::If { cond: first, then, otherwise }))
    }

    /// Binds the variables of a pattern that matches the value.
    pub fn bind(&mut self, pattern: &'c Pattern, value: &Atom) {
        match &pattern.kind {
            PatternKind::Wildcard | PatternKind::Lit(_) | PatternKind::Range { .. } => {}
            PatternKind::Bind(local) => self.bind_local(*local, value.clone()),
            PatternKind::Tuple(parts) => {
                for (i, p) in parts.iter().enumerate().filter(|(_, p)| binds(p)) {
                    let part = self.get_part(value, Part::Component(i));
                    crate::deep(|| self.bind(p, &part));
                }
            }
            PatternKind::Adt { variant, fields, .. } => {
                for (i, p) in fields.iter().enumerate().filter(|(_, p)| binds(p)) {
                    let part = self.get_part(value, Part::Field(*variant, i));
                    crate::deep(|| self.bind(p, &part));
                }
            }
            PatternKind::Or(parts) => {
                let mut locals = Vec::new();
                bound(pattern, &mut locals);
                if !locals.is_empty() {
                    let types: Vec<TypeId> = locals.iter().map(|l| self.local_type(*l)).collect();
                    self.bind_any(parts, value, &locals, &types);
                }
            }
        }
    }

    /// Binds the variables of the first alternative that matches.
    fn bind_any(&mut self, parts: &'c [Pattern], value: &Atom, locals: &[LocalId], types: &[TypeId]) {
        let (first, rest) = parts.split_first().expect("an alternative");
        let test = match rest {
            [] => None,
            _ => self.test(first, value, None),
        };
        let Some(cond) = test else { return self.bind(first, value) };
        let mut blocks = [Some(first), None].map(|alternative| {
            let mark = self.mark();
            self.b.begin_block();
            match alternative {
                Some(first) => self.bind(first, value),
                None => self.bind_any(rest, value, locals, types),
            }
            let values = locals.iter().map(|l| self.get(Slot::Local(*l))).collect();
            self.rewind(mark);
            Some(self.b.end_block(values))
        });
        let [then, otherwise] = [0, 1].map(|i| blocks[i].take().expect("taken once"));
        let vars = self.b.emit(Op::If { cond, then, otherwise }, types);
        for (local, var) in locals.iter().zip(vars) {
            self.bind_local(*local, var.into());
        }
    }
}

/// Whether a pattern binds a variable.
pub(crate) fn binds(pattern: &Pattern) -> bool {
    match &pattern.kind {
        PatternKind::Bind(_) => true,
        PatternKind::Wildcard | PatternKind::Lit(_) | PatternKind::Range { .. } => false,
        PatternKind::Tuple(parts) | PatternKind::Adt { fields: parts, .. } | PatternKind::Or(parts) => {
            parts.iter().any(binds)
        }
    }
}

/// The variables that a pattern binds.
pub(crate) fn bound(pattern: &Pattern, out: &mut Vec<LocalId>) {
    match &pattern.kind {
        PatternKind::Bind(local) => out.push(*local),
        PatternKind::Wildcard | PatternKind::Lit(_) | PatternKind::Range { .. } => {}
        PatternKind::Tuple(parts) | PatternKind::Adt { fields: parts, .. } => parts.iter().for_each(|p| bound(p, out)),
        // All alternatives bind the same.
        PatternKind::Or(parts) => parts.iter().take(1).for_each(|p| bound(p, out)),
    }
}
