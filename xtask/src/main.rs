//! House tasks.
//!
//! In: `cargo xtask tidy` or `cargo xtask bless`. Out: for `tidy`, a list of broken house rules and exit code 1, or
//! nothing; for `bless`, golden files rewritten with what the programs say today.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a tool for the shell")]

mod tidy;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.first().map(String::as_str) {
        Some("tidy") => {
            let faults = tidy::check(&root());
            for fault in &faults {
                eprintln!("tidy: {fault}");
            }
            if faults.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Some("bless") => bless(&args[1..]),
        _ => {
            eprintln!("usage: cargo xtask tidy | bless [CRATE]...");
            ExitCode::from(2)
        }
    }
}

/// Runs the golden tests of the crates given (all that have some if none) with `COTAN_BLESS=1`.
fn bless(crates: &[String]) -> ExitCode {
    let mut command = Command::new("cargo");
    command.arg("test").env("COTAN_BLESS", "1").current_dir(root());
    if crates.is_empty() {
        command.arg("--workspace");
    }
    for name in crates {
        command.args(["-p", name]);
    }
    match command.status() {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("cannot start cargo: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The root of the workspace.
fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}

#[cfg(test)]
mod tests {
    //! The house rules are a test like any other.

    #[test]
    fn the_house_is_tidy() {
        let faults = super::tidy::check(&super::root());
        assert!(faults.is_empty(), "{}", faults.join("\n"));
    }
}
