//! Every program of the project is lowered to a sound program.
//!
//! In: the library, the examples, the programs in `tests/run`. Out: nothing, or the program, the function and the fault.

mod programs;

use programs::{check_file, files, lower_all};

#[test]
fn programs_are_sound() {
    let mut faults = Vec::new();
    let only = std::env::var("COTAN_ONLY").ok();
    for folder in ["std", "examples", "tests/run", "tests/walk"] {
        for file in files(folder) {
            if only.as_ref().is_some_and(|o| !file.to_string_lossy().contains(o.as_str())) {
                continue;
            }
            let Some(core) = check_file(&file) else { continue };
            match std::panic::catch_unwind(|| lower_all(&core)) {
                Ok(Ok((mut program, _))) => {
                    let found = cotan_ir::validate(&mut program);
                    faults.extend(found.into_iter().take(5).map(|f| format!("{}: {f}", file.display())));
                }
                Ok(Err(diagnostics)) => faults.extend(diagnostics.iter().map(|d| format!("{}: {d:?}", file.display()))),
                Err(_) => faults.push(format!("{}: panicked", file.display())),
            }
        }
    }
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}
