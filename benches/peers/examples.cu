// The algorithms of examples/kernels/src in CUDA C++: what nvcc makes of the same work.

// matmul.rs: tiles of 64 x 64 of C, slices of 16, 16 x 16 threads, 4 x 4 elements a thread.
extern "C" __global__ void __launch_bounds__(256)
    matmul(const float *a, const float *b, float *c, unsigned inner) {
  const int TILE = 64, DEPTH = 16;
  __shared__ __align__(16) float as[DEPTH][TILE];
  __shared__ __align__(16) float bs[DEPTH][TILE];
  size_t columns = gridDim.x * (size_t)TILE;
  int x = threadIdx.x, y = threadIdx.y, t = y * 16 + x;
  size_t first_row = blockIdx.y * (size_t)TILE, first_column = blockIdx.x * (size_t)TILE;
  int a_row = t / 4, a_column = t % 4 * 4, b_row = t / 16, b_column = t % 16 * 4;
  const float *a_next = a + (first_row + a_row) * inner + a_column;
  const float *b_next = b + b_row * columns + first_column + b_column;
  float sums[4][4] = {};
  for (unsigned slice = 0; slice < inner / DEPTH; slice++) {
    float4 v = *(const float4 *)a_next;
    as[a_column][a_row] = v.x;
    as[a_column + 1][a_row] = v.y;
    as[a_column + 2][a_row] = v.z;
    as[a_column + 3][a_row] = v.w;
    *(float4 *)&bs[b_row][b_column] = *(const float4 *)b_next;
    a_next += DEPTH;
    b_next += DEPTH * columns;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < DEPTH; k++) {
      float4 av = *(const float4 *)&as[k][y * 4], bv = *(const float4 *)&bs[k][x * 4];
      float ai[4] = {av.x, av.y, av.z, av.w}, bj[4] = {bv.x, bv.y, bv.z, bv.w};
#pragma unroll
      for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 4; j++) sums[i][j] = fmaf(ai[i], bj[j], sums[i][j]);
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 4; i++)
    *(float4 *)&c[(first_row + y * 4 + i) * columns + first_column + x * 4] =
        make_float4(sums[i][0], sums[i][1], sums[i][2], sums[i][3]);
}

// histogram.rs: 256 bins in shared memory, 16 bytes a thread at once.
extern "C" __global__ void __launch_bounds__(256)
    histogram(const unsigned char *bytes, size_t n, unsigned *counts) {
  __shared__ unsigned bins[256];
  bins[threadIdx.x] = 0;
  __syncthreads();
  size_t threads = gridDim.x * (size_t)blockDim.x, own = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  for (size_t i = own; i < n / 16; i += threads) {
    uint4 v = ((const uint4 *)bytes)[i];
    unsigned words[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
    for (int j = 0; j < 16; j++) atomicAdd(&bins[words[j / 4] >> (j % 4 * 8) & 255], 1u);
  }
  if (n / 16 * 16 + own < n) atomicAdd(&bins[bytes[n / 16 * 16 + own]], 1u);
  __syncthreads();
  atomicAdd(&counts[threadIdx.x], bins[threadIdx.x]);
}

// scan.rs: tiles of 4096 elements, four rounds of four elements a thread.
__device__ unsigned warp_scan(unsigned value) {
#pragma unroll
  for (int delta = 1; delta < 32; delta *= 2) {
    unsigned other = __shfl_up_sync(~0u, value, delta);
    if ((threadIdx.x & 31) >= delta) value += other;
  }
  return value;
}

__device__ uint2 block_scan(unsigned value) {
  __shared__ unsigned warp_sums[8];
  int lane = threadIdx.x & 31, warp = threadIdx.x / 32;
  unsigned inclusive = warp_scan(value);
  if (lane == 31) warp_sums[warp] = inclusive;
  __syncthreads();
  unsigned of_warp = lane < 8 ? warp_sums[lane] : 0;
  unsigned warps = warp_scan(of_warp);
  unsigned through_own = __shfl_sync(~0u, warps, warp), own = __shfl_sync(~0u, of_warp, warp);
  unsigned all = __shfl_sync(~0u, warps, 7);
  __syncthreads();
  return make_uint2(through_own - own + inclusive - value, all);
}

__device__ uint4 load(const unsigned *x, size_t n, size_t i) {
  if (i + 4 <= n) return *(const uint4 *)(x + i);
  return make_uint4(i < n ? x[i] : 0, i + 1 < n ? x[i + 1] : 0, i + 2 < n ? x[i + 2] : 0,
                    i + 3 < n ? x[i + 3] : 0);
}

__device__ void store_prefix(unsigned *y, size_t n, size_t i, uint4 v, unsigned before) {
  uint4 p = make_uint4(before, before + v.x, before + v.x + v.y, before + v.x + v.y + v.z);
  if (i + 4 <= n) {
    *(uint4 *)(y + i) = p;
  } else {
    if (i < n) y[i] = p.x;
    if (i + 1 < n) y[i + 1] = p.y;
    if (i + 2 < n) y[i + 2] = p.z;
  }
}

__device__ unsigned total(uint4 v) { return v.x + v.y + v.z + v.w; }

extern "C" __global__ void __launch_bounds__(256)
    tile_sums(const unsigned *x, size_t n, unsigned *sums) {
  unsigned sum = 0;
#pragma unroll
  for (int round = 0; round < 4; round++)
    sum += total(load(x, n, blockIdx.x * (size_t)4096 + round * 1024 + threadIdx.x * 4));
  uint2 scanned = block_scan(sum);
  if (threadIdx.x == 0) sums[blockIdx.x] = scanned.y;
}

extern "C" __global__ void __launch_bounds__(256) scan_sums(unsigned *sums, unsigned n) {
  unsigned before = 0;
  for (size_t first = 0; first < n; first += 1024) {
    size_t i = first + threadIdx.x * 4;
    uint4 v = load(sums, n, i);
    uint2 scanned = block_scan(total(v));
    store_prefix(sums, n, i, v, before + scanned.x);
    before += scanned.y;
  }
}

extern "C" __global__ void __launch_bounds__(256)
    scan_tiles(const unsigned *x, size_t n, const unsigned *sums, unsigned *y) {
  unsigned before = sums[blockIdx.x];
#pragma unroll
  for (int round = 0; round < 4; round++) {
    size_t i = blockIdx.x * (size_t)4096 + round * 1024 + threadIdx.x * 4;
    uint4 v = load(x, n, i);
    uint2 scanned = block_scan(total(v));
    store_prefix(y, n, i, v, before + scanned.x);
    before += scanned.y;
  }
}
