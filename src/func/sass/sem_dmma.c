/* DMMA: products of FP64 matrices, a chain of fused multiply-adds in k order. Part of sem_mma_handler, whose file has
 * the layout of fragments.
 */
#include <fenv.h>
#include <math.h>

#include "func/sass/func_launch.h"
#include "func/sass/mma_fast.h"
#include "func/sass/mma_frag.h"
#include "func/sass/sem_fp_part.h"

/* FP64 number r of lane i: two registers. */
static inline uint64_t frag64(const uint32_t *row, unsigned r, unsigned lane)
{
  return lane_join(frag(row, 2 * r, lane), frag(row, 2 * r + 1, lane));
}

/* x * y + z, rounded by mode once. */
static double dmma_fma(double x, double y, double z, unsigned mode)
{
  static const int host[] = {[FP_RN] = FE_TONEAREST, [FP_RM] = FE_DOWNWARD, [FP_RP] = FE_UPWARD,
                             [FP_RZ] = FE_TOWARDZERO};
  if (mode == FP_RN) return F64_FMA(x, y, z);
  volatile double a = x, b = y, c = z, r; /* not moved across the change of mode */
  fesetround(host[mode]);
  r = fma(a, b, c);
  fesetround(FE_TONEAREST);
  return r;
}

/* What a source's modifiers do to a number: bits that are cleared (absolute value), then inverted (negation). */
struct dmma_sign {
  uint64_t clear, flip;
};

/* uop.imm: rows / 8, in bits 7:4 k / 4, in 10:8 negation of a, b, c, in 12:11 the rounding mode, in 15:13 absolute
 * values. */
struct dmma_shape {
  unsigned halves, depth, mode;
  struct dmma_sign a, b, c;
};

static struct dmma_sign dmma_sign(uint32_t imm, unsigned source)
{
  const uint64_t one = 1;
  return (struct dmma_sign){.clear = (imm >> (13 + source) & one) << 63, .flip = (imm >> (8 + source) & one) << 63};
}

static inline uint64_t dmma_signed(uint64_t bits, struct dmma_sign sign)
{
  return (bits & ~sign.clear) ^ sign.flip;
}

static struct dmma_shape dmma_shape(uint32_t imm)
{
  return (struct dmma_shape){.halves = imm & 15, .depth = 4 * (imm >> 4 & 15), .mode = imm >> 11 & 3,
                             .a = dmma_sign(imm, 0), .b = dmma_sign(imm, 1), .c = dmma_sign(imm, 2)};
}

/* Factors by k, the running sums by column. */
struct dmma_fast {
  _Alignas(64) double a[16][MMA_M], b[16][MMA_N], c[MMA_N][MMA_M];
};

static void dmma_load(struct dmma_fast *p, const struct func_warp *w, const struct uop *u,
                      const struct dmma_shape *s)
{
  const uint32_t *ra = row_src(w, u->a), *rb = row_src(w, u->b), *rc = row_src(w, u->c);
  for (unsigned k = 0; k < s->depth; k++)
    for (unsigned g = 0; g < 8; g++) {
      const unsigned lane = 4 * g + k % 4;
      p->b[k][g] = bits_f64(dmma_signed(frag64(rb, k / 4, lane), s->b));
      for (unsigned h = 0; h < s->halves; h++)
        p->a[k][8 * h + g] = bits_f64(dmma_signed(frag64(ra, s->halves * (k / 4) + h, lane), s->a));
    }
  for (unsigned r = 0; r < 2 * s->halves; r++)
    for (unsigned lane = 0; lane < LANES; lane++)
      p->c[2 * (lane & 3) + (r & 1)][8 * (r / 2) + lane / 4] = bits_f64(dmma_signed(frag64(rc, r, lane), s->c));
}

/* To nearest. False: some result is a NaN, whose payload depends on the operands. */
static inline __attribute__((always_inline)) bool dmma_sums(struct dmma_fast *p, unsigned rows, unsigned depth)
{
  uint32_t lane_acc = 0;
  for (unsigned n = 0; n < MMA_N; n++) {
    LANES_SIMD_OR
    for (unsigned i = 0; i < rows; i++) {
      double sum = p->c[n][i];
#pragma GCC unroll 16
      for (unsigned k = 0; k < depth; k++) sum = F64_FMA(p->a[k][i], p->b[k][n], sum);
      p->c[n][i] = sum;
      lane_acc |= sum != sum;
    }
  }
  return !lane_acc;
}

static bool dmma_all(struct dmma_fast *p, const struct dmma_shape *s)
{
  if (s->halves == 1) return dmma_sums(p, 8, 4);
  switch (s->depth) {
  case 4: return dmma_sums(p, 16, 4);
  case 8: return dmma_sums(p, 16, 8);
  default: return dmma_sums(p, 16, 16);
  }
}

static bool dmma_fast(struct func_warp *w, const struct uop *u, uint32_t m, const struct dmma_shape *s)
{
  struct dmma_fast p;
  _Alignas(64) uint32_t out[8 * LANES];
  dmma_load(&p, w, u, s);
  if (!dmma_all(&p, s)) return false;
  for (unsigned r = 0; r < 2 * s->halves; r++)
    for (unsigned lane = 0; lane < LANES; lane++)
      lane_put64(out + 2 * r * LANES, lane, f64_bits(p.c[2 * (lane & 3) + (r & 1)][8 * (r / 2) + lane / 4]));
  row_blend(row_dst(w, u->d), out, 4 * s->halves, m);
  return true;
}

LANE_HANDLER(dmma)
{
  LANE_UNUSED;
  const struct dmma_shape s = dmma_shape(u->imm);
  const uint32_t *ra = row_src(w, u->a), *rb = row_src(w, u->b), *rc = row_src(w, u->c);
  _Alignas(64) uint32_t out[8 * LANES];

  if (s.mode == FP_RN && dmma_fast(w, u, m, &s)) return true;
  for (unsigned lane = 0; lane < LANES; lane++)
    for (unsigned r = 0; r < 2 * s.halves; r++) {
      const unsigned col = 2 * (lane & 3) + (r & 1);
      uint64_t sum = dmma_signed(frag64(rc, r, lane), s.c);
      for (unsigned k = 0; k < s.depth; k++) {
        const uint64_t x = dmma_signed(frag64(ra, s.halves * (k / 4) + r / 2, (lane & ~3u) + k % 4), s.a);
        const uint64_t y = dmma_signed(frag64(rb, k / 4, 4 * col + k % 4), s.b);
        sum = f64_finish(dmma_fma(bits_f64(x), bits_f64(y), bits_f64(sum), s.mode), x, y, sum);
      }
      lane_put64(out + 2 * r * LANES, lane, sum);
    }
  row_blend(row_dst(w, u->d), out, 4 * s.halves, m);
  return true;
}

uop_fn *SEM_NAME(sem_dmma_part)(const struct sass_inst *s, struct uop *u)
{
  enum { SHAPE_884, SHAPE_1684, SHAPE_1688, SHAPE_16816 };
  static const uint8_t rows[4] = {1, 2, 2, 2}, chunks[4] = {1, 1, 2, 4};
  const unsigned shape = (unsigned)sass_get(s, FLD_DMMA_SHAPE);

  if (is_rz(&s->src[0]) && shape == SHAPE_16816) return NULL; /* wider than the zero operand */
  u->imm = rows[shape] | (uint32_t)chunks[shape] << 4 | (uint32_t)sass_get(s, FLD_RND) << 11;
  for (unsigned k = 0; k < 3; k++) {
    if (s->src[k].neg) u->imm |= 1u << (8 + k);
    if (s->src[k].abs) u->imm |= 1u << (13 + k);
  }
  return dmma;
}
