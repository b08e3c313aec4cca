//! Slips: what people write who come from Rust, Python, ML or C.
//!
//! In: tokens that do not fit. Out: hints, and where the meaning is plain, the tree of what was meant.

use super::Parser;
use crate::ast::BinaryOp;
use crate::token::Kind;
use cotan_source::Diagnostic;

impl Parser<'_> {
    /// A hint for the next token, where none is expected like it.
    pub(super) fn slip(&self) -> Option<String> {
        let hint = match self.kind() {
            Kind::Ident => return self.slip_of_word(),
            Kind::ColonEq => "write `let x = e;` for a new name, `x = e;` for one that is `mut`",
            Kind::Question => "write `if c { a } else { b }`",
            Kind::Caret => "a power is written `x ** y`",
            Kind::Amp => "there are no references; both of two conditions is `&&`",
            Kind::Pipe => "one of two conditions is `||`; `|` stands between patterns",
            Kind::Eq => "equality is written `==`",
            Kind::Mut => "`mut` stands in a `let`, before the name: `let mut x = e;`",
            Kind::Fn => "a function without a name is written `|x| e`",
            Kind::For if self.nesting > 0 => "`for` is a statement; for an array write `[e for x in xs]`",
            Kind::While if self.nesting > 0 => "`while` is a statement and has no value",
            Kind::Let if self.nesting > 0 => "`let` begins a statement; put it in a block `{ let x = e; .. }`",
            Kind::Else => "`else` follows the `}` of an `if`",
            Kind::Gt if self.pos > 0 && self.tokens[self.pos - 1].kind == Kind::Lt => "inequality is written `!=`",
            Kind::Star if self.pos > 0 && self.tokens[self.pos - 1].kind == Kind::StarStar => {
                "a power is written `x ** y`"
            }
            Kind::Bang => "there are no macros: write a call without `!`",
            _ => return None,
        };
        Some(hint.to_string())
    }

    fn slip_of_word(&self) -> Option<String> {
        let hint = match self.word_at(0) {
            "and" => "both of two conditions is `&&`",
            "or" => "one of two conditions is `||`",
            "not" => "the opposite of a condition is `!c`",
            "mod" => "the remainder is written `a % b`",
            "elif" | "elsif" | "elseif" => "write `else if`",
            "def" | "fun" | "func" | "function" => "functions are declared with `fn`",
            "lambda" => "a function without a name is written `|x| e`",
            "var" | "const" | "static" | "val" => "names are given with `let`, or `let mut` if they change",
            "loop" => "write `while true { .. }`",
            "switch" | "case" => "write `match e { pattern => value, .. }`",
            "class" | "record" | "data" => "records are declared with `struct`, sums with `enum`",
            "import" | "from" | "include" | "require" => "modules are named with `use name;`",
            "impl" | "trait" | "interface" => {
                "there are no methods of types: write functions; `x.f(y)` calls `f(x, y)`"
            }
            "try" | "catch" | "raise" | "throw" => "there are no exceptions: return a `Result`, or `panic(\"why\")`",
            "then" | "do" | "begin" | "end" => "bodies are written in braces `{ .. }`",
            "where" => "constraints stand with the type parameter: `fn f<A: Num>(x: A)`",
            "vjp" | "jvp" | "transpose" => {
                "a derivative clause stands behind the body of a function; a closure gets a rule by `with_vjp(f, rule)`"
            }
            "vpj" | "vjps" | "pullback" => "did you mean `vjp`, the clause for reverse mode?",
            "jpv" | "jvps" => "did you mean `jvp`, the clause for forward mode?",
            "transposed" => "did you mean `transpose`?",
            _ => return None,
        };
        Some(hint.to_string())
    }

    fn refuse(&mut self, message: &str, hint: &str) {
        let diagnostic = Diagnostic::error("E0016", self.here(), message).hint(hint);
        self.report(diagnostic);
    }

    /// `not x`; a call `not(x)` may be of the user's own function.
    pub(super) fn slip_of_not(&mut self) -> bool {
        let operand = matches!(self.nth(1), Kind::Ident | Kind::True | Kind::False);
        if !self.at_word("not") || !operand {
            return false;
        }
        self.refuse("`not` is written `!`", "write `!c`");
        true
    }

    /// Takes something that stands before an operand but does not exist: `&x`, `*x`, `+x`, `move |x|`,
    /// `fn(x) {`, `lambda x:`.
    pub(super) fn slip_before_operand(&mut self) -> bool {
        match self.kind() {
            Kind::Amp => {
                self.refuse("there are no references", "write `x` alone: values are never changed by others");
                self.bump();
                self.eat(Kind::Mut);
            }
            Kind::Star if self.nth(1) == Kind::Ident && !self.after_operator() => {
                self.refuse("there are no pointers", "write `x` alone");
                self.bump();
            }
            Kind::Plus if self.nth(1).starts_expr() && !self.after_operator() => {
                self.refuse("there is no unary `+`", "leave it out");
                self.bump();
            }
            Kind::Mut => {
                let diagnostic = Diagnostic::error("E0020", self.here(), "`mut` does not belong here")
                    .hint("it stands in a `let`, before the name: `let mut x = e;`");
                self.report(diagnostic);
                self.bump();
            }
            Kind::Fn if self.nth(1) == Kind::LParen => {
                self.refuse("a function without a name has no `fn`", "write `|x| e`");
                self.bump();
                let open = self.bump();
                self.list(open, "a parameter", Self::param);
                if self.eat(Kind::Arrow) {
                    self.ty();
                }
                self.eat(Kind::FatArrow);
            }
            Kind::Ident if matches!(self.nth(1), Kind::Pipe | Kind::PipePipe) && self.at_word("move") => {
                self.refuse("closures always capture by value", "leave out `move`");
                self.bump();
            }
            Kind::Ident if self.nth(1) == Kind::Ident && matches!(self.word_at(0), "lambda" | "fun") => {
                self.refuse("a function without a name is written with bars", "write `|x| e`");
                self.bump();
                while matches!(self.kind(), Kind::Ident | Kind::Comma | Kind::Underscore) {
                    self.bump();
                }
                if matches!(self.kind(), Kind::Colon | Kind::Arrow | Kind::FatArrow) {
                    self.bump();
                }
            }
            _ => return false,
        }
        true
    }

    fn after_operator(&self) -> bool {
        self.pos > 0 && super::exprs::binary(self.tokens[self.pos - 1].kind).is_some()
    }

    /// `and`, `or`, `mod`, `^`, `&` between operands, if they bind at least as strongly as `power`.
    pub(super) fn slip_of_operator(&mut self, power: u8) -> Option<(BinaryOp, u8)> {
        use super::exprs::{AND, OR, POWER, PRODUCT};
        let operand = self.nth(1).starts_expr();
        let (op, op_power, message, hint) = match self.kind() {
            Kind::Caret => (BinaryOp::Pow, POWER, "`^` has no meaning", "a power is written `x ** y`"),
            Kind::Amp if operand => (BinaryOp::And, AND, "`&` has no meaning", "both of two conditions is `&&`"),
            Kind::Ident if operand => match self.word_at(0) {
                "and" => (BinaryOp::And, AND, "`and` is written `&&`", "write `a && b`"),
                "or" => (BinaryOp::Or, OR, "`or` is written `||`", "write `a || b`"),
                "mod" => (BinaryOp::Rem, PRODUCT, "`mod` is written `%`", "write `a % b`"),
                _ => return None,
            },
            _ => return None,
        };
        if op_power >= power {
            self.refuse(message, hint);
        }
        Some((op, op_power))
    }

    /// `x++;` and `x--;`.
    pub(super) fn slip_of_increment(&mut self) -> bool {
        let kind = self.kind();
        let found = matches!(kind, Kind::Plus | Kind::Minus)
            && self.nth(1) == kind
            && matches!(self.nth(2), Kind::Semi | Kind::RBrace);
        if found {
            let sign = if kind == Kind::Plus { '+' } else { '-' };
            self.refuse(&format!("there is no `{sign}{sign}`"), &format!("write `x {sign}= 1`"));
            self.bump();
            self.bump();
        }
        found
    }

    /// `e as T`.
    pub(super) fn slip_of_as(&mut self) -> bool {
        self.refuse("there are no casts", "write `float(x)`, `int(x)` or `round(x)`");
        self.bump();
        self.ty();
        true
    }

    /// `elif` for `else if`: the word is left for the caller, who takes it as an `if`.
    pub(super) fn slip_of_elif(&mut self) -> bool {
        let found = matches!(self.word_at(0), "elif" | "elsif" | "elseif") && self.nth(1).starts_expr();
        if found {
            let message = format!("`{}` is written `else if`", self.word_at(0));
            self.refuse(&message, "write `else if`");
        }
        found
    }

    /// Words that begin a statement elsewhere; the token becomes what was meant.
    pub(super) fn slip_before_stmt(&mut self) {
        match self.kind() {
            Kind::Mut if self.nth(1) == Kind::Let => {
                let diagnostic =
                    Diagnostic::error("E0020", self.here(), "`mut` stands after `let`").hint("write `let mut x = e;`");
                self.report(diagnostic);
                self.bump();
            }
            Kind::Mut if self.nth(1) == Kind::Ident => {
                let diagnostic =
                    Diagnostic::error("E0020", self.here(), "`mut` stands in a `let`").hint("write `let mut x = e;`");
                self.report(diagnostic);
                self.tokens[self.pos].kind = Kind::Let;
            }
            Kind::Let if self.word_at(1) == "rec" && self.nth(2) == Kind::Ident => {
                self.bump();
                self.refuse("a recursive function is declared with `fn`", "write `fn f(x) { .. }`");
                self.bump();
            }
            Kind::Ident if self.nth(1) == Kind::LBrace && self.at_word("loop") => {
                self.refuse("there is no `loop`", "write `while true { .. }`");
                self.bump();
            }
            Kind::Ident if matches!(self.nth(1), Kind::Ident | Kind::Mut) => self.slip_of_declaration(),
            _ => {}
        }
    }

    fn slip_of_declaration(&mut self) {
        match self.word_at(0) {
            "def" | "fun" | "func" | "function" => {
                let message = format!("`{}` is written `fn`", self.word_at(0));
                self.refuse(&message, "write `fn f(x: Float) -> Float { .. }`");
                self.tokens[self.pos].kind = Kind::Fn;
            }
            "var" | "const" | "static" | "val" => {
                let message = format!("`{}` is written `let`", self.word_at(0));
                self.refuse(&message, "write `let x = e;`, or `let mut x = e;` if it changes");
                self.tokens[self.pos].kind = Kind::Let;
            }
            _ => {}
        }
    }

    /// Words that begin an item elsewhere; the token becomes what was meant.
    pub(super) fn slip_before_item(&mut self) {
        if self.at_word("pub") && self.nth(1) != Kind::LParen {
            self.everything_is_public();
        }
        if self.at(Kind::Ident) && self.nth(1) == Kind::Ident {
            match self.word_at(0) {
                "import" => {
                    self.refuse("`import` is written `use`", "write `use name;`");
                    self.tokens[self.pos].kind = Kind::Use;
                }
                "class" | "record" => {
                    let message = format!("`{}` is written `struct`", self.word_at(0));
                    self.refuse(&message, "write `struct S { a: Float }`");
                    self.tokens[self.pos].kind = Kind::Struct;
                }
                _ => self.slip_of_declaration(),
            }
        }
    }

    pub(super) fn everything_is_public(&mut self) {
        self.refuse("there is no `pub`", "leave it out: everything at the top level is public");
        self.bump();
    }
}
