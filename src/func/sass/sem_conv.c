/* Conversions: F2F, F2I, I2F, FRND, I2I, F2FP, I2FP, I2IP, F2IP.
 *
 * Compiled once per x86-64 level (lanes.h). A source is brought to FP64, which holds every FP16,
 * FP32 and 32-bit integer exactly, and rounded from there once; 64-bit integers take the integer
 * path of fpbits.h. Rules: PTX ISA, cvt; field codes from compiler output (CUDA 13.0). Integer
 * sizes are log2 of bytes. A result shorter than 32 bits is sign- or zero-extended by its type (the
 * compiler uses it so); float results shorter than 32 bits leave the upper half zero.
 */
#include "func/sass/sem_fp_part.h"

enum { SIZE_8, SIZE_16, SIZE_32, SIZE_64 }; /* integers */
enum { F16 = 1, F32, F64, BF16, FORMATS };  /* floats, the first three by size */

/* uop.imm of all conversions of one source. */
enum {
  CVT_MODE = 3,  /* enum fp_round */
  CVT_DST = 2,   /* destination size or format, 3 bits */
  CVT_SRC = 5,   /* source size or format, 3 bits */
  CVT_SHIFT = 8, /* bits the source is shifted down by, 5 bits */
  CVT_FTZ = 1 << 16,
  CVT_SIGNED = 1 << 17,   /* the integer side */
  CVT_NAN_ZERO = 1 << 18, /* F2I.NTZ */
};

static inline unsigned cvt_dst(const struct uop *u)
{
  return u->imm >> CVT_DST & 7;
}

static inline unsigned cvt_src(const struct uop *u)
{
  return u->imm >> CVT_SRC & 7;
}

/* Source of lane i as FP64: FP16 or BF16 (shifted), FP32 (flushed if asked) or FP64. */
#define SOURCE_F64(format)                                                                         \
  ((format) == F64   ? bits_f64(LANE64(a))                                                         \
   : (format) == F32 ? (double)bits_f32(f32_flush(LANE(a), ftz))                                   \
   : (format) == F16 ? (double)bits_f32(f32_from_f16(LANE(a) >> shift & 0xffffu))                  \
                     : (double)bits_f32(LANE(a) >> shift << 16))

#define SOURCE_PARTS                                                                               \
  LANE_SRC(a);                                                                                     \
  const uint32_t ftz = u->imm & CVT_FTZ ? FULL_MASK : 0;                                           \
  const uint32_t shift = u->imm >> CVT_SHIFT & 31;                                                 \
  (void)ftz, (void)shift

/* ---- F2F ------------------------------------------------------------------------------------- */

/* NaN of a wide source in FP64: payload kept, quiet. */
static inline uint64_t f64_quieted(double x)
{
  return f64_bits(x) | (x == x ? 0 : F64_QUIET);
}

LANE_HANDLER(f2f_f32_f64_rn)
{
  LANE_UNUSED;
  SOURCE_PARTS;
  LANE_ROWS(1, d[i] = f32_flush(f32_canon((float)bits_f64(LANE64(a))), ftz););
  return true;
}

LANE_HANDLER(f2f_f64_f32)
{
  LANE_UNUSED;
  SOURCE_PARTS;
  LANE_ROWS(2, double x = (double)bits_f32(f32_flush(LANE(a), ftz));
            lane_put64(d, i, f64_quieted(x)););
  return true;
}

/* By format code. */
static const struct fp_format *const formats[FORMATS] = {
    [F16] = &FMT_F16, [F32] = &FMT_F32, [F64] = &FMT_F64, [BF16] = &FMT_BF16};

/* x as the pattern of a number of a format, rounded by mode. */
static inline uint64_t f64_narrow(double x, unsigned format, enum fp_round mode)
{
  const struct fp_format fmt = *formats[format];
  if (format == F64) return f64_quieted(x);
  if (x != x) return format == F32 ? F32_NAN : F16_NAN;
  uint64_t v = f64_bits(x);
  if ((v & ~F64_SIGN) == F64_INF)
    return (v >> 63) << (fmt.frac + fmt.exp) | (((uint64_t)1 << fmt.exp) - 1) << fmt.frac;
  return fp_pack_f64(x, fmt, mode);
}

/* Any pair of formats and any mode, one lane at a time. */
static void f2f_lanes(uint64_t *r, const struct func_warp *w, const struct uop *u)
{
  SOURCE_PARTS;
  const unsigned src = cvt_src(u), dst = cvt_dst(u);
  for (unsigned i = 0; i < LANES; i++) {
    r[i] = f64_narrow(SOURCE_F64(src), dst, (enum fp_round)(u->imm & CVT_MODE));
    if (dst == F32) r[i] = f32_flush((uint32_t)r[i], ftz);
  }
}

LANE_HANDLER(f2f_any)
{
  LANE_UNUSED;
  uint64_t r[LANES];
  f2f_lanes(r, w, u);
  LANE_ROWS(1, d[i] = (uint32_t)r[i];);
  return true;
}

LANE_HANDLER(f2f_any_to_f64)
{
  LANE_UNUSED;
  uint64_t r[LANES];
  f2f_lanes(r, w, u);
  LANE_ROWS(2, lane_put64(d, i, r[i]););
  return true;
}

/* ---- F2I ------------------------------------------------------------------------------------- */

/* x rounded and saturated to an integer of `bits` <= 32 bits, as a 32-bit pattern. lo, hi: range.
 */
static inline uint32_t f64_to_int(double x, enum fp_round mode, double lo, double hi, double bias,
                                  uint32_t nan)
{
  double r = f64_round_integral(x, mode);
  r = r > hi ? hi : r;
  r = r < lo ? lo : r;
  r = x == x ? r : 0.0;
  /* bias: 2^31 for unsigned types, so that the conversion is the signed one, which vectorises */
  uint32_t v = (uint32_t)(int32_t)(r - bias) ^ (bias > 0.0 ? 0x80000000u : 0);
  return x == x ? v : nan;
}

/* Limits of an integer type of 1 << size bytes. */
struct int_range {
  double lo, hi, bias;
  uint32_t nan; /* PTX ISA: half of the type's range, or 0 */
};

static struct int_range int_range(uint32_t imm, unsigned size)
{
  const unsigned bits = 8u << size;
  const double span = (double)((uint64_t)1 << bits);
  const uint32_t top = 1u << (bits - 1);
  if (imm & CVT_SIGNED)
    return (struct int_range){-span / 2, span / 2 - 1, 0.0,
                              imm & CVT_NAN_ZERO ? 0 : (uint32_t) - (int64_t)top};
  return (struct int_range){0.0, span - 1, 0x1p31, imm & CVT_NAN_ZERO ? 0 : top};
}

#define F2I(name, format, mode)                                                                    \
  LANE_HANDLER(f2i_##name)                                                                         \
  {                                                                                                \
    LANE_UNUSED;                                                                                   \
    SOURCE_PARTS;                                                                                  \
    const struct int_range g = int_range(u->imm, cvt_dst(u));                                      \
    LANE_ROWS(1, d[i] = f64_to_int(SOURCE_F64(format), mode, g.lo, g.hi, g.bias, g.nan););         \
    return true;                                                                                   \
  }

#define FOUR_MODES(macro, name, format)                                                            \
  macro(name##_rn, format, FP_RN) macro(name##_rm, format, FP_RM) macro(name##_rp, format, FP_RP)  \
      macro(name##_rz, format, FP_RZ)

FOUR_MODES(F2I, f16, F16)
FOUR_MODES(F2I, f32, F32)
FOUR_MODES(F2I, f64, F64)
FOUR_MODES(F2I, bf16, BF16)

/* By source format, then mode. */
static uop_fn *const f2i_32[FORMATS][4] = {
    [F16] = {f2i_f16_rn, f2i_f16_rm, f2i_f16_rp, f2i_f16_rz},
    [F32] = {f2i_f32_rn, f2i_f32_rm, f2i_f32_rp, f2i_f32_rz},
    [F64] = {f2i_f64_rn, f2i_f64_rm, f2i_f64_rp, f2i_f64_rz},
    [BF16] = {f2i_bf16_rn, f2i_bf16_rm, f2i_bf16_rp, f2i_bf16_rz},
};

/* x, integral, to 64 bits, saturated. */
static inline uint64_t f64_to_int64(double x, bool is_signed, uint64_t nan)
{
  if (x != x) return nan;
  if (is_signed) {
    if (x >= 0x1p63) return INT64_MAX;
    return x < -0x1p63 ? (uint64_t)INT64_MIN : (uint64_t)(int64_t)x;
  }
  if (x >= 0x1p64) return UINT64_MAX;
  return x <= 0.0 ? 0 : (uint64_t)x;
}

LANE_HANDLER(f2i_64)
{
  LANE_UNUSED;
  SOURCE_PARTS;
  const unsigned src = cvt_src(u);
  const enum fp_round mode = (enum fp_round)(u->imm & CVT_MODE);
  const uint64_t nan = u->imm & CVT_NAN_ZERO ? 0 : (uint64_t)1 << 63;
  uint64_t r[LANES];
  for (unsigned i = 0; i < LANES; i++)
    r[i] = f64_to_int64(f64_round_integral(SOURCE_F64(src), mode), u->imm & CVT_SIGNED, nan);
  LANE_ROWS(2, lane_put64(d, i, r[i]););
  return true;
}

/* ---- I2F, I2FP ------------------------------------------------------------------------------- */

/* Integer source of up to 32 bits as FP64, exact: shifted to the top and back, which extends it;
 * unsigned ones are biased by 2^31, because only the signed conversion vectorises everywhere. */
#define SOURCE_INT                                                                                 \
  LANE_ROW(a);                                                                                     \
  const uint32_t shift = u->imm >> CVT_SHIFT & 31, up = 32 - (8u << cvt_src(u));                   \
  const bool is_signed = u->imm & CVT_SIGNED;                                                      \
  const double bias = is_signed ? 0.0 : 0x1p31

#define INT_F64                                                                                    \
  ((double)(is_signed ? (int32_t)(LANE_RAW(a) >> shift << up) >> up                                \
                      : (int32_t)((LANE_RAW(a) >> shift << up >> up) ^ 0x80000000u)) +             \
   bias)

#define I2F(suffix, mode)                                                                          \
  LANE_HANDLER(i2f_f32_##suffix)                                                                   \
  {                                                                                                \
    LANE_UNUSED;                                                                                   \
    SOURCE_INT;                                                                                    \
    LANE_ROWS(1, d[i] = f32_bits(f32_from_f64(INT_F64, mode)););                                   \
    return true;                                                                                   \
  }

I2F(rn, FP_RN)
I2F(rm, FP_RM)
I2F(rp, FP_RP)
I2F(rz, FP_RZ)

static uop_fn *const i2f_f32[4] = {i2f_f32_rn, i2f_f32_rm, i2f_f32_rp, i2f_f32_rz};

LANE_HANDLER(i2f_f64)
{
  LANE_UNUSED;
  SOURCE_INT;
  LANE_ROWS(2, lane_put64(d, i, f64_bits(INT_F64)););
  return true;
}

/* To FP16 or BF16. */
LANE_HANDLER(i2f_half)
{
  LANE_UNUSED;
  SOURCE_INT;
  const enum fp_round mode = (enum fp_round)(u->imm & CVT_MODE);
  const struct fp_format fmt = *formats[cvt_dst(u)];
  uint32_t r[LANES];
  for (unsigned i = 0; i < LANES; i++) r[i] = (uint32_t)fp_pack_f64(INT_F64, fmt, mode);
  LANE_ROWS(1, d[i] = r[i];);
  return true;
}

/* 64-bit integer sources, any format and mode. */
static void i2f_lanes(uint64_t *r, const struct func_warp *w, const struct uop *u)
{
  LANE_ROW(a);
  const enum fp_round mode = (enum fp_round)(u->imm & CVT_MODE);
  for (unsigned i = 0; i < LANES; i++) {
    uint64_t v = LANE64_RAW(a);
    bool neg = (u->imm & CVT_SIGNED) && v >> 63;
    v = neg ? 0 - v : v;
    r[i] = v ? fp_pack(neg, 0, v, *formats[cvt_dst(u)], mode) : 0;
  }
}

LANE_HANDLER(i2f_from_64)
{
  LANE_UNUSED;
  uint64_t r[LANES];
  i2f_lanes(r, w, u);
  LANE_ROWS(1, d[i] = (uint32_t)r[i];);
  return true;
}

LANE_HANDLER(i2f_64_from_64)
{
  LANE_UNUSED;
  uint64_t r[LANES];
  i2f_lanes(r, w, u);
  LANE_ROWS(2, lane_put64(d, i, r[i]););
  return true;
}

/* ---- FRND ------------------------------------------------------------------------------------ */

#define FRND_SHORT(name, format, mode)                                                             \
  LANE_HANDLER(frnd_##name)                                                                        \
  {                                                                                                \
    LANE_UNUSED;                                                                                   \
    SOURCE_PARTS;                                                                                  \
    LANE_ROWS(1, float r = (float)f64_round_integral(SOURCE_F64(format), mode);                    \
              d[i] = (format) == F32   ? f32_canon(r)                                              \
                     : (format) == F16 ? f16_from_f32(f32_bits(r))                                 \
                                       : bf16_from_f32(f32_bits(r)););                             \
    return true;                                                                                   \
  }

#define FRND_F64(name, format, mode)                                                               \
  LANE_HANDLER(frnd_##name)                                                                        \
  {                                                                                                \
    LANE_UNUSED;                                                                                   \
    SOURCE_PARTS;                                                                                  \
    LANE_ROWS(2, lane_put64(d, i, f64_quieted(f64_round_integral(SOURCE_F64(format), mode))););    \
    return true;                                                                                   \
  }

FOUR_MODES(FRND_SHORT, f16, F16)
FOUR_MODES(FRND_SHORT, f32, F32)
FOUR_MODES(FRND_SHORT, bf16, BF16)
FOUR_MODES(FRND_F64, f64, F64)

static uop_fn *const frnd[FORMATS][4] = {
    [F16] = {frnd_f16_rn, frnd_f16_rm, frnd_f16_rp, frnd_f16_rz},
    [F32] = {frnd_f32_rn, frnd_f32_rm, frnd_f32_rp, frnd_f32_rz},
    [F64] = {frnd_f64_rn, frnd_f64_rm, frnd_f64_rp, frnd_f64_rz},
    [BF16] = {frnd_bf16_rn, frnd_bf16_rm, frnd_bf16_rp, frnd_bf16_rz},
};

/* ---- F2FP: two FP32 numbers to the pair {a, b}, or (MERGE) one to {c's low half, b} ---------- */

/* uop.imm. */
enum { PACK_MODE = 3, PACK_BF16 = 4, PACK_RELU = 8, PACK_FINITE = 16 };

/* RELU: negative numbers become +0; NaN stays. */
static inline uint32_t f32_relu(uint32_t v, uint32_t on)
{
  uint32_t negative = v > F32_SIGN && v <= (F32_SIGN | F32_INF) ? on : 0;
  uint32_t zero = v == F32_SIGN ? on : 0;
  return v & ~(negative | zero);
}

/* SATFINITE: infinity becomes the largest finite number (its pattern minus one). */
static inline uint32_t half_finite(uint32_t h, uint32_t inf, uint32_t on)
{
  return h - ((h & 0x7fffu) == inf ? on & 1u : 0);
}

#define F2FP(fmt, INF)                                                                             \
  static inline uint32_t to_##fmt(uint32_t v, uint32_t relu, uint32_t finite)                      \
  {                                                                                                \
    return half_finite(fmt##_from_f32(f32_relu(v, relu)), INF, finite);                            \
  }                                                                                                \
  LANE_HANDLER(f2fp_##fmt)                                                                         \
  {                                                                                                \
    LANE_UNUSED;                                                                                   \
    LANE_SRC(a);                                                                                   \
    LANE_SRC(b);                                                                                   \
    const uint32_t relu = u->imm & PACK_RELU ? FULL_MASK : 0;                                      \
    const uint32_t finite = u->imm & PACK_FINITE ? FULL_MASK : 0;                                  \
    LANE_ROWS(1, uint32_t lo = to_##fmt(LANE(b), relu, finite);                                    \
              d[i] = lo | to_##fmt(LANE(a), relu, finite) << 16;);                                 \
    return true;                                                                                   \
  }                                                                                                \
  LANE_HANDLER(f2fp_merge_##fmt)                                                                   \
  {                                                                                                \
    LANE_UNUSED;                                                                                   \
    LANE_SRC(b);                                                                                   \
    LANE_ROW(c);                                                                                   \
    const uint32_t relu = u->imm & PACK_RELU ? FULL_MASK : 0;                                      \
    const uint32_t finite = u->imm & PACK_FINITE ? FULL_MASK : 0;                                  \
    LANE_ROWS(1, d[i] = to_##fmt(LANE(b), relu, finite) | LANE_RAW(c) << 16;);                     \
    return true;                                                                                   \
  }

F2FP(f16, 0x7c00u)
F2FP(bf16, 0x7f80u)

/* One number in a directed mode. */
static uint32_t f2fp_one(uint32_t v, uint32_t imm)
{
  const struct fp_format fmt = imm & PACK_BF16 ? FMT_BF16 : FMT_F16;
  const uint32_t inf = imm & PACK_BF16 ? 0x7f80u : 0x7c00u;
  v = f32_relu(v, imm & PACK_RELU ? FULL_MASK : 0);
  uint32_t a = v & ~F32_SIGN, sign = v >> 16 & 0x8000u;
  if (a > F32_INF) return F16_NAN;
  uint32_t h = a == F32_INF ? inf | sign
                            : (uint32_t)fp_pack_f64((double)bits_f32(v), fmt,
                                                    (enum fp_round)(imm & PACK_MODE));
  return half_finite(h, inf, imm & PACK_FINITE ? FULL_MASK : 0);
}

LANE_HANDLER(f2fp_directed_merge)
{
  LANE_UNUSED;
  LANE_SRC(b);
  LANE_ROW(c);
  uint32_t r[LANES];
  for (unsigned i = 0; i < LANES; i++) r[i] = f2fp_one(LANE(b), u->imm) | LANE_RAW(c) << 16;
  LANE_ROWS(1, d[i] = r[i];);
  return true;
}

LANE_HANDLER(f2fp_directed)
{
  LANE_UNUSED;
  LANE_SRC(a);
  LANE_SRC(b);
  uint32_t r[LANES];
  for (unsigned i = 0; i < LANES; i++)
    r[i] = f2fp_one(LANE(b), u->imm) | f2fp_one(LANE(a), u->imm) << 16;
  LANE_ROWS(1, d[i] = r[i];);
  return true;
}

/* ---- I2I, I2IP, F2IP: saturation to 8 or 16 bits --------------------------------------------- */

/* The 32-bit signed source clamped to [lo, hi]. */
static inline uint32_t int_clamp(uint32_t v, int32_t lo, int32_t hi)
{
  int32_t x = (int32_t)v;
  x = x < lo ? lo : x;
  return (uint32_t)(x > hi ? hi : x);
}

/* Formats 0 U8, 1 S8, 2 U16, 3 S16: limits. */
static const int32_t sat_lo[4] = {0, -128, 0, -32768}, sat_hi[4] = {255, 127, 65535, 32767};

LANE_HANDLER(i2i)
{
  LANE_UNUSED;
  LANE_ROW(a);
  const int32_t lo = sat_lo[u->imm], hi = sat_hi[u->imm];
  LANE_ROWS(1, d[i] = int_clamp(LANE_RAW(a), lo, hi););
  return true;
}

/* 16-bit formats: {a, b}. */
LANE_HANDLER(i2ip_16)
{
  LANE_UNUSED;
  LANE_ROW(a);
  LANE_ROW(b);
  const int32_t lo = sat_lo[u->imm], hi = sat_hi[u->imm];
  LANE_ROWS(1, d[i] = int_clamp(LANE_RAW(a), lo, hi) << 16 |
                      (int_clamp(LANE_RAW(b), lo, hi) & 0xffffu););
  return true;
}

/* 8-bit formats: {c's low half, a, b} (PTX ISA, cvt.pack). */
LANE_HANDLER(i2ip_8)
{
  LANE_UNUSED;
  LANE_ROW(a);
  LANE_ROW(b);
  LANE_ROW(c);
  const int32_t lo = sat_lo[u->imm], hi = sat_hi[u->imm];
  LANE_ROWS(1, d[i] = LANE_RAW(c) << 16 | (int_clamp(LANE_RAW(a), lo, hi) & 0xffu) << 8 |
                      (int_clamp(LANE_RAW(b), lo, hi) & 0xffu););
  return true;
}

/* The same from two FP32 numbers, to U8. */
#define F2IP(suffix, mode)                                                                         \
  LANE_HANDLER(f2ip_##suffix)                                                                      \
  {                                                                                                \
    LANE_UNUSED;                                                                                   \
    LANE_SRC(a);                                                                                   \
    LANE_SRC(b);                                                                                   \
    LANE_ROW(c);                                                                                   \
    const struct int_range g = int_range(u->imm, SIZE_8);                                          \
    LANE_ROWS(1, double x = (double)bits_f32(LANE(a)); double y = (double)bits_f32(LANE(b));       \
              uint32_t hi = f64_to_int(x, mode, g.lo, g.hi, g.bias, g.nan);                        \
              uint32_t lo = f64_to_int(y, mode, g.lo, g.hi, g.bias, g.nan);                        \
              d[i] = LANE_RAW(c) << 16 | hi << 8 | lo;);                                           \
    return true;                                                                                   \
  }

F2IP(rn, FP_RN)
F2IP(rm, FP_RM)
F2IP(rp, FP_RP)
F2IP(rz, FP_RZ)

static uop_fn *const f2ip[4] = {f2ip_rn, f2ip_rm, f2ip_rp, f2ip_rz};

/* ---- picker ---------------------------------------------------------------------------------- */

/* Sign and magnitude of a float source: FP16 pairs, FP32 and FP64 have it in the top bit. */
static void pick_float_mods(const struct sass_src *s, uint32_t *and_, uint32_t *xor_, bool half)
{
  const uint32_t sign = half ? 0x80008000u : F32_SIGN;
  *and_ = s->abs ? ~sign : FULL_MASK;
  *xor_ = s->neg ? sign : 0;
}

static bool is_half(unsigned format)
{
  return format == F16 || format == BF16;
}

static bool is_format(unsigned format)
{
  return format >= F16 && format < FORMATS;
}

static uop_fn *pick_float_source(const struct sass_inst *s, struct uop *u)
{
  const unsigned src = (unsigned)sass_get(s, FLD_CVT_SRC_FSIZE);
  const unsigned mode = (unsigned)(sass_get(s, FLD_RND) | sass_get(s, FLD_RND_INT));
  const unsigned sel = (unsigned)sass_get(s, FLD_CVT_SEL);
  const unsigned dst = (unsigned)(s->sem == SEM_F2I ? sass_get(s, FLD_CVT_DST_ISIZE)
                                                    : sass_get(s, FLD_CVT_DST_FSIZE));

  if (!is_format(src) || sel > 1 || (sel && !is_half(src))) return NULL;
  pick_float_mods(&s->src[0], &u->a_and, &u->a_xor, is_half(src));
  u->imm = mode | dst << CVT_DST | src << CVT_SRC | 16 * sel << CVT_SHIFT;
  if (sass_get(s, FLD_FTZ)) u->imm |= CVT_FTZ;
  if (sass_get(s, FLD_CVT_DST_SIGNED)) u->imm |= CVT_SIGNED;
  if (sass_get(s, FLD_CVT_NTZ)) u->imm |= CVT_NAN_ZERO;
  if (s->sem == SEM_F2I) return dst == SIZE_64 ? f2i_64 : f2i_32[src][mode];
  if (!is_format(dst)) return NULL;
  if (s->sem == SEM_FRND) return src == dst ? frnd[src][mode] : NULL;
  if (dst == F64) return src == F32 ? f2f_f64_f32 : f2f_any_to_f64;
  return dst == F32 && src == F64 && mode == FP_RN ? f2f_f32_f64_rn : f2f_any;
}

static uop_fn *pick_i2f(const struct sass_inst *s, struct uop *u)
{
  const unsigned src = (unsigned)sass_get(s, FLD_CVT_SRC_ISIZE);
  const unsigned dst = (unsigned)sass_get(s, FLD_CVT_DST_FSIZE);
  const unsigned mode = (unsigned)sass_get(s, FLD_RND), sel = (unsigned)sass_get(s, FLD_CVT_SEL);
  const unsigned shift = sel * (8u << src);

  if (!is_format(dst) || shift > 31 || s->src[0].neg || s->src[0].abs) return NULL;
  u->imm = mode | dst << CVT_DST | src << CVT_SRC | shift << CVT_SHIFT;
  if (sass_get(s, FLD_CVT_SRC_SIGNED)) u->imm |= CVT_SIGNED;
  if (src == SIZE_64) return dst == F64 ? i2f_64_from_64 : i2f_from_64;
  return dst == F64 ? i2f_f64 : dst == F32 ? i2f_f32[mode] : i2f_half;
}

static uop_fn *pick_f2fp(const struct sass_inst *s, struct uop *u)
{
  const unsigned mode = (unsigned)sass_get(s, FLD_F2FP_RND);
  const bool bf16 = sass_get(s, FLD_F2FP_FMT) || sass_get(s, FLD_F2FP_FMT80);

  if (sass_get(s, FLD_F2FP_KIND)) return NULL; /* sem_pack.c */

  pick_float_mods(&s->src[0], &u->a_and, &u->a_xor, false);
  pick_float_mods(&s->src[1], &u->b_and, &u->b_xor, false);
  u->imm = mode | (bf16 ? PACK_BF16 : 0u);
  if (sass_get(s, FLD_F2FP_RELU)) u->imm |= PACK_RELU;
  if (sass_get(s, FLD_F2FP_SATFINITE)) u->imm |= PACK_FINITE;
  if (sass_get(s, FLD_F2FP_MERGE)) {
    if (s->src[2].neg || s->src[2].abs) return NULL;
    if (mode != FP_RN) return f2fp_directed_merge;
    return bf16 ? f2fp_merge_bf16 : f2fp_merge_f16;
  }
  return mode != FP_RN ? f2fp_directed : bf16 ? f2fp_bf16 : f2fp_f16;
}

static uop_fn *pick_saturate(const struct sass_inst *s, struct uop *u)
{
  const bool pair = s->sem == SEM_I2IP;
  u->imm = (uint32_t)sass_get(s, pair ? FLD_I2IP_FMT : FLD_I2I_FMT);
  if (pair && (u->imm > 3 || sass_get(s, FLD_I2IP_C))) return NULL; /* sem_pack.c */
  for (unsigned k = 0; k < 3; k++)
    if (s->src[k].neg || s->src[k].abs) return NULL;
  if (s->sem == SEM_I2I) return i2i;
  return u->imm >= 2 ? i2ip_16 : i2ip_8;
}

static uop_fn *pick_f2ip(const struct sass_inst *s, struct uop *u)
{
  pick_float_mods(&s->src[0], &u->a_and, &u->a_xor, false);
  pick_float_mods(&s->src[1], &u->b_and, &u->b_xor, false);
  u->imm = sass_get(s, FLD_F2IP_NTZ) ? CVT_NAN_ZERO : 0;
  return f2ip[sass_get(s, FLD_RND_INT)];
}

sem_picker SEM_NAME(sem_conv_handler);

uop_fn *SEM_NAME(sem_conv_handler)(const struct sass_inst *s, struct uop *u)
{
  u->imm = u->imm2 = 0;
  switch (s->sem) {
  case SEM_F2F:
  case SEM_F2I:
  case SEM_FRND: return pick_float_source(s, u);
  case SEM_I2F:
  case SEM_I2FP: return pick_i2f(s, u);
  case SEM_F2FP: return pick_f2fp(s, u);
  case SEM_I2I:
  case SEM_I2IP: return pick_saturate(s, u);
  case SEM_F2IP: return pick_f2ip(s, u);
  default: return NULL;
  }
}
