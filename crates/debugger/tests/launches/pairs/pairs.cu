struct Pair { float x; int n[3]; };
__device__ __noinline__ float scale(Pair pair, float by) {
    float scaled = pair.x * by;
    int middle = pair.n[1];
    return scaled + middle;
}
extern "C" __global__ void pairs(const float *in, float *out) {
    __shared__ float tile[64];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    Pair pair = {in[i], {1, 2, i}};
    tile[threadIdx.x] = pair.x;
    __syncthreads();
    if (i % 2 == 0) {
        float before = out[i];
        out[i] = scale(pair, 3.0f) + before + tile[0];
    }
}
