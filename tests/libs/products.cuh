// What the programs about products share: numbers that every type holds, matrices on both sides, sums in binary64.
#pragma once
#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <type_traits>
#include <vector>

#include "checks.cuh"

typedef std::complex<double> wide;

static double number()
{
  static unsigned state = 12345;
  state = state * 1664525u + 1013904223u;
  return (int)(state >> 16 & 15) / 4.0 - 2; // exact in all types
}

template <typename T> struct as {
  static T from(wide v) { return T((float)v.real()); }
  static wide to(T v) { return (double)(float)v; }
};
template <> struct as<double> {
  static double from(wide v) { return v.real(); }
  static wide to(double v) { return v; }
};
template <typename R> struct as<std::complex<R>> {
  static std::complex<R> from(wide v) { return std::complex<R>(v); }
  static wide to(std::complex<R> v) { return wide(v.real(), v.imag()); }
};
template <> struct as<int8_t> {
  static int8_t from(wide v) { return (int8_t)(v.real() * 4); }
  static wide to(int8_t v) { return v; }
};
template <> struct as<int> {
  static int from(wide v) { return (int)v.real(); }
  static wide to(int v) { return v; }
};

template <typename T> struct matrix {
  std::vector<T> host;
  T *at;
  int ld;
  long long stride;
  matrix(int rows, int cols, int ld_, int batch) : ld(ld_), stride((long long)ld_ * cols + 8)
  {
    (void)rows;
    host.resize(stride * batch);
    for (T &v : host) v = as<T>::from(wide(number(), number()));
    cudaMalloc(&at, host.size() * sizeof(T));
    cudaMemcpy(at, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice);
  }
  ~matrix() { cudaFree(at); }
  wide get(int r, int c, int z) const { return as<T>::to(host[z * stride + (long long)c * ld + r]); }
  void fetch() { cudaMemcpy(host.data(), at, host.size() * sizeof(T), cudaMemcpyDeviceToHost); }
};

static wide turn(cublasOperation_t op, wide v) { return op == CUBLAS_OP_C ? std::conj(v) : v; }

// What C must be, where it was `old`.
template <typename A, typename B> static wide expected(const matrix<A> &a, const matrix<B> &b, cublasOperation_t ta, cublasOperation_t tb,
                                                       int r, int c, int k, int z)
{
  wide s = 0;
  for (int i = 0; i < k; i++)
    s += turn(ta, ta == CUBLAS_OP_N ? a.get(r, i, z) : a.get(i, r, z)) * turn(tb, tb == CUBLAS_OP_N ? b.get(i, c, z) : b.get(c, i, z));
  return s;
}

static void say(bool right, const char *what, int m, int n, int k, int ta, int tb)
{
  cases++;
  if (right) return;
  failures++;
  printf("wrong: %s, %d x %d x %d, operations %d %d\n", what, m, n, k, ta, tb);
}
