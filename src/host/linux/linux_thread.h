/* Threads of a Linux process: their turns, what they wait for. */
#ifndef WS_HOST_LINUX_LINUX_THREAD_H
#define WS_HOST_LINUX_LINUX_THREAD_H

#include "host/linux/linux_process.h"

/* A new thread; NULL: there are too many. */
struct linux_thread *linux_thread_new(struct linux_process *);
/* Ends the running thread: clears and wakes what set_tid_address named. The process exits with the last one. */
void linux_thread_end(struct linux_process *, int status);

/* Whether it can go on at this moment. A thread that ends its wait by time is no longer woken by others. */
bool linux_thread_ready(const struct linux_process *, const struct linux_thread *);

/* Gives the core to the next thread that can run, and lets the clock go on to the first deadline when none can. False:
 * all wait for each other. */
bool linux_thread_next(struct linux_process *);
/* Whether another thread than the running one could go on now, or will by itself. */
bool linux_thread_others(const struct linux_process *);
/* How long, in ms, a thread may hold the host to wait for a file: nothing while others have something to do. */
int linux_thread_patience(const struct linux_process *);

/* Wakes up to n waiters of a futex that have a bit in common; returns how many. */
uint64_t linux_futex_wake(struct linux_process *, uint64_t addr, uint64_t n, uint32_t bits);
/* Wakes n waiters and lets up to `more` of the others wait for `to`; returns how many both were. */
uint64_t linux_futex_requeue(struct linux_process *, uint64_t addr, uint64_t n, uint64_t to, uint64_t more);

#endif
