/* UTCHMMA, UTCIMMA, UTCQMMA, UTCOMMA: products into tensor memory (tcgen05.mma). Part of sem_mma_handler.
 *
 * One instruction multiplies M rows of A, in shared or tensor memory, by N columns of B, in shared memory, k being 32
 * bytes of a row; a pair of CTAs holds half of the rows and half of the columns in each. What it multiplies is in its
 * instruction descriptor (NVIDIA CUTLASS, mma_sm100_desc.hpp):
 *
 *   bits  5:4 D: FP16, FP32, S32   9:7, 12:10 formats of A, B   13, 14 negated   15, 16 rows contiguous
 *         22:17 N / 8              28:24 M / 16 (of a pair: both)                2 sparse, 3 saturates
 *   with scales: 5:4, 30:29 byte of B's, A's scales in a word; 23 powers of two, else UE4M3; 31 k is 48 bytes
 *
 * Rows in tensor memory (PTX ISA, data path layouts): 128 of a CTA in lane i, columns beside each other; 64 in lane
 * i % 16 + 32 (i / 16); 64 in each CTA of a pair in lane i, of the upper half of the columns in lane 64 + i. FP16
 * results have a word each.
 *
 * One fused sum over the whole of k and D, aligned to the largest exponent and truncated, as mma_float.h does it:
 * 25 fraction bits, blocks as long as k (MMA-Sim, arXiv 2511.10909). Pairs, FP6 and D's scale are not covered there and
 * are taken alike.
 *
 * The hardware reads and writes later, until a commit's mbarrier is told; a program must not look meanwhile, so it is
 * all done at once here.
 *
 * Scales (NVIDIA CUTLASS, mma_traits_sm100.hpp): of row or column i in lane i % 32 of each quarter of the lanes, column
 * i / 32 from their address on, one byte for 32 elements, of FP4 two, or four for 16.
 */
#include "func/sass/cluster.h"
#include "func/sass/func_launch.h"
#include "func/sass/guest_fault.h"
#include "func/sass/mma_fp4.h"
#include "func/sass/mma_frag.h"
#include "func/sass/mma_narrow.h"
#include "func/sass/sem_fp_part.h"
#include "func/sass/tc_matrix.h"
#include "func/sass/tensor_memory.h"

enum { MAX_ROWS = 128, MAX_COLUMNS = 256, MAX_CTAS = 2, HALF = 64, MASK_WORDS = 4 };
enum tc_d { D_F16, D_F32, D_S32 };

/* What an instruction descriptor and the instruction ask for. */
struct tc_product {
  uint32_t idesc;
  unsigned rows, columns;    /* of each CTA; of the whole product */
  unsigned ctas;
  unsigned format_a, format_b, bytes; /* bytes of an element in memory */
  enum tc_d d;
  bool negate_a, negate_b, adds, integer, saturates;
  unsigned shift;            /* D * 2^-shift */
  bool narrow_pair;          /* 64 rows in each CTA of a pair */
  bool a_in_tmem;
  uint32_t a_at, d_at;       /* addresses in tensor memory */
  bool scaled, fp4, e8;      /* block scales; packed FP4; scales are powers of two */
  unsigned scale_a, scale_b; /* columns of the scales */
  unsigned id_a, id_b;       /* byte of the first one in its word */
};

/* One CTA's part. */
struct tc_part {
  struct func_cta *cta;
  struct tensor_memory *memory;
  uint32_t keep[MASK_WORDS]; /* lanes of D that stay as they are */
  uint8_t a[MAX_ROWS][TC_ROW];
};

struct tc_operands {
  struct tc_part part[MAX_CTAS];
  uint8_t b[MAX_COLUMNS][TC_ROW];
};

static unsigned field(uint32_t v, unsigned at, unsigned n)
{
  return v >> at & ((1u << n) - 1);
}

static bool refuse(const struct func_warp *w, const struct effect *e, struct fault *f, const char *what, uint32_t idesc)
{
  return func_fault(w, e, f, FAULT_UNSUPPORTED, 0, idesc, "tcgen05.mma: %s (instruction descriptor 0x%08x)", what,
                    idesc);
}

/* ---- what is asked for ------------------------------------------------------------------------ */

static bool read_formats(struct tc_product *p, enum sass_sem sem)
{
  enum { TF32_FORMAT = 2, KINDS16 = 3, NEGATE_A = 13, NEGATE_B = 14 };
  static const uint8_t narrow[8] = {MMA_E4M3, MMA_E5M2, 0xff, 4, 3, 5, 0xff, 0xff}; /* to codes of mma_narrow */
  p->format_a = field(p->idesc, 7, 3);
  p->format_b = field(p->idesc, 10, 3);
  p->negate_a = field(p->idesc, NEGATE_A, 1);
  p->negate_b = field(p->idesc, NEGATE_B, 1);
  p->d = (enum tc_d)field(p->idesc, 4, 2);
  if (sem == SEM_UTCHMMA) {
    const bool tf32 = p->format_a == TF32_FORMAT;
    p->bytes = tf32 ? 4 : 2;
    return p->format_a < KINDS16 && p->format_a == p->format_b && p->d <= D_F32 && !(p->d == D_F16 && p->format_a);
  }
  p->bytes = 1;
  if (sem == SEM_UTCIMMA) {
    p->integer = true;
    p->saturates = field(p->idesc, 3, 1);
    return p->format_a < 2 && p->format_b < 2 && p->d == D_S32 && !p->negate_a && !p->negate_b;
  }
  if (sem == SEM_UTCOMMA) return p->format_a == 1 && p->format_b == 1;
  p->format_a = narrow[p->format_a];
  p->format_b = narrow[p->format_b];
  return p->format_a != 0xff && p->format_b != 0xff && (sem == SEM_UTCQMMA_SF || p->d <= D_F32);
}

/* Block scales: their format, where they are. Their bits in the instruction descriptor are those of D's format. */
static bool read_scales(struct tc_product *p, const struct func_warp *w, const struct sass_inst *s)
{
  enum { POWERS_AT = 23, ID_B = 4, ID_A = 29, LONG_K = 31, BYTE_OF_ADDRESS = 0x3fffffff };
  const unsigned ur = (unsigned)sass_get(s, FLD_TC_AUX);
  const uint32_t a = warp_uniform(w, ur) & BYTE_OF_ADDRESS, b = warp_uniform(w, ur + 1) & BYTE_OF_ADDRESS;
  const unsigned columns = TMEM_COLUMNS - MAX_COLUMNS / TMEM_QUARTER;
  p->fp4 = s->sem == SEM_UTCOMMA;
  p->d = D_F32;
  p->e8 = field(p->idesc, POWERS_AT, 1);
  p->id_a = field(p->idesc, ID_A, 2);
  p->id_b = field(p->idesc, ID_B, 2);
  p->scale_a = tmem_column(a), p->scale_b = tmem_column(b);
  if (tmem_lane(a) || tmem_lane(b) || p->scale_a > columns || p->scale_b > columns) return false;
  if (field(p->idesc, LONG_K, 1) || (!p->fp4 && !p->e8)) return false;
  return !p->fp4 || (!(p->id_a % 2) && !(p->id_b % 2));
}

static bool read_shape(struct tc_product *p)
{
  const unsigned m = field(p->idesc, 24, 5) * 16, n = field(p->idesc, 17, 6) * 8;
  const unsigned step = p->ctas == 2 ? 16 : 8;
  p->columns = n;
  p->rows = m / p->ctas;
  p->narrow_pair = p->ctas == 2 && m == MAX_ROWS;
  return (p->rows == HALF || p->rows == MAX_ROWS) && n >= step && n <= MAX_COLUMNS && n % step == 0;
}

/* D's lanes and columns, and A's, are those of the memory. */
static bool places_fit(const struct tc_product *p)
{
  enum { HALF_LANES = 16 };
  const unsigned width = p->narrow_pair ? p->columns / 2 : p->columns;
  const bool may_shift = p->rows == HALF && p->ctas == 1;
  const unsigned d = tmem_lane(p->d_at), a = tmem_lane(p->a_at);
  if (tmem_column(p->d_at) + width > TMEM_COLUMNS || !(d == 0 || (may_shift && d == HALF_LANES))) return false;
  if (!p->a_in_tmem) return true;
  return tmem_column(p->a_at) + TC_ROW / 4 <= TMEM_COLUMNS && (a == 0 || (may_shift && a == HALF_LANES));
}

static bool take_product(struct tc_product *p, struct func_warp *w, const struct uop *u, const struct effect *e,
                         struct fault *f)
{
  const struct sass_inst *s = u->s;
  *p = (struct tc_product){
      .idesc = warp_uniform(w, (unsigned)sass_get(s, FLD_TC_META) + 1),
      .ctas = 1 + (unsigned)sass_get(s, FLD_TMA_2CTA),
      .adds = pred_read(w, u->pp, u->pp_xor) & 1,
      .shift = (unsigned)sass_get(s, FLD_TC_SHIFT),
      .a_in_tmem = u->imm,
      .d_at = warp_uniform(w, s->src[2].index),
  };
  if (p->a_in_tmem) p->a_at = warp_uniform(w, s->src[0].index);
  if (field(p->idesc, 2, 1)) return refuse(w, e, f, "sparse products are not modelled", p->idesc);
  if (!read_formats(p, (enum sass_sem)s->sem)) return refuse(w, e, f, "no such formats", p->idesc);
  p->scaled = s->sem == SEM_UTCQMMA_SF || s->sem == SEM_UTCOMMA;
  if (p->scaled && !read_scales(p, w, s)) return refuse(w, e, f, "no such scales, or k of 96", p->idesc);
  if (!read_shape(p)) return refuse(w, e, f, "no such shape", p->idesc);
  if (p->scaled && p->rows != MAX_ROWS) return refuse(w, e, f, "scales of 64 rows are not modelled", p->idesc);
  if (!places_fit(p))
    return refuse(w, e, f, "an address outside tensor memory, or in a lane where no product begins", p->idesc);
  return true;
}

/* ---- operands --------------------------------------------------------------------------------- */

static bool read_shared(struct func_warp *w, const struct effect *e, struct fault *f, const struct func_cta *cta,
                        uint64_t descriptor, bool transposed, unsigned n, unsigned bytes, uint8_t (*rows)[TC_ROW])
{
  const struct tc_shared shared = {cta->shared, w->launch->shared_limit};
  struct tc_matrix x;
  uint32_t at;
  if (!tc_matrix_read(&x, descriptor, transposed))
    return refuse(w, e, f, "no such swizzle mode", (uint32_t)(descriptor >> 32));
  if (tc_rows(&shared, &x, n, TC_CHUNKS, bytes, rows, &at)) return true;
  return func_fault(w, e, f, FAULT_SHARED_RANGE, 0, at,
                    "a matrix descriptor names shared address 0x%x, outside the %u bytes of the CTA", at, shared.limit);
}

static uint64_t pair_of_registers(const struct func_warp *w, unsigned ur)
{
  return lane_join(warp_uniform(w, ur), warp_uniform(w, ur + 1));
}

/* The lane of row i; `upper`: of the upper half of a narrow pair's columns. */
static unsigned lane_of(const struct tc_product *p, uint32_t at, unsigned i, bool upper)
{
  if (p->narrow_pair) return i + (upper ? HALF : 0);
  return p->rows == HALF ? tmem_lane(at) + i % 16 + 32 * (i / 16) : i;
}

/* FP4 and FP6 lie packed at the start of 16 bytes of shared memory, and in bytes of tensor memory (PTX ISA, packing
 * formats). */
static void unpack(uint8_t (*rows)[TC_ROW], unsigned n, unsigned format)
{
  const unsigned bits = 1u + mma_narrow[format].frac + mma_narrow[format].exp, up = bits == 4 ? 2 : 0;
  if (bits == 8) return;
  for (unsigned i = 0; i < n; i++)
    for (unsigned c = 0; c < TC_ROW; c += TC_CHUNK) {
      uint8_t packed[TC_CHUNK + 1] = {0};
      memcpy(packed, rows[i] + c, TC_CHUNK);
      for (unsigned k = 0; k < TC_CHUNK; k++) {
        const unsigned at = k * bits, two = packed[at / 8] | (unsigned)packed[at / 8 + 1] << 8;
        rows[i][c + k] = (uint8_t)((two >> at % 8 & ((1u << bits) - 1)) << up);
      }
    }
}

static bool read_a(struct func_warp *w, const struct uop *u, const struct tc_product *p, struct tc_part *part,
                   const struct effect *e, struct fault *f)
{
  if (p->a_in_tmem) {
    for (unsigned i = 0; i < p->rows; i++)
      memcpy(part->a[i], &part->memory->word[lane_of(p, p->a_at, i, false)][tmem_column(p->a_at)], TC_ROW);
    return true;
  }
  const uint64_t descriptor = pair_of_registers(w, u->s->src[0].index);
  if (!read_shared(w, e, f, part->cta, descriptor, field(p->idesc, 15, 1), p->rows, p->bytes, part->a)) return false;
  if (p->bytes == 1 && !p->integer && !p->fp4) unpack(part->a, p->rows, p->format_a);
  return true;
}

static bool read_b(struct func_warp *w, const struct uop *u, const struct tc_product *p, struct tc_operands *o,
                   const struct effect *e, struct fault *f)
{
  const unsigned n = p->columns / p->ctas;
  const uint64_t descriptor = pair_of_registers(w, u->s->src[1].index);
  for (unsigned c = 0; c < p->ctas; c++)
    if (!read_shared(w, e, f, o->part[c].cta, descriptor, field(p->idesc, 16, 1), n, p->bytes, &o->b[c * n]))
      return false;
  if (p->bytes == 1 && !p->integer && !p->fp4) unpack(o->b, p->columns, p->format_b);
  return true;
}

static void read_masks(struct func_warp *w, const struct uop *u, const struct tc_product *p, struct tc_operands *o)
{
  const unsigned ur = (unsigned)sass_get(u->s, FLD_TC_AUX);
  for (unsigned c = 0; c < p->ctas; c++)
    for (unsigned i = 0; i < MASK_WORDS; i++)
      o->part[c].keep[i] = p->scaled || ur == SASS_URZ ? 0 : warp_uniform(w, ur + c * MASK_WORDS + i);
}

static bool read_operands(struct func_warp *w, const struct uop *u, const struct tc_product *p, struct tc_operands *o,
                          const struct effect *e, struct fault *f)
{
  o->part[0].cta = w->cta;
  if (p->ctas == 2) {
    if (w->cta->rank & 1)
      return func_fault(w, e, f, FAULT_ILLEGAL_INST, 0, 0, "a product of a pair of CTAs, issued by the second of them");
    if (!(o->part[1].cta = tensor_pair(w, e, f))) return false;
  }
  for (unsigned c = 0; c < p->ctas; c++) {
    o->part[c].memory = tensor_memory_of(o->part[c].cta);
    if (!read_a(w, u, p, &o->part[c], e, f)) return false;
  }
  read_masks(w, u, p, o);
  return read_b(w, u, p, o, e, f);
}

/* ---- D ------------------------------------------------------------------------------------------ */

/* Eight columns of a row in tensor memory; NULL: they stay as they are. */
static uint32_t *d_row(const struct tc_product *p, struct tc_part *part, unsigned row, unsigned column)
{
  const bool upper = p->narrow_pair && column >= p->columns / 2;
  const unsigned lane = lane_of(p, p->d_at, row, upper);
  if (part->keep[lane / 32] >> lane % 32 & 1) return NULL;
  return &part->memory->word[lane][tmem_column(p->d_at) + column - (upper ? p->columns / 2 : 0)];
}

static uint32_t scaled_down(uint32_t c, const struct tc_product *p)
{
  const float half = bits_f32((127u - p->shift) << 23);
  if (!p->shift) return c;
  return p->d == D_F32 ? f32_bits(bits_f32(c) * half) : f16_from_f32(f32_bits(bits_f32(f32_from_f16(c)) * half));
}

static void load_d(uint32_t c[MMA_N], const uint32_t *d, const struct tc_product *p)
{
  for (unsigned n = 0; n < MMA_N; n++)
    c[n] = !p->adds ? 0 : scaled_down(p->d == D_F16 ? d[n] & 0xffff : d[n], p);
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

static void split_a(const struct tc_product *p, uint8_t (*rows)[TC_ROW], struct mma_a *a)
{
  a->special = false;
  for (unsigned i = 0; i < MMA_M; i++)
    for (unsigned k = 0; k < TC_ROW / p->bytes; k++)
      a->special |= split(p, rows[i], k, p->format_a, p->negate_a, &a->bits[i][k], &a->sig[i][k], &a->exp[i][k]);
}

static void split_b(const struct tc_product *p, uint8_t (*columns)[TC_ROW], struct mma_b *b)
{
  b->special = false;
  for (unsigned n = 0; n < MMA_N; n++)
    for (unsigned k = 0; k < TC_ROW / p->bytes; k++)
      b->special |= split(p, columns[n], k, p->format_b, p->negate_b, &b->bits[k][n], &b->sig[k][n], &b->exp[k][n]);
}

static void float_product(const struct tc_product *p, struct tc_operands *o, unsigned frac)
{
  const unsigned depth = TC_ROW / p->bytes;
  const enum mma_type type = p->bytes == 1 ? MMA_F16 : (enum mma_type)p->format_a;
  struct mma_b b[MAX_COLUMNS / MMA_N];
  struct mma_a a;
  for (unsigned n = 0; n < p->columns; n += MMA_N) split_b(p, &o->b[n], &b[n / MMA_N]);
  for (unsigned t = 0; t < p->ctas * p->rows; t += MMA_M) {
    struct tc_part *part = &o->part[t / p->rows];
    const unsigned first = t % p->rows;
    split_a(p, &part->a[first], &a);
    for (unsigned i = 0; i < MMA_M; i++)
      for (unsigned n = 0; n < p->columns; n += MMA_N) {
        uint32_t c[MMA_N], *d = d_row(p, part, first + i, n);
        if (!d) continue;
        load_d(c, d, p);
        mma_block(c, &a, i, &b[n / MMA_N], 0, depth, type, p->d == D_F32, (int32_t)frac);
        memcpy(d, c, sizeof c);
      }
  }
}

/* ---- block scales ------------------------------------------------------------------------------- */

enum { E8_BIAS = 127, E8_NAN = 255 };

/* The word with the scales of row or column i, the selected byte lowest, as the lanes of a quarter have it. */
static uint32_t scale_word(const struct tensor_memory *t, unsigned column, unsigned quarter, unsigned i, unsigned byte)
{
  return t->word[quarter * TMEM_QUARTER + i % TMEM_QUARTER][column + i / TMEM_QUARTER] >> 8 * byte;
}

/* Of 16 rows: their scales; of the columns, those that the rows' quarter sees. */
struct tc_scales {
  uint32_t a[MMA_M], b[MAX_COLUMNS];
};

static void load_scales(struct tc_scales *s, const struct tc_product *p, const struct tc_part *part, unsigned first)
{
  const unsigned quarter = first / TMEM_QUARTER;
  for (unsigned i = 0; i < MMA_M; i++) s->a[i] = scale_word(part->memory, p->scale_a, quarter, first + i, p->id_a);
  for (unsigned n = 0; n < p->columns; n++) s->b[n] = scale_word(part->memory, p->scale_b, quarter, n, p->id_b);
}

/* Powers of two move exponents. */
static void scaled_bytes(const struct tc_product *p, const struct tc_scales *s, struct mma_a *a, const struct mma_b *b,
                         unsigned i, unsigned n, int32_t frac, uint32_t c[MMA_N])
{
  struct mma_b moved = *b;
  for (unsigned k = 0; k < TC_ROW; k++)
    for (unsigned j = 0; j < MMA_N; j++)
      moved.exp[k][j] += (int32_t)(s->a[i] & 0xff) + (int32_t)(s->b[n + j] & 0xff) - 2 * E8_BIAS;
  mma_block(c, a, i, &moved, 0, TC_ROW, MMA_F16, p->d == D_F32, frac);
  for (unsigned j = 0; j < MMA_N; j++)
    if ((s->a[i] & 0xff) == E8_NAN || (s->b[n + j] & 0xff) == E8_NAN) c[j] = F32_NAN;
}

static void scaled_nibbles(const struct tc_product *p, const struct tc_scales *s, const uint8_t *a,
                           uint8_t (*b)[TC_ROW], unsigned i, unsigned n, struct fp4_scaling how, uint32_t c[MMA_N])
{
  const bool negative = p->negate_a != p->negate_b;
  for (unsigned j = 0; j < MMA_N; j++) {
    int32_t sums[FP4_MAX_GROUPS] = {0};
    for (unsigned k = 0; k < TC_ROW; k++) {
      const uint8_t x = a[k], y = b[n + j][k];
      sums[2 * k / FP4_GROUP] += fp4_twice(x & 15) * fp4_twice(y & 15) + fp4_twice(x >> 4) * fp4_twice(y >> 4);
    }
    for (unsigned g = 0; g < FP4_MAX_GROUPS && negative; g++) sums[g] = -sums[g];
    c[j] = fp4_element(c[j], s->a[i], s->b[n + j], sums, FP4_MAX_GROUPS, how);
  }
}

static void scaled_product(const struct tc_product *p, struct tc_operands *o, struct fp4_scaling how, int32_t frac)
{
  struct mma_b b[MAX_COLUMNS / MMA_N];
  struct tc_scales scales;
  struct mma_a a;
  for (unsigned n = 0; n < p->columns && !p->fp4; n += MMA_N) split_b(p, &o->b[n], &b[n / MMA_N]);
  for (unsigned t = 0; t < p->ctas * p->rows; t += MMA_M) {
    struct tc_part *part = &o->part[t / p->rows];
    const unsigned first = t % p->rows;
    load_scales(&scales, p, part, first);
    if (!p->fp4) split_a(p, &part->a[first], &a);
    for (unsigned i = 0; i < MMA_M; i++)
      for (unsigned n = 0; n < p->columns; n += MMA_N) {
        uint32_t c[MMA_N], *d = d_row(p, part, first + i, n);
        load_d(c, d, p);
        if (p->fp4) scaled_nibbles(p, &scales, part->a[first + i], o->b, i, n, how, c);
        else scaled_bytes(p, &scales, &a, &b[n / MMA_N], i, n, frac, c);
        memcpy(d, c, sizeof c);
      }
  }
}

/* ---- integers ----------------------------------------------------------------------------------- */

static void widen(const uint8_t *row, bool is_signed, int16_t *to)
{
  for (unsigned k = 0; k < TC_ROW; k++) to[k] = is_signed ? (int8_t)row[k] : row[k];
}

static uint32_t int_result(int64_t x, bool saturate)
{
  if (!saturate) return (uint32_t)x;
  return (uint32_t)(x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : x);
}

static void int_product(const struct tc_product *p, struct tc_operands *o)
{
  int16_t a[TC_ROW], b[MAX_COLUMNS][TC_ROW];
  for (unsigned n = 0; n < p->columns; n++) widen(o->b[n], p->format_b, b[n]);
  for (unsigned t = 0; t < p->ctas * p->rows; t++) {
    struct tc_part *part = &o->part[t / p->rows];
    widen(part->a[t % p->rows], p->format_a, a);
    for (unsigned n = 0; n < p->columns; n += MMA_N) {
      uint32_t *d = d_row(p, part, t % p->rows, n);
      for (unsigned j = 0; d && j < MMA_N; j++) {
        int32_t sum = 0;
        for (unsigned k = 0; k < TC_ROW; k++) sum += a[k] * b[n + j][k];
        d[j] = int_result((p->adds ? (int64_t)(int32_t)d[j] : 0) + sum, p->saturates);
      }
    }
  }
}

/* ---- handlers ----------------------------------------------------------------------------------- */

static void tell_work(const struct tc_product *p, struct effect *e)
{
  e->tensor = (struct tensor_work){.a_bytes = p->a_in_tmem ? 0 : p->rows * TC_ROW,
                                   .b_bytes = p->columns / p->ctas * TC_ROW,
                                   .columns = (uint16_t)p->columns,
                                   .ctas = (uint8_t)p->ctas,
                                   .narrow = p->narrow_pair};
}

LANE_HANDLER(utcmma)
{
  struct tc_product p;
  struct tc_operands o;
  (void)m;
  if (!take_product(&p, w, u, e, f) || !read_operands(w, u, &p, &o, e, f)) return false;
  tell_work(&p, e);
  if (p.integer) int_product(&p, &o);
  else float_product(&p, &o, p.bytes == 1 ? mma_arch(w->launch->p.sm)->frac8 : mma_arch(w->launch->p.sm)->frac);
  return true;
}

/* u->imm2: a scale for 16 FP4 elements, else for 32. */
LANE_HANDLER(utcmma_scaled)
{
  struct tc_product p;
  struct tc_operands o;
  (void)m;
  if (!take_product(&p, w, u, e, f)) return false;
  if (p.fp4 && !u->imm2 && !p.e8) return refuse(w, e, f, "no such scales", p.idesc);
  if (!read_operands(w, u, &p, &o, e, f)) return false;
  tell_work(&p, e);
  scaled_product(&p, &o, (struct fp4_scaling){!p.e8, u->imm2 ? 1 : 2}, mma_arch(w->launch->p.sm)->frac8);
  return true;
}

uop_fn *SEM_NAME(sem_utcmma_part)(const struct sass_inst *s, struct uop *u)
{
  enum { A_FROM_TMEM = 0x19ea, A_FROM_TMEM_SCALED = 0x1fea };
  const unsigned opcode = (unsigned)s->val[0];
  if (sass_get(s, FLD_TC_WS) || sass_get(s, FLD_TC_ASHIFT) || sass_get(s, FLD_TC_META) % 2) return NULL;
  u->flags |= UOP_FAULTS;
  u->imm = opcode == A_FROM_TMEM || opcode == A_FROM_TMEM_SCALED;
  u->imm2 = s->sem == SEM_UTCOMMA && !sass_get(s, FLD_TC_4X) && !sass_get(s, FLD_TC_BLOCK16);
  return s->sem == SEM_UTCQMMA_SF || s->sem == SEM_UTCOMMA ? utcmma_scaled : utcmma;
}
