#include "time/gpu/dispatcher.h"

void dispatcher_init(struct dispatcher *d, struct arena *a, const struct params *p,
                     unsigned n_ports)
{
  picos clock = params_clock_ps(p);
  *d = (struct dispatcher){
      .n_ports = n_ports,
      .port = ARENA_ARRAY(a, struct dispatch_port, n_ports),
      .interval = p->launch_cta_interval * clock,
      .latency = p->launch_cta_latency * clock,
      .launch_latency = p->launch_latency_cycles * clock,
  };
}

void dispatcher_start(struct dispatcher *d, uint64_t n_ctas, unsigned per_sm, picos now)
{
  d->n_ctas = n_ctas;
  d->next_cta = d->done = 0;
  d->next_port = 0;
  d->next_launch = now + d->launch_latency;
  d->last_done = now;
  uint64_t wave = (uint64_t)d->n_ports * per_sm;
  d->mark_first = wave;
  d->mark_step = n_ctas > 2 * wave ? (n_ctas - 2 * wave) / (DISPATCH_MARKS - 1) : 0;
  d->n_marks = 0;
  for (unsigned i = 0; i < d->n_ports; i++) d->port[i].room = per_sm;
}

/* Completion that happened first, in (time, SM) order; NULL when none is due before `to`. */
static struct dispatch_port *first_done(struct dispatcher *d, picos to)
{
  struct dispatch_port *best = NULL;
  picos at = to;
  for (unsigned i = 0; i < d->n_ports; i++) {
    struct cta_done *c = done_queue_front(d->port[i].done);
    if (!c || c->arrive >= at) continue;
    at = c->arrive;
    best = &d->port[i];
  }
  return best;
}

static void launch(struct dispatcher *d, struct dispatch_port *p, picos now)
{
  picos at = d->next_launch > now ? d->next_launch : now;
  d->next_launch = at + d->interval;
  p->room--;
  launch_queue_push(p->launches, (struct cta_launch){at + d->latency, d->next_cta++});
}

/* Next SM in turn with room, NULL when all are full. */
static struct dispatch_port *next_with_room(struct dispatcher *d)
{
  for (unsigned k = 0; k < d->n_ports; k++) {
    struct dispatch_port *p = &d->port[(d->next_port + k) % d->n_ports];
    if (!p->room || launch_queue_full(p->launches)) continue;
    d->next_port = (unsigned)((p - d->port) + 1) % d->n_ports;
    return p;
  }
  return NULL;
}

picos dispatcher_run(void *self, picos from, picos to)
{
  struct dispatcher *d = self;
  struct dispatch_port *p;
  while (d->next_cta < d->n_ctas && d->done == 0 && (p = next_with_room(d))) launch(d, p, from);
  while ((p = first_done(d, to))) {
    d->last_done = done_queue_front(p->done)->arrive;
    done_queue_pop(p->done);
    d->done++;
    if (d->mark_step && d->n_marks < DISPATCH_MARKS &&
        d->done == d->mark_first + d->n_marks * d->mark_step)
      d->mark[d->n_marks++] = d->last_done;
    p->room++;
    if (d->next_cta < d->n_ctas) launch(d, p, d->last_done);
  }
  for (unsigned i = 0; i < d->n_ports; i++)
    if (d->port[i].done->n) return to;
  return TIME_NEVER;
}

uint64_t dispatcher_progress(const void *self)
{
  const struct dispatcher *d = self;
  return d->next_cta + d->done;
}

bool dispatcher_busy(const void *self)
{
  const struct dispatcher *d = self;
  return d->done < d->n_ctas;
}

void dispatcher_dump(const void *self, FILE *out)
{
  const struct dispatcher *d = self;
  fprintf(out, "  dispatcher: %llu of %llu CTAs launched, %llu done\n",
          (unsigned long long)d->next_cta, (unsigned long long)d->n_ctas,
          (unsigned long long)d->done);
}
