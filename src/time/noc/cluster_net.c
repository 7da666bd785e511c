#include "time/noc/cluster_net.h"

void cluster_net_init(struct cluster_net *c, struct arena *a, const struct params *p, cluster_perform_fn *perform,
                      void *ctx)
{
  picos clock = params_clock_ps(p), hop = p->cluster_hop_latency * clock, window = params_request_ps(p);
  picos barrier = p->cluster_barrier_cycles * clock;
  *c = (struct cluster_net){.n_ports = p->gpu_sms,
                            .port = ARENA_ARRAY(a, struct cluster_port, p->gpu_sms),
                            .hop = hop > window ? hop : window,
                            .barrier = barrier > window ? barrier : window,
                            .max_states = p->gpu_sms * p->sm_max_ctas,
                            .perform = perform,
                            .ctx = ctx};
  c->state = ARENA_ARRAY(a, struct cluster_state, c->max_states);
  for (unsigned i = 0; i < c->n_ports; i++) {
    c->port[i].memory.femtos_per_byte = clock * 1000 / p->cluster_bytes_per_cycle;
    c->port[i].multicast.femtos_per_byte = params_l2_clock_ps(p) * 1000 / p->noc_sm_reply_bytes;
  }
}

void cluster_net_start(struct cluster_net *c)
{
  BUG_ON(c->n_sources);
  c->n_states = 0;
  c->fault = (struct fault){0};
  for (unsigned i = 0; i < c->n_ports; i++) c->port[i].memory.free_at_fs = c->port[i].multicast.free_at_fs = 0;
}

void cluster_net_open(struct cluster_net *c, unsigned slot, struct step_source *source)
{
  if (step_cluster_ctas(source) == 1) return;
  c->source[slot] = source;
  c->n_sources++;
}

void cluster_net_close(struct cluster_net *c, unsigned slot)
{
  if (!c->source[slot]) return;
  c->source[slot] = NULL;
  c->n_sources--;
}

/* --- the barrier ------------------------------------------------------------------------------- */

static struct cluster_state *state_of(struct cluster_net *c, const struct cluster_msg *m)
{
  uint64_t number = step_cluster_of(c->source[m->grid], m->cta);
  for (unsigned i = 0; i < c->n_states; i++)
    if (c->state[i].grid == m->grid && c->state[i].number == number) return &c->state[i];
  BUG_ON(c->n_states == c->max_states);
  c->state[c->n_states] = (struct cluster_state){.number = number, .grid = m->grid};
  return &c->state[c->n_states++];
}

static struct cluster_member *member_of(struct cluster_state *s, unsigned sm, uint64_t cta)
{
  for (unsigned i = 0; i < s->n; i++)
    if (s->member[i].cta == cta) return &s->member[i];
  BUG_ON(s->n == CLUSTER_MAX_MEMBERS);
  s->member[s->n] = (struct cluster_member){.cta = cta, .sm = (uint16_t)sm};
  return &s->member[s->n++];
}

static void end_phase(struct cluster_net *c, struct cluster_state *s, picos now)
{
  for (unsigned i = 0; i < s->n; i++) {
    struct cluster_member *m = &s->member[i];
    m->arrived = false;
    if (m->exited) continue;
    cluster_queue_push(c->port[m->sm].releases,
                       (struct cluster_msg){.arrive = now + c->barrier, .cta = m->cta, .grid = s->grid});
  }
}

static void meet(struct cluster_net *c, unsigned sm, const struct cluster_msg *msg, picos now)
{
  struct cluster_state *s = state_of(c, msg);
  struct cluster_member *m = member_of(s, sm, msg->cta);
  bool all = true, any = false, over = true;
  if (msg->kind == CLUSTER_EXIT) m->exited = true;
  else m->arrived = true;
  if (s->n < step_cluster_ctas(c->source[s->grid])) return;
  for (unsigned i = 0; i < s->n; i++) {
    all &= s->member[i].arrived || s->member[i].exited;
    any |= s->member[i].arrived;
    over &= s->member[i].exited;
  }
  if (all && any) end_phase(c, s, now);
  if (over) *s = c->state[--c->n_states];
}

/* --- accesses ---------------------------------------------------------------------------------- */

static bool access_memory(struct cluster_net *c, unsigned sm, const struct cluster_msg *m, picos now)
{
  struct cluster_load load = {0};
  if (!c->perform(c->ctx, sm, m->txn, now, &load, &c->fault)) return false;
  picos done = now;
  for (unsigned i = 0; i < load.n; i++) {
    struct cluster_port *port = &c->port[load.part[i].sm];
    struct server *s = load.crossbar ? &port->multicast : &port->memory;
    picos lasts = load.streamed ? load.part[i].bytes * s->femtos_per_byte / 1000 : 0;
    server_take(s, now > lasts ? now - lasts : 0, load.part[i].bytes);
    if (s->free_at_fs / 1000 > done) done = s->free_at_fs / 1000;
  }
  cluster_queue_push(c->port[sm].answers, (struct cluster_msg){.arrive = done + c->hop, .txn = m->txn});
  return true;
}

/* --- part -------------------------------------------------------------------------------------- */

/* The SM whose message arrives first; n_ports: there is none. */
static unsigned first_port(const struct cluster_net *c, picos *at)
{
  unsigned best = c->n_ports;
  *at = TIME_NEVER;
  for (unsigned i = 0; i < c->n_ports; i++) {
    const struct cluster_msg *m = cluster_queue_front(c->port[i].in);
    if (!m || m->arrive >= *at) continue;
    *at = m->arrive;
    best = i;
  }
  return best;
}

picos cluster_net_run(void *self, picos from, picos to)
{
  struct cluster_net *c = self;
  picos at;
  (void)from;
  if (!c->n_sources) return TIME_NEVER;
  for (unsigned i; (i = first_port(c, &at)) < c->n_ports && at < to && !c->fault.kind;) {
    struct cluster_msg m = *cluster_queue_front(c->port[i].in);
    cluster_queue_pop(c->port[i].in);
    c->messages++;
    if (m.kind != CLUSTER_ACCESS) meet(c, i, &m, at);
    else if (!access_memory(c, i, &m, at)) return TIME_NEVER;
  }
  return at;
}

uint64_t cluster_net_progress(const void *self)
{
  return ((const struct cluster_net *)self)->messages;
}

bool cluster_net_busy(const void *self)
{
  const struct cluster_net *c = self;
  for (unsigned i = 0; c->n_sources && i < c->n_ports; i++)
    if (c->port[i].in->n) return true;
  return false;
}

void cluster_net_dump(const void *self, FILE *out)
{
  const struct cluster_net *c = self;
  fprintf(out, "  SM-to-SM network: %llu messages, clusters that meet: %u\n", (unsigned long long)c->messages,
          c->n_states);
}
