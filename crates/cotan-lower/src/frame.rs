//! One function while it is lowered.
//!
//! In: a body of the core and what its variables stand for. Out: a [`Func`]. The frame holds the statements made so far, the current
//! value of every variable of the source ([`Slot`]), and the open regions (see `regions`).

use crate::Builtin;
use crate::adjoints::Adjoint;
use crate::instances::{Code, Scope, Shared};
use crate::regions::Region;
use crate::shapes::Shapes;
use cotan_core::{Expr, LocalFnId, LocalId, Ty};
use cotan_ir::{AdOp, Atom, FnId, Func, FuncBuilder, Lit, Op, Program, Type, TypeId, Var};
use cotan_source::Span;
use rustc_hash::FxHashMap;

/// The way of control left the expression: what follows in the region is not reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dead;

/// A value, unless it is not reached.
pub(crate) type Flow<T> = Result<T, Dead>;

/// Something whose value changes as the function runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Slot {
    /// A variable of the source.
    Local(LocalId),
    /// Whether the function has returned.
    Returned,
    /// What it returned.
    ReturnValue,
    /// Whether the innermost loop was left.
    Broke,
    /// Whether its current turn was left.
    Continued,
    /// The tangent of a parameter or captured variable, in a forward rule.
    Tangent(LocalId),
}

/// One function while it is lowered.
pub(crate) struct Frame<'a, 'c> {
    pub s: &'a mut Shared<'c>,
    pub b: FuncBuilder<'a, AdOp>,
    pub scope: Scope<'c>,
    /// The function itself.
    pub id: FnId,
    env: FxHashMap<Slot, Atom>,
    /// Changes of `env` since the outermost region was opened.
    log: Vec<(Slot, Option<Atom>)>,
    pub regions: Vec<Region>,
    /// The closure, in the code of one; and its code.
    pub this: Option<(Atom, FnId)>,
    /// Closures over local functions that were declared.
    pub fn_values: FxHashMap<LocalFnId, Atom>,
    tuples: FxHashMap<Var, Vec<Atom>>,
    pub shapes: Shapes,
    /// Result type.
    pub ret: TypeId,
    /// Where cotangents go, in the backward part of a rule.
    pub adjoints: FxHashMap<LocalId, Adjoint>,
}

impl<'a, 'c> Frame<'a, 'c> {
    /// An empty function; its declaration is in the program at `id`.
    pub fn new(s: &'a mut Shared<'c>, program: &'a mut Program<AdOp>, scope: Scope<'c>, name: &str, id: FnId) -> Self {
        let ret = program.fns[id].results[0];
        Frame {
            s,
            b: FuncBuilder::new(program, name),
            scope,
            id,
            env: FxHashMap::default(),
            log: Vec::new(),
            regions: Vec::new(),
            this: None,
            fn_values: FxHashMap::default(),
            tuples: FxHashMap::default(),
            shapes: Shapes::default(),
            ret,
            adjoints: FxHashMap::default(),
        }
    }

    /// A top-level function with these parameters.
    pub fn top(mut self, params: &[LocalId], body: &'c Expr, span: Span) -> Func<AdOp> {
        self.b.set_span(span);
        self.top_params(params);
        let value = self.body(body);
        self.b.finish(vec![value], span)
    }

    /// Binds the parameters of a top-level function.
    pub fn top_params(&mut self, params: &[LocalId]) {
        for p in params {
            let ty = self.local_type(*p);
            let var = self.b.param(ty, Some(self.scope.locals[*p].name.clone()));
            self.set(Slot::Local(*p), var.into());
        }
    }

    /// The code of a local function or closure.
    pub fn code(mut self, code: &Code<'c>) -> Func<AdOp> {
        self.b.set_span(code.span);
        self.b.set_captures(self.b.program.fns[code.id].captures.clone().expect("codes have captures"));
        self.code_params(code);
        let value = self.body(code.body);
        self.b.finish(vec![value], code.span)
    }

    /// Binds the parameters and captured variables of the code of a closure.
    pub fn code_params(&mut self, code: &Code<'c>) -> (Var, Var) {
        let declared = &self.b.program.fns[code.id];
        let (this_ty, arg_ty) = (declared.vars[declared.params[0]].ty, declared.vars[declared.params[1]].ty);
        let this = self.b.param(this_ty, None);
        let arg = self.b.param(arg_ty, None);
        self.this_is(this, code);
        match code.params {
            [] => {}
            [one] => self.bind_local(*one, arg.into()),
            several => {
                for (i, p) in several.iter().enumerate() {
                    let part = self.proj(&arg.into(), i);
                    self.bind_local(*p, part);
                }
            }
        }
        (this, arg)
    }

    /// Reads the captured variables from the closure.
    pub fn this_is(&mut self, this: Var, code: &Code<'c>) {
        self.shapes.set(this, crate::shapes::Shape::Code(code.id));
        let this = Atom::Var(this);
        self.this = Some((this.clone(), code.id));
        for (i, local) in code.captures.iter().enumerate() {
            let value = self.emit(Op::Capture { base: this.clone(), code: code.id, index: i as u32 });
            if let (Some(v), Some(shape)) = (value.var(), code.shapes.get(i)) {
                self.shapes.set(v, shape.clone());
            }
            self.bind_local(*local, value);
        }
    }

    /// A function that does nothing but apply a builtin (`Ok`) or call another function.
    pub fn wrapper(mut self, names: &[&str], target: Result<Builtin, FnId>, result: TypeId, span: Span) -> Func<AdOp> {
        self.b.set_span(span);
        let declared = &self.b.program.fns[self.id];
        let types: Vec<TypeId> = declared.params.iter().map(|p| declared.vars[*p].ty).collect();
        let captures = declared.captures.clone();
        let args: Vec<Atom> = match captures {
            Some(captures) => {
                self.b.set_captures(captures);
                self.b.param(types[0], None);
                let arg = self.b.param(types[1], None).into();
                match names.len() {
                    1 => vec![arg],
                    n => (0..n).map(|i| self.proj(&arg, i)).collect(),
                }
            }
            None => {
                let param = |(ty, name): (&TypeId, &&str)| self.b.param(*ty, Some((*name).to_string())).into();
                types.iter().zip(names).map(param).collect()
            }
        };
        let value = match target {
            Ok(builtin) => self.builtin(builtin, args, result),
            Err(func) => self.emit(Op::Call { func, args }),
        };
        self.b.finish(vec![value], span)
    }

    /// The code of a function value that makes a variant.
    pub fn ctor(mut self, adt: cotan_ir::AdtId, variant: usize) -> Func<AdOp> {
        let declared = &self.b.program.fns[self.id];
        let types: Vec<TypeId> = declared.params.iter().map(|p| declared.vars[*p].ty).collect();
        let span = declared.span;
        self.b.set_span(span);
        self.b.set_captures(Vec::new());
        self.b.param(types[0], None);
        let arg: Atom = self.b.param(types[1], None).into();
        let fields = match self.b.program.adts[adt].variants[variant].fields.len() {
            1 => vec![arg],
            n => (0..n).map(|i| self.proj(&arg, i)).collect(),
        };
        let value = self.emit(Op::Adt { adt, variant: variant as u32, fields });
        self.b.finish(vec![value], span)
    }

    /// The body of the function, whose value is the function's.
    pub fn body(&mut self, body: &'c Expr) -> Atom {
        let ret = self.ret;
        let block = self.region(true, Vec::new(), Some(ret), |f| f.expr(body, true));
        block.stmts.into_iter().for_each(|s| self.b.push(s));
        block.results.into_iter().next().expect("the region has a value")
    }

    /// The type of the program for a type of the source at this place.
    pub fn ty(&mut self, ty: &Ty) -> TypeId {
        let core = self.s.core;
        if self.scope.subst.is_empty() {
            return self.s.ty(self.b.program, ty);
        }
        let ty = self.scope.instantiate(core, ty);
        self.s.ty(self.b.program, &ty)
    }

    /// The types without parameters.
    pub fn instantiate_all(&self, tys: &[Ty]) -> Vec<Ty> {
        // Normal forms, so that equal types are equal keys.
        tys.iter().map(|t| t.substitute(self.s.core, &|p| self.param(p))).collect()
    }

    fn param(&self, p: cotan_core::ParamId) -> Option<Ty> {
        self.scope.subst.iter().find(|(q, _)| *q == p).map(|(_, t)| t.clone())
    }

    /// The type of a variable of the source.
    pub fn local_type(&mut self, local: LocalId) -> TypeId {
        let locals = self.scope.locals;
        self.ty(&locals[local].ty)
    }

    /// The kind of a type.
    pub fn kind(&self, ty: TypeId) -> &Type {
        self.b.program.ty(ty)
    }

    /// The kind of the type of an operand.
    pub fn kind_of(&mut self, atom: &Atom) -> Type {
        let ty = self.b.type_of(atom);
        self.b.program.ty(ty).clone()
    }

    /// The current value of a slot.
    pub fn get(&mut self, slot: Slot) -> Atom {
        if let Some(atom) = self.env.get(&slot) {
            return atom.clone();
        }
        match slot {
            Slot::Returned | Slot::Broke | Slot::Continued => Atom::Lit(Lit::Bool(false)),
            Slot::ReturnValue => self.filler(self.ret),
            Slot::Local(l) | Slot::Tangent(l) => {
                panic!("the variable `{}` is used where it has no value", self.scope.locals[l].name)
            }
        }
    }

    /// Whether a slot has a value.
    pub fn has(&self, slot: Slot) -> bool {
        self.env.contains_key(&slot)
    }

    /// Changes a slot.
    pub fn set(&mut self, slot: Slot, value: Atom) {
        let old = self.env.insert(slot, value);
        if !self.regions.is_empty() {
            self.log.push((slot, old));
        }
    }

    /// The point to which [`rewind`](Self::rewind) goes back.
    pub fn mark(&self) -> usize {
        self.log.len()
    }

    /// Undoes the changes of slots since the mark.
    pub fn rewind(&mut self, mark: usize) {
        for (slot, old) in self.log.drain(mark..).rev() {
            match old {
                Some(old) => self.env.insert(slot, old),
                None => self.env.remove(&slot),
            };
        }
    }

    /// Binds a variable of the source and gives the value its name.
    pub fn bind_local(&mut self, local: LocalId, value: Atom) {
        if let Atom::Var(v) = &value {
            let locals = self.scope.locals;
            self.b.name_var(*v, &locals[local].name);
        }
        self.set(Slot::Local(local), value);
    }

    /// Adds an operation with one result, whose type follows.
    pub fn emit(&mut self, op: Op<AdOp>) -> Atom {
        let var = match &op {
            Op::Tuple(items) => {
                let items = items.clone();
                let var = self.b.emit_typed1(op.clone());
                self.tuples.insert(var, items);
                var
            }
            _ => self.b.emit_typed1(op.clone()),
        };
        self.shapes.note(var, &op);
        var.into()
    }

    /// Adds an operation with one result of a given type.
    pub fn emit_as(&mut self, op: Op<AdOp>, ty: TypeId) -> Atom {
        let var = self.b.emit1(op.clone(), ty);
        self.shapes.note(var, &op);
        var.into()
    }

    /// A component of a tuple.
    pub fn proj(&mut self, tuple: &Atom, index: usize) -> Atom {
        if let Some(parts) = tuple.var().and_then(|v| self.tuples.get(&v)) {
            return parts[index].clone();
        }
        self.emit(Op::Proj(tuple.clone(), index as u32))
    }

    /// A tuple; none is made of no parts.
    pub fn tuple(&mut self, parts: Vec<Atom>) -> Atom {
        if parts.is_empty() { unit() } else { self.emit(Op::Tuple(parts)) }
    }
}

/// `()`.
pub(crate) fn unit() -> Atom {
    Atom::Lit(Lit::Unit)
}

/// A truth value.
pub(crate) fn truth(value: bool) -> Atom {
    Atom::Lit(Lit::Bool(value))
}

/// A text.
pub(crate) fn text(value: &str) -> Atom {
    Atom::Lit(Lit::Str(value.into()))
}
