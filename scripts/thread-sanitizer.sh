#!/usr/bin/env bash
# Runs launches without checks on four cores under ThreadSanitizer: kept files, among them one whose threads race, mutants and
# random programs. The sanitizer needs a standard library that is built for it.
#
#   scripts/thread-sanitizer.sh [COUNT]   COUNT mutants [2000]
set -euo pipefail
cd "$(dirname "$0")/.."
count=${1:-2000}
target=${CARGO_TARGET_DIR:-target}/tsan
triple=x86_64-unknown-linux-gnu
# What is looked for does not depend on how well the code is optimised, and this is compiled in less time.
export CARGO_PROFILE_QUICK_OPT_LEVEL=1
RUSTC_BOOTSTRAP=1 RUSTFLAGS="-Zsanitizer=thread" cargo build --quiet --package ridgepoint-fuzz --release \
    -Zbuild-std --target "$triple" --target-dir "$target" --no-default-features
program=$target/$triple/release/ridgepoint-fuzz
export TSAN_OPTIONS=halt_on_error=1:${TSAN_OPTIONS:-}
"$program" replay --cores 4 crates/tools/fuzz/corpus/racing_words.ptx
"$program" modules --cores 4 --count "$count" --log "$target/fuzz.log" --corpus crates/tools/fuzz/corpus/racing_words.ptx
