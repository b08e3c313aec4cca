//! Which item uses which: the order in which items are checked.
//!
//! In: the trees of all items. Out: what the roots reach, in strongly connected components, each after what it
//! uses. A walk that knows the scopes, so that a local variable is not taken for the function of its name.

use crate::modules::{Item, ItemId, ModId, Value, World};
use cotan_syntax::ast::{self, ExprKind, PatternKind, StmtKind};
use indexmap::IndexSet;
use rustc_hash::FxHashMap;

/// Strongly connected components of a graph, each after those that it points to.
pub fn components(edges: &[Vec<usize>]) -> Vec<Vec<usize>> {
    struct Visit {
        index: Vec<usize>,
        low: Vec<usize>,
        on_stack: Vec<bool>,
        stack: Vec<usize>,
        next: usize,
        out: Vec<Vec<usize>>,
    }
    let n = edges.len();
    let none = usize::MAX;
    let mut v = Visit {
        index: vec![none; n],
        low: vec![0; n],
        on_stack: vec![false; n],
        stack: Vec::new(),
        next: 0,
        out: Vec::new(),
    };
    for root in 0..n {
        if v.index[root] != none {
            continue;
        }
        // An explicit stack: a program may be a chain of ten thousand functions.
        let mut calls = vec![(root, 0)];
        while let Some((node, edge)) = calls.pop() {
            if edge == 0 {
                v.index[node] = v.next;
                v.low[node] = v.next;
                v.next += 1;
                v.stack.push(node);
                v.on_stack[node] = true;
            }
            if let Some(&target) = edges[node].get(edge) {
                calls.push((node, edge + 1));
                if v.index[target] == none {
                    calls.push((target, 0));
                } else if v.on_stack[target] {
                    v.low[node] = v.low[node].min(v.index[target]);
                }
                continue;
            }
            if v.low[node] == v.index[node] {
                let mut component = Vec::new();
                while let Some(member) = v.stack.pop() {
                    v.on_stack[member] = false;
                    component.push(member);
                    if member == node {
                        break;
                    }
                }
                component.sort_unstable();
                v.out.push(component);
            }
            if let Some((parent, _)) = calls.last() {
                let parent = *parent;
                v.low[parent] = v.low[parent].min(v.low[node]);
            }
        }
    }
    v.out
}

/// The items that an item's code names.
pub fn uses(world: &World<'_>, item: ItemId) -> IndexSet<ItemId> {
    let info = &world.items[item];
    let mut walk =
        Walk { world, module: info.module, bound: Vec::new(), counts: FxHashMap::default(), found: IndexSet::new() };
    match info.item {
        Item::Fn(f) => walk.function(f),
        Item::Const(c) => walk.expr(&c.value),
        Item::Test(b) | Item::Bench(b) => walk.block(&b.body),
    }
    walk.found
}

struct Walk<'w, 'a> {
    world: &'w World<'a>,
    module: ModId,
    bound: Vec<&'w str>,
    counts: FxHashMap<&'w str, u32>,
    found: IndexSet<ItemId>,
}

impl<'w> Walk<'w, '_> {
    fn bind(&mut self, name: &'w str) {
        self.bound.push(name);
        *self.counts.entry(name).or_default() += 1;
    }

    fn leave(&mut self, mark: usize) {
        for name in self.bound.drain(mark..) {
            if let Some(n) = self.counts.get_mut(name) {
                *n -= 1;
            }
        }
    }

    fn name(&mut self, name: &str) {
        if self.counts.get(name).is_some_and(|n| *n > 0) {
            return;
        }
        for value in self.world.value(self.module, name) {
            if let Value::Item(item) = value {
                self.found.insert(item);
            }
        }
    }

    fn function(&mut self, f: &'w ast::FnDecl) {
        let mark = self.bound.len();
        for p in &f.params {
            self.pattern(&p.pattern);
        }
        if let Some(body) = &f.body {
            self.block(body);
        }
        for clause in &f.clauses {
            self.block(&clause.body);
        }
        self.leave(mark);
    }

    fn block(&mut self, block: &'w ast::Block) {
        let mark = self.bound.len();
        for stmt in &block.stmts {
            match &stmt.kind {
                StmtKind::Let { pattern, value, .. } => {
                    self.expr(value);
                    self.pattern(pattern);
                }
                StmtKind::Fn(f) => {
                    // Functions side by side see each other; binding them as they come finds a superset.
                    self.bind(&f.name.name);
                    self.function(f);
                }
                StmtKind::Assign { place, value, .. } => {
                    self.expr(place);
                    self.expr(value);
                }
                StmtKind::Expr(e) => self.expr(e),
                StmtKind::For { pattern, iter, body } => {
                    self.expr(iter);
                    let inner = self.bound.len();
                    self.pattern(pattern);
                    self.block(body);
                    self.leave(inner);
                }
                StmtKind::While { cond, body } => {
                    self.expr(cond);
                    self.block(body);
                }
                StmtKind::Error => {}
            }
        }
        if let Some(result) = &block.result {
            self.expr(result);
        }
        self.leave(mark);
    }

    fn pattern(&mut self, p: &'w ast::Pattern) {
        match &p.kind {
            PatternKind::Name { name, .. } => self.bind(&name.name),
            PatternKind::Tuple(parts) | PatternKind::Variant { args: parts, .. } | PatternKind::Or(parts) => {
                parts.iter().for_each(|p| self.pattern(p));
            }
            PatternKind::Struct { fields, .. } => fields.iter().for_each(|(_, p)| self.pattern(p)),
            PatternKind::Wildcard | PatternKind::Literal(_) | PatternKind::Range { .. } | PatternKind::Error => {}
        }
    }

    fn scoped(&mut self, f: impl FnOnce(&mut Self)) {
        let mark = self.bound.len();
        f(self);
        self.leave(mark);
    }

    fn expr(&mut self, e: &'w ast::Expr) {
        crate::infer::deeper(|| self.parts(e));
    }

    fn parts(&mut self, e: &'w ast::Expr) {
        match &e.kind {
            ExprKind::Int(_) | ExprKind::Float(_) | ExprKind::Bool(_) | ExprKind::Str(_) => {}
            ExprKind::Break | ExprKind::Continue | ExprKind::Error => {}
            ExprKind::Path(path) => match &path[..] {
                [name] => self.name(&name.name),
                _ => {
                    for value in self.world.value_path(self.module, path) {
                        if let Value::Item(item) = value {
                            self.found.insert(item);
                        }
                    }
                }
            },
            ExprKind::Tuple(parts) | ExprKind::Array(parts) => parts.iter().for_each(|p| self.expr(p)),
            ExprKind::Paren(inner) | ExprKind::Unary { operand: inner, .. } => self.expr(inner),
            ExprKind::Comprehension { body, generators, filter } => self.scoped(|w| {
                for g in generators {
                    w.expr(&g.iter);
                }
                for g in generators {
                    w.pattern(&g.pattern);
                }
                if let Some(filter) = filter {
                    w.expr(filter);
                }
                w.expr(body);
            }),
            ExprKind::Struct { fields, base, .. } => {
                fields.iter().for_each(|(_, e)| self.expr(e));
                if let Some(base) = base {
                    self.expr(base);
                }
            }
            ExprKind::Call { callee, args } => {
                self.expr(callee);
                args.iter().for_each(|a| self.expr(a));
            }
            ExprKind::Method { receiver, name, args } => {
                self.expr(receiver);
                self.name(&name.name);
                args.iter().for_each(|a| self.expr(a));
            }
            ExprKind::Field { base, .. } | ExprKind::TupleField { base, .. } => self.expr(base),
            ExprKind::Index { base, subscripts } => {
                self.expr(base);
                subscripts.iter().for_each(|s| self.expr(s));
            }
            ExprKind::Range { start, end } => {
                start.iter().chain(end).for_each(|e| self.expr(e));
            }
            ExprKind::Binary { left, right, .. } => {
                self.expr(left);
                self.expr(right);
            }
            ExprKind::If { cond, then, otherwise } => {
                self.expr(cond);
                self.block(then);
                if let Some(e) = otherwise {
                    self.expr(e);
                }
            }
            ExprKind::IfLet { pattern, value, then, otherwise } => {
                self.expr(value);
                self.scoped(|w| {
                    w.pattern(pattern);
                    w.block(then);
                });
                if let Some(e) = otherwise {
                    self.expr(e);
                }
            }
            ExprKind::Match { value, arms } => {
                self.expr(value);
                for arm in arms {
                    self.scoped(|w| {
                        w.pattern(&arm.pattern);
                        if let Some(guard) = &arm.guard {
                            w.expr(guard);
                        }
                        w.expr(&arm.body);
                    });
                }
            }
            ExprKind::Block(block) => self.block(block),
            ExprKind::Closure { params, body, .. } => self.scoped(|w| {
                for p in params {
                    w.pattern(&p.pattern);
                }
                w.expr(body);
            }),
            ExprKind::Return(value) => {
                if let Some(e) = value {
                    self.expr(e);
                }
            }
            ExprKind::ReturnWith { value, with } => {
                if let Some(e) = value {
                    self.expr(e);
                }
                self.expr(with);
            }
            ExprKind::TangentLiteral { function, fields } => {
                self.name(&function.name);
                fields.iter().for_each(|(_, e)| self.expr(e));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::components;

    #[test]
    fn components_come_after_what_they_use() {
        let edges = vec![vec![1], vec![2], vec![1, 3], vec![]];
        assert_eq!(components(&edges), vec![vec![3], vec![1, 2], vec![0]]);
    }
}
