"""Compiles others' kernels with nvcc, runs them with `ridgepoint run`, and says what came of it.

Used by the scripts beside it. nvcc is the one of setup.sh (`.venv/cuda`), or the one in PATH.
"""

import concurrent.futures
import os
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]

# `Checked foo: 5 launches, ..` is followed by a line for each finding: "  in order and under seed 2: race on .. at ..".
LISTED = re.compile(r"^  (?:benign, )?(?:in all of them|in order|under seed)[^:]*: (.+)$")

# Where one launch was run, the last line of a report is followed by the command that replays it.
REPLAY = re.compile(r"^  replay: ")


def findings(output):
    """Returns the finding of each line that names one, in the words of `ridgepoint run`."""
    lines = output.splitlines()
    listed = [found[1] for found in map(LISTED.match, lines) if found]
    if listed:
        return listed
    return [before for before, line in zip(lines, lines[1:]) if REPLAY.match(line)]


class Outcome:
    """The fate of a kernel: `clean`, `found`, `benign`, `refused`, `slow`, or `crashed`; and the texts behind it."""

    def __init__(self, name, texts=(), output=""):
        self.name = name
        self.texts = list(texts)
        self.output = output

    def brief(self):
        return "; ".join(self.texts)[:200]


def nvcc():
    own = ROOT / ".venv/cuda/bin/nvcc"
    return str(own) if own.exists() else "nvcc"


def compile_ptx(source, ptx, options=()):
    """Writes the PTX of a source for sm_90, with lines. Returns nvcc's first error, or None."""
    command = [nvcc(), "-ptx", "-arch=sm_90", "-lineinfo", "-w", *options, "-o", str(ptx), str(source)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode == 0:
        return None
    errors = [line for line in (done.stderr + done.stdout).splitlines() if "error" in line]
    return (errors or ["nvcc failed without a word"])[0]


def run(ridgepoint, ptx, kernel, grid, block, arguments, options=(), seconds=60):
    """Runs a kernel under the checks in the default orders."""
    command = [ridgepoint, "run", str(ptx), kernel, "--grid", grid, "--block", block, *options]
    for argument in arguments:
        command += ["--arg", argument]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        return Outcome("slow", [f"not ended after {seconds} s"])
    output = done.stdout + done.stderr
    texts = findings(output)
    if done.returncode == 0:
        return Outcome("benign" if texts else "clean", texts, output)
    if done.returncode == 1:
        return Outcome("found", texts, output)
    if done.returncode in (2, 3):
        last = [line for line in output.splitlines() if line.strip()]
        return Outcome("refused", last[-1:], output)
    return Outcome("crashed", [f"status {done.returncode}"], output)


def each(function, items):
    """Calls a function with each item, on all cores, and yields the results in the items' order."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        yield from pool.map(function, items)


def commit(checkout):
    done = subprocess.run(["git", "-C", checkout, "rev-parse", "--short=12", "HEAD"], capture_output=True, text=True)
    return done.stdout.strip() or "unknown"
