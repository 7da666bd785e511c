#include "cuda/core/enqueue.h"

#include <stdlib.h>
#include <string.h>

#include "cuda/core/graph_run.h"
#include "cuda/core/green_context.h"
#include "cuda/core/mem_op.h"
#include "cuda/core/shim.h"
#include "cuda/core/stream_capture.h"
#include "cuda/core/task.h"

/* To the graph that the stream captures, or to the stream. */
static CUresult give(struct shim *s, struct stream *st, const struct graph_op *op)
{
  CUresult r;
  if (capture_records(s, st, op, &r)) return r;
  task_give(task_of_stream(s, op, st), st);
  return CUDA_SUCCESS;
}

static CUresult give_and_wait(struct shim *s, struct stream *st, const struct graph_op *op, bool waits)
{
  struct task *w = task_of_stream(s, op, st);
  task_give_held(w, st);
  CUresult r = waits ? task_wait(s, &w->command) : CUDA_SUCCESS;
  command_drop(&w->command);
  return r;
}

/* Kernels and graphs --------------------------------------------------------------------------- */

CUresult enqueue_kernel(struct shim *s, const struct launch_request *q)
{
  uint8_t *packed;
  if (q->stream->board != q->function->module->board) return CUDA_ERROR_INVALID_HANDLE;
  struct launch_request here = *q;
  here.context = q->stream->green ? q->stream->board->primary : q->stream->context; /* NULL: the current one */
  here.cores = green_cores(q->stream);
  if (!here.cores && !q->stream->context) here.cores = green_cores_of(context_current(s));
  kernel_own_block(&here);
  CUresult r = kernel_prepare(&here, &packed);
  if (r != CUDA_SUCCESS) return r;
  struct graph_op op = { .type = NODE_KERNEL, .kernel = { .q = here, .handle = q->named ? q->named : q->function } };
  op.kernel.q.params = NULL;
  op.kernel.q.packed = packed;
  if (!q->has_window) op.kernel.q.window = q->stream->window;
  if (capture_records(s, q->stream, &op, &r)) {
    free(packed);
    return r;
  }
  timeline_launch_call(&s->time);
  const struct task_site site = { .stream_id = q->stream->id, .board = q->stream->board, .not_before = s->time.now,
                                  .moved = true };
  task_give(task_new(s, &op, &site), q->stream);
  return CUDA_SUCCESS;
}

CUresult enqueue_graph(struct shim *s, CUgraphExec x, CUstream stream)
{
  struct stream *st = stream_of(s, stream);
  CUresult r;
  if (!exec_exists(s, x)) return CUDA_ERROR_INVALID_VALUE;
  if (!st) return CUDA_ERROR_INVALID_HANDLE;
  struct graph_op op = { .type = NODE_GRAPH, .child = x->graph };
  if (capture_records(s, st, &op, &r)) return r;
  timeline_launch_call(&s->time);
  return graph_launch(s, x, st);
}

/* Memory --------------------------------------------------------------------------------------- */

/* A copy of the NULL stream between two GPUs waits for all that was given to either, and what comes then waits for it
 * (CUDA C++ Programming Guide, "Peer-to-Peer Memory Copy"). */
static CUresult give_between(struct shim *s, struct stream *st, const struct graph_op *op, struct board *dst,
                             struct board *src)
{
  struct stream *const default_of[] = { &dst->legacy, &src->legacy };
  struct task *w = task_of_stream(s, op, st);
  for (unsigned i = 0; i < 2; i++)
    if (default_of[i] != st) stream_follow(s, &w->command, default_of[i]);
  task_give_held(w, st);
  for (unsigned i = 0; i < 2; i++)
    if (default_of[i] != st) stream_append(s, &w->command, default_of[i]);
  command_drop(&w->command);
  return CUDA_SUCCESS;
}

CUresult enqueue_copy(struct shim *s, const struct copy *c, struct stream *st, bool blocking)
{
  CUresult r = copy_check(s, c, st);
  if (r != CUDA_SUCCESS || copy_is_empty(c)) return r;
  struct graph_op op = { .type = NODE_MEMCPY, .memcpy = { .copy = *c, .kind = COPY_DEFAULT } };
  if (blocking ? capture_forbids(s, st, &r) : capture_records(s, st, &op, &r)) return r;
  if (blocking) copy_note_in_trace(s, c);
  struct board *dst, *src;
  if (st->order.legacy && copy_between(s, c, &dst, &src)) return give_between(s, st, &op, dst, src);
  return give_and_wait(s, st, &op, copy_host_waits(s, c, blocking));
}

CUresult enqueue_fill(struct shim *s, const struct fill *f, struct stream *st, bool blocking)
{
  struct graph_op op = { .type = NODE_MEMSET, .memset = *f };
  CUresult r = copy_fill_check(s, f, st);
  if (r != CUDA_SUCCESS || fill_is_empty(f)) return r;
  if (capture_records(s, st, &op, &r)) return r;
  return give_and_wait(s, st, &op, blocking && fill_is_on_host(s, f));
}

CUresult enqueue_mem_ops(struct shim *s, CUstream stream, const CUstreamBatchMemOpParams *op, unsigned n,
                         unsigned flags)
{
  struct stream *st = stream_of(s, stream);
  if (!st) return CUDA_ERROR_INVALID_HANDLE;
  CUresult r = mem_op_check(s, op, n, flags);
  if (r != CUDA_SUCCESS) return r;
  CUstreamBatchMemOpParams copy[MEM_OPS_MAX];
  memcpy(copy, op, n * sizeof *op);
  struct graph_op all = { .type = NODE_MEM_OPS, .memory_ops = { copy, n } };
  if (capture_records(s, st, &all, &r)) return r;
  for (unsigned i = 0; r == CUDA_SUCCESS && i < n; i++) { /* one by one: each may have to wait */
    struct graph_op one = { .type = NODE_MEM_OPS, .memory_ops = { &copy[i], 1 } };
    r = give(s, st, &one);
  }
  return r;
}

static CUresult capture_alloc(struct shim *s, struct stream *st, uint64_t *addr, uint64_t bytes)
{
  CUresult r = graph_memory_new(s, st->board, addr, bytes);
  if (r != CUDA_SUCCESS) return r;
  struct graph_op op = { .type = NODE_MEM_ALLOC, .memory = { *addr, bytes } };
  graph_memory_hold(s, *addr);
  r = give(s, st, &op);
  graph_memory_drop(s, *addr); /* the node holds it */
  return r;
}

/* What pools know a stream by. Default streams have no id; they stay where they are. */
static uint64_t key_of(const struct stream *st)
{
  return st->id ? st->id : (uint64_t)(uintptr_t)st;
}

CUresult enqueue_alloc(struct shim *s, CUmemoryPool p, uint64_t *addr, uint64_t bytes, CUstream stream)
{
  struct stream *st = stream_of(s, stream);
  if (!st) return CUDA_ERROR_INVALID_HANDLE;
  if (st->capture && !pool_is_captured(s, p)) return shim_unsupported(s, "a graph's memory from a pool of the host");
  return st->capture ? capture_alloc(s, st, addr, bytes) : pool_alloc(s, p, addr, bytes, key_of(st));
}

CUresult enqueue_free(struct shim *s, uint64_t addr, CUstream stream)
{
  struct stream *st = stream_of(s, stream);
  struct graph_op op = { .type = NODE_MEM_FREE, .memory = { addr, 0 } };
  if (!st) return CUDA_ERROR_INVALID_HANDLE;
  if (st->capture ? !graph_memory_exists(s, addr) : !pool_can_free(s, addr)) return CUDA_ERROR_INVALID_VALUE;
  if (!st->capture) pool_give_back(s, addr, key_of(st));
  return give(s, st, &op);
}

/* The program's functions ----------------------------------------------------------------------- */

CUresult enqueue_host(struct shim *s, CUstream h, void (*fn)(void *), void *data)
{
  struct stream *st = stream_of(s, h);
  if (!st) return CUDA_ERROR_INVALID_HANDLE;
  if (!fn) return CUDA_ERROR_INVALID_VALUE;
  return give(s, st, &(struct graph_op){ .type = NODE_HOST, .host = { fn, data } });
}

struct callback {
  void (*fn)(CUstream, CUresult, void *);
  CUstream stream;
  void *data;
};

static void call_back(void *p)
{
  struct callback c = *(struct callback *)p;
  free(p);
  c.fn(c.stream, CUDA_SUCCESS, c.data);
}

CUresult enqueue_callback(struct shim *s, CUstream h, void (*fn)(CUstream, CUresult, void *), void *data,
                          unsigned flags)
{
  struct stream *st = stream_of(s, h);
  CUresult r;
  if (!fn || flags) return CUDA_ERROR_INVALID_VALUE;
  if (!st) return CUDA_ERROR_INVALID_HANDLE;
  if (capture_forbids(s, st, &r)) return r;
  struct callback *c = shim_alloc(sizeof *c);
  *c = (struct callback){ fn, h, data };
  struct graph_op op = { .type = NODE_HOST, .host = { call_back, c } };
  task_give(task_of_stream(s, &op, st), st);
  return CUDA_SUCCESS;
}

/* Events --------------------------------------------------------------------------------------- */

CUresult enqueue_record(struct shim *s, CUevent h, CUstream stream, unsigned flags)
{
  struct event *e = event_of(s, h);
  struct stream *st = stream_of(s, stream);
  struct graph_op op = { .type = NODE_EVENT_RECORD, .event = h };
  CUresult r;
  if (!e || !st || e->board != st->board) return CUDA_ERROR_INVALID_HANDLE;
  if (st->capture && !(flags & EVENT_EXTERNAL)) return capture_event(st, e), CUDA_SUCCESS;
  if (capture_records(s, st, &op, &r)) return r;
  struct task *w = task_of_stream(s, &op, st);
  event_attach(s, h, &w->command);
  task_give(w, st);
  return CUDA_SUCCESS;
}

CUresult enqueue_wait_event(struct shim *s, CUstream h, CUevent event, unsigned flags)
{
  struct stream *st = stream_of(s, h);
  struct event *e = event_of(s, event);
  struct graph_op op = { .type = NODE_WAIT_EVENT, .event = event };
  CUresult r;
  if (!st || !e) return CUDA_ERROR_INVALID_HANDLE;
  if (capture_has_event(s, e) || (st->capture && !(flags & EVENT_EXTERNAL)))
    return capture_join(s, st, e);
  if (capture_records(s, st, &op, &r)) return r;
  struct task *w = task_of_stream(s, &op, st);
  event_follow(s, &w->command, event);
  task_give(w, st);
  return CUDA_SUCCESS;
}
