// What sm_100a adds: tensor memory, pairs of f32, reductions of f32 over a warp, narrow floats.
#include <cuda_fp16.h>
#include <cuda_fp4.h>
#include <cuda_fp6.h>
#include <cuda_fp8.h>
#include <cstdint>

__global__ void narrow(__nv_fp4x2_e2m1 *a, __nv_fp6x2_e3m2 *b, __nv_fp6x2_e2m3 *c, __nv_fp8x2_e8m0 *e, float2 *f, float *x) {
    int i = threadIdx.x;
    a[i] = __nv_fp4x2_e2m1(f[i]);
    b[i] = __nv_fp6x2_e3m2(f[i]);
    c[i] = __nv_fp6x2_e2m3(f[i]);
    e[i] = __nv_fp8x2_e8m0(f[i]);
    f[i] = float2(a[i]);
    float r;
    asm volatile("redux.sync.max.abs.NaN.f32 %0, %1, -1;" : "=f"(r) : "f"(x[i]));
    asm volatile("max.NaN.f32 %0, %1, %2, 0f3F800000;" : "=f"(x[i + 1]) : "f"(r), "f"(x[i]));
    uint64_t p = *(uint64_t *)&f[i];
    asm volatile("fma.rn.ftz.f32x2 %0, %0, %1, %0; add.rn.f32x2 %0, %0, %1; mul.f32x2 %0, %0, %1;" : "+l"(p) : "l"(p));
    asm volatile("add.f32.f16 %0, %1, %0; sub.rz.sat.f32.bf16 %0, %1, %0; fma.rn.f32.f16 %0, %1, %1, %0;" : "+f"(r) : "h"((short)3));
    asm volatile("cvt.rs.f16x2.f32 %0, %1, %1, %2;" : "=r"(*(uint32_t *)x) : "f"(r), "r"(7));
    asm volatile("cvt.rs.satfinite.e4m3x4.f32 %0, {%1, %1, %1, %1}, %2;" : "=r"(*(uint32_t *)x) : "f"(r), "r"(7));
    asm volatile("ld.global.L2::evict_last.v8.b32 {%0, %1, %0, %1, %0, %1, %0, _}, [%2];" : "=r"(*(uint32_t *)x), "=r"(*(uint32_t *)f) : "l"(x));
    x[i] = r + p;
}

__global__ void tensor_memory(uint64_t a, uint64_t b, uint32_t *out) {
    __shared__ uint32_t at;
    __shared__ uint64_t bar;
    uint32_t s = (uint32_t)__cvta_generic_to_shared(&at), m = (uint32_t)__cvta_generic_to_shared(&bar), r[4];
    asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], 64; tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;" ::"r"(s));
    asm volatile("{.reg .pred p; setp.ne.b32 p, %3, 0; tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, p;}" ::"r"(at), "l"(a), "l"(b), "r"(4));
    asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(m));
    asm volatile("tcgen05.ld.sync.aligned.32x32b.x4.b32 {%0, %1, %2, %3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at));
    asm volatile("tcgen05.wait::ld.sync.aligned; tcgen05.fence::after_thread_sync; tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, 64;" ::"r"(at));
    asm volatile("ldmatrix.sync.aligned.m16n16.x2.trans.shared.b8 {%0, %1, %2, %3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(s));
    asm volatile("ldmatrix.sync.aligned.m8n16.x1.shared.b8x16.b6x16_p32 {%0}, [%1];" : "=r"(r[0]) : "r"(s));
    asm volatile("clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%0], [%1];" ::"r"(s), "r"(m));
    for (int k = 0; k < 4; k++) out[threadIdx.x * 4 + k] = r[k];
}
