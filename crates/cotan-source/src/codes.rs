//! The stable list of diagnostic codes: one page of Markdown per code in `codes/`, compiled in.
//!
//! A page's first line is `# E0201: title`; the rest explains the error with a wrong and a mended program.
//! Ranges: `E00xx` lexical and syntax; `E01xx` names and modules; `E02xx` types; `E03xx` patterns, control,
//! mutation; `E04xx` arrays and sizes found statically; `E05xx` derivatives; `E06xx` limits of compilation;
//! `E07xx` run time; `E08xx` arguments, files and formats; `E09xx` the reference calculus.

use include_dir::{Dir, include_dir};

static PAGES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/codes");

/// The page of `code`, if there is such a code (letter case does not matter).
pub fn explain(code: &str) -> Option<&'static str> {
    PAGES.get_file(format!("{}.md", code.to_uppercase()))?.contents_utf8()
}

/// All codes with their titles, in order.
pub fn all_codes() -> Vec<(&'static str, &'static str)> {
    let mut codes: Vec<_> =
        PAGES.files().filter_map(|f| f.contents_utf8()?.lines().next()?.strip_prefix("# ")?.split_once(": ")).collect();
    codes.sort_unstable();
    codes
}
