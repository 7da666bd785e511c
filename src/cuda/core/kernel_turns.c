#include "cuda/core/kernel_turns.h"

#include "base/fiber.h"
#include "base/host_memory.h"
#include "cuda/core/device_work.h"
#include "cuda/core/kernel_run.h"
#include "cuda/core/shim.h"
#include "cuda/core/task.h"
#include "func/func.h"

/* --- a kernel --------------------------------------------------------------------------------------- */

struct kernel_turn *kernel_turn_begin(struct board *b, struct task *w, uint64_t start, void (*fn)(void *task))
{
  struct kernel_turn *t = b->spare ? b->spare : mem_zeroed(1, sizeof *t);
  struct fiber *fiber = t->fiber;
  if (fiber) fiber_renew(fiber, fn, w);
  else fiber = fiber_new(fn, w);
  *t = (struct kernel_turn){ .fiber = fiber, .work = w, .board = b, .start = start, .now = start };
  b->spare = NULL;
  return b->turn = t;
}

bool kernel_turn_poll(void *turn, const struct run_progress *p)
{
  struct kernel_turn *t = turn;
  t->now = t->start + p->insts * FUNC_CYCLES_PER_INST * params_clock_ps(&t->board->preset.params);
  t->insts = p->insts;
  if (t->ctas != p->ctas_done || !t->board->shim->end.on) t->quiet = p->insts;
  t->ctas = p->ctas_done;
  if (p->insts >= t->stops) fiber_stop(t->fiber);
  return !t->cut && launch_watch_poll(t->watch, p);
}

bool kernel_turn_resume(struct kernel_turn *t)
{
  if (fiber_resume(t->fiber)) return false;
  t->board->spare = t;
  t->board->turn = NULL;
  return true;
}

/* True: it has ended, as *end says. */
static bool go_on(struct kernel_turn *t, enum run_end *end)
{
  struct task *w = t->work;
  const bool cut = t->cut;
  if (!kernel_turn_resume(t)) return false;
  *end = kernel_turn_ended(w, cut);
  return true;
}

/* --- all of them ------------------------------------------------------------------------------------ */

/* The one that is behind the others; NULL: there is none. */
static struct kernel_turn *last(const struct shim *s)
{
  struct kernel_turn *t = NULL;
  for (unsigned i = 0; i < s->boards.n; i++) {
    struct kernel_turn *other = s->boards.of[i].turn;
    if (other && (!t || other->now < t->now)) t = other;
  }
  return t;
}

static void cut_all(struct shim *s)
{
  enum run_end end;
  for (struct kernel_turn *t; (t = last(s));) {
    t->cut = true;
    while (!go_on(t, &end)) continue;
  }
}

static bool somebody_could_start(const struct shim *s)
{
  for (uint32_t i = 0; i < s->front.asking.n; i++)
    if (s->task_kinds->can_start((const struct task *)s->front.asking.at[i])) return true;
  return false;
}

static bool is_wanted(struct shim *s)
{
  return s->may_pause && atomic_load_explicit(&s->wanted, memory_order_relaxed) > 0;
}

/* --- for the front end ------------------------------------------------------------------------------ */

static unsigned count(void *ctx)
{
  return ((const struct board *)ctx)->turn != NULL;
}

static bool full(void *ctx)
{
  return count(ctx) > 0;
}

static uint64_t now(void *ctx)
{
  const struct kernel_turn *t = last(((const struct board *)ctx)->shim);
  return t ? t->now : 0;
}

static enum front_gpu_stop run(void *ctx, uint64_t until)
{
  struct shim *s = ((const struct board *)ctx)->shim;
  if (s->stands) return FRONT_GPU_PAUSE;
  for (struct kernel_turn *t; (t = last(s)) && t->now < until;) {
    enum run_end end = RUN_DONE;
    if (go_on(t, &end)) {
      if (end != RUN_DONE) cut_all(s);
      return FRONT_GPU_EVENT;
    }
    if (t->insts - t->quiet > ENDING_INSTS) {
      s->end.cut = true;
      cut_all(s);
      return FRONT_GPU_EVENT;
    }
    if (somebody_could_start(s)) return FRONT_GPU_EVENT;
    if (is_wanted(s)) return FRONT_GPU_PAUSE;
  }
  return FRONT_GPU_REACHED;
}

struct front_gpu kernel_turns_gpu(struct board *b)
{
  return (struct front_gpu){ b, count, full, now, run };
}
