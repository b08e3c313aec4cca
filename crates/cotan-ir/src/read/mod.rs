//! Programs from their text, as [`print_program`](crate::print_program) writes it.
//!
//! In: text. Out: the program, or what is wrong with the text. Newly true: the text has the form of a program; whether the
//! program is well-formed is the validator's to say. Printing what was read gives the text back (spans if they were
//! printed); numbers of variables are kept, those that the text does not define stand for `()`.

mod lex;
mod op;

use crate::{
    AdtDef, AdtId, AdtKind, Atom, Block, Capture, Deriv, FnId, Func, Lit, Operator, Program, Rules, Stmt, Type, TypeId,
    Var, VarInfo, VariantDef,
};
use cotan_source::{Diagnostic, FileId, Idx, IndexVec, Span};
use lex::{Tok, lex};

type Res<T> = Result<T, Box<Diagnostic>>;

/// How deep blocks and types may nest, so that no text can use up the stack.
const DEPTH: usize = 256;

/// Numbers of variables may exceed what the text defines, but not by much more than this.
const SPARE_IDS: usize = 1 << 16;

fn malformed(span: Span, text: impl Into<String>) -> Box<Diagnostic> {
    Box::new(Diagnostic::error("E0890", span, "malformed text of the intermediate representation").at(text))
}

fn unknown(span: Span, what: &str, name: &str) -> Box<Diagnostic> {
    Box::new(Diagnostic::error("E0891", span, format!("there is no {what} `{name}`")))
}

/// Reads a program. `file` is the place of the text for messages.
pub fn read_program<A: Operator>(file: FileId, text: &str) -> Result<Program<A>, Box<Diagnostic>> {
    let limit = text.len() + SPARE_IDS;
    let toks = lex(file, text)?;
    let mut reader =
        Reader { toks, at: 0, depth: 0, limit, program: Program::default(), vars: IndexVec::new(), named: Vec::new() };
    reader.program()?;
    Ok(reader.program)
}

struct Reader<A> {
    toks: Vec<(Tok, Span)>,
    at: usize,
    depth: usize,
    limit: usize,
    program: Program<A>,
    /// Variables of the function at hand.
    vars: IndexVec<Var, VarInfo>,
    /// Functions and nominal types that were named, to be looked for at the end.
    named: Vec<(char, usize, Span)>,
}

impl<A: Operator> Reader<A> {
    fn peek(&self) -> &Tok {
        &self.toks[self.at].0
    }

    fn span(&self) -> Span {
        self.toks[self.at].1
    }

    fn next(&mut self) -> Tok {
        let tok = self.toks[self.at].0.clone();
        if self.at + 1 < self.toks.len() {
            self.at += 1;
        }
        tok
    }

    fn expected<T>(&self, what: &str) -> Res<T> {
        Err(malformed(self.span(), format!("expected {what}")))
    }

    fn eat(&mut self, punct: &str) -> bool {
        let found = matches!(self.peek(), Tok::Punct(p) if *p == punct);
        if found {
            self.next();
        }
        found
    }

    fn want(&mut self, punct: &str) -> Res<()> {
        if self.eat(punct) { Ok(()) } else { self.expected(&format!("`{punct}`")) }
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let found = matches!(self.peek(), Tok::Word(w) if w == word);
        if found {
            self.next();
        }
        found
    }

    fn want_word(&mut self, word: &str) -> Res<()> {
        if self.eat_word(word) { Ok(()) } else { self.expected(&format!("`{word}`")) }
    }

    fn word(&mut self) -> Res<String> {
        match self.peek().clone() {
            Tok::Word(word) => {
                self.next();
                Ok(word)
            }
            _ => self.expected("a word"),
        }
    }

    /// A name: a word or a text in quotes.
    fn name(&mut self) -> Res<String> {
        match self.peek().clone() {
            Tok::Word(name) | Tok::Str(name) => {
                self.next();
                Ok(name)
            }
            _ => self.expected("a name"),
        }
    }

    fn text(&mut self) -> Res<String> {
        match self.peek().clone() {
            Tok::Str(text) => {
                self.next();
                Ok(text)
            }
            _ => self.expected("a text in quotes"),
        }
    }

    fn number(&mut self) -> Res<u32> {
        match self.peek().clone() {
            Tok::Int(digits) => match digits.parse() {
                Ok(n) => {
                    self.next();
                    Ok(n)
                }
                Err(_) => self.expected("a number below 2^32"),
            },
            _ => self.expected("a number"),
        }
    }

    /// A number with an optional name for the eye.
    fn hinted(&mut self) -> Res<u32> {
        let n = self.number()?;
        self.hint()?;
        Ok(n)
    }

    fn hint(&mut self) -> Res<()> {
        if self.eat(".") {
            self.name()?;
        }
        Ok(())
    }

    /// The number of an id with this prefix, such as `f3`.
    fn id(&mut self, prefix: char, what: &str) -> Res<usize> {
        if let Tok::Word(word) = self.peek()
            && let Some(n) = word.strip_prefix(prefix).and_then(|n| n.parse::<u32>().ok())
        {
            self.next();
            return Ok(n as usize);
        }
        self.expected(what)
    }

    fn reference(&mut self, prefix: char, what: &str) -> Res<usize> {
        let span = self.span();
        let id = self.id(prefix, what)?;
        self.named.push((prefix, id, span));
        self.hint()?;
        Ok(id)
    }

    fn fn_ref(&mut self) -> Res<FnId> {
        Ok(FnId::new(self.reference('f', "a function such as `f0`")?))
    }

    fn adt_ref(&mut self) -> Res<AdtId> {
        Ok(AdtId::new(self.reference('a', "a nominal type such as `a0`")?))
    }

    /// The id at its definition; ids are given in order.
    fn new_id(&mut self, prefix: char, next: usize) -> Res<String> {
        let span = self.span();
        if self.id(prefix, &format!("`{prefix}{next}`"))? != next {
            return Err(malformed(span, format!("the next one is `{prefix}{next}`: they are numbered in order")));
        }
        self.want(".")?;
        self.name()
    }

    fn list<T>(&mut self, close: &str, mut item: impl FnMut(&mut Self) -> Res<T>) -> Res<Vec<T>> {
        let mut out = Vec::new();
        while !self.eat(close) {
            out.push(item(self)?);
            if !self.eat(",") {
                self.want(close)?;
                break;
            }
        }
        Ok(out)
    }

    /// One or more, without closing punctuation.
    fn some<T>(&mut self, mut item: impl FnMut(&mut Self) -> Res<T>) -> Res<Vec<T>> {
        let mut out = vec![item(self)?];
        while self.eat(",") {
            out.push(item(self)?);
        }
        Ok(out)
    }

    fn deeper<T>(&mut self, inner: impl FnOnce(&mut Self) -> Res<T>) -> Res<T> {
        if self.depth >= DEPTH {
            return Err(malformed(self.span(), format!("nested more than {DEPTH} deep")));
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    fn program(&mut self) -> Res<()> {
        loop {
            if self.eat_word("adt") {
                self.adt()?;
            } else if self.eat_word("fn") {
                self.function()?;
            } else if self.eat_word("derived") {
                let of = self.fn_ref()?;
                let which = self.deriv()?;
                let is = self.fn_ref()?;
                self.program.derived.insert((of, which), is);
            } else if self.eat_word("residual") {
                let of = self.fn_ref()?;
                let is = self.adt_ref()?;
                self.program.residuals.insert(of, is);
            } else if *self.peek() == Tok::End {
                break;
            } else {
                return self.expected("`adt`, `fn`, `derived` or `residual`");
            }
        }
        for (prefix, id, span) in &self.named {
            let (defined, what) = match prefix {
                'f' => (self.program.fns.len(), "function"),
                _ => (self.program.adts.len(), "nominal type"),
            };
            if *id >= defined {
                return Err(unknown(*span, what, &format!("{prefix}{id}")));
            }
        }
        Ok(())
    }

    fn deriv(&mut self) -> Res<Deriv> {
        let span = self.span();
        let word = self.word()?;
        let all = [Deriv::Jvp, Deriv::Fwd, Deriv::Bwd, Deriv::Body];
        all.into_iter().find(|d| crate::print::deriv_name(*d) == word).ok_or_else(|| unknown(span, "derivative", &word))
    }

    fn adt(&mut self) -> Res<()> {
        let name = self.new_id('a', self.program.adts.len())?;
        let span = self.span();
        let word = self.word()?;
        let kinds = [AdtKind::Struct, AdtKind::Enum, AdtKind::Residual];
        let kind = kinds.into_iter().find(|k| crate::print::kind_name(*k) == word);
        let kind = kind.ok_or_else(|| unknown(span, "kind of nominal type", &word))?;
        self.want("{")?;
        let variants = self.list("}", |r| {
            let name = r.name()?;
            let named = r.eat("{");
            if !named {
                r.want("(")?;
            }
            let fields = r.list(if named { "}" } else { ")" }, Self::named_type)?;
            Ok(VariantDef { name, named, fields })
        })?;
        self.program.adts.push(AdtDef { name, variants, kind });
        Ok(())
    }

    fn named_type(&mut self) -> Res<(String, TypeId)> {
        let name = self.name()?;
        self.want(":")?;
        Ok((name, self.ty()?))
    }

    fn ty(&mut self) -> Res<TypeId> {
        self.deeper(Self::type_inside)
    }

    fn type_inside(&mut self) -> Res<TypeId> {
        let span = self.span();
        let ty = if self.eat("(") {
            Type::Tuple(self.list(")", Self::ty)?)
        } else if self.eat("[") {
            self.want("]")?;
            Type::Array { rank: 1, elem: self.ty()? }
        } else {
            let word = self.word()?;
            match &word[..] {
                "F64" => Type::F64,
                "F32" => Type::F32,
                "I64" => Type::I64,
                "Bool" => Type::Bool,
                "Str" => Type::Str,
                "Residual" => Type::Residual,
                "fn" => {
                    self.want("(")?;
                    let arg = self.ty()?;
                    self.want(")")?;
                    self.want("->")?;
                    Type::Fn { arg, result: self.ty()? }
                }
                "Tan" | "Acc" => {
                    self.want("<")?;
                    let of = self.ty()?;
                    self.want(">")?;
                    if word == "Tan" { Type::Tan(of) } else { Type::Acc(of) }
                }
                _ => {
                    self.at -= 1;
                    match self.adt_ref() {
                        Ok(id) => Type::Adt(id),
                        Err(_) => return Err(unknown(span, "type", &word)),
                    }
                }
            }
        };
        Ok(self.program.intern(ty))
    }

    fn function(&mut self) -> Res<()> {
        let name = self.new_id('f', self.program.fns.len())?;
        self.want("(")?;
        let params = self.list(")", Self::def)?;
        let results = if self.eat("->") { self.some(Self::ty)? } else { Vec::new() };
        let mut captures = None;
        if self.eat_word("captures") {
            self.want("(")?;
            captures = Some(self.list(")", |r| {
                let (name, ty) = r.named_type()?;
                Ok(Capture { name, ty })
            })?);
        }
        let mut rules = Rules::default();
        if self.eat_word("vjp") {
            self.want("(")?;
            let fwd = self.fn_ref()?;
            self.want(",")?;
            rules.vjp = Some((fwd, self.fn_ref()?));
            self.want(")")?;
        }
        if self.eat_word("jvp") {
            self.want("(")?;
            rules.jvp = Some(self.fn_ref()?);
            self.want(")")?;
        }
        let span = self.place()?;
        let body = self.block("return")?;
        let vars = std::mem::take(&mut self.vars);
        self.program.fns.push(Func { name, params, results, body, vars, captures, rules, span });
        Ok(())
    }

    /// `@file:start..end`, or nothing.
    fn place(&mut self) -> Res<Span> {
        if !self.eat("@") {
            return Ok(Span::NONE);
        }
        let file = FileId(self.number()?);
        self.want(":")?;
        let start = self.number()?;
        self.want("..")?;
        Ok(Span::new(file, start, self.number()?))
    }

    /// The name, if there is one, and number of a variable.
    fn var_name(&mut self) -> Res<(Option<String>, Var)> {
        self.want("%")?;
        let name = match self.peek() {
            Tok::Int(_) => None,
            _ => {
                let name = self.name()?;
                self.want(".")?;
                Some(name)
            }
        };
        let span = self.span();
        let number = self.number()?;
        if number as usize >= self.limit {
            return Err(malformed(span, "the number of a variable is far above the size of the text"));
        }
        Ok((name, Var(number)))
    }

    fn entry(&mut self, v: Var) -> &mut VarInfo {
        while self.vars.len() <= v.index() {
            let ty = self.program.intern(Type::Tuple(Vec::new()));
            self.vars.push(VarInfo { ty, name: None });
        }
        &mut self.vars[v]
    }

    /// A variable with its type, where it is defined.
    fn def(&mut self) -> Res<Var> {
        let (name, v) = self.var_name()?;
        self.want(":")?;
        let ty = self.ty()?;
        *self.entry(v) = VarInfo { ty, name };
        Ok(v)
    }

    fn atom(&mut self) -> Res<Atom> {
        let span = self.span();
        let tok = self.peek().clone();
        let lit = match tok {
            Tok::Punct("%") => {
                let (_, v) = self.var_name()?;
                self.entry(v);
                return Ok(Atom::Var(v));
            }
            Tok::Punct("(") => {
                self.next();
                self.want(")")?;
                return Ok(Atom::Lit(Lit::Unit));
            }
            Tok::Punct("-") => {
                self.next();
                match &self.word()?[..] {
                    "inf" => Lit::F64(f64::NEG_INFINITY),
                    "inf_f32" => Lit::F32(f32::NEG_INFINITY),
                    _ => return Err(malformed(span, "expected `-inf` or a number")),
                }
            }
            Tok::Word(word) => {
                self.next();
                match &word[..] {
                    "true" => Lit::Bool(true),
                    "false" => Lit::Bool(false),
                    "inf" => Lit::F64(f64::INFINITY),
                    "inf_f32" => Lit::F32(f32::INFINITY),
                    "nan" => Lit::F64(self.bits()?.map_or(f64::NAN, f64::from_bits)),
                    "nan_f32" => Lit::F32(self.bits()?.map_or(f32::NAN, |bits| f32::from_bits(bits as u32))),
                    _ => return Err(malformed(span, "expected an operand")),
                }
            }
            Tok::F64(x) => self.lit(Lit::F64(x)),
            Tok::F32(x) => self.lit(Lit::F32(x)),
            Tok::Str(text) => self.lit(Lit::Str(text.into())),
            Tok::Int(digits) => match digits.parse() {
                Ok(i) => self.lit(Lit::I64(i)),
                Err(_) => return Err(malformed(span, "an integer of more than 64 bits")),
            },
            Tok::Punct(_) | Tok::End => return self.expected("an operand"),
        };
        Ok(Atom::Lit(lit))
    }

    fn lit(&mut self, lit: Lit) -> Lit {
        self.next();
        lit
    }

    /// `("7ff8000000000001")`, the bits of a NaN, or nothing.
    fn bits(&mut self) -> Res<Option<u64>> {
        if !self.eat("(") {
            return Ok(None);
        }
        let span = self.span();
        let text = self.text()?;
        self.want(")")?;
        u64::from_str_radix(&text, 16).map(Some).map_err(|_| malformed(span, "expected hexadecimal digits"))
    }

    /// A block in braces whose results follow `word`.
    fn block(&mut self, word: &str) -> Res<Block<A>> {
        self.want("{")?;
        self.deeper(|r| {
            let mut block = Block::default();
            while !r.eat("}") {
                if r.eat_word(word) {
                    block.results = r.some(Self::atom)?;
                    r.want("}")?;
                    break;
                }
                let stmt = r.stmt()?;
                block.stmts.push(stmt);
            }
            Ok(block)
        })
    }

    fn stmt(&mut self) -> Res<Stmt<A>> {
        let mut vars = Vec::new();
        if *self.peek() == Tok::Punct("%") {
            vars = self.some(Self::def)?;
            self.want("=")?;
        }
        let op = self.op()?;
        let span = self.place()?;
        Ok(Stmt { vars, op, span })
    }
}
