#!/usr/bin/env python3
"""The tables of a GPU's special function unit, from what it returns: crates/internal/sfu/src/tables.rs.

    special-function-unit.py dump RESULTS.npz      # on the GPU, with nvcc's headers and CuPy
    special-function-unit.py fit RESULTS.npz       # anywhere, with NumPy and SciPy; prints tables.rs

An interval of 2^23 arguments has 64 or 128 rows. Within a row a result is

    floor(c0 + c1 x + c2 s),    x from 0 to 1, s the square of x without its partial products below 2^-15

Each result gives two bounds of that sum, and a linear program the c0, c1 and c2 farthest from all bounds. Rounded to
integers, c1 and c2 leave an interval for c0, a multiple of a power of two plus an offset that all rows share. Ends with
1 if no such integers return every one of the results.
"""

import argparse
import math
import sys
import typing

import numpy

N = 1 << 23  # arguments of an interval: the fractions of a float
X_BITS, SQUARE_BITS = 17, 15


class Table(typing.NamedTuple):
    """A table, and the interval of arguments that it is found from."""

    name: str
    doc: str
    instruction: str
    first: float
    rows: int
    fraction: int  # bits of c0 below the unit of the result
    scale: int = 1  # the table's units in a result's
    skip: int = 0  # arguments at the beginning whose results have an exception


TABLES = [
    Table("POWER", "2^x from 0 to 1, less 1, in units of 2^-23", "ex2.approx.ftz.f32", 1.0, 64, 2),
    Table("LOGARITHM", "log2(x) from 1 to 2, in units of 2^-23", "lg2.approx.ftz.f32", 2.0, 64, 3),
    Table("RECIPROCAL", "1 / x from 1 to 2, less 1, in units of 2^-24", "rcp.approx.ftz.f32", 1.0, 128, 2),
    Table("INVERSE_ROOT", "1 / sqrt(x) from 1 to 2, less 1, in units of 2^-24", "rsqrt.approx.ftz.f32", 1.0, 64, 2, 1, 1),
    Table(
        "INVERSE_ROOT_OF_DOUBLE", "1 / sqrt(2 x) from 1 to 2, less 1/2, in units of 2^-24", "rsqrt.approx.ftz.f32", 2.0, 64, 2
    ),
    Table("ROOT", "sqrt(x) from 1 to 2, less 1, in units of 2^-24", "sqrt.approx.ftz.f32", 1.0, 64, 1, 2),
    Table("ROOT_OF_DOUBLE", "sqrt(2 x) from 1 to 2, less 1, in units of 2^-24", "sqrt.approx.ftz.f32", 2.0, 64, 1, 2),
]


def dump(path):
    """The results of each table's interval."""
    import cupy

    results = {}
    for table in TABLES:
        source = f"""extern "C" __global__ void results(unsigned first, unsigned *out) {{
            unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
            float result;
            asm volatile("{table.instruction} %0, %1;" : "=f"(result) : "f"(__uint_as_float(first + i)));
            out[i] = __float_as_uint(result);
        }}"""
        out = cupy.empty(N, cupy.uint32)
        first = numpy.float32(table.first).view(numpy.uint32)
        cupy.RawKernel(source, "results")((N // 256,), (256,), (first, out))
        results[table.name] = cupy.asnumpy(out)
    numpy.savez_compressed(path, **results)


def square():
    """Of every x in 2^-17, in 2^-15."""
    x = numpy.arange(1 << X_BITS)
    least = 2 * X_BITS - SQUARE_BITS
    bits = [(x >> i) & 1 for i in range(X_BITS)]
    total = numpy.zeros(len(x), dtype=numpy.int64)
    for i, bit in enumerate(bits):
        if 2 * i >= least:
            total += bit << (2 * i)
        for j in range(i + 1, X_BITS):
            if i + j + 1 >= least:
                total += (bit & bits[j]) << (i + j + 1)
    return total >> least


def fitted(results, terms):
    """The coefficients of the terms whose sum is from each result to one more, farthest from both."""
    from scipy.optimize import linprog

    x = terms[:, 1]
    slope = (results[-1] - results[0]) / (x[-1] - x[0])
    rest, size = results - results[0] - slope * (x - x[0]), numpy.abs(terms).max(0)
    terms = terms / size
    chosen = numpy.unique(numpy.linspace(0, len(rest) - 1, 300).astype(int))
    for _ in range(60):
        part, one = terms[chosen], numpy.ones((len(chosen), 1))
        bounds = numpy.vstack([numpy.hstack([-part, one]), numpy.hstack([part, one])])
        limits = numpy.concatenate([-rest[chosen], rest[chosen] + 1])
        solved = linprog([0] * terms.shape[1] + [-1], A_ub=bounds, b_ub=limits, bounds=[(None, None)] * (terms.shape[1] + 1))
        if solved.x is None:
            sys.exit("the linear program has no solution")
        *coefficients, distance = solved.x
        sums = terms @ coefficients
        distances = numpy.minimum(sums - rest, rest + 1 - sums)
        if distances.min() >= distance - 1e-7:
            break
        # The arguments whose bounds are missed most.
        chosen = numpy.unique(numpy.concatenate([chosen, numpy.argsort(distances)[:50]]))
    coefficients = coefficients / size
    coefficients[1] += slope
    return coefficients


def row(results, x, s, scale, skip):
    """c1, c2 and the interval of c0, in the table's units; x in 2^-17 and s in 2^-15."""
    terms = numpy.stack([numpy.ones(len(x)), x, s], 1).astype(float)[skip:]
    _, c1, c2 = fitted(results[skip:], terms)
    c1, c2 = round(scale * c1 * 2**X_BITS), round(scale * c2 * 2**SQUARE_BITS)
    rest = scale * results[skip:] - c1 * x[skip:] / 2**X_BITS - c2 * s[skip:] / 2**SQUARE_BITS
    least, end = rest.max(), rest.min() + scale
    if least >= end:
        sys.exit(f"c1 = {c1} and c2 = {c2} leave no c0")
    return c1, c2, least, end


def common_offset(table, intervals):
    """The least offset in 2^-17 of the table's unit with which every interval has a c0, and these."""
    step = 2**-table.fraction
    for offset in range(2 ** (X_BITS - table.fraction)):
        shift = offset / 2**X_BITS
        starts = [math.floor((end - shift) / step) for _, end in intervals]
        # An interval is half-open: its end itself would round up.
        starts = [c0 - (c0 * step + shift >= end) for c0, (_, end) in zip(starts, intervals)]
        if all(least <= c0 * step + shift for c0, (least, _) in zip(starts, intervals)):
            return offset, starts
    sys.exit(f"{table.name}: the rows share no offset")


def fit(path):
    dumped, squares = numpy.load(path), square()
    yield "//! The unit's tables, as `scripts/gpu/special-function-unit.py` found them in what an H200 returned."
    yield ""
    yield "use crate::interpolation::{Row, Table};"
    for table in TABLES:
        bits = dumped[table.name].astype(numpy.int64)
        results = bits - (bits[0] & ~0x7FFFFF)
        length = N // table.rows
        x = (numpy.arange(length) << X_BITS) // length
        s, rows = squares[x], []
        for i in range(table.rows):
            rows.append(row(results[i * length :][:length].astype(float), x, s, table.scale, table.skip if i == 0 else 0))
        offset, starts = common_offset(table, [(least, end) for *_, least, end in rows])
        rows = [(c0, c1, c2) for c0, (c1, c2, *_) in zip(starts, rows)]
        sums = [
            (c0 << (X_BITS - table.fraction)) + offset + c1 * x + ((c2 * s) << (X_BITS - SQUARE_BITS)) for c0, c1, c2 in rows
        ]
        differ = (numpy.concatenate(sums) // (table.scale << X_BITS) != results)[table.skip :].sum()
        if differ:
            sys.exit(f"{table.name}: {differ} results of {N} differ")
        yield ""
        yield f"/// {table.doc}."
        yield f"pub(crate) const {table.name}: Table<{table.rows}> = Table {{"
        yield f"    fraction: {table.fraction},"
        yield f"    offset: {offset},"
        yield "    rows: ["
        yield from (f"        Row({c0}, {c1}, {c2})," for c0, c1, c2 in rows)
        yield "    ],"
        yield "};"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["dump", "fit"])
    parser.add_argument("results", help="a file of NumPy")
    options = parser.parse_args()
    if options.command == "dump":
        dump(options.results)
    else:
        print("\n".join(fit(options.results)))


if __name__ == "__main__":
    main()
