/* Packed FP16 and BF16: HADD2, HMUL2, HFMA2, HMNMX2, VHMNMX, HSET2, HSETP2.
 *
 * Each 32-bit register holds two numbers; a source's swizzle says which halves the two results see.
 * Results are rounded once, to nearest even: FP16 products are exact in FP32, FP16 and BF16 sums
 * rounded to FP32 round on without error (24 >= 2p + 2 bits, Figueroa 1995), fused sums are rounded
 * to odd in a format wide enough to be exact or to decide. NaN results are 0x7fff. Rules: PTX ISA
 * (half-precision instructions); field codes from compiler output (CUDA 13.0).
 */
#include "func/sass/sem_fp_part.h"

/* Source swizzle codes (HSWZ_A, HSWZ_B, HSWZ_C). */
enum { SWZ_H1_H0, SWZ_F32, SWZ_H0_H0, SWZ_H1_H1 };

/* uop.imm: modifiers, below them the shifts that bring half 0 and half 1 of each source down. */
enum {
  MOD_FTZ = 1 << 0,
  MOD_FMZ = 1 << 1,
  MOD_SAT = 1 << 2,
  MOD_RELU = 1 << 3,
  MOD_NAN = 1 << 4,
  MOD_XORSIGN = 1 << 5,
  MOD_BOTH = 1 << 6, /* HSETP2.H_AND */
  SHIFT_BASE = 8,    /* 2 bits per source: half 0 is shifted by 16, half 1 is shifted by 16 */
};

/* ---- formats: f16_* and bf16_* with the same meaning ----------------------------------------- */

enum { EXP_F16 = 0x7c00, EXP_BF16 = 0x7f80 };

static inline float f16_value(uint32_t h)
{
  return bits_f32(f32_from_f16(h));
}

static inline float bf16_value(uint32_t h)
{
  return bits_f32(h << 16);
}

/* a + b, nearest FP32 (see above). */
static inline uint32_t f16_add(float a, float b)
{
  return f16_from_f32(f32_bits(a + b));
}

static inline uint32_t bf16_add(float a, float b)
{
  return bf16_from_f32(f32_bits(a + b));
}

static inline uint32_t f16_mul(float a, float b)
{
  return f16_from_f32(f32_bits(a * b));
}

/* BF16 products reach below FP32's range, so they are formed in FP64. */
static inline uint32_t bf16_mul(float a, float b)
{
  return bf16_from_f32(f32_bits(f32_odd_from_f64((double)a * (double)b)));
}

static inline uint32_t f16_fma(float a, float b, float c)
{
  return f16_from_f32(f32_bits(f32_add_odd(a * b, c)));
}

static inline uint32_t bf16_fma(float a, float b, float c)
{
  double s = f64_add_odd((double)a * (double)b, (double)c);
  return bf16_from_f32(f32_bits(f32_odd_from_f64(s)));
}

/* ---- modifiers ------------------------------------------------------------------------------- */

struct half_mods {
  uint32_t ftz, fmz, sat, relu; /* all ones where on */
};

static inline struct half_mods half_mods(uint32_t imm)
{
  return (struct half_mods){
      imm & MOD_FTZ ? FULL_MASK : 0,
      imm & MOD_FMZ ? FULL_MASK : 0,
      imm & MOD_SAT ? FULL_MASK : 0,
      imm & MOD_RELU ? FULL_MASK : 0,
  };
}

/* SAT: to [+0, 1], NaN to +0. RELU: negative to +0, NaN stays. `one` is 1.0, `inf` infinity. */
static inline uint32_t half_finish(uint32_t h, uint32_t exponent, uint32_t one, struct half_mods m)
{
  uint32_t neg = h >> 15 ? FULL_MASK : 0, nan = (h & 0x7fffu) > exponent ? FULL_MASK : 0;
  h = f16_flush(h, exponent, m.ftz);
  uint32_t sat = h > one ? one : h;
  sat &= ~(neg | nan);
  h = (h & ~m.sat) | (sat & m.sat);
  return h & ~(neg & ~nan & m.relu);
}

/* Shift of half `half` (0, 1) of source number `src` (0 = a). */
static inline uint32_t half_shift(uint32_t imm, unsigned src, unsigned half)
{
  return imm >> (SHIFT_BASE + 2 * src + half) & 1 ? 16 : 0;
}

#define HALF_SHIFTS(x, src)                                                                        \
  const uint32_t lo_##x = half_shift(u->imm, src, 0), hi_##x = half_shift(u->imm, src, 1)

/* Half `half` (lo, hi) of source x after swizzle, sign and FTZ. */
#define HALF(x, half, exponent) f16_flush(LANE(x) >> half##_##x & 0xffffu, exponent, mods.ftz)

/* ---- HADD2, HMUL2, HFMA2 --------------------------------------------------------------------- */

#define HALF_ARITH(fmt, EXP, ONE)                                                                  \
  LANE_HANDLER(hadd2_##fmt)                                                                        \
  {                                                                                                \
    LANE_UNUSED;                                                                                   \
    LANE_SRC(a);                                                                                   \
    LANE_SRC(b);                                                                                   \
    HALF_SHIFTS(a, 0);                                                                             \
    HALF_SHIFTS(b, 1);                                                                             \
    const struct half_mods mods = half_mods(u->imm);                                               \
    LANE_ROWS(                                                                                     \
        1, uint32_t r0 = fmt##_add(fmt##_value(HALF(a, lo, EXP)), fmt##_value(HALF(b, lo, EXP)));  \
        uint32_t r1 = fmt##_add(fmt##_value(HALF(a, hi, EXP)), fmt##_value(HALF(b, hi, EXP)));     \
        d[i] = half_finish(r0, EXP, ONE, mods) | half_finish(r1, EXP, ONE, mods) << 16;);          \
    return true;                                                                                   \
  }                                                                                                \
  LANE_HANDLER(hmul2_##fmt)                                                                        \
  {                                                                                                \
    LANE_UNUSED;                                                                                   \
    LANE_SRC(a);                                                                                   \
    LANE_SRC(b);                                                                                   \
    HALF_SHIFTS(a, 0);                                                                             \
    HALF_SHIFTS(b, 1);                                                                             \
    const struct half_mods mods = half_mods(u->imm);                                               \
    LANE_ROWS(1, float a0 = fmt##_value(HALF(a, lo, EXP));                                         \
              float b0 = fmt##_value(HALF(b, lo, EXP)); float a1 = fmt##_value(HALF(a, hi, EXP));  \
              float b1 = fmt##_value(HALF(b, hi, EXP));                                            \
              uint32_t z0 = ((a0 == 0.0f) | (b0 == 0.0f)) ? mods.fmz : 0;                          \
              uint32_t z1 = ((a1 == 0.0f) | (b1 == 0.0f)) ? mods.fmz : 0;                          \
              uint32_t r0 = fmt##_mul(a0, b0) & ~z0; uint32_t r1 = fmt##_mul(a1, b1) & ~z1;        \
              d[i] = half_finish(r0, EXP, ONE, mods) | half_finish(r1, EXP, ONE, mods) << 16;);    \
    return true;                                                                                   \
  }                                                                                                \
  LANE_HANDLER(hfma2_##fmt)                                                                        \
  {                                                                                                \
    LANE_UNUSED;                                                                                   \
    LANE_SRC(a);                                                                                   \
    LANE_SRC(b);                                                                                   \
    LANE_SRC(c);                                                                                   \
    HALF_SHIFTS(a, 0);                                                                             \
    HALF_SHIFTS(b, 1);                                                                             \
    HALF_SHIFTS(c, 2);                                                                             \
    const struct half_mods mods = half_mods(u->imm);                                               \
    LANE_ROWS(1, float a0 = fmt##_value(HALF(a, lo, EXP));                                         \
              float b0 = fmt##_value(HALF(b, lo, EXP)); float a1 = fmt##_value(HALF(a, hi, EXP));  \
              float b1 = fmt##_value(HALF(b, hi, EXP));                                            \
              bool z0 = ((a0 == 0.0f) | (b0 == 0.0f)) & (mods.fmz != 0);                           \
              bool z1 = ((a1 == 0.0f) | (b1 == 0.0f)) & (mods.fmz != 0); a0 = z0 ? 0.0f : a0;      \
              b0 = z0 ? 0.0f : b0; a1 = z1 ? 0.0f : a1; b1 = z1 ? 0.0f : b1;                       \
              uint32_t r0 = fmt##_fma(a0, b0, fmt##_value(HALF(c, lo, EXP)));                      \
              uint32_t r1 = fmt##_fma(a1, b1, fmt##_value(HALF(c, hi, EXP)));                      \
              d[i] = half_finish(r0, EXP, ONE, mods) | half_finish(r1, EXP, ONE, mods) << 16;);    \
    return true;                                                                                   \
  }

HALF_ARITH(f16, EXP_F16, 0x3c00u)
HALF_ARITH(bf16, EXP_BF16, 0x3f80u)

enum { HADD2_NARROW = 4 }; /* imm2: the sum is truncated to FP16 and goes to both halves */

/* Truncated to FP16: the compiler uses it for __float2half_rz (compiler output, CUDA 13.0, sm_75). */
static inline uint32_t f16_toward_zero(uint32_t v)
{
  uint32_t h = f16_from_f32(v), magnitude = f32_from_f16(h) & ~F32_SIGN;
  bool rounded_up = magnitude > (v & ~F32_SIGN) && magnitude <= F32_INF;
  return h - rounded_up;
}

/* HADD2.F32: one FP32 sum of the sources' half 0, each FP16 or (swizzle F32, imm2 bit 0 for a, bit
 * 1 for b) a whole FP32 register. It is how the compiler widens FP16: -RZ + x. */
LANE_HANDLER(hadd2_f32)
{
  LANE_UNUSED;
  LANE_SRC(a);
  LANE_SRC(b);
  HALF_SHIFTS(a, 0);
  HALF_SHIFTS(b, 1);
  (void)hi_a, (void)hi_b;
  const struct half_mods mods = half_mods(u->imm);
  const bool wide_a = u->imm2 & 1, wide_b = u->imm2 & 2, narrow = u->imm2 & HADD2_NARROW;
  LANE_ROWS(1,
            uint32_t x = wide_a ? f32_flush(LANE(a), mods.ftz) : f32_from_f16(HALF(a, lo, EXP_F16));
            uint32_t y = wide_b ? f32_flush(LANE(b), mods.ftz) : f32_from_f16(HALF(b, lo, EXP_F16));
            uint32_t r = f32_flush(f32_canon(bits_f32(x) + bits_f32(y)), mods.ftz);
            r = f32_saturate(r, mods.sat); d[i] = narrow ? f16_toward_zero(r) * 0x10001u : r;);
  return true;
}

/* HMUL2.F32 and HFMA2.F32 (sm_70, 75): computed of the sources' half 0 in FP32, not rounded to FP16 in between:
 * the compiler makes them of FP16 arithmetic and a widening, but where rounding is asked for (mul.rn.f16) it keeps
 * both steps (compiler output, CUDA 13.0, sm_75). FP32 holds the product exactly. */
LANE_HANDLER(hmul2_f32)
{
  LANE_UNUSED;
  LANE_SRC(a);
  LANE_SRC(b);
  HALF_SHIFTS(a, 0);
  HALF_SHIFTS(b, 1);
  (void)hi_a, (void)hi_b;
  const struct half_mods mods = half_mods(u->imm);
  LANE_ROWS(1, float x = bits_f32(f32_from_f16(HALF(a, lo, EXP_F16)));
            float y = bits_f32(f32_from_f16(HALF(b, lo, EXP_F16)));
            uint32_t r = f32_flush(f32_canon(x * y), mods.ftz); d[i] = f32_saturate(r, mods.sat););
  return true;
}

LANE_HANDLER(hfma2_f32)
{
  LANE_UNUSED;
  LANE_SRC(a);
  LANE_SRC(b);
  LANE_SRC(c);
  HALF_SHIFTS(a, 0);
  HALF_SHIFTS(b, 1);
  HALF_SHIFTS(c, 2);
  (void)hi_a, (void)hi_b, (void)hi_c;
  const struct half_mods mods = half_mods(u->imm);
  LANE_ROWS(1, float x = bits_f32(f32_from_f16(HALF(a, lo, EXP_F16)));
            float y = bits_f32(f32_from_f16(HALF(b, lo, EXP_F16)));
            float z = bits_f32(f32_from_f16(HALF(c, lo, EXP_F16)));
            uint32_t r = f32_flush(f32_canon(fmaf(x, y, z)), mods.ftz);
            d[i] = f32_saturate(r, mods.sat););
  return true;
}

/* HFMA2 dst, -RZ, RZ, imm: the compiler's way to load a constant through this pipe. */
LANE_HANDLER(hfma2_constant)
{
  LANE_UNUSED;
  LANE_ROW(c);
  LANE_ROWS(1, d[i] = LANE_RAW(c););
  return true;
}

/* ---- HMNMX2, VHMNMX --------------------------------------------------------------------------- */

/* As FMNMX (sem_fp.c), for one half; sign: the product's sign, used where xorsign is on. */
static inline uint32_t half_minmax(uint32_t x, uint32_t y, uint32_t exponent, bool min,
                                   uint32_t sign, uint32_t imm)
{
  int32_t order_x = (int32_t)((x & 0x8000u) ? 0xffffu - x : x | 0x8000u);
  int32_t order_y = (int32_t)((y & 0x8000u) ? 0xffffu - y : y | 0x8000u);
  bool nan_x = (x & 0x7fffu) > exponent, nan_y = (y & 0x7fffu) > exponent;
  uint32_t r = (order_x < order_y) == min ? x : y;
  r = nan_x ? y : nan_y ? x : r;
  r = imm & MOD_XORSIGN ? (r & 0x7fffu) | (sign & 0x8000u) : r;
  bool nan = (nan_x & nan_y) | ((nan_x | nan_y) & ((imm & MOD_NAN) != 0));
  return nan ? F16_NAN : r;
}

#define HALF_MINMAX(fmt, EXP)                                                                      \
  LANE_HANDLER(hmnmx2_##fmt)                                                                       \
  {                                                                                                \
    LANE_UNUSED;                                                                                   \
    LANE_SRC(a);                                                                                   \
    LANE_SRC(b);                                                                                   \
    HALF_SHIFTS(a, 0);                                                                             \
    HALF_SHIFTS(b, 1);                                                                             \
    const struct half_mods mods = half_mods(u->imm);                                               \
    const uint32_t imm = u->imm, min_bits = pred_read(w, u->pp, u->pp_xor);                        \
    LANE_ROWS(1, bool min = (min_bits & lane_bit[i]) != 0;                                         \
              uint32_t s0 = (LANE_RAW(a) >> lo_a) ^ (LANE_RAW(b) >> lo_b);                         \
              uint32_t s1 = (LANE_RAW(a) >> hi_a) ^ (LANE_RAW(b) >> hi_b);                         \
              uint32_t r0 = half_minmax(HALF(a, lo, EXP), HALF(b, lo, EXP), EXP, min, s0, imm);    \
              uint32_t r1 = half_minmax(HALF(a, hi, EXP), HALF(b, hi, EXP), EXP, min, s1, imm);    \
              d[i] = r0 | r1 << 16;);                                                              \
    return true;                                                                                   \
  }

HALF_MINMAX(f16, EXP_F16)
HALF_MINMAX(bf16, EXP_BF16)

/* VHMNMX: of three, as two of HMNMX2. */
#define HALF_MINMAX3(fmt, EXP)                                                                     \
  LANE_HANDLER(vhmnmx_##fmt)                                                                       \
  {                                                                                                \
    LANE_UNUSED;                                                                                   \
    LANE_SRC(a);                                                                                   \
    LANE_SRC(b);                                                                                   \
    LANE_SRC(c);                                                                                   \
    HALF_SHIFTS(a, 0);                                                                             \
    HALF_SHIFTS(b, 1);                                                                             \
    HALF_SHIFTS(c, 2);                                                                             \
    const struct half_mods mods = half_mods(u->imm);                                               \
    const uint32_t imm = u->imm, min_bits = pred_read(w, u->pp, u->pp_xor);                        \
    LANE_ROWS(1, bool min = (min_bits & lane_bit[i]) != 0;                                         \
              uint32_t r0 = half_minmax(HALF(a, lo, EXP), HALF(b, lo, EXP), EXP, min, 0, imm);     \
              uint32_t r1 = half_minmax(HALF(a, hi, EXP), HALF(b, hi, EXP), EXP, min, 0, imm);     \
              r0 = half_minmax(r0, HALF(c, lo, EXP), EXP, min, 0, imm);                            \
              r1 = half_minmax(r1, HALF(c, hi, EXP), EXP, min, 0, imm);                            \
              d[i] = r0 | r1 << 16;);                                                              \
    return true;                                                                                   \
  }

HALF_MINMAX3(f16, EXP_F16)
HALF_MINMAX3(bf16, EXP_BF16)

/* ---- HSET2, HSETP2 --------------------------------------------------------------------------- */

/* Lanes in which the comparison u->imm2 & 15 holds, for half 0 and half 1. */
struct half_bits {
  uint32_t lo, hi;
};

#define HALF_COMPARE(fmt, EXP)                                                                     \
  static struct half_bits fmt##_compare(const struct func_warp *w, const struct uop *u)            \
  {                                                                                                \
    LANE_SRC(a);                                                                                   \
    LANE_SRC(b);                                                                                   \
    HALF_SHIFTS(a, 0);                                                                             \
    HALF_SHIFTS(b, 1);                                                                             \
    const struct half_mods mods = half_mods(u->imm);                                               \
    const uint32_t code = u->imm2 & 15;                                                            \
    LANE_BITS(lo, (f32_outcome(fmt##_value(HALF(a, lo, EXP)), fmt##_value(HALF(b, lo, EXP))) &     \
                   code) != 0);                                                                    \
    LANE_BITS(hi, (f32_outcome(fmt##_value(HALF(a, hi, EXP)), fmt##_value(HALF(b, hi, EXP))) &     \
                   code) != 0);                                                                    \
    return (struct half_bits){lo, hi};                                                             \
  }

HALF_COMPARE(f16, EXP_F16)
HALF_COMPARE(bf16, EXP_BF16)

/* Pu from half 0 and Pv from half 1; H_AND: Pu from both (Pv is then not written). */
static void hsetp2_write(struct func_warp *w, const struct uop *u, uint32_t m, struct half_bits r)
{
  const uint32_t p = pred_read(w, u->pp, u->pp_xor);
  const unsigned op = u->imm2 >> 4 & 3;
  if (u->imm & MOD_BOTH) {
    pred_write(w, u->pu, m, pred_combine(r.lo & r.hi, p, op));
    return;
  }
  pred_write(w, u->pu, m, pred_combine(r.lo, p, op));
  pred_write(w, u->pv, m, pred_combine(r.hi, p, op));
}

/* Each half: all ones, or with BF 1.0, where true; imm2 bits 31:16 hold that value. */
static void hset2_write(struct func_warp *w, const struct uop *u, uint32_t m, struct half_bits r)
{
  const uint32_t p = pred_read(w, u->pp, u->pp_xor), yes = u->imm2 >> 16;
  const unsigned op = u->imm2 >> 4 & 3;
  const uint32_t lo = pred_combine(r.lo, p, op), hi = pred_combine(r.hi, p, op);
  LANE_ROWS(1, d[i] = ((lo & lane_bit[i]) ? yes : 0) | ((hi & lane_bit[i]) ? yes << 16 : 0););
}

#define HALF_SET(fmt)                                                                              \
  LANE_HANDLER(hsetp2_##fmt)                                                                       \
  {                                                                                                \
    LANE_UNUSED;                                                                                   \
    hsetp2_write(w, u, m, fmt##_compare(w, u));                                                    \
    return true;                                                                                   \
  }                                                                                                \
  LANE_HANDLER(hset2_##fmt)                                                                        \
  {                                                                                                \
    LANE_UNUSED;                                                                                   \
    hset2_write(w, u, m, fmt##_compare(w, u));                                                     \
    return true;                                                                                   \
  }

HALF_SET(f16)
HALF_SET(bf16)

/* ---- picker ---------------------------------------------------------------------------------- */

/* Swizzle of src[k]. Immediates have none. */
static unsigned swizzle(const struct sass_inst *s, unsigned k)
{
  return s->src[k].kind == SRC_IMM ? SWZ_H1_H0 : s->src[k].swz & 3u;
}

/* Adds the swizzles of all sources to u->imm and sources that are one FP32 number to *wide. */
static void pick_swizzles(const struct sass_inst *s, struct uop *u, uint32_t *wide)
{
  static const uint8_t shifts[4] = {
      [SWZ_H1_H0] = 2, [SWZ_F32] = 2, [SWZ_H0_H0] = 0, [SWZ_H1_H1] = 3};
  for (unsigned k = 0; k < 3; k++) {
    if (s->src[k].kind == SRC_NONE) continue;
    unsigned z = swizzle(s, k);
    u->imm |= (uint32_t)shifts[z] << (SHIFT_BASE + 2 * k);
    if (z == SWZ_F32) *wide |= 1u << k;
  }
}

/* .H0_NH1: half 0 sees the upper half, negated, half 1 the lower one. False: together with another swizzle. */
static bool pick_crossed(const struct sass_inst *s, struct uop *u)
{
  if (!(s->src[1].swz & SASS_CROSSED)) return true;
  u->imm ^= 3u << (SHIFT_BASE + 2);
  u->b_xor ^= 0x80000000u;
  return s->src[1].swz == SASS_CROSSED && s->src[1].kind != SRC_IMM;
}

/* The sign and magnitude masks of an FP32 source (the given ones are those of a pair). */
static void mods_to_f32(uint32_t *and_, uint32_t *xor_)
{
  *and_ |= 0x8000u;
  *xor_ &= F32_SIGN;
}

static uop_fn *pick_hadd2_f32(const struct sass_inst *s, struct uop *u, uint32_t wide)
{
  if (s->sem != SEM_HADD2 || sass_get(s, FLD_HBF16)) return NULL;
  if (wide & 1) mods_to_f32(&u->a_and, &u->a_xor);
  if (wide & 2) mods_to_f32(&u->b_and, &u->b_xor);
  u->imm2 = wide;
  return hadd2_f32;
}

/* .F32: what BF16, .FMZ and .RELU would do with it is not known. */
static uop_fn *pick_f32_result(const struct sass_inst *s, struct uop *u, uint32_t wide)
{
  if (s->sem == SEM_HADD2) return pick_hadd2_f32(s, u, wide);
  if (wide || sass_get(s, FLD_HBF16) || (u->imm & (MOD_FMZ | MOD_RELU))) return NULL;
  return s->sem == SEM_HMUL2 ? hmul2_f32 : hfma2_f32;
}

/* -0 * 0 + immediate, without a NaN in it. */
static bool is_constant_move(const struct sass_inst *s, const struct uop *u, uint32_t exponent)
{
  const uint32_t v = s->src[2].imm;
  return s->sem == SEM_HFMA2 && is_rz(&s->src[0]) && is_rz(&s->src[1]) &&
         s->src[2].kind == SRC_IMM && s->src[0].neg != s->src[1].neg &&
         !(u->imm & (MOD_FTZ | MOD_FMZ | MOD_SAT | MOD_RELU)) && (v & 0x7fffu) <= exponent &&
         (v >> 16 & 0x7fffu) <= exponent;
}

/* Comparison code, combination and value of "true" into u->imm2. NULL handler: invalid code. */
static bool pick_compare(const struct sass_inst *s, struct uop *u, bool bf16)
{
  uint32_t op = (uint32_t)sass_get(s, FLD_HBOOL);
  uint32_t yes = !sass_get(s, FLD_HSET_BF) ? 0xffffu : bf16 ? 0x3f80u : 0x3c00u;
  u->imm2 = (uint32_t)sass_get(s, FLD_HCMP) | op << 4 | yes << 16;
  if (s->sem == SEM_HSETP2 && sass_get(s, FLD_HSETP_H_AND)) {
    u->imm |= MOD_BOTH;
    if (u->pv != PRED_NONE) return false; /* what it would receive is not known */
  }
  return op != 3;
}

static uint32_t pick_mods(const struct sass_inst *s)
{
  uint32_t fmz = (uint32_t)sass_get(s, FLD_HFMA_FMZ), r = 0;
  if (sass_get(s, FLD_FTZ) || fmz) r |= MOD_FTZ;
  if (fmz == 2) r |= MOD_FMZ;
  if (sass_get(s, FLD_SAT)) r |= MOD_SAT;
  if (sass_get(s, FLD_HFMA_RELU)) r |= MOD_RELU;
  if (sass_get(s, FLD_HMNMX_NAN)) r |= MOD_NAN;
  if (sass_get(s, FLD_HMNMX_XORSIGN)) r |= MOD_XORSIGN;
  return r;
}

uop_fn *SEM_NAME(sem_half_part)(const struct sass_inst *s, struct uop *u)
{
  const bool bf16 = sass_get(s, FLD_HBF16) | sass_get(s, FLD_HCMP_BF16);
  uint32_t wide = 0;

  u->imm = pick_mods(s);
  u->imm2 = 0;
  if (sass_get(s, FLD_HFMA_FMZ) == 3) return NULL;
  pick_swizzles(s, u, &wide);
  if (!pick_crossed(s, u)) return NULL;
  if (sass_get(s, FLD_HFMT)) return pick_f32_result(s, u, wide);
  /* sm_75 narrows FP32 to FP16 by adding it to -RZ; of a constant that is how it makes an FP16 one. */
  if ((wide == 1 && is_rz(&s->src[1])) || (wide == 2 && is_rz(&s->src[0]))) {
    uop_fn *fn = pick_hadd2_f32(s, u, wide);
    u->imm2 |= HADD2_NARROW;
    return fn;
  }
  if (wide) return NULL; /* FP32 source, FP16 result: rounding not known */
  switch (s->sem) {
  case SEM_HADD2: return bf16 ? hadd2_bf16 : hadd2_f16;
  case SEM_HMUL2: return bf16 ? hmul2_bf16 : hmul2_f16;
  case SEM_HFMA2:
    if (is_constant_move(s, u, bf16 ? EXP_BF16 : EXP_F16)) return hfma2_constant;
    return bf16 ? hfma2_bf16 : hfma2_f16;
  case SEM_HMNMX2: return bf16 ? hmnmx2_bf16 : hmnmx2_f16;
  case SEM_VHMNMX: /* whose sign .XORSIGN gives is not known */
    return u->imm & MOD_XORSIGN ? NULL : bf16 ? vhmnmx_bf16 : vhmnmx_f16;
  case SEM_HSET2: return !pick_compare(s, u, bf16) ? NULL : bf16 ? hset2_bf16 : hset2_f16;
  case SEM_HSETP2: return !pick_compare(s, u, bf16) ? NULL : bf16 ? hsetp2_bf16 : hsetp2_f16;
  default: return NULL;
  }
}
