/* OMMA.SF: matrix products of FP4 numbers with a scale for every 16 or 32 elements of a row of A and a column of B
 * (mma.sync with .kind::mxf4 and .kind::mxf4nvf4 on sm_120a). Part of sem_mma_handler.
 *
 * Fragments as those of IMMA on nibbles; sums: mma_fp4.h. A sparse A keeps two of four pairs of neighbours: 64 elements
 * of 128, whose groups of 16 share scales with 32 of B; metadata as that of bytes (NVIDIA CUTLASS,
 * mma_traits_sm120_sparse.hpp: ALayout, ELayout, SFALayout of 16x8x128).
 */
#include "func/sass/func_launch.h"
#include "func/sass/mma_fp4_tile.h"
#include "func/sass/mma_scale.h"
#include "func/sass/mma_sparse.h"
#include "func/sass/mma_tile.h"
#include "func/sass/sem_fp_part.h"

enum { DEPTH = 64, GROUPS = DEPTH / FP4_GROUP };
enum { OMMA_E4M3 = 1 << 0 }; /* uop.imm: four scales, else two powers of two */
enum { OMMA_META = 24 };      /* uop.imm2 */

/* Sum of one group of products, times four. */
static int32_t group_sum(const uint32_t *ra, const uint32_t *rb, unsigned row, unsigned col, unsigned group)
{
  int32_t sum = 0;
  for (unsigned k = group * FP4_GROUP; k < (group + 1) * FP4_GROUP; k += 8) {
    const unsigned t = k / 8 % 4, chunk = k / 32;
    const uint32_t a = frag(ra, 2 * chunk + (row >> 3), 4 * (row & 7) + t), b = frag(rb, chunk, 4 * col + t);
    for (unsigned j = 0; j < 32; j += 4) sum += fp4_twice(a >> j & 15) * fp4_twice(b >> j & 15);
  }
  return sum;
}

/* The same of a sparse A: byte j, a pair of those kept, meets byte mma_sparse_byte() of a column of B. */
static int32_t sparse_sum(const uint32_t *ra, const uint32_t *rb, unsigned row, unsigned col, unsigned group,
                          const uint32_t *meta)
{
  enum { PAIRS = FP4_GROUP / 2 };
  int32_t sum = 0;
  for (unsigned j = group * PAIRS; j < (group + 1) * PAIRS; j++) {
    const unsigned k = mma_sparse_byte(meta, row, j);
    const uint32_t a = frag(ra, 2 * (j / 16) + (row >> 3), 4 * (row & 7) + j / 4 % 4) >> 8 * (j % 4);
    const uint32_t b = frag(rb, k / 16, 4 * col + k / 4 % 4) >> 8 * (k % 4);
    for (unsigned e = 0; e < 8; e += 4) sum += fp4_twice(a >> e & 15) * fp4_twice(b >> e & 15);
  }
  return sum;
}

/* A dense product at once. False: infinities or NaN are among the operands. */
static bool omma_fast(struct func_warp *w, const struct uop *u, uint32_t m, const struct mma_scales *scales,
                      struct fp4_scaling how)
{
  enum { CHUNKS = 2 };
  _Alignas(64) uint32_t word[4 * CHUNKS][MMA_M], column[4 * CHUNKS][MMA_N];
  struct fp4_rows a = {.nan = false};
  struct fp4_columns b = {.nan = false};
  struct mma_sums sums;
  for (unsigned c = 0; c < CHUNKS; c++) {
    mma_words(word[4 * c], MMA_M, row_src(w, u->a) + 2 * c * LANES, 1, 2);
    mma_words(column[4 * c], MMA_N, row_src(w, u->b) + c * LANES, 1, 1);
  }
  fp4_take(a.twice[0], word[0], MMA_M, 4 * CHUNKS, false);
  fp4_take(b.twice[0], column[0], MMA_N, 4 * CHUNKS, false);
  for (unsigned i = 0; i < MMA_M; i++) fp4_take_scales(a.sig[0], a.exp[0], &a.nan, i, MMA_M, scales->a[i], GROUPS, how);
  for (unsigned n = 0; n < MMA_N; n++) fp4_take_scales(b.sig[0], b.exp[0], &b.nan, n, MMA_N, scales->b[n], GROUPS, how);
  mma_tile_load_c(&sums, row_src(w, u->c), true);
  if (!fp4_tile(&sums, &a, &b, GROUPS, how)) return false;
  mma_tile_store_d(w, u, m, &sums, true);
  return true;
}

LANE_HANDLER(omma)
{
  LANE_UNUSED;
  const uint32_t *meta = sass_get(u->s, FLD_OMMA_SF_SHAPE) ? warp_reg(w, u->imm2 >> OMMA_META) : NULL;
  const uint32_t *ra = row_src(w, u->a), *rb = row_src(w, u->b);
  const bool e4m3 = u->imm & OMMA_E4M3;
  const struct fp4_scaling how = {e4m3, e4m3 ? 1 : 2};
  struct mma_scales scales;
  uint32_t c[MMA_M][MMA_N];

  mma_load_scales(&scales, w, u);
  if (!meta && omma_fast(w, u, m, &scales, how)) return true;
  mma_load_c(c, row_src(w, u->c), true);
  for (unsigned i = 0; i < MMA_M; i++)
    for (unsigned n = 0; n < MMA_N; n++) {
      int32_t sums[GROUPS];
      for (unsigned g = 0; g < GROUPS; g++)
        sums[g] = meta ? sparse_sum(ra, rb, i, n, g, meta) : group_sum(ra, rb, i, n, g);
      c[i][n] = fp4_element(c[i][n], scales.a[i], scales.b[n], sums, GROUPS, how);
    }
  mma_store_d(w, u, m, c, true);
  return true;
}

uop_fn *SEM_NAME(sem_omma_part)(const struct sass_inst *s, struct uop *u)
{
  enum { UE4M3_4X = 1, E8_2X = 2 };
  const unsigned format = (unsigned)sass_get(s, FLD_OMMA_SF);
  const bool sparse = sass_get(s, FLD_OMMA_SF_SHAPE);
  if (format != UE4M3_4X && format != E8_2X) return NULL;
  u->imm = format == UE4M3_4X ? OMMA_E4M3 : 0;
  mma_pick_scales(s, u);
  if (sparse && (sass_get(s, FLD_HMMA_SEL) || u->imm2 >> OMMA_META == SASS_RZ)) return NULL;
  return omma;
}
