/* Private to sanitize/: cells of shared and global memory (race_shadow.h), against which each access is held. What it
 * leaves there is kept for those that follow. */
#ifndef WS_SANITIZE_RACE_CELLS_H
#define WS_SANITIZE_RACE_CELLS_H

#include "sanitize/racecheck.h"

/* One lane's access. flags: of the entry, beside those of the step. */
void race_check_lane(struct racecheck *, struct race_step *, unsigned lane, unsigned space, uint64_t addr,
                     unsigned bytes, uint32_t flags);
/* All lanes of a step that orders nothing. */
void race_check_row(struct racecheck *, struct race_step *);

#endif
