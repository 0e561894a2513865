// CUB's sum of squares, as a library: asynchrony.py runs it beside Ridgepoint's norm in one process, on
// the same memory.
//
//     nvcc -arch=sm_90 -O3 -std=c++17 -shared -Xcompiler -fPIC -o squares.so squares.cu

#include <cub/cub.cuh>

struct Square {
  template <typename T> __device__ T operator()(T x) const { return x * x; }
};

template <typename T>
static int squares(void *scratch, size_t *bytes, const T *x, T *sum, size_t n, cudaStream_t stream) {
  return cub::DeviceReduce::TransformReduce(scratch, *bytes, x, sum, n, cuda::std::plus<>{}, Square{},
                                            T(0), stream);
}

// Without scratch memory: how many bytes of it there have to be.
extern "C" int squares_f32(void *scratch, size_t *bytes, const float *x, float *sum, size_t n,
                           cudaStream_t stream) {
  return squares(scratch, bytes, x, sum, n, stream);
}

extern "C" int squares_f64(void *scratch, size_t *bytes, const double *x, double *sum, size_t n,
                           cudaStream_t stream) {
  return squares(scratch, bytes, x, sum, n, stream);
}
