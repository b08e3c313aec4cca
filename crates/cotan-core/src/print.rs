//! The core as text, for `cotan show --stage core`.
//!
//! In: a [`Program`], or a part of it. Out: readable text, close to Cotan. Locals are written with their number
//! where a name occurs twice in a function; captures, size checks and type arguments are shown.

use crate::{
    Adt, Arm, BinaryOp, ConstDef, Constraint, Expr, ExprKind, FnBody, FnDef, GenericParam, Iter, Lit, Local, LocalFn,
    LocalFnId, LocalId, Pattern, PatternKind, PlaceStep, Program, Rule, SizeCheck, SizeName, Stmt, StmtKind, Subscript,
    Ty, UnaryOp,
};
use cotan_source::IndexVec;
use std::collections::BTreeMap;
use std::fmt::Write;

/// The whole program: data types, constants, functions with code (builtins are left out).
pub fn print_program(program: &Program) -> String {
    let mut out = String::new();
    for adt in program.adts.iter() {
        out.push_str(&print_adt(program, adt));
    }
    for c in program.consts.iter() {
        out.push_str(&print_const(program, c));
        out.push('\n');
    }
    for f in program.fns.iter().filter(|f| matches!(f.body, FnBody::Code(_))) {
        out.push_str(&print_fn(program, f));
        out.push('\n');
    }
    out
}

/// A function with its body and rules.
pub fn print_fn(program: &Program, f: &FnDef) -> String {
    let mut p = Printer::new(program, &f.locals, &f.local_fns, &f.generics);
    let head = p.signature(f);
    match &f.body {
        FnBody::Builtin(name) => format!("{head} = builtin {name:?}\n"),
        FnBody::Code(body) => {
            p.out = head;
            p.out.push_str(" = ");
            p.expr(body);
            p.rules(&f.rules);
            p.out.push('\n');
            p.out
        }
    }
}

/// The head of a function: name, generic parameters with constraints, parameters, result.
pub fn print_signature(program: &Program, f: &FnDef) -> String {
    let p = Printer::new(program, &f.locals, &f.local_fns, &f.generics);
    p.signature(f)
}

/// A type.
pub fn print_type(program: &Program, generics: &[GenericParam], ty: &Ty) -> String {
    let locals = IndexVec::new();
    let local_fns = IndexVec::new();
    let p = Printer::new(program, &locals, &local_fns, generics);
    p.ty(ty)
}

fn print_adt(program: &Program, adt: &Adt) -> String {
    let locals = IndexVec::new();
    let local_fns = IndexVec::new();
    let p = Printer::new(program, &locals, &local_fns, &adt.generics);
    let fields = |v: &crate::Variant| -> String {
        let list: Vec<String> = v
            .fields
            .iter()
            .map(|f| {
                let mut ty = p.ty(&f.ty);
                for size in &f.sizes {
                    let text = match size {
                        Some(SizeName::Name(n)) => n.clone(),
                        Some(SizeName::Number(n)) => n.to_string(),
                        None => continue,
                    };
                    ty = ty.replacen("[]", &format!("[{text}]"), 1);
                }
                if v.named { format!("{}: {ty}", f.name) } else { ty }
            })
            .collect();
        match (v.named, list.is_empty()) {
            (true, _) => format!(" {{ {} }}", list.join(", ")),
            (false, true) => String::new(),
            (false, false) => format!("({})", list.join(", ")),
        }
    };
    let generics = p.generics(&adt.generics);
    if adt.is_struct {
        return format!("struct {}{generics}{}\n", adt.name, fields(&adt.variants[0]));
    }
    let variants: Vec<String> = adt.variants.iter().map(|v| format!("{}{}", v.name, fields(v))).collect();
    format!("enum {}{generics} {{ {} }}\n", adt.name, variants.join(", "))
}

fn print_const(program: &Program, c: &ConstDef) -> String {
    let mut p = Printer::new(program, &c.locals, &c.local_fns, &[]);
    p.out = format!("const {}: {} = ", c.name, p.ty(&c.ty));
    p.expr(&c.value);
    p.out.push('\n');
    p.out
}

struct Printer<'p> {
    program: &'p Program,
    local_fns: &'p IndexVec<LocalFnId, LocalFn>,
    names: Vec<String>,
    params: BTreeMap<u32, String>,
    indent: usize,
    out: String,
}

impl<'p> Printer<'p> {
    fn new(
        program: &'p Program,
        locals: &IndexVec<LocalId, Local>,
        local_fns: &'p IndexVec<LocalFnId, LocalFn>,
        generics: &[GenericParam],
    ) -> Self {
        let mut count: BTreeMap<&str, usize> = BTreeMap::new();
        for l in locals {
            *count.entry(&l.name).or_default() += 1;
        }
        let names = locals
            .iter_enumerated()
            .map(|(id, l)| if count[l.name.as_str()] > 1 { format!("{}_{}", l.name, id.0) } else { l.name.clone() })
            .collect();
        let all = generics.iter().chain(local_fns.iter().flat_map(|f| &f.generics));
        let params = all.map(|g| (g.id.0, g.name.clone())).collect();
        Printer { program, local_fns, names, params, indent: 0, out: String::new() }
    }

    fn signature(&self, f: &FnDef) -> String {
        let params: Vec<String> =
            f.params.iter().map(|l| format!("{}: {}", self.local(*l), self.ty(&f.locals[*l].ty))).collect();
        format!("fn {}{}({}) -> {}", f.name, self.generics(&f.generics), params.join(", "), self.ty(&f.ret))
    }

    fn generics(&self, list: &[GenericParam]) -> String {
        if list.is_empty() {
            return String::new();
        }
        let shown: Vec<String> = list
            .iter()
            .map(|g| match g.constraint {
                Constraint::Any => g.name.clone(),
                Constraint::Num => format!("{}: Num", g.name),
                Constraint::Real => format!("{}: Real", g.name),
                Constraint::Space => format!("{}: Space", g.name),
            })
            .collect();
        format!("<{}>", shown.join(", "))
    }

    fn local(&self, id: LocalId) -> String {
        self.names.get(id.0 as usize).cloned().unwrap_or_else(|| id.to_string())
    }

    fn list(&self, types: &[Ty]) -> String {
        types.iter().map(|t| self.ty(t)).collect::<Vec<_>>().join(", ")
    }

    fn ty(&self, ty: &Ty) -> String {
        match ty {
            Ty::Float => "Float".to_string(),
            Ty::Float32 => "Float32".to_string(),
            Ty::Int => "Int".to_string(),
            Ty::Bool => "Bool".to_string(),
            Ty::Str => "String".to_string(),
            Ty::Tuple(parts) => format!("({})", self.list(parts)),
            Ty::Array(elem) => format!("[]{}", self.ty(elem)),
            Ty::Adt(id, args) => {
                let name = &self.program.adts[*id].name;
                if args.is_empty() { name.clone() } else { format!("{name}<{}>", self.list(args)) }
            }
            Ty::Fn(arg, ret) => match &**arg {
                Ty::Tuple(parts) => format!("fn({}) -> {}", self.list(parts), self.ty(ret)),
                arg => format!("fn({}) -> {}", self.ty(arg), self.ty(ret)),
            },
            Ty::Param(p) => self.params.get(&p.0).cloned().unwrap_or_else(|| p.to_string()),
            Ty::Tangent(inner) => format!("Tangent<{}>", self.ty(inner)),
        }
    }

    fn line(&mut self) {
        self.out.push('\n');
        for _ in 0..self.indent {
            self.out.push_str("    ");
        }
    }

    fn separated(&mut self, parts: &[Expr]) {
        for (i, p) in parts.iter().enumerate() {
            if i > 0 {
                self.out.push_str(", ");
            }
            self.expr(p);
        }
    }

    fn type_args(&mut self, args: &[Ty]) {
        if !args.is_empty() {
            let _ = write!(self.out, "::<{}>", self.list(args));
        }
    }

    fn lit(&mut self, lit: &Lit) {
        let text = match lit {
            Lit::Int(i) => i.to_string(),
            Lit::Float(x) => format!("{x:?}"),
            Lit::Bool(b) => b.to_string(),
            Lit::Str(s) => format!("{s:?}"),
        };
        self.out.push_str(&text);
    }

    fn expr(&mut self, e: &Expr) {
        match &e.kind {
            ExprKind::Lit(lit) => self.lit(lit),
            ExprKind::Local(id) => {
                let name = self.local(*id);
                self.out.push_str(&name);
            }
            ExprKind::Fn(id, args) => {
                self.out.push_str(&self.program.fns[*id].name);
                self.type_args(args);
            }
            ExprKind::LocalFn(id, args) => {
                self.out.push_str(&self.local_fns[*id].name);
                self.type_args(args);
            }
            ExprKind::Const(id) => self.out.push_str(&self.program.consts[*id].name),
            ExprKind::Ctor(adt, variant, _) => self.out.push_str(&self.program.adts[*adt].variants[*variant].name),
            ExprKind::Tuple(parts) => {
                self.out.push('(');
                self.separated(parts);
                self.out.push(')');
            }
            ExprKind::Adt { adt, variant, fields, .. } => self.adt(&self.program.adts[*adt].variants[*variant], fields),
            ExprKind::Update { base, fields } => {
                self.out.push('{');
                for (i, f) in fields {
                    let _ = write!(self.out, " {i}: ");
                    self.expr(f);
                    self.out.push(',');
                }
                self.out.push_str(" ..");
                self.expr(base);
                self.out.push_str(" }");
            }
            ExprKind::Array(parts) => {
                self.out.push('[');
                self.separated(parts);
                self.out.push(']');
            }
            ExprKind::Comprehension { generators, filter, body } => {
                self.out.push('[');
                self.expr(body);
                self.out.push_str(" for ");
                for (i, g) in generators.iter().enumerate() {
                    if i > 0 {
                        self.out.push_str(", ");
                    }
                    self.pattern(&g.pattern);
                    self.out.push_str(" in ");
                    self.iter(&g.iter);
                }
                if let Some(filter) = filter {
                    self.out.push_str(" if ");
                    self.expr(filter);
                }
                self.out.push(']');
            }
            ExprKind::Call { callee, arg } => self.call(callee, arg),
            ExprKind::Binary { op, left, right } => {
                self.operand(left);
                let _ = write!(self.out, " {} ", op.symbol());
                self.operand(right);
            }
            ExprKind::Unary { op, operand } => {
                self.out.push_str(match op {
                    UnaryOp::Neg => "-",
                    UnaryOp::Not => "!",
                });
                self.operand(operand);
            }
            ExprKind::Field { base, index } => {
                self.operand(base);
                let name = match &base.ty {
                    Ty::Adt(id, _) => self.program.adts[*id].variants[0].fields.get(*index).map(|f| f.name.clone()),
                    _ => None,
                };
                let _ = write!(self.out, ".{}", name.unwrap_or_else(|| index.to_string()));
            }
            ExprKind::TupleField { base, index } | ExprKind::TangentField { base, index } => {
                self.operand(base);
                let _ = write!(self.out, ".{index}");
            }
            ExprKind::TangentCapture { base, name, .. } => {
                self.operand(base);
                let _ = write!(self.out, ".{name}");
            }
            ExprKind::TangentLiteral { function, fields, .. } => {
                self.out.push_str("tangent ");
                self.operand(function);
                self.out.push_str(" {");
                for (name, f) in fields {
                    let _ = write!(self.out, " {name}: ");
                    self.expr(f);
                    self.out.push(',');
                }
                self.out.push_str(" }");
            }
            ExprKind::TangentOf(id) => {
                let _ = write!(self.out, "tangent({})", self.local(*id));
            }
            ExprKind::Index { base, subscripts } => {
                self.operand(base);
                self.subscripts(subscripts);
            }
            ExprKind::If { cond, then, otherwise } => {
                self.out.push_str("if ");
                self.expr(cond);
                self.out.push(' ');
                self.braced(then);
                self.out.push_str(" else ");
                self.braced(otherwise);
            }
            ExprKind::Match { value, arms } => self.arms(value, arms),
            ExprKind::Block { stmts, result } => {
                self.out.push('{');
                self.indent += 1;
                for s in stmts {
                    self.line();
                    self.stmt(s);
                }
                if let Some(result) = result {
                    self.line();
                    self.expr(result);
                }
                self.indent -= 1;
                self.line();
                self.out.push('}');
            }
            ExprKind::Closure(c) => {
                if !c.captures.is_empty() {
                    let names: Vec<String> = c.captures.iter().map(|l| self.local(*l)).collect();
                    let _ = write!(self.out, "[{}]", names.join(", "));
                }
                let params: Vec<String> = c.params.iter().map(|l| self.local(*l)).collect();
                let _ = write!(self.out, "|{}| ", params.join(", "));
                self.expr(&c.body);
            }
            ExprKind::Return(value) => {
                self.out.push_str("return ");
                self.expr(value);
            }
            ExprKind::Break => self.out.push_str("break"),
            ExprKind::Continue => self.out.push_str("continue"),
            ExprKind::CheckSizes { value, checks } => {
                self.expr(value);
                self.out.push_str(" where ");
                self.checks(checks);
            }
        }
    }

    /// An expression in a place that binds tightly.
    fn operand(&mut self, e: &Expr) {
        let simple = matches!(
            e.kind,
            ExprKind::Lit(_)
                | ExprKind::Local(_)
                | ExprKind::Fn(..)
                | ExprKind::LocalFn(..)
                | ExprKind::Const(_)
                | ExprKind::Ctor(..)
                | ExprKind::Tuple(_)
                | ExprKind::Array(_)
                | ExprKind::Call { .. }
                | ExprKind::Field { .. }
                | ExprKind::TupleField { .. }
                | ExprKind::TangentField { .. }
                | ExprKind::TangentCapture { .. }
                | ExprKind::TangentOf(_)
                | ExprKind::Index { .. }
                | ExprKind::Comprehension { .. }
        );
        if simple {
            self.expr(e);
        } else {
            self.out.push('(');
            self.expr(e);
            self.out.push(')');
        }
    }

    fn braced(&mut self, e: &Expr) {
        if matches!(e.kind, ExprKind::Block { .. }) {
            self.expr(e);
        } else {
            self.out.push_str("{ ");
            self.expr(e);
            self.out.push_str(" }");
        }
    }

    fn call(&mut self, callee: &Expr, arg: &Expr) {
        self.operand(callee);
        if matches!(arg.kind, ExprKind::Tuple(_)) {
            self.expr(arg);
        } else {
            self.out.push('(');
            self.expr(arg);
            self.out.push(')');
        }
    }

    fn adt(&mut self, variant: &crate::Variant, fields: &[Expr]) {
        self.out.push_str(&variant.name);
        if variant.named {
            self.out.push_str(" { ");
            for (i, (field, e)) in variant.fields.iter().zip(fields).enumerate() {
                if i > 0 {
                    self.out.push_str(", ");
                }
                let _ = write!(self.out, "{}: ", field.name);
                self.expr(e);
            }
            self.out.push_str(" }");
        } else if !fields.is_empty() {
            self.out.push('(');
            self.separated(fields);
            self.out.push(')');
        }
    }

    fn arms(&mut self, value: &Expr, arms: &[Arm]) {
        self.out.push_str("match ");
        self.expr(value);
        self.out.push_str(" {");
        self.indent += 1;
        for arm in arms {
            self.line();
            self.pattern(&arm.pattern);
            if let Some(guard) = &arm.guard {
                self.out.push_str(" if ");
                self.expr(guard);
            }
            self.out.push_str(" => ");
            self.expr(&arm.body);
            self.out.push(',');
        }
        self.indent -= 1;
        self.line();
        self.out.push('}');
    }

    fn iter(&mut self, iter: &Iter) {
        match iter {
            Iter::Range(a, b) => {
                self.operand(a);
                self.out.push_str("..");
                self.operand(b);
            }
            Iter::Array(e) => self.expr(e),
        }
    }

    fn subscripts(&mut self, list: &[Subscript]) {
        self.out.push('[');
        for (i, s) in list.iter().enumerate() {
            if i > 0 {
                self.out.push_str(", ");
            }
            match s {
                Subscript::At(e) => self.expr(e),
                Subscript::Range(a, b) => {
                    if let Some(a) = a {
                        self.operand(a);
                    }
                    self.out.push_str("..");
                    if let Some(b) = b {
                        self.operand(b);
                    }
                }
            }
        }
        self.out.push(']');
    }

    fn path(&mut self, path: &[PlaceStep]) {
        for step in path {
            match step {
                PlaceStep::Field(i) => {
                    let _ = write!(self.out, ".#{i}");
                }
                PlaceStep::TupleField(i) => {
                    let _ = write!(self.out, ".{i}");
                }
                PlaceStep::Index(list) => self.subscripts(list),
            }
        }
    }

    fn pattern(&mut self, p: &Pattern) {
        match &p.kind {
            PatternKind::Wildcard => self.out.push('_'),
            PatternKind::Bind(id) => {
                let name = self.local(*id);
                self.out.push_str(&name);
            }
            PatternKind::Lit(lit) => self.lit(lit),
            PatternKind::Range { start, end, inclusive } => {
                if let Some(start) = start {
                    self.lit(start);
                }
                self.out.push_str(if *inclusive { "..=" } else { ".." });
                if let Some(end) = end {
                    self.lit(end);
                }
            }
            PatternKind::Tuple(parts) => {
                self.out.push('(');
                self.patterns(parts);
                self.out.push(')');
            }
            PatternKind::Adt { adt, variant, fields } => {
                let variant = &self.program.adts[*adt].variants[*variant];
                self.out.push_str(&variant.name);
                if !fields.is_empty() {
                    self.out.push_str(if variant.named { " { " } else { "(" });
                    self.patterns(fields);
                    self.out.push_str(if variant.named { " }" } else { ")" });
                }
            }
            PatternKind::Or(parts) => {
                for (i, p) in parts.iter().enumerate() {
                    if i > 0 {
                        self.out.push_str(" | ");
                    }
                    self.pattern(p);
                }
            }
        }
    }

    fn patterns(&mut self, parts: &[Pattern]) {
        for (i, p) in parts.iter().enumerate() {
            if i > 0 {
                self.out.push_str(", ");
            }
            self.pattern(p);
        }
    }

    fn checks(&mut self, checks: &[SizeCheck]) {
        for (i, c) in checks.iter().enumerate() {
            if i > 0 {
                self.out.push_str(", ");
            }
            let _ = write!(self.out, "size{} of ", c.axis);
            match &c.array {
                Some(array) => self.expr(array),
                None => self.out.push_str("it"),
            }
            self.out.push_str(" == ");
            self.expr(&c.expected);
        }
    }

    fn stmt(&mut self, s: &Stmt) {
        match &s.kind {
            StmtKind::Let { pattern, value } => {
                self.out.push_str("let ");
                self.pattern(pattern);
                let _ = write!(self.out, ": {} = ", self.ty(&pattern.ty));
                self.expr(value);
            }
            StmtKind::LocalFn(id) => {
                let f = &self.local_fns[*id];
                let captures: Vec<String> = f.captures.iter().map(|l| self.local(*l)).collect();
                let params: Vec<String> = f.params.iter().map(|l| self.local(*l)).collect();
                let _ = write!(
                    self.out,
                    "fn {}{}[{}]({}) -> {} = ",
                    f.name,
                    self.generics(&f.generics),
                    captures.join(", "),
                    params.join(", "),
                    self.ty(&f.ret)
                );
                self.expr(&f.body);
                self.rules(&f.rules);
            }
            StmtKind::Assign { local, path, op, value } => {
                let name = self.local(*local);
                self.out.push_str(&name);
                self.path(path);
                let _ = write!(self.out, " {}= ", op.map_or("", BinaryOp::symbol));
                self.expr(value);
            }
            StmtKind::Adjoint { local, path, value } => {
                let _ = write!(self.out, "adjoint({}", self.local(*local));
                self.path(path);
                self.out.push_str(") += ");
                self.expr(value);
            }
            StmtKind::Expr(e) => self.expr(e),
            StmtKind::For { pattern, iter, body } => {
                self.out.push_str("for ");
                self.pattern(pattern);
                self.out.push_str(" in ");
                self.iter(iter);
                self.out.push(' ');
                self.expr(body);
            }
            StmtKind::While { cond, body } => {
                self.out.push_str("while ");
                self.expr(cond);
                self.out.push(' ');
                self.expr(body);
            }
            StmtKind::BindSize { local, sources } => {
                let _ = write!(self.out, "size {} = ", self.local(*local));
                for (i, (array, axis)) in sources.iter().enumerate() {
                    if i > 0 {
                        self.out.push_str(" or ");
                    }
                    self.expr(array);
                    let _ = write!(self.out, "@{axis}");
                }
            }
            StmtKind::CheckSizes(checks) => {
                self.out.push_str("check ");
                self.checks(checks);
            }
        }
        self.out.push(';');
    }

    fn rules(&mut self, rules: &[Rule]) {
        for rule in rules {
            let (word, stmts, value) = match rule {
                Rule::Vjp { forward, value, .. } => (" vjp {", forward, value.as_ref()),
                Rule::Jvp { stmts, value, .. } => (" jvp {", stmts, value.as_ref()),
                Rule::Transpose { forward, .. } => (" transpose {", forward, None),
            };
            self.out.push_str(word);
            self.indent += 1;
            for s in stmts {
                self.line();
                self.stmt(s);
            }
            self.line();
            self.out.push_str("return ");
            if let Some(value) = value {
                self.expr(value);
                self.out.push(' ');
            }
            self.out.push_str("with ");
            match rule {
                Rule::Vjp { dy, backward, .. } | Rule::Transpose { dy, backward, .. } => {
                    self.out.push('|');
                    self.pattern(dy);
                    self.out.push_str("| ");
                    self.expr(backward);
                }
                Rule::Jvp { tangent, .. } => self.expr(tangent),
            }
            self.indent -= 1;
            self.line();
            self.out.push('}');
        }
    }
}

impl BinaryOp {
    /// How the operator is written.
    pub fn symbol(self) -> &'static str {
        match self {
            BinaryOp::Add => "+",
            BinaryOp::Sub => "-",
            BinaryOp::Mul => "*",
            BinaryOp::Div => "/",
            BinaryOp::Rem => "%",
            BinaryOp::Pow => "**",
            BinaryOp::MatMul => "@",
            BinaryOp::Eq => "==",
            BinaryOp::Ne => "!=",
            BinaryOp::Lt => "<",
            BinaryOp::Le => "<=",
            BinaryOp::Gt => ">",
            BinaryOp::Ge => ">=",
            BinaryOp::And => "&&",
            BinaryOp::Or => "||",
        }
    }
}
