#include "time/sm/mem_unit.h"

#include "base/arith.h"
#include "base/bits.h"
#include "base/place.h"
#include "time/sm/copy_ports.h"

enum { CLUSTER_QUEUE_CAP = 2048, SM_MESSAGES = 128 /* of its CTAs */ };

void mem_unit_init(struct mem_unit *u, struct arena *a, const struct params *p, unsigned sm)
{
  u->params = p;
  u->n_clients = p->sm_sub_cores;
  BUG_ON(u->n_clients > MEM_UNIT_SUB_CORES);
  u->arbiter_interval = p->mem_arbiter_interval;
  u->idle_interval = p->mem_idle_interval < u->arbiter_interval ? p->mem_idle_interval : u->arbiter_interval;
  u->const_interval = p->mem_const_interval;
  u->write_cycles = p->mem_write_cycles;
  u->period = params_clock_ps(p);
  u->sm = sm;
  txn_pool_init(&u->pool, a, p->mem_pending_entries);
  u->access = (struct mem_access){.params = p, .sm = sm, .pool = &u->pool};
  l1_init(&u->l1, a, p);
  copy_engine_init(&u->copies, a, p, p->mem_pending_entries);
  u->copies.ports = copy_ports_of(u);
  wheel_init(&u->results);
  u->images = IMAGE_QUEUE_EMPTY;
  BUG_ON(u->pool.size > WHEEL_POOL);
  sm_port_init(&u->port, a, p, sm, CLUSTER_QUEUE_CAP);
  BUG_ON(u->pool.size + SM_MESSAGES > CLUSTER_QUEUE_CAP);
}

static struct warp_slot *warp_of(struct mem_unit *u, const struct txn *t)
{
  return &u->client[t->sub_core].warps->slot[t->warp];
}

static void wake(struct mem_unit *u, const struct txn *t, uint64_t at)
{
  if (at < u->wake[t->sub_core]) u->wake[t->sub_core] = at;
}

/* The issue stage has to look at the warp from cycle `at` on. */
static void tell(struct mem_unit *u, const struct txn *t, uint64_t at)
{
  warp_changed(u->client[t->sub_core].warps, t->warp);
  wake(u, t, at);
}

static void drop_at(struct mem_unit *u, const struct txn *t, unsigned sb, uint64_t now,
                    uint64_t visible)
{
  struct mem_client *c = &u->client[t->sub_core];
  if (sb == SB_NONE) return;
  depend_drop_at(c->depend, c->warps, now, visible, t->warp, sb);
  wake(u, t, visible - 1);
}

static struct observed observed(const struct txn *t)
{
  return (struct observed){.inst = t->inst, .seq = t->seq, .sub_core = t->sub_core, .warp = t->warp};
}

static void tell_stage(struct mem_unit *u, const struct txn *t, enum pipe_stage stage, uint64_t at)
{
  const struct observed x = observed(t);
  observe_stage(u->observers, &x, stage, at);
}

static void tell_done(struct mem_unit *u, const struct txn *t, uint64_t at)
{
  const struct observed x = observed(t);
  observe_done(u->observers, &x, at);
}

static void complete(struct mem_unit *, uint16_t id, uint64_t now);

/* Answer for one line. */
static void line_done(struct mem_unit *u, uint16_t id, uint64_t now)
{
  if (--u->pool.t[id].waiting == 0) complete(u, id, now);
}

/* The copy `t` of a group is done: what waited for it performs, counters of groups drop. */
static void group_copy_done(struct mem_unit *u, const struct txn *t, uint64_t now, uint64_t visible)
{
  struct async_groups *g = &u->client[t->sub_core].warps->copies[t->warp];
  uint16_t *at = &g->arrivals, id;
  unsigned sb;
  async_group_done(g, t);
  while ((id = async_group_arrival(&u->pool, &at, t)) != TXN_NONE) {
    if (!u->pool.t[id].unread) mem_access_late(&u->access, &u->pool.t[id]);
    if (u->pool.t[id].waiting) line_done(u, id, now);
  }
  while ((sb = async_group_dropped(g)) != SB_NONE) drop_at(u, t, sb, now, visible);
}

/* Fences need not wait for it any longer: those whose last one it was may end in any sub-core. */
static void leave_fences(struct mem_unit *u, struct txn *t, uint64_t now)
{
  t->fenced = false;
  if (!fences_leave(&u->access.fences, t->epoch)) return;
  for (unsigned i = 0; i < u->n_clients; i++) {
    struct warp_table *w = u->client[i].warps;
    if (!w->held) continue;
    if (now + 1 < w->hold_due) w->hold_due = now + 1;
    if (now + 1 < u->wake[i]) u->wake[i] = now + 1;
  }
}

/* The transaction leaves the unit. */
static void retire(struct mem_unit *u, uint16_t id, uint64_t now)
{
  struct txn *t = &u->pool.t[id];
  struct warp_slot *w = warp_of(u, t);
  if (t->fenced) leave_fences(u, t, now);
  if (w->step && w->hold != WS_SELECTED) wake(u, t, now + 1);
  if (!t->left) w->in_flight--;
  if (u->pool.n_free == 0) u->pool_refilled = true;
  t->async_group = TXN_NO_GROUP;
  txn_give(&u->pool, id);
}

/* The result is written from cycle `first` on; whoever waits for it may issue from `visible` on. */
__attribute__((cold)) static void tell_written(struct mem_unit *u, const struct txn *t, uint64_t first,
                                               uint64_t visible)
{
  const struct observed x = observed(t);
  if (first < visible) observe_stage(u->observers, &x, STAGE_WRITE, first);
  observe_done(u->observers, &x, visible);
  observe_written(u->observers, &x, visible);
  if (t->stages.holds) observe_sources_read(u->observers, &x, visible);
}

/* The result crosses the link to its sub-core and is written. */
static void send_back(struct mem_unit *u, uint16_t id, uint64_t now)
{
  struct txn *t = &u->pool.t[id];
  struct mem_client *c = &u->client[t->sub_core];
  uint64_t *link = &u->link_free_at[t->sub_core], start = now > *link ? now : *link;
  unsigned n = 0, bank = t->inst ? writeback_bank(c->writeback, t->inst, &n) : 0;
  *link = start + t->stages.back;
  uint64_t visible = *link + u->write_cycles; /* and the last register is written one cycle before */
  if (visible < now + 2) visible = now + 2;   /* no result: counters have changed in this cycle */
  unsigned step = n > 1 ? t->stages.back / n : 0;
  if (n > 1 && step == 0) step = 1; /* a link wider than registers: they are written one by one */
  uint64_t first = visible - 1 - (n > 1 ? (n - 1) * step : 0);
  if (first <= now) first = now + 1;
  depend_write_at(c->depend, c->warps, now, t->warp,
                  (struct depend_write){.first = first,
                                        .sb = t->write_sb,
                                        .bank = (uint8_t)bank,
                                        .n = (uint8_t)n,
                                        .step = (uint8_t)step});
  wake(u, t, first);
  if (t->stages.holds) drop_at(u, t, t->read_sb, now, visible);
  if (mem_access_comes_late(&u->access, t)) mem_access_late(&u->access, t);
  if (u->observers) tell_written(u, t, n ? first : visible, visible);
  if (t->async_group != TXN_NO_GROUP) group_copy_done(u, t, now, visible);
  retire(u, id, now);
}

/* Textures, and loads from surfaces, which take the same way. */
static bool is_image_load(const struct txn *t)
{
  return t->inst && t->inst->mem.image && t->inst->mem.op == MEM_LOAD;
}

/* Does anything come back to the warp? */
static bool has_result(const struct txn *t)
{
  return t->write_sb != SB_NONE || t->async_group != TXN_NO_GROUP || t->stages.holds ||
         (t->inst && t->inst->n_dst);
}

static void finish(struct mem_unit *u, struct txn *t);

/* The transaction's last answer is in: its result will be ready to return. */
static void complete(struct mem_unit *u, uint16_t id, uint64_t now)
{
  struct txn *t = &u->pool.t[id];
  if (t->kind == TXN_ELSEWHERE) {
    strong_note(&u->access.strong, t, -1);
    finish(u, t);
  }
  if (is_image_load(t)) {
    t->filtered = now + t->stages.pipe + t->extra;
    for (uint64_t at; (id = image_queue_result(&u->images, &u->pool, &at)) != TXN_NONE;)
      wheel_add(&u->results, now, (struct wheel_event){.id = id, .at = at});
    return;
  }
  if (!has_result(t)) {
    if (u->observers) tell_done(u, t, now + 1);
    retire(u, id, now);
  } else
    wheel_add(&u->results, now,
              (struct wheel_event){.id = id, .at = now + t->stages.pipe + t->extra});
}

/* Has a try_wait its answer? */
static bool tried(struct mem_unit *u, struct txn *t, uint64_t now)
{
  if (!t->tries) return true;
  if (!mem_access_late(&u->access, t)) return true; /* guest fault */
  if (t->access->effect.waits && now < t->issued + u->params->mem_try_wait_cycles) return false;
  t->tries = false;
  finish(u, t);
  return true;
}

static void results_cycle(struct mem_unit *u, uint64_t now)
{
  enum { TRY_AGAIN = 2 }; /* cycles */
  for (uint16_t i = wheel_take(&u->results, now), next; i != WHEEL_NIL; i = next) {
    struct wheel_event e = u->results.pool[i];
    next = e.next;
    wheel_release(&u->results, i);
    if (e.at <= now && !tried(u, &u->pool.t[e.id], now)) e.at = now + TRY_AGAIN;
    if (e.at > now)
      wheel_add(&u->results, now, e);
    else
      send_back(u, e.id, now);
  }
}

void mem_unit_line_done(struct mem_unit *u, uint16_t id, uint64_t now)
{
  line_done(u, id, now);
}

static void send(struct mem_unit *u, uint16_t id, enum req_kind kind, struct txn_line l, uint64_t now)
{
  sm_port_send(&u->port, &u->pool.t[id], kind, l, PLACE_OWN, now);
}

/* Images, and the copies of copy_ports.c, are performed by their SM, wherever their memory is: only their time is
 * there. */
static uint8_t home_in_time(const struct txn *t, uint64_t line)
{
  return t->inst->mem.image ? mem_access_home_in_time(t, line) : (uint8_t)PLACE_OWN;
}

/* Of earlier accesses of the SM to the line that are on their way, where the last one was sent. */
static uint8_t sent_before(const struct mem_unit *u, const struct txn *t, uint64_t line, uint8_t home)
{
  uint64_t last = 0;
  for (unsigned i = 0; i < u->pool.fresh; i++) {
    const struct txn *o = &u->pool.t[i];
    if ((o->kind != TXN_STRONG && o->kind != TXN_ELSEWHERE) || !o->line || !o->waiting) continue;
    if (o->issued >= t->issued || o->issued < last) continue;
    for (unsigned k = 0; k < o->n_lines; k++)
      if (o->line[k].line == line) home = o->line[k].home, last = o->issued;
  }
  return home;
}

/* Where to ask for the line: where its page is, or went those that are on their way to it. Without the right to what it
 * wants it waits as if the page were nowhere, and so do those behind it. */
static uint8_t way_to(struct mem_unit *u, const struct txn *t, struct txn_line *l)
{
  struct strong_lines *s = &u->access.strong;
  l->home = mem_access_home(t, l->line);
  if (mem_access_refused(t, l->line))
    l->home = PLACE_FAULTS;
  else if (!strong_same_way(s, l->line, l->home))
    l->home = sent_before(u, t, l->line, l->home);
  strong_sent(s, l->line, l->home);
  return l->home;
}

static void send_strong(struct mem_unit *u, struct txn *t, struct txn_line *l, uint64_t now)
{
  sm_port_send(&u->port, t, REQ_STRONG, *l, way_to(u, t, l), now);
}

void mem_unit_const_arrived(struct mem_unit *u, uint64_t line, uint64_t at, uint64_t now)
{
  const_cache_arrived(&u->access.vl, line, at);
  for (unsigned i = 0; i < u->pool.fresh; i++) {
    struct txn *t = &u->pool.t[i];
    if (!mem_access_const_arrived(t, line)) continue;
    t->extra = (uint16_t)(at - now);
    if (t->waiting) line_done(u, t->id, now); /* else it is still in its queue */
  }
}

bool mem_unit_leaves_later(struct mem_unit *u, unsigned cta_slot)
{
  for (uint32_t r = u->queued; r; r &= r - 1) {
    const struct lsu *l = u->client[bits_first(r)].lsu;
    for (unsigned i = 0; i < l->n; i++) {
      const struct txn *t = &u->pool.t[lsu_at(l, i)];
      if ((t->kind == TXN_CLUSTER || t->far || t->unread) && warp_of(u, t)->cta_slot == cta_slot) return true;
    }
  }
  return false;
}

/* It brings data, or, to load, nothing. */
static void access_cluster(struct mem_unit *u, struct txn *t, uint16_t id, uint64_t now)
{
  const struct mem_effect *m = &t->access->mem;
  unsigned all = bits_count(t->far ? m->far : m->lanes) * m->bytes, bytes = m->op == MEM_LOAD ? 0 : all;
  u->stats->cluster_bytes += all;
  t->waiting++;
  sm_port_cluster_send(&u->port, (struct cluster_msg){.txn = id, .kind = CLUSTER_ACCESS}, bytes, now);
}

static void book_sectors(struct mem_unit *u, const struct txn *t, unsigned n)
{
  u->stats->class_sectors[t->mem_class] += n;
  t->grid->sectors[code_number(&t->grid->code, t->inst)] += n;
}

static void book_load(struct mem_unit *u, const struct txn *t, const struct l1_access *r)
{
  u->stats->class_hits[t->mem_class] += count_sectors(r->hit) + count_sectors(r->merged);
  u->stats->l1_hit_sectors += count_sectors(r->hit);
  u->stats->l1_merge_sectors += count_sectors(r->merged);
  u->stats->l1_miss_sectors += count_sectors(r->missed | r->passed);
}

static void load_lines(struct mem_unit *u, struct txn *t, uint16_t id, uint64_t now)
{
  unsigned sectors = 0;
  for (unsigned i = 0; i < t->n_lines; i++) {
    struct txn_line l = t->line[i];
    struct l1_access r = l1_load(&u->l1, l.line, l.sectors, l.words, id);
    sectors += count_sectors(l.sectors);
    book_load(u, t, &r);
    if (r.hit != l.sectors) t->waiting++;
    if (r.missed)
      sm_port_send(&u->port, t, REQ_READ, (struct txn_line){.line = l.line, .sectors = r.missed},
                   home_in_time(t, l.line), now);
  }
  u->stats->l1_read_sectors += sectors;
  book_sectors(u, t, sectors);
}

/* A line of another node's memory: its lanes get what L1 has of it, or has asked for. */
static void load_elsewhere(struct mem_unit *u, struct txn *t, const struct txn_line *l, uint64_t now)
{
  const uint64_t name = l->line | LINE_ELSEWHERE;
  const struct l1_access r = l1_load(&u->l1, name, l->sectors, l->words, t->id);
  book_load(u, t, &r);
  if (r.hit) mem_access_elsewhere(&u->access, t, l->line, r.hit, l1_bytes(&u->l1, name));
  if (r.hit != l->sectors) t->waiting++;
  if (r.passed) sm_port_send(&u->port, t, REQ_STRONG, *l, l->home, now);
  if (r.missed)
    sm_port_send(&u->port, t, REQ_READ, (struct txn_line){.line = l->line, .sectors = r.missed, .words = r.miss},
                 l->home, now);
}

/* Where a page has moved since the access was sorted, its line is asked of whoever has it now; where that is this GPU's
 * memory, past L1. */
static void elsewhere_lines(struct mem_unit *u, struct txn *t, uint64_t now)
{
  unsigned sectors = 0;
  for (unsigned i = 0; i < t->n_lines; i++) {
    struct txn_line *l = &t->line[i];
    sectors += count_sectors(l->sectors);
    way_to(u, t, l);
    if (place_is_node(l->home)) {
      load_elsewhere(u, t, l, now);
      continue;
    }
    book_load(u, t, &(struct l1_access){.passed = l->sectors});
    t->waiting++;
    sm_port_send(&u->port, t, REQ_STRONG, *l, l->home, now);
  }
  u->stats->l1_read_sectors += sectors;
  book_sectors(u, t, sectors);
}

/* One request per line: each is performed at its slice, for its lanes. */
static void store_lines(struct mem_unit *u, struct txn *t, uint16_t id, uint64_t now)
{
  unsigned sectors = 0;
  for (unsigned i = 0; i < t->n_lines; i++) {
    sectors += count_sectors(t->line[i].sectors);
    l1_forget(&u->l1, t->line[i].line);
    l1_store(&u->l1, t->line[i].line, t->line[i].words);
    send(u, id, REQ_WRITE, t->line[i], now);
  }
  u->stats->l1_write_sectors += sectors;
  book_sectors(u, t, sectors);
  t->waiting = t->n_lines;
  if (has_result(t)) return;
  t->left = true;
  warp_of(u, t)->in_flight--;
  warp_of(u, t)->stored_at = t->issued;
}

/* Hazard emulation: the instruction reads its sources and does what others did at issue. */
static void read_sources(struct mem_unit *u, struct mem_client *c, struct txn *t, uint64_t now)
{
  struct warp_slot *w = warp_of(u, t);
  uint64_t address = now - u->params->mem_front_cycles, data = address;
  if (t->stages.data) data += t->stages.sources + t->stages.gap;
  const bool fenced = t->fenced;
  t->unread = false;
  w->unread--;
  tell(u, t, now + 1); /* a barrier may go on */
  unsigned step = t->stages.data ? mem_stages_register(u->params, t->grid->lanes) : 0;
  emulate_open(c->emulate, w, t, address, data, step, now);
  if (w->step->ops->execute(w->step, &t->access->effect, u->access.fault)) mem_access_sort(&u->access, t, now);
  if (fenced && !t->fenced) leave_fences(u, t, now);
  emulate_close(c->emulate, w, t, mem_access_waits(t));
}

static void finish(struct mem_unit *u, struct txn *t)
{
  struct mem_client *c = &u->client[t->sub_core];
  struct warp_slot *w = warp_of(u, t);
  if (c->emulate)
    emulate_finish(c->emulate, w, t);
  else
    w->step->ops->finish(w->step, &t->access->effect);
}

static void strong_lines(struct mem_unit *u, struct txn *t, uint64_t now)
{
  unsigned sectors = 0;
  for (unsigned i = 0; i < t->n_lines; i++) {
    sectors += count_sectors(t->line[i].sectors);
    send_strong(u, t, &t->line[i], now);
  }
  book_sectors(u, t, sectors);
  strong_atomic_sent(&u->access.strong, t);
  t->waiting = t->n_lines;
  if (!t->n_lines && !t->far) finish(u, t); /* no lane: nobody will answer */
}

__attribute__((cold)) static void tell_sources_read(struct mem_unit *u, const struct txn *t, uint64_t visible)
{
  const struct observed x = observed(t);
  observe_sources_read(u->observers, &x, visible);
}

/* The head of a queue enters the address stage when the ports to read its addresses are free. */
static void enter(struct mem_unit *u, struct mem_client *c, uint64_t now)
{
  if (lsu_enter_at(c->lsu, &u->pool) > now) return;
  struct txn *t = &u->pool.t[lsu_head(c->lsu)];
  unsigned window = t->stages.sources ? t->stages.sources : 1u;
  if (t->inst && !operand_read_queued(c->operands, t->inst, now, window)) {
    u->stats->queued_read_waits++;
    return;
  }
  if (t->unread) read_sources(u, c, t, now);
  uint64_t war = lsu_enter(c->lsu, &u->pool, now);
  if (u->observers) tell_stage(u, t, STAGE_ADDRESS, now);
  if (t->stages.holds) return;
  drop_at(u, t, t->read_sb, now, war);
  if (u->observers) tell_sources_read(u, t, war);
}

/* The head of a queue is for one of the arbiters. */
static void choose_arbiter(struct mem_unit *u, unsigned client)
{
  const struct txn *t = &u->pool.t[lsu_head(u->client[client].lsu)];
  const enum mem_space space = t->inst ? (enum mem_space)t->inst->mem.space : MEM_NONE;
  const bool constant = u->const_interval && (space == MEM_CONST || space == MEM_SCALAR);
  u->arbiter[constant].heads |= 1u << client;
  u->arbiter[!constant].heads &= ~(1u << client);
}

void mem_unit_queued(struct mem_unit *u, unsigned client, uint64_t at)
{
  u->queued |= 1u << client;
  if (u->client[client].lsu->n == 1) choose_arbiter(u, client);
  mem_unit_wake(u, at);
}

/* The next instruction has reached the head of its queue: a barrier behind it may issue. */
static void new_head(struct mem_unit *u, struct mem_client *c, unsigned client, uint64_t now)
{
  if (c->lsu->n == 0) {
    u->queued &= ~(1u << client);
    for (unsigned a = 0; a < ARBITER__N; a++) u->arbiter[a].heads &= ~(1u << client);
    return;
  }
  choose_arbiter(u, client);
  const struct txn *t = &u->pool.t[lsu_head(c->lsu)];
  if (--warp_of(u, t)->queued == 0) tell(u, t, now + 1);
}

/* Cycles until the next grant. */
static unsigned busy_for(const struct mem_unit *u, const struct txn *t)
{
  const unsigned least = t->idle ? u->idle_interval : u->arbiter_interval;
  return t->busy > least ? t->busy : least;
}

static void hold_arbiter(struct mem_unit *u, struct mem_arbiter *a, const struct txn *t, uint64_t now)
{
  const bool constants = a == &u->arbiter[ARBITER_CONSTANTS];
  const unsigned busy = constants ? u->const_interval : busy_for(u, t);
  a->free_at = now + busy;
  if (!constants) u->stats->mem_busy += busy;
}

static void grant(struct mem_unit *u, struct mem_arbiter *a, struct mem_client *c, uint64_t now)
{
  uint16_t id = lsu_head(c->lsu);
  struct txn *t = &u->pool.t[id];
  if (!lsu_can_accept(c->lsu)) wake(u, t, now + 1);
  lsu_pop(c->lsu, now);
  c->strong_wait.looked = false;
  if (u->observers) tell_stage(u, t, STAGE_MEMORY, now);
  new_head(u, c, t->sub_core, now);
  hold_arbiter(u, a, t, now);
  t->waiting = 0;
  t->left = false;
  if (is_image_load(t)) image_queue_granted(&u->images, &u->pool, id);
  if (t->kind == TXN_GLOBAL && t->op == MEM_STORE)
    store_lines(u, t, id, now);
  else if (t->kind == TXN_GLOBAL)
    load_lines(u, t, id, now);
  else if (t->kind == TXN_STRONG)
    strong_lines(u, t, now);
  else if (t->kind == TXN_ELSEWHERE)
    elsewhere_lines(u, t, now);
  if (t->kind == TXN_CLUSTER || t->far)
    access_cluster(u, t, id, now);
  else if (t->kind == TXN_COPY) {
    t->waiting = 1;
    if (is_commit(t))
      u->tmem.granted(u->tmem.ctx, id, now);
    else if (asks_for_work(t))
      send(u, id, REQ_WORK, (struct txn_line){0}, now);
    else
      copy_engine_take(&u->copies, id, t->inst, t->access->mem.copy.far, now);
  } else if (t->kind == TXN_SERVICE) {
    t->waiting = 1;
    send(u, id, REQ_SERVICE, (struct txn_line){0}, now);
  }
  if (t->after_copies || t->lanes_away) t->waiting = 1;
  if (t->kind != TXN_STRONG && t->kind != TXN_ELSEWHERE) txn_return_lines(&u->pool, t);
  if (t->waiting == 0) complete(u, id, now);
}

/* A service sees what was issued before it, as kernels do that it launches: it goes out like a flag behind a fence. */
static bool service_may_go(struct mem_unit *u, const struct txn *t)
{
  return t->kind != TXN_SERVICE || fences_over(&u->access.fences, warp_of(u, t)->fence);
}

/* Can the head of this queue be taken now? It needs room for all its lines. */
static bool can_grant(struct mem_unit *u, struct mem_client *c, uint64_t now)
{
  if (lsu_ready_at(c->lsu) > now) return false;
  const struct txn *t = &u->pool.t[lsu_head(c->lsu)];
  if (t->kind == TXN_SHARED || t->kind == TXN_OTHER || t->kind == TXN_CONST || t->kind == TXN_CLUSTER) return true;
  if (asks_for_work(t)) return sm_port_has_room(&u->port, 1, now);
  if (t->kind == TXN_COPY) return is_commit(t) || copy_engine_has_room(&u->copies);
  if (t->kind == TXN_STRONG && strong_load_waits(&u->access.strong, t, &c->strong_wait)) return false;
  unsigned lines = t->n_lines ? t->n_lines : 1;
  return l1_can_miss(&u->l1, lines) && sm_port_has_room(&u->port, lines, now) && service_may_go(u, t);
}

struct fill_ctx {
  struct mem_unit *u;
  uint64_t line; /* by its name in messages */
  uint64_t now;
};

static void filled(void *ctx, uint32_t id)
{
  struct fill_ctx *f = ctx;
  line_done(f->u, (uint16_t)id, f->now);
}

static void filled_elsewhere(void *ctx, uint32_t id, unsigned sectors, const uint8_t *bytes, bool whole)
{
  struct fill_ctx *f = ctx;
  mem_access_elsewhere(&f->u->access, &f->u->pool.t[id], f->line, sectors, bytes);
  if (whole) line_done(f->u, (uint16_t)id, f->now);
}

static void fill(struct mem_unit *u, const struct mem_reply *r, uint64_t now)
{
  struct fill_ctx f = {.u = u, .line = r->line, .now = now};
  if (u->pool.t[r->txn].kind == TXN_ELSEWHERE)
    l1_fill_elsewhere(&u->l1, r->line | LINE_ELSEWHERE, r->sectors, filled_elsewhere, &f);
  else
    l1_fill(&u->l1, r->line, r->sectors, filled, &f);
}

/* The last answer, of a slice or, when some lanes went to other CTAs, of the network, has everything. Until then loads
 * of its lines pass L1; what others have brought in the meantime may be from before what it wrote. */
static void strong_answer(struct mem_unit *u, struct txn *t)
{
  if (t->waiting > 1) return;
  for (unsigned i = 0; mem_op_writes(t->op) && i < t->n_lines; i++) l1_forget(&u->l1, t->line[i].line);
  strong_note(&u->access.strong, t, -1);
  strong_atomic_answered(&u->access.strong, t);
  if (!t->gathered || t->far) finish(u, t);
}

static void answer(struct mem_unit *u, struct mem_reply r, uint64_t now)
{
  u->port.outstanding--;
  u->answered++;
  if (r.kind == REQ_PREFETCH) return;
  if (r.kind == REQ_CODE) {
    u->code.filled(u->code.ctx, r.line, now);
    return;
  }
  if (r.kind == REQ_WORK) {
    copy_ports_message_due(u, r.txn, now);
    return;
  }
  if (u->pool.t[r.txn].kind == TXN_COPY) { /* whoever asked waits for what it asked for: the number is still its own */
    copy_engine_answer(&u->copies, r.txn, r.sectors, now);
    return;
  }
  if (r.kind == REQ_READ) {
    fill(u, &r, now);
    return;
  }
  struct txn *t = &u->pool.t[r.txn];
  t->grid->last_answer = now * u->period;
  if (r.far && mem_op_writes(t->op)) u->access.fences.wrote_far = true;
  if (r.kind == REQ_STRONG && t->kind == TXN_STRONG) strong_answer(u, t);
  if (r.kind == REQ_SERVICE) {
    warp_hold_until(u->client[t->sub_core].warps, t->warp, now + 1);
    wake(u, t, now + 1);
  }
  line_done(u, (uint16_t)r.txn, now);
}

/* Its page has come: the line is asked for again, wherever it is now. It counts once. */
static void send_again(struct mem_unit *u, const struct mem_reply *r, uint64_t now)
{
  struct txn *t = &u->pool.t[r->txn];
  u->port.outstanding--;
  u->answered++;
  for (unsigned i = 0; i < t->n_lines; i++) {
    if (t->line[i].line != r->line) continue;
    u->stats->sent_sectors[mem_req_op(REQ_STRONG, t->op)] -= count_sectors(t->line[i].sectors);
    send_strong(u, t, &t->line[i], now);
  }
}

/* It waits as long as the port is full: SM_AGAIN_ROOM messages of grants fit behind it. */
static bool again_waits(const struct mem_unit *u, const struct mem_reply *r)
{
  enum { SM_AGAIN_ROOM = 1024 };
  return r->kind == REQ_AGAIN && u->port.out.n + u->port.pages.n + SM_AGAIN_ROOM > u->port.out.cap;
}

static void replies_cycle(struct mem_unit *u, uint64_t now)
{
  struct sm_port *p = &u->port;
  struct mem_reply *r;
  while (p->pages.answers.n && page_wait_answer(&p->pages, now * u->period, &p->out, u->stats)) u->answered++;
  while ((r = reply_queue_front(&p->in)) && r->arrive <= now * u->period && !again_waits(u, r)) {
    if (r->kind == REQ_AGAIN) send_again(u, r, now);
    else answer(u, *r, now);
    reply_queue_pop(&p->in);
  }
  for (struct cluster_msg *m; (m = cluster_queue_front(&p->cluster_in)) && m->arrive <= now * u->period;) {
    struct txn *t = &u->pool.t[m->txn];
    u->answered++;
    if (is_message(t)) {
      copy_ports_done(u, t->id, now);
    } else if (t->kind == TXN_COPY) {
      copy_engine_delivered(&u->copies, t->id, now);
    } else {
      if (t->kind == TXN_STRONG) strong_answer(u, t);
      else finish(u, t);
      line_done(u, t->id, now);
    }
    cluster_queue_pop(&p->cluster_in);
  }
}

static void arbiter_cycle(struct mem_unit *u, struct mem_arbiter *a, uint64_t now)
{
  if (now < a->free_at || !a->heads) return;
  for (unsigned k = 0, i = a->next; k < u->n_clients; k++) {
    struct mem_client *c = &u->client[i];
    bool here = a->heads >> i & 1;
    if (++i == u->n_clients) i = 0;
    if (!here || !can_grant(u, c, now)) continue;
    grant(u, a, c, now);
    a->next = i;
    return;
  }
}

/* First cycle after `now` with something to do, when nothing new comes. */
static uint64_t next_event(const struct mem_unit *u, uint64_t now)
{
  uint64_t next = CYCLE_NEVER, enters = wheel_next(&u->results, now);
  for (uint32_t m = u->queued; m; m &= m - 1) {
    unsigned i = bits_first(m);
    const uint64_t free_at = u->arbiter[u->arbiter[ARBITER_CONSTANTS].heads >> i & 1].free_at;
    uint64_t at = later(lsu_ready_at(u->client[i].lsu), free_at), in = lsu_enter_at(u->client[i].lsu, &u->pool);
    if (at < next) next = at;
    if (in < enters) enters = in;
  }
  if (enters < next) next = enters;
  if (u->copies.next_at < next) next = u->copies.next_at;
  if (u->port.in.n) {
    uint64_t at = (u->port.in.slot[u->port.in.head].arrive + u->period - 1) / u->period;
    if (at < next) next = at;
  }
  if (u->port.cluster_in.n) {
    uint64_t at = (u->port.cluster_in.slot[u->port.cluster_in.head].arrive + u->period - 1) / u->period;
    if (at < next) next = at;
  }
  if (u->port.pages.answers.n) {
    uint64_t at = (page_queue_front((struct page_queue *)&u->port.pages.answers)->arrive + u->period - 1) / u->period;
    if (at < next) next = at;
  }
  return next == CYCLE_NEVER || next > now ? next : now + 1;
}

void mem_unit_cycle(struct mem_unit *u, uint64_t now)
{
  for (unsigned i = 0; i < MEM_UNIT_SUB_CORES; i++) u->wake[i] = CYCLE_NEVER;
  u->pool_refilled = false;
  replies_cycle(u, now);
  results_cycle(u, now);
  for (unsigned i = 0; i < ARBITER__N; i++) arbiter_cycle(u, &u->arbiter[i], now);
  if (u->copies.next_at <= now) copy_engine_cycle(&u->copies, now);
  for (uint32_t m = u->queued; m; m &= m - 1) enter(u, &u->client[bits_first(m)], now);
  /* Any sub-core may have been waiting for a transaction. */
  for (unsigned i = 0; u->pool_refilled && i < u->n_clients; i++) u->wake[i] = now + 1;
  u->next_at = next_event(u, now);
}

bool mem_unit_serves(const struct mem_unit *u, const struct sm_grid *g)
{
  for (unsigned i = 0; i < u->pool.fresh; i++)
    if (u->pool.t[i].waiting && u->pool.t[i].grid == g) return true;
  return false;
}

void mem_unit_dump(const struct mem_unit *u, FILE *out)
{
  for (unsigned i = 0; i < u->pool.fresh; i++) {
    const struct txn *t = &u->pool.t[i];
    if (!t->waiting || t->kind == TXN_COPY) continue; /* free, or nothing sent; the copy engine says more */
    fprintf(out, "    memory instruction of warp slot %u.%u", t->sub_core, t->warp);
    if (t->inst) fprintf(out, " at pc 0x%llx", (unsigned long long)t->inst->pc);
    fprintf(out, ", issued in cycle %llu: %u of %u lines unanswered\n",
            (unsigned long long)t->issued, t->waiting, t->n_lines);
  }
  copy_engine_dump(&u->copies, out);
}
