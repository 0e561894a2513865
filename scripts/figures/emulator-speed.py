#!/usr/bin/env python3
"""Prints docs/results/emulator-speed/README.md from a log of the emulator's benchmark:

    cargo bench -p examples --bench emulator --no-run              # names the program: NEW
    for round in 1 2; do
        echo "--- base plain";   taskset -c 0 BASE_PLAIN --bench   # that of 69f9ecb, built by it
        echo "--- new";          taskset -c 0 NEW --bench
        echo "--- base checked"; taskset -c 0 BASE_CHECKED --bench # the same, built under its `ridgepoint check`
    done >speed.log
    scripts/figures/emulator-speed.py speed.log "DATE, MACHINE, LOAD" >README.md

Without the programs of 69f9ecb (a worktree of it, `cargo bench --bench emulator --no-run`, and for the second
RUSTC_WRAPPER as in its host/src/cli/check) only the section `new` is needed. A figure is the mean of the rounds' estimates.
A log without a section `new`, or one with a benchmark that is missing, is an error.
"""

import re
import statistics
import sys

UNITS = {"ns": 1e-3, "µs": 1.0, "ms": 1e3, "s": 1e6}
LAUNCHES = ["saxpy, no barrier", "block reduction, shuffles", "horner of degree 1000", "saxpy of one block"]
# What is asked of the engine, over 69f9ecb.
BARS = [("saxpy, no barrier", "PTX", "emulator/unchecked", 2), ("block reduction, shuffles", "PTX", "emulator/unchecked", 12),
        ("saxpy, no barrier", "PTX, checked", "emulator/checked", 6),
        ("block reduction, shuffles", "PTX, checked", "emulator/checked", 12)]
# What is asked of counting, over a plain run; the same.
MOST_COUNTED = 1.3


def read(path):
    """Microseconds of each benchmark, one figure per round."""
    found, name = {}, None
    for line in open(path, encoding="utf-8"):
        named = re.match(r"((?:PTX|functions|emulator)[^\[]*/[^\[]*?)\s*(?:time:|$)", line)
        name = named[1] if named else name
        times = re.search(r"time:\s+\[\S+ \S+ (\S+) (\S+) \S+ \S+\]", line)
        if times and name and times[2] in UNITS:
            found.setdefault(name, []).append(float(times[1]) * UNITS[times[2]])
    return {name: statistics.mean(all_) for name, all_ in found.items()}


def shown(microseconds):
    return f"{microseconds:.1f} µs" if microseconds < 1000 else f"{microseconds / 1000:.2f} ms"


def main():
    path, when = sys.argv[1:]
    times = read(path)
    of = lambda how, launch: times.get(f"{how}/{launch}") or sys.exit(f"{path}: no {how}/{launch}")
    print(f"""# The emulator's speed

By `scripts/figures/emulator-speed.py`, which has the commands, from [the log](speed.log).
{when}.
Time of one core; 64 blocks of 256 threads, but for the last row, a launch of one block.

| | unchecked | checked | counted | a function per thread | checked / unchecked | counted / unchecked |
|---|---|---|---|---|---|---|""")
    for launch in LAUNCHES:
        plain, checked, counted, function = (of(it, launch) for it in ["PTX", "PTX, checked", "PTX, counted", "functions"])
        print(f"| {launch} | {shown(plain)} | {shown(checked)} | {shown(counted)} | {shown(function)} "
              f"| {checked / plain:.2f} | {counted / plain:.2f} |")
    print("""
Beside 69f9ecb, whose emulator ran functions on fibers, in the same call. It had no Horner; a function per thread is its
nearest kin there.

| | 69f9ecb | now | times as fast | asked |
|---|---|---|---|---|""")
    for launch, how, base, bar in BARS:
        old, new = times.get(f"{base}/{launch}"), of(how, launch)
        if old:
            print(f"| {launch}, {base.split('/')[1]} | {shown(old)} | {shown(new)} | {old / new:.1f} | {bar} |")
    function, plain = of("functions", LAUNCHES[2]), of("PTX", LAUNCHES[2])
    print(f"| {LAUNCHES[2]}, a function per thread of today | {shown(function)} | {shown(plain)} | {function / plain:.1f} | 10 |")
    plain, counted = of("PTX", LAUNCHES[0]), of("PTX, counted", LAUNCHES[0])
    ratios = [of("PTX, counted", it) / of("PTX", it) for it in LAUNCHES[1:3]]
    fixed = of("PTX, counted", LAUNCHES[3]) - of("PTX", LAUNCHES[3])
    print(f"""
Counting is to take at most {MOST_COUNTED} times as long as a plain run of a coalesced kernel. Saxpy, which has three accesses in a dozen
instructions, takes {counted / plain:.2f} times, {counted - plain:.0f} µs more, of which {fixed:.0f} µs are the same for every launch, as that of one block
shows; the reduction {ratios[0]:.2f} times, Horner's rule {ratios[1]:.2f} times.""")



if __name__ == "__main__":
    main()
