#include "time/uvm/uvm_space.h"

#include <string.h>

#include "base/bug.h"
#include "base/host_memory.h"

enum { PAGE = 1 << UVM_PAGE_BITS, BLOCK = 1 << UVM_BLOCK_BITS };
enum { NODE_OWN = -1, NODE_FAULTS = PLACE_FAULTS - 1, NODE_READS = PLACE_READS - 1 };

/* --- places ------------------------------------------------------------------------------------- */

static void place(const struct uvm_space *x, unsigned gpu, uint64_t base, const struct page_set *s, int node)
{
  for (unsigned first = 0, n; (n = page_set_run(s, &first)) != 0; first += n)
    x->place(x->ctx, gpu, base + (uint64_t)first * PAGE, (uint64_t)n * PAGE, node);
}

static void allow(const struct uvm_space *x, unsigned gpu, uint64_t base, const struct page_set *s,
                  enum place_right right)
{
  for (unsigned first = 0, n; x->allow && (n = page_set_run(s, &first)) != 0; first += n)
    x->allow(x->ctx, gpu, base + (uint64_t)first * PAGE, (uint64_t)n * PAGE, right);
}

/* Of pages at the host. */
static void allow_at_host(const struct uvm_space *x, const struct uvm_block *b, uint64_t base, unsigned gpu,
                          const struct page_set *s)
{
  const struct uvm_share *o = &b->gpu[gpu];
  const struct page_set atomic = page_set_both(s, &o->atomic), reads = page_set_both(s, &o->reads);
  struct page_set rest = *s;
  page_set_remove(&rest, &atomic);
  page_set_remove(&rest, &reads);
  allow(x, gpu, base, &atomic, RIGHT_ALL);
  allow(x, gpu, base, &reads, RIGHT_READS);
  allow(x, gpu, base, &rest, RIGHT_NO_ATOMICS);
}

static void place_range(const struct uvm_space *x, const struct uvm_range *r, int node)
{
  for (unsigned k = 0; k < x->n_gpus; k++) x->place(x->ctx, k, r->addr, r->pages * PAGE, node);
}

void uvm_space_close_to(const struct uvm_space *x, uint64_t base, unsigned gpu, const struct page_set *s)
{
  place(x, gpu, base, s, NODE_FAULTS);
}

void uvm_space_close(const struct uvm_space *x, uint64_t base, const struct page_set *s)
{
  for (unsigned k = 0; k < x->n_gpus; k++) uvm_space_close_to(x, base, k, s);
}

/* Pages of the block that a GPU reaches without a fault where they are: at the host, or on others. */
static struct page_set mapped_for(const struct uvm_range *r, const struct uvm_block *b, uint64_t base, unsigned gpu,
                                  bool at_host)
{
  struct page_set all = b->gpu[gpu].mapped, part;
  uint32_t cursor = 0;
  for (const struct uvm_policy *p; (p = uvm_range_part(r, base, &cursor, &part));)
    if (!p->read_mostly && (at_host ? p->at_host : p->at_peers) >> gpu & 1) page_set_join(&all, &part);
  return all;
}

/* Pages that are not there: they are reached where they are, or wait. */
static void show_elsewhere(const struct uvm_space *x, const struct uvm_range *r, const struct uvm_block *b,
                           uint64_t base, unsigned gpu, struct page_set s)
{
  struct page_set part = mapped_for(r, b, base, gpu, true);
  part = page_set_both(&part, &b->host);
  part = page_set_both(&part, &s);
  place(x, gpu, base, &part, r->socket);
  allow_at_host(x, b, base, gpu, &part);
  page_set_remove(&s, &part);
  if (x->n_gpus > 1) {
    const struct page_set mapped = mapped_for(r, b, base, gpu, false);
    for (unsigned k = 0; k < x->n_gpus; k++) {
      if (k == gpu || !(x->gpu[gpu].reaches >> k & 1)) continue;
      part = page_set_both(&mapped, &b->gpu[k].there);
      part = page_set_both(&part, &s);
      place(x, gpu, base, &part, x->gpu[k].node);
      allow(x, gpu, base, &part, RIGHT_ALL);
      page_set_remove(&s, &part);
    }
  }
  place(x, gpu, base, &s, NODE_FAULTS);
}

void uvm_space_show(const struct uvm_space *x, const struct uvm_range *r, uint64_t base, const struct page_set *s)
{
  const struct uvm_block *b = &r->block[(base - r->addr) / BLOCK];
  for (unsigned k = 0; k < x->n_gpus; k++) {
    const struct page_set elsewhere = uvm_block_elsewhere(x, b, k);
    struct page_set own = page_set_both(s, &b->gpu[k].there), rest = *s;
    const struct page_set copies = page_set_both(&own, &elsewhere);
    page_set_remove(&rest, &own);
    page_set_remove(&own, &copies);
    place(x, k, base, &own, NODE_OWN);
    place(x, k, base, &copies, NODE_READS);
    show_elsewhere(x, r, b, base, k, rest);
  }
}

/* --- ranges ------------------------------------------------------------------------------------- */

static uint32_t behind(const struct uvm_space *x, uint64_t addr)
{
  uint32_t lo = 0, hi = x->n;
  while (lo < hi) {
    const uint32_t mid = (lo + hi) / 2;
    if (x->range[mid].addr <= addr) lo = mid + 1;
    else hi = mid;
  }
  return lo;
}

struct uvm_range *uvm_space_range(const struct uvm_space *x, uint64_t addr)
{
  const uint32_t at = behind(x, addr);
  if (!at) return NULL;
  struct uvm_range *r = &x->range[at - 1];
  return addr - r->addr < r->pages * PAGE ? r : NULL;
}

void uvm_space_add(struct uvm_space *x, uint64_t addr, uint64_t bytes, int socket)
{
  const uint32_t at = behind(x, addr);
  const uint64_t pages = (bytes + PAGE - 1) / PAGE;
  BUG_ON(addr % BLOCK || !bytes);
  x->range = mem_more(x->range, x->n, &x->room_ranges, sizeof *x->range);
  memmove(&x->range[at + 1], &x->range[at], (x->n++ - at) * sizeof *x->range);
  struct uvm_range *r = &x->range[at];
  *r = (struct uvm_range){.addr = addr, .pages = pages, .socket = socket,
                          .n_blocks = (uint32_t)((pages + UVM_BLOCK_PAGES - 1) / UVM_BLOCK_PAGES)};
  r->block = mem_zeroed(r->n_blocks, sizeof *r->block);
  r->share = mem_zeroed((size_t)r->n_blocks * x->n_gpus, sizeof *r->share);
  for (uint32_t i = 0; i < r->n_blocks; i++) r->block[i].gpu = &r->share[(size_t)i * x->n_gpus];
  r->span = mem_more(NULL, r->n_spans++, &r->room_spans, sizeof *r->span);
  r->span[0] = (struct uvm_span){.policy = {.prefers = UVM_NOWHERE, .at_host = x->coherent ? UINT32_MAX : 0}};
  place_range(x, r, NODE_FAULTS);
}

static void free_range(const struct uvm_range *r)
{
  for (uint32_t i = 0; i < r->n_blocks; i++) thrash_free(r->block[i].thrash);
  mem_free(r->block);
  mem_free(r->share);
  mem_free(r->span);
}

void uvm_space_remove(struct uvm_space *x, uint64_t addr)
{
  struct uvm_range *r = uvm_space_range(x, addr);
  if (!r || r->addr != addr) return;
  for (uint32_t i = 0; i < r->n_blocks; i++)
    for (unsigned k = 0; k < x->n_gpus; k++) x->gpu[k].resident -= !page_set_empty(&r->block[i].gpu[k].there);
  place_range(x, r, NODE_OWN);
  for (unsigned k = 0; x->allow && k < x->n_gpus; k++) x->allow(x->ctx, k, r->addr, r->pages * PAGE, RIGHT_ALL);
  free_range(r);
  const size_t i = (size_t)(r - x->range);
  memmove(r, r + 1, (--x->n - i) * sizeof *r);
}

void uvm_space_free(struct uvm_space *x)
{
  for (uint32_t i = 0; i < x->n; i++) free_range(&x->range[i]);
  mem_free(x->range);
}

struct uvm_block *uvm_range_block(const struct uvm_range *r, uint64_t addr, unsigned *n_pages, uint64_t *base)
{
  const uint64_t i = (addr - r->addr) / BLOCK, left = r->pages - i * UVM_BLOCK_PAGES;
  *n_pages = left < UVM_BLOCK_PAGES ? (unsigned)left : UVM_BLOCK_PAGES;
  *base = r->addr + i * BLOCK;
  return &r->block[i];
}

struct page_set uvm_block_on_gpus(const struct uvm_space *x, const struct uvm_block *b)
{
  struct page_set all = b->gpu[0].there;
  for (unsigned k = 1; k < x->n_gpus; k++) page_set_join(&all, &b->gpu[k].there);
  return all;
}

struct page_set uvm_block_elsewhere(const struct uvm_space *x, const struct uvm_block *b, unsigned gpu)
{
  struct page_set all = b->host;
  for (unsigned k = 0; k < x->n_gpus; k++)
    if (k != gpu) page_set_join(&all, &b->gpu[k].there);
  return all;
}

static struct uvm_block *block_at(const struct uvm_range *r, uint64_t base)
{
  return &r->block[(base - r->addr) / BLOCK];
}

/* --- policies ----------------------------------------------------------------------------------- */

/* Behind the last page of span i. */
static uint64_t span_end(const struct uvm_range *r, uint32_t i)
{
  return i + 1 < r->n_spans ? r->span[i + 1].first : r->pages;
}

/* The span of a page of the range. */
static uint32_t span_of(const struct uvm_range *r, uint64_t page)
{
  uint32_t lo = 0, hi = r->n_spans;
  while (hi - lo > 1) {
    const uint32_t mid = (lo + hi) / 2;
    if (r->span[mid].first <= page) lo = mid;
    else hi = mid;
  }
  return lo;
}

const struct uvm_policy *uvm_range_part(const struct uvm_range *r, uint64_t base, uint32_t *cursor, struct page_set *s)
{
  const uint64_t block = (base - r->addr) / PAGE;
  const uint64_t end = block + UVM_BLOCK_PAGES < r->pages ? block + UVM_BLOCK_PAGES : r->pages;
  const uint32_t i = *cursor ? *cursor : span_of(r, block);
  if (i >= r->n_spans || r->span[i].first >= end) return NULL;
  const uint64_t first = r->span[i].first > block ? r->span[i].first : block;
  const uint64_t past = span_end(r, i) < end ? span_end(r, i) : end;
  *s = (struct page_set){{0}};
  page_set_add_range(s, (unsigned)(first - block), (unsigned)(past - first));
  *cursor = i + 1;
  return &r->span[i].policy;
}

/* A span begins at this page of the range, which is in it. Returns its number. */
static uint32_t split(struct uvm_range *r, uint64_t page)
{
  const uint32_t i = span_of(r, page);
  if (r->span[i].first == page) return i;
  r->span = mem_more(r->span, r->n_spans, &r->room_spans, sizeof *r->span);
  memmove(&r->span[i + 1], &r->span[i], (r->n_spans++ - i) * sizeof *r->span);
  r->span[i + 1].first = page;
  return i + 1;
}

static bool same_policy(const struct uvm_policy *a, const struct uvm_policy *b)
{
  return a->prefers == b->prefers && a->at_host == b->at_host && a->at_peers == b->at_peers &&
         a->read_mostly == b->read_mostly;
}

/* Spans of one policy that follow each other are one. */
static void merge(struct uvm_range *r)
{
  uint32_t n = 1;
  for (uint32_t i = 1; i < r->n_spans; i++)
    if (!same_policy(&r->span[n - 1].policy, &r->span[i].policy)) r->span[n++] = r->span[i];
  r->n_spans = n;
}

/* Pages of a block that have got another policy: copies that are none any more are the first GPU's that has one. */
static void change(struct uvm_space *x, const struct uvm_range *r, uint64_t base, const struct page_set *s,
                   bool read_mostly, bool maps)
{
  struct uvm_block *b = block_at(r, base);
  struct page_set rest = *s;
  for (unsigned k = 0; !read_mostly && k < x->n_gpus; k++) {
    const struct page_set own = page_set_both(&rest, &b->gpu[k].there);
    uvm_space_collapse(x, r, base, k, &own);
    page_set_remove(&rest, &own);
  }
  for (unsigned k = 0; maps && k < x->n_gpus; k++) page_set_remove(&b->gpu[k].mapped, s);
  if (maps) uvm_space_show(x, r, base, s);
}

void uvm_space_advise(struct uvm_space *x, struct uvm_range *r, uint64_t first, uint64_t n, const struct uvm_policy *p)
{
  const uint64_t end = first + n < r->pages ? first + n : r->pages;
  const uint32_t from = split(r, first), to = end < r->pages ? split(r, end) : r->n_spans;
  bool maps = false;
  for (uint32_t i = from; i < to; i++) {
    const struct uvm_policy *old = &r->span[i].policy;
    maps |= old->at_host != p->at_host || old->at_peers != p->at_peers || old->read_mostly != p->read_mostly;
    r->span[i].policy = *p;
  }
  merge(r);
  for (uint64_t page = first; page < end; page = page / UVM_BLOCK_PAGES * UVM_BLOCK_PAGES + UVM_BLOCK_PAGES) {
    const uint64_t block = page / UVM_BLOCK_PAGES * UVM_BLOCK_PAGES;
    const uint64_t past = end < block + UVM_BLOCK_PAGES ? end : block + UVM_BLOCK_PAGES;
    struct page_set s = {{0}};
    page_set_add_range(&s, (unsigned)(page - block), (unsigned)(past - page));
    change(x, r, r->addr + block * PAGE, &s, p->read_mostly, maps);
  }
}

/* --- pages -------------------------------------------------------------------------------------- */

/* Of pages that come, those that stay where they are, too. */
static struct page_set copies(const struct uvm_space *x, const struct uvm_range *r, const struct uvm_block *b,
                              uint64_t base, const struct page_set *s, const struct page_set *written)
{
  struct page_set c = {{0}}, part, there = uvm_block_on_gpus(x, b);
  uint32_t cursor = 0;
  page_set_join(&there, &b->host);
  for (const struct uvm_policy *p; (p = uvm_range_part(r, base, &cursor, &part));)
    if (p->read_mostly) page_set_join(&c, &part);
  c = page_set_both(&c, s);
  c = page_set_both(&c, &there);
  page_set_remove(&c, written);
  return c;
}

/* They are mapped anew, by whoever touches them. */
static void forget_rights(const struct uvm_space *x, struct uvm_block *b, const struct page_set *s)
{
  for (unsigned k = 0; k < x->n_gpus; k++) {
    page_set_remove(&b->gpu[k].atomic, s);
    page_set_remove(&b->gpu[k].reads, s);
  }
}

static void take_from(struct uvm_space *x, struct uvm_block *b, unsigned gpu, const struct page_set *s)
{
  const bool was = !page_set_empty(&b->gpu[gpu].there);
  page_set_remove(&b->gpu[gpu].there, s);
  x->gpu[gpu].resident -= was && page_set_empty(&b->gpu[gpu].there);
}

/* Nobody but the GPU has them. */
static void take_from_others(struct uvm_space *x, struct uvm_block *b, unsigned gpu, const struct page_set *s)
{
  page_set_remove(&b->host, s);
  forget_rights(x, b, s);
  for (unsigned k = 0; k < x->n_gpus; k++) {
    page_set_remove(&b->gpu[k].mapped, s);
    if (k != gpu) take_from(x, b, k, s);
  }
}

void uvm_space_arrive(struct uvm_space *x, const struct uvm_range *r, uint64_t base, unsigned gpu,
                      const struct page_set *s, const struct page_set *written)
{
  struct uvm_block *b = block_at(r, base);
  struct uvm_gpu *g = &x->gpu[gpu];
  struct uvm_share *o = &b->gpu[gpu];
  const struct page_set copied = copies(x, r, b, base, s, written), again = page_set_both(s, &o->left);
  struct page_set alone = *s;
  page_set_remove(&alone, &copied);
  UVM_COUNT(x, gpu, base, thrashed, uvm_bytes(&again));
  g->resident += page_set_empty(&o->there) && !page_set_empty(s);
  take_from_others(x, b, gpu, &alone);
  page_set_join(&o->there, s);
  page_set_remove(&o->mapped, s);
  page_set_remove(&o->left, s);
  UVM_COUNT(x, gpu, base, copied, uvm_bytes(&copied));
  o->used = ++g->stamp;
  o->remote = 0;
  uvm_space_show(x, r, base, s);
}

void uvm_space_collapse(struct uvm_space *x, const struct uvm_range *r, uint64_t base, unsigned gpu,
                        const struct page_set *s)
{
  struct uvm_block *b = block_at(r, base);
  const struct page_set elsewhere = uvm_block_elsewhere(x, b, gpu);
  struct page_set one = page_set_both(s, &b->gpu[gpu].there);
  one = page_set_both(&one, &elsewhere);
  if (page_set_empty(&one)) return;
  UVM_COUNT(x, gpu, base, collapsed, uvm_bytes(&one));
  take_from_others(x, b, gpu, &one);
  uvm_space_show(x, r, base, &one);
}

void uvm_space_leave(struct uvm_space *x, const struct uvm_range *r, uint64_t base, unsigned gpu,
                     const struct page_set *s)
{
  struct uvm_block *b = block_at(r, base);
  const struct page_set elsewhere = uvm_block_elsewhere(x, b, gpu);
  struct page_set home = page_set_both(s, &b->gpu[gpu].there);
  page_set_remove(&home, &elsewhere);
  take_from(x, b, gpu, s);
  page_set_join(&b->host, &home);
  forget_rights(x, b, &home);
  for (unsigned k = 0; k < x->n_gpus; k++) page_set_remove(&b->gpu[k].mapped, &home);
  uvm_space_show(x, r, base, s);
}

void uvm_space_touch(const struct uvm_space *x, const struct uvm_range *r, uint64_t base, const struct page_set *s)
{
  struct uvm_block *b = block_at(r, base);
  page_set_join(&b->host, s);
  uvm_space_show(x, r, base, s);
}

void uvm_space_map(const struct uvm_space *x, const struct uvm_range *r, uint64_t base, unsigned gpu,
                   const struct page_set *s)
{
  struct uvm_block *b = block_at(r, base);
  struct page_set rest = *s;
  page_set_remove(&rest, &b->gpu[gpu].there);
  page_set_join(&b->gpu[gpu].mapped, &rest);
  show_elsewhere(x, r, b, base, gpu, rest);
}

void uvm_space_unmap(const struct uvm_space *x, const struct uvm_range *r, uint64_t base, const struct page_set *s)
{
  struct uvm_block *b = block_at(r, base);
  for (unsigned k = 0; k < x->n_gpus; k++) page_set_remove(&b->gpu[k].mapped, s);
  forget_rights(x, b, s);
  uvm_space_show(x, r, base, s);
}

struct page_set uvm_space_reached(const struct uvm_space *x, const struct uvm_range *r, uint64_t base, unsigned gpu)
{
  const struct uvm_block *b = block_at(r, base);
  const struct page_set home = mapped_for(r, b, base, gpu, true), peers = mapped_for(r, b, base, gpu, false);
  struct page_set all = page_set_both(&home, &b->host);
  for (unsigned k = 0; k < x->n_gpus; k++) {
    if (k == gpu || !(x->gpu[gpu].reaches >> k & 1)) continue;
    const struct page_set part = page_set_both(&peers, &b->gpu[k].there);
    page_set_join(&all, &part);
  }
  return all;
}

/* --- rights ------------------------------------------------------------------------------------- */

/* Pages that the GPU reaches at the host. */
static struct page_set reached_at_host(const struct uvm_range *r, const struct uvm_block *b, uint64_t base,
                                       unsigned gpu)
{
  const struct page_set mapped = mapped_for(r, b, base, gpu, true);
  struct page_set s = page_set_both(&mapped, &b->host);
  page_set_remove(&s, &b->gpu[gpu].there);
  return s;
}

struct page_set uvm_space_denied(const struct uvm_space *x, const struct uvm_range *r, uint64_t base, unsigned gpu,
                                 const struct page_set *written, const struct page_set *atomic)
{
  const struct uvm_block *b = block_at(r, base);
  struct page_set s = *atomic, refused = page_set_both(written, &b->gpu[gpu].reads);
  if (!x->allow) return (struct page_set){{0}};
  page_set_remove(&s, &b->gpu[gpu].atomic);
  page_set_join(&s, &refused);
  const struct page_set reached = reached_at_host(r, b, base, gpu);
  return page_set_both(&s, &reached);
}

/* Who does atomics takes the right to write from all others, who writes takes that to atomics. */
static void revoke(const struct uvm_space *x, const struct uvm_range *r, uint64_t base, unsigned gpu,
                   const struct page_set *atomic, const struct page_set *written, struct page_set *gone)
{
  struct uvm_block *b = block_at(r, base);
  struct uvm_share *o = &b->gpu[gpu];
  const struct page_set reached = reached_at_host(r, b, base, gpu);
  struct page_set more = *atomic;
  page_set_remove(&more, &o->reads);
  *gone = page_set_both(written, &o->atomic);
  page_set_join(gone, &more);
  *gone = page_set_both(gone, &reached);
  page_set_join(&o->reads, atomic);
  page_set_remove(&o->atomic, atomic);
  page_set_remove(&o->atomic, written);
  if (!page_set_empty(gone)) allow_at_host(x, b, base, gpu, gone);
}

void uvm_space_grant(const struct uvm_space *x, const struct uvm_range *r, uint64_t base, unsigned gpu,
                     const struct page_set *denied, const struct page_set *atomic, struct page_set gone[UVM_GPUS])
{
  struct uvm_block *b = block_at(r, base);
  const struct page_set both = page_set_both(denied, atomic);
  struct page_set rest = *denied;
  page_set_remove(&rest, &both);
  for (unsigned k = 0; k < x->n_gpus; k++) {
    gone[k] = (struct page_set){{0}};
    if (k != gpu) revoke(x, r, base, k, &both, &rest, &gone[k]);
  }
  page_set_join(&b->gpu[gpu].atomic, &both);
  page_set_remove(&b->gpu[gpu].reads, denied);
  allow_at_host(x, b, base, gpu, denied);
}

/* Whether some of the block's pages are to stay on the GPU. */
static bool stays(const struct uvm_range *r, uint64_t base, unsigned gpu)
{
  struct page_set part;
  uint32_t cursor = 0;
  for (const struct uvm_policy *p; (p = uvm_range_part(r, base, &cursor, &part));)
    if (p->prefers == (int)gpu) return true;
  return false;
}

bool uvm_space_victim(const struct uvm_space *x, unsigned gpu, uint64_t but, const struct uvm_range **range,
                      uint64_t *base)
{
  uint64_t best = UINT64_MAX;
  bool best_stays = false;
  for (uint32_t k = 0; k < x->n; k++) {
    const struct uvm_range *r = &x->range[k];
    for (uint32_t i = 0; i < r->n_blocks; i++) {
      const struct uvm_share *o = &r->block[i].gpu[gpu];
      const uint64_t at = r->addr + (uint64_t)i * BLOCK;
      if (page_set_empty(&o->there) || at == but || (r->block[i].held && r->block[i].held != gpu + 1)) continue;
      const bool s = stays(r, at, gpu);
      if (best != UINT64_MAX && (best_stays == s ? o->used >= best : s)) continue;
      best = o->used, best_stays = s;
      *range = r, *base = at;
    }
  }
  return best != UINT64_MAX;
}
