/* Progress of a long run: one line on a terminal, rewritten a few times per second. */
#ifndef WS_VIEW_PROGRESS_H
#define WS_VIEW_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "isa/watch.h"

struct progress {
  FILE *f;         /* NULL: silent */
  double start, last; /* seconds of the monotonic clock */
  bool shown;
};

/* Writes to f when it is a terminal and `wanted`; else all calls do nothing. */
void progress_start(struct progress *, FILE *f, bool wanted);
void progress_update(struct progress *, const struct run_progress *);
/* Clears the line. */
void progress_end(struct progress *);

/* Monotonic clock in seconds. */
double progress_now(void);

#endif
