/* The arithmetic of products into tensor memory (tc_product.h).
 *
 * One fused sum over the whole of k and D, aligned to the largest exponent and truncated, as mma_float.h does it: 25
 * fraction bits, blocks as long as k (MMA-Sim, arXiv 2511.10909). Pairs, FP6, sparse A and D's scale are not covered
 * there and are taken alike: of a sparse A only the elements that are there are multiplied.
 *
 * Sparse (PTX ISA, tcgen05.mma.sp): four bits, two numbers of two bits, say which two of four elements are there, of
 * FP4 which two of four pairs, of TF32 which one of two (their upper bit). Those of 8-bit and FP4 kinds are in two
 * columns of the row's lane. Of 16 and 32 bits, in one column, the metadata of eight rows and the eight behind them
 * share lanes: row i of 16 has the lower (i < 8) or upper half of lane i % 8, k's upper half of lane 8 + i % 8
 * (NVIDIA CUTLASS, tmem_e_frg; of 64 rows taken alike).
 *
 * Scales (NVIDIA CUTLASS, mma_traits_sm100.hpp): of row or column i in lane i % 32 of each quarter of the lanes,
 * column i / 32 from their address on, one byte for 32 elements, of FP4 two, or four for 16; where columns lie in two
 * parts, those of each part in its own lanes, from the same column on. A sparse A has as many, each for twice the
 * elements. With k of 96, more than fit behind the first byte go on four columns, or a column for 32 columns of B,
 * further (NVIDIA CUTLASS, sm103_blockscaled_mma_warpspecialized.hpp).
 */
#include "func/sass/mma_fp4_tile.h"
#include "func/sass/mma_tile.h"
#include "func/sass/sem_fp_part.h"
#include "func/sass/tc_product.h"

/* Eight columns of B: of a dense product as what mma_tile or fp4_tile multiplies, of a sparse one, as deep as two rows
 * of A, in halves. */
struct tc_columns {
  union {
    struct mma_tile_columns tile;
    struct fp4_columns fp4;
    struct mma_b half[2];
  };
};

/* ---- D ------------------------------------------------------------------------------------------ */

/* Eight columns of a row in tensor memory; NULL: they stay as they are. */
static uint32_t *d_row(const struct tc_product *p, struct tc_part *part, unsigned row, unsigned column)
{
  const unsigned width = p->columns / p->banks;
  const unsigned lane = tc_lane(p, p->d_at, row, column / width);
  if (part->keep[lane / 32] >> lane % 32 & 1) return NULL;
  return &part->memory->word[lane][tmem_column(p->d_at) + column % width];
}

static uint32_t scaled_down(uint32_t c, const struct tc_product *p)
{
  const float half = bits_f32((127u - p->shift) << 23);
  if (!p->shift) return c;
  return p->d == TC_D_F32 ? f32_bits(bits_f32(c) * half) : f16_from_f32(f32_bits(bits_f32(f32_from_f16(c)) * half));
}

static void load_d(uint32_t c[MMA_N], const uint32_t *d, const struct tc_product *p)
{
  if (p->d == TC_D_F32 && p->adds && !p->shift) {
    memcpy(c, d, MMA_N * sizeof *c);
    return;
  }
  for (unsigned n = 0; n < MMA_N; n++)
    c[n] = !p->adds ? 0 : scaled_down(p->d == TC_D_F16 ? d[n] & 0xffff : d[n], p);
}

/* ---- a sparse A ----------------------------------------------------------------------------------- */

/* The metadata of a row, 64 bits or 32, for a part of D's columns. */
static uint64_t row_metadata(const struct tc_product *p, const struct tensor_memory *t, unsigned row, unsigned bank)
{
  const unsigned column = tmem_column(p->meta_at);
  if (p->bytes == 1) {
    const uint32_t *words = &t->word[tc_lane(p, p->meta_at, row, bank)][column];
    return lane_join(words[0], words[1]);
  }
  const unsigned first = tc_lane(p, p->meta_at, row / 16 * 16, bank) + row % 8, half = row / 8 % 2 * 16;
  return (t->word[first][column] >> half & 0xffff) | (t->word[first + 8][column] >> half & 0xffff) << 16;
}

/* Which element (of FP4: pair) of a column of B meets each that is there of a row of A. */
static void row_choice(const struct tc_product *p, const struct tensor_memory *t, unsigned row,
                       unsigned bank, uint8_t from[TC_ROW_MAX])
{
  const uint64_t all = p->sparse ? row_metadata(p, t, row, bank) : 0;
  for (unsigned k = 0; k < p->depth; k++) {
    if (!p->sparse) {
      from[k] = (uint8_t)k;
      continue;
    }
    const unsigned chunk = p->bytes == 4 ? k : k / 2, four = (unsigned)(all >> chunk * 4 & 15);
    from[k] = (uint8_t)(p->bytes == 4 ? 2 * chunk + (four >> 3) : 4 * chunk + (four >> k % 2 * 2 & 3));
  }
}

/* The part of eight columns that a row meets. */
static const struct mma_b *choose(const struct tc_product *p, const struct mma_b all[2],
                                  const uint8_t from[TC_ROW_MAX], struct mma_b *chosen)
{
  if (!p->sparse) return &all[0];
  chosen->special = all[0].special || all[1].special;
  for (unsigned k = 0; k < p->depth; k++) {
    const struct mma_b *half = &all[from[k] / MMA_K];
    const unsigned j = from[k] % MMA_K;
    memcpy(chosen->sig[k], half->sig[j], sizeof half->sig[j]);
    memcpy(chosen->exp[k], half->exp[j], sizeof half->exp[j]);
    if (chosen->special) memcpy(chosen->bits[k], half->bits[j], sizeof half->bits[j]);
  }
  return chosen;
}

/* ---- floating point ----------------------------------------------------------------------------- */

static inline bool split(const struct tc_product *p, const uint8_t *row, unsigned k, unsigned format, bool negate,
                         uint32_t *bits, int32_t *sig, int32_t *exp)
{
  uint32_t v = 0;
  memcpy(&v, row + k * p->bytes, p->bytes);
  bool special;
  if (p->bytes == 1) {
    special = mma_split_byte(v, format, bits, sig, exp);
    if (negate) *sig = -*sig, *bits ^= 0x8000;
    return special;
  }
  if (negate) v ^= 1u << (8 * p->bytes - 1);
  if (format == MMA_TF32) v >>= 13;
  special = mma_split(v, mma_format[format], sig, exp);
  *bits = v;
  return special;
}

static void split_a(const struct tc_product *p, uint8_t (*rows)[TC_ROW_MAX], struct mma_a *a)
{
  a->special = false;
  for (unsigned i = 0; i < MMA_M; i++)
    for (unsigned k = 0; k < p->depth; k++)
      a->special |= split(p, rows[i], k, p->format_a, p->negate_a, &a->bits[i][k], &a->sig[i][k], &a->exp[i][k]);
}

static void split_b(const struct tc_product *p, uint8_t (*columns)[TC_ROW_MAX], struct mma_b all[2])
{
  all[0].special = all[1].special = false;
  for (unsigned n = 0; n < MMA_N; n++)
    for (unsigned k = 0; k < p->depth * (p->sparse ? 2 : 1); k++) {
      struct mma_b *half = &all[k / MMA_K];
      const unsigned j = k % MMA_K;
      half->special |= split(p, columns[n], k, p->format_b, p->negate_b, &half->bits[j][n], &half->sig[j][n],
                             &half->exp[j][n]);
    }
}

/* The halves of eight columns; those of a dense product, which seldom needs them, are made in `room`. */
static const struct mma_b *halves_of(const struct tc_product *p, const struct tc_columns *x,
                                     uint8_t (*columns)[TC_ROW_MAX], struct mma_b room[2])
{
  if (p->sparse) return x->half;
  split_b(p, columns, room);
  return room;
}

static struct mma_shape tile_shape(const struct tc_product *p, int32_t frac)
{
  return (struct mma_shape){.type = p->bytes == 1 ? (unsigned)MMA_BYTES : p->format_a, .format_a = p->format_a,
                            .format_b = p->format_b, .negate_a = p->negate_a, .negate_b = p->negate_b,
                            .f32 = p->d == TC_D_F32, .depth = p->depth, .block = p->depth, .frac = frac};
}

/* Rows or columns of FP4 as words, whose order fp4_take has. */
enum { FP4_WORDS = FP4_DEPTH / 8 };
static void fp4_words(uint32_t *out, unsigned n, uint8_t (*rows)[TC_ROW_MAX])
{
  for (unsigned i = 0; i < n; i++)
    for (unsigned t = 0; t < FP4_WORDS; t++) memcpy(&out[t * n + i], rows[i] + t * sizeof *out, sizeof *out);
}

static void take_fp4_columns(const struct tc_product *p, uint8_t (*columns)[TC_ROW_MAX], struct fp4_columns *b)
{
  _Alignas(64) uint32_t word[FP4_WORDS * MMA_N];
  fp4_words(word, MMA_N, columns);
  fp4_take(b->twice[0], word, MMA_N, p->row_bytes / 4, p->negate_a != p->negate_b);
}

/* Of a sparse product FP4 is taken as it is. */
static void take_columns(const struct tc_product *p, struct tc_operands *o, struct tc_columns b[], int32_t frac)
{
  const struct mma_shape s = tile_shape(p, frac);
  for (unsigned n = 0; n < p->columns; n += MMA_N) {
    struct tc_columns *x = &b[n / MMA_N];
    if (p->sparse) {
      if (!p->fp4) split_b(p, &o->b[n], x->half);
    } else if (p->fp4) {
      take_fp4_columns(p, &o->b[n], &x->fp4);
    } else {
      mma_memory_words((uint32_t *)x->tile.word, MMA_N, o->b[n], sizeof o->b[n]);
      mma_take_columns(&x->tile, &s);
    }
  }
}

static void take_rows(const struct tc_product *p, const struct tc_part *part, unsigned first, unsigned bank,
                      struct mma_tile_rows *a, int32_t frac)
{
  const struct mma_shape s = tile_shape(p, frac);
  mma_memory_words((uint32_t *)a->word, MMA_M, part->a[tc_row_of_a(p, first, bank)], sizeof part->a[0]);
  mma_take_rows(a, &s);
}

/* D of 16 rows and eight columns, where it stays as it is: zeros. */
static void tc_load_tile(const struct tc_product *p, struct tc_part *part, unsigned first, unsigned column,
                         struct mma_sums *sums)
{
  uint32_t c[MMA_M][MMA_N] = {{0}};
  for (unsigned i = 0; i < MMA_M; i++) {
    const uint32_t *d = d_row(p, part, first + i, column);
    if (d) load_d(c[i], d, p);
  }
  if (p->d == TC_D_F16)
    for (unsigned i = 0; i < MMA_M; i++)
      for (unsigned n = 0; n < MMA_N; n++) c[i][n] = f32_from_f16(c[i][n]);
  for (unsigned n = 0; n < MMA_N; n++)
    for (unsigned i = 0; i < MMA_M; i++) sums->c[n][i] = bits_f32(c[i][n]);
}

static void tc_store_tile(const struct tc_product *p, struct tc_part *part, unsigned first, unsigned column,
                          const struct mma_sums *sums)
{
  uint32_t c[MMA_M][MMA_N];
  for (unsigned n = 0; n < MMA_N; n++)
    for (unsigned i = 0; i < MMA_M; i++) c[i][n] = f32_bits(sums->c[n][i]);
  if (p->d == TC_D_F16)
    for (unsigned i = 0; i < MMA_M; i++)
      for (unsigned n = 0; n < MMA_N; n++) c[i][n] = f16_from_f32(c[i][n]);
  for (unsigned i = 0; i < MMA_M; i++) {
    uint32_t *d = d_row(p, part, first + i, column);
    if (d) memcpy(d, c[i], sizeof c[i]);
  }
}

/* D of 16 rows and eight columns by the host's arithmetic. False: the operands are not for that, D is as before. */
static bool tc_tile(const struct tc_product *p, struct tc_part *part, unsigned first, unsigned column,
                    struct mma_tile_rows *a, struct mma_tile_columns *b, int32_t frac)
{
  const struct mma_shape s = tile_shape(p, frac);
  struct mma_sums sums;
  tc_load_tile(p, part, first, column, &sums);
  if (!mma_tile(&sums, a, b, &s)) return false;
  tc_store_tile(p, part, first, column, &sums);
  return true;
}

/* The same, whatever the operands are, of a row. */
static void float_row(const struct tc_product *p, struct tc_part *part, const struct mma_a *a, unsigned first,
                      unsigned i, unsigned column, const struct mma_b *b, int32_t frac)
{
  const enum mma_type type = p->bytes == 1 ? MMA_F16 : (enum mma_type)p->format_a;
  uint32_t c[MMA_N], *d = d_row(p, part, first + i, column);
  if (!d) return;
  load_d(c, d, p);
  mma_block(c, a, i, b, 0, p->depth, type, p->d == TC_D_F32, frac);
  memcpy(d, c, sizeof c);
}

/* 16 rows of a part of D's columns. */
static void float_rows(const struct tc_product *p, struct tc_part *part, unsigned first, unsigned bank,
                       uint8_t (*columns)[TC_ROW_MAX], struct tc_columns b[TC_COLUMNS / MMA_N], int32_t frac)
{
  const unsigned width = p->columns / p->banks;
  struct mma_tile_rows rows;
  struct mma_b room[2], chosen;
  struct mma_a a;
  bool is_split = false;
  a.special = false; /* for the compiler, which does not see that they are split first */
  if (!p->sparse) take_rows(p, part, first, bank, &rows, frac);
  for (unsigned n = bank * width; n < (bank + 1) * width; n += MMA_N) {
    struct tc_columns *x = &b[n / MMA_N];
    if (!p->sparse && tc_tile(p, part, first, n, &rows, &x->tile, frac)) continue;
    if (!is_split) split_a(p, &part->a[tc_row_of_a(p, first, bank)], &a);
    is_split = true;
    const struct mma_b *halves = halves_of(p, x, &columns[n], room);
    for (unsigned i = 0; i < MMA_M; i++) {
      uint8_t from[TC_ROW_MAX];
      row_choice(p, part->memory, first + i, bank, from);
      float_row(p, part, &a, first, i, n, choose(p, halves, from, &chosen), frac);
    }
  }
}

static void float_product(const struct tc_product *p, struct tc_operands *o, int32_t frac)
{
  struct tc_columns b[TC_COLUMNS / MMA_N];
  take_columns(p, o, b, frac);
  for (unsigned t = 0; t < p->ctas * p->rows; t += MMA_M) {
    struct tc_part *part = &o->part[t / p->rows];
    for (unsigned bank = 0; bank < p->banks; bank++)
      float_rows(p, part, t % p->rows, bank, o->b, b, frac);
  }
}

/* ---- block scales ------------------------------------------------------------------------------- */

enum { E8_BIAS = 127, E8_NAN = 255 };

/* Where scales are: the first ones' column, how many columns until those behind the first four; the first byte. */
struct tc_scale_place {
  unsigned column, next, byte;
};

/* The scales of row or column i, the first one lowest, as the lanes of a quarter have them. */
static uint64_t scale_word(const struct tensor_memory *t, struct tc_scale_place x, unsigned quarter, unsigned i)
{
  const uint32_t *lane = t->word[quarter * TMEM_QUARTER + i % TMEM_QUARTER] + x.column + i / TMEM_QUARTER;
  return lane_join(lane[0], x.next ? lane[x.next] : 0) >> 8 * x.byte;
}

/* Of 16 rows and all columns, as the lanes see them in which the rows' results are: those of each part of the columns
 * count from its first one. */
struct tc_scales {
  uint64_t a[MMA_M][TC_BANKS], b[TC_COLUMNS];
};

static void load_scales(struct tc_scales *s, const struct tc_product *p, const struct tc_part *part, unsigned first)
{
  const unsigned width = p->columns / p->banks;
  const bool more = p->row_bytes > TC_ROW;
  const unsigned next_b = (p->columns + TC_ROWS - 1) / TC_ROWS * TC_ROWS / p->banks / TMEM_QUARTER;
  const struct tc_scale_place a = {p->scale_a, more ? TC_ROWS / TMEM_QUARTER : 0, p->id_a};
  const struct tc_scale_place b = {p->scale_b, more ? next_b : 0, p->id_b};
  for (unsigned bank = 0; bank < p->banks; bank++) {
    const unsigned quarter = tc_lane(p, p->d_at, first, bank) / TMEM_QUARTER;
    for (unsigned i = 0; i < MMA_M; i++)
      s->a[i][bank] = scale_word(part->memory, a, quarter, first + i);
    for (unsigned n = 0; n < width; n++)
      s->b[bank * width + n] = scale_word(part->memory, b, quarter, n);
  }
}

/* Powers of two move exponents. */
static void scaled_bytes(const struct tc_product *p, const struct tc_scales *s, struct mma_a *a, const struct mma_b *b,
                         unsigned i, unsigned n, int32_t frac, uint32_t c[MMA_N])
{
  const uint32_t scale_a = (uint32_t)s->a[i][n / (p->columns / p->banks)] & 0xff;
  struct mma_b moved = *b;
  for (unsigned k = 0; k < p->depth; k++)
    for (unsigned j = 0; j < MMA_N; j++)
      moved.exp[k][j] += (int32_t)scale_a + (int32_t)(s->b[n + j] & 0xff) - 2 * E8_BIAS;
  mma_block(c, a, i, &moved, 0, p->depth, MMA_F16, p->d == TC_D_F32, frac);
  for (unsigned j = 0; j < MMA_N; j++)
    if (scale_a == E8_NAN || (s->b[n + j] & 0xff) == E8_NAN) c[j] = F32_NAN;
}

static void scaled_nibbles(const struct tc_product *p, const struct tc_scales *s, const uint8_t *a,
                           uint8_t (*b)[TC_ROW_MAX], const uint8_t from[TC_ROW_MAX], unsigned i, unsigned n,
                           struct fp4_scaling how, uint32_t c[MMA_N])
{
  const bool negative = p->negate_a != p->negate_b;
  for (unsigned j = 0; j < MMA_N; j++) {
    int32_t sums[FP4_MAX_GROUPS] = {0};
    for (unsigned k = 0; k < p->depth; k++) {
      const uint8_t x = a[k], y = b[n + j][from[k]];
      sums[2 * k / FP4_GROUP] += fp4_twice(x & 15) * fp4_twice(y & 15) + fp4_twice(x >> 4) * fp4_twice(y >> 4);
    }
    for (unsigned g = 0; g < FP4_MAX_GROUPS && negative; g++) sums[g] = -sums[g];
    c[j] = fp4_element(c[j], s->a[i][n / (p->columns / p->banks)], s->b[n + j], sums, 2 * p->depth / FP4_GROUP, how);
  }
}

static void take_fp4_rows(const struct tc_product *p, uint8_t (*rows)[TC_ROW_MAX], const struct tc_scales *s,
                          unsigned bank, struct fp4_scaling how, struct fp4_rows *a)
{
  _Alignas(64) uint32_t word[FP4_WORDS * MMA_M];
  fp4_words(word, MMA_M, rows);
  fp4_take(a->twice[0], word, MMA_M, p->row_bytes / 4, false);
  a->nan = false;
  for (unsigned i = 0; i < MMA_M; i++)
    fp4_take_scales(a->sig[0], a->exp[0], &a->nan, i, MMA_M, s->a[i][bank], 2 * p->depth / FP4_GROUP, how);
}

/* What 16 rows of a scaled product are, as far as it is known. */
struct scaled_rows {
  struct tc_part *part;
  unsigned first, bank;
  const struct tc_scales *scales;
  int32_t frac;
  struct fp4_scaling how;
  bool tiles;                /* the rows are for the fast way, and here: */
  struct mma_tile_rows tile; /* bytes, */
  struct fp4_rows fp4;       /* FP4 */
  struct mma_a split;        /* for the other way */
  bool is_split;
};

static void take_scaled_rows(const struct tc_product *p, struct scaled_rows *x)
{
  uint32_t scale[MMA_M];
  x->is_split = false;
  x->tiles = !p->sparse;
  if (p->sparse) return;
  if (p->fp4) {
    take_fp4_rows(p, &x->part->a[tc_row_of_a(p, x->first, x->bank)], x->scales, x->bank, x->how, &x->fp4);
    return;
  }
  const struct mma_shape s = tile_shape(p, x->frac);
  take_rows(p, x->part, x->first, x->bank, &x->tile, x->frac);
  for (unsigned i = 0; i < MMA_M; i++) scale[i] = (uint32_t)x->scales->a[i][x->bank];
  x->tiles = mma_scale_rows(&x->tile, scale, &s);
}

/* D of these rows and eight columns of FP4 by the host's arithmetic. False: the operands are not for that. */
static bool scaled_fp4_tile(const struct tc_product *p, const struct scaled_rows *x, unsigned n, struct fp4_columns *b)
{
  const unsigned groups = 2 * p->depth / FP4_GROUP;
  struct mma_sums sums;
  b->nan = false;
  for (unsigned j = 0; j < MMA_N; j++)
    fp4_take_scales(b->sig[0], b->exp[0], &b->nan, j, MMA_N, x->scales->b[n + j], groups, x->how);
  tc_load_tile(p, x->part, x->first, n, &sums);
  if (!fp4_tile(&sums, &x->fp4, b, groups, x->how)) return false;
  tc_store_tile(p, x->part, x->first, n, &sums);
  return true;
}

/* The same of bytes and of FP4. */
static bool scaled_tile(const struct tc_product *p, struct scaled_rows *x, unsigned n, struct tc_columns *b)
{
  if (!x->tiles) return false;
  if (p->fp4) return scaled_fp4_tile(p, x, n, &b->fp4);
  const struct mma_shape s = tile_shape(p, x->frac);
  struct mma_tile_columns columns = b->tile;
  uint32_t scale[MMA_N];
  for (unsigned j = 0; j < MMA_N; j++) scale[j] = (uint32_t)x->scales->b[n + j];
  return mma_scale_columns(&columns, scale, &s) && tc_tile(p, x->part, x->first, n, &x->tile, &columns, x->frac);
}

/* The same row by row, whatever the operands are. */
static void scaled_columns(const struct tc_product *p, struct scaled_rows *x, unsigned n, struct tc_columns *b,
                           uint8_t (*columns)[TC_ROW_MAX])
{
  uint8_t(*rows)[TC_ROW_MAX] = &x->part->a[tc_row_of_a(p, x->first, x->bank)];
  struct mma_b room[2], chosen;
  const struct mma_b *halves = p->fp4 ? NULL : halves_of(p, b, &columns[n], room);
  if (!p->fp4 && !x->is_split) split_a(p, rows, &x->split);
  x->is_split = true;
  for (unsigned i = 0; i < MMA_M; i++) {
    uint32_t c[MMA_N], *d = d_row(p, x->part, x->first + i, n);
    uint8_t from[TC_ROW_MAX];
    row_choice(p, x->part->memory, x->first + i, x->bank, from);
    load_d(c, d, p);
    if (p->fp4) scaled_nibbles(p, x->scales, rows[i], columns, from, i, n, x->how, c);
    else scaled_bytes(p, x->scales, &x->split, choose(p, halves, from, &chosen), i, n, x->frac, c);
    memcpy(d, c, sizeof c);
  }
}

void SEM_NAME(tc_multiply_scaled)(const struct tc_product *p, struct tc_operands *o, int32_t frac,
                                  struct fp4_scaling how)
{
  const unsigned width = p->columns / p->banks;
  struct tc_columns b[TC_COLUMNS / MMA_N];
  struct tc_scales scales;
  take_columns(p, o, b, frac);
  for (unsigned t = 0; t < p->ctas * p->rows; t += MMA_M) {
    struct scaled_rows x = {.part = &o->part[t / p->rows], .first = t % p->rows, .scales = &scales, .frac = frac,
                            .how = how};
    load_scales(&scales, p, x.part, x.first);
    for (x.bank = 0; x.bank < p->banks; x.bank++) {
      take_scaled_rows(p, &x);
      for (unsigned n = x.bank * width; n < (x.bank + 1) * width; n += MMA_N) {
        if (!scaled_tile(p, &x, n, &b[n / MMA_N])) scaled_columns(p, &x, n, &b[n / MMA_N], o->b);
      }
    }
  }
}

/* ---- integers ----------------------------------------------------------------------------------- */

static void widen(const uint8_t *row, unsigned n, bool is_signed, int16_t *to)
{
  for (unsigned k = 0; k < n; k++) to[k] = is_signed ? (int8_t)row[k] : row[k];
}

static uint32_t int_result(int64_t x, bool saturate)
{
  if (!saturate) return (uint32_t)x;
  return (uint32_t)(x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : x);
}

static void int_product(const struct tc_product *p, struct tc_operands *o)
{
  int16_t a[TC_ROW], b[TC_COLUMNS][TC_ROW_MAX];
  for (unsigned n = 0; n < p->columns; n++) widen(o->b[n], TC_ROW * (p->sparse ? 2 : 1), p->format_b, b[n]);
  for (unsigned t = 0; t < p->ctas * p->rows * p->banks; t++) {
    const unsigned width = p->columns / p->banks, bank = t / (p->ctas * p->rows), row = t % p->rows;
    struct tc_part *part = &o->part[t / p->rows % p->ctas];
    uint8_t from[TC_ROW_MAX];
    widen(part->a[tc_row_of_a(p, row, bank)], TC_ROW, p->format_a, a);
    row_choice(p, part->memory, row, bank, from);
    for (unsigned n = bank * width; n < (bank + 1) * width; n += MMA_N) {
      uint32_t *d = d_row(p, part, row, n);
      for (unsigned j = 0; d && j < MMA_N; j++) {
        const int16_t *y = b[n + j];
        int16_t chosen[TC_ROW];
        int32_t sum = 0;
        for (unsigned k = 0; k < TC_ROW && p->sparse; k++) chosen[k] = y[from[k]];
        if (p->sparse) y = chosen;
        for (unsigned k = 0; k < TC_ROW; k++) sum += a[k] * y[k];
        d[j] = int_result((p->adds ? (int64_t)(int32_t)d[j] : 0) + sum, p->saturates);
      }
    }
  }
}

void SEM_NAME(tc_multiply)(const struct tc_product *p, struct tc_operands *o, int32_t frac)
{
  if (p->integer) int_product(p, o);
  else float_product(p, o, frac);
}
