//! What is wrong with a value from outside.
//!
//! In: a fault found by a reader. Out: a diagnostic that names the place inside the value (`w[3].bias`) and, where the text
//! is short enough to be looked at, points into it.

use cotan_source::{Diagnostic, SourceMap, Span};

/// A step to a part of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathStep {
    /// `[3]`.
    Index(usize),
    /// `.bias` or a variant's name.
    Name(String),
}

/// A wrong part of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The diagnostic code.
    pub code: &'static str,
    /// What is wrong.
    pub message: String,
    /// Where in the value, innermost step first.
    pub path: Vec<PathStep>,
    /// Where in the text, in bytes.
    pub at: Option<usize>,
    /// What to do.
    pub hint: Option<String>,
}

impl Fault {
    /// A fault of the whole value.
    pub fn new(code: &'static str, message: impl Into<String>) -> Self {
        Fault { code, message: message.into(), path: Vec::new(), at: None, hint: None }
    }

    /// Says where in the text it is.
    #[must_use]
    pub fn at(mut self, byte: usize) -> Self {
        self.at = Some(byte);
        self
    }

    /// Says what to do.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Says that it is inside an element of an array or tuple.
    #[must_use]
    pub fn inside(mut self, index: usize) -> Self {
        self.path.push(PathStep::Index(index));
        self
    }

    /// Says that it is inside a field or variant.
    #[must_use]
    pub fn inside_name(mut self, name: &str) -> Self {
        self.path.push(PathStep::Name(name.to_string()));
        self
    }

    /// The diagnostic. `root` is what the value is called; `text` is where it stands: its name and itself.
    pub fn diagnostic(self, root: &str, text: Option<(&str, &str)>, sources: &mut SourceMap) -> Diagnostic {
        let mut place = root.to_string();
        for step in self.path.iter().rev() {
            match step {
                PathStep::Index(i) => place.push_str(&format!("[{i}]")),
                PathStep::Name(name) => place.push_str(&format!(".{name}")),
            }
        }
        let mut span = Span::NONE;
        let mut note = None;
        if let (Some(at), Some((name, text))) = (self.at, text) {
            let at = at.min(text.len());
            let longest = text.lines().map(str::len).max().unwrap_or(0);
            if text.len() <= MOST_SHOWN && longest <= LONGEST_LINE {
                let file = sources.add(name, text);
                let length = text[at..].chars().next().map_or(0, char::len_utf8);
                span = Span::new(file, at as u32, (at + length) as u32);
            } else {
                let line = text[..at].matches('\n').count() + 1;
                let column = at - text[..at].rfind('\n').map_or(0, |n| n + 1) + 1;
                note = Some(format!("in {name}, line {line}, column {column}"));
            }
        }
        let mut out = Diagnostic::error(self.code, span, format!("`{place}`: {}", self.message));
        out.notes.extend(note);
        out.hints.extend(self.hint);
        out
    }
}

/// Texts above this are not excerpted: the line that would be shown may be the whole file.
const MOST_SHOWN: usize = 100_000;
const LONGEST_LINE: usize = 200;
