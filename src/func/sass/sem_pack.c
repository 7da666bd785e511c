/* Conversions to and from narrow formats that are rare enough to go lane by lane: F2FP to and from
 * pairs of FP8, FP6, FP4 and powers of two, to TF32, I2IP to 2 and 4 bits. Compiled once. Rules: PTX ISA (cvt,
 * cvt.pack); the fields from compiler output (CUDA 13.0).
 */
#include <math.h>

#include "func/sass/fpbits.h"
#include "func/sass/func_launch.h"
#include "func/sass/lanes.h"

enum { F8_NAN = 0x7f };
enum {
  KIND_HALVES,
  KIND_UNPACK = 4,
  KIND_TF32 = 5,
  KIND_F4 = 8,
  KIND_F6 = 9,
  KIND_F8 = 10,
  KIND_E8 = 11
}; /* field F2FP_KIND */

/* u->imm */
enum { RELU = 1 << 0, SATFINITE = 1 << 1, E4M3 = 1 << 2, UPPER = 1 << 3, FROM_F32 = 1 << 4,
       TO_ZERO = 1 << 5, E2M3 = 1 << 6, STOCHASTIC = 1 << 7, TO_BF16 = 1 << 8, FROM_BF16 = 1 << 9,
       ODD = 1 << 10, UPPER_C = 1 << 11 };

/* One lane: values of a, b, c and u->imm. */
typedef uint32_t lane_fn(uint32_t a, uint32_t b, uint32_t c, uint32_t imm);

/* A narrow format: fraction bits, exponent of its smallest normal number, pattern of the largest number,
 * what NaN becomes. OCP Microscaling Formats; cvt of the PTX ISA. */
struct narrow {
  int frac, min_exp;
  uint32_t most, nan;
};
static const struct narrow to_half = {10, -14, 0x7bff, 0x7fff}, to_bf16 = {7, -126, 0x7f7f, 0x7fff},
                           narrow_e5m2 = {2, -14, 0x7b, F8_NAN}, narrow_e4m3 = {3, -6, 0x7e, F8_NAN},
                           narrow_e2m1 = {1, 0, 0x7, 0x7}, narrow_e2m3 = {3, 0, 0x1f, 0x1f},
                           narrow_e3m2 = {2, -2, 0x1f, 0x1f};

/* How the bits that do not fit round: to nearest even, or up when their fraction of a unit and `random` / 2^16 reach
 * 1. */
struct rounding {
  bool stochastic;
  uint32_t random;
};

static double round_units(double q, const struct rounding *r)
{
  enum { ONE = 1 << 16 };
  if (!r->stochastic) return nearbyint(q);
  const double whole = floor(q);
  return whole + ((q - whole) * ONE + r->random >= ONE);
}

/* Bits of |x|, rounded and saturated. */
static uint32_t narrow_magnitude(double x, const struct narrow *f, const struct rounding *r)
{
  if (x == 0) return 0;
  if (isinf(x)) return f->most;
  int e = ilogb(x);
  if (e < f->min_exp) e = f->min_exp;
  double q = round_units(scalbn(x, f->frac - e), r);
  uint32_t units = (uint32_t)q, hidden = 1u << f->frac;
  uint32_t v = units < hidden ? units : ((uint32_t)(e - f->min_exp + 1) << f->frac) + units - hidden;
  return v > f->most ? f->most : v;
}

/* Pattern of FP32 number v, with its sign at bit `sign`. */
static uint32_t narrow_from_f32(uint32_t v, const struct narrow *f, unsigned sign, uint32_t imm,
                                const struct rounding *r)
{
  const float x = bits_f32(v);
  if (isnan(x)) return f->nan;
  if (imm & RELU && v >> 31) return 0;
  return (v >> 31) << sign | narrow_magnitude(fabs((double)x), f, r);
}

/* The slices of c that .RS adds: [0] for a, [1] for b. Measured on sm_100 (BF16: a reads the upper half of c,
 * b the lower; bytes: both the upper half, a in reverse; FP4: both bytes 3 and 1, a in reverse). */
static uint32_t reversed16(uint32_t v)
{
  uint32_t r = 0;
  for (unsigned i = 0; i < 16; i++) r |= (v >> i & 1) << (15 - i);
  return r;
}

static void slices(uint32_t c, uint32_t imm, bool bytes_3_1, struct rounding r[2])
{
  const uint32_t slice = bytes_3_1 ? c >> 24 << 8 | (c >> 8 & 0xff) : c >> 16;
  const bool on = imm & STOCHASTIC;
  r[0] = (struct rounding){on, reversed16(slice)};
  r[1] = (struct rounding){on, slice};
}

static uint32_t f8_from_f32(uint32_t v, uint32_t imm, const struct rounding *r)
{
  return narrow_from_f32(v, imm & E4M3 ? &narrow_e4m3 : &narrow_e5m2, 7, imm, r);
}

/* A pair of FP16 or BF16 numbers by random bits: infinite beyond the largest number, unless .SATFINITE. */
static uint32_t half_by_chance(uint32_t v, uint32_t random, uint32_t imm)
{
  const struct narrow *f = imm & TO_BF16 ? &to_bf16 : &to_half;
  const struct narrow open = {f->frac, f->min_exp, f->most + !(imm & SATFINITE), f->nan};
  return narrow_from_f32(v, &open, 15, imm, &(struct rounding){true, random});
}

/* FP16 takes the low 13 bits of a half of c, as many as FP32 has more (PTX ISA, cvt: 13 LSBs, 3 MSBs are 0), BF16
 * all. */
static uint32_t random_of(uint32_t half, uint32_t imm)
{
  return (imm & TO_BF16 ? half : half << 3) & 0xffff;
}

static uint32_t to_halves(uint32_t a, uint32_t b, uint32_t c, uint32_t imm)
{
  return half_by_chance(a, random_of(c >> 16, imm), imm) << 16 | half_by_chance(b, random_of(c, imm), imm);
}

/* The two numbers that a pack converts, as FP32: a and b, or the pair in b. */
struct operands {
  uint32_t high, low;
};

static struct operands operands(uint32_t a, uint32_t b, uint32_t imm)
{
  if (imm & FROM_F32) return (struct operands){a, b};
  if (imm & FROM_BF16) return (struct operands){b & 0xffff0000u, b << 16};
  return (struct operands){f32_from_f16(b >> 16), f32_from_f16(b & 0xffff)};
}

static uint32_t to_f8(uint32_t a, uint32_t b, uint32_t c, uint32_t imm)
{
  const struct operands v = operands(a, b, imm);
  struct rounding r[2];
  slices(c, imm, false, r);
  if (imm & UPPER_C) c >>= 16;
  return c << 16 | f8_from_f32(v.high, imm, &r[0]) << 8 | f8_from_f32(v.low, imm, &r[1]);
}

static uint32_t unpack_f8(uint32_t v, uint32_t imm)
{
  const uint32_t h = f16_from_f8(v & 0xff, imm & E4M3);
  return h != F16_NAN && imm & RELU && h >> 15 ? 0 : h;
}

static uint32_t from_f8(uint32_t a, uint32_t b, uint32_t c, uint32_t imm)
{
  (void)a, (void)c;
  if (imm & UPPER) b >>= 16;
  return unpack_f8(b, imm) | unpack_f8(b >> 8, imm) << 16;
}

/* A pair of FP4 numbers fills a byte, a pair of FP6 numbers two; c goes above (compiler output, CUDA 13.0: four pairs
 * of FP4 fill a word). */
static uint32_t to_f4(uint32_t a, uint32_t b, uint32_t c, uint32_t imm)
{
  const struct operands v = operands(a, b, imm);
  struct rounding r[2];
  slices(c, imm, true, r);
  return c << 8 | narrow_from_f32(v.high, &narrow_e2m1, 3, imm, &r[0]) << 4 |
         narrow_from_f32(v.low, &narrow_e2m1, 3, imm, &r[1]);
}

static uint32_t to_f6(uint32_t a, uint32_t b, uint32_t c, uint32_t imm)
{
  const struct narrow *f = imm & E2M3 ? &narrow_e2m3 : &narrow_e3m2;
  const struct operands v = operands(a, b, imm);
  struct rounding r[2];
  slices(c, imm, false, r);
  return c << 16 | narrow_from_f32(v.high, f, 5, imm, &r[0]) << 8 | narrow_from_f32(v.low, f, 5, imm, &r[1]);
}

/* The power of two next to |v|: an FP32 exponent. */
static uint32_t e8_from_f32(uint32_t v, uint32_t imm)
{
  enum { NAN8 = 0xff, MOST = 0xfe, HALF_OF_SMALLEST = 1 << 22 };
  const uint32_t mag = v & ~F32_SIGN, e = mag >> 23, rest = mag & ((1u << 23) - 1);
  if (mag > F32_INF) return NAN8;
  if (mag == F32_INF) return imm & SATFINITE ? MOST : NAN8;
  if (imm & TO_ZERO) return e;
  const uint32_t up = e + (e ? rest != 0 : rest > HALF_OF_SMALLEST);
  return up > MOST && imm & SATFINITE ? MOST : up;
}

static uint32_t to_e8(uint32_t a, uint32_t b, uint32_t c, uint32_t imm)
{
  const struct operands v = operands(a, b, imm);
  return c << 16 | e8_from_f32(v.high, imm) << 8 | e8_from_f32(v.low, imm);
}

/* FP16 pattern of a number with `exp` and `frac` bits below its sign, which has no infinity. */
static uint32_t f16_from_narrow(uint32_t v, unsigned exp, unsigned frac, uint32_t imm)
{
  const uint32_t mag = v & ((1u << (exp + frac)) - 1), hidden = 1u << frac;
  const int e = (int)(mag >> frac), bias = (1 << (exp - 1)) - 1;
  const uint32_t units = e ? (mag & (hidden - 1)) | hidden : mag;
  const double x = scalbn((double)units, (e ? e : 1) - bias - (int)frac);
  const bool neg = v >> (exp + frac) & 1;
  if (neg && imm & RELU) return 0;
  return (uint32_t)neg << 15 | f16_from_f32(f32_bits((float)x));
}

static uint32_t from_f4(uint32_t a, uint32_t b, uint32_t c, uint32_t imm)
{
  (void)a, (void)c;
  if (imm & UPPER) b >>= 16;
  if (imm & ODD) b >>= 8;
  return f16_from_narrow(b & 15, 2, 1, imm) | f16_from_narrow(b >> 4 & 15, 2, 1, imm) << 16;
}

static uint32_t from_f6(uint32_t a, uint32_t b, uint32_t c, uint32_t imm)
{
  const unsigned exp = imm & E2M3 ? 2 : 3, frac = 5 - exp;
  (void)a, (void)c;
  if (imm & UPPER) b >>= 16;
  return f16_from_narrow(b & 63, exp, frac, imm) | f16_from_narrow(b >> 8 & 63, exp, frac, imm) << 16;
}

/* BF16 pattern of 2^(v - 127). */
static uint32_t bf16_from_e8(uint32_t v)
{
  enum { NAN8 = 0xff, SMALLEST = 1 << 6 };
  return v == NAN8 ? F16_NAN : v ? v << 7 : SMALLEST;
}

static uint32_t from_e8(uint32_t a, uint32_t b, uint32_t c, uint32_t imm)
{
  (void)a, (void)c;
  if (imm & UPPER) b >>= 16;
  return bf16_from_e8(b & 0xff) | bf16_from_e8(b >> 8 & 0xff) << 16;
}

static uint32_t to_tf32(uint32_t a, uint32_t b, uint32_t c, uint32_t imm)
{
  enum { DROPPED = 13 };
  const uint32_t mag = b & 0x7fffffff, low = (1u << DROPPED) - 1, inf = 0x7f800000;
  (void)a, (void)c;
  if (mag > inf) return 0x7fffffff;
  if (imm & RELU && b >> 31) return 0;
  uint32_t r = mag;
  if (!(imm & TO_ZERO) && mag != inf) r += (low >> 1) + (mag >> DROPPED & 1);
  r &= ~low;
  if (imm & SATFINITE && r >= inf) r = inf - (1u << DROPPED);
  return (b & 0x80000000u) | r;
}

/* imm: bits | signed << 8 | of the upper half of c << 9 */
static uint32_t clamp_int(uint32_t v, uint32_t imm)
{
  const int32_t x = (int32_t)v, bits = (int32_t)(imm & 0xff);
  const int32_t hi = imm >> 8 & 1 ? (1 << (bits - 1)) - 1 : (1 << bits) - 1;
  const int32_t lo = imm >> 8 & 1 ? -(1 << (bits - 1)) : 0;
  return (uint32_t)(x < lo ? lo : x > hi ? hi : x) & ((1u << bits) - 1);
}

static uint32_t pack_int(uint32_t a, uint32_t b, uint32_t c, uint32_t imm)
{
  const unsigned bits = imm & 0xff;
  if (imm >> 9) c >>= 16;
  return c << 2 * bits | clamp_int(a, imm) << bits | clamp_int(b, imm);
}

static bool each_lane(struct func_warp *w, const struct uop *u, uint32_t m, lane_fn *fn)
{
  LANE_SRC(a);
  LANE_SRC(b);
  LANE_SRC(c);
  uint32_t r[LANES];
  for (unsigned i = 0; i < LANES; i++) r[i] = fn(LANE(a), LANE(b), LANE(c), u->imm);
  row_blend(row_dst(w, u->d), r, 1, m);
  return true;
}

#define HANDLER(name)                                                                              \
  static bool do_##name(struct func_warp *w, const struct uop *u, uint32_t m, struct effect *e,    \
                        struct fault *f)                                                           \
  {                                                                                                \
    LANE_UNUSED;                                                                                   \
    return each_lane(w, u, m, name);                                                               \
  }

HANDLER(to_halves)
HANDLER(to_f8)
HANDLER(from_f8)
HANDLER(to_tf32)
HANDLER(to_f4)
HANDLER(to_f6)
HANDLER(to_e8)
HANDLER(from_f4)
HANDLER(from_f6)
HANDLER(from_e8)
HANDLER(pack_int)

/* FP8, and on sm_100a and sm_120a FP6, FP4 and powers of two, to pairs of FP16 or BF16. */
static uop_fn *pick_unpack(const struct sass_inst *s, struct uop *u)
{
  enum { E5M2_CODE = 2, E4M3_CODE, E2M1_CODE = 5, E2M3_CODE, E3M2_CODE, E8_CODE = 11 };
  const bool wide = sass_has(s, FLD_F8_UNPACK100);
  const unsigned code = (unsigned)sass_get(s, wide ? FLD_F8_UNPACK100 : FLD_F8_UNPACK);
  const unsigned byte = (unsigned)sass_get(s, FLD_F8_BYTE);
  if (sass_get(s, FLD_F8_UPPER) || byte & 2) u->imm |= UPPER;
  if (byte & 1) u->imm |= ODD;
  if (byte & 1 && code != E2M1_CODE) return NULL;
  if ((code == E8_CODE) != (sass_get(s, FLD_F8_TO_BF16) != 0)) return NULL;
  switch (code) {
  case E4M3_CODE: u->imm |= E4M3; return do_from_f8;
  case E5M2_CODE: return do_from_f8;
  case E2M1_CODE: return do_from_f4;
  case E2M3_CODE: u->imm |= E2M3; return do_from_f6;
  case E3M2_CODE: return do_from_f6;
  case E8_CODE: return u->imm & RELU ? NULL : do_from_e8;
  default: return NULL;
  }
}

static bool pick_source(const struct sass_inst *s, struct uop *u)
{
  enum { F16_PAIR = 1, FLOATS = 2, BF16_PAIR = 5 };
  switch (sass_get(s, sass_has(s, FLD_F8_SOURCE100) ? FLD_F8_SOURCE100 : FLD_F8_SOURCE)) {
  case F16_PAIR: return true;
  case FLOATS: u->imm |= FROM_F32; return true;
  case BF16_PAIR: u->imm |= FROM_BF16; return true;
  default: return false;
  }
}

/* To FP8, FP6, FP4 and powers of two; all but the last always saturated (PTX has no other form). */
static uop_fn *pick_pack(const struct sass_inst *s, struct uop *u)
{
  enum { E2M1_CODE = 3, E2M3_CODE = 2 };
  if ((!(u->imm & SATFINITE) && sass_get(s, FLD_F2FP_KIND) != KIND_E8) || !pick_source(s, u)) return NULL;
  if (u->imm & STOCHASTIC && !(u->imm & FROM_F32)) return NULL;
  switch (sass_get(s, FLD_F2FP_KIND)) {
  case KIND_F8:
    if (sass_get(s, FLD_F8_FORMAT)) u->imm |= E4M3;
    if (sass_get(s, FLD_F8_C_UPPER)) u->imm |= UPPER_C;
    return do_to_f8;
  case KIND_F4: return sass_get(s, FLD_F4_FORMAT) == E2M1_CODE ? do_to_f4 : NULL;
  case KIND_F6:
    if (sass_get(s, FLD_F6_FORMAT) == E2M3_CODE) u->imm |= E2M3;
    return sass_get(s, FLD_F6_FORMAT) >= E2M3_CODE ? do_to_f6 : NULL;
  default:
    if (sass_get(s, FLD_F2FP_RND) == FP_RZ) u->imm |= TO_ZERO;
    else if (sass_get(s, FLD_F2FP_RND) != FP_RP) return NULL;
    return sass_get(s, FLD_E8_FORMAT) ? NULL : do_to_e8;
  }
}

static uop_fn *pick_narrow(const struct sass_inst *s, struct uop *u)
{
  enum { TF32 = 3 };
  u->imm = sass_get(s, FLD_F2FP_RELU) ? RELU : 0;
  if (sass_get(s, FLD_F2FP_SATFINITE)) u->imm |= SATFINITE;
  if (sass_get(s, FLD_F2FP_RS)) u->imm |= STOCHASTIC;
  switch (sass_get(s, FLD_F2FP_KIND)) {
  case KIND_HALVES: /* by random bits; otherwise sem_conv.c's */
    if (sass_get(s, FLD_F2FP_MERGE) || sass_get(s, FLD_F2FP_RND)) return NULL;
    if (sass_get(s, FLD_F2FP_FMT)) u->imm |= TO_BF16;
    return do_to_halves;
  case KIND_UNPACK: return pick_unpack(s, u);
  case KIND_F4: case KIND_F6: case KIND_F8: case KIND_E8: return pick_pack(s, u);
  case KIND_TF32:
    if (sass_get(s, FLD_TF32_PACK) != TF32) return NULL;
    if (sass_get(s, FLD_F2FP_RND) == FP_RZ) u->imm |= TO_ZERO;
    else if (sass_get(s, FLD_F2FP_RND) != FP_RN) return NULL;
    return do_to_tf32;
  default: return NULL;
  }
}

/* Formats with 8 and 16 bits are sem_conv.c's, but for 8 with the upper half of c. */
static uop_fn *pick_i2ip(const struct sass_inst *s, struct uop *u)
{
  enum { U16 = 2, U2 = 4, U4 = 6, KEEP_28 = 3, KEEP_24 = 2, KEEP_16 = 1 };
  unsigned format = (unsigned)sass_get(s, FLD_I2IP_FMT), keep = (unsigned)sass_get(s, FLD_I2IP_C);
  if (format < U16 && keep == KEEP_16) {
    u->imm = 8u | (format & 1) << 8 | 1u << 9;
    return do_pack_int;
  }
  if (format < U2 || keep != (format < U4 ? KEEP_28 : KEEP_24)) return NULL;
  u->imm = (format < U4 ? 2u : 4u) | (format & 1) << 8;
  return do_pack_int;
}

uop_fn *sem_pack_handler(const struct sass_inst *s, struct uop *u)
{
  switch (s->sem) {
  case SEM_F2FP: return sass_get(s, FLD_F2FP_KIND) || sass_get(s, FLD_F2FP_RS) ? pick_narrow(s, u) : NULL;
  case SEM_I2IP: return pick_i2ip(s, u);
  default: return NULL;
  }
}
