//! Golden tests: the representation of small programs as text.
//!
//! In: `tests/golden/*.cot`. Out: all their functions, compared with the `.ir` beside the program. `COTAN_BLESS=1` writes it.

mod programs;

use programs::{check_file, files, lower_all};

#[test]
fn golden() {
    let mut faults = Vec::new();
    for file in files("crates/cotan-lower/tests/golden") {
        let core = check_file(&file).expect("the program has no mistakes");
        let (mut program, _) = lower_all(&core).expect("the program is lowered");
        let found = cotan_ir::validate(&mut program);
        assert!(found.is_empty(), "{}: {}", file.display(), found.join("\n"));
        let text = cotan_ir::print_program(&program, false);
        let expected = file.with_extension("ir");
        if std::env::var_os("COTAN_BLESS").is_some_and(|v| v == "1") {
            std::fs::write(&expected, &text).expect("the expectation is written");
        } else if std::fs::read_to_string(&expected).unwrap_or_default() != text {
            faults.push(format!("{}: found\n{text}", file.display()));
        }
    }
    assert!(faults.is_empty(), "{}\n(`COTAN_BLESS=1` accepts it)", faults.join("\n"));
}
