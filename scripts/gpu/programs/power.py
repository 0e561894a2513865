"""Power iteration with checkpoints, by CuPy: power.py blocking|asynchronous|silent [STEPS]"""

import sys
import tempfile
import time

import cupy as cp
import numpy as np

ORDER = 8192
EVERY = 10


def matrix():
    """Symmetric, with the eigenvalues 1, 0.95 and smaller ones, and vectors that no axis is."""
    values = np.linspace(0.5, 0.95, ORDER)
    values[0] = 1.0
    diagonal = cp.asarray(values)
    u = cp.random.default_rng(1).standard_normal(ORDER)
    u /= cp.linalg.norm(u)
    a = cp.diag(diagonal)
    a -= 2 * cp.outer(u, u * diagonal)
    a -= 2 * cp.outer(a @ u, u)
    return a


def write(folder, step, residual, x):
    print(f"step {step}: residual {residual:.3e}")
    np.save(f"{folder}/x-{step}.npy", x)


def blocking(a, x, steps, folder):
    for step in range(1, steps + 1):
        y = a @ x
        if step % EVERY == 0:
            r = cp.linalg.norm(y - cp.vdot(x, y) * x)
            residual = float(cp.asnumpy(r))
            write(folder, step, residual, cp.asnumpy(x))
            if residual < 1e-10:
                return step
        x = y / cp.linalg.norm(y)
    return steps


def asynchronous(a, x, steps, folder):
    """The copies of a checkpoint are written at the next one, while the GPU computes."""
    host = cp.cuda.alloc_pinned_memory(2 * (ORDER + 1) * 8)
    hosts = np.frombuffer(host, np.float64, 2 * (ORDER + 1)).reshape(2, ORDER + 1)
    copied = [cp.cuda.Event(), cp.cuda.Event()]
    stream = cp.cuda.get_current_stream()
    pending = 0
    for step in range(1, steps + 1):
        y = a @ x
        if step % EVERY == 0:
            r = cp.linalg.norm(y - cp.vdot(x, y) * x)
            turn = step // EVERY % 2
            x.get(stream=stream, out=hosts[turn, :ORDER], blocking=False)
            r.reshape(1).get(stream=stream, out=hosts[turn, ORDER:], blocking=False)
            copied[turn].record(stream)
        x = y / cp.linalg.norm(y)
        if step % EVERY == 0:
            if pending:
                copied[1 - turn].synchronize()
                write(folder, pending, hosts[1 - turn, ORDER], hosts[1 - turn, :ORDER])
                if hosts[1 - turn, ORDER] < 1e-10:
                    return pending
            pending = step
    copied[turn].synchronize()
    write(folder, pending, hosts[turn, ORDER], hosts[turn, :ORDER])
    return steps


def silent(a, x, steps, folder):
    for _ in range(steps):
        y = a @ x
        x = y / cp.linalg.norm(y)
    return steps


# The part that is measured runs so often.
REPEATS = 5


def main():
    variant = globals()[sys.argv[1]]
    steps = int(sys.argv[2]) if len(sys.argv) > 2 else 430
    a = matrix()
    x = cp.full(ORDER, 1 / np.sqrt(ORDER))
    with tempfile.TemporaryDirectory() as folder:
        variant(a, x, 20, folder)
        cp.cuda.Device().synchronize()
        times = []
        cp.cuda.profiler.start()
        for _ in range(REPEATS):
            begin = time.perf_counter()
            variant(a, x, steps, folder)
            cp.cuda.Device().synchronize()
            times.append(time.perf_counter() - begin)
        cp.cuda.profiler.stop()
    print(f"TIME power-{sys.argv[1]}", *(f"{it:.6f}" for it in times))


main()
