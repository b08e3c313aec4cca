//! Tokens to tree: the cursor, what is expected, and how to go on after an error.
//!
//! In: tokens. Out: a tree and diagnostics. Newly true: every loop of the parser moves forward, and the
//! tree is at most [`MAX_HEIGHT`] levels high and came from at most `MAX_NESTING` nested calls.

mod exprs;
mod items;
mod patterns;
mod primary;
mod slips;
mod stmts;
mod types;

use crate::MAX_HEIGHT;
use crate::ast::{Expr, Ident, Module};
use crate::lexer::{Doc, lex};
use crate::token::{Kind, Token};
use cotan_source::{Diagnostic, FileId, Span};

/// How deeply constructs may nest: the parser recurses, and a thread's stack may be only 2 MiB.
const MAX_NESTING: usize = 256;

/// How many errors of one file are kept.
const MOST_DIAGNOSTICS: usize = 50;

/// The state of parsing one text.
pub struct Parser<'t> {
    file: FileId,
    text: &'t str,
    tokens: Vec<Token>,
    strings: Vec<(usize, String)>,
    docs: Vec<Doc>,
    /// Docs that belong to something; the others are kept as comments.
    docs_used: Vec<bool>,
    comments: Vec<Ident>,
    diagnostics: Vec<Diagnostic>,
    /// The token that comes next.
    pos: usize,
    /// How deeply we are in.
    nesting: usize,
    /// The height of the tallest tree finished since the node at work was begun.
    height: usize,
    /// The token at which the last syntax error was reported: one is enough.
    error_at: Option<usize>,
    /// Set when the nesting was too deep: the rest is not read.
    aborted: bool,
    /// In the head of `if`, `while`, `match`, `for`, where `S {` begins the body.
    in_head: bool,
}

impl<'t> Parser<'t> {
    /// Begins with `text`.
    pub fn new(file: FileId, text: &'t str) -> Self {
        let lexed = lex(file, text);
        Parser {
            file,
            text,
            docs_used: vec![false; lexed.docs.len()],
            tokens: lexed.tokens,
            strings: lexed.strings,
            docs: lexed.docs,
            comments: lexed.comments,
            diagnostics: lexed.diagnostics,
            pos: 0,
            nesting: 0,
            height: 0,
            error_at: None,
            aborted: false,
            in_head: false,
        }
    }

    /// Parses a whole file.
    pub fn module(mut self) -> (Module, Vec<Diagnostic>) {
        let items = self.items();
        let unused = self.docs.drain(..).zip(&self.docs_used).filter(|(_, used)| !**used);
        for (doc, _) in unused {
            let written = self.text.get(doc.span.start as usize..doc.span.end as usize).unwrap_or("");
            self.comments.push(Ident { name: written.to_string(), span: doc.span });
        }
        self.comments.sort_by_key(|c| c.span);
        let span = Span::new(self.file, 0, self.tokens[self.tokens.len() - 1].end);
        let module = Module { items, comments: self.comments, span };
        (module, in_order(self.diagnostics))
    }

    /// Parses a text that is one expression.
    pub fn lone_expr(mut self) -> (Expr, Vec<Diagnostic>) {
        let expr = self.expr();
        if !self.at(Kind::Eof) {
            self.expected("an operator or the end of the expression");
        }
        (expr, in_order(self.diagnostics))
    }

    // ---- the cursor ----

    fn nth(&self, ahead: usize) -> Kind {
        self.tokens.get(self.pos + ahead).map_or(Kind::Eof, |t| t.kind)
    }

    fn kind(&self) -> Kind {
        self.tokens[self.pos].kind
    }

    fn token(&self) -> Token {
        self.tokens[self.pos]
    }

    fn at(&self, kind: Kind) -> bool {
        self.kind() == kind
    }

    fn word_at(&self, ahead: usize) -> &'t str {
        match self.tokens.get(self.pos + ahead) {
            Some(t) if t.kind == Kind::Ident => self.text_of(*t),
            _ => "",
        }
    }

    fn at_word(&self, word: &str) -> bool {
        self.word_at(0) == word
    }

    fn text_of(&self, token: Token) -> &'t str {
        &self.text[token.start as usize..token.end as usize]
    }

    fn span_of(&self, token: Token) -> Span {
        Span::new(self.file, token.start, token.end)
    }

    fn here(&self) -> Span {
        self.span_of(self.token())
    }

    fn start(&self) -> u32 {
        self.token().start
    }

    /// The end of the last token taken.
    fn prev_end(&self) -> u32 {
        match self.pos.checked_sub(1) {
            Some(prev) => self.tokens[prev].end,
            None => 0,
        }
    }

    /// From `start` to the last token taken.
    fn span_from(&self, start: u32) -> Span {
        Span::new(self.file, start, self.prev_end().max(start))
    }

    /// Whether a line break stands before the next token.
    fn on_new_line(&self) -> bool {
        let (from, to) = (self.prev_end() as usize, self.start() as usize);
        self.text.get(from..to).is_some_and(|gap| gap.contains('\n'))
    }

    /// Takes the next token; the end is never passed.
    fn bump(&mut self) -> Token {
        let token = self.token();
        if token.kind != Kind::Eof {
            self.pos += 1;
        }
        token
    }

    fn eat(&mut self, kind: Kind) -> bool {
        let found = self.at(kind);
        if found {
            self.bump();
        }
        found
    }

    /// The value of the string token just taken.
    fn string_before(&mut self) -> String {
        let index = self.pos.wrapping_sub(1);
        match self.strings.binary_search_by_key(&index, |(token, _)| *token) {
            Ok(found) => self.strings[found].1.clone(),
            Err(_) => String::new(),
        }
    }

    /// The docs that stand before the next token.
    fn take_docs(&mut self) -> String {
        let first = self.docs.partition_point(|d| d.token < self.pos);
        let mut text = String::new();
        for (index, doc) in self.docs.iter().enumerate().skip(first).take_while(|(_, d)| d.token == self.pos) {
            if index > first {
                text.push('\n');
            }
            text.push_str(&doc.text);
            self.docs_used[index] = true;
        }
        text
    }

    // ---- saying what is wrong ----

    /// Reports, unless something was already said of this token.
    fn report(&mut self, diagnostic: Diagnostic) {
        if self.aborted || self.error_at == Some(self.pos) {
            return;
        }
        self.error_at = Some(self.pos);
        self.diagnostics.push(diagnostic);
    }

    /// How a message names the next token.
    fn found(&self) -> String {
        let token = self.token();
        match token.kind {
            Kind::Ident | Kind::Int | Kind::Float => format!("`{}`", self.text_of(token)),
            kind => kind.describe().to_string(),
        }
    }

    fn expectation(&self, what: &str) -> Diagnostic {
        let diagnostic = Diagnostic::error("E0010", self.here(), format!("expected {what}, found {}", self.found()))
            .at(format!("expected {what}"));
        match self.slip() {
            Some(hint) => diagnostic.hint(hint),
            None => diagnostic,
        }
    }

    /// Reports that the next token is not `what`.
    fn expected(&mut self, what: &str) {
        let diagnostic = self.expectation(what);
        self.report(diagnostic);
    }

    /// Takes a token of this kind, or reports that it is not there.
    fn expect(&mut self, kind: Kind) -> bool {
        let found = self.eat(kind);
        if !found {
            self.expected(kind.describe());
        }
        found
    }

    /// Takes a name, or reports and gives an empty one.
    fn ident(&mut self, what: &str) -> Ident {
        let token = self.token();
        if token.kind == Kind::Ident {
            self.bump();
            return Ident { name: self.text_of(token).to_string(), span: self.span_of(token) };
        }
        if !self.reserved_as_name(what) {
            self.expected(what);
        }
        Ident { name: String::new(), span: Span::new(self.file, token.start, token.start) }
    }

    /// Refuses a reserved word where a name belongs, and takes it, if it cannot begin something else.
    fn reserved_as_name(&mut self, what: &str) -> bool {
        let reserved = self.kind_is_word() && !self.at(Kind::Underscore);
        if !reserved || self.on_new_line() || (self.at(Kind::Fn) && self.nth(1) == Kind::Ident) {
            return false;
        }
        let diagnostic = Diagnostic::error("E0010", self.here(), format!("expected {what}, found {}", self.found()))
            .at("a reserved word")
            .hint("choose another name");
        self.report(diagnostic);
        self.bump();
        true
    }

    // ---- depth ----

    /// Parses one more level of nesting; `None` when there are too many.
    fn nested<R>(&mut self, parse: impl FnOnce(&mut Self) -> R) -> Option<R> {
        if self.nesting >= MAX_NESTING || self.aborted {
            self.too_deep();
            return None;
        }
        self.nesting += 1;
        let outside = std::mem::take(&mut self.height);
        let result = parse(self);
        self.height = outside.max(self.height + 1);
        self.nesting -= 1;
        Some(result)
    }

    /// Makes the node at work one level higher, as each `+` of a chain does; `false` when it is too high.
    fn grow(&mut self) -> bool {
        self.height += 1;
        if self.height + self.nesting >= MAX_HEIGHT {
            self.too_deep();
        }
        !self.aborted
    }

    fn too_deep(&mut self) {
        if !self.aborted {
            self.error_at = None;
            self.report(
                Diagnostic::error("E0013", self.here(), "the program nests too deeply here")
                    .hint("give inner parts names with `let`, or make them functions"),
            );
        }
        self.aborted = true;
        self.pos = self.tokens.len() - 1;
    }

    // ---- brackets ----

    /// Takes the closing bracket of `open`, going over what stands before it.
    fn close(&mut self, open: Token, what: &str) {
        let Some(closer) = open.kind.closer() else { return };
        if self.eat(closer) {
            return;
        }
        let unclosed = matches!(self.kind(), Kind::Eof) || self.kind().is_closer();
        if unclosed {
            let message = format!("{} is never closed", open.kind.describe());
            let found = self.found();
            let diagnostic = Diagnostic::error("E0012", self.span_of(open), message)
                .at("opened here")
                .label(self.here(), format!("expected {}, found {found}", closer.describe()));
            let outdented = if self.at(Kind::Eof) { self.outdented_after(open) } else { None };
            let diagnostic = match outdented {
                Some(token) => diagnostic.label(self.span_of(token), "perhaps it was meant to be closed before this"),
                _ => diagnostic,
            };
            self.report(diagnostic);
        } else {
            let diagnostic = self.expectation(what).label(self.span_of(open), "in what is opened here");
            self.report(diagnostic);
        }
        if self.skip_to(closer, false) {
            self.bump();
        }
    }

    /// The first token after the brace `open` that begins a line no further to the right than the line of
    /// `open` does.
    fn outdented_after(&self, open: Token) -> Option<Token> {
        if open.kind != Kind::LBrace || self.error_at == Some(self.pos) {
            return None;
        }
        let before = &self.text[..open.start as usize];
        let line = &before[before.rfind('\n').map_or(0, |n| n + 1)..];
        let indent = line.len() - line.trim_start().len();
        let first = self.tokens.partition_point(|t| t.start < open.start);
        self.tokens[first..].windows(2).map(|pair| (pair[0].end, pair[1])).find_map(|(end, token)| {
            let gap = &self.text[end as usize..token.start as usize];
            let begins_at = gap.len() - gap.rfind('\n')? - 1;
            (begins_at <= indent && !token.kind.is_closer() && token.kind != Kind::Eof).then_some(token)
        })
    }

    /// Reports a closing bracket where none is open.
    fn refuse_closer(&mut self) {
        let diagnostic = Diagnostic::error("E0014", self.here(), format!("{} closes nothing", self.found()))
            .hint("remove it, or look for a bracket that is closed too early");
        self.report(diagnostic);
    }

    /// Skips, bracket by bracket, to `closer` (or a comma); stops before what looks like the next
    /// statement or item. Whether it was found.
    fn skip_to(&mut self, closer: Kind, or_comma: bool) -> bool {
        let mut open: Vec<Kind> = Vec::new();
        loop {
            let kind = self.kind();
            if open.is_empty() && (kind == closer || (or_comma && kind == Kind::Comma)) {
                return true;
            }
            match kind {
                Kind::Eof => return false,
                Kind::Semi | Kind::Let if !open.contains(&Kind::RBrace) => return false,
                Kind::Fn if open.is_empty() && self.nth(1) == Kind::Ident => return false,
                Kind::Struct | Kind::Enum | Kind::Use | Kind::Type => return false,
                _ if kind.is_closer() => {
                    if open.pop() != Some(kind) {
                        return false;
                    }
                }
                _ => open.extend(kind.closer()),
            }
            self.bump();
        }
    }

    /// Parses `item, item, ..` and the closing bracket of `open`, which was taken already.
    fn list<R>(&mut self, open: Token, what: &str, mut item: impl FnMut(&mut Self) -> R) -> Vec<R> {
        let mut list = Vec::new();
        let Some(closer) = open.kind.closer() else { return list };
        let expectation = format!("`,` or {}", closer.describe());
        while !self.at(closer) && !self.at(Kind::Eof) {
            let before = self.pos;
            list.push(item(self));
            if self.eat(Kind::Comma) || self.at(closer) {
                continue;
            }
            let stuck = self.pos == before;
            if stuck {
                self.expected(what);
            } else if self.at(Kind::Semi) && closer == Kind::RBrace {
                let diagnostic = self.expectation(&expectation).hint("separate them with commas");
                self.report(diagnostic);
                self.bump();
                continue;
            } else if self.kind().is_closer() || self.at(Kind::Eof) {
                break;
            } else {
                let diagnostic = self.expectation(&expectation).label(self.span_of(open), "in what is opened here");
                self.report(diagnostic);
                // Most likely only the comma is missing.
                if self.kind().starts_expr() && self.error_at == Some(self.pos) && !self.kind_is_word() {
                    continue;
                }
            }
            if !self.skip_to(closer, true) {
                break;
            }
            self.eat(Kind::Comma);
        }
        self.close(open, &expectation);
        list
    }

    /// Whether the next token is a reserved word: a poor guess for the next element of a list.
    fn kind_is_word(&self) -> bool {
        Kind::word(self.text_of(self.token())).is_some()
    }
}

/// Diagnostics in the order of the text, not more than anybody reads.
fn in_order(mut diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
    diagnostics.sort_by_key(|d| (d.primary.span, d.code));
    let surplus = diagnostics.len().saturating_sub(MOST_DIAGNOSTICS);
    diagnostics.truncate(MOST_DIAGNOSTICS);
    if surplus > 0
        && let Some(last) = diagnostics.pop()
    {
        diagnostics.push(last.note(format!("{surplus} more errors in this file are not shown")));
    }
    diagnostics
}
