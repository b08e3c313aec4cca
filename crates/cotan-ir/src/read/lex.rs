//! Tokens of the IR's text.
//!
//! In: text. Out: tokens with their places, the last one [`Tok::End`]. Comments from `//` to the end of the line are gone.

use super::malformed;
use cotan_source::{Diagnostic, FileId, Span};

/// A token.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Tok {
    /// A name or keyword.
    Word(String),
    /// Digits, perhaps after a minus sign, as written.
    Int(String),
    /// A binary64 number.
    F64(f64),
    /// A binary32 number.
    F32(f32),
    /// A text.
    Str(String),
    /// Punctuation.
    Punct(&'static str),
    /// The end of the text.
    End,
}

/// Punctuation, longer ones first.
const PUNCT: &[&str] =
    &["->", "=>", "..", "(", ")", "[", "]", "{", "}", "<", ">", ",", ";", ":", "=", ".", "%", "@", "-", "?"];

/// All tokens of `text`.
pub(super) fn lex(file: FileId, text: &str) -> Result<Vec<(Tok, Span)>, Box<Diagnostic>> {
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        let (tok, len) = if c.is_whitespace() {
            at += c.len_utf8();
            continue;
        } else if rest.starts_with("//") {
            at += rest.find('\n').unwrap_or(rest.len());
            continue;
        } else if c.is_ascii_alphabetic() || c == '_' {
            let len = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len());
            (Some(Tok::Word(rest[..len].into())), len)
        } else if c.is_ascii_digit() || (c == '-' && rest[1..].starts_with(|c: char| c.is_ascii_digit())) {
            number(rest)
        } else if c == '"' {
            string(rest)
        } else {
            match PUNCT.iter().find(|p| rest.starts_with(**p)) {
                Some(p) => (Some(Tok::Punct(p)), p.len()),
                None => (None, c.len_utf8()),
            }
        };
        let span = Span::new(file, at as u32, (at + len) as u32);
        match tok {
            Some(tok) => out.push((tok, span)),
            None => return Err(malformed(span, "this is no token of the intermediate representation")),
        }
        at += len;
    }
    out.push((Tok::End, Span::new(file, text.len() as u32, text.len() as u32)));
    Ok(out)
}

fn digits(text: &str) -> usize {
    text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len())
}

fn number(rest: &str) -> (Option<Tok>, usize) {
    let mut len = usize::from(rest.starts_with('-'));
    len += digits(&rest[len..]);
    let mut float = false;
    if rest[len..].starts_with('.') && digits(&rest[len + 1..]) > 0 {
        len += 1 + digits(&rest[len + 1..]);
        float = true;
    }
    if rest[len..].starts_with(['e', 'E']) {
        let sign = usize::from(rest[len + 1..].starts_with(['-', '+']));
        let exponent = digits(&rest[len + 1 + sign..]);
        if exponent > 0 {
            len += 1 + sign + exponent;
            float = true;
        }
    }
    let text = &rest[..len];
    if rest[len..].starts_with("_f32") {
        (text.parse().ok().map(Tok::F32), len + 4)
    } else if float {
        (text.parse().ok().map(Tok::F64), len)
    } else {
        (Some(Tok::Int(text.into())), len)
    }
}

fn string(rest: &str) -> (Option<Tok>, usize) {
    let mut out = String::new();
    let mut chars = rest.char_indices().skip(1);
    while let Some((i, c)) = chars.next() {
        match c {
            '"' => return (Some(Tok::Str(out)), i + 1),
            '\\' => match chars.next() {
                Some((_, 'n')) => out.push('\n'),
                Some((_, 'r')) => out.push('\r'),
                Some((_, 't')) => out.push('\t'),
                Some((_, 'u')) => {
                    let code: String = chars.by_ref().map(|(_, c)| c).take_while(|c| *c != '}').collect();
                    let code = code.strip_prefix('{').and_then(|c| u32::from_str_radix(c, 16).ok());
                    match code.and_then(char::from_u32) {
                        Some(c) => out.push(c),
                        None => return (None, i + 1),
                    }
                }
                Some((_, c @ ('"' | '\\'))) => out.push(c),
                _ => return (None, i + 1),
            },
            c => out.push(c),
        }
    }
    (None, rest.len())
}
