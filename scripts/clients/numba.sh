#!/usr/bin/env bash
# Runs numba-cuda's own tests, all of tests/cudapy, on the emulated driver, and prints the table of docs/results/clients:
#
#   scripts/clients/numba.sh WHEEL FOLDER [PYTEST-ARGUMENT...]
#
# WHEEL is of scripts/wheel.sh or wheel.py. FOLDER gets an environment with it and Numba, from PyPI, the tests' log and
# results, and a JSON file per finding. Arguments are pytest's: `-n 2` for two processes, `-k atomic` for some of the tests.
# The exit status is 0 where the table was made, whatever has failed.
set -euo pipefail
wheel=$(realpath "$1")
folder=$2
shift 2
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$folder"
cd "$folder"

if [ ! -x environment/bin/pytest ]; then
    python3 -m venv environment
    # NumPy 2.5 has no row_stack, which this numba-cuda imports.
    environment/bin/pip install --quiet 'numba-cuda[cu12]==0.30.4' 'numpy<2.5' 'pytest<9' pytest-xdist pytest-timeout \
        pytest-benchmark cffi psutil ml_dtypes filecheck
fi
environment/bin/pip install --quiet --force-reinstall --no-deps "$wheel"

# The tests come with numba-cuda. Its checkout has the option that some of them ask for in a conftest.py, which is not installed.
# One module's tests run in one process: they share what a class sets up.
PYTHONPATH=$here environment/bin/pytest --ridgepoint -v -c /dev/null --rootdir . -o consider_namespace_packages=true \
    -p no:cacheprovider -p numba_options --benchmark-disable --timeout 600 --dist loadfile --junitxml tests.xml "$@" \
    --pyargs numba.cuda.tests.cudapy >tests.log 2>&1 || [ $? -le 1 ] || {
    tail -n 20 tests.log
    exit 1
}
python3 "$here/table.py" tests.xml
