/* Rounding to nearest, ties away from zero (func/rv64/rv64_fp.h): the operation in quadruple precision, rounded to odd,
 * then once more. Rounding to odd keeps what the second rounding must know: 113 bits hold sums of products of 53 bits
 * but for what one bit can stand for (Boldo, Melquiond: "When double rounding is odd", 2005).
 */
#include <fenv.h>
#include <string.h>

#include "func/rv64/rv64_fp.h"

typedef unsigned __int128 u128;

enum { QUAD_FRACTION = 112, QUAD_BIAS = 16383, QUAD_EXPONENTS = 0x7fff };

/* What a format of single or double precision is. */
struct format {
  int precision; /* bits of the significand */
  int bias;      /* of the exponent; the least normal number is 2^(1 - bias) */
  uint64_t infinity, nan, box;
};

static const struct format single = {24, 127, 0x7f800000, 0x7fc00000, RV64_BOX};
static const struct format twice = {53, 1023, 0x7ff0000000000000ull, 0x7ff8000000000000ull, 0};

/* The operation, exact or rounded towards zero. */
static __float128 wide(unsigned op, __float128 a, __float128 b, __float128 c)
{
  switch (op) {
  case RV64_FADD_S:
  case RV64_FADD_D: return a + b;
  case RV64_FSUB_S:
  case RV64_FSUB_D: return a - b;
  case RV64_FMUL_S:
  case RV64_FMUL_D: return a * b;
  case RV64_FDIV_S:
  case RV64_FDIV_D: return a / b;
  case RV64_FMADD_S:
  case RV64_FMADD_D: return a * b + c;
  case RV64_FMSUB_S:
  case RV64_FMSUB_D: return a * b - c;
  case RV64_FNMSUB_S:
  case RV64_FNMSUB_D: return -(a * b) + c;
  case RV64_FNMADD_S:
  case RV64_FNMADD_D: return -(a * b) - c;
  default: return a; /* conversions */
  }
}

static __float128 read_double(uint64_t bits)
{
  double d;
  memcpy(&d, &bits, sizeof d);
  return d;
}

static __float128 operand(uint64_t bits, bool is_single)
{
  return read_double(is_single ? rv64_fp_widen(bits) : bits);
}

/* The first operand of a conversion, or of what computes. */
static __float128 first_operand(unsigned op, uint64_t a, bool is_single)
{
  switch (op) {
  case RV64_FCVT_S_W:
  case RV64_FCVT_D_W: return (int32_t)a;
  case RV64_FCVT_S_WU:
  case RV64_FCVT_D_WU: return (uint32_t)a;
  case RV64_FCVT_S_L:
  case RV64_FCVT_D_L: return (int64_t)a;
  case RV64_FCVT_S_LU:
  case RV64_FCVT_D_LU: return a;
  case RV64_FCVT_S_D: return operand(a, false);
  case RV64_FCVT_D_S: return operand(a, true);
  default: return operand(a, is_single);
  }
}

/* significand >> drop, to nearest, ties away. Dropping all of it gives zero. */
static uint64_t shift_nearest(u128 significand, int drop)
{
  if (drop > QUAD_FRACTION + 2) drop = QUAD_FRACTION + 2;
  return (uint64_t)(significand >> drop) + (uint64_t)(significand >> (drop - 1) & 1);
}

/* A number in quadruple precision, rounded to odd, as one of the format. Exceptions of this rounding in *raised. */
static uint64_t narrow(u128 q, const struct format *f, int *raised)
{
  const uint64_t sign = q >> 127 ? f->infinity + (1ull << (f->precision - 1)) : 0; /* the bit above the exponent */
  const int exponent = (int)(q >> QUAD_FRACTION & QUAD_EXPONENTS), least = 1 - f->bias;
  const u128 fraction = q & (((u128)1 << QUAD_FRACTION) - 1);
  if (exponent == QUAD_EXPONENTS) return fraction ? f->nan : sign | f->infinity;
  if (exponent == 0) return sign;
  const int e = exponent - QUAD_BIAS, drop = QUAD_FRACTION - (f->precision - 1);
  const int more = e < least ? least - e : 0;
  const u128 significand = (u128)1 << QUAD_FRACTION | fraction;
  const uint64_t kept = shift_nearest(significand, drop + more);
  const bool inexact = drop + more > QUAD_FRACTION || (significand & (((u128)1 << (drop + more)) - 1)) != 0;
  /* Tiny: also when rounded to the full precision, with any exponent. */
  const bool tiny = more > 1 || (more == 1 && !(shift_nearest(significand, drop) >> f->precision));
  if (inexact) *raised |= FE_INEXACT | (tiny ? FE_UNDERFLOW : 0);
  const uint64_t base = more ? 0 : (uint64_t)(e + f->bias - 1);
  if (!more && e > f->bias) return *raised |= FE_OVERFLOW | FE_INEXACT, sign | f->infinity;
  const uint64_t bits = (base << (f->precision - 1)) + kept;
  if (bits >= f->infinity) *raised |= FE_OVERFLOW | FE_INEXACT;
  return sign | (bits < f->infinity ? bits : f->infinity);
}

static bool is_of_single(unsigned op)
{
  switch (op) {
  case RV64_FADD_S:
  case RV64_FSUB_S:
  case RV64_FMUL_S:
  case RV64_FDIV_S:
  case RV64_FMADD_S:
  case RV64_FMSUB_S:
  case RV64_FNMSUB_S:
  case RV64_FNMADD_S:
  case RV64_FCVT_S_W:
  case RV64_FCVT_S_WU:
  case RV64_FCVT_S_L:
  case RV64_FCVT_S_LU:
  case RV64_FCVT_S_D: return true;
  default: return false;
  }
}

uint64_t rv64_fp_rmm(rv64_fp_fn *fn, unsigned op, uint64_t a, uint64_t b, uint64_t c)
{
  /* A square root is never half way between two numbers. */
  if (op == RV64_FSQRT_S || op == RV64_FSQRT_D) return fn(a, b, c);
  const bool is_single = is_of_single(op);
  const struct format *f = is_single ? &single : &twice;
  const int before = fetestexcept(FE_ALL_EXCEPT);
  feclearexcept(FE_ALL_EXCEPT);
  fesetround(FE_TOWARDZERO);
  volatile __float128 va = first_operand(op, a, is_single), vb = operand(b, is_single), vc = operand(c, is_single);
  volatile __float128 v = wide(op, va, vb, vc);
  int raised = fetestexcept(FE_ALL_EXCEPT);
  fesetround(FE_TONEAREST);
  feclearexcept(FE_ALL_EXCEPT);
  u128 q;
  const __float128 value = v;
  memcpy(&q, &value, sizeof q);
  if (raised & FE_INEXACT) q |= 1;
  raised &= FE_INVALID | FE_DIVBYZERO;
  const uint64_t bits = narrow(q, f, &raised);
  feraiseexcept(before | raised);
  return f->box | bits;
}
