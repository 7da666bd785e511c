/* FP32 arithmetic, comparison and selection; picker of the whole floating-point group.
 *
 * Compiled once per x86-64 level (lanes.h). Sources and results are IEEE binary32; NaN results are
 * 0x7fffffff. Rules: PTX ISA (add, mul, fma, min, max, set, setp) and the CUDA programming guide's
 * chapter on the floating-point standard; field codes from compiler output (CUDA 13.0).
 *
 * Each arithmetic instruction has a handler without any modifier, which is what most code runs, one
 * for negated and absolute sources, one for FTZ, and four general ones, one per rounding mode.
 */
#include "func/sass/sem_fp_part.h"

/* uop.imm of the arithmetic handlers. Bits 10:8: FMUL's scale code. */
enum { MOD_FTZ = 1, MOD_FMZ = 2, MOD_SAT = 4, MOD_NAN = 8, MOD_XORSIGN = 16, MOD_SCALE = 8 };

/* Modifiers as lane masks: all ones where on. */
struct f32_mods {
  uint32_t ftz, fmz, sat;
};

static inline struct f32_mods f32_mods(uint32_t imm)
{
  return (struct f32_mods){imm & MOD_FTZ ? FULL_MASK : 0, imm & MOD_FMZ ? FULL_MASK : 0,
                           imm & MOD_SAT ? FULL_MASK : 0};
}

static inline uint32_t f32_finish(float r, struct f32_mods mods)
{
  return f32_saturate(f32_flush(f32_canon(r), mods.ftz), mods.sat);
}

/* ---- the three operations, rounded once ------------------------------------------------------ */

/* a * b + c to nearest. Without FMA hardware: the product is exact in FP64, the sum is rounded to
 * odd there, so that the conversion rounds once. */
static inline float fma_rn(float a, float b, float c)
{
#ifdef __FMA__
  return __builtin_fmaf(a, b, c);
#else
  return (float)f64_add_odd((double)a * (double)b, (double)c);
#endif
}

/* p + c rounded to odd; an exact zero sum has the sign of the mode (-0 when rounding down). */
static inline double add_directed(double p, double c, enum fp_round mode)
{
  double s = f64_add_odd(p, c);
  bool minus = mode == FP_RM && ((f64_bits(p) | f64_bits(c)) >> 63);
  return s == 0.0 && minus ? -0.0 : s;
}

static inline float f32_add(float a, float b, enum fp_round mode)
{
  if (mode == FP_RN) return a + b;
  return f32_from_f64(add_directed((double)a, (double)b, mode), mode);
}

/* True where FMZ makes the product +0 whatever the other factor is. */
static inline bool fmz_zero(float a, float b, struct f32_mods mods)
{
  return (mods.fmz != 0) & ((a == 0.0f) | (b == 0.0f));
}

static inline float f32_mul(float a, float b, double scale, struct f32_mods mods,
                            enum fp_round mode)
{
  if (mode == FP_RN && scale == 1.0) return fmz_zero(a, b, mods) ? 0.0f : a * b;
  double p = (double)a * (double)b * scale;
  return f32_from_f64(fmz_zero(a, b, mods) ? 0.0 : p, mode);
}

static inline float f32_fma(float a, float b, float c, struct f32_mods mods, enum fp_round mode)
{
  bool zero = fmz_zero(a, b, mods);
  if (mode == FP_RN) {
    float r = fma_rn(a, b, c);
    return zero ? 0.0f + c : r;
  }
  double p = (double)a * (double)b;
  return f32_from_f64(add_directed(zero ? 0.0 : p, (double)c, mode), mode);
}

/* ---- FADD, FMUL, FFMA ------------------------------------------------------------------------ */

LANE_HANDLER(fadd_raw)
{
  LANE_UNUSED;
  LANE_ROW(a);
  LANE_ROW(b);
  LANE_ROWS(1, d[i] = f32_canon(bits_f32(LANE_RAW(a)) + bits_f32(LANE_RAW(b))););
  return true;
}

LANE_HANDLER(fadd_signed)
{
  LANE_UNUSED;
  LANE_SRC(a);
  LANE_SRC(b);
  LANE_ROWS(1, d[i] = f32_canon(bits_f32(LANE(a)) + bits_f32(LANE(b))););
  return true;
}

LANE_HANDLER(fmul_raw)
{
  LANE_UNUSED;
  LANE_ROW(a);
  LANE_ROW(b);
  LANE_ROWS(1, d[i] = f32_canon(bits_f32(LANE_RAW(a)) * bits_f32(LANE_RAW(b))););
  return true;
}

LANE_HANDLER(fmul_signed)
{
  LANE_UNUSED;
  LANE_SRC(a);
  LANE_SRC(b);
  LANE_ROWS(1, d[i] = f32_canon(bits_f32(LANE(a)) * bits_f32(LANE(b))););
  return true;
}

LANE_HANDLER(ffma_raw)
{
  LANE_UNUSED;
  LANE_ROW(a);
  LANE_ROW(b);
  LANE_ROW(c);
  LANE_ROWS(1, d[i] = f32_canon(
                   fma_rn(bits_f32(LANE_RAW(a)), bits_f32(LANE_RAW(b)), bits_f32(LANE_RAW(c)))););
  return true;
}

LANE_HANDLER(ffma_signed)
{
  LANE_UNUSED;
  LANE_SRC(a);
  LANE_SRC(b);
  LANE_SRC(c);
  LANE_ROWS(1, d[i] = f32_canon(fma_rn(bits_f32(LANE(a)), bits_f32(LANE(b)), bits_f32(LANE(c)))););
  return true;
}

/* Value of source x with subnormals flushed where asked. */
#define LANE_F32(x) bits_f32(f32_flush(LANE(x), mods.ftz))

/* FMUL's scale codes 0..7; 0 is not valid. */
static const double fmul_scale[8] = {0.0, 0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0};

#define F32_GENERAL(suffix, mode, flags)                                                           \
  LANE_HANDLER(fadd_##suffix)                                                                      \
  {                                                                                                \
    LANE_UNUSED;                                                                                   \
    LANE_SRC(a);                                                                                   \
    LANE_SRC(b);                                                                                   \
    const struct f32_mods mods = f32_mods(flags);                                                  \
    LANE_ROWS(1, d[i] = f32_finish(f32_add(LANE_F32(a), LANE_F32(b), mode), mods););               \
    return true;                                                                                   \
  }                                                                                                \
  LANE_HANDLER(fmul_##suffix)                                                                      \
  {                                                                                                \
    LANE_UNUSED;                                                                                   \
    LANE_SRC(a);                                                                                   \
    LANE_SRC(b);                                                                                   \
    const struct f32_mods mods = f32_mods(flags);                                                  \
    const double scale = fmul_scale[(flags) >> MOD_SCALE];                                         \
    LANE_ROWS(1, d[i] = f32_finish(f32_mul(LANE_F32(a), LANE_F32(b), scale, mods, mode), mods););  \
    return true;                                                                                   \
  }                                                                                                \
  LANE_HANDLER(ffma_##suffix)                                                                      \
  {                                                                                                \
    LANE_UNUSED;                                                                                   \
    LANE_SRC(a);                                                                                   \
    LANE_SRC(b);                                                                                   \
    LANE_SRC(c);                                                                                   \
    const struct f32_mods mods = f32_mods(flags);                                                  \
    LANE_ROWS(                                                                                     \
        1, d[i] = f32_finish(f32_fma(LANE_F32(a), LANE_F32(b), LANE_F32(c), mods, mode), mods););  \
    return true;                                                                                   \
  }

F32_GENERAL(ftz, FP_RN, MOD_FTZ | 4u << MOD_SCALE)
F32_GENERAL(rn, FP_RN, u->imm)
F32_GENERAL(rm, FP_RM, u->imm)
F32_GENERAL(rp, FP_RP, u->imm)
F32_GENERAL(rz, FP_RZ, u->imm)

/* Handlers of one operation; modes in the order of the RND field. */
struct arith {
  uop_fn *raw, *signs, *ftz, *modes[4];
};

static const struct arith op_fadd = {
    fadd_raw, fadd_signed, fadd_ftz, {fadd_rn, fadd_rm, fadd_rp, fadd_rz}};
static const struct arith op_fmul = {
    fmul_raw, fmul_signed, fmul_ftz, {fmul_rn, fmul_rm, fmul_rp, fmul_rz}};
static const struct arith op_ffma = {
    ffma_raw, ffma_signed, ffma_ftz, {ffma_rn, ffma_rm, ffma_rp, ffma_rz}};

static uop_fn *pick_arith(const struct sass_inst *s, struct uop *u, const struct arith *op)
{
  unsigned mode = (unsigned)sass_get(s, FLD_RND);
  unsigned fmz = (unsigned)sass_get(s, FLD_FMZ); /* FMUL, FFMA; FMZ also flushes, as FTZ does */
  bool ftz = sass_get(s, FLD_FTZ) || fmz, scaled = false;

  if (fmz == 3) return NULL;
  if (sass_has(s, FLD_FMUL_SCALE)) {
    uint32_t scale = (uint32_t)sass_get(s, FLD_FMUL_SCALE);
    if (scale == 0) return NULL;
    u->imm |= scale << MOD_SCALE;
    scaled = scale != 4;
  } else {
    u->imm |= 4u << MOD_SCALE;
  }
  if (ftz) u->imm |= MOD_FTZ;
  if (fmz == 2) u->imm |= MOD_FMZ;
  if (sass_get(s, FLD_SAT)) u->imm |= MOD_SAT;
  if (mode != FP_RN || scaled || (u->imm & (MOD_FMZ | MOD_SAT))) return op->modes[mode];
  return ftz ? op->ftz : uop_is_raw(u) ? op->raw : op->signs;
}

/* ---- FSWZADD: per lane of a quad, +-a +- b (Mesa NAK, OpFSwzAdd) --------------------------------
 * Two bits per lane, lane 0 in the high ones: a + b, a - b, b - a, b. */

#define FSWZADD(suffix, mode)                                                                      \
  LANE_HANDLER(fswzadd_##suffix)                                                                   \
  {                                                                                                \
    LANE_UNUSED;                                                                                   \
    LANE_SRC(a);                                                                                   \
    LANE_SRC(b);                                                                                   \
    const struct f32_mods mods = f32_mods(u->imm);                                                 \
    const uint32_t code = u->imm2;                                                                 \
    LANE_ROWS(1, uint32_t op = code >> (6 - 2 * (i & 3)) & 3; float x = LANE_F32(a);               \
              float y = LANE_F32(b); float r = f32_add(op == 2 ? -x : x, op == 1 ? -y : y, mode);  \
              d[i] = f32_finish(op == 3 ? y : r, mods););                                          \
    return true;                                                                                   \
  }

FSWZADD(rn, FP_RN)
FSWZADD(rm, FP_RM)
FSWZADD(rp, FP_RP)
FSWZADD(rz, FP_RZ)

static uop_fn *const fswzadd_modes[4] = {fswzadd_rn, fswzadd_rm, fswzadd_rp, fswzadd_rz};

static uop_fn *pick_fswzadd(const struct sass_inst *s, struct uop *u)
{
  u->imm = sass_get(s, FLD_FTZ) ? MOD_FTZ : 0;
  u->imm2 = (uint32_t)sass_get(s, FLD_FSWZ_LANE);
  return fswzadd_modes[sass_get(s, FLD_RND)];
}

/* ---- FHADD, FHFMA: the first term, the factors are halves (u->imm: modifiers above those of FADD) -- */

enum { MOD_BF16 = 1 << 5, MOD_UPPER_A = 1 << 6, MOD_UPPER_B = 1 << 7 };

static inline float half_term(uint32_t v, uint32_t upper, uint32_t bf16)
{
  const uint32_t h = upper ? v >> 16 : v & 0xffffu;
  return bits_f32(bf16 ? h << 16 : f32_from_f16(h));
}

#define HALF_TERMS(name, mode)                                                                     \
  LANE_HANDLER(fhadd_##name)                                                                       \
  {                                                                                                \
    LANE_UNUSED;                                                                                   \
    LANE_SRC(a);                                                                                   \
    LANE_SRC(b);                                                                                   \
    const struct f32_mods mods = f32_mods(u->imm);                                                 \
    const uint32_t bf16 = u->imm & MOD_BF16, upper = u->imm & MOD_UPPER_A;                         \
    LANE_ROWS(1, float x = half_term(LANE(a), upper, bf16);                                        \
              d[i] = f32_finish(f32_add(x, LANE_F32(b), mode), mods););                            \
    return true;                                                                                   \
  }                                                                                                \
  LANE_HANDLER(fhfma_##name)                                                                       \
  {                                                                                                \
    LANE_UNUSED;                                                                                   \
    LANE_SRC(a);                                                                                   \
    LANE_SRC(b);                                                                                   \
    LANE_SRC(c);                                                                                   \
    const struct f32_mods mods = f32_mods(u->imm);                                                 \
    const uint32_t bf16 = u->imm & MOD_BF16;                                                       \
    const uint32_t upper_a = u->imm & MOD_UPPER_A, upper_b = u->imm & MOD_UPPER_B;                 \
    LANE_ROWS(1, float x = half_term(LANE(a), upper_a, bf16);                                      \
              float y = half_term(LANE(b), upper_b, bf16);                                         \
              d[i] = f32_finish(f32_fma(x, y, LANE_F32(c), mods, mode), mods););                   \
    return true;                                                                                   \
  }

HALF_TERMS(rn, FP_RN)
HALF_TERMS(rm, FP_RM)
HALF_TERMS(rp, FP_RP)
HALF_TERMS(rz, FP_RZ)

static void half_modifiers(const struct sass_src *s, uint32_t *and_, uint32_t *xor_)
{
  *and_ = s->abs ? 0x7fff7fffu : FULL_MASK;
  *xor_ = s->neg ? 0x80008000u : 0;
}

static uop_fn *pick_half_terms(const struct sass_inst *s, struct uop *u)
{
  static uop_fn *const add[4] = {fhadd_rn, fhadd_rm, fhadd_rp, fhadd_rz};
  static uop_fn *const fma[4] = {fhfma_rn, fhfma_rm, fhfma_rp, fhfma_rz};
  u->imm = (sass_get(s, FLD_SAT) ? MOD_SAT : 0u) | (sass_get(s, FLD_FH_BF16) ? MOD_BF16 : 0u) |
           (sass_get(s, FLD_FH_UPPER_A) ? MOD_UPPER_A : 0u) |
           (sass_get(s, FLD_FH_UPPER_B) ? MOD_UPPER_B : 0u);
  half_modifiers(&s->src[0], &u->a_and, &u->a_xor);
  if (s->sem == SEM_FHADD) return add[sass_get(s, FLD_RND)];
  half_modifiers(&s->src[1], &u->b_and, &u->b_xor);
  return fma[sass_get(s, FLD_RND)];
}

/* ---- FMNMX, FSEL ----------------------------------------------------------------------------- */

/* Signed integer with the order of the FP32 numbers, -0 below +0. */
static inline int32_t f32_order(uint32_t v)
{
  return (int32_t)(v ^ ((uint32_t)((int32_t)v >> 31) >> 1));
}

/* min (Pp) or max. One NaN: the other operand, unless NAN; two: canonical. XORSIGN: magnitude of
 * the result with the product's sign, taken before |.| (PTX ISA, min: .xorsign.abs). */
LANE_HANDLER(fmnmx)
{
  LANE_UNUSED;
  LANE_SRC(a);
  LANE_SRC(b);
  const struct f32_mods mods = f32_mods(u->imm);
  const uint32_t nan_wins = u->imm & MOD_NAN;
  const uint32_t product_sign = u->imm & MOD_XORSIGN ? F32_SIGN : 0;
  const uint32_t min = pred_read(w, u->pp, u->pp_xor);
  LANE_ROWS(1, uint32_t x = f32_flush(LANE(a), mods.ftz); uint32_t y = f32_flush(LANE(b), mods.ftz);
            uint32_t a_below = f32_order(x) < f32_order(y) ? FULL_MASK : 0;
            uint32_t take_a = a_below ^ ((min & lane_bit[i]) ? 0 : FULL_MASK);
            uint32_t r = (x & take_a) | (y & ~take_a);
            uint32_t sign = (LANE_RAW(a) ^ LANE_RAW(b)) & product_sign;
            bool nan_a = (x & ~F32_SIGN) > F32_INF; bool nan_b = (y & ~F32_SIGN) > F32_INF;
            r = nan_a   ? y
                : nan_b ? x
                        : r;
            r = (r & ~product_sign) | sign;
            d[i] = (nan_a & nan_b) | ((nan_a | nan_b) & (nan_wins != 0)) ? F32_NAN : r;);
  return true;
}

/* min (Pp) or max of two numbers; both are already flushed when FTZ. */
static inline uint32_t f32_mnmx(uint32_t x, uint32_t y, bool min, uint32_t nan_wins)
{
  bool nan_x = (x & ~F32_SIGN) > F32_INF, nan_y = (y & ~F32_SIGN) > F32_INF;
  if ((nan_x && nan_y) || ((nan_x || nan_y) && nan_wins)) return F32_NAN;
  if (nan_x || nan_y) return nan_x ? y : x;
  return (f32_order(x) < f32_order(y)) == min ? x : y;
}

/* The same of three numbers (PTX ISA, min with three inputs). */
LANE_HANDLER(fmnmx3)
{
  LANE_UNUSED;
  LANE_SRC(a);
  LANE_SRC(b);
  LANE_SRC(c);
  const struct f32_mods mods = f32_mods(u->imm);
  const uint32_t nan_wins = u->imm & MOD_NAN;
  const uint32_t min = pred_read(w, u->pp, u->pp_xor);
  LANE_ROWS(1, bool is_min = (min & lane_bit[i]) != 0; uint32_t x = f32_flush(LANE(a), mods.ftz);
            uint32_t y = f32_flush(LANE(b), mods.ftz); uint32_t z = f32_flush(LANE(c), mods.ftz);
            d[i] = f32_mnmx(f32_mnmx(x, y, is_min, nan_wins), z, is_min, nan_wins););
  return true;
}

static uop_fn *pick_fmnmx(const struct sass_inst *s, struct uop *u)
{
  u->imm = (sass_get(s, FLD_FTZ) ? MOD_FTZ : 0u) | (sass_get(s, FLD_FMNMX_NAN) ? MOD_NAN : 0u) |
           (sass_get(s, FLD_FMNMX_XORSIGN) ? MOD_XORSIGN : 0u);
  if (s->sem == SEM_FMNMX) return fmnmx;
  return u->imm & MOD_XORSIGN ? NULL : fmnmx3;
}

/* d = Pp ? a : b; the bits move unchanged but for FTZ. */
LANE_HANDLER(fsel)
{
  LANE_UNUSED;
  LANE_SRC(a);
  LANE_SRC(b);
  const uint32_t ftz = u->imm, take_a = pred_read(w, u->pp, u->pp_xor);
  LANE_ROWS(1, uint32_t x = LANE(a); uint32_t y = LANE(b);
            d[i] = f32_flush((take_a & lane_bit[i]) ? x : y, ftz););
  return true;
}

/* ---- FSET, FSETP, FCHK ----------------------------------------------------------------------- */

/* Lanes in which the comparison of code u->imm holds; u->imm2: flush subnormals. */
static inline uint32_t f32_compare(const struct func_warp *w, const struct uop *u)
{
  LANE_SRC(a);
  LANE_SRC(b);
  const uint32_t code = u->imm & 15, ftz = u->imm2;
  LANE_BITS(bits,
            (f32_outcome(bits_f32(f32_flush(LANE(a), ftz)), bits_f32(f32_flush(LANE(b), ftz))) &
             code) != 0);
  return bits;
}

/* Pu = compare OP Pp, Pv = !compare OP Pp (PTX ISA, setp p|q). */
LANE_HANDLER(fsetp)
{
  LANE_UNUSED;
  const uint32_t bits = f32_compare(w, u), p = pred_read(w, u->pp, u->pp_xor);
  const unsigned op = u->imm >> 4;
  pred_write(w, u->pu, m, pred_combine(bits, p, op));
  pred_write(w, u->pv, m, pred_combine(~bits, p, op));
  return true;
}

/* 1.0 or 0: the only form (compiler output, FSET.BF). */
LANE_HANDLER(fset)
{
  LANE_UNUSED;
  const uint32_t p = pred_read(w, u->pp, u->pp_xor);
  const uint32_t bits = pred_combine(f32_compare(w, u), p, u->imm >> 4);
  LANE_ROWS(1, d[i] = (bits & lane_bit[i]) ? F32_ONE : 0;);
  return true;
}

static uop_fn *pick_fcompare(const struct sass_inst *s, struct uop *u)
{
  uint32_t op = (uint32_t)sass_get(s, FLD_BOOL);
  if (op == 3) return NULL;
  u->imm = (uint32_t)sass_get(s, FLD_FCMP) | op << 4;
  u->imm2 = sass_get(s, FLD_FTZ) ? FULL_MASK : 0;
  return s->sem == SEM_FSETP ? fsetp : fset;
}

/* Pu = a / b needs the slow path. The fast path (reciprocal, two Newton steps, one residual) is
 * exact when 1/b, the quotient and the residual a - b * q stay normal numbers; zero or subnormal a
 * would lose its sign or bits. Biased exponents; the hardware's own limits are not public, and
 * these can only be the more careful ones, since the slow path is right for all operands. */
static inline bool fchk_slow(uint32_t a, uint32_t b)
{
  int ea = (int)(a >> 23 & 255), eb = (int)(b >> 23 & 255), q = ea - eb;
  return (ea < 25) | (ea == 255) | (eb == 0) | (eb >= 253) | (q < -125) | (q > 126);
}

LANE_HANDLER(fchk)
{
  LANE_UNUSED;
  LANE_SRC(a);
  LANE_SRC(b);
  LANE_BITS(bits, fchk_slow(LANE(a), LANE(b)));
  pred_write(w, u->pu, m, bits);
  return true;
}

/* ---- picker ---------------------------------------------------------------------------------- */

sem_picker SEM_NAME(sem_fp_handler);

uop_fn *SEM_NAME(sem_fp_handler)(const struct sass_inst *s, struct uop *u)
{
  u->imm = u->imm2 = 0;
  switch (s->sem) {
  case SEM_FADD: return pick_arith(s, u, &op_fadd);
  case SEM_FMUL: return pick_arith(s, u, &op_fmul);
  case SEM_FFMA: return pick_arith(s, u, &op_ffma);
  case SEM_FHADD:
  case SEM_FHFMA: return pick_half_terms(s, u);
  case SEM_FSWZADD: return pick_fswzadd(s, u);
  case SEM_FMNMX:
  case SEM_FMNMX3: return pick_fmnmx(s, u);
  case SEM_FSEL: u->imm = sass_get(s, FLD_FTZ) ? FULL_MASK : 0; return fsel;
  case SEM_FSET:
  case SEM_FSETP: return pick_fcompare(s, u);
  case SEM_FCHK: return fchk;
  case SEM_MUFU: return SEM_NAME(sem_mufu_part)(s, u);
  default: return SEM_NAME(sem_half_part)(s, u);
  }
}
