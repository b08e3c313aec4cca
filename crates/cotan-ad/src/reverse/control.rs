//! Reverse mode through branches, loops and comprehensions.

use super::Reverse;
use super::region::{Kind, Walked};
use crate::expand::tree_from;
use crate::writer::Tree;
use cotan_ir::{AdtDef, AdtKind, Atom, Block, Op, Step, Stmt, Sub, Type, TypeId, Var, VariantDef, leaves};
use cotan_prim::Prim;
use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

impl Reverse<'_> {
    pub(super) fn control(&mut self, stmt: &Stmt) -> Vec<Stmt> {
        let trees: Vec<Tree> = stmt.vars.iter().map(|v| self.take(*v)).collect();
        if trees.iter().all(Tree::is_none) && !(self.has_accumulators && self.adds(&stmt.op)) {
            return vec![stmt.clone()];
        }
        match &stmt.op {
            Op::If { cond, then, otherwise } => {
                let walked = vec![self.branch(then, &trees), self.branch(otherwise, &trees)];
                self.branches(
                    stmt,
                    walked,
                    |blocks| {
                        let [then, otherwise] = two(blocks);
                        Op::If { cond: cond.clone(), then, otherwise }
                    },
                    &[&then.results, &otherwise.results],
                )
            }
            Op::Switch { on, arms, default } => {
                let blocks: Vec<&Block> = arms.iter().map(|(_, b)| b).chain(default).collect();
                let walked = blocks.iter().map(|b| self.branch(b, &trees)).collect();
                let results: Vec<&Vec<Atom>> = blocks.iter().map(|b| &b.results).collect();
                self.branches(
                    stmt,
                    walked,
                    |mut blocks| {
                        let default = default.as_ref().map(|_| blocks.pop().expect("a block per arm"));
                        Op::Switch { on: on.clone(), arms: arms.iter().map(|a| a.0).zip(blocks).collect(), default }
                    },
                    &results,
                )
            }
            Op::For { count, index, state, init, body } => {
                let walked = self.turn(Some(*index), state, body, count.clone(), &trees);
                let (mut types, fwd_body, tapes) = self.tapes(&walked.walked, body, &[*index], 1);
                let mut vars = stmt.vars.clone();
                vars.append(&mut types);
                let fwd = Op::For {
                    count: count.clone(),
                    index: *index,
                    state: state.clone(),
                    init: init.clone(),
                    body: fwd_body,
                };
                self.turns(walked, tapes, state, init, count.clone(), &trees);
                vec![Stmt { vars, op: fwd, span: stmt.span }]
            }
            Op::While { state, init, cond, body } => {
                // The number of turns is counted on the way forward.
                let int = self.w.intern(Type::I64);
                let turns = self.w.var(int);
                self.define(turns);
                let walked = self.turn(None, state, body, turns.into(), &trees);
                let (mut types, mut fwd_body, tapes) = self.tapes(&walked.walked, body, &[walked.position], 1);
                let (so_far, next) = (self.w.var(int), self.w.var(int));
                fwd_body.stmts.push(Stmt {
                    vars: vec![next],
                    op: Op::Prim(Prim::Add, vec![so_far.into(), Atom::int(1)]),
                    span: stmt.span,
                });
                fwd_body.results.insert(state.len(), next.into());
                let mut vars = stmt.vars.clone();
                vars.insert(state.len(), turns);
                vars.append(&mut types);
                let fwd = Op::While {
                    state: state.iter().copied().chain([so_far]).collect(),
                    init: init.iter().cloned().chain([Atom::int(0)]).collect(),
                    cond: cond.clone(),
                    body: fwd_body,
                };
                self.turns(walked, tapes, state, init, turns.into(), &trees);
                vec![Stmt { vars, op: fwd, span: stmt.span }]
            }
            Op::Build { extents, indices, body } => self.build(stmt, extents, indices, body, &trees),
            other => unreachable!("{other:?} is no control"),
        }
    }

    /// Whether an operation adds to an accumulator, itself or in a block or callee.
    fn adds(&self, op: &Op) -> bool {
        let mut found = false;
        op.for_each_block(|b| {
            b.for_each_stmt(&mut |s| {
                found |= match &s.op {
                    Op::AccAdd { .. } => true,
                    Op::Call { args, .. } | Op::Dispatch { args, .. } => {
                        args.iter().filter_map(Atom::var).any(|v| matches!(self.w.ty(self.w.vars[v].ty), Type::Acc(_)))
                    }
                    _ => false,
                }
            });
        });
        found
    }

    fn branch(&mut self, block: &Block, trees: &[Tree]) -> Walked {
        self.region(Kind::Branch, &[], block, |_| trees.to_vec(), |_| Vec::new())
    }

    /// Joins the walked branches: the forward operation tells by a residual which way it went, with what that way keeps.
    fn branches(
        &mut self,
        stmt: &Stmt,
        walked: Vec<Walked>,
        rebuild: impl Fn(Vec<Block>) -> Op,
        results: &[&Vec<Atom>],
    ) -> Vec<Stmt> {
        let keys: IndexSet<(Var, Vec<u32>), FxBuildHasher> =
            walked.iter().flat_map(|w| w.outer.keys().cloned()).collect();
        let types: Vec<TypeId> = keys.iter().map(|(v, path)| self.float_type(*v, path)).collect();
        let keeps = walked.iter().any(|w| !w.saved.is_empty());

        let mut fwd_blocks = Vec::new();
        let mut bwd_blocks = Vec::new();
        let residual = if keeps { Some(self.branch_residual(&walked)) } else { None };
        for (i, (w, results)) in (0..).zip(walked.into_iter().zip(results)) {
            let mut bwd = w.bwd;
            for ((key, ty), _) in keys.iter().zip(&types).zip(0..) {
                let zero = self.w.float(*ty, 0.0);
                bwd.results.push(w.outer.get(key).cloned().unwrap_or(zero));
            }
            let mut fwd = Block { stmts: w.fwd, results: (*results).clone() };
            if let Some((adt, ty, kept)) = residual {
                let loads = (0..).zip(&w.saved).map(|(index, v)| Stmt {
                    vars: vec![*v],
                    op: Op::Field { base: kept.into(), variant: i, index },
                    span: stmt.span,
                });
                bwd.stmts = loads.chain(std::mem::take(&mut bwd.stmts)).collect();
                let made = self.w.var(ty);
                fwd.stmts.push(Stmt {
                    vars: vec![made],
                    op: Op::Adt { adt, variant: i, fields: w.saved.iter().map(|v| (*v).into()).collect() },
                    span: stmt.span,
                });
                fwd.results.push(made.into());
            }
            fwd_blocks.push(fwd);
            bwd_blocks.push(bwd);
        }

        self.w.span = stmt.span;
        let mut vars = stmt.vars.clone();
        let bwd = match residual {
            Some((_, _, kept)) => {
                vars.push(kept);
                Op::Switch { on: kept.into(), arms: (0..).zip(bwd_blocks).collect(), default: None }
            }
            None => rebuild(bwd_blocks),
        };
        let outs = self.w.emit_many(bwd, &types);
        for ((v, mut path), out) in keys.into_iter().zip(outs) {
            self.give(v, &mut path, Tree::Atom(out.into()));
        }
        vec![Stmt { vars, op: rebuild(fwd_blocks), span: stmt.span }]
    }

    fn float_type(&self, v: Var, path: &[u32]) -> TypeId {
        let mut ty = self.w.vars[v].ty;
        for i in path {
            let Type::Tuple(parts) = self.w.ty(ty) else { unreachable!("paths go through tuples") };
            ty = parts[*i as usize];
        }
        ty
    }

    /// The residual of a branch: a variant per way.
    fn branch_residual(&mut self, walked: &[Walked]) -> (cotan_ir::AdtId, TypeId, Var) {
        let variants = walked
            .iter()
            .enumerate()
            .map(|(i, w)| VariantDef {
                name: format!("Way{i}"),
                named: false,
                fields: w.saved.iter().enumerate().map(|(i, v)| (i.to_string(), self.w.vars[*v].ty)).collect(),
            })
            .collect();
        let adt = self.w.program.adts.push(AdtDef { name: "Branch".into(), variants, kind: AdtKind::Residual });
        let ty = self.w.intern(Type::Adt(adt));
        let kept = self.w.var(ty);
        self.define(kept);
        (adt, ty, kept)
    }

    // Loops.

    /// Walks the body of a loop. The backward body takes the cotangents of the state (its leaves) as new variables, which are
    /// appended to `bwd.results` in the same order by `finish`.
    fn turn(&mut self, index: Option<Var>, state: &[Var], body: &Block, count: Atom, trees: &[Tree]) -> LoopWalk {
        let int = self.w.intern(Type::I64);
        // The position of the turn, as the forward loop counted: its own index, or a new variable.
        let position = index.unwrap_or_else(|| self.w.var(int));
        let mut carries = Vec::new();
        for v in state {
            let ty = self.w.vars[*v].ty;
            for leaf in leaves(self.w.program, ty) {
                let tan = self.w.tangent(leaf.ty);
                let carry = self.w.var_like(tan, *v, "_bar");
                carries.push((*v, leaf.path, carry, tan));
            }
        }
        let params: Vec<Var> = state.iter().copied().chain([position]).collect();
        let (finals, collected) = trees.split_at(state.len());
        debug_assert_eq!(finals.len(), state.len());
        let types: Vec<TypeId> = body.results[state.len()..].iter().map(|a| self.w.type_of(a)).collect();
        let carried = carries.clone();
        let walked = self.region(
            Kind::Loop,
            &params,
            body,
            |this| {
                let mut starts: Vec<Tree> = state.iter().map(|v| this.tree_of(*v, &carried)).collect();
                for (tree, ty) in collected.iter().zip(&types) {
                    starts.push(match tree {
                        Tree::Atom(tan) => {
                            let step =
                                Step::Index { subs: vec![Sub::At(position.into())], extents: vec![count.clone()] };
                            let part = this.w.tangent(*ty);
                            let part = this.w.emit(Op::TanPart { tan: tan.clone(), step }, part);
                            this.w.tree(part)
                        }
                        _ => Tree::None,
                    });
                }
                starts
            },
            |this| {
                let mut next = Vec::new();
                for v in state {
                    let tree = this.take(*v);
                    for (_, path, _, tan) in carried.iter().filter(|c| c.0 == *v) {
                        next.push(this.w.whole(&tree.at(path), *tan));
                    }
                }
                next
            },
        );
        LoopWalk { walked, carries, position }
    }

    /// The cotangent of `v` from the values of its leaves.
    fn tree_of(&mut self, v: Var, leaves: &[Carry]) -> Tree {
        let mine: Vec<_> = leaves.iter().filter(|c| c.0 == v).map(|c| (c.1.clone(), c.2.into())).collect();
        tree_from(&self.w, self.w.vars[v].ty, &mut Vec::new(), &mine)
    }

    /// The forward body that also collects what the backward body needs; the variables of the collections; how to load from them.
    fn tapes(&mut self, walked: &Walked, body: &Block, except: &[Var], rank: u32) -> (Vec<Var>, Block, Vec<Tape>) {
        let mut fwd = Block { stmts: walked.fwd.clone(), results: body.results.clone() };
        let (mut vars, mut tapes) = (Vec::new(), Vec::new());
        for v in walked.saved.iter().filter(|v| !except.contains(v)) {
            let ty = self.w.vars[*v].ty;
            let (elem, boxed) = if self.w.array(ty).is_some() && matches!(self.w.ty(ty), Type::Array { .. }) {
                // Arrays of turns may differ in size: each goes into a box of its own.
                let adt = crate::box_of(self.w.program, self.w.state, ty);
                let boxed_ty = self.w.intern(Type::Adt(adt));
                let b = self.w.var(boxed_ty);
                fwd.stmts.push(Stmt {
                    vars: vec![b],
                    op: Op::Adt { adt, variant: 0, fields: vec![(*v).into()] },
                    span: self.w.span,
                });
                fwd.results.push(b.into());
                (boxed_ty, true)
            } else {
                fwd.results.push((*v).into());
                (ty, false)
            };
            let tape_ty = self.w.intern(Type::Array { rank, elem });
            let tape = self.w.var(tape_ty);
            self.define(tape);
            vars.push(tape);
            tapes.push(Tape { value: *v, tape, elem, boxed });
        }
        (vars, fwd, tapes)
    }

    /// Statements that load what a turn kept.
    fn loads(&mut self, tapes: &[Tape], at: &[Atom]) -> Vec<Stmt> {
        let span = self.w.span;
        let mut loads = Vec::new();
        for t in tapes {
            self.w.mark(&t.tape.into());
            let index = Op::Index { array: t.tape.into(), at: at.to_vec() };
            if t.boxed {
                let b = self.w.var(t.elem);
                loads.push(Stmt { vars: vec![b], op: index, span });
                loads.push(Stmt { vars: vec![t.value], op: Op::Field { base: b.into(), variant: 0, index: 0 }, span });
            } else {
                loads.push(Stmt { vars: vec![t.value], op: index, span });
            }
        }
        loads
    }

    /// Writes the backward loop.
    fn turns(&mut self, out: LoopWalk, tapes: Vec<Tape>, state: &[Var], init: &[Atom], count: Atom, trees: &[Tree]) {
        let LoopWalk { walked, carries, position } = out;
        let int = self.w.intern(Type::I64);
        let mut starts = Vec::new();
        for (v, path, _, tan) in &carries {
            let i = state.iter().position(|s| s == v).expect("a carry belongs to a state");
            starts.push(self.w.whole(&trees[i].at(path), *tan));
        }
        let turn = self.w.var(int);
        let last = self.w.var(int);
        let span = self.w.span;
        self.w.mark(&count);
        let mut stmts = vec![
            Stmt { vars: vec![last], op: Op::Prim(Prim::Sub, vec![count.clone(), Atom::int(1)]), span },
            Stmt { vars: vec![position], op: Op::Prim(Prim::Sub, vec![last.into(), turn.into()]), span },
        ];
        stmts.extend(self.loads(&tapes, &[position.into()]));
        let mut body = walked.bwd;
        stmts.append(&mut body.stmts);
        body.stmts = stmts;
        let op = Op::For { count, index: turn, state: carries.iter().map(|c| c.2).collect(), init: starts, body };
        let types: Vec<TypeId> = carries.iter().map(|c| c.3).collect();
        let outs = self.w.emit_many(op, &types);
        self.take_outer(walked.outer);
        for ((v, path, _, _), bar) in carries.into_iter().zip(outs) {
            let i = state.iter().position(|s| *s == v).expect("a carry belongs to a state");
            if let Atom::Var(start) = init[i] {
                self.give(start, &mut path.clone(), Tree::Atom(bar.into()));
            }
        }
    }

    /// Takes what the turns added to floats of outer blocks.
    fn take_outer(&mut self, outer: indexmap::IndexMap<(Var, Vec<u32>), Atom, FxBuildHasher>) {
        for ((v, mut path), acc) in outer {
            let ty = self.float_type(v, &path);
            let sum = self.w.emit(Op::AccTake(acc), ty);
            self.give(v, &mut path, Tree::Atom(sum));
        }
    }

    /// A comprehension: the backward part runs over the same indices, in any order, since it only adds.
    fn build(&mut self, stmt: &Stmt, extents: &[Atom], indices: &[Var], body: &Block, trees: &[Tree]) -> Vec<Stmt> {
        let mut sources = Vec::new();
        for ((y, tree), result) in stmt.vars.iter().zip(trees).zip(&body.results) {
            let ty = self.w.type_of(result);
            sources.push(match tree {
                Tree::Atom(tan) if self.w.array(ty).is_some() && matches!(self.w.ty(ty), Type::Array { .. }) => {
                    Source::Part(tan.clone(), self.extents_of(&(*y).into()), ty)
                }
                Tree::Atom(tan) => Source::Element(self.spread(tan.clone(), *y), ty),
                _ => Source::None,
            });
        }
        let at: Vec<Atom> = indices.iter().map(|i| (*i).into()).collect();
        let walked = self.region(
            Kind::Loop,
            indices,
            body,
            |this| {
                let mut starts = Vec::new();
                for source in sources {
                    starts.push(match source {
                        Source::None => Tree::None,
                        Source::Element(dense, ty) => {
                            let tan = this.w.tangent(ty);
                            let part = this.w.emit(Op::Index { array: dense, at: at.clone() }, tan);
                            this.w.tree(part)
                        }
                        Source::Part(tan, extents, ty) => {
                            let part_ty = this.w.tangent(ty);
                            let subs = at.iter().cloned().map(Sub::At).collect();
                            Tree::Atom(this.w.emit(Op::TanPart { tan, step: Step::Index { subs, extents } }, part_ty))
                        }
                    });
                }
                starts
            },
            |_| Vec::new(),
        );
        let (mut more, fwd_body, tapes) = self.tapes(&walked, body, indices, extents.len() as u32);
        self.w.span = stmt.span;
        let mut bwd = walked.bwd;
        let mut stmts = self.loads(&tapes, &at);
        stmts.append(&mut bwd.stmts);
        bwd.stmts = stmts;
        self.w.push(Vec::new(), Op::Build { extents: extents.to_vec(), indices: indices.to_vec(), body: bwd });
        self.take_outer(walked.outer);
        let mut vars = stmt.vars.clone();
        vars.append(&mut more);
        let op = Op::Build { extents: extents.to_vec(), indices: indices.to_vec(), body: fwd_body };
        vec![Stmt { vars, op, span: stmt.span }]
    }
}

/// A leaf of the state: variable, path, the variable that carries its cotangent, its tangent type.
type Carry = (Var, Vec<u32>, Var, TypeId);

struct LoopWalk {
    walked: Walked,
    carries: Vec<Carry>,
    position: Var,
}

/// What is kept of one value in each turn.
struct Tape {
    value: Var,
    tape: Var,
    elem: TypeId,
    boxed: bool,
}

/// Where the cotangent of an element of a comprehension comes from.
enum Source {
    None,
    /// An array of cotangents; type of the element.
    Element(Atom, TypeId),
    /// A sparse cotangent of the whole array, whose elements are arrays; its extents; type of the element.
    Part(Atom, Vec<Atom>, TypeId),
}

fn two(blocks: Vec<Block>) -> [Block; 2] {
    <[Block; 2]>::try_from(blocks).unwrap_or_else(|_| unreachable!("an if has two blocks"))
}
