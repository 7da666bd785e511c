#include "cuda/core/context_end.h"

#include <stdlib.h>

#include "cuda/core/context_turns.h"
#include "cuda/core/peer_access.h"
#include "cuda/core/shim.h"
#include "cuda/core/synchronize.h"
#include "host/live_gpu.h"

static void forget(struct shim *s, const struct context *c)
{
  for (struct thread *t = s->threads; t; t = t->next) {
    unsigned kept = 0;
    for (unsigned i = 0; i < t->n_contexts; i++)
      if (t->context[i] != c) t->context[kept++] = t->context[i];
    t->n_contexts = kept;
  }
  for (struct stream *st = s->streams.first; st; st = st->next)
    if (st->context == c) st->context = NULL;
}

void context_end(struct shim *s, struct context *c)
{
  peers_forget(s, c);
  forget(s, c);
  for (struct context **at = &s->contexts.first; *at; at = &(*at)->next) {
    if (*at != c) continue;
    *at = c->next;
    break;
  }
  free(c);
}

CUresult context_destroy(struct shim *s, CUcontext c)
{
  if (!context_exists(s, c) || c->primary || c->green) return CUDA_ERROR_INVALID_CONTEXT;
  stream_wait_boards(s, board_bit(c->board));
  context_end(s, c);
  return CUDA_SUCCESS;
}

static bool others_work(const struct shim *s, const struct board *b)
{
  for (unsigned i = 0; i < s->boards.n; i++)
    if (&s->boards.of[i] != b && (board_busy(&s->boards.of[i]) || s->boards.of[i].turn)) return true;
  return false;
}

/* What is there goes on to its end; a kernel that waits for ever goes with its context, as it does with its program.
 * Where other GPUs work nobody can tell that it does. */
CUresult context_reset(struct shim *s, struct board *b)
{
  parts_drop(s, b);
  if (!others_work(s, b)) end_watch_begin(s);
  stream_wait_boards(s, board_bit(b));
  s->end = (struct end_watch){0};
  s->fault.code = CUDA_SUCCESS;
  parts_reset(s, b);
  return CUDA_SUCCESS;
}
