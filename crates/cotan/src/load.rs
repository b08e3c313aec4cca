//! Files and modules.
//!
//! In: paths of root files. Out: their trees, those of the prelude, and a way to find what `use` names: files beside the root
//! first, then the library, which is part of the binary. Newly true: every text that a diagnostic may point at is in the
//! source map.

use crate::failure::{Failure, guard};
use cotan_source::{Diagnostic, FileId, SourceMap, Span};
use cotan_syntax::ast::Module;
use include_dir::{Dir, include_dir};
use std::path::{Path, PathBuf};

static STD: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../std");

/// Names and trees of modules.
pub type Modules = Vec<(String, Module)>;

/// Reads and parses.
#[derive(Default)]
pub struct Loader {
    /// All texts so far.
    pub sources: SourceMap,
    /// What parsing and reading found.
    pub diagnostics: Vec<Diagnostic>,
    /// The first fault of ours.
    pub bug: Option<Failure>,
    /// Where files named by `use` are looked for.
    pub(crate) folder: PathBuf,
}

impl Loader {
    /// Reads and parses a root file.
    pub fn root(&mut self, path: &Path) -> Result<(String, Module), Failure> {
        let text = read_text(path)?;
        self.folder = path.parent().map(Path::to_path_buf).unwrap_or_default();
        Ok(self.root_text(&path.display().to_string(), text))
    }

    /// Parses a root text under a name to show.
    pub fn root_text(&mut self, shown: &str, text: String) -> (String, Module) {
        let stem = Path::new(shown).file_stem().map_or_else(|| shown.to_string(), |s| s.to_string_lossy().into_owned());
        let tree = self.parse_user(shown, text);
        (stem, tree)
    }

    /// The modules that every file sees: the prelude and the parts in `std/prelude/`.
    pub fn prelude(&mut self) -> Modules {
        let mut files: Vec<_> = STD.files().filter(|f| f.path() == Path::new("prelude.cot")).collect();
        if let Some(folder) = STD.get_dir("prelude") {
            files.extend(folder.files());
        }
        let mut out = Vec::new();
        for file in files {
            let name = format!("std::{}", module_path(file.path()));
            let text = file.contents_utf8().unwrap_or_default().to_string();
            let tree = self.parse(&format!("std/{}", file.path().display()), text);
            out.push((name, tree));
        }
        out
    }

    /// Finds the module that `use a::b` names: its unique name and its tree.
    pub fn resolve(&mut self, path: &[String]) -> Option<(String, Module)> {
        if path.first().is_some_and(|p| p == "std") {
            return self.library(&path[1..]);
        }
        let mut file = self.folder.clone();
        file.extend(path);
        file.set_extension("cot");
        if file.is_file() {
            return match read_text(&file) {
                Ok(text) => Some((path.join("::"), self.parse_user(&file.display().to_string(), text))),
                Err(Failure::User(diagnostics)) => {
                    self.diagnostics.extend(diagnostics);
                    None
                }
                Err(bug) => {
                    self.bug.get_or_insert(bug);
                    None
                }
            };
        }
        self.library(path)
    }

    fn library(&mut self, path: &[String]) -> Option<(String, Module)> {
        let file = STD.get_file(format!("{}.cot", path.join("/")))?;
        let text = file.contents_utf8()?.to_string();
        let tree = self.parse(&format!("std/{}", file.path().display()), text);
        Some((format!("std::{}", path.join("::")), tree))
    }

    /// Parses a text of the user, who cannot add operations to the compiler.
    fn parse_user(&mut self, shown: &str, text: String) -> Module {
        let tree = self.parse(shown, text);
        for attribute in tree.items.iter().flat_map(|item| &item.attributes) {
            if attribute.name.name == "builtin" {
                let diagnostic = Diagnostic::error("E0022", attribute.name.span, "only the library has builtins");
                self.diagnostics.push(diagnostic.hint("write a body in braces"));
            }
        }
        tree
    }

    fn parse(&mut self, shown: &str, text: String) -> Module {
        let file = self.sources.add(shown, text);
        let text = self.sources.get(file).map(|s| s.text.clone()).unwrap_or_default();
        match guard("parse (cotan-syntax)", || cotan_syntax::parse(file, &text)) {
            Ok((tree, diagnostics)) => {
                self.diagnostics.extend(diagnostics);
                tree
            }
            Err(bug) => {
                self.bug.get_or_insert(bug);
                empty(file, text.len())
            }
        }
    }
}

fn empty(file: FileId, length: usize) -> Module {
    Module { items: Vec::new(), comments: Vec::new(), span: Span::new(file, 0, length as u32) }
}

fn module_path(path: &Path) -> String {
    path.with_extension("")
        .components()
        .map(|c| c.as_os_str().to_string_lossy().into_owned())
        .collect::<Vec<_>>()
        .join("::")
}

/// Reads a text file of the user.
///
/// # Errors
/// `E0810`: the file cannot be read, is too large, or is not UTF-8 text.
pub fn read_text(path: &Path) -> Result<String, Failure> {
    let bytes = read_bytes(path)?;
    if bytes.len() > u32::MAX as usize / 2 {
        return Err(Diagnostic::error("E0810", Span::NONE, format!("{} is too large", path.display())).into());
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Diagnostic::error("E0810", Span::NONE, format!("{} is not UTF-8 text (byte {at})", path.display())).into()
    })
}

/// Reads a file of the user.
pub fn read_bytes(path: &Path) -> Result<Vec<u8>, Failure> {
    std::fs::read(path).map_err(|error| {
        let why = match error.kind() {
            std::io::ErrorKind::NotFound => "there is no such file".to_string(),
            std::io::ErrorKind::PermissionDenied => "reading it is not permitted".to_string(),
            _ => error.to_string(),
        };
        let mut diagnostic = Diagnostic::error("E0810", Span::NONE, format!("cannot read {}: {why}", path.display()));
        if let Some(near) = sibling(path) {
            diagnostic = diagnostic.hint(format!("did you mean {near}?"));
        }
        diagnostic.into()
    })
}

/// A file with a similar name in the same folder.
fn sibling(path: &Path) -> Option<String> {
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut names: Vec<String> =
        std::fs::read_dir(folder).ok()?.flatten().map(|e| e.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    let name = path.file_name()?.to_string_lossy().into_owned();
    let near = crate::suggest::nearest(&name, names.iter().map(String::as_str))?;
    Some(path.with_file_name(near).display().to_string())
}
