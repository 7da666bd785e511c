#include "cuda/core/context_limit.h"

#include "cuda/core/mps.h"
#include "cuda/core/peer_access.h"
#include "cuda/core/residency.h"
#include "cuda/core/shim.h"
#include "cuda/core/synchronize.h"

/* Defaults: CUDA Driver API, cuCtxSetLimit, and what CUDA programs see on a fresh context. */
CUresult context_limit(struct shim *s, uint64_t *value, int limit)
{
  return context_limit_of(context_current(s), value, limit);
}

CUresult context_limit_of(const struct context *c, uint64_t *value, int limit)
{
  static const uint64_t defaults[LIMIT__N] = {
    [LIMIT_STACK_SIZE] = 1024, [LIMIT_PRINTF_FIFO] = 1 << 20, [LIMIT_MALLOC_HEAP] = 8 << 20,
    [LIMIT_DEV_SYNC_DEPTH] = 2, [LIMIT_PENDING_LAUNCHES] = 2048, [LIMIT_L2_GRANULARITY] = 128,
  };
  if (!value) return CUDA_ERROR_INVALID_VALUE;
  if (limit < 0 || limit >= LIMIT__N) return CUDA_ERROR_UNSUPPORTED_LIMIT;
  *value = c->limit[limit];
  if (limit == LIMIT_MALLOC_HEAP) *value = c->board->device.config.heap_bytes;
  else if (*value == 0) *value = defaults[limit];
  return CUDA_SUCCESS;
}

static CUresult set_heap(struct shim *s, uint64_t bytes)
{
  struct board *b = board_current(s);
  /* It must precede the first kernel that uses malloc: those that were launched have to be done to tell. */
  CUresult r = s->record.n ? stream_wait_boards(s, board_bit(b)) : CUDA_SUCCESS;
  if (r != CUDA_SUCCESS) return r;
  if (func_heap_asked(b->device.heap) || mps_heap_asked(s, b->device.heap_base)) return CUDA_ERROR_INVALID_VALUE;
  if (!device_set_heap(&b->device, bytes, NULL)) return CUDA_ERROR_OUT_OF_MEMORY;
  peers_refresh_all(s, b);
  return CUDA_SUCCESS;
}

CUresult context_set_limit(struct shim *s, int limit, uint64_t value)
{
  if (limit < 0 || limit >= LIMIT__N) return CUDA_ERROR_UNSUPPORTED_LIMIT;
  if (limit == LIMIT_MALLOC_HEAP) return set_heap(s, value);
  if (limit == LIMIT_STACK_SIZE && value > 512 << 10) return CUDA_ERROR_INVALID_VALUE;
  struct context *c = context_current(s);
  const bool of_l2 = limit == LIMIT_L2_GRANULARITY || limit == LIMIT_PERSISTING_L2;
  c->limit[limit] = of_l2 ? residency_limit(c->board, limit, value) : value;
  if (of_l2) residency_apply(c);
  return CUDA_SUCCESS;
}
