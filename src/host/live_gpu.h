/* Launches and copies that come and go on the timing model while a program's clock passes: the GPU of a simulator
 * between two moments at which nothing happens from outside.
 *
 *   live_open(s, &launch, &options, &e);           live_copy(s, &copy, image, &options);
 *   while ((stop = live_run(s, until)) == LIVE_ENDED)
 *     while (live_take(s, &end)) …
 *
 *   run     begins with a launch or a copy that comes to an idle GPU, ends when none is there (time/gpu/gpu.h): a
 *           launch that was alone in its run has all that simulate() says of one, others have what can be told apart
 *   copies  go on the copy engines (time/dma/dma.h): their lines meet those of launches in links, L2 and DRAM
 *   clocks  launches have times of the program's clock. The GPU's own runs on behind a run, until the last write is in
 *           memory; the next run begins there, and the program does not see the difference
 *   mixing  while live_busy is false the simulator may run launches by simulate()
 */
#ifndef WS_HOST_LIVE_GPU_H
#define WS_HOST_LIVE_GPU_H

#include "host/simulate.h"

struct live_launch {
  struct launch *launch; /* must live until it is taken */
  uint64_t start_ps;     /* when it reaches the GPU; in the past: now */
  int priority;          /* its CTAs go before those of launches with a lower one */
  bool prepared;         /* a node behind others of its graph (launch.graph_cycles) */
  bool beside;           /* others run at the same time: it asks for shared memory that never limits its CTAs */
  void *who;             /* told with its end */
  struct gmem *image;    /* of one of several address spaces: memory of all of them, for the GPU; NULL: the launch's */
};

/* Engines: one for each direction, one for what stays inside, one for other GPUs (dma.engines may be fewer). */
enum live_engine { LIVE_TO_DEVICE, LIVE_TO_HOST, LIVE_INSIDE, LIVE_TO_PEER };

/* Where a side of a copy is: guest memory that is in the GPU's DRAM, or at the host; bytes of the host's program, which
 * the caller has checked; guest memory of another GPU of the machine, which is reached by links. */
enum live_place { LIVE_DEVICE, LIVE_AT_HOST, LIVE_PROGRAM, LIVE_PEER };

struct live_side {
  uint64_t addr, pitch, slice; /* of a fill: addr is the pattern */
  enum live_place place;
  uint16_t node; /* of LIVE_PEER */
};

struct live_copy {
  struct live_side dst, src;   /* one of them in the GPU's DRAM at least */
  uint64_t width, height, depth; /* bytes, rows, planes; > 0 */
  uint8_t fill;                /* bytes of the pattern: 1, 2 or 4; 0: a copy */
  enum live_engine engine;
  int32_t priority;            /* of one inside the GPU: higher ones begin first */
  uint32_t staging_mbps;       /* MB/s at which the host stages what is not pinned; 0: it does not */
  uint64_t start_ps;           /* in the past: now */
  void *who;                   /* told with its end */
};

/* Managed memory that moves because the program asked for it (time/uvm/uvm.h). */
struct live_prefetch {
  uint64_t addr, bytes; /* multiples of 4 KiB, in one allocation */
  bool to_host;
  uint64_t start_ps;    /* in the past: now */
  void *who;            /* told with its end, which is one of a copy */
};

struct live_end {
  void *who;
  bool copy;   /* it was one, without a result */
  bool failed; /* of a copy: an address was not mapped; what could be moved, was */
  uint64_t start_ps, end_ps; /* when it reached the GPU; its last CTA and last store in L2, or when it was cut short */
  const struct sm_stay_list *stays; /* of a launch in another's GPU that is asked for them (host/sm_stays.h); else NULL.
                                       Good as long as the result's pointers */
  struct sim_result result;  /* of launches that a fault of another cut short fault.kind is FAULT_NONE.
                                Its pointers are good until the next call of live_run, live_open or simulate */
};

enum live_stop {
  LIVE_REACHED, /* all that happens before `until` has happened */
  LIVE_ENDED,   /* launches or copies have ended, for live_take; when a launch did not do well, all have */
  LIVE_ASKED,   /* live_on_window said so */
};

/* Launches that have not been taken. */
unsigned live_count(const struct simulator *);
/* Launches or copies are there that have not been taken. */
bool live_busy(const struct simulator *);
/* Copies that have not ended; CTAs that have, of all launches of its GPU's run. */
unsigned live_copies(const struct simulator *);
uint64_t live_ctas_done(const struct simulator *);
/* No further launch can come now. */
bool live_full(const struct simulator *);
/* A launch comes. The options are those of the run: timed, threads, observers, poll, ctx, report; hazards, cold,
 * limits and samples are not for such runs. False with *e filled: it does not fit the GPU. */
bool live_open(struct simulator *, const struct live_launch *, const struct sim_options *, struct err *e);
/* A copy comes, between memory of the launches (image) and what it names. The simulator has been surrounded; of the
 * options `threads` and `observers` count. */
void live_copy(struct simulator *, const struct live_copy *, struct gmem *image, const struct sim_options *);
/* A prefetch comes, to or from the GPU whose managed memory it is (surroundings_manage). */
void live_prefetch(struct simulator *, const struct live_prefetch *, struct gmem *image, const struct sim_options *);
/* `window` is called behind each window of the model, with the program's time, ps; false: live_run ends. NULL:
 * nobody. */
void live_on_window(struct simulator *, bool (*window)(void *ctx, uint64_t now_ps), void *ctx);
/* Goes on, with launches that are there, until `until`, ps of the program's clock. */
enum live_stop live_run(struct simulator *, uint64_t until);
/* Nothing goes on from `from`, up to which all has happened, until `until`, ps of the program's clock: somebody else
 * has the GPU, which is the only one of its machine (base/time_slices.h). While launches or copies are there. */
void live_stand(struct simulator *, uint64_t from, uint64_t until);
/* All launches and copies, of all GPUs of its machine, end here as if they had been stopped, for live_take. Between
 * calls of live_run, all that has ended was taken. */
void live_cut(struct simulator *);
/* The next one that has ended, by its end. False: none. */
bool live_take(struct simulator *, struct live_end *);
/* The program's time up to which the GPU has gone, ps; 0 while nothing is there. */
uint64_t live_now(const struct simulator *);
/* The program's time of a moment of the GPU's clock, ps of both, in the run that goes on or was the last. */
uint64_t live_time(const struct simulator *, uint64_t gpu_ps);

#endif
