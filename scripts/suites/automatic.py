#!/usr/bin/env python3
"""Compiles every kernel of a checkout and runs it with arguments made of its types: what can be read and executed at all?

    scripts/suites/automatic.py CHECKOUT RIDGEPOINT OUT.csv [--include FOLDER].. [--only PATTERN] [--every N]

CHECKOUT is a clone of NVIDIA/cuda-samples, karpathy/llm.c, zjin-lcf/HeCBench or the like. Pointers get arrays of 2^18 random values,
scalars 64 or 1.0, structures zeros; the grid has 4 blocks of 64 threads, of 16 x 16 where the kernel reads %tid.y, or what its bounds
say. A kernel counts as executed where it ran under the checks in order, whatever was found: what is found is mostly the arguments'
fault. --only takes the files whose paths match, --every N each Nth of them. Needs nvcc and c++filt. Ends with 1 if one crashes.
"""

import argparse
import csv
import fnmatch
import pathlib
import re
import sys
import tempfile
from collections import Counter

import kernels
from signatures import kernels as kernels_of

ELEMENTS = 2**18


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkout", type=pathlib.Path)
    parser.add_argument("ridgepoint")
    parser.add_argument("out")
    parser.add_argument("--include", action="append", default=[])
    parser.add_argument("--only", default="*")
    parser.add_argument("--every", type=int, default=1)
    options = parser.parse_args()
    files = [it for it in sorted(options.checkout.rglob("*.cu")) if fnmatch.fnmatch(it, options.only)]
    files = [it for it in files if "__global__" in it.read_text(errors="replace")][:: options.every]
    if not files:
        sys.exit(f"{options.checkout} has no kernels")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        numbered = list(enumerate(files))
        run = lambda it: file_rows(it[1], pathlib.Path(folder) / f"{it[0]}.ptx", options)
        for each in kernels.each(run, numbered):
            rows += each
    with open(options.out, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["file", "kernel", "outcome", "text"])
        writer.writerows(rows)
    counts = Counter(row[2] for row in rows)
    ran = sum(count for name, count in counts.items() if name not in ("not compiled", "no kernel"))
    print(f"{options.checkout.name}, {kernels.commit(options.checkout)}: {len(files)} files, {ran} kernels: {dict(counts)}")
    refusals = Counter(reason(row[3]) for row in rows if row[2] == "refused")
    for text, count in refusals.most_common():
        print(f"  {count} refused: {text}")
    return 1 if counts["crashed"] else 0


def file_rows(file, ptx, options):
    """Compiles a file, and runs its kernels one after the other."""
    name = str(file.relative_to(options.checkout))
    folders = [file.parent, file.parent / "include", *options.include]
    includes = [f"-I{it}" for it in folders]
    if error := kernels.compile_ptx(file, ptx, ["-std=c++17", *includes]):
        return [(name, "", "not compiled", error[-160:])]
    found = kernels_of(ptx.read_text())
    if not found:
        return [(name, "", "no kernel", "")]
    rows = []
    for kernel in found:
        arguments = [kernel.argument(it, array, scalar) for it in range(len(kernel.parameters))]
        # An array of pointers is one of addresses that nobody may read.
        arguments = [it or "u64:0" for it in arguments]
        limits = ["--seeds", "0", "--shared", "48KiB", "--time-limit", "25"]
        outcome = kernels.run(options.ridgepoint, ptx, kernel.name, "4", block(kernel), arguments, limits)
        executed = outcome.name in ("clean", "found", "benign")
        rows.append((name, kernel.shown, "executed" if executed else outcome.name, outcome.brief()))
    return rows


def array(type):
    return f"{type}[{ELEMENTS}]=random"


def scalar(type):
    return "1.0" if type[0] in "fb" else "64"


def block(kernel):
    fixed = re.search(r"\.reqntid\s+(\d+)(?:,\s*(\d+))?(?:,\s*(\d+))?", kernel.text)
    if fixed:
        return ",".join(it for it in fixed.groups() if it)
    most = re.search(r"\.maxntid\s+(\d+)", kernel.text)
    if most and int(most[1]) < 64:
        return most[1]
    return "16,16" if "%tid.y" in kernel.text else "64"


def reason(text):
    """A refusal without what differs from kernel to kernel: of an instruction its name, of a call whom."""
    if called := re.search(r"`call[^`]*?\b([A-Za-z_]\w*), \(", text):
        return f"call of {called[1]}"
    if instruction := re.search(r"on the emulator: `(?:@\S+ )?([a-z]+)", text):
        return instruction[1]
    return re.sub(r"\S+\.ptx(:\d+)?:?|\b_Z\w+|\b\d+\b", "..", text)[:120]


if __name__ == "__main__":
    sys.exit(main())
