//! Large, deep and endless programs, and the table of builtins.

mod programs;

use cotan_lower::Builtin;
use programs::{check_text, files, lower_all};
use std::fmt::Write;
use std::path::Path;

fn lowered(text: &str) -> cotan_ir::Program<cotan_ir::AdOp> {
    let core = check_text("main", text, Path::new(".")).expect("the program has no mistakes");
    let (mut program, _) = lower_all(&core).expect("the program is lowered");
    assert_eq!(cotan_ir::validate(&mut program), Vec::<String>::new());
    program
}

#[test]
fn the_library_names_known_builtins() {
    let mut count = 0;
    for file in files("std") {
        let text = std::fs::read_to_string(&file).expect("a file that was listed");
        for rest in text.split("@builtin(\"").skip(1) {
            let name = rest.split('"').next().unwrap_or_default();
            assert!(Builtin::from_name(name).is_some(), "{}: `{name}`", file.display());
            count += 1;
        }
    }
    assert!(count > 60, "only {count} builtins were found");
}

#[test]
fn polymorphic_recursion_is_reported() {
    let text = "enum Nested<A> { Flat(A), Deep(Nested<(A, A)>) }
        fn depth<A>(x: Nested<A>) -> Int { match x { Flat(_) => 0, Deep(y) => 1 + depth(y) } }
        fn main() -> Int { depth(Deep(Flat((1, 2)))) }";
    let core = check_text("main", text, Path::new(".")).expect("the checker does not look that far");
    let errors = lower_all(&core).expect_err("this has no end");
    assert_eq!(errors[0].code, "E0604");
}

#[test]
fn many_statements_take_time_in_proportion() {
    let program = |n: usize| {
        let mut text = String::from("fn main(x: Float) -> Float {\n    let mut y = x;\n");
        for i in 0..n {
            let _ = match i % 4 {
                0 => writeln!(text, "    let a{i} = y * x + {i}.0;\n    y = a{i} - sin(y);"),
                1 => writeln!(text, "    if y > {i}.0 {{ y = y / 2.0; }}"),
                2 => writeln!(text, "    for k in 0..3 {{ y += float(k); }}"),
                _ => writeln!(text, "    if y < -1e9 {{ return y; }}"),
            };
        }
        text.push_str("    y\n}\n");
        text
    };
    let core = |n| check_text("main", &program(n), Path::new(".")).expect("no mistakes");
    let (small, large) = (core(500), core(2000));
    let size = |core: &cotan_core::Program| {
        let (program, _) = lower_all(core).expect("the program is lowered");
        program.fns.iter().map(cotan_ir::size).sum::<usize>()
    };
    let (size_small, size_large) = (size(&small), size(&large));
    assert!(size_large < 5 * size_small, "{size_small} operations became {size_large}");
}

#[test]
fn deep_nesting() {
    let mut text = String::from("fn main(x: Float) -> Float {\n    let mut y = x;\n");
    for i in 0..60 {
        let _ = writeln!(text, "if y > {i}.0 {{ y += 1.0;");
    }
    for _ in 0..60 {
        text.push_str("} ");
    }
    text.push_str(";\n    y\n}\n");
    lowered(&text);
    let sum = vec!["x"; 3000].join(" + ");
    lowered(&format!("fn main(x: Float) -> Float {{ {sum} }}"));
}

#[test]
fn jumps_everywhere() {
    lowered(
        "enum E { A(Int), B { n: Int, s: String }, C }
        fn f(e: E, n: Int) -> Int {
            let mut t = 0;
            let k = 10 + (if n > 5 { return 1 } else if n > 3 { let z = match n { 4 => return 44, k => k * 2 }; z } else { n });
            while { t += 1; t < n } {
                let v = match e {
                    A(0) => continue,
                    A(i) if i > t => i,
                    A(i) => { if i < 0 { break; } i * 2 }
                    B { n: m, s } => { for j in 0..m { if str(j) == s { return j; } if j == t { break; } } m }
                    C => return t,
                };
                t += v + k;
            }
            t
        }
        fn g(n: Int) -> String {
            for i in 0..n {
                let ok = i > 3 && (if i > 100 { return \"large\" } else { i % 7 == 0 });
                if ok { return str(i); } else { continue; }
            }
            panic(\"none\")
        }",
    );
}
