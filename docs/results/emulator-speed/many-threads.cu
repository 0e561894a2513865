// Kernels whose threads touch the same memory, as measured: nvcc -ptx -arch=sm_90.
extern "C" __global__ void product(const float *a, const float *b, float *c, int n) {
  __shared__ float s[16][16], t[16][16];
  int x = threadIdx.x, y = threadIdx.y, i = blockIdx.y * 16 + y, j = blockIdx.x * 16 + x;
  float v = 0;
  for (int k = 0; k < n; k += 16) {
    s[y][x] = a[i * n + k + x];
    t[y][x] = b[(k + y) * n + j];
    __syncthreads();
    for (int q = 0; q < 16; q++) v += s[y][q] * t[q][x];
    __syncthreads();
  }
  c[i * n + j] = v;
}

extern "C" __global__ void histogram(const unsigned *x, unsigned *bins, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(bins + (x[i] & 63), 1u);
}

extern "C" __global__ void count(int *c) { atomicAdd(c, 1); }

extern "C" __global__ void lock(int *l, int *c, int turns) {
  for (int t = 0; t < turns; t++) {
    bool done = false;
    while (!done) {
      if (atomicCAS(l, 0, 1) == 0) {
        __threadfence();
        *c += 1;
        __threadfence();
        atomicExch(l, 0);
        done = true;
      }
    }
  }
}

extern "C" __global__ void reduction(const float *x, float *sum, int n) {
  __shared__ float s[256];
  int own = threadIdx.x;
  float v = 0;
  for (int i = blockIdx.x * blockDim.x + own; i < n; i += gridDim.x * blockDim.x) v += x[i];
  s[own] = v;
  for (int half = 128; half > 0; half /= 2) {
    __syncthreads();
    if (own < half) s[own] += s[own + half];
  }
  if (own == 0) atomicAdd(sum, s[0]);
}
