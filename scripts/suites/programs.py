#!/usr/bin/env python3
"""Builds every program of a checkout and runs it as it is on the emulated driver: what runs to its end?

    scripts/suites/programs.py CHECKOUT RIDGEPOINT OUT.csv [--include FOLDER].. [--limit SECONDS] [--arguments ROWS.csv]

A folder with .cu files is a program. With a file of rows, such as this script writes, only its programs run, each with its
arguments. nvcc links a program as it does by default, so the CUDA runtime is inside. Samples compare their results with a
host's, and say so by their exit status. Needs nvcc, and headers and libraries of what a program calls besides. Ends with 1
where no program ran.
"""

import argparse
import csv
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter

import kernels

# A sample that finds no GPU of its kind, or too few, ends with this status.
WAIVED = 2

# Statuses of `timeout`.
TIMED_OUT, KILLED = 124, 137


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkout", type=pathlib.Path)
    parser.add_argument("ridgepoint")
    parser.add_argument("out")
    parser.add_argument("--include", action="append", default=[])
    parser.add_argument("--limit", type=int, default=60)
    parser.add_argument("--arguments", type=pathlib.Path)
    options = parser.parse_args()
    # Programs run in their folders.
    command = shutil.which(options.ridgepoint)
    if command is None:
        parser.error(f"no command {options.ridgepoint}")
    options.ridgepoint = os.path.abspath(command)
    programs = programs_of(options)
    with tempfile.TemporaryDirectory() as binaries:
        run = lambda it: row(it[1], pathlib.Path(binaries) / str(it[0]), options)
        rows = list(kernels.each(run, list(enumerate(programs))))
    with open(options.out, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["program", "arguments", "outcome", "text"])
        writer.writerows(rows)
    counts = Counter(outcome for *_, outcome, _ in rows)
    print(f"{options.checkout.name}, {kernels.commit(options.checkout)}: {len(rows)} programs: {dict(counts)}")
    return 0 if counts["passed"] else 1


def programs_of(options):
    """The folder of each program, and its arguments."""
    if options.arguments is None:
        return [(it, []) for it in sorted({it.parent for it in options.checkout.rglob("*.cu")})]
    with open(options.arguments, newline="") as rows:
        return [(options.checkout / it["program"], it["arguments"].split()) for it in csv.DictReader(rows)]


def sources_of(folder):
    """The names that the Makefile lists, or else all."""
    makefile = folder / "Makefile"
    listed = re.search(r"^source *:?= *(.+)", makefile.read_text(errors="replace"), re.MULTILINE) if makefile.is_file() else None
    names = listed[1].split() if listed else []
    if names and all((folder / it).is_file() for it in names):
        return names
    return [it.name for it in sorted(folder.iterdir()) if it.suffix in (".cu", ".cpp")]


def row(what, program, options):
    folder, arguments = what
    outcome, text = outcome_of(folder, arguments, program, options)
    return (str(folder.relative_to(options.checkout)), " ".join(arguments), outcome, " ".join(text.split())[:200])


def outcome_of(folder, arguments, program, options):
    """Builds and runs a program. Returns its outcome, and the line that says why."""
    sources = sources_of(folder)
    includes = [f"-I{it}" for it in options.include]
    # PTX alone: the emulator has no use for machine code, which takes longer.
    compile = [kernels.nvcc(), "-w", "-lineinfo", "-O2", "-std=c++17", "-arch=compute_90", "-Xcompiler", "-fopenmp"]
    own = {"LIBRARY_PATH": str(kernels.ROOT / ".venv/cuda/lib")}
    output = dict(capture_output=True, text=True, errors="replace")
    built = subprocess.run([*compile, *includes, *sources, "-o", program], cwd=folder, env=os.environ | own, **output)
    if built.returncode:
        return "not built", first(r"fatal error: .*|error:? .*|undefined reference to .*", built.stderr + built.stdout)
    command = [options.ridgepoint, "emulate", "--findings", f"{program}.findings", "--program-status", program, *arguments]
    # By the signal the command ends its program, too.
    limit = ["timeout", "--kill-after", "5", str(options.limit)]
    ran = subprocess.run([*limit, *command], cwd=folder, stdin=subprocess.DEVNULL, **output)
    absent = first(r"\S+ is not emulated.*|.* are not emulated.*|.* its fragments lie in registers", ran.stderr)
    finding = first(r"ridgepoint: .*: block \[.*", ran.stderr)
    if finding and not absent:
        return "found", finding
    if ran.returncode in (TIMED_OUT, KILLED):
        return "time limit", absent
    # Some say so, and end with 0.
    failed = first(r".*\b(?:FAIL|FAILED)\b.*", ran.stdout)
    if ran.returncode == 0 and failed:
        return "failed", failed
    if ran.returncode == 0:
        return "passed", ""
    if absent:
        return "not emulated", absent
    if ran.returncode == WAIVED:
        return "waived", (ran.stdout.strip().splitlines() or [""])[-1]
    return "failed", f"status {ran.returncode}: " + ((ran.stderr + ran.stdout).strip().splitlines() or [""])[-1]


def first(pattern, text):
    found = re.search(pattern, text)
    return found[0] if found else ""


if __name__ == "__main__":
    sys.exit(main())
