//! Whatever the text, parsing ends soon, without a panic, and every span lies in the text.

use cotan_source::{Diagnostic, FileId, SourceMap, render};
use cotan_syntax::{MAX_HEIGHT, parse, parse_expr, print_tree};
use proptest::prelude::*;

const PROGRAM: &str = include_str!("everything.cot");

const TOKENS: &[&str] = &[
    "as",
    "break",
    "continue",
    "else",
    "enum",
    "false",
    "fn",
    "for",
    "if",
    "in",
    "let",
    "match",
    "mut",
    "return",
    "struct",
    "true",
    "type",
    "use",
    "while",
    "_",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    ";",
    ":",
    "::",
    ".",
    "..",
    "..=",
    "->",
    "=>",
    "@",
    "|",
    "||",
    "&&",
    "!",
    "+",
    "-",
    "*",
    "**",
    "/",
    "%",
    "=",
    "==",
    "!=",
    "<",
    "<=",
    ">",
    ">=",
    "+=",
    "**=",
    "@=",
    "&",
    "^",
    ":=",
    "?",
    "x",
    "S",
    "f(",
    "1",
    "2.5",
    "1.",
    "\"s\"",
    "\"",
    "'",
    "/*",
    "*/",
    "// c\n",
    "/// d\n",
    "\n",
    "#",
    "\\",
    "$",
    "π",
    "∂",
    "test",
    "bench",
    "vjp",
    "jvp",
    "transpose",
    "with",
    "tangent",
    "adjoint",
    "vjp {",
    "transpose(v) {",
    "return with",
    "|x|",
    "not",
    "and",
    "elif",
    "def",
    "loop {",
    "lambda",
    "move",
    "var",
    "pub",
    "import",
    "S { a: 1 }",
    "if let",
    "match x {",
    "1 =>",
    "[x for",
    "\"a\nb",
];

/// Checks what must hold of any text; gives the number of diagnostics.
fn check(text: &str) -> usize {
    let mut sources = SourceMap::new();
    let file = sources.add("a.cot", text);
    let (module, diagnostics) = parse(file, text);
    let tree = format!("{module:?}");
    // Every span prints as `start: N, end: M`.
    let mut rest = tree.as_str();
    while let Some(at) = rest.find(", start: ") {
        rest = &rest[at + ", start: ".len()..];
        let Some((start, after)) = rest.split_once(", end: ") else { continue };
        let end: String = after.chars().take_while(char::is_ascii_digit).collect();
        let (Ok(start), Ok(end)) = (start.parse::<usize>(), end.parse::<usize>()) else { continue };
        assert!(text.get(start..end).is_some(), "span {start}..{end} is not in {text:?}");
    }
    for diagnostic in &diagnostics {
        assert!(cotan_source::explain(diagnostic.code).is_some(), "{} has no page", diagnostic.code);
        for span in std::iter::once(&diagnostic.primary).chain(&diagnostic.labels).map(|l| l.span) {
            assert!(text.get(span.start as usize..span.end as usize).is_some(), "{diagnostic:?} is not in {text:?}");
        }
        assert!(render(&sources, diagnostic, false).starts_with("error["));
    }
    print_tree(&module);
    parse_expr(file, text);
    diagnostics.len()
}

fn tokens() -> impl Strategy<Value = String> {
    let token = prop::sample::select(TOKENS);
    prop::collection::vec((token, prop::bool::weighted(0.9)), 0..60)
        .prop_map(|list| list.iter().map(|(t, blank)| format!("{t}{}", if *blank { " " } else { "" })).collect())
}

/// A valid program with pieces cut out, doubled, moved or replaced.
fn mutation() -> impl Strategy<Value = String> {
    let change = (any::<prop::sample::Index>(), 0usize..30, 0u8..4, prop::sample::select(TOKENS));
    prop::collection::vec(change, 1..6).prop_map(|changes| {
        let mut text: Vec<char> = PROGRAM.chars().collect();
        for (at, length, kind, token) in changes {
            let start = at.index(text.len());
            let end = (start + length).min(text.len());
            let piece: Vec<char> = text[start..end].to_vec();
            match kind {
                0 => drop(text.drain(start..end)),
                1 => drop(text.splice(start..start, piece)),
                2 => drop(text.splice(start..end, token.chars())),
                _ => drop(text.splice(start..start, token.chars())),
            }
        }
        text.into_iter().collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn token_soup(text in tokens()) {
        check(&text);
    }

    #[test]
    fn token_soup_in_a_function(text in tokens()) {
        check(&format!("fn f() {{ {text} }} fn g() {{ }}"));
    }

    #[test]
    fn any_text(text in any::<String>()) {
        check(&text);
    }

    #[test]
    fn mutations_of_a_valid_program(text in mutation()) {
        check(&text);
    }
}

#[test]
fn every_prefix_of_a_program() {
    for (at, _) in PROGRAM.char_indices().step_by(7) {
        check(&PROGRAM[..at]);
        check(&PROGRAM[at..]);
    }
}

/// Long repetitions of one or two tokens: what takes time that grows with the square of the text would not end here.
#[test]
fn repetitions_end() {
    for first in TOKENS {
        for second in TOKENS {
            let text = format!("{first} {second} ").repeat(150);
            parse(FileId(0), &text);
            parse(FileId(0), &format!("fn f() {{ {text}"));
        }
    }
    for first in TOKENS {
        for frame in ["", "fn f() {", "fn f() { x = ", "let x = [", "struct S {", "fn f(", "fn f() { match x {"] {
            let text = format!("{frame}{}", format!("{first} ").repeat(20_000));
            parse(FileId(0), &text);
        }
    }
}

/// Whether the nesting was refused, or so much else that it is not shown any more.
fn refused(diagnostics: &[Diagnostic]) -> bool {
    diagnostics.iter().any(|d| d.code == "E0013") || diagnostics.len() >= 50
}

/// Deep nesting is refused with a diagnostic on a stack of 2 MiB, as threads have; long chains are not.
#[test]
fn deep_nesting_is_refused() {
    let nests = [
        ("(", "1", ")"),
        ("[", "1", "]"),
        ("{", "1", "}"),
        ("-", "1", ""),
        ("|x| ", "1", ""),
        ("f(", "1", ")"),
        ("a[", "1", "]"),
        ("S { a: ", "1", "}"),
        ("if ", "a", " { } else { }"),
        ("if a {", "1", "} else { 2 }"),
        ("if a { 2 } else { ", "1", "}"),
        ("match x { _ => ", "1", "}"),
        ("match ", "1", " { _ => 2 }"),
        ("2 ** ", "1", ""),
        ("1 + (", "1", ")"),
        ("[", "1", " for i in 0..n]"),
        ("return ", "1", ""),
        ("{ fn f() { ", "1", "} }"),
        ("{ while a { ", "1", "} }"),
        ("|x: [", "1", "]A| 1"),
        ("{ let x = ", "1", "; }"),
        ("& ", "1", ""),
        ("not ", "x", ""),
        ("1.. ", "1", ""),
        (".. ", "1", ""),
    ];
    let whole = std::thread::Builder::new().stack_size(2 << 20).spawn(move || {
        for (open, middle, close) in nests {
            for times in [50, 5_000, 100_000] {
                let text = format!("let x = {}{middle}{};", open.repeat(times), close.repeat(times));
                let (module, diagnostics) = parse(FileId(0), &text);
                if times > 50 && !open.contains("..") {
                    assert!(refused(&diagnostics), "{open}");
                }
                drop(module);
            }
        }
        for nest in ["(", "[n]", "fn(", "Pair<", "[", "& "] {
            let text = format!("type T = {};", nest.repeat(5_000));
            assert!(refused(&parse(FileId(0), &text).1), "{nest}");
        }
        for nest in ["(", "Some(", "S { a: "] {
            let text = format!("fn f() {{ let {} = 1; }}", nest.repeat(5_000));
            assert!(refused(&parse(FileId(0), &text).1), "{nest}");
        }
        for (link, code) in [(" + x", None), (".a", None), ("(x)", None), ("[0]", None), (" as T", Some("E0016"))] {
            let text = format!("let x = x{};", link.repeat(MAX_HEIGHT - 1_000));
            assert_eq!(parse(FileId(0), &text).1.first().map(|d| d.code), code, "{link}");
            let text = format!("let x = x{};", link.repeat(MAX_HEIGHT + 100));
            let expected = Some(code.unwrap_or("E0013"));
            assert_eq!(parse(FileId(0), &text).1.first().map(|d| d.code), expected, "{link}");
        }
        let text = format!("let x = {};", "if a { b } else ".repeat(5_000) + "{ c }");
        assert!(parse(FileId(0), &text).1.is_empty());
        // The height of the tree is what counts, however it comes about.
        let inner = format!("{}x", "x + ".repeat(4_000));
        let text = format!("let x = ((({inner}) + 1) + ({inner}) + (({inner}) + 1)) + {inner};");
        assert!(parse(FileId(0), &text).1.is_empty());
        let text = format!("let x = {}(x{}){};", "(".repeat(99), " + 1".repeat(130), ") + 1".repeat(99));
        assert!(parse(FileId(0), &text).1.is_empty());
    });
    assert!(whole.is_ok_and(|thread| thread.join().is_ok()), "failed on a small stack");
}
