//! The house rules.
//!
//! In: the root of the workspace. Out: one sentence per broken rule, sorted. The rules are those of ARCHITECTURE.md;
//! each module checks one kind: the text of the files, the crate graph, the diagnostic codes.

mod codes;
mod crates;
mod text;

use std::path::{Path, PathBuf};

/// A text file of the project.
pub struct File {
    /// Path from the root, with `/`.
    pub path: String,
    /// The text.
    pub text: String,
}

impl File {
    /// The last part of the path.
    pub fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }

    /// The last part of the path without its ending.
    pub fn stem(&self) -> &str {
        self.name().split('.').next().unwrap_or_default()
    }

    /// Whether the path ends so.
    pub fn is(&self, ending: &str) -> bool {
        self.path.ends_with(ending)
    }
}

/// All faults of the workspace at `root`.
pub fn check(root: &Path) -> Vec<String> {
    let files = read(root);
    let mut faults = Vec::new();
    text::check(&files, &mut faults);
    crates::check(&files, &mut faults);
    codes::check(&files, &mut faults);
    faults.sort();
    faults.dedup();
    faults
}

/// All text files below `root`, but not what git ignores.
fn read(root: &Path) -> Vec<File> {
    let mut files = Vec::new();
    let mut folders: Vec<PathBuf> = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = entry.path();
            if path.is_dir() {
                if name != ".git" && name != "target" && !name.starts_with("target-") {
                    folders.push(path);
                }
            } else if let Ok(text) = std::fs::read_to_string(&path) {
                let relative = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().replace('\\', "/");
                files.push(File { path: relative, text });
            }
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files
}
