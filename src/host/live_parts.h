/* What the parts of the GPU between two moments share (host/live_gpu.h): private to live_begin.c (what is
 * there, the clock, where a run begins), live_launch.c (launches that come and what is said of them), live_copy.c
 * (copies) and live_gpu.c, which stands on these (how a run goes on and ends).
 */
#ifndef WS_HOST_LIVE_PARTS_H
#define WS_HOST_LIVE_PARTS_H

#include "base/arith.h"
#include "base/host_memory.h"
#include "host/live_gpu.h"
#include "host/ranked.h"
#include "host/simulator.h"
#include "host/surroundings.h"

enum { GPU_LINKS = 2 * LINK_PORT_LANES };

struct live_slot {
  struct live_launch launch;
  struct gpu_launch gpu; /* as the GPU has it; source NULL: the slot is free */
  unsigned together;     /* launches that were there at the same time, and this one */
  picos link_taken[GPU_LINKS]; /* for how long the GPU's links had been taken when it came */
};

struct copy_slot {
  void *who; /* NULL: the slot is free */
  uint64_t start_ps;
  uint32_t planes; /* that are not done */
  uint64_t begin, end; /* ps of the GPU's clock: of those that are */
  uint64_t window; /* of the program's memory, where several processes have the machine (ranked.h); 0: none */
  bool failed;
};

struct live {
  struct live_clock clock; /* of a GPU that stands alone */
  unsigned n_launches; /* of this run, since there was none */
  unsigned n_open;
  struct live_slot slot[GPU_SLOTS];
  struct copy_slot *copy; /* by ticket */
  uint32_t n_copy_slots, room_copies, n_copies; /* n_copies: that are there */
  struct live_end *ended; /* by their end; those before `taken` are gone */
  uint32_t n_ended, taken, room_ended;
  unsigned ended_launches; /* of those that are not taken */
  struct sim_options options;
  struct sim_watcher watcher;
  struct run_watch watch;
};

static inline struct live *live_of(struct simulator *s)
{
  if (!s->live) s->live = mem_zeroed(1, sizeof *s->live);
  return s->live;
}

static inline struct live_clock *live_clock_of(const struct simulator *s)
{
  return s->around ? &s->around->clock : &s->live->clock;
}

/* NULL: this process has all GPUs. */
static inline struct ranked *live_ranked(const struct simulator *s)
{
  return s->around ? s->around->ranked : NULL;
}

/* Whether its GPU is in this process. */
static inline bool live_is_here(const struct simulator *s)
{
  return ranked_mine(live_ranked(s), s->node);
}

static inline struct uvm *live_managed(const struct simulator *s)
{
  return s->around && s->around->managed ? surroundings_driver(s->around, s) : NULL;
}

/* ---- live_begin.c ---- */

/* A run begins with a launch or a copy that comes to an idle GPU: first NULL: a copy. */
void live_begin_run(struct simulator *s, uint64_t start_ps, const struct step_source *first, struct gmem *image);
/* The run's launches are watched as the first of them is. */
void live_watch_as(struct simulator *s, const struct sim_options *o);
/* Something has ended: kept by the time of its end until it is taken. */
struct live_end *live_add_end(struct live *v, const struct live_end *x);

/* ---- live_launch.c ---- */

/* A launch is over; how it ended is for the caller to say. */
struct sim_result *live_collect(struct simulator *s, unsigned slot);

/* ---- live_copy.c ---- */

/* Copies and prefetches that are done; what was on its way when a launch failed. */
void live_collect_copies(struct simulator *s);
void live_cut_copies(struct simulator *s);

#endif
