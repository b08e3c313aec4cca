//! Each mode from a rule of the other.
//!
//! In: a function whose program gives one mode. Out: the other, by transposing: the backward part of a rule is linear in the cotangent,
//! and the forward rule is linear in the tangent, so the pullback of either at any point is its transpose.

use crate::expand::tree_from;
use crate::signature::differentiable_results;
use crate::writer::{Tree, Writer};
use crate::{State, declare_reverse};
use cotan_ir::{AdtId, Atom, Block, FnId, Func, Op, Program, Type, TypeId, Var, VariantDef, leaves};
use cotan_source::IndexVec;

/// `function.Jvp` from `Fwd` and `Bwd`: the pullback of `Bwd` in the cotangent of the result, applied to the tangents.
pub(crate) fn jvp_from_vjp(program: &mut Program, state: &mut State, function: FnId, fwd: FnId, bwd: FnId) -> Func {
    let f = program.fns[function].clone();
    // What is kept is constant here: only the dependence on the cotangent is transposed.
    let (fwd2, bwd2) = declare_reverse(program, state, bwd, 1);
    let kept_ty = *program.fns[fwd].results.last().expect("a forward part yields its residual");
    let kept2_ty = *program.fns[fwd2].results.last().expect("a forward part yields its residual");
    let w = &mut Writer::new(program, state, f.vars.clone());
    w.span = f.span;
    let mut params = f.params.clone();
    let mut dots = Vec::new();
    for p in &f.params {
        let ty = w.vars[*p].ty;
        if w.differentiable(ty) {
            let tan = w.tangent(ty);
            let dot = w.var_like(tan, *p, "_dot");
            params.push(dot);
            dots.push((ty, dot));
        }
    }
    let active = differentiable_results(w.program, &f.results);
    let body = w.block(|w| {
        let args: Vec<Atom> = f.params.iter().map(|p| (*p).into()).collect();
        let types: Vec<TypeId> = f.results.iter().copied().chain([kept_ty]).collect();
        let mut out = w.emit_many(Op::Call { func: fwd, args }, &types);
        let kept = Atom::Var(out.pop().expect("the residual"));

        // Bwd at cotangent zero, for its own residual.
        let mut args = vec![kept];
        for i in &active {
            let tan = w.tangent(f.results[*i]);
            args.push(w.whole(&Tree::None, tan));
        }
        let mut float_dots = Vec::new();
        let mut readers = Vec::new();
        let mut float_types = Vec::new();
        for (ty, dot) in &dots {
            let tree = w.tree((*dot).into());
            for leaf in leaves(w.program, *ty) {
                let tan = w.tangent(leaf.ty);
                let part = w.whole(&tree.at(&leaf.path), tan);
                if leaf.is_float {
                    float_dots.push(part);
                    float_types.push(leaf.ty);
                } else {
                    let acc_ty = w.acc(leaf.ty);
                    args.push(w.emit(Op::AccNew(None), acc_ty));
                    readers.push(part);
                }
            }
        }
        let types: Vec<TypeId> = float_types.iter().copied().chain([kept2_ty]).collect();
        let kept2 = *w.emit_many(Op::Call { func: fwd2, args }, &types).last().expect("the residual");

        // Its pullback: cotangents of its results are the tangents of the parameters.
        let mut args = vec![Atom::Var(kept2)];
        args.extend(float_dots);
        let mut float_types = Vec::new();
        let mut plan = Vec::new();
        for i in &active {
            let tan = w.tangent(f.results[*i]);
            for leaf in leaves(w.program, tan) {
                if leaf.is_float {
                    float_types.push(leaf.ty);
                    plan.push((*i, leaf.path, None));
                } else {
                    let acc_ty = w.acc(leaf.ty);
                    let acc = w.emit(Op::AccNew(None), acc_ty);
                    args.push(acc.clone());
                    plan.push((*i, leaf.path, Some((acc, leaf.ty))));
                }
            }
        }
        args.extend(readers);
        let mut floats = w.emit_many(Op::Call { func: bwd2, args }, &float_types).into_iter();
        let mut parts: Vec<(usize, Vec<u32>, Atom)> = Vec::new();
        for (i, path, acc) in plan {
            let atom = match acc {
                None => Atom::Var(floats.next().expect("one float per float leaf")),
                Some((acc, ty)) => w.emit(Op::AccTake(acc), ty),
            };
            parts.push((i, path, atom));
        }
        let mut results: Vec<Atom> = out.into_iter().map(Atom::Var).collect();
        for i in &active {
            let mine: Vec<_> = parts.iter().filter(|p| p.0 == *i).map(|p| (p.1.clone(), p.2.clone())).collect();
            let tan = w.tangent(f.results[*i]);
            let tree = tree_from(w, tan, &mut Vec::new(), &mine);
            results.push(w.whole(&tree, tan));
        }
        results
    });
    w.func(format!("{}.jvp", f.name), params, body, f.span)
}

/// `function.Fwd` and `function.Bwd` from `Jvp`: the pullback of the forward rule in its tangents.
pub(crate) fn reverse_from_jvp(
    program: &mut Program,
    state: &mut State,
    function: FnId,
    jvp: FnId,
    residual: AdtId,
) -> (Func, Func) {
    let f = program.fns[function].clone();
    // The point is constant here: the rule may be nonlinear in it, and may call the function itself.
    let (fwd2, bwd2) = declare_reverse(program, state, jvp, f.params.len());
    let kept2_ty = *program.fns[fwd2].results.last().expect("a forward part yields its residual");
    let name = program.adts[residual].name.clone();
    program.adts[residual].variants = vec![VariantDef { name, named: false, fields: vec![("0".into(), kept2_ty)] }];
    let residual_ty = program.intern(Type::Adt(residual));

    let fwd = {
        let w = &mut Writer::new(program, state, f.vars.clone());
        w.span = f.span;
        let body = w.block(|w| {
            let mut args: Vec<Atom> = f.params.iter().map(|p| (*p).into()).collect();
            for p in &f.params {
                let ty = w.vars[*p].ty;
                if w.differentiable(ty) {
                    let tan = w.tangent(ty);
                    args.push(w.whole(&Tree::None, tan));
                }
            }
            let mut types = f.results.clone();
            for i in differentiable_results(w.program, &f.results) {
                types.push(w.tangent(f.results[i]));
            }
            types.push(kept2_ty);
            let out = w.emit_many(Op::Call { func: fwd2, args }, &types);
            let kept2 = Atom::Var(*out.last().expect("the residual"));
            let kept = w.emit(Op::Adt { adt: residual, variant: 0, fields: vec![kept2] }, residual_ty);
            let mut results: Vec<Atom> = out[..f.results.len()].iter().map(|v| (*v).into()).collect();
            results.push(kept);
            results
        });
        w.func(format!("{}.fwd", f.name), f.params.clone(), body, f.span)
    };

    let w = &mut Writer::new(program, state, IndexVec::new());
    w.span = f.span;
    let kept = w.var(residual_ty);
    let mut params: Vec<Var> = vec![kept];
    let active = differentiable_results(w.program, &f.results);
    let mut bars = Vec::new();
    for i in &active {
        let tan = w.tangent(f.results[*i]);
        let bar = w.var(tan);
        params.push(bar);
        bars.push(bar);
    }
    let param_types: Vec<TypeId> = f.params.iter().map(|p| f.vars[*p].ty).collect();
    let mut accs = Vec::new();
    for ty in &param_types {
        for leaf in leaves(w.program, *ty).into_iter().filter(|l| !l.is_float) {
            let acc_ty = w.acc(leaf.ty);
            let acc = w.var(acc_ty);
            params.push(acc);
            accs.push(acc);
        }
    }
    let body: Block = w.block(|w| {
        let kept2 = w.emit(Op::Field { base: kept.into(), variant: 0, index: 0 }, kept2_ty);
        let mut args = vec![kept2];
        for i in &active {
            let tan = w.tangent(f.results[*i]);
            args.push(w.whole(&Tree::None, tan));
        }
        args.extend(bars.iter().map(|b| Atom::Var(*b)));
        let mut float_types = Vec::new();
        let mut made = Vec::new();
        for ty in param_types.clone() {
            let tan = w.tangent(ty);
            for leaf in leaves(w.program, tan) {
                if leaf.is_float {
                    float_types.push(leaf.ty);
                } else {
                    let acc_ty = w.acc(leaf.ty);
                    let acc = w.emit(Op::AccNew(None), acc_ty);
                    args.push(acc.clone());
                    made.push((acc, leaf.ty));
                }
            }
        }
        let floats = w.emit_many(Op::Call { func: bwd2, args }, &float_types);
        for ((acc, ty), given) in made.into_iter().zip(&accs) {
            let value = w.emit(Op::AccTake(acc), ty);
            w.run(Op::AccAdd { acc: (*given).into(), value });
        }
        floats.into_iter().map(Atom::Var).collect()
    });
    let bwd = w.func(format!("{}.bwd", f.name), params, body, f.span);
    (fwd, bwd)
}
