#!/usr/bin/env bash
# Speeds and errors of the functions of floats, beside CUDA's, from the bundle that scripts/gpu-bundle.sh
# made: what docs/results/h200-mathematics has. Needs nvcc, CuPy and gmpy2.
#
#   bundle/mathematics-run.sh results
#
# Ends with 1 if a function misses the speed asked of it, or its error is greater than CUDA's.
set -uo pipefail
bundle=$(cd "$(dirname "$0")" && pwd)
out=$(mkdir -p "$1" && cd "$1" && pwd)
cd "$bundle" || exit 1
failed=0

{
    ./machine.sh
    sha256sum mathematics
} >"$out/machine.txt" || failed=1
./mathematics ptx >mathematics.ptx || failed=1
python3 mathematics.py mathematics.ptx "$out/speeds.csv" >"$out/speeds.txt" || failed=1
tail -n 1 "$out/speeds.txt"
python3 mathematics-errors.py ./mathematics --all --output "$out/errors.csv" >"$out/errors.txt" || failed=1
grep GREATER "$out/errors.txt"
exit $failed
