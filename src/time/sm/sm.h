/* Streaming multiprocessor: CTA slots, four sub-cores, the shared memory unit. One part of the
 * domain; runs alone for a window. sm_run() is its block diagram.
 */
#ifndef WS_TIME_SM_SM_H
#define WS_TIME_SM_SM_H

#include "base/arena.h"
#include "base/gmem_view.h"
#include "time/core/core.h"
#include "time/msg.h"
#include "time/noc/cluster_net.h"
#include "time/sm/sub_core.h"

enum { SM_MAX_CTAS = 64, SM_MAX_SUB_CORES = 4, SM_MAX_WARPS_PER_CTA = 64 };

struct hazard_set;

struct cta_slot {
  struct step_cta *cta; /* NULL: free */
  struct sm_grid *grid;
  unsigned number;      /* slot of the step source */
  bool exiting;         /* all warps have exited; waits for what is in flight */
  uint8_t untold;       /* what the cluster is to hear (bit per enum cluster_kind), behind accesses in the queues */
  uint8_t sub_core[SM_MAX_WARPS_PER_CTA], warp[SM_MAX_WARPS_PER_CTA];
};

struct sm {
  struct core core; /* how others see it: sm_core.c; first member */
  const struct params *params;
  unsigned id;
  picos period;
  struct sm_grid *grid; /* GRID_SLOTS; those that run */
  uint32_t carveout; /* bytes of shared memory the L1 array gives; UINT32_MAX: not said yet */
  unsigned n_sub_cores;
  uint64_t wake_at[SM_MAX_SUB_CORES]; /* of the sub-cores */
  struct sub_core sub_core[SM_MAX_SUB_CORES];
  struct l1i l1i;
  struct mem_unit mem;
  struct gmma gmma;
  struct tmem tmem;
  uint64_t tensor_at; /* the earlier of their next_at */
  struct cta_slot slot[SM_MAX_CTAS];
  unsigned n_slots; /* sm.max_ctas */
  unsigned resident, exiting;
  unsigned untold;       /* slots of which the cluster is to hear */
  uint64_t cycle;        /* next cycle to simulate */
  uint64_t active_from;  /* first cycle of the current busy stretch */
  uint64_t fp64_free_at; /* shared FP64 pipe */
  struct gmem_view view;
  struct gmem_log log;
  struct ledger ledger;
  struct sm_stats stats;
  struct hazard_set *hazards; /* NULL: not checked */
  struct observers observers; /* that there are: its boxes have a pointer then (sm_observe) */
  struct fault fault;
  /* ports */
  struct launch_queue launches; /* from the dispatcher */
  struct done_queue done;       /* to the dispatcher */
  struct cluster_queue releases; /* from the SM-to-SM network: a phase of the cluster's barrier has ended for a CTA */
  uint64_t done_latency;        /* cycles until the dispatcher hears of it */
  uint64_t room_at;             /* the last CTA that ended makes room then; later ones not sooner */
};

/* The SM is all zeros. */
void sm_init(struct sm *, struct arena *, const struct params *, unsigned id);

/* The GPU begins anew: memory is `image`, caches are empty, and so must the SM be. Instructions carry control bits or
 * not, those of all grids until the next start. */
void sm_start(struct sm *, struct gmem *image, bool control_bits);

/* A grid comes: CTAs of this source, by number, into a free slot. const_space: of its launch, which caches tell from
 * those of others (grid.h). Its books lie in the arena, which must live until it goes. */
void sm_open_grid(struct sm *, unsigned slot, struct step_source *, unsigned const_space, struct arena *);
/* It goes; sm_holds_grid says no. */
void sm_close_grid(struct sm *, unsigned slot);
/* CTAs of the grid are here, or stores of them on their way. */
bool sm_holds_grid(const struct sm *, unsigned slot);

/* Somebody observes the SM from now on: no CTA is resident. */
void sm_observe(struct sm *, struct observer *);

/* Part interface (time/part.h). */
picos sm_run(void *self, picos from, picos to);
uint64_t sm_progress(const void *self);
bool sm_busy(const void *self);
void sm_dump(const void *self, FILE *);

/* SM-to-SM network: performs transaction `txn`, and says what it moved. False: fault. */
bool sm_perform_cluster(struct sm *, unsigned txn, struct cluster_load *, struct fault *);

/* Memory side: performs transaction r->txn on the image: a strong access for its lanes in line
 * r->line, a service as a whole. Slices may do so at once for different lines. False: fault. */
/* The operands of an atomic, of the lanes in the request's line (step_ops.line_op). */
bool sm_line_op(struct sm *, const struct mem_req *, struct line_op *);
bool sm_perform(struct sm *, const struct mem_req *r, picos now, struct gmem_view *direct,
                struct fault *);

#endif
