/* Scoreboards of one sub-core: the dependence mechanism of older GPUs, in the place of control bits
 * (Huerta et al., MICRO 2025, section 7.5, and the published simulator).
 *
 *   params   issue.dependence, scoreboard.war, scoreboard.consumers
 *   tracks   all registers a warp can write: regular, uniform, predicate, uniform predicate
 *   state    one pending-write bit per register (RAW, WAW), and, in a second scoreboard, the number
 *            of its pending readers (WAR): issue is in order, reads are not
 *   rule     an instruction issues when no source or destination has its write pending, no
 *            destination has readers, and no source has scoreboard.consumers of them already. It then
 *            marks its destinations and counts itself once at each source, its guard included.
 *   release  a destination when it is written: a fixed-latency one lat.* after issue, so that its
 *            consumers get it from the bypass; a source when it has been read: at the end of the operand
 *            read window, or when a variable-latency unit has taken it. A variable-latency instruction
 *            releases at the times at which it would drop its dependence counters: it carries a ticket
 *            in the place of each of them (depend.h)
 *   cycle    checked and marked at issue; releases of a cycle are applied at its end, the issue stage
 *            sees them in the next
 *   bound    BOARD_TICKETS releases outstanding in a sub-core; beyond them instructions wait
 *   what of the control bits stays: LDGDEPBAR still raises its counter and DEPBAR still waits for it,
 *            because groups of LDGSTS are no registers (issue.h)
 *   not modelled: a missing bypass to queued units; convergence-barrier registers
 */
#ifndef WS_TIME_SM_SCOREBOARD_H
#define WS_TIME_SM_SCOREBOARD_H

#include "base/arena.h"
#include "config/params.h"
#include "isa/hazard_role.h"
#include "time/sm/warp.h"

/* Tickets are numbers from BOARD_TICKET on: below them are the dependence counters and SB_NONE. */
enum { BOARD_TICKET = 8, BOARD_TICKETS = 256 - BOARD_TICKET };

struct board_entry {
  uint64_t freed;       /* first cycle after its last release */
  uint16_t readers;     /* pending */
  bool written;         /* write pending */
  uint8_t write_state;  /* enum warp_state: what a wait for the pending write is called … */
  uint8_t read_state;   /* … for the last reader that came … */
  uint8_t freed_state;  /* … and for what was released last */
};

/* A release outstanding, or a free ticket. */
struct board_ticket {
  const struct inst *inst;
  uint8_t warp;
  bool read;    /* releases the sources, else the destinations */
  uint8_t next; /* free list */
};

struct scoreboard {
  bool war;           /* params */
  uint32_t consumers; /* 0: any number */
  struct board_entry *entry; /* [warp][HAZARD_REGS] */
  struct board_ticket ticket[BOARD_TICKETS];
  unsigned n_free;
  uint8_t free;
};

/* What an instruction drops when its results are written and when its sources are read: a dependence
 * counter or a ticket of the scoreboard; SB_NONE: nothing. */
struct releases {
  uint8_t write, read;
};

struct scoreboard *scoreboard_new(struct arena *, const struct params *);

/* A warp arrives: nothing is pending. All releases of the one before must be in. */
void scoreboard_new_warp(struct scoreboard *, unsigned warp);

/* What `in` has to wait for; state WS_SELECTED: nothing, it may issue. */
struct reg_wait scoreboard_check(const struct scoreboard *, unsigned warp, const struct inst *in);

/* The register of `in` that came free last: when, and what the wait for it is called. */
struct reg_wait scoreboard_waited(const struct scoreboard *, unsigned warp, const struct inst *in);

/* `in` issues; scoreboard_check must have let it. A wait for its results is called `write_is`, one for
 * its reads `read_is`. The tickets returned must each be released once. */
struct releases scoreboard_issue(struct scoreboard *, unsigned warp, const struct inst *in,
                                 enum warp_state write_is, enum warp_state read_is);

/* What the ticket stands for is free from cycle `visible` on. */
void scoreboard_release(struct scoreboard *, unsigned ticket, uint64_t visible);

#endif
