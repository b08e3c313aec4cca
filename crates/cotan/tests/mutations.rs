//! The front end on programs that somebody broke.
//!
//! In: the programs of the repository, each changed in many small ways by a fixed generator. Out: nothing may panic, break a
//! rule of the compiler, or take long; diagnostics are all that a wrong text can cause. `COTAN_FUZZ_SECONDS` sets the time.

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

#[test]
fn broken_programs_are_diagnosed() {
    let seconds = std::env::var("COTAN_FUZZ_SECONDS").ok().and_then(|s| s.parse().ok()).unwrap_or(30);
    let thread = std::thread::Builder::new().stack_size(1 << 30).spawn(move || {
        let programs = corpus();
        let mut random = Random(0x9e37_79b9_7f4a_7c15);
        let start = Instant::now();
        while start.elapsed() < Duration::from_secs(seconds) && !programs.is_empty() {
            let text = mutate(&programs[random.below(programs.len())], &mut random);
            let begin = Instant::now();
            let mut session = Session::new(Options::default(), Box::new(Silent));
            if let Err(Failure::Bug(bug)) = session.check_text("mutated.cot", &text) {
                panic!("{}: {}\nin this program:\n{text}", bug.pass, bug.message);
            }
            assert!(begin.elapsed() < Duration::from_secs(20), "too slow on this program:\n{text}");
        }
    });
    thread.expect("a thread").join().expect("no panic");
}
