#!/usr/bin/env bash
# Programs alone and recorded, on a GPU: programs-run.sh RIDGEPOINT_INJECTION.so OUT
# OUT gets a folder of recordings per program, and `times.txt` with what the programs print.
set -uo pipefail
library=$(realpath "$1") out=$(realpath "$2")
cd "$(dirname "$0")/programs" || exit

alone() { python3 "$@" | grep -E '^(TIME|TORCH)' | sed 's/^/alone /' | tee -a "$out/times.txt"; }

recorded() {
    local folder=$out/$1-$2
    mkdir -p "$folder"
    RIDGEPOINT_RECORDING=$folder CUDA_INJECTION64_PATH=$library RIDGEPOINT_RECORDING_BY_PROFILER=1 \
        python3 "$1.py" "${@:2}" | grep -E '^(TIME|TORCH)' | sed 's/^/recorded /' | tee -a "$out/times.txt"
    cat "$folder"/*.error 2>/dev/null
}

for program in 'power blocking' 'power asynchronous' 'power silent' 'batches pageable' 'batches pinned' 'batches streams' \
    'scalar reads' 'scalar keeps' 'normalize host' 'normalize device'; do
    # shellcheck disable=SC2086
    set -- $program
    alone "$1.py" "$2"
    recorded "$1" "$2"
    alone "$1.py" "$2"
done
