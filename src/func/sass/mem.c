/* Address generation, windows and faults shared by the memory handlers (func/sass/mem.h). */
#include "func/sass/mem.h"

#include "func/sass/cluster.h"
#include "func/sass/guest_fault.h"
#include "func/sass/paths.h"

/* u->imm2: how the address is made. */
enum { ADDR_WIDE = 1 << 0, ADDR_UR = 1 << 1, ADDR_UR32 = 1 << 2, STRIDE_SHIFT = 8, UR_SHIFT = 16 };

/* Sources: ATOMG, RED and LDGSTS always take a 64-bit pair; LDG, STG, LD, ST say it in bit 90 when
 * they have a uniform register, in bit 72 otherwise (Mesa NAK, compiler output). */
void mem_prepare(const struct sass_inst *s, struct uop *u)
{
  static const uint8_t stride[] = {0, 2, 3, 4}; /* LDS_STRIDE: times 1, 4, 8, 16 */
  bool near = u->t->mem.space == MEM_SHARED || u->t->mem.space == MEM_LOCAL;
  bool ur = s->ua != SASS_URZ && !s->ua_is_descriptor;
  u->imm = (uint32_t)s->offset;
  u->imm2 = 0;
  if (near) {
    if (sass_has(s, FLD_LDS_STRIDE)) {
      u->imm2 |= (uint32_t)stride[sass_get(s, FLD_LDS_STRIDE) & 3] << STRIDE_SHIFT;
    }
    if (ur) u->imm2 |= ADDR_UR32;
  } else {
    if (sass_address_is_wide(s)) u->imm2 |= ADDR_WIDE;
    if (ur) u->imm2 |= ADDR_UR;
  }
  if (ur) u->imm2 |= (uint32_t)s->ua << UR_SHIFT;
}

static void addr_global(const struct func_warp *w, const struct uop *u, uint64_t addr[LANES], struct lane_shape *shape,
                        unsigned dense)
{
  const uint32_t *a = row_src(w, u->a);
  uint64_t base = (uint64_t)(int64_t)(int32_t)u->imm;
  if (u->imm2 & ADDR_UR) {
    const unsigned ur = u->imm2 >> UR_SHIFT & 0xff;
    base += lane_join(warp_uniform(w, ur), warp_uniform(w, ur + 1));
  }
  if (u->imm2 & ADDR_WIDE)
    w->launch->ops->add_wide(addr, shape, a, a + LANES, base, dense);
  else
    w->launch->ops->add_word(addr, shape, a, base, dense);
}

static void addr_near(const struct func_warp *w, const struct uop *u, struct mem_effect *me, unsigned dense)
{
  uint32_t base = u->imm;
  unsigned shift = u->imm2 >> STRIDE_SHIFT & 7;
  if (u->imm2 & ADDR_UR32) base += warp_uniform(w, u->imm2 >> UR_SHIFT & 0xff);
  if (me->space == MEM_SHARED) base -= cluster_base(w->cta);
  w->launch->ops->add_near(me->addr, &me->shape, row_src(w, u->a), shift, base, dense);
}

void mem_addr_global(const struct func_warp *w, const struct uop *u, uint64_t addr[LANES],
                     struct lane_shape *shape)
{
  addr_global(w, u, addr, shape, 0);
}

void mem_addr_near(const struct func_warp *w, const struct uop *u, struct mem_effect *me)
{
  addr_near(w, u, me, 0);
}

void mem_addr_ends(const struct func_warp *w, const struct uop *u, struct mem_effect *me, unsigned dense)
{
  if (me->space == MEM_GLOBAL) addr_global(w, u, me->addr, &me->shape, dense);
  else addr_near(w, u, me, dense);
}

/* Which window a generic address lies in. The windows are 4 GiB: the high word decides. */
static enum mem_space window(const struct func_launch *l, uint64_t addr)
{
  if (addr >> 32 == l->p.shared_window >> 32) return MEM_SHARED;
  if (addr >> 32 == l->p.local_window >> 32) return MEM_LOCAL;
  return MEM_GLOBAL;
}

void mem_resolve_cluster(const struct func_warp *w, struct mem_effect *me)
{
  uint32_t own = 0;
  if (!w->cta->cluster) return;
  for (uint32_t r = (uint32_t)me->lanes; r; r &= r - 1)
    if (me->addr[bits_first(r)] >> CLUSTER_SHIFT == 0) own |= r & -r;
  if (own == me->lanes) return;
  me->space = MEM_CLUSTER;
  me->near_lanes = own;
  me->lanes &= ~(lane_mask)own;
  for (unsigned i = 0; i < LANES; i++) me->addr[i] = (uint32_t)(me->addr[i] + cluster_base(w->cta));
}

/* Shared memory, all lanes: of addresses in the window. */
static void resolve_shared(const struct func_warp *w, struct mem_effect *me)
{
  me->space = MEM_SHARED;
  for (unsigned i = 0; i < LANES; i++) me->addr[i] = (uint32_t)(me->addr[i] - cluster_base(w->cta));
  mem_resolve_cluster(w, me);
}

void mem_resolve(const struct func_warp *w, struct mem_effect *me)
{
  const struct func_launch *l = w->launch;
  uint32_t lanes = (uint32_t)me->lanes, shared = 0, local = 0;
  for (uint32_t r = lanes; r; r &= r - 1) {
    unsigned i = bits_first(r);
    enum mem_space s = window(l, me->addr[i]);
    if (s == MEM_SHARED) shared |= 1u << i;
    if (s == MEM_LOCAL) local |= 1u << i;
  }
  me->space = MEM_GLOBAL;
  if (!(shared | local)) return;
  if (shared == lanes) {
    resolve_shared(w, me);
    return;
  }
  if (local == lanes) {
    me->space = MEM_LOCAL;
    for (unsigned i = 0; i < LANES; i++) me->addr[i] = (uint32_t)me->addr[i];
    return;
  }
  me->near_lanes = shared | local;
  me->lanes = lanes & ~me->near_lanes;
  for (uint32_t r = w->cta->cluster ? shared : 0; r; r &= r - 1)
    if ((uint32_t)me->addr[bits_first(r)] >> CLUSTER_SHIFT != w->cta->rank) me->far |= r & -r;
}

enum mem_space mem_lane_space(const struct func_warp *w, const struct mem_effect *me, unsigned lane,
                              uint64_t *addr)
{
  *addr = me->addr[lane];
  if (!(me->near_lanes >> lane & 1) || me->space == MEM_CLUSTER) return me->space;
  enum mem_space s = window(w->launch, *addr);
  *addr = (uint32_t)*addr;
  return s == MEM_SHARED && w->cta->cluster ? MEM_CLUSTER : s;
}

bool mem_aligned(const struct func_warp *w, struct effect *e, uint32_t m, unsigned align,
                 struct fault *f)
{
  const uint64_t *addr = e->mem->addr;
  if (align == 1) return true;
  if (!(e->mem->shape.bits & (align - 1))) return true;
  for (; m; m &= m - 1) {
    unsigned i = bits_first(m);
    if (!(addr[i] & (align - 1))) continue;
    e->flags &= ~(uint32_t)EFF_MEM;
    return func_fault(w, e, f, FAULT_MISALIGNED, i, addr[i],
                      "thread (%u,%u,%u): address 0x%llx is not a multiple of %u", w->tid[0][i],
                      w->tid[1][i], w->tid[2][i], (unsigned long long)addr[i], align);
  }
  return true;
}

/* Shared memory of the CTA of the cluster that the address names. */
static uint8_t *mem_far(const struct func_warp *w, const struct effect *e, unsigned lane, uint64_t addr, unsigned bytes,
                        struct fault *f)
{
  unsigned rank = (unsigned)(addr >> CLUSTER_SHIFT), n = step_cluster_ctas(&w->launch->source);
  uint64_t at = addr & ((1u << CLUSTER_SHIFT) - 1);
  uint8_t *shared = rank < n ? cluster_shared(w->cta, rank) : NULL;
  if (shared && at + bytes <= w->launch->shared_limit) return shared + at;
  if (rank < n && !shared)
    func_fault(w, e, f, FAULT_SHARED_RANGE, lane, addr,
               "thread (%u,%u,%u): shared memory of CTA %u of the cluster, which is not running: has not begun (sync "
               "the cluster first) or has exited", w->tid[0][lane], w->tid[1][lane], w->tid[2][lane], rank);
  else
    func_fault(w, e, f, FAULT_SHARED_RANGE, lane, addr,
               "thread (%u,%u,%u): shared address 0x%llx is byte 0x%llx of CTA %u; the cluster has %u CTAs of %u bytes",
               w->tid[0][lane], w->tid[1][lane], w->tid[2][lane], (unsigned long long)addr, (unsigned long long)at,
               rank, n, (unsigned)w->launch->shared_limit);
  return NULL;
}

uint8_t *mem_near(struct func_warp *w, const struct effect *e, enum mem_space space, unsigned lane,
                  uint64_t addr, unsigned bytes, struct fault *f)
{
  bool shared = space == MEM_SHARED;
  uint64_t size = shared ? w->launch->shared_limit : w->launch->source.local_bytes;
  if (space == MEM_CLUSTER) return mem_far(w, e, lane, addr, bytes, f);
  if (__builtin_expect(addr + bytes > size, 0)) {
    if (shared) addr = (uint32_t)(addr + cluster_base(w->cta));
    if (shared && addr + bytes <= size) return w->cta->shared + addr; /* without the rank: the CTA's own */
    func_fault(w, e, f, shared ? FAULT_SHARED_RANGE : FAULT_LOCAL_RANGE, lane, addr,
               "thread (%u,%u,%u): %s address 0x%llx is outside the %llu bytes of %s",
               w->tid[0][lane], w->tid[1][lane], w->tid[2][lane], shared ? "shared" : "local",
               (unsigned long long)addr, (unsigned long long)size, shared ? "the CTA" : "a thread");
    return NULL;
  }
  if (shared) return w->cta->shared + addr;
  w->cta->local_dirty = true;
  return w->local + lane * w->launch->source.local_bytes + addr;
}

/* The ends of an even stride tell. */
uint32_t mem_outside(const struct func_warp *w, const struct mem_effect *me, uint64_t first, uint64_t last)
{
  const uint64_t *a = me->addr;
  if (me->shape.even && a[0] - first <= last && a[LANES - 1] - first <= last) return 0;
  return w->launch->ops->outside(a, first, last);
}

/* Shared and local memory are one block each. */
static bool near_block(struct func_warp *w, const struct mem_effect *me, uint32_t lanes,
                       struct lane_block *b)
{
  bool shared = me->space == MEM_SHARED;
  uint64_t size = shared ? w->launch->shared_limit : w->launch->source.local_bytes;
  if ((!shared && me->space != MEM_LOCAL) || size < me->bytes) return false;
  if (mem_outside(w, me, 0, size - me->bytes) & lanes) return false;
  *b = (struct lane_block){.base = shared ? w->cta->shared : w->local, .in = UINT64_MAX,
                           .apart = shared ? 0 : size, .lanes = lanes};
  if (!shared) w->cta->local_dirty = true;
  return true;
}

/* Lanes of b whose bytes have no pending write. */
static uint32_t settled(const struct mem_effect *me, uint32_t lanes, const struct gmem_view *v)
{
  if (!v->log->n) return lanes;
  for (uint32_t r = lanes; r; r &= r - 1) {
    unsigned i = bits_first(r);
    if (gmem_view_pending(v, me->addr[i], me->bytes)) lanes &= ~(1u << i);
  }
  return lanes;
}

/* Who asks for lanes in a window has chosen them so that they lie in it. */
static bool window_block(const struct mem_effect *me, uint32_t lanes, struct gmem_window *x, struct lane_block *b)
{
  const uint64_t in = sizeof x->bytes - 1;
  *b = (struct lane_block){.base = x->bytes, .in = in, .lanes = lanes};
  for (uint32_t r = lanes; r; r &= r - 1)
    if ((me->addr[bits_first(r)] & ~in) != x->addr) return false;
  return true;
}

bool mem_block(struct func_warp *w, const struct mem_effect *me, uint32_t lanes, bool write,
               const struct gmem_view *v, struct lane_block *b)
{
  if (me->near_lanes) return false;
  if (me->space != MEM_GLOBAL) return near_block(w, me, lanes, b);
  if (v->log && write) return false;
  uint64_t first = me->addr[bits_first(lanes)], in;
  if (__builtin_expect(v->window != NULL, 0)) return window_block(me, lanes, v->window, b);
  *b = (struct lane_block){.base = gmem_page(v->image, first, &in), .lanes = lanes};
  if (!b->base) return false;
  b->in = in;
  b->lanes &= ~mem_outside(w, me, first & ~in, in);
  if (v->log) b->lanes = settled(me, b->lanes, v);
  return b->lanes != 0;
}

uint8_t *mem_even(struct func_warp *w, const struct mem_effect *me, bool write, const struct gmem_view *v)
{
  const uint64_t first = me->addr[0], last = me->addr[LANES - 1];
  uint64_t in;
  if (me->space == MEM_SHARED) {
    const uint64_t size = w->launch->shared_limit;
    return size >= me->bytes && last <= size - me->bytes ? w->cta->shared + first : NULL;
  }
  if (me->space != MEM_GLOBAL || v->window || (v->log && (write || v->log->n))) return NULL;
  uint8_t *page = gmem_page(v->image, first, &in);
  return page && !((first ^ last) & ~in) ? page + (first & in) : NULL;
}

/* A stack pointer that has fallen below 0, taken for an offset in the window of local memory, leads just behind the
 * window; compiled checks of the stack (against SR_LMEMHIOFF) do not see it. */
static bool is_stack_overrun(const struct func_launch *l, uint64_t addr)
{
  enum { MOST = 1 << 24 };
  const uint64_t behind = l->p.local_window + ((uint64_t)1 << 32);
  return l->source.local_bytes && addr >= behind - MOST && addr < behind + l->source.local_bytes;
}

bool mem_unmapped(const struct func_warp *w, const struct effect *e, unsigned lane, uint64_t addr,
                  struct fault *f)
{
  char near[128];
  gmem_describe(w->launch->p.image, addr, near, sizeof near);
  if (is_stack_overrun(w->launch, addr))
    snprintf(near, sizeof near, "the thread's stack has run over its %llu bytes: raise cudaLimitStackSize, or 'stack'",
             (unsigned long long)w->launch->source.local_bytes);
  return func_fault(w, e, f, FAULT_ILLEGAL_ADDRESS, lane, addr,
                    "CTA (%u,%u,%u) thread (%u,%u,%u): no memory at 0x%llx, %s", w->cta->ctaid[0],
                    w->cta->ctaid[1], w->cta->ctaid[2], w->tid[0][lane], w->tid[1][lane],
                    w->tid[2][lane], (unsigned long long)addr, near);
}

void mem_commit(struct func_warp *w, const struct uop *u, struct effect *e, unsigned rows)
{
  w->launch->ops->commit(row_dst(w, u->d), mem_row(e->mem, 0), rows, (uint32_t)e->exec);
}
