// Unsigned division of 128 bits, which nvcc inlines: subc.cc before addc. Compiled by
//   nvcc -ptx -arch=sm_90 -o int128.ptx int128.cu
extern "C" __global__ void div7(unsigned long long *y) {
    unsigned __int128 a = ((unsigned __int128)threadIdx.x << 70 | 5) * 3;
    y[threadIdx.x] = (unsigned long long)(a / 7 >> 32);
}
extern "C" __global__ void mod7(unsigned long long *y, unsigned long long d) {
    unsigned __int128 a = ((unsigned __int128)threadIdx.x << 70 | 5) * 3;
    y[threadIdx.x] = (unsigned long long)(a % d);
}
extern "C" __global__ void divv(unsigned long long *y, unsigned long long d) {
    unsigned __int128 a = ((unsigned __int128)threadIdx.x << 70 | 5) * 3;
    y[threadIdx.x] = (unsigned long long)(a / d >> 32);
}
