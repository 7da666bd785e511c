#include "time/sm/sub_core.h"

#include "base/bits.h"
#include "time/sm/path.h"

enum { EFF_CONTROL = EFF_JUMP | EFF_DIVERGED | EFF_BLOCKED | EFF_MERGED | EFF_EXITED };

void sub_core_init(struct sub_core *p, struct arena *a, const struct params *params, unsigned id,
                   struct sub_core_ports ports)
{
  *p = (struct sub_core){.params = params, .id = id, .ports = ports};
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
  operand_init(&p->operands, params, ports.ledger->stats);
  lsu_init(&p->lsu, params);
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
                          .stores_out = w->stores_out,
                          .issue_at = now,
                          .ldgsts.arrivals = TXN_NONE,
                          .born = now,
                          .accounted = now};
  p->warps.place[warp] = p->warps.n;
  p->warps.order[p->warps.n++] = (uint8_t)warp;
  p->warps.changed = UINT32_MAX;
  if (p->boards) scoreboard_new_warp(p->boards, warp);
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
  w->jump_until = now + latency;
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
  w->hold = WS_SELECTED;
  p->warps.held &= ~(1u << warp);
  warp_changed(&p->warps, warp);
  warp_find_next(w);
  if (!buffer_begins_at(&w->ib, &w->grid->code, warp_pc(w)))
    restart(p, warp, now, p->params->fetch_stages);
}

/* Holds that end by time, or when the last store is answered. */
static void holds_cycle(struct sub_core *p, uint64_t now)
{
  struct warp_table *t = &p->warps;
  if (now < t->hold_due) return;
  t->hold_due = CYCLE_NEVER;
  for (uint32_t m = t->held; m; m &= m - 1) {
    unsigned warp = bits_first(m);
    const struct warp_slot *w = &t->slot[warp];
    bool answers = w->hold == WS_MEMBAR && w->fence_waits && w->stores_out;
    if (now >= w->hold_until && !answers) {
      end_hold(p, warp, now);
      continue;
    }
    uint64_t at = w->hold_until > now ? w->hold_until : now + 1;
    if (at < t->hold_due) t->hold_due = at;
  }
}

static void after_control(struct sub_core *p, unsigned warp, const struct effect *e, uint64_t now)
{
  struct warp_slot *w = &p->warps.slot[warp];
  struct sm_stats *s = p->ports.ledger->stats;
  if (e->flags & EFF_DIVERGED) s->divergences++;
  if (e->flags & EFF_WARP_DONE) {
    w->done = true;
    fetch_stop(&p->fetch, warp);
    return;
  }
  unsigned before = w->path;
  bool elsewhere = path_pick(w, e, code_next(&w->grid->code, e->pc));
  if (!path_any_ready(w)) {
    if (e->inst->flags & INST_BAR)
      hold_at_barrier(p, warp, now, CYCLE_NEVER);
    else
      hold(p, warp, path_hold(w), CYCLE_NEVER);
    return;
  }
  if (w->path != before) s->path_switches++;
  if (elsewhere) restart(p, warp, now, p->params->lat[LAT_BRANCH]);
}

/* --- memory instructions ---------------------------------------------------------------------- */

/* LDGSTS, and copies out of shared memory, are counted per group and warp; ARRIVES performs when those before it are done. */
static void join_ldgsts(struct ldgsts *g, struct txn *t, const struct inst *in)
{
  t->ldgsts_group = TXN_NO_GROUP;
  t->after_ldgsts = 0;
  bool copy = in->mem.copy == COPY_STORE || in->mem.copy == COPY_REDUCE; /* groups of bulk copies */
  if (copy || (in->mem.op == MEM_LDGSTS && in->mem.space != MEM_NONE)) {
    t->ldgsts_group = g->open;
    g->outstanding[g->open]++;
    g->in_flight++;
  } else if ((in->flags & INST_AFTER_LDGSTS) && g->in_flight) {
    t->after_ldgsts = g->in_flight;
    t->next_arrival = g->arrivals;
    g->arrivals = t->id;
  }
}

/* Queues the instruction. It touches memory now where that is the SM's business, under hazard emulation
 * when its sources are read. */
static bool issue_memory(struct sub_core *p, unsigned warp, const struct inst *in, uint16_t id,
                         struct releases rel, uint32_t seq, uint64_t now)
{
  struct warp_slot *w = &p->warps.slot[warp];
  struct txn *t = &p->ports.mem->pool.t[id];
  t->sub_core = (uint8_t)p->id;
  t->warp = (uint8_t)warp;
  t->write_sb = rel.write;
  t->read_sb = rel.read;
  t->issued = now;
  t->grid = w->grid;
  t->inst = in;
  t->seq = seq;
  join_ldgsts(&w->ldgsts, t, in);
  bool ok = mem_access_sort(&p->ports.mem->access, t, now);
  if (t->unread) w->unread++;
  w->in_flight++;
  lsu_push(&p->lsu, id);
  if (p->lsu.n > 1) w->queued++;
  mem_unit_queued(p->ports.mem, p->id, now + 1);
  return ok;
}

/* LDGDEPBAR issues at once; its counter drops when the LDGSTS before it are done, in order. */
static void issue_ldgdepbar(struct sub_core *p, unsigned warp, const struct inst *in, uint64_t now)
{
  struct ldgsts *g = &p->warps.slot[warp].ldgsts;
  unsigned sb = in->ctrl.write_sb != SB_NONE ? in->ctrl.write_sb : in->ctrl.read_sb; /* UTMACMDFLUSH: this one */
  if (sb == SB_NONE) return;
  if (g->oldest == g->open && g->outstanding[g->open] == 0) {
    depend_drop_at(&p->depend, &p->warps, now, now + p->params->lat[LAT_ALU], warp,
                   sb);
    return;
  }
  g->sb[g->open] = (uint8_t)sb;
  g->open = (uint8_t)((g->open + 1) % LDGSTS_GROUPS);
  BUG_ON(g->open == g->oldest);
  g->outstanding[g->open] = 0;
}

/* The other three warps of its warpgroup take part; gmma.c knows when. */
static void issue_gmma(struct sub_core *p, unsigned warp, const struct inst *in, struct releases rel, uint32_t seq,
                       uint64_t now)
{
  struct warp_slot *w = &p->warps.slot[warp];
  w->gmma_queued++;
  if (in->gmma.ends_group) depend_issue_group(&p->depend, warp);
  gmma_issue(p->ports.gmma, w->gmma_group, w->gmma_member, in,
             (struct gmma_part){.sub_core = (uint8_t)p->id, .warp = (uint8_t)warp, .write_sb = rel.write,
                                .read_sb = rel.read, .seq = seq}, now);
}

/* A runtime service may touch state that all SMs share: the memory side steps the warp. */
static void issue_service(struct sub_core *p, unsigned warp, const struct inst *in,
                          struct releases rel, uint32_t seq, uint64_t now)
{
  struct mem_unit *m = p->ports.mem;
  uint16_t id = txn_take(&m->pool);
  struct txn *t = &m->pool.t[id];
  t->access->effect.flags = 0;
  t->unread = false;
  if (p->emulate) emulate_settle(p->emulate, warp, &p->warps.slot[warp]);
  issue_memory(p, warp, in, id, rel, seq, now);
  t->kind = TXN_SERVICE;
  hold(p, warp, WS_SERVICE, CYCLE_NEVER);
}

/* --- issue ------------------------------------------------------------------------------------ */

static enum warp_state wait_name(const struct inst *in)
{
  bool far = in->mem.space == MEM_GLOBAL || in->mem.space == MEM_LOCAL ||
             in->mem.space == MEM_GENERIC || in->mem.space == MEM_TEXTURE ||
             (in->flags & INST_LDGDEPBAR);
  return far ? WS_LONG_SCOREBOARD : WS_SHORT_SCOREBOARD;
}

/* All fixed-latency instructions go through Allocate, operands or not; the others go from Control
 * to the queue of their unit. */
static bool goes_through_allocate(const struct inst *in)
{
  bool queued = in->pipe == PIPE_MEM || in->pipe == PIPE_SFU;
  return !queued && !(in->flags & INST_GMMA) && !(in->pipe == PIPE_FP64 && in->ctrl.write_sb != SB_NONE);
}

/* Operands are read in three cycles from the one on in which the instruction leaves Allocate; its
 * result reaches the write port lat.* after the first of them. Returns the first cycle in which the next
 * instruction may issue. */
static uint64_t fixed_latency(struct sub_core *p, unsigned warp, const struct inst *in,
                              uint64_t now)
{
  uint64_t next = operand_issue(&p->operands, in, warp, now);
  if (!in->n_dst) return next;
  uint64_t at = p->operands.leaves + 1 + p->params->lat[in->lat];
  uint64_t queue = writeback_fixed(&p->writeback, in, now, at);
  return queue > next ? queue : next;
}

/* Scoreboards instead of counters, which are left to groups of LDGSTS. */
__attribute__((cold)) static struct releases mark_boards(struct sub_core *p, unsigned warp,
                                                         const struct inst *in)
{
  if (in->flags & INST_LDGDEPBAR) depend_issue(&p->depend, warp, &in->ctrl, wait_name(in), 0);
  bool fixed = goes_through_allocate(in);
  return scoreboard_issue(p->boards, warp, in, fixed ? WS_WAIT : wait_name(in),
                          fixed ? WS_WAIT : WS_SHORT_SCOREBOARD);
}

static struct observed observed(const struct sub_core *p, unsigned warp, const struct inst *in, uint32_t seq)
{
  return (struct observed){.inst = in, .seq = seq, .sub_core = (uint8_t)p->id, .warp = (uint8_t)warp};
}

/* Releases of instructions that do not go through the memory pipeline. */
static void schedule_drops(struct sub_core *p, unsigned warp, const struct inst *in,
                           struct releases rel, uint32_t seq, uint64_t now)
{
  uint64_t raw = p->params->lat[in->lat], war = p->params->lat_source_release;
  uint64_t late = 0;
  unsigned n = 0, bank = 0;
  bool releases = rel.write != SB_NONE || rel.read != SB_NONE;
  if (!releases && !p->observers && in->pipe != PIPE_FP64 && goes_through_allocate(in)) return;
  if (war > raw) war = raw;
  if (in->pipe == PIPE_FP64 && p->params->fp64_shared) {
    late = fp64_issue(&p->fp64, now);
    raw += late;
    war += late;
  }
  if (p->boards && goes_through_allocate(in)) war = p->operands.read_by - now;
  if (!goes_through_allocate(in)) bank = writeback_bank(&p->writeback, in, &n);
  uint64_t visible = now + (raw > 3 ? raw : 3), first = visible - 1 - (n > 1 ? n - 1 : 0);
  depend_write_at(&p->depend, &p->warps, now, warp,
                  (struct depend_write){.first = first > now ? first : now + 1,
                                        .sb = rel.write,
                                        .bank = (uint8_t)bank,
                                        .n = (uint8_t)n,
                                        .step = 1});
  depend_drop_at(&p->depend, &p->warps, now, now + (war > 3 ? war : 3), warp, rel.read);
  if (!p->observers) return;
  const struct observed x = observed(p, warp, in, seq);
  if (!goes_through_allocate(in)) {
    if (late) observe_stage(p->observers, &x, STAGE_QUEUE, now + 2);
    observe_stage(p->observers, &x, STAGE_READ, now + 2 + late);
    if (now + war < first) observe_stage(p->observers, &x, STAGE_EXECUTE, now + war);
    if (n) observe_stage(p->observers, &x, STAGE_WRITE, first);
    observe_done(p->observers, &x, visible);
  }
  observe_written(p->observers, &x, now + raw);
  observe_sources_read(p->observers, &x, now + war);
}

static void special_cases(struct sub_core *p, unsigned warp, const struct inst *in,
                          const struct effect *e, uint64_t now)
{
  struct warp_slot *w = &p->warps.slot[warp];
  const struct params *q = p->params;
  if ((in->flags & INST_MEMBAR) && e->exec) {
    uint32_t cycles[] = {q->membar_cta_cycles, q->membar_gpu_cycles, q->membar_sys_cycles};
    w->fence_waits = in->scope != SCOPE_CTA; /* a CTA sees its stores in L1 */
    hold(p, warp, WS_MEMBAR, now + cycles[in->scope]);
  }
  if ((in->flags & INST_SLEEP) && e->exec && w->step->paths.n_ready == 1)
    hold(p, warp, WS_SLEEPING, now + (uint64_t)e->sleep_ns * 1000 / p->ports.mem->period);
  if ((in->flags & INST_BAR) && e->exec && !(e->flags & EFF_BLOCKED))
    hold_at_barrier(p, warp, now, now + q->lat[LAT_BAR]);
}

/* `t`: transaction of a memory instruction, else NULL. */
static bool step(struct sub_core *p, unsigned warp, struct effect *e, struct txn *t, uint32_t seq, uint64_t now)
{
  struct warp_slot *w = &p->warps.slot[warp];
  e->clock = now + 1; /* the clock is read in the Control stage */
  e->time_ns = now * p->ports.mem->period / 1000;
  /* Not emulated: the accumulators change at issue. What others wrote before is there. */
  bool product = w->next && (w->next->flags & INST_GMMA);
  if (p->emulate && product) emulate_settle(p->emulate, warp, w);
  if (p->emulate && w->next && !product)
    return emulate_step(p->emulate, warp, w, w->next, seq, e, t, p->ports.fault, now);
  return w->step->ops->step(w->step, w->path, e, p->ports.fault);
}

static void count(struct sub_core *p, const struct warp_slot *w, const struct inst *in, const struct effect *e)
{
  struct sm_stats *s = p->ports.ledger->stats;
  s->warp_insts++;
  ledger_lanes(p->ports.ledger, w, in, e->exec == w->grid->all_lanes ? w->grid->lanes : bits_count(e->exec));
  s->pipe[in->pipe]++;
}

/* --- observers -------------------------------------------------------------------------------- */

/* Stages behind Control of what goes through Allocate: nothing overtakes it, so all of them are known. */
static void tell_fixed(struct sub_core *p, const struct observed *x)
{
  const struct operand_path *o = &p->operands;
  uint64_t write = o->leaves + 1 + p->params->lat[x->inst->lat];
  observe_stage(p->observers, x, STAGE_ALLOCATE, o->entered);
  observe_stage(p->observers, x, STAGE_READ, o->leaves + 1);
  if (!x->inst->n_dst) {
    observe_done(p->observers, x, o->read_by);
    return;
  }
  if (write > o->read_by) observe_stage(p->observers, x, STAGE_EXECUTE, o->read_by);
  observe_stage(p->observers, x, STAGE_WRITE, write);
  observe_done(p->observers, x, write + 1);
}

/* The instruction has issued, and what is known of its way by now. */
__attribute__((cold)) static void tell_issue(struct sub_core *p, unsigned warp, const struct inst *in, uint32_t seq,
                                             const struct effect *e, uint64_t now)
{
  const struct ibuffer *ib = &p->warps.slot[warp].ib;
  const struct observed x = observed(p, warp, in, seq);
  uint64_t valid_at = ib->valid_at[(ib->head + IBUFFER_MAX - 1) % IBUFFER_MAX]; /* the entry it was in */
  observe_issue(p->observers, &x, &(struct observed_issue){now, e->active, e->exec, e->flags});
  observe_stage(p->observers, &x, STAGE_FETCH, valid_at - p->params->fetch_stages);
  if (p->params->fetch_stages > 1) observe_stage(p->observers, &x, STAGE_DECODE, valid_at - p->params->fetch_stages + 1);
  if (valid_at < now) observe_stage(p->observers, &x, STAGE_BUFFER, valid_at);
  observe_stage(p->observers, &x, STAGE_ISSUE, now);
  observe_stage(p->observers, &x, STAGE_CONTROL, now + 1);
  if (goes_through_allocate(in))
    tell_fixed(p, &x);
  else if (in->pipe == PIPE_MEM || (in->flags & INST_GMMA))
    observe_stage(p->observers, &x, STAGE_QUEUE, now + 2);
}

static bool execute(struct sub_core *p, unsigned warp, uint64_t now)
{
  struct warp_slot *w = &p->warps.slot[warp];
  const struct inst *in = w->next;
  if (!in) return step(p, warp, &p->effect, NULL, 0, now); /* faults: not an instruction */
  struct reg_wait reg;
  uint32_t seq = p->observers ? ++p->observers->seq : 0;
  if (p->boards) reg = scoreboard_waited(p->boards, warp, in);
  ledger_issue(p->ports.ledger, w, in, p->boards ? &reg : NULL, issue_throttled(&p->issue, &p->warps, warp), now);
  fetch_pop(&p->fetch, &p->warps, warp);
  bool fixed = goes_through_allocate(in);
  uint64_t control_free_at = fixed ? fixed_latency(p, warp, in, now) : now + 1;
  uint64_t held = fixed ? operand_held(&p->operands, now) : 0;
  issue_commit(&p->issue, w, warp, in, control_free_at, held, now);
  if (in->flags & INST_SYSCALL) {
    lane_mask lanes = w->step->paths.p[w->path].mask;
    const struct effect whole = {.active = lanes, .exec = lanes};
    count(p, w, in, &whole);
    if (p->observers) tell_issue(p, warp, in, seq, &whole, now);
    issue_service(p, warp, in, (struct releases){SB_NONE, SB_NONE}, seq, now);
    return true;
  }
  bool memory = in->pipe == PIPE_MEM;
  uint16_t id = memory ? txn_take(&p->ports.mem->pool) : TXN_NONE;
  struct txn *t = memory ? &p->ports.mem->pool.t[id] : NULL;
  struct effect *e = memory ? &t->access->effect : &p->effect;
  if (memory) t->unread = false;
  if (!step(p, warp, e, t, seq, now)) return false;
  count(p, w, in, e);
  struct releases rel = {in->ctrl.write_sb, in->ctrl.read_sb};
  if (p->boards)
    rel = mark_boards(p, warp, in);
  else if (in->ctrl.write_sb != SB_NONE || in->ctrl.read_sb != SB_NONE)
    rel = depend_issue(&p->depend, warp, &in->ctrl, wait_name(in), w->grid->in_order);
  if (p->observers) tell_issue(p, warp, in, seq, e, now);
  if (memory && !issue_memory(p, warp, in, id, rel, seq, now)) return false;
  bool kept = t && (t->kind == TXN_STRONG || t->kind == TXN_CLUSTER || t->kind == TXN_COPY ||
                    mem_access_comes_late(&p->ports.mem->access, t));
  bool asked = p->observers && p->observers->unordered;
  if (memory && !asked && !p->emulate && !kept)
    txn_return_access(&p->ports.mem->pool, t); /* nobody overwrites it before the next one issues */
  if (in->flags & INST_LDGDEPBAR)
    issue_ldgdepbar(p, warp, in, now);
  if (in->flags & INST_GMMA)
    issue_gmma(p, warp, in, rel, seq, now);
  else if (!memory && (p->boards || !(in->flags & INST_LDGDEPBAR)))
    schedule_drops(p, warp, in, rel, seq, now);
  special_cases(p, warp, in, e, now);
  uint32_t flags = e->flags;
  if ((flags & EFF_CONTROL) || (in->flags & (INST_YIELD | INST_SLEEP)))
    after_control(p, warp, e, now);
  if (w->step->paths.n) warp_find_next(w);
  if (flags & (EFF_BAR_RELEASED | EFF_WARP_DONE | EFF_CTA_DONE | EFF_CLUSTER_ARRIVED))
    p->ports.cta_event(p->ports.ctx, w->cta_slot, flags, now);
  issue_stall(&p->issue, &p->warps, warp, now);
  return true;
}

void sub_core_code_arrived(struct sub_core *p, uint64_t line, uint64_t at)
{
  l0i_arrived(&p->l0i, line, at);
  if (fetch_arrived(&p->fetch, &p->warps, line, at)) sub_core_wake(p, at);
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

static uint64_t min3(uint64_t a, uint64_t b, uint64_t c)
{
  uint64_t m = a < b ? a : b;
  return m < c ? m : c;
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
  struct issue_units units = {lsu_can_accept(&p->lsu) && p->ports.mem->pool.n_free > 0,
                              fp64_accepts_at(&p->fp64)};
  struct issue_pick pick = issue_cycle(&p->issue, &p->warps, &units, now);
  bool issued = pick.warp != NO_WARP;
  p->ports.ledger->stats->slot[issued ? SLOT_ISSUED : pick.charge]++;
  if (issued && !execute(p, pick.warp, now)) return false;
  bool changed = depend_edge(&p->depend, &p->warps, now);
  p->sleep_charge = pick.charge;
  p->slots_from = now + 1;
  if (issued || fetched || changed)
    sub_core_wake(p, now + 1);
  else
    sub_core_wake(p, min3(issue_next(&p->issue, &p->warps), fetch_next, depend_next(&p->depend, now)));
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
