#include "time/mem/l2_slice.h"

#include <limits.h>

#include "base/arith.h"
#include "base/bits.h"
#include "base/bug.h"
#include "time/mem/l2_map.h"

enum { WAITERS_PER_MISS = 8 };

/* Requests of the other partition on their way in a slice: as many lines as its own misses, a message
 * for each sector at most. */
static unsigned peer_lines(const struct params *p)
{
  return p->l2_partitions > 1 ? p->l2_mshr_entries : 0;
}

static struct l2_misses_room room_of(const struct params *p)
{
  return (struct l2_misses_room){p->l2_mshr_entries, p->l2_mshr_entries * WAITERS_PER_MISS, peer_lines(p),
                                 peer_lines(p) * SECTORS_PER_LINE};
}

unsigned l2_slice_max_reads(const struct params *p)
{
  return (p->l2_mshr_entries + peer_lines(p)) * SECTORS_PER_LINE;
}

/* Load-to-use latencies are whole round trips; an L1 hit and both ways of the
 * interconnect are spent elsewhere. */
static uint32_t cycles_inside(const struct params *p)
{
  uint32_t elsewhere =
      params_l1_hit_cycles(p) + p->noc_request_latency + p->noc_reply_latency;
  BUG_ON(p->l2_latency < elsewhere); /* params_check */
  return p->l2_latency - elsewhere;
}

/* What is left of l2.far_latency behind the answer of the other partition. */
static uint32_t far_cycles_inside(const struct params *p)
{
  if (p->l2_partitions == 1) return 0;
  return p->l2_far_latency - params_l1_hit_cycles(p) - 3 * p->noc_request_latency -
         p->noc_reply_latency;
}

static unsigned sets_of_slice(const struct params *p)
{
  return p->l2_bytes / (LINE_BYTES * p->l2_ways * p->l2_slices);
}

/* Lines that fill the sets in order; 0: as l2.set_rounds_x2. */
static uint32_t set_run(const struct params *p)
{
  uint32_t run = sets_of_slice(p) * p->l2_set_rounds_x2 / 2;
  return p->l2_set_rounds_x2 && !run ? 1 : run;
}

static uint32_t power_of_two(uint32_t least)
{
  uint32_t n = 1;
  while (n < least) n *= 2;
  return n;
}

/* Of a port of the slice's array. */
static uint64_t femtos_per_byte(const struct params *p)
{
  if (p->ideal_l2_bandwidth) return 0;
  return params_l2_clock_ps(p) * 1000 * p->l2_slices / p->l2_bytes_per_cycle;
}

/* Kinds of requests that find what they ask for. */
static unsigned always_hit(const struct params *p)
{
  if (p->l2_perfect) return UINT_MAX;
  return p->l2_code_kept ? 1u << REQ_CODE | 1u << REQ_PREFETCH : 0;
}

void l2_slice_init(struct l2_slice *s, struct arena *a, const struct params *p, unsigned id,
                   unsigned index, struct l2_ports ports)
{
  picos cycle = params_l2_clock_ps(p);
  *s = (struct l2_slice){
      .params = p,
      .ports = ports,
      .id = id,
      .index = index,
      .set_run = set_run(p),
      .merges = p->l2_mshr_merges,
      .queue = p->l2_queue,
      .always_hit = always_hit(p),
      .tag_cycle = p->ideal_l2_bandwidth ? 0 : cycle,
      .latency = cycles_inside(p) * cycle,
      .far_latency = far_cycles_inside(p) * cycle,
      .link = p->l2_partitions > 1 ? &ports.xbar->link[id] : NULL,
      .read.femtos_per_byte = femtos_per_byte(p),
      .write.femtos_per_byte = femtos_per_byte(p),
  };
  l2_slice_set_fetch(s, p->l2_fetch_bytes);
  l2_misses_init(&s->misses, a, room_of(p));
  l2_atomics_init(&s->atomics, p);
  gpc_code_init(&s->code, a, p);
  if (ports.rights) l2_gate_init(&s->gate, a, ports.rights, id, power_of_two(s->misses.room_waiters));
  s->by_grid = ARENA_ARRAY(a, struct traffic, GRID_SLOTS + 1);
  QUEUE_INIT(&s->in, a, struct mem_req, power_of_two(p->l2_queue));
  tags_init(&s->tags, a, sets_of_slice(p), p->l2_ways);
  l2_residency_init(&s->residency, a, ports.policy, &s->tags);
  const uint32_t places = s->tags.n_sets * p->l2_ways;
  s->words = ARENA_ARRAY(a, uint32_t, places);
  dirty_lines_init(&s->dirty, a, places, p->l2_dirty_permille);
  if (s->link) s->copied = ARENA_ARRAY(a, uint8_t, places);
}

void l2_slice_set_fetch(struct l2_slice *s, unsigned bytes)
{
  s->fetch_shift = (unsigned)__builtin_ctz(bytes / SECTOR_BYTES);
  s->piece = (unsigned)bits_ones(bytes / SECTOR_BYTES);
}

void l2_slice_free(struct l2_slice *s)
{
  l2_atomics_free(&s->atomics);
}

void l2_slice_start(struct l2_slice *s, struct gmem *image)
{
  BUG_ON(s->misses.n || s->atomics.n);
  gpc_code_start(&s->code);
  s->direct = (struct gmem_view){.image = image};
}

/* --- tags ------------------------------------------------------------------------------------- */

/* Neighbouring lines fill the sets in order, l2.set_rounds_x2 / 2 times; the next lines begin at a hashed set.
 * So strides spread, and some sets of a buffer as large as L2 hold a line or two more than others: measured
 * latencies of a GA102 rise from 0.95 to 1.15 times its size, not at once. Without: three shifted copies. */
static unsigned set_of(const struct l2_slice *s, uint64_t line)
{
  uint32_t x = (uint32_t)(line ^ line >> 32);
  if (!s->set_run) return (x ^ x >> 10 ^ x >> 20) % s->tags.n_sets;
  uint32_t run = (x / s->set_run + s->id * 0x10001u) * 0x9e3779b9u;
  return (x + ((run ^ run >> 15) >> 7)) % s->tags.n_sets;
}

static struct tag_at find(const struct l2_slice *s, uint64_t line)
{
  return tags_find(&s->tags, set_of(s, line), line);
}

/* The channel of a line and its line number there. */
static struct dram *channel_of(const struct l2_slice *s, uint64_t line, uint64_t *local)
{
  const struct l2_ports *p = &s->ports;
  *local = p->n_channels > 1 ? line / p->n_channels : line * p->slices + s->index;
  return &p->channel[p->n_channels > 1 ? line % p->n_channels : 0];
}

/* For a request of that grid. What is known of a sector in part is written with a mask, or DRAM is asked for the
 * rest. */
static void write_back(struct l2_slice *s, struct tag_at at, unsigned grid, picos now)
{
  struct tag_state *w = tags_state(&s->tags, at);
  uint64_t line = tags_line(&s->tags, at), local;
  struct dram *c = channel_of(s, line, &local);
  unsigned partial = s->params->dram_write_masks ? 0 : w->dirty & ~(unsigned)w->sectors;
  s->stats.l2_written_back_sectors += count_sectors(w->dirty);
  s->stats.l2_merged_sectors += count_sectors(partial);
  s->by_grid[grid].dram_written += count_sectors(w->dirty);
  s->by_grid[grid].dram_read += count_sectors(partial);
  if (partial)
    dram_merge(c, now, local, w->dirty, partial);
  else
    dram_request(c, DRAM_WRITE, now, local, line, w->dirty, s->index);
  tags_fill(&s->tags, at, partial); /* whole now, if the line stays */
  w->dirty = 0;
  dirty_lines_remove(&s->dirty, (uint32_t)tags_index(&s->tags, at));
}

static void evict(struct l2_slice *s, struct tag_at at, unsigned grid, picos now)
{
  s->stats.l2_evicted_lines++;
  if (tags_state(&s->tags, at)->dirty) write_back(s, at, grid, now);
}

static struct tag_at place(const struct l2_slice *s, uint32_t index)
{
  return (struct tag_at){index / s->tags.max_ways, (uint16_t)(index % s->tags.max_ways)};
}

/* Beyond l2.dirty_permille the oldest dirty lines are written back, as far as their channels have room. They stay as
 * clean lines. */
static void clean_oldest(struct l2_slice *s, unsigned grid, picos now)
{
  uint64_t local;
  while (dirty_lines_too_many(&s->dirty)) {
    struct tag_at oldest = place(s, s->dirty.oldest);
    if (!dram_write_room(channel_of(s, tags_line(&s->tags, oldest), &local))) return;
    write_back(s, oldest, grid, now);
  }
}

static void make_dirty(struct l2_slice *s, struct tag_at at, const struct mem_req *r, picos now)
{
  struct tag_state *w = tags_state(&s->tags, at);
  bool first = !w->dirty;
  w->dirty = (w->dirty | (unsigned)r->sectors) & 0xf;
  if (!first) return;
  dirty_lines_add(&s->dirty, (uint32_t)tags_index(&s->tags, at));
  clean_oldest(s, r->grid, now);
}

/* The place whose line leaves for one that this request asks for, with what it says of it. */
__attribute__((cold, noinline)) static struct tag_at make_way(struct l2_slice *s, unsigned set,
                                                              const struct mem_req *r)
{
  const enum access_property of = l2_policy_of(s->ports.policy, r->grid, r->line);
  struct tag_at at = l2_residency_victim(&s->residency, &s->tags, set, of);
  l2_residency_place(&s->residency, &s->tags, at, of);
  return at;
}

__attribute__((cold, noinline)) static void say(struct l2_slice *s, struct tag_at at, const struct mem_req *r)
{
  l2_residency_use(&s->residency, &s->tags, at, l2_policy_of(s->ports.policy, r->grid, r->line));
}

/* The request uses the line there. */
static void use(struct l2_slice *s, struct tag_at at, const struct mem_req *r)
{
  tags_use(&s->tags, at);
  if (s->ports.policy->active) say(s, at, r);
}

/* For this request. */
static struct tag_at allocate(struct l2_slice *s, uint64_t line, unsigned set, const struct mem_req *r, picos now)
{
  struct tag_at at = s->ports.policy->active ? make_way(s, set, r) : tags_oldest(&s->tags, set);
  if (tags_used(&s->tags, at)) evict(s, at, r->grid, now);
  tags_replace(&s->tags, at, line);
  if (s->copied) s->copied[tags_index(&s->tags, at)] = 0;
  return at;
}

/* --- answers ---------------------------------------------------------------------------------- */

/* of_far: the other partition had the sectors; they came by a longer way, the rest is shorter. */
static void answer(struct l2_slice *s, const struct mem_req *r, picos now, bool of_far,
                   unsigned bytes)
{
  struct server *port = gpc_code_port(&s->code, r);
  s->stats.replies++;
  gpc_code_note(&s->code, r);
  xbar_answer_by(s->ports.xbar, s->id, port, r, now, of_far ? s->far_latency : s->latency, of_far, bytes);
}

/* Sectors for the other partition, which keeps a copy. */
static void answer_peer(struct l2_slice *s, struct tag_at at, const struct mem_req *r, picos now)
{
  struct mem_req m = *r;
  m.kind = REQ_FILL;
  if (at.way != TAGS_NONE) s->copied[tags_index(&s->tags, at)] |= r->sectors;
  s->stats.l2_peer_sectors += count_sectors(r->sectors);
  xbar_link_send(s->ports.xbar, s->id, &m, now, count_sectors(r->sectors) * SECTOR_BYTES);
}

/* The sectors of a line at home here change. */
static void invalidate_copy(struct l2_slice *s, struct tag_at at, const struct mem_req *r, picos now)
{
  if (!s->copied) return;
  uint8_t *copied = &s->copied[tags_index(&s->tags, at)];
  unsigned old = *copied & r->sectors;
  if (!old) return;
  *copied &= (uint8_t)~old;
  s->stats.l2_invalidated_sectors += count_sectors(old);
  xbar_link_send(s->ports.xbar, s->id,
                 &(struct mem_req){.kind = REQ_INVALIDATE, .local = r->local, .sectors = (uint8_t)old},
                 now, 0);
}

/* All sectors of the request are there. */
static void complete(struct l2_slice *s, struct tag_at at, const struct mem_req *r, picos now,
                     bool of_far)
{
  unsigned sectors = count_sectors(r->sectors);
  if (mem_req_is_weak_read(r->kind) || r->op == MEM_LOAD || r->op == MEM_LDGSTS) {
    answer(s, r, now, of_far, r->op == MEM_PREFETCH ? 0 : sectors * SECTOR_BYTES);
    return;
  }
  if (at.way != TAGS_NONE) {
    make_dirty(s, at, r, now);
    invalidate_copy(s, at, r, now);
  }
  s->stats.l2_strong_write_sectors += sectors;
  s->by_grid[r->grid].l2_written += sectors;
  s->stats.atomic_wait += l2_atomics_take(&s->atomics, r, now);
}

static void atomic_done(struct l2_slice *s, picos now)
{
  const struct mem_req r = l2_atomics_pop(&s->atomics);
  answer(s, &r, now, false, r.op == MEM_RED ? 0 : count_sectors(r.sectors) * SECTOR_BYTES);
}

static void note_next(struct l2_slice *s);

/* Something has come that the first request may wait for. */
static void go_on_again(struct l2_slice *s, picos now)
{
  if (s->blocked == L2_WAITS_FILL) s->blocked = L2_GOES_ON, s->free_at = later(s->free_at, now);
  note_next(s);
}

/* Of no grid. */
static const struct mem_req of_nobody = {.grid = GRID_NONE};

/* These sectors, which the request waits for, are the youngest now, in a way of the line's. */
static struct tag_at make_valid(struct l2_slice *s, uint64_t line, unsigned sectors, const struct mem_req *r,
                                picos now)
{
  struct tag_at at = find(s, line);
  if (at.way == TAGS_NONE) at = allocate(s, line, at.set, r, now);
  use(s, at, r);
  tags_fill(&s->tags, at, sectors);
  return at;
}

void l2_slice_fill(struct l2_slice *s, uint64_t line, unsigned sectors, picos now)
{
  struct l2_miss *m = l2_misses_find(&s->misses, line);
  BUG_ON(!m || (m->pending & sectors) != sectors);
  const bool none = m->first == L2_NIL; /* what asked for them waits at the gate */
  struct tag_at at = make_valid(s, line, sectors, none ? &of_nobody : &s->misses.waiter[m->first].req, now);
  m->pending &= (uint8_t)~sectors;
  s->stats.l2_filled_sectors += count_sectors(sectors);
  uint32_t last = L2_NIL;
  for (const struct l2_waiter *x; (x = l2_misses_take(&s->misses, m, sectors, &last));) {
    if (x->of_peer)
      answer_peer(s, at, &x->req, now);
    else
      complete(s, at, &x->req, now, line & L2_FAR_LINE);
  }
  if (!m->pending) l2_misses_remove(&s->misses, m);
  go_on_again(s, now);
}

/* --- requests --------------------------------------------------------------------------------- */

/* The request passes the tags `passes` times and moves that many sectors through the ports of the array. */
static void hold(struct l2_slice *s, picos now, unsigned passes, unsigned read, unsigned written)
{
  s->free_at = now + passes * s->tag_cycle;
  server_take(&s->read, now, read * SECTOR_BYTES);
  server_take(&s->write, now, written * SECTOR_BYTES);
}

static bool perform(struct l2_slice *s, const struct mem_req *r, picos now, struct fault *f)
{
  if (r->kind != REQ_STRONG) return true;
  s->stats.strong_requests++;
  return s->ports.perform(s->ports.ctx, r, now, &s->direct, f);
}

static bool block(struct l2_slice *s, enum l2_block why, const struct dram *c)
{
  s->blocked = (uint8_t)why;
  s->blocked_by = c;
  s->stats.l2_stalls++;
  return false;
}

/* Is there everything a miss needs? Its line may displace a dirty one. */
static bool can_miss(struct l2_slice *s, const struct l2_miss *m, const struct dram *c, bool far)
{
  bool entry = m ? m->n_waiters < s->merges : s->misses.room_misses > 0;
  if (!entry || s->misses.room_waiters == 0) return block(s, L2_WAITS_FILL, c);
  if (!far && !dram_read_room(c)) return block(s, L2_WAITS_READ, c);
  return dram_write_room(c) || block(s, L2_WAITS_WRITE, c);
}

/* What DRAM sends with missing sectors: the rest of their pieces of l2.fetch_bytes, as far as it is not here. */
static unsigned companions(const struct l2_slice *s, uint64_t line, unsigned missed)
{
  unsigned wide = missed;
  if (!s->fetch_shift || line & L2_FAR_LINE) return 0;
  for (unsigned i = 0; i < SECTORS_PER_LINE; i++)
    if (missed >> i & 1) wide |= s->piece << (i >> s->fetch_shift << s->fetch_shift);
  struct tag_at at = find(s, line);
  unsigned here = at.way == TAGS_NONE ? 0 : tags_state(&s->tags, at)->sectors;
  return wide & ~here & ~missed;
}

/* Missing sectors: from DRAM, or from their home in the other partition. */
static void fetch(struct l2_slice *s, const struct mem_req *r, unsigned sectors, unsigned more, picos now)
{
  uint64_t line = r->local, local;
  if (line & L2_FAR_LINE) {
    struct mem_req m = {.kind = REQ_READ, .line = r->line, .local = line & ~L2_FAR_LINE,
                        .sectors = (uint8_t)sectors, .grid = r->grid};
    s->stats.l2_far_sectors += count_sectors(sectors);
    xbar_link_send(s->ports.xbar, s->id, &m, now, 0);
    return;
  }
  struct dram *c = channel_of(s, line, &local);
  s->stats.l2_miss_sectors += count_sectors(sectors);
  s->stats.l2_companion_sectors += count_sectors(more);
  s->by_grid[r->grid].dram_read += count_sectors(sectors | more);
  dram_request(c, DRAM_READ, now, local, line, sectors | more, s->index);
}

/* Notes that `r` waits for `need` and asks for what is not on its way. ahead: sectors that were missed and asked for
 * when it waited at the gate. */
static void miss(struct l2_slice *s, struct l2_miss *m, const struct mem_req *r, unsigned need, unsigned ahead,
                 bool of_peer, picos now)
{
  if (!m) m = l2_misses_add(&s->misses, r->local, of_peer);
  unsigned missed = need & ~(unsigned)m->pending;
  *(of_peer ? &s->stats.l2_peer_missed_sectors : &s->stats.op_misses[mem_req_op(r->kind, r->op)]) +=
      count_sectors(missed & ~ahead);
  s->stats.l2_merge_sectors += count_sectors(need & m->pending & ~ahead);
  unsigned more = companions(s, r->local, missed) & ~(unsigned)m->pending;
  m->pending |= (uint8_t)(missed | more);
  l2_misses_wait(&s->misses, m, r, need, of_peer);
  if (missed) fetch(s, r, missed & ~ahead, more | (missed & ahead), now);
}

/* Sectors of the request that are here, and their place. */
static unsigned hits(const struct l2_slice *s, const struct mem_req *r, struct tag_at *at)
{
  *at = (struct tag_at){.way = TAGS_NONE};
  if (s->always_hit >> r->kind & 1) return r->sectors;
  *at = find(s, r->local);
  return at->way == TAGS_NONE ? 0u : tags_state(&s->tags, *at)->sectors & r->sectors;
}

/* Read, or read and modify. False: must wait. */
static bool take_read(struct l2_slice *s, const struct mem_req *r, unsigned ahead, picos now)
{
  struct l2_stats *t = &s->stats;
  struct tag_at at;
  unsigned hit = hits(s, r, &at), need = r->sectors & ~hit;
  if (need) {
    uint64_t local;
    struct dram *c = channel_of(s, r->local, &local);
    struct l2_miss *m = l2_misses_find(&s->misses, r->local);
    if (!can_miss(s, m, c, r->local & L2_FAR_LINE)) return false;
    miss(s, m, r, need, ahead, false, now);
  }
  t->l2_read_sectors += count_sectors(r->sectors);
  s->by_grid[r->grid].l2_read += count_sectors(r->sectors);
  t->l2_hit_sectors += count_sectors(hit & ~ahead);
  hold(s, now, 1, gpc_code_port(&s->code, r) ? 0 : count_sectors(hit), 0);
  if (at.way != TAGS_NONE) use(s, at, r);
  if (!need) complete(s, at, r, now, false);
  return true;
}

/* A read of the other partition: never waits for room. */
static void take_peer(struct l2_slice *s, picos now)
{
  struct mem_req r = *xbar_lane_front(&s->link->requests);
  struct tag_at at;
  unsigned hit = hits(s, &r, &at), need = r.sectors & ~hit;
  xbar_lane_pop(&s->link->requests);
  s->stats.l2_peer_hit_sectors += count_sectors(hit);
  hold(s, now, 1, count_sectors(hit), 0);
  if (at.way != TAGS_NONE) use(s, at, &r);
  if (need)
    miss(s, l2_misses_find(&s->misses, r.local), &r, need, 0, true, now);
  else
    answer_peer(s, at, &r, now);
}

/* An answer or an invalidation of the other partition. */
static void take_link(struct l2_slice *s, picos now)
{
  struct mem_req r = *xbar_lane_front(&s->link->fills);
  uint64_t line = r.local | L2_FAR_LINE;
  xbar_lane_pop(&s->link->fills);
  if (r.kind == REQ_FILL) {
    l2_slice_fill(s, line, r.sectors, now);
    return;
  }
  struct tag_at at = find(s, line);
  if (at.way == TAGS_NONE) return;
  struct tag_state *w = tags_state(&s->tags, at);
  w->sectors = w->sectors & ~(unsigned)r.sectors & 0xf;
}

/* A sector is valid when all its words are known. */
static void note_words(struct l2_slice *s, struct tag_at at, const struct mem_req *r)
{
  const struct tag_state *w = tags_state(&s->tags, at);
  unsigned whole = whole_sectors(r->sectors, r->words);
  if (whole != r->sectors) {
    uint32_t *words = &s->words[tags_index(&s->tags, at)];
    if (!(w->dirty & ~(unsigned)w->sectors)) *words = 0;
    *words |= r->words;
    whole |= whole_sectors(r->sectors, *words);
  }
  tags_fill(&s->tags, at, whole);
}

static bool take_write(struct l2_slice *s, const struct mem_req *r, picos now)
{
  unsigned sectors = count_sectors(r->sectors);
  if (!s->params->l2_perfect) {
    struct tag_at at = find(s, r->local);
    uint64_t local;
    const struct dram *c = channel_of(s, r->local, &local);
    if (at.way == TAGS_NONE && !dram_write_room(c)) return block(s, L2_WAITS_WRITE, c);
    if (at.way == TAGS_NONE) at = allocate(s, r->local, at.set, r, now);
    use(s, at, r);
    note_words(s, at, r);
    make_dirty(s, at, r, now);
    invalidate_copy(s, at, r, now);
  }
  *(r->kind == REQ_WRITE ? &s->stats.l2_write_sectors : &s->stats.l2_strong_write_sectors) +=
      sectors;
  s->by_grid[r->grid].l2_written += sectors;
  if (r->kind != REQ_WRITE) s->stats.strong_store_sectors += sectors;
  unsigned partial = sectors - count_sectors(whole_sectors(r->sectors, r->words));
  hold(s, now, partial ? 2 : 1, partial, sectors);
  answer(s, r, now, false, 0);
  return true;
}

/* A request enters when it has arrived, the port is free and the queue has room. All these times are known, so
 * requests that entered since the last call enter at their own time. */
void l2_slice_accept(struct l2_slice *s, picos now)
{
  struct xbar *x = s->ports.xbar;
  picos at;
  while (s->in.n < s->queue && (at = xbar_ready(x, s->id)) <= now) {
    struct mem_req r = *xbar_front(x, s->id);
    r.arrive = later(at, s->room_at);
    xbar_pop(x, s->id, r.arrive);
    req_queue_push(&s->in, r);
  }
}

static void leave_queue(struct l2_slice *s, picos now)
{
  if (s->in.n == s->queue) s->room_at = now;
  req_queue_pop(&s->in);
}

static bool is_write(const struct mem_req *r)
{
  return r->kind == REQ_WRITE || (r->kind == REQ_STRONG && r->op == MEM_STORE);
}

/* --- rights ----------------------------------------------------------------------------------- */

/* Sectors that CPUs have taken, with what was dirty in them. */
static void lose(struct l2_slice *s, uint64_t line, unsigned sectors)
{
  struct tag_at at = find(s, line);
  if (at.way == TAGS_NONE) return;
  struct tag_state *w = tags_state(&s->tags, at);
  s->gate.rights->mail[s->id].stats.lost_sectors += count_sectors((w->sectors | w->dirty) & sectors);
  w->sectors = w->sectors & ~sectors & 0xf;
  bool dirty = w->dirty;
  w->dirty = w->dirty & ~sectors & 0xf;
  if (dirty && !w->dirty) dirty_lines_remove(&s->dirty, (uint32_t)tags_index(&s->tags, at));
}

/* DRAM is asked for what is not here while CPUs are: so far as there is room. */
static unsigned fetch_ahead(struct l2_slice *s, const struct mem_req *r, picos now)
{
  struct tag_at at;
  uint64_t local;
  struct dram *c = channel_of(s, r->local, &local);
  struct l2_miss *m = l2_misses_find(&s->misses, r->local);
  unsigned need = r->sectors & ~hits(s, r, &at) & ~(m ? (unsigned)m->pending : 0);
  if (!need || (!m && !s->misses.room_misses) || !dram_read_room(c) || !dram_write_room(c)) return 0;
  if (!m) m = l2_misses_add(&s->misses, r->local, false);
  unsigned more = companions(s, r->local, need) & ~(unsigned)m->pending;
  m->pending |= (uint8_t)(need | more);
  s->stats.op_misses[mem_req_op(r->kind, r->op)] += count_sectors(need);
  fetch(s, r, need, more, now);
  return need;
}

/* The next request goes no further now: it waits for a right, or for room. */
static bool kept_out(struct l2_slice *s, const struct mem_req *r, picos now)
{
  unsigned lost;
  if (!s->gate.rights) return false;
  enum l2_gate_says says = l2_gate_check(&s->gate, r, now, &lost);
  if (says == L2_GATE_PASS) return false;
  if (says == L2_GATE_FULL) return block(s, L2_WAITS_FILL, NULL), true;
  if (lost) lose(s, r->local, lost);
  if (!is_write(r)) l2_gate_asked_ahead(&s->gate, fetch_ahead(s, r, now));
  hold(s, now, 1, 0, 0);
  leave_queue(s, now);
  return true;
}

/* What a CPU's cache gave has a place here, if its set's oldest line can go; else DRAM has it soon. */
void l2_slice_grant(struct l2_slice *s, const struct l2_grant *g, picos now)
{
  uint64_t line, local;
  unsigned sectors;
  if (l2_gate_grant(&s->gate, g, now, &line, &sectors) && dram_write_room(channel_of(s, line, &local)))
    make_valid(s, line, sectors, &of_nobody, now);
  go_on_again(s, now);
}

void l2_slice_end_window(struct l2_slice *s, picos to)
{
  l2_gate_end_window(&s->gate, to);
  if (s->gate.n_ready) go_on_again(s, to);
}

/* What waited at the gate goes before what comes. */
static const struct l2_parked *released(const struct l2_slice *s)
{
  return s->gate.rights ? l2_gate_ready(&s->gate) : NULL;
}

static bool take_request(struct l2_slice *s, picos now, struct fault *f)
{
  l2_slice_accept(s, now);
  const struct l2_parked *again = released(s);
  const struct mem_req *r = again ? &again->req : req_queue_front(&s->in);
  if (!again && kept_out(s, r, now)) return true;
  if (!(is_write(r) ? take_write(s, r, now) : take_read(s, r, again ? again->ahead : 0, now))) return true;
  s->stats.requests++;
  s->stats.op_requests[mem_req_op(r->kind, r->op)]++;
  s->stats.op_sectors[mem_req_op(r->kind, r->op)] += count_sectors(r->sectors);
  bool ok = perform(s, r, now, f);
  if (s->ports.coherence) s->ports.coherence->taken(s->ports.coherence, s->ports.probes, s->id, r, now);
  if (again) l2_gate_pop(&s->gate);
  else leave_queue(s, now);
  return ok;
}

static picos port_free(const struct server *port)
{
  return port->free_at_fs / 1000;
}

/* The same of the other partition's first request. */
static picos peer_ready(const struct l2_slice *s)
{
  picos arrive = xbar_lane_front(&s->link->requests)->arrive;
  return later(arrive, later(s->free_at, port_free(&s->read)));
}

/* Time from which the first request can be taken: it has arrived, and tags and its ports of the array are free. */
static picos first_ready(const struct l2_slice *s)
{
  const struct l2_parked *again = released(s);
  const struct mem_req *r = again ? &again->req : req_queue_front((struct req_queue *)&s->in);
  picos ready = r ? r->arrive : xbar_ready(s->ports.xbar, s->id);
  if (ready == TIME_NEVER) return ready;
  if (!r) r = xbar_front(s->ports.xbar, s->id);
  bool write = is_write(r), read = !write || whole_sectors(r->sectors, r->words) != r->sectors;
  ready = later(ready, s->free_at);
  if (read) ready = later(ready, port_free(&s->read));
  return write ? later(ready, port_free(&s->write)) : ready;
}

static void note_next(struct l2_slice *s)
{
  s->next = l2_atomics_next(&s->atomics);
  if (s->link) {
    if (s->link->fills.n) s->next = earlier(s->next, xbar_lane_front(&s->link->fills)->arrive);
    if (s->link->requests.n)
      s->next = earlier(s->next, peer_ready(s));
  }
  if (!s->blocked) s->next = earlier(s->next, first_ready(s));
}

void l2_slice_look(struct l2_slice *s)
{
  xbar_look(s->ports.xbar, s->id);
  note_next(s);
}

void l2_slice_unblock(struct l2_slice *s, picos now)
{
  s->blocked = L2_GOES_ON;
  if (s->free_at < now) s->free_at = now;
  note_next(s);
}

bool l2_slice_step(struct l2_slice *s, picos now, struct fault *f)
{
  bool ok = true;
  if (s->link && s->link->fills.n && xbar_lane_front(&s->link->fills)->arrive <= now)
    take_link(s, now);
  else if (s->atomics.n && l2_atomics_next(&s->atomics) <= now)
    atomic_done(s, now);
  else if (s->link && s->link->requests.n && peer_ready(s) <= now)
    take_peer(s, now);
  else
    ok = take_request(s, now, f);
  note_next(s);
  return ok;
}

void l2_slice_cohere(struct l2_slice *s, struct coherence *c, struct probe_net *probes)
{
  s->ports.coherence = c;
  s->ports.probes = probes;
}

bool l2_slice_busy(const struct l2_slice *s)
{
  if (s->link && (s->link->fills.n || s->link->requests.n || s->link->sent.n)) return true;
  if (s->gate.rights && (s->gate.n_parked || s->gate.n_ready)) return true;
  return s->misses.n || s->atomics.n || s->in.n || xbar_requests_waiting(s->ports.xbar, s->id);
}
