#include "func/sass/spin.h"

#include "func/sass/func_launch.h"

bool spin_is_known(const struct func_warp *w, uint64_t pc)
{
  for (unsigned k = 0; k < SPIN_LOOPS; k++)
    if (w->spin_loop[k] == pc) return true;
  return false;
}

/* Lanes of m whose digest is one of the last YIELDs'; the new one takes the place of the oldest. */
static uint32_t seen_before(struct func_warp *w, uint32_t m, const uint32_t digest[LANES])
{
  uint32_t seen = 0;
  for (unsigned k = YIELD_STATES; k--;) {
    for (unsigned i = 0; i < LANES; i++) seen |= (uint32_t)(w->yield_state[k][i] == digest[i]) << i;
    w->launch->ops->blend(w->yield_state[k], k ? w->yield_state[k - 1] : digest, m);
  }
  return seen & m;
}

void spin_watch(struct func_warp *w, uint32_t m, uint32_t id, uint64_t pc, bool for_long)
{
  const struct lane_ops *ops = w->launch->ops;
  uint32_t digest[LANES];
  ops->fill(digest, id * 31 + (uint32_t)(pc / FUNC_INST_BYTES), FULL_MASK);
  ops->digest(digest, warp_reg(w, 0), w->launch->n_regs, w->pred, PRED_NONE);
  ops->digest(digest, warp_ureg(w, 0), w->launch->n_uregs, w->pred + PRED_UNIFORM, PRED_NONE);
  w->watched = true;
  const uint32_t spin = for_long ? m : seen_before(w, m, digest);
  if (spin == m) w->spin_loop[w->spin_loops++ % SPIN_LOOPS] = pc;
  w->spinning = (w->spinning & ~m) | spin;
}
