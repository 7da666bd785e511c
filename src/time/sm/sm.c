#include "time/sm/sm.h"

#include "base/arith.h"
#include "base/bits.h"
#include "time/sm/copy_ports.h"

static void cta_event(void *ctx, unsigned cta_slot, uint32_t flags, uint64_t now);

/* Bank 0 is written for each launch, into a buffer of its slot; the other banks belong to the code. Scalar loads read
 * global memory. */
static uint64_t const_name(void *ctx, uint64_t line)
{
  enum { REGION = 60 /* neither code's nor data's */, SLOT_SHIFT = 36, BANK_SHIFT = 28 };
  const struct sm *m = ctx;
  unsigned bank = l1i_line_bank(line), slot = 0;
  uint64_t offset = l1i_line_offset(line);
  if (bank >= GRID_SCALAR_BANKS) return ((uint64_t)(bank - GRID_SCALAR_BANKS) << 32 | offset) / L1I_LINE;
  while (slot < GRID_SLOTS && !(m->grid[slot].source && bank - m->grid[slot].const_space < GRID_BANKS)) slot++;
  BUG_ON(slot == GRID_SLOTS);
  bank -= m->grid[slot].const_space;
  uint64_t of = bank ? m->grid[slot].code.place : (uint64_t)slot << SLOT_SHIFT;
  return ((uint64_t)1 << REGION | of | (uint64_t)bank << BANK_SHIFT | offset) / L1I_LINE;
}

/* A line that the L1 instruction and constant cache misses, and its answer. */
static void send_code_request(void *ctx, uint64_t name, uint64_t at)
{
  struct sm *m = ctx;
  sm_port_read_code(&m->mem.port, name, at);
}

static void code_filled(void *ctx, uint64_t name, uint64_t now)
{
  struct sm *m = ctx;
  l1i_fill(&m->l1i, name, now);
}

static void code_arrived(void *ctx, unsigned client, uint64_t line, uint64_t at)
{
  struct sm *m = ctx;
  if (!(line & L1I_CONST_LINE))
    sub_core_code_arrived(&m->sub_core[client], line, at);
  else if (client < m->n_sub_cores)
    sub_core_const_arrived(&m->sub_core[client], line, at);
  else
    mem_unit_const_arrived(&m->mem, line, at, m->cycle);
}

static void commit_granted(void *ctx, uint16_t id, uint64_t now)
{
  struct sm *m = ctx;
  tmem_commit(&m->tmem, id, now);
  if (m->tmem.next_at < m->tensor_at) m->tensor_at = m->tmem.next_at;
}

void sm_init(struct sm *m, struct arena *a, const struct params *p, unsigned id)
{
  m->params = p;
  m->id = id;
  m->period = params_clock_ps(p);
  m->n_sub_cores = p->sm_sub_cores;
  m->n_slots = p->sm_max_ctas;
  BUG_ON(p->sm_sub_cores > SM_MAX_SUB_CORES || p->sm_max_ctas > SM_MAX_CTAS);
  mem_unit_init(&m->mem, a, p, id);
  gmma_init(&m->gmma, a, p);
  m->gmma.due = &m->tensor_at;
  m->tensor_at = CYCLE_NEVER;
  tmem_init(&m->tmem, a, p, p->mem_pending_entries);
  m->tmem.ports = (struct tmem_ports){&m->mem, copy_ports_message_due};
  m->mem.tmem = (struct commit_port){commit_granted, m};
  m->ledger.stats = m->gmma.stats = m->tmem.stats = &m->stats;
  l1i_init(&m->l1i, a, p, (struct l1i_ports){const_name, send_code_request, code_arrived, m}, &m->stats);
  m->mem.code = (struct mem_code_port){code_filled, m};
  m->mem.stats = m->mem.port.stats = m->mem.access.stats = m->mem.copies.stats = &m->stats;
  m->mem.access.view = &m->view;
  m->mem.access.fault = &m->fault;
  const_cache_init(&m->mem.access.vl, a, p, p->const_vl_bytes, p->sm_sub_cores, &m->l1i, &m->stats);
  gmem_log_init(&m->log);
  m->grid = ARENA_ARRAY(a, struct sm_grid, GRID_SLOTS);
  m->done_latency = (unsigned)((params_request_ps(p) + m->period - 1) / m->period);
  QUEUE_INIT(&m->launches, a, struct cta_launch, 256);
  QUEUE_INIT(&m->done, a, struct cta_done, 256);
  QUEUE_INIT(&m->releases, a, struct cluster_msg, 256);
  for (unsigned i = 0; i < SM_MAX_SUB_CORES; i++) m->wake_at[i] = CYCLE_NEVER;
  for (unsigned i = 0; i < p->sm_sub_cores; i++) {
    struct sub_core *c = &m->sub_core[i];
    sub_core_init(c, a, p, i,
                  (struct sub_core_ports){.mem = &m->mem,
                                          .gmma = &m->gmma,
                                          .tmem = &m->tmem,
                                          .l1i = &m->l1i,
                                          .ledger = &m->ledger,
                                          .view = &m->view,
                                          .fault = &m->fault,
                                          .fp64_free_at = &m->fp64_free_at,
                                          .wake_at = &m->wake_at[i],
                                          .cta_event = cta_event,
                                          .ctx = m});
    m->mem.client[i] = (struct mem_client){.lsu = &c->lsu,
                                           .depend = &c->depend,
                                           .operands = &c->operands,
                                           .writeback = &c->writeback,
                                           .warps = &c->warps};
    m->mem.access.warps[i] = &c->warps;
    m->gmma.client[i] = (struct gmma_client){.depend = &c->depend, .warps = &c->warps};
  }
}

void sm_start(struct sm *m, struct gmem *image, bool control_bits)
{
  BUG_ON(m->resident || m->mem.port.outstanding);
  m->view = (struct gmem_view){.image = image, .log = &m->log};
  m->fault = (struct fault){0};
  m->carveout = UINT32_MAX;
  m->room_at = 0;
  l1i_start(&m->l1i);
  const_cache_start(&m->mem.access.vl);
  if (m->ledger.observers) observe_start(m->ledger.observers);
  for (unsigned i = 0; i < m->n_sub_cores; i++) sub_core_start(&m->sub_core[i], control_bits);
}

void sm_observe(struct sm *m, struct observer *o)
{
  BUG_ON(m->resident);
  observers_add(&m->observers, o);
  m->ledger.observers = m->mem.observers = m->mem.access.observers = m->gmma.observers = &m->observers;
  for (unsigned i = 0; i < m->n_sub_cores; i++) m->sub_core[i].observers = &m->observers;
}

void sm_open_grid(struct sm *m, unsigned slot, struct step_source *source, unsigned const_space, struct arena *a)
{
  struct sm_grid *g = &m->grid[slot];
  const struct code_view *code = &source->code;
  BUG_ON(slot >= GRID_SLOTS || g->source || source->lanes > LANES_MAX);
  *g = (struct sm_grid){.source = source,
                        .number = (uint8_t)slot,
                        .lanes = (uint8_t)source->lanes,
                        .all_lanes = bits_ones(source->lanes),
                        .in_order = source->in_order,
                        .code = *code,
                        .space = line_of_space(source->space),
                        .places = source->places,
                        .node = source->node,
                        .apart = source->apart,
                        .const_space = const_space % GRID_CONST_SPACES * GRID_BANKS,
                        .n_insts = code_count(code)};
  g->by_inst = ARENA_ARRAY(a, uint64_t, g->n_insts * WARP_STATE__N);
  g->issued = ARENA_ARRAY(a, uint64_t, g->n_insts);
  g->threads = ARENA_ARRAY(a, uint64_t, g->n_insts);
  g->sectors = ARENA_ARRAY(a, uint64_t, g->n_insts);
  g->excess = ARENA_ARRAY(a, uint64_t, g->n_insts);
  g->passes = ARENA_ARRAY(a, uint64_t, g->n_insts);
  g->conflicts = ARENA_ARRAY(a, uint64_t, g->n_insts);
}

bool sm_holds_grid(const struct sm *m, unsigned slot)
{
  const struct sm_grid *g = &m->grid[slot];
  return g->slots || mem_unit_serves(&m->mem, g);
}

void sm_close_grid(struct sm *m, unsigned slot)
{
  BUG_ON(sm_holds_grid(m, slot));
  m->grid[slot] = (struct sm_grid){0};
}

/* --- CTA slots -------------------------------------------------------------------------------- */

static void begin_active(struct sm *m)
{
  m->active_from = m->cycle;
  for (unsigned i = 0; i < m->n_sub_cores; i++) {
    m->sub_core[i].slots_from = m->cycle;
    m->sub_core[i].sleep_charge = SLOT_NO_WARP;
  }
}

/* The books of the busy stretch [active_from, until) are closed. */
static void end_active(struct sm *m, uint64_t until)
{
  uint64_t cycles = until - m->active_from;
  m->stats.active_cycles += cycles;
  m->stats.issue_slots += cycles * m->params->sm_sub_cores;
  for (unsigned i = 0; i < m->n_sub_cores; i++) {
    sub_core_settle(&m->sub_core[i], until);
    m->wake_at[i] = CYCLE_NEVER; /* an empty SM has no issue slots to account for */
  }
}

/* Warps go round the sub-cores, passing over those that hold more than others: with CTAs of a warp
 * count that is no multiple of the sub-cores a strict turn would run out of room. */
static unsigned freest_sub_core(const struct sm *m, unsigned from)
{
  unsigned n = m->params->sm_sub_cores, best = from % n;
  for (unsigned k = 0; k < n; k++) {
    unsigned i = (from + k) % n;
    if (m->sub_core[i].warps.n < m->sub_core[best].warps.n) best = i;
  }
  return best;
}

/* What shared memory leaves of the array is L1, empty when that changes. */
static void set_carveout(struct sm *m, uint32_t bytes)
{
  if (m->carveout == bytes) return;
  BUG_ON(m->resident || bytes > m->params->l1_bytes);
  m->carveout = bytes;
  l1_start(&m->mem.l1, m->params->l1_bytes - bytes);
}

/* The CTA in a slot of the SM, and the lowest free one of its step source. */
static void occupy(struct sm *m, struct cta_slot *slot, struct sm_grid *g, uint64_t cta)
{
  BUG_ON(g->slots == UINT64_MAX);
  slot->grid = g;
  slot->number = bits_first(~g->slots);
  slot->exiting = false;
  slot->cta = g->source->ops->cta_begin(g->source, cta, m->id, slot->number, m->id);
  g->slots |= (uint64_t)1 << slot->number;
  g->used = true;
}

static struct warp_slot *cta_warp(struct sm *m, struct cta_slot *s, unsigned w)
{
  return &m->sub_core[s->sub_core[w]].warps.slot[s->warp[w]];
}

/* Four neighbouring warps are a warpgroup, with the number of the first one's slot. */
static void name_groups(struct sm *m, struct cta_slot *s)
{
  for (unsigned w = 0; w < s->cta->n_warps; w++) {
    unsigned first = w / GMMA_WARPS * GMMA_WARPS;
    struct warp_slot *slot = cta_warp(m, s, w);
    slot->gmma.group = (uint8_t)(s->sub_core[first] * SUB_CORE_MAX_WARPS + s->warp[first]);
    slot->gmma.member = (uint8_t)(w % GMMA_WARPS);
  }
}

/* The launch has L2 read the kernel's code: this SM asks for one of the shares of the lines. */
static void prefetch_code(struct sm *m, const struct step_source *s, uint64_t share)
{
  uint64_t shares = s->n_ctas < m->params->gpu_sms ? s->n_ctas : m->params->gpu_sms, bytes = s->code_bytes;
  uint64_t first = s->entry_pc + s->code.place, at = m->cycle;
  if (bytes > m->params->launch_prefetch_bytes) bytes = m->params->launch_prefetch_bytes;
  if (share >= shares || !bytes || m->params->icache_perfect) return;
  for (uint64_t line = first / L1I_LINE + share; line * L1I_LINE < first + bytes; line += shares)
    sm_port_prefetch_code(&m->mem.port, line, at++);
}

static void tell_warp(struct sm *m, const struct cta_slot *s, unsigned w)
{
  const struct observed_warp x = {.grid = s->grid, .cta = s->cta, .number = w, .cta_slot = (uint8_t)(s - m->slot),
                                  .sub_core = s->sub_core[w], .warp = s->warp[w]};
  observe_warp_begin(&m->observers, &x, m->cycle);
}

static void launch(struct sm *m, struct cta_launch l)
{
  unsigned s = 0;
  while (s < m->n_slots && m->slot[s].cta) s++;
  BUG_ON(s == m->n_slots || !m->grid[l.grid].source);
  struct cta_slot *slot = &m->slot[s];
  set_carveout(m, l.carveout);
  occupy(m, slot, &m->grid[l.grid], l.cta);
  if (m->resident++ == 0) begin_active(m);
  m->stats.ctas++;
  m->stats.warps += slot->cta->n_warps;
  unsigned sc = 0;
  for (unsigned w = 0; w < slot->cta->n_warps; w++) {
    sc = freest_sub_core(m, sc);
    slot->sub_core[w] = (uint8_t)sc;
    slot->warp[w] = (uint8_t)sub_core_add_warp(&m->sub_core[sc], slot->grid, slot->cta->warp[w], s, m->cycle);
    if (m->ledger.observers) tell_warp(m, slot, w);
    sc = (sc + 1) % m->params->sm_sub_cores;
  }
  name_groups(m, slot);
}

static bool anything_in_flight(struct sm *m, struct cta_slot *s)
{
  for (unsigned w = 0; w < s->cta->n_warps; w++)
    if (cta_warp(m, s, w)->in_flight) return true;
  return false;
}

/* From then on others may take its place: its stores are on their way, unanswered. The dispatcher hears of CTAs in the
 * order in which they ended. */
static uint64_t makes_room_at(struct sm *m, struct cta_slot *s, uint64_t now)
{
  uint64_t stored = 0;
  for (unsigned w = 0; w < s->cta->n_warps; w++)
    if (cta_warp(m, s, w)->stored_at > stored) stored = cta_warp(m, s, w)->stored_at;
  if (stored) stored += m->params->launch_cta_store_cycles;
  if (stored > m->room_at) m->room_at = stored;
  if (now > m->room_at) m->room_at = now;
  return m->room_at;
}

static void retire(struct sm *m, struct cta_slot *s)
{
  uint64_t id = s->cta->id, now = m->cycle + 1, room = makes_room_at(m, s, now);
  for (unsigned w = 0; w < s->cta->n_warps; w++) {
    m->stats.warp_cycles += now - cta_warp(m, s, w)->books.born;
    sub_core_remove_warp(&m->sub_core[s->sub_core[w]], s->warp[w], now);
    if (m->ledger.observers) observe_warp_end(&m->observers, s->sub_core[w], s->warp[w], now);
  }
  s->grid->source->ops->cta_end(s->grid->source, s->cta);
  s->grid->slots &= ~((uint64_t)1 << s->number);
  s->cta = NULL;
  m->exiting--;
  if (--m->resident == 0) end_active(m, now);
  uint32_t grid = (uint32_t)(s->grid - m->grid);
  done_queue_push(&m->done, (struct cta_done){(room + m->done_latency) * m->period, id, grid});
}

static void release_barrier(struct sm *m, struct cta_slot *s, uint64_t now)
{
  for (unsigned w = 0; w < s->cta->n_warps; w++)
    if (s->cta->warp[w]->paths.n_ready)
      sub_core_release(&m->sub_core[s->sub_core[w]], s->warp[w], now,
                       now + m->params->lat[LAT_BAR]);
}

/* To the SM-to-SM network: the CTA has arrived at the barrier of its cluster, or exited. */
static void tell_cluster(struct sm *m, const struct cta_slot *s, enum cluster_kind kind, uint64_t now)
{
  sm_port_cluster_send(&m->mem.port, (struct cluster_msg){.cta = s->cta->id, .grid = (uint32_t)(s->grid - m->grid),
                                                      .kind = (uint8_t)kind}, 0, now);
}

/* It goes the way of the CTA's accesses to others, behind those that have issued: a CTA that ends after the barrier has
 * been reached by all that was sent to it before. No arrival waits for answers, which is what .release is for. */
static void owe_cluster(struct sm *m, struct cta_slot *s, enum cluster_kind kind)
{
  if (step_cluster_ctas(s->grid->source) == 1) return;
  m->untold += s->untold == 0;
  s->untold |= (uint8_t)(1u << kind);
}

static void untold_cycle(struct sm *m, uint64_t now)
{
  for (unsigned i = 0; i < m->n_slots; i++) {
    struct cta_slot *s = &m->slot[i];
    if (!s->untold || mem_unit_leaves_later(&m->mem, i)) continue;
    if (s->untold & 1u << CLUSTER_ARRIVE) tell_cluster(m, s, CLUSTER_ARRIVE, now);
    if (s->untold & 1u << CLUSTER_EXIT) tell_cluster(m, s, CLUSTER_EXIT, now);
    s->untold = 0;
    m->untold--;
  }
}

/* A step ended a warp or the CTA, or released a barrier. */
static void cta_event(void *ctx, unsigned cta_slot, uint32_t flags, uint64_t now)
{
  struct sm *m = ctx;
  struct cta_slot *s = &m->slot[cta_slot];
  if (flags & EFF_BAR_RELEASED) release_barrier(m, s, now);
  if (flags & EFF_CLUSTER_ARRIVED) owe_cluster(m, s, CLUSTER_ARRIVE);
  if (flags & EFF_CTA_DONE) {
    owe_cluster(m, s, CLUSTER_EXIT);
    s->exiting = true;
    m->exiting++;
  }
}

/* --- the cycle -------------------------------------------------------------------------------- */

/* L1 is invalidated for every grid, whatever runs beside it: a grid it depends on may have written through another SM
 * (PTX ISA, ld.ca: the driver invalidates L1 lines between dependent grids). That each start does it is a guess. */
static void begin_grid(struct sm *m, const struct step_source *s, uint64_t share)
{
  l1_invalidate(&m->mem.l1);
  prefetch_code(m, s, share);
}

static void cta_slots_cycle(struct sm *m)
{
  struct cta_launch *l;
  while ((l = launch_queue_front(&m->launches)) && l->arrive <= m->cycle * m->period) {
    struct cta_launch next = *l;
    launch_queue_pop(&m->launches);
    if (!next.announced)
      launch(m, next);
    else if (m->grid[next.grid].source)
      begin_grid(m, m->grid[next.grid].source, next.cta);
  }
}

static void release_cluster(struct sm *m, const struct cluster_msg *r)
{
  for (unsigned i = 0; i < m->n_slots; i++) {
    struct cta_slot *s = &m->slot[i];
    if (!s->cta || s->cta->id != r->cta || s->grid != &m->grid[r->grid]) continue;
    s->grid->source->ops->cluster_release(s->cta);
    release_barrier(m, s, m->cycle);
  }
}

/* Phases of clusters' barriers that end. */
static void clusters_cycle(struct sm *m)
{
  struct cluster_msg *r;
  while ((r = cluster_queue_front(&m->releases)) && r->arrive <= m->cycle * m->period) {
    release_cluster(m, r);
    cluster_queue_pop(&m->releases);
  }
}

static void retire_cycle(struct sm *m)
{
  for (unsigned s = 0; s < m->n_slots; s++)
    if (m->slot[s].cta && m->slot[s].exiting && !anything_in_flight(m, &m->slot[s]))
      retire(m, &m->slot[s]);
}

/* Products of warpgroups begin, commits of tensor memory are due. */
static bool tensor_cycle(struct sm *m, uint64_t now)
{
  if (m->gmma.next_at <= now) {
    gmma_cycle(&m->gmma, now);
    for (uint32_t r = m->gmma.wake; r; r &= r - 1) sub_core_wake(&m->sub_core[bits_first(r)], now + 1);
  }
  if (m->tmem.next_at <= now) tmem_cycle(&m->tmem, now);
  m->tensor_at = m->gmma.next_at < m->tmem.next_at ? m->gmma.next_at : m->tmem.next_at;
  return !m->fault.kind;
}

/* As the memory unit asks for it. */
static inline void wake_sub_cores(struct sm *m)
{
#pragma GCC unroll 4
  for (unsigned i = 0; i < SM_MAX_SUB_CORES; i++) m->wake_at[i] = earlier(m->wake_at[i], m->mem.wake[i]);
}

/* The loops over wake_at are unrolled and know no n_sub_cores: a sub-core that this SM does not have never wakes. */
static bool sm_cycle(struct sm *m)
{
  uint64_t now = m->cycle;
  m->view.now = now;
  if (m->launches.n) cta_slots_cycle(m);
  if (m->releases.n) clusters_cycle(m);
#pragma GCC unroll 4
  for (unsigned i = 0; i < SM_MAX_SUB_CORES; i++)
    if (m->wake_at[i] <= now && !sub_core_cycle(&m->sub_core[i], now)) return false;
  if (m->tensor_at <= now && !tensor_cycle(m, now)) return false;
  if (m->mem.next_at <= now) {
    mem_unit_cycle(&m->mem, now);
    if (m->fault.kind) return false;
    if (m->resident) wake_sub_cores(m);
  }
  if (m->untold) untold_cycle(m, now);
  if (m->exiting) retire_cycle(m);
  return true;
}

/* First cycle after the current one in which something can happen. */
static uint64_t next_cycle(const struct sm *m)
{
  uint64_t next = earlier(m->mem.next_at, m->tensor_at);
#pragma GCC unroll 4
  for (unsigned i = 0; i < SM_MAX_SUB_CORES; i++) next = earlier(next, m->wake_at[i]);
  if (m->launches.n) {
    picos at = m->launches.slot[m->launches.head].arrive;
    uint64_t cycle = (at + m->period - 1) / m->period;
    if (cycle < next) next = cycle;
  }
  if (m->releases.n) {
    uint64_t cycle = (m->releases.slot[m->releases.head].arrive + m->period - 1) / m->period;
    if (cycle < next) next = cycle;
  }
  return next > m->cycle ? next : m->cycle + 1;
}

picos sm_run(void *self, picos from, picos to)
{
  struct sm *m = self;
  uint64_t first = (from + m->period - 1) / m->period, end = (to + m->period - 1) / m->period;
  if (m->fault.kind) return TIME_NEVER;
  m->cycle = first;
  mem_unit_wake(&m->mem, first); /* replies may have come */
  while (m->cycle < end) {
    if (!sm_cycle(m)) return TIME_NEVER;
    m->cycle = next_cycle(m);
  }
  return m->cycle == CYCLE_NEVER ? TIME_NEVER : m->cycle * m->period;
}

static void count_part(struct cluster_load *load, unsigned sm, uint32_t bytes)
{
  unsigned i = 0;
  while (i < load->n && load->part[i].sm != sm) i++;
  if (i == load->n) load->part[load->n++] = (struct cluster_part){.sm = sm};
  load->part[i].bytes += bytes;
}

/* Multicasts come by the crossbar, to each SM as its own replies do; data of shared memory by the network. */
static void count_copy(struct cluster_load *load, struct step_warp *w, const struct inst *in, const struct mem_copy *c)
{
  load->streamed = true;
  load->crossbar = in->mem.copy == COPY_LOAD;
  for (uint32_t r = c->ctas; r; r &= r - 1) {
    int sm = w->ops->cluster_worker(w->cta, bits_first(r));
    if (sm >= 0) count_part(load, (unsigned)sm, c->bytes);
  }
}

bool sm_perform_cluster(struct sm *m, unsigned txn, struct cluster_load *load, struct fault *f)
{
  enum { RANK_SHIFT = 24 };
  struct txn *t = &m->mem.pool.t[txn];
  struct step_warp *w = m->sub_core[t->sub_core].warps.slot[t->warp].step;
  const struct mem_effect *e = &t->access->mem;
  const lane_mask lanes = t->far ? e->far : e->lanes;
  if (t->kind == TXN_COPY) count_copy(load, w, t->inst, &e->copy);
  else for (lane_mask l = lanes; l; l &= l - 1) {
    int sm = w->ops->cluster_worker(w->cta, (uint32_t)e->addr[bits_first(l)] >> RANK_SHIFT);
    if (sm >= 0) count_part(load, (unsigned)sm, e->bytes);
  }
  return w->ops->perform(w, &t->access->effect, lanes, &m->view, f);
}

bool sm_line_op(struct sm *m, const struct mem_req *r, struct line_op *o)
{
  struct txn *t = &m->mem.pool.t[r->txn];
  struct step_warp *w = m->sub_core[t->sub_core].warps.slot[t->warp].step;
  lane_mask lanes = mem_access_lanes(&t->access->mem, line_number(r->line), ALL_SECTORS);
  return w->ops->line_op && w->ops->line_op(w, &t->access->effect, lanes, o);
}

bool sm_perform(struct sm *m, const struct mem_req *r, picos now, struct gmem_view *direct,
                struct fault *f)
{
  struct txn *t = &m->mem.pool.t[r->txn];
  struct warp_slot *slot = &m->sub_core[t->sub_core].warps.slot[t->warp];
  struct step_warp *w = slot->step;
  if (t->gathered) return true;
  if (r->kind == REQ_WRITE || (r->kind == REQ_READ && t->kind != TXN_ELSEWHERE)) return true; /* its SM performs it */
  if (t->kind == TXN_COPY)
    return w->ops->copy_part(w, &t->access->effect, r->words, line_number(r->line) * LINE_BYTES, LINE_BYTES,
                             direct, f);
  if (r->kind == REQ_READ && direct->window) { /* from elsewhere */
    l1_land(&m->mem.l1, r->words, r->sectors, direct->window->bytes);
    return true;
  }
  if (r->kind == REQ_STRONG || r->kind == REQ_READ) {
    const lane_mask lanes = mem_access_lanes(&t->access->mem, line_number(r->line), ALL_SECTORS);
    return w->ops->perform(w, &t->access->effect, lanes, direct, f);
  }
  t->access->effect.clock = now / m->period;
  t->access->effect.time_ns = now / 1000;
  return w->ops->step(w, slot->path, &t->access->effect, f);
}

/* --- part ------------------------------------------------------------------------------------- */

uint64_t sm_progress(const void *self)
{
  const struct sm *m = self;
  return m->stats.warp_insts + m->mem.answered + m->stats.ctas;
}

bool sm_busy(const void *self)
{
  const struct sm *m = self;
  return m->resident || m->launches.n || m->mem.port.outstanding || m->mem.copies.n_jobs;
}

void sm_dump(const void *self, FILE *out)
{
  const struct sm *m = self;
  fprintf(out, "  SM %u: %u CTAs resident (%u exiting), %u requests unanswered\n", m->id,
          m->resident, m->exiting, m->mem.port.outstanding);
  for (unsigned i = 0; i < m->n_sub_cores; i++)
    sub_core_dump(&m->sub_core[i], m->cycle, out);
  mem_unit_dump(&m->mem, out);
}
