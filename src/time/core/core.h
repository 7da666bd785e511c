/* A core: what holds CTAs and executes them, and how the rest of the GPU sees it. SMs are one kind (time/sm/sm_core.c);
 * a GPU may have several. Nobody but its own files looks inside a core.
 *
 *   in     step sources and launches of their CTAs; replies of memory, probes if it takes them; messages of the
 *          SM-to-SM network
 *   out    requests to memory (time/msg.h), answers to probes, completions, messages to that network, a log of its
 *          stores in the window
 *   order  one part of the GPU's domain (time/part.h): all cores run at once. Requests that are performed on the memory
 *          side come back to the core, while it does not run, to touch memory for its warps
 */
#ifndef WS_TIME_CORE_CORE_H
#define WS_TIME_CORE_CORE_H

#include "base/arena.h"
#include "base/gmem_view.h"
#include "config/params.h"
#include "isa/step.h"
#include "time/msg.h"

struct cluster_load;
struct hazard;
struct observer;
struct page_tables;
struct sm_stats;

/* Books of a grid, by instruction of its code view (gpu_inst_profile, time/gpu/gpu.h). */
struct core_books {
  uint64_t n_insts;
  uint64_t *by_inst, *issued, *threads, *sectors, *excess, *passes, *conflicts;
};

/* First member of a core. Ports lie in the core, which sets the pointers when it is built. */
struct core {
  const struct core_ops *ops;
  unsigned id;               /* number of the requester: mem_req.from, worker of the step source */
  const uint64_t *insts;     /* warp instructions so far */
  const uint64_t *mem_busy;  /* cycles its memory unit was taken so far; NULL: it has none */
  const struct fault *fault; /* FAULT_NONE: none */
  struct req_queue *out;
  struct reply_queue *in;
  struct launch_queue *launches;
  struct done_queue *done;
  struct cluster_queue *cluster_out, *cluster_in, *releases;
  struct probe_queue *probes, *probed; /* of memory, and its answers; NULL: a kind that takes none, as SMs are */
  struct page_queue *page_asks, *page_answers; /* translations that it asks for (walk); NULL: none */
  struct gmem_log *log;
  unsigned *port_users; /* cores that take turns at its port into the crossbar in this window */
};

struct core_ops {
  struct part_ops part; /* self: the core */
  /* Building, once; `free` what lies in no arena. */
  void (*init)(struct core *, struct arena *, const struct params *, unsigned id);
  void (*free)(struct core *);
  /* Grids (netlist.h says when). */
  void (*start)(struct core *, struct gmem *image, bool control_bits);
  void (*open_grid)(struct core *, unsigned slot, struct step_source *, unsigned const_space, struct arena *);
  void (*close_grid)(struct core *, unsigned slot);
  bool (*holds_grid)(const struct core *, unsigned slot);
  picos (*last_answer)(const struct core *, unsigned slot); /* of a store of the grid */
  /* The memory side performs what the core has asked for. False: fault. */
  bool (*perform)(struct core *, const struct mem_req *, picos now, struct gmem_view *direct, struct fault *);
  /* Operands of an atomic that is performed elsewhere, of a request of this core. False: it cannot be. NULL: a kind
   * whose requests stay on this GPU. */
  bool (*line_op)(struct core *, const struct mem_req *, struct line_op *);
  /* Answer to a REQ_WORK: CTAs that are launched no more, `cta` the first of their cluster. NULL: a kind that has no
   * such requests. */
  void (*give_work)(struct core *, unsigned txn, bool found, uint64_t cta);
  bool (*perform_cluster)(struct core *, unsigned txn, struct cluster_load *, struct fault *);
  /* Its port into the crossbar: requests stood there so long; it is busy at `now`. */
  void (*port_stood)(struct core *, picos);
  bool (*port_busy)(const struct core *, picos now);
  /* Looking at it. */
  void (*residents)(const struct core *, void (*see)(void *ctx, const struct step_cta *), void *ctx);
  void (*count_into)(const struct core *, struct sm_stats *);                      /* adds its counters */
  void (*books_into)(const struct core *, unsigned slot, struct core_books *);     /* adds a grid's books */
  /* What observes its pipeline from now on (time/sm/observer.h); the core is empty. NULL: it tells nothing. */
  void (*observe)(struct core *, struct observer *);
  /* Its GPU walks the page tables of a CPU: the core asks for translations from its first grid on. NULL: it translates
   * by itself. */
  void (*walk)(struct core *, struct arena *, const struct page_tables *);
  /* Control bits checked or emulated (time/sm/hazard.h, emulate.h). NULL: it has none. */
  void (*check_hazards)(struct core *, struct arena *);
  void (*hazards_into)(const struct core *, struct hazard *);
  void (*emulate_hazards)(struct core *, struct arena *);
};

/* A row of the table of cores. */
struct core_kind {
  const char *name;
  size_t bytes; /* of the struct that begins with a struct core */
  const struct core_ops *ops;
};

#endif
