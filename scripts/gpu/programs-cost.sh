#!/usr/bin/env bash
# What recording costs: programs alone, recorded and traced by torch.profiler, in turns, and programs that end in every way:
# programs-cost.sh RIDGEPOINT_INJECTION.so OUT [RUST_PROGRAM...]
set -uo pipefail
library=$(realpath "$1") out=$(realpath "$2")
shift 2
clients=()
for client; do clients+=("$(realpath "$client")"); done
cd "$(dirname "$0")/programs" || exit

# recorded FOLDER COMMAND...
recorded() {
    mkdir -p "$1"
    RIDGEPOINT_RECORDING=$1 CUDA_INJECTION64_PATH=$library "${@:2}"
    cat "$1"/*.error 2>/dev/null
}

for kind in small large empty; do
    for round in 1 2 3; do
        python3 train.py $kind alone | sed 's/^/alone /'
        recorded "$out/$kind-$round" python3 train.py $kind alone | sed 's/^/recorded /'
        python3 train.py $kind torch 2>/dev/null | sed 's/^/torch /'
    done
done | tee "$out/cost.txt"
# The recordings of two rounds say nothing new.
rm -rf "$out"/{small,large,empty}-{2,3}

for end in threads processes fork killed aborted exits; do
    recorded "$out/ends-$end" python3 ends.py $end
    echo "ends $end: status $?"
done 2>&1 | tee "$out/ends.txt"

for client in "${clients[@]}"; do
    name=$(basename "$client")
    for round in 1 2 3; do
        "$client" | sed 's/^/alone /'
        rm -rf "$out/$name"
        recorded "$out/$name" "$client" | sed 's/^/recorded /'
    done
done | tee "$out/clients.txt"
