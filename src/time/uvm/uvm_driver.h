/* What the files of a GPU's driver share (uvm.c: batches and jobs, uvm_turns.c: who works on a block, uvm_block.c: what
 * happens to its pages, uvm_thrash.c: for which of them GPUs are put off, or have them pinned, uvm_copies.c: pages on
 * their way). Private to them. */
#ifndef WS_TIME_UVM_UVM_DRIVER_H
#define WS_TIME_UVM_UVM_DRIVER_H

#include "time/uvm/uvm_machine.h"

#define NO_TICKET UINT64_MAX /* of a job that nobody waits for */
enum { PAGE = 1 << UVM_PAGE_BITS, BLOCK = 1 << UVM_BLOCK_BITS, PS_PER_NS = 1000 };

static inline struct uvm_space *uvm_space_of(const struct uvm *u)
{
  return &u->machine->space;
}

/* Of its GPU: what is there, and what has been counted. */
static inline struct uvm_gpu *uvm_books(const struct uvm *u)
{
  return &uvm_space_of(u)->gpu[u->gpu];
}

/* NULL: freed, or never managed. */
static inline struct uvm_range *uvm_range_of(const struct uvm *u, uint64_t base)
{
  return uvm_space_range(uvm_space_of(u), base);
}

/* To this state, whose step is at `at` (uvm_orders.c). */
void uvm_goes_on(struct uvm *, enum uvm_state, picos at);

/* --- uvm_turns.c --------------------------------------------------------------------------------------------- */

void uvm_hold(struct uvm *, struct uvm_block *);
/* When it may have the block, as far as is known; TIME_NEVER: when others have had it. Who has waited longest comes
 * first. */
picos uvm_turn_of(const struct uvm *, const struct uvm_block *, uint64_t base, picos now);
/* Others may have it from `now` on, or from `kept`. */
void uvm_release(struct uvm *, uint64_t base, picos now, picos kept);
/* It may wait for this block, which is not there any more. */
void uvm_wait_no_more(struct uvm *, uint64_t base);
/* The accesses that waited are tried again now. */
void uvm_release_batch(struct uvm *, picos now);
/* Done with the current block; the next one at `at`. */
void uvm_next_block(struct uvm *, picos now, picos at);
/* Whether a driver may change places of this block now. */
bool uvm_is_under_way(const struct uvm_machine *, uint64_t base);

/* --- uvm_copies.c -------------------------------------------------------------------------------------------- */

/* Pages of a block go from a GPU or the host to another. */
void uvm_copy_pages(struct uvm *, uint64_t base, const struct page_set *, int from, int to, picos arrive);
bool uvm_waits_for_copies(const struct uvm *);
/* To this state, when the copies that were posted since `before` of them were are done; at `at`, if there are none. */
void uvm_wait_for_copies(struct uvm *, enum uvm_state, uint64_t before, picos at);

/* --- uvm_thrash.c -------------------------------------------------------------------------------------------- */

static inline picos uvm_program_time(const struct uvm_machine *m, picos now)
{
  return now - m->skew;
}
static inline int uvm_processor(int gpu_or_host)
{
  return gpu_or_host + 1;
}
/* Pages of a block that do not come along with others. */
struct page_set uvm_still(const struct uvm_block *);
/* What the rules say of the pages of the batch: those that are put off leave it, others get u->pins. */
void uvm_judge(struct uvm *, const struct uvm_range *, struct uvm_block *, uint64_t base, picos now);
/* Pages that the GPU reaches and may not write, or not by atomics of system scope: it may from now on. */
void uvm_grant(struct uvm *, const struct uvm_range *, struct uvm_block *, uint64_t base, picos now);
/* Pages of the block are copied for a fault, or because the program wants it. */
void uvm_note_moved(struct uvm *, struct uvm_block *, const struct page_set *, picos now);
/* They are in their place: whoever fought for them has them mapped. */
void uvm_map_pinned(struct uvm_machine *, const struct uvm_range *, uint64_t base, const struct page_set *);
/* A fault of the host: pages that it gets, of those that it touches; *until: as in uvm_host_fault. */
struct page_set uvm_judge_host(struct uvm_machine *, const struct uvm_range *, struct uvm_block *, uint64_t base,
                               const struct page_set *, unsigned gpu, picos now, picos *until);
/* When the next page is no more pinned, by the GPUs' clock; TIME_NEVER: none is. All whose time has come. */
picos uvm_unpin_next(const struct uvm_machine *);
void uvm_unpin(struct uvm_machine *, picos now);
/* … and that are of this block, of which nothing is under way. */
void uvm_unpin_block(const struct uvm_machine *, const struct uvm_range *, const struct uvm_block *, uint64_t base,
                     picos now);

/* --- uvm_block.c --------------------------------------------------------------------------------------------- */

/* The current block of the work, when it is its turn. */
void uvm_begin_block(struct uvm *, picos now);
/* What was on its way through the host goes on. */
void uvm_fetch_staged(struct uvm *, picos now);
/* Its copies are done: the pages are in their place. */
void uvm_end_block(struct uvm *, picos now);
/* The block that makes room has left. */
void uvm_finish_eviction(struct uvm *, picos now);
/* Pages that were on their way are where they were. */
void uvm_give_up(struct uvm *);
/* Of [addr, addr + bytes), whole blocks, nothing comes that is under way, or that faulted. */
void uvm_drop(struct uvm *, uint64_t addr, uint64_t bytes);

#endif
