#!/usr/bin/env bash
# What takes two GPUs of one host, from the bundle that scripts/gpu-bundle.sh made; nvcc and PyTorch are the links' peers:
#
#   bundle/two-gpus-run.sh results
#
# Ends with 1 if a test fails or a GPU is missing.
set -uo pipefail
bundle=$(cd "$(dirname "$0")" && pwd)
out=$(mkdir -p "$1" && cd "$1" && pwd)
cd "$bundle" || exit 1
export RIDGEPOINT_REQUIRE_GPU=2 RIDGEPOINT_BIN=$bundle/ridgepoint
failed=0

{
    ./machine.sh
    nvidia-smi topo -m
} >"$out/machine.txt" 2>&1 || failed=1
# Memory, kernels, copies, events, graphs, refusals: all cases take turns on one thread. Then those that
# have threads of their own, ten times for stress.
{
    echo "== all"
    ./test-devices || failed=1
    for ((round = 1; round <= 10; round++)); do
        for case in two_gpus_compute_at_once contexts::other_threads; do
            echo "== $case, round $round"
            ./test-devices $case || failed=1
        done
    done
} >"$out/devices.txt" 2>&1
grep -E '^==|^test |test result|panicked' "$out/devices.txt"
# Kernels of two GPUs that wait for each other.
{
    for ((round = 1; round <= 10; round++)); do
        echo "== pairs, round $round"
        ./test-pairs cuda:: || failed=1
        ./test-api cuda::atomic::ring || failed=1
    done
} >"$out/pairs.txt" 2>&1
grep -E '^==|^test |test result|panicked' "$out/pairs.txt"
# A process for each GPU.
./ridgepoint roofline --device all --k 1,100,1000 --runs 20 --output "$out/all.csv" >"$out/all.txt" || failed=1
tail -n 12 "$out/all.txt"
# The links, and their peers on the same GPUs.
./test-links >"$out/links-tests.txt" 2>&1 || failed=1
grep -E '^test |test result|panicked' "$out/links-tests.txt"
# Kernels that wait for what never comes.
./test-lost_words >"$out/lost-words.txt" 2>&1 || failed=1
grep -E '^test |test result|panicked' "$out/lost-words.txt"
./ridgepoint links --devices all --output "$out/links.csv,$out/links.json,$out/links.md" \
    --plot "$out/links.svg,$out/links.png" >"$out/links.txt" || failed=1
cat "$out/links.txt"
nvcc -O3 -std=c++17 -arch=sm_90 -o "$out/links" links.cu && "$out/links" >"$out/links-cuda.json" || failed=1
rm -f "$out/links"
python3 links.py "$out/links.json" "$out/links-cuda.json" >"$out/links-peers.md" || failed=1
cat "$out/links-peers.md"
./ridgepoint roofline --device cuda:0 --k 1,10,100,1000 --vector 4 --runs 20 --links "$out/links.json" --quiet \
    --output "$out/with-link.csv" --plot "$out/with-link.svg" || failed=1
# Ranks: NCCL's collectives beside PyTorch's, and what the GPUs share.
./ranks-run.sh "$out/ranks" || failed=1
if ! ldconfig -p | grep -q 'libnccl\.so\.2'; then
    RIDGEPOINT_NCCL=${RIDGEPOINT_NCCL:-$(python3 -c 'import nvidia.nccl, os; print(os.path.join(list(nvidia.nccl.__path__)[0], "lib", "libnccl.so.2"))')}
    export RIDGEPOINT_NCCL
fi
./ridgepoint collectives --quiet --bytes 2^3,2^6,2^9,2^12,2^15,2^18,2^20,2^21,2^24,2^27,2^30,2^33 --output "$out/collectives.json,$out/collectives.csv" || failed=1
python3 collectives.py "$out/collectives.json" "$out/collectives.md" || failed=1
steps=$(mktemp -d)
./ridgepoint power --devices all --checkpoint "$steps" --quiet --output "$out/power-8192.csv" --plot "$out/power-8192.svg" || failed=1
./ridgepoint power --devices all --dim 16384 --quiet --output "$out/power-16384.csv" --plot "$out/power-16384.svg" || failed=1
./ridgepoint power --devices all --scaling weak --quiet --output "$out/power-weak.csv" --plot "$out/power-weak.svg" || failed=1
./ridgepoint norm --devices all --n 2^30 --quiet --output "$out/norm.csv" --plot "$out/norm.svg" || failed=1
./ridgepoint norm --devices all --n 2^29 --scaling weak --quiet --output "$out/norm-weak.csv" --plot "$out/norm-weak.svg" || failed=1
cut -d, -f1-11 "$out"/power-*.csv "$out"/norm*.csv
rm -rf "$steps"
# Two processes, by Slurm.
./slurm-run.sh "$out/slurm" || failed=1
exit $failed
