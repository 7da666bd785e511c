/* IMMA, IMMA.SP and BMMA: matrix products of integers and of bits by a warp. Part of sem_mma_handler. Fragments are
 * those of sem_hmma.c.
 */
#include "func/sass/func_launch.h"
#include "func/sass/mma_fast.h"
#include "func/sass/mma_frag.h"
#include "func/sass/mma_sparse.h"
#include "func/sass/sem_fp_part.h"

/* uop.imm: shape in common, then what each needs. */
enum {
  INT_HALVES = 3, /* 1: 8 rows, 2: 16 rows */
  INT_CHUNKS = 2, /* 2 bits */
  IMMA_SIGNED_A = 1 << 4,
  IMMA_SIGNED_B = 1 << 5,
  IMMA_SATURATE = 1 << 6,
  BMMA_IS_AND = 1 << 7,
};

/* What a thread's registers contribute to one output: `per` elements of 32 / per bits. */
static inline int32_t int_element(uint32_t v, unsigned j, unsigned bits, bool is_signed)
{
  const uint32_t x = v << (32 - bits * (j + 1)) >> (32 - bits);
  return is_signed ? (int32_t)(x << (32 - bits)) >> (32 - bits) : (int32_t)x;
}

static inline unsigned bmma_word(uint32_t a, uint32_t b, uint32_t imm)
{
  return bits_count(imm & BMMA_IS_AND ? a & b : a ^ b);
}

static inline uint32_t int_result(int64_t x, bool saturate)
{
  if (!saturate) return (uint32_t)x;
  return (uint32_t)(x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : x);
}

/* Registers of C or D by column and row, and back; of 8 rows the others stay. */
static void int_load_c(int32_t c[MMA_N][MMA_M], const uint32_t *rc, unsigned halves)
{
  for (unsigned t = 0; t < 4; t++)
    for (unsigned r = 0; r < 2 * halves; r++)
      for (unsigned g = 0; g < 8; g++) c[2 * t + r % 2][8 * (r / 2) + g] = (int32_t)frag(rc, r, 4 * g + t);
}

static void int_store_d(struct func_warp *w, const struct uop *u, uint32_t m, int32_t d[MMA_N][MMA_M],
                        unsigned halves)
{
  _Alignas(64) uint32_t out[4 * LANES];
  for (unsigned r = 0; r < 2 * halves; r++)
    for (unsigned g = 0; g < 8; g++)
      for (unsigned t = 0; t < 4; t++)
        out[r * LANES + 4 * g + t] = (uint32_t)d[2 * t + r % 2][8 * (r / 2) + g];
  row_blend(row_dst(w, u->d), out, 2 * halves, m);
}

/* n words' elements number j as numbers. */
static inline __attribute__((always_inline)) void int_numbers(float *restrict x, const uint32_t *restrict words,
                                                              unsigned n, unsigned j, unsigned bits, bool is_signed)
{
  LANES_SIMD
  for (unsigned i = 0; i < n; i++) x[i] = (float)int_element(words[i], j, bits, is_signed);
}

/* The products of one register of A per row and one of B, summed: FP32 holds them exactly. */
static inline __attribute__((always_inline)) void imma_chunk(struct mma_sums *p, const uint32_t *ra,
                                                             const uint32_t *rb, uint32_t imm, unsigned bits)
{
  struct mma_rows rows;
  struct mma_columns columns;
  const unsigned per = 32 / bits, halves = imm & INT_HALVES;
  _Alignas(64) uint32_t a[4][MMA_M] = {{0}}, b[4][MMA_N];
  mma_words(a[0], MMA_M, ra, 1, halves);
  mma_words(b[0], MMA_N, rb, 1, 1);
  for (unsigned t = 0; t < 4; t++)
    for (unsigned j = 0; j < per; j++) {
      int_numbers(rows.x[t * per + j], a[t], MMA_M, j, bits, imm & IMMA_SIGNED_A);
      int_numbers(columns.x[t * per + j], b[t], MMA_N, j, bits, imm & IMMA_SIGNED_B);
    }
  memset(p->c, 0, sizeof p->c);
  mma_integer_sums(p, &rows, &columns, 4 * per);
}

static inline __attribute__((always_inline)) void imma(struct func_warp *w, const struct uop *u, uint32_t m,
                                                       unsigned bits)
{
  const unsigned halves = u->imm & INT_HALVES, chunks = u->imm >> INT_CHUNKS & 3;
  struct mma_sums p;
  _Alignas(64) int32_t c[MMA_N][MMA_M] = {{0}}, sum[MMA_N][MMA_M] = {{0}};
  int_load_c(c, row_src(w, u->c), halves);
  for (unsigned k = 0; k < chunks; k++) {
    imma_chunk(&p, row_src(w, u->a) + halves * k * LANES, row_src(w, u->b) + k * LANES, u->imm, bits);
    for (unsigned n = 0; n < MMA_N; n++) {
      LANES_SIMD
      for (unsigned i = 0; i < MMA_M; i++) sum[n][i] += (int32_t)p.c[n][i];
    }
  }
  for (unsigned n = 0; n < MMA_N; n++) {
    LANES_SIMD
    for (unsigned i = 0; i < MMA_M; i++)
      c[n][i] = (int32_t)int_result((int64_t)c[n][i] + sum[n][i], u->imm & IMMA_SATURATE);
  }
  int_store_d(w, u, m, c, halves);
}

LANE_HANDLER(imma8)
{
  LANE_UNUSED;
  imma(w, u, m, 8);
  return true;
}

LANE_HANDLER(imma4)
{
  LANE_UNUSED;
  imma(w, u, m, 4);
  return true;
}

/* Every lane of row g of A meets every lane of column g of B. */
LANE_HANDLER(bmma)
{
  LANE_UNUSED;
  const unsigned halves = u->imm & INT_HALVES, chunks = u->imm >> INT_CHUNKS & 3;
  const uint32_t *ra = row_src(w, u->a), *rb = row_src(w, u->b), *rc = row_src(w, u->c);
  _Alignas(64) uint32_t out[4 * LANES];

  for (unsigned lane = 0; lane < LANES; lane++)
    for (unsigned r = 0; r < 2 * halves; r++) { /* output row g + 8 (r / 2), column 2t + r % 2 */
      const unsigned col = 2 * (lane & 3) + (r & 1);
      int64_t sum = (int32_t)frag(rc, r, lane);
      for (unsigned c = 0; c < chunks; c++)
        for (unsigned t = 0; t < 4; t++)
          sum += bmma_word(frag(ra, halves * c + r / 2, (lane & ~3u) + t), frag(rb, c, 4 * col + t), u->imm);
      out[r * LANES + lane] = int_result(sum, u->imm & IMMA_SATURATE);
    }
  row_blend(row_dst(w, u->d), out, 2 * halves, m);
  return true;
}

/* Sparse: byte j of A meets byte k of B (a byte is one element or two); 16 or 32 bytes are kept. */
static int64_t imma_sparse_sum(const struct func_warp *w, const struct uop *u, unsigned lane,
                               unsigned r, unsigned bits)
{
  const uint32_t *ra = row_src(w, u->a), *rb = row_src(w, u->b);
  const unsigned deep = (u->imm >> INT_CHUNKS & 3) == 2, g = lane & ~3u, h = r / 2;
  const unsigned col = 2 * (lane & 3) + (r & 1);
  int64_t sum = 0;
  for (unsigned j = 0; j < (deep ? 32u : 16u); j++) {
    const unsigned from = g + (deep ? 2 * (j / 16) : 2 * mma_sparse_sel(u)) + h;
    const uint32_t meta = mma_sparse_meta(w, u, from & (LANES - 1));
    const unsigned k = 4 * (j / 2) + (meta >> (4 * (j / 2 % 8) + 2 * (j & 1)) & 3);
    const uint32_t a = frag(ra, 2 * (j / 16) + h, g + j % 16 / 4) >> 8 * (j % 4) & 0xff;
    const uint32_t b = frag(rb, k / 16, 4 * col + k % 16 / 4) >> 8 * (k % 4) & 0xff;
    for (unsigned e = 0; e < 8 / bits; e++)
      sum += int_element(a, e, bits, u->imm & IMMA_SIGNED_A) *
             int_element(b, e, bits, u->imm & IMMA_SIGNED_B);
  }
  return sum;
}

static void imma_sparse_rows(struct func_warp *w, const struct uop *u, uint32_t m, unsigned bits)
{
  const uint32_t *rc = row_src(w, u->c);
  _Alignas(64) uint32_t out[4 * LANES];
  for (unsigned lane = 0; lane < LANES; lane++)
    for (unsigned r = 0; r < 4; r++) {
      const int64_t sum = (int32_t)frag(rc, r, lane) + imma_sparse_sum(w, u, lane, r, bits);
      out[r * LANES + lane] = int_result(sum, u->imm & IMMA_SATURATE);
    }
  row_blend(row_dst(w, u->d), out, 4, m);
}

LANE_HANDLER(imma8_sparse)
{
  LANE_UNUSED;
  imma_sparse_rows(w, u, m, 8);
  return true;
}

LANE_HANDLER(imma4_sparse)
{
  LANE_UNUSED;
  imma_sparse_rows(w, u, m, 4);
  return true;
}

/* Type code of IMMA_A, IMMA_B: bits per element, 0 = invalid. */
static unsigned imma_bits(unsigned type)
{
  return type <= 1 ? 8 : type == 4 || type == 5 ? 4 : 0;
}

static uop_fn *pick_imma_sparse(const struct sass_inst *s, struct uop *u, unsigned bits)
{
  /* by shape code: bytes of a row of A before compression / 32, for bytes and for nibbles */
  static const uint8_t of_bytes[8] = {[5] = 1, [6] = 2}, of_nibbles[8] = {[6] = 1, [7] = 2};
  const unsigned shape = (unsigned)sass_get(s, FLD_IMMA_SHAPE);
  const unsigned chunks = bits == 8 ? of_bytes[shape] : of_nibbles[shape];
  const unsigned sel = (unsigned)sass_get(s, FLD_HMMA_SEL);

  if (!chunks || !mma_pick_meta(s, u) || sel > (chunks == 1 ? 1u : 0u)) return NULL;
  u->imm = chunks << INT_CHUNKS;
  if (sass_get(s, FLD_IMMA_A) & 1) u->imm |= IMMA_SIGNED_A;
  if (sass_get(s, FLD_IMMA_B) & 1) u->imm |= IMMA_SIGNED_B;
  if (sass_get(s, FLD_IMMA_SAT)) u->imm |= IMMA_SATURATE;
  return bits == 8 ? imma8_sparse : imma4_sparse;
}

static uop_fn *pick_imma(const struct sass_inst *s, struct uop *u)
{
  /* by shape code: rows / 8, k */
  static const uint8_t rows[8] = {[0] = 1, [2] = 1, [4] = 2, [5] = 2, [6] = 2};
  static const uint8_t depth[8] = {[0] = 16, [2] = 32, [4] = 16, [5] = 32, [6] = 64};
  const unsigned shape = (unsigned)sass_get(s, FLD_IMMA_SHAPE);
  const unsigned a = (unsigned)sass_get(s, FLD_IMMA_A), b = (unsigned)sass_get(s, FLD_IMMA_B);
  const unsigned bits = imma_bits(a);

  if (bits == 0 || imma_bits(b) != bits) return NULL;
  if (sass_get(s, FLD_IMMA_SP)) return pick_imma_sparse(s, u, bits);
  if (rows[shape] == 0) return NULL;
  const unsigned chunk = 4 * (32 / bits), chunks = depth[shape] / chunk;
  if (chunks == 0 || chunks > 2 || depth[shape] % chunk) return NULL;
  u->imm = rows[shape] | chunks << INT_CHUNKS;
  if (a & 1) u->imm |= IMMA_SIGNED_A;
  if (b & 1) u->imm |= IMMA_SIGNED_B;
  if (sass_get(s, FLD_IMMA_SAT)) u->imm |= IMMA_SATURATE;
  return bits == 8 ? imma8 : imma4;
}

static uop_fn *pick_bmma(const struct sass_inst *s, struct uop *u)
{
  enum { SHAPE_88128, SHAPE_168128, SHAPE_168256 };
  const unsigned shape = (unsigned)sass_get(s, FLD_BMMA_SHAPE);

  if (shape > SHAPE_168256 || !sass_get(s, FLD_BMMA_POPC)) return NULL;
  u->imm = shape == SHAPE_88128 ? 1 : 2;
  u->imm |= (shape == SHAPE_168256 ? 2u : 1u) << INT_CHUNKS;
  if (sass_get(s, FLD_BMMA_AND)) u->imm |= BMMA_IS_AND;
  return bmma;
}

uop_fn *SEM_NAME(sem_imma_part)(const struct sass_inst *s, struct uop *u)
{
  return s->sem == SEM_BMMA ? pick_bmma(s, u) : pick_imma(s, u);
}
