/* What the files of the GPU share: gpu.c (building it, launches, its windows), gpu_results.c (what a run leaves) and
 * gpu_follow.c (a GPU that another process simulates). Nobody else includes this.
 */
#ifndef WS_TIME_GPU_GPU_INSIDE_H
#define WS_TIME_GPU_GPU_INSIDE_H

#include "base/arena.h"
#include "time/gpu/gpu.h"
#include "time/gpu/gpu_stats.h"
#include "time/gpu/instances.h"
#include "time/gpu/netlist.h"
#include "time/link/link_port.h"
#include "time/sm/grid.h"

_Static_assert((int)GPU_SLOTS == (int)GRID_SLOTS, "a slot of the GPU is one of all its blocks");

enum { REQUESTER_DMA, REQUESTER_HUB, GPU_REQUESTERS };

struct gpu_grid {
  bool open;
  bool counts;   /* it had a launch since the run began */
  uint8_t space; /* of that launch */
  struct arena arena; /* its books */
  struct occupancy occupancy;
};

/* What is known of a GPU that another process simulates. */
struct gpu_followed {
  uint64_t ctas_done;
  struct gpu_launch_report launch[GRID_SLOTS];
  uint64_t *books; /* of the launch that was asked for last */
};

/* What gpu_finish and gpu_count leave. */
struct gpu_count {
  struct gpu_stats stats;
  struct netlist_stats sum;
};

struct gpu {
  struct params params;
  struct gpu_followed *followed; /* NULL: it is simulated here */
  struct netlist net;
  struct domain *domain;
  struct arena arena; /* its requesters */
  struct dma *dma;    /* NULL: none */
  struct hub_in *home; /* NULL: no links */
  struct hub_out *outward;
  picos ahead; /* it may be ahead of others of its machine */
  struct requester *requester[GPU_REQUESTERS];
  struct link_port *port[LINK_PORT__N];
  struct gpu_grid grid[GRID_SLOTS];
  unsigned n_open;
  /* Since the run began. */
  struct gmem *image;
  bool cores_started, control_bits;
  uint64_t launch_cycles; /* of the first launch, before its first CTA can start */
  picos started;
  struct netlist_stats before; /* counters then, or when the first launch came to copies */
  struct netlist_stats counters; /* behind the last window, where they have been summed up since: */
  bool summed;
  uint64_t summed_at; /* domain_windows */
  struct netlist_stats *begun; /* counters when the run began with a copy; NULL: it began with a launch */
  bool by_instance;            /* also of each instance alone: */
  struct gpu_instances instances_before;
  struct traffic moved_before[GRID_SLOTS + 1]; /* of each slot when its launch came; GRID_NONE: then */
  struct traffic moved_in[GPU_SPACES]; /* by address space: launches whose slot another one has now */
  uint64_t insts_before;       /* warp instructions then */
  uint64_t insts;              /* when a core ran last */
  unsigned const_spaces;       /* given out */
  struct occupancy first;      /* of its first launch */
  picos ended;                 /* the last of its launches that are closed */
  /* As it ended. */
  struct hazard *hazards; /* sum over SMs; NULL: not checked */
  struct gpu_count count;
  struct gpu_instances instances;
  const struct run_watch *watch;
  bool watch_ends;
  enum run_end stop;  /* why `between` ended the run */
  uint64_t next_poll; /* warp instructions */
  unsigned windows;   /* since the last poll */
};

/* Warp instructions of its cores, ever. */
static inline uint64_t gpu_all_insts(const struct gpu *g)
{
  uint64_t n = 0;
  for (unsigned i = 0; i < g->net.n_cores; i++) n += *g->net.core[i]->insts;
  return n;
}

/* A run begins: what it counts is what comes from now on. */
void gpu_begin_counting(struct gpu *);
/* When the launch in this slot has ended, if it has. */
picos gpu_end_of_grid(const struct gpu *, unsigned slot);

#endif
