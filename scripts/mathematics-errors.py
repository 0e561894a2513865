#!/usr/bin/env python3
"""Errors of the functions of GpuFloat and FloatExt in units in the last place, against MPFR.

    mathematics-errors.py PROGRAM [--points N] [--seed N] [--all] [FUNCTION_f32|FUNCTION_f64 ...]

PROGRAM is `mathematics`, built by `cargo build --release -p mathematics`. Each function is evaluated
at N points of the intervals in the table below, half of them spread evenly and half by magnitude, and
compared with MPFR at 300 bits (gmpy2 from PyPI). --all takes every f32 of a function of one argument:
the program compares them with its own f64 function and this script the worst of them with MPFR.

A unit is the distance of two neighbouring floats at the true value; below the normal numbers it is that
of the subnormals. Prints a line for each function: the greatest error and where it is.
"""

import argparse
import math
import random
import struct
import subprocess
import sys

import gmpy2
from gmpy2 import mpfr

gmpy2.set_context(gmpy2.context(precision=300, emin=-(10**6), emax=10**6))
PI = gmpy2.const_pi()
SIZES = {"f32": ("f", 24, -149, 128), "f64": ("d", 53, -1074, 1024)}


def turn(x):
    """x less the nearest even integer, exactly."""
    return x - 2 * gmpy2.rint(x / 2)


def polished(value, want, function, derivative):
    """The root of function(value) = want by Newton's method from nearly there."""
    for _ in range(4):
        value -= (function(value) - want) / derivative(value)
    return value


def erf_slope(x):
    return 2 / gmpy2.sqrt(PI) * gmpy2.exp(-x * x)


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


def int_power(x, n):
    return x ** int(n)


# Function: arguments, the reference (of x, y, z and the computed value), intervals of x and of y.
def reference(of, *intervals, y=None, z=None):
    return of, intervals, y, z


UP = {"f32": 3e38, "f64": 1.7e308}
ANY = "any"
FUNCTIONS = {
    "powf": reference(lambda x, y, z, v: x**y, (0, 100), ANY, y=[(-40, 40), (-1, 1)]),
    "powi": reference(lambda x, y, z, v: int_power(x, z), (-4, 4), z=(-8, 8)),
    "exp": reference(lambda x, y, z, v: gmpy2.exp(x), (-104, 89), (-745, 710), (-1, 1)),
    "exp2": reference(lambda x, y, z, v: gmpy2.exp2(x), (-150, 128), (-1075, 1024), (-1, 1)),
    "exp10": reference(lambda x, y, z, v: gmpy2.exp10(x), (-46, 39), (-324, 308.3), (-1, 1)),
    "exp_m1": reference(lambda x, y, z, v: gmpy2.expm1(x), (-104, 89), (-40, 710), (-1, 1)),
    "ln": reference(lambda x, y, z, v: gmpy2.log(x), (0, 4), ANY),
    "log": reference(lambda x, y, z, v: gmpy2.log(x) / gmpy2.log(y), (0, 4), ANY, y=[(1.5, 10)]),
    "log2": reference(lambda x, y, z, v: gmpy2.log2(x), (0, 4), ANY),
    "log10": reference(lambda x, y, z, v: gmpy2.log10(x), (0, 4), ANY),
    "ln_1p": reference(lambda x, y, z, v: gmpy2.log1p(x), (-1, 1), ANY),
    "cbrt": reference(lambda x, y, z, v: gmpy2.cbrt(x), (-10, 10), ANY),
    "rcbrt": reference(lambda x, y, z, v: 1 / gmpy2.cbrt(x), (-10, 10), ANY),
    "sqrt": reference(lambda x, y, z, v: gmpy2.sqrt(x), (0, 10), ANY),
    "rsqrt": reference(lambda x, y, z, v: gmpy2.rec_sqrt(x), (0, 10), ANY),
    "hypot": reference(lambda x, y, z, v: gmpy2.hypot(x, y), (-10, 10), ANY, y=[(-10, 10), ANY]),
    "rhypot": reference(lambda x, y, z, v: 1 / gmpy2.hypot(x, y), (-10, 10), ANY, y=[(-10, 10), ANY]),
    "norm3d": reference(
        lambda x, y, z, v: gmpy2.sqrt(x * x + y * y + z * z), (-10, 10), ANY, y=[(-10, 10), ANY], z=(-10, 10)
    ),
    "rem_euclid": reference(lambda x, y, z, v: x - abs(y) * gmpy2.floor(x / abs(y)), (-10, 10), y=[(-3, -0.1), (0.1, 3)]),
    "div_euclid": reference(
        lambda x, y, z, v: gmpy2.floor(x / y) if y > 0 else gmpy2.ceil(x / y), (-10, 10), y=[(-3, 3)]
    ),
    "round": reference(lambda x, y, z, v: gmpy2.round_away(x), (-10, 10), ANY),
    "sin": reference(lambda x, y, z, v: gmpy2.sin(x), (-4, 4), (-1000, 1000), ANY),
    "cos": reference(lambda x, y, z, v: gmpy2.cos(x), (-4, 4), (-1000, 1000), ANY),
    "tan": reference(lambda x, y, z, v: gmpy2.tan(x), (-4, 4), (-1000, 1000), ANY),
    "sinpi": reference(lambda x, y, z, v: gmpy2.sin(PI * turn(x)), (-2, 2), (-1000, 1000), ANY),
    "cospi": reference(lambda x, y, z, v: gmpy2.cos(PI * turn(x)), (-2, 2), (-1000, 1000), ANY),
    "asin": reference(lambda x, y, z, v: gmpy2.asin(x), (-1, 1)),
    "acos": reference(lambda x, y, z, v: gmpy2.acos(x), (-1, 1)),
    "atan": reference(lambda x, y, z, v: gmpy2.atan(x), (-4, 4), ANY),
    "atan2": reference(lambda x, y, z, v: gmpy2.atan2(x, y), (-4, 4), ANY, y=[(-4, 4), ANY]),
    "sinh": reference(lambda x, y, z, v: gmpy2.sinh(x), (-89.4, 89.4), (-710, 710), (-2, 2)),
    "cosh": reference(lambda x, y, z, v: gmpy2.cosh(x), (-89.4, 89.4), (-710, 710), (-2, 2)),
    "tanh": reference(lambda x, y, z, v: gmpy2.tanh(x), (-20, 20), (-2, 2)),
    "asinh": reference(lambda x, y, z, v: gmpy2.asinh(x), (-4, 4), ANY),
    "acosh": reference(lambda x, y, z, v: gmpy2.acosh(x), (1, 4), (1, 1e30)),
    "atanh": reference(lambda x, y, z, v: gmpy2.atanh(x), (-1, 1)),
    "erf": reference(lambda x, y, z, v: gmpy2.erf(x), (-6, 6)),
    "erfc": reference(lambda x, y, z, v: gmpy2.erfc(x), (-6, 10.06), (-6, 26.6)),
    "erf_inv": reference(lambda x, y, z, v: polished(v, x, gmpy2.erf, erf_slope), (-1, 1)),
    "erfc_inv": reference(lambda x, y, z, v: polished(v, x, gmpy2.erfc, lambda t: -erf_slope(t)), (0, 2)),
    "erfcx": reference(lambda x, y, z, v: gmpy2.exp(x * x) * gmpy2.erfc(x), (-9.3, 10), (-26, 100), (0, 1e4)),
    "norm_cdf": reference(lambda x, y, z, v: normal_cdf(x), (-14.1, 6), (-38, 9)),
    "norm_cdf_inv": reference(lambda x, y, z, v: polished(v, x, normal_cdf, normal_density), (0, 1)),
    "gamma": reference(lambda x, y, z, v: gmpy2.gamma(x), (-40, 35), (-180, 171.6), (-2, 4)),
    "log_gamma": reference(lambda x, y, z, v: gmpy2.lgamma(x)[0], (0, 20), (0, 1e6), (-30, 0)),
    "j0": reference(lambda x, y, z, v: gmpy2.j0(x), (-8, 8)),
    "j1": reference(lambda x, y, z, v: gmpy2.j1(x), (-8, 8)),
    "jn": reference(lambda x, y, z, v: gmpy2.jn(int(z), x), (0, 100), z=(0, 40)),
    "y0": reference(lambda x, y, z, v: gmpy2.y0(x), (0, 8)),
    "y1": reference(lambda x, y, z, v: gmpy2.y1(x), (0, 8)),
    "yn": reference(lambda x, y, z, v: gmpy2.yn(int(z), x), (0, 100), z=(0, 40)),
    "cyl_bessel_i0": reference(lambda x, y, z, v: bessel_i(0, x), (-91, 91), (-4, 4)),
    "cyl_bessel_i1": reference(lambda x, y, z, v: bessel_i(1, x), (-91, 91), (-4, 4)),
}


def point(interval, float_type):
    """A random float of the interval: evenly, or by magnitude."""
    if interval == ANY:
        interval = (-UP[float_type], UP[float_type])
    low, high = interval
    if random.random() < 0.5:
        x = random.uniform(low, high)
    else:
        smallest = 1e-44 if float_type == "f32" else 1e-320
        smallest = max(smallest, low if low > 0 else -high if high < 0 else 0)
        sign = -1 if low < 0 and (high <= 0 or random.random() < 0.5) else 1
        top = -low if sign < 0 else high
        x = sign * math.exp(random.uniform(math.log(smallest), math.log(top)))
    if float_type == "f32":
        x = struct.unpack("f", struct.pack("f", max(-3.4028234e38, min(3.4028234e38, x))))[0]
    return min(max(x, low), high)


def values(program, name, float_type, arguments):
    letter = SIZES[float_type][0]
    flat = [number for triple in arguments for number in triple]
    done = subprocess.run(
        [program, "values", name, float_type], input=struct.pack(f"<{len(flat)}{letter}", *flat), stdout=subprocess.PIPE, check=True
    )
    return struct.unpack(f"<{len(arguments)}{letter}", done.stdout)


def units(value, true, float_type):
    """The error in units in the last place."""
    _, digits, lowest, highest = SIZES[float_type]
    if gmpy2.is_nan(true) or math.isnan(value):
        return 0.0 if gmpy2.is_nan(true) and math.isnan(value) else math.inf
    limit = mpfr(2) ** highest
    half_step = mpfr(2) ** (highest - digits - 1)
    if abs(true) >= limit - half_step:
        # Rounds to infinity: infinity, or the last numbers at a distance in their units.
        if math.isinf(value):
            return 0.0 if (value > 0) == (true > 0) else math.inf
        return float(min((abs(true) - abs(mpfr(value))) / (2 * half_step), mpfr(1e9)))
    if math.isinf(value):
        return float((limit - abs(true)) / (2 * half_step)) if (value > 0) == (true > 0) else math.inf
    if true == 0:
        exponent = lowest
    else:
        exponent = max(gmpy2.get_exp(true) - digits, lowest)
    return float(abs(mpfr(value) - true) / mpfr(2) ** exponent)


def sampled(program, name, float_type, points):
    of, intervals, ys, z = FUNCTIONS[name]
    arguments = []
    for _ in range(points):
        x = point(random.choice(intervals), float_type)
        y = point(random.choice(ys), float_type) if ys else 1.0
        n = float(random.randint(*z)) if z and isinstance(z[0], int) and name in ("powi", "jn", "yn") else 1.0
        n = point(z, float_type) if z and name == "norm3d" else n
        arguments.append((x, y, n))
    return arguments


def worst_of_all(program, name):
    """The arguments that the program names as the worst of all f32."""
    done = subprocess.run([program, "worst", name], stdout=subprocess.PIPE, check=True, text=True)
    bits = [int(line.split()[0], 16) for line in done.stdout.splitlines()]
    return [(struct.unpack("<f", struct.pack("<I", b))[0], 1.0, 1.0) for b in bits]


def measure(program, name, float_type, arguments):
    of = FUNCTIONS[name][0]
    worst = (-1.0, None, None)
    for (x, y, z), value in zip(arguments, values(program, name, float_type, arguments)):
        try:
            true = mpfr(of(mpfr(x), mpfr(y), mpfr(z), mpfr(value)))
        except (ValueError, ZeroDivisionError, OverflowError):
            continue
        if not math.isfinite(value) and name in ("erf_inv", "erfc_inv", "norm_cdf_inv"):
            continue
        if name == "sqrt" and x == 0:
            continue
        error = units(value, true, float_type)
        if error > worst[0]:
            worst = (error, (x, y, z), value)
    return worst


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--points", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("kernels", nargs="*")
    options = parser.parse_args()
    random.seed(options.seed)
    for kernel in options.kernels or [f"{name}_{float_type}" for name in FUNCTIONS for float_type in SIZES]:
        name, float_type = kernel.rsplit("_", 1)
        if options.all:
            arguments = worst_of_all(options.program, name)
        else:
            arguments = sampled(options.program, name, float_type, options.points)
        error, at, value = measure(options.program, name, float_type, arguments)
        print(f"{kernel:20} {error:10.3f} units at {at}: {value!r}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
