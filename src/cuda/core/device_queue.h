/* Work that kernels queue: launches, copies, fills and events of the device runtime (CUDA programming guide,
 * "CUDA Dynamic Parallelism"). Here is what kernels call and what waits; device_work.h runs it.
 *
 *   struct device_grid   a launch whose kernel may queue work, until all that it queued is done
 *   struct device_work   what waits, of a launch by the host and of all its descendants
 *
 * All launches of a grid are pending at once, so cudaLimitDevRuntimePendingLaunchCount must allow for them, as its
 * documentation asks.
 */
#ifndef WS_CUDA_DEVICE_QUEUE_H
#define WS_CUDA_DEVICE_QUEUE_H

#include "cuda/core/kernel.h"
#include "func/sass/device_call.h"

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

/* When a stream, or what an event stands for, is done. */
struct device_clock {
  uint64_t cta, handle, done;
};

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
  struct loaded_module *module;
  struct device_grid *parent;  /* whose completion waits for this one's */
  size_t clock;                /* the stream among the parent's clocks + 1; 0: none */
  bool tail;                   /* a tail launch */
  unsigned depth, users;
  uint64_t number;             /* in the record of launches */
  uint64_t ended, done;        /* ps: its own end; that of all its children, so far */
  struct device_op *first, **last, *reserved; /* queued; parameter buffers not launched yet */
  struct device_clock *clocks;
  size_t n_clocks;
  uint8_t *handle;             /* what the grid's handles are: enum in device_queue.c */
  uint64_t n_handles;
};

/* Before the kernel runs; the grid must lie still until all that it queued has run (device_work.c). */
void device_grid_begin(struct device_grid *, struct device_work *, struct loaded_module *);
/* It ran, as launch `number` of the record, and ended at `end`, ps: what it queued waits now. */
void device_grid_end(struct device_grid *, uint64_t number, uint64_t end);
/* Something of the grid, or of its descendants, ended at `end`. */
void device_grid_note_end(struct device_grid *, uint64_t end);
/* One more that refers to it, and its grid. */
struct device_grid *device_grid_use(struct device_grid *);
/* Index of a stream's or event's clock; a new one may move the others. */
size_t device_grid_clock(struct device_grid *, uint64_t cta, uint64_t handle);
/* Forgets a grid of a launch by the host. */
void device_grid_free(struct device_grid *);

void device_op_free(struct device_op *);
void device_op_free_all(struct device_op *);

#endif
