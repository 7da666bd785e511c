/* Instructions of sm_100 and sm_120 on pairs: 64-bit integers, pairs of FP32 numbers.
 *
 * Sources and result of a 64-bit instruction are register pairs, low word first; a constant is
 * sign-extended when the instruction is decoded. The FP32 pairs run the scalar FP32 handler twice.
 * Rules from the PTX ISA (add.f32x2, min.s64) and compiler output.
 */
#include <string.h>

#include "func/sass/fpbits.h"
#include "func/sass/sem_int.h"

/* ---- 64-bit integers --------------------------------------------------------------------------- */

#define WIDE(x) LANE64_NOT(x)

#define WIDE_RESULT(v)                                                                             \
  uint64_t r = (v);                                                                                \
  d[i] = (uint32_t)r;                                                                              \
  d[LANES + i] = (uint32_t)(r >> 32)

LANE_HANDLER(mov64)
{
  LANE_UNUSED;
  LANE_ROW(a);
  LANE_ROWS(2, WIDE_RESULT(LANE64_RAW(a)););
  return true;
}

LANE_HANDLER(sel64)
{
  LANE_UNUSED;
  LANE_ROW(a);
  LANE_ROW(b);
  const uint32_t p = pred_read(w, u->pp, u->pp_xor);
  LANE_ROWS(2, WIDE_RESULT(LANE_BIT(p) ? LANE64_RAW(a) : LANE64_RAW(b)););
  return true;
}

/* a + b + c; a negated source comes complemented, u->imm adds what completes the negation. */
LANE_HANDLER(add64)
{
  LANE_UNUSED;
  LANE_SRC(a);
  LANE_SRC(b);
  LANE_SRC(c);
  const uint64_t ones = u->imm;
  LANE_ROWS(2, WIDE_RESULT(WIDE(a) + WIDE(b) + WIDE(c) + ones););
  return true;
}

/* How many times the sum of three and of `k` (up to three) carries out of 64 bits. */
static inline unsigned add64_carries(uint64_t a, uint64_t b, uint64_t c, uint64_t k)
{
  uint64_t ab = a + b, abc = ab + c, sum = abc + k;
  return (unsigned)(ab < a) + (unsigned)(abc < c) + (unsigned)(sum < k);
}

/* The same with carries out, Pu the first and Pv the second; with .X (u->imm2) Pp and Pq are carries in, and negation
 * is complement (IADD.64 has one of each and no c: see IADD3). */
LANE_HANDLER(add64_carry)
{
  LANE_UNUSED;
  LANE_SRC(a);
  LANE_SRC(b);
  LANE_SRC(c);
  const uint64_t ones = u->imm;
  const uint32_t p = u->imm2 ? pred_read(w, u->pp, u->pp_xor) : 0, q = u->imm2 ? pred_read(w, u->pq, u->pq_xor) : 0;
  uint32_t out = 0, out2 = 0;
  for (unsigned i = 0; i < LANES; i++) {
    unsigned carries = add64_carries(WIDE(a), WIDE(b), WIDE(c), ones + LANE_BIT(p) + LANE_BIT(q));
    if (carries >= 1) out |= lane_bit[i];
    if (carries >= 2) out2 |= lane_bit[i];
  }
  LANE_ROWS(2, WIDE_RESULT(WIDE(a) + WIDE(b) + WIDE(c) + ones + LANE_BIT(p) + LANE_BIT(q)););
  pred_write(w, u->pu, m, out);
  if (u->pv != PRED_NONE) pred_write(w, u->pv, m, out2);
  return true;
}

static uop_fn *pick_add64(const struct sass_inst *s, struct uop *u)
{
  bool x = sass_get(s, FLD_X);
  if (s->src[2].kind == SRC_NONE) u->pq_xor = FULL_MASK; /* IADD.64: no second carry */
  u->imm = x ? 0 : (uint32_t)s->src[0].neg + s->src[1].neg + s->src[2].neg;
  u->imm2 = x;
  return x || u->pu != PRED_NONE || u->pv != PRED_NONE ? add64_carry : add64;
}

/* u->imm: 1 signed. Pp: minimum. */
LANE_HANDLER(mnmx64)
{
  LANE_UNUSED;
  LANE_ROW(a);
  LANE_ROW(b);
  const uint32_t min = pred_read(w, u->pp, u->pp_xor);
  const uint64_t flip = u->imm ? 1ull << 63 : 0;
  LANE_ROWS(2, uint64_t x = LANE64_RAW(a); uint64_t y = LANE64_RAW(b);
            bool take_a = ((x ^ flip) < (y ^ flip)) == (LANE_BIT(min) != 0);
            WIDE_RESULT(take_a ? x : y););
  return true;
}

/* What Pu, Pv and Pq do is not established: only the form the compiler emits without them. */
static uop_fn *pick_mnmx64(const struct sass_inst *s, struct uop *u)
{
  enum { TYPE_U64 = 2, TYPE_S64 = 3 };
  unsigned type = (unsigned)sass_get(s, FLD_IMNMX64_TYPE);
  bool plain = u->pu == PRED_NONE && u->pv == PRED_NONE && s->pq.index == SASS_PT && s->pq.neg;
  if (!plain || (type != TYPE_U64 && type != TYPE_S64)) return NULL;
  u->imm = type == TYPE_S64;
  return mnmx64;
}

/* Product of polynomials over GF(2), the lower or the upper 64 coefficients, plus c. */
static inline uint64_t clmul(uint64_t a, uint64_t b, bool high)
{
  uint64_t low = b & 1 ? a : 0, up = 0;
  for (unsigned k = 1; k < 64; k++) {
    const uint64_t on = 0 - (b >> k & 1);
    low ^= a << k & on, up ^= a >> (64 - k) & on;
  }
  return high ? up : low;
}

LANE_HANDLER(clmad) /* u->imm: the upper half */
{
  LANE_UNUSED;
  LANE_ROW(a);
  LANE_ROW(b);
  LANE_ROW(c);
  const bool high = u->imm;
  LANE_ROWS(2, WIDE_RESULT(clmul(LANE64_RAW(a), LANE64_RAW(b), high) ^ LANE64_RAW(c)););
  return true;
}

/* u->imm: complement of the result; u->imm2: combine | signed << 8 | equality << 9. */
LANE_HANDLER(isetp64)
{
  LANE_UNUSED;
  LANE_ROW(a);
  LANE_ROW(b);
  const uint64_t flip = u->imm2 >> 8 & 1 ? 1ull << 63 : 0;
  const bool equality = u->imm2 >> 9 & 1;
  const uint32_t p = pred_read(w, u->pp, u->pp_xor);
  uint32_t bits = 0;
  for (unsigned i = 0; i < LANES; i++) {
    uint64_t x = LANE64_RAW(a) ^ flip, y = LANE64_RAW(b) ^ flip;
    if (equality ? x == y : x < y) bits |= lane_bit[i];
  }
  bits ^= u->imm;
  pred_write(w, u->pu, m, bool_combine(u->imm2 & 3, bits, p));
  pred_write(w, u->pv, m, bool_combine(u->imm2 & 3, ~bits, p));
  return true;
}

static uop_fn *pick_isetp64(const struct sass_inst *s, struct uop *u)
{
  enum { ICMP_F, ICMP_LT, ICMP_EQ, ICMP_LE, ICMP_GT, ICMP_NE, ICMP_GE, ICMP_T };
  unsigned cmp = (unsigned)sass_get(s, FLD_ICMP);
  if (cmp == ICMP_F || cmp == ICMP_T || sass_get(s, FLD_ISETP_EX) || sass_get(s, FLD_BOOL) > 2)
    return NULL;
  u->imm = cmp == ICMP_NE || cmp == ICMP_LE || cmp == ICMP_GE ? FULL_MASK : 0;
  u->imm2 = (uint32_t)(sass_get(s, FLD_BOOL) | sass_get(s, FLD_SIGNED64) << 8);
  if (cmp == ICMP_EQ || cmp == ICMP_NE) u->imm2 |= 1u << 9;
  if (cmp == ICMP_GT || cmp == ICMP_LE) { /* a > b is b < a; a <= b is !(b < a) */
    struct row_ref t = u->a;
    u->a = u->b;
    u->b = t;
  }
  return isetp64;
}

/* ---- four bytes (sm_120) ------------------------------------------------------------------------ */

/* a + b in each byte; u->imm completes the negation of a complemented source. */
LANE_HANDLER(add_8x4)
{
  LANE_UNUSED;
  LANE_SRC(a);
  LANE_SRC(b);
  const uint32_t ones = u->imm;
  LANE_ROWS(1, uint32_t r = 0;
            for (unsigned k = 0; k < 32; k += 8)
              r |= ((LANE(a) >> k) + (LANE(b) >> k) + ones) % 256u << k;
            d[i] = r;);
  return true;
}

/* Minimum (Pp) or maximum in each byte; u->imm flips the sign bits of signed bytes. */
LANE_HANDLER(minmax_8x4)
{
  LANE_UNUSED;
  LANE_ROW(a);
  LANE_ROW(b);
  const uint32_t flip = u->imm, p = pred_read(w, u->pp, u->pp_xor);
  LANE_ROWS(1, uint32_t x = LANE_RAW(a) ^ flip; uint32_t y = LANE_RAW(b) ^ flip; uint32_t r = 0;
            for (unsigned k = 0; k < 32; k += 8) {
              uint32_t bx = x >> k & 0xff;
              uint32_t by = y >> k & 0xff;
              r |= ((bx < by) == (LANE_BIT(p) != 0) ? bx : by) << k;
            } d[i] = r ^ flip;);
  return true;
}

static uop_fn *pick_8x4(const struct sass_inst *s, struct uop *u)
{
  enum { S8X4 = 5 };
  if (s->sem == SEM_VIADD) {
    u->imm = (uint32_t)s->src[0].neg + s->src[1].neg;
    return add_8x4;
  }
  bool plain = uop_is_raw(u) && u->pu == PRED_NONE && u->pv == PRED_NONE;
  u->imm = sass_get(s, FLD_VMNMX_FMT120) == S8X4 ? 0x80808080u : 0;
  return plain && !sass_get(s, FLD_VMNMX_RELU) && sass_get(s, FLD_VMNMX_FMT120) <= S8X4 ? minmax_8x4
                                                                                        : NULL;
}

/* ---- FP32 pairs ---------------------------------------------------------------------------- */

/* The sign of an operand whose upper half has the other one (.NP). ptxas writes a pair of constants of
 * different signs so: their magnitudes in uniform registers, the signs at the other factor. */
static uint32_t upper_sign(const struct sass_src *src, unsigned half)
{
  return half && src->swz & SASS_UPPER_NEG ? F32_SIGN : 0;
}

/* The scalar FP32 operation `sem` for one half of the pairs, on rows that half_rows() sets. */
static uop_fn *scalar(const struct uop *u, unsigned sem, unsigned half, struct sass_inst *s, struct uop *t)
{
  *s = *u->s;
  *t = *u;
  s->sem = (uint16_t)sem;
  t->a_xor ^= upper_sign(&s->src[0], half);
  t->b_xor ^= upper_sign(&s->src[1], half);
  t->c_xor ^= upper_sign(&s->src[2], half);
  t->s = s;
  return SEM_NAME(sem_fp_handler)(s, t);
}

/* One half of the pairs: swizzle 0 HI_LO, 1 LO_HI, 2 one register for both halves, as a constant is. */
static void half_rows(struct uop *t, const struct uop *u, unsigned half)
{
  const struct sass_src *src = u->s->src;
  unsigned of[3];
  for (unsigned n = 0; n < 3; n++)
    of[n] = src[n].kind == SRC_IMM || (src[n].swz & 3) == 2 ? 0 : half ^ (src[n].swz & 1);
  t->a.off = u->a.off + of[0] * ROW_BYTES;
  t->b.off = u->b.off + of[1] * ROW_BYTES;
  t->c.off = u->c.off + of[2] * ROW_BYTES;
}

/* The first result is kept aside: the second operation may read the register it goes to. */
LANE_HANDLER(f2)
{
  struct sass_inst s;
  struct uop t;
  uop_fn *fn = scalar(u, u->imm, 0, &s, &t);
  uint32_t *d = row_dst(w, u->d), low[LANES], old[LANES];
  memcpy(old, d, sizeof old);
  half_rows(&t, u, 0);
  if (!fn || !fn(w, &t, m, e, f)) return false;
  memcpy(low, d, sizeof low);
  memcpy(d, old, sizeof old);
  fn = scalar(u, u->imm, 1, &s, &t);
  half_rows(&t, u, 1);
  t.d.off += ROW_BYTES;
  if (!fn || !fn(w, &t, m, e, f)) return false;
  memcpy(d, low, sizeof low);
  return true;
}

static uop_fn *pick_f2(const struct sass_inst *s, struct uop *u, unsigned sem)
{
  struct sass_inst v;
  struct uop t;
  for (unsigned n = 0; n < 3; n++)
    if ((s->src[n].swz & 3) > 2) return NULL;
  u->imm = sem;
  return scalar(u, sem, 0, &v, &t) && scalar(u, sem, 1, &v, &t) ? f2 : NULL;
}

uop_fn *SEM_NAME(sem_wide_handler)(const struct sass_inst *s, struct uop *u)
{
  switch (s->sem) {
  case SEM_MOV_64: return uop_is_raw(u) && (!sass_has(s, FLD_MOV_MASK) ||
                                            sass_get(s, FLD_MOV_MASK) == 0xf) ? mov64 : NULL;
  case SEM_SEL_64: return uop_is_raw(u) ? sel64 : NULL;
  case SEM_IADD_64: return pick_add64(s, u);
  case SEM_ISETP_64: return pick_isetp64(s, u);
  case SEM_IMNMX_64: return pick_mnmx64(s, u);
  case SEM_CLMAD: u->imm = (uint32_t)sass_get(s, FLD_CLMAD_HIGH); return uop_is_raw(u) ? clmad : NULL;
  case SEM_VIADD: case SEM_VIMNMX: return pick_8x4(s, u);
  case SEM_FADD2: return pick_f2(s, u, SEM_FADD);
  case SEM_FMUL2: return pick_f2(s, u, SEM_FMUL);
  case SEM_FFMA2: return pick_f2(s, u, SEM_FFMA);
  default: return NULL;
  }
}
