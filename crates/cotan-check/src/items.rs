//! Top-level items: the order in which they are checked, and their place in the program.
//!
//! In: all modules with their names. Out: the program. Newly true: each item was checked after what it uses;
//! items that use each other were checked together.

use crate::context::{Body, Checker, Frame, FrameKind, ItemState, Scheme, Why};
use crate::dependencies::{components, uses};
use crate::modules::{Item, ItemId, Kind, World};
use crate::types::{Maker, T, Types};
use cotan_core::{ConstDef, Expr, ExprKind, FnBody, FnDef, FnId, LocalId, Program, Rule, TestDef, Ty};
use cotan_source::{Diagnostic, IndexVec};
use indexmap::IndexSet;
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// A checker that has checked nothing yet.
pub fn checker(world: World<'_>, diagnostics: Vec<Diagnostic>) -> Checker<'_> {
    let count = world.items.len();
    Checker {
        world,
        program: Program::default(),
        types: Types::new(),
        diagnostics,
        states: vec![ItemState::Unchecked; count],
        fn_ids: vec![None; count],
        notes: Vec::new(),
        body: Body::new(0, 0),
        resolutions: FxHashMap::default(),
        obligations: Vec::new(),
        diverges: false,
        methods: FxHashSet::default(),
        closure_name: None,
        const_ids: FxHashMap::default(),
        signatures: FxHashMap::default(),
        serial: 0,
        recursive_aliases: FxHashSet::default(),
        alias_args: Vec::new(),
    }
}

/// An item whose code is inferred but not finished.
struct Pending<'a> {
    item: ItemId,
    body: Body<'a>,
    params: Vec<LocalId>,
    code: Expr,
    rules: Vec<Rule>,
    ret: T,
    errors: usize,
}

impl<'a> Checker<'a> {
    pub fn check_all(&mut self) {
        self.declare_types();
        let (wanted, edges) = self.reachable();
        for item in 0..self.world.items.len() {
            if wanted.contains(&item) && !matches!(self.world.items[item].item, Item::Const(_)) {
                self.fn_ids[item] = Some(self.placeholder(item));
            }
        }
        let order: Vec<ItemId> = wanted.iter().copied().collect();
        let positions: FxHashMap<ItemId, usize> = order.iter().enumerate().map(|(i, item)| (*item, i)).collect();
        let graph: Vec<Vec<usize>> =
            order.iter().map(|item| edges[item].iter().filter_map(|u| positions.get(u).copied()).collect()).collect();
        for component in components(&graph) {
            let items: Vec<ItemId> = component.iter().map(|i| order[*i]).collect();
            let loops = items.len() > 1 || graph[component[0]].contains(&component[0]);
            self.check_group(&items, loops);
        }
        self.list_tests_and_exports();
    }

    /// The items of the roots and what they use, in order of declaration, with what each uses.
    fn reachable(&self) -> (IndexSet<ItemId>, FxHashMap<ItemId, IndexSet<ItemId>>) {
        let mut edges: FxHashMap<ItemId, IndexSet<ItemId>> = FxHashMap::default();
        let mut queue: Vec<ItemId> = (0..self.world.items.len())
            .filter(|i| {
                let info = &self.world.items[*i];
                let root = self.world.library.modules[info.module].kind == Kind::Root;
                root || (matches!(info.item, Item::Fn(_) | Item::Const(_))
                    && self.world.library.modules[info.module].kind == Kind::Imported)
            })
            .collect();
        while let Some(item) = queue.pop() {
            if edges.contains_key(&item) {
                continue;
            }
            let used = uses(&self.world, item);
            queue.extend(used.iter().copied());
            edges.insert(item, used);
        }
        let wanted = (0..self.world.items.len()).filter(|i| edges.contains_key(i)).collect();
        (wanted, edges)
    }

    fn placeholder(&mut self, item: ItemId) -> FnId {
        let info = &self.world.items[item];
        let builtin = Self::attribute_text(&info.outer.attributes, "builtin").map(str::to_string);
        let name = info.name();
        let def = FnDef {
            name: name.name.clone(),
            module: self.world.library.modules[info.module].name.clone(),
            generics: Vec::new(),
            params: Vec::new(),
            ret: Ty::unit(),
            locals: IndexVec::new(),
            local_fns: IndexVec::new(),
            body: match builtin {
                Some(name) => FnBody::Builtin(name),
                None => FnBody::Code(Expr { kind: ExprKind::Tuple(Vec::new()), ty: Ty::unit(), span: name.span }),
            },
            rules: Vec::new(),
            docs: info.outer.docs.clone(),
            span: name.span,
        };
        self.program.fns.push(def)
    }

    fn list_tests_and_exports(&mut self) {
        for item in 0..self.world.items.len() {
            let info = &self.world.items[item];
            let Some(function) = self.fn_ids[item] else { continue };
            if self.world.library.modules[info.module].kind != Kind::Root {
                continue;
            }
            match info.item {
                Item::Fn(_) => self.program.exports.push(function),
                Item::Test(b) => {
                    self.program.tests.push(TestDef { title: b.title.name.clone(), function, span: b.title.span });
                }
                Item::Bench(b) => {
                    self.program.benches.push(TestDef { title: b.title.name.clone(), function, span: b.title.span });
                }
                Item::Const(_) => {}
            }
        }
    }

    fn enter(&mut self, item: ItemId) {
        self.serial += 1;
        self.body = Body::new(self.world.items[item].module, self.serial);
    }

    fn check_group(&mut self, items: &[ItemId], loops: bool) {
        let has_const = items.iter().any(|i| matches!(self.world.items[*i].item, Item::Const(_)));
        if loops && has_const {
            self.report_constant_cycle(items);
        }
        self.types.level = 1;
        let constraints = self.types.deferred.len() as u32;
        for item in items {
            self.enter(*item);
            self.announce(*item);
        }
        let mut pending = Vec::new();
        // What has a full signature comes last: the others may use it at several types.
        let (late, early): (Vec<ItemId>, Vec<ItemId>) =
            items.iter().partition(|i| self.signatures.get(*i).is_some_and(|s| s.annotated));
        for (list, generalize) in [(early, true), (late, false)] {
            let start = pending.len();
            for item in &list {
                self.enter(*item);
                let before = self.diagnostics.len();
                let mut done = self.infer_item(*item);
                self.refuse_large_types(self.world.items[*item].name().span);
                done.errors = before;
                pending.push(done);
            }
            let types: Vec<T> =
                if generalize { list.iter().filter_map(|i| self.open_type(*i)).collect() } else { Vec::new() };
            // The bodies are put aside: fields of tangents look at the one that is current.
            let mut open = self.settle_bodies(&mut pending[start..], &types, constraints);
            if generalize {
                let declared: Vec<_> =
                    list.iter().filter_map(|i| self.signatures.get(i)).flat_map(|s| s.generics.clone()).collect();
                open.splice(0..0, declared);
                for item in &list {
                    self.make_generic(*item, &open);
                }
            }
        }
        for item in items {
            if let Some(t) = self.open_type(*item) {
                self.open_origins(t, 0);
            }
            if let ItemState::Ready(scheme) = &mut self.states[*item]
                && matches!(self.world.items[*item].item, Item::Fn(_))
            {
                scheme.origins = true;
            }
        }
        self.default_int_literals();
        self.check_points();
        self.check_obligations();
        self.types.level = 0;
        for done in pending {
            self.finish_item(done);
        }
    }

    /// Decides what is left open in bodies, then generalises `types`.
    fn settle_bodies(
        &mut self,
        pending: &mut [Pending<'a>],
        types: &[T],
        constraints: u32,
    ) -> Vec<cotan_core::ParamId> {
        let current = pending.len().saturating_sub(1);
        if let Some(last) = pending.get_mut(current) {
            std::mem::swap(&mut self.body, &mut last.body);
        }
        let generics = self.generalize(types, constraints, true);
        self.default_int_literals();
        if let Some(last) = pending.get_mut(current) {
            std::mem::swap(&mut self.body, &mut last.body);
        }
        generics
    }

    /// Makes an item's type known to the others of its group.
    fn announce(&mut self, item: ItemId) {
        let scheme = match self.world.items[item].item {
            Item::Fn(decl) => {
                let signature = self.signature(decl);
                // A function with a rule attached has the tangents of the function.
                let builtin = Self::attribute_text(&self.world.items[item].outer.attributes, "builtin");
                if let (Some("with_vjp" | "with_jvp"), Some(f)) = (builtin, signature.params.first()) {
                    let _ = self.types.unify(f.0, signature.ret);
                }
                let args = signature.params.iter().map(|p| p.0).collect();
                let arg = self.types.argument(args);
                let ty = match self.fn_ids[item] {
                    Some(id) => self.types.made_function(arg, signature.ret, Maker::Fn(id)),
                    None => self.types.function(arg, signature.ret),
                };
                let generic = signature.annotated;
                let scheme = if generic {
                    Scheme { params: signature.generics.clone(), ty, origins: false }
                } else {
                    Scheme::mono(ty)
                };
                self.signatures.insert(item, Rc::new(signature));
                scheme
            }
            Item::Const(decl) => {
                let ty = match &decl.ty {
                    Some(written) => self.written(written, true).0,
                    None => self.types.fresh(decl.name.span),
                };
                let id = self.program.consts.push(ConstDef {
                    name: decl.name.name.clone(),
                    ty: Ty::unit(),
                    locals: IndexVec::new(),
                    local_fns: IndexVec::new(),
                    value: Expr { kind: ExprKind::Tuple(Vec::new()), ty: Ty::unit(), span: decl.name.span },
                    span: decl.name.span,
                });
                self.const_ids.insert(item, id);
                Scheme::mono(ty)
            }
            Item::Test(_) | Item::Bench(_) => Scheme::mono(T::UNIT),
        };
        self.states[item] = ItemState::Ready(scheme);
    }

    fn open_type(&self, item: ItemId) -> Option<T> {
        match &self.states[item] {
            ItemState::Ready(scheme) if matches!(self.world.items[item].item, Item::Fn(_)) => Some(scheme.ty),
            _ => None,
        }
    }

    fn make_generic(&mut self, item: ItemId, generics: &[cotan_core::ParamId]) {
        if let ItemState::Ready(scheme) = &mut self.states[item]
            && matches!(self.world.items[item].item, Item::Fn(_))
        {
            scheme.params = generics.to_vec();
        }
    }

    fn infer_item(&mut self, item: ItemId) -> Pending<'a> {
        match self.world.items[item].item {
            Item::Fn(decl) => {
                let signature = match self.signatures.get(&item) {
                    Some(s) => Rc::clone(s),
                    None => Rc::new(self.signature(decl)),
                };
                let note = self.new_note(&decl.name.name);
                let (params, code, rules) = self.function_code(decl, &signature, FrameKind::Function, note);
                self.pending(item, params, code, rules, signature.ret)
            }
            Item::Const(decl) => {
                let t = self.open_const(item);
                self.closure_name = Some(&decl.name.name);
                let why = decl.ty.as_ref().map_or(Why::new("the constant", decl.name.span), |w| {
                    Why::new("declared with this type here", w.span)
                });
                let mut code = self.expr(&decl.value, Some((t, why)));
                self.closure_name = None;
                if let Some(written) = &decl.ty {
                    let (_, tree) = self.written(written, true);
                    if let Some(sizes) = self.result_sizes(&tree, t, format!("`{}`", decl.name.name), true) {
                        code = self.checked(code, &sizes);
                    }
                }
                self.pending(item, Vec::new(), code, Vec::new(), t)
            }
            Item::Test(b) | Item::Bench(b) => {
                let note = self.new_note(&b.title.name);
                let why = Why::new("a test has no value", b.title.span);
                self.body.frames.push(Frame {
                    kind: FrameKind::Function,
                    ret: T::UNIT,
                    ret_why: why,
                    loops: Vec::new(),
                    note,
                    result_sizes: None,
                });
                let code = self.block(&b.body, Some((T::UNIT, why)));
                self.body.frames.pop();
                self.pending(item, Vec::new(), code, Vec::new(), T::UNIT)
            }
        }
    }

    fn open_const(&self, item: ItemId) -> T {
        match &self.states[item] {
            ItemState::Ready(scheme) => scheme.ty,
            ItemState::Unchecked => T::ERROR,
        }
    }

    fn pending(&mut self, item: ItemId, params: Vec<LocalId>, code: Expr, rules: Vec<Rule>, ret: T) -> Pending<'a> {
        let body = std::mem::replace(&mut self.body, Body::new(0, 0));
        Pending { item, body, params, code, rules, ret, errors: 0 }
    }

    /// Constraints of generic parameters that were found after they were used.
    fn check_obligations(&mut self) {
        for (p, t, known, span) in std::mem::take(&mut self.obligations) {
            let bits = self.types.params[p.0 as usize].bits;
            if bits != known {
                self.require(t, bits, span, None);
            }
        }
    }

    /// Types that nothing but their tangents decide: tangents are never solved backwards.
    fn check_points(&mut self) {
        for point in std::mem::take(&mut self.types.points) {
            self.refuse_undecided_point(point);
        }
    }

    fn finish_item(&mut self, mut done: Pending<'a>) {
        let sound = !self.diagnostics[done.errors.min(self.diagnostics.len())..].iter().any(Diagnostic::is_error);
        let generics = match &self.states[done.item] {
            ItemState::Ready(scheme) => scheme.params.clone(),
            ItemState::Unchecked => Vec::new(),
        };
        let generics = self.generic_params(&generics);
        if let Some(id) = self.fn_ids[done.item] {
            self.program.fns[id].generics = generics;
        }
        self.finish_body(&mut done.body, &mut done.code, &mut done.rules, sound);
        let ret = self.finished(done.ret);
        if let Some(id) = self.fn_ids[done.item] {
            let def = &mut self.program.fns[id];
            def.params = done.params;
            def.ret = ret;
            def.locals = done.body.locals;
            def.local_fns = done.body.local_fns;
            def.rules = done.rules;
            if let FnBody::Code(code) = &mut def.body {
                *code = done.code;
            }
        } else if let Some(id) = self.const_ids.get(&done.item).copied() {
            let def: &mut ConstDef = &mut self.program.consts[id];
            def.ty = ret;
            def.locals = done.body.locals;
            def.local_fns = done.body.local_fns;
            def.value = done.code;
        }
    }

    fn report_constant_cycle(&mut self, items: &[ItemId]) {
        let constants: Vec<ItemId> =
            items.iter().copied().filter(|i| matches!(self.world.items[*i].item, Item::Const(_))).collect();
        let Some(first) = constants.first() else { return };
        let name = self.world.items[*first].name();
        let mut d = Diagnostic::error("E0111", name.span, format!("the constant `{}` depends on itself", name.name));
        for other in items.iter().filter(|i| *i != first) {
            let other = self.world.items[*other].name();
            d = d.label(other.span, format!("through `{}`", other.name));
        }
        self.report(d);
    }
}
