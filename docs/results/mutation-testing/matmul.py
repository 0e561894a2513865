"""A product of matrices in Triton, pipelined, compared with the product on the host."""

import array
import ctypes
import random
import struct
import sys

import triton
import triton.language as tl

M, N, K = 64, 64, 128


@triton.jit
def matmul(a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    inner = tl.arange(0, BK)
    a_at = a + rows[:, None] * k + inner[None, :]
    b_at = b + inner[:, None] * n + columns[None, :]
    sums = tl.zeros((BM, BN), tl.float32)
    for first in range(0, k, BK):
        mask = first + inner < k
        left = tl.load(a_at + first, mask=mask[None, :], other=0.0)
        right = tl.load(b_at + first * n, mask=mask[:, None], other=0.0)
        sums = tl.dot(left, right, sums)
    c_at = c + rows[:, None] * n + columns[None, :]
    tl.store(c_at, sums, mask=(rows[:, None] < m) & (columns[None, :] < n))


cuda = ctypes.CDLL("libcuda.so.1")


def call(name, *arguments):
    status = getattr(cuda, name)(*arguments)
    if status != 0:
        sys.exit(f"{name}: {status}")


class Tensor:
    """Memory of the device that Triton takes as a tensor."""

    def __init__(self, dtype, data):
        self.dtype, self.bytes = dtype, len(data)
        self.pointer = ctypes.c_uint64()
        call("cuMemAlloc_v2", ctypes.byref(self.pointer), ctypes.c_size_t(self.bytes))
        call("cuMemcpyHtoD_v2", self.pointer, data, ctypes.c_size_t(self.bytes))

    def data_ptr(self):
        return self.pointer.value

    def read(self):
        data = ctypes.create_string_buffer(self.bytes)
        call("cuMemcpyDtoH_v2", data, self.pointer, ctypes.c_size_t(self.bytes))
        return data.raw


def main():
    context = ctypes.c_void_p()
    call("cuInit", 0)
    call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
    call("cuCtxSetCurrent", context)
    draw = random.Random(7)
    a = [draw.randrange(-8, 9) / 8 for _ in range(M * K)]
    b = [draw.randrange(-8, 9) / 8 for _ in range(K * N)]
    left = Tensor("float16", struct.pack(f"{M * K}e", *a))
    right = Tensor("float16", struct.pack(f"{K * N}e", *b))
    out = Tensor("float32", bytes(4 * M * N))
    grid = (triton.cdiv(M, 64), triton.cdiv(N, 64))
    matmul[grid](left, right, out, M, N, K, BM=64, BN=64, BK=32, num_warps=4, num_stages=3)
    call("cuCtxSynchronize")
    c = array.array("f", out.read())
    for i in range(M):
        for j in range(N):
            expected = sum(a[i * K + x] * b[x * N + j] for x in range(K))
            if abs(c[i * N + j] - expected) > 1e-3:
                sys.exit(f"element {i}, {j}: {c[i * N + j]}, expected {expected}")
    print("equal")


main()
