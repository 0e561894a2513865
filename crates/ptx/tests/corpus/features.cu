// Kernels that make nvcc write many kinds of PTX.
#include <cassert>
#include <cstdio>
#include <cooperative_groups.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_pipeline.h>
#include <mma.h>
namespace cg = cooperative_groups;

__constant__ float table[4] = {1.0f, -2.5f, 3e10f, 0.1f};
__device__ int counter = 7;
__device__ double doubles[3] = {1.0, 2.0, -0.0};
__managed__ int managed_value = 3;
struct Pair { int first; float second; char tail[5]; };
__device__ Pair pairs[2] = {{1, 2.0f, "ab"}, {3, 4.0f, {1, 2, 3, 4, 5}}};
__device__ int *pointer_to_counter = &counter;
__device__ const char *strings[2] = {"one", "two"};
__device__ unsigned char grid8[2][3] = {{1, 2, 3}, {4, 5, 6}};

typedef int (*Function)(int);
__device__ __noinline__ int twice(int x) { return x * 2; }
__device__ __noinline__ int thrice(int x) { return x * 3; }
__device__ Function functions[2] = {twice, thrice};
__device__ __noinline__ int factorial(int n) { return n <= 1 ? 1 : n * factorial(n - 1); }
__device__ __noinline__ Pair make(Pair p, int n) { p.first += n; p.tail[0] = n; return p; }

struct Shape { virtual __device__ float area() const = 0; };
struct Square : Shape { float a; __device__ Square(float a) : a(a) {} __device__ float area() const override { return a * a; } };
struct Circle : Shape { float r; __device__ Circle(float r) : r(r) {} __device__ float area() const override { return 3.14159f * r * r; } };

__global__ void calls(int *out, int n, Pair p) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    Function f = functions[i & 1];
    out[i] = f(i) + factorial(n) + make(p, n).first;
    Square square(2.0f);
    Circle circle(3.0f);
    const Shape *shape = (i & 2) ? (const Shape *)&square : (const Shape *)&circle;
    out[i] += (int)shape->area();
    printf("%d %s %f\n", i, strings[i & 1], (double)pairs[i & 1].second);
    assert(out[i] != 13);
    int *heap = (int *)malloc(16 * n);
    if (heap) { heap[0] = i; out[i] += heap[0]; free(heap); }
}

__global__ void switches(int *out, int k) {
    int i = threadIdx.x, r;
    switch (k + i) {
    case 0: r = __popc(i); break;
    case 1: r = __clz(i) + __ffs(i); break;
    case 2: r = __brev(i); break;
    case 3: r = i / k; break;
    case 4: r = i % k; break;
    case 5: r = __byte_perm(i, k, 0x3210); break;
    case 6: r = __funnelshift_l(i, k, 3); break;
    case 7: r = __mulhi(i, k); break;
    case 8: r = __umul24(i, k) + __mul24(i, k); break;
    case 9: r = __sad(i, k, 3) + __usad(i, k, 3); break;
    case 10: r = __dp4a(i, k, 3) + __dp2a_lo(i, k, 3); break;
    default: r = __vadd2(i, k) + __vabsdiffu4(i, k) + __vmaxs2(i, k); break;
    }
    out[i] = r;
}

template <typename T> __global__ void floats(T *x, T y) {
    int i = threadIdx.x;
    T v = x[i];
    v = sqrt(v) + sin(v) * cos(y) + exp(v) / y + log(v) + pow(v, y) + tanh(v) + fmod(v, y) + fmin(v, y) + fmax(v, (T)1) + floor(v) + ceil(v) + rint(v) + trunc(v) + rsqrt(v) + copysign(v, y) + (isnan(v) ? (T)1 : (T)0) + fma(v, y, v) + erf(v);
    x[i] = v;
}
template __global__ void floats<float>(float *, float);
template __global__ void floats<double>(double *, double);

__global__ void intrinsics(float *x, double *d, int *k, unsigned long long *u) {
    int i = threadIdx.x;
    x[i] = __fadd_rn(x[i], 1.f) + __fadd_rz(x[i], 2.f) + __fmul_ru(x[i], 3.f) + __fmaf_rd(x[i], 4.f, 5.f) + __fdividef(x[i], 3.f) + __frcp_rn(x[i]) + __fsqrt_rz(x[i]) + __sinf(x[i]) + __expf(x[i]) + __log2f(x[i]) + __saturatef(x[i]);
    d[i] = __dadd_rd(d[i], 1.0) + __dmul_ru(d[i], 2.0) + __fma_rz(d[i], 3.0, 4.0) + __ddiv_rn(d[i], 3.0) + __drcp_rn(d[i]) + __dsqrt_rn(d[i]);
    k[i] = __float2int_rn(x[i]) + __float2int_rz(x[i]) + __float2uint_ru(x[i]) + __double2int_rd(d[i]) + __float_as_int(x[i]) + (int)(short)k[i] + (signed char)k[i];
    u[i] = __double2ull_rn(d[i]) + __double_as_longlong(d[i]) + __umul64hi(u[i], 3) + __brevll(u[i]) + __popcll(u[i]) + __clzll(u[i]) + clock64() + clock();
    __int128 wide = (__int128)(long long)u[i] * k[i] + 5;
    u[i] += (unsigned long long)(wide >> 64) ^ (unsigned long long)wide;
}

__global__ void halves(__half *h, __half2 *h2, __nv_bfloat16 *b, __nv_bfloat162 *b2, float *f) {
    int i = threadIdx.x;
    h[i] = __hadd(h[i], __float2half(1.f)) * h[i] - __hfma(h[i], h[i], h[i]) + hsqrt(h[i]) + hexp2(h[i]) + __hmax(h[i], h[0]) + __habs(h[i]) + __hadd_sat(h[i], h[1]) + __hmin_nan(h[i], h[2]);
    h2[i] = __hadd2(h2[i], h2[0]) * h2[i] + __hfma2_relu(h2[i], h2[1], h2[2]) + h2sqrt(h2[i]) + __hmax2(h2[i], h2[3]) + __heq2(h2[i], h2[4]) + h2tanh(h2[i]);
#if __CUDA_ARCH__ >= 800
    b[i] = b[i] * b[0] + __hfma(b[i], b[1], b[2]) + __hmax(b[i], b[1]) + hexp2(b[i]) - __float2bfloat16_rz(f[i]);
    b2[i] = b2[i] * b2[0] + __hfma2(b2[i], b2[1], b2[2]) + __floats2bfloat162_rn(f[i], f[0]) + __hneg2(b2[3]);
#endif
    if (__hgt(h[i], h[0]) || __hbne2(h2[i], h2[0])) f[i] = __half2float(h[i]) + __bfloat162float(b[i]) + __low2float(h2[i]) + __half2int_rn(h[i]) + __half2short_rz(h[i]);
    h[i] += __int2half_rn(i) + __ushort2half_ru(i);
    atomicAdd(&h2[0], h2[i]);
    atomicAdd(&h[0], h[i]);
    atomicAdd(&b2[0], b2[i]);
    atomicAdd(&b[0], b[i]);
}

__global__ void fp8(__nv_fp8_e4m3 *a, __nv_fp8_e5m2 *b, __nv_fp8x2_e4m3 *a2, float *f, float2 *f2, __half *h) {
    int i = threadIdx.x;
    f[i] = float(a[i]) + float(b[i]);
    a[i] = __nv_fp8_e4m3(f[i]);
    b[i] = __nv_fp8_e5m2(h[i]);
    f2[i] = float2(a2[i]);
    a2[i] = __nv_fp8x2_e4m3(f2[i]);
}

__global__ void warps(int *x, unsigned *m, unsigned long long *w) {
    int i = threadIdx.x, v = x[i];
    v += __shfl_sync(~0u, v, 3) + __shfl_up_sync(~0u, v, 1) + __shfl_down_sync(~0u, v, 2, 16) + __shfl_xor_sync(~0u, v, 4);
    m[i] = __ballot_sync(~0u, v > 0) + __all_sync(~0u, v) + __any_sync(~0u, v) + __activemask() + __match_any_sync(~0u, v);
    int p;
    m[i] += __match_all_sync(~0u, w[i], &p) + p;
#if __CUDA_ARCH__ >= 800
    m[i] += __reduce_add_sync(~0u, m[i]) + __reduce_min_sync(~0u, v) + __reduce_xor_sync(~0u, m[i]);
#endif
    __syncwarp();
    m[i] += __syncthreads_count(v) + __syncthreads_and(v) + __syncthreads_or(v);
    m[i] += __fns(m[i], 0, 3);
    __nanosleep(100);
    x[i] = v;
}

__global__ void memory(float4 *v, const float *__restrict__ ro, double2 *d, short4 *s, volatile int *vol, float *out) {
    extern __shared__ float dynamic[];
    __shared__ float fixed[2][64];
    __shared__ double both;
    int i = threadIdx.x;
    float4 a = v[i];
    dynamic[i] = a.x; fixed[i & 1][i] = a.y;
    if (i == 0) both = d[0].x;
    __syncthreads();
    float local[20];
    for (int k = 0; k < 20; k++) local[k] = ro[i * k];
    local[i % 20] = __ldg(ro + i) + __ldcg(ro + i) + __ldcs(ro + i) + __ldlu((float *)ro + i) + __ldcv(ro + i);
    out[i] = dynamic[i ^ 1] + fixed[1][63 - i] + local[(i * 7) % 20] + (float)both + table[i & 3] + (float)doubles[i % 3] + vol[i];
    vol[i] = i;
    __stcg(out + i, 1.f); __stwt(out + i, 2.f); __stcs(out + i, 3.f);
    v[i] = make_float4(a.w, a.z, a.y, a.x);
    s[i] = make_short4(s[i].w, 1, 2, 3);
    __threadfence(); __threadfence_block(); __threadfence_system();
    out[i] += grid8[i & 1][i % 3] + *pointer_to_counter + managed_value + __isGlobal(out) + __isShared(dynamic) + (size_t)__cvta_generic_to_shared(dynamic);
}

__global__ void atomics(int *x, unsigned *u, unsigned long long *l, float *f, double *d, short *h) {
    int i = threadIdx.x;
    __shared__ int s;
    atomicAdd(&s, i);
    x[i] = atomicAdd(x, 1) + atomicSub(x, 2) + atomicMin(x, 3) + atomicMax(x, 4) + atomicAnd(x, 5) + atomicOr(x, 6) + atomicXor(x, 7) + atomicExch(x, 8) + atomicCAS(x, 9, 10);
    u[i] = atomicInc(u, 5) + atomicDec(u, 6) + atomicAdd_block(u, 1) + atomicMax_system(u, 1);
    l[i] = atomicAdd(l, 1ull) + atomicMax(l, 3ull) + atomicCAS(l, 1ull, 2ull);
    f[i] = atomicAdd(f, 1.f) + atomicExch(f, 2.f);
    d[i] = atomicAdd(d, 1.0);
    h[i] = atomicCAS((unsigned short *)h, (unsigned short)1, (unsigned short)2);
    atomicAdd(f + 1, 2.f);
    __nv_atomic_store_n(u + 3, 1u, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);
    u[5] = __nv_atomic_load_n(u + 4, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_SYSTEM) + __nv_atomic_fetch_add(u + 6, 2u, __NV_ATOMIC_ACQ_REL, __NV_THREAD_SCOPE_BLOCK);
    __nv_atomic_thread_fence(__NV_ATOMIC_SEQ_CST, __NV_THREAD_SCOPE_DEVICE);
}

__global__ void groups(int *x) {
    cg::thread_block block = cg::this_thread_block();
    auto tile = cg::tiled_partition<16>(block);
    int v = x[block.thread_rank()];
    for (int o = 8; o; o /= 2) v += tile.shfl_down(v, o);
    tile.sync();
    auto active = cg::coalesced_threads();
    v += active.size() + tile.ballot(v) + active.thread_rank();
    cg::grid_group grid = cg::this_grid();
    grid.sync();
    x[grid.thread_rank()] = v;
}

#if __CUDA_ARCH__ >= 900
__global__ void __cluster_dims__(2, 1, 1) clusters(int *x) {
    __shared__ int s[32];
    auto cluster = cg::this_cluster();
    s[threadIdx.x] = x[threadIdx.x];
    cluster.sync();
    int *remote = cluster.map_shared_rank(s, cluster.block_rank() ^ 1);
    x[threadIdx.x] = remote[threadIdx.x] + cluster.num_blocks();
    cluster.sync();
}
#endif

#if __CUDA_ARCH__ >= 800
__global__ void pipeline(float4 *x) {
    __shared__ float4 s[64];
    __pipeline_memcpy_async(&s[threadIdx.x], x + threadIdx.x, 16);
    __pipeline_memcpy_async((float *)&s[32], (float *)x + threadIdx.x, 4, 2);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    x[threadIdx.x] = s[63 - threadIdx.x];
}
#endif

__global__ void matrices(const half *a, const half *b, float *c, const signed char *ia, const signed char *ib, int *ic) {
    using namespace nvcuda::wmma;
    fragment<matrix_a, 16, 16, 16, half, row_major> fa;
    fragment<matrix_b, 16, 16, 16, half, col_major> fb;
    fragment<accumulator, 16, 16, 16, float> fc;
    fill_fragment(fc, 0.f);
    load_matrix_sync(fa, a, 16);
    load_matrix_sync(fb, b, 16);
    mma_sync(fc, fa, fb, fc);
    store_matrix_sync(c, fc, 16, mem_row_major);
    fragment<matrix_a, 16, 16, 16, signed char, row_major> ga;
    fragment<matrix_b, 16, 16, 16, signed char, col_major> gb;
    fragment<accumulator, 16, 16, 16, int> gc;
    fill_fragment(gc, 0);
    load_matrix_sync(ga, ia, 16);
    load_matrix_sync(gb, ib, 16);
    mma_sync(gc, ga, gb, gc);
    store_matrix_sync(ic, gc, 16, mem_col_major);
}

__global__ void textures(cudaTextureObject_t t, cudaSurfaceObject_t s, float *out) {
    int i = threadIdx.x;
    float4 v = tex2D<float4>(t, i * 0.5f, 1.f);
    out[i] = v.x + tex1Dfetch<float>(t, i) + tex3D<float>(t, 1.f, 2.f, 3.f) + tex2DLod<float>(t, 1.f, 2.f, 3.f) + tex2Dgather<float4>(t, 1.f, 2.f).y;
    surf2Dwrite(v, s, i * 16, 2);
    surf2Dread(&v, s, i * 16, 2);
    out[i] += v.w;
}

__global__ void __launch_bounds__(256, 2) assembly(unsigned *x, unsigned long long *y) {
    unsigned i = threadIdx.x, r, carry;
    asm volatile("{\n\t.reg .pred p, q;\n\t.reg .b32 t<3>;\n\tsetp.lt.and.u32 p|q, %1, 5, !p;\n\t@p add.u32 t1, %1, 1;\n\t@!p mov.u32 t1, 0x10U;\n\tselp.u32 %0, t1, 3, q;\n\tbra DONE;\nDONE: // a label\n\t}" : "=r"(r) : "r"(i));
    asm("add.cc.u32 %0, %2, %3; addc.u32 %1, 0, 0;" : "=r"(r), "=r"(carry) : "r"(r), "r"(i));
    asm("lop3.b32 %0, %1, %2, %3, 0xCA;" : "=r"(r) : "r"(r), "r"(i), "r"(carry));
    asm("{ .reg .b16 lo, hi; mov.b32 {lo, hi}, %1; mov.b32 %0, {hi, lo}; }" : "=r"(r) : "r"(r));
    asm("bfe.u32 %0, %1, 4, 8; bfi.b32 %0, %0, %1, 8, 4; bfind.shiftamt.u32 %0, %0; szext.wrap.s32 %0, %0, 5; bmsk.clamp.b32 %0, %0, 3;" : "+r"(r) : "r"(i));
    asm volatile("prefetch.global.L2 [%0]; prefetchu.L1 [%0]; ld.relaxed.gpu.global.u32 %1, [%0+4]; st.release.sys.global.u32 [%0], %1;" ::"l"(x), "r"(r) : "memory");
    asm volatile("bar.sync 1, 64; bar.arrive 2, 64; barrier.sync 3;" ::: "memory");
    asm volatile("mov.u32 %0, %%laneid; mov.u64 %1, %%globaltimer; mov.u32 %0, %%lanemask_lt;" : "=r"(r), "=l"(y[0]));
    x[i] = r;
}
