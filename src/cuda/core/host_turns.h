/* Which thread of the program goes on, with `exec --spin strict`. Simulated time passes only while no thread of the
 * program runs: each waits in a call for a command, or at an access to memory that kernels may write (poll_trap.h) for
 * a time, or sleeps. The earliest of these times is next; threads with the same time go in the order of their numbers.
 * So what threads see of each other and of the GPUs follows from simulated time, as long as they meet in calls, in
 * such memory or by waking each other.
 *
 * A thread that computes holds up the others for GRACE_NS of its processor time; after that it goes on beside them
 * until it calls, or accesses such memory, and the report counts that (record.h).
 */
#ifndef WS_CUDA_HOST_TURNS_H
#define WS_CUDA_HOST_TURNS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "host/front.h"

struct host_turns;
struct shim;

/* Of a thread that waits; it belongs to the one that waits. */
struct host_turn {
  struct host_turn *next;
  pid_t tid;
  const struct command *command; /* until it has ended; NULL: until `at` */
  uint64_t at;                   /* ps */
  bool placed;                   /* `at` is known */
};

struct host_turns *host_turns_new(void);

/* The thread accesses such memory: it is waited for again. */
void host_turns_meet(struct shim *);
/* It calls, at the host's time: behind threads that wait at such memory for an earlier one, so one that asks again and
 * again whether a command has ended does not hold them up. Not for functions of streams. */
void host_turns_call(struct shim *);
/* It waits from now on, and no more. */
void host_turns_begin(struct shim *, struct host_turn *, const struct command *);
void host_turns_end(struct shim *, struct host_turn *);
/* A while, without the lock; others may call. */
void host_turns_pause(struct shim *);
/* Whether no other thread of the program runs. */
bool host_turns_stand(struct shim *);
/* Whether the thread is the one that lets time pass. */
bool host_turns_leads(struct shim *, const struct host_turn *);
/* Of the one that does: until c (may be NULL) has ended, or `until`, ps; back early when others should be looked at. */
enum front_stop host_turns_run(struct shim *, const struct command *c, uint64_t until);
/* Until the time of the turn, which is placed. */
void host_turns_reach(struct shim *, const struct host_turn *);
/* Whether nobody waits for a turn. */
bool host_turns_empty(const struct shim *);

#endif
