//! Operations from their text.
//!
//! In: tokens from the name of an operation on. Out: the operation. Attributes stand in brackets, operands in
//! parentheses, groups of operands between semicolons.

use super::{Reader, Res, malformed, unknown};
use crate::print::{effect_name, reduce_name};
use crate::{AdOp, Atom, Block, Effect, Inspect, Op, Operator, ReduceOp, Step, Sub, Var};
use cotan_prim::Prim;
use cotan_source::Span;

/// Operands in groups, with the place of the operation for messages.
struct Args {
    groups: std::vec::IntoIter<Vec<Sub>>,
    span: Span,
}

impl Args {
    fn subs(&mut self) -> Res<Vec<Sub>> {
        self.groups.next().ok_or_else(|| malformed(self.span, "a group of operands is missing"))
    }

    fn atoms(&mut self) -> Res<Vec<Atom>> {
        let span = self.span;
        let plain = |sub| match sub {
            Sub::At(a) => Ok(a),
            Sub::Range(..) => Err(malformed(span, "a range where an operand should be")),
        };
        self.subs()?.into_iter().map(plain).collect()
    }

    fn exactly<const N: usize>(&mut self) -> Res<[Atom; N]> {
        let atoms = self.atoms()?;
        let found = atoms.len();
        atoms.try_into().map_err(|_| malformed(self.span, format!("{found} operands, not {N}")))
    }

    fn one(&mut self) -> Res<Atom> {
        let [a] = self.exactly()?;
        Ok(a)
    }

    fn end<T>(mut self, value: T) -> Res<T> {
        match self.groups.next() {
            None => Ok(value),
            Some(_) => Err(malformed(self.span, "too many groups of operands")),
        }
    }
}

impl<A: Operator> Reader<A> {
    pub(super) fn op(&mut self) -> Res<Op<A>> {
        let span = self.span();
        let name = self.word()?;
        match &name[..] {
            "if" => {
                let cond = self.atom()?;
                let then = self.block("yield")?;
                self.want_word("else")?;
                let otherwise = self.block("yield")?;
                Ok(Op::If { cond, then, otherwise })
            }
            "switch" => self.switch(),
            "for" => {
                let index = self.def()?;
                self.want("<")?;
                let count = self.atom()?;
                let (state, init) = self.state()?;
                Ok(Op::For { count, index, state, init, body: self.block("yield")? })
            }
            "while" => {
                let (state, init) = self.state()?;
                let cond = self.block("yield")?;
                self.want_word("do")?;
                Ok(Op::While { state, init, cond, body: self.block("yield")? })
            }
            "build" => {
                let axes = self.some(|r| {
                    let index = r.def()?;
                    r.want("<")?;
                    Ok((index, r.atom()?))
                })?;
                let (indices, extents) = axes.into_iter().unzip();
                Ok(Op::Build { extents, indices, body: self.block("yield")? })
            }
            "map" | "proj" | "adt" | "field" | "closure" | "capture" | "call" | "dispatch" | "dim" | "reduce"
            | "tan_part" | "tan_adt" | "tan_closure" | "acc_part" | "check_size" | "effect" => {
                self.want("[")?;
                self.with_attributes(&name, span)
            }
            _ => self.plain(&name, span),
        }
    }

    fn switch(&mut self) -> Res<Op<A>> {
        let on = self.atom()?;
        self.want("{")?;
        let mut arms: Vec<(u32, Block<A>)> = Vec::new();
        let mut default = None;
        while !self.eat("}") {
            if self.eat_word("else") {
                self.want("=>")?;
                default = Some(self.block("yield")?);
                self.want("}")?;
                break;
            }
            let variant = self.hinted()?;
            self.want("=>")?;
            arms.push((variant, self.block("yield")?));
        }
        Ok(Op::Switch { on, arms, default })
    }

    fn state(&mut self) -> Res<(Vec<Var>, Vec<Atom>)> {
        if !self.eat_word("with") {
            return Ok((Vec::new(), Vec::new()));
        }
        let pairs = self.some(|r| {
            let v = r.def()?;
            r.want("=")?;
            Ok((v, r.atom()?))
        })?;
        Ok(pairs.into_iter().unzip())
    }

    fn args(&mut self, span: Span) -> Res<Args> {
        self.want("(")?;
        let mut groups = vec![Vec::new()];
        while !self.eat(")") {
            if self.eat(";") {
                groups.push(Vec::new());
                continue;
            }
            let first = self.atom()?;
            let sub = if self.eat("..") { Sub::Range(first, self.atom()?) } else { Sub::At(first) };
            groups.last_mut().expect("never empty").push(sub);
            if !self.eat(",") && !matches!(self.peek(), super::Tok::Punct(";" | ")")) {
                return self.expected("`,`, `;` or `)`");
            }
        }
        Ok(Args { groups: groups.into_iter(), span })
    }

    /// The end of the attributes, and the operands.
    fn close(&mut self, span: Span) -> Res<Args> {
        self.want("]")?;
        self.args(span)
    }

    fn prim(&mut self, name: &str, span: Span) -> Res<Prim> {
        Prim::from_name(name).ok_or_else(|| unknown(span, "operation", name))
    }

    fn with_attributes(&mut self, name: &str, span: Span) -> Res<Op<A>> {
        match name {
            "map" => {
                let place = self.span();
                let prim = self.word()?;
                let prim = self.prim(&prim, place)?;
                let mut args = self.close(span)?;
                let op = Op::Map(prim, args.atoms()?);
                args.end(op)
            }
            "proj" => {
                let index = self.number()?;
                let mut args = self.close(span)?;
                let op = Op::Proj(args.one()?, index);
                args.end(op)
            }
            "adt" | "tan_adt" => {
                let adt = self.adt_ref()?;
                let variant = self.hinted()?;
                let mut args = self.close(span)?;
                let fields = args.atoms()?;
                args.end(match name {
                    "adt" => Op::Adt { adt, variant, fields },
                    _ => Op::TanAdt { adt, variant, fields },
                })
            }
            "field" => {
                let (variant, index) = (self.hinted()?, self.hinted()?);
                let mut args = self.close(span)?;
                let op = Op::Field { base: args.one()?, variant, index };
                args.end(op)
            }
            "closure" | "tan_closure" => {
                let code = self.fn_ref()?;
                let mut args = self.close(span)?;
                let captures = args.atoms()?;
                args.end(match name {
                    "closure" => Op::Closure { code, captures },
                    _ => Op::TanClosure { code, captures },
                })
            }
            "capture" => {
                let (code, index) = (self.fn_ref()?, self.hinted()?);
                let mut args = self.close(span)?;
                let op = Op::Capture { base: args.one()?, code, index };
                args.end(op)
            }
            "call" => {
                let func = self.fn_ref()?;
                let mut args = self.close(span)?;
                let op = Op::Call { func, args: args.atoms()? };
                args.end(op)
            }
            "dispatch" => {
                let mut path = Vec::new();
                while !matches!(self.peek(), super::Tok::Punct(_) | super::Tok::End) {
                    path.push(self.deriv()?);
                }
                let mut args = self.close(span)?;
                let op = Op::Dispatch { on: args.one()?, path, args: args.atoms()? };
                args.end(op)
            }
            "dim" => {
                let axis = self.number()?;
                let mut args = self.close(span)?;
                let op = Op::Dim { array: args.one()?, axis };
                args.end(op)
            }
            "reduce" => {
                let place = self.span();
                let word = self.word()?;
                let all = [ReduceOp::Sum, ReduceOp::Product, ReduceOp::Max, ReduceOp::Min];
                let op = all.into_iter().find(|op| reduce_name(*op) == word);
                let op = op.ok_or_else(|| unknown(place, "reduction", &word))?;
                let mut args = self.close(span)?;
                let op = Op::Reduce(op, args.one()?);
                args.end(op)
            }
            "tan_part" | "acc_part" => {
                let step = self.step()?;
                let mut args = self.close(span)?;
                let base = args.one()?;
                let step = match step {
                    Some(step) => step,
                    None => Step::Index { subs: args.subs()?, extents: args.atoms()? },
                };
                args.end(match name {
                    "tan_part" => Op::TanPart { tan: base, step },
                    _ => Op::AccPart { acc: base, step },
                })
            }
            "check_size" => {
                let (what, size) = (self.text()?.into(), self.text()?.into());
                let mut args = self.close(span)?;
                let [actual, expected] = args.exactly()?;
                args.end(Op::CheckSize { actual, expected, what, size })
            }
            _ => {
                let place = self.span();
                let word = self.word()?;
                let all = [Effect::Progress, Effect::WriteText];
                let effect = all.into_iter().find(|e| effect_name(*e) == word);
                let effect = effect.ok_or_else(|| unknown(place, "effect", &word))?;
                let mut args = self.close(span)?;
                let op = Op::Effect(effect, args.atoms()?);
                args.end(op)
            }
        }
    }

    /// A step in brackets; `None` for `index`, whose subscripts are among the operands.
    fn step(&mut self) -> Res<Option<Step>> {
        let span = self.span();
        Ok(Some(match &self.word()?[..] {
            "proj" => Step::Proj(self.number()?),
            "field" => Step::Field { adt: self.adt_ref()?, variant: self.hinted()?, index: self.hinted()? },
            "capture" => Step::Capture { code: self.fn_ref()?, index: self.hinted()? },
            "index" => return Ok(None),
            other => return Err(unknown(span, "part", other)),
        }))
    }

    fn plain(&mut self, name: &str, span: Span) -> Res<Op<A>> {
        let mut args = self.args(span)?;
        let two = |args: &mut Args| -> Res<(Atom, Atom)> {
            let [a, b] = args.exactly()?;
            Ok((a, b))
        };
        let op = match name {
            "copy" => Op::Copy(args.one()?),
            "tuple" => Op::Tuple(args.atoms()?),
            "array" => Op::Array(args.atoms()?),
            "attach_jvp" | "attach_vjp" => {
                let [f, rule] = args.exactly()?;
                Op::Attach { forward: name == "attach_jvp", f, rule }
            }
            "fill" => Op::Fill { extents: args.atoms()?, value: args.one()? },
            "index" => Op::Index { array: args.one()?, at: args.atoms()? },
            "slice" => Op::Slice { array: args.one()?, subs: args.subs()? },
            "update" => Op::Update { array: args.one()?, subs: args.subs()?, value: args.one()? },
            "arg_max" | "arg_min" => Op::ArgReduce { max: name == "arg_max", array: args.one()? },
            "argsort" => Op::Argsort(args.one()?),
            "gather" => {
                let [array, positions] = args.exactly()?;
                Op::Gather { array, positions }
            }
            "scatter_add" => {
                let [base, positions, values] = args.exactly()?;
                Op::ScatterAdd { base, positions, values }
            }
            "concat" => two(&mut args).map(|(a, b)| Op::Concat(a, b))?,
            "transpose" => Op::Transpose(args.one()?),
            "matmul" => two(&mut args).map(|(a, b)| Op::MatMul(a, b))?,
            "space_add" => two(&mut args).map(|(a, b)| Op::SpaceAdd(a, b))?,
            "space_neg" => Op::SpaceNeg(args.one()?),
            "space_scale" => two(&mut args).map(|(a, b)| Op::SpaceScale(a, b))?,
            "space_dot" => two(&mut args).map(|(a, b)| Op::SpaceDot(a, b))?,
            "zero_like" => Op::ZeroLike(args.one()?),
            "move" => two(&mut args).map(|(a, b)| Op::Move(a, b))?,
            "leaf_numbers" => Op::Inspect(Inspect::LeafNumbers, args.atoms()?),
            "leaf_name" => Op::Inspect(Inspect::LeafName, args.atoms()?),
            "tangent_from" => Op::Inspect(Inspect::TangentFrom, args.atoms()?),
            "compare" => Op::Inspect(Inspect::Compare, args.atoms()?),
            "zero" => {
                let [] = args.exactly()?;
                Op::Zero
            }
            "densify" => two(&mut args).map(|(tan, like)| Op::Densify { tan, like })?,
            "spread" => Op::Spread { tan: args.one()?, extents: args.atoms()? },
            "sparse" => Op::Sparse(args.one()?),
            "tan_update" => {
                Op::TanUpdate { tan: args.one()?, subs: args.subs()?, extents: args.atoms()?, value: args.one()? }
            }
            "acc_new" => match &args.atoms()?[..] {
                [] => Op::AccNew(None),
                [start] => Op::AccNew(Some(start.clone())),
                _ => return Err(malformed(span, "more than one start of an accumulator")),
            },
            "acc_null" => {
                let [] = args.exactly()?;
                Op::AccNull
            }
            "acc_add" => two(&mut args).map(|(acc, value)| Op::AccAdd { acc, value })?,
            "acc_take" => Op::AccTake(args.one()?),
            "equal" => two(&mut args).map(|(a, b)| Op::Equal(a, b))?,
            "to_str" => Op::ToStr(args.one()?),
            "str_concat" => two(&mut args).map(|(a, b)| Op::StrConcat(a, b))?,
            "stop_gradient" => Op::StopGradient(args.one()?),
            "probe" | "probe_backward" => {
                let [label, value] = args.exactly()?;
                Op::Probe { label, value, backward: name == "probe_backward" }
            }
            "assert" => two(&mut args).map(|(cond, message)| Op::Assert { cond, message })?,
            "panic" => Op::Panic(args.one()?),
            "ad_jvp" | "ad_vjp" | "ad_pullback" => {
                let op = match name {
                    "ad_jvp" => {
                        let [f, x, dx] = args.exactly()?;
                        AdOp::Jvp { f, x, dx }
                    }
                    "ad_vjp" => two(&mut args).map(|(f, x)| AdOp::Vjp { f, x })?,
                    _ => two(&mut args).map(|(f, x)| AdOp::Pullback { f, x })?,
                };
                let here = || malformed(span, "an operator of differentiation in a program without them");
                Op::Ad(A::from_ad(op).ok_or_else(here)?)
            }
            _ => Op::Prim(self.prim(name, span)?, args.atoms()?),
        };
        args.end(op)
    }
}
