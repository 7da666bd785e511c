#include "time/link/link_log.h"

#include "base/arith.h"
#include "base/host_memory.h"

/* Of a step, to begin with: ps. */
#define FIRST_WIDTH 1000000

void link_log_init(struct link_log *l, unsigned n_flows)
{
  *l = (struct link_log){.width = FIRST_WIDTH, .n_flows = n_flows, .flow = mem_zeroed(n_flows, sizeof *l->flow)};
}

void link_log_free(struct link_log *l)
{
  for (unsigned i = 0; i < l->n_flows; i++) mem_free(l->flow[i].step);
  mem_free(l->flow);
}

/* Steps are twice as long. */
static void widen(struct link_log *l)
{
  l->width *= 2;
  for (unsigned i = 0; i < l->n_flows; i++) {
    uint64_t *step = l->flow[i].step;
    if (!step) continue;
    for (unsigned k = 0; k < LINK_LOG_STEPS / 2; k++) step[k] = step[2 * k] + step[2 * k + 1];
    for (unsigned k = LINK_LOG_STEPS / 2; k < LINK_LOG_STEPS; k++) step[k] = 0;
  }
}

/* A byte belongs to the step in which its transfer ends. Steps double until the last one is within them, so none is
 * left behind them. */
static void spread(struct link_log *l, struct link_flow *f, picos at, uint64_t bytes, uint64_t femtos)
{
  while ((at + bytes * femtos / 1000) / l->width >= LINK_LOG_STEPS) widen(l);
  uint64_t done = 0;
  for (uint64_t k = at / l->width; done < bytes; k++) {
    const uint64_t until = ((k + 1) * l->width - at) * 1000;
    const uint64_t there = earlier(bytes, until / femtos);
    f->step[k] += there - done;
    done = there;
  }
}

void link_log_add(struct link_log *l, unsigned flow, picos now, uint64_t payload, uint64_t bytes, uint64_t femtos)
{
  struct link_flow *f = &l->flow[flow];
  if (!f->step) f->step = mem_zeroed(LINK_LOG_STEPS, sizeof *f->step);
  f->messages++;
  f->payload += payload;
  f->bytes += bytes;
  f->femtos_per_byte = femtos;
  spread(l, f, now > l->skew ? now - l->skew : 0, bytes, femtos);
}
