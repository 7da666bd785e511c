#include "cuda/core/context.h"

#include <stdlib.h>
#include <string.h>

#include "cuda/core/array.h"
#include "cuda/core/graph_memory.h"
#include "cuda/core/hold.h"
#include "cuda/core/ipc.h"
#include "cuda/core/memory.h"
#include "cuda/core/pool.h"
#include "cuda/core/stream_capture.h"
#include "cuda/runtime/runtime.h"

bool context_exists(const struct shim *s, const struct cu_context *c)
{
  const struct cu_context *at = s->contexts;
  while (at && at != c) at = at->next;
  return at != NULL;
}

CUresult context_push(struct shim *s, CUcontext c)
{
  struct cu_thread *t = shim_thread(s);
  if (!context_exists(s, c)) return CUDA_ERROR_INVALID_CONTEXT;
  if (t->n_contexts == MAX_CONTEXTS_PER_THREAD) return CUDA_ERROR_OUT_OF_MEMORY;
  t->context[t->n_contexts++] = c;
  return CUDA_SUCCESS;
}

CUresult context_pop(struct shim *s, CUcontext *out)
{
  struct cu_thread *t = shim_thread(s);
  if (t->n_contexts == 0) return CUDA_ERROR_INVALID_CONTEXT;
  struct cu_context *c = t->context[--t->n_contexts];
  if (out) *out = c;
  return CUDA_SUCCESS;
}

CUresult context_set(struct shim *s, CUcontext c)
{
  struct cu_thread *t = shim_thread(s);
  if (c && !context_exists(s, c)) return CUDA_ERROR_INVALID_CONTEXT;
  if (t->n_contexts) t->n_contexts--;
  return c ? context_push(s, c) : CUDA_SUCCESS;
}

CUresult context_create(struct shim *s, CUcontext *out, unsigned flags)
{
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  struct cu_context *c = shim_alloc(sizeof *c);
  *c = (struct cu_context){ .next = s->contexts, .flags = flags, .users = 1, .id = s->next_id++ };
  *out = s->contexts = c;
  return context_push(s, c);
}

static void forget(struct shim *s, const struct cu_context *c)
{
  for (struct cu_thread *t = s->threads; t; t = t->next) {
    unsigned kept = 0;
    for (unsigned i = 0; i < t->n_contexts; i++)
      if (t->context[i] != c) t->context[kept++] = t->context[i];
    t->n_contexts = kept;
  }
}

CUresult context_destroy(struct shim *s, CUcontext c)
{
  if (!context_exists(s, c) || c->primary) return CUDA_ERROR_INVALID_CONTEXT;
  stream_wait_all(s);
  forget(s, c);
  for (struct cu_context **at = &s->contexts; *at; at = &(*at)->next) {
    if (*at != c) continue;
    *at = c->next;
    break;
  }
  free(c);
  return CUDA_SUCCESS;
}

CUresult context_reset(struct shim *s)
{
  hold_drop_all(s);
  stream_wait_all(s);
  s->fault = CUDA_SUCCESS;
  capture_end_all(s);
  graph_destroy_all(s);
  stream_destroy_all(s);
  rt_forget_modules(s);
  module_close_all(s);
  array_destroy_all(s);
  graph_memory_free_all(s);
  ipc_forget_all(s);
  memory_free_all(s);
  pool_destroy_all(s);
  device_set_heap(&s->device, s->device.config.heap_bytes, NULL); /* empty */
  if (s->primary) memset(s->primary->limit, 0, sizeof s->primary->limit);
  return CUDA_SUCCESS;
}

/* Defaults: CUDA Driver API, cuCtxSetLimit, and what CUDA programs see on a fresh context. */
CUresult context_limit(struct shim *s, uint64_t *value, int limit)
{
  static const uint64_t defaults[LIMIT__N] = {
    [LIMIT_STACK_SIZE] = 1024, [LIMIT_PRINTF_FIFO] = 1 << 20, [LIMIT_MALLOC_HEAP] = 8 << 20,
    [LIMIT_DEV_SYNC_DEPTH] = 2, [LIMIT_PENDING_LAUNCHES] = 2048, [LIMIT_L2_GRANULARITY] = 128,
  };
  if (!value) return CUDA_ERROR_INVALID_VALUE;
  if (limit < 0 || limit >= LIMIT__N) return CUDA_ERROR_UNSUPPORTED_LIMIT;
  *value = shim_context(s)->limit[limit];
  if (limit == LIMIT_MALLOC_HEAP) *value = s->device.config.heap_bytes;
  else if (*value == 0) *value = defaults[limit];
  return CUDA_SUCCESS;
}

static CUresult set_heap(struct shim *s, uint64_t bytes)
{
  if (s->record.n) return CUDA_ERROR_INVALID_VALUE; /* must precede the first launch */
  return device_set_heap(&s->device, bytes, NULL) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult context_set_limit(struct shim *s, int limit, uint64_t value)
{
  if (limit < 0 || limit >= LIMIT__N) return CUDA_ERROR_UNSUPPORTED_LIMIT;
  if (limit == LIMIT_MALLOC_HEAP) return set_heap(s, value);
  if (limit == LIMIT_STACK_SIZE && value > 512 << 10) return CUDA_ERROR_INVALID_VALUE;
  shim_context(s)->limit[limit] = value;
  return CUDA_SUCCESS;
}
