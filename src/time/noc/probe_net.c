#include "time/noc/probe_net.h"

#include "time/mem/l2_map.h"

void probe_net_init(struct probe_net *n, struct arena *a, const struct params *p)
{
  *n = (struct probe_net){.params = p,
                          .n_cores = p->gpu_sms,
                          .n_slices = p->l2_slices,
                          .core = ARENA_ARRAY(a, struct inbox, p->gpu_sms),
                          .slice = ARENA_ARRAY(a, struct inbox, p->l2_slices),
                          .takes = ARENA_ARRAY(a, bool, p->gpu_sms),
                          .there = p->noc_reply_latency * params_l2_clock_ps(p)};
  if (p->l2_partitions > 1) n->far_extra = (p->l2_home_latency - p->l2_latency) * params_l2_clock_ps(p) / 2;
  for (unsigned i = 0; i < n->n_cores; i++) inbox_init(&n->core[i], a, n->n_slices);
  for (unsigned i = 0; i < n->n_slices; i++) inbox_init(&n->slice[i], a, n->n_cores);
}

void probe_net_free(struct probe_net *n)
{
  for (unsigned i = 0; i < n->n_cores; i++) inbox_free(&n->core[i]);
  for (unsigned i = 0; i < n->n_slices; i++) inbox_free(&n->slice[i]);
}

/* Inboxes keep requests: a probe is one of few fields. */
static struct mem_req as_message(const struct probe *p, picos arrive)
{
  return (struct mem_req){.arrive = arrive, .line = p->line, .from = p->core, .kind = p->kind, .sectors = p->sectors};
}

static struct probe of_message(const struct mem_req *m)
{
  return (struct probe){.arrive = m->arrive, .line = m->line, .core = m->from, .kind = m->kind, .sectors = m->sectors};
}

static picos extra(const struct probe_net *n, unsigned core, unsigned slice)
{
  return l2_partition_of_slice(n->params, slice) == l2_partition_of_sm(n->params, core) ? 0 : n->far_extra;
}

/* --- slice side --------------------------------------------------------------------------------- */

bool probe_net_takes(const struct probe_net *n, unsigned core)
{
  return n->takes[core];
}

void probe_net_send(struct probe_net *n, unsigned slice, const struct probe *p, picos now)
{
  BUG_ON(p->core >= n->n_cores || !n->takes[p->core]);
  const struct mem_req m = as_message(p, now + n->there + extra(n, p->core, slice));
  inbox_send(&n->core[p->core], slice, &m);
}

void probe_net_look(struct probe_net *n, unsigned slice)
{
  inbox_look(&n->slice[slice]);
}

picos probe_net_next(const struct probe_net *n, unsigned slice)
{
  return inbox_next(&n->slice[slice]);
}

struct probe probe_net_pop(struct probe_net *n, unsigned slice)
{
  struct probe p = of_message(inbox_front(&n->slice[slice]));
  inbox_pop(&n->slice[slice]);
  return p;
}

bool probe_net_busy(const struct probe_net *n, unsigned slice)
{
  return n->slice[slice].n || n->slice[slice].n_new;
}

/* --- core side ---------------------------------------------------------------------------------- */

picos probe_net_deliver(struct probe_net *n, unsigned core, struct probe_queue *to_core, picos to)
{
  struct inbox *in = &n->core[core];
  inbox_look(in);
  for (; inbox_next(in) < to; inbox_pop(in)) probe_queue_push(to_core, of_message(inbox_front(in)));
  return inbox_next(in);
}

void probe_net_answer(struct probe_net *n, unsigned core, struct probe_queue *from)
{
  for (; from->n; probe_queue_pop(from)) {
    const struct probe *p = probe_queue_front(from);
    unsigned slice = l2_place(n->params, p->line).slice;
    const struct mem_req m = as_message(p, p->arrive + extra(n, core, slice));
    BUG_ON(p->core != core);
    inbox_send(&n->slice[slice], core, &m);
  }
}
