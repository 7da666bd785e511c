#include "cuda/core/prefetch.h"

#include "base/arith.h"
#include "cuda/core/managed.h"
#include "cuda/core/shim.h"
#include "cuda/core/stream_capture.h"
#include "cuda/core/task.h"
#include "host/live_gpu.h"
#include "time/uvm/page_set.h"

enum { PAGE = 1 << UVM_PAGE_BITS };

CUresult prefetch_give(struct shim *s, uint64_t addr, uint64_t bytes, const struct board *to, struct stream *st)
{
  CUresult r;
  const uint64_t first = addr / PAGE * PAGE;
  const struct graph_op op = { .type = NODE_PREFETCH,
                               .prefetch = { first, align_up(addr + bytes, PAGE) - first, !to,
                                             to ? to->number : 0 } };
  if (capture_forbids(s, st, &r)) return r;
  task_give(task_of_stream(s, &op, st), st);
  return CUDA_SUCCESS;
}

/* Memory that has been freed meanwhile has nothing to move. */
enum command_way prefetch_start(struct task *w, uint64_t now)
{
  struct shim *s = w->shim;
  struct board *b = &s->boards.of[w->op.prefetch.to_host ? w->command.gpu : w->op.prefetch.gpu];
  if (!managed_has(s, w->op.prefetch.addr)) return COMMAND_LASTS;
  const struct sim_options o = { .timed = true, .threads = s->options.threads, .report = stderr,
                                 .observers = board_observers(b) };
  live_prefetch(b->simulator,
                &(struct live_prefetch){ .addr = w->op.prefetch.addr, .bytes = w->op.prefetch.bytes,
                                         .to_host = w->op.prefetch.to_host, .start_ps = now, .who = w },
                b->device.mem, &o);
  return COMMAND_GOES;
}
