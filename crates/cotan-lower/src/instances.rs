//! Which functions at which types: instantiation on demand.
//!
//! In: the core and the roots. Out: the program. Every function is given its id, parameter and result types when it is
//! first named, so that code that calls it can be written; its own code is written later, from a queue.

use crate::frame::Frame;
use crate::rules::Target;
use crate::scan::Scan;
use crate::shapes::Shape;
use crate::types::{LARGEST_TYPES, Types, name, size};
use crate::{Builtin, Lowered, Root, RuleChecks};
use cotan_core::{
    AdtId, ConstId, Expr, FnBody, Local, LocalFn, LocalFnId, LocalId, ParamId, Program as Core, Rule, Ty, argument_ty,
};
use cotan_ir::{AdOp, Block, Capture, FnId, Func, Program, Rules, Type, TypeId, VarInfo};
use cotan_source::{Diagnostic, IndexVec, Span};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::rc::Rc;

/// What generic parameters stand for.
pub(crate) type Subst = Rc<Vec<(ParamId, Ty)>>;

/// Whose tables of local variables an expression uses.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Owner {
    /// A top-level function.
    Fn(cotan_core::FnId),
    /// A constant.
    Const(ConstId),
}

/// What is needed to read an expression: its tables, and what its generic parameters stand for.
#[derive(Clone)]
pub(crate) struct Scope<'c> {
    pub owner: Owner,
    pub locals: &'c IndexVec<LocalId, Local>,
    pub local_fns: &'c IndexVec<LocalFnId, LocalFn>,
    pub subst: Subst,
}

impl Scope<'_> {
    /// A type with the parameters replaced.
    pub fn instantiate(&self, core: &Core, ty: &Ty) -> Ty {
        if self.subst.is_empty() {
            return ty.clone();
        }
        ty.substitute(core, &|p| self.subst.iter().find(|(q, _)| *q == p).map(|(_, t)| t.clone()))
    }
}

/// A function that was asked for.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Key {
    Fn(cotan_core::FnId, Vec<Ty>),
    Const(ConstId),
    Local(Owner, LocalFnId, Vec<(ParamId, Ty)>),
    /// The code of a function value that calls a top-level function.
    Value(cotan_core::FnId, Vec<Ty>),
    /// The code of a function value that makes a variant.
    Ctor(AdtId, usize, Vec<Ty>),
    /// The code of a function value of this type that ends the run.
    Filler(TypeId),
}

/// A function whose code is still to be written.
pub(crate) enum Work<'c> {
    /// A top-level function or constant.
    Top {
        id: FnId,
        scope: Scope<'c>,
        name: &'c str,
        params: &'c [LocalId],
        body: &'c Expr,
        rules: &'c [Rule],
        span: Span,
    },
    /// The code of a local function or closure.
    Code(Code<'c>),
    /// The code of a function value that calls a top-level function.
    Value { id: FnId, function: cotan_core::FnId, types: Vec<Ty> },
    /// The code of a function value that makes a variant.
    Ctor { id: FnId, adt: cotan_ir::AdtId, variant: usize },
}

/// The code of a local function or closure.
#[derive(Clone)]
pub(crate) struct Code<'c> {
    pub id: FnId,
    pub scope: Scope<'c>,
    pub name: &'c str,
    pub captures: &'c [LocalId],
    /// What is known of the captured values.
    pub shapes: Vec<Shape>,
    pub params: &'c [LocalId],
    pub body: &'c Expr,
    pub rules: &'c [Rule],
    pub span: Span,
}

/// What all functions share while they are lowered.
pub(crate) struct Shared<'c> {
    pub core: &'c Core,
    pub types: Types,
    pub scan: Scan,
    instances: FxHashMap<Key, FnId>,
    /// Local functions around a local function, by owner.
    parents: FxHashMap<Owner, Rc<FxHashMap<LocalFnId, LocalFnId>>>,
    pub queue: VecDeque<Work<'c>>,
    pub diagnostics: Vec<Diagnostic>,
    /// Variants that values can be made of, by type.
    pub easy: FxHashMap<cotan_ir::AdtId, Option<usize>>,
    /// What is known of the captured values of a code.
    pub captured: FxHashMap<FnId, Vec<Shape>>,
    /// Functions that clamp the values of nominal types.
    pub clamps: crate::leafwise::Clamps,
    /// The codes of closures and local functions by their makers, and for which types they are.
    made: FxHashMap<u32, Vec<(Subst, FnId)>>,
    /// Tables of code that has no variables of its own.
    no_locals: &'c IndexVec<LocalId, Local>,
    no_fns: &'c IndexVec<LocalFnId, LocalFn>,
    /// The function that checks rules, if they are to be checked, and its instances.
    checker: Option<cotan_core::FnId>,
    checks: RuleChecks,
}

/// See [`lower`](crate::lower).
pub(crate) fn run(core: &Core, roots: &[Root], checker: Option<cotan_core::FnId>) -> Result<Lowered, Vec<Diagnostic>> {
    let mut program = Program::default();
    let (no_locals, no_fns) = (IndexVec::new(), IndexVec::new());
    let mut shared = Shared {
        core,
        types: Types::default(),
        scan: Scan::default(),
        instances: FxHashMap::default(),
        parents: FxHashMap::default(),
        queue: VecDeque::new(),
        diagnostics: Vec::new(),
        easy: FxHashMap::default(),
        captured: FxHashMap::default(),
        clamps: Default::default(),
        made: FxHashMap::default(),
        no_locals: &no_locals,
        no_fns: &no_fns,
        checker,
        checks: RuleChecks::default(),
    };
    let roots = roots.iter().map(|r| shared.function(&mut program, r.function, &r.types)).collect();
    shared.check_types();
    while let Some(work) = shared.queue.pop_front() {
        if !shared.diagnostics.is_empty() {
            break;
        }
        shared.write(&mut program, work);
        shared.check_types();
    }
    if !shared.diagnostics.is_empty() {
        return Err(shared.diagnostics);
    }
    Ok(Lowered { program, roots, checks: shared.checks })
}

impl<'c> Shared<'c> {
    /// The type of the program for a type without parameters.
    pub fn ty(&mut self, program: &mut Program<AdOp>, ty: &Ty) -> TypeId {
        self.types.lower(self.core, program, ty)
    }

    /// The id of a top-level function at types. Builtins become functions that hold the one operation.
    pub fn function(&mut self, program: &mut Program<AdOp>, id: cotan_core::FnId, types: &[Ty]) -> FnId {
        let key = Key::Fn(id, types.to_vec());
        if let Some(found) = self.instances.get(&key) {
            return *found;
        }
        let core = self.core;
        let def = &core.fns[id];
        let scope = self.scope_of(id, types);
        self.check_growth(types, &def.name, def.span);
        let params = self.vars(program, &scope, &def.params);
        let result = scope.instantiate(core, &def.ret);
        let result = self.ty(program, &result);
        let new = program.fns.push(declared(&def.name, params, result, None, def.span));
        self.instances.insert(key, new);
        self.queue.push_back(match &def.body {
            FnBody::Code(body) => Work::Top {
                id: new,
                scope,
                name: &def.name,
                params: &def.params,
                body,
                rules: &def.rules,
                span: def.span,
            },
            FnBody::Builtin(_) => Work::Value { id: new, function: id, types: types.to_vec() },
        });
        if !def.rules.is_empty() && self.checker.is_some() {
            let value = self.value_of(program, id, types);
            self.checks.values.insert(new, value);
            let scope = self.scope_of(id, types);
            self.check_rule(program, &scope.instantiate(core, &def.arg_ty()), &scope.instantiate(core, &def.ret));
        }
        new
    }

    /// Makes the function that checks rules of functions from `arg` to `ret`.
    pub fn check_rule(&mut self, program: &mut Program<AdOp>, arg: &Ty, ret: &Ty) {
        let Some(checker) = self.checker else { return };
        let (from, result) = (self.ty(program, arg), self.ty(program, ret));
        let ty = program.intern(Type::Fn { arg: from, result });
        if !self.checks.by_type.contains_key(&ty) {
            let check = self.function(program, checker, &[arg.clone(), ret.clone()]);
            self.checks.by_type.insert(ty, check);
        }
    }

    fn scope_of(&self, id: cotan_core::FnId, types: &[Ty]) -> Scope<'c> {
        let def = &self.core.fns[id];
        assert!(def.generics.len() == types.len(), "`{}` takes {} types", def.name, def.generics.len());
        Scope {
            owner: Owner::Fn(id),
            locals: &def.locals,
            local_fns: &def.local_fns,
            subst: Rc::new(def.generics.iter().map(|g| g.id).zip(types.iter().cloned()).collect()),
        }
    }

    /// The function that computes a constant.
    pub fn constant(&mut self, program: &mut Program<AdOp>, id: ConstId) -> FnId {
        let key = Key::Const(id);
        if let Some(found) = self.instances.get(&key) {
            return *found;
        }
        let def = &self.core.consts[id];
        let result = self.ty(program, &def.ty);
        let new = program.fns.push(declared(&def.name, Vec::new(), result, None, def.span));
        self.instances.insert(key, new);
        let scope = Scope {
            owner: Owner::Const(id),
            locals: &def.locals,
            local_fns: &def.local_fns,
            subst: Rc::new(Vec::new()),
        };
        let work =
            Work::Top { id: new, scope, name: &def.name, params: &[], body: &def.value, rules: &[], span: def.span };
        self.queue.push_back(work);
        new
    }

    /// The code of a function value for a top-level function.
    pub fn value_of(&mut self, program: &mut Program<AdOp>, function: cotan_core::FnId, types: &[Ty]) -> FnId {
        let key = Key::Value(function, types.to_vec());
        if let Some(found) = self.instances.get(&key) {
            return *found;
        }
        let core = self.core;
        let def = &core.fns[function];
        self.check_growth(types, &def.name, def.span);
        let scope = self.scope_of(function, types);
        let arg = scope.instantiate(core, &def.arg_ty());
        let ret = scope.instantiate(core, &def.ret);
        let new = self.declare_code(program, &def.name, &arg, &ret, Vec::new(), def.span);
        self.instances.insert(key, new);
        self.queue.push_back(Work::Value { id: new, function, types: types.to_vec() });
        new
    }

    /// The code of a function value for a variant.
    pub fn ctor_of(&mut self, program: &mut Program<AdOp>, adt: AdtId, variant: usize, types: &[Ty]) -> FnId {
        let key = Key::Ctor(adt, variant, types.to_vec());
        if let Some(found) = self.instances.get(&key) {
            return *found;
        }
        let def = &self.core.adts[adt];
        let fields = def.variants[variant].fields.iter();
        let arg = argument_ty(fields.map(|f| crate::types::field_type(self.core, def, types, &f.ty)).collect());
        let ret = Ty::Adt(adt, types.to_vec());
        let lowered = self.types.adt(self.core, program, adt, types);
        let shown = def.variants[variant].name.clone();
        let new = self.declare_code(program, &shown, &arg, &ret, Vec::new(), def.variants[variant].span);
        self.instances.insert(key, new);
        self.queue.push_back(Work::Ctor { id: new, adt: lowered, variant });
        new
    }

    /// The code of a function value of type `ty` that is never called.
    pub fn filler_of(&mut self, program: &mut Program<AdOp>, ty: TypeId) -> FnId {
        let key = Key::Filler(ty);
        if let Some(found) = self.instances.get(&key) {
            return *found;
        }
        let Type::Fn { arg, result } = *program.ty(ty) else { unreachable!("fillers of function types are functions") };
        let params = vec![VarInfo { ty, name: None }, VarInfo { ty: arg, name: None }];
        let mut func = declared("unset", params, result, Some(Vec::new()), Span::NONE);
        let v = func.vars.push(VarInfo { ty: result, name: None });
        let message = cotan_ir::Atom::Lit(cotan_ir::Lit::Str("a function value that was never set was called".into()));
        func.body.stmts.push(cotan_ir::Stmt { vars: vec![v], op: cotan_ir::Op::Panic(message), span: Span::NONE });
        func.body.results.push(v.into());
        let new = program.fns.push(func);
        self.instances.insert(key, new);
        new
    }

    /// The code of a local function at types for its own parameters, seen from a place inside `scope`.
    pub fn local_fn(
        &mut self,
        program: &mut Program<AdOp>,
        scope: &Scope<'c>,
        id: LocalFnId,
        types: &[Ty],
        shapes: impl FnOnce() -> Vec<Shape>,
    ) -> FnId {
        let core = self.core;
        let def = &scope.local_fns[id];
        let scope = Scope { subst: self.subst_of_local(scope, id, types), ..scope.clone() };
        let key = Key::Local(scope.owner, id, scope.subst.to_vec());
        if let Some(found) = self.instances.get(&key) {
            return *found;
        }
        self.check_growth(types, &def.name, def.span);
        let arg = argument_ty(def.params.iter().map(|p| scope.instantiate(core, &scope.locals[*p].ty)).collect());
        let ret = scope.instantiate(core, &def.ret);
        let captures = self.captures(program, &scope, &def.captures);
        let new = self.declare_code(program, &def.name, &arg, &ret, captures, def.span);
        if !def.rules.is_empty() {
            self.check_rule(program, &arg, &ret);
        }
        self.instances.insert(key, new);
        let shapes = shapes();
        self.captured.insert(new, shapes.clone());
        self.note_maker(def.maker, &scope, new);
        self.queue.push_back(Work::Code(Code {
            id: new,
            scope,
            name: &def.name,
            captures: &def.captures,
            shapes,
            params: &def.params,
            body: &def.body,
            rules: &def.rules,
            span: def.span,
        }));
        new
    }

    /// Notes the code of a closure or local function.
    pub fn note_maker(&mut self, maker: u32, scope: &Scope<'c>, code: FnId) {
        self.made.entry(maker).or_default().push((scope.subst.clone(), code));
    }

    /// The code that a closure or local function has at the types of a place that sees it.
    pub fn made_by(&self, maker: u32, scope: &Scope<'c>) -> Option<FnId> {
        let fits = |types: &Subst| types.iter().all(|t| scope.subst.contains(t));
        self.made.get(&maker)?.iter().rev().find(|(types, _)| fits(types)).map(|(_, code)| *code)
    }

    /// What the parameters in sight of a local function stand for: those of the functions around it and its own.
    fn subst_of_local(&mut self, scope: &Scope<'c>, id: LocalFnId, types: &[Ty]) -> Subst {
        let generic = |f: &LocalFn| !f.generics.is_empty();
        if !scope.local_fns.iter().any(generic) {
            return scope.subst.clone();
        }
        let parents = match self.parents.get(&scope.owner) {
            Some(found) => found.clone(),
            None => {
                let found = Rc::new(parents(scope.local_fns));
                self.parents.insert(scope.owner, found.clone());
                found
            }
        };
        let own = &scope.local_fns[id].generics;
        let mut inner: Vec<ParamId> = Vec::new();
        let mut up = parents.get(&id);
        while let Some(parent) = up {
            inner.extend(scope.local_fns[*parent].generics.iter().map(|g| g.id));
            up = parents.get(parent);
        }
        let local = scope.local_fns.iter().flat_map(|f| &f.generics).map(|g| g.id).collect::<Vec<_>>();
        let mut subst: Vec<(ParamId, Ty)> =
            scope.subst.iter().filter(|(p, _)| !local.contains(p) || inner.contains(p)).cloned().collect();
        subst.extend(own.iter().map(|g| g.id).zip(types.iter().cloned()));
        Rc::new(subst)
    }

    /// The captures of a code, by name and type.
    pub fn captures(&mut self, program: &mut Program<AdOp>, scope: &Scope<'c>, locals: &[LocalId]) -> Vec<Capture> {
        let core = self.core;
        let capture = |l: &LocalId| {
            let ty = scope.instantiate(core, &scope.locals[*l].ty);
            Capture { name: scope.locals[*l].name.clone(), ty: self.ty(program, &ty) }
        };
        locals.iter().map(capture).collect()
    }

    /// Declares a code of closures.
    pub fn declare_code(
        &mut self,
        program: &mut Program<AdOp>,
        name: &str,
        arg: &Ty,
        ret: &Ty,
        captures: Vec<Capture>,
        span: Span,
    ) -> FnId {
        let (arg, result) = (self.ty(program, arg), self.ty(program, ret));
        let this = program.intern(Type::Fn { arg, result });
        let params = vec![VarInfo { ty: this, name: None }, VarInfo { ty: arg, name: None }];
        program.fns.push(declared(name, params, result, Some(captures), span))
    }

    fn vars(&mut self, program: &mut Program<AdOp>, scope: &Scope<'c>, locals: &[LocalId]) -> Vec<VarInfo> {
        let core = self.core;
        let var = |l: &LocalId| {
            let ty = scope.instantiate(core, &scope.locals[*l].ty);
            VarInfo { ty: self.ty(program, &ty), name: Some(scope.locals[*l].name.clone()) }
        };
        locals.iter().map(var).collect()
    }

    fn check_growth(&mut self, types: &[Ty], function: &str, span: Span) {
        if types.iter().map(size).sum::<usize>() <= LARGEST_TYPES || !self.diagnostics.is_empty() {
            return;
        }
        let shown = self.short_name(types.iter().max_by_key(|t| size(t)).expect("a type that is large"));
        self.diagnostics.push(
            Diagnostic::error("E0604", span, format!("`{function}` would be needed at infinitely many types"))
                .at(format!("used at types as large as `{shown}`"))
                .note("each call of the function asks for it at a larger type, and every type needs code of its own")
                .hint("wrap the growing part in an enum, so that the type stays the same"),
        );
    }

    /// Reports a nominal type that is needed at ever larger types.
    fn check_types(&mut self) {
        let Some((id, ty)) = self.types.endless.take() else { return };
        if !self.diagnostics.is_empty() {
            return;
        }
        let (def, shown) = (&self.core.adts[id], self.short_name(&ty));
        self.diagnostics.push(
            Diagnostic::error("E0604", def.span, format!("`{}` would be needed at infinitely many types", def.name))
                .at(format!("holds itself, at last at types as large as `{shown}`"))
                .note("every type at which it is used needs code of its own")
                .hint("let the type hold itself at its own parameters only"),
        );
    }

    fn short_name(&self, ty: &Ty) -> String {
        let mut shown = name(self.core, ty);
        if let Some((end, _)) = shown.char_indices().nth(60) {
            shown.truncate(end);
            shown.push_str("...");
        }
        shown
    }

    fn write(&mut self, program: &mut Program<AdOp>, work: Work<'c>) {
        match work {
            Work::Top { id, scope, name, params, body, rules, span } => {
                let func = Frame::new(self, program, scope.clone(), name, id).top(params, body, span);
                program.fns[id] = func;
                let target = Target { id, scope: &scope, name, params, body, code: None };
                crate::rules::lower(self, program, &target, rules);
            }
            Work::Code(code) => {
                let func = Frame::new(self, program, code.scope.clone(), code.name, code.id).code(&code);
                program.fns[code.id] = func;
                let Code { id, name, params, body, rules, .. } = code;
                let target = Target { id, scope: &code.scope, name, params, body, code: Some(&code) };
                crate::rules::lower(self, program, &target, rules);
            }
            Work::Value { id, function, types } => {
                let def = &self.core.fns[function];
                let scope = self.scope_of(function, &types);
                let ret = scope.instantiate(self.core, &def.ret);
                let target = match &def.body {
                    FnBody::Code(_) => Err(self.function(program, function, &types)),
                    FnBody::Builtin(name) => Ok(builtin(name)),
                };
                let names = def.params.iter().map(|p| def.locals[*p].name.as_str()).collect::<Vec<_>>();
                let ret = self.ty(program, &ret);
                let func = Frame::new(self, program, scope, &def.name, id).wrapper(&names, target, ret, def.span);
                program.fns[id] = func;
            }
            Work::Ctor { id, adt, variant } => {
                let empty = Scope {
                    owner: Owner::Const(ConstId(u32::MAX)),
                    locals: self.no_locals,
                    local_fns: self.no_fns,
                    subst: Rc::new(Vec::new()),
                };
                let name = program.adts[adt].variants[variant].name.clone();
                let func = Frame::new(self, program, empty, &name, id).ctor(adt, variant);
                program.fns[id] = func;
            }
        }
    }
}

/// The builtin of a name.
pub(crate) fn builtin(name: &str) -> Builtin {
    Builtin::from_name(name).unwrap_or_else(|| panic!("the library names an unknown builtin `{name}`"))
}

/// A function that is known by its types only.
fn declared(
    name: &str,
    params: Vec<VarInfo>,
    result: TypeId,
    captures: Option<Vec<Capture>>,
    span: Span,
) -> Func<AdOp> {
    let mut vars = IndexVec::new();
    Func {
        name: name.to_string(),
        params: params.into_iter().map(|p| vars.push(p)).collect(),
        results: vec![result],
        body: Block::default(),
        vars,
        captures,
        rules: Rules::default(),
        span,
    }
}

/// The local function around each local function.
fn parents(fns: &IndexVec<LocalFnId, LocalFn>) -> FxHashMap<LocalFnId, LocalFnId> {
    let mut out = FxHashMap::default();
    for (id, f) in fns.iter_enumerated() {
        let mut found = |stmt: &cotan_core::Stmt| {
            if let cotan_core::StmtKind::LocalFn(inner) = &stmt.kind {
                out.insert(*inner, id);
            }
        };
        crate::walk::expr(&f.body, &mut |_| {}, &mut found);
        f.rules.iter().for_each(|r| crate::walk::rule(r, &mut |_| {}, &mut found));
    }
    out
}
