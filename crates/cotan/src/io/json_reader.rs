//! JSON texts as a stream of tokens.
//!
//! In: a text. Out: one token at a time, each checked against RFC 8259, with its place. Nothing is built that the caller
//! did not ask for, so that a large array of numbers is read straight into its storage, and an integer keeps all its
//! digits.

use std::borrow::Cow;

/// What stands next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Token {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool,
    /// A number.
    Number,
    /// A string.
    String,
    /// `[`.
    Array,
    /// `{`.
    Object,
}

/// What is wrong, and at which byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The byte.
    pub at: usize,
    /// What is wrong.
    pub message: String,
    /// Whether the wrong thing is a bare `NaN` or `Infinity`.
    pub non_finite: bool,
}

/// A text and a position in it.
pub struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    /// The start of `text`; a byte order mark is skipped.
    pub fn new(text: &'a str) -> Self {
        Reader { text, at: if text.starts_with('\u{feff}') { 3 } else { 0 } }
    }

    /// The byte at which the next token starts.
    pub fn position(&mut self) -> usize {
        self.blanks();
        self.at
    }

    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn blanks(&mut self) {
        while matches!(self.byte(), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            self.at += 1;
        }
    }

    fn fault<T>(&self, message: impl Into<String>) -> Result<T, Fault> {
        Err(Fault { at: self.at, message: message.into(), non_finite: false })
    }

    /// What is at the position, for messages.
    fn found(&self) -> String {
        match self.text[self.at..].chars().next() {
            None => "the end of the text".into(),
            Some(c) if c.is_control() => format!("the control character U+{:04X}", c as u32),
            Some(c) => format!("`{c}`"),
        }
    }

    /// The kind of the next value.
    pub fn peek(&mut self) -> Result<Token, Fault> {
        self.blanks();
        match self.byte() {
            Some(b'"') => Ok(Token::String),
            Some(b'[') => Ok(Token::Array),
            Some(b'{') => Ok(Token::Object),
            Some(b't' | b'f') => Ok(Token::Bool),
            Some(b'n') => Ok(Token::Null),
            Some(b'-' | b'0'..=b'9') => Ok(Token::Number),
            Some(b'N' | b'I') => self.non_finite(),
            _ => self.fault(format!("expected a value, found {}", self.found())),
        }
    }

    fn non_finite<T>(&self) -> Result<T, Fault> {
        let rest = &self.text[self.at..];
        for word in ["NaN", "Infinity", "-Infinity"] {
            if rest.starts_with(word) {
                let message = format!("a bare {word} is not JSON");
                return Err(Fault { at: self.at, message, non_finite: true });
            }
        }
        self.fault(format!("expected a value, found {}", self.found()))
    }

    fn word(&mut self, word: &str) -> Result<(), Fault> {
        if self.text[self.at..].starts_with(word) {
            self.at += word.len();
            Ok(())
        } else {
            self.fault(format!("expected `{word}`"))
        }
    }

    /// Reads `null`.
    pub fn null(&mut self) -> Result<(), Fault> {
        self.blanks();
        self.word("null")
    }

    /// Reads `true` or `false`.
    pub fn bool(&mut self) -> Result<bool, Fault> {
        self.blanks();
        if self.byte() == Some(b't') {
            self.word("true")?;
            Ok(true)
        } else {
            self.word("false")?;
            Ok(false)
        }
    }

    fn digits(&mut self) -> Result<(), Fault> {
        if !matches!(self.byte(), Some(b'0'..=b'9')) {
            return self.fault(format!("expected a digit, found {}", self.found()));
        }
        while matches!(self.byte(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        Ok(())
    }

    /// Reads a number, as written.
    pub fn number(&mut self) -> Result<&'a str, Fault> {
        self.blanks();
        let start = self.at;
        if self.byte() == Some(b'-') {
            if self.text[self.at..].starts_with("-I") {
                return self.non_finite();
            }
            self.at += 1;
        }
        if self.byte() == Some(b'0') {
            self.at += 1;
            if matches!(self.byte(), Some(b'0'..=b'9')) {
                return self.fault("a number does not start with 0");
            }
        } else {
            self.digits()?;
        }
        if self.byte() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.byte(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.byte(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(&self.text[start..self.at])
    }

    /// Reads a string.
    pub fn string(&mut self) -> Result<Cow<'a, str>, Fault> {
        self.blanks();
        if self.byte() != Some(b'"') {
            return self.fault(format!("expected a string, found {}", self.found()));
        }
        self.at += 1;
        let mut start = self.at;
        let mut owned: Option<String> = None;
        loop {
            match self.byte() {
                None => return self.fault("a string without its closing quote"),
                Some(b'"') => {
                    let rest = &self.text[start..self.at];
                    self.at += 1;
                    return Ok(match owned {
                        None => Cow::Borrowed(rest),
                        Some(text) => Cow::Owned(text + rest),
                    });
                }
                Some(b'\\') => {
                    let text = owned.get_or_insert_default();
                    text.push_str(&self.text[start..self.at]);
                    self.at += 1;
                    let c = self.escape()?;
                    owned.get_or_insert_default().push(c);
                    start = self.at;
                }
                Some(0..=0x1f) => return self.fault("a control character in a string must be escaped"),
                Some(_) => self.at += 1,
            }
        }
    }

    /// The character of an escape, after the backslash.
    fn escape(&mut self) -> Result<char, Fault> {
        let Some(c) = self.byte() else { return self.fault("a string without its closing quote") };
        self.at += 1;
        Ok(match c {
            b'"' => '"',
            b'\\' => '\\',
            b'/' => '/',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let first = self.hex()?;
                let code = if (0xd800..0xdc00).contains(&first) && self.text[self.at..].starts_with("\\u") {
                    self.at += 2;
                    let second = self.hex()?;
                    0x10000 + ((first - 0xd800) << 10) + second.wrapping_sub(0xdc00)
                } else {
                    first
                };
                match char::from_u32(code) {
                    Some(c) => c,
                    None => return self.fault("half of a surrogate pair"),
                }
            }
            _ => {
                self.at -= 1;
                return self.fault("an unknown escape");
            }
        })
    }

    fn hex(&mut self) -> Result<u32, Fault> {
        let digits = self.text.get(self.at..self.at + 4).filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()));
        match digits.and_then(|d| u32::from_str_radix(d, 16).ok()) {
            Some(code) => {
                self.at += 4;
                Ok(code)
            }
            None => self.fault("expected four hexadecimal digits"),
        }
    }

    /// Steps over `[` or `{`.
    pub fn open(&mut self) {
        self.blanks();
        self.at += 1;
    }

    /// Whether another element follows in an array (or entry in an object); steps over the comma or the bracket.
    pub fn more(&mut self, first: &mut bool, close: u8) -> Result<bool, Fault> {
        self.blanks();
        if self.byte() == Some(close) {
            self.at += 1;
            return Ok(false);
        }
        if *first {
            *first = false;
            return Ok(true);
        }
        if self.byte() == Some(b',') {
            self.at += 1;
            self.blanks();
            if self.byte() == Some(close) {
                return self.fault("a comma before the closing bracket");
            }
            return Ok(true);
        }
        self.fault(format!("expected `,` or `{}`, found {}", close as char, self.found()))
    }

    /// Reads the key of an entry and the colon.
    pub fn key(&mut self) -> Result<Cow<'a, str>, Fault> {
        let key = self.string()?;
        self.blanks();
        if self.byte() != Some(b':') {
            return self.fault(format!("expected `:`, found {}", self.found()));
        }
        self.at += 1;
        Ok(key)
    }

    /// Nothing but blanks may follow.
    pub fn end(&mut self) -> Result<(), Fault> {
        self.blanks();
        if self.at == self.text.len() {
            return Ok(());
        }
        self.fault(format!("expected the end of the value, found {}", self.found()))
    }

    /// A short form of the next value, for messages; the position stays.
    pub fn excerpt(&mut self) -> String {
        self.blanks();
        let start = self.at;
        let text = match self.peek() {
            Ok(Token::Array) => "an array".into(),
            Ok(Token::Object) => "an object".into(),
            Ok(Token::String) => match self.string() {
                Ok(s) if s.chars().count() > 40 => "a long string".into(),
                Ok(s) => format!("{s:?}"),
                Err(_) => "a string".into(),
            },
            Ok(Token::Number) => self.number().unwrap_or("a number").to_string(),
            Ok(Token::Bool) => self.bool().map_or("a truth value".into(), |b| b.to_string()),
            Ok(Token::Null) => "null".into(),
            Err(_) => self.found(),
        };
        self.at = start;
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_with_escapes() {
        let mut r = Reader::new(r#" "a\n\u00e9\ud83d\ude00" "#);
        assert_eq!(r.string().unwrap(), "a\né😀");
        assert!(r.end().is_ok());
    }

    #[test]
    fn numbers_keep_their_digits() {
        for good in ["0", "-0", "12345678901234567890", "1.5e-3", "1E+5"] {
            let mut r = Reader::new(good);
            assert_eq!(r.number().unwrap(), good);
            assert!(r.end().is_ok());
        }
        for bad in ["01", "1.", "-", ".5", "1e", "+1"] {
            let mut r = Reader::new(bad);
            assert!(r.peek().and_then(|_| r.number()).is_err(), "{bad}");
        }
    }

    #[test]
    fn bare_nan_is_told_apart() {
        assert!(Reader::new("NaN").peek().unwrap_err().non_finite);
        assert!(Reader::new("-Infinity").number().unwrap_err().non_finite);
        assert!(!Reader::new("Nope").peek().unwrap_err().non_finite);
    }

    #[test]
    fn commas() {
        let read = |text: &str| -> Result<usize, Fault> {
            let mut r = Reader::new(text);
            r.open();
            let (mut first, mut n) = (true, 0);
            while r.more(&mut first, b']')? {
                r.number()?;
                n += 1;
            }
            r.end()?;
            Ok(n)
        };
        assert_eq!(read("[]"), Ok(0));
        assert_eq!(read("[1, 2 ,3]"), Ok(3));
        assert!(read("[1,]").is_err());
        assert!(read("[1 2]").is_err());
        assert!(read("[1").is_err());
        assert!(read("[,1]").is_err());
    }
}
