//! The crate graph is a star.
//!
//! In: the `Cargo.toml` files, ARCHITECTURE.md and docs/dependencies.md. Out: faults: a dependency that is not allowed, a
//! crate that the table does not know or describes wrongly, an outside dependency without a reason.

use super::File;
use std::collections::BTreeMap;

/// What each crate may depend on. Nouns (representations) depend on nouns; a pass depends on the nouns at its two ends
/// and never on another pass; only the driver knows all.
const ALLOWED: [(&str, &[&str]); 14] = [
    ("cotan-source", &[]),
    ("cotan-prim", &[]),
    ("cotan-core", &["cotan-source"]),
    ("cotan-ir", &["cotan-prim", "cotan-source"]),
    ("cotan-syntax", &["cotan-source"]),
    ("cotan-check", &["cotan-core", "cotan-prim", "cotan-source", "cotan-syntax"]),
    ("cotan-lower", &["cotan-core", "cotan-ir", "cotan-prim", "cotan-source"]),
    ("cotan-opt", &["cotan-ir", "cotan-prim", "cotan-source"]),
    ("cotan-ad", &["cotan-ir", "cotan-prim", "cotan-source"]),
    ("cotan-interp", &["cotan-ir", "cotan-prim", "cotan-source"]),
    ("cotan-calculus", &["cotan-prim", "cotan-source"]),
    (
        "cotan",
        &[
            "cotan-ad",
            "cotan-check",
            "cotan-core",
            "cotan-interp",
            "cotan-ir",
            "cotan-lower",
            "cotan-opt",
            "cotan-prim",
            "cotan-source",
            "cotan-syntax",
        ],
    ),
    ("cotan-cli", &["cotan", "cotan-calculus", "cotan-source"]),
    ("xtask", &[]),
];

/// The dependencies of a crate, from its `Cargo.toml`.
#[derive(Default)]
struct Manifest {
    name: String,
    /// Crates of the workspace, of the built crate.
    inside: Vec<String>,
    /// Other crates, those of tests included.
    outside: Vec<String>,
}

/// Checks the graph and its two documents.
pub fn check(files: &[File], faults: &mut Vec<String>) {
    let manifests: Vec<Manifest> = files.iter().filter(|f| f.is("/Cargo.toml")).map(|f| manifest(&f.text)).collect();
    for found in &manifests {
        let Some((_, allowed)) = ALLOWED.iter().find(|(name, _)| *name == found.name) else {
            faults.push(format!("{}: a crate that the graph in xtask/src/tidy/crates.rs does not know", found.name));
            continue;
        };
        for dependency in &found.inside {
            if !allowed.contains(&dependency.as_str()) {
                faults.push(format!("{} must not depend on {dependency}", found.name));
            }
        }
    }
    table(files, &manifests, faults);
    reasons(files, &manifests, faults);
}

/// Reads the few lines of a manifest that matter here.
fn manifest(text: &str) -> Manifest {
    let mut out = Manifest::default();
    let mut section = "";
    for line in text.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix('[') {
            section = name.trim_end_matches(']');
            continue;
        }
        let Some((key, value)) = line.split_once('=') else { continue };
        let key = key.split('.').next().unwrap_or(key).trim().to_string();
        match section {
            "package" if key == "name" => out.name = value.trim().trim_matches('"').to_string(),
            "dependencies" if key.starts_with("cotan") => out.inside.push(key),
            "dependencies" | "dev-dependencies" | "build-dependencies" if !key.starts_with("cotan") => {
                out.outside.push(key);
            }
            _ => {}
        }
    }
    out.inside.sort();
    out
}

/// The table of ARCHITECTURE.md: a row `| name | ... | depends on |` for each crate, with its dependencies as they are.
fn table(files: &[File], manifests: &[Manifest], faults: &mut Vec<String>) {
    let Some(page) = files.iter().find(|f| f.path == "ARCHITECTURE.md") else {
        faults.push("ARCHITECTURE.md is missing".into());
        return;
    };
    let mut rows: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for line in page.text.lines().filter(|l| l.starts_with("| `")) {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let name = cells[0].trim_matches('`').to_string();
        let last = cells.last().copied().unwrap_or_default();
        let mut names: Vec<String> = last
            .split([',', ' '])
            .map(|s| s.trim_matches('`').to_string())
            .filter(|s| !s.is_empty() && s != "none")
            .collect();
        names.sort();
        rows.insert(name, names);
    }
    for found in manifests {
        let mut inside: Vec<String> = found.inside.iter().map(|d| d.trim_start_matches("cotan-").to_string()).collect();
        inside.sort();
        match rows.remove(&found.name) {
            None => faults.push(format!("ARCHITECTURE.md: no row for {}", found.name)),
            Some(said) if said == ["all"] => {}
            Some(said) if said != inside => faults.push(format!(
                "ARCHITECTURE.md: {} depends on {}, the table says {}",
                found.name,
                inside.join(", "),
                said.join(", ")
            )),
            Some(_) => {}
        }
    }
    for name in rows.keys() {
        faults.push(format!("ARCHITECTURE.md: a row for {name}, which does not exist"));
    }
}

/// docs/dependencies.md gives a reason for each outside crate.
fn reasons(files: &[File], manifests: &[Manifest], faults: &mut Vec<String>) {
    let Some(page) = files.iter().find(|f| f.path == "docs/dependencies.md") else {
        faults.push("docs/dependencies.md is missing".into());
        return;
    };
    let said: Vec<&str> = page.text.lines().filter_map(|l| l.strip_prefix("| `")?.split('`').next()).collect();
    let mut used: Vec<&str> = manifests.iter().flat_map(|m| &m.outside).map(String::as_str).collect();
    used.sort_unstable();
    used.dedup();
    for name in &used {
        if !said.contains(name) {
            faults.push(format!("docs/dependencies.md: no line for {name}"));
        }
    }
    for name in said {
        if !used.contains(&name) {
            faults.push(format!("docs/dependencies.md: a line for {name}, which nothing uses"));
        }
    }
}
