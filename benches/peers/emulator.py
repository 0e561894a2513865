"""The block reduction of examples/kernels on numba's CUDA simulator, in threads a second:

    python3 -m venv venv && venv/bin/pip install numba numpy
    NUMBA_ENABLE_CUDASIM=1 taskset -c 0 venv/bin/python benches/peers/emulator.py

The simulator runs each GPU thread as a thread of Python. It knows no shuffles, so that the warps add
up through shared memory, as the first tutorials do: 8 barriers a thread.
"""

import os
import time

os.environ.setdefault("NUMBA_ENABLE_CUDASIM", "1")

import numpy as np
from numba import cuda, float32

BLOCK = 256
BLOCKS = 4


@cuda.jit
def block_sums(x, sums):
    values = cuda.shared.array(BLOCK, float32)
    own = cuda.threadIdx.x
    i = cuda.grid(1) * 4
    values[own] = x[i] + x[i + 1] + x[i + 2] + x[i + 3]
    cuda.syncthreads()
    half = BLOCK // 2
    while half > 0:
        if own < half:
            values[own] += values[own + half]
        cuda.syncthreads()
        half //= 2
    if own == 0:
        sums[cuda.blockIdx.x] = values[0]


def main():
    x = np.full(BLOCK * BLOCKS * 4, 1.5, dtype=np.float32)
    sums = np.zeros(BLOCKS, dtype=np.float32)
    block_sums[BLOCKS, BLOCK](x, sums)
    assert (sums == 1.5 * 4 * BLOCK).all(), sums
    start = time.process_time()
    block_sums[BLOCKS, BLOCK](x, sums)
    seconds = time.process_time() - start
    print(f"numba's simulator: {BLOCK * BLOCKS / seconds:.0f} threads a second")


main()
