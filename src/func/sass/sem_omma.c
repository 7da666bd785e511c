/* OMMA.SF: matrix products of FP4 numbers with a scale for every 16 or 32 elements of a row of A and a column of B
 * (mma.sync with .kind::mxf4 and .kind::mxf4nvf4 on sm_120a). Part of sem_mma_handler.
 *
 * Fragments as those of IMMA on nibbles. The products of 16 elements are added exactly and multiplied by both
 * scales; the four of them and c are aligned to the largest exponent (a scale counts with its own), truncated to
 * 35 fraction bits and added; FP32 toward zero. Source: MMA-Sim (arXiv 2511.10909).
 */
#include <math.h>

#include "func/sass/func_launch.h"
#include "func/sass/mma_scale.h"
#include "func/sass/sem_fp_part.h"

enum { DEPTH = 64, GROUP = 16, GROUPS = DEPTH / GROUP, FRACTION = 35 };
enum { OMMA_E4M3 = 1 << 0 }; /* uop.imm: four scales, else two powers of two */

/* Twice the number. */
static int32_t twice_e2m1(uint32_t v)
{
  static const int8_t twice[8] = {0, 1, 2, 3, 4, 6, 8, 12};
  return v & 8 ? -twice[v & 7] : twice[v & 7];
}

/* sig * 2^exp; the scales of a lane's word, the first one lowest. */
struct scale {
  int32_t sig, exp; /* sig: fraction bits by format: 3 of E4M3, whose sign has no meaning */
  bool nan;
};

static struct scale scale_of(uint32_t word, unsigned group, bool e4m3)
{
  const uint32_t v = e4m3 ? word >> 8 * group & 0x7f : word >> 8 * (group / 2) & 0xff;
  if (!e4m3) return (struct scale){1, (int32_t)v - 127, v == 0xff};
  const int32_t e = (int32_t)(v >> 3);
  return (struct scale){(int32_t)(v & 7) | (e ? 8 : 0), (e ? e : 1) - 7, v == 0x7f};
}

/* Sum of one group of products, times four. */
static int32_t group_sum(const uint32_t *ra, const uint32_t *rb, unsigned row, unsigned col, unsigned group)
{
  int32_t sum = 0;
  for (unsigned k = group * GROUP; k < (group + 1) * GROUP; k += 8) {
    const unsigned t = k / 8 % 4, chunk = k / 32;
    const uint32_t a = frag(ra, 2 * chunk + (row >> 3), 4 * (row & 7) + t), b = frag(rb, chunk, 4 * col + t);
    for (unsigned j = 0; j < 32; j += 4) sum += twice_e2m1(a >> j & 15) * twice_e2m1(b >> j & 15);
  }
  return sum;
}

/* x * 2^up toward zero. */
static int64_t shifted(int64_t x, int32_t up)
{
  const uint64_t mag = (uint64_t)(x < 0 ? -x : x);
  const int64_t r = (int64_t)(up >= 0 ? mag << up : up > -64 ? mag >> -up : 0);
  return x < 0 ? -r : r;
}

static uint32_t element(uint32_t c, const struct mma_scales *s, unsigned row, unsigned col, const int32_t *sums,
                        bool e4m3)
{
  const int32_t frac = e4m3 ? 2 + 3 + 3 : 2; /* of a group: products in quarters, significands of the scales */
  int32_t csig, cexp, exp[GROUPS], top;
  int64_t sig[GROUPS];
  if (mma_split(c, FMT_F32, &csig, &cexp)) return c << 9 ? F32_NAN : c;
  top = cexp > MMA_MIN_EXP ? cexp : MMA_MIN_EXP;
  for (unsigned g = 0; g < GROUPS; g++) {
    const struct scale a = scale_of(s->a[row], g, e4m3), b = scale_of(s->b[col], g, e4m3);
    if (a.nan || b.nan) return F32_NAN;
    sig[g] = (int64_t)sums[g] * a.sig * b.sig;
    exp[g] = a.exp + b.exp;
    if (e4m3 && (a.sig == 0 || b.sig == 0)) exp[g] = MMA_ZERO_EXP;
    if (exp[g] > top) top = exp[g];
  }
  int64_t total = shifted(csig, FRACTION - FMT_F32.frac + cexp - top);
  for (unsigned g = 0; g < GROUPS; g++) total += shifted(sig[g], FRACTION - frac + exp[g] - top);
  return mma_to_f32(ldexp((double)total, top - FRACTION));
}

LANE_HANDLER(omma)
{
  LANE_UNUSED;
  const uint32_t *ra = row_src(w, u->a), *rb = row_src(w, u->b);
  const bool e4m3 = u->imm & OMMA_E4M3;
  struct mma_scales scales;
  uint32_t c[MMA_M][MMA_N];

  mma_load_scales(&scales, w, u);
  mma_load_c(c, row_src(w, u->c), true);
  for (unsigned i = 0; i < MMA_M; i++)
    for (unsigned n = 0; n < MMA_N; n++) {
      int32_t sums[GROUPS];
      for (unsigned g = 0; g < GROUPS; g++) sums[g] = group_sum(ra, rb, i, n, g);
      c[i][n] = element(c[i][n], &scales, i, n, sums, e4m3);
    }
  mma_store_d(w, u, m, c, true);
  return true;
}

uop_fn *SEM_NAME(sem_omma_part)(const struct sass_inst *s, struct uop *u)
{
  enum { UE4M3_4X = 1, E8_2X = 2 };
  const unsigned format = (unsigned)sass_get(s, FLD_OMMA_SF);
  if (sass_get(s, FLD_OMMA_SF_SHAPE) || (format != UE4M3_4X && format != E8_2X)) return NULL;
  u->imm = format == UE4M3_4X ? OMMA_E4M3 : 0;
  mma_pick_scales(s, u);
  return omma;
}
