//! Programs for tests: from text or file to core.
#![allow(dead_code)]

use cotan_check::CheckInput;
use cotan_core::Program;
use cotan_ir::{AdOp, FnId};
use cotan_lower::Root;
use cotan_source::{Diagnostic, FileId};
use std::path::{Path, PathBuf};

fn top() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The programs of a folder of the project, in order.
pub fn files(folder: &str) -> Vec<PathBuf> {
    let mut out = Vec::new();
    let mut open = vec![top().join(folder)];
    while let Some(folder) = open.pop() {
        let Ok(entries) = std::fs::read_dir(folder) else { continue };
        for path in entries.flatten().map(|e| e.path()) {
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|e| e == "cot") {
                out.push(path);
            }
        }
    }
    out.sort();
    out
}

struct Texts {
    next: u32,
    folder: PathBuf,
}

impl Texts {
    fn parse(&mut self, text: &str) -> cotan_syntax::ast::Module {
        self.next += 1;
        cotan_syntax::parse(FileId(self.next), text).0
    }

    fn resolve(&mut self, path: &[String]) -> Option<(String, cotan_syntax::ast::Module)> {
        let (path, beside) = match path.first() {
            Some(first) if first == "std" => (&path[1..], false),
            _ => (path, true),
        };
        let file = path.join("/") + ".cot";
        if beside && let Ok(text) = std::fs::read_to_string(self.folder.join(&file)) {
            return Some((path.join("::"), self.parse(&text)));
        }
        let text = std::fs::read_to_string(top().join("std").join(&file)).ok()?;
        Some((format!("std::{}", path.join("::")), self.parse(&text)))
    }
}

/// The core of a text; the text has no mistakes.
pub fn check_text(name: &str, text: &str, folder: &Path) -> Result<Program, Vec<Diagnostic>> {
    let mut texts = Texts { next: 0, folder: folder.to_path_buf() };
    let prelude = std::fs::read_to_string(top().join("std/prelude.cot")).expect("there is a prelude");
    let mut modules = vec![("std::prelude".to_string(), texts.parse(&prelude))];
    for file in files("std/prelude") {
        let text = std::fs::read_to_string(&file).expect("a file that was listed");
        let stem = file.file_stem().expect("a name").to_string_lossy().into_owned();
        modules.push((format!("std::prelude::{stem}"), texts.parse(&text)));
    }
    let root = texts.parse(text);
    let mut resolve = |path: &[String]| texts.resolve(path);
    let input = CheckInput { prelude: modules, roots: vec![(name.to_string(), root)], resolve: &mut resolve };
    let (program, diagnostics) = cotan_check::check(input);
    let errors: Vec<_> = diagnostics.into_iter().filter(Diagnostic::is_error).collect();
    if errors.is_empty() { Ok(program) } else { Err(errors) }
}

/// The core of a file, if it has no mistakes.
pub fn check_file(file: &Path) -> Option<Program> {
    let text = std::fs::read_to_string(file).expect("a file that was listed");
    let stem = file.file_stem().expect("a name").to_string_lossy().into_owned();
    match check_text(&stem, &text, file.parent().expect("a folder")) {
        Ok(program) => Some(program),
        Err(errors) => {
            if std::env::var("COTAN_SHOW").is_ok() {
                let lines = |e: &Diagnostic| {
                    let at = text.get(..e.primary.span.start as usize).map_or(0, |t| t.matches('\n').count() + 1);
                    format!("{}:{at}: {} {}", file.display(), e.code, e.message)
                };
                std::fs::write(
                    std::env::temp_dir().join(format!("cotan-check-{stem}.txt")),
                    errors.iter().map(lines).collect::<Vec<_>>().join("\n"),
                )
                .expect("a report");
            }
            None
        }
    }
}

/// Everything of a program that can be called from outside.
pub fn lower_all(core: &Program) -> Result<(cotan_ir::Program<AdOp>, Vec<FnId>), Vec<Diagnostic>> {
    let exported = core.exports.iter().copied();
    let tests = core.tests.iter().chain(&core.benches).map(|t| t.function);
    let roots: Vec<Root> = exported
        .chain(tests)
        .map(|function| Root {
            function,
            types: core.fns[function].generics.iter().map(|_| cotan_core::Ty::Float).collect(),
        })
        .collect();
    cotan_lower::lower(core, &roots)
}
