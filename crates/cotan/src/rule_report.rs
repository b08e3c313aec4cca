//! Every rule that a run reaches, against what it stands for.
//!
//! In: a function, perhaps arguments. Out: a [`RuleReport`]: for each function with a rule that was called on the way, whether
//! `check_rule` of the library passes at the points of its first calls.

use crate::entry::{self, Entry};
use crate::failure::{Failure, guard};
use crate::inputs::{self, Given};
use crate::io::make;
use crate::options::AdMode;
use crate::pipeline::{Code, Compiled};
use crate::points;
use crate::random::Random;
use crate::session::Session;
use crate::value::Value;
use cotan_core::Program as Core;
use cotan_interp::value::Closure;
use cotan_ir::FnId;
use cotan_lower::{Root, RuleChecks};
use cotan_source::{Diagnostic, SourceMap, Span};
use std::path::Path;
use std::rc::Rc;

/// So many calls of each function are looked at.
const MOST_CALLS: usize = 3;

/// A module that names the library's check, so that it is there whether or not the program uses it.
const CHECKER: (&str, &str) =
    ("rule checks", "fn check_any_rule<A, B>(f: fn(A) -> B, x: A) -> () { std::check_rule(f, x) }");

/// What became of the rule of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It agrees with the body at so many calls.
    Right(usize),
    /// It does not; why.
    Wrong(String),
    /// It belongs to the library, and was not asked for.
    Skipped,
}

/// The rules that a run reached.
#[derive(Clone, Debug)]
pub struct RuleReport {
    function: String,
    /// Functions with rules: name, place, what was found.
    rules: Vec<(String, Span, Verdict)>,
    made_up: Vec<String>,
    seed: u64,
}

impl RuleReport {
    /// Whether no rule is wrong.
    pub fn agrees(&self) -> bool {
        !self.rules.iter().any(|(_, _, v)| matches!(v, Verdict::Wrong(_)))
    }

    /// Names of the functions, and what was found.
    pub fn rules(&self) -> impl Iterator<Item = (&str, &Verdict)> {
        self.rules.iter().map(|(name, _, verdict)| (name.as_str(), verdict))
    }

    /// The report as text.
    pub fn text(&self, sources: &SourceMap) -> String {
        let count = |f: &dyn Fn(&Verdict) -> bool| self.rules.iter().filter(|(_, _, v)| f(v)).count();
        let mut out = format!(
            "rules reached by `{}`: {} right, {} WRONG",
            self.function,
            count(&|v| matches!(v, Verdict::Right(_))),
            count(&|v| matches!(v, Verdict::Wrong(_)))
        );
        let skipped = count(&|v| *v == Verdict::Skipped);
        if skipped > 0 {
            out.push_str(&format!(", {skipped} of the library left out (--library checks them too)"));
        }
        for (name, span, verdict) in &self.rules {
            let place = match (sources.get(span.file), sources.line_column(*span)) {
                (Some(source), Some((line, column))) => format!(" ({}:{line}:{column})", source.name),
                _ => String::new(),
            };
            match verdict {
                Verdict::Right(calls) => out.push_str(&format!("\n  right  `{name}`{place}, at {calls} of its calls")),
                Verdict::Wrong(why) => out.push_str(&format!("\n  WRONG  `{name}`{place}: {why}")),
                Verdict::Skipped => {}
            }
        }
        if !self.made_up.is_empty() {
            out.push_str(&format!("\n  random arguments (seed {}): {}", self.seed, self.made_up.join(", ")));
        }
        out
    }
}

/// Checks the rules that a run of a function reaches; those of the library only if `library`.
pub fn check_rules(
    session: &mut Session,
    file: &Path,
    function: &str,
    given: &[Given],
    library: bool,
) -> Result<RuleReport, Failure> {
    let checked = session.check_file_beside(file, CHECKER.0, CHECKER.1)?;
    let id = checked.function(function)?;
    let core = checked.core.clone();
    // Rules are looked at in the transformed program.
    session.options.ad = AdMode::Transform;
    let (mut compiled, checks) = session.compile_with_checks(checked.core, id)?;
    let params = compiled.params(0);
    if let Some(param) = params.iter().find(|p| compiled.types().holds_function(p.ty)) {
        return Err(inputs::outside(function, param, compiled.types()).into());
    }
    let optional = inputs::optional(function, &params, given, compiled.types(), &mut session.sources)?;
    let seed = session.options.seed;
    let mut random = Random::new(seed);
    session.start(&mut compiled);
    if let Code::Machine(machine) = &mut compiled.code {
        machine.keep_rules();
    }
    let (args, _) = points::find(session, &mut compiled, (&core, id), &optional, &mut random)?;
    let mut made_up = Vec::new();
    for ((param, value), arg) in params.iter().zip(&optional).zip(&args) {
        if value.is_none() {
            made_up.push(format!("{} = {}", param.name, crate::io::short_text(arg, param.ty, compiled.types())));
        }
    }

    if let Code::Machine(machine) = &mut compiled.code {
        machine.audit(MOST_CALLS);
    }
    session.call(&mut compiled, 0, args)?;
    let calls = match &mut compiled.code {
        Code::Machine(machine) => machine.audited().calls,
        Code::Values(_) | Code::Expanded(_) | Code::Reference(_) => Default::default(),
    };
    let mut rules = Vec::new();
    for ((f, attached), calls) in calls {
        let Code::Machine(machine) = &compiled.code else { continue };
        let func = &machine.program.fns[f];
        // A rule that was attached is known by its own place.
        let span = attached.map_or(func.span, |rule| machine.program.fns[rule].span);
        let name = match calls.first().and_then(|args| args.first()) {
            Some(Value::Fn(c)) if c.attached => match &c.captures[0] {
                Value::Fn(f) => machine.program.fns[f.code].name.clone(),
                _ => func.name.clone(),
            },
            _ => func.name.clone(),
        };
        let names: Vec<String> = func.params.iter().map(|p| func.vars[*p].name.clone().unwrap_or_default()).collect();
        let inside = session.sources.get(span.file).is_some_and(|s| s.name.starts_with("std/"));
        let verdict = if inside && !library {
            Verdict::Skipped
        } else {
            session.verdict(&mut compiled, &checks, f, &names, calls)?
        };
        rules.push((name, span, verdict));
    }
    Ok(RuleReport { function: function.to_string(), rules, made_up, seed })
}

impl Session {
    fn compile_with_checks(&mut self, mut core: Core, id: cotan_core::FnId) -> Result<(Compiled, RuleChecks), Failure> {
        let checker = core.fns.iter_enumerated().find(|(_, f)| f.name == "check_any_rule" && f.module == CHECKER.0);
        let Some((checker, _)) = checker else { return Err(Failure::bug("check the rules", "no `check_rule`")) };
        let root = Root::from(entry::add(&mut core, id, &Entry::Call));
        let lowered = guard("lower (cotan-lower)", || cotan_lower::lower_with_checks(&core, &[root], checker))?;
        let mut lowered = lowered.map_err(Failure::User)?;
        self.simplified(&mut lowered.program)?;
        let mut program = self.differentiated(&lowered.program)?;
        self.simplified(&mut program)?;
        let clauses = Default::default();
        Ok((Compiled { code: Code::Expanded(program), roots: lowered.roots, clauses }, lowered.checks))
    }

    /// Runs the library's check at some calls of a function.
    fn verdict(
        &mut self,
        compiled: &mut Compiled,
        checks: &RuleChecks,
        f: FnId,
        names: &[String],
        calls: Vec<Vec<Value>>,
    ) -> Result<Verdict, Failure> {
        let count = calls.len();
        for mut args in calls {
            let Code::Machine(machine) = &compiled.code else { break };
            let program = &machine.program;
            let of_value = |code: FnId| program.fns[code].vars[program.fns[code].params[0]].ty;
            let (value, ty) = match checks.values.get(&f) {
                Some(code) => (
                    Value::Fn(Rc::new(Closure { code: *code, captures: Vec::new(), attached: false })),
                    of_value(*code),
                ),
                None => (args.remove(0), of_value(f)),
            };
            let Some(check) = checks.by_type.get(&ty).copied() else {
                return Ok(Verdict::Wrong(
                    "it cannot be checked: the function was attached by an unknown function".into(),
                ));
            };
            let x = if args.len() == 1 { args.remove(0) } else { make::tuple(args) };
            compiled.roots.push(check);
            let outcome = self.call(compiled, compiled.roots.len() - 1, vec![value, x]);
            compiled.roots.pop();
            match outcome {
                Ok(_) => {}
                Err(Failure::User(diagnostics)) => return Ok(Verdict::Wrong(reason(&diagnostics, names))),
                Err(bug) => return Err(bug),
            }
        }
        Ok(Verdict::Right(count))
    }
}

/// What the check says, with parameters by their names.
fn reason(diagnostics: &[Diagnostic], names: &[String]) -> String {
    let text = diagnostics.first().map(|d| d.message.clone()).unwrap_or_default();
    let text = text.strip_prefix("panic: ").unwrap_or(&text);
    let text = text.strip_prefix("check_rule: ").unwrap_or(text).to_string();
    if !text.contains("argument") && !text.contains("the derivative") {
        return text;
    }
    // `.1[2]` of the tuple of arguments is `[2]` of the second parameter.
    for mark in ["at `.", "at ."] {
        let Some(at) = text.rfind(mark) else { continue };
        let (before, rest) = text.split_at(at + mark.len() - 1);
        if names.len() == 1 && !names[0].is_empty() {
            return format!("{before}{}{rest}", names[0]);
        }
        let digits: String = rest[1..].chars().take_while(char::is_ascii_digit).collect();
        if let Some(name) = digits.parse::<usize>().ok().and_then(|i| names.get(i)) {
            return format!("{before}{name}{}", &rest[1 + digits.len()..]);
        }
    }
    text
}
