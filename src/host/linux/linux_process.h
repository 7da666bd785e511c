/* A Linux process of RISC-V on a simulated core: its threads, files, signals and clock.
 *
 * Threads take turns on one core, a fixed number of instructions each, in the order of their creation: the same program
 * with the same input does the same on every run. The clock is nominal: an instruction takes a nanosecond, and when all
 * threads sleep it goes on to the first that wakes. System calls act on the host with the rights of the user who
 * started the simulator; all pointers of the guest are checked against its own address space.
 */
#ifndef WS_HOST_LINUX_LINUX_PROCESS_H
#define WS_HOST_LINUX_LINUX_PROCESS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "func/rv64/rv64_core.h"
#include "host/linux/linux_gpu.h"
#include "host/linux/linux_vm.h"

enum {
  LINUX_FILES = 1024,        /* descriptors of a process */
  LINUX_SIGNALS = 64,
  LINUX_THREADS = 4096,
  LINUX_TURN = 20000,        /* instructions of a thread's turn */
};

struct linux_options {
  const char *sysroot;   /* where files named absolutely are looked for first: interpreter, libraries; NULL: nowhere */
  char *const *env;      /* of the program */
  uint64_t max_insts;    /* 0: no limit */
  uint64_t memory_bytes; /* of guest memory, at most */
  bool name_missing;     /* name system calls that are not there on stderr, once each */
  const struct linux_gpu *gpu; /* NULL: there is none */
};

enum linux_thread_state {
  LINUX_RUNS,
  LINUX_FUTEX, /* waits for a wake, or its deadline */
  LINUX_SLEEPS,
  LINUX_RETRIES, /* its system call could not be served yet: again at its next turn */
};

/* What a signal does, as the guest sets it. */
struct linux_action {
  uint64_t handler, flags, mask;
};

struct linux_thread {
  struct rv64_hart hart; /* while another one runs */
  uint32_t tid;
  uint8_t state;         /* enum linux_thread_state */
  bool woken;            /* LINUX_FUTEX: by a wake, not by time */
  uint64_t futex;        /* address it waits for */
  uint32_t futex_bits;   /* of FUTEX_WAIT_BITSET */
  uint64_t deadline;     /* ns of the clock; UINT64_MAX: none */
  uint64_t clear_tid;    /* address of set_tid_address; 0: none */
  uint64_t blocked, pending; /* signals, bit 0: number 1 */
  uint64_t saved_blocked;    /* to go back to when rt_sigsuspend ends */
  bool suspended;            /* in rt_sigsuspend */
  bool yields;               /* its turn is over */
  uint64_t alt_stack, alt_size;
  uint32_t alt_flags;
  uint32_t core;             /* with cores in time: number + 1 of the one that it has; 0: none */
  uint64_t order, retry_ns;  /* … its place in the queue for one; LINUX_RETRIES: not before */
};

struct linux_file {
  int host; /* descriptor; -1: none */
  bool close_on_exec;
  uint32_t description; /* number of what was opened, the same in duplicates; 0, 1, 2: what the simulator has there */
};

/* A file that is mapped with the right to execute: for the names of places in code. */
struct linux_object {
  char *path;
  uint64_t start, end, offset; /* offset: of the file; of what the loader placed as a whole: lowest address in it */
  bool whole;
};

/* Regions of interest, which the program names (include/warpstep/region.h). */
struct linux_regions {
  uint64_t begun, ended;
  uint64_t begin_ns, total_ns; /* of the last one that has begun; of all that have ended */
};

struct linux_process {
  struct linux_options options;
  struct gmem *image;
  struct linux_vm vm;
  struct rv64_core *core;
  struct linux_thread **thread;
  uint32_t n_threads, room, running; /* running: index */
  uint32_t process_id, next_tid;
  struct linux_action action[LINUX_SIGNALS];
  uint64_t pending; /* signals for any thread */
  struct linux_file file[LINUX_FILES];
  uint32_t descriptions;
  struct linux_kept *kept; /* of the files, for a process that goes on from a checkpoint (linux_kept.h); NULL: none */
  uint32_t n_kept;
  struct linux_object *object;
  uint32_t n_objects, object_room;
  char program[PATH_MAX]; /* absolute name */
  uint64_t trampoline;    /* address of the code that ends a signal handler */
  uint64_t skipped;       /* ns that passed while all threads slept */
  uint32_t tries;         /* system calls in a row that had to wait for a file */
  uint64_t random;        /* state of the generator of getrandom */
  uint64_t missing[8];    /* bit per number of a system call that was named */
  struct linux_regions regions;
  uint64_t forward_to;    /* instructions without time before those with it (linux_process_forward) */
  bool forwards;
  bool exited;
  int status;             /* exit status */
};

/* What the calendar's clock says when the process begins: 2020-01-01, 00:00 UTC, in s since 1970. */
#define LINUX_EPOCH 1577836800ull

/* The clock, ns since the process began. */
static inline uint64_t linux_now(const struct linux_process *p)
{
  return p->core->instret + p->skipped;
}

static inline struct linux_thread *linux_running(struct linux_process *p)
{
  return p->thread[p->running];
}

/* Loads the program argv[0] with its arguments. NULL with *e filled. The image, with pages of 4 KiB, stays the caller's
 * and must be there until linux_process_free. */
struct linux_process *linux_process_new(struct gmem *image, const struct linux_options *, char *const *argv,
                                        struct err *e);
void linux_process_free(struct linux_process *);

/* How a program ended. */
enum linux_end {
  LINUX_EXITED, /* exit status in linux_process.status */
  LINUX_KILLED, /* by a signal of its own: 128 + its number in status */
  LINUX_FAULT,  /* an access or an instruction that is not allowed: likewise */
  LINUX_STUCK,  /* all threads wait for each other */
  LINUX_LIMIT,  /* max_insts */
  LINUX_FORWARDED, /* it goes on from here in time */
  LINUX_STOPPED,   /* it has come to where it was to stop, and goes on when it is told */
};

/* For who lets threads run elsewhere than on `core` (linux_cores.h), which has the registers of the running thread
 * while the operating system acts. The running thread goes on: its registers are in the core, its call has an end. */
void linux_process_resume(struct linux_process *);
/* Signals that wait for it are delivered. False: one ends the process, *e says which. */
bool linux_process_signals(struct linux_process *, struct err *e);
/* It has stopped so: its call or its fault is served. *gone: there is no such thread any more, or no process. False:
 * the process ends, *end and *e say how. */
bool linux_process_serve(struct linux_process *, enum rv64_stop, bool *gone, enum linux_end *end, struct err *e);

/* Runs it without time up to its first region of interest, or to so many instructions (0: no matter how many), as comes
 * first: LINUX_FORWARDED, and it stands as linux_cores_new takes it. Or it ends before, as said below. */
enum linux_end linux_process_forward(struct linux_process *, uint64_t insts, struct err *e);

/* Runs it to its end. *e says what happened but for LINUX_EXITED, one line. */
enum linux_end linux_process_run(struct linux_process *, struct err *e);

#endif
