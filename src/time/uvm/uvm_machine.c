#include "time/uvm/uvm_machine.h"

#include "base/arith.h"
#include "base/bug.h"
#include "base/host_memory.h"
#include "time/uvm/density_tree.h"
#include "time/uvm/uvm_driver.h"

/* --- life --------------------------------------------------------------------------------------- */

static void place(void *ctx, unsigned gpu, uint64_t addr, uint64_t bytes, int node)
{
  uvm_machine_order(ctx, gpu, &(struct fault_order){.kind = ORDER_PLACE, .addr = addr, .bytes = bytes, .node = node});
}

static void allow(void *ctx, unsigned gpu, uint64_t addr, uint64_t bytes, enum place_right right)
{
  uvm_machine_order(ctx, gpu,
                    &(struct fault_order){.kind = ORDER_RIGHT, .addr = addr, .bytes = bytes, .right = right});
}

/* Whose memory the host and the GPUs can have mapped, and who has atomics over a fast link to it. */
static void set_reach(struct uvm_machine *m)
{
  struct thrash_rules *x = &m->thrash;
  const uint32_t all = (UINT32_C(1) << (m->space.n_gpus + 1)) - 1, host = thrash_bit(THRASH_HOST);
  x->reaches[THRASH_HOST] = x->fast[THRASH_HOST] = m->space.coherent ? all : host;
  for (unsigned k = 0; k < m->space.n_gpus; k++) {
    const int p = uvm_processor((int)k);
    x->reaches[p] = m->space.gpu[k].reaches << 1 | thrash_bit(p) | host;
    x->fast[p] = m->space.gpu[k].fast << 1 | thrash_bit(p) | (m->space.coherent ? host : 0);
  }
}

struct uvm_machine *uvm_machine_new(const struct uvm_config *cfg, unsigned n, bool coherent)
{
  struct uvm_machine *m = mem_zeroed(1, sizeof *m);
  BUG_ON(!n || n > UVM_GPUS);
  m->space = (struct uvm_space){.n_gpus = n, .coherent = coherent, .place = place, .ctx = m};
  if (!coherent) m->space.allow = allow;
  for (unsigned k = 0; k < n; k++) {
    m->space.gpu[k].node = cfg[k].node;
    m->space.gpu[k].reaches = cfg[k].reaches;
    m->space.gpu[k].fast = cfg[k].fast;
    m->of[k] = mem_zeroed(1, sizeof *m->of[k]);
    uvm_init(m->of[k], m, k, &cfg[k]);
  }
  thrash_init(&m->thrash, cfg[0].params, n + 1);
  set_reach(m);
  return m;
}

void uvm_machine_free(struct uvm_machine *m)
{
  if (!m) return;
  for (unsigned k = 0; k < m->space.n_gpus; k++) {
    uvm_free(m->of[k]);
    mem_free(m->of[k]);
  }
  uvm_space_free(&m->space);
  mem_free(m->pin);
  mem_free(m);
}

struct uvm *uvm_machine_at(struct uvm_machine *m, unsigned node)
{
  for (unsigned k = 0; m && k < m->space.n_gpus; k++)
    if (m->space.gpu[k].node == node) return m->of[k];
  return NULL;
}

void uvm_machine_clock(struct uvm_machine *m, picos start, picos skew)
{
  m->skew = skew;
  uvm_unpin(m, start);
}

/* --- the host ----------------------------------------------------------------------------------- */

/* The host has got pages for its fault; of those that stay there, GPUs that fought for them have them mapped. */
static void note_back(struct uvm_machine *m, const struct uvm_range *r, struct uvm_block *b, uint64_t base,
                      const struct page_set *back, picos now)
{
  struct page_set pinned = {{0}};
  thrash_moved(&m->thrash, &b->thrash, THRASH_HOST, back, now);
  if (b->thrash) pinned = page_set_both(back, &b->thrash->pins);
  if (!page_set_empty(&pinned)) uvm_map_pinned(m, r, base, &pinned);
}

/* A fault of the host on pages of a leaf of which the GPU has some, and what the prefetcher brings with it. */
static picos bring_back(struct uvm_machine *m, const struct uvm_range *r, struct uvm_block *b, uint64_t base,
                        const struct page_set *fault, unsigned gpu, picos now)
{
  const struct uvm *u = m->of[gpu];
  const struct page_set still = uvm_still(b);
  struct page_set part, back = {{0}};
  uint32_t cursor = 0;
  for (const struct uvm_policy *p; (p = uvm_range_part(r, base, &cursor, &part));) {
    const struct page_set asked = page_set_both(fault, &part);
    if (page_set_empty(&asked)) continue;
    const uint64_t left = r->pages - (base - r->addr) / PAGE;
    const unsigned n_pages = left < UVM_BLOCK_PAGES ? (unsigned)left : UVM_BLOCK_PAGES;
    const unsigned threshold = p->prefers >= 0 ? 0 : u->params->uvm_tree_threshold;
    struct page_set grown = density_tree_grow(&b->host, &asked, &still, n_pages, threshold);
    grown = page_set_both(&grown, &part);
    page_set_join(&back, &grown);
  }
  back = page_set_both(&back, &b->gpu[gpu].there);
  page_set_remove(&back, &b->host);
  const uint64_t bytes = uvm_bytes(&back);
  UVM_COUNT(&m->space, gpu, base, host_faults, 1);
  UVM_COUNT(&m->space, gpu, base, to_host, bytes);
  for (unsigned k = 0; k < m->space.n_gpus; k++) {
    const struct page_set copy = page_set_both(&back, &b->gpu[k].there);
    if (k != gpu) uvm_space_leave(&m->space, r, base, k, &copy);
  }
  uvm_space_leave(&m->space, r, base, gpu, &back);
  note_back(m, r, b, base, &back, now);
  return (picos)u->params->uvm_host_fault_ns * PS_PER_NS + bytes * 1000000 / u->cfg.link[UVM_TO_HOST].mbps;
}

/* Whether the host has touched pages of the leaf that the GPU has, and the host not. */
static bool is_fault(const struct uvm_block *b, const struct page_set *touched, unsigned leaf, unsigned n_pages,
                     unsigned gpu)
{
  for (unsigned i = leaf; i < leaf + UVM_LEAF_PAGES && i < n_pages; i++)
    if (page_set_has(touched, i) && page_set_has(&b->gpu[gpu].there, i) && !page_set_has(&b->host, i)) return true;
  return false;
}

/* A leaf counts as a whole, but for pages for which the host is put off. */
static picos fault_on_leaf(struct uvm_machine *m, const struct uvm_range *r, struct uvm_block *b, uint64_t base,
                           unsigned leaf, unsigned gpu, picos now, picos *until)
{
  struct page_set all = {{0}};
  page_set_add_range(&all, leaf, UVM_LEAF_PAGES);
  const struct page_set served = uvm_judge_host(m, r, b, base, &all, gpu, now, until);
  const struct page_set come = page_set_both(&served, &b->gpu[gpu].there);
  return page_set_empty(&come) ? 0 : bring_back(m, r, b, base, &served, gpu, now);
}

void uvm_host_finds(struct uvm_machine *m, uint64_t addr, const struct page_set *touched)
{
  const struct uvm_range *r = uvm_space_range(&m->space, addr);
  unsigned n_pages;
  uint64_t base;
  BUG_ON(!r);
  const struct uvm_block *b = uvm_range_block(r, addr, &n_pages, &base);
  if (uvm_is_under_way(m, base)) return;
  struct page_set fresh = *touched, on = uvm_block_on_gpus(&m->space, b);
  page_set_remove(&fresh, &on);
  page_set_remove(&fresh, &b->host);
  uvm_space_touch(&m->space, r, base, &fresh);
}

struct uvm_host_fault uvm_host_touch(struct uvm_machine *m, uint64_t addr, const struct page_set *touched, picos now)
{
  const struct uvm_range *r = uvm_space_range(&m->space, addr);
  struct uvm_host_fault f = {0};
  unsigned n_pages;
  uint64_t base;
  BUG_ON(!r);
  struct uvm_block *b = uvm_range_block(r, addr, &n_pages, &base);
  if (uvm_is_under_way(m, base)) return f;
  uvm_unpin_block(m, r, b, base, now);
  for (unsigned leaf = 0; !m->space.coherent && leaf < n_pages; leaf += UVM_LEAF_PAGES)
    for (unsigned k = 0; k < m->space.n_gpus; k++)
      if (is_fault(b, touched, leaf, n_pages, k))
        f.took += fault_on_leaf(m, r, b, base, leaf, k, now + f.took, &f.until);
  return f;
}

static void host_wrote(struct uvm_machine *m, uint64_t base, const struct page_set *written)
{
  const struct uvm_range *r = uvm_space_range(&m->space, base);
  unsigned n_pages;
  uint64_t start;
  if (!r || uvm_is_under_way(m, base)) return;
  const struct uvm_block *b = uvm_range_block(r, base, &n_pages, &start);
  for (unsigned k = 0; k < m->space.n_gpus; k++) {
    struct page_set gone = page_set_both(written, &b->host);
    gone = page_set_both(&gone, &b->gpu[k].there);
    UVM_COUNT(&m->space, k, base, collapsed, uvm_bytes(&gone));
    uvm_space_leave(&m->space, r, base, k, &gone);
  }
}

/* A copy of the GPU's writes pages of a block: those that nobody has touched are made there, if it has room. */
static void written_by(struct uvm_machine *m, unsigned gpu, uint64_t addr, struct page_set pages)
{
  struct uvm_space *x = &m->space;
  const struct uvm_range *r = uvm_space_range(x, addr);
  unsigned n_pages;
  uint64_t base;
  if (!r) return;
  const struct uvm_block *b = uvm_range_block(r, addr, &n_pages, &base);
  uvm_space_collapse(x, r, base, gpu, &pages);
  const struct page_set on = uvm_block_on_gpus(x, b);
  page_set_remove(&pages, &on);
  page_set_remove(&pages, &b->host);
  if (page_set_empty(&pages) || uvm_space_full(x, b, gpu)) return;
  UVM_COUNT(x, gpu, base, filled, uvm_bytes(&pages));
  uvm_space_arrive(x, r, base, gpu, &pages, &pages);
  if (m->moved) m->moved(m->ctx, base, (uint64_t)n_pages * PAGE);
}

/* Nothing of it is on its way any more: another range may be there by the time that copies are done. */
static void remove_range(struct uvm_machine *m, uint64_t addr)
{
  const struct uvm_range *r = uvm_space_range(&m->space, addr);
  if (!r || r->addr != addr) return;
  for (unsigned k = 0; k < m->space.n_gpus; k++) uvm_drop(m->of[k], addr, (uint64_t)r->n_blocks * BLOCK);
  uvm_space_remove(&m->space, addr);
}

struct uvm_host_fault uvm_machine_do(struct uvm_machine *m, const struct uvm_op *o)
{
  const struct uvm_host_fault nothing = {0};
  switch (o->kind) {
  case UVM_OP_ROOM: m->space.gpu[o->gpu].room = o->n; break;
  case UVM_OP_ADD: uvm_space_add(&m->space, o->addr, o->bytes, o->socket); break;
  case UVM_OP_REMOVE: remove_range(m, o->addr); break;
  case UVM_OP_ADVISE:
    uvm_space_advise(&m->space, uvm_space_range(&m->space, o->addr), o->first, o->n, &o->policy);
    break;
  case UVM_OP_FINDS: uvm_host_finds(m, o->addr, &o->pages); break;
  case UVM_OP_TOUCH: return uvm_host_touch(m, o->addr, &o->pages, o->now);
  case UVM_OP_WROTE: host_wrote(m, o->addr, &o->pages); break;
  case UVM_OP_WRITTEN: written_by(m, o->gpu, o->addr, o->pages); break;
  }
  return nothing;
}

/* --- part --------------------------------------------------------------------------------------- */

/* The first driver that has something to do. */
static picos next_driver(const struct uvm_machine *m, unsigned *gpu)
{
  picos first = TIME_NEVER;
  for (unsigned k = 0; k < m->space.n_gpus; k++) {
    const picos at = uvm_next(m->of[k]);
    if (at < first) first = at, *gpu = k;
  }
  return first;
}

static picos uvm_machine_run(void *self, picos from, picos to)
{
  struct uvm_machine *m = *(struct uvm_machine **)self;
  unsigned gpu = 0;
  picos at;
  if (!m || m->space.n_gpus < 2) return TIME_NEVER;
  while ((at = next_driver(m, &gpu)) < to) {
    m->now = later(at, from); /* what changed while no time passed may have set a driver going */
    uvm_step(m->of[gpu], m->now);
  }
  m->now = 0;
  return at;
}

static uint64_t uvm_machine_progress(const void *self)
{
  const struct uvm_machine *m = *(struct uvm_machine *const *)self;
  uint64_t n = 0;
  for (unsigned k = 0; m && k < m->space.n_gpus; k++) n += uvm_progress(m->of[k]);
  return n;
}

static bool uvm_machine_busy(const void *self)
{
  const struct uvm_machine *m = *(struct uvm_machine *const *)self;
  for (unsigned k = 0; m && m->space.n_gpus > 1 && k < m->space.n_gpus; k++)
    if (uvm_busy(m->of[k])) return true;
  return false;
}

static void uvm_machine_dump(const void *self, FILE *out)
{
  const struct uvm_machine *m = *(struct uvm_machine *const *)self;
  for (unsigned k = 0; m && k < m->space.n_gpus; k++)
    if (uvm_busy(m->of[k]))
      fprintf(out, "  managed memory: the driver of GPU %u, state %u, %u requests wait for pages\n",
              m->space.gpu[k].node, m->of[k]->state, m->of[k]->buffer.n_parked);
}

const struct part_ops uvm_machine_ops = {uvm_machine_run, uvm_machine_progress, uvm_machine_busy, uvm_machine_dump};
