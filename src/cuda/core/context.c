#include "cuda/core/context.h"

#include <string.h>

#include "cuda/core/shim.h"

struct context *context_current(struct shim *s)
{
  struct thread *t = shim_thread(s);
  return t->n_contexts ? t->context[t->n_contexts - 1] : NULL;
}

struct context *context_primary(struct shim *s)
{
  if (s->contexts.primary) return s->contexts.primary;
  struct context *c = shim_alloc(sizeof *c);
  c->primary = true;
  c->id = s->next_id++;
  c->next = s->contexts.first;
  s->contexts.first = s->contexts.primary = c;
  return c;
}

bool context_exists(const struct shim *s, const struct context *c)
{
  const struct context *at = s->contexts.first;
  while (at && at != c) at = at->next;
  return at != NULL;
}

CUresult context_push(struct shim *s, CUcontext c)
{
  struct thread *t = shim_thread(s);
  if (!context_exists(s, c)) return CUDA_ERROR_INVALID_CONTEXT;
  if (t->n_contexts == MAX_CONTEXTS_PER_THREAD) return CUDA_ERROR_OUT_OF_MEMORY;
  t->context[t->n_contexts++] = c;
  return CUDA_SUCCESS;
}

CUresult context_pop(struct shim *s, CUcontext *out)
{
  struct thread *t = shim_thread(s);
  if (t->n_contexts == 0) return CUDA_ERROR_INVALID_CONTEXT;
  struct context *c = t->context[--t->n_contexts];
  if (out) *out = c;
  return CUDA_SUCCESS;
}

CUresult context_set(struct shim *s, CUcontext c)
{
  struct thread *t = shim_thread(s);
  if (c && !context_exists(s, c)) return CUDA_ERROR_INVALID_CONTEXT;
  if (t->n_contexts) t->n_contexts--;
  return c ? context_push(s, c) : CUDA_SUCCESS;
}

CUresult context_create(struct shim *s, CUcontext *out, unsigned flags)
{
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  struct context *c = shim_alloc(sizeof *c);
  *c = (struct context){ .next = s->contexts.first, .flags = flags, .users = 1, .id = s->next_id++ };
  *out = s->contexts.first = c;
  return context_push(s, c);
}

/* Defaults: CUDA Driver API, cuCtxSetLimit, and what CUDA programs see on a fresh context. */
CUresult context_limit(struct shim *s, uint64_t *value, int limit)
{
  return context_limit_of(s, context_current(s), value, limit);
}

CUresult context_limit_of(struct shim *s, const struct context *c, uint64_t *value, int limit)
{
  static const uint64_t defaults[LIMIT__N] = {
    [LIMIT_STACK_SIZE] = 1024, [LIMIT_PRINTF_FIFO] = 1 << 20, [LIMIT_MALLOC_HEAP] = 8 << 20,
    [LIMIT_DEV_SYNC_DEPTH] = 2, [LIMIT_PENDING_LAUNCHES] = 2048, [LIMIT_L2_GRANULARITY] = 128,
  };
  if (!value) return CUDA_ERROR_INVALID_VALUE;
  if (limit < 0 || limit >= LIMIT__N) return CUDA_ERROR_UNSUPPORTED_LIMIT;
  *value = c->limit[limit];
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
  context_current(s)->limit[limit] = value;
  return CUDA_SUCCESS;
}

/* Contexts stay; what kernels allocated is gone, and the primary one has the limits it began with. */
static void reset(struct shim *s)
{
  device_set_heap(&s->device, s->device.config.heap_bytes, NULL); /* empty */
  if (s->contexts.primary) memset(s->contexts.primary->limit, 0, sizeof s->contexts.primary->limit);
}

const struct shim_part context_part = { .reset = reset };
