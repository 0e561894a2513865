#!/usr/bin/env python3
"""Runs the CUDA tests of GPUVerify under the checks, and compares what was found with what each test expects.

    scripts/suites/gpuverify.py CHECKOUT RIDGEPOINT OUT.csv

CHECKOUT is a clone of https://github.com/mc-imperial/gpuverify. A test says whether GPUVerify verifies it (`pass`) or not (`xfail`), for
any values of its parameters that its `__requires` allow. Here each kernel runs with arrays of zeros and with several values of its scalars;
runs that break a `__requires` are void. `__assert` is checked where it is about values, not about GPUVerify's own record of accesses.
Each test is compiled twice: optimised, which removes the reads and writes that have no use, and with -G. Needs nvcc and c++filt.
"""

import csv
import pathlib
import re
import sys
import tempfile
from collections import Counter, defaultdict

import kernels
from signatures import kernels as kernels_of

# Enough for one element of each thread of each test.
ELEMENTS = 2**20

# Parts of contracts about accesses that GPUVerify records, which no C++ compiler knows.
RECORDED = re.compile(
    r"__(?:no_)?(?:read|write)\w*\s*\(|__(?:uniform|distinct|other)_\w+|__enabled|__ptr_offset|__return_val|__mod_pow2|__all\b|__ptr_base"
)

# Stand-ins for GPUVerify's annotations. Traps of the two are told apart by their lines.
ANNOTATIONS = """
typedef unsigned int uint;
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned long ulong;
#define __requires(it) do { if (!(it)) __trap(); } while (0)
#define __assert(it) do { if (!(it)) __trap(); } while (0)
#define __implies(if_, then_) (!(if_) || (then_))
#define __assume(it) __requires(it)
#define __axiom(it)
#define __ensures(it)
#define __invariant(it) ((void)0)
#define __global_invariant(it)
#define __requires_fresh_array(it)
#line 1
"""

# The words of an expected error, and the kinds of findings that mean the same.
EXPECTED = (
    (r"race", ("race", "stores of equal values")),
    (r"null pointer", ("null pointer",)),
    (r"constant", ("write to constant memory",)),
    (r"divergen|non-uniform", ("divergence", "stuck", "misuse")),
    (r"assert|:\d+|a = 12", ("trap",)),
)


class Test:
    def __init__(self, file, checkout):
        self.name = str(file.parent.relative_to(checkout / "testsuite/CUDA"))
        self.text = file.read_text(errors="replace")
        lines = self.text.splitlines()
        self.passes = lines[0].lower().startswith("//pass")
        self.label = lines[0].lstrip("/").split(":")[-1]
        self.flags = lines[1]
        self.expected = [it for it in lines[2:8] if it.startswith("//")]

    def extent(self, name):
        """Returns a block or a grid. CUDA has no blocks of more than 1024 threads, which a few tests ask for: they get 1024."""
        value = re.search(rf"--{name}=\[?([\d,]+)", self.flags)[1]
        return "1024" if name == "blockDim" and value.isdecimal() and int(value) > 1024 else value

    def expects(self):
        """Returns the kinds that the test's comments ask for, or none where they do not say."""
        said = " ".join(self.expected)
        return next((kinds for words, kinds in EXPECTED if re.search(words, said)), ())

    def source(self):
        """Returns the text for nvcc: GPUVerify has headers of its own for what CUDA's declare."""
        headers = {"cooperative_groups": "cooperative_groups.h", "curand": "curand_kernel.h"}
        included = "".join(f"#include <{header}>\n" for word, header in headers.items() if word in self.text)
        return included + ANNOTATIONS + without_records(self.text)

    def scalars(self):
        """Values worth trying: those that `__requires` compare with, and a few that index arrays."""
        asked = re.findall(r"__requires\((.*?)\);", self.text, re.S)
        named = {int(it) for text in asked for it in re.findall(r"\b\d{1,6}\b", text)}
        threads = 1
        for name in ("blockDim", "gridDim"):
            for extent in self.extent(name).split(","):
                threads *= int(extent)
        block = int(self.extent("blockDim").split(",")[0])
        return sorted({0, 1, 5, block, min(threads, ELEMENTS)} | named)

    def is_contract(self, line):
        lines = self.text.splitlines()
        return 0 < line <= len(lines) and re.search("__requires|__assume", lines[line - 1])


def without_records(text):
    """Takes annotations about recorded accesses out, and keeps the lines where they are."""
    result, place = "", 0
    for found in re.finditer(r"\b__(requires|assert|assume|axiom|ensures|invariant|global_invariant)\s*\(", text):
        if found.start() < place:
            continue
        depth, end = 1, found.end()
        while depth and end < len(text):
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
        if RECORDED.search(text[found.end() : end]):
            lines = "\n" * text.count("\n", found.start(), end)
            result += text[place : found.start()] + "((void)0)" + lines
            place = end
    return result + text[place:]


def judged(test, ridgepoint, folder, mode):
    """Runs a test's kernels, and returns (verdict, outcome, what was found)."""
    source = folder / f"{test.name.replace('/', '-')}-{mode}.cu"
    source.write_text(test.source())
    options = [mode, *re.findall(r"-D\s*\S+", test.flags)]
    if error := kernels.compile_ptx(source, source.with_suffix(".ptx"), options):
        return "not compiled", error
    found = kernels_of(source.with_suffix(".ptx").read_text())
    if not found:
        return "no kernel", ""
    held, texts, benign = 0, [], []
    for kernel in found:
        for value in test.scalars():
            # u8 where it is a structure: 4 bytes for each thread.
            array = lambda type: f"{type}[{ELEMENTS * (4 if type == 'u8' else 1)}]=zeros"
            scalar = lambda type: 0 if type.startswith("u64") else value
            arguments = [kernel.argument(it, array, scalar, pointers) for it in range(len(kernel.parameters))]
            if None in arguments:
                return "refused", "an array of pointers"
            extents = [test.extent(name) for name in ("gridDim", "blockDim")]
            outcome = kernels.run(ridgepoint, source.with_suffix(".ptx"), kernel.name, *extents, arguments)
            if outcome.name in ("refused", "slow", "crashed"):
                return outcome.name, outcome.brief()
            line = re.search(r"trap[^\n]*?\.cu:(\d+)", outcome.output)
            if line and test.is_contract(int(line[1])):
                continue
            held += 1
            for text in outcome.texts:
                (benign if outcome.name == "benign" else texts).append(text)
            # Without scalars, all runs are alike.
            if not any(":" in it for it in arguments):
                break
    if not held:
        return "void", "no value that was tried fulfils __requires"
    if texts:
        return "found", "; ".join(sorted(set(texts)))
    return ("benign" if benign else "silent"), "; ".join(sorted(set(benign)))


def pointers(alignment, size):
    """A structure: where its alignment allows it, each word is a pointer to zeros."""
    if alignment % 8 or size % 8:
        return f"bytes:{'00' * size}"
    words = size // 8
    return "{" + ",".join([f"u8[{2**24 // words}]=zeros"] * words) + "}"


def verdict(test, outcome, texts):
    if outcome in ("not compiled", "no kernel", "refused", "slow", "crashed", "void"):
        return outcome
    if test.passes:
        return {"found": "accused", "benign": "benign", "silent": "clean"}[outcome]
    if outcome == "silent":
        return "silent"
    kinds = test.expects()
    return "found" if not kinds or any(kind in texts for kind in kinds) else "found otherwise"


def main(checkout, ridgepoint, out):
    checkout = pathlib.Path(checkout)
    tests = [Test(it, checkout) for it in sorted((checkout / "testsuite/CUDA").rglob("kernel.cu"))]
    if not tests:
        sys.exit(f"{checkout} has no tests in testsuite/CUDA")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        runs = [(test, mode) for test in tests for mode in ("-O3", "-G")]
        outcomes = kernels.each(lambda it: judged(it[0], ridgepoint, pathlib.Path(folder), it[1]), runs)
        for (test, mode), (outcome, texts) in zip(runs, outcomes):
            expected = "pass" if test.passes else f"xfail {test.label}"
            shown = re.sub(r"/\S*/include/", "", texts.replace(f"{folder}/", ""))
            rows.append((test.name, expected, mode, verdict(test, outcome, texts), shown))
    with open(out, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["test", "expected", "mode", "verdict", "texts"])
        writer.writerows(rows)
    print(f"GPUVerify, {kernels.commit(checkout)}: {len(tests)} tests\n\n| expected | mode | verdicts |\n|---|---|---|")
    counts = defaultdict(Counter)
    for _, expected, mode, verdict_, _ in rows:
        counts[expected.split()[0], mode][verdict_] += 1
    for (expected, mode), verdicts in sorted(counts.items()):
        print(f"| {expected} | {mode} | {', '.join(f'{count} {it}' for it, count in sorted(verdicts.items()))} |")
    if all(row[3] in ("not compiled", "no kernel") for row in rows):
        sys.exit("nothing was compiled, so nothing was looked at")
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
