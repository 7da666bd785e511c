/* Watching a run: limits, progress, and where it was when it ended early. What the function-only runner
 * (func/) and the timed GPU (time/) accept alike.
 */
#ifndef WS_ISA_WATCH_H
#define WS_ISA_WATCH_H

#include "isa/step.h"

enum {
  WATCH_MAX_SLICE = 4096,   /* instructions of a warp's turn, of a run without time */
  WATCH_MAX_THREADS = 1024, /* of the host: as many as are asked for start */
};

/* How a run ended. */
enum run_end {
  RUN_DONE,
  RUN_FAULT,       /* guest fault */
  RUN_REFUSED,     /* the kernel does not fit this GPU */
  RUN_CYCLE_LIMIT, /* run_watch.max_cycles */
  RUN_INST_LIMIT,  /* run_watch.max_insts */
  RUN_STOPPED,     /* run_watch.poll said so */
};

struct run_progress {
  uint64_t cycles; /* SM clock since the kernel started; 0 in a run without time */
  uint64_t insts;  /* warp instructions */
  uint64_t ctas_done, ctas_total;
};

/* Sees every step of a run without time, in the order of execution: behind each warp instruction, ahead of its access
 * to memory, and when a CTA has ended (before it is gone). */
struct step_tap {
  void *ctx;
  void (*step)(void *ctx, const struct step_cta *, unsigned warp, const struct effect *);
  void (*cta_end)(void *ctx, const struct step_cta *);
  /* May be NULL. Of a step with EFF_MEM, behind `step`: the lanes whose access must not happen. */
  lane_mask (*veto)(void *ctx, const struct step_cta *, unsigned warp, const struct effect *);
  bool registers_unseen; /* operations that only touch registers are not shown, which makes the run faster */
};

/* A zeroed watch watches nothing. Limits are checked at deterministic points (the end of a window of the
 * timing model, the end of a warp's slice without time), so a run passes its limit by a little, and by
 * the same little for any number of host threads. */
struct run_watch {
  uint64_t max_cycles; /* timed runs; 0: no limit */
  uint64_t max_insts;  /* warp instructions; 0: no limit */
  /* Called now and then on the thread that called the runner; false: stop. May be NULL. */
  bool (*poll)(void *ctx, const struct run_progress *);
  /* Called for each resident CTA, by worker and slot, when the run ended early or faulted. May be
   * NULL. */
  void (*resident)(void *ctx, const struct step_cta *);
  /* Timed runs: called behind each window of the model, which ends at `now`, ps. False: the caller wants to be back
   * (time/gpu/gpu.h); the run can go on. May be NULL. */
  bool (*window)(void *ctx, uint64_t now);
  void *ctx;
  uint64_t poll_insts; /* runs without time: warp instructions between two calls of poll; 0: some hundred thousand */
  const struct step_tap *tap; /* runs without time only; may be NULL */
  uint64_t start_clock; /* runs without time: cycles that the clocks read ahead of the first instruction */
  uint32_t clock_ps;    /* likewise: a cycle; 0: 1000 */
  unsigned slice; /* runs without time: a warp executes so many instructions before others of its CTA go on, at most;
                     0: WATCH_MAX_SLICE. The fewer, the more warps keep pace, and the longer it takes */
  unsigned threads; /* host threads that a run without time may use; 0: one. Results do not depend on it unless
                       the program's CTAs race for plain accesses */
};

/* Whether a run with `insts` warp instructions behind it must end, and why. RUN_DONE: it goes on. */
static inline enum run_end watch_insts(const struct run_watch *w, uint64_t insts)
{
  return w->max_insts && insts >= w->max_insts ? RUN_INST_LIMIT : RUN_DONE;
}

#endif
