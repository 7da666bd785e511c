/* Reference: MUFU. The hardware interpolates tables whose low bits are not public; what is
 * checked is the error bound the PTX ISA 9.0 documents (rcp, sqrt, rsqrt, sin, cos, lg2, ex2,
 * tanh .approx) and the special values it lists. FP32 operations flush subnormal inputs and
 * results but TANH; SIN and COS take turns, whose bound holds for the angle 2 pi x in [-2 pi, 2
 * pi] and beyond it for the exactly reduced angle here.
 */
#include "num.h"
#include "sem.h"

#include <math.h>

enum { COS, SIN, EX2, LG2, RCP, RSQ, RCP64H, RSQ64H, SQRT, TANH };

/* |result - exact| <= rel * |exact| + abs */
struct bound {
  double rel, abs;
};

static const struct bound f32_bound[] = {
    [COS] = {0, 0x1p-20 * 0.70710678},
    [SIN] = {0, 0x1p-20 * 0.70710678},
    [EX2] = {0x1p-22 * 0.70710678, 0},
    [LG2] = {0x1p-22 * 0.6597540, 0x1p-22},
    [RCP] = {0x1p-23, 0},
    [RSQ] = {0x1p-22 * 0.5358868, 0},
    [RCP64H] = {0x1p-19, 0},
    [RSQ64H] = {0x1p-19, 0},
    [SQRT] = {0x1p-23, 0},
    [TANH] = {0x1p-11, 0},
};

/* The function of n->x to n->r. False: not a number. */
static bool function(struct num *n, unsigned op)
{
  mpfr_set_prec(n->r, 80);
  mpfr_set_prec(n->y, 160);
  switch (op) {
  case COS:
  case SIN:
    mpfr_rint(n->y, n->x, MPFR_RNDN);
    mpfr_sub(n->y, n->x, n->y, MPFR_RNDN); /* exact: a fraction of a turn */
    mpfr_set_prec(n->z, 80);
    mpfr_const_pi(n->z, MPFR_RNDN);
    mpfr_mul(n->y, n->y, n->z, MPFR_RNDN);
    mpfr_mul_2ui(n->y, n->y, 1, MPFR_RNDN);
    if (op == SIN)
      mpfr_sin(n->r, n->y, MPFR_RNDN);
    else
      mpfr_cos(n->r, n->y, MPFR_RNDN);
    break;
  case EX2: mpfr_exp2(n->r, n->x, MPFR_RNDN); break;
  case LG2: mpfr_log2(n->r, n->x, MPFR_RNDN); break;
  case RCP:
  case RCP64H: mpfr_ui_div(n->r, 1, n->x, MPFR_RNDN); break;
  case RSQ:
  case RSQ64H: mpfr_rec_sqrt(n->r, n->x, MPFR_RNDN); break;
  case SQRT: mpfr_sqrt(n->r, n->x, MPFR_RNDN); break;
  default: mpfr_tanh(n->r, n->x, MPFR_RNDN);
  }
  mpfr_set_prec(n->y, 64);
  return !mpfr_nan_p(n->r);
}

/* Interval of acceptable results, widened to what overflow and flushing make of its ends. */
static void interval(struct ref_out *o, unsigned i, double x, struct bound b, double most,
                     double least)
{
  if (isinf(x)) { /* beyond FP64 */
    o->lo[i] = o->hi[i] = x;
    return;
  }
  const double slack = b.rel * fabs(x) + b.abs;
  double lo = x - slack, hi = x + slack;
  if (hi > most) hi = INFINITY;
  if (lo < -most) lo = -INFINITY;
  if (lo > most) lo = most;
  if (hi < -most) hi = -most;
  if (fabs(x) - slack < least) { /* may be flushed */
    if (lo > 0) lo = 0;
    if (hi < 0) hi = 0;
  }
  o->lo[i] = lo, o->hi[i] = hi;
}

static void exact(struct ref_out *o, unsigned i, uint32_t v)
{
  o->d[0][i] = v, o->lo[i] = 1, o->hi[i] = 0;
}

/* Zeros, infinities and NaN: a table of the PTX ISA. True: done. */
static bool special(struct ref_out *o, unsigned i, unsigned op, uint32_t v)
{
  const uint32_t mag = v & 0x7fffffff, sign = v & 0x80000000, inf = 0x7f800000, nan = 0x7fffffff;
  uint32_t r = 0;
  if (mag > inf)
    r = nan;
  else if (mag == 0) {
    switch (op) {
    case COS: r = 0x3f800000; break;
    case EX2: r = 0x3f800000; break;
    case LG2: r = 0xff800000; break;
    case RCP:
    case RSQ: r = sign | inf; break;
    default: r = sign;
    }
  } else if (mag == inf) {
    switch (op) {
    case COS:
    case SIN: r = nan; break;
    case EX2: r = sign ? 0 : inf; break;
    case LG2:
    case SQRT: r = sign ? nan : inf; break;
    case RCP: r = sign; break;
    case RSQ: r = sign ? nan : 0; break;
    default: r = sign | 0x3f800000;
    }
  } else if (sign && (op == LG2 || op == RSQ || op == SQRT))
    r = nan;
  else
    return false;
  exact(o, i, r);
  return true;
}

static void mufu_f32(struct num *n, struct ref_out *o, unsigned i, unsigned op, uint32_t v)
{
  if (num_is_subnormal(v, NUM_F32) && op != TANH && op != EX2 && op != SIN && op != COS)
    v &= 0x80000000;
  o->bound_format = AS_F32;
  if (special(o, i, op, v)) return;
  num_from(n->x, v, NUM_F32);
  function(n, op);
  struct bound b = f32_bound[op];
  const double x = mpfr_get_d(n->r, MPFR_RNDN);
  if (op == LG2) { /* absolute for results in [-1, 1], else relative */
    const float in = (float)mpfr_get_d(n->x, MPFR_RNDN);
    if (in < 0.5f || in > 2.0f)
      b.abs = 0;
    else
      b.rel = 0;
  }
  interval(o, i, x, b, 0x1.fffffep127, op == TANH ? 0 : 0x1p-126);
}

/* High words of FP64: the low word of the operand counts as 0; subnormals are zeros. */
static void mufu_f64(struct num *n, struct ref_out *o, unsigned i, unsigned op, uint32_t v)
{
  const uint32_t mag = v & 0x7fffffff, sign = v & 0x80000000, inf = 0x7ff00000, nan = 0x7fffffff;
  o->bound_format = AS_F64_HIGH;
  if (mag > inf)
    exact(o, i, nan);
  else if (mag < 0x00100000)
    exact(o, i, sign | inf);
  else if (sign && op == RSQ64H)
    exact(o, i, nan);
  else if (mag == inf)
    exact(o, i, sign);
  else {
    num_from(n->x, (uint64_t)v << 32, NUM_F64);
    function(n, op);
    interval(o, i, mpfr_get_d(n->r, MPFR_RNDN), f32_bound[op], 0x1.fffffp1023, 0x1p-1022);
  }
}

/* EX2 and TANH of one FP16 or BF16 number, subnormals kept. */
static bool mufu_half(struct num *n, const struct ref_in *in, struct ref_out *o, unsigned i,
                      unsigned op)
{
  const bool bf16 = in->sm >= 90 && get(in, FLD_MUFU_FMT) == 2;
  const struct fmt f = bf16 ? NUM_BF16 : NUM_F16;
  const struct bound b =
      op == EX2 ? (struct bound){bf16 ? 0x1p-7 : 0x1p-9 * 0.5358868, bf16 ? 0 : 0x1p-25}
                : (struct bound){0, bf16 ? 0x1p-8 : 0x1p-10 * 0.5045}; /* 2^-10.987 */
  const struct sass_src *s = &in->s->src[0];
  uint64_t v = in->src[0][0][i] >> 16 * s->swz & 0xffff;
  if (s->abs) v &= 0x7fff;
  if (s->neg) v ^= 0x8000;
  o->bound_format = bf16 ? AS_BF16 : AS_F16;
  if (num_is_nan(v, f))
    exact(o, i, 0x7fff);
  else if ((v & 0x7fff) == num_inf(f))
    exact(o, i, (uint32_t)(op == EX2 ? (v >> 15 ? 0 : v) : (v & 0x8000) | num_one(f)));
  else {
    num_from(n->x, v, f);
    function(n, op);
    double x = mpfr_zero_p(n->r) ? 0 : mpfr_get_d(n->r, MPFR_RNDN);
    interval(o, i, x, b, bf16 ? 0x1.fep127 : 65504, bf16 ? 0x1p-126 : 0);
  }
  return true;
}

bool ref_mufu(const struct ref_in *in, struct ref_out *o)
{
  const unsigned op = (unsigned)get(in, FLD_MUFU_OP);
  const struct sass_src *s = &in->s->src[0];
  struct num n;
  num_init(&n);
  o->rows = 1;
  o->bounded = true;
  for (unsigned i = 0; i < SEM_LANES; i++) {
    uint32_t v = in->src[0][0][i];
    if (s->abs) v &= 0x7fffffff;
    if (s->neg) v ^= 0x80000000;
    if (get(in, FLD_MUFU_FMT) || get(in, FLD_MUFU_FMT80))
      mufu_half(&n, in, o, i, op);
    else if (op == RCP64H || op == RSQ64H)
      mufu_f64(&n, o, i, op, v);
    else
      mufu_f32(&n, o, i, op, v);
  }
  num_free(&n);
  return true;
}
