//! Entry points that no user wrote.
//!
//! In: the typed core and a function of it. Out: the core with one more function, monomorphic, which calls the function, or
//! differentiates it with the operators of the language itself. Newly true: what a command wants is a function of the
//! program, so that it takes the same way through the compiler as everything else.

use cotan_core::{
    Closure, Constraint, Expr, ExprKind, FnBody, FnDef, FnId, GenericParam, Lit, Local, LocalId, ParamId, Pattern,
    PatternKind, Program, Stmt, StmtKind, Ty, argument_ty,
};
use cotan_source::{IndexVec, Span};

/// What a new entry point computes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// The function itself, which is not generic or is called at `Float`.
    Itself,
    /// `f(x)`.
    Call,
    /// `(f(x), gradient)`, the gradient with respect to the parameters at these positions.
    Gradient(Vec<usize>),
    /// Parameters, then the tangent of the argument: `jvp(f, x, dx)`.
    Jvp,
    /// Parameters, then the cotangent of the result: `(f(x), pullback)`.
    Vjp,
}

/// The type arguments with which a function is called from outside: generic parameters stand for `Float`.
pub fn instantiation(function: &FnDef) -> Vec<Ty> {
    function
        .generics
        .iter()
        .map(|g| match g.constraint {
            Constraint::Any | Constraint::Num | Constraint::Real | Constraint::Space => Ty::Float,
        })
        .collect()
}

/// Types of the parameters and of the result of `function` as called from outside.
pub fn signature(core: &Program, function: FnId) -> (Vec<Ty>, Ty) {
    let def = &core.fns[function];
    let args = instantiation(def);
    let map = |p: ParamId| def.generics.iter().position(|g| g.id == p).map(|i| args[i].clone());
    let params = def.params.iter().map(|p| def.locals[*p].ty.substitute(core, &map)).collect();
    (params, def.ret.substitute(core, &map))
}

/// Adds the entry point `entry` for `function`.
pub fn add(core: &mut Program, function: FnId, entry: &Entry) -> FnId {
    if *entry == Entry::Itself && core.fns[function].generics.is_empty() {
        return function;
    }
    let (params, ret) = signature(core, function);
    let def = &core.fns[function];
    let names = def.params.iter().map(|p| def.locals[*p].name.clone()).collect::<Vec<_>>();
    let mut maker = Maker {
        callee: Expr {
            kind: ExprKind::Fn(function, instantiation(def)),
            ty: Ty::Fn(Box::new(argument_ty(params.clone())), Box::new(ret.clone())),
            span: def.span,
        },
        name: def.name.clone(),
        module: def.module.clone(),
        span: def.span,
        locals: IndexVec::new(),
        params: Vec::new(),
        core,
    };
    let locals: Vec<LocalId> = names.iter().zip(&params).map(|(n, ty)| maker.param(n, ty.clone())).collect();
    let (title, body) = match entry {
        Entry::Itself | Entry::Call => {
            let x = maker.tuple_of(&locals);
            let callee = maker.callee.clone();
            ("call", maker.call(callee, x, ret))
        }
        Entry::Gradient(wrt) => ("gradient", maker.gradient(&locals, wrt)),
        Entry::Jvp => ("jvp", maker.jvp(&locals, ret)),
        Entry::Vjp => ("vjp", maker.vjp(&locals, ret)),
    };
    maker.finish(title, body)
}

/// A function that is being made.
struct Maker<'a> {
    core: &'a mut Program,
    callee: Expr,
    name: String,
    module: String,
    span: Span,
    locals: IndexVec<LocalId, Local>,
    params: Vec<LocalId>,
}

impl Maker<'_> {
    fn finish(self, title: &str, body: Expr) -> FnId {
        self.core.fns.push(FnDef {
            name: format!("{title} of {}", self.name),
            module: self.module,
            generics: Vec::new(),
            params: self.params,
            ret: body.ty.clone(),
            locals: self.locals,
            local_fns: IndexVec::new(),
            body: FnBody::Code(body),
            rules: Vec::new(),
            docs: String::new(),
            span: self.span,
        })
    }

    fn local(&mut self, name: &str, ty: Ty) -> LocalId {
        self.locals.push(Local { name: name.to_string(), ty, mutable: false, span: self.span })
    }

    fn param(&mut self, name: &str, ty: Ty) -> LocalId {
        let id = self.local(name, ty);
        self.params.push(id);
        id
    }

    fn expr(&self, kind: ExprKind, ty: Ty) -> Expr {
        Expr { kind, ty, span: self.span }
    }

    fn get(&self, local: LocalId) -> Expr {
        self.expr(ExprKind::Local(local), self.locals[local].ty.clone())
    }

    /// The one argument that stands for these variables.
    fn tuple_of(&self, locals: &[LocalId]) -> Expr {
        self.tuple(locals.iter().map(|p| self.get(*p)).collect())
    }

    /// The value itself, or a tuple.
    fn tuple(&self, mut parts: Vec<Expr>) -> Expr {
        if parts.len() == 1 {
            return parts.remove(0);
        }
        let ty = Ty::Tuple(parts.iter().map(|e| e.ty.clone()).collect());
        self.expr(ExprKind::Tuple(parts), ty)
    }

    fn pair(&self, a: Expr, b: Expr) -> Expr {
        let ty = Ty::Tuple(vec![a.ty.clone(), b.ty.clone()]);
        self.expr(ExprKind::Tuple(vec![a, b]), ty)
    }

    fn call(&self, callee: Expr, arg: Expr, ty: Ty) -> Expr {
        self.expr(ExprKind::Call { callee: Box::new(callee), arg: Box::new(arg) }, ty)
    }

    fn part(&self, base: Expr, index: usize) -> Expr {
        let ty = match &base.ty {
            Ty::Tuple(parts) => parts[index].clone(),
            other => other.clone(),
        };
        self.expr(ExprKind::TupleField { base: Box::new(base), index }, ty)
    }

    fn binding(&self, local: LocalId, value: Expr) -> Stmt {
        let ty = value.ty.clone();
        let pattern = Pattern { kind: PatternKind::Bind(local), ty, span: self.span };
        Stmt { kind: StmtKind::Let { pattern, value }, span: self.span }
    }

    fn block(&self, stmts: Vec<Stmt>, result: Expr) -> Expr {
        let ty = result.ty.clone();
        self.expr(ExprKind::Block { stmts, result: Some(Box::new(result)) }, ty)
    }

    /// An operation of the compiler at these types; declared anew where the program has not met it.
    fn builtin(&mut self, operator: &Operator, args: Vec<Ty>, arg: Ty, ret: Ty) -> Expr {
        let ty = Ty::Fn(Box::new(arg), Box::new(ret));
        let known = self.core.fns.iter_enumerated().find_map(|(id, f)| match &f.body {
            FnBody::Builtin(n) if n == operator.name => Some(id),
            _ => None,
        });
        let id = known.unwrap_or_else(|| self.core.fns.push(operator.declaration()));
        self.expr(ExprKind::Fn(id, args), ty)
    }

    /// `vjp(f, x)`.
    fn vjp_of(&mut self, f: Expr, x: Expr, ret: &Ty) -> Expr {
        let (a, b) = (x.ty.clone(), ret.clone());
        let (da, db) = (a.tangent(self.core), b.tangent(self.core));
        let result = Ty::Tuple(vec![b.clone(), Ty::Fn(Box::new(db), Box::new(da))]);
        let arg = self.pair(f, x);
        let vjp = self.builtin(&VJP, vec![a, b], arg.ty.clone(), result.clone());
        self.call(vjp, arg, result)
    }

    /// `let r = vjp(|wrt| f(all), wrt); (r.0, r.1(1.0))`.
    fn gradient(&mut self, all: &[LocalId], wrt: &[usize]) -> Expr {
        let chosen: Vec<LocalId> = wrt.iter().map(|i| all[*i]).collect();
        let inner: Vec<LocalId> = chosen
            .iter()
            .map(|p| {
                let Local { name, ty, .. } = self.locals[*p].clone();
                self.local(&name, ty)
            })
            .collect();
        let mut parts = all.to_vec();
        for (position, local) in wrt.iter().zip(&inner) {
            parts[*position] = *local;
        }
        let captures: Vec<LocalId> = all.iter().filter(|p| !chosen.contains(p)).copied().collect();
        let ret = match &self.callee.ty {
            Ty::Fn(_, ret) => (**ret).clone(),
            other => other.clone(),
        };
        let x = self.tuple_of(&chosen);
        let f = if captures.is_empty() {
            self.callee.clone()
        } else {
            let body = self.call(self.callee.clone(), self.tuple_of(&parts), ret.clone());
            let ty = Ty::Fn(Box::new(x.ty.clone()), Box::new(ret.clone()));
            let closure = Closure { captures, params: inner, body, name: self.name.clone(), maker: u32::MAX };
            self.expr(ExprKind::Closure(Box::new(closure)), ty)
        };
        let both = self.vjp_of(f, x, &ret);
        let pair = self.local("pair", both.ty.clone());
        let binding = self.binding(pair, both);
        let back = self.part(self.get(pair), 1);
        let one = self.expr(ExprKind::Lit(Lit::Float(1.0)), ret.clone());
        let dx = match &back.ty {
            Ty::Fn(_, dx) => (**dx).clone(),
            other => other.clone(),
        };
        let gradient = self.call(back, one, dx);
        let result = self.pair(self.part(self.get(pair), 0), gradient);
        self.block(vec![binding], result)
    }

    fn jvp(&mut self, all: &[LocalId], ret: Ty) -> Expr {
        let x = self.tuple_of(all);
        let (a, da, db) = (x.ty.clone(), x.ty.tangent(self.core), ret.tangent(self.core));
        let direction = self.param("dx", da.clone());
        let f = self.callee.clone();
        let arg =
            self.expr(ExprKind::Tuple(vec![f.clone(), x, self.get(direction)]), Ty::Tuple(vec![f.ty, a.clone(), da]));
        let result = Ty::Tuple(vec![ret.clone(), db]);
        let jvp = self.builtin(&JVP, vec![a, ret], arg.ty.clone(), result.clone());
        self.call(jvp, arg, result)
    }

    fn vjp(&mut self, all: &[LocalId], ret: Ty) -> Expr {
        let x = self.tuple_of(all);
        let (da, db) = (x.ty.tangent(self.core), ret.tangent(self.core));
        let cotangent = self.param("dy", db);
        let f = self.callee.clone();
        let both = self.vjp_of(f, x, &ret);
        let pair = self.local("pair", both.ty.clone());
        let binding = self.binding(pair, both);
        let dx = self.call(self.part(self.get(pair), 1), self.get(cotangent), da);
        let result = self.pair(self.part(self.get(pair), 0), dx);
        self.block(vec![binding], result)
    }
}

/// An operator of differentiation as the prelude declares it.
struct Operator {
    name: &'static str,
    generics: &'static [&'static str],
    params: &'static [&'static str],
    types: fn(Ty, Ty) -> (Vec<Ty>, Ty),
}

/// `vjp<A, B>(f: fn(A) -> B, x: A) -> (B, fn(Tangent<B>) -> Tangent<A>)`.
const VJP: Operator = Operator {
    name: "vjp",
    generics: &["A", "B"],
    params: &["f", "x"],
    types: |a, b| {
        let back = function(tangent(b.clone()), tangent(a.clone()));
        (vec![function(a.clone(), b.clone()), a], Ty::Tuple(vec![b, back]))
    },
};

/// `jvp<A, B>(f: fn(A) -> B, x: A, dx: Tangent<A>) -> (B, Tangent<B>)`.
const JVP: Operator = Operator {
    name: "jvp",
    generics: &["A", "B"],
    params: &["f", "x", "dx"],
    types: |a, b| {
        let params = vec![function(a.clone(), b.clone()), a.clone(), tangent(a)];
        (params, Ty::Tuple(vec![b.clone(), tangent(b)]))
    },
};

fn function(a: Ty, b: Ty) -> Ty {
    Ty::Fn(Box::new(a), Box::new(b))
}

fn tangent(a: Ty) -> Ty {
    Ty::Tangent(Box::new(a))
}

impl Operator {
    fn declaration(&self) -> FnDef {
        let generics = self.generics.iter().enumerate().map(|(i, name)| GenericParam {
            id: ParamId(i as u32),
            name: (*name).to_string(),
            constraint: Constraint::Any,
        });
        let (types, ret) = (self.types)(Ty::Param(ParamId(0)), Ty::Param(ParamId(1)));
        let mut locals = IndexVec::new();
        let params =
            self.params.iter().zip(types).map(|(name, ty)| {
                locals.push(Local { name: (*name).to_string(), ty, mutable: false, span: Span::NONE })
            });
        FnDef {
            params: params.collect(),
            name: self.name.to_string(),
            module: "std::prelude".into(),
            generics: generics.collect(),
            ret,
            locals,
            local_fns: IndexVec::new(),
            body: FnBody::Builtin(self.name.to_string()),
            rules: Vec::new(),
            docs: String::new(),
            span: Span::NONE,
        }
    }
}
