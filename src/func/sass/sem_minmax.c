/* Integer minima and maxima of two and of three numbers, of 32 bits and of halves of 16.
 *
 * The rules are those of sem_int.c. Minima of 64 bits and of bytes are in sem_wide.c.
 */
#include "func/sass/sem_int.h"

/* ---- IMNMX, VIMNMX, VIMNMX3, VIADDMNMX ----------------------------------------------------------
 * Minimum where Pp is true, else maximum. RELU: negative results become 0. 16x2: each half by
 * itself; Pu, Pv = "a was chosen" for the lower and the upper half (compiler output for the DPX
 * intrinsics, CUDA 13.0). */

static inline uint32_t minmax32(bool is_signed, uint32_t a, uint32_t b, uint32_t want_min)
{
  bool less = is_signed ? (int32_t)a < (int32_t)b : a < b;
  return less == (want_min != 0) ? a : b;
}

static inline uint32_t half_lo(uint32_t v, bool is_signed)
{
  return is_signed ? (uint32_t)((int32_t)(v << 16) >> 16) : v & 0xffff;
}

static inline uint32_t half_hi(uint32_t v, bool is_signed)
{
  return is_signed ? (uint32_t)((int32_t)v >> 16) : v >> 16;
}

static inline uint32_t relu32(uint32_t v, bool relu)
{
  return relu && (int32_t)v < 0 ? 0 : v;
}

/* One min/max of a kind fixed at compile time. */
static inline uint32_t minmax(uint32_t a, uint32_t b, uint32_t want_min, bool is_signed,
                              bool halves)
{
  if (!halves) return minmax32(is_signed, a, b, want_min);
  uint32_t lo = minmax32(is_signed, half_lo(a, is_signed), half_lo(b, is_signed), want_min);
  uint32_t hi = minmax32(is_signed, half_hi(a, is_signed), half_hi(b, is_signed), want_min);
  return (lo & 0xffff) | hi << 16;
}

static inline uint32_t relu_any(uint32_t v, bool relu, bool halves)
{
  if (!halves) return relu32(v, relu);
  return (relu32(half_lo(v, true), relu) & 0xffff) | relu32(half_hi(v, true), relu) << 16;
}

static inline uint32_t add_any(uint32_t a, uint32_t b, uint32_t ones, bool halves)
{
  if (!halves) return a + b + ones;
  return ((a + b + ones) & 0xffff) | (half_hi(a, false) + half_hi(b, false) + ones) << 16;
}

#define MINMAX_KIND(kind, is_signed, halves, relu)                                                 \
  LANE_HANDLER(minmax_##kind)                                                                      \
  {                                                                                                \
    LANE_UNUSED;                                                                                   \
    LANE_ROW(a);                                                                                   \
    LANE_ROW(b);                                                                                   \
    const uint32_t p = pred_read(w, u->pp, u->pp_xor);                                             \
    LANE_ROWS(1, uint32_t v = minmax(LANE_RAW(a), LANE_RAW(b), LANE_BIT(p), is_signed, halves);    \
              d[i] = relu_any(v, relu, halves););                                                  \
    return true;                                                                                   \
  }                                                                                                \
  LANE_HANDLER(minmax3_##kind)                                                                     \
  {                                                                                                \
    LANE_UNUSED;                                                                                   \
    LANE_ROW(a);                                                                                   \
    LANE_ROW(b);                                                                                   \
    LANE_ROW(c);                                                                                   \
    const uint32_t p = pred_read(w, u->pp, u->pp_xor);                                             \
    LANE_ROWS(1, uint32_t v = minmax(LANE_RAW(a), LANE_RAW(b), LANE_BIT(p), is_signed, halves);    \
              v = minmax(v, LANE_RAW(c), LANE_BIT(p), is_signed, halves);                          \
              d[i] = relu_any(v, relu, halves););                                                  \
    return true;                                                                                   \
  }                                                                                                \
  LANE_HANDLER(addminmax_##kind)                                                                   \
  {                                                                                                \
    LANE_UNUSED;                                                                                   \
    LANE_ROW(a);                                                                                   \
    LANE_SRC(b);                                                                                   \
    LANE_ROW(c);                                                                                   \
    const uint32_t p = pred_read(w, u->pp, u->pp_xor), ones = u->imm;                              \
    LANE_ROWS(1, uint32_t v = add_any(LANE_RAW(a), LANE(b), ones, halves);                         \
              v = minmax(v, LANE_RAW(c), LANE_BIT(p), is_signed, halves);                          \
              d[i] = relu_any(v, relu, halves););                                                  \
    return true;                                                                                   \
  }

MINMAX_KIND(u32, false, false, false)
MINMAX_KIND(s32, true, false, false)
MINMAX_KIND(u16x2, false, true, false)
MINMAX_KIND(s16x2, true, true, false)
MINMAX_KIND(s32_relu, true, false, true)
MINMAX_KIND(s16x2_relu, true, true, true)

enum { MINMAX_TWO, MINMAX_THREE, MINMAX_ADD, MINMAX_FORMS };

/* [kind][form]; kind: 0 U32, 1 S32, 2 U16x2, 3 S16x2 as encoded, + 4 with RELU. */
static uop_fn *const minmax_fn[8][MINMAX_FORMS] = {
    {minmax_u32, minmax3_u32, addminmax_u32},
    {minmax_s32, minmax3_s32, addminmax_s32},
    {minmax_u16x2, minmax3_u16x2, addminmax_u16x2},
    {minmax_s16x2, minmax3_s16x2, addminmax_s16x2},
    {NULL, NULL, NULL}, /* RELU is for signed formats only */
    {minmax_s32_relu, minmax3_s32_relu, addminmax_s32_relu},
    {NULL, NULL, NULL},
    {minmax_s16x2_relu, minmax3_s16x2_relu, addminmax_s16x2_relu},
};

/* a is the result of the half (ties: a). */
static inline bool minmax_chose_a(uint32_t a, uint32_t b, uint32_t want_min, bool is_signed)
{
  return a == b || (is_signed ? (int32_t)a < (int32_t)b : a < b) == (want_min != 0);
}

static inline bool minmax_pred(struct func_warp *w, const struct uop *u, uint32_t m,
                               bool is_signed)
{
  LANE_ROW(a);
  LANE_ROW(b);
  const uint32_t p = pred_read(w, u->pp, u->pp_xor);
  LANE_BITS(lo, minmax_chose_a(half_lo(LANE_RAW(a), is_signed), half_lo(LANE_RAW(b), is_signed),
                               LANE_BIT(p), is_signed));
  LANE_BITS(hi, minmax_chose_a(half_hi(LANE_RAW(a), is_signed), half_hi(LANE_RAW(b), is_signed),
                               LANE_BIT(p), is_signed));
  LANE_ROWS(1, d[i] = minmax(LANE_RAW(a), LANE_RAW(b), LANE_BIT(p), is_signed, true););
  pred_write(w, u->pu, m, lo);
  pred_write(w, u->pv, m, hi);
  return true;
}

LANE_HANDLER(minmax_u16x2_pred)
{
  LANE_UNUSED;
  return minmax_pred(w, u, m, false);
}

LANE_HANDLER(minmax_s16x2_pred)
{
  LANE_UNUSED;
  return minmax_pred(w, u, m, true);
}

/* 32 bits: nvcc names the same register as Pu and Pv, and tests it for "b is the result", ties
 * included (compiler output for max with RELU and a comparison, CUDA 13.0, sm_90). */
LANE_HANDLER(minmax_s32_relu_pred)
{
  LANE_UNUSED;
  LANE_ROW(a);
  LANE_ROW(b);
  const uint32_t p = pred_read(w, u->pp, u->pp_xor);
  LANE_BITS(chose_b, minmax_chose_a(LANE_RAW(b), LANE_RAW(a), LANE_BIT(p), true));
  LANE_ROWS(1, d[i] = relu32(minmax32(true, LANE_RAW(a), LANE_RAW(b), LANE_BIT(p)), true););
  pred_write(w, u->pu, m, chose_b);
  return true;
}

static uop_fn *pick_minmax(struct uop *u, unsigned kind, unsigned form)
{
  if (u->pu == PRED_NONE && u->pv == PRED_NONE) return minmax_fn[kind][form];
  if (form != MINMAX_TWO) return NULL;
  if (kind == 5 && u->pu == u->pv) return minmax_s32_relu_pred;
  return kind == 2 ? minmax_u16x2_pred : kind == 3 ? minmax_s16x2_pred : NULL;
}

static uop_fn *pick_vminmax(const struct sass_inst *s, struct uop *u, unsigned form)
{
  unsigned format = (unsigned)(sass_get(s, FLD_VMNMX_FMT) | sass_get(s, FLD_VMNMX_FMT120));
  if (format > 3) return form == MINMAX_TWO ? SEM_NAME(sem_wide_handler)(s, u) : NULL;
  unsigned kind = format | (unsigned)sass_get(s, FLD_VMNMX_RELU) << 2;
  bool add = form == MINMAX_ADD;
  if (s->src[0].neg || (s->src[1].neg && !add) || s->src[2].neg) return NULL;
  u->imm = s->src[1].neg;
  return pick_minmax(u, kind, form);
}

static uop_fn *pick_iminmax(const struct sass_inst *s, struct uop *u)
{
  return uop_is_raw(u) ? pick_minmax(u, sass_get(s, FLD_SIGNED) != 0, MINMAX_TWO) : NULL;
}

/* Chooses the handler of an instruction of this file; NULL: of another file, or not executable. */
uop_fn *SEM_NAME(sem_minmax_handler)(const struct sass_inst *s, struct uop *u)
{
  switch (s->sem) {
  case SEM_IMNMX: return pick_iminmax(s, u);
  case SEM_VIMNMX: return pick_vminmax(s, u, MINMAX_TWO);
  case SEM_VIMNMX3: return pick_vminmax(s, u, MINMAX_THREE);
  case SEM_VIADDMNMX: return pick_vminmax(s, u, MINMAX_ADD);
  default: return NULL;
  }
}
