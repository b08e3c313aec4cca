//! Golden files, found by folder.
//!
//! In: `tests/run`, `tests/errors`, `tests/walk` and `examples`. Out: one test per file (and mode). With `COTAN_BLESS=1` the
//! expectations beside the programs are written anew instead of compared.
//!
//! - `tests/run/*.cot`: every `test` block passes in both AD modes; a line `//@ expect: NAME = TEXT` says what the function
//!   `NAME` without parameters gives, in Cotan's notation. `//@ only: values` (or `transform`) leaves the other mode out,
//!   and says why after a dash.
//! - `tests/errors/*.cot`: the diagnostics are those in the `.txt` beside; a program without mistakes runs `main`.
//! - `tests/walk/*.cot`: `main` at every stage is as in `NAME.STAGE.txt` beside; `//@ derivative: NAME` chooses the function
//!   whose derivative is shown.
//! - `examples/*.cot`: every `test` block passes.
//! - `README.md`, `docs/*.md`: each block ```` ```cotan ```` has no errors, its tests pass, its `main` runs.
//! - the pages of the codes: a block ```` ```cotan,wrong ```` gives the code of its page, a block ```` ```cotan ```` no error.

use cotan::{AdMode, Failure, Options, Session, Silent, Stage};
use libtest_mimic::{Arguments, Failed, Trial};
use std::path::{Path, PathBuf};

fn main() -> std::process::ExitCode {
    // Diagnostics name files as the user wrote them: relative to the workspace.
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    if let Err(error) = std::env::set_current_dir(&root) {
        // Nothing can be found; every test would say so.
        return libtest_mimic::run(&Arguments::from_args(), vec![Trial::test("workspace", move || Err(error.into()))])
            .exit_code();
    }
    let mut trials = Vec::new();
    for file in programs("tests/run") {
        for mode in [AdMode::Transform, AdMode::Values] {
            let name = format!("run/{}/{}", stem(&file), mode_name(mode));
            let file = file.clone();
            trials.push(Trial::test(name, move || on_large_stack(move || run(&file, mode))));
        }
    }
    for file in programs("tests/errors") {
        trials.push(Trial::test(format!("errors/{}", stem(&file)), move || on_large_stack(move || errors(&file))));
    }
    for file in programs("tests/walk") {
        for stage in Stage::ALL {
            let name = format!("walk/{}/{}", stem(&file), stage.name());
            let file = file.clone();
            trials.push(Trial::test(name, move || on_large_stack(move || walk(&file, stage))));
        }
    }
    for (code, _) in cotan::all_codes() {
        trials.push(Trial::test(format!("pages/{code}"), move || on_large_stack(move || page(code))));
    }
    for path in documents() {
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        for (kind, program, line) in fences(&text) {
            if kind == "cotan" || kind == "cotan,wrong" {
                let name = format!("{}:{line}", path.display());
                trials.push(Trial::test(name, move || on_large_stack(move || document(&kind, &program))));
            }
        }
    }
    for file in programs("examples") {
        let name = format!("examples/{}", stem(&file));
        trials.push(Trial::test(name, move || on_large_stack(move || run(&file, AdMode::Transform))));
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// The stack of a test: a recursion of a million frames runs.
const STACK: usize = 8 << 30;

/// Trees and values nest deeply, and test threads are small.
fn on_large_stack(work: impl FnOnce() -> Result<(), Failed> + Clone + Send + 'static) -> Result<(), Failed> {
    cotan::on_large_stack(STACK, move |stack| {
        STACK_HERE.set(stack);
        work()
    })
    .unwrap_or_else(|_| Err("the test panicked".into()))
}

thread_local! {
    /// The stack that the test got.
    static STACK_HERE: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

fn programs(folder: &str) -> Vec<PathBuf> {
    let mut out: Vec<PathBuf> = std::fs::read_dir(folder)
        .map(|entries| {
            entries.flatten().map(|e| e.path()).filter(|p| p.extension().is_some_and(|e| e == "cot")).collect()
        })
        .unwrap_or_default();
    out.sort();
    out
}

/// README, ARCHITECTURE and everything in `docs`.
fn documents() -> Vec<PathBuf> {
    let mut out: Vec<PathBuf> = std::fs::read_dir("docs")
        .map(|entries| {
            entries.flatten().map(|e| e.path()).filter(|p| p.extension().is_some_and(|e| e == "md")).collect()
        })
        .unwrap_or_default();
    out.push("README.md".into());
    out.push("ARCHITECTURE.md".into());
    out.sort();
    out
}

fn stem(file: &Path) -> String {
    file.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

fn mode_name(mode: AdMode) -> &'static str {
    match mode {
        AdMode::Transform => "transform",
        AdMode::Values => "values",
    }
}

fn session(ad: AdMode) -> Session {
    let options = Options { ad, validate: true, max_memory: 16 << 30, stack: STACK_HERE.get(), ..Options::default() };
    Session::new(options, Box::new(Silent))
}

/// A failure as text.
fn told(session: &Session, failure: &Failure) -> String {
    match failure {
        Failure::User(diagnostics) => {
            let mut sorted = diagnostics.clone();
            sorted.sort_by_key(|d| (d.primary.span.file, d.primary.span.start, d.code));
            sorted.iter().map(|d| cotan::render(&session.sources, d, false).trim_end().to_string() + "\n").collect()
        }
        Failure::Bug(bug) => format!("a bug in {}: {}\n", bug.pass, bug.message),
    }
}

fn run(file: &Path, mode: AdMode) -> Result<(), Failed> {
    let text = std::fs::read_to_string(file)?;
    let mut expectations = Vec::new();
    for line in text.lines() {
        let Some(rest) = line.strip_prefix("//@ ") else { continue };
        if let Some(only) = rest.strip_prefix("only:") {
            if only.split_whitespace().next() != Some(mode_name(mode)) {
                return Ok(());
            }
        } else if let Some((name, value)) = rest.strip_prefix("expect:").and_then(|r| r.split_once('=')) {
            expectations.push((name.trim(), value.trim()));
        } else {
            return Err(format!("unknown header: {line}").into());
        }
    }
    let mut session = session(mode);
    let results = cotan::run_tests(&mut session, file, None).map_err(|f| told(&session, &f))?;
    let mut faults = String::new();
    for result in &results {
        if let Some(failure) = &result.failure {
            faults.push_str(&format!("test {:?}:\n{}\n", result.title, told(&session, failure)));
        }
    }
    if results.is_empty() && expectations.is_empty() && !file.starts_with("examples") {
        faults.push_str("the file has neither tests nor expectations\n");
    }
    for (name, value) in expectations {
        match cotan::run(&mut session, file, name, &[]) {
            Ok(answer) if answer.line() == value => {}
            Ok(answer) => faults.push_str(&format!("{name}: expected {value}, found {}\n", answer.line())),
            Err(failure) => faults.push_str(&format!("{name}:\n{}\n", told(&session, &failure))),
        }
    }
    if faults.is_empty() { Ok(()) } else { Err(faults.into()) }
}

fn errors(file: &Path) -> Result<(), Failed> {
    let mut session = session(AdMode::Transform);
    // Endless recursion shall end soon.
    session.options.stack = session.options.stack.min(64 << 20);
    let found = match session.check_file(file) {
        Err(failure) => told(&session, &failure),
        Ok(checked) if !checked.warnings.is_empty() => told(&session, &Failure::User(checked.warnings)),
        Ok(_) => match cotan::run(&mut session, file, "main", &[]) {
            Err(failure) => told(&session, &failure),
            Ok(answer) => format!("no error, the value is {}\n", answer.line()),
        },
    };
    if found.contains("a bug in ") || found.starts_with("no error") {
        return Err(found.into());
    }
    compare(&file.with_extension("txt"), &found)
}

fn walk(file: &Path, stage: Stage) -> Result<(), Failed> {
    let mut session = session(AdMode::Transform);
    let source = std::fs::read_to_string(file)?;
    let named = source.lines().find_map(|l| l.strip_prefix("//@ derivative:")).map_or("main", str::trim);
    let function = if stage == Stage::Derivative { named } else { "main" };
    let text = cotan::show(&mut session, file, stage, Some(function)).map_err(|f| told(&session, &f))?;
    compare(&file.with_extension(format!("{}.txt", stage.name())), &(text.trim_end().to_string() + "\n"))
}

/// The fenced blocks of a Markdown text: kind, text, line.
fn fences(text: &str) -> Vec<(String, String, usize)> {
    let mut out = Vec::new();
    let mut open: Option<(String, String, usize)> = None;
    for (number, line) in text.lines().enumerate() {
        match (&mut open, line.trim_start().strip_prefix("```")) {
            (None, Some(kind)) => open = Some((kind.trim().to_string(), String::new(), number + 1)),
            (Some(_), Some(_)) => out.extend(open.take()),
            (Some((_, program, _)), None) => {
                program.push_str(line);
                program.push('\n');
            }
            (None, None) => {}
        }
    }
    out
}

/// The programs on the page of a code.
fn page(code: &str) -> Result<(), Failed> {
    for (kind, program, _) in fences(cotan::explain(code).unwrap_or_default()) {
        page_program(code, &kind, &program)?;
    }
    Ok(())
}

/// A program in a document: it has no errors, its tests pass, its `main` runs; or it is wrong as it says.
fn document(kind: &str, program: &str) -> Result<(), Failed> {
    let mut session = session(AdMode::Transform);
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("document.cot");
    std::fs::write(&file, program)?;
    if kind == "cotan,wrong" {
        return match session.check_file(&file) {
            Err(_) => Ok(()),
            Ok(_) => Err(format!("no error in:\n{program}").into()),
        };
    }
    let checked = session.check_file(&file).map_err(|f| format!("{}in:\n{program}", told(&session, &f)))?;
    for result in cotan::run_tests(&mut session, &file, None).map_err(|f| told(&session, &f))? {
        if let Some(failure) = &result.failure {
            return Err(told(&session, failure).into());
        }
    }
    if checked.function("main").is_ok() {
        cotan::run(&mut session, &file, "main", &[]).map_err(|f| told(&session, &f))?;
    }
    Ok(())
}

fn page_program(code: &str, kind: &str, program: &str) -> Result<(), Failed> {
    if kind != "cotan" && kind != "cotan,wrong" {
        return Ok(());
    }
    let mut session = session(AdMode::Transform);
    session.options.stack = session.options.stack.min(64 << 20);
    let mut codes = Vec::new();
    let mut text = String::new();
    let mut found = match session.check_text("page.cot", program) {
        Ok(checked) => Ok(checked.warnings),
        Err(failure) => Err(failure),
    };
    // A mistake that shows only when the program runs.
    if kind == "cotan,wrong" && found.as_ref().is_ok_and(Vec::is_empty) {
        let folder = tempfile::tempdir()?;
        let file = folder.path().join("page.cot");
        std::fs::write(&file, program)?;
        found = cotan::run(&mut session, &file, "main", &[]).map(|_| Vec::new());
    }
    let failure = match found {
        Ok(warnings) => Failure::User(warnings),
        Err(failure) => failure,
    };
    if let Failure::User(diagnostics) = &failure {
        codes.extend(diagnostics.iter().map(|d| d.code));
    }
    text.push_str(&told(&session, &failure));
    match kind {
        "cotan" if !codes.is_empty() => {
            Err(format!("the mended program of {code} has errors:\n{text}\nin:\n{program}").into())
        }
        "cotan,wrong" if !codes.contains(&code) => {
            Err(format!("the wrong program of {code} gives:\n{text}\nin:\n{program}").into())
        }
        _ => Ok(()),
    }
}

/// Compares with the file beside the program, or writes it.
fn compare(expected: &Path, found: &str) -> Result<(), Failed> {
    if std::env::var_os("COTAN_BLESS").is_some_and(|v| v == "1") {
        return Ok(std::fs::write(expected, found)?);
    }
    let wanted = std::fs::read_to_string(expected)
        .map_err(|_| format!("{} is missing; `cargo xtask bless` writes:\n{found}", expected.display()))?;
    if wanted == found {
        return Ok(());
    }
    let mut message = format!("{} differs (`cargo xtask bless` rewrites it)\n", expected.display());
    let (old, new): (Vec<&str>, Vec<&str>) = (wanted.lines().collect(), found.lines().collect());
    let same = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let tail = old[same..].iter().rev().zip(new[same..].iter().rev()).take_while(|(a, b)| a == b).count();
    for line in &old[same..old.len() - tail] {
        message.push_str(&format!("- {line}\n"));
    }
    for line in &new[same..new.len() - tail] {
        message.push_str(&format!("+ {line}\n"));
    }
    Err(message.into())
}
