/* What chosen warps did in the pipeline: observers (time/sm/observer.h) of the SMs that keep the instructions of these
 * warps, their stages and their waits, for views.
 *
 *   struct pipe_log *log = pipe_log_new(&choice, &params);
 *   options.observers = pipe_log_observers(log);        … of a simulator that is freed before the log
 *   simulate(…);                                        a run forgets the one before
 *   pipe_log_sort(log);                                 then log->inst[0 … n-1]
 *   pipe_log_free(log);
 *
 * Host memory grows with what is kept, up to PIPE_LOG_MAX instructions. So that the host's threads do not choose, each
 * SM keeps the first that issue, up to that number divided by the number of SMs on which chosen CTAs of the grid can
 * be.
 */
#ifndef WS_HOST_PIPE_LOG_H
#define WS_HOST_PIPE_LOG_H

#include "base/err.h"
#include "config/params.h"
#include "time/sm/observer.h"

enum { PIPE_LOG_MAX = 200 * 1000, PIPE_CHOICE_RANGES = 64 };

/* Warps [warp, last_warp] of CTAs [cta, last_cta], by their numbers in the grid and in the CTA. */
struct pipe_range {
  uint64_t cta, last_cta;
  unsigned warp, last_warp;
};

/* What issues in cycles [from, to) of the launch in one of the ranges, on this SM. */
struct pipe_choice {
  struct pipe_range range[PIPE_CHOICE_RANGES];
  unsigned n_ranges; /* 0: all warps */
  uint64_t from, to;
  int sm; /* -1: any */
};

/* CTA 0, from beginning to end. */
struct pipe_choice pipe_choice_default(void);
/* "3", "0-7", "2.1" (warp 1 of CTA 2), "0-3.0-1", several with commas; "all". False with *e filled: it is none of
 * these. */
bool pipe_choice_warps(struct pipe_choice *, const char *text, struct err *e);
/* "100:200", "100:", ":200". */
bool pipe_choice_cycles(struct pipe_choice *, const char *text, struct err *e);

/* Whether it is in one of the ranges. */
bool pipe_choice_has(const struct pipe_choice *, uint64_t cta, unsigned warp);

/* Cycles [from, until) in which the warp waited before the instruction issued. */
struct pipe_wait {
  int32_t from, until; /* to the cycle of issue */
  uint8_t state;       /* enum warp_state */
};

#define PIPE_NEVER INT32_MIN

struct pipe_recorder;
struct sim_observers;

struct pipe_inst {
  const struct inst *inst;
  uint64_t cta;
  uint64_t issued; /* cycle of the launch */
  lane_mask exec;
  uint32_t seq, order; /* of issue on its SM; order in the log */
  uint32_t first_wait; /* in pipe_log.wait */
  int32_t stage[STAGE__N], done; /* cycles after the issue; PIPE_NEVER: not entered, not left when the run ended */
  uint16_t sm;
  uint8_t sub_core, slot, n_waits;
  uint8_t warp; /* in the CTA */
};

struct pipe_log {
  struct pipe_recorder *recorder; /* its own */
  struct pipe_inst *inst;
  struct pipe_wait *wait;
  uint32_t n_insts;
  uint64_t lost;      /* chosen instructions that were not kept */
  uint64_t lost_from; /* cycle in which the first of these issued */
};

struct pipe_log *pipe_log_new(const struct pipe_choice *, const struct params *);
const struct sim_observers *pipe_log_observers(const struct pipe_log *);
/* Behind a run: fills what the struct shows, in the order of issue; on one cycle by SM and sub-core. */
void pipe_log_sort(struct pipe_log *);
void pipe_log_free(struct pipe_log *);

#endif
