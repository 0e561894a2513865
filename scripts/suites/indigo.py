#!/usr/bin/env python3
"""Runs the CUDA kernels of the Indigo suite under the checks, and tells which planted bugs were found.

    scripts/suites/indigo.py CHECKOUT RIDGEPOINT OUT.csv [TYPE...]

CHECKOUT is a clone of https://github.com/burtscher/IndigoSuite, whose own generator writes the kernels. A TYPE is int (by default), long or
float, of the vertices' data; patterns that do not compile for it are named. A kernel is buggy if its name says so; its label says what
must be found: a race, or an access out of bounds. Needs nvcc. Ends with 1 if a bug is missed or a kernel without one is accused.
"""

import csv
import pathlib
import random
import re
import subprocess
import sys
import tempfile
from array import array
from collections import Counter, defaultdict

import kernels

# The bugs that labels plant, by the kinds of findings that are right for it.
LABELS = {
    "atomicBug": ("race", "stores of equal values"),
    "guardBug": ("race", "stores of equal values"),
    "raceBug": ("race", "stores of equal values"),
    "syncBug": ("race", "stores of equal values", "uninitialised"),
    "boundsBug": ("out of bounds",),
}

TYPES = {"int": "i32", "long": "u64", "float": "f32"}
DECLARED = {"int": "int", "long": "unsigned long long", "float": "float"}

VERTICES = 50


def main(checkout, ridgepoint, out, *types):
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        sources = generate(pathlib.Path(checkout) / "Generators", folder)
        graph(folder)
        for type in types or ["int"]:
            modules = list(kernels.each(lambda it: module(it, type, folder), sorted(sources)))
            for pattern, error in modules:
                if error:
                    print(f"{pattern} is not run: it does not compile for {type}: {error}")
            names = [(pattern, name) for pattern, error in modules if not error for name in sources[pattern]]
            outcomes = kernels.each(lambda it: launch(ridgepoint, *it, type, folder), names)
            for (pattern, name), outcome in zip(names, outcomes):
                texts = outcome.brief().replace(f"{folder}/", "")
                rows.append((type, pattern, name, label(name), verdict(name, outcome), texts))
    with open(out, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["type", "pattern", "kernel", "label", "verdict", "findings"])
        writer.writerows(rows)
    return told(rows, kernels.commit(checkout))


def generate(generators, folder):
    """Has the suite write its kernels, and returns the names of each pattern's."""
    (folder / "CUDA").mkdir()
    for pattern in sorted((generators / "CUDA_sources").glob("*.idg")):
        command = [sys.executable, "-W", "ignore", "generate_CUDA_codes.py", pattern, "../copyright.txt", folder / "CUDA"]
        subprocess.run(command, cwd=generators, check=True, capture_output=True)
    found = defaultdict(list)
    for file in sorted((folder / "CUDA").glob("*/*.cu")):
        found[file.parent.name].append(file.stem)
    if not found:
        sys.exit(f"{generators} has no kernels")
    return found


def graph(folder):
    """Writes a random graph in compressed rows, and the vertices' data.

    The first and the last vertex have no neighbours: a kernel that does not ask whether there are any then reads outside the list.
    """
    draw = random.Random(1)
    starts, neighbours = [0], []
    for vertex in range(VERTICES):
        count = 0 if vertex in (0, VERTICES - 1) else draw.randrange(1, 8)
        neighbours += sorted(draw.sample(range(VERTICES), count))
        starts.append(len(neighbours))
    words = max(VERTICES, len(neighbours))
    (folder / "starts.bin").write_bytes(array("i", starts).tobytes())
    (folder / "neighbours.bin").write_bytes(array("i", neighbours).tobytes())
    for type, code in (("int", "i"), ("long", "Q"), ("float", "f")):
        for number, limit in ((1, VERTICES), (2, len(neighbours))):
            data = [0] + [draw.randrange(limit) for _ in range(words - 1)]
            (folder / f"data{number}.{type}").write_bytes(array(code, data).tobytes())


def module(pattern, type, folder):
    """Compiles all kernels of a pattern as one file, each in a namespace of its name. Returns the pattern and nvcc's error."""
    text = ""
    for file in sorted((folder / "CUDA" / pattern).glob("*.cu")):
        device = re.search(r'#include "indigo_cuda.h"\n(.*?)\n *void serial_code', file.read_text(), re.S)[1]
        text += f"namespace {file.stem} {{\ntypedef {DECLARED[type]} data_t;\n{device}\n}}\n"
    source = folder / f"{pattern}-{type}.cu"
    source.write_text(text)
    return pattern, kernels.compile_ptx(source, source.with_suffix(".ptx"))


def launch(ridgepoint, pattern, name, type, folder):
    """Runs a kernel with a block or warp or thread for each vertex, as the name says, or fewer where it is persistent."""
    persistent = "persistent" in name
    if "block" in name:
        grid, block = (3 if persistent else 52), 64
    elif "warp" in name:
        grid, block = (4 if persistent else 26), 64
    else:
        grid, block = (1 if persistent else 2), 32
    data = [f"{TYPES[type]}[]={folder}/data{number}.{type}" for number in (1, 2)]
    graph = [f"i32[]={folder}/starts.bin", f"i32[]={folder}/neighbours.bin"]
    ptx = folder / f"{pattern}-{type}.ptx"
    arguments = [*graph, *data, f"i32:{VERTICES}"]
    run = lambda *more: kernels.run(ridgepoint, ptx, f"{name}::test_kernel", str(grid), str(block), arguments, ["--strict", *more])
    outcome = run()
    # A launch ends at its first finding, so that one of two bugs may hide the other in the few orders of a default run.
    return run("--seeds", "200") if verdict(name, outcome) == "in part" else outcome


def label(name):
    return "+".join(it for it in LABELS if it in name) or "none"


def verdict(name, outcome):
    """`right`, `missed`, `accused`, `in part`: one of two bugs was found, or `otherwise`: for a reason that the name does not say."""
    labels = [it for it in LABELS if it in name]
    if outcome.name not in ("clean", "benign", "found"):
        return outcome.name
    if not labels:
        return "right" if outcome.name == "clean" else "accused"
    if outcome.name == "clean":
        return "missed"
    found = [any(it.startswith(LABELS[label]) for it in outcome.texts) for label in labels]
    return "right" if all(found) else "in part" if any(found) else "otherwise"


def told(rows, commit):
    """Prints the table, and returns the exit status."""
    print(f"\nIndigo, {commit}\n\n| data | label | kernels | right | otherwise |\n|---|---|---:|---:|---|")
    counts = defaultdict(Counter)
    for type, _, _, label, verdict, *_ in rows:
        counts[type, label][verdict] += 1
    for (type, label), verdicts in sorted(counts.items()):
        other = ", ".join(f"{count} {it}" for it, count in sorted(verdicts.items()) if it != "right")
        print(f"| {type} | {label} | {verdicts.total()} | {verdicts['right']} | {other} |")
    return 0 if rows and all(row[4] == "right" for row in rows) else 1


if __name__ == "__main__":
    if len(sys.argv) < 4 or not set(sys.argv[4:]) <= set(TYPES):
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
