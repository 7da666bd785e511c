/* The simulated GPU behind the CUDA interfaces: one struct shim for the process, made at the first
 * call, behind one lock. Every entry point is one line through DRIVER or RUNTIME below: lock, check,
 * do it, remember the error, unlock.
 *
 *   driver/ runtime/   entry points by theme: argument forms and error codes, nothing else; their .def list all
 *                      published ones and whether they are served
 *   core/              what they have in common
 *
 * Work is simulated when it is issued, in the order of the program's calls; only its times lie on
 * streams (host/timeline.h). A fault of a kernel becomes visible, and sticks, at the first call after
 * the simulated time at which the kernel faulted.
 */
#ifndef WS_CUDA_SHIM_H
#define WS_CUDA_SHIM_H

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

#include "config/presets.h"
#include "cuda/core/api.h"
#include "cuda/core/interrupt.h"
#include "cuda/core/options.h"
#include "cuda/core/record.h"
#include "host/device.h"
#include "host/simulate.h"
#include "host/timeline.h"

enum { MAX_CONTEXTS_PER_THREAD = 64, MAX_CONFIGURATIONS = 16 };

struct cu_context {
  struct cu_context *next;
  unsigned flags;
  bool primary;
  unsigned users;        /* primary: retained this often; others: 1 */
  uint64_t id;           /* of all contexts that there ever were */
  uint64_t limit[LIMIT__N];
};

/* Nodes of a graph that is being captured. */
struct node_set {
  CUgraphNode *node;
  size_t n;
};

struct cu_stream {
  struct cu_stream *next;
  struct cu_context *context;
  unsigned flags;
  int priority;
  CUaccessPolicyWindow window; /* of L2; for the program to read back */
  int sync_policy;             /* likewise; 0: nothing was said */
  uint64_t id;
  struct stream_clock clock;
  bool graph;                 /* stands for a stream while a graph runs */
  struct cu_capture *capture; /* NULL: it does not capture */
  struct node_set tips;       /* what the next captured operation waits for */
  struct held *hold, *hold_last; /* hold.h; NULL: it does not wait */
};

struct cu_event {
  struct cu_event *next;
  unsigned flags;
  bool recorded;
  uint64_t when; /* ps: when it happens */
  uint64_t capture;     /* id of the capture it was recorded in, 0: none */
  struct node_set tips; /* and its place there */
};

/* <<<grid, block, shared, stream>>>, between push and pop. */
struct configuration {
  dim3 grid, block;
  size_t shared;
  CUstream stream;
};

/* What belongs to one thread of the program. */
struct cu_thread {
  struct cu_thread *next;
  struct cu_context *context[MAX_CONTEXTS_PER_THREAD]; /* stack; the last is current */
  unsigned n_contexts;
  CUresult last; /* cudaGetLastError */
  int capture_mode; /* cudaThreadExchangeStreamCaptureMode */
  struct configuration configuration[MAX_CONFIGURATIONS];
  unsigned n_configurations;
  struct cu_stream stream; /* the per-thread default stream */
};

struct cu_block;
struct rt_binary;
struct seen;

struct shim {
  pthread_mutex_t lock;
  pthread_key_t thread_key;
  pid_t pid; /* a forked child reports nothing */
  struct interrupt interrupt;
  bool up, failed; /* the GPU is there; it cannot be (said once) */
  struct exec_options options;
  struct preset preset;
  struct device device;
  FILE *print;            /* device printf until the next synchronisation */
  char *print_text;
  size_t print_bytes;
  struct simulator *simulator;
  struct waiting *waiting; /* together.h; NULL: no launch waits */
  struct trace_export *trace; /* NULL: no traces are written */
  struct timeline time;
  CUresult fault;         /* sticky error of a kernel; CUDA_SUCCESS: none */
  uint64_t fault_time;    /* ps: visible from then on */
  bool fault_waits;       /* of a launch without time: visible from the next wait on */
  struct cu_context *contexts, *primary;
  struct cu_stream *streams, legacy;
  struct cu_event *events;
  struct cu_array *arrays;
  struct cu_mipmap *mipmaps;
  struct cu_object *objects; /* driver_array.c */
  struct rt_object *rt_objects; /* runtime_array.c */
  struct cu_graph *graphs; /* graph.h */
  struct cu_user *users;   /* user_object.h: those referred to */
  struct cu_user *dead_users; /* whose destructors are to be called */
  struct cu_exec *execs;
  struct graph_run *graph_run; /* the launch of a graph that runs; NULL: none */
  struct cu_capture *captures; /* stream_capture.h: those going on */
  unsigned n_holds;        /* streams that wait (hold.h) */
  const struct cu_thread *hold_runner; /* who runs what was put off */
  struct cu_pool *pools, *default_pool, *current_pool; /* pool.h */
  struct ipc_open *ipc_open; /* ipc.h */
  struct vmm_memory *vmm_memory; /* vmm.h */
  struct vmm_range *vmm_ranges;
  struct vmm_mapping *vmm_mappings;
  struct graph_memory *graph_memory; /* graph_memory.h */
  struct graph_condition *conditions;
  uint64_t graph_bytes[4]; /* CUgraphMem_attribute */
  struct cu_module *modules;
  struct cu_thread *threads;
  struct cu_block *block; /* memory.h: by address */
  size_t n_blocks, cap_blocks;
  uint64_t device_bytes;  /* allocated of the board's memory */
  uint64_t host_next;     /* where the next host mapping goes */
  struct rt_binary *binaries; /* registered by the program's constructors */
  struct record record;
  struct sample_group *samples; /* sampling.h */
  struct notify *notifies;    /* notify.h */
  bool lost;   /* something that was to be written could not be */
  int status;  /* of the program, once it ends */
  const char **said;      /* what shim_unsupported has named */
  unsigned n_said;
  uint64_t next_id;
  struct seen *seen; /* interpose.c: under the run-time linker's lock */
  size_t n_seen;
};

/* What a call needs before it can do anything. */
enum shim_need {
  NEED_NOTHING, /* may be called before cuInit */
  NEED_GPU,     /* the driver was initialised */
  NEED_CONTEXT, /* the thread has a current context */
  NEED_LAUNCH,  /* the same, of a launch: those that wait (together.h) may go on waiting */
};

/* Locks, spends the host time of a call, checks. In any case *s must be given to shim_leave. */
CUresult shim_enter(struct shim **s, enum shim_need need);
/* As shim_enter; brings up the GPU and makes its primary context current when the thread has none, as
 * the runtime does. */
CUresult shim_enter_runtime(struct shim **s, enum shim_need need);
/* Unlocks. The result of the call: r, or a kernel's fault that has become visible. */
CUresult shim_leave(struct shim *s, CUresult r);
/* The same, and cudaGetLastError will say so. */
CUresult shim_leave_runtime(struct shim *s, CUresult r);

/* Body of an entry point; `expr` sees `s`. */
#define SHIM_CALL(enter, leave, need, expr)                                                        \
  do {                                                                                             \
    struct shim *s;                                                                                \
    CUresult result_ = enter(&s, need);                                                            \
    if (result_ == CUDA_SUCCESS) result_ = (expr);                                                 \
    return leave(s, result_);                                                                      \
  } while (0)
#define DRIVER(need, expr)  SHIM_CALL(shim_enter, shim_leave, need, expr)
#define RUNTIME(need, expr) SHIM_CALL(shim_enter_runtime, shim_leave_runtime, need, expr)

/* The process's shim; made when there is none. */
struct shim *shim_get(void);
/* Brings up the GPU: preset, device memory. Lock held. */
CUresult shim_up(struct shim *);
struct cu_thread *shim_thread(struct shim *);
/* Current context of the calling thread, NULL: none. */
struct cu_context *shim_context(struct shim *);
struct cu_context *shim_primary(struct shim *);

/* Whether calls return a kernel's fault now. */
bool shim_fault_visible(const struct shim *);
/* The host waits until `when`, ps, and sees what the device printed. */
CUresult shim_wait(struct shim *, uint64_t when);
/* Writes the table of launches and the JSON, as the options say. */
void shim_report(struct shim *);
/* Says so, and the program will not end with status 0. */
void shim_cannot_write(struct shim *, const struct err *);
/* Exit status of a program that would end with `status`. */
int shim_status(const struct shim *, int status);
/* Gives device printf to the program's stdout. */
void shim_flush_print(struct shim *);
/* A line on stderr, prefixed. */
void shim_say(const char *fmt, ...) __attribute__((format(printf, 1, 2), cold));
/* Names an entry point, or a use of one, that is not served, once per text, and gives
 * CUDA_ERROR_NOT_SUPPORTED. Lock held. */
CUresult shim_unsupported(struct shim *, const char *what);
/* Whether this text is new; it is kept. Lock held. */
bool shim_first_time(struct shim *, const char *text);
/* Zeroed host memory, or the end of the process. */
void *shim_alloc(size_t bytes);

#endif
