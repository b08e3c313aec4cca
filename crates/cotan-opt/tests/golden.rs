//! Golden files of the passes: `tests/ir/*.ir` at the top of the repository.
//!
//! A file starts with `// pass: NAME` (a pass, `simplify`, or `read` for none); then comes a program, then a line of
//! dashes, then the program as the pass leaves it. Lines of comments before the program are kept.
//! `COTAN_BLESS=1 cargo test -p cotan-opt` writes what comes out. The validator runs before and after.

use cotan_ir::{AdOp, Program, print_program, read_program, validate};
use cotan_source::{SourceMap, render};
use libtest_mimic::{Arguments, Failed, Trial};
use std::path::{Path, PathBuf};

const LINE: &str = "----";

fn main() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/ir");
    let mut files: Vec<PathBuf> = std::fs::read_dir(&folder)
        .expect("tests/ir can be read")
        .map(|entry| entry.expect("tests/ir can be read").path())
        .filter(|path| path.extension().is_some_and(|e| e == "ir"))
        .collect();
    files.sort();
    assert!(!files.is_empty(), "no golden files in tests/ir");
    let trials = files
        .into_iter()
        .map(|path| {
            let name = path.file_stem().expect("a file has a name").to_string_lossy().into_owned();
            Trial::test(name, move || check(&path))
        })
        .collect();
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

fn check(path: &Path) -> Result<(), Failed> {
    let file = std::fs::read_to_string(path)?;
    let (input, expected) = match file.split_once(&format!("\n{LINE}\n")) {
        Some((input, expected)) => (input, expected),
        None => (file.trim_end(), ""),
    };
    let pass = input
        .lines()
        .find_map(|line| line.strip_prefix("// pass: "))
        .ok_or("the file does not say `// pass: NAME`")?
        .trim();
    let mut sources = SourceMap::new();
    let id = sources.add(path.file_name().unwrap_or_default().to_string_lossy(), input);
    let mut program: Program<AdOp> = read_program(id, input).map_err(|d| render(&sources, &d, false))?;
    faults(&mut program, "the program as given")?;
    match pass {
        "read" => {}
        "simplify" => {
            let mut fault = None;
            cotan_opt::simplify_observed(&mut program, &mut |program, _, pass| {
                if fault.is_none() {
                    fault = faults(program, pass).err();
                }
            });
            fault.map_or(Ok(()), Err)?;
        }
        _ => {
            for f in program.fns.indices() {
                cotan_opt::run_pass(&mut program, f, pass).ok_or_else(|| format!("there is no pass `{pass}`"))?;
            }
        }
    }
    faults(&mut program, pass)?;
    let found = print_program(&program, false);
    if found == expected {
        return Ok(());
    }
    if std::env::var_os("COTAN_BLESS").is_some() {
        std::fs::write(path, format!("{input}\n{LINE}\n{found}"))?;
        return Ok(());
    }
    Err(format!("expected\n{expected}\nfound\n{found}\n(`COTAN_BLESS=1` accepts it)").into())
}

fn faults(program: &mut Program<AdOp>, blame: &str) -> Result<(), Failed> {
    let faults = validate(program);
    if faults.is_empty() {
        return Ok(());
    }
    let text = print_program(program, false);
    Err(format!("after {blame}: {}\n{text}", faults.join("\n")).into())
}
