/* Host threads of a machine: started once, lent to whoever has work for several, asleep in between.
 *
 * A job is a few microseconds of host work, so helpers look for the next one for a while before they park; a parked
 * helper costs nothing but the system call that wakes it. Which thread does what cannot change a result: that is the
 * job's own promise (time/domain.h, time/machine/machine.h).
 */
#ifndef WS_TIME_TEAM_H
#define WS_TIME_TEAM_H

struct team;

/* threads: >= 1, the caller's own among them; fewer where the host gives no more. */
struct team *team_new(unsigned threads);
/* No job may run. NULL: nothing. */
void team_free(struct team *);

unsigned team_threads(const struct team *);

/* Its helpers are gone, as in a process that goes on from a checkpoint: others are started, `threads` with the
 * caller's. No job may run. */
void team_renew(struct team *, unsigned threads);

/* Calls work(ctx, 0) on the caller's thread and, at the same time, work(ctx, i) on those helpers, i in
 * [1, team_threads), that come before it has returned: who comes later is not waited for. So the job is that of whoever
 * is there, as a list that each takes from. Returns when all who came have. Not from within a job. */
void team_run(struct team *, void (*work)(void *ctx, unsigned thread), void *ctx);

#endif
