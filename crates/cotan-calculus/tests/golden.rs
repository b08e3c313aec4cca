//! Golden terms, found by folder.
//!
//! In: `tests/calculus/*.term`, and the blocks ```` ```term ```` of `docs/calculus.md`. Out: one test per file and reading. A line `// expect: VALUE` gives the value under the corrected
//! rules, `// printed: VALUE` that under the printed ones (the same, if there is no such line); `// steps: N` a limit of steps. Where
//! the value is `stuck`, the message is that in `NAME.txt` beside (`NAME.printed.txt`, if there is a line `// printed: stuck`). Numbers may differ in the last
//! bits: parts that parse as numbers are compared to 1e-12. With `COTAN_BLESS=1` messages are written anew.

use cotan_calculus::{Options, Rules, evaluate, parse};
use cotan_source::{SourceMap, render};
use libtest_mimic::{Arguments, Failed, Trial};
use std::path::{Path, PathBuf};

fn main() -> std::process::ExitCode {
    // Messages name files relative to the workspace.
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut trials = Vec::new();
    if let Err(error) = std::env::set_current_dir(&root) {
        trials.push(Trial::test("workspace", move || Err(error.into())));
    }
    for file in files() {
        let stem = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        for (rules, name) in [(Rules::Corrected, "corrected"), (Rules::Printed, "printed")] {
            let file = file.clone();
            trials.push(Trial::test(format!("{stem}/{name}"), move || {
                run(&file, &std::fs::read_to_string(&file)?, rules)
            }));
        }
    }
    for (line, text) in blocks(&std::fs::read_to_string("docs/calculus.md").unwrap_or_default(), "term") {
        for rules in [Rules::Corrected, Rules::Printed] {
            let (name, text) = (format!("docs/calculus.md:{line}/{rules:?}"), text.clone());
            trials.push(Trial::test(name, move || run(Path::new("docs/calculus.md"), &text, rules)));
        }
    }
    trials.push(Trial::test("docs/calculus.md/trace", trace));
    for (code, _) in cotan_source::all_codes().into_iter().filter(|(code, _)| code.starts_with("E09")) {
        trials.push(Trial::test(format!("pages/{code}"), move || page(code)));
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// On the page of a code, what says that it is wrong has the error of the page, and what is mended has none.
fn page(code: &str) -> Result<(), Failed> {
    let blocks = blocks(cotan_source::explain(code).unwrap_or_default(), "text");
    if blocks.is_empty() {
        return Err("a page without a term".into());
    }
    for (_, text) in blocks {
        // A term that never ends cannot be mended.
        let wrong = text.contains("// wrong") || code == "E0906";
        let options = Options { max_steps: 10_000, ..Options::default() };
        let found = parse(SourceMap::new().add("", ""), &text).and_then(|term| evaluate(&term, options));
        let found = found.err().map(|e| e.code);
        if found != wrong.then_some(code) {
            return Err(format!("{found:?} in:\n{text}").into());
        }
    }
    Ok(())
}

/// The transform that the page shows is one that the trace shows.
fn trace() -> Result<(), Failed> {
    let page = std::fs::read_to_string("docs/calculus.md")?;
    let shown = page.split("```text\n").find(|b| b.starts_with("\\x^.")).and_then(|b| b.split("```").next());
    let shown = shown.ok_or("the page shows no transform")?;
    let file = SourceMap::new().add("", "");
    let term = parse(file, "(J (\\x. sin x * x)) (J 3)").map_err(|e| e.message.clone())?;
    let mut told = String::new();
    let trace = Some(Box::new(|text: &str| told += text) as cotan_calculus::Trace<'_>);
    evaluate(&term, Options { trace, ..Options::default() }).map_err(|e| e.message.clone())?;
    if told.contains(shown) { Ok(()) } else { Err(format!("shown:\n{shown}\ntold:\n{told}").into()) }
}

fn files() -> Vec<PathBuf> {
    let entries = std::fs::read_dir("tests/calculus").into_iter().flatten().flatten().map(|e| e.path());
    let mut out: Vec<PathBuf> = entries.filter(|p| p.extension().is_some_and(|e| e == "term")).collect();
    out.sort();
    out
}

/// The blocks of terms of a document, with the lines where they begin.
fn blocks(text: &str, kind: &str) -> Vec<(usize, String)> {
    let mut out = Vec::new();
    let mut inside: Option<(usize, String)> = None;
    for (i, line) in text.lines().enumerate() {
        match &mut inside {
            Some(_) if line == "```" => out.extend(inside.take()),
            Some((_, block)) => *block += &format!("{line}\n"),
            None if line.strip_prefix("```") == Some(kind) => inside = Some((i + 2, String::new())),
            None => {}
        }
    }
    out
}

fn run(file: &Path, text: &str, rules: Rules) -> Result<(), Failed> {
    let line = |key: &str| text.lines().find_map(|l| l.strip_prefix(key)).map(str::trim);
    let expected = line("// expect:").ok_or("the file has no line `// expect: VALUE`")?;
    let expected = if rules == Rules::Printed { line("// printed:").unwrap_or(expected) } else { expected };
    let mut sources = SourceMap::new();
    let id = sources.add(file.display().to_string(), text);
    let max_steps = line("// steps:").map_or(Ok(10_000_000), str::parse)?;
    let found = parse(id, text).and_then(|term| {
        let again = parse(id, &term.to_string());
        assert!(again.is_ok_and(|again| again == term), "printed and parsed again, the term is another: {term}");
        evaluate(&term, Options { rules, max_steps, ..Options::default() })
    });
    let own = rules == Rules::Printed && line("// printed:").is_some();
    let message = file.with_extension(if own { "printed.txt" } else { "txt" });
    match (found, expected) {
        (Ok(outcome), _) => {
            let value = outcome.value.to_string();
            if same(expected, &value) { Ok(()) } else { Err(format!("expected {expected}, found {value}").into()) }
        }
        (Err(error), "stuck") => {
            let text = render(&sources, &error, false);
            if std::env::var_os("COTAN_BLESS").is_some_and(|v| v == "1") {
                std::fs::write(&message, text)?;
                return Ok(());
            }
            let expected = std::fs::read_to_string(&message)?;
            if text == expected { Ok(()) } else { Err(format!("expected:\n{expected}\nfound:\n{text}").into()) }
        }
        (Err(error), _) => Err(format!("expected {expected}, found:\n{}", render(&sources, &error, false)).into()),
    }
}

/// Whether two texts of values are the same but for the last bits of numbers.
fn same(a: &str, b: &str) -> bool {
    let split = |text: &str| -> Vec<String> {
        let spaced: String =
            text.chars().flat_map(|c| if "(),[]".contains(c) { vec![' ', c, ' '] } else { vec![c] }).collect();
        spaced.split_whitespace().map(str::to_string).collect()
    };
    let (a, b) = (split(a), split(b));
    a.len() == b.len()
        && a.iter().zip(&b).all(|(x, y)| {
            x == y
                || matches!((x.parse::<f64>(), y.parse::<f64>()), (Ok(x), Ok(y)) if (x - y).abs() <= 1e-12 * x.abs().max(1e-3))
        })
}
