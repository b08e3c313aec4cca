//! Source texts and places in them.

use crate::IndexVec;

crate::define_index!(
    /// A source text known to a [`SourceMap`].
    FileId,
    "file"
);

/// A half-open range of bytes in one text. Lines and columns exist only when rendered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// The text.
    pub file: FileId,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The place of things that no user wrote.
    pub const NONE: Span = Span { file: FileId(u32::MAX), start: 0, end: 0 };

    /// A range of bytes in `file`.
    pub fn new(file: FileId, start: u32, end: u32) -> Self {
        Span { file, start, end }
    }

    /// The smallest span that holds both (of one file; else `self`).
    pub fn to(self, other: Span) -> Span {
        if self.file != other.file {
            return self;
        }
        Span { file: self.file, start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// Whether this is the place of something that no user wrote.
    pub fn is_none(self) -> bool {
        self.file == Span::NONE.file
    }
}

/// A value and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spanned<T> {
    /// The value.
    pub value: T,
    /// Where it was written.
    pub span: Span,
}

/// One text.
#[derive(Clone, Debug)]
pub struct Source {
    /// The path as shown to users, `std/...` for the library.
    pub name: String,
    /// The text.
    pub text: String,
}

/// All texts of a compilation.
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    files: IndexVec<FileId, Source>,
}

impl SourceMap {
    /// No texts.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a text.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<String>) -> FileId {
        self.files.push(Source { name: name.into(), text: text.into() })
    }

    /// The text of `file`, unless it is the file of [`Span::NONE`].
    pub fn get(&self, file: FileId) -> Option<&Source> {
        self.files.get(file)
    }

    /// The text at `span`, empty for [`Span::NONE`].
    pub fn snippet(&self, span: Span) -> &str {
        self.get(span.file).and_then(|s| s.text.get(span.start as usize..span.end as usize)).unwrap_or("")
    }

    /// The 1-based line and column (in characters) of the start of `span`.
    pub fn line_column(&self, span: Span) -> Option<(usize, usize)> {
        let text = &self.get(span.file)?.text;
        let before = text.get(..span.start as usize)?;
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
        Some((line, column))
    }
}
