// Makes graphs node by node, reads them back and changes them. It ends with 0 if each answer is the one that NVIDIA documents.
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>

static int failed = 0;
#define EXPECT(condition) \
  do { if (!(condition)) { printf("%s:%d: %s\n", __FILE__, __LINE__, #condition); failed = 1; } } while (0)
#define OK(call) \
  do { cudaError_t e = (call); if (e) { printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorName(e)); failed = 1; } } while (0)
#define REFUSED(call, error) \
  do { cudaError_t e = (call); if (e != error) { printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorName(e)); failed = 1; } cudaGetLastError(); } while (0)

__constant__ int table[4];
__device__ int variable[4];

__global__ void add(int *x, int amount, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] += amount;
}
__global__ void from_table(int *x) { x[threadIdx.x] = table[threadIdx.x] + variable[threadIdx.x]; }
__global__ void decide(cudaGraphConditionalHandle handle, int *x, int limit) {
  if (threadIdx.x == 0) cudaGraphSetConditional(handle, x[0] < limit);
}
__global__ void choose(cudaGraphConditionalHandle handle, const int *which) { cudaGraphSetConditional(handle, *which); }

static void CUDART_CB note(void *at) { *(int *)at += 1; }
static void CUDART_CB gone(void *at) { *(int *)at += 1; }

static int *words(int count) {
  int *x = nullptr;
  OK(cudaMalloc(&x, count * sizeof(int)));
  OK(cudaMemset(x, 0, count * sizeof(int)));
  OK(cudaDeviceSynchronize());
  return x;
}

static int word(const int *x) {
  int value = -1;
  OK(cudaMemcpy(&value, x, sizeof value, cudaMemcpyDefault));
  return value;
}

static void launch(cudaGraphExec_t ready, int times = 1) {
  for (int i = 0; i < times; ++i) OK(cudaGraphLaunch(ready, 0));
  OK(cudaStreamSynchronize(0));
}

static cudaGraphNodeType type(cudaGraphNode_t node) {
  cudaGraphNodeType it = cudaGraphNodeTypeCount;
  OK(cudaGraphNodeGetType(node, &it));
  return it;
}

// Every kind of node is read as it was made, and does what was set last.
static void read_back() {
  int *x = words(64), host[16] = {}, called = 0;
  cudaGraph_t graph;
  OK(cudaGraphCreate(&graph, 0));
  cudaGraphNode_t kernel_node, fill_node, copy_node, host_node;
  int amount = 3, n = 64;
  void *arguments[] = {&x, &amount, &n};
  cudaKernelNodeParams kernel = {(void *)add, dim3(2), dim3(32), 0, arguments, nullptr};
  cudaMemsetParams fill = {};
  fill.dst = x, fill.value = 5, fill.elementSize = 4, fill.width = 64, fill.height = 1;
  OK(cudaGraphAddMemsetNode(&fill_node, graph, nullptr, 0, &fill));
  OK(cudaGraphAddKernelNode(&kernel_node, graph, &fill_node, 1, &kernel));
  OK(cudaGraphAddMemcpyNode1D(&copy_node, graph, &kernel_node, 1, host, x + 8, sizeof host, cudaMemcpyDeviceToHost));
  cudaHostNodeParams call = {note, &called};
  OK(cudaGraphAddHostNode(&host_node, graph, &copy_node, 1, &call));

  cudaKernelNodeParams told = {};
  amount = 100;
  OK(cudaGraphKernelNodeGetParams(kernel_node, &told));
  EXPECT(told.func == (void *)add && told.gridDim.x == 2 && told.blockDim.x == 32 && told.sharedMemBytes == 0);
  EXPECT(*(int **)told.kernelParams[0] == x && *(int *)told.kernelParams[1] == 3 && *(int *)told.kernelParams[2] == 64);
  // Parameters that were read are as good as those that were written.
  OK(cudaGraphKernelNodeSetParams(kernel_node, &told));
  REFUSED(cudaGraphKernelNodeGetParams(fill_node, &told), cudaErrorInvalidValue);
  cudaMemsetParams filled = {};
  OK(cudaGraphMemsetNodeGetParams(fill_node, &filled));
  EXPECT(filled.dst == x && filled.value == 5 && filled.elementSize == 4 && filled.width == 64 && filled.height == 1);
  REFUSED(cudaGraphMemsetNodeGetParams(kernel_node, &filled), cudaErrorInvalidValue);
  cudaMemcpy3DParms copied = {};
  OK(cudaGraphMemcpyNodeGetParams(copy_node, &copied));
  EXPECT(copied.srcPtr.ptr == x + 8 && copied.dstPtr.ptr == host && copied.kind == cudaMemcpyDeviceToHost);
  EXPECT(copied.extent.width == sizeof host && copied.extent.height == 1 && copied.extent.depth == 1);
  EXPECT(!copied.srcArray && !copied.dstArray);
  OK(cudaGraphMemcpyNodeSetParams(copy_node, &copied));
  cudaHostNodeParams called_back = {};
  OK(cudaGraphHostNodeGetParams(host_node, &called_back));
  EXPECT(called_back.fn == note && called_back.userData == &called);

  cudaLaunchAttributeValue value = {};
  value.priority = 0;
  OK(cudaGraphKernelNodeSetAttribute(kernel_node, cudaLaunchAttributePriority, &value));
  value.cooperative = 1;
  OK(cudaGraphKernelNodeSetAttribute(kernel_node, cudaLaunchAttributeCooperative, &value));
  value.cooperative = 7;
  OK(cudaGraphKernelNodeGetAttribute(kernel_node, cudaLaunchAttributeCooperative, &value));
  EXPECT(value.cooperative == 1);
  REFUSED(cudaGraphKernelNodeGetAttribute(fill_node, cudaLaunchAttributeCooperative, &value), cudaErrorInvalidValue);

  cudaGraphExec_t ready;
  OK(cudaGraphInstantiate(&ready, graph, 0));
  unsigned long long flags = 7;
  OK(cudaGraphExecGetFlags(ready, &flags));
  EXPECT(flags == 0);
  launch(ready, 2);
  EXPECT(host[0] == 8 && host[15] == 8 && called == 2);
  OK(cudaGraphExecDestroy(ready));
  OK(cudaGraphDestroy(graph));
  OK(cudaFree(x));
}

// Nodes of all kinds by one function, and changed by one.
static void by_one_function() {
  int *x = words(4), host = 0;
  cudaGraph_t graph;
  OK(cudaGraphCreate(&graph, 0));
  cudaGraphNode_t fill, kernel, copy, empty;
  cudaGraphNodeParams node = {};
  node.type = cudaGraphNodeTypeMemset;
  node.memset.dst = x, node.memset.value = 1, node.memset.elementSize = 4, node.memset.width = 4, node.memset.height = 1;
  OK(cudaGraphAddNode(&fill, graph, nullptr, nullptr, 0, &node));
  cudaGraphNodeParams run = {};
  run.type = cudaGraphNodeTypeKernel;
  int amount = 10, n = 4;
  void *arguments[] = {&x, &amount, &n};
  run.kernel.func = (void *)add, run.kernel.gridDim = dim3(1), run.kernel.blockDim = dim3(4), run.kernel.kernelParams = arguments;
  OK(cudaGraphAddNode(&kernel, graph, &fill, nullptr, 1, &run));
  cudaGraphNodeParams move = {};
  move.type = cudaGraphNodeTypeMemcpy;
  move.memcpy.copyParams.srcPtr = make_cudaPitchedPtr(x + 3, 4, 4, 1);
  move.memcpy.copyParams.dstPtr = make_cudaPitchedPtr(&host, 4, 4, 1);
  move.memcpy.copyParams.extent = make_cudaExtent(4, 1, 1);
  move.memcpy.copyParams.kind = cudaMemcpyDeviceToHost;
  OK(cudaGraphAddNode(&copy, graph, &kernel, nullptr, 1, &move));
  cudaGraphNodeParams nothing = {};
  nothing.type = cudaGraphNodeTypeEmpty;
  OK(cudaGraphAddNode(&empty, graph, &copy, nullptr, 1, &nothing));
  EXPECT(type(fill) == cudaGraphNodeTypeMemset && type(kernel) == cudaGraphNodeTypeKernel);
  EXPECT(type(copy) == cudaGraphNodeTypeMemcpy && type(empty) == cudaGraphNodeTypeEmpty);
  cudaGraphExec_t ready;
  OK(cudaGraphInstantiate(&ready, graph, 0));
  launch(ready);
  EXPECT(host == 11);
  amount = 20;
  OK(cudaGraphExecNodeSetParams(ready, kernel, &run));
  launch(ready);
  EXPECT(host == 21);
  amount = 30;
  OK(cudaGraphNodeSetParams(kernel, &run));
  launch(ready);
  EXPECT(host == 21);
  REFUSED(cudaGraphNodeSetParams(kernel, &node), cudaErrorInvalidValue);
  cudaGraphExecUpdateResultInfo result = {};
  OK(cudaGraphExecUpdate(ready, graph, &result));
  EXPECT(result.result == cudaGraphExecUpdateSuccess);
  launch(ready);
  EXPECT(host == 31);
  OK(cudaGraphExecDestroy(ready));
  OK(cudaGraphDestroy(graph));
  OK(cudaFree(x));
}

// A graph within another is its own from then on, and can be reached there.
static void within() {
  int *x = words(4);
  cudaGraph_t graph, child, own;
  OK(cudaGraphCreate(&graph, 0));
  OK(cudaGraphCreate(&child, 0));
  cudaGraphNode_t first, second, node;
  int amount = 1, n = 4;
  void *arguments[] = {&x, &amount, &n};
  cudaKernelNodeParams kernel = {(void *)add, dim3(1), dim3(4), 0, arguments, nullptr};
  OK(cudaGraphAddKernelNode(&first, child, nullptr, 0, &kernel));
  OK(cudaGraphAddChildGraphNode(&node, graph, nullptr, 0, child));
  OK(cudaGraphAddKernelNode(&second, child, &first, 1, &kernel));
  EXPECT(type(node) == cudaGraphNodeTypeGraph);
  OK(cudaGraphChildGraphNodeGetGraph(node, &own));
  EXPECT(own != child);
  size_t count = 0;
  OK(cudaGraphGetNodes(own, nullptr, &count));
  EXPECT(count == 1);
  cudaGraphExec_t ready;
  OK(cudaGraphInstantiate(&ready, graph, 0));
  launch(ready);
  EXPECT(word(x) == 1);
  // Another graph of its shape, and one that has another.
  amount = 5;
  cudaGraph_t other;
  cudaGraphNode_t its;
  OK(cudaGraphCreate(&other, 0));
  OK(cudaGraphAddKernelNode(&its, other, nullptr, 0, &kernel));
  OK(cudaGraphExecChildGraphNodeSetParams(ready, node, other));
  launch(ready);
  EXPECT(word(x) == 6);
  REFUSED(cudaGraphExecChildGraphNodeSetParams(ready, node, child), cudaErrorGraphExecUpdateFailure);
  // A change in the node's graph is in what is instantiated.
  cudaGraphNode_t inner;
  count = 1;
  OK(cudaGraphGetNodes(own, &inner, &count));
  amount = 100;
  OK(cudaGraphKernelNodeSetParams(inner, &kernel));
  cudaGraphExec_t again;
  OK(cudaGraphInstantiate(&again, graph, 0));
  launch(again);
  EXPECT(word(x) == 106);
  OK(cudaGraphExecDestroy(again));
  OK(cudaGraphExecDestroy(ready));
  OK(cudaGraphDestroy(graph));
  OK(cudaGraphDestroy(child));
  OK(cudaGraphDestroy(other));
  OK(cudaFree(x));
}

// Events that nodes record and wait for, and that a capture leaves to the launch.
static void events() {
  int *x = words(4);
  cudaGraph_t graph;
  cudaStream_t stream;
  cudaEvent_t one, two, of_node = nullptr;
  OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  OK(cudaEventCreate(&one));
  OK(cudaEventCreate(&two));
  OK(cudaGraphCreate(&graph, 0));
  cudaGraphNode_t waits, adds, records;
  int amount = 1, n = 4;
  void *arguments[] = {&x, &amount, &n};
  cudaKernelNodeParams kernel = {(void *)add, dim3(1), dim3(4), 0, arguments, nullptr};
  OK(cudaGraphAddEventWaitNode(&waits, graph, nullptr, 0, one));
  OK(cudaGraphAddKernelNode(&adds, graph, &waits, 1, &kernel));
  OK(cudaGraphAddEventRecordNode(&records, graph, &adds, 1, one));
  EXPECT(type(waits) == cudaGraphNodeTypeWaitEvent && type(records) == cudaGraphNodeTypeEventRecord);
  OK(cudaGraphEventWaitNodeGetEvent(waits, &of_node));
  EXPECT(of_node == one);
  OK(cudaGraphEventRecordNodeSetEvent(records, two));
  OK(cudaGraphEventRecordNodeGetEvent(records, &of_node));
  EXPECT(of_node == two);
  REFUSED(cudaGraphEventWaitNodeGetEvent(records, &of_node), cudaErrorInvalidValue);
  cudaGraphExec_t ready;
  OK(cudaGraphInstantiate(&ready, graph, 0));
  add<<<1, 4, 0, stream>>>(x, 10, 4);
  OK(cudaEventRecord(one, stream));
  OK(cudaGraphLaunch(ready, 0));
  // The other stream goes on behind the graph.
  OK(cudaStreamWaitEvent(stream, two, 0));
  add<<<1, 4, 0, stream>>>(x, 100, 4);
  OK(cudaStreamSynchronize(stream));
  OK(cudaStreamSynchronize(0));
  EXPECT(word(x) == 111);
  OK(cudaGraphExecDestroy(ready));
  OK(cudaGraphDestroy(graph));

  OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  OK(cudaStreamWaitEvent(stream, one, cudaEventWaitExternal));
  add<<<1, 4, 0, stream>>>(x, 1000, 4);
  OK(cudaEventRecordWithFlags(two, stream, cudaEventRecordExternal));
  OK(cudaStreamEndCapture(stream, &graph));
  cudaGraphNode_t all[4];
  size_t count = 4;
  OK(cudaGraphGetNodes(graph, all, &count));
  EXPECT(count == 3 && type(all[0]) == cudaGraphNodeTypeWaitEvent && type(all[2]) == cudaGraphNodeTypeEventRecord);
  OK(cudaGraphInstantiate(&ready, graph, 0));
  OK(cudaGraphLaunch(ready, stream));
  OK(cudaEventSynchronize(two));
  EXPECT(word(x) == 1111);
  OK(cudaGraphExecDestroy(ready));
  OK(cudaGraphDestroy(graph));
  OK(cudaEventDestroy(one));
  OK(cudaEventDestroy(two));
  OK(cudaStreamDestroy(stream));
  OK(cudaFree(x));
}

// Memory that nodes allocate and free.
static void memory() {
  cudaGraph_t graph;
  OK(cudaGraphCreate(&graph, 0));
  cudaGraphNode_t allocates, fills, adds, copies, frees;
  cudaMemAllocNodeParams wanted = {};
  wanted.poolProps.allocType = cudaMemAllocationTypePinned;
  wanted.poolProps.location.type = cudaMemLocationTypeDevice;
  wanted.bytesize = 64 * sizeof(int);
  OK(cudaGraphAddMemAllocNode(&allocates, graph, nullptr, 0, &wanted));
  int *x = (int *)wanted.dptr, host = 0;
  EXPECT(x != nullptr && type(allocates) == cudaGraphNodeTypeMemAlloc);
  cudaMemAllocNodeParams told = {};
  OK(cudaGraphMemAllocNodeGetParams(allocates, &told));
  EXPECT(told.dptr == x && told.bytesize == 64 * sizeof(int));
  cudaMemsetParams fill = {};
  fill.dst = x, fill.value = 5, fill.elementSize = 4, fill.width = 64, fill.height = 1;
  OK(cudaGraphAddMemsetNode(&fills, graph, &allocates, 1, &fill));
  int amount = 3, n = 64;
  void *arguments[] = {&x, &amount, &n};
  cudaKernelNodeParams kernel = {(void *)add, dim3(2), dim3(32), 0, arguments, nullptr};
  OK(cudaGraphAddKernelNode(&adds, graph, &fills, 1, &kernel));
  OK(cudaGraphAddMemcpyNode1D(&copies, graph, &adds, 1, &host, x + 63, sizeof host, cudaMemcpyDeviceToHost));
  OK(cudaGraphAddMemFreeNode(&frees, graph, &copies, 1, x));
  void *freed = nullptr;
  OK(cudaGraphMemFreeNodeGetParams(frees, &freed));
  EXPECT(freed == x && type(frees) == cudaGraphNodeTypeMemFree);
  cudaGraphExec_t ready;
  OK(cudaGraphInstantiate(&ready, graph, 0));
  launch(ready, 3);
  EXPECT(host == 8);
  unsigned long long used = 7;
  OK(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &used));
  EXPECT(used >= 64 * sizeof(int));
  OK(cudaDeviceGraphMemTrim(0));
  OK(cudaGraphExecDestroy(ready));
  OK(cudaGraphDestroy(graph));

  // Captured, and freed by the program behind the launch.
  cudaStream_t stream;
  OK(cudaStreamCreate(&stream));
  OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  OK(cudaMallocAsync((void **)&x, 16, stream));
  OK(cudaMemsetAsync(x, 0, 16, stream));
  add<<<1, 4, 0, stream>>>(x, 7, 4);
  OK(cudaStreamEndCapture(stream, &graph));
  OK(cudaGraphInstantiate(&ready, graph, 0));
  OK(cudaGraphLaunch(ready, stream));
  OK(cudaStreamSynchronize(stream));
  EXPECT(word(x + 3) == 7);
  REFUSED(cudaGraphLaunch(ready, stream), cudaErrorInvalidValue);
  OK(cudaFreeAsync(x, stream));
  OK(cudaGraphLaunch(ready, stream));
  OK(cudaStreamSynchronize(stream));
  EXPECT(word(x) == 7);
  OK(cudaFree(x));
  OK(cudaGraphExecDestroy(ready));
  // Or by the next launch.
  OK(cudaGraphInstantiate(&ready, graph, cudaGraphInstantiateFlagAutoFreeOnLaunch));
  unsigned long long flags = 0;
  OK(cudaGraphExecGetFlags(ready, &flags));
  EXPECT(flags == cudaGraphInstantiateFlagAutoFreeOnLaunch);
  for (int i = 0; i < 3; ++i) OK(cudaGraphLaunch(ready, stream));
  OK(cudaStreamSynchronize(stream));
  EXPECT(word(x + 1) == 7);
  OK(cudaGraphExecDestroy(ready));
  OK(cudaFree(x));
  OK(cudaGraphDestroy(graph));
  OK(cudaStreamDestroy(stream));
}

static cudaGraphNode_t conditional(cudaGraph_t graph, cudaGraphConditionalHandle handle, cudaGraphConditionalNodeType kind,
                                   unsigned size, cudaGraphNode_t after, cudaGraph_t *bodies) {
  cudaGraphNodeParams node = {};
  node.type = cudaGraphNodeTypeConditional;
  node.conditional.handle = handle, node.conditional.type = kind, node.conditional.size = size;
  cudaGraphNode_t made = nullptr;
  OK(cudaGraphAddNode(&made, graph, after ? &after : nullptr, nullptr, after ? 1 : 0, &node));
  for (unsigned i = 0; i < size && node.conditional.phGraph_out; ++i) bodies[i] = node.conditional.phGraph_out[i];
  return made;
}

static cudaGraphNode_t adds(cudaGraph_t graph, int *x, int amount, cudaGraphNode_t after = nullptr) {
  int n = 1;
  void *arguments[] = {&x, &amount, &n};
  cudaKernelNodeParams kernel = {(void *)add, dim3(1), dim3(1), 0, arguments, nullptr};
  cudaGraphNode_t node = nullptr;
  OK(cudaGraphAddKernelNode(&node, graph, after ? &after : nullptr, after ? 1 : 0, &kernel));
  return node;
}

// Graphs that are done once, as long as a kernel says so, and by a number.
static void conditions() {
  int *x = words(2);
  cudaGraph_t graph, bodies[3];
  cudaGraphExec_t ready;
  cudaGraphConditionalHandle handle;
  OK(cudaGraphCreate(&graph, 0));
  OK(cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault));
  cudaGraphNode_t loop = conditional(graph, handle, cudaGraphCondTypeWhile, 1, nullptr, bodies);
  EXPECT(type(loop) == cudaGraphNodeTypeConditional);
  cudaGraphNode_t added = adds(bodies[0], x, 1), decides;
  int limit = 10;
  void *arguments[] = {&handle, &x, &limit};
  cudaKernelNodeParams kernel = {(void *)decide, dim3(1), dim3(32), 0, arguments, nullptr};
  OK(cudaGraphAddKernelNode(&decides, bodies[0], &added, 1, &kernel));
  adds(graph, x, 1000, loop);
  OK(cudaGraphInstantiate(&ready, graph, 0));
  launch(ready);
  EXPECT(word(x) == 1010);
  // The first value counts anew: the body is done once, and then the kernel says no.
  launch(ready);
  EXPECT(word(x) == 2011);
  OK(cudaGraphExecDestroy(ready));
  OK(cudaGraphDestroy(graph));

  OK(cudaMemset(x, 0, 8));
  OK(cudaGraphCreate(&graph, 0));
  OK(cudaGraphConditionalHandleCreate(&handle, graph, 0, 0));
  int *which = x + 1;
  void *of_choice[] = {&handle, &which};
  cudaKernelNodeParams choice = {(void *)choose, dim3(1), dim3(1), 0, of_choice, nullptr};
  cudaGraphNode_t chooses;
  OK(cudaGraphAddKernelNode(&chooses, graph, nullptr, 0, &choice));
  conditional(graph, handle, cudaGraphCondTypeIf, 1, chooses, bodies);
  // Its graph is filled by a capture, whose end need not tell which it was.
  cudaStream_t stream;
  OK(cudaStreamCreate(&stream));
  OK(cudaStreamBeginCaptureToGraph(stream, bodies[0], nullptr, nullptr, 0, cudaStreamCaptureModeGlobal));
  add<<<1, 1, 0, stream>>>(x, 1, 1);
  OK(cudaStreamEndCapture(stream, nullptr));
  OK(cudaStreamDestroy(stream));
  OK(cudaGraphInstantiate(&ready, graph, 0));
  for (int value : {0, 3, 0}) {
    OK(cudaMemcpy(which, &value, 4, cudaMemcpyDefault));
    launch(ready);
  }
  EXPECT(word(x) == 1);
  OK(cudaGraphExecDestroy(ready));
  OK(cudaGraphDestroy(graph));

  OK(cudaMemset(x, 0, 8));
  OK(cudaGraphCreate(&graph, 0));
  OK(cudaGraphConditionalHandleCreate(&handle, graph, 0, 0));
  of_choice[0] = &handle;
  OK(cudaGraphAddKernelNode(&chooses, graph, nullptr, 0, &choice));
  conditional(graph, handle, cudaGraphCondTypeSwitch, 3, chooses, bodies);
  for (int i = 0, amount = 1; i < 3; ++i, amount *= 10) adds(bodies[i], x, amount);
  OK(cudaGraphInstantiate(&ready, graph, 0));
  for (int value : {2, 0, 2, 3}) {
    OK(cudaMemcpy(which, &value, 4, cudaMemcpyDefault));
    launch(ready);
  }
  EXPECT(word(x) == 201);
  OK(cudaGraphExecDestroy(ready));
  OK(cudaGraphDestroy(graph));
  OK(cudaFree(x));
}

// Copies of the program's variables.
static void symbols() {
  int *x = words(4), host[4] = {1, 2, 3, 4}, back[2] = {};
  cudaGraph_t graph;
  cudaGraphExec_t ready;
  OK(cudaGraphCreate(&graph, 0));
  cudaGraphNode_t first, second, third, fourth;
  OK(cudaGraphAddMemcpyNodeToSymbol(&first, graph, nullptr, 0, table, host, 16, 0, cudaMemcpyHostToDevice));
  OK(cudaGraphAddMemcpyNodeToSymbol(&second, graph, &first, 1, variable, host, 8, 8, cudaMemcpyHostToDevice));
  void *arguments[] = {&x};
  cudaKernelNodeParams kernel = {(void *)from_table, dim3(1), dim3(4), 0, arguments, nullptr};
  OK(cudaGraphAddKernelNode(&third, graph, &second, 1, &kernel));
  OK(cudaGraphAddMemcpyNodeFromSymbol(&fourth, graph, &third, 1, back, variable, 8, 8, cudaMemcpyDeviceToHost));
  REFUSED(cudaGraphAddMemcpyNodeFromSymbol(&fourth, graph, &third, 1, back, variable, 8, 12, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
  OK(cudaGraphInstantiate(&ready, graph, 0));
  launch(ready);
  EXPECT(word(x) == 1 && word(x + 2) == 4 && word(x + 3) == 6 && back[0] == 1 && back[1] == 2);
  OK(cudaGraphExecMemcpyNodeSetParamsToSymbol(ready, second, variable, host + 2, 8, 8, cudaMemcpyHostToDevice));
  launch(ready);
  EXPECT(word(x + 2) == 6 && back[1] == 4);
  OK(cudaGraphExecDestroy(ready));
  OK(cudaGraphDestroy(graph));
  OK(cudaFree(x));
}

// Objects that graphs keep alive.
static void objects() {
  int ended = 0;
  cudaGraph_t graph, clone;
  cudaGraphExec_t ready;
  cudaUserObject_t object;
  OK(cudaGraphCreate(&graph, 0));
  OK(cudaUserObjectCreate(&object, &ended, gone, 1, cudaUserObjectNoDestructorSync));
  OK(cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove));
  OK(cudaGraphClone(&clone, graph));
  OK(cudaGraphInstantiate(&ready, clone, 0));
  OK(cudaGraphDestroy(graph));
  OK(cudaGraphDestroy(clone));
  EXPECT(ended == 0);
  launch(ready);
  OK(cudaGraphExecDestroy(ready));
  OK(cudaDeviceSynchronize());
  for (int i = 0; i < 1000 && !*(volatile int *)&ended; ++i) cudaDeviceSynchronize();
  EXPECT(ended == 1);
}

static void drawn() {
  int *x = words(1);
  cudaGraph_t graph;
  OK(cudaGraphCreate(&graph, 0));
  adds(graph, x, 1, adds(graph, x, 2));
  OK(cudaGraphDebugDotPrint(graph, "graph.dot", 0));
  char text[4096] = {};
  FILE *file = fopen("graph.dot", "r");
  EXPECT(file && fread(text, 1, sizeof text - 1, file) > 0);
  EXPECT(strstr(text, "digraph dot {") == text && strstr(text, "add") && strstr(text, "graph_") && strstr(text, "->"));
  if (file) fclose(file);
  OK(cudaGraphDestroy(graph));
  OK(cudaFree(x));
}

// A loop that nothing ends.
static int endless() {
  int *x = words(1);
  cudaGraph_t graph, body;
  cudaGraphConditionalHandle handle;
  OK(cudaGraphCreate(&graph, 0));
  OK(cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault));
  conditional(graph, handle, cudaGraphCondTypeWhile, 1, nullptr, &body);
  adds(body, x, 1);
  cudaGraphExec_t ready;
  OK(cudaGraphInstantiate(&ready, graph, 0));
  REFUSED(cudaGraphLaunch(ready, 0), cudaErrorLaunchTimeout);
  return failed;
}

int main(int count, char **) {
  if (count > 1) return endless();
  read_back();
  by_one_function();
  within();
  events();
  memory();
  conditions();
  symbols();
  objects();
  drawn();
  OK(cudaDeviceSynchronize());
  OK(cudaGetLastError());
  puts(failed ? "failed" : "as documented");
  return failed;
}
