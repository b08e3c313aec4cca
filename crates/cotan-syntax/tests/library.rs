//! The library and the examples parse without a diagnostic, and their tree prints.

use cotan_source::{SourceMap, render};
use cotan_syntax::{parse, print_tree};
use std::path::{Path, PathBuf};

fn programs(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        if path.is_dir() {
            programs(&path, found);
        } else if path.extension().is_some_and(|e| e == "cot") {
            found.push(path);
        }
    }
}

#[test]
fn library_and_examples() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut found = Vec::new();
    for folder in ["std", "examples"] {
        programs(&root.join(folder), &mut found);
    }
    found.sort();
    assert!(!found.is_empty(), "no programs found");
    let mut wrong = String::new();
    for path in &found {
        let Ok(text) = std::fs::read_to_string(path) else { continue };
        let mut sources = SourceMap::new();
        let file = sources.add(path.strip_prefix(&root).unwrap_or(path).display().to_string(), text.as_str());
        let (module, diagnostics) = parse(file, &text);
        wrong.extend(diagnostics.iter().map(|d| render(&sources, d, false)));
        assert!(module.items.is_empty() || !print_tree(&module).is_empty());
    }
    assert!(wrong.is_empty(), "{wrong}");
}
