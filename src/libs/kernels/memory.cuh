// Elements in memory as T and how they are computed with. Sixteen bits are of two kinds, which only the launch knows.
#pragma once
#include "elements.cuh"

template <typename T> struct memory {
  static __device__ T load(const void *p, int at, int) { return ((const T *)p)[at]; }
  static __device__ void store(void *p, int64_t at, T v, int) { ((T *)p)[at] = v; }
};
template <> struct memory<unsigned short> {
  static __device__ float load(const void *p, int at, int type)
  {
    const unsigned short v = ((const unsigned short *)p)[at];
    return type == WS_BF16 ? __uint_as_float((unsigned)v << 16) : __half2float(__ushort_as_half(v));
  }
  static __device__ void store(void *p, int64_t at, float v, int type) { write_as<float>(p, type, at, v); }
};
