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
  static __device__ void store(void *p, int64_t at, float v, int type)
  {
    ((unsigned short *)p)[at] = type == WS_BF16 ? __bfloat16_as_ushort(__float2bfloat16(v))
                                                : __half_as_ushort(__float2half(v));
  }
};

// The same of all types that are computed with as C: double, or float and what is narrower.
template <typename C> struct any_memory {
  static __device__ float load(const void *p, int type, int64_t at)
  {
    if (type == WS_F32) return ((const float *)p)[at];
    return memory<unsigned short>::load((const unsigned short *)p + at, 0, type);
  }
  static __device__ void store(void *p, int type, int64_t at, float v)
  {
    if (type == WS_F32) ((float *)p)[at] = v;
    else memory<unsigned short>::store(p, at, v, type);
  }
};
template <> struct any_memory<double> {
  static __device__ double load(const void *p, int, int64_t at) { return ((const double *)p)[at]; }
  static __device__ void store(void *p, int, int64_t at, double v) { ((double *)p)[at] = v; }
};
