#!/usr/bin/env bash
# Runs tinygrad's own tests of backends on the emulated driver, as its CI runs them on a mock of CUDA:
#
#   scripts/clients/tinygrad.sh RIDGEPOINT CHECKOUT FOLDER [PYTEST-ARGUMENT...]
#
# RIDGEPOINT is the command, CHECKOUT tinygrad's. FOLDER gets an environment with PyTorch for the CPU's side, from PyPI (7 GB),
# the tests' log and results, and a JSON file per finding. tinygrad's own CPU needs clang. Arguments are pytest's:
# `-n 2` for two processes. The exit status is that of the tests.
set -euo pipefail
ridgepoint=$(realpath "$1")
checkout=$(realpath "$2")
folder=$(realpath -m "$3")
shift 3
command -v clang >/dev/null || { echo "tinygrad compiles for the CPU by clang, which is not there" >&2; exit 2; }
mkdir -p "$folder"

if [ ! -x "$folder/environment/bin/pytest" ]; then
    python3 -m venv "$folder/environment"
    "$folder/environment/bin/pip" install --quiet torch numpy hypothesis pytest pytest-xdist pytest-timeout
fi
# Its PTX, which needs no NVRTC; its CI leaves test_multitensor.py out, too. Python 3.11 cannot rewrite the deepest of its assertions.
cd "$checkout"
export DEV=CUDA:PTX FORWARD_ONLY=1
"$ridgepoint" emulate --program-status --findings "$folder/findings" -- "$folder/environment/bin/python" -m pytest -q \
    -p no:warnings -p no:cacheprovider --assert=plain --tb=line --timeout 600 --junitxml "$folder/tests.xml" "$@" \
    test/backend --ignore test/backend/test_multitensor.py
