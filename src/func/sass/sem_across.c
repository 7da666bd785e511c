/* Instructions across the lanes of a warp that only touch registers: shuffles, votes, matches, reductions. They
 * act on the lanes that execute: SASS has no member mask. Compiled once per x86-64 level (lanes.h). Rules: PTX ISA
 * (shfl.sync, vote.sync, match.sync, redux.sync), compiler output (CUDA 13.0).
 */
#include "base/bits.h"
#include "func/sass/guest_fault.h"
#include "func/sass/lanes.h"

enum { SHFL_IDX, SHFL_UP, SHFL_DOWN, SHFL_BFLY };
enum { VOTE_ALL, VOTE_ANY, VOTE_EQ };
enum { REDUX_AND, REDUX_OR, REDUX_XOR, REDUX_SUM, REDUX_MIN, REDUX_MAX };

/* A uniform register of the path. */
static void uniform_write(struct func_warp *w, const struct uop *u, uint32_t v)
{
  const uint32_t m = warp_path(w);
  LANE_ROWS(1, d[i] = v;);
}

/* Source lanes, and the lanes for which they are in range (PTX ISA, shfl.sync). */
static inline __attribute__((always_inline)) uint32_t shfl_sources(unsigned mode, const uint32_t *b,
                                                                   const uint32_t *c,
                                                                   uint32_t src[LANES])
{
  uint32_t lane_acc = 0;
  LANES_SIMD_OR
  for (unsigned i = 0; i < LANES; i++) {
    uint32_t seg = c[i] >> 8 & 31, clamp = c[i] & 31, by = b[i] & 31, first = i & seg;
    int32_t last = (int32_t)(first | (clamp & ~seg));
    int32_t j = mode == SHFL_UP     ? (int32_t)(i - by)
                : mode == SHFL_DOWN ? (int32_t)(i + by)
                : mode == SHFL_BFLY ? (int32_t)(i ^ by)
                                    : (int32_t)(first | (by & ~seg));
    bool in = mode == SHFL_UP ? j >= last : j <= last;
    src[i] = in ? (uint32_t)j & 31 : i;
    lane_acc |= in ? lane_bit[i] : 0;
  }
  return lane_acc;
}

static bool shfl(struct func_warp *w, const struct uop *u, uint32_t m, struct effect *e,
                 struct fault *f)
{
  LANE_UNUSED;
  const uint32_t *b = row_src(w, u->b), *c = row_src(w, u->c);
  _Alignas(64) uint32_t src[LANES], a[LANES];
  uint32_t in;
  switch (u->imm) {
  case SHFL_UP: in = shfl_sources(SHFL_UP, b, c, src); break;
  case SHFL_DOWN: in = shfl_sources(SHFL_DOWN, b, c, src); break;
  case SHFL_BFLY: in = shfl_sources(SHFL_BFLY, b, c, src); break;
  default: in = shfl_sources(SHFL_IDX, b, c, src);
  }
  memcpy(a, row_src(w, u->a), sizeof a); /* d may be the same row */
  LANE_ROWS(1, d[i] = a[src[i]];);
  pred_write(w, u->pu, m, in);
  return true;
}

static bool vote_result(unsigned op, uint32_t m, uint32_t ballot)
{
  switch (op) {
  case VOTE_ALL: return ballot == m;
  case VOTE_ANY: return ballot != 0;
  default: return ballot == 0 || ballot == m;
  }
}

static bool vote(struct func_warp *w, const struct uop *u, uint32_t m, struct effect *e,
                 struct fault *f)
{
  LANE_UNUSED;
  uint32_t ballot = m & pred_read(w, u->pp, u->pp_xor);
  LANE_ROWS(1, d[i] = ballot;);
  pred_write(w, u->pu, m, vote_result(u->imm, m, ballot) ? FULL_MASK : 0);
  return true;
}

static bool voteu(struct func_warp *w, const struct uop *u, uint32_t m, struct effect *e,
                  struct fault *f)
{
  LANE_UNUSED;
  uint32_t ballot = m & pred_read(w, u->pp, u->pp_xor);
  uniform_write(w, u, ballot);
  pred_write(w, u->pu, warp_path(w), vote_result(u->imm, m, ballot) ? FULL_MASK : 0);
  return true;
}

/* Lanes of m whose value equals that of `lane`. */
static uint32_t equal_lanes(const uint32_t *a, unsigned lane, uint32_t m, bool wide)
{
  const uint32_t *hi = wide ? a + LANES : a;
  const uint32_t lo_value = a[lane], hi_value = hi[lane];
  LANE_BITS(eq, (a[i] == lo_value) & (hi[i] == hi_value));
  return eq & m;
}

static bool match(struct func_warp *w, const struct uop *u, uint32_t m, struct effect *e,
                  struct fault *f)
{
  enum { WIDE = 1, ANY = 2 };
  LANE_UNUSED;
  const uint32_t *a = row_src(w, u->a);
  uint32_t t[LANES] = {0}, done = 0;
  uint32_t all = equal_lanes(a, bits_first(m), m, u->imm & WIDE);
  for (uint32_t r = m; r; r &= ~done) {
    unsigned i = bits_first(r);
    uint32_t eq = u->imm & ANY ? equal_lanes(a, i, m, u->imm & WIDE) : all == m ? m : 0;
    done = u->imm & ANY ? eq : m;
    for (uint32_t k = done; k; k &= k - 1) t[bits_first(k)] = eq;
  }
  row_blend(row_dst(w, u->d), t, 1, m);
  pred_write(w, u->pu, m, all == m ? FULL_MASK : 0);
  return true;
}

static uint32_t reduce(unsigned op, bool s, uint32_t x, uint32_t y)
{
  bool less = s ? (int32_t)x < (int32_t)y : x < y;
  switch (op) {
  case REDUX_AND: return x & y;
  case REDUX_OR: return x | y;
  case REDUX_XOR: return x ^ y;
  case REDUX_SUM: return x + y;
  case REDUX_MIN: return less ? x : y;
  default: return less ? y : x;
  }
}

static bool redux(struct func_warp *w, const struct uop *u, uint32_t m, struct effect *e,
                  struct fault *f)
{
  LANE_UNUSED;
  const uint32_t *a = row_src(w, u->a);
  uint32_t v = a[bits_first(m)];
  for (m &= m - 1; m; m &= m - 1) v = reduce(u->imm, u->imm2, v, a[bits_first(m)]);
  uniform_write(w, u, v);
  return true;
}

/* CREDUX of FP32 (PTX ISA, redux.sync): numbers win over NaN, unless .NAN; -0 is below +0. */
static uint32_t reduce_f32(bool min, bool nan_wins, uint32_t x, uint32_t y)
{
  const uint32_t sign = 0x80000000u, inf = 0x7f800000u, nan = 0x7fffffffu;
  bool nan_x = (x & ~sign) > inf, nan_y = (y & ~sign) > inf;
  if ((nan_x && nan_y) || ((nan_x || nan_y) && nan_wins)) return nan;
  if (nan_x || nan_y) return nan_x ? y : x;
  int32_t ix = (int32_t)(x & sign ? ~x | sign : x), iy = (int32_t)(y & sign ? ~y | sign : y);
  return (ix < iy) == min ? x : y;
}

/* u->imm: MIN; u->imm2: bits that stay, NAN_WINS. */
static bool redux_f32(struct func_warp *w, const struct uop *u, uint32_t m, struct effect *e,
                      struct fault *f)
{
  LANE_UNUSED;
  const uint32_t *a = row_src(w, u->a), keep = u->imm2 & 1 ? 0x7fffffffu : FULL_MASK;
  uint32_t v = a[bits_first(m)] & keep;
  v = reduce_f32(u->imm, u->imm2 & 2, v, v); /* one NaN becomes the canonical one */
  for (m &= m - 1; m; m &= m - 1) v = reduce_f32(u->imm, u->imm2 & 2, v, a[bits_first(m)] & keep);
  uniform_write(w, u, v);
  return true;
}

static uop_fn *pick_credux(const struct sass_inst *s, struct uop *u)
{
  enum { TYPE_S32 = 1, TYPE_F32 = 2 }; /* CREDUX_TYPE; CREDUX_OP: bit 0 of magnitudes, bit 1 MIN */
  const unsigned op = (unsigned)sass_get(s, FLD_CREDUX_OP), type = (unsigned)sass_get(s, FLD_CREDUX_TYPE);
  const bool min = op >> 1, abs = op & 1, nan = sass_get(s, FLD_CREDUX_NAN);
  if (type == TYPE_F32) {
    u->imm = min;
    u->imm2 = abs | (unsigned)nan << 1;
    return redux_f32;
  }
  u->imm = min ? REDUX_MIN : REDUX_MAX;
  u->imm2 = type == TYPE_S32;
  return type > TYPE_F32 || abs || nan ? NULL : redux;
}

/* Pu, where there is one, tells the lanes whose value is not the one that was moved: loops over the
 * different values of a warp and tests of member masks (compiler output, CUDA 13.0). */
static bool r2ur(struct func_warp *w, const struct uop *u, uint32_t m, struct effect *e,
                 struct fault *f)
{
  LANE_UNUSED;
  const uint32_t *a = row_src(w, u->a);
  uint32_t v = a[bits_first(m)];
  if (u->pu != PRED_NONE) {
    uint32_t before = u->imm2 ? w->pred[u->pu] : 0;
    pred_write(w, u->pu, m, before | ~equal_lanes(a, bits_first(m), m, false));
  }
  if (u->imm) {
    for (; m; m &= m - 1) v |= a[bits_first(m)];
  }
  uniform_write(w, u, v);
  return true;
}

static bool elect(struct func_warp *w, const struct uop *u, uint32_t m, struct effect *e,
                  struct fault *f)
{
  LANE_UNUSED;
  uint32_t among = m & pred_read(w, u->pp, u->pp_xor);
  uint32_t first = among ? bits_first(among) : 0;
  pred_write(w, u->pu, m, among & (0u - among));
  uniform_write(w, u, first);
  return true;
}

/* A warp gives registers to its CTA or takes those that others have given; while there are too few the program asks
 * again (PTX ISA, setmaxnreg; where the count is and that the program loops: compiler output, CUDA 13.0). */
static bool usetmaxreg(struct func_warp *w, const struct uop *u, uint32_t m, struct effect *e,
                       struct fault *f)
{
  enum { TRY_ALLOC = 2, LEAST = 24, MOST = 256, UNIT = 8 };
  const unsigned n = (unsigned)sass_get(u->s, FLD_MAXREG_COUNT), had = w->regs;
  const bool takes = sass_get(u->s, FLD_MAXREG_OP) == TRY_ALLOC, moves = takes ? n > had : n < had;
  const bool found = !takes || !moves || n - had <= w->cta->free_regs;
  (void)m;
  if (n < LEAST || n > MOST || n % UNIT)
    return func_fault(w, e, f, FAULT_ILLEGAL_INST, 0, 0,
                      "setmaxnreg of %u registers: %d to %d are possible, multiples of %d", n, LEAST, MOST, UNIT);
  if (found && moves) {
    w->cta->free_regs += had - n; /* unsigned: less when it takes */
    w->regs = (uint16_t)n;
  }
  pred_write(w, u->pu, warp_path(w), found ? FULL_MASK : 0);
  return true;
}

sem_picker SEM_NAME(sem_across_handler);

uop_fn *SEM_NAME(sem_across_handler)(const struct sass_inst *s, struct uop *u)
{
  switch (s->sem) {
  case SEM_SHFL: u->imm = (uint32_t)sass_get(s, FLD_SHFL_MODE); return shfl;
  case SEM_VOTE: u->imm = (uint32_t)sass_get(s, FLD_VOTE_OP); return u->imm > VOTE_EQ ? NULL : vote;
  case SEM_VOTEU:
    u->imm = (uint32_t)sass_get(s, FLD_VOTE_OP);
    return u->imm > VOTE_EQ ? NULL : voteu;
  case SEM_MATCH:
    u->imm = (uint32_t)(sass_get(s, FLD_MATCH_U64) | sass_get(s, FLD_MATCH_ANY) << 1);
    return match;
  case SEM_REDUX:
    u->imm = (uint32_t)sass_get(s, FLD_REDUX_OP);
    u->imm2 = (uint32_t)bits_get(s->word, 73, 1);
    return u->imm > REDUX_MAX ? NULL : redux;
  case SEM_CREDUX:
    return pick_credux(s, u);
  case SEM_R2UR:
    u->imm = (uint32_t)sass_get(s, FLD_R2UR_OR);
    u->imm2 = (uint32_t)sass_get(s, FLD_R2UR_ACC);
    return u->imm && u->pu != PRED_NONE ? NULL : r2ur;
  case SEM_ELECT: return elect;
  case SEM_USETMAXREG:
    u->flags |= UOP_FAULTS;
    return usetmaxreg;
  default: return NULL;
  }
}
