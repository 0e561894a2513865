#!/usr/bin/env bash
# Runs cudarc's own tests on the emulated driver:
#
#   scripts/clients/cudarc.sh RIDGEPOINT CHECKOUT FOLDER [TEST-ARGUMENT...]
#
# RIDGEPOINT is the command, CHECKOUT cudarc's. FOLDER gets an environment with NVRTC 12, from PyPI, what Cargo builds, and
# a JSON file per finding. Arguments are those of the tests: `launch` for some of them. The exit status is that of the tests.
set -euo pipefail
ridgepoint=$(realpath "$1")
checkout=$(realpath "$2")
folder=$3
shift 3
mkdir -p "$folder"
cd "$folder"

if ! ls -d environment/lib/python3*/site-packages/nvidia/cuda_runtime >/dev/null 2>&1; then
    python3 -m venv environment
    # Of CUDA 12, the last whose NVRTC compiles for sm_53, as a test wants.
    environment/bin/pip install --quiet nvidia-cuda-nvrtc-cu12==12.9.86 nvidia-cuda-runtime-cu12==12.9.79
fi
packages=$(echo "$PWD"/environment/lib/python3*/site-packages/nvidia)
export LD_LIBRARY_PATH=$packages/cuda_nvrtc/lib CUDA_PATH=$packages/cuda_runtime CUDA_HOME=$packages/cuda_runtime

features=std,driver,runtime,nvrtc,f16,dynamic-loading,cuda-12090
"$ridgepoint" emulate --program-status -- cargo test --quiet --manifest-path "$checkout/Cargo.toml" --target-dir target \
    --lib --no-default-features --features "$features" -- --test-threads 1 "$@"
