#include "debug/call_stack.h"

#include <stddef.h>

#include "base/host_memory.h"

void call_stack_call(struct warp_calls *w, unsigned lane, uint64_t pc)
{
  struct lane_calls *c = &w->lane[lane];
  if (c->depth < CALL_STACK_DEPTH) {
    if (c->depth >= c->room) c->call = mem_resize(c->call, c->room = c->room ? 2 * c->room : 8, sizeof *c->call);
    c->call[c->depth] = pc;
  }
  c->depth++;
}

/* A return ends the innermost call that it comes back to; one that comes back to none is a jump. */
void call_stack_return(struct warp_calls *w, unsigned lane, uint64_t target, unsigned inst_bytes)
{
  struct lane_calls *c = &w->lane[lane];
  if (c->depth > CALL_STACK_DEPTH) {
    c->depth--;
    return;
  }
  for (uint32_t k = c->depth; k-- > 0;) {
    if (c->call[k] + inst_bytes != target) continue;
    c->depth = k;
    return;
  }
}

void call_stack_clear(struct warp_calls *w)
{
  for (unsigned i = 0; i < LANES_MAX; i++) {
    mem_free(w->lane[i].call);
    w->lane[i] = (struct lane_calls){0};
  }
}
