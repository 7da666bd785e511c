/* Where the warps of a run were when it ended early: paths with the same pc and state are one row. */
#ifndef WS_HOST_POSITIONS_H
#define WS_HOST_POSITIONS_H

#include <stdint.h>

#include "isa/step.h"

struct position {
  uint64_t pc;           /* of the next instruction, or of the one it waits in */
  uint8_t wait;          /* enum path_wait */
  uint64_t warps, lanes; /* paths here, and their lanes; a diverged warp counts once per path */
};

/* Zeroed: empty. */
struct positions {
  struct position *row;
  unsigned n, room;
};

/* Adds the warps of one resident CTA. Ends the process when the host has no memory. */
void positions_add(struct positions *, const struct step_cta *);
/* Most warps first. */
void positions_sort(struct positions *);
void positions_free(struct positions *);

/* "ready", "at a barrier", "waiting for other lanes". */
const char *path_wait_name(unsigned wait);

#endif
