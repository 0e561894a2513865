#!/usr/bin/env bash
# Arithmetic intensity by formula, counted by the emulator and measured by the GPU's counters, of the polynomial, nrm2,
# gemv and matmul in one chart:
#
#   bundle/intensity-run.sh results [ceilings.json]
#
# Leaves intensity.csv, .json, .svg, .png, .html and .md. Ends with 1 where a row lacks one of the three.
set -uo pipefail
bundle=$(cd "$(dirname "$0")" && pwd)
out=$(mkdir -p "$1" && cd "$1" && pwd)
ceilings=()
if [ $# -gt 1 ]; then
    ceilings=(--ceilings "$(realpath "$2")")
fi
cd "$bundle" || exit 1
failed=0

./machine.sh >"$out/machine.txt" 2>&1 || failed=1

# Cold caches: what a launch before has left in the L2 cache would not come from memory.
./ridgepoint roofline --device cuda --kernel horner,nrm2,gemv,matmul --k 1,4,20,100 --vector 4 --ilp 4 --cache cold \
    --runs 20 --counters --quiet "${ceilings[@]}" --output "$out/intensity.csv,$out/intensity.json" \
    --plot "$out/intensity.svg,$out/intensity.png" --report "$out/intensity.html" || failed=1
python3 intensity.py "$out/intensity.csv" "$out/intensity.md" || failed=1
exit $failed
