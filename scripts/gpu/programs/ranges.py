"""Ranges of NVTX around counted work, by three packages of Python: ranges.py torch|cupy|nvtx"""

import sys

from driver import Work


def torch():
    from torch.cuda import nvtx

    return nvtx.range_push, nvtx.range_pop


def cupy():
    from cupy.cuda import nvtx

    return nvtx.RangePush, nvtx.RangePop


def nvtx():
    import nvtx

    return nvtx.push_range, nvtx.pop_range


def main():
    push, pop = globals()[sys.argv[1]]()
    work = Work()
    for _ in range(3):
        push("outer")
        work.launch(5)
        push("inner")
        work.launch(5)
        work.copy()
        pop()
        pop()
    work.say()


main()
