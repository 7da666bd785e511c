/* Floating point of RV64 on the host's unit (func/rv64/rv64_fp.h). */
#include "func/rv64/rv64_fp.h"

#include <fenv.h>
#include <math.h>
#include <string.h>

#include "base/bug.h"
#include "func/rv64/rv64_core.h"

#define NAN_S     0x7fc00000u
#define NAN_D     0x7ff8000000000000ull
#define QUIET_S   0x00400000u
#define QUIET_D   0x0008000000000000ull
#define SIGN_S    0x80000000u
#define SIGN_D    0x8000000000000000ull
#define INF_S     0x7f800000u
#define INF_D     0x7ff0000000000000ull

/* Operations happen where they stand: the compiler knows of neither rounding modes nor flags. */
#define HOLD(v) __asm__ volatile("" : "+m"(v))

/* Bits of a single-precision operand; what is not NaN-boxed is the canonical NaN. */
static uint32_t unbox(uint64_t v)
{
  return (v & RV64_BOX) == RV64_BOX ? (uint32_t)v : NAN_S;
}

static bool is_nan_s(uint32_t v)
{
  return (v & ~SIGN_S) > INF_S;
}

static bool is_nan_d(uint64_t v)
{
  return (v & ~SIGN_D) > INF_D;
}

static bool is_signaling_s(uint32_t v)
{
  return is_nan_s(v) && !(v & QUIET_S);
}

static bool is_signaling_d(uint64_t v)
{
  return is_nan_d(v) && !(v & QUIET_D);
}

static float get_s(uint64_t bits)
{
  const uint32_t v = unbox(bits);
  float f;
  memcpy(&f, &v, sizeof f);
  HOLD(f);
  return f;
}

static double get_d(uint64_t bits)
{
  double d;
  memcpy(&d, &bits, sizeof d);
  HOLD(d);
  return d;
}

static uint64_t put_s(float f)
{
  HOLD(f);
  uint32_t v;
  memcpy(&v, &f, sizeof v);
  return RV64_BOX | (is_nan_s(v) ? NAN_S : v);
}

static uint64_t put_d(double d)
{
  HOLD(d);
  uint64_t v;
  memcpy(&v, &d, sizeof v);
  return is_nan_d(v) ? NAN_D : v;
}

/* Both widths of an operation; T is the host's type, G and P read and write a register. */
#define BOTH(name, expr_s, expr_d)                        \
  uint64_t rv64_##name##_s(uint64_t a, uint64_t b, uint64_t c) \
  {                                                       \
    (void)a, (void)b, (void)c;                            \
    return expr_s;                                        \
  }                                                       \
  uint64_t rv64_##name##_d(uint64_t a, uint64_t b, uint64_t c) \
  {                                                       \
    (void)a, (void)b, (void)c;                            \
    return expr_d;                                        \
  }

BOTH(fadd, put_s(get_s(a) + get_s(b)), put_d(get_d(a) + get_d(b)))
BOTH(fsub, put_s(get_s(a) - get_s(b)), put_d(get_d(a) - get_d(b)))
BOTH(fmul, put_s(get_s(a) * get_s(b)), put_d(get_d(a) * get_d(b)))
BOTH(fdiv, put_s(get_s(a) / get_s(b)), put_d(get_d(a) / get_d(b)))
BOTH(fsqrt, put_s(sqrtf(get_s(a))), put_d(sqrt(get_d(a))))
BOTH(fcvt_w, put_s((float)(int32_t)a), put_d((double)(int32_t)a))
BOTH(fcvt_wu, put_s((float)(uint32_t)a), put_d((double)(uint32_t)a))
BOTH(fcvt_l, put_s((float)(int64_t)a), put_d((double)(int64_t)a))
BOTH(fcvt_lu, put_s((float)a), put_d((double)a))

uint64_t rv64_fcvt_s_d(uint64_t a, uint64_t b, uint64_t c)
{
  (void)b, (void)c;
  return put_s((float)get_d(a));
}

uint64_t rv64_fcvt_d_s(uint64_t a, uint64_t b, uint64_t c)
{
  (void)b, (void)c;
  return put_d((double)get_s(a));
}

/* a * b + c. Infinity times zero is invalid also when c is a quiet NaN; hosts differ there. */
static uint64_t fused_s(uint32_t a, uint32_t b, uint32_t c)
{
  const uint32_t ua = a & ~SIGN_S, ub = b & ~SIGN_S;
  if (is_nan_s(c) && ((ua == INF_S && ub == 0) || (ub == INF_S && ua == 0))) feraiseexcept(FE_INVALID);
  return put_s(fmaf(get_s(RV64_BOX | a), get_s(RV64_BOX | b), get_s(RV64_BOX | c)));
}

static uint64_t fused_d(uint64_t a, uint64_t b, uint64_t c)
{
  const uint64_t ua = a & ~SIGN_D, ub = b & ~SIGN_D;
  if (is_nan_d(c) && ((ua == INF_D && ub == 0) || (ub == INF_D && ua == 0))) feraiseexcept(FE_INVALID);
  return put_d(fma(get_d(a), get_d(b), get_d(c)));
}

BOTH(fmadd, fused_s(unbox(a), unbox(b), unbox(c)), fused_d(a, b, c))
BOTH(fmsub, fused_s(unbox(a), unbox(b), unbox(c) ^ SIGN_S), fused_d(a, b, c ^ SIGN_D))
BOTH(fnmsub, fused_s(unbox(a) ^ SIGN_S, unbox(b), unbox(c)), fused_d(a ^ SIGN_D, b, c))
BOTH(fnmadd, fused_s(unbox(a) ^ SIGN_S, unbox(b), unbox(c) ^ SIGN_S), fused_d(a ^ SIGN_D, b, c ^ SIGN_D))

static uint64_t sign_s(uint64_t a, uint32_t sign)
{
  return RV64_BOX | (unbox(a) & ~SIGN_S) | (sign & SIGN_S);
}

BOTH(fsgnj, sign_s(a, unbox(b)), (a & ~SIGN_D) | (b & SIGN_D))
BOTH(fsgnjn, sign_s(a, ~unbox(b)), (a & ~SIGN_D) | (~b & SIGN_D))
BOTH(fsgnjx, sign_s(a, unbox(a) ^ unbox(b)), a ^ (b & SIGN_D))

/* Of bit patterns that are no NaNs, -0 below +0: whether a is less than b. */
static bool below(uint64_t a, uint64_t b, uint64_t sign)
{
  const bool na = a & sign, nb = b & sign;
  if (na != nb) return na;
  return na ? a > b : a < b;
}

/* minimumNumber, maximumNumber: a NaN gives way to a number. */
static uint64_t extreme_s(uint32_t a, uint32_t b, bool most)
{
  if (is_signaling_s(a) || is_signaling_s(b)) feraiseexcept(FE_INVALID);
  if (is_nan_s(a)) return RV64_BOX | (is_nan_s(b) ? NAN_S : b);
  if (is_nan_s(b)) return RV64_BOX | a;
  return RV64_BOX | (below(a, b, SIGN_S) != most ? a : b);
}

static uint64_t extreme_d(uint64_t a, uint64_t b, bool most)
{
  if (is_signaling_d(a) || is_signaling_d(b)) feraiseexcept(FE_INVALID);
  if (is_nan_d(a)) return is_nan_d(b) ? NAN_D : b;
  if (is_nan_d(b)) return a;
  return below(a, b, SIGN_D) != most ? a : b;
}

BOTH(fmin, extreme_s(unbox(a), unbox(b), false), extreme_d(a, b, false))
BOTH(fmax, extreme_s(unbox(a), unbox(b), true), extreme_d(a, b, true))

/* FEQ is quiet, FLT and FLE signal on every NaN. */
static bool ordered_s(uint32_t a, uint32_t b, bool quiet)
{
  if (!is_nan_s(a) && !is_nan_s(b)) return true;
  if (!quiet || is_signaling_s(a) || is_signaling_s(b)) feraiseexcept(FE_INVALID);
  return false;
}

static bool ordered_d(uint64_t a, uint64_t b, bool quiet)
{
  if (!is_nan_d(a) && !is_nan_d(b)) return true;
  if (!quiet || is_signaling_d(a) || is_signaling_d(b)) feraiseexcept(FE_INVALID);
  return false;
}

BOTH(feq, ordered_s(unbox(a), unbox(b), true) && get_s(a) == get_s(b), ordered_d(a, b, true) && get_d(a) == get_d(b))
BOTH(flt, ordered_s(unbox(a), unbox(b), false) && get_s(a) < get_s(b), ordered_d(a, b, false) && get_d(a) < get_d(b))
BOTH(fle, ordered_s(unbox(a), unbox(b), false) && get_s(a) <= get_s(b), ordered_d(a, b, false) && get_d(a) <= get_d(b))

/* Bit of FCLASS (table 11.5) from a magnitude and its limits. */
static uint64_t class_of(bool negative, uint64_t magnitude, uint64_t inf, uint64_t least_normal, uint64_t quiet)
{
  if (magnitude > inf) return magnitude & quiet ? 1 << 9 : 1 << 8;
  if (magnitude == inf) return negative ? 1 << 0 : 1 << 7;
  if (magnitude >= least_normal) return negative ? 1 << 1 : 1 << 6;
  if (magnitude) return negative ? 1 << 2 : 1 << 5;
  return negative ? 1 << 3 : 1 << 4;
}

BOTH(fclass, class_of(unbox(a) & SIGN_S, unbox(a) & ~SIGN_S, INF_S, 1ull << 23, QUIET_S),
     class_of(a & SIGN_D, a & ~SIGN_D, INF_D, 1ull << 52, QUIET_D))

uint64_t rv64_fp_rounded(rv64_fp_fn *fn, unsigned op, enum rv64_rounding rm, uint64_t a, uint64_t b, uint64_t c)
{
  static const int mode[] = {[RV64_RNE] = FE_TONEAREST, [RV64_RTZ] = FE_TOWARDZERO, [RV64_RDN] = FE_DOWNWARD,
                             [RV64_RUP] = FE_UPWARD};
  if (rm == RV64_RMM) return rv64_fp_rmm(fn, op, a, b, c);
  BUG_ON(rm > RV64_RUP);
  fesetround(mode[rm]);
  const uint64_t result = fn(a, b, c);
  fesetround(FE_TONEAREST);
  return result;
}

uint64_t rv64_fp_widen(uint64_t value)
{
  const uint32_t v = unbox(value);
  const uint64_t sign = (uint64_t)(v & SIGN_S) << 32, fraction = v & 0x7fffff, exponent = v >> 23 & 0xff;
  if (exponent == 0xff) return sign | INF_D | fraction << 29;
  if (exponent) return sign | (exponent + 1023 - 127) << 52 | fraction << 29;
  if (!fraction) return sign;
  const unsigned up = (unsigned)__builtin_clzll(fraction) - 40; /* to bring its highest bit to bit 23 */
  return sign | (uint64_t)(1023 - 126 - up) << 52 | (fraction << (up + 29) & 0xfffffffffffffull);
}

/* Whether a magnitude with this fraction (of 2^64) goes up to the next integer. */
static bool goes_up(uint64_t whole, uint64_t fraction, bool negative, enum rv64_rounding rm)
{
  const uint64_t half = 1ull << 63;
  switch (rm) {
  case RV64_RNE: return fraction > half || (fraction == half && (whole & 1));
  case RV64_RDN: return negative && fraction;
  case RV64_RUP: return !negative && fraction;
  case RV64_RMM: return fraction >= half;
  default: return false;
  }
}

/* Magnitude of a finite number below 2^64 as integer and fraction of 2^64, the last bit of which stands for all that
 * is smaller. */
static uint64_t split(uint64_t value, uint64_t *fraction)
{
  const int exponent = (int)(value >> 52 & 0x7ff) - 1075; /* of the significand's last bit */
  const uint64_t significand = (value & 0xfffffffffffffull) | (value >> 52 & 0x7ff ? 1ull << 52 : 0);
  *fraction = 0;
  if (exponent >= 0) return significand << exponent;
  const unsigned right = (unsigned)-exponent;
  if (right >= 64) {
    *fraction = significand != 0; /* less than 2^-11 */
    return 0;
  }
  *fraction = significand << (64 - right);
  return significand >> right;
}

uint64_t rv64_fp_to_int(uint64_t value, unsigned bits, bool is_signed, enum rv64_rounding rm, uint8_t *fflags)
{
  const bool negative = value & SIGN_D;
  const uint64_t most = UINT64_MAX >> (64 - bits + is_signed);
  const uint64_t limit = !negative ? most : is_signed ? most + 1 : 0; /* of the magnitude */
  uint64_t fraction = 0, whole = 0;
  bool fits = (value & ~SIGN_D) < 0x43f0000000000000ull; /* 2^64 */
  if (fits) {
    whole = split(value, &fraction);
    if (goes_up(whole, fraction, negative, rm)) fits = ++whole != 0;
    fits = fits && whole <= limit;
  }
  uint64_t result = negative && !is_nan_d(value) ? 0 - whole : whole;
  if (!fits) {
    *fflags |= RV64_NV;
    result = negative && !is_nan_d(value) ? 0 - limit : most;
  } else if (fraction) {
    *fflags |= RV64_NX;
  }
  return bits == 32 ? (uint64_t)(int32_t)result : result;
}

uint8_t rv64_fp_collect(void)
{
  const int raised = fetestexcept(FE_ALL_EXCEPT);
  if (!raised) return 0;
  feclearexcept(FE_ALL_EXCEPT);
  return (uint8_t)((raised & FE_INEXACT ? RV64_NX : 0) | (raised & FE_UNDERFLOW ? RV64_UF : 0) |
                   (raised & FE_OVERFLOW ? RV64_OF : 0) | (raised & FE_DIVBYZERO ? RV64_DZ : 0) |
                   (raised & FE_INVALID ? RV64_NV : 0));
}
