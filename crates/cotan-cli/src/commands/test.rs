//! `cotan test`: the `test` blocks of files.

use crate::args::TestCommand;
use crate::console::Console;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Runs the command.
pub fn run(command: &TestCommand, console: &Console) -> u8 {
    let start = Instant::now();
    let files = if command.files.is_empty() { programs(Path::new(".")) } else { command.files.clone() };
    let (mut passed, mut failed, mut worst) = (0, 0, 0);
    for file in &files {
        let mut session = super::session(&command.engine, console);
        let shown = file.display();
        let results = match cotan::run_tests(&mut session, file, command.filter.as_deref()) {
            Ok(results) => results,
            Err(failure) => {
                console.data(&format!("{shown} ... FAILED\n"));
                worst = worst.max(console.failure(&session.sources, &failure));
                failed += 1;
                continue;
            }
        };
        for result in results {
            match &result.failure {
                None => {
                    console.data(&format!("{shown} {:?} ... ok\n", result.title));
                    passed += 1;
                }
                Some(failure) => {
                    console.data(&format!("{shown} {:?} ... FAILED\n", result.title));
                    worst = worst.max(console.failure(&session.sources, failure));
                    failed += 1;
                }
            }
        }
    }
    console.data(&format!("{passed} passed, {failed} failed\n"));
    if command.engine.time {
        console.message(&format!("{:.3} s in all", start.elapsed().as_secs_f64()));
    }
    worst
}

/// All programs below a folder, sorted; folders whose name starts with a dot and `target` are left out.
fn programs(folder: &Path) -> Vec<PathBuf> {
    let mut out = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        for path in entries.flatten().map(|e| e.path()) {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_dir() {
                if !name.starts_with('.') && name != "target" {
                    folders.push(path);
                }
            } else if path.extension().is_some_and(|e| e == "cot") {
                out.push(path.strip_prefix(".").map(Path::to_path_buf).unwrap_or(path));
            }
        }
    }
    out.sort();
    out
}
