//! Modules and the names they offer.
//!
//! In: the parsed prelude and root files, and a way to find further modules. Out: [`World`], in which every
//! item has a number and every module a table of names. Newly true: each top-level name is declared once.

use cotan_core::AdtId;
use cotan_source::{Diagnostic, Span};
use cotan_syntax::ast::{self, ItemKind};
use indexmap::IndexMap;
use rustc_hash::{FxHashMap, FxHashSet};

/// A module.
pub type ModId = usize;
/// A function, constant, test or bench block.
pub type ItemId = usize;
/// A type alias.
pub type AliasId = usize;

/// Finds a module by its path: its unique name and its tree.
pub type Resolver<'i> = dyn FnMut(&[String]) -> Option<(String, ast::Module)> + 'i;

/// Where a module came from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Prelude,
    Root,
    Imported,
}

/// A parsed module with its name.
pub struct Loaded {
    pub name: String,
    pub tree: ast::Module,
    pub kind: Kind,
}

/// All modules, and where each path leads.
#[derive(Default)]
pub struct Library {
    pub modules: Vec<Loaded>,
    pub paths: FxHashMap<Vec<String>, ModId>,
}

/// What `use` path leads to.
pub enum UseTarget {
    Prelude,
    Module(ModId),
    /// The last name of the path is an item of the module.
    Item(ModId),
    Missing,
}

impl Library {
    /// Loads everything that the roots and the prelude use, transitively.
    pub fn load(
        prelude: Vec<(String, ast::Module)>,
        roots: Vec<(String, ast::Module)>,
        resolve: &mut Resolver<'_>,
    ) -> Library {
        let mut library = Library::default();
        for (name, tree) in prelude {
            library.modules.push(Loaded { name, tree, kind: Kind::Prelude });
        }
        for (name, tree) in roots {
            library.modules.push(Loaded { name, tree, kind: Kind::Root });
        }
        let mut next = 0;
        while next < library.modules.len() {
            let mut paths = Vec::new();
            for item in &library.modules[next].tree.items {
                if let ItemKind::Use(decl) = &item.kind {
                    let path: Vec<String> = decl.path.iter().map(|p| p.name.clone()).collect();
                    if path != ["std"] {
                        paths.push((path, decl.names.is_none()));
                    }
                }
            }
            for (path, whole) in paths {
                if !library.request(&path, resolve) && whole && path.len() > 1 && path[..path.len() - 1] != ["std"] {
                    library.request(&path[..path.len() - 1], resolve);
                }
            }
            next += 1;
        }
        library
    }

    fn request(&mut self, path: &[String], resolve: &mut Resolver<'_>) -> bool {
        if self.paths.contains_key(path) {
            return true;
        }
        let Some((name, tree)) = resolve(path) else { return false };
        let known = self.modules.iter().position(|m| m.name == name);
        let id = known.unwrap_or_else(|| {
            self.modules.push(Loaded { name, tree, kind: Kind::Imported });
            self.modules.len() - 1
        });
        self.paths.insert(path.to_vec(), id);
        true
    }

    pub fn target(&self, decl: &ast::UseDecl) -> UseTarget {
        let path: Vec<String> = decl.path.iter().map(|p| p.name.clone()).collect();
        if path == ["std"] {
            return UseTarget::Prelude;
        }
        if let Some(id) = self.paths.get(&path) {
            return UseTarget::Module(*id);
        }
        if decl.names.is_none() && path.len() > 1 {
            if path[..path.len() - 1] == ["std"] {
                return UseTarget::Prelude;
            }
            if let Some(id) = self.paths.get(&path[..path.len() - 1]) {
                return UseTarget::Item(*id);
            }
        }
        UseTarget::Missing
    }
}

/// A top-level value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Value {
    Item(ItemId),
    Variant(AdtId, usize),
}

/// A top-level type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TypeItem {
    Adt(AdtId),
    Alias(AliasId),
}

/// The names of a module.
#[derive(Default)]
pub struct Scope<'a> {
    pub values: IndexMap<&'a str, (ItemId, Span)>,
    pub types: IndexMap<&'a str, (TypeItem, Span)>,
    pub modules: FxHashMap<&'a str, Vec<ModId>>,
    pub variants: FxHashMap<&'a str, Vec<(AdtId, usize)>>,
    /// Names whose import failed and was reported.
    pub poisoned: FxHashSet<&'a str>,
}

/// An item that has code.
#[derive(Clone, Copy)]
pub enum Item<'a> {
    Fn(&'a ast::FnDecl),
    Const(&'a ast::ConstDecl),
    Test(&'a ast::BlockDecl),
    Bench(&'a ast::BlockDecl),
}

/// An item with its surroundings.
pub struct ItemInfo<'a> {
    pub module: ModId,
    pub item: Item<'a>,
    pub outer: &'a ast::Item,
}

impl<'a> ItemInfo<'a> {
    pub fn name(&self) -> &'a ast::Ident {
        match self.item {
            Item::Fn(f) => &f.name,
            Item::Const(c) => &c.name,
            Item::Test(b) | Item::Bench(b) => &b.title,
        }
    }
}

/// A structure or enum as written.
#[derive(Clone, Copy)]
pub enum AdtDecl<'a> {
    Struct(&'a ast::StructDecl),
    Enum(&'a ast::EnumDecl),
}

/// All modules and their names.
pub struct World<'a> {
    pub library: &'a Library,
    pub scopes: Vec<Scope<'a>>,
    pub items: Vec<ItemInfo<'a>>,
    pub adts: Vec<(AdtDecl<'a>, ModId, &'a ast::Item)>,
    pub aliases: Vec<(&'a ast::AliasDecl, ModId)>,
    pub prelude: Vec<ModId>,
    /// Names of the fields of all structures.
    pub field_names: FxHashSet<&'a str>,
    pub variant_names: Vec<Vec<&'a str>>,
}

impl<'a> World<'a> {
    /// Numbers all items and makes the tables of names.
    pub fn new(library: &'a Library, diagnostics: &mut Vec<Diagnostic>) -> World<'a> {
        let mut world = World {
            library,
            scopes: Vec::new(),
            items: Vec::new(),
            adts: Vec::new(),
            aliases: Vec::new(),
            prelude: Vec::new(),
            field_names: FxHashSet::default(),
            variant_names: Vec::new(),
        };
        for (id, module) in library.modules.iter().enumerate() {
            if module.kind == Kind::Prelude {
                world.prelude.push(id);
            }
            let scope = world.declare(id, &module.tree, diagnostics);
            world.scopes.push(scope);
        }
        for (id, module) in library.modules.iter().enumerate() {
            for item in &module.tree.items {
                if let ItemKind::Use(decl) = &item.kind {
                    world.import(id, decl, diagnostics);
                }
            }
        }
        world
    }

    fn declare(&mut self, id: ModId, tree: &'a ast::Module, diagnostics: &mut Vec<Diagnostic>) -> Scope<'a> {
        let mut scope = Scope::default();
        for outer in &tree.items {
            let value = match &outer.kind {
                ItemKind::Fn(f) => Item::Fn(f),
                ItemKind::Const(c) => Item::Const(c),
                ItemKind::Test(b) => {
                    self.items.push(ItemInfo { module: id, item: Item::Test(b), outer });
                    continue;
                }
                ItemKind::Bench(b) => {
                    self.items.push(ItemInfo { module: id, item: Item::Bench(b), outer });
                    continue;
                }
                ItemKind::Struct(s) => {
                    let adt = AdtId(self.adts.len() as u32);
                    self.adts.push((AdtDecl::Struct(s), id, outer));
                    self.variant_names.push(vec![s.name.name.as_str()]);
                    self.field_names.extend(s.fields.iter().map(|f| f.name.name.as_str()));
                    declare_type(&mut scope, &s.name, TypeItem::Adt(adt), diagnostics);
                    continue;
                }
                ItemKind::Enum(e) => {
                    let adt = AdtId(self.adts.len() as u32);
                    self.adts.push((AdtDecl::Enum(e), id, outer));
                    self.variant_names.push(e.variants.iter().map(|v| v.name.name.as_str()).collect());
                    declare_type(&mut scope, &e.name, TypeItem::Adt(adt), diagnostics);
                    for (i, variant) in e.variants.iter().enumerate() {
                        scope.variants.entry(&variant.name.name).or_default().push((adt, i));
                    }
                    continue;
                }
                ItemKind::Alias(a) => {
                    let alias = self.aliases.len();
                    self.aliases.push((a, id));
                    declare_type(&mut scope, &a.name, TypeItem::Alias(alias), diagnostics);
                    continue;
                }
                ItemKind::Use(_) | ItemKind::Error => continue,
            };
            let info = ItemInfo { module: id, item: value, outer };
            let name = info.name();
            let item = self.items.len();
            self.items.push(info);
            if let Some((_, first)) = scope.values.get(name.name.as_str()) {
                diagnostics.push(duplicate(name, *first));
            } else {
                scope.values.insert(&name.name, (item, name.span));
            }
        }
        scope
    }

    fn import(&mut self, module: ModId, decl: &'a ast::UseDecl, diagnostics: &mut Vec<Diagnostic>) {
        let Some(last) = decl.path.last() else { return };
        let sources = match self.library.target(decl) {
            UseTarget::Prelude => self.prelude.clone(),
            UseTarget::Module(id) => vec![id],
            UseTarget::Item(id) => {
                self.import_name(module, &[id], last, last, diagnostics);
                return;
            }
            UseTarget::Missing => {
                let names = decl.names.iter().flatten().map(|n| n.rename.as_ref().unwrap_or(&n.name));
                let names: Vec<&'a str> = names.chain([last]).map(|n| n.name.as_str()).collect();
                self.scopes[module].poisoned.extend(names);
                let path: Vec<&str> = decl.path.iter().map(|p| p.name.as_str()).collect();
                let path = path.join("::");
                diagnostics.push(
                    Diagnostic::error("E0104", last.span, format!("there is no module `{path}`"))
                        .at("neither a file beside this one nor a module of the library")
                        .hint(format!("a module is a file: `{}.cot`", path.replace("::", "/"))),
                );
                return;
            }
        };
        match &decl.names {
            None if decl.path.len() > 1 && matches!(self.library.target(decl), UseTarget::Prelude) => {
                self.import_name(module, &sources, last, last, diagnostics);
            }
            None => {
                self.scopes[module].modules.insert(&last.name, sources);
            }
            Some(names) => {
                for name in names {
                    let as_name = name.rename.as_ref().unwrap_or(&name.name);
                    self.import_name(module, &sources, &name.name, as_name, diagnostics);
                }
            }
        }
    }

    fn import_name(
        &mut self,
        module: ModId,
        sources: &[ModId],
        name: &'a ast::Ident,
        as_name: &'a ast::Ident,
        diagnostics: &mut Vec<Diagnostic>,
    ) {
        let mut found = false;
        for source in sources {
            if *source == module {
                continue;
            }
            let scope = &self.scopes[*source];
            let value = scope.values.get(name.name.as_str()).copied();
            let ty = scope.types.get(name.name.as_str()).copied();
            let variants = scope.variants.get(name.name.as_str()).cloned();
            if let Some((item, _)) = value {
                found = true;
                let scope = &mut self.scopes[module];
                match scope.values.get(as_name.name.as_str()) {
                    Some((old, first)) if *old != item => diagnostics.push(duplicate(as_name, *first)),
                    _ => {
                        scope.values.insert(&as_name.name, (item, as_name.span));
                    }
                }
            }
            if let Some((item, _)) = ty {
                found = true;
                if let TypeItem::Adt(adt) = item {
                    let names = self.variant_names[adt.0 as usize].clone();
                    if matches!(self.adts[adt.0 as usize].0, AdtDecl::Enum(_)) {
                        for (i, variant) in names.into_iter().enumerate() {
                            let entry = self.scopes[module].variants.entry(variant).or_default();
                            if !entry.contains(&(adt, i)) {
                                entry.push((adt, i));
                            }
                        }
                    }
                }
                let scope = &mut self.scopes[module];
                match scope.types.get(as_name.name.as_str()) {
                    Some((old, first)) if *old != item => diagnostics.push(duplicate(as_name, *first)),
                    _ => {
                        scope.types.insert(&as_name.name, (item, as_name.span));
                    }
                }
            }
            if let Some(variants) = variants {
                found = true;
                let entry = self.scopes[module].variants.entry(&as_name.name).or_default();
                for variant in variants {
                    if !entry.contains(&variant) {
                        entry.push(variant);
                    }
                }
            }
        }
        if !found {
            self.scopes[module].poisoned.insert(&as_name.name);
            let candidates = sources.iter().flat_map(|s| {
                let scope = &self.scopes[*s];
                scope.values.keys().copied().chain(scope.types.keys().copied())
            });
            let hint = crate::names::suggestion(&name.name, candidates);
            let mut d = Diagnostic::error("E0105", name.span, format!("the module has no item `{}`", name.name));
            if let Some(close) = hint {
                d = d.hint(format!("there is `{close}`"));
            }
            diagnostics.push(d);
        }
    }

    /// A value that a module itself declares or imports.
    pub fn own_value(&self, module: ModId, name: &str) -> Vec<Value> {
        let scope = &self.scopes[module];
        if let Some((item, _)) = scope.values.get(name) {
            return vec![Value::Item(*item)];
        }
        match scope.variants.get(name) {
            Some(list) => list.iter().map(|(adt, i)| Value::Variant(*adt, *i)).collect(),
            None => Vec::new(),
        }
    }

    /// A value by its bare name: the module's own, else the prelude's.
    pub fn value(&self, module: ModId, name: &str) -> Vec<Value> {
        let own = self.own_value(module, name);
        if !own.is_empty() {
            return own;
        }
        let mut found = Vec::new();
        for prelude in &self.prelude {
            for value in self.own_value(*prelude, name) {
                if matches!(value, Value::Item(_)) {
                    return vec![value];
                }
                if !found.contains(&value) {
                    found.push(value);
                }
            }
        }
        found
    }

    /// A type by its bare name.
    pub fn type_item(&self, module: ModId, name: &str) -> Option<TypeItem> {
        let scopes = std::iter::once(module).chain(self.prelude.iter().copied());
        scopes.into_iter().find_map(|m| self.scopes[m].types.get(name).map(|(t, _)| *t))
    }

    /// The modules that a name stands for; `std` is the prelude unless something else is called so.
    pub fn module_named(&self, module: ModId, name: &str) -> Option<Vec<ModId>> {
        match self.scopes[module].modules.get(name) {
            Some(ids) => Some(ids.clone()),
            None if name == "std" => Some(self.prelude.clone()),
            None => None,
        }
    }

    /// The modules that a path of names leads to.
    pub fn module_path(&self, module: ModId, path: &[ast::Ident]) -> Option<Vec<ModId>> {
        let (first, rest) = path.split_first()?;
        let mut ids = self.module_named(module, &first.name)?;
        for name in rest {
            ids = ids.iter().find_map(|id| self.scopes[*id].modules.get(name.name.as_str()).cloned())?;
        }
        Some(ids)
    }

    /// A type by its path.
    pub fn type_path(&self, module: ModId, path: &[ast::Ident]) -> Option<TypeItem> {
        let (last, prefix) = path.split_last()?;
        if prefix.is_empty() {
            return self.type_item(module, &last.name);
        }
        let ids = self.module_path(module, prefix)?;
        ids.iter().find_map(|m| self.scopes[*m].types.get(last.name.as_str()).map(|(t, _)| *t))
    }

    /// A value by its path of two or more names.
    pub fn value_path(&self, module: ModId, path: &[ast::Ident]) -> Vec<Value> {
        let Some((last, prefix)) = path.split_last() else { return Vec::new() };
        if prefix.is_empty() {
            return self.value(module, &last.name);
        }
        if let Some(adt) = self.enum_of(module, prefix) {
            let position = self.variant_names[adt.0 as usize].iter().position(|v| *v == last.name);
            return position.map(|i| Value::Variant(adt, i)).into_iter().collect();
        }
        match self.module_path(module, prefix) {
            Some(ids) => ids.iter().map(|m| self.own_value(*m, &last.name)).find(|v| !v.is_empty()).unwrap_or_default(),
            None => Vec::new(),
        }
    }

    /// The data type that a path names, aliases without arguments included.
    pub fn enum_of(&self, module: ModId, path: &[ast::Ident]) -> Option<AdtId> {
        let mut item = self.type_path(module, path)?;
        for _ in 0..32 {
            match item {
                TypeItem::Adt(adt) => return Some(adt),
                TypeItem::Alias(alias) => {
                    let (decl, home) = self.aliases[alias];
                    let ast::TypeExprKind::Path { path, .. } = &decl.ty.kind else { return None };
                    item = self.type_path(home, path)?;
                }
            }
        }
        None
    }
}

fn declare_type<'a>(scope: &mut Scope<'a>, name: &'a ast::Ident, item: TypeItem, diagnostics: &mut Vec<Diagnostic>) {
    if let Some((_, first)) = scope.types.get(name.name.as_str()) {
        diagnostics.push(duplicate(name, *first));
    } else {
        scope.types.insert(&name.name, (item, name.span));
    }
}

fn duplicate(name: &ast::Ident, first: Span) -> Diagnostic {
    Diagnostic::error("E0103", name.span, format!("`{}` is declared twice", name.name))
        .at("declared again here")
        .label(first, "first declared here")
}
