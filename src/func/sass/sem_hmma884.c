/* HMMA.884: a step of mma.sync.m8n8k4 on Volta, which Turing has, too. Part of sem_mma_handler.
 *
 * Four products of 8 x 4 by 4 x 8 matrices at once, one in each quad pair: the lanes 4q .. 4q + 3 and 16 more, here
 * threads 0 to 7 (PTX ISA, mma.m8n8k4). With v the element of a thread's registers and i = t0 + 2 t1 + 4 t2:
 *
 *   A by rows, B by columns   row (column) i, k = v
 *   A by columns, B by rows   k = i mod 4, row (column) 4 t2 + v
 *   C, D of FP16              row i, column v
 *   C, D of FP32              row t0 + 2 v1 + 4 t2, column v0 + 2 t1 + 4 v2
 *
 * A step makes one pair of D's registers: of FP16 four columns of all rows, of FP32 four columns of four rows. So an
 * FP32 result whose C is of FP16 takes that from the thread whose row it is (compiler output, CUDA 11.8 and 13.0:
 * steps 2s and 2s + 1 name the same pair of C).
 */
#include "func/sass/func_launch.h"
#include "func/sass/mma_frag.h"
#include "func/sass/sem_fp_part.h"

enum { SIDE = 8, DEPTH = 4, QUAD_PAIRS = 4 };

/* uop.imm */
enum {
  STEP = 3,
  D_F32 = 1 << 2,
  C_F32 = 1 << 3,
  A_COL = 1 << 4,
  B_COL = 1 << 5,
  NEG_A = 1 << 6,
  NEG_B = 1 << 7,
};

/* Lane of thread i of a quad pair. */
static inline unsigned lane_of(unsigned pair, unsigned i)
{
  return 4 * pair + (i & 3) + 16 * (i >> 2);
}

/* FP16 element v of a pair of registers. */
static inline uint32_t element(const uint32_t *regs, unsigned lane, unsigned v)
{
  return frag(regs, v >> 1, lane) >> 16 * (v & 1) & 0xffffu;
}

static void load_a(struct mma_a *a, const uint32_t *regs, unsigned pair, uint32_t imm)
{
  const uint32_t negate = imm & NEG_A ? 0x8000u : 0;
  a->special = false;
  for (unsigned i = 0; i < SIDE; i++)
    for (unsigned v = 0; v < DEPTH; v++) {
      const unsigned row = imm & A_COL ? 4 * (i >> 2) + v : i, k = imm & A_COL ? i & 3 : v;
      const uint32_t x = element(regs, lane_of(pair, i), v) ^ negate;
      a->bits[row][k] = x;
      a->special |= mma_split(x, mma_format[MMA_F16], &a->sig[row][k], &a->exp[row][k]);
    }
}

static void load_b(struct mma_b *b, const uint32_t *regs, unsigned pair, uint32_t imm)
{
  const uint32_t negate = imm & NEG_B ? 0x8000u : 0;
  b->special = false;
  for (unsigned i = 0; i < SIDE; i++)
    for (unsigned v = 0; v < DEPTH; v++) {
      const unsigned col = imm & B_COL ? i : 4 * (i >> 2) + v, k = imm & B_COL ? v : i & 3;
      const uint32_t x = element(regs, lane_of(pair, i), v) ^ negate;
      b->bits[k][col] = x;
      b->special |= mma_split(x, mma_format[MMA_F16], &b->sig[k][col], &b->exp[k][col]);
    }
}

/* Row and column of FP32 element j of the step's pair of registers of thread i. */
static inline unsigned f32_row(unsigned i, unsigned step)
{
  return (i & 5) + 2 * (step & 1);
}

static inline unsigned f32_col(unsigned i, unsigned j, unsigned step)
{
  return j + (i & 2) + 4 * (step >> 1);
}

/* First of the four columns that a step makes. */
static inline unsigned first_column(uint32_t imm)
{
  return 4 * (imm & D_F32 ? (imm & STEP) >> 1 : imm & STEP);
}

/* C by row and column, as patterns of D's format; what the step does not add to is left alone. */
static void load_c(uint32_t c[SIDE][MMA_N], const uint32_t *regs, unsigned pair, uint32_t imm)
{
  for (unsigned i = 0; i < SIDE; i++) {
    const unsigned lane = lane_of(pair, i);
    if (imm & C_F32)
      for (unsigned j = 0; j < 2; j++) c[f32_row(i, imm & STEP)][f32_col(i, j, imm & STEP)] = frag(regs, j, lane);
    else
      for (unsigned v = 0; v < 4; v++) {
        const uint32_t x = element(regs, lane, v);
        c[i][first_column(imm) + v] = imm & D_F32 ? f32_from_f16(x) : x;
      }
  }
}

static void store_d(uint32_t *out, uint32_t c[SIDE][MMA_N], unsigned pair, uint32_t imm)
{
  const unsigned n = first_column(imm);
  for (unsigned i = 0; i < SIDE; i++)
    for (unsigned j = 0; j < 2; j++)
      out[j * LANES + lane_of(pair, i)] = imm & D_F32 ? c[f32_row(i, imm & STEP)][f32_col(i, j, imm & STEP)]
                                                      : c[i][n + 2 * j] | c[i][n + 2 * j + 1] << 16;
}

LANE_HANDLER(hmma_884)
{
  LANE_UNUSED;
  _Alignas(64) uint32_t out[2 * LANES];
  const bool f32 = u->imm & D_F32;
  const int32_t frac = mma_arch(w->launch->p.sm)->frac;
  struct mma_a a;
  struct mma_b b;
  for (unsigned pair = 0; pair < QUAD_PAIRS; pair++) {
    uint32_t c[SIDE][MMA_N] = {{0}};
    load_a(&a, row_src(w, u->a), pair, u->imm);
    load_b(&b, row_src(w, u->b), pair, u->imm);
    load_c(c, row_src(w, u->c), pair, u->imm);
    for (unsigned row = 0; row < SIDE; row++)
      if (!f32 || (row >> 1 & 1) == (u->imm & 1)) mma_block(c[row], &a, row, &b, 0, DEPTH, MMA_F16, f32, frac);
    store_d(out, c, pair, u->imm);
  }
  row_blend(row_dst(w, u->d), out, 2, m);
  return true;
}

uop_fn *SEM_NAME(sem_hmma884_part)(const struct sass_inst *s, struct uop *u)
{
  const unsigned step = (unsigned)sass_get(s, FLD_HMMA884_STEP);
  const bool d_f32 = sass_get(s, FLD_HMMA884_D), c_f32 = sass_get(s, FLD_HMMA884_C);
  if (sass_get(s, FLD_HMMA884_SAT) || (c_f32 && !d_f32) || (!d_f32 && step > 1)) return NULL;
  u->imm = step | (d_f32 ? D_F32 : 0u) | (c_f32 ? C_F32 : 0u) | (s->src[0].neg ? NEG_A : 0u) |
           (s->src[1].neg ? NEG_B : 0u) | (sass_get(s, FLD_HMMA884_A_COL) ? A_COL : 0u) |
           (sass_get(s, FLD_HMMA884_B_COL) ? B_COL : 0u);
  return hmma_884;
}
