#!/usr/bin/env bash
# Makes bundle/: everything that scripts/gpu-run.sh needs on a machine with a GPU, built here. That
# machine needs the driver, and for the peers python3 with CuPy and nvcc; it needs no Rust.
set -euo pipefail
cd "$(dirname "$0")/.."

RIDGEPOINT_COMMIT=$(git rev-parse HEAD)
if ! git diff --quiet HEAD; then
    RIDGEPOINT_COMMIT+=-dirty
fi
export RIDGEPOINT_COMMIT

# The path of the executable of a test or bench target, from cargo's own report.
executable() {
    python3 -c '
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message.get("executable") and message["target"]["name"] == sys.argv[1]:
        print(message["executable"])' "$1"
}

rm -rf bundle
mkdir -p bundle
cargo build --release
cp target/release/ridgepoint bundle/
for test in agreement gpu; do
    cp "$(cargo test --release --test $test --no-run --message-format=json | executable $test)" "bundle/test-$test"
done
cp "$(cargo bench --bench roofline --no-run --message-format=json | executable roofline)" bundle/bench-roofline
cp scripts/gpu-run.sh benches/peers/polynomial.cu benches/peers/roofline.py bundle/
echo "$RIDGEPOINT_COMMIT" >bundle/commit
du -sh bundle
