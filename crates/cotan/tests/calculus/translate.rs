//! Core Cotan to the calculus.
//!
//! In: the typed core of a program without arrays, data types, loops and mutation. Out: a closed term that means the same: floats are
//! reals, tuples are nested pairs, truth values are lambdas, a function of several arguments takes their pair, recursion is a fixed
//! point combinator, a `vjp` clause is an attached derivative. What is not covered is an error that names it.
//!
//! The only difficulty is captured variables. In Cotan their cotangents have names, and what a local function captures counts for
//! whoever calls it; in the calculus they are a list in the order of names, and a captured local function is an entry of it.

use cotan_calculus::{Infix, Kind, Name, Pattern, Term};
use cotan_core::{self as core, ExprKind, FnBody, FnId, Lit, LocalId, PatternKind, PlaceStep, Rule, StmtKind, Ty};
use cotan_prim::Prim;
use cotan_source::{FileId, Span};
use std::collections::{BTreeMap, BTreeSet};

/// Why a program has no translation.
pub type Refused = String;

type Translated<T> = Result<T, Refused>;

/// The term that is the value of the function `root`, which has no parameters.
pub fn translate(program: &core::Program, root: FnId) -> Translated<Term> {
    let mut globals = Globals { program, done: Vec::new(), busy: Vec::new() };
    globals.need(root)?;
    let mut bindings = vec![(Pattern::Name("fix".into()), text(r"\f. (\x. f (\v. x x v)) (\x. f (\v. x x v))"))];
    bindings.extend(globals.done.into_iter().map(|(id, term)| (Pattern::Name(global(id)), term)));
    Ok(term(Kind::Let(bindings, Box::new(call(name(&global(root)), nil())))))
}

/// Top-level functions, in an order in which each uses earlier ones only.
struct Globals<'p> {
    program: &'p core::Program,
    done: Vec<(FnId, Term)>,
    busy: Vec<FnId>,
}

impl Globals<'_> {
    fn need(&mut self, id: FnId) -> Translated<()> {
        if self.done.iter().any(|(known, _)| *known == id) || self.busy.last() == Some(&id) {
            return Ok(());
        }
        let def = &self.program.fns[id];
        if self.busy.contains(&id) {
            return Err(format!("mutual recursion through {}", def.name));
        }
        self.busy.push(id);
        let FnBody::Code(body) = &def.body else { return Err(format!("the builtin {}", def.name)) };
        let mut function =
            Function { globals: self, locals: &def.locals, local_fns: &def.local_fns, shapes: BTreeMap::new() };
        let made = function.function(&global(id), &def.params, body, &def.rules)?;
        self.busy.pop();
        self.done.push((id, made.term));
        Ok(())
    }
}

/// Where the cotangents of captured variables are in the cotangent of a local function.
#[derive(Clone, Debug)]
struct Shape {
    /// The entries of the list.
    captures: Vec<Name>,
    /// Whether a derivative is attached: the list is the first face.
    attached: bool,
    /// For a recursive function: the entries of what makes it, which it captures under its own name.
    maker: Option<Vec<Name>>,
}

/// A function on its way.
struct Made {
    term: Term,
    shape: Shape,
}

/// What is translated belongs to this top-level function.
struct Function<'g, 'p> {
    globals: &'g mut Globals<'p>,
    locals: &'p cotan_source::IndexVec<LocalId, core::Local>,
    local_fns: &'p cotan_source::IndexVec<core::LocalFnId, core::LocalFn>,
    /// The local functions in scope by the name of their variable, and closures by their maker.
    shapes: BTreeMap<String, Shape>,
}

fn term(kind: Kind) -> Term {
    Term::new(kind, Span::NONE)
}

fn name(text: &str) -> Term {
    term(Kind::Name(text.into()))
}

fn nil() -> Term {
    term(Kind::List(Vec::new()))
}

fn call(f: Term, x: Term) -> Term {
    Term::apply(f, x)
}

fn pair(a: Term, b: Term) -> Term {
    term(Kind::Pair(Box::new(a), Box::new(b)))
}

fn binding(name: &str, value: Term, body: Term) -> Term {
    term(Kind::Let(vec![(Pattern::Name(name.into()), value)], Box::new(body)))
}

/// A closed term as text.
fn text(text: &str) -> Term {
    cotan_calculus::parse(FileId(u32::MAX), text).unwrap_or_else(|e| panic!("{text}: {}", e.message))
}

fn global(id: FnId) -> Name {
    format!("g{}", id.0).into()
}

/// Components in nested pairs: `(a, (b, c))`.
fn tuple(mut parts: Vec<Term>) -> Term {
    let Some(mut out) = parts.pop() else { return nil() };
    while let Some(part) = parts.pop() {
        out = pair(part, out);
    }
    out
}

fn tuple_pattern(mut parts: Vec<Pattern>) -> Pattern {
    let Some(mut out) = parts.pop() else { return Pattern::Any };
    while let Some(part) = parts.pop() {
        out = Pattern::Pair(Box::new(part), Box::new(out));
    }
    out
}

/// Component `index` of `count` in nested pairs.
fn component(mut of: Term, index: usize, count: usize) -> Term {
    for _ in 0..index {
        of = call(name("snd"), of);
    }
    if index + 1 < count { call(name("fst"), of) } else { of }
}

/// The names that are free in a term and bound by a program: those of variables, of globals, and of `fix`.
fn free(of: &Term) -> Vec<Name> {
    fn bound_by(p: &Pattern, out: &mut Vec<Name>) {
        match p {
            Pattern::Name(n) => out.push(n.clone()),
            Pattern::Any => {}
            Pattern::Pair(a, b) => {
                bound_by(a, out);
                bound_by(b, out);
            }
            Pattern::Reverse(p) => bound_by(p, out),
        }
    }
    fn go(t: &Term, bound: &mut Vec<Name>, out: &mut BTreeSet<Name>) {
        let before = bound.len();
        match &t.kind {
            Kind::Name(n) => {
                let of_program = n.starts_with(['v', 'g', 'a']) && n.chars().nth(1).is_some_and(|c| c.is_ascii_digit());
                if (of_program || &**n == "fix") && !bound.contains(n) {
                    out.insert(n.clone());
                }
            }
            Kind::Real(_) => {}
            Kind::Lambda(p, body) => {
                bound_by(p, bound);
                go(body, bound, out);
            }
            Kind::Let(bindings, body) => {
                for (p, value) in bindings {
                    go(value, bound, out);
                    bound_by(p, bound);
                }
                go(body, bound, out);
            }
            Kind::Apply(a, b) | Kind::Pair(a, b) | Kind::Infix(_, a, b) => {
                go(a, bound, out);
                go(b, bound, out);
            }
            Kind::List(items) => items.iter().for_each(|t| go(t, bound, out)),
            Kind::If(a, b, c) => [a, b, c].into_iter().for_each(|t| go(t, bound, out)),
            Kind::Minus(a) => go(a, bound, out),
        }
        bound.truncate(before);
    }
    let mut out = BTreeSet::new();
    go(of, &mut Vec::new(), &mut out);
    out.into_iter().collect()
}

impl Function<'_, '_> {
    fn local(&self, id: LocalId) -> String {
        format!("v{}{}", id.0, self.locals[id].name)
    }

    fn local_fn(&self, id: core::LocalFnId) -> String {
        format!("v{}fn{}", id.0, self.local_fns[id].name)
    }

    /// A function that is called `own` inside itself.
    fn function(&mut self, own: &str, params: &[LocalId], body: &core::Expr, rules: &[Rule]) -> Translated<Made> {
        let pattern = tuple_pattern(params.iter().map(|p| Pattern::Name(self.local(*p).into())).collect());
        let plain = Term::lambda(pattern.clone(), self.expr(body)?);
        let captures = free(&plain);
        let mut made = plain;
        if let [rule] = rules {
            let rule = self.rule(rule, own, params, &pattern, &captures)?;
            made = call(name("attach"), pair(made, rule));
        } else if !rules.is_empty() {
            return Err(format!("several clauses of {own}"));
        }
        let recursive = free(&made).iter().any(|n| &**n == own);
        let mut maker = None;
        if recursive {
            let f = Term::lambda(Pattern::Name(own.into()), made);
            maker = Some(free(&f));
            made = call(name("fix"), f);
        }
        Ok(Made { term: made, shape: Shape { captures, attached: !rules.is_empty(), maker } })
    }

    /// `\(J params). ... (J value, \dy. ([captures], params))`
    fn rule(
        &mut self,
        rule: &Rule,
        own: &str,
        params: &[LocalId],
        pattern: &Pattern,
        captures: &[Name],
    ) -> Translated<Term> {
        let Rule::Vjp { forward, value, dy, backward, .. } = rule else {
            return Err(format!("a clause of {own} that is no `vjp`"));
        };
        let point = tuple(params.iter().map(|p| name(&self.local(*p))).collect());
        let mut bindings = Vec::new();
        self.stmts(forward, &mut bindings)?;
        let value = match value {
            Some(value) => self.expr(value)?,
            None => call(name(own), point),
        };
        // One accumulator for each parameter and captured variable.
        let mut backs: Vec<(Pattern, Term)> = Vec::new();
        let places: Vec<String> =
            params.iter().map(|p| self.local(*p)).chain(captures.iter().map(ToString::to_string)).collect();
        for place in &places {
            backs.push((Pattern::Name(adjoint(place)), call(name("zero"), name(place))));
        }
        let ExprKind::Block { stmts, result: None } = &backward.kind else {
            return Err("a backward part that is no block".into());
        };
        self.stmts(stmts, &mut backs)?;
        let list = captures.iter().map(|c| name(&adjoint(c))).collect();
        let argument = tuple(params.iter().map(|p| name(&adjoint(&self.local(*p)))).collect());
        let result = pair(term(Kind::List(list)), argument);
        let back = Term::lambda(self.pattern(dy)?, term(Kind::Let(backs, Box::new(result))));
        let both = pair(call(name("J"), value), back);
        let body = if bindings.is_empty() { both } else { term(Kind::Let(bindings, Box::new(both))) };
        Ok(Term::lambda(Pattern::Reverse(Box::new(pattern.clone())), body))
    }

    fn stmts(&mut self, stmts: &[core::Stmt], out: &mut Vec<(Pattern, Term)>) -> Translated<()> {
        for stmt in stmts {
            match &stmt.kind {
                StmtKind::Let { pattern, value } => {
                    let made = self.expr(value)?;
                    if let ExprKind::Closure(closure) = &value.kind {
                        let shape = Shape { captures: free(&made), attached: false, maker: None };
                        self.shapes.insert(format!("maker {}", closure.maker), shape);
                    }
                    out.push((self.pattern(pattern)?, made));
                }
                StmtKind::LocalFn(id) => {
                    let def = &self.local_fns[*id];
                    let own = self.local_fn(*id);
                    let made = self.function(&own, &def.params, &def.body, &def.rules)?;
                    self.shapes.insert(format!("maker {}", def.maker), made.shape.clone());
                    self.shapes.insert(own.clone(), made.shape);
                    out.push((Pattern::Name(own.into()), made.term));
                }
                StmtKind::Adjoint { local, path, value } => {
                    let place = self.local(*local);
                    let mut value = self.expr(value)?;
                    for (depth, step) in path.iter().enumerate().rev() {
                        let PlaceStep::TupleField(index) = step else { return Err("a place in an array".into()) };
                        value = self.embed(*local, &path[..depth], *index, value)?;
                    }
                    let sum = call(name("plus"), pair(name(&adjoint(&place)), value));
                    out.push((Pattern::Name(adjoint(&place)), sum));
                }
                StmtKind::Expr(e) if e.ty.is_unit() => out.push((Pattern::Any, self.expr(e)?)),
                other => return Err(format!("the statement {other:?}")),
            }
        }
        Ok(())
    }

    /// The zero of the part of `local` at `path`, with `value` in its component `index`.
    fn embed(&self, local: LocalId, path: &[PlaceStep], index: usize, value: Term) -> Translated<Term> {
        let mut ty = self.locals[local].ty.clone();
        let mut part = name(&self.local(local));
        for step in path {
            let (PlaceStep::TupleField(i), Ty::Tuple(parts)) = (step, ty) else { return Err("a place".into()) };
            part = component(part, *i, parts.len());
            ty = parts[*i].clone();
        }
        let Ty::Tuple(parts) = ty else { return Err("a place in no tuple".into()) };
        let mut items = Vec::new();
        for i in 0..parts.len() {
            let zero = call(name("zero"), component(part.clone(), i, parts.len()));
            items.push(if i == index { value.clone() } else { zero });
        }
        Ok(tuple(items))
    }

    fn pattern(&self, pattern: &core::Pattern) -> Translated<Pattern> {
        match &pattern.kind {
            PatternKind::Wildcard => Ok(Pattern::Any),
            PatternKind::Bind(id) => Ok(Pattern::Name(self.local(*id).into())),
            PatternKind::Tuple(parts) => {
                Ok(tuple_pattern(parts.iter().map(|p| self.pattern(p)).collect::<Translated<_>>()?))
            }
            other => Err(format!("the pattern {other:?}")),
        }
    }

    fn expr(&mut self, e: &core::Expr) -> Translated<Term> {
        Ok(match &e.kind {
            ExprKind::Lit(Lit::Float(r)) => term(Kind::Real(*r)),
            // Integers are reals that are whole; nothing that reaches them comes back.
            ExprKind::Lit(Lit::Int(i)) if is_number(&e.ty) => term(Kind::Real(*i as f64)),
            ExprKind::Lit(Lit::Bool(b)) => name(if *b { "true" } else { "false" }),
            ExprKind::Local(id) => name(&self.local(*id)),
            ExprKind::LocalFn(id, _) => name(&self.local_fn(*id)),
            ExprKind::Fn(id, _) => self.named(*id)?,
            ExprKind::Tuple(parts) => tuple(parts.iter().map(|p| self.expr(p)).collect::<Translated<_>>()?),
            ExprKind::Call { callee, arg } => {
                let callee = self.expr(callee)?;
                call(callee, self.expr(arg)?)
            }
            ExprKind::Binary { op, left, right } => {
                let (a, b) = (self.expr(left)?, self.expr(right)?);
                self.binary(*op, a, b, [&left.ty, &right.ty])?
            }
            ExprKind::Unary { op: core::UnaryOp::Neg, operand } if is_number(&operand.ty) => {
                term(Kind::Minus(Box::new(self.expr(operand)?)))
            }
            ExprKind::Unary { op: core::UnaryOp::Not, operand } => {
                let c = Box::new(self.expr(operand)?);
                term(Kind::If(c, Box::new(name("false")), Box::new(name("true"))))
            }
            ExprKind::TupleField { base, index } => {
                let Ty::Tuple(parts) = &base.ty else { return Err("a field of no tuple".into()) };
                component(self.expr(base)?, *index, parts.len())
            }
            ExprKind::If { cond, then, otherwise } => {
                let (c, a, b) = (self.expr(cond)?, self.expr(then)?, self.expr(otherwise)?);
                term(Kind::If(Box::new(c), Box::new(a), Box::new(b)))
            }
            ExprKind::Block { stmts, result } => {
                let mut bindings = Vec::new();
                self.stmts(stmts, &mut bindings)?;
                let body = match result {
                    Some(result) => self.expr(result)?,
                    None => nil(),
                };
                if bindings.is_empty() { body } else { term(Kind::Let(bindings, Box::new(body))) }
            }
            ExprKind::Closure(closure) => {
                let pattern = closure.params.iter().map(|p| Pattern::Name(self.local(*p).into())).collect();
                Term::lambda(tuple_pattern(pattern), self.expr(&closure.body)?)
            }
            ExprKind::CheckSizes { value, .. } => self.expr(value)?,
            ExprKind::TangentCapture { base, name: wanted, maker } => {
                let base = self.expr(base)?;
                self.captured(base, wanted, *maker)?
            }
            other => return Err(format!("the expression {other:?}")),
        })
    }

    fn binary(&self, op: core::BinaryOp, a: Term, b: Term, [ty, other]: [&Ty; 2]) -> Translated<Term> {
        use core::BinaryOp as B;
        let op = match op {
            B::And => Infix::And,
            B::Or => Infix::Or,
            B::Add if !is_number(ty) => return Ok(call(name("plus"), pair(a, b))),
            _ if !is_number(ty) => return Err(format!("the operator {op:?} on {ty:?}")),
            B::Add => Infix::Scalar(Prim::Add),
            B::Sub => Infix::Scalar(Prim::Sub),
            B::Mul => Infix::Scalar(Prim::Mul),
            B::Div if *ty == Ty::Float => Infix::Scalar(Prim::Div),
            B::Pow if *other == Ty::Int => return Ok(call(name("powi"), pair(a, b))),
            B::Pow => return Ok(call(name("pow"), pair(a, b))),
            B::Eq => Infix::Scalar(Prim::Eq),
            B::Ne => Infix::Scalar(Prim::Ne),
            B::Lt => Infix::Scalar(Prim::Lt),
            B::Le => Infix::Scalar(Prim::Le),
            B::Gt => Infix::Scalar(Prim::Gt),
            B::Ge => Infix::Scalar(Prim::Ge),
            B::Div | B::Rem | B::MatMul => return Err(format!("the operator {op:?}")),
        };
        Ok(term(Kind::Infix(op, Box::new(a), Box::new(b))))
    }

    /// A top-level function, or what a builtin is in the calculus.
    fn named(&mut self, id: FnId) -> Translated<Term> {
        let FnBody::Builtin(builtin) = &self.globals.program.fns[id].body else {
            self.globals.need(id)?;
            return Ok(name(&global(id)));
        };
        match builtin.as_str() {
            "pullback" => Ok(text(r"\(f, x). let (y, back) = (J f) (J x) in (Jinv y, back)")),
            "vjp" => Ok(text(r"\(f, x). let (y, back) = (J f) (J x) in (Jinv y, \s. snd (back s))")),
            "with_vjp" => Ok(text(r"\(f, rule). attach (f, \(J x). let (y, back) = rule x in (J y, back))")),
            "zero_like" => Ok(name("zero")),
            "stop_gradient" => Ok(text(r"attach (\x. x, \(J x). (J x, \y. ([], zero x)))")),
            scalar if Prim::from_name(scalar).is_some() => Ok(name(scalar)),
            other => Err(format!("the builtin {other}")),
        }
    }

    /// The cotangent of the captured variable that is called `wanted` in Cotan, from that of a closure.
    fn captured(&self, cotangent: Term, wanted: &str, maker: u32) -> Translated<Term> {
        let shape = self.shapes.get(&format!("maker {maker}")).ok_or("a closure that is not bound by `let`")?;
        let mut found = Vec::new();
        self.contributions(name("c"), shape, wanted, &mut found);
        let mut found = found.into_iter();
        let first = found.next().ok_or_else(|| format!("{wanted} is captured by nobody"))?;
        Ok(binding("c", cotangent, found.fold(first, |sum, next| call(name("plus"), pair(sum, next)))))
    }

    /// All places in the cotangent of a function that count for a captured variable.
    fn contributions(&self, cotangent: Term, shape: &Shape, wanted: &str, found: &mut Vec<Term>) {
        let list = if shape.attached { call(name("fst"), cotangent) } else { cotangent };
        for (i, capture) in shape.captures.iter().enumerate() {
            // Lists end in [], so the last entry too is a first component.
            let entry = component(list.clone(), i, shape.captures.len() + 1);
            let plain = capture.trim_start_matches('v').trim_start_matches(|c: char| c.is_ascii_digit());
            match (self.shapes.get(&**capture), &shape.maker) {
                // The function itself: \v. x x v, which captures \x. f (\v. x x v), which captures f.
                (Some(own), Some(maker)) if own.maker.as_ref() == Some(maker) => {
                    let inside = call(name("fst"), call(name("fst"), entry));
                    let outer = Shape { captures: maker.clone(), attached: false, maker: None };
                    self.contributions(inside, &outer, wanted, found);
                }
                (Some(other), _) => self.contributions(entry, other, wanted, found),
                (None, _) if plain == wanted => found.push(entry),
                (None, _) => {}
            }
        }
    }
}

fn is_number(ty: &Ty) -> bool {
    matches!(ty, Ty::Float | Ty::Int)
}

fn adjoint(place: &str) -> Name {
    format!("a{}", &place[1..]).into()
}
