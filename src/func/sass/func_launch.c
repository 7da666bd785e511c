/* Launches, CTAs and steps (func/func.h, isa/step.h).
 *
 * All state of a CTA lies in one block of host memory per (worker, slot), reserved when the
 * launch is built and reused by every CTA that runs there. Registers, shared and local memory
 * start as zeros: hardware leaves them undefined, but results must not depend on what ran in the
 * slot before.
 */
#include "func/sass/func_launch.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/arith.h"
#include "base/bug.h"
#include "base/host_memory.h"
#include "base/redzone.h"
#include "func/sass/async_copy.h"
#include "func/sass/cluster.h"
#include "func/sass/groups.h"
#include "func/sass/guest_fault.h"
#include "func/sass/paths.h"
#include "func/sass/prepare.h"
#include "func/sass/remote.h"
#include "func/sass/tensor_memory.h"
#include "isa/hazard_role.h"

enum { MAX_CTA_THREADS = 1024, MAX_LOCAL = 512 << 10 };

/* Layout of a CTA's block. */
struct cta_layout {
  size_t warps, list, regs, reg_stride, uregs, ureg_stride, shared, local, end, total; /* redzones at the ends */
};

static struct cta_layout cta_layout(const struct func_launch *l)
{
  const struct step_source *s = &l->source;
  struct cta_layout at;
  size_t n = s->warps_per_cta;
  at.warps = align_up(sizeof(struct func_cta), ROW_BYTES);
  at.list = at.warps + align_up(n * sizeof(struct func_warp), ROW_BYTES);
  at.regs = align_up(at.list + n * sizeof(struct step_warp *), ROW_BYTES);
  at.reg_stride = (size_t)(l->n_regs + WIDE_ROWS) * ROW_BYTES + REDZONE_BYTES;
  at.uregs = at.regs + n * at.reg_stride;
  at.ureg_stride = (size_t)(N_UREGS + WIDE_ROWS) * ROW_BYTES + REDZONE_BYTES;
  at.shared = at.uregs + n * at.ureg_stride;
  at.local = at.shared + align_up(l->shared_limit, ROW_BYTES) + REDZONE_BYTES;
  at.end = align_up(at.local + n * LANES * (size_t)s->local_bytes, ROW_BYTES);
  at.total = at.end + REDZONE_BYTES;
  return at;
}

static void put_redzones(const struct func_launch *l, const struct cta_layout *at, uint8_t *mem)
{
  if (!REDZONE_BYTES) return;
  for (unsigned i = 1; i <= l->source.warps_per_cta; i++) {
    redzone_put(mem + at->regs + i * at->reg_stride - REDZONE_BYTES);
    redzone_put(mem + at->uregs + i * at->ureg_stride - REDZONE_BYTES);
  }
  redzone_put(mem + at->local - REDZONE_BYTES);
  redzone_put(mem + at->end);
}

/* All but those that are written before they are read. */
static void clear_registers(const struct func_launch *l, uint8_t *regs)
{
  if (!l->n_clear) memset(regs, 0, l->n_regs * (size_t)ROW_BYTES);
  for (unsigned i = 0; i < l->n_clear; i++) memset(regs + l->clear[i].at, 0, l->clear[i].bytes);
}

/* Paths are written when they are added, convergence barriers that nobody has entered are zero. */
static void clear_warp(struct func_warp *w)
{
  const size_t from = offsetof(struct func_warp, base), to = offsetof(struct func_warp, park);
  const size_t rare = offsetof(struct func_warp, rpc), rest = offsetof(struct func_warp, breg);
  for (uint32_t b = w->bregs_set; b; b &= b - 1) memset(w->breg[bits_first(b)], 0, sizeof w->breg[0]);
  if (w->called) memset(w->depth, 0, sizeof w->depth);
  if (w->watched) memset(w->yield_state, 0, sizeof w->yield_state);
  if (w->rare_set) memset((uint8_t *)w + rare, 0, rest - rare);
  w->step.paths.n = w->step.paths.n_ready = w->step.cut_short = 0;
  memset((uint8_t *)w + from, 0, to - from);
}

static void warp_begin(struct func_cta *c, const struct cta_layout *at, unsigned i)
{
  const struct func_launch *l = (const struct func_launch *)c->step.source;
  uint8_t *mem = (uint8_t *)c;
  struct func_warp *w = &c->warps[i];
  clear_warp(w);
  w->step.ops = l->source.ops;
  w->step.cta = &c->step;
  w->base[BASE_POOL] = l->pool;
  w->base[BASE_REG] = mem + at->regs + i * at->reg_stride;
  w->base[BASE_UREG] = mem + at->uregs + i * at->ureg_stride;
  clear_registers(l, w->base[BASE_REG]);
  const unsigned n_uregs = __atomic_load_n(&l->wild, __ATOMIC_RELAXED) ? N_UREGS : l->n_uregs;
  memset(w->base[BASE_UREG], 0, n_uregs * (size_t)ROW_BYTES); /* the others stay as they were: zero */
  w->pred[PRED_NONE] = w->pred[PRED_UNIFORM + PRED_NONE] = FULL_MASK;
  w->warp_id = i;
  w->regs = (uint16_t)l->warp_regs;
  w->cta = c;
  w->launch = l;
  w->local = mem + at->local + i * (size_t)LANES * l->source.local_bytes;
  unsigned left = l->source.threads_per_cta - i * LANES;
  w->lanes_present = w->mactive = left >= LANES ? FULL_MASK : (1u << left) - 1;
  w->tid = (const uint32_t (*)[LANES])l->tid[i];
  paths_init(w, l->p.entry_pc);
}

static struct step_cta *cta_begin(struct step_source *src, uint64_t cta, unsigned worker,
                                  unsigned slot, unsigned smid)
{
  struct func_launch *l = (struct func_launch *)src;
  BUG_ON(worker >= l->p.n_workers || slot >= l->p.slots_per_worker || cta >= src->n_ctas);
  struct cta_layout at = cta_layout(l);
  const size_t place = worker * (size_t)l->p.slots_per_worker + slot;
  uint8_t *mem = l->cta_mem + l->cta_stride * place;
  struct func_cta *c = (struct func_cta *)(void *)mem;
  kept_touch(&l->room->ctas, place);
  if (c->local_dirty) memset(mem + at.local, 0, at.end - at.local);
  put_redzones(l, &at, mem);
  for (unsigned i = 0; i <= BAR_CLUSTER; i++)
    if (c->barrier[i].busy) memset(&c->barrier[i], 0, sizeof c->barrier[i]);
  c->local_dirty = false;
  c->step = (struct step_cta){.source = src, .id = cta, .n_warps = src->warps_per_cta,
                              .warps_left = src->warps_per_cta,
                              .warp = (struct step_warp **)(void *)(mem + at.list)};
  c->shared = mem + at.shared;
  memset(c->shared, 0, l->shared_limit);
  const uint32_t *g = l->p.grid;
  c->ctaid[0] = (uint32_t)(cta % g[0]);
  c->ctaid[1] = (uint32_t)(cta / g[0] % g[1]);
  c->ctaid[2] = (uint32_t)(cta / g[0] / g[1]);
  c->worker = worker, c->slot = slot, c->smid = smid;
  c->warps = (struct func_warp *)(void *)(mem + at.warps);
  c->free_regs = 0;
  c->direct = (struct gmem_view){.image = l->p.image};
  cluster_join(c);
  if (l->p.tmem_pairs) tensor_memory_begin(c);
  for (unsigned i = 0; i < src->warps_per_cta; i++) {
    c->step.warp[i] = &c->warps[i].step;
    warp_begin(c, &at, i);
  }
  return &c->step;
}

static void cta_end(struct step_source *src, struct step_cta *cta)
{
  (void)src; /* the block is cleared when it is used again */
  cluster_leave((struct func_cta *)cta);
}

static bool bad_pc(struct func_warp *w, struct effect *e, uint64_t pc, struct fault *f)
{
  e->pc = pc;
  return func_fault(w, e, f, FAULT_ILLEGAL_PC, bits_first(w->step.paths.p[w->cur].mask), pc,
                    "no instruction at this address");
}

/* Everything but the guard. Some operations move the path themselves, run whatever their guard, or
 * are uniform. */
bool func_step_rest(struct func_warp *w, const struct uop *u, struct effect *e, struct fault *f)
{
  uint32_t exec = (uint32_t)e->exec;
  if (u->flags & UOP_CONTROL) {
    if (exec) return u->fn(w, u, exec, e, f);
    w->step.paths.p[w->cur].pc += 1u << FUNC_INST_SHIFT;
    return true;
  }
  if (!exec && !(u->flags & UOP_ALWAYS)) return true;
  return u->fn(w, u, uop_lanes(u, (uint32_t)e->active, exec), e, f);
}

static struct func_launch *launch_of(const struct func_warp *w)
{
  return (struct func_launch *)(uintptr_t)w->launch; /* warps only change it under its locks */
}

/* Out of the way of those steps whose operation is prepared, which save no registers for it. */
static __attribute__((noinline)) bool step_late(struct step_warp *sw, unsigned path, struct effect *e, struct fault *f)
{
  struct func_launch *l = launch_of((struct func_warp *)sw);
  prepare_late(l, (sw->paths.p[path].pc - l->code_base) >> FUNC_INST_SHIFT);
  return func_step(sw, path, e, f);
}

bool func_step(struct step_warp *sw, unsigned path, struct effect *e, struct fault *f)
{
  struct func_warp *w = (struct func_warp *)sw;
  const struct func_launch *l = w->launch;
  struct step_path *p = &sw->paths.p[path];
  uint64_t off = p->pc - l->code_base;
  w->cur = (uint8_t)path;
  if (__builtin_expect(off >= l->code_bytes || (off & ((1u << FUNC_INST_SHIFT) - 1)), 0)) {
    return bad_pc(w, e, p->pc, f);
  }
  const struct uop *u = &l->uop[off >> FUNC_INST_SHIFT];
  if (__builtin_expect(!uop_is_ready(u), 0)) return step_late(sw, path, e, f);
  return func_step_uop(w, p, u, e, f);
}

static bool func_begin(struct step_warp *sw, unsigned path, struct effect *e)
{
  struct func_warp *w = (struct func_warp *)sw;
  struct step_path *p = &sw->paths.p[path];
  w->cur = (uint8_t)path;
  const uint64_t i = (p->pc - w->launch->code_base) >> FUNC_INST_SHIFT;
  const struct uop *u = &w->launch->uop[i];
  if (!uop_is_ready(u)) prepare_late(launch_of(w), i);
  func_step_head(w, p, u, e);
  if (u->flags & UOP_CONTROL) return false;
  p->pc += 1u << FUNC_INST_SHIFT;
  return true;
}

/* A queued instruction may come when its path has gone on, split or ended, and others were stepped: it still reads and
 * writes what belonged to its lanes. */
static bool func_execute(struct step_warp *sw, struct effect *e, struct fault *f)
{
  struct func_warp *w = (struct func_warp *)sw;
  const struct uop *u = e->priv;
  if (u->flags & UOP_CONTROL) return func_step_rest(w, u, e, f);
  struct step_path *p = &sw->paths.p[w->cur];
  const lane_mask now = p->mask;
  p->mask = e->active;
  const bool ok = func_step_rest(w, u, e, f);
  p->mask = now;
  return ok;
}

/* Registers outside the kernel's have no rows; the instruction that names them faults. */
static void func_reg_read(const struct step_warp *sw, unsigned reg, struct reg_value *v)
{
  const struct func_warp *w = (const struct func_warp *)sw;
  if (reg < HAZARD_UR && reg >= w->launch->n_regs) return;
  if (reg < HAZARD_UR)
    memcpy(v->lane, warp_reg(w, reg), ROW_BYTES);
  else if (reg < HAZARD_P)
    memcpy(v->lane, warp_ureg(w, reg - HAZARD_UR), ROW_BYTES);
  else
    v->bits = w->pred[reg - HAZARD_P]; /* P0 …, UP0 …: PRED_UNIFORM behind each other */
}

static void func_reg_write(struct step_warp *sw, unsigned reg, lane_mask lanes,
                           const struct reg_value *v)
{
  struct func_warp *w = (struct func_warp *)sw;
  uint32_t m = (uint32_t)lanes;
  if (reg < HAZARD_UR && reg >= w->launch->n_regs) return;
  if (reg < HAZARD_P) {
    uint32_t *row = reg < HAZARD_UR ? warp_reg(w, reg) : warp_ureg(w, reg - HAZARD_UR);
    for (unsigned i = 0; i < LANES; i++) row[i] = m >> i & 1 ? v->lane[i] : row[i];
  } else {
    uint32_t *p = &w->pred[reg - HAZARD_P];
    *p = (*p & ~m) | ((uint32_t)v->bits & m);
  }
}

static bool func_perform(struct step_warp *sw, struct effect *e, lane_mask lanes, struct gmem_view *v,
                         struct fault *f)
{
  const struct uop *u = e->priv;
  return u->perform((struct func_warp *)sw, u, e, (uint32_t)lanes, v, f);
}

static void func_finish(struct step_warp *sw, struct effect *e)
{
  const struct uop *u = e->priv;
  if (u->finish) u->finish((struct func_warp *)sw, u, e);
}

/* Of launches with an address space of their own (func_params.own_space): what a view shows of the caller's image, this
 * shows of the launch's. Stores go to the view's log, if it has one, whose addresses are the same in both. */
static struct gmem_view own_view(const struct step_warp *sw, const struct gmem_view *v)
{
  struct gmem_view own = *v;
  own.image = ((const struct func_warp *)sw)->launch->p.image;
  return own;
}

static bool own_perform(struct step_warp *sw, struct effect *e, lane_mask lanes, struct gmem_view *v, struct fault *f)
{
  struct gmem_view own = own_view(sw, v);
  return func_perform(sw, e, lanes, &own, f);
}

static bool own_copy_piece(struct step_warp *sw, struct effect *e, uint32_t k, struct copy_piece *p,
                           struct gmem_view *v, struct fault *f)
{
  struct gmem_view own = own_view(sw, v);
  return func_copy_piece(sw, e, k, p, &own, f);
}

static bool own_copy_part(struct step_warp *sw, struct effect *e, uint32_t k, uint64_t addr, uint32_t bytes,
                          struct gmem_view *v, struct fault *f)
{
  struct gmem_view own = own_view(sw, v);
  return func_copy_part(sw, e, k, addr, bytes, &own, f);
}

_Static_assert(HAZARD_UP - HAZARD_P == PRED_UNIFORM, "predicates are numbered alike");

#define FUNC_OPS(perform_, copy_piece_, copy_part_)                                                 \
  {                                                                                                 \
    .cta_begin = cta_begin, .cta_end = cta_end, .cluster_release = cluster_release,                 \
    .cluster_worker = cluster_worker, .step = func_step, .perform = perform_, .finish = func_finish, \
    .copy_piece = copy_piece_, .copy_part = copy_part_, .line_op = func_line_op,                    \
    .begin = func_begin, .execute = func_execute, .reg_read = func_reg_read,                        \
    .reg_write = func_reg_write,                                                                    \
  }

static const struct step_ops func_ops = FUNC_OPS(func_perform, func_copy_piece, func_copy_part);
static const struct step_ops func_own_ops = FUNC_OPS(own_perform, own_copy_piece, own_copy_part);

/* Limits: CUDA programming guide, "Technical Specifications per Compute Capability". */
static bool shape_check(const struct func_params *p, struct err *e)
{
  static const uint32_t most[3] = {0x7fffffff, 65535, 65535};
  const uint32_t *b = p->block;
  for (unsigned i = 0; i < 3; i++) {
    if (!p->grid[i] || !b[i]) return err_set(e, "launch of %s: empty grid or block", p->kernel_name);
    if (p->grid[i] > most[i])
      return err_set(e, "launch of %s: %u CTAs in direction %c of the grid, at most %u are possible", p->kernel_name,
                     p->grid[i], "xyz"[i], most[i]);
  }
  uint64_t threads = (uint64_t)b[0] * b[1]; /* of three factors the product might not fit */
  threads = threads > MAX_CTA_THREADS || b[2] > MAX_CTA_THREADS ? UINT32_MAX : threads * b[2];
  return threads <= MAX_CTA_THREADS ||
         err_set(e, "launch of %s: %u x %u x %u threads per block, at most %d are possible", p->kernel_name, b[0], b[1],
                 b[2], MAX_CTA_THREADS);
}

/* What a CTA and a thread have of their own. */
static bool memory_check(const struct func_params *p, struct err *e)
{
  const uint64_t shared = (uint64_t)p->shared_reserved + p->shared_static + p->shared_dynamic + p->shared_behind;
  if (shared > (1u << CLUSTER_SHIFT) - FUNC_SHARED_GRANULE)
    return err_set(e, "launch of %s: %llu bytes of shared memory", p->kernel_name, (unsigned long long)shared);
  return p->local_bytes <= MAX_LOCAL ||
         err_set(e, "launch of %s: %llu bytes of local memory per thread, at most %d are possible", p->kernel_name,
                 (unsigned long long)p->local_bytes, MAX_LOCAL);
}

static bool params_check(const struct func_params *p, struct err *e)
{
  TRY(shape_check(p, e) && memory_check(p, e));
  if (!sem_select(p->host_level)) return err_set(e, "this host has no x86-64-v%u", p->host_level);
  if (p->code.shift != FUNC_INST_SHIFT) return err_set(e, "code is not 128-bit SASS");
  if (!code_at(&p->code, p->entry_pc)) return err_set(e, "entry pc 0x%llx is outside the code",
                                                      (unsigned long long)p->entry_pc);
  TRY(cluster_check(p, e));
  if (!p->n_workers || !p->slots_per_worker) return err_set(e, "launch without resident CTAs");
  return true;
}

static void source_init(struct func_launch *l)
{
  const struct func_params *p = &l->p;
  unsigned threads = p->block[0] * p->block[1] * p->block[2];
  l->source = (struct step_source){
      .ops = p->own_space ? &func_own_ops : &func_ops,
      .caps = STEP_CAP_VALUES | STEP_CAP_CONTROL,
      .code = p->code,
      .entry_pc = p->entry_pc,
      .code_bytes = p->code_bytes,
      .n_ctas = (uint64_t)p->grid[0] * p->grid[1] * p->grid[2],
      .warps_per_cta = (unsigned)div_up(threads, LANES),
      .threads_per_cta = threads,
      .lanes = LANES,
      .regs_per_thread = p->regs_per_thread,
      .shared_bytes = p->shared_static + p->shared_dynamic,
      .local_bytes = align_up(p->local_bytes, 16),
  };
  memcpy(l->source.grid, p->grid, sizeof p->grid);
  memcpy(l->source.block, p->block, sizeof p->block);
  memcpy(l->source.cluster, p->cluster, sizeof p->cluster);
  l->source.pairs = p->tmem_pairs;
}

static void number_threads(struct func_launch *l)
{
  const uint32_t *b = l->p.block;
  unsigned warps = l->source.warps_per_cta;
  l->tid = arena_array(&l->room->arena, warps, sizeof *l->tid, ROW_BYTES);
  for (uint32_t t = 0; t < warps * LANES; t++) {
    uint32_t (*tid)[LANES] = l->tid[t / LANES];
    tid[0][t % LANES] = t % b[0];
    tid[1][t % LANES] = t / b[0] % b[1];
    tid[2][t % LANES] = t / b[0] / b[1];
  }
}

/* Allocation unit: 8 per thread (sm_75 to sm_121). */
static unsigned allocated_registers(unsigned n)
{
  enum { UNIT = 8, MOST = 256 };
  return n >= MOST ? MOST : (unsigned)align_up(n ? n : 1, UNIT);
}

static void reserve_ctas(struct func_launch *l)
{
  enum { LARGE_PAGE = 2 << 20 };
  const size_t slots = (size_t)l->p.n_workers * l->p.slots_per_worker;
  l->cta_stride = cta_layout(l).total;
  l->cta_mem = kept_begin(&l->room->ctas, slots, l->cta_stride);
  l->n_tmem = l->p.on_demand ? slots : l->p.n_workers;
  /* Every slot will be used, and wholly: of deep stacks little is. */
  l->dense = l->source.n_ctas >= slots && !l->source.local_bytes && slots * l->cta_stride >= LARGE_PAGE;
  if (l->dense) arena_dense(l->cta_mem, slots * l->cta_stride);
}

/* Large pages are no memory for a launch of few CTAs. */
static void release_ctas(struct func_launch *l)
{
  struct kept_array *k = &l->room->ctas;
  const struct cta_layout at = cta_layout(l);
  size_t head = at.local;
  for (size_t i = 0; (i = kept_next(k, i)) < k->n; i++)
    if (((struct func_cta *)(void *)(l->cta_mem + i * l->cta_stride))->local_dirty) head = at.total;
  if (l->dense) kept_free(k);
  else kept_end(k, head);
}

struct func_launch *func_launch_new(const struct func_params *p, struct err *e)
{
  if (!params_check(p, e)) return NULL;
  struct func_launch *l = mem_zeroed(1, sizeof *l);
  BUG_ON(pthread_mutex_init(&l->group_lock, NULL) != 0 || pthread_mutex_init(&l->late_lock, NULL) != 0);
  l->p = *p;
  l->room = launch_room_take(p->rooms);
  source_init(l);
  l->code_base = p->code.base;
  l->code_bytes = p->code.end - p->code.base;
  l->warp_regs = allocated_registers(p->regs_per_thread);
  l->n_regs = allocated_registers(p->most_regs > p->regs_per_thread ? p->most_regs : p->regs_per_thread);
  if (l->n_regs > SASS_RZ) l->n_regs = SASS_RZ; /* RZ has no row */
  l->shared_limit =
      (uint32_t)align_up(p->shared_reserved + l->source.shared_bytes, FUNC_SHARED_GRANULE) + p->shared_behind;
  prepare_launch(l);
  number_threads(l);
  cluster_init(l);
  reserve_ctas(l);
  return l;
}

void func_launch_free(struct func_launch *l)
{
  if (!l) return;
  prepare_end(l);
  groups_end(l);
  tensor_memory_end(l);
  release_ctas(l);
  launch_room_give(l->room);
  mem_free(l);
}

struct step_source *func_source(struct func_launch *l)
{
  return &l->source;
}
