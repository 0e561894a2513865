#!/usr/bin/env bash
# Times from an edit of a kernel to its checked tests, in two packages that `ridgepoint new` of two versions wrote:
#
#   scripts/figures/edit-to-check.sh BEFORE-PACKAGE BEFORE-RIDGEPOINT AFTER-PACKAGE AFTER-RIDGEPOINT
#
# Each edit puts another constant into the kernel, so that its PTX is another. Run `cargo test --tests` and the check
# once in both first. `check -- --tests` is what makes the version of 69f9ecb check a project.
set -uo pipefail
[[ $# == 4 ]] || { sed -n '2,6s/^# \{0,1\}//p' "$0"; exit 2; }
before=$1 old=$2 after=$3 new=$4
count=0

# timed NAME COMMAND...: in this folder.
timed() {
    local name=$1 load used rc
    shift
    load=$(cut -d' ' -f1 /proc/loadavg)
    TIMEFORMAT='%1R s (cores: %1U user, %1S system)'
    used=$({ time timeout 600 "$@" >edit.log 2>&1; } 2>&1)
    rc=$(grep -c 'nothing was found\|test result: ok' edit.log)
    echo "$name: $used, load $load, $(grep -c Compiling edit.log) crates compiled, $rc passed"
    ((rc)) || exit 1
}

edit() {
    count=$((count + 1))
    sed -i "s|^        \*y = .*|        *y = if *x == -$count.5e30 { 0.0 } else { a * x };|" kernels/src/lib.rs
}

for round in 1 2 3; do
    echo "round $round"
    cd "$before" && edit && timed "before, edit, cargo test --tests" cargo test --tests
    edit && timed "before, edit, ridgepoint check" "$old" check -- --tests
    timed "before, no edit, ridgepoint check" "$old" check -- --tests
    cd "$after" && edit && timed "after, edit, cargo test --tests" cargo test --tests
    edit && timed "after, edit, ridgepoint check" "$new" check --
    timed "after, no edit, ridgepoint check" "$new" check --
done
