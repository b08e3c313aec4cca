//! Wrong programs: the code, the place and the hint of each message; and how parsing goes on.

use cotan_source::{FileId, SourceMap, render};
use cotan_syntax::{ast::ItemKind, parse};

/// The first diagnostic must have this code, point at this text, and say this somewhere; `most` are given.
#[track_caller]
fn wrong(text: &str, code: &str, place: &str, says: &str, most: usize) {
    let mut sources = SourceMap::new();
    let file = sources.add("a.cot", text);
    let (_, diagnostics) = parse(file, text);
    let shown: String = diagnostics.iter().map(|d| render(&sources, d, false)).collect();
    assert!(!diagnostics.is_empty(), "no diagnostic for {text}");
    assert_eq!(diagnostics[0].code, code, "{shown}");
    assert_eq!(sources.snippet(diagnostics[0].primary.span), place, "{shown}");
    assert!(shown.contains(says), "`{says}` is not in\n{shown}");
    assert!(diagnostics.len() <= most, "more than {most} for {text}:\n{shown}");
}

#[track_caller]
fn wrong_body(text: &str, code: &str, place: &str, says: &str) {
    wrong(&format!("fn f() {{ {text} }}"), code, place, says, 1);
}

#[test]
fn lexical() {
    wrong("let x = \"abc;\nlet y = 1;", "E0002", "\"abc;", "close it with", 2);
    wrong("let x = \"abc;\nlet y = \"def\";\n", "E0002", "\"abc;", "was it meant to end here", 2);
    wrong("let x = 1; /* a /* b */", "E0003", "/*", "never closed", 1);
    wrong("let x = \"a\\qb\";", "E0004", "\\q", "known are", 1);
    wrong("let x = \"\\u{d800}\";", "E0004", "\\u{d800}", "code point", 1);
    wrong("let x = 1.0f32;", "E0005", "1.0f32", "no suffix", 1);
    wrong("let x = 2y;", "E0005", "2y", "2 * y", 1);
    wrong("let x = 0xff;", "E0005", "0xff", "decimal", 1);
    wrong("let x = 1e;", "E0005", "1e", "exponent", 1);
    wrong("let x = 1e999;", "E0005", "1e999", "inf", 1);
    wrong("let x = 'a';", "E0006", "'a'", "\"a\"", 1);
    wrong("let x = 1; # note\nlet y = 2;", "E0001", "#", "`//`", 1);
    wrong("let x = a \u{2264} b;", "E0001", "\u{2264}", "`<=`", 1);
    wrong("let x = $a;", "E0001", "$", "no meaning", 1);
}

#[test]
fn from_rust() {
    wrong_body("let y = &x;", "E0016", "&", "no references");
    wrong_body("let y = *x;", "E0016", "*", "no pointers");
    wrong_body("let y = x as Float;", "E0016", "as", "float(x)");
    wrong_body("loop { x += 1; }", "E0016", "loop", "while true");
    wrong_body("let x mut = 1;", "E0020", "mut", "let mut x");
    wrong_body("mut let x = 1;", "E0020", "mut", "let mut x");
    wrong_body("mut x = 1;", "E0020", "mut", "let mut x");
    wrong_body("let x: mut Float = 1;", "E0020", "mut", "before the name");
    wrong_body("let mut (a, b) = c;", "E0020", "mut", "(mut a, mut b)");
    wrong_body("g(mut x)", "E0020", "mut", "let mut");
    wrong_body("let x;", "E0021", ";", "needs a value");
    wrong_body("let y = move |x| x;", "E0016", "move", "leave out");
    wrong_body("println!(x);", "E0010", "!", "macros");
    wrong_body("let x = [0.0; 3];", "E0010", ";", "for _ in 0..n");
    wrong_body("let f = fn(x) { x };", "E0016", "fn", "|x| e");
    wrong_body("let x: [Float; 3] = y;", "E0010", ";", "[n]Float");
    wrong_body("f::<Int>(x)", "E0010", "::", "inferred");
    wrong_body("while let Some(x) = y { }", "E0010", "let", "while true");
    wrong_body("let Some(x) = y else { z };", "E0010", "else", "if let");
    wrong("pub fn f() { }", "E0016", "pub", "public", 1);
    wrong("struct S(Float);", "E0010", "(", "have names", 1);
    wrong("impl S { }", "E0018", "impl", "x.f(y)", 1);
    wrong("fn f(x: &Float) { }", "E0016", "&", "no references", 1);
    wrong("fn f(x: [Float]) { }", "E0010", ")", "[n]T", 1);
}

#[test]
fn from_python_and_ml() {
    wrong_body("if a and b { c }", "E0016", "and", "&&");
    wrong_body("if a or b { c }", "E0016", "or", "||");
    wrong_body("let y = not x;", "E0016", "not", "!c");
    wrong_body("let y = x ^ 2;", "E0016", "^", "**");
    wrong_body("if a { b } elif c { d } else { e }", "E0016", "elif", "else if");
    wrong_body("let x := 1;", "E0016", ":=", "let x = e;");
    wrong_body("x := 1;", "E0016", ":=", "let x = e;");
    wrong_body("var x = 1;", "E0016", "var", "let");
    wrong_body("let g = lambda x: x;", "E0016", "lambda", "|x| e");
    wrong_body("let y = a ? b : c;", "E0010", "?", "if c { a } else { b }");
    wrong_body("if x = 1 { y }", "E0017", "=", "==");
    wrong_body("let x = y = 1;", "E0017", "=", "==");
    wrong_body("g(x = 1)", "E0010", "=", "position");
    wrong_body("if a then { b }", "E0010", "then", "braces");
    wrong("fn f() { let z = if a then b else c; }", "E0010", "then", "braces", 2);
    wrong_body("x++;", "E0016", "+", "x += 1");
    wrong("def f(x) { x }", "E0016", "def", "fn", 1);
    wrong("fn f(x: A) -> A = x;", "E0010", "=", "braces", 1);
    wrong("fn f(x: A): A { x }", "E0010", ":", "`->`", 1);
    wrong("import linalg;", "E0016", "import", "use", 1);
    wrong("class S { a: Float }", "E0016", "class", "struct", 1);
    wrong("print(1);\nfn f() { }", "E0018", "print", "fn main()", 1);
    wrong("for i in 0..3 { }", "E0018", "for", "fn main()", 1);
}

#[test]
fn punctuation() {
    wrong_body("let x = 1 let y = 2;", "E0011", "1", "expected `;`");
    wrong_body("let x = 1\n x", "E0011", "1", "expected `;`");
    wrong_body("f(x)\n g(y)", "E0011", ")", "expected `;`");
    wrong_body("x = 1\n y", "E0011", "1", "expected `;`");
    wrong_body("let x = (1 + 2;", "E0010", ";", "opened here");
    wrong_body("match x { 1 2, _ => 3 }", "E0010", "2", "`=>`");
    wrong_body("match x { 1 = 2, _ => 3 }", "E0010", "=", "pattern => value");
    wrong_body("match x { 1 -> 2, _ => 3 }", "E0010", "->", "pattern => value");
    wrong_body("match x { 1 => 2; _ => 3 }", "E0010", ";", "commas");
    wrong_body("a < b < c", "E0015", "<", "a < b && b < ..");
    wrong_body("if S { a: 1 } == s { }", "E0019", "S { a: 1 }", "parentheses");
    wrong_body("f(x) = 1;", "E0024", "f(x)", "a place");
    wrong_body("x + 1 = 2;", "E0024", "x + 1", "a place");
    wrong_body("f(x y)", "E0010", "y", "`,` or `)`");
    wrong_body("[1, 2 3]", "E0010", "3", "`,` or `]`");
    wrong_body("[1 2]", "E0010", "2", "`,`, `for` or `]`");
    wrong_body("let x = ;", "E0010", ";", "expected an expression");
    wrong_body("x = );", "E0010", ")", "expected an expression");
    wrong_body("let let = 1;", "E0010", "let", "a reserved word");
    wrong_body("[x for i in 0..n for j in 0..m]", "E0016", "for", "j in 0..n");
    wrong_body("struct S { a: A }", "E0018", "struct", "top level");
    wrong("fn f() { 1 } }", "E0014", "}", "closes nothing", 1);
    wrong("fn f() { (1 }", "E0012", "(", "never closed", 1);
    wrong("fn f() { g([1, 2) }", "E0012", "[", "never closed", 1);
    wrong("fn f() { if a { b }\n", "E0012", "{", "never closed", 1);
    wrong("fn f() { (\n1\n", "E0012", "(", "never closed", 2);
    wrong("fn f() {\n    if a {\n  b\n}\nfn g() { }\n", "E0012", "{", "closed before this", 1);
    wrong_body("let y = x +* 2;", "E0010", "*", "expected an expression");
    wrong_body("for i = 0..3 { }", "E0010", "=", "for i in 0..n");
    wrong("fn f();", "E0022", "fn f()", "no body", 1);
    wrong("struct S { a: A; b: B }", "E0010", ";", "commas", 1);
    wrong("struct S { a A }", "E0010", "A", "`:`", 1);
    wrong("fn fn() { }", "E0010", "fn", "reserved", 1);
    wrong("let mut x = 1;", "E0020", "mut x", "constant", 1);
    wrong("fn f() { } transpose { }", "E0010", "{", "transpose(v)", 1);
    wrong("use a::*;", "E0010", "*", "list them", 1);
    wrong("fn f<T: A + B>(x: T) { }", "E0010", "+", "one constraint", 1);
}

#[test]
fn parsing_goes_on_after_a_mistake() {
    let text =
        "fn a() { let x = ; 1 }\nfn b( { 2 }\nstruct S { x Float, y: Int }\n)\nfn c() { 3 }\nlet d = \nfn e() { 5 }";
    let (module, diagnostics) = parse(FileId(0), text);
    let names: Vec<_> = module
        .items
        .iter()
        .map(|item| match &item.kind {
            ItemKind::Fn(f) => f.name.name.as_str(),
            ItemKind::Struct(s) => s.name.name.as_str(),
            ItemKind::Const(c) => c.name.name.as_str(),
            _ => "-",
        })
        .collect();
    for name in ["a", "b", "S", "c", "d", "e"] {
        assert!(names.contains(&name), "{name} is lost: {names:?}");
    }
    assert!(diagnostics.len() >= 4, "{diagnostics:#?}");
    assert!(diagnostics.windows(2).all(|w| w[0].primary.span.start <= w[1].primary.span.start));
}

#[test]
fn every_code_has_a_page() {
    for code in 1..=24 {
        let code = format!("E{code:04}");
        let unused = ["E0007", "E0008", "E0009", "E0023"];
        assert_eq!(cotan_source::explain(&code).is_some(), !unused.contains(&code.as_str()), "{code}");
    }
}

#[test]
fn a_garbage_file_gives_a_bounded_number_of_errors() {
    let (_, diagnostics) = parse(FileId(0), &"let = ] $ ;\n".repeat(2000));
    assert_eq!(diagnostics.len(), 50);
    assert!(diagnostics[49].notes[0].contains("more errors"));
}
