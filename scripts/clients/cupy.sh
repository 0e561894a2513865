#!/usr/bin/env bash
# Runs CuPy's arrays and kernels on the emulated driver, compares them with NumPy's, and has a fault found:
#
#   scripts/clients/cupy.sh RIDGEPOINT FOLDER
#
# RIDGEPOINT is the command. FOLDER gets an environment with CuPy and NVRTC, from PyPI (600 MB). The exit status is 0 where all is as it should be.
set -euo pipefail
ridgepoint=$(realpath "$1")
folder=$2
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$folder"
cd "$folder"

if [ ! -x environment/bin/python ]; then
    python3 -m venv environment
    environment/bin/pip install --quiet 'cupy-cuda12x==13.6.0' 'numpy<2.3' nvidia-cuda-nvrtc-cu12 nvidia-cuda-runtime-cu12
fi
# CuPy looks for a toolkit's headers, and for NVRTC where the system's libraries are.
packages=$(echo "$PWD"/environment/lib/python3*/site-packages/nvidia)
export CUDA_PATH=$packages/cuda_runtime LD_LIBRARY_PATH=$packages/cuda_nvrtc/lib

"$ridgepoint" emulate environment/bin/python "$here/cupy_arrays.py"
"$ridgepoint" emulate --arch sm_100 environment/bin/python "$here/cupy_arrays.py" sort
status=0
"$ridgepoint" emulate environment/bin/python "$here/cupy_arrays.py" fault 2>fault.log || status=$?
grep "out of bounds: block \[3, 0, 0\], thread \[232, 0, 0\] reads element 1000 of" fault.log
[ $status = 1 ] || { echo "status $status, and not 1, where a fault is found" >&2; exit 1; }
