#include "time/link/link_port.h"

#include "base/bug.h"

void link_port_free(struct link_port *p)
{
  link_ring_free(&p->out);
  link_ring_free(&p->taken);
  for (unsigned i = 0; i < LINK_PORT_LANES; i++) link_ring_free(&p->in[i]);
}

void link_port_send(struct link_port *p, const struct link_msg *m, const void *bytes)
{
  BUG_ON(m->arrive < p->last_sent);
  p->last_sent = m->arrive;
  struct link_msg *sent = link_ring_push(&p->out, m, bytes);
  sent->last = m->arrive;
  sent->wire = WIRE_NONE;
  p->fresh++;
}

void link_port_share(struct link_port *p, void (*fn)(void *ctx, const struct link_msg *, bool taken), void *ctx)
{
  link_ring_last(&p->out, p->fresh, fn, ctx, false);
  link_ring_last(&p->taken, p->taken.n, fn, ctx, true);
  p->fresh = 0;
}

void link_port_hear(struct link_port *p, const struct link_msg *m, const void *bytes, bool taken)
{
  link_ring_push(taken ? &p->taken : &p->out, m, bytes);
}

void link_port_drop(struct link_port *p)
{
  for (unsigned i = 0; i < p->n_lanes; i++)
    while (p->in[i].n) link_ring_pop(&p->in[i]);
}

picos link_port_next(const struct link_port *p, unsigned *lane)
{
  picos first = TIME_NEVER;
  for (unsigned i = 0; i < p->n_lanes; i++) {
    const struct link_msg *m = link_ring_front(&p->in[i]);
    if (m && m->arrive < first) first = m->arrive, *lane = i;
  }
  return first;
}

void link_port_pop(struct link_port *p, unsigned lane, picos now)
{
  struct link_msg m = *link_ring_front(&p->in[lane]);
  m.arrive = now;
  m.body = 0;
  link_ring_push(&p->taken, &m, NULL);
  link_ring_pop(&p->in[lane]);
}

