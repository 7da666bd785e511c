/* Work that kernels queue: launches, copies, fills and events of the device runtime (CUDA programming guide,
 * "CUDA Dynamic Parallelism").
 *
 *   struct device_grid   a launch whose kernel may queue work, until all that it queued is done
 *   struct device_work   what waits, of a launch by the host and of all its descendants
 *
 *   order    Work starts when the grid that queued it has ended, with everything that this work queues itself
 *            before the next piece: the order in which it was queued, tail launches last. This keeps the
 *            order of every stream, and a grid is only done when its children are.
 *   time     A launch starts host.device_launch_ns behind the end of its grid, when its stream (the NULL stream of its
 *            CTA, a stream of the grid, none with fire and forget, for tail launches the grid with all its
 *            children) has come to it, and when SMs are free for it (host/timeline.h).
 *
 * Not modelled: children that run while their parent does. All launches of a grid are pending at once, so
 * cudaLimitDevRuntimePendingLaunchCount must allow for them, as its documentation asks.
 */
#ifndef WS_CUDA_DEVICE_WORK_H
#define WS_CUDA_DEVICE_WORK_H

#include "cuda/core/kernel.h"
#include "func/device_call.h"

struct device_op;

struct device_work {
  struct shim *shim;
  struct device_op *head;    /* what runs next comes first */
  uint64_t pending;          /* launches not begun */
  uint64_t limit[LIMIT__N];  /* of the context; the thread that simulates is not the program's */
};

/* Zeroed: of a launch by the host. */
struct device_grid {
  struct device_runtime calls; /* for the launch (host/launch.h) */
  struct device_work *work;
  struct cu_module *module;
  struct device_grid *parent;  /* whose completion waits for this one's */
  size_t clock;                /* the stream among the parent's clocks + 1; 0: none */
  bool tail;                   /* a tail launch */
  unsigned depth, users;
  uint64_t number;             /* in the record of launches */
  uint64_t ended, done;        /* ps: its own end; that of all its children, so far */
  struct device_op *first, **last, *reserved; /* queued; parameter buffers not launched yet */
  struct device_clock *clocks;
  size_t n_clocks;
  uint8_t *handle;             /* what the grid's handles are: enum in device_work.c */
  uint64_t n_handles;
};

/* Before the kernel runs; the grid must lie still until device_work_run. */
void device_grid_begin(struct device_grid *, struct device_work *, struct cu_module *);
/* It ran, as launch `number` of the record, and ended at `end`, ps: what it queued waits now. */
void device_grid_end(struct device_grid *, uint64_t number, uint64_t end);
/* Runs all that waits; a fault drops the rest. */
void device_work_run(struct device_work *);
/* Forgets a grid of a launch by the host. */
void device_grid_free(struct device_grid *);

#endif
