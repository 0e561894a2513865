#!/usr/bin/env python3
"""What ptxas makes of the kernels of counts.py: how often warps issue each machine instruction.

    counts-sass.py FOLDER RESULTS     FOLDER: the bundle; RESULTS: counts.py's folder, which gets sass.csv

Follows the machine code of ptxas for sm_90 as the warps of the launch do: which way each branch goes is written below,
as it follows from the arguments. Needs ptxas and nvdisasm in the PATH, and no GPU. Ends with 1 where the sum of a kernel
differs from the instructions that Nsight Compute has counted: then the GPU ran other code, or another way.
"""

import csv
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from counts import LAUNCHES


def loop(times):
    """A branch back that is taken until a loop has run this often."""
    return [True] * (times - 1) + [False]


TAKEN, PASSED = [True], [False]

# Of each kernel: warps that go one way, and what each branch or exit with a predicate does there, at its address; the
# last answer counts for all further visits. nrm2 is left out: how often its last block looks for sums is chance.
PATHS = {
    "saxpy (nvcc)": [(32768, {0x70: PASSED})],
    "horner k=50 (nvcc)": [
        (32768, {0x70: PASSED, 0xD0: PASSED, 0x160: PASSED, 0x1A0: PASSED, 0x1D0: PASSED, 0x310: loop(3), 0x330: TAKEN,
                 0x3F0: TAKEN, 0x480: PASSED, 0x4C0: loop(2)})
    ],
    "copy, 16 bytes": [(2048, {0x170: PASSED, 0x3D0: PASSED, 0x410: TAKEN})],
    "scale": [(8192, {0xD0: PASSED, 0x260: PASSED, 0x440: TAKEN})],
    # Bits of k - 1 = 9, of 49 and of 9 choose the chunks of steps.
    "power sum k=10": [
        (32768, {0x90: PASSED, 0x270: TAKEN, 0x12D0: TAKEN, 0x1AE0: TAKEN, 0x1EF0: TAKEN, 0x2100: PASSED, 0x2210: TAKEN,
                 0x2370: TAKEN})
    ],
    "horner k=50": [
        (32768, {0x90: PASSED, 0x220: TAKEN, 0x280: TAKEN, 0xAE0: TAKEN, 0xEF0: PASSED, 0x1100: PASSED, 0x1210: TAKEN,
                 0x1370: TAKEN})
    ],
    "horner f64 k=10": [
        (32768, {0x90: PASSED, 0x220: TAKEN, 0x280: TAKEN, 0xAE0: TAKEN, 0xEF0: TAKEN, 0x1100: TAKEN, 0x1210: PASSED,
                 0x1390: TAKEN})
    ],
    "exp (special)": [(8192, {0xD0: PASSED, 0x8A0: PASSED, 0x940: TAKEN, 0x10E0: TAKEN})],
    # The first warp of each block adds what the others leave.
    "gemv f64": [
        (7 * 1024, {0x80: PASSED, 0x130: TAKEN, 0x450: PASSED, 0x680: TAKEN, 0x1580: TAKEN, 0x18E0: TAKEN}),
        (1024, {0x80: PASSED, 0x130: TAKEN, 0x450: PASSED, 0x680: TAKEN, 0x1580: PASSED, 0x18E0: PASSED}),
    ],
    "block sums (shuffles)": [
        (7 * 256, {0xE0: PASSED, 0x290: loop(4), 0x560: TAKEN}),
        (256, {0xE0: PASSED, 0x290: loop(4), 0x560: PASSED}),
    ],
    "histogram (shared atomics)": [(2048, {0x130: PASSED, 0x590: PASSED, 0x610: TAKEN})],
    "matmul": [(128, {0xB0: PASSED, 0x1790: loop(16)})],
    "scan of tiles": [(1024, {0x50: PASSED, 0x350: TAKEN, 0x760: TAKEN, 0x8E0: [False] * 3 + [True]})],
    "5-point stencil": [(32768, {0x1B0: PASSED})],
    "bank conflict (nvcc)": [(32, {})],
    # Both ways, one after the other: what is before and behind them comes once, but for what joins the lanes.
    "divergent (nvcc)": [(2048, {0xB0: PASSED}), (2048, {0xB0: TAKEN}), (-2048, {0xB0: [0xD50]})],
    "uncoalesced (nvcc)": [(32, {})],
    "redundant loads (nvcc)": [(2048, {})],
    "tensor cores": [(4, {})],
}

INSTRUCTION = re.compile(r"(?P<guard>@!?U?P\w+ )?(?P<opcode>[A-Z][A-Z0-9_]*)")


def disassemble(folder, results, file):
    """The machine code of each kernel: addresses, texts, and where labels are."""
    source = (results if file == "tensor.ptx" else folder) / file
    with tempfile.TemporaryDirectory() as place:
        cubin = Path(place) / "cubin"
        subprocess.run(["ptxas", "-arch=sm_90", source, "-o", cubin], check=True)
        text = subprocess.run(["nvdisasm", cubin], check=True, capture_output=True, text=True).stdout
    kernels, code, labels = {}, None, None
    for line in map(str.strip, text.splitlines()):
        if line.startswith(".section"):
            code = None
        elif line.startswith(".text.") and line.endswith(":"):
            code, labels = [], {}
            kernels[line[len(".text.") : -1]] = (code, labels)
        elif code is not None and re.fullmatch(r"[.$]\w+:", line):
            labels[line[:-1]] = len(code)
        elif code is not None and (found := re.match(r"/\*([0-9a-f]{4,})\*/\s+(.*?)\s*;", line)):
            code.append((int(found[1], 16), found[2]))
    return kernels


def follow(code, labels, answers):
    """How often a warp issues each instruction."""
    issued, visits, at = Counter(), Counter(), 0
    while True:
        address, text = code[at]
        parts = INSTRUCTION.match(text)
        opcode = parts["opcode"]
        issued[opcode] += 1
        at += 1
        if opcode not in ("BRA", "EXIT") or "BRA.DIV" in text:
            continue
        if parts["guard"]:
            known = answers[address]
            goes = known[min(visits[address], len(known) - 1)]
            visits[address] += 1
        else:
            goes = True
        if goes is not True and goes is not False:
            # What both ways have in common: everything but the ways, and what joins lanes.
            at = next(index for index, (it, _) in enumerate(code) if it == goes) + 1
        elif goes and opcode == "EXIT":
            return issued
        elif goes:
            at = labels[re.search(r"`\((.*?)\)", text)[1]]


def main():
    folder, results = Path(sys.argv[1]), Path(sys.argv[2])
    with open(results / "counts.csv", newline="") as file:
        rows = [it for it in csv.DictReader(file) if it["figure"] == "instructions"]
    measured = {it["kernel"]: float(it["ncu"]) for it in rows}
    files = {file: disassemble(folder, results, file) for _, file, *_ in map(LAUNCHES.get, measured)}
    table, others = [], []
    for title in filter(PATHS.get, measured):
        kernel, file, *_ = LAUNCHES[title]
        issued = Counter()
        for warps, answers in PATHS[title]:
            for opcode, times in follow(*files[file][kernel], answers).items():
                issued[opcode] += warps * times
        table += [(title, opcode, times) for opcode, times in issued.most_common() if times]
        if issued.total() != measured[title]:
            others.append(f"{title}: {issued.total()} instructions here, {measured[title]:.0f} on the GPU")
    with open(results / "sass.csv", "w", newline="") as out:
        csv.writer(out).writerows([("kernel", "opcode", "issued"), *table])
    print("\n".join(others) or f"{len({it[0] for it in table})} kernels: as many instructions as on the GPU")
    return 1 if others or not table else 0


if __name__ == "__main__":
    sys.exit(main())
