#!/usr/bin/env bash
# Ranks on the GPUs of one host, two or more, from the bundle that scripts/gpu-bundle.sh made, or a folder with test-ranks alone:
#
#   bundle/ranks-run.sh results
#
# NCCL is the file that RIDGEPOINT_NCCL names, what the loader finds, or else that of Python's package nvidia-nccl.
# Ends with 1 if a test fails, or GPUs or NCCL are missing.
set -uo pipefail
bundle=$(cd "$(dirname "$0")" && pwd)
out=$(mkdir -p "$1" && cd "$1" && pwd)
cd "$bundle" || exit 1
export RIDGEPOINT_REQUIRE_GPU=2
failed=0

if [[ -z ${RIDGEPOINT_NCCL:-} ]] && ! ldconfig -p | grep -q 'libnccl\.so\.2'; then
    RIDGEPOINT_NCCL=$(python3 -c 'import nvidia.nccl, os; print(os.path.join(list(nvidia.nccl.__path__)[0], "lib", "libnccl.so.2"))') &&
        export RIDGEPOINT_NCCL
fi
{
    date -u +'date %FT%TZ'
    echo "NCCL by ${RIDGEPOINT_NCCL:-the loader}, NCCL_NVLS_ENABLE=${NCCL_NVLS_ENABLE:-}"
    nvidia-smi --query-gpu=index,name,driver_version --format=csv
    nvidia-smi topo -m
} >"$out/machine.txt" 2>&1 || failed=1
# One after the other: a case that hangs says which it is, and the rest go on.
for case in threads:: graphs:: processes::; do
    echo "== $case"
    timeout 180 ./test-ranks "$case" --test-threads=1 || failed=1
done >"$out/ranks.txt" 2>&1
grep -E '^==|^test |^ok|rank|test result|panicked' "$out/ranks.txt"
exit $failed
