//! The document generated from the table.
//!
//! In: the table and `docs/derivative-table.md`. Newly true: the two agree. `COTAN_BLESS=1` writes the file.

use std::path::Path;

#[test]
fn the_table_in_the_documents_is_the_table_in_the_code() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/derivative-table.md");
    let expected = cotan_prim::derivative_table();
    if std::env::var_os("COTAN_BLESS").is_some_and(|v| v == "1") {
        std::fs::write(&path, &expected).expect("the documents are writable");
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default().replace("\r\n", "\n");
    assert!(found == expected, "docs/derivative-table.md is out of date: run the tests with COTAN_BLESS=1");
}
