#!/usr/bin/env bash
# Tests the products of crates/gemm, the steps of examples/ladder and the attention of examples/attention on an H100 or H200, and times
# them beside cuBLAS, cuDNN and FlashAttention in the same call, from the bundle that scripts/gpu-bundle.sh made:
#
#   bundle/products-run.sh results
#
# The machine has ptxas and PyTorch. Ends with 1 if a test fails or a result is wrong.
set -uo pipefail
bundle=$(cd "$(dirname "$0")" && pwd)
out=$(mkdir -p "$1" && cd "$1" && pwd)
cd "$bundle" || exit 1
export RIDGEPOINT_REQUIRE_GPU=1 PYTHONUNBUFFERED=1
cubins=$(mktemp -d)
trap 'rm -rf "$cubins"' EXIT
failed=0

./machine.sh >"$out/machine.txt" || failed=1
for test in products ladder attention; do
    "./test-$test" cuda:: || failed=1
done >"$out/tests.txt" 2>&1
grep -E 'test result|FAILED|panicked' "$out/tests.txt"
# The ladder's PTX has the kernels of the library, too.
ptxas -arch=sm_90a ladder.ptx -o "$cubins/ladder" && ptxas -arch=sm_90a attention.ptx -o "$cubins/attention" || failed=1
python3 gemm.py "$cubins/ladder" >"$out/gemm.txt" || failed=1
python3 attention.py "$cubins/attention" >"$out/attention.txt" || failed=1
python3 ladder.py "$cubins/ladder" >"$out/ladder.txt" || failed=1
tail -n 25 "$out"/{gemm,attention,ladder}.txt
exit $failed
