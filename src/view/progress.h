/* Progress of a long run: one line on a terminal, rewritten a few times per second. */
#ifndef WS_VIEW_PROGRESS_H
#define WS_VIEW_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct progress {
  FILE *f;         /* NULL: silent */
  double start, last; /* seconds of the monotonic clock */
  bool shown;
};

/* Writes to f when it is a terminal and `wanted`; else all calls do nothing. */
void progress_start(struct progress *, FILE *f, bool wanted);
/* The callback of a timed run: simulated cycles, CTAs, warp instructions so far. ctx: struct progress. */
void progress_update(void *ctx, uint64_t cycles, uint64_t ctas_done, uint64_t ctas_total,
                     uint64_t insts);
/* Clears the line. */
void progress_end(struct progress *);

/* Monotonic clock in seconds. */
double progress_now(void);

#endif
