//! Golden tests of the checker.
//!
//! In: `tests/good/*.cot` and `tests/bad/*.cot`, and the library. Out: for a good program its signatures and,
//! where a line says `// core`, its core; for a bad one its diagnostics, one case per `// ---` section. The
//! expectation stands beside the program in a `.txt`; `COTAN_BLESS=1` writes it.

use cotan_check::{CheckInput, check};
use cotan_core::Program;
use cotan_source::{Diagnostic, SourceMap};
use cotan_syntax::ast;
use std::fmt::Write;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Checks one text against the library.
fn check_text(name: &str, text: &str) -> (SourceMap, Program, Vec<Diagnostic>) {
    let mut sources = SourceMap::new();
    let mut diagnostics = Vec::new();
    let mut parse = |sources: &mut SourceMap, name: &str, text: &str| -> ast::Module {
        let file = sources.add(name, text);
        let (module, found) = cotan_syntax::parse(file, text);
        diagnostics.extend(found);
        module
    };
    // `std/prelude.cot`, then the files of `std/prelude`.
    let mut files: Vec<PathBuf> = std::fs::read_dir(root().join("std/prelude"))
        .expect("the prelude is there")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    files.sort();
    files.insert(0, root().join("std/prelude.cot"));
    let mut prelude = Vec::new();
    for (i, file) in files.iter().enumerate() {
        let text = std::fs::read_to_string(file).expect("a file that was listed");
        let stem = file.file_stem().expect("a name").to_string_lossy().into_owned();
        let (shown, name) = match i {
            0 => ("std/prelude.cot".to_string(), "std".to_string()),
            _ => (format!("std/prelude/{stem}.cot"), format!("std::prelude::{stem}")),
        };
        prelude.push((name, parse(&mut sources, &shown, &text)));
    }
    let tree = parse(&mut sources, name, text);
    let mut extra = sources.clone();
    let mut resolve = |path: &[String]| {
        let path = path.strip_prefix(&["std".to_string()][..]).unwrap_or(path);
        let text = std::fs::read_to_string(root().join(format!("std/{}.cot", path.join("/")))).ok()?;
        let file = extra.add(format!("std/{}.cot", path.join("/")), text.clone());
        Some((format!("std::{}", path.join("::")), cotan_syntax::parse(file, &text).0))
    };
    let input = CheckInput { prelude, roots: vec![("main".to_string(), tree)], resolve: &mut resolve };
    let (program, found) = check(input);
    diagnostics.extend(found);
    (extra, program, diagnostics)
}

fn place(sources: &SourceMap, span: cotan_source::Span) -> String {
    match sources.line_column(span) {
        Some((line, column)) => format!("{line}:{column}"),
        None => "?".to_string(),
    }
}

fn describe(sources: &SourceMap, diagnostics: &[Diagnostic]) -> String {
    let mut out = String::new();
    for d in diagnostics {
        let _ = writeln!(out, "{} {}: {}", d.code, place(sources, d.primary.span), d.message);
        if !d.primary.text.is_empty() {
            let _ = writeln!(out, "    here: {}", d.primary.text);
        }
        for l in &d.labels {
            let _ = writeln!(out, "    {}: {}", place(sources, l.span), l.text);
        }
        for n in &d.notes {
            let _ = writeln!(out, "    note: {n}");
        }
        for h in &d.hints {
            let _ = writeln!(out, "    hint: {h}");
        }
    }
    out
}

/// The programs of a folder with their texts, in order.
fn programs(folder: &str) -> Vec<(PathBuf, String)> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(folder);
    let entries = std::fs::read_dir(dir).expect("the folder is there");
    let mut paths: Vec<PathBuf> = entries.filter_map(|e| e.ok().map(|e| e.path())).collect();
    paths.retain(|p| p.extension().is_some_and(|e| e == "cot"));
    paths.sort();
    paths.into_iter().map(|p| (p.clone(), std::fs::read_to_string(&p).expect("it can be read"))).collect()
}

fn compare(path: &Path, found: &str) -> Option<String> {
    let expected = path.with_extension("txt");
    if std::env::var_os("COTAN_BLESS").is_some_and(|v| v == "1") {
        std::fs::write(&expected, found).expect("it can be written");
        return None;
    }
    let wanted = std::fs::read_to_string(&expected).unwrap_or_default();
    if wanted == found {
        return None;
    }
    let line = wanted.lines().zip(found.lines()).find(|(a, b)| a != b);
    Some(format!("{}: differs first at {line:?}\nfound:\n{found}", path.display()))
}

#[test]
fn good_programs() {
    let mut wrong = Vec::new();
    for (path, text) in programs("good") {
        let (sources, program, diagnostics) = check_text("main.cot", &text);
        let mut out = describe(&sources, &diagnostics);
        for id in &program.exports {
            let f = &program.fns[*id];
            if text.contains("// core") {
                out.push_str(&cotan_core::print_fn(&program, f));
            } else {
                out.push_str(&cotan_core::print_signature(&program, f));
                out.push('\n');
            }
        }
        if diagnostics.iter().any(Diagnostic::is_error) {
            wrong.push(format!("{}: not good\n{out}", path.display()));
        }
        wrong.extend(compare(&path, &out));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn bad_programs() {
    let mut wrong = Vec::new();
    for (path, text) in programs("bad") {
        let mut out = String::new();
        for case in text.split("// ---\n") {
            let (sources, _, diagnostics) = check_text("main.cot", case);
            let _ = writeln!(out, "{}", case.trim_end());
            let _ = writeln!(out, "==>\n{}", describe(&sources, &diagnostics));
            if diagnostics.is_empty() {
                wrong.push(format!("{}: not bad\n{case}", path.display()));
            }
            for d in &diagnostics {
                if cotan_source::explain(d.code).is_none() {
                    wrong.push(format!("{}: no page for {}", path.display(), d.code));
                }
            }
        }
        wrong.extend(compare(&path, &out));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_library_is_good() {
    let mut wrong = Vec::new();
    for entry in std::fs::read_dir(root().join("std")).expect("the library is there") {
        let path = entry.expect("it can be listed").path();
        if path.extension().is_none_or(|e| e != "cot") {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("it can be read");
        let (sources, _, diagnostics) = check_text("library.cot", &text);
        if !diagnostics.is_empty() {
            wrong.push(describe(&sources, &diagnostics));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Ten thousand statements, a thousand functions: time grows with the text, not with its square.
#[test]
fn large_programs_take_little_time() {
    let mut text = "fn long(x: Float) -> Float {\n    let v0 = x;\n".to_string();
    for i in 0..10_000 {
        let _ = writeln!(text, "    let v{} = v{i} * 1.5 + sin(x);", i + 1);
    }
    text.push_str("    v10000\n}\n");
    text.push_str("fn open(x, y) {\n");
    for i in 0..5_000 {
        let _ = writeln!(text, "    let a{i} = x + y;");
    }
    text.push_str("    a0\n}\nfn f0(x: Float) -> Float { x }\n");
    for i in 1..1_000 {
        let _ = writeln!(text, "fn f{i}(x) {{ let g = |y| y * x; g(f{}(x)) }}", i - 1);
    }
    let (sources, _, diagnostics) = check_text("large.cot", &text);
    assert!(diagnostics.is_empty(), "{}", describe(&sources, &diagnostics[..1]));
}
