/* What is outstanding at one point of a program: for each register the times from which its consumers
 * may issue, and the counters that guard it. Part of the scheduler. */
#ifndef WS_ISA_SCHEDULE_STATE_H
#define WS_ISA_SCHEDULE_STATE_H

#include "isa/schedule.h"

/* Times are cycles from the first issue of a block; negative: before it. */
struct sched_reg {
  int32_t ready[ROLE__N]; /* a fixed-latency result may be read by this role from here on */
  uint16_t pipes;         /* producers' pipes, a bit each */
  uint16_t read_pipes;    /* pipes of the queued readers, a bit each */
  uint8_t writers;        /* counters whose zero says that the results are there */
  uint8_t readers;        /* counters whose zero says that the queued readers have read */
};

struct sched_state {
  struct sched_reg reg[HAZARD_REGS];
  int32_t visible[SB_COUNT]; /* a waiting instruction sees the counter raised from here on */
  bool reached;
};

static inline int32_t sched_later(int32_t a, int32_t b)
{
  return a > b ? a : b;
}

/* Results that come by a queue, at a time the compiler does not know: they need a counter. */
bool sched_needs_counter(const struct inst *);
/* Does it read a vector register that may be overwritten before it has read it? */
bool sched_reads_late(const struct inst *);

/* Earliest issue of `in`; *wait: the counters it must wait for. */
int32_t sched_earliest(const struct sched_state *, const struct schedule_rules *,
                       const struct inst *in, uint8_t *wait);
/* Earliest issue of an instruction that waits for these counters. */
int32_t sched_counters_visible(const struct sched_state *, uint8_t mask);
/* Cycle from which every fixed-latency result is ready. */
int32_t sched_all_ready(const struct sched_state *);

/* `in` issues at `now` with this control information. */
void sched_issue(struct sched_state *, const struct schedule_rules *, const struct inst *in,
                 const struct inst_ctrl *, int32_t now);
/* Counters of the mask are zero. */
void sched_wait(struct sched_state *, uint8_t mask);
/* Counters in use. */
uint8_t sched_counters(const struct sched_state *);

/* Moves the origin of time to `now`. */
void sched_rebase(struct sched_state *, int32_t now);
/* Joins another path's state, with its origin at the same point; true when anything got worse. */
bool sched_join(struct sched_state *, const struct sched_state *other);
/* Nothing outstanding. */
void sched_clear(struct sched_state *);

#endif
