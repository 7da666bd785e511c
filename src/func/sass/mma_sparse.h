/* Sparse products: A keeps two of four elements (PTX ISA, mma.sp); metadata say which. Compiled once per x86-64 level
 * (lanes.h).
 */
#ifndef WS_FUNC_SASS_MMA_SPARSE_H
#define WS_FUNC_SASS_MMA_SPARSE_H

#include "func/sass/lanes.h"
#include "isa/sass/sass.h"

/* uop.imm2: register of the metadata and selector. Four bits describe four elements, as two numbers
 * of two bits. The bits of 16 elements of a row (16-bit formats) fill a half register: row g the
 * lower, row g + 8 the upper half of lane `sel` of the four, or of lane 2 sel + k / 16 where k is
 * 32. TF32 counts as pairs. The elements of 32 bytes of a row fill a register: those of row g and
 * g + 8 are in lanes 2 sel and 2 sel + 1, or 2 (k / 32) and one more. */
static inline uint32_t mma_sparse_meta(const struct func_warp *w, const struct uop *u, unsigned lane)
{
  return warp_reg(w, u->imm2 & 0xff)[lane];
}

static inline unsigned mma_sparse_sel(const struct uop *u)
{
  return u->imm2 >> 8;
}

/* False: there are no metadata. */
static inline bool mma_pick_meta(const struct sass_inst *s, struct uop *u)
{
  const unsigned reg = (unsigned)sass_get(s, FLD_HMMA_META);
  u->imm2 = reg | (uint32_t)sass_get(s, FLD_HMMA_SEL) << 8;
  return reg != SASS_RZ;
}

/* Which column of a sparse A element j of those kept in row `row` stands for: of four FP16 or BF16 elements, of two
 * TF32 ones. The bits of 16 (8) elements fill half a register: row g the lower, row g + 8 the upper half of lane
 * `first` of the four, those of the next 16 (8) in the lane behind it. */
static inline unsigned mma_sparse_half(const uint32_t *meta, unsigned row, unsigned j, unsigned first, bool tf32)
{
  const unsigned group = tf32 ? j : j / 2, lane = 4 * (row & 7) + first + group / 4;
  const uint32_t nibble = meta[lane & (LANES - 1)] >> (16 * (row >> 3) + 4 * (group & 3)) & 15;
  if (tf32) return 2 * group + (nibble >> 3);
  return 4 * group + (nibble >> 2 * (j & 1) & 3);
}

/* The same of bytes, 32 of which are kept: of four, which one byte j of row `row` is. */
static inline unsigned mma_sparse_byte(const uint32_t *meta, unsigned row, unsigned j)
{
  const uint32_t word = meta[4 * (row & 7) + 2 * (j / 16) + (row >> 3)];
  return 4 * (j / 2) + (word >> (4 * (j / 2 % 8) + 2 * (j & 1)) & 3);
}

#endif
