/* Ctrl-C and kill, abort() and an exception that nobody catches: the program ends, and what was simulated so far is
 * reported first.
 *
 * The handler only sets a number and wakes a thread. A launch that is under way sees the number at its next look
 * (isa/watch.h), says where its warps are, and ends the program; when none is, the thread does. A program
 * that handles the signal itself keeps its own way, and so does a forked child.
 */
#ifndef WS_CUDA_INTERRUPT_H
#define WS_CUDA_INTERRUPT_H

#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>

struct shim;

struct interrupt {
  sem_t wake;
  atomic_int signal; /* 0: none */
  bool watched;      /* the thread is there */
  bool leaves;       /* the program has called _exit(), with this status */
  int status;
};

/* Watches SIGINT, SIGTERM and SIGABRT, where the program has left them as they were. Once. */
void interrupt_watch(struct shim *);
static inline bool interrupt_wanted(struct interrupt *i)
{
  return atomic_load_explicit(&i->signal, memory_order_relaxed) != 0;
}
/* The program has called _exit(), perhaps in a signal handler in the middle of anything: reports, in the thread that
 * watches, and ends it; comes back where that takes too long. Without the lock. */
void interrupt_leave(struct shim *, int status);
/* Reports and ends the program by the signal. Lock held. */
_Noreturn void interrupt_end(struct shim *);

#endif
