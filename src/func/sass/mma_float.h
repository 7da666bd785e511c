/* Floating-point arithmetic of the tensor cores: aligned, truncating, fused sums.
 *
 * One output is the running value c plus the products of K pairs, taken in blocks of L. Within a
 * block all exact products and c are aligned to the largest exponent among them (a product counts
 * with the sum of its factors' exponents, not normalised), truncated toward zero to F fraction bits
 * and added exactly. The sum becomes the next c: FP32 truncated toward zero, or FP16 to nearest
 * even. Source: MMA-Sim (arXiv 2511.10909) and Fasi et al., PeerJ CS 330 (2021); arXiv 2512.07004.
 */
#ifndef WS_FUNC_SASS_MMA_FLOAT_H
#define WS_FUNC_SASS_MMA_FLOAT_H

#include "func/sass/fpbits.h"

enum { MMA_M = 16, MMA_N = 8, MMA_K = 32 };

enum mma_type { MMA_F16, MMA_BF16, MMA_TF32 };

/* What differs between generations, newest first: fraction bits kept, and pairs per block. FP8 has
 * its own: Ada keeps few bits, also of an FP32 result, whose last `cut8` bits are zero. */
struct mma_arch {
  unsigned from_sm;
  uint8_t frac, block16, block_tf32; /* F, L of FP16 and BF16, L of TF32 */
  uint8_t frac8, block8, cut8;
};

static const struct mma_arch mma_archs[] = {
    {90, 25, 16, 8, 25, 32, 0}, /* Hopper (no FP8 by mma.sync), Blackwell */
    {89, 24, 8, 4, 13, 16, 10}, /* Ada */
    {80, 24, 8, 4, 0, 0, 0},    /* Ampere */
    {75, 24, 8, 4, 0, 0, 0},    /* Turing (no TF32) */
    {0, 23, 4, 4, 0, 0, 0},     /* Volta (no TF32) */
};

static inline const struct mma_arch *mma_arch(unsigned sm)
{
  const struct mma_arch *a = mma_archs;
  while (sm < a->from_sm) a++;
  return a;
}

/* Input formats; TF32 is the upper 19 bits of FP32. */
static const struct fp_format mma_format[] = {
    [MMA_F16] = {10, 5}, [MMA_BF16] = {7, 8}, [MMA_TF32] = {10, 8}};

/* Exponent of a zero: below that of every number, so that it never decides the alignment. */
enum { MMA_ZERO_EXP = -1000, MMA_MIN_EXP = -126 };

/* A matrix of significands (signed, with the format's fraction bits) and exponents; `bits` keeps
 * the patterns for the rare path with infinities or NaN, which `special` reports. */
struct mma_a {
  int32_t sig[MMA_M][MMA_K], exp[MMA_M][MMA_K];
  uint32_t bits[MMA_M][MMA_K];
  bool special;
};

struct mma_b {
  int32_t sig[MMA_K][MMA_N], exp[MMA_K][MMA_N];
  uint32_t bits[MMA_K][MMA_N];
  bool special;
};

/* Splits a pattern of format f; true for infinity and NaN. */
static inline bool mma_split(uint32_t v, struct fp_format f, int32_t *sig, int32_t *exp)
{
  const int32_t top = (1 << f.exp) - 1, bias = top >> 1;
  const int32_t e = (int32_t)(v >> f.frac) & top;
  int32_t s = (int32_t)(v & ((1u << f.frac) - 1));
  s |= e ? 1 << f.frac : 0;
  *exp = s ? (e ? e : 1) - bias : MMA_ZERO_EXP;
  *sig = v >> (f.frac + f.exp) & 1 ? -s : s;
  return e == top;
}

static inline double mma_value(uint32_t v, enum mma_type type)
{
  const uint32_t f32 = type == MMA_F16 ? f32_from_f16(v) : type == MMA_BF16 ? v << 16 : v << 13;
  return (double)bits_f32(f32);
}

/* |s| shifted left by up (right when negative), right by down (0..31), with the sign of s:
 * truncation toward zero. */
static inline int32_t mma_align(int32_t s, int32_t up, int32_t down)
{
  const int32_t sign = s >> 31;
  down -= up < 0 ? up : 0;
  up = up < 0 ? 0 : up;
  const uint32_t mag = (uint32_t)((s ^ sign) - sign) << up >> (down > 31 ? 31 : down);
  return ((int32_t)mag ^ sign) - sign;
}

/* sums[n] * 2^(exp[n] - frac) = c[n] + block of row `i` of a by column n of b, k in [k0, k1). c:
 * FP32 or FP16 patterns, finite. */
static inline void mma_fused_sum(double sums[MMA_N], const struct mma_a *a, unsigned i,
                                 const struct mma_b *b, unsigned k0, unsigned k1,
                                 const uint32_t c[MMA_N], struct fp_format cf, int32_t frac,
                                 int32_t product_frac)
{
  int32_t csig[MMA_N], cexp[MMA_N], top[MMA_N];
  int64_t total[MMA_N];

  for (unsigned n = 0; n < MMA_N; n++) {
    mma_split(c[n], cf, &csig[n], &cexp[n]);
    top[n] = cexp[n] > MMA_MIN_EXP ? cexp[n] : MMA_MIN_EXP;
  }
  for (unsigned k = k0; k < k1; k++) {
    LANES_SIMD
    for (unsigned n = 0; n < MMA_N; n++) {
      int32_t e = a->exp[i][k] + b->exp[k][n];
      top[n] = e > top[n] ? e : top[n];
    }
  }
  for (unsigned n = 0; n < MMA_N; n++)
    total[n] = mma_align(csig[n], frac - cf.frac, top[n] - cexp[n]);
  for (unsigned k = k0; k < k1; k += 4) { /* four products of 27 bits fit 32 */
    int32_t part[MMA_N] = {0};
    for (unsigned j = k; j < k + 4; j++) {
      LANES_SIMD
      for (unsigned n = 0; n < MMA_N; n++)
        part[n] += mma_align(a->sig[i][j] * b->sig[j][n], frac - product_frac,
                             top[n] - (a->exp[i][j] + b->exp[j][n]));
    }
    LANES_SIMD
    for (unsigned n = 0; n < MMA_N; n++) total[n] += part[n];
  }
  for (unsigned n = 0; n < MMA_N; n++) {
    /* exact: the sum has at most 33 bits. Added to 1.5 * 2^52, whose low bits then hold it */
    double x = bits_f64((uint64_t)total[n] + f64_bits(0x1.8p52)) - 0x1.8p52;
    sums[n] = x * bits_f64((uint64_t)(top[n] - frac + 1023) << 52);
  }
}

/* FP32 truncated toward zero, but infinite beyond the range. x: no NaN. */
static inline uint32_t mma_to_f32(double x)
{
  const float near = (float)x;
  const double mag = bits_f64(f64_bits(x) & ~F64_SIGN), back = (double)bits_f32(f32_bits(near) & ~F32_SIGN);
  const uint32_t v = f32_bits(near) - (back > mag ? 1u : 0u);
  return mag >= 0x1p128 ? (v & F32_SIGN) | F32_INF : v;
}

static inline uint32_t mma_to_f16(double x)
{
  return f16_from_f32(f32_bits(f32_odd_from_f64(x)));
}

/* IEEE result of output (i, n) where an operand is infinite or NaN; *r as pattern. False: it is
 * finite, no operand of this output is special. */
static inline bool mma_special(uint32_t *r, const struct mma_a *a, unsigned i,
                               const struct mma_b *b, unsigned n, unsigned k0, unsigned k1,
                               uint32_t c, enum mma_type type, bool f32)
{
  double s = f32 ? (double)bits_f32(c) : (double)bits_f32(f32_from_f16(c));
  for (unsigned k = k0; k < k1; k++)
    s += mma_value(a->bits[i][k], type) * mma_value(b->bits[k][n], type);
  if (s - s == 0.0) return false;
  *r = f32 ? f32_canon((float)s) : f16_from_f32(f32_bits((float)s));
  return true;
}

/* One block of row i: c, patterns of FP32 (f32) or FP16, becomes the result. */
static inline void mma_block(uint32_t c[MMA_N], const struct mma_a *a, unsigned i,
                             const struct mma_b *b, unsigned k0, unsigned k1, enum mma_type type,
                             bool f32, int32_t frac)
{
  const struct fp_format cf = f32 ? FMT_F32 : FMT_F16;
  const uint32_t inf = f32 ? F32_INF : 0x7c00u;
  uint32_t old[MMA_N];
  double sums[MMA_N];
  bool special = a->special || b->special;

  for (unsigned n = 0; n < MMA_N; n++) {
    old[n] = c[n];
    special |= (c[n] & inf) == inf;
  }
  mma_fused_sum(sums, a, i, b, k0, k1, old, cf, frac, 2 * mma_format[type].frac);
  for (unsigned n = 0; n < MMA_N; n++) c[n] = f32 ? mma_to_f32(sums[n]) : mma_to_f16(sums[n]);
  if (!special) return;
  for (unsigned n = 0; n < MMA_N; n++) mma_special(&c[n], a, i, b, n, k0, k1, old[n], type, f32);
}

#endif
