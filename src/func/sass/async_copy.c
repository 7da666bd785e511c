#include "func/sass/async_copy.h"

#include "func/sass/cluster.h"
#include "func/sass/mbarrier.h"

enum { OFFSET_MASK = (1 << CLUSTER_SHIFT) - 1 };

uint32_t copy_target(uint32_t addr)
{
  return addr >> CLUSTER_SHIFT < CLUSTER_MAX_CTAS ? 1u << (addr >> CLUSTER_SHIFT) : 0;
}

uint32_t copy_barrier(uint32_t shared, uint32_t barrier)
{
  return (shared & ~(uint32_t)OFFSET_MASK) | (barrier & OFFSET_MASK);
}

struct mem_effect *copy_begin(const struct func_warp *w, struct effect *e, const struct uop *u, uint32_t lanes,
                              uint32_t ctas, uint32_t bytes)
{
  struct mem_effect *me = mem_begin(e, lanes & -lanes, MEM_SHARED, u->t->mem.op, 4, true);
  me->copy = (struct mem_copy){.ctas = ctas, .bytes = bytes, .far = ctas & ~(1u << w->cta->rank)};
  for (unsigned i = 0; i < LANES; i++) me->addr[i] = 0;
  return me;
}

/* The own CTA's is its block, whoever else of the cluster runs at the moment. */
uint8_t *copy_near(struct func_warp *w, const struct effect *e, uint32_t addr, uint32_t bytes, struct fault *f)
{
  bool own = addr >> CLUSTER_SHIFT == w->cta->rank || !w->cta->cluster;
  return mem_near(w, e, own ? MEM_SHARED : MEM_CLUSTER, bits_first((uint32_t)e->mem->lanes),
                  own ? addr - cluster_base(w->cta) : addr, bytes, f);
}

bool copy_complete(struct func_warp *w, const struct effect *e, uint32_t barrier, uint32_t bytes, struct fault *f)
{
  uint8_t *p = copy_near(w, e, barrier, 8, f);
  if (p) mbar_complete_tx(w->launch->p.sm, p, bytes);
  return p;
}

bool copy_multicast(uint32_t ctas, uint32_t shared, uint32_t barrier, copy_deliver_fn *deliver, void *copy)
{
  for (; ctas; ctas &= ctas - 1) {
    uint32_t base = bits_first(ctas) << CLUSTER_SHIFT;
    if (!deliver(copy, base | (shared & OFFSET_MASK), base | (barrier & OFFSET_MASK))) return false;
  }
  return true;
}

/* Is there memory at both ends of the piece? Else a fault. The rest is looked at when it is moved. */
static bool copy_mapped(struct func_warp *w, const struct effect *e, const struct copy_piece *p,
                        const struct gmem_view *v, struct fault *f)
{
  uint64_t mask, last = p->addr + p->bytes - 1;
  unsigned lane = bits_first((uint32_t)e->mem->lanes);
  if (!p->bytes) return true;
  if (!gmem_page(v->image, p->addr, &mask)) return mem_unmapped(w, e, lane, p->addr, f);
  return gmem_page(v->image, last, &mask) || mem_unmapped(w, e, lane, last, f);
}

struct copy_piece copy_overlap(const struct copy_piece *p, uint64_t addr, uint32_t bytes)
{
  uint64_t from = p->addr > addr ? p->addr : addr, end = p->addr + p->bytes, limit = addr + bytes;
  if (limit < end) end = limit;
  return (struct copy_piece){.addr = from, .bytes = from < end ? (uint32_t)(end - from) : 0};
}

static bool is_bulk(const struct uop *u)
{
  return u->s->sem == SEM_UBLKCP || u->s->sem == SEM_UBLKRED || u->s->sem == SEM_UBLKPF;
}

bool func_copy_piece(struct step_warp *sw, struct effect *e, uint32_t k, struct copy_piece *p, struct gmem_view *v,
                     struct fault *f)
{
  struct func_warp *w = (struct func_warp *)sw;
  const struct uop *u = e->priv;
  bool ok = is_bulk(u) ? bulk_copy_piece(w, u, e, p, v, f) : tensor_copy_piece(w, u, e, k, p, v, f);
  return ok && copy_mapped(w, e, p, v, f);
}

bool func_copy_part(struct step_warp *sw, struct effect *e, uint32_t k, uint64_t addr, uint32_t bytes,
                    struct gmem_view *v, struct fault *f)
{
  struct func_warp *w = (struct func_warp *)sw;
  const struct uop *u = e->priv;
  return is_bulk(u) ? bulk_copy_part(w, u, e, addr, bytes, v, f) : tensor_copy_part(w, u, e, k, addr, bytes, v, f);
}
