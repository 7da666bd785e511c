#include "cuda/core/green_context.h"

#include <stdlib.h>

#include "cuda/core/context_end.h"
#include "cuda/core/shim.h"
#include "cuda/core/synchronize.h"

enum { GREEN_DEFAULT_STREAM = 1 };

bool green_exists(const struct shim *s, const struct green_context *g)
{
  const struct green_context *at = s->greens;
  while (at && at != g) at = at->next;
  return at != NULL;
}

CUresult green_create(struct shim *s, CUgreenCtx *out, CUdevResourceDesc d, struct board *b, unsigned flags)
{
  const struct sm_group *of = sm_group_of(s, d);
  if (!out || !of || flags != GREEN_DEFAULT_STREAM) return CUDA_ERROR_INVALID_VALUE;
  if (of->board != b) return CUDA_ERROR_INVALID_DEVICE;
  struct green_context *g = shim_alloc(sizeof *g);
  *g = (struct green_context){ .next = s->greens, .board = b, .group = of, .context = context_new_green(s, b, g) };
  g->legacy = (struct stream){ .board = b, .context = g->context, .green = g, .order.legacy = true };
  context_primary(s, b)->users++;
  *out = s->greens = g;
  return CUDA_SUCCESS;
}

CUresult green_destroy(struct shim *s, CUgreenCtx g)
{
  if (!green_exists(s, g)) return CUDA_ERROR_INVALID_CONTEXT;
  stream_wait_boards(s, board_bit(g->board));
  for (struct stream *st = s->streams.first, *next; st; st = next) {
    next = st->next;
    if (st->green == g) stream_destroy(s, st);
  }
  for (struct green_context **at = &s->greens; *at; at = &(*at)->next) {
    if (*at != g) continue;
    *at = g->next;
    break;
  }
  stream_order_end(s, &g->legacy);
  context_end(s, g->context);
  if (g->board->primary->users) g->board->primary->users--;
  free(g);
  return CUDA_SUCCESS;
}

CUresult green_id(struct shim *s, CUgreenCtx g, unsigned long long *id)
{
  const struct context *now = context_current(s);
  if (!id) return CUDA_ERROR_INVALID_VALUE;
  if (!g) g = now ? now->green : NULL;
  if (!g || !green_exists(s, g)) return CUDA_ERROR_INVALID_CONTEXT;
  *id = g->context->id;
  return CUDA_SUCCESS;
}

CUresult green_stream_create(struct shim *s, CUstream *out, CUgreenCtx g, unsigned flags, int priority)
{
  if (!green_exists(s, g)) return CUDA_ERROR_INVALID_CONTEXT;
  if (flags != STREAM_NON_BLOCKING) return CUDA_ERROR_INVALID_VALUE;
  return stream_create_in(s, out, g->context, flags, priority);
}

CUresult green_of_stream(struct shim *s, CUstream h, CUcontext *context, CUgreenCtx *green)
{
  const struct stream *st = stream_of(s, h);
  if (!context && !green) return CUDA_ERROR_INVALID_VALUE;
  if (!st) return CUDA_ERROR_INVALID_HANDLE;
  const struct context *now = context_current(s);
  if (h == STREAM_PER_THREAD && now && now->green) return CUDA_ERROR_INVALID_HANDLE;
  if (green) *green = st->green;
  if (context) *context = st->green ? context_primary(s, st->board) : st->context ? st->context : context_current(s);
  return CUDA_SUCCESS;
}

CUresult green_stream_resource(struct shim *s, CUstream h, CUdevResource *r, int type)
{
  const struct stream *st = stream_of(s, h);
  if (!st) return CUDA_ERROR_INVALID_HANDLE;
  return type == 1 ? sm_resource_give(st->board, st->green ? st->green->group : NULL, r, type)
                   : CUDA_ERROR_INVALID_RESOURCE_TYPE;
}

const struct core_set *green_cores(const struct stream *st)
{
  if (!st) return NULL;
  return st->green ? sm_group_cores(st->green->group) : st->context ? st->context->sms : NULL;
}

const struct core_set *green_cores_of(const struct context *c)
{
  if (!c) return NULL;
  return c->green ? sm_group_cores(c->green->group) : c->sms;
}
