/* FP64 where the four sub-cores share one pipe (fp64.shared): a queue in each sub-core, the SM's pipe
 * behind them takes one warp instruction per pipe.interval.fp64, in the order of issue (Huerta et al.,
 * MICRO 2025, Figure 3).
 *
 *   params  fp64.queue_entries, pipe.interval.fp64; lat.fp64 is the latency of one that need not wait
 *   rule    an entry is held until the pipe takes the instruction; sources are read then
 *   Times are computed at issue: nothing overtakes.
 *   not modelled: more time for more operands (an add and a fused multiply-add take 45 cycles each on
 *                 a TITAN RTX: NMSU-PEARL/GPUs-ISA-Latencies)
 */
#ifndef WS_TIME_SM_FP64_H
#define WS_TIME_SM_FP64_H

#include "base/bug.h"
#include "config/params.h"

enum { FP64_MAX_ENTRIES = 16 };

struct fp64_queue {
  unsigned entries, interval; /* params */
  uint64_t taken_at[FP64_MAX_ENTRIES]; /* ring: when the pipe takes the last instructions */
  unsigned next;                       /* oldest of them */
  uint64_t *pipe_free_at;              /* of the SM */
};

static inline void fp64_init(struct fp64_queue *q, const struct params *p, uint64_t *pipe_free_at)
{
  *q = (struct fp64_queue){.entries = p->fp64_queue_entries,
                           .interval = p->pipe_interval[PIPE_FP64],
                           .pipe_free_at = pipe_free_at};
  BUG_ON(q->entries > FP64_MAX_ENTRIES);
}

/* First cycle in which the queue has room. */
static inline uint64_t fp64_accepts_at(const struct fp64_queue *q)
{
  return q->taken_at[q->next];
}

/* An instruction issues at `now`; returns the cycles it waits for the pipe. */
static inline uint64_t fp64_issue(struct fp64_queue *q, uint64_t now)
{
  uint64_t start = now > *q->pipe_free_at ? now : *q->pipe_free_at;
  *q->pipe_free_at = start + q->interval;
  q->taken_at[q->next] = start;
  q->next = (q->next + 1) % q->entries;
  return start - now;
}

#endif
