#include "cuda/core/kernel_live.h"

#include "base/arith.h"
#include "base/host_memory.h"
#include "base/ranks.h"
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
  return live_busy(b->simulator);
}

static bool full(void *ctx)
{
  const struct board *b = ctx;
  return live_full(b->simulator);
}

static uint64_t now(void *ctx)
{
  const struct board *b = ctx;
  return live_now(b->simulator);
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

/* What has ended on any GPU: copies behind kernels, whose results the next part of a copy could end. */
static void take_ended(struct shim *s)
{
  struct moved *moved = NULL;
  uint32_t n = 0, room = 0;
  struct live_end e;
  uint64_t last = 0;
  bool stopped = false;
  for (unsigned i = 0; i < s->boards.n; i++) {
    while (live_take(s->boards.of[i].simulator, &e)) {
      stopped |= !e.copy && e.result.end == RUN_STOPPED;
      last = e.copy ? last : later(last, e.end_ps);
      if (!e.copy) kernel_ended(e.who, &e);
      else moved = mem_more(moved, n, &room, sizeof *moved), moved[n++] = (struct moved){ e, &s->boards.of[i] };
    }
  }
  for (uint32_t i = 0; i < n; i++) copy_moved(moved[i].end.who, &moved[i].end, moved[i].by);
  mem_free(moved);
  if (s->share && last && !live_count(s->boards.of[0].simulator)) time_share_over(s, last);
  if (stopped && !s->end.cut) interrupt_end(s);
}

/* What waits for a program that has ended goes with it. */
static void cut_off(struct shim *s, struct board *b)
{
  s->end.cut = true;
  live_cut(b->simulator);
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

/* GPUs of one machine, which have one clock. */
static enum front_gpu_stop run(void *ctx, uint64_t until)
{
  struct board *b = ctx;
  struct shim *s = b->shim;
  live_on_window(b->simulator, look, s);
  const bool beside = s->enter && (s->mps || live_count(b->simulator));
  enum live_stop stop = beside ? run_beside(b, until) : live_run(b->simulator, until);
  if (stop == LIVE_REACHED) return FRONT_GPU_REACHED;
  if (stop == LIVE_ENDED) take_ended(s);
  if (s->mps && stop == LIVE_ENDED) mps_look(s);
  if (stop == LIVE_ASKED && is_over(s, live_now(b->simulator))) cut_off(s, b);
  if (s->device_queued) device_work_give(s, live_now(b->simulator));
  return stop == LIVE_ASKED && is_wanted(s) ? FRONT_GPU_PAUSE : FRONT_GPU_EVENT;
}

struct front_gpu kernel_live_gpu(struct board *b)
{
  return (struct front_gpu){ b, count, full, now, run };
}
