/* How long a program computes between its calls (`exec --host-time`): nothing, what this machine's processor takes, or
 * what it took in a run that was recorded.
 *
 *   file     a line "warpstep-host-time 1", then a line "THREAD NS" for each call, in the order of calls: threads are
 *            numbered as they first call, from 0; NS lie between the thread's call before and this one
 */
#ifndef WS_HOST_HOST_TIME_H
#define WS_HOST_HOST_TIME_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"

enum host_time_mode { HOST_TIME_CALLS, HOST_TIME_MEASURED, HOST_TIME_RECORD, HOST_TIME_REPLAY };

struct host_time_choice {
  enum host_time_mode mode;
  double scale;     /* measured: simulated time for processor time */
  const char *file; /* record, replay */
};

/* calls, measured, measured,SCALE, record=FILE, replay=FILE. The choice points into the text. */
bool host_time_parse(struct host_time_choice *, const char *text, struct err *e);

/* What was recorded. */
struct host_gaps {
  struct host_gap {
    uint32_t thread;
    uint64_t ns;
  } *gap;
  uint32_t n, room;
  uint32_t *next; /* by thread: where its next one is looked for */
  uint32_t n_threads;
};

void host_gaps_add(struct host_gaps *, uint32_t thread, uint64_t ns);
/* The thread's next one. False: there are no more. */
bool host_gaps_next(struct host_gaps *, uint32_t thread, uint64_t *ns);
void host_gaps_write(const struct host_gaps *, FILE *);
/* False with e filled: it cannot be read, or is no such file. */
bool host_gaps_read(struct host_gaps *, const char *path, struct err *e);
void host_gaps_free(struct host_gaps *);

#endif
