/* CTA dispatcher: hands the CTAs of grids, in order, to SMs with room.
 *
 *   ports   per SM: launches out, completions in
 *   grids   come and go, each in a slot, and are served by priority, those of one priority in the order in which they
 *           come: CTAs of a later one are handed out when all CTAs of those before it have been, and get the room that
 *           these leave in an SM (leftover policy: Amert et al., "GPU Scheduling on the NVIDIA TX2", RTSS 2017, rules
 *           G, X and R; priorities at CTA boundaries, nothing is preempted: CUDA programming guide, "Stream
 *           Priorities")
 *   gang    a grid whose CTAs wait for each other is handed out when there is room for all of it (CUDA programming
 *           guide, cooperative launch: all CTAs are resident at once)
 *   order   the first CTAs go round the SMs breadth first; later ones to the SM that reports a
 *           completion, in (time, SM) order
 *   room    warps, CTA slots, registers and shared memory of an SM. An SM that is empty takes the carve-out of the
 *           grid whose CTA comes; others need to fit in what is there (CUDA Runtime API, cudaFuncSetCacheConfig: a
 *           kernel that prefers another one may have to wait until the device has stopped)
 *   cluster its CTAs all at once, in the SMs of one GPC, each in the SM that holds the fewest; the first clusters go
 *           round the GPCs, later ones to the GPC that reports a completion
 *   masks   a grid may be for some SMs alone (green contexts: CUDA Driver API, "Green Contexts"). While there is one,
 *           each SM is the first waiting grid's that may use it, so grids for other SMs do not wait for each other;
 *           else grids are served in their order, the first alone
 *   taking  a CTA that runs may ask for those that are next: it does their work, they are not launched (cluster launch
 *           control)
 *   announce  the SMs hear of a grid when it starts, before its CTAs: they have its code read into L2
 *   params  launch.latency_cycles (start of the kernel to the first CTA), launch.cta_interval_x100,
 *           noc.request_latency (a launch takes at least one window), sm.*
 */
#ifndef WS_TIME_GPU_DISPATCHER_H
#define WS_TIME_GPU_DISPATCHER_H

#include "base/arena.h"
#include "base/core_set.h"
#include "config/params.h"
#include "time/gpu/occupancy.h"
#include "time/msg.h"

struct dispatch_port {
  struct launch_queue *launches;
  struct done_queue *done;
  struct sm_space used;
  uint32_t carveout;                     /* bytes of shared memory, while used.ctas > 0 */
  unsigned sm, gpc;
  uint8_t resident[GRID_SLOTS]; /* CTAs of each grid */
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
  bool prepared;       /* its launch was prepared while others ran */
  bool gang;           /* all CTAs at once; they fit an empty GPU */
  const struct core_set *cores; /* SMs that it may use; NULL: all */
  int priority;        /* higher ones first */
  /* state */
  bool announced;
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
  struct dispatch_grid grid[GRID_SLOTS];
  uint8_t waiting[GRID_SLOTS]; /* slots of the grids that have CTAs to hand out, in their order */
  unsigned n_waiting, head;    /* head: the one of them that is handed out */
  unsigned n_silent;           /* grids of which no SM has heard yet */
  picos until;                 /* what comes before counts as there */
  bool look;                   /* SMs may have room for the head */
  unsigned n_masked;           /* grids that are there for some SMs alone */
  struct core_set used_up;     /* while they are: SMs of grids before the head that wait */
  uint64_t ctas, handed, done; /* of all grids since dispatcher_start */
  uint64_t taken;              /* of those handed out, CTAs whose work others do */
  picos next_launch;      /* the dispatcher is busy until then */
  picos interval, latency, launch_latency, graph_latency;
  picos notice; /* start of a grid until the SMs hear of it, also of one that came a window late */
};

void dispatcher_init(struct dispatcher *, struct arena *, const struct params *, unsigned n_ports);
/* All grids are gone and the SMs are empty: the next grid finds what a new dispatcher has. */
void dispatcher_start(struct dispatcher *, picos now);
/* A grid comes, into a free slot. */
void dispatcher_add(struct dispatcher *, unsigned slot, const struct dispatch_grid *);
/* A grid goes: all its CTAs are done, or none has been handed out. */
void dispatcher_remove(struct dispatcher *, unsigned slot);
/* A CTA of the grid asks at `now` for the next ones, as many as a cluster has: they count as done, *cta is the first of
 * them. False: all have been handed out, or a grid of higher priority waits (CUDA programming guide, "Work Stealing
 * with Cluster Launch Control"). */
bool dispatcher_take(struct dispatcher *, unsigned slot, picos now, uint64_t *cta);
/* When it hands out a CTA next, as things stand. */
picos dispatcher_next(const struct dispatcher *);

picos dispatcher_run(void *self, picos from, picos to);
uint64_t dispatcher_progress(const void *self);
bool dispatcher_busy(const void *self);
void dispatcher_dump(const void *self, FILE *);

#endif
