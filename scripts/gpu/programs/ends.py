"""Programs that end in every way while their GPUs work: ends.py WAY. They say what they did: DID kernels N copies M

    returns     as programs do
    threads     after eight threads have worked
    processes   after two processes that `multiprocessing` has started
    fork        after a child that does not work was forked off
    exits       by _exit, at once after the last copy
    killed      by SIGKILL, at once after the last copy
    later       by SIGKILL, 0.1 s after the last copy
    busy        by SIGKILL, while another thread launches
    aborted     by abort, at once after the last copy
    crashed     by reading where no memory is, at once after the last copy"""

import ctypes
import multiprocessing
import os
import signal
import sys
import threading
import time

from driver import Work

ROUNDS = 20


def work(rounds=ROUNDS):
    Work().run(rounds).say()


def returns():
    work()


def threads():
    workers = [threading.Thread(target=work) for _ in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


def processes():
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=work) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


def fork():
    # The driver serves no child of a process that has used it; the child ends as it likes.
    before = Work().run(ROUNDS)
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    before.run(ROUNDS).say()


def exits():
    work()
    os._exit(0)


def kill():
    os.kill(os.getpid(), signal.SIGKILL)


def killed():
    work()
    kill()


def later():
    work()
    time.sleep(0.1)
    kill()


def busy():
    works = []

    def endless():
        works.append(Work())
        # A copy after every second kernel, so that the GPU keeps up: what is counted is done, up to the last few.
        works[0].run(1_000_000, 2)

    threading.Thread(target=endless, daemon=True).start()
    time.sleep(1)
    works[0].say()
    kill()


def aborted():
    work()
    os.abort()


def crashed():
    work()
    ctypes.string_at(16)


if __name__ == "__main__":
    globals()[sys.argv[1]]()
