#!/usr/bin/env bash
# Runs the tests of this tree that need GPUs, with two emulated ones in their place:
#
#   scripts/emulated-gpu.sh TEST...    api (15 s), programs (2 minutes), machines (15 minutes)
#
# Left out is what measures ceilings and links: it moves as much as takes a GPU long enough. Tests of CUPTI are skipped.
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || { sed -n '/^# /s///p' "$0"; exit 2; }
tests=()
for test; do tests+=(--test "$test"); done

# Some tests start programs in whose kernels something is found: their own status counts.
cargo build --quiet --workspace --features nvtx --bin ridgepoint
findings=$(mktemp -d)
trap 'rm -rf "$findings"' EXIT
export RIDGEPOINT_REQUIRE_GPU=2 NVCC_PTX=$PWD/examples/benches
"${CARGO_TARGET_DIR:-target}/debug/ridgepoint" emulate --quiet --program-status --findings "$findings" --gpus 2 -- \
    cargo test --quiet --workspace --features nvtx "${tests[@]}" -- cuda:: --skip cuda::ceilings --skip cuda::links | tee "$findings/said"

# A program whose names have changed would pass with no test.
[ "$(grep -c '^test result: ok\. [1-9]' "$findings/said")" = $# ] || { echo "a program has run no test" >&2; exit 1; }
