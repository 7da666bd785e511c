#include "cuda/core/kernel_live.h"

#include "base/arith.h"
#include "base/host_memory.h"
#include "base/ranks.h"
#include "cuda/core/context_turns.h"
#include "cuda/core/copy.h"
#include "cuda/core/device_work.h"
#include "cuda/core/kernel_run.h"
#include "cuda/core/mps.h"
#include "cuda/core/shim.h"
#include "cuda/core/task.h"
#include "cuda/core/time_share.h"
#include "host/live_gpu.h"

static unsigned count(void *ctx)
{
  const struct board *b = ctx;
  return board_busy(b);
}

static bool full(void *ctx)
{
  const struct board *b = ctx;
  bool full = false;
  for (unsigned i = 0; i < board_lanes(b); i++) full |= live_full(board_lane(b, i));
  return full;
}

static uint64_t now(void *ctx)
{
  const struct board *b = ctx;
  return b->turns ? context_turns_now(b) : live_now(b->simulator);
}

static bool is_wanted(struct shim *s)
{
  return s->may_pause && !s->ranks && atomic_load_explicit(&s->wanted, memory_order_relaxed) > 0;
}

/* Behind each window of the model. False: somebody should be asked, kernels were launched by kernels, another thread
 * wants to call, or the program has ended and nothing else does. */
static bool look(void *ctx, uint64_t now_ps)
{
  struct shim *s = ctx;
  for (uint32_t i = 0; i < s->front.asking.n; i++)
    if (s->task_kinds->can_start((const struct task *)s->front.asking.at[i])) return false;
  return !s->device_queued && !is_wanted(s) && !end_watch_is_over(s, now_ps);
}

/* A copy that has ended, and on which GPU. */
struct moved {
  struct live_end end;
  const struct board *by;
};

/* What was taken: copies, when kernels last ended, and how. */
struct taken {
  struct moved *moved;
  uint32_t n, room;
  uint64_t last; /* ps; 0: no kernel has */
  bool stopped, failed;
};

static void end_by_fault(struct live_end *e, uint64_t fault)
{
  e->result.end = RUN_FAULT;
  e->end_ps = later(e->end_ps, fault);
}

static void take_lane(struct board *b, unsigned lane, struct taken *t)
{
  struct live_end e;
  uint64_t last = 0;
  while (live_take(board_lane(b, lane), &e)) {
    if (e.copy) {
      t->moved = mem_more(t->moved, t->n, &t->room, sizeof *t->moved);
      t->moved[t->n++] = (struct moved){ e, b };
      continue;
    }
    if (t->failed && e.result.end == RUN_STOPPED) end_by_fault(&e, t->last); /* of another lane: context_turns_fail */
    t->stopped |= e.result.end == RUN_STOPPED;
    t->failed |= e.result.end == RUN_FAULT;
    last = later(last, e.end_ps);
    kernel_ended(e.who, &e);
  }
  if (last) context_turns_taken(b, lane, last);
  t->last = later(t->last, last);
}

static void take_lanes(struct board *b, struct taken *t)
{
  for (unsigned i = 0; i < board_lanes(b); i++) take_lane(b, i, t);
}

/* What has ended on any GPU: copies behind kernels, whose results the next part of a copy could end. A fault ends what
 * all contexts of a program have on the GPU. */
static void take_ended(struct shim *s)
{
  struct taken t = {0};
  for (unsigned i = 0; i < s->boards.n; i++) take_lanes(&s->boards.of[i], &t);
  if (t.failed && s->boards.of[0].turns) {
    context_turns_fail(&s->boards.of[0]);
    take_lanes(&s->boards.of[0], &t);
  }
  for (uint32_t i = 0; i < t.n; i++) copy_moved(t.moved[i].end.who, &t.moved[i].end, t.moved[i].by);
  mem_free(t.moved);
  if (s->share && t.last && !live_count(s->boards.of[0].simulator)) time_share_over(s, t.last);
  if (t.stopped && !s->end.cut) interrupt_end(s);
}

/* What waits for a program that has ended goes with it. */
static void cut_off(struct shim *s, struct board *b)
{
  s->end.cut = true;
  for (unsigned i = 0; i < board_lanes(b); i++) live_cut(board_lane(b, i));
  take_ended(s);
}

/* In all ranks, when it is in the one whose GPU has looked last. */
static bool is_over(struct shim *s, uint64_t now)
{
  const bool over = end_watch_is_over(s, now);
  return s->ranks && s->end.on ? ranks_any(s->ranks, over) : over;
}

/* Kernels on a GPU that other processes have, too: as far as it is this one's turn. */
static enum live_stop run_in_turn(struct board *b, uint64_t until)
{
  struct shim *s = b->shim;
  for (;;) {
    const uint64_t now = later(live_now(b->simulator), time_share_reached(s));
    uint64_t to = until;
    if (now >= until) return LIVE_REACHED;
    if (time_share_ask(s, now, &to)) {
      const enum live_stop stop = live_run(b->simulator, to);
      if (stop != LIVE_REACHED) return stop;
    } else {
      live_stand(b->simulator, now, to);
      s->end.quiet += to - now; /* nothing could have ended */
    }
    if (to < until && is_wanted(s)) return LIVE_ASKED;
  }
}

/* How far it goes without a look here: what streams wait for in memory may change in any window, and of a program that
 * has ended, or resets its GPU, it is watched whether anything of it still ends. */
static uint64_t step_there(const struct board *b)
{
  enum { ENDING_PS = 100 * 1000 * 1000 };
  const struct shim *s = b->shim;
  if (s->front.asking.n) return params_request_ps(&b->preset.params);
  return s->end.on ? ENDING_PS : FRONT_NEVER / 2;
}

/* In the GPU of the server. */
static enum live_stop run_there(struct board *b, uint64_t until)
{
  struct shim *s = b->shim;
  for (;;) {
    const uint64_t now = live_now(b->simulator), to = earlier(until, now + step_there(b));
    const enum live_stop stop = live_run(b->simulator, to);
    if (stop != LIVE_REACHED || to == until) return stop;
    if (!look(s, live_now(b->simulator))) return LIVE_ASKED;
  }
}

static enum live_stop run_beside(struct board *b, uint64_t until)
{
  return b->shim->mps ? run_there(b, until) : run_in_turn(b, until);
}

/* By who has it, too. */
static enum live_stop run_as_shared(struct board *b, uint64_t until)
{
  const struct shim *s = b->shim;
  if (b->turns) return context_turns_run(b, until);
  const bool beside = s->enter && (s->mps || live_count(b->simulator));
  return beside ? run_beside(b, until) : live_run(b->simulator, until);
}

/* GPUs of one machine, which have one clock. */
static enum front_gpu_stop run(void *ctx, uint64_t until)
{
  struct board *b = ctx;
  struct shim *s = b->shim;
  for (unsigned i = 0; i < board_lanes(b); i++) live_on_window(board_lane(b, i), look, s);
  const enum live_stop stop = run_as_shared(b, until);
  if (stop == LIVE_REACHED) return FRONT_GPU_REACHED;
  if (stop == LIVE_ENDED) take_ended(s);
  if (s->mps && stop == LIVE_ENDED) mps_look(s);
  if (stop == LIVE_ASKED && is_over(s, now(b))) cut_off(s, b);
  if (s->device_queued) device_work_give(s, now(b));
  return stop == LIVE_ASKED && is_wanted(s) ? FRONT_GPU_PAUSE : FRONT_GPU_EVENT;
}

struct front_gpu kernel_live_gpu(struct board *b)
{
  return (struct front_gpu){ b, count, full, now, run };
}
