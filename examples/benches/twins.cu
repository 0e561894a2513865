// The kernels without `unsafe` of examples/kernels/src as CUDA C++ has them: the same algorithms, launched alike.
// twins.ptx is made of them by
//     nvcc -ptx -arch=compute_80 twins.cu -o twins.ptx

typedef unsigned long long u64;

__device__ float warp_sum(float value) {
  for (int bits = 1; bits < 32; bits *= 2) value += __shfl_xor_sync(~0u, value, bits);
  return value;
}

__device__ float warp_max(float value) {
  for (int bits = 1; bits < 32; bits *= 2) value = fmaxf(value, __shfl_xor_sync(~0u, value, bits));
  return value;
}

// The sum over a block, in all its threads.
__device__ float block_sum(float value) {
  __shared__ float brought[32], made;
  int lane = threadIdx.x & 31, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  value = warp_sum(value);
  if (lane == 0) brought[warp] = value;
  __syncthreads();
  if (warp == 0) {
    float sum = warp_sum(lane < warps ? brought[lane] : 0.0f);
    if (lane == 0) made = sum;
  }
  __syncthreads();
  return made;
}

// softmax.rs: a warp for each row.
extern "C" __global__ void softmax(const float *x, float *y, u64 rows, u64 columns) {
  int lane = threadIdx.x & 31;
  u64 warps = gridDim.x * (u64)(blockDim.x / 32);
  for (u64 row = blockIdx.x * (u64)(blockDim.x / 32) + threadIdx.x / 32; row < rows; row += warps) {
    const float *in = x + row * columns;
    float *out = y + row * columns;
    float largest = -INFINITY, sum = 0.0f;
    for (u64 i = lane; i < columns; i += 32) largest = fmaxf(largest, in[i]);
    largest = warp_max(largest);
    for (u64 i = lane; i < columns; i += 32) sum += __expf(in[i] - largest);
    float scale = 1.0f / warp_sum(sum);
    for (u64 i = lane; i < columns; i += 32) out[i] = scale * __expf(in[i] - largest);
  }
}

// layer_norm.rs: a block for each row.
extern "C" __global__ void __launch_bounds__(256)
    layer_norm(const float *x, const float *gain, const float *bias, float epsilon, float *y, u64 rows, u64 columns) {
  for (u64 row = blockIdx.x; row < rows; row += gridDim.x) {
    const float *in = x + row * columns;
    float sum = 0.0f, squares = 0.0f;
    for (u64 i = threadIdx.x; i < columns; i += blockDim.x) sum += in[i];
    float mean = block_sum(sum) / columns;
    for (u64 i = threadIdx.x; i < columns; i += blockDim.x) squares = fmaf(in[i] - mean, in[i] - mean, squares);
    float scale = 1.0f / sqrtf(block_sum(squares) / columns + epsilon);
    for (u64 i = threadIdx.x; i < columns; i += blockDim.x)
      y[row * columns + i] = fmaf((in[i] - mean) * scale, gain[i], bias[i]);
  }
}

// product.rs: 16 x 16 threads, 4 x 4 elements each.
extern "C" __global__ void __launch_bounds__(256)
    product(const float *a, const float *b, u64 inner, float *c, u64 rows, u64 columns) {
  const int OWN = 4, TILE = 64, DEPTH = 16, PITCH = 18;
  __shared__ __align__(16) float as[TILE * PITCH];
  __shared__ __align__(16) float bs[DEPTH * TILE];
  int x = threadIdx.x, y = threadIdx.y, rank = y * 16 + x;
  u64 first_row = blockIdx.y * (u64)TILE, first_column = blockIdx.x * (u64)TILE;
  float sums[OWN][OWN] = {};
  for (u64 first = 0; first < inner; first += DEPTH) {
    __syncthreads();
    for (int i = rank; i < TILE * PITCH; i += 256) {
      u64 row = first_row + i / PITCH, k = first + i % PITCH;
      as[i] = row < rows && k < inner ? a[row * inner + k] : 0.0f;
    }
    for (int i = rank; i < DEPTH * TILE; i += 256) {
      u64 k = first + i / TILE, column = first_column + i % TILE;
      bs[i] = k < inner && column < columns ? b[k * columns + column] : 0.0f;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < DEPTH; k++)
#pragma unroll
      for (int i = 0; i < OWN; i++)
#pragma unroll
        for (int j = 0; j < OWN; j++)
          sums[i][j] = fmaf(as[(y * OWN + i) * PITCH + k], bs[k * TILE + x * OWN + j], sums[i][j]);
  }
#pragma unroll
  for (int i = 0; i < OWN; i++) {
    u64 row = first_row + y * OWN + i;
#pragma unroll
    for (int j = 0; j < OWN; j++) {
      u64 column = first_column + x * OWN + j;
      if (row < rows && column < columns) c[row * columns + column] = sums[i][j];
    }
  }
}

// diffusion.rs: a thread for each element.
extern "C" __global__ void __launch_bounds__(512)
    diffuse(const float *x, float own, float neighbours, float *y, u64 planes, u64 rows, u64 columns) {
  u64 at_x = blockIdx.x * (u64)blockDim.x + threadIdx.x, at_y = blockIdx.y * (u64)blockDim.y + threadIdx.y;
  if (at_x >= columns || at_y >= rows) return;
  for (u64 z = blockIdx.z * (u64)blockDim.z + threadIdx.z; z < planes; z += gridDim.z * (u64)blockDim.z) {
    u64 plane = rows * columns, i = z * plane + at_y * columns + at_x;
    float value = x[i];
    if (z > 0 && at_y > 0 && at_x > 0 && z + 1 < planes && at_y + 1 < rows && at_x + 1 < columns) {
      float around = (x[i - 1] + x[i + 1]) + (x[i - columns] + x[i + columns]) + (x[i - plane] + x[i + plane]);
      value = fmaf(own, value, neighbours * around);
    }
    y[i] = value;
  }
}

// spmv.rs: a warp for each row.
extern "C" __global__ void spmv(const unsigned *starts, const unsigned *columns, const float *values, const float *x,
                                float *y, u64 rows) {
  int lane = threadIdx.x & 31;
  u64 warps = gridDim.x * (u64)(blockDim.x / 32);
  for (u64 row = blockIdx.x * (u64)(blockDim.x / 32) + threadIdx.x / 32; row < rows; row += warps) {
    float sum = 0.0f;
    for (unsigned i = starts[row] + lane; i < starts[row + 1]; i += 32) sum = fmaf(values[i], x[columns[i]], sum);
    sum = warp_sum(sum);
    if (lane == 0) y[row] = sum;
  }
}

// segmented_scan.rs: a block for each row of elements, which waits for the one before it.
struct Part {
  unsigned head;
  float sum;
};

__device__ Part join(Part left, Part right) {
  return {left.head | right.head, right.head ? right.sum : left.sum + right.sum};
}

// Through each thread, and over all of them.
__device__ void block_scan(Part own, Part *through, Part *total) {
  __shared__ Part brought[32], made[32];
  int lane = threadIdx.x & 31, warp = threadIdx.x / 32, warps = blockDim.x / 32;
#pragma unroll
  for (int delta = 1; delta < 32; delta *= 2) {
    Part left = {__shfl_up_sync(~0u, own.head, delta), __shfl_up_sync(~0u, own.sum, delta)};
    if (lane >= delta) own = join(left, own);
  }
  if (lane == 31) brought[warp] = own;
  __syncthreads();
  if (warp == 0) {
    Part of_warp = lane < warps ? brought[lane] : Part{0, 0.0f};
#pragma unroll
    for (int delta = 1; delta < 32; delta *= 2) {
      Part left = {__shfl_up_sync(~0u, of_warp.head, delta), __shfl_up_sync(~0u, of_warp.sum, delta)};
      if (lane >= delta) of_warp = join(left, of_warp);
    }
    made[lane] = of_warp;
  }
  __syncthreads();
  *total = made[warps - 1];
  *through = warp > 0 ? join(made[warp - 1], own) : own;
}

// The workspace is 1 word, and then a flag, a head and a sum for each block.
extern "C" __global__ void __launch_bounds__(256)
    segmented_scan(const unsigned *heads, const float *x, unsigned *workspace, float *y, u64 rows, u64 columns) {
  __shared__ Part shared_before;
  u64 row = blockIdx.x, start = row * columns;
  if (row >= rows) return;
  Part total = {0, 0.0f}, through, of_round;
  for (u64 first = 0; first < columns; first += blockDim.x) {
    u64 i = first + threadIdx.x;
    block_scan(i < columns ? Part{heads[start + i], x[start + i]} : Part{0, 0.0f}, &through, &of_round);
    total = join(total, of_round);
  }
  if (threadIdx.x == 0) {
    volatile unsigned *slot = workspace + 1 + row * 3, *slot_before = slot - 3;
    Part before = {0, 0.0f}, with_own = total;
    if (row > 0) {
      while (atomicAdd((unsigned *)slot_before, 0) == 0) __nanosleep(20);
      __threadfence();
      slot_before[0] = 0;
      before = {slot_before[1], __uint_as_float(slot_before[2])};
      with_own = join(before, total);
    }
    if (row + 1 < gridDim.x) {
      slot[1] = with_own.head;
      slot[2] = __float_as_uint(with_own.sum);
      __threadfence();
      atomicExch((unsigned *)slot, 1);
    }
    shared_before = before;
  }
  __syncthreads();
  Part before = shared_before;
  for (u64 first = 0; first < columns; first += blockDim.x) {
    u64 i = first + threadIdx.x;
    block_scan(i < columns ? Part{heads[start + i], x[start + i]} : Part{0, 0.0f}, &through, &of_round);
    if (i < columns) y[start + i] = join(before, through).sum;
    before = join(before, of_round);
  }
}
