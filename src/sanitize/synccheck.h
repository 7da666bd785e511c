/* Private to sanitize/: barriers that not all threads of a warp reach, counts and masks that do not fit together. */
#ifndef WS_SANITIZE_SYNCCHECK_H
#define WS_SANITIZE_SYNCCHECK_H

#include "sanitize/watched.h"

struct sync_cta;

struct synccheck {
  struct sync_cta *ctas; /* that have threads at a barrier, newest use first */
};

void synccheck_end(struct synccheck *);
void synccheck_cta_end(struct synccheck *, const struct step_cta *);
void synccheck_step(struct synccheck *, const struct watched_step *);
/* True: the fault is one of synchronisation, and was told. */
bool synccheck_fault(const struct watched_launch *, const struct fault *);

#endif
