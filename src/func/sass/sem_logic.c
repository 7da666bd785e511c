/* Integer logic, shifts, byte and bit operations, absolute values.
 *
 * The rules are those of sem_int.c. Minima and maxima are in sem_minmax.c, which the picker at the end falls back to.
 */
#include "func/sass/sem_int.h"

/* ---- LOP3 ---------------------------------------------------------------------------------------
 * Bit i of the result = bit (a << 2 | b << 1 | c) of the table. Pu = result != 0, combined with Pp.
 * A complemented source is folded into the table. */

/* Tables the compiler writes often, as expressions. */
#define LOP3_LIST(X)                                                                               \
  X(c0, a & b)                                                                                     \
  X(fc, a | b)                                                                                     \
  X(3c, a ^ b)                                                                                     \
  X(30, a & ~b)                                                                                    \
  X(0c, ~a & b)                                                                                    \
  X(f3, a | ~b)                                                                                    \
  X(cf, ~a | b)                                                                                    \
  X(c3, ~(a ^ b))                                                                                  \
  X(33, ~b)                                                                                        \
  X(0f, ~a)                                                                                        \
  X(55, ~c)                                                                                        \
  X(a0, a & c)                                                                                     \
  X(fa, a | c)                                                                                     \
  X(5a, a ^ c)                                                                                     \
  X(88, b & c)                                                                                     \
  X(ee, b | c)                                                                                     \
  X(66, b ^ c)                                                                                     \
  X(80, a & b & c)                                                                                 \
  X(fe, a | b | c)                                                                                 \
  X(96, a ^ b ^ c)                                                                                 \
  X(e8, (a & b) | (c & (a | b)))                                                                   \
  X(ca, (a & b) | (~a & c))                                                                        \
  X(ac, (a & c) | (~a & b))                                                                        \
  X(b8, (b & c) | (~b & a))                                                                        \
  X(e2, (b & a) | (~b & c))                                                                        \
  X(d8, (c & b) | (~c & a))                                                                        \
  X(e4, (c & a) | (~c & b))                                                                        \
  X(f8, a | (b & c))                                                                               \
  X(ec, b | (a & c))                                                                               \
  X(ea, c | (a & b))                                                                               \
  X(e0, a & (b | c))                                                                               \
  X(c8, b & (a | c))                                                                               \
  X(a8, c & (a | b))                                                                               \
  X(78, a ^ (b & c))                                                                               \
  X(6c, b ^ (a & c))                                                                               \
  X(6a, c ^ (a & b))                                                                               \
  X(60, a & (b ^ c))                                                                               \
  X(48, b & (a ^ c))                                                                               \
  X(28, c & (a ^ b))

#define LOP3_HANDLER(lut, expr) LANE_OP(lop3_##lut, expr)
LOP3_LIST(LOP3_HANDLER)

static uop_fn *lop3_common(unsigned lut)
{
  switch (lut) {
#define LOP3_CASE(lut, expr)                                                                       \
  case 0x##lut: return lop3_##lut;
    LOP3_LIST(LOP3_CASE)
  default: return NULL;
  }
}

/* Any table: a selects between two functions of b and c, each b between two of c, each of which is
 * k ^ (c & x) with k and x 0 or all ones. */
struct lop3_masks {
  uint32_t k[4], x[4]; /* by a << 1 | b */
};

static struct lop3_masks lop3_masks(uint32_t lut)
{
  struct lop3_masks t;
  for (unsigned ab = 0; ab < 4; ab++) {
    uint32_t c0 = lut >> (2 * ab) & 1, c1 = lut >> (2 * ab + 1) & 1;
    t.k[ab] = 0 - c0;
    t.x[ab] = 0 - (c0 ^ c1);
  }
  return t;
}

static inline uint32_t lop3_any(const struct lop3_masks t, uint32_t a, uint32_t b, uint32_t c)
{
  uint32_t n0 = t.k[0] ^ (c & t.x[0]), n1 = t.k[1] ^ (c & t.x[1]);
  uint32_t y0 = t.k[2] ^ (c & t.x[2]), y1 = t.k[3] ^ (c & t.x[3]);
  uint32_t n = n0 ^ (b & (n0 ^ n1)), y = y0 ^ (b & (y0 ^ y1));
  return n ^ (a & (n ^ y));
}

LANE_HANDLER(lop3_generic)
{
  LANE_UNUSED;
  LANE_ROW(a);
  LANE_ROW(b);
  LANE_ROW(c);
  const struct lop3_masks t = lop3_masks(u->imm);
  LANE_ROWS(1, d[i] = lop3_any(t, LANE_RAW(a), LANE_RAW(b), LANE_RAW(c)););
  return true;
}

static inline bool lop3_end(struct func_warp *w, const struct uop *u, uint32_t m, uint32_t bits)
{
  uint32_t p = pred_read(w, u->pp, u->pp_xor);
  pred_write(w, u->pu, m, u->imm2 ? bits & p : bits | p);
  return true;
}

LANE_HANDLER(lop3_pred)
{
  LANE_UNUSED;
  LANE_ROW(a);
  LANE_ROW(b);
  LANE_ROW(c);
  const struct lop3_masks t = lop3_masks(u->imm);
  LANE_BITS(bits, lop3_any(t, LANE_RAW(a), LANE_RAW(b), LANE_RAW(c)) != 0);
  LANE_ROWS(1, d[i] = lop3_any(t, LANE_RAW(a), LANE_RAW(b), LANE_RAW(c)););
  return lop3_end(w, u, m, bits);
}

/* Test of bits: a & b, no register result. */
LANE_HANDLER(lop3_and_test)
{
  LANE_UNUSED;
  LANE_ROW(a);
  LANE_ROW(b);
  LANE_BITS(bits, (LANE_RAW(a) & LANE_RAW(b)) != 0);
  return lop3_end(w, u, m, bits);
}

/* Table of a function with source `shift` (4 = a, 2 = b, 1 = c) complemented. */
static uint32_t lut_complement(uint32_t lut, unsigned shift)
{
  uint32_t r = 0;
  for (unsigned k = 0; k < 8; k++) r |= (lut >> (k ^ shift) & 1) << k;
  return r;
}

static uop_fn *pick_lop3(const struct sass_inst *s, struct uop *u)
{
  u->imm = (uint32_t)sass_get(s, FLD_LUT);
  u->imm2 = (uint32_t)sass_get(s, FLD_LOP3_PAND);
  for (unsigned k = 0; k < 3; k++) {
    if (s->src[k].neg) u->imm = lut_complement(u->imm, 4u >> k);
  }
  if (u->pu != PRED_NONE) {
    bool no_result = s->dst == SASS_RZ && !(u->flags & UOP_UNIFORM);
    return u->imm == 0xc0 && no_result ? lop3_and_test : lop3_pred;
  }
  uop_fn *fn = lop3_common(u->imm);
  return fn ? fn : lop3_generic;
}

/* ---- PLOP3 --------------------------------------------------------------------------------------
 * Pu and Pv = two functions of three predicates; tables as LOP3's, index Pp << 2 | Pq << 1 | Pr. */

LANE_HANDLER(plop3)
{
  LANE_UNUSED;
  uint32_t p = pred_read(w, u->pp, u->pp_xor), q = pred_read(w, u->pq, u->pq_xor);
  uint32_t r = pred_read(w, u->pr, u->pr_xor);
  pred_write(w, u->pu, m, lop3_any(lop3_masks(u->imm), p, q, r));
  pred_write(w, u->pv, m, lop3_any(lop3_masks(u->imm2), p, q, r));
  return true;
}

/* The same on the sign bits of three words. */
LANE_HANDLER(plop3_sign)
{
  LANE_UNUSED;
  LANE_SRC(a);
  LANE_SRC(b);
  LANE_SRC(c);
  LANE_BITS(p, LANE(a) >> 31);
  LANE_BITS(q, LANE(b) >> 31);
  LANE_BITS(r, LANE(c) >> 31);
  pred_write(w, u->pu, m, lop3_any(lop3_masks(u->imm), p, q, r));
  pred_write(w, u->pv, m, lop3_any(lop3_masks(u->imm2), p, q, r));
  return true;
}

static uop_fn *pick_plop3_sign(const struct sass_inst *s, struct uop *u)
{
  u->imm = (uint32_t)sass_get(s, FLD_LUT);
  u->imm2 = (uint32_t)sass_get(s, FLD_PLUT2);
  return uop_is_raw(u) ? plop3_sign : NULL;
}

static uop_fn *pick_plop3(const struct sass_inst *s, struct uop *u)
{
  u->imm = (uint32_t)sass_get(s, FLD_PLUT);
  u->imm2 = (uint32_t)sass_get(s, FLD_PLUT2);
  return plop3;
}

/* ---- SHF ----------------------------------------------------------------------------------------
 * Funnel shift of {c,a} by b. The amount is clamped to 32 or 64, or taken modulo 32 or 64, by the
 * operand type (NAK, OpShf); the vacated bits are 0 or the sign of c. */

static inline uint32_t shl32(uint32_t x, uint32_t n)
{
  return n < 32 ? x << (n & 31) : 0;
}

static inline uint32_t shr32(uint32_t x, uint32_t n)
{
  return n < 32 ? x >> (n & 31) : 0;
}

static inline uint32_t sar32(uint32_t x, uint32_t n)
{
  return (uint32_t)((int32_t)x >> (n < 31 ? n : 31));
}

enum { SHF_L_LO, SHF_L_HI, SHF_RU_LO, SHF_RU_HI, SHF_RS_LO, SHF_RS_HI, SHF_KINDS };

/* n = 0..64. Differences below 0 wrap to large amounts, which shift everything out. */
static inline uint32_t shf(unsigned kind, uint32_t a, uint32_t c, uint32_t n)
{
  switch (kind) {
  case SHF_L_LO: return shl32(a, n);
  case SHF_L_HI: return shl32(c, n) | shr32(a, 32 - n) | shl32(a, n - 32);
  case SHF_RU_LO: return shr32(a, n) | shl32(c, 32 - n) | shr32(c, n - 32);
  case SHF_RU_HI: return shr32(c, n);
  case SHF_RS_LO: return n < 32 ? shr32(a, n) | shl32(c, 32 - n) : sar32(c, n - 32);
  default: return sar32(c, n);
  }
}

/* Amounts 1..31: no lane needs the other cases. */
static inline uint32_t shf_small(unsigned kind, uint32_t a, uint32_t c, uint32_t n)
{
  switch (kind) {
  case SHF_L_LO: return a << n;
  case SHF_L_HI: return c << n | a >> (32 - n);
  case SHF_RU_LO:
  case SHF_RS_LO: return a >> n | c << (32 - n);
  case SHF_RU_HI: return c >> n;
  default: return (uint32_t)((int32_t)c >> n);
  }
}

/* Three handlers of a kind: clamped amount (u->imm = 32 or 64), amount modulo (u->imm = 31 or 63),
 * the same amount in every lane (u->imm = 1..31). */
#define SHF_KIND(name, kind)                                                                       \
  LANE_OP(name##_clamp, shf(kind, a, c, b < imm ? b : imm))                                        \
  LANE_OP(name##_wrap, shf(kind, a, c, b & imm))                                                   \
  LANE_OP(name##_imm, shf_small(kind, a, c, imm))

SHF_KIND(shf_l_lo, SHF_L_LO)
SHF_KIND(shf_l_hi, SHF_L_HI)
SHF_KIND(shf_ru_lo, SHF_RU_LO)
SHF_KIND(shf_ru_hi, SHF_RU_HI)
SHF_KIND(shf_rs_lo, SHF_RS_LO)
SHF_KIND(shf_rs_hi, SHF_RS_HI)

static uop_fn *const shf_fn[SHF_KINDS][3] = {
    {shf_l_lo_clamp, shf_l_lo_wrap, shf_l_lo_imm},
    {shf_l_hi_clamp, shf_l_hi_wrap, shf_l_hi_imm},
    {shf_ru_lo_clamp, shf_ru_lo_wrap, shf_ru_lo_imm},
    {shf_ru_hi_clamp, shf_ru_hi_wrap, shf_ru_hi_imm},
    {shf_rs_lo_clamp, shf_rs_lo_wrap, shf_rs_lo_imm},
    {shf_rs_hi_clamp, shf_rs_hi_wrap, shf_rs_hi_imm},
};

static uop_fn *pick_shf(const struct sass_inst *s, struct uop *u)
{
  enum { SHF_S64, SHF_U64, SHF_S32, SHF_U32 };
  unsigned type = (unsigned)sass_get(s, FLD_SHF_TYPE), wrap = (unsigned)sass_get(s, FLD_SHF_WRAP);
  bool is_signed = type == SHF_S64 || type == SHF_S32;
  uint32_t bits = type == SHF_S64 || type == SHF_U64 ? 64 : 32;
  unsigned kind = sass_get(s, FLD_SHF_RIGHT) ? is_signed ? SHF_RS_LO : SHF_RU_LO : SHF_L_LO;
  kind += (unsigned)sass_get(s, FLD_SHF_HI);
  if (!uop_is_raw(u)) return NULL;
  if (s->src[1].kind == SRC_IMM) {
    uint32_t n = wrap ? s->src[1].imm & (bits - 1) : s->src[1].imm;
    u->imm = n;
    if (n >= 1 && n <= 31) return shf_fn[kind][2];
  }
  u->imm = wrap ? bits - 1 : bits;
  return shf_fn[kind][wrap];
}

/* ---- PRMT ---------------------------------------------------------------------------------------
 * Bytes of {c,a} chosen by b. Generic mode: nibble k of b gives byte k's number, its top bit
 * replicates the byte's sign. The other modes use b's two low bits (PTX ISA, prmt); each value
 * stands for one generic selector. */

static const uint16_t prmt_selector[7][4] = {
    {0, 0, 0, 0},                     /* generic */
    {0x3210, 0x4321, 0x5432, 0x6543}, /* F4E: four bytes upwards from b */
    {0x5670, 0x6701, 0x7012, 0x0123}, /* B4E: downwards */
    {0x0000, 0x1111, 0x2222, 0x3333}, /* RC8 */
    {0x3210, 0x3211, 0x3222, 0x3333}, /* ECL: max(k, b) */
    {0x0000, 0x1110, 0x2210, 0x3210}, /* ECR: min(k, b) */
    {0x1010, 0x3232, 0x1010, 0x3232}, /* RC16 */
};

/* Byte k of the result, in place; sel = its nibble. */
static inline uint32_t prmt_byte(uint32_t a, uint32_t c, uint32_t sel, unsigned k)
{
  uint32_t byte = ((sel & 4 ? c : a) >> 8 * (sel & 3)) & 0xff;
  uint32_t sign = (0 - (byte >> 7)) & 0xff;
  return (sel & 8 ? sign : byte) << 8 * k;
}

static inline uint32_t prmt(uint32_t a, uint32_t c, uint32_t sel)
{
  return prmt_byte(a, c, sel & 15, 0) | prmt_byte(a, c, sel >> 4 & 15, 1) |
         prmt_byte(a, c, sel >> 8 & 15, 2) | prmt_byte(a, c, sel >> 12 & 15, 3);
}

LANE_OP(prmt_any, prmt(a, c, b))
LANE_OP(prmt_mode, prmt(a, c, prmt_selector[imm][b & 3]))
/* The same selector in every lane (u->imm). */
LANE_OP(prmt_imm, prmt(a, c, imm))

/* The same selector, and no byte is a sign: u->imm2 names the bytes that come from c. */
LANE_HANDLER(prmt_bytes)
{
  LANE_UNUSED;
  LANE_ROW(a);
  LANE_ROW(c);
  uint32_t shift[4];
  const uint32_t from_c = u->imm2;
  for (unsigned k = 0; k < 4; k++) shift[k] = 8 * (u->imm >> 4 * k & 3);
  LANE_ROWS(1, uint32_t x = LANE_RAW(a); uint32_t y = LANE_RAW(c);
            uint32_t va = (x >> shift[0] & 0xff) | (x >> shift[1] & 0xff) << 8 |
                          (x >> shift[2] & 0xff) << 16 | x >> shift[3] << 24;
            uint32_t vc = (y >> shift[0] & 0xff) | (y >> shift[1] & 0xff) << 8 |
                          (y >> shift[2] & 0xff) << 16 | y >> shift[3] << 24;
            d[i] = (va & ~from_c) | (vc & from_c););
  return true;
}

static uop_fn *pick_prmt(const struct sass_inst *s, struct uop *u)
{
  unsigned mode = (unsigned)sass_get(s, FLD_PRMT_MODE);
  if (mode > 6 || !uop_is_raw(u)) return NULL;
  u->imm = mode;
  if (s->src[1].kind != SRC_IMM) return mode ? prmt_mode : prmt_any;
  u->imm = mode ? prmt_selector[mode][s->src[1].imm & 3] : s->src[1].imm & 0xffff;
  if (u->imm & 0x8888) return prmt_imm;
  u->imm2 = 0;
  for (unsigned k = 0; k < 4; k++) {
    if (u->imm >> 4 * k & 4) u->imm2 |= 0xffu << 8 * k;
  }
  return prmt_bytes;
}

/* ---- SGXT, BMSK ---------------------------------------------------------------------------------
 * The low b bits of a, sign- or zero-extended; b ones from bit a up. Numbers of 32 and more stand
 * for themselves (clamp) or count modulo 32 (u->imm = mask of the operands). */

static inline uint32_t sgxt(uint32_t a, uint32_t n)
{
  uint32_t up = n < 32 ? 32 - n : 0;
  return n == 0 ? 0 : sar32(a << (up & 31), up);
}

LANE_OP(sgxt_s32, sgxt(a, b & imm))
LANE_OP(sgxt_u32, a & (shl32(1, b & imm) - 1))
LANE_OP(bmsk, shl32(shl32(1, b & imm) - 1, a & imm))

static uop_fn *pick_extend(const struct sass_inst *s, struct uop *u)
{
  if (!uop_is_raw(u)) return NULL;
  u->imm = sass_get(s, FLD_WRAP) ? 31 : FULL_MASK;
  if (s->sem == SEM_BMSK) return bmsk;
  return sass_get(s, FLD_SIGNED) ? sgxt_s32 : sgxt_u32;
}

/* ---- FLO, BREV, POPC ----------------------------------------------------------------------------
 * FLO: number of the first bit that differs from the sign (unsigned: that is 1), from the top; SH:
 * its distance from the top (PTX ISA, bfind). None: all ones, and Pu false (public sm_120
 * measurements). */

static inline uint32_t clz32(uint32_t v)
{
  return v ? (uint32_t)__builtin_clz(v) : 32;
}

/* u->imm2: all ones for the signed form; u->imm: 31 (bit number = distance ^ 31) or 0. */
LANE_HANDLER(flo)
{
  LANE_UNUSED;
  LANE_SRC(a);
  const uint32_t flip = u->imm, sign = u->imm2;
  if (u->pu != PRED_NONE) {
    LANE_BITS(found, (LANE(a) ^ (SX32(LANE(a)) & sign)) != 0);
    pred_write(w, u->pu, m, found);
  }
  LANE_ROWS(1, uint32_t v = LANE(a); v ^= SX32(v) & sign;
            d[i] = v ? clz32(v) ^ flip : FULL_MASK;);
  return true;
}

LANE_HANDLER(brev)
{
  LANE_UNUSED;
  LANE_SRC(a);
  LANE_ROWS(1, uint32_t v = LANE(a); v = (v >> 1 & 0x55555555) | (v & 0x55555555) << 1;
            v = (v >> 2 & 0x33333333) | (v & 0x33333333) << 2;
            v = (v >> 4 & 0x0f0f0f0f) | (v & 0x0f0f0f0f) << 4;
            v = (v >> 8 & 0x00ff00ff) | (v & 0x00ff00ff) << 8; d[i] = v >> 16 | v << 16;);
  return true;
}

LANE_HANDLER(popc)
{
  LANE_UNUSED;
  LANE_SRC(a);
  LANE_ROWS(1, uint32_t v = LANE(a); v -= v >> 1 & 0x55555555;
            v = (v & 0x33333333) + (v >> 2 & 0x33333333); v = (v + (v >> 4)) & 0x0f0f0f0f;
            v += v >> 8; d[i] = (v + (v >> 16)) & 0x3f;);
  return true;
}

static uop_fn *pick_flo(const struct sass_inst *s, struct uop *u)
{
  u->imm = sass_get(s, FLD_FLO_SH) ? 0 : 31;
  u->imm2 = sass_get(s, FLD_SIGNED) ? FULL_MASK : 0;
  return flo;
}

/* ---- IDP, VABSDIFF4: bytes ------------------------------------------------------------------- */

/* Byte k (half k) of v, extended to 32 bits. */
static inline uint32_t lane_byte(uint32_t v, unsigned k, bool is_signed)
{
  uint32_t top = v << (24 - 8 * k);
  return is_signed ? (uint32_t)((int32_t)top >> 24) : top >> 24;
}

static inline uint32_t lane_half(uint32_t v, unsigned k, bool is_signed)
{
  uint32_t top = v << (16 - 16 * k);
  return is_signed ? (uint32_t)((int32_t)top >> 16) : top >> 16;
}

/* 4A: c + sum of byte products; 2A: halves of a by the lower (HI: upper) two bytes of b. */
#define IDP_KIND(name, sa, sb)                                                                     \
  LANE_OP(name##_4a, c + lane_byte(a, 0, sa) * lane_byte(b, 0, sb) +                               \
                         lane_byte(a, 1, sa) * lane_byte(b, 1, sb) +                               \
                         lane_byte(a, 2, sa) * lane_byte(b, 2, sb) +                               \
                         lane_byte(a, 3, sa) * lane_byte(b, 3, sb))                                \
  LANE_OP(name##_2a, c + lane_half(a, 0, sa) * lane_byte(b >> imm, 0, sb) +                        \
                         lane_half(a, 1, sa) * lane_byte(b >> imm, 1, sb))

IDP_KIND(idp_uu, false, false)
IDP_KIND(idp_su, true, false)
IDP_KIND(idp_us, false, true)
IDP_KIND(idp_ss, true, true)

static uop_fn *const idp_fn[4][2] = {
    {idp_uu_4a, idp_uu_2a},
    {idp_su_4a, idp_su_2a},
    {idp_us_4a, idp_us_2a},
    {idp_ss_4a, idp_ss_2a},
};

static uop_fn *pick_idp(const struct sass_inst *s, struct uop *u)
{
  unsigned type_a = (unsigned)sass_get(s, FLD_IDP_TYPE_A);
  unsigned type_b = (unsigned)sass_get(s, FLD_IDP_TYPE_B);
  bool two = sass_get(s, FLD_IDP_2A), high = sass_get(s, FLD_IDP_HI);
  if (!uop_is_raw(u) || (high && !two)) return NULL;
  u->imm = high ? 16 : 0;
  return idp_fn[type_a | type_b << 1][two];
}

static inline uint32_t byte_absdiff(uint32_t a, uint32_t b, unsigned k, bool is_signed)
{
  int32_t x = (int32_t)lane_byte(a, k, is_signed), y = (int32_t)lane_byte(b, k, is_signed);
  return (uint32_t)(x < y ? y - x : x - y);
}

/* Differences of bytes: packed, or (ACC) their sum plus c. */
#define VABSDIFF4_KIND(name, is_signed)                                                            \
  LANE_OP(name, byte_absdiff(a, b, 0, is_signed) | byte_absdiff(a, b, 1, is_signed) << 8 |         \
                    byte_absdiff(a, b, 2, is_signed) << 16 |                                       \
                    byte_absdiff(a, b, 3, is_signed) << 24)                                        \
  LANE_OP(name##_sum, c + byte_absdiff(a, b, 0, is_signed) + byte_absdiff(a, b, 1, is_signed) +    \
                          byte_absdiff(a, b, 2, is_signed) + byte_absdiff(a, b, 3, is_signed))

VABSDIFF4_KIND(vabsdiff4_u8, false)
VABSDIFF4_KIND(vabsdiff4_s8, true)

static uop_fn *pick_vabsdiff4(const struct sass_inst *s, struct uop *u)
{
  bool is_signed = sass_get(s, FLD_VABS4_SIGNED), sum = sass_get(s, FLD_VABS_SUM);
  if (!uop_is_raw(u) || u->pu != PRED_NONE) return NULL;
  if (sum) return is_signed ? vabsdiff4_s8_sum : vabsdiff4_u8_sum;
  /* All four bytes are written, so c has no part in the result (PTX ISA, vabsdiff4: c only fills
   * bytes that are not). */
  return is_signed ? vabsdiff4_s8 : vabsdiff4_u8;
}

/* ---- absolute values ------------------------------------------------------------------------- */

LANE_OP(iabs, (a ^ SX32(a)) - SX32(a))

/* |a - b| + c; the difference of two signed numbers is taken modulo 2^32 (PTX ISA, sad). */
LANE_OP(vabsdiff_u32, (a < b ? b - a : a - b) + c)
LANE_OP(vabsdiff_s32, ((int32_t)a < (int32_t)b ? b - a : a - b) + c)

static uop_fn *pick_vabsdiff(const struct sass_inst *s, struct uop *u)
{
  if (!uop_is_raw(u) || u->pu != PRED_NONE) return NULL;
  return sass_get(s, FLD_SIGNED) ? vabsdiff_s32 : vabsdiff_u32;
}

/* Chooses the handler of an instruction of this file or of sem_minmax.c; NULL: of another file, or not executable. */
uop_fn *SEM_NAME(sem_logic_handler)(const struct sass_inst *s, struct uop *u)
{
  switch (s->sem) {
  case SEM_LOP3: return pick_lop3(s, u);
  case SEM_PLOP3: return pick_plop3(s, u);
  case SEM_PLOP3_SIGN: return pick_plop3_sign(s, u);
  case SEM_SHF: return pick_shf(s, u);
  case SEM_PRMT: return pick_prmt(s, u);
  case SEM_SGXT:
  case SEM_BMSK: return pick_extend(s, u);
  case SEM_FLO: return pick_flo(s, u);
  case SEM_BREV: return brev;
  case SEM_POPC: return popc;
  case SEM_IDP: return pick_idp(s, u);
  case SEM_VABSDIFF4: return pick_vabsdiff4(s, u);
  case SEM_VABSDIFF: return pick_vabsdiff(s, u);
  case SEM_IABS: return uop_is_raw(u) ? iabs : NULL;
  default: return SEM_NAME(sem_minmax_handler)(s, u);
  }
}
