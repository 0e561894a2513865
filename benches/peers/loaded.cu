// Loads that wait for others, or for a far partition of the L2 cache, as `ridgepoint ceilings` times them, in CUDA C++: nvcc's peers of
// kernels-gpu/src/ceilings/{partitions,busy}.rs. sharing.py compiles and runs it, and loaded.py reads what it prints: a line for
// each launch.
//
//   busy QUANTITY READERS B/S CYCLES NANOSECONDS    what a load of the chase takes beside so many blocks that read so fast
//   lines LINES CYCLES...                           of each load, block by block, each of so many lines

#include "launches.cuh"

// Lines of a block, elements of a line, and lines to the next that is loaded.
constexpr unsigned LINES = 512, LINE = 32, STEP = 97;
// Vectors that a thread reads at a time, and words of `out` before the readers'.
constexpr unsigned UNROLL = 8, HEAD = 4;

__device__ unsigned long long nanoseconds() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now)::"memory");
  return now;
}

// Relaxed accesses of global memory: of CUDA's own for any address nvcc makes generic ones, whose loads take longer.
__device__ unsigned load(const unsigned *from) {
  unsigned value;
  asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];"
               : "=r"(value)
               : "l"(__cvta_generic_to_global(from))
               : "memory");
  return value;
}

__device__ unsigned long long load(const unsigned long long *from) {
  unsigned long long value;
  asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];"
               : "=l"(value)
               : "l"(__cvta_generic_to_global(from))
               : "memory");
  return value;
}

__device__ void store(unsigned *to, unsigned value) {
  asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(__cvta_generic_to_global(to)), "r"(value)
               : "memory");
}

__device__ void store(unsigned long long *to, unsigned long long value) {
  asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(__cvta_generic_to_global(to)), "l"(value)
               : "memory");
}

// Where a block's line begins, and the line that is loaded after this one.
__host__ __device__ unsigned element(unsigned line, unsigned block, unsigned blocks) {
  return (line * blocks + block) * LINE;
}
__host__ __device__ unsigned next_line(unsigned line) { return (line + STEP) % LINES; }

// Each block, of one thread, times a load from each of its lines, and then writes the lines of the next block anew.
extern "C" __global__ void time_lines(unsigned *words, unsigned *cycles) {
  __shared__ volatile unsigned found;
  __shared__ unsigned times[LINES];
  unsigned block = blockIdx.x, blocks = gridDim.x, line = 0;
#pragma unroll 16
  for (unsigned i = 0; i < LINES; i++) {
    unsigned *place = words + element(line, block, blocks);
    asm volatile("" : "+l"(place)::"memory");  // An address that is worked out before the clock is read, as in Rust.
    long long before = clock64();
    unsigned after = load(place);
    found = after;  // Before the clock is read, so that the load has come.
    times[line] = clock64() - before;
    line = after;
  }
  for (unsigned line = 0; line < LINES; line++) {
    cycles[block * LINES + line] = times[line];
    store(words + element(line, (block + 1) % blocks, blocks), next_line(line));
  }
}

// Goes on from `out[2]`, and writes cycles, nanoseconds and where it ended.
__device__ void follow(const unsigned *next, unsigned steps, unsigned long long *out) {
  unsigned at = (unsigned)out[2];
  long long ticks = clock64();
  unsigned long long began = nanoseconds();
#pragma unroll 8
  for (unsigned i = 0; i < steps; i++) at = next[at];
  out[2] = at;
  out[0] = clock64() - ticks;
  out[1] = nanoseconds() - began;
}

// The block reads so many vectors, eight of a thread at a time, and adds up the words.
__device__ unsigned read_chunk(const uint4 *chunk, unsigned vectors) {
  unsigned sum = 0;
  for (size_t first = threadIdx.x; first < vectors; first += UNROLL * blockDim.x) {
    uint4 words[UNROLL];
#pragma unroll
    for (unsigned j = 0; j < UNROLL; j++) words[j] = chunk[first + j * blockDim.x];
#pragma unroll
    for (uint4 each : words) sum += each.x + each.y + each.z + each.w;
  }
  return sum;
}

// The first block's first thread follows `next`, and then writes the number of this launch to `out[3]`. The others read meanwhile: in
// each pass the chunk of the block that is one further on. Each writes its passes and their nanoseconds.
extern "C" __global__ void chase_while_read(const unsigned *next, unsigned steps, const uint4 *x,
                                            size_t vectors, unsigned long long launch,
                                            unsigned long long *out, unsigned *sums) {
  unsigned sum = 0, readers = gridDim.x - 1;
  unsigned long long *ended = out + HEAD - 1;
  if (blockIdx.x > 0) {
    unsigned long long began = nanoseconds();
    unsigned chunk = (unsigned)vectors / readers, block = blockIdx.x - 1, passes = 0;
    bool is_over = false;
    do {
      sum += read_chunk(x + (size_t)block * chunk, chunk);
      passes++;
      block = block + 1 < readers ? block + 1 : 0;
      is_over = threadIdx.x == 0 && load(ended) >= launch;
    } while (!__syncthreads_or(is_over));
    if (threadIdx.x == 0) {
      unsigned long long *pair = out + HEAD + 2 * (blockIdx.x - 1);
      pair[0] = passes;
      pair[1] = nanoseconds() - began;
    }
  } else if (threadIdx.x == 0) {
    follow(next, steps, out);
    store(ended, launch);
  }
  sum = __reduce_add_sync(~0u, sum);
  if (threadIdx.x % 32 == 0) sums[(blockIdx.x * blockDim.x + threadIdx.x) / 32] = sum;
}

extern "C" __global__ void fill(uint4 *x, unsigned vectors) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < vectors; i += gridDim.x * blockDim.x)
    x[i] = make_uint4(i, ~i, i * 0x9E3779B1, i ^ 0x5555);
}

// As in crates/harness/src/ceilings/busy.rs: threads of a block, sixteenths of the other multiprocessors that read, loads of a chase.
constexpr unsigned BLOCK = 1024, SIXTEENTHS[] = {0, 1, 2, 3, 4, 6, 8, 16}, LOADS = STEPS / 10;
constexpr unsigned STEP_VECTORS = UNROLL * BLOCK;

// What is followed and read: bytes.
struct Place {
  const char *quantity;
  unsigned chased, read;
};

// The launch's line, of what it left in `out`.
void print(Place place, unsigned readers, size_t chunk, const unsigned long long *out) {
  double rate = 0;
  for (unsigned reader = 0; reader < readers; reader++) {
    const unsigned long long *pair = out + HEAD + 2 * reader;
    rate += pair[0] * (chunk * 16.0) / (std::max(1ull, pair[1]) / 1e9);
  }
  std::printf("busy %s %u %.6e %.3f %.3f\n", place.quantity, readers, rate, out[0] / double(LOADS),
              out[1] / double(LOADS));
}

void busy(unsigned multiprocessors, Place place) {
  unsigned others = multiprocessors - 1, words = HEAD + 2 * others;
  unsigned vectors = std::max(place.read / 16, others * STEP_VECTORS);
  unsigned *next = cycle(place.chased / 128, LINE);
  unsigned *sums = array<unsigned>(multiprocessors * BLOCK / 32);
  uint4 *x = array<uint4>(vectors);
  fill<<<multiprocessors, BLOCK>>>(x, vectors);
  auto *out = array<unsigned long long>(words), *log = array<unsigned long long>(words * RUNS);
  // The chase goes on through all levels: where a launch begins, the cache does not have what one before has read.
  unsigned long long launch = 0;
  for (unsigned sixteenths : SIXTEENTHS) {
    unsigned readers = (others * sixteenths + 15) / 16;
    unsigned steps = std::max(1u, place.read / 16 / STEP_VECTORS / std::max(1u, readers));
    size_t chunk = size_t(steps) * STEP_VECTORS;
    for (int i = -WARMUP; i < RUNS; i++) {
      chase_while_read<<<1 + readers, BLOCK>>>(next, LOADS, x, readers * chunk, ++launch, out, sums);
      require(cudaGetLastError(), place.quantity);
      auto *to = log + std::max(0, i) * words;
      require(cudaMemcpyAsync(to, out, words * 8, cudaMemcpyDeviceToDevice), place.quantity);
    }
    std::vector<unsigned long long> logged(words * RUNS);
    require(cudaMemcpy(logged.data(), log, logged.size() * 8, cudaMemcpyDeviceToHost), place.quantity);
    for (int i = 0; i < RUNS; i++) print(place, readers, chunk, &logged[i * words]);
  }
  for (void *it : {(void *)next, (void *)sums, (void *)x, (void *)out, (void *)log})
    require(cudaFree(it), "cudaFree");
}

void partitions(unsigned blocks) {
  std::vector<unsigned> lines(blocks * LINES * LINE), cycles(RUNS * blocks * LINES);
  for (unsigned block = 0; block < blocks; block++)
    for (unsigned line = 0; line < LINES; line++)
      lines[element(line, block, blocks)] = next_line(line);
  unsigned *words = array_of(lines), *log = array<unsigned>(cycles.size());
  for (int i = -WARMUP; i < RUNS; i++)
    time_lines<<<blocks, 1>>>(words, log + std::max(0, i) * blocks * LINES);
  require(cudaGetLastError(), "time_lines");
  require(cudaMemcpy(cycles.data(), log, 4 * cycles.size(), cudaMemcpyDeviceToHost), "time_lines");
  for (size_t i = 0; i < cycles.size(); i++) {
    if (i % (blocks * LINES) == 0) std::printf("%slines %u", i ? "\n" : "", LINES);
    std::printf(" %u", cycles[i]);
  }
  std::printf("\n");
}

int main() {
  cudaDeviceProp properties;
  require(cudaGetDeviceProperties(&properties, 0), "device");
  busy(properties.multiProcessorCount, {"busy-memory-latency", 512 << 20, 256 << 20});
  busy(properties.multiProcessorCount, {"busy-l2-latency", 8 << 20, 16 << 20});
  partitions(properties.multiProcessorCount);
}
