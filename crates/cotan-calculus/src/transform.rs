//! The reverse transform of a lambda: `phi`, `rho`, and the backpropagator `S` that they make.
//!
//! In: a [`Lambda`] in A-normal form, itself perhaps the work of this module. Out: the lambda
//!
//! ```text
//! \x0^. let phi(x1 = e1) in ... let phi(xn = en) in (xn^, S)
//! S = \xn_. let xi_ = 0 (Jinv xi^) for all captures, x0 and x1 to x(n-1),
//!           let rho(xn = en) in ... let rho(x1 = e1) in ([captures_]_x0, x0_)
//! ```
//!
//! Newly true: the transform captures the tagged captures, in the same order. `xj_ += e` is `let xj_ = xj_ + e`; since variables
//! are positions, each such binding is a variable of its own, as the next transform needs it.

use crate::lambda::{Binding, Constant, Lambda, Part, Rhs, Slot};
use crate::primitive::Primitive;
use crate::term::Name;
use cotan_source::Span;
use std::cell::OnceCell;
use std::rc::Rc;

/// `e^`, made once for each lambda.
pub fn transform(lambda: &Rc<Lambda>) -> Rc<Lambda> {
    Rc::clone(lambda.transformed.get_or_init(|| Rc::new(forward(lambda))))
}

/// A lambda in the making.
#[derive(Default)]
struct Draft {
    names: Vec<Name>,
    bindings: Vec<Binding>,
}

impl Draft {
    fn name(&mut self, name: String) -> Slot {
        self.names.push(name.into());
        (self.names.len() - 1) as Slot
    }

    fn bind(&mut self, name: impl Into<String>, rhs: Rhs, span: Span) -> Slot {
        self.bindings.push(Binding { rhs, span });
        self.name(name.into())
    }

    fn finish(self, captures: usize, level: u32) -> Lambda {
        Lambda { names: self.names, captures, level, bindings: self.bindings, transformed: OnceCell::new() }
    }
}

/// Where things of the lambda at work are in its transform.
struct Forward<'l> {
    lambda: &'l Lambda,
    draft: Draft,
    /// `xi^` for each variable of the lambda.
    hat: Vec<Slot>,
    /// `xi~` for each binding that has one.
    back: Vec<Option<Slot>>,
}

/// `\x0^. let phi(x1 = e1) in ... in (xn^, S)`
fn forward(lambda: &Lambda) -> Lambda {
    let mut f = Forward { lambda, draft: Draft::default(), hat: Vec::new(), back: Vec::new() };
    for name in &lambda.names[..=lambda.captures] {
        let slot = f.draft.name(format!("{name}^"));
        f.hat.push(slot);
    }
    for (i, binding) in lambda.bindings.iter().enumerate() {
        f.phi(i, binding);
    }
    let span = lambda.span();
    let result = f.hat[f.hat.len() - 1];
    let (back, captured) = backward(&f);
    let s = f.draft.bind("S", Rhs::Lambda(0, Rc::new(back), captured), span);
    f.draft.bind("r", Rhs::Pair(0, result, s), span);
    f.draft.finish(lambda.captures, lambda.level + 1)
}

impl Forward<'_> {
    /// `phi(xi = ei)`
    fn phi(&mut self, i: usize, binding: &Binding) {
        let hat = |slot: &Slot| self.hat[*slot as usize];
        let rhs = match &binding.rhs {
            Rhs::Var(j) => Rhs::Var(hat(j)),
            Rhs::Apply(j, k) => Rhs::Apply(hat(j), hat(k)),
            Rhs::Primitive(level, t, j) => Rhs::Primitive(level + 1, *t, hat(j)),
            Rhs::Pair(level, j, k) => Rhs::Pair(level + 1, hat(j), hat(k)),
            Rhs::Part(level, part, j) => Rhs::Part(level + 1, *part, hat(j)),
            Rhs::Lambda(level, inner, captured) => {
                Rhs::Lambda(level + 1, Rc::clone(inner), captured.iter().map(hat).collect())
            }
            Rhs::Constant(level, c) => Rhs::Constant(level + 1, *c),
        };
        let name = &self.lambda.names[self.lambda.slot(i) as usize];
        let span = binding.span;
        if matches!(rhs, Rhs::Apply(..) | Rhs::Primitive(..)) {
            // (xi^, xi~) = xj^ xk^
            let both = self.draft.bind(format!("{name}^~"), rhs, span);
            let value = self.draft.bind(format!("{name}^"), Rhs::Part(0, Part::First, both), span);
            let back = self.draft.bind(format!("{name}~"), Rhs::Part(0, Part::Second, both), span);
            self.hat.push(value);
            self.back.push(Some(back));
        } else {
            let value = self.draft.bind(format!("{name}^"), rhs, span);
            self.hat.push(value);
            self.back.push(None);
        }
    }
}

/// The backpropagator and what it captures of the transform.
fn backward(f: &Forward<'_>) -> (Lambda, Vec<Slot>) {
    let lambda = f.lambda;
    let last = lambda.names.len() - 1;
    // It needs xi^ for the zeros and xi~ for the calls.
    let mut captured: Vec<Slot> = f.hat[..last].to_vec();
    captured.extend(f.back.iter().flatten());
    let mut b = Backward { lambda, draft: Draft::default(), hat: Vec::new(), back: Vec::new(), bar: Vec::new() };
    for slot in &captured {
        b.draft.name(f.draft.names[*slot as usize].to_string());
    }
    b.hat = (0..last as Slot).collect();
    let mut next = last as Slot;
    for back in &f.back {
        b.back.push(back.map(|_| next));
        next += u32::from(back.is_some());
    }
    let param = b.draft.name(format!("{}_", lambda.names[last]));
    let span = lambda.span();
    for i in 0..last {
        let name = &lambda.names[i];
        let primal = b.draft.bind(name.to_string(), Rhs::Primitive(0, Primitive::Jinv, b.hat[i]), span);
        let zero = b.draft.bind(format!("{name}_"), Rhs::Primitive(0, Primitive::Zero, primal), span);
        b.bar.push(zero);
    }
    b.bar.push(param);
    for (i, binding) in lambda.bindings.iter().enumerate().rev() {
        b.rho(i, binding);
    }
    // ([captures_]_x0, x0_)
    let mut list = b.draft.bind("[]", Rhs::Constant(lambda.level, Constant::Nil), span);
    for i in (0..lambda.captures).rev() {
        list = b.draft.bind(format!("l{i}"), Rhs::Pair(lambda.level, b.bar[i], list), span);
    }
    b.draft.bind("r", Rhs::Pair(0, list, b.bar[lambda.captures]), span);
    (b.draft.finish(captured.len(), 0), captured)
}

/// The backpropagator in the making.
struct Backward<'l> {
    lambda: &'l Lambda,
    draft: Draft,
    /// `xi^` for each variable of the lambda but the last.
    hat: Vec<Slot>,
    /// `xi~` for each binding that has one.
    back: Vec<Option<Slot>>,
    /// The present `xi_` for each variable of the lambda.
    bar: Vec<Slot>,
}

impl Backward<'_> {
    /// `xj_ += e`
    fn add(&mut self, j: Slot, e: Slot, span: Span) {
        let name = format!("{}_", self.lambda.names[j as usize]);
        let both = self.draft.bind(format!("{name}+"), Rhs::Pair(0, self.bar[j as usize], e), span);
        self.bar[j as usize] = self.draft.bind(name, Rhs::Primitive(0, Primitive::Plus, both), span);
    }

    /// `xj_ += fst e` or `xj_ += snd e`
    fn add_part(&mut self, j: Slot, level: u32, part: Part, e: Slot, span: Span) {
        let value = self.draft.bind("c", Rhs::Part(level, part, e), span);
        self.add(j, value, span);
    }

    /// `rho(xi = ei)`
    fn rho(&mut self, i: usize, binding: &Binding) {
        let span = binding.span;
        let bar = self.bar[self.lambda.slot(i) as usize];
        match &binding.rhs {
            // xj_ += xi_
            Rhs::Var(j) => self.add(*j, bar, span),
            // (xj_, xk_) += xi~ xi_
            Rhs::Apply(j, k) => {
                let both = self.call_back(i, bar, span);
                self.add_part(*j, 0, Part::First, both, span);
                self.add_part(*k, 0, Part::Second, both, span);
            }
            // The primitive itself is no variable.
            Rhs::Primitive(_, _, k) => {
                let both = self.call_back(i, bar, span);
                self.add_part(*k, 0, Part::Second, both, span);
            }
            // (xj_, xk_) += xi_
            Rhs::Pair(level, j, k) => {
                self.add_part(*j, *level, Part::First, bar, span);
                self.add_part(*k, *level, Part::Second, bar, span);
            }
            // xj_ += (xi_, 0 (snd xj)), or the other way round; the zero bears the tags of the pair.
            Rhs::Part(level, part, j) => {
                let other = if *part == Part::First { Part::Second } else { Part::First };
                let hat = self.hat[*j as usize];
                let primal = self.draft.bind("c", Rhs::Primitive(0, Primitive::Jinv, hat), span);
                let rest = self.draft.bind("c", Rhs::Part(*level, other, primal), span);
                let zero = self.draft.bind("c", Rhs::Primitive(0, Primitive::Zero, rest), span);
                let (a, b) = if *part == Part::First { (bar, zero) } else { (zero, bar) };
                let both = self.draft.bind("c", Rhs::Pair(*level, a, b), span);
                self.add(*j, both, span);
            }
            // [captures_]_x += xi_
            Rhs::Lambda(level, inner, captured) => {
                let level = inner.level + level;
                let mut rest = bar;
                for j in captured {
                    self.add_part(*j, level, Part::First, rest, span);
                    rest = self.draft.bind("c", Rhs::Part(level, Part::Second, rest), span);
                }
            }
            Rhs::Constant(..) => {}
        }
    }

    /// `xi~ xi_`
    fn call_back(&mut self, i: usize, bar: Slot, span: Span) -> Slot {
        match self.back[i] {
            Some(back) => self.draft.bind("c", Rhs::Apply(back, bar), span),
            None => unreachable!("phi binds a backpropagator for each application"),
        }
    }
}
