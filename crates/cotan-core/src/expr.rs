//! Terms of the core.

use crate::{AdtId, ConstId, FnId, GenericParam, Rule, Ty};
use cotan_source::{Span, define_index};

define_index!(
    /// A local variable of a function (closures inside share the table).
    LocalId,
    "x"
);
define_index!(
    /// A local function.
    LocalFnId,
    "lf"
);

/// A local variable.
#[derive(Clone, Debug)]
pub struct Local {
    /// Name.
    pub name: String,
    /// Type.
    pub ty: Ty,
    /// Whether it may be assigned.
    pub mutable: bool,
    /// Where it is bound.
    pub span: Span,
}

/// A local function; or a `let` of a closure that was generalised. May be recursive, generic and capture.
#[derive(Clone, Debug)]
pub struct LocalFn {
    /// Name.
    pub name: String,
    /// Its own generic parameters (those of the enclosing functions are in scope too).
    pub generics: Vec<GenericParam>,
    /// Variables of enclosing functions that it uses, itself or through other local functions that it calls;
    /// in order of first use.
    pub captures: Vec<LocalId>,
    /// Parameters.
    pub params: Vec<LocalId>,
    /// Result type.
    pub ret: Ty,
    /// The code.
    pub body: Expr,
    /// Derivative rules.
    pub rules: Vec<Rule>,
    /// Its number among all function values that the program makes.
    pub maker: u32,
    /// The name's place.
    pub span: Span,
}

/// An expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Its type. `break`, `continue`, `return` and `panic` have the type that their context demands.
    pub ty: Ty,
    /// Its place.
    pub span: Span,
}

/// A literal.
#[derive(Clone, Debug, PartialEq)]
pub enum Lit {
    /// An `Int`; where the expression's type is a generic parameter, a number of the type it is instantiated to.
    Int(i64),
    /// A `Float`, or `Float32` where the expression's type says so (perhaps after instantiation).
    Float(f64),
    /// A `Bool`.
    Bool(bool),
    /// A `String`.
    Str(String),
}

/// Kinds of expressions.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// A literal.
    Lit(Lit),
    /// A local variable.
    Local(LocalId),
    /// A top-level function or builtin, instantiated (one type per generic parameter, in order).
    Fn(FnId, Vec<Ty>),
    /// A local function, instantiated at its own parameters.
    LocalFn(LocalFnId, Vec<Ty>),
    /// A constant.
    Const(ConstId),
    /// A variant with a payload, used as a function from its payload (tuple if several); the type arguments.
    Ctor(AdtId, usize, Vec<Ty>),
    /// A tuple, also `()`.
    Tuple(Vec<Expr>),
    /// A structure or a variant with its payload, in order of declaration; the type is in `ty`.
    Adt {
        /// Which type.
        adt: AdtId,
        /// Which variant (0 for structures).
        variant: usize,
        /// Fields in order of declaration; evaluated in the order `order` (positions), as written.
        fields: Vec<Expr>,
        /// Order of evaluation.
        order: Vec<usize>,
    },
    /// `S { a: e, ..base }`.
    Update {
        /// The base.
        base: Box<Expr>,
        /// Replaced fields by position, in the order written.
        fields: Vec<(usize, Expr)>,
    },
    /// `[a, b]`.
    Array(Vec<Expr>),
    /// A comprehension. With a filter or an array generator there is one generator.
    Comprehension {
        /// Dimensions.
        generators: Vec<Generator>,
        /// Filter, in the scope of the generator.
        filter: Option<Box<Expr>>,
        /// Element.
        body: Box<Expr>,
    },
    /// A call; the argument is one expression (a tuple literal where several were written).
    Call {
        /// The function.
        callee: Box<Expr>,
        /// The argument.
        arg: Box<Expr>,
    },
    /// An operator; meaning by the operand types, which may be scalars, arrays, scalar and array,
    /// or elements of one tangent space (`+`, `-`), or scalar times tangent.
    Binary {
        /// The operator; `And` and `Or` evaluate the right side only if needed.
        op: BinaryOp,
        /// Left.
        left: Box<Expr>,
        /// Right.
        right: Box<Expr>,
    },
    /// An operator.
    Unary {
        /// The operator.
        op: UnaryOp,
        /// The operand.
        operand: Box<Expr>,
    },
    /// A field of a structure.
    Field {
        /// The structure.
        base: Box<Expr>,
        /// Position.
        index: usize,
    },
    /// A component of a tuple.
    TupleField {
        /// The tuple.
        base: Box<Expr>,
        /// Position.
        index: usize,
    },
    /// A field of a tangent of a structure that is not its own tangent (`base.ty` is `Tangent(Adt)`).
    TangentField {
        /// The tangent.
        base: Box<Expr>,
        /// Position.
        index: usize,
    },
    /// A named capture of the tangent of a known closure (`base.ty` is `Tangent(Fn)`).
    TangentCapture {
        /// The tangent.
        base: Box<Expr>,
        /// Name of the captured variable.
        name: String,
        /// The [`LocalFn::maker`] or [`Closure::maker`] of the closure.
        maker: u32,
    },
    /// `tangent f { w: e }`: captures left out are zero. `function` is a closure value known here.
    TangentLiteral {
        /// The closure.
        function: Box<Expr>,
        /// Captures given: name and value.
        fields: Vec<(String, Expr)>,
        /// The [`LocalFn::maker`] or [`Closure::maker`] of the closure, if it is known.
        maker: Option<u32>,
    },
    /// `tangent(p)` in a `jvp` rule.
    TangentOf(LocalId),
    /// `a[i, j..k]`.
    Index {
        /// The array.
        base: Box<Expr>,
        /// One per axis from the left; fewer than the rank select sub-arrays.
        subscripts: Vec<Subscript>,
    },
    /// `if`.
    If {
        /// Condition.
        cond: Box<Expr>,
        /// Then.
        then: Box<Expr>,
        /// Else; `()` where none was written.
        otherwise: Box<Expr>,
    },
    /// `match` (also `if let`); exhaustive.
    Match {
        /// Scrutinee.
        value: Box<Expr>,
        /// Arms.
        arms: Vec<Arm>,
    },
    /// A block; its value is `result` or `()`.
    Block {
        /// Statements.
        stmts: Vec<Stmt>,
        /// Value.
        result: Option<Box<Expr>>,
    },
    /// A closure.
    Closure(Box<Closure>),
    /// `return e` (from the innermost function or closure).
    Return(Box<Expr>),
    /// `break`.
    Break,
    /// `continue`.
    Continue,
    /// A run-time check of sizes that then yields `value`: used for a checked type annotation or result.
    CheckSizes {
        /// The value.
        value: Box<Expr>,
        /// The checks, in order.
        checks: Vec<SizeCheck>,
    },
}

/// A closure. Captures by value at the place where it stands.
#[derive(Clone, Debug)]
pub struct Closure {
    /// Captured variables in order of first use.
    pub captures: Vec<LocalId>,
    /// Parameters: locals bound before `body` (patterns are destructured at its start).
    pub params: Vec<LocalId>,
    /// The body.
    pub body: Expr,
    /// The name to show: the `let` that binds it, or `closure`.
    pub name: String,
    /// Its number among all function values that the program makes.
    pub maker: u32,
}

/// `p in iter`.
#[derive(Clone, Debug)]
pub struct Generator {
    /// Pattern (irrefutable).
    pub pattern: Pattern,
    /// What is walked.
    pub iter: Iter,
}

/// What a loop or comprehension walks.
#[derive(Clone, Debug)]
pub enum Iter {
    /// `a..b` of `Int`.
    Range(Box<Expr>, Box<Expr>),
    /// The elements of an array along its first axis.
    Array(Box<Expr>),
}

/// A subscript.
#[derive(Clone, Debug)]
pub enum Subscript {
    /// One position.
    At(Expr),
    /// `a..b`; missing ends are the array's.
    Range(Option<Expr>, Option<Expr>),
}

/// An arm.
#[derive(Clone, Debug)]
pub struct Arm {
    /// Pattern.
    pub pattern: Pattern,
    /// Guard.
    pub guard: Option<Expr>,
    /// Value.
    pub body: Expr,
}

/// A pattern.
#[derive(Clone, Debug)]
pub struct Pattern {
    /// What it is.
    pub kind: PatternKind,
    /// Type of what it matches.
    pub ty: Ty,
    /// Its place.
    pub span: Span,
}

/// Kinds of patterns.
#[derive(Clone, Debug)]
pub enum PatternKind {
    /// `_`.
    Wildcard,
    /// Binds a variable.
    Bind(LocalId),
    /// Equal to a literal.
    Lit(Lit),
    /// In a range; ends of type `Int` or `Float`.
    Range {
        /// First.
        start: Option<Lit>,
        /// Last or one past.
        end: Option<Lit>,
        /// Whether `end` is inside.
        inclusive: bool,
    },
    /// A tuple.
    Tuple(Vec<Pattern>),
    /// A structure or a variant; all fields in order of declaration.
    Adt {
        /// Which type.
        adt: AdtId,
        /// Which variant.
        variant: usize,
        /// Field patterns.
        fields: Vec<Pattern>,
    },
    /// The first that matches; all bind the same variables (same `LocalId`s).
    Or(Vec<Pattern>),
}

/// A statement.
#[derive(Clone, Debug)]
pub struct Stmt {
    /// What it is.
    pub kind: StmtKind,
    /// Its place.
    pub span: Span,
}

/// Kinds of statements.
#[derive(Clone, Debug)]
pub enum StmtKind {
    /// `let p = e;` (irrefutable).
    Let {
        /// Pattern.
        pattern: Pattern,
        /// Value.
        value: Expr,
    },
    /// The place where a local function is declared: its captures are taken here.
    LocalFn(LocalFnId),
    /// `x[i].f = e;`, `+=` and so on.
    Assign {
        /// The variable.
        local: LocalId,
        /// The way into it, outermost first.
        path: Vec<PlaceStep>,
        /// Compound operator.
        op: Option<BinaryOp>,
        /// Value.
        value: Expr,
    },
    /// `adjoint(p).f[i] += e;` in the backward part of a rule.
    Adjoint {
        /// Parameter or captured variable.
        local: LocalId,
        /// The way into it.
        path: Vec<PlaceStep>,
        /// A value of the tangent space of the part.
        value: Expr,
    },
    /// An expression whose value is dropped.
    Expr(Expr),
    /// `for`.
    For {
        /// Pattern (irrefutable).
        pattern: Pattern,
        /// What is walked.
        iter: Iter,
        /// Body.
        body: Expr,
    },
    /// `while`.
    While {
        /// Condition.
        cond: Expr,
        /// Body.
        body: Expr,
    },
    /// Binds a size variable: the first source whose outer dimensions are not empty gives it, else 0.
    BindSize {
        /// The `Int` variable.
        local: LocalId,
        /// Array expressions and the axis whose extent is the size, in the order of parameters.
        sources: Vec<(Expr, usize)>,
    },
    /// Run-time checks on entry.
    CheckSizes(Vec<SizeCheck>),
}

/// The extent of `array` along `axis` must be `expected` (no check where an outer dimension of it is empty).
#[derive(Clone, Debug)]
pub struct SizeCheck {
    /// The array: a variable, field or component of one. Inside [`ExprKind::CheckSizes`], `None` is the value itself.
    pub array: Option<Expr>,
    /// The axis.
    pub axis: usize,
    /// An `Int` expression.
    pub expected: Expr,
    /// What to call the array in the message, such as "parameter `x`" or "the result of `f`".
    pub what: String,
    /// The expected size as written, such as `n` or `n + 1`.
    pub size_text: String,
    /// Where the size was written.
    pub span: Span,
}

/// A step into a place.
#[derive(Clone, Debug)]
pub enum PlaceStep {
    /// A field of a structure.
    Field(usize),
    /// A component of a tuple.
    TupleField(usize),
    /// Elements or slices of an array.
    Index(Vec<Subscript>),
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
