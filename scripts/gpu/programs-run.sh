#!/usr/bin/env bash
# Programs alone and profiled, on a GPU: programs-run.sh RIDGEPOINT OUT
# OUT gets times.txt with what the programs print, and for each program that is changed three recordings and analyses.
set -uo pipefail
ridgepoint=$(realpath "$1") out=$(realpath "$2")
cd "$(dirname "$0")/programs" || exit

# Lines of the programs' own, after a word that says how they ran.
timed() {
    local how=$1
    shift
    "$@" 2>/dev/null | grep -E '^(TIME|TORCH)' | sed "s/^/$how /" | tee -a "$out/times.txt"
}

profiled() {
    local name=$1
    shift
    timed profiled "$ridgepoint" profile --part profiler --keep "$out/$name" --json "$out/$name.json" -- python3 "$@"
}

# A program before and after the change that is proposed for it, in turns: so often, and recorded three times. Where the host is
# what takes the time, runs differ much.
pair() {
    local rounds=$1 program=$2 before=$3 after=$4 round
    for round in $(seq "$rounds"); do
        timed alone python3 "$program.py" "$before"
        timed alone python3 "$program.py" "$after"
        [ "$round" -gt 3 ] || profiled "$program-$before-$round" "$program.py" "$before"
    done
    profiled "$program-$after-1" "$program.py" "$after"
}

pair 15 power blocking asynchronous
pair 5 batches pageable pinned
pair 5 batches pinned streams
pair 11 scalar reads keeps
pair 15 normalize host device
for program in "batches pinned" "scalar reads"; do
    # shellcheck disable=SC2086
    set -- $program
    timed torch python3 "$1.py" "$2" torch
done
