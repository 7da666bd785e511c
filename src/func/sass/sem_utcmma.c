/* UTCHMMA, UTCIMMA, UTCQMMA, UTCOMMA: products into tensor memory (tcgen05.mma). Part of sem_mma_handler.
 *
 * One instruction multiplies M rows of A, in shared or tensor memory, by N columns of B, in shared memory, k being 32
 * bytes of a row; a pair of CTAs holds half of the rows and half of the columns in each. What it multiplies is in its
 * instruction descriptor (NVIDIA CUTLASS, mma_sm100_desc.hpp):
 *
 *   bits  5:4 D: FP16, FP32, S32   9:7, 12:10 formats of A, B   13, 14 negated   15, 16 rows contiguous
 *         22:17 N / 8              28:24 M / 16 (of a pair: both)                2 sparse, 1:0 column of its metadata
 *         3 saturates
 *   with scales: 5:4, 30:29 byte of B's, A's scales in a word; 23 powers of two, else UE4M3; 31 k is 48 bytes
 *
 * Of a sparse product the row of A holds half of k, that of B is as long again. Rows in tensor memory: tc_product.h;
 * the arithmetic: sem_utcmma_sum.c.
 *
 * The hardware reads and writes later, until a commit's mbarrier is told; a program must not look meanwhile, so it is
 * all done at once here.
 */
#include "func/sass/cluster.h"
#include "func/sass/func_launch.h"
#include "func/sass/guest_fault.h"
#include "func/sass/sem_fp_part.h"
#include "func/sass/tc_product.h"

enum { HALF = 64, QUARTER = 32 };

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
    return p->format_a < KINDS16 && p->format_a == p->format_b && p->d <= TC_D_F32 &&
           !(p->d == TC_D_F16 && p->format_a);
  }
  p->bytes = 1;
  if (sem == SEM_UTCIMMA) {
    p->integer = true;
    p->saturates = field(p->idesc, 3, 1);
    return p->format_a < 2 && p->format_b < 2 && p->d == TC_D_S32 && !p->negate_a && !p->negate_b;
  }
  if (sem == SEM_UTCOMMA) return p->format_a == 1 && p->format_b == 1;
  p->format_a = narrow[p->format_a];
  p->format_b = narrow[p->format_b];
  return p->format_a != 0xff && p->format_b != 0xff && (sem == SEM_UTCQMMA_SF || p->d <= TC_D_F32);
}

/* Block scales: their format, where they are. Their bits in the instruction descriptor are those of D's format. */
static bool read_scales(struct tc_product *p, const struct func_warp *w, const struct sass_inst *s)
{
  enum { POWERS_AT = 23, ID_B = 4, ID_A = 29, LONG_K = 31, BYTE_OF_ADDRESS = 0x3fffffff };
  const unsigned ur = (unsigned)sass_get(s, FLD_TC_AUX);
  const uint32_t a = warp_uniform(w, ur) & BYTE_OF_ADDRESS, b = warp_uniform(w, ur + 1) & BYTE_OF_ADDRESS;
  const bool long_k = field(p->idesc, LONG_K, 1);
  const unsigned columns = TMEM_COLUMNS - (long_k ? 2 : 1) * (TC_COLUMNS / TMEM_QUARTER);
  p->fp4 = s->sem == SEM_UTCOMMA;
  p->d = TC_D_F32;
  p->e8 = field(p->idesc, POWERS_AT, 1);
  p->id_a = field(p->idesc, ID_A, 2);
  p->id_b = field(p->idesc, ID_B, 2);
  p->scale_a = tmem_column(a), p->scale_b = tmem_column(b);
  if (tmem_lane(a) || tmem_lane(b) || p->scale_a > columns || p->scale_b > columns) return false;
  if (!p->fp4 && (long_k || !p->e8)) return false;
  if (long_k) p->row_bytes = TC_ROW / 2 * 3;
  return !p->fp4 || long_k || (!(p->id_a % 2) && !(p->id_b % 2));
}

/* A pair with 64 rows in each CTA lays halves of a dense product's columns under each other, a sparse one's 64 rows as
 * a CTA alone does. Where B stays (.ws), 64 and 32 rows have two and four parts. */
static bool read_shape(struct tc_product *p)
{
  const unsigned m = field(p->idesc, 24, 5) * 16, n = field(p->idesc, 17, 6) * 8;
  const unsigned step = p->ctas == 2 ? 16 : 8;
  p->columns = n;
  p->rows = m / p->ctas;
  if (p->stationary) {
    p->banks = m ? TC_ROWS / m : 1;
    return (m == QUARTER || m == HALF || m == TC_ROWS) && (n == HALF || n == TC_ROWS || n == TC_COLUMNS);
  }
  p->banks = p->ctas == 2 && p->rows == HALF && !p->sparse ? 2 : 1;
  p->spread = p->rows == HALF && p->banks == 1;
  if (p->scaled && p->ctas == 1 && p->rows == HALF) return false;
  return (p->rows == HALF || p->rows == TC_ROWS) && n >= step && n <= TC_COLUMNS && n % step == 0;
}

/* `columns` from there on are those of the memory, the lane one where rows may begin. */
static bool place_fits(const struct tc_product *p, uint32_t at, unsigned columns)
{
  enum { HALF_LANES = 16 };
  const unsigned lane = tmem_lane(at);
  return tmem_column(at) + columns <= TMEM_COLUMNS && (lane == 0 || (p->spread && lane == HALF_LANES));
}

static bool places_fit(const struct tc_product *p)
{
  return place_fits(p, p->d_at, p->columns / p->banks) && (!p->a_in_tmem || place_fits(p, p->a_at, p->row_bytes / 4)) &&
         (!p->sparse || place_fits(p, p->meta_at, 2));
}

/* The zero-column mask of .ws (PTX ISA, zero-column mask descriptor; which span is which: its examples, and NVIDIA
 * CUTLASS, mma_sm100_desc.hpp). Each part of D's columns has spans of columns that are used and of columns that are
 * zero in turn, from the middle of one on; column n is B's column n + shift. */
struct spans {
  bool any;
  unsigned use, skip, shift;
};

static struct spans spans_of(uint64_t mask)
{
  enum { BYTE = 0xff, ANY = 39, SKIP = 40, USE = 48, SHIFT = 56, SHIFT_BITS = 0x3f };
  return (struct spans){mask >> ANY & 1, (unsigned)(mask >> USE & BYTE) + 1, (unsigned)(mask >> SKIP & BYTE) + 1,
                        (unsigned)(mask >> SHIFT & SHIFT_BITS)};
}

static bool skips_first(uint64_t mask, unsigned part)
{
  enum { FIRST = 32 };
  return mask >> (FIRST + part) & 1;
}

static unsigned start_of(uint64_t mask, unsigned part)
{
  return (unsigned)(mask >> 8 * part & 0xff);
}

/* No document says what a start behind the first span is. */
static bool read_zeros(struct tc_product *p, const struct func_warp *w, unsigned ur)
{
  enum { MOST = 30, FEW = 16 };
  const unsigned code = field(p->idesc, MOST, 2), most = code ? 4u << code : 0;
  p->zeros = p->stationary && ur != SASS_URZ ? lane_join(warp_uniform(w, ur), warp_uniform(w, ur + 1)) : 0;
  const struct spans x = spans_of(p->zeros);
  for (unsigned i = 0; x.any && i < p->banks; i++)
    if (start_of(p->zeros, i) >= (skips_first(p->zeros, i) ? x.skip : x.use)) return false;
  return x.shift <= most && (p->rows != QUARTER || x.shift <= FEW);
}

static bool is_zero(const struct tc_product *p, const struct spans *x, unsigned column)
{
  const unsigned width = p->columns / p->banks, part = column / width;
  const bool first = skips_first(p->zeros, part);
  const unsigned at = (column % width + start_of(p->zeros, part)) % (x->use + x->skip);
  return first ? at < x->skip : at >= x->use;
}

/* Metadata begins in an even column; those of 16 and 32 bits are in it or the next one (NVIDIA CUTLASS,
 * mma_traits_sm100.hpp), all others in both. */
static bool read_sparse(struct tc_product *p, uint32_t at)
{
  const unsigned selected = field(p->idesc, 0, 2);
  p->sparse = field(p->idesc, 2, 1);
  p->meta_at = at + (p->bytes == 1 ? 0 : selected);
  return !p->sparse || (!(at & 1) && p->row_bytes == TC_ROW && selected < (p->bytes > 1 ? 2 : p->scaled ? 4 : 1));
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
      .stationary = sass_get(s, FLD_TC_WS),
      .d_at = warp_uniform(w, s->src[2].index),
  };
  if (p->a_in_tmem) p->a_at = warp_uniform(w, s->src[0].index);
  if (sass_get(s, FLD_TC_ASHIFT))
    return refuse(w, e, f, "rows of A that move (.ashift): which rows, and when, the PTX ISA does not say", p->idesc);
  if (!read_formats(p, (enum sass_sem)s->sem)) return refuse(w, e, f, "no such formats", p->idesc);
  p->row_bytes = TC_ROW;
  p->scaled = s->sem == SEM_UTCQMMA_SF || s->sem == SEM_UTCOMMA;
  if (p->scaled && !read_scales(p, w, s)) return refuse(w, e, f, "no such scales", p->idesc);
  if (!read_sparse(p, warp_uniform(w, (unsigned)sass_get(s, FLD_TC_META))))
    return refuse(w, e, f, "no such metadata of a sparse matrix", p->idesc);
  p->depth = p->row_bytes / p->bytes;
  if (!read_shape(p)) return refuse(w, e, f, "no such shape", p->idesc);
  if (!read_zeros(p, w, (unsigned)sass_get(s, FLD_TC_AUX)))
    return refuse(w, e, f, "a zero-column mask that moves columns further than this, or starts behind a span",
                  p->idesc);
  if (!places_fit(p))
    return refuse(w, e, f, "an address outside tensor memory, or in a lane where no product begins", p->idesc);
  return true;
}

/* ---- operands --------------------------------------------------------------------------------- */

/* Rows [0, n) of a matrix in the CTA's shared memory, `length` bytes of each. */
static bool read_shared(struct func_warp *w, const struct effect *e, struct fault *f, const struct func_cta *cta,
                        uint64_t descriptor, bool transposed, unsigned n, unsigned length, unsigned bytes,
                        uint8_t (*rows)[TC_ROW_MAX])
{
  const struct tc_shared shared = {cta->shared, w->launch->shared_limit};
  struct tc_matrix x;
  uint32_t at;
  if (!tc_matrix_read(&x, descriptor, transposed))
    return refuse(w, e, f, "no such swizzle mode", (uint32_t)(descriptor >> 32));
  if (!x.continued && !transposed && x.chunks > 1 && x.chunks < length / TC_CHUNK)
    return refuse(w, e, f, "rows longer than the swizzle's atoms", (uint32_t)(descriptor >> 32));
  if (tc_rows(&shared, &x, n, length / TC_CHUNK, bytes, rows, &at)) return true;
  return func_fault(w, e, f, FAULT_SHARED_RANGE, 0, at,
                    "a matrix descriptor names shared address 0x%x, outside the %u bytes of the CTA", at, shared.limit);
}

static uint64_t pair_of_registers(const struct func_warp *w, unsigned ur)
{
  return lane_join(warp_uniform(w, ur), warp_uniform(w, ur + 1));
}

/* FP4 and FP6 lie packed at the start of 16 bytes of shared memory, and in bytes of tensor memory (PTX ISA, packing
 * formats). */
static void unpack(uint8_t (*rows)[TC_ROW_MAX], unsigned n, unsigned length, unsigned format)
{
  const unsigned bits = 1u + mma_narrow[format].frac + mma_narrow[format].exp, up = bits == 4 ? 2 : 0;
  if (bits == 8) return;
  for (unsigned i = 0; i < n; i++)
    for (unsigned c = 0; c < length; c += TC_CHUNK) {
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
    for (unsigned bank = 0; bank < p->banks; bank++)
      for (unsigned i = 0; i < p->rows; i++)
        memcpy(part->a[tc_row_of_a(p, i, bank)],
               &part->memory->word[tc_lane(p, p->a_at, i, bank)][tmem_column(p->a_at)], p->row_bytes);
    return true;
  }
  const uint64_t descriptor = pair_of_registers(w, u->s->src[0].index);
  if (!read_shared(w, e, f, part->cta, descriptor, field(p->idesc, 15, 1), p->rows, p->row_bytes, p->bytes,
                   part->a))
    return false;
  if (p->bytes == 1 && !p->integer && !p->fp4) unpack(part->a, p->rows, TC_ROW, p->format_a);
  return true;
}

/* Columns begin further right; some are zero. */
static void choose_columns(const struct tc_product *p, struct tc_operands *o)
{
  const struct spans x = spans_of(p->zeros);
  if (x.shift) memmove(o->b[0], o->b[x.shift], sizeof o->b[0] * p->columns);
  for (unsigned n = 0; x.any && n < p->columns; n++)
    if (is_zero(p, &x, n)) memset(o->b[n], 0, sizeof o->b[n]);
}

static bool read_b(struct func_warp *w, const struct uop *u, const struct tc_product *p, struct tc_operands *o,
                   const struct effect *e, struct fault *f)
{
  const unsigned n = p->columns / p->ctas, length = p->row_bytes * (p->sparse ? 2 : 1);
  const unsigned further = spans_of(p->zeros).shift;
  const uint64_t descriptor = pair_of_registers(w, u->s->src[1].index);
  for (unsigned c = 0; c < p->ctas; c++)
    if (!read_shared(w, e, f, o->part[c].cta, descriptor, field(p->idesc, 16, 1), n + further, length, p->bytes,
                     &o->b[c * n]))
      return false;
  choose_columns(p, o);
  if (p->bytes == 1 && !p->integer && !p->fp4) unpack(o->b, p->columns, length, p->format_b);
  return true;
}

static void read_masks(struct func_warp *w, const struct uop *u, const struct tc_product *p, struct tc_operands *o)
{
  const unsigned ur = (unsigned)sass_get(u->s, FLD_TC_AUX);
  const bool none = p->scaled || p->stationary || ur == SASS_URZ;
  for (unsigned c = 0; c < p->ctas; c++)
    for (unsigned i = 0; i < TC_MASK_WORDS; i++)
      o->part[c].keep[i] = none ? 0 : warp_uniform(w, ur + c * TC_MASK_WORDS + i);
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

/* ---- handlers ----------------------------------------------------------------------------------- */

static void tell_work(const struct tc_product *p, struct effect *e)
{
  e->tensor = (struct tensor_work){.a_bytes = p->a_in_tmem ? 0 : p->rows * p->row_bytes,
                                   .b_bytes = p->columns / p->ctas * p->row_bytes * (p->sparse ? 2 : 1),
                                   .columns = (uint16_t)(p->ctas == 1 ? p->columns / p->banks : p->columns),
                                   .ctas = (uint8_t)p->ctas,
                                   .narrow = p->ctas == 2 && p->banks == 2,
                                   .scaled = p->scaled};
}

LANE_HANDLER(utcmma)
{
  struct tc_product p;
  struct tc_operands o;
  (void)m;
  if (!take_product(&p, w, u, e, f) || !read_operands(w, u, &p, &o, e, f)) return false;
  tell_work(&p, e);
  SEM_NAME(tc_multiply)(&p, &o, p.bytes == 1 ? mma_arch(w->launch->p.sm)->frac8 : mma_arch(w->launch->p.sm)->frac);
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
  SEM_NAME(tc_multiply_scaled)(&p, &o, mma_arch(w->launch->p.sm)->frac8, (struct fp4_scaling){!p.e8, u->imm2 ? 1 : 2});
  return true;
}

uop_fn *SEM_NAME(sem_utcmma_part)(const struct sass_inst *s, struct uop *u)
{
  enum { A_FROM_TMEM = 0x19ea, A_FROM_TMEM_SCALED = 0x1fea };
  const unsigned opcode = (unsigned)s->val[0];
  const bool stationary = sass_get(s, FLD_TC_WS), scaled = s->sem == SEM_UTCQMMA_SF || s->sem == SEM_UTCOMMA;
  if (sass_get(s, FLD_TC_META) % 2 || (stationary && (scaled || sass_get(s, FLD_TMA_2CTA)))) return NULL;
  u->flags |= UOP_FAULTS;
  u->imm = opcode == A_FROM_TMEM || opcode == A_FROM_TMEM_SCALED;
  u->imm2 = s->sem == SEM_UTCOMMA && !sass_get(s, FLD_TC_4X) && !sass_get(s, FLD_TC_BLOCK16);
  return scaled ? utcmma_scaled : utcmma;
}
