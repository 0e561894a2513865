#!/usr/bin/env python3
"""Counts lines of Rust by part at two commits, and prints docs/results/lines-of-code/README.md.

    scripts/figures/lines-of-code.py [BEFORE] [AFTER] >docs/results/lines-of-code/README.md

A line counts if it has something but a comment. Unit tests are left out: files and folders called `tests`,
`*_tests.rs`, and what follows `#[cfg(test)] mod tests`. So are the templates of `ridgepoint new`. A part whose paths
have no line at either commit is an error.
"""

import re
import subprocess
import sys

# Parts: name, paths at the commit before, paths at the one after.
SEAM = [
    ("command line (`cli`, `kernels.rs`, `main!`)", ["host/src/cli/", "host/src/lib.rs", "host/src/main.rs"],
     ["host/src/"]),
    ("launching", ["host/src/driver/"], ["crates/driver/src/"]),
    ("timing, statistics", ["host/src/measure/"], ["crates/harness/src/measure/"]),
    ("roofs, verdicts", ["host/src/model/"], ["crates/harness/src/model/"]),
    ("sweeps and occupancy studies", ["host/src/sweep/"], ["crates/harness/src/sweep/"]),
    ("ceilings", ["host/src/ceilings/"], ["crates/harness/src/ceilings/"]),
    ("studies of waiting", ["host/src/study/", "host/src/vector/"],
     ["crates/harness/src/study/", "crates/harness/src/vector/"]),
    ("checks of the embedded kernels", ["host/src/check/"], ["crates/harness/src/check/"]),
    ("the seam: trait, axes, points, cases", [], ["crates/harness/src/workload/"]),
    ("the embedded kernels behind it", [], ["crates/harness/src/embedded/"]),
    ("columns, reading and writing of files", ["host/src/report/csv.rs", "host/src/report/json.rs",
     "host/src/report/markdown.rs", "host/src/report/rows.rs", "host/src/report/columns.rs"],
     ["crates/harness/src/table/", "crates/harness/src/report/rows.rs", "crates/harness/src/report/columns.rs"]),
    ("charts, pages, terminal", ["host/src/report/"], ["crates/harness/src/report/"]),
    ("comparing", ["host/src/compare/"], ["crates/harness/src/compare/"]),
    ("kernels without a GPU", ["host/src/kernels/"], ["crates/harness/src/kernels/"]),
    ("traces", ["host/src/trace/"], ["crates/harness/src/trace/"]),
    ("profiles by counts, PTX of anybody", [], ["crates/harness/src/profile/", "crates/harness/src/standalone/"]),
    ("the library's root", [], ["crates/harness/src/lib.rs"]),
]
ENGINE = [
    ("`simt`: threads on stacks of their own", ["crates/simt/src/"], ["crates/simt/src/", "crates/internal/simt/src/"]),
    ("`simt`: the checks", ["crates/simt/src/check/", "crates/simt/src/buffers.rs"], []),
    ("ptx-std, emulated half: functions", ["crates/ptx-std/src/arch/emulated/"], ["crates/ptx-std/src/arch/emulated/"]),
    ("ptx-std, emulated half: hooks", ["crates/ptx-std/src/emulation"], ["crates/ptx-std/src/emulation"]),
    ("ptx-std: the runtime that instrumented code calls", ["crates/ptx-std/src/emulation/instrumented.rs"], []),
    ("`ridgepoint check`: the command", ["host/src/cli/check/"], ["host/src/cli/check/"]),
    ("`ridgepoint check`: the wrapper of rustc", ["host/src/cli/check/compiler.rs"], []),
    ("the driver's side: launches, checks, records, counts", ["host/src/driver/emulator.rs", "host/src/driver/replay.rs"],
     ["crates/driver/src/emulator.rs", "crates/driver/src/emulation.rs", "crates/driver/src/replay.rs",
      "crates/driver/src/checking.rs", "crates/driver/src/record.rs", "crates/driver/src/panics.rs",
      "crates/driver/src/room.rs"]),
    ("PTX parsed", [], ["crates/ptx/src/"]),
    ("engine: lowering and execution", [], ["crates/engine/src/"]),
    ("engine: checks", [], ["crates/engine/src/check/"]),
    ("engine: schedules", [], ["crates/engine/src/schedule/"]),
    ("engine: counts", [], ["crates/engine/src/count/"]),
]
# Lists of kernels, and writers, that are gone: name, paths at the commit before, and what is there instead.
GONE = [
    ("`Form` in a sweep: axes, 2k FLOP, points", ["host/src/sweep/axes.rs", "host/src/sweep/workload.rs"],
     "`embedded/polynomial.rs`, a workload; `Form` is left as a type of the kernels' crate"),
    ("`Studied`: kernels of an occupancy study", ["host/src/sweep/occupancy/axes.rs", "host/src/sweep/occupancy/kernels.rs"],
     "any workload"),
    ("`Task` and the ceilings' own launches", ["host/src/ceilings/memory.rs", "host/src/ceilings/arithmetic.rs",
     "host/src/ceilings/bench.rs"], "the fastest points of workloads"),
    ("`Case`: checks of each embedded kernel", ["host/src/check/"], "`Case::check` of each workload, and `check/`"),
    ("`Work`: what a pipeline streams", ["host/src/study/work.rs"], "`Chunk` of a workload"),
    ("writers: CSV, JSON, Markdown, rows of a terminal", ["host/src/report/csv.rs", "host/src/report/json.rs",
     "host/src/report/markdown.rs", "host/src/report/rows.rs"], "`table/` and `report/rows.rs`"),
]


def files(commit):
    listed = subprocess.run(["git", "ls-tree", "-r", "--name-only", commit], check=True, capture_output=True, text=True)
    return [it for it in listed.stdout.split("\n") if it.endswith(".rs") and not is_left_out(it)]


def is_left_out(path):
    return re.search(r"(^|/)tests(/|\.rs$)|_tests\.rs$|/new/template/", path)


def lines(commit, path):
    text = subprocess.run(["git", "show", f"{commit}:{path}"], check=True, capture_output=True, text=True).stdout
    code = re.split(r"#\[cfg\(test\)\]\s*mod tests \{", text)[0]
    return sum(1 for it in code.split("\n") if it.strip() and not it.strip().startswith("//"))


def counted(commit, parts, side):
    """Lines of each part: a file is of the part with the longest path that begins it."""
    counts = [0] * len(parts)
    for path in files(commit):
        owners = [(len(it), number) for number, part in enumerate(parts) for it in part[side] if path.startswith(it)]
        if owners:
            counts[max(owners)[1]] += lines(commit, path)
    for count, part in zip(counts, parts):
        if part[side] and not count:
            sys.exit(f"{part[0]}: no line at {commit}")
    return counts


def table(parts, before, after):
    first, second = counted(before, parts, 1), counted(after, parts, 2)
    print(f"| part | {before} | {after} |\n|---|---|---|")
    for (name, *_), old, new in zip(parts, first, second):
        print(f"| {name} | {old or ''} | {new or ''} |")
    print(f"| all | {sum(first)} | {sum(second)} |\n")


def gone(before):
    print(f"| list or writer | {before} | instead |\n|---|---|---|")
    for name, paths, instead in GONE:
        [count] = counted(before, [(name, paths)], 1)
        print(f"| {name} | {count} | {instead} |")
    print()


def main():
    before, after = (sys.argv[1:] + ["69f9ecb", "HEAD"][len(sys.argv) - 1:])[:2]
    after = subprocess.run(["git", "rev-parse", "--short=7", after], check=True, capture_output=True, text=True)
    after = after.stdout.strip()
    print("# Lines of code\n\nBy `scripts/figures/lines-of-code.py`: lines of Rust that are no comment, without tests.\n")
    print("## Measuring and the command line\n")
    table(SEAM, before, after)
    print(NOTES_SEAM)
    gone(before)
    print("## The emulator\n")
    table(ENGINE, before, after)
    print(NOTES_ENGINE, end="")


NOTES_SEAM = """Fewer was the aim, and the total is about twice as large. What was meant to go has gone (below). What grew does more:

- **command line**: commands that were not there (`measure`, `list`, `profile`, `run`, `doctor`, `man`, `completions`, all of
  `cargo bench --`), options made of a workload's axes (`suite/`), several outputs per run written beside their place
  (`destination.rs`, `files.rs`), exit statuses and interruption told in one place (`failure.rs`, `interrupt.rs`, `streams.rs`).
- **launching**: tensor maps, clusters, counters of the hardware, files of PTX and machine code, and what the emulator needs
  to check and count: `checking.rs`, `record.rs`, `prepare.rs`, `image.rs`.
- **sweeps**: counting of each point and its law (`count.rs`, `counting.rs`, `law.rs`), predictions for a named GPU.
- **charts**: each chart was drawn by itself, and all are one model now, with a layout that is tested (`report/plot`), in SVG, PNG and the terminal.
- **comparing**: rows read back from JSON as well as CSV, merged, and told apart by any axis.
- **embedded kernels**: 954 lines of checks and the axes of three engines are now workloads, each with its reference; that
  these are no fewer is the price of what each one can do now: sweep, occupancy study, check, profile and comparison.

What has gone, and what stands in its place:
"""
NOTES_ENGINE = """Not smaller: another thing. 69f9ecb compiled a kernel for the host, switched stacks between its threads and let the
thread sanitizer's pass call the checks: rustc and LLVM were the engine. PTX needs one of our own, most of it breadth: the
instructions of PTX 6.0 to 9.0, their types and roundings, and Hopper's products and copies. The checks are of every space
(local, constant and heap, too) and of asynchronous copies, and schedules are searched and shortened.

- What the fibers took has gone: the checks, the runtime, the wrapper of rustc, the switch in assembly. What is left of `simt`
  calls kernels that have no PTX, such as those of doc examples.
- The emulated half of ptx-std has as many functions as kernels can call where there is no PTX; a function that only a
  GPU has is `#[gpu_only]`.
- `ridgepoint check` builds nothing, and grew for what it says at the end: what was looked at, under which schedules, how
  to run the one that failed, and for `cargo bench -- check` the same of workloads.
- The allocator has no row: that of kernels is in `ptx-std/src/mem.rs`, before and after.
"""

if __name__ == "__main__":
    main()
