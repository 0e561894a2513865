#!/usr/bin/env bash
# Measures a GPU's ceilings, and beside them nvcc's kernels, CuPy, CUB and PyTorch on the same GPU, from the bundle that
# scripts/gpu-bundle.sh made:
#
#   bundle/ceilings-run.sh results
#
# Ends with 1 if a ceiling is lower than its peer.
set -uo pipefail
bundle=$(cd "$(dirname "$0")" && pwd)
out=$(mkdir -p "$1" && cd "$1" && pwd)
cd "$bundle" || exit 1
failed=0

./machine.sh >"$out/machine.txt" || failed=1
./ridgepoint ceilings --device cuda --output "$out/ceilings.json" >"$out/ceilings.txt" || failed=1
cat "$out/ceilings.txt"
for peers in ceilings sharing tensor; do
    python3 $peers.py "$out/ceilings.json" "$out/$peers-peers.md" || failed=1
done
exit $failed
