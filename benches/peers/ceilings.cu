// What `ridgepoint ceilings` measures, in CUDA C++: nvcc's peers of kernels-gpu/src/ceilings.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

// One vector of 16 bytes a thread.
extern "C" __global__ void copy(const float4 *x, float4 *y) {
  size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  y[i] = x[i];
}

extern "C" __global__ void scale(const float4 *x, float4 *y, float a) {
  size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  float4 v = x[i];
  y[i] = make_float4(a * v.x, a * v.y, a * v.z, a * v.w);
}

extern "C" __global__ void triad(const float4 *x, const float4 *z, float4 *y, float a) {
  size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  float4 v = x[i], w = z[i];
  y[i] = make_float4(fmaf(a, w.x, v.x), fmaf(a, w.y, v.y), fmaf(a, w.z, v.z), fmaf(a, w.w, v.w));
}

extern "C" __global__ void write(float4 *y) {
  size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  float v = (float)i;
  y[i] = make_float4(v, v, v, v);
}

// Eight chains of v = v v + c in each thread, 256 steps a line over all chains. Each chain of each of
// eight neighbouring threads has a start of its own, as in Rust: of chains that are alike in a warp
// `ptxas` computes some once for all lanes, in the uniform datapath, and values that are alike take
// less power.
template <typename T, typename Start, typename Step>
__device__ void chains(unsigned lines, T *out, Start start, Step step) {
  T v[8];
#pragma unroll
  for (int i = 0; i < 8; i++) v[i] = start(threadIdx.x % 8 * 8 + i);
  for (unsigned line = 0; line < lines; line++)
#pragma unroll
    for (int j = 0; j < 32; j++)
#pragma unroll
      for (int i = 0; i < 8; i++) v[i] = step(v[i]);
  T sum = v[0];
#pragma unroll
  for (int i = 1; i < 8; i++) sum = sum + v[i];
  out[blockIdx.x * (size_t)blockDim.x + threadIdx.x] = sum;
}

__device__ float half_to_one(unsigned i) { return 0.5f + i / 256.0f; }

extern "C" __global__ void fma_f32(unsigned lines, float *out, float c) {
  chains(lines, out, half_to_one, [=](float v) { return fmaf(v, v, c); });
}

extern "C" __global__ void add_mul_f32(unsigned lines, float *out, float c) {
  chains(lines, out, half_to_one, [=](float v) { return __fadd_rn(__fmul_rn(v, v), c); });
}

extern "C" __global__ void fma_f64(unsigned lines, double *out, double c) {
  chains(lines, out, [](unsigned i) { return (double)half_to_one(i); },
         [=](double v) { return fma(v, v, c); });
}

// The constant comes in both halves of a register: made from one half, it is an operand that only one
// of the two pipes takes, and the rate is half of what it can be.
extern "C" __global__ void fma_f16x2(unsigned lines, __half2 *out, __half2 c) {
  chains(lines, out, [](unsigned i) { return __float2half2_rn(half_to_one(i)); },
         [=](__half2 v) { return __hfma2(v, v, c); });
}

extern "C" __global__ void add_mul_f16x2(unsigned lines, __half2 *out, __half2 c) {
  chains(lines, out, [](unsigned i) { return __float2half2_rn(half_to_one(i)); },
         [=](__half2 v) { return __hadd2_rn(__hmul2_rn(v, v), c); });
}

extern "C" __global__ void fma_bf16x2(unsigned lines, __nv_bfloat162 *out, __nv_bfloat162 c) {
  chains(lines, out, [](unsigned i) { return __float2bfloat162_rn(half_to_one(i)); },
         [=](__nv_bfloat162 v) { return __hfma2(v, v, c); });
}

extern "C" __global__ void mad_i32(unsigned lines, unsigned *out, unsigned c) {
  chains(lines, out, [](unsigned i) { return i; }, [=](unsigned v) { return v * v + c; });
}

// Without `exp2f`'s care for subnormal numbers, as in Rust.
extern "C" __global__ void exp2_f32(unsigned lines, float *out) {
  chains(lines, out, half_to_one, [](float v) {
    float power;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(-v));
    return power;
  });
}

// The same words again and again: each block reads a chunk in each pass, its own with a shift of 0, and
// with a shift of 1 one that another block has read before.
extern "C" __global__ void read_again(const uint4 *x, size_t len, unsigned passes, unsigned shift,
                                      unsigned *sums) {
  constexpr int UNROLL = 8;
  size_t chunk = len / gridDim.x;
  unsigned sum[UNROLL] = {};
  unsigned block = blockIdx.x;
  for (unsigned pass = 0; pass < passes; pass++) {
    size_t first = block * chunk + threadIdx.x;
    for (size_t step = 0; step < chunk; step += UNROLL * blockDim.x)
#pragma unroll
      for (int j = 0; j < UNROLL; j++) {
        uint4 words = x[first + step + j * blockDim.x];
        sum[j] += words.x + words.y + words.z + words.w;
      }
    block = (block + shift) % gridDim.x;
  }
  unsigned total = 0;
#pragma unroll
  for (int j = 0; j < UNROLL; j++) total += sum[j];
  sums[blockIdx.x * (size_t)blockDim.x + threadIdx.x] = total;
}

// Shared memory in vectors without bank conflicts.
extern "C" __global__ void read_shared(unsigned passes, unsigned *sums) {
  constexpr unsigned VECTORS = 2048, UNROLL = 8, PART = VECTORS / UNROLL;
  __shared__ uint4 words[VECTORS];
  for (unsigned i = threadIdx.x; i < VECTORS; i += blockDim.x)
    words[i] = make_uint4(i, i ^ 0x5555, i * 0x9E3779B1, ~i);
  __syncthreads();
  unsigned sum[UNROLL] = {};
  unsigned first = threadIdx.x;
  for (unsigned pass = 0; pass < passes; pass++) {
#pragma unroll
    for (unsigned j = 0; j < UNROLL; j++) {
      uint4 v = words[first % PART + j * PART];
      sum[j] += v.x + v.y + v.z + v.w;
    }
    first += blockDim.x;
  }
  unsigned total = 0;
#pragma unroll
  for (unsigned j = 0; j < UNROLL; j++) total += sum[j];
  sums[blockIdx.x * (size_t)blockDim.x + threadIdx.x] = total;
}

// Loads of which each needs the one before. Writes the cycles, and goes on from `out[1]`.
__device__ void follow(const unsigned *next, unsigned steps, unsigned long long *out) {
  unsigned at = (unsigned)out[1];
  long long ticks = clock64();
#pragma unroll 8
  for (unsigned i = 0; i < steps; i++) at = next[at];
  out[1] = at;
  out[0] = clock64() - ticks;
}

extern "C" __global__ void chase(const unsigned *next, unsigned steps, unsigned long long *out) {
  follow(next, steps, out);
}

extern "C" __global__ void chase_shared(const unsigned *next, unsigned steps,
                                        unsigned long long *out) {
  __shared__ unsigned elements[4096];
  for (unsigned i = 0; i < 4096; i++) elements[i] = next[i];
  follow(elements, steps, out);
}

// One chain: what a step takes that waits for the one before. Writes the cycles, and goes on from the
// chain's last value.
template <typename T, typename Step>
__device__ void chain(unsigned lines, T *value, unsigned long long *out, Step step) {
  T v = *value;
  long long ticks = clock64();
  for (unsigned line = 0; line < lines; line++)
#pragma unroll
    for (int j = 0; j < 256; j++) v = step(v);
  *value = v;
  *out = clock64() - ticks;
}

extern "C" __global__ void chain_f32(unsigned lines, float *value, unsigned long long *out, float c) {
  chain(lines, value, out, [=](float v) { return fmaf(v, v, c); });
}

extern "C" __global__ void chain_f64(unsigned lines, double *value, unsigned long long *out,
                                     double c) {
  chain(lines, value, out, [=](double v) { return fma(v, v, c); });
}

extern "C" __global__ void chain_f16x2(unsigned lines, __half2 *value, unsigned long long *out,
                                       __half2 c) {
  chain(lines, value, out, [=](__half2 v) { return __hfma2(v, v, c); });
}
