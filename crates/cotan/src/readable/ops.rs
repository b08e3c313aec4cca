//! Operations in Cotan's notation.
//!
//! In: an operation whose operands have names or wait to be written. Out: an expression, a statement, or a block.

use super::{Bind, Ending, Printer, Text, fn_name};
use crate::io::Types;
use cotan_ir::{
    AdOp, AdtId, AdtKind, Atom, Effect, Inspect, Op, Operator, ReduceOp, Step, Stmt, Sub, Type, TypeId, Var,
};
use cotan_prim::Prim;

impl<A: Operator> Printer<'_, A> {
    fn type_of(&self, atom: &Atom) -> Option<TypeId> {
        atom.var().map(|v| self.func.vars[v].ty)
    }

    fn adt_of(&self, atom: &Atom) -> Option<AdtId> {
        match self.program.ty(self.type_of(atom)?) {
            Type::Adt(id) => Some(*id),
            _ => None,
        }
    }

    /// `.name` of a field.
    fn field(&self, adt: Option<AdtId>, variant: u32, index: u32) -> String {
        let field = adt.and_then(|id| self.program.adts[id].variants.get(variant as usize)?.fields.get(index as usize));
        match field {
            Some((name, _)) => format!(".{}", field_name(name)),
            None => format!(".{index}"),
        }
    }

    /// `Name { a: 1, b: 2 }`, `K(1, 2)`.
    fn constructor(&mut self, adt: AdtId, variant: u32, fields: &[Atom]) -> String {
        let def = &self.program.adts[adt];
        let shape = &def.variants[variant as usize];
        let name = match def.kind {
            AdtKind::Struct => def.name.split('<').next().unwrap_or(&def.name).to_string(),
            AdtKind::Enum => fn_name(&shape.name),
            AdtKind::Residual if def.variants.len() > 1 => fn_name(&shape.name),
            AdtKind::Residual => "Saved".to_string(),
        };
        let texts: Vec<String> = fields.iter().map(|a| self.atom(a).text).collect();
        if texts.is_empty() {
            return name;
        }
        if shape.named || def.kind != AdtKind::Enum {
            let pairs: Vec<String> =
                shape.fields.iter().zip(texts).map(|((n, _), t)| format!("{}: {t}", field_name(n))).collect();
            return format!("{name} {{ {} }}", pairs.join(", "));
        }
        format!("{name}({})", texts.join(", "))
    }

    fn subs(&mut self, subs: &[Sub]) -> String {
        let texts: Vec<String> = subs
            .iter()
            .map(|sub| match sub {
                Sub::At(a) => self.atom(a).text,
                Sub::Range(a, b) => {
                    format!("{}..{}", self.atom(a).at_least(Bind::Sum), self.atom(b).at_least(Bind::Sum))
                }
            })
            .collect();
        texts.join(", ")
    }

    /// A part of a tangent or accumulator. The extents are not shown.
    fn part(&mut self, base: &Atom, step: &Step) -> Text {
        let of = self.atom(base).at_least(Bind::Tight);
        Text::tight(match step {
            Step::Proj(i) => format!("{of}.{i}"),
            Step::Field { adt, variant, index } => format!("{of}{}", self.field(Some(*adt), *variant, *index)),
            Step::Capture { code, index } => {
                let captures = self.program.fns[*code].captures.as_ref();
                let name = captures.and_then(|c| c.get(*index as usize)).map_or(index.to_string(), |c| c.name.clone());
                format!("{of}.{name}")
            }
            Step::Index { subs, .. } => format!("{of}[{}]", self.subs(subs)),
        })
    }

    fn call(&mut self, name: &str, args: &[&Atom]) -> Text {
        let texts: Vec<String> = args.iter().map(|a| self.atom(a).text).collect();
        Text::tight(format!("{name}({})", texts.join(", ")))
    }

    fn infix(&mut self, op: &str, bind: Bind, tighter: Bind, a: &Atom, b: &Atom) -> Text {
        let (a, b) = (self.atom(a).at_least(bind), self.atom(b).at_least(tighter));
        Text { text: format!("{a} {op} {b}"), bind }
    }

    fn prim(&mut self, prim: Prim, args: &[Atom]) -> Text {
        let infix = match prim {
            Prim::Add => Some(("+", Bind::Sum, Bind::Product)),
            Prim::Sub => Some(("-", Bind::Sum, Bind::Product)),
            Prim::Mul | Prim::AMul => Some(("*", Bind::Product, Bind::Unary)),
            Prim::Div => Some(("/", Bind::Product, Bind::Unary)),
            Prim::Rem => Some(("%", Bind::Product, Bind::Unary)),
            Prim::Eq => Some(("==", Bind::Compare, Bind::Sum)),
            Prim::Ne => Some(("!=", Bind::Compare, Bind::Sum)),
            Prim::Lt => Some(("<", Bind::Compare, Bind::Sum)),
            Prim::Le => Some(("<=", Bind::Compare, Bind::Sum)),
            Prim::Gt => Some((">", Bind::Compare, Bind::Sum)),
            Prim::Ge => Some((">=", Bind::Compare, Bind::Sum)),
            Prim::And => Some(("&&", Bind::And, Bind::Compare)),
            Prim::Or => Some(("||", Bind::Or, Bind::And)),
            _ => None,
        };
        match (prim, infix, args) {
            (_, Some((op, bind, tighter)), [a, b]) => self.infix(op, bind, tighter, a, b),
            (Prim::Pow | Prim::PowI, _, [a, b]) => {
                let (a, b) = (self.atom(a).at_least(Bind::Tight), self.atom(b).at_least(Bind::Unary));
                Text { text: format!("{a} ** {b}"), bind: Bind::Power }
            }
            (Prim::Neg, _, [a]) => Text { text: format!("-{}", self.atom(a).at_least(Bind::Unary)), bind: Bind::Unary },
            (Prim::Not, _, [a]) => Text { text: format!("!{}", self.atom(a).at_least(Bind::Unary)), bind: Bind::Unary },
            (Prim::IMul, _, [a, b]) => {
                let (a, b) = (self.atom(a).text, self.atom(b).at_least(Bind::Unary));
                Text { text: format!("float({a}) * {b}"), bind: Bind::Product }
            }
            (Prim::Select, _, [c, a, b]) => {
                let (c, a, b) = (self.atom(c).text, self.atom(a).text, self.atom(b).text);
                Text { text: format!("if {c} {{ {a} }} else {{ {b} }}"), bind: Bind::Loose }
            }
            _ => Text::tight(format!("{}({})", prim.name(), self.atoms(args))),
        }
    }

    /// An operation without blocks that has a result.
    pub(super) fn expression(&mut self, stmt: &Stmt<A>) -> Text {
        match &stmt.op {
            Op::Copy(a) | Op::Sparse(a) | Op::Spread { tan: a, .. } | Op::AccTake(a) => self.atom(a),
            Op::Prim(prim, args) | Op::Map(prim, args) => self.prim(*prim, args),
            Op::Tuple(parts) => Text::tight(format!("({})", self.atoms(parts))),
            Op::Proj(a, i) => Text::tight(format!("{}.{i}", self.atom(a).at_least(Bind::Tight))),
            Op::Adt { adt, variant, fields } | Op::TanAdt { adt, variant, fields } => {
                Text::tight(self.constructor(*adt, *variant, fields))
            }
            Op::Field { base, variant, index } => {
                let adt = self.adt_of(base);
                let field = self.field(adt, *variant, *index);
                Text::tight(format!("{}{field}", self.atom(base).at_least(Bind::Tight)))
            }
            Op::Closure { code, captures } | Op::TanClosure { code, captures } => {
                let func = &self.program.fns[*code];
                let names: Vec<String> = func.captures.iter().flatten().map(|c| c.name.clone()).collect();
                let name = fn_name(&func.name);
                let pairs: Vec<String> =
                    names.into_iter().zip(captures).map(|(n, a)| format!("{n}: {}", self.atom(a).text)).collect();
                Text::tight(if pairs.is_empty() { name } else { format!("{name} {{ {} }}", pairs.join(", ")) })
            }
            Op::Capture { base, code, index } => {
                let captures = self.program.fns[*code].captures.as_ref();
                let name = captures.and_then(|c| c.get(*index as usize)).map_or(index.to_string(), |c| c.name.clone());
                Text::tight(format!("{}.{name}", self.atom(base).at_least(Bind::Tight)))
            }
            Op::Call { func, args } => {
                let name = fn_name(&self.program.fns[*func].name);
                Text::tight(format!("{name}({})", self.atoms(args)))
            }
            Op::Dispatch { on, path, args } => {
                let mut name = self.atom(on).at_least(Bind::Tight);
                for which in path {
                    name.push_str(&format!(".{which:?}").to_lowercase());
                }
                Text::tight(format!("{name}({})", self.atoms(args)))
            }
            Op::Attach { forward, f, rule } => self.call(if *forward { "with_jvp" } else { "with_vjp" }, &[f, rule]),
            Op::Array(items) => Text::tight(format!("[{}]", self.atoms(items))),
            Op::Fill { extents, value } => {
                let value = self.atom(value).text;
                let ranges: Vec<String> = extents.iter().map(|e| format!("_ in 0..{}", self.atom(e).text)).collect();
                Text::tight(format!("[{value} for {}]", ranges.join(", ")))
            }
            Op::Index { array, at } => {
                let array = self.atom(array).at_least(Bind::Tight);
                Text::tight(format!("{array}[{}]", self.atoms(at)))
            }
            Op::Slice { array, subs } => {
                let array = self.atom(array).at_least(Bind::Tight);
                Text::tight(format!("{array}[{}]", self.subs(subs)))
            }
            Op::Update { array, subs, value } | Op::TanUpdate { tan: array, subs, value, .. } => {
                let array = self.atom(array).at_least(Bind::Tight);
                let at = self.subs(subs);
                Text::tight(format!("{array}.with([{at}], {})", self.atom(value).text))
            }
            Op::Dim { array, axis: 0 } => self.call("len", &[array]),
            Op::Dim { array, axis } => Text::tight(format!("size({}, {axis})", self.atom(array).text)),
            Op::Reduce(op, a) => {
                let name = match op {
                    ReduceOp::Sum => "sum",
                    ReduceOp::Product => "product",
                    ReduceOp::Max => "maximum",
                    ReduceOp::Min => "minimum",
                };
                self.call(name, &[a])
            }
            Op::ArgReduce { max, array } => self.call(if *max { "argmax" } else { "argmin_index" }, &[array]),
            Op::Argsort(a) => self.call("argsort", &[a]),
            Op::Gather { array, positions } => self.call("gather", &[array, positions]),
            Op::ScatterAdd { base, positions, values } => self.call("scatter_add", &[base, positions, values]),
            Op::Concat(a, b) => self.call("concat", &[a, b]),
            Op::Transpose(a) => self.call("transposed", &[a]),
            Op::MatMul(a, b) => self.infix("@", Bind::Product, Bind::Unary, a, b),
            Op::SpaceAdd(a, b) => self.infix("+", Bind::Sum, Bind::Product, a, b),
            Op::SpaceNeg(a) => Text { text: format!("-{}", self.atom(a).at_least(Bind::Unary)), bind: Bind::Unary },
            Op::SpaceScale(a, b) => self.infix("*", Bind::Product, Bind::Unary, a, b),
            Op::SpaceDot(a, b) => self.call("dot", &[a, b]),
            Op::ZeroLike(a) => self.call("zero_like", &[a]),
            Op::Move(a, b) => self.call("move", &[a, b]),
            Op::Inspect(what, args) => {
                let name = match what {
                    Inspect::LeafNumbers => "leaf_numbers",
                    Inspect::LeafName => "leaf_name",
                    Inspect::TangentFrom => "tangent_from",
                    Inspect::Compare => "compare",
                };
                self.call(name, &args.iter().collect::<Vec<_>>())
            }
            Op::Zero => Text::tight("0.0"),
            Op::Densify { tan, like: _ } => self.atom(tan),
            Op::TanPart { tan, step } | Op::AccPart { acc: tan, step } => self.part(tan, step),
            Op::AccNew(Some(start)) => self.atom(start),
            Op::AccNew(None) => Text::tight("zero"),
            Op::AccNull => Text::tight("nowhere"),
            Op::Equal(a, b) => self.infix("==", Bind::Compare, Bind::Sum, a, b),
            Op::ToStr(a) => self.call("str", &[a]),
            Op::StrConcat(a, b) => self.infix("+", Bind::Sum, Bind::Product, a, b),
            Op::StopGradient(a) => self.call("stop_gradient", &[a]),
            Op::Probe { label, value, .. } => self.call("probe", &[label, value]),
            Op::Panic(a) => self.call("panic", &[a]),
            Op::Ad(op) => match op.ad() {
                AdOp::Jvp { f, x, dx } => self.call("jvp", &[f, x, dx]),
                AdOp::Vjp { f, x } => self.call("vjp", &[f, x]),
                AdOp::Pullback { f, x } => self.call("pullback", &[f, x]),
            },
            Op::AccAdd { .. }
            | Op::Assert { .. }
            | Op::CheckSize { .. }
            | Op::Effect(..)
            | Op::If { .. }
            | Op::Switch { .. }
            | Op::For { .. }
            | Op::While { .. }
            | Op::Build { .. } => Text::tight("()"),
        }
    }

    /// An operation without a result.
    pub(super) fn effect(&mut self, op: &Op<A>) -> Option<String> {
        Some(match op {
            Op::AccAdd { acc, value } => {
                let acc = self.atom(acc).text;
                format!("{acc} += {};", self.atom(value).text)
            }
            Op::Assert { cond, message } => format!("{};", self.call("assert", &[cond, message]).text),
            Op::CheckSize { actual, expected, what, .. } => {
                let actual = self.atom(actual).at_least(Bind::Sum);
                format!("assert({actual} == {}, {what:?});", self.atom(expected).at_least(Bind::Sum))
            }
            Op::Effect(Effect::Progress, args) => format!("progress({});", self.atoms(args)),
            Op::Effect(Effect::WriteText, args) => format!("write_text({});", self.atoms(args)),
            _ => return None,
        })
    }

    /// An operation with blocks; says whether it was one.
    pub(super) fn structured(&mut self, stmt: &Stmt<A>) -> bool {
        match &stmt.op {
            Op::If { cond, then, otherwise } => {
                let cond = self.atom(cond).text;
                let (head, tail) = self.binding(&stmt.vars);
                self.line(&format!("{head}if {cond} {{"));
                self.inside(|p| p.body(then, Ending::Value));
                if otherwise.stmts.is_empty() && otherwise.results.is_empty() {
                    self.line(&format!("}}{tail}"));
                    return true;
                }
                self.line("} else {");
                self.inside(|p| p.body(otherwise, Ending::Value));
                self.line(&format!("}}{tail}"));
            }
            Op::Switch { on, arms, default } => {
                let adt = self.adt_of(on);
                let on = self.atom(on).text;
                let (head, tail) = self.binding(&stmt.vars);
                self.line(&format!("{head}match {on} {{"));
                self.inside(|p| {
                    for (variant, block) in arms {
                        let name = adt.map_or(variant.to_string(), |id| {
                            fn_name(&p.program.adts[id].variants[*variant as usize].name)
                        });
                        p.line(&format!("{name} => {{"));
                        p.inside(|p| p.body(block, Ending::Value));
                        p.line("}");
                    }
                    if let Some(block) = default {
                        p.line("_ => {");
                        p.inside(|p| p.body(block, Ending::Value));
                        p.line("}");
                    }
                });
                self.line(&format!("}}{tail}"));
            }
            Op::For { count, index, state, init, body } => {
                let count = self.atom(count).at_least(Bind::Sum);
                self.state(state, init);
                let collected = self.collected(&stmt.vars, state);
                let index = self.declare(*index);
                self.line(&format!("for {index} in 0..{count} {{"));
                self.inside(|p| p.body(body, Ending::Next { state, collected: &collected }));
                self.line("}");
                self.rename(&stmt.vars, state);
            }
            Op::While { state, init, cond, body } => {
                self.state(state, init);
                let collected = self.collected(&stmt.vars, state);
                if cond.stmts.is_empty() {
                    let text = self.atoms(&cond.results);
                    self.line(&format!("while {text} {{"));
                } else {
                    self.line("while {");
                    self.inside(|p| p.body(cond, Ending::Value));
                    self.line("} {");
                }
                self.inside(|p| p.body(body, Ending::Next { state, collected: &collected }));
                self.line("}");
                self.rename(&stmt.vars, state);
            }
            Op::Build { extents, indices, body } => {
                let extents: Vec<String> = extents.iter().map(|e| self.atom(e).at_least(Bind::Sum)).collect();
                let (head, tail) = self.binding(&stmt.vars);
                let names: Vec<String> = indices.iter().map(|i| self.declare(*i)).collect();
                let ranges: Vec<String> = names.iter().zip(extents).map(|(i, n)| format!("{i} in 0..{n}")).collect();
                self.line(&format!("{head}[{{"));
                self.inside(|p| p.body(body, Ending::Value));
                self.line(&format!("}} for {}]{tail}", ranges.join(", ")));
            }
            _ => return false,
        }
        true
    }

    fn inside(&mut self, write: impl FnOnce(&mut Self)) {
        self.depth += 1;
        write(self);
        self.depth -= 1;
    }

    /// `let x = ` and `;`, or nothing where there are no results.
    fn binding(&mut self, vars: &[Var]) -> (String, &'static str) {
        if vars.is_empty() {
            return (String::new(), "");
        }
        (format!("let {} = ", self.pattern(vars)), ";")
    }

    /// Declares the state of a loop.
    fn state(&mut self, state: &[Var], init: &[Atom]) {
        for (var, start) in state.iter().zip(init) {
            let start = self.atom(start).text;
            let name = self.declare(*var);
            self.line(&format!("let mut {name} = {start};"));
        }
    }

    /// Declares the arrays that a loop collects.
    fn collected(&mut self, vars: &[Var], state: &[Var]) -> Vec<Var> {
        let collected: Vec<Var> = vars.iter().skip(state.len()).copied().collect();
        for var in &collected {
            let name = self.declare(*var);
            let ty = Types::from(self.program).name(self.func.vars[*var].ty);
            self.line(&format!("let mut {name}: {ty} = [];"));
        }
        collected
    }

    /// After a loop its results are the state.
    fn rename(&mut self, vars: &[Var], state: &[Var]) {
        for (result, var) in vars.iter().zip(state) {
            if let Some(name) = self.names.get(var).cloned() {
                self.names.insert(*result, name);
            }
        }
    }
}

/// A field of a residual is called after the value that it keeps, perhaps with a number: `slope.0`.
fn field_name(name: &str) -> String {
    let name = fn_name(name);
    if name.contains('_') && name.starts_with(|c: char| c.is_ascii_digit()) { format!("v{name}") } else { name }
}
