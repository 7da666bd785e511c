/* Fragments of matrices in the registers of a warp (PTX ISA, mma.sync): with g = lane / 4 and
 * t = lane % 4, C and D hold the rows g and g + 8, columns 2t and 2t + 1. FP32: a register each;
 * FP16: a register for the two of a row.
 */
#ifndef WS_FUNC_SASS_MMA_FRAG_H
#define WS_FUNC_SASS_MMA_FRAG_H

#include "func/sass/lanes.h"
#include "func/sass/mma_float.h"

/* Register r of lane i of a fragment. */
static inline uint32_t frag(const uint32_t *row, unsigned r, unsigned lane)
{
  return row[r * LANES + lane];
}

/* c by row and column: patterns of FP32 or FP16. */
static inline void mma_load_c(uint32_t c[MMA_M][MMA_N], const uint32_t *rc, bool f32)
{
  for (unsigned lane = 0; lane < LANES; lane++)
    for (unsigned h = 0; h < 2; h++)
      for (unsigned j = 0; j < 2; j++)
        c[(lane >> 2) + 8 * h][2 * (lane & 3) + j] =
            f32 ? frag(rc, 2 * h + j, lane) : frag(rc, h, lane) >> 16 * j & 0xffffu;
}

static inline void mma_store_d(struct func_warp *w, const struct uop *u, uint32_t m,
                               uint32_t c[MMA_M][MMA_N], bool f32)
{
  _Alignas(64) uint32_t out[4 * LANES];
  for (unsigned lane = 0; lane < LANES; lane++)
    for (unsigned h = 0; h < 2; h++) {
      const uint32_t *pair = &c[(lane >> 2) + 8 * h][2 * (lane & 3)];
      if (f32) {
        out[(2 * h) * LANES + lane] = pair[0];
        out[(2 * h + 1) * LANES + lane] = pair[1];
      } else {
        out[h * LANES + lane] = pair[0] | pair[1] << 16;
      }
    }
  row_blend(row_dst(w, u->d), out, f32 ? 4 : 2, m);
}

#endif
