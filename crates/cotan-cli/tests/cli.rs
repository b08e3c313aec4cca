//! The command line from outside: what it prints where, and its exit codes.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A folder with files, and the command running in it.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new(files: &[(&str, &[u8])]) -> Place {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, data) in files {
            std::fs::write(folder.path().join(name), data).expect("a file");
        }
        Place { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn cotan(&self, args: &[&str]) -> Told {
        let output = Command::new(env!("CARGO_BIN_EXE_cotan"))
            .args(args)
            .current_dir(self.folder.path())
            .env("NO_COLOR", "1")
            .output()
            .expect("cotan starts");
        Told::new(&output)
    }
}

/// What a command said.
#[derive(Debug)]
struct Told {
    code: Option<i32>,
    out: String,
    err: String,
}

impl Told {
    fn new(output: &Output) -> Told {
        Told {
            code: output.status.code(),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    #[track_caller]
    fn gives(&self, out: &str) {
        assert_eq!((self.code, self.out.as_str()), (Some(0), out), "{}", self.err);
    }

    #[track_caller]
    fn fails(&self, code: i32, words: &[&str]) {
        assert_eq!(self.code, Some(code), "{self:?}");
        for word in words {
            assert!(self.err.contains(word), "{word:?} is missing in:\n{}", self.err);
        }
    }
}

const PROGRAM: &str = r#"
struct Model { w: []Float, bias: Float }
enum Shape { Circle(Float), Nothing, Box { width: Float, height: Float } }

fn main() -> Float { 1.5 + 2.0 }
fn square(x: Float) -> Float { x * x }
fn anything(x) { x * x }
fn dot_product(v: [n]Float, w: [n]Float) -> Float { sum(v * w) }
fn total(a: [m][n]Float) -> Float { sum([sum(a[i]) for i in 0..m]) }
fn power(x: Float, n: Int) -> Float { x ** n }
fn predict(m: Model, x: []Float) -> Float { sum(m.w * x) + m.bias }
fn area(s: Shape) -> Float {
    match s {
        Circle(r) => pi * r * r,
        Nothing => 0.0,
        Box { width, height } => width * height,
    }
}
fn same(s: Shape) -> Shape { s }
fn big(n: Int) -> Int { n }
fn apply(f: fn(Float) -> Float) -> Float { f(1.0) }
fn ratio(x: Float) -> Float { x / x }
fn columns(c: Columns) -> Float { sum(c.a) - sum(c.b) }
struct Columns { a: []Float, b: []Float }
fn table(n: Int) -> [][]Float { [float(i * 10 + j) for i in 0..n, j in 0..n] }

test "arithmetic" { assert(square(2.0) == 4.0); }
"#;

fn place() -> Place {
    Place::new(&[("p.cot", PROGRAM.as_bytes())])
}

#[test]
fn run_prints_the_value() {
    let p = place();
    p.cotan(&["run", "p.cot"]).gives("3.5\n");
    p.cotan(&["run", "p.cot", "square", "--arg", "x=3"]).gives("9.0\n");
    p.cotan(&["run", "p.cot", "anything", "--arg", "x=3"]).gives("9.0\n");
    p.cotan(&["run", "p.cot", "square", "--arg", "x=3", "--ad", "values"]).gives("9.0\n");
    p.cotan(&["run", "p.cot", "big", "--arg", "n=9007199254740993"]).gives("9007199254740993\n");
    p.cotan(&["run", "p.cot", "same", "--arg", r#"s={"Circle":[2]}"#]).gives("Circle(2.0)\n");
    p.cotan(&["run", "p.cot", "same", "--arg", r#"s="Nothing""#]).gives("Nothing\n");
    let boxed = r#"s={"Box":{"height":3,"width":2}}"#;
    p.cotan(&["run", "p.cot", "same", "--arg", boxed]).gives("Box { width: 2.0, height: 3.0 }\n");
    p.cotan(&["run", "p.cot", "same", "--arg", boxed, "--format", "json"])
        .gives("{\"Box\":{\"width\":2.0,\"height\":3.0}}\n");
    p.cotan(&["run", "p.cot", "predict", "--arg", r#"m={"w":[1,2],"bias":0.5}"#, "--arg", "x=[1,1]"]).gives("3.5\n");
}

#[test]
fn numbers_that_json_lacks() {
    let p = place();
    p.cotan(&["run", "p.cot", "square", "--arg", "x=\"NaN\"", "--format", "json"]).gives("\"NaN\"\n");
    p.cotan(&["run", "p.cot", "square", "--arg", "x=\"-Infinity\"", "--format", "json"]).gives("\"Infinity\"\n");
    p.cotan(&["run", "p.cot", "square", "--arg", "x=NaN"]).fails(1, &["E0816"]);
}

#[test]
fn grad_prints_value_and_gradient() {
    let p = place();
    p.cotan(&["grad", "p.cot", "square", "--arg", "x=3", "--format", "json"])
        .gives("{\"value\":9.0,\"gradient\":{\"x\":6.0}}\n");
    p.cotan(&["grad", "p.cot", "power", "--arg", "x=3", "--arg", "n=3", "--format", "json"])
        .gives("{\"value\":27.0,\"gradient\":{\"x\":27.0}}\n");
    let args = ["grad", "p.cot", "dot_product", "--arg", "v=[1,2]", "--arg", "w=[3,4]", "--format", "json"];
    p.cotan(&args).gives("{\"value\":11.0,\"gradient\":{\"v\":[3.0,4.0],\"w\":[1.0,2.0]}}\n");
    let wrt = [&args[..], &["--wrt", "w"]].concat();
    p.cotan(&wrt).gives("{\"value\":11.0,\"gradient\":{\"w\":[1.0,2.0]}}\n");
    let values = [&args[..], &["--ad", "values"]].concat();
    p.cotan(&values).gives("{\"value\":11.0,\"gradient\":{\"v\":[3.0,4.0],\"w\":[1.0,2.0]}}\n");
    p.cotan(&["grad", "p.cot", "power", "--arg", "x=3", "--arg", "n=3", "--wrt", "n"]).fails(1, &["E0819"]);
    p.cotan(&["grad", "p.cot", "same", "--arg", r#"s="Nothing""#]).fails(1, &["E0818", "Shape"]);
}

#[test]
fn arguments_are_checked() {
    let p = place();
    p.cotan(&["run", "p.cot", "square"]).fails(1, &["E0801", "`x`"]);
    p.cotan(&["run", "p.cot", "square", "--arg", "X=1", "--arg", "x=2"]).fails(1, &["E0802", "did you mean `x`"]);
    p.cotan(&["run", "p.cot", "square", "--arg", "x=1", "--arg", "x=2"]).fails(1, &["E0803"]);
    p.cotan(&["run", "p.cot", "square", "--arg", "x=[1"]).fails(1, &["E0805"]);
    p.cotan(&["run", "p.cot", "total", "--arg", "a=[[1,2],[3]"]).fails(1, &["E0806"]);
    p.cotan(&["run", "p.cot", "total", "--arg", "a=[[1,2],[3,4],]"]).fails(1, &["E0804"]);
    p.cotan(&["run", "p.cot", "total", "--arg", "a=[[1,2],[3,\"x\"]]"])
        .fails(1, &["E0805", "a[1][1]", "expected Float"]);
    p.cotan(&["run", "p.cot", "predict", "--arg", r#"m={"w":[1],"bias":"x"}"#, "--arg", "x=[1]"])
        .fails(1, &["m.bias", "expected Float, found \"x\""]);
    p.cotan(&["run", "p.cot", "predict", "--arg", r#"m={"w":[1],"bais":0}"#, "--arg", "x=[1]"])
        .fails(1, &["E0808", "did you mean `bias`"]);
    p.cotan(&["run", "p.cot", "big", "--arg", "n=9223372036854775808"]).fails(1, &["E0807"]);
    p.cotan(&["run", "p.cot", "big", "--arg", "n=1.5"]).fails(1, &["E0805"]);
    p.cotan(&["run", "p.cot", "apply"]).fails(1, &["E0814"]);
    p.cotan(&["run", "p.cot", "squared"]).fails(1, &["E0813", "did you mean `square`"]);
    p.cotan(&["run", "q.cot"]).fails(1, &["E0810"]);
    p.cotan(&["run", "p.cot", "square", "--arg", "x=@x.txt"]).fails(1, &["E0817"]);
    p.cotan(&["run", "p.cot", "dot_product", "--arg", "v=[1]", "--arg", "w=[1,2]"]).fails(1, &["E07"]);
}

#[test]
fn tables_and_numpy_files() {
    let header = "{'descr': '<f8', 'fortran_order': True, 'shape': (2, 2), }\n";
    let mut npy = b"\x93NUMPY\x01\x00".to_vec();
    npy.extend((header.len() as u16).to_le_bytes());
    npy.extend(header.as_bytes());
    for x in [1.0f64, 3.0, 2.0, 4.0] {
        npy.extend(x.to_le_bytes());
    }
    let p = Place::new(&[
        ("p.cot", PROGRAM.as_bytes()),
        ("a.csv", b"1,2\n3,4\n"),
        ("named.csv", b"b,a\n1,2\n3,4\n"),
        ("bad.csv", b"b,a\n1,2\n3,x\n"),
        ("a.npy", &npy),
        ("a.json", b"[[1, 2],\n [3, 4]]"),
        ("wrong.json", b"[[1, 2],\n [3, true]]"),
    ]);
    for file in ["a.csv", "a.npy", "a.json", "named.csv"] {
        p.cotan(&["run", "p.cot", "total", "--arg", &format!("a=@{file}")]).gives("10.0\n");
    }
    p.cotan(&["run", "p.cot", "columns", "--arg", "c=@named.csv"]).gives("2.0\n");
    p.cotan(&["run", "p.cot", "columns", "--arg", "c=@a.csv"]).fails(1, &["E0811"]);
    p.cotan(&["run", "p.cot", "total", "--arg", "a=@bad.csv"]).fails(1, &["E0811", "line 3", "column `a`"]);
    p.cotan(&["run", "p.cot", "total", "--arg", "a=@wrong.json"]).fails(1, &["a[1][1]", "wrong.json"]);
    p.cotan(&["run", "p.cot", "dot_product", "--arg", "v=@a.npy", "--arg", "w=[1]"]).fails(1, &["E0812"]);
    for file in ["t.npy", "t.csv", "t.json"] {
        p.cotan(&["run", "p.cot", "table", "--arg", "n=2", "--out", file]).gives("");
        p.cotan(&["run", "p.cot", "total", "--arg", &format!("a=@{file}")]).gives("22.0\n");
    }
    p.cotan(&["run", "p.cot", "same", "--arg", "s=\"Nothing\"", "--out", "s.npy"]).fails(1, &["E0815"]);
    p.cotan(&["run", "p.cot", "main", "--out", "no/where.json"]).fails(1, &["E0821"]);
    assert!(Path::new(&p.path("t.npy")).is_file());
}

#[test]
fn large_arrays_are_shortened() {
    let p = place();
    let short = p.cotan(&["run", "p.cot", "table", "--arg", "n=100"]);
    assert!(short.out.len() < 2000 && short.out.contains("..."), "{}", short.out);
    let full = p.cotan(&["run", "p.cot", "table", "--arg", "n=100", "--full"]);
    assert!(full.out.len() > 50_000 && !full.out.contains("..."));
}

#[test]
fn checks_and_tests() {
    let p = Place::new(&[
        ("p.cot", PROGRAM.as_bytes()),
        ("wrong.cot", b"fn f(x: Float) -> Float { x + true }\n"),
        ("failing.cot", b"test \"no\" { assert(1 == 2); }\ntest \"yes\" { assert(1 == 1); }\n"),
    ]);
    p.cotan(&["check", "p.cot"]).gives("");
    p.cotan(&["check", "p.cot", "wrong.cot"]).fails(1, &["wrong.cot:1:"]);
    p.cotan(&["test", "p.cot"]).gives("p.cot \"arithmetic\" ... ok\n1 passed, 0 failed\n");
    let told = p.cotan(&["test", "failing.cot"]);
    told.fails(1, &["failing.cot:1:"]);
    assert!(told.out.contains("\"no\" ... FAILED") && told.out.contains("\"yes\" ... ok"), "{}", told.out);
}

#[test]
fn gradients_are_checked() {
    let p = Place::new(&[
        ("p.cot", PROGRAM.as_bytes()),
        ("kink.cot", b"fn wrong(x: [n]Float) -> Float { sum([stop_gradient(v) * v for v in x]) }\n"),
    ]);
    for function in ["square", "anything", "dot_product", "total", "power", "predict", "area", "columns"] {
        let told = p.cotan(&["check-grad", "p.cot", function]);
        assert_eq!(told.code, Some(0), "{function}: {told:?}");
    }
    let told = p.cotan(&["check-grad", "kink.cot", "wrong", "--arg", "x=[1,2]"]);
    assert_eq!(told.code, Some(1), "{told:?}");
    assert!(told.out.contains("x[1]"), "{}", told.out);
}

#[test]
fn rules_are_checked() {
    let program =
        b"fn half(x: Float) -> Float { x / 2.0 } vjp { return x / 2.0 with |dy| { adjoint(x) += dy / 3.0; }; }
fn double(x: Float) -> Float { x * 2.0 } jvp { return x * 2.0 with 2.0 * tangent(x); }
fn never(x: Float) -> Float { x } vjp { return x with |dy| { adjoint(x) += 5.0 * dy; }; }
fn right(x: Float) -> Float { grad(double)(x) + sum(map(double, [x, x])) }
fn loss(x: Float) -> Float {
    let w = 2.0;
    let f = |x: Float| w * x;
    let g = with_vjp(f, |x| (f(x), |dy: Float| (zero_like(f), w * dy)));
    grad(|x: Float| half(x) * log1pexp(x))(x) + double(x) + g(x)
}
";
    let p = Place::new(&[("p.cot", program)]);
    let told = p.cotan(&["check-grad", "p.cot", "right", "--rules"]);
    assert!(told.code == Some(0) && told.out.contains("right  `double` (p.cot:2:4)"), "{told:?}");
    // A rule that only a derivative inside of the run reaches is seen, and a rule that was attached as a value.
    let told = p.cotan(&["check-grad", "p.cot", "loss", "--rules", "--arg", "x=2"]);
    assert_eq!(told.code, Some(1), "{told:?}");
    for line in
        ["WRONG  `half` (p.cot:1:4)", "right  `double` (p.cot:2:4)", "WRONG  `f` (p.cot:8:25)", "at .w: 0.0 and 2.0"]
    {
        assert!(told.out.contains(line), "{line}: {}", told.out);
    }
    assert!(!told.out.contains("never"), "{}", told.out);
}

#[test]
fn nans_are_traced() {
    let p = place();
    let told = p.cotan(&["why-nan", "p.cot", "ratio", "--arg", "x=0"]);
    assert_eq!(told.code, Some(0), "{told:?}");
    assert!(told.out.contains("x / x") && told.out.contains("p.cot:"), "{}", told.out);
}

#[test]
fn stages_are_shown() {
    let p = place();
    for stage in ["syntax", "core", "ir", "opt", "expanded", "final"] {
        let told = p.cotan(&["show", "--stage", stage, "p.cot", "square"]);
        assert_eq!(told.code, Some(0), "{stage}: {told:?}");
        assert!(!told.out.trim().is_empty(), "{stage}");
    }
    let told = p.cotan(&["show", "--stage", "derivative", "p.cot", "square"]);
    assert!(told.code == Some(0) && told.out.contains("fn "), "{told:?}");
    p.cotan(&["show", "--stage", "derivative", "p.cot"]).fails(1, &["E0822"]);
}

#[test]
fn codes_are_explained() {
    let p = place();
    let told = p.cotan(&["explain", "e0801"]);
    assert!(told.code == Some(0) && told.out.starts_with("# E0801"));
    let all = p.cotan(&["explain"]);
    assert!(all.code == Some(0) && all.out.lines().count() > 20);
    p.cotan(&["explain", "E9999"]).fails(1, &["E0823"]);
}

#[test]
fn usage_errors_exit_with_two() {
    let p = place();
    p.cotan(&["run"]).fails(2, &["Usage"]);
    p.cotan(&["dance"]).fails(2, &["dance"]);
    p.cotan(&["run", "p.cot", "--max-memory", "lots"]).fails(2, &["size"]);
    p.cotan(&["run", "p.cot", "square", "--arg", "x"]).fails(2, &["NAME=VALUE"]);
    p.cotan(&["run", "p.cot", "--engine", "native"]).fails(1, &["E0820"]);
}

#[test]
fn limits_hold() {
    let p = Place::new(&[(
        "limits.cot",
        b"fn forever(n: Int) -> Int { forever(n + 1) + 1 }
fn spin() -> Int { let mut i = 0; while i >= 0 { i = (i + 1) % 1000; } i }
fn deep(n: Int) -> Float { if n == 0 { 0.0 } else { 1.0 + deep(n - 1) } }
fn fill(n: Int) -> Float { sum([1.0 for _ in 0..n]) }
",
    )]);
    p.cotan(&["run", "limits.cot", "forever", "--arg", "n=0", "--max-memory", "256MiB"]).fails(1, &["E07"]);
    p.cotan(&["run", "limits.cot", "spin", "--time-limit", "0.3"]).fails(1, &["E07"]);
    p.cotan(&["run", "limits.cot", "deep", "--arg", "n=1000000"]).gives("1000000.0\n");
    p.cotan(&["run", "limits.cot", "fill", "--arg", "n=1000000000", "--max-memory", "64MiB"]).fails(1, &["E07"]);
}
