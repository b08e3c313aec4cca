//! Random programs in the part of Cotan that the calculus knows.
//!
//! In: a seed. Out: the text of a program with a function `f` of two floats, built from floats, tuples, truth values, closures that
//! capture, functions that take functions, local functions with recursion, and `vjp` clauses that capture and call `pullback`.

/// Functions that every program may use: recursion, a clause, a clause on a function that takes a function.
const LIBRARY: &str = "
fn power(x: Float, n: Int) -> Float {
    if n == 0 { 1.0 } else { x * power(x, n - 1) + 0.1 * float(n) * x ** n }
}

fn bump(x: Float) -> Float {
    1.0 / (1.0 + x * x)
} vjp {
    let y = bump(x);
    return y with |dy| { adjoint(x) += -2.0 * dy * x * y * y; };
}

fn mix(p: (Float, Float), t: Float) -> Float {
    p.0 * t + sin(p.1)
} vjp {
    return mix(p, t) with |dy| {
        adjoint(p.0) += dy * t;
        adjoint(p.1) += dy * cos(p.1);
        let s = dy * p.0;
        adjoint(t) += s;
    };
}

fn twice(f: fn(Float) -> Float, x: Float) -> Float {
    f(f(x))
} vjp {
    let (y1, back1) = pullback(f, x);
    let (y2, back2) = pullback(f, y1);
    return y2 with |dy| {
        let (f2, x2) = back2(dy);
        let (f1, x1) = back1(x2);
        adjoint(f) += f2;
        adjoint(f) += f1;
        adjoint(x) += x1;
    };
}
";

/// What is asked of every program.
const QUERIES: &str = "
fn checks() -> ((Float, (Float, Float)), (Float, Float, Float), (Float, Float, Float)) {
    let x = AT0;
    let y = AT1;
    let (value, slope) = value_and_grad(f)(x, y);
    let xx = grad(|u: Float| grad(f)(u, y).0)(x);
    let xy = grad(|v: Float| grad(f)(x, v).0)(y);
    let yy = grad(|v: Float| grad(f)(x, v).1)(y);
    fn inner(t: Float, n: Float) -> Float {
        if n < 0.5 { f(t, y) } else { 0.5 * x + inner(sin(t), n - 1.0) }
    }
    let g = |t: Float| f(x, t) * y + inner(t, 2.0);
    let (_, back) = pullback(g, 0.4);
    let (dg, dt) = back(1.0);
    ((value, slope), (xx, xy, yy), (dg.x, dg.y, dt))
}
";

/// A sequence of random numbers.
pub struct Rng(u64);

impl Rng {
    /// Begins with a seed.
    pub fn new(seed: u64) -> Self {
        Rng(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn next(&mut self) -> u64 {
        // Marsaglia's xorshift.
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() >> 33) as usize % n
    }

    fn float(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Ty {
    Float,
    Pair,
    Function,
}

/// The program of a seed.
pub fn program(seed: u64) -> String {
    let mut g = Generator { rng: Rng::new(seed), scope: Vec::new(), fresh: 0, fuel: 30 };
    g.scope = vec![("x".into(), Ty::Float), ("y".into(), Ty::Float)];
    let mut body = String::new();
    for _ in 0..2 + g.rng.below(4) {
        let statement = g.statement();
        body += &statement;
    }
    let result = g.float(3);
    let at = |r: f64| format!("{:.3}", 0.2 + r);
    let queries = QUERIES.replace("AT0", &at(g.rng.float())).replace("AT1", &at(g.rng.float()));
    format!("{LIBRARY}\nfn f(x: Float, y: Float) -> Float {{\n{body}    {result}\n}}\n{queries}")
}

struct Generator {
    rng: Rng,
    scope: Vec<(String, Ty)>,
    fresh: usize,
    fuel: usize,
}

impl Generator {
    fn fresh(&mut self, letter: &str) -> String {
        self.fresh += 1;
        format!("{letter}{}", self.fresh)
    }

    fn pick(&mut self, ty: Ty) -> Option<String> {
        let names: Vec<String> = self.scope.iter().filter(|(_, t)| *t == ty).map(|(n, _)| n.clone()).collect();
        if names.is_empty() { None } else { Some(names[self.rng.below(names.len())].clone()) }
    }

    fn inside<T>(&mut self, name: &str, ty: Ty, f: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.scope.len();
        self.scope.push((name.to_string(), ty));
        let out = f(self);
        self.scope.truncate(before);
        out
    }

    fn statement(&mut self) -> String {
        match self.rng.below(6) {
            0 => {
                let name = self.fresh("p");
                let text = format!("    let {name} = ({}, {});\n", self.float(2), self.float(2));
                self.scope.push((name, Ty::Pair));
                text
            }
            1 => {
                let name = self.fresh("h");
                let text = format!("    let {name} = {};\n", self.function(2));
                self.scope.push((name, Ty::Function));
                text
            }
            2 => {
                // Recursion that captures.
                let (name, t, n) = (self.fresh("r"), self.fresh("t"), self.fresh("n"));
                let step = self.inside(&t, Ty::Float, |g| g.float(2));
                let text = format!(
                    "    fn {name}({t}: Float, {n}: Float) -> Float {{ if {n} < 0.5 {{ {t} }} else {{ {name}(tanh({step}), {n} - 1.0) }} }}\n"
                );
                let wrapped = self.fresh("h");
                self.scope.push((wrapped.clone(), Ty::Function));
                format!("{text}    let {wrapped} = |z: Float| {name}(z, {}.0);\n", 1 + self.rng.below(3))
            }
            3 => {
                // A clause that captures a variable.
                let (name, t) = (self.fresh("c"), self.fresh("t"));
                let w = self.pick(Ty::Float).expect("the parameters are floats");
                let text = format!(
                    "    fn {name}({t}: Float) -> Float {{ {w} * sin({t}) }} vjp {{ return {name}({t}) with |dy| {{ \
                     adjoint({w}) += dy * sin({t}); adjoint({t}) += dy * {w} * cos({t}); }}; }}\n"
                );
                self.scope.push((name, Ty::Function));
                text
            }
            _ => {
                let name = self.fresh("w");
                let text = format!("    let {name} = {};\n", self.float(3));
                self.scope.push((name, Ty::Float));
                text
            }
        }
    }

    fn function(&mut self, depth: usize) -> String {
        let z = self.fresh("z");
        match self.rng.below(6) {
            4 => match self.pick(Ty::Function) {
                // A derivative attached to a function value; it is what it would be anyway.
                Some(h) => format!(
                    "with_vjp({h}, |{z}: Float| {{ let (y, back) = pullback({h}, {z}); (y, |dy: Float| {{ let (dh, dz) = back(dy); (dh, dz) }}) }})"
                ),
                None => "cos".into(),
            },
            0 => ["sin", "tanh", "bump"][self.rng.below(3)].into(),
            1 if self.pick(Ty::Function).is_some() => self.pick(Ty::Function).unwrap_or_default(),
            2 => {
                let (c, a, b) = (self.condition(1), self.float_with(&z, depth), self.float_with(&z, depth));
                format!("if {c} {{ |{z}: Float| {a} }} else {{ |{z}: Float| {b} }}")
            }
            _ => format!("|{z}: Float| {}", self.float_with(&z, depth)),
        }
    }

    fn float_with(&mut self, name: &str, depth: usize) -> String {
        self.inside(name, Ty::Float, |g| g.float(depth))
    }

    fn condition(&mut self, depth: usize) -> String {
        match self.rng.below(5) {
            0 => format!("!({} < {})", self.float(depth), self.float(depth)),
            1 => format!("({} > {} && {} > 0.1)", self.float(depth), self.float(depth), self.float(depth)),
            2 => format!("({} > {} || {} > 0.9)", self.float(depth), self.float(depth), self.float(depth)),
            _ => format!("{} > {}", self.float(depth), self.float(depth)),
        }
    }

    fn float(&mut self, depth: usize) -> String {
        if depth == 0 || self.fuel == 0 {
            return match self.rng.below(4) {
                0 => format!("{:.3}", self.rng.float()),
                _ => self.pick(Ty::Float).expect("the parameters are floats"),
            };
        }
        self.fuel -= 1;
        let d = depth - 1;
        match self.rng.below(16) {
            0 => format!("({} + {})", self.float(d), self.float(d)),
            1 => format!("({} - {})", self.float(d), self.float(d)),
            2 | 3 => format!("(sin({}) * {})", self.float(d), self.float(d)),
            4 => format!("({} / (1.5 + cos({})))", self.float(d), self.float(d)),
            5 => format!("exp(tanh({}))", self.float(d)),
            6 => format!("(if {} {{ {} }} else {{ {} }})", self.condition(d), self.float(d), self.float(d)),
            7 => match self.pick(Ty::Pair) {
                Some(p) => format!("({p}.0 * tanh({p}.1))"),
                None => format!("max({}, {})", self.float(d), self.float(d)),
            },
            8 | 9 => match self.pick(Ty::Function) {
                Some(h) => format!("{h}({})", self.float(d)),
                None => format!("bump({})", self.float(d)),
            },
            10 => format!("twice({}, {})", self.function(d), self.float(d)),
            11 => format!("mix(({}, {}), {})", self.float(d), self.float(d), self.float(d)),
            12 => format!("power(tanh({}), {})", self.float(d), self.rng.below(4)),
            13 => {
                let z = self.fresh("z");
                format!("tanh(grad(|{z}: Float| {z} * {})({}))", self.float_with(&z, d), self.float(d))
            }
            14 => {
                let (z, w) = (self.fresh("z"), self.fresh("w"));
                format!(
                    "{{ let {w} = {}; let k = |{z}: Float| sin({w} * {z}); let (_, back) = pullback(k, {}); back(1.0).0.{w} }}",
                    self.float(d),
                    self.float(d)
                )
            }
            _ => format!("-atan2({}, 1.5 + {})", self.float(d), self.float(0)),
        }
    }
}
