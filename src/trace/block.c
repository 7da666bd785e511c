#include "trace/block.h"

#include <stdlib.h>

#include "base/host_memory.h"

struct trace_block *trace_block_new(uint64_t id, unsigned n_warps)
{
  struct trace_block *b = calloc(1, sizeof *b + n_warps * sizeof b->warp[0]);
  NO_MEMORY_IF(!b);
  b->id = id;
  b->n_warps = n_warps;
  return b;
}

void trace_block_free(struct trace_block *b)
{
  if (!b) return;
  for (unsigned i = 0; i < b->n_warps; i++) free(b->warp[i].text);
  free(b);
}

char *trace_warp_room(struct trace_warp *w, size_t bytes)
{
  while (w->cap - w->bytes < bytes) {
    w->cap = w->cap ? 2 * w->cap : 4096;
    w->text = realloc(w->text, w->cap);
    NO_MEMORY_IF(!w->text);
  }
  return w->text + w->bytes;
}
