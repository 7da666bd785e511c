/* Issue stage of one sub-core: which warp may issue, and which one does (Huerta et al., MICRO
 * 2025).
 *
 *   params  issue.policy, issue.dependence, issue.stall0_yield_cycles, issue.big_stall_from,
 *           issue.big_stall_no_yield_cycles, issue.imad_extra_cycles,
 *           issue.const_miss_switch_cycles, pipe.interval.* (of special functions sfu.latch_cycles, see sfu.h),
 *           mma.interval.*, fp64.sfu_cycles, ideal.issue, ideal.stalls
 *   ready   ibuffer head valid, stall count and yield over, waited counters zero, unit latch or
 *           memory queue free. Register-file ports are not considered (Huerta et al., MICRO 2025).
 *   boards  with scoreboards (scoreboard.h) stall counts, yield and wait masks mean nothing: the next
 *           instruction may issue a cycle later if its registers are free. Kept are the counters of
 *           LDGDEPBAR and the wait of DEPBAR, which then holds the warp at once
 *   policy  cggty: the warp that issued last, else the youngest ready; gto: … else the oldest;
 *           oldest: the oldest ready; lrr: the next ready one in turn
 *   consts  a constant operand of a fixed-latency instruction must hit L0 FL. On a miss the greedy
 *           warp keeps the port for issue.const_miss_switch_cycles; others are passed over at once
 */
#ifndef WS_TIME_SM_ISSUE_H
#define WS_TIME_SM_ISSUE_H

#include "base/bits.h"
#include "config/params.h"
#include "time/sm/const_cache.h"
#include "time/sm/ideal.h"
#include "time/sm/scoreboard.h"
#include "time/sm/tally.h"
#include "time/sm/warp.h"

/* What the last look at a warp found. */
struct issue_seen {
  uint64_t until; /* first cycle in which time alone can let it issue */
  uint64_t due;   /* first cycle in which time alone can change its state; not later than the look: unknown */
  uint8_t state;  /* enum warp_state; WS_SELECTED: ready */
};

/* What the stage decided in one cycle. */
struct issue_pick {
  uint8_t warp;   /* NO_WARP: nothing issues */
  uint8_t charge; /* enum warp_state or SLOT_*: what the empty slot is charged to */
};

struct issue {
  const struct params *params;
  struct issue_seen seen[SUB_CORE_MAX_WARPS]; /* by place in the warp table */
  uint32_t asleep;     /* bit per place: seen[] holds until the warp changes or it is due */
  uint32_t timed;      /* … of those: due at some time */
  uint32_t throttled;  /* … of those: held by a unit, … */
  uint32_t no_room;    /* … by the memory queue */
  uint32_t ranks_last; /* bit per place */
  uint32_t blocked;    /* bit per place: in the last look its unit was taken, … */
  uint64_t cycles;     /* … and in the cycles since, of which so many are not in `waited` */
  struct tally waited; /* ledger: cycles seen waiting for a unit since the last issue */
  uint64_t quiet_until; /* by time alone neither an issue nor another charge of the slot comes before */
  struct issue_pick none; /* what the last look found, when nothing issued */
  uint64_t due;        /* no warp that is asleep is due before */
  uint8_t last;                    /* warp that issued last, NO_WARP */
  uint64_t port_free_at;           /* the issue port is taken until then (port_cycles, Control occupied) */
  uint8_t port_cycles[LAT__N];     /* how long an instruction of the class takes the port */
  uint64_t clock_free_at;          /* two clock reads never issue back to back */
  uint64_t latch_free_at[PIPE__N]; /* input latch of each unit */
  struct const_cache *fl;          /* L0 FL constant cache */
  struct scoreboard *boards;       /* NULL: this kernel runs by its control bits */
  uint64_t const_hold_until;       /* the greedy warp keeps the port for its constant until then … */
  bool port_kept;                  /* … and did so in the last cycle */
  bool fp32_on_alu;                /* FP32 instructions may use the ALU pipe's lanes too */
  uint8_t policy;                  /* issue.policy */
  const struct ideal *ideal;       /* NULL: no instruction is free */
  bool greedy;                     /* it tries the warp first that issued last */
};

void issue_init(struct issue *, const struct params *, struct const_cache *fl);

/* A line of constants (l1i_const_line) that was on its way from L2 is in L0 FL from cycle `at` on. False: no warp
 * waits. */
bool issue_const_arrived(struct warp_table *, uint64_t line, uint64_t at);

/* Grids start. */
void issue_start(struct issue *);

/* A warp arrived. */
void issue_new_warp(struct issue *, unsigned warp);

/* A warp will come into a place of the warp table before its end; those from there on move down. */
void issue_make_place(struct issue *, unsigned place);

/* The warp in a place of the warp table is gone; those behind it move up. */
void issue_remove_warp(struct issue *, unsigned warp, unsigned place);

/* Units outside the stage. */
struct issue_units {
  bool room;        /* for a memory instruction */
  uint64_t fp64_at; /* first cycle the queue of a shared FP64 pipe has room */
};

/* Warps that wait for something known are not looked at again before it happens: a cycle costs what the
 * warps that change, are ready or find their unit taken cost. */
struct issue_pick issue_look(struct issue *, struct warp_table *, const struct issue_units *,
                             uint64_t now);

/* A look in cycle `now` would find what the last one found: nothing issues. `room` as in issue_units. */
static inline bool issue_quiet(const struct issue *s, const struct warp_table *t, bool room, uint64_t now)
{
  return now < s->quiet_until && !t->changed && !(room && s->no_room);
}

static inline struct issue_pick issue_cycle(struct issue *s, struct warp_table *t, const struct issue_units *u,
                                            uint64_t now)
{
  if (!issue_quiet(s, t, u->room, now)) return issue_look(s, t, u, now);
  s->cycles++;
  return s->none;
}

/* The sub-core sleeps for so many cycles, in which the stage would find what it found last. */
static inline void issue_sleep(struct issue *s, uint64_t cycles)
{
  s->cycles += cycles;
}

/* The warp issued, and all that follows from it at once is known: if nothing but its stall count or yield stops
 * it now, it is not looked at before they are over. */
void issue_stalled(struct issue *, const struct warp_table *, const struct warp_slot *, uint64_t now);
static inline void issue_stall(struct issue *s, const struct warp_table *t, const struct warp_slot *w, uint64_t now)
{
  if (w->issue_at > now + 1 && w->hold == WS_SELECTED && !w->done) issue_stalled(s, t, w, now);
}

/* Nothing issued in the last cycle: first one in which time alone can change that. */
uint64_t issue_next(const struct issue *, const struct warp_table *);

/* The warp picked: cycles since its last issue in which the stage found its unit taken. */
static inline uint64_t issue_throttled(struct issue *s, const struct warp_table *t, unsigned warp)
{
  return tally_take(&s->waited, t->place[warp]);
}

/* Books the unit latch (for longer when the instruction is held before its unit), the issue port (the
 * Control stage is free again at control_free_at) and the warp's next issue cycle for the instruction
 * picked. */
void issue_commit(struct issue *, struct warp_slot *, unsigned warp, const struct inst *,
                  uint64_t control_free_at, uint64_t held, uint64_t now);

#endif
