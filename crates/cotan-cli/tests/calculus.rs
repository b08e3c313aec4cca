//! `cotan calculus` from outside: what it prints where, and its exit codes.

use std::process::{Command, Output};

const FACES: &str = r"let D = \f. \x. snd ((snd ((J f) (J x))) 1) in
let f = \a. let ja = J a in (attach (\x. a * x, \(J x). (J (Jinv ja * x), \y. ([x * y], Jinv ja * y)))) 3 in
D f 5
";

/// Runs `cotan calculus` on a term.
fn calculus(term: &str, options: &[&str]) -> (Option<i32>, String, String) {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("a.term"), term).expect("a file");
    let Output { status, stdout, stderr } = Command::new(env!("CARGO_BIN_EXE_cotan"))
        .args(["calculus", "a.term"])
        .args(options)
        .current_dir(folder.path())
        .env("NO_COLOR", "1")
        .output()
        .expect("cotan starts");
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (status.code(), text(stdout), text(stderr))
}

#[test]
fn the_value_goes_to_stdout() {
    assert_eq!(calculus(FACES, &[]), (Some(0), "3\n".into(), String::new()));
    assert_eq!(calculus(FACES, &["--rules", "printed"]), (Some(0), "6\n".into(), String::new()));
    assert_eq!(calculus(FACES, &["--strategy", "eager"]).1, "3\n");
}

#[test]
fn steps_and_transforms_go_to_stderr() {
    let (code, out, err) = calculus(FACES, &["--steps"]);
    assert_eq!((code, out.as_str()), (Some(0), "3\n"));
    assert!(err.trim_end().ends_with(" steps"), "{err}");
    let (code, out, err) = calculus("(J (\\x. x * x)) (J 3)", &["--trace"]);
    assert!(code == Some(0) && out.starts_with("(J 9, <{"), "{out}");
    assert!(err.contains("becomes") && err.contains("let (t2^, t2~) = mul^ t1^"), "{err}");
}

#[test]
fn stuck_and_endless_terms_exit_with_one() {
    for (term, options, code) in [
        ("x", &[][..], "E0902"),
        ("1 2", &[], "E0903"),
        ("plus (1, [])", &[], "E0904"),
        ("Jinv 1", &[], "E0905"),
        ("(\\x. x x) (\\x. x x)", &["--time-limit", "0.2"], "E0906"),
        ("(\\x. x x) (\\x. x x)", &["--max-steps", "1000"], "E0906"),
        ("(\\x. 1 + x x) (\\x. 1 + x x)", &["--max-memory", "64MiB"], "E0906"),
        ("let", &[], "E0901"),
    ] {
        let (exit, out, err) = calculus(term, options);
        assert!(exit == Some(1) && out.is_empty() && err.contains(code), "{term}: {exit:?} {out} {err}");
        assert!(err.contains("a.term:1:") && !err.contains("bug"), "{err}");
    }
}

#[test]
fn files_and_options_are_checked() {
    let missing =
        Command::new(env!("CARGO_BIN_EXE_cotan")).args(["calculus", "no.term"]).output().expect("cotan starts");
    assert_eq!(missing.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&missing.stderr).contains("E0810"));
    assert_eq!(calculus("1", &["--rules", "both"]).0, Some(2));
}
