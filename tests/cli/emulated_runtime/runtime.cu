// Calls the runtime as programs of nvcc do. It ends with 0 if each answer is the one that NVIDIA documents.
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>

static int failed = 0;
#define EXPECT(condition) \
  do { if (!(condition)) { printf("%s:%d: %s\n", __FILE__, __LINE__, #condition); failed = 1; } } while (0)
#define OK(call) \
  do { cudaError_t e = (call); if (e) { printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorName(e)); failed = 1; } } while (0)

__constant__ float factor[2] = {2, 3};
__device__ int counter;
__managed__ int shown = 5;

__global__ void scale(float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= factor[0];
  if (i == 0) { counter += 1; shown += 1; }
}
template <int N> __global__ void __launch_bounds__(N) fill(int *x, int value) { x[blockIdx.x * N + threadIdx.x] = value; }
__global__ void in_shared(int *x) {
  extern __shared__ int words[];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  words[threadIdx.x] = x[i];
  x[i] = words[threadIdx.x] + 1;
}
static void CUDART_CB note(void *at) { *(int *)at += 1; }
static void CUDART_CB told(cudaStream_t, cudaError_t status, void *at) { *(int *)at += 10 + status; }

static void devices() {
  int count = 0, device = -1, value = 0;
  OK(cudaGetDeviceCount(&count));
  OK(cudaGetDevice(&device));
  EXPECT(count >= 1 && device == 0);
  OK(cudaSetDevice(0));
  EXPECT(cudaSetDevice(count) == cudaErrorInvalidDevice);
  EXPECT(cudaPeekAtLastError() == cudaErrorInvalidDevice);
  EXPECT(cudaGetLastError() == cudaErrorInvalidDevice && cudaGetLastError() == cudaSuccess);
  struct { cudaDeviceProp p; char guard[64]; } room;
  memset(&room, 0x5a, sizeof room);
  OK(cudaGetDeviceProperties(&room.p, 0));
  for (char byte : room.guard) EXPECT(byte == 0x5a);
  EXPECT(room.p.warpSize == 32 && room.p.maxThreadsPerBlock == 1024 && room.p.maxGridSize[1] == 65535);
  OK(cudaDeviceGetAttribute(&value, cudaDevAttrComputeCapabilityMajor, 0));
  EXPECT(value == room.p.major);
  OK(cudaDeviceGetAttribute(&value, cudaDevAttrClusterLaunch, 0));
  EXPECT(value == room.p.clusterLaunch);
  OK(cudaDeviceGetAttribute(&value, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
  EXPECT(value == (int)room.p.sharedMemPerBlockOptin);
  OK(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0));
  EXPECT(value == room.p.multiProcessorCount);
  EXPECT(room.p.maxTexture2D[1] == 65536 && room.p.surfaceAlignment == 512);
  OK(cudaDriverGetVersion(&value));
  EXPECT(value >= 12000);
  OK(cudaRuntimeGetVersion(&value));
  EXPECT(value / 1000 == CUDART_VERSION / 1000);
  size_t bytes = 0, total = 0;
  OK(cudaMemGetInfo(&bytes, &total));
  EXPECT(bytes <= total && total == room.p.totalGlobalMem);
  OK(cudaDeviceGetLimit(&bytes, cudaLimitStackSize));
  EXPECT(strcmp(cudaGetErrorName(cudaErrorInvalidConfiguration), "cudaErrorInvalidConfiguration") == 0);
  EXPECT(strcmp(cudaGetErrorString(cudaErrorInvalidValue), "invalid argument") == 0);
  EXPECT(strcmp(cudaGetErrorString(cudaSuccess), "no error") == 0);
}

static void memory() {
  float host[64], back[64], *x, *rows;
  for (int i = 0; i < 64; i++) host[i] = i;
  OK(cudaMalloc(&x, sizeof host));
  OK(cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice));
  OK(cudaMemcpy(back, x, sizeof host, cudaMemcpyDefault));
  EXPECT(memcmp(host, back, sizeof host) == 0);
  EXPECT(cudaMemcpy(x, host, sizeof host, (cudaMemcpyKind)9) == cudaErrorInvalidMemcpyDirection);
  cudaPointerAttributes about;
  OK(cudaPointerGetAttributes(&about, x + 3));
  EXPECT(about.type == cudaMemoryTypeDevice && about.devicePointer == x + 3);
  OK(cudaPointerGetAttributes(&about, host));
  EXPECT(about.type == cudaMemoryTypeUnregistered);
  void *nothing = &failed;
  OK(cudaMalloc(&nothing, 0));
  EXPECT(nothing == nullptr);
  OK(cudaFree(nullptr));
  EXPECT(cudaMalloc(&nothing, (size_t)1 << 50) == cudaErrorMemoryAllocation);
  size_t pitch = 0;
  OK(cudaMallocPitch(&rows, &pitch, 5 * sizeof(float), 4));
  EXPECT(pitch >= 20);
  OK(cudaMemset2D(rows, pitch, 0, 20, 4));
  OK(cudaMemcpy2D(rows, pitch, host, 20, 20, 4, cudaMemcpyHostToDevice));
  OK(cudaMemcpy2D(back, 20, rows, pitch, 20, 4, cudaMemcpyDeviceToHost));
  EXPECT(memcmp(host, back, 80) == 0);
  EXPECT(cudaMemcpy2D(back, 10, rows, pitch, 20, 4, cudaMemcpyDeviceToHost) == cudaErrorInvalidPitchValue);
  cudaPitchedPtr volume;
  cudaExtent extent = make_cudaExtent(8, 4, 2);
  OK(cudaMalloc3D(&volume, extent));
  OK(cudaMemset3D(volume, 7, extent));
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = volume;
  copy.dstPtr = make_cudaPitchedPtr(back, 8, 8, 4);
  copy.extent = extent;
  copy.kind = cudaMemcpyDeviceToHost;
  OK(cudaMemcpy3D(&copy));
  EXPECT(((char *)back)[0] == 7 && ((char *)back)[63] == 7);
  float *locked, *managed;
  OK(cudaMallocHost(&locked, sizeof host));
  memcpy(locked, host, sizeof host);
  OK(cudaMallocManaged(&managed, sizeof host));
  memcpy(managed, host, sizeof host);
  OK(cudaPointerGetAttributes(&about, managed));
  EXPECT(about.type == cudaMemoryTypeManaged);
  OK(cudaPointerGetAttributes(&about, locked));
  EXPECT(about.type == cudaMemoryTypeHost);
  scale<<<1, 64>>>(managed, 64);
  OK(cudaDeviceSynchronize());
  EXPECT(managed[63] == 126);
  OK(cudaFree(managed));
  OK(cudaFreeHost(locked));
  OK(cudaFree(volume.ptr));
  OK(cudaFree(rows));
  OK(cudaFree(x));
  cudaGetLastError();
}

static void variables() {
  float host[2] = {10, 20}, back[2] = {};
  int number = 0;
  OK(cudaMemcpyToSymbol(factor, host, sizeof host));
  OK(cudaMemcpyFromSymbol(back, factor, sizeof back));
  EXPECT(back[1] == 20);
  EXPECT(cudaMemcpyToSymbol(factor, host, sizeof host, 4) == cudaErrorInvalidValue);
  EXPECT(cudaMemcpyToSymbol(host, host, sizeof host) == cudaErrorInvalidSymbol);
  size_t bytes = 0;
  OK(cudaGetSymbolSize(&bytes, factor));
  EXPECT(bytes == 8);
  void *address = nullptr;
  OK(cudaGetSymbolAddress(&address, counter));
  cudaPointerAttributes about;
  OK(cudaPointerGetAttributes(&about, address));
  EXPECT(about.type == cudaMemoryTypeDevice && about.device == 0);
  OK(cudaMemcpy(&number, address, 4, cudaMemcpyDeviceToHost));
  EXPECT(number == 1);
  EXPECT(shown == 6);
  cudaGetLastError();
}

static void launches() {
  int *x, back[128];
  OK(cudaMalloc(&x, sizeof back));
  fill<64><<<2, 64>>>(x, 3);
  OK(cudaGetLastError());
  OK(cudaMemcpy(back, x, sizeof back, cudaMemcpyDeviceToHost));
  EXPECT(back[0] == 3 && back[127] == 3);
  // As an H200 answers with driver 580; before CUDA 13 they were cudaErrorInvalidConfiguration and cudaErrorInvalidDeviceFunction.
  fill<64><<<0, 64>>>(x, 3);
  EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
  cudaFuncAttributes about;
  OK(cudaFuncGetAttributes(&about, fill<64>));
  EXPECT(about.maxThreadsPerBlock == 64 && about.sharedSizeBytes == 0);
  int value = 4;
  void *arguments[] = {&x, &value};
  OK(cudaLaunchKernel((const void *)fill<32>, dim3(4), dim3(32), arguments, 0, nullptr));
  OK(cudaMemcpy(back, x, sizeof back, cudaMemcpyDeviceToHost));
  EXPECT(back[127] == 4);
  EXPECT(cudaLaunchKernel((const void *)back, dim3(1), dim3(1), arguments, 0, nullptr) == cudaErrorInvalidResourceHandle);
  EXPECT(cudaLaunchKernel(nullptr, dim3(1), dim3(1), arguments, 0, nullptr) == cudaErrorInvalidDeviceFunction);
  cudaGetLastError();
  OK(cudaMemset(x, 0, sizeof back));
  void *one[] = {&x};
  OK(cudaLaunchCooperativeKernel((const void *)in_shared, dim3(2), dim3(64), one, 256, nullptr));
  OK(cudaMemcpy(back, x, sizeof back, cudaMemcpyDeviceToHost));
  EXPECT(back[0] == 1 && back[127] == 1);
  OK(cudaFuncSetAttribute(in_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536));
  int blocks = 0, best = 0, least = 0;
  OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, fill<64>, 64, 0));
  EXPECT(blocks == 32);
  OK(cudaOccupancyMaxPotentialBlockSize(&least, &best, scale, 0, 0));
  EXPECT(best == 1024);
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(2);
  config.blockDim = dim3(64);
  OK(cudaLaunchKernelEx(&config, fill<64>, x, 9));
  OK(cudaMemcpy(back, x, sizeof back, cudaMemcpyDeviceToHost));
  EXPECT(back[127] == 9);
  OK(cudaFree(x));
  cudaGetLastError();
}

static void streams() {
  cudaStream_t stream, other;
  cudaEvent_t start, end;
  float milliseconds = -1;
  int *x, back[64], notes = 0;
  OK(cudaStreamCreate(&stream));
  OK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
  OK(cudaEventCreate(&start));
  OK(cudaEventCreateWithFlags(&end, cudaEventDefault));
  OK(cudaMallocAsync(&x, sizeof back, stream));
  OK(cudaEventRecord(start, stream));
  fill<64><<<1, 64, 0, stream>>>(x, 1);
  OK(cudaEventRecord(end, stream));
  OK(cudaStreamWaitEvent(other, end));
  OK(cudaMemcpyAsync(back, x, sizeof back, cudaMemcpyDeviceToHost, other));
  OK(cudaLaunchHostFunc(other, note, &notes));
  OK(cudaStreamAddCallback(other, told, &notes, 0));
  OK(cudaStreamSynchronize(other));
  EXPECT(back[63] == 1 && notes == 11);
  OK(cudaEventSynchronize(end));
  OK(cudaEventElapsedTime(&milliseconds, start, end));
  EXPECT(milliseconds >= 0);
  OK(cudaStreamQuery(stream));
  OK(cudaMemsetAsync(x, 0, sizeof back, stream));
  cudaGraph_t graph;
  cudaGraphExec_t ready;
  OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  fill<64><<<1, 64, 0, stream>>>(x, 8);
  OK(cudaMemcpyAsync(back, x, sizeof back, cudaMemcpyDeviceToHost, stream));
  OK(cudaStreamEndCapture(stream, &graph));
  size_t nodes = 0;
  OK(cudaGraphGetNodes(graph, nullptr, &nodes));
  EXPECT(nodes == 2 && back[0] == 1);
  OK(cudaGraphInstantiate(&ready, graph, 0));
  OK(cudaGraphLaunch(ready, stream));
  OK(cudaStreamSynchronize(stream));
  EXPECT(back[0] == 8);
  OK(cudaGraphExecDestroy(ready));
  OK(cudaGraphDestroy(graph));
  OK(cudaGraphCreate(&graph, 0));
  cudaGraphNode_t first, second, third;
  cudaMemsetParams clear = {};
  clear.dst = x; clear.elementSize = 4; clear.width = 64; clear.height = 1; clear.value = 2;
  OK(cudaGraphAddMemsetNode(&first, graph, nullptr, 0, &clear));
  int value = 6;
  void *arguments[] = {&x, &value};
  cudaKernelNodeParams kernel = {};
  kernel.func = (void *)fill<32>; kernel.gridDim = dim3(1); kernel.blockDim = dim3(32); kernel.kernelParams = arguments;
  OK(cudaGraphAddKernelNode(&second, graph, &first, 1, &kernel));
  OK(cudaGraphAddMemcpyNode1D(&third, graph, &second, 1, back, x, sizeof back, cudaMemcpyDeviceToHost));
  OK(cudaGraphInstantiate(&ready, graph, 0));
  OK(cudaGraphLaunch(ready, stream));
  OK(cudaStreamSynchronize(stream));
  EXPECT(back[31] == 6 && back[32] == 2);
  OK(cudaGraphExecDestroy(ready));
  OK(cudaGraphDestroy(graph));
  // A node of the program's own comes before what is captured.
  cudaStreamCaptureStatus status;
  const cudaGraphNode_t *before = &first;
  const cudaGraphEdgeData *edges;
  size_t count = 1;
  clear.value = 3;
  OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  OK(cudaStreamGetCaptureInfo(stream, &status, nullptr, &graph, &before, &edges, &count));
  EXPECT(status == cudaStreamCaptureStatusActive && before == nullptr && count == 0);
  OK(cudaGraphAddMemsetNode(&first, graph, nullptr, 0, &clear));
  OK(cudaStreamUpdateCaptureDependencies(stream, &first, nullptr, 1, cudaStreamSetCaptureDependencies));
  fill<32><<<1, 32, 0, stream>>>(x, 7);
  OK(cudaStreamGetCaptureInfo(stream, &status, nullptr, nullptr, &before, &edges, &count));
  EXPECT(count == 1 && edges->type == cudaGraphDependencyTypeDefault);
  OK(cudaMemcpyAsync(back, x, sizeof back, cudaMemcpyDeviceToHost, stream));
  OK(cudaStreamEndCapture(stream, &graph));
  OK(cudaGraphInstantiate(&ready, graph, 0));
  OK(cudaGraphLaunch(ready, stream));
  OK(cudaStreamSynchronize(stream));
  EXPECT(back[31] == 7 && back[32] == 3);
  OK(cudaGraphExecDestroy(ready));
  // A clone without its copy to the host, whose fill is another one, and is left out at first.
  cudaGraph_t clone;
  cudaGraphNode_t filled, copied, all[4];
  cudaGraphEdgeData ends[4];
  count = 4;
  OK(cudaGraphClone(&clone, graph));
  OK(cudaGraphNodeFindInClone(&filled, first, clone));
  OK(cudaGraphNodeGetDependentNodes(filled, all, ends, &count));
  EXPECT(count == 1);
  OK(cudaGraphNodeGetDependencies(all[0], all, ends, &count));
  EXPECT(count == 1 && all[0] == filled);
  OK(cudaGraphGetEdges(clone, nullptr, nullptr, nullptr, &count));
  EXPECT(count == 2);
  count = 4;
  OK(cudaGraphGetNodes(clone, all, &count));
  copied = all[count - 1];
  OK(cudaGraphRemoveDependencies(clone, &all[count - 2], &copied, nullptr, 1));
  OK(cudaGraphDestroyNode(copied));
  clear.value = 4;
  OK(cudaGraphMemsetNodeSetParams(filled, &clear));
  OK(cudaGraphInstantiate(&ready, clone, 0));
  unsigned is_enabled = 0;
  OK(cudaGraphNodeSetEnabled(ready, filled, 0));
  OK(cudaGraphNodeGetEnabled(ready, filled, &is_enabled));
  EXPECT(is_enabled == 0);
  for (int expected = 3; expected <= 4; expected++) {
    OK(cudaGraphLaunch(ready, stream));
    OK(cudaMemcpyAsync(back, x, sizeof back, cudaMemcpyDeviceToHost, stream));
    OK(cudaStreamSynchronize(stream));
    EXPECT(back[31] == 7 && back[32] == expected);
    OK(cudaGraphNodeSetEnabled(ready, filled, 1));
  }
  OK(cudaGraphExecDestroy(ready));
  OK(cudaGraphDestroy(clone));
  OK(cudaGraphDestroy(graph));
  OK(cudaFreeAsync(x, stream));
  OK(cudaEventDestroy(start));
  OK(cudaEventDestroy(end));
  OK(cudaStreamDestroy(stream));
  OK(cudaStreamDestroy(other));
}

int main() {
  devices();
  memory();
  variables();
  launches();
  streams();
  OK(cudaDeviceReset());
  // The context begins anew, and with it the variables.
  int *x, number = -1;
  OK(cudaMemcpyFromSymbol(&number, counter, sizeof number));
  EXPECT(number == 0);
  OK(cudaMalloc(&x, 256));
  fill<64><<<1, 64>>>(x, 1);
  OK(cudaDeviceSynchronize());
  OK(cudaFree(x));
  puts(failed ? "failed" : "all as documented");
  return failed;
}
