/* QMMA: matrix products of FP8 numbers (mma.sync on sm_89 and sm_120), on sm_120 also of FP6 and FP4, with a scale
 * for each row and column (.SF); sparse (.SP). Part of sem_mma_handler.
 *
 * Fragments as those of IMMA on bytes: four elements in a register, in the order of k, taken apart by mma_narrow.h.
 * Fraction bits, pairs per block and bits of the result: struct mma_arch. Scales are powers of two and only move
 * exponents. A sparse A keeps two of four bytes, as IMMA.SP of 64 bytes does (PTX ISA, mma.sp with .m16n8k64).
 */
#include "func/sass/func_launch.h"
#include "func/sass/mma_frag.h"
#include "func/sass/mma_scale.h"
#include "func/sass/mma_sparse.h"
#include "func/sass/mma_tile.h"
#include "func/sass/sem_fp_part.h"

/* uop.imm */
enum { QMMA_F32 = 1 << 0, QMMA_FORMAT_A = 1, QMMA_FORMAT_B = 4, QMMA_FORMAT = 7, QMMA_CHUNKS = 8 };
enum { E8_NAN = 255, E8_BIAS = 127 };

static void load_a(struct mma_a *a, const uint32_t *ra, unsigned chunks, unsigned format)
{
  a->special = false;
  for (unsigned lane = 0; lane < LANES; lane++)
    for (unsigned r = 0; r < 2 * chunks; r++)
      for (unsigned j = 0; j < 4; j++) {
        const unsigned row = (lane >> 2) + 8 * (r & 1), k = 16 * (r >> 1) + 4 * (lane & 3) + j;
        const uint32_t v = frag(ra, r, lane) >> 8 * j & 0xff;
        a->special |= mma_split_byte(v, format, &a->bits[row][k], &a->sig[row][k], &a->exp[row][k]);
      }
}

static void load_b(struct mma_b *b, const uint32_t *rb, unsigned chunks, unsigned format)
{
  b->special = false;
  for (unsigned lane = 0; lane < LANES; lane++)
    for (unsigned r = 0; r < chunks; r++)
      for (unsigned j = 0; j < 4; j++) {
        const unsigned col = lane >> 2, k = 16 * r + 4 * (lane & 3) + j;
        const uint32_t v = frag(rb, r, lane) >> 8 * j & 0xff;
        b->special |= mma_split_byte(v, format, &b->bits[k][col], &b->sig[k][col], &b->exp[k][col]);
      }
}

static void load(struct mma_a *a, struct mma_b *b, const struct func_warp *w, const struct uop *u, unsigned n_b)
{
  const unsigned chunks = u->imm >> QMMA_CHUNKS;
  load_a(a, row_src(w, u->a), chunks, u->imm >> QMMA_FORMAT_A & QMMA_FORMAT);
  for (unsigned h = 0; h < n_b; h++)
    load_b(&b[h], row_src(w, u->b) + h * chunks * LANES, chunks, u->imm >> QMMA_FORMAT_B & QMMA_FORMAT);
}

/* The rows of B, in two halves, that the stored elements of one row of A meet. */
static void gather_b(struct mma_b *to, const struct mma_b *halves, const uint32_t *meta, unsigned row)
{
  to->special = halves[0].special || halves[1].special;
  for (unsigned j = 0; j < MMA_K; j++) {
    const unsigned k = mma_sparse_byte(meta, row, j);
    const struct mma_b *from = &halves[k / MMA_K];
    memcpy(to->sig[j], from->sig[k % MMA_K], sizeof to->sig[j]);
    memcpy(to->exp[j], from->exp[k % MMA_K], sizeof to->exp[j]);
    memcpy(to->bits[j], from->bits[k % MMA_K], sizeof to->bits[j]);
  }
}

static void product_row(uint32_t c[MMA_N], const struct mma_a *a, unsigned i, const struct mma_b *b,
                        const struct func_warp *w, const struct uop *u)
{
  const struct mma_arch *arch = mma_arch(w->launch->p.sm);
  const bool f32 = u->imm & QMMA_F32;
  const unsigned depth = 16 * (u->imm >> QMMA_CHUNKS), block = arch->block8 < depth ? arch->block8 : depth;
  for (unsigned k = 0; k < depth; k += block) {
    mma_block(c, a, i, b, k, k + block, MMA_F16, f32, arch->frac8);
    if (f32) mma_cut_result(c, arch->cut8);
  }
}

static struct mma_shape qmma_shape(const struct func_warp *w, const struct uop *u)
{
  const struct mma_arch *arch = mma_arch(w->launch->p.sm);
  const unsigned depth = 16 * (u->imm >> QMMA_CHUNKS);
  return (struct mma_shape){.type = MMA_BYTES, .format_a = u->imm >> QMMA_FORMAT_A & QMMA_FORMAT,
                            .format_b = u->imm >> QMMA_FORMAT_B & QMMA_FORMAT, .f32 = u->imm & QMMA_F32,
                            .depth = depth, .block = arch->block8 < depth ? arch->block8 : depth,
                            .frac = arch->frac8, .cut = arch->cut8};
}

static void take_tiles(struct mma_tile_rows *a, struct mma_tile_columns *b, const struct func_warp *w,
                       const struct uop *u, const struct mma_shape *s)
{
  for (unsigned c = 0; c < u->imm >> QMMA_CHUNKS; c++) {
    mma_words(a->word[4 * c], MMA_M, row_src(w, u->a) + 2 * c * LANES, 1, 2);
    mma_words(b->word[4 * c], MMA_N, row_src(w, u->b) + c * LANES, 1, 1);
  }
  mma_take_rows(a, s);
  mma_take_columns(b, s);
}

/* False: the operands are not for the fast way. scales: NULL, there are none. */
static bool qmma_fast(struct func_warp *w, const struct uop *u, uint32_t m, const struct mma_scales *scales)
{
  const struct mma_shape s = qmma_shape(w, u);
  struct mma_tile_rows a;
  struct mma_tile_columns b;
  struct mma_sums sums;
  take_tiles(&a, &b, w, u, &s);
  if (scales && !(mma_scale_rows(&a, scales->a, &s) && mma_scale_columns(&b, scales->b, &s))) return false;
  mma_tile_load_c(&sums, row_src(w, u->c), s.f32);
  if (!mma_tile(&sums, &a, &b, &s)) return false;
  mma_tile_store_d(w, u, m, &sums, s.f32);
  return true;
}

LANE_HANDLER(qmma)
{
  LANE_UNUSED;
  const bool f32 = u->imm & QMMA_F32;
  if (qmma_fast(w, u, m, NULL)) return true;
  struct mma_a a;
  struct mma_b b;
  uint32_t c[MMA_M][MMA_N];

  load(&a, &b, w, u, 1);
  mma_load_c(c, row_src(w, u->c), f32);
  for (unsigned i = 0; i < MMA_M; i++) product_row(c[i], &a, i, &b, w, u);
  mma_store_d(w, u, m, c, f32);
  return true;
}

LANE_HANDLER(qmma_sparse)
{
  LANE_UNUSED;
  const bool f32 = u->imm & QMMA_F32;
  struct mma_a a;
  struct mma_b halves[2], b;
  uint32_t c[MMA_M][MMA_N];

  load(&a, halves, w, u, 2);
  mma_load_c(c, row_src(w, u->c), f32);
  for (unsigned i = 0; i < MMA_M; i++) {
    gather_b(&b, halves, warp_reg(w, u->imm2 >> 24), i);
    product_row(c[i], &a, i, &b, w, u);
  }
  mma_store_d(w, u, m, c, f32);
  return true;
}

/* ---- QMMA.SF --------------------------------------------------------------------------------- */

static void scale_a(struct mma_a *a, const struct mma_scales *s)
{
  for (unsigned i = 0; i < MMA_M; i++)
    for (unsigned k = 0; k < MMA_K; k++) a->exp[i][k] += (int32_t)(s->a[i] & 0xff) - E8_BIAS;
}

static void scale_b(struct mma_b *b, const struct mma_scales *s)
{
  for (unsigned k = 0; k < MMA_K; k++)
    for (unsigned n = 0; n < MMA_N; n++) b->exp[k][n] += (int32_t)(s->b[n] & 0xff) - E8_BIAS;
}

LANE_HANDLER(qmma_scaled)
{
  LANE_UNUSED;
  const bool sparse = sass_get(u->s, FLD_QMMA_SF_SHAPE);
  struct mma_scales scales;
  struct mma_a a;
  struct mma_b b[2], met;
  uint32_t c[MMA_M][MMA_N];

  mma_load_scales(&scales, w, u);
  if (!sparse && qmma_fast(w, u, m, &scales)) return true;
  load(&a, b, w, u, sparse ? 2 : 1);
  scale_a(&a, &scales);
  for (unsigned h = 0; h <= sparse; h++) scale_b(&b[h], &scales);
  mma_load_c(c, row_src(w, u->c), true);
  for (unsigned i = 0; i < MMA_M; i++) {
    if (sparse) gather_b(&met, b, warp_reg(w, u->imm2 >> 24), i);
    product_row(c[i], &a, i, sparse ? &met : b, w, u);
    for (unsigned n = 0; n < MMA_N; n++)
      if ((scales.a[i] & 0xff) == E8_NAN || (scales.b[n] & 0xff) == E8_NAN) c[i][n] = F32_NAN;
  }
  mma_store_d(w, u, m, c, true);
  return true;
}

static uop_fn *pick_scaled(const struct sass_inst *s, struct uop *u)
{
  u->imm |= QMMA_F32 | 2 << QMMA_CHUNKS;
  mma_pick_scales(s, u);
  return sass_get(s, FLD_HMMA_SEL) ? NULL : qmma_scaled;
}

static uop_fn *pick_sparse(const struct sass_inst *s, struct uop *u, unsigned shape)
{
  enum { SHAPE_16864 = 2 };
  u->imm |= 2 << QMMA_CHUNKS;
  mma_pick_scales(s, u);
  if (shape != SHAPE_16864 || sass_get(s, FLD_HMMA_SEL) || u->imm2 >> 24 == SASS_RZ) return NULL;
  return qmma_sparse;
}

uop_fn *SEM_NAME(sem_qmma_part)(const struct sass_inst *s, struct uop *u)
{
  const bool wide = sass_has(s, FLD_QMMA_SHAPE120), many = sass_has(s, FLD_QMMA_A120);
  const unsigned shape = (unsigned)sass_get(s, wide ? FLD_QMMA_SHAPE120 : FLD_QMMA_SHAPE);
  const unsigned a = (unsigned)sass_get(s, many ? FLD_QMMA_A120 : FLD_QMMA_A);
  const unsigned b = (unsigned)sass_get(s, many ? FLD_QMMA_B120 : FLD_QMMA_B);
  if (!mma_arch(s->sm)->block8) return NULL;
  if (a >= MMA_NARROW || b >= MMA_NARROW || !mma_narrow[a].exp || !mma_narrow[b].exp) return NULL;
  u->imm = a << QMMA_FORMAT_A | b << QMMA_FORMAT_B;
  if (s->sem == SEM_QMMA_SF) return pick_scaled(s, u);
  if (sass_get(s, FLD_QMMA_F32)) u->imm |= QMMA_F32;
  if (sass_get(s, FLD_QMMA_SP)) return pick_sparse(s, u, shape);
  u->imm |= (shape + 1) << QMMA_CHUNKS;
  return shape > 1 ? NULL : qmma;
}
