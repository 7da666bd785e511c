/* Work that kernels queue: launches, copies, fills and events of the device runtime (CUDA programming guide,
 * "CUDA Dynamic Parallelism"). Here is what kernels call and what waits; device_work.h gives it to the front end.
 *
 *   struct device_grid     a launch whose kernel may queue work, until all that it queued has ended
 *   struct device_family   a launch by the host and all its descendants
 *
 * Launches that have not begun are pending; cudaLimitDevRuntimePendingLaunchCount must allow for them, as its
 * documentation asks.
 */
#ifndef WS_CUDA_DEVICE_QUEUE_H
#define WS_CUDA_DEVICE_QUEUE_H

#include "cuda/core/kernel.h"
#include "func/device_call.h"
#include "isa/sass/syscall.h"

/* Names of the NULL stream that a kernel gives to say what kind of launch it wants. */
enum { STREAM_TAIL = 3, STREAM_FORGET = 4 };

enum device_op_kind { OP_KERNEL, OP_COPY, OP_FILL, OP_RECORD, OP_WAIT };

struct device_op {
  struct device_op *next;
  enum device_op_kind kind;
  struct device_grid *grid; /* that queued it */
  uint64_t cta, stream;     /* cta: of the NULL stream */
  struct launch_request q;  /* OP_KERNEL */
  uint64_t buffer;          /* its parameters in the guest's memory */
  uint64_t to, from, pitch_to, pitch_from, width, height; /* OP_COPY, OP_FILL */
  uint64_t event;           /* OP_RECORD, OP_WAIT */
  uint8_t value;            /* OP_FILL */
};

/* What a stream has come to, or an event stands for. */
struct device_clock {
  uint64_t cta, handle;
  struct command *last; /* held; NULL: nothing */
};

struct device_family {
  struct shim *shim;
  unsigned users;
  uint64_t pending;          /* launches not begun */
  uint64_t limit[LIMIT__N];  /* of the context; the thread that simulates is not the program's */
};

struct device_grid {
  struct device_runtime calls; /* for the launch (host/launch.h) */
  struct device_family *work;
  struct loaded_module *module;
  struct graph_run *run;       /* NULL: it is of no graph */
  unsigned depth, users;
  bool child;                  /* a kernel launched it */
  bool beside;                 /* what it queues is given while it runs */
  bool listed;                 /* in shim.device_queued */
  struct device_grid *next_queued;
  uint64_t number;             /* in the record of launches */
  const struct context *context;
  const struct core_set *cores; /* on whose SMs those that it launches run, too; NULL: all */
  struct device_op *first, **last; /* queued, but for */
  struct device_op *tails, **last_tail; /* tail launches */
  struct device_op *reserved;      /* parameter buffers not launched yet */
  struct command *family;          /* comes behind all that was given; NULL: nothing was */
  struct device_clock *clocks;
  size_t n_clocks;
  uint8_t *handle;             /* what the grid's handles are: enum in device_queue.c */
  uint64_t n_handles;
};

struct device_family *device_family_new(struct shim *, const struct context *);
struct device_grid *device_grid_new(struct device_family *, struct loaded_module *, unsigned depth);
struct device_grid *device_grid_hold(struct device_grid *);
/* NULL: nothing. */
void device_grid_drop(struct device_grid *);
/* Takes what was queued first; NULL: nothing was. */
struct device_op *device_grid_next(struct device_grid *);
/* It has ended: buffers that were never launched go; unless `well`, all that was queued. */
void device_grid_close(struct device_grid *, bool well);
void device_grid_unlist(struct device_grid *);
/* Index of a stream's or event's clock; a new one may move the others. */
size_t device_grid_clock(struct device_grid *, uint64_t cta, uint64_t handle);

/* With its buffer, of a launch that did not begin. */
void device_op_free(struct device_op *);

#endif
