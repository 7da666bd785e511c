/* Products of matrices on 16 rows at a time, for operands as they mostly are: what mma_float.h computes for all
 * of them, with the host's arithmetic.
 *
 * Factors become FP32 numbers, A and C by column, so that a vector holds the rows. Products of 11-bit
 * significands are exact there, and scaling and truncating one is two instructions of any x86 level. Where all
 * numbers are small integers even the sums are exact in FP32, in whatever order, and nothing is truncated.
 * Operands whose products could leave FP32's range, infinities and NaN are left to mma_float.h.
 */
#ifndef WS_FUNC_SASS_MMA_FAST_H
#define WS_FUNC_SASS_MMA_FAST_H

#include "func/sass/mma_frag.h"

#define MMA_INLINE static inline __attribute__((always_inline))

/* The words of a fragment's registers, `step` apart, by lane t of their quads: those of the 16 rows of A or C (two
 * registers), of the 8 columns of B (one). */
MMA_INLINE void mma_words(uint32_t *restrict out, unsigned rows, const uint32_t *restrict regs, unsigned step,
                          unsigned halves)
{
  for (unsigned t = 0; t < 4; t++)
    for (unsigned h = 0; h < halves; h++)
      for (unsigned g = 0; g < 8; g++) out[t * rows + 8 * h + g] = frag(regs, h * step, 4 * g + t);
}

/* 16 rows of A, 8 columns of B: their factors by k. Exponents are those of mma_split. */
struct mma_rows {
  _Alignas(64) float x[MMA_K][MMA_M];
  _Alignas(64) int32_t exp[MMA_K][MMA_M];
};

struct mma_columns {
  _Alignas(64) float x[MMA_K][MMA_N];
  _Alignas(64) int32_t exp[MMA_K][MMA_N];
};

/* C and the running sums, by column. */
struct mma_sums {
  _Alignas(64) float c[MMA_N][MMA_M];
};

/* Exponents of factors whose products stay, with all their bits, in FP32's range, and that of a sum below which
 * all products of such factors are zero. */
enum { MMA_FAST_EXP = 40, MMA_FAST_TOP = -2 * MMA_FAST_EXP, MMA_F16_MIN_EXP = -14 };

MMA_INLINE float mma_float_of(uint32_t v, enum mma_type type)
{
  return bits_f32(type == MMA_F16 ? f32_from_f16(v) : type == MMA_BF16 ? v << 16 : v << 13);
}

/* The exponent of a pattern; *wide gets a bit when the number is not for the fast way. */
MMA_INLINE int32_t mma_exponent(uint32_t v, enum mma_type type, uint32_t *wide)
{
  const struct fp_format f = mma_format[type];
  const int32_t top = (1 << f.exp) - 1, bias = top >> 1;
  const int32_t most = bias < MMA_FAST_EXP ? bias : MMA_FAST_EXP;
  const int32_t field = (int32_t)(v >> f.frac) & top, e = (field ? field : 1) - bias;
  const bool zero = (v & ((1u << (f.frac + f.exp)) - 1)) == 0;
  const int32_t number = zero ? 0 : e;
  *wide |= (uint32_t)((most - number) | (number + most)) >> 31; /* a sign is set: it is outside */
  return zero ? MMA_ZERO_EXP : e;
}

/* What of element j of n words is a factor: its sign flips where negate has a one. */
MMA_INLINE uint32_t mma_pattern(uint32_t word, unsigned j, uint32_t negate, enum mma_type type)
{
  return (type == MMA_TF32 ? word >> 13 : word >> 16 * j & 0xffffu) ^ negate;
}

/* n patterns become numbers. */
MMA_INLINE void mma_numbers(float *restrict x, const uint32_t *restrict words, unsigned n, unsigned j,
                            uint32_t negate, enum mma_type type)
{
  LANES_SIMD
  for (unsigned i = 0; i < n; i++) x[i] = mma_float_of(mma_pattern(words[i], j, negate, type), type);
}

/* Their exponents. True: some are not for the fast way. */
MMA_INLINE bool mma_exponents(int32_t *restrict e, const uint32_t *restrict words, unsigned n, unsigned j,
                              enum mma_type type)
{
  uint32_t lane_acc = 0;
  LANES_SIMD_OR
  for (unsigned i = 0; i < n; i++) e[i] = mma_exponent(mma_pattern(words[i], j, 0, type), type, &lane_acc);
  return lane_acc;
}

/* The bits of the magnitudes of n integers, together at least as large as the largest and less than twice as
 * large; MMA_NO_INTEGER and more when one is none, or too large. */
#define MMA_NO_INTEGER 0x1p24f

MMA_INLINE float mma_integer_bits(const float *x, unsigned n)
{
  uint32_t lane_acc = 0;
  LANES_SIMD_OR
  for (unsigned i = 0; i < n; i++) {
    const float mag = bits_f32(f32_bits(x[i]) & ~F32_SIGN);
    const int32_t v = (int32_t)(mag < MMA_NO_INTEGER ? mag : 0.5f);
    lane_acc |= (float)v == mag ? (uint32_t)v : 1u << 24;
  }
  return (float)lane_acc;
}

/* Adds all products in FP32: sums of integers below 2^24 are exact. */
MMA_INLINE void mma_integer_sums(struct mma_sums *p, const struct mma_rows *a, const struct mma_columns *b,
                                 unsigned depth)
{
  for (unsigned n = 0; n < MMA_N; n++) {
    LANES_SIMD
    for (unsigned i = 0; i < MMA_M; i++) {
      float sum = p->c[n][i] + 0.0f; /* a sum of zero is +0 */
#pragma GCC unroll 16
      for (unsigned k = 0; k < depth; k++) sum += a->x[k][i] * b->x[k][n];
      p->c[n][i] = sum;
    }
  }
}

/* |sum| 2^shift as FP32, truncated, infinite beyond the range; the result is not subnormal. */
MMA_INLINE float mma_truncated(int32_t sum, int32_t shift)
{
  const uint32_t sign = (uint32_t)sum & F32_SIGN;
  const int32_t mag = sum < 0 ? -sum : sum;
  const float near = (float)mag;
  uint32_t v = f32_bits(near) - ((int32_t)near > mag);
  v = mag ? v + ((uint32_t)shift << 23) : 0;
  return bits_f32((v > F32_INF ? F32_INF : v) | sign);
}

/* 2^e, e that of a normal number. */
MMA_INLINE float mma_power(int32_t e)
{
  return bits_f32((uint32_t)(e + 127) << 23);
}

/* Exponents to which the terms of a block are aligned: column n, `depth` products from k0 on. */
MMA_INLINE void mma_tops(int32_t top[MMA_M], const struct mma_sums *p, const struct mma_rows *a,
                         const struct mma_columns *b, unsigned n, unsigned k0, unsigned depth, bool f32)
{
  const int32_t(*a_exp)[MMA_M] = &a->exp[k0];
  LANES_SIMD
  for (unsigned i = 0; i < MMA_M; i++) {
    const uint32_t c = f32_bits(p->c[n][i]);
    const int32_t field = (int32_t)(c >> 23 & 0xff), least = f32 || !(c & ~F32_SIGN) ? MMA_MIN_EXP : MMA_F16_MIN_EXP;
    int32_t most = field - 127 > least ? field - 127 : least;
#pragma GCC unroll 32
    for (unsigned k = 0; k < depth; k++) {
      const int32_t e = a_exp[k][i] + b->exp[k0 + k][n];
      most = e > most ? e : most;
    }
    top[i] = most;
  }
}

/* The sums of `depth` products and, where with_c says so, of C, which fit 31 bits. */
MMA_INLINE void mma_part(int32_t sum[MMA_M], const struct mma_sums *p, const struct mma_rows *a,
                         const struct mma_columns *b, unsigned n, unsigned k0, unsigned depth, bool with_c,
                         const float scale[MMA_M])
{
  const float(*x)[MMA_M] = &a->x[k0];
  LANES_SIMD
  for (unsigned i = 0; i < MMA_M; i++) {
    int32_t s = with_c ? (int32_t)(p->c[n][i] * scale[i]) : 0;
#pragma GCC unroll 32
    for (unsigned k = 0; k < depth; k++) s += (int32_t)(x[k][i] * b->x[k0 + k][n] * scale[i]);
    sum[i] = s;
  }
}

/* The exact sum of a block as the next C. */
MMA_INLINE float mma_rounded(double x, bool f32)
{
  return bits_f32(f32 ? mma_to_f32(x) : f32_from_f16(mma_to_f16(x)));
}

/* A block of `depth` products from k0 on, frac fraction bits, of which `most` products and C fit 31 bits. f32, depth
 * and most are constants wherever this is inlined. */
MMA_INLINE void mma_fast_block(struct mma_sums *p, const struct mma_rows *a, const struct mma_columns *b, unsigned k0,
                               unsigned depth, unsigned most, bool f32, int32_t frac)
{
  _Alignas(64) int32_t top[MMA_M], up[MMA_M], sum[MMA_M];
  _Alignas(64) float scale[MMA_M], r[MMA_M];
  _Alignas(64) double all[MMA_M];
  for (unsigned n = 0; n < MMA_N; n++) {
    mma_tops(top, p, a, b, n, k0, depth, f32);
    LANES_SIMD
    for (unsigned i = 0; i < MMA_M; i++) {
      up[i] = frac - (top[i] > MMA_FAST_TOP ? top[i] : MMA_FAST_TOP);
      scale[i] = mma_power(up[i]);
    }
    mma_part(sum, p, a, b, n, k0, most < depth ? most : depth, true, scale);
    if (depth <= most && f32) {
      LANES_SIMD
      for (unsigned i = 0; i < MMA_M; i++) r[i] = mma_truncated(sum[i], -up[i]);
    } else {
      LANES_SIMD
      for (unsigned i = 0; i < MMA_M; i++) all[i] = (double)sum[i];
#pragma GCC unroll 4
      for (unsigned k = most; k < depth; k += most) {
        mma_part(sum, p, a, b, n, k0 + k, most, false, scale);
        LANES_SIMD
        for (unsigned i = 0; i < MMA_M; i++) all[i] += (double)sum[i];
      }
      LANES_SIMD
      for (unsigned i = 0; i < MMA_M; i++) r[i] = mma_rounded(all[i] * (double)mma_power(-up[i]), f32);
    }
    LANES_SIMD
    for (unsigned i = 0; i < MMA_M; i++)
      p->c[n][i] = top[i] < MMA_FAST_TOP ? p->c[n][i] + 0.0f : r[i]; /* no product but zeros */
  }
}

/* Whether a number of C is infinite or NaN. */
MMA_INLINE bool mma_c_is_special(const struct mma_sums *p)
{
  const float *const c = p->c[0];
  uint32_t lane_acc = 0;
  LANES_SIMD_OR
  for (unsigned i = 0; i < MMA_M * MMA_N; i++) lane_acc |= (f32_bits(c[i]) & F32_INF) == F32_INF;
  return lane_acc;
}

#endif
