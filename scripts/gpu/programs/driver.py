"""Work whose kernels and copies are counted, through the functions of the driver: no library adds any of its own."""

import ctypes

CUDA = ctypes.CDLL("libcuda.so.1")
COUNT = 1 << 16
PTX = b"""
.version 7.0
.target sm_70
.address_size 64
.visible .entry scaled(.param .u64 p) {
    .reg .b64 %rd<4>; .reg .b32 %r<4>; .reg .f32 %f<2>;
    ld.param.u64 %rd1, [p];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ctaid.x;
    mad.lo.u32 %r3, %r2, 256, %r1;
    mul.wide.u32 %rd2, %r3, 4;
    add.u64 %rd3, %rd1, %rd2;
    ld.global.f32 %f1, [%rd3];
    mul.f32 %f1, %f1, 0f3F800347;
    st.global.f32 [%rd3], %f1;
    ret;
}
"""


def check(status):
    assert status == 0, f"the driver has answered {status}"


class Work:
    """A kernel, its memory, and how often it was launched and copied."""

    def __init__(self):
        device, context, module = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_void_p()
        check(CUDA.cuInit(0))
        check(CUDA.cuDeviceGet(ctypes.byref(device), 0))
        check(CUDA.cuDevicePrimaryCtxRetain(ctypes.byref(context), device))
        check(CUDA.cuCtxSetCurrent(context))
        check(CUDA.cuModuleLoadData(ctypes.byref(module), PTX))
        self.kernel, self.data = ctypes.c_void_p(), ctypes.c_uint64()
        check(CUDA.cuModuleGetFunction(ctypes.byref(self.kernel), module, b"scaled"))
        check(CUDA.cuMemAlloc_v2(ctypes.byref(self.data), ctypes.c_size_t(4 * COUNT)))
        self.host = (ctypes.c_float * COUNT)(*[1.0] * COUNT)
        self.parameters = (ctypes.c_void_p * 1)(ctypes.addressof(self.data))
        self.kernels = self.copies = 0
        check(CUDA.cuMemcpyHtoD_v2(self.data, self.host, ctypes.c_size_t(4 * COUNT)))
        self.copies += 1

    def launch(self, times=1):
        for _ in range(times):
            check(CUDA.cuLaunchKernel(self.kernel, COUNT // 256, 1, 1, 256, 1, 1, 0, None, self.parameters, None))
            self.kernels += 1

    def copy(self):
        """Waits for all kernels, too."""
        check(CUDA.cuMemcpyDtoH_v2(self.host, self.data, ctypes.c_size_t(4 * COUNT)))
        self.copies += 1

    def run(self, rounds, launches=100):
        for _ in range(rounds):
            self.launch(launches)
            self.copy()
        return self

    def say(self):
        print(f"DID kernels {self.kernels} copies {self.copies}", flush=True)
