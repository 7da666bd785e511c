/* A Linux process from its start to its end (host/linux/linux_process.h). */
#include "host/linux/linux_process.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h> /* numbers of codes are the same on all machines */
#include <stdio.h>

#include "base/host_memory.h"
#include "host/linux/linux_file.h"
#include "host/linux/linux_object.h"
#include "host/linux/linux_signal.h"
#include "host/linux/linux_start.h"
#include "host/linux/linux_syscall.h"
#include "host/linux/linux_thread.h"

enum { REG_A0 = 10, FIRST_ID = 1000 };

struct linux_process *linux_process_new(struct gmem *image, const struct linux_options *o, char *const *argv,
                                        struct err *e)
{
  struct linux_process *p = mem_zeroed(1, sizeof *p);
  p->options = *o;
  p->image = image;
  linux_vm_init(&p->vm, image, o->memory_bytes);
  p->vm.gpu = o->gpu;
  p->core = rv64_core_new(&(struct rv64_memory){.os = &p->vm, .page = linux_vm_page});
  p->vm.core = p->core;
  p->process_id = p->next_tid = FIRST_ID;
  linux_files_init(p);
  if (linux_thread_new(p) && linux_start(p, argv, e)) return p;
  linux_process_free(p);
  return NULL;
}

void linux_process_free(struct linux_process *p)
{
  if (!p) return;
  linux_files_free(p);
  mem_free(p->kept);
  linux_objects_free(p);
  for (uint32_t i = 0; i < p->n_threads; i++) mem_free(p->thread[i]);
  mem_free(p->thread);
  rv64_core_free(p->core);
  p->vm.core = NULL;
  linux_vm_unmap(&p->vm, 0, LINUX_TASK_SIZE);
  linux_vm_free(&p->vm);
  mem_free(p);
}

/* A wait has ended: by a wake, by time, or by a signal. What the call returns; false: it is made again. */
static bool wait_result(struct linux_process *p, int64_t *result)
{
  struct linux_thread *t = linux_running(p);
  const bool late = t->deadline <= linux_now(p), forever = t->deadline == UINT64_MAX;
  const bool futex = t->state == LINUX_FUTEX;
  t->state = LINUX_RUNS;
  t->deadline = UINT64_MAX;
  if (futex && t->woken)
    *result = 0;
  else if (late)
    *result = futex ? -ETIMEDOUT : 0;
  else
    *result = -EINTR;
  t->woken = false;
  if (*result != -EINTR || !futex || !forever) return true;
  const int signal = linux_signal_next(p);
  return !signal || !(p->action[signal - 1].flags & LINUX_SA_RESTART);
}

void linux_process_resume(struct linux_process *p)
{
  struct linux_thread *t = linux_running(p);
  struct rv64_hart *h = &p->core->hart;
  int64_t result;
  *h = t->hart;
  h->reserved = false;
  if (t->state == LINUX_RUNS || t->state == LINUX_RETRIES || !wait_result(p, &result)) return;
  h->x[REG_A0] = (uint64_t)result;
  h->pc += 4;
}

/* Which signal a stop of the core is, and what it tells. */
static struct linux_fault fault_of(const struct linux_process *p, enum rv64_stop stop)
{
  const uint64_t at = p->core->trap_value;
  const int segv = linux_vm_is_free(&p->vm, at & RV64_PAGE_MASK, RV64_PAGE_BYTES) ? SEGV_MAPERR : SEGV_ACCERR;
  switch (stop) {
  case RV64_STOP_ILLEGAL: return (struct linux_fault){LINUX_SIGILL, ILL_ILLOPC, p->core->hart.pc};
  case RV64_STOP_EBREAK: return (struct linux_fault){LINUX_SIGTRAP, TRAP_BRKPT, p->core->hart.pc};
  case RV64_STOP_MISALIGNED: return (struct linux_fault){LINUX_SIGBUS, BUS_ADRALN, at};
  default: return (struct linux_fault){LINUX_SIGSEGV, at >= LINUX_TASK_SIZE ? SEGV_MAPERR : segv, at};
  }
}

static void describe_fault(const struct linux_process *p, enum rv64_stop stop, struct err *e)
{
  static const char *const what[] = {[RV64_STOP_EBREAK] = "breakpoint", [RV64_STOP_ILLEGAL] = "illegal instruction",
                                     [RV64_STOP_FETCH] = "instruction fetch", [RV64_STOP_LOAD] = "load",
                                     [RV64_STOP_STORE] = "store", [RV64_STOP_MISALIGNED] = "misaligned atomic"};
  char at[512], name[32], whose[128] = "";
  const uint64_t value = p->core->trap_value;
  const struct linux_gpu *gpu = p->options.gpu;
  const struct linux_fault f = fault_of(p, stop);
  linux_object_describe(p, p->core->hart.pc, at, sizeof at);
  const char *signal = linux_signal_name(f.signal, name, sizeof name);
  if (p->vm.exhausted)
    err_fill(e, "%s: the guest's memory is full (%" PRIu64 " MiB, --memory), at pc %s", signal,
             p->vm.most * RV64_PAGE_BYTES >> 20, at);
  else if (stop == RV64_STOP_ILLEGAL)
    err_fill(e, "%s: illegal instruction 0x%" PRIx64 " at pc %s", signal, value, at);
  else if (stop == RV64_STOP_EBREAK)
    err_fill(e, "%s: breakpoint at pc %s", signal, at);
  else
    err_fill(e, "%s: %s at address 0x%" PRIx64 "%s, at pc %s", signal, what[stop], value,
             gpu && gpu->describe(gpu->ctx, value, whose, sizeof whose)    ? whose
             : f.code == SEGV_ACCERR && f.signal == LINUX_SIGSEGV ? " not allowed" : "", at);
}

bool linux_process_signals(struct linux_process *p, struct err *e)
{
  char at[512], name[32];
  for (int n; (n = linux_signal_next(p)) != 0;) {
    if (linux_signal_deliver(p, n)) continue;
    linux_object_describe(p, p->core->hart.pc, at, sizeof at);
    err_fill(e, "killed by %s at pc %s", linux_signal_name(n, name, sizeof name), at);
    p->status = 128 + n;
    return false;
  }
  return true;
}

static void forget(void *ctx, uint64_t addr, uint64_t bytes)
{
  (void)ctx, (void)addr, (void)bytes;
}

static bool has_come(const struct linux_process *p)
{
  return p->forwards && (p->regions.begun || (p->forward_to && p->core->instret >= p->forward_to));
}

/* Executes up to instruction number `last`; GPUs that have work follow. */
static enum rv64_stop run(struct linux_process *p, uint64_t last)
{
  const struct linux_gpu *gpu = p->options.gpu;
  const uint64_t slice = gpu ? gpu->slice(gpu->ctx) : 0, most = last - p->core->instret;
  const enum rv64_stop stop = rv64_run(p->core, slice && slice < most ? slice : most);
  if (slice) gpu->follow(gpu->ctx, linux_now(p));
  if (slice && p->forwards) gpu->changes(gpu->ctx, forget, NULL); /* there are no caches yet */
  return stop;
}

bool linux_process_serve(struct linux_process *p, enum rv64_stop stop, bool *gone, enum linux_end *end, struct err *e)
{
  if (stop == RV64_STOP_ECALL) {
    const uint32_t threads = p->n_threads;
    stop = linux_syscall(p);
    *gone = p->exited || p->n_threads < threads; /* the thread may be gone */
    if (*gone || stop == RV64_STOP_ECALL) return true;
  }
  const struct linux_fault f = fault_of(p, stop);
  *gone = false;
  if (linux_signal_fault(p, &f)) return true;
  describe_fault(p, stop, e);
  p->status = 128 + f.signal;
  *end = LINUX_FAULT;
  return false;
}

/* A turn of the running thread: until its instructions are used up, it waits, or it is gone. */
static bool turn(struct linux_process *p, enum linux_end *end, struct err *e)
{
  struct linux_thread *t = linux_running(p);
  const uint64_t most = p->options.max_insts ? p->options.max_insts : UINT64_MAX;
  const uint64_t limit = p->forwards && p->forward_to && p->forward_to < most ? p->forward_to : most;
  const uint64_t left = limit > p->core->instret ? limit - p->core->instret : 0;
  const uint64_t last = p->core->instret + (left < LINUX_TURN ? left : LINUX_TURN);
  do {
    bool gone;
    if (!linux_process_signals(p, e)) return *end = LINUX_KILLED, false;
    if (p->core->instret >= last) break;
    const enum rv64_stop stop = run(p, last);
    if (stop == RV64_STOP_BUDGET) continue;
    if (!linux_process_serve(p, stop, &gone, end, e)) return false;
    if (gone) return true;
  } while (t->state == LINUX_RUNS && !t->yields && !has_come(p));
  t->yields = false;
  t->hart = p->core->hart;
  return true;
}

/* All have slept: GPUs that have work went on meanwhile. */
static void catch_up(const struct linux_process *p)
{
  const struct linux_gpu *gpu = p->options.gpu;
  if (gpu && gpu->slice(gpu->ctx)) gpu->follow(gpu->ctx, linux_now(p));
}

enum linux_end linux_process_run(struct linux_process *p, struct err *e)
{
  enum linux_end end = LINUX_EXITED;
  void (*const before)(int) = signal(SIGPIPE, SIG_IGN); /* the guest gets its own */
  linux_running(p)->hart = p->core->hart;
  for (;;) {
    linux_process_resume(p);
    if (has_come(p)) {
      end = LINUX_FORWARDED;
      break;
    }
    if (!turn(p, &end, e) || p->exited) break;
    if (p->options.max_insts && p->core->instret >= p->options.max_insts) {
      err_fill(e, "stopped after %" PRIu64 " instructions", p->core->instret);
      end = LINUX_LIMIT;
      break;
    }
    if (linux_thread_next(p)) {
      catch_up(p);
      continue;
    }
    err_fill(e, "all threads of the program wait for each other");
    end = LINUX_STUCK;
    break;
  }
  signal(SIGPIPE, before);
  return end;
}

enum linux_end linux_process_forward(struct linux_process *p, uint64_t insts, struct err *e)
{
  p->forwards = true;
  p->forward_to = insts;
  const enum linux_end end = linux_process_run(p, e);
  p->forwards = false;
  return end;
}
