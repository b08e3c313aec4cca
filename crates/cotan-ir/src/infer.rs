//! Types of results from types of operands.
//!
//! In: an operation and the types of the variables. Out: the types of its results where they follow, or what is
//! wrong with its operands. Nested blocks count by the types of their results only; the validator looks inside.

use crate::parts::{array_type, capture_type, closure_type, field_type, part_type, sub_type};
use crate::print::print_type;
use crate::signature::dispatch_signature;
use crate::{
    AdOp, AdtId, Atom, Block, Effect, FnId, Inspect, Lit, Op, Operator, Program, Step, Sub, Type, TypeId, Var, VarInfo,
    tangent_type,
};
use cotan_prim::{ArgKind, Prim, ScalarType};
use cotan_source::IndexVec;

/// The type of a literal.
pub fn lit_type<A>(program: &mut Program<A>, lit: &Lit) -> TypeId {
    program.intern(match lit {
        Lit::F64(_) => Type::F64,
        Lit::F32(_) => Type::F32,
        Lit::I64(_) => Type::I64,
        Lit::Bool(_) => Type::Bool,
        Lit::Str(_) => Type::Str,
        Lit::Unit => Type::Tuple(Vec::new()),
    })
}

/// The type of an operand.
pub fn atom_type<A>(program: &mut Program<A>, vars: &IndexVec<Var, VarInfo>, atom: &Atom) -> TypeId {
    match atom {
        Atom::Var(v) => vars[*v].ty,
        Atom::Lit(lit) => lit_type(program, lit),
    }
}

/// What the operands are checked with.
struct Infer<'a, A> {
    program: &'a mut Program<A>,
    vars: &'a IndexVec<Var, VarInfo>,
}

/// The result types of `op`: `Ok(None)` where they are not determined by the operands (zeros, accumulators, dense
/// tangents, `Panic`, an empty `Array`, a backward part of an unknown function) and must be given; `Err` where the operands do not
/// fit the operation.
pub fn result_types<A: Operator>(
    program: &mut Program<A>,
    vars: &IndexVec<Var, VarInfo>,
    op: &Op<A>,
) -> Result<Option<Vec<TypeId>>, String> {
    Infer { program, vars }.op(op)
}

impl<A: Operator> Infer<'_, A> {
    fn ty(&mut self, atom: &Atom) -> TypeId {
        atom_type(self.program, self.vars, atom)
    }

    fn get(&mut self, atom: &Atom) -> Type {
        let ty = self.ty(atom);
        self.program.ty(ty).clone()
    }

    fn show(&mut self, ty: &Type) -> String {
        let ty = self.program.intern(ty.clone());
        print_type(self.program, ty)
    }

    fn int(&mut self) -> TypeId {
        self.program.intern(Type::I64)
    }

    fn all_int(&mut self, atoms: &[Atom]) -> Result<(), String> {
        atoms.iter().try_for_each(|a| self.want(a, Type::I64))
    }

    fn subs_int(&mut self, subs: &[Sub]) -> Result<(), String> {
        for sub in subs {
            match sub {
                Sub::At(a) => self.want(a, Type::I64)?,
                Sub::Range(lo, hi) => {
                    self.want(lo, Type::I64)?;
                    self.want(hi, Type::I64)?;
                }
            }
        }
        Ok(())
    }

    fn step_int(&mut self, step: &Step) -> Result<(), String> {
        match step {
            Step::Index { subs, extents } => {
                self.subs_int(subs)?;
                self.all_int(extents)
            }
            Step::Proj(_) | Step::Field { .. } | Step::Capture { .. } => Ok(()),
        }
    }

    fn want(&mut self, atom: &Atom, ty: Type) -> Result<(), String> {
        let found = self.get(atom);
        if found == ty {
            return Ok(());
        }
        let (found, ty) = (self.show(&found), self.show(&ty));
        Err(format!("operand {atom:?} has type {found}, not {ty}"))
    }

    fn want_id(&mut self, atom: &Atom, ty: TypeId) -> Result<(), String> {
        if self.ty(atom) == ty {
            return Ok(());
        }
        let ty = self.program.ty(ty).clone();
        self.want(atom, ty)
    }

    fn want_all(&mut self, atoms: &[Atom], types: &[TypeId], what: &str) -> Result<(), String> {
        if atoms.len() != types.len() {
            return Err(format!("{} {what}, not {}", atoms.len(), types.len()));
        }
        atoms.iter().zip(types).try_for_each(|(a, t)| self.want_id(a, *t))
    }

    fn same(&mut self, a: &Atom, b: &Atom) -> Result<TypeId, String> {
        let ty = self.ty(a);
        self.want_id(b, ty)?;
        Ok(ty)
    }

    fn array(&mut self, atom: &Atom) -> Result<(u32, TypeId), String> {
        match self.get(atom) {
            Type::Array { rank, elem } => Ok((rank, elem)),
            ty => Err(format!("operand {atom:?} has type {}, not an array", self.show(&ty))),
        }
    }

    fn vector(&mut self, atom: &Atom) -> Result<TypeId, String> {
        match self.array(atom)? {
            (1, elem) => Ok(elem),
            (rank, _) => Err(format!("operand {atom:?} has rank {rank}, not 1")),
        }
    }

    fn block(&mut self, block: &Block<A>) -> Vec<TypeId> {
        block.results.iter().map(|a| self.ty(a)).collect()
    }

    fn same_blocks(&mut self, blocks: &[&Block<A>]) -> Result<Vec<TypeId>, String> {
        let first = self.block(blocks[0]);
        for block in &blocks[1..] {
            self.want_all(&block.results, &first, "block results")?;
        }
        Ok(first)
    }

    fn state(&mut self, state: &[Var], init: &[Atom], body: &Block<A>) -> Result<Vec<TypeId>, String> {
        let types: Vec<TypeId> = state.iter().map(|v| self.vars[*v].ty).collect();
        self.want_all(init, &types, "initial states")?;
        let Some(next) = body.results.get(..types.len()) else {
            return Err(format!("{} results of a loop body with {} states", body.results.len(), types.len()));
        };
        self.want_all(next, &types, "next states")?;
        let collected = self.block(body);
        let mut out = types;
        for ty in &collected[out.len()..] {
            out.push(array_type(self.program, 1, *ty));
        }
        Ok(out)
    }

    fn one(&mut self, ty: Type) -> Result<Option<Vec<TypeId>>, String> {
        Ok(Some(vec![self.program.intern(ty)]))
    }

    fn op(&mut self, op: &Op<A>) -> Result<Option<Vec<TypeId>>, String> {
        let found = |ty: TypeId| Ok(Some(vec![ty]));
        match op {
            Op::Copy(a) | Op::StopGradient(a) => found(self.ty(a)),
            Op::Prim(prim, args) => {
                let types: Vec<Type> = args.iter().map(|a| self.get(a)).collect();
                let ty = prim_type(*prim, &types)?;
                self.one(ty)
            }
            Op::Map(prim, args) => {
                let mut shape = None;
                let mut types = Vec::new();
                for a in args {
                    match self.get(a) {
                        Type::Array { rank, elem } => {
                            if *shape.get_or_insert(rank) != rank {
                                return Err("elementwise operation on different ranks".into());
                            }
                            types.push(self.program.ty(elem).clone());
                        }
                        ty => types.push(ty),
                    }
                }
                let Some(rank) = shape else {
                    return Err("elementwise operation without an array".into());
                };
                let elem = prim_type(*prim, &types)?;
                let elem = self.program.intern(elem);
                self.one(Type::Array { rank, elem })
            }
            Op::Tuple(items) => {
                let types = items.iter().map(|a| self.ty(a)).collect();
                self.one(Type::Tuple(types))
            }
            Op::Proj(a, i) => {
                let ty = self.ty(a);
                match self.program.ty(ty) {
                    Type::Tuple(parts) if (*i as usize) < parts.len() => found(parts[*i as usize]),
                    _ => Err(format!("no component {i} in {}", print_type(self.program, ty))),
                }
            }
            Op::Adt { adt, variant, fields } => {
                let types = self.fields(*adt, *variant)?;
                self.want_all(fields, &types, "fields")?;
                self.one(Type::Adt(*adt))
            }
            Op::Field { base, variant, index } => match self.get(base) {
                Type::Adt(adt) => found(field_type(self.program, adt, *variant, *index)?),
                ty => Err(format!("field of {}", self.show(&ty))),
            },
            Op::Closure { code, captures } => {
                let ty = closure_type(self.program, *code)?;
                let types = self.captures(*code);
                self.want_all(captures, &types, "captures")?;
                self.one(ty)
            }
            Op::Capture { base, code, index } => {
                let ty = closure_type(self.program, *code)?;
                self.want(base, ty)?;
                found(capture_type(self.program, *code, *index)?)
            }
            Op::Call { func, args } => {
                let Some(callee) = self.program.fns.get(*func) else {
                    return Err(format!("no function {func}"));
                };
                let types: Vec<TypeId> = callee.params.iter().map(|p| callee.vars[*p].ty).collect();
                let results = callee.results.clone();
                self.want_all(args, &types, "arguments")?;
                Ok(Some(results))
            }
            Op::Dispatch { on, path, args } => {
                let ty = self.ty(on);
                let Some((params, results)) = dispatch_signature(self.program, ty, path)? else {
                    return Ok(None);
                };
                self.want_all(args, &params[1..], "arguments")?;
                Ok(Some(results))
            }
            Op::Attach { f, .. } => found(self.ty(f)),

            Op::If { cond, then, otherwise } => {
                self.want(cond, Type::Bool)?;
                Ok(Some(self.same_blocks(&[then, otherwise])?))
            }
            Op::Switch { on, arms, default } => {
                let Type::Adt(_) = self.get(on) else {
                    return Err("switch on something without variants".into());
                };
                let blocks: Vec<&Block<A>> = arms.iter().map(|(_, b)| b).chain(default).collect();
                if blocks.is_empty() {
                    return Err("switch without arms".into());
                }
                Ok(Some(self.same_blocks(&blocks)?))
            }
            Op::For { count, index, state, init, body } => {
                self.want(count, Type::I64)?;
                self.want(&Atom::Var(*index), Type::I64)?;
                Ok(Some(self.state(state, init, body)?))
            }
            Op::While { state, init, cond, body } => {
                let bool_type = self.program.intern(Type::Bool);
                self.want_all(&cond.results, &[bool_type], "results of a condition")?;
                Ok(Some(self.state(state, init, body)?))
            }
            Op::Build { extents, indices, body } => {
                self.all_int(extents)?;
                let int = self.int();
                let indices: Vec<Atom> = indices.iter().map(|v| Atom::Var(*v)).collect();
                self.want_all(&indices, &vec![int; extents.len()], "indices")?;
                if extents.is_empty() {
                    return Err("build without extents".into());
                }
                let elems = self.block(body);
                let rank = extents.len() as u32;
                Ok(Some(elems.iter().map(|t| array_type(self.program, rank, *t)).collect()))
            }

            Op::Array(items) => {
                let Some(first) = items.first() else {
                    return Ok(None);
                };
                let elem = self.ty(first);
                items.iter().try_for_each(|a| self.want_id(a, elem))?;
                self.one(Type::Array { rank: 1, elem })
            }
            Op::Fill { extents, value } => {
                self.all_int(extents)?;
                let elem = self.ty(value);
                if extents.is_empty() || matches!(self.program.ty(elem), Type::Array { .. }) {
                    return Err("fill without extents or with arrays".into());
                }
                self.one(Type::Array { rank: extents.len() as u32, elem })
            }
            Op::Index { array, at } => {
                self.all_int(at)?;
                let (rank, elem) = self.array(array)?;
                match rank.checked_sub(at.len() as u32) {
                    Some(rank) => found(array_type(self.program, rank, elem)),
                    None => Err(format!("{} subscripts for rank {rank}", at.len())),
                }
            }
            Op::Slice { array, subs } => {
                self.subs_int(subs)?;
                let ty = self.ty(array);
                found(sub_type(self.program, ty, subs)?)
            }
            Op::Update { array, subs, value } => {
                self.subs_int(subs)?;
                let ty = self.ty(array);
                let part = sub_type(self.program, ty, subs)?;
                self.want_id(value, part)?;
                found(ty)
            }
            Op::Dim { array, axis } => {
                let (rank, _) = self.array(array)?;
                if *axis >= rank {
                    return Err(format!("no axis {axis} in rank {rank}"));
                }
                found(self.int())
            }
            Op::Reduce(op, array) => {
                // The sum of all elements needs no order of axes; other reductions are of vectors.
                let elem = if *op == crate::ReduceOp::Sum { self.array(array)?.1 } else { self.vector(array)? };
                match self.program.ty(elem) {
                    Type::F64 | Type::F32 | Type::I64 => found(elem),
                    _ => Err(format!("reduction of {}", print_type(self.program, elem))),
                }
            }
            Op::ArgReduce { array, .. } => {
                self.vector(array)?;
                found(self.int())
            }
            Op::Argsort(array) => {
                self.vector(array)?;
                let elem = self.int();
                self.one(Type::Array { rank: 1, elem })
            }
            Op::Gather { array, positions } => {
                self.array(array)?;
                let elem = self.int();
                self.want(positions, Type::Array { rank: 1, elem })?;
                found(self.ty(array))
            }
            Op::ScatterAdd { base, positions, values } => {
                self.array(base)?;
                let elem = self.int();
                self.want(positions, Type::Array { rank: 1, elem })?;
                found(self.same(base, values)?)
            }
            Op::Concat(a, b) => {
                self.array(a)?;
                found(self.same(a, b)?)
            }
            Op::Transpose(a) => match self.array(a)? {
                (2.., _) => found(self.ty(a)),
                (rank, _) => Err(format!("transpose of rank {rank}")),
            },
            Op::MatMul(a, b) => {
                let (ra, ea) = self.array(a)?;
                let (rb, eb) = self.array(b)?;
                match (ra, rb) {
                    (2, 2) | (2, 1) | (1, 2) if ea == eb => found(array_type(self.program, ra + rb - 2, ea)),
                    _ => Err(format!("matrix product of ranks {ra} and {rb}")),
                }
            }

            Op::SpaceAdd(a, b) => found(self.same(a, b)?),
            Op::SpaceNeg(a) => found(self.ty(a)),
            Op::SpaceScale(scalar, a) => match self.get(scalar) {
                Type::F64 | Type::F32 => found(self.ty(a)),
                ty => Err(format!("scaling by {}", self.show(&ty))),
            },
            Op::SpaceDot(a, b) => {
                self.same(a, b)?;
                self.one(Type::F64)
            }
            Op::Move(x, _) => found(self.ty(x)),
            Op::Inspect(what, args) => match (what, &args[..]) {
                (Inspect::LeafNumbers, [_]) => {
                    let elem = self.program.intern(Type::F64);
                    self.one(Type::Array { rank: 1, elem })
                }
                (Inspect::LeafName, [_, i]) => {
                    self.want(i, Type::I64)?;
                    self.one(Type::Str)
                }
                (Inspect::TangentFrom, [_, numbers]) => {
                    let elem = self.program.intern(Type::F64);
                    self.want(numbers, Type::Array { rank: 1, elem })?;
                    Ok(None)
                }
                (Inspect::Compare, [a, b, rtol]) => {
                    self.same(a, b)?;
                    self.want(rtol, Type::F64)?;
                    self.one(Type::Str)
                }
                _ => Err(format!("{what:?} of {} operands", args.len())),
            },
            Op::ZeroLike(_) | Op::Zero | Op::Densify { .. } | Op::Sparse(_) => Ok(None),
            Op::Spread { tan, extents } => {
                self.all_int(extents)?;
                let ty = self.get(tan);
                let Type::Tan(of) = ty else {
                    return Err(format!("spread of {}", self.show(&ty)));
                };
                match *self.program.ty(of) {
                    Type::Array { rank, elem } if rank as usize == extents.len() => {
                        let elem = tangent_type(self.program, elem);
                        self.one(Type::Array { rank, elem })
                    }
                    _ => Err("spread of the tangent of something else than an array of this rank".into()),
                }
            }
            Op::TanPart { tan, step } => {
                self.step_int(step)?;
                let ty = self.ty(tan);
                if !matches!(self.program.ty(ty), Type::Tan(_)) {
                    return Err(format!("part of {} as a tangent", print_type(self.program, ty)));
                }
                found(part_type(self.program, ty, step)?)
            }
            Op::TanAdt { adt, variant, fields } => {
                let mut types = self.fields(*adt, *variant)?;
                types.iter_mut().for_each(|t| *t = tangent_type(self.program, *t));
                self.want_all(fields, &types, "fields")?;
                let ty = self.program.intern(Type::Adt(*adt));
                self.one(Type::Tan(ty))
            }
            Op::TanClosure { code, captures } => {
                let ty = closure_type(self.program, *code)?;
                let mut types = self.captures(*code);
                types.iter_mut().for_each(|t| *t = tangent_type(self.program, *t));
                self.want_all(captures, &types, "captures")?;
                let ty = self.program.intern(ty);
                self.one(Type::Tan(ty))
            }
            Op::TanUpdate { tan, subs, extents, value } => {
                self.subs_int(subs)?;
                self.all_int(extents)?;
                let ty = self.ty(tan);
                let Type::Tan(of) = *self.program.ty(ty) else {
                    return Err("update of something that is no tangent".into());
                };
                let part = sub_type(self.program, of, subs)?;
                let part = tangent_type(self.program, part);
                self.want_id(value, part)?;
                found(ty)
            }

            Op::AccNew(_) | Op::AccNull => Ok(None),
            Op::AccPart { acc, step } => {
                self.step_int(step)?;
                let of = self.accumulated(acc)?;
                let part = part_type(self.program, of, step)?;
                self.one(Type::Acc(part))
            }
            Op::AccAdd { acc, value } => {
                let of = self.accumulated(acc)?;
                let tan = tangent_type(self.program, of);
                self.want_id(value, tan)?;
                Ok(Some(Vec::new()))
            }
            Op::AccTake(acc) => {
                let of = self.accumulated(acc)?;
                found(tangent_type(self.program, of))
            }

            Op::Equal(a, b) => {
                self.same(a, b)?;
                self.one(Type::Bool)
            }
            Op::ToStr(_) => self.one(Type::Str),
            Op::StrConcat(a, b) => {
                self.want(a, Type::Str)?;
                self.want(b, Type::Str)?;
                self.one(Type::Str)
            }
            Op::Probe { label, value, .. } => {
                self.want(label, Type::Str)?;
                found(self.ty(value))
            }
            Op::Assert { cond, message } => {
                self.want(cond, Type::Bool)?;
                self.want(message, Type::Str)?;
                Ok(Some(Vec::new()))
            }
            Op::Panic(message) => {
                self.want(message, Type::Str)?;
                Ok(None)
            }
            Op::CheckSize { actual, expected, .. } => {
                self.want(actual, Type::I64)?;
                self.want(expected, Type::I64)?;
                Ok(Some(Vec::new()))
            }
            Op::Effect(effect, args) => {
                let types = match effect {
                    Effect::Progress => vec![Type::Str, Type::I64, Type::I64],
                    Effect::WriteText => vec![Type::Str, Type::Str],
                };
                let types: Vec<TypeId> = types.into_iter().map(|t| self.program.intern(t)).collect();
                self.want_all(args, &types, "operands")?;
                Ok(Some(Vec::new()))
            }
            Op::Ad(op) => match op.ad() {
                AdOp::Jvp { f, x, .. } | AdOp::Vjp { f, x } | AdOp::Pullback { f, x } => match self.get(f) {
                    Type::Fn { arg, .. } => {
                        self.want_id(x, arg)?;
                        Ok(None)
                    }
                    ty => Err(format!("derivative of {}", self.show(&ty))),
                },
            },
        }
    }

    fn fields(&mut self, adt: AdtId, variant: u32) -> Result<Vec<TypeId>, String> {
        match self.program.adts.get(adt).and_then(|d| d.variants.get(variant as usize)) {
            Some(v) => Ok(v.fields.iter().map(|(_, t)| *t).collect()),
            None => Err(format!("{adt} has no variant {variant}")),
        }
    }

    fn captures(&self, code: FnId) -> Vec<TypeId> {
        let captures = self.program.fns.get(code).and_then(|f| f.captures.as_ref());
        captures.map(|c| c.iter().map(|c| c.ty).collect()).unwrap_or_default()
    }

    fn accumulated(&mut self, acc: &Atom) -> Result<TypeId, String> {
        match self.get(acc) {
            Type::Acc(of) => Ok(of),
            ty => Err(format!("operand {acc:?} has type {}, not an accumulator", self.show(&ty))),
        }
    }
}

/// The scalar type that a type is.
pub fn scalar_type(ty: &Type) -> Option<ScalarType> {
    match ty {
        Type::F64 => Some(ScalarType::F64),
        Type::F32 => Some(ScalarType::F32),
        Type::I64 => Some(ScalarType::I64),
        Type::Bool => Some(ScalarType::Bool),
        Type::Str | Type::Tuple(_) | Type::Array { .. } | Type::Adt(_) | Type::Fn { .. } => None,
        Type::Tan(_) | Type::Acc(_) | Type::Residual => None,
    }
}

/// The type of a scalar primitive's result.
fn prim_type(prim: Prim, operands: &[Type]) -> Result<Type, String> {
    let fault = || format!("`{}` on operands of types {operands:?}", prim.name());
    if prim.args().len() != operands.len() {
        return Err(fault());
    }
    let mut generic = None;
    for (kind, ty) in prim.args().iter().zip(operands) {
        let ty = scalar_type(ty).ok_or_else(fault)?;
        let fits = match kind {
            ArgKind::T => *generic.get_or_insert(ty) == ty && prim.class().contains(ty),
            ArgKind::Int => ty == ScalarType::I64,
            ArgKind::Bool => ty == ScalarType::Bool,
        };
        if !fits {
            return Err(fault());
        }
    }
    Ok(match prim.result_type(generic.unwrap_or(ScalarType::Bool)) {
        ScalarType::F64 => Type::F64,
        ScalarType::F32 => Type::F32,
        ScalarType::I64 => Type::I64,
        ScalarType::Bool => Type::Bool,
    })
}
