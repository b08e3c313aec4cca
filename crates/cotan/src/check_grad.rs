//! Forward mode, reverse mode and differences side by side.
//!
//! In: a function, perhaps arguments, a seed. Out: a [`GradientReport`] that says whether the three agree, and where not.
//! The identity `dot(jvp(dx), dy) == dot(dx, vjp(dy))` compares the modes with each other; central differences compare both with
//! the function itself, leaf by leaf.

use crate::differences::{self, Slope};
use crate::entry::{self, Entry};
use crate::failure::Failure;
use crate::inputs::{self, Given};
use crate::leaves::{self, Leaf};
use crate::pipeline::Compiled;
use crate::points;
use crate::random::Random;
use crate::session::Session;
use crate::value::Value;
use cotan_ir::TypeId;
use cotan_source::Diagnostic;
use std::fmt;
use std::path::Path;

/// More leaves are not visited one by one; a random choice of so many is.
const MOST_LEAVES: usize = 200;

/// A place where two ways to differentiate disagree.
#[derive(Clone, Debug)]
pub struct Disagreement {
    /// The leaf: `x[1]`, `result.0`.
    pub leaf: String,
    /// What is compared.
    pub what: &'static str,
    /// What the compiler found.
    pub found: f64,
    /// What it should be.
    pub expected: f64,
}

/// The outcome of a check.
#[derive(Clone, Debug)]
pub struct GradientReport {
    function: String,
    seed: u64,
    tolerance: f64,
    /// How many leaves the arguments have, and how many were visited one by one.
    leaves: (usize, usize),
    /// `dot(jvp, dy)` and `dot(dx, vjp)`.
    identity: (f64, f64),
    /// The largest relative difference of forward mode, of reverse mode.
    worst: (f64, f64),
    disagreements: Vec<Disagreement>,
    /// Leaves at which differences do not settle: kinks, noise, values that are not finite.
    unsettled: Vec<String>,
    /// Arguments that were made up, for the message.
    made_up: Vec<String>,
}

impl GradientReport {
    /// Whether everything agrees.
    pub fn agrees(&self) -> bool {
        self.disagreements.is_empty()
    }
}

impl fmt::Display for GradientReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = if self.agrees() { "agree" } else { "DISAGREE" };
        writeln!(f, "`{}`: forward mode, reverse mode and differences {verdict}", self.function)?;
        let (all, visited) = self.leaves;
        writeln!(f, "  leaves          {visited} of {all} visited one by one")?;
        writeln!(f, "  dot(jvp, dy)    {:?}", self.identity.0)?;
        writeln!(f, "  dot(dx, vjp)    {:?}", self.identity.1)?;
        writeln!(f, "  forward mode    largest relative difference {:.1e}", self.worst.0)?;
        write!(f, "  reverse mode    largest relative difference {:.1e}", self.worst.1)?;
        for wrong in self.disagreements.iter().take(20) {
            let off = (wrong.found - wrong.expected).abs();
            write!(
                f,
                "\n  {}: {} gives {:?}, expected {:?} (off by {off:.3e}; tolerance {:.0e})",
                wrong.leaf, wrong.what, wrong.found, wrong.expected, self.tolerance
            )?;
        }
        if self.disagreements.len() > 20 {
            write!(f, "\n  ... and {} more", self.disagreements.len() - 20)?;
        }
        if !self.unsettled.is_empty() {
            write!(f, "\n  differences do not settle (a kink, or noise) at: {}", self.unsettled.join(", "))?;
        }
        if !self.made_up.is_empty() {
            write!(f, "\n  random arguments (seed {}): {}", self.seed, self.made_up.join(", "))?;
        }
        Ok(())
    }
}

/// The program and its three entry points.
struct Check<'s> {
    session: &'s mut Session,
    compiled: Compiled,
    tys: Vec<TypeId>,
    names: Vec<String>,
}

const CALL: usize = 0;
const JVP: usize = 1;
const VJP: usize = 2;

/// Checks the derivatives of a function.
pub fn check_gradient(
    session: &mut Session,
    file: &Path,
    function: &str,
    given: &[Given],
    tolerance: f64,
) -> Result<GradientReport, Failure> {
    let checked = session.check_file(file)?;
    let id = checked.function(function)?;
    let core = checked.core.clone();
    let compiled = session.compile(checked.core, &[(id, Entry::Call), (id, Entry::Jvp), (id, Entry::Vjp)])?;
    let params = compiled.params(CALL);
    let types = compiled.types();
    for param in &params {
        if types.holds_function(param.ty) {
            return Err(inputs::outside(function, param, types).into());
        }
    }
    if crate::run::smooth_parameters(&core, &entry::signature(&core, id).0).is_empty() {
        let message = format!("no parameter of `{function}` holds a float");
        return Err(Diagnostic::error("E0819", core.fns[id].span, message).into());
    }
    let optional = inputs::optional(function, &params, given, types, &mut session.sources)?;
    let tys: Vec<TypeId> = params.iter().map(|p| p.ty).collect();
    let names: Vec<String> = params.iter().map(|p| p.name.clone()).collect();
    let seed = session.options.seed;
    let mut random = Random::new(seed);
    let mut check = Check { session, compiled, tys, names };

    let (args, y) = points::find(check.session, &mut check.compiled, (&core, id), &optional, &mut random)?;
    let mut report = check.compare(&args, &y, tolerance, &mut random)?;
    report.function = function.to_string();
    report.seed = seed;
    for (i, value) in optional.iter().enumerate() {
        if value.is_none() {
            let text = crate::io::short_text(&args[i], check.tys[i], check.compiled.types());
            report.made_up.push(format!("{} = {text}", check.names[i]));
        }
    }
    Ok(report)
}

impl Check<'_> {
    fn arg_leaves(&self, args: &[Value]) -> Vec<Leaf> {
        let types = self.compiled.types();
        let mut out = Vec::new();
        for ((value, ty), name) in args.iter().zip(&self.tys).zip(&self.names) {
            leaves::of(value, *ty, types, name, &mut out);
        }
        out
    }

    fn result_leaves(&self, y: &Value) -> Vec<Leaf> {
        let mut out = Vec::new();
        leaves::of(y, self.compiled.result(CALL), self.compiled.types(), "result", &mut out);
        out
    }

    /// The tangent of the arguments with these numbers at its leaves.
    fn direction(&self, args: &[Value], numbers: &[f64]) -> Value {
        let mut numbers = numbers.iter().copied();
        let mut next = || numbers.next().unwrap_or(0.0);
        let mut parts: Vec<Value> = args.iter().map(|v| leaves::tangent(v, &mut next)).collect();
        if parts.len() == 1 { parts.remove(0) } else { crate::io::make::tuple(parts) }
    }

    /// The arguments with `step` times these numbers added to their leaves.
    fn moved(&self, args: &[Value], numbers: &[f64], step: f64) -> Vec<Value> {
        let mut numbers = numbers.iter().copied();
        args.iter().map(|v| leaves::map(v, &mut |x| x + step * numbers.next().unwrap_or(0.0))).collect()
    }

    /// The leaves of the result at a point nearby.
    fn value_at(&mut self, args: Vec<Value>) -> Result<Vec<f64>, Failure> {
        let y = self.session.call(&mut self.compiled, CALL, args)?;
        Ok(self.result_leaves(&y).into_iter().map(|l| l.value).collect())
    }

    /// The slope of `dot(f, weights)` (or of every leaf of `f` without weights) along a direction.
    fn slope(
        &mut self,
        args: &[Value],
        direction: &[f64],
        scale: f64,
        weights: Option<&[f64]>,
    ) -> Result<Slope, Failure> {
        differences::slope(scale, |step| {
            let moved = self.moved(args, direction, step);
            let y = self.value_at(moved)?;
            Ok(match weights {
                None => y,
                Some(w) => vec![dot(&y, w)],
            })
        })
    }

    fn compare(
        &mut self,
        args: &[Value],
        y: &Value,
        tolerance: f64,
        random: &mut Random,
    ) -> Result<GradientReport, Failure> {
        let x_leaves = self.arg_leaves(args);
        let y_leaves = self.result_leaves(y);
        let dx: Vec<f64> = x_leaves.iter().map(|_| random.between(-1.0, 1.0)).collect();
        let dy: Vec<f64> = y_leaves.iter().map(|_| random.between(0.25, 1.0)).collect();
        let cotangent = {
            let mut numbers = dy.iter().copied();
            leaves::tangent(y, &mut || numbers.next().unwrap_or(0.0))
        };

        let forward = self.forward(args, &dx, y)?;
        let both = self.session.call(&mut self.compiled, VJP, with(args, cotangent))?;
        let gradient = {
            let mut out = Vec::new();
            let back = crate::io::make::part(&both, &[1]).cloned().unwrap_or_else(crate::io::make::unit);
            for (i, value) in args.iter().enumerate() {
                let part = if args.len() == 1 { Some(&back) } else { crate::io::make::part(&back, &[i]) };
                leaves::of_tangent(part, value, &mut out);
            }
            out
        };
        let mut report = GradientReport {
            function: String::new(),
            seed: 0,
            tolerance,
            leaves: (x_leaves.len(), 0),
            identity: (dot(&forward, &dy), dot(&dx, &gradient)),
            worst: (0.0, 0.0),
            disagreements: Vec::new(),
            unsettled: Vec::new(),
            made_up: Vec::new(),
        };
        let (a, b) = report.identity;
        let size: f64 = dx.iter().zip(&gradient).map(|(x, g)| (x * g).abs()).sum();
        if off(a, b, size) > tolerance.max(1e-12) {
            report.disagreements.push(Disagreement {
                leaf: "dot(jvp, dy) == dot(dx, vjp)".into(),
                what: "forward mode",
                found: a,
                expected: b,
            });
        }

        // Forward mode along the random direction, leaf by leaf of the result.
        let scale = 0.05;
        let slope = self.slope(args, &dx, scale, None)?;
        let size = largest(&forward);
        for (i, leaf) in y_leaves.iter().enumerate() {
            let (expected, error) = (slope.values[i], slope.errors[i]);
            judge(&mut report, &leaf.path, "forward mode", forward[i], expected, error, size, true);
        }

        // Reverse mode (and forward mode again where they differ), leaf by leaf of the arguments.
        let chosen = choose(x_leaves.len(), random);
        report.leaves.1 = chosen.len();
        let size = largest(&gradient);
        for i in chosen {
            let mut one = vec![0.0; x_leaves.len()];
            one[i] = 1.0;
            let scale = 0.02 * x_leaves[i].value.abs().max(0.1);
            let slope = self.slope(args, &one, scale, Some(&dy))?;
            let (expected, error) = (slope.values[0], slope.errors[0]);
            let right =
                judge(&mut report, &x_leaves[i].path, "reverse mode", gradient[i], expected, error, size, false);
            if !right {
                let found = dot(&self.forward(args, &one, y)?, &dy);
                judge(&mut report, &x_leaves[i].path, "forward mode", found, expected, error, size, true);
            }
        }
        report.unsettled.dedup();
        Ok(report)
    }

    /// The leaves of the tangent of the result in forward mode.
    fn forward(&mut self, args: &[Value], direction: &[f64], y: &Value) -> Result<Vec<f64>, Failure> {
        let dx = self.direction(args, direction);
        let pair = self.session.call(&mut self.compiled, JVP, with(args, dx))?;
        let mut out = Vec::new();
        let tangent = crate::io::make::part(&pair, &[1]);
        leaves::of_tangent(tangent, y, &mut out);
        Ok(out)
    }
}

/// Enters a comparison with a difference into the report; says whether it agrees.
#[expect(clippy::too_many_arguments, reason = "one comparison has so many sides")]
fn judge(
    report: &mut GradientReport,
    leaf: &str,
    what: &'static str,
    found: f64,
    expected: f64,
    error: f64,
    size: f64,
    forward: bool,
) -> bool {
    let relative = off(found, expected, 1e-3 * size);
    let noise = error / found.abs().max(expected.abs()).max(1e-3 * size).max(f64::MIN_POSITIVE);
    if relative <= report.tolerance.max(10.0 * noise.min(1e-3)) {
        let worst = if forward { &mut report.worst.0 } else { &mut report.worst.1 };
        *worst = worst.max(relative);
        return true;
    }
    // Only a difference that settles can prove anything.
    if !noise.is_finite() || noise > 1e-3 {
        report.unsettled.push(leaf.to_string());
        return true;
    }
    report.disagreements.push(Disagreement { leaf: leaf.to_string(), what, found, expected });
    let worst = if forward { &mut report.worst.0 } else { &mut report.worst.1 };
    *worst = worst.max(relative);
    false
}

/// The relative difference, for numbers of at least this size.
fn off(a: f64, b: f64, size: f64) -> f64 {
    if a == b {
        return 0.0;
    }
    let difference = (a - b).abs();
    if difference.is_finite() {
        difference / a.abs().max(b.abs()).max(size).max(f64::MIN_POSITIVE)
    } else {
        f64::INFINITY
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    // Zero annihilates here as in the language.
    a.iter().zip(b).map(|(x, y)| if *x == 0.0 || *y == 0.0 { 0.0 } else { x * y }).sum()
}

fn largest(xs: &[f64]) -> f64 {
    xs.iter().fold(0.0, |m, x| if x.is_finite() { m.max(x.abs()) } else { m })
}

fn with(args: &[Value], last: Value) -> Vec<Value> {
    let mut out = args.to_vec();
    out.push(last);
    out
}

/// Positions to visit: all, or a random choice in order.
fn choose(n: usize, random: &mut Random) -> Vec<usize> {
    if n <= MOST_LEAVES {
        return (0..n).collect();
    }
    let mut out: Vec<usize> = (0..MOST_LEAVES).map(|_| random.below(n as u64) as usize).collect();
    out.sort_unstable();
    out.dedup();
    out
}
