//! Small well-typed programs from a number: the same number, the same program.
//!
//! `f0` takes `(Float, Int, Bool, []Float, List)` and has results of several types; it calls `f1`, makes closures over `f2` and is
//! full of things that a simplifier likes: copies, parts of what was just made, known branches, repeated and unused work.

use cotan_ir::{
    AdOp, AdtDef, AdtId, AdtKind, Atom, Capture, FnId, FuncBuilder, Lit, Op, Program, ReduceOp, Step, Sub, Type,
    TypeId, VariantDef,
};
use cotan_prim::Prim;
use cotan_source::Span;

/// A source of numbers that look random.
pub struct Dice(u64);

impl Dice {
    /// Starts from `seed`.
    pub fn new(seed: u64) -> Dice {
        Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x1234_5678)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    /// One of some.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }
}

/// The types that generated programs use.
struct Types {
    f64: TypeId,
    i64: TypeId,
    bool: TypeId,
    pair: TypeId,
    floats: TypeId,
    list: TypeId,
    function: TypeId,
    tangent: TypeId,
    acc: TypeId,
    acc_float: TypeId,
}

const LIST: AdtId = AdtId(0);
const HELPER: FnId = FnId(1);
const CODE: FnId = FnId(2);

struct Gen<'p, 'd> {
    b: FuncBuilder<'p, AdOp>,
    t: Types,
    dice: &'d mut Dice,
    /// Operands in scope with their types.
    pool: Vec<(Atom, TypeId)>,
    depth: usize,
    may_call: bool,
}

/// A program with `size` rounds of statements in its main function.
pub fn program(seed: u64, size: usize) -> Program<AdOp> {
    let mut dice = Dice::new(seed);
    let mut program = Program::default();
    let t = types(&mut program);
    let fields = vec![("0".to_string(), t.f64), ("1".to_string(), t.list)];
    program.adts.push(AdtDef {
        name: "List<Float>".into(),
        variants: vec![
            VariantDef { name: "Nil".into(), named: false, fields: Vec::new() },
            VariantDef { name: "Cons".into(), named: false, fields },
        ],
        kind: AdtKind::Enum,
    });
    let (param_types, result_types) =
        (vec![t.f64, t.i64, t.bool, t.floats, t.list], vec![t.f64, t.i64, t.pair, t.list]);
    // Every function must be there before it is called: first without its code.
    for which in 0..3 {
        let func = function(&mut program, &mut dice, which, 0, &param_types, &result_types);
        program.fns.push(func);
    }
    for which in [1, 2, 0] {
        let size = if which == 0 { size } else { 3 };
        program.fns[FnId(which)] = function(&mut program, &mut dice, which, size, &param_types, &result_types);
    }
    program
}

fn types(program: &mut Program<AdOp>) -> Types {
    let f64 = program.intern(Type::F64);
    let i64 = program.intern(Type::I64);
    let floats = program.intern(Type::Array { rank: 1, elem: f64 });
    Types {
        f64,
        i64,
        bool: program.intern(Type::Bool),
        pair: program.intern(Type::Tuple(vec![f64, i64])),
        floats,
        list: program.intern(Type::Adt(LIST)),
        function: program.intern(Type::Fn { arg: f64, result: f64 }),
        tangent: program.intern(Type::Tan(floats)),
        acc: program.intern(Type::Acc(floats)),
        acc_float: program.intern(Type::Acc(f64)),
    }
}

fn function(
    program: &mut Program<AdOp>,
    dice: &mut Dice,
    which: u32,
    size: usize,
    params: &[TypeId],
    results: &[TypeId],
) -> cotan_ir::Func<AdOp> {
    let t = types(program);
    let name = ["main", "helper", "code of a closure"][which as usize];
    let b = FuncBuilder::new(program, name);
    let mut g = Gen { b, t, dice, pool: Vec::new(), depth: 0, may_call: which == 0 };
    let (params, results) = match FnId(which) {
        CODE => (vec![g.t.function, g.t.f64], vec![g.t.f64]),
        HELPER => (vec![g.t.f64, g.t.i64], vec![g.t.f64, g.t.i64]),
        _ => (params.to_vec(), results.to_vec()),
    };
    for (i, ty) in params.iter().enumerate() {
        let name = (i != 1).then(|| ["x", "", "c", "odd name", "l"][i].to_string());
        let v = g.b.param(*ty, name);
        g.pool.push((v.into(), *ty));
    }
    if FnId(which) == CODE {
        g.b.set_captures(vec![Capture { name: "w".into(), ty: g.t.f64 }]);
        let base = g.pool[0].0.clone();
        let ty = g.t.f64;
        g.given(Op::Capture { base, code: CODE, index: 0 }, ty);
    }
    for _ in 0..size {
        g.statement();
    }
    let out = results.iter().map(|ty| g.operand(*ty)).collect();
    g.b.finish(out, Span::NONE)
}

impl Gen<'_, '_> {
    fn one(&mut self, op: Op<AdOp>) -> Atom {
        let v = self.b.emit_typed1(op);
        let ty = self.b.var_type(v);
        if self.dice.below(5) == 0 {
            self.b.name_var(v, "tmp");
        }
        self.pool.push((v.into(), ty));
        v.into()
    }

    fn given(&mut self, op: Op<AdOp>, ty: TypeId) -> Atom {
        let v = self.b.emit1(op, ty);
        self.pool.push((v.into(), ty));
        v.into()
    }

    /// An operand of a type: mostly one that exists, the newer the likelier.
    fn operand(&mut self, ty: TypeId) -> Atom {
        let have: Vec<Atom> = self.pool.iter().filter(|(_, t)| *t == ty).map(|(a, _)| a.clone()).collect();
        if !have.is_empty() && self.dice.below(5) > 0 {
            let newest = have.len() - 1 - self.dice.below(have.len()).min(self.dice.below(have.len()));
            return have[newest].clone();
        }
        if ty == self.t.f64 {
            let specials = [0.0, -0.0, 1.0, -1.0, 2.0, 0.5, f64::INFINITY, f64::NAN, 1e300];
            Atom::f64(*self.dice.pick(&specials))
        } else if ty == self.t.i64 {
            Atom::int(*self.dice.pick(&[0, 1, 2, 3, -1, i64::MAX]))
        } else if ty == self.t.bool {
            Atom::Lit(Lit::Bool(self.dice.below(2) == 0))
        } else if ty == self.t.pair {
            let items = vec![self.operand(self.t.f64), self.operand(self.t.i64)];
            self.one(Op::Tuple(items))
        } else if ty == self.t.floats {
            let extents = vec![Atom::int(3)];
            let value = self.operand(self.t.f64);
            self.one(Op::Fill { extents, value })
        } else if ty == self.t.list {
            self.one(Op::Adt { adt: LIST, variant: 0, fields: Vec::new() })
        } else if ty == self.t.function {
            let captures = vec![self.operand(self.t.f64)];
            self.one(Op::Closure { code: CODE, captures })
        } else if ty == self.t.tangent {
            self.given(Op::Zero, ty)
        } else {
            self.given(Op::AccNew(None), ty)
        }
    }

    fn prim(&mut self) {
        use Prim::*;
        let floats = [Add, Sub, Mul, Div, Neg, AMul, Max, Min, Exp, Abs, Sqrt, Floor];
        let ints = [Add, Sub, Mul, Div, Rem, Neg, Max, Min];
        let compare = [Eq, Ne, Lt, Le, Gt, Ge];
        let (prim, ty) = match self.dice.below(6) {
            0..=2 => (*self.dice.pick(&floats), self.t.f64),
            3 => (*self.dice.pick(&ints), self.t.i64),
            4 => (*self.dice.pick(&compare), *self.dice.pick(&[self.t.f64, self.t.i64])),
            _ => match self.dice.below(6) {
                0 => (And, self.t.bool),
                1 => (Or, self.t.bool),
                2 => (Not, self.t.bool),
                3 => {
                    let args = vec![self.operand(self.t.bool), self.operand(self.t.f64), self.operand(self.t.f64)];
                    self.one(Op::Prim(Select, args));
                    return;
                }
                4 => {
                    let exponent = Atom::int(self.dice.below(4) as i64);
                    let args = vec![self.operand(self.t.f64), exponent];
                    self.one(Op::Prim(PowI, args));
                    return;
                }
                _ => (ToFloat, self.t.i64),
            },
        };
        let mut args: Vec<Atom> = prim.args().iter().map(|_| self.operand(ty)).collect();
        if self.dice.below(6) == 0 {
            let same = args[0].clone();
            args.fill(same);
        }
        self.one(Op::Prim(prim, args));
    }

    fn statement(&mut self) {
        let Types { f64, i64, bool, pair, floats, list, function, tangent, acc, acc_float } = self.t;
        match self.dice.below(30) {
            0..=7 => self.prim(),
            8 => {
                let ty = *self.dice.pick(&[f64, i64, bool, pair, list, floats]);
                let a = self.operand(ty);
                self.one(Op::Copy(a));
            }
            9 => {
                let t = self.operand(pair);
                let i = self.dice.below(2) as u32;
                self.one(Op::Proj(t, i));
            }
            10 => {
                let items = vec![self.operand(f64), self.operand(i64)];
                self.one(Op::Tuple(items));
            }
            11 => {
                let fields = vec![self.operand(f64), self.operand(list)];
                self.one(Op::Adt { adt: LIST, variant: 1, fields });
            }
            12 => self.switch(),
            13 if self.may_call => {
                let on = self.operand(function);
                let args = vec![self.operand(f64)];
                self.one(Op::Dispatch { on, path: Vec::new(), args });
            }
            14 if self.may_call => {
                let args = vec![self.operand(f64), self.operand(i64)];
                let results = self.b.emit_typed(Op::Call { func: HELPER, args });
                self.pool.push((results[0].into(), f64));
                self.pool.push((results[1].into(), i64));
            }
            15..=16 => self.branch(),
            17..=18 => self.counted_loop(),
            19 => self.while_loop(),
            20 => self.comprehension(),
            21 => {
                let (array, at) = (self.operand(floats), vec![self.operand(i64)]);
                self.one(Op::Index { array, at });
            }
            22 => {
                let (array, subs, value) = (self.operand(floats), vec![Sub::At(self.operand(i64))], self.operand(f64));
                self.one(Op::Update { array, subs, value });
            }
            23 => {
                let array = self.operand(floats);
                self.one(Op::Dim { array, axis: 0 });
            }
            24 => {
                let array = self.operand(floats);
                let op = *self.dice.pick(&[ReduceOp::Sum, ReduceOp::Max]);
                self.one(Op::Reduce(op, array));
            }
            25 => {
                let prim = *self.dice.pick(&[Prim::Add, Prim::Mul, Prim::Sub]);
                let other = *self.dice.pick(&[f64, floats]);
                let args = vec![self.operand(floats), self.operand(other)];
                self.one(Op::Map(prim, args));
            }
            26 => {
                let (a, b) = (self.operand(i64), self.operand(i64));
                match self.dice.below(6) {
                    0 => self.b.emit0(Op::CheckSize {
                        actual: a,
                        expected: b,
                        what: "axis 0 of `a`".into(),
                        size: "n".into(),
                    }),
                    1 => {
                        let (cond, message) = (self.operand(bool), Atom::Lit(Lit::Str("why \"so\"\n".into())));
                        self.b.emit0(Op::Assert { cond, message });
                    }
                    _ => {}
                }
            }
            27..=28 => {
                let acc = self.operand(acc);
                match self.dice.below(3) {
                    0 => {
                        let value = self.operand(tangent);
                        self.b.emit0(Op::AccAdd { acc, value });
                    }
                    1 => {
                        let step = Step::Index { subs: vec![Sub::At(Atom::int(0))], extents: vec![Atom::int(3)] };
                        self.one(Op::AccPart { acc, step });
                    }
                    _ => {
                        let (acc, value) = (self.operand(acc_float), self.operand(f64));
                        self.b.emit0(Op::AccAdd { acc, value });
                    }
                }
            }
            _ => self.sum(),
        }
    }

    /// An accumulator from beginning to end, and what it holds as an array.
    fn sum(&mut self) {
        let Types { f64, floats, tangent, acc, .. } = self.t;
        let made = self.b.emit1(Op::AccNew(None), acc);
        for _ in 0..self.dice.below(3) {
            // A sum has one shape, here 3.
            let value = self.operand(f64);
            let like = self.one(Op::Fill { extents: vec![Atom::int(3)], value });
            let value = match self.dice.below(2) {
                0 => self.operand(tangent),
                _ => self.given(Op::Sparse(like), tangent),
            };
            self.b.emit0(Op::AccAdd { acc: made.into(), value });
        }
        let taken = self.one(Op::AccTake(made.into()));
        let spread = self.one(Op::Spread { tan: taken, extents: vec![Atom::int(3)] });
        self.pool.push((spread, floats));
    }

    /// A nested block with results of these types; what it defines is not seen outside.
    fn block(&mut self, statements: usize, results: &[TypeId]) -> cotan_ir::Block<AdOp> {
        let outside = self.pool.len();
        self.depth += 1;
        self.b.begin_block();
        for _ in 0..if self.depth < 4 { statements } else { 0 } {
            self.statement();
        }
        let results = results.iter().map(|ty| self.operand(*ty)).collect();
        self.depth -= 1;
        self.pool.truncate(outside);
        self.b.end_block(results)
    }

    fn results(&mut self) -> Vec<TypeId> {
        let Types { f64, i64, pair, list, .. } = self.t;
        (0..self.dice.below(3)).map(|_| *self.dice.pick(&[f64, i64, pair, list])).collect()
    }

    fn finish(&mut self, op: Op<AdOp>) {
        for v in self.b.emit_typed(op) {
            let ty = self.b.var_type(v);
            self.pool.push((v.into(), ty));
        }
    }

    fn branch(&mut self) {
        let cond = self.operand(self.t.bool);
        let types = self.results();
        let (n, m) = (self.dice.below(4), self.dice.below(4));
        let then = self.block(n, &types);
        let otherwise = self.block(m, &types);
        self.finish(Op::If { cond, then, otherwise });
    }

    fn switch(&mut self) {
        let on = self.operand(self.t.list);
        let types = self.results();
        let n = self.dice.below(3);
        let nil = self.block(n, &types);
        let outside = self.pool.len();
        self.b.begin_block();
        let base = on.clone();
        self.one(Op::Field { base, variant: 1, index: 0 });
        let base = on.clone();
        self.one(Op::Field { base, variant: 1, index: 1 });
        self.statement();
        let results = types.iter().map(|ty| self.operand(*ty)).collect();
        self.pool.truncate(outside);
        let cons = self.b.end_block(results);
        let op = match self.dice.below(2) {
            0 => Op::Switch { on, arms: vec![(0, nil), (1, cons)], default: None },
            _ => Op::Switch { on, arms: vec![(1, cons)], default: Some(nil) },
        };
        self.finish(op);
    }

    fn counted_loop(&mut self) {
        let count = Atom::int(self.dice.below(4) as i64 - 1);
        let types = self.results();
        let init: Vec<Atom> = types.iter().map(|ty| self.operand(*ty)).collect();
        let index = self.b.var(self.t.i64, Some("i".into()));
        let state: Vec<_> = types.iter().map(|ty| self.b.var(*ty, None)).collect();
        let outside = self.pool.len();
        self.pool.push((index.into(), self.t.i64));
        self.pool.extend(state.iter().zip(&types).map(|(v, ty)| (Atom::Var(*v), *ty)));
        let mut results = types.clone();
        if self.dice.below(3) == 0 {
            results.push(self.t.f64);
        }
        let n = self.dice.below(4);
        let mut body = self.block(n, &results);
        if let (Some(s), 0) = (state.first(), self.dice.below(4)) {
            body.results[0] = Atom::Var(*s);
        }
        self.pool.truncate(outside);
        self.finish(Op::For { count, index, state, init, body });
    }

    /// A loop that counts down, with another state beside.
    fn while_loop(&mut self) {
        let Types { f64, i64, .. } = self.t;
        let init = vec![Atom::int(self.dice.below(3) as i64), self.operand(f64)];
        let state = vec![self.b.var(i64, None), self.b.var(f64, None)];
        let cond =
            self.b.block(|b| vec![b.emit_typed1(Op::Prim(Prim::Gt, vec![state[0].into(), Atom::int(0)])).into()]);
        let outside = self.pool.len();
        self.pool.push((state[1].into(), f64));
        let n = self.dice.below(3);
        let mut body = self.block(n, &[f64]);
        self.pool.truncate(outside);
        let next = self.b.var(i64, None);
        body.stmts.push(cotan_ir::Stmt {
            vars: vec![next],
            op: Op::Prim(Prim::Sub, vec![state[0].into(), Atom::int(1)]),
            span: Span::NONE,
        });
        body.results.insert(0, next.into());
        self.finish(Op::While { state, init, cond, body });
    }

    fn comprehension(&mut self) {
        let index = self.b.var(self.t.i64, None);
        let outside = self.pool.len();
        self.pool.push((index.into(), self.t.i64));
        let n = self.dice.below(3);
        let body = self.block(n, &[self.t.f64]);
        self.pool.truncate(outside);
        let extents = vec![Atom::int(self.dice.below(4) as i64)];
        self.finish(Op::Build { extents, indices: vec![index], body });
    }
}
