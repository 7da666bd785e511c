/* The process: its one struct shim, its threads, and what every part of the shim needs: memory, words to
 * the program's user, the host's clock, the error that sticks. Lock held, where not said otherwise.
 */
#ifndef WS_CUDA_PROCESS_H
#define WS_CUDA_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"
#include "cuda/core/api.h"

struct shim;
struct thread;

/* Output of device printf until the next synchronisation. */
struct device_print {
  FILE *file;
  char *text;
  size_t bytes;
};

/* The error of a kernel, which sticks. */
struct sticky_fault {
  CUresult code; /* CUDA_SUCCESS: none */
  uint64_t when; /* ps: visible from then on */
  bool waits;    /* of a launch without time: visible from the next wait on */
};

/* What the user was told once. */
struct told {
  const char **text;
  unsigned n;
};

/* The process's shim; made when there is none. No lock needed. A child that the process forks from then on has a lock
 * that is free, knows of no threads that it lacks, and has no GPU where its parent had one. */
struct shim *shim_get(void);
/* It is this process's, made by another one: the calling thread has what belonged to the one that called there. */
void shim_adopt(struct shim *, void *thread);
void device_print_open(struct device_print *);
/* The same, NULL when there is none yet. */
struct shim *shim_if_any(void);
/* Whether the calling thread has the lock. */
bool shim_is_mine(const struct shim *);
struct thread *shim_thread(struct shim *);
/* Takes the lock, for a thread of the program: whoever lets simulated time pass steps aside for it, and nobody takes it
 * for one that sleeps. */
void shim_lock(struct shim *);

/* Whether calls return a kernel's fault now. */
bool shim_fault_visible(const struct shim *);
/* The host waits until `when`, ps, and sees what the device printed. */
CUresult shim_wait(struct shim *, uint64_t when);
/* Gives device printf to the program's stdout. */
void shim_flush_print(struct shim *);

/* A line on stderr, prefixed. */
void shim_say(const char *fmt, ...) __attribute__((format(printf, 1, 2), cold));
/* Names an entry point, or a use of one, that is not served, once per text, and gives
 * CUDA_ERROR_NOT_SUPPORTED. */
CUresult shim_unsupported(struct shim *, const char *what);
/* Whether this text is new; it is kept. */
bool shim_first_time(struct shim *, const char *text);
/* Says so, and the program will not end with status 0. */
void shim_cannot_write(struct shim *, const struct err *);
/* The host's memory ran out while the GPU was being changed: it is good for nothing more, and nothing is reported. */
void shim_starve(struct shim *);
/* Exit status of a program that would end with `status`. */
int shim_status(const struct shim *, int status);
/* Zeroed host memory, or the end of the process. */
void *shim_alloc(size_t bytes);

#endif
