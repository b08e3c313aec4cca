//! Calls and function values.
//!
//! In: calls and functions of the core. Out: calls of known functions where the source or a closure at hand says which, else
//! dispatch by the function value. A function of several parameters is given them one by one, its function value gets their tuple.

use crate::Builtin;
use crate::frame::{Flow, Frame, Slot, truth};
use crate::instances::{Code, Work, builtin};
use crate::regions::On;
use crate::shapes::Shape;
use cotan_core::{Closure, Expr, ExprKind, FnBody, FnId, LocalFnId, Ty};
use cotan_ir::{Atom, Op, Type};
use std::rc::Rc;

impl<'c> Frame<'_, 'c> {
    /// A call.
    pub fn call(&mut self, e: &'c Expr, callee: &'c Expr, arg: &'c Expr) -> Flow<Atom> {
        let core = self.s.core;
        match &callee.kind {
            ExprKind::Fn(id, types) => {
                let def = &core.fns[*id];
                match &def.body {
                    FnBody::Builtin(name) => self.call_builtin(e, builtin(name), def.params.len(), arg),
                    FnBody::Code(_) => {
                        let args = self.arguments(arg, def.params.len())?;
                        self.b.set_span(e.span);
                        let types = self.instantiate_all(types);
                        let func = self.s.function(self.b.program, *id, &types);
                        Ok(self.emit(Op::Call { func, args }))
                    }
                }
            }
            ExprKind::LocalFn(id, types) => {
                let on = self.local_fn_value(*id, types);
                let arg = self.value(arg)?;
                self.b.set_span(e.span);
                Ok(self.apply(on, arg))
            }
            ExprKind::Ctor(_, variant, _) => {
                let ty = self.ty(&e.ty);
                let Type::Adt(adt) = *self.kind(ty) else { unreachable!("a variant is of a nominal type") };
                let count = self.b.program.adts[adt].variants[*variant].fields.len();
                let fields = self.arguments(arg, count)?;
                self.b.set_span(e.span);
                Ok(self.emit(Op::Adt { adt, variant: *variant as u32, fields }))
            }
            _ => {
                let on = self.value(callee)?;
                let arg = self.value(arg)?;
                self.b.set_span(e.span);
                Ok(self.apply(on, arg))
            }
        }
    }

    /// A function value applied to an argument.
    pub fn apply(&mut self, on: Atom, arg: Atom) -> Atom {
        match self.shapes.code(&on) {
            Some(func) => self.emit(Op::Call { func, args: vec![on, arg] }),
            None => self.emit(Op::Dispatch { on, path: Vec::new(), args: vec![arg] }),
        }
    }

    /// The arguments of a function with `count` parameters.
    fn arguments(&mut self, arg: &'c Expr, count: usize) -> Flow<Vec<Atom>> {
        match &arg.kind {
            ExprKind::Tuple(items) if count != 1 && items.len() == count => self.values(items),
            _ => {
                let arg = self.value(arg)?;
                Ok(match count {
                    1 => vec![arg],
                    n => (0..n).map(|i| self.proj(&arg, i)).collect(),
                })
            }
        }
    }

    fn call_builtin(&mut self, e: &'c Expr, builtin: Builtin, count: usize, arg: &'c Expr) -> Flow<Atom> {
        // A message that takes work is made only where it is shown.
        if let (Builtin::Assert, ExprKind::Tuple(items)) = (builtin, &arg.kind)
            && let [cond, message] = &items[..]
            && !matches!(message.kind, ExprKind::Lit(_))
        {
            let cond = self.value(cond)?;
            self.b.set_span(e.span);
            let effects = [Rc::default(), self.s.scan.expr(message)];
            let unit_ty = self.ty(&Ty::unit());
            let mut arm = |f: &mut Self, i: usize, _: bool| {
                if i == 1 {
                    let message = f.value(message)?;
                    f.b.set_span(e.span);
                    f.b.emit0(Op::Assert { cond: truth(false), message });
                }
                Ok(crate::frame::unit())
            };
            return self.choose(On::Cond(cond), unit_ty, false, &effects, &mut arm);
        }
        if let (Builtin::With(_), Ty::Fn(arg, ret)) = (builtin, self.scope.instantiate(self.s.core, &e.ty)) {
            self.s.check_rule(self.b.program, &arg, &ret);
        }
        let args = self.arguments(arg, count)?;
        self.b.set_span(e.span);
        let ty = self.ty(&e.ty);
        Ok(self.builtin(builtin, args, ty))
    }

    /// A top-level function as a value.
    pub fn fn_value(&mut self, id: FnId, types: &[Ty]) -> Atom {
        let types = self.instantiate_all(types);
        let code = self.s.value_of(self.b.program, id, &types);
        self.emit(Op::Closure { code, captures: Vec::new() })
    }

    /// A local function as a value: the closure made where it is declared, the function itself inside of it, else a new one.
    pub fn local_fn_value(&mut self, id: LocalFnId, types: &[Ty]) -> Atom {
        if types.is_empty()
            && let Some(value) = self.fn_values.get(&id)
        {
            return value.clone();
        }
        let types = self.instantiate_all(types);
        let captures: Vec<Atom> = self.scope.local_fns[id].captures.iter().map(|l| self.get(Slot::Local(*l))).collect();
        let scope = self.scope.clone();
        let shapes = &self.shapes;
        let code =
            self.s.local_fn(self.b.program, &scope, id, &types, || captures.iter().map(|a| shapes.of(a)).collect());
        match &self.this {
            Some((this, own)) if *own == code => this.clone(),
            _ => self.emit(Op::Closure { code, captures }),
        }
    }

    /// Takes the captures of a local function where it is declared.
    pub fn declare_local_fn(&mut self, id: LocalFnId) {
        if self.scope.local_fns[id].generics.is_empty() {
            let value = self.local_fn_value(id, &[]);
            if let Atom::Var(v) = &value {
                let name = &self.scope.local_fns[id].name;
                self.b.name_var(*v, name);
            }
            self.fn_values.insert(id, value);
        }
    }

    /// A closure.
    pub fn closure(&mut self, closure: &'c Closure, e: &'c Expr) -> Atom {
        let core = self.s.core;
        let captures: Vec<Atom> = closure.captures.iter().map(|l| self.get(Slot::Local(*l))).collect();
        let scope = self.scope.clone();
        let Ty::Fn(arg, ret) = scope.instantiate(core, &e.ty) else { unreachable!("a closure has a function type") };
        let declared = self.s.captures(self.b.program, &scope, &closure.captures);
        let id = self.s.declare_code(self.b.program, &closure.name, &arg, &ret, declared, e.span);
        let shapes: Vec<Shape> = captures.iter().map(|a| self.shapes.of(a)).collect();
        self.s.captured.insert(id, shapes.clone());
        self.s.note_maker(closure.maker, &scope, id);
        self.s.queue.push_back(Work::Code(Code {
            id,
            scope,
            name: &closure.name,
            captures: &closure.captures,
            shapes,
            params: &closure.params,
            body: &closure.body,
            rules: &[],
            span: e.span,
        }));
        self.emit(Op::Closure { code: id, captures })
    }
}
