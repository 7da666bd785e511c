/* Dependence counters of one sub-core (Huerta et al., MICRO 2025): six per warp, raised in the
 * Control stage, dropped at operand read or write-back; the issue stage sees a change in the cycle
 * after it.
 *
 *   ports   out: the write ports of the register file (writeback.h): a result that has to wait for one
 *           drops its counter later
 *
 * With scoreboards (scoreboard.h) the same drops release their entries: numbers from BOARD_TICKET on
 * are tickets of the scoreboard, not counters. Without, they are tickets of counters that drop in order (in_order.h).
 *
 * The Control latch holds what issued in the last cycle. Raises of a cycle are applied before
 * its drops, both after issue has looked.
 */
#ifndef WS_TIME_SM_DEPEND_H
#define WS_TIME_SM_DEPEND_H

#include "time/sm/in_order.h"
#include "time/sm/scoreboard.h"
#include "time/sm/warp.h"
#include "time/sm/wheel.h"
#include "time/sm/writeback.h"

struct control_latch {
  bool valid;
  uint8_t warp, write_sb, read_sb;
  bool group;    /* SB_GMMA, too */
  uint8_t state; /* what a wait on these counters is called in the ledger */
};

struct depend {
  struct control_latch latch; /* issued this cycle, raises counters in the next */
  struct control_latch now;   /* in the Control stage */
  struct wheel drops;         /* drops due at known cycles */
  uint16_t waiting, last_waiting; /* writes that found no port, in order; WHEEL_NIL: none */
  struct writeback *writeback;
  struct scoreboard *boards; /* NULL: this kernel runs by its control bits */
  struct in_order order[SUB_CORE_MAX_WARPS][IN_ORDER_COUNTERS];
};

void depend_init(struct depend *, struct writeback *);

/* Control stage: moves the latch on. Call once per cycle, before issue fills the latch again. */
static inline void control_cycle(struct depend *d)
{
  d->now = d->latch;
  d->latch.valid = false;
}

/* An instruction with counters issued. `in_order`: mask of those that drop in order. What it drops. */
struct releases depend_issue(struct depend *, unsigned warp, const struct inst_ctrl *, enum warp_state wait_is,
                             unsigned in_order);

/* A product of a warpgroup issued that ends its group. Behind depend_issue of the same instruction. */
void depend_issue_group(struct depend *, unsigned warp);

/* The counter reads one less from cycle `visible` on; visible > now + 1. SB_NONE: nothing. */
void depend_drop_at(struct depend *, struct warp_table *, uint64_t now, uint64_t visible,
                    unsigned warp, unsigned sb);

/* A variable-latency result writes its registers from cycle `first` on, one per `step` cycles from `bank`
 * on (writeback_bank; n = 0: no register), and the counter reads one less in the cycle after the last,
 * unless a write port is taken: then all later. first > now. */
struct depend_write {
  uint64_t first;
  uint8_t sb, bank, n, step;
};
void depend_write_at(struct depend *, struct warp_table *, uint64_t now, unsigned warp,
                     struct depend_write);

/* What issued raises its counters in this cycle already: several issue in it (ideal.issue). */
void depend_raise(struct depend *, struct warp_table *, uint64_t now);

/* End of the cycle: applies raises, then due drops. Returns true when a counter changed. */
bool depend_change(struct depend *, struct warp_table *, uint64_t now);
static inline bool depend_edge(struct depend *d, struct warp_table *t, uint64_t now)
{
  if (!d->now.valid && d->waiting == WHEEL_NIL && !wheel_due(&d->drops, now)) return false;
  return depend_change(d, t, now);
}

/* First cycle in which the edge has something to do. */
uint64_t depend_next(const struct depend *, uint64_t now);

#endif
