/* How long the program computes between two calls (`exec --host-time`, host/host_time.h). What a thread takes of the
 * processor between the end of a call and its next one passes on the host's clock, for each thread from where its call
 * ended: threads that compute at the same time take the longest of these times, not all together.
 *
 * What a thread spins away while it waits for a kernel (idle_watch.h) is not counted.
 */
#ifndef WS_CUDA_HOST_CLOCK_H
#define WS_CUDA_HOST_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct host_clock;
struct host_gaps;
struct shim;
struct shim_part;

/* Of a thread. */
struct host_clock_thread {
  bool known;
  bool spun;       /* since its last call somebody found out that it waits in its own code */
  unsigned inside; /* calls within calls */
  uint32_t number; /* in the order of first calls */
  uint64_t cpu;    /* ns that it had taken when its last call ended */
  uint64_t at;     /* ps of the host's clock then */
};

/* As the options say; NULL in s->host_clock: calls alone take time. */
bool host_clock_start(struct shim *, struct err *e);
/* A call of this thread begins, and ends. */
void host_clock_enter(struct shim *);
void host_clock_leave(struct shim *);
/* For the report: how it is known; NULL: nothing passes. */
const char *host_clock_kind(const struct shim *);
/* What is to be written to which file when the program ends; NULL: nothing. */
const struct host_gaps *host_clock_record(const struct shim *, const char **file);

extern const struct shim_part host_clock_part;

#endif
