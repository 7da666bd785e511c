/* Dependence counters of one sub-core (Huerta et al., MICRO 2025): six per warp, raised in the
 * Control stage, dropped at operand read or write-back; the issue stage sees a change in the cycle
 * after it.
 *
 * The Control latch holds what issued in the last cycle. Raises of a cycle are applied before
 * its drops, both after issue has looked.
 */
#ifndef WS_TIME_SM_DEPEND_H
#define WS_TIME_SM_DEPEND_H

#include "time/sm/warp.h"
#include "time/sm/wheel.h"

struct control_latch {
  bool valid;
  uint8_t warp, write_sb, read_sb;
  uint8_t state; /* what a wait on these counters is called in the ledger */
};

struct depend {
  struct control_latch latch; /* issued this cycle, raises counters in the next */
  struct control_latch now;   /* in the Control stage */
  struct wheel drops;         /* drops due at known cycles */
};

void depend_init(struct depend *);

/* Control stage: moves the latch on. Call once per cycle, before issue fills the latch again. */
static inline void control_cycle(struct depend *d)
{
  d->now = d->latch;
  d->latch.valid = false;
}

/* An instruction with counters issued. */
void depend_issue(struct depend *, unsigned warp, const struct inst_ctrl *,
                  enum warp_state wait_is);

/* The counter reads one less from cycle `visible` on; visible > now + 1. SB_NONE: nothing. */
void depend_drop_at(struct depend *, struct warp_table *, uint64_t now, uint64_t visible,
                    unsigned warp, unsigned sb);

/* Drops the counter at the end of this cycle. */
void depend_drop(struct warp_table *, unsigned warp, unsigned sb, uint64_t now);

/* End of the cycle: applies raises, then due drops. Returns true when a counter changed. */
bool depend_edge(struct depend *, struct warp_table *, uint64_t now);

/* First cycle in which the edge has something to do. */
uint64_t depend_next(const struct depend *, uint64_t now);

#endif
