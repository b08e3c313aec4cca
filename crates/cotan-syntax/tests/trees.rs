//! What is parsed into what: precedence, statements, clauses, slices, literals.

use cotan_source::FileId;
use cotan_syntax::{parse, print_tree};

fn tree(text: &str) -> String {
    let (module, diagnostics) = parse(FileId(0), text);
    assert!(diagnostics.is_empty(), "{text}: {diagnostics:#?}");
    print_tree(&module).split_whitespace().collect::<Vec<_>>().join(" ")
}

#[track_caller]
fn expr(text: &str, expected: &str) {
    assert_eq!(tree(&format!("let x = {text};")), format!("(let x {expected})"), "{text}");
}

#[track_caller]
fn body(text: &str, expected: &str) {
    assert_eq!(tree(&format!("fn f() {{ {text} }}")), format!("(fn f (params) (block {expected}))"), "{text}");
}

#[test]
fn precedence() {
    expr("1 + 2 * 3 - 4", "(- (+ 1 (* 2 3)) 4)");
    expr("a - b - c", "(- (- a b) c)");
    expr("a * b / c % d @ e", "(@ (% (/ (* a b) c) d) e)");
    expr("-x ** 2", "(- (** x 2))");
    expr("2 ** -x ** 3 * y", "(* (** 2 (- (** x 3))) y)");
    expr("a ** b ** c", "(** a (** b c))");
    expr("-a.b(c) * !d", "(* (- (method b a c)) (! d))");
    expr("a || b && c == d + 1", "(|| a (&& b (== c (+ d 1))))");
    expr("(a < b) == c", "(== (paren (< a b)) c)");
    expr("|x| x + 1", "(closure (params x) (+ x 1))");
    expr("a @ b + c", "(+ (@ a b) c)");
    expr("- - 1", "(- (- 1))");
}

#[test]
fn numbers_and_dots() {
    expr("[x for i in 0..n]", "(comprehension x (for i (.. 0 n)))");
    expr("1.", "1.0");
    expr("1.f(2)", "(method f 1 2)");
    expr("1.5.f()", "(method f 1.5)");
    expr("t.0.1", "(. (. t 0) 1)");
    expr("t.0.1.x", "(. (. (. t 0) 1) x)");
    expr("1_000 + 1_0.5e-1_0 + 2E3", "(+ (+ 1000 1e-9) 2000.0)".replace("1e-9", "1.05e-9").as_str());
    expr("a[1..2]", "(index a (.. 1 2))");
    expr("a[1.]", "(index a 1.0)");
    expr("a[i..]", "(index a (.. i _))");
    expr("a[..j]", "(index a (.. _ j))");
    expr("a[.., k]", "(index a (.. _ _) k)");
    expr("a[1..=n]", "(index a (.. 1 (+ n 1)))");
    expr("a[i + 1..-1]", "(index a (.. (+ i 1) (- 1)))");
}

#[test]
fn brackets() {
    expr("()", "(tuple)");
    expr("(a)", "(paren a)");
    expr("(a,)", "(paren a)");
    expr("(a, b,)", "(tuple a b)");
    expr("S { a, b: 1, ..c }", "(struct S (field a a) (field b 1) (base c))");
    expr("E::M { a: 1 }", "(struct E::M (field a 1))");
    expr("S {}", "(struct S)");
    expr("tangent f { w: 7.0, b }", "(tangent f (field w 7.0) (field b b))");
    expr("tangent(f) + tangent", "(+ (call tangent f) tangent)");
    expr("[f(x) for (x, y) in xs if c]", "(comprehension (call f x) (for (tuple x y) xs) (if c))");
    expr("[e for i in 0..n, j in 0..m]", "(comprehension e (for i (.. 0 n)) (for j (.. 0 m)))");
    expr(
        "[if a { b } else { c } for x in xs]",
        "(comprehension (if a (block (value b)) (block (value c))) (for x xs))",
    );
    expr("|| 1", "(closure (params) 1)");
    expr("|(a, b), c: [n]T| a", "(closure (params (tuple a b) (: c (array-type T n))) a)");
    expr("|x| -> T { x }", "(closure (params x) (-> T) (block (value x)))");
    expr("f(x)(y)[z].w(v)", "(method w (index (call (call f x) y) z) v)");
    expr(r#""a\n\"\u{3c0}""#, r#""a\n\"π""#);
}

#[test]
fn statements() {
    body("if a { b } -1", "(do (if a (block (value b)))) (value (- 1))");
    body("if a { b } else { c }.d", "(value (. (if a (block (value b)) (block (value c))) d))");
    body("match x { _ => {} } (1, 2)", "(do (match x (=> _ (block)))) (value (tuple 1 2))");
    body(
        "match x { a => { b } c => d - 1, e => f }",
        "(value (match x (=> a (block (value b))) (=> c (- d 1)) (=> e f)))",
    );
    body("match x { 1 => y += 2, _ => y = 3 }", "(value (match x (=> 1 (block (+= y 2))) (=> _ (block (= y 3)))))");
    body("x **= 2; y @= z; a[i].b = c;", "(**= x 2) (@= y z) (= (. (index a i) b) c)");
    body("adjoint(p).f[i] += e;", "(+= (index (. (call adjoint p) f) i) e)");
    body("for i in 0.. { x } while a == b { }", "(for i (.. 0 _) (block (value x))) (while (== a b) (block))");
    body("for x in [S { a: 1 }] { }", "(for x (array (struct S (field a 1))) (block))");
    body("if let Some(x) = y { x }", "(value (if-let (variant Some x) y (block (value x))))");
    body("if a { } else if b { } else { c }", "(value (if a (block) (if b (block) (block (value c)))))");
    body("if c { x = 1 }", "(value (if c (block (= x 1))))");
}

#[test]
fn clauses_and_soft_words() {
    body(
        "fn g(x: A) { x } vjp { return y with |d| { }; } vjp(g, x)",
        concat!(
            "(fn g (params (: x A)) (block (value x)) ",
            "(vjp (block (do (return-with y (with (closure (params d) (block)))))))) ",
            "(value (call vjp g x))"
        ),
    );
    body("fn g() { } transpose(g, x)(1.0)", "(fn g (params) (block)) (value (call (call transpose g x) 1.0))");
    body(
        "fn g() { } transpose(v) { return with |y| { } }",
        concat!(
            "(fn g (params) (block) (transpose v ",
            "(block (value (return-with (with (closure (params y) (block))))))))"
        ),
    );
    body("return with;", "(do (return with))");
    body("return with + 1;", "(do (return (+ with 1)))");
    body("return f(x) with tangent(x);", "(do (return-with (call f x) (with (call tangent x))))");
    body("let test = bench; test", "(let test bench) (value test)");
    assert_eq!(tree("test \"t\" { }"), "(test \"t\" (block))");
    assert_eq!(
        tree("@builtin(\"sin\") fn sin<T: Real>(x: T) -> T;"),
        "(with (attribute builtin \"sin\") (fn sin (generic T Real) (params (: x T)) (-> T)))"
    );
}

#[test]
fn patterns_and_types() {
    body(
        "match x { -1 | 2 => a, 1..5 => b, 6..=9 => c, 3.. => d, ..=-2 => e }",
        concat!(
            "(value (match x (=> (or (- 1) 2) a) (=> (.. 1 5) b) (=> (..= 6 9) c) (=> (.. 3 _) d) ",
            "(=> (..= _ (- 2)) e)))"
        ),
    );
    body(
        "match x { S { a, b: E::K(mut c), .. } if d => e }",
        "(value (match x (=> (struct S (field a a) (field b (variant E::K (mut c))) ..) (if d) e)))",
    );
    assert_eq!(
        tree("type F<A> = fn(A, [n + 1][]B) -> Pair<A, Pair<(), (A)>>;"),
        concat!(
            "(type F (generic A) (fn-type (params A (array-type (array-type B) (+ n 1))) ",
            "(type Pair A (type Pair (tuple-type) A))))"
        )
    );
    assert_eq!(tree("let x: P<A>= 1;"), "(let x (type P A) 1)");
    assert_eq!(tree("use a::b::{c as d, e};"), "(use a::b (names (as c d) e))");
    assert_eq!(tree("use a::b as c;"), "(use a (names (as b c)))");
}

#[test]
fn docs_belong_to_what_follows_and_other_comments_are_kept() {
    let text =
        "/// One.\n/// Two.\nfn f() { // here\n/// stray\n1 }\n/* end */ struct S {\n/// A field.\na: A }\n//! inner";
    let (module, diagnostics) = parse(FileId(0), text);
    assert!(diagnostics.is_empty());
    assert_eq!(module.items[0].docs, "One.\nTwo.");
    let comments: Vec<_> = module.comments.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(comments, ["// here", "/// stray", "/* end */", "//! inner"]);
    assert!(print_tree(&module).contains("A field."));
}

#[test]
fn the_tree_breaks_long_lines() {
    let sum = (0..40).map(|i| format!("x{i}")).collect::<Vec<_>>().join(" + ");
    let (module, _) = parse(FileId(0), &format!("fn f() {{ {sum} }}"));
    let text = print_tree(&module);
    assert!(text.lines().all(|line| line.len() < 160), "{text}");
    assert!(text.lines().count() > 3);
}
