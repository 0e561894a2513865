"""A vector normalized again and again, by CuPy: normalize.py host|device [STEPS]"""

import sys
import time

import cupy as cp


def host(x, steps):
    for _ in range(steps):
        x = x / float(cp.linalg.norm(x))
    return x


def device(x, steps):
    for _ in range(steps):
        x = x / cp.linalg.norm(x)
    return x


# The part that is measured runs so often.
REPEATS = 5


def main():
    variant = globals()[sys.argv[1]]
    steps = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    x = cp.random.default_rng(1).standard_normal(1 << 20, dtype=cp.float32)
    variant(x, 20)
    cp.cuda.Device().synchronize()
    times = []
    cp.cuda.profiler.start()
    for _ in range(REPEATS):
        begin = time.perf_counter()
        variant(x, steps)
        cp.cuda.Device().synchronize()
        times.append(time.perf_counter() - begin)
    cp.cuda.profiler.stop()
    print(f"TIME normalize-{sys.argv[1]}", *(f"{it:.6f}" for it in times))


main()
