//! The front end on programs that somebody broke.
//!
//! In: the programs of the repository, each changed in many small ways by a fixed generator. Out: nothing may panic, break a
//! rule of the compiler; diagnostics are all that a wrong text can cause. `COTAN_FUZZ_SECONDS` sets the time,
//! `COTAN_FUZZ_SEED` other changes.

use cotan::{Failure, Options, Session, Silent};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A small generator of numbers; the same on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n.max(1) as u64) as usize
    }
}

/// Texts that are put into programs.
const PIECES: [&str; 32] = [
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    ",",
    ";",
    "..",
    "|x|",
    "let",
    "fn",
    "if",
    "match",
    "=>",
    "=",
    "+=",
    "\"",
    "'",
    "@",
    "-",
    "1e999",
    "99999999999999999999",
    "0..",
    "use",
    "struct",
    "vjp {",
    "return",
    "🦀",
    "\u{0}",
    "//",
    "<T>",
];

fn corpus() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files: Vec<PathBuf> = Vec::new();
    for folder in ["tests/run", "tests/errors", "examples", "std"] {
        let entries = std::fs::read_dir(root.join(folder)).map(|e| e.flatten().map(|e| e.path()).collect());
        files.extend(entries.unwrap_or_else(|_| Vec::new()));
    }
    files.sort();
    files
        .into_iter()
        .filter(|p| p.extension().is_some_and(|e| e == "cot"))
        .filter_map(|p| std::fs::read_to_string(p).ok())
        .filter(|t| t.len() < 20_000)
        .collect()
}

/// Words, numbers, blanks and signs.
fn tokens(text: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let mut start = 0;
    let mut kind = None;
    for (at, c) in text.char_indices() {
        let now = if c.is_alphanumeric() || c == '_' {
            Some(0)
        } else if c.is_whitespace() {
            Some(1)
        } else {
            None
        };
        if at > start && (now != kind || now.is_none()) {
            out.push(&text[start..at]);
            start = at;
        }
        kind = now;
    }
    out.push(&text[start..]);
    out
}

fn mutate(text: &str, random: &mut Random) -> String {
    let mut words: Vec<&str> = tokens(text);
    for _ in 0..=random.below(4) {
        let at = random.below(words.len());
        match random.below(6) {
            0 => {
                words.remove(at);
            }
            1 => words.insert(at, words[random.below(words.len())]),
            2 => {
                let other = random.below(words.len());
                words.swap(at, other);
            }
            3 => words.insert(at, PIECES[random.below(PIECES.len())]),
            4 => words[at] = words[random.below(words.len())],
            _ => words.truncate(at),
        }
        if words.is_empty() {
            break;
        }
    }
    words.concat()
}

/// Runs one text through everything before the run.
fn try_out(text: &str) {
    let options = Options { validate: true, ..Options::default() };
    let mut session = Session::new(options, Box::new(Silent));
    let result = session.check_text("mutated.cot", text).and_then(|checked| session.compile_all(checked));
    if let Err(Failure::Bug(bug)) = result {
        panic!("{}: {}\nin this program:\n{text}", bug.pass, bug.message);
    }
}

/// A number from the environment.
fn setting(name: &str, otherwise: f64) -> f64 {
    std::env::var(name).ok().and_then(|s| s.parse().ok()).unwrap_or(otherwise)
}

/// Makes texts for a share of the time and tries them out.
fn fuzz(share: f64, make: fn(&[String], &mut Random) -> String) {
    let seconds = setting("COTAN_FUZZ_SECONDS", 60.0);
    let work = move |_| {
        let programs = corpus();
        assert!(!programs.is_empty(), "no programs to break");
        let mut random = Random(0x9e37_79b9_7f4a_7c15 ^ setting("COTAN_FUZZ_SEED", 0.0).to_bits());
        let start = Instant::now();
        while start.elapsed() < Duration::from_secs_f64(seconds * share) {
            try_out(&make(&programs, &mut random));
        }
    };
    if let Err(panic) = cotan::on_large_stack(1 << 30, work) {
        std::panic::resume_unwind(panic);
    }
}

#[test]
fn broken_programs_are_diagnosed() {
    fuzz(0.7, |programs, random| mutate(&programs[random.below(programs.len())], random));
}

/// Pieces of programs in any order: mostly for the parser.
#[test]
fn nonsense_is_diagnosed() {
    fuzz(0.3, |programs, random| {
        let words: Vec<Vec<&str>> = programs.iter().map(|p| tokens(p)).collect();
        let mut text = String::new();
        for _ in 0..random.below(200) {
            let from = &words[random.below(words.len())];
            let at = random.below(from.len());
            let some = &from[at..(at + 1 + random.below(12)).min(from.len())];
            text.push_str(&some.concat());
            if random.below(8) == 0 {
                text.push_str(PIECES[random.below(PIECES.len())]);
            }
        }
        text
    });
}
