/* CTA dispatcher: hands the grid's CTAs, in order, to SMs with room.
 *
 *   ports   per SM: launches out, completions in
 *   order   the first CTAs go round the SMs breadth first; later ones to the SM that reports a
 *           completion, in (time, SM) order
 *   params  launch.latency_cycles (start of the kernel to the first CTA), launch.cta_interval,
 *           noc.request_latency (a launch takes at least one window)
 */
#ifndef WS_TIME_GPU_DISPATCHER_H
#define WS_TIME_GPU_DISPATCHER_H

#include "base/arena.h"
#include "config/params.h"
#include "time/msg.h"

struct dispatch_port {
  struct launch_queue *launches;
  struct done_queue *done;
  unsigned room; /* CTAs the SM can still take */
};

/* Completions between the first wave and the last are noted at even distances: how fast CTAs are done when all
 * SMs are full. */
enum { DISPATCH_MARKS = 9 };

struct dispatcher {
  struct dispatch_port *port;
  unsigned n_ports, next_port;
  uint64_t next_cta, n_ctas, done;
  picos next_launch; /* the dispatcher is busy until then */
  picos interval, latency, launch_latency;
  picos last_done; /* when the last completion happened */
  uint64_t mark_first, mark_step; /* mark[i]: when mark_first + i * mark_step CTAs were done; step 0: too few CTAs */
  unsigned n_marks;
  picos mark[DISPATCH_MARKS];
};

void dispatcher_init(struct dispatcher *, struct arena *, const struct params *, unsigned n_ports);
/* A kernel of n_ctas starts at `now`; each SM takes at most per_sm CTAs at once. */
void dispatcher_start(struct dispatcher *, uint64_t n_ctas, unsigned per_sm, picos now);

picos dispatcher_run(void *self, picos from, picos to);
uint64_t dispatcher_progress(const void *self);
bool dispatcher_busy(const void *self);
void dispatcher_dump(const void *self, FILE *);

#endif
