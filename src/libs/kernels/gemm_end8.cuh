// The end of products of FP8 and FP4.
#pragma once
#include <cuda_fp8.h>

#include "gemm_mma.cuh"

// What D gets: factors, epilogue, the largest absolute value, FP8 by rounding to the nearest, the largest where it is more.
template <int N> struct end8 {
  using args = ws_gemm8_args;
  static constexpr bool plain = false; // nothing of what follows is left out
  const args &q;
  float alpha, beta, scale_d;
  const char *c;
  char *d;
  int64_t z;

  static __device__ const ws_gemm_args &product(const args &p) { return p.g; }
  static __device__ int type_a(const args &p) { return p.type_a; }
  static __device__ int type_b(const args &p) { return p.type_b; }
  static __device__ char *of(const void *p, int64_t stride, int64_t z, int type)
  {
    const int size = type >= WS_TYPES ? 1 : type == WS_F32 ? 4 : 2;
    return (char *)p + stride * z * size;
  }
  __device__ end8(const args &a, int64_t batch) : q(a), z(batch)
  {
    const ws_gemm_args &p = a.g;
    alpha = scalar<float>(p.alpha, p.scale);
    beta = scalar<float>(p.beta, p.scale);
    if (a.scale_a && !a.vector_a) alpha *= *a.scale_a;
    if (a.scale_b && !a.vector_b) alpha *= *a.scale_b;
    if (beta != 0 && a.scale_c) beta *= *a.scale_c;
    scale_d = a.scale_d ? *a.scale_d : 1;
    c = of(p.c, p.stride_c, z, p.c_type);
    d = of(p.d, p.stride_d, z, p.d_type);
  }
  __device__ void store(int type, int64_t at, float v) const
  {
    if (type < WS_TYPES) write_as<float>(d, type, at, v);
    else ((unsigned char *)d)[at] = __nv_cvt_float_to_fp8(v, __NV_SATFINITE, type == WS_E4M3 ? __NV_E4M3 : __NV_E5M2);
  }
  __device__ void put_plain(const ws_gemm_args &, int, int, float4) const {}
  __device__ void put(const ws_gemm_args &p, int row, int col, const float *sum) const
  {
    float most = 0;
    if (row >= p.m) return;
    const float in_row = q.vector_b ? alpha * q.scale_b[row] : alpha;
#pragma unroll
    for (int i = 0; i < N; i++) {
      if (col + i >= p.n) break;
      float v = sum[i] * (q.vector_a ? in_row * q.scale_a[col + i] : in_row);
      if (beta != 0) v += beta * read_as<float>(c, p.c_type, (int64_t)row * p.ldc + col + i);
      if (p.epilogue) v = finish(p, z, row, col + i, v);
      most = fmaxf(most, fabsf(v));
      store(p.d_type, (int64_t)row * p.ldd + col + i, v * scale_d);
    }
    // Numbers from 0 on are in the order of their bits.
    if (q.amax && most > 0) atomicMax((int *)q.amax, __float_as_int(most));
  }
};
