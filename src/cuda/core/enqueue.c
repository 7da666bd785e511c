#include "cuda/core/enqueue.h"

#include <stdlib.h>
#include <string.h>

#include "cuda/core/device_work.h"
#include "cuda/core/graph_run.h"
#include "cuda/core/mem_op.h"
#include "cuda/core/shim.h"
#include "cuda/core/stream_capture.h"
#include "cuda/core/together.h"

/* True: the operation is not to be done now: *r says whether it became a node, or it was put off. */
static bool takes(struct shim *s, struct stream *st, const struct graph_op *op, CUresult *r)
{
  return capture_records(s, st, op, r) || hold_takes(s, st, op);
}

/* Kernels and graphs --------------------------------------------------------------------------- */

CUresult enqueue_kernel(struct shim *s, const struct launch_request *q)
{
  uint8_t *packed;
  CUresult r = kernel_prepare(s, q, &packed);
  if (r != CUDA_SUCCESS) return r;
  struct graph_op op = { .type = NODE_KERNEL, .kernel = { .q = *q, .handle = q->named ? q->named : q->function } };
  op.kernel.q.params = NULL;
  op.kernel.q.packed = packed;
  if (!takes(s, q->stream, &op, &r)) {
    timeline_launch_call(&s->time);
    if (!together_takes(s, &op.kernel.q)) r = kernel_execute(s, &op.kernel.q);
  }
  free(packed);
  return r;
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
  return hold_takes_exec(s, st, x) ? CUDA_SUCCESS : exec_launch_now(s, x, st);
}

/* Memory --------------------------------------------------------------------------------------- */

CUresult enqueue_copy(struct shim *s, const struct copy *c, struct stream *st, bool blocking)
{
  CUresult r = copy_check(s, c, st);
  if (r != CUDA_SUCCESS || copy_is_empty(c)) return r;
  struct graph_op op = { .type = NODE_MEMCPY, .memcpy = { .copy = *c, .kind = COPY_DEFAULT } };
  if (blocking ? capture_forbids(s, st, &r) : capture_records(s, st, &op, &r)) return r;
  /* What the host stages it cannot put off. */
  if (blocking || copy_is_pageable(s, c)) hold_wait(s, st);
  else if (hold_takes(s, st, &op)) return CUDA_SUCCESS;
  return copy_now(s, c, st, blocking);
}

CUresult enqueue_fill(struct shim *s, const struct fill *f, struct stream *st)
{
  struct graph_op op = { .type = NODE_MEMSET, .memset = *f };
  CUresult r = copy_fill_check(s, f, st);
  if (r != CUDA_SUCCESS || fill_is_empty(f)) return r;
  return takes(s, st, &op, &r) ? r : fill_now(s, f, st);
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
    if (!takes(s, st, &one, &r)) r = mem_op_run(s, &one, st);
  }
  return r;
}

static CUresult capture_alloc(struct shim *s, struct stream *st, uint64_t *addr, uint64_t bytes)
{
  CUresult r = graph_memory_new(s, addr, bytes);
  if (r != CUDA_SUCCESS) return r;
  struct graph_op op = { .type = NODE_MEM_ALLOC, .memory = { *addr, bytes } };
  graph_memory_hold(s, *addr);
  takes(s, st, &op, &r);
  graph_memory_drop(s, *addr); /* the node holds it */
  return r;
}

CUresult enqueue_alloc(struct shim *s, CUmemoryPool p, uint64_t *addr, uint64_t bytes, CUstream stream)
{
  struct stream *st = stream_of(s, stream);
  if (!st) return CUDA_ERROR_INVALID_HANDLE;
  return st->capture ? capture_alloc(s, st, addr, bytes) : pool_alloc(s, p, addr, bytes);
}

CUresult enqueue_free(struct shim *s, uint64_t addr, CUstream stream)
{
  struct stream *st = stream_of(s, stream);
  struct graph_op op = { .type = NODE_MEM_FREE, .memory = { addr, 0 } };
  CUresult r;
  if (!st) return CUDA_ERROR_INVALID_HANDLE;
  if (st->capture && !graph_memory_exists(s, addr)) return CUDA_ERROR_INVALID_VALUE;
  return takes(s, st, &op, &r) ? r : pool_free(s, addr);
}

/* The program's functions ----------------------------------------------------------------------- */

CUresult enqueue_host(struct shim *s, CUstream h, void (*fn)(void *), void *data)
{
  struct stream *st = stream_of(s, h);
  if (!st) return CUDA_ERROR_INVALID_HANDLE;
  if (!fn) return CUDA_ERROR_INVALID_VALUE;
  struct graph_op op = { .type = NODE_HOST, .host = { fn, data } };
  CUresult r;
  if (takes(s, st, &op, &r)) return r;
  stream_host(s, st, fn, data);
  return CUDA_SUCCESS;
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
  if (!hold_takes(s, st, &op)) stream_host(s, st, call_back, c);
  return CUDA_SUCCESS;
}

/* Events --------------------------------------------------------------------------------------- */

CUresult enqueue_record(struct shim *s, CUevent h, CUstream stream, unsigned flags)
{
  struct event *e = event_of(s, h);
  struct stream *st = stream_of(s, stream);
  struct graph_op op = { .type = NODE_EVENT_RECORD, .event = h };
  CUresult r;
  if (!e || !st) return CUDA_ERROR_INVALID_HANDLE;
  if (st->capture && !(flags & EVENT_EXTERNAL)) return capture_event(st, e), CUDA_SUCCESS;
  return takes(s, st, &op, &r) ? r : event_record_now(s, h, st);
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
  return takes(s, st, &op, &r) ? r : stream_wait_event_now(s, st, event);
}
