"""Doubles numbers on a GPU through the driver's own functions: doubled.py once|threads|forked|killed|exits|parts|pauses"""

import ctypes
import os
import signal
import sys
import threading
import time

CUDA = ctypes.CDLL("libcuda.so.1")
COUNT = 256
PTX = b"""
.version 7.0
.target sm_70
.address_size 64
.visible .entry twice(.param .u64 p) {
    .reg .b64 %rd<4>; .reg .b32 %r<2>; .reg .f32 %f<2>;
    ld.param.u64 %rd1, [p];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd3, %rd1, %rd2;
    ld.global.f32 %f1, [%rd3];
    add.f32 %f1, %f1, %f1;
    st.global.f32 [%rd3], %f1;
    ret;
}
"""


def check(status):
    assert status == 0, status


def ready():
    """A function that doubles numbers so often, and the numbers."""
    device, context = ctypes.c_int(), ctypes.c_void_p()
    check(CUDA.cuInit(0))
    check(CUDA.cuDeviceGet(ctypes.byref(device), 0))
    check(CUDA.cuDevicePrimaryCtxRetain(ctypes.byref(context), device))
    check(CUDA.cuCtxSetCurrent(context))
    module, kernel, data = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_uint64()
    check(CUDA.cuModuleLoadData(ctypes.byref(module), PTX))
    check(CUDA.cuModuleGetFunction(ctypes.byref(kernel), module, b"twice"))
    check(CUDA.cuMemAlloc_v2(ctypes.byref(data), ctypes.c_size_t(4 * COUNT)))
    numbers = (ctypes.c_float * COUNT)(*[1.0] * COUNT)
    check(CUDA.cuMemcpyHtoD_v2(data, numbers, ctypes.c_size_t(4 * COUNT)))
    parameters = (ctypes.c_void_p * 1)(ctypes.addressof(data))

    def run(times):
        for _ in range(times):
            check(CUDA.cuLaunchKernel(kernel, 1, 1, 1, COUNT, 1, 1, 0, None, parameters, None))
            check(CUDA.cuMemcpyDtoH_v2(numbers, data, ctypes.c_size_t(4)))

    return run, numbers


def double(times):
    run, numbers = ready()
    run(times)
    assert numbers[0] == 2.0**times


def once():
    double(5)


def threads():
    workers = [threading.Thread(target=double, args=(5,)) for _ in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


def forked():
    double(5)
    child = os.fork()
    if child == 0:
        # What this process has of the driver is its parent's: its calls must not be in the parent's recording.
        CUDA.cuCtxSynchronize()
        os._exit(0)
    os.waitpid(child, 0)


def killed():
    double(5)
    os.kill(os.getpid(), signal.SIGKILL)


def exits():
    double(5)
    os._exit(0)


def parts():
    """Launches in front of, in and between ranges of NVTX, and a profiler's part."""
    from nvtx import Nvtx

    run, _ = ready()
    nvtx = Nvtx()
    run(1)
    for _ in range(2):
        nvtx.push(b"step")
        run(2)
        nvtx.push(b"step")
        run(1)
        nvtx.pop()
        nvtx.pop()
        run(1)
    check(CUDA.cuProfilerStart())
    run(3)
    check(CUDA.cuProfilerStop())
    run(1)


def pauses():
    run, _ = ready()
    run(2)
    time.sleep(2)
    run(3)


globals()[sys.argv[1]]()
