/* QMMA: matrix products of FP8 numbers (mma.sync on sm_89 and sm_120), on sm_120 also of FP6 and FP4.
 * Part of sem_mma_handler.
 *
 * Fragments as those of IMMA on bytes: four elements in a register, in the order of k. Every one is
 * an FP16 number, so the sums of mma_float.h serve with FP16's ten fraction bits; the exponent that
 * decides the alignment is the narrow format's (E4M3 does not normalise below 2^-6). Fraction bits, pairs
 * per block and bits of the result: struct mma_arch.
 */
#include "func/launch.h"
#include "func/mma_frag.h"
#include "func/sem_fp_part.h"

/* uop.imm */
enum { QMMA_F32 = 1 << 0, QMMA_FORMAT_A = 1, QMMA_FORMAT_B = 4, QMMA_FORMAT = 7, QMMA_CHUNKS = 8 };

/* By code of QMMA_A120. FP6 lies in the low, FP4 in the middle bits of its byte (NVIDIA CUTLASS,
 * mma_traits_sm120.hpp); they have no infinity and no NaN. */
enum { E4M3, E5M2, FORMATS = 6 };
static const struct fp_format formats[FORMATS] = {{3, 4}, {2, 5}, {0, 0}, {2, 3}, {3, 2}, {1, 2}};

/* Takes a byte apart; *bits: the same number as FP16. True: infinite or NaN. */
static bool split_byte(uint32_t v, unsigned format, uint32_t *bits, int32_t *sig, int32_t *exp)
{
  const struct fp_format f = formats[format];
  const unsigned width = 1u + f.frac + f.exp, shift = width == 4 ? 2 : 0;
  if (format == E5M2) {
    *bits = f16_from_f8(v, false);
    return mma_split(*bits, FMT_F16, sig, exp);
  }
  mma_split(v >> shift & ((1u << width) - 1), f, sig, exp);
  *sig *= 1 << (FMT_F16.frac - f.frac);
  if (format == E4M3) {
    *bits = f16_from_f8(v, true);
    return *bits == F16_NAN;
  }
  *bits = f16_from_f32(f32_bits((float)*sig * bits_f32((uint32_t)(*exp - FMT_F16.frac + 127) << 23)));
  return false;
}

static void load_a(struct mma_a *a, const uint32_t *ra, unsigned chunks, unsigned format)
{
  a->special = false;
  for (unsigned lane = 0; lane < LANES; lane++)
    for (unsigned r = 0; r < 2 * chunks; r++)
      for (unsigned j = 0; j < 4; j++) {
        const unsigned row = (lane >> 2) + 8 * (r & 1), k = 16 * (r >> 1) + 4 * (lane & 3) + j;
        const uint32_t v = frag(ra, r, lane) >> 8 * j & 0xff;
        a->special |= split_byte(v, format, &a->bits[row][k], &a->sig[row][k], &a->exp[row][k]);
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
        b->special |= split_byte(v, format, &b->bits[k][col], &b->sig[k][col], &b->exp[k][col]);
      }
}

/* Ada's FP32 result has 13 fraction bits. */
static void cut_result(uint32_t c[MMA_N], unsigned bits)
{
  for (unsigned n = 0; n < MMA_N; n++)
    if ((c[n] & F32_INF) != F32_INF) c[n] &= ~((1u << bits) - 1);
}

LANE_HANDLER(qmma)
{
  LANE_UNUSED;
  const struct mma_arch *arch = mma_arch(w->launch->p.sm);
  const bool f32 = u->imm & QMMA_F32;
  const unsigned chunks = u->imm >> QMMA_CHUNKS, depth = 16 * chunks;
  const unsigned block = arch->block8 < depth ? arch->block8 : depth;
  struct mma_a a;
  struct mma_b b;
  uint32_t c[MMA_M][MMA_N];

  load_a(&a, row_src(w, u->a), chunks, u->imm >> QMMA_FORMAT_A & QMMA_FORMAT);
  load_b(&b, row_src(w, u->b), chunks, u->imm >> QMMA_FORMAT_B & QMMA_FORMAT);
  mma_load_c(c, row_src(w, u->c), f32);
  for (unsigned i = 0; i < MMA_M; i++)
    for (unsigned k = 0; k < depth; k += block) {
      mma_block(c[i], &a, i, &b, k, k + block, MMA_F16, f32, arch->frac8);
      if (f32) cut_result(c[i], arch->cut8);
    }
  mma_store_d(w, u, m, c, f32);
  return true;
}

uop_fn *SEM_NAME(sem_qmma_part)(const struct sass_inst *s, struct uop *u)
{
  const bool wide = sass_has(s, FLD_QMMA_SHAPE120);
  const unsigned shape = (unsigned)sass_get(s, wide ? FLD_QMMA_SHAPE120 : FLD_QMMA_SHAPE);
  const unsigned a = (unsigned)sass_get(s, wide ? FLD_QMMA_A120 : FLD_QMMA_A);
  const unsigned b = (unsigned)sass_get(s, wide ? FLD_QMMA_B120 : FLD_QMMA_B);
  if (!mma_arch(s->sm)->block8 || shape > 1) return NULL;
  if (a >= FORMATS || b >= FORMATS || !formats[a].exp || !formats[b].exp) return NULL;
  u->imm = (shape + 1) << QMMA_CHUNKS | a << QMMA_FORMAT_A | b << QMMA_FORMAT_B;
  if (sass_get(s, FLD_QMMA_F32)) u->imm |= QMMA_F32;
  return qmma;
}
