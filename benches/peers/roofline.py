"""The roofline exercise's kernel in CuPy, and nvcc's float4 kernels, beside the rows of a Rust run.

    python3 roofline.py roofline.csv peers.md

Times each peer as the Rust host does: all launches queued, each between two events, 3 warm-ups, 10
timed runs, x = 1.01, n = 2^26. Writes a table of medians, and ends with 1 where the best Rust
kernel is slower than a peer by more than the noise of the two.
"""

import csv
import pathlib
import subprocess
import sys
import tempfile

import cupy
import numpy

N = 1 << 26
BLOCK = 256
WARMUP, RUNS = 3, 10

EXERCISE = r"""
extern "C" __global__ void polynomial(const float *x, float *y, int k, int n) {
  int i = blockDim.x * blockIdx.x + threadIdx.x;
  if (i < n) {
    float value = x[i], power = value, result = 0;
    for (int j = 0; j < k; j++) { result += power; power *= value; }
    y[i] = result;
  }
}
"""


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
    source = pathlib.Path(__file__).with_name("polynomial.cu")
    cubin = pathlib.Path(tempfile.mkdtemp()) / "polynomial.cubin"
    subprocess.run(["nvcc", "-arch=sm_90", "-O3", "-cubin", "-o", cubin, source], check=True)
    return cupy.RawModule(path=str(cubin))


def peers(k, x, y, module, exercise):
    """The peers of the power sum, then of the FMA form, with their times at this k."""
    blocks = N // 4 // BLOCK
    arguments = (x, y, numpy.uint32(k), numpy.uint64(N))

    def float4(name):
        kernel = module.get_function(name)
        return lambda: kernel((blocks,), (BLOCK,), arguments)

    def cupy_kernel():
        exercise((N // BLOCK,), (BLOCK,), (x, y, numpy.int32(k), numpy.int32(N)))

    return {
        "CuPy power sum": milliseconds(cupy_kernel),
        "nvcc float4 power sum": milliseconds(float4("power_sum_f32_v4")),
        "nvcc float4 FMA": milliseconds(float4("horner_f32_v4")),
    }


def rust_rows(path):
    with open(path, newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["dtype"] == "f32" and int(row["n"]) == N]
    by_k = {}
    for row in rows:
        by_k.setdefault(int(row["k"]), []).append(row)
    return by_k


def best(rows):
    return min(rows, key=lambda row: float(row["median_ms"]))


def describe(row):
    return f"{row['kernel']} x{row['vector']}, {row['grid']} blocks"


def main(rust_csv, output):
    x = cupy.full(N, 1.01, dtype=cupy.float32)
    y = cupy.empty_like(x)
    module = nvcc_module()
    exercise = cupy.RawKernel(EXERCISE, "polynomial")
    device = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    lines = [
        f"Medians of {RUNS} runs on {device}, n = 2^26 f32, in ms. A ratio is the peer's time over "
        "the best Rust kernel's: above 1 Rust is faster.",
        "",
        "| k | best Rust | ms | CuPy power sum | ratio | nvcc float4 power sum | ratio "
        "| nvcc float4 FMA | ratio | best Rust power sum | ms | nvcc power sum over it |",
        "|" + "---|" * 12,
    ]
    slower = []
    for k, rows in sorted(rust_rows(rust_csv).items()):
        fastest = best(rows)
        power = best([row for row in rows if row["kernel"] == "power-sum"])
        fastest_ms, power_ms = float(fastest["median_ms"]), float(power["median_ms"])
        cells = [str(k), describe(fastest), f"{fastest_ms:.4f}"]
        times = peers(k, x, y, module, exercise)
        for name, samples in times.items():
            median = float(numpy.median(samples))
            noise = float(fastest["rms_percent"]) + 100 * samples.std() / samples.mean()
            if 100 * (fastest_ms / median - 1) > noise:
                slower.append(
                    f"k = {k}: {describe(fastest)} takes {fastest_ms / median:.3f} of {name}, "
                    f"noise {noise:.2f} %"
                )
            cells += [f"{median:.4f}", f"{median / fastest_ms:.3f}"]
        nvcc_power = float(numpy.median(times["nvcc float4 power sum"]))
        cells += [describe(power), f"{power_ms:.4f}", f"{nvcc_power / power_ms:.3f}"]
        lines.append("| " + " | ".join(cells) + " |")
    text = "\n".join(lines + [""] + [f"Slower: {line}" for line in slower]) + "\n"
    pathlib.Path(output).write_text(text)
    print(text)
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
