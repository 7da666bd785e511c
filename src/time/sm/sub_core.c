#include "time/sm/sub_core.h"

#include "base/bits.h"
#include "time/sm/coalescer.h"
#include "time/sm/mem_latency.h"
#include "time/sm/path.h"
#include "time/sm/smem.h"

enum { EFF_CONTROL = EFF_JUMP | EFF_DIVERGED | EFF_BLOCKED | EFF_MERGED | EFF_EXITED };

void sub_core_init(struct sub_core *p, struct arena *a, const struct params *params, unsigned id,
                   struct sub_core_ports ports)
{
  *p = (struct sub_core){.params = params, .id = id, .wake_at = CYCLE_NEVER, .ports = ports};
  p->warps.capacity = (uint8_t)(params->sm_max_warps / params->sm_sub_cores);
  BUG_ON(p->warps.capacity > SUB_CORE_MAX_WARPS);
  l0i_init(&p->l0i, a, params, id, ports.l1i, ports.ledger->stats);
  fetch_init(&p->fetch, params, &p->l0i);
  const_cache_init(&p->fl, a, params, params->const_fl_bytes, id, ports.l1i, ports.ledger->stats);
  issue_init(&p->issue, params, &p->fl);
  depend_init(&p->depend);
  operand_init(&p->operands, params, ports.ledger->stats);
  lsu_init(&p->lsu, params);
}

void sub_core_start(struct sub_core *p, struct code_view code)
{
  p->warps.code = code;
  l0i_start(&p->l0i);
  const_cache_start(&p->fl);
  if (p->hazard) hazard_start(p->hazard);
}

/* --- warps come and go ------------------------------------------------------------------------ */

unsigned sub_core_add_warp(struct sub_core *p, struct step_warp *step, unsigned cta_slot,
                           uint64_t now)
{
  unsigned warp = 0;
  while (warp < p->warps.capacity && p->warps.slot[warp].step) warp++;
  BUG_ON(warp == p->warps.capacity);
  struct warp_slot *w = &p->warps.slot[warp];
  *w = (struct warp_slot){.step = step,
                          .cta_slot = (uint8_t)cta_slot,
                          .hold = WS_SELECTED,
                          .issue_at = now,
                          .born = now,
                          .accounted = now,
                          .blocked_at = CYCLE_NEVER};
  p->warps.order[p->warps.n++] = (uint8_t)warp;
  if (p->hazard) hazard_new_warp(p->hazard, warp);
  p->issue.last =
      (uint8_t)warp; /* the youngest is the first greedy warp (Huerta et al., MICRO 2025) */
  warp_find_next(&p->warps, w);
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
  unsigned i = 0;
  while (t->order[i] != warp) i++;
  for (; i + 1 < t->n; i++) t->order[i] = t->order[i + 1];
  t->n--;
  if (p->issue.last == warp) p->issue.last = NO_WARP;
}

/* --- paths, jumps, holds ---------------------------------------------------------------------- */

static void hold(struct sub_core *p, struct warp_slot *w, enum warp_state why, uint64_t until)
{
  w->hold = (uint8_t)why;
  w->hold_until = until;
  sub_core_wake(p, until);
}

void sub_core_release(struct sub_core *p, unsigned warp, uint64_t now, uint64_t at)
{
  (void)now;
  struct warp_slot *w = &p->warps.slot[warp];
  /* Released already, by an earlier barrier: it keeps its time. */
  bool waits = w->hold == WS_BARRIER || w->hold == WS_CONVERGE;
  if (!waits || w->hold_until != CYCLE_NEVER) return;
  w->hold_until = at;
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
  warp_find_next(&p->warps, w);
  if (w->ib.next_pc - ((uint64_t)w->ib.n << p->warps.code.shift) != warp_pc(w))
    restart(p, warp, now, p->params->fetch_stages);
}

/* Holds that end by time, or when the last store is answered. */
static void holds_cycle(struct sub_core *p, uint64_t now)
{
  for (unsigned i = 0; i < p->warps.n; i++) {
    unsigned warp = p->warps.order[i];
    struct warp_slot *w = &p->warps.slot[warp];
    if (w->hold == WS_SELECTED || w->done || now < w->hold_until) continue;
    if (w->hold == WS_MEMBAR && w->stores_out) continue;
    end_hold(p, warp, now);
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
  bool elsewhere = path_pick(w, e, 1u << p->warps.code.shift);
  if (!path_any_ready(w)) {
    hold(p, w, path_hold(w), CYCLE_NEVER);
    return;
  }
  if (w->path != before) s->path_switches++;
  if (elsewhere) restart(p, warp, now, p->params->lat[LAT_BRANCH]);
}

/* --- memory instructions ---------------------------------------------------------------------- */

static unsigned div_up(unsigned a, unsigned b)
{
  return (a + b - 1) / b;
}

/* Occupancy of the L1 pipeline; what exceeds a coalesced access of the same width is extra. */
static void l1_cost(const struct sub_core *p, struct txn *t, unsigned sectors)
{
  const struct params *q = p->params;
  unsigned data = div_up(sectors * SECTOR_BYTES, q->l1_bytes_per_cycle);
  unsigned tags = div_up(t->n_lines, q->l1_tags_per_cycle);
  unsigned plain = div_up(t->mem.bytes * 32u, q->l1_bytes_per_cycle);
  t->busy = (uint16_t)(data > tags ? data : tags);
  t->extra = (uint16_t)(t->busy > plain ? t->busy - plain : 0);
}

static bool perform(struct sub_core *p, struct warp_slot *w, struct txn *t, lane_mask lanes)
{
  return w->step->ops->perform(w->step, &t->effect, lanes, p->ports.view, p->ports.fault);
}

static bool perform_now(struct sub_core *p, struct warp_slot *w, struct txn *t)
{
  if (!perform(p, w, t, t->mem.lanes | t->mem.near_lanes)) return false;
  w->step->ops->finish(w->step, &t->effect);
  return true;
}

static bool global_access(struct sub_core *p, struct warp_slot *w, struct txn *t)
{
  struct sm_stats *s = p->ports.ledger->stats;
  bool local = t->mem.space == MEM_LOCAL;
  /* Local memory of a warp slot: a region of line numbers of its own, above all global lines. */
  uint64_t slot_space =
      (uint64_t)1 << 56 | (uint64_t)(p->ports.mem->sm * 64 + p->id * SUB_CORE_MAX_WARPS + t->warp)
                              << 32;
  unsigned sectors = local ? coalesce_local(t, slot_space) : coalesce_global(t);
  s->global_insts++;
  s->global_lines += t->n_lines;
  l1_cost(p, t, sectors);
  if (!local && (t->mem.strong || mem_unit_strong_pending(p->ports.mem, t))) {
    t->kind = TXN_STRONG;
    s->strong_insts++;
    mem_unit_note_strong(p->ports.mem, t);
    /* Lanes of a generic access that hit shared or local memory never leave the SM. */
    return !t->mem.near_lanes || perform(p, w, t, t->mem.near_lanes);
  }
  t->kind = TXN_GLOBAL;
  return perform_now(p, w, t);
}

static bool shared_access(struct sub_core *p, struct warp_slot *w, struct txn *t)
{
  struct sm_stats *s = p->ports.ledger->stats;
  unsigned passes = smem_passes(&t->mem), least = smem_min_passes(&t->mem);
  s->shared_insts++;
  s->shared_passes += passes;
  s->shared_conflicts += passes - least;
  t->kind = TXN_SHARED;
  t->busy = (uint16_t)passes;
  t->extra = (uint16_t)(passes - least);
  return perform_now(p, w, t);
}

/* LDC: lines missing in L0 VL come from L1. Addresses are bank << 32 | offset. */
static bool const_access(struct sub_core *p, struct warp_slot *w, struct txn *t, uint64_t now)
{
  t->kind = TXN_CONST;
  uint64_t readable = now, last = UINT64_MAX;
  for (lane_mask m = t->mem.lanes; m; m &= m - 1) {
    uint64_t addr = t->mem.addr[bits_first(m)];
    if (addr / p->params->const_line == last) continue;
    last = addr / p->params->const_line;
    uint64_t at = const_cache_read(&p->ports.mem->vl, (unsigned)(addr >> 32), (uint32_t)addr, now);
    if (at > readable) readable = at;
  }
  t->extra = (uint16_t)(readable - now);
  return perform_now(p, w, t);
}

/* Sorts the access into its kind, lets it touch memory where that is the SM's business, and queues
 * it. */
static bool issue_memory(struct sub_core *p, unsigned warp, const struct inst *in, uint16_t id,
                         uint32_t hazard_seq, uint64_t now)
{
  struct warp_slot *w = &p->warps.slot[warp];
  struct txn *t = &p->ports.mem->pool.t[id];
  t->sub_core = (uint8_t)p->id;
  t->warp = (uint8_t)warp;
  t->write_sb = in->ctrl.write_sb;
  t->read_sb = in->ctrl.read_sb;
  t->issued = now;
  t->inst = in;
  t->hazard_seq = hazard_seq;
  t->n_lines = 0;
  t->busy = t->extra = 0;
  t->kind = TXN_OTHER;
  t->ldgsts_group = 0xff;
  bool touches = t->effect.flags & EFF_MEM;
  struct mem_latency l = {(uint16_t)p->params->lat[in->lat],
                          (uint16_t)p->params->mlat_war[MLAT_LDS_REGULAR]};
  if (in->mem.space != MEM_NONE)
    l = mem_latency(p->params, in, touches ? t->mem.space : in->mem.space);
  t->raw = l.raw ? l.raw : l.war;
  t->war = l.war;
  bool ok = true;
  if (touches && (t->mem.space == MEM_GLOBAL || t->mem.space == MEM_LOCAL))
    ok = global_access(p, w, t);
  else if (touches && t->mem.space == MEM_SHARED)
    ok = shared_access(p, w, t);
  else if (touches)
    ok = const_access(p, w, t, now);
  /* A fence waits for everything that leaves the SM and brings no value back to wait for. */
  t->store = t->kind == TXN_STRONG || (t->kind == TXN_GLOBAL && t->mem.op == MEM_STORE);
  if (t->store) w->stores_out++;
  if (in->mem.op == MEM_LDGSTS && in->mem.space != MEM_NONE) {
    t->ldgsts_group = w->ldgsts.open;
    w->ldgsts.outstanding[w->ldgsts.open]++;
  }
  w->in_flight++;
  lsu_push(&p->lsu, id);
  if (p->lsu.n == 1) mem_unit_new_head(p->ports.mem, p->id, now);
  return ok;
}

/* LDGDEPBAR issues at once; its counter drops when the LDGSTS before it are done, in order. */
static void issue_ldgdepbar(struct sub_core *p, unsigned warp, const struct inst *in, uint64_t now)
{
  struct ldgsts *g = &p->warps.slot[warp].ldgsts;
  if (in->ctrl.write_sb == SB_NONE) return;
  if (g->oldest == g->open && g->outstanding[g->open] == 0) {
    depend_drop_at(&p->depend, &p->warps, now, now + p->params->lat[LAT_ALU], warp,
                   in->ctrl.write_sb);
    return;
  }
  g->sb[g->open] = in->ctrl.write_sb;
  g->open = (uint8_t)((g->open + 1) % LDGSTS_GROUPS);
  BUG_ON(g->open == g->oldest);
  g->outstanding[g->open] = 0;
}

/* A runtime service may touch state that all SMs share: the memory side steps the warp. */
static void issue_service(struct sub_core *p, unsigned warp, const struct inst *in, uint64_t now)
{
  struct mem_unit *m = p->ports.mem;
  uint16_t id = txn_take(&m->pool);
  struct txn *t = &m->pool.t[id];
  t->effect.flags = 0;
  issue_memory(p, warp, in, id, 0, now);
  t->kind = TXN_SERVICE;
  hold(p, &p->warps.slot[warp], WS_SERVICE, CYCLE_NEVER);
}

/* --- issue ------------------------------------------------------------------------------------ */

static enum warp_state wait_name(const struct inst *in)
{
  bool far = in->mem.space == MEM_GLOBAL || in->mem.space == MEM_LOCAL ||
             in->mem.space == MEM_GENERIC || (in->flags & INST_LDGDEPBAR);
  return far ? WS_LONG_SCOREBOARD : WS_SHORT_SCOREBOARD;
}

/* Counters of instructions that do not go through the memory pipeline. */
static void schedule_drops(struct sub_core *p, unsigned warp, const struct inst *in, uint32_t seq,
                           uint64_t now)
{
  uint64_t raw = p->params->lat[in->lat], war = p->params->lat_source_release;
  if (war > raw) war = raw;
  depend_drop_at(&p->depend, &p->warps, now, now + (raw > 3 ? raw : 3), warp, in->ctrl.write_sb);
  depend_drop_at(&p->depend, &p->warps, now, now + (war > 3 ? war : 3), warp, in->ctrl.read_sb);
  if (!p->hazard) return;
  hazard_written(p->hazard, warp, in, seq, now + raw);
  hazard_sources_read(p->hazard, warp, in, seq, now + war);
}

static void special_cases(struct sub_core *p, unsigned warp, const struct inst *in,
                          const struct effect *e, uint64_t now)
{
  struct warp_slot *w = &p->warps.slot[warp];
  const struct params *q = p->params;
  if ((in->flags & INST_MEMBAR) && e->exec) {
    uint32_t cycles[] = {q->membar_cta_cycles, q->membar_gpu_cycles, q->membar_sys_cycles};
    hold(p, w, WS_MEMBAR, now + cycles[in->scope]);
  }
  if ((in->flags & INST_SLEEP) && e->exec && w->step->paths.n_ready == 1)
    hold(p, w, WS_SLEEPING, now + (uint64_t)e->sleep_ns * 1000 / p->ports.mem->period);
  if ((in->flags & INST_BAR) && !(e->flags & EFF_BLOCKED) && w->issue_at < now + q->lat[LAT_BAR])
    w->issue_at = now + q->lat[LAT_BAR];
}

static bool step(struct sub_core *p, struct warp_slot *w, struct effect *e, uint64_t now)
{
  e->clock = now + 1; /* the clock is read in the Control stage */
  e->time_ns = now * p->ports.mem->period / 1000;
  return w->step->ops->step(w->step, w->path, e, p->ports.fault);
}

static void count(struct sub_core *p, const struct inst *in, const struct effect *e)
{
  struct sm_stats *s = p->ports.ledger->stats;
  s->warp_insts++;
  s->thread_insts += bits_count(e->exec);
  s->pipe[in->pipe]++;
}

/* All fixed-latency instructions go through Allocate, operands or not; the others go from Control
 * to the queue of their unit. */
static bool goes_through_allocate(const struct inst *in)
{
  bool queued = in->pipe == PIPE_MEM || in->pipe == PIPE_SFU;
  return !queued && !(in->pipe == PIPE_FP64 && in->ctrl.write_sb != SB_NONE);
}

static bool execute(struct sub_core *p, unsigned warp, uint64_t now)
{
  struct warp_slot *w = &p->warps.slot[warp];
  uint64_t pc = warp_pc(w);
  const struct inst *in = w->next;
  if (!in) return step(p, w, &p->effect, now); /* faults: not an instruction */
  ledger_issue(p->ports.ledger, w, in, pc, now);
  fetch_pop(&p->fetch, &p->warps, warp);
  uint64_t control_free_at =
      goes_through_allocate(in) ? operand_issue(&p->operands, in, warp, now) : now + 1;
  issue_commit(&p->issue, w, warp, in, p->ports.fp64_free_at, control_free_at, now);
  if (in->flags & INST_SYSCALL) {
    count(p, in, &(struct effect){.exec = w->step->paths.p[w->path].mask});
    issue_service(p, warp, in, now);
    return true;
  }
  bool memory = in->pipe == PIPE_MEM;
  uint16_t id = memory ? txn_take(&p->ports.mem->pool) : TXN_NONE;
  struct effect *e = memory ? &p->ports.mem->pool.t[id].effect : &p->effect;
  if (!step(p, w, e, now)) return false;
  count(p, in, e);
  depend_issue(&p->depend, warp, &in->ctrl, wait_name(in));
  uint32_t seq = p->hazard ? hazard_issue(p->hazard, warp, in, e->active, e->exec, now) : 0;
  if (memory && !issue_memory(p, warp, in, id, seq, now)) return false;
  if (in->flags & INST_LDGDEPBAR)
    issue_ldgdepbar(p, warp, in, now);
  else if (!memory)
    schedule_drops(p, warp, in, seq, now);
  special_cases(p, warp, in, e, now);
  uint32_t flags = e->flags;
  if ((flags & EFF_CONTROL) || (in->flags & (INST_YIELD | INST_SLEEP)))
    after_control(p, warp, e, now);
  if (w->step->paths.n) warp_find_next(&p->warps, w);
  if (flags & (EFF_BAR_RELEASED | EFF_WARP_DONE | EFF_CTA_DONE))
    p->ports.cta_event(p->ports.ctx, w->cta_slot, flags, now);
  return true;
}

/* --- the cycle -------------------------------------------------------------------------------- */

void sub_core_settle(struct sub_core *p, uint64_t now)
{
  if (now <= p->slots_from) return;
  uint64_t slept = now - p->slots_from;
  p->ports.ledger->stats->slot[p->sleep_charge] += slept;
  for (unsigned i = 0; i < p->warps.n; i++) {
    struct warp_slot *w = &p->warps.slot[p->warps.order[i]];
    if (w->blocked_at + 1 == p->slots_from) w->blocked_n += slept;
  }
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
  p->wake_at = CYCLE_NEVER;
  holds_cycle(p, now);
  control_cycle(&p->depend);
  struct issue_pick pick = issue_cycle(&p->issue, &p->warps, &p->lsu, p->ports.mem->pool.n_free > 0,
                                       *p->ports.fp64_free_at, now);
  bool issued = pick.warp != NO_WARP;
  p->ports.ledger->stats->slot[issued ? SLOT_ISSUED : pick.charge]++;
  if (issued && !execute(p, pick.warp, now)) return false;
  bool fetched = fetch_cycle(&p->fetch, &p->warps, p->issue.last, now, &fetch_next);
  bool changed = depend_edge(&p->depend, &p->warps, now);
  p->sleep_charge = pick.charge;
  p->slots_from = now + 1;
  if (issued || fetched || changed)
    sub_core_wake(p, now + 1);
  else
    sub_core_wake(p, min3(pick.next, fetch_next, depend_next(&p->depend, now)));
  return true;
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
      fprintf(out, "counters busy 0x%02x, %u in flight", w->dep_busy, w->in_flight);
    fputc('\n', out);
  }
}
