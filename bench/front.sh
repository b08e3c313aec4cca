#!/usr/bin/env bash
# Times of the front end (see RESULTS.md): checks a generated program of about 1,000 lines, and compiles the gradient of a straight
# program of 10,000 scalar operations. Needs the release binary: cargo build --release -p cotan-cli
set -euo pipefail
cd "$(dirname "$0")/.."
cotan=${COTAN:-target/release/cotan}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

{
    for i in $(seq 1 167); do
        printf 'struct S%d { a: Float, b: [3]Float }\nfn f%d(s: S%d, n: Int) -> Float {\n    let mut t = s.a;\n    for i in 0..n { t += s.b[i %% 3] * sin(t); }\n    if t > 0.0 { log(1.0 + t) } else { t }\n}\n' "$i" "$i" "$i"
    done
    echo 'fn main() -> Float { grad(|x| f7(S7 { a: x, b: [1.0, 2.0, 3.0] }, 4))(0.5) }'
} > "$work/lines.cot"
echo "check, $(wc -l < "$work/lines.cot") lines:"
for _ in 1 2 3 4 5; do "$cotan" check --time "$work/lines.cot" 2>&1; done

{
    echo 'fn f(x0: Float) -> Float {'
    for i in $(seq 1 5000); do printf '    let x%d = sin(x%d) * 0.99 + x%d;\n' "$i" $((i - 1)) $((i > 3 ? i - 3 : 0)) | sed 's/ \* 0.99//'; done
    echo '    x5000'
    echo '}'
} > "$work/straight.cot"
echo "gradient of 10,000 scalar operations:"
for _ in 1 2 3; do "$cotan" grad --time "$work/straight.cot" f --arg x0=0.5 2>&1 | grep -v '^$'; done
