"""Speeds of ptx-std's functions beside CUDA's, in the same loop on the same GPU.

    python3 mathematics.py kernels.ptx speeds.csv

Compiles mathematics.cu with nvcc, checks that both sides compute about the same sums, and times them
in turns: 3 warm-ups, the median of 11. A function is evaluated by full multiprocessors at arguments
spread at random over the interval below, another for each thread. Ends with 1 if a function is slower
than asked for.
"""

import csv
import pathlib
import re
import subprocess
import sys
import tempfile

import cupy
import numpy

WARMUP, RUNS = 3, 11
BLOCK, WAVES = 256, 4
THREADS = 2048  # of a multiprocessor
MILLISECONDS = 2.0
LEAST = 0.95  # of CUDA's speed
GREATEST_ERROR = {"f32": 1e-3, "f64": 1e-9}  # of the sums

# The arguments of x and of y, and z.
INTERVALS = {
    "round": (-100, 100), "sqrt": (0, 100), "rem_euclid": (-10, 10), "div_euclid": (-10, 10), "powi": (-2, 2),
    "powf": (0, 10), "exp": (-10, 10), "exp2": (-10, 10), "exp10": (-10, 10), "exp_m1": (-5, 5),
    "ln": (0, 100), "log": (0, 100), "log2": (0, 100), "log10": (0, 100), "ln_1p": (-0.9, 10), "cbrt": (-100, 100),
    "rcbrt": (0.1, 100), "rsqrt": (0.1, 100), "hypot": (-10, 10), "rhypot": (-10, 10), "norm3d": (-10, 10),
    "sin": (-100, 100), "cos": (-100, 100), "tan": (-100, 100), "sin_cos": (-100, 100), "sinpi": (-10, 10),
    "cospi": (-10, 10), "sincospi": (-10, 10), "asin": (-1, 1), "acos": (-1, 1), "atan": (-10, 10),
    "atan2": (-10, 10), "sinh": (-5, 5), "cosh": (-5, 5), "tanh": (-3, 3), "asinh": (-10, 10), "acosh": (1, 10),
    "atanh": (-1, 1), "erf": (-3, 3), "erfc": (-3, 5), "erf_inv": (-1, 1), "erfc_inv": (0, 2), "erfcx": (-2, 10),
    "norm_cdf": (-5, 5), "norm_cdf_inv": (0, 1), "gamma": (0.1, 20), "log_gamma": (0.1, 20), "j0": (0, 20), "j1": (0, 20),
    "jn": (0, 20), "y0": (0.1, 20), "y1": (0.1, 20), "yn": (0.1, 20), "cyl_bessel_i0": (-10, 10),
    "cyl_bessel_i1": (-10, 10), "frexp": (-100, 100), "ldexp": (-10, 10), "unbiased_exp": (0.01, 100),
}  # fmt: skip
OTHERS = {"powf": (-4, 4), "log": (2, 10), "rem_euclid": (0.5, 4), "div_euclid": (0.5, 4), "ldexp": (-20, 20)}
THIRDS = {"powi": 7, "jn": 5, "yn": 5}


def nvcc():
    cubin = pathlib.Path(tempfile.mkdtemp()) / "mathematics.cubin"
    source = pathlib.Path(__file__).with_name("mathematics.cu")
    subprocess.run(["nvcc", "-arch=sm_90", "-O3", "-std=c++17", "-cubin", "-o", cubin, source], check=True)
    return cupy.RawModule(path=str(cubin))


def milliseconds(launch):
    start, end = cupy.cuda.Event(), cupy.cuda.Event()
    start.record()
    launch()
    end.record()
    end.synchronize()
    return cupy.cuda.get_elapsed_time(start, end)


class Measured:
    """A function of both sides."""

    def __init__(self, kernel, ours, cuda):
        self.kernel, self.ours, self.cuda = kernel, ours.get_function(kernel), cuda.get_function(kernel)
        name, float_type = kernel.rsplit("_", 1)
        self.dtype = numpy.dtype({"f32": "float32", "f64": "float64"}[float_type])
        multiprocessors = cupy.cuda.runtime.getDeviceProperties(0)["multiProcessorCount"]
        self.threads = multiprocessors * THREADS * WAVES
        name = name.removeprefix("fast_")
        low, high = INTERVALS[name]
        self.step = self.dtype.type((high - low) * 1e-7)
        self.x = self.random(low, high)
        self.y = self.random(*OTHERS.get(name, (0.5, 10)))
        self.z = self.dtype.type(THIRDS.get(name, 1.5))
        self.sums = [cupy.empty(self.threads, self.dtype) for _ in range(2)]

    def random(self, low, high):
        generator = cupy.random.default_rng(1)
        return (low + (high - low) * generator.random(self.threads)).astype(self.dtype)

    def launches(self, rounds):
        grid, n = (self.threads // BLOCK,), numpy.uint64(self.threads)
        rounds = numpy.uint32(rounds)
        ours = (self.x, n, self.y, n, self.z, self.step, rounds, self.sums[0], n)
        cuda = (self.x, self.y, self.z, self.step, rounds, self.sums[1])
        return (lambda: self.ours(grid, (BLOCK,), ours)), (lambda: self.cuda(grid, (BLOCK,), cuda))

    def differ(self):
        """The greatest relative difference of the sums of four evaluations."""
        for launch in self.launches(1):
            launch()
        ours, cuda = self.sums
        both = cupy.isfinite(ours) & cupy.isfinite(cuda)
        if int(both.sum()) < self.threads * 0.9:
            sys.exit(f"{self.kernel}: {int((~both).sum())} of {self.threads} sums are not finite")
        scale = cupy.maximum(cupy.abs(cuda), cupy.median(cupy.abs(cuda)))
        return float(cupy.max(cupy.where(both, cupy.abs(ours - cuda) / scale, 0)))

    def rates(self):
        """Evaluations per second of ours and of CUDA's."""
        slower = max(milliseconds(launch) for launch in self.launches(8))
        rounds = max(2, int(8 * MILLISECONDS / slower))
        launches = self.launches(rounds)
        samples = [[milliseconds(launch) for launch in launches] for _ in range(WARMUP + RUNS)]
        return 4 * rounds * self.threads / numpy.median(numpy.array(samples[WARMUP:]), axis=0) * 1e3


def main(ptx, destination):
    ours, cuda = cupy.RawModule(path=ptx), nvcc()
    kernels = re.findall(r"\.visible \.entry (\w+_f(?:32|64))\(", pathlib.Path(ptx).read_text())
    if not kernels:
        sys.exit(f"{ptx} has no kernels")
    slow = []
    with open(destination, "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(
            ["function", "ours_per_s", "cuda_per_s", "ratio", "registers", "cuda_registers", "stack_bytes", "cuda_stack_bytes"]
        )
        for kernel in kernels:
            measured = Measured(kernel, ours, cuda)
            if (difference := measured.differ()) > GREATEST_ERROR[kernel[-3:]]:
                print(f"{kernel}: the sums differ by {difference:.2g}")
            rate, peer = measured.rates()
            row = [rate, peer, rate / peer]
            for attribute in ("num_regs", "local_size_bytes"):
                row += [getattr(measured.ours, attribute), getattr(measured.cuda, attribute)]
            rows.writerow([kernel, f"{rate:.4g}", f"{peer:.4g}", f"{rate / peer:.3f}", *row[3:]])
            if rate < LEAST * peer:
                slow.append(f"{kernel} {rate / peer:.3f}")
            print(f"{kernel:20} {rate / 1e9:8.1f} {peer / 1e9:8.1f} G/s {rate / peer:6.3f}", *row[3:], flush=True)
    print(f"{len(slow)} of {len(kernels)} are slower than {LEAST} of CUDA's speed:", *slow)
    return bool(slow)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
