#!/usr/bin/env bash
# Makes bundle/, everything that scripts/gpu/gpu-run.sh needs on a machine with a GPU, and bundle.tgz, the
# same in a third of the bytes. That machine needs the driver, and for the peers python3 with CuPy and
# PyTorch, and nvcc; it needs no Rust.
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
    cargo "$@" --no-run --message-format=json-render-diagnostics | python3 -c '
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message.get("executable") and message["target"]["name"] == sys.argv[1]:
        print(message["executable"])' "$target"
}

rm -rf bundle bundle.tgz
mkdir -p bundle/examples
# built PACKAGE CARGO-ARGUMENTS...: builds, and prints the folder that the package's build script wrote to.
built() {
    local package=$1
    shift
    cargo build "$@" --message-format=json-render-diagnostics | python3 -c '
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message["reason"] == "build-script-executed" and message["package_id"] == sys.argv[1]:
        print(message["out_dir"])' "$(cargo pkgid --package "$package")"
}

# A peer loads our PTX itself, to launch it in turns with its own.
cp "$(built ridgepoint --release --features nvtx)/kernels.ptx" target/release/ridgepoint bundle/
cp "$(built examples --release --package examples)/kernels.ptx" bundle/examples.ptx
cp tests/planted/planted.ptx bundle/
for source in examples/src/bin/*.rs; do
    cp "target/release/$(basename "$source" .rs)" bundle/examples/
done
cargo build --release --package planted
cp target/release/planted bundle/
cp "$(executable machines test --release --test machines)" bundle/test-machines
cp "$(executable api test --release --package conformance --test api)" bundle/test-api
cp "$(executable bugs test --release --package planted --test bugs)" bundle/test-bugs
cp "$(executable functions test --release --package mathematics --test functions)" bundle/test-functions
cargo build --release --package mathematics
cp target/release/mathematics bundle/
cp "$(executable programs test --release --package examples --test programs)" bundle/test-programs
for bench in roofline vectors asynchrony; do
    cp "$(executable $bench bench --release --bench $bench)" "bundle/bench-$bench"
done
cp "$(executable workloads bench --release --package examples --bench workloads)" bundle/bench-workloads
cp "$(executable workloads bench --release --package ridgepoint-gemm --bench workloads)" bundle/bench-gemm
cp examples/benches/{nvcc,plain,twins}.ptx bundle/
cp "$(built attention --release --package attention)/kernels.ptx" bundle/attention.ptx
cp "$(executable results test --release --package attention --test results)" bundle/test-attention
cp "$(built ladder --release --package ladder)/kernels.ptx" bundle/ladder.ptx
cp "$(executable workloads bench --release --package ladder --bench workloads)" bundle/bench-ladder
cp "$(executable results test --release --package ladder --test results)" bundle/test-ladder
cp "$(executable products test --release --package ridgepoint-gemm --test products)" bundle/test-products
cp "$(executable processes test --release --package ridgepoint-ranks --test processes)" bundle/test-ranks
# demo NAME: the bench of the package that `ridgepoint new` makes, as it is now.
demo() {
    cp "$(cd target/gate-demo &&
        CARGO_TARGET_DIR=.. executable kernels bench --package gate-demo-benches --bench kernels)" "bundle/$1"
}
rm -rf target/gate-demo
(cd target && release/ridgepoint new gate-demo --path .. --quiet)
demo bench-demo
scripts/gpu/slower.sh target/gate-demo
demo bench-demo-slow
cp scripts/gpu/*.{sh,py} scripts/checks/*.py scripts/figures/lesson.sh bundle/
cp -r scripts/gpu/programs bundle/
cp benches/peers/*.{cu,cuh,py} bundle/
echo "$RIDGEPOINT_COMMIT" >bundle/commit
# What debuggers need is most of their size.
find bundle -type f -perm -u=x ! -name '*.sh' ! -name '*.py' -exec strip {} +
scripts/gpu/slurm-folder.sh bundle/slurm
tar czf bundle.tgz bundle
du -sh bundle bundle.tgz
