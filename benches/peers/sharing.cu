// What `ridgepoint ceilings` measures of what threads share, in CUDA C++: nvcc's peers of kernels-gpu/src/ceilings/{banks,atomics,
// exchange,barrier,chase}.rs and of kernels-hopper/src/{clusters,arrivals,boxes}.rs. sharing.py compiles and runs it. Each line that
// it prints is a quantity and the medians of the figures of one of its launches: seconds, and cycles that its first thread counted.

#include <cuda.h>

#include "launches.cuh"

// Shared memory by words: lanes read words that are `stride` apart.
extern "C" __global__ void read_banks(unsigned stride, unsigned passes, unsigned *sums) {
  constexpr unsigned WORDS = 8192, UNROLL = 8, PART = WORDS / UNROLL;
  __shared__ unsigned words[WORDS];
  for (unsigned i = threadIdx.x; i < WORDS; i += blockDim.x) words[i] = i * 0x9E3779B1;
  __syncthreads();
  unsigned sum[UNROLL] = {};
  unsigned first = threadIdx.x % 32 * stride;
  for (unsigned pass = 0; pass < passes; pass++, first++)
#pragma unroll
    for (unsigned j = 0; j < UNROLL; j++) sum[j] += words[first % PART + j * PART];
  unsigned total = 0;
#pragma unroll
  for (unsigned j = 0; j < UNROLL; j++) total += sum[j];
  sums[blockIdx.x * blockDim.x + threadIdx.x] = total;
}

// Additions to a counter of all threads (a stride of 0), or to one of each thread's own.
extern "C" __global__ void add_to_counters(unsigned stride, unsigned value, unsigned steps,
                                           unsigned *counters) {
  unsigned *counter = counters + (blockIdx.x * blockDim.x + threadIdx.x) * stride;
  for (unsigned i = 0; i < steps; i++) atomicAdd(counter, value);
}

extern "C" __global__ void add_in_shared(unsigned stride, unsigned value, unsigned steps,
                                         unsigned *totals) {
  __shared__ unsigned counters[1024];
  counters[threadIdx.x] = 0;
  __syncthreads();
  unsigned *counter = counters + threadIdx.x * stride;
  for (unsigned i = 0; i < steps; i++) atomicAdd(counter, value);
  __syncthreads();
  totals[blockIdx.x * blockDim.x + threadIdx.x] = *counter;
}

// What follows is written so that a step waits for the one before. The first thread writes the cycles.
extern "C" __global__ void shuffle(unsigned lines, unsigned *values, unsigned long long *out) {
  unsigned own = threadIdx.x * 0x9E3779B1, next = (threadIdx.x + 1) % 32;
  long long ticks = clock64();
  for (unsigned line = 0; line < lines; line++)
#pragma unroll
    for (int i = 0; i < 128; i++) own = __shfl_sync(~0u, own, next);
  values[blockIdx.x * blockDim.x + threadIdx.x] = own;
  if (threadIdx.x == 0 && blockIdx.x == 0) *out = clock64() - ticks;
}

extern "C" __global__ void vote(unsigned lines, unsigned *values, unsigned long long *out) {
  bool is_for = threadIdx.x % 2 == 0;
  long long ticks = clock64();
  for (unsigned line = 0; line < lines; line++)
#pragma unroll
    for (int i = 0; i < 128; i++) is_for = !__all_sync(~0u, is_for);
  values[blockIdx.x * blockDim.x + threadIdx.x] = is_for;
  if (threadIdx.x == 0 && blockIdx.x == 0) *out = clock64() - ticks;
}

extern "C" __global__ void wait_for_block(unsigned lines, unsigned long long *out) {
  long long ticks = clock64();
  for (unsigned line = 0; line < lines; line++)
#pragma unroll
    for (int i = 0; i < 8; i++) __syncthreads();
  if (threadIdx.x == 0) *out = clock64() - ticks;
}

// Goes on from `out[1]`. The addition is of 0, which comes as an argument: of a constant nvcc makes a load.
template <typename Step>
__device__ void follow(unsigned steps, unsigned long long *out, Step step) {
  unsigned at = (unsigned)out[1];
  long long ticks = clock64();
#pragma unroll 8
  for (unsigned i = 0; i < steps; i++) at = step(at);
  out[1] = at;
  out[0] = clock64() - ticks;
}

extern "C" __global__ void chase_by_atomics(unsigned *next, unsigned zero, unsigned steps,
                                            unsigned long long *out) {
  follow(steps, out, [=](unsigned at) { return atomicAdd(next + at, zero); });
}

extern "C" __global__ void chase_by_atomics_in_shared(const unsigned *next, unsigned zero,
                                                   unsigned steps, unsigned long long *out) {
  __shared__ unsigned elements[4096];
  for (unsigned i = 0; i < 4096; i++) elements[i] = next[i];
  follow(steps, out, [=](unsigned at) { return atomicAdd(elements + at, zero); });
}

// All threads of the cluster.
__device__ void meet() {
  __cluster_barrier_arrive();
  __cluster_barrier_wait();
}

// Shared memory of the next block of the cluster, whose size the launch says.
extern "C" __global__ void read_neighbour(unsigned passes, unsigned *sums) {
  constexpr unsigned VECTORS = 2048, UNROLL = 8, PART = VECTORS / UNROLL;
  __shared__ uint4 words[VECTORS];
  unsigned rank = __clusterRelativeBlockRank();
  for (unsigned i = threadIdx.x; i < VECTORS; i += blockDim.x)
    words[i] = make_uint4(i ^ rank << 16, i * 0x9E3779B1, ~i, rank);
  meet();
  const uint4 *there =
      (const uint4 *)__cluster_map_shared_rank(words, (rank + 1) % __clusterSizeInBlocks());
  unsigned sum[UNROLL] = {};
  unsigned first = threadIdx.x;
  for (unsigned pass = 0; pass < passes; pass++, first += blockDim.x)
#pragma unroll
    for (unsigned j = 0; j < UNROLL; j++) {
      uint4 v = there[first % PART + j * PART];
      sum[j] += v.x + v.y + v.z + v.w;
    }
  unsigned total = 0;
#pragma unroll
  for (unsigned j = 0; j < UNROLL; j++) total += sum[j];
  sums[blockIdx.x * blockDim.x + threadIdx.x] = total;
  meet();
}

extern "C" __global__ void chase_neighbour(const unsigned *next, unsigned steps,
                                           unsigned long long *out) {
  __shared__ unsigned elements[4096];
  for (unsigned i = 0; i < 4096; i++) elements[i] = next[i];
  meet();
  const unsigned *there = (const unsigned *)__cluster_map_shared_rank(elements, 1);
  if (__clusterRelativeBlockRank() == 0)
    follow(steps, out, [=](unsigned at) { return there[at]; });
  meet();
}

// Barriers in shared memory and bulk copies, as CUTLASS has them in assembly.
__device__ unsigned address(const void *shared) { return (unsigned)__cvta_generic_to_shared(shared); }

__device__ void make_barrier(unsigned barrier, unsigned arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals));
  asm volatile("fence.mbarrier_init.release.cluster;");
}

__device__ void arrive(unsigned barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

__device__ void arrive_expect(unsigned barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}

__device__ void wait(unsigned barrier, unsigned parity) {
  asm volatile(
      "{\n.reg .pred done;\n"
      "again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@done bra ready;\nbra again;\nready:\n}" ::"r"(barrier),
      "r"(parity)
      : "memory");
}

__device__ void load(const CUtensorMap *map, int row, unsigned to, unsigned barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      " [%0], [%1, {%2, %3}], [%4];" ::"r"(to),
      "l"(map), "r"(0), "r"(row), "r"(barrier)
      : "memory");
}

extern "C" __global__ void arrive_and_wait(unsigned rounds, unsigned long long *out) {
  __shared__ unsigned long long word;
  unsigned barrier = address(&word);
  if (threadIdx.x == 0) make_barrier(barrier, blockDim.x);
  __syncthreads();
  long long ticks = clock64();
  for (unsigned i = 0; i < rounds; i++) {
    arrive(barrier);
    wait(barrier, i & 1);
  }
  if (threadIdx.x == 0) *out = clock64() - ticks;
}

constexpr unsigned ROWS = 16, STAGES = 8, BOX = 16384, READERS = 4;

// A warp brings boxes of 16 KiB to eight stages, and four add up what has come.
extern "C" __global__ void __launch_bounds__(160)
    load_boxes(const __grid_constant__ CUtensorMap map, unsigned boxes, unsigned passes,
               unsigned *sums) {
  extern __shared__ __align__(128) uint4 stages[];
  __shared__ unsigned long long full[STAGES], empty[STAGES];
  if (threadIdx.x == 0)
    for (unsigned i = 0; i < STAGES; i++) {
      make_barrier(address(full + i), 1);
      make_barrier(address(empty + i), READERS);
    }
  __syncthreads();
  unsigned stage = 0, phase = 0, total = 0;
  bool brings = threadIdx.x >= READERS * 32;
  if (brings && threadIdx.x % 32) return;
  for (unsigned pass = 0; pass < passes; pass++)
    for (unsigned box = blockIdx.x; box < boxes; box += gridDim.x) {
      if (brings) {
        wait(address(empty + stage), phase ^ 1);
        arrive_expect(address(full + stage), BOX);
        load(&map, box * ROWS, address(stages) + stage * BOX, address(full + stage));
      } else {
        wait(address(full + stage), phase);
#pragma unroll
        for (unsigned j = 0; j < 8; j++) {
          uint4 v = stages[stage * BOX / 16 + threadIdx.x + j * READERS * 32];
          total += v.x + v.y + v.z + v.w;
        }
        __syncwarp();
        if (threadIdx.x % 32 == 0) arrive(address(empty + stage));
      }
      if (++stage == STAGES) stage = 0, phase ^= 1;
    }
  if (!brings) sums[blockIdx.x * READERS * 32 + threadIdx.x] = total;
}

// A thread stores boxes from eight stages that stay as they are.
extern "C" __global__ void __launch_bounds__(128)
    store_boxes(const __grid_constant__ CUtensorMap map, unsigned boxes) {
  extern __shared__ __align__(128) uint4 stages[];
  for (unsigned i = threadIdx.x; i < STAGES * BOX / 4; i += blockDim.x)
    ((unsigned *)stages)[i] = i * 0x9E3779B1;
  asm volatile("fence.proxy.async.shared::cta;");
  __syncthreads();
  if (threadIdx.x) return;
  unsigned stage = 0;
  for (unsigned box = blockIdx.x; box < boxes; box += gridDim.x) {
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::
                     "l"(&map), "r"(0), "r"(box * ROWS), "r"(address(stages) + stage * BOX)
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;");
    asm volatile("cp.async.bulk.wait_group.read 7;" ::: "memory");
    stage = (stage + 1) % STAGES;
  }
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

// Rows of 128 bytes, each of which names the next.
extern "C" __global__ void chase_rows(const __grid_constant__ CUtensorMap map, unsigned steps,
                                      unsigned long long *out) {
  extern __shared__ __align__(128) unsigned row[];
  __shared__ unsigned long long word;
  unsigned barrier = address(&word), at = (unsigned)out[1];
  make_barrier(barrier, 1);
  long long ticks = clock64();
  for (unsigned i = 0; i < steps; i++) {
    arrive_expect(barrier, 128);
    load(&map, at / 32, address(row), barrier);
    wait(barrier, i & 1);
    at = *(volatile unsigned *)row;
  }
  out[1] = at;
  out[0] = clock64() - ticks;
}

// As in `ridgepoint ceilings`: steps of a thread, and whole lines of a chain.
constexpr unsigned ACCESSES = 1 << 14, LINES = STEPS / 128;

// The shape of a launch, blocks in clusters of so many.
struct Shape {
  unsigned blocks, threads, shared = 0, cluster = 1;
};

unsigned long long *out;  // Cycles, and where a chase goes on.

// Queues all launches, each between two events, as the Rust host does.
template <typename... Parameters, typename... Arguments>
void measure(const char *quantity, double count, Shape shape, void (*kernel)(Parameters...),
             Arguments... arguments) {
  if (shape.shared)
    require(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shape.shared),
            quantity);
  cudaLaunchAttribute cluster;
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim = {shape.cluster, 1, 1};
  cudaLaunchConfig_t config = {};
  config.gridDim = shape.blocks;
  config.blockDim = shape.threads;
  config.dynamicSmemBytes = shape.shared;
  config.attrs = &cluster;
  config.numAttrs = shape.cluster > 1;
  require(cudaMemset(out, 0, 16), quantity);
  cudaEvent_t events[RUNS][2];
  for (int i = -WARMUP; i < RUNS; i++) {
    if (i >= 0)
      for (auto &event : events[i]) require(cudaEventCreate(&event), quantity);
    if (i >= 0) require(cudaEventRecord(events[i][0]), quantity);
    require(cudaLaunchKernelEx(&config, kernel, Parameters(arguments)...), quantity);
    if (i >= 0) require(cudaEventRecord(events[i][1]), quantity);
  }
  require(cudaDeviceSynchronize(), quantity);
  std::vector<float> milliseconds;
  for (auto &pair : events) {
    float time;
    require(cudaEventElapsedTime(&time, pair[0], pair[1]), quantity);
    milliseconds.push_back(time);
  }
  std::sort(milliseconds.begin(), milliseconds.end());
  double seconds = (milliseconds[RUNS / 2 - 1] + milliseconds[RUNS / 2]) / 2e3;
  unsigned long long cycles;
  require(cudaMemcpy(&cycles, out, 8, cudaMemcpyDeviceToHost), quantity);
  std::printf("%s %.6e %.3f\n", quantity, count / seconds, cycles / count);
}

CUtensorMap map(void *there, cuuint64_t rows, cuuint32_t columns, cuuint32_t box_rows) {
  void *encode;
  cudaDriverEntryPointQueryResult found;
  require(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &encode, 12000,
                                           cudaEnableDefault, &found),
          "cuTensorMapEncodeTiled");
  CUtensorMap made;
  cuuint64_t size[] = {columns, rows}, pitch[] = {4 * columns};
  cuuint32_t box[] = {columns, box_rows}, strides[] = {1, 1};
  CUresult result = ((decltype(&cuTensorMapEncodeTiled))encode)(
      &made, CU_TENSOR_MAP_DATA_TYPE_UINT32, 2, there, size, pitch, box, strides,
      CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS) std::exit(1);
  return made;
}

void throughput(unsigned multiprocessors) {
  Shape all = {2 * multiprocessors, 1024};
  double threads = all.blocks * 1024.0;
  unsigned *words = array<unsigned>(all.blocks * 1024);
  const char *banks[] = {"shared-ways1", "shared-ways2",  "shared-ways4",
                         "shared-ways8", "shared-ways16", "shared-ways32"};
  for (int i = 0; i < 6; i++)
    measure(banks[i], threads * ACCESSES * 4, all, read_banks, 1u << i, ACCESSES / 8, words);
  measure("atomic-together", threads * (ACCESSES / 256), all, add_to_counters, 0u, 3u,
          ACCESSES / 256, words);
  measure("atomic-apart", threads * (ACCESSES / 16), all, add_to_counters, 1u, 3u, ACCESSES / 16,
          words);
  measure("shared-atomic-together", threads * (ACCESSES / 16), all, add_in_shared, 0u, 3u,
          ACCESSES / 16, words);
  measure("shared-atomic-apart", threads * (ACCESSES / 16), all, add_in_shared, 1u, 3u,
          ACCESSES / 16, words);
  measure("shuffle", threads * ACCESSES, all, shuffle, ACCESSES / 128, words, out);
  measure("vote", threads * ACCESSES, all, vote, ACCESSES / 128, words, out);
  for (unsigned cluster : {2, 4, 8}) {
    Shape shape = {multiprocessors / cluster * cluster, 1024, 0, cluster};
    measure("cluster-read", shape.blocks * 1024.0 * ACCESSES * 16, shape, read_neighbour,
            ACCESSES / 8, words);
  }
}

void latencies() {
  unsigned *words = array<unsigned>(1024), *l2 = cycle(65536, 32), *near = cycle(4096, 1);
  measure("atomic-latency", STEPS, {1, 1}, chase_by_atomics, l2, 0u, STEPS, out);
  measure("shared-atomic-latency", STEPS, {1, 1}, chase_by_atomics_in_shared, near, 0u, STEPS, out);
  measure("shuffle-latency", LINES * 128, {1, 32}, shuffle, LINES, words, out);
  measure("vote-latency", LINES * 128, {1, 32}, vote, LINES, words, out);
  measure("cluster-latency", STEPS, {2, 1, 0, 2}, chase_neighbour, near, STEPS, out);
  measure("box-latency", STEPS, {1, 1, 128}, chase_rows, map(l2, 65536, 32, 1), STEPS, out);
  std::pair<const char *, unsigned> barriers[] = {{"block-barrier32", 32},
                                                  {"block-barrier128", 128},
                                                  {"block-barrier256", 256},
                                                  {"block-barrier512", 512},
                                                  {"block-barrier1024", 1024}};
  for (auto [quantity, threads] : barriers)
    measure(quantity, STEPS, {1, threads}, wait_for_block, STEPS / 8, out);
  std::pair<const char *, unsigned> arrivals[] = {
      {"arrivals32", 32}, {"arrivals256", 256}, {"arrivals1024", 1024}};
  for (auto [quantity, threads] : arrivals)
    measure(quantity, STEPS, {1, threads}, arrive_and_wait, STEPS, out);
}

void boxes(unsigned multiprocessors) {
  constexpr unsigned BOXES = 32768;  // 512 MiB.
  unsigned resident = 8 * multiprocessors, passes = (4ull << 30) / (resident * BOX) + 1;
  unsigned *tensor = array<unsigned>(size_t(BOXES) * BOX / 4);
  unsigned *sums = array<unsigned>(multiprocessors * 160);
  CUtensorMap all = map(tensor, BOXES * ROWS, 256, ROWS);
  Shape loads = {multiprocessors, 160, STAGES * BOX}, stores = {multiprocessors, 128, STAGES * BOX};
  // What is stored is irregular, and then loaded.
  measure("box-store", double(BOXES) * BOX, stores, store_boxes, all, BOXES);
  measure("box-load", double(BOXES) * BOX, loads, load_boxes, all, BOXES, 1u, sums);
  measure("box-load-l2", double(resident) * passes * BOX, loads, load_boxes, all, resident, passes,
          sums);
}

int main() {
  cudaDeviceProp properties;
  require(cudaGetDeviceProperties(&properties, 0), "device");
  out = array<unsigned long long>(2);
  throughput(properties.multiProcessorCount);
  latencies();
  boxes(properties.multiProcessorCount);
}
