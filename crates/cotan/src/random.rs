//! Random arguments.
//!
//! In: a function, the arguments that were given, a seed. Out: values for the others, whose array sizes agree with the names
//! in the signature and with the sizes that were given. Newly true: the checks of sizes on entry of the function hold.

use crate::entry;
use crate::io::{Elements, Types, make};
use crate::value::Value;
use cotan_core::{BinaryOp, Expr, ExprKind, FnBody, FnDef, FnId, Lit, LocalId, Program, SizeName, StmtKind, Ty};
use cotan_ir::{Type, TypeId};
use rustc_hash::FxHashMap;

/// A generator of numbers, the same on every machine (SplitMix64).
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
}

impl Random {
    /// A generator that starts at `seed`.
    pub fn new(seed: u64) -> Self {
        Random { state: seed.wrapping_mul(0x2545_f491_4f6c_dd1d).wrapping_add(1) }
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number in `0..n`.
    pub fn below(&mut self, n: u64) -> u64 {
        self.bits() % n.max(1)
    }

    /// A number between `low` and `high`, with four digits: readable in messages.
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        let x = low + (high - low) * (self.below(1 << 30) as f64 / f64::from(1 << 30));
        (x * 1e4).round() / 1e4
    }
}

/// What random floats may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Domain {
    /// Of either sign.
    All,
    /// Above zero.
    Positive,
    /// Strictly inside 0 to 1.
    Unit,
}

/// A part of the arguments: the parameter, then fields and components.
type Place = (usize, Vec<usize>);

/// Sizes of the arrays in the arguments.
struct Sizes {
    extents: FxHashMap<(Place, usize), i64>,
    ints: FxHashMap<usize, i64>,
}

/// Values for all parameters of `function`; those of `given` stay.
pub fn arguments(
    core: &Program,
    function: FnId,
    given: &[Option<Value>],
    tys: &[TypeId],
    types: Types<'_>,
    domain: Domain,
    random: &mut Random,
) -> Vec<Value> {
    let def = &core.fns[function];
    let sizes = sizes(def, given, random);
    let (params, _) = entry::signature(core, function);
    let mut maker = Maker { core, types, domain, random, sizes: &sizes };
    let mut out = Vec::with_capacity(params.len());
    for (i, ty) in params.iter().enumerate() {
        out.push(match (&given[i], sizes.ints.get(&i)) {
            (Some(value), _) => value.clone(),
            (None, Some(n)) => make::int(*n),
            (None, None) => maker.value(ty, tys[i], &(i, Vec::new()), 0),
        });
    }
    out
}

/// The sizes that the function's entry demands.
fn sizes(def: &FnDef, given: &[Option<Value>], random: &mut Random) -> Sizes {
    let mut out = Sizes { extents: FxHashMap::default(), ints: FxHashMap::default() };
    let mut known: FxHashMap<LocalId, i64> = FxHashMap::default();
    for (i, param) in def.params.iter().enumerate() {
        if def.locals[*param].ty != Ty::Int {
            continue;
        }
        let n = match &given[i] {
            Some(value) => make::as_int(value).unwrap_or(0),
            None => {
                let n = 2 + random.below(3) as i64;
                out.ints.insert(i, n);
                n
            }
        };
        known.insert(*param, n);
    }
    let FnBody::Code(Expr { kind: ExprKind::Block { stmts, .. }, .. }) = &def.body else { return out };
    for stmt in stmts {
        match &stmt.kind {
            StmtKind::BindSize { local, sources } => {
                let places: Vec<(Place, usize)> =
                    sources.iter().filter_map(|(e, axis)| Some((place(def, e)?, *axis))).collect();
                let found = places.iter().find_map(|((param, path), axis)| {
                    let value = given.get(*param)?.as_ref()?;
                    make::extent(make::part(value, path)?, *axis)
                });
                let n = found.unwrap_or_else(|| 2 + random.below(3) as i64);
                known.insert(*local, n);
                out.extents.extend(places.into_iter().map(|p| (p, n)));
            }
            StmtKind::CheckSizes(checks) => {
                for check in checks {
                    let place = check.array.as_ref().and_then(|a| place(def, a));
                    if let (Some(place), Some(n)) = (place, evaluate(&check.expected, &known)) {
                        out.extents.insert((place, check.axis), n);
                    }
                }
            }
            _ => {}
        }
    }
    out
}

/// The part of the arguments that an expression names.
fn place(def: &FnDef, e: &Expr) -> Option<Place> {
    match &e.kind {
        ExprKind::Local(local) => Some((def.params.iter().position(|p| p == local)?, Vec::new())),
        ExprKind::Field { base, index } | ExprKind::TupleField { base, index } => {
            let (param, mut path) = place(def, base)?;
            path.push(*index);
            Some((param, path))
        }
        _ => None,
    }
}

/// The value of a size.
fn evaluate(e: &Expr, known: &FxHashMap<LocalId, i64>) -> Option<i64> {
    match &e.kind {
        ExprKind::Lit(Lit::Int(n)) => Some(*n),
        ExprKind::Local(local) => known.get(local).copied(),
        ExprKind::Binary { op, left, right } => {
            let (a, b) = (evaluate(left, known)?, evaluate(right, known)?);
            match op {
                BinaryOp::Add => a.checked_add(b),
                BinaryOp::Sub => a.checked_sub(b),
                BinaryOp::Mul => a.checked_mul(b),
                _ => None,
            }
        }
        _ => None,
    }
}

struct Maker<'a> {
    core: &'a Program,
    types: Types<'a>,
    domain: Domain,
    random: &'a mut Random,
    sizes: &'a Sizes,
}

impl Maker<'_> {
    fn float(&mut self) -> f64 {
        match self.domain {
            Domain::All => self.random.between(-2.0, 2.0),
            Domain::Positive => self.random.between(0.25, 2.0),
            Domain::Unit => self.random.between(0.05, 0.95),
        }
    }

    /// A value of a type, given in the core (for names of sizes) and in the IR (for the storage).
    fn value(&mut self, ty: &Ty, ir: TypeId, at: &Place, depth: usize) -> Value {
        self.sized(ty, ir, at, depth, &[])
    }

    /// As `value`, where the array's own sizes may be known from the declaration of a field.
    fn sized(&mut self, ty: &Ty, ir: TypeId, at: &Place, depth: usize, declared: &[Option<i64>]) -> Value {
        match (ty, self.types.get(ir)) {
            (_, Type::F64) => make::float(self.float()),
            (_, Type::F32) => make::float32(self.float() as f32),
            (_, Type::I64) => make::int(1 + self.random.below(3) as i64),
            (_, Type::Bool) => make::bool(self.random.below(2) == 0),
            (_, Type::Str) => make::string("text"),
            (Ty::Tuple(tys), Type::Tuple(irs)) => {
                let irs = irs.clone();
                let parts = tys.iter().zip(irs).enumerate().map(|(i, (t, ir))| self.value(t, ir, &inner(at, i), depth));
                make::tuple(parts.collect())
            }
            (Ty::Array(_), Type::Array { rank, elem }) => {
                let (rank, elem) = (*rank as usize, *elem);
                let mut element = ty;
                for _ in 0..rank {
                    if let Ty::Array(inside) = element {
                        element = inside;
                    }
                }
                let shape: Vec<usize> = (0..rank)
                    .map(|axis| {
                        let entry = self.sizes.extents.get(&(at.clone(), axis)).copied();
                        let n = entry.or(declared.get(axis).copied().flatten()).unwrap_or(3);
                        n.clamp(0, 1000) as usize
                    })
                    .collect();
                let count: usize = shape.iter().product();
                // Elements have no names in the signature.
                let nowhere = (usize::MAX, Vec::new());
                let elements = match self.types.get(elem) {
                    Type::F64 => Elements::F64((0..count).map(|_| self.float()).collect()),
                    Type::F32 => Elements::F32((0..count).map(|_| self.float() as f32).collect()),
                    Type::I64 => Elements::I64((0..count).map(|_| self.random.below(3) as i64).collect()),
                    Type::Bool => Elements::Bool((0..count).map(|_| self.random.below(2) == 0).collect()),
                    _ => Elements::Any((0..count).map(|_| self.value(element, elem, &nowhere, depth + 1)).collect()),
                };
                make::array(shape, elements)
            }
            (Ty::Adt(id, args), Type::Adt(ir_id)) => {
                let ir_id = *ir_id;
                let core = self.core;
                let adt = &core.adts[*id];
                let variant = self.variant(*id, depth);
                let irs: Vec<TypeId> = self.types.adt(ir_id).variants[variant].fields.iter().map(|(_, t)| *t).collect();
                let mut names: FxHashMap<&str, i64> = FxHashMap::default();
                let mut fields = Vec::with_capacity(irs.len());
                for (i, (field, ir)) in adt.variants[variant].fields.iter().zip(irs).enumerate() {
                    let map = |p| adt.generics.iter().position(|g| g.id == p).and_then(|i| args.get(i).cloned());
                    let ty = field.ty.substitute(core, &map);
                    let declared: Vec<Option<i64>> = field
                        .sizes
                        .iter()
                        .map(|size| match size {
                            None => None,
                            Some(SizeName::Number(n)) => Some(*n),
                            Some(SizeName::Name(name)) => {
                                let fresh = 2 + self.random.below(3) as i64;
                                Some(*names.entry(name.as_str()).or_insert(fresh))
                            }
                        })
                        .collect();
                    fields.push(self.sized(&ty, ir, &inner(at, i), depth + 1, &declared));
                }
                make::adt(ir_id, variant as u32, fields)
            }
            _ => make::unit(),
        }
    }

    /// A variant; deep inside, one that ends soon.
    fn variant(&mut self, id: cotan_core::AdtId, depth: usize) -> usize {
        let variants = &self.core.adts[id].variants;
        if depth < 3 {
            return self.random.below(variants.len() as u64) as usize;
        }
        let cost = |v: &cotan_core::Variant| {
            v.fields.iter().map(|f| usize::from(matches!(f.ty, Ty::Adt(..) | Ty::Param(_))) * 100 + 1).sum::<usize>()
        };
        (0..variants.len()).min_by_key(|i| cost(&variants[*i])).unwrap_or(0)
    }
}

fn inner(at: &Place, step: usize) -> Place {
    let mut path = at.1.clone();
    path.push(step);
    (at.0, path)
}
