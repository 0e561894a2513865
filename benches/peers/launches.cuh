// What the programs of sharing.cu and loaded.cu have in common: the numbers of `ridgepoint ceilings`, arrays, and cycles to follow.

#pragma once

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>
#include <vector>

// As `ridgepoint ceilings` has them (crates/harness/src/ceilings/bench.rs): launches, and loads of a chase.
constexpr int WARMUP = 3, RUNS = 10;
constexpr unsigned STEPS = 100'000;

inline void require(cudaError_t error, const char *what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}

template <typename T>
T *array(size_t count) {
  T *there;
  require(cudaMalloc(&there, count * sizeof(T)), "cudaMalloc");
  require(cudaMemset(there, 0, count * sizeof(T)), "cudaMemset");
  return there;
}

template <typename T>
T *array_of(const std::vector<T> &values) {
  T *there = array<T>(values.size());
  require(cudaMemcpy(there, values.data(), sizeof(T) * values.size(), cudaMemcpyHostToDevice), "array");
  return there;
}

// A random cycle through places that are `stride` elements apart.
inline unsigned *cycle(unsigned places, unsigned stride) {
  std::vector<unsigned> order(places), next(size_t(places) * stride);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), std::mt19937(1));
  for (unsigned i = 0; i < places; i++)
    next[size_t(order[i]) * stride] = order[(i + 1) % places] * stride;
  return array_of(next);
}
