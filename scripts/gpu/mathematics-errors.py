#!/usr/bin/env python3
"""Errors of the functions of GpuFloat and FloatExt, against MPFR.

    mathematics-errors.py PROGRAM [--all] [--output errors.csv] [FUNCTION_f32|FUNCTION_f64 ...]

PROGRAM is `mathematics`, built by `cargo build --release -p mathematics`. Each function is evaluated
at random points of the intervals in the table below, half of them spread evenly and half by magnitude,
and compared with MPFR at 300 bits (gmpy2 from PyPI). With --all, an f32 function of one argument is
evaluated at every float: the program compares each with its own f64 function, and this script the
worst with MPFR.

Errors are in units in the last place: the distance of two neighbouring floats at the true value, below
the normal numbers that of the subnormals. Where CUDA publishes an absolute error, they are absolute.
CUDA's are differences from the correctly rounded result, whole numbers of units. From the true value a
result may be half a unit further.
Prints a line for each function: the greatest error, CUDA's published one, and where it is. Ends with 1
where ours is greater.

With --update, the rows of other functions stay in the file of --output.
"""

import argparse
import concurrent.futures
import csv
import math
import os
import random
import struct
import subprocess
import sys
import typing

import gmpy2
from gmpy2 import mpfr

gmpy2.set_context(gmpy2.context(precision=300, emin=-(10**12), emax=10**12))
PI = gmpy2.const_pi()
SIZES = {"f32": ("f", 24, -149, 128), "f64": ("d", 53, -1074, 1024)}


def turn(x):
    """x less the nearest even integer, exactly."""
    return x - 2 * gmpy2.rint(x / 2)


def sin_pi(x):
    """Exactly 0 at integers, where a sine of rounded pi is not."""
    return mpfr(0) if gmpy2.is_integer(x) else gmpy2.sin(PI * turn(x))


def polished(value, want, function, derivative):
    """The root of function(value) = want by Newton's method from nearly there."""
    for _ in range(4):
        value -= (function(value) - want) / derivative(value)
    return value


def erf_slope(x):
    return 2 / gmpy2.sqrt(PI) * gmpy2.exp(-x * x)


def erfcx(x):
    """From 1000 on, where MPFR's exponential ends, by the asymptotic series: its terms fall below 10^-83."""
    if x < 1000:
        return gmpy2.exp(x * x) * gmpy2.erfc(x)
    term, total = mpfr(1), mpfr(1)
    for k in range(1, 17):
        term *= -(2 * k - 1) / (2 * x * x)
        total += term
    return total / (x * gmpy2.sqrt(PI))


def normal_cdf(x):
    return gmpy2.erfc(-x / gmpy2.sqrt(mpfr(2))) / 2


def normal_density(x):
    return gmpy2.exp(-x * x / 2) / gmpy2.sqrt(2 * PI)


def bessel_i(order, x):
    """The power series; its terms are positive."""
    quarter, term, k = x * x / 4, (x / 2) ** order, 1
    total = term
    while term and abs(term) > abs(total) * mpfr(2) ** -280:
        term *= quarter / (k * (k + order))
        total += term
        k += 1
    return total


class Function(typing.NamedTuple):
    """A function: its value, the intervals of its arguments, and CUDA's greatest error in f32 and f64,
    as the CUDA programming guide states it."""

    of: typing.Callable
    published: tuple
    x: list
    y: list = None
    z: tuple = None
    is_absolute: bool = False


POINTS = {"f32": 100_000, "f64": 20_000}
ANY = "any"
NEAR, BEYOND = [(0.001, 8)], [(8, 1000), (8, 1e5)]
FUNCTIONS = {
    "powf": Function(lambda x, y, z, v: x**y, (4, 2), [(0, 100), ANY], [(-40, 40), (-1, 1)]),
    "exp": Function(lambda x, y, z, v: gmpy2.exp(x), (2, 1), [(-104, 89), (-745, 710), (-1, 1)]),
    "exp2": Function(lambda x, y, z, v: gmpy2.exp2(x), (2, 1), [(-150, 128), (-1075, 1024), (-1, 1)]),
    "exp10": Function(lambda x, y, z, v: gmpy2.exp10(x), (2, 1), [(-46, 39), (-324, 308.3), (-1, 1)]),
    "exp_m1": Function(lambda x, y, z, v: gmpy2.expm1(x), (1, 1), [(-104, 89), (-40, 710), (-1, 1)]),
    "ln": Function(lambda x, y, z, v: gmpy2.log(x), (1, 1), [(0, 4), ANY]),
    "log2": Function(lambda x, y, z, v: gmpy2.log2(x), (1, 1), [(0, 4), ANY]),
    "log10": Function(lambda x, y, z, v: gmpy2.log10(x), (2, 1), [(0, 4), ANY]),
    "ln_1p": Function(lambda x, y, z, v: gmpy2.log1p(x), (1, 1), [(-1, 1), ANY]),
    "sqrt": Function(lambda x, y, z, v: gmpy2.sqrt(x), (0.5, 0.5), [(0, 10), ANY]),
    "rsqrt": Function(lambda x, y, z, v: gmpy2.rec_sqrt(x), (2, 1), [(0, 10), ANY]),
    "cbrt": Function(lambda x, y, z, v: gmpy2.cbrt(x), (1, 1), [(-10, 10), ANY]),
    "rcbrt": Function(lambda x, y, z, v: 1 / gmpy2.cbrt(x), (1, 1), [(-10, 10), ANY]),
    "hypot": Function(lambda x, y, z, v: gmpy2.hypot(x, y), (3, 2), [(-10, 10), ANY], [(-10, 10), ANY]),
    "rhypot": Function(lambda x, y, z, v: 1 / gmpy2.hypot(x, y), (2, 1), [(-10, 10), ANY], [(-10, 10), ANY]),
    "norm3d": Function(
        lambda x, y, z, v: gmpy2.sqrt(x * x + y * y + z * z), (3, 2), [(-10, 10), ANY], [(-10, 10), ANY], (-10, 10)
    ),
    "rem_euclid": Function(
        lambda x, y, z, v: x - abs(y) * gmpy2.floor(x / abs(y)), (1, 1), [(-10, 10)], [(-3, -0.1), (0.1, 3)]
    ),
    "sin": Function(lambda x, y, z, v: gmpy2.sin(x), (2, 2), [(-4, 4), (-1000, 1000), ANY]),
    "cos": Function(lambda x, y, z, v: gmpy2.cos(x), (2, 2), [(-4, 4), (-1000, 1000), ANY]),
    "tan": Function(lambda x, y, z, v: gmpy2.tan(x), (4, 2), [(-4, 4), (-1000, 1000), ANY]),
    "sinpi": Function(lambda x, y, z, v: sin_pi(x), (1, 2), [(-2, 2), (-1000, 1000), ANY]),
    "cospi": Function(lambda x, y, z, v: sin_pi(turn(x) + mpfr(0.5)), (1, 2), [(-2, 2), (-1000, 1000), ANY]),
    "asin": Function(lambda x, y, z, v: gmpy2.asin(x), (2, 2), [(-1, 1)]),
    "acos": Function(lambda x, y, z, v: gmpy2.acos(x), (2, 2), [(-1, 1)]),
    "atan": Function(lambda x, y, z, v: gmpy2.atan(x), (2, 2), [(-4, 4), ANY]),
    "atan2": Function(lambda x, y, z, v: gmpy2.atan2(x, y), (3, 2), [(-4, 4), ANY], [(-4, 4), ANY]),
    "sinh": Function(lambda x, y, z, v: gmpy2.sinh(x), (3, 2), [(-89.4, 89.4), (-710, 710), (-2, 2)]),
    "cosh": Function(lambda x, y, z, v: gmpy2.cosh(x), (2, 1), [(-89.4, 89.4), (-710, 710), (-2, 2)]),
    "tanh": Function(lambda x, y, z, v: gmpy2.tanh(x), (2, 1), [(-20, 20), (-2, 2)]),
    "asinh": Function(lambda x, y, z, v: gmpy2.asinh(x), (3, 3), [(-4, 4), ANY]),
    "acosh": Function(lambda x, y, z, v: gmpy2.acosh(x), (4, 3), [(1, 4), (1, 1e30)]),
    "atanh": Function(lambda x, y, z, v: gmpy2.atanh(x), (3, 2), [(-1, 1)]),
    "erf": Function(lambda x, y, z, v: gmpy2.erf(x), (2, 2), [(-6, 6)]),
    "erfc": Function(lambda x, y, z, v: gmpy2.erfc(x), (4, 5), [(-6, 10.06), (-6, 26.6)]),
    "erf_inv": Function(lambda x, y, z, v: polished(v, x, gmpy2.erf, erf_slope), (2, 5), [(-1, 1)]),
    "erfc_inv": Function(lambda x, y, z, v: polished(v, x, gmpy2.erfc, lambda t: -erf_slope(t)), (4, 6), [(0, 2)]),
    "erfcx": Function(
        lambda x, y, z, v: erfcx(x), (4, 4), [(-9.3, 10), (-26, 100), (0, 1e4)]
    ),
    "norm_cdf": Function(lambda x, y, z, v: normal_cdf(x), (5, 5), [(-14.1, 6), (-38, 9)]),
    "norm_cdf_inv": Function(lambda x, y, z, v: polished(v, x, normal_cdf, normal_density), (5, 8), [(0, 1)]),
    "gamma": Function(lambda x, y, z, v: gmpy2.gamma(x), (5, 10), [(-40, 35), (-180, 171.6), (-2, 4)]),
    "log_gamma": Function(lambda x, y, z, v: gmpy2.lgamma(x)[0], (6, 4), [(-2.26, 20), (0, 1e6), (0, 4)]),
    "j0": Function(lambda x, y, z, v: gmpy2.j0(x), (9, 7), NEAR),
    "j0 from 8": Function(lambda x, y, z, v: gmpy2.j0(x), (2.2e-6, 5e-12), BEYOND, is_absolute=True),
    "j1": Function(lambda x, y, z, v: gmpy2.j1(x), (9, 7), NEAR),
    "j1 from 8": Function(lambda x, y, z, v: gmpy2.j1(x), (2.2e-6, 5e-12), BEYOND, is_absolute=True),
    "jn": Function(lambda x, y, z, v: gmpy2.jn(int(z), x), (2.2e-6, 5e-12), [(0, 100)], z=(0, 40), is_absolute=True),
    "y0": Function(lambda x, y, z, v: gmpy2.y0(x), (9, 7), NEAR),
    "y0 from 8": Function(lambda x, y, z, v: gmpy2.y0(x), (2.2e-6, 5e-12), BEYOND, is_absolute=True),
    "y1": Function(lambda x, y, z, v: gmpy2.y1(x), (9, 7), NEAR),
    "y1 from 8": Function(lambda x, y, z, v: gmpy2.y1(x), (2.2e-6, 5e-12), BEYOND, is_absolute=True),
    "yn": Function(lambda x, y, z, v: gmpy2.yn(int(z), x), (2.2e-6, 5e-12), [(40, 100)], z=(0, 40), is_absolute=True),
    "cyl_bessel_i0": Function(lambda x, y, z, v: bessel_i(0, x), (6, 6), [(-91, 91), (-4, 4)]),
    "cyl_bessel_i1": Function(lambda x, y, z, v: bessel_i(1, x), (6, 6), [(-91, 91), (-4, 4)]),
}
ORDERS = ("jn", "yn")
# The functions of which CUDA states an error for a part of the arguments alone.
PARTS = {"log_gamma": (-2.26, math.inf), "j0": (-8, 8), "j1": (-8, 8), "y0": (0, 8), "y1": (0, 8)}
PARTS |= {f"{name} from 8": (8, math.inf) for name in ("j0", "j1", "y0", "y1")}


def point(interval, float_type):
    """A random float of the interval: evenly, or by magnitude."""
    greatest, least = {"f32": (3.4028234e38, 1e-44), "f64": (1.7e308, 1e-320)}[float_type]
    low, high = (-greatest, greatest) if interval == ANY else interval
    if random.random() < 0.5:
        x = random.uniform(low / 2, high / 2) * 2
    else:
        sign = -1 if low < 0 and (high <= 0 or random.random() < 0.5) else 1
        near, far = sorted((max(least, sign * low), max(least, sign * high)))
        x = sign * math.exp(random.uniform(math.log(near), math.log(far)))
    if float_type == "f32":
        x = struct.unpack("f", struct.pack("f", min(max(x, -greatest), greatest)))[0]
    return min(max(x, low), high)


def sampled(key, float_type, points):
    function = FUNCTIONS[key]
    arguments = []
    for _ in range(points):
        x = point(random.choice(function.x), float_type)
        y = point(random.choice(function.y), float_type) if function.y else 1.0
        if function.z and key in ORDERS:
            z = float(random.randint(*function.z))
        else:
            z = point(function.z, float_type) if function.z else 1.0
        arguments.append((x, y, z))
    return arguments


def worst_of_all(program, key):
    """The arguments that the program names as the worst of all f32."""
    part = [str(end) for end in PARTS.get(key, ())]
    kind = ["absolute"] if FUNCTIONS[key].is_absolute else []
    name = key.split()[0]
    done = subprocess.run([program, "worst", name, *part, *kind], stdout=subprocess.PIPE, check=True, text=True)
    bits = [int(line.split()[0], 16) for line in done.stdout.splitlines()]
    return [(struct.unpack("<f", struct.pack("<I", word))[0], 1.0, 1.0) for word in bits]


def values(program, name, float_type, arguments):
    letter = SIZES[float_type][0]
    flat = [number for triple in arguments for number in triple]
    done = subprocess.run(
        [program, "values", name, float_type],
        input=struct.pack(f"<{len(flat)}{letter}", *flat),
        stdout=subprocess.PIPE,
        check=True,
    )
    return struct.unpack(f"<{len(arguments)}{letter}", done.stdout)


def units(value, true, float_type):
    """The error in units in the last place."""
    _, digits, lowest, highest = SIZES[float_type]
    if gmpy2.is_nan(true) or math.isnan(value):
        return 0.0 if gmpy2.is_nan(true) and math.isnan(value) else math.inf
    limit = mpfr(2) ** highest
    step = mpfr(2) ** (highest - digits)
    if math.isinf(value) and value * true < 0:
        return math.inf
    if abs(true) >= limit:
        return 0.0 if math.isinf(value) else float((limit - abs(mpfr(value))) / step)
    if math.isinf(value):
        return float((limit - abs(true)) / step)
    exponent = lowest if true == 0 else max(gmpy2.get_exp(true) - digits, lowest)
    return float(abs(mpfr(value) - true) / mpfr(2) ** exponent)


class Measured(typing.NamedTuple):
    kernel: str
    part: str
    error: float
    published: float
    kind: str
    points: str
    at: tuple

    def is_greater(self):
        """Than CUDA's, which publishes half a unit for what is rounded correctly."""
        is_of_rounded = self.kind == "ulp" and self.published >= 1
        return self.error > self.published + (0.5 if is_of_rounded else 0)


def measure(program, kernel, key, points, seed, is_all):
    """The greatest error of a function, or of a part of its arguments."""
    random.seed(f"{seed} {kernel} {key}")
    name, float_type = kernel.rsplit("_", 1)
    function = FUNCTIONS[key]
    is_all = is_all and float_type == "f32" and not function.y and not function.z
    arguments = worst_of_all(program, key) if is_all else sampled(key, float_type, points or POINTS[float_type])
    worst = (-1.0, None)
    for (x, y, z), value in zip(arguments, values(program, name, float_type, arguments)):
        if name.endswith("_inv") and not math.isfinite(value):
            continue  # Where Newton's method cannot go on from: the ends, which tests look at.
        true = mpfr(function.of(mpfr(x), mpfr(y), mpfr(z), mpfr(value)))
        error = float(abs(mpfr(value) - true)) if function.is_absolute else units(value, true, float_type)
        worst = max(worst, (error, (x, y, z)), key=lambda pair: pair[0])
    if worst[1] is None:
        raise SystemExit(f"{kernel}: no point was compared")
    published = function.published[float_type == "f64"]
    kind = "absolute" if function.is_absolute else "ulp"
    part = key.removeprefix(name).strip() or ("to 8" if f"{name} from 8" in FUNCTIONS else "")
    return Measured(kernel, part, worst[0], published, kind, "all" if is_all else str(len(arguments)), worst[1])


HEADER = ["function", "part", "error", "published", "kind", "points", "x", "y", "z"]


def updated(file, lines):
    """The file's rows, with these in the place of those of the same function and part."""
    with open(file, newline="", encoding="utf-8") as old:
        header, *rows = csv.reader(old)
    if header != HEADER:
        raise SystemExit(f"{file} has other columns: {header}")
    new = {(line[0], line[1]): line for line in lines}
    rows = [new.pop((row[0], row[1]), row) for row in rows]
    return rows + list(new.values())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--points", type=int, help="of a sample; by default 100,000 in f32 and 20,000 in f64")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--all", action="store_true", help="every f32 of functions of one argument")
    parser.add_argument("--output", help="a CSV file")
    parser.add_argument("--update", action="store_true", help="keep the file's rows of other functions")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("kernels", nargs="*", metavar="FUNCTION_f32")
    options = parser.parse_args()
    rows = [(f"{key.split()[0]}_{float_type}", key) for key in FUNCTIONS for float_type in SIZES]
    unknown = set(options.kernels) - {kernel for kernel, _ in rows}
    if unknown:
        parser.error(f"no reference for {', '.join(sorted(unknown))}")
    rows = [row for row in rows if not options.kernels or row[0] in options.kernels]
    measured = []
    with concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
        tasks = [pool.submit(measure, options.program, *row, options.points, options.seed, options.all) for row in rows]
        for task in tasks:
            row = task.result()
            measured.append(row)
            mark = "  GREATER" if row.is_greater() else ""
            print(
                f"{row.kernel:18} {row.part:8} {row.error:10.4g} {row.kind:8} (CUDA {row.published:g}) "
                f"of {row.points} at {row.at}{mark}",
                flush=True,
            )
    if options.output:
        lines = [[*map(str, row[:-1]), *map(str, row.at)] for row in measured]
        if options.update:
            lines = updated(options.output, lines)
        with open(options.output, "w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([HEADER, *lines])
    return any(row.is_greater() for row in measured)


if __name__ == "__main__":
    sys.exit(main())
