"""Predicts the rows of other studies and compares: table.py RIDGEPOINT [FOLDER], or table.py rows.csv [FOLDER]

Reads the times that docs/results has of an H200 and an H100, runs `ridgepoint predict` for each launch, and writes rows.csv and errors.md to
the folder, its own by default. ptxas must be found: it says how many registers a kernel has. Of rows that were predicted before, it makes
errors.md alone.
"""

import collections
import csv
import json
import math
import pathlib
import re
import subprocess
import sys

OWN = pathlib.Path(__file__).resolve().parent
RESULTS = OWN.parent
ROOT = RESULTS.parent.parent
BENCHES = ROOT / "examples" / "benches"
MULTIPROCESSORS = {"h200": 132, "h100": 132}
# Multiprocessors of the emulator.
EMULATED = 2
COVERAGE = 0.9


class Launch(collections.namedtuple("Launch", "board kernel words times residents")):
    """What is counted, and the launches of so many times as many blocks that are predicted of it."""


def rows_of(path):
    return csv.DictReader(open(RESULTS / path))


def occupancy(board, path):
    """Streams, norms and chains of multiply-adds, by blocks, loads per thread and blocks that a multiprocessor holds."""
    for row in rows_of(path):
        if row["max_registers"]:
            continue
        kernel, resident = row["kernel"], int(row["resident_blocks"])
        axes = {"ilp": row["ilp"], "block": row["block"]}
        grid, alike = int(row["grid"]), MULTIPROCESSORS[board] // EMULATED
        if kernel == "fma":
            axes["steps"], times = row["steps"], alike
        elif kernel == "nrm2":
            # As many elements per block, in as many blocks per multiprocessor.
            axes |= {"n": int(row["n"]) // alike, "grid": f"{resident}x"}
            times = alike
        else:
            axes["n"], times = 2**18, int(row["n"]) // 2**18
        yield workload(board, kernel, axes, times, resident), float(row["median_ms"]), grid


def polynomials(board, path):
    for row in rows_of(path):
        if row["blocks_per_sm"]:
            continue
        axes = {name: row[name] for name in ["k", "dtype", "vector", "ilp", "block"]} | {"n": 2**16}
        times = int(row["n"]) // 2**16
        launch = workload(board, row["kernel"], axes, times, None)
        launch = launch._replace(kernel=f"{row['kernel']} {row['dtype']}")
        yield launch, float(row["median_ms"]), int(row["grid"])


def products(board, path):
    """Products of a matrix, with a cold cache."""
    for row in rows_of(path):
        # Larger ones take the emulator minutes.
        most = {"gemv": 8192, "matmul": 2048}.get(row["kernel"], 0)
        if row["size"] and int(row["size"]) <= most:
            axes = {"size": row["size"], "block": row["block"]}
            launch = workload(board, row["kernel"], axes, 1, None)
            yield launch._replace(words=launch.words + ("--cold",)), float(row["median_ms"]), int(row["grid"])


def workload(board, kernel, axes, times, resident):
    words = ["--workload", kernel]
    for name, value in axes.items():
        words += ["--axis", f"{name}={value}"]
    return Launch(board, kernel, tuple(words), times, resident)


def from_nvcc():
    """The kernels that nvcc compiled of examples/benches, in smaller grids or on fewer elements, which do the same per block."""

    def of(file, entry, grid, block, *arguments):
        words = [str(BENCHES / file), entry, "--grid", grid, "--block", block]
        for argument in arguments:
            words += ["--arg", argument]
        return tuple(words)

    n, out = "f32[65536]=ones", "f32[65536]"
    image, weights = "f32[16777216]=ones", "bytes:" + "0000803d" * 25
    launches = {
        "nvcc-saxpy": of("nvcc.ptx", "saxpy", "256", "256", "u32:65536", "f32:2.5", n, n),
        "nvcc-plain-stencil": of("plain.ptx", "stencil_safe", "8192", "256", image, image, "u32:256"),
        "nvcc-plain-prices": of("plain.ptx", "black_scholes", "256", "256", n, n, n, out, "f32:0.02", "f32:0.3", "u64:65536"),
        "nvcc-plain-conv5": of("plain.ptx", "conv5", "2048", "256", image, image, weights, "u32:4096"),
        "nvcc-plain-conv-rows": of("plain.ptx", "conv_rows", "2048", "256", image, image, weights, "u32:4096"),
        "nvcc-plain-power-mod": of("plain.ptx", "power_mod", "64", "256", "u64[16384]=iota", "u64[16384]", "u32:2903", "u64:18446744073709551557", "u64:16384"),
        "nvcc-plain-particles": of("plain.ptx", "particles", "256", "256", *[n] * 8, *[out] * 3, "bytes:0000003e00000100"),
        "nvcc-plain-swish-f16": of("plain.ptx", "swish_f16", "256", "256", "u16[65536]=zeros", "u16[65536]", "f32:1.5", "u64:65536"),
        "nvcc-plain-axpy-bf16": of("plain.ptx", "axpy_bf16", "256", "256", *["u16[65536]=zeros"] * 3, "bytes:403f", "u64:65536"),
        "nvcc-softmax": of("twins.ptx", "softmax", "64", "256", "f32[524288]=ones", "f32[524288]", "u64:512", "u64:1024"),
        "nvcc-layer-norm": of("twins.ptx", "layer_norm", "64", "256", "f32[262144]=random", *["f32[4096]=ones"] * 2, "f32:0.00001", "f32[262144]", "u64:64", "u64:4096"),
        "nvcc-product": of("twins.ptx", "product", "4,4", "16,16", image, image, "u64:4096", image, *["u64:4096"] * 2),
        "nvcc-diffusion": of("twins.ptx", "diffuse", "16,128,32", "32,4,2", image, "f32:0.4", "f32:0.1", image, "u64:512", "u64:512", "u64:64"),
    }
    for k in [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]:
        launches[f"nvcc-horner k={k}"] = of("nvcc.ptx", "horner", "256", "256", "u32:65536", f"u32:{k}", n, out)
    return launches


def twins(board, path):
    launches = from_nvcc()
    for row in rows_of(path):
        name = row["kernel"] + (f" k={row['k']}" if row["k"] else "")
        if name in launches:
            words = launches[name]
            counted = math.prod(int(it) for it in words[3].split(","))
            launch = Launch(board, row["kernel"], words, int(row["grid"]) / counted, None)
            yield launch, float(row["median_ms"]), int(row["grid"])


def all_rows():
    yield from occupancy("h200", "h200-little/occupancy.csv")
    yield from occupancy("h200", "h200-regression/raw/occupancy-new-1.csv")
    yield from occupancy("h100", "h100-twins/copy-block.csv")
    yield from polynomials("h200", "h200-roofline/roofline.csv")
    yield from polynomials("h200", "h200-roofline/variants.csv")
    yield from polynomials("h100", "h100-integers/integers.csv")
    yield from products("h200", "h200-intensity/intensity.csv")
    yield from twins("h200", "h200-idioms/workloads-1.csv")
    yield from twins("h100", "h100-twins/workloads.csv")


def predicted(program, rows):
    """The predictions of rows, by launch: one command for all that differ in what a multiprocessor holds."""
    together = collections.defaultdict(set)
    for launch, _, _ in rows:
        key = launch._replace(residents=None, times=round(launch.times))
        together[key].add(launch.residents)
    found = {}
    for key, residents in together.items():
        words = [program, "predict", *key.words, "--roofs", key.board, "--times", str(max(key.times, 1)), "--format", "json", "--time-limit", "100"]
        known = sorted(it for it in residents if it is not None)
        if known:
            words += ["--resident", ",".join(str(it) for it in known)]
        run = subprocess.run(words, capture_output=True, text=True)
        if run.returncode != 0:
            print(f"{key.kernel}: {run.stderr.strip()[-300:]}", file=sys.stderr)
            continue
        # Of several kernels, the last is the one whose time was measured: others fill its input.
        made = json.loads(run.stdout)
        last = [it for it in made if it["kernel"] == made[-1]["kernel"]]
        for resident, row in zip(known or [None], last):
            found[key._replace(residents=resident)] = row
    return found


def mean(numbers):
    return sum(numbers) / len(numbers)


def quantile(weighted, share):
    """The number below which this share of the weight lies."""
    weighted, reached = sorted(weighted), 0.0
    for number, weight in weighted:
        reached += weight
        if reached >= share * sum(it[1] for it in weighted):
            return number
    return weighted[-1][0]


def interval(kernels):
    """The ratios of measured to predicted times between which the rows of these kernels lie, each kernel counting alike."""
    ratios = [(row["ms"] / row["predicted_ms"], 1 / len(rows)) for rows in kernels for row in rows]
    beyond = (1 - COVERAGE) / 2
    return quantile(ratios, beyond), quantile(ratios, 1 - beyond)


def errors(rows):
    by_kernel = collections.defaultdict(list)
    for row in rows:
        by_kernel[row["board"], row["name"]].append(row)
    lines = [
        "| board | kernel | rows | roof, mean | Little's law, mean | model, mean | model, worst | model, bias | in the interval of the others |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    sums, inside = collections.defaultdict(list), []
    for (board, name), own in sorted(by_kernel.items()):
        def off(figure):
            return [row[figure] / row["ms"] - 1 for row in own]
        model = off("predicted_ms")
        others = [it for (_, other), it in by_kernel.items() if other != name]
        low, high = interval(others)
        covered = mean([low <= row["ms"] / row["predicted_ms"] <= high for row in own])
        inside += [low <= row["ms"] / row["predicted_ms"] <= high for row in own]
        means = {figure: mean([abs(it) for it in off(figure)]) for figure in ["roof_ms", "little_ms", "predicted_ms"]}
        for figure, value in means.items():
            sums[figure].append(value)
        sums["covered"].append(covered)
        sums["worst"].append(max(abs(it) for it in model))
        figures = [f"{100 * it:.1f} %" for it in [*means.values(), sums["worst"][-1]]]
        lines.append(f"| {board} | {name} | {len(own)} | {' | '.join(figures)} | {100 * mean(model):+.1f} % | {100 * covered:.0f} % |")
    def of_rows(figure):
        return 100 * mean([abs(row[figure] / row["ms"] - 1) for row in rows])
    low, high = interval(by_kernel.values())
    def within(share):
        return 100 * mean([abs(row["predicted_ms"] / row["ms"] - 1) <= share for row in rows])

    totals = [
        f"{len(rows)} rows of {len(by_kernel)} kernels, those of two boards counted twice. Mean error of the rows: the roof {of_rows('roof_ms'):.1f} %, Little's law {of_rows('little_ms'):.1f} %, the model {of_rows('predicted_ms'):.1f} %; {within(0.1):.0f} % of the rows are within 10 %, {within(0.3):.1f} % within 30 %.",
        f"Mean of the kernels' errors: the roof {100 * mean(sums['roof_ms']):.1f} %, Little's law {100 * mean(sums['little_ms']):.1f} %, the model {100 * mean(sums['predicted_ms']):.1f} %, at worst {100 * max(sums['worst']):.0f} %.",
        f"Measured times lie between {low:.2f} and {high:.2f} of the predicted ones in {100 * COVERAGE:.0f} % of the cases, each kernel counting alike.",
        f"An interval made of the other kernels holds {100 * mean(inside):.0f} % of the rows, and {100 * mean(sums['covered']):.0f} % where each kernel counts alike.",
    ]
    return "\n".join(lines), "\n".join(totals)


def chosen_blocks(rows):
    """Of each stream and number of loads, how much slower the block of the shortest predicted time is than the fastest one."""
    studies = collections.defaultdict(lambda: collections.defaultdict(list))
    for row in rows:
        loads = re.search(r"ilp=(\d+)", row["at"])
        if loads and row["name"] in ["copy", "read", "scale", "elementwise", "nrm2"]:
            studies[row["board"], row["name"], loads[1]][row["block"]].append(row)
    slower = []
    for blocks in studies.values():
        times = {}
        for block, own in blocks.items():
            # As many blocks per multiprocessor as have room: the others were kept out by shared memory.
            most = max(row["resident_blocks"] for row in own)
            own = [row for row in own if row["resident_blocks"] == most]
            times[block] = mean([row["ms"] for row in own]), own[0]["predicted_ms"]
        fastest = min(ms for ms, _ in times.values())
        chosen = min(sorted(times), key=lambda block: times[block][1])
        slower.append(times[chosen][0] / fastest - 1)
    near = sum(it <= 0.03 for it in slower)
    return f"Of {len(slower)} studies of block sizes, the block with the shortest predicted time is within 3 % of the fastest one in {near}, and {100 * max(slower):.1f} % slower at most."


def read(path):
    numbers = ["ms", "error_percent", "predicted_ms", "roof_ms", "little_ms"]
    whole = ["grid", "blocks", "block", "registers", "resident_blocks"]
    for row in csv.DictReader(open(path)):
        yield row | {name: float(row[name]) for name in numbers} | {name: int(row[name]) for name in whole}


def write(path, table):
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, table[0])
        writer.writeheader()
        writer.writerows({**row, "causes": row["causes"].replace(str(ROOT), ".")} for row in table)


def compared(program, rows):
    made = predicted(program, rows)
    for launch, ms, grid in rows:
        row = made.get(launch._replace(times=round(launch.times)))
        if row:
            figures = ["blocks", "block", "registers", "resident_blocks", "predicted_ms", "limit", "roof_ms", "little_ms", "causes"]
            yield {
                "board": launch.board,
                "name": launch.kernel,
                "at": row["at"].replace(str(ROOT), "."),
                "grid": grid,
                "ms": ms,
                "error_percent": round(100 * (row["predicted_ms"] / ms - 1), 1),
                **{name: row[name] for name in figures},
            }


def main(source, folder=OWN):
    folder = pathlib.Path(folder)
    if source.endswith(".csv"):
        table = list(read(source))
    else:
        table = list(compared(source, list(all_rows())))
        write(folder / "rows.csv", table)
    lines, totals = errors(table)
    totals += "\n" + chosen_blocks(table)
    (folder / "errors.md").write_text(f"{totals}\n\n{lines}\n")
    print(lines, totals, sep="\n\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
