/* Agents that play random operations on coherent memory, and what holds the values of all of them against one memory.
 *
 *   golden     A store or an atomic counts when a cache of the protocol performs it. What such a cache then has must be
 *              what was stored last, whoever it was: exactly, at each operation, in all words of the line
 *   L1         may be old: a load may give what was current at or after the last acquire before it was given, never
 *              something older than the agent has seen before, and what the agent itself has stored and nobody has yet
 *              performed
 *   ownership  between windows: whoever has a line to write has it alone
 */
#ifndef WS_TESTS_UNIT_COH_RIG_H
#define WS_TESTS_UNIT_COH_RIG_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/host_memory.h"
#include "time/coh/coh_system.h"

enum { RIG_AGENTS = 32, RIG_LINES = 512, RIG_WORDS = 8, RIG_HISTORY = 1024, RIG_PENDING = 8, RIG_COUNT_WORD = 7 };

struct rig_write {
  uint64_t value, stamp; /* when it was performed */
};

/* A word: what was stored in it, latest last. An L1 of an agent that acquires after 33 operations on the average keeps what 15
 * others store over meanwhile: more than 64 versions are seen, 1024 never were. */
struct rig_word {
  uint64_t version; /* stores so far; the latest is at [version % RIG_HISTORY] */
  struct rig_write write[RIG_HISTORY];
};

struct rig_op {
  bool used;
  struct coh_msg msg;
  uint64_t acquired; /* stamp of the agent's latest acquire, when it was given */
};

struct rig_agent {
  struct coh_rig *rig;
  uint32_t number, given, done, limit; /* operations */
  uint64_t draws, acquired;
  picos rests_until;
  bool below, waiting; /* below: its cache is an L1 that may be old; waiting: `next` was refused */
  struct coh_msg next;
  struct rig_op op[RIG_PENDING];
  uint64_t seen[RIG_LINES][RIG_WORDS]; /* versions */
};

struct coh_rig {
  struct coh_system *system;
  struct domain *domain;
  struct rig_word (*word)[RIG_WORDS];    /* of `lines` lines: of all of them 64 MiB, zeroed for every rig */
  uint64_t golden[RIG_LINES][RIG_WORDS]; /* of each word the latest */
  uint8_t memory[RIG_LINES][COH_LINE_BYTES];
  struct rig_agent agent[RIG_AGENTS];
  struct coh_agent ops[RIG_AGENTS];
  uint32_t n_agents, n_cpus, lines, pending; /* pending: operations that an agent has under way */
  uint64_t stamp, stored, stale;   /* stale: loads that gave something old */
  uint64_t *taken;
  char wrong[200]; /* the first thing that is wrong; empty: nothing */
};

struct rig_setup {
  const char *protocol;
  uint32_t cpus, gpus, l2, homes, lines, ops, places, sets, ways, home_sets, home_ways, misses, pending;
  enum coh_topology_kind topology;
  picos shake;
  uint64_t seed;
  bool beside; /* caches of GPU agents have their bytes in memory: the L2 of a GPU whose model is another domain */
  bool alone; /* agents that the values are not held against: these may run on several threads */
};

static uint64_t rig_draw(uint64_t *d)
{
  *d = *d * 6364136223846793005u + 1442695040888963407u;
  return *d >> 33;
}

#define RIG_WRONG(r, ...)                                                                          \
  do {                                                                                             \
    if (!(r)->wrong[0]) snprintf((r)->wrong, sizeof (r)->wrong, __VA_ARGS__);                      \
  } while (0)

static uint64_t word_at(const uint8_t *line, unsigned w)
{
  uint64_t v;
  memcpy(&v, line + w * 8, 8);
  return v;
}

/* --- what caches perform -------------------------------------------------------------------------- */

static void rig_performed(void *ctx, const struct coh_cache *c, const struct coh_msg *op, const uint8_t *bytes)
{
  struct coh_rig *r = ctx;
  if (c->cfg.role == COH_L1 || op->type == COH_ACQUIRE) return;
  struct rig_word *line = r->word[op->line];
  uint64_t *golden = r->golden[op->line];
  unsigned w = op->type == COH_STORE ? (unsigned)__builtin_ctzll(op->mask) / 8 : op->offset / 8u;
  r->stamp++;
  if (op->type != COH_LOAD) {
    uint64_t value = op->type == COH_STORE ? word_at(op->data, w) : golden[w] + op->operand;
    golden[w] = value;
    line[w].version++;
    line[w].write[line[w].version % RIG_HISTORY] = (struct rig_write){value, r->stamp};
  }
  if (!memcmp(bytes, golden, COH_LINE_BYTES)) return;
  for (unsigned i = 0; i < RIG_WORDS; i++)
    if (word_at(bytes, i) != golden[i])
      RIG_WRONG(r, "node %u, line %llu, word %u: has %llu, last stored was %llu", c->port->node, (unsigned long long)op->line,
                i, (unsigned long long)word_at(bytes, i), (unsigned long long)golden[i]);
}

static uint64_t rig_add(unsigned op, unsigned bytes, uint64_t before, uint64_t operand, uint64_t compare)
{
  (void)op, (void)bytes, (void)compare;
  return before + operand;
}

/* --- what agents get ------------------------------------------------------------------------------ */

static bool is_pending_of(const struct rig_agent *a, uint64_t line, unsigned word, uint64_t value)
{
  for (unsigned i = 0; i < RIG_PENDING; i++) {
    const struct coh_msg *m = &a->op[i].msg;
    if (a->op[i].used && m->type == COH_STORE && m->line == line && m->mask >> word * 8 & 1 && word_at(m->data, word) == value)
      return true;
  }
  return false;
}

/* The version that a value is; -1: none that is remembered. */
static int64_t version_of(const struct rig_word *w, uint64_t value)
{
  for (uint64_t back = 0; back < RIG_HISTORY && back < w->version; back++)
    if (w->write[(w->version - back) % RIG_HISTORY].value == value) return (int64_t)(w->version - back);
  return value == 0 && w->version < RIG_HISTORY ? 0 : -1;
}

static void check_old(struct coh_rig *r, struct rig_agent *a, const struct rig_op *o, unsigned i, uint64_t value)
{
  struct rig_word *w = &r->word[o->msg.line][i];
  int64_t v = version_of(w, value);
  if (v < 0) {
    if (!is_pending_of(a, o->msg.line, i, value))
      RIG_WRONG(r, "agent %u: line %llu word %u has %llu, which nobody stored, or too long ago", a->number,
                (unsigned long long)o->msg.line, i, (unsigned long long)value);
    return;
  }
  if ((uint64_t)v < w->version) {
    r->stale++;
    if (w->write[((uint64_t)v + 1) % RIG_HISTORY].stamp <= o->acquired)
      RIG_WRONG(r, "agent %u: line %llu word %u is older than its acquire", a->number, (unsigned long long)o->msg.line, i);
  }
  /* Loads under way at the same time may come in any order; of one line they do not. */
  if ((uint64_t)v < a->seen[o->msg.line][i])
    RIG_WRONG(r, "agent %u: line %llu word %u goes back in time", a->number, (unsigned long long)o->msg.line, i);
  a->seen[o->msg.line][i] = (uint64_t)v;
}

static void take_done(struct coh_rig *r, struct rig_agent *a, const struct coh_msg *m)
{
  struct rig_op *o = &a->op[m->id % RIG_PENDING];
  if (!o->used || o->msg.id != m->id) {
    RIG_WRONG(r, "agent %u: a reply to nothing", a->number);
    return;
  }
  o->used = false;
  if (m->kind == COH_ACQUIRE) a->acquired = r->stamp;
  if (m->kind == COH_LOAD && a->below)
    for (unsigned i = 0; i < RIG_WORDS; i++) check_old(r, a, o, i, word_at(m->data, i));
  a->done++;
}

/* --- agents --------------------------------------------------------------------------------------- */

static struct coh_msg random_op(struct coh_rig *r, struct rig_agent *a)
{
  uint64_t how = rig_draw(&a->draws) % 100;
  unsigned w = (unsigned)(rig_draw(&a->draws) % RIG_COUNT_WORD);
  struct coh_msg m = {.line = rig_draw(&a->draws) % r->lines, .from = COH_NO_NODE};
  if (rig_draw(&a->draws) % 4) m.line = m.line % 4 * (r->lines / 4); /* a few that everybody wants, of one set */
  if (how < 50) m.type = COH_LOAD;
  else if (how < 80) {
    uint64_t value = ++r->stored;
    m.type = COH_STORE;
    m.mask = 0xffull << w * 8;
    memcpy(m.data + w * 8, &value, 8);
  } else if (how < 97) {
    m.type = COH_ATOMIC;
    m.offset = RIG_COUNT_WORD * 8;
    m.bytes = 8;
    m.operand = 1;
  } else m.type = COH_ACQUIRE;
  return m;
}

static struct rig_op *free_op(struct coh_rig *r, struct rig_agent *a)
{
  for (unsigned i = 0; i < r->pending; i++)
    if (!a->op[i].used) return &a->op[i];
  return NULL;
}

/* Acquires hold back what comes behind. */
static bool may_give(const struct rig_agent *a)
{
  for (unsigned i = 0; i < RIG_PENDING; i++)
    if (a->op[i].used && a->op[i].msg.type == COH_ACQUIRE) return false;
  return true;
}

static bool give(struct coh_rig *r, struct rig_agent *a, struct coh_cache *c, picos now)
{
  struct rig_op *o = free_op(r, a);
  if (!o || a->given == a->limit) return false;
  if (!a->waiting) {
    a->next = random_op(r, a);
    a->waiting = true;
  }
  if (!may_give(a)) return false;
  uint32_t slot = (uint32_t)(o - a->op);
  a->next.id = a->given - a->given % RIG_PENDING + RIG_PENDING + slot;
  if (!coh_cache_offer(c, &a->next, now)) return false;
  *o = (struct rig_op){true, a->next, a->acquired};
  a->waiting = false;
  a->given++;
  return true;
}

static picos rig_cycle(void *self, struct coh_cache *c, struct coh_queue *replies, picos now, picos until, bool *did)
{
  (void)until;
  struct rig_agent *a = self;
  struct coh_rig *r = a->rig;
  for (const struct coh_msg *m; (m = coh_queue_front(replies, now)); *did = true) {
    take_done(r, a, m);
    coh_queue_pop(replies);
  }
  if (now < a->rests_until) return a->rests_until;
  if (!give(r, a, c, now)) return TIME_NEVER; /* until the cache has done something */
  *did = true;
  a->rests_until = now + rig_draw(&a->draws) % 4 * 1000;
  return a->rests_until;
}

static bool rig_busy(const void *self)
{
  const struct rig_agent *a = self;
  return a->done < a->limit;
}

/* --- the whole ------------------------------------------------------------------------------------ */

static uint8_t *rig_memory(void *ctx, uint64_t line)
{
  return ((struct coh_rig *)ctx)->memory[line];
}

/* Whoever may write is alone. */
static bool rig_owned(struct coh_rig *r)
{
  for (uint32_t line = 0; line < r->lines; line++) {
    unsigned copies = 0, alone = 0, owners = 0;
    for (uint32_t i = 0; i < r->n_agents; i++) {
      const uint8_t *bytes;
      enum coh_state s = coh_cache_peek(coh_system_cache(r->system, i), line, &bytes);
      if (r->agent[i].below) continue;
      alone += s == COH_ST_M || s == COH_ST_E;
      owners += s == COH_ST_O || s == COH_ST_OM;
      copies += s == COH_ST_S || s == COH_ST_SM || s == COH_ST_O || s == COH_ST_OM;
    }
    if (alone > 1 || owners > 1 || (alone && copies)) RIG_WRONG(r, "line %u: %u alone, %u owners, %u copies", line, alone, owners, copies);
  }
  return !r->wrong[0];
}

static bool rig_between(void *ctx, picos now)
{
  struct coh_rig *r = ctx;
  return now / 2000 % 64 ? !r->wrong[0] : rig_owned(r);
}

static struct coh_rig *rig_new(const struct rig_setup *s, const struct coh_agent *agents)
{
  struct coh_rig *r = mem_zeroed(1, sizeof *r);
  struct err e = {""};
  static const uint8_t clusters[COH_MAX_NODES];
  struct coh_cache_config cache = {.sets = s->sets, .ways = s->ways, .misses = s->misses, .period = 1000, .latency = 3000,
                                   .atomic = rig_add, .performed = s->alone ? NULL : rig_performed, .ctx = r};
  struct coh_system_config cfg = {
    .protocol = s->protocol, .n_cpus = s->cpus, .n_gpus = s->gpus, .n_l2 = s->l2, .n_homes = s->homes,
    .cpu = cache, .gpu = cache, .l2 = cache,
    .home = {.sets = s->home_sets, .ways = s->home_ways, .period = 1000, .latency = 2000, .memory_latency = 30000,
             .femtos_per_byte = 20000, .memory = rig_memory, .ctx = r},
    .net = {.topology = {.kind = s->topology, .width = 3, .n_clusters = 1, .cluster = clusters}, .hop = 2000,
            .femtos_per_byte = 10000, .shake = s->shake, .seed = s->seed},
    .places = s->places, .window = 2000, .agent = agents ? agents : r->ops};
  if (s->beside) {
    cfg.l2.memory = rig_memory;
    cfg.l2.memory_ctx = r;
    cfg.n_l2 = s->gpus;
    cfg.n_gpus = 0;
    cfg.l2_agent = cfg.agent + s->cpus;
  }
  r->n_agents = s->cpus + s->gpus;
  r->n_cpus = s->cpus;
  r->lines = s->lines;
  r->word = mem_zeroed(s->lines, sizeof *r->word);
  r->pending = s->pending;
  for (uint32_t i = 0; i < r->n_agents; i++) {
    r->agent[i] = (struct rig_agent){.rig = r, .number = i, .limit = s->ops, .draws = s->seed * 31 + i};
    r->ops[i] = (struct coh_agent){rig_cycle, rig_busy, &r->agent[i]};
  }
  r->system = coh_system_new(&cfg, &e);
  if (!r->system) {
    fprintf(stderr, "%s\n", e.msg);
    abort();
  }
  uint64_t rows[COH_MAX_ROWS];
  bool levels = coh_system_rows(r->system, rows)->levels && !s->beside;
  for (uint32_t i = s->cpus; levels && i < r->n_agents; i++) r->agent[i].below = true;
  struct domain_config d = coh_system_domain(r->system);
  d.watchdog_windows = 100000;
  d.between = rig_between;
  d.ctx = r;
  r->domain = domain_new(&d);
  return r;
}

static void rig_free(struct coh_rig *r)
{
  domain_free(r->domain);
  coh_system_free(r->system);
  mem_free(r->word);
  mem_free(r);
}

/* All operations. False, with `wrong` said: values, ownership, or it does not end. Adds to `taken`, by row. */
static inline bool rig_run(struct coh_rig *r, uint64_t *taken)
{
  uint64_t rows[COH_MAX_ROWS];
  enum domain_end end = domain_run(r->domain, TIME_NEVER, NULL);
  const struct coh_protocol *p = coh_system_rows(r->system, rows);
  for (unsigned i = 0; taken && i < p->n_rows; i++) taken[i] += rows[i];
  if (end != DOMAIN_IDLE && !r->wrong[0]) {
    RIG_WRONG(r, "it stands still");
    domain_dump(r->domain, stderr);
  }
  for (uint32_t i = 0; i < r->n_agents; i++)
    if (r->agent[i].done != r->agent[i].limit) RIG_WRONG(r, "agent %u has done %u of %u", i, r->agent[i].done, r->agent[i].limit);
  return !r->wrong[0];
}

#endif
