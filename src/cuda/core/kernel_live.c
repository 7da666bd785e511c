#include "cuda/core/kernel_live.h"

#include "cuda/core/copy.h"
#include "cuda/core/device_work.h"
#include "cuda/core/kernel_run.h"
#include "cuda/core/shim.h"
#include "cuda/core/task.h"
#include "host/live_gpu.h"

bool kernel_live_possible(const struct exec_options *o)
{
  return o->timed && !o->sample && !o->sample_ctas && !o->cold && !o->ncu.stream && !o->trace && !o->capture &&
         !o->html && !o->debug && !o->sanitize && !o->max_cycles && !o->max_insts;
}

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
  return s->may_pause && atomic_load_explicit(&s->wanted, memory_order_relaxed) > 0;
}

/* Behind each window of the model. False: somebody should be asked, kernels were launched by kernels, or another thread
 * wants to call. */
static bool look(void *ctx, uint64_t now_ps)
{
  struct shim *s = ctx;
  (void)now_ps;
  for (uint32_t i = 0; i < s->front.asking.n; i++)
    if (s->task_kinds->can_start((const struct task *)s->front.asking.at[i])) return false;
  return !s->device_queued && !is_wanted(s);
}

static void take_ended(struct board *b)
{
  struct live_end e;
  bool stopped = false;
  while (live_take(b->simulator, &e)) {
    stopped |= !e.copy && e.result.end == RUN_STOPPED;
    if (e.copy) copy_moved(e.who, &e);
    else kernel_ended(e.who, &e);
  }
  if (stopped) interrupt_end(b->shim);
}

static enum front_gpu_stop run(void *ctx, uint64_t until)
{
  struct board *b = ctx;
  struct shim *s = b->shim;
  live_on_window(b->simulator, look, s);
  enum live_stop stop = live_run(b->simulator, until);
  if (stop == LIVE_REACHED) return FRONT_GPU_REACHED;
  if (stop == LIVE_ENDED) take_ended(b);
  if (s->device_queued) device_work_give(s, live_now(b->simulator));
  return stop == LIVE_ASKED && is_wanted(s) ? FRONT_GPU_PAUSE : FRONT_GPU_EVENT;
}

struct front_gpu kernel_live_gpu(struct board *b)
{
  return (struct front_gpu){ b, count, full, now, run };
}
