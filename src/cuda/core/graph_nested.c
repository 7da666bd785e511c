#include "cuda/core/graph_nested.h"

#include <stdlib.h>

#include "cuda/core/shim.h"

enum { MAX_PENDING = 255, MAX_NESTED = 120 }; /* the guide: tail launches of a graph; graphs launched in all */

struct graph_wait {
  struct graph_wait *next;
  struct graph_exec *exec;
};

struct graph_exec *graph_wait_pop(struct graph_wait **list)
{
  struct graph_wait *first = *list;
  struct graph_exec *x = first ? first->exec : NULL;
  if (first) *list = first->next;
  free(first);
  return x;
}

static bool append(struct graph_wait **list, struct graph_exec *x)
{
  unsigned n = 0;
  for (; *list; list = &(*list)->next)
    if (++n == MAX_PENDING) return false;
  *list = shim_alloc(sizeof **list);
  **list = (struct graph_wait){ .exec = x };
  return true;
}

void graph_wait_prepend(struct graph_wait **list, struct graph_wait *more)
{
  struct graph_wait **end = &more;
  while (*end) end = &(*end)->next;
  *end = *list;
  *list = more;
}

uint64_t graph_current(const struct graph_run *r)
{
  const struct graph_exec *x = r ? r->exec : NULL;
  return x && x->flags & INSTANTIATE_DEVICE_LAUNCH ? (uint64_t)(uintptr_t)x : 0;
}

CUresult graph_launch_from_kernel(struct shim *s, struct graph_run *r, uint64_t handle, uint64_t stream)
{
  struct graph_exec *x = (struct graph_exec *)(uintptr_t)handle;
  if (!r || !exec_exists(s, x) || !(x->flags & INSTANTIATE_DEVICE_LAUNCH)) return CUDA_ERROR_INVALID_VALUE;
  bool ok;
  switch (stream) {
  case GRAPH_STREAM_TAIL: ok = append(&r->tails, x); break;
  case GRAPH_STREAM_FORGET: ok = r->depth < MAX_NESTED && append(&r->forgotten, x); break;
  case GRAPH_STREAM_SIBLING: ok = append(r->parent ? &r->parent->forgotten : &r->siblings, x); break;
  default: return CUDA_ERROR_INVALID_VALUE;
  }
  return ok ? CUDA_SUCCESS : cudaErrorLaunchPendingCountExceeded;
}
