/* The simulated GPUs behind the CUDA interfaces: one struct shim for the process, made at the first call,
 * behind one lock.
 *
 *   ../driver/ ../runtime/   entry points by theme: argument forms and error codes, nothing else; their .def list all
 *                            published ones and whether they are served
 *   here                     what they have in common. Each part has its file, with its state and what it does with
 *                            it; struct shim puts the states together, shim.c the parts
 *
 * From below: process.h (the process, its words), parts.h; contexts, memory, modules, arrays, streams, graphs; what
 * was given to streams (task.h) and what it does when its time has come (task_kinds.h: kernels, copies, …); streams
 * that capture (stream_capture.h); what a program gives to a stream or asks of it (enqueue.h, synchronize.h); at the
 * top the calls (call.h).
 *
 * Work happens in simulated time: the host's clock goes on with calls, and with it the front end (host/front.h) and
 * the GPU. A fault of a kernel becomes visible, and sticks, at the first call after the simulated time at which the
 * kernel faulted.
 */
#ifndef WS_CUDA_SHIM_H
#define WS_CUDA_SHIM_H

#include <pthread.h>
#include <sys/types.h>
#include <time.h>

#include "cuda/core/array.h"
#include "cuda/core/board.h"
#include "cuda/core/context.h"
#include "cuda/core/end_watch.h"
#include "cuda/core/graph.h"
#include "cuda/core/graph_memory.h"
#include "cuda/core/host_clock.h"
#include "cuda/core/host_call.h"
#include "cuda/core/interrupt.h"
#include "cuda/core/launch_watch.h"
#include "cuda/core/memory.h"
#include "cuda/core/object_note.h"
#include "cuda/core/options.h"
#include "cuda/core/parts.h"
#include "cuda/core/poll_trap.h"
#include "cuda/core/pool.h"
#include "cuda/core/process.h"
#include "cuda/core/calling_program.h"
#include "cuda/core/record.h"
#include "cuda/core/streams.h"
#include "cuda/core/tracer.h"
#include "cuda/core/user_object.h"
#include "cuda/core/vmm.h"
#include "host/activity.h"
#include "host/device.h"
#include "host/front.h"
#include "host/simulate.h"
#include "host/timeline.h"

enum { MAX_CONTEXTS_PER_THREAD = 64, MAX_CONFIGURATIONS = 16 };

/* <<<grid, block, shared, stream>>>, between push and pop. */
struct configuration {
  dim3 grid, block;
  size_t shared;
  CUstream stream;
};

/* What belongs to one thread of the program. */
struct thread {
  struct thread *next;
  pid_t tid;
  clockid_t cpu;    /* its processor time */
  struct context *context[MAX_CONTEXTS_PER_THREAD]; /* stack; the last is current */
  unsigned n_contexts;
  CUresult last;    /* cudaGetLastError */
  struct host_clock_thread host_clock;
  struct poll_thread polls;
  int capture_mode; /* cudaThreadExchangeStreamCaptureMode */
  struct configuration configuration[MAX_CONFIGURATIONS];
  unsigned n_configurations;
  struct stream stream[BOARDS_MAX]; /* the per-thread default streams, by device */
};

struct shim {
  /* The process */
  pthread_mutex_t lock;
  pthread_key_t thread_key;
  pid_t pid; /* whose GPU it is; a child that is forked later reports nothing */
  bool forked; /* such a child, which has no GPU */
  struct thread *threads;
  struct interrupt interrupt;
  struct told told;
  uint64_t next_id;
  bool lost;  /* something that was to be written could not be */
  bool starved; /* the host's memory ran out: the GPU is half changed, and calls fail */
  int status; /* of the program, once it ends */
  struct program program;
  struct interposed *interposed; /* interpose.c: under the run-time linker's lock */

  /* The GPUs */
  bool known, up, failed; /* which there are; they are there; they cannot be (said once) */
  unsigned nvml_users; /* calls of nvmlInit that nvmlShutdown has not ended */
  struct exec_options options;
  struct boards boards;
  struct ranks *ranks;   /* processes that do the same, of which this is one (board_ranks.h); NULL: it is alone */
  CUresult failed_as;    /* what calls say then; CUDA_SUCCESS: that there is no device */
  void (*enter)(struct shim *); /* a call begins: what others that have the GPU did; NULL: nobody else has it */
  struct mps *mps;       /* mps.h; NULL: the GPU is in this process */
  struct time_share *share; /* the GPU in turns with other processes (time_share.h); NULL: they have their own */
  struct timeline time; /* the host's clock */
  struct host_clock *host_clock; /* what passes on it between calls; NULL: nothing */
  struct device_print print;
  struct sticky_fault fault;

  /* What is under way */
  struct front front;
  const struct task_kinds *task_kinds;
  bool live;                /* the GPUs go on while the host's time passes (task.h) */
  bool shared;              /* … with kernels and copies on the timing model */
  bool turns;               /* … with kernels without time that take turns (kernel_turns.h) */
  bool patient;             /* one without time that takes long goes on beside the host (kernel_turns.h) */
  bool stands;              /* … but not now */
  const struct board *dropped; /* what has not begun there never will (task.c); NULL: none */
  bool ending;              /* the program ends: its functions are called no more */
  struct end_watch end;     /* of what is under way then */
  uint64_t asked_at;        /* `calls` at the last question that was answered with "not ready" (task.c) */
  unsigned asked;           /* such questions without rest, to a limit */
  bool may_pause;           /* who lets time pass may stop doing so */
  bool function_polls;      /* the stream's function that runs now (host_call.h) has polled (poll_trap.h) */
  bool looked_after;        /* progress.h */
  atomic_uint wanted;       /* threads that wait for the lock to call */
  uint64_t calls;           /* so far */
  const struct thread *caller; /* of the last one; NULL: a thread's first */
  struct host_calls host_calls;
  struct poll_trap *polls;  /* poll_trap.h; NULL: memory that the program shares with kernels is always open to it */
  struct host_turns *host_turns; /* host_turns.h; NULL: its threads go on as the system has them */
  struct device_grid *device_queued; /* kernels that run and have queued work (device_queue.h) */

  /* What the program made */
  const struct shim_part *const *parts; /* ended by NULL; none before the GPU is up */
  struct extension *extensions;
  struct contexts contexts;
  struct sm_group *sm_groups; /* sm_resource.c */
  struct green_context *greens; /* green_context.c */
  struct memory memory;
  struct vmm vmm;
  struct pools pools;
  struct ipc_open *ipc_open; /* ipc.c */
  struct shared_events *shared_events; /* ipc_event.c; NULL: none so far */
  struct arrays arrays;
  struct object_notes object_notes;
  struct loaded_module *modules; /* modules.c */
  uint32_t modules_made;
  /* The kernel's name of a host function that the program registered, or NULL. The runtime's; NULL: nothing was. */
  const char *(*registered_name)(struct shim *, const void *host);
  struct streams streams;
  struct stream_capture *captures; /* stream_capture.c: those going on */
  struct graphs graphs;
  struct graph_memories graph_memory;
  struct user_objects user_objects;
  struct notify *notifies; /* notify.c */

  /* What is reported */
  struct record record;
  struct sample_group *samples; /* sampling.h */
  struct checked *checked;      /* checked.h; NULL: no sanitizer */
  bool defects;                 /* it found some */
  struct debug_session *debug;  /* debugged.h; NULL: no debugger */
  struct ncu_capture *profile;  /* profiled.h; NULL: no profiler */
  struct scheduler_tally *schedulers; /* observes what is profiled, as long as the process lives; NULL: nothing does */
  struct trace_export *trace;   /* NULL: no traces are written */
  struct pages *pages;          /* pages.h; NULL: no page is written */
  struct activity *activity;    /* NULL: no timeline is written */
  struct tracer *_Atomic tracer; /* tracer.h; NULL: nobody follows calls. Read without the lock */
  struct tracer *follower;      /* the same also when it follows nothing; NULL: none was made */
  struct call_mark call_mark;   /* of the call under way */
};

/* For who only asks which GPUs there are (NVML): a process that has asked may fork, and its child use them. Lock
 * held. */
CUresult shim_learn(struct shim *);
/* Brings up the GPUs: presets, device memory. Lock held. */
CUresult shim_up(struct shim *);
/* This process goes on with it where another one was saved (docs/checkpoints.md). */
void shim_come_back(struct shim *, void *thread, unsigned threads);

#endif
