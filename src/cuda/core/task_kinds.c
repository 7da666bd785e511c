#include "cuda/core/task_kinds.h"

#include <stdlib.h>

#include "base/arith.h"
#include "cuda/core/copy.h"
#include "cuda/core/device_queue.h"
#include "cuda/core/device_work.h"
#include "cuda/core/graph_run.h"
#include "cuda/core/host_call.h"
#include "cuda/core/kernel_run.h"
#include "cuda/core/mem_op.h"
#include "cuda/core/prefetch.h"
#include "cuda/core/shim.h"
#include "cuda/core/task.h"

static struct task *work_of(struct command *c)
{
  return (struct task *)c;
}

/* What takes no time. */
static enum command_way at_once(struct task *w, CUresult r, uint64_t now)
{
  if (r != CUDA_SUCCESS) task_fault(w->shim, r, now);
  return COMMAND_LASTS;
}

/* One after the other, up to one that has to wait. */
static enum command_way begin_mem_ops(struct task *w)
{
  for (; w->done < w->op.memory_ops.n; w->done++)
    if (!mem_op_run(w->shim, &w->op.memory_ops.op[w->done])) return COMMAND_ASKS;
  return COMMAND_LASTS;
}

/* Where all processes have one time axis, not before it has happened there. */
static enum command_way begin_shared(const struct task *w, uint64_t now, uint64_t *end)
{
  if (!ipc_record_is_over(&w->op.shared)) return COMMAND_ASKS;
  if (w->shim->enter) *end = later(now, ipc_record_end(&w->op.shared));
  return COMMAND_LASTS;
}

static bool can_start(const struct task *w)
{
  if (w->op.type == NODE_SHARED_EVENT) return ipc_record_is_over(&w->op.shared);
  return mem_op_is_ready(w->shim, &w->op.memory_ops.op[w->done]);
}

static void describe(const struct task *w, char *text, size_t size)
{
  if (w->op.type == NODE_SHARED_EVENT) return ipc_record_describe(&w->op.shared, text, size);
  mem_op_describe(w->shim, &w->op.memory_ops.op[w->done], text, size);
}

static enum command_way begin(struct command *c, uint64_t now, uint64_t *end)
{
  struct task *w = work_of(c);
  struct shim *s = w->shim;
  *end = now;
  if (task_is_off(s, c->gpu)) return COMMAND_LASTS;
  switch (w->op.type) {
  case NODE_KERNEL: return kernel_begin(w, now, end);
  case NODE_MEMCPY: return copy_start(w, now, end);
  case NODE_MEMSET: return fill_start(w, now, end);
  case NODE_HOST: return host_call_begin(w, now);
  case NODE_MEM_ALLOC: return at_once(w, graph_memory_take(s, w->op.memory.addr), now);
  case NODE_MEM_FREE: return at_once(w, pool_free(s, w->op.memory.addr), now);
  case NODE_MEM_OPS: return begin_mem_ops(w);
  case NODE_CONDITIONAL: return condition_begin(w, now);
  case NODE_PREFETCH: return prefetch_start(w, now);
  case NODE_SHARED_EVENT: return begin_shared(w, now, end);
  case NODE_GRAPH: /* in its nodes (graph_run.c) */
  case NODE_EVENT_RECORD:
  case NODE_WAIT_EVENT: /* in what comes behind what */
  case NODE_EMPTY: break;
  }
  return COMMAND_LASTS;
}

/* What the timeline file calls it; NULL: kernels have more to say. */
static const char *name_of(const struct task *w)
{
  switch (w->op.type) {
  case NODE_MEMCPY:
    return w->command.place == COMMAND_TO_PEER ? "copy to another GPU" : copy_name(&w->op.memcpy.copy);
  case NODE_MEMSET: return "fill";
  case NODE_HOST: return "host function";
  case NODE_EVENT_RECORD: return "event";
  case NODE_PREFETCH: return w->op.prefetch.to_host ? "prefetch to the host" : "prefetch to the device";
  case NODE_MEM_OPS: return "memory operations";
  default: return NULL;
  }
}

static void show(const struct task *w, const char *name)
{
  static const enum timeline_engine engine[] = { [COMMAND_ANYWHERE] = TIMELINE_NONE,
                                                 [COMMAND_TO_DEVICE] = TIMELINE_TO_DEVICE,
                                                 [COMMAND_TO_HOST] = TIMELINE_TO_HOST,
                                                 [COMMAND_TO_PEER] = TIMELINE_NONE };
  uint64_t bytes = w->op.type == NODE_MEMCPY   ? copy_size(&w->op.memcpy.copy)
                   : w->op.type == NODE_MEMSET   ? w->op.memset.width * w->op.memset.height
                   : w->op.type == NODE_PREFETCH ? w->op.prefetch.bytes
                                                 : 0;
  activity_operation(w->shim->activity,
                     &(struct activity_op){ .name = name, .gpu = w->stream_gpu, .stream = w->stream_id, .bytes = bytes,
                                            .begin = w->command.begin, .end = w->command.end,
                                            .engine = engine[w->command.place] });
}

static void tell(const struct task *w)
{
  struct tracer *t = atomic_load(&w->shim->tracer);
  if (t) t->moved(t, w);
}

static void finish(struct command *c)
{
  struct task *w = work_of(c);
  struct shim *s = w->shim;
  const char *name = s->activity ? name_of(w) : NULL;
  if (name) show(w, name);
  if (w->call.number && (w->op.type == NODE_MEMCPY || w->op.type == NODE_MEMSET)) tell(w);
  if (task_is_off(s, c->gpu)) return;
  switch (w->op.type) {
  case NODE_MEMCPY: copy_finish(w); break;
  case NODE_MEMSET: fill_finish(w); break;
  default: break;
  }
}

static void release(struct command *c)
{
  struct task *w = work_of(c);
  graph_op_free(w->shim, &w->op);
  device_grid_drop(w->grid);
  free(w);
}

static void place(struct shim *s, const struct graph_op *op, struct command *c)
{
  unsigned gpu = c->gpu;
  if (op->type == NODE_KERNEL) {
    c->place = kernel_place(s, &op->kernel.q);
    gpu = op->kernel.q.function->module->board->number;
  } else c->place = op->type == NODE_MEMCPY ? copy_place(s, &op->memcpy.copy, &gpu) : COMMAND_ANYWHERE;
  c->gpu = (uint8_t)gpu;
}

static void made(struct task *w)
{
  if (w->op.type == NODE_KERNEL) device_work_prepare(w);
}

const struct task_kinds task_kinds = {
  .ops = { .start = begin, .end = finish, .free = release },
  .place = place,
  .made = made,
  .can_start = can_start,
  .describe = describe,
};
