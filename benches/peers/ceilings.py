"""What `ridgepoint ceilings` measured, beside nvcc's kernels, CuPy and CUB on the same GPU.

    python3 ceilings.py ceilings.json peers.md

Times each peer as the Rust host does: all launches queued, each between two events, 3 warm-ups, the
median of 10; latencies by the GPU's own cycles. Ends with 1 where Rust is slower than the best peer by
more than the noise of the two.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

# CuPy reads this when it is imported: sums go to CUB.
os.environ["CUPY_ACCELERATORS"] = "cub"

import cupy  # noqa: E402
import numpy  # noqa: E402

WARMUP, RUNS = 3, 10
BLOCK = 256
# Steps of a thread in a turn of the source's loop, and its turns.
LINE, LINES = 256, 1000
# Loads of a chase, and the bytes that it goes through, by quantity.
LOADS = 100_000
CHASES = {"memory-latency": 512 << 20, "l2-latency": 8 << 20, "l1-latency": 32 << 10}
# Caches: threads of a block, vectors that a thread has in flight, bytes that a launch reads.
CACHE_BLOCK, SHARED_BLOCK, UNROLL, VECTOR = 512, 1024, 8, 16
CACHE_BYTES = 4 << 30


def milliseconds(launch):
    for _ in range(WARMUP):
        launch()
    events = [(cupy.cuda.Event(), cupy.cuda.Event()) for _ in range(RUNS)]
    for start, end in events:
        start.record()
        launch()
        end.record()
    cupy.cuda.Device().synchronize()
    return numpy.array([cupy.cuda.get_elapsed_time(start, end) for start, end in events])


def rates(amount, launch):
    """Bytes or operations a second of each sample."""
    return amount / milliseconds(launch) * 1e3


class Nvcc:
    """The kernels of ceilings.cu."""

    def __init__(self):
        source = pathlib.Path(__file__).with_name("ceilings.cu")
        cubin = pathlib.Path(tempfile.mkdtemp()) / "ceilings.cubin"
        subprocess.run(
            ["nvcc", "-arch=sm_90", "-O3", "-std=c++17", "-cubin", "-o", cubin, source], check=True
        )
        self.module = cupy.RawModule(path=str(cubin))
        properties = cupy.cuda.runtime.getDeviceProperties(0)
        self.multiprocessors = properties["multiProcessorCount"]
        self.l2_bytes = properties["l2CacheSize"]

    def launch(self, name, blocks, threads, *arguments):
        kernel = self.module.get_function(name)
        return lambda: kernel((blocks,), (threads,), arguments)


def memory_peers(n, nvcc):
    """Samples of each peer, by quantity."""
    x = cupy.random.random(n, dtype=cupy.float32)
    z, y = x.copy(), cupy.empty_like(x)
    a = numpy.float32(0.75)

    def full(name, *arguments):
        return nvcc.launch(name, n // 4 // BLOCK, BLOCK, *arguments)

    scaled = cupy.ElementwiseKernel("T x, T a", "T y", "y = a * x", "scaled")
    combined = cupy.ElementwiseKernel("T x, T z, T a", "T y", "y = x + a * z", "combined")
    launches = {
        "memory-read": (4, {"CUB sum, through CuPy": lambda: cupy.sum(x)}),
        "memory-write": (4, {"nvcc": full("write", y), "CuPy fill": lambda: y.fill(1.5)}),
        "memory-copy": (8, {"nvcc": full("copy", x, y), "CuPy copy": lambda: cupy.copyto(y, x)}),
        "memory-scale": (8, {"nvcc": full("scale", x, y, a), "CuPy": lambda: scaled(x, a, y)}),
        "memory-triad": (
            12,
            {"nvcc": full("triad", x, z, y, a), "CuPy": lambda: combined(x, z, a, y)},
        ),
    }
    return {
        quantity: {name: rates(each * n, launch) for name, launch in peers.items()}
        for quantity, (each, peers) in launches.items()
    }


# -1.9, the c of the chains, in each type; of two in a register, in both halves.
SINGLE, DOUBLE = numpy.float32(-1.9), numpy.float64(-1.9)
HALVES = numpy.uint32(int(numpy.float16(-1.9).view(numpy.uint16)) * 0x10001)
BRAINS = numpy.uint32(((int(SINGLE.view(numpy.uint32)) + 0x8000) >> 16) * 0x10001)


def arithmetic_peers(nvcc):
    blocks = 8 * nvcc.multiprocessors
    out = cupy.empty(blocks * BLOCK, dtype=cupy.float64)
    steps = blocks * BLOCK * LINE * LINES

    def peer(operations, name, *c):
        launch = nvcc.launch(name, blocks, BLOCK, numpy.uint32(LINES), out, *c)
        return {"nvcc": rates(operations * steps, launch)}

    return {
        "fma-f32": peer(2, "fma_f32", SINGLE),
        "add-mul-f32": peer(2, "add_mul_f32", SINGLE),
        "fma-f64": peer(2, "fma_f64", DOUBLE),
        "fma-f16x2": peer(4, "fma_f16x2", HALVES),
        "fma-bf16x2": peer(4, "fma_bf16x2", BRAINS),
        "add-mul-f16x2": peer(4, "add_mul_f16x2", HALVES),
        "mad-i32": peer(2, "mad_i32", numpy.uint32(0x9E3779B1)),
        "exp2-f32": peer(1, "exp2_f32"),
    }


def latency_peers(nvcc):
    """Cycles of a load or of a step, of each launch."""

    def chain(name, *c):
        value = cupy.full(1, 0.5, dtype=cupy.float64)
        out = cupy.zeros(1, dtype=cupy.uint64)
        launch = nvcc.launch(name, 1, 1, numpy.uint32(LINES), value, out, *c)
        return {"nvcc": cycles(launch, out, LINE * LINES)}

    def chase(name, places, stride):
        out = cupy.zeros(2, dtype=cupy.uint64)
        launch = nvcc.launch(name, 1, 1, cycle(places, stride), numpy.uint32(LOADS), out)
        return {"nvcc": cycles(launch, out, LOADS)}

    peers = {quantity: chase("chase", size // 128, 32) for quantity, size in CHASES.items()}
    return peers | {
        "shared-latency": chase("chase_shared", 4096, 1),
        "fma-f32-latency": chain("chain_f32", SINGLE),
        "fma-f64-latency": chain("chain_f64", DOUBLE),
        "fma-f16x2-latency": chain("chain_f16x2", HALVES),
        # Not of exp2: Rust's step has a negation, which nvcc makes part of the instruction.
    }


def cycles(launch, out, count):
    """Cycles of each of `count` steps, of which a launch counts all."""
    samples = []
    for _ in range(WARMUP + RUNS):
        launch()
        samples.append(int(out[0]) / count)
    return numpy.array(samples[WARMUP:])


def cycle(places, stride):
    """An array of places, so many elements apart, each of which holds the next in a random cycle."""
    order = numpy.random.default_rng(1).permutation(places).astype(numpy.uint32)
    following = numpy.zeros(places * stride, dtype=numpy.uint32)
    following[order * stride] = numpy.roll(order, -1) * stride
    return cupy.asarray(following)


def cache_peers(sets, nvcc):
    """Samples by quantity; and beside the rate of each working set in Rust nvcc's median."""
    blocks = nvcc.multiprocessors
    largest = max(one["bytes"] for one in sets)
    x = cupy.arange(largest // 4, dtype=cupy.uint32) * numpy.uint32(0x9E3779B1)
    sums = cupy.empty(blocks * SHARED_BLOCK, dtype=cupy.uint32)
    level1, level2, rows = [], [], []
    for one in sets:
        total = one["bytes"]
        stays = one["bytes_per_multiprocessor"] < total
        passes = max(2, -(-CACHE_BYTES // total))
        launch = nvcc.launch(
            "read_again", blocks, CACHE_BLOCK, x, numpy.uint64(total // VECTOR),
            numpy.uint32(passes), numpy.uint32(0 if stays else 1), sums,
        )  # fmt: skip
        samples = rates(total * passes, launch)
        rows.append((one, numpy.median(samples)))
        if stays:
            level1.append(samples)
        elif total <= nvcc.l2_bytes:
            level2.append(samples)
    of_pass = blocks * SHARED_BLOCK * UNROLL * VECTOR
    passes = 8 * max(2, -(-CACHE_BYTES // of_pass))
    launch = nvcc.launch("read_shared", blocks, SHARED_BLOCK, numpy.uint32(passes), sums)
    peers = {
        "l2-read": {"nvcc": max(level2, key=numpy.median)},
        "l1-read": {"nvcc": max(level1, key=numpy.median)},
        "shared-read": {"nvcc": rates(of_pass * passes, launch)},
    }
    return peers, rows


def compare(row, peers):
    """A row of the table, and what there is to complain of."""
    is_time = row["unit"] == "s"
    value, unit = (row["cycles"], 1) if is_time else (row["value"], 1e12)
    best = (min if is_time else max)(peers, key=lambda name: numpy.median(peers[name]))
    samples = peers[best]
    peer = numpy.median(samples)
    ratio = peer / value if is_time else value / peer
    noise = (row["rms_percent"] or 0) + 100 * samples.std() / samples.mean()
    sheet = row["datasheet"]
    cells = [
        row["quantity"],
        f"{value / unit:.3f}",
        f"{sheet / unit:.3f}" if sheet else "",
        f"{100 * value / sheet:.1f}" if sheet else "",
        best,
        f"{peer / unit:.3f}",
        f"{ratio:.3f}",
    ]
    slower = f"{row['quantity']}: {ratio:.4f} of {best}, noise {noise:.2f} %"
    return cells, [slower] if 100 * (1 / ratio - 1) > noise else []


def table(head, rows):
    lines = [head, ["---"] * len(head)] + rows
    return ["| " + " | ".join(cells) + " |" for cells in lines]


def main(measured, output):
    ceilings = json.loads(pathlib.Path(measured).read_text())
    nvcc = Nvcc()
    cached, sets = cache_peers(ceilings["working_sets"], nvcc)
    peers = memory_peers(ceilings["n"], nvcc) | cached
    peers |= arithmetic_peers(nvcc) | latency_peers(nvcc)
    rows, slower = [], []
    for row in ceilings["ceilings"]:
        if row["quantity"] in peers:
            cells, complaints = compare(row, peers[row["quantity"]])
            rows.append(cells)
            slower += complaints
    device = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    again = [
        [
            f"{one['bytes_per_multiprocessor'] / 2**20:.2f}",
            f"{one['bytes'] / 2**20:.1f}",
            f"{one['bytes_per_sec'] / 1e12:.3f}",
            f"{rate / 1e12:.3f}",
            f"{one['bytes_per_sec'] / rate:.3f}",
        ]
        for one, rate in sets
    ]
    heading = (
        f"Medians of {RUNS} runs on {device}, arrays of {ceilings['n']} f32, in 1e12 bytes or "
        "operations a second; latencies in cycles. A ratio is Rust's speed over the best peer's."
    )
    text = "\n".join(
        [
            heading,
            "",
            *table(
                ["ceiling", "Rust", "data sheet", "%", "best peer", "its figure", "ratio"], rows
            ),
            "",
            "The same bytes read again and again, after so many others by the same multiprocessor.",
            "",
            *table(["MiB between", "MiB in all", "Rust", "nvcc", "ratio"], again),
            "",
            *(f"Slower: {line}" for line in slower),
        ]
    )
    pathlib.Path(output).write_text(text.rstrip() + "\n")
    print(text)
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
