//! Random well-typed programs: a function `f` of a vector of four floats, built from every construct of the language that
//! carries derivatives. Values stay of moderate size, and derivatives to order three exist almost everywhere.

/// A small deterministic generator of random numbers (SplitMix64).
pub struct Rng(u64);

impl Rng {
    pub fn new(seed: u64) -> Rng {
        Rng(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    pub fn float(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// Types of the variables in scope.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Ty {
    Float,
    Vector,
    Matrix,
    Pair,
    Point,
    Shape,
    Tree,
    Function,
}

const DATA: [Ty; 8] = [Ty::Float, Ty::Vector, Ty::Matrix, Ty::Pair, Ty::Point, Ty::Shape, Ty::Tree, Ty::Function];

/// Declarations that all programs share.
pub const PRELUDE: &str = "
struct Point { at: Float, around: [3]Float, mark: Int }
enum Shape { Dot, Circle(Float), Box { wide: Float, high: Float } }
enum Tree { Leaf(Float), Node(Tree, Float, Tree) }

fn walk(t: Tree) -> Float {
    match t {
        Leaf(v) => sin(v),
        Node(l, v, r) => 0.5 * walk(l) + cos(v) * walk(r),
    }
}
fn grow(x: Float, depth: Int) -> Tree {
    if depth == 0 { Leaf(x) } else { Node(grow(0.7 * x, depth - 1), x, Leaf(x * x)) }
}
fn area(s: Shape) -> Float {
    match s {
        Dot => 0.3,
        Circle(r) if r > 0.4 => r * r,
        Circle(r) => 0.4 * r,
        Box { wide, high } => wide * tanh(high),
    }
}
fn power(x: Float, n: Int) -> Float { if n == 0 { 1.0 } else { x * power(0.9 * x, n - 1) } }
";

/// Functions with derivative rules that are right by construction.
pub const RULES: &str = "
fn by_vjp(f: fn(Float) -> Float) -> fn(Float) -> Float { with_vjp(f, |x: Float| pullback(f, x)) }
fn by_jvp(f: fn(Float) -> Float) -> fn(Float) -> Float {
    with_jvp(f, |x, df, dx| jvp(|g: fn(Float) -> Float, z: Float| g(z), (f, x), (df, dx)))
}
fn reversed(f: fn(Float) -> Float, x: Float) -> Float { f(x) } vjp {
    let (y, back) = pullback(f, x);
    return y with |dy| {
        let (df, dx) = back(dy);
        adjoint(f) += df;
        adjoint(x) += dx;
    };
}
fn forwarded(f: fn(Float) -> Float, x: Float) -> Float { f(x) } jvp {
    let (y, dy) = jvp(|g: fn(Float) -> Float, z: Float| g(z), (f, x), (tangent(f), tangent(x)));
    return y with dy;
}
fn bell(x: Float, w: Float) -> Float { exp(-w * x * x) } vjp {
    let y = bell(x, w);
    return y with |dy| {
        adjoint(x) += -2.0 * w * x * y * dy;
        adjoint(w) += -x * x * y * dy;
    };
} jvp {
    return bell(x, w) with -bell(x, w) * (2.0 * w * x * tangent(x) + x * x * tangent(w));
}
fn spread(v: [n]Float) -> Float { sum([x * x for x in v]) } vjp {
    return spread(v) with |dy| { for i in 0..n { adjoint(v[i]) += 2.0 * dy * v[i]; } };
}
";

/// The same functions without rules.
pub const NO_RULES: &str = "
fn by_vjp(f: fn(Float) -> Float) -> fn(Float) -> Float { f }
fn by_jvp(f: fn(Float) -> Float) -> fn(Float) -> Float { f }
fn reversed(f: fn(Float) -> Float, x: Float) -> Float { f(x) }
fn forwarded(f: fn(Float) -> Float, x: Float) -> Float { f(x) }
fn bell(x: Float, w: Float) -> Float { exp(-w * x * x) }
fn spread(v: [n]Float) -> Float { sum([x * x for x in v]) }
";

/// A rule that is attached to a closure `k` which is known there.
pub const KNOWN: &str = "with_vjp(k, |x: Float| pullback(k, x))";

pub struct Generator {
    rng: Rng,
    scope: Vec<(String, Ty)>,
    names: usize,
    fuel: usize,
}

impl Generator {
    pub fn new(seed: u64, fuel: usize) -> Generator {
        Generator { rng: Rng::new(seed), scope: Vec::new(), names: 0, fuel }
    }

    /// The text of a whole program.
    pub fn program(&mut self) -> String {
        let mut body = String::new();
        for i in 0..4 {
            body.push_str(&format!("    let x{i} = x[{i}];\n"));
            self.scope.push((format!("x{i}"), Ty::Float));
        }
        let count = 3 + self.rng.below(6);
        for _ in 0..count {
            body.push_str(&self.statement(1));
        }
        let result = (0..3).map(|_| self.float(3)).collect::<Vec<_>>().join(" + ");
        format!("{PRELUDE}{RULES}\nfn f(x: [4]Float) -> Float {{\n{body}    {result}\n}}\n")
    }

    fn fresh(&mut self) -> String {
        self.names += 1;
        format!("v{}", self.names)
    }

    fn pick(&mut self, ty: Ty) -> Option<String> {
        let all: Vec<&String> = self.scope.iter().filter(|(_, t)| *t == ty).map(|(n, _)| n).collect();
        if all.is_empty() { None } else { Some(all[self.rng.below(all.len())].clone()) }
    }

    fn statement(&mut self, indent: usize) -> String {
        let pad = "    ".repeat(indent);
        match self.rng.below(8) {
            0 => {
                // An array that is updated in place, with repeated positions.
                let (name, index) = (self.fresh(), self.fresh());
                let start = self.vector(2);
                let step = {
                    self.scope.push((format!("float({index})"), Ty::Float));
                    let step = self.float(2);
                    self.scope.pop();
                    step
                };
                let op = ["=", "+=", "*="][self.rng.below(3)];
                let text = format!(
                    "{pad}let mut {name} = {start};\n{pad}for {index} in 0..4 {{\n{pad}    {name}[{index} % 3] {op} tanh({step} + {name}[({index} + 1) % 3]);\n{pad}}}\n{pad}let {name} = {name};\n"
                );
                self.scope.push((name, Ty::Vector));
                text
            }
            1 => {
                // A loop whose length depends on the data.
                let (name, count) = (self.fresh(), self.fresh());
                let start = self.float(2);
                let step = self.float(2);
                let text = format!(
                    "{pad}let mut {name} = {start};\n{pad}let mut {count} = 0;\n{pad}while {count} < 6 && {name} < 1.5 {{\n{pad}    {name} = 0.4 + 0.8 * {name} + 0.1 * tanh({step} * {name});\n{pad}    {count} += 1;\n{pad}    if {count} == 5 {{ break; }}\n{pad}}}\n{pad}let {name} = {name};\n"
                );
                self.scope.push((name, Ty::Float));
                text
            }
            2 => {
                // A local recursive function with a capture.
                let name = self.fresh();
                let inner = self.float(2);
                let text = format!(
                    "{pad}fn {name}(z: Float, n: Int) -> Float {{ if n <= 0 {{ z * tanh({inner}) }} else {{ sin(z) + 0.5 * {name}(0.8 * z, n - 1) }} }}\n"
                );
                let value = self.fresh();
                let at = self.float(1);
                let text = format!("{text}{pad}let {value} = {name}({at}, 3);\n");
                self.scope.push((value, Ty::Float));
                text
            }
            _ => {
                let ty = DATA[self.rng.below(DATA.len())];
                let value = self.expr(ty, 3);
                let name = self.fresh();
                self.scope.push((name.clone(), ty));
                format!("{pad}let {name} = {value};\n")
            }
        }
    }

    fn expr(&mut self, ty: Ty, depth: usize) -> String {
        match ty {
            Ty::Float => self.float(depth),
            Ty::Vector => self.vector(depth),
            Ty::Matrix => self.matrix(depth),
            Ty::Pair => format!("({}, {})", self.float(depth - 1), self.vector(depth - 1)),
            Ty::Point => match self.pick(Ty::Point) {
                Some(p) if self.rng.below(2) == 0 => format!("Point {{ at: {}, ..{p} }}", self.float(depth - 1)),
                _ => format!(
                    "Point {{ at: {}, around: {}, mark: {} }}",
                    self.float(depth - 1),
                    self.vector(depth - 1),
                    self.rng.below(9)
                ),
            },
            Ty::Shape => match self.rng.below(4) {
                0 => "Dot".into(),
                1 => format!("Circle({})", self.float(depth - 1)),
                2 => format!("Box {{ wide: {}, high: {} }}", self.float(depth - 1), self.float(depth - 1)),
                _ => {
                    format!("if {} > 0.2 {{ Circle({}) }} else {{ Dot }}", self.float(depth - 1), self.float(depth - 1))
                }
            },
            Ty::Tree => match self.pick(Ty::Tree) {
                Some(t) if self.rng.below(2) == 0 => format!("Node({t}, {}, {t})", self.float(depth - 1)),
                _ => format!("grow({}, {})", self.float(depth - 1), self.rng.below(4)),
            },
            Ty::Function => {
                let z = self.fresh();
                self.scope.push((z.clone(), Ty::Float));
                let body = self.float(depth - 1);
                let at = self.scope.iter().rposition(|(n, _)| *n == z).expect("just pushed");
                self.scope.remove(at);
                if self.rng.below(3) == 0 {
                    format!(
                        "if {} > 0.1 {{ |{z}: Float| tanh({body}) }} else {{ |{z}: Float| 0.3 * {z} }}",
                        self.float(1)
                    )
                } else {
                    let plain = format!("|{z}: Float| tanh({body})");
                    match self.rng.below(5) {
                        0 => format!("by_vjp({plain})"),
                        1 => format!("by_jvp(by_vjp({plain}))"),
                        2 => format!("{{ let k = {plain}; {KNOWN} }}"),
                        _ => plain,
                    }
                }
            }
        }
    }

    fn float(&mut self, depth: usize) -> String {
        if depth == 0 || self.fuel == 0 {
            return match self.rng.below(4) {
                0 => format!("{:.3}", self.rng.float()),
                _ => self.pick(Ty::Float).expect("the inputs are floats"),
            };
        }
        self.fuel -= 1;
        let d = depth - 1;
        match self.rng.below(24) {
            0 | 1 => format!("({} + {})", self.float(d), self.float(d)),
            2 | 3 => format!("(tanh({}) * {})", self.float(d), self.float(d)),
            4 => format!("({} - {})", self.float(d), self.float(d)),
            5 => format!("({} / (1.5 + sin({})))", self.float(d), self.float(d)),
            6 => format!("sin({})", self.float(d)),
            7 => format!("exp(tanh({}))", self.float(d)),
            8 => format!("sqrt(1.0 + tanh({}) ** 2)", self.float(d)),
            9 => format!(
                "(if {} > {} {{ {} }} else {{ {} }})",
                self.float(d),
                self.float(d),
                self.float(d),
                self.float(d)
            ),
            10 => format!("sum({})", self.vector(d)),
            11 => format!("{}[{}]", self.vector(d), self.rng.below(3)),
            12 => format!("(tanh({}) ** {})", self.float(d), self.rng.below(4)),
            13 => match self.pick(Ty::Function) {
                Some(g) => match self.rng.below(4) {
                    0 => format!("reversed({g}, {})", self.float(d)),
                    1 => format!("forwarded({g}, {})", self.float(d)),
                    _ => format!("{g}({})", self.float(d)),
                },
                None => match self.rng.below(3) {
                    0 => format!("bell(tanh({}), tanh({}))", self.float(d), self.float(d)),
                    1 => format!("0.2 * spread({})", self.vector(d)),
                    _ => format!("power(tanh({}), 3)", self.float(d)),
                },
            },
            14 => match self.pick(Ty::Pair) {
                Some(p) => format!("({p}.0 * {p}.1[1])"),
                None => format!("max({}, {})", self.float(d), self.float(d)),
            },
            15 => match self.pick(Ty::Point) {
                Some(p) => format!("({p}.at + float({p}.mark) * 0.1 * {p}.around[2])"),
                None => format!("abs({})", self.float(d)),
            },
            16 => match self.pick(Ty::Shape) {
                Some(s) => format!("area({s})"),
                None => format!("atan2({}, 1.0 + exp(tanh({})))", self.float(d), self.float(d)),
            },
            17 => match self.pick(Ty::Tree) {
                Some(t) => format!("walk({t})"),
                None => format!("log(1.5 + tanh({}))", self.float(d)),
            },
            18 => match self.pick(Ty::Matrix) {
                Some(m) => format!("(0.1 * sum({m}[1]) * {m}[0, 2])"),
                None => format!("softplus({})", self.float(d)),
            },
            19 => {
                // A derivative inside.
                let z = self.fresh();
                self.scope.push((z.clone(), Ty::Float));
                let body = self.float(d);
                let at = self.scope.iter().rposition(|(n, _)| *n == z).expect("just pushed");
                self.scope.remove(at);
                format!("tanh(grad(|{z}: Float| sin({z}) * tanh({body}))({}))", self.float(d))
            }
            20 => {
                let z = self.fresh();
                self.scope.push((z.clone(), Ty::Float));
                let body = self.float(d);
                let at = self.scope.iter().rposition(|(n, _)| *n == z).expect("just pushed");
                self.scope.remove(at);
                format!("tanh(jvp(|{z}: Float| {z} * tanh({body}), {}, {}).1)", self.float(d), self.float(d))
            }
            21 => format!("product({})", self.vector(d)),
            22 => format!("fold(|s: Float, t: Float| s * 0.5 + tanh(t), {}, {})", self.float(d), self.vector(d)),
            _ => format!("[{}, {}][{}]", self.float(d), self.float(d), self.rng.below(2)),
        }
    }

    fn vector(&mut self, depth: usize) -> String {
        if depth == 0 || self.fuel == 0 {
            return match self.pick(Ty::Vector) {
                Some(v) => v,
                None => format!("[{}, {}, {}]", self.float(0), self.float(0), self.float(0)),
            };
        }
        self.fuel -= 1;
        let d = depth - 1;
        match self.rng.below(11) {
            0 => format!("[{}, {}, {}]", self.float(d), self.float(d), self.float(d)),
            1 => format!("({} + {})", self.vector(d), self.vector(d)),
            2 => format!("({} * {})", self.float(d), self.vector(d)),
            3 => {
                let i = self.fresh();
                self.scope.push((format!("(0.3 * float({i}))"), Ty::Float));
                let body = self.float(d);
                let at = self.scope.iter().rposition(|(n, _)| n.contains(&format!("float({i})"))).expect("just pushed");
                self.scope.remove(at);
                format!("[tanh({body}) for {i} in 0..3]")
            }
            4 => {
                let e = self.fresh();
                let over = self.vector(d);
                self.scope.push((e.clone(), Ty::Float));
                let body = self.float(d);
                let at = self.scope.iter().rposition(|(n, _)| *n == e).expect("just pushed");
                self.scope.remove(at);
                format!("[tanh({body}) for {e} in {over}]")
            }
            5 => match self.pick(Ty::Matrix) {
                Some(m) => format!("({m} @ {})", self.vector(d)),
                None => format!("reverse({})", self.vector(d)),
            },
            6 => match self.pick(Ty::Function) {
                Some(g) => format!("map({g}, {})", self.vector(d)),
                None => format!("gather({}, [2, 0, 2])", self.vector(d)),
            },
            7 => match self.pick(Ty::Point) {
                Some(p) => format!("{p}.around"),
                None => format!("concat({}[1..3], {}[0..1])", self.vector(d), self.vector(d)),
            },
            8 => format!("scatter_add({}, [1, 1, 0], {})", self.vector(d), self.vector(d)),
            9 => format!("scan(|s: Float, t: Float| 0.5 * s * t + t, 0.0, {})", self.vector(d)),
            _ => match self.pick(Ty::Pair) {
                Some(p) => format!("{p}.1"),
                None => format!("(if {} > 0.3 {{ {} }} else {{ {} }})", self.float(d), self.vector(d), self.vector(d)),
            },
        }
    }

    fn matrix(&mut self, depth: usize) -> String {
        self.fuel = self.fuel.saturating_sub(1);
        let d = depth.saturating_sub(1);
        match (self.pick(Ty::Matrix), self.rng.below(4)) {
            (Some(m), 0) => format!("(0.2 * ({m} @ transposed({m})))"),
            (Some(m), 1) => format!("transposed({m})"),
            (_, 2) => {
                let v = self.vector(d);
                format!("[{v}, {}, {}]", self.vector(d), self.vector(d))
            }
            _ => {
                let (i, j) = (self.fresh(), self.fresh());
                let v = self.vector(0);
                format!("[tanh({v}[{i}] * {} + float({j})) for {i} in 0..3, {j} in 0..3]", self.float(d))
            }
        }
    }
}
