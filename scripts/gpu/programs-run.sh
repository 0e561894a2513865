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

# A program before and after the change that is proposed for it, in turns.
pair() {
    local program=$1 before=$2 after=$3 round
    for round in 1 2 3 4 5; do
        timed alone python3 "$program.py" "$before"
        timed alone python3 "$program.py" "$after"
        [ "$round" -gt 3 ] || profiled "$program-$before-$round" "$program.py" "$before"
    done
    profiled "$program-$after-1" "$program.py" "$after"
}

pair power blocking asynchronous
pair batches pageable pinned
pair batches pinned streams
pair scalar reads keeps
pair normalize host device
for program in 'batches pinned' 'scalar reads'; do
    # shellcheck disable=SC2086
    set -- $program
    timed torch python3 "$1.py" "$2" torch
done
