/* Matrix elements of 8, 6 and 4 bits as the sums of mma_float.h want them.
 *
 * Every one is an FP16 number, so FP16's ten fraction bits serve; the exponent that decides the alignment is
 * the narrow format's (E4M3 does not normalise below 2^-6).
 */
#ifndef WS_FUNC_SASS_MMA_NARROW_H
#define WS_FUNC_SASS_MMA_NARROW_H

#include "func/sass/mma_float.h"

/* By code of QMMA_A120. FP6 lies in the low, FP4 in the middle bits of its byte (NVIDIA CUTLASS,
 * mma_traits_sm120.hpp); they have no infinity and no NaN. */
enum { MMA_E4M3, MMA_E5M2, MMA_NARROW = 6 };
static const struct fp_format mma_narrow[MMA_NARROW] = {{3, 4}, {2, 5}, {0, 0}, {2, 3}, {3, 2}, {1, 2}};

/* Takes a byte apart; *bits: the same number as FP16. True: infinite or NaN. */
static inline bool mma_split_byte(uint32_t v, unsigned format, uint32_t *bits, int32_t *sig, int32_t *exp)
{
  const struct fp_format f = mma_narrow[format];
  const unsigned width = 1u + f.frac + f.exp, shift = width == 4 ? 2 : 0;
  if (format == MMA_E5M2) {
    *bits = f16_from_f8(v, false);
    return mma_split(*bits, FMT_F16, sig, exp);
  }
  mma_split(v >> shift & ((1u << width) - 1), f, sig, exp);
  *sig *= 1 << (FMT_F16.frac - f.frac);
  if (format == MMA_E4M3) {
    *bits = f16_from_f8(v, true);
    return *bits == F16_NAN;
  }
  *bits = f16_from_f32(f32_bits((float)*sig * bits_f32((uint32_t)(*exp - FMT_F16.frac + 127) << 23)));
  return false;
}

/* FP32 results of FP8 products keep 23 - `bits` fraction bits on Ada and Hopper. */
static inline void mma_cut_result(uint32_t c[MMA_N], unsigned bits)
{
  for (unsigned n = 0; n < MMA_N; n++)
    if ((c[n] & F32_INF) != F32_INF) c[n] &= ~((1u << bits) - 1);
}

#endif
