#!/usr/bin/env bash
# What recording costs: programs alone, recorded and traced by torch.profiler, in turns; and what programs leave that end in every
# way: programs-cost.sh RIDGEPOINT OUT [RUST_PROGRAM...]
set -uo pipefail
ridgepoint=$(realpath "$1") out=$(realpath "$2")
shift 2
clients=()
for client; do clients+=("$(realpath "$client")"); done
cd "$(dirname "$0")/programs" || exit

timed() {
    local how=$1
    shift
    "$@" 2>/dev/null | grep -E '^(TIME|TORCH)' | sed "s/^/$how /" | tee -a "$out/cost.txt"
}

for kind in ${KINDS:-small large empty paced}; do
    for round in 1 2 3 4 5; do
        timed alone python3 train.py $kind
        timed recorded "$ridgepoint" profile --part profiler --keep "$out/train-$kind" --json /dev/null -q -- python3 train.py $kind
        # The recordings of one round are enough.
        [ "$round" -eq 5 ] || rm -rf "$out/train-$kind"
        [ "$round" -gt 2 ] || timed torch python3 train.py $kind torch
    done
done

for end in threads processes fork killed aborted exits; do
    "$ridgepoint" profile --keep "$out/ends-$end" --json "$out/ends-$end.json" -q -- python3 ends.py $end >"$out/ends-$end.txt" 2>&1
    echo "ends $end: status $?"
done | tee "$out/ends.txt"

for client in "${clients[@]}"; do
    name=$(basename "$client")
    for round in 1 2 3; do
        timed alone "$client"
        rm -rf "$out/$name"
        timed recorded "$ridgepoint" profile --keep "$out/$name" --json "$out/$name.json" -q -- "$client"
    done
done
