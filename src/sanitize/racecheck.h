/* Private to sanitize/: accesses of different warps to the same byte of global or shared memory, at least one a write,
 * that nothing orders (race_order.h says what does). */
#ifndef WS_SANITIZE_RACECHECK_H
#define WS_SANITIZE_RACECHECK_H

#include "sanitize/race_judge.h"
#include "sanitize/watched.h"

struct racecheck {
  struct race_shadow shadow;  /* of global memory */
  struct race_cta *ctas;      /* that run, newest use first */
  struct race_places places;  /* in global memory, and of the grid and its clusters */
  struct race_told told;
  bool off;                   /* the launch cannot be followed (any more) */
  uint64_t skipped;           /* accesses to global memory beyond the limit of the shadow memory */
};

void racecheck_init(struct racecheck *, uint64_t shadow_limit);
void racecheck_free(struct racecheck *);
void racecheck_begin(struct racecheck *, const struct watched_launch *);
void racecheck_end(struct racecheck *, const struct watched_launch *);
void racecheck_cta_end(struct racecheck *, const struct step_cta *);
/* Every step; those that touch memory again, ahead of it. */
void racecheck_step(struct racecheck *, const struct watched_step *);
void racecheck_access(struct racecheck *, const struct watched_step *);

#endif
