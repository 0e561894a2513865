#!/usr/bin/env bash
# Makes bundle-asynchrony/: what scripts/asynchrony-run.sh needs on a machine with a GPU, built here,
# as scripts/gpu-bundle.sh does for the other measurements.
set -euo pipefail
cd "$(dirname "$0")/.."

RIDGEPOINT_COMMIT=$(git rev-parse HEAD)
if ! git diff --quiet HEAD; then
    RIDGEPOINT_COMMIT+=-dirty
fi
export RIDGEPOINT_COMMIT
out=bundle-asynchrony

# executable TARGET CARGO-ARGUMENTS...: builds a test or bench target and prints where it is.
executable() {
    local target=$1
    shift
    cargo "$@" --no-run --message-format=json | python3 -c '
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message.get("executable") and message["target"]["name"] == sys.argv[1]:
        print(message["executable"])' "$target"
}

rm -rf "$out"
mkdir "$out"
# Without link-time optimisation: on a GPU nothing of the emulator runs.
built=$(cargo build --profile quick --message-format=json | python3 -c '
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    package = message.get("package_id", "").rpartition("#")[2]
    if message["reason"] == "build-script-executed" and package.startswith("ridgepoint@"):
        print(message["out_dir"])')
cp target/quick/ridgepoint "$built/kernels.ptx" "$out/"
for test in vectors asynchrony; do
    cp "$(executable $test test --profile quick --test $test)" "$out/test-$test"
done
for bench in vectors asynchrony; do
    cp "$(executable $bench bench --profile quick --bench $bench)" "$out/bench-$bench"
done
cp scripts/asynchrony-run.sh benches/peers/asynchrony.* benches/peers/{polynomial,squares}.cu scripts/timeline.py "$out/"
echo "$RIDGEPOINT_COMMIT" >"$out/commit"
# What debuggers need is most of their size.
find "$out" -type f -perm -u=x ! -name '*.sh' ! -name '*.py' -exec strip {} +
du -sh "$out"
