#!/usr/bin/env python3
"""Counts lines of Rust by package at two commits, and prints docs/results/lines-of-code/README.md.

    scripts/figures/lines-of-code.py BEFORE [AFTER] >docs/results/lines-of-code/README.md

Source is a line that has something but a comment, and is no test; comments are lines that begin with `//`; tests are all
lines of files and folders called `tests`, of `*_tests.rs`, and from `#[cfg(test)] mod tests` to the end of a file, comments
among them. A file belongs to the package of the nearest Cargo.toml above it; a package is known by its folder's name, wherever it lies.
"""

import collections
import os
import re
import subprocess
import sys


def git(*words, **more):
    return subprocess.run(["git", *words], check=True, capture_output=True, **more).stdout


def texts(commit, paths):
    """The files' texts, in their order."""
    asked = "".join(f"{commit}:{path}\n" for path in paths).encode()
    answer, place = git("cat-file", "--batch", input=asked), 0
    for _ in paths:
        end = answer.index(b"\n", place)
        size = int(answer[place:end].split()[2])
        yield answer[end + 1:end + 1 + size].decode()
        place = end + 1 + size + 1


def counted(commit):
    """Source, comments and tests of each package."""
    listed = git("ls-tree", "-r", "--name-only", commit).decode().split("\n")
    manifests = {os.path.dirname(it) for it in listed if os.path.basename(it) == "Cargo.toml"}
    paths = [it for it in listed if it.endswith(".rs")]
    counts = collections.defaultdict(lambda: [0, 0, 0])
    for path, text in zip(paths, texts(commit, paths)):
        folder = os.path.dirname(path)
        while folder and folder not in manifests:
            folder = os.path.dirname(folder)
        # Kernels lie in a folder of that name beside their package.
        name = "/".join(folder.split("/")[-2:]) if os.path.basename(folder) in ("kernels", "hopper", "panicking") else os.path.basename(folder)
        count = counts[name or "ridgepoint"]
        is_test = re.search(r"(^|/)tests(/|\.rs$)|_tests\.rs$", path)
        source, *tests = ["", text] if is_test else re.split(r"#\[cfg\(test\)\]\s*mod tests \{", text, maxsplit=1)
        for line in source.split("\n"):
            if line.strip():
                count[line.strip().startswith("//")] += 1
        count[2] += sum(1 for it in "".join(tests).split("\n") if it.strip())
    return counts


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    commits = (sys.argv[1:] + ["HEAD"])[:2]
    names = [git("rev-parse", "--short=8", it).decode().strip() for it in commits]
    before, after = (counted(it) for it in commits)
    print("# Lines of code\n\nLines of Rust by package: source without comments and tests, comments, tests. By\n")
    print(f"```\nscripts/figures/lines-of-code.py {' '.join(names)}\n```\n")
    print(f"| package | {names[0]} | {names[1]} | source, after over before |\n|---|---|---|---|")
    total = [[0, 0, 0], [0, 0, 0]]
    for name in sorted(before.keys() | after.keys(), key=lambda it: -before[it][0]):
        cells = [counts[name] for counts in (before, after)]
        for side, cell in zip(total, cells):
            side[:] = [a + b for a, b in zip(side, cell)]
        row(f"`{name}`", cells)
    row("**all**", total)


def row(name, cells):
    shown = [", ".join(f"{it:,}" for it in cell) if any(cell) else "" for cell in cells]
    ratio = f"{cells[1][0] / cells[0][0]:.2f}" if cells[0][0] and cells[1][0] else ""
    print(f"| {name} | {shown[0]} | {shown[1]} | {ratio} |")


if __name__ == "__main__":
    main()
