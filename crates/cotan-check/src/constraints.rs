//! Constraints that wait for a type to be known: operators, fields, methods, tangents of data.
//!
//! In: constraints noted during inference. Out: decided ones, with their [`Resolution`]. Newly true: at the
//! end of an item none is left; what nothing decided is decided by default or reported.

use crate::context::{Checker, Resolution};
use crate::types::{Bits, Maker, Node, OriginState, Own, T, Var};
use cotan_core::{BinaryOp, Expr, LocalId};
use cotan_source::{Diagnostic, Span};

/// A constraint that waits.
#[derive(Clone, Debug)]
pub enum Deferred {
    /// `left op right = result`.
    Binary { op: BinaryOp, left: T, right: T, result: T, span: Span, left_span: Span, right_span: Span },
    /// Numbers, spaces and arrays of them: the operand of unary minus, the elements of a sum of arrays.
    Additive { ty: T, span: Span, op: &'static str },
    /// `base.name`.
    Field { base: T, name: String, result: T, span: Span },
    /// `base.index`.
    TupleField { base: T, index: u32, result: T, span: Span },
    /// `receiver.name(args)`: a field that is called, or a function.
    Method {
        receiver: T,
        receiver_span: Span,
        name: String,
        rest: Vec<T>,
        result: T,
        span: Span,
        name_span: Span,
        function: Option<Box<Expr>>,
    },
    /// `tangent` is the tangent of a data type whose arguments decide whether it is its own.
    TangentOfData { point: T, tangent: T, span: Span },
}

impl Deferred {
    fn types(&self) -> Vec<T> {
        match self {
            Deferred::Binary { left, right, result, .. } => vec![*left, *right, *result],
            Deferred::Additive { ty, .. } => vec![*ty],
            Deferred::Field { base, result, .. } | Deferred::TupleField { base, result, .. } => vec![*base, *result],
            Deferred::Method { receiver, rest, result, .. } => {
                let mut all = vec![*receiver, *result];
                all.extend(rest);
                all
            }
            Deferred::TangentOfData { point, tangent, .. } => vec![*point, *tangent],
        }
    }

    fn is_operator(&self) -> bool {
        match self {
            Deferred::Binary { .. } | Deferred::Additive { .. } | Deferred::TangentOfData { .. } => true,
            Deferred::Field { .. } | Deferred::TupleField { .. } | Deferred::Method { .. } => false,
        }
    }
}

/// What became of a constraint.
pub enum Outcome {
    Solved,
    Wait(Vec<Var>),
}

impl<'a> Checker<'a> {
    /// Looks again at all constraints whose variables were bound.
    pub fn solve_ready(&mut self) {
        if self.types.solving {
            return;
        }
        self.types.solving = true;
        while let Some(id) = self.types.ready.pop() {
            self.attempt(id, false);
        }
        self.types.solving = false;
    }

    /// Tries a constraint; `force` decides by default.
    pub fn attempt(&mut self, id: u32, force: bool) {
        let Some(constraint) = self.types.deferred[id as usize].take() else { return };
        match self.step(id, &constraint, force) {
            Outcome::Solved => {}
            Outcome::Wait(vars) => {
                self.types.deferred[id as usize] = Some(constraint);
                for v in vars {
                    self.types.watch(id, v);
                }
            }
        }
    }

    fn step(&mut self, id: u32, constraint: &Deferred, force: bool) -> Outcome {
        match constraint {
            Deferred::Binary { op, left, right, result, span, left_span, right_span } => {
                match self.decide_binary(*op, *left, *right, Some(*result), force, (*span, *left_span, *right_span)) {
                    crate::operators::Decision::Done(t) => {
                        self.equate_plain(*result, t, *span);
                        Outcome::Solved
                    }
                    crate::operators::Decision::Wait(vars) => Outcome::Wait(vars),
                }
            }
            Deferred::Additive { ty, span, op } => self.step_additive(*ty, *span, op, force),
            Deferred::Field { base, name, result, span } => {
                let found = self.find_field(*base, name, *span, force, true);
                self.settle_field(id, found, *result, *span)
            }
            Deferred::TupleField { base, index, result, span } => {
                self.step_tuple_field(id, *base, *index, *result, *span, force)
            }
            Deferred::Method { receiver, receiver_span, name, rest, result, span, name_span, function } => self
                .step_method(
                    id,
                    (*receiver, *receiver_span),
                    name,
                    rest,
                    *result,
                    (*span, *name_span),
                    function.as_deref(),
                    force,
                ),
            Deferred::TangentOfData { point, tangent, span } => {
                let own = self.types.own(*point);
                match own {
                    Own::Unknown(v) if !force => Outcome::Wait(vec![v]),
                    Own::Unknown(_) => {
                        self.report(
                            Diagnostic::error("E0211", *span, "the tangent of a type that is not known")
                                .at(format!("this needs `Tangent<{}>`", self.types.show(*point)))
                                .hint("annotate the type of the point"),
                        );
                        Outcome::Solved
                    }
                    Own::Yes | Own::No => {
                        let t = self.types.tangent_of(*point, *span);
                        self.equate_plain(*tangent, t, *span);
                        Outcome::Solved
                    }
                }
            }
        }
    }

    fn step_additive(&mut self, ty: T, span: Span, op: &'static str, force: bool) -> Outcome {
        let mut t = ty;
        while let Node::Array(elem) = self.types.node(t) {
            t = *elem;
        }
        let t = self.types.resolve(t);
        let needed = match self.types.node(t).clone() {
            Node::Var(v) => {
                let bits = self.types.var(v).bits;
                if bits.has(Bits::NUM) || bits.has(Bits::SPACE) {
                    return Outcome::Solved;
                }
                if !force {
                    return Outcome::Wait(vec![v]);
                }
                Bits::NUM
            }
            Node::Param(p) => {
                let bits = self.types.params[p.0 as usize].bits;
                if bits.has(Bits::NUM) || bits.has(Bits::SPACE) {
                    return Outcome::Solved;
                }
                Bits::NUM
            }
            Node::Int | Node::Float | Node::Float32 | Node::Error => return Outcome::Solved,
            Node::Tuple(_) | Node::Adt(..) | Node::Tangent(_) => Bits::SPACE,
            Node::Bool | Node::Str | Node::Fn(..) | Node::Array(_) => {
                self.report_operator(op, &[ty], span);
                return Outcome::Solved;
            }
        };
        if self.types.require(t, needed).is_err() {
            self.report_operator(op, &[ty], span);
        }
        Outcome::Solved
    }

    pub fn report_operator(&mut self, op: &str, operands: &[T], span: Span) {
        if operands.iter().any(|t| matches!(self.types.node(*t), Node::Error)) {
            return;
        }
        let shown: Vec<String> = operands.iter().map(|t| format!("`{}`", self.types.show(*t))).collect();
        self.error("E0203", span, format!("`{op}` cannot be applied to {}", shown.join(" and ")));
    }

    /// Makes two types equal where no better words are known than that they differ.
    pub fn equate_plain(&mut self, want: T, found: T, span: Span) {
        self.equate(want, found, span, None);
    }

    fn settle_field(&mut self, id: u32, found: Found, result: T, span: Span) -> Outcome {
        match found {
            Found::Yes(resolution, t) => {
                self.resolutions.insert(id, resolution);
                self.equate_plain(result, t, span);
                Outcome::Solved
            }
            Found::Wait(vars) => Outcome::Wait(vars),
            Found::No => {
                self.resolutions.insert(id, Resolution::Failed);
                self.equate_plain(result, T::ERROR, span);
                Outcome::Solved
            }
        }
    }

    /// The field `name` of `base`; reports what cannot be.
    pub fn find_field(&mut self, base: T, name: &str, span: Span, force: bool, complain: bool) -> Found {
        match self.types.node(base).clone() {
            Node::Error => Found::No,
            Node::Var(v) if !force => Found::Wait(vec![v]),
            Node::Var(_) => {
                if complain && !std::mem::replace(&mut self.body.reported_unknown, true) {
                    self.report(
                        Diagnostic::error(
                            "E0206",
                            span,
                            format!("the type of the value before `.{name}` is not known"),
                        )
                        .hint("annotate the parameter or variable it comes from"),
                    );
                }
                Found::No
            }
            Node::Adt(id, args) if self.program.adts[id].is_struct => match self.struct_field(id, name) {
                Some(i) => Found::Yes(Resolution::Field(i), self.field_type(id, 0, i, &args, span)),
                None => {
                    if complain {
                        self.no_field(id, name, span);
                    }
                    Found::No
                }
            },
            Node::Tangent(inner) => match self.types.node(inner).clone() {
                Node::Adt(id, args) if self.program.adts[id].is_struct => match self.struct_field(id, name) {
                    Some(i) => {
                        let t = self.field_type(id, 0, i, &args, span);
                        let t = self.types.tangent_of(t, span);
                        Found::Yes(Resolution::TangentField(i), t)
                    }
                    None => {
                        if complain {
                            self.no_field(id, name, span);
                        }
                        Found::No
                    }
                },
                Node::Fn(_, _, origin) => self.find_capture(origin, name, span, force, complain),
                _ => self.no_fields(base, name, span, complain),
            },
            _ => self.no_fields(base, name, span, complain),
        }
    }

    fn no_fields(&mut self, base: T, name: &str, span: Span, complain: bool) -> Found {
        if complain {
            let shown = self.types.show(base);
            self.error("E0106", span, format!("a value of type `{shown}` has no field `{name}`"));
        }
        Found::No
    }

    fn no_field(&mut self, id: cotan_core::AdtId, name: &str, span: Span) {
        let adt = &self.program.adts[id];
        let fields: Vec<&str> = adt.variants[0].fields.iter().map(|f| f.name.as_str()).collect();
        let mut d = Diagnostic::error("E0106", span, format!("`{}` has no field `{name}`", adt.name))
            .label(adt.span, "declared here");
        d = match crate::names::suggestion(name, fields.iter().copied()) {
            Some(close) => d.hint(format!("there is a field `{close}`")),
            None => d.note(format!("its fields are {}", quoted(&fields))),
        };
        self.report(d);
    }

    pub fn struct_field(&self, id: cotan_core::AdtId, name: &str) -> Option<usize> {
        self.program.adts[id].variants[0].fields.iter().position(|f| f.name == name)
    }

    /// The type of a field with the arguments of its data type filled in.
    pub fn field_type(&mut self, id: cotan_core::AdtId, variant: usize, field: usize, args: &[T], span: Span) -> T {
        let adt = &self.program.adts[id];
        let ty = adt.variants[variant].fields[field].ty.clone();
        let generics: Vec<_> = adt.generics.iter().map(|g| g.id).collect();
        self.types.import(&ty, &|p| generics.iter().position(|g| *g == p).and_then(|i| args.get(i).copied()), span)
    }

    /// Captures of a known function by name.
    pub fn captures_of(&self, note: usize) -> Vec<LocalId> {
        let mut found: Vec<LocalId> = Vec::new();
        let mut seen = vec![note];
        let mut next = 0;
        while next < seen.len() {
            for local in &self.notes[seen[next]].captured {
                if !found.contains(local) {
                    found.push(*local);
                }
            }
            for used in &self.notes[seen[next]].used_fns {
                if let Some(state) = self.body.local_fn_states.get(used.0 as usize)
                    && !seen.contains(&state.note)
                {
                    seen.push(state.note);
                }
            }
            next += 1;
        }
        found
    }

    fn find_capture(
        &mut self,
        origin: crate::types::Origin,
        name: &str,
        span: Span,
        force: bool,
        complain: bool,
    ) -> Found {
        let root = self.types.origin(origin);
        let note = match self.types.origins[root.0 as usize] {
            OriginState::Unknown { .. } if !force => return Found::Wait(Vec::new()),
            OriginState::Known(Maker::Inner(note)) if self.notes[note].body == self.body.serial => note,
            OriginState::Known(Maker::Fn(id)) => {
                if complain {
                    let f = self.program.fns[id].name.clone();
                    self.report(
                        Diagnostic::error("E0504", span, format!("the function `{f}` captures no variable `{name}`"))
                            .note("a top-level function captures nothing"),
                    );
                }
                return Found::No;
            }
            OriginState::Unknown { .. } | OriginState::Known(_) | OriginState::Many | OriginState::Same(_) => {
                if complain {
                    self.report(
                        Diagnostic::error("E0504", span, "which closure this is a tangent of is not known here")
                            .note("captured variables can be named only where the closure is known")
                            .hint("use the tangent as a whole, or differentiate with respect to a parameter"),
                    );
                }
                return Found::No;
            }
        };
        let captures = self.captures_of(note);
        let Some(local) = captures.iter().copied().find(|l| self.body.locals[*l].name == name) else {
            if complain {
                let names: Vec<&str> = captures.iter().map(|l| self.body.locals[*l].name.as_str()).collect();
                let mut d = Diagnostic::error(
                    "E0504",
                    span,
                    format!("the function `{}` captures no variable `{name}`", self.notes[note].name),
                );
                d = if names.is_empty() {
                    d.note("it captures nothing")
                } else {
                    d.note(format!("it captures {}", quoted(&names)))
                };
                self.report(d);
            }
            return Found::No;
        };
        let t = self.local_type(local);
        let t = self.types.tangent_of(t, span);
        Found::Yes(Resolution::TangentCapture(name.to_string(), note as u32), t)
    }

    fn step_tuple_field(&mut self, id: u32, base: T, index: u32, result: T, span: Span, force: bool) -> Outcome {
        match self.types.node(base).clone() {
            Node::Var(v) if !force => return Outcome::Wait(vec![v]),
            Node::Var(_) => {
                if !std::mem::replace(&mut self.body.reported_unknown, true) {
                    self.report(
                        Diagnostic::error(
                            "E0206",
                            span,
                            format!("the type of the value before `.{index}` is not known"),
                        )
                        .hint("annotate the parameter or variable it comes from"),
                    );
                }
            }
            Node::Error => {}
            Node::Tuple(parts) => {
                if let Some(part) = parts.get(index as usize) {
                    self.resolutions.insert(id, Resolution::TupleField(index as usize));
                    self.equate_plain(result, *part, span);
                    return Outcome::Solved;
                }
                let shown = self.types.show(base);
                self.error("E0207", span, format!("`{shown}` has {} components, so no `.{index}`", parts.len()));
            }
            _ => {
                let shown = self.types.show(base);
                self.error("E0207", span, format!("`{shown}` is not a tuple, so it has no `.{index}`"));
            }
        }
        self.resolutions.insert(id, Resolution::Failed);
        self.equate_plain(result, T::ERROR, span);
        Outcome::Solved
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of one constraint")]
    fn step_method(
        &mut self,
        id: u32,
        (receiver, receiver_span): (T, Span),
        name: &str,
        rest: &[T],
        result: T,
        (span, name_span): (Span, Span),
        function: Option<&Expr>,
        force: bool,
    ) -> Outcome {
        let known_field = self.world.field_names.contains(name);
        if function.is_none() || known_field {
            let found = self.find_field(receiver, name, name_span, force && function.is_none(), function.is_none());
            match found {
                Found::Yes(resolution, t) => {
                    self.resolutions.insert(id, resolution);
                    let arg = self.types.argument(rest.to_vec());
                    let wanted = self.types.function(arg, result);
                    self.equate_plain(t, wanted, span);
                    return Outcome::Solved;
                }
                Found::Wait(vars) if !force => return Outcome::Wait(vars),
                Found::Wait(_) | Found::No => {}
            }
        }
        let Some(function) = function else {
            self.resolutions.insert(id, Resolution::Failed);
            self.equate_plain(result, T::ERROR, span);
            return Outcome::Solved;
        };
        let mut args = vec![receiver];
        args.extend(rest);
        let arg = self.types.argument(args);
        let function_type = self.type_of(function);
        self.resolutions.insert(id, Resolution::Function(Box::new(function.clone())));
        match self.types.node(function_type).clone() {
            Node::Fn(want, ret, _) => {
                self.equate(want, arg, receiver_span.to(span), None);
                self.equate_plain(result, ret, span);
            }
            _ => {
                let wanted = self.types.function(arg, result);
                self.equate_plain(function_type, wanted, span);
            }
        }
        Outcome::Solved
    }

    /// Decides what is left of the constraints since `mark`. Those that reach outside of the function that
    /// is being generalised wait; so do fields and methods unless `all`.
    pub fn settle(&mut self, mark: u32, outer_level: u32, all: bool) {
        self.solve_ready();
        let pending: Vec<u32> =
            (mark..self.types.deferred.len() as u32).filter(|id| self.types.deferred[*id as usize].is_some()).collect();
        for id in pending {
            let Some(constraint) = &self.types.deferred[id as usize] else { continue };
            let constraint = constraint.clone();
            let inner = constraint.is_operator()
                && !matches!(constraint, Deferred::TangentOfData { .. })
                && constraint.types().iter().all(|t| self.is_inner(*t, outer_level));
            if all && constraint.is_operator() && !matches!(constraint, Deferred::TangentOfData { .. }) || inner {
                self.attempt(id, true);
                self.solve_ready();
            } else if !all {
                for t in constraint.types() {
                    self.types.lower_levels(t, outer_level);
                }
            }
        }
        if all {
            self.default_literals();
            self.solve_ready();
            let mut left: Vec<u32> = (mark..self.types.deferred.len() as u32).collect();
            left.retain(|id| self.types.deferred[*id as usize].is_some());
            for id in left {
                if matches!(self.types.deferred[id as usize], Some(Deferred::TangentOfData { .. })) {
                    continue;
                }
                self.attempt(id, true);
                self.solve_ready();
            }
        }
    }

    /// Whether an unknown in `t` belongs to the function that is being generalised (or there is none).
    fn is_inner(&self, t: T, outer_level: u32) -> bool {
        match self.types.node(t) {
            Node::Var(v) => self.types.var(*v).level > outer_level,
            Node::Array(elem) => self.is_inner(*elem, outer_level),
            _ => true,
        }
    }

    /// Literals that nothing decided.
    pub fn default_literals(&mut self) {
        for t in std::mem::take(&mut self.types.literals) {
            let Some(v) = self.types.var_of(t) else { continue };
            let state = self.types.var(v);
            match state.literal {
                crate::types::Literal::Float => {
                    let _ = self.types.unify(t, T::FLOAT);
                }
                _ => self.types.literals.push(t),
            }
        }
    }

    /// Integer literals that nothing decided and that no parameter shares.
    pub fn default_int_literals(&mut self) {
        for t in std::mem::take(&mut self.types.literals) {
            if let Some(v) = self.types.var_of(t) {
                let float = self.types.var(v).bits.has(Bits::SPACE);
                let _ = self.types.unify(t, if float { T::FLOAT } else { T::INT });
            }
        }
        self.solve_ready();
    }
}

/// A field that was looked for.
pub enum Found {
    Yes(Resolution, T),
    Wait(Vec<Var>),
    No,
}

/// Names in quotes, separated by commas.
pub fn quoted(names: &[&str]) -> String {
    names.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ")
}
