/* HMMA and HMMA.SP: matrix products of FP16, BF16 and TF32 by a warp. Part of sem_mma_handler.
 *
 * Compiled once per x86-64 level (lanes.h). Fragment layouts are those of mma.sync (PTX ISA, matrix
 * fragments): with g = lane / 4, t = lane % 4, register 2c + h of A holds row g + 8h and, of B,
 * register c holds column g; both hold the elements k = 4pc + pt .. + p - 1, p elements per
 * register. C and D: rows g and g + 8, columns 2t and 2t + 1. The whole warp takes part: registers
 * of inactive lanes are read as they are, and only active lanes are written.
 */
#include "func/sass/func_launch.h"
#include "func/sass/mma_frag.h"
#include "func/sass/mma_sparse.h"
#include "func/sass/mma_tile.h"
#include "func/sass/sem_fp_part.h"

/* uop.imm */
enum {
  HMMA_TYPE = 3, /* enum mma_type */
  HMMA_NEG_A = 1 << 2,
  HMMA_NEG_B = 1 << 3,
  HMMA_ACC_F32 = 1 << 4,
  HMMA_CHUNKS = 8, /* registers of A per row, of B: 1 or 2 */
};

/* The pattern of element j of a register: TF32 fills it, the others are pairs. */
static inline uint32_t hmma_element(uint32_t v, unsigned j, enum mma_type type)
{
  return type == MMA_TF32 ? v >> 13 : v >> 16 * j & 0xffffu;
}

/* Element j of one register of all lanes, split. */
struct hmma_row {
  int32_t sig[LANES], exp[LANES];
  uint32_t bits[LANES];
};

/* True: some element is infinite or NaN. */
static inline __attribute__((always_inline)) bool hmma_split(struct hmma_row *out, const uint32_t *row,
                                                             unsigned j, uint32_t negate, enum mma_type type)
{
  const struct fp_format f = mma_format[type];
  uint32_t lane_acc = 0;
  LANES_SIMD_OR
  for (unsigned i = 0; i < LANES; i++) {
    const uint32_t v = hmma_element(row[i], j, type) ^ negate;
    out->bits[i] = v;
    lane_acc |= mma_split(v, f, &out->sig[i], &out->exp[i]);
  }
  return lane_acc;
}

/* chunks: registers of A per row; B has `ratio` times as many. */
static inline __attribute__((always_inline)) void hmma_load_type(struct mma_a *a, struct mma_b *b,
                                                                 const uint32_t *ra, const uint32_t *rb,
                                                                 uint32_t imm, unsigned ratio,
                                                                 enum mma_type type)
{
  const struct fp_format f = mma_format[type];
  const unsigned per = type == MMA_TF32 ? 1 : 2, chunks = imm >> HMMA_CHUNKS;
  const uint32_t sign = 1u << (f.frac + f.exp);
  const uint32_t xor_a = imm & HMMA_NEG_A ? sign : 0, xor_b = imm & HMMA_NEG_B ? sign : 0;
  struct hmma_row s;

  a->special = b->special = false;
  for (unsigned r = 0; r < 2 * chunks; r++) /* register 2 chunk + h: rows g + 8 h */
    for (unsigned j = 0; j < per; j++) {
      a->special |= hmma_split(&s, ra + r * LANES, j, xor_a, type);
      for (unsigned lane = 0; lane < LANES; lane++) {
        const unsigned row = (lane >> 2) + 8 * (r & 1), k = (4 * (r / 2) + (lane & 3)) * per + j;
        a->sig[row][k] = s.sig[lane];
        a->exp[row][k] = s.exp[lane];
        a->bits[row][k] = s.bits[lane];
      }
    }
  for (unsigned r = 0; r < ratio * chunks; r++)
    for (unsigned j = 0; j < per; j++) {
      b->special |= hmma_split(&s, rb + r * LANES, j, xor_b, type);
      for (unsigned lane = 0; lane < LANES; lane++) {
        const unsigned g = lane >> 2, k = (4 * r + (lane & 3)) * per + j;
        b->sig[k][g] = s.sig[lane];
        b->exp[k][g] = s.exp[lane];
        b->bits[k][g] = s.bits[lane];
      }
    }
}

static void hmma_load(struct mma_a *a, struct mma_b *b, const uint32_t *ra, const uint32_t *rb,
                      uint32_t imm, unsigned ratio)
{
  switch ((enum mma_type)(imm & HMMA_TYPE)) {
  case MMA_F16: hmma_load_type(a, b, ra, rb, imm, ratio, MMA_F16); break;
  case MMA_BF16: hmma_load_type(a, b, ra, rb, imm, ratio, MMA_BF16); break;
  case MMA_TF32: hmma_load_type(a, b, ra, rb, imm, ratio, MMA_TF32); break;
  }
}

static struct mma_shape hmma_shape(const struct func_warp *w, const struct uop *u)
{
  const enum mma_type type = (enum mma_type)(u->imm & HMMA_TYPE);
  const struct mma_arch *arch = mma_arch(w->launch->p.sm);
  const unsigned depth = (type == MMA_TF32 ? 4 : 8) * (u->imm >> HMMA_CHUNKS);
  const unsigned most = type == MMA_TF32 ? arch->block_tf32 : arch->block16;
  return (struct mma_shape){.type = type, .negate_a = u->imm & HMMA_NEG_A, .negate_b = u->imm & HMMA_NEG_B,
                            .f32 = u->imm & HMMA_ACC_F32, .depth = depth, .block = most < depth ? most : depth,
                            .frac = arch->frac};
}

/* False: the operands are not for the fast way. */
static bool hmma_fast(struct func_warp *w, const struct uop *u, uint32_t m, const struct mma_shape *s)
{
  struct mma_tile_rows a;
  struct mma_tile_columns b;
  struct mma_sums sums;
  for (unsigned c = 0; c < u->imm >> HMMA_CHUNKS; c++) {
    mma_words(a.word[4 * c], MMA_M, row_src(w, u->a) + 2 * c * LANES, 1, 2);
    mma_words(b.word[4 * c], MMA_N, row_src(w, u->b) + c * LANES, 1, 1);
  }
  mma_take_rows(&a, s);
  mma_take_columns(&b, s);
  mma_tile_load_c(&sums, row_src(w, u->c), s->f32);
  if (!mma_tile(&sums, &a, &b, s)) return false;
  mma_tile_store_d(w, u, m, &sums, s->f32);
  return true;
}

LANE_HANDLER(hmma)
{
  LANE_UNUSED;
  const struct mma_shape s = hmma_shape(w, u);
  struct mma_a a;
  struct mma_b b;
  uint32_t c[MMA_M][MMA_N];

  if (hmma_fast(w, u, m, &s)) return true;
  hmma_load(&a, &b, row_src(w, u->a), row_src(w, u->b), u->imm, 1);
  mma_load_c(c, row_src(w, u->c), s.f32);
  for (unsigned i = 0; i < MMA_M; i++)
    for (unsigned k = 0; k < s.depth; k += s.block)
      mma_block(c[i], &a, i, &b, k, k + s.block, (enum mma_type)s.type, s.f32, s.frac);
  mma_store_d(w, u, m, c, s.f32);
  return true;
}

/* ---- HMMA.SP --------------------------------------------------------------------------------- */

/* Row of B that meets stored element j of row `row` of A. */
static unsigned hmma_sparse_k(const struct func_warp *w, const struct uop *u, unsigned row,
                              unsigned j, unsigned depth, bool tf32)
{
  const unsigned first = depth > (tf32 ? 4 : 8) ? 2 * mma_sparse_sel(u) : mma_sparse_sel(u);
  return mma_sparse_half(warp_reg(w, u->imm2 & 0xff), row, j, first, tf32);
}

LANE_HANDLER(hmma_sparse)
{
  LANE_UNUSED;
  const enum mma_type type = (enum mma_type)(u->imm & HMMA_TYPE);
  const bool f32 = u->imm & HMMA_ACC_F32, tf32 = type == MMA_TF32;
  const struct mma_arch *arch = mma_arch(w->launch->p.sm);
  const unsigned depth = (tf32 ? 4 : 8) * (u->imm >> HMMA_CHUNKS);
  const unsigned most = tf32 ? arch->block_tf32 : arch->block16;
  const unsigned block = most < depth ? most : depth;
  struct mma_a a;
  struct mma_b all, b;
  uint32_t c[MMA_M][MMA_N];

  hmma_load(&a, &all, row_src(w, u->a), row_src(w, u->b), u->imm, 2);
  mma_load_c(c, row_src(w, u->c), f32);
  b.special = all.special;
  for (unsigned i = 0; i < MMA_M; i++) {
    for (unsigned j = 0; j < depth; j++) {
      const unsigned k = hmma_sparse_k(w, u, i, j, depth, tf32);
      memcpy(b.sig[j], all.sig[k], sizeof b.sig[j]);
      memcpy(b.exp[j], all.exp[k], sizeof b.exp[j]);
      memcpy(b.bits[j], all.bits[k], sizeof b.bits[j]);
    }
    for (unsigned k = 0; k < depth; k += block)
      mma_block(c[i], &a, i, &b, k, k + block, type, f32, arch->frac);
  }
  mma_store_d(w, u, m, c, f32);
  return true;
}

static uop_fn *pick_hmma_sparse(const struct sass_inst *s, struct uop *u)
{
  enum { SHAPE_1688, SHAPE_16816, SHAPE_1684, SHAPE_16832 };
  const unsigned shape = (unsigned)sass_get(s, FLD_HMMA_SHAPE);
  const unsigned type = (unsigned)sass_get(s, FLD_HMMA_TYPE);
  const bool f32 = sass_get(s, FLD_HMMA_F32), tf32 = type == MMA_TF32;
  const unsigned small = tf32 ? SHAPE_1688 : SHAPE_16816, big = tf32 ? SHAPE_16816 : SHAPE_16832;

  if (type > MMA_TF32 || (!f32 && type != MMA_F16) || (shape != small && shape != big)) return NULL;
  if (!mma_pick_meta(s, u) || (shape == big && sass_get(s, FLD_HMMA_SEL) > 1)) return NULL;
  u->imm = type | (shape == big ? 2u : 1u) << HMMA_CHUNKS;
  if (f32) u->imm |= HMMA_ACC_F32;
  return hmma_sparse;
}

uop_fn *SEM_NAME(sem_hmma_part)(const struct sass_inst *s, struct uop *u)
{
  enum { SHAPE_1688, SHAPE_16816, SHAPE_1684 };
  const unsigned shape = (unsigned)sass_get(s, FLD_HMMA_SHAPE);
  const unsigned type = (unsigned)sass_get(s, FLD_HMMA_TYPE);
  const bool f32 = sass_get(s, FLD_HMMA_F32), tf32 = type == MMA_TF32;
  static const uint8_t depth[4] = {[SHAPE_1688] = 8, [SHAPE_16816] = 16, [SHAPE_1684] = 4};

  if (sass_get(s, FLD_HMMA_SP)) return pick_hmma_sparse(s, u);
  if (type > MMA_TF32 || shape > SHAPE_1684 || depth[shape] == 0) return NULL;
  if (!f32 && type != MMA_F16) return NULL;
  if (tf32 ? shape == SHAPE_16816 : shape == SHAPE_1684) return NULL;
  u->imm = type | depth[shape] / (tf32 ? 4u : 8u) << HMMA_CHUNKS;
  if (f32) u->imm |= HMMA_ACC_F32;
  if (s->src[0].neg) u->imm |= HMMA_NEG_A;
  if (s->src[1].neg) u->imm |= HMMA_NEG_B;
  return s->src[2].neg ? NULL : hmma;
}
