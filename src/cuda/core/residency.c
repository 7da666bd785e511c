#include "cuda/core/residency.h"

#include "cuda/core/attributes.h"
#include "cuda/core/shim.h"

enum { LEAST_FETCH = 32, MOST_FETCH = 128 }; /* a sector, a line */

CUresult residency_check(const struct board *b, const CUaccessPolicyWindow *w)
{
  int most = 0;
  device_attribute(b, ATTRIBUTE_MAX_WINDOW, &most);
  if (w->bytes > (size_t)most || !(w->hit_ratio >= 0 && w->hit_ratio <= 1) || w->hit < 0 ||
      w->hit > ACCESS_PERSISTING || w->miss < 0 || w->miss > ACCESS_STREAMING)
    return CUDA_ERROR_INVALID_VALUE;
  return CUDA_SUCCESS;
}

struct access_window residency_window(const CUaccessPolicyWindow *w)
{
  return (struct access_window){ .addr = (uintptr_t)w->base, .bytes = w->bytes,
                                 .hits = (uint32_t)((double)w->hit_ratio * ACCESS_WINDOW_WHOLE),
                                 .hit = (uint8_t)w->hit, .miss = (uint8_t)w->miss };
}

static uint64_t most_aside(const struct board *b)
{
  int most = 0;
  device_attribute(b, ATTRIBUTE_MAX_PERSISTING, &most);
  return (uint64_t)most;
}

uint64_t residency_limit(const struct board *b, int limit, uint64_t value)
{
  uint64_t fetch = LEAST_FETCH;
  if (limit == LIMIT_PERSISTING_L2) return value < most_aside(b) ? value : most_aside(b);
  while (fetch < value && fetch < MOST_FETCH) fetch *= 2;
  return fetch;
}

void residency_apply(const struct context *c)
{
  simulator_set_l2(c->board->simulator, c->limit[LIMIT_PERSISTING_L2], (unsigned)c->limit[LIMIT_L2_GRANULARITY]);
}

CUresult residency_reset(struct shim *s)
{
  simulator_reset_residency(board_current(s)->simulator);
  return CUDA_SUCCESS;
}
