/* Double precision: DADD, DMUL, DFMA, DSETP with its minimum and maximum.
 *
 * Compiled once per x86-64 level (lanes.h). IEEE binary64, subnormals kept; a NaN result is the
 * first NaN operand made quiet, or 0xfff8000000000000 where no operand is NaN (PTX ISA, "NaN
 * payloads"). Directed rounding sets the host's rounding mode around a function that is not
 * inlined, so that no operation can be moved out of the region; these modes only occur in
 * conversions and interval code.
 */
#include <fenv.h>

#include "func/sass/sem_fp_part.h"

#if defined(__GNUC__) && !defined(__clang__)
#define OPAQUE __attribute__((noipa))
#else
#define OPAQUE __attribute__((noinline))
#endif

/* ---- all lanes in vectors -------------------------------------------------------------------- */

/* Operands of 32 lanes in STEPS vectors of words each, which two vectors of FP64 numbers hold; the lanes of these are
 * in the order that unpacking within 128 bits gives, which packing undoes. */
#if defined __AVX512DQ__
#define VEC_OP(op) _mm512_##op
typedef __m512i vec_words;
typedef __m512d vec_f64;
#define VEC_F64(x) _mm512_castsi512_pd(x)
#define VEC_LOAD(p) _mm512_load_si512(p)
#define VEC_STORE(p, x) _mm512_store_si512(p, x)
#define VEC_AND(x, y) _mm512_and_si512(x, y)
#define VEC_XOR(x, y) _mm512_xor_si512(x, y)
#define VEC_PACK(x, y, which)                                                                      \
  _mm512_castps_si512(_mm512_shuffle_ps(_mm512_castpd_ps(x), _mm512_castpd_ps(y), which))
#elif defined __AVX2__
#define VEC_OP(op) _mm256_##op
typedef __m256i vec_words;
typedef __m256d vec_f64;
#define VEC_F64(x) _mm256_castsi256_pd(x)
#define VEC_LOAD(p) _mm256_load_si256((const __m256i *)(const void *)(p))
#define VEC_STORE(p, x) _mm256_store_si256((__m256i *)(void *)(p), x)
#define VEC_AND(x, y) _mm256_and_si256(x, y)
#define VEC_XOR(x, y) _mm256_xor_si256(x, y)
#define VEC_PACK(x, y, which)                                                                      \
  _mm256_castps_si256(_mm256_shuffle_ps(_mm256_castpd_ps(x), _mm256_castpd_ps(y), which))
#endif

#ifdef VEC_OP
enum { STEP_LANES = sizeof(vec_words) / 4, STEPS = LANES / STEP_LANES, LOW_WORDS = 0x88, HIGH_WORDS = 0xdd };

/* A source with its modifiers, and results. */
struct f64_row {
  vec_f64 v[2 * STEPS];
};

static inline __attribute__((always_inline)) struct f64_row row_f64(const uint32_t *row, uint32_t and_, uint32_t xor_)
{
  const vec_words keep = VEC_OP(set1_epi32)((int)and_), flip = VEC_OP(set1_epi32)((int)xor_);
  struct f64_row r;
#pragma GCC unroll 4
  for (unsigned k = 0; k < STEPS; k++) {
    const vec_words lo = VEC_LOAD(row + k * STEP_LANES), raw = VEC_LOAD(row + LANES + k * STEP_LANES);
    const vec_words hi = VEC_XOR(VEC_AND(raw, keep), flip);
    r.v[2 * k] = VEC_F64(VEC_OP(unpacklo_epi32)(lo, hi));
    r.v[2 * k + 1] = VEC_F64(VEC_OP(unpackhi_epi32)(lo, hi));
  }
  return r;
}

static inline bool any_nan(const struct f64_row *r)
{
#ifdef __AVX512DQ__
  __mmask8 nan = 0;
  for (unsigned k = 0; k < 2 * STEPS; k += 2) nan |= _mm512_cmp_pd_mask(r->v[k], r->v[k + 1], _CMP_UNORD_Q);
  return nan;
#else
  __m256d nan = _mm256_setzero_pd();
  for (unsigned k = 0; k < 2 * STEPS; k += 2)
    nan = _mm256_or_pd(nan, _mm256_cmp_pd(r->v[k], r->v[k + 1], _CMP_UNORD_Q));
  return _mm256_movemask_pd(nan);
#endif
}

static inline __attribute__((always_inline)) bool put_f64(const struct func_warp *w, const struct uop *u, uint32_t m,
                                                          const struct f64_row *r)
{
  _Alignas(64) uint32_t t[2 * LANES];
  uint32_t *const out = row_dst(w, u->d), *const d = m == FULL_MASK ? out : t;
  if (__builtin_expect(any_nan(r), 0)) return false;
#pragma GCC unroll 4
  for (unsigned k = 0; k < STEPS; k++) {
    VEC_STORE(d + k * STEP_LANES, VEC_PACK(r->v[2 * k], r->v[2 * k + 1], LOW_WORDS));
    VEC_STORE(d + LANES + k * STEP_LANES, VEC_PACK(r->v[2 * k], r->v[2 * k + 1], HIGH_WORDS));
  }
  if (d != out) row_blend(out, t, 2, m);
  return true;
}

#define ROW_F64(x) row_f64(row_src(w, u->x), u->x##_and, u->x##_xor)

/* Tries r = the vector operation of rows x, y and z; where a result is a NaN, the lanes decide one by one which. */
#define TRY_VECTORS(...)                                                                           \
  do {                                                                                             \
    struct f64_row r;                                                                              \
    _Pragma("GCC unroll 8")                                                                        \
    for (unsigned k = 0; k < 2 * STEPS; k++) r.v[k] = __VA_ARGS__;                                 \
    if (put_f64(w, u, m, &r)) return true;                                                         \
  } while (0)
#endif

/* ---- DADD, DMUL, DFMA ------------------------------------------------------------------------ */

LANE_HANDLER(dadd)
{
  LANE_UNUSED;
#ifdef VEC_OP
  const struct f64_row x = ROW_F64(a), y = ROW_F64(b);
  TRY_VECTORS(VEC_OP(add_pd)(x.v[k], y.v[k]));
#endif
  LANE_SRC(a);
  LANE_SRC(b);
  LANE_ROWS(2, uint64_t p = LANE64(a); uint64_t q = LANE64(b);
            lane_put64(d, i, f64_finish(bits_f64(p) + bits_f64(q), p, q, 0)););
  return true;
}

LANE_HANDLER(dmul)
{
  LANE_UNUSED;
#ifdef VEC_OP
  const struct f64_row x = ROW_F64(a), y = ROW_F64(b);
  TRY_VECTORS(VEC_OP(mul_pd)(x.v[k], y.v[k]));
#endif
  LANE_SRC(a);
  LANE_SRC(b);
  LANE_ROWS(2, uint64_t p = LANE64(a); uint64_t q = LANE64(b);
            lane_put64(d, i, f64_finish(bits_f64(p) * bits_f64(q), p, q, 0)););
  return true;
}

LANE_HANDLER(dfma)
{
  LANE_UNUSED;
#ifdef VEC_OP
  const struct f64_row x = ROW_F64(a), y = ROW_F64(b), z = ROW_F64(c);
  TRY_VECTORS(VEC_OP(fmadd_pd)(x.v[k], y.v[k], z.v[k]));
#endif
  LANE_SRC(a);
  LANE_SRC(b);
  LANE_SRC(c);
  LANE_ROWS(2, uint64_t p = LANE64(a); uint64_t q = LANE64(b); uint64_t s = LANE64(c);
            double r = F64_FMA(bits_f64(p), bits_f64(q), bits_f64(s));
            lane_put64(d, i, f64_finish(r, p, q, s)););
  return true;
}

/* ---- directed rounding ----------------------------------------------------------------------- */

/* In the order of the RND field. */
static const int fe_mode[4] = {FE_TONEAREST, FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO};

OPAQUE static void add_rows(double *r, const double *x, const double *y, const double *z)
{
  (void)z;
  for (unsigned i = 0; i < LANES; i++) r[i] = x[i] + y[i];
}

OPAQUE static void mul_rows(double *r, const double *x, const double *y, const double *z)
{
  (void)z;
  for (unsigned i = 0; i < LANES; i++) r[i] = x[i] * y[i];
}

OPAQUE static void fma_rows(double *r, const double *x, const double *y, const double *z)
{
  for (unsigned i = 0; i < LANES; i++) r[i] = F64_FMA(x[i], y[i], z[i]);
}

typedef void rows_fn(double *r, const double *x, const double *y, const double *z);

static void directed(struct func_warp *w, const struct uop *u, uint32_t m, rows_fn *fn, bool has_c)
{
  LANE_SRC(a);
  LANE_SRC(b);
  LANE_SRC(c);
  double r[LANES], x[LANES], y[LANES], z[LANES];

  for (unsigned i = 0; i < LANES; i++) {
    x[i] = bits_f64(LANE64(a));
    y[i] = bits_f64(LANE64(b));
    z[i] = has_c ? bits_f64(LANE64(c)) : 0.0;
  }
  fesetround(fe_mode[u->imm]);
  fn(r, x, y, z);
  fesetround(FE_TONEAREST);
  LANE_ROWS(2, uint64_t v = f64_finish(r[i], f64_bits(x[i]), f64_bits(y[i]), f64_bits(z[i]));
            lane_put64(d, i, v););
}

LANE_HANDLER(dadd_directed)
{
  LANE_UNUSED;
  directed(w, u, m, add_rows, false);
  return true;
}

LANE_HANDLER(dmul_directed)
{
  LANE_UNUSED;
  directed(w, u, m, mul_rows, false);
  return true;
}

LANE_HANDLER(dfma_directed)
{
  LANE_UNUSED;
  directed(w, u, m, fma_rows, true);
  return true;
}

/* ---- DSETP ----------------------------------------------------------------------------------- */

/* As FSETP: Pu = compare OP Pp, Pv = !compare OP Pp. */
LANE_HANDLER(dsetp)
{
  LANE_UNUSED;
  LANE_SRC(a);
  LANE_SRC(b);
  const uint32_t code = u->imm & 15, p = pred_read(w, u->pp, u->pp_xor);
  const unsigned op = u->imm >> 4;
  LANE_BITS(bits, (f64_outcome(bits_f64(LANE64(a)), bits_f64(LANE64(b))) & code) != 0);
  pred_write(w, u->pu, m, pred_combine(bits, p, op));
  pred_write(w, u->pv, m, pred_combine(~bits, p, op));
  return true;
}

/* Signed integer with the order of the FP64 numbers, -0 below +0. */
static inline int64_t f64_order(uint64_t v)
{
  return (int64_t)(v ^ ((uint64_t)((int64_t)v >> 63) >> 1));
}

static inline bool f64_is_nan(uint64_t v)
{
  return (v & ~F64_SIGN) > F64_INF;
}

/* DSETP.MIN (imm2 = 0), .MAX (1): Pu = a is the result, Pv = both are NaN. The compiler selects by
 * Pu and makes b's NaN quiet under Pv (compiler output, CUDA 13.0, fmin); one NaN gives the other.
 */
LANE_HANDLER(dsetp_minmax)
{
  LANE_UNUSED;
  LANE_SRC(a);
  LANE_SRC(b);
  const bool max = u->imm2;
  const uint32_t p = pred_read(w, u->pp, u->pp_xor);
  LANE_BITS(below, f64_order(LANE64(a)) < f64_order(LANE64(b)));
  LANE_BITS(nan_a, f64_is_nan(LANE64(a)));
  LANE_BITS(nan_b, f64_is_nan(LANE64(b)));
  const uint32_t take_a = ((max ? ~below : below) | nan_b) & ~nan_a;
  pred_write(w, u->pu, m, pred_combine(take_a, p, u->imm));
  pred_write(w, u->pv, m, pred_combine(nan_a & nan_b, p, u->imm));
  return true;
}

static uop_fn *pick_dsetp_minmax(const struct sass_inst *s, struct uop *u, uint32_t op)
{
  u->imm = op;
  u->imm2 = sass_get(s, FLD_DMNMX_OP) == 15;        /* 0 MIN, 15 MAX */
  u->a_and = s->src[0].abs ? ~F32_SIGN : FULL_MASK; /* signs sit in the high words */
  u->b_and = s->src[1].abs ? ~F32_SIGN : FULL_MASK;
  u->a_xor = s->src[0].neg ? F32_SIGN : 0;
  u->b_xor = s->src[1].neg ? F32_SIGN : 0;
  return op == 3 ? NULL : dsetp_minmax;
}

/* ---- picker ---------------------------------------------------------------------------------- */

sem_picker SEM_NAME(sem_fp64_handler);

uop_fn *SEM_NAME(sem_fp64_handler)(const struct sass_inst *s, struct uop *u)
{
  const uint32_t mode = (uint32_t)sass_get(s, FLD_RND), op = (uint32_t)sass_get(s, FLD_BOOL);

  u->imm = mode;
  u->imm2 = 0;
  switch (s->sem) {
  case SEM_DADD: return mode == FP_RN ? dadd : dadd_directed;
  case SEM_DMUL: return mode == FP_RN ? dmul : dmul_directed;
  case SEM_DFMA: return mode == FP_RN ? dfma : dfma_directed;
  case SEM_DSETP: u->imm = (uint32_t)sass_get(s, FLD_FCMP) | op << 4; return op == 3 ? NULL : dsetp;
  case SEM_DSETP_MNMX: return pick_dsetp_minmax(s, u, op);
  default: return NULL;
  }
}
