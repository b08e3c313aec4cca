//! The state of a check: what is known of the whole program, and of the body at hand.
//!
//! In: the names of all modules. Out: [`Checker`], on which the other files write their part of inference.

use crate::modules::{ItemId, ModId, World};
use crate::types::{Bits, OriginState, T, Types, hole};
use cotan_core::{ConstId, Expr, ExprKind, FnId, Local, LocalFn, LocalFnId, LocalId, ParamId, Pattern, Program, Ty};
use cotan_source::{Diagnostic, IndexVec, Span};
use cotan_syntax::ast;
use indexmap::IndexSet;
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// Why a type is expected, for the label of a mismatch.
#[derive(Clone, Copy)]
pub struct Why {
    pub text: &'static str,
    pub span: Span,
}

impl Why {
    pub fn new(text: &'static str, span: Span) -> Self {
        Why { text, span }
    }
}

/// A type that the context asks for, and why.
pub type Want = Option<(T, Why)>;

/// A generalised type: the parameters are replaced at each use.
#[derive(Clone, Debug)]
pub struct Scheme {
    pub params: Vec<ParamId>,
    pub ty: T,
    /// Whether function types inside get new origins at each use.
    pub origins: bool,
}

impl Scheme {
    pub fn mono(ty: T) -> Self {
        Scheme { params: Vec::new(), ty, origins: false }
    }
}

/// How far an item is.
#[derive(Clone, Debug)]
pub enum ItemState {
    Unchecked,
    Ready(Scheme),
}

/// What a name in a body stands for.
#[derive(Clone)]
pub enum Entry {
    Local(LocalId),
    LocalFn(LocalFnId),
}

/// A function that encloses the code at hand.
pub struct Frame {
    pub kind: FrameKind,
    pub ret: T,
    pub ret_why: Why,
    /// Loops around, innermost last; `false` for a comprehension, which nothing can leave.
    pub loops: Vec<bool>,
    /// The index of its [`Note`].
    pub note: usize,
    /// Checks of the sizes of the result, applied to each `return` too.
    pub result_sizes: Option<crate::sizes::ResultSizes>,
}

/// Kinds of frames.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum FrameKind {
    Function,
    LocalFn,
    Closure,
}

/// What a closure or local function was seen to use, for tangents of known closures.
#[derive(Default)]
pub struct Note {
    pub name: String,
    pub captured: IndexSet<LocalId>,
    pub used_fns: Vec<LocalFnId>,
    /// The serial number of the body whose locals these are.
    pub body: usize,
}

/// A local function while its body is checked.
pub struct LocalFnState {
    pub scheme: Scheme,
    /// Depth of the frame that declares it.
    pub depth: usize,
    pub note: usize,
}

/// The body of one top-level item.
pub struct Body<'a> {
    pub module: ModId,
    pub serial: usize,
    pub locals: IndexVec<LocalId, Local>,
    /// Frame depth at which each local is bound.
    pub depths: Vec<usize>,
    pub local_fns: IndexVec<LocalFnId, LocalFn>,
    pub local_fn_states: Vec<LocalFnState>,
    pub names: FxHashMap<&'a str, Vec<Entry>>,
    pub undo: Vec<&'a str>,
    pub frames: Vec<Frame>,
    pub type_names: Vec<(&'a str, T)>,
    /// Patterns that must match everything, checked when types are known: pattern and what it is in.
    pub irrefutable: Vec<(Pattern, &'static str)>,
    /// Operands of `==`, checked when types are known.
    pub equalities: Vec<(T, Span)>,
    /// Whether a type before a dot was not known: what follows from that is not reported again.
    pub reported_unknown: bool,
    /// What the clauses of this body must mention.
    pub mentions: Vec<crate::rules::Mentions>,
    /// For each comprehension around: the first variable bound inside of it.
    pub comprehension_starts: Vec<u32>,
    /// The derivative clause at hand.
    pub clause: Option<crate::rules::ClauseState>,
}

impl<'a> Body<'a> {
    pub fn new(module: ModId, serial: usize) -> Self {
        Body {
            module,
            serial,
            locals: IndexVec::new(),
            depths: Vec::new(),
            local_fns: IndexVec::new(),
            local_fn_states: Vec::new(),
            names: FxHashMap::default(),
            undo: Vec::new(),
            frames: Vec::new(),
            type_names: Vec::new(),
            irrefutable: Vec::new(),
            equalities: Vec::new(),
            reported_unknown: false,
            mentions: Vec::new(),
            comprehension_starts: Vec::new(),
            clause: None,
        }
    }
}

/// How a deferred field or method was resolved.
#[derive(Clone, Debug)]
pub enum Resolution {
    Field(usize),
    TupleField(usize),
    TangentField(usize),
    TangentCapture(String, u32),
    /// A method that is a function: the function, already instantiated.
    Function(Box<Expr>),
    /// An error was reported.
    Failed,
}

/// The checker.
pub struct Checker<'a> {
    pub world: World<'a>,
    pub program: Program,
    pub types: Types,
    pub diagnostics: Vec<Diagnostic>,
    pub states: Vec<ItemState>,
    pub fn_ids: Vec<Option<FnId>>,
    pub notes: Vec<Note>,
    pub body: Body<'a>,
    /// By deferred constraint.
    pub resolutions: FxHashMap<u32, Resolution>,
    /// Uses of functions whose constraints were not known yet: parameter and type.
    pub obligations: Vec<(ParamId, T, Bits, Span)>,
    /// Whether the last expression never yields.
    pub diverges: bool,
    /// Deferred constraints that are methods.
    pub methods: FxHashSet<u32>,
    /// The name of the `let` whose value comes next.
    pub closure_name: Option<&'a str>,
    pub const_ids: FxHashMap<ItemId, ConstId>,
    pub signatures: FxHashMap<ItemId, Rc<crate::infer::Signature<'a>>>,
    pub serial: usize,
    /// Aliases that stand for themselves; they were reported.
    pub recursive_aliases: FxHashSet<crate::modules::AliasId>,
    /// Arguments of the alias that is being expanded.
    pub alias_args: Vec<(&'a str, T, crate::sizes::SizeTree<'a>)>,
}

impl<'a> Checker<'a> {
    pub fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    pub fn error(&mut self, code: &'static str, span: Span, message: impl Into<String>) {
        self.report(Diagnostic::error(code, span, message));
    }

    /// The inference type of a term of the core that is being built.
    pub fn type_of(&self, e: &Expr) -> T {
        crate::types::as_hole(&e.ty).unwrap_or(T::ERROR)
    }

    pub fn make(&self, kind: ExprKind, t: T, span: Span) -> Expr {
        Expr { kind, ty: hole(t), span }
    }

    pub fn error_expr(&self, span: Span) -> Expr {
        self.make(ExprKind::Tuple(Vec::new()), T::ERROR, span)
    }

    pub fn unit_expr(&self, span: Span) -> Expr {
        self.make(ExprKind::Tuple(Vec::new()), T::UNIT, span)
    }

    /// A new local variable that has no name yet.
    pub fn new_local(&mut self, name: &str, t: T, mutable: bool, span: Span) -> LocalId {
        let id = self.body.locals.push(Local { name: name.to_string(), ty: hole(t), mutable, span });
        self.body.depths.push(self.body.frames.len());
        id
    }

    pub fn local_type(&self, id: LocalId) -> T {
        crate::types::as_hole(&self.body.locals[id].ty).unwrap_or(T::ERROR)
    }

    pub fn bind_name(&mut self, name: &'a str, entry: Entry) {
        self.body.names.entry(name).or_default().push(entry);
        self.body.undo.push(name);
    }

    pub fn mark(&self) -> usize {
        self.body.undo.len()
    }

    /// Forgets the names bound since `mark`.
    pub fn leave(&mut self, mark: usize) {
        while self.body.undo.len() > mark {
            if let Some(name) = self.body.undo.pop()
                && let Some(entries) = self.body.names.get_mut(name)
            {
                entries.pop();
            }
        }
    }

    pub fn lookup_local(&self, name: &str) -> Option<Entry> {
        self.body.names.get(name).and_then(|entries| entries.last()).cloned()
    }

    pub fn new_note(&mut self, name: &str) -> usize {
        self.notes.push(Note { name: name.to_string(), body: self.body.serial, ..Note::default() });
        self.notes.len() - 1
    }

    /// Notes that the functions around capture a variable.
    pub fn note_capture(&mut self, id: LocalId) {
        let depth = self.body.depths[id.0 as usize];
        let inner: Vec<usize> = self.body.frames[depth..].iter().map(|f| f.note).collect();
        for note in inner {
            self.notes[note].captured.insert(id);
        }
    }

    /// Notes that the code at hand uses a local variable, and refuses to capture one that changes.
    pub fn use_local(&mut self, id: LocalId, span: Span) -> T {
        if self.body.clause.is_some() {
            self.refuse_linear_value(id, span);
        }
        let depth = self.body.depths[id.0 as usize];
        let inner: Vec<usize> = self.body.frames[depth..].iter().map(|f| f.note).collect();
        if !inner.is_empty() {
            for note in inner {
                self.notes[note].captured.insert(id);
            }
            let local = &self.body.locals[id];
            if local.mutable {
                let (name, bound) = (local.name.clone(), local.span);
                self.report(
                    Diagnostic::error("E0307", span, format!("a closure cannot capture the mutable variable `{name}`"))
                        .at("used inside of a closure or local function")
                        .label(bound, "declared as `mut` here")
                        .hint(format!(
                            "write `let {name} = {name};` before the closure to capture its value at that moment"
                        )),
                );
            }
        }
        self.local_type(id)
    }

    pub fn use_local_fn(&mut self, id: LocalFnId) {
        let depth = self.body.local_fn_states[id.0 as usize].depth;
        let inner: Vec<usize> = self.body.frames.get(depth..).unwrap_or(&[]).iter().map(|f| f.note).collect();
        for note in inner {
            if !self.notes[note].used_fns.contains(&id) {
                self.notes[note].used_fns.push(id);
            }
        }
    }

    /// Replaces the parameters of a scheme by new variables: the types of the parameters, and the whole.
    pub fn instantiate(&mut self, scheme: &Scheme, span: Span) -> (Vec<T>, T) {
        if scheme.params.is_empty() && !scheme.origins {
            return (Vec::new(), scheme.ty);
        }
        let fresh: Vec<T> = scheme
            .params
            .iter()
            .map(|p| {
                let bits = self.types.params[p.0 as usize].bits;
                self.types.fresh_bits(bits, span)
            })
            .collect();
        let map: FxHashMap<ParamId, T> = scheme.params.iter().copied().zip(fresh.iter().copied()).collect();
        for (p, t) in scheme.params.iter().zip(&fresh) {
            let bits = self.types.params[p.0 as usize].bits;
            self.obligations.push((*p, *t, bits, span));
        }
        let mut memo = FxHashMap::default();
        let mut origins = FxHashMap::default();
        let ty = self.copy_type(scheme.ty, &map, &mut memo, &mut origins, span);
        (fresh, ty)
    }

    fn copy_type(
        &mut self,
        t: T,
        map: &FxHashMap<ParamId, T>,
        memo: &mut FxHashMap<T, T>,
        origins: &mut FxHashMap<crate::types::Origin, crate::types::Origin>,
        span: Span,
    ) -> T {
        use crate::types::Node;
        let t = self.types.resolve(t);
        if let Some(done) = memo.get(&t) {
            return *done;
        }
        let copy = match self.types.nodes[t.0 as usize].clone() {
            Node::Float | Node::Float32 | Node::Int | Node::Bool | Node::Str | Node::Error | Node::Var(_) => t,
            Node::Param(p) => map.get(&p).copied().unwrap_or(t),
            Node::Tuple(parts) => {
                let parts = parts.iter().map(|p| self.copy_type(*p, map, memo, origins, span)).collect();
                self.types.tuple(parts)
            }
            Node::Array(elem) => {
                let elem = self.copy_type(elem, map, memo, origins, span);
                self.types.array(elem)
            }
            Node::Adt(id, args) => {
                let args = args.iter().map(|a| self.copy_type(*a, map, memo, origins, span)).collect();
                self.types.adt(id, args)
            }
            Node::Fn(arg, ret, origin) => {
                let arg = self.copy_type(arg, map, memo, origins, span);
                let ret = self.copy_type(ret, map, memo, origins, span);
                let root = self.types.origin(origin);
                let origin = match self.types.origins[root.0 as usize] {
                    OriginState::Unknown { level: u32::MAX } => {
                        *origins.entry(root).or_insert_with(|| self.types.fresh_origin())
                    }
                    _ => root,
                };
                self.types.add(Node::Fn(arg, ret, origin))
            }
            Node::Tangent(inner) => {
                let inner = self.copy_type(inner, map, memo, origins, span);
                self.types.tangent_of(inner, span)
            }
        };
        memo.insert(t, copy);
        copy
    }

    /// The finished form of a type.
    pub fn finished(&mut self, t: T) -> Ty {
        self.types.finish(t, &mut FxHashMap::default())
    }

    /// Looks up a generic parameter that is in scope.
    pub fn type_name(&self, name: &str) -> Option<T> {
        self.body.type_names.iter().rev().find(|(n, _)| *n == name).map(|(_, t)| *t)
    }

    /// Parses an attribute argument that is a text.
    pub fn attribute_text(attributes: &'a [ast::Attribute], name: &str) -> Option<&'a str> {
        let attribute = attributes.iter().find(|a| a.name.name == name)?;
        match &attribute.args.first()?.kind {
            ast::ExprKind::Str(text) => Some(text),
            _ => None,
        }
    }
}
