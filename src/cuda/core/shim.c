#include "cuda/core/shim.h"

#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/host_memory.h"
#include "host/scheduler_tally.h"
#include "cuda/core/checked.h"
#include "cuda/core/context_turns.h"
#include "cuda/core/debugged.h"
#include "cuda/core/exec_report.h"
#include "cuda/core/ipc.h"
#include "cuda/core/modules.h"
#include "cuda/core/mps.h"
#include "cuda/core/pages.h"
#include "cuda/core/peer_access.h"
#include "cuda/core/stream_capture.h"
#include "cuda/core/kernel_live.h"
#include "cuda/core/kernel_turns.h"
#include "cuda/core/task_kinds.h"
#include "cuda/core/time_share.h"
#include "trace/export.h"

enum { PS_PER_NS = 1000 };

/* In the order in which they are told. What refers to others goes before them. */
static const struct shim_part *const parts[] = {
  &task_part,        &capture_part,      &graph_part, &stream_part, &module_part, &array_part,
  &object_note_part, &graph_memory_part, &ipc_part,   &memory_part, &pool_part,   &context_part,
  &peer_part,        &host_clock_part,   NULL,
};

static struct activity *new_activity(const struct shim *s)
{
  const struct params *p[BOARDS_MAX];
  for (unsigned i = 0; i < s->boards.n; i++) p[i] = &s->boards.of[i].preset.params;
  return activity_new(&s->options.activity, p, s->boards.n, PS_PER_NS);
}

static bool learn(struct shim *s, struct err *e)
{
  const char *text = program_is_guest(s) ? s->program.options : getenv(EXEC_OPTIONS_VARIABLE);
  TRY(exec_options_parse(&s->options, text, e));
  if (program_is_guest(s)) s->options.max_insts = 0; /* those of its CPU are meant */
  return boards_learn(s, e);
}

static bool bring_up(struct shim *s, struct err *e)
{
  if (s->options.trace &&
      !(s->trace = trace_export_new(s->options.trace, TRACE_XZ, TRACE_VERSION, e)))
    return false;
  device_print_open(&s->print);
  s->record.machine = s->options.machine;
  TRY(boards_start(s, e));
  if (s->boards.n == 0) return true; /* the program sees none */
  const struct board *first = &s->boards.of[0];
  TRY(debugged_start(&s->options, &s->debug, e));
  if (s->options.ncu.stream && !(s->profile = ncu_capture_new(&s->options.ncu, e))) return false;
  if (s->profile && s->options.ncu.schedulers) s->schedulers = scheduler_tally_new(&first->preset.params);
  TRY(checked_start(&s->options, first->device.mem, &s->checked, e));
  TRY(host_clock_start(s, e));
  timeline_init(&s->time, &first->preset.params);
  TRY(time_share_join(s, e));
  struct front_gpu gpu[BOARDS_MAX];
  s->shared = exec_options_share(&s->options);
  s->turns = s->boards.n > 1 && exec_options_take_turns(&s->options);
  s->patient = s->boards.n == 1 && exec_options_take_turns(&s->options) && s->options.threads <= 1 &&
               !program_is_guest(s);
  for (unsigned i = 0; i < s->boards.n; i++)
    gpu[i] = s->turns || s->patient ? kernel_turns_gpu(&s->boards.of[i]) : kernel_live_gpu(&s->boards.of[i]);
  task_start(s, &task_kinds, gpu, s->shared || s->turns);
  if (s->options.spin_strict && s->live && !program_is_guest(s)) poll_trap_start(s);
  if (s->options.html) s->pages = pages_new(s->boards.n);
  if (s->options.timeline) {
    s->activity = new_activity(s);
    mps_name(s, s->activity);
  }
  return true;
}

static void keep_status(int status, void *s)
{
  ((struct shim *)s)->status = status;
}

/* Once nobody else lets time pass any more. */
static void report_at_end(struct shim *s)
{
  atomic_fetch_add(&s->wanted, 1);
  pthread_mutex_lock(&s->lock);
  exec_report(s);
  if (s->polls) poll_trap_open(s);
}

static bool says_otherwise(const struct shim *s) { return s->lost || s->defects; }

/* quick_exit(), which runs no destructors. */
static void at_quick_end(void)
{
  struct shim *s = shim_if_any();
  if (s && s->pid == getpid() && !s->ending) report_at_end(s);
}

/* The program's own _exit() (mk/cuda.mk gives it that name), which runs nothing at all; a child that is forked, and
 * ends of our own, which hold the lock or have reported, leave at once. */
_Noreturn void program_leaves(int status);
_Noreturn void program_leaves(int status)
{
  struct shim *s = shim_if_any();
  if (s && s->up && s->pid == getpid() && !s->ending && !shim_is_mine(s)) interrupt_leave(s, status);
  for (;;) syscall(SYS_exit_group, status);
}

static void watch_process(struct shim *s)
{
  if (!s->ranks) interrupt_watch(s); /* else it ends at once, and the others with it */
  on_exit(keep_status, s);
  at_quick_exit(at_quick_end);
}

void shim_come_back(struct shim *s, void *thread, unsigned threads)
{
  shim_adopt(s, thread);
  if (!s->up) return;
  watch_process(s);
  for (unsigned i = 0; i < s->boards.n; i++)
    for (unsigned k = 0; k < board_lanes(&s->boards.of[i]); k++)
      simulator_renew_threads(board_lane(&s->boards.of[i], k), threads);
}

static CUresult failure(const struct shim *s)
{
  return s->failed_as ? s->failed_as : CUDA_ERROR_NO_DEVICE;
}

static CUresult fail(struct shim *s, const struct err *e)
{
  s->failed = true;
  if (e->msg[0]) shim_say("%s", e->msg);
  return failure(s);
}

CUresult shim_learn(struct shim *s)
{
  struct err e = {""};
  if (s->failed) return failure(s);
  if (s->known) return CUDA_SUCCESS;
  s->known = learn(s, &e);
  return s->known ? CUDA_SUCCESS : fail(s, &e);
}

CUresult shim_up(struct shim *s)
{
  struct err e = {""};
  if (s->starved) return CUDA_ERROR_OUT_OF_MEMORY;
  if (s->forked) return CUDA_ERROR_NOT_INITIALIZED;
  if (s->up) return CUDA_SUCCESS;
  const CUresult r = shim_learn(s);
  if (r != CUDA_SUCCESS) return r;
  s->up = bring_up(s, &e) && s->boards.n;
  if (!s->up) return fail(s, &e);
  s->parts = parts;
  s->pid = getpid(); /* perhaps a child of the process in which the library was loaded: this one uses the GPU */
  watch_process(s);
  return CUDA_SUCCESS;
}

__attribute__((destructor)) static void at_exit(void)
{
  struct shim *s = shim_if_any();
  if (!s || s->pid != getpid()) return; /* a child that is forked later reports nothing */
  report_at_end(s);
  if (!says_otherwise(s)) return;
  fflush(NULL);
  /* What was asked for is not there, or defects are: that must not look like success. */
  _exit(shim_status(s, s->status));
}
