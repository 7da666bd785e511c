// What the programs of this folder share: what they count, and arrays on the device.
#pragma once
#include <cstdio>
#include <vector>

static int failures, cases;

static void check(bool right, const char *what)
{
  cases++;
  if (right) return;
  failures++;
  printf("wrong: %s\n", what);
}

// A little more than the array has: of an empty one, too, there is an address.
template <typename T> static T *device(const std::vector<T> &v)
{
  T *p;
  cudaMalloc(&p, v.size() * sizeof(T) + 16);
  cudaMemcpy(p, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice);
  return p;
}
template <typename T> static std::vector<T> host(const T *p, size_t n)
{
  std::vector<T> v(n);
  cudaMemcpy(v.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost);
  return v;
}
