/* Integer arithmetic, comparison, selection and moves.
 *
 * Compiled once per x86-64 level (lanes.h). Logic, shifts and bytes are in sem_logic.c, minima in
 * sem_minmax.c; the picker at the end falls back to them. The uniform datapath runs the same handlers
 * (sem_uniform.c).
 *
 * Exactness follows Mesa NAK's constant folding (ir.rs, checked there on hardware) and the PTX ISA;
 * operand order is that of struct sass_inst. A form whose meaning is not known gets no handler.
 */
#include "func/sass/sem_int.h"

/* ---- IADD3, VIADD -------------------------------------------------------------------------------
 * d = a + b + c; a negated source enters as its complement, with the + 1 counted in the sum, so
 * that carries come out as the adder makes them (NAK, OpIAdd3). X: complement only, plus two carry
 * predicates. Pu = sum >= 2^32, Pv = sum >= 2^33. */

/* Carries out of a + b + c + k: the sum's bits above 31, 0..3. */
static inline uint32_t add_carries(uint32_t a, uint32_t b, uint32_t c, uint32_t k)
{
  uint32_t ab = a + b, abc = ab + c, sum = abc + k;
  return (uint32_t)(ab < a) + (uint32_t)(abc < c) + (uint32_t)(sum < k);
}

LANE_OP(iadd3_raw, a + b + c)
LANE_OP(iadd2_raw, a + b)

LANE_HANDLER(iadd2)
{
  LANE_UNUSED;
  LANE_SRC(a);
  LANE_SRC(b);
  const uint32_t ones = u->imm;
  LANE_ROWS(1, d[i] = LANE(a) + LANE(b) + ones;);
  return true;
}

LANE_HANDLER(iadd3)
{
  LANE_UNUSED;
  LANE_SRC(a);
  LANE_SRC(b);
  LANE_SRC(c);
  const uint32_t ones = u->imm;
  LANE_ROWS(1, d[i] = LANE(a) + LANE(b) + LANE(c) + ones;);
  return true;
}

LANE_HANDLER(iadd3_carry)
{
  LANE_UNUSED;
  LANE_SRC(a);
  LANE_SRC(b);
  LANE_SRC(c);
  const uint32_t ones = u->imm;
  LANE_BITS(over, add_carries(LANE(a), LANE(b), LANE(c), ones) >= 1);
  if (u->pv != PRED_NONE) {
    LANE_BITS(over2, add_carries(LANE(a), LANE(b), LANE(c), ones) >= 2);
    pred_write(w, u->pv, m, over2);
  }
  LANE_ROWS(1, d[i] = LANE(a) + LANE(b) + LANE(c) + ones;);
  pred_write(w, u->pu, m, over);
  return true;
}

LANE_HANDLER(iadd3_x)
{
  LANE_UNUSED;
  LANE_SRC(a);
  LANE_SRC(b);
  LANE_SRC(c);
  const uint32_t p = pred_read(w, u->pp, u->pp_xor), q = pred_read(w, u->pq, u->pq_xor);
  if (u->pu != PRED_NONE) {
    LANE_BITS(over, add_carries(LANE(a), LANE(b), LANE(c), LANE_BIT(p) + LANE_BIT(q)) >= 1);
    pred_write(w, u->pu, m, over);
  }
  if (u->pv != PRED_NONE) {
    LANE_BITS(over2, add_carries(LANE(a), LANE(b), LANE(c), LANE_BIT(p) + LANE_BIT(q)) >= 2);
    pred_write(w, u->pv, m, over2);
  }
  LANE_ROWS(1, d[i] = LANE(a) + LANE(b) + LANE(c) + LANE_BIT(p) + LANE_BIT(q););
  return true;
}

static uop_fn *pick_iadd3(const struct sass_inst *s, struct uop *u)
{
  bool carry = u->pu != PRED_NONE || u->pv != PRED_NONE, two = s->src[2].kind == SRC_NONE; /* IADD */
  if (two) u->pq_xor = FULL_MASK; /* no second carry */
  if (sass_get(s, FLD_X)) return iadd3_x;
  u->imm = (uint32_t)s->src[0].neg + s->src[1].neg + s->src[2].neg;
  if (carry) return iadd3_carry;
  if (two || src_is_value(&s->src[2], 0)) return uop_is_raw(u) ? iadd2_raw : iadd2;
  return uop_is_raw(u) ? iadd3_raw : iadd3;
}

LANE_HANDLER(viadd_16x2)
{
  LANE_UNUSED;
  LANE_SRC(a);
  LANE_SRC(b);
  const uint32_t ones = u->imm;
  LANE_ROWS(1, uint32_t lo = LANE(a) + LANE(b) + ones;
            uint32_t hi = (LANE(a) >> 16) + (LANE(b) >> 16) + ones;
            d[i] = (lo & 0xffff) | hi << 16;);
  return true;
}

LANE_HANDLER(viadd_saturating)
{
  LANE_UNUSED;
  LANE_SRC(a);
  LANE_SRC(b);
  const int64_t ones = u->imm; /* a negated operand is complemented */
  LANE_ROWS(1, int64_t r = (int64_t)(int32_t)LANE(a) + (int32_t)LANE(b) + ones;
            d[i] = (uint32_t)(r > INT32_MAX ? INT32_MAX : r < INT32_MIN ? INT32_MIN : r););
  return true;
}

static uop_fn *pick_viadd(const struct sass_inst *s, struct uop *u)
{
  enum { FMT_S32 = 2 };
  if (s->src[0].neg && s->src[1].neg) return NULL;
  u->imm = (uint32_t)s->src[0].neg + s->src[1].neg;
  if (sass_get(s, FLD_VIADD_ISAT))
    return sass_get(s, FLD_VIADD_FMT120) == FMT_S32 ? viadd_saturating : NULL;
  if (sass_get(s, FLD_VIADD_FMT120) > 1) return SEM_NAME(sem_wide_handler)(s, u);
  if (sass_get(s, FLD_VIADD_16X2) || sass_get(s, FLD_VIADD_FMT120)) return viadd_16x2;
  return u->imm == 0 ? iadd2_raw : iadd2;
}

/* ---- IMAD ---------------------------------------------------------------------------------------
 * Low word of a * b + c. X: the addend may be complemented, Pp is added. The assembler's MOV, SHL
 * and IADD forms are plain encodings. */

LANE_OP(move_c, c)
LANE_OP(imad_mul, a * b)
LANE_OP(imad_shl, a << imm)

LANE_HANDLER(imad_add)
{
  LANE_UNUSED;
  LANE_ROW(a);
  LANE_SRC(c);
  const uint32_t ones = u->imm;
  LANE_ROWS(1, d[i] = LANE_RAW(a) + LANE(c) + ones;);
  return true;
}

LANE_OP(imad_raw, a * b + c)
LANE_OP(imad_neg, a * b - c)

LANE_HANDLER(imad_x)
{
  LANE_UNUSED;
  LANE_ROW(a);
  LANE_ROW(b);
  LANE_SRC(c);
  const uint32_t p = pred_read(w, u->pp, u->pp_xor);
  LANE_ROWS(1, d[i] = LANE_RAW(a) * LANE_RAW(b) + LANE(c) + LANE_BIT(p););
  return true;
}

/* IMAD.X as the compiler writes a carry: no product. */
LANE_HANDLER(imad_x_add)
{
  LANE_UNUSED;
  LANE_ROW(a);
  LANE_SRC(c);
  const uint32_t p = pred_read(w, u->pp, u->pp_xor);
  LANE_ROWS(1, d[i] = LANE_RAW(a) + LANE(c) + LANE_BIT(p););
  return true;
}

static bool is_power_of_two(uint32_t v)
{
  return v != 0 && (v & (v - 1)) == 0;
}

static uop_fn *pick_imad(const struct sass_inst *s, struct uop *u)
{
  const struct sass_src *a = &s->src[0], *b = &s->src[1], *c = &s->src[2];
  if (a->neg || b->neg || u->pu != PRED_NONE) return NULL;
  bool no_product = src_is_value(a, 0) || src_is_value(b, 0);
  if (sass_get(s, FLD_X)) {
    if (no_product && !src_is_value(a, 0)) u->a = u->b; /* the zero of the two */
    return no_product || src_is_value(b, 1) ? imad_x_add : imad_x;
  }
  u->imm = c->neg;
  if (no_product && !c->neg) return move_c;
  if (src_is_value(b, 1)) return imad_add;
  if (c->neg) return imad_neg;
  if (!src_is_value(c, 0)) return imad_raw;
  if (b->kind == SRC_IMM && is_power_of_two(b->imm)) {
    u->imm = (uint32_t)__builtin_ctz(b->imm);
    return imad_shl;
  }
  return imad_mul;
}

/* ---- IMAD.WIDE, IMAD.HI -------------------------------------------------------------------------
 * 64-bit a * b + c, c a register pair; WIDE writes the pair, HI its upper word. Pu = carry out of
 * the 64-bit sum; X adds Pp at bit 0 and complements instead of negating. Words are added
 * separately, which keeps every vector 32 bits wide. */

static inline uint32_t mul_hi(bool is_signed, uint32_t a, uint32_t b)
{
  if (is_signed) return (uint32_t)((uint64_t)((int64_t)(int32_t)a * (int32_t)b) >> 32);
  return (uint32_t)((uint64_t)a * b >> 32);
}

/* Carry out of the low word of x + y + k. */
static inline uint32_t carry_lo(uint32_t x, uint32_t y, uint32_t k)
{
  uint32_t xy = x + y;
  return (uint32_t)(xy < x) + (uint32_t)(xy + k < k);
}

#define LANE_C_HI ((row_c[LANES + i] & and_c) ^ xor_c)

/* Any modifiers: u->imm = the + 1 of a negated addend, u->imm2 bit 0 = X, bit 1 = HI. */
static inline bool wide_full(struct func_warp *w, const struct uop *u, uint32_t m,
                             bool is_signed)
{
  LANE_ROW(a);
  LANE_ROW(b);
  LANE_SRC(c);
  /* At most one of the two is not zero: the form with carry in does not negate. */
  const uint32_t p = u->imm2 & 1 ? pred_read(w, u->pp, u->pp_xor) : u->imm ? FULL_MASK : 0;
  if (u->pu != PRED_NONE) {
    LANE_BITS(over, add_carries(mul_hi(is_signed, LANE_RAW(a), LANE_RAW(b)), LANE_C_HI, 0,
                                carry_lo(LANE_RAW(a) * LANE_RAW(b), LANE(c), LANE_BIT(p))) != 0);
    pred_write(w, u->pu, m, over);
  }
  if (u->imm2 & 2) {
    LANE_ROWS(1, uint32_t hi = mul_hi(is_signed, LANE_RAW(a), LANE_RAW(b)) + LANE_C_HI;
              d[i] = hi + carry_lo(LANE_RAW(a) * LANE_RAW(b), LANE(c), LANE_BIT(p)););
    return true;
  }
  LANE_ROWS(2, uint32_t lo = LANE_RAW(a) * LANE_RAW(b); uint32_t k = LANE_BIT(p);
            uint32_t hi = mul_hi(is_signed, LANE_RAW(a), LANE_RAW(b)) + LANE_C_HI;
            uint32_t sum = lo + LANE(c) + k; hi += carry_lo(lo, LANE(c), k); d[i] = sum;
            d[LANES + i] = hi;);
  return true;
}

#define WIDE_KIND(name, is_signed)                                                                 \
  LANE_OP(name##_mul_hi, mul_hi(is_signed, a, b))                                                  \
  LANE_HANDLER(name##_mul)                                                                         \
  {                                                                                                \
    LANE_UNUSED;                                                                                   \
    LANE_ROW(a);                                                                                   \
    LANE_ROW(b);                                                                                   \
    LANE_ROWS(2, uint32_t lo = LANE_RAW(a) * LANE_RAW(b);                                          \
              uint32_t hi = mul_hi(is_signed, LANE_RAW(a), LANE_RAW(b)); d[i] = lo;                \
              d[LANES + i] = hi;);                                                                 \
    return true;                                                                                   \
  }                                                                                                \
  LANE_HANDLER(name)                                                                               \
  {                                                                                                \
    LANE_UNUSED;                                                                                   \
    LANE_ROW(a);                                                                                   \
    LANE_ROW(b);                                                                                   \
    LANE_ROW(c);                                                                                   \
    LANE_ROWS(2, uint32_t lo = LANE_RAW(a) * LANE_RAW(b);                                          \
              uint32_t hi = mul_hi(is_signed, LANE_RAW(a), LANE_RAW(b)) + row_c[LANES + i];        \
              uint32_t sum = lo + LANE_RAW(c); hi += (uint32_t)(sum < lo); d[i] = sum;             \
              d[LANES + i] = hi;);                                                                 \
    return true;                                                                                   \
  }                                                                                                \
  LANE_HANDLER(name##_full)                                                                        \
  {                                                                                                \
    LANE_UNUSED;                                                                                   \
    return wide_full(w, u, m, is_signed);                                                          \
  }

WIDE_KIND(wide_u32, false)
WIDE_KIND(wide_s32, true)

/* Product with 1 << n (u->imm), the usual scaled index; n = 0..30. */
#define WIDE_SHL(name, upper)                                                                      \
  LANE_HANDLER(name)                                                                               \
  {                                                                                                \
    LANE_UNUSED;                                                                                   \
    LANE_ROW(a);                                                                                   \
    LANE_ROW(c);                                                                                   \
    const uint32_t n = u->imm;                                                                     \
    LANE_ROWS(2, uint32_t x = LANE_RAW(a); uint32_t lo = x << n;                                   \
              uint32_t hi = (uint32_t)((upper) >> 1 >> (31 - n)) + row_c[LANES + i];               \
              uint32_t sum = lo + LANE_RAW(c); hi += (uint32_t)(sum < lo); d[i] = sum;             \
              d[LANES + i] = hi;);                                                                 \
    return true;                                                                                   \
  }

WIDE_SHL(wide_shl_u32, x)
WIDE_SHL(wide_shl_s32, (int32_t)x)

static uop_fn *pick_wide(const struct sass_inst *s, struct uop *u, bool high)
{
  const struct sass_src *b = &s->src[1];
  bool is_signed = sass_get(s, FLD_SIGNED), x = sass_get(s, FLD_X);
  if (s->src[0].neg || s->src[1].neg) return NULL;
  bool plain = !x && u->pu == PRED_NONE && !s->src[2].neg, no_c = src_is_value(&s->src[2], 0);
  if (plain && !high && b->kind == SRC_IMM && is_power_of_two(b->imm) && !(b->imm >> 31)) {
    u->imm = (uint32_t)__builtin_ctz(b->imm);
    return is_signed ? wide_shl_s32 : wide_shl_u32;
  }
  if (plain && no_c && high) return is_signed ? wide_s32_mul_hi : wide_u32_mul_hi;
  if (plain && no_c) return is_signed ? wide_s32_mul : wide_u32_mul;
  if (plain && !high) return is_signed ? wide_s32 : wide_u32;
  u->imm = !x && s->src[2].neg;
  u->imm2 = (uint32_t)x | (uint32_t)high << 1;
  return is_signed ? wide_s32_full : wide_u32_full;
}

/* ---- LEA ----------------------------------------------------------------------------------------
 * (a << n) + b; HI: upper word of ({c,a} << n), plus b; SX32: c is the sign of a. Negation (X:
 * complement) of a applies to the shifted value. Pu = carry out of the 32-bit addition, X adds Pp
 * (NAK, OpLea and OpLeaX). */

static inline uint32_t lea_hi_word(uint32_t lo, uint32_t hi, uint32_t n)
{
  return hi << n | (lo >> 1) >> (31 - n); /* n = 0: hi alone */
}

#define LEA_PLAIN(name, rows, shifted)                                                             \
  LANE_HANDLER(name)                                                                               \
  {                                                                                                \
    LANE_UNUSED;                                                                                   \
    rows;                                                                                          \
    LANE_ROW(b);                                                                                   \
    const uint32_t n = u->imm;                                                                     \
    LANE_ROWS(1, d[i] = (shifted) + LANE_RAW(b););                                                 \
    return true;                                                                                   \
  }
LEA_PLAIN(lea_lo, LANE_ROW(a), LANE_RAW(a) << n)
LEA_PLAIN(lea_hi, LANE_ROW(a); LANE_ROW(c), lea_hi_word(LANE_RAW(a), LANE_RAW(c), n))
LEA_PLAIN(lea_hi_sx, LANE_ROW(a), lea_hi_word(LANE_RAW(a), SX32(LANE_RAW(a)), n))

enum { LEA_HI = 1, LEA_SX = 2, LEA_X = 4, LEA_ONES = 8 /* times the number of negated sources */ };

static inline uint32_t lea_shifted(uint32_t kind, uint32_t a, uint32_t c, uint32_t n)
{
  if (!(kind & LEA_HI)) return a << n;
  return lea_hi_word(a, kind & LEA_SX ? SX32(a) : c, n);
}

/* Modifiers, carry in or out; `kind` is a constant of the caller. */
static inline bool lea_any(struct func_warp *w, const struct uop *u, uint32_t m, uint32_t kind)
{
  LANE_SRC(a);
  LANE_SRC(b);
  LANE_ROW(c);
  (void)and_a;
  const uint32_t n = u->imm, ones = u->imm2 / LEA_ONES;
  const uint32_t p = u->imm2 & LEA_X ? pred_read(w, u->pp, u->pp_xor) : 0;
  if (u->pu != PRED_NONE) {
    LANE_BITS(over, add_carries(lea_shifted(kind, LANE_RAW(a), LANE_RAW(c), n) ^ xor_a, LANE(b), 0,
                                LANE_BIT(p) + ones) != 0);
    pred_write(w, u->pu, m, over);
  }
  LANE_ROWS(1, d[i] = (lea_shifted(kind, LANE_RAW(a), LANE_RAW(c), n) ^ xor_a) + LANE(b) +
                      LANE_BIT(p) + ones;);
  return true;
}

LANE_HANDLER(lea_lo_any)
{
  LANE_UNUSED;
  return lea_any(w, u, m, 0);
}

LANE_HANDLER(lea_hi_any)
{
  LANE_UNUSED;
  return lea_any(w, u, m, LEA_HI);
}

LANE_HANDLER(lea_hi_sx_any)
{
  LANE_UNUSED;
  return lea_any(w, u, m, LEA_HI | LEA_SX);
}

static uop_fn *pick_lea(const struct sass_inst *s, struct uop *u)
{
  bool hi = sass_get(s, FLD_LEA_HI), sx = sass_get(s, FLD_LEA_SX32), x = sass_get(s, FLD_X);
  if (sx && !hi) return NULL;
  if (s->src[2].neg) return NULL;
  u->imm = (uint32_t)sass_get(s, FLD_LEA_SHIFT);
  if (!x && u->pu == PRED_NONE && uop_is_raw(u)) return sx ? lea_hi_sx : hi ? lea_hi : lea_lo;
  uint32_t ones = x ? 0 : (uint32_t)s->src[0].neg + s->src[1].neg;
  u->imm2 = (x ? LEA_X : 0) | ones * LEA_ONES;
  return sx ? lea_hi_sx_any : hi ? lea_hi_any : lea_lo_any;
}

/* ---- ISETP --------------------------------------------------------------------------------------
 * Pu = compare combined with Pp, Pv = its complement combined with Pp. Every comparison is one of
 * ==, signed <, unsigned <, with operands exchanged or the result inverted (u->imm). EX compares
 * upper words: where they are equal, the low words' result Pr decides (NAK, OpISetP). */

static inline bool isetp_end(struct func_warp *w, const struct uop *u, uint32_t m, uint32_t bits)
{
  uint32_t p = pred_read(w, u->pp, u->pp_xor);
  pred_write(w, u->pv, m, bool_combine(u->imm2, ~bits, p));
  pred_write(w, u->pu, m, bool_combine(u->imm2, bits, p));
  return true;
}

LANE_HANDLER(isetp_eq)
{
  LANE_UNUSED;
  LANE_ROW(a);
  LANE_ROW(b);
  LANE_BITS(bits, LANE_RAW(a) == LANE_RAW(b));
  return isetp_end(w, u, m, bits ^ u->imm);
}

LANE_HANDLER(isetp_lt_u32)
{
  LANE_UNUSED;
  LANE_ROW(a);
  LANE_ROW(b);
  LANE_BITS(bits, LANE_RAW(a) < LANE_RAW(b));
  return isetp_end(w, u, m, bits ^ u->imm);
}

LANE_HANDLER(isetp_lt_s32)
{
  LANE_UNUSED;
  LANE_ROW(a);
  LANE_ROW(b);
  LANE_BITS(bits, (int32_t)LANE_RAW(a) < (int32_t)LANE_RAW(b));
  return isetp_end(w, u, m, bits ^ u->imm);
}

LANE_HANDLER(isetp_const)
{
  LANE_UNUSED;
  return isetp_end(w, u, m, u->imm);
}

static inline bool isetp_ex(struct func_warp *w, const struct uop *u, uint32_t m, uint32_t bits)
{
  LANE_ROW(a);
  LANE_ROW(b);
  LANE_BITS(same, LANE_RAW(a) == LANE_RAW(b));
  uint32_t low = pred_read(w, u->pr, u->pr_xor);
  return isetp_end(w, u, m, (same & low) | (~same & (bits ^ u->imm)));
}

LANE_HANDLER(isetp_eq_ex)
{
  LANE_UNUSED;
  /* Equal words defer to Pr, so what the comparison says elsewhere is constant. */
  return isetp_ex(w, u, m, 0);
}

LANE_HANDLER(isetp_lt_u32_ex)
{
  LANE_UNUSED;
  LANE_ROW(a);
  LANE_ROW(b);
  LANE_BITS(bits, LANE_RAW(a) < LANE_RAW(b));
  return isetp_ex(w, u, m, bits);
}

LANE_HANDLER(isetp_lt_s32_ex)
{
  LANE_UNUSED;
  LANE_ROW(a);
  LANE_ROW(b);
  LANE_BITS(bits, (int32_t)LANE_RAW(a) < (int32_t)LANE_RAW(b));
  return isetp_ex(w, u, m, bits);
}

static uop_fn *pick_isetp(const struct sass_inst *s, struct uop *u)
{
  enum { ICMP_F, ICMP_LT, ICMP_EQ, ICMP_LE, ICMP_GT, ICMP_NE, ICMP_GE, ICMP_T };
  unsigned cmp = (unsigned)sass_get(s, FLD_ICMP);
  bool ex = sass_get(s, FLD_ISETP_EX);
  u->imm2 = (uint32_t)sass_get(s, FLD_BOOL);
  if (u->imm2 > 2 || !uop_is_raw(u)) return NULL;
  u->imm = 0;
  if (cmp == ICMP_T || cmp == ICMP_NE || cmp == ICMP_LE || cmp == ICMP_GE) u->imm = FULL_MASK;
  if (cmp == ICMP_F || cmp == ICMP_T) return isetp_const;
  if (cmp == ICMP_EQ || cmp == ICMP_NE) return ex ? isetp_eq_ex : isetp_eq;
  if (cmp == ICMP_GT || cmp == ICMP_LE) { /* a > b is b < a; a <= b is !(b < a) */
    struct row_ref t = u->a;
    u->a = u->b;
    u->b = t;
  }
  if (sass_get(s, FLD_SIGNED)) return ex ? isetp_lt_s32_ex : isetp_lt_s32;
  return ex ? isetp_lt_u32_ex : isetp_lt_u32;
}

/* ---- selection and moves --------------------------------------------------------------------- */

LANE_HANDLER(sel)
{
  LANE_UNUSED;
  LANE_ROW(a);
  LANE_ROW(b);
  const uint32_t p = pred_read(w, u->pp, u->pp_xor);
  LANE_ROWS(1, uint32_t take = 0 - LANE_BIT(p);
            d[i] = (LANE_RAW(a) & take) | (LANE_RAW(b) & ~take););
  return true;
}

LANE_OP(mov, a)

/* The mask names lanes of each quad (pixels), as NAK has it; the compiler always sets all four. */
LANE_HANDLER(mov_quad_lanes)
{
  m &= u->imm * 0x11111111u;
  return mov(w, u, m, e, f);
}

static uop_fn *pick_mov(const struct sass_inst *s, struct uop *u)
{
  if (!uop_is_raw(u)) return NULL;
  if (!sass_has(s, FLD_MOV_MASK)) return mov;
  u->imm = (uint32_t)sass_get(s, FLD_MOV_MASK);
  return u->imm == 0xf ? mov : mov_quad_lanes;
}

/* d = a with the bits of the selected byte that b names replaced by predicates 0..6 (bit 7 reads as
 * 0). u->imm = shift of the byte, u->imm2 = first predicate (P0 or UP0). */
LANE_HANDLER(p2r)
{
  LANE_UNUSED;
  LANE_ROW(a);
  LANE_ROW(b);
  const uint32_t shift = u->imm;
  const uint32_t *const pred = &w->pred[u->imm2];
  LANE_ROWS(1, uint32_t mask = LANE_RAW(b) & 0xff; uint32_t bits = 0;
            for (unsigned k = 0; k < PRED_NONE; k++) bits |= LANE_BIT(pred[k]) << k;
            d[i] = (LANE_RAW(a) & ~(mask << shift)) | (bits & mask) << shift;);
  return true;
}

/* The reverse: predicates that b names are set from the selected byte of a. */
LANE_HANDLER(r2p)
{
  LANE_UNUSED;
  LANE_ROW(a);
  LANE_ROW(b);
  for (unsigned k = 0; k < PRED_NONE; k++) {
    const uint32_t bit = 1u << k, from = bit << u->imm;
    LANE_BITS(named, LANE_RAW(b) & bit);
    if (!named) continue;
    LANE_BITS(value, LANE_RAW(a) & from);
    pred_write(w, u->imm2 + k, m & named, value);
  }
  return true;
}

static uop_fn *pick_pr(const struct sass_inst *s, struct uop *u, uop_fn *fn)
{
  u->imm = 8 * (uint32_t)sass_get(s, FLD_PR_BYTE);
  u->imm2 = u->flags & UOP_UNIFORM ? PRED_UNIFORM : 0;
  return uop_is_raw(u) ? fn : NULL;
}

/* Chooses the handler of an integer instruction; NULL: another file's, or not executable yet. */
uop_fn *SEM_NAME(sem_int_handler)(const struct sass_inst *s, struct uop *u)
{
  switch (s->sem) {
  case SEM_IADD3: return pick_iadd3(s, u);
  case SEM_VIADD: return pick_viadd(s, u);
  case SEM_IMAD: return pick_imad(s, u);
  case SEM_IMAD_WIDE: return pick_wide(s, u, false);
  case SEM_IMAD_HI: return pick_wide(s, u, true);
  case SEM_LEA: return pick_lea(s, u);
  case SEM_ISETP: return pick_isetp(s, u);
  case SEM_SEL: return uop_is_raw(u) ? sel : NULL;
  case SEM_MOV: return pick_mov(s, u);
  case SEM_P2R: return pick_pr(s, u, p2r);
  case SEM_R2P: return pick_pr(s, u, r2p);
  case SEM_MOV_64: case SEM_SEL_64: case SEM_IADD_64: case SEM_ISETP_64: case SEM_IMNMX_64: case SEM_CLMAD:
  case SEM_FADD2: case SEM_FMUL2: case SEM_FFMA2: return SEM_NAME(sem_wide_handler)(s, u);
  default: return SEM_NAME(sem_logic_handler)(s, u);
  }
}
