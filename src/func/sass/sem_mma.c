/* Tensor cores: HMMA, IMMA, BMMA, and the matrix transpose MOVM; the others are parts with files of their own.
 *
 * Compiled once per x86-64 level (lanes.h). Fragment layouts are those of mma.sync (PTX ISA, matrix
 * fragments): with g = lane / 4, t = lane % 4, register 2c + h of A holds row g + 8h and, of B,
 * register c holds column g; both hold the elements k = 4pc + pt .. + p - 1, p elements per
 * register. C and D: rows g and g + 8, columns 2t and 2t + 1. The whole warp takes part: registers
 * of inactive lanes are read as they are, and only active lanes are written.
 */
#include "func/sass/func_launch.h"
#include "func/sass/mma_fast.h"
#include "func/sass/mma_frag.h"
#include "func/sass/mma_scale.h"
#include "func/sass/sem_fp_part.h"

/* ---- HMMA ------------------------------------------------------------------------------------ */

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

/* What a step of HMMA is made of. */
struct hmma_shape {
  enum mma_type type;
  bool f32;
  unsigned depth, block; /* pairs; of a block that is added at once */
  int32_t frac;
};

static struct hmma_shape hmma_shape(const struct func_warp *w, const struct uop *u)
{
  const enum mma_type type = (enum mma_type)(u->imm & HMMA_TYPE);
  const struct mma_arch *arch = mma_arch(w->launch->p.sm);
  const unsigned depth = (type == MMA_TF32 ? 4 : 8) * (u->imm >> HMMA_CHUNKS);
  const unsigned most = type == MMA_TF32 ? arch->block_tf32 : arch->block16;
  return (struct hmma_shape){type, u->imm & HMMA_ACC_F32, depth, most < depth ? most : depth, arch->frac};
}

/* Words of A and B, by k of their first element. */
struct hmma_words {
  _Alignas(64) uint32_t a[MMA_K / 2][MMA_M], b[MMA_K / 2][MMA_N];
};

/* The words' numbers. */
static inline __attribute__((always_inline)) void hmma_numbers(struct mma_fast *p, const struct hmma_words *v,
                                                               uint32_t imm, enum mma_type type)
{
  const unsigned per = type == MMA_TF32 ? 1 : 2, words = 4 * (imm >> HMMA_CHUNKS);
  const uint32_t sign = 1u << (mma_format[type].frac + mma_format[type].exp);
  const uint32_t xor_a = imm & HMMA_NEG_A ? sign : 0, xor_b = imm & HMMA_NEG_B ? sign : 0;
  for (unsigned t = 0; t < words; t++)
    for (unsigned j = 0; j < per; j++) {
      mma_numbers(p->a[t * per + j], v->a[t], MMA_M, j, xor_a, type);
      mma_numbers(p->b[t * per + j], v->b[t], MMA_N, j, xor_b, type);
    }
}

/* Their exponents. False: some are not for the fast way. */
static inline __attribute__((always_inline)) bool hmma_exponents(struct mma_fast *p, const struct hmma_words *v,
                                                                 uint32_t imm, enum mma_type type)
{
  const unsigned per = type == MMA_TF32 ? 1 : 2, words = 4 * (imm >> HMMA_CHUNKS);
  bool wide = false;
  for (unsigned t = 0; t < words; t++)
    for (unsigned j = 0; j < per; j++) {
      wide |= mma_exponents(p->a_exp[t * per + j], v->a[t], MMA_M, j, type);
      wide |= mma_exponents(p->b_exp[t * per + j], v->b[t], MMA_N, j, type);
    }
  return !wide;
}

static void hmma_load_c(struct mma_fast *p, const uint32_t *rc, bool f32)
{
  _Alignas(64) uint32_t words[4][MMA_M];
  for (unsigned j = 0; j < 2; j++) {
    if (f32 || !j) mma_words(words[0], MMA_M, f32 ? rc + j * LANES : rc, f32 ? 2 : 1, 2);
    for (unsigned t = 0; t < 4; t++) {
      LANES_SIMD
      for (unsigned i = 0; i < MMA_M; i++)
        p->c[2 * t + j][i] = bits_f32(f32 ? words[t][i] : f32_from_f16(words[t][i] >> 16 * j & 0xffffu));
    }
  }
}

static void hmma_store_d(struct func_warp *w, const struct uop *u, uint32_t m, const struct mma_fast *p, bool f32)
{
  _Alignas(64) uint32_t out[4 * LANES];
  for (unsigned h = 0; h < 2; h++)
    for (unsigned g = 0; g < 8; g++)
      for (unsigned t = 0; t < 4; t++) {
        const uint32_t x = f32_bits(p->c[2 * t][8 * h + g]), y = f32_bits(p->c[2 * t + 1][8 * h + g]);
        if (f32)
          out[2 * h * LANES + 4 * g + t] = x, out[(2 * h + 1) * LANES + 4 * g + t] = y;
        else
          out[h * LANES + 4 * g + t] = f16_from_f32(x) | f16_from_f32(y) << 16;
      }
  row_blend(row_dst(w, u->d), out, f32 ? 4 : 2, m);
}

static void hmma_integer_sums(struct mma_fast *p, unsigned depth)
{
  switch (depth) {
  case 4: mma_integer_sums(p, 4); break;
  case 8: mma_integer_sums(p, 8); break;
  default: mma_integer_sums(p, 16); break;
  }
}

static void hmma_fast_block(struct mma_fast *p, unsigned k, const struct hmma_shape *s)
{
  switch (s->block << 1 | s->f32) {
  case 4 << 1 | 1: mma_fast_block(p, k, 4, true, s->frac); break;
  case 8 << 1 | 1: mma_fast_block(p, k, 8, true, s->frac); break;
  case 8 << 1: mma_fast_block(p, k, 8, false, s->frac); break;
  case 16 << 1 | 1: mma_fast_block(p, k, 16, true, s->frac); break;
  default: mma_fast_block(p, k, 16, false, s->frac); break;
  }
}

/* False: the operands are not for the fast way. */
static inline __attribute__((always_inline)) bool hmma_fast_type(struct mma_fast *p, const struct hmma_words *v,
                                                                 const struct hmma_shape *s, uint32_t imm,
                                                                 enum mma_type type)
{
  hmma_numbers(p, v, imm, type);
  if (mma_is_integer(p, s->depth, s->f32)) {
    hmma_integer_sums(p, s->depth);
    return true;
  }
  if (!hmma_exponents(p, v, imm, type)) return false;
  for (unsigned k = 0; k < s->depth; k += s->block) {
    if (mma_c_is_special(p)) return false;
    hmma_fast_block(p, k, s);
  }
  return true;
}

static bool hmma_fast(struct func_warp *w, const struct uop *u, uint32_t m, const struct hmma_shape *s)
{
  struct mma_fast p;
  struct hmma_words v;
  bool done = false;
  for (unsigned c = 0; c < u->imm >> HMMA_CHUNKS; c++) {
    mma_words(v.a[4 * c], MMA_M, row_src(w, u->a) + 2 * c * LANES, 1, 2);
    mma_words(v.b[4 * c], MMA_N, row_src(w, u->b) + c * LANES, 1, 1);
  }
  hmma_load_c(&p, row_src(w, u->c), s->f32);
  switch (s->type) {
  case MMA_F16: done = hmma_fast_type(&p, &v, s, u->imm, MMA_F16); break;
  case MMA_BF16: done = hmma_fast_type(&p, &v, s, u->imm, MMA_BF16); break;
  case MMA_TF32: done = hmma_fast_type(&p, &v, s, u->imm, MMA_TF32); break;
  }
  if (done) hmma_store_d(w, u, m, &p, s->f32);
  return done;
}

LANE_HANDLER(hmma)
{
  LANE_UNUSED;
  const struct hmma_shape s = hmma_shape(w, u);
  struct mma_a a;
  struct mma_b b;
  uint32_t c[MMA_M][MMA_N];

  if (hmma_fast(w, u, m, &s)) return true;
  hmma_load(&a, &b, row_src(w, u->a), row_src(w, u->b), u->imm, 1);
  mma_load_c(c, row_src(w, u->c), s.f32);
  for (unsigned i = 0; i < MMA_M; i++)
    for (unsigned k = 0; k < s.depth; k += s.block)
      mma_block(c[i], &a, i, &b, k, k + s.block, s.type, s.f32, s.frac);
  mma_store_d(w, u, m, c, s.f32);
  return true;
}

/* ---- HMMA.SP, IMMA.SP: A keeps two of four elements (PTX ISA, mma.sp) -------------------------- */

/* uop.imm2: register of the metadata and selector. Four bits describe four elements, as two numbers
 * of two bits. The bits of 16 elements of a row (16-bit formats) fill a half register: row g the
 * lower, row g + 8 the upper half of lane `sel` of the four, or of lane 2 sel + k / 16 where k is
 * 32. TF32 counts as pairs. The elements of 32 bytes of a row fill a register: those of row g and
 * g + 8 are in lanes 2 sel and 2 sel + 1, or 2 (k / 32) and one more. */
static inline uint32_t sparse_meta(const struct func_warp *w, const struct uop *u, unsigned lane)
{
  return warp_reg(w, u->imm2 & 0xff)[lane];
}

static inline unsigned sparse_sel(const struct uop *u)
{
  return u->imm2 >> 8;
}

/* Row of B that meets stored element j of row `row` of A. */
static unsigned hmma_sparse_k(const struct func_warp *w, const struct uop *u, unsigned row,
                              unsigned j, unsigned depth, bool tf32)
{
  const unsigned first = depth > (tf32 ? 4 : 8) ? 2 * sparse_sel(u) : sparse_sel(u);
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

static bool pick_meta(const struct sass_inst *s, struct uop *u)
{
  const unsigned reg = (unsigned)sass_get(s, FLD_HMMA_META);
  u->imm2 = reg | (uint32_t)sass_get(s, FLD_HMMA_SEL) << 8;
  return reg != SASS_RZ;
}

static uop_fn *pick_hmma_sparse(const struct sass_inst *s, struct uop *u)
{
  enum { SHAPE_1688, SHAPE_16816, SHAPE_1684, SHAPE_16832 };
  const unsigned shape = (unsigned)sass_get(s, FLD_HMMA_SHAPE);
  const unsigned type = (unsigned)sass_get(s, FLD_HMMA_TYPE);
  const bool f32 = sass_get(s, FLD_HMMA_F32), tf32 = type == MMA_TF32;
  const unsigned small = tf32 ? SHAPE_1688 : SHAPE_16816, big = tf32 ? SHAPE_16816 : SHAPE_16832;

  if (type > MMA_TF32 || (!f32 && type != MMA_F16) || (shape != small && shape != big)) return NULL;
  if (!pick_meta(s, u) || (shape == big && sass_get(s, FLD_HMMA_SEL) > 1)) return NULL;
  u->imm = type | (shape == big ? 2u : 1u) << HMMA_CHUNKS;
  if (f32) u->imm |= HMMA_ACC_F32;
  return hmma_sparse;
}

static uop_fn *pick_hmma(const struct sass_inst *s, struct uop *u)
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

/* ---- IMMA, BMMA ------------------------------------------------------------------------------ */

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
static inline __attribute__((always_inline)) void imma_chunk(struct mma_fast *p, const uint32_t *ra,
                                                             const uint32_t *rb, uint32_t imm, unsigned bits)
{
  const unsigned per = 32 / bits, halves = imm & INT_HALVES;
  _Alignas(64) uint32_t a[4][MMA_M] = {{0}}, b[4][MMA_N];
  mma_words(a[0], MMA_M, ra, 1, halves);
  mma_words(b[0], MMA_N, rb, 1, 1);
  for (unsigned t = 0; t < 4; t++)
    for (unsigned j = 0; j < per; j++) {
      int_numbers(p->a[t * per + j], a[t], MMA_M, j, bits, imm & IMMA_SIGNED_A);
      int_numbers(p->b[t * per + j], b[t], MMA_N, j, bits, imm & IMMA_SIGNED_B);
    }
  memset(p->c, 0, sizeof p->c);
  mma_integer_sums(p, 4 * per);
}

static inline __attribute__((always_inline)) void imma(struct func_warp *w, const struct uop *u, uint32_t m,
                                                       unsigned bits)
{
  const unsigned halves = u->imm & INT_HALVES, chunks = u->imm >> INT_CHUNKS & 3;
  struct mma_fast p;
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
    const unsigned from = g + (deep ? 2 * (j / 16) : 2 * sparse_sel(u)) + h;
    const uint32_t meta = sparse_meta(w, u, from & (LANES - 1));
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

  if (!chunks || !pick_meta(s, u) || sel > (chunks == 1 ? 1u : 0u)) return NULL;
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

/* ---- MOVM: transposes an 8 x 8 matrix of 16-bit elements, or widens nibbles ------------------- */

LANE_HANDLER(movm)
{
  LANE_UNUSED;
  LANE_ROW(a);
  uint32_t r[LANES];
  for (unsigned i = 0; i < LANES; i++) {
    const unsigned g = i >> 2, t = i & 3; /* element (row, col) is in lane 4 row + col / 2 */
    const uint32_t lo = row_a[4 * (2 * t) + g / 2], hi = row_a[4 * (2 * t + 1) + g / 2];
    r[i] = (lo >> 16 * (g & 1) & 0xffffu) | (hi >> 16 * (g & 1)) << 16;
  }
  LANE_ROWS(1, d[i] = r[i];);
  return true;
}

/* MOVM.U4TO8.M832: an 8 x 32 matrix of nibbles, dealt like an operand of IMMA (row g in the lanes 4g to
 * 4g + 3, eight elements each), becomes one of bytes: two registers, columns 0..15 and 16..31, four
 * elements in each lane. */
LANE_HANDLER(movm_u4to8)
{
  LANE_UNUSED;
  LANE_ROW(a);
  _Alignas(64) uint32_t out[2 * LANES];
  for (unsigned i = 0; i < LANES; i++)
    for (unsigned h = 0; h < 2; h++) {
      const unsigned t = i & 3, from = (i & ~3u) + 2 * h + t / 2;
      const uint32_t nibbles = row_a[from] >> 16 * (t & 1);
      out[h * LANES + i] = (nibbles & 0xfu) | (nibbles & 0xf0u) << 4 | (nibbles & 0xf00u) << 8 |
                           (nibbles & 0xf000u) << 12;
    }
  row_blend(row_dst(w, u->d), out, 2, m);
  return true;
}

static uop_fn *pick_movm(const struct sass_inst *s)
{
  enum { U4TO8 = 2, MT88 = 0, M832 = 1 };
  const unsigned type = (unsigned)sass_get(s, FLD_MOVM_TYPE), op = (unsigned)sass_get(s, FLD_MOVM_OP);
  if (type == 0 && op == MT88) return movm;
  return type == U4TO8 && op == M832 ? movm_u4to8 : NULL;
}

/* ---- picker ---------------------------------------------------------------------------------- */

sem_picker SEM_NAME(sem_mma_handler);

uop_fn *SEM_NAME(sem_mma_handler)(const struct sass_inst *s, struct uop *u)
{
  u->imm = u->imm2 = 0;
  switch (s->sem) {
  case SEM_HMMA: return pick_hmma(s, u);
  case SEM_HMMA_884: return SEM_NAME(sem_hmma884_part)(s, u);
  case SEM_IMMA: return pick_imma(s, u);
  case SEM_BMMA: return pick_bmma(s, u);
  case SEM_DMMA: return SEM_NAME(sem_dmma_part)(s, u);
  case SEM_MOVM: return pick_movm(s);
  case SEM_QMMA: case SEM_QMMA_SF: return SEM_NAME(sem_qmma_part)(s, u);
  case SEM_HGMMA: case SEM_QGMMA: case SEM_IGMMA: case SEM_BGMMA: return SEM_NAME(sem_gmma_part)(s, u);
  case SEM_UTCHMMA: case SEM_UTCIMMA: case SEM_UTCQMMA: case SEM_UTCQMMA_SF: case SEM_UTCOMMA:
    return SEM_NAME(sem_utcmma_part)(s, u);
  case SEM_OMMA_SF: return SEM_NAME(sem_omma_part)(s, u);
  default: return NULL;
  }
}
