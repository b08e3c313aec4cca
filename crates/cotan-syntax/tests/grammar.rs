//! The whole grammar, construct by construct: these programs parse without a diagnostic.

use cotan_source::FileId;
use cotan_syntax::{parse, parse_expr};

/// Every form of language.md at least once.
const EVERYTHING: &str = include_str!("everything.cot");

#[test]
fn everything_parses() {
    let (module, diagnostics) = parse(FileId(0), EVERYTHING);
    assert!(diagnostics.is_empty(), "{diagnostics:#?}");
    assert!(module.items.len() > 20);
}

#[test]
fn an_expression_parses() {
    let (_, diagnostics) = parse_expr(FileId(0), "[1.0, -2, 3e5]");
    assert!(diagnostics.is_empty(), "{diagnostics:#?}");
    let (_, diagnostics) = parse_expr(FileId(0), "1.0 2.0");
    assert_eq!(diagnostics.len(), 1);
    let (_, diagnostics) = parse_expr(FileId(0), "");
    assert_eq!(diagnostics.len(), 1);
}
