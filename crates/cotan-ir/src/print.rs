//! Programs, functions and types as text.
//!
//! In: a program. Out: text that [`read_program`](crate::read_program) reads back. The same program gives the same bytes.
//!
//! Ids carry the names of what they stand for: `%w.3` is variable 3, in the source `w`; `f3.loss` is function 3. A name
//! is complete (in quotes where it is no plain word) where its owner is defined, and only a help to the eye elsewhere:
//! the reader looks at the number.
//!
//! ```text
//! adt a0.List enum { Nil(), Cons("0": F64, "1": a0) }
//! fn f0.double(%x.0: F64) -> F64 {
//!   %1: F64 = add(%x.0, %x.0)
//!   return %1
//! }
//! ```

use crate::{
    AdOp, AdtId, AdtKind, Atom, Block, Deriv, Effect, FnId, Func, Inspect, Lit, Op, Operator, Program, ReduceOp, Step,
    Stmt, Sub, Type, TypeId, Var, VarInfo,
};
use cotan_source::{IndexVec, Span};
use std::fmt::Write;

/// The text of a program: its nominal types, functions, and which functions are derivatives of which. With `spans`,
/// statements end in their place, `@file:start..end`.
pub fn print_program<A: Operator>(program: &Program<A>, spans: bool) -> String {
    let mut out = String::new();
    for id in program.adts.indices() {
        adt(program, id, &mut out);
    }
    for id in program.fns.indices() {
        if !out.is_empty() {
            out.push('\n');
        }
        out.push_str(&print_function(program, id, spans));
    }
    let mut derived: Vec<_> = program.derived.iter().collect();
    derived.sort_unstable();
    for ((of, which), is) in derived {
        line(
            &mut out,
            format_args!("derived {} {} {}", fn_ref(program, *of), deriv_name(*which), fn_ref(program, *is)),
        );
    }
    let mut residuals: Vec<_> = program.residuals.iter().collect();
    residuals.sort_unstable();
    for (of, is) in residuals {
        line(&mut out, format_args!("residual {} {}", fn_ref(program, *of), adt_ref(program, *is)));
    }
    out
}

/// The text of one function.
pub fn print_function<A: Operator>(program: &Program<A>, id: FnId, spans: bool) -> String {
    print_func(program, id, &program.fns[id], spans)
}

/// The text of a function that need not be in the program (yet).
pub fn print_func<A: Operator>(program: &Program<A>, id: FnId, func: &Func<A>, spans: bool) -> String {
    let mut p = Printer { program, vars: &func.vars, spans, out: String::new(), indent: 0 };
    p.function(id, func);
    p.out
}

/// The text of a type.
pub fn print_type<A>(program: &Program<A>, ty: TypeId) -> String {
    let mut out = String::new();
    type_text(program, ty, &mut out);
    out
}

/// The text of a literal.
pub fn print_lit(lit: &Lit) -> String {
    match lit {
        Lit::F64(x) if x.is_nan() && x.to_bits() != f64::NAN.to_bits() => format!("nan(\"{:x}\")", x.to_bits()),
        Lit::F64(x) => float_text(*x),
        Lit::F32(x) => {
            let text = match x.is_finite() {
                true => format!("{x:?}"),
                false if x.is_nan() && x.to_bits() != f32::NAN.to_bits() => {
                    return format!("nan_f32(\"{:x}\")", x.to_bits());
                }
                false => float_text(f64::from(*x)),
            };
            format!("{text}_f32")
        }
        Lit::I64(i) => i.to_string(),
        Lit::Bool(b) => b.to_string(),
        Lit::Str(s) => quoted(s),
        Lit::Unit => "()".into(),
    }
}

fn float_text(x: f64) -> String {
    // `{:?}` is the shortest text that reads back as the same number, always with a point or exponent.
    if x.is_nan() { "nan".into() } else { format!("{x:?}") }
}

fn line(out: &mut String, text: std::fmt::Arguments) {
    let _ = writeln!(out, "{text}");
}

pub(crate) fn deriv_name(which: Deriv) -> &'static str {
    match which {
        Deriv::Jvp => "jvp",
        Deriv::Fwd => "fwd",
        Deriv::Bwd => "bwd",
        Deriv::Body => "body",
    }
}

pub(crate) fn inspect_name(what: Inspect) -> &'static str {
    match what {
        Inspect::LeafNumbers => "leaf_numbers",
        Inspect::LeafName => "leaf_name",
        Inspect::TangentFrom => "tangent_from",
        Inspect::Compare => "compare",
    }
}

pub(crate) fn effect_name(effect: Effect) -> &'static str {
    match effect {
        Effect::Progress => "progress",
        Effect::WriteText => "write_text",
    }
}

pub(crate) fn reduce_name(op: ReduceOp) -> &'static str {
    match op {
        ReduceOp::Sum => "sum",
        ReduceOp::Product => "product",
        ReduceOp::Max => "max",
        ReduceOp::Min => "min",
    }
}

pub(crate) fn kind_name(kind: AdtKind) -> &'static str {
    match kind {
        AdtKind::Struct => "struct",
        AdtKind::Enum => "enum",
        AdtKind::Residual => "residual",
    }
}

/// Whether a name can stand without quotes.
fn is_word(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() => {
                let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

fn name_text(name: &str) -> String {
    if is_word(name) { name.into() } else { quoted(name) }
}

/// `.name` with the leading plain word of the name, or nothing.
fn hint(name: &str) -> String {
    let end = name.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(name.len());
    if is_word(&name[..end]) { format!(".{}", &name[..end]) } else { String::new() }
}

fn fn_ref<A>(program: &Program<A>, id: FnId) -> String {
    format!("{id}{}", program.fns.get(id).map(|f| hint(&f.name)).unwrap_or_default())
}

fn adt_ref<A>(program: &Program<A>, id: AdtId) -> String {
    format!("{id}{}", program.adts.get(id).map(|d| hint(&d.name)).unwrap_or_default())
}

fn variant_ref<A>(program: &Program<A>, adt: Option<AdtId>, variant: u32) -> String {
    let def = adt.and_then(|id| program.adts.get(id)?.variants.get(variant as usize));
    format!("{variant}{}", def.map(|v| hint(&v.name)).unwrap_or_default())
}

fn field_ref<A>(program: &Program<A>, adt: Option<AdtId>, variant: u32, index: u32) -> String {
    let def = adt.and_then(|id| program.adts.get(id)?.variants.get(variant as usize)?.fields.get(index as usize));
    format!("{index}{}", def.map(|(name, _)| hint(name)).unwrap_or_default())
}

fn capture_ref<A>(program: &Program<A>, code: FnId, index: u32) -> String {
    let def = program.fns.get(code).and_then(|f| f.captures.as_ref()?.get(index as usize));
    format!("{index}{}", def.map(|c| hint(&c.name)).unwrap_or_default())
}

fn type_text<A>(program: &Program<A>, ty: TypeId, out: &mut String) {
    match program.ty(ty) {
        Type::F64 => out.push_str("F64"),
        Type::F32 => out.push_str("F32"),
        Type::I64 => out.push_str("I64"),
        Type::Bool => out.push_str("Bool"),
        Type::Str => out.push_str("Str"),
        Type::Residual => out.push_str("Residual"),
        Type::Tuple(parts) => {
            out.push('(');
            for (i, part) in parts.iter().enumerate() {
                if i > 0 {
                    out.push_str(", ");
                }
                type_text(program, *part, out);
            }
            out.push_str(if parts.len() == 1 { ",)" } else { ")" });
        }
        Type::Array { rank, elem } => {
            out.push_str(&"[]".repeat(*rank as usize));
            type_text(program, *elem, out);
        }
        Type::Adt(id) => out.push_str(&adt_ref(program, *id)),
        Type::Fn { arg, result } => {
            out.push_str("fn(");
            type_text(program, *arg, out);
            out.push_str(") -> ");
            type_text(program, *result, out);
        }
        Type::Tan(of) | Type::Acc(of) => {
            out.push_str(if matches!(program.ty(ty), Type::Tan(_)) { "Tan<" } else { "Acc<" });
            type_text(program, *of, out);
            out.push('>');
        }
    }
}

fn adt<A>(program: &Program<A>, id: AdtId, out: &mut String) {
    let def = &program.adts[id];
    let variants: Vec<String> = def
        .variants
        .iter()
        .map(|v| {
            let fields: Vec<String> = v
                .fields
                .iter()
                .map(|(name, ty)| format!("{}: {}", name_text(name), print_type(program, *ty)))
                .collect();
            let (open, close) = if v.named { ('{', '}') } else { ('(', ')') };
            format!("{}{open}{}{close}", name_text(&v.name), fields.join(", "))
        })
        .collect();
    let variants = if variants.is_empty() { "{}".into() } else { format!("{{ {} }}", variants.join(", ")) };
    line(out, format_args!("adt {id}.{} {} {variants}", name_text(&def.name), kind_name(def.kind)));
}

/// The first line of a statement's text, for messages.
pub(crate) fn print_stmt_head<A: Operator>(
    program: &Program<A>,
    vars: &IndexVec<Var, VarInfo>,
    stmt: &Stmt<A>,
) -> String {
    let mut p = Printer { program, vars, spans: false, out: String::new(), indent: 0 };
    p.stmt(stmt);
    p.out.lines().next().unwrap_or_default().to_string()
}

struct Printer<'a, A> {
    program: &'a Program<A>,
    vars: &'a IndexVec<Var, VarInfo>,
    spans: bool,
    out: String,
    indent: usize,
}

impl<A: Operator> Printer<'_, A> {
    fn function(&mut self, id: FnId, func: &Func<A>) {
        let params: Vec<String> = func.params.iter().map(|v| self.def(*v)).collect();
        let _ = write!(self.out, "fn {id}.{}({})", name_text(&func.name), params.join(", "));
        if !func.results.is_empty() {
            let results: Vec<String> = func.results.iter().map(|t| print_type(self.program, *t)).collect();
            let _ = write!(self.out, " -> {}", results.join(", "));
        }
        if let Some(captures) = &func.captures {
            let captures: Vec<String> = captures
                .iter()
                .map(|c| format!("{}: {}", name_text(&c.name), print_type(self.program, c.ty)))
                .collect();
            let _ = write!(self.out, " captures({})", captures.join(", "));
        }
        if let Some((fwd, bwd)) = func.rules.vjp {
            let _ = write!(self.out, " vjp({}, {})", fn_ref(self.program, fwd), fn_ref(self.program, bwd));
        }
        if let Some(jvp) = func.rules.jvp {
            let _ = write!(self.out, " jvp({})", fn_ref(self.program, jvp));
        }
        self.span(func.span);
        self.out.push_str(" {\n");
        self.block(&func.body, "return");
        self.out.push_str("}\n");
    }

    fn span(&mut self, span: Span) {
        if self.spans && !span.is_none() {
            let _ = write!(self.out, " @{}:{}..{}", span.file.0, span.start, span.end);
        }
    }

    fn start_line(&mut self) {
        for _ in 0..self.indent {
            self.out.push_str("  ");
        }
    }

    /// Statements and results, one per line; the braces are the caller's.
    fn block(&mut self, block: &Block<A>, word: &str) {
        self.indent += 1;
        for stmt in &block.stmts {
            self.stmt(stmt);
        }
        if !block.results.is_empty() {
            self.start_line();
            let results = self.list(&block.results);
            let _ = writeln!(self.out, "{word} {results}");
        }
        self.indent -= 1;
    }

    fn braces(&mut self, block: &Block<A>) {
        self.out.push_str("{\n");
        self.block(block, "yield");
        self.start_line();
        self.out.push('}');
    }

    fn stmt(&mut self, stmt: &Stmt<A>) {
        self.start_line();
        if !stmt.vars.is_empty() {
            let vars: Vec<String> = stmt.vars.iter().map(|v| self.def(*v)).collect();
            let _ = write!(self.out, "{} = ", vars.join(", "));
        }
        self.op(&stmt.op);
        self.span(stmt.span);
        self.out.push('\n');
    }

    /// A variable where it is defined.
    fn def(&self, v: Var) -> String {
        match self.vars.get(v) {
            Some(info) => {
                let name = info.name.as_ref().map(|n| format!("{}.", name_text(n))).unwrap_or_default();
                format!("%{name}{}: {}", v.0, print_type(self.program, info.ty))
            }
            None => format!("%{}: ?", v.0),
        }
    }

    /// A variable where it is used.
    fn var(&self, v: Var) -> String {
        match self.vars.get(v).and_then(|info| info.name.as_ref()) {
            Some(name) if is_word(name) => format!("%{name}.{}", v.0),
            _ => format!("%{}", v.0),
        }
    }

    fn atom(&self, atom: &Atom) -> String {
        match atom {
            Atom::Var(v) => self.var(*v),
            Atom::Lit(lit) => print_lit(lit),
        }
    }

    fn list<'b>(&self, atoms: impl IntoIterator<Item = &'b Atom>) -> String {
        atoms.into_iter().map(|a| self.atom(a)).collect::<Vec<_>>().join(", ")
    }

    fn subs(&self, subs: &[Sub]) -> String {
        let subs: Vec<String> = subs
            .iter()
            .map(|s| match s {
                Sub::At(a) => self.atom(a),
                Sub::Range(lo, hi) => format!("{}..{}", self.atom(lo), self.atom(hi)),
            })
            .collect();
        subs.join(", ")
    }

    /// The nominal type of an operand, for the names of its variants and fields.
    fn adt_of(&self, atom: &Atom) -> Option<AdtId> {
        match self.program.ty(self.vars.get(atom.var()?)?.ty) {
            Type::Adt(id) => Some(*id),
            _ => None,
        }
    }

    fn call(&mut self, name: &str, args: &[&Atom]) {
        let args = self.list(args.iter().copied());
        let _ = write!(self.out, "{name}({args})");
    }

    fn call_list(&mut self, name: &str, args: &[Atom]) {
        let args = self.list(args);
        let _ = write!(self.out, "{name}({args})");
    }

    /// A call with groups of operands between semicolons.
    fn groups(&mut self, name: &str, groups: &[String]) {
        let _ = write!(self.out, "{name}({})", groups.join("; "));
    }

    fn step(&mut self, name: &str, base: &Atom, step: &Step) {
        let base = self.atom(base);
        match step {
            Step::Proj(i) => self.groups(&format!("{name}[proj {i}]"), &[base]),
            Step::Field { adt, variant, index } => {
                let text = format!(
                    "{name}[field {} {} {}]",
                    adt_ref(self.program, *adt),
                    variant_ref(self.program, Some(*adt), *variant),
                    field_ref(self.program, Some(*adt), *variant, *index)
                );
                self.groups(&text, &[base]);
            }
            Step::Capture { code, index } => {
                let text = format!(
                    "{name}[capture {} {}]",
                    fn_ref(self.program, *code),
                    capture_ref(self.program, *code, *index)
                );
                self.groups(&text, &[base]);
            }
            Step::Index { subs, extents } => {
                let groups = [base, self.subs(subs), self.list(extents)];
                self.groups(&format!("{name}[index]"), &groups);
            }
        }
    }

    /// `with %s.1: F64 = 0.0, ...`, or nothing.
    fn state(&mut self, state: &[Var], init: &[Atom]) {
        if state.is_empty() {
            return;
        }
        let parts: Vec<String> =
            state.iter().zip(init).map(|(v, a)| format!("{} = {}", self.def(*v), self.atom(a))).collect();
        let _ = write!(self.out, "with {} ", parts.join(", "));
    }

    fn op(&mut self, op: &Op<A>) {
        let program = self.program;
        match op {
            Op::Copy(a) => self.call("copy", &[a]),
            Op::Prim(prim, args) => self.call_list(prim.name(), args),
            Op::Map(prim, args) => self.call_list(&format!("map[{}]", prim.name()), args),
            Op::Tuple(items) => self.call_list("tuple", items),
            Op::Proj(a, i) => self.call(&format!("proj[{i}]"), &[a]),
            Op::Adt { adt, variant, fields } => {
                let (ty, variant) = (adt_ref(program, *adt), variant_ref(program, Some(*adt), *variant));
                self.call_list(&format!("adt[{ty} {variant}]"), fields);
            }
            Op::Field { base, variant, index } => {
                let adt = self.adt_of(base);
                let (v, i) = (variant_ref(program, adt, *variant), field_ref(program, adt, *variant, *index));
                self.call(&format!("field[{v} {i}]"), &[base]);
            }
            Op::Closure { code, captures } => {
                self.call_list(&format!("closure[{}]", fn_ref(program, *code)), captures);
            }
            Op::Capture { base, code, index } => {
                let (code, index) = (fn_ref(program, *code), capture_ref(program, *code, *index));
                self.call(&format!("capture[{code} {index}]"), &[base]);
            }
            Op::Call { func, args } => self.call_list(&format!("call[{}]", fn_ref(program, *func)), args),
            Op::Dispatch { on, path, args } => {
                let path: Vec<&str> = path.iter().map(|d| deriv_name(*d)).collect();
                let groups = [self.atom(on), self.list(args)];
                self.groups(&format!("dispatch[{}]", path.join(" ")), &groups);
            }
            Op::Attach { forward, f, rule } => {
                self.call(if *forward { "attach_jvp" } else { "attach_vjp" }, &[f, rule]);
            }
            Op::If { cond, then, otherwise } => {
                let cond = self.atom(cond);
                let _ = write!(self.out, "if {cond} ");
                self.braces(then);
                self.out.push_str(" else ");
                self.braces(otherwise);
            }
            Op::Switch { on, arms, default } => {
                let adt = self.adt_of(on);
                let on = self.atom(on);
                let _ = writeln!(self.out, "switch {on} {{");
                self.indent += 1;
                for (variant, block) in arms {
                    self.start_line();
                    let _ = write!(self.out, "{} => ", variant_ref(program, adt, *variant));
                    self.braces(block);
                    self.out.push('\n');
                }
                if let Some(block) = default {
                    self.start_line();
                    self.out.push_str("else => ");
                    self.braces(block);
                    self.out.push('\n');
                }
                self.indent -= 1;
                self.start_line();
                self.out.push('}');
            }
            Op::For { count, index, state, init, body } => {
                let _ = write!(self.out, "for {} < {} ", self.def(*index), self.atom(count));
                self.state(state, init);
                self.braces(body);
            }
            Op::While { state, init, cond, body } => {
                self.out.push_str("while ");
                self.state(state, init);
                self.braces(cond);
                self.out.push_str(" do ");
                self.braces(body);
            }
            Op::Build { extents, indices, body } => {
                let parts: Vec<String> =
                    indices.iter().zip(extents).map(|(v, e)| format!("{} < {}", self.def(*v), self.atom(e))).collect();
                let _ = write!(self.out, "build {} ", parts.join(", "));
                self.braces(body);
            }

            Op::Array(items) => self.call_list("array", items),
            Op::Fill { extents, value } => {
                let groups = [self.list(extents), self.atom(value)];
                self.groups("fill", &groups);
            }
            Op::Index { array, at } => {
                let groups = [self.atom(array), self.list(at)];
                self.groups("index", &groups);
            }
            Op::Slice { array, subs } => {
                let groups = [self.atom(array), self.subs(subs)];
                self.groups("slice", &groups);
            }
            Op::Update { array, subs, value } => {
                let groups = [self.atom(array), self.subs(subs), self.atom(value)];
                self.groups("update", &groups);
            }
            Op::Dim { array, axis } => self.call(&format!("dim[{axis}]"), &[array]),
            Op::Reduce(op, a) => self.call(&format!("reduce[{}]", reduce_name(*op)), &[a]),
            Op::ArgReduce { max, array } => self.call(if *max { "arg_max" } else { "arg_min" }, &[array]),
            Op::Argsort(a) => self.call("argsort", &[a]),
            Op::Gather { array, positions } => self.call("gather", &[array, positions]),
            Op::ScatterAdd { base, positions, values } => self.call("scatter_add", &[base, positions, values]),
            Op::Concat(a, b) => self.call("concat", &[a, b]),
            Op::Transpose(a) => self.call("transpose", &[a]),
            Op::MatMul(a, b) => self.call("matmul", &[a, b]),

            Op::SpaceAdd(a, b) => self.call("space_add", &[a, b]),
            Op::SpaceNeg(a) => self.call("space_neg", &[a]),
            Op::SpaceScale(a, b) => self.call("space_scale", &[a, b]),
            Op::SpaceDot(a, b) => self.call("space_dot", &[a, b]),
            Op::ZeroLike(a) => self.call("zero_like", &[a]),
            Op::Move(a, b) => self.call("move", &[a, b]),
            Op::Inspect(what, args) => self.call_list(inspect_name(*what), args),

            Op::Zero => self.call("zero", &[]),
            Op::Densify { tan, like } => self.call("densify", &[tan, like]),
            Op::Spread { tan, extents } => {
                let groups = [self.atom(tan), self.list(extents)];
                self.groups("spread", &groups);
            }
            Op::Sparse(a) => self.call("sparse", &[a]),
            Op::TanPart { tan, step } => self.step("tan_part", tan, step),
            Op::TanAdt { adt, variant, fields } => {
                let (ty, variant) = (adt_ref(program, *adt), variant_ref(program, Some(*adt), *variant));
                self.call_list(&format!("tan_adt[{ty} {variant}]"), fields);
            }
            Op::TanClosure { code, captures } => {
                self.call_list(&format!("tan_closure[{}]", fn_ref(program, *code)), captures);
            }
            Op::TanUpdate { tan, subs, extents, value } => {
                let groups = [self.atom(tan), self.subs(subs), self.list(extents), self.atom(value)];
                self.groups("tan_update", &groups);
            }

            Op::AccNew(None) => self.call("acc_new", &[]),
            Op::AccNew(Some(a)) => self.call("acc_new", &[a]),
            Op::AccNull => self.call("acc_null", &[]),
            Op::AccPart { acc, step } => self.step("acc_part", acc, step),
            Op::AccAdd { acc, value } => self.call("acc_add", &[acc, value]),
            Op::AccTake(a) => self.call("acc_take", &[a]),

            Op::Equal(a, b) => self.call("equal", &[a, b]),
            Op::ToStr(a) => self.call("to_str", &[a]),
            Op::StrConcat(a, b) => self.call("str_concat", &[a, b]),
            Op::StopGradient(a) => self.call("stop_gradient", &[a]),
            Op::Probe { label, value, backward } => {
                self.call(if *backward { "probe_backward" } else { "probe" }, &[label, value]);
            }
            Op::Assert { cond, message } => self.call("assert", &[cond, message]),
            Op::Panic(a) => self.call("panic", &[a]),
            Op::CheckSize { actual, expected, what, size } => {
                self.call(&format!("check_size[{} {}]", quoted(what), quoted(size)), &[actual, expected]);
            }
            Op::Effect(effect, args) => self.call_list(&format!("effect[{}]", effect_name(*effect)), args),

            Op::Ad(op) => match op.ad() {
                AdOp::Jvp { f, x, dx } => self.call("ad_jvp", &[f, x, dx]),
                AdOp::Vjp { f, x } => self.call("ad_vjp", &[f, x]),
                AdOp::Pullback { f, x } => self.call("ad_pullback", &[f, x]),
            },
        }
    }
}
