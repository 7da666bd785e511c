/* What looks at a launch while it runs: the progress line of long ones, and whether to stop. */
#ifndef WS_CUDA_LAUNCH_WATCH_H
#define WS_CUDA_LAUNCH_WATCH_H

#include <stdbool.h>

#include "isa/watch.h"

struct shim;

struct launch_watch {
  struct shim *shim;
  const char *kernel;
  uint64_t number;     /* of the launch */
  bool wanted;         /* a line on stderr, which is a terminal */
  double start, last;  /* seconds of the monotonic clock */
  bool shown;
};

void launch_watch_start(struct launch_watch *, struct shim *, const char *kernel, uint64_t number);
/* For sim_options.poll; ctx: a struct launch_watch. */
bool launch_watch_poll(void *ctx, const struct run_progress *);
/* Clears the line. */
void launch_watch_end(struct launch_watch *);

#endif
