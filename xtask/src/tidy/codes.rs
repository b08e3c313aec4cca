//! Diagnostic codes and their pages.
//!
//! In: the Rust sources and `crates/cotan-source/codes`. Out: faults: a code without a page, a page whose title is not
//! `# CODE: title`, a page that nothing uses.

use super::File;
use std::collections::BTreeMap;

/// Checks that codes and pages are the same set.
pub fn check(files: &[File], faults: &mut Vec<String>) {
    let mut used: BTreeMap<String, String> = BTreeMap::new();
    for file in files.iter().filter(|f| f.is(".rs") && f.path.starts_with("crates/") && f.path.contains("/src/")) {
        for (number, line) in file.text.lines().enumerate() {
            let code = line.trim_start();
            if code.starts_with("//") {
                continue;
            }
            for found in literals(code) {
                used.entry(found).or_insert_with(|| format!("{}:{}", file.path, number + 1));
            }
        }
    }
    let mut pages = Vec::new();
    for page in files.iter().filter(|f| f.path.starts_with("crates/cotan-source/codes/") && f.is(".md")) {
        let code = page.stem().to_string();
        let title = page.text.lines().next().unwrap_or_default();
        if !title.starts_with(&format!("# {code}: ")) {
            faults.push(format!("{}: the first line is not `# {code}: title`", page.path));
        }
        if page.text.lines().count() < 3 {
            faults.push(format!("{}: a title without an explanation", page.path));
        }
        if !used.contains_key(&code) {
            faults.push(format!("{}: nothing uses this code", page.path));
        }
        pages.push(code);
    }
    for (code, place) in &used {
        if !pages.contains(code) {
            faults.push(format!("{place}: {code} has no page in crates/cotan-source/codes"));
        }
    }
}

/// The string literals `"E0123"` of a line.
fn literals(line: &str) -> Vec<String> {
    line.match_indices("\"E")
        .filter_map(|(at, _)| {
            let code = line.get(at + 1..at + 6)?;
            let rest = line.get(at + 6..at + 7)?;
            (rest == "\"" && code[1..].bytes().all(|b| b.is_ascii_digit())).then(|| code.to_string())
        })
        .collect()
}
