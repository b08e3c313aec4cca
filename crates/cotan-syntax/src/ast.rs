//! The syntax tree. Every node has a span; errors are nodes, so that parsing never fails.

use cotan_source::Span;

/// A name as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ident {
    /// The name.
    pub name: String,
    /// Its place.
    pub span: Span,
}

/// A file.
#[derive(Clone, Debug, PartialEq)]
pub struct Module {
    /// Items in order.
    pub items: Vec<Item>,
    /// Comments as written, `//` and `/* */`, and docs that belong to nothing, in order, for the formatter.
    pub comments: Vec<Ident>,
    /// The whole file.
    pub span: Span,
}

/// A top-level item.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// `///` lines joined by newlines, without the slashes and one blank.
    pub docs: String,
    /// `@name("text", 3)` before the item.
    pub attributes: Vec<Attribute>,
    /// What it is.
    pub kind: ItemKind,
    /// The whole item.
    pub span: Span,
}

/// `@name(arguments)`.
#[derive(Clone, Debug, PartialEq)]
pub struct Attribute {
    /// The name after `@`.
    pub name: Ident,
    /// Literal arguments.
    pub args: Vec<Expr>,
}

/// Kinds of items.
#[derive(Clone, Debug, PartialEq)]
pub enum ItemKind {
    /// `fn f<A>(p: T) -> R { .. } vjp { .. }`.
    Fn(FnDecl),
    /// `struct S<A> { a: A }`.
    Struct(StructDecl),
    /// `enum E<A> { K(A), L, M { a: A } }`.
    Enum(EnumDecl),
    /// `type Op<A> = fn(A) -> A;`.
    Alias(AliasDecl),
    /// `let name: T = expr;`.
    Const(ConstDecl),
    /// `use linalg::{solve, map as std_map};`.
    Use(UseDecl),
    /// `test "name" { .. }`.
    Test(BlockDecl),
    /// `bench "name" { .. }`.
    Bench(BlockDecl),
    /// What could not be parsed; a diagnostic was given.
    Error,
}

/// A function, top level or local.
#[derive(Clone, Debug, PartialEq)]
pub struct FnDecl {
    /// Name.
    pub name: Ident,
    /// Generic parameters, upper case.
    pub generics: Vec<Generic>,
    /// Parameters.
    pub params: Vec<Param>,
    /// Result type.
    pub ret: Option<TypeExpr>,
    /// The body; `None` for `@builtin("...") fn f(x: Float) -> Float;` (library only).
    pub body: Option<Block>,
    /// Derivative clauses after the body.
    pub clauses: Vec<Clause>,
    /// From `fn` to the last clause.
    pub span: Span,
    /// From `fn` to the end of the signature.
    pub head_span: Span,
}

/// A generic parameter `A` or `A: Num`.
#[derive(Clone, Debug, PartialEq)]
pub struct Generic {
    /// Name.
    pub name: Ident,
    /// Constraint name, if written.
    pub constraint: Option<Ident>,
}

/// A parameter of a function or closure.
#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    /// A pattern, mostly a name.
    pub pattern: Pattern,
    /// Its type, if written.
    pub ty: Option<TypeExpr>,
}

/// A derivative clause.
#[derive(Clone, Debug, PartialEq)]
pub struct Clause {
    /// `vjp`, `jvp` or `transpose`.
    pub kind: ClauseKind,
    /// The linear parameters that a `transpose` names.
    pub linear: Vec<Ident>,
    /// Its code; holds [`ExprKind::ReturnWith`].
    pub body: Block,
    /// The whole clause.
    pub span: Span,
}

/// Kinds of clauses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClauseKind {
    /// Reverse rule.
    Vjp,
    /// Forward rule.
    Jvp,
    /// Transpose of a linear function.
    Transpose,
}

/// A structure.
#[derive(Clone, Debug, PartialEq)]
pub struct StructDecl {
    /// Name.
    pub name: Ident,
    /// Generic parameters.
    pub generics: Vec<Generic>,
    /// Fields.
    pub fields: Vec<FieldDecl>,
}

/// A field of a structure or variant.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldDecl {
    /// Docs.
    pub docs: String,
    /// Name.
    pub name: Ident,
    /// Type.
    pub ty: TypeExpr,
}

/// A sum type.
#[derive(Clone, Debug, PartialEq)]
pub struct EnumDecl {
    /// Name.
    pub name: Ident,
    /// Generic parameters.
    pub generics: Vec<Generic>,
    /// Variants.
    pub variants: Vec<VariantDecl>,
}

/// A variant.
#[derive(Clone, Debug, PartialEq)]
pub struct VariantDecl {
    /// Docs.
    pub docs: String,
    /// Name.
    pub name: Ident,
    /// Payload.
    pub fields: VariantFields,
}

/// The payload of a variant.
#[derive(Clone, Debug, PartialEq)]
pub enum VariantFields {
    /// `L`.
    Unit,
    /// `K(A, B)`.
    Tuple(Vec<TypeExpr>),
    /// `M { a: A }`.
    Struct(Vec<FieldDecl>),
}

/// A type alias.
#[derive(Clone, Debug, PartialEq)]
pub struct AliasDecl {
    /// Name.
    pub name: Ident,
    /// Generic parameters.
    pub generics: Vec<Generic>,
    /// Meaning.
    pub ty: TypeExpr,
}

/// A top-level constant.
#[derive(Clone, Debug, PartialEq)]
pub struct ConstDecl {
    /// Name.
    pub name: Ident,
    /// Type, if written.
    pub ty: Option<TypeExpr>,
    /// Value.
    pub value: Expr,
}

/// An import.
#[derive(Clone, Debug, PartialEq)]
pub struct UseDecl {
    /// The module path: `linalg`, `std`, `geometry::shapes`.
    pub path: Vec<Ident>,
    /// `::{a, b as c}`; `None` imports the module's name itself.
    pub names: Option<Vec<UseName>>,
}

/// One imported name.
#[derive(Clone, Debug, PartialEq)]
pub struct UseName {
    /// The name in the module.
    pub name: Ident,
    /// `as` name.
    pub rename: Option<Ident>,
}

/// A test or bench block.
#[derive(Clone, Debug, PartialEq)]
pub struct BlockDecl {
    /// The title as written (without quotes).
    pub title: Ident,
    /// Its code.
    pub body: Block,
}

/// A written type.
#[derive(Clone, Debug, PartialEq)]
pub struct TypeExpr {
    /// What it is.
    pub kind: TypeExprKind,
    /// Its place.
    pub span: Span,
}

/// Kinds of written types.
#[derive(Clone, Debug, PartialEq)]
pub enum TypeExprKind {
    /// `Float`, `Pair<A, B>`, `Tangent<T>`, `shapes::Circle`.
    Path {
        /// The path, at least one name.
        path: Vec<Ident>,
        /// Type arguments.
        args: Vec<TypeExpr>,
    },
    /// `()`, `(A, B)`; a one-element parenthesis is the type itself.
    Tuple(Vec<TypeExpr>),
    /// `[n]T`, `[n + k]T`, `[3]T`, `[]T`.
    Array {
        /// The size expression: names, literals, `+ - *`; `None` for `[]`.
        size: Option<Box<Expr>>,
        /// The element type.
        elem: Box<TypeExpr>,
    },
    /// `fn(A, B) -> C`.
    Fn {
        /// Parameters.
        params: Vec<TypeExpr>,
        /// Result.
        ret: Box<TypeExpr>,
    },
    /// `_`.
    Infer,
    /// What could not be parsed.
    Error,
}

/// `{ statements; result }`.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// Statements.
    pub stmts: Vec<Stmt>,
    /// The value, if the last expression has no semicolon.
    pub result: Option<Box<Expr>>,
    /// From brace to brace.
    pub span: Span,
}

/// A statement.
#[derive(Clone, Debug, PartialEq)]
pub struct Stmt {
    /// What it is.
    pub kind: StmtKind,
    /// Its place.
    pub span: Span,
}

/// Kinds of statements.
#[derive(Clone, Debug, PartialEq)]
pub enum StmtKind {
    /// `let mut p: T = e;`.
    Let {
        /// The pattern; `mut` stands on its bindings.
        pattern: Pattern,
        /// The type, if written.
        ty: Option<TypeExpr>,
        /// The value.
        value: Expr,
    },
    /// A local function, with the docs before it.
    Fn(Box<FnDecl>),
    /// `place = e;`, `place += e;`.
    Assign {
        /// The place: a path of fields, indices and slices; in clauses also `adjoint(p)..`.
        place: Expr,
        /// The operator of a compound assignment.
        op: Option<BinaryOp>,
        /// The value.
        value: Expr,
    },
    /// `e;` or an expression statement that ends in a block.
    Expr(Expr),
    /// `for p in iter { }`.
    For {
        /// The pattern.
        pattern: Pattern,
        /// What is walked: a range or an array.
        iter: Expr,
        /// The body.
        body: Block,
    },
    /// `while c { }`.
    While {
        /// The condition.
        cond: Expr,
        /// The body.
        body: Block,
    },
    /// What could not be parsed.
    Error,
}

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Its place.
    pub span: Span,
}

/// Kinds of expressions.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// `3` (decimal digits, underscores removed).
    Int(String),
    /// `3.0`, `1e-3`.
    Float(f64),
    /// `true`.
    Bool(bool),
    /// `"text"`, unescaped.
    Str(String),
    /// `x`, `linalg::solve`, `Shape::Circle`.
    Path(Vec<Ident>),
    /// `()`, `(a, b)`; `(a)` is [`ExprKind::Paren`].
    Tuple(Vec<Expr>),
    /// `(a)`, also `(a,)`.
    Paren(Box<Expr>),
    /// `[a, b]`.
    Array(Vec<Expr>),
    /// `[e for p in it, q in jt if c]`.
    Comprehension {
        /// The element.
        body: Box<Expr>,
        /// The dimensions.
        generators: Vec<Generator>,
        /// The filter.
        filter: Option<Box<Expr>>,
    },
    /// `S { a: 1.0, ..base }` or `M { a: 1.0 }` of a variant; `S { a }` is `S { a: a }`.
    Struct {
        /// The name.
        path: Vec<Ident>,
        /// Fields in the order written.
        fields: Vec<(Ident, Expr)>,
        /// `..base`.
        base: Option<Box<Expr>>,
    },
    /// `f(a, b)`.
    Call {
        /// The function.
        callee: Box<Expr>,
        /// Arguments as written.
        args: Vec<Expr>,
    },
    /// `x.f(a)`.
    Method {
        /// The receiver.
        receiver: Box<Expr>,
        /// The field or function.
        name: Ident,
        /// Further arguments.
        args: Vec<Expr>,
    },
    /// `e.a`.
    Field {
        /// The value.
        base: Box<Expr>,
        /// The field.
        name: Ident,
    },
    /// `e.0`.
    TupleField {
        /// The value.
        base: Box<Expr>,
        /// The position.
        index: u32,
        /// Where the position stands.
        index_span: Span,
    },
    /// `a[i, j]`, `a[i..j]`, `a[.., k]`.
    Index {
        /// The array.
        base: Box<Expr>,
        /// Subscripts; ranges are [`ExprKind::Range`].
        subscripts: Vec<Expr>,
    },
    /// `a..b`, `..b`, `a..`, `..`: in `for`, comprehensions and subscripts. `a..=b` is read as `a..b + 1`
    /// where the operator's span is that of `..=`.
    Range {
        /// First.
        start: Option<Box<Expr>>,
        /// One past the last.
        end: Option<Box<Expr>>,
    },
    /// `-e`, `!e`.
    Unary {
        /// The operator.
        op: UnaryOp,
        /// The operand.
        operand: Box<Expr>,
    },
    /// `a + b`.
    Binary {
        /// The operator.
        op: BinaryOp,
        /// Where the operator stands.
        op_span: Span,
        /// Left.
        left: Box<Expr>,
        /// Right.
        right: Box<Expr>,
    },
    /// `if c { } else { }`.
    If {
        /// Condition.
        cond: Box<Expr>,
        /// Then.
        then: Block,
        /// `else` block or another `if`.
        otherwise: Option<Box<Expr>>,
    },
    /// `if let p = e { } else { }`.
    IfLet {
        /// Pattern.
        pattern: Pattern,
        /// Scrutinee.
        value: Box<Expr>,
        /// Then.
        then: Block,
        /// Else.
        otherwise: Option<Box<Expr>>,
    },
    /// `match e { p if g => e, }`.
    Match {
        /// Scrutinee.
        value: Box<Expr>,
        /// Arms.
        arms: Vec<Arm>,
    },
    /// `{ .. }`.
    Block(Block),
    /// `|p: T, q| e`.
    Closure {
        /// Parameters.
        params: Vec<Param>,
        /// Result type (only with a block body).
        ret: Option<TypeExpr>,
        /// Body.
        body: Box<Expr>,
    },
    /// `return e`.
    Return(Option<Box<Expr>>),
    /// `return y with |dy| { .. }` (vjp, transpose) or `return y with e` (jvp); `return with ..` without `y`.
    ReturnWith {
        /// The value.
        value: Option<Box<Expr>>,
        /// A closure for `vjp` and `transpose`, the tangent for `jvp`.
        with: Box<Expr>,
    },
    /// `break`.
    Break,
    /// `continue`.
    Continue,
    /// `tangent f { w: e }`: a tangent of the known closure `f`.
    TangentLiteral {
        /// The closure.
        function: Ident,
        /// Captures given.
        fields: Vec<(Ident, Expr)>,
    },
    /// `e: T` in parentheses is not part of the language; kept for recovery.
    Error,
}

/// `p in iter`.
#[derive(Clone, Debug, PartialEq)]
pub struct Generator {
    /// Pattern.
    pub pattern: Pattern,
    /// Range or array.
    pub iter: Expr,
}

/// An arm of a match.
#[derive(Clone, Debug, PartialEq)]
pub struct Arm {
    /// Pattern.
    pub pattern: Pattern,
    /// Guard.
    pub guard: Option<Expr>,
    /// Value.
    pub body: Expr,
}

/// A pattern.
#[derive(Clone, Debug, PartialEq)]
pub struct Pattern {
    /// What it is.
    pub kind: PatternKind,
    /// Its place.
    pub span: Span,
}

/// Kinds of patterns.
#[derive(Clone, Debug, PartialEq)]
pub enum PatternKind {
    /// `_`.
    Wildcard,
    /// `x`, `mut x`; a bare name may turn out to be a unit variant.
    Name {
        /// `mut`.
        mutable: bool,
        /// The name.
        name: Ident,
    },
    /// A literal, also `-3`.
    Literal(Box<Expr>),
    /// `1..5` (half open), `1..=5`.
    Range {
        /// First.
        start: Option<Box<Expr>>,
        /// Last.
        end: Option<Box<Expr>>,
        /// `..=`.
        inclusive: bool,
    },
    /// `(p, q)`.
    Tuple(Vec<Pattern>),
    /// `K(p, q)`, `E::K(p)`, `E::L`.
    Variant {
        /// The path.
        path: Vec<Ident>,
        /// Payload patterns.
        args: Vec<Pattern>,
    },
    /// `S { a, b: p, .. }`.
    Struct {
        /// The path.
        path: Vec<Ident>,
        /// Fields.
        fields: Vec<(Ident, Pattern)>,
        /// `..`.
        rest: bool,
    },
    /// `p | q`.
    Or(Vec<Pattern>),
    /// What could not be parsed.
    Error,
}

/// Unary operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// `-`.
    Neg,
    /// `!`.
    Not,
}

/// Binary operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `*`
    Mul,
    /// `/`
    Div,
    /// `%`
    Rem,
    /// `**`
    Pow,
    /// `@`
    MatMul,
    /// `==`
    Eq,
    /// `!=`
    Ne,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
    /// `&&`
    And,
    /// `||`
    Or,
}
