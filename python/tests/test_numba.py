"""The plugin on kernels of Numba: an access beyond an array, a race, and a correct kernel."""

import pytest

pytest.importorskip("numba", reason="Numba is not installed: pip install 'numba-cuda[cu12]' 'numpy<2.5'")

KERNELS = '''
import numpy as np
from numba import cuda


@cuda.jit
def shift(a):
    i = cuda.grid(1)
    a[i + 1] = i


@cuda.jit
def count(a):
    a[0] += 1


@cuda.jit
def scale(a):
    i = cuda.grid(1)
    if i < a.size:
        a[i] = 2 * i


def launched(kernel):
    a = cuda.to_device(np.zeros(64, np.int64))
    kernel[2, 32](a)
    return a.copy_to_host()


def test_shift():
    launched(shift)


def test_count():
    launched(count)


def test_scale():
    assert launched(scale)[63] == 126
'''


def test_two_planted_bugs_fail_their_tests_and_the_correct_kernel_passes(pytester, monkeypatch):
    monkeypatch.delenv("RIDGEPOINT_DRIVER_FINDINGS", raising=False)
    path = pytester.makepyfile(KERNELS)
    line = {text: number for number, text in enumerate(path.read_text().splitlines(), 1)}
    result = pytester.runpytest_subprocess("--ridgepoint")
    result.assert_outcomes(passed=1, failed=2)
    result.stdout.fnmatch_lines(
        [
            f"ridgepoint: *shift: out of bounds at *{path.name}:{line['    a[i + 1] = i']}",
            "*writes element 64 of `argument 0` (of 64)*",
            f"  {path.name}:{line['    kernel[2, 32](a)']}: *CUDA_ERROR_ILLEGAL_ADDRESS*",
            f"ridgepoint: *count: race at *{path.name}:{line['    a[0] += 1']}",
        ]
    )
