/* Conversions to and from narrow formats that are rare enough to go lane by lane: F2FP to and from
 * FP8 pairs and to TF32, I2IP to 2 and 4 bits. Compiled once. Rules: PTX ISA (cvt, cvt.pack);
 * the fields from compiler output (CUDA 13.0).
 */
#include <math.h>

#include "func/fpbits.h"
#include "func/lanes.h"
#include "func/launch.h"

enum { F8_NAN = 0x7f, HALF_NAN = 0x7fff };
enum { KIND_UNPACK = 4, KIND_TF32 = 5, KIND_F8 = 10 }; /* field F2FP_KIND */

/* u->imm */
enum { RELU = 1 << 0, SATFINITE = 1 << 1, E4M3 = 1 << 2, UPPER = 1 << 3, FROM_F32 = 1 << 4,
       TO_ZERO = 1 << 5 };

/* One lane: values of a, b, c and u->imm. */
typedef uint32_t lane_fn(uint32_t a, uint32_t b, uint32_t c, uint32_t imm);

/* Bits of |x| in an FP8 format, rounded to nearest even and saturated. */
static uint32_t f8_magnitude(double x, bool e4m3)
{
  const int frac = e4m3 ? 3 : 2, min_exp = e4m3 ? -6 : -14;
  const uint32_t most = e4m3 ? 0x7e : 0x7b;
  if (x == 0) return 0;
  if (isinf(x)) return most;
  int e = ilogb(x);
  if (e < min_exp) e = min_exp;
  double q = nearbyint(scalbn(x, frac - e));
  if (q > 64) return most;
  uint32_t units = (uint32_t)q, hidden = 1u << frac;
  uint32_t v = units < hidden ? units : ((uint32_t)(e - min_exp + 1) << frac) + units - hidden;
  return v > most ? most : v;
}

static uint32_t f8_from_f32(uint32_t v, uint32_t imm)
{
  const float x = bits_f32(v);
  if (isnan(x)) return F8_NAN;
  if (imm & RELU && v >> 31) return 0;
  return (v >> 31) << 7 | f8_magnitude(fabs((double)x), imm & E4M3);
}

static uint32_t to_f8(uint32_t a, uint32_t b, uint32_t c, uint32_t imm)
{
  uint32_t high = imm & FROM_F32 ? a : f32_from_f16(b >> 16);
  uint32_t low = imm & FROM_F32 ? b : f32_from_f16(b & 0xffff);
  return c << 16 | f8_from_f32(high, imm) << 8 | f8_from_f32(low, imm);
}

static uint32_t f16_from_f8(uint32_t v, uint32_t imm)
{
  uint32_t sign = (v & 0x80) << 8, mag = v & 0x7f, h;
  if (!(imm & E4M3)) h = mag > 0x7c ? HALF_NAN : mag << 8; /* E5M2 is the upper byte of FP16 */
  else if (mag == F8_NAN) h = HALF_NAN;
  else if (mag < 8) h = f16_from_f32(f32_bits((float)mag * 0x1p-9f));
  else h = (mag << 7) + (8u << 10); /* exponent bias 7 to 15 */
  if (h == HALF_NAN) return HALF_NAN;
  return imm & RELU && sign ? 0 : sign | h;
}

static uint32_t from_f8(uint32_t a, uint32_t b, uint32_t c, uint32_t imm)
{
  (void)a, (void)c;
  if (imm & UPPER) b >>= 16;
  return f16_from_f8(b & 0xff, imm) | f16_from_f8(b >> 8 & 0xff, imm) << 16;
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

/* imm: bits | signed << 8 */
static uint32_t clamp_int(uint32_t v, uint32_t imm)
{
  const int32_t x = (int32_t)v, bits = (int32_t)(imm & 0xff);
  const int32_t hi = imm >> 8 ? (1 << (bits - 1)) - 1 : (1 << bits) - 1;
  const int32_t lo = imm >> 8 ? -(1 << (bits - 1)) : 0;
  return (uint32_t)(x < lo ? lo : x > hi ? hi : x) & ((1u << bits) - 1);
}

static uint32_t pack_int(uint32_t a, uint32_t b, uint32_t c, uint32_t imm)
{
  const unsigned bits = imm & 0xff;
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

HANDLER(to_f8)
HANDLER(from_f8)
HANDLER(to_tf32)
HANDLER(pack_int)

static uop_fn *pick_narrow(const struct sass_inst *s, struct uop *u)
{
  enum { FROM_HALVES = 1, FROM_FLOATS = 2, UNPACK_E5M2 = 2, TF32 = 3 };
  u->imm = sass_get(s, FLD_F2FP_RELU) ? RELU : 0;
  if (sass_get(s, FLD_F2FP_SATFINITE)) u->imm |= SATFINITE;
  switch (sass_get(s, FLD_F2FP_KIND)) {
  case KIND_F8:
    if (!(u->imm & SATFINITE)) return NULL; /* PTX has no other form */
    if (sass_get(s, FLD_F8_FORMAT)) u->imm |= E4M3;
    if (sass_get(s, FLD_F8_SOURCE) == FROM_FLOATS) u->imm |= FROM_F32;
    else if (sass_get(s, FLD_F8_SOURCE) != FROM_HALVES) return NULL;
    return do_to_f8;
  case KIND_UNPACK:
    if (sass_get(s, FLD_F8_UNPACK) < UNPACK_E5M2) return NULL;
    if (sass_get(s, FLD_F8_UNPACK) > UNPACK_E5M2) u->imm |= E4M3;
    if (sass_get(s, FLD_F8_UPPER)) u->imm |= UPPER;
    return do_from_f8;
  case KIND_TF32:
    if (sass_get(s, FLD_TF32_PACK) != TF32) return NULL;
    if (sass_get(s, FLD_F2FP_RND) == FP_RZ) u->imm |= TO_ZERO;
    else if (sass_get(s, FLD_F2FP_RND) != FP_RN) return NULL;
    return do_to_tf32;
  default: return NULL;
  }
}

/* Formats with 8 and 16 bits are sem_conv.c's. */
static uop_fn *pick_i2ip(const struct sass_inst *s, struct uop *u)
{
  enum { U2 = 4, U4 = 6, KEEP_28 = 3, KEEP_24 = 2 };
  unsigned format = (unsigned)sass_get(s, FLD_I2IP_FMT), keep = (unsigned)sass_get(s, FLD_I2IP_C);
  if (format < U2 || keep != (format < U4 ? KEEP_28 : KEEP_24)) return NULL;
  u->imm = (format < U4 ? 2u : 4u) | (format & 1) << 8;
  return do_pack_int;
}

uop_fn *sem_pack_handler(const struct sass_inst *s, struct uop *u)
{
  switch (s->sem) {
  case SEM_F2FP: return sass_get(s, FLD_F2FP_KIND) ? pick_narrow(s, u) : NULL;
  case SEM_I2IP: return pick_i2ip(s, u);
  default: return NULL;
  }
}
