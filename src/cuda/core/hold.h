/* Streams that wait for something the program does later: for a value in memory (mem_op.h), or for an event of a
 * stream that waits itself. Their operations are put off, and done in their order once the value is there: looked
 * for at the beginning and the end of every call, and while the host waits. The legacy stream and the blocking ones
 * wait for each other as ever. What is put off starts at the simulated time at which the value was found.
 *
 * Nothing else waits this way: a kernel that waits for a later one, or for the host, never ends.
 */
#ifndef WS_CUDA_HOLD_H
#define WS_CUDA_HOLD_H

#include <stdbool.h>
#include <stdint.h>

#include "cuda/core/api.h"

struct graph_exec;
struct graph_op;
struct shim;
struct shim_part;
struct stream;
struct thread;

struct holds {
  unsigned n;                  /* streams that wait */
  const struct thread *runner; /* who runs what was put off */
};

/* True: the operation was put off (or, a wait, cannot be done yet). */
bool hold_takes(struct shim *, struct stream *, const struct graph_op *);
bool hold_takes_exec(struct shim *, struct stream *, struct graph_exec *);
/* Whether the stream has work that is put off, or must wait for such work. */
bool hold_has(struct shim *, const struct stream *);
/* Whether a record of the event is put off. */
bool hold_has_event(struct shim *, CUevent);
/* Does what can be done by now. when, ps: what is found now happened then. */
void hold_poll(struct shim *, uint64_t when);
/* The host waits until hold_has (NULL: of all streams), hold_has_event is false; other threads may call meanwhile.
 */
void hold_wait(struct shim *, const struct stream *);
void hold_wait_event(struct shim *, CUevent);

extern const struct shim_part hold_part;

#endif
