/* Reference: FP32, packed FP16 and BF16, FP64 arithmetic, comparison and selection.
 *
 * IEEE 754 results from MPFR. Rules: PTX ISA 9.0 (add, mul, fma, min, max, set, setp, .ftz, .sat,
 * .relu), Mesa NAK (FMZ, swizzles, FSWZADD). What they leave open:
 *   NaN results are 0x7fffffff, of FP16 and BF16 0x7fff; an FP64 NaN is any quiet one.
 *   FTZ looks at the rounded result: what rounds up to the smallest normal number stays.
 *   SAT gives +0 for -0 as for every negative number.
 *   FMUL's scale is part of the product, which is rounded once.
 */
#include "num.h"
#include "sem.h"

#define EACH_LANE for (unsigned i = 0; i < SEM_LANES; i++)

enum op { ADD, MUL, FMA };

/* Modifiers of one arithmetic operation. */
struct arith {
  enum op op;
  struct fmt f;
  uint64_t rnd;
  int scale;
  bool ftz, fmz, sat, relu;
};

static void set_bit(uint32_t *mask, unsigned lane, bool v)
{
  *mask = (*mask & ~(1u << lane)) | (uint32_t)v << lane;
}

static bool bool_op(uint64_t op, bool x, bool p)
{
  return op == 0 ? x && p : op == 1 ? x || p : x != p;
}

static uint64_t flush(uint64_t v, struct fmt f, bool on)
{
  return on && num_is_subnormal(v, f) ? v & num_sign(f) : v;
}

static uint64_t signs(uint64_t v, struct fmt f, const struct sass_src *s)
{
  if (s->abs) v &= ~num_sign(f);
  return s->neg ? v ^ num_sign(f) : v;
}

static uint64_t finish(uint64_t v, const struct arith *a)
{
  const bool nan = num_is_nan(v, a->f), neg = v & num_sign(a->f);
  v = flush(v, a->f, a->ftz);
  if (a->sat) return nan || neg ? 0 : v > num_one(a->f) ? num_one(a->f) : v;
  return a->relu && neg && !nan ? 0 : v;
}

static uint64_t compute(struct num *n, const struct arith *a, uint64_t x, uint64_t y, uint64_t z)
{
  const mpfr_rnd_t m = num_mode(a->rnd);
  int t = 0;
  x = flush(x, a->f, a->ftz), y = flush(y, a->f, a->ftz), z = flush(z, a->f, a->ftz);
  if (a->fmz && (!(x & ~num_sign(a->f)) || !(y & ~num_sign(a->f)))) x = y = 0; /* even 0 * NaN */
  num_from(n->x, x, a->f);
  num_from(n->y, y, a->f);
  num_from(n->z, z, a->f);
  mpfr_set_prec(n->r, a->f.prec);
  switch (a->op) {
  case ADD: t = mpfr_add(n->r, n->x, n->y, m); break;
  case MUL:
    t = mpfr_mul(n->r, n->x, n->y, m);
    mpfr_mul_2si(n->r, n->r, a->scale, m);
    break;
  case FMA: t = mpfr_fma(n->r, n->x, n->y, n->z, m); break;
  }
  return finish(num_to(n->r, t, a->f, m), a);
}

/* x < y, x == y, unordered, x > y */
enum order { LESS, EQUAL, GREATER, UNORDERED };

static enum order order(struct num *n, uint64_t x, uint64_t y, struct fmt f)
{
  num_from(n->x, x, f);
  num_from(n->y, y, f);
  if (mpfr_unordered_p(n->x, n->y)) return UNORDERED;
  int c = mpfr_cmp(n->x, n->y);
  return c < 0 ? LESS : c > 0 ? GREATER : EQUAL;
}

static bool holds(uint64_t code, enum order c)
{
  static const bool base[8][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0},
                                  {0, 0, 1}, {1, 0, 1}, {0, 1, 1}, {1, 1, 1}};
  return c == UNORDERED ? code >> 3 : base[code & 7][c];
}

/* Minimum or maximum; -0 is less than +0. */
static uint64_t minmax(struct num *n, uint64_t x, uint64_t y, struct fmt f, bool min, bool nan_wins)
{
  const bool nx = num_is_nan(x, f), ny = num_is_nan(y, f);
  if ((nx && ny) || ((nx || ny) && nan_wins)) return num_nan(f);
  if (nx || ny) return nx ? y : x;
  enum order c = order(n, x, y, f);
  if (c == EQUAL) c = x & num_sign(f) ? LESS : GREATER; /* of the two zeros, or both the same */
  return (c == LESS) == min ? x : y;
}

/* ---- FP32 ------------------------------------------------------------------------------------ */

static struct arith f32_arith(const struct ref_in *in)
{
  const uint64_t fmz = get(in, FLD_FMZ);
  struct arith a = {.f = NUM_F32,
                    .rnd = get(in, FLD_RND),
                    .sat = get(in, FLD_SAT),
                    .ftz = get(in, FLD_FTZ) || fmz,
                    .fmz = fmz == 2};
  if (sass_has(in->s, FLD_FMUL_SCALE)) a.scale = (int)get(in, FLD_FMUL_SCALE) - 4;
  switch (in->sem) {
  case SEM_FADD:
  case SEM_FADD2:
  case SEM_FHADD:
  case SEM_FSWZADD: a.op = ADD; break;
  case SEM_FMUL:
  case SEM_FMUL2: a.op = MUL; break;
  default: a.op = FMA;
  }
  return a;
}

static uint32_t f32_source(const struct ref_in *in, unsigned k, unsigned row, unsigned lane)
{
  return (uint32_t)signs(in->src[k][row][lane], NUM_F32, &in->s->src[k]);
}

/* The FP16 or BF16 term of FHADD, a factor of FHFMA, as the FP32 number it is. */
static uint32_t half_term(struct num *n, const struct ref_in *in, unsigned k, unsigned lane)
{
  const struct fmt f = get(in, FLD_FH_BF16) ? NUM_BF16 : NUM_F16;
  const bool upper = get(in, k ? FLD_FH_UPPER_B : FLD_FH_UPPER_A);
  const uint64_t v = signs(in->src[k][0][lane] >> (upper ? 16 : 0) & 0xffff, f, &in->s->src[k]);
  if (num_is_nan(v, f)) return 0x7fffffff;
  num_from(n->x, v, f);
  mpfr_set_prec(n->r, NUM_F32.prec);
  const int t = mpfr_set(n->r, n->x, MPFR_RNDN);
  return (uint32_t)num_to(n->r, t, NUM_F32, MPFR_RNDN);
}

static bool is_half_term(unsigned sem, unsigned k)
{
  return (sem == SEM_FHADD && k == 0) || (sem == SEM_FHFMA && k < 2);
}

static void f32_arithmetic(struct num *n, const struct ref_in *in, struct ref_out *o)
{
  const struct arith a = f32_arith(in);
  o->rows = in->sem >= SEM_FADD2 && in->sem <= SEM_FFMA2 ? 2 : 1;
  for (unsigned row = 0; row < o->rows; row++) EACH_LANE
    {
      uint32_t v[3];
      for (unsigned k = 0; k < 3; k++) { /* pairs: 0 in order, 1 exchanged, 2 the first for both; 4: .NP */
        unsigned swz = o->rows == 2 ? in->s->src[k].swz : 0, order = swz & 3;
        if (o->rows == 2 && in->s->src[k].kind == SRC_IMM) order = 2; /* one number for both halves */
        v[k] = is_half_term(in->sem, k) ? half_term(n, in, k, i)
                                          : f32_source(in, k, order == 2 ? 0 : row ^ order, i);
        if (row == 1 && swz & 4) v[k] ^= 0x80000000u;
      }
      o->d[row][i] = (uint32_t)compute(n, &a, v[0], v[1], v[2]);
    }
}

/* PP, PN, NP, ZP: signs of a and b, Z = no a; lane 0 of the quad in the upper bits. */
static void fswzadd(struct num *n, const struct ref_in *in, struct ref_out *o)
{
  const struct arith a = f32_arith(in);
  EACH_LANE
  {
    unsigned code = (unsigned)get(in, FLD_FSWZ_LANE) >> (6 - 2 * (i % 4)) & 3;
    uint32_t x = f32_source(in, 0, 0, i), y = f32_source(in, 1, 0, i);
    if (code == 2) x ^= 0x80000000u;
    if (code == 1) y ^= 0x80000000u;
    if (code == 3) x = 0x80000000u; /* b itself: -0 + b */
    o->d[0][i] = (uint32_t)compute(n, &a, x, y, 0);
    if (code == 3 && !(flush(y, NUM_F32, a.ftz) & 0x7fffffff)) o->d[0][i] = y & 0x80000000u;
  }
}

/* XORSIGN: the sign is the product's, of the operands as stored. */
static bool f32_minmax(struct num *n, const struct ref_in *in, struct ref_out *o)
{
  const bool ftz = get(in, FLD_FTZ), nan = get(in, FLD_FMNMX_NAN), xs = get(in, FLD_FMNMX_XORSIGN);
  EACH_LANE
  {
    const bool min = lane_of(in->pp, i);
    uint64_t v[3];
    for (unsigned k = 0; k < 3; k++) v[k] = flush(f32_source(in, k, 0, i), NUM_F32, ftz);
    uint64_t r = minmax(n, v[0], v[1], NUM_F32, min, nan);
    if (xs && !num_is_nan(r, NUM_F32))
      r = (r & 0x7fffffff) | ((in->src[0][0][i] ^ in->src[1][0][i]) & 0x80000000u);
    if (in->sem == SEM_FMNMX3) r = minmax(n, r, v[2], NUM_F32, min, nan);
    o->d[0][i] = (uint32_t)r;
  }
  return true;
}

static void f32_compare(struct num *n, const struct ref_in *in, struct ref_out *o)
{
  const bool ftz = get(in, FLD_FTZ);
  const uint64_t code = get(in, FLD_FCMP), op = get(in, FLD_BOOL);
  o->rows = in->sem == SEM_FSET;
  EACH_LANE
  {
    uint64_t x = flush(f32_source(in, 0, 0, i), NUM_F32, ftz);
    uint64_t y = flush(f32_source(in, 1, 0, i), NUM_F32, ftz);
    bool r = holds(code, order(n, x, y, NUM_F32)), p = lane_of(in->pp, i);
    o->d[0][i] = bool_op(op, r, p) ? 0x3f800000 : 0;
    set_bit(&o->pu, i, bool_op(op, r, p));
    set_bit(&o->pv, i, bool_op(op, !r, p));
  }
}

static uint32_t f32_bits(float x)
{
  uint32_t v;
  memcpy(&v, &x, sizeof v);
  return v;
}

static float f32_number(uint32_t v)
{
  float x;
  memcpy(&x, &v, sizeof x);
  return x;
}

/* The quotient as nvcc's fast path computes it, from a reciprocal correctly rounded. */
static float fast_quotient(float a, float b)
{
  float r = 1.0f / b;
  r = __builtin_fmaf(r, __builtin_fmaf(-b, r, 1.0f), r);
  float q = __builtin_fmaf(a, r, 0.0f);
  q = __builtin_fmaf(r, __builtin_fmaf(-b, q, a), q);
  return __builtin_fmaf(r, __builtin_fmaf(-b, q, a), q);
}

/* FCHK's own limits are not public. Pu must be true where the fast path gives another quotient than
 * IEEE 754, and false where both exponents are within 2^+-40: divisions are fast there. */
static void fchk(const struct ref_in *in, struct ref_out *o)
{
  o->rows = 0;
  EACH_LANE
  {
    const uint32_t a = f32_source(in, 0, 0, i), b = f32_source(in, 1, 0, i);
    const float x = f32_number(a), y = f32_number(b);
    const int ea = (int)(a >> 23 & 255) - 127, eb = (int)(b >> 23 & 255) - 127;
    const bool must = f32_bits(fast_quotient(x, y)) != f32_bits(x / y) || x / y != x / y;
    const bool easy = ea > -40 && ea < 40 && eb > -40 && eb < 40;
    set_bit(&o->pu, i, must);
    if (!must && !easy) o->pu_any |= 1u << i;
  }
}

bool ref_f32(const struct ref_in *in, struct ref_out *o)
{
  struct num n;
  bool known = true;
  num_init(&n);
  o->rows = 1;
  switch (in->sem) {
  case SEM_FSWZADD: fswzadd(&n, in, o); break;
  case SEM_FMNMX:
  case SEM_FMNMX3: known = f32_minmax(&n, in, o); break;
  case SEM_FSET:
  case SEM_FSETP: f32_compare(&n, in, o); break;
  case SEM_FCHK: fchk(in, o); break;
  case SEM_FSEL:
    EACH_LANE o->d[0][i] = (uint32_t)flush(f32_source(in, lane_of(in->pp, i) ? 0 : 1, 0, i),
                                           NUM_F32, get(in, FLD_FTZ));
    break;
  default: f32_arithmetic(&n, in, o);
  }
  num_free(&n);
  return known;
}

/* ---- pairs ----------------------------------------------------------------------------------- */

enum { SWZ_H1_H0, SWZ_F32, SWZ_H0_H0, SWZ_H1_H1, SWZ_H0_NH1 };

static unsigned swizzle(const struct ref_in *in, unsigned k)
{
  return in->s->src[k].kind == SRC_IMM ? SWZ_H1_H0 : in->s->src[k].swz;
}

/* Half `half` of source k as stored. */
static uint32_t raw_half(const struct ref_in *in, unsigned k, unsigned half, unsigned lane)
{
  const unsigned swz = swizzle(in, k);
  if (swz == SWZ_H0_H0) half = 0;
  if (swz == SWZ_H1_H1) half = 1;
  if (swz != SWZ_H0_NH1) return in->src[k][0][lane] >> 16 * half & 0xffff;
  return half ? in->src[k][0][lane] & 0xffff : in->src[k][0][lane] >> 16;
}

static uint64_t half_source(const struct ref_in *in, unsigned k, unsigned half, unsigned lane,
                            struct fmt f)
{
  const uint64_t v = signs(raw_half(in, k, half, lane), f, &in->s->src[k]);
  return swizzle(in, k) == SWZ_H0_NH1 && !half ? v ^ num_sign(f) : v;
}

static struct arith half_arith(const struct ref_in *in, struct fmt f)
{
  const uint64_t fmz = get(in, FLD_HFMA_FMZ);
  return (struct arith){.f = f,
                        .ftz = get(in, FLD_FTZ) || fmz,
                        .fmz = fmz == 2,
                        .sat = get(in, FLD_SAT),
                        .relu = get(in, FLD_HFMA_RELU),
                        .op = in->sem == SEM_HADD2   ? ADD
                              : in->sem == SEM_HMUL2 ? MUL
                                                     : FMA};
}

/* HADD2.F32, HMUL2.F32, HFMA2.F32: lower halves, widened (exact), or whole FP32 registers (HADD2), computed in FP32.
 * Without .F32 an FP32 source goes to FP16 toward zero (compiler output, __float2half_rz, sm_75). */
static void half_f32(struct num *n, const struct ref_in *in, struct ref_out *o)
{
  struct arith a = half_arith(in, NUM_F32);
  const bool narrow = !get(in, FLD_HFMT);
  EACH_LANE
  {
    uint64_t v[3] = {0};
    for (unsigned k = 0; k < 3; k++) {
      if (in->s->src[k].kind == SRC_NONE) continue;
      if (swizzle(in, k) == SWZ_F32) {
        v[k] = f32_source(in, k, 0, i);
      } else {
        num_from(n->x, flush(half_source(in, k, 0, i, NUM_F16), NUM_F16, a.ftz), NUM_F16);
        mpfr_set_prec(n->r, NUM_F32.prec);
        v[k] = num_to(n->r, mpfr_set(n->r, n->x, MPFR_RNDN), NUM_F32, MPFR_RNDN);
      }
    }
    uint64_t r = compute(n, &a, v[0], v[1], v[2]);
    if (narrow) {
      num_from(n->x, r, NUM_F32);
      mpfr_set_prec(n->r, NUM_F16.prec);
      r = num_to(n->r, mpfr_set(n->r, n->x, MPFR_RNDZ), NUM_F16, MPFR_RNDZ) * 0x10001;
    }
    o->d[0][i] = (uint32_t)r;
  }
}

static bool half_minmax(struct num *n, const struct ref_in *in, struct ref_out *o, struct fmt f)
{
  const bool three = in->sem == SEM_VHMNMX;
  const bool ftz = get(in, FLD_FTZ), nan = get(in, FLD_HMNMX_NAN), xs = get(in, FLD_HMNMX_XORSIGN);
  EACH_LANE for (unsigned h = 0; h < 2; h++)
  {
    uint64_t x = flush(half_source(in, 0, h, i, f), f, ftz),
             y = flush(half_source(in, 1, h, i, f), f, ftz);
    uint64_t r = minmax(n, x, y, f, lane_of(in->pp, i), nan);
    if (three) r = minmax(n, r, flush(half_source(in, 2, h, i, f), f, ftz), f, lane_of(in->pp, i), nan);
    if (xs && !num_is_nan(r, f))
      r = (r & 0x7fff) | ((raw_half(in, 0, h, i) ^ raw_half(in, 1, h, i)) & 0x8000);
    o->d[0][i] = (h ? o->d[0][i] : 0) | (uint32_t)r << 16 * h;
  }
  return !(three && xs);
}

static void half_compare(struct num *n, const struct ref_in *in, struct ref_out *o, struct fmt f)
{
  const uint64_t code = get(in, FLD_HCMP), op = get(in, FLD_HBOOL);
  const bool ftz = get(in, FLD_FTZ), both = get(in, FLD_HSETP_H_AND);
  const uint32_t yes = get(in, FLD_HSET_BF) ? (uint32_t)num_one(f) : 0xffff;
  o->rows = in->sem == SEM_HSET2;
  EACH_LANE
  {
    bool r[2], p = lane_of(in->pp, i);
    for (unsigned h = 0; h < 2; h++)
      r[h] = holds(code, order(n, flush(half_source(in, 0, h, i, f), f, ftz),
                               flush(half_source(in, 1, h, i, f), f, ftz), f));
    o->d[0][i] = (bool_op(op, r[0], p) ? yes : 0) | (bool_op(op, r[1], p) ? yes << 16 : 0);
    set_bit(&o->pu, i, bool_op(op, both ? r[0] && r[1] : r[0], p));
    set_bit(&o->pv, i, bool_op(op, r[1], p));
  }
}

static void half_arithmetic(struct num *n, const struct ref_in *in, struct ref_out *o, struct fmt f)
{
  const struct arith a = half_arith(in, f);
  EACH_LANE for (unsigned h = 0; h < 2; h++)
  {
    uint64_t v[3] = {0};
    for (unsigned k = 0; k < 3; k++)
      if (in->s->src[k].kind != SRC_NONE) v[k] = half_source(in, k, h, i, f);
    o->d[0][i] = (h ? o->d[0][i] : 0) | (uint32_t)compute(n, &a, v[0], v[1], v[2]) << 16 * h;
  }
}

bool ref_half(const struct ref_in *in, struct ref_out *o)
{
  const bool bf16 = get(in, FLD_HBF16) | get(in, FLD_HCMP_BF16);
  const struct fmt f = bf16 ? NUM_BF16 : NUM_F16;
  bool wide = get(in, FLD_HFMT), f32_source = false;
  bool known = true;
  struct num n;
  for (unsigned k = 0; k < 3; k++)
    f32_source |= in->s->src[k].kind != SRC_NONE && swizzle(in, k) == SWZ_F32;
  if (f32_source && in->sem != SEM_HADD2) return false;
  if (wide && (bf16 || get(in, FLD_HFMA_FMZ) == 2 || get(in, FLD_HFMA_RELU))) return false;
  wide |= f32_source;
  num_init(&n);
  o->rows = 1;
  if (in->sem == SEM_HMNMX2 || in->sem == SEM_VHMNMX)
    known = half_minmax(&n, in, o, f);
  else if (in->sem == SEM_HSET2 || in->sem == SEM_HSETP2)
    half_compare(&n, in, o, f);
  else if (wide)
    half_f32(&n, in, o);
  else
    half_arithmetic(&n, in, o, f);
  num_free(&n);
  return known;
}

/* ---- FP64 ------------------------------------------------------------------------------------ */

static uint64_t f64_source(const struct ref_in *in, unsigned k, unsigned lane)
{
  return signs(pair(in, k, 0, lane), NUM_F64, &in->s->src[k]);
}

/* MIN, MAX: Pu = a is the result, Pv = both are NaN. Where a and b are equal either will do. */
static void f64_compare(struct num *n, const struct ref_in *in, struct ref_out *o)
{
  const uint64_t code = get(in, FLD_FCMP), op = get(in, FLD_BOOL);
  const bool select = in->sem == SEM_DSETP_MNMX, max = get(in, FLD_DMNMX_OP) == 15;
  o->rows = 0;
  EACH_LANE
  {
    const uint64_t x = f64_source(in, 0, i), y = f64_source(in, 1, i);
    const bool p = lane_of(in->pp, i), nx = num_is_nan(x, NUM_F64), ny = num_is_nan(y, NUM_F64);
    if (select) {
      bool a = nx ? false : ny || minmax(n, x, y, NUM_F64, !max, false) == x;
      set_bit(&o->pu, i, bool_op(op, a, p));
      set_bit(&o->pv, i, bool_op(op, nx && ny, p));
      if (x == y) o->pu_any |= 1u << i;
    } else {
      bool r = holds(code, order(n, x, y, NUM_F64));
      set_bit(&o->pu, i, bool_op(op, r, p));
      set_bit(&o->pv, i, bool_op(op, !r, p));
    }
  }
}

bool ref_f64(const struct ref_in *in, struct ref_out *o)
{
  struct arith a = {.f = NUM_F64,
                    .rnd = get(in, FLD_RND),
                    .op = in->sem == SEM_DADD   ? ADD
                          : in->sem == SEM_DMUL ? MUL
                                                : FMA};
  struct num n;
  num_init(&n);
  o->rows = 2;
  o->any_nan64 = true;
  if (in->sem == SEM_DSETP || in->sem == SEM_DSETP_MNMX) {
    f64_compare(&n, in, o);
  } else {
    EACH_LANE
    {
      uint64_t r =
          compute(&n, &a, f64_source(in, 0, i), f64_source(in, 1, i), f64_source(in, 2, i));
      o->d[0][i] = (uint32_t)r;
      o->d[1][i] = (uint32_t)(r >> 32);
    }
  }
  num_free(&n);
  return true;
}
