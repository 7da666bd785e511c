#include "cuda/core/shim.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bug.h"
#include "base/host_memory.h"
#include "base/output.h"
#include "cuda/core/hold.h"
#include "cuda/core/sampling.h"
#include "cuda/core/together.h"
#include "cuda/core/user_object.h"
#include "trace/export.h"

/* The one writable global of the project (tools/lint/globals.py): the interfaces have no handle that
 * could carry it. */
static struct shim *_Atomic the_shim;

void shim_say(const char *fmt, ...)
{
  va_list ap;
  va_start(ap, fmt);
  fputs("warpstep: ", stderr);
  vfprintf(stderr, fmt, ap);
  fputc('\n', stderr);
  va_end(ap);
}

void *shim_alloc(size_t bytes)
{
  void *p = calloc(1, bytes ? bytes : 1);
  NO_MEMORY_IF(!p);
  return p;
}

bool shim_first_time(struct shim *s, const char *what)
{
  for (unsigned i = 0; i < s->n_said; i++)
    if (strcmp(s->said[i], what) == 0) return false;
  s->said = realloc(s->said, (s->n_said + 1) * sizeof *s->said);
  NO_MEMORY_IF(!s->said || !(s->said[s->n_said++] = strdup(what)));
  return true;
}

CUresult shim_unsupported(struct shim *s, const char *what)
{
  if (!shim_first_time(s, what)) return CUDA_ERROR_NOT_SUPPORTED;
  shim_say("%s is not served; the call fails with \"operation not supported\"", what);
  return CUDA_ERROR_NOT_SUPPORTED;
}

/* Making and ending it ------------------------------------------------------------------------ */

static struct shim *new_shim(void)
{
  struct shim *s = shim_alloc(sizeof *s);
  pthread_mutexattr_t recursive; /* callbacks and registration may come back in */
  pthread_mutexattr_init(&recursive);
  pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(&s->lock, &recursive);
  pthread_mutexattr_destroy(&recursive);
  BUG_ON(pthread_key_create(&s->thread_key, NULL));
  s->pid = getpid();
  s->legacy.clock.legacy = true;
  s->next_id = 1;
  return s;
}

static void free_shim(struct shim *s)
{
  pthread_key_delete(s->thread_key);
  pthread_mutex_destroy(&s->lock);
  free(s);
}

struct shim *shim_get(void)
{
  struct shim *s = atomic_load(&the_shim), *none = NULL;
  if (s) return s;
  s = new_shim();
  if (atomic_compare_exchange_strong(&the_shim, &none, s)) return s;
  free_shim(s);
  return none;
}

void shim_cannot_write(struct shim *s, const struct err *e)
{
  s->lost = true;
  shim_say("%s", e->msg);
}

static void write_json(struct shim *s, uint64_t total)
{
  struct output out;
  struct err e = {""};
  FILE *f = output_open(&out, s->options.json, &e);
  if (f) record_write_json(f, &s->record, s->preset.params.name, total);
  if (!f || !output_close(&out, true, &e)) shim_cannot_write(s, &e);
}

static void write_table(const struct shim *s, FILE *f, uint64_t total)
{
  record_write_table(f, &s->record, s->preset.params.name, total);
  sampling_write(f, s->samples);
}

static void write_report(struct shim *s, uint64_t total)
{
  struct output out;
  struct err e = {""};
  FILE *f = output_open(&out, s->options.report, &e);
  if (f) write_table(s, f, total);
  if (!f || !output_close(&out, true, &e)) shim_cannot_write(s, &e);
}

/* A choice that no launch met is more likely a mistake than meant. */
static void tell_unmet(const struct shim *s)
{
  const struct choice *c = &s->options.choice;
  for (uint64_t i = 0; i < s->record.n; i++)
    if (choice_has(c, i + 1, s->record.launch[i].kernel)) return;
  if (s->record.n && (c->by_name || c->n_ranges))
    shim_say("none of the %llu launches is one that %s names", (unsigned long long)s->record.n,
             s->options.capture ? "--launches" : "--time-kernels");
}

void shim_report(struct shim *s)
{
  uint64_t total = s->time.now > s->time.all_done ? s->time.now : s->time.all_done;
  struct err e = {""};
  if (!s->up || s->pid != getpid()) return;
  together_run(s);
  shim_flush_print(s);
  fflush(stdout);
  if (s->options.json) write_json(s, total);
  if (!trace_export_free(s->trace, true, &e) && !s->lost) shim_cannot_write(s, &e);
  tell_unmet(s);
  hold_tell(s);
  s->trace = NULL;
  if (s->options.report) write_report(s, total);
  else if (!s->options.quiet) write_table(s, stderr, total);
}

int shim_status(const struct shim *s, int status)
{
  enum { CANNOT_WRITE = 2 }; /* as of warpstep itself for files that it cannot write */
  return status ? status : s->lost ? CANNOT_WRITE : 0;
}

static void keep_status(int status, void *s)
{
  ((struct shim *)s)->status = status;
}

__attribute__((destructor)) static void at_exit(void)
{
  struct shim *s = atomic_load(&the_shim);
  if (!s) return;
  shim_report(s);
  if (!s->lost || s->pid != getpid()) return;
  fflush(NULL);
  _exit(shim_status(s, s->status)); /* what was asked for is not there: that must not look like success */
}

/* The GPU -------------------------------------------------------------------------------------- */

static bool load_preset(struct shim *s, struct err *e)
{
  char dir[4096];
  TRY(exec_options_parse(&s->options, getenv(EXEC_OPTIONS_VARIABLE), e));
  TRY(presets_dir(s->options.presets, dir, sizeof dir, e));
  TRY(preset_load(s->options.gpu, dir, &s->preset, e));
  for (unsigned i = 0; i < s->options.n_set; i++)
    TRY(preset_override(&s->preset, s->options.set[i], e));
  return params_check(&s->preset.params, e);
}

static bool bring_up(struct shim *s, struct err *e)
{
  TRY(load_preset(s, e));
  struct device_config config = device_config_for(&s->preset.params, s->options.timed);
  if (s->options.trace &&
      !(s->trace = trace_export_new(s->options.trace, TRACE_XZ, TRACE_VERSION, e)))
    return false;
  s->print = open_memstream(&s->print_text, &s->print_bytes);
  if (!s->print) return err_set(e, "out of host memory");
  config.print = s->print;
  config.presets = s->options.presets;
  TRY(device_init(&s->device, &config, e));
  s->simulator = simulator_new(&s->preset.params);
  timeline_init(&s->time, &s->preset.params);
  return s->simulator || err_set(e, "out of host memory");
}

CUresult shim_up(struct shim *s)
{
  struct err e = {""};
  if (s->up) return CUDA_SUCCESS;
  if (s->failed) return CUDA_ERROR_NO_DEVICE;
  s->up = bring_up(s, &e);
  s->failed = !s->up;
  if (s->up) interrupt_watch(s);
  if (s->up) on_exit(keep_status, s);
  if (s->up) return CUDA_SUCCESS;
  shim_say("%s", e.msg);
  return CUDA_ERROR_NO_DEVICE;
}

void shim_flush_print(struct shim *s)
{
  if (!s->print) return;
  fflush(s->print);
  if (s->print_bytes == 0) return;
  fwrite(s->print_text, 1, s->print_bytes, stdout);
  rewind(s->print);
}

CUresult shim_wait(struct shim *s, uint64_t when)
{
  timeline_wait(&s->time, when);
  s->fault_waits = false;
  shim_flush_print(s);
  return CUDA_SUCCESS;
}

/* Threads and contexts -------------------------------------------------------------------------- */

struct cu_thread *shim_thread(struct shim *s)
{
  struct cu_thread *t = pthread_getspecific(s->thread_key);
  if (t) return t;
  t = shim_alloc(sizeof *t);
  t->next = s->threads;
  s->threads = t;
  BUG_ON(pthread_setspecific(s->thread_key, t));
  return t;
}

struct cu_context *shim_context(struct shim *s)
{
  struct cu_thread *t = shim_thread(s);
  return t->n_contexts ? t->context[t->n_contexts - 1] : NULL;
}

struct cu_context *shim_primary(struct shim *s)
{
  if (s->primary) return s->primary;
  struct cu_context *c = shim_alloc(sizeof *c);
  c->primary = true;
  c->id = s->next_id++;
  c->next = s->contexts;
  s->contexts = s->primary = c;
  return c;
}

/* Calls ---------------------------------------------------------------------------------------- */

bool shim_fault_visible(const struct shim *s)
{
  return s->fault != CUDA_SUCCESS && !s->fault_waits && s->time.now >= s->fault_time;
}

static CUresult check_need(struct shim *s, enum shim_need need)
{
  if (need == NEED_NOTHING) return CUDA_SUCCESS;
  if (!s->up) return s->failed ? CUDA_ERROR_NO_DEVICE : CUDA_ERROR_NOT_INITIALIZED;
  if (need != NEED_LAUNCH) together_run(s);
  timeline_call(&s->time);
  hold_poll(s, s->time.now);
  if (need == NEED_GPU) return CUDA_SUCCESS;
  if (shim_fault_visible(s)) return s->fault;
  return shim_context(s) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult shim_enter(struct shim **s, enum shim_need need)
{
  *s = shim_get();
  pthread_mutex_lock(&(*s)->lock);
  return check_need(*s, need);
}

CUresult shim_enter_runtime(struct shim **s, enum shim_need need)
{
  *s = shim_get();
  pthread_mutex_lock(&(*s)->lock);
  CUresult r = need == NEED_NOTHING ? CUDA_SUCCESS : shim_up(*s);
  if (r != CUDA_SUCCESS) return r;
  struct cu_thread *t = shim_thread(*s);
  if (need >= NEED_CONTEXT && t->n_contexts == 0) t->context[t->n_contexts++] = shim_primary(*s);
  return check_need(*s, need);
}

CUresult shim_leave(struct shim *s, CUresult r)
{
  hold_poll(s, s->time.last_end);
  user_object_bury(s);
  if (r == CUDA_SUCCESS && shim_fault_visible(s)) r = s->fault;
  pthread_mutex_unlock(&s->lock);
  return r;
}

CUresult shim_leave_runtime(struct shim *s, CUresult r)
{
  hold_poll(s, s->time.last_end);
  user_object_bury(s);
  if (r == CUDA_SUCCESS && shim_fault_visible(s)) r = s->fault;
  /* "Not ready" is an answer, not an error (CUDA Runtime API, cudaErrorNotReady). */
  if (r != CUDA_SUCCESS && r != CUDA_ERROR_NOT_READY) shim_thread(s)->last = r;
  pthread_mutex_unlock(&s->lock);
  return r;
}
