"""Compares CuPy with NumPy: its arrays, its kernels, a program's. With `sort` what its wheel has compiled; with `fault` it makes one."""

import sys

import cupy
import numpy

KERNEL = r"""
extern "C" __global__ void add(int n, float *x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i BELOW n) x[i] += 1;
}
"""


def close(name, ours, theirs):
    ours = cupy.asnumpy(ours)
    if ours.shape != numpy.shape(theirs) or not numpy.allclose(ours, theirs, rtol=1e-4, atol=1e-5):
        sys.exit(f"{name}: {ours}, and not {theirs}")
    print(f"{name}: as NumPy's")


def add_one(compare, n=1000):
    kernel = cupy.RawKernel(KERNEL.replace("BELOW", compare), "add", options=("-lineinfo",))
    x = cupy.zeros(n, dtype=cupy.float32)
    kernel((-(-n // 256),), (256,), (numpy.int32(n), x))
    return x


@cupy.fuse()
def times_root(u, v):
    return cupy.sqrt(u) * v + u


def arrays():
    a = numpy.random.default_rng(0).random((64, 48), dtype=numpy.float32)
    x = cupy.asarray(a)
    close("sum of columns", x.sum(axis=0), a.sum(axis=0))
    close("sum", x.sum(), a.sum())
    close("largest of rows", x.max(axis=1), a.max(axis=1))
    close("place of the largest", x.argmax(axis=1), a.argmax(axis=1))
    close("mean", x.mean(), a.mean())
    close("deviation", x.std(axis=0), a.std(axis=0))
    close("exp", cupy.exp(x), numpy.exp(a))
    close("transpose", x.T.copy(), a.T)
    close("slice", x[::2, 1::3], a[::2, 1::3])
    close("where", cupy.where(x > 0.5, x, 0), numpy.where(a > 0.5, a, 0))
    close("concatenate", cupy.concatenate([x, x]), numpy.concatenate([a, a]))
    close("running sum", cupy.cumsum(x, axis=0), numpy.cumsum(a, axis=0))
    close("counts", cupy.bincount(cupy.arange(10) % 3), numpy.bincount(numpy.arange(10) % 3))
    multiply = cupy.ElementwiseKernel("T a, T b", "T c", "c = a * b + 1", "multiply_add")
    close("elementwise kernel", multiply(x, x), a * a + 1)
    norm = cupy.ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "length_of")
    close("reduction kernel", norm(x), numpy.sqrt((a * a).sum()))
    close("fused function", times_root(x, x), numpy.sqrt(a) * a + a)
    close("raw kernel", add_one("<"), numpy.ones(1000))
    stream, event = cupy.cuda.Stream(non_blocking=True), cupy.cuda.Event()
    event.record()
    stream.wait_event(event)
    with stream:
        y = x * 3
    stream.synchronize()
    close("stream", y, a * 3)


def sort():
    a = numpy.random.default_rng(0).random((8, 48), dtype=numpy.float32)
    close("sort", cupy.sort(cupy.asarray(a), axis=1), numpy.sort(a, axis=1))


def fault():
    cupy.cuda.set_allocator(None)
    add_one("<=")


{"sort": sort, "fault": fault}.get(sys.argv[-1], arrays)()
