"""The examples' algorithms in CUDA C++, beside what the Rust examples report on the same GPU.

    python3 examples.py FOLDER_OF_EXAMPLES examples.md

Runs each example, times nvcc's kernels at the same sizes as the examples do (3 warm-ups, the median
of 10), checks their results, and ends with 1 where Rust reaches less of nvcc's speed than it must.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

import cupy
import numpy

WARMUP, RUNS = 3, 10
# The least part of nvcc's speed.
FLOOR = {"matmul": 0.7, "histogram": 0.9, "scan": 0.9}


def seconds(launch):
    for _ in range(WARMUP):
        launch()
    times = []
    for _ in range(RUNS):
        start, end = cupy.cuda.Event(), cupy.cuda.Event()
        start.record()
        launch()
        end.record()
        end.synchronize()
        times.append(cupy.cuda.get_elapsed_time(start, end) / 1e3)
    return sorted(times)[RUNS // 2]


def module():
    source = pathlib.Path(__file__).with_name("examples.cu")
    cubin = pathlib.Path(tempfile.mkdtemp()) / "examples.cubin"
    subprocess.run(["nvcc", "-arch=sm_90", "-O3", "-cubin", "-o", cubin, source], check=True)
    return cupy.RawModule(path=str(cubin))


def matmul(kernels):
    n = 4096
    a, b = (cupy.random.rand(n, n, dtype=cupy.float32) - 0.5 for _ in range(2))
    c = cupy.empty_like(a)
    kernel = kernels.get_function("matmul")
    time = seconds(lambda: kernel((n // 64, n // 64), (16, 16), (a, b, c, numpy.uint32(n))))
    assert cupy.allclose(c, a @ b, atol=1e-2)
    return 2 * n**3 / time / 1e9


def histogram(kernels):
    n = 1 << 28
    data = cupy.random.randint(0, 256, n, dtype=cupy.uint8)
    data &= cupy.random.randint(0, 256, n, dtype=cupy.uint8)
    counts = cupy.zeros(256, dtype=cupy.uint32)
    blocks = 8 * cupy.cuda.runtime.getDeviceProperties(0)["multiProcessorCount"]
    kernel = kernels.get_function("histogram")
    arguments = (data, numpy.uint64(n), counts)
    kernel((blocks,), (256,), arguments)
    assert (counts == cupy.bincount(data, minlength=256)).all()
    return n / seconds(lambda: kernel((blocks,), (256,), arguments)) / 1e9


def scan(kernels):
    n = 1 << 26
    x = cupy.random.randint(0, 100, n, dtype=cupy.uint32)
    y = cupy.empty_like(x)
    tiles = n // 4096
    sums = cupy.empty(tiles, dtype=cupy.uint32)
    first, second, third = (
        kernels.get_function(name) for name in ("tile_sums", "scan_sums", "scan_tiles")
    )

    def launch():
        first((tiles,), (256,), (x, numpy.uint64(n), sums))
        second((1,), (256,), (sums, numpy.uint32(tiles)))
        third((tiles,), (256,), (x, numpy.uint64(n), sums, y))

    time = seconds(launch)
    assert (y[1:] == cupy.cumsum(x, dtype=cupy.uint32)[:-1]).all()
    return 3 * 4 * n / time / 1e9


def main(examples, output):
    kernels = module()
    device = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    lines = [
        f"The same algorithms on {device}, medians of {RUNS} runs.",
        "",
        "| example | Rust | nvcc | unit | Rust / nvcc | must be |",
        "|---|---|---|---|---|---|",
    ]
    failed = 0
    for peer in (matmul, histogram, scan):
        name = peer.__name__
        command = [pathlib.Path(examples) / name, "--device", "cuda"]
        said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        rust, unit = re.search(r"checked, ([\d.]+) (\S+) on", said).groups()
        nvcc = peer(kernels)
        ratio = float(rust) / nvcc
        failed |= ratio < FLOOR[name]
        lines.append(f"| {name} | {rust} | {nvcc:.1f} | {unit} | {ratio:.3f} | {FLOOR[name]} |")
    text = "\n".join(lines) + "\n"
    pathlib.Path(output).write_text(text)
    print(text)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
