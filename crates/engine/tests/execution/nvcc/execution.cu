// What ../nvcc.rs runs. Compiled by
//   nvcc -ptx -arch=sm_90 -lineinfo -o execution.ptx execution.cu
#include <assert.h>
#include <stdio.h>

// Lanes go round their loops in different numbers.
extern "C" __global__ void collatz(const unsigned* n, unsigned* steps, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    unsigned x = n[i], taken = 0;
    while (x != 1) {
        x = x % 2 ? 3 * x + 1 : x / 2;
        taken++;
    }
    steps[i] = taken;
}

extern "C" __global__ void block_sum(const float* x, float* sums, int count) {
    __shared__ float part[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    part[threadIdx.x] = i < count ? x[i] : 0;
    __syncthreads();
    for (int half = blockDim.x / 2; half >= 32; half /= 2) {
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x >= 32) return;
    float sum = part[threadIdx.x];
    for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_down_sync(~0u, sum, distance);
    if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

// A warp that has ended does not hold a barrier up.
extern "C" __global__ void early_exit(int* out) {
    if (threadIdx.x / 32 == 1) return;
    __syncthreads();
    out[threadIdx.x] = __syncthreads_count(threadIdx.x % 3 == 0);
}

__device__ __noinline__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

extern "C" __global__ void recursion(const int* n, int* out) { out[threadIdx.x] = fibonacci(n[threadIdx.x]); }

struct Pair { double a; short b; char c; };
__device__ __noinline__ Pair twice(Pair p, float f) { return {p.a * 2 + f, short(p.b * 2), char(p.c * 2)}; }

extern "C" __global__ void structs(Pair p, Pair* out) {
    Pair q = twice(p, float(threadIdx.x));
    out[threadIdx.x] = twice(q, 0.5f);
}

typedef int (*Function)(int);
__device__ int half_of(int x) { return x / 2; }
__device__ int square_of(int x) { return x * x; }
__device__ int negative_of(int x) { return -x; }
__device__ Function table[3] = {half_of, square_of, negative_of};

extern "C" __global__ void indirect(const int* which, int* out) {
    out[threadIdx.x] = table[which[threadIdx.x]](int(threadIdx.x) + 10);
}

extern "C" __global__ void jump_table(const int* which, int* out) {
    int x = threadIdx.x;
    switch (which[x]) {
        case 0: x += 7; break;
        case 1: x *= 5; break;
        case 2: x -= 3; break;
        case 3: x ^= 0x55; break;
        case 4: x <<= 2; break;
        case 5: x = ~x; break;
        case 6: x |= 0x100; break;
        default: x = -1;
    }
    out[threadIdx.x] = x;
}

extern "C" __global__ void local_array(const int* index, int* out) {
    int values[16];
    for (int i = 0; i < 16; i++) values[i] = i * i + int(threadIdx.x);
    values[index[threadIdx.x]] += 1000;
    out[threadIdx.x] = values[index[threadIdx.x + 1] & 15] + values[3];
}

__constant__ float weights[4] = {0.5f, 1.5f, -2.0f, 4.0f};
__device__ int counter = 5;

extern "C" __global__ void globals(float* out) {
    out[threadIdx.x] = weights[threadIdx.x % 4] + float(atomicAdd(&counter, 1) >= 5);
}

extern "C" __global__ void say(const char* name) {
    if (threadIdx.x == 1) printf("%s %d %5.2f|%-4u|%#x %c %lld%%\n", name, -3, 2.5, 7u, 255, 'z', 1ll << 40);
}

extern "C" __global__ void asserts(int limit) { assert(int(threadIdx.x) < limit); }

extern "C" __global__ void heap(int* out) {
    int* mine = (int*)malloc(4 * 8);
    for (int i = 0; i < 8; i++) mine[i] = i * threadIdx.x;
    int sum = 0;
    for (int i = 0; i < 8; i++) sum += mine[i];
    free(mine);
    out[threadIdx.x] = sum;
}

// A lane waits for another of its warp.
extern "C" __global__ void own_warp(volatile int* flag, int* out) {
    if (threadIdx.x == 0) {
        while (*flag == 0) {}
        out[0] = *flag;
    } else if (threadIdx.x == 31) {
        *flag = 42;
    }
}

// Each block waits for the next one.
extern "C" __global__ void chain(int* flags) {
    if (threadIdx.x == 0) {
        if (blockIdx.x + 1 < gridDim.x)
            while (atomicAdd(&flags[blockIdx.x + 1], 0) == 0) {}
        __threadfence();
        atomicExch(&flags[blockIdx.x], flags[blockIdx.x + 1] + 1);
    }
}

extern "C" __global__ void warp_words(const unsigned* x, unsigned* out) {
    unsigned lane = threadIdx.x, v = x[lane];
    unsigned ballot = __ballot_sync(~0u, v & 1);
    unsigned same = __match_any_sync(~0u, v % 5);
    unsigned sum = __reduce_add_sync(0xffffu << (lane & 16), v);
    unsigned other = __shfl_xor_sync(~0u, v, 5);
    unsigned in_eights = __shfl_sync(~0u, v, 3, 8);
    out[lane] = ballot ^ same ^ sum ^ other ^ in_eights ^ unsigned(__all_sync(~0u, v < 1000)) ^ __activemask();
}

// Two shuffles of one mask at two places meet.
extern "C" __global__ void two_places(int* out) {
    int lane = threadIdx.x, got;
    if (lane < 16) got = __shfl_sync(~0u, lane * 2, lane + 16);
    else got = __shfl_sync(~0u, lane * 3, lane - 16);
    out[lane] = got;
}

extern "C" __global__ void vectors(const float4* x, float4* y, const short2* a, short2* b, const char4* c, int* d) {
    int i = threadIdx.x;
    float4 v = x[i];
    y[i] = make_float4(v.w, v.z, v.y, v.x);
    short2 s = a[i];
    b[i] = make_short2(s.y, short(-s.x));
    char4 q = c[i];
    d[i] = q.x + q.y * 2 + q.z * 3 + q.w * 4;
}

extern "C" __global__ void out_of_bounds(const int* x, int* y, int at) { y[threadIdx.x] = x[threadIdx.x + at]; }

extern "C" __global__ void never(volatile int* flag) { while (*flag == 0) {} }

extern "C" __global__ void stuck() { if (threadIdx.x < 32) __syncwarp(); else asm volatile("bar.sync 1, 96;"); }

extern __shared__ double dynamic[];
extern "C" __global__ void reversed(const double* x, double* y) {
    dynamic[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = dynamic[blockDim.x - 1 - threadIdx.x];
}

extern "C" __global__ void carries(const unsigned* a, const unsigned* b, unsigned* sum) {
    unsigned s[4];
    const unsigned *x = a + 4 * threadIdx.x, *y = b + 4 * threadIdx.x;
    asm("add.cc.u32 %0, %4, %8; addc.cc.u32 %1, %5, %9; addc.cc.u32 %2, %6, %10; addc.u32 %3, %7, %11;"
        : "=r"(s[0]), "=r"(s[1]), "=r"(s[2]), "=r"(s[3])
        : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]), "r"(y[2]), "r"(y[3]));
    for (int i = 0; i < 4; i++) sum[4 * threadIdx.x + i] = s[i];
}
