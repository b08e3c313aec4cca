//! Data types, aliases and written types.
//!
//! In: declarations and type expressions. Out: the program's table of data types, and inference types with
//! the sizes written in them. Newly true: every written type means something or was reported.

use crate::context::Checker;
use crate::modules::{AdtDecl, AliasId, ModId, TypeItem};
use crate::sizes::SizeTree;
use crate::types::{AdtSpace, Bits, T};
use cotan_core::{Adt, AdtId, Constraint, Field, GenericParam, SizeName, Ty, Variant};
use cotan_source::{Diagnostic, IndexVec, Span};
use cotan_syntax::ast::{self, ExprKind, TypeExpr, TypeExprKind};
use rustc_hash::FxHashMap;

const BUILTIN_TYPES: [&str; 6] = ["Float", "Float32", "Int", "Bool", "String", "Tangent"];

impl<'a> Checker<'a> {
    /// Fills the table of data types.
    pub fn declare_types(&mut self) {
        self.check_aliases();
        let decls = self.world.adts.clone();
        for (decl, _, outer) in &decls {
            let (name, is_struct) = match decl {
                AdtDecl::Struct(s) => (&s.name, true),
                AdtDecl::Enum(e) => (&e.name, false),
            };
            self.types.adt_names.push(name.name.clone());
            self.types.adt_spaces.push(AdtSpace { never: true, needs: Vec::new() });
            self.program.adts.push(Adt {
                name: name.name.clone(),
                is_struct,
                generics: Vec::new(),
                variants: Vec::new(),
                docs: outer.docs.clone(),
                span: name.span,
            });
        }
        for (i, (decl, _, _)) in decls.iter().enumerate() {
            let generics = match decl {
                AdtDecl::Struct(s) => &s.generics,
                AdtDecl::Enum(e) => &e.generics,
            };
            let generics: Vec<GenericParam> = generics
                .iter()
                .map(|g| {
                    let constraint = self.written_constraint(g).unwrap_or(Constraint::Any);
                    let id =
                        self.types.new_param(&g.name.name, Bits::of(constraint), g.constraint.is_some(), g.name.span);
                    GenericParam { id, name: g.name.name.clone(), constraint }
                })
                .collect();
            self.program.adts[AdtId(i as u32)].generics = generics;
        }
        for (i, (decl, module, _)) in decls.iter().enumerate() {
            let id = AdtId(i as u32);
            self.body.module = *module;
            let names: Vec<(&'a str, T)> = match decl {
                AdtDecl::Struct(s) => self.generics_in_scope(id, &s.generics),
                AdtDecl::Enum(e) => self.generics_in_scope(id, &e.generics),
            };
            self.body.type_names = names;
            let variants = match decl {
                AdtDecl::Struct(s) => {
                    vec![Variant {
                        name: s.name.name.clone(),
                        named: true,
                        fields: self.named_fields(&s.fields),
                        span: s.name.span,
                    }]
                }
                AdtDecl::Enum(e) => self.variants(e),
            };
            self.program.adts[id].variants = variants;
            self.body.type_names.clear();
        }
        self.find_spaces();
        // Tangents in fields were kept as written until it was known which types are their own.
        let program = self.program.clone();
        for adt in self.program.adts.iter_mut() {
            for field in adt.variants.iter_mut().flat_map(|v| &mut v.fields) {
                field.ty = field.ty.substitute(&program, &|_| None);
            }
        }
        self.refuse_endless_structs();
    }

    fn generics_in_scope(&mut self, id: AdtId, generics: &'a [ast::Generic]) -> Vec<(&'a str, T)> {
        let ids: Vec<_> = self.program.adts[id].generics.iter().map(|g| g.id).collect();
        generics.iter().zip(ids).map(|(g, id)| (g.name.name.as_str(), self.types.param(id))).collect()
    }

    fn variants(&mut self, e: &'a ast::EnumDecl) -> Vec<Variant> {
        let mut seen: FxHashMap<&str, Span> = FxHashMap::default();
        e.variants
            .iter()
            .map(|v| {
                if let Some(first) = seen.insert(&v.name.name, v.name.span) {
                    self.report(
                        Diagnostic::error("E0103", v.name.span, format!("`{}` is declared twice", v.name.name))
                            .label(first, "first declared here"),
                    );
                }
                let (named, fields) = match &v.fields {
                    ast::VariantFields::Unit => (false, Vec::new()),
                    ast::VariantFields::Tuple(types) => {
                        let fields =
                            types.iter().enumerate().map(|(i, t)| self.field(i.to_string(), t, t.span)).collect();
                        (false, fields)
                    }
                    ast::VariantFields::Struct(fields) => (true, self.named_fields(fields)),
                };
                Variant { name: v.name.name.clone(), named, fields, span: v.name.span }
            })
            .collect()
    }

    fn named_fields(&mut self, fields: &'a [ast::FieldDecl]) -> Vec<Field> {
        let mut seen: FxHashMap<&str, Span> = FxHashMap::default();
        fields
            .iter()
            .map(|f| {
                if let Some(first) = seen.insert(&f.name.name, f.name.span) {
                    self.report(
                        Diagnostic::error(
                            "E0103",
                            f.name.span,
                            format!("the field `{}` is declared twice", f.name.name),
                        )
                        .label(first, "first declared here"),
                    );
                }
                self.field(f.name.name.clone(), &f.ty, f.name.span)
            })
            .collect()
    }

    fn field(&mut self, name: String, written: &'a TypeExpr, span: Span) -> Field {
        let (t, tree) = self.written(written, false);
        let mut sizes = Vec::new();
        let mut tree = &tree;
        while let SizeTree::Array { size, elem } = tree {
            sizes.push(size.and_then(|e| self.size_name(e)));
            tree = elem;
        }
        Field { name, ty: self.finished(t), sizes, span }
    }

    fn size_name(&mut self, e: &ast::Expr) -> Option<SizeName> {
        match &e.kind {
            ExprKind::Int(text) => text.parse().ok().map(SizeName::Number),
            ExprKind::Path(path) if path.len() == 1 => Some(SizeName::Name(path[0].name.clone())),
            _ => {
                self.report(
                    Diagnostic::error("E0402", e.span, "a size in a field is a name or a number")
                        .hint("write `[]` and check the size where the value is made"),
                );
                None
            }
        }
    }

    /// Which data types are their own tangents: the least restrictive answer that is consistent.
    fn find_spaces(&mut self) {
        let adts = self.program.adts.clone();
        self.types.adt_spaces = adts.iter().map(|_| AdtSpace::default()).collect();
        loop {
            let mut changed = false;
            for (id, adt) in adts.iter_enumerated() {
                let mut space = self.types.adt_spaces[id.0 as usize].clone();
                for field in adt.variants.iter().flat_map(|v| &v.fields) {
                    self.space_of(&field.ty, adt, &mut space);
                }
                space.needs.sort_unstable();
                space.needs.dedup();
                if space != self.types.adt_spaces[id.0 as usize] {
                    self.types.adt_spaces[id.0 as usize] = space;
                    changed = true;
                }
            }
            if !changed {
                return;
            }
        }
    }

    fn space_of(&self, ty: &Ty, adt: &Adt, space: &mut AdtSpace) {
        match ty {
            Ty::Float | Ty::Float32 | Ty::Tangent(_) => {}
            Ty::Int | Ty::Bool | Ty::Str | Ty::Fn(..) => space.never = true,
            Ty::Tuple(parts) => parts.iter().for_each(|p| self.space_of(p, adt, space)),
            Ty::Array(elem) => self.space_of(elem, adt, space),
            Ty::Param(p) => {
                if let Some(i) = adt.generics.iter().position(|g| g.id == *p) {
                    space.needs.push(i);
                }
            }
            Ty::Adt(id, args) => {
                let inner = self.types.adt_spaces[id.0 as usize].clone();
                space.never |= inner.never;
                inner.needs.iter().filter_map(|i| args.get(*i)).for_each(|a| self.space_of(a, adt, space));
            }
        }
    }

    /// A structure that must hold itself has no values.
    fn refuse_endless_structs(&mut self) {
        fn holds(adts: &IndexVec<AdtId, Adt>, ty: &Ty, target: AdtId, seen: &mut Vec<AdtId>) -> bool {
            match ty {
                Ty::Tuple(parts) => parts.iter().any(|p| holds(adts, p, target, seen)),
                Ty::Adt(id, _) if *id == target => true,
                Ty::Adt(id, _) if adts[*id].is_struct && !seen.contains(id) => {
                    seen.push(*id);
                    adts[*id].variants[0].fields.iter().any(|f| holds(adts, &f.ty, target, seen))
                }
                _ => false,
            }
        }
        let adts = self.program.adts.clone();
        for (id, adt) in adts.iter_enumerated() {
            if adt.is_struct {
                for field in &adt.variants[0].fields {
                    if holds(&adts, &field.ty, id, &mut vec![id]) {
                        self.report(
                            Diagnostic::error(
                                "E0112",
                                field.span,
                                format!("the structure `{}` would hold itself without end", adt.name),
                            )
                            .hint("use an enum with a variant that ends it, such as `Option<..>`, or an array"),
                        );
                        break;
                    }
                }
            }
        }
    }

    fn check_aliases(&mut self) {
        fn mentions(ty: &TypeExpr, out: &mut Vec<Vec<ast::Ident>>) {
            match &ty.kind {
                TypeExprKind::Path { path, args } => {
                    out.push(path.clone());
                    args.iter().for_each(|a| mentions(a, out));
                }
                TypeExprKind::Tuple(parts) => parts.iter().for_each(|p| mentions(p, out)),
                TypeExprKind::Array { elem, .. } => mentions(elem, out),
                TypeExprKind::Fn { params, ret } => {
                    params.iter().for_each(|p| mentions(p, out));
                    mentions(ret, out);
                }
                TypeExprKind::Infer | TypeExprKind::Error => {}
            }
        }
        let n = self.world.aliases.len();
        let edges: Vec<Vec<AliasId>> = (0..n)
            .map(|i| {
                let (decl, module) = self.world.aliases[i];
                let mut paths = Vec::new();
                mentions(&decl.ty, &mut paths);
                let targets = paths.iter().filter_map(|p| match self.world.type_path(module, p) {
                    Some(TypeItem::Alias(a))
                        if !(p.len() == 1 && decl.generics.iter().any(|g| g.name.name == p[0].name)) =>
                    {
                        Some(a)
                    }
                    _ => None,
                });
                targets.collect()
            })
            .collect();
        for component in crate::dependencies::components(&edges) {
            let first = component[0];
            if component.len() > 1 || edges[first].contains(&first) {
                for alias in component {
                    let (decl, _) = self.world.aliases[alias];
                    self.report(
                        Diagnostic::error(
                            "E0108",
                            decl.name.span,
                            format!("the alias `{}` stands for itself", decl.name.name),
                        )
                        .hint("recursive types are declared by `enum` or `struct`"),
                    );
                    self.recursive_aliases.insert(alias);
                }
            }
        }
    }

    /// The constraint that a generic parameter is written with.
    pub fn written_constraint(&mut self, g: &ast::Generic) -> Option<Constraint> {
        let written = g.constraint.as_ref()?;
        match written.name.as_str() {
            "Num" => Some(Constraint::Num),
            "Real" => Some(Constraint::Real),
            "Space" => Some(Constraint::Space),
            other => {
                self.report(
                    Diagnostic::error("E0102", written.span, format!("there is no constraint `{other}`"))
                        .note("the constraints are `Num`, `Real` and `Space`"),
                );
                None
            }
        }
    }

    /// The meaning of a written type, and the sizes in it. `_` stands for any type if `infer`.
    pub fn written(&mut self, ty: &'a TypeExpr, infer: bool) -> (T, SizeTree<'a>) {
        match &ty.kind {
            TypeExprKind::Path { path, args } => self.written_path(path, args, ty.span, infer),
            TypeExprKind::Tuple(parts) => {
                let (types, trees): (Vec<T>, Vec<SizeTree<'a>>) = parts.iter().map(|p| self.written(p, infer)).unzip();
                let tree = if trees.iter().all(SizeTree::is_none) { SizeTree::None } else { SizeTree::Tuple(trees) };
                (self.types.argument(types), tree)
            }
            TypeExprKind::Array { size, elem } => {
                let (t, tree) = self.written(elem, infer);
                (self.types.array(t), SizeTree::Array { size: size.as_deref(), elem: Box::new(tree) })
            }
            TypeExprKind::Fn { params, ret } => {
                let params = params.iter().map(|p| self.written(p, infer).0).collect();
                let arg = self.types.argument(params);
                let (ret, _) = self.written(ret, infer);
                (self.types.function(arg, ret), SizeTree::None)
            }
            TypeExprKind::Infer if infer => (self.types.fresh(ty.span), SizeTree::None),
            TypeExprKind::Infer => {
                self.error("E0206", ty.span, "`_` cannot stand in a declaration: write the type");
                (T::ERROR, SizeTree::None)
            }
            TypeExprKind::Error => (T::ERROR, SizeTree::None),
        }
    }

    fn written_path(
        &mut self,
        path: &'a [ast::Ident],
        args: &'a [TypeExpr],
        span: Span,
        infer: bool,
    ) -> (T, SizeTree<'a>) {
        let Some(last) = path.last() else { return (T::ERROR, SizeTree::None) };
        if path.len() == 1 {
            if let Some(t) = self.type_name(&last.name) {
                self.count_type_args(&last.name, 0, args, span);
                return (t, SizeTree::None);
            }
            if let Some((_, t, tree)) = self.alias_args.iter().rev().find(|(n, _, _)| *n == last.name) {
                return (*t, tree.clone());
            }
        }
        match self.world.type_path(self.body.module, path) {
            Some(TypeItem::Adt(id)) => {
                let wanted = self.program.adts[id].generics.len();
                let mut types: Vec<T> = args.iter().map(|a| self.written(a, infer).0).collect();
                if args.is_empty() && infer && wanted > 0 {
                    types = (0..wanted).map(|_| self.types.fresh(span)).collect();
                } else if !self.count_type_args(&last.name, wanted, args, span) {
                    types.resize(wanted, T::ERROR);
                }
                for (g, t) in self.program.adts[id].generics.clone().iter().zip(&types) {
                    if self.types.require(*t, Bits::of(g.constraint)).is_err() {
                        let shown = self.types.show(*t);
                        self.error(
                            "E0208",
                            span,
                            format!("`{shown}` does not have the constraint that `{}` asks for", last.name),
                        );
                    }
                }
                (self.types.adt(id, types), SizeTree::None)
            }
            Some(TypeItem::Alias(alias)) => self.written_alias(alias, args, span, infer),
            None => self.written_builtin(path, args, span, infer),
        }
    }

    fn written_alias(&mut self, alias: AliasId, args: &'a [TypeExpr], span: Span, infer: bool) -> (T, SizeTree<'a>) {
        let (decl, module): (&'a ast::AliasDecl, ModId) = self.world.aliases[alias];
        if self.recursive_aliases.contains(&alias)
            || !self.count_type_args(&decl.name.name, decl.generics.len(), args, span)
        {
            return (T::ERROR, SizeTree::None);
        }
        let given: Vec<_> = args.iter().map(|a| self.written(a, infer)).collect();
        let bound = decl.generics.iter().zip(given).map(|(g, (t, tree))| (g.name.name.as_str(), t, tree)).collect();
        let outer_args = std::mem::replace(&mut self.alias_args, bound);
        let outer_names = std::mem::take(&mut self.body.type_names);
        let outer_module = std::mem::replace(&mut self.body.module, module);
        let meaning = self.written(&decl.ty, false);
        self.alias_args = outer_args;
        self.body.type_names = outer_names;
        self.body.module = outer_module;
        meaning
    }

    fn written_builtin(
        &mut self,
        path: &'a [ast::Ident],
        args: &'a [TypeExpr],
        span: Span,
        infer: bool,
    ) -> (T, SizeTree<'a>) {
        let names: Vec<&str> = path.iter().map(|p| p.name.as_str()).collect();
        let t = match names[..] {
            ["Float"] => T::FLOAT,
            ["Float32"] => T::FLOAT32,
            ["Int"] => T::INT,
            ["Bool"] => T::BOOL,
            ["String"] => T::STR,
            ["Tangent"] => {
                if !self.count_type_args("Tangent", 1, args, span) {
                    return (T::ERROR, SizeTree::None);
                }
                let (point, tree) = self.written(&args[0], infer);
                return (self.types.tangent_of(point, span), tree);
            }
            _ => {
                self.unknown_type(path, span);
                return (T::ERROR, SizeTree::None);
            }
        };
        self.count_type_args(names[0], 0, args, span);
        (t, SizeTree::None)
    }

    fn count_type_args(&mut self, name: &str, wanted: usize, args: &[TypeExpr], span: Span) -> bool {
        if args.len() == wanted {
            return true;
        }
        let plural = if wanted == 1 { "" } else { "s" };
        self.error("E0113", span, format!("`{name}` takes {wanted} type argument{plural}, not {}", args.len()));
        false
    }

    fn unknown_type(&mut self, path: &'a [ast::Ident], span: Span) {
        let Some(last) = path.last() else { return };
        if self.world.scopes[self.body.module].poisoned.contains(path[0].name.as_str()) {
            return;
        }
        let shown: Vec<&str> = path.iter().map(|p| p.name.as_str()).collect();
        let mut d = Diagnostic::error("E0102", span, format!("there is no type `{}`", shown.join("::")));
        let module = self.body.module;
        if path.len() == 1 {
            let scopes = std::iter::once(module).chain(self.world.prelude.iter().copied());
            let known: Vec<&str> = scopes.flat_map(|m| self.world.scopes[m].types.keys().copied()).collect();
            let generics = self.body.type_names.iter().map(|(n, _)| *n);
            match crate::names::suggestion(&last.name, BUILTIN_TYPES.into_iter().chain(generics).chain(known)) {
                Some(close) => d = d.hint(format!("there is a type `{close}`")),
                None if last.name.len() == 1 && last.name.chars().all(char::is_uppercase) => {
                    d = d.hint(format!("declare a generic parameter: `fn f<{}>(..)`", last.name));
                }
                None => {
                    d = match last.name.to_ascii_lowercase().as_str() {
                        "f64" | "double" | "real" | "number" => d.hint("the type of binary64 numbers is `Float`"),
                        "f32" => d.hint("the type of binary32 numbers is `Float32`"),
                        "i64" | "i32" | "usize" | "integer" => d.hint("the type of integers is `Int`"),
                        "str" => d.hint("the type of texts is `String`"),
                        _ => d,
                    }
                }
            }
        } else if let Some((first, _)) = path.split_first()
            && self.world.module_named(module, &first.name).is_none()
        {
            d = d.hint(format!("if `{}` is a module, write `use {};` first", first.name, first.name));
        }
        self.report(d);
    }
}
