// What the hosts of the published ladders share: inputs that a few bits hold exactly, arrays on the device, and the
// verdict. tools/validation/ladders.py builds a host with the author's kernels, which are not part of this tree.
#pragma once
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

inline void must(cudaError_t e)
{
  if (e == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(e));
  std::exit(1);
}

// A whole number from -range to range that goes with i and the seed.
inline int drawn(size_t i, unsigned seed, int range)
{
  return (int)(((unsigned)i * 2654435761u + seed * 2246822519u >> 8) % (2 * (unsigned)range + 1)) - range;
}

// An array here and on the device. Allocated on purpose for the whole of the program.
template <class T> struct pair_of {
  std::vector<T> host;
  T *device = nullptr;

  explicit pair_of(size_t n) : host(n) { must(cudaMalloc(&device, n * sizeof(T))); }
  void up() { must(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice)); }
  void down() { must(cudaMemcpy(host.data(), device, host.size() * sizeof(T), cudaMemcpyDeviceToHost)); }
};

// Exit status: 0 when the largest error is below the bound. Not a number is none.
inline int verdict(double worst, double bound)
{
  std::printf("largest error %g\n", worst);
  return worst < bound ? 0 : 1;
}
