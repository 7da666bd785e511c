#include "time/coh/coh_net.h"

#include <string.h>

#include "base/arith.h"
#include "base/bits.h"

void coh_net_init(struct coh_net_part *n, const struct coh_net_config *cfg, uint32_t places, struct arena *a)
{
  uint32_t nodes = cfg->topology.n_nodes, links = coh_topology_links(&cfg->topology);
  BUG_ON(!places || !nodes || nodes > COH_MAX_NODES);
  *n = (struct coh_net_part){.cfg = *cfg, .draws = cfg->seed};
  n->port = ARENA_ARRAY(a, struct coh_port, nodes);
  n->link_free_fs = ARENA_ARRAY(a, uint64_t, links);
  n->route = ARENA_ARRAY(a, uint32_t, links);
  n->last = ARENA_ARRAY(a, picos, (size_t)nodes * nodes * COH_NETS);
  for (uint32_t i = 0; i < nodes; i++) {
    n->port[i].node = (uint16_t)i;
    for (unsigned k = 0; k < COH_NETS; k++) {
      n->port[i].out[k] = (struct coh_queue){.slot = ARENA_ARRAY(a, struct coh_msg, places), .cap = places};
      n->port[i].in[k] = (struct coh_queue){.slot = ARENA_ARRAY(a, struct coh_msg, places), .cap = places};
    }
  }
}

static bool has_bytes(const struct coh_msg *m)
{
  if (m->flags & COH_BESIDE) return false;
  return m->type == COH_DATA || m->type == COH_WB_DATA || m->type == COH_COPY || m->type == COH_STORE ||
         (m->type == COH_DONE && m->kind == COH_LOAD);
}

static picos shaken(struct coh_net_part *n)
{
  if (!n->cfg.shake) return 0;
  n->draws = n->draws * 6364136223846793005u + 1442695040888963407u;
  return (n->draws >> 33) % (n->cfg.shake + 1);
}

/* When a message that leaves now is there. */
static picos travel(struct coh_net_part *n, const struct coh_msg *m)
{
  uint64_t bytes = COH_HEAD_BYTES + (has_bytes(m) ? COH_LINE_BYTES : 0), lasts = bytes * n->cfg.femtos_per_byte;
  uint32_t links = coh_topology_route(&n->cfg.topology, m->from, m->to, n->route);
  uint32_t hops = coh_topology_hops(&n->cfg.topology, m->from, m->to);
  uint64_t at = m->arrive * 1000;
  for (uint32_t i = 0; i < links; i++) {
    uint64_t *free = &n->link_free_fs[n->route[i]];
    at = later(at, *free);
    *free = at + lasts;
  }
  n->stats.messages++;
  n->stats.hops += hops;
  n->stats.bytes += bytes;
  return (at + lasts) / 1000 + hops * n->cfg.hop + shaken(n);
}

static picos in_order(struct coh_net_part *n, const struct coh_msg *m, unsigned net, picos at)
{
  picos *last = &n->last[((size_t)m->from * n->cfg.topology.n_nodes + m->to) * COH_NETS + net];
  *last = later(at, *last);
  return *last;
}

/* The first message of a queue, if there is room for it where it goes. */
static bool leave(struct coh_net_part *n, struct coh_port *p, unsigned net, picos to)
{
  struct coh_queue *out = &p->out[net];
  const struct coh_msg *m = coh_queue_front(out, to - 1);
  if (!m) return false;
  struct coh_port *there = &n->port[m->to];
  if (coh_queue_full(&there->in[net])) return false;
  picos at = in_order(n, m, net, travel(n, m));
  struct coh_msg *taken = coh_queue_insert(&there->in[net], at);
  *taken = *m;
  taken->arrive = at;
  coh_queue_pop(out);
  if (!out->n) p->sends = (uint8_t)(p->sends & ~(1u << net));
  *there->wake = earlier(*there->wake, at);
  *p->wake = earlier(*p->wake, to);
  return true;
}

struct head {
  picos at;
  uint8_t node, net;
};

/* Those that may leave before `to`. What finds no room cannot: nobody takes anything while the network runs. `next`:
 * when the others are to be looked at. */
static uint32_t heads(const struct coh_net_part *n, struct head *h, picos to, picos *next)
{
  uint32_t count = 0;
  for (uint32_t i = 0; i < n->cfg.topology.n_nodes; i++)
    for (unsigned left = n->port[i].sends; left; left &= left - 1) {
      unsigned k = bits_first(left);
      const struct coh_msg *m = coh_queue_at(&n->port[i].out[k], 0);
      const bool leaves = m->arrive < to && !coh_queue_full(&n->port[m->to].in[k]);
      if (leaves) h[count++] = (struct head){m->arrive, (uint8_t)i, (uint8_t)k};
      else *next = earlier(*next, later(m->arrive, to));
    }
  return count;
}

/* The earliest; of several the one of the lowest node and network. */
static uint32_t first(const struct head *h, uint32_t count)
{
  uint32_t best = 0;
  for (uint32_t i = 1; i < count; i++) {
    if (h[i].at > h[best].at) continue;
    bool lower = h[i].node != h[best].node ? h[i].node < h[best].node : h[i].net < h[best].net;
    if (h[i].at < h[best].at || lower) best = i;
  }
  return best;
}

picos coh_net_run(struct coh_net_part *n, picos from, picos to)
{
  struct head h[COH_MAX_NODES * COH_NETS];
  picos next = TIME_NEVER;
  (void)from;
  for (uint32_t count = heads(n, h, to, &next); count;) {
    uint32_t i = first(h, count);
    struct coh_port *p = &n->port[h[i].node];
    bool left = leave(n, p, h[i].net, to);
    h[i].at = coh_queue_next(&p->out[h[i].net]);
    if (left && h[i].at < to) continue;
    if (h[i].at != TIME_NEVER) next = earlier(next, later(h[i].at, to));
    h[i] = h[--count];
  }
  return next;
}

bool coh_net_busy(const struct coh_net_part *n)
{
  for (uint32_t i = 0; i < n->cfg.topology.n_nodes; i++)
    for (unsigned k = 0; k < COH_NETS; k++)
      if (n->port[i].out[k].n || n->port[i].in[k].n) return true;
  return false;
}
