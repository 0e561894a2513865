#!/usr/bin/env bash
# Runs what PyTorch does, Triton's tutorials and its own tests of the language on the emulated driver:
#
#   scripts/clients/triton.sh RIDGEPOINT CHECKOUT FOLDER [PYTEST-ARGUMENT...]
#
# RIDGEPOINT is the command, CHECKOUT Triton's, as old as the release that PyTorch asks for. FOLDER gets an environment with
# PyTorch, whose operators run on the CPU, from PyPI (6 GB), the tests' log and results, and a JSON file per finding. Arguments are pytest's: `-n 2` for
# two processes, `-k` for some of the tests. `ARCH=sm_100` in the environment makes the devices Blackwell's. The exit status is that of the tests, or 1 where a tutorial has failed.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
ridgepoint=$(realpath "$1")
checkout=$(realpath "$2")
folder=$(realpath -m "$3")
shift 3
mkdir -p "$folder"

if [ ! -x "$folder/environment/bin/pytest" ]; then
    python3 -m venv "$folder/environment"
    "$folder/environment/bin/pip" install --quiet torch numpy scipy tabulate pytest pytest-xdist pytest-timeout
fi
python=$folder/environment/bin/python
emulate() { "$ridgepoint" emulate --arch "${ARCH:-sm_90}" --findings "$folder/findings" "$@"; }

emulate -- "$python" -W ignore "$here/torch_operators.py"

# Without the checkout's own compiler, which is not built and would be imported in place of the installed one.
rm -rf "$folder/tests"
mkdir "$folder/tests"
tar c -C "$checkout" pytest.ini pyproject.toml python/conftest.py python/test python/tutorials third_party/nvidia/backend/lib |
    tar x -C "$folder/tests"
cd "$folder/tests"
status=0
for tutorial in 01-vector-add 02-fused-softmax 03-matrix-multiplication 04-low-memory-dropout 05-layer-norm \
    06-fused-attention 07-extern-functions; do
    echo "== $tutorial"
    emulate --quiet -- "$python" -W ignore "$here/triton_tutorial.py" "python/tutorials/$tutorial.py" || { echo "failed"; status=1; }
done
emulate --program-status -- "$python" -m pytest -q -p no:cacheprovider --tb=line --timeout 300 \
    --junitxml "$folder/tests.xml" "$@" python/test/unit/language || status=$?
exit "$status"
