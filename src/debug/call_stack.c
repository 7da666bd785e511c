#include "debug/call_stack.h"

#include <stddef.h>

#include "base/host_memory.h"

static void grow(struct lane_calls *c)
{
  c->room = c->room ? 2 * c->room : 8;
  c->call = mem_resize(c->call, c->room, sizeof *c->call);
  c->stack = mem_resize(c->stack, c->room, sizeof *c->stack);
}

static void grow_registers(struct lane_calls *c, uint32_t n_regs)
{
  c->regs_room = c->regs_room ? 2 * c->regs_room : 8;
  c->reg = mem_resize(c->reg, (size_t)c->regs_room * n_regs, sizeof *c->reg);
}

void call_stack_call(struct warp_calls *w, unsigned lane, uint64_t pc, uint32_t stack)
{
  struct lane_calls *c = &w->lane[lane];
  if (c->depth < CALL_STACK_DEPTH) {
    if (c->depth >= c->room) grow(c);
    c->call[c->depth] = pc;
    c->stack[c->depth] = stack;
  }
  if (w->n_regs && c->depth < CALL_STACK_REGISTERS && c->depth >= c->regs_room) grow_registers(c, w->n_regs);
  c->depth++;
}

uint32_t *call_stack_registers(const struct warp_calls *w, unsigned lane, uint32_t call)
{
  const struct lane_calls *c = &w->lane[lane];
  return call < c->depth && call < c->regs_room ? c->reg + (size_t)call * w->n_regs : NULL;
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
    mem_free(w->lane[i].stack);
    mem_free(w->lane[i].reg);
    w->lane[i] = (struct lane_calls){0};
  }
}
