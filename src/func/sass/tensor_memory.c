#include "func/sass/tensor_memory.h"

#include <string.h>

#include "base/host_memory.h"
#include "func/sass/cluster.h"
#include "func/sass/guest_fault.h"

/* Reserved shared memory: mbarrier of a pair's handshake, its phase behind it (zero at the start). */
enum { HANDSHAKE_AT = 0x48, RESERVED_END = 0x60 };

static unsigned place_of(const struct func_launch *l, const struct func_cta *c)
{
  return l->p.on_demand ? c->slot : c->worker;
}

static struct tensor_memory *find(struct func_launch *l, unsigned place)
{
  struct tensor_memory **table = __atomic_load_n(&l->tmem, __ATOMIC_ACQUIRE);
  return table ? __atomic_load_n(&table[place], __ATOMIC_ACQUIRE) : NULL;
}

struct tensor_memory *tensor_memory_of(const struct func_cta *c)
{
  struct func_launch *l = (struct func_launch *)c->step.source;
  struct tensor_memory *t = find(l, place_of(l, c)), **at;
  if (t) return t;
  pthread_mutex_lock(&l->group_lock);
  if (!l->tmem) __atomic_store_n(&l->tmem, mem_zeroed(l->n_tmem, sizeof *l->tmem), __ATOMIC_RELEASE);
  at = &l->tmem[place_of(l, c)];
  if (!*at) __atomic_store_n(at, mem_zeroed(1, sizeof **at), __ATOMIC_RELEASE);
  t = *at;
  pthread_mutex_unlock(&l->group_lock);
  return t;
}

struct func_cta *tensor_pair(struct func_warp *w, const struct effect *e, struct fault *f)
{
  const struct func_launch *l = w->launch;
  struct func_cta *other = cluster_member(w->cta, w->cta->rank ^ 1);
  if (!other) {
    func_fault(w, e, f, FAULT_ILLEGAL_INST, 0, 0,
               "an instruction for a pair of CTAs: CTA %u of its cluster has no partner", w->cta->rank);
    return NULL;
  }
  if (place_of(l, other) != place_of(l, w->cta)) return other;
  func_fault(w, e, f, FAULT_UNSUPPORTED, 0, 0, "a pair of CTAs on one SM, whose tensor memory they cannot share");
  return NULL;
}

/* The kernel expects of the launch that its even CTA's first wait passes at once, as if a phase had ended, and that of
 * the odd CTA does not (derived from the code of tcgen05.alloc.cta_group::2, CUDA 13.0). One arrival ends a phase. */
void tensor_memory_begin(struct func_cta *c)
{
  enum { COUNT_BITS = 20, EXPECT_AT = 1, PENDING_AT = 43, PHASE_AT = 63 };
  const struct func_launch *l = (const struct func_launch *)c->step.source;
  const uint64_t minus_one = (UINT64_C(1) << COUNT_BITS) - 1, ended = ~c->rank & 1;
  const uint64_t v = ended << PHASE_AT | minus_one << PENDING_AT | minus_one << EXPECT_AT;
  if (l->p.tmem_pairs && l->shared_limit >= RESERVED_END) memcpy(c->shared + HANDSHAKE_AT, &v, sizeof v);
}

void tensor_memory_end(struct func_launch *l)
{
  for (size_t i = 0; l->tmem && i < l->n_tmem; i++) mem_free(l->tmem[i]);
  mem_free(l->tmem);
}
