"""Times the launches of plan.json on a GPU, with CuPy: strangers_times.py FOLDER OUT.

As Ridgepoint does, a sample is the time between two events around one launch, and all launches are queued before the first event is read.
The queue waits behind a kernel that spins, so that the host is ahead of the device. Writes strangers-times.csv, and two tables of what
`ridgepoint ceilings` has no row for: launch-times.csv of empty kernels, and copy-times.csv of copies that find their data in L2, or do not.
"""

import csv
import functools
import json
import math
import pathlib
import re
import statistics
import subprocess
import sys
import traceback

import cupy
import numpy

TYPES = {"f32": numpy.float32, "f64": numpy.float64, "i32": numpy.int32, "u32": numpy.uint32, "u64": numpy.uint64}
WARMUP, TIMED = 3, 30
SPIN_CYCLES = 6_000_000
FLUSHED = 2**28  # bytes, several times what L2 holds
FIELDS = [
    "kernel",
    "block",
    "grid",
    "median_ms",
    "min_ms",
    "max_ms",
    "registers",
    "local_bytes",
    "changed",
    "not_a_number",
    "clock_mhz",
    "device",
    "driver",
]


@functools.cache
def state(_kernel):
    """Name, driver and clock of the device just after a kernel ran, asked once per kernel as it takes a while."""
    query = ["nvidia-smi", "--query-gpu=name,driver_version,clocks.sm", "--format=csv,noheader,nounits", "--id=0"]
    try:
        return [it.strip() for it in subprocess.run(query, capture_output=True, text=True, timeout=20).stdout.split("\n")[0].split(",")]
    except (OSError, subprocess.TimeoutExpired):
        return ["", "", ""]


def buffer(kind, size, data):
    """An array of the notation of `ridgepoint run`; one without data is full of ones in every bit, NaN as a float."""
    dtype = TYPES[kind]
    if data is None:
        return cupy.full(size * numpy.dtype(dtype).itemsize, 255, numpy.uint8).view(dtype)
    if data == "zeros":
        return cupy.zeros(size, dtype)
    if data == "ones":
        return cupy.ones(size, dtype)
    if data == "iota":
        return cupy.arange(size, dtype=dtype)
    if data == "random":
        return cupy.random.random(size, dtype=dtype)
    limit = int(data.removeprefix("random:"))
    return cupy.random.randint(0, limit, size, dtype=dtype)


def argument(text):
    array = re.fullmatch(r"(\w+)\[(\d+)\](?:=(.+))?", text)
    if array:
        return buffer(array[1], int(array[2]), array[3])
    kind, value = text.split(":")
    return TYPES[kind](float(value) if kind.startswith("f") else int(value))


def timed(spin, launch, before=lambda: None):
    for _ in range(WARMUP):
        before()
        launch()
    cupy.cuda.Device().synchronize()
    spin((1,), (1,), (numpy.int64(SPIN_CYCLES),))
    # The spinning ends in a launch that is not timed, which leaves in L2 what those after it find.
    before()
    launch()
    events = [(cupy.cuda.Event(), cupy.cuda.Event()) for _ in range(TIMED)]
    for start, end in events:
        before()
        start.record()
        launch()
        end.record()
    cupy.cuda.Device().synchronize()
    times = [cupy.cuda.get_elapsed_time(start, end) for start, end in events]
    return statistics.median(times), min(times), max(times)


def measured(folder, spin, launch, held):
    """One launch of the plan. Its arguments are held for the next launch, which often has the same ones."""
    key = tuple(launch["arguments"])
    if held.get("key") != key:
        held.clear()
        cupy.get_default_memory_pool().free_all_blocks()
        held.update(key=key, values=[argument(it) for it in key])
    values = held["values"]
    out = values[launch["out"]]
    if "=" not in key[launch["out"]]:
        out.view(numpy.uint8).fill(255)
    before = out[: 2**20].copy()
    kernel = cupy.RawModule(path=str(folder / f"{launch['kernel']}.cubin")).get_function(launch["entry"])
    grid, block = tuple(launch["grid"]), tuple(launch["block"])
    if launch["shared"] > 48 * 1024:
        kernel.max_dynamic_shared_size_bytes = launch["shared"]
    median, least, most = timed(spin, lambda: kernel(grid, block, tuple(values), shared_mem=launch["shared"]))
    name, driver, clock = state(launch["kernel"])
    after = out[: 2**20]
    return {
        "kernel": launch["kernel"],
        "block": math.prod(block),
        "grid": "x".join(str(it) for it in grid),
        "median_ms": median,
        "min_ms": least,
        "max_ms": most,
        "registers": kernel.num_regs,
        "local_bytes": kernel.local_size_bytes,
        "changed": bool((before.view(numpy.uint8) != after.view(numpy.uint8)).any()),
        "not_a_number": after.dtype.kind == "f" and bool(cupy.isnan(after).any()),
        "clock_mhz": clock,
        "device": name,
        "driver": driver,
    }


def table(path, fields, rows):
    """Writes each row as it comes, so that what fails later loses none."""
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, fields)
        writer.writeheader()
        for row in rows:
            writer.writerow(row)
            file.flush()


def launches(folder, spin):
    held = {}
    for launch in json.loads((folder / "plan.json").read_text())["launches"]:
        try:
            yield measured(folder, spin, launch, held)
        except Exception:  # Whatever fails in one launch, the others are timed.
            print(f"{launch['kernel']} {launch['block']}:", traceback.format_exc(limit=3), file=sys.stderr, flush=True)


def empty(own, spin):
    kernel = own.get_function("empty")
    for block in [32, 64, 128, 256, 512, 1024]:
        for power in range(11):
            grid = 132 << power
            median, least, most = timed(spin, lambda: kernel((grid,), (block,), ()))
            yield {"block": block, "grid": grid, "median_ms": median, "min_ms": least, "max_ms": most}


def copies(own, spin):
    kernel, fill = own.get_function("copy"), cupy.empty(FLUSHED, numpy.uint8)
    for power in range(10, 29):
        n = 2**power
        source, target = cupy.ones(n, numpy.float32), cupy.empty(n, numpy.float32)

        def launch():
            kernel((max(n // 1024, 1),), (256,), (source, target))

        for cache, before in [("warm", lambda: None), ("cold", lambda: fill.fill(1))]:
            median, least, most = timed(spin, launch, before)
            yield {"floats": n, "cache": cache, "median_ms": median, "min_ms": least, "max_ms": most}


def main(folder, out):
    folder, out = pathlib.Path(folder), pathlib.Path(out)
    own = cupy.RawModule(path=str(folder / "own.cubin"))
    spin = own.get_function("spin")
    figures = ["median_ms", "min_ms", "max_ms"]
    table(out / "strangers-times.csv", FIELDS, launches(folder, spin))
    table(out / "launch-times.csv", ["block", "grid", *figures], empty(own, spin))
    table(out / "copy-times.csv", ["floats", "cache", *figures], copies(own, spin))


main(*sys.argv[1:])
