/* Threads of a Linux process (host/linux/linux_thread.h). */
#include "host/linux/linux_thread.h"

#include <string.h>

#include "base/host_memory.h"

struct linux_thread *linux_thread_new(struct linux_process *p)
{
  if (p->n_threads == LINUX_THREADS) return NULL;
  struct linux_thread *t = mem_zeroed(1, sizeof *t);
  t->tid = p->next_tid++;
  t->deadline = UINT64_MAX;
  p->thread = mem_more(p->thread, p->n_threads, &p->room, sizeof *p->thread);
  p->thread[p->n_threads++] = t;
  return t;
}

void linux_thread_end(struct linux_process *p, int status)
{
  struct linux_thread *t = linux_running(p);
  if (t->clear_tid) {
    const uint32_t zero = 0;
    if (linux_vm_write(&p->vm, t->clear_tid, &zero, sizeof zero)) linux_futex_wake(p, t->clear_tid, 1, UINT32_MAX);
  }
  if (p->n_threads == 1) {
    p->exited = true;
    p->status = status;
    return;
  }
  memmove(&p->thread[p->running], &p->thread[p->running + 1],
          (p->n_threads - p->running - 1) * sizeof(struct linux_thread *));
  p->n_threads--;
  mem_free(t);
  /* The next one in order comes next. */
  p->running = (p->running ? p->running : p->n_threads) - 1;
}

bool linux_thread_ready(const struct linux_process *p, const struct linux_thread *t)
{
  const uint64_t signals = (t->pending | p->pending) & ~t->blocked;
  switch (t->state) {
  case LINUX_RUNS:
  case LINUX_RETRIES: return true;
  case LINUX_FUTEX: return t->woken || signals || t->deadline <= linux_now(p);
  default: return signals || t->deadline <= linux_now(p);
  }
}

bool linux_thread_next(struct linux_process *p)
{
  for (;;) {
    uint64_t first = UINT64_MAX;
    for (uint32_t k = 1; k <= p->n_threads; k++) {
      const uint32_t i = (p->running + k) % p->n_threads;
      if (linux_thread_ready(p, p->thread[i])) {
        p->running = i;
        return true;
      }
      if (p->thread[i]->deadline < first) first = p->thread[i]->deadline;
    }
    if (first == UINT64_MAX) return false;
    p->skipped += first - linux_now(p);
  }
}

bool linux_thread_others(const struct linux_process *p)
{
  for (uint32_t i = 0; i < p->n_threads; i++) {
    const struct linux_thread *t = p->thread[i];
    const bool waits = t->state == LINUX_FUTEX || t->state == LINUX_SLEEPS;
    if (i != p->running && (!waits || t->woken || t->deadline != UINT64_MAX)) return true;
  }
  return false;
}

int linux_thread_patience(const struct linux_process *p)
{
  enum { MS = 1 };
  for (uint32_t i = 0; i < p->n_threads; i++) {
    const struct linux_thread *t = p->thread[i];
    if (i != p->running && (t->state == LINUX_RUNS || t->woken)) return 0;
  }
  return p->tries > 2 * p->n_threads ? MS : 0;
}

/* The waiter behind the running thread number k, in the order of turns, of this futex. */
static struct linux_thread *waiter(struct linux_process *p, uint32_t k, uint64_t addr)
{
  struct linux_thread *t = p->thread[(p->running + k) % p->n_threads];
  return t->state == LINUX_FUTEX && !t->woken && t->futex == addr ? t : NULL;
}

uint64_t linux_futex_wake(struct linux_process *p, uint64_t addr, uint64_t n, uint32_t bits)
{
  uint64_t woken = 0;
  for (uint32_t k = 1; k < p->n_threads && woken < n; k++) {
    struct linux_thread *t = waiter(p, k, addr);
    if (!t || !(t->futex_bits & bits)) continue;
    t->woken = true;
    woken++;
  }
  return woken;
}

uint64_t linux_futex_requeue(struct linux_process *p, uint64_t addr, uint64_t n, uint64_t to, uint64_t more)
{
  uint64_t woken = linux_futex_wake(p, addr, n, UINT32_MAX), moved = 0;
  for (uint32_t k = 1; k < p->n_threads && moved < more; k++) {
    struct linux_thread *t = waiter(p, k, addr);
    if (!t) continue;
    t->futex = to;
    moved++;
  }
  return woken + moved;
}
