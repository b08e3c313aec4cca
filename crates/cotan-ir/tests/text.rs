//! Printer and reader are inverse, generated programs are valid, and the validator notices what is not.

mod generate;

use cotan_ir::{AdOp, Atom, FnId, Never, Op, Program, print_program, read_program, validate};
use cotan_source::{FileId, Span};

fn read(text: &str) -> Program<AdOp> {
    read_program(FileId(0), text).unwrap_or_else(|d| {
        let line = text[..d.primary.span.start as usize].lines().count();
        panic!("{} {} at line {line} of\n{text}", d.message, d.primary.text)
    })
}

#[test]
fn printed_programs_read_back() {
    for seed in 0..300 {
        let mut program = generate::program(seed, 12);
        for (i, stmt) in program.fns[FnId(0)].body.stmts.iter_mut().enumerate() {
            stmt.span = Span::new(FileId(0), i as u32, 2 * i as u32);
        }
        for spans in [false, true] {
            let text = print_program(&program, spans);
            let back = read(&text);
            assert_eq!(print_program(&back, spans), text);
            assert_eq!(program.fns.len(), back.fns.len());
        }
    }
}

#[test]
fn generated_programs_are_valid() {
    for seed in 0..300 {
        let mut program = generate::program(seed, 12);
        let faults = validate(&mut program);
        assert!(faults.is_empty(), "seed {seed}: {faults:#?}\n{}", print_program(&program, false));
    }
}

/// Each change of a statement that must be noticed, on many programs.
#[test]
fn the_validator_notices_faults() {
    let mut noticed = 0;
    for seed in 0..100 {
        let program = generate::program(seed, 12);
        let stmts = program.fns[FnId(0)].body.stmts.len();
        for i in 0..stmts {
            let mut wrong = program.clone();
            let body = &mut wrong.fns[FnId(0)].body;
            match i % 4 {
                // A variable that is used loses its definition.
                0 => {
                    let removed = body.stmts.remove(i);
                    let mut used = false;
                    body.for_each_use(&mut |v| used |= removed.vars.contains(&v));
                    if !used {
                        continue;
                    }
                }
                // A statement comes twice.
                1 if !body.stmts[i].vars.is_empty() => {
                    let twice = body.stmts[i].clone();
                    body.stmts.insert(i, twice);
                }
                // An operand of another type.
                2 if matches!(body.stmts[i].op, Op::Prim(..)) => {
                    body.stmts[i].op.map_atoms(|a| *a = Atom::Lit(cotan_ir::Lit::Str("".into())));
                }
                // A result too many.
                3 => body.results.push(Atom::int(1)),
                _ => continue,
            }
            noticed += 1;
            assert!(!validate(&mut wrong).is_empty(), "seed {seed}, statement {i}, change {}", i % 4);
        }
    }
    assert!(noticed > 300, "only {noticed} changes were made");
}

#[test]
fn malformed_texts_are_diagnostics() {
    let cases = [
        ("fn f0.a(", "E0890"),
        ("fn f1.a() {}", "E0890"),
        ("fn f0.a() { %0: F64 = add(1.0", "E0890"),
        ("fn f0.a() { %4294967295: F64 = add(1.0, 2.0) }", "E0890"),
        ("fn f0.a() { %0: I64 = copy(99999999999999999999) }", "E0890"),
        ("fn f0.a() { %0: F64 = frobnicate(1.0) }", "E0891"),
        ("fn f0.a() { %0: Float = copy(1.0) }", "E0891"),
        ("fn f0.a() { call[f7.b]() }", "E0891"),
        ("fn f0.a(%0: a3) {}", "E0891"),
        ("adt a0.x shape {}", "E0891"),
        ("fn f0.a() { %0: Str = copy(\"open) }", "E0890"),
        ("fn f0.a() { \u{7f} }", "E0890"),
    ];
    for (text, code) in cases {
        match read_program::<AdOp>(FileId(0), text) {
            Ok(_) => panic!("{text} was read"),
            Err(d) => assert_eq!(d.code, code, "{text}: {} {}", d.message, d.primary.text),
        }
    }
    let deep = format!("fn f0.a() {{ {} }}", "if true { ".repeat(100_000));
    assert!(read_program::<AdOp>(FileId(0), &deep).is_err());
    let deep = format!("fn f0.a(%0: {}F64) {{ }}", "[]".repeat(100_000));
    assert!(read_program::<AdOp>(FileId(0), &deep).is_err());
    let ad = "fn f0.a(%0: fn(F64) -> F64) { %1: (F64, F64) = ad_jvp(%0, 1.0, 1.0) }";
    assert!(read_program::<AdOp>(FileId(0), ad).is_ok());
    assert!(read_program::<Never>(FileId(0), ad).is_err());
}

/// Cutting a text anywhere gives a program or a diagnostic, never a crash.
#[test]
fn cut_texts_do_not_crash() {
    let text = print_program(&generate::program(7, 12), false);
    for cut in (0..text.len()).filter(|i| text.is_char_boundary(*i)) {
        let _ = read_program::<AdOp>(FileId(0), &text[..cut]);
        let _ = read_program::<AdOp>(FileId(0), &text[cut..]);
    }
}
