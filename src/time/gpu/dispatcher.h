/* CTA dispatcher: hands the CTAs of grids, in order, to SMs with room.
 *
 *   ports   per SM: launches out, completions in
 *   grids   in the order in which they were launched: CTAs of a later one are handed out when all CTAs of those
 *           before it have been, and get the room that these leave in an SM (leftover policy: Amert et al., "GPU
 *           Scheduling on the NVIDIA TX2", RTSS 2017, rules G, X and R)
 *   order   the first CTAs go round the SMs breadth first; later ones to the SM that reports a
 *           completion, in (time, SM) order
 *   room    warps, CTA slots, registers and shared memory of an SM. An SM that is empty takes the carve-out of the
 *           grid whose CTA comes; others need to fit in what is there (CUDA Runtime API, cudaFuncSetCacheConfig: a
 *           kernel that prefers another one may have to wait until the device has stopped)
 *   clusters  all CTAs at once, in the SMs of one GPC, each in the SM that holds the fewest; GPCs in turn, later the one
 *           that reports a completion
 *   params  launch.latency_cycles (start of the kernel to the first CTA), launch.cta_interval,
 *           noc.request_latency (a launch takes at least one window), sm.*
 */
#ifndef WS_TIME_GPU_DISPATCHER_H
#define WS_TIME_GPU_DISPATCHER_H

#include "base/arena.h"
#include "config/params.h"
#include "time/gpu/occupancy.h"
#include "time/msg.h"

/* Grids at a time. CUDA programming guide, technical specifications: 128 (compute capability 7.5 on). */
enum { DISPATCH_MAX_GRIDS = 128 };

struct dispatch_port {
  struct launch_queue *launches;
  struct done_queue *done;
  struct sm_space used;
  uint32_t carveout;                     /* bytes of shared memory, while used.ctas > 0 */
  unsigned gpc;
  uint8_t resident[DISPATCH_MAX_GRIDS]; /* CTAs of each grid */
};

/* Completions between the first wave and the last are noted at even distances: how fast CTAs are done when all
 * SMs are full. */
enum { DISPATCH_MARKS = 9 };

struct dispatch_grid {
  /* filled by the caller */
  const struct step_source *source; /* its clusters; NULL: none */
  uint64_t n_ctas;
  picos start;         /* its launch reaches the GPU */
  unsigned per_sm;     /* most CTAs in an SM */
  struct sm_space cta; /* what each takes */
  uint32_t carveout;   /* bytes of shared memory it asks for */
  /* state */
  uint64_t next_cta, done;
  picos last_done; /* when the last completion happened */
  uint64_t mark_first, mark_step; /* mark[i]: when mark_first + i * mark_step CTAs were done; step 0: too few CTAs */
  unsigned n_marks;
  picos mark[DISPATCH_MARKS];
};

struct dispatcher {
  struct dispatch_port *port;
  unsigned n_ports, next_port, n_gpcs, next_gpc;
  struct sm_space space; /* of an SM */
  struct dispatch_grid *grid;
  unsigned n_grids, head; /* head: the one that is handed out */
  bool look;              /* SMs may have room for the head */
  picos next_launch;      /* the dispatcher is busy until then */
  picos interval, latency, launch_latency;
};

void dispatcher_init(struct dispatcher *, struct arena *, const struct params *, unsigned n_ports);
/* Grids start, which stay the caller's; the SMs are empty. */
void dispatcher_start(struct dispatcher *, struct dispatch_grid *, unsigned n, picos now);
/* CTAs of all grids; of those, that are done. */
uint64_t dispatcher_ctas(const struct dispatcher *);
uint64_t dispatcher_done(const struct dispatcher *);

picos dispatcher_run(void *self, picos from, picos to);
uint64_t dispatcher_progress(const void *self);
bool dispatcher_busy(const void *self);
void dispatcher_dump(const void *self, FILE *);

#endif
