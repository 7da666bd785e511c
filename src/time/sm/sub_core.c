#include "time/sm/sub_core.h"

#include "base/arith.h"
#include "base/bits.h"
#include "time/sm/path.h"

enum { EFF_CONTROL = EFF_JUMP | EFF_DIVERGED | EFF_BLOCKED | EFF_MERGED | EFF_EXITED };

void sub_core_init(struct sub_core *p, struct arena *a, const struct params *params, unsigned id,
                   struct sub_core_ports ports)
{
  p->params = params;
  p->id = id;
  p->ports = ports;
  *ports.wake_at = CYCLE_NEVER;
  p->warps.capacity = (uint8_t)(params->sm_max_warps / params->sm_sub_cores);
  BUG_ON(p->warps.capacity > SUB_CORE_MAX_WARPS);
  l0i_init(&p->l0i, a, params, id, ports.l1i, ports.ledger->stats);
  fetch_init(&p->fetch, params, &p->l0i);
  const_cache_init(&p->fl, a, params, params->const_fl_bytes, id, ports.l1i, ports.ledger->stats);
  issue_init(&p->issue, params, &p->fl);
  writeback_init(&p->writeback, params, ports.ledger->stats);
  depend_init(&p->depend, &p->writeback);
  fp64_init(&p->fp64, params, ports.fp64_free_at);
  sfu_init(&p->sfu, params);
  operand_init(&p->operands, params, ports.ledger->stats);
  lsu_init(&p->lsu, params);
  p->issue.ideal = p->ideal = ideal_new(a, params);
  if (params->issue_dependence != DEPENDENCE_CONTROL_BITS) p->scoreboard = scoreboard_new(a, params);
}

void sub_core_start(struct sub_core *p, bool control_bits)
{
  bool hybrid = p->params->issue_dependence == DEPENDENCE_HYBRID;
  p->warps.held = 0;
  p->warps.hold_due = CYCLE_NEVER;
  issue_start(&p->issue);
  l0i_start(&p->l0i);
  const_cache_start(&p->fl);
  p->boards = hybrid && control_bits ? NULL : p->scoreboard;
  p->issue.boards = p->depend.boards = p->boards;
}

/* --- warps come and go ------------------------------------------------------------------------ */

/* The place of a new warp in the order of age. */
static unsigned age_place(const struct sub_core *p, unsigned warp)
{
  unsigned place = p->warps.n;
  if (p->params->issue_age == ISSUE_AGE_SLOT)
    while (place && p->warps.order[place - 1] > warp) place--;
  return place;
}

static void enter_order(struct sub_core *p, unsigned warp)
{
  struct warp_table *t = &p->warps;
  unsigned place = age_place(p, warp);
  if (place < t->n) issue_make_place(&p->issue, place);
  for (unsigned i = t->n++; i > place; i--) {
    t->order[i] = t->order[i - 1];
    t->place[t->order[i]] = (uint8_t)i;
  }
  t->place[warp] = (uint8_t)place;
  t->order[place] = (uint8_t)warp;
  t->changed = UINT32_MAX;
}

unsigned sub_core_add_warp(struct sub_core *p, struct sm_grid *grid, struct step_warp *step,
                           unsigned cta_slot, uint64_t now)
{
  unsigned warp = 0;
  while (warp < p->warps.capacity && p->warps.slot[warp].step) warp++;
  BUG_ON(warp == p->warps.capacity);
  struct warp_slot *w = &p->warps.slot[warp];
  *w = (struct warp_slot){.step = step,
                          .grid = grid,
                          .cta_slot = (uint8_t)cta_slot,
                          .sub_core = (uint8_t)p->id,
                          .number = (uint8_t)warp,
                          .hold = WS_SELECTED,
                          .issue_at = now,
                          .books = {.born = now, .accounted = now}};
  p->warps.copies[warp] = ASYNC_GROUPS_NONE;
  enter_order(p, warp);
  if (p->boards) scoreboard_new_warp(p->boards, warp);
  if (p->ideal) ideal_new_warp(p->ideal, warp);
  issue_new_warp(&p->issue, warp);
  warp_find_next(w);
  fetch_restart(&p->fetch, &p->warps, warp, warp_pc(w), now);
  sub_core_wake(p, now);
  return warp;
}

void sub_core_remove_warp(struct sub_core *p, unsigned warp, uint64_t now)
{
  struct warp_table *t = &p->warps;
  struct warp_slot *w = &t->slot[warp];
  ledger_charge(p->ports.ledger, w, 0, WS_DRAIN, now);
  w->step = NULL;
  fetch_stop(&p->fetch, warp);
  unsigned place = t->place[warp];
  for (unsigned i = place; i + 1 < t->n; i++) {
    t->order[i] = t->order[i + 1];
    t->place[t->order[i]] = (uint8_t)i;
  }
  t->n--;
  t->changed = UINT32_MAX;
  issue_remove_warp(&p->issue, warp, place);
}

/* --- paths, jumps, holds ---------------------------------------------------------------------- */

static void hold(struct sub_core *p, unsigned warp, enum warp_state why, uint64_t until)
{
  p->warps.slot[warp].hold = (uint8_t)why;
  p->warps.slot[warp].hold_from = 0;
  p->warps.held |= 1u << warp;
  warp_hold_until(&p->warps, warp, until);
  sub_core_wake(p, until);
}

void sub_core_release(struct sub_core *p, unsigned warp, uint64_t now, uint64_t at)
{
  (void)now;
  struct warp_slot *w = &p->warps.slot[warp];
  /* Released already, by an earlier barrier: it keeps its time. */
  bool waits = w->hold == WS_BARRIER || w->hold == WS_CONVERGE;
  if (!waits || w->hold_until != CYCLE_NEVER) return;
  warp_hold_until(&p->warps, warp, at);
  sub_core_wake(p, at);
}

/* The instruction buffer follows the path picked, from cycle `at` on. */
static void restart(struct sub_core *p, unsigned warp, uint64_t now, uint64_t latency)
{
  struct warp_slot *w = &p->warps.slot[warp];
  uint64_t stages = p->params->fetch_stages;
  fetch_restart(&p->fetch, &p->warps, warp, warp_pc(w),
                now + (latency > stages ? latency - stages : 1));
  w->books.jump_until = now + latency;
}

/* At a barrier, which takes hold some cycles after its issue, when all lanes of the warp are there. */
static void hold_at_barrier(struct sub_core *p, unsigned warp, uint64_t now, uint64_t until)
{
  struct warp_slot *w = &p->warps.slot[warp];
  hold(p, warp, WS_BARRIER, until);
  if (w->step->paths.n != 1) return;
  w->path = 0;
  w->hold_from = now + p->params->issue_bar_cycles;
}

/* Do its instructions begin at pc? */
static bool buffer_begins_at(const struct ibuffer *ib, const struct code_view *c, uint64_t pc)
{
  uint64_t behind = code_skip(c, pc, ib->n);
  return ib->next_pc == behind || (c->number && ib->next_pc > behind && ib->next_pc <= code_last_byte(c, behind));
}

static void end_hold(struct sub_core *p, unsigned warp, uint64_t now)
{
  struct warp_slot *w = &p->warps.slot[warp];
  const struct step_paths *paths = &w->step->paths;
  if (w->path >= paths->n || paths->p[w->path].wait != PATH_READY) {
    w->path = 0;
    while (paths->p[w->path].wait != PATH_READY) w->path++;
  }
  ledger_charge(p->ports.ledger, w, warp_pc(w), (enum warp_state)w->hold, now);
  if (w->hold == WS_MEMBAR && w->fence_wide) p->ports.mem->access.fences.wrote_far = false;
  w->hold = WS_SELECTED;
  p->warps.held &= ~(1u << warp);
  warp_changed(&p->warps, warp);
  warp_find_next(w);
  if (!buffer_begins_at(&w->ib, &w->grid->code, warp_pc(w)))
    restart(p, warp, now, p->params->fetch_stages);
}

/* Holds that end by time, of fences also when what they wait for is answered (mem_unit.c). */
static void holds_cycle(struct sub_core *p, uint64_t now)
{
  struct warp_table *t = &p->warps;
  if (now < t->hold_due) return;
  t->hold_due = CYCLE_NEVER;
  for (uint32_t m = t->held; m; m &= m - 1) {
    unsigned warp = bits_first(m);
    const struct warp_slot *w = &t->slot[warp];
    bool answers = w->hold == WS_MEMBAR && !fences_over(&p->ports.mem->access.fences, w->fence);
    if (now >= w->hold_until && !answers) {
      end_hold(p, warp, now);
      continue;
    }
    uint64_t at = w->hold_until > now ? w->hold_until : CYCLE_NEVER;
    if (at < t->hold_due) t->hold_due = at;
  }
}

/* --- an instruction on its way ------------------------------------------------------------------ */

/* It passes the stages of the figure (sub_core.h) one behind the other, below. Times that lie ahead are known as it
 * issues, since nothing overtakes it there; what waits in a queue goes on in the memory unit, or in gmma.c. What the
 * compiler does not put in one piece with `pass` takes the record by value: so it lives in registers. */
struct passing {
  const struct inst *inst; /* NULL: the warp's pc names none */
  struct warp_slot *w;
  uint64_t now;  /* the cycle in which it issues */
  unsigned warp; /* slot */
  uint32_t seq;  /* observed.seq; 0: nobody observes */
  bool fixed;    /* goes through Allocate: of fixed latency */
  uint64_t latched; /* cycles it waits in the latch of its unit, with its operands */
  struct txn *txn;       /* of a memory instruction, else NULL */
  struct effect *effect; /* of its step */
  struct releases rel;   /* what its results and sources drop */
};

/* All fixed-latency instructions go through Allocate, operands or not; the others go from Control
 * to the queue of their unit. */
static bool goes_through_allocate(const struct inst *in)
{
  bool queued = in->pipe == PIPE_MEM || in->pipe == PIPE_SFU;
  return !queued && !(in->flags & (INST_GMMA | INST_TMEM)) && !(in->pipe == PIPE_FP64 && in->ctrl.write_sb != SB_NONE);
}

static bool is_memory(const struct passing *x)
{
  return x->inst->pipe == PIPE_MEM;
}

static inline void count(struct sub_core *p, const struct passing *x, lane_mask exec)
{
  struct sm_stats *s = p->ports.ledger->stats;
  const struct sm_grid *g = x->w->grid;
  s->warp_insts++;
  ledger_lanes(p->ports.ledger, x->w, x->inst, exec == g->all_lanes ? g->lanes : bits_count(exec));
  s->pipe[x->inst->pipe]++;
}

/* --- issue: it leaves the buffer ---------------------------------------------------------------- */

static void leave_buffer(struct sub_core *p, const struct passing *x)
{
  struct reg_wait reg;
  if (p->boards) reg = scoreboard_waited(p->boards, x->warp, x->inst);
  ledger_issue(p->ports.ledger, x->w, x->inst, p->boards ? &reg : NULL, issue_throttled(&p->issue, &p->warps, x->warp),
               x->now);
  fetch_pop(&p->fetch, &p->warps, x->warp);
}

/* --- allocate and read: ports, and the latch of the unit ----------------------------------------- */

/* Operands are read in three cycles from the one on in which the instruction leaves Allocate; its
 * result reaches the write port lat.* after the first of them. Returns the first cycle in which the next
 * instruction may issue. */
static uint64_t reserve_ports(struct sub_core *p, const struct passing *x)
{
  uint64_t next = operand_issue(&p->operands, x->inst, x->warp, x->now);
  if (!x->inst->n_dst) return next;
  uint64_t at = p->operands.leaves + 1 + p->params->lat[x->inst->lat];
  uint64_t queue = writeback_fixed(&p->writeback, x->inst, x->now, at);
  return queue > next ? queue : next;
}

static void allocate(struct sub_core *p, struct passing *x)
{
  uint64_t control_free_at = x->fixed ? reserve_ports(p, x) : x->now + 1;
  uint64_t held = x->fixed ? operand_held(&p->operands, x->now) : 0;
  if (x->inst->pipe == PIPE_SFU) held = x->latched = sfu_issue(&p->sfu, x->now);
  issue_commit(&p->issue, x->w, x->warp, x->inst, control_free_at, held, x->now);
}

/* --- the architectural step ----------------------------------------------------------------------- */

__attribute__((cold, noinline)) static bool step_emulated(struct sub_core *p, struct passing x)
{
  if (!(x.inst->flags & (INST_GMMA | INST_TMEM)))
    return emulate_step(p->emulate, x.warp, x.w, x.inst, x.seq, x.effect, x.txn, p->ports.fault, x.now);
  /* Not emulated: the accumulators change at issue. What others wrote before is there. */
  emulate_settle(p->emulate, x.warp, x.w);
  return x.w->step->ops->step(x.w->step, x.w->path, x.effect, p->ports.fault);
}

static inline bool step(struct sub_core *p, const struct passing *x)
{
  struct warp_slot *w = x->w;
  x->effect->clock = x->now + 1; /* the clock is read in the Control stage */
  x->effect->time_ns = x->now * p->ports.mem->period / 1000;
  if (p->emulate) return step_emulated(p, *x);
  return w->step->ops->step(w->step, w->path, x->effect, p->ports.fault);
}

/* --- control: what others wait for is raised -------------------------------------------------------- */

static enum warp_state wait_name(const struct inst *in)
{
  bool far = in->mem.space == MEM_GLOBAL || in->mem.space == MEM_LOCAL ||
             in->mem.space == MEM_GENERIC || in->mem.space == MEM_TEXTURE ||
             (in->flags & INST_LDGDEPBAR);
  return far ? WS_LONG_SCOREBOARD : WS_SHORT_SCOREBOARD;
}

/* Scoreboards instead of counters, which are left to groups of LDGSTS. */
__attribute__((cold)) static struct releases mark_boards(struct sub_core *p, struct passing x)
{
  const struct inst *in = x.inst;
  if (in->flags & INST_LDGDEPBAR) depend_issue(&p->depend, x.warp, &in->ctrl, wait_name(in), 0);
  return scoreboard_issue(p->boards, x.warp, in, x.fixed ? WS_WAIT : wait_name(in),
                          x.fixed ? WS_WAIT : WS_SHORT_SCOREBOARD);
}

static struct releases control(struct sub_core *p, const struct passing *x)
{
  const struct inst_ctrl *c = &x->inst->ctrl;
  if (p->boards) return mark_boards(p, *x);
  if (c->write_sb != SB_NONE || c->read_sb != SB_NONE)
    return depend_issue(&p->depend, x->warp, c, wait_name(x->inst), x->w->grid->in_order);
  return (struct releases){c->write_sb, c->read_sb};
}

/* --- observers -------------------------------------------------------------------------------------- */

static struct observed observed(const struct sub_core *p, const struct passing *x)
{
  return (struct observed){.inst = x->inst, .seq = x->seq, .sub_core = (uint8_t)p->id, .warp = (uint8_t)x->warp};
}

/* Stages behind Control of what goes through Allocate: nothing overtakes it, so all of them are known. */
static void tell_fixed(struct sub_core *p, const struct observed *o)
{
  const struct operand_path *path = &p->operands;
  uint64_t write = path->leaves + 1 + p->params->lat[o->inst->lat];
  observe_stage(p->observers, o, STAGE_ALLOCATE, path->entered);
  observe_stage(p->observers, o, STAGE_READ, path->leaves + 1);
  if (!o->inst->n_dst) {
    observe_done(p->observers, o, path->read_by);
    return;
  }
  if (write > path->read_by) observe_stage(p->observers, o, STAGE_EXECUTE, path->read_by);
  observe_stage(p->observers, o, STAGE_WRITE, write);
  observe_done(p->observers, o, write + 1);
}

/* The instruction has issued, and what is known of its way by now. */
__attribute__((cold)) static void tell_issue(struct sub_core *p, struct passing x, const struct effect *e)
{
  const struct ibuffer *ib = &x.w->ib;
  const struct observed o = observed(p, &x);
  uint64_t valid_at = ib->valid_at[(ib->head + IBUFFER_MAX - 1) % IBUFFER_MAX]; /* the entry it was in */
  uint64_t fetched = valid_at - p->params->fetch_stages;
  observe_issue(p->observers, &o, &(struct observed_issue){x.now, e->active, e->exec, e->flags});
  observe_stage(p->observers, &o, STAGE_FETCH, fetched);
  if (fetched + 1 < valid_at) observe_stage(p->observers, &o, STAGE_DECODE, fetched + 1);
  if (valid_at < x.now) observe_stage(p->observers, &o, STAGE_BUFFER, valid_at);
  observe_stage(p->observers, &o, STAGE_ISSUE, x.now);
  observe_stage(p->observers, &o, STAGE_CONTROL, x.now + 1);
  if (x.fixed)
    tell_fixed(p, &o);
  else if (is_memory(&x) || (x.inst->flags & INST_GMMA))
    observe_stage(p->observers, &o, STAGE_QUEUE, x.now + 2);
}

/* --- the memory queue --------------------------------------------------------------------------------- */

/* It touches memory now where that is the SM's business, under hazard emulation when its sources are read. False: guest
 * fault. */
static bool enter_queue(struct sub_core *p, struct passing x)
{
  struct txn *t = x.txn;
  t->sub_core = (uint8_t)p->id;
  t->warp = (uint8_t)x.warp;
  t->write_sb = x.rel.write;
  t->read_sb = x.rel.read;
  t->issued = x.now;
  t->grid = x.w->grid;
  t->inst = x.inst;
  t->seq = x.seq;
  async_group_join(&p->warps.copies[x.warp], t, x.inst);
  if (x.inst->mem.copy == COPY_COMMIT) tmem_note(p->ports.tmem, p->id, x.warp, t->id);
  bool ok = mem_access_sort(&p->ports.mem->access, t, x.now);
  if (t->unread) x.w->unread++;
  x.w->in_flight++;
  lsu_push(&p->lsu, t->id);
  if (p->lsu.n > 1) x.w->queued++;
  mem_unit_queued(p->ports.mem, p->id, x.now + 1);
  return ok;
}

/* Nobody overwrites the access before the next instruction issues, and nobody else needs it. */
static void return_access(struct sub_core *p, struct txn *t)
{
  bool kept = mem_access_waits(t) || t->kind == TXN_COPY || t->lanes_away || t->tries ||
              mem_access_comes_late(&p->ports.mem->access, t);
  bool asked = p->observers && p->observers->unordered;
  if (!asked && !p->emulate && !kept) txn_return_access(&p->ports.mem->pool, t);
}

static void take_txn(struct sub_core *p, struct passing *x)
{
  struct txn_pool *pool = &p->ports.mem->pool;
  x->txn = &pool->t[txn_take(pool)];
  x->txn->unread = x->txn->tries = x->txn->far = x->txn->fenced = false;
  x->effect = &x->txn->access->effect;
}

/* A runtime service may touch state that all SMs share: the memory side steps the warp. */
__attribute__((cold)) static void serve(struct sub_core *p, struct passing x)
{
  lane_mask lanes = x.w->step->paths.p[x.w->path].mask;
  count(p, &x, lanes);
  if (p->observers) tell_issue(p, x, &(struct effect){.active = lanes, .exec = lanes});
  take_txn(p, &x);
  x.effect->flags = 0;
  x.effect->exec = lanes; /* of whatever had this access before are others */
  x.rel = (struct releases){SB_NONE, SB_NONE};
  if (p->emulate) emulate_settle(p->emulate, x.warp, x.w);
  enter_queue(p, x);
  x.txn->kind = TXN_SERVICE;
  x.w->fence = fences_begin(&p->ports.mem->access.fences);
  hold(p, x.warp, WS_SERVICE, CYCLE_NEVER);
}

/* LDGDEPBAR issues at once; its write counter drops when the LDGSTS before it are done, in order, its read counter
 * (code of -G has one) with its issue. UTMACMDFLUSH has a read counter alone, which waits for the copies. */
static void close_group(struct sub_core *p, const struct passing *x)
{
  const struct inst_ctrl *c = &x->inst->ctrl;
  const uint64_t at_once = x->now + p->params->lat[LAT_ALU];
  const bool both = c->write_sb != SB_NONE && c->read_sb != SB_NONE;
  const unsigned sb = c->write_sb != SB_NONE ? c->write_sb : c->read_sb;
  if (both) depend_drop_at(&p->depend, &p->warps, x->now, at_once, x->warp, c->read_sb);
  if (sb == SB_NONE || async_group_close(&p->warps.copies[x->warp], sb)) return;
  depend_drop_at(&p->depend, &p->warps, x->now, at_once, x->warp, sb);
}

/* --- execute and write-back, outside of the memory pipeline -------------------------------------------- */

/* The other three warps of its warpgroup take part; gmma.c knows when. */
static void enter_gmma(struct sub_core *p, const struct passing *x)
{
  struct warp_slot *w = x->w;
  w->gmma.queued++;
  if (x->inst->gmma.ends_group) depend_issue_group(&p->depend, x->warp);
  gmma_issue(p->ports.gmma, w->gmma.group, w->gmma.member, x->inst,
             (struct gmma_part){.sub_core = (uint8_t)p->id, .warp = (uint8_t)x->warp, .write_sb = x->rel.write,
                                .read_sb = x->rel.read, .seq = x->seq}, x->now);
}

/* No lane executes it. */
static void release_at_once(struct sub_core *p, const struct passing *x)
{
  enum { SOON = 3 };
  depend_drop_at(&p->depend, &p->warps, x->now, x->now + SOON, x->warp, x->rel.write);
  depend_drop_at(&p->depend, &p->warps, x->now, x->now + SOON, x->warp, x->rel.read);
}

/* It goes to tensor memory, which knows when it is done. */
static void enter_tmem(struct sub_core *p, const struct passing *x)
{
  const struct inst *in = x->inst;
  if (!x->effect->exec) return release_at_once(p, x);
  struct tmem_times d = tmem_issue(p->ports.tmem, p->id, x->warp, in, &x->effect->tensor, x->now);
  unsigned n, bank = writeback_bank(&p->writeback, in, &n);
  if (d.visible < x->now + 3) d.visible = x->now + 3;
  if (!n || d.first <= x->now) d.first = d.visible - 1;
  depend_write_at(&p->depend, &p->warps, x->now, x->warp,
                  (struct depend_write){.first = d.first, .sb = x->rel.write, .bank = (uint8_t)bank, .n = (uint8_t)n,
                                        .step = (uint8_t)d.step});
  depend_drop_at(&p->depend, &p->warps, x->now, d.read > x->now + 3 ? d.read : x->now + 3, x->warp, x->rel.read);
  if (!p->observers) return;
  const struct observed o = observed(p, x);
  observe_stage(p->observers, &o, STAGE_EXECUTE, x->now + 2);
  if (n) observe_stage(p->observers, &o, STAGE_WRITE, d.first);
  observe_done(p->observers, &o, d.visible);
  observe_written(p->observers, &o, d.visible);
  observe_sources_read(p->observers, &o, d.read);
}

/* When results are written and sources are read. */
struct ends {
  uint64_t late;           /* cycles in the queue of a shared unit */
  uint64_t raw, war;       /* consumers, overwriters may issue so many cycles behind it */
  uint64_t first, visible; /* cycle of the first register's write; from which counters read less */
  unsigned n;              /* registers that need a port */
};

__attribute__((cold)) static void tell_ends(struct sub_core *p, struct passing x, const struct ends *d)
{
  const struct observed o = observed(p, &x);
  if (!x.fixed) {
    if (d->late) observe_stage(p->observers, &o, STAGE_QUEUE, x.now + 2);
    observe_stage(p->observers, &o, STAGE_READ, x.now + 2 + d->late);
    const uint64_t begins = x.now + d->war + x.latched;
    if (begins < d->first) observe_stage(p->observers, &o, STAGE_EXECUTE, begins);
    if (d->n) observe_stage(p->observers, &o, STAGE_WRITE, d->first);
    observe_done(p->observers, &o, d->visible);
  }
  observe_written(p->observers, &o, x.now + d->raw);
  observe_sources_read(p->observers, &o, x.now + d->war);
}

static void write_back(struct sub_core *p, const struct passing *x)
{
  const struct inst *in = x->inst;
  bool releases = x->rel.write != SB_NONE || x->rel.read != SB_NONE;
  if (!releases && !p->observers && in->pipe != PIPE_FP64 && x->fixed) return;
  struct ends d = {.raw = p->params->lat[in->lat], .war = p->params->lat_source_release};
  unsigned bank = 0;
  if (d.war > d.raw) d.war = d.raw;
  d.raw += x->latched;
  if (in->pipe == PIPE_FP64 && p->params->fp64_shared) {
    d.late = fp64_issue(&p->fp64, x->now);
    d.raw += d.late;
    d.war += d.late;
  }
  if (p->boards && x->fixed) d.war = p->operands.read_by - x->now;
  if (!x->fixed) bank = writeback_bank(&p->writeback, in, &d.n);
  d.visible = x->now + (d.raw > 3 ? d.raw : 3);
  d.first = d.visible - 1 - (d.n > 1 ? d.n - 1 : 0);
  depend_write_at(&p->depend, &p->warps, x->now, x->warp,
                  (struct depend_write){.first = d.first > x->now ? d.first : x->now + 1,
                                        .sb = x->rel.write,
                                        .bank = (uint8_t)bank,
                                        .n = (uint8_t)d.n,
                                        .step = 1});
  depend_drop_at(&p->depend, &p->warps, x->now, x->now + (d.war > 3 ? d.war : 3), x->warp, x->rel.read);
  if (p->observers) tell_ends(p, *x, &d);
}

/* To the queue of its unit, or through its pipe. False: guest fault. */
static bool dispatch(struct sub_core *p, const struct passing *x)
{
  uint32_t flags = x->inst->flags;
  if (is_memory(x)) {
    if (!enter_queue(p, *x)) return false;
    return_access(p, x->txn);
  }
  if (flags & INST_LDGDEPBAR) close_group(p, x);
  if (flags & INST_GMMA)
    enter_gmma(p, x);
  else if (flags & INST_TMEM)
    enter_tmem(p, x);
  else if (!is_memory(x) && (p->boards || !(flags & INST_LDGDEPBAR)))
    write_back(p, x);
  return true;
}

/* --- what the warp does next ----------------------------------------------------------------------------- */

/* A CTA sees its stores in L1. A wider fence asks L2, the other partition, too, if something was written there. */
static void hold_at_fence(struct sub_core *p, const struct passing *x)
{
  const struct params *q = p->params;
  const unsigned scope = x->inst->scope;
  const uint64_t cycles[] = {q->membar_cta_cycles, q->membar_gpu_cycles, q->membar_sys_cycles};
  struct fence_epochs *f = &p->ports.mem->access.fences;
  x->w->fence_wide = scope != SCOPE_CTA;
  x->w->fence = x->w->fence_wide ? fences_begin(f) : f->oldest;
  const uint64_t way = x->w->fence_wide && f->wrote_far ? params_home_cycles(q) : 0;
  hold(p, x->warp, WS_MEMBAR, x->now + later(cycles[scope], way));
}

/* Fences, sleep and barriers hold the warp. What an acquire has to do with L1 is done here, too. */
static void hold_warp(struct sub_core *p, const struct passing *x)
{
  const struct params *q = p->params;
  const struct inst *in = x->inst;
  const struct effect *e = x->effect;
  const uint32_t some = INST_MEMBAR | INST_SLEEP | INST_BAR | INST_EMPTIES_L1;
  if (!(in->flags & some) || !e->exec) return;
  if (in->flags & INST_MEMBAR) hold_at_fence(p, x);
  if (in->flags & INST_EMPTIES_L1) l1_acquire(&p->ports.mem->l1);
  if ((in->flags & INST_SLEEP) && x->w->step->paths.n_ready == 1) {
    const uint64_t asked = (uint64_t)e->sleep_ns * 1000 / p->ports.mem->period, poll = q->issue_sleep_poll_cycles;
    hold(p, x->warp, WS_SLEEPING, x->now + (e->sleep_polls && poll < asked ? poll : asked));
  }
  if ((in->flags & INST_BAR) && !(e->flags & EFF_BLOCKED) && !q->ideal_barriers)
    hold_at_barrier(p, x->warp, x->now, x->now + q->lat[LAT_BAR]);
}

/* The path may end, split, wait or jump. */
static void after_control(struct sub_core *p, const struct passing *x)
{
  struct warp_slot *w = x->w;
  const struct effect *e = x->effect;
  struct sm_stats *s = p->ports.ledger->stats;
  if (e->flags & EFF_DIVERGED) s->divergences++;
  if (e->flags & EFF_WARP_DONE) {
    w->done = true;
    fetch_stop(&p->fetch, x->warp);
    return;
  }
  unsigned before = w->path;
  bool elsewhere = path_pick(w, e, code_next(&w->grid->code, e->pc));
  if (!path_any_ready(w)) {
    if (e->inst->flags & INST_BAR)
      hold_at_barrier(p, x->warp, x->now, CYCLE_NEVER);
    else
      hold(p, x->warp, path_hold(w), CYCLE_NEVER);
    return;
  }
  if (w->path != before) s->path_switches++;
  if (elsewhere) restart(p, x->warp, x->now, p->params->lat[LAT_BRANCH]);
}

static void go_on(struct sub_core *p, const struct passing *x)
{
  uint32_t flags = x->effect->flags;
  if ((flags & EFF_CONTROL) || (x->inst->flags & (INST_YIELD | INST_SLEEP))) after_control(p, x);
  if (x->w->step->paths.n) warp_find_next(x->w);
  if (flags & (EFF_BAR_RELEASED | EFF_WARP_DONE | EFF_CTA_DONE | EFF_CLUSTER_ARRIVED))
    p->ports.cta_event(p->ports.ctx, x->w->cta_slot, flags, x->now);
  issue_stall(&p->issue, &p->warps, x->w, x->now);
}

/* --- all of it --------------------------------------------------------------------------------------------- */

/* No instruction is there: the step source says so. */
__attribute__((cold, noinline)) static bool step_nothing(struct sub_core *p, struct warp_slot *w)
{
  return w->step->ops->step(w->step, w->path, &p->effect, p->ports.fault);
}

/* False: guest fault. */
static bool pass(struct sub_core *p, unsigned warp, uint64_t now)
{
  struct warp_slot *w = &p->warps.slot[warp];
  struct passing x = {.inst = w->next, .w = w, .now = now, .warp = warp, .effect = &p->effect};
  if (!x.inst) return step_nothing(p, w);
  x.fixed = goes_through_allocate(x.inst);
  x.seq = p->observers ? ++p->observers->seq : 0;
  leave_buffer(p, &x);
  allocate(p, &x);
  if (x.inst->flags & INST_SYSCALL) {
    serve(p, x);
    return true;
  }
  if (is_memory(&x)) take_txn(p, &x);
  if (!step(p, &x)) return false;
  count(p, &x, x.effect->exec);
  x.rel = control(p, &x);
  if (p->observers) tell_issue(p, x, x.effect);
  if (!dispatch(p, &x)) return false;
  hold_warp(p, &x);
  go_on(p, &x);
  return true;
}

/* --- what if (ideal.h) ------------------------------------------------------------------------------------- */

/* The instruction takes effect, and no time. */
static bool pass_free(struct sub_core *p, unsigned warp, uint64_t now)
{
  struct warp_slot *w = &p->warps.slot[warp];
  struct passing x = {.inst = w->next, .w = w, .now = now, .warp = warp, .effect = &p->ideal->effect};
  const struct mem_effect *m = x.effect->mem;
  w->grid->issued[code_number(&w->grid->code, x.inst)]++;
  fetch_pop(&p->fetch, &p->warps, warp);
  w->const_inst = NULL;
  if (!step(p, &x)) return false;
  if (x.effect->flags & EFF_MEM) {
    if (!w->step->ops->perform(w->step, x.effect, m->lanes | m->near_lanes, p->ports.view, p->ports.fault))
      return false;
    w->step->ops->finish(w->step, x.effect);
  }
  warp_find_next(w);
  warp_changed(&p->warps, warp);
  return true;
}

static struct issue_units issue_units(struct sub_core *p)
{
  return (struct issue_units){lsu_can_accept(&p->lsu) && p->ports.mem->pool.n_free > 0, fp64_accepts_at(&p->fp64)};
}

/* The warp picked, and all others that can, issue in this cycle; those that are not free take slots, of which there are
 * more than one with ideal.issue alone. *pick: why nothing more does. False: guest fault. */
__attribute__((cold)) static bool ideal_cycle(struct sub_core *p, struct issue_pick *pick, bool *issued, uint64_t now)
{
  struct sm_stats *s = p->ports.ledger->stats;
  unsigned slots = 0;
  while (pick->warp != NO_WARP) {
    struct warp_slot *w = &p->warps.slot[pick->warp];
    bool free = w->next && ideal_take(p->ideal, w, pick->warp, w->next);
    if (!(free ? pass_free(p, pick->warp, now) : pass(p, pick->warp, now))) return false;
    *issued = true;
    slots += !free;
    if (!free) depend_raise(&p->depend, &p->warps, now); /* Control holds one instruction */
    struct issue_units units = issue_units(p);
    *pick = issue_cycle(&p->issue, &p->warps, &units, now);
  }
  s->slot[slots ? SLOT_ISSUED : pick->charge] += slots ? slots : 1;
  if (slots) s->issue_slots += slots - 1;
  return true;
}

void sub_core_code_arrived(struct sub_core *p, uint64_t line, uint64_t at)
{
  l0i_arrived(&p->l0i, line, at);
  if (fetch_arrived(&p->fetch, &p->warps, line, at)) sub_core_wake(p, at);
}

void sub_core_const_arrived(struct sub_core *p, uint64_t line, uint64_t at)
{
  const_cache_arrived(&p->fl, line, at);
  if (issue_const_arrived(&p->warps, line, at)) sub_core_wake(p, at);
}

/* --- the cycle -------------------------------------------------------------------------------- */

void sub_core_settle(struct sub_core *p, uint64_t now)
{
  if (now <= p->slots_from) return;
  uint64_t slept = now - p->slots_from;
  p->ports.ledger->stats->slot[p->sleep_charge] += slept;
  issue_sleep(&p->issue, slept);
  p->slots_from = now;
}

bool sub_core_cycle(struct sub_core *p, uint64_t now)
{
  uint64_t fetch_next;
  sub_core_settle(p, now);
  *p->ports.wake_at = CYCLE_NEVER;
  holds_cycle(p, now);
  control_cycle(&p->depend);
  /* Fetch sees the buffers as they were: an entry freed in this cycle is fetched for in the next. */
  bool fetched = fetch_cycle(&p->fetch, &p->warps, p->issue.last, now, &fetch_next);
  struct issue_units units = issue_units(p);
  if (p->ideal && p->ideal->wide)
    while (fetch_cycle(&p->fetch, &p->warps, p->issue.last, now, &fetch_next)) fetched = true;
  struct issue_pick pick = issue_cycle(&p->issue, &p->warps, &units, now);
  bool issued = pick.warp != NO_WARP;
  if (p->ideal && p->ideal->wide) {
    if (!ideal_cycle(p, &pick, &issued, now)) return false;
  } else {
    p->ports.ledger->stats->slot[issued ? SLOT_ISSUED : pick.charge]++;
    if (issued && !pass(p, pick.warp, now)) return false;
  }
  bool changed = depend_edge(&p->depend, &p->warps, now);
  p->sleep_charge = pick.charge;
  p->slots_from = now + 1;
  if (issued || fetched || changed)
    sub_core_wake(p, now + 1);
  else
    sub_core_wake(p, earlier(earlier(issue_next(&p->issue, &p->warps), fetch_next), depend_next(&p->depend, now)));
  return true;
}

/* Dependence counters that the next instruction, or a DEPBAR in force, finds busy. */
static void dump_counters(const struct warp_slot *w, FILE *out)
{
  unsigned wait = w->next ? w->dep_busy & w->next->ctrl.wait : 0u;
  if (w->depbar) wait |= w->dep_busy & w->depbar->hold_for;
  for (; wait; wait &= wait - 1) {
    unsigned sb = bits_first(wait);
    fprintf(out, "waits for SB%u (%s, count %u), ", sb, warp_state_name[w->dep[sb].state],
            w->dep[sb].count);
  }
  fprintf(out, "%u in flight", w->in_flight);
}

void sub_core_dump(const struct sub_core *p, uint64_t now, FILE *out)
{
  for (unsigned i = 0; i < p->warps.n; i++) {
    const struct warp_slot *w = &p->warps.slot[p->warps.order[i]];
    fprintf(out, "    warp slot %u.%u: ", p->id, p->warps.order[i]);
    if (w->done) {
      fprintf(out, "exited, %u in flight\n", w->in_flight);
      continue;
    }
    fprintf(out, "pc 0x%llx, %u paths (%u ready), ", (unsigned long long)warp_pc(w),
            w->step->paths.n, w->step->paths.n_ready);
    if (w->hold != WS_SELECTED)
      fprintf(out, "held: %s", warp_state_name[w->hold]);
    else if (w->issue_at > now)
      fprintf(out, "stalled until cycle %llu", (unsigned long long)w->issue_at);
    else
      dump_counters(w, out);
    fputc('\n', out);
  }
}
