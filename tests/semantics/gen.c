/* Instruction words from the rows, and operand values that hurt. */
#include "sem.h"

#include "base/bits.h"

/* ---- values ---------------------------------------------------------------------------------- */

static uint32_t pick(struct rng *r, const uint32_t *list, unsigned n)
{
  return list[below(r, n)];
}

#define PICK(r, list) pick(r, list, sizeof(list) / sizeof *(list))

static uint32_t gen_int(struct rng *r)
{
  static const uint32_t edge[] = {
      0,          1,          2,          7,          8,          15,         16,
      31,         32,         33,         63,         64,         65,         127,
      128,        255,        256,        0x7fff,     0x8000,     0xffff,     0x10000,
      0x7fffffff, 0x80000000, 0x80000001, 0xfffffffe, 0xffffffff, 0x80008000, 0x7fff7fff,
      0x00ff00ff, 0x80808080, 0x7f7f7f7f, 0xffff0000, 0x01010101, 0x55555555, 0xaaaaaaaa};
  switch (below(r, 8)) {
  case 0:
  case 1: return PICK(r, edge);
  case 2: return below(r, 80);
  case 3: return 0u - below(r, 40);
  case 4: return (1u << below(r, 32)) + below(r, 3) - 1;
  default: return rnd(r);
  }
}

/* frac and exp bits of a small format. Half of the values have exponents near each other, so that
 * sums cancel and round; some end in a tie for the next smaller formats. */
static uint32_t gen_float(struct rng *r, unsigned frac, unsigned exp)
{
  const uint32_t top = (1u << exp) - 1, bias = top >> 1, ones = (1u << frac) - 1;
  uint32_t e = 0, m = rnd(r) & ones, sign = rnd(r) & 1;
  switch (below(r, 12)) {
  case 0: return rnd(r) & ((2u << (frac + exp)) - 1);
  case 1:
    e = below(r, 3) * bias;
    m = 0;
    break; /* 0, 1, near the top */
  case 2:
    e = 0;
    m = below(r, 2) ? m : below(r, 2) ? 1 : ones;
    break; /* subnormal */
  case 3:
    e = top;
    m = below(r, 3) ? 0 : below(r, 2) ? m : 1;
    break; /* infinite, NaN */
  case 4:
    e = top - 1;
    m = below(r, 2) ? ones : m;
    break;
  case 5:
    e = 1 + below(r, 3);
    m = below(r, 2) ? 0 : m;
    break;
  case 6:
    e = below(r, top + 1);
    m = below(r, 2) ? 0 : below(r, 2) ? 1 : ones;
    break;
  case 7: /* ties: few low bits but a one below the kept ones */
    e = bias + below(r, 8) - 4;
    m = (m >> (frac / 2)) << (frac / 2);
    m ^= 1u << below(r, frac);
    break;
  case 8:
    e = bias + below(r, 40) - 4;
    m &= ones << below(r, frac);
    break; /* near integers */
  default: e = bias + below(r, 7) - 3; break;
  }
  return sign << (frac + exp) | (e & top) << frac | (m & ones);
}

uint64_t gen_f64(struct rng *r)
{
  const uint64_t ones = ((uint64_t)1 << 52) - 1;
  uint64_t m = rnd64(r) & ones, e = 1023, sign = rnd(r) & 1;
  switch (below(r, 12)) {
  case 0: return rnd64(r);
  case 1:
    e = below(r, 2) * 1023;
    m = 0;
    break;
  case 2:
    e = 0;
    m = below(r, 2) ? m : below(r, 2) ? 1 : ones;
    break;
  case 3:
    e = 2047;
    m = below(r, 3) ? 0 : m;
    break;
  case 4:
    e = 2046;
    m = below(r, 2) ? ones : m;
    break;
  case 5: e = 1 + below(r, 60); break;
  case 6: /* near the limits of FP32, FP16 and of the integers */
    e = below(r, 2) ? 1023 + 127 - below(r, 2) : 1023 - 126 - below(r, 26);
    m = below(r, 2) ? ones << 28 : ones << 29;
    break;
  case 7:
    e = 1023 + 30 + below(r, 36);
    m &= ones << below(r, 52);
    break;
  case 8:
    e = 1023 + below(r, 20) - 4;
    m &= ones << below(r, 52);
    break;
  case 9:
    e = 1023 - 24 + below(r, 45);
    m = (m >> 28 << 28) ^ (uint64_t)1 << (28 + below(r, 15));
    break;
  default: e = 1023 + below(r, 7) - 3; break;
  }
  return sign << 63 | e << 52 | (m & ones);
}

uint32_t gen_value(struct rng *r, enum value_kind k)
{
  switch (k) {
  case VAL_F32:
    if (below(r, 16) == 0) return gen_int(r);
    if (below(r, 8) == 0) { /* a tie, or just beside one, of FP16 and BF16 */
      uint32_t v = gen_float(r, 23, 8) & (below(r, 2) ? 0xffff0000u : 0xffffe000u);
      return v + (below(r, 2) ? 0x1000u : 0x8000u) + below(r, 3) - 1;
    }
    return gen_float(r, 23, 8);
  case VAL_F16: return gen_float(r, 10, 5) | gen_float(r, 10, 5) << 16;
  case VAL_BF16: return gen_float(r, 7, 8) | gen_float(r, 7, 8) << 16;
  case VAL_F8: return below(r, 2) ? rnd(r) : gen_int(r);
  case VAL_F64_HIGH: return (uint32_t)(gen_f64(r) >> 32);
  default: return gen_int(r);
  }
}

static enum value_kind fsize_kind(uint64_t code)
{
  static const enum value_kind kinds[8] = {VAL_INT,  VAL_F16, VAL_F32, VAL_F64,
                                           VAL_BF16, VAL_INT, VAL_INT, VAL_INT};
  return kinds[code & 7];
}

static enum value_kind mma_kind(const struct sass_inst *s, unsigned sem, unsigned src)
{
  if (sem == SEM_DMMA) return VAL_F64;
  if (sem == SEM_QMMA) return src < 2 ? VAL_F8 : sass_get(s, FLD_QMMA_F32) ? VAL_F32 : VAL_F16;
  if (sem == SEM_HMMA_884) return src == 2 && sass_get(s, FLD_HMMA884_C) ? VAL_F32 : VAL_F16;
  if (sem != SEM_HMMA) return VAL_INT;
  if (src == 2) return sass_get(s, FLD_HMMA_F32) ? VAL_F32 : VAL_F16;
  static const enum value_kind kinds[4] = {VAL_F16, VAL_BF16, VAL_F32, VAL_INT};
  return kinds[sass_get(s, FLD_HMMA_TYPE)];
}

enum value_kind gen_kind(const struct sass_inst *s, unsigned sem, unsigned src)
{
  switch (sem) {
  case SEM_FHADD:
  case SEM_FHFMA:
    if (src == 2 || (src == 1 && sem == SEM_FHADD)) return VAL_F32;
    return sass_get(s, FLD_FH_BF16) ? VAL_BF16 : VAL_F16;
  case SEM_FADD:
  case SEM_FMUL:
  case SEM_FFMA:
  case SEM_FSWZADD:
  case SEM_FMNMX:
  case SEM_FSEL:
  case SEM_FSET:
  case SEM_FSETP:
  case SEM_FCHK:
  case SEM_FADD2:
  case SEM_FMUL2:
  case SEM_FFMA2:
  case SEM_FMNMX3:
  case SEM_F2IP: return VAL_F32;
  case SEM_MUFU:
    if (sass_get(s, FLD_MUFU_FMT) || sass_get(s, FLD_MUFU_FMT80)) return VAL_F16;
    return (sass_get(s, FLD_MUFU_OP) & ~1u) == 6 ? VAL_F64_HIGH : VAL_F32;
  case SEM_HADD2:
  case SEM_HMUL2:
  case SEM_HFMA2:
  case SEM_HSET2:
  case SEM_HSETP2:
  case SEM_HMNMX2:
  case SEM_VHMNMX:
    if (sass_get(s, FLD_HBF16) | sass_get(s, FLD_HCMP_BF16)) return VAL_BF16;
    if (sem == SEM_HADD2 && s->src[src].swz == 1) return VAL_F32;
    return VAL_F16;
  case SEM_DADD:
  case SEM_DMUL:
  case SEM_DFMA:
  case SEM_DSETP:
  case SEM_DSETP_MNMX: return VAL_F64;
  case SEM_F2F:
  case SEM_F2I:
  case SEM_FRND: return fsize_kind(sass_get(s, FLD_CVT_SRC_FSIZE));
  case SEM_F2FP:
    if (src == 2 || sass_get(s, FLD_F2FP_KIND) == 4) return VAL_F8;
    switch (sass_get(s, FLD_F8_SOURCE) | sass_get(s, FLD_F8_SOURCE100)) {
    case 1: return VAL_F16;
    case 5: return VAL_BF16;
    default: return VAL_F32;
    }
  case SEM_HMMA:
  case SEM_HMMA_884:
  case SEM_IMMA:
  case SEM_BMMA:
  case SEM_QMMA:
  case SEM_DMMA: return mma_kind(s, sem, src);
  default: return VAL_INT;
  }
}

/* ---- registers of one operand set ------------------------------------------------------------ */

static float as_float(uint32_t v)
{
  float x;
  memcpy(&x, &v, sizeof x);
  return x;
}

static uint32_t float_bits(float x)
{
  uint32_t v;
  memcpy(&v, &x, sizeof v);
  return v;
}

static void fill_row(struct rng *r, enum value_kind k, uint32_t *row, unsigned n, bool uniform)
{
  for (unsigned i = 0; i < n; i++) row[i] = uniform && i ? row[0] : gen_value(r, k);
}

static void fill_pair(struct rng *r, uint32_t *row, bool uniform)
{
  for (unsigned i = 0; i < SEM_LANES; i++) {
    uint64_t v = uniform && i ? row[0] | (uint64_t)row[SEM_LANES] << 32 : gen_f64(r);
    row[i] = (uint32_t)v;
    row[SEM_LANES + i] = (uint32_t)(v >> 32);
  }
}

/* Rows of a source; 0: it has no register. */
static uint32_t *source_rows(struct state *st, const struct sass_src *src, unsigned *most,
                             bool *uniform)
{
  if (src->kind == SRC_REG && src->index < N_REGS) {
    *most = N_REGS - src->index, *uniform = false;
    return st->reg[src->index];
  }
  if (src->kind == SRC_UREG && src->index < N_UREG) {
    *most = N_UREG - src->index, *uniform = true;
    return st->ureg[src->index];
  }
  return NULL;
}

/* b from a in some lanes: equal, opposite, a few units beside: comparisons and cancellation. */
static void relate(struct rng *r, uint32_t *to, const uint32_t *from, unsigned rows)
{
  for (unsigned i = 0; i < SEM_LANES; i++) {
    if (below(r, 5)) continue;
    for (unsigned k = 0; k < rows; k++) to[k * SEM_LANES + i] = from[k * SEM_LANES + i];
    uint32_t *top = &to[(rows - 1) * SEM_LANES + i], *low = &to[i];
    if (below(r, 2)) *top ^= 0x80000000u;
    if (below(r, 4) == 0) *top ^= 0x00008000u;
    if (below(r, 2)) *low += below(r, 5) - 2;
  }
}

/* c near -(a * b) in some lanes: what is left after cancellation shows every bit of the product. */
static void cancel(struct rng *r, unsigned sem, struct state *st, const struct sass_inst *s)
{
  unsigned most;
  bool ua, ub, uc;
  uint32_t *a = source_rows(st, &s->src[0], &most, &ua),
           *b = source_rows(st, &s->src[1], &most, &ub);
  uint32_t *c = source_rows(st, &s->src[2], &most, &uc);
  if (!a || !b || !c || uc) return;
  for (unsigned i = 0; i < SEM_LANES; i++) {
    if (below(r, 4)) continue;
    if (sem == SEM_FFMA) {
      c[i] = float_bits(-as_float(a[i]) * as_float(b[i])) + below(r, 5) - 2;
    } else if (most > 1) {
      uint64_t x = a[i] | (uint64_t)a[SEM_LANES + i] << 32,
               y = b[i] | (uint64_t)b[SEM_LANES + i] << 32, z;
      double dx, dy, dz;
      memcpy(&dx, &x, 8), memcpy(&dy, &y, 8);
      dz = -dx * dy;
      memcpy(&z, &dz, 8);
      z += below(r, 5) - 2;
      c[i] = (uint32_t)z, c[SEM_LANES + i] = (uint32_t)(z >> 32);
    }
  }
}

/* Sparsity metadata: two different positions of four, in order; for TF32 one of two (PTX ISA,
 * mma.sp). */
static void gen_metadata(struct rng *r, const struct sass_inst *s, struct state *st)
{
  static const uint8_t pairs[6] = {0x4, 0x8, 0xc, 0x9, 0xd, 0xe}, tf32[2] = {0x4, 0xe};
  const bool single = s->sem == SEM_HMMA && sass_get(s, FLD_HMMA_TYPE) == 2;
  const unsigned reg = (unsigned)sass_get(s, FLD_HMMA_META);
  for (unsigned i = 0; i < SEM_LANES && reg < N_REGS; i++) {
    uint32_t v = 0;
    for (unsigned k = 0; k < 8; k++) v = v << 4 | (single ? tf32[below(r, 2)] : pairs[below(r, 6)]);
    st->reg[reg][i] = v;
  }
}

void gen_sources(struct rng *r, const struct sass_inst *s, unsigned sem, struct state *st)
{
  const bool tensor =
      sem == SEM_HMMA || sem == SEM_HMMA_884 || sem == SEM_IMMA || sem == SEM_BMMA || sem == SEM_DMMA || sem == SEM_QMMA;
  unsigned most[3] = {0};
  uint32_t *row[3];
  bool uniform[3];
  for (unsigned k = 0; k < 3; k++) {
    row[k] = source_rows(st, &s->src[k], &most[k], &uniform[k]);
    if (!row[k]) continue;
    enum value_kind kind = gen_kind(s, sem, k);
    unsigned rows = most[k] < (tensor ? REF_ROWS : 2u) ? most[k] : tensor ? REF_ROWS : 2u;
    bool calm = tensor && below(r, 3); /* most matrices are without infinities and NaN */
    for (unsigned n = 0; n < rows; n++) {
      if (kind == VAL_F64 && n + 1 < rows)
        fill_pair(r, row[k] + n++ * SEM_LANES, uniform[k]);
      else
        fill_row(r, kind, row[k] + n * SEM_LANES, SEM_LANES, uniform[k]);
    }
    for (unsigned i = 0; calm && i < rows * SEM_LANES; i++) { /* lower half of the exponents */
      if (kind == VAL_F32) row[k][i] &= ~0x40000000u;
      if (kind == VAL_F16 || kind == VAL_BF16) row[k][i] &= ~0x40004000u;
    }
  }
  if (sass_has(s, FLD_HMMA_META)) gen_metadata(r, s, st);
  unsigned rows = gen_kind(s, sem, 0) == VAL_F64 ? 2 : 1;
  if (!tensor && row[0] && row[1] && !uniform[1] && most[0] >= rows && most[1] >= rows)
    relate(r, row[1], row[0], rows);
  if (sem == SEM_FFMA || sem == SEM_DFMA) cancel(r, sem, st, s);
}

/* ---- words ----------------------------------------------------------------------------------- */

enum { MOST_COMBINATIONS = 4096, SYSTEMATIC_BITS = 4 };

/* Fields of modifier lists are enumerated, wide ones (tables) drawn. */
static bool systematic(unsigned id)
{
  return field_width(id) <= SYSTEMATIC_BITS;
}

unsigned gen_combinations(const struct sass_row *row)
{
  unsigned n = 1;
  for (unsigned i = 0; i < ROW_FIELDS && row->field[i]; i++)
    if (systematic(row->field[i])) n <<= field_width(row->field[i]);
  return n > MOST_COMBINATIONS ? MOST_COMBINATIONS : n;
}

static unsigned gen_reg(struct rng *r)
{
  if (below(r, 10) == 0) return SASS_RZ;
  return 8 * below(r, 5) + (below(r, 4) ? 0 : below(r, 4)); /* often the same ones: d is a source */
}

static unsigned gen_ureg(struct rng *r, unsigned sm)
{
  if (below(r, 10) == 0) return sass_urz_code(sm);
  return 8 * below(r, 5) + (below(r, 4) ? 0 : below(r, 4));
}

/* An operand field's value. */
static uint64_t gen_field(struct rng *r, unsigned id, unsigned sm, enum value_kind imm)
{
  const char *name = sass_fields[id].id;
  switch (id) {
  case FLD_PM:
  case FLD_UNUSED_RD:
  case FLD_UNUSED_RC: return 0;
  case FLD_GUARD: return below(r, 2) ? 7 : below(r, 8);
  case FLD_RD:
  case FLD_RA:
  case FLD_RB:
  case FLD_RC: return gen_reg(r);
  case FLD_URD:
  case FLD_URA:
  case FLD_URB:
  case FLD_URC: case FLD_TEX_URH:
  case FLD_URC6: return gen_ureg(r, sm);
  case FLD_HMMA_META: return 8 * below(r, 8);
  case FLD_IMM32: return imm == VAL_F64 ? gen_f64(r) >> 32 : gen_value(r, imm);
  case FLD_CBANK:
  case FLD_CBANK_LDC: return below(r, N_BANK);
  case FLD_COFF_LDC:
  case FLD_COFF_LDCU: return below(r, CONST_BYTES);
  case FLD_COFF: return below(r, CONST_BYTES / 8) * 2;
  case FLD_MOV_MASK: return below(r, 2) ? 15 : below(r, 16);
  case FLD_PU:
  case FLD_PV: return below(r, 2) ? below(r, 8) : 7;
  case FLD_PQ: return below(r, 2) ? below(r, 8) : 7;
  default: break;
  }
  if (!strncmp(name, "UNK_", 4)) return 0;
  return rnd64(r) & bits_ones(field_width(id));
}

/* Value of modifier field id in combination *combo (mixed radix, lowest first). */
static uint64_t combination(struct rng *r, unsigned id, unsigned *combo, bool draw)
{
  unsigned width = field_width(id);
  if (id == FLD_UNK_QMMA_74) return 1; /* as the compiler writes it */
  if (!strncmp(sass_fields[id].id, "UNK_", 4)) return 0;
  if (!systematic(id) || draw) return rnd(r) & ((1u << width) - 1);
  uint64_t v = *combo & ((1u << width) - 1);
  *combo >>= width;
  return v;
}

static bool is_modifier(const struct sass_row *row, unsigned id)
{
  for (unsigned i = 0; i < ROW_FIELDS && row->field[i]; i++)
    if (row->field[i] == id) return true;
  return false;
}

/* Registers of wide operands must be aligned, and lie inside the file. */
static bool operands_fit(const struct inst *t)
{
  for (unsigned i = 0; i < (unsigned)t->n_src + t->n_dst; i++) {
    const struct operand *o = i < t->n_src ? &t->src[i] : &t->dst[i - t->n_src];
    unsigned align = o->width > 4 ? 8 : o->width > 2 ? 4 : o->width;
    if (o->file != FILE_R && o->file != FILE_UR) continue;
    if (o->width > 1 && o->index % align) return false;
    if (o->index + o->width > (o->file == FILE_R ? N_REGS : N_UREG)) return false;
  }
  return true;
}

/* Immediates get values of the kind their instruction reads: found from the word without them. */
static enum value_kind immediate_kind(unsigned sm, struct word128 w)
{
  struct sass_inst s;
  struct inst t;
  struct err e;
  if (!sass_decode(sm, w, 0, &s, &t, &e)) return VAL_INT;
  for (unsigned k = 0; k < 3; k++)
    if (s.src[k].kind == SRC_IMM) return gen_kind(&s, ref_vector_sem(s.sem), k);
  return VAL_INT;
}

bool gen_word(struct rng *r, const struct sass_row *row, unsigned form, unsigned sm, unsigned combo,
              struct word128 *w)
{
  uint16_t field[SASS_MAX_FIELDS];
  unsigned n = row_fields(row, form, field), total = 1;
  bool draw = false, has_imm = false;
  for (unsigned i = 0; i < ROW_FIELDS && row->field[i]; i++)
    if (systematic(row->field[i])) total <<= field_width(row->field[i]);
  draw = total > MOST_COMBINATIONS;
  *w = (struct word128){0, 0};
  for (unsigned i = 0; i < n; i++) {
    unsigned id = field[i];
    uint64_t v;
    if (id == FLD_OPCODE)
      v = row->base | (form & 7) << 9 | (form >> 3) << 12;
    else if (id == FLD_IMM32) {
      has_imm = true;
      continue;
    } else if (is_modifier(row, id))
      v = combination(r, id, &combo, draw);
    else
      v = gen_field(r, id, sm, VAL_INT);
    if (!field_put(w, id, v)) return false;
  }
  if (has_imm) field_put(w, FLD_IMM32, gen_field(r, FLD_IMM32, sm, immediate_kind(sm, *w)));
  if (row->when_field && !(row->when_mask >> field_get(*w, row->when_field) & 1)) return false;

  struct sass_inst s;
  struct inst t;
  struct err e;
  if (!sass_decode(sm, *w, 0, &s, &t, &e) || s.row != row) return false;
  if (s.pu != SASS_PT && s.pu == s.pv) return false; /* which one wins is not defined */
  return operands_fit(&t);
}
