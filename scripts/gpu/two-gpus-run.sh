#!/usr/bin/env bash
# What takes two GPUs of one host, from the bundle that scripts/gpu-bundle.sh made; nvcc and PyTorch are the peers:
#
#   bundle/two-gpus-run.sh results
#   bundle/two-gpus-run.sh results links scaling    # these parts alone
#
# The parts: tests, links, collectives, scaling, ranks, slurm. Ends with 1 if a command fails: a test does, a peer is faster than it may
# be, or GPUs or NCCL are missing.
# shellcheck disable=SC2317  # parts are called by their names
set -uo pipefail
PARTS=(tests links collectives scaling ranks slurm)
bundle=$(cd "$(dirname "$0")" && pwd)
if [[ -z ${1:-} ]]; then
    echo "usage: two-gpus-run.sh FOLDER [PART...]" >&2
    exit 2
fi
out=$(mkdir -p "$1" && cd "$1" && pwd) && [[ -w $out ]] || exit 1
cd "$bundle" || exit 1
export RIDGEPOINT_REQUIRE_GPU=2 RIDGEPOINT_BIN=$bundle/ridgepoint

main() {
    local part parts=("${@:2}")
    ((${#parts[@]} > 0)) || parts=("${PARTS[@]}")
    for part in "${parts[@]}"; do
        if [[ " ${PARTS[*]} " != *" $part "* ]]; then
            echo "two-gpus-run.sh: no part is called $part; there are ${PARTS[*]}" >&2
            exit 2
        fi
    done
    local gpus
    gpus=$(nvidia-smi -L | wc -l)
    if ((gpus < 2)); then
        echo "two-gpus-run.sh: $gpus GPUs; two are needed" >&2
        exit 1
    fi
    failed=0
    machine || failed=1
    find_nccl
    for part in "${parts[@]}"; do
        local began=$SECONDS
        "$part"
        echo "== $part: $((SECONDS - began)) s"
    done
    exit $failed
}

# What failed; the script goes on.
failure() {
    echo "FAILED: $*" >&2
    failed=1
}

try() {
    "$@" || failure "$@"
}

# said FILE COMMAND...: tries it, with what it prints in a file of the results.
said() {
    local file=$out/$1
    shift
    "$@" >"$file" || failure "$@"
}

machine() {
    { ./machine.sh && nvidia-smi topo -m; } >"$out/machine.txt" 2>&1
}

# PyTorch's NCCL, where it is installed, so that collectives and their peers have the same one.
find_nccl() {
    local found
    if [[ -z ${RIDGEPOINT_NCCL:-} ]] && found=$(python3 -c 'import nvidia.nccl, os; print(os.path.join(list(nvidia.nccl.__path__)[0], "lib", "libnccl.so.2"))' 2>/dev/null); then
        export RIDGEPOINT_NCCL=$found
    fi
}

# tested NAME COMMAND...: tests, whose output is added to a file.
tested() {
    local file=$out/$1.txt
    shift
    {
        echo "== $*"
        "$@"
    } >>"$file" 2>&1 || failure "$@"
}

tests() {
    local round case files=("$out"/{devices,pairs,lost-words,links-tests}.txt)
    rm -f "${files[@]}"
    # Memory, kernels, copies, events, graphs, refusals: all cases take turns on one thread. Then those that
    # have threads of their own, ten times for stress.
    tested devices ./test-machines devices::
    for ((round = 1; round <= 10; round++)); do
        for case in two_gpus_compute_at_once contexts::other_threads; do
            tested devices ./test-machines "devices::$case"
        done
        # Kernels of two GPUs that wait for each other.
        tested pairs ./test-bugs cuda::
        tested pairs ./test-api cuda::atomic::ring
    done
    # Kernels that wait for what never comes.
    tested lost-words ./test-machines lost_words::
    tested links-tests ./test-machines links::
    grep -hE 'test result|panicked' "${files[@]}"
    # A process for each GPU.
    said all.txt ./ridgepoint roofline --device all --k 1,100,1000 --runs 20 --output "$out/all.csv"
    tail -n 12 "$out/all.txt"
}

# What the links do, and their peers on the same GPUs.
links() {
    local peer
    peer=$(mktemp)
    said links.txt ./ridgepoint links --devices all --output "$out/links.csv,$out/links.json,$out/links.md" \
        --plot "$out/links.svg,$out/links.png"
    try nvcc -O3 -std=c++17 -arch=sm_90 -o "$peer" links.cu
    said links-cuda.json "$peer"
    rm -f "$peer"
    said links-peers.md python3 links.py "$out/links.json" "$out/links-cuda.json"
    cat "$out/links-peers.md"
    try ./ridgepoint roofline --device cuda:0 --k 1,10,100,1000 --vector 4 --runs 20 --links "$out/links.json" --quiet \
        --output "$out/with-link.csv" --plot "$out/with-link.svg"
}

# NCCL's collectives beside PyTorch's.
collectives() {
    try ./ridgepoint collectives --quiet --bytes 2^3,2^6,2^9,2^12,2^15,2^18,2^20,2^21,2^24,2^27,2^30,2^33 --output "$out/collectives.json,$out/collectives.csv"
    try python3 collectives.py "$out/collectives.json" "$out/collectives.md"
}

scaling() {
    local steps run
    steps=$(mktemp -d)
    for run in 1 2 3; do
        mkdir "$steps/$run"
        try ./ridgepoint power --devices all --checkpoint "$steps/$run" --quiet --output "$out/power-8192-$run.csv" --plot "$out/power-8192-$run.svg"
    done
    rm -rf "$steps"
    try ./ridgepoint power --devices all --dim 16384 --quiet --output "$out/power-16384.csv" --plot "$out/power-16384.svg"
    try ./ridgepoint power --devices all --scaling weak --quiet --output "$out/power-weak.csv" --plot "$out/power-weak.svg"
    try ./ridgepoint norm --devices all --n 2^30 --quiet --output "$out/norm.csv" --plot "$out/norm.svg"
    try ./ridgepoint norm --devices all --n 2^29 --scaling weak --quiet --output "$out/norm-weak.csv" --plot "$out/norm-weak.svg"
    cut -d, -f1-11 "$out"/power-*.csv "$out"/norm*.csv
}

ranks() {
    try ./ranks-run.sh "$out/ranks"
}

# Two processes, by Slurm.
slurm() {
    try ./slurm-run.sh "$out/slurm"
}

main "$@"
