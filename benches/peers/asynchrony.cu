// Device copies, and the work of `ridgepoint dispatch` in CUDA C++: launches and graphs. Prints a line for
// each: name, size, microseconds.
//
//     nvcc -arch=sm_90 -O3 -std=c++17 -o asynchrony asynchrony.cu && ./asynchrony

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#define CHECK(call)                                                                    \
  do {                                                                                 \
    cudaError_t error = (call);                                                        \
    if (error != cudaSuccess) {                                                        \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error));   \
      exit(1);                                                                         \
    }                                                                                  \
  } while (0)

using Clock = std::chrono::steady_clock;

static double median(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  return samples[samples.size() / 2];
}

static double microseconds(Clock::time_point since) {
  return std::chrono::duration<double, std::micro>(Clock::now() - since).count();
}

// A launch in a graph of as many as Ridgepoint's bench puts into its own: the device's time alone,
// without the host's.
static double device_time(cudaStream_t stream, const std::function<void()> &launch) {
  const int nodes = 20, replays = 30;
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  for (int i = 0; i < nodes; i++) launch();
  CHECK(cudaStreamEndCapture(stream, &graph));
  CHECK(cudaGraphInstantiate(&executable, graph, 0));
  CHECK(cudaGraphLaunch(executable, stream));
  cudaEvent_t start, end;
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&end));
  std::vector<double> samples;
  for (int i = 0; i < replays; i++) {
    CHECK(cudaEventRecord(start, stream));
    CHECK(cudaGraphLaunch(executable, stream));
    CHECK(cudaEventRecord(end, stream));
    CHECK(cudaStreamSynchronize(stream));
    float milliseconds;
    CHECK(cudaEventElapsedTime(&milliseconds, start, end));
    samples.push_back(milliseconds * 1e3 / nodes);
  }
  CHECK(cudaEventDestroy(start));
  CHECK(cudaEventDestroy(end));
  CHECK(cudaGraphExecDestroy(executable));
  CHECK(cudaGraphDestroy(graph));
  return median(samples);
}

static void copies(cudaStream_t stream) {
  size_t bytes = sizeof(float) << 28;
  char *from, *to;
  CHECK(cudaMalloc(&from, bytes));
  CHECK(cudaMalloc(&to, bytes));
  CHECK(cudaMemset(from, 1, bytes));
  printf("copy 28 %.4f\n", device_time(stream, [&] {
           CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream));
         }));
  CHECK(cudaFree(from));
  CHECK(cudaFree(to));
}

__global__ void count(unsigned *counter) {
  if (threadIdx.x == 0) *counter += 1;
}

// The loop of `ridgepoint dispatch`: what a launch takes the host, and until all are known done.
static void dispatch(cudaStream_t stream) {
  const int rounds = 21, launches = 500;
  unsigned *counter;
  CHECK(cudaMalloc(&counter, sizeof *counter));
  CHECK(cudaMemset(counter, 0, sizeof *counter));
  CHECK(cudaDeviceSynchronize());
  auto measure = [&](const char *name, const std::function<void()> &loop) {
    std::vector<double> host, complete;
    loop();
    for (int round = 0; round < rounds; round++) {
      CHECK(cudaStreamSynchronize(stream));
      auto began = Clock::now();
      loop();
      host.push_back(microseconds(began) / launches);
      CHECK(cudaStreamSynchronize(stream));
      complete.push_back(microseconds(began) / launches);
    }
    printf("%s_host %d %.4f\n%s_complete %d %.4f\n", name, launches, median(host), name, launches,
           median(complete));
  };
  auto with_barriers = [&](int each) {
    return [=] {
      for (int i = 1; i <= launches; i++) {
        count<<<1, 32, 0, stream>>>(counter);
        if (i % each == 0) CHECK(cudaStreamSynchronize(stream));
      }
      CHECK(cudaGetLastError());
    };
  };
  measure("barrier_each", with_barriers(1));
  measure("barrier_tenth", with_barriers(10));
  measure("no_barrier", with_barriers(launches + 1));
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  with_barriers(launches + 1)();
  CHECK(cudaStreamEndCapture(stream, &graph));
  CHECK(cudaGraphInstantiate(&executable, graph, 0));
  measure("graph", [&] { CHECK(cudaGraphLaunch(executable, stream)); });
}

int main() {
  cudaStream_t stream;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  dispatch(stream);
  copies(stream);
}
