//! Deep values, deep recursion, endless terms, and texts that are no terms.
//!
//! In: terms that would use up a small stack, or never end. Out: a value or a message, on a thread with little stack.

use cotan_calculus::{Options, Tree, evaluate, parse};
use cotan_source::FileId;
use proptest::prelude::{ProptestConfig, any, prop_assert, proptest};
use std::time::{Duration, Instant};

const FIX: &str = r"let fix = \f. (\x. f (\v. x x v)) (\x. f (\v. x x v)) in ";

/// The value of a term, or the code of what is wrong; on a thread with a stack of a megabyte.
fn value(text: &str, options: fn() -> Options<'static>) -> Result<Tree, String> {
    let text = format!("{FIX}{text}");
    let work = move || {
        let term = parse(FileId(0), &text).map_err(|e| e.code.to_string())?;
        evaluate(&term, options()).map(|o| o.value).map_err(|e| format!("{}: {}", e.code, e.message))
    };
    let thread = std::thread::Builder::new().stack_size(1 << 20).spawn(work).expect("a thread");
    thread.join().expect("no panic, and no stack that is used up")
}

#[test]
fn recursion_may_be_a_million_calls_deep() {
    let found = value("fix (\\go. \\n. if n < 1 then 0 else 1 + go (n - 1)) 1000000", Options::default);
    assert_eq!(found, Ok(Tree::Real(1e6)));
}

#[test]
fn calls_in_the_last_place_take_no_space() {
    let small = || Options { max_memory: 1 << 20, ..Options::default() };
    let found = value("(\\x. x x 100000) (\\self. \\n. if n < 1 then 7 else self self (n - 1))", small);
    // Values stay, so even this is not free of memory; calls do not.
    assert!(matches!(&found, Err(e) if e.starts_with("E0906")), "{found:?}");
    let larger = || Options { max_memory: 512 << 20, ..Options::default() };
    let found = value("(\\x. x x 100000) (\\self. \\n. if n < 1 then 7 else self self (n - 1))", larger);
    assert_eq!(found, Ok(Tree::Real(7.0)));
}

#[test]
fn derivatives_go_through_deep_recursion() {
    let term = "snd ((snd ((J (\\x. fix (\\go. \\n. if n < 1 then x else 1 * go (n - 1)) 20000)) (J 2))) 1)";
    assert_eq!(value(term, Options::default), Ok(Tree::Real(1.0)));
}

#[test]
fn sums_and_lists_may_be_deep() {
    let list = "let list = fix (\\go. \\n. if n < 1 then [] else (n, go (n - 1))) in ";
    let sum = "let total = fix (\\go. \\n. if n < 1 then zero (list 3) else plus (list 3, go (n - 1))) in ";
    let found = value(&format!("{list}{sum} total 100000"), Options::default);
    assert_eq!(found, Ok(Tree::List(vec![Tree::Real(3e5), Tree::Real(2e5), Tree::Real(1e5)])));
    let Ok(Tree::List(items)) = value(&format!("{list} list 50000"), Options::default) else { panic!("a list") };
    assert_eq!(items.len(), 50_000);
    // To the left, deeper than anyone reads.
    let left = value("fix (\\go. \\n. if n < 1 then 0 else (go (n - 1), 1)) 100000", Options::default);
    assert!(left.is_ok_and(|tree| tree.to_string().contains("...")));
}

#[test]
fn chains_of_bindings_may_be_long() {
    let mut text = String::from("let x0 = 1 in ");
    for i in 1..=20_000 {
        text += &format!("let x{i} = x{} + 1 in ", i - 1);
    }
    assert_eq!(value(&(text + "x20000"), Options::default), Ok(Tree::Real(20_001.0)));
}

#[test]
fn endless_terms_are_ended_by_time_steps_or_memory() {
    let start = Instant::now();
    let timed = || Options { time_limit: Some(Duration::from_millis(100)), ..Options::default() };
    for term in ["(\\x. x x) (\\x. x x)", "(\\x. 1 + x x) (\\x. 1 + x x)", "(\\x. (x x, 1)) (\\x. (x x, 1))"] {
        let found = value(term, timed);
        assert!(found.as_ref().is_err_and(|e| e.contains("time limit of 0.1 s")), "{found:?}");
    }
    assert!(start.elapsed() < Duration::from_secs(5));
    let stepped = || Options { max_steps: 5000, ..Options::default() };
    assert_eq!(value("(\\x. x x) (\\x. x x)", stepped), Err("E0906: 5000 steps were not enough".into()));
    let small = || Options { max_memory: 1 << 20, ..Options::default() };
    let found = value("(\\x. 1 + x x) (\\x. 1 + x x)", small);
    assert_eq!(found, Err("E0906: the limit of 1 MiB of memory is reached".into()));
}

#[test]
fn a_set_flag_ends_the_run() {
    let options = Options::default();
    options.interrupt.store(true, std::sync::atomic::Ordering::Relaxed);
    let term = parse(FileId(0), "(\\x. x x) (\\x. x x)").expect("a term");
    let error = evaluate(&term, options).expect_err("it is interrupted");
    assert_eq!((error.code, error.message.as_str()), ("E0906", "evaluation was interrupted"));
}

#[test]
fn what_nests_too_deeply_is_refused() {
    for text in ["(".repeat(100_000), "\\x.".repeat(100_000), "-".repeat(100_000), "[".repeat(100_000)] {
        assert_eq!(value(&text, Options::default), Err("E0901".into()));
    }
    let long = format!("1{}", " + 1".repeat(1999));
    assert_eq!(value(&long, Options::default), Ok(Tree::Real(2000.0)));
    assert_eq!(value(&format!("1{}", " + 1".repeat(100_000)), Options::default), Err("E0901".into()));
    assert_eq!(value(&format!("sin{}", " 1".repeat(100_000)), Options::default), Err("E0901".into()));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    /// Any text is a term or gives a message at a place inside it.
    #[test]
    fn no_text_is_too_strange(picks in proptest::collection::vec(any::<u16>(), 0..40)) {
        const WORDS: [&str; 34] = [
            "\\", ".", "x", "y", "(", ")", "[", "]", ",", "let", "=", "in", "if", "then", "else", "1", "2.5", "1e3", "+", "-", "*",
            "<", "&&", "J", "Jinv", "attach", "zero", "plus", "fst", "sin", "_", "//c\n", "\u{e9}\u{1F600}", "\u{3b1}",
        ];
        let text: String = picks.iter().map(|p| WORDS[*p as usize % WORDS.len()].to_string() + " ").collect();
        match parse(FileId(0), &text) {
            Ok(term) => {
                let printed = term.to_string();
                prop_assert!(parse(FileId(0), &printed).is_ok_and(|again| again == term), "{printed}");
                // Whatever it is, evaluating it comes to an end.
                let _ = evaluate(&term, Options { max_steps: 10_000, ..Options::default() });
            }
            Err(error) => {
                let span = error.primary.span;
                prop_assert!(error.code == "E0901" && span.start <= span.end && span.end as usize <= text.len());
            }
        }
    }
}
