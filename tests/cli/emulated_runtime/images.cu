// Textures and surfaces of every kind that is emulated. It ends with 0 if each value is the one that the CUDA C++ Programming Guide's
// "Texture Fetching" defines. With an argument it does one thing that is an error.
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>

static int failed = 0;
#define EXPECT(got, wanted) \
  do { float g = (got), w = (wanted); if (!(g == w)) { printf("%s:%d: %s is %g, not %g\n", __FILE__, __LINE__, #got, g, w); failed = 1; } } while (0)
#define OK(call) \
  do { cudaError_t e = (call); if (e) { printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorName(e)); failed = 1; } } while (0)

__device__ float out[16];

__global__ void flat(cudaTextureObject_t t) {
  out[0] = tex2D<float>(t, 2.25f, 1.75f);
  out[1] = tex2D<float>(t, -3.0f, 0.5f);
  out[2] = tex2D<float>(t, 2.0f, 1.0f);
  float4 four = tex2Dgather<float4>(t, 2.0f, 1.0f);
  out[3] = four.x; out[4] = four.y; out[5] = four.z; out[6] = four.w;
  out[7] = tex2DLod<float>(t, 2.25f, 1.75f, 0);
  out[8] = tex2DGrad<float>(t, 2.25f, 1.75f, make_float2(1, 0), make_float2(0, 1));
}
__global__ void line(cudaTextureObject_t t) {
  for (int i = 0; i < 4; i++) out[i] = tex1Dfetch<float>(t, i);
  out[4] = tex1Dfetch<float>(t, 4);
  out[5] = tex1Dfetch<float>(t, -1);
}
__global__ void bytes(cudaTextureObject_t as_they_are, cudaTextureObject_t as_numbers) {
  uchar4 whole = tex2D<uchar4>(as_they_are, 1.5f, 0.5f);
  float4 real = tex2D<float4>(as_numbers, 1.5f, 0.5f);
  out[0] = whole.x; out[1] = whole.w; out[2] = real.x; out[3] = real.w;
}
__global__ void layers(cudaTextureObject_t t) {
  out[0] = tex2DLayered<float>(t, 1.5f, 1.5f, 0);
  out[1] = tex2DLayered<float>(t, 1.5f, 1.5f, 2);
  out[2] = tex2DLayered<float>(t, 1.5f, 1.5f, 9);
}
__global__ void volume(cudaTextureObject_t t) { out[0] = tex3D<float>(t, 1.0f, 1.0f, 1.0f); }
__global__ void cube(cudaTextureObject_t t) {
  out[0] = texCubemap<float>(t, 1, 0, 0); out[1] = texCubemap<float>(t, -1, 0, 0); out[2] = texCubemap<float>(t, 0, 1, 0);
  out[3] = texCubemap<float>(t, 0, -1, 0); out[4] = texCubemap<float>(t, 0, 0, 1); out[5] = texCubemap<float>(t, 0, 0, -1);
}
__global__ void store(cudaSurfaceObject_t s, int zero) {
  int x = threadIdx.x, y = threadIdx.y;
  surf2Dwrite((float)(10 * y + x), s, x * 4, y);
  if (x == 0 && y == 0) {
    surf2Dwrite(99.0f, s, 16 * zero - 4, 0, cudaBoundaryModeZero);
    out[0] = surf2Dread<float>(s, 400, 0, cudaBoundaryModeZero);
  }
  __syncthreads();
  if (x == 0 && y == 0) out[1] = surf2Dread<float>(s, 400, 9, cudaBoundaryModeClamp);
}
__global__ void beyond(cudaSurfaceObject_t s) { surf2Dwrite(1.0f, s, 4 * 4, 0); }
__global__ void forged(cudaTextureObject_t t) { out[0] = tex2D<float>(t, 0, 0); }
__global__ void decided(cudaTextureObject_t t) { if (tex2D<float>(t, 0, 0) > 1) out[0] = 1; }
__global__ void both(cudaSurfaceObject_t s, cudaTextureObject_t t) {
  surf2Dwrite(1.0f, s, threadIdx.x % 4 * 4, 0);
  out[threadIdx.x % 16] = tex2D<float>(t, 0.5f, 0.5f);
}

static const float *results() {
  static float host[16];
  OK(cudaMemcpyFromSymbol(host, out, sizeof host));
  return host;
}

static cudaTextureDesc reading(cudaTextureFilterMode filter, cudaTextureAddressMode mode, bool is_normalized) {
  cudaTextureDesc it = {};
  for (auto &each : it.addressMode) each = mode;
  it.filterMode = filter;
  it.normalizedCoords = is_normalized;
  it.borderColor[0] = -7;
  return it;
}

static cudaTextureObject_t texture(cudaArray_t array, const cudaTextureDesc &how) {
  cudaResourceDesc of = {};
  of.resType = cudaResourceTypeArray;
  of.res.array.array = array;
  cudaTextureObject_t it = 0;
  OK(cudaCreateTextureObject(&it, &of, &how, nullptr));
  return it;
}

static cudaSurfaceObject_t surface(cudaArray_t array) {
  cudaResourceDesc of = {};
  of.resType = cudaResourceTypeArray;
  of.res.array.array = array;
  cudaSurfaceObject_t it = 0;
  OK(cudaCreateSurfaceObject(&it, &of));
  return it;
}

// An array of 4 by 4 by so many, where each element is its number.
static cudaArray_t counted(size_t depth, unsigned flags) {
  cudaChannelFormatDesc channels = cudaCreateChannelDesc<float>();
  float host[4 * 4 * 6];
  for (int i = 0; i < 96; i++) host[i] = i;
  cudaArray_t array = nullptr;
  OK(cudaMalloc3DArray(&array, &channels, make_cudaExtent(4, 4, depth), flags));
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = make_cudaPitchedPtr(host, 16, 4, 4);
  copy.dstArray = array;
  copy.extent = make_cudaExtent(4, 4, depth ? depth : 1);
  copy.kind = cudaMemcpyHostToDevice;
  OK(cudaMemcpy3D(&copy));
  return array;
}

static void values() {
  cudaArray_t plane = counted(0, cudaArrayTextureGather | cudaArraySurfaceLoadStore);
  cudaTextureObject_t t = texture(plane, reading(cudaFilterModePoint, cudaAddressModeClamp, false));
  flat<<<1, 1>>>(t);
  const float *got = results();
  EXPECT(got[0], 6); EXPECT(got[1], 0); EXPECT(got[2], 6);
  EXPECT(got[3], 5); EXPECT(got[4], 6); EXPECT(got[5], 2); EXPECT(got[6], 1); EXPECT(got[7], 6); EXPECT(got[8], 6);
  OK(cudaDestroyTextureObject(t));
  t = texture(plane, reading(cudaFilterModeLinear, cudaAddressModeBorder, false));
  flat<<<1, 1>>>(t);
  got = results();
  EXPECT(got[0], 6.75f); EXPECT(got[1], -7); EXPECT(got[2], 3.5f);
  OK(cudaDestroyTextureObject(t));
  t = texture(plane, reading(cudaFilterModePoint, cudaAddressModeWrap, true));
  flat<<<1, 1>>>(t);
  got = results();
  EXPECT(got[0], 13); EXPECT(got[1], 8);
  OK(cudaDestroyTextureObject(t));

  float *x, line_of[4] = {3, 1, 4, 1};
  OK(cudaMalloc(&x, sizeof line_of));
  OK(cudaMemcpy(x, line_of, sizeof line_of, cudaMemcpyHostToDevice));
  cudaResourceDesc of = {};
  of.resType = cudaResourceTypeLinear;
  of.res.linear.devPtr = x;
  of.res.linear.desc = cudaCreateChannelDesc<float>();
  of.res.linear.sizeInBytes = sizeof line_of;
  cudaTextureDesc plain = {};
  OK(cudaCreateTextureObject(&t, &of, &plain, nullptr));
  line<<<1, 1>>>(t);
  got = results();
  for (int i = 0; i < 4; i++) EXPECT(got[i], line_of[i]);
  EXPECT(got[4], 0); EXPECT(got[5], 0);
  OK(cudaDestroyTextureObject(t));

  unsigned char *rows, pixels[2][8] = {{0, 0, 0, 0, 255, 0, 0, 51}, {}};
  size_t pitch = 0;
  OK(cudaMallocPitch(&rows, &pitch, 8, 2));
  OK(cudaMemcpy2D(rows, pitch, pixels, 8, 8, 2, cudaMemcpyHostToDevice));
  of.resType = cudaResourceTypePitch2D;
  of.res.pitch2D.devPtr = rows;
  of.res.pitch2D.desc = cudaCreateChannelDesc<uchar4>();
  of.res.pitch2D.width = 2;
  of.res.pitch2D.height = 2;
  of.res.pitch2D.pitchInBytes = pitch;
  cudaTextureObject_t as_numbers = 0;
  OK(cudaCreateTextureObject(&t, &of, &plain, nullptr));
  plain.readMode = cudaReadModeNormalizedFloat;
  OK(cudaCreateTextureObject(&as_numbers, &of, &plain, nullptr));
  bytes<<<1, 1>>>(t, as_numbers);
  got = results();
  EXPECT(got[0], 255); EXPECT(got[1], 51); EXPECT(got[2], 1); EXPECT(got[3], 0.2f);

  layers<<<1, 1>>>(texture(counted(3, cudaArrayLayered), reading(cudaFilterModePoint, cudaAddressModeClamp, false)));
  got = results();
  EXPECT(got[0], 5); EXPECT(got[1], 37); EXPECT(got[2], 37);
  volume<<<1, 1>>>(texture(counted(3, 0), reading(cudaFilterModeLinear, cudaAddressModeClamp, false)));
  EXPECT(results()[0], 10.5f);
  cube<<<1, 1>>>(texture(counted(6, cudaArrayCubemap), reading(cudaFilterModePoint, cudaAddressModeClamp, true)));
  got = results();
  for (int i = 0; i < 6; i++) EXPECT(got[i], 16 * i + 10);

  store<<<1, dim3(4, 4)>>>(surface(plane), 0);
  got = results();
  EXPECT(got[0], 0); EXPECT(got[1], 33);
  float back[16];
  OK(cudaMemcpy2DFromArray(back, 16, plane, 0, 0, 16, 4, cudaMemcpyDeviceToHost));
  EXPECT(back[0], 0); EXPECT(back[15], 33);
  cudaChannelFormatDesc channels;
  cudaExtent extent;
  unsigned flags;
  OK(cudaArrayGetInfo(&channels, &extent, &flags, plane));
  EXPECT(extent.width, 4); EXPECT(extent.depth, 0); EXPECT(channels.x, 32); EXPECT(flags & cudaArraySurfaceLoadStore, cudaArraySurfaceLoadStore);
  OK(cudaFreeArray(plane));
}

int main(int argc, char **argv) {
  const char *error = argc > 1 ? argv[1] : "";
  cudaTextureDesc nearest = reading(cudaFilterModePoint, cudaAddressModeClamp, false);
  cudaChannelFormatDesc channels = cudaCreateChannelDesc<float>();
  if (!*error) {
    values();
  } else if (!strcmp(error, "beyond")) {
    beyond<<<1, 1>>>(surface(counted(0, cudaArraySurfaceLoadStore)));
  } else if (!strcmp(error, "forged")) {
    float *x;
    OK(cudaMalloc(&x, 4096));
    OK(cudaMemset(x, 0, 4096));
    forged<<<1, 1>>>((cudaTextureObject_t)x);
  } else if (!strcmp(error, "unwritten")) {
    cudaArray_t array;
    OK(cudaMallocArray(&array, &channels, 4, 4));
    decided<<<1, 1>>>(texture(array, nearest));
  } else {
    cudaArray_t array = counted(0, cudaArraySurfaceLoadStore);
    both<<<1, 16>>>(surface(array), texture(array, nearest));
  }
  OK(cudaDeviceSynchronize());
  if (!*error && !failed) puts("all as documented");
  return failed;
}
