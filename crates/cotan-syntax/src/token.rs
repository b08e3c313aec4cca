//! The kinds of tokens and how a message names them.
//!
//! In: nothing. Out: [`Kind`] and [`Token`]. Newly true: a token is a kind and a range of bytes.

/// A token: what it is and which bytes it covers.
#[derive(Clone, Copy, Debug)]
pub struct Token {
    /// What it is.
    pub kind: Kind,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

macro_rules! kinds {
    ($( $name:ident $text:literal, )*) => {
        /// Kinds of tokens.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Kind {
            $( #[doc = $text] $name, )*
        }

        impl Kind {
            /// How a message names a token of this kind.
            pub fn describe(self) -> &'static str {
                match self { $( Kind::$name => $text, )* }
            }
        }
    };
}

kinds! {
    Eof "the end of the file",
    Unknown "an unknown character",
    Ident "a name",
    Int "an integer",
    Float "a number",
    Str "a string",
    // Reserved words.
    As "`as`",
    Break "`break`",
    Continue "`continue`",
    Else "`else`",
    Enum "`enum`",
    False "`false`",
    Fn "`fn`",
    For "`for`",
    If "`if`",
    In "`in`",
    Let "`let`",
    Match "`match`",
    Mut "`mut`",
    Return "`return`",
    Struct "`struct`",
    True "`true`",
    Type "`type`",
    Use "`use`",
    While "`while`",
    // Brackets.
    LParen "`(`",
    RParen "`)`",
    LBracket "`[`",
    RBracket "`]`",
    LBrace "`{`",
    RBrace "`}`",
    // Punctuation.
    Comma "`,`",
    Semi "`;`",
    Colon "`:`",
    ColonColon "`::`",
    Dot "`.`",
    DotDot "`..`",
    DotDotEq "`..=`",
    Arrow "`->`",
    FatArrow "`=>`",
    Underscore "`_`",
    At "`@`",
    Pipe "`|`",
    PipePipe "`||`",
    AmpAmp "`&&`",
    Bang "`!`",
    Plus "`+`",
    Minus "`-`",
    Star "`*`",
    StarStar "`**`",
    Slash "`/`",
    Percent "`%`",
    Eq "`=`",
    EqEq "`==`",
    BangEq "`!=`",
    Lt "`<`",
    LtEq "`<=`",
    Gt "`>`",
    GtEq "`>=`",
    PlusEq "`+=`",
    MinusEq "`-=`",
    StarEq "`*=`",
    StarStarEq "`**=`",
    SlashEq "`/=`",
    PercentEq "`%=`",
    AtEq "`@=`",
    // Known only so that a message can say what to write instead.
    Amp "`&`",
    Caret "`^`",
    ColonEq "`:=`",
    Question "`?`",
}

impl Kind {
    /// The reserved word spelled `text`.
    pub fn word(text: &str) -> Option<Kind> {
        Some(match text {
            "as" => Kind::As,
            "break" => Kind::Break,
            "continue" => Kind::Continue,
            "else" => Kind::Else,
            "enum" => Kind::Enum,
            "false" => Kind::False,
            "fn" => Kind::Fn,
            "for" => Kind::For,
            "if" => Kind::If,
            "in" => Kind::In,
            "let" => Kind::Let,
            "match" => Kind::Match,
            "mut" => Kind::Mut,
            "return" => Kind::Return,
            "struct" => Kind::Struct,
            "true" => Kind::True,
            "type" => Kind::Type,
            "use" => Kind::Use,
            "while" => Kind::While,
            "_" => Kind::Underscore,
            _ => return None,
        })
    }

    /// Whether an expression may begin with this token.
    pub fn starts_expr(self) -> bool {
        use Kind::*;
        matches!(
            self,
            Ident
                | Int
                | Float
                | Str
                | True
                | False
                | If
                | Match
                | Return
                | Break
                | Continue
                | LParen
                | LBracket
                | LBrace
                | Pipe
                | PipePipe
                | Bang
                | Minus
                | DotDot
                | DotDotEq
        )
    }

    /// The bracket that closes this one.
    pub fn closer(self) -> Option<Kind> {
        match self {
            Kind::LParen => Some(Kind::RParen),
            Kind::LBracket => Some(Kind::RBracket),
            Kind::LBrace => Some(Kind::RBrace),
            _ => None,
        }
    }

    /// Whether this is a closing bracket.
    pub fn is_closer(self) -> bool {
        matches!(self, Kind::RParen | Kind::RBracket | Kind::RBrace)
    }
}
