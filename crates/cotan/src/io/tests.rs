//! Values there and back, and what is said of wrong ones.

use super::fault::Fault;
use super::{Piece, Types, json, json_read, text};
use cotan_ir::{AdtDef, AdtId, AdtKind, Never, Program, Type, TypeId, VariantDef};
use cotan_source::SourceMap;

/// A program with a few types.
struct World {
    program: Program<Never>,
    float: TypeId,
    int: TypeId,
    matrix: TypeId,
    point: TypeId,
    shape: TypeId,
}

fn world() -> World {
    let mut program = Program::default();
    let float = program.intern(Type::F64);
    let int = program.intern(Type::I64);
    let matrix = program.intern(Type::Array { rank: 2, elem: float });
    let vector = program.intern(Type::Array { rank: 1, elem: float });
    let field = |name: &str, ty| (name.to_string(), ty);
    let variant = |name: &str, named, fields| VariantDef { name: name.into(), named, fields };
    let point = program.adts.push(AdtDef {
        name: "Point".into(),
        kind: AdtKind::Struct,
        variants: vec![variant("Point", true, vec![field("x", float), field("n", int), field("w", vector)])],
    });
    let point = program.intern(Type::Adt(point));
    let shape_ty = program.intern(Type::Adt(AdtId(1)));
    program.adts.push(AdtDef {
        name: "Shape".into(),
        kind: AdtKind::Enum,
        variants: vec![
            variant("Circle", false, vec![field("0", float)]),
            variant("Nothing", false, vec![]),
            variant("Box", true, vec![field("width", float), field("inner", shape_ty)]),
        ],
    });
    World { program, float, int, matrix, point, shape: shape_ty }
}

impl World {
    fn array(&mut self, elem: TypeId) -> TypeId {
        self.program.intern(Type::Array { rank: 1, elem })
    }

    /// Reads and writes back.
    fn back(&self, ty: TypeId, input: &str) -> String {
        let types = Types::from(&self.program);
        match json_read::read(input, ty, types) {
            Ok(value) => json(&[Piece::Value(&value, ty)], types),
            Err(fault) => panic!("{fault:?}"),
        }
    }

    fn notation(&self, ty: TypeId, input: &str) -> String {
        let types = Types::from(&self.program);
        text(&json_read::read(input, ty, types).expect("a value"), ty, types, true)
    }

    /// Code and message.
    fn fault(&self, ty: TypeId, input: &str) -> (&'static str, String) {
        let fault: Fault = json_read::read(input, ty, Types::from(&self.program)).expect_err("a fault");
        let diagnostic = fault.diagnostic("v", Some(("--arg v", input)), &mut SourceMap::new());
        (diagnostic.code, diagnostic.message)
    }
}

#[test]
fn there_and_back() {
    let mut w = world();
    assert_eq!(w.back(w.float, "3"), "3.0");
    assert_eq!(w.back(w.float, "-0.0"), "-0.0");
    assert_eq!(w.back(w.float, "1e300"), "1e300");
    assert_eq!(w.back(w.float, "0.1"), "0.1");
    assert_eq!(w.back(w.float, "\"NaN\""), "\"NaN\"");
    assert_eq!(w.back(w.float, "\"-Infinity\""), "\"-Infinity\"");
    assert_eq!(w.back(w.int, "9007199254740993"), "9007199254740993");
    assert_eq!(w.back(w.int, "-9223372036854775808"), "-9223372036854775808");
    assert_eq!(w.back(w.int, "1e3"), "1000");
    assert_eq!(w.back(w.matrix, "[[1, 2], [3, 4], [5, 6]]"), "[[1.0,2.0],[3.0,4.0],[5.0,6.0]]");
    assert_eq!(w.back(w.matrix, "[]"), "[]");
    assert_eq!(w.back(w.matrix, "[[], []]"), "[[],[]]");
    let p = r#"{"x":1.0,"n":2,"w":[3.0]}"#;
    assert_eq!(w.back(w.point, r#" { "w" : [3], "n":2, "x":1 } "#), p);
    let ps = w.array(w.point);
    assert_eq!(w.back(ps, &format!("[{p}, {p}]")), format!("[{p},{p}]"));
    assert_eq!(w.back(w.shape, r#"{"Circle":[1]}"#), r#"{"Circle":[1.0]}"#);
    assert_eq!(w.back(w.shape, r#""Nothing""#), r#""Nothing""#);
    let nested = r#"{"Box":{"width":1.0,"inner":{"Box":{"width":2.0,"inner":"Nothing"}}}}"#;
    assert_eq!(w.back(w.shape, nested), nested);
}

#[test]
fn notation() {
    let w = world();
    assert_eq!(w.notation(w.point, r#"{"x":1,"n":2,"w":[3]}"#), "Point { x: 1.0, n: 2, w: [3.0] }");
    let nested = r#"{"Box":{"width":1.0,"inner":{"Circle":[2]}}}"#;
    assert_eq!(w.notation(w.shape, nested), "Box { width: 1.0, inner: Circle(2.0) }");
    assert_eq!(w.notation(w.matrix, "[[1, 2]]"), "[[1.0, 2.0]]");
}

#[test]
fn tangents_are_shaped_like_points() {
    let mut w = world();
    let tangent = w.program.intern(Type::Tan(w.point));
    assert_eq!(w.back(tangent, r#"{"x":1,"n":null,"w":[3]}"#), r#"{"x":1.0,"n":null,"w":[3.0]}"#);
}

#[test]
fn faults_name_the_place() {
    let mut w = world();
    let ps = w.array(w.point);
    let is = |(code, message): (&'static str, String), expected: &str, words: &str| {
        assert_eq!(code, expected, "{message}");
        assert!(message.contains(words), "{message}");
    };
    is(w.fault(w.float, "\"x\""), "E0805", "`v`: expected Float, found \"x\"");
    is(w.fault(w.float, "[1]"), "E0805", "expected Float, found an array");
    is(w.fault(w.float, "1e999"), "E0807", "out of the range of Float");
    is(w.fault(w.float, ""), "E0804", "end of the text");
    is(w.fault(w.float, "1 2"), "E0804", "expected the end");
    is(w.fault(w.float, "NaN"), "E0816", "NaN");
    is(w.fault(w.int, "1.5"), "E0805", "expected Int, found 1.5");
    is(w.fault(w.int, "9223372036854775808"), "E0807", "out of the range of Int");
    is(w.fault(w.matrix, "[[1, 2], [3]]"), "E0806", "`v[1]`: this row has 1 elements, the rows before it have 2");
    is(w.fault(w.matrix, "[1, 2]"), "E0805", "`v[0]`: expected []Float, found 1");
    is(w.fault(w.matrix, "[[1, 2], [3, null]]"), "E0805", "`v[1][1]`");
    is(w.fault(ps, r#"[{"x":1,"n":2,"w":[1, "y"]}]"#), "E0805", "`v[0].w[1]`: expected Float, found \"y\"");
    is(w.fault(ps, r#"[{"x":1,"n":2}]"#), "E0808", "field `w` of Point is missing");
    is(w.fault(ps, r#"[{"x":1,"m":2}]"#), "E0808", "no field `m`");
    is(w.fault(ps, r#"[{"x":1,"x":2}]"#), "E0808", "twice");
    is(w.fault(w.shape, r#""Cirle""#), "E0808", "no variant `Cirle`");
    is(w.fault(w.shape, r#""Circle""#), "E0805", "needs its payload");
    is(w.fault(w.shape, r#"{"Circle":[]}"#), "E0805", "expected 1 values");
    is(w.fault(w.shape, r#"{"Circle":[1,2]}"#), "E0805", "found more");
    is(w.fault(w.shape, r#"{"Circle":[1],"Nothing":[]}"#), "E0805", "another key");
    is(w.fault(w.shape, "{}"), "E0805", "empty object");
    let deep = "{\"Box\":{\"width\":1,\"inner\":".repeat(200_000);
    let thread = std::thread::Builder::new().stack_size(1 << 30);
    let fault = thread
        .spawn(move || {
            let w = world();
            w.fault(w.shape, &deep).0
        })
        .expect("a thread")
        .join();
    assert_eq!(fault.expect("no overflow"), "E0809");
}

#[test]
fn large_arrays_are_read() {
    let mut w = world();
    let vector = w.array(w.float);
    let mut input = String::from("[");
    for i in 0..1_000_000 {
        if i > 0 {
            input.push(',');
        }
        input.push_str("0.12345678");
    }
    input.push(']');
    assert!(json_read::read(&input, vector, Types::from(&w.program)).is_ok());
}
