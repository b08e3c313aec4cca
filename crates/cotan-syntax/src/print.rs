//! The syntax tree as text.
//!
//! In: a [`Module`]. Out: nested lists for `cotan show --stage syntax`: the first word of a list names the
//! construct; what fits on a line stands on one.

use crate::ast::{
    Attribute, BinaryOp, Block, BlockDecl, Clause, ClauseKind, Expr, ExprKind, FieldDecl, FnDecl, Generic, Ident, Item,
    ItemKind, Module, Param, Pattern, PatternKind, Stmt, StmtKind, TypeExpr, TypeExprKind, UnaryOp, UseDecl,
    VariantDecl, VariantFields,
};

/// Lines are at most this wide where that is possible.
const WIDTH: usize = 100;
/// Deeper levels are not indented further, so that the text stays linear in the tree.
const DEEPEST_INDENT: usize = 60;

/// The tree of a module as nested lists.
pub fn print_tree(module: &Module) -> String {
    let mut out = String::new();
    for item in &module.items {
        item_tree(item).write(&mut out, 0);
        out.push('\n');
    }
    out
}

/// A word, or a list with its width on one line.
enum Tree {
    Word(String),
    List(Vec<Tree>, usize),
}

fn word(text: impl Into<String>) -> Tree {
    Tree::Word(text.into())
}

fn list(head: &str, parts: impl IntoIterator<Item = Tree>) -> Tree {
    let parts: Vec<Tree> = std::iter::once(word(head)).chain(parts).collect();
    let width = 1 + parts.iter().map(|p| p.width() + 1).sum::<usize>();
    Tree::List(parts, width)
}

impl Tree {
    fn width(&self) -> usize {
        match self {
            Tree::Word(text) => text.chars().count(),
            Tree::List(_, width) => *width,
        }
    }

    fn write(&self, out: &mut String, indent: usize) {
        let parts = match self {
            Tree::Word(text) => return out.push_str(text),
            Tree::List(parts, _) => parts,
        };
        let one_line = indent + self.width() <= WIDTH;
        let inner = (indent + 2).min(DEEPEST_INDENT);
        // Words at the front stay beside the head.
        let mut beside = true;
        out.push('(');
        for (index, part) in parts.iter().enumerate() {
            beside &= matches!(part, Tree::Word(_)) && index < 3;
            if index > 0 && (one_line || beside) {
                out.push(' ');
            } else if index > 0 {
                out.push('\n');
                out.extend(std::iter::repeat_n(' ', inner));
            }
            part.write(out, inner);
        }
        out.push(')');
    }
}

fn name(ident: &Ident) -> Tree {
    word(if ident.name.is_empty() { "?" } else { &ident.name })
}

fn path(path: &[Ident]) -> Tree {
    word(path.iter().map(|i| i.name.as_str()).collect::<Vec<_>>().join("::"))
}

fn text(value: &str) -> Tree {
    word(format!("{value:?}"))
}

fn item_tree(item: &Item) -> Tree {
    let tree = match &item.kind {
        ItemKind::Fn(decl) => fn_tree(decl),
        ItemKind::Struct(decl) => {
            list("struct", head(&decl.name, &decl.generics).chain(decl.fields.iter().map(field_decl)))
        }
        ItemKind::Enum(decl) => list("enum", head(&decl.name, &decl.generics).chain(decl.variants.iter().map(variant))),
        ItemKind::Alias(decl) => list("type", head(&decl.name, &decl.generics).chain([ty(&decl.ty)])),
        ItemKind::Const(decl) => {
            list("let", [name(&decl.name)].into_iter().chain(decl.ty.iter().map(ty)).chain([expr(&decl.value)]))
        }
        ItemKind::Use(decl) => use_tree(decl),
        ItemKind::Test(decl) => titled("test", decl),
        ItemKind::Bench(decl) => titled("bench", decl),
        ItemKind::Error => list("error", []),
    };
    let wrapped = item.attributes.iter().rev().fold(tree, |tree, a| list("with", [attribute(a), tree]));
    if item.docs.is_empty() { wrapped } else { list("doc", [text(&item.docs), wrapped]) }
}

fn head<'a>(ident: &Ident, generics: &'a [Generic]) -> impl Iterator<Item = Tree> + use<'a> {
    let generics = generics.iter().map(|g| match &g.constraint {
        Some(constraint) => list("generic", [name(&g.name), name(constraint)]),
        None => list("generic", [name(&g.name)]),
    });
    std::iter::once(name(ident)).chain(generics)
}

fn attribute(attribute: &Attribute) -> Tree {
    list("attribute", [name(&attribute.name)].into_iter().chain(attribute.args.iter().map(expr)))
}

fn field_decl(field: &FieldDecl) -> Tree {
    let documented = (!field.docs.is_empty()).then(|| list("doc", [text(&field.docs)]));
    list("field", [name(&field.name), ty(&field.ty)].into_iter().chain(documented))
}

fn variant(variant: &VariantDecl) -> Tree {
    let fields: Vec<Tree> = match &variant.fields {
        VariantFields::Unit => Vec::new(),
        VariantFields::Tuple(types) => types.iter().map(ty).collect(),
        VariantFields::Struct(fields) => fields.iter().map(field_decl).collect(),
    };
    let documented = (!variant.docs.is_empty()).then(|| list("doc", [text(&variant.docs)]));
    list("variant", [name(&variant.name)].into_iter().chain(fields).chain(documented))
}

fn use_tree(decl: &UseDecl) -> Tree {
    let names = decl.names.iter().flatten().map(|n| match &n.rename {
        Some(rename) => list("as", [name(&n.name), name(rename)]),
        None => name(&n.name),
    });
    let names = decl.names.is_some().then(|| list("names", names));
    list("use", [path(&decl.path)].into_iter().chain(names))
}

fn titled(kind: &str, decl: &BlockDecl) -> Tree {
    list(kind, [text(&decl.title.name), block(&decl.body)])
}

fn fn_tree(decl: &FnDecl) -> Tree {
    let params = list("params", decl.params.iter().map(param));
    let ret = decl.ret.iter().map(|r| list("->", [ty(r)]));
    let body = decl.body.iter().map(block);
    let clauses = decl.clauses.iter().map(clause);
    list("fn", head(&decl.name, &decl.generics).chain([params]).chain(ret).chain(body).chain(clauses))
}

fn clause(clause: &Clause) -> Tree {
    let kind = match clause.kind {
        ClauseKind::Vjp => "vjp",
        ClauseKind::Jvp => "jvp",
        ClauseKind::Transpose => "transpose",
    };
    list(kind, clause.linear.iter().map(name).chain([block(&clause.body)]))
}

fn param(param: &Param) -> Tree {
    match &param.ty {
        Some(written) => list(":", [pattern(&param.pattern), ty(written)]),
        None => pattern(&param.pattern),
    }
}

fn ty(written: &TypeExpr) -> Tree {
    match &written.kind {
        TypeExprKind::Path { path: names, args } if args.is_empty() => path(names),
        TypeExprKind::Path { path: names, args } => list("type", [path(names)].into_iter().chain(args.iter().map(ty))),
        TypeExprKind::Tuple(parts) => list("tuple-type", parts.iter().map(ty)),
        TypeExprKind::Array { size, elem } => {
            list("array-type", [ty(elem)].into_iter().chain(size.iter().map(|s| expr(s))))
        }
        TypeExprKind::Fn { params, ret } => list("fn-type", [list("params", params.iter().map(ty)), ty(ret)]),
        TypeExprKind::Infer => word("_"),
        TypeExprKind::Error => list("error", []),
    }
}

fn block(block: &Block) -> Tree {
    let result = block.result.iter().map(|r| list("value", [expr(r)]));
    list("block", block.stmts.iter().map(stmt).chain(result))
}

fn stmt(stmt: &Stmt) -> Tree {
    match &stmt.kind {
        StmtKind::Let { pattern: bound, ty: written, value } => {
            list("let", [pattern(bound)].into_iter().chain(written.iter().map(ty)).chain([expr(value)]))
        }
        StmtKind::Fn(decl) => fn_tree(decl),
        StmtKind::Assign { place, op, value } => {
            let op = op.map_or_else(|| "=".to_string(), |op| format!("{}=", binary(op)));
            list(&op, [expr(place), expr(value)])
        }
        StmtKind::Expr(value) => list("do", [expr(value)]),
        StmtKind::For { pattern: bound, iter, body } => list("for", [pattern(bound), expr(iter), block(body)]),
        StmtKind::While { cond, body } => list("while", [expr(cond), block(body)]),
        StmtKind::Error => list("error", []),
    }
}

fn expr(e: &Expr) -> Tree {
    let fields = |fields: &[(Ident, Expr)]| -> Vec<Tree> {
        fields.iter().map(|(n, value)| list("field", [name(n), expr(value)])).collect()
    };
    match &e.kind {
        ExprKind::Int(digits) => word(digits.as_str()),
        ExprKind::Float(value) => word(format!("{value:?}")),
        ExprKind::Bool(value) => word(value.to_string()),
        ExprKind::Str(value) => text(value),
        ExprKind::Path(names) => path(names),
        ExprKind::Tuple(parts) => list("tuple", parts.iter().map(expr)),
        ExprKind::Paren(inner) => list("paren", [expr(inner)]),
        ExprKind::Array(parts) => list("array", parts.iter().map(expr)),
        ExprKind::Comprehension { body, generators, filter } => {
            let generators = generators.iter().map(|g| list("for", [pattern(&g.pattern), expr(&g.iter)]));
            let filter = filter.iter().map(|f| list("if", [expr(f)]));
            list("comprehension", [expr(body)].into_iter().chain(generators).chain(filter))
        }
        ExprKind::Struct { path: names, fields: given, base } => {
            let base = base.iter().map(|b| list("base", [expr(b)]));
            list("struct", [path(names)].into_iter().chain(fields(given)).chain(base))
        }
        ExprKind::Call { callee, args } => list("call", [expr(callee)].into_iter().chain(args.iter().map(expr))),
        ExprKind::Method { receiver, name: method, args } => {
            list("method", [name(method), expr(receiver)].into_iter().chain(args.iter().map(expr)))
        }
        ExprKind::Field { base, name: field } => list(".", [expr(base), name(field)]),
        ExprKind::TupleField { base, index, .. } => list(".", [expr(base), word(index.to_string())]),
        ExprKind::Index { base, subscripts } => {
            list("index", [expr(base)].into_iter().chain(subscripts.iter().map(expr)))
        }
        ExprKind::Range { start, end } => {
            let bound = |b: &Option<Box<Expr>>| b.as_ref().map_or_else(|| word("_"), |b| expr(b));
            list("..", [bound(start), bound(end)])
        }
        ExprKind::Unary { op: UnaryOp::Neg, operand } => list("-", [expr(operand)]),
        ExprKind::Unary { op: UnaryOp::Not, operand } => list("!", [expr(operand)]),
        ExprKind::Binary { op, left, right, .. } => list(binary(*op), [expr(left), expr(right)]),
        ExprKind::If { cond, then, otherwise } => {
            list("if", [expr(cond), block(then)].into_iter().chain(otherwise.iter().map(|o| expr(o))))
        }
        ExprKind::IfLet { pattern: p, value, then, otherwise } => {
            let parts = [pattern(p), expr(value), block(then)];
            list("if-let", parts.into_iter().chain(otherwise.iter().map(|o| expr(o))))
        }
        ExprKind::Match { value, arms } => {
            let arms = arms.iter().map(|arm| {
                let guard = arm.guard.iter().map(|g| list("if", [expr(g)]));
                list("=>", [pattern(&arm.pattern)].into_iter().chain(guard).chain([expr(&arm.body)]))
            });
            list("match", [expr(value)].into_iter().chain(arms))
        }
        ExprKind::Block(inner) => block(inner),
        ExprKind::Closure { params, ret, body } => {
            let ret = ret.iter().map(|r| list("->", [ty(r)]));
            list("closure", [list("params", params.iter().map(param))].into_iter().chain(ret).chain([expr(body)]))
        }
        ExprKind::Return(value) => list("return", value.iter().map(|v| expr(v))),
        ExprKind::ReturnWith { value, with } => {
            list("return-with", value.iter().map(|v| expr(v)).chain([list("with", [expr(with)])]))
        }
        ExprKind::Break => list("break", []),
        ExprKind::Continue => list("continue", []),
        ExprKind::TangentLiteral { function, fields: given } => {
            list("tangent", [name(function)].into_iter().chain(fields(given)))
        }
        ExprKind::Error => list("error", []),
    }
}

fn pattern(p: &Pattern) -> Tree {
    match &p.kind {
        PatternKind::Wildcard => word("_"),
        PatternKind::Name { mutable: false, name: bound } => name(bound),
        PatternKind::Name { mutable: true, name: bound } => list("mut", [name(bound)]),
        PatternKind::Literal(value) => expr(value),
        PatternKind::Range { start, end, inclusive } => {
            let bound = |b: &Option<Box<Expr>>| b.as_ref().map_or_else(|| word("_"), |b| expr(b));
            list(if *inclusive { "..=" } else { ".." }, [bound(start), bound(end)])
        }
        PatternKind::Tuple(parts) => list("tuple", parts.iter().map(pattern)),
        PatternKind::Variant { path: names, args } => {
            list("variant", [path(names)].into_iter().chain(args.iter().map(pattern)))
        }
        PatternKind::Struct { path: names, fields, rest } => {
            let fields = fields.iter().map(|(n, p)| list("field", [name(n), pattern(p)]));
            let rest = rest.then(|| word(".."));
            list("struct", [path(names)].into_iter().chain(fields).chain(rest))
        }
        PatternKind::Or(parts) => list("or", parts.iter().map(pattern)),
        PatternKind::Error => list("error", []),
    }
}

fn binary(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Add => "+",
        BinaryOp::Sub => "-",
        BinaryOp::Mul => "*",
        BinaryOp::Div => "/",
        BinaryOp::Rem => "%",
        BinaryOp::Pow => "**",
        BinaryOp::MatMul => "@",
        BinaryOp::Eq => "==",
        BinaryOp::Ne => "!=",
        BinaryOp::Lt => "<",
        BinaryOp::Le => "<=",
        BinaryOp::Gt => ">",
        BinaryOp::Ge => ">=",
        BinaryOp::And => "&&",
        BinaryOp::Or => "||",
    }
}
