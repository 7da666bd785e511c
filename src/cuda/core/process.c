#include "cuda/core/process.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bug.h"
#include "base/host_memory.h"
#include "cuda/core/shim.h"

/* The one writable global of the project (tools/lint/globals.py): the interfaces have no handle that
 * could carry it. */
static struct shim *_Atomic the_shim;

/* Making it ------------------------------------------------------------------------------------ */

void *shim_alloc(size_t bytes)
{
  void *p = calloc(1, bytes ? bytes : 1);
  NO_MEMORY_IF(!p);
  return p;
}

static void init_lock(struct shim *s)
{
  pthread_mutexattr_t recursive; /* callbacks and registration may come back in */
  pthread_mutexattr_init(&recursive);
  pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(&s->lock, &recursive);
  pthread_mutexattr_destroy(&recursive);
}

static struct shim *new_shim(void)
{
  struct shim *s = shim_alloc(sizeof *s);
  init_lock(s);
  BUG_ON(pthread_key_create(&s->thread_key, NULL));
  s->pid = getpid();
  s->next_id = 1;
  return s;
}

static void free_shim(struct shim *s)
{
  pthread_key_delete(s->thread_key);
  pthread_mutex_destroy(&s->lock);
  free(s);
}

/* Threads of ours, which a child does not have, may hold the lock. The GPU of a process that has started CUDA is not
 * that of its child, whose calls say that CUDA is not initialized (PyTorch's notes on multiprocessing: the CUDA runtime
 * does not support forks). */
static void before_fork(void)
{
  struct shim *s = shim_if_any();
  if (!s) return;
  atomic_fetch_add(&s->wanted, 1);
  pthread_mutex_lock(&s->lock);
}

static void behind_fork(void)
{
  struct shim *s = shim_if_any();
  if (!s) return;
  atomic_fetch_sub(&s->wanted, 1);
  pthread_mutex_unlock(&s->lock);
}

static void in_child(void)
{
  struct shim *s = shim_if_any();
  if (!s) return;
  init_lock(s);
  atomic_store(&s->wanted, 0);
  s->looked_after = false;
  s->forked = s->forked || s->up;
  s->up = false;
  s->host_calls = (struct host_calls){0};
}

static void watch_forks(void)
{
  pthread_atfork(before_fork, behind_fork, in_child);
}

static void be_this_thread(struct thread *t)
{
  t->tid = gettid();
  BUG_ON(pthread_getcpuclockid(pthread_self(), &t->cpu));
}

void shim_adopt(struct shim *s, void *thread)
{
  atomic_store(&the_shim, s);
  BUG_ON(pthread_key_create(&s->thread_key, NULL));
  BUG_ON(pthread_setspecific(s->thread_key, thread));
  for (struct thread *t = s->threads; t; t = t->next) be_this_thread(t);
  s->pid = getpid();
  watch_forks();
}

void device_print_open(struct device_print *p)
{
  p->file = open_memstream(&p->text, &p->bytes);
  NO_MEMORY_IF(!p->file);
}

struct shim *shim_if_any(void)
{
  return atomic_load(&the_shim);
}

struct shim *shim_get(void)
{
  struct shim *s = atomic_load(&the_shim), *none = NULL;
  if (s) return s;
  s = new_shim();
  if (!atomic_compare_exchange_strong(&the_shim, &none, s)) return free_shim(s), none;
  watch_forks(); /* from now on: the GPU may take its time to come up, with the lock */
  return s;
}

/* Of a recursive lock glibc knows who has it. */
bool shim_is_mine(const struct shim *s)
{
  return s->lock.__data.__owner == gettid();
}

void shim_lock(struct shim *s)
{
  atomic_fetch_add(&s->wanted, 1);
  pthread_mutex_lock(&s->lock);
  atomic_fetch_sub(&s->wanted, 1);
}

struct thread *shim_thread(struct shim *s)
{
  struct thread *t = pthread_getspecific(s->thread_key);
  if (t) return t;
  t = shim_alloc(sizeof *t);
  be_this_thread(t);
  t->next = s->threads;
  s->threads = t;
  BUG_ON(pthread_setspecific(s->thread_key, t));
  return t;
}

/* Words to the user ---------------------------------------------------------------------------- */

void shim_say(const char *fmt, ...)
{
  va_list ap;
  va_start(ap, fmt);
  fputs("warpstep: ", stderr);
  vfprintf(stderr, fmt, ap);
  fputc('\n', stderr);
  va_end(ap);
}

bool shim_first_time(struct shim *s, const char *what)
{
  struct told *t = &s->told;
  for (unsigned i = 0; i < t->n; i++)
    if (strcmp(t->text[i], what) == 0) return false;
  t->text = realloc(t->text, (t->n + 1) * sizeof *t->text);
  NO_MEMORY_IF(!t->text || !(t->text[t->n++] = strdup(what)));
  return true;
}

CUresult shim_unsupported(struct shim *s, const char *what)
{
  if (!shim_first_time(s, what)) return CUDA_ERROR_NOT_SUPPORTED;
  shim_say("%s is not served; the call fails with \"operation not supported\"", what);
  return CUDA_ERROR_NOT_SUPPORTED;
}

void shim_cannot_write(struct shim *s, const struct err *e)
{
  s->lost = true;
  shim_say("%s", e->msg);
}

void shim_starve(struct shim *s)
{
  if (!s->starved)
    shim_say("out of host memory: this and every later call of the CUDA interface fails, and no report is written");
  s->starved = s->lost = true;
}

int shim_status(const struct shim *s, int status)
{
  enum { CANNOT_WRITE = 2 }; /* as of warpstep itself for files that it cannot write */
  return status ? status : s->lost ? CANNOT_WRITE : s->defects ? (int)s->options.error_exitcode : 0;
}

/* The host's clock, and what it sees then ------------------------------------------------------- */

void shim_flush_print(struct shim *s)
{
  struct device_print *p = &s->print;
  if (!p->file) return;
  fflush(p->file);
  if (p->bytes == 0) return;
  fwrite(p->text, 1, p->bytes, stdout);
  rewind(p->file);
}

CUresult shim_wait(struct shim *s, uint64_t when)
{
  timeline_wait(&s->time, when);
  s->fault.waits = false;
  shim_flush_print(s);
  return CUDA_SUCCESS;
}

bool shim_fault_visible(const struct shim *s)
{
  return s->fault.code != CUDA_SUCCESS && !s->fault.waits && s->time.now >= s->fault.when;
}
