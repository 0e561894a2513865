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

// Eight chains of v = v v + c in each thread, 256 steps a line over all chains.
template <typename T, typename Step>
__device__ void chains(unsigned lines, T *out, Step step, T start) {
  T v[8];
#pragma unroll
  for (int i = 0; i < 8; i++) v[i] = start;
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

extern "C" __global__ void fma_f32(unsigned lines, float *out, float c) {
  chains(lines, out, [=](float v) { return fmaf(v, v, c); }, c * 0.3f);
}

extern "C" __global__ void add_mul_f32(unsigned lines, float *out, float c) {
  chains(lines, out, [=](float v) { return __fadd_rn(__fmul_rn(v, v), c); }, c * 0.3f);
}

extern "C" __global__ void fma_f64(unsigned lines, double *out, double c) {
  chains(lines, out, [=](double v) { return fma(v, v, c); }, c * 0.3);
}

extern "C" __global__ void fma_f16x2(unsigned lines, __half2 *out, float c) {
  __half2 h = __float2half2_rn(c);
  chains(lines, out, [=](__half2 v) { return __hfma2(v, v, h); }, __float2half2_rn(c * 0.3f));
}

extern "C" __global__ void fma_bf16x2(unsigned lines, __nv_bfloat162 *out, float c) {
  __nv_bfloat162 h = __float2bfloat162_rn(c);
  chains(lines, out, [=](__nv_bfloat162 v) { return __hfma2(v, v, h); },
         __float2bfloat162_rn(c * 0.3f));
}

extern "C" __global__ void mad_i32(unsigned lines, unsigned *out, unsigned c) {
  chains(lines, out, [=](unsigned v) { return v * v + c; }, c);
}

extern "C" __global__ void exp2_f32(unsigned lines, float *out, float c) {
  chains(lines, out, [=](float v) { return exp2f(-v); }, c * -0.3f);
}
