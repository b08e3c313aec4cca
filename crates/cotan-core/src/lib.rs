//! The typed core: one meaning per name, one type per term; the last user error is behind us.
//!
//! In: nothing (data only). Out: [`Program`], what `cotan-check` writes and `cotan-lower` reads.
//! Generic functions are kept generic ([`Ty::Param`]); lowering instantiates them.

mod expr;
mod print;
mod ty;
mod walk;

pub use expr::*;
pub use print::{print_fn, print_program, print_signature, print_type};
pub use ty::{Constraint, GenericParam, ParamId, Ty};
pub use walk::{Visitor, walk_expr, walk_pattern, walk_place_step, walk_rule, walk_stmt};

use cotan_source::{IndexVec, Span, define_index};

define_index!(
    /// A structure or enum.
    AdtId,
    "adt"
);
define_index!(
    /// A top-level function (also of the library and builtins).
    FnId,
    "fn"
);
define_index!(
    /// A top-level constant.
    ConstId,
    "const"
);

/// A whole program: the files given and what they use of the library.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// Structures and enums.
    pub adts: IndexVec<AdtId, Adt>,
    /// Functions.
    pub fns: IndexVec<FnId, FnDef>,
    /// Constants, in an order in which each uses only earlier ones or functions.
    pub consts: IndexVec<ConstId, ConstDef>,
    /// Test blocks of the root files.
    pub tests: Vec<TestDef>,
    /// Bench blocks of the root files.
    pub benches: Vec<TestDef>,
    /// The functions of the root files that a user can name from outside, in source order.
    pub exports: Vec<FnId>,
}

/// A structure (one variant) or an enum.
#[derive(Clone, Debug)]
pub struct Adt {
    /// Name.
    pub name: String,
    /// Whether it was declared by `struct`.
    pub is_struct: bool,
    /// Generic parameters: `Ty::Param` of these ids occur in the fields.
    pub generics: Vec<GenericParam>,
    /// Variants; a structure has one with its own name.
    pub variants: Vec<Variant>,
    /// Documentation.
    pub docs: String,
    /// The declaration.
    pub span: Span,
}

/// A variant, or the body of a structure.
#[derive(Clone, Debug)]
pub struct Variant {
    /// Name.
    pub name: String,
    /// Whether the fields are named (`M { a: A }` and structures).
    pub named: bool,
    /// Fields; unnamed ones are called `0`, `1`, ...
    pub fields: Vec<Field>,
    /// Its place.
    pub span: Span,
}

/// A field.
#[derive(Clone, Debug)]
pub struct Field {
    /// Name.
    pub name: String,
    /// Type.
    pub ty: Ty,
    /// Sizes written in the declared type, outermost first, one entry per array level reached directly
    /// (`[m][n]Float` has two); `None` for `[]`. Names are local to the structure: equal names must agree.
    pub sizes: Vec<Option<SizeName>>,
    /// Its place.
    pub span: Span,
}

/// A size in a field's type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SizeName {
    /// A name, local to the structure.
    Name(String),
    /// A number.
    Number(i64),
}

/// A top-level function.
#[derive(Clone, Debug)]
pub struct FnDef {
    /// Name.
    pub name: String,
    /// The module it stands in (`main` file: its stem; library: `std::linalg` etc.).
    pub module: String,
    /// Generic parameters.
    pub generics: Vec<GenericParam>,
    /// Parameters in order. The function's one argument is `()` / the parameter / their tuple.
    pub params: Vec<LocalId>,
    /// Result type.
    pub ret: Ty,
    /// All local variables of the body, those of nested closures and local functions included.
    pub locals: IndexVec<LocalId, Local>,
    /// Local functions of the body, at any depth.
    pub local_fns: IndexVec<LocalFnId, LocalFn>,
    /// The code.
    pub body: FnBody,
    /// Derivative rules.
    pub rules: Vec<Rule>,
    /// Documentation.
    pub docs: String,
    /// The name of the function.
    pub span: Span,
}

impl FnDef {
    /// The type of the single argument.
    pub fn arg_ty(&self) -> Ty {
        argument_ty(self.params.iter().map(|p| self.locals[*p].ty.clone()).collect())
    }
}

/// The type of the single argument that stands for several: `()`, the type itself, or their tuple.
pub fn argument_ty(mut tys: Vec<Ty>) -> Ty {
    if tys.len() == 1 { tys.remove(0) } else { Ty::Tuple(tys) }
}

/// Where the code of a function comes from.
#[derive(Clone, Debug)]
pub enum FnBody {
    /// Cotan code.
    Code(Expr),
    /// An operation of the compiler, by its name in `@builtin("name")`.
    Builtin(String),
}

/// A derivative rule (clause) of a function. `body` binds and uses locals of the enclosing [`FnDef`].
#[derive(Clone, Debug)]
pub enum Rule {
    /// `vjp { forward; return value with |dy| backward }`.
    Vjp {
        /// Runs forward, in the scope of parameters and captures.
        forward: Vec<Stmt>,
        /// The value; `None`: that of the body.
        value: Option<Expr>,
        /// Binds the cotangent of the result.
        dy: Pattern,
        /// Runs backward; holds [`StmtKind::Adjoint`].
        backward: Expr,
        /// The clause.
        span: Span,
    },
    /// `jvp { stmts; return value with tangent }`; `tangent(p)` is [`ExprKind::TangentOf`].
    Jvp {
        /// Statements.
        stmts: Vec<Stmt>,
        /// The value; `None`: that of the body.
        value: Option<Expr>,
        /// Its tangent.
        tangent: Expr,
        /// The clause.
        span: Span,
    },
    /// `transpose(v) { stmts; return with |y| backward }`.
    Transpose {
        /// Linear parameters.
        linear: Vec<LocalId>,
        /// Statements before.
        forward: Vec<Stmt>,
        /// Binds the cotangent of the result.
        dy: Pattern,
        /// Runs backward.
        backward: Expr,
        /// The clause.
        span: Span,
    },
}

/// A top-level constant.
#[derive(Clone, Debug)]
pub struct ConstDef {
    /// Name.
    pub name: String,
    /// Type (no parameters).
    pub ty: Ty,
    /// Locals of the value.
    pub locals: IndexVec<LocalId, Local>,
    /// Local functions of the value.
    pub local_fns: IndexVec<LocalFnId, LocalFn>,
    /// The value.
    pub value: Expr,
    /// The name.
    pub span: Span,
}

/// A test or bench block: a function without parameters.
#[derive(Clone, Debug)]
pub struct TestDef {
    /// The title.
    pub title: String,
    /// The function that runs it, with result `()`.
    pub function: FnId,
    /// The title's place.
    pub span: Span,
}
