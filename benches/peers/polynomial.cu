// The roofline exercise's polynomial in CUDA C++, four elements a thread: what nvcc makes of the
// work that kernels-gpu/src/polynomial.rs does. y = x + x^2 + ... + x^k; n is a multiple of 4.

extern "C" __global__ void power_sum_f32_v4(const float4 *x, float4 *y, unsigned k, size_t n) {
  size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  if (i >= n / 4) return;
  float4 v = x[i], p = v, r = {0, 0, 0, 0};
#pragma unroll 32
  for (unsigned j = 0; j < k; j++) {
    r.x += p.x; r.y += p.y; r.z += p.z; r.w += p.w;
    p.x *= v.x; p.y *= v.y; p.z *= v.z; p.w *= v.w;
  }
  y[i] = r;
}

extern "C" __global__ void horner_f32_v4(const float4 *x, float4 *y, unsigned k, size_t n) {
  size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  if (i >= n / 4) return;
  float4 v = x[i], r = {0, 0, 0, 0};
#pragma unroll 32
  for (unsigned j = 0; j < k; j++) {
    r.x = fmaf(r.x, v.x, v.x); r.y = fmaf(r.y, v.y, v.y);
    r.z = fmaf(r.z, v.z, v.z); r.w = fmaf(r.w, v.w, v.w);
  }
  y[i] = r;
}
