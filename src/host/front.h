/* The front end of the GPUs of a machine: what a program gives to its streams, as commands that wait for each other,
 * and when each happens.
 *
 *   order    A command is ready when all that it comes behind has ended, and not before it was given. A stream is a
 *            chain of commands, an event a command that others come behind, a graph commands with its edges.
 *   GPUs     Each has its hardware queues, engines, and kernels that wait for it; a command knows its number.
 *   queues   Kernels of streams that share a hardware queue are looked at one after the other: one that waits for its
 *            stream keeps those behind it, of other streams, from starting (the false dependences of the CUDA
 *            programming guide, "Concurrent Kernel Execution").
 *   engines  One copy to the device at a time, one back, and one to a peer, in the order in which they became ready;
 *            those that go on the GPU's own engines (COMMAND_GOES) have their order there.
 *   kernels  wait for the GPU by priority, then in the order in which they became ready. Those that share it are there
 *            together, up to as many as it takes; one that does not waits until it is empty, and others behind it.
 *   time     front_run lets events happen in the order of their times, and the kernels on the GPUs, which have one
 *            clock, go on between them. A command starts when it is ready, whenever it is looked at: so a caller may be
 *            late.
 *
 * Nothing here is of CUDA, and nothing is known of what a command does: it is in its operations. One thread at a time.
 */
#ifndef WS_HOST_FRONT_H
#define WS_HOST_FRONT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FRONT_NEVER UINT64_MAX

enum { FRONT_QUEUES = 32 };

struct command;
struct front;

enum command_place {
  COMMAND_ANYWHERE, /* takes nothing */
  COMMAND_TO_DEVICE,
  COMMAND_TO_HOST,
  COMMAND_TO_PEER, /* the engine of the GPU that has the bytes */
  COMMAND_SHARES, /* a kernel among others */
  COMMAND_ALONE,  /* a kernel that has the GPU to itself while it starts; `start` runs it to its end */
};

/* How a command that was to start goes on. */
enum command_way {
  COMMAND_LASTS, /* until *end, ps, >= now */
  COMMAND_GOES,  /* until front_end */
  COMMAND_ASKS,  /* it could not start: it is asked again when something has happened */
};

struct command_ops {
  /* Its time has come, ps. */
  enum command_way (*start)(struct command *, uint64_t now, uint64_t *end);
  void (*end)(struct command *);  /* it has ended, at command.end; what comes behind it has not begun. May be NULL */
  void (*free)(struct command *); /* nobody holds it any more */
};

enum command_state { COMMAND_WAITS, COMMAND_READY, COMMAND_RUNS, COMMAND_DONE };

struct command {
  const struct command_ops *ops;
  enum command_place place;
  uint8_t gpu;      /* number of the GPU; for COMMAND_ANYWHERE of no interest */
  int priority;     /* higher ones first: of kernels here, of copies inside the GPU by their engine */
  unsigned queue;   /* hardware queue, from 1; 0: none */
  enum command_state state;
  bool awaited;     /* a run that may be cut (front.led) ends with it */
  bool late;        /* it was ready and had to wait for the GPU, or asks */
  unsigned users;
  uint64_t id;      /* in the order in which they were given */
  uint64_t ready;   /* ps: so far */
  uint64_t begin, end; /* ps; end: once it has ended */
  uint32_t waits;   /* for so many others */
  struct command *next_in_queue;
  struct command **behind; /* those that wait for it */
  uint32_t n_behind, room;
};

/* A GPU on which kernels share. */
enum front_gpu_stop {
  FRONT_GPU_REACHED, /* all have come to `until` */
  FRONT_GPU_EVENT,   /* kernels or copies have ended (front_end was called), or somebody who asks should be asked */
  FRONT_GPU_PAUSE,   /* the caller is wanted elsewhere */
};
struct front_gpu {
  void *ctx;
  unsigned (*count)(void *ctx); /* kernels and copies on it */
  bool (*full)(void *ctx);
  uint64_t (*now)(void *ctx);   /* ps: so far all have come, 0 while they are empty */
  enum front_gpu_stop (*run)(void *ctx, uint64_t until); /* this one, which is not empty, and all others */
};

struct front_heap {
  struct front_event {
    uint64_t time;
    struct command *command;
  } *event;
  uint32_t n, room;
};

struct command_list {
  struct command **at;
  uint32_t n, room;
};

/* What each GPU has of its own. */
struct front_unit {
  struct front_gpu gpu;
  struct command_list queue; /* for the GPU, in their order */
  struct front_queue {
    struct command *first, *last; /* not started */
  } hardware[FRONT_QUEUES];
  uint64_t engine_free[COMMAND_SHARES]; /* ps, of COMMAND_TO_DEVICE, COMMAND_TO_HOST and COMMAND_TO_PEER */
};

struct front {
  struct front_unit *unit;
  unsigned n_units;
  uint64_t reached;    /* ps: GPUs have gone so far, also where nothing happened on them */
  struct front_heap ready, running; /* by (time, id): when they are ready; when they end */
  struct command_list asking; /* those that ask */
  uint64_t now;        /* ps: all events before have happened */
  uint64_t last_end;   /* ps: of all commands that have ended, the last end */
  uint64_t next_id, n_open; /* n_open: commands given that have not ended */
  bool busy;           /* in front_run */
  bool led;            /* it comes back early, with FRONT_REACHED, when … */
  bool look_up;        /* … the caller should look again who waits for what */
};

/* Why front_run is back. */
enum front_stop {
  FRONT_REACHED, /* all events up to `until` have happened, or `target` has ended */
  FRONT_BLOCKED, /* nothing can happen any more but from outside: commands ask, or go on elsewhere */
  FRONT_PAUSED,  /* the GPU said so */
  FRONT_BUSY,    /* another call of it is under way: of another thread, or of a command's start */
};

/* GPUs 0 to n - 1. */
void front_init(struct front *, const struct front_gpu *, unsigned n);
/* Frees what is its own; no command is open. */
void front_free(struct front *);

/* A new command, which the caller holds: all but ops, place, gpu and priority is set here. */
void command_init(struct front *, struct command *, uint64_t not_before);
/* Before front_give: it comes behind `first` (NULL: nothing). */
void command_follow(struct command *, struct command *first);
void front_give(struct front *, struct command *);
/* A command that goes has ended. */
void front_end(struct front *, struct command *, uint64_t end);

struct command *command_hold(struct command *);
/* NULL: nothing. */
void command_drop(struct command *);

/* Kernels that share this GPU and could start now: those that wait for it, and those that are ready. */
uint32_t front_kernels_ready(const struct front *, unsigned gpu);
/* The time up to which GPUs with kernels have gone, ps; 0: none has any. */
uint64_t front_gpus_now(const struct front *);

/* Nothing can happen but from outside: what was given has ended, asks, or goes on elsewhere. */
bool front_stands(const struct front *);

/* Lets time pass until `until`, ps (FRONT_NEVER: as long as anything happens), or until `target` (may be NULL) has
 * ended. */
enum front_stop front_run(struct front *, uint64_t until, const struct command *target);

#endif
