#include "time/sm/mem_unit.h"

#include "base/bits.h"

enum { REQ_QUEUE_CAP = 4096, REPLY_QUEUE_CAP = 8192 };

void mem_unit_init(struct mem_unit *u, struct arena *a, const struct params *p, unsigned sm)
{
  u->n_clients = p->sm_sub_cores;
  BUG_ON(u->n_clients > MEM_UNIT_SUB_CORES);
  u->arbiter_interval = p->mem_arbiter_interval;
  u->request_cycles = p->noc_request_latency;
  u->request_bytes = p->noc_sm_request_bytes;
  u->front_cycles = p->mem_grant_latency - 1;
  u->period = params_clock_ps(p);
  u->sm = sm;
  txn_pool_init(&u->pool, a, p->mem_pending_entries);
  l1_init(&u->l1, a, p);
  QUEUE_INIT(&u->out, a, struct mem_req, REQ_QUEUE_CAP);
  QUEUE_INIT(&u->in, a, struct mem_reply, REPLY_QUEUE_CAP);
}

static unsigned strong_hash(uint64_t line)
{
  return (unsigned)((line ^ line >> 8 ^ line >> 16) % STRONG_FILTER);
}

bool mem_unit_strong_pending(const struct mem_unit *u, const struct txn *t)
{
  if (!u->n_strong) return false;
  for (unsigned i = 0; i < t->n_lines; i++)
    if (u->strong[strong_hash(t->line[i].line)]) return true;
  return false;
}

static void note_strong(struct mem_unit *u, const struct txn *t, int delta)
{
  for (unsigned i = 0; i < t->n_lines; i++) {
    uint16_t *n = &u->strong[strong_hash(t->line[i].line)];
    *n = (uint16_t)(*n + delta);
  }
  u->n_strong += (uint32_t)(delta * t->n_lines);
}

void mem_unit_note_strong(struct mem_unit *u, const struct txn *t)
{
  note_strong(u, t, 1);
}

static struct warp_slot *warp_of(struct mem_unit *u, const struct txn *t)
{
  return &u->client[t->sub_core].warps->slot[t->warp];
}

static void drop_at(struct mem_unit *u, const struct txn *t, unsigned sb, uint64_t now,
                    uint64_t visible)
{
  struct mem_client *c = &u->client[t->sub_core];
  depend_drop_at(c->depend, c->warps, now, visible, t->warp, sb);
}

/* LDGDEPBAR counters drop in order, when all LDGSTS of their group and the groups before are done.
 * */
static void ldgsts_done(struct mem_unit *u, const struct txn *t, uint64_t now)
{
  struct ldgsts *g = &warp_of(u, t)->ldgsts;
  BUG_ON(g->outstanding[t->ldgsts_group] == 0);
  g->outstanding[t->ldgsts_group]--;
  while (g->oldest != g->open && g->outstanding[g->oldest] == 0) {
    drop_at(u, t, g->sb[g->oldest], now, now + 2);
    g->oldest = (uint8_t)((g->oldest + 1) % LDGSTS_GROUPS);
  }
}

/* The transaction's last answer is in: its result is readable from cycle `visible` on. */
static void complete(struct mem_unit *u, uint16_t id, uint64_t now, uint64_t visible)
{
  struct txn *t = &u->pool.t[id];
  struct warp_slot *w = warp_of(u, t);
  if (visible < now + 2) visible = now + 2;
  drop_at(u, t, t->write_sb, now, visible);
  struct hazard *h = u->client[t->sub_core].hazard;
  if (h && t->inst) hazard_written(h, t->warp, t->inst, t->hazard_seq, visible);
  if (t->ldgsts_group != 0xff) ldgsts_done(u, t, now);
  if (t->store) w->stores_out--;
  w->in_flight--;
  if (u->pool.n_free == 0) u->pool_refilled = true;
  txn_give(&u->pool, id);
}

static void send(struct mem_unit *u, uint16_t id, enum req_kind kind, struct txn_line l,
                 uint64_t now)
{
  unsigned payload = kind == REQ_READ ? 0 : bits_count(l.sectors) * SECTOR_BYTES;
  uint64_t at = now > u->port_free_at ? now : u->port_free_at;
  u->port_free_at = at + 1 + payload / u->request_bytes;
  req_queue_push(&u->out, (struct mem_req){
                              .arrive = (at + u->request_cycles) * u->period,
                              .line = l.line,
                              .txn = id,
                              .sm = (uint16_t)u->sm,
                              .kind = (uint8_t)kind,
                              .sectors = l.sectors,
                              .op = u->pool.t[id].mem.op,
                          });
  u->outstanding++;
}

static void load_lines(struct mem_unit *u, struct txn *t, uint16_t id, uint64_t now)
{
  for (unsigned i = 0; i < t->n_lines; i++) {
    struct txn_line l = t->line[i];
    struct l1_access r = l1_load(&u->l1, l.line, l.sectors, id);
    u->stats->l1_read_sectors += bits_count(l.sectors);
    u->stats->l1_hit_sectors += bits_count(r.hit);
    u->stats->l1_merge_sectors += bits_count(r.merged);
    u->stats->l1_miss_sectors += bits_count(r.missed);
    if (r.hit != l.sectors) t->waiting++;
    if (r.missed) send(u, id, REQ_READ, (struct txn_line){l.line, r.missed}, now);
  }
}

/* One request per line: each is performed at its slice, for its lanes. */
static void strong_lines(struct mem_unit *u, struct txn *t, uint16_t id, uint64_t now)
{
  struct step_warp *w = warp_of(u, t)->step;
  for (unsigned i = 0; i < t->n_lines; i++) send(u, id, REQ_STRONG, t->line[i], now);
  t->waiting = t->n_lines;
  if (!t->n_lines) w->ops->finish(w, &t->effect); /* no lane: nobody will answer */
}

static void store_lines(struct mem_unit *u, struct txn *t, uint16_t id, uint64_t now)
{
  for (unsigned i = 0; i < t->n_lines; i++) {
    u->stats->l1_write_sectors += bits_count(t->line[i].sectors);
    send(u, id, REQ_WRITE, t->line[i], now);
  }
  t->waiting = t->n_lines;
}

/* Sources are read inside the local unit, when address generation takes the instruction: later than
 * unloaded by what the instructions before it cost there, whatever the arbiter does after it. */
void mem_unit_new_head(struct mem_unit *u, unsigned client, uint64_t now)
{
  struct mem_client *c = &u->client[client];
  if (c->lsu->n == 0) return;
  const struct txn *t = &u->pool.t[lsu_head(c->lsu)];
  uint64_t late = lsu_ready_at(c->lsu, &u->pool) - (t->issued + u->front_cycles);
  uint64_t war = t->issued + t->war + late;
  if (war < now + 2) war = now + 2;
  drop_at(u, t, t->read_sb, now, war);
  if (c->hazard && t->inst) hazard_sources_read(c->hazard, t->warp, t->inst, t->hazard_seq, war);
}

static void grant(struct mem_unit *u, struct mem_client *c, uint64_t now)
{
  uint16_t id = lsu_head(c->lsu);
  struct txn *t = &u->pool.t[id];
  uint64_t late = now - (t->issued + u->front_cycles) + t->extra;
  lsu_pop(c->lsu, now);
  u->free_at = now + (t->busy > u->arbiter_interval ? t->busy : u->arbiter_interval);
  t->waiting = 0;
  mem_unit_new_head(u, t->sub_core, now);
  if (t->kind == TXN_GLOBAL && t->mem.op == MEM_STORE)
    store_lines(u, t, id, now);
  else if (t->kind == TXN_GLOBAL)
    load_lines(u, t, id, now);
  else if (t->kind == TXN_STRONG)
    strong_lines(u, t, id, now);
  else if (t->kind == TXN_SERVICE) {
    t->waiting = 1;
    send(u, id, REQ_SERVICE, (struct txn_line){0, 0}, now);
  }
  if (t->waiting == 0) complete(u, id, now, t->issued + t->raw + late);
}

/* Can the head of this queue be taken now? It needs room for all its lines. */
static bool can_grant(const struct mem_unit *u, const struct mem_client *c, uint64_t now)
{
  if (lsu_ready_at(c->lsu, &u->pool) > now) return false;
  const struct txn *t = &u->pool.t[lsu_head(c->lsu)];
  if (t->kind == TXN_SHARED || t->kind == TXN_OTHER || t->kind == TXN_CONST) return true;
  unsigned lines = t->n_lines ? t->n_lines : 1;
  return l1_can_miss(&u->l1, lines) && u->out.n + lines <= u->out.cap &&
         u->outstanding + lines <= u->in.cap;
}

/* Answer for one line: the rest of the unloaded latency follows the grant. */
static void line_done(void *ctx, uint32_t id)
{
  struct mem_unit *u = ctx;
  u->pool.t[id].waiting--;
}

static void wake_if_done(struct mem_unit *u, uint16_t id, uint64_t now, unsigned *wake)
{
  struct txn *t = &u->pool.t[id];
  if (t->waiting) return;
  *wake |= 1u << t->sub_core;
  complete(u, id, now, now + t->raw - u->front_cycles + t->extra);
}

struct fill_ctx {
  struct mem_unit *u;
  uint64_t now;
  unsigned wake;
};

static void filled(void *ctx, uint32_t id)
{
  struct fill_ctx *f = ctx;
  line_done(f->u, id);
  wake_if_done(f->u, (uint16_t)id, f->now, &f->wake);
}

static void answer(struct mem_unit *u, struct mem_reply r, uint64_t now, unsigned *wake)
{
  u->outstanding--;
  u->answered++;
  if (r.kind == REQ_READ) {
    struct fill_ctx f = {.u = u, .now = now};
    l1_fill(&u->l1, r.line, r.sectors, filled, &f);
    *wake |= f.wake;
    return;
  }
  struct txn *t = &u->pool.t[r.txn];
  t->waiting--;
  if (r.kind == REQ_STRONG && t->waiting == 0) {
    note_strong(u, t, -1);
    struct warp_slot *w = warp_of(u, t);
    w->step->ops->finish(w->step, &t->effect);
  }
  if (r.kind == REQ_SERVICE) warp_of(u, t)->hold_until = now + 1;
  wake_if_done(u, (uint16_t)r.txn, now, wake);
}

static unsigned replies_and_grant(struct mem_unit *u, uint64_t now)
{
  unsigned wake = 0;
  struct mem_reply *r;
  while ((r = reply_queue_front(&u->in)) && r->arrive <= now * u->period) {
    answer(u, *r, now, &wake);
    reply_queue_pop(&u->in);
  }
  if (now < u->free_at) return wake;
  for (unsigned k = 0; k < u->n_clients; k++) {
    unsigned i = (u->next_client + k) % u->n_clients;
    if (!can_grant(u, &u->client[i], now)) continue;
    grant(u, &u->client[i], now);
    u->next_client = (i + 1) % u->n_clients;
    return wake | 1u << i;
  }
  return wake;
}

unsigned mem_unit_cycle(struct mem_unit *u, uint64_t now)
{
  u->pool_refilled = false;
  unsigned wake = replies_and_grant(u, now);
  /* Any sub-core may have been waiting for a transaction. */
  return u->pool_refilled ? (1u << u->n_clients) - 1 : wake;
}

uint64_t mem_unit_next(const struct mem_unit *u, uint64_t now)
{
  uint64_t next = CYCLE_NEVER;
  for (unsigned i = 0; i < u->n_clients; i++) {
    uint64_t at = lsu_ready_at(u->client[i].lsu, &u->pool);
    if (at < next) next = at;
  }
  if (next != CYCLE_NEVER && next < u->free_at) next = u->free_at;
  if (u->in.n) {
    uint64_t at = (u->in.slot[u->in.head].arrive + u->period - 1) / u->period;
    if (at < next) next = at;
  }
  return next == CYCLE_NEVER || next > now ? next : now + 1;
}
