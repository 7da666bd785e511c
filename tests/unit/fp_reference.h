/* Reference arithmetic for the floating-point tests: exact values in __float128 and one rounding to
 * a small format by scaling and truncation; nothing here shares code with the simulator. */
#ifndef WS_TESTS_FP_REFERENCE_H
#define WS_TESTS_FP_REFERENCE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

typedef __float128 quad;

enum ref_mode { REF_RN, REF_RM, REF_RP, REF_RZ };

struct ref_format {
  int precision, emax; /* significand bits, largest exponent */
};

static const struct ref_format REF_F16 = {11, 15}, REF_BF16 = {8, 127}, REF_F32 = {24, 127},
                               REF_F64 = {53, 1023};

static inline quad quad_scale(quad x, int e)
{
  for (; e > 0; e--) x *= 2;
  for (; e < 0; e++) x /= 2;
  return x;
}

/* Exponent of |x| >= 2^e, x not 0. */
static inline int quad_exponent(quad x)
{
  int e = 0;
  if (x < 0) x = -x;
  for (; x >= 2; e++) x /= 2;
  for (; x < 1; e--) x *= 2;
  return e;
}

/* Pattern of the finite value x in format f. zero_neg: sign of an exact zero. tail: where the exact
 * value lies beyond x, too near to be held: -1 below, 1 above. */
static inline uint64_t ref_round_tail(quad x, struct ref_format f, enum ref_mode mode,
                                      bool zero_neg, int tail)
{
  const int frac = f.precision - 1, emin = 1 - f.emax;
  const uint64_t inf = (uint64_t)(2 * f.emax + 1) << frac, hidden = (uint64_t)1 << frac;
  const unsigned sign_pos = (unsigned)frac + (f.emax == 15 ? 5 : f.emax == 127 ? 8 : 11);
  const bool neg = x == 0 ? zero_neg : x < 0;
  const uint64_t sign = (uint64_t)neg << sign_pos;
  if (x == 0) return sign;
  if (neg) x = -x, tail = -tail;
  int e = quad_exponent(x);
  if (e < emin) e = emin;
  quad units = quad_scale(x, frac - e); /* in units of the last place */
  uint64_t n = (uint64_t)units;
  quad rest = units - (quad)n;
  if (tail < 0 && rest == 0) {
    rest = 1;
    if (n == hidden && e > emin) n *= 2, e--;
    n--;
  }
  if (rest == 0 || rest == 0.5 || rest == 1) rest += (quad)0.25 * (tail > 0 ? 1 : tail);
  bool up = mode == REF_RN   ? rest > 0.5 || (rest == 0.5 && (n & 1))
            : mode == REF_RM ? neg && rest > 0
            : mode == REF_RP ? !neg && rest > 0
                             : false;
  n += up;
  if (n == 2 * hidden) n = hidden, e++;
  if (e > f.emax) {
    bool to_inf = mode == REF_RN || (mode == REF_RM && neg) || (mode == REF_RP && !neg);
    return (to_inf ? inf : inf - 1) | sign;
  }
  return (n < hidden ? n : ((uint64_t)(e + f.emax) << frac) + (n - hidden)) | sign;
}

static inline uint64_t ref_round(quad x, struct ref_format f, enum ref_mode mode, bool zero_neg)
{
  return ref_round_tail(x, f, mode, zero_neg, 0);
}

enum ref_class { REF_FINITE, REF_INF, REF_NAN };

/* Value of pattern v; *neg = sign bit. */
static inline enum ref_class ref_value(quad *x, bool *neg, uint64_t v, struct ref_format f)
{
  const int frac = f.precision - 1;
  const int ebits = f.emax == 15 ? 5 : f.emax == 127 ? 8 : 11;
  const uint64_t m = v & (((uint64_t)1 << frac) - 1);
  const int e = (int)(v >> frac & (((uint64_t)1 << ebits) - 1));
  *neg = v >> (frac + ebits) & 1;
  *x = 0;
  if (e == 2 * f.emax + 1) return m ? REF_NAN : REF_INF;
  quad q = (quad)(e ? m | (uint64_t)1 << frac : m);
  *x = quad_scale(q, (e ? e : 1) - f.emax - frac);
  if (*neg) *x = -*x;
  return REF_FINITE;
}

static inline uint32_t ref_nan(struct ref_format f)
{
  return f.precision == 24 ? 0x7fffffffu : 0x7fffu;
}

static inline uint64_t ref_inf(struct ref_format f, bool neg)
{
  const int frac = f.precision - 1, ebits = f.emax == 15 ? 5 : f.emax == 127 ? 8 : 11;
  return (uint64_t)(2 * f.emax + 1) << frac | (uint64_t)neg << (frac + ebits);
}

/* a * b + c in format f, every case of IEEE 754 (f: not FP64); a product alone with c = none. */
static inline uint32_t ref_fma(uint32_t a, uint32_t b, const uint32_t *c, struct ref_format f,
                               enum ref_mode mode)
{
  quad x, y, z = 0;
  bool sx, sy, sz = false;
  enum ref_class cx = ref_value(&x, &sx, a, f), cy = ref_value(&y, &sy, b, f), cz = REF_FINITE;
  if (c) cz = ref_value(&z, &sz, *c, f);
  if (cx == REF_NAN || cy == REF_NAN || cz == REF_NAN) return ref_nan(f);
  const bool sp = sx != sy, inf = cx == REF_INF || cy == REF_INF;
  if (inf && ((cx == REF_FINITE && x == 0) || (cy == REF_FINITE && y == 0))) return ref_nan(f);
  if (inf && cz == REF_INF && sp != sz) return ref_nan(f);
  if (inf) return (uint32_t)ref_inf(f, sp);
  if (cz == REF_INF) return (uint32_t)ref_inf(f, sz);
  if (!c) return (uint32_t)ref_round(x * y, f, mode, sp);
  bool zero_neg = sp == sz ? sp : mode == REF_RM;
  quad p = x * y, s = p + z, t = s - p, err = (p - (s - t)) + (z - t);
  return (uint32_t)ref_round_tail(s, f, mode, zero_neg, (err > 0) - (err < 0));
}

#endif
