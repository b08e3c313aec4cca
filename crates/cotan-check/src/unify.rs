//! Unification, tangents of types, and the constraints `Num` and `Space`.
//!
//! In: two types that must be equal. Out: bound variables, or a [`Clash`]. Newly true: the two are equal.
//! `Tangent<?a>` of an unknown `?a` is a variable of its own that `?a` remembers: as soon as `?a` is bound,
//! the two are equated; it is never solved the other way round.

use crate::constraints::Deferred;
use crate::types::{Bits, Literal, Node, Origin, OriginState, Own, T, Types, Var};
use cotan_core::{AdtId, ParamId, Ty};
use cotan_source::Span;
use std::rc::Rc;

/// Why two types cannot be equal.
#[derive(Clone, Copy, Debug)]
pub enum Clash {
    /// They differ.
    Mismatch,
    /// A type would contain itself.
    Infinite,
    /// `ty` cannot have this constraint.
    Constraint(T, Bits),
    /// A literal is not of this type.
    Literal,
    /// A declared constraint of a parameter is too weak.
    Declared(ParamId, Bits),
    /// A generic parameter would leave its function.
    Escape(ParamId),
}

impl Types {
    /// Makes `a` and `b` equal.
    pub fn unify(&mut self, a: T, b: T) -> Result<(), Clash> {
        let first = self.unify_one(a, b);
        let rest = self.finish_work();
        first.and(rest)
    }

    /// Demands `bits` of `t`.
    pub fn require(&mut self, t: T, bits: Bits) -> Result<(), Clash> {
        let first = self.require_one(t, bits);
        let rest = self.finish_work();
        first.and(rest)
    }

    fn finish_work(&mut self) -> Result<(), Clash> {
        let mut result = Ok(());
        while let Some((x, y)) = self.work.pop() {
            let one = self.unify_one(x, y);
            result = result.and(one);
        }
        result
    }

    fn unify_one(&mut self, a: T, b: T) -> Result<(), Clash> {
        let a = self.resolve(a);
        let b = self.resolve(b);
        if a == b {
            return Ok(());
        }
        match (self.nodes[a.0 as usize].clone(), self.nodes[b.0 as usize].clone()) {
            (Node::Var(x), Node::Var(y)) => {
                // The higher tree stays the root, so that chains of links are short.
                if self.var(x).rank > self.var(y).rank {
                    self.union(y, x, a);
                } else {
                    self.union(x, y, b);
                }
                Ok(())
            }
            (Node::Var(x), _) => self.bind(x, b),
            (_, Node::Var(y)) => self.bind(y, a),
            (Node::Error, _) | (_, Node::Error) => Ok(()),
            (Node::Float, Node::Float)
            | (Node::Float32, Node::Float32)
            | (Node::Int, Node::Int)
            | (Node::Bool, Node::Bool)
            | (Node::Str, Node::Str) => Ok(()),
            (Node::Tuple(xs), Node::Tuple(ys)) if xs.len() == ys.len() => self.unify_all(&xs, &ys),
            (Node::Array(x), Node::Array(y)) => self.unify_one(x, y),
            (Node::Adt(i, xs), Node::Adt(j, ys)) if i == j => self.unify_all(&xs, &ys),
            (Node::Fn(a1, r1, o1), Node::Fn(a2, r2, o2)) => {
                self.merge_origins(o1, o2);
                let arg = self.unify_one(a1, a2);
                let ret = self.unify_one(r1, r2);
                arg.and(ret)
            }
            (Node::Param(p), Node::Param(q)) if p == q => Ok(()),
            (Node::Tangent(x), Node::Tangent(y)) => self.unify_one(x, y),
            (Node::Tangent(x), Node::Param(p)) | (Node::Param(p), Node::Tangent(x)) => match self.node(x) {
                Node::Param(q) if *q == p => self.require_param(p, Bits::SPACE),
                _ => Err(Clash::Mismatch),
            },
            // A tangent of data meets the data itself: true if its parameters are spaces.
            (Node::Tangent(x), Node::Adt(..)) => {
                let first = self.unify_one(x, b);
                first.and_then(|()| self.require_one(b, Bits::SPACE))
            }
            (Node::Adt(..), Node::Tangent(y)) => {
                let first = self.unify_one(a, y);
                first.and_then(|()| self.require_one(a, Bits::SPACE))
            }
            _ => Err(Clash::Mismatch),
        }
    }

    fn unify_all(&mut self, xs: &[T], ys: &[T]) -> Result<(), Clash> {
        let mut result = Ok(());
        for (x, y) in xs.iter().zip(ys) {
            let one = self.unify_one(*x, *y);
            result = result.and(one);
        }
        result
    }

    fn union(&mut self, x: Var, y: Var, y_type: T) {
        let mut from = self.var(x).clone();
        from.watchers.retain(|id| self.deferred[*id as usize].is_some());
        let to = self.var_mut(y);
        let before = (to.bits, to.literal);
        to.level = to.level.min(from.level);
        to.bits = to.bits.with(from.bits);
        to.literal = to.literal.max(from.literal);
        to.point = to.point.or(from.point);
        to.rank = to.rank.max(from.rank + 1);
        let (bits, old, level) = (to.bits, to.tangent, to.level);
        to.tangent = old.or(from.tangent);
        let merged = to.tangent;
        if let (Some(t), Some(u)) = (old, from.tangent) {
            self.work.push((t, u));
        }
        self.var_mut(x).link = Some(y_type);
        if let Some(t) = merged {
            if bits.has(Bits::SPACE) {
                self.work.push((t, y_type));
            }
            self.lower_levels(t, level);
        }
        // What either side gained may decide a constraint.
        let to = self.var(y);
        let (bits, literal) = (to.bits, to.literal);
        if (bits, literal) != (from.bits, from.literal) {
            self.ready.extend(&from.watchers);
        }
        if (bits, literal) != before {
            self.ready.extend(&self.vars[y.0 as usize].watchers);
        }
        let mut watchers = from.watchers;
        let kept = &mut self.vars[y.0 as usize].watchers;
        if kept.len() < watchers.len() {
            std::mem::swap(kept, &mut watchers);
        }
        kept.append(&mut watchers);
    }

    fn bind(&mut self, v: Var, t: T) -> Result<(), Clash> {
        let state = self.var(v).clone();
        if let Err(clash) = self.occurs(v, t, state.level) {
            // The variable is given up, so that one mistake is reported once.
            self.var_mut(v).link = Some(T::ERROR);
            return Err(clash);
        }
        let state_mut = self.var_mut(v);
        state_mut.link = Some(t);
        self.ready.extend(&state.watchers);
        let bits = self.require_one(t, state.bits);
        if bits.is_err() {
            // A literal is left open, so that messages show what it was; else one report is enough.
            let literal = state.literal != Literal::None;
            self.var_mut(v).link = if literal { None } else { Some(T::ERROR) };
            return if literal { Err(Clash::Literal) } else { bits };
        }
        if let Some(tangent) = state.tangent {
            let normal = self.tangent_of(t, state.span);
            self.work.push((tangent, normal));
        }
        bits
    }

    /// Checks that `v` is not in `t`, and lowers the levels of what is.
    fn occurs(&mut self, v: Var, t: T, level: u32) -> Result<(), Clash> {
        let t = self.resolve(t);
        match self.nodes[t.0 as usize].clone() {
            Node::Var(w) if w == v => Err(Clash::Infinite),
            Node::Var(w) => {
                if self.var(w).level > level {
                    self.var_mut(w).level = level;
                    if let Some(tangent) = self.var(w).tangent {
                        self.lower_levels(tangent, level);
                    }
                }
                Ok(())
            }
            Node::Param(p) if self.params[p.0 as usize].level > level => Err(Clash::Escape(p)),
            Node::Float | Node::Float32 | Node::Int | Node::Bool | Node::Str | Node::Error | Node::Param(_) => Ok(()),
            Node::Tuple(parts) | Node::Adt(_, parts) => parts.iter().try_for_each(|p| self.occurs(v, *p, level)),
            Node::Array(inner) | Node::Tangent(inner) => self.occurs(v, inner, level),
            Node::Fn(arg, ret, origin) => {
                self.lower_origin(origin, level);
                self.occurs(v, arg, level)?;
                self.occurs(v, ret, level)
            }
        }
    }

    /// Keeps the variables of `t` from being generalised above `level`.
    pub fn lower_levels(&mut self, t: T, level: u32) {
        let t = self.resolve(t);
        match self.nodes[t.0 as usize].clone() {
            Node::Var(w) => {
                if self.var(w).level > level {
                    self.var_mut(w).level = level;
                    if let Some(tangent) = self.var(w).tangent {
                        self.lower_levels(tangent, level);
                    }
                }
            }
            Node::Tuple(parts) | Node::Adt(_, parts) => parts.iter().for_each(|p| self.lower_levels(*p, level)),
            Node::Array(inner) | Node::Tangent(inner) => self.lower_levels(inner, level),
            Node::Fn(arg, ret, origin) => {
                self.lower_origin(origin, level);
                self.lower_levels(arg, level);
                self.lower_levels(ret, level);
            }
            Node::Float | Node::Float32 | Node::Int | Node::Bool | Node::Str | Node::Error | Node::Param(_) => {}
        }
    }

    fn lower_origin(&mut self, origin: Origin, level: u32) {
        let root = self.origin(origin);
        if let OriginState::Unknown { level: old } = &mut self.origins[root.0 as usize] {
            *old = level.min(*old);
        }
    }

    fn merge_origins(&mut self, a: Origin, b: Origin) {
        let a = self.origin(a);
        let b = self.origin(b);
        if a == b {
            return;
        }
        let merged = match (self.origins[a.0 as usize], self.origins[b.0 as usize]) {
            (OriginState::Unknown { level: x }, OriginState::Unknown { level: y }) => {
                OriginState::Unknown { level: x.min(y) }
            }
            (OriginState::Unknown { .. }, known) | (known, OriginState::Unknown { .. }) => known,
            (OriginState::Known(x), OriginState::Known(y)) if x == y => OriginState::Known(x),
            _ => OriginState::Many,
        };
        self.origins[a.0 as usize] = OriginState::Same(b);
        self.origins[b.0 as usize] = merged;
    }

    fn require_param(&mut self, p: ParamId, bits: Bits) -> Result<(), Clash> {
        let state = &mut self.params[p.0 as usize];
        if state.bits.has(bits) {
            return Ok(());
        }
        if state.declared {
            return Err(Clash::Declared(p, bits));
        }
        state.bits = state.bits.with(bits);
        Ok(())
    }

    fn require_one(&mut self, t: T, bits: Bits) -> Result<(), Clash> {
        if bits == Bits::NONE {
            return Ok(());
        }
        let t = self.resolve(t);
        match self.nodes[t.0 as usize].clone() {
            Node::Error | Node::Float | Node::Float32 => Ok(()),
            Node::Int if !bits.has(Bits::SPACE) => Ok(()),
            Node::Param(p) => self.require_param(p, bits),
            Node::Var(v) => {
                let state = self.var_mut(v);
                if state.bits.has(bits) {
                    return Ok(());
                }
                state.bits = state.bits.with(bits);
                let watchers = state.watchers.clone();
                if let (true, Some(tangent)) = (state.bits.has(Bits::SPACE), state.tangent) {
                    self.work.push((tangent, t));
                }
                self.ready.extend(watchers);
                Ok(())
            }
            _ if bits.has(Bits::NUM) => Err(Clash::Constraint(t, bits)),
            Node::Tangent(_) => Ok(()),
            Node::Tuple(parts) => parts.iter().try_for_each(|p| self.require_one(*p, bits)),
            Node::Array(elem) => self.require_one(elem, bits),
            Node::Adt(id, args) if !self.adt_spaces[id.0 as usize].never => {
                let needs = self.adt_spaces[id.0 as usize].needs.clone();
                needs.iter().try_for_each(|i| self.require_one(args[*i], bits))
            }
            Node::Int | Node::Bool | Node::Str | Node::Fn(..) | Node::Adt(..) => Err(Clash::Constraint(t, bits)),
        }
    }

    /// `Tangent<t>`.
    pub fn tangent_of(&mut self, t: T, span: Span) -> T {
        let t = self.resolve(t);
        match self.nodes[t.0 as usize].clone() {
            Node::Float | Node::Float32 | Node::Error | Node::Tangent(_) => t,
            Node::Int | Node::Bool | Node::Str => T::UNIT,
            Node::Tuple(parts) => {
                let parts = parts.iter().map(|p| self.tangent_of(*p, span)).collect();
                self.tuple(parts)
            }
            Node::Array(elem) => {
                let elem = self.tangent_of(elem, span);
                self.array(elem)
            }
            Node::Fn(..) => self.add(Node::Tangent(t)),
            Node::Param(_) | Node::Adt(..) => match self.own(t) {
                Own::Yes => t,
                Own::No => self.add(Node::Tangent(t)),
                Own::Unknown(v) => {
                    let tangent = self.fresh_at(self.level, Bits::SPACE, Literal::None, span);
                    if let Some(fresh) = self.var_of(tangent) {
                        self.var_mut(fresh).point = Some(t);
                    }
                    self.defer(Deferred::TangentOfData { point: t, tangent, span }, &[v]);
                    tangent
                }
            },
            Node::Var(v) => {
                if self.var(v).bits.has(Bits::SPACE) {
                    return t;
                }
                if let Some(tangent) = self.var(v).tangent {
                    return tangent;
                }
                let level = self.var(v).level;
                let tangent = self.fresh_at(level, Bits::SPACE, Literal::None, span);
                if let Some(fresh) = self.var_of(tangent) {
                    self.var_mut(fresh).point = Some(t);
                }
                self.var_mut(v).tangent = Some(tangent);
                self.points.push(t);
                tangent
            }
        }
    }

    /// Notes a constraint to be looked at again when one of `vars` is bound.
    pub fn defer(&mut self, constraint: Deferred, vars: &[Var]) -> u32 {
        let id = self.deferred.len() as u32;
        self.deferred.push(Some(constraint));
        for v in vars {
            self.watch(id, *v);
        }
        id
    }

    /// Has a constraint looked at again when `v` is bound or asked for more.
    pub fn watch(&mut self, id: u32, v: Var) {
        if self.watched.insert((id, v)) {
            self.var_mut(v).watchers.push(id);
        }
    }

    /// The inference type of a finished one, with parameters replaced.
    pub fn import(&mut self, ty: &Ty, map: &dyn Fn(ParamId) -> Option<T>, span: Span) -> T {
        match ty {
            Ty::Float => T::FLOAT,
            Ty::Float32 => T::FLOAT32,
            Ty::Int => T::INT,
            Ty::Bool => T::BOOL,
            Ty::Str => T::STR,
            Ty::Tuple(parts) => {
                let parts = parts.iter().map(|p| self.import(p, map, span)).collect();
                self.tuple(parts)
            }
            Ty::Array(elem) => {
                let elem = self.import(elem, map, span);
                self.array(elem)
            }
            Ty::Adt(id, args) => {
                let args: Vec<T> = args.iter().map(|a| self.import(a, map, span)).collect();
                self.adt(*id, args)
            }
            Ty::Fn(arg, ret) => {
                let arg = self.import(arg, map, span);
                let ret = self.import(ret, map, span);
                self.function(arg, ret)
            }
            Ty::Param(p) => match map(*p) {
                Some(t) => t,
                None => self.param(*p),
            },
            Ty::Tangent(inner) => {
                let inner = self.import(inner, map, span);
                self.tangent_of(inner, span)
            }
        }
    }

    /// A data type with its arguments.
    pub fn adt(&mut self, id: AdtId, args: Vec<T>) -> T {
        self.add(Node::Adt(id, Rc::from(args)))
    }
}
