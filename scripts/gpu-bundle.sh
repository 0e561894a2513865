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

# executable TARGET CARGO-ARGUMENTS...: builds a test or bench target and prints where it is, from
# cargo's own report.
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

rm -rf bundle
mkdir -p bundle/examples
cargo build --release
cp target/release/ridgepoint bundle/
cargo build --profile quick --package examples
for source in examples/src/bin/*.rs; do
    cp "target/quick/$(basename "$source" .rs)" bundle/examples/
done
cargo build --profile quick --package planted
cp target/quick/planted bundle/
for test in agreement ceilings gpu occupancy; do
    cp "$(executable $test test --profile quick --test $test)" "bundle/test-$test"
done
cp "$(executable api test --profile quick --package conformance --test api)" bundle/test-api
cp "$(executable programs test --profile quick --package examples --test programs)" bundle/test-programs
cp "$(executable roofline bench --bench roofline)" bundle/bench-roofline
cp scripts/gpu-run.sh scripts/lesson.sh scripts/roofs.py scripts/sanitize.sh scripts/sanitize-bugs.sh bundle/
cp benches/peers/* bundle/
echo "$RIDGEPOINT_COMMIT" >bundle/commit
# What debuggers need is most of their size.
find bundle -type f -perm -u=x ! -name '*.sh' ! -name '*.py' -exec strip {} +
du -sh bundle
