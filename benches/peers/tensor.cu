// Products on tensor cores of operands that stay where they are, in CUDA C++: nvcc's peers of
// kernels-hopper/src/tensor.rs. For sm_90a.

#include <cstdint>

// All registers of an accumulator of 64 x 256, as operands of an instruction and by number.
#define ALL(constraint, d) \
  constraint(d[0]), constraint(d[1]), constraint(d[2]), constraint(d[3]), constraint(d[4]), constraint(d[5]), \
  constraint(d[6]), constraint(d[7]), constraint(d[8]), constraint(d[9]), constraint(d[10]), constraint(d[11]), \
  constraint(d[12]), constraint(d[13]), constraint(d[14]), constraint(d[15]), constraint(d[16]), \
  constraint(d[17]), constraint(d[18]), constraint(d[19]), constraint(d[20]), constraint(d[21]), \
  constraint(d[22]), constraint(d[23]), constraint(d[24]), constraint(d[25]), constraint(d[26]), \
  constraint(d[27]), constraint(d[28]), constraint(d[29]), constraint(d[30]), constraint(d[31]), \
  constraint(d[32]), constraint(d[33]), constraint(d[34]), constraint(d[35]), constraint(d[36]), \
  constraint(d[37]), constraint(d[38]), constraint(d[39]), constraint(d[40]), constraint(d[41]), \
  constraint(d[42]), constraint(d[43]), constraint(d[44]), constraint(d[45]), constraint(d[46]), \
  constraint(d[47]), constraint(d[48]), constraint(d[49]), constraint(d[50]), constraint(d[51]), \
  constraint(d[52]), constraint(d[53]), constraint(d[54]), constraint(d[55]), constraint(d[56]), \
  constraint(d[57]), constraint(d[58]), constraint(d[59]), constraint(d[60]), constraint(d[61]), \
  constraint(d[62]), constraint(d[63]), constraint(d[64]), constraint(d[65]), constraint(d[66]), \
  constraint(d[67]), constraint(d[68]), constraint(d[69]), constraint(d[70]), constraint(d[71]), \
  constraint(d[72]), constraint(d[73]), constraint(d[74]), constraint(d[75]), constraint(d[76]), \
  constraint(d[77]), constraint(d[78]), constraint(d[79]), constraint(d[80]), constraint(d[81]), \
  constraint(d[82]), constraint(d[83]), constraint(d[84]), constraint(d[85]), constraint(d[86]), \
  constraint(d[87]), constraint(d[88]), constraint(d[89]), constraint(d[90]), constraint(d[91]), \
  constraint(d[92]), constraint(d[93]), constraint(d[94]), constraint(d[95]), constraint(d[96]), \
  constraint(d[97]), constraint(d[98]), constraint(d[99]), constraint(d[100]), constraint(d[101]), \
  constraint(d[102]), constraint(d[103]), constraint(d[104]), constraint(d[105]), constraint(d[106]), \
  constraint(d[107]), constraint(d[108]), constraint(d[109]), constraint(d[110]), constraint(d[111]), \
  constraint(d[112]), constraint(d[113]), constraint(d[114]), constraint(d[115]), constraint(d[116]), \
  constraint(d[117]), constraint(d[118]), constraint(d[119]), constraint(d[120]), constraint(d[121]), \
  constraint(d[122]), constraint(d[123]), constraint(d[124]), constraint(d[125]), constraint(d[126]), \
  constraint(d[127])
#define NUMBERS \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, " \
  "%22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, " \
  "%42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, " \
  "%62, %63, %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, " \
  "%82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, %96, %97, %98, %99, %100, " \
  "%101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, %112, %113, %114, %115, %116, " \
  "%117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"

// Operand A in shared memory, or in four registers of each thread.
#define WGMMA(name, sum, letter, types, scales, transposed, transposed_b) \
  __device__ __forceinline__ void name(sum *d, uint64_t a, uint64_t b, int keep) { \
    asm volatile("{.reg .pred p; setp.ne.b32 p, %130, 0; wgmma.mma_async.sync.aligned.m64n256" types \
                 " {" NUMBERS "}, %128, %129, p" scales transposed ";}" \
                 : ALL(letter, d) : "l"(a), "l"(b), "r"(keep)); \
  } \
  __device__ __forceinline__ void name##_registers(sum *d, const uint32_t *a, uint64_t b, int keep) { \
    asm volatile("{.reg .pred p; setp.ne.b32 p, %133, 0; wgmma.mma_async.sync.aligned.m64n256" types \
                 " {" NUMBERS "}, {%128, %129, %130, %131}, %132, p" scales transposed_b ";}" \
                 : ALL(letter, d) \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(keep)); \
  } \
  extern "C" __global__ void __launch_bounds__(256, 1) name##_shared(const uint4 *image, unsigned steps, sum *out) { \
    products<sum>(image, steps, out, [](sum *d, uint64_t a, const uint32_t *, uint64_t b, int keep) { name(d, a, b, keep); }); \
  } \
  extern "C" __global__ void __launch_bounds__(256, 1) name##_left(const uint4 *image, unsigned steps, sum *out) { \
    products<sum>(image, steps, out, [](sum *d, uint64_t, const uint32_t *a, uint64_t b, int keep) { name##_registers(d, a, b, keep); }); \
  }

constexpr unsigned STAGES = 4, ROWS = 128, COLUMNS = 256, ROW_BYTES = 128, TILE_STEPS = 32;
constexpr unsigned BYTES = STAGES * (ROWS + COLUMNS) * ROW_BYTES;

// A tile in shared memory, rows of 128 bytes, swizzled by as many.
__device__ uint64_t descriptor(uint32_t address) {
  return (uint64_t)((address & 0x3FFFF) >> 4) | 1ull << 16 | 64ull << 32 | 1ull << 62;
}

template <typename T> __device__ __forceinline__ void pin(T *d);
template <> __device__ __forceinline__ void pin(float *d) {
#pragma unroll
  for (int i = 0; i < 128; i++) asm volatile("" : "+f"(d[i])::"memory");
}
template <> __device__ __forceinline__ void pin(int *d) {
#pragma unroll
  for (int i = 0; i < 128; i++) asm volatile("" : "+r"(d[i])::"memory");
}

// Two warpgroups, each of 64 rows and all columns; four instructions a step.
template <typename T, typename Multiply>
__device__ __forceinline__ void products(const uint4 *image, unsigned steps, T *out, Multiply multiply) {
  extern __shared__ uint8_t room[];
  uint32_t start = ((uint32_t)__cvta_generic_to_shared(room) + 1023) & ~1023u;
  uint4 *tiles = (uint4 *)(room + (start - (uint32_t)__cvta_generic_to_shared(room)));
  for (unsigned i = threadIdx.x; i < BYTES / 16; i += blockDim.x) tiles[i] = image[i];
  uint32_t a_registers[16];
  for (int i = 0; i < 16; i++) a_registers[i] = ((const uint32_t *)image)[threadIdx.x * 16 + i];
  asm volatile("fence.proxy.async;" ::: "memory");
  __syncthreads();
  unsigned group = __shfl_sync(0xFFFFFFFF, threadIdx.x / 128, 0);
  T d[128];
#pragma unroll
  for (int i = 0; i < 128; i++) d[i] = 0;
  pin(d);
  for (unsigned step = 0; step < steps; step++) {
    unsigned stage = step % STAGES;
    uint64_t a = descriptor(start + (stage * ROWS + group * 64) * ROW_BYTES);
    uint64_t b = descriptor(start + (STAGES * ROWS + stage * COLUMNS) * ROW_BYTES);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int k = 0; k < 4; k++)
      multiply(d, a + 2 * k, a_registers + 4 * k, b + 2 * k, k > 0 || step % TILE_STEPS > 0);
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
  }
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  pin(d);
#pragma unroll
  for (int i = 0; i < 128; i++) out[(blockIdx.x * 128 + i) * blockDim.x + threadIdx.x] = d[i];
}

WGMMA(bf16, float, "+f", "k16.f32.bf16.bf16", ", 1, 1", ", 0, 0", ", 0")
WGMMA(f16, float, "+f", "k16.f32.f16.f16", ", 1, 1", ", 0, 0", ", 0")
WGMMA(tf32, float, "+f", "k8.f32.tf32.tf32", ", 1, 1", "", "")
WGMMA(e4m3, float, "+f", "k32.f32.e4m3.e4m3", ", 1, 1", "", "")
WGMMA(e5m2, float, "+f", "k32.f32.e5m2.e5m2", ", 1, 1", "", "")
WGMMA(s8, int, "+r", "k32.s32.s8.s8", "", "", "")

// mma.sync: A parts of the left factor by B parts of the right one in each step.
template <typename T, typename Left, typename Right, int N, int LEFT, int RIGHT, int A, int B, typename Multiply>
__device__ __forceinline__ void in_warps(const Left *a, const Right *b, unsigned steps, T *out, Multiply multiply) {
  unsigned lane = threadIdx.x % 32;
  Left left[A][LEFT];
  Right right[B][RIGHT];
  T d[A][B][N];
#pragma unroll
  for (int i = 0; i < A; i++)
#pragma unroll
    for (int j = 0; j < LEFT; j++) left[i][j] = a[(32 * i + lane) * LEFT + j];
#pragma unroll
  for (int i = 0; i < B; i++)
#pragma unroll
    for (int j = 0; j < RIGHT; j++) right[i][j] = b[(32 * i + lane) * RIGHT + j];
#pragma unroll
  for (int i = 0; i < A * B * N; i++) (&d[0][0][0])[i] = 0;
  for (unsigned step = 0; step < steps; step++) {
    if (step % TILE_STEPS == 0)
#pragma unroll
      for (int i = 0; i < A * B * N; i++) (&d[0][0][0])[i] = 0;
#pragma unroll
    for (int i = 0; i < A; i++)
#pragma unroll
      for (int j = 0; j < B; j++) multiply(d[i][j], left[i], right[j]);
  }
#pragma unroll
  for (int i = 0; i < A * B * N; i++)
    out[(blockIdx.x * (A * B * N) + i) * blockDim.x + threadIdx.x] = (&d[0][0][0])[i];
}

extern "C" __global__ void __launch_bounds__(256, 1)
mma_bf16(const uint32_t *a, const uint32_t *b, unsigned steps, float *out) {
  in_warps<float, uint32_t, uint32_t, 4, 4, 2, 4, 8>(a, b, steps, out, [](float *d, uint32_t *a, uint32_t *b) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  });
}

extern "C" __global__ void __launch_bounds__(256, 1)
mma_f64(const double *a, const double *b, unsigned steps, double *out) {
  in_warps<double, double, double, 2, 1, 1, 4, 8>(a, b, steps, out, [](double *d, double *a, double *b) {
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                 : "+d"(d[0]), "+d"(d[1]) : "d"(a[0]), "d"(b[0]));
  });
}

extern "C" __global__ void __launch_bounds__(256, 1)
mma_f64_k16(const double *a, const double *b, unsigned steps, double *out) {
  in_warps<double, double, double, 4, 8, 4, 2, 4>(a, b, steps, out, [](double *d, double *a, double *b) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, "
                 "{%4, %5, %6, %7, %8, %9, %10, %11}, {%12, %13, %14, %15}, {%0, %1, %2, %3};"
                 : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
                 : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]), "d"(a[7]),
                   "d"(b[0]), "d"(b[1]), "d"(b[2]), "d"(b[3]));
  });
}
