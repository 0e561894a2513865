#!/usr/bin/env bash
# What a program that only launches depends on, and how long a clean build of it takes:
#
#   scripts/figures/driver-package.sh >docs/results/driver-package/log.txt
#
# The program is a package of its own, outside this workspace: it has none of the workspace's profiles. Builds share the
# cores with whatever else runs; the load says how much that was.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
package=$(mktemp -d)
trap 'rm -rf "$package"' EXIT
mkdir "$package/src"
cp "$root/Cargo.lock" "$root/rust-toolchain.toml" "$package"
cat >"$package/Cargo.toml" <<END
[package]
name = "launcher"
version = "0.1.0"
edition = "2024"

[dependencies]
ridgepoint-driver = { path = "$root/crates/driver" }

[patch.crates-io]
find_cuda_helper = { path = "$root/crates/shims/find_cuda_helper" }
END
cat >"$package/src/main.rs" <<'END'
use ridgepoint_driver::{Device, DeviceChoice};

fn main() {
    let device = Device::open(&DeviceChoice::Auto, &[]).expect("a device");
    println!("{}", device.properties().name);
}
END
cd "$package"
cargo fetch --quiet

say() { echo "\$ $*" && "$@" 2>&1; }
date -u +'%FT%TZ'
say git -C "$root" rev-parse HEAD
say rustc --version
say nproc
echo
echo "\$ cargo tree -p ridgepoint-driver -e normal"
cargo tree --quiet -p ridgepoint-driver -e normal | sed "s|$root|.|"
packages=$(cargo tree --quiet -p ridgepoint-driver -e normal --prefix none --no-dedupe | sort -u | wc -l)
echo "$packages packages"
for profile in dev release; do
    echo
    echo "\$ cargo build --profile $profile     (nothing built before; load $(cut -d' ' -f1-3 /proc/loadavg))"
    # Without the list of what is compiled.
    time cargo build --quiet --profile "$profile" 2>&1
    du -sh target/"${profile/dev/debug}" | cut -f1
done 2>&1
echo
echo "\$ cargo run"
cargo run --quiet
