/* Contexts of one process that have a GPU in turns: time slices, as those of different processes have it
 * (base/time_slices.h; exec --share slices is about these). Kernels of several contexts are never there at once.
 *
 *   lanes    Kernels of each context that has some go on in a GPU of its own (a lane), which stands while it is another
 *            one's turn. The first lane is the board's own simulator, with its copies; a further one is made when a
 *            kernel finds others of another context in all that there are, and serves other contexts later.
 *   copies   go on beside kernels of the other contexts, and stand with those of the lane that they are in
 *   not so   green contexts have their GPU's primary context's turn. Contexts run beside each other, as clients of the
 *            Multi-Process Service do, there; and, which a GPU does not do, where the GPU is one of several, is had in
 *            turns by processes already, has a CPU in time beside it or managed memory
 */
#ifndef WS_CUDA_CONTEXT_TURNS_H
#define WS_CUDA_CONTEXT_TURNS_H

#include <stdbool.h>
#include <stdint.h>

#include "host/live_gpu.h"

struct board;
struct context;
struct context_turns;

/* A context comes to the GPU; `other`: one that it has, NULL: none. */
void context_turns_join(struct board *, const struct context *c, const struct context *other);
/* Where a kernel of a context goes. */
struct simulator *context_turns_place(struct board *, const struct context *);
/* Kernels and copies go on to `until`, ps, each context in its turn. NULL in board.turns: not to be called. */
enum live_stop context_turns_run(struct board *, uint64_t until);
/* All have come so far, ps; 0: nothing is there. */
uint64_t context_turns_now(const struct board *);
/* Kernels that were in this lane were taken, the last of them ended then: it may give the GPU back. */
void context_turns_taken(struct board *, unsigned lane, uint64_t end);

/* A kernel has ended with a fault: those in all lanes end here. */
void context_turns_fail(struct board *);

/* The GPU's simulators: lanes, from 0, of which there is one where contexts do not take turns. */
unsigned board_lanes(const struct board *);
struct simulator *board_lane(const struct board *, unsigned lane);
/* Kernels in all of them that were not taken; whether there are kernels or copies; CTAs that have ended. */
unsigned board_launches(const struct board *);
bool board_busy(const struct board *);
uint64_t board_ctas_done(const struct board *);

#endif
