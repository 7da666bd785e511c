#include "cuda/core/shim.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/host_memory.h"
#include "cuda/core/checked.h"
#include "cuda/core/debugged.h"
#include "cuda/core/exec_report.h"
#include "cuda/core/ipc.h"
#include "cuda/core/modules.h"
#include "cuda/core/pages.h"
#include "cuda/core/stream_capture.h"
#include "cuda/core/kernel_live.h"
#include "cuda/core/task_kinds.h"
#include "sanitize/sanitize.h"
#include "trace/export.h"

enum { PS_PER_NS = 1000 };

/* In the order in which they are told. What refers to others goes before them. */
static const struct shim_part *const parts[] = {
  &task_part,        &capture_part, &graph_part,  &stream_part, &module_part, &array_part,
  &object_note_part, &graph_memory_part, &ipc_part,     &memory_part, &pool_part,   &context_part, NULL,
};

static bool load_preset(struct shim *s, struct err *e)
{
  char dir[4096];
  TRY(exec_options_parse(&s->options, getenv(EXEC_OPTIONS_VARIABLE), e));
  TRY(presets_dir(s->options.presets, dir, sizeof dir, e));
  TRY(preset_load(s->options.gpu, dir, &s->preset, e));
  for (unsigned i = 0; i < s->options.n_set; i++)
    TRY(preset_override(&s->preset, s->options.set[i], e));
  TRY(params_check(&s->preset.params, e));
  return activity_choice_fits(&s->options.activity, s->preset.params.gpu_sms, e);
}

static bool bring_up(struct shim *s, struct err *e)
{
  TRY(load_preset(s, e));
  struct device_config config = device_config_for(&s->preset.params, s->options.timed);
  if (s->options.trace &&
      !(s->trace = trace_export_new(s->options.trace, TRACE_XZ, TRACE_VERSION, e)))
    return false;
  s->print.file = open_memstream(&s->print.text, &s->print.bytes);
  NO_MEMORY_IF(!s->print.file);
  config.print = s->print.file;
  config.presets = s->options.presets;
  if (s->options.sanitize) config.gap_bytes = SANITIZE_GAP;
  TRY(device_init(&s->device, &config, e));
  TRY(debugged_start(&s->options, &s->debug, e));
  if (s->options.ncu.stream && !(s->profile = ncu_capture_new(&s->options.ncu, e))) return false;
  TRY(checked_start(&s->options, s->device.mem, &s->checked, e));
  s->simulator = simulator_new(&s->preset.params);
  if (s->options.timed) simulator_surround(s->simulator);
  timeline_init(&s->time, &s->preset.params);
  const struct front_gpu gpu = kernel_live_gpu(s);
  task_start(s, &task_kinds, &gpu, kernel_live_possible(&s->options));
  if (s->options.html) s->pages = pages_new();
  if (s->options.timeline) s->activity = activity_new(&s->options.activity, &s->preset.params, PS_PER_NS);
  return true;
}

static void keep_status(int status, void *s)
{
  ((struct shim *)s)->status = status;
}

CUresult shim_up(struct shim *s)
{
  struct err e = {""};
  if (s->starved) return CUDA_ERROR_OUT_OF_MEMORY;
  if (s->up) return CUDA_SUCCESS;
  if (s->failed) return CUDA_ERROR_NO_DEVICE;
  s->up = bring_up(s, &e);
  s->failed = !s->up;
  if (s->failed) {
    shim_say("%s", e.msg);
    return CUDA_ERROR_NO_DEVICE;
  }
  s->parts = parts;
  s->pid = getpid(); /* perhaps a child of the process in which the library was loaded: this one uses the GPU */
  interrupt_watch(s);
  shim_watch_forks();
  on_exit(keep_status, s);
  return CUDA_SUCCESS;
}

__attribute__((destructor)) static void at_exit(void)
{
  struct shim *s = shim_if_any();
  if (!s || s->pid != getpid()) return; /* a child that is forked later reports nothing */
  atomic_fetch_add(&s->wanted, 1); /* nobody else lets time pass any more */
  pthread_mutex_lock(&s->lock);
  exec_report(s);
  if (!s->lost && !s->defects) return;
  fflush(NULL);
  /* What was asked for is not there, or defects are: that must not look like success. */
  _exit(shim_status(s, s->status));
}
