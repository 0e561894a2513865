"""What `ridgepoint ceilings` measured of what threads share, beside nvcc's kernels on the same GPU.

    python3 sharing.py ceilings.json sharing.md

Runs the programs that are called `sharing` and `loaded` and lie beside this file, or else compiles sharing.cu and loaded.cu with
nvcc. `sharing` times its kernels as the Rust host does: all launches queued, each between two events, 3 warm-ups, the median of 10;
latencies by the GPU's own cycles. `loaded` runs 3 times, each time with memory of its own (loaded.py has what is made of it).
Ends with 1 where Rust is below 0.97 of the peer, or a quantity has none. Where the launches of the peer deviate by much, less is
allowed: two launches deviate by sqrt(2) as much from each other, and three of these deviations are taken for chance.
"""

import json
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile

import loaded

BAR = 0.97
RUNS_OF_LOADED = 3
# How the quantities begin that are of memory, caches, arithmetic, tensor cores and the driver, of which this file has no peer.
OTHERS = (
    "memory-", "l1-", "l2-read", "l2-latency", "shared-read", "shared-latency", "fma-", "add-mul-", "mad-", "exp2-", "tensor-",
    "mma-", "loaded-", "launch-", "graph-", "grid-",
)  # fmt: skip


def program(name):
    """A program of nvcc's."""
    here = pathlib.Path(__file__).parent
    built = here / name
    if not built.exists():
        built = pathlib.Path(tempfile.mkdtemp()) / name
        target = "-gencode=arch=compute_90a,code=sm_90a"
        command = ["nvcc", target, "-O3", "-std=c++17", "-o", built, here / f"{name}.cu"]
        subprocess.run(command, check=True)
    return built


def printed(built):
    return subprocess.run([built], check=True, capture_output=True, text=True).stdout


def measured_by_nvcc():
    """Rates and cycles of each quantity: the fastest of its launches."""
    found = {}
    for line in printed(program("sharing")).splitlines():
        quantity, rate, cycles = line.split()
        before = found.get(quantity, (0.0, float("inf")))
        found[quantity] = max(before[0], float(rate)), min(before[1], float(cycles))
    return found


def bar(samples):
    """The least ratio that counts as the same, of a figure of one launch and the median of these."""
    deviation = statistics.pstdev(samples) / statistics.median(samples)
    return min(BAR, 1 - 3 * math.sqrt(2) * deviation)


def compare(row, peer, least):
    """A row of the table, and Rust's speed over the peer's."""
    if row["unit"] == "s":
        (_, peer), value, unit = peer, row["cycles"], "cycles"
        ratio, digits = peer / value, 1
    else:
        (peer, _), value, unit = peer, row["value"], f"T{row['unit']}"
        ratio, digits = value / peer, 3
    scale = 1 if unit == "cycles" else 1e12
    sheet = row["datasheet"]
    share = f"{100 * value / sheet:.1f}" if sheet else ""
    figures = [f"{value / scale:.{digits}f}", f"{peer / scale:.{digits}f}", f"{ratio:.3f}"]
    return [row["quantity"], unit, *figures, f"{least:.3f}", share], ratio


def quantities(rows, peers, samples):
    """The table's rows, and what there is to complain of. `samples` has the launches of latencies that deviate."""
    peers |= {quantity: (0.0, statistics.median(each)) for quantity, each in samples.items()}
    table = []
    below = [f"No peer: {each}" for each in rows if each not in peers and not each.startswith(OTHERS)]
    for quantity, peer in peers.items():
        if quantity not in rows:
            below.append(f"Not measured by Rust: {quantity}")
            continue
        least = bar(samples[quantity]) if quantity in samples else BAR
        cells, ratio = compare(rows[quantity], peer, least)
        table.append(cells)
        if ratio < least:
            below.append(f"Below {least:.3f}: {quantity}, {ratio:.3f}")
    return table, below


def levels(busy, curves):
    """The same of latencies beside so many blocks that read."""
    table, below = [], []
    measured = {(level["quantity"], level["readers"]) for level in busy}
    for quantity, of_launches in curves.items():
        for readers in of_launches[0]:
            if (quantity, readers) not in measured:
                below.append(f"Not measured by Rust: {quantity} beside {readers}")
    for level in busy:
        quantity, readers = level["quantity"], level["readers"]
        of_launches = curves.get(quantity, [{}])
        if readers not in of_launches[0]:
            below.append(f"No peer: {quantity} beside {readers}")
            continue
        of_quantity = [each for each in busy if each["quantity"] == quantity]
        rate, own, samples = loaded.at_level(level, of_quantity, of_launches)
        peer, least = statistics.median(samples), bar(samples)
        rates = [f"{each / 1e12:.3f}" for each in (level["bytes_per_sec"], rate)]
        figures = [f"{own:.1f}", f"{peer:.1f}", f"{peer / own:.3f}", f"{least:.3f}"]
        table.append([quantity, str(readers), *rates, *figures])
        if peer / own < least:
            below.append(f"Below {least:.3f}: {quantity} beside {readers}, {peer / own:.3f}")
    return table, below


def deviating(ceilings, rows, lines, curves):
    """Cycles of each launch of the peer, of the latencies whose launches deviate."""
    samples = loaded.near_and_far(lines)
    for quantity, of_launches in curves.items():
        of_quantity = [level for level in ceilings.get("busy", []) if level["quantity"] == quantity]
        if of_quantity:
            samples[quantity] = loaded.at_speed(quantity, rows, of_quantity, of_launches)
    return {quantity: each for quantity, each in samples.items() if each}


def table_of(head, rows):
    return ["| " + " | ".join(cells) + " |" for cells in [head, ["---"] * len(head), *rows]]


def report(device, table, level_table, below):
    head = ["quantity", "in", "Rust", "nvcc", "ratio", "at least", "% of data sheet"]
    level_head = ["quantity", "readers", "Rust, TB/s", "nvcc, TB/s", "Rust, ns", "nvcc, ns", "ratio", "at least"]
    text = [
        f"Medians of 10 launches on {device}, and of {10 * RUNS_OF_LOADED} of nvcc's for l2-near, l2-far and busy latencies. A "
        "ratio is Rust's speed over nvcc's. What it has to be at least allows for how much nvcc's launches deviate.",
        "",
        *table_of(head, table),
        "",
        "A load beside so many blocks that read. Where their rates differ by more than 2 %, both latencies are those at the lower "
        "one, on lines between the levels.",
        "",
        *table_of(level_head, level_table),
        "",
        *below,
    ]
    return "\n".join(text).rstrip() + "\n"


def main(measured, output):
    ceilings = json.loads(pathlib.Path(measured).read_text())
    rows = {row["quantity"]: row for row in ceilings["ceilings"]}
    peers, built = measured_by_nvcc(), program("loaded")
    lines, curves = loaded.read(printed(built) for _ in range(RUNS_OF_LOADED))
    table, below = quantities(rows, peers, deviating(ceilings, rows, lines, curves))
    level_table, below_levels = levels(ceilings.get("busy", []), curves)
    below += below_levels
    if not table:
        below.append("Nothing was compared")
    text = report(ceilings["key"]["device"], table, level_table, below)
    pathlib.Path(output).write_text(text)
    print(text)
    return 1 if below else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
