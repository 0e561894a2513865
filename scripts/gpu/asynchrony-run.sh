#!/usr/bin/env bash
# The part of scripts/gpu/gpu-run.sh that is about asynchrony, which runs alone too:
#
#   bundle/asynchrony-run.sh results
#
# Ends with 1 if a test fails or a gate against a peer is missed.
set -uo pipefail
bundle=$(cd "$(dirname "$0")" && pwd)
out=$(mkdir -p "$1" && cd "$1" && pwd)
cd "$bundle" || exit 1
export RIDGEPOINT_REQUIRE_GPU=1 RIDGEPOINT_REQUIRE_CUPTI=1 RIDGEPOINT_BIN=$bundle/ridgepoint
failed=0

./machine.sh >"$out/machine.txt" 2>&1 || failed=1
for test in vectors asynchrony; do
    ./test-$test >"$out/test-$test.txt" 2>&1 || failed=1
    grep -E 'test result|FAILED|panicked' "$out/test-$test.txt"
done
python3 asynchrony.py . "$out/asynchrony.md" || failed=1
./bench-asynchrony --bench >"$out/bench.txt" 2>&1 || failed=1

# Timelines: before and after.
work=$(mktemp -d)
# Few steps do not converge, which `power` says with status 1.
steps() {
    ./ridgepoint power --device cuda --max-steps 60 --quiet "$@"
    (($? <= 1))
}
trap 'rm -rf "$work"' EXIT
for mode in baseline async graph; do
    steps --mode $mode --checkpoint "$work/$mode" --profile --trace "$work/$mode.json" 2>"$out/power-$mode-profile.txt" || failed=1
    python3 timeline.py "$work/$mode.json" iterate "$out/power-$mode.svg" || failed=1
done
# The same by events, which have themselves in the times.
steps --mode async --checkpoint "$work/events" --profile --device-times events 2>"$out/power-async-profile-events.txt" || failed=1
# How busy the device is in a whole run.
for mode in async graph; do
    ./ridgepoint power --device cuda --mode $mode --checkpoint "$work/whole-$mode" --quiet \
        --trace "$work/power-$mode-whole.json" || failed=1
    (cd "$work" && python3 "$bundle/timeline.py" power-$mode-whole.json iterate power-$mode-whole.svg) ||
        failed=1
done >"$out/busy.txt"
cat "$out/busy.txt"
for mode in pageable sequential streamed; do
    ./ridgepoint pipeline --device cuda --mode $mode --kernel polynomial --weight 1 --batches 4 \
        --rounds 1 --quiet --trace "$work/$mode.json" || failed=1
    python3 timeline.py "$work/$mode.json" last-pass "$out/pipeline-$mode.svg" || failed=1
done
# What places on the device beyond two cost.
for slots in 1 2 3 4 6; do
    ./ridgepoint pipeline --device cuda --mode streamed --kernel polynomial --weight 1 --slots $slots \
        --rounds 15 --quiet --output "$work/slots-$slots.csv" || failed=1
    tail -n +$((slots == 1 ? 1 : 2)) "$work/slots-$slots.csv"
done >"$out/pipeline-slots.csv"
gzip -c "$work/streamed.json" >"$out/pipeline-streamed-trace.json.gz"
exit $failed
