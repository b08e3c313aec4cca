//! Rules that need nothing but the text of a file.
//!
//! In: files. Out: faults: a missing header, a file that is too long, a banned name, a banned word, a path of one machine.

use super::File;

/// A longer file has more than one job.
const MOST_LINES: usize = 1000;

/// Names that say nothing.
const BANNED_NAMES: [&str; 7] = ["util", "utils", "misc", "common", "helper", "helpers", "manager"];

/// Calls that leave work undone. Written in two parts, so that this file keeps the rule.
const BANNED_CALLS: [(&str, &str); 4] = [("todo", "!("), ("unimplemented", "!("), ("dbg", "!("), ("#[", "ignore")];

/// Calls that only the command line may make.
const DOOR_CALLS: [(&str, &str); 5] =
    [("println", "!("), ("print", "!("), ("eprintln", "!("), ("eprint", "!("), ("process::", "exit(")];

/// Beginnings of paths that exist on one machine only.
const MACHINE_PATHS: [(&str, &str); 4] = [("/wo", "rk/"), ("/ho", "me/"), ("/ro", "ot/"), ("/tm", "p/")];

/// Checks every file.
pub fn check(files: &[File], faults: &mut Vec<String>) {
    for file in files {
        let path = &file.path;
        for (a, b) in MACHINE_PATHS {
            let needle = format!("{a}{b}");
            if let Some(line) = file.text.lines().position(|l| l.contains(&needle)) {
                faults.push(format!("{path}:{}: a path of one machine", line + 1));
            }
        }
        if !file.is(".rs") {
            continue;
        }
        if !file.text.starts_with("//! ") {
            faults.push(format!("{path}: no `//!` header that says what comes in and what goes out"));
        }
        let lines = file.text.lines().count();
        if lines > MOST_LINES {
            faults.push(format!("{path}: {lines} lines, {MOST_LINES} are allowed"));
        }
        if path.split(['/', '.']).any(|part| BANNED_NAMES.contains(&part)) {
            faults.push(format!("{path}: a name that says nothing"));
        }
        let twin = file.stem().trim_end_matches(|c: char| c.is_ascii_digit());
        if twin != file.stem() && files.iter().any(|f| f.is(".rs") && f.stem() == twin && folder(f) == folder(file)) {
            faults.push(format!("{path}: a numbered twin of `{twin}.rs`"));
        }
        words(file, faults);
    }
}

/// The path without the name.
fn folder(file: &File) -> &str {
    file.path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Banned words outside comments.
fn words(file: &File, faults: &mut Vec<String>) {
    let door = ["crates/cotan-cli/", "xtask/"].iter().any(|p| file.path.starts_with(p))
        || file.path.contains("/tests/")
        || file.path.contains("/examples/")
        // Build scripts talk to cargo by printing.
        || file.path.ends_with("/build.rs");
    for (number, line) in file.text.lines().enumerate() {
        let code = line.split("//").next().unwrap_or_default();
        let has = |(a, b): (&str, &str)| {
            let word = format!("{a}{b}");
            code.match_indices(&word)
                .any(|(at, _)| !code[..at].ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_'))
        };
        for call in BANNED_CALLS {
            if has(call) {
                faults.push(format!("{}:{}: `{}` is refused", file.path, number + 1, call.0));
            }
        }
        if !door {
            for call in DOOR_CALLS {
                if has(call) {
                    faults.push(format!("{}:{}: only the command line prints and exits", file.path, number + 1));
                }
            }
        }
    }
}
