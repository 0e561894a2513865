// What ../places.rs finds, and where it says that it stands. Compiled by
//   nvcc -ptx -arch=sm_90 -lineinfo -o places.ptx places.cu
// where `.file` then names the file alone.

// Two threads write each element.
__device__ __forceinline__ void put(unsigned* y, unsigned i) {
    y[i] = threadIdx.x;
}

extern "C" __global__ void inlined(unsigned* y) {
    put(y, threadIdx.x / 2);
}

__device__ __forceinline__ void put_again(unsigned* y, unsigned i) {
    put(y, i);
}

extern "C" __global__ void inlined_twice(unsigned* y) {
    put_again(y, threadIdx.x / 2);
}

// The last thread is out of bounds.
__device__ __noinline__ void put_apart(unsigned* y, unsigned i) {
    y[i] = threadIdx.x;
}

extern "C" __global__ void called(unsigned* y) {
    put_apart(y, threadIdx.x + 1);
}

extern "C" __global__ void called_twice(unsigned* y) {
    put_apart(y, threadIdx.x);
    put_apart(y, threadIdx.x + 1);
}

__device__ __noinline__ void deeper(unsigned* y, unsigned i) {
    put_apart(y, i);
    if (i > 1000) y[0] = i;
}

extern "C" __global__ void called_deeper(unsigned* y) {
    deeper(y, threadIdx.x + 1);
}

// Both sides of a race stand in functions.
__device__ __noinline__ void fill(unsigned* tile) {
    tile[threadIdx.x] = threadIdx.x;
}

__device__ __noinline__ unsigned opposite(unsigned* tile) {
    return tile[63 - threadIdx.x];
}

extern "C" __global__ void two_sides(unsigned* y) {
    __shared__ unsigned tile[64];
    fill(tile);
    y[threadIdx.x] = opposite(tile);
}

// Nobody has written the neighbour's.
__device__ __forceinline__ unsigned neighbour(unsigned* tile) {
    return tile[threadIdx.x + 1];
}

extern "C" __global__ void not_written(unsigned* y) {
    __shared__ unsigned tile[65];
    tile[threadIdx.x] = 1;
    __syncthreads();
    y[threadIdx.x] = neighbour(tile);
}

// Half of the threads come to a barrier.
__device__ __forceinline__ void meet() {
    __syncthreads();
}

extern "C" __global__ void meets(unsigned* y) {
    if (threadIdx.x % 2) meet();
    y[threadIdx.x] = 1;
}

// What CUDA's headers have inlined.
extern "C" __global__ void mixed(unsigned* y) {
    if (threadIdx.x == 0) atomicAdd(y, 1u);
    else if (threadIdx.x == 32) atomicAdd((unsigned long long*)y, 1ull);
}
