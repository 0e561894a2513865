#!/usr/bin/env python3
"""Times launches of many-threads.cu, of nvcc.ptx's saxpy, and of a stack that goes wrong, by versions of the command in turns, on one core.

    many-threads.py MANY-THREADS.ptx NVCC.ptx ABA.ptx RIDGEPOINT..

A row for each kernel and mode: processor time and most memory of each version, medians of three runs of the whole command.
"""

import os
import statistics
import subprocess
import sys

KERNELS = {
    "product": "--grid 16,16 --block 16,16 --arg f32[65536]=random --arg f32[65536]=random --arg f32[65536] --arg i32:256",
    "histogram": "--grid 64 --block 256 --arg u32[2^20]=random --arg u32[64]=zeros --arg i32:1048576",
    "histogram, 256 blocks": "--grid 256 --block 256 --arg u32[2^20]=random --arg u32[64]=zeros --arg i32:1048576",
    "count": "--grid 4096 --block 256 --arg u32[1]=zeros",
    "lock": "--grid 1 --block 256 --arg u32[1]=zeros --arg u32[1]=zeros --arg i32:16",
    "reduction": "--grid 256 --block 256 --arg f32[2^22]=random --arg f32[1]=zeros --arg i32:4194304",
    "saxpy": "--grid 16384 --block 256 --arg i32:4194304 --arg f32:2.5 --arg f32[4194304]=random --arg f32[4194304]=ones",
}
MODES = ["--no-check", "--seeds 0", "--seed 3"]
STACK = "--grid 1 --block 64 --arg u32[8]=zeros"
# What it finds ends it with 1.
STACK_MODES = [("--no-check", 0), ("--seeds 0", 0), ("--seeds 1000", 1)]


def once(command, expected):
    """Returns processor time in seconds and memory in KiB."""
    process = subprocess.Popen(["taskset", "-c", "0", *command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    output = process.stdout.read().decode()
    _, status, used = os.wait4(process.pid, 0)
    if os.waitstatus_to_exitcode(status) != expected:
        sys.exit(f"{command}: {output}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss


def row(name, words, commands, expected):
    runs = [[once([command, "run", *words], expected) for command in commands] for _ in range(3)]
    cells = []
    for version in zip(*runs):
        seconds, memory = (statistics.median(column) for column in zip(*version))
        cells.append(f"{seconds:.2f} s {memory / 1024:.0f} MiB")
    print(f"{name}: {' | '.join(cells)}", flush=True)


def main(many_threads, saxpy, aba, *commands):
    for name, arguments in KERNELS.items():
        kernel = name.split(",")[0]
        file = saxpy if kernel == "saxpy" else many_threads
        for mode in MODES:
            row(f"{name} {mode}", [file, kernel, *arguments.split(), *mode.split()], commands, 0)
    for mode, expected in STACK_MODES:
        row(f"stack {mode}", [aba, *STACK.split(), *mode.split()], commands, expected)


if __name__ == "__main__":
    main(*sys.argv[1:])
