"""Predicts kernels that the model was not looked at with: unseen.py BENCH [FOLDER]

BENCH is the bench target `workloads` of the package `examples`: the Rust kernels of examples/kernels. Reads their times on an H200 and an H100,
and writes unseen.csv and unseen.md to the folder, its own by default. The list below was written before the model was run on any of them.
"""

import pathlib
import sys

from table import OWN, Launch, compared, errors, rows_of, write

# What is counted, and how many times as many blocks were measured. Each block does the same as in the launch that was measured.
COUNTED = {
    "stencil": ({"n": 1024, "tile": 16}, 64),
    "saxpy": ({"n": 2**18}, 256),
    "horner": ({"n": 2**16}, 1024),
    "softmax": ({"rows": 512, "columns": 1024}, 128),
    "layer-norm": ({"rows": 64, "columns": 4096}, 256),
    "diffusion": ({"n": 128}, 64),
    "spmv": ({"n": 2**14}, 64),
    "segmented-scan": ({"columns": 2**18}, 66),
    "plain-stencil": ({"n": 256}, 1),
    "plain-prices": ({"n": 2**16}, 256),
    "plain-conv5": ({"n": 1024}, 16),
    "plain-conv-rows": ({"n": 1024}, 16),
    "plain-power-mod": ({"n": 2**14}, 64),
    "plain-particles": ({"n": 2**16}, 256),
    "plain-swish-f16": ({"n": 2**16}, 512),
    "plain-axpy-bf16": ({"n": 2**16}, 512),
    "once-plain": ({"n": 2**18}, 256),
    "once-fast": ({"n": 2**18}, 256),
    "plain-column-sums": ({"n": 2**20}, 1),
    "mirror-plain": ({"n": 2048}, 16),
    "mirror-fast": ({"n": 2048}, 16),
    "bytes-plain": ({"n": 2**18}, 1024),
    "bytes-fast": ({"n": 2**18}, 1024),
    "taps-fast": ({"n": 1024}, 16),
    "powers-fast": ({"n": 2**14}, 64),
}


def unseen(board, path):
    for row in rows_of(path):
        if row["kernel"] in COUNTED:
            axes, times = COUNTED[row["kernel"]]
            varied = {name: row[name] for name in ["k"] if row[name]}
            if row["kernel"] == "stencil":
                varied["dtype"] = row["dtype"]
            words = ["--workload", row["kernel"]]
            for name, value in (axes | varied).items():
                words += ["--axis", f"{name}={value}"]
            yield Launch(board, row["kernel"], tuple(words), times, None), float(row["median_ms"]), int(row["grid"])


def main(program, folder=OWN):
    rows = [*unseen("h200", "h200-idioms/workloads-1.csv"), *unseen("h100", "h100-twins/workloads.csv")]
    table = list(compared(program, rows))
    write(pathlib.Path(folder) / "unseen.csv", table)
    lines, totals = errors(table)
    (pathlib.Path(folder) / "unseen.md").write_text(f"{totals}\n\n{lines}\n")
    print(lines, totals, sep="\n\n")


main(*sys.argv[1:])
