//! The IR as a program that a Cotan programmer can read.
//!
//! In: functions of the IR. Out: text in Cotan's notation: `x_bar += ...` for accumulators, names of the user where there are
//! some, an operation that is used once stands where it is used. It is for eyes; the exact form is `--stage final`.

mod ops;

use crate::io::Types;
use cotan_ir::{Atom, Block, FnId, Func, Lit, Operator, Program, Stmt, Type, Var};
use rustc_hash::{FxHashMap, FxHashSet};
use std::fmt::Write;

/// How tightly an expression binds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Bind {
    /// Needs parentheses inside any operator.
    Loose,
    /// `||`.
    Or,
    /// `&&`.
    And,
    /// Comparisons.
    Compare,
    /// `+`, `-`.
    Sum,
    /// `*`, `/`, `%`, `@`.
    Product,
    /// Unary minus.
    Unary,
    /// `**`.
    Power,
    /// Names, calls, literals, postfix.
    Tight,
}

/// An expression and how tightly it binds.
#[derive(Clone)]
pub(crate) struct Text {
    pub(crate) text: String,
    pub(crate) bind: Bind,
}

impl Text {
    pub(crate) fn tight(text: impl Into<String>) -> Text {
        Text { text: text.into(), bind: Bind::Tight }
    }

    /// The text as an operand that must bind at least so tightly.
    pub(crate) fn at_least(&self, bind: Bind) -> String {
        if self.bind >= bind { self.text.clone() } else { format!("({})", self.text) }
    }
}

/// Longer expressions get a line and a name of their own.
const LONGEST_INLINE: usize = 72;

/// The functions as readable text, in the order given.
pub fn print<A: Operator>(program: &Program<A>, functions: &[FnId]) -> String {
    let texts: Vec<String> = functions.iter().map(|id| function(program, *id)).collect();
    texts.join("\n")
}

/// One function.
fn function<A: Operator>(program: &Program<A>, id: FnId) -> String {
    let func = &program.fns[id];
    let mut printer = Printer::new(program, func);
    let types = Types::from(program);
    let params: Vec<String> = func
        .params
        .iter()
        .map(|p| {
            let name = printer.declare(*p);
            format!("{name}: {}", types.name(func.vars[*p].ty))
        })
        .collect();
    let results: Vec<String> = func.results.iter().map(|t| types.name(*t)).collect();
    let result = match results.len() {
        1 => results.concat(),
        _ => format!("({})", results.join(", ")),
    };
    let _ = writeln!(printer.out, "fn {}({}) -> {result} {{", fn_name(&func.name), params.join(", "));
    printer.depth = 1;
    printer.body(&func.body, Ending::Value);
    printer.out.push_str("}\n");
    printer.out
}

/// A function's name as an identifier: `f.bwd` is `f_bwd`.
pub(crate) fn fn_name(name: &str) -> String {
    name.chars().map(|c| if c.is_alphanumeric() { c } else { '_' }).collect()
}

/// What happens with the results of a block.
#[derive(Clone, Copy)]
pub(crate) enum Ending<'a> {
    /// They are its value.
    Value,
    /// They become the next state, and elements of collected arrays.
    Next { state: &'a [Var], collected: &'a [Var] },
}

pub(crate) struct Printer<'p, A: Operator> {
    pub(crate) program: &'p Program<A>,
    pub(crate) func: &'p Func<A>,
    pub(crate) names: FxHashMap<Var, String>,
    taken: FxHashSet<String>,
    uses: FxHashMap<Var, usize>,
    /// Expressions that wait for their only use.
    waiting: FxHashMap<Var, Text>,
    /// Variables that may be written at their use: used once, in the block that defines them.
    movable: FxHashSet<Var>,
    /// Variables that are results of their block: they need no name of their own.
    yielded: FxHashSet<Var>,
    pub(crate) depth: usize,
    pub(crate) out: String,
}

impl<'p, A: Operator> Printer<'p, A> {
    fn new(program: &'p Program<A>, func: &'p Func<A>) -> Self {
        let mut printer = Printer {
            program,
            func,
            names: FxHashMap::default(),
            taken: FxHashSet::default(),
            uses: FxHashMap::default(),
            waiting: FxHashMap::default(),
            movable: FxHashSet::default(),
            yielded: FxHashSet::default(),
            depth: 0,
            out: String::new(),
        };
        printer.count(&func.body);
        printer
    }

    /// Counts uses, and finds the variables whose only use is in their own block.
    fn count(&mut self, block: &Block<A>) {
        let mut here: FxHashMap<Var, usize> = FxHashMap::default();
        for stmt in &block.stmts {
            stmt.op.for_each_atom(&mut |a: &Atom| {
                if let Atom::Var(v) = a {
                    *self.uses.entry(*v).or_default() += 1;
                    *here.entry(*v).or_default() += 1;
                }
            });
            stmt.op.for_each_block(&mut |b: &Block<A>| self.count(b));
        }
        for atom in &block.results {
            if let Atom::Var(v) = atom {
                *self.uses.entry(*v).or_default() += 1;
                *here.entry(*v).or_default() += 1;
                self.yielded.insert(*v);
            }
        }
        for stmt in &block.stmts {
            if let [v] = stmt.vars[..]
                && here.get(&v) == Some(&1)
                && self.uses.get(&v) == Some(&1)
            {
                self.movable.insert(v);
            }
        }
    }

    /// Gives a variable its name.
    pub(crate) fn declare(&mut self, var: Var) -> String {
        let base = match &self.func.vars[var].name {
            Some(name) => fn_name(name),
            None => self.made_up(var),
        };
        let mut name = base.clone();
        let mut n = 1;
        while !self.taken.insert(name.clone()) {
            n += 1;
            name = format!("{base}_{n}");
        }
        self.names.insert(var, name.clone());
        name
    }

    fn made_up(&self, var: Var) -> String {
        match self.program.ty(self.func.vars[var].ty) {
            Type::Acc(_) => "bar",
            Type::Tan(_) => "dot",
            Type::Array { .. } => "a",
            Type::Adt(_) | Type::Residual => "r",
            Type::Fn { .. } => "f",
            Type::I64 => "k",
            Type::Bool => "c",
            Type::F64 | Type::F32 | Type::Str | Type::Tuple(_) => "v",
        }
        .to_string()
    }

    /// An operand.
    pub(crate) fn atom(&mut self, atom: &Atom) -> Text {
        match atom {
            Atom::Var(v) => match self.waiting.remove(v) {
                Some(text) => text,
                None => Text::tight(self.names.get(v).cloned().unwrap_or_else(|| v.to_string())),
            },
            Atom::Lit(lit) => literal(lit),
        }
    }

    /// Several operands, separated by commas.
    pub(crate) fn atoms(&mut self, atoms: &[Atom]) -> String {
        let texts: Vec<String> = atoms.iter().map(|a| self.atom(a).text).collect();
        texts.join(", ")
    }

    pub(crate) fn line(&mut self, text: &str) {
        for line in text.lines() {
            let _ = writeln!(self.out, "{}{line}", "    ".repeat(self.depth));
        }
    }

    /// The statements and the end of a block.
    pub(crate) fn body(&mut self, block: &Block<A>, ending: Ending<'_>) {
        for stmt in &block.stmts {
            self.stmt(stmt);
        }
        match ending {
            Ending::Value => {
                if !block.results.is_empty() {
                    let text = self.atoms(&block.results);
                    self.line(&if block.results.len() == 1 { text } else { format!("({text})") });
                }
            }
            Ending::Next { state, collected } => {
                let (next, elements) = block.results.split_at(state.len().min(block.results.len()));
                let pairs: Vec<(String, String)> = state
                    .iter()
                    .zip(next)
                    .map(|(s, n)| (self.names.get(s).cloned().unwrap_or_default(), self.atom(n).text))
                    .filter(|(s, n)| s != n)
                    .collect();
                match pairs.as_slice() {
                    [] => {}
                    [(s, n)] => self.line(&format!("{s} = {n};")),
                    _ => {
                        let left: Vec<&str> = pairs.iter().map(|(s, _)| s.as_str()).collect();
                        let right: Vec<&str> = pairs.iter().map(|(_, n)| n.as_str()).collect();
                        self.line(&format!("({}) = ({});", left.join(", "), right.join(", ")));
                    }
                }
                for (array, element) in collected.iter().zip(elements) {
                    let name = self.names.get(array).cloned().unwrap_or_default();
                    let text = self.atom(element).text;
                    self.line(&format!("{name}.push({text});"));
                }
            }
        }
    }

    fn stmt(&mut self, stmt: &Stmt<A>) {
        if self.structured(stmt) {
            return;
        }
        if let Some(text) = self.effect(&stmt.op) {
            self.line(&text);
            return;
        }
        let text = self.expression(stmt);
        if stmt.vars.is_empty() {
            self.line(&format!("{};", text.text));
            return;
        }
        if let [var] = stmt.vars[..] {
            let moved = self.movable.contains(&var) && text.text.len() <= LONGEST_INLINE && !text.text.contains('\n');
            let named = self.func.vars[var].name.is_some() && text.bind != Bind::Tight && !self.yielded.contains(&var);
            if moved && !named {
                self.waiting.insert(var, text);
                return;
            }
            if !self.uses.contains_key(&var) {
                self.line(&format!("let _ = {};", text.text));
                return;
            }
        }
        let pattern = self.pattern(&stmt.vars);
        self.line(&format!("let {pattern} = {};", text.text));
    }

    /// The left side of a `let`.
    pub(crate) fn pattern(&mut self, vars: &[Var]) -> String {
        let names: Vec<String> =
            vars.iter().map(|v| if self.uses.contains_key(v) { self.declare(*v) } else { "_".into() }).collect();
        if names.len() == 1 { names.concat() } else { format!("({})", names.join(", ")) }
    }
}

/// A literal.
fn literal(lit: &Lit) -> Text {
    let text = match lit {
        Lit::F64(x) => float(*x),
        Lit::F32(x) => float(f64::from(*x)),
        Lit::I64(n) => n.to_string(),
        Lit::Bool(b) => b.to_string(),
        Lit::Str(s) => format!("{s:?}"),
        Lit::Unit => "()".into(),
    };
    let bind = if text.starts_with('-') { Bind::Unary } else { Bind::Tight };
    Text { text, bind }
}

fn float(x: f64) -> String {
    if x.is_nan() {
        "nan".into()
    } else if x.is_infinite() {
        if x > 0.0 { "inf".into() } else { "-inf".into() }
    } else {
        format!("{x:?}")
    }
}
