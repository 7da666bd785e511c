/* FP4 numbers in groups of 16 with scales, as OMMA and UTCOMMA multiply them.
 *
 * The products of 16 elements are added exactly and multiplied by both scales; the groups and c are aligned to the
 * largest exponent (a scale counts with its own), truncated to 35 fraction bits and added; FP32 toward zero. Source:
 * MMA-Sim (arXiv 2511.10909).
 */
#ifndef WS_FUNC_SASS_MMA_FP4_H
#define WS_FUNC_SASS_MMA_FP4_H

#include <math.h>

#include "func/sass/mma_float.h"

enum { FP4_GROUP = 16, FP4_MAX_GROUPS = 6, FP4_FRACTION = 35 };

/* Twice the number. */
static inline int32_t fp4_twice(uint32_t v)
{
  static const int8_t twice[8] = {0, 1, 2, 3, 4, 6, 8, 12};
  return v & 8 ? -twice[v & 7] : twice[v & 7];
}

/* sig * 2^exp. */
struct fp4_scale {
  int32_t sig, exp; /* sig: fraction bits by format: 3 of E4M3, whose sign has no meaning */
  bool nan;
};

/* How the scales of a word are used. */
struct fp4_scaling {
  bool e4m3;      /* else powers of two */
  unsigned groups; /* for each scale: 1, 2 */
};

/* The scale of a group; the first one is lowest in the word. */
static inline struct fp4_scale fp4_scale_of(uint64_t word, unsigned group, struct fp4_scaling how)
{
  const uint32_t byte = (uint32_t)(word >> 8 * (group / how.groups)) & 0xff, v = how.e4m3 ? byte & 0x7f : byte;
  if (!how.e4m3) return (struct fp4_scale){1, (int32_t)v - 127, v == 0xff};
  const int32_t e = (int32_t)(v >> 3);
  return (struct fp4_scale){(int32_t)(v & 7) | (e ? 8 : 0), (e ? e : 1) - 7, v == 0x7f};
}

/* Fraction bits of a group's sum with its scales: products in quarters, significands of the scales. */
static inline int32_t fp4_group_fraction(struct fp4_scaling how)
{
  return how.e4m3 ? 2 + 3 + 3 : 2;
}

/* x * 2^up toward zero. */
static inline int64_t fp4_shifted(int64_t x, int32_t up)
{
  const uint64_t mag = (uint64_t)(x < 0 ? -x : x);
  const int64_t r = (int64_t)(up >= 0 ? mag << up : up > -64 ? mag >> -up : 0);
  return x < 0 ? -r : r;
}

/* c and the sums of the products of each group, times four, with the scales of a row and a column. */
static inline uint32_t fp4_element(uint32_t c, uint64_t scales_a, uint64_t scales_b, const int32_t *sums,
                                   unsigned groups, struct fp4_scaling how)
{
  const int32_t frac = fp4_group_fraction(how);
  int32_t csig, cexp, exp[FP4_MAX_GROUPS], top;
  int64_t sig[FP4_MAX_GROUPS];
  if (mma_split(c, FMT_F32, &csig, &cexp)) return c << 9 ? F32_NAN : c;
  top = cexp > MMA_MIN_EXP ? cexp : MMA_MIN_EXP;
  for (unsigned g = 0; g < groups; g++) {
    const struct fp4_scale a = fp4_scale_of(scales_a, g, how), b = fp4_scale_of(scales_b, g, how);
    if (a.nan || b.nan) return F32_NAN;
    sig[g] = (int64_t)sums[g] * a.sig * b.sig;
    exp[g] = a.exp + b.exp;
    if (how.e4m3 && (a.sig == 0 || b.sig == 0)) exp[g] = MMA_ZERO_EXP;
    if (exp[g] > top) top = exp[g];
  }
  int64_t total = fp4_shifted(csig, FP4_FRACTION - FMT_F32.frac + cexp - top);
  for (unsigned g = 0; g < groups; g++) total += fp4_shifted(sig[g], FP4_FRACTION - frac + exp[g] - top);
  return mma_to_f32(ldexp((double)total, top - FP4_FRACTION));
}

#endif
