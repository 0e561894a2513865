"""Programs that end in every way while their GPUs work, by CuPy: ends.py threads|processes|fork|killed|aborted|exits"""

import multiprocessing
import os
import signal
import sys
import threading

import cupy as cp


def work(steps):
    x = cp.ones(1 << 16, dtype=cp.float32)
    for _ in range(steps):
        x = x * 1.0001
    return float(x.sum())


def threads():
    all_of_them = [threading.Thread(target=work, args=(500,)) for _ in range(8)]
    for thread in all_of_them:
        thread.start()
    for thread in all_of_them:
        thread.join()


def processes():
    context = multiprocessing.get_context("spawn")
    with context.Pool(2) as pool:
        pool.map(work, [500, 500])


def fork():
    work(500)
    child = os.fork()
    if child == 0:
        # The driver serves no child of a process that has used it; the child ends as it likes.
        os._exit(0)
    os.waitpid(child, 0)
    work(500)


def killed():
    work(2000)
    os.kill(os.getpid(), signal.SIGKILL)


def aborted():
    work(2000)
    os.abort()


def exits():
    work(2000)
    os._exit(0)


if __name__ == "__main__":
    globals()[sys.argv[1]]()
