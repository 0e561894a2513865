// The kernels of examples/kernels/src/plain.rs as CUDA C++ has them: the same algorithms, launched alike.
// plain.ptx is made of them by
//     nvcc -ptx -arch=compute_80 plain.cu -o plain.ptx

typedef unsigned long long u64;
typedef unsigned __int128 u128;

#define EACH(i, n) \
  for (u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x; i < n; i += gridDim.x * (u64)blockDim.x)

struct Weights {
  float w[25];
};

extern "C" __global__ void stencil_safe(const float *x, float *y, unsigned n_) {
  u64 n = n_, at = blockIdx.x * (u64)blockDim.x + threadIdx.x;
  if (at >= n * n * n) return;
  u64 i = at % n, j = at / n % n, k = at / (n * n);
  if (i > 0 && i + 1 < n && j > 0 && j + 1 < n && k > 0 && k + 1 < n)
    y[at] = 0.4f * x[at] +
            0.1f * (x[at - 1] + x[at + 1] + x[at - n] + x[at + n] + x[at - n * n] + x[at + n * n]);
  else
    y[at] = x[at];
}

__device__ float cnd(float d) {
  float k = 1 / (1 + 0.2316419f * fabsf(d));
  float c = 0.3989423f * expf(-0.5f * d * d) *
            (k * (0.31938153f + k * (-0.35656378f + k * (1.781478f + k * (-1.821256f + k * 1.3302744f)))));
  return d > 0 ? 1 - c : c;
}

extern "C" __global__ void black_scholes(const float *s, const float *x, const float *t, float *call, float r, float v,
                                         u64 n) {
  EACH(i, n) {
    float root = sqrtf(t[i]), d1 = (logf(s[i] / x[i]) + (r + 0.5f * v * v) * t[i]) / (v * root), d2 = d1 - v * root;
    call[i] = s[i] * cnd(d1) - x[i] * expf(-r * t[i]) * cnd(d2);
  }
}

extern "C" __global__ void conv5(const float *x, float *y, Weights w, unsigned n_) {
  u64 n = n_, at = blockIdx.x * (u64)blockDim.x + threadIdx.x;
  if (at >= n * n) return;
  u64 i = at % n, j = at / n;
  float sum = 0;
#pragma unroll
  for (int b = 0; b < 5; ++b)
#pragma unroll
    for (int a = 0; a < 5; ++a) {
      u64 u = i + a, v = j + b;
      if (u >= 2 && u < n + 2 && v >= 2 && v < n + 2) sum += w.w[b * 5 + a] * x[(v - 2) * n + u - 2];
    }
  y[at] = sum;
}

extern "C" __global__ void power_mod(const u64 *x, u64 *y, unsigned e, u64 m, u64 n) {
  EACH(i, n) {
    u64 base = x[i] % m, product = 1;
    for (unsigned rest = e; rest > 0; rest >>= 1) {
      if (rest & 1) product = (u64)((u128)product * base % m);
      base = (u64)((u128)base * base % m);
    }
    y[i] = product;
  }
}

// In one parameter, as the bench's tuple of arguments ends here.
struct Step {
  float dt;
  unsigned n;
};

extern "C" __global__ void particles(const float *px, const float *py, const float *pz, const float *vx,
                                     const float *vy, const float *vz, const float *mass, const float *charge,
                                     float *ox, float *oy, float *oz, Step step) {
  float dt = step.dt;
  EACH(i, step.n) {
    float x = px[i], y = py[i], z = pz[i], a = charge[i] / mass[i];
    ox[i] = x + dt * (vx[i] - a * x * dt);
    oy[i] = y + dt * (vy[i] - a * y * dt);
    oz[i] = z + dt * (vz[i] - a * z * dt);
  }
}

extern "C" __global__ void conv_rows(const float *x, float *y, Weights w, unsigned n_) {
  u64 n = n_, m = n - 4, at = blockIdx.x * (u64)blockDim.x + threadIdx.x;
  if (at >= m * m) return;
  u64 i = at % m, j = at / m;
  float sum = 0;
#pragma unroll
  for (int b = 0; b < 5; ++b) {
    float of_row = 0;
#pragma unroll
    for (int a = 0; a < 5; ++a) of_row += x[(j + b) * n + i + a] * w.w[b * 5 + a];
    sum += of_row;
  }
  y[at] = sum;
}

// As cuda_fp16.h and cuda_bf16.h have their conversions and operators: an instruction each.
struct Half {
  unsigned short bits;
};
struct Bfloat {
  unsigned short bits;
};

__device__ float wide(Half x) {
  float y;
  asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x.bits));
  return y;
}
__device__ Half narrow(float x) {
  Half y;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y.bits) : "f"(x));
  return y;
}
__device__ Bfloat operator*(Bfloat a, Bfloat b) {
  Bfloat c;
  asm("{.reg .b16 z; mov.b16 z, 0x8000U; fma.rn.bf16 %0, %1, %2, z;}" : "=h"(c.bits) : "h"(a.bits), "h"(b.bits));
  return c;
}
__device__ Bfloat operator+(Bfloat a, Bfloat b) {
  Bfloat c;
  asm("{.reg .b16 o; mov.b16 o, 0x3f80U; fma.rn.bf16 %0, %1, o, %2;}" : "=h"(c.bits) : "h"(a.bits), "h"(b.bits));
  return c;
}

extern "C" __global__ void swish_f16(const Half *x, Half *y, float a, u64 n) {
  EACH(i, n) {
    float v = wide(x[i]);
    y[i] = narrow(v / (1 + expf(-a * v)));
  }
}

extern "C" __global__ void axpy_bf16(const Bfloat *x, const Bfloat *z, Bfloat *y, Bfloat a, u64 n) {
  EACH(i, n) y[i] = a * x[i] + z[i];
}

extern "C" __global__ void column_sums(const float *x, float *y, u64 rows, u64 columns) {
  u64 column = blockIdx.x * (u64)blockDim.x + threadIdx.x;
  if (column >= columns) return;
  float sum = 0;
  for (u64 row = 0; row < rows; ++row) sum += x[row * columns + column];
  y[column] = sum;
}
