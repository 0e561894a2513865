// The links between GPUs, and to the host, in CUDA C++, for comparison with `ridgepoint links`, by the method of NVIDIA's nvbandwidth:
// 16 copies in a row between two events, warmed up, the median of 5 such loops; both ways at once each direction has its own stream,
// and the rates of both are added up. What is written to is poisoned before, and compared afterwards.
//
//   nvcc -O3 -arch=sm_90 links.cu -o links && ./links >links-cuda.json
//
// Prints one object per figure: the quantity as `ridgepoint links` calls it, the ends, and bytes per second, seconds or
// operations per second.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#define CHECK(call)                                                                             \
    do {                                                                                        \
        cudaError_t error = (call);                                                             \
        if (error != cudaSuccess) {                                                             \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(error)); \
            exit(3);                                                                            \
        }                                                                                       \
    } while (0)

constexpr size_t BYTES = size_t(512) << 20;
constexpr size_t VECTORS = BYTES / sizeof(uint4);
constexpr int ROUNDS = 5, TRANSFERS = 16, LOADS = 20000, ADDITIONS = 256;
constexpr int THREADS = 512, IN_FLIGHT = 12;

__host__ __device__ uint4 sent(size_t i, unsigned sender) {
    unsigned word = unsigned(i) * 0x9E3779B1u ^ sender * 0x85EBCA6Bu;
    return make_uint4(word, ~word, word ^ 0x55555555u, word + 1);
}

__global__ void fill(uint4 *to, unsigned sender) {
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < VECTORS; i += size_t(gridDim.x) * blockDim.x)
        to[i] = sent(i, sender);
}

__global__ void compare(const uint4 *came, unsigned sender, unsigned long long *wrong) {
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < VECTORS; i += size_t(gridDim.x) * blockDim.x) {
        uint4 a = came[i], b = sent(i, sender);
        if (a.x != b.x || a.y != b.y || a.z != b.z || a.w != b.w) atomicAdd(wrong, 1ull);
    }
}

// As many loads in flight as nvbandwidth's kernel has, in a grid of a block per multiprocessor or several.
__global__ void copy(const uint4 *from, uint4 *to) {
    size_t step = size_t(gridDim.x) * blockDim.x, i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    for (; i + (IN_FLIGHT - 1) * step < VECTORS; i += IN_FLIGHT * step) {
        uint4 part[IN_FLIGHT];
#pragma unroll
        for (int j = 0; j < IN_FLIGHT; j++) part[j] = from[i + j * step];
#pragma unroll
        for (int j = 0; j < IN_FLIGHT; j++) to[i + j * step] = part[j];
    }
    for (; i < VECTORS; i += step) to[i] = from[i];
}

__global__ void follow(const unsigned *next, unsigned *end, int loads) {
    unsigned at = *end;
    for (int i = 0; i < loads; i++) at = next[at];
    *end = at;
}

__global__ void add(unsigned stride, unsigned value, int steps, unsigned *counters) {
    unsigned *counter = counters + (blockIdx.x * size_t(blockDim.x) + threadIdx.x) * stride;
    for (int i = 0; i < steps; i++) atomicAdd_system(counter, value);
}

struct Gpu {
    cudaStream_t stream[2];
    uint4 *source, *target;
    int multiprocessors;
};

// One direction: whose stream, which of its two, and what puts a transfer into it.
struct Flow {
    int gpu, stream;
    std::function<void(cudaStream_t)> put;
};

static std::vector<Gpu> gpus;
static bool is_first = true;

static std::string name(int gpu) { return gpu < 0 ? "host" : "cuda:" + std::to_string(gpu); }

static void say(const char *quantity, int from, int to, double value, const char *by) {
    printf("%s{\"quantity\": \"%s\", \"from\": \"%s\", \"to\": \"%s\", \"value\": %.6e, \"by\": \"%s\"}",
           is_first ? "[\n" : ",\n", quantity, name(from).c_str(), name(to).c_str(), value, by);
    is_first = false;
}

static double median(std::vector<double> samples) {
    std::sort(samples.begin(), samples.end());
    return samples[samples.size() / 2];
}

// The median of the sum of the flows' rates, each by its own events; none begins before the first one can.
static double rate(const std::vector<Flow> &flows, int transfers, double amount) {
    std::vector<double> rates;
    for (int round = 0; round <= ROUNDS; round++) {
        std::vector<cudaEvent_t> events(2 * flows.size());
        cudaEvent_t begun;
        CHECK(cudaSetDevice(flows[0].gpu));
        CHECK(cudaEventCreateWithFlags(&begun, cudaEventDisableTiming));
        CHECK(cudaEventRecord(begun, gpus[flows[0].gpu].stream[flows[0].stream]));
        for (size_t f = 0; f < flows.size(); f++) {
            cudaStream_t stream = gpus[flows[f].gpu].stream[flows[f].stream];
            CHECK(cudaSetDevice(flows[f].gpu));
            CHECK(cudaStreamWaitEvent(stream, begun, 0));
            for (int e = 0; e < 2; e++) CHECK(cudaEventCreate(&events[2 * f + e]));
            CHECK(cudaEventRecord(events[2 * f], stream));
            for (int i = 0; i < transfers; i++) flows[f].put(stream);
            CHECK(cudaGetLastError());
            CHECK(cudaEventRecord(events[2 * f + 1], stream));
        }
        double sum = 0;
        for (size_t f = 0; f < flows.size(); f++) {
            float milliseconds;
            CHECK(cudaSetDevice(flows[f].gpu));
            CHECK(cudaEventSynchronize(events[2 * f + 1]));
            CHECK(cudaEventElapsedTime(&milliseconds, events[2 * f], events[2 * f + 1]));
            sum += amount * transfers / (milliseconds / 1e3);
            for (int e = 0; e < 2; e++) CHECK(cudaEventDestroy(events[2 * f + e]));
        }
        CHECK(cudaSetDevice(flows[0].gpu));
        CHECK(cudaEventDestroy(begun));
        if (round > 0) rates.push_back(sum);
    }
    return median(rates);
}

static void poison(int gpu) {
    CHECK(cudaSetDevice(gpu));
    CHECK(cudaMemset(gpus[gpu].target, 0xFF, BYTES));
    CHECK(cudaDeviceSynchronize());
}

static void check(int gpu, unsigned sender) {
    unsigned long long *wrong, found;
    CHECK(cudaSetDevice(gpu));
    CHECK(cudaMalloc(&wrong, sizeof *wrong));
    CHECK(cudaMemset(wrong, 0, sizeof *wrong));
    compare<<<1024, 256>>>(gpus[gpu].target, sender, wrong);
    CHECK(cudaMemcpy(&found, wrong, sizeof found, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(wrong));
    if (found > 0) {
        fprintf(stderr, "%llu of %zu vectors are wrong on GPU %d\n", found, VECTORS, gpu);
        exit(1);
    }
}

static void between(int from, int to, bool both, bool reads, int blocks) {
    auto flow = [=](int from, int to) {
        int by = reads ? to : from;
        Gpu &a = gpus[from], &b = gpus[to];
        int grid = blocks * gpus[by].multiprocessors;
        return Flow{by, 0, [=](cudaStream_t stream) {
            if (blocks > 0) copy<<<grid, THREADS, 0, stream>>>(a.source, b.target);
            else CHECK(cudaMemcpyPeerAsync(b.target, to, a.source, from, BYTES, stream));
        }};
    };
    poison(to);
    std::vector<Flow> flows{flow(from, to)};
    if (both) {
        poison(from);
        flows.push_back(flow(to, from));
    }
    double value = rate(flows, TRANSFERS, double(BYTES));
    check(to, from);
    if (both) check(from, to);
    std::string quantity = blocks == 0 ? "copy" : reads ? "kernel reads" : "kernel writes";
    if (both) quantity += ", both ways";
    std::string by = blocks == 0 ? (reads ? "fetched" : "sent") : std::to_string(blocks) + " blocks per multiprocessor";
    say(quantity.c_str(), from, to, value, by.c_str());
}

static void chase(int from, int to) {
    // Places of a random cycle, 128 bytes apart, of 2 MiB.
    constexpr int PLACES = (2 << 20) / 128, STRIDE = 32;
    std::vector<unsigned> order(PLACES), next(PLACES * STRIDE);
    for (int i = 0; i < PLACES; i++) order[i] = i;
    srand(1);
    for (int i = PLACES - 1; i > 0; i--) std::swap(order[i], order[rand() % i]);
    for (int i = 0; i < PLACES; i++) next[i * STRIDE] = order[i] * STRIDE;
    unsigned *there, *end;
    CHECK(cudaSetDevice(from));
    CHECK(cudaMalloc(&there, next.size() * sizeof(unsigned)));
    CHECK(cudaMemcpy(there, next.data(), next.size() * sizeof(unsigned), cudaMemcpyHostToDevice));
    CHECK(cudaSetDevice(to));
    CHECK(cudaMalloc(&end, sizeof *end));
    CHECK(cudaMemset(end, 0, sizeof *end));
    CHECK(cudaDeviceSynchronize());
    double loads = rate({Flow{to, 0, [=](cudaStream_t stream) { follow<<<1, 1, 0, stream>>>(there, end, LOADS); }}}, 1, LOADS);
    unsigned came, at = 0;
    CHECK(cudaMemcpy(&came, end, sizeof came, cudaMemcpyDeviceToHost));
    for (int i = 0; i < LOADS * (ROUNDS + 1); i++) at = next[at];
    if (came != at) {
        fprintf(stderr, "the chase is at %u, not at %u\n", came, at);
        exit(1);
    }
    say("load latency", from, to, 1 / loads, "follow");
    CHECK(cudaFree(end));
    CHECK(cudaFree(there));
}

static void additions(int from, int to, unsigned stride) {
    constexpr unsigned BLOCK = 256, VALUE = 3;
    unsigned blocks = 8 * gpus[from].multiprocessors;
    size_t threads = size_t(blocks) * BLOCK, counters = stride ? threads : 1;
    unsigned *there;
    CHECK(cudaSetDevice(to));
    CHECK(cudaMalloc(&there, counters * sizeof(unsigned)));
    CHECK(cudaMemset(there, 0, counters * sizeof(unsigned)));
    CHECK(cudaDeviceSynchronize());
    auto put = [=](cudaStream_t stream) { add<<<blocks, BLOCK, 0, stream>>>(stride, VALUE, ADDITIONS, there); };
    double value = rate({Flow{from, 0, put}}, 1, double(threads) * ADDITIONS);
    std::vector<unsigned> sums(counters);
    CHECK(cudaMemcpy(sums.data(), there, counters * sizeof(unsigned), cudaMemcpyDeviceToHost));
    unsigned expected = unsigned(threads / counters) * VALUE * ADDITIONS * (ROUNDS + 1);
    for (unsigned sum : sums)
        if (sum != expected) {
            fprintf(stderr, "a counter is %u, not %u\n", sum, expected);
            exit(1);
        }
    say(stride ? "atomic adds, spread" : "atomic adds, one address", from, to, value, "add");
    CHECK(cudaFree(there));
}

static void with_host(int gpu, uint4 *source, uint4 *target) {
    Flow up{gpu, 0, [=](cudaStream_t stream) {
        CHECK(cudaMemcpyAsync(gpus[gpu].target, source, BYTES, cudaMemcpyHostToDevice, stream));
    }};
    Flow down{gpu, 1, [=](cudaStream_t stream) {
        CHECK(cudaMemcpyAsync(target, gpus[gpu].source, BYTES, cudaMemcpyDeviceToHost, stream));
    }};
    auto compared = [&] {
        for (size_t i = 0; i < VECTORS; i += 997)
            if (target[i].x != sent(i, gpu).x) {
                fprintf(stderr, "vector %zu from GPU %d is wrong\n", i, gpu);
                exit(1);
            }
    };
    unsigned host = unsigned(gpus.size());
    poison(gpu);
    say("copy", -1, gpu, rate({up}, 4, double(BYTES)), "copy engine");
    check(gpu, host);
    std::fill(target, target + VECTORS, make_uint4(0, 0, 0, 0));
    say("copy", gpu, -1, rate({down}, 4, double(BYTES)), "copy engine");
    compared();
    poison(gpu);
    std::fill(target, target + VECTORS, make_uint4(0, 0, 0, 0));
    say("copy, both ways", -1, gpu, rate({up, down}, 4, double(BYTES)), "copy engine");
    check(gpu, host);
    compared();
}

int main() {
    int count;
    CHECK(cudaGetDeviceCount(&count));
    gpus.resize(count);
    for (int gpu = 0; gpu < count; gpu++) {
        CHECK(cudaSetDevice(gpu));
        for (cudaStream_t &stream : gpus[gpu].stream) CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
        CHECK(cudaMalloc(&gpus[gpu].source, BYTES));
        CHECK(cudaMalloc(&gpus[gpu].target, BYTES));
        CHECK(cudaDeviceGetAttribute(&gpus[gpu].multiprocessors, cudaDevAttrMultiProcessorCount, gpu));
        fill<<<1024, 256>>>(gpus[gpu].source, gpu);
        CHECK(cudaDeviceSynchronize());
    }
    std::vector<std::vector<bool>> reaches(count, std::vector<bool>(count));
    for (int on = 0; on < count; on++)
        for (int peer = 0; peer < count; peer++) {
            int can = 0;
            if (on != peer) CHECK(cudaDeviceCanAccessPeer(&can, on, peer));
            if (!can) continue;
            CHECK(cudaSetDevice(on));
            CHECK(cudaDeviceEnablePeerAccess(peer, 0));
            reaches[on][peer] = true;
        }
    uint4 *source, *target;
    CHECK(cudaHostAlloc(&source, BYTES, cudaHostAllocPortable));
    CHECK(cudaHostAlloc(&target, BYTES, cudaHostAllocPortable));
    for (size_t i = 0; i < VECTORS; i++) source[i] = sent(i, count);
    for (int gpu = 0; gpu < count; gpu++) with_host(gpu, source, target);
    for (int from = 0; from < count; from++)
        for (int to = 0; to < count; to++) {
            if (from == to) continue;
            for (bool both : {false, true}) {
                if (both && from > to) continue;
                for (bool reads : {false, true}) {
                    between(from, to, both, reads, 0);
                    bool there = reaches[from][to] && reaches[to][from];
                    for (int blocks : {1, 2, 4})
                        if (there) between(from, to, both, reads, blocks);
                }
            }
            if (reaches[to][from]) chase(from, to);
            if (reaches[from][to])
                for (unsigned stride : {0u, 1u}) additions(from, to, stride);
        }
    printf("\n]\n");
    return 0;
}
