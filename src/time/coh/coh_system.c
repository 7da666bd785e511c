#include "time/coh/coh_system.h"

#include <inttypes.h>
#include <string.h>

#include "base/arith.h"
#include "base/host_memory.h"

/* A node: a cache with what is above it, or a home. */
struct node {
  struct coh_port *port;
  picos period, cycle_at; /* the earliest time of the next cycle */
  struct coh_cache *cache;
  struct coh_home *home;
  const struct coh_agent *agent;
  struct coh_queue replies; /* to the agent */
  struct coh_notes notes;
  uint64_t done;
};

struct coh_system {
  struct arena arena;
  struct coh_system_config cfg;
  const struct coh_protocol *protocol;
  struct coh_net_part net;
  struct node *node;
  struct part *part, net_part;
  uint32_t n_nodes, n_caches;
};

/* --- parts -------------------------------------------------------------------------------------- */

/* Up to when nothing comes; what has come and waits is looked at in each cycle. */
static picos quiet_until(const struct node *n, picos now, picos to)
{
  picos first = coh_queue_next(&n->replies);
  for (unsigned k = 0; k < COH_NETS; k++) first = earlier(first, coh_queue_next(&n->port->in[k]));
  return earlier(first > now ? first : now + n->period, to);
}

static bool cycle(struct node *n, picos now, picos to, picos *wants)
{
  bool did = n->home ? coh_home_cycle(n->home, now) : coh_cache_cycle(n->cache, now);
  *wants = TIME_NEVER;
  if (n->agent)
    *wants = n->agent->cycle(n->agent->self, n->cache, &n->replies, now, quiet_until(n, now, to), &did);
  n->done += did;
  return did;
}

/* The first thing behind `now` that is known to come. */
static picos next_of(const struct node *n, picos now, picos wants)
{
  picos next = wants > now ? wants : TIME_NEVER;
  for (unsigned k = 0; k < COH_NETS; k++) {
    picos at = coh_queue_next(&n->port->in[k]);
    if (at > now) next = earlier(next, at);
  }
  if (n->cache) next = earlier(next, coh_cache_next(n->cache, now));
  picos reply = coh_queue_next(&n->replies);
  return reply > now ? earlier(next, reply) : next;
}

/* What could not be done waits for a message or for room, and either wakes the part. */
static picos node_run(void *self, picos from, picos to)
{
  struct node *n = self;
  picos now = later(from, n->cycle_at), wants;
  while (now < to) {
    bool did = cycle(n, now, to, &wants);
    if (did) n->cycle_at = now + n->period; /* looking around takes no time */
    picos next = did ? n->cycle_at : next_of(n, now, wants);
    if (next == TIME_NEVER) return next;
    now = later(next, n->cycle_at);
  }
  return now;
}

static uint64_t node_progress(const void *self)
{
  return ((const struct node *)self)->done;
}

static bool node_busy(const void *self)
{
  const struct node *n = self;
  if (n->home) return coh_home_busy(n->home);
  return coh_cache_busy(n->cache) || (n->agent && n->agent->busy(n->agent->self));
}

static void node_dump(const void *self, FILE *out)
{
  const struct node *n = self;
  if (n->home) coh_home_dump(n->home, out);
  else coh_cache_dump(n->cache, out);
}

static picos net_run(void *self, picos from, picos to)
{
  return coh_net_run(self, from, to);
}

static uint64_t net_progress(const void *self)
{
  return ((const struct coh_net_part *)self)->stats.messages;
}

static bool net_busy(const void *self)
{
  return coh_net_busy(self);
}

static void net_dump(const void *self, FILE *out)
{
  const struct coh_net_part *n = self;
  for (uint32_t i = 0; i < n->cfg.topology.n_nodes; i++)
    for (unsigned k = 0; k < COH_NETS; k++)
      if (n->port[i].out[k].n || n->port[i].in[k].n)
        fprintf(out, "  node %u, network %u: %u to be sent, %u to be taken\n", i, k, n->port[i].out[k].n,
                n->port[i].in[k].n);
}

static const struct part_ops node_ops = {node_run, node_progress, node_busy, node_dump};
static const struct part_ops net_ops = {net_run, net_progress, net_busy, net_dump};

/* The node that an agent's cache is. */
static uint32_t agent_node(const struct coh_system *s, uint32_t agent)
{
  if (s->cfg.l2_agent) return agent; /* there are no GPU agents */
  bool below = s->protocol->levels && agent >= s->cfg.n_cpus;
  return below ? s->n_caches + s->cfg.n_homes + agent - s->cfg.n_cpus : agent;
}

/* --- built -------------------------------------------------------------------------------------- */

static void add_cache(struct coh_system *s, uint32_t at, const struct coh_cache_config *cfg, enum coh_role role,
                      const struct coh_agent *agent)
{
  struct node *n = &s->node[at];
  struct coh_cache_config c = *cfg;
  bool below = role == COH_L1;
  c.role = role;
  c.n_caches = (uint16_t)s->n_caches;
  c.above = (uint16_t)(below ? s->cfg.n_cpus : s->n_caches);
  c.n_above = (uint16_t)(below ? s->cfg.n_l2 : s->cfg.n_homes);
  n->agent = agent;
  n->period = c.period;
  n->cache = ARENA_NEW(&s->arena, struct coh_cache);
  if (agent)
    n->replies =
      (struct coh_queue){.slot = ARENA_ARRAY(&s->arena, struct coh_msg, s->cfg.places), .cap = s->cfg.places};
  coh_cache_init(n->cache, s->protocol, &c, n->port, agent ? &n->replies : NULL, &s->arena);
}

static void add_home(struct coh_system *s, uint32_t at)
{
  struct node *n = &s->node[at];
  struct coh_home_config c = s->cfg.home;
  c.n_caches = (uint16_t)s->n_caches;
  c.n_homes = (uint16_t)s->cfg.n_homes;
  for (uint32_t i = 0; s->cfg.l2_agent && i < s->cfg.n_l2; i++) c.beside |= (uint64_t)1 << (s->cfg.n_cpus + i);
  n->period = c.period;
  n->home = ARENA_NEW(&s->arena, struct coh_home);
  coh_home_init(n->home, s->protocol, &c, n->port, &s->arena);
}

static void add_nodes(struct coh_system *s)
{
  const struct coh_system_config *c = &s->cfg;
  bool levels = s->protocol->levels;
  uint32_t at = 0;
  for (uint32_t i = 0; i < c->n_cpus; i++) add_cache(s, at++, &c->cpu, COH_CACHE, &c->agent[i]);
  for (uint32_t i = 0; (levels || c->l2_agent) && i < c->n_l2; i++)
    add_cache(s, at++, &c->l2, COH_CACHE, c->l2_agent ? &c->l2_agent[i] : NULL);
  for (uint32_t i = 0; !levels && i < c->n_gpus; i++) add_cache(s, at++, &c->gpu, COH_CACHE, &c->agent[c->n_cpus + i]);
  for (uint32_t i = 0; i < c->n_homes; i++) add_home(s, at++);
  for (uint32_t i = 0; levels && i < c->n_gpus; i++) add_cache(s, at++, &c->gpu, COH_L1, &c->agent[c->n_cpus + i]);
}

static bool sized(struct coh_system *s, struct err *e)
{
  const struct coh_system_config *c = &s->cfg;
  s->protocol = coh_protocol_new(c->protocol, &s->arena);
  if (!s->protocol) return err_set(e, "no coherence protocol '%s'", c->protocol);
  if (s->protocol->levels && c->n_gpus && !c->n_l2)
    return err_set(e, "protocol '%s' needs a cache above those of %u GPU agents", c->protocol, c->n_gpus);
  BUG_ON(c->l2_agent && c->n_gpus);
  uint64_t caches = (uint64_t)c->n_cpus + (s->protocol->levels || c->l2_agent ? c->n_l2 : c->n_gpus);
  uint64_t nodes = caches + c->n_homes + (s->protocol->levels ? c->n_gpus : 0);
  if (!c->n_homes || !caches || nodes > COH_MAX_NODES)
    return err_set(e, "%" PRIu64 " caches and homes; from 2 to %d are possible", nodes, COH_MAX_NODES);
  s->n_caches = (uint32_t)caches;
  s->n_nodes = (uint32_t)nodes;
  return true;
}

struct coh_system *coh_system_new(const struct coh_system_config *cfg, struct err *e)
{
  struct coh_system *s = mem_zeroed(1, sizeof *s);
  s->cfg = *cfg;
  if (!sized(s, e)) return coh_system_free(s), NULL;
  s->cfg.net.topology.n_nodes = s->n_nodes;
  s->node = ARENA_ARRAY(&s->arena, struct node, s->n_nodes);
  s->part = ARENA_ARRAY(&s->arena, struct part, s->n_nodes);
  coh_net_init(&s->net, &s->cfg.net, cfg->places, &s->arena);
  for (uint32_t i = 0; i < s->n_nodes; i++) {
    s->node[i].port = &s->net.port[i];
    s->net.port[i].wake = &s->part[i].next;
    s->part[i] = (struct part){&node_ops, &s->node[i], 0};
  }
  s->net_part = (struct part){&net_ops, &s->net, TIME_NEVER};
  add_nodes(s);
  return s;
}

void coh_system_free(struct coh_system *s)
{
  if (!s) return;
  arena_free(&s->arena);
  mem_free(s);
}

struct domain_config coh_system_domain(struct coh_system *s)
{
  return (struct domain_config){
    .window = s->cfg.window,
    .n_phases = 2,
    .phase = {{.part = s->part, .n = s->n_nodes}, {.part = &s->net_part, .n = 1, .serial = true}},
  };
}

/* --- memory without time ------------------------------------------------------------------------- */

struct range {
  struct coh_system *system;
  uint64_t first, lines;
  coh_bytes_fn *see;
};

static uint8_t *memory_of(struct coh_system *s, uint64_t line)
{
  return s->cfg.home.memory(s->cfg.home.ctx, line);
}

static void save(void *ctx, uint64_t line, uint8_t *bytes)
{
  memcpy(memory_of(ctx, line), bytes, COH_LINE_BYTES);
}

static void renew(void *ctx, uint64_t line, uint8_t *bytes)
{
  memcpy(bytes, memory_of(ctx, line), COH_LINE_BYTES);
}

/* Messages with the bytes of a line, but for those that may be old. */
static void see_queue(struct coh_queue *q, const struct range *r)
{
  for (uint32_t i = 0; i < q->n; i++) {
    struct coh_msg *m = coh_queue_at(q, i);
    bool bytes = m->type == COH_DATA || m->type == COH_WB_DATA || m->type == COH_COPY;
    bytes &= !(m->flags & COH_BESIDE);
    if (bytes && m->line - r->first < r->lines && (r->see == renew || !(m->flags & COH_MEMORY)))
      r->see(r->system, m->line, m->data);
  }
}

static void see_all(struct coh_system *s, uint64_t first, uint64_t lines, coh_bytes_fn *see)
{
  const struct range r = {s, first, lines, see};
  for (uint32_t i = 0; i < s->n_nodes; i++) {
    if (s->node[i].cache) coh_cache_each(s->node[i].cache, first, lines, see == save, see, s);
    for (unsigned k = 0; k < COH_NETS; k++) {
      see_queue(&s->node[i].port->in[k], &r);
      see_queue(&s->node[i].port->out[k], &r);
    }
  }
}

void coh_system_to_memory(struct coh_system *s, uint64_t first, uint64_t lines)
{
  see_all(s, first, lines, save);
}

void coh_system_from_memory(struct coh_system *s, uint64_t first, uint64_t lines)
{
  see_all(s, first, lines, renew);
}

void coh_system_note_stores(struct coh_system *s, bool on)
{
  for (uint32_t i = 0; i < s->n_nodes; i++) {
    struct node *n = &s->node[i];
    if (!n->cache || n->cache->cfg.memory || (on && n->cache->notes)) continue;
    n->notes.n = 0;
    n->notes.full = false;
    n->cache->notes = on ? &n->notes : NULL;
  }
}

void coh_system_stores_to_memory(struct coh_system *s)
{
  bool all = false;
  for (uint32_t i = 0; i < s->n_nodes; i++) all |= s->node[i].notes.full;
  if (all) coh_system_to_memory(s, 0, UINT64_MAX);
  for (uint32_t i = 0; i < s->n_nodes; i++) {
    struct coh_notes *o = &s->node[i].notes;
    for (uint32_t k = 0; !all && k < o->n; k++) coh_system_to_memory(s, o->line[k], 1);
    o->n = 0;
    o->full = false;
  }
}

void coh_system_wake(struct coh_system *s, uint32_t agent, picos when)
{
  struct part *p = &s->part[agent_node(s, agent)];
  p->next = earlier(p->next, when);
}

/* --- looked at ----------------------------------------------------------------------------------- */

struct coh_cache *coh_system_cache(struct coh_system *s, uint32_t agent)
{
  return s->node[agent_node(s, agent)].cache;
}

const struct coh_protocol *coh_system_rows(const struct coh_system *s, uint64_t *taken)
{
  for (uint32_t i = 0; i < s->n_nodes; i++) {
    const uint64_t *hits = s->node[i].home ? s->node[i].home->row_hits : s->node[i].cache->row_hits;
    for (unsigned k = 0; k < s->protocol->n_rows; k++) taken[k] = (i ? taken[k] : 0) + hits[k];
  }
  return s->protocol;
}

const struct coh_net_stats *coh_system_net(const struct coh_system *s)
{
  return &s->net.stats;
}

void coh_system_dump(const struct coh_system *s, FILE *out)
{
  for (uint32_t i = 0; i < s->n_nodes; i++) node_dump(&s->node[i], out);
  net_dump(&s->net, out);
}
