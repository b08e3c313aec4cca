//! The concrete syntax: text to terms.
//!
//! In: a text. Out: a [`Term`], or the first mistake. Newly true: no term is higher than [`MOST_NESTING`] levels, so that what
//! walks terms may recurse; chains of `let` and of operators are as long as one likes, the latter up to [`MOST_OPERATORS`].

use crate::term::{Infix, Kind, Name, Pattern, Term};
use cotan_source::{Diagnostic, FileId, Span};

/// How deeply terms may nest.
const MOST_NESTING: usize = 500;

/// How many operators or arguments may follow each other: they make a term as high as they are many.
const MOST_OPERATORS: usize = 2000;

/// Parses a text that is one term.
///
/// # Errors
/// `E0901` at the first place where the text is no term.
pub fn parse(file: FileId, text: &str) -> Result<Term, Box<Diagnostic>> {
    parse_words(file, text, false)
}

/// The same for a text of this crate, which may use primitives whose names begin with `%`.
pub(crate) fn parse_own(file: FileId, text: &str) -> Result<Term, Box<Diagnostic>> {
    parse_words(file, text, true)
}

fn parse_words(file: FileId, text: &str, own: bool) -> Result<Term, Box<Diagnostic>> {
    let tokens = lex(file, text, own)?;
    let mut parser = Parser { file, text, tokens, pos: 0, nesting: 0 };
    let term = parser.term()?;
    if parser.pos < parser.tokens.len() {
        return Err(parser.expected("an operator or the end of the term"));
    }
    Ok(term)
}

/// Kinds of tokens. A name is a word; everything else that is no number is a mark.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Token {
    Word,
    Number(f64),
    Mark,
}

/// Longer marks first.
const MARKS: [&str; 22] = [
    "&&", "||", "==", "!=", "<=", ">=", "<", ">", "+", "-", "*", "/", "\\", ".", ",", "(", ")", "[", "]", "=", ";", ":",
];

const KEYWORDS: [&str; 5] = ["let", "in", "if", "then", "else"];

fn error(span: Span, message: impl Into<String>) -> Box<Diagnostic> {
    Box::new(Diagnostic::error("E0901", span, message))
}

fn lex(file: FileId, text: &str, own: bool) -> Result<Vec<(Token, Span)>, Box<Diagnostic>> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        let span = |length: usize| Span::new(file, at as u32, (at + length) as u32);
        let length = if c.is_whitespace() {
            c.len_utf8()
        } else if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if c.is_ascii_digit() {
            let length = number(rest);
            let value = rest[..length].parse().map_err(|_| error(span(length), "this is not a number"))?;
            tokens.push((Token::Number(value), span(length)));
            length
        } else if c.is_alphabetic() || c == '_' || (own && c == '%') {
            let inside = |c: char| c.is_alphanumeric() || c == '_' || c == '\'';
            let length = rest[c.len_utf8()..].find(|c: char| !inside(c)).map_or(rest.len(), |at| at + c.len_utf8());
            tokens.push((Token::Word, span(length)));
            length
        } else if let Some(mark) = MARKS.iter().find(|m| rest.starts_with(**m)) {
            tokens.push((Token::Mark, span(mark.len())));
            mark.len()
        } else {
            return Err(error(span(c.len_utf8()), format!("`{}` means nothing here", c.escape_default())));
        };
        at += length;
    }
    Ok(tokens)
}

/// The length of the number at the start: digits, a fraction, an exponent. The point of `1.` belongs to what follows.
fn number(text: &str) -> usize {
    let bytes = text.as_bytes();
    let digits = |mut i: usize| {
        while bytes.get(i).is_some_and(u8::is_ascii_digit) {
            i += 1;
        }
        i
    };
    let mut end = digits(0);
    if bytes.get(end) == Some(&b'.') && bytes.get(end + 1).is_some_and(u8::is_ascii_digit) {
        end = digits(end + 1);
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        if bytes.get(end + 1 + sign).is_some_and(u8::is_ascii_digit) {
            end = digits(end + 1 + sign);
        }
    }
    end
}

struct Parser<'t> {
    file: FileId,
    text: &'t str,
    tokens: Vec<(Token, Span)>,
    pos: usize,
    nesting: usize,
}

type Parsed<T> = Result<T, Box<Diagnostic>>;

impl<'t> Parser<'t> {
    fn here(&self) -> Span {
        let end = self.text.len() as u32;
        self.tokens.get(self.pos).map_or(Span::new(self.file, end, end), |t| t.1)
    }

    fn text_at(&self, pos: usize) -> &'t str {
        self.tokens.get(pos).map_or("", |t| &self.text[t.1.start as usize..t.1.end as usize])
    }

    fn at(&self, text: &str) -> bool {
        self.text_at(self.pos) == text
    }

    fn eat(&mut self, text: &str) -> bool {
        let found = self.at(text);
        self.pos += usize::from(found);
        found
    }

    fn expected(&self, what: &str) -> Box<Diagnostic> {
        let found = match self.text_at(self.pos) {
            "" => "the end of the text".to_string(),
            text => format!("`{text}`"),
        };
        Box::new(error(self.here(), format!("expected {what}, found {found}")).at(format!("expected {what}")))
    }

    fn expect(&mut self, text: &str) -> Parsed<()> {
        if self.eat(text) { Ok(()) } else { Err(self.expected(&format!("`{text}`"))) }
    }

    fn deeper<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.nesting == MOST_NESTING {
            return Err(error(self.here(), format!("terms nest more than {MOST_NESTING} levels deep here")));
        }
        self.nesting += 1;
        let parsed = stacker::maybe_grow(64 * 1024, 1024 * 1024, || parse(self));
        self.nesting -= 1;
        parsed
    }

    /// `\p q. e`, `let p = e in e`, `if c then a else b`, or operators.
    fn term(&mut self) -> Parsed<Term> {
        self.deeper(|p| p.term_here())
    }

    fn term_here(&mut self) -> Parsed<Term> {
        let start = self.here();
        if self.eat("\\") {
            let mut patterns = vec![self.pattern()?];
            while !self.at(".") {
                patterns.push(self.pattern()?);
            }
            self.expect(".")?;
            let mut body = self.term()?;
            let span = start.to(body.span);
            for p in patterns.into_iter().rev() {
                body = Term::new(Kind::Lambda(p, Box::new(body)), span);
            }
            return Ok(body);
        }
        if self.at("let") {
            let mut bindings = Vec::new();
            while self.eat("let") {
                let p = self.pattern()?;
                self.expect("=")?;
                let value = self.term()?;
                self.expect("in")?;
                bindings.push((p, value));
            }
            let body = self.term()?;
            let span = start.to(body.span);
            return Ok(Term::new(Kind::Let(bindings, Box::new(body)), span));
        }
        if self.eat("if") {
            let c = self.term()?;
            self.expect("then")?;
            let a = self.term()?;
            self.expect("else")?;
            let b = self.term()?;
            let span = start.to(b.span);
            return Ok(Term::new(Kind::If(Box::new(c), Box::new(a), Box::new(b)), span));
        }
        self.operators(1)
    }

    /// Operators that bind at least as tightly as `least`; all associate to the left.
    fn operators(&mut self, least: u8) -> Parsed<Term> {
        let mut left = self.unary()?;
        for _ in 0..MOST_OPERATORS {
            let text = self.text_at(self.pos);
            let Some((op, _, tight)) = Infix::ALL.iter().find(|row| row.1 == text && row.2 >= least) else {
                return Ok(left);
            };
            self.pos += 1;
            // A lambda, a `let` or an `if` may end a chain of operators.
            let right = if ["\\", "let", "if"].iter().any(|k| self.at(k)) {
                self.term()?
            } else {
                self.deeper(|p| p.operators(tight + 1))?
            };
            let span = left.span.to(right.span);
            left = Term::new(Kind::Infix(*op, Box::new(left), Box::new(right)), span);
        }
        Err(error(self.here(), format!("more than {MOST_OPERATORS} operators in a row: name a part by `let`")))
    }

    fn unary(&mut self) -> Parsed<Term> {
        let start = self.here();
        if self.eat("-") {
            let inner = self.deeper(Self::unary)?;
            let span = start.to(inner.span);
            return Ok(match inner.kind {
                Kind::Real(r) if !r.is_sign_negative() => Term::new(Kind::Real(-r), span),
                _ => Term::new(Kind::Minus(Box::new(inner)), span),
            });
        }
        self.application()
    }

    fn application(&mut self) -> Parsed<Term> {
        let Some(mut function) = self.atom()? else { return Err(self.expected("a term")) };
        for _ in 0..MOST_OPERATORS {
            if self.at("\\") {
                // `f \x. e`: a lambda may be the last argument.
                return Ok(Term::apply(function, self.term()?));
            }
            match self.atom()? {
                Some(argument) => function = Term::apply(function, argument),
                None => return Ok(function),
            }
        }
        Err(error(self.here(), format!("more than {MOST_OPERATORS} arguments in a row: name a part by `let`")))
    }

    /// A name, a number, or something in brackets; `None` if what comes next begins none of these.
    fn atom(&mut self) -> Parsed<Option<Term>> {
        let start = self.here();
        let Some((token, _)) = self.tokens.get(self.pos).copied() else { return Ok(None) };
        let text = self.text_at(self.pos);
        let kind = match token {
            Token::Word if KEYWORDS.contains(&text) => return Ok(None),
            Token::Word if text == "_" => return Err(self.expected("a term")),
            Token::Word => {
                self.pos += 1;
                Kind::Name(text.into())
            }
            Token::Number(r) => {
                self.pos += 1;
                Kind::Real(r)
            }
            Token::Mark if text == "(" => {
                // `(+)` is the function behind the operator.
                let section = Infix::ALL.iter().find(|row| row.1 == self.text_at(self.pos + 1));
                if let (Some((Infix::Scalar(prim), ..)), ")") = (section, self.text_at(self.pos + 2)) {
                    self.pos += 3;
                    return Ok(Some(Term::new(Kind::Name(prim.name().into()), start.to(self.last()))));
                }
                self.pos += 1;
                let first = self.term()?;
                if self.eat(",") {
                    let second = self.term()?;
                    self.expect(")")?;
                    Kind::Pair(Box::new(first), Box::new(second))
                } else {
                    self.expect(")")?;
                    return Ok(Some(Term::new(first.kind, start.to(self.last()))));
                }
            }
            Token::Mark if text == "[" => {
                self.pos += 1;
                let mut items = Vec::new();
                while !self.at("]") {
                    items.push(self.term()?);
                    if !self.eat(",") {
                        break;
                    }
                }
                self.expect("]")?;
                Kind::List(items)
            }
            Token::Mark => return Ok(None),
        };
        Ok(Some(Term::new(kind, start.to(self.last()))))
    }

    /// The token before the next one.
    fn last(&self) -> Span {
        self.tokens[self.pos - 1].1
    }

    /// `x`, `_`, `(p, q)`, `(J p)`, `(p)`.
    fn pattern(&mut self) -> Parsed<Pattern> {
        self.deeper(|p| p.pattern_here())
    }

    fn pattern_here(&mut self) -> Parsed<Pattern> {
        if self.eat("(") {
            let first = if self.at("J") && !matches!(self.text_at(self.pos + 1), ")" | ",") {
                self.pos += 1;
                Pattern::Reverse(Box::new(self.pattern()?))
            } else {
                self.pattern()?
            };
            if self.eat(",") {
                let second = self.pattern()?;
                self.expect(")")?;
                return Ok(Pattern::Pair(Box::new(first), Box::new(second)));
            }
            self.expect(")")?;
            return Ok(first);
        }
        let text = self.text_at(self.pos);
        match self.tokens.get(self.pos) {
            Some((Token::Word, _)) if text == "_" => {
                self.pos += 1;
                Ok(Pattern::Any)
            }
            Some((Token::Word, _)) if !KEYWORDS.contains(&text) => {
                self.pos += 1;
                Ok(Pattern::Name(Name::from(text)))
            }
            _ => Err(self.expected("a variable")),
        }
    }
}
