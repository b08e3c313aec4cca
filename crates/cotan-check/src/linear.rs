//! Linearity, where it can be seen.
//!
//! In: the finished core. Out: an error for each `jvp` clause that is visibly not linear in its tangents, each `transpose` clause whose
//! function or whose own code is visibly not linear in what it says, and each `transpose(f, x)` of an `f` like that. Newly true:
//! nothing that a later room relies on: what a called function does is not looked into, and passes.
//!
//! An abstract evaluation: each expression has a [`Degree`] in the tangents (or in the parameters that are to be linear).

use cotan_core::{
    BinaryOp, Closure, Expr, ExprKind, FnBody, FnDef, Generator, Iter, Lit, Local, LocalFn, LocalFnId, LocalId,
    Pattern, PatternKind, PlaceStep, Program, Rule, Stmt, StmtKind, Ty, UnaryOp,
};
use cotan_source::{Diagnostic, IndexVec, Span};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// Functions of the prelude of which a value is no linear function of their arguments.
const NONLINEAR: [&str; 43] = [
    "sqrt",
    "cbrt",
    "exp",
    "exp2",
    "expm1",
    "log",
    "log2",
    "log10",
    "log1p",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "acosh",
    "atanh",
    "erf",
    "erfc",
    "lgamma",
    "digamma",
    "polygamma",
    "sigmoid",
    "softplus",
    "floor",
    "ceil",
    "round",
    "trunc",
    "sign",
    "abs",
    "max",
    "min",
    "atan2",
    "hypot",
    "product",
    "maximum",
    "minimum",
    "argmax",
    "argmin",
];

/// How often the body of a loop is walked at most, until nothing new comes up.
const TURNS: usize = 4;

/// How an expression depends on the tangents.
#[derive(Clone, Debug, PartialEq)]
enum Degree {
    /// It is zero.
    Zero,
    /// Not at all; it may be zero.
    Perhaps,
    /// Not at all, and it is something else than zero in general.
    Constant,
    /// Linearly.
    Linear,
    /// It cannot be seen.
    Unknown,
    /// Not linearly: where, and why; `$` stands for what it is about.
    Broken(Span, &'static str),
    /// By components.
    Tuple(Rc<Vec<Degree>>),
}

impl Degree {
    fn is_constant(&self) -> bool {
        match self {
            Degree::Zero | Degree::Perhaps | Degree::Constant => true,
            Degree::Linear | Degree::Unknown | Degree::Broken(..) => false,
            Degree::Tuple(parts) => parts.iter().all(Degree::is_constant),
        }
    }

    /// The degree of a whole, from those of its components.
    fn whole(self) -> Degree {
        match self {
            Degree::Tuple(parts) => all(parts.iter().cloned()),
            other => other,
        }
    }

    fn component(&self, index: usize) -> Degree {
        match self {
            Degree::Tuple(parts) => parts.get(index).cloned().unwrap_or(Degree::Unknown),
            other => other.clone(),
        }
    }
}

/// The degree of something with parts of these degrees.
fn all(parts: impl IntoIterator<Item = Degree>) -> Degree {
    let mut out = Degree::Zero;
    for part in parts {
        out = match (out, part.whole()) {
            (broken @ Degree::Broken(..), _) | (_, broken @ Degree::Broken(..)) => broken,
            (Degree::Zero, other) | (other, Degree::Zero) => other,
            (a, b) if a == b => a,
            (a, b) if a.is_constant() && b.is_constant() => Degree::Perhaps,
            (Degree::Linear, Degree::Perhaps) | (Degree::Perhaps, Degree::Linear) => Degree::Linear,
            _ => Degree::Unknown,
        };
    }
    out
}

/// The degree of what is one or the other.
fn either(a: Degree, b: Degree) -> Degree {
    match (&a, &b) {
        (Degree::Tuple(x), Degree::Tuple(y)) if x.len() == y.len() => {
            Degree::Tuple(Rc::new(x.iter().zip(y.iter()).map(|(a, b)| either(a.clone(), b.clone())).collect()))
        }
        (Degree::Zero, Degree::Constant) | (Degree::Constant, Degree::Zero) => Degree::Perhaps,
        _ => all([a, b]),
    }
}

fn sum(a: Degree, b: Degree, span: Span) -> Degree {
    match (a.whole(), b.whole()) {
        (broken @ Degree::Broken(..), _) | (_, broken @ Degree::Broken(..)) => broken,
        (Degree::Zero, other) | (other, Degree::Zero) => other,
        (Degree::Linear, Degree::Constant) | (Degree::Constant, Degree::Linear) => {
            Degree::Broken(span, "adds something that does not depend on $")
        }
        (Degree::Linear, Degree::Linear | Degree::Perhaps) | (Degree::Perhaps, Degree::Linear) => Degree::Linear,
        (a, b) if a.is_constant() && b.is_constant() => {
            if a == b {
                a
            } else {
                Degree::Perhaps
            }
        }
        _ => Degree::Unknown,
    }
}

fn product(a: Degree, b: Degree, span: Span) -> Degree {
    match (a.whole(), b.whole()) {
        (broken @ Degree::Broken(..), _) | (_, broken @ Degree::Broken(..)) => broken,
        (Degree::Zero, _) | (_, Degree::Zero) => Degree::Zero,
        (Degree::Linear, Degree::Linear) => Degree::Broken(span, "a product in which both sides depend on $"),
        (Degree::Linear, b) if b.is_constant() => Degree::Linear,
        (a, Degree::Linear) if a.is_constant() => Degree::Linear,
        (a, b) if a.is_constant() && b.is_constant() => all([a, b]),
        _ => Degree::Unknown,
    }
}

fn quotient(a: Degree, b: Degree, span: Span) -> Degree {
    match (a.whole(), b.whole()) {
        (broken @ Degree::Broken(..), _) | (_, broken @ Degree::Broken(..)) => broken,
        (Degree::Zero, _) => Degree::Zero,
        (_, Degree::Linear) => Degree::Broken(span, "a quotient whose denominator depends on $"),
        (a, b) if b.is_constant() => a,
        _ => Degree::Unknown,
    }
}

/// Checks the functions of a program.
pub(crate) fn check(program: &Program, diagnostics: &mut Vec<Diagnostic>) {
    for def in &program.fns {
        let FnBody::Code(body) = &def.body else { continue };
        let mut look = Look::new(program, &def.locals, &def.local_fns, diagnostics);
        look.expr(body);
        look.rules(&def.name, body, &def.rules);
    }
    for def in &program.consts {
        Look::new(program, &def.locals, &def.local_fns, diagnostics).expr(&def.value);
    }
}

struct Look<'p, 'd> {
    program: &'p Program,
    locals: &'p IndexVec<LocalId, Local>,
    local_fns: &'p IndexVec<LocalFnId, LocalFn>,
    diagnostics: &'d mut Vec<Diagnostic>,
    /// Variables that are not constants.
    degrees: FxHashMap<LocalId, Degree>,
    /// Closures by the variables that they were bound to.
    closures: FxHashMap<LocalId, &'p Closure>,
    /// What `adjoint(..) +=` was given in the block at hand.
    accumulated: Degree,
}

impl<'p, 'd> Look<'p, 'd> {
    fn new(
        program: &'p Program,
        locals: &'p IndexVec<LocalId, Local>,
        local_fns: &'p IndexVec<LocalFnId, LocalFn>,
        diagnostics: &'d mut Vec<Diagnostic>,
    ) -> Self {
        let (degrees, closures) = (FxHashMap::default(), FxHashMap::default());
        Look { program, locals, local_fns, diagnostics, degrees, closures, accumulated: Degree::Zero }
    }

    /// The clauses of a function.
    fn rules(&mut self, name: &str, body: &'p Expr, rules: &'p [Rule]) {
        for rule in rules {
            match rule {
                Rule::Vjp { forward, value, dy, backward, .. } => {
                    self.stmts(forward);
                    value.iter().for_each(|e| {
                        self.expr(e);
                    });
                    self.bind(dy, Degree::Unknown);
                    self.expr(backward);
                }
                Rule::Jvp { stmts, value, tangent, span } => {
                    self.stmts(stmts);
                    value.iter().for_each(|e| {
                        self.expr(e);
                    });
                    let degree = self.expr(tangent).whole();
                    let what = format!("the `jvp` clause of `{name}` is not linear in its tangents");
                    let fault = self.fault(degree, tangent, "a tangent", what);
                    self.diagnostics.extend(fault.map(|d| {
                        d.label(*span, "this clause")
                            .note("a derivative is a linear function: twice the tangent gives twice the change")
                    }));
                }
                Rule::Transpose { linear, forward, dy, backward, span } => {
                    let names: Vec<LocalId> = linear.clone();
                    linear.iter().for_each(|l| {
                        self.degrees.insert(*l, Degree::Linear);
                    });
                    let words: Vec<String> = names.iter().map(|l| format!("`{}`", self.locals[*l].name)).collect();
                    let degree = self.expr(body).whole();
                    let what = format!("`{name}` is not linear in the parameters that its `transpose` clause names");
                    let fault = self.fault(degree, body, &words.join(" and "), what);
                    self.diagnostics.extend(fault.map(|d| d.label(*span, "this clause says that it is")));
                    names.iter().for_each(|l| {
                        self.degrees.remove(l);
                    });
                    self.stmts(forward);
                    self.bind(dy, Degree::Linear);
                    self.accumulated = Degree::Zero;
                    self.expr(backward);
                    let degree = std::mem::replace(&mut self.accumulated, Degree::Zero);
                    let what = format!("the `transpose` clause of `{name}` is not linear in the cotangent");
                    let fault = self.fault(degree, backward, "the cotangent", what);
                    self.diagnostics.extend(fault.map(|d| d.label(*span, "this clause")));
                }
            }
        }
    }

    /// The error for what is to be linear in `of` and has this degree.
    fn fault(&self, degree: Degree, e: &Expr, of: &str, what: String) -> Option<Diagnostic> {
        let (span, why) = match degree {
            Degree::Broken(span, why) => (span, why),
            Degree::Constant if holds_floats(&e.ty) => (e.span, "does not depend on $, and is not zero"),
            _ => return None,
        };
        Some(Diagnostic::error("E0507", span, what).at(why.replace('$', of)))
    }

    fn stmts(&mut self, stmts: &'p [Stmt]) {
        stmts.iter().for_each(|s| self.stmt(s));
    }

    fn stmt(&mut self, stmt: &'p Stmt) {
        match &stmt.kind {
            StmtKind::Let { pattern, value } => {
                if let (PatternKind::Bind(local), ExprKind::Closure(closure)) = (&pattern.kind, &value.kind) {
                    self.closures.insert(*local, closure);
                }
                let degree = self.expr(value);
                self.bind(pattern, degree);
            }
            StmtKind::LocalFn(id) => {
                let def = &self.local_fns[*id];
                self.expr(&def.body);
                self.rules(&def.name, &def.body, &def.rules);
            }
            StmtKind::Assign { local, path, op, value } => {
                let given = self.expr(value);
                let old = self.local(*local);
                for step in path {
                    self.step(step);
                }
                let new = match op {
                    None => given,
                    Some(op) => self.binary(*op, old.clone(), given, value.span),
                };
                let new = if path.is_empty() { new } else { all([old, new]) };
                self.degrees.insert(*local, new);
            }
            StmtKind::Adjoint { path, value, .. } => {
                for step in path {
                    self.step(step);
                }
                let degree = self.expr(value).whole();
                let degree = match degree {
                    Degree::Constant if holds_floats(&value.ty) => {
                        Degree::Broken(value.span, "does not depend on $, and is not zero")
                    }
                    other => other,
                };
                if !matches!(self.accumulated, Degree::Broken(..)) {
                    self.accumulated = degree;
                }
            }
            StmtKind::Expr(e) => {
                self.expr(e);
            }
            StmtKind::For { pattern, iter, body } => {
                let degree = self.iter(iter);
                self.turns(|look| {
                    look.bind(pattern, degree.clone());
                    look.expr(body);
                });
            }
            StmtKind::While { cond, body } => self.turns(|look| {
                look.expr(cond);
                look.expr(body);
            }),
            StmtKind::BindSize { .. } | StmtKind::CheckSizes(_) => {}
        }
    }

    /// The body of a loop, until the degrees of the variables stay. What was before may be after it.
    fn turns(&mut self, body: impl Fn(&mut Self)) {
        for _ in 0..TURNS {
            let before = self.degrees.clone();
            body(self);
            self.join(&before);
            if self.degrees == before {
                break;
            }
        }
    }

    /// The variables as they are now or were before.
    fn join(&mut self, before: &FxHashMap<LocalId, Degree>) {
        for (local, degree) in &mut self.degrees {
            let old = before.get(local).cloned().unwrap_or(degree.clone());
            *degree = either(old, degree.clone());
        }
        for (local, old) in before {
            self.degrees.entry(*local).or_insert_with(|| old.clone());
        }
    }

    fn step(&mut self, step: &'p PlaceStep) {
        if let PlaceStep::Index(subscripts) = step {
            subscripts.iter().for_each(|s| self.subscript(s));
        }
    }

    fn subscript(&mut self, s: &'p cotan_core::Subscript) {
        match s {
            cotan_core::Subscript::At(e) => {
                self.expr(e);
            }
            cotan_core::Subscript::Range(a, b) => a.iter().chain(b).for_each(|e| {
                self.expr(e);
            }),
        }
    }

    /// The elements of what a loop walks.
    fn iter(&mut self, iter: &'p Iter) -> Degree {
        match iter {
            Iter::Range(a, b) => {
                self.expr(a);
                self.expr(b);
                Degree::Constant
            }
            Iter::Array(e) => self.elements(e),
        }
    }

    /// The elements of an array; those of `zip` by components.
    fn elements(&mut self, e: &'p Expr) -> Degree {
        if let ExprKind::Call { callee, arg } = &e.kind
            && let ExprKind::Fn(id, _) = &callee.kind
            && self.program.fns[*id].name == "zip"
            && let ExprKind::Tuple(arrays) = &arg.kind
        {
            return Degree::Tuple(Rc::new(arrays.iter().map(|a| self.elements(a)).collect()));
        }
        self.expr(e)
    }

    fn bind(&mut self, pattern: &Pattern, degree: Degree) {
        match &pattern.kind {
            PatternKind::Bind(local) => {
                self.degrees.insert(*local, degree);
            }
            PatternKind::Tuple(parts) => {
                for (i, p) in parts.iter().enumerate() {
                    self.bind(p, degree.component(i));
                }
            }
            PatternKind::Adt { fields, .. } => {
                let degree = degree.whole();
                fields.iter().for_each(|p| self.bind(p, degree.clone()));
            }
            PatternKind::Or(ways) => ways.iter().for_each(|p| self.bind(p, degree.clone())),
            PatternKind::Wildcard | PatternKind::Lit(_) | PatternKind::Range { .. } => {}
        }
    }

    fn local(&self, local: LocalId) -> Degree {
        self.degrees.get(&local).cloned().unwrap_or(Degree::Constant)
    }

    fn expr(&mut self, e: &'p Expr) -> Degree {
        stacker::maybe_grow(128 * 1024, 4 * 1024 * 1024, || self.look(e))
    }

    fn look(&mut self, e: &'p Expr) -> Degree {
        match &e.kind {
            ExprKind::Lit(Lit::Float(x)) if *x == 0.0 => Degree::Zero,
            ExprKind::Lit(Lit::Int(0)) => Degree::Zero,
            ExprKind::Lit(_) | ExprKind::Fn(..) | ExprKind::Ctor(..) => Degree::Constant,
            ExprKind::Const(_) => Degree::Perhaps,
            ExprKind::LocalFn(id, _) => {
                let captures = self.local_fns[*id].captures.clone();
                self.captured(&captures)
            }
            ExprKind::Local(local) => self.local(*local),
            ExprKind::TangentOf(_) => Degree::Linear,
            ExprKind::Tuple(parts) => Degree::Tuple(Rc::new(parts.iter().map(|p| self.expr(p)).collect())),
            ExprKind::Array(parts) | ExprKind::Adt { fields: parts, .. } => {
                let parts: Vec<Degree> = parts.iter().map(|p| self.expr(p)).collect();
                all(parts)
            }
            ExprKind::Update { base, fields } => {
                let mut parts = vec![self.expr(base)];
                parts.extend(fields.iter().map(|(_, f)| self.expr(f)));
                all(parts)
            }
            ExprKind::Comprehension { generators, filter, body } => {
                for Generator { pattern, iter } in generators {
                    let degree = self.iter(iter);
                    self.bind(pattern, degree);
                }
                if let Some(filter) = filter
                    && let Some(broken) = self.condition(filter)
                {
                    return broken;
                }
                self.expr(body).whole()
            }
            ExprKind::Call { callee, arg } => self.call(callee, arg, e.span),
            ExprKind::Binary { op, left, right } => {
                let (a, b) = (self.expr(left), self.expr(right));
                self.binary(*op, a, b, e.span)
            }
            ExprKind::Unary { op: UnaryOp::Neg | UnaryOp::Not, operand } => self.expr(operand),
            ExprKind::TupleField { base, index } => self.expr(base).component(*index),
            ExprKind::Field { base, .. }
            | ExprKind::TangentField { base, .. }
            | ExprKind::TangentCapture { base, .. } => self.expr(base).whole(),
            ExprKind::TangentLiteral { fields, .. } => {
                let parts: Vec<Degree> = fields.iter().map(|(_, f)| self.expr(f)).collect();
                all(parts)
            }
            ExprKind::Index { base, subscripts } => {
                let degree = self.expr(base);
                subscripts.iter().for_each(|s| self.subscript(s));
                degree.whole()
            }
            ExprKind::If { cond, then, otherwise } => {
                let broken = self.condition(cond);
                let before = self.degrees.clone();
                let a = self.expr(then);
                let after = std::mem::replace(&mut self.degrees, before);
                let b = self.expr(otherwise);
                self.join(&after);
                broken.unwrap_or_else(|| either(a, b))
            }
            ExprKind::Match { value, arms } => {
                let degree = self.expr(value);
                let before = self.degrees.clone();
                let mut out: Option<Degree> = None;
                let mut after: Option<FxHashMap<LocalId, Degree>> = None;
                for arm in arms {
                    self.degrees.clone_from(&before);
                    self.bind(&arm.pattern, degree.clone());
                    if let Some(guard) = &arm.guard {
                        self.expr(guard);
                    }
                    let here = self.expr(&arm.body);
                    out = Some(match out {
                        Some(out) => either(out, here),
                        None => here,
                    });
                    if let Some(after) = after.take() {
                        self.join(&after);
                    }
                    after = Some(self.degrees.clone());
                }
                out.unwrap_or(Degree::Unknown)
            }
            ExprKind::Block { stmts, result } => {
                self.stmts(stmts);
                match result {
                    Some(result) => self.expr(result),
                    None => Degree::Constant,
                }
            }
            ExprKind::Closure(closure) => {
                // Its own code is looked at for what it holds; its parameters are anything.
                let kept = self.degrees.clone();
                for p in &closure.params {
                    self.degrees.insert(*p, Degree::Unknown);
                }
                self.expr(&closure.body);
                self.degrees = kept;
                self.captured(&closure.captures)
            }
            ExprKind::Return(value) => {
                self.expr(value);
                Degree::Unknown
            }
            ExprKind::Break | ExprKind::Continue => Degree::Unknown,
            ExprKind::CheckSizes { value, .. } => self.expr(value),
        }
    }

    /// A function value that captures these.
    fn captured(&self, captures: &[LocalId]) -> Degree {
        if captures.iter().all(|l| self.local(*l).is_constant()) { Degree::Constant } else { Degree::Unknown }
    }

    /// A condition: what is wrong if it depends on a tangent.
    fn condition(&mut self, cond: &'p Expr) -> Option<Degree> {
        match self.expr(cond).whole() {
            broken @ Degree::Broken(..) => Some(broken),
            Degree::Linear => Some(Degree::Broken(cond.span, "a choice that depends on $")),
            _ => None,
        }
    }

    fn binary(&self, op: BinaryOp, a: Degree, b: Degree, span: Span) -> Degree {
        match op {
            BinaryOp::Add | BinaryOp::Sub => sum(a, b, span),
            BinaryOp::Mul | BinaryOp::MatMul => product(a, b, span),
            BinaryOp::Div => quotient(a, b, span),
            BinaryOp::Pow | BinaryOp::Rem => match (a.whole(), b.whole()) {
                (broken @ Degree::Broken(..), _) | (_, broken @ Degree::Broken(..)) => broken,
                (Degree::Linear, _) | (_, Degree::Linear) if op == BinaryOp::Pow => {
                    Degree::Broken(span, "a power that depends on $")
                }
                (Degree::Linear, _) | (_, Degree::Linear) => Degree::Broken(span, "a remainder that depends on $"),
                (a, b) if a.is_constant() && b.is_constant() => Degree::Perhaps,
                _ => Degree::Unknown,
            },
            BinaryOp::Eq
            | BinaryOp::Ne
            | BinaryOp::Lt
            | BinaryOp::Le
            | BinaryOp::Gt
            | BinaryOp::Ge
            | BinaryOp::And
            | BinaryOp::Or => all([a, b]),
        }
    }

    fn call(&mut self, callee: &'p Expr, arg: &'p Expr, span: Span) -> Degree {
        let function = match &callee.kind {
            ExprKind::Fn(id, _) => Some(&self.program.fns[*id]),
            _ => None,
        };
        if let Some(def) = function
            && def.name == "transpose"
            && def.module.starts_with("std::prelude")
        {
            self.transposed(arg);
        }
        let on = self.expr(callee).whole();
        let given = self.expr(arg);
        let Some(def) = function else {
            return match (on, given.whole()) {
                (broken @ Degree::Broken(..), _) | (_, broken @ Degree::Broken(..)) => broken,
                (a, b) if a.is_constant() && b.is_constant() => Degree::Perhaps,
                _ => Degree::Unknown,
            };
        };
        self.known_call(def, given, span)
    }

    fn known_call(&self, def: &FnDef, given: Degree, span: Span) -> Degree {
        let FnBody::Builtin(name) = &def.body else {
            return match (def.name.as_str(), given.whole()) {
                (_, broken @ Degree::Broken(..)) => broken,
                ("zeros", _) => Degree::Zero,
                (_, given) if given.is_constant() => Degree::Perhaps,
                _ => Degree::Unknown,
            };
        };
        match (name.as_str(), given) {
            ("dot", Degree::Tuple(parts)) if parts.len() == 2 => product(parts[0].clone(), parts[1].clone(), span),
            ("probe" | "assert", Degree::Tuple(parts)) if parts.len() == 2 => parts[1].clone(),
            (name, given) => match (name, given.whole()) {
                (_, broken @ Degree::Broken(..)) => broken,
                ("zero_like", _) => Degree::Zero,
                ("len", _) => Degree::Constant,
                (name, Degree::Linear) if NONLINEAR.contains(&name) => {
                    Degree::Broken(span, "a function of $ that is not linear")
                }
                ("stop_gradient", Degree::Linear) => {
                    Degree::Broken(span, "holds $, so nothing flows back through it: hold what it is multiplied with")
                }
                ("sum" | "transposed" | "concat" | "float" | "float32", given) => given,
                (_, given) if given.is_constant() => Degree::Perhaps,
                _ => Degree::Unknown,
            },
        }
    }

    /// The function in `transpose(f, x)`, if it stands there.
    fn transposed(&mut self, arg: &'p Expr) {
        let ExprKind::Tuple(parts) = &arg.kind else { return };
        let Some(f) = parts.first() else { return };
        let (params, body, name) = match &f.kind {
            ExprKind::Closure(closure) => (&closure.params, &closure.body, closure.name.as_str()),
            ExprKind::Local(local) => match self.closures.get(local) {
                Some(closure) => (&closure.params, &closure.body, closure.name.as_str()),
                None => return,
            },
            ExprKind::LocalFn(id, _) if self.local_fns[*id].rules.is_empty() => {
                let def = &self.local_fns[*id];
                (&def.params, &def.body, def.name.as_str())
            }
            ExprKind::Fn(id, _) if self.program.fns[*id].rules.is_empty() => {
                let def = &self.program.fns[*id];
                match &def.body {
                    FnBody::Code(body) => {
                        // Another function: its variables are its own.
                        let mut none = Vec::new();
                        let mut look = Look::new(self.program, &def.locals, &def.local_fns, &mut none);
                        let degree = look.applied(&def.params, body);
                        return self.not_linear(f, body, degree, &def.name);
                    }
                    FnBody::Builtin(name) if NONLINEAR.contains(&name.as_str()) => {
                        let degree = Degree::Broken(f.span, "a function that is not linear");
                        return self.not_linear(f, f, degree, &def.name);
                    }
                    FnBody::Builtin(_) => return,
                }
            }
            _ => return,
        };
        let kept = self.degrees.clone();
        let found = self.diagnostics.len();
        let degree = self.applied(params, body);
        // What is wrong inside of it is said where the code is looked at as itself.
        self.diagnostics.truncate(found);
        self.degrees = kept;
        self.not_linear(f, body, degree, name);
    }

    /// The value of a function whose parameters are what it is to be linear in.
    fn applied(&mut self, params: &[LocalId], body: &'p Expr) -> Degree {
        for p in params {
            self.degrees.insert(*p, Degree::Linear);
        }
        self.expr(body).whole()
    }

    fn not_linear(&mut self, f: &Expr, body: &Expr, degree: Degree, name: &str) {
        let what = match name {
            "closure" => "the function that is transposed is not linear".to_string(),
            name => format!("the function that is transposed, `{name}`, is not linear"),
        };
        let fault = self.fault(degree, body, "its argument", what);
        self.diagnostics.extend(fault.map(|d| {
            d.label(f.span, "transposed here")
                .hint("only linear functions have a transpose; the pullback at a point is `vjp(f, x)`")
        }));
    }
}

/// Whether values of this type are floats.
fn holds_floats(ty: &Ty) -> bool {
    match ty {
        Ty::Float | Ty::Float32 => true,
        Ty::Array(elem) => holds_floats(elem),
        Ty::Tuple(parts) => parts.iter().any(holds_floats),
        Ty::Int | Ty::Bool | Ty::Str | Ty::Fn(..) | Ty::Adt(..) | Ty::Param(_) | Ty::Tangent(_) => false,
    }
}
