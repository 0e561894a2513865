"""What `ridgepoint ceilings` measured, beside nvcc's kernels, CuPy and CUB on the same GPU.

    python3 ceilings.py ceilings.json peers.md

Times each peer as the Rust host does: all launches queued, each between two events, 3 warm-ups, the
median of 10. Ends with 1 where Rust is slower than the best peer by more than the noise of the two.
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
LINE, LINES = 256, 1000


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


def nvcc_module():
    source = pathlib.Path(__file__).with_name("ceilings.cu")
    cubin = pathlib.Path(tempfile.mkdtemp()) / "ceilings.cubin"
    subprocess.run(
        ["nvcc", "-arch=sm_90", "-O3", "-std=c++17", "-cubin", "-o", cubin, source], check=True
    )
    return cupy.RawModule(path=str(cubin))


def memory_peers(n, module):
    """Bytes and launch of each peer, by quantity."""
    x = cupy.random.random(n, dtype=cupy.float32)
    z, y = x.copy(), cupy.empty_like(x)
    a = numpy.float32(0.75)

    def nvcc(name, *arguments):
        kernel = module.get_function(name)
        return lambda: kernel((n // 4 // BLOCK,), (BLOCK,), arguments)

    scaled = cupy.ElementwiseKernel("T x, T a", "T y", "y = a * x", "scaled")
    combined = cupy.ElementwiseKernel("T x, T z, T a", "T y", "y = x + a * z", "combined")
    return {
        "memory-read": (4 * n, {"CUB sum, through CuPy": lambda: cupy.sum(x)}),
        "memory-write": (4 * n, {"nvcc": nvcc("write", y), "CuPy fill": lambda: y.fill(1.5)}),
        "memory-copy": (
            8 * n,
            {"nvcc": nvcc("copy", x, y), "CuPy copy": lambda: cupy.copyto(y, x)},
        ),
        "memory-scale": (
            8 * n,
            {"nvcc": nvcc("scale", x, y, a), "CuPy": lambda: scaled(x, a, y)},
        ),
        "memory-triad": (
            12 * n,
            {"nvcc": nvcc("triad", x, z, y, a), "CuPy": lambda: combined(x, z, a, y)},
        ),
    }


def arithmetic_peers(module):
    blocks = 8 * cupy.cuda.runtime.getDeviceProperties(0)["multiProcessorCount"]
    out = cupy.empty(blocks * BLOCK, dtype=cupy.float64)
    steps = blocks * BLOCK * LINE * LINES

    def nvcc(name, c):
        kernel = module.get_function(name)
        return lambda: kernel((blocks,), (BLOCK,), (numpy.uint32(LINES), out, c))

    single = numpy.float32(-1.9)
    return {
        "fma-f32": (2 * steps, {"nvcc": nvcc("fma_f32", single)}),
        "add-mul-f32": (2 * steps, {"nvcc": nvcc("add_mul_f32", single)}),
        "fma-f64": (2 * steps, {"nvcc": nvcc("fma_f64", numpy.float64(-1.9))}),
        "fma-f16x2": (4 * steps, {"nvcc": nvcc("fma_f16x2", single)}),
        "fma-bf16x2": (4 * steps, {"nvcc": nvcc("fma_bf16x2", single)}),
        "mad-i32": (2 * steps, {"nvcc": nvcc("mad_i32", numpy.uint32(0x9E3779B1))}),
        "exp2-f32": (steps, {"nvcc": nvcc("exp2_f32", single)}),
    }


def main(measured, output):
    ceilings = json.loads(pathlib.Path(measured).read_text())
    module = nvcc_module()
    device = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    lines = [
        f"Medians of {RUNS} runs on {device}, arrays of {ceilings['n']} f32, in 1e12 bytes or "
        "operations a second. A ratio is Rust's rate over the best peer's.",
        "",
        "| ceiling | Rust | data sheet | % | best peer | its rate | ratio |",
        "|" + "---|" * 7,
    ]
    slower = []
    peers = memory_peers(ceilings["n"], module) | arithmetic_peers(module)
    for row in ceilings["ceilings"]:
        if row["quantity"] not in peers:
            continue
        amount, launches = peers[row["quantity"]]
        times = {name: milliseconds(launch) for name, launch in launches.items()}
        best = min(times, key=lambda name: numpy.median(times[name]))
        samples = times[best]
        rate = amount / numpy.median(samples) * 1e3
        noise = row["rms_percent"] + 100 * samples.std() / samples.mean()
        ratio = row["value"] / rate
        if 100 * (1 / ratio - 1) > noise:
            slower.append(f"{row['quantity']}: {ratio:.4f} of {best}, noise {noise:.2f} %")
        sheet = row["datasheet"]
        lines.append(
            f"| {row['quantity']} | {row['value'] / 1e12:.3f} | {sheet / 1e12:.3f} "
            f"| {100 * row['value'] / sheet:.1f} | {best} | {rate / 1e12:.3f} | {ratio:.3f} |"
        )
    text = "\n".join(lines + [""] + [f"Slower: {line}" for line in slower]) + "\n"
    pathlib.Path(output).write_text(text)
    print(text)
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
