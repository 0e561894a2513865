#!/usr/bin/env bash
# Runs the GPU tests and measurements of the bundle that scripts/gpu-bundle.sh made, and leaves
# their results in a folder:
#
#   bundle/gpu-run.sh results
#
# Ends with 1 if a test fails or a kernel is slower than its peer.
set -uo pipefail
bundle=$(cd "$(dirname "$0")" && pwd)
out=$(mkdir -p "$1" && cd "$1" && pwd)
cd "$bundle" || exit 1
export RIDGEPOINT_REQUIRE_GPU=1 RIDGEPOINT_BIN=$bundle/ridgepoint RIDGEPOINT_EXAMPLES=$bundle/examples
failed=0

{
    ./machine.sh
    sha256sum ridgepoint
    ./ridgepoint device
} >"$out/machine.txt" 2>&1 || failed=1

{
    ./test-machines && ./test-api && ./test-programs && ./test-functions cuda::
} >"$out/tests.txt" 2>&1 || failed=1
grep 'test result' "$out/tests.txt"

./ceilings-run.sh "$out/ceilings" || failed=1
ceilings=$out/ceilings/ceilings.json

k=1,2,5,10,20,50,100,200,500,1000,2000
sweep() {
    ./ridgepoint roofline --device cuda --kernel all --vector 1,4 --grid full,8x --k $k --runs 30 \
        --quiet --ceilings "$ceilings" "$@"
}
sweep --output "$out/roofline.csv,$out/roofline.json" --plot "$out/roofline.svg" \
    --report "$out/roofline.html" || failed=1
# The same again: what differs is noise.
sweep --output "$out/again.csv" || failed=1
./ridgepoint compare "$out/roofline.csv" "$out/again.csv" --tolerance 1% || failed=1
./lesson.sh "$out/roofline.csv" "$ceilings" "$out/lesson" || failed=1
python3 roofline.py "$out/roofline.csv" "$out/peers.md" || failed=1
python3 examples.py examples "$out/examples.md" || failed=1
python3 counts.py . "$out/counts" || failed=1
./intensity-run.sh "$out/intensity" "$ceilings" || failed=1

./ridgepoint occupancy --device cuda --ceilings "$ceilings" \
    --kernel copy,read,scale,elementwise,nrm2,power-sum,fma --block 64,128,256,512,1024 \
    --max-registers any,40,32 --output "$out/occupancy.csv" --plot "$out/occupancy.svg" \
    --report "$out/occupancy.html" >"$out/occupancy.txt" || failed=1

./ridgepoint roofline --device cuda --kernel all --dtype f64,f16x2 --vector 2,4 --ilp 1,2 \
    --grid full,8x --k 1,10,50,200,1000 --quiet --ceilings "$ceilings" \
    --output "$out/variants.csv" --plot "$out/variants.svg" || failed=1
python3 roofs.py "$out/roofline.csv" "$out/variants.csv" >"$out/roofs.txt" || failed=1
cat "$out/roofs.txt"
./bench-roofline --bench >"$out/bench.txt" 2>&1 || failed=1
./workloads-run.sh "$out/workloads" "$ceilings" || failed=1
./products-run.sh "$out/products" || failed=1
./asynchrony-run.sh "$out/asynchrony" || failed=1
./mathematics-run.sh "$out/mathematics" || failed=1
exit $failed
