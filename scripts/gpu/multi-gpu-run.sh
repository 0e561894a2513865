#!/usr/bin/env bash
# What takes two or more GPUs of one host, from the bundle that scripts/gpu-bundle.sh made; nvcc and PyTorch are the peers:
#
#   bundle/multi-gpu-run.sh results
#   bundle/multi-gpu-run.sh results links scaling    # these parts alone, in this order
#
# The parts, those first that show most: scaling, collectives, large, links, weak, ranks, tests, slurm. `times.txt` has the seconds of
# each. Ends with 1 if a command fails: a test does, a peer is faster than it may be, or GPUs or NCCL are missing. NVLink multicast is off in
# NCCL, for ours and for PyTorch alike, unless NCCL_NVLS_ENABLE says otherwise.
# shellcheck disable=SC2317  # parts are called by their names
set -uo pipefail
PARTS=(scaling collectives large links weak ranks tests slurm)
bundle=$(cd "$(dirname "$0")" && pwd)
if [[ -z ${1:-} ]]; then
    echo "usage: multi-gpu-run.sh FOLDER [PART...]" >&2
    exit 2
fi
out=$(mkdir -p "$1" && cd "$1" && pwd) && [[ -w $out ]] || exit 1
cd "$bundle" || exit 1
export RIDGEPOINT_BIN=$bundle/ridgepoint NCCL_NVLS_ENABLE=${NCCL_NVLS_ENABLE:-0}

main() {
    local part parts=("${@:2}")
    ((${#parts[@]} > 0)) || parts=("${PARTS[@]}")
    for part in "${parts[@]}"; do
        if [[ " ${PARTS[*]} " != *" $part "* ]]; then
            echo "multi-gpu-run.sh: no part is called $part; there are ${PARTS[*]}" >&2
            exit 2
        fi
    done
    gpus=$(visible)
    if ((gpus < 2)); then
        echo "multi-gpu-run.sh: $gpus GPUs; two or more are needed" >&2
        exit 1
    fi
    export RIDGEPOINT_REQUIRE_GPU=$gpus
    failed=0
    machine || failed=1
    find_nccl
    for part in "${parts[@]}"; do
        local began=$SECONDS
        "$part"
        echo "== $part: $((SECONDS - began)) s" | tee -a "$out/times.txt"
    done
    exit $failed
}

# How many GPUs CUDA shows: nvidia-smi lists all of the host.
visible() {
    if [[ -n ${CUDA_VISIBLE_DEVICES:-} ]]; then
        tr ',' '\n' <<<"$CUDA_VISIBLE_DEVICES" | wc -l
    else
        nvidia-smi -L | wc -l
    fi
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
    { ./machine.sh && nvidia-smi topo -m && echo "NCCL_NVLS_ENABLE=$NCCL_NVLS_ENABLE"; } >"$out/machine.txt" 2>&1
}

# PyTorch's NCCL, where it is installed, so that collectives and their peers have the same one.
find_nccl() {
    local found
    if [[ -z ${RIDGEPOINT_NCCL:-} ]] && found=$(python3 -c 'import nvidia.nccl, os; print(os.path.join(list(nvidia.nccl.__path__)[0], "lib", "libnccl.so.2"))' 2>/dev/null); then
        export RIDGEPOINT_NCCL=$found
    fi
}

# The numbers of GPUs that are measured: the powers of two below all, and all.
counts() {
    local count
    for ((count = 2; count < gpus; count *= 2)); do echo "$count"; done
    echo "$gpus"
}

# first COUNT: as --devices names so many.
first() {
    local i list=cuda:0
    for ((i = 1; i < $1; i++)); do list+=,cuda:$i; done
    echo "$list"
}

# study NAME ARGUMENTS...: rows and a chart of a study on 1, 2, 4 and all GPUs, by every exchange.
study() {
    local name=$1
    shift
    try ./ridgepoint "$@" --devices all --quiet --output "$out/$name.csv" --plot "$out/$name.svg"
}

scaling() {
    local steps run
    study power-16384 power --dim 16384
    study norm norm --n 2^30
    study power-8192 power
    # With checkpoints, on all GPUs at once.
    steps=$(mktemp -d)
    for run in 1 2 3; do
        mkdir "$steps/$run"
        study "power-8192-$run" power --checkpoint "$steps/$run"
    done
    rm -rf "$steps"
    shown power-16384 norm power-8192 power-8192-{1,2,3}
}

# What takes one GPU long: 34 GB of vectors, 8.6 GB of matrix.
large() {
    study norm-2-32 norm --n 2^32
    study power-32768 power --dim 32768
    shown norm-2-32 power-32768
}

weak() {
    study power-weak power --scaling weak
    study norm-weak norm --n 2^29 --scaling weak
    study power-weak-16384 power --dim 16384 --scaling weak
    study norm-weak-2-30 norm --n 2^30 --scaling weak
    shown power-weak norm-weak power-weak-16384 norm-weak-2-30
}

# shown NAME...: the most of what studies said: all but the residual and the devices.
shown() {
    local name
    for name; do
        echo "$name"
        cut -d, -f2-4,6,8,9,11,12,17 "$out/$name.csv"
    done
}

# NCCL's collectives beside PyTorch's, on each number of GPUs.
collectives() {
    local count
    for count in $(counts | sort -rn); do
        try ./ridgepoint collectives --quiet --devices "$(first "$count")" --bytes 2^3,2^6,2^9,2^12,2^15,2^18,2^20,2^21,2^24,2^27,2^30,2^33 \
            --output "$out/collectives-$count.json,$out/collectives-$count.csv"
        try python3 collectives.py "$out/collectives-$count.json" "$out/collectives-$count.md"
    done
}

# What the links of all pairs do, and their peers on the same GPUs.
links() {
    local peer
    peer=$(mktemp)
    said links.txt ./ridgepoint links --devices all --output "$out/links.csv,$out/links.json,$out/links.md" \
        --plot "$out/links.svg,$out/links.png"
    cat "$out/links.txt"
    try nvcc -O3 -std=c++17 -arch=sm_90 -o "$peer" links.cu
    said links-cuda.json "$peer"
    rm -f "$peer"
    said links-peers.md python3 links.py "$out/links.json" "$out/links-cuda.json"
    cat "$out/links-peers.md"
    try ./ridgepoint roofline --device cuda:0 --k 1,10,100,1000 --vector 4 --runs 20 --links "$out/links.json" --quiet \
        --output "$out/with-link.csv" --plot "$out/with-link.svg"
}

# A process for each GPU.
ranks() {
    try ./ranks-run.sh "$out/ranks"
    try processes power-processes power
    try processes norm-processes norm --n 2^30
}

# processes NAME ARGUMENTS...: a study by mpirun, or where there is none by the variables that torchrun sets.
processes() {
    local name=$1 meet status=0
    shift
    meet=$(mktemp -d)
    local command=(./ridgepoint "$@" --devices all --rendezvous "$meet" --quiet --output "$out/$name.csv")
    if command -v mpirun >/dev/null; then
        echo "$name: mpirun" >>"$out/machine.txt"
        OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 timeout 120 mpirun -n "$gpus" --bind-to none "${command[@]}" || status=$?
    else
        echo "$name: torchrun's variables" >>"$out/machine.txt"
        by_variables "${command[@]}" || status=$?
    fi
    rm -rf "$meet"
    return $status
}

# by_variables COMMAND...: the command as each of the ranks at once.
by_variables() {
    local rank pid status=0 pids=()
    for ((rank = 0; rank < gpus; rank++)); do
        RANK=$rank LOCAL_RANK=$rank WORLD_SIZE=$gpus timeout 120 "$@" &
        pids+=($!)
    done
    for pid in "${pids[@]}"; do
        wait "$pid" || status=$?
    done
    return $status
}

# tested NAME COMMAND...: tests, whose output is added to a file.
tested() {
    local file=$out/$1.txt
    shift
    {
        echo "== ${CUDA_VISIBLE_DEVICES:+GPUs $CUDA_VISIBLE_DEVICES: }$*"
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
    done
    pairs
    # Kernels that wait for what never comes.
    tested lost-words ./test-machines lost_words::
    tested links-tests ./test-machines links::
    grep -hE 'test result|panicked' "${files[@]}" | sort | uniq -c
    # A process for each GPU.
    said all.txt ./ridgepoint roofline --device all --k 1,100,1000 --runs 20 --output "$out/all.csv"
    tail -n 12 "$out/all.txt"
}

# Kernels of two GPUs that wait for each other, of each pair: ten rounds in all, or one of each pair where there are more pairs.
pairs() {
    local a b round rounds=$((10 / (gpus * (gpus - 1) / 2)))
    for ((round = 0; round < (rounds > 1 ? rounds : 1); round++)); do
        for ((a = 0; a < gpus; a++)); do
            for ((b = a + 1; b < gpus; b++)); do
                CUDA_VISIBLE_DEVICES=$a,$b RIDGEPOINT_REQUIRE_GPU=2 tested pairs ./test-bugs cuda::
                CUDA_VISIBLE_DEVICES=$a,$b RIDGEPOINT_REQUIRE_GPU=2 tested pairs ./test-api cuda::atomic::ring
            done
        done
    done
}

# A process for each GPU, by Slurm.
slurm() {
    try ./slurm-run.sh "$out/slurm"
}

main "$@"
