#!/usr/bin/env bash
# Makes the kernel of a package that `ridgepoint new` has made slower: one block in 32 reads a second, distant element,
# which is 5 % more time on an H100 (of one block in 16: 10.3 %).
#
#   scripts/gpu/slower.sh PACKAGE
set -euo pipefail
kernels=$1/kernels/src/lib.rs
sed -i -e 's|^    for (x, y) in y.own_with(x) {$|    let (all, own) = (x, thread::global_index());\n    let is_slow = thread::block_idx_x() % 32 == 0;\n&|' \
    -e 's|^        \*y = a \* x;$|        let far = if is_slow { all[(own + all.len() / 2) % all.len()] } else { *x };\n        *y = a * (0.5 * (x + far));|' \
    "$kernels"
grep -q is_slow "$kernels" && grep -q 'x + far' "$kernels"
