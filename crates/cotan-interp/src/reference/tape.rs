//! Arithmetic on numbers that know their derivatives.
//!
//! In: primitives and operands. Out: values of the primitives, with tangents where an operand is a dual number and a new node where it
//! is one of a tape. Partial derivatives are the formulas of the table of primitives, evaluated on the operands without their
//! outermost tag, so that derivatives of derivatives are those of the formulas.

use super::value::{Along, Num, Val, map_floats};
use crate::fault::Fault;
use crate::prims;
use cotan_prim::{ArgKind, Partial, Prim, Scalar, Term};
use cotan_source::Span;
use smallvec::SmallVec;
use std::rc::Rc;

/// What a node passes on to one of its operands.
#[derive(Clone, Copy, Debug)]
pub(super) enum Weight {
    /// The cotangent.
    One,
    /// The negated cotangent.
    MinusOne,
    /// Times a partial derivative, which is kept at this position.
    Mul(u32),
    /// The same, where 0 times infinity is 0.
    AMul(u32),
    /// As binary64.
    To64,
    /// As binary32.
    To32,
}

/// A step of the way forward.
#[derive(Clone, Debug)]
pub(super) enum Node {
    /// An input, or an output of the group before it.
    Leaf,
    /// A function of one.
    One(u32, Weight),
    /// A function of two.
    Two([(u32, Weight); 2]),
    /// A function of many.
    Many(Box<[(u32, Weight)]>),
    /// A step whose way back is code.
    Group(Box<Group>),
}

/// A step whose way back is code. Its outputs are the nodes behind it.
#[derive(Clone, Debug)]
pub(super) struct Group {
    /// Which code.
    pub kind: GroupKind,
    /// Nodes of the floats of its operands.
    pub inputs: Vec<Option<u32>>,
    /// Where the operands, the results and what else is needed are kept.
    pub kept: u32,
    /// Where it was called.
    pub span: Span,
}

/// How cotangents of the operands come from those of the results.
#[derive(Clone, Copy, Debug)]
pub(super) enum GroupKind {
    /// By the backward part of a rule of this function; a residual is kept.
    Rule(cotan_ir::FnId, cotan_ir::FnId),
    /// By a function value, which is kept.
    Attached,
    /// By a pullback of a function of tangents to (value, tangents), which is kept.
    Linear,
    /// They are the same, and are shown; the label is kept.
    Probe,
}

/// A tape that is being written.
#[derive(Debug, Default)]
pub(super) struct Tape {
    pub tag: u64,
    pub nodes: Vec<Node>,
    pub kept: Vec<Val>,
}

/// A finished tape; what it keeps is in the captures of the function value.
#[derive(Debug)]
pub(super) struct Skeleton {
    pub nodes: Vec<Node>,
    /// How many of the nodes, from the first, are inputs.
    pub inputs: usize,
    /// Nodes of the floats of the value.
    pub outputs: Vec<Option<u32>>,
}

/// Tags and the tapes that are being written.
#[derive(Debug, Default)]
pub(super) struct Tapes {
    last: u64,
    live: Vec<Tape>,
}

type Vals = SmallVec<[Val; 3]>;

impl Tapes {
    /// Forgets tapes that an error left open.
    pub fn clear(&mut self) {
        self.live.clear();
    }

    /// A new tag.
    pub fn fresh(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    /// A new tape.
    pub fn open(&mut self) -> u64 {
        let tag = self.fresh();
        self.live.push(Tape { tag, ..Tape::default() });
        tag
    }

    /// Ends the newest tape.
    pub fn close(&mut self) -> Tape {
        self.live.pop().expect("tapes end in the reverse order of their start")
    }

    /// The tape of a tag, if the tag is one of reverse mode.
    pub fn tape(&mut self, tag: u64) -> Option<&mut Tape> {
        self.live.iter_mut().rev().find(|t| t.tag == tag)
    }

    fn of(&mut self, tag: u64) -> &mut Tape {
        self.tape(tag).expect("numbers of a tape are used while it is written")
    }

    /// The value with new nodes for its floats.
    pub fn lift(&mut self, tag: u64, v: &Val) -> Val {
        let tape = self.of(tag);
        map_floats(v, &mut |x| Some(tape.number(x.clone(), Node::Leaf)))
    }

    /// A primitive.
    pub fn apply(&mut self, prim: Prim, args: &[Val]) -> Result<Val, Fault> {
        match args {
            [Val::F64(x), Val::F64(y)] => match prim {
                Prim::Add => return Ok(Val::F64(x + y)),
                Prim::Mul => return Ok(Val::F64(x * y)),
                _ => {
                    if let Some(r) = prim.eval2_f64(*x, *y) {
                        return Ok(Val::F64(r));
                    }
                }
            },
            [Val::Bool(c), a, b] if prim == Prim::Select => return Ok(if *c { a.clone() } else { b.clone() }),
            _ => {}
        }
        let tag = args.iter().map(Val::tag).max().unwrap_or(0);
        if tag == 0 {
            let args: SmallVec<[Scalar; 3]> = args.iter().map(scalar).collect();
            return prim.eval(&args).map(from_scalar).map_err(Fault::Prim);
        }
        let primals: Vals = args.iter().map(|a| a.primal(tag).clone()).collect();
        let r = self.apply(prim, &primals)?;
        if !r.is_float() {
            return Ok(r);
        }
        let single = args.iter().any(|a| matches!(a.plain(), Val::F32(_)));
        let mut dot: Option<Val> = None;
        let mut parents: SmallVec<[(u32, Weight); 2]> = SmallVec::new();
        for (i, a) in args.iter().enumerate() {
            if a.tag() != tag {
                continue;
            }
            let partial = prim.partial(i);
            let (slope, annihilates) = match &partial {
                Partial::Zero => continue,
                Partial::One | Partial::MinusOne => (None, false),
                Partial::Formula { term, may_be_non_finite } => {
                    (Some(self.term(term, &primals, &r, single)?), *may_be_non_finite)
                }
            };
            match (a.dot(tag), a.node(tag)) {
                (Some(d), _) => {
                    let part = match (&partial, slope) {
                        (Partial::MinusOne, _) => self.apply(Prim::Neg, std::slice::from_ref(d))?,
                        (_, Some(w)) => self.apply(product(annihilates), &[d.clone(), w])?,
                        _ if prim == Prim::ToFloat || prim == Prim::ToFloat32 => {
                            self.apply(prim, std::slice::from_ref(d))?
                        }
                        _ => d.clone(),
                    };
                    dot = Some(match dot {
                        None => part,
                        Some(sum) => self.apply(Prim::Add, &[sum, part])?,
                    });
                }
                (None, Some(node)) => {
                    let weight = match (&partial, slope) {
                        (Partial::MinusOne, _) => Weight::MinusOne,
                        (_, Some(w)) => {
                            let at = self.of(tag).keep(w);
                            if annihilates { Weight::AMul(at) } else { Weight::Mul(at) }
                        }
                        // Back to the type of the operand.
                        _ if prim == Prim::ToFloat && single => Weight::To32,
                        _ if prim == Prim::ToFloat32 && !single => Weight::To64,
                        _ => Weight::One,
                    };
                    parents.push((node, weight));
                }
                (None, None) => unreachable!("a number of a tag has a tangent or a node"),
            }
        }
        if let Some(dot) = dot {
            return Ok(dual(tag, r, dot));
        }
        let node = match parents[..] {
            [] => return Ok(r),
            [(p, w)] => Node::One(p, w),
            [a, b] => Node::Two([a, b]),
            _ => Node::Many(parents.into_boxed_slice()),
        };
        Ok(self.of(tag).number(r, node))
    }

    /// The value of a formula for a partial derivative.
    fn term(&mut self, term: &Term, args: &[Val], result: &Val, single: bool) -> Result<Val, Fault> {
        Ok(match term {
            Term::Arg(i) => args[*i].clone(),
            Term::Result => result.clone(),
            Term::Const(c) if single => Val::F32(*c as f32),
            Term::Const(c) => Val::F64(*c),
            Term::Int(i) => Val::I64(*i),
            Term::Op(prim, parts) => {
                let parts =
                    parts.iter().map(|p| self.term(p, args, result, single)).collect::<Result<Vals, Fault>>()?;
                debug_assert_eq!(parts.len(), prim.args().len());
                debug_assert!(
                    prim.args().iter().zip(&parts).all(|(k, v)| (*k != ArgKind::T) || !matches!(v, Val::Unit))
                );
                self.apply(*prim, &parts)?
            }
        })
    }

    /// The sum in the specified order; 0 of the type of `zero` if there are none.
    pub fn sum(&mut self, vs: &[Val], zero: &Val) -> Result<Val, Fault> {
        let tag = vs.iter().map(Val::tag).max().unwrap_or(0);
        if tag == 0 {
            return match vs.first() {
                None => Ok(zero.clone()),
                Some(Val::F64(_)) => {
                    let xs: Vec<f64> = vs.iter().map(|v| if let Val::F64(x) = v { *x } else { 0.0 }).collect();
                    Ok(Val::F64(prims::sum_f64(&xs)))
                }
                Some(first) => {
                    let mut total = first.clone();
                    for v in &vs[1..] {
                        total = self.apply(Prim::Add, &[total, v.clone()])?;
                    }
                    Ok(total)
                }
            };
        }
        let primals: Vec<Val> = vs.iter().map(|v| v.primal(tag).clone()).collect();
        let r = self.sum(&primals, zero)?;
        if let Some(tape) = self.tape(tag) {
            let parents = vs.iter().filter_map(|v| v.node(tag)).map(|n| (n, Weight::One)).collect();
            return Ok(tape.number(r, Node::Many(parents)));
        }
        let zero = r.float_zero();
        let dots: Vec<Val> = vs.iter().map(|v| v.dot(tag).unwrap_or(&zero).clone()).collect();
        let dot = self.sum(&dots, &zero)?;
        Ok(dual(tag, r, dot))
    }

    /// The sum of products from the first upwards, on top of `zero`.
    pub fn inner(&mut self, xs: &[Val], ys: &[Val], zero: &Val) -> Result<Val, Fault> {
        let tag = xs.iter().chain(ys).map(Val::tag).max().unwrap_or(0);
        if tag == 0 {
            let mut total = zero.clone();
            for (x, y) in xs.iter().zip(ys) {
                total = match (&total, x, y) {
                    (Val::F64(t), Val::F64(x), Val::F64(y)) => Val::F64(t + x * y),
                    _ => {
                        let product = self.apply(Prim::Mul, &[x.clone(), y.clone()])?;
                        self.apply(Prim::Add, &[total, product])?
                    }
                };
            }
            return Ok(total);
        }
        let primals = |vs: &[Val]| vs.iter().map(|v| v.primal(tag).clone()).collect::<Vec<Val>>();
        let (px, py) = (primals(xs), primals(ys));
        let r = self.inner(&px, &py, zero)?;
        if let Some(tape) = self.tape(tag) {
            let mut parents = Vec::new();
            for i in 0..xs.len() {
                for (of, other) in [(&xs[i], &py[i]), (&ys[i], &px[i])] {
                    if let Some(node) = of.node(tag) {
                        parents.push((node, Weight::Mul(tape.keep(other.clone()))));
                    }
                }
            }
            return Ok(tape.number(r, Node::Many(parents.into_boxed_slice())));
        }
        let (mut left, mut right) = (Vec::new(), Vec::new());
        for i in 0..xs.len() {
            for (of, other) in [(&xs[i], &py[i]), (&ys[i], &px[i])] {
                if let Some(d) = of.dot(tag) {
                    left.push(d.clone());
                    right.push(other.clone());
                }
            }
        }
        let dot = self.inner(&left, &right, zero)?;
        Ok(dual(tag, r, dot))
    }

    /// The product from the left.
    pub fn product(&mut self, vs: &[Val]) -> Result<Val, Fault> {
        let mut total = vs[0].clone();
        for v in &vs[1..] {
            total = self.apply(Prim::Mul, &[total, v.clone()])?;
        }
        Ok(total)
    }

    /// The largest or smallest; ties share evenly.
    pub fn extremum(&mut self, prim: Prim, vs: &[Val]) -> Result<Val, Fault> {
        let tag = vs.iter().map(Val::tag).max().unwrap_or(0);
        if tag == 0 {
            let mut total = vs[0].clone();
            for v in &vs[1..] {
                total = self.apply(prim, &[total, v.clone()])?;
            }
            return Ok(total);
        }
        let primals: Vec<Val> = vs.iter().map(|v| v.primal(tag).clone()).collect();
        let r = self.extremum(prim, &primals)?;
        let chosen = |v: &Val| match (v.plain(), r.plain()) {
            (Val::F64(x), Val::F64(y)) => x == y,
            (Val::F32(x), Val::F32(y)) => x == y,
            _ => false,
        };
        let ties = vs.iter().filter(|v| chosen(v)).count();
        let share = match r.float_zero() {
            Val::F32(_) => Val::F32((1.0 / ties as f64) as f32),
            _ => Val::F64(1.0 / ties as f64),
        };
        // Where the result is NaN, none is chosen and the slope in all is NaN; zero annihilates it as any slope that is not finite.
        let share = if ties == 0 { self.apply(Prim::Sub, &[share.clone(), share])? } else { share };
        let of: Vec<&Val> = vs.iter().filter(|v| (ties == 0 || chosen(v)) && v.tag() == tag).collect();
        if let Some(tape) = self.tape(tag) {
            let at = tape.keep(share);
            let parents: Vec<_> = of.iter().filter_map(|v| v.node(tag)).map(|n| (n, Weight::AMul(at))).collect();
            return Ok(tape.number(r, Node::Many(parents.into_boxed_slice())));
        }
        let mut dot = r.float_zero();
        for d in of.iter().filter_map(|v| v.dot(tag)) {
            let part = self.apply(Prim::AMul, &[d.clone(), share.clone()])?;
            dot = self.apply(Prim::Add, &[dot, part])?;
        }
        Ok(dual(tag, r, dot))
    }

    /// What a node with cotangent `bar` passes on; `kept` is what its tape keeps.
    pub fn pass(&mut self, bar: &Val, weight: Weight, kept: &[Val]) -> Result<Val, Fault> {
        match weight {
            Weight::One => Ok(bar.clone()),
            Weight::MinusOne => self.apply(Prim::Neg, std::slice::from_ref(bar)),
            Weight::Mul(at) => self.apply(Prim::Mul, &[bar.clone(), kept[at as usize].clone()]),
            Weight::AMul(at) => self.apply(Prim::AMul, &[bar.clone(), kept[at as usize].clone()]),
            Weight::To64 => self.apply(Prim::ToFloat, std::slice::from_ref(bar)),
            Weight::To32 => self.apply(Prim::ToFloat32, std::slice::from_ref(bar)),
        }
    }
}

impl Tape {
    /// Keeps a value for the way back.
    pub fn keep(&mut self, v: Val) -> u32 {
        self.kept.push(v);
        (self.kept.len() - 1) as u32
    }

    /// A new node.
    pub fn number(&mut self, primal: Val, node: Node) -> Val {
        self.nodes.push(node);
        let node = (self.nodes.len() - 1) as u32;
        Val::Num(Rc::new(Num { tag: self.tag, primal, along: Along::Node(node) }))
    }
}

/// A dual number.
pub(super) fn dual(tag: u64, primal: Val, dot: Val) -> Val {
    Val::Num(Rc::new(Num { tag, primal, along: Along::Dual(dot) }))
}

fn product(annihilates: bool) -> Prim {
    if annihilates { Prim::AMul } else { Prim::Mul }
}

fn scalar(v: &Val) -> Scalar {
    match v {
        Val::F64(x) => Scalar::F64(*x),
        Val::F32(x) => Scalar::F32(*x),
        Val::I64(x) => Scalar::I64(*x),
        Val::Bool(x) => Scalar::Bool(*x),
        other => unreachable!("{other:?} is no scalar"),
    }
}

fn from_scalar(s: Scalar) -> Val {
    match s {
        Scalar::F64(x) => Val::F64(x),
        Scalar::F32(x) => Val::F32(x),
        Scalar::I64(x) => Val::I64(x),
        Scalar::Bool(x) => Val::Bool(x),
    }
}
