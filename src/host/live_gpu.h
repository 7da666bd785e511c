/* Launches that come and go on the timing model while a program's clock passes: the GPU of a simulator between two
 * moments at which nothing happens from outside.
 *
 *   live_open(s, &launch, &options, &e);
 *   while ((stop = live_run(s, until)) == LIVE_ENDED)
 *     while (live_take(s, &end)) …
 *
 *   run     begins with a launch that comes to an idle GPU, ends when none is there (time/gpu/gpu.h): a launch that
 *           was alone in its run has all that simulate() says of one, others have what can be told apart
 *   clocks  launches have times of the program's clock. The GPU's own runs on behind a run, until the last write is in
 *           memory; the next run begins there, and the program does not see the difference
 *   mixing  while live_count is 0 the simulator may run launches by simulate()
 */
#ifndef WS_HOST_LIVE_GPU_H
#define WS_HOST_LIVE_GPU_H

#include "host/simulate.h"

struct live_launch {
  struct launch *launch; /* must live until it is taken */
  uint64_t start_ps;     /* when it reaches the GPU; in the past: now */
  int priority;          /* its CTAs go before those of launches with a lower one */
  bool beside;           /* others run at the same time: it asks for shared memory that never limits its CTAs */
  void *who;             /* told with its end */
};

struct live_end {
  void *who;
  uint64_t start_ps, end_ps; /* when it reached the GPU; its last CTA and last store in L2, or when it was cut short */
  struct sim_result result;  /* of launches that a fault of another cut short fault.kind is FAULT_NONE.
                                Its pointers are good until the next call of live_run, live_open or simulate */
};

enum live_stop {
  LIVE_REACHED, /* all that happens before `until` has happened */
  LIVE_ENDED,   /* launches have ended, for live_take; when not all did well, all have */
  LIVE_ASKED,   /* live_on_window said so */
};

/* Launches that have not been taken. */
unsigned live_count(const struct simulator *);
/* No further launch can come now. */
bool live_full(const struct simulator *);
/* A launch comes. The options are those of the run: timed, threads, observers, poll, ctx, report; hazards, cold,
 * limits and samples are not for such runs. False with *e filled: it does not fit the GPU. */
bool live_open(struct simulator *, const struct live_launch *, const struct sim_options *, struct err *e);
/* `window` is called behind each window of the model, with the program's time, ps; false: live_run ends. NULL:
 * nobody. */
void live_on_window(struct simulator *, bool (*window)(void *ctx, uint64_t now_ps), void *ctx);
/* Goes on, with launches that are there, until `until`, ps of the program's clock. */
enum live_stop live_run(struct simulator *, uint64_t until);
/* The next launch that has ended, by its end. False: none. */
bool live_take(struct simulator *, struct live_end *);
/* The program's time up to which the GPU has gone, ps; 0 without launches. */
uint64_t live_now(const struct simulator *);

#endif
