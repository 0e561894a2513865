// Times of launches through the emulated driver: saxpy by one warp, and of 16 M elements. README.md has the commands.
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#define OK(x) do { CUresult r_ = (x); if (r_) { printf("%s: %d\n", #x, r_); exit(1); } } while (0)
static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1e6 + t.tv_nsec / 1e3; }
static int cmp(const void *a, const void *b) { double d = *(double*)a - *(double*)b; return d < 0 ? -1 : d > 0; }
int main(int argc, char **argv) {
  CUdevice d; CUcontext c; CUmodule m; CUfunction f; CUdeviceptr x, y;
  OK(cuInit(0)); OK(cuDeviceGet(&d, 0)); OK(cuDevicePrimaryCtxRetain(&c, d)); OK(cuCtxSetCurrent(c));
  OK(cuModuleLoad(&m, "saxpy.ptx")); OK(cuModuleGetFunction(&f, m, "saxpy"));
  for (int pass = 0; pass < 2; pass++) {
  int n = pass ? 16 << 20 : 32, threads = pass ? 256 : 32; float a = 2;
  OK(cuMemAlloc(&x, 4ul * n)); OK(cuMemAlloc(&y, 4ul * n)); OK(cuMemsetD32(x, 0, n)); OK(cuMemsetD32(y, 0, n));
  void *p[] = {&n, &a, &x, &y};
  int rounds = pass ? 9 : 21, count = pass ? 1 : 5000; double t[21];
  for (int r = 0; r < rounds; r++) {
    double s = now();
    for (int i = 0; i < count; i++) OK(cuLaunchKernel(f, (n + threads - 1) / threads, 1, 1, threads, 1, 1, 0, 0, p, 0));
    OK(cuCtxSynchronize()); t[r] = (now() - s) / count;
  }
  qsort(t, rounds, sizeof *t, cmp);
  printf("n = %d: min %.2f us, median %.2f us\n", n, t[0], t[rounds / 2]);
  }
}
