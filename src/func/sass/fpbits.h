/* Floating-point arithmetic on bit patterns: what the host's own operations do not give.
 *
 * Formats are those of the guest: FP32, FP16, BF16, FP64. Roundings other than to nearest never
 * touch the host's rounding mode: values are computed exactly, or rounded to odd, in a wider
 * format, and then rounded once (a number rounded to odd with at least two extra bits rounds on to
 * any narrower format as the exact number would: Boldo and Melquiond, 2008). Everything is inline
 * and free of branches where it sits in lane loops, so that these vectorise, and uses only + - *
 * and comparisons, so that all x86 levels agree bit for bit. Host subnormals must be on (no FTZ, no
 * DAZ).
 */
#ifndef WS_FUNC_SASS_FPBITS_H
#define WS_FUNC_SASS_FPBITS_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "func/sass/lanes.h"

/* Rounding codes of the RND field: nearest even, down, up, toward zero. */
enum fp_round { FP_RN, FP_RM, FP_RP, FP_RZ };

/* NaN results are canonical, except in FP64, which keeps the payload of an operand (CUDA
 * programming guide, floating-point standard; PTX ISA, "NaN payloads"). */
#define F32_NAN   0x7fffffffu
#define F16_NAN   0x7fffu /* FP16 and BF16 */
#define F64_NAN   0xfff8000000000000u
#define F64_QUIET 0x0008000000000000u

#define F32_SIGN 0x80000000u
#define F32_INF  0x7f800000u
#define F32_ONE  0x3f800000u
#define F64_SIGN 0x8000000000000000u
#define F64_INF  0x7ff0000000000000u

/* Bit pattern of x with NaN made canonical. */
static inline uint32_t f32_canon(float x)
{
  return x == x ? f32_bits(x) : F32_NAN;
}

/* The NaN that an operation on a, b, c gives; a, b, c: operand patterns, 0 where there is none. */
static inline uint64_t f64_nan_of(uint64_t a, uint64_t b, uint64_t c)
{
  uint64_t r = (c & ~F64_SIGN) > F64_INF ? c | F64_QUIET : F64_NAN;
  r = (b & ~F64_SIGN) > F64_INF ? b | F64_QUIET : r;
  return (a & ~F64_SIGN) > F64_INF ? a | F64_QUIET : r;
}

/* Pattern of result x of an operation on a, b, c. */
static inline uint64_t f64_finish(double x, uint64_t a, uint64_t b, uint64_t c)
{
  return x == x ? f64_bits(x) : f64_nan_of(a, b, c);
}

#ifdef __FMA__
#define F64_FMA __builtin_fma
#else
#define F64_FMA fma /* correctly rounded in every mode, with or without FMA hardware */
#endif

/* v with a subnormal made zero of the same sign, where on is all ones; unchanged where it is 0. */
static inline uint32_t f32_flush(uint32_t v, uint32_t on)
{
  uint32_t subnormal = (v & F32_INF) ? 0 : on;
  return v & ~(subnormal & ~F32_SIGN);
}

/* v clamped to [+0, 1], NaN to +0, where on is all ones. */
static inline uint32_t f32_saturate(uint32_t v, uint32_t on)
{
  float x = bits_f32(v);
  uint32_t r = x > 0.0f ? v : 0;
  r = x > 1.0f ? F32_ONE : r;
  return (r & on) | (v & ~on);
}

/* Moves s, the sum nearest to an exact value, to that value rounded to odd; err = exact - s. */
static inline double f64_to_odd(double s, double err)
{
  uint64_t v = f64_bits(s);
  uint64_t below = (f64_bits(err) ^ v) >> 63; /* |exact| < |s| */
  uint64_t odd = (v - below) | 1;
  return ((err < 0.0) | (err > 0.0)) ? bits_f64(odd) : s; /* an infinite s has a NaN err */
}

/* a + b rounded to odd: exact sum from Knuth's two-sum. */
static inline double f64_add_odd(double a, double b)
{
  double s = a + b, t = s - a;
  return f64_to_odd(s, (a - (s - t)) + (b - t));
}

/* The same in FP32; |a|, |b| below 2^127. */
static inline float f32_add_odd(float a, float b)
{
  float s = a + b, t = s - a, err = (a - (s - t)) + (b - t);
  uint32_t v = f32_bits(s), below = (f32_bits(err) ^ v) >> 31;
  return ((err < 0.0f) | (err > 0.0f)) ? bits_f32((v - below) | 1) : s;
}

/* x, exact or rounded to odd, to FP32. */
static inline float f32_from_f64(double x, enum fp_round mode)
{
  float r = (float)x;
  double back = (double)r;
  uint32_t v = f32_bits(r), neg = v >> 31, step = 0; /* step: +1 away from zero, -1 toward it */
  switch (mode) {
  case FP_RN: break;
  case FP_RM: step = back > x ? (neg ? 1u : -1u) : 0u; break;
  case FP_RP: step = back < x ? (neg ? -1u : 1u) : 0u; break;
  case FP_RZ: step = (neg ? back < x : back > x) ? -1u : 0u; break;
  }
  return bits_f32(v + step);
}

/* x, exact or rounded to odd, to FP32 rounded to odd (to be rounded on to a narrower format). */
static inline float f32_odd_from_f64(double x)
{
  float r = (float)x;
  double back = (double)r;
  uint32_t v = f32_bits(r);
  uint32_t above = (v >> 31) ? back < x : back > x; /* |r| > |x| */
  return ((back < x) | (back > x)) ? bits_f32((v - above) | 1) : r;
}

/* FP16 pattern to FP32 pattern, exact; a NaN keeps its payload. */
static inline uint32_t f32_from_f16(uint32_t h)
{
  uint32_t sign = (h & 0x8000u) << 16, m = (h & 0x7fffu) << 13;
  uint32_t r = f32_bits(bits_f32(m) * 0x1p112f); /* rebias, which also normalises subnormals */
  r |= m >= 0x0f800000u ? F32_INF : 0;
  return r | sign;
}

/* FP32 pattern to the nearest even FP16 pattern, NaN canonical. */
static inline uint32_t f16_from_f32(uint32_t v)
{
  uint32_t a = v & ~F32_SIGN, sign = (v >> 16) & 0x8000u;
  uint32_t sub =
      f32_bits(bits_f32(a) + 0.5f) - 0x3f000000u; /* ulp of [0.5, 1) = FP16 subnormal ulp */
  uint32_t nor = (a - 0x38000000u + 0xfffu + ((a >> 13) & 1u)) >> 13;
  uint32_t r = a < 0x38800000u ? sub : nor;
  r = a >= 0x477ff000u ? 0x7c00u : r; /* 65520 and more */
  return a > F32_INF ? F16_NAN : r | sign;
}

/* FP8 pattern to FP16, exact, NaN canonical. E4M3 has no infinity, one NaN; E5M2 is the upper byte of
 * an FP16 number. */
static inline uint32_t f16_from_f8(uint32_t v, bool e4m3)
{
  enum { MAGNITUDE = 0x7f, E5M2_INF = 0x7c };
  const uint32_t sign = (v & 0x80u) << 8, mag = v & MAGNITUDE;
  if (e4m3 ? mag == MAGNITUDE : mag > E5M2_INF) return F16_NAN;
  if (!e4m3) return sign | mag << 8;
  if (mag < 8) return sign | f16_from_f32(f32_bits((float)mag * 0x1p-9f));
  return sign | ((mag << 7) + (8u << 10)); /* exponent bias 7 to 15 */
}

/* FP32 pattern to the nearest even FP8 pattern. Beyond the largest number E5M2 has an infinity and E4M3 its NaN, as
 * OCP's 8-bit floating point specification, 5.2.1, has it where nothing saturates. */
static inline uint32_t f8_nearest(uint32_t v, bool e4m3)
{
  enum { NAN8 = 0x7f, BIAS = 127, FRACTION = 23 };
  const int32_t frac = e4m3 ? 3 : 2, least = e4m3 ? -6 : -14; /* exponent of the smallest normal number */
  const uint32_t sign = v >> 24 & 0x80u, a = v & ~F32_SIGN, infinite = e4m3 ? NAN8 : 0x7cu;
  if (a > F32_INF) return NAN8;
  if (a == F32_INF) return sign | infinite;
  const int32_t own = (int32_t)(a >> FRACTION) - BIAS, exp = own < least ? least : own;
  const int32_t drop = FRACTION - frac + exp - own;
  if (drop > FRACTION + 1) return sign; /* less than half of the smallest one; subnormal FP32 numbers, too */
  const uint32_t m = (a & 0x7fffffu) | 0x800000u, rest = m & ((1u << drop) - 1), half = 1u << (drop - 1);
  uint32_t r = m >> drop;
  r += rest > half || (rest == half && (r & 1));
  r += (uint32_t)(exp - least) << frac;
  return sign | (r > (e4m3 ? 0x7eu : 0x7bu) ? infinite : r);
}

/* FP32 pattern to the nearest even BF16 pattern, NaN canonical. */
static inline uint32_t bf16_from_f32(uint32_t v)
{
  uint32_t r = (v + 0x7fffu + ((v >> 16) & 1u)) >> 16;
  return (v & ~F32_SIGN) > F32_INF ? F16_NAN : r;
}

/* FP16 or BF16 pattern with a subnormal made zero, where on is all ones. */
static inline uint32_t f16_flush(uint32_t h, uint32_t exponent, uint32_t on)
{
  uint32_t subnormal = (h & exponent) ? 0 : on;
  return h & ~(subnormal & 0x7fffu);
}

/* x rounded to an integral value of the same sign; infinities and NaN stay. */
static inline double f64_round_integral(double x, enum fp_round mode)
{
  uint64_t sign = f64_bits(x) & F64_SIGN;
  double a = bits_f64(f64_bits(x) & ~F64_SIGN);
  double t = a < 0x1p52 ? (a + 0x1p52) - 0x1p52 : a;
  double r = bits_f64(f64_bits(t) | sign);
  switch (mode) {
  case FP_RN: break;
  case FP_RM: r -= r > x ? 1.0 : 0.0; break;
  case FP_RP: r += r < x ? 1.0 : 0.0; break;
  case FP_RZ: r = t > a ? bits_f64(f64_bits(t - 1.0) | sign) : r; break;
  }
  return bits_f64((f64_bits(r) & ~F64_SIGN) | sign);
}

/* A binary format: fraction bits and exponent bits below the sign. */
struct fp_format {
  uint8_t frac, exp;
};

static const struct fp_format FMT_F16 = {10, 5}, FMT_BF16 = {7, 8}, FMT_F32 = {23, 8},
                              FMT_F64 = {52, 11};

/* Pattern of (-1)^neg * sig * 2^exp, sig not 0, rounded once. Overflow as IEEE 754 says for the
 * mode. A caller that drops bits below sig ORs them into bit 0 and leaves two spare bits above it.
 */
static inline uint64_t fp_pack(bool neg, int exp, uint64_t sig, struct fp_format f,
                               enum fp_round mode)
{
  const int bias = (1 << (f.exp - 1)) - 1;
  const int lead = __builtin_clzll(sig);
  const uint64_t sign = (uint64_t)neg << (f.frac + f.exp);
  const uint64_t inf = (((uint64_t)1 << f.exp) - 1) << f.frac;
  int e = exp + 63 - lead, shift = 63 - f.frac;

  sig <<= lead;
  if (e < 1 - bias) {
    shift += 1 - bias - e;
    e = 1 - bias;
  }
  uint64_t q = shift > 63 ? 0 : sig >> shift;
  uint64_t rem = shift > 64 ? 1 : shift == 64 ? sig : sig << (64 - shift); /* of 2^64 */
  const uint64_t half = (uint64_t)1 << 63;
  bool up = mode == FP_RN   ? rem > half || (rem == half && (q & 1))
            : mode == FP_RM ? neg && rem
            : mode == FP_RP ? !neg && rem
                            : false;
  uint64_t r = ((uint64_t)(e + bias - 1) << f.frac) + q + up;
  if (r < inf) return r | sign;
  bool to_inf = mode == FP_RN || (mode == FP_RM && neg) || (mode == FP_RP && !neg);
  return (to_inf ? inf : inf - 1) | sign;
}

/* Pattern of x in format f, x neither NaN nor infinite. */
static inline uint64_t fp_pack_f64(double x, struct fp_format f, enum fp_round mode)
{
  const uint64_t v = f64_bits(x), frac = v & 0xfffffffffffffu;
  const int e = (int)(v >> 52 & 0x7ff);
  const bool neg = v >> 63;
  if ((v & ~F64_SIGN) == 0) return (uint64_t)neg << (f.frac + f.exp);
  return fp_pack(neg, (e ? e : 1) - 1075, e ? frac | (uint64_t)1 << 52 : frac, f, mode);
}

#endif
