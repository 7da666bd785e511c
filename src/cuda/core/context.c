#include "cuda/core/context.h"

#include <string.h>

#include "cuda/core/context_turns.h"
#include "cuda/core/shim.h"

struct context *context_current(struct shim *s)
{
  struct thread *t = shim_thread(s);
  return t->n_contexts ? t->context[t->n_contexts - 1] : NULL;
}

struct board *board_current(struct shim *s)
{
  const struct context *c = context_current(s);
  return c ? c->board : &s->boards.of[0];
}

static struct context *add(struct shim *s, struct context *c)
{
  const struct context *other = s->contexts.first;
  while (other && (other->board != c->board || other->green)) other = other->next;
  context_turns_join(c->board, c, other);
  s->contexts.had_any = true;
  return s->contexts.first = c;
}

struct context *context_primary(struct shim *s, struct board *b)
{
  if (b->primary) return b->primary;
  struct context *c = shim_alloc(sizeof *c);
  *c = (struct context){ .next = s->contexts.first, .board = b, .primary = true, .id = s->next_id++ };
  return b->primary = add(s, c);
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

CUresult context_create(struct shim *s, CUcontext *out, unsigned flags, struct board *b)
{
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  struct context *c = shim_alloc(sizeof *c);
  *c = (struct context){ .next = s->contexts.first, .board = b, .flags = flags, .users = 1, .id = s->next_id++ };
  *out = add(s, c);
  return context_push(s, c);
}

struct context *context_new_green(struct shim *s, struct board *b, struct green_context *g)
{
  struct context *c = shim_alloc(sizeof *c);
  *c = (struct context){ .next = s->contexts.first, .board = b, .users = 1, .id = s->next_id++, .green = g };
  return add(s, c);
}

/* Contexts stay; what kernels allocated is gone, the primary one and L2 have the limits they began with. */
static void reset(struct shim *s, struct board *b)
{
  (void)s;
  simulator_set_l2(b->simulator, 0, 0);
  simulator_reset_residency(b->simulator);
  device_set_heap(&b->device, b->device.config.heap_bytes, NULL); /* empty */
  if (b->primary) memset(b->primary->limit, 0, sizeof b->primary->limit);
}

const struct shim_part context_part = { .reset = reset };
