// What planted.ptx says that it was made of. Each kernel has one mistake.

extern "C" __global__ void uncoalesced(const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = x[i % 32 * 32 + i / 32];
    y[i] = v;
}

extern "C" __global__ void conflict(const float *x, float *y) {
    __shared__ float tile[32][32];
    int i = threadIdx.x;
    tile[i / 32][i % 32] = x[i];
    __syncthreads();
    y[i] = tile[i % 32][i / 32];
}

extern "C" __global__ void divergent(const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = x[i];
    if (i % 2 == 0) {
        for (int k = 0; k < 100; k++) v = v * v + 1.0f;
    } else {
        for (int k = 0; k < 100; k++) v = v * v - 1.0f;
    }
    y[i] = v;
}

extern "C" __global__ void redundant(const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = 0.0f;
    for (int k = 0; k < 256; k++)
        v += x[k];
    y[i] = v;
}
