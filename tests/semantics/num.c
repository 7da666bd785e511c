/* Formats and MPFR. */
#include "num.h"

#include <limits.h>

const struct fmt NUM_F16 = {11, 5}, NUM_BF16 = {8, 8}, NUM_TF32 = {11, 8}, NUM_F32 = {24, 8},
                 NUM_F64 = {53, 11};

void num_init(struct num *n)
{
  mpfr_inits2(64, n->x, n->y, n->z, n->r, (mpfr_ptr)0);
}

void num_free(struct num *n)
{
  mpfr_clears(n->x, n->y, n->z, n->r, (mpfr_ptr)0);
}

mpfr_rnd_t num_mode(uint64_t rnd)
{
  static const mpfr_rnd_t modes[4] = {MPFR_RNDN, MPFR_RNDD, MPFR_RNDU, MPFR_RNDZ};
  return modes[rnd & 3];
}

uint64_t num_sign(struct fmt f)
{
  return (uint64_t)1 << (f.prec - 1 + f.ebits);
}

uint64_t num_inf(struct fmt f)
{
  return (((uint64_t)1 << f.ebits) - 1) << (f.prec - 1);
}

uint64_t num_nan(struct fmt f)
{
  return num_sign(f) - 1;
}

uint64_t num_one(struct fmt f)
{
  return (num_inf(f) >> f.prec) << (f.prec - 1);
}

bool num_is_nan(uint64_t bits, struct fmt f)
{
  return (bits & (num_sign(f) - 1)) > num_inf(f);
}

bool num_is_subnormal(uint64_t bits, struct fmt f)
{
  return (bits & (num_sign(f) - 1)) && !(bits & num_inf(f));
}

void num_from(mpfr_t x, uint64_t bits, struct fmt f)
{
  const int sign = bits & num_sign(f) ? -1 : 1, bias = (1 << (f.ebits - 1)) - 1;
  const uint64_t mag = bits & (num_sign(f) - 1), hidden = (uint64_t)1 << (f.prec - 1);
  const int e = (int)(mag >> (f.prec - 1));
  if (mag > num_inf(f))
    mpfr_set_nan(x);
  else if (mag == num_inf(f))
    mpfr_set_inf(x, sign);
  else if (!mag)
    mpfr_set_zero(x, sign);
  else {
    const uint64_t m = (mag & (hidden - 1)) | (e ? hidden : 0);
    mpfr_set_ui_2exp(x, m, (e ? e : 1) - bias - (int)f.prec + 1, MPFR_RNDN);
    if (sign < 0) mpfr_neg(x, x, MPFR_RNDN);
  }
}

uint64_t num_to(mpfr_t y, int t, struct fmt f, mpfr_rnd_t m)
{
  const mpfr_exp_t emin = mpfr_get_emin(), emax = mpfr_get_emax();
  const int top = 1 << (f.ebits - 1);
  mpfr_set_emax(top);
  mpfr_set_emin(4 - top - (int)f.prec); /* the smallest subnormal is 0.5 * 2^emin */
  t = mpfr_check_range(y, t, m);
  mpfr_subnormalize(y, t, m);
  mpfr_set_emin(emin), mpfr_set_emax(emax);
  const uint64_t sign = mpfr_signbit(y) ? num_sign(f) : 0;
  if (mpfr_nan_p(y)) return num_nan(f);
  if (mpfr_inf_p(y)) return sign | num_inf(f);
  if (mpfr_zero_p(y)) return sign;
  int e = (int)mpfr_get_exp(y) - 1; /* |y| = 1.m * 2^e */
  const int least = 2 - top;
  mpfr_mul_2si(y, y, (int)f.prec - 1 - (e < least ? least : e), MPFR_RNDN);
  mpfr_abs(y, y, MPFR_RNDN);
  uint64_t units = mpfr_get_ui(y, MPFR_RNDZ);
  if (e < least) return sign | units;
  return sign | (((uint64_t)(e - least) << (f.prec - 1)) + units);
}
