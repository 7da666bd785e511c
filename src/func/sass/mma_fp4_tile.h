/* What mma_fp4.h computes, for 16 rows of FP4 numbers by 8 columns at a time.
 *
 * Sums of a group fit 16 bits. A group's sum with both scales has 20 bits, an aligned one 47, and seven of these added
 * are exact as FP64; truncation toward zero takes additions and comparisons alone.
 */
#ifndef WS_FUNC_SASS_MMA_FP4_TILE_H
#define WS_FUNC_SASS_MMA_FP4_TILE_H

#include "func/sass/mma_fast.h"
#include "func/sass/mma_fp4.h"

enum { FP4_DEPTH = FP4_GROUP * FP4_MAX_GROUPS };

/* Twice the numbers, by k; the scale of each group. */
struct fp4_rows {
  _Alignas(64) int16_t twice[FP4_DEPTH][MMA_M];
  _Alignas(64) int32_t sig[FP4_MAX_GROUPS][MMA_M], exp[FP4_MAX_GROUPS][MMA_M];
  bool nan;
};

struct fp4_columns {
  int16_t twice[FP4_DEPTH][MMA_N];
  int32_t sig[FP4_MAX_GROUPS][MMA_N], exp[FP4_MAX_GROUPS][MMA_N];
  bool nan;
};

/* The elements of words, the lowest first: word t of n rows or columns has k from 8 t on. */
MMA_INLINE void fp4_take(int16_t *restrict twice, const uint32_t *restrict words, unsigned n, unsigned n_words,
                         bool negate)
{
  const uint32_t TWICE = 0xc8643210u; /* 0, 1, 2, 3, 4, 6, 8, 12 */
  for (unsigned t = 0; t < n_words; t++)
    for (unsigned j = 0; j < 8; j++) {
      LANES_SIMD
      for (unsigned i = 0; i < n; i++) {
        const uint32_t v = words[t * n + i] >> 4 * j & 15;
        const int32_t mag = (int32_t)(TWICE >> 4 * (v & 7) & 15), sign = -(int32_t)((v >> 3) ^ (uint32_t)negate);
        twice[(8 * t + j) * n + i] = (int16_t)((mag ^ sign) - sign);
      }
    }
}

/* The scales of row or column i of n. */
static inline void fp4_take_scales(int32_t *sig, int32_t *exp, bool *nan, unsigned i, unsigned n, uint64_t word,
                                   unsigned groups, struct fp4_scaling how)
{
  for (unsigned g = 0; g < groups; g++) {
    const struct fp4_scale s = fp4_scale_of(word, g, how);
    sig[g * n + i] = s.sig, exp[g * n + i] = s.sig ? s.exp : MMA_ZERO_EXP;
    *nan |= s.nan;
  }
}

/* 2^e of a normal number. */
MMA_INLINE double fp4_power(int32_t e)
{
  return bits_f64((uint64_t)(uint32_t)(e + 1023) << 52);
}

/* |x| < 2^51 toward zero. */
MMA_INLINE double fp4_truncated(double x)
{
  const double mag = bits_f64(f64_bits(x) & ~F64_SIGN), near = mag + 0x1p52 - 0x1p52;
  const double down = near - (near > mag ? 1.0 : 0.0);
  return bits_f64(f64_bits(down) | (f64_bits(x) & F64_SIGN));
}

/* The sums of one column's groups. */
MMA_INLINE void fp4_group_sums(int16_t sum[FP4_MAX_GROUPS][MMA_M], const struct fp4_rows *a,
                               const struct fp4_columns *b, unsigned n, unsigned groups)
{
  for (unsigned g = 0; g < groups; g++) {
    LANES_SIMD
    for (unsigned i = 0; i < MMA_M; i++) {
      int16_t s = 0;
#pragma GCC unroll 16
      for (unsigned k = 0; k < FP4_GROUP; k++)
        s = (int16_t)(s + a->twice[g * FP4_GROUP + k][i] * b->twice[g * FP4_GROUP + k][n]);
      sum[g][i] = s;
    }
  }
}

/* Exponents to which C and the groups of column n are aligned: those of zeros and below do not decide. */
MMA_INLINE void fp4_tops(int32_t top[MMA_M], const struct mma_sums *p, const struct fp4_rows *a,
                         const struct fp4_columns *b, unsigned n, unsigned groups)
{
  LANES_SIMD
  for (unsigned i = 0; i < MMA_M; i++) {
    const int32_t e = (int32_t)(f32_bits(p->c[n][i]) >> 23 & 0xff) - 127;
    top[i] = e > MMA_MIN_EXP ? e : MMA_MIN_EXP;
  }
  for (unsigned g = 0; g < groups; g++) {
    LANES_SIMD
    for (unsigned i = 0; i < MMA_M; i++) {
      const int32_t e = a->exp[g][i] + b->exp[g][n];
      top[i] = e > top[i] ? e : top[i];
    }
  }
}

/* C becomes D. False: infinities or NaN are among the operands, and C is as before. */
static inline bool fp4_tile(struct mma_sums *p, const struct fp4_rows *a, const struct fp4_columns *b, unsigned groups,
                            struct fp4_scaling how)
{
  enum { LEAST_SHIFT = -500 };
  const int32_t frac = FP4_FRACTION - fp4_group_fraction(how);
  int16_t sum[FP4_MAX_GROUPS][MMA_M];
  int32_t top[MMA_M];
  double all[MMA_M];
  if (a->nan || b->nan || mma_c_is_special(p)) return false;
  for (unsigned n = 0; n < MMA_N; n++) {
    fp4_group_sums(sum, a, b, n, groups);
    fp4_tops(top, p, a, b, n, groups);
    LANES_SIMD
    for (unsigned i = 0; i < MMA_M; i++)
      all[i] = fp4_truncated((double)p->c[n][i] * fp4_power(FP4_FRACTION - top[i]));
    for (unsigned g = 0; g < groups; g++) {
      LANES_SIMD
      for (unsigned i = 0; i < MMA_M; i++) {
        const int32_t up = frac + a->exp[g][i] + b->exp[g][n] - top[i];
        const double sig = (double)(sum[g][i] * a->sig[g][i] * b->sig[g][n]);
        all[i] += fp4_truncated(sig * fp4_power(up > LEAST_SHIFT ? up : LEAST_SHIFT));
      }
    }
    LANES_SIMD
    for (unsigned i = 0; i < MMA_M; i++) /* a sum of zero is +0 */
      p->c[n][i] = mma_rounded((all[i] + 0.0) * fp4_power(top[i] - FP4_FRACTION), true);
  }
  return true;
}

#endif
