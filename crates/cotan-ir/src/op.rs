//! Operations. Each says its meaning, its operands and its results; errors at run time carry the statement's span.

use crate::{AdtId, Block, FnId, Var};
use cotan_prim::Prim;
use std::sync::Arc;

/// A literal.
#[derive(Clone, Debug, PartialEq)]
pub enum Lit {
    /// binary64.
    F64(f64),
    /// binary32.
    F32(f32),
    /// Integer.
    I64(i64),
    /// Truth value.
    Bool(bool),
    /// Text.
    Str(Arc<str>),
    /// `()`.
    Unit,
}

/// An operand.
#[derive(Clone, Debug, PartialEq)]
pub enum Atom {
    /// A variable.
    Var(Var),
    /// A literal.
    Lit(Lit),
}

impl Atom {
    /// An integer literal.
    pub fn int(value: i64) -> Atom {
        Atom::Lit(Lit::I64(value))
    }

    /// A binary64 literal.
    pub fn f64(value: f64) -> Atom {
        Atom::Lit(Lit::F64(value))
    }

    /// The variable, if it is one.
    pub fn var(&self) -> Option<Var> {
        match self {
            Atom::Var(v) => Some(*v),
            Atom::Lit(_) => None,
        }
    }
}

impl From<Var> for Atom {
    fn from(v: Var) -> Atom {
        Atom::Var(v)
    }
}

/// Which derivative of a function. See [`Derive`](crate::Derive) for the signatures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Deriv {
    /// Value and tangent.
    Jvp,
    /// Value and residual.
    Fwd,
    /// Residual and cotangents to cotangents.
    Bwd,
    /// The function itself without its own rules: it is differentiated by its body. What it calls keeps its rules.
    Body,
}

/// The type without values: a `Program<Never>` holds no operator of differentiation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Never {}

/// The operators of differentiation, which `cotan-ad` removes. Tangents here are the dense ones of the
/// surface language (zeros filled in, shaped by the point).
#[derive(Clone, Debug, PartialEq)]
pub enum AdOp {
    /// `f: A -> B, x: A, dx: Tangent<A>` to `(B, Tangent<B>)`, a tuple.
    Jvp {
        /// The function.
        f: Atom,
        /// The point.
        x: Atom,
        /// The tangent.
        dx: Atom,
    },
    /// `f: A -> B, x: A` to `(B, fn(Tangent<B>) -> Tangent<A>)`, a tuple.
    Vjp {
        /// The function.
        f: Atom,
        /// The point.
        x: Atom,
    },
    /// `f: A -> B, x: A` to `(B, fn(Tangent<B>) -> (Tangent<fn(A) -> B>, Tangent<A>))`, a tuple.
    Pullback {
        /// The function.
        f: Atom,
        /// The point.
        x: Atom,
    },
}

/// A reduction of a vector of numbers to a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReduceOp {
    /// Sum in the specified order (8 strided partial sums and a fixed fold, blocks above that); 0 if empty.
    Sum,
    /// Product from the left; 1 if empty.
    Product,
    /// Largest; an error if empty; NaN if one is NaN.
    Max,
    /// Smallest; an error if empty; NaN if one is NaN.
    Min,
}

/// A subscript of a slice.
#[derive(Clone, Debug, PartialEq)]
pub enum Sub {
    /// One position; the axis goes.
    At(Atom),
    /// From first to one past the last; the axis stays. `0 <= lo <= hi <= extent` or an error.
    Range(Atom, Atom),
}

/// A step from a tangent or accumulator to a part of it.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// A component of a tuple.
    Proj(u32),
    /// A field of a structure or of the payload of a variant.
    Field {
        /// Type.
        adt: AdtId,
        /// Variant.
        variant: u32,
        /// Position.
        index: u32,
    },
    /// A captured variable of a closure over this code.
    Capture {
        /// The code of the closure at hand.
        code: FnId,
        /// Position.
        index: u32,
    },
    /// Elements of an array: one subscript per axis from the left, missing ones select everything.
    /// `extents` are those of the whole array (needed where nothing was accumulated yet).
    Index {
        /// Subscripts.
        subs: Vec<Sub>,
        /// Extents of the array, one per axis.
        extents: Vec<Atom>,
    },
}

/// A question about the float leaves of a value of any type. Leaves are in order of tuples, fields, captures, and arrays row by
/// row. The answers are constants to differentiation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Inspect {
    /// `x` to a vector of F64: its float leaves.
    LeafNumbers,
    /// `(x, i: I64)` to Str: the path from `x` to its leaf `i`, such as `.layers[2].bias`. Checked.
    LeafName,
    /// `(x, numbers: [F64])` to the dense tangent of `x` with these leaves. Checked: as many as there are.
    TangentFrom,
    /// `(a, b, rtol: F64)`, `a` and `b` of one type, to Str: the path to the first leaf where they differ by more than `rtol`
    /// (relative to the larger one, or to a thousandth of the largest leaf), with what is there; empty if they agree.
    Compare,
}

/// Reports to the outside that change no value; they run in the order of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// `(label: Str, done: I64, total: I64)`.
    Progress,
    /// `(path: Str, text: Str)`.
    WriteText,
}

/// An operation. `A` is [`AdOp`] before differentiation and [`Never`] after it.
#[derive(Clone, Debug, PartialEq)]
pub enum Op<A = Never> {
    /// The operand itself.
    Copy(Atom),
    /// A scalar primitive.
    Prim(Prim, Vec<Atom>),
    /// A scalar primitive on every element; operands are arrays of one shape (checked) or scalars.
    Map(Prim, Vec<Atom>),

    /// Makes a tuple.
    Tuple(Vec<Atom>),
    /// A component of a tuple.
    Proj(Atom, u32),
    /// Makes a structure or variant; fields in order.
    Adt {
        /// Type.
        adt: AdtId,
        /// Variant.
        variant: u32,
        /// Fields.
        fields: Vec<Atom>,
    },
    /// A field; the value is of that variant (an internal error otherwise).
    Field {
        /// The value.
        base: Atom,
        /// Variant.
        variant: u32,
        /// Position.
        index: u32,
    },
    /// Makes a closure over `code`, whose first parameter is the closure itself.
    Closure {
        /// A function with `captures`.
        code: FnId,
        /// Values of the captures in order.
        captures: Vec<Atom>,
    },
    /// A captured variable of `base`, a closure over `code`. Used in the body of `code` on its first parameter.
    Capture {
        /// The closure.
        base: Atom,
        /// Its code.
        code: FnId,
        /// Position.
        index: u32,
    },

    /// Calls a known function.
    Call {
        /// The function.
        func: FnId,
        /// One operand per parameter.
        args: Vec<Atom>,
    },
    /// Calls the derivative `path` (outermost last, empty: the code itself) of the code of `on`, a function value or a
    /// residual; `on` (for a residual: what is in it) is the first argument. A value-attached rule answers here too.
    Dispatch {
        /// Function value, or residual where `path` starts with `Bwd`.
        on: Atom,
        /// Which derivative.
        path: Vec<Deriv>,
        /// Further operands.
        args: Vec<Atom>,
    },
    /// Wraps the residual of `func` (the function whose forward part made it) as [`Type::Residual`](crate::Type::Residual).
    /// Only made by the evaluator's dispatch; never written by a pass.
    Attach {
        /// `true`: `with_jvp`, else `with_vjp`.
        forward: bool,
        /// The function.
        f: Atom,
        /// The rule, a function value.
        rule: Atom,
    },

    /// One of two blocks.
    If {
        /// Condition.
        cond: Atom,
        /// Block.
        then: Block<A>,
        /// Block.
        otherwise: Block<A>,
    },
    /// A block by the variant of `on`; payloads are read by `Field` inside. Arms and default cover all variants.
    Switch {
        /// The value.
        on: Atom,
        /// Variants and their blocks, ascending.
        arms: Vec<(u32, Block<A>)>,
        /// All other variants.
        default: Option<Block<A>>,
    },
    /// `for index in 0..count` with state. The body yields the next state, then the collected values.
    /// Results: final state, then one rank-1 array per collected value. `count <= 0` runs no turn.
    For {
        /// How often.
        count: Atom,
        /// The index, bound in `body`.
        index: Var,
        /// The state, bound in `body`.
        state: Vec<Var>,
        /// Its start.
        init: Vec<Atom>,
        /// The turn.
        body: Block<A>,
    },
    /// `while cond` with state; `cond` yields a Bool; `body` as in `For`.
    While {
        /// The state, bound in `cond` and `body`.
        state: Vec<Var>,
        /// Its start.
        init: Vec<Atom>,
        /// The condition.
        cond: Block<A>,
        /// The turn.
        body: Block<A>,
    },
    /// A parallel comprehension: `body` for all index tuples; its results become arrays. Where a result is an
    /// array itself, all must have one shape (checked) and the ranks add up. Negative extents count as 0.
    Build {
        /// Extents.
        extents: Vec<Atom>,
        /// Indices, bound in `body`.
        indices: Vec<Var>,
        /// Elements.
        body: Block<A>,
    },

    /// An array of the operands (stacked where they are arrays, shapes checked); the type is the result's.
    Array(Vec<Atom>),
    /// An array with `extents` whose elements are `value` (no array).
    Fill {
        /// Extents.
        extents: Vec<Atom>,
        /// Element.
        value: Atom,
    },
    /// An element, or a sub-array where there are fewer subscripts than axes. Checked.
    Index {
        /// The array.
        array: Atom,
        /// Subscripts.
        at: Vec<Atom>,
    },
    /// A slice; missing subscripts select everything. Checked.
    Slice {
        /// The array.
        array: Atom,
        /// Subscripts.
        subs: Vec<Sub>,
    },
    /// The array with the selected part replaced; in place where the operand is not shared. Position and shape checked.
    Update {
        /// The array.
        array: Atom,
        /// Subscripts.
        subs: Vec<Sub>,
        /// The new part: an element, or an array of the part's shape.
        value: Atom,
    },
    /// The extent of an array along an axis.
    Dim {
        /// The array.
        array: Atom,
        /// The axis.
        axis: u32,
    },
    /// A reduction of a vector. `Sum` also takes arrays of higher rank: all their elements, row by row, as one long vector.
    Reduce(ReduceOp, Atom),
    /// The position of the first largest (`true`) or smallest element; an error if empty.
    ArgReduce {
        /// Largest?
        max: bool,
        /// The vector.
        array: Atom,
    },
    /// The stable ascending permutation of a vector, NaN last.
    Argsort(Atom),
    /// `array[positions[i]]` for all i, along the first axis. Checked.
    Gather {
        /// The array.
        array: Atom,
        /// I64 vector.
        positions: Atom,
    },
    /// `base` with `values[i]` added at `positions[i]` along the first axis, in order of i. Checked.
    ScatterAdd {
        /// The array (of floats or integers).
        base: Atom,
        /// I64 vector.
        positions: Atom,
        /// As many values.
        values: Atom,
    },
    /// Two arrays one after the other along the first axis; other extents checked (an empty side with an empty first axis fits).
    Concat(Atom, Atom),
    /// First two axes swapped.
    Transpose(Atom),
    /// Matrix product of ranks (2,2), (2,1), (1,2); each element sums its products from k = 0 upwards. Checked.
    MatMul(Atom, Atom),

    /// Sum in a tangent space, of any type: scalars, tuples, arrays, nominal types, tangents. `Zero` is neutral. Different
    /// variants, sizes or closures: an error that names both.
    SpaceAdd(Atom, Atom),
    /// Negation in a tangent space.
    SpaceNeg(Atom),
    /// `scalar * element` in a tangent space.
    SpaceScale(Atom, Atom),
    /// Inner product in a tangent space, an F64.
    SpaceDot(Atom, Atom),
    /// The dense zero tangent of a value.
    ZeroLike(Atom),
    /// `(x, dx)`: the point along a dense or sparse tangent; parts without floats stay.
    Move(Atom, Atom),

    /// A question about the leaves of a value.
    Inspect(Inspect, Vec<Atom>),

    /// The sparse zero of the result's type (0 for floats, a tuple of zeros, else `Zero`).
    Zero,
    /// A sparse tangent with all zeros filled in, shaped like `like` (the primal value).
    Densify {
        /// The tangent.
        tan: Atom,
        /// The point.
        like: Atom,
    },
    /// A sparse tangent of an array as an array with these extents (elements stay sparse): type `Array(rank, Tan(elem))`.
    Spread {
        /// The tangent.
        tan: Atom,
        /// Extents.
        extents: Vec<Atom>,
    },
    /// A value as sparse tangent of the result's type: an array, structure or dense tangent is one already.
    Sparse(Atom),
    /// A part of a sparse tangent; a part of `Zero` is zero. A mismatch of variants is an error.
    TanPart {
        /// The tangent.
        tan: Atom,
        /// Which part.
        step: Step,
    },
    /// The sparse tangent of a structure or variant.
    TanAdt {
        /// Type.
        adt: AdtId,
        /// Variant.
        variant: u32,
        /// Tangents of the fields.
        fields: Vec<Atom>,
    },
    /// The sparse tangent of a closure.
    TanClosure {
        /// Code.
        code: FnId,
        /// Tangents of the captures.
        captures: Vec<Atom>,
    },
    /// A sparse tangent of an array with the selected part set to `value` (a tangent of the part); in place where not shared.
    TanUpdate {
        /// The tangent.
        tan: Atom,
        /// Subscripts.
        subs: Vec<Sub>,
        /// Extents of the array.
        extents: Vec<Atom>,
        /// The new part.
        value: Atom,
    },

    /// A new accumulator, zero, or with a start (a sparse tangent).
    AccNew(Option<Atom>),
    /// An accumulator that forgets what is added.
    AccNull,
    /// The accumulator of a part: adding to it adds to the whole.
    AccPart {
        /// The accumulator.
        acc: Atom,
        /// Which part.
        step: Step,
    },
    /// Adds a sparse tangent; no result.
    AccAdd {
        /// The accumulator.
        acc: Atom,
        /// What is added.
        value: Atom,
    },
    /// The sum, a sparse tangent; the accumulator is not used after.
    AccTake(Atom),

    /// Structural equality of two values of one type without functions.
    Equal(Atom, Atom),
    /// A value in Cotan's notation.
    ToStr(Atom),
    /// Two texts joined.
    StrConcat(Atom, Atom),
    /// The value, with derivative zero.
    StopGradient(Atom),
    /// The value; with `--probe` it is printed. `backward`: it is the adjoint that comes back.
    Probe {
        /// Label, a Str.
        label: Atom,
        /// The value.
        value: Atom,
        /// Direction.
        backward: bool,
    },
    /// Ends the run with this message unless the condition holds; no result.
    Assert {
        /// Condition.
        cond: Atom,
        /// Message, a Str.
        message: Atom,
    },
    /// Ends the run; the result is of any type.
    Panic(Atom),
    /// Two sizes must be equal; no result. The message names both.
    CheckSize {
        /// What was found.
        actual: Atom,
        /// What was declared.
        expected: Atom,
        /// What has this size, and where the expectation comes from: "axis 0 of parameter `x`", "`n`".
        what: Arc<str>,
        /// The expected size as written.
        size: Arc<str>,
    },
    /// A report to the outside; no result.
    Effect(Effect, Vec<Atom>),

    /// An operator of differentiation.
    Ad(A),
}
