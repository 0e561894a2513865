#!/usr/bin/env bash
# Builds the wheel of the `ridgepoint` command and its pytest plugin, and prints its SHA-256 and path:
#
#   scripts/wheel.sh [FOLDER]    write it into FOLDER [target/wheel]
#
# One commit gives the same bytes in whichever folder its tree and cargo's registry lie, with the same Rust, linker and
# zlib. The wheel runs where glibc is as new as the symbols that this machine's linker has bound: its name says which.
set -euo pipefail
tree=$(cd "$(dirname "$0")/.." && pwd -P)
folder=$(realpath -m "${1:-$tree/target/wheel}")
cd "$tree"

# Of another target folder, because other flags would build all that is in the usual one again.
export CARGO_TARGET_DIR=$tree/target/wheel/build CARGO_INCREMENTAL=0
registry=$(realpath -m "${CARGO_HOME:-$HOME/.cargo}")
export CARGO_ENCODED_RUSTFLAGS="--remap-path-prefix=$tree=."$'\x1f'"--remap-path-prefix=$registry=cargo"
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH

cargo build --release --locked --package ridgepoint --bin ridgepoint >&2
scripts/wheel.py "$CARGO_TARGET_DIR/release/ridgepoint" "$folder"
