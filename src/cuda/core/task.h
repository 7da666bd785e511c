/* What the program has given to its streams, in the front end (host/front.h): an operation and the command that it is
 * there.
 *
 *   struct task   one operation, its own copy. Kernels, copies, fills, host functions, … each begin and end by what
 *                 is said of them here and in kernel_run.h, copy.h, mem_op.h, host_call.h
 *   streams       are chains of commands; which other streams an operation comes behind is in stream_order.h
 *   graphs        graph_run.h makes a command of each node
 *
 * The host's clock and the front end: a call first lets happen what happens until its time (task_catch_up), then
 * acts. One that waits lets time pass until what it waits for has ended. Where kernels do not share the GPU on the
 * timing model (without time, sampled, captured, watched …), time is arithmetic, and all that can happen does so in
 * the call that makes it possible. A program that waits in its own code is found out by a thread (idle_watch.h).
 */
#ifndef WS_CUDA_TASK_H
#define WS_CUDA_TASK_H

#include "cuda/core/graph.h"
#include "host/front.h"

struct device_grid;
struct kernel_run;
struct staged_copy;

struct task {
  struct command command;
  struct shim *shim;
  struct graph_op op;
  uint64_t stream_id;
  unsigned stream_gpu;       /* number of its board */
  struct call_mark call;     /* tracer.h */
  struct graph_run *run;     /* the launch of a graph that it belongs to; NULL: none */
  struct device_grid *grid;  /* of a kernel: takes what it queues; NULL: its module has no device runtime */
  struct kernel_run *kernel; /* of a kernel, while it runs (kernel_run.c) */
  struct staged_copy *staged; /* of a copy through the host, while it goes (staged_copy.c) */
  unsigned done;             /* of several memory operations, so many are done; a function has returned, a copy engine
                                has moved all of it */
  bool unattended;           /* a function: nobody waits for it in the front end */
};

/* Where an operation comes from. */
struct task_site {
  uint64_t stream_id;
  const struct board *board; /* of the stream */
  uint64_t not_before; /* ps: not ready before; for what a call gives, the host's time */
  bool moved;          /* what the operation points to is the work's from now on; else it makes copies */
};

/* What kinds of operations do (task_kinds.c). */
struct task_kinds {
  struct command_ops ops;
  void (*place)(struct shim *, const struct graph_op *, struct command *); /* what it takes, and of which GPU */
  void (*made)(struct task *); /* by the thread whose call gives it, whose context counts */
  /* Of one that asks: whether it could start, and what it waits for. */
  bool (*can_start)(const struct task *);
  void (*describe)(const struct task *, char *text, size_t size);
};

/* The front end of the GPUs that have come up. live: kernels share them. */
void task_start(struct shim *, const struct task_kinds *, const struct front_gpu *, bool live);

/* An operation, not yet given, that its caller holds. */
struct task *task_new(struct shim *, const struct graph_op *, const struct task_site *);
/* One that a call gives to a stream, copied. */
struct task *task_of_stream(struct shim *, const struct graph_op *, const struct stream *);
/* In the order of a stream, from the host's time on. It is no longer the caller's, except with task_give_held. */
void task_give(struct task *, struct stream *);
void task_give_held(struct task *, struct stream *);
/* A command that does nothing, not yet given. `end` (may be NULL) is called with ctx when all before it has ended. */
struct command *task_join(struct shim *, uint64_t not_before, void (*end)(void *ctx, uint64_t now), void *ctx);

/* The host waits, in simulated time, until it has ended; other threads of the program may call meanwhile.
 * CUDA_ERROR_NOT_PERMITTED: from a function that the front end itself waits for. */
CUresult task_wait(struct shim *, struct command *);
/* Everything that can happen happens now, in whatever simulated time; the host's clock stays. */
void task_settle(struct shim *);
/* Lets things happen until `until`, ps, or until somebody else wants to call. */
enum front_stop task_run(struct shim *, uint64_t until);
/* The same, or until c has ended. */
enum front_stop task_run_for(struct shim *, const struct command *c, uint64_t until);
bool task_has_ended(const struct shim *, const struct command *); /* at the host's time */
/* CUDA_ERROR_NOT_READY, for a program that asks again and again. Where processes have one time axis, on which others
 * only go on while it sleeps, it does when nothing of its own can happen: for this event of another process (NULL:
 * none), or where streams wait for values or events, which others may bring. */
CUresult task_not_ready(struct shim *, const struct shared_record *);

/* Nothing happens any more: behind a fault, or on a GPU whose contexts are being reset. */
bool task_is_off(const struct shim *, unsigned gpu);

/* At the beginning and the end of every call. */
void task_catch_up(struct shim *);
void task_go_on(struct shim *);
/* Behind a fault nothing happens any more; an operation that cannot be done when its time has come is one. */
void task_fault(struct shim *, CUresult, uint64_t when);

extern const struct shim_part task_part;

#endif
