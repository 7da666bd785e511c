#include "func/sass/step_observer.h"

#include <string.h>

#include "base/bits.h"
#include "func/sass/func_launch.h"
#include "func/sass/lanes.h"
#include "func/sass/mem.h"

static const struct func_warp *warp_of(const struct step_cta *c, unsigned warp)
{
  return (const struct func_warp *)c->warp[warp];
}

struct func_place func_place_of(const struct step_cta *c, unsigned warp, unsigned lane)
{
  const struct func_cta *cta = (const struct func_cta *)c;
  const struct func_warp *w = warp_of(c, warp);
  struct func_place p;
  for (unsigned k = 0; k < 3; k++) p.cta[k] = cta->ctaid[k], p.thread[k] = w->tid[k][lane];
  return p;
}

uint32_t func_live_lanes(const struct step_cta *c, unsigned warp)
{
  return warp_of(c, warp)->mactive;
}

bool func_barrier_busy(const struct step_cta *c, unsigned id)
{
  return ((const struct func_cta *)c)->barrier[id].busy;
}

const uint8_t *func_shared(const struct step_cta *c, uint64_t *bytes)
{
  const struct func_cta *cta = (const struct func_cta *)c;
  *bytes = cta->warps[0].launch->shared_limit;
  return cta->shared;
}

enum mem_space func_lane_space(const struct step_cta *c, unsigned warp, const struct mem_effect *me, unsigned lane,
                               uint64_t *addr)
{
  return mem_lane_space(warp_of(c, warp), me, lane, addr);
}

uint32_t func_outside(const struct step_cta *c, unsigned warp, const struct mem_effect *me, uint64_t first,
                      uint64_t last)
{
  return mem_outside(warp_of(c, warp), me, first, last);
}

void func_stored(const struct mem_effect *me, unsigned lane, uint8_t out[MEM_MAX_BYTES])
{
  const mem_word *word = (const mem_word *)(const void *)me->data;
  for (unsigned k = 0; 4 * k < me->bytes; k++) memcpy(out + 4 * k, &word[k * LANES_MAX + lane], 4);
}

const uint8_t *func_stored_words(const struct mem_effect *me)
{
  return &me->data[0][0];
}

unsigned func_copied_bytes(const struct mem_effect *me, unsigned lane)
{
  const mem_word *zeros = (const mem_word *)(const void *)me->data + (size_t)COMPARE_WORD * LANES_MAX;
  return me->lanes >> lane & 1 ? me->bytes - zeros[lane] : 0;
}

bool func_meets_by_mask(const struct effect *e)
{
  enum { COND_DIV = 2 };
  const struct sass_inst *s = ((const struct uop *)e->priv)->s;
  return s->sem == SEM_BRA && !sass_get(s, FLD_BRA_ANY) && sass_get(s, FLD_BRA_COND) >= COND_DIV;
}

uint32_t func_outside_mask(const struct step_cta *c, unsigned warp, const struct effect *e)
{
  const struct uop *u = e->priv;
  uint32_t outside = 0;
  if (func_meets_by_mask(e)) {
    const uint32_t mask = row_src(warp_of(c, warp), u->a)[bits_first(e->active)];
    return (uint32_t)e->exec & ~((mask & u->a_and) ^ u->a_xor);
  }
  if (u->s->sem != SEM_WARPSYNC || u->imm) return 0; /* imm: all threads of the warp */
  const uint32_t *mask = row_src(warp_of(c, warp), u->a);
  for (uint32_t r = (uint32_t)e->exec; r; r &= r - 1)
    if (!(mask[bits_first(r)] >> bits_first(r) & 1)) outside |= r & -r;
  return outside;
}
