//! Text to tokens.
//!
//! In: a text. Out: [`Lexed`]: tokens that end with [`Kind::Eof`], decoded strings, docs, comments and
//! diagnostics. Newly true: every byte belongs to a token, a comment or white space; numbers and strings
//! are well formed or were complained of.

use crate::ast::Ident;
use crate::token::{Kind, Token};
use cotan_source::{Diagnostic, FileId, Span};

/// A `///` line.
#[derive(Debug)]
pub struct Doc {
    /// The index of the token that follows.
    pub token: usize,
    /// The line without slashes and one blank.
    pub text: String,
    /// Its place.
    pub span: Span,
}

/// The outcome of lexing.
#[derive(Debug, Default)]
pub struct Lexed {
    /// The tokens; the last one is [`Kind::Eof`].
    pub tokens: Vec<Token>,
    /// The values of string tokens, with the index of the token, in order.
    pub strings: Vec<(usize, String)>,
    /// `///` lines in order.
    pub docs: Vec<Doc>,
    /// `//` and `/* */` comments as written.
    pub comments: Vec<Ident>,
    /// What was wrong.
    pub diagnostics: Vec<Diagnostic>,
}

/// Cuts `text` into tokens.
pub fn lex(file: FileId, text: &str) -> Lexed {
    // Spans are 32 bits wide: what lies beyond is not read at all.
    let mut readable = text.len().min(u32::MAX as usize);
    while !text.is_char_boundary(readable) {
        readable -= 1;
    }
    let mut lexer = Lexer {
        file,
        text: &text[..readable],
        pos: 0,
        string_unclosed: false,
        long_string: None,
        out: Lexed::default(),
    };
    lexer.run();
    if readable < text.len() {
        let span = lexer.span(readable, readable);
        lexer.out.diagnostics.push(Diagnostic::error("E0013", span, "the file is longer than 4 GiB"));
    }
    lexer.out
}

struct Lexer<'t> {
    file: FileId,
    text: &'t str,
    pos: usize,
    /// Once a string ran to the end of the file, later ones are cut at their line: no quadratic rescans.
    string_unclosed: bool,
    /// The last string that runs over several lines: perhaps it lacks its closing quote.
    long_string: Option<usize>,
    out: Lexed,
}

fn starts_name(c: char) -> bool {
    c == '_' || c.is_alphabetic()
}

fn continues_name(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

impl Lexer<'_> {
    fn span(&self, start: usize, end: usize) -> Span {
        Span::new(self.file, start as u32, end as u32)
    }

    fn peek(&self) -> Option<char> {
        self.text[self.pos..].chars().next()
    }

    fn byte(&self, ahead: usize) -> u8 {
        self.text.as_bytes().get(self.pos + ahead).copied().unwrap_or(0)
    }

    fn push(&mut self, kind: Kind, start: usize) {
        self.out.tokens.push(Token { kind, start: start as u32, end: self.pos as u32 });
    }

    fn run(&mut self) {
        if self.text.starts_with('\u{feff}') {
            self.pos = '\u{feff}'.len_utf8();
        }
        while let Some(c) = self.peek() {
            let start = self.pos;
            match c {
                _ if c.is_whitespace() => self.pos += c.len_utf8(),
                '/' if self.byte(1) == b'/' => self.line_comment(),
                '/' if self.byte(1) == b'*' => self.block_comment(),
                '0'..='9' => self.number(),
                '"' => self.string(),
                '\'' => self.quote(),
                _ if starts_name(c) => {
                    self.eat_while(continues_name);
                    let kind = Kind::word(&self.text[start..self.pos]).unwrap_or(Kind::Ident);
                    self.push(kind, start);
                }
                _ => self.punctuation(c),
            }
        }
        let end = self.pos;
        self.push(Kind::Eof, end);
    }

    fn eat_while(&mut self, accept: impl Fn(char) -> bool) {
        let rest = &self.text[self.pos..];
        self.pos += rest.find(|c| !accept(c)).unwrap_or(rest.len());
    }

    fn line_comment(&mut self) {
        let start = self.pos;
        self.eat_while(|c| c != '\n');
        let written = self.text[start..self.pos].trim_end_matches('\r');
        let span = self.span(start, start + written.len());
        match written.strip_prefix("///") {
            Some(text) if !text.starts_with('/') => {
                let text = text.strip_prefix(' ').unwrap_or(text).trim_end().to_string();
                self.out.docs.push(Doc { token: self.out.tokens.len(), text, span });
            }
            _ => self.out.comments.push(Ident { name: written.to_string(), span }),
        }
    }

    fn block_comment(&mut self) {
        let start = self.pos;
        self.pos += 2;
        let mut depth = 1;
        while depth > 0 {
            match (self.byte(0), self.byte(1)) {
                (b'*', b'/') => {
                    depth -= 1;
                    self.pos += 2;
                }
                (b'/', b'*') => {
                    depth += 1;
                    self.pos += 2;
                }
                _ if self.pos >= self.text.len() => {
                    let open = self.span(start, start + 2);
                    let message = "a comment is opened with `/*` but never closed";
                    let mut diagnostic = Diagnostic::error("E0003", open, message).at("the comment begins here");
                    diagnostic = if depth > 1 {
                        diagnostic.note(format!("comments nest: {depth} times `*/` are missing"))
                    } else {
                        diagnostic.hint("close it with `*/`")
                    };
                    self.out.diagnostics.push(diagnostic);
                    break;
                }
                _ => self.pos += 1,
            }
        }
        let span = self.span(start, self.pos);
        self.out.comments.push(Ident { name: self.text[start..self.pos].to_string(), span });
    }

    fn number(&mut self) {
        let start = self.pos;
        let digits = |c: char| c.is_ascii_digit() || c == '_';
        self.eat_while(digits);
        let mut kind = Kind::Int;
        // In `t.0.1` each number is a position of its own.
        let position = self.out.tokens.last().is_some_and(|t| t.kind == Kind::Dot && t.end as usize == start);
        if !position {
            if self.byte(0) == b'.' && self.byte(1) != b'.' {
                let after = self.text[self.pos + 1..].chars().next();
                if !after.is_some_and(starts_name) {
                    kind = Kind::Float;
                    self.pos += 1;
                    self.eat_while(digits);
                }
            }
            if matches!(self.byte(0), b'e' | b'E') {
                let sign = usize::from(matches!(self.byte(1), b'+' | b'-'));
                if self.byte(1 + sign).is_ascii_digit() {
                    kind = Kind::Float;
                    self.pos += 1 + sign;
                    self.eat_while(digits);
                }
            }
        }
        if self.peek().is_some_and(continues_name) && !position {
            let number_end = self.pos;
            self.eat_while(continues_name);
            let suffix = &self.text[number_end..self.pos];
            let number = &self.text[start..number_end];
            let hint = match suffix {
                "f64" | "f32" | "i64" | "i32" | "u32" | "u64" | "usize" | "f" => {
                    format!("numbers have no suffix; write `{number}`")
                }
                "e" | "E" => "an exponent needs digits, as in `1e-3`".to_string(),
                _ if number == "0" && suffix.starts_with(['x', 'b', 'o', 'X', 'B', 'O']) => {
                    "numbers are written in decimal digits".to_string()
                }
                _ => format!("a product is written `{number} * {suffix}`"),
            };
            let message = format!("`{}` is not a number", &self.text[start..self.pos]);
            let span = self.span(start, self.pos);
            self.out.diagnostics.push(
                Diagnostic::error("E0005", span, message).at(format!("`{suffix}` cannot follow a number")).hint(hint),
            );
        } else if kind == Kind::Float {
            let value: f64 = self.text[start..self.pos].replace('_', "").parse().unwrap_or(0.0);
            if value.is_infinite() {
                let span = self.span(start, self.pos);
                self.out.diagnostics.push(
                    Diagnostic::error("E0005", span, "the number is too large for a `Float`")
                        .hint("write `inf` for infinity"),
                );
            }
        }
        self.push(kind, start);
    }

    /// Reads from an opening `"`; the token covers the quotes.
    fn string(&mut self) {
        let start = self.pos;
        let mut value = String::new();
        let mut complaints = Vec::new();
        self.pos += 1;
        loop {
            let at = self.pos;
            match self.peek() {
                Some('"') => {
                    self.pos += 1;
                    if value.contains('\n') && self.text[start..self.pos].contains('\n') {
                        self.long_string = Some(start);
                    }
                    break;
                }
                Some('\n') if self.string_unclosed => {
                    self.unclosed_string(start);
                    break;
                }
                None => {
                    let line = self.text[start..].find('\n').map_or(self.text.len(), |n| start + n);
                    complaints.retain(|d: &Diagnostic| (d.primary.span.end as usize) <= line);
                    value.truncate(value.find('\n').unwrap_or(value.len()));
                    self.pos = line;
                    self.unclosed_string(start);
                    break;
                }
                Some('\\') => {
                    self.pos += 1;
                    match self.escape() {
                        Ok(Some(c)) => value.push(c),
                        Ok(None) => {}
                        Err(hint) => {
                            let span = self.span(at, self.pos);
                            let written = &self.text[at..self.pos];
                            complaints.push(
                                Diagnostic::error("E0004", span, format!("unknown escape `{written}` in a string"))
                                    .hint(hint),
                            );
                        }
                    }
                }
                Some(c) => {
                    value.push(c);
                    self.pos += c.len_utf8();
                }
            }
        }
        self.out.diagnostics.append(&mut complaints);
        self.out.strings.push((self.out.tokens.len(), value));
        self.push(Kind::Str, start);
    }

    fn unclosed_string(&mut self, start: usize) {
        self.string_unclosed = true;
        let span = self.span(start, self.pos);
        let message = "a string is opened but never closed";
        let diagnostic = match self.long_string {
            None => Diagnostic::error("E0002", span, message).at("the string begins here"),
            Some(long) => {
                let line = self.text[long..].lines().next().unwrap_or("").len();
                Diagnostic::error("E0002", self.span(long, long + line), message)
                    .at("this string runs over several lines: was it meant to end here?")
                    .label(self.span(start, start + 1), "so that nothing closes this one")
            }
        };
        self.out.diagnostics.push(diagnostic.hint("close it with `\"`"));
    }

    /// Reads what follows a backslash: the character meant, none for a line continuation, or a hint.
    fn escape(&mut self) -> Result<Option<char>, &'static str> {
        let Some(c) = self.peek() else { return Ok(None) };
        if c == '\n' || c == '\r' {
            self.eat_while(char::is_whitespace);
            return Ok(None);
        }
        self.pos += c.len_utf8();
        match c {
            'n' => Ok(Some('\n')),
            'r' => Ok(Some('\r')),
            't' => Ok(Some('\t')),
            '0' => Ok(Some('\0')),
            '\\' | '\'' | '"' => Ok(Some(c)),
            'x' => {
                let digits = self.hex_digits(2);
                match (digits.len(), u8::from_str_radix(digits, 16)) {
                    (2, Ok(byte)) if byte < 0x80 => Ok(Some(byte as char)),
                    _ => Err("`\\x` takes two hexadecimal digits up to `7f`, as in `\\x41`"),
                }
            }
            'u' => {
                const HINT: &str = "`\\u` takes a code point in braces, as in `\\u{3c0}`";
                if self.byte(0) != b'{' {
                    return Err(HINT);
                }
                self.pos += 1;
                let digits = self.hex_digits(6).to_string();
                if self.byte(0) != b'}' {
                    return Err(HINT);
                }
                self.pos += 1;
                match u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32) {
                    Some(c) => Ok(Some(c)),
                    None => Err(HINT),
                }
            }
            _ => Err("known are `\\n`, `\\r`, `\\t`, `\\0`, `\\\\`, `\\\"`, `\\'`, `\\x41`, `\\u{3c0}`"),
        }
    }

    fn hex_digits(&mut self, most: usize) -> &str {
        let start = self.pos;
        while self.pos - start < most && self.byte(0).is_ascii_hexdigit() {
            self.pos += 1;
        }
        &self.text[start..self.pos]
    }

    /// A single quote: there are no characters, but `'text'` on one line is read as a string.
    fn quote(&mut self) {
        let start = self.pos;
        let line = self.text[start + 1..].lines().next().unwrap_or("");
        self.pos += 1;
        match line.find('\'') {
            Some(length) => {
                let value = line[..length].to_string();
                self.pos += length + 1;
                let span = self.span(start, self.pos);
                self.out.diagnostics.push(
                    Diagnostic::error("E0006", span, "single quotes do not enclose anything")
                        .hint(format!("strings have double quotes: `\"{value}\"`")),
                );
                self.out.strings.push((self.out.tokens.len(), value));
                self.push(Kind::Str, start);
            }
            None => {
                let span = self.span(start, self.pos);
                self.out.diagnostics.push(
                    Diagnostic::error("E0006", span, "a single quote has no meaning")
                        .hint("strings have double quotes; names have no primes"),
                );
            }
        }
    }

    fn punctuation(&mut self, c: char) {
        use Kind::*;
        let start = self.pos;
        let (kind, length) = match (c, self.byte(1), self.byte(2)) {
            ('*', b'*', b'=') => (StarStarEq, 3),
            ('.', b'.', b'=') => (DotDotEq, 3),
            ('*', b'*', _) => (StarStar, 2),
            ('*', b'=', _) => (StarEq, 2),
            ('.', b'.', _) => (DotDot, 2),
            (':', b':', _) => (ColonColon, 2),
            (':', b'=', _) => (ColonEq, 2),
            ('-', b'>', _) => (Arrow, 2),
            ('-', b'=', _) => (MinusEq, 2),
            ('=', b'>', _) => (FatArrow, 2),
            ('=', b'=', _) => (EqEq, 2),
            ('!', b'=', _) => (BangEq, 2),
            ('<', b'=', _) => (LtEq, 2),
            ('>', b'=', _) => (GtEq, 2),
            ('|', b'|', _) => (PipePipe, 2),
            ('&', b'&', _) => (AmpAmp, 2),
            ('+', b'=', _) => (PlusEq, 2),
            ('/', b'=', _) => (SlashEq, 2),
            ('%', b'=', _) => (PercentEq, 2),
            ('@', b'=', _) => (AtEq, 2),
            ('(', ..) => (LParen, 1),
            (')', ..) => (RParen, 1),
            ('[', ..) => (LBracket, 1),
            (']', ..) => (RBracket, 1),
            ('{', ..) => (LBrace, 1),
            ('}', ..) => (RBrace, 1),
            (',', ..) => (Comma, 1),
            (';', ..) => (Semi, 1),
            (':', ..) => (Colon, 1),
            ('.', ..) => (Dot, 1),
            ('@', ..) => (At, 1),
            ('|', ..) => (Pipe, 1),
            ('!', ..) => (Bang, 1),
            ('+', ..) => (Plus, 1),
            ('-', ..) => (Minus, 1),
            ('*', ..) => (Star, 1),
            ('/', ..) => (Slash, 1),
            ('%', ..) => (Percent, 1),
            ('=', ..) => (Eq, 1),
            ('<', ..) => (Lt, 1),
            ('>', ..) => (Gt, 1),
            ('&', ..) => (Amp, 1),
            ('^', ..) => (Caret, 1),
            ('?', ..) => (Question, 1),
            _ => return self.unknown(),
        };
        self.pos += length;
        self.push(kind, start);
    }

    /// A run of characters that mean nothing: one complaint, and the parser sees what was probably meant.
    fn unknown(&mut self) {
        let start = self.pos;
        let Some(c) = self.peek() else { return };
        let (hint, kind) = match c {
            '#' => ("comments begin with `//`", Kind::Unknown),
            '\u{2212}' | '\u{2013}' => ("write `-`", Kind::Minus),
            '\u{d7}' | '\u{b7}' | '\u{22c5}' => ("write `*`", Kind::Star),
            '\u{f7}' => ("write `/`", Kind::Slash),
            '\u{2264}' => ("write `<=`", Kind::LtEq),
            '\u{2265}' => ("write `>=`", Kind::GtEq),
            '\u{2260}' => ("write `!=`", Kind::BangEq),
            '\u{2192}' => ("write `->`", Kind::Arrow),
            '\u{b2}' => ("write `** 2`", Kind::Unknown),
            '\u{b3}' => ("write `** 3`", Kind::Unknown),
            '\u{221a}' => ("write `sqrt(x)`", Kind::Unknown),
            '\u{201c}' | '\u{201d}' | '\u{201e}' => ("strings have straight quotes `\"`", Kind::Unknown),
            '\\' => ("a function without a name is written `|x| e`", Kind::Unknown),
            _ => ("", Kind::Unknown),
        };
        self.pos += c.len_utf8();
        if c == '#' {
            self.eat_while(|c| c != '\n');
        } else if kind == Kind::Unknown {
            let known = |c: char| {
                c.is_whitespace() || continues_name(c) || c == '"' || "'()[]{},;:.@|!+-*/%=<>&^?#".contains(c)
            };
            self.eat_while(|c| !known(c));
        }
        let end = if c == '#' { start + 1 } else { self.pos };
        let span = self.span(start, end);
        let written = self.text[start..end].escape_debug();
        let plural = if self.text[start..end].chars().nth(1).is_some() { "s" } else { "" };
        let verb = if plural.is_empty() { "has" } else { "have" };
        let mut diagnostic =
            Diagnostic::error("E0001", span, format!("the character{plural} `{written}` {verb} no meaning"));
        if !hint.is_empty() {
            diagnostic = diagnostic.hint(hint);
        }
        self.out.diagnostics.push(diagnostic);
        // A `#` line and stray characters are dropped: complaining of them a second time helps nobody.
        if kind != Kind::Unknown {
            self.push(kind, start);
        }
    }
}
