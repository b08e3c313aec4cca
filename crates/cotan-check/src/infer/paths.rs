//! Names in expressions.
//!
//! In: a path. Out: the variable, function, constant or variant that it means, instantiated. Newly true: the
//! name is known, or was reported with what was probably meant.

use crate::context::{Checker, Entry, ItemState, Want};
use crate::modules::{Item, ItemId, Value};
use crate::types::{Maker, T};
use cotan_core::{AdtId, Expr, ExprKind};
use cotan_source::{Diagnostic, Span};
use cotan_syntax::ast;

impl<'a> Checker<'a> {
    pub fn path(&mut self, path: &'a [ast::Ident], span: Span, want: Want) -> Expr {
        match self.resolve_value(path, span) {
            Some((kind, t)) => self.end(kind, t, span, want),
            None => self.error_expr(span),
        }
    }

    /// What a path means, with its type; `None` after a report.
    pub fn resolve_value(&mut self, path: &'a [ast::Ident], span: Span) -> Option<(ExprKind, T)> {
        if let [name] = path
            && let Some(found) = self.local_value(&name.name, span)
        {
            return Some(found);
        }
        let values = self.world.value_path(self.body.module, path);
        match values[..] {
            [value] => self.use_value(value, span),
            [] => {
                self.unknown_value(path, span);
                None
            }
            _ => {
                let names = self.variant_paths(&values);
                let quoted: Vec<String> = names.iter().map(|n| format!("`{n}`")).collect();
                self.report(
                    Diagnostic::error(
                        "E0109",
                        span,
                        format!("`{}` could be several variants", path[path.len() - 1].name),
                    )
                    .hint(format!("write {}", quoted.join(" or "))),
                );
                None
            }
        }
    }

    fn variant_paths(&self, values: &[Value]) -> Vec<String> {
        let names = values.iter().filter_map(|v| match v {
            Value::Variant(adt, i) => {
                let adt = &self.program.adts[*adt];
                Some(format!("{}::{}", adt.name, adt.variants[*i].name))
            }
            Value::Item(_) => None,
        });
        names.collect()
    }

    /// A name bound in the body, if there is one.
    pub fn local_value(&mut self, name: &str, span: Span) -> Option<(ExprKind, T)> {
        match self.lookup_local(name)? {
            Entry::Local(id) => {
                let t = self.use_local(id, span);
                Some((ExprKind::Local(id), t))
            }
            Entry::LocalFn(id) => {
                self.use_local_fn(id);
                let scheme = self.body.local_fn_states[id.0 as usize].scheme.clone();
                let (args, t) = self.instantiate(&scheme, span);
                let args = args.into_iter().map(crate::types::hole).collect();
                Some((ExprKind::LocalFn(id, args), t))
            }
        }
    }

    pub fn use_value(&mut self, value: Value, span: Span) -> Option<(ExprKind, T)> {
        match value {
            Value::Item(item) => self.use_item(item, span),
            Value::Variant(adt, variant) => Some(self.use_variant(adt, variant, span)),
        }
    }

    fn use_item(&mut self, item: ItemId, span: Span) -> Option<(ExprKind, T)> {
        let scheme = match &self.states[item] {
            ItemState::Ready(scheme) => scheme.clone(),
            // Only after an error in a cycle of constants.
            ItemState::Unchecked => return None,
        };
        match self.world.items[item].item {
            Item::Fn(_) => {
                let id = self.fn_ids[item]?;
                let (args, t) = self.instantiate(&scheme, span);
                let args = args.into_iter().map(crate::types::hole).collect();
                let t = match self.types.node(t).clone() {
                    crate::types::Node::Fn(arg, ret, _) => self.types.made_function(arg, ret, Maker::Fn(id)),
                    _ => t,
                };
                Some((ExprKind::Fn(id, args), t))
            }
            Item::Const(_) => {
                let id = self.const_ids.get(&item).copied()?;
                Some((ExprKind::Const(id), scheme.ty))
            }
            Item::Test(_) | Item::Bench(_) => None,
        }
    }

    fn use_variant(&mut self, adt: AdtId, variant: usize, span: Span) -> (ExprKind, T) {
        let (args, t) = self.fresh_adt(adt, span);
        let shape = &self.program.adts[adt].variants[variant];
        let (named, count, name) = (shape.named, shape.fields.len(), shape.name.clone());
        if named || self.program.adts[adt].is_struct {
            self.report(
                Diagnostic::error("E0110", span, format!("`{name}` has named fields"))
                    .hint(format!("write `{name} {{ {} }}`", self.field_list(adt, variant))),
            );
            return (ExprKind::Tuple(Vec::new()), T::ERROR);
        }
        if count == 0 {
            return (ExprKind::Adt { adt, variant, fields: Vec::new(), order: Vec::new() }, t);
        }
        let fields = (0..count).map(|i| self.field_type(adt, variant, i, &args, span)).collect();
        let arg = self.types.argument(fields);
        let function = self.types.function(arg, t);
        let args = args.into_iter().map(crate::types::hole).collect();
        (ExprKind::Ctor(adt, variant, args), function)
    }

    pub fn field_list(&self, adt: AdtId, variant: usize) -> String {
        let fields = &self.program.adts[adt].variants[variant].fields;
        fields.iter().map(|f| format!("{}: ..", f.name)).collect::<Vec<_>>().join(", ")
    }

    /// A data type with new variables as arguments.
    pub fn fresh_adt(&mut self, adt: AdtId, span: Span) -> (Vec<T>, T) {
        let generics = self.program.adts[adt].generics.clone();
        let args: Vec<T> =
            generics.iter().map(|g| self.types.fresh_bits(crate::types::Bits::of(g.constraint), span)).collect();
        let t = self.types.adt(adt, args.clone());
        (args, t)
    }

    pub fn unknown_value(&mut self, path: &'a [ast::Ident], span: Span) {
        let module = self.body.module;
        if self.world.scopes[module].poisoned.contains(path[0].name.as_str()) {
            return;
        }
        let [name] = path else {
            self.unknown_member(path, span);
            return;
        };
        if let Some(crate::modules::TypeItem::Adt(adt)) = self.world.type_item(module, &name.name) {
            let is_struct = self.program.adts[adt].is_struct;
            let mut d = Diagnostic::error("E0110", span, format!("`{}` is a type, not a value", name.name));
            if is_struct {
                d = d.hint(format!("write `{} {{ {} }}`", name.name, self.field_list(adt, 0)));
            }
            self.report(d);
            return;
        }
        if name.name == "adjoint" && self.body.clause.is_some() {
            self.report(
                Diagnostic::error("E0502", span, "an adjoint cannot be read, only added to")
                    .hint("write `adjoint(p) += ..` in the `with` block"),
            );
            return;
        }
        let mut d = Diagnostic::error("E0101", span, format!("there is nothing called `{}` here", name.name));
        let locals = self.body.names.iter().filter(|(_, e)| !e.is_empty()).map(|(n, _)| *n);
        let scopes = std::iter::once(module).chain(self.world.prelude.iter().copied());
        let globals = scopes.flat_map(|m| {
            let scope = &self.world.scopes[m];
            scope.values.keys().copied().chain(scope.variants.keys().copied())
        });
        if let Some(close) = crate::names::suggestion(&name.name, locals.chain(globals)) {
            d = d.hint(format!("did you mean `{close}`?"));
        } else if self.world.module_named(module, &name.name).is_some() {
            d = d.hint(format!("`{}` is a module: name something in it, `{}::..`", name.name, name.name));
        } else {
            d = match name.name.as_str() {
                "adjoint" => d.note("`adjoint(p) += ..` stands in the `with` block of a `vjp` clause"),
                "tangent" => d.note("`tangent(p)` stands in a `jvp` clause"),
                "None" | "Some" | "Ok" | "Err" => d.note("is the prelude loaded?"),
                _ => d,
            };
        }
        self.report(d);
    }

    fn unknown_member(&mut self, path: &'a [ast::Ident], span: Span) {
        let module = self.body.module;
        let Some((last, prefix)) = path.split_last() else { return };
        let shown: Vec<&str> = prefix.iter().map(|p| p.name.as_str()).collect();
        let shown = shown.join("::");
        let d = if let Some(adt) = self.world.enum_of(module, prefix) {
            let variants = self.world.variant_names[adt.0 as usize].clone();
            let d = Diagnostic::error("E0107", last.span, format!("`{shown}` has no variant `{}`", last.name));
            match crate::names::suggestion(&last.name, variants.iter().copied()) {
                Some(close) => d.hint(format!("there is `{shown}::{close}`")),
                None => d.note(format!("its variants are {}", crate::constraints::quoted(&variants))),
            }
        } else if let Some(ids) = self.world.module_path(module, prefix) {
            let names = ids.iter().flat_map(|m| self.world.scopes[*m].values.keys().copied());
            let d = Diagnostic::error("E0105", last.span, format!("the module `{shown}` has no item `{}`", last.name));
            match crate::names::suggestion(&last.name, names) {
                Some(close) => d.hint(format!("there is `{shown}::{close}`")),
                None => d,
            }
        } else {
            Diagnostic::error("E0104", span, format!("there is no module or enum `{shown}` here"))
                .hint(format!("if it is a file, write `use {shown};` at the top"))
        };
        self.report(d);
    }
}
