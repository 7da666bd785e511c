/* Observers: who wants to know what instructions do in the pipeline of an SM, and changes nothing by it. The hazard
 * checker (hazard.h) is one; the pipeline view and the timeline are others.
 *
 *   events   on the host thread that runs the SM, in the order in which the model gets to know of them. The cycle an
 *            event names may lie ahead: where nothing can overtake, the model knows at issue when an instruction reads
 *            its operands. Events of one instruction come in the order of its stages, those of different ones do not
 *   cost     without observers one test at issue and one at each step of the memory pipeline. An observer hears of
 *            those events for which its table has a function
 *   no observers: the ledger (ledger.h), which always counts, and whose charges are events here; hazard emulation
 *            (emulate.h), which changes what instructions read: only its knowledge of results that are written comes
 *            from here
 *   not told: instructions that were fetched and never issued; waits of variable-latency results for a write port
 */
#ifndef WS_TIME_SM_OBSERVER_H
#define WS_TIME_SM_OBSERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "isa/step.h"
#include "time/sm/grid.h"
#include "time/sm/warp_state.h"

/* Stages of the pipeline, in the order of the figure (Huerta et al., MICRO 2025, figure 3). Fixed-latency instructions
 * go from Control through Allocate and Read, the others to the queue of their unit. */
#define PIPE_STAGE_LIST(X)                                                                       \
  X(FETCH, "fetch")                                                                              \
  X(DECODE, "decode")                                                                            \
  X(BUFFER, "instruction buffer") /* decoded; waits for its turn                              */ \
  X(ISSUE, "issue")                                                                              \
  X(CONTROL, "control")           /* raises dependence counters; may be held by Allocate      */ \
  X(ALLOCATE, "allocate")         /* waits for read ports                                     */ \
  X(QUEUE, "queue")               /* of memory, of shared FP64 units, of warpgroups' products */ \
  X(ADDRESS, "address")           /* head of the memory queue: reads addresses, waits for the arbiter */ \
  X(READ, "read operands")                                                                       \
  X(EXECUTE, "execute")                                                                          \
  X(MEMORY, "memory")             /* from the arbiter's grant on: memory unit, caches, DRAM   */ \
  X(WRITE, "write-back")

enum pipe_stage {
#define X(id, name) STAGE_##id,
  PIPE_STAGE_LIST(X)
#undef X
      STAGE__N
};

/* An instruction on its way through the pipeline of a sub-core. */
struct observed {
  const struct inst *inst;
  uint32_t seq;     /* of its SM, from 1 in the order of issue; begins again after 2^32 */
  uint8_t sub_core;
  uint8_t warp;     /* slot in the sub-core */
};

/* How it issued. */
struct observed_issue {
  uint64_t at;         /* cycle */
  lane_mask active;    /* lanes of the path … */
  /* … and those of them whose guard is true. Not known of instructions that the memory side steps: active. */
  lane_mask exec;
  uint32_t effect;     /* enum effect_flag; likewise 0 */
};

/* A warp that arrives in its slot. */
struct observed_warp {
  const struct sm_grid *grid;
  const struct step_cta *cta;
  unsigned number; /* of the warp in its CTA */
  uint8_t cta_slot, sub_core, warp;
};

/* Cycles [from, until) that a warp waits for the same, or issues (WS_SELECTED). */
struct observed_wait {
  uint64_t pc; /* what it issues next, as far as that is known */
  uint64_t from, until;
  enum warp_state state;
};

struct observer;

/* NULL: not interested. Cycles are of the SM clock since the GPU was made. */
struct observer_ops {
  /* Grids start on an empty SM. */
  void (*start)(struct observer *);
  /* A warp arrives at the beginning of cycle `now`; its CTA has come, all of whose warps arrive one after another. */
  void (*warp_begin)(struct observer *, const struct observed_warp *, uint64_t now);
  /* Its CTA is over; the warp's slot is free from cycle `now` on. */
  void (*warp_end)(struct observer *, unsigned sub_core, unsigned warp, uint64_t now);
  /* What the warp's cycles were charged to: each cycle once, in order. */
  void (*wait)(struct observer *, unsigned sub_core, unsigned warp, const struct observed_wait *);
  /* Behind the waits that led there. */
  void (*issue)(struct observer *, const struct observed *, const struct observed_issue *);
  /* The instruction enters a stage, and leaves the one before, in cycle `at`. */
  void (*stage)(struct observer *, const struct observed *, enum pipe_stage, uint64_t at);
  /* It has left the pipeline in cycle `at`: the last event of it. */
  void (*done)(struct observer *, const struct observed *, uint64_t at);
  /* Those who wait for its counters may issue from cycle `visible` on: its results are written; its sources are read
   * and may be overwritten. */
  void (*written)(struct observer *, const struct observed *, uint64_t visible);
  void (*sources_read)(struct observer *, const struct observed *, uint64_t visible);
  /* `second` of a sub-core touches shared memory at `address` that the LDGSTS `first` of its CTA has still to write. */
  void (*unordered)(struct observer *, unsigned sub_core, const struct inst *first, const struct inst *second,
                    uint32_t address);
};

/* First member of the observer's own struct. */
struct observer {
  const struct observer_ops *ops;
  struct observer *next; /* of the same SM */
};

/* All observers of an SM. Boxes have a pointer to it, NULL as long as there is none. */
struct observers {
  struct observer *first;
  uint32_t seq;   /* of the latest instruction */
  bool unordered; /* somebody asks whether accesses to shared memory are in order */
};

/* In the order in which they are added. */
void observers_add(struct observers *, struct observer *);

/* One for each event; `set` is not NULL. */
void observe_start(struct observers *set);
void observe_warp_begin(struct observers *set, const struct observed_warp *, uint64_t now);
void observe_warp_end(struct observers *set, unsigned sub_core, unsigned warp, uint64_t now);
void observe_wait(struct observers *set, unsigned sub_core, unsigned warp, const struct observed_wait *);
void observe_issue(struct observers *set, const struct observed *, const struct observed_issue *);
void observe_stage(struct observers *set, const struct observed *, enum pipe_stage, uint64_t at);
void observe_done(struct observers *set, const struct observed *, uint64_t at);
void observe_written(struct observers *set, const struct observed *, uint64_t visible);
void observe_sources_read(struct observers *set, const struct observed *, uint64_t visible);
void observe_unordered(struct observers *set, unsigned sub_core, const struct inst *first, const struct inst *second,
                       uint32_t address);

extern const char *const pipe_stage_name[STAGE__N];

#endif
