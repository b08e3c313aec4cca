//! Diagnostics as text with source excerpts.
//!
//! In: a [`Diagnostic`] and the texts it points into. Out: what the user reads, ending in a line break.
//! Newly true: spans that do not fit their text are moved into it; control characters are written out.

use crate::{Diagnostic, Label, Severity, Source, SourceMap, Span};
use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Renderer, Snippet};
use std::ops::Range;

/// Renders `diagnostic` with excerpts of the source, in colour if `color`.
pub fn render(sources: &SourceMap, diagnostic: &Diagnostic, color: bool) -> String {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let title = level.primary_title(printable(&diagnostic.message)).id(diagnostic.code);
    let mut group = Group::with_title(title);
    for excerpt in excerpts(sources, diagnostic) {
        group = group.element(excerpt.snippet());
    }
    let placeless = std::iter::once(&diagnostic.primary)
        .chain(&diagnostic.labels)
        .filter(|label| sources.get(label.span.file).is_none() && !label.text.is_empty())
        .map(|label| &label.text);
    for note in placeless.chain(&diagnostic.notes) {
        group = group.element(Level::NOTE.message(printable(note)));
    }
    for hint in &diagnostic.hints {
        group = group.element(Level::HELP.message(printable(hint)));
    }
    let renderer = if color { Renderer::styled() } else { Renderer::plain() };
    let mut text: String = renderer.render(&[group]);
    // Excerpts are padded to the width of their gutter.
    text = text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n");
    text.push('\n');
    text
}

/// What is to be shown of one text.
struct Excerpt<'a> {
    source: &'a Source,
    labels: Vec<(AnnotationKind, Span, &'a str)>,
}

/// The excerpts: the primary text first, the others in the order of their labels.
fn excerpts<'a>(sources: &'a SourceMap, diagnostic: &'a Diagnostic) -> Vec<Excerpt<'a>> {
    let mut files = Vec::new();
    let mut excerpts: Vec<Excerpt<'a>> = Vec::new();
    let primary = std::iter::once((AnnotationKind::Primary, &diagnostic.primary));
    let others = diagnostic.labels.iter().map(|label| (AnnotationKind::Context, label));
    for (kind, Label { span, text }) in primary.chain(others) {
        let Some(source) = sources.get(span.file) else { continue };
        let label = (kind, *span, text.as_str());
        match files.iter().position(|file| *file == span.file) {
            Some(known) => excerpts[known].labels.push(label),
            None => {
                files.push(span.file);
                excerpts.push(Excerpt { source, labels: vec![label] });
            }
        }
    }
    excerpts
}

impl<'a> Excerpt<'a> {
    /// Only the lines from the first label to the last: a long text is not read again for each message.
    fn snippet(self) -> Snippet<'a, Annotation<'a>> {
        let text = self.source.text.as_str();
        let ranges: Vec<_> = self.labels.iter().map(|(_, span, _)| fit(text, *span)).collect();
        let first = ranges.iter().map(|r| r.start).min().unwrap_or(0);
        let last = ranges.iter().map(|r| r.end).max().unwrap_or(0);
        let begin = text[..first].rfind('\n').map_or(0, |at| at + 1);
        let end = text[last..].find('\n').map_or(text.len(), |at| last + at);
        let line = text[..begin].matches('\n').count() + 1;
        let mut snippet = Snippet::source(&text[begin..end]).path(printable(&self.source.name)).line_start(line);
        for ((kind, _, label), range) in self.labels.into_iter().zip(ranges) {
            let annotation = kind.span(range.start - begin..range.end - begin);
            snippet =
                snippet.annotation(if label.is_empty() { annotation } else { annotation.label(printable(label)) });
        }
        snippet
    }
}

/// The bytes of `span`, moved to character boundaries inside of `text`. The end of the text, and the end of
/// its last line, are shown after the last thing written.
fn fit(text: &str, span: Span) -> Range<usize> {
    let boundary = |at: u32| {
        let mut at = (at as usize).min(text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let (mut start, mut end) = (boundary(span.start), boundary(span.end.max(span.start)));
    if start == text.len() {
        start = text.trim_end().len();
        end = start;
    }
    start..end
}

/// `text` with control characters written out, so that no text can steer the terminal.
fn printable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c == '\t' {
            out.push_str("    ");
        } else if c.is_control() && c != '\n' {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::render;
    use crate::{Diagnostic, FileId, SourceMap, Span};

    const FIRST: &str = "fn f(x: Float) -> Float {\n\tlet α = x + 'π';\n    α * \"text\"\n}\n";

    fn sources() -> (SourceMap, FileId, FileId) {
        let mut sources = SourceMap::new();
        let first = sources.add("first.cot", FIRST);
        let second = sources.add("std/second.cot", "fn g() { }");
        (sources, first, second)
    }

    fn place(file: FileId, part: &str) -> Span {
        let start = FIRST.find(part).unwrap_or(0);
        Span::new(file, start as u32, (start + part.len()) as u32)
    }

    #[test]
    fn labels_notes_and_hints() {
        let (sources, first, _) = sources();
        let diagnostic = Diagnostic::error("E0201", place(first, "\"text\""), "expected `Float`, found `String`")
            .at("this is a `String`")
            .label(place(first, "α * "), "the other side is a `Float`")
            .label(place(first, "x: Float"), "from here")
            .note("operators take two values of one type")
            .hint("convert it");
        let text = render(&sources, &diagnostic, false);
        let expected = "\
error[E0201]: expected `Float`, found `String`
 --> first.cot:3:9
  |
1 | fn f(x: Float) -> Float {
  |      -------- from here
2 |     let α = x + 'π';
3 |     α * \"text\"
  |     ----^^^^^^ this is a `String`
  |     |
  |     the other side is a `Float`
  |
  = note: operators take two values of one type
  = help: convert it
";
        assert_eq!(text, expected);
    }

    #[test]
    fn tabs_and_wide_letters_keep_the_carets_in_place() {
        let (sources, first, _) = sources();
        let text = render(&sources, &Diagnostic::error("E0006", place(first, "'π'"), "quotes"), false);
        let expected = "\
error[E0006]: quotes
 --> first.cot:2:14
  |
2 |     let α = x + 'π';
  |                 ^^^
";
        assert_eq!(text, expected);
        assert_eq!(sources.line_column(place(first, "'π'")), Some((2, 14)));
    }

    #[test]
    fn the_end_of_the_text_is_shown_after_the_last_thing_written() {
        let (sources, first, second) = sources();
        let end = FIRST.len() as u32;
        for (file, start, line) in [(first, end, "4 | }\n  |  ^"), (second, 10, "1 | fn g() { }\n  |           ^")] {
            let text = render(&sources, &Diagnostic::error("E0010", Span::new(file, start, start), "end"), false);
            assert!(text.contains(line), "{text}");
        }
    }

    #[test]
    fn two_texts_and_no_place() {
        let (sources, first, second) = sources();
        let diagnostic = Diagnostic::warning("E0101", place(first, "f"), "twice")
            .label(Span::new(second, 3, 4), "also here")
            .label(Span::NONE, "and in the language itself");
        let text = render(&sources, &diagnostic, false);
        assert!(text.starts_with("warning[E0101]: twice\n --> first.cot:1:1\n"), "{text}");
        assert!(text.contains("::: std/second.cot:1:4"), "{text}");
        assert!(text.contains("note: and in the language itself"), "{text}");
        let text = render(&sources, &Diagnostic::error("E0801", Span::NONE, "no such file").hint("look"), false);
        assert_eq!(text, "error[E0801]: no such file\n |\n = help: look\n");
    }

    #[test]
    fn spans_that_do_not_fit_and_control_characters_are_harmless() {
        let mut sources = SourceMap::new();
        let file = sources.add("a\u{1b}[31m.cot", "π\u{1b}[31m\r\nx\n");
        let empty = sources.add("empty.cot", "");
        for (file, start, end) in
            [(file, 1, 1), (file, 1, 900), (file, 800, 900), (file, 5, 2), (empty, 0, 0), (empty, 1, 3)]
        {
            let diagnostic = Diagnostic::error("E0001", Span::new(file, start, end), "\u{1b}[2J").at("\u{1b}[2J");
            let text = render(&sources, &diagnostic, false);
            assert!(!text.contains('\u{1b}'), "{text:?}");
        }
    }

    #[test]
    fn colour_is_only_on_request() {
        let (sources, first, _) = sources();
        let diagnostic = Diagnostic::error("E0201", place(first, "x"), "message").at("label").note("n").hint("h");
        assert!(!render(&sources, &diagnostic, false).contains('\u{1b}'));
        assert!(render(&sources, &diagnostic, true).contains('\u{1b}'));
    }
}
