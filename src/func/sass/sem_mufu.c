/* MUFU: reciprocal, roots, exponential, logarithm, sine, cosine, hyperbolic tangent.
 *
 * Compiled once per x86-64 level (lanes.h). The hardware interpolates tables whose low bits are not
 * public; this file computes the functions in FP64 and rounds, which keeps every documented error
 * bound (CUDA programming guide, intrinsic functions; PTX ISA: RCP and SQRT 1 ulp, RSQ 2^-22.4
 * relative, EX2 2^-22.5, LG2 2^-22 absolute near 1, SIN/COS 2^-20.5 absolute, TANH 2^-11 relative).
 * No libm function is used: its bits may differ between hosts. Only + - * / and square root.
 *
 * FP32 RCP, RSQ, SQRT, LG2 and EX2 take and give no subnormals (compiler output, CUDA 13.0, scales
 * around such operands). SIN and COS take the angle in turns. RCP64H and RSQ64H take and give the
 * high word of an FP64 number.
 */
#include "func/sass/func_launch.h"
#include "func/sass/sem_fp_part.h"

/* ---- functions of one FP64 number ------------------------------------------------------------ */

#define ROUNDER 0x1.8p52 /* x + ROUNDER has the nearest integer to x in its low bits */

/* 2^x, |x| <= 1000. Taylor series of e^(f ln 2), |f| <= 1/2: error below 2^-46. */
static inline double exp2_f64(double x)
{
  const double t = x + ROUNDER, f = (x - (t - ROUNDER)) * 0x1.62e42fefa39efp-1;
  double p = 1.0 / 39916800;
  p = p * f + 1.0 / 3628800;
  p = p * f + 1.0 / 362880;
  p = p * f + 1.0 / 40320;
  p = p * f + 1.0 / 5040;
  p = p * f + 1.0 / 720;
  p = p * f + 1.0 / 120;
  p = p * f + 1.0 / 24;
  p = p * f + 1.0 / 6;
  p = p * f + 0.5;
  p = p * f + 1.0;
  p = p * f + 1.0;
  return p * bits_f64((f64_bits(t) + 1023) << 52);
}

/* log2 of the FP32 pattern v, a positive normal number: v = 2^e m, 1/sqrt 2 <= m < sqrt 2, and
 * ln m = 2 artanh((m - 1) / (m + 1)). Error below 2^-44 relative. */
static inline double log2_f64(uint32_t v)
{
  const int32_t e = (int32_t)(v - 0x3f3504f3u) >> 23;
  const double m = (double)bits_f32(v - ((uint32_t)e << 23)), s = (m - 1.0) / (m + 1.0), q = s * s;
  double p = 1.0 / 15;
  p = p * q + 1.0 / 13;
  p = p * q + 1.0 / 11;
  p = p * q + 1.0 / 9;
  p = p * q + 1.0 / 7;
  p = p * q + 1.0 / 5;
  p = p * q + 1.0 / 3;
  p = p * q + 1.0;
  return (double)e + p * s * 0x1.71547652b82fep+1; /* 2 / ln 2 */
}

/* cos (quarter 0) or sin (quarter 3) of 2 pi x: x reduced to the nearest quarter turn, exactly. */
static inline double sincos_f64(double x, uint64_t quarter)
{
  const double r = x - f64_round_integral(x, FP_RN); /* exact: an FP32 number minus its integer */
  const double t = r * 4.0 + ROUNDER;
  const double y = (r - (t - ROUNDER) * 0.25) * 0x1.921fb54442d18p+2, q = y * y;
  const uint64_t n = f64_bits(t) + quarter;
  double s = 1.0 / 6227020800;
  s = s * q - 1.0 / 39916800;
  s = s * q + 1.0 / 362880;
  s = s * q - 1.0 / 5040;
  s = s * q + 1.0 / 120;
  s = s * q - 1.0 / 6;
  s = s * q + 1.0;
  s = s * y;
  double c = -1.0 / 87178291200;
  c = c * q + 1.0 / 479001600;
  c = c * q - 1.0 / 3628800;
  c = c * q + 1.0 / 40320;
  c = c * q - 1.0 / 720;
  c = c * q + 1.0 / 24;
  c = c * q - 0.5;
  c = c * q + 1.0;
  const double v = n & 1 ? -s : c; /* cos at n quarter turns: c, -s, -c, s */
  return bits_f64(f64_bits(v) ^ (n & 2) << 62);
}

/* tanh x = 1 - 2 / (e^2x + 1); below 2^-7 by its series, against cancellation. */
static inline double tanh_f64(double x)
{
  const double a = bits_f64(f64_bits(x) & ~F64_SIGN), top = a < 40.0 ? a : 40.0;
  const double e = exp2_f64(top * 0x1.71547652b82fep+1); /* 2 / ln 2 */
  const double q = a * a, series = a * (1.0 - q * (1.0 / 3 - q * (2.0 / 15)));
  const double r = a < 0x1p-7 ? series : 1.0 - 2.0 / (e + 1.0);
  return bits_f64(f64_bits(x == x ? r : x) | (f64_bits(x) & F64_SIGN));
}

/* 2^x for any FP32 x: what lies outside [-200, 200] overflows or underflows on conversion. */
static inline double exp2_clamped(float x)
{
  double y = (double)x;
  y = y > 200.0 ? 200.0 : y;
  y = y < -200.0 ? -200.0 : y;
  const double r = exp2_f64(y == y ? y : 0.0);
  return x == x ? r : (double)x;
}

/* ---- FP32 results ---------------------------------------------------------------------------- */

static inline uint32_t mufu_cos(uint32_t v)
{
  const bool finite = (v & F32_INF) != F32_INF;
  const double r = sincos_f64((double)bits_f32(finite ? v : 0), 0);
  return finite ? f32_bits((float)r) : F32_NAN;
}

static inline uint32_t mufu_sin(uint32_t v)
{
  const bool finite = (v & F32_INF) != F32_INF;
  const double r = sincos_f64((double)bits_f32(finite ? v : 0), 3);
  const uint32_t s = f32_bits((float)r);
  /* the sign of a zero is that of the argument */
  return !finite ? F32_NAN : (s & ~F32_SIGN) ? s : v & F32_SIGN;
}

static inline uint32_t mufu_ex2(uint32_t v)
{
  return f32_flush(f32_canon((float)exp2_clamped(bits_f32(v))), FULL_MASK);
}

static inline uint32_t mufu_lg2(uint32_t v)
{
  const uint32_t x = f32_flush(v, FULL_MASK);
  const bool normal = x - 0x00800000u < F32_INF - 0x00800000u;
  const uint32_t r = f32_bits((float)log2_f64(normal ? x : F32_ONE));
  const uint32_t zero = F32_SIGN | F32_INF;
  return normal ? r : (x & ~F32_SIGN) == 0 ? zero : x == F32_INF ? F32_INF : F32_NAN;
}

static inline uint32_t mufu_rcp(uint32_t v)
{
  return f32_flush(f32_canon(1.0f / bits_f32(f32_flush(v, FULL_MASK))), FULL_MASK);
}

/* The bits of 1 / sqrt x in FP64, then rounded, for every x; without a division and a root, which take most of the
 * time: a first guess from the exponent, two steps of Newton's iteration in FP32, one of Halley's in FP64. */
static inline uint32_t mufu_rsq(uint32_t v)
{
  const uint32_t b = f32_flush(v, FULL_MASK);
  const float x = bits_f32(b), half = 0.5f * x;
  float y = bits_f32(0x5f3759dfu - (b >> 1));
  y = y * (1.5f - half * y * y);
  y = y * (1.5f - half * y * y);
  const double s = (double)y, r = 1.0 - (double)x * s * s;
  const uint32_t root = f32_bits((float)(s + s * r * (0.5 + 0.375 * r)));
  const uint32_t other = !(b & ~F32_SIGN) ? b | F32_INF : b == F32_INF ? 0 : F32_NAN;
  return b - 0x00800000u < F32_INF - 0x00800000u ? root : other;
}

static inline uint32_t mufu_sqrt(uint32_t v)
{
  return f32_canon(__builtin_sqrtf(bits_f32(f32_flush(v, FULL_MASK))));
}

static inline uint32_t mufu_tanh(uint32_t v)
{
  return f32_canon((float)tanh_f64((double)bits_f32(v)));
}

/* High word of FP64 result r: rounded to nearest, no subnormals, NaN canonical. */
static inline uint32_t f64_high(double r)
{
  const uint64_t v = f64_bits(r);
  const uint32_t high = (uint32_t)((v + 0x80000000u) >> 32);
  const uint32_t x = (high & 0x7ff00000u) ? high : high & F32_SIGN;
  return r == r ? x : F32_NAN;
}

/* FP64 number with high word v, subnormals flushed. */
static inline double f64_of_high(uint32_t v)
{
  return bits_f64((uint64_t)((v & 0x7ff00000u) ? v : v & F32_SIGN) << 32);
}

static inline uint32_t mufu_rcp64h(uint32_t v)
{
  return f64_high(1.0 / f64_of_high(v));
}

static inline uint32_t mufu_rsq64h(uint32_t v)
{
  return f64_high(1.0 / __builtin_sqrt(f64_of_high(v)));
}

#define MUFU(op)                                                                                   \
  LANE_HANDLER(lanes_##op)                                                                         \
  {                                                                                                \
    LANE_UNUSED;                                                                                   \
    LANE_SRC(a);                                                                                   \
    LANE_ROWS(1, d[i] = mufu_##op(LANE(a)););                                                      \
    return true;                                                                                   \
  }

MUFU(cos)
MUFU(sin)
MUFU(ex2)
MUFU(lg2)
MUFU(rcp)
MUFU(rsq)
MUFU(rcp64h)
MUFU(rsq64h)
MUFU(sqrt)
MUFU(tanh)

/* In the order of the MUFU_OP field. */
static uop_fn *const mufu_f32[10] = {
    lanes_cos, lanes_sin,    lanes_ex2,    lanes_lg2,  lanes_rcp,
    lanes_rsq, lanes_rcp64h, lanes_rsq64h, lanes_sqrt, lanes_tanh,
};

/* ---- FP16 and BF16 forms: EX2 and TANH of one number, result in the low half ----------------- */

enum { FMT_CODES = 4 };

/* Meaning of the MUFU_FMT codes from a target on (compiler output, CUDA 13.0). */
enum half_format { NO_HALF, HALF_F16, HALF_BF16 };
static const struct {
  unsigned from_sm;
  uint8_t format[FMT_CODES];
} mufu_formats[] = {
    {90, {NO_HALF, HALF_F16, HALF_BF16, NO_HALF}},
    {0, {NO_HALF, NO_HALF, HALF_F16, NO_HALF}},
};

static bool is_bf16(const struct func_warp *w, unsigned code)
{
  unsigned k = 0;
  while (w->launch->p.sm < mufu_formats[k].from_sm) k++;
  return mufu_formats[k].format[code] == HALF_BF16;
}

static inline uint32_t half_to_f32(uint32_t h, bool bf16)
{
  return bf16 ? h << 16 : f32_from_f16(h);
}

/* A double result to half: through FP32 rounded to odd. */
static inline uint32_t half_of_f64(double x, bool bf16)
{
  const uint32_t v = f32_bits(f32_odd_from_f64(x));
  return bf16 ? bf16_from_f32(v) : f16_from_f32(v);
}

/* uop.imm: shift of the source half; imm2: format code. */
LANE_HANDLER(ex2_half)
{
  LANE_UNUSED;
  LANE_SRC(a);
  const bool bf16 = is_bf16(w, u->imm2);
  const uint32_t shift = u->imm;
  LANE_ROWS(1, float x = bits_f32(half_to_f32(LANE(a) >> shift & 0xffffu, bf16));
            d[i] = half_of_f64(exp2_clamped(x), bf16););
  return true;
}

LANE_HANDLER(tanh_half)
{
  LANE_UNUSED;
  LANE_SRC(a);
  const bool bf16 = is_bf16(w, u->imm2);
  const uint32_t shift = u->imm;
  LANE_ROWS(1, float x = bits_f32(half_to_f32(LANE(a) >> shift & 0xffffu, bf16));
            d[i] = half_of_f64(tanh_f64((double)x), bf16););
  return true;
}

/* ---- picker ---------------------------------------------------------------------------------- */

enum { OP_EX2 = 2, OP_TANH = 9 };

uop_fn *SEM_NAME(sem_mufu_part)(const struct sass_inst *s, struct uop *u)
{
  const enum sass_field_id format = sass_has(s, FLD_MUFU_FMT80) ? FLD_MUFU_FMT80 : FLD_MUFU_FMT;
  const unsigned op = (unsigned)sass_get(s, FLD_MUFU_OP), fmt = (unsigned)sass_get(s, format);
  const unsigned sel = (unsigned)sass_get(s, FLD_CVT_SEL);

  if (fmt == 0) return op < 10 && sel == 0 ? mufu_f32[op] : NULL;
  if (fmt == 3 || sel > 1) return NULL;
  u->a_and = s->src[0].abs ? 0x7fff7fffu : FULL_MASK;
  u->a_xor = s->src[0].neg ? 0x80008000u : 0;
  u->imm = 16 * sel;
  u->imm2 = fmt;
  return op == OP_EX2 ? ex2_half : op == OP_TANH ? tanh_half : NULL;
}
