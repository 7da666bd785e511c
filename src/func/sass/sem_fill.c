/* Shared memory filled with zeros by one thread: UMEMSETS. Rules: PTX ISA, st.bulk (a multiple of 8 bytes, to an
 * address that is one, too; the only value is 0). Where operands are: compiler output (CUDA 13.0): URa + offset the
 * address, URc the bytes / 8.
 */
#include "func/sass/func_launch.h"
#include "func/sass/mem.h"

enum { UNIT = 8 };

static bool step(struct func_warp *w, const struct uop *u, uint32_t m, struct effect *e, struct fault *f)
{
  const uint64_t bytes = (uint64_t)warp_uniform(w, (unsigned)sass_get(u->s, FLD_URC)) * UNIT;
  struct mem_effect *me = mem_begin(e, m & -m, MEM_SHARED, MEM_STORE, UNIT, false);
  me->fill_bytes = bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX; /* which no shared memory has */
  mem_addr_near(w, u, me);
  return mem_aligned(w, e, (uint32_t)me->lanes, UNIT, f);
}

static bool perform(struct func_warp *w, const struct uop *u, struct effect *e, uint32_t lanes, struct gmem_view *v,
                    struct fault *f)
{
  const unsigned lane = bits_first(lanes);
  const uint32_t bytes = e->mem->fill_bytes;
  uint8_t *to = bytes ? mem_near(w, e, MEM_SHARED, lane, e->mem->addr[lane], bytes, f) : NULL;
  (void)u, (void)v;
  if (to) memset(to, 0, bytes);
  return to || !bytes;
}

uop_fn *sem_fill_handler(const struct sass_inst *s, struct uop *u)
{
  if (s->sem != SEM_UMEMSETS) return NULL;
  mem_prepare(s, u);
  u->flags = UOP_MEM;
  u->perform = perform;
  return step;
}
