#!/usr/bin/env bash
# Gives mutants to all that reads what others wrote, under AddressSanitizer, and runs random programs on the engine:
#
#   scripts/fuzz.sh [COUNT] [SEED]   COUNT mutants of PTX modules, a tenth of it of each kind of file [100000, from seed 0]
#   scripts/fuzz.sh --ci             what .ci/run repeats: PTX modules, calls and programs, for at most 75 s beside the build
#   scripts/fuzz.sh --build          builds, and prints the program's path
#
# The log of each run names seeds: docs/fuzzing.md.
set -euo pipefail
cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-target}/asan
triple=x86_64-unknown-linux-gnu
features=()
if [ "${1:-}" = --ci ]; then features=(--no-default-features); fi

# The sanitizer is in the stable compiler and its runtime in the toolchain; only the option is called unstable.
RUSTC_BOOTSTRAP=1 RUSTFLAGS="-Zsanitizer=address" cargo build --quiet --package ridgepoint-fuzz --release \
    --target "$triple" --target-dir "$target" "${features[@]}"
program=$target/$triple/release/ridgepoint-fuzz
# What is larger is not there: that has to be an error of the engine, not the end of the process.
export ASAN_OPTIONS=allocator_may_return_null=1:max_allocation_size_mb=1024:detect_leaks=0:${ASAN_OPTIONS:-}
corpus=(--corpus crates/tools/fuzz/corpus --corpus crates/ptx/tests/corpus --corpus crates/engine/tests)
log=$target/fuzz.log

case "${1:-}" in
--build)
    echo "$program"
    ;;
--ci)
    "$program" modules --count 20000 --time 40 --log "$log" "${corpus[@]}" || { cat "$log"; exit 1; }
    "$program" calls --count 5000 --time 15 --log "$log" || { cat "$log"; exit 1; }
    "$program" programs --devices cpu --count 5000 --time 20 --log "$log" || { cat "$log"; exit 1; }
    ;;
*)
    count=${1:-100000} seed=${2:-0} status=0
    run() { "$program" "$@" --seed "$seed" --log "$target/fuzz-$1.log" || status=1; }
    run modules --count "$count" "${corpus[@]}"
    run calls --count $((count / 10))
    run rows --count $((count / 10)) --corpus crates/tools/fuzz/corpus
    run launch-files --count $((count / 10))
    run frames --count $((count / 10))
    run programs --devices cpu --count $((count / 10))
    exit "$status"
    ;;
esac
