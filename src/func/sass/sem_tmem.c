/* Tensor memory: loads and stores of a warp, allocation, commits (tcgen05.ld, st, alloc, dealloc, commit). Rules: PTX
 * ISA (tcgen05); what register r of thread t holds: NVIDIA CUTLASS, copy_traits_sm100.hpp; operands: compiler output
 * (CUDA 13.0).
 *
 * A warp reaches the 32 lanes 32 (warp % 4) … alone. Of a lane, loads and stores take 7 bits: programs that ran on a
 * B200 add 128 in the second CTA of a pair (gau-nernst/learn-cuda, matmul_v5). Everything happens at issue: nobody may
 * look at results before tcgen05.wait, or a commit's mbarrier, says that they are there; the time of both is the timing
 * model's.
 */
#include "func/sass/async_copy.h"
#include "func/sass/cluster.h"
#include "func/sass/fpbits.h"
#include "func/sass/guest_fault.h"
#include "func/sass/lanes.h"
#include "func/sass/mbarrier.h"
#include "func/sass/tc_matrix.h"
#include "func/sass/tensor_memory.h"

enum tmem_shape { SHAPE_16X128, SHAPE_16X256, SHAPE_32X32, SHAPE_16X64, SHAPE_T0_T15, SHAPE_T16_T31 };

/* ---- loads and stores ------------------------------------------------------------------------- */

struct tmem_cell {
  unsigned lane, column; /* from the address on */
};

static struct tmem_cell cell_of(enum tmem_shape shape, unsigned t, unsigned r)
{
  switch (shape) {
  case SHAPE_16X64: return (struct tmem_cell){(t >> 2) + 8 * (t & 1), 2 * r + (t >> 1 & 1)};
  case SHAPE_16X128: return (struct tmem_cell){(t >> 2) + 8 * (r & 1), 4 * (r >> 1) + (t & 3)};
  case SHAPE_16X256: return (struct tmem_cell){(t >> 2) + 8 * (r >> 1 & 1), 8 * (r >> 2) + 2 * (t & 3) + (r & 1)};
  case SHAPE_32X32: return (struct tmem_cell){t, r};
  default: return (struct tmem_cell){t & 15, r};
  }
}

/* Threads that take part: halves of a warp in .16x32bx2. */
static uint32_t threads_of(enum tmem_shape shape)
{
  return shape == SHAPE_T0_T15 ? 0xffffu : shape == SHAPE_T16_T31 ? 0xffff0000u : FULL_MASK;
}

struct tmem_access {
  enum tmem_shape shape;
  unsigned n;       /* registers of a thread */
  unsigned packed;  /* 1: two columns in a register */
  unsigned lane, column;
  struct tensor_memory *memory;
};

/* False: fault. */
static bool take_access(struct tmem_access *a, struct func_warp *w, const struct uop *u, const struct effect *e,
                        struct fault *f)
{
  const struct sass_inst *s = u->s;
  const uint32_t at = warp_uniform(w, s->ua) + (uint32_t)s->offset;
  *a = (struct tmem_access){.shape = (enum tmem_shape)sass_get(s, FLD_TMEM_SHAPE),
                            .n = sass_tmem_registers(s),
                            .packed = sass_get(s, FLD_TMEM_PACK) || sass_get(s, FLD_TMEM_EXPAND),
                            .lane = tmem_lane(at) % TMEM_LANES,
                            .column = tmem_column(at)};
  const struct tmem_cell last = cell_of(a->shape, LANES - 1, a->n - 1);
  const unsigned columns = (last.column + 1) << a->packed, quarter = w->warp_id % 4 * TMEM_QUARTER;
  const unsigned lanes = a->shape == SHAPE_32X32 ? LANES : LANES / 2;
  /* The first quarter's lanes stand for the warp's own: JAX's Mosaic GPU has all warps load by one address. */
  if (a->lane < TMEM_QUARTER) a->lane += quarter;
  if (a->column + columns > TMEM_COLUMNS)
    return func_fault(w, e, f, FAULT_ILLEGAL_ADDRESS, 0, at, "columns %u to %u of tensor memory, which has %d",
                      a->column, a->column + columns - 1, TMEM_COLUMNS);
  if (a->lane < quarter || a->lane + lanes > quarter + TMEM_QUARTER)
    return func_fault(w, e, f, FAULT_ILLEGAL_ADDRESS, 0, at,
                      "lane %u of tensor memory, of which warp %u reaches lanes %u to %u", a->lane, w->warp_id, quarter,
                      quarter + TMEM_QUARTER - 1);
  a->memory = tensor_memory_of(w->cta);
  return true;
}

static uint32_t *cell_at(const struct tmem_access *a, unsigned t, unsigned r)
{
  const struct tmem_cell c = cell_of(a->shape, t, r);
  return &a->memory->word[a->lane + c.lane][a->column + (c.column << a->packed)];
}

static uint32_t load_cell(const struct tmem_access *a, unsigned t, unsigned r)
{
  const uint32_t *p = cell_at(a, t, r);
  return a->packed ? (p[0] & 0xffff) | p[1] << 16 : p[0];
}

/* LDTM.STAT: of what a thread has loaded. */
enum { STAT_U32, STAT_S32, STAT_F32 };

static uint32_t smaller(uint32_t x, uint32_t y, unsigned type, bool nan_wins)
{
  if (type == STAT_U32) return x < y ? x : y;
  if (type == STAT_S32) return (int32_t)x < (int32_t)y ? x : y;
  const bool x_nan = (x & 0x7fffffff) > F32_INF, y_nan = (y & 0x7fffffff) > F32_INF;
  if (nan_wins && (x_nan || y_nan)) return F32_NAN;
  if (x_nan || y_nan) return x_nan ? y_nan ? F32_NAN : y : x;
  const uint32_t order_x = x >> 31 ? ~x : x | F32_SIGN, order_y = y >> 31 ? ~y : y | F32_SIGN; /* -0 below +0 */
  return order_x < order_y ? x : y;
}

static uint32_t reduce(const struct tmem_access *a, const struct sass_inst *s, unsigned t)
{
  enum { OP_ABS = 1, OP_MIN = 2 };
  const unsigned op = (unsigned)sass_get(s, FLD_STAT_OP), type = (unsigned)sass_get(s, FLD_STAT_TYPE);
  const uint32_t keep = op & OP_ABS ? 0x7fffffff : FULL_MASK;
  uint32_t best = load_cell(a, t, 0) & keep;
  for (unsigned r = 1; r < a->n; r++) {
    const uint32_t v = load_cell(a, t, r) & keep, low = smaller(best, v, type, sass_get(s, FLD_STAT_NAN));
    const bool nan = type == STAT_F32 && ((best & 0x7fffffff) > F32_INF || (v & 0x7fffffff) > F32_INF);
    best = op & OP_MIN || nan ? low : low == best ? v : best;
  }
  return best;
}

static bool ldtm(struct func_warp *w, const struct uop *u, uint32_t m, struct effect *e, struct fault *f)
{
  struct tmem_access a;
  if (!take_access(&a, w, u, e, f)) return false;
  const uint32_t threads = m & threads_of(a.shape);
  const bool reduces = sass_has(u->s, FLD_STAT_OP);
  for (unsigned r = 0; r < a.n && u->s->dst != SASS_RZ; r++) {
    uint32_t *d = warp_reg(w, u->s->dst + r);
    for (uint32_t left = threads; left; left &= left - 1) d[bits_first(left)] = load_cell(&a, bits_first(left), r);
  }
  const unsigned stat = (unsigned)sass_get(u->s, FLD_RA);
  for (uint32_t left = reduces && stat != SASS_RZ ? threads : 0; left; left &= left - 1)
    warp_reg(w, stat)[bits_first(left)] = reduce(&a, u->s, bits_first(left));
  return true;
}

static bool sttm(struct func_warp *w, const struct uop *u, uint32_t m, struct effect *e, struct fault *f)
{
  struct tmem_access a;
  const unsigned from = u->s->src[1].index;
  if (!take_access(&a, w, u, e, f)) return false;
  const uint32_t threads = m & threads_of(a.shape);
  for (unsigned r = 0; r < a.n; r++)
    for (uint32_t left = threads; left; left &= left - 1) {
      const unsigned t = bits_first(left);
      const uint32_t v = from == SASS_RZ ? 0 : warp_reg(w, from + r)[t];
      uint32_t *p = cell_at(&a, t, r);
      p[0] = a.packed ? v & 0xffff : v;
      if (a.packed) p[1] = v >> 16;
    }
  return true;
}

static uop_fn *pick_access(const struct sass_inst *s, struct uop *u)
{
  const unsigned stat = (unsigned)sass_get(s, FLD_STAT_TYPE);
  if (!sass_tmem_registers(s) || stat > STAT_F32) return NULL;
  u->flags |= UOP_FAULTS;
  return s->sem == SEM_LDTM ? ldtm : sttm;
}

/* ---- allocation ------------------------------------------------------------------------------- */

/* The first aligned run of `n` free units; TMEM_UNITS: there is none. */
static unsigned find_run(uint32_t used, uint32_t n)
{
  for (unsigned at = 0; n && at + n <= TMEM_UNITS; at += n)
    if (!(used >> at & ((1u << n) - 1))) return at;
  return TMEM_UNITS;
}

static void set_uniform(struct func_warp *w, const struct uop *u, uint32_t v)
{
  if (u->s->udst == SASS_URZ || u->s->udst >= N_UREGS) return;
  w->launch->ops->fill(warp_ureg(w, u->s->udst), v, warp_path(w));
}

/* A run that is free in both SMs of a pair. */
static bool find_and_set(struct func_warp *w, const struct uop *u, uint32_t m, struct effect *e, struct fault *f)
{
  struct tensor_memory *own = tensor_memory_of(w->cta), *other = own;
  const uint32_t n = warp_uniform(w, u->s->src[1].index);
  (void)m;
  if (sass_get(u->s, FLD_TMA_2CTA)) {
    const struct func_cta *pair = tensor_pair(w, e, f);
    if (!pair) return false;
    other = tensor_memory_of(pair);
  }
  if (n > TMEM_UNITS || n & (n - 1))
    return func_fault(w, e, f, FAULT_ILLEGAL_INST, 0, 0, "an allocation of %u units of %d columns of tensor memory", n,
                      TMEM_UNIT);
  const uint32_t used = __atomic_load_n(&own->used, __ATOMIC_ACQUIRE) | __atomic_load_n(&other->used, __ATOMIC_ACQUIRE);
  const unsigned at = find_run(used, n);
  const bool found = at < TMEM_UNITS;
  if (found) {
    __atomic_fetch_or(&own->used, ((1u << n) - 1) << at, __ATOMIC_ACQ_REL);
    __atomic_fetch_or(&other->used, ((1u << n) - 1) << at, __ATOMIC_ACQ_REL);
  }
  set_uniform(w, u, found ? at : 0);
  pred_write(w, u->pu, warp_path(w), found ? FULL_MASK : 0);
  return true;
}

static bool combine(struct func_warp *w, const struct uop *u, uint32_t m, struct effect *e, struct fault *f)
{
  struct tensor_memory *t = tensor_memory_of(w->cta);
  const uint32_t v = warp_uniform(w, u->s->src[1].index), units = (1u << TMEM_UNITS) - 1;
  (void)m, (void)e, (void)f;
  const uint32_t old = sass_get(u->s, FLD_TC_ATOM_OR) ? __atomic_fetch_or(&t->used, v & units, __ATOMIC_ACQ_REL)
                                                      : __atomic_fetch_and(&t->used, v, __ATOMIC_ACQ_REL);
  set_uniform(w, u, old);
  return true;
}

/* ---- copies from shared memory ------------------------------------------------------------------ */

/* Rows of 16 or 32 bytes, and the lanes that get row i, from the address's lane on (NVIDIA CUTLASS,
 * copy_traits_sm100.hpp). Only that of four rows may begin elsewhere than in lane 0: it renews one lane of each 32. */
enum { CP_128X256, CP_4X256 = 2, CP_128X128, CP_64X128_02_13, CP_64X128_01_23, CP_32X128, CP_SHAPES = 7 };

struct cp_shape {
  uint8_t rows, chunks, times; /* times: lanes that get a row */
};

static const struct cp_shape cp_shapes[CP_SHAPES] = {
    [CP_128X256] = {128, 2, 1},     [CP_4X256] = {4, 2, 1},  [CP_128X128] = {128, 1, 1}, [CP_64X128_02_13] = {64, 1, 2},
    [CP_64X128_01_23] = {64, 1, 2}, [CP_32X128] = {32, 1, 4},
};

static unsigned cp_lane(unsigned shape, unsigned row, unsigned again)
{
  if (shape == CP_4X256) return 32 * row;
  if (shape == CP_64X128_02_13) return row + 64 * again;
  if (shape == CP_64X128_01_23) return row % 32 + row / 32 * 64 + 32 * again;
  return row + 32 * again;
}

/* Sixteen elements of 4 or 6 bits, packed at the start of 16 bytes, to a byte each; FP4 in its middle bits. */
static void cp_unpack(uint8_t chunk[TC_CHUNK], unsigned bits)
{
  uint8_t packed[TC_CHUNK + 1] = {0};
  memcpy(packed, chunk, TC_CHUNK);
  for (unsigned k = 0; k < TC_CHUNK; k++) {
    const unsigned at = k * bits, two = packed[at / 8] | (unsigned)packed[at / 8 + 1] << 8;
    chunk[k] = (uint8_t)((two >> at % 8 & ((1u << bits) - 1)) << (bits == 4 ? 2 : 0));
  }
}

/* Of one CTA. */
static bool cp_one(struct func_warp *w, const struct func_cta *cta, const struct uop *u, uint32_t to,
                   const struct effect *e, struct fault *f)
{
  enum { FORMAT_4 = 1, FORMAT_6 };
  const unsigned shape = (unsigned)sass_get(u->s, FLD_TCCP_SHAPE), format = (unsigned)sass_get(u->s, FLD_TCCP_FORMAT);
  const struct cp_shape *x = &cp_shapes[shape];
  const unsigned from = u->s->src[1].index;
  const struct tc_shared shared = {cta->shared, w->launch->shared_limit};
  struct tensor_memory *memory = tensor_memory_of(cta);
  uint8_t rows[TMEM_LANES][TC_ROW_MAX];
  struct tc_matrix m;
  uint32_t at;
  if (!tc_matrix_read(&m, lane_join(warp_uniform(w, from), warp_uniform(w, from + 1)), false))
    return func_fault(w, e, f, FAULT_UNSUPPORTED, 0, 0, "tcgen05.cp: no such swizzle mode");
  if (!tc_rows(&shared, &m, x->rows, x->chunks, 1, rows, &at))
    return func_fault(w, e, f, FAULT_SHARED_RANGE, 0, at,
                      "a matrix descriptor names shared address 0x%x, outside the %u bytes of the CTA", at,
                      shared.limit);
  for (unsigned i = 0; i < x->rows; i++) {
    for (unsigned c = 0; c < x->chunks && format; c++) cp_unpack(rows[i] + c * TC_CHUNK, format == FORMAT_4 ? 4 : 6);
    for (unsigned again = 0; again < x->times; again++)
      memcpy(&memory->word[tmem_lane(to) + cp_lane(shape, i, again)][tmem_column(to)], rows[i], x->chunks * TC_CHUNK);
  }
  return true;
}

static bool utccp(struct func_warp *w, const struct uop *u, uint32_t m, struct effect *e, struct fault *f)
{
  const unsigned shape = (unsigned)sass_get(u->s, FLD_TCCP_SHAPE), lanes = shape == CP_4X256 ? 32 : 1;
  const struct cp_shape *x = &cp_shapes[shape];
  const uint32_t to = warp_uniform(w, u->s->ua) + (uint32_t)u->s->offset;
  const bool pair = sass_get(u->s, FLD_TMA_2CTA);
  (void)m;
  if (tmem_lane(to) >= lanes || tmem_column(to) + x->chunks * (TC_CHUNK / 4u) > TMEM_COLUMNS)
    return func_fault(w, e, f, FAULT_ILLEGAL_ADDRESS, 0, to,
                      "tcgen05.cp to tensor memory 0x%x: not in lane %s, or beyond column %d", to,
                      lanes > 1 ? "0 to 31" : "0", TMEM_COLUMNS - 1);
  e->tensor = (struct tensor_work){.a_bytes = (uint32_t)x->rows * x->chunks * TC_CHUNK, .ctas = pair ? 2 : 1};
  if (!cp_one(w, w->cta, u, to, e, f)) return false;
  const struct func_cta *other = pair ? tensor_pair(w, e, f) : NULL;
  return !pair || (other && cp_one(w, other, u, to, e, f));
}

static uop_fn *pick_copy(const struct sass_inst *s, struct uop *u)
{
  enum { FORMATS = 3 };
  const unsigned shape = (unsigned)sass_get(s, FLD_TCCP_SHAPE);
  u->flags |= UOP_FAULTS;
  return shape < CP_SHAPES && cp_shapes[shape].rows && sass_get(s, FLD_TCCP_FORMAT) < FORMATS ? utccp : NULL;
}

/* ---- rows that move ------------------------------------------------------------------------------ */

/* tcgen05.shift.down moves 31 rows of 32 bytes, in the lanes of one warp: lane i gets what lane i + 1 had, the last
 * stays (PTX ISA, shape .31x256b). That down is this way and not the other it does not say in so many words; but it
 * lets tcgen05.cp.4x256b follow, which writes one lane of each 32 anew, and a convolution's next tap needs the next
 * pixel. */
enum { SHIFT_COLUMNS = 8 };

static void shift_one(struct tensor_memory *memory, uint32_t at)
{
  for (unsigned i = 0; i + 1 < TMEM_QUARTER; i++) {
    uint32_t *row = &memory->word[tmem_lane(at) + i][tmem_column(at)];
    memcpy(row, row + TMEM_COLUMNS, SHIFT_COLUMNS * sizeof *row);
  }
}

static bool utcshift(struct func_warp *w, const struct uop *u, uint32_t m, struct effect *e, struct fault *f)
{
  const uint32_t at = warp_uniform(w, u->s->ua) + (uint32_t)u->s->offset;
  const bool pair = sass_get(u->s, FLD_TMA_2CTA);
  (void)m;
  if (tmem_lane(at) % TMEM_QUARTER || tmem_lane(at) >= TMEM_LANES || tmem_column(at) + SHIFT_COLUMNS > TMEM_COLUMNS)
    return func_fault(w, e, f, FAULT_ILLEGAL_ADDRESS, 0, at,
                      "tcgen05.shift of tensor memory 0x%x: not in lane 0, 32, 64 or 96, or beyond column %d", at,
                      TMEM_COLUMNS - 1);
  const struct func_cta *other = pair ? tensor_pair(w, e, f) : NULL;
  if (pair && !other) return false;
  e->tensor = (struct tensor_work){.a_bytes = (TMEM_QUARTER - 1) * SHIFT_COLUMNS * 4, .ctas = pair ? 2 : 1};
  shift_one(tensor_memory_of(w->cta), at);
  if (other) shift_one(tensor_memory_of(other), at);
  return true;
}

/* ---- commit: one arrival at the mbarrier of each CTA that is named ----------------------------- */

enum { BAR_ROW = 0, BAR_BYTES = 8 };

struct commit_work {
  struct func_warp *w;
  struct effect *e;
  struct fault *f;
};

static bool arrive(void *commit, uint32_t shared, uint32_t barrier)
{
  const struct commit_work *c = commit;
  uint8_t *p = copy_near(c->w, c->e, barrier, BAR_BYTES, c->f);
  uint64_t v;
  (void)shared;
  if (!p) return false;
  memcpy(&v, p, sizeof v);
  v = mbar_apply(c->w->launch->p.sm, v, (struct mbar_event){.arrivals = 1});
  memcpy(p, &v, sizeof v);
  return true;
}

static bool commit_perform(struct func_warp *w, const struct uop *u, struct effect *e, uint32_t lanes,
                           struct gmem_view *v, struct fault *f)
{
  const uint32_t barrier = mem_row(e->mem, BAR_ROW)[0];
  struct commit_work c = {w, e, f};
  (void)u, (void)lanes, (void)v;
  if (barrier % BAR_BYTES)
    return func_fault(w, e, f, FAULT_MISALIGNED, bits_first((uint32_t)e->mem->lanes), barrier,
                      "a commit to an mbarrier at 0x%x, no multiple of %d", barrier, BAR_BYTES);
  return sass_get(u->s, FLD_TMA_MULTICAST) ? copy_multicast(e->mem->copy.ctas, barrier, barrier, arrive, &c)
                                           : arrive(&c, barrier, barrier);
}

static bool commit_step(struct func_warp *w, const struct uop *u, uint32_t m, struct effect *e, struct fault *f)
{
  enum { CTA_MASK = 0xffff };
  const uint32_t barrier = warp_uniform(w, u->s->src[0].index);
  const bool many = sass_get(u->s, FLD_TMA_MULTICAST);
  const uint32_t ctas = many ? warp_uniform(w, u->s->src[2].index) & CTA_MASK : copy_target(barrier);
  (void)f;
  struct mem_effect *me = copy_begin(w, e, u, m, ctas, BAR_BYTES);
  mem_row(me, BAR_ROW)[0] = barrier;
  func_end_turn(w); /* others see this phase end before this warp begins the next but one */
  return true;
}

/* Stores are done when they issue; the timing model says when this one's counter drops. */
static bool fence(struct func_warp *w, const struct uop *u, uint32_t m, struct effect *e, struct fault *f)
{
  (void)w, (void)u, (void)m, (void)e, (void)f;
  return true;
}

uop_fn *sem_tmem_handler(const struct sass_inst *s, struct uop *u)
{
  switch (s->sem) {
  case SEM_LDTM: case SEM_STTM: return pick_access(s, u);
  case SEM_FENCE_TMEM: return fence;
  case SEM_UTCCP: return pick_copy(s, u);
  case SEM_UTCSHIFT:
    u->flags |= UOP_FAULTS;
    return sass_get(s, FLD_TC_DOWN) ? utcshift : NULL;
  case SEM_UTCATOMSWS:
    u->flags |= UOP_FAULTS;
    return sass_get(s, FLD_TC_ALIGN) ? find_and_set : NULL;
  case SEM_UTCATOMSWS_AND:
    u->flags |= UOP_FAULTS;
    return combine;
  case SEM_UTCBAR:
    u->flags = UOP_MEM;
    u->perform = commit_perform;
    return s->src[1].index == SASS_URZ ? commit_step : NULL;
  default: return NULL;
  }
}
