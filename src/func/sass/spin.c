#include "func/sass/spin.h"

#include "func/sass/func_launch.h"

void spin_watch(struct func_warp *w, uint32_t m, uint32_t id, uint64_t pc)
{
  const struct lane_ops *ops = w->launch->ops;
  uint32_t now[LANES], seen = 0;
  ops->fill(now, id * 31 + (uint32_t)(pc / FUNC_INST_BYTES), FULL_MASK);
  ops->digest(now, warp_reg(w, 0), w->launch->n_regs, w->pred, PRED_NONE);
  for (unsigned k = YIELD_STATES; k--;) {
    for (unsigned i = 0; i < LANES; i++) seen |= (uint32_t)(w->yield_state[k][i] == now[i]) << i;
    if (k) ops->blend(w->yield_state[k], w->yield_state[k - 1], m);
  }
  ops->blend(w->yield_state[0], now, m);
  w->watched = true;
  w->spinning = (w->spinning & ~m) | (seen & m);
}
