// cuda::barrier, bulk copies, scoped atomics, hand-written wgmma and tensor copies (sm_90a).
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/ptx>
#include <cuda_fp16.h>
#include <cstdint>
namespace ptx = cuda::ptx;
using Barrier = cuda::barrier<cuda::thread_scope_block>;

__global__ void scoped(cuda::atomic<int, cuda::thread_scope_device> *a, cuda::atomic<unsigned long long, cuda::thread_scope_system> *b, cuda::atomic<float, cuda::thread_scope_block> *f, int *out) {
    out[0] = a->fetch_add(1, cuda::memory_order_acquire) + a->exchange(2, cuda::memory_order_release) + a->load(cuda::memory_order_seq_cst);
    int e = 3;
    while (!a->compare_exchange_weak(e, 4, cuda::memory_order_acq_rel)) {}
    a->store(5, cuda::memory_order_release);
    b->fetch_max(7);
    f->fetch_add(1.0f);
    cuda::atomic_thread_fence(cuda::memory_order_acq_rel, cuda::thread_scope_device);
    a->wait(3);
}

__global__ void staged(const int *global, int *out) {
    __shared__ alignas(128) int buffer[256];
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ Barrier barrier;
    if (threadIdx.x == 0) init(&barrier, blockDim.x);
    __syncthreads();
    Barrier::arrival_token token;
    if (threadIdx.x == 0) {
        cuda::memcpy_async(buffer, global, cuda::aligned_size_t<16>(sizeof(buffer)), barrier);
    }
    token = barrier.arrive();
    barrier.wait(std::move(token));
    out[threadIdx.x] = buffer[threadIdx.x ^ 1];
    barrier.arrive_and_drop();
}

struct alignas(64) Map { uint64_t words[16]; };
#if __CUDA_ARCH__ >= 900
__global__ void bulk(const float *global, float *out, const __grid_constant__ Map map, int x) {
    __shared__ alignas(128) float tile[32][32];
    __shared__ uint64_t bar;
    uint64_t token = 0;
    uint32_t parity = 0;
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&bar, 1);
        ptx::fence_proxy_async(ptx::space_shared);
        ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, tile, global, sizeof(tile), &bar);
        token = ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar, sizeof(tile));
        const int32_t c[2] = {x, 0};
        ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, tile, (const void *)&map, c, &bar);
        while (!ptx::mbarrier_try_wait(&bar, token)) {}
        while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, &bar, parity)) {}
        while (!ptx::mbarrier_test_wait(&bar, token)) {}
        ptx::cp_async_bulk_tensor(ptx::space_global, ptx::space_shared, (const void *)&map, c, tile);
        ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out, tile, 1024);
        ptx::cp_reduce_async_bulk(ptx::space_global, ptx::space_shared, ptx::op_add, (uint32_t *)out, (const uint32_t *)tile, 512);
        ptx::cp_reduce_async_bulk_tensor(ptx::space_global, ptx::space_shared, ptx::op_add, (const void *)&map, c, tile);
        ptx::cp_async_bulk_commit_group();
        ptx::cp_async_bulk_wait_group_read(ptx::n32_t<1>{});
        ptx::cp_async_bulk_wait_group(ptx::n32_t<0>{});
        asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"((unsigned)__cvta_generic_to_shared(&bar)));
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint [%0], [%1, {%2, %3}], [%4], %5, %6;" ::"r"((unsigned)__cvta_generic_to_shared(tile)), "l"(&map), "r"(x), "r"(0), "r"((unsigned)__cvta_generic_to_shared(&bar)), "h"((unsigned short)3), "l"(0x1234ull));
        asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%0], [%1, {%2, %2, %2, %2}], [%3], {%4, %4};" ::"r"((unsigned)__cvta_generic_to_shared(tile)), "l"(&map), "r"(x), "r"((unsigned)__cvta_generic_to_shared(&bar)), "h"((unsigned short)3));
    }
    ptx::barrier_cluster_arrive(ptx::sem_release);
    ptx::barrier_cluster_wait(ptx::sem_acquire);
    ptx::st_async(&((int *)tile)[1], 5, &bar);
    ptx::red_async(ptx::op_add, (unsigned *)tile, 5u, &bar);
    asm volatile("{.reg .pred p; elect.sync _|p, 0xffffffff; @p st.global.u32 [%0], 1; griddepcontrol.wait; griddepcontrol.launch_dependents; fence.proxy.async; fence.mbarrier_init.release.cluster;}" ::"l"(out));
}
#endif

#if __CUDA_ARCH_FEAT_SM90_ALL
__global__ void tensor_core(uint64_t a, uint64_t b, float *out) {
    float d[8];
    for (int k = 0; k < 8; k++) d[k] = 0;
    uint32_t r[4] = {1, 2, 3, 4};
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232; wgmma.fence.sync.aligned;");
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %10, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16 {%0, %1, %2, %3, %4, %5, %6, %7}, %8, %9, p, 1, -1, 0, 1;\n}"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]) : "l"(a), "l"(b), "r"(1));
    asm volatile("wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7}, {%8, %9, %10, %11}, %12, 1, 1, 1, 0;"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]) : "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "l"(b));
    asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;");
    for (int k = 0; k < 8; k++) out[threadIdx.x * 8 + k] = d[k];
}
#endif

#if __CUDA_ARCH__ >= 800
__global__ void mmas(uint32_t *x, float *f) {
    __shared__ alignas(16) half s[1024];
    unsigned p = (unsigned)__cvta_generic_to_shared(s + threadIdx.x * 8), r[8];
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(p));
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared::cta.b16 {%0, %1}, [%2+32];" : "=r"(r[4]), "=r"(r[5]) : "r"(p));
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" : "+f"(f[0]), "+f"(f[1]), "+f"(f[2]), "+f"(f[3]) : "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "r"(r[4]), "r"(r[5]));
    asm volatile("mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.u8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" : "+r"(x[0]), "+r"(x[1]), "+r"(x[2]), "+r"(x[3]) : "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "r"(r[4]), "r"(r[5]));
    asm volatile("mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9, %8, %9}, {%0, %1, %2, %3}, %4, 0x0;" : "+f"(f[0]), "+f"(f[1]), "+f"(f[2]), "+f"(f[3]) : "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "r"(r[4]), "r"(r[5]));
    asm volatile("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" : "+r"(x[0]), "+r"(x[1]), "+r"(x[2]), "+r"(x[3]) : "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "r"(r[4]), "r"(r[5]));
    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(x[5]) : "r"(r[0]));
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2; cp.async.ca.shared.global.L2::cache_hint [%0], [%1], 4, %3; cp.async.mbarrier.arrive.noinc.shared.b64 [%0]; cp.async.commit_group; cp.async.wait_group 1; cp.async.wait_all;" ::"r"(p), "l"(x), "r"(8), "l"(7ull));
}
#endif
