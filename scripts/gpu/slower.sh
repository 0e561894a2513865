#!/usr/bin/env bash
# Makes the kernel of a package that `ridgepoint new` has slower: it computes so many steps of a hash beside, 3 by default.
#
#   scripts/gpu/slower.sh PACKAGE [STEPS]
set -euo pipefail
kernels=$1/kernels/src/lib.rs
sed -i -e "s|^    for (x, y) in y.own_with(x) {\$|    let mut hash = thread::global_index() as u32;\n    for _ in 0..${2:-3} {\n        hash = (hash ^ hash >> 15).wrapping_mul(0x9E37_79B9);\n    }\n&|" \
    -e 's|^        \*y = a \* x;$|        *y = if hash == 1 { 0.0 } else { a * x };|' \
    "$kernels"
grep -q 'let mut hash' "$kernels" && grep -q 'hash == 1' "$kernels"
