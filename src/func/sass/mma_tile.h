/* A product of 16 rows by 8 columns, whichever instruction asks for it: factors become numbers by mma_fast.h, sums are
 * added block by block.
 *
 *   mma_take_rows(&a, &shape);  mma_take_columns(&b, &shape);     their words are there
 *   done = mma_tile(&sums, &a, &b, &shape);                       false: the operands are for mma_float.h
 *
 * Rows may meet many columns, and columns many rows: what is known of them is found once, when it is first asked for.
 */
#ifndef WS_FUNC_SASS_MMA_TILE_H
#define WS_FUNC_SASS_MMA_TILE_H

#include "func/sass/mma_fast.h"
#include "func/sass/mma_narrow.h"

enum { MMA_WORDS = 8, MMA_BYTES = MMA_TF32 + 1 }; /* words of a row at most; mma_shape.type: formats of bytes */

struct mma_shape {
  unsigned type;               /* enum mma_type, MMA_BYTES */
  unsigned format_a, format_b; /* of bytes: by mma_narrow */
  bool negate_a, negate_b;
  bool f32;                    /* C and D, else FP16 */
  unsigned depth, block;       /* pairs; of a block that is added at once */
  int32_t frac;
  unsigned cut;                /* low bits of D that are zero: mma_cut_result */
};

static inline unsigned mma_per_word(const struct mma_shape *s)
{
  return s->type == MMA_BYTES ? 4 : s->type == MMA_TF32 ? 1 : 2;
}

/* What is known of factors beside their numbers. */
enum mma_known { MMA_NUMBERS, MMA_FIT, MMA_WIDE }; /* … their exponents, too; some are not for the fast way */

struct mma_tile_rows {
  _Alignas(64) uint32_t word[MMA_WORDS][MMA_M]; /* by k of the first element */
  struct mma_rows f;
  float bits; /* mma_integer_bits */
  enum mma_known known;
};

struct mma_tile_columns {
  _Alignas(64) uint32_t word[MMA_WORDS][MMA_N];
  struct mma_columns f;
  float bits;
  enum mma_known known;
};

/* ---- words --------------------------------------------------------------------------------------- */

/* Words of n rows that lie `stride` bytes apart, k contiguous. */
MMA_INLINE void mma_memory_words(uint32_t *restrict out, unsigned n, const uint8_t *restrict rows, size_t stride)
{
  for (unsigned i = 0; i < n; i++)
    for (unsigned t = 0; t < MMA_WORDS; t++) memcpy(&out[t * n + i], rows + i * stride + t * sizeof *out, sizeof *out);
}

/* ---- factors ------------------------------------------------------------------------------------- */

/* Byte j of a word by its format; FP4 lies in the middle of it. */
MMA_INLINE uint32_t mma_byte(uint32_t word, unsigned j, struct fp_format f)
{
  return word >> 8 * j >> (f.frac + f.exp == 3 ? 2 : 0) & ((2u << (f.frac + f.exp)) - 1);
}

MMA_INLINE uint32_t mma_byte_field(uint32_t v, struct fp_format f)
{
  return v >> f.frac & ((1u << f.exp) - 1);
}

/* The exponent by which it is aligned, but for that of a zero. */
MMA_INLINE int32_t mma_byte_exponent(uint32_t v, struct fp_format f)
{
  const int32_t field = (int32_t)mma_byte_field(v, f);
  return (field ? field : 1) - (((1 << f.exp) - 1) >> 1);
}

MMA_INLINE float mma_byte_number(uint32_t v, struct fp_format f)
{
  const uint32_t sig = (v & ((1u << f.frac) - 1)) | (mma_byte_field(v, f) ? 1u << f.frac : 0);
  const float mag = (float)(int32_t)sig * mma_power(mma_byte_exponent(v, f) - (int32_t)f.frac);
  return bits_f32(f32_bits(mag) | v >> (f.frac + f.exp) << 31);
}

/* n bytes become numbers; magnitudes from `infinite` on are infinities or NaN, and become NaN: that is no integer. */
MMA_INLINE void mma_byte_numbers(float *restrict x, const uint32_t *restrict words, unsigned n, unsigned j,
                                 uint32_t negate, struct fp_format f, uint32_t infinite)
{
  const uint32_t magnitude = (1u << (f.frac + f.exp)) - 1;
  LANES_SIMD
  for (unsigned i = 0; i < n; i++) {
    const uint32_t v = mma_byte(words[i], j, f), number = f32_bits(mma_byte_number(v, f)) ^ negate;
    x[i] = bits_f32((v & magnitude) >= infinite ? F32_NAN : number);
  }
}

/* Their exponents. True: an infinity or NaN is among them. */
MMA_INLINE bool mma_byte_exponents(int32_t *restrict e, const uint32_t *restrict words, unsigned n, unsigned j,
                                   struct fp_format f, uint32_t infinite)
{
  const uint32_t magnitude = (1u << (f.frac + f.exp)) - 1;
  uint32_t lane_acc = 0;
  LANES_SIMD_OR
  for (unsigned i = 0; i < n; i++) {
    const uint32_t v = mma_byte(words[i], j, f) & magnitude;
    e[i] = v ? mma_byte_exponent(v, f) : MMA_ZERO_EXP;
    lane_acc |= v >= infinite;
  }
  return lane_acc;
}

static inline uint32_t mma_first_infinite(unsigned format)
{
  return format == MMA_E4M3 ? 0x7f : format == MMA_E5M2 ? 0x7c : 0x100;
}

/* Numbers of `words` words of n rows or columns. */
MMA_INLINE void mma_take_type(float *x, const uint32_t *word, unsigned n, unsigned words, bool negate,
                              enum mma_type type)
{
  const unsigned per = type == MMA_TF32 ? 1 : 2;
  const uint32_t flip = negate ? 1u << (mma_format[type].frac + mma_format[type].exp) : 0;
  for (unsigned t = 0; t < words; t++)
    for (unsigned j = 0; j < per; j++) mma_numbers(x + (t * per + j) * n, word + t * n, n, j, flip, type);
}

MMA_INLINE void mma_take(float *x, const uint32_t *word, unsigned n, const struct mma_shape *s, unsigned format,
                         bool negate)
{
  const unsigned words = s->depth / mma_per_word(s);
  switch (s->type) {
  case MMA_F16: mma_take_type(x, word, n, words, negate, MMA_F16); break;
  case MMA_BF16: mma_take_type(x, word, n, words, negate, MMA_BF16); break;
  case MMA_TF32: mma_take_type(x, word, n, words, negate, MMA_TF32); break;
  default:
    for (unsigned k = 0; k < s->depth; k++)
      mma_byte_numbers(x + k * n, word + k / 4 * n, n, k % 4, negate ? F32_SIGN : 0, mma_narrow[format],
                       mma_first_infinite(format));
  }
}

MMA_INLINE bool mma_split_type(int32_t *e, const uint32_t *word, unsigned n, unsigned words, enum mma_type type)
{
  const unsigned per = type == MMA_TF32 ? 1 : 2;
  bool wide = false;
  for (unsigned t = 0; t < words; t++)
    for (unsigned j = 0; j < per; j++) wide |= mma_exponents(e + (t * per + j) * n, word + t * n, n, j, type);
  return wide;
}

/* Their exponents. True: some are not for the fast way. */
MMA_INLINE bool mma_split_all(int32_t *e, const uint32_t *word, unsigned n, const struct mma_shape *s, unsigned format)
{
  const unsigned words = s->depth / mma_per_word(s);
  bool wide = false;
  switch (s->type) {
  case MMA_F16: return mma_split_type(e, word, n, words, MMA_F16);
  case MMA_BF16: return mma_split_type(e, word, n, words, MMA_BF16);
  case MMA_TF32: return mma_split_type(e, word, n, words, MMA_TF32);
  default:
    for (unsigned k = 0; k < s->depth; k++)
      wide |= mma_byte_exponents(e + k * n, word + k / 4 * n, n, k % 4, mma_narrow[format], mma_first_infinite(format));
    return wide;
  }
}

/* Where few fraction bits are kept, sums of integers are truncated, too. */
static inline bool mma_keeps_integers(const struct mma_shape *s)
{
  enum { FRACTION = 24 };
  return s->frac >= FRACTION;
}

/* The first n numbers mostly tell. */
MMA_INLINE float mma_bits_of(const float *x, unsigned n, const struct mma_shape *s)
{
  if (!mma_keeps_integers(s) || mma_integer_bits(x, n) >= MMA_NO_INTEGER) return MMA_NO_INTEGER;
  return mma_integer_bits(x, s->depth * n);
}

/* Of rows whose words are there. */
static inline void mma_take_rows(struct mma_tile_rows *a, const struct mma_shape *s)
{
  mma_take(a->f.x[0], a->word[0], MMA_M, s, s->format_a, s->negate_a);
  a->bits = mma_bits_of(a->f.x[0], MMA_M, s);
  a->known = MMA_NUMBERS;
}

static inline void mma_take_columns(struct mma_tile_columns *b, const struct mma_shape *s)
{
  mma_take(b->f.x[0], b->word[0], MMA_N, s, s->format_b, s->negate_b);
  b->bits = mma_bits_of(b->f.x[0], MMA_N, s);
  b->known = MMA_NUMBERS;
}

static inline bool mma_rows_fit(struct mma_tile_rows *a, const struct mma_shape *s)
{
  if (a->known == MMA_NUMBERS)
    a->known = mma_split_all(a->f.exp[0], a->word[0], MMA_M, s, s->format_a) ? MMA_WIDE : MMA_FIT;
  return a->known == MMA_FIT;
}

static inline bool mma_columns_fit(struct mma_tile_columns *b, const struct mma_shape *s)
{
  if (b->known == MMA_NUMBERS)
    b->known = mma_split_all(b->f.exp[0], b->word[0], MMA_N, s, s->format_b) ? MMA_WIDE : MMA_FIT;
  return b->known == MMA_FIT;
}

/* n rows or columns of factors by their scales, powers of two with the bias of FP32. */
MMA_INLINE void mma_scale_factors(float *x, int32_t *e, unsigned n, const uint32_t *scale, unsigned depth)
{
  for (unsigned k = 0; k < depth; k++) {
    LANES_SIMD
    for (unsigned i = 0; i < n; i++) {
      x[k * n + i] *= bits_f32((scale[i] & 0xff) << 23);
      e[k * n + i] += (int32_t)(scale[i] & 0xff) - 127;
    }
  }
}

/* Whether factors of such a scale are for the fast way: bytes have exponents from -16 to 15, so that others would leave
 * its range. NaN has no such scale. */
static inline bool mma_scales_fit(const uint32_t *scale, unsigned n)
{
  enum { MOST = MMA_FAST_EXP - 16, LEAST = 127 - MOST };
  bool fit = true;
  for (unsigned i = 0; i < n; i++) fit &= (scale[i] & 0xff) - LEAST <= 2 * MOST;
  return fit;
}

/* False: they are not for the fast way. */
static inline bool mma_scale_rows(struct mma_tile_rows *a, const uint32_t scale[MMA_M], const struct mma_shape *s)
{
  if (!mma_scales_fit(scale, MMA_M) || !mma_rows_fit(a, s)) return false;
  mma_scale_factors(a->f.x[0], a->f.exp[0], MMA_M, scale, s->depth);
  a->bits = MMA_NO_INTEGER;
  return true;
}

static inline bool mma_scale_columns(struct mma_tile_columns *b, const uint32_t scale[MMA_N], const struct mma_shape *s)
{
  if (!mma_scales_fit(scale, MMA_N) || !mma_columns_fit(b, s)) return false;
  mma_scale_factors(b->f.x[0], b->f.exp[0], MMA_N, scale, s->depth);
  b->bits = MMA_NO_INTEGER;
  return true;
}

/* ---- products ------------------------------------------------------------------------------------ */

/* Whether the operands are integers, and every sum is exact in the format of C. */
static inline bool mma_is_integer(const struct mma_sums *p, const struct mma_tile_rows *a,
                                  const struct mma_tile_columns *b, const struct mma_shape *s)
{
  if (a->bits >= MMA_NO_INTEGER || b->bits >= MMA_NO_INTEGER) return false;
  const float c = mma_integer_bits(p->c[0], MMA_N * MMA_M);
  const double most = s->f32 ? 0x1p24 : 0x1p11;
  return c < MMA_NO_INTEGER && (double)a->bits * (double)b->bits * s->depth + (double)c <= most;
}

static inline void mma_tile_integers(struct mma_sums *p, const struct mma_rows *a, const struct mma_columns *b,
                                     unsigned depth)
{
  switch (depth) {
  case 4: mma_integer_sums(p, a, b, 4); break;
  case 8: mma_integer_sums(p, a, b, 8); break;
  case 16: mma_integer_sums(p, a, b, 16); break;
  default: mma_integer_sums(p, a, b, 32); break;
  }
}

/* Products of frac fraction bits have two bits more: so many of them and C fit 31 bits. */
static inline void mma_tile_block(struct mma_sums *p, const struct mma_rows *a, const struct mma_columns *b, unsigned k,
                                  const struct mma_shape *s)
{
  enum { PART = 8, FEW_BITS = 16 };
  const bool few = s->frac <= FEW_BITS;
  switch (s->block << 2 | (unsigned)few << 1 | s->f32) {
  case 4 << 2 | 1: mma_fast_block(p, a, b, k, 4, PART, true, s->frac); break;
  case 8 << 2 | 1: mma_fast_block(p, a, b, k, 8, PART, true, s->frac); break;
  case 8 << 2: mma_fast_block(p, a, b, k, 8, PART, false, s->frac); break;
  case 16 << 2 | 1: mma_fast_block(p, a, b, k, 16, PART, true, s->frac); break;
  case 16 << 2: mma_fast_block(p, a, b, k, 16, PART, false, s->frac); break;
  case 32 << 2 | 1: mma_fast_block(p, a, b, k, 32, PART, true, s->frac); break;
  case 32 << 2: mma_fast_block(p, a, b, k, 32, PART, false, s->frac); break;
  case 16 << 2 | 2 | 1: mma_fast_block(p, a, b, k, 16, 16, true, s->frac); break;
  case 16 << 2 | 2: mma_fast_block(p, a, b, k, 16, 16, false, s->frac); break;
  case 32 << 2 | 2 | 1: mma_fast_block(p, a, b, k, 32, 32, true, s->frac); break;
  default: mma_fast_block(p, a, b, k, 32, 32, false, s->frac); break;
  }
}

static inline void mma_cut_sums(struct mma_sums *p, unsigned bits)
{
  for (unsigned n = 0; n < MMA_N; n++) {
    uint32_t c[MMA_M];
    memcpy(c, p->c[n], sizeof c);
    LANES_SIMD
    for (unsigned i = 0; i < MMA_M; i++) c[i] = (c[i] & F32_INF) == F32_INF ? c[i] : c[i] >> bits << bits;
    LANES_SIMD
    for (unsigned i = 0; i < MMA_M; i++) p->c[n][i] = bits_f32(c[i]) + 0.0f; /* nothing is left of it: +0 */
  }
}

/* C becomes D. False: the operands are not for this way, and C is whatever. */
static inline bool mma_tile(struct mma_sums *p, struct mma_tile_rows *a, struct mma_tile_columns *b,
                            const struct mma_shape *s)
{
  if (mma_is_integer(p, a, b, s)) {
    mma_tile_integers(p, &a->f, &b->f, s->depth);
    return true;
  }
  if (!mma_rows_fit(a, s) || !mma_columns_fit(b, s)) return false;
  for (unsigned k = 0; k < s->depth; k += s->block) {
    if (mma_c_is_special(p)) return false;
    mma_tile_block(p, &a->f, &b->f, k, s);
    if (s->cut && s->f32) mma_cut_sums(p, s->cut);
  }
  return true;
}

/* ---- C and D in registers ------------------------------------------------------------------------ */

static inline void mma_tile_load_c(struct mma_sums *p, const uint32_t *rc, bool f32)
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

static inline void mma_tile_store_d(struct func_warp *w, const struct uop *u, uint32_t m, const struct mma_sums *p,
                                    bool f32)
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

#endif
