// saxpy and horner as CUDA C++ has them; nvcc.ptx is made of them by
//     nvcc -ptx -arch=compute_80 nvcc.cu -o nvcc.ptx

extern "C" __global__ void saxpy(int n, float a, const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}

extern "C" __global__ void horner(int n, int k, const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0.0f;
    for (int step = 0; step < k; step++) sum = fmaf(x[i], sum, x[i]);
    y[i] = sum;
}
