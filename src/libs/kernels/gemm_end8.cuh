// The end of products of FP8 and FP4: D in a wide type, in FP8, or in FP8 and FP4 with a factor for each block.
#pragma once
#include <cuda_fp8.h>

#include "gemm_mma.cuh"

// A power of two as a factor of a block, without sign; 255 is not a number.
__device__ inline float ue8m0(unsigned code)
{
  return code == 255 ? __uint_as_float(0x7fffffff) : __uint_as_float(code ? code << 23 : 1u << 22);
}
// The factor of a block, as it is stored, and what its elements are multiplied by before they are rounded.
struct block_factor {
  unsigned code;
  float inverse;
};
// As cuBLAS's reference says: the quotient's exponent, rounded up.
__device__ inline block_factor power_of_two(float most, float largest)
{
  const unsigned bits = __float_as_uint(most / largest), fraction = bits & 0x7fffff;
  unsigned e = bits >> 23;
  if (e == 0) e = fraction > 0x400000;
  else if (e < 254 && fraction) e++;
  return {e, e == 255 ? ue8m0(e) : ue8m0(254 - e)};
}
// Where the factor is 0 all elements are, too.
__device__ inline block_factor e4m3_factor(float most, float largest)
{
  const unsigned code = __nv_cvt_float_to_fp8(most / largest, __NV_SATFINITE, __NV_E4M3);
  return {code, code ? 1 / __half2float(__nv_cvt_fp8_to_halfraw(code, __NV_E4M3)) : 0};
}
// To the nearest of 0, 0.5, 1, 1.5, 2, 3, 4, 6, ties to the even code; 6 beyond, and for what is not a number.
__device__ inline unsigned to_e2m1(float v)
{
  const float a = fabsf(v);
  if (a != a) return 7;
  const int code = (a > 0.25f) + (a >= 0.75f) + (a > 1.25f) + (a >= 1.75f) + (a > 2.5f) + (a >= 3.5f) + (a > 5);
  return code | __float_as_uint(v) >> 31 << 3;
}

// What D gets: factors, epilogue, the largest absolute value, FP8 by rounding to the nearest, the largest where it is more.
// FACTORS: D may be FP8 or FP4 with factors of blocks.
template <int N, bool FACTORS = false> struct end8 {
  using args = ws_gemm8_args;
  bool plain; // D = alpha * sum of a wide type, in groups
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
    if (type == WS_E2M1) return (char *)p + stride * z / 2;
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
    const bool more = beta != 0 || p.epilogue || a.vector_a || a.vector_b || a.scale_d || a.amax;
    plain = N == 4 && p.d_vector && on_border(d) && p.d_type < WS_TYPES && !more; // never with factors of blocks
  }
  static __device__ unsigned char to_fp8(float v, int type)
  {
    return __nv_cvt_float_to_fp8(v, __NV_SATFINITE, type == WS_E4M3 ? __NV_E4M3 : __NV_E5M2);
  }
  __device__ void store(int type, int64_t at, float v) const
  {
    if (type < WS_TYPES) write_as<float>(d, type, at, v);
    else ((unsigned char *)d)[at] = to_fp8(v, type);
  }
  // Numbers from 0 on are in the order of their bits.
  static __device__ void note(float *amax, float most)
  {
    if (amax && most > 0) atomicMax((int *)amax, __float_as_int(most));
  }
  // Epilogues that leave the values before GELU in FP8; all others are those of any product.
  __device__ __noinline__ float leave_fp8(const ws_gemm_args &p, int row, int col, float v) const
  {
    if (p.epilogue & WS_BIAS) v += read_as<float>(p.bias, p.bias_type, z * p.stride_bias + col);
    note(q.amax_aux, fabsf(v));
    const float kept = q.scale_aux ? v * *q.scale_aux : v;
    ((unsigned char *)p.aux)[z * p.stride_aux + row * p.ldaux + col] = to_fp8(kept, p.aux_type);
    return gelu(v);
  }
  __device__ float finished(const ws_gemm_args &p, int row, int col, float v) const
  {
    constexpr int LEAVES = WS_AUX | WS_GELU;
    if ((p.epilogue & LEAVES) == LEAVES && p.aux_type >= WS_TYPES) return leave_fp8(p, row, col, v);
    return finish(p, z, row, col, v);
  }
  __device__ void put_plain(const ws_gemm_args &p, int row, int col, float4 sum) const
  {
    const int64_t at = (int64_t)row * p.ldd + col;
    const float v[4] = {sum.x * alpha, sum.y * alpha, sum.z * alpha, sum.w * alpha};
    if (p.d_type == WS_F32) *(float4 *)((float *)d + at) = make_float4(v[0], v[1], v[2], v[3]);
    else if (p.d_type == WS_F16) *(group<__half, 4> *)((__half *)d + at) = {{__float2half(v[0]), __float2half(v[1]), __float2half(v[2]), __float2half(v[3])}};
    else *(group<__nv_bfloat16, 4> *)((__nv_bfloat16 *)d + at) = {{__float2bfloat16(v[0]), __float2bfloat16(v[1]), __float2bfloat16(v[2]), __float2bfloat16(v[3])}};
  }
  // What is behind the edges counts as 0. Not inlined: it is there sixteen times else.
  __device__ __noinline__ float of_block(const ws_gemm_args &p, int row, int col, float sum) const
  {
    if (row >= p.m || col >= p.n) return 0;
    float v = sum * alpha;
    if (beta != 0) v += beta * read_as<float>(c, p.c_type, (int64_t)row * p.ldc + col);
    if (p.epilogue) v = finished(p, row, col, v);
    return v;
  }
  // Of line `row` and the block that column `col` is in.
  __device__ unsigned char *factor_at(const ws_gemm_args &p, int row, int col, int block) const
  {
    constexpr int TILE = WS_FACTOR_LINES * WS_FACTOR_BLOCKS;
    const int64_t along = (p.n + block * WS_FACTOR_BLOCKS - 1) / (block * WS_FACTOR_BLOCKS);
    const int64_t lines = (p.m + WS_FACTOR_LINES - 1) / WS_FACTOR_LINES, at = col / block;
    const int64_t tile = (z * lines + row / WS_FACTOR_LINES) * along + at / WS_FACTOR_BLOCKS;
    return (unsigned char *)q.factors_d + tile * TILE + row % 32 * 16 + row % WS_FACTOR_LINES / 32 * 4 + at % WS_FACTOR_BLOCKS;
  }
  __device__ void store_fp4(int64_t at, const float *v, int valid) const
  {
#pragma unroll
    for (int i = 0; i < N; i += 2) // an even number of columns, lines on borders of bytes
      if (i < valid) ((unsigned char *)d)[(at + i) / 2] = to_e2m1(v[i]) | to_e2m1(v[i + 1]) << 4;
  }
  // All lanes of a warp come here together, those of a block of a row beside each other.
  __device__ void put_block(const ws_gemm_args &p, int row, int col, const float *sum) const
  {
    static_assert(N == 4, "eight lanes have 32 columns");
    const bool fp4 = p.d_type == WS_E2M1;
    const int block = fp4 ? WS_BLOCK_UE4M3 : WS_BLOCK_UE8M0, valid = min(N, p.n - col);
    float v[N], most = 0, before = 0;
#pragma unroll
    for (int i = 0; i < N; i++) {
      const float whole = of_block(p, row, col + i, sum[i]);
      before = fmaxf(before, fabsf(whole));
      v[i] = whole * scale_d, most = fmaxf(most, fabsf(v[i]));
    }
    note(q.amax, before);
    if (!fp4) most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, 4));
    most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, 2));
    most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, 1));
    if (row >= p.m || valid <= 0) return;
    const block_factor f = fp4 ? e4m3_factor(most, 6) : power_of_two(most, p.d_type == WS_E4M3 ? 448 : 57344);
    if (col % block == 0) *factor_at(p, row, col, block) = f.code;
#pragma unroll
    for (int i = 0; i < N; i++) v[i] *= f.inverse;
    const int64_t at = (int64_t)row * p.ldd + col;
    if (fp4) return store_fp4(at, v, valid);
    for (int i = 0; i < valid; i++) store(p.d_type, at + i, v[i]);
  }
  __device__ void put(const ws_gemm_args &p, int row, int col, const float *sum) const
  {
    float most = 0;
    if constexpr (FACTORS)
      if (q.factors_d) return put_block(p, row, col, sum);
    if (row >= p.m) return;
    const float in_row = q.vector_b ? alpha * q.scale_b[row] : alpha;
#pragma unroll
    for (int i = 0; i < N; i++) {
      if (col + i >= p.n) break;
      float v = sum[i] * (q.vector_a ? in_row * q.scale_a[col + i] : in_row);
      if (beta != 0) v += beta * read_as<float>(c, p.c_type, (int64_t)row * p.ldc + col + i);
      if (p.epilogue) v = finished(p, row, col + i, v);
      most = fmaxf(most, fabsf(v));
      store(p.d_type, (int64_t)row * p.ldd + col + i, v * scale_d);
    }
    note(q.amax, most);
  }
};
