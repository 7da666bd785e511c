/* Hazard emulation of one sub-core (--hazards=emulate): wrong control bits give the wrong values
 * silicon gives.
 *
 *   params  gap.*, mem.front_cycles, counter.path_cycles
 *   rule    The register file knows nothing of program order. A source sees every write that is
 *           visible to it at the time it is read, younger or older, and no other:
 *             fixed-latency result     gap.ROLE.CLASS cycles after its issue
 *             variable-latency result  from its write-back on
 *           Guards, predicates and uniform registers are read at issue, as are all sources of
 *           fixed-latency instructions and of special functions. A memory instruction reads its address
 *           registers when it enters the address stage, its data when they cross the link
 *           (lsu.h), register by register; mem.front_cycles earlier is its issue time as far as gap.* is concerned:
 *           what waits in the queue reads later.
 *   state   The registers of the step source hold what everyone sees. Results not yet there are in a list
 *           of pending writes per warp, in the order in which they land; an instruction is
 *           executed on registers that show what it sees, its results are taken off again into the list.
 *   WAW     the list's order decides, not the program's
 *   not emulated: convergence barriers; which lane of a register is read in which cycle; the index of
 *           LDC, held until its result is written, is read at the beginning; runtime services see all
 *           results of fixed latency
 * A consumer that waits for a counter issues counter.path_cycles after the result could first be read.
 */
#ifndef WS_TIME_SM_EMULATE_H
#define WS_TIME_SM_EMULATE_H

#include "base/arena.h"
#include "config/params.h"
#include "isa/hazard_role.h"
#include "isa/step.h"
#include "time/sm/observer.h"
#include "time/sm/txn.h"
#include "time/sm/warp.h"

struct emulate;

/* Those of an SM's sub-cores, which observe when results are written (observer.h). */
struct emulate_set {
  struct observer observer; /* first member */
  struct emulate **of;      /* by sub-core */
};
struct emulate_set *emulate_set_new(struct arena *, const struct params *);

/* Steps the running path of warp `warp` at its issue; `seq` is what its results are
 * called by the observer: observed.seq. An instruction of the memory queue (`t`, else NULL) is only begun, with
 * t->unread set: emulate_open must follow. False: guest fault. */
bool emulate_step(struct emulate *, unsigned warp, struct warp_slot *w, const struct inst *, uint32_t seq,
                  struct effect *, struct txn *t, struct fault *, uint64_t now);

/* The sources of a queued instruction are read: in issue time, its addresses at `address`, its data from
 * `data` on, one register per `step` cycles. Between open and close the step source's registers are what the
 * instruction sees, and execute, perform and finish may be called. close takes its results: with `only_predicates`
 * those that do not wait for memory. */
void emulate_open(struct emulate *, struct warp_slot *w, const struct txn *, uint64_t address,
                  uint64_t data, unsigned step, uint64_t now);
void emulate_close(struct emulate *, struct warp_slot *w, const struct txn *, bool only_predicates);

/* ops->finish of a transaction performed on the memory side. */
void emulate_finish(struct emulate *, struct warp_slot *w, struct txn *);

/* A runtime service is about to read the warp's registers. */
void emulate_settle(struct emulate *, unsigned warp, struct warp_slot *w);

#endif
