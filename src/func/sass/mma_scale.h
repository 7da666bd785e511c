/* Operands of sparse and block-scaled products (PTX ISA, mma.sp and "block scaling"; compiler output, CUDA 13.0).
 *
 * Scales: a row of A has its own in a word of lane 4 (row % 8) + 2 thread_a + row / 8, a column of B in lane 4 column +
 * thread_b (where a lane's row and column are: NVIDIA CUTLASS, mma_traits_sm120.hpp). A uniform register selects:
 *
 *   bits  6:5       4:3     2         1:0
 *         thread_b  byte_b  thread_a  byte_a     the first byte of the scale or scales in the word
 *
 * uop.imm2: registers, 255 = RZ and URZ: A's scales 7:0, B's 15:8, selectors 23:16, metadata 31:24.
 */
#ifndef WS_FUNC_SASS_MMA_SCALE_H
#define WS_FUNC_SASS_MMA_SCALE_H

#include "func/sass/mma_frag.h"
#include "func/sass/uop.h"

/* Scales of all rows and columns, the selected byte lowest. */
struct mma_scales {
  uint32_t a[MMA_M], b[MMA_N];
};

static inline uint32_t scale_word(const struct func_warp *w, unsigned reg, unsigned lane, unsigned byte)
{
  return reg == SASS_RZ ? 0 : warp_reg(w, reg)[lane] >> 8 * byte;
}

static inline void mma_load_scales(struct mma_scales *s, const struct func_warp *w, const struct uop *u)
{
  const unsigned a = u->imm2 & 0xff, b = u->imm2 >> 8 & 0xff, ur = u->imm2 >> 16 & 0xff;
  const uint32_t select = warp_uniform(w, ur);
  for (unsigned i = 0; i < MMA_M; i++)
    s->a[i] = scale_word(w, a, 4 * (i & 7) + 2 * (select >> 2 & 1) + (i >> 3), select & 3);
  for (unsigned n = 0; n < MMA_N; n++) s->b[n] = scale_word(w, b, 4 * n + (select >> 5 & 3), select >> 3 & 3);
}

static inline void mma_pick_scales(const struct sass_inst *s, struct uop *u)
{
  const unsigned meta = (unsigned)sass_get(s, FLD_HMMA_META);
  const unsigned a = sass_has(s, FLD_SCALE_A) ? (unsigned)sass_get(s, FLD_SCALE_A) : meta + 1;
  u->imm2 = a | (uint32_t)sass_get(s, FLD_SCALE_B) << 8 | (uint32_t)sass_get(s, FLD_SCALE_UR) << 16 | meta << 24;
}

#endif
